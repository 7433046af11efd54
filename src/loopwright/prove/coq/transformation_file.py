"""A Coq file about a whole transformation: the original loops and the new ones leave the same memory."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.emit.c import to_c
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.program import Program
from loopwright.prove.coq.arithmetic import proposition, vector
from loopwright.prove.coq.names import comment, text, variables
from loopwright.prove.coq.program_file import (
    Named,
    context_definition,
    indented,
    program_definition,
    scanning_proof,
    schedule_definitions,
)
from loopwright.prove.coq.terms import listed
from loopwright.prove.obligations.cells import Cell, Touched, touched, whole_arrays
from loopwright.prove.obligations.sides import both_sides


def transformation_file(original: Program, new: Program, loops: Node, title: str) -> str:
    """The whole file: `original`, as its text runs it, against `loops`, which run the schedule of `new`."""
    (old_table, text_program), (new_table, _) = both_sides(original, new, loops)
    before = Named(old_table, text_program, "original", "source", "old_")
    after = Named(new_table, loops, "transformed", "target", "new_")
    parts = [
        _heading(original, before, after, title),
        "From Loopwright Require Import Tactics.",
        "(** ** The programs *)",
        program_definition(before),
        program_definition(after),
        "(** ** What they are to run *)",
        context_definition(before.table, "known"),
        *schedule_definitions(before, "known"),
        *schedule_definitions(after, "known"),
        "(** ** What each statement reads and writes *)",
        memory_use(original, before),
        "(** ** The original runs its instances in the original order. *)",
        *scanning_proof(before, "known", "original_correct"),
        "(** ** The new loops run the same instances in the new order. *)",
        *scanning_proof(after, "known", "transformed_correct"),
        "(** ** The new order keeps every two conflicting instances in their old order. *)",
        "Theorem transformation_legal : forall p, known p ->\n"
        "  legal (memory_use p) (statements source p) (statements target p).\n"
        "Proof. prove_legal. Qed.",
        "(** ** Both programs leave the same memory, for every size and every input. *)",
        SAME_MEMORY,
        "Print Assumptions same_memory.",
    ]
    return "\n\n".join(parts) + "\n"


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


def memory_use(program: Program, named: Named) -> str:
    """The accesses as lists of cells."""
    names = named.parameters
    entries = [_access(one, names) for one in touched(program)]
    inside = ";\n".join(indented(entry.splitlines(), 6) for entry in entries)
    whole = whole_arrays(program)
    remark = (
        f"(** Of {comment(', '.join(whole))} the part touched is not known: all of it is one cell. *)\n"
        if whole
        else ""
    )
    return (
        f"{remark}Definition memory_use (p : list Z) : accesses :=\n"
        f"  match p with\n  | {listed(names.values())} => accesses_of [\n{inside}]\n"
        f"  | _ => accesses_of []\n  end."
    )


def _access(use: Touched, parameters: dict[str, str]) -> str:
    own = variables(use.arguments, parameters.values())
    names = {**parameters, **own}
    pattern = listed(own.values())
    parts = [
        f"  (fun x => match x with {pattern} => {_cells(cells, names)} | _ => [] end)"
        for cells in (use.reads, use.writes)
    ]
    return "\n".join([f"Access {text(use.statement)}", *parts])


def _cells(cells: Sequence[Cell], names: dict[str, str]) -> str:
    return listed(f"({text(one.array)}, {vector(one.subscripts, names)})" for one in cells)


def _heading(original: Program, before: Named, after: Named, title: str) -> str:
    where = comment(proposition(before.table.known, {}))
    sizes = ", ".join(before.table.parameters)
    every = f"for all integers {sizes} with [{where}]" if sizes else "always"
    start, end = original.region.start, original.region.end
    source = comment(original.source.text[start:end]).strip("\n").splitlines()
    parallel = any(isinstance(one, For) and one.parallel for one in subprograms(after.program))
    remark = "\n    A loop marked parallel is taken in its sequential order here.\n" if parallel else ""
    return f"""(** * {comment(' '.join(title.split()))}

    The original:
<<
{indented(source, 4)}
>>
    The new loops, around the same statements:
<<
{indented(comment(to_c(after.program)).splitlines(), 4)}
>>
    Theorem [same_memory], at the end: {every}, both programs end and leave the same
    memory, whatever was in it before and whatever the statements compute, as long as they read
    and write only what [memory_use] says.
{remark}
    What has to be read to know what is proved: the definitions of [original],
    [transformed], [known] and [memory_use], here; [compute_the_same], in the library. *)"""
