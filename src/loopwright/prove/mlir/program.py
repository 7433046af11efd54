"""Converts a function of MLIR to a program of the model: statements are stores and loop-carried values."""

from __future__ import annotations

from loopwright.model.parameters import Parameter
from loopwright.model.program import Access, Array, Assumption, AssumptionKind, Body, Program, Statement
from loopwright.presburger.dimensions import with_names
from loopwright.presburger.named import parameter_names
from loopwright.presburger.sets import IN, OUT
from loopwright.prove.equivalence.flow import Flow
from loopwright.prove.equivalence.terms import TermAssignment
from loopwright.prove.mlir.cells import MlirNames
from loopwright.prove.mlir.function import AffineFunction, times
from loopwright.prove.mlir.translation import ALIASING, ARITHMETIC, BOUNDS, SIZES, STRIDES, translated
from loopwright.read.mlir.parsing import MlirFile
from loopwright.source import Span

_KINDS = {
    ALIASING: AssumptionKind.ALIASING,
    STRIDES: AssumptionKind.ALIASING,
    BOUNDS: AssumptionKind.BOUNDS,
    SIZES: AssumptionKind.CONSTANT,
    ARITHMETIC: AssumptionKind.ARITHMETIC,
}


def programs_of(file: MlirFile) -> tuple[Program, ...]:
    """The functions of a file, in their order."""
    return tuple(_program(translated(file, one, MlirNames.of(one, ""))) for one in file.functions)


def _program(function: AffineFunction) -> Program:
    context = function.context
    flow = function.flow(context)
    schedules = times(function.tree(context), function.iterators)
    statements: list[Statement] = []
    for name, one in function.computations.items():
        iterators = function.iterators[name]
        schedule = schedules[name]
        accesses = tuple(
            access
            for place, assignment in enumerate(one.assignments)
            for access in _accesses(function, flow, (name, place), assignment)
        )
        domain = with_names(schedule.domain(), iterators).gist_params(context)
        schedule = schedule.gist_domain(schedule.domain())
        for place, iterator in enumerate(iterators):
            schedule = schedule.set_dim_name(IN, place, iterator)
        statements.append(Statement(name, iterators, domain, schedule, accesses, Body(function.places[name])))
    known = {one.name: one for one in function.arrays}
    used = {access.array: access for statement in statements for access in statement.accesses}
    own = [
        Array(name, access.relation.dim(OUT), local="#" in name)
        for name, access in used.items()
        if name not in known
    ]
    return Program(
        _region(function),
        tuple(Parameter(name, name) for name in parameter_names(context)),
        context,
        tuple(Assumption(_KINDS[text], text) for text in function.trusted),
        (*known.values(), *own),
        tuple(statements),
        (),
    )


def _region(function: AffineFunction) -> Span:
    """The span from the head of a function to its last statement."""
    ends = [place.end for place in function.places.values()]
    return Span(function.source, function.place.start, max([function.place.end, *ends]))


def _accesses(
    function: AffineFunction, flow: Flow, key: tuple[str, int], assignment: TermAssignment
) -> tuple[Access, ...]:
    """The reads of an assignment, then its write."""
    name, place = key
    several = len(function.computations[name].assignments) > 1
    definition = flow.definitions[f"{name}.{place}" if several else name]
    found = []
    for cell, is_write in (*((one, False) for one in assignment.cells), (assignment.target, True)):
        relation = definition.relation(cell.subscripts, cell.array).set_tuple_name(IN, name)
        for number, iterator in enumerate(function.iterators[name]):
            relation = relation.set_dim_name(IN, number, iterator)
        relation = relation.gist_domain(relation.domain())
        found.append(Access(cell.array, relation, is_write, must=True, place=function.places[name]))
    return tuple(found)
