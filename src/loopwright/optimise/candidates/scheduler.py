"""Converts the schedules of isl to scripts; they need not be trusted, since every script is proved.

The scheduler [Bondhugula2008; Verdoolaege2010] gives every statement rows of affine functions along which
dependence distances are non-negative, in bands, and determines which statements share them.  As operations:

    distribute(S1, ..., Sn)                       each statement separately
    reorder(A, B) ...                             in the order of the sequences, else as written
    affine(S, {[x] -> [f1(x), f2(x), ...]})       its rows as its loops
    fuse(A, B, n)                                 with the loops that adjacent statements share

Single steps need not be legal; only the final plan counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import count, pairwise

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence, DependenceKind
from loopwright.presburger.functions import coefficient, coordinate, functions_of
from loopwright.presburger.sets import IN, OUT, PARAM
from loopwright.read import formula as fm
from loopwright.transform.plan import Plan
from loopwright.transform.script.formulas import AffineMap, all_of, compared, plus, symbols, times
from loopwright.transform.script.operations import Affine, Distribute, Fuse, Operation, Permute, Reorder
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import handles_at
from loopwright.transform.vectors import Position, iteration_numbers, pieces


class Fusion(Enum):
    """The fusion strategy of the scheduler."""

    MOST = "as many statements as possible in the same loops"
    SCC = "only statements that depend on each other in a circle in the same loops"
    BANDS = "the deepest bands of loops that can be tiled"


@dataclass(frozen=True)
class _Placed:
    """A statement in isl's tree: places in sequences, each with the number of rows before it."""

    statement: str
    places: tuple[tuple[int, int], ...]
    rows: tuple[isl.MultiUnionPwAff, ...]


def scheduled(plan: Plan, dependences: Sequence[Dependence], fusion: Fusion) -> tuple[Step, ...] | None:
    """The steps from a plan as written to the schedule of isl; None if operations cannot express it."""
    if any(len(pieces(one.schedule)) != 1 for one in plan.program.statements) or len(plan.leaves) != len(
        plan.program.statements
    ):
        return None
    order, flow = _orders(plan, dependences)
    tree, positions = _computed(plan, order, flow, fusion), _positions(plan)
    placed = sorted(_TreeWalk(positions, order).below(tree.get_root(), (), ()), key=lambda one: one.places)
    handles = handles_at(plan, positions.values())
    if handles is None or len(placed) != len(handles):
        return None
    named = dict(zip(positions, handles, strict=True))
    operations = [*_apart(plan, named), *_ordered(plan, named, placed)]
    rows = [_rows(plan, one) for one in placed]
    if any(one is None for one in rows):
        return None
    known = [one for one in rows if one is not None]
    for group in _groups(placed):
        names = _names([known[k] for k in group])
        for k in group:
            operations += _renewed(named[placed[k].statement], known[k], names if len(group) > 1 else None)
    for first, second in pairwise(placed):
        shared = _shared(first, second)
        if shared:
            operations.append(Fuse((named[first.statement], named[second.statement]), shared))
    return tuple(Step(one) for one in operations)


def _positions(plan: Plan) -> dict[str, Position]:
    return {one.name: pieces(one.schedule)[0][0] for one in plan.program.statements}


def _orders(plan: Plan, dependences: Sequence[Dependence]) -> tuple[isl.UnionMap, isl.UnionMap]:
    """The dependences, and the flow dependences among them."""
    program = plan.original
    empty = isl.UnionMap.empty(program.domain().get_space())
    order, flow = empty, empty
    for one in dependences:
        relation = isl.UnionMap.from_map(one.relation)
        order = order.union(relation)
        flow = flow.union(relation) if one.kind is DependenceKind.FLOW else flow
    order, flow = (one.intersect_params(program.context).coalesce() for one in (order, flow))
    return order, flow


def _computed(plan: Plan, order: isl.UnionMap, flow: isl.UnionMap, fusion: Fusion) -> isl.Schedule:
    constraints = isl.ScheduleConstraints.on_domain(plan.original.domain())
    constraints = constraints.set_validity(order).set_proximity(flow)
    if fusion is Fusion.BANDS:
        constraints = constraints.set_coincidence(order)
    context = isl.DEFAULT_CONTEXT
    serialize, whole = context.get_schedule_serialize_sccs(), context.get_schedule_whole_component()
    try:
        context.set_schedule_serialize_sccs(int(fusion is Fusion.SCC))
        context.set_schedule_whole_component(int(fusion is Fusion.MOST))
        return constraints.compute_schedule()
    finally:
        context.set_schedule_serialize_sccs(serialize)
        context.set_schedule_whole_component(whole)


@dataclass(frozen=True)
class _TreeWalk:
    """A walk of isl's tree that collects the places of the statements, given the `order` to preserve."""

    positions: dict[str, Position]
    order: isl.UnionMap

    def below(
        self,
        node: isl.ScheduleNode,
        places: tuple[tuple[int, int], ...],
        rows: tuple[isl.MultiUnionPwAff, ...],
    ) -> Iterator[_Placed]:
        """The statements below a node, with their rows and places so far."""
        kind, kinds = isl.schedule_node_type(node.get_type()), isl.schedule_node_type
        if kind == kinds.leaf:
            names = sorted(_statements(node), key=lambda name: self.positions[name])
            yield from (_Placed(name, (*places, (len(rows), k)), rows) for k, name in enumerate(names))
            return
        if kind == kinds.band:
            partial = node.band_get_partial_schedule()
            members = [partial.get_union_pw_aff(k) for k in range(node.band_n_member())]
            rows = (*rows, *(isl.MultiUnionPwAff.from_union_pw_aff(one) for one in members))
        if kind != kinds.sequence:
            for k in range(node.n_children()):
                yield from self.below(node.child(k), places, rows)
            return
        for k, child in enumerate(self._as_written(node)):
            yield from self.below(child, (*places, (len(rows), k)), rows)

    def _as_written(self, sequence: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
        """The filters of a sequence, in source order as far as legal.

        isl keeps dependences at equal rows, too, but otherwise orders statements by their names.
        """
        rows = sequence.get_prefix_schedule_union_map()
        pairs: list[tuple[str, str]] = []
        self.order.intersect(rows.apply_range(rows.reverse())).foreach_map(
            lambda one: pairs.append((one.get_tuple_name(IN), one.get_tuple_name(OUT)))
        )
        children = [sequence.child(k).child(0) for k in range(sequence.n_children())]
        waiting = [(set(_statements(one)), one) for one in children]
        waiting.sort(key=lambda one: min(self.positions[name] for name in one[0]))
        while waiting:
            left = set[str]().union(*(names for names, _ in waiting))
            number = next(
                k
                for k, (names, _) in enumerate(waiting)
                if not any(first in left - names and then in names for first, then in pairs)
            )
            yield waiting.pop(number)[1]


def _statements(node: isl.ScheduleNode) -> list[str]:
    """The statements below a node."""
    names: list[str] = []
    node.get_domain().foreach_set(lambda part: names.append(str(part.get_tuple_name())))
    return names


def _apart(plan: Plan, named: dict[str, str]) -> list[Operation]:
    positions = _positions(plan)
    ordered = sorted(positions, key=lambda name: positions[name])
    if len({positions[name][0] for name in ordered}) == len(ordered):
        return []
    return [Distribute(tuple(named[name] for name in ordered))]


def _ordered(plan: Plan, named: dict[str, str], placed: Sequence[_Placed]) -> list[Operation]:
    """Swap adjacent statements until they are in the order of `placed`."""
    positions = _positions(plan)
    wanted = {one.statement: k for k, one in enumerate(placed)}
    now = sorted(positions, key=lambda name: positions[name])
    found: list[Operation] = []
    for last in range(len(now) - 1, 0, -1):
        for k in range(last):
            if wanted[now[k]] > wanted[now[k + 1]]:
                found.append(Reorder(named[now[k]], named[now[k + 1]]))
                now[k], now[k + 1] = now[k + 1], now[k]
    return found


def _shared(first: _Placed, second: _Placed) -> int:
    """The number of rows before the first sequence in which the two have different places."""
    return next(
        (rows for (rows, one), (_, two) in zip(first.places, second.places, strict=False) if one != two),
        len(first.rows),
    )


@dataclass(frozen=True)
class _Rows:
    """The loops of a statement, and the functions of them that become its new loops."""

    loops: tuple[str, ...]
    functions: tuple[isl.Aff, ...]

    @property
    def plain(self) -> tuple[str | None, ...]:
        """The loop that each function equals; None for other functions."""
        formulas = (formula_of(one, self.loops) for one in self.functions)
        return tuple(
            one.text if isinstance(one, fm.Symbol) and one.text in self.loops else None for one in formulas
        )


def _rows(plan: Plan, placed: _Placed) -> _Rows | None:
    """The rows as functions of a statement's loops; None if they are not affine.  Missing rows are added."""
    statement = plan.program.statement(placed.statement)
    ((position, piece),) = pieces(statement.schedule)
    numbers = iteration_numbers(piece, statement.depth).intersect_domain(statement.domain)
    names = plan.leaf(position).loops
    functions: list[isl.Aff] = []
    for row in placed.rows:
        whole = isl.UnionMap.from_multi_union_pw_aff(row).intersect_domain(
            isl.UnionSet.from_set(statement.domain)
        )
        function = one_function(numbers.reverse().apply_range(isl.Map.from_union_map(whole)))
        if function is None:
            return None
        functions.append(function)
    found = _Rows(names, tuple(functions))
    for k, name in enumerate(names):
        if len(functions) < len(names) and name not in found.plain:
            space = numbers.get_space().range() if not functions else functions[0].get_domain_space()
            functions.append(coordinate(space, k))
            found = _Rows(names, tuple(functions))
    return found


def _groups(placed: Sequence[_Placed]) -> list[list[int]]:
    """Adjacent statements that share loops, by number."""
    groups: list[list[int]] = []
    for k, one in enumerate(placed):
        if k and _shared(placed[k - 1], one):
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def _names(group: Sequence[_Rows]) -> tuple[str, ...]:
    """The loop names of a group: those of its deepest statement, where they are loops of it."""
    deepest = max(group, key=lambda one: (len(one.functions), len({*one.plain} - {None})))
    taken = {loop for one in group for loop in one.loops}
    fresh = (new for k in count(1) if (new := f"c{k}") not in taken)
    found: list[str] = []
    for name in deepest.plain:
        found.append(name if name is not None and name not in found else next(fresh))
    return tuple(found)


def _renewed(handle: str, rows: _Rows, names: tuple[str, ...] | None) -> list[Operation]:
    """The operation that makes the functions the loops of a statement, under these names."""
    plain = tuple(name for name in rows.plain if name is not None)
    is_order = len(plain) == len(rows.functions) == len(rows.loops) and set(plain) == set(rows.loops)
    wanted = plain if names is None else names[: len(rows.functions)]
    if is_order and plain == wanted:
        return [] if plain == rows.loops else [Permute(handle, plain)]
    if names is None:
        outputs = tuple(formula_of(one, rows.loops) for one in rows.functions)
        return [Affine(handle, AffineMap(symbols(rows.loops), outputs))]
    clash = any(name in rows.loops and name != same for name, same in zip(wanted, rows.plain, strict=True))
    inputs = tuple(f"{name}_" for name in rows.loops) if clash else rows.loops
    values = [formula_of(one, inputs) for one in rows.functions]
    tests = [
        compared(name, "=", value)
        for name, value in zip(wanted, values, strict=True)
        if value != fm.Symbol(name)
    ]
    return [Affine(handle, AffineMap(symbols(inputs), symbols(wanted), all_of(tests) if tests else None))]


def one_function(values: isl.Map) -> isl.Aff | None:
    """The single affine piece, without divisions, of a single-valued map."""
    if not values.is_single_valued():
        return None
    found = [value.get_aff(0) for value in functions_of(values)]
    if len(found) != 1 or found[0].dim(isl.dim_type.div) > 0:
        return None
    return found[0] if found[0].get_denominator_val().is_one() else None


def formula_of(function: isl.Aff, names: Sequence[str]) -> fm.Formula:
    """The text of c0 + c1 i + c2 j + ...."""
    terms: list[fm.Formula] = []
    spaces = [(IN, k, name) for k, name in enumerate(names)]
    spaces += [(PARAM, k, str(function.get_dim_name(PARAM, k))) for k in range(function.dim(PARAM))]
    for side, k, name in spaces:
        factor = coefficient(function, side, k)
        if factor:
            product: fm.Formula = fm.Symbol(name)
            if abs(factor) != 1:
                product = times(abs(factor), product)
            terms.append(fm.Negative(product) if factor < 0 else product)
    constant = int(function.get_constant_val().to_python())
    if constant or not terms:
        terms.append(fm.Numeral(constant) if constant >= 0 else fm.Negative(fm.Numeral(-constant)))
    return terms[0] if len(terms) == 1 else plus(*terms)
