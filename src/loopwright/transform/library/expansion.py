"""Expansion: a variable gets a cell for each iteration of loops, so that iterations no longer share it.

    x  in iteration (i, j)   -->   x_i_j[i - l][j - m],   l and m the least values of i and j

Every access uses the cell of its own iteration.  The sizes are those of the smallest box that affine
bounds describe and that holds all iterations in which the variable is used.  If the variable may be live
after the region, the values written last are copied back.

A scalar that is carried around one loop, read before it is written there, gets an additional cell for its
value before the loop:

    reads of a value written in the previous iteration   -->   x_i[i - l]
    writes, and reads after them                     -->   x_i[i - l + 1]
    before the loop                                  -->   x_i[0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.tokens import bracketed
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import value_based_flow, with_accesses
from loopwright.model.program import Access, Array, Program, Statement
from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import functions_of
from loopwright.presburger.named import parameter_names, parameter_space
from loopwright.presburger.sets import DIM, DIV, IN, OUT, union
from loopwright.source import Span
from loopwright.transform.library.accesses import (
    affine_text,
    copy_schedule,
    divided_text,
    in_space,
    loops_over,
    moved,
    variable_called,
    with_loops,
    without_declaration,
)
from loopwright.transform.library.boxes import on_space, parameter_count
from loopwright.transform.plan import Component, Plan, PlanLeaf
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.storage import unused_name, with_storage
from loopwright.transform.vectors import entry, pieces


@dataclass(frozen=True, eq=False)
class ExpandedLoop:
    """A loop: the values of its iteration number by statement, and affine bounds of them all."""

    name: str
    values: dict[str, isl.Aff]
    low: isl.Aff
    high: isl.Aff
    sizes: isl.Set
    """The sizes for which it executes."""

    def index(self, program: Program, statement: Statement, less: int = 0) -> str:
        """The subscript for an access of the statement, from 0; minus `less` for an earlier iteration."""
        value = self.values[statement.name].add_constant_val(isl.Val(-less))
        return self._text(program, value.sub(_on(self.low, value)), statement.iterators, statement.domain)

    def extent(self, program: Program) -> str:
        """The number of cells, correct for all sizes for which the loop executes."""
        count = self.high.sub(self.low).add_constant_val(isl.Val(1))
        sizes = isl.Set.universe(count.get_domain_space()).intersect_params(self.sizes)
        return self._text(program, count, (), sizes)

    def _text(self, program: Program, value: isl.Aff, iterators: Sequence[str], domain: isl.Set) -> str:
        text = divided_text(program, value, iterators, domain)
        if text is None:
            message = f"the iteration number of {self.name} cannot be written as C"
            raise Misuse(Code.STORAGE, message, argument="loops")
        return text


def expand(plan: Plan, name: str, loops: Sequence[str]) -> Plan:
    """The plan in which each iteration of `loops` has its own `name`."""
    program = plan.program
    array = variable_called(plan, name)
    users = [one for one in program.statements if any(a.array == name for a in one.accesses)]
    old = _old_values(plan, users, name, loops[0]) if len(loops) == 1 and not array.rank else frozenset()
    if old:
        expanded = [_wrapped(plan, users, loops[0])]
    else:
        expanded = [_loop(plan, users, loop, item) for item, loop in enumerate(loops)]
    new = unused_name(program, "_".join((name, *loops)))
    extents = (*(one.extent(program) for one in expanded), *array.extents)
    made = Array(new, rank=len(extents), element_type=array.element_type, local=True, extents=extents)
    made = in_space(made)
    edits = list(without_declaration(program, array))
    for statement in users:
        for place, front in _fronts(program, statement, name, new, expanded, old):
            edits += moved(statement, name, front, place)
    texts = tuple(dict.fromkeys(edits))
    copies: list[tuple[str, isl.Map]] = []
    before = _sees_what_was_before(program, name)
    if old and not before.is_empty():
        start = (min(leaf.position[0] for leaf in plan.leaves) - 1, *(0,) * plan.loops)
        copies = [(f"{loops_over(program, before, ())}{new}[0] = {name};", copy_schedule(start, 0, 0))]
        plan = replace(plan, leaves=(PlanLeaf(start, ()), *plan.leaves))
    if program.is_dead_after(array):
        return plan.stored(with_storage(program, texts, (made,), copies))
    return _copied_back(
        plan, array, new, expanded, lambda plan, copy: with_storage(plan, texts, (made,), [*copies, *copy])
    )


def _sees_what_was_before(program: Program, name: str) -> isl.Set:
    """{ [] : for these sizes a read may see a value from before the region }."""
    _, before = value_based_flow(with_accesses(program, lambda _, access: access.array == name))
    sizes = before.intersect_domain(program.domain()).domain().params().intersect(program.context)
    return isl.Set.from_params(sizes.coalesce()).gist_params(program.context)


def _fronts(
    program: Program,
    statement: Statement,
    name: str,
    new: str,
    expanded: Sequence[ExpandedLoop],
    old: frozenset[Span],
) -> Iterator[tuple[Span, str]]:
    """The new name and subscripts for each access of a statement."""
    for access in statement.accesses:
        if access.array == name:
            less = 1 if access.place in old else 0
            yield access.place, new + "".join(f"[{one.index(program, statement, less)}]" for one in expanded)


def _old_values(plan: Plan, users: Sequence[Statement], name: str, loop: str) -> frozenset[Span]:
    """The reads in the loop of the previous iteration's values; none if others see these too."""
    numbers = {
        one.name: only(piece.intersect_domain(one.domain), OUT, entry(plan.leaf(position).loops.index(loop)))
        for one in users
        for position, piece in pieces(one.schedule)
        if loop in plan.leaf(position).loops
    }
    found: set[Span] = set()
    for reader in users:
        if reader.name not in numbers:
            continue
        for access in (one for one in reader.reads if one.array == name):
            seen = _distances(plan.program, reader, access, numbers)
            if seen == {1} and access.place not in {one.place for one in reader.writes}:
                found.add(access.place)
            elif 1 in seen:
                return frozenset()
    return frozenset(found)


def _distances(program: Program, reader: Statement, read: Access, numbers: dict[str, isl.Map]) -> set[int]:
    """The distance in iterations from the write to each read, if it is 0 or 1; else -1."""
    flow, _ = value_based_flow(
        with_accesses(program, lambda _, one: one is read or (one.array == read.array and one.is_write))
    )
    found: set[int] = set()
    for writer in numbers:
        sources = program.statement(writer).domain.get_space().map_from_domain_and_range(
            reader.domain.get_space()
        )
        pairs = flow.extract_map(sources)
        times = numbers[writer].reverse().apply_range(pairs).apply_range(numbers[reader.name])
        found |= {int(one.to_python()) if one.is_int() else -1 for one in _differences(times)}
    return found


def _differences(times: isl.Map) -> list[isl.Val]:
    """The least and the greatest distance of the pairs."""
    deltas = times.deltas()
    if deltas.is_empty():
        return []
    return [deltas.dim_min_val(0), deltas.dim_max_val(0)]


def _wrapped(plan: Plan, users: Sequence[Statement], name: str) -> ExpandedLoop:
    """The loop with an additional cell for the value before it, which statements before it use."""
    inner = [one for one in users if any(name in plan.leaf(p).loops for p, _ in pieces(one.schedule))]
    loop = _loop(plan, inner, name, 0)
    start = min(position for one in inner for position, _ in pieces(one.schedule))
    low = loop.low.add_constant_val(isl.Val(-1))
    values = dict(loop.values)
    for one in users:
        if one not in inner:
            later = any(position > start for position, _ in pieces(one.schedule))
            values[one.name] = on_space(loop.high if later else low, one.domain.get_space())
    return replace(loop, values=values, low=low)


def _copied_back(
    plan: Plan,
    array: Array,
    new: str,
    expanded: Sequence[ExpandedLoop],
    stored: Callable[[Program, Sequence[tuple[str, isl.Map]]], Program],
) -> Plan:
    """x[c] = x_i[t(c)][c] after all loops, t(c) the iteration that writes the cell c last."""
    plan = with_loops(plan, max(plan.loops, array.rank))
    last = _last_writes(plan.program, array.name, expanded)
    cells = last.domain().coalesce()
    iterators = tuple(unused_name(plan.program, f"{array.name}_{k + 1}") for k in range(array.rank))
    found: list[isl.MultiAff] = []
    isl.PwMultiAff.from_map(last).coalesce().foreach_piece(lambda _, function: found.append(function))
    if len(found) != 1 or any(found[0].get_at(k).dim(DIV) for k in range(len(expanded))):
        message = f"which iteration writes {array.name} last is not an affine function of its subscripts"
        raise Misuse(Code.STORAGE, message, argument="loops")
    own = bracketed(iterators)
    times = [affine_text(plan.program, found[0].get_at(k), iterators) for k in range(len(expanded))]
    value = new + bracketed(times) + own
    text = f"{loops_over(plan.program, cells, iterators)}{array.name}{own} = {value};"
    place = (max(leaf.position[0] for leaf in plan.leaves) + 1, *(0,) * plan.loops)
    after = stored(plan.program, [(text, copy_schedule(place, 0, array.rank))])
    leaves = (*plan.leaves, PlanLeaf(place, iterators))
    return replace(plan.stored(after), leaves=leaves).named(after.statements[-1].name, Component.of([place]))


def _last_writes(program: Program, name: str, expanded: Sequence[ExpandedLoop]) -> isl.Map:
    """{ cell -> subscripts of the new array } by the last write of each cell."""
    writes: list[isl.Map] = []
    times: list[isl.Map] = []
    for statement in program.statements:
        here = [access.relation for access in statement.writes if access.array == name]
        domain = statement.domain.intersect_params(program.context)
        for relation in here:
            writes.append(relation.intersect_domain(domain).reverse().apply_range(statement.schedule))
            subscripts = _subscripts(statement, expanded).intersect_domain(domain)
            times.append(statement.schedule.reverse().apply_range(subscripts))
    if not writes:
        raise Misuse(Code.STORAGE, f"{name} is not written in the region", argument="variable")
    return union(writes).reset_tuple_id(IN).lexmax().apply_range(union(times))


def _subscripts(statement: Statement, expanded: Sequence[ExpandedLoop]) -> isl.Map:
    """{ instance -> its subscripts before those of the variable }."""
    values = [(one.values[statement.name], one.low) for one in expanded]
    whole = isl.Map.from_aff(values[0][0].sub(_on(values[0][1], values[0][0])))
    for value, low in values[1:]:
        whole = whole.flat_range_product(isl.Map.from_aff(value.sub(_on(low, value))))
    return whole


def _loop(plan: Plan, users: Sequence[Statement], name: str, item: int) -> ExpandedLoop:
    values = {statement.name: _value(plan, statement, name, item) for statement in users}
    numbers = union(
        statement.domain.intersect_params(plan.program.context).apply(isl.Map.from_aff(values[statement.name]))
        for statement in users
    )
    low, high = _bounds(numbers, name, item, over_tiles=any(one.dim(DIV) for one in values.values()))
    sizes = low.get_domain_space().params()
    values = {statement: value.align_params(sizes) for statement, value in values.items()}
    return ExpandedLoop(name, values, low, high, numbers.params())


def _value(plan: Plan, statement: Statement, name: str, item: int) -> isl.Aff:
    """The iteration number of the loop as a function of the statement's iterators."""
    found: list[isl.Aff] = []
    for position, piece in pieces(statement.schedule):
        loops = plan.leaf(position).loops
        if name not in loops:
            message = f"{statement.name} uses the variable, and is not in a loop over {name}"
            hint = f"its loops are {', '.join(loops) or 'none'}"
            raise Misuse(Code.NO_ITERATOR, message, argument="loops", item=item, hint=hint)
        number = only(piece.intersect_domain(statement.domain), OUT, entry(loops.index(name)))
        found += [function.get_at(0) for function in functions_of(number)]
    if not found:
        message = f"{statement.name} uses the variable, and never runs"
        raise Misuse(Code.STORAGE, message, argument="loops", item=item, hint="leave it out of the region")
    first, *others = found
    if any(not one.plain_is_equal(first) for one in others):
        inner = statement.name
        message = f"the iteration number of {name} is not one function of the iterators of {inner}"
        hint = "expand along the original loops, before they are split"
        raise Misuse(Code.STORAGE, message, argument="loops", item=item, hint=hint)
    return first


def _bounds(numbers: isl.Set, name: str, item: int, *, over_tiles: bool) -> tuple[isl.Aff, isl.Aff]:
    """Functions of the parameters that bound all numbers, constants where possible.

    They are affine, except for the upper bound of a loop over tiles, or to n / s: s t <= e, so that t <=
    [e/s].
    """
    below: list[isl.Aff] = []
    above: list[isl.Aff] = []
    divided: list[isl.Aff] = []
    for constraint in numbers.compute_divs().coalesce().simple_hull().get_constraints():
        factor = constraint.get_coefficient_val(DIM, 0)
        if constraint.is_div_constraint():
            continue
        if factor.is_neg() and not factor.is_negone():
            divided += _quotient(constraint, factor)
        if not (factor.is_one() or factor.is_negone()):
            continue
        bound = _of_parameters(constraint.get_bound(DIM, 0))
        if bound is None:
            continue
        if constraint.is_equality() or factor.is_one():
            below.append(bound)
        if constraint.is_equality() or factor.is_negone():
            above.append(bound)
    above = (divided or above) if over_tiles else (above or divided)
    if not below or not above:
        message = f"the values of {name} have no affine bounds"
        raise Misuse(Code.STORAGE, message, argument="loops", item=item)
    return min(below, key=parameter_count), min(above, key=parameter_count)


def _quotient(constraint: isl.Constraint, factor: isl.Val) -> list[isl.Aff]:
    """[e/s] of -s t + e >= 0, where e is a function of the parameters alone."""
    end = constraint.get_aff().set_coefficient_val(IN, 0, isl.Val(0))
    bound = _of_parameters(end)
    return [] if bound is None else [bound.scale_down_val(factor.neg()).floor()]


def _of_parameters(bound: isl.Aff) -> isl.Aff | None:
    """The bound as a function on the parameters alone."""
    if bound.dim(DIV) or not bound.get_denominator_val().is_one():
        return None
    return on_space(bound, parameter_space(parameter_names(bound.get_domain_space())))


def _on(bound: isl.Aff, like: isl.Aff) -> isl.Aff:
    """A function of the parameters on the instances of a statement."""
    return on_space(bound, like.get_domain_space().align_params(bound.get_domain_space()))
