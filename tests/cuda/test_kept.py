"""What kernels keep between steps of a march: tests in the bits of a register, and early copies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import LoopwrightError
from loopwright.rewrite.cuda import of_launches
from loopwright.source import Source
from tests.cuda.test_stream import Made
from tests.cuda.test_stream_warps import warps

BORDER = "(60 * kT + 2 * x + c >= n + 2)"
TO = "b_own1[w][x][1][2][p][c]"
ROW = "b_next[9 * iT + r - 3 - (1)]"
FIRST = "LW_EARLY_FIRST(r, 0)\n"
STEP = "LW_EARLY(r, 13)\n"
FLAGS = "LW_FLAGS(17, w, x, (60 * kT - n >= -62)"

WRONG = {
    "bits of another test": ("LW_KEPT_OR(2 * p + c + 15,", "LW_KEPT_OR(2 * p + c + 6,"),
    "bits of the next cell": ("LW_KEPT_OR(2 * p + c + 15,", "LW_KEPT_OR(2 * p + c + 16,"),
    "bits of a test that is not asked for": (BORDER, BORDER.replace("n + 2", "n + 3")),
    "bits of fewer cells": ("LW_BITS(18, w, x, p, 1, 4,", "LW_BITS(18, w, x, p, 1, 3,"),
    "bits of other lanes": ("LW_BITS(18, w, x, p,", "LW_BITS(18, x, w, p,"),
    "bits of cells the other way round": (
        "LW_BITS(18, w, x, p, 1, 4, c, 1, 2,", "LW_BITS(18, w, x, c, 1, 2, p, 1, 4,"
    ),
    "two tests in one bit": ("LW_FLAGS(17,", "LW_FLAGS(18,"),
    "a bit that no register has": ("LW_BITS(18,", "LW_BITS(25,"),
    "a flag that nothing sets": ("LW_FLAGS(17,", "LW_FLAGS(26,"),
    "a flag of another test": (FLAGS, FLAGS.replace("-62", "-61")),
    "a flag where there are bits": ("LW_FLAG(17,", "LW_FLAG(18,"),
    "bits that nothing clears": ("LW_MASK();\n", ""),
    "bits that are cleared again": ("        LW_UNROLL_3\n", "        LW_MASK();\n"),
    "bits of cells at borders that are not those": (
        "LW_KEPT_WHERE(2 * p + c - 2, 8,", "LW_KEPT_WHERE(2 * p + c - 2, 4,"
    ),
    "cells at borders whose bits are of something else": (
        "LW_BITS(9, w, x, p, 1, 4, c, 1, 2, (", "LW_BITS(9, w, x, p, 1, 4, c, 1, 2, 1 | ("
    ),
    "copies that the first step does not find": (FIRST, ""),
    "copies for the second step before the march": (FIRST, FIRST.replace("0", "1")),
    "copies of another row before the march": (ROW, ROW.replace("- 3", "- 2")),
    "copies after the last step": (STEP, STEP.replace("13", "14")),
    "no copies for the last step": (STEP, STEP.replace("13", "12")),
    "copies along another loop": (STEP, STEP.replace("(r,", "(x,")),
    "copies that only some steps make": (STEP, f"if (r >= 3)\n{STEP}"),
    "copies that some blocks make": (STEP, f"if (iT == 0)\n{STEP}"),
    "copies that a step makes twice": (STEP, f"for (LW_INDEX q = 0; q <= 1; q += 1)\n{STEP}"),
    "copies in steps that nothing fetches for": (STEP, ""),
    "too few places": ("LW_LATE_ROOM(float, 8)", "LW_LATE_ROOM(float, 4)"),
    "places of another type": ("LW_LATE_ROOM(float, 8)", "LW_LATE_ROOM(double, 8)"),
    "no places": ("LW_LATE_ROOM(float, 8);\n", ""),
    "more places than a block has room for": ("LW_LATE_ROOM(float, 8)", "LW_LATE_ROOM(float, 800)"),
}
EVERYWHERE = {
    "a kept test of the step": ("(60 * kT - n >= -62)", "(60 * kT - r >= -62)"),
    "one place for two cells": ("LW_LATE(2 * p + c - 3,", "LW_LATE(p + c - 2,"),
    "a place that is not a thread's": ("LW_LATE(2 * p + c - 3,", "LW_LATE(2 * p + c - 2,"),
    "copies of what the kernel writes": ("LW_CONST_ARRAY_3(float, b_next,", "LW_ARRAY_3(float, b_next,"),
    "copies of an array of registers": (f"{TO}, b_next[", f"{TO}, b_own1["),
    "copies that go nowhere": (f"{TO}, b_next", "b_next, b_next"),
    "a statement beside copies": (
        "LW_LATE(2 * p + c - 3,", "b_own1[w][x][1][3][p][c] = 0;\nif (1 == 1) LW_LATE(2 * p + c - 3,"
    ),
}


@pytest.mark.parametrize("what", [*WRONG, *EVERYWHERE])
def test_wrong_texts_are_refused(what: str) -> None:
    one = warps()
    kernels = one.device.kernels
    old, new = WRONG.get(what) or EVERYWHERE[what]
    assert old in kernels.text
    # The first kernel of the march alone, or everywhere.
    text = kernels.text.replace(old, new, 1 if what in WRONG else -1)
    refused(one, text)


def refused(one: Made, text: str) -> None:
    kernels = Source(one.device.kernels.path, text)
    with pytest.raises(LoopwrightError):
        of_launches(replace(one.device, kernels=kernels), [one.plan.original], [one.plan.written])


ARRIVE, WAIT = "LW_ARRIVE(1);\n", "LW_WAIT(r);\n"
STORE = "a_next[9 * iT + r - 3 - (2)]"
BARRIERS = {
    "threads that never arrive": (ARRIVE, ""),
    "threads that do not wait": (WAIT, ""),
    "threads that wait for the next step": (WAIT, WAIT.replace("r", "r + 1")),
    "threads that wait for the first step": (WAIT, WAIT.replace("r", "0")),
    "threads that wait for another number": (WAIT, WAIT.replace("r", "iT")),
    "threads that wait for two steps": (WAIT, WAIT.replace("r", "r, 1")),
    "threads that arrive with more than a test": (ARRIVE, ARRIVE.replace("1", "1, 1")),
    "a barrier of some warps": ("LW_SPLIT();", "LW_SPLIT(1);"),
    "threads that arrive twice": (ARRIVE, 2 * ARRIVE),
    "threads that arrive in some steps": (ARRIVE, ARRIVE.replace("1", "r == 1")),
    "threads that wait before they arrive": (WAIT, f"{WAIT}LW_WARP_BARRIER();\n"),
    "a barrier that nothing makes": ("LW_SPLIT();\n", ""),
    "a barrier that stays": ("LW_SPLIT_END();\n", ""),
    "a barrier that goes before all have left it": (
        "        LW_BARRIER();\n        LW_SPLIT_END();\n", "        LW_SPLIT_END();\n        LW_BARRIER();\n"
    ),
    "steps that are counted from 1 on": ("for (LW_INDEX r = 0; r <= 13;", "for (LW_INDEX r = 1; r <= 13;"),
    "cells that every step writes": (STORE, STORE.replace(" + r", "")),
    "cells of another step of each lane": (STORE, STORE.replace("+ r", "+ r + x")),
    "cells of every other step": (STORE, STORE.replace("+ r", "+ r * 2")),
}


@pytest.mark.parametrize("what", BARRIERS)
def test_wrong_barriers_of_two_parts_are_refused(what: str) -> None:
    one, (old, new) = warps(), BARRIERS[what]
    kernels = one.device.kernels
    assert old in kernels.text
    refused(one, kernels.text.replace(old, new))


def test_arriving_before_rows_are_taken_is_refused() -> None:
    """The next step gives rows to the buffer that others take theirs from."""
    one = warps()
    text = one.device.kernels.text
    phase = text.index("b_ends1[(r + 1) % 2]", text.index("b_ends1[r % 2]"))
    before = text.index("LW_WARP_BARRIER();\n", text.index("b_ends1[r % 2]"))
    assert before < phase < text.index(ARRIVE)
    moved = text.replace(ARRIVE, "", 1)
    refused(one, moved[:before] + ARRIVE + moved[before:])
