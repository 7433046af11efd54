"""`stream` with `warps`: several warps share a tile; right ones run, wrong ones are refused."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import islpy as isl
import pytest

from loopwright.errors import BadInput, GaveUp, LoopwrightError
from loopwright.prove.legality.redundant import prove_redundant
from loopwright.prove.legality.seen import ClaimedFlow
from loopwright.rewrite.cuda import of_launches
from loopwright.rewrite.request import Request
from loopwright.rewrite.scripts import applied
from loopwright.source import Source
from loopwright.transform import Plan, plan_of
from loopwright.transform.library.stream_tiles import StreamTile
from loopwright.transform.script.steps import parse_script
from loopwright.transform.storage import Redundancy
from tests.cuda.support import compile_for_threads, original, run, threads_print
from tests.cuda.test_shipped import compiled_by_nvcc
from tests.cuda.test_stream import SOLID, Made, made, transformed

STAR = " + 0.125f * (b[i - 1][j][k] + b[i][j - 1][k] + b[i][j][k + 1] - b[i + 1][j][k]);"
PROGRAM = (
    SOLID.replace("n < 90; n = 3 * n - 1 + m", "n < 40; n = 3 * n + 5 + m")
    .replace("+ a[i][j][k + 1]);", "+ a[i][j][k + 1] - a[i][j + 1][k] - a[i][j][k - 1]);")
    .replace("+ b[i][j][k - 1]);", f"+ b[i][j][k - 1]){STAR}")
)
SCRIPT = """\
Time = lift(New, 1)
(Tiles, March, Clear) = stream(Time, t=1, i=9, j=4, k=2, warps=2)
block(Tiles, iT, jT, kT)
thread(March, w=2, x=32)
thread(Clear, w=2, x=32)
block(Kept, i, j)
block(Back, i, j)
block(New_rest, i, j)
block(Old_rest, i, j)
"""


def warps() -> Made:
    return made(SCRIPT, PROGRAM)


def test_warps_in_another_order_compute_the_same_bits(tmp_path: Path) -> None:
    """Every lane with its own registers, and rows of other warps in shared memory.

    A barrier of two parts that a thread does not wait at, does not arrive at, or waits at for another step,
    and copies that are not waited for, give other bits, or no end.
    """
    one = warps()
    text, host = one.device.kernels.text, one.outcome.source.text
    expected = original(tmp_path, PROGRAM)
    compile_for_threads(tmp_path, text, host)
    assert [threads_print(tmp_path, order) for order in (0, 1, 2)] == [expected] * 3
    found = [threads_print(tmp_path, 2, mutant) for mutant in (1, 2, 3, 4)]
    assert expected not in found
    assert b"ended at a barrier" in found[1] and b"nan" in found[3]
    compiled_by_nvcc(tmp_path, text)


FEW_READS = re.sub("New: .*", "New: b[i][j][k] = a[i][j][k + 1] + a[i + 1][j][k];", PROGRAM)
FEW_READS = re.sub("Old: .*", "Old: a[i][j][k] = b[i][j + 1][k];", FEW_READS)
FEW_READS = FEW_READS.replace("n < 40; n = 3 * n + 5 + m", "n < 45; n = 2 * n + 8 + m")
"""What each read sees is proved: few of them are proved soon."""
TRIMMED = SCRIPT.replace("k=2, warps=2", "k=1, warps=2, trimmed")


def test_tiles_without_halos_beyond_the_ends(tmp_path: Path) -> None:
    """They are proved, and compute the same bits where there are several of them along both loops.

    Of other sizes all steps are as they were.
    """
    one = made(TRIMMED, FEW_READS)
    assert "jT == 0" in one.device.kernels.text
    assert run(tmp_path, one.outcome) == original(tmp_path, FEW_READS)
    assert not prove_redundant(one.plan.storage[0], one.redundancy).wrong


def test_a_halo_that_inner_tiles_lack_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first tiles and the last ones have the cells at the ends for themselves."""
    right = StreamTile.is_own

    def narrow(tile: StreamTile) -> str:
        assert "(2 <= 4 * w + p - 1 ||" in right(tile)
        return right(tile).replace("(2 <= 4 * w + p - 1 ||", "(1 <= 4 * w + p - 1 ||")

    monkeypatch.setattr(StreamTile, "is_own", narrow)
    plan = _planned(TRIMMED, FEW_READS)
    assert prove_redundant(plan.storage[0], redundancy(plan)).wrong


WARPS = "for (LW_LANE_INDEX w = LW_LANE(y, 0, 1); w <= 1; w += LW_LANES(y, 1))"
LANES = "for (LW_LANE_INDEX x = LW_LANE(x, 0, 1); x <= 31; x += LW_LANES(x, 1))"
OWN = "b_own1[w][x][0][2][p][c] ="
COPY = "LW_TOGETHER(2, c, 1, b_own1[w][x][0][3][p][c], "
WRONG = {
    "no barrier after rows are given": ("          LW_WAIT(r);\n", ""),
    "a barrier of warps after rows are given": ("          LW_WAIT(r);\n", "          LW_WARP_BARRIER();\n"),
    "no barrier after buffers are cleared": ("\n        LW_BARRIER();\n", "\n"),
    "rows that are taken from the buffer they are given to": ("b_ends1[(r + 1) % 2]", "b_ends1[r % 2]"),
    "rows that are given to the buffer they are taken from": ("b_ends1[r % 2]", "b_ends1[(r + 1) % 2]"),
    "buffers that do not take turns": ("b_ends1[(r + 1) % 2]", "b_ends1[(r + 2) % 2]"),
    "a march of every other step": ("r += 1)", "r += 2)"),
    "less room than the buffers need": ("LW_LAUNCH_WITH(4096,", "LW_LAUNCH_WITH(2048,"),
    "no room for buffers": ("LW_LAUNCH_WITH(4096, ", "LW_LAUNCH("),
    "no barrier of warps before lanes compute": ("          LW_WARP_BARRIER();\n", ""),
    "registers of another warp": (OWN, OWN.replace("[w]", "[(w + 1) % 2]")),
    "registers of a warp that is a number": (OWN, OWN.replace("[w]", "[0]")),
    "a shuffle of another warp": ("b_own1[w][(x + 31) % 32]", "b_own1[(w + 1) % 2][(x + 31) % 32]"),
    "a warp too few": (WARPS, WARPS.replace("w <= 1", "w <= 0")),
    "warps of a plain loop": (WARPS, "for (long w = 0; w <= 1; w += 1)"),
    "lanes of a plain loop": (LANES, "for (long x = 0; x <= 31; x += 1)"),
    "lanes along y": (LANES, LANES.replace("(x, ", "(y, ")),
    "lanes outside of warps": (WARPS, LANES),
    "a block of other warps": ("LW_SIZE(32, 2, 1)", "LW_SIZE(32, 4, 1)"),
    "warps along z": ("LW_SIZE(32, 2, 1)", "LW_SIZE(32, 1, 2)"),
    "registers of one warp": ("LW_REGISTERS_6(float, b_own1, 2, 32", "LW_REGISTERS_6(float, b_own1, 1, 32"),
    "neighbours that begin at an odd column": (COPY, COPY.replace("c, 1,", "c, 2,")),
    "neighbours of an odd number": (COPY, COPY.replace("(2,", "(3,")),
    "neighbours along strips": (COPY, COPY.replace("(2, c,", "(2, p,")),
    "neighbours in registers of another lane": (COPY, COPY.replace("[x]", "[(x + 1) % 32]")),
    "neighbours of one array": ("b_own1[w][x][0][3][p][c], a[", "b_own1[w][x][0][3][p][c], b_own1["),
    "neighbours that nothing declares": ("b_own1[w][x][0][3][p][c], a[", "b_own1[w][x][0][3][p][c], A["),
    "a selection of a value": ("if (LW_KEPT_OR(", "if (2 - LW_KEPT_OR("),
    "other buffers": ("LW_SHARED_5(float, b_ends1, 2,", "LW_SHARED_5(float, b_ends1, 1,"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_kernels_are_refused(what: str) -> None:
    one, (old, new) = warps(), WRONG[what]
    kernels = one.device.kernels
    assert old in kernels.text, kernels.text.partition("begins here")[2]
    text = Source(kernels.path, kernels.text.replace(old, new, 1))
    with pytest.raises(LoopwrightError):
        of_launches(replace(one.device, kernels=text), [one.plan.original], [one.plan.written])


@pytest.mark.parametrize("launch", ["LW_LAUNCH_WITH(4096, ", "LW_LAUNCH_WITH( 4096,  "])
def test_lanes_count_in_32_bits_where_all_numbers_are_known_to_fit(launch: str) -> None:
    one = warps()
    text = one.device.kernels.text.partition("begins here. */")
    wide = text[2].replace("LW_BLOCK_INDEX", "long").replace("LW_INDEX", "long")
    assert "LW_LANE_INDEX" in wide and "LW_LAUNCH_WITH(4096, " in wide
    wide = wide.replace("LW_LAUNCH_WITH(4096, ", launch)
    kernels = Source(one.device.kernels.path, "".join([*text[:2], wide]))
    with pytest.raises(LoopwrightError, match=r"the size of .* is not known"):
        of_launches(replace(one.device, kernels=kernels), [one.plan.original], [one.plan.written])


def test_the_right_kernels_are_read() -> None:
    one = warps()
    of_launches(one.device, [one.plan.original], [one.plan.written])


@cache
def planned() -> Plan:
    """What the tiles compute, without kernels."""
    return _planned(SCRIPT)


def _planned(script: str, program: str = PROGRAM) -> Plan:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.c"
        file.write_text(program)
        programs = Request(str(file)).programs()
        lines = "\n".join(script.splitlines()[:2])
        return applied(parse_script(lines, "script.lw"), [plan_of(one) for one in programs]).plans[0]


def redundancy(plan: Plan) -> Redundancy:
    found = plan.storage[0].redundancy
    assert found is not None
    return found


def test_a_halo_that_is_one_too_small_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    right = StreamTile.is_own

    def narrow(tile: StreamTile) -> str:
        assert "2 <= 4 * w" in right(tile)
        return right(tile).replace("2 <= 4 * w", "1 <= 4 * w")

    monkeypatch.setattr(StreamTile, "is_own", narrow)
    plan = _planned(SCRIPT.replace("k=2", "k=1"), FEW_READS)
    wrong = prove_redundant(plan.storage[0], redundancy(plan)).wrong
    assert wrong and "p = 2" in wrong[0].reader


@pytest.mark.parametrize("other", ["h, w, e - 1, x, c", "1 - h, w, e, x, c"])
def test_a_swapped_buffer_is_refuted(other: str) -> None:
    """The rows of the other end of a warp, or of another step: not those that are claimed."""
    plan = planned()
    flow, claims = ClaimedFlow(plan.program), redundancy(plan)
    statement = next(one for one in plan.program.statements if "= b_ends1[" in one.body.place.text)
    (number,) = (k for k, access in enumerate(statement.accesses) if not access.is_write)
    read, claimed = statement.accesses[number], claims.seen[statement.name, number]
    needed = claims.instances[statement.name]
    assert not list(flow.wrong(statement, read, needed, claimed))
    swap = isl.Map(f"{{ b_ends1[h, w, e, x, c] -> b_ends1[{other}] }}")
    swapped = replace(read, relation=read.relation.apply_range(swap))
    assert list(flow.wrong(statement, swapped, needed, claimed))
    any_write = isl.Map.from_domain_and_range(needed, flow.program.statement(claimed[0].writer).domain)
    with pytest.raises(GaveUp, match="two writes are claimed"):
        list(flow.wrong(statement, read, needed, [replace(claimed[0], source=any_write)]))


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("j=4, k=2, warps=2", "j=1, k=2, warps=4", "halo"),
        ("j=4, k=2, warps=2", "j=2, k=2, warps=3", "one warp"),
        ("j=4, k=2, warps=2", "j=4, k=2, warps=1", "2 to 32"),
        ("j=4, k=2, warps=2", "j=4, k=2, trimmed", "leave 'trimmed' out"),
        ("j=4, k=2, warps=2", "j=4, k=2", "give 'warps'"),
    ],
)
def test_sizes_that_do_not_fit(old: str, new: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        transformed(SCRIPT.replace(old, new), PROGRAM)
    assert says in f"{caught.value.message} {caught.value.hint}"
