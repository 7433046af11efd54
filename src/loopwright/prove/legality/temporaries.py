"""Variables that may hold other values in between, because nobody looks.

A temporary `x` of the region, or of the function around it, whose last value is lost, only carries
values from writes to reads.  If under θ' every read of x sees the value of the write it saw under
θ, that is, if the value-based flow on x is the same and no read sees a value from before the
region, then whatever else happens to x in another order changes nothing: the dependences on x are
those of storage, and the one x is enough for the new order too.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.model.dependences import value_based_flow
from loopwright.model.program import Array, Program


def touching(program: Program, array: Array) -> Program:
    """The accesses to one array, and the statements that have some."""
    statements = [
        replace(one, accesses=tuple(access for access in one.accesses if access.array == array.name))
        for one in program.statements
    ]
    return replace(program, statements=tuple(one for one in statements if one.accesses))


def carries_the_same_values(old: Program, new: Program, array: Array) -> bool:
    """Whether `array` is such a temporary of `old`, and `new`, its statements in another order, keeps it one.

    Writes that only may happen leave open which value is seen.
    """
    if not old.is_private(array) or not old.is_dead_after(array):
        return False
    before, after = touching(old, array), touching(new, array)
    if not all(access.must for statement in before.statements for access in statement.writes):
        return False
    flow, live_in = value_based_flow(before)
    new_flow, new_live_in = value_based_flow(after)
    return bool(live_in.is_empty()) and bool(new_live_in.is_empty()) and bool(flow.is_equal(new_flow))
