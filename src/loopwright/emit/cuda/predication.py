"""Gives kernel loops constant trip counts: bounds that shorten a loop become tests.

    for (i = max(8 * y, 1); i <= min(8 * y + 7, n - 2); i++) S(i);
    -->
    if (8 * y >= 1 && 8 * y + 7 <= n - 2)
      for (i = 8 * y; i <= 8 * y + 7; i++) S(i);
    else
      for (i = 8 * y; i <= 8 * y + 7; i++)
        if (i >= 1 && i <= n - 2) S(i);

A compiler unrolls both, and keeps values shared by iterations of the first in registers.  A loop over threads
has only the second form, so its first iteration has the same place in every tile.  So has a loop that indexes
registers: its trip count is the number of registers, regardless of its bound, since registers must be known
at compile time.  The resulting program is the one that is proved and printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import islpy as isl

from loopwright.emit.cuda.barriers import is_mapped
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import And, Compare, Expr, Int, Max, Min, Relation, Test, Var
from loopwright.loops.nodes import Call, For, If, Node
from loopwright.loops.sums import difference
from loopwright.loops.traverse import subprograms, with_children
from loopwright.model.annotations import BlockLoop, ThreadLoop
from loopwright.model.program import Array, MemorySpace, Program
from loopwright.presburger.dimensions import only
from loopwright.presburger.sets import DIM
from loopwright.transform.vectors import entry, loops_of, pieces

LONGEST = 64
"""The largest trip count of a thread's loop for which this pays off."""


Lengths: TypeAlias = Mapping[tuple[str, int], tuple[int, int]]
"""For statements and loops around them, by their depth: the first and the last register that the loop
indexes."""


def register_lengths(program: Program) -> Lengths:
    """The loops of statements whose iteration number is a subscript of an array in registers."""
    spaces = (MemorySpace.OWN, MemorySpace.PRIVATE)
    own = {array.name: array for array in program.arrays if array.space in spaces}
    found: dict[tuple[str, int], tuple[int, int]] = {}
    for statement in program.statements:
        accesses = [access for access in statement.accesses if access.array in own]
        points = _points(statement.domain) if accesses else ()
        for _, piece in pieces(statement.schedule) if accesses else ():
            numbers = isl.PwMultiAff.from_map(piece.intersect_domain(statement.domain))
            loops = [_Values.of(numbers.get_pw_aff(entry(loop)), points) for loop in range(loops_of(piece))]
            for access in accesses:
                cells = access.relation.intersect_domain(statement.domain)
                subscripts = isl.PwMultiAff.from_map(cells)
                for k in range(own[access.array].rank):
                    subscript = _Values.of(subscripts.get_pw_aff(k), points)
                    for loop, number in enumerate(loops):
                        if number.is_same(subscript):
                            found[statement.name, loop] = _numbered(own[access.array], cells, k)
    return found


def _points(domain: isl.Set) -> tuple[isl.Point, ...]:
    """An instance, and along each loop one that has another number there, if there is one."""
    first = domain.sample_point()
    if first.is_void():
        return ()
    found = [first]
    for k in range(domain.dim(DIM)):
        value = first.get_coordinate_val(DIM, k)
        above = domain.lower_bound_val(DIM, k, value.add(1))
        for other in (above, domain.upper_bound_val(DIM, k, value.sub(1))):
            point = other.sample_point()
            if not point.is_void():
                found.append(point)
                break
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Values:
    """A number of an instance, and its values for a few of them: most numbers differ in one of these."""

    number: isl.PwAff
    samples: tuple[str, ...]

    @staticmethod
    def of(number: isl.PwAff, points: Sequence[isl.Point]) -> _Values:
        return _Values(number, tuple(str(number.eval(point)) for point in points))

    def is_same(self, other: _Values) -> bool:
        """Whether both have one value everywhere."""
        if self.samples != other.samples:
            return False
        return bool(self.number.sub(other.number).non_zero_set().is_empty())


def _numbered(array: Array, cells: isl.Map, k: int) -> tuple[int, int]:
    """The first and the last value of subscript k: its full range, or for lanes the accessed one."""
    last = int(array.extents[k]) - 1
    if array.space is MemorySpace.OWN:
        return 0, last
    values = only(cells.range(), DIM, k)
    values = values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))
    ends = [values.dim_min_val(0), values.dim_max_val(0)]
    if not all(one.is_int() for one in ends):
        return 0, last
    return int(ends[0].to_python()), int(ends[1].to_python())


def predicated(node: Node, lengths: Lengths, *, tested: bool = False) -> Node:
    """The program with constant trip counts of loops, where bounds have a constant distance.

    If all loops are `tested`, none has the first form: divergent lanes would execute both.
    """
    inner = with_children(node, lambda child: predicated(child, lengths, tested=tested))
    if not isinstance(inner, For) or inner.step != 1 or inner.annotation(BlockLoop) is not None:
        return inner
    if inner.annotation(ThreadLoop) is None and any(map(is_mapped, subprograms(inner))):
        return inner
    match inner.test:
        case Compare(Relation.LE | Relation.LT as relation, Var(name), bound) if name == inner.iterator:
            registers = numbered_registers(inner, lengths)
            if tested and _constant_pairs(_arguments(inner.start, Max), _arguments(bound, Min)):
                registers = None  # Constant bounds exclude registers of other lanes.
            whole = inner.annotation(ThreadLoop) is not None or registers is not None
            return _predicated(inner, (relation, bound), registers, only_tested=whole or tested)
        case _:
            return inner


def numbered_registers(loop: For, lengths: Lengths) -> tuple[int, int] | None:
    """The first and the last register that the iterations of the loop index."""
    calls = {part.name for part in subprograms(loop) if isinstance(part, Call)}
    found = {lengths.get((name, -1 if loop.dimension is None else loop.dimension)) for name in calls}
    return found.pop() if len(found) == 1 else None


def _predicated(
    loop: For, until: tuple[Relation, Expr], registers: tuple[int, int] | None, *, only_tested: bool
) -> Node:
    relation, bound = until
    lows, highs = _arguments(loop.start, Max), _arguments(bound, Min)
    if registers is not None:
        least, most = Int(registers[0]), Int(registers[1] + (relation is Relation.LT))
        lows = lows if least in lows else (*lows, least)
        highs = highs if most in highs else (*highs, most)
    pairs = _constant_pairs(lows, highs)
    if not pairs and only_tested and any(isinstance(one, Int) and one.value < LONGEST for one in highs):
        lows = (*lows, Int(0))  # The proof of the program shows that nothing starts below it.
        pairs = _constant_pairs(lows, highs)
    if not pairs or len(lows) + len(highs) == 2:
        return loop
    length, low, high = min(pairs, key=lambda pair: pair[0])
    whole = replace(loop, start=low, test=Compare(relation, Var(loop.iterator), high))
    shorter = [one for one in lows if one is not low], [one for one in highs if one is not high]
    iterator = Var(loop.iterator)
    tested = replace(whole, body=If(_within(iterator, iterator, shorter, relation), loop.body))
    if only_tested:
        return tested
    return loop if length >= LONGEST else If(_within(low, high, shorter, Relation.LE), whole, tested)


def is_lane_axis(loop: For) -> bool:
    mapped = loop.annotation(ThreadLoop)
    return mapped is not None and mapped.axis == "x"


def _arguments(bound: Expr, kind: type[Max] | type[Min]) -> tuple[Expr, ...]:
    """Of a maximum or a minimum, its arguments."""
    return bound.arguments if isinstance(bound, Max | Min) and isinstance(bound, kind) else (bound,)


def _constant_pairs(lows: Sequence[Expr], highs: Sequence[Expr]) -> list[tuple[int, Expr, Expr]]:
    """The bounds of constant distance."""
    return [
        (length, low, high) for low in lows for high in highs if (length := _distance(low, high)) is not None
    ]


def _within(first: Expr, last: Expr, bounds: tuple[list[Expr], list[Expr]], relation: Relation) -> Test:
    """The condition that iterations from `first` to `last` are within other bounds too."""
    lows, highs = bounds
    tests = [Compare(Relation.GE, first, one) for one in lows]
    tests += [Compare(relation, last, one) for one in highs]
    return tests[0] if len(tests) == 1 else And(tuple(tests))


def constant_length(loop: For) -> int | None:
    """The largest number of values of its iterator, if constant."""
    match loop.test:
        case Compare(Relation.LE | Relation.LT as relation, Var(name), bound) if name == loop.iterator:
            distance = _distance(loop.start, bound)
            return None if distance is None else distance + (relation is Relation.LE)
        case _:
            return None


def _distance(low: Expr, high: Expr) -> int | None:
    """high - low, if constant."""
    gap = difference(high, low)
    return None if gap.terms else gap.constant


def unrolled(loop: For, march: str) -> list[str]:
    """Mark a loop of constant trip count for unrolling; `march` is the factor for one around lanes.

    The first and the last part of such a loop are short: only one of their bounds is a number.
    """
    around = any(map(is_mapped, subprograms(loop.body)))
    match loop.start, loop.test:
        case Int(), Compare(Relation.LE, _, Int()) if not is_mapped(loop):
            return [march if around else "LW_UNROLL"]
        case Max(), Compare(Relation.LE, _, Min()) if around and not is_mapped(loop):
            return [march]
        case _:
            return []
