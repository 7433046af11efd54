"""Groups of statements that need not be interleaved, and disjoint pieces of a dimension, each in order.

[Grosser2015, section 5.7], [Quillere2000, section 5.3], [Courant2021, appendix A].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.generate.context import Executed, GenerationContext
from loopwright.model import schedule as trees
from loopwright.presburger.sets import DIM, basic_sets, before, sorted_maps


def components(context: GenerationContext, executed: Executed) -> list[Executed]:
    """The statements in groups, in an order that the schedule from the current level on allows.

    There is an edge from statement a to statement b if some instance of b is scheduled after some
    instance of a with the same values of the outer dimensions; the groups are the strongly
    connected components.
    """
    if len(executed) == 1:
        return [executed]
    order = _StatementOrder(executed, context.level, len(context.names))
    return [
        tuple(executed[k] for k in component)
        for component in sorted_components(
            len(executed), lambda a, b: _scheduled_after(context.site.band.child, order, a, b)
        )
    ]


class _StatementOrder:
    """Compares statements dimension by dimension, with one isl query for each pair of projections.

    Statements that agree in the dimensions up to a position are in the same class there.
    """

    def __init__(self, executed: Executed, level: int, count: int) -> None:
        self.executed = executed
        self.positions = range(level, count)
        self._domains = [relation.domain() for relation in executed]
        self._projections: dict[int, list[isl.Set]] = {}
        self._values: dict[int, list[int | None]] = {}
        self._classes: dict[int, list[int]] = {}
        self._answers: dict[tuple[int, int, int], int] = {}

    def follows(self, position: int, b: int, a: int) -> int:
        """1 if b may be greater than a there, 0 if at most equal, -1 if always smaller or apart."""
        if position not in self._classes:
            self._classify(position)
        classes = self._classes[position]
        key = (position, classes[b], classes[a])
        if key not in self._answers:
            self._answers[key] = self._compared(position, classes[b], classes[a])
        return self._answers[key]

    def _compared(self, position: int, b: int, a: int) -> int:
        """Compare two classes; numbers in a sequence may decide it without isl."""
        value_b, value_a = self._values[position][b], self._values[position][a]
        if value_b is not None and value_a is not None and value_b < value_a:
            return -1
        sets = self._projections[position]
        return sets[b].follows_at(sets[a], position)

    def _classify(self, position: int) -> None:
        representatives: dict[isl.Set, int] = {}
        classes: list[int] = []
        for domain in self._domains:
            inner = domain.dim(DIM) - position - 1
            projection = domain.project_out(DIM, position + 1, inner) if inner else domain
            classes.append(representatives.setdefault(projection, len(representatives)))
        self._classes[position] = classes
        self._projections[position] = list(representatives)
        values = (one.plain_get_val_if_fixed(DIM, position) for one in representatives)
        self._values[position] = [value.to_python() if value.is_int() else None for value in values]


def _scheduled_after(inside: trees.Tree, order: _StatementOrder, a: int, b: int) -> bool:
    """Whether some instance of b comes after some instance of a; `inside` is the subtree below the band."""
    for position in order.positions:
        follows = order.follows(position, b, a)
        if follows != 0:
            return follows > 0
    return follows_in_tree(inside, order.executed[a], order.executed[b])


def follows_in_tree(tree: trees.Tree, a: isl.Map, b: isl.Map) -> bool:
    """Whether `tree` may order an instance of b after one of a at the same schedule point."""
    match tree:
        case trees.Band():
            before, later = extend_by_band(a, tree), extend_by_band(b, tree)
            first = a.dim(isl.dim_type.in_)
            domain_a, domain_b = before.domain(), later.domain()
            for position in range(first, first + len(tree.members)):
                follows = domain_b.follows_at(domain_a, position)
                if follows != 0:
                    return follows > 0
            return follows_in_tree(tree.child, before, later)
        case trees.Sequence(children):
            return _follows_among(children, a, b, ordered=True)
        case trees.AnyOrder(children):
            return _follows_among(children, a, b, ordered=False)
        case trees.Filter():
            both = passing((a,), tree.filter), passing((b,), tree.filter)
            return any(follows_in_tree(tree.child, first, second) for first, second in product(*both))
        case trees.Expansion():
            both = expand(a, tree.expansion), expand(b, tree.expansion)
            return any(follows_in_tree(tree.child, first, second) for first, second in product(*both))
        case trees.Extension():
            # what is added at a point that both share runs once, so that they stay together
            return not a.domain().is_disjoint(b.domain())
        case trees.Context() | trees.Guard() | trees.Mark() | trees.Annotated():
            return follows_in_tree(tree.child, a, b)
        case trees.Leaf():
            return False


def _follows_among(children: tuple[trees.Filter, ...], a: isl.Map, b: isl.Map, *, ordered: bool) -> bool:
    parts_a = _parts(children, a)
    parts_b = _parts(children, b)
    for index_b, part_b in parts_b:
        for index_a, part_a in parts_a:
            if index_a > index_b or (index_a < index_b and not ordered):
                continue
            if part_a.domain().is_disjoint(part_b.domain()):
                continue
            if index_a < index_b or follows_in_tree(children[index_b].child, part_a, part_b):
                return True
    return False


def _parts(children: tuple[trees.Filter, ...], relation: isl.Map) -> list[tuple[int, isl.Map]]:
    """The children that instances of `relation` pass into, with those instances."""
    parts = ((index, passing((relation,), child.filter)) for index, child in enumerate(children))
    return [(index, part) for index, found in parts for part in found]


def extend_by_band(relation: isl.Map, band: trees.Band) -> isl.Map:
    """{ [outer, t] -> s : [outer] -> s in relation, s -> t in the band's schedule }."""
    schedule = _part(band.schedule, relation.get_space().range(), len(band.members))
    return relation.flat_domain_product(schedule.reverse())


def _part(schedule: isl.UnionMap, instances: isl.Space, count: int) -> isl.Map:
    """The map of `schedule` on one statement; empty if it has none."""
    target = instances.align_params(schedule.get_space()).from_domain().add_dims(isl.dim_type.out, count)
    return schedule.extract_map(target)


def passing(relations: Iterable[isl.Map], instances: isl.UnionSet) -> Executed:
    """The relations on the instances that pass a filter, those with any."""
    found: list[isl.Map] = []
    for relation in relations:
        space = relation.get_space().range()
        if instances.contains(space):  # one of many children of a sequence has few statements
            passed = instances.extract_set(space.align_params(instances.get_space()))
            # Most filters take all instances of a statement: the test costs less than pieces of pieces later.
            whole = passed.n_basic_set() > 1 and relation.range().is_subset(passed)
            found.append(relation if whole else relation.intersect_range(passed))
    return tuple(relation for relation in found if not relation.is_empty())


def expand(relation: isl.Map, expansion: isl.UnionMap) -> Executed:
    """The relation with its instances replaced by those `expansion` maps them to."""
    image = isl.UnionMap.from_map(relation).apply_range(expansion)
    return tuple(m for m in sorted_maps(image) if not m.is_empty())


def sorted_components(count: int, precedes: Callable[[int, int], bool]) -> list[list[int]]:
    """The strongly connected components of 0 .. count−1 in topological order.

    Tarjan's algorithm, which computes an edge only if it can matter: an edge is an isl query.  Unrelated
    components keep the order of their numbers.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []

    def visit(node: int) -> Iterator[int]:
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in reversed(range(count)):
            if other == node or (other in index and (other not in on_stack or index[other] >= low[node])):
                continue
            if not precedes(node, other):
                continue
            if other not in index:
                yield other
            low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            place = stack.index(node)
            found.append(sorted(stack[place:]))
            on_stack.difference_update(stack[place:])
            del stack[place:]

    for root in reversed(range(count)):
        visits = [visit(root)] if root not in index else []
        while visits:
            child = next(visits[-1], None)
            if child is None:
                visits.pop()
            else:
                visits.append(visit(child))
    return found[::-1]


def sort_pieces(pieces: list[isl.BasicSet], level: int) -> list[isl.BasicSet]:
    """Disjoint pieces in an order that respects `level` for all values of the outer dimensions.

    Piece a must come before piece b if a point of a precedes one of b.  isl decides that quickly for rational
    points: if this gives a cycle, the integer points are compared.
    """
    if len(pieces) < 2:
        return pieces
    sets = [piece.to_set() for piece in pieces]
    result: list[isl.BasicSet] = []
    for component in sorted_components(
        len(pieces), lambda first, second: sets[second].follows_at(sets[first], level) > 0
    ):
        if len(component) == 1:
            result.append(pieces[component[0]])
            continue
        for part in _without_cycles([sets[k] for k in component], level):
            result.extend(basic_sets(part.make_disjoint().coalesce()))
    return result


def _without_cycles(pieces: list[isl.Set], level: int) -> list[isl.Set]:
    """Pieces in order, split where their order, which depends on the outer dimensions, is a cycle.

    Let B(a, b) be the outer values x for which a point of a precedes one of b.  For one x a piece has
    the integers of an interval, and disjoint intervals are in one order.  If, around a cycle
    a1, a2, .., am, a1, every piece lay in its B(ak, ak+1), then at an x of B(am, a1) there would be
    a1 before a2 before .. before am before a1.  So some piece has points on both sides of its B, and
    all pieces are split by that.  Fewer orders of the pieces occur on either side than on both: this ends.
    For one x all pieces have their points on the same side, so that the sides may run in any order.
    """
    outer = _precedences(pieces, level)
    result: list[isl.Set] = []
    for component in sorted_components(len(pieces), lambda first, second: (first, second) in outer):
        if len(component) == 1:
            result.append(pieces[component[0]])
            continue
        cycle = [pieces[k] for k in component]
        splits = (
            outer[a, b] for a, b in permutations(component, 2)
            if (a, b) in outer and not pieces[a].is_subset(outer[a, b])
        )
        split = next(splits, None)
        if split is None:
            raise InternalError(Code.INTERNAL, f"pieces of schedule dimension {level} are interleaved")
        for side in ([piece.intersect(split) for piece in cycle], [piece.subtract(split) for piece in cycle]):
            result.extend(_without_cycles([piece for piece in side if not piece.is_empty()], level))
    return result


def _precedences(pieces: list[isl.Set], level: int) -> dict[tuple[int, int], isl.Set]:
    """B(a, b) where it is not empty, by the numbers of the pieces."""
    preceding = {
        (a, b): pieces[a].intersect(before(pieces[b], level)) for a, b in permutations(range(len(pieces)), 2)
    }
    return {pair: _outer(points, level) for pair, points in preceding.items() if not points.is_empty()}


def _outer(domain: isl.Set, level: int) -> isl.Set:
    """The outer dimensions of `domain`, `level` and those inside it free."""
    return domain.eliminate(DIM, level, domain.dim(DIM) - level).compute_divs().coalesce()
