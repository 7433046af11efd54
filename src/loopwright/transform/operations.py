"""Every operation a script can name, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from loopwright.errors import Code
from loopwright.transform import operators
from loopwright.transform.arguments import Arguments
from loopwright.transform.library import counting, loops, statements, tiling, unrolling, wishes
from loopwright.transform.plan import Component, Misuse, Plan


@dataclass(frozen=True)
class Result:
    """The plan after an operation, and the components it hands out."""

    plan: Plan
    handles: tuple[Component, ...] = ()


Run: TypeAlias = Callable[[Plan, Arguments], Result]


def _realign(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 3, "realign(L1, L2, n)")
    return Result(operators.realign(plan, args.component(0), args.component(1), args.integer(2, 0)))


def _lift(plan: Plan, args: Arguments) -> Result:
    args.expect(2, 2, "L = lift(L1, n)")
    return Result(plan, (operators.lift(plan, args.component(0), args.integer(1, 0)),))


def _affine(plan: Plan, args: Arguments) -> Result:
    args.expect(2, 2, "affine(L, {[i, j] -> [j, i]})")
    return Result(operators.affine(plan, args.component(0), args.function(1)))


def _isplit(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 3, "(A, B) = isplit(L, {[i, j] : j < n}, 1)")
    after, one, two = operators.isplit(plan, args.component(0), args.predicate(1), args.integer(2, 0))
    return Result(after, (one, two))


def _interchange(plan: Plan, args: Arguments) -> Result:
    args.expect(2, 3, "interchange(L, i, j) or interchange(L, [k, i, j])")
    component = args.component(0)
    if args.is_list(1):
        args.expect(2, 2, "interchange(L, [k, i, j])")
        return Result(loops.permute(plan, component, args.loops(1, component)))
    args.expect(3, 3, "interchange(L, i, j)")
    return Result(loops.interchange(plan, component, args.loop(1, component), args.loop(2, component)))


def _skew(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 4, "skew(L, i, t, 1)")
    component = args.component(0)
    factor = args.integer(3) if len(args) > 3 else 1
    return Result(loops.skew(plan, component, args.loop(1, component), args.loop(2, component), factor))


def _shift(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 3, "shift(L, i, 1)")
    component = args.component(0)
    return Result(loops.shift(plan, component, args.loop(1, component), args.integer(2)))


def _reverse(plan: Plan, args: Arguments) -> Result:
    args.expect(2, 2, "reverse(L, i)")
    component = args.component(0)
    return Result(loops.reverse(plan, component, args.loop(1, component)))


def _strip_mine(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 3, "strip_mine(L, i, 32)")
    component = args.component(0)
    return Result(loops.strip_mine(plan, component, args.loop(1, component), args.integer(2, 1)))


def _from_zero(plan: Plan, args: Arguments) -> Result:
    args.expect(0, 1, "from_zero() or from_zero(L)")
    everything = Component.of(leaf.position for leaf in plan.leaves)
    return Result(counting.from_zero(plan, args.component(0) if len(args) else everything))


def _tile(plan: Plan, args: Arguments) -> Result:
    args.expect(2, None, "tile(L, 32, 32), tile(L, i=32, j=32) or tile(L, 32, 32, 32, skew)")
    component = args.component(0)
    count = len(args)
    skewed = full = False
    while count > 1 and (args.is_word(count - 1, "skew") or args.is_word(count - 1, "full")):
        skewed = skewed or args.is_word(count - 1, "skew")
        full = full or args.is_word(count - 1, "full")
        count -= 1
    tiles = _tiles(plan, args, component, count, skewed)
    return Result(tiling.tile(plan, component, tiles, skewed=skewed, full=full))


def _tiles(
    plan: Plan, args: Arguments, component: Component, count: int, skewed: bool = False
) -> list[tiling.Tiled]:
    """`i=32, j=32`, or sizes for the innermost loops."""
    if count < 2:
        raise Misuse(Code.ARGUMENTS, "a tile size is missing", hint="such as tile(L, 32, 32)")
    named = [k for k in range(1, count) if args.keyword(k) is not None]
    if named and len(named) < count - 1:
        other = next(k for k in range(1, count) if k not in named)
        raise Misuse(Code.ARGUMENTS, "some sizes name their loop, this one does not", argument=other)
    sizes = [args.integer(k, 1) for k in range(1, count)]
    if named:
        loops_named = [args.keyword_loop(k, component, everywhere=not skewed) for k in named]
        return [tiling.Tiled(loop, size) for loop, size in zip(loops_named, sizes, strict=True)]
    return tiling.innermost(plan, component, sizes, skewed)


def _unroll_and_jam(plan: Plan, args: Arguments) -> Result:
    args.expect(2, None, "unroll_and_jam(L, i=4, j=4) or unroll_and_jam(L, i, 4)")
    component = args.component(0)
    if args.keyword(1) is None:
        args.expect(3, 3, "unroll_and_jam(L, i, 4)")
        tiles = [tiling.Tiled(args.loop(1, component), args.integer(2, 1))]
    else:
        tiles = _tiles(plan, args, component, len(args))
    return Result(unrolling.unroll_and_jam(plan, component, tiles))


def _unroll(plan: Plan, args: Arguments) -> Result:
    args.expect(2, 3, "unroll(L, i) or unroll(L, i, 4)")
    component = args.component(0)
    factor = args.integer(2, 1) if len(args) > 2 else None
    return Result(unrolling.unroll(plan, component, args.loop(1, component), factor))


def _components(args: Arguments) -> tuple[list[Component], int | None]:
    """Handles, and behind them perhaps a number."""
    number = args.integer(len(args) - 1, 0) if args.is_integer(len(args) - 1) else None
    count = len(args) - (number is not None)
    return [args.component(k) for k in range(count)], number


def _fuse(plan: Plan, args: Arguments) -> Result:
    args.expect(2, None, "L = fuse(A, B) or L = fuse(A, B, n)")
    components, common = _components(args)
    if len(components) < 2:
        raise Misuse(Code.ARGUMENTS, "one component alone cannot be fused", hint="write it as fuse(A, B)")
    after, found = statements.fuse(plan, components, common)
    return Result(after, (found,))


def _distribute(plan: Plan, args: Arguments) -> Result:
    args.expect(1, None, "distribute(L), distribute(A, B) or distribute(A, B, n)")
    components, common = _components(args)
    after, found = statements.distribute(plan, components, common or 0)
    return Result(after, (found,))


def _reorder(plan: Plan, args: Arguments) -> Result:
    args.expect(2, 2, "reorder(A, B)")
    return Result(statements.reorder(plan, args.component(0), args.component(1)))


def _sink(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 3, "L = sink(A, B, 0)")
    after, found = statements.sink(plan, args.component(0), args.component(1), args.integer(2))
    return Result(after, (found,))


def _wish(name: str, wish: Callable[[Plan, Component, int], Plan]) -> Run:
    def run(plan: Plan, args: Arguments) -> Result:
        args.expect(2, 2, f"{name}(L, i)")
        component = args.component(0)
        return Result(wish(plan, component, args.loop(1, component)))

    return run


def _isolate(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 3, "isolate(L, jT, [i, j])")
    component = args.component(0)
    return Result(wishes.isolate(plan, component, args.loop(1, component), args.loops(2, component)))


OPERATIONS: dict[str, Run] = {
    "affine": _affine,
    "distribute": _distribute,
    "from_zero": _from_zero,
    "fuse": _fuse,
    "interchange": _interchange,
    "isolate": _isolate,
    "isplit": _isplit,
    "lift": _lift,
    "parallel": _wish("parallel", wishes.parallel),
    "realign": _realign,
    "reorder": _reorder,
    "reverse": _reverse,
    "separate": _wish("separate", wishes.separate),
    "shift": _shift,
    "sink": _sink,
    "skew": _skew,
    "strip_mine": _strip_mine,
    "tile": _tile,
    "unroll": _unroll,
    "unroll_and_jam": _unroll_and_jam,
    "vectorize": _wish("vectorize", wishes.vectorize),
}
