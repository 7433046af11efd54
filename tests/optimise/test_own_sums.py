"""Sums in local arrays: in a function that a compiler makes of a parallel loop, `restrict` is forgotten."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.errors import BadInput, Illegal
from loopwright.model.dependences import memory_based
from loopwright.optimise.candidates import threads
from loopwright.optimise.candidates.judging import Estimated, Judge
from loopwright.optimise.candidates.nests import SearchContext
from loopwright.optimise.candidates.own_sums import with_own_sums
from loopwright.optimise.candidates.threads import among_threads, in_parts, shared_by_threads
from loopwright.optimise.model.machine import CacheLevel
from loopwright.read.c.reader import read_c
from loopwright.transform import plan_of, script_text
from loopwright.transform.script.steps import parse_script
from tests.optimise.test_registers import WIDE
from tests.pipeline.support import result

FLAT, ROWS, ARRAYS = "double *restrict {0}", "double {0}[restrict n][n]", "double {0}[500][500];"
CELLS = {FLAT: "{0}[{1} * n + {2}]", ROWS: "{0}[{1}][{2}]", ARRAYS: "{0}[{1}][{2}]"}

BLOCKS = "(S, Rest) = isplit(S, {[i, k, j] : 4 * [i / 4] + 4 <= n and 2 * [k / 2] + 2 <= n}, 0)"
OWN = """\
tile(S, j=256, k=128)
interchange(S, [jT, kT, i])
strip_mine(S, i, 4)
pack(C, S, iT, written)
"""


def product(form: str, last: str = "n") -> str:
    """C += A * B with arrays of this form; with another last column, of a part of C."""
    cells = {name: CELLS[form].format(*name) for name in ("Cij", "Aik", "Bkj")}
    arrays = [form.format(one) for one in "ABC"]
    outside, parameters = (arrays, []) if form is ARRAYS else ([], arrays)
    return f"""\
{"".join(outside)}
void f({", ".join(["int n", *parameters])})
{{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < {last}; j++)
        S: {cells["Cij"]} += {cells["Aik"]} * {cells["Bkj"]};
#pragma endscop
}}
"""


def judged(tmp_path: Path, text: str, script: str) -> tuple[Judge, Estimated]:
    """The judge of two threads, and a script for one of them."""
    file = tmp_path / "k.c"
    file.write_text(text)
    (program,) = read_c(file)
    machine = replace(WIDE, caches=(CacheLevel(32 << 10, 5.0), CacheLevel(1 << 20, 12.0), *WIDE.caches[2:]))
    sizes = dict.fromkeys(program.params, 500)
    setting = SearchContext(plan_of(program), machine, sizes, tuple(memory_based(program)), threads=2)
    judge = Judge(setting.start, setting, 10**6, clock=lambda: 0, threads=2)
    judge.original()
    one = judge.estimated(parse_script(script), "")
    assert one is not None
    return judge, one


@pytest.mark.parametrize(
    ("form", "tile"),
    [(FLAT, "tile(S, j=256, k=64)\ninterchange(S, [jT, kT, i])\n"), (ROWS, "")],
    ids=["flat", "rows"],
)
def test_threads_keep_sums_of_pointers_in_local_arrays(tmp_path: Path, form: str, tile: str) -> None:
    """A tile of sums is written back once for 128 terms; the tiles for one thread are replaced."""
    jam = "unroll_and_jam(S, i=4, k=2)\n"
    judge, alone = judged(tmp_path, product(form), f"{BLOCKS}\n{tile}{jam}")
    own = with_own_sums(judge.plan, alone.plan, judge.setting)
    assert own is not None and script_text(own) == f"{BLOCKS}\n{OWN}{jam}"
    first = next(shared_by_threads(judge, alone))
    assert first.script[: len(own)] == own
    assert first.total < 0.7 * alone.total
    assert first.total < 0.7 * among_threads(judge, alone).total


def test_nothing_is_made_for_threads_once_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would not be judged: to copy sums reads the region again, which takes long for large files."""
    judge, alone = judged(tmp_path, product(FLAT), f"{BLOCKS}\nunroll_and_jam(S, i=4, k=2)")
    made: list[object] = []

    def none(*plans: object) -> tuple[()]:
        made.append(plans)
        return ()

    monkeypatch.setattr(threads, "with_own_sums", lambda *plans: none(*plans) or None)
    monkeypatch.setattr(threads, "parted", none)
    monkeypatch.setattr(threads, "parallel", none)
    late = replace(judge, deadline=-1.0)
    assert list(shared_by_threads(late, alone)) == [] and made == []
    assert among_threads(late, alone) is alone and in_parts(late, alone) is None and made == []
    in_parts(judge, alone)
    assert list(shared_by_threads(judge, alone)) == [] and len(made) > 2


def test_what_is_no_pointer_is_kept_apart_by_compilers(tmp_path: Path) -> None:
    judge, alone = judged(tmp_path, product(ARRAYS), f"{BLOCKS}\nunroll_and_jam(S, i=4, k=2)")
    assert with_own_sums(judge.plan, alone.plan, judge.setting) is None


def test_parts_of_a_statement_are_unrolled_after_one_of_them_is_copied(tmp_path: Path) -> None:
    """The columns near the diagonal of a triangle are a part with terms written out."""
    script = """\
(S, Near) = isplit(S, {[i, k, j] : 4 * [i / 4] + 4 <= n and j <= 4 * [i / 4]}, 0)
unroll_and_jam(Near, k=4)
unroll_and_jam(S, i=4, k=2)
"""
    judge, alone = judged(tmp_path, product(FLAT, "i + 1"), script)
    own = with_own_sums(judge.plan, alone.plan, judge.setting)
    split, near, blocks = script.splitlines(keepends=True)
    assert own is not None and script_text(own) == f"{split}{OWN}{near}{blocks}"
    assert judge.estimated(own, "") is not None


@pytest.mark.parametrize(
    "script",
    ["unroll_and_jam(S, k=4)", "interchange(S, [k, i, j])\npack(B, S, k)", "interchange(S, [i, j, k])"],
    ids=["no rows", "no blocks", "a sum in the innermost loop"],
)
def test_other_nests_stay_as_they_are(tmp_path: Path, script: str) -> None:
    judge, alone = judged(tmp_path, product(FLAT), script)
    assert with_own_sums(judge.plan, alone.plan, judge.setting) is None


SMALL = """\
(S, Rest) = isplit(S, {[i, k, j] : 4 * [i / 4] + 4 <= n and 2 * [k / 2] + 2 <= n}, 0)
tile(S, j=16, k=16)
interchange(S, [jT, kT, i])
strip_mine(S, i, 4)
pack(C, S, iT, written)
unroll_and_jam(S, i=4, k=2)
parallel(S, iT)
vectorize(S, j)
"""


def test_a_local_array_is_declared_in_the_parallel_loop(tmp_path: Path) -> None:
    """The whole program is proved."""
    new = result(tmp_path, product(FLAT), SMALL, openmp=True).source.text
    shared, _, inside = new.partition("#pragma omp parallel for\n")
    assert "double C_packed[4][16];" in inside and "C_packed" not in shared
    sums = inside.partition("#pragma omp simd\n")[2].partition("}")[0].splitlines()[1:-1]
    assert len(sums) == 8 and all(one.strip().startswith("C_packed[") for one in sums)


@pytest.mark.parametrize(
    "script",
    [
        SMALL.replace("parallel(S, iT)", "parallel(S, kT)"),
        SMALL.replace("S, iT, written", "S, kT, written").replace("parallel(S, iT)", "parallel(S, jT)"),
    ],
    ids=["threads that add to the same sums", "one allocated copy for all of them"],
)
def test_sums_that_threads_share_are_refused(tmp_path: Path, script: str) -> None:
    with pytest.raises((Illegal, BadInput)):
        result(tmp_path, product(FLAT), script, openmp=True)
