"""Legality in the obligation language: two instances that access a cell keep their order.

x in D_S, y in D_T, an access of S(x) and one of T(y) to the same cell, one of them a write:
θ(x) ≺ θ(y)  implies  θ'(x) ≺ θ'(y)         and   θ(x) = θ(y)  implies  S = T, x = y.

A temporary in another order: every read of x sees the write it saw. isl finds the write f(y) that the read at
y sees under θ; here that is only a claim.  For every y in the domain of the reader R, with f(y) an instance
of W,

    seen       f is defined at y
    written    f(y) is in the domain of W, and writes the cell that y reads
    earlier    θ(f(y)) ≺ θ(y)   and   θ'(f(y)) ≺ θ'(y)
    last       no write z to the cell has θ(f(y)) ≺ θ(z) ≺ θ(y), and none θ'(f(y)) ≺ θ'(z) ≺ θ'(y)

By induction over θ every read then sees the same value under θ' as under θ.  x is not read after the region
(`read.c.automatic`), so nothing else is required of x.

The two sides of a transformation are the loops of the source and the new loops, each with its timetable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import TypeAlias

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import FALSE, Expr, Int, Or, Test, Var
from loopwright.loops.nodes import Block, Node
from loopwright.loops.traverse import with_children
from loopwright.model.dependences import value_based_flow, with_accesses
from loopwright.model.program import Program, Statement
from loopwright.model.schedule import Schedule
from loopwright.presburger.sets import maps_of
from loopwright.prove.obligations.cells import (
    Cell,
    Instance,
    StatementCells,
    instance_of,
    times_of,
    touched,
    whole_arrays,
)
from loopwright.prove.obligations.decisions import Decided, Decision
from loopwright.prove.obligations.formulas import (
    Obligation,
    before,
    conjunction,
    disjunction,
    equal,
    exprs_of,
    formula_of,
)
from loopwright.prove.obligations.scanning import table_obligations
from loopwright.prove.obligations.timetable import (
    Shape,
    TimedStatement,
    Timetable,
    Vector,
    pieces_of,
    timetable,
)
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.reading.loops import text_loops
from loopwright.source import Span
from loopwright.transform.scheduling import flat_schedule


def transformation_obligations(
    program: Program,
    old: tuple[Timetable, Node],
    new: tuple[Timetable, Node],
    temporaries: Sequence[str] = (),
) -> Iterator[Obligation]:
    """All obligations of a transformation: both programs execute their schedules, and the step is legal.

    `temporaries` are not read after the region: only the write that each read sees matters.
    """
    spans = {statement.name: statement.body.place for statement in program.statements}
    yield from table_obligations(*old, spans)
    yield from table_obligations(*new, spans)
    yield from legality_obligations(old[0], new[0], touched(program), spans, temporaries)
    for array in temporaries:
        yield from temporary_obligations(program, array, old[0], new[0], spans)


def legality_obligations(
    old: Timetable,
    new: Timetable,
    uses: Sequence[StatementCells],
    spans: Mapping[str, Span],
    temporaries: Sequence[str] = (),
) -> Iterator[Obligation]:
    """Yields one obligation for each pair of accesses to the same array, and each case of the times."""
    instances = [(instance_of(old, use, "1"), instance_of(old, use, "2")) for use in uses]
    for first, second in product(instances, repeat=2):
        for one in _pair(first[0], second[1], old, new, temporaries):
            yield replace(one, span=spans.get(second[1].name))


def _pair(
    a: Instance, b: Instance, old: Timetable, new: Timetable, temporaries: Sequence[str]
) -> Iterator[Obligation]:
    for one, other in meetings(a.use, b.use):
        met = conjunction([old.known, a.domain, b.domain, equal(a.at(one), b.at(other))])
        what = f"{a.name} and {b.name} touch the same cell of {one.array}"
        for (here, first), (there, second) in product(times_of(old, a), times_of(old, b)):
            same = equal(a.arguments(), b.arguments()) if a.name == b.name else FALSE
            yield Obligation(
                f"apart_{a.name}_{b.name}_{one.array}",
                f"{what} at different times",
                conjunction([met, *here, *there, equal(first, second)]),
                same,
            )
            if one.array in temporaries:
                continue
            for (later, third), (after, fourth) in product(times_of(new, a), times_of(new, b)):
                yield Obligation(
                    f"kept_{a.name}_{b.name}_{one.array}",
                    f"{what} in the same order as before",
                    conjunction([met, *here, *there, *later, *after, before(first, second)]),
                    disjunction([before(third, fourth)]),
                )


def meetings(a: StatementCells, b: StatementCells) -> Iterator[tuple[Cell, Cell]]:
    """Yields pairs of accesses to the same array, one of them a write."""
    pairs = [*product(a.writes, b.writes), *product(a.writes, b.reads), *product(a.reads, b.writes)]
    seen = dict.fromkeys(pair for pair in pairs if pair[0].array == pair[1].array)
    yield from seen


@dataclass(frozen=True, eq=False)
class _Seen:
    """Where `condition` holds, the read of `reader` sees the write of `writer`."""

    array: str
    reader: Instance
    writer: Instance
    condition: Test


def temporary_obligations(
    program: Program, array: str, old: Timetable, new: Timetable, spans: Mapping[str, Span]
) -> Iterator[Obligation]:
    """The obligations for `array` to carry the same values from writes to reads under both orders."""
    if array in whole_arrays(program):
        raise GaveUp(Code.NO_PROOF, f"which cells of the temporary {array} are touched is not known")
    uses = [use for use in touched(program) if _cells(use.reads, array) or _cells(use.writes, array)]
    writers = [instance_of(old, use, "2") for use in uses if _cells(use.writes, array)]
    for use in uses:
        if _cells(use.reads, array):
            reader = instance_of(old, use, "1")
            seen = list(_seen(program, array, reader, uses, old))
            orders = [_order(one, writers, table, old.known) for table in (old, new) for one in seen]
            for one in chain(_of_reader(old.known, array, reader, seen), *orders):
                yield replace(one, span=spans.get(use.statement))


def _cells(cells: Sequence[Cell], array: str) -> list[Cell]:
    return [cell for cell in cells if cell.array == array]


def _cell(instance: Instance, array: str, *, written: bool) -> tuple[Expr, ...]:
    own = _cells(instance.use.writes if written else instance.use.reads, array)
    if len(own) != 1:
        raise GaveUp(Code.NO_PROOF, f"{instance.name} touches several cells of the temporary {array}")
    return instance.at(own[0])


def _seen(
    program: Program, array: str, reader: Instance, uses: Sequence[StatementCells], table: Timetable
) -> Iterator[_Seen]:
    """Yields the writes that, by isl, the reads of one statement see."""
    flow, _ = value_based_flow(
        with_accesses(program, lambda one, a: a.array == array and (a.is_write or one.name == reader.name))
    )
    by_name = {use.statement: use for use in uses}
    names = [value.name for value in reader.arguments() if isinstance(value, Var)]
    for relation in sorted(maps_of(flow), key=lambda one: str(one.get_tuple_name(isl.dim_type.in_))):
        writer = instance_of(table, by_name[str(relation.get_tuple_name(isl.dim_type.in_))], "3")
        for domain, function in pieces_of(relation.reverse()):
            yield _Seen(array, reader, writer.moved(exprs_of(function, names)), formula_of(domain, names))


def _of_reader(known: Test, array: str, reader: Instance, seen: Sequence[_Seen]) -> Iterator[Obligation]:
    here = conjunction([known, reader.domain])
    yield Obligation(
        f"seen_{reader.name}_{array}",
        f"every read of {array} in {reader.name} sees a write",
        here,
        disjunction([one.condition for one in seen]) if seen else FALSE,
    )
    for one in seen:
        same = equal(_cell(one.writer, array, written=True), _cell(reader, array, written=False))
        yield Obligation(
            f"written_{one.writer.name}_{reader.name}_{array}",
            f"what {reader.name} sees of {array} is written there by {one.writer.name}",
            conjunction([here, one.condition]),
            conjunction([one.writer.domain, same]),
        )


def _order(found: _Seen, writers: Sequence[Instance], table: Timetable, known: Test) -> Iterator[Obligation]:
    reader, writer, array = found.reader, found.writer, found.array
    here = conjunction([known, reader.domain, found.condition])
    what = f"{reader.name} sees what {writer.name} wrote to {array}"
    for (late, read), (early, wrote) in product(times_of(table, reader), times_of(table, writer)):
        both = conjunction([here, *late, *early])
        yield Obligation(
            f"earlier_{writer.name}_{reader.name}_{array}",
            f"{what}: that is earlier",
            both,
            before(wrote, read),
        )
        for other in writers:
            met = equal(_cell(other, array, written=True), _cell(reader, array, written=False))
            for case, time in times_of(table, other):
                between = [before(wrote, time), before(time, read)]
                yield Obligation(
                    f"last_{writer.name}_{other.name}_{reader.name}_{array}",
                    f"{what}: {other.name} does not write it in between",
                    conjunction([both, other.domain, met, *case, *between]),
                    FALSE,
                )


Side: TypeAlias = tuple[Timetable, Node]


def both_sides(original: Program, new: Program, loops: Node, text: Node | None = None) -> tuple[Side, Side]:
    """`original` with its own loops or the loops `text`, and `loops`, which execute the schedule of `new`."""
    old, later = _aligned(flat_schedule(original), flat_schedule(new))
    text = loops_as_written(original) if text is None else text
    return _side(original, old, text), _side(new, later, loops)


def original_side(original: Program) -> Side:
    """`original`, with the loops of its source."""
    schedule, _ = _aligned(flat_schedule(original), flat_schedule(original))
    return _side(original, schedule, loops_as_written(original))


def loops_as_written(original: Program) -> Node:
    """The loops of the source; raises GaveUp if they cannot be read."""
    try:
        return opened(text_loops(original))
    except Unreadable as failure:
        raise GaveUp(
            Code.NO_PROOF, f"no proof can be written: the loops of the text are not read: {failure}"
        ) from None


def _side(original: Program, schedule: Schedule, node: Node) -> Side:
    """The side with the statements in source order, including those without an instance."""
    table = timetable(schedule, node)
    known = {one.name: one for one in table.statements}
    statements = [known.get(one.name) or _never(one, table) for one in original.statements]
    return replace(table, statements=tuple(statements)), node


def _never(statement: Statement, table: Timetable) -> TimedStatement:
    """A statement without instances: the source may contain a call of it."""
    count = statement.domain.dim(isl.dim_type.set)
    names = tuple(f"never{k}" for k in range(count))
    nothing = isl.Set.empty(statement.domain.get_space())
    time: Decision[Vector] = Decided((Int(0),) * table.width)
    return TimedStatement(statement.name, (Shape(names, Or(()), nothing, time, (), ()),))


def opened(node: Node) -> Node:
    """The same program without nested blocks, and without blocks of one child."""
    node = with_children(node, opened)
    if not isinstance(node, Block):
        return node
    flat = [one for part in node.children for one in (part.children if isinstance(part, Block) else (part,))]
    return flat[0] if len(flat) == 1 else Block(tuple(flat))


def _aligned(one: Schedule, other: Schedule) -> tuple[Schedule, Schedule]:
    """The schedules with a common context, which names the same parameters in the same order."""
    space = one.context.get_space().align_params(one.domain.get_space())
    space = space.align_params(other.context.get_space()).align_params(other.domain.get_space())
    context = isl.Set.universe(space.params()).intersect(one.context.params())
    return replace(one, context=context), replace(other, context=context)
