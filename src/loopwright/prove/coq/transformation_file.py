"""A Coq file about a whole transformation: the original loops and the new ones leave the same memory."""

from __future__ import annotations

from pathlib import Path

from loopwright.emit.c import to_c
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.program import Program
from loopwright.prove.coq.check import how_to_check
from loopwright.prove.coq.legality import (
    kept_lemmas,
    legality_proof,
    memory_use,
    outline_definition,
    outlines,
    use_definition,
)
from loopwright.prove.coq.names import comment
from loopwright.prove.coq.scanning import scanning_proof
from loopwright.prove.coq.statements import (
    Named,
    SourceText,
    context_definition,
    every,
    indented,
    program_definition,
    schedule_definitions,
)
from loopwright.prove.obligations.cells import touched, whole_arrays
from loopwright.prove.obligations.legality import spans_of
from loopwright.prove.obligations.sides import both_sides
from loopwright.prove.obligations.timetable import Timetable


def transformation_file(original: Program, new: Program, loops: Node, title: str) -> str:
    """The whole file: `original`, as its text runs it, against `loops`, which run the schedule of `new`."""
    (old_table, text_program), (new_table, _) = both_sides(original, new, loops)
    shared = _shared(old_table, new_table)
    sources = _sources(original)
    before = Named(old_table, text_program, "original", "source", "old_", shared, sources)
    after = Named(new_table, loops, "transformed", "target", "new_", shared, sources)
    found = outlines(before, after, touched(original))
    lemmas = dict(kept_lemmas(found, before))
    parts = [
        _heading(original, before, after, title),
        "From Loopwright Require Import Tactics.",
        "(** ** The programs *)",
        program_definition(before),
        program_definition(after),
        TIMES,
        context_definition(before.table, "known"),
        *schedule_definitions(before, "known"),
        *schedule_definitions(after, "known", again=True),
        "(** ** What each statement reads and writes *)",
        *_whole(original),
        *(use_definition(one, before) for one in found),
        memory_use(found, before),
        "(** ** The original runs its instances in the original order. *)",
        *scanning_proof(before, "known", "original_correct"),
        "(** ** The new loops run the same instances in the new order. *)",
        *scanning_proof(after, "known", "transformed_correct"),
        OUTLINES,
        *(outline_definition(one, before) for one in found),
        *lemmas.values(),
        legality_proof(found, before, list(lemmas)),
        _in_words(before),
        SAME_MEMORY,
        "Print Assumptions same_memory.",
    ]
    return "\n\n".join(parts) + "\n"


def _sources(program: Program) -> dict[str, SourceText]:
    """The text of every statement, on one line."""
    file = Path(program.source.path).name
    found: dict[str, SourceText] = {}
    for name, span in spans_of(program).items():
        place = program.statement(name).body.place
        text = " ".join(program.source.text[place.start : place.end].split())
        found[name] = SourceText(file, span.line, text if len(text) <= WIDTH else f"{text[:WIDTH]} ...")
    return found


WIDTH = 70
"""How much of a statement is shown."""


def _shared(old: Timetable, new: Timetable) -> frozenset[str]:
    """The statements whose instances both timetables describe in the same words."""
    shapes = {one.name: [(shape.arguments, shape.domain) for shape in one.shapes] for one in old.statements}
    return frozenset(
        one.name
        for one in new.statements
        if shapes.get(one.name) == [(shape.arguments, shape.domain) for shape in one.shapes]
    )


OUTLINES = """\
(** ** The new order keeps every two conflicting instances in their old order.

    The outline of a statement says what its text shows: how many arguments it has, which arrays it
    reads and writes, which places of its old and its new time are numbers, and whether it stays
    where it was.  This decides most pairs of statements; for each of the others there is a lemma. *)"""


def _whole(program: Program) -> list[str]:
    whole = whole_arrays(program)
    if not whole:
        return []
    return [f"(** Of {comment(', '.join(whole))} the part touched is not known: all of it is one cell. *)"]


TIMES = """\
(** ** What they are to run

    [known] is what is known of the parameters.  Each statement has a domain, the vectors of
    iterators it runs for, and two times, vectors that are compared lexicographically: in the old
    time, places in the text and iterators take turns; the new time is what the transformation made of
    it. *)"""

SAME_MEMORY = """\
Theorem same_memory : forall p, known p ->
  compute_the_same (memory_use p) (environment source p) original transformed.
Proof.
  apply (transformation_correct memory_use source target).
  - reflexivity.
  - auto.
  - exact original_correct.
  - exact transformed_correct.
  - exact transformation_legal.
Qed."""


def _in_words(named: Named) -> str:
    return f"""(** ** Both programs leave the same memory, for every size and every input.

    {every(named.table, "For")}: both programs end, and whatever their statements compute,
    as long as each reads and writes what [memory_use] says, from any memory [original] and
    [transformed] lead to the same memory. *)"""


def _heading(original: Program, before: Named, after: Named, title: str) -> str:
    start, end = original.region.start, original.region.end
    source = comment(original.source.text[start:end]).strip("\n").splitlines()
    parallel = any(isinstance(one, For) and one.parallel for one in subprograms(after.program))
    remark = "\n    A loop marked parallel is taken in its sequential order here.\n" if parallel else ""
    return f"""(** * {comment(" ".join(title.split()))}

    The original:
<<
{indented(source, 4)}
>>
    The new loops, around the same statements:
<<
{indented(comment(to_c(after.program)).splitlines(), 4)}
>>
    Theorem [same_memory], at the end: {every(before.table, "for")}, both programs end and
    leave the same memory, whatever was in it before and whatever the statements compute, as long
    as they read and write only what [memory_use] says.
{remark}
    What has to be read to know what is proved: the definitions of [original],
    [transformed], [known] and [memory_use], here; [compute_the_same], in the library
    (Transformation.v, and Loop.v for what a program does).  The rest is checked by Coq:
<<
    {how_to_check("FILE.v")}
>>  *)"""
