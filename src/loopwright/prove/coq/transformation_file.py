"""A Coq file about a whole transformation: the original loops and the new ones leave the same memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loopwright.emit.c import to_c
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.prove.coq.check import how_to_check
from loopwright.prove.coq.legality import (
    kept_lemmas,
    legality_proof,
    outline_definition,
    outlines,
)
from loopwright.prove.coq.names import comment, laid_out
from loopwright.prove.coq.parallel import Marked, marked
from loopwright.prove.coq.restatement import NewText, claims_of, claims_text
from loopwright.prove.coq.scanning import sample_examples, scanning_proof
from loopwright.prove.coq.statements import (
    Named,
    SourceText,
    context_definition,
    every,
    indented,
    program_definition,
    schedule_definitions,
    use_definitions,
)
from loopwright.prove.obligations.cells import touched, whole_arrays
from loopwright.prove.obligations.legality import spans_of
from loopwright.prove.obligations.sides import both_sides
from loopwright.prove.obligations.timetable import Timetable


def transformation_file(
    original: Program, new: Program, loops: Node, title: str, printed: NewText | None = None
) -> str:
    """The whole file: `original`, as its text runs it, against `loops`, which run the schedule of `new`.

    The first line of the title is the heading; the others, if there are any, are the script.  Where
    `loops` are those of a text, `printed` is that text.
    """
    parallel = marked(loops, original, original.context)
    (old_table, text_program), (new_table, _) = both_sides(original, new, parallel.program)
    shared = _shared(old_table, new_table)
    sources = _sources(original)
    before = Named(old_table, text_program, "original", "source", "old_", shared, sources)
    after = Named(new_table, parallel.program, "transformed", "target", "new_", shared, sources)
    uses = touched(original)
    found = outlines(before, after, uses)
    lemmas = dict(kept_lemmas(found, before))
    parts = [
        _heading(original, before, _shown(loops, printed), parallel, title),
        *([] if printed is None else [claims_text(claims_of(original, printed, parallel.positions))]),
        "From Loopwright Require Import Tactics.",
        "(** ** The programs *)",
        f"(** The original, lines {_lines(original)}. *)\n{program_definition(before)}",
        f"(** The new loops. *)\n{program_definition(after)}",
        TIMES,
        f"{KNOWN}\n{context_definition(before.table)}",
        *schedule_definitions(before),
        *schedule_definitions(after, again=True),
        USES,
        *_whole(original),
        *use_definitions(uses, before),
        *sample_examples(before),
        "(** ** The original runs its instances in the original order. *)",
        *scanning_proof(before, "original_correct"),
        "(** ** The new loops run the same instances in the new order. *)",
        *scanning_proof(after, "transformed_correct"),
        OUTLINES,
        *(outline_definition(one, before) for one in found),
        *lemmas.values(),
        legality_proof(found, before, list(lemmas)),
        _in_words(before),
        SAME_MEMORY,
        *_any_order(before, parallel),
        f"Print Assumptions {_theorem(parallel)}.",
    ]
    return laid_out("\n\n".join(parts))


def _theorem(parallel: Marked) -> str:
    """The last theorem of the file."""
    return "same_memory_in_any_order" if parallel.independent else "same_memory"


def _lines(program: Program) -> str:
    """From the first line of the region to its last."""
    text, place = program.source.text, program.region
    inside = text[place.start : place.end]
    first = place.start + len(inside) - len(inside.lstrip())
    last = place.end - (len(inside) - len(inside.rstrip()))
    return f"{program.source.line_of(first)} to {program.source.line_of(last)} of {_file(program)}"


def _file(program: Program) -> str:
    return comment(Path(program.source.path).name)


def _sources(program: Program) -> dict[str, SourceText]:
    """The text of every statement, on one line."""
    file = Path(program.source.path).name
    found: dict[str, SourceText] = {}
    for name, span in spans_of(program).items():
        place = program.statement(name).body.place
        text = " ".join(program.source.text[place.start : place.end].split())
        found[name] = SourceText(file, span.line, text)
    return found


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

    Each statement has a domain, the vectors of iterators it runs for, and two times, vectors
    that are compared lexicographically.  In the old time, places in the text and iterators take
    turns; the new time is what the script made of it.  These are means to an end: that both
    programs run what is said here is proved below. *)"""

KNOWN = """\
(** What is known of the parameters. *)"""

USES = """\
(** ** What each statement reads and writes

    For a vector of iterators, the cells it may read and those it may write; a cell is an array's
    name with subscripts, and a variable has none. *)"""

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


def _any_order(named: Named, parallel: Marked) -> list[str]:
    """For loops that are marked: no two of their iterations conflict, and so their order does not matter."""
    if not parallel.independent:
        return []
    return [
        f"(** ** The iterations of {_names(parallel.independent)} may run in any order, and in parallel. *)",
        INDEPENDENT,
        f"""(** {every(named.table, "For")}: whatever the order in which the marked loops of
    [transformed] take their iterations, and however their steps are mixed, it leaves the memory that
    [original] leaves. *)
{ANY_ORDER}""",
    ]


INDEPENDENT = """\
(** Where two iterations of a loop marked [parallel] touch the same cell, neither writes it. *)
Lemma new_independent : forall p, known p ->
  independent (conflicting (memory_use p)) (environment target p) transformed.
Proof. prove_independent. Qed."""

ANY_ORDER = """\
Theorem same_memory_in_any_order : forall p, known p ->
  compute_the_same_in_any_order (memory_use p) (environment source p) original transformed.
Proof.
  intros p Hp. apply same_in_any_order.
  - exact (same_memory p Hp).
  - exact (new_loops_end p Hp).
  - exact (new_independent p Hp).
Qed."""


def _names(iterators: Sequence[str]) -> str:
    """Each once."""
    return comment(", ".join(dict.fromkeys(iterators)))


def _shown(loops: Node, printed: NewText | None) -> str:
    """The new loops: as they are printed, or around calls."""
    if printed is None:
        return f"The new loops, around the same statements:\n<<\n{_lines_of(to_c(loops))}\n>>"
    return f"The new text:\n<<\n{_lines_of(printed.program.region.text)}\n>>"


def _lines_of(text: str) -> str:
    return indented(comment(text).strip("\n").splitlines(), 4)


def _heading(original: Program, before: Named, shown: str, parallel: Marked, title: str) -> str:
    first, *script = title.splitlines()
    scripted = f"<<\n{indented(comment(chr(10).join(script)).splitlines(), 4)}\n>>\n" if script else ""
    return f"""(** * {comment(first)}

{scripted}    The original, lines {_lines(original)}:
<<
{_lines_of(original.region.text)}
>>
    {shown}
    Theorem [same_memory], at the end: {every(before.table, "for")}, both programs end and
    leave the same memory, whatever was in it before and whatever the statements compute, as long
    as they read and write only what [memory_use] says.
{_parallel_remark(parallel)}
    What has to be read to know what is proved: the definitions of [original], [transformed],
    [known] and [memory_use], here; [{_meaning(parallel)}], in the library
    ({_where(parallel)}, and Loop.v for what a program does).  The rest is checked by Coq:
<<
    {how_to_check("FILE.v")}
>>
    Coq knows nothing of C.  That [original] and [transformed] are the two texts above, constructor
    by constructor, and that [memory_use] lists what is read and written by the statement shown above
    each of its definitions, is taken from the program that wrote this file; both can be compared
    line by line, or restated from the C files: loopwright verify NEW.c FILE.v.  Trusted are, too, that
    integers do not overflow, and that different cells are different places. *)"""


def _meaning(parallel: Marked) -> str:
    return "compute_the_same_in_any_order" if parallel.independent else "compute_the_same"


def _where(parallel: Marked) -> str:
    return "Parallel.v" if parallel.independent else "Transformation.v"


def _parallel_remark(parallel: Marked) -> str:
    """What is said of the loops that are to be parallel."""
    found = ""
    if parallel.independent:
        found += f"""
    Theorem [same_memory_in_any_order]: so they do if the iterations of the loops over
    {_names(parallel.independent)} that are marked parallel run in any order, their steps mixed in any way.
"""
    if parallel.others:
        found += f"""
    Loops over {_names(parallel.others)} are to be parallel with storage for each iteration, or with sums
    put together in any order.  Of these only the sequential order is spoken of here.
"""
    return found
