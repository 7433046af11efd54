"""Locals of a text that are declared in a loop: an iteration has no value another one left in them.

The two ways of proving take a name for one variable throughout.  `for (...) { double x; ... }` has a new
x in every iteration, with no value, so each read of x has to find what was written in the same one.  That is
so where the declaration gives x its value; elsewhere the data flow shows it:

    no read at iteration i of x finds a write at i', i and i' being those of the loops around the declaration
"""

from __future__ import annotations

import islpy as isl

from loopwright.c.declarations import Variable
from loopwright.c.syntax import walk
from loopwright.model.program import Program
from loopwright.presburger.dimensions import equal_in
from loopwright.prove.equivalence.flow import Flow, ValueDefinition, flow_of
from loopwright.prove.equivalence.reading import local_name
from loopwright.prove.equivalence.terms import CellTerm, subterms
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.verdict import Proved, Undecided


def prove_lifetimes(program: Program, context: isl.Set) -> Proved | Undecided:
    """Whether no iteration reads what another one left in a local that is declared without a value."""
    variables = _without_value(program)
    if not variables:
        return Proved(0)
    try:
        flow = flow_of(program, context)
    except Unreadable as failure:
        names = ", ".join(sorted({variable.name for variable in variables}))
        reason = f"whether iterations share values of {names} could not be determined: {failure}"
        return Undecided(reason, unread=True)
    count = 0
    for reader in flow.definitions.values():
        for cell in (part for part in subterms(reader.value) if isinstance(part, CellTerm)):
            variable = _declared(program, reader, cell, variables)
            if variable is None:
                continue
            if not _stays(program, flow, reader, cell, variable):
                line = variable.place.line
                name = variable.name
                return Undecided(f"line {line}: an iteration may read what another one left in {name}")
            count += 1
    return Proved(count)


def _without_value(program: Program) -> tuple[Variable, ...]:
    """The locals declared in a loop of the region, and not initialised there."""
    local = {array.name for array in program.arrays if array.local}
    given = {node.span for node in walk(program.syntax) if node.type == "init_declarator"}
    return tuple(
        variable
        for variable in program.file.declarations.variables
        if variable.name in local
        and program.region.contains(variable.place)
        and variable.place not in given
        and _depth(program, variable) > 0
    )


def _depth(program: Program, variable: Variable) -> int:
    """How many loops are around a declaration."""
    loops = program.syntax.of_type("for_statement")
    return sum(loop.span.contains(variable.place) for loop in loops)


def _declared(
    program: Program, at: ValueDefinition, cell: CellTerm, variables: tuple[Variable, ...]
) -> Variable | None:
    """Which of `variables` a cell is at a statement."""
    spot = program.statement(at.name.partition(".")[0]).body.place
    names = {local_name(variable.name): variable.name for variable in variables}
    if cell.array not in names:
        return None
    found = program.file.declarations.visible(names[cell.array], spot)
    return found if found in variables else None


def _stays(program: Program, flow: Flow, reader: ValueDefinition, cell: CellTerm, variable: Variable) -> bool:
    """Whether every value the read finds is of the same variable, of the same iteration."""
    depth = _depth(program, variable)
    for source in flow.sources(reader, cell):
        writer = source.definition
        if writer.line is None or _declared(program, writer, cell, (variable,)) is None:
            return False
        same = equal_in(isl.Map.universe(source.relation.get_space()), range(depth))
        if not source.relation.is_subset(same):
            return False
    return True
