"""What each statement may read and write, as definitions of a Coq file."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.prove.coq.arithmetic import Names, vector
from loopwright.prove.coq.names import text, variables
from loopwright.prove.coq.statements import Named, applied, binders, label, remark
from loopwright.prove.coq.terms import listed
from loopwright.prove.obligations.cells import Cell, Touched


def use_definitions(uses: Sequence[Touched], named: Named) -> list[str]:
    """The accesses of every statement, in the order of the timetable, and all of them as `memory_use`."""
    by_name = {use.statement: use for use in uses}
    labels = {one.name: label(named, one) for one in named.table.statements}
    inside = "; ".join(f"use_{one}{applied(named)}" for one in labels.values())
    together = (
        f"Definition memory_use (p : list Z) : accesses :=\n"
        f"  match p with\n  | {listed(named.parameters.values())} => accesses_of [{inside}]\n"
        f"  | _ => accesses_of []\n  end."
    )
    return [*(_use(by_name[name], one, named) for name, one in labels.items()), together]


def _use(use: Touched, name: str, named: Named) -> str:
    """The accesses as lists of cells."""
    own = variables(use.arguments, named.parameters.values())
    names = {**named.parameters, **own}
    pattern = listed(own.values())
    parts = [
        f"    (fun x => match x with {pattern} => {_cells(cells, names)} | _ => [] end)"
        for cells in (use.reads, use.writes)
    ]
    head = f"Definition use_{name}{binders(list(named.parameters.values()))} : access :="
    about = remark(named, use.statement, "It may read, and may write:")
    return about + "\n".join([head, f"  Access {text(use.statement)}", *parts]) + "."


def _cells(cells: Sequence[Cell], names: Names) -> str:
    return listed(f"({text(one.array)}, {vector(one.subscripts, names)})" for one in cells)
