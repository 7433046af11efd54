"""A function of MLIR as loops around assignments of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from loopwright.c.types import CType
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Int, Var
from loopwright.loops.nodes import Call, Node
from loopwright.loops.traverse import with_calls
from loopwright.model.program import Array
from loopwright.presburger.dimensions import padded, split
from loopwright.presburger.named import parameter_names, space_of, whole
from loopwright.presburger.sets import DIM, IN, OUT, PARAM
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.flow import Flow, ValueDefinition, flow_through
from loopwright.prove.equivalence.terms import Apply, CellTerm, Index, Term
from loopwright.prove.equivalence.traces import Runnable
from loopwright.prove.scanning.executed import Either, Executed, InOrder, Repeat, Run, executed, runs
from loopwright.source import Source, Span


@dataclass(frozen=True)
class Buffer:
    """Storage: an argument, a global, or an allocation of the function (`is_local`).

    One allocated inside loops has their iterators as its first subscripts: it is private to each iteration.
    """

    name: str
    rank: int
    type: CType
    extents: tuple[Expr | None, ...]
    is_local: bool = False
    own: int = 0
    """How many of its subscripts are iterators of loops around its allocation."""


@dataclass(frozen=True, eq=False)
class AffineFunction:
    """A translated function; `loops` have a call without arguments for every statement."""

    name: str
    source: Source
    place: Span
    loops: Node
    computations: dict[str, Computation]
    iterators: dict[str, tuple[str, ...]]
    places: dict[str, Span]
    """The place of the operation that is the statement."""
    buffers: dict[str, Buffer]
    results: tuple[str, ...]
    """The returned values: cells of rank 0, and storage that was allocated."""
    context: isl.Set
    trusted: tuple[str, ...]
    padded: frozenset[Term] = frozenset()
    """Reads `inside ? cell : padding`, of cells that no other operation loads: they stay in bounds."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The buffers and results that are observable after the function."""
        return (*(one.name for one in self.buffers.values() if not one.is_local), *self.results)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The buffers as arrays, with known sizes that are numbers."""
        return tuple(_array(one) for one in self.buffers.values())

    @property
    def runnable(self) -> Runnable:
        loops = with_calls(self.loops, lambda call: self.computations[call.name].call())
        extents = {one.name: one.extents for one in self.buffers.values()}
        fresh = frozenset(one.name for one in self.buffers.values() if one.is_local)
        return Runnable(loops, self.computations, extents, fresh)

    def defined(self, context: isl.Set) -> isl.Set:
        """The sizes for which no subscript is negative or beyond a known size."""
        flow = self.flow(context)
        names = parameter_names(context)
        for definition, cell, test in _cells(self, flow):
            buffer = self.buffers.get(cell.array)
            if buffer is None:
                continue
            touched = definition.relation(cell.subscripts, cell.array)
            if test is not None:
                touched = touched.intersect_domain(_holding(definition, test))
            cells = touched.range()
            inside = _inside(cells.get_space(), buffer, names)
            outside = cells.subtract(inside).params()
            context = context.subtract(outside.align_params(context.get_space()))
        return context.coalesce()

    def flow(self, context: isl.Set) -> Flow:
        """The data flow, for sizes in `context`."""
        tree = self.tree(context)
        values = {run.name: _values(run, len(self.iterators[run.name])) for run in runs(tree)}
        return flow_through(self.computations, values, times(tree, self.iterators), context)

    def tree(self, context: isl.Set) -> Executed:
        """The execution order: every call with its iterators, then the integers of its statement."""

        def call(one: Call) -> Node:
            own = tuple(Var(name) for name in self.iterators[one.name])
            return Call(one.name, (*own, *self.computations[one.name].columns))

        return executed(with_calls(self.loops, call), context)


def _array(buffer: Buffer) -> Array:
    inside = isl.Set.universe(space_of((), [f"subscript {k}" for k in range(buffer.rank)]))
    for k, extent in enumerate(buffer.extents):
        if isinstance(extent, Int):
            inside = inside.lower_bound_val(DIM, k, whole(0))
            inside = inside.upper_bound_val(DIM, k, whole(extent.value - 1))
    is_sized = len(buffer.extents) == buffer.rank and all(isinstance(one, Int) for one in buffer.extents)
    named = inside.set_tuple_name(buffer.name)
    return Array(buffer.name, buffer.rank, local=buffer.is_local, inside=named, is_sized=is_sized)


def _values(run: Run, depth: int) -> isl.Map:
    image = run.domain.apply(isl.Map.from_multi_pw_aff(run.arguments))
    return split(image, depth).set_tuple_name(IN, run.name)


def times(tree: Executed, iterators: dict[str, tuple[str, ...]]) -> dict[str, isl.Map]:
    """{ S[i, j] -> [p0, i, p1, j, p2] }: positions in blocks and iterators in turn, of one length."""
    paths: dict[str, tuple[Run, list[int | None]]] = {}

    def visit(part: Executed, path: list[int | None]) -> None:
        match part:
            case Run():
                paths[part.name] = part, path
            case InOrder(parts=parts) | Either(parts=parts):
                for place, one in enumerate(parts):
                    visit(one, [*path, place])
            case Repeat(body=body):
                visit(body, [*path, None])

    visit(tree, [])
    longest = max((len(path) for _, path in paths.values()), default=1)
    found: dict[str, isl.Map] = {}
    for name, (run, path) in paths.items():
        instances = split(run.domain.apply(isl.Map.from_multi_pw_aff(run.arguments)), len(iterators[name]))
        domain = instances.domain().set_tuple_name(name)
        time = isl.Map.from_domain(domain).add_dims(OUT, len(path))
        depth = 0
        for place, entry in enumerate(path):
            if entry is None:
                time = time.equate(IN, depth, OUT, place)
                depth += 1
            else:
                time = time.fix_val(OUT, place, isl.Val(entry))
        found[name] = padded(time, longest)
    return found


def _cells(function: AffineFunction, flow: Flow) -> Iterator[tuple[ValueDefinition, CellTerm, Index | None]]:
    """Yields the accesses of each assignment, at the instances of its statement or of a test."""
    for name, one in function.computations.items():
        for place, assignment in enumerate(one.assignments):
            definition = flow.definitions[name if len(one.assignments) == 1 else f"{name}.{place}"]
            read = _read(assignment.value, function.padded)
            for cell, test in dict.fromkeys(((assignment.target, None), *read)):
                yield definition, cell, test


def _read(term: Term, padded: frozenset[Term]) -> Iterator[tuple[CellTerm, Index | None]]:
    """Yields the cells of a term; for padded ones, with the test under which they are read."""
    match term:
        case Apply(_, (Index() as test, CellTerm() as cell, other)) if term in padded:
            yield cell, test
            yield from _read(other, padded)
        case Apply(arguments=arguments):
            for argument in arguments:
                yield from _read(argument, padded)
        case CellTerm():
            yield term, None


def _holding(definition: ValueDefinition, test: Index) -> isl.Set:
    """The instances at which a test is 1."""
    return definition.relation((test.value,)).fix_val(OUT, 0, isl.Val(1)).domain()


def _inside(space: isl.Space, buffer: Buffer, names: Sequence[str]) -> isl.Set:
    """The cells of a buffer, as far as its sizes are numbers or arguments."""
    inside = isl.Set.universe(space)
    for place, size in enumerate(buffer.extents):
        match size:
            case Int(value):
                inside = inside.upper_bound_val(DIM, place, isl.Val(value - 1))
            case Var(name) if name in names:
                limit = isl.Constraint.inequality_alloc(isl.LocalSpace.from_space(space))
                limit = limit.set_coefficient_val(DIM, place, isl.Val(-1)).set_constant_val(isl.Val(-1))
                limit = limit.set_coefficient_val(PARAM, space.find_dim_by_name(PARAM, name), isl.Val(1))
                inside = inside.add_constraint(limit)
        if place >= buffer.own:
            inside = inside.lower_bound_val(DIM, place, isl.Val(0))
    return inside
