"""Every operation a script can name, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from loopwright.errors import Code
from loopwright.transform import operators
from loopwright.transform.arguments import Arguments, loop_called
from loopwright.transform.library import counting, distribution, loops, statements, tiling, unrolling, wishes
from loopwright.transform.plan import Component, Misuse, Plan
from loopwright.transform.sizes import Sized, sized


@dataclass(frozen=True)
class Result:
    """The plan after an operation, and the components it hands out."""

    plan: Plan
    handles: tuple[Component, ...] = ()


Run: TypeAlias = Callable[[Plan, Arguments], Result]


def everything(plan: Plan) -> Component:
    """What an operation without a handle is about."""
    return Component.of(leaf.position for leaf in plan.leaves)


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
    """Two loops, or the new order of several, as a list or one after the other."""
    usage = "interchange(L, i, j) or interchange(L, [k, i, j])"
    args.expect(2, None, usage)
    component = args.component(0)
    if args.is_list(1):
        args.expect(2, 2, "interchange(L, [k, i, j])")
        return Result(loops.permute(plan, component, args.loops(1, component)))
    args.expect(3, None, usage)
    named = [args.loop(k, component) for k in range(1, len(args))]
    if len(named) == 2:
        return Result(loops.interchange(plan, component, *named))
    return Result(loops.permute(plan, component, named))


def _skew(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 4, "skew(L, i, t) or skew(L, i, t, 2)")
    component = args.component(0)
    factor = args.integer(3) if len(args) > 3 else 1
    return Result(loops.skew(plan, component, args.loop(1, component), args.loop(2, component), factor))


def _shift(plan: Plan, args: Arguments) -> Result:
    example = "shift(L, i, 1) or shift(L, i=1, j=2)"
    args.expect(2, None, example)
    component = args.component(0)
    for one in _named(args, component, sized(args, 1, len(args), None, example), example):
        plan = loops.shift(plan, component, one.loop, one.size)
    return Result(plan)


def _reverse(plan: Plan, args: Arguments) -> Result:
    args.expect(2, None, "reverse(L, i)")
    component = args.component(0)
    for k in range(1, len(args)):
        plan = loops.reverse(plan, component, args.loop(k, component))
    return Result(plan)


def _strip_mine(plan: Plan, args: Arguments) -> Result:
    example = "strip_mine(L, i, 32)"
    args.expect(2, 3, example)
    component = args.component(0)
    one = _single(args, component, example)
    return Result(loops.strip_mine(plan, component, one.loop, one.size))


def _single(args: Arguments, component: Component, example: str) -> tiling.Tiled:
    """The only loop with its number."""
    found = _named(args, component, sized(args, 1, len(args), 1, example), example)
    if len(found) > 1:
        raise Misuse(Code.ARGUMENTS, "one loop at a time", argument=1, hint=f"write it as {example}")
    return found[0]


def _named(
    args: Arguments, component: Component, sizes: list[Sized], example: str, *, everywhere: bool = True
) -> list[tiling.Tiled]:
    """Every number with the loop it is for."""
    found: list[tiling.Tiled] = []
    for one in sizes:
        if one.loop is None:
            message = "it is not said which loop this is for"
            raise Misuse(Code.ARGUMENTS, message, argument=one.argument, hint=f"write it as {example}")
        loop = loop_called(args.plan, component, one.loop, one.argument, everywhere=everywhere)
        found.append(tiling.Tiled(loop, one.size))
    return found


def _from_zero(plan: Plan, args: Arguments) -> Result:
    args.expect(0, 1, "from_zero() or from_zero(L)")
    return Result(counting.from_zero(plan, args.component(0) if len(args) else everything(plan)))


def _tile(plan: Plan, args: Arguments) -> Result:
    args.expect(2, None, "tile(L, 32, 32), tile(L, i=32, j=32) or tile(L, 32, 32, 32, skew)")
    component = args.component(0)
    count = len(args)
    skewed = full = False
    while count > 1 and (args.is_word(count - 1, "skew") or args.is_word(count - 1, "full")):
        skewed = skewed or args.is_word(count - 1, "skew")
        full = full or args.is_word(count - 1, "full")
        count -= 1
    if count < 2:
        raise Misuse(Code.ARGUMENTS, "a tile size is missing", hint="such as tile(L, 32, 32)")
    tiles = _tiles(plan, args, component, count, skewed)
    return Result(tiling.tile(plan, component, tiles, skewed=skewed, full=full))


def _tiles(
    plan: Plan, args: Arguments, component: Component, count: int, skewed: bool = False
) -> list[tiling.Tiled]:
    """`i=32, j=32` and the like, or sizes for the innermost loops."""
    example = "tile(L, i=32, j=32) or tile(L, 32, 32)"
    sizes = sized(args, 1, count, 1, example)
    if all(one.loop is None for one in sizes):
        return tiling.innermost(plan, component, [one.size for one in sizes], skewed)
    return _named(args, component, sizes, example, everywhere=not skewed)


def _unroll_and_jam(plan: Plan, args: Arguments) -> Result:
    example = "unroll_and_jam(L, i=4, j=4) or unroll_and_jam(L, i, 4)"
    args.expect(2, None, example)
    component = args.component(0)
    tiles = _named(args, component, sized(args, 1, len(args), 1, example), example)
    return Result(unrolling.unroll_and_jam(plan, component, tiles))


def _unroll(plan: Plan, args: Arguments) -> Result:
    example = "unroll(L, i) or unroll(L, i, 4)"
    args.expect(2, 3, example)
    component = args.component(0)
    if len(args) == 2 and args.keyword(1) is None:
        return Result(unrolling.unroll(plan, component, args.loop(1, component), None))
    one = _single(args, component, example)
    return Result(unrolling.unroll(plan, component, one.loop, one.size))


def _components(args: Arguments) -> tuple[list[Component], int | None]:
    """Handles in the order of the program, and behind them perhaps a number."""
    number = args.integer(len(args) - 1, 0) if args.is_integer(len(args) - 1) else None
    count = len(args) - (number is not None)
    named = [component for k in range(count) for component in args.components(k)]
    return sorted(named, key=lambda component: component.first), number


def _fuse(plan: Plan, args: Arguments) -> Result:
    args.expect(1, None, "L = fuse(A, B) or L = fuse(A, B, n)")
    components, common = _components(args)
    if len(components) < 2:
        raise Misuse(Code.ARGUMENTS, "one component alone cannot be fused", hint="write it as fuse(A, B)")
    after, found = statements.fuse(plan, components, common)
    return Result(after, (found,))


def _distribute(plan: Plan, args: Arguments) -> Result:
    usage = "distribute(), distribute(L, legal), distribute(L), distribute(A, B) or distribute(A, B, n)"
    args.expect(0, None, usage)
    if len(args) == 0 or (len(args) == 2 and args.is_word(1, "legal") and "legal" not in plan.components):
        component = args.component(0) if len(args) else everything(plan)
        after, found = distribution.distribute_legally(plan, component)
        return Result(after, (found,))
    components, common = _components(args)
    after, found = statements.distribute(plan, components, common or 0)
    return Result(after, (found,))


def _reorder(plan: Plan, args: Arguments) -> Result:
    args.expect(2, 2, "reorder(A, B)")
    one, two = args.component(0), args.component(1)
    if two.last < one.first:
        one, two = two, one
    return Result(statements.reorder(plan, one, two))


def _sink(plan: Plan, args: Arguments) -> Result:
    args.expect(3, 3, "L = sink(A, B, 0)")
    after, found = statements.sink(plan, args.component(0), args.component(1), args.integer(2))
    return Result(after, (found,))


def _wish(name: str, wish: Callable[[Plan, Component, int], Plan]) -> Run:
    def run(plan: Plan, args: Arguments) -> Result:
        args.expect(2, None, f"{name}(L, i)")
        component, after = args.component(0), plan
        for k in range(1, len(args)):
            after = wish(after, component, args.loop(k, component))
        return Result(after)

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

SYNONYMS = {
    "fission": "distribute",
    "jam": "unroll_and_jam",
    "merge": "fuse",
    "normalize": "from_zero",
    "omp": "parallel",
    "parallelise": "parallel",
    "parallelize": "parallel",
    "permute": "interchange",
    "register_tile": "unroll_and_jam",
    "scale": "affine",
    "simd": "vectorize",
    "split": "isplit",
    "stripmine": "strip_mine",
    "swap": "interchange",
    "vectorise": "vectorize",
    "wavefront": "skew",
}
"""Other names for the operations, to be suggested."""
