"""Loops mapped to a GPU: a grid of blocks of threads, along three axes [Grosser2015, section 7.4].

The innermost of the loops named is along x, where neighbours access neighbouring cells.  Nothing but the
annotations of the loops changes; that their iterations are independent is proved as for `parallel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from loopwright.errors import Code
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.library.loops import SizedLoop
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script.arguments import Misuse

AXES = ("x", "y", "z")

MOST_THREADS = 1024
"""In a block, by the limits of every GPU with compute capability 2.0 or more."""

MOST_ALONG = {"x": 1024, "y": 1024, "z": 64}
"""Threads of a block along each axis."""


def to_blocks(plan: Plan, component: Component, loops: Sequence[int]) -> Plan:
    """block(L, iT, jT): iT is along y, jT along x."""
    _check(plan, component, loops, DirectiveKind.BLOCK, "loops")
    for loop, axis in _along_axes(loops):
        plan = plan.directed(DirectiveKind.BLOCK, component, loop, axis=axis)
    return plan


def to_threads(plan: Plan, component: Component, counts: Sequence[SizedLoop]) -> Plan:
    """thread(L, i=8, j=32): 8 threads along y for i, 32 along x for j."""
    _check(plan, component, [one.loop for one in counts], DirectiveKind.THREAD, "counts")
    sizes = {one.loop: one.size for one in counts}
    total = prod(sizes.values())
    if total > MOST_THREADS:
        message = f"a block of {total} threads, where a GPU has at most {MOST_THREADS}"
        raise Misuse(Code.ARGUMENTS, message, argument="counts", hint="give fewer threads, or smaller tiles")
    for loop, axis in _along_axes(list(sizes)):
        if sizes[loop] > MOST_ALONG[axis]:
            message = f"{sizes[loop]} threads along {axis}, where a GPU has at most {MOST_ALONG[axis]}"
            raise Misuse(Code.ARGUMENTS, message, argument="counts")
        plan = plan.directed(DirectiveKind.THREAD, component, loop, factor=sizes[loop], axis=axis)
    return plan


def _along_axes(loops: Sequence[int]) -> list[tuple[int, str]]:
    """The loops, outermost first, with their axes."""
    inner_first = sorted(loops, reverse=True)
    return list(zip(inner_first, AXES, strict=False))[::-1]


def _check(
    plan: Plan, component: Component, loops: Sequence[int], kind: DirectiveKind, argument: str
) -> None:
    if len(loops) > len(AXES):
        message = f"{len(loops)} loops, where a grid and a block have three dimensions"
        raise Misuse(Code.ARGUMENTS, message, argument=argument, item=len(AXES))
    if len(set(loops)) != len(loops):
        raise Misuse(Code.LOOPS_DO_NOT_FIT, "a loop is named twice", argument=argument)
    for directive in plan.directives:
        if directive.kind not in (DirectiveKind.BLOCK, DirectiveKind.THREAD):
            continue
        if not set(directive.positions) & set(component.positions):
            continue
        if directive.kind is kind:
            message = f"loops of the component are mapped already by another '{kind.value}'"
            hint = f"name all of its loops in one '{kind.value}'"
            raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument="target", hint=hint)
        if directive.loop in loops:
            message = f"the loop is mapped already by '{directive.kind.value}'"
            hint = "tile it, and map the loop over tiles to blocks and the loop inside to threads"
            item = list(loops).index(directive.loop)
            raise Misuse(Code.LOOPS_DO_NOT_FIT, message, argument=argument, item=item, hint=hint)
