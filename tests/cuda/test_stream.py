"""`stream`: tiles in the registers of a warp; right ones run, wrong ones are refused."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from loopwright.c.file import c_file
from loopwright.emit.cuda.styles import resident_warps
from loopwright.emit.cuda.text import DeviceText, device_text
from loopwright.emit.region import Loops
from loopwright.errors import BadInput, LoopwrightError
from loopwright.model.program import Statement
from loopwright.presburger.sets import OUT
from loopwright.progress import silent
from loopwright.prove.legality.seen import ClaimedFlow
from loopwright.prove.text.macros import flat_operators
from loopwright.rewrite import cuda, pipeline
from loopwright.rewrite.cuda import of_launches
from loopwright.rewrite.request import Outcome, Request, TargetName
from loopwright.source import Source
from loopwright.transform import Plan
from loopwright.transform.storage import Redundancy
from tests.cuda.support import compile_for_threads, original, run, threads_print

PROGRAM = """\
#include <stdio.h>
static void steps(int m, int n, float a[n][n], float b[n][n])
{
#pragma scop
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        New: b[i][j] = 0.25f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        Old: a[i][j] = 0.5f * b[i][j] + 0.25f * (b[i + 1][j] + b[i][j - 1]);
  }
#pragma endscop
}

int main(void)
{
  static float a[201][201], b[201][201];
  double sum = 0;
  for (int m = 0; m < 10; m += 3)
    for (int n = 1; n < 202; n = 3 * n - 1 + m) {
      float (*one)[n] = (void *)a, (*two)[n] = (void *)b;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          one[i][j] = i * 7 % 13 + j, two[i][j] = i - j * 5 % 11;
      steps(m, n, one, two);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          sum = sum * 0.999 + one[i][j] - 0.7 * two[i][j];
    }
  printf("%.17g\\n", sum);
  return 0;
}
"""
SCRIPT = """\
Time = lift(New, 1)
(Tiles, March, Clear) = stream(Time, t=2, i=9, j=2, prefetch)
block(Tiles, iT, jT)
thread(March, x=32)
thread(Clear, x=32)
block(Kept, i)
block(Back, i)
block(New_rest, i)
block(Old_rest, i)
"""


SOLID = """\
#include <stdio.h>
static void steps(int m, int n, float a[n][n][n], float b[n][n][n])
{
#pragma scop
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          New: b[i][j][k] = 0.25f * (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j][k + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          Old: a[i][j][k] = 0.5f * b[i][j][k] + 0.25f * (b[i][j + 1][k] + b[i][j][k - 1]);
  }
#pragma endscop
}

int main(void)
{
  static float a[90][90][90], b[90][90][90];
  double sum = 0;
  for (int m = 0; m < 6; m += 5)
    for (int n = 1; n < 90; n = 3 * n - 1 + m) {
      float (*one)[n][n] = (void *)a, (*two)[n][n] = (void *)b;
      for (int k = 0; k < n * n * n; k++)
        one[0][0][k] = k * 7 % 13 + k % n, two[0][0][k] = k * 5 % 11;
      steps(m, n, one, two);
      for (int k = 0; k < n * n * n; k++)
        sum = sum * 0.999 + one[0][0][k] - 0.7 * two[0][0][k];
    }
  printf("%.17g\\n", sum);
  return 0;
}
"""


@dataclass(frozen=True)
class Made:
    outcome: Outcome
    plan: Plan
    device: DeviceText

    @property
    def redundancy(self) -> Redundancy:
        found = self.plan.storage[0].redundancy
        assert found is not None
        return found

    def statement(self, text: str) -> Statement:
        """The first statement with this text in it."""
        return next(one for one in self.plan.program.statements if text in one.body.place.text)


@cache
def made(script: str = SCRIPT, program: str = PROGRAM) -> Made:
    """The kernels, whose proof takes longer than a test should; that of a small tile is in one."""
    seen: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        make = pipeline._made

        def text(regions: list[Loops], **kinds: bool) -> DeviceText:
            seen["device"] = device_text(regions, **kinds)
            device: DeviceText = seen["device"]
            return device

        def planned(plan: Plan, *rest: Any) -> Any:
            seen["plan"] = plan
            return make(plan, *rest)

        patch.setattr(cuda, "device_text", text)
        patch.setattr(pipeline, "_made", planned)
        outcome = transformed(script, program)
    return Made(outcome, seen["plan"], seen["device"])


def transformed(script: str, program: str = PROGRAM, *, prove: bool = False) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.c"
        file.write_text(program)
        return pipeline.transformed(Request(str(file), script, target=TargetName.CUDA, prove=prove), silent)


def test_a_small_tile_is_proved() -> None:
    """All of the proof, the text of the kernels read back included."""
    outcome = transformed(SCRIPT.replace("t=2, i=9, j=2, prefetch", "t=1, i=4, j=1, fetch=1"), prove=True)
    assert outcome.kernels is not None and "LW_AHEAD_2(float, a, n, n, 1);" in outcome.kernels.text
    assert sum(one.obligations for one in outcome.regions[0].proofs) > 1000


def test_lanes_compute_the_same_bits(tmp_path: Path) -> None:
    one = made()
    assert run(tmp_path, one.outcome) == original(tmp_path, PROGRAM)


def test_lanes_in_any_order_compute_the_same_bits(tmp_path: Path) -> None:
    """Every lane with its own registers, and the shuffles between them."""
    few = ("n < 202; n = 3 * n - 1 + m", "n < 30; n = 3 * n + 7 + m")
    host = made().outcome.source.text.replace(*few)
    expected = original(tmp_path, PROGRAM.replace(*few))
    compile_for_threads(tmp_path, made().device.kernels.text, host)
    assert [threads_print(tmp_path, order) for order in (0, 1, 2)] == [expected] * 3


def test_steps_of_a_march_at_no_border_have_no_tests() -> None:
    """But for whether the row is to be stored; neighbours are copied at once."""
    for text in _marches():
        march = text.partition("LW_UNROLL_3")[2].partition("for (LW_INDEX r")[2]
        inner = march.partition("for (LW_INDEX r")[0]
        assert inner.count("if (") == 1 and inner.count(AT_ONCE) == 1, inner


def _marches() -> list[str]:
    text = made().device.kernels.text.partition("begins here")[2]
    return [one for one in text.split("LW_KERNEL(")[1:] if "LW_REGISTERS_4" in one]


def test_only_the_last_pass_stores_both_arrays() -> None:
    """The launcher asks whether it is the last one, and the kernels do not."""
    marches = _marches()
    assert ["LW_ARRAY_2(float, b, n);" in one for one in marches] == [True, False, True, False]
    assert not any("== m)" in one.partition("LW_LAUNCHER")[0] for one in marches)
    launcher = made().device.kernels.text.partition("LW_LAUNCHER int")[2]
    assert "if (4 * tT + 2 == m)" in launcher and "if (4 * tT + 4 == m)" in launcher, launcher


def test_only_cells_that_tiles_at_borders_load_are_kept() -> None:
    text = made().device.kernels.text.partition("begins here")[2]
    keep = text.partition("LW_KERNEL")[2].partition("LW_KERNEL")[0]
    assert "b_next[i][j] = b[i][j];" in keep and keep.count("if (j <= ") == 1, keep


@pytest.mark.parametrize(
    "kind, extents, warps",
    [
        ("float", (32, 7, 4, 6), 16),
        ("float", (32, 9, 4, 6), 12),
        ("float", (32, 11, 4, 6), 12),
        ("double", (32, 9, 4, 4), 12),
        ("double", (32, 11, 4, 6), 8),
        ("float", (32, 3, 4, 12, 3), 12),
    ],
)
def test_warps_share_registers(kind: str, extents: tuple[int, ...], warps: int) -> None:
    """Each of its four parts has as many; one warp more than so many fours takes registers from all."""
    one = next(array for array in made().plan.program.arrays if array.name == "b_own1")
    array = replace(one, element_type=kind, extents=tuple(map(str, extents)))
    assert resident_warps(array) == warps
    assert "LW_KERNEL(32, " in made().device.kernels.text


AT_ONCE = "LW_TOGETHER(2, c, 1, b_own"
LANE = "for (LW_LANE_INDEX x = LW_LANE(x, 0, 1); x <= 31; x += LW_LANES(x, 1))"
WRONG = {
    "no barrier after the copies from other lanes": (
        "          }\n          LW_WARP_BARRIER();\n", "          }\n"
    ),
    "a barrier of a warp in a larger block": (
        "LW_SIZE(32, 1, 1), (b_next_, b_, a_", "LW_SIZE(64, 1, 1), (b_next_, b_, a_"
    ),
    "lanes that start with another number": ("LW_LANE(x, 0, 1); x <= 31", "LW_LANE(x, 1, 1); x <= 31"),
    "a lane too few": ("LW_LANE(x, 0, 1); x <= 31", "LW_LANE(x, 0, 1); x <= 30"),
    "a loop of lanes that counts otherwise": (LANE, LANE.replace("LW_LANES(x, 1)", "LW_LANES(x, 2)")),
    "lanes of a plain loop": (LANE, "for (long x = 0; x <= 31; x += 1)"),
    "threads that are no lanes": (
        LANE, LANE.replace("LW_LANE(", "LW_THREAD(").replace("LW_LANES", "LW_THREADS")
    ),
    "a register of another lane that is written": (
        "b_own1[x][v][q][c] = 0", "b_own1[(x + 1) % 32][v][q][c] = 0"
    ),
    "a register of another lane without a shuffle": (
        "= b_own1[x][2 * v][1][c];", "= b_own1[x - 1][2 * v][1][c];"
    ),
    "a shuffle inside of an operation": ("= b_own1[(x + 1) % 32]", "= 1.0f * b_own1[(x + 1) % 32]"),
    "a shuffle that some lanes skip": (
        "b_own1[x][2 * v][1][0] = b_own1[(x + 31)", "if (x >= 1) b_own1[x][2 * v][1][0] = b_own1[(x + 31)"
    ),
    "a shuffle in a loop that differs from lane to lane": (
        "for (LW_INDEX v = 0; v <= 1; v += 1) {\n", "for (LW_INDEX v = 0; v <= x; v += 1) {\n"
    ),
    "a lane that changes its number": ("b_own1[x][v][q][c] = 0;", "{ x = 3; b_own1[x][v][q][c] = 0; }"),
    "a name for something else": ("b_own1[x][v][q][c] = 0;", "{ long x = 3; b_own1[x][v][q][c] = 0; }"),
    "registers of another size": ("b_own1, 32, 5, 4, 4)", "b_own1, 32, 5, 4, 5)"),
    "registers of another type": ("LW_REGISTERS_4(float, b_own1", "LW_REGISTERS_4(double, b_own1"),
    "registers that are declared twice": (
        "LW_REGISTERS_4(float, b_own1, 32, 5, 4, 4);", "LW_REGISTERS_4(float, b_own1, 32, 5, 4, 4);" * 2
    ),
    "registers outside of the lanes": ("LW_UNROLL_3\n", "b_own1[0][0][0][0] = 0;\n"),
    "rows beyond the array": ("LW_AHEAD_2(float, a, n, n, 2)", "LW_AHEAD_2(float, a, n + 1, n, 2)"),
    "rows of another length": ("LW_AHEAD_2(float, a, n, n, 2)", "LW_AHEAD_2(float, a, n, n - 1, 2)"),
    "rows before those that are loaded": ("LW_AHEAD_2(float, a, n, n, 2)", "LW_AHEAD_2(float, a, n, n, -2)"),
    "rows of no known distance": ("LW_AHEAD_2(float, a, n, n, 2)", "LW_AHEAD_2(float, a, n, n, n)"),
    "rows fetched of what is written": ("LW_ARRAY_2(float, a_next, n)", "LW_AHEAD_2(float, a_next, n, n, 2)"),
    "rows of another array": ("LW_AHEAD_2(float, a, n, n, 2)", "LW_AHEAD_2(float, b, n, n, 2)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_kernels_are_refused(what: str) -> None:
    one, (old, new) = made(), WRONG[what]
    kernels = one.device.kernels
    assert old in kernels.text, kernels.text.partition("begins here")[2]
    text = Source(kernels.path, kernels.text.replace(old, new, 1))
    with pytest.raises(LoopwrightError):
        of_launches(replace(one.device, kernels=text), [one.plan.original], [one.plan.written])


def test_the_right_kernels_are_read() -> None:
    one = made()
    assert "LW_AHEAD_2(float, a, n, n, 2);" in one.device.kernels.text
    text, _ = of_launches(one.device, [one.plan.original], [one.plan.written])
    assert "(x >= 2) & (x <= 29)" in one.device.kernels.text
    assert "(x >= 2) && (x <= 29)" in text.text and " & " not in text.text and " | " not in text.text


@pytest.mark.parametrize(
    "test, flat",
    [
        ("(x >= 2) & (x <= 29)", "&"),
        ("((i == 0) & (x < 3)) | (c != n - 1)", "|&"),
        ("(x - 2) & (x <= 29)", ""),
        ("(x >= 2) ^ (x <= 29)", ""),
        ("x & 1", ""),
        ("(x & 1) | (c < n)", ""),
        ("-(x < 2) & (c < n)", ""),
    ],
)
def test_bits_of_tests_are_tests(test: str, flat: str) -> None:
    """`|` and `&` mean `||` and `&&` where both sides are 0 or 1, and nowhere else."""
    file = c_file(Source("test.c", f"#pragma scop\nif ({test}) ;\n#pragma endscop\n"))
    assert "".join(one.text for one in flat_operators(file.tree)) == flat


@pytest.mark.parametrize(
    "text, place, moved",
    [
        ("b_own1[x][2 * v + 1][2][c] = 0.25f", 1, 2),
        ("b_own1[x][2 * v][1][c] = ", 0, 2),
        ("b_own1[x][2 * v][1][0] = ", 0, 2),
        ("b_own1[x][2 * v][0][c] = ", 0, 1),
    ],
)
def test_a_row_that_is_off_by_one_is_refuted(text: str, place: int, moved: int) -> None:
    """A read of another row of the level, or of another level: not the write that is claimed."""
    one = made()
    statement = one.statement(text)
    number = [k for k, access in enumerate(statement.accesses) if not access.is_write][place]
    read, claimed = statement.accesses[number], one.redundancy.seen[statement.name, number]
    needed = (
        one.redundancy.instances[statement.name]
        if statement.name in one.redundancy.instances
        else one.redundancy.held[statement.name].cell.domain()
    )
    flow = ClaimedFlow(one.plan.program)
    assert not list(flow.wrong(statement, read, needed, claimed))
    other = replace(read, relation=_moved(read.relation, moved))
    wrong = list(flow.wrong(statement, other, needed, claimed))
    assert wrong and wrong[0].parameters and f"{statement.name}(" in wrong[0].reader


def _moved(relation: isl.Map, dimension: int) -> isl.Map:
    """The relation with a subscript less by one."""
    space = relation.get_space().range().map_from_set()
    local = isl.LocalSpace.from_space(space.domain())
    values = [isl.Aff.var_on_domain(local, isl.dim_type.set, k) for k in range(relation.dim(OUT))]
    values[dimension] = values[dimension].add_constant_val(isl.Val(-1))
    multi = isl.MultiAff.identity(space)
    for k, value in enumerate(values):
        multi = multi.set_aff(k, value)
    return relation.apply_range(isl.Map.from_multi_aff(multi))


@pytest.mark.parametrize("old, new, says", [("t=2, i=9, j=2", "t=16, i=9, j=2", "halo")])
def test_sizes_that_do_not_fit(old: str, new: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        transformed(SCRIPT.replace(old, new))
    assert says in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("a[i - 1][j] +", "a[i - 2][j] +", "no lane has"),
        ("+ a[i][j + 1]);", "+ a[i - 1][j + 1]);", "no lane has"),
        ("0.25f * (b[i + 1][j]", "0.25f * (a[i + 1][j]", "no lane has"),
    ],
)
def test_steps_that_are_no_star(old: str, new: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        transformed(SCRIPT, PROGRAM.replace(old, new))
    assert says in caught.value.message
