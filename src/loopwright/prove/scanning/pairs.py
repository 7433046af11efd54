"""Finds the pairs of executions of two calls in the wrong order by isl, if their order is not obvious."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.dimensions import only, split_domain
from loopwright.presburger.equalities import AffineForm, graph_of
from loopwright.prove.scanning.executed import Repeat
from loopwright.prove.scanning.meaning import AnyPosition, BandDimension, SequencePosition
from loopwright.prove.scanning.targets import CallPiece, Entry
from loopwright.prove.scanning.witness import Failure

OUT = isl.dim_type.out


class Slices:
    """Pieces reduced to outer iterators -> [x, one time column], each computed once in a proof."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, int, int], isl.Map] = {}
        self._hulls: dict[int, isl.Map] = {}

    def of(self, piece: CallPiece, column: int, depth: int, kept: int) -> isl.Map:
        key = (id(piece), column, depth, kept)
        if key not in self._known:
            self._known[key] = split_domain(only(piece.times, OUT, column), depth, kept)
        return self._known[key]

    def hull(self, piece: CallPiece) -> isl.Map:
        """A basic map that contains the times of a piece."""
        if id(piece) not in self._hulls:
            times = piece.times
            hull = isl.Map.from_basic_map(times.unshifted_simple_hull()) if times.n_basic_map() > 1 else times
            self._hulls[id(piece)] = hull
        return self._hulls[id(piece)]


@dataclass(frozen=True, eq=False)
class Joint:
    """Pairs of executions: outer iterators -> [x, time, ... of the earlier, x', time, ... of the later].

    `x`, the iterator of the loop, is present only if they meet in a loop.
    """

    pairs: isl.Map
    first: int
    """The index where the time of the earlier begins."""
    second: int

    def narrowed(self, pairs: isl.Map) -> Joint:
        return Joint(pairs, self.first, self.second)


def misordered(
    earlier: CallPiece, later: CallPiece, column: int, depth: int, loop: Repeat | None, slices: Slices
) -> Failure | None:
    """Checks that no execution of `later` has a time before that of one of `earlier`; and in a loop, that one
    has a time after it only if the loop has exactly the marks required of one that scans the column in
    which they differ.  Times are known to be equal before `column`."""
    if _plainly_later(earlier, later, column, depth, loop, slices):
        return None
    # Hulls contain more pairs of executions: if all pairs of the hulls are in order, so are these.
    hulls, times = (slices.hull(earlier), slices.hull(later)), (earlier.times, later.times)
    for mine, theirs in (hulls,) if hulls[0] is times[0] and hulls[1] is times[1] else (hulls, times):
        if not any(True for _ in _wrong(earlier, later, column, _joint(mine, theirs, depth, loop), loop)):
            return None
    shown = _joint(_shown(earlier), _shown(later), depth, loop)
    obligation, wrong = next(_wrong(earlier, later, column, shown, loop))
    arguments = _arguments(wrong, earlier, later)
    keys = tuple((one.run.name, one.run.arguments.dim(OUT)) for one in (earlier, later))
    chosen = earlier.chosen or later.chosen
    return Failure(obligation, arguments, keys, chosen=chosen, loop="" if loop is None else loop.iterator)


def _plainly_later(
    earlier: CallPiece, later: CallPiece, column: int, depth: int, loop: Repeat | None, slices: Slices
) -> bool:
    """Whether `later` has greater values in this column alone, which takes few dimensions to decide."""
    match earlier.entries[column]:
        case (BandDimension(index), _) if _after_is_wrong(earlier, later, column, loop) is None:
            kept = depth if loop is None else depth + 1
            mine, theirs = (slices.of(piece, index, depth, kept) for piece in (earlier, later))
            pairs = mine.flat_range_product(theirs)
            if loop is None:
                return bool(pairs.order_le(OUT, 1, OUT, 0).is_empty())
            return bool(pairs.order_lt(OUT, 0, OUT, 2).order_le(OUT, 3, OUT, 1).is_empty())
        case _:
            return False


def _joint(earlier: isl.Map, later: isl.Map, depth: int, loop: Repeat | None) -> Joint:
    kept = depth if loop is None else depth + 1
    mine, theirs = (split_domain(times, depth, kept) for times in (earlier, later))
    width = mine.dim(OUT)
    pairs = mine.flat_range_product(theirs)
    if loop is not None:
        pairs = pairs.order_lt(OUT, 0, OUT, width)
    return Joint(pairs, kept - depth, width + kept - depth)


def _shown(piece: CallPiece) -> isl.Map:
    """Iterators -> [time, arguments]."""
    return piece.times.flat_range_product(piece.run.arguments.as_map())


def _arguments(wrong: Joint, earlier: CallPiece, later: CallPiece) -> isl.Set:
    """The arguments of both calls."""
    pairs = wrong.pairs.range()
    width = later.times.dim(OUT)
    pairs = pairs.project_out(isl.dim_type.set, wrong.second - wrong.first, wrong.first + width)
    return pairs.project_out(isl.dim_type.set, 0, wrong.first + earlier.times.dim(OUT))


def _wrong(
    earlier: CallPiece, later: CallPiece, column: int, joint: Joint, loop: Repeat | None
) -> Iterator[tuple[str, Joint]]:
    """Yields the pairs in the wrong lexicographic order: by each column in turn where all before agree."""
    before = "parallel" if loop is not None and loop.said else "order"
    for k in range(column, min(len(earlier.entries), len(later.entries))):
        after = _after_is_wrong(earlier, later, k, loop)
        match earlier.entries[k], later.entries[k]:
            case AnyPosition(p), AnyPosition(q):
                if p != q:
                    return
            case SequencePosition(p), SequencePosition(q):
                wrong = before if p > q else after if p < q else None
                if wrong is not None and not joint.pairs.is_empty():
                    yield wrong, joint
                if p != q:
                    return
            case (dimension, _), _:
                mine, theirs = joint.first + dimension.index, joint.second + dimension.index
                smaller = joint.narrowed(joint.pairs.order_lt(OUT, theirs, OUT, mine))
                if not smaller.pairs.is_empty():
                    yield before, smaller
                if after is not None:
                    greater = joint.narrowed(joint.pairs.order_lt(OUT, mine, OUT, theirs))
                    if not greater.pairs.is_empty():
                        yield after, greater
                joint = joint.narrowed(joint.pairs.equate(OUT, mine, OUT, theirs))
                if joint.pairs.is_empty():
                    return


def _after_is_wrong(earlier: CallPiece, later: CallPiece, column: int, loop: Repeat | None) -> str | None:
    """The obligation that fails if the later execution has the greater value in `column`, or None."""
    said = frozenset() if loop is None else loop.said
    wanted = frozenset() if loop is None else earlier.wanted(column) & later.wanted(column)
    return None if said == wanted else "parallel" if said - wanted else "unsaid"


def all_before(earlier: tuple[Entry, isl.Set], later: tuple[Entry, isl.Set], depth: int) -> bool:
    """Whether the first function has smaller values on its domain than the second on its own, for equal
    `depth` outer iterators.  The calls in question execute on parts of these domains."""
    mine, theirs = (_values(form, domain, depth) for form, domain in (earlier, later))
    if mine is None or theirs is None:
        return False
    return bool(mine.flat_range_product(theirs).order_le(OUT, 1, OUT, 0).is_empty())


def _values(entry: Entry, domain: isl.Set, depth: int) -> isl.Map | None:
    """Outer iterators -> the values of an affine function of the iterators in `domain`, or None."""
    match entry:
        case (BandDimension(), AffineForm() as form):
            if len(form.coefficients) > domain.dim(isl.dim_type.set):
                return None
            return split_domain(graph_of(form, domain), depth, depth)
        case _:
            return None


def later_parts(
    parts: list[tuple[int, list[CallPiece]]], column: int, depth: int, slices: Slices
) -> frozenset[int]:
    """The parts of a block, given in order, whose values in `column` exceed all those of earlier parts."""
    later: list[int] = []
    below: isl.Map | None = None
    for place, pieces in parts:
        values = _column_values(pieces, column, depth, slices)
        if values is None:
            return frozenset()
        if below is not None and values.is_disjoint(below):
            later.append(place)
        beneath = values.apply_range(isl.Map.read_from_str(values.get_ctx(), "{ [t] -> [u] : u <= t }"))
        below = beneath if below is None else below.union(beneath)
    return frozenset(later)


def _column_values(pieces: list[CallPiece], column: int, depth: int, slices: Slices) -> isl.Map | None:
    """Outer iterators -> the values of a column that is a band dimension, or None."""
    found: isl.Map | None = None
    for piece in pieces:
        match piece.entries[column]:
            case (BandDimension(index), _):
                values = slices.of(piece, index, depth, depth)
                found = values if found is None else found.union(values)
            case _:
                return None
    return found
