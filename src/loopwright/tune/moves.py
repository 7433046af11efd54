"""What may make a program faster, as lines to add to its script; legality is somebody else's affair.

The proposals of `suggest`, tiles of several shapes, and register tiles: iterations of outer loops written
out inside the innermost one, which then loads once what they share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopwright.errors import BadInput
from loopwright.model.dependences import Dependence
from loopwright.transform.plan import Component, Plan
from loopwright.transform.suggest import MOST, SIZE, Kind, Nest, handle_of, nests, proposals

REGISTER_TILES = (4, 8, 2)
"""How many iterations of one loop are written out."""

REGISTER_BLOCKS = ((8, 4), (4, 4), (4, 2))
"""How many of two loops, the outer one first."""

SHAPES = ((64, 64), (32, 256), (16, 64), (128, 8))
"""Sizes of tiles besides the usual: of the outer loops, and of the innermost."""


def moves(plan: Plan, dependences: Sequence[Dependence]) -> Iterator[str]:
    """Each once, what is cheap to try and often good first."""
    tried = [one for one in proposals(plan, dependences) if one.kind is not Kind.PARALLEL]
    scripts = [one.script for one in tried if one.kind is Kind.INTERCHANGE]
    scripts += [script for nest in nests(plan) for script in _register_tiles(plan, nest)]
    tilings = [one.script for one in tried if one.kind is Kind.TILING]
    scripts += [one.script for one in tried if one.kind is Kind.FUSION]
    scripts += tilings
    scripts += [_shaped(script, *shape) for shape in SHAPES for script in tilings]
    yield from (script for script in dict.fromkeys(scripts) if _has_meaning(script, plan))


def _has_meaning(script: str, plan: Plan) -> bool:
    try:
        plan.transform(script, "<move>")
    except BadInput:
        return False
    return True


def _register_tiles(plan: Plan, nest: Nest) -> Iterator[str]:
    """Of the loops around the innermost one; also where the statement first gets its loops for itself."""
    deepest = max(plan.leaf(position).depth for position in nest.component.positions)
    outer = nest.loops[: deepest - 1]
    if not outer:
        return
    starts = [(nest.definition, nest.handle)]
    if len(nest.component.positions) == 1:
        starts += _apart(plan, nest)
    for start, handle in starts:
        for factor in REGISTER_TILES:
            yield from (f"{start}unroll_and_jam({handle}, {loop}={factor})" for loop in outer[-2:])
        if len(outer) > 1:
            one, two = outer[-2:]
            for rows, steps in REGISTER_BLOCKS:
                yield f"{start}unroll_and_jam({handle}, {one}={rows}, {two}={steps})"


def _apart(plan: Plan, nest: Nest) -> Iterator[tuple[str, str]]:
    """The statements that share a loop with this one, distributed."""
    (position,) = nest.component.positions
    sharing = [leaf.position for leaf in plan.leaves if leaf.position[:1] == position[:1]]
    if 1 < len(sharing) <= MOST:
        names = [handle_of(plan, Component.of([one])) for one in sharing]
        if None not in names:
            yield f"distribute({', '.join(map(str, names))})\n", nest.handle


def _shaped(script: str, outer: int, inner: int) -> str:
    """The tiling with other sizes, the last of them `inner`."""
    *before, last = script.splitlines()
    count = len(re.findall(rf"\b{SIZE}\b", last))
    sizes = iter([outer] * (count - 1) + [inner])
    return "\n".join([*before, re.sub(rf"\b{SIZE}\b", lambda _: str(next(sizes)), last)])
