"""`loopwright optimise`, by the model and on programs that run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.c.selection.choice import choice
from loopwright.errors import BadInput, GaveUp
from loopwright.model.dependences import memory_based
from loopwright.optimise.candidates.blocks import whole_blocks
from loopwright.optimise.candidates.judging import Judge
from loopwright.optimise.candidates.nests import Script, SearchContext, is_shared, targets
from loopwright.optimise.candidates.orders import ORDERING, exchanged
from loopwright.optimise.candidates.planner import Planner
from loopwright.optimise.candidates.storage import renamings
from loopwright.optimise.candidates.tiles import BLOCKING, blocked, registers
from loopwright.optimise.model.machine import USUAL
from loopwright.optimise.timing.driver import cells, driver_for
from loopwright.optimise.timing.runner import TrialRunner, original_program, with_clock
from loopwright.optimise.timing.trials import Trial, in_turn, ranked
from loopwright.optimise.timing.workshop import Workshop
from loopwright.prove.legality.plans import is_kept, prove_order, prove_plan
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.rewrite.request import Request
from loopwright.run.compiler import Compiler, find_compiler
from loopwright.transform import plan_of, script_text
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Interchange, Tile, UnrollAndJam
from loopwright.transform.script.steps import Step, parse_script
from tests.conftest import ROOT, share
from tests.kernel_programs import kernel_program

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

COLUMNS = """\
#include <stdio.h>
#ifndef N
#define N 2000
#endif
double A[N][N], x[N], y[N];
int main(void)
{
  for (int i = 0; i < N * N; i++)
    A[i / N][i % N] = i;
  for (int r = 0; r < 6; r++) {
#pragma scop
    for (int i = 0; i < N; i++) {
      x[i] = 0;
      for (int j = 0; j < N; j++)
        x[i] += A[j][i] * y[j];
    }
#pragma endscop
  }
  printf("%f\\n", x[N / 2]);
  return x[0] > 0;
}
"""


def optimise(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "loopwright", "optimise", str(file), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["gemm", "jacobi-2d", "gemver"])
def test_every_move_is_a_script_that_is_read_back(name: str) -> None:
    program = kernel_program(name)
    plan = plan_of(program)
    setting = SearchContext(plan, USUAL, {}, tuple(memory_based(program)))
    phases = (*ORDERING, *BLOCKING)
    found = [script for nest in targets(plan) for phase in phases for script in phase(plan, nest, setting)]
    assert len(found) == len(set(found)) > 2
    for script in found:
        assert parse_script(script_text(script)) == script


def test_whole_blocks_of_a_triangle() -> None:
    program = kernel_program("syrk")
    plan = plan_of(program).transform("distribute(Scale, Mult)")
    condition = whole_blocks(plan, plan.component("Mult"), {"i": 8, "k": 4})
    assert (
        str(condition) == "{[i, k, j] : 8 * [i / 8] + 8 <= N and 4 * [k / 4] + 4 <= M and j <= 8 * [i / 8]}"
    )
    assert whole_blocks(plan, plan.component("Mult"), {}) is None
    (nest,) = (one for one in targets(plan) if one.handle == "Mult")
    script = next(blocked(plan, nest, SearchContext(plan, USUAL, {}, ())))
    assert script_text(script).split("\n")[2:4] == [
        "(MultNear, MultRest) = isplit(MultRest, {[i, k, j] : 4 * [k / 4] + 4 <= M}, 0)",
        "unroll_and_jam(MultNear, k=4)",
    ]


def test_the_model_finds_the_product_by_register_tiles() -> None:
    program = kernel_program("gemm")
    plan = plan_of(program)
    sizes = {"NI": 1000, "NJ": 1100, "NK": 1200}
    ticks = iter(range(10**6))
    setting = SearchContext(plan, USUAL, sizes, tuple(memory_based(program)))
    judge = Judge(plan, setting, 150, clock=lambda: next(ticks))
    best, *_, last = Planner(judge).ranked()
    assert best.total < judge.original().total / 2 and best.total <= last.total
    assert "unroll_and_jam(Mult, i=" in script_text(best.script) and "isplit" in script_text(best.script)


def trial(seconds: float | None, length: int) -> Trial:
    steps = (Step(Interchange("S", "i", "j")),) * length
    return Trial(steps, 1.0, "", seconds)


def test_of_scripts_that_are_equally_fast_the_shortest_is_first() -> None:
    trials = [trial(1.0, 3), trial(1.02, 2), trial(1.2, 1), trial(None, 0), trial(5.0, 0)]
    assert [len(one.script) for one in ranked(trials)] == [2, 3, 1, 0]


def test_by_the_model_alone_nothing_is_run(tmp_path: Path) -> None:
    """Also without a main; each step has its reason, and the script is the file that is written."""
    file, script, code = tmp_path / "columns.c", tmp_path / "best.lw", tmp_path / "new.c"
    file.write_text(COLUMNS.replace("int main(void)", "int run(void)"))
    done = optimise(
        file, "--model", "--budget", "16", "-o", str(script), "--code", str(code), "--cc-option=-nonsense"
    )
    assert done.returncode == 0 and "times as fast by the model, proved" in done.stderr, done.stderr
    lines = script.read_text().splitlines()
    steps = [k for k, line in enumerate(lines) if not line.startswith("#")]
    assert steps and all(lines[k - 1].startswith("# ") for k in steps)
    again = subprocess.run(
        [sys.executable, "-m", "loopwright", "transform", str(file), str(script)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0 and again.stdout == code.read_text()


def test_where_nothing_is_faster_the_code_is_the_original(tmp_path: Path) -> None:
    text, code = "void f(int n, double *x)\n{\n  for (int i = 0; i < n; i++) x[i] = 1;\n}\n", tmp_path / "f.c"
    asked = ("optimise", "-", "--model", "--function", "f", "--code", str(code))
    done = subprocess.run(
        [sys.executable, "-m", "loopwright", *asked], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "nothing faster was found" in done.stdout, done.stderr
    assert code.read_text() == text


@needs_gcc
def test_what_is_timed_is_told(tmp_path: Path) -> None:
    file = tmp_path / "columns.c"
    file.write_text(COLUMNS)
    done = optimise(file, "--budget", "8", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["verdict"] in ("proved", "nothing faster") and told["original_s"] > 0
    assert any(one["seconds"] is not None for one in told["tried"])


@needs_gcc
def test_what_cannot_be_timed_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "columns.c"
    file.write_text(COLUMNS)
    short = optimise(file, "-D", "N=30", "--budget", "6")
    assert short.returncode == 2 and "too short to tell" in short.stderr
    file.write_text(COLUMNS.replace("return x[0] > 0", "return 3"))
    failing = optimise(file, "-D", "N=200", "--budget", "6")
    assert failing.returncode == 2 and "exit status 3" in failing.stderr


def test_a_compiler_has_no_more_time_than_the_search(tmp_path: Path) -> None:
    """A trial that is begun in the last moment has a second, whatever the compiler would take."""
    compiler, file = tmp_path / "gcc", tmp_path / "k.c"
    compiler.write_text("#!/bin/sh\nexec sleep 60\n")
    compiler.chmod(0o755)
    file.write_text(COLUMNS)
    plans = tuple(map(plan_of, read_c(file)))
    runner = TrialRunner(file, tmp_path, Compiler(str(compiler)), ())
    workshop = Workshop(plans, Request(file=str(file)), runner, until=time.monotonic())
    with pytest.raises(GaveUp, match="took more than 1 s"):
        workshop.seconds("", 1.0)


INTERRUPTED = """\
import os, signal, sys, tempfile
from pathlib import Path
from loopwright.optimise.optimising import Search, optimise
from loopwright.optimise.timing.runner import TrialRunner
from loopwright.rewrite.request import Request
from loopwright.rewrite.request import Request
from loopwright.run.compiler import Compiler, find_compiler
file, word, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts the tests may ignore it
seen = []
def progress(doing, done=0, total=0):
    seen.append(doing)
    if sum(one.startswith(word) for one in seen) == wanted:
        seen.append(word)
        os.kill(os.getpid(), signal.SIGINT)
with tempfile.TemporaryDirectory() as folder:
    runner = TrialRunner(Path(file), Path(folder), find_compiler(), ())
    found = optimise(Request(file=file, script_file="<optimised>"), runner, Search(budget=600.0), progress)
print(found.script, found.outcome is not None, sum(one.seconds is not None for one in found.tried))
"""


@needs_gcc
@pytest.mark.parametrize(
    ("word", "wanted", "timed"), [("estimating", 14, 0), *share([("timing", 1, 1), ("timing", 3, 3)], 2)]
)
def test_an_interrupt_keeps_the_best_so_far(tmp_path: Path, word: str, wanted: int, timed: int) -> None:
    """A signal to a process that would search for ten minutes: it proves what it has, and ends.

    Before anything but the original was timed, it has what the model chooses.
    """
    file = tmp_path / "columns.c"
    file.write_text(COLUMNS)
    command = [sys.executable, "-c", INTERRUPTED, str(file), word, str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0 and "interchange" in done.stdout and "True" in done.stdout, done
    assert done.stdout.rstrip().endswith(f" {timed}")


def test_the_former_name_of_the_verb_leads_to_the_new_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loopwright", "tune", "x.c"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "did you mean optimise?" in done.stderr


WITHOUT_MAIN = """\
void product(int n, int m, double C[n][m], const double A[n][n], double *restrict best)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * best[k * m + j];
}
"""


@needs_gcc
def test_data_are_made_for_a_function_without_a_main(tmp_path: Path) -> None:
    """Arrays as large as they are touched, in a program that runs and prints its seconds."""
    file = tmp_path / "product.c"
    file.write_text(WITHOUT_MAIN)
    (program,) = read_c(file, ReadOptions(choice=choice("product")))
    sizes = {"n": 30, "m": 40}
    arrays = {one.name: one for one in program.arrays}
    assert {name: cells(program, one, sizes, ()) for name, one in arrays.items()} == {
        "C": 31 * 40,
        "A": 31 * 30,
        "best": 31 * 40,
    }
    runner = TrialRunner(file, tmp_path, find_compiler(), ("-fsanitize=address",))
    runner = replace(runner, driver=driver_for([program], [sizes], (), 1))
    runner = with_clock(runner, WITHOUT_MAIN)
    built = original_program(runner, WITHOUT_MAIN)
    assert 0 <= runner.seconds(built, 10) < 10


def test_threads_get_the_outermost_loop_that_is_parallel(tmp_path: Path) -> None:
    file = tmp_path / "product.c"
    file.write_text(WITHOUT_MAIN)
    (program,) = read_c(file, ReadOptions(choice=choice("product")))
    plan = plan_of(program)
    setting = SearchContext(plan, USUAL, {"n": 500, "m": 500}, tuple(memory_based(program)))

    def searched(start: Script = ()) -> list[Script]:
        ticks = iter(range(10**6))
        judge = Judge(plan, setting, 75, threads=2, clock=lambda: next(ticks))
        return [one.script for one in Planner(judge, start=start).ranked()]

    assert "parallel(" in script_text(searched()[0])
    given = parse_script("reverse(S1, i)\n")
    first, second, *_ = searched(given)
    assert {first[:1], second[:1]} == {given} and "parallel(" in script_text(first)
    with pytest.raises(GaveUp, match="the script given by --start is not legal"):
        searched(parse_script("reverse(S1, k)\n"))


def test_the_short_judgement_of_an_order_is_the_long_one() -> None:
    """Also where only what moved is looked at, and where a temporary counts by its values."""
    judged = set()
    for name, start in [("trisolv", ""), ("atax", ""), ("ludcmp", "")]:
        program = kernel_program(name)
        dependences = tuple(memory_based(program))
        before = plan_of(program).transform(start)
        setting = SearchContext(before, USUAL, {}, dependences)
        for nest in targets(before):
            for script in (*registers(before, nest, setting), *exchanged(before, nest, setting)):
                try:
                    after = plan_of(program).perform(*script)
                except BadInput:
                    continue
                long = prove_order(after, dependences=dependences).proved
                assert is_kept(after, dependences, before=before) == long
                assert is_kept(after, dependences, before=None) == long
                judged.add(long)
    assert judged == {True, False}


def test_a_temporary_of_several_nests_is_renamed_for_the_deep_one() -> None:
    program = kernel_program("ludcmp")
    assert [script_text(steps).split("\n") for steps in renamings(plan_of(program))] == [
        ["rename(w, @34)", "expand(w_S1, i, j)", ""]
    ]


def test_whole_blocks_of_several_statements() -> None:
    program = kernel_program("lu")
    script = ["affine(Norm, {[i, j] -> [i, j, k] : k = j})", "L = fuse(Left, Norm, Right, 3)"]
    plan = plan_of(program).transform("\n".join([*script, "interchange(L, [k, i, j])"]))
    condition = whole_blocks(plan, plan.component("L"), {"i": 4})
    left = "4 * [i / 4] + 4 <= N and j + 1 <= 4 * [i / 4]"
    right = "k + 1 <= 4 * [i / 4] and 4 * [i / 4] + 3 <= j"
    assert str(condition) == f"{{[k, i, j] : {left} or {right}}}"


STORED = sorted((ROOT / "kernels" / "storage").glob("*.lw"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_shipped_scripts_that_change_storage_are_legal(path: Path) -> None:
    (program,) = read_c(path.parent.parent / f"{path.stem}.c")
    verdict = prove_plan(plan_of(program).transform(path.read_text()))
    assert verdict.proved and verdict.storage


def test_the_best_of_each_kind_is_timed_first_then_the_fastest_kind() -> None:
    jams = [(Step(UnrollAndJam("S", (LoopNumber(size, "i"),))),) for size in (8, 4)]
    tiles = [(Step(Tile("S", (LoopNumber(size, "i"),))),) for size in (32, 64)]
    scripts = [jams[0], jams[1], (), tiles[0], tiles[1]]
    known: dict[Script, float] = {}
    found = []
    for one in in_turn([Trial(one, 1.0, "") for one in scripts], known):
        found.append(one.script)
        known[one.script] = 2.0 if one.script == jams[0] else 1.0
    assert found == [jams[0], tiles[0], tiles[1], jams[1]]
    del known[jams[1]], known[tiles[1]]
    again = [one.script for one in in_turn([Trial(one, 1.0, "") for one in scripts], known)]
    assert again == [tiles[1], jams[1]], "kinds that were timed in an earlier search are not new"


def test_scripts_near_the_fastest_without_copies_are_timed_too() -> None:
    """Where copies take too long to prove it is the result: without wide vectors it was half as fast."""
    copied, plain = parse_script("pack(A, S, i, written)"), parse_script("tile(S, 8)")
    known: dict[Script, float] = {copied: 1.0, plain: 2.0}
    asked: list[Script] = []

    def near(script: Script) -> Iterator[Trial]:
        asked.append(script)
        return iter(())

    assert not list(in_turn([Trial(one, 1.0, "") for one in known], known, near))
    assert set(asked) == {copied, plain}


def test_a_scalar_that_holds_sums_is_expanded_before_anything_else() -> None:
    (program,) = read_c(ROOT / "benchmarks" / "programs" / "chain.c")
    plan = plan_of(program)
    setting = SearchContext(plan, USUAL, {"N": 600}, tuple(memory_based(program)))
    ticks = iter(range(10**6))
    judge = Judge(plan, setting, 120, clock=lambda: next(ticks))
    best = Planner(judge).ranked()[0]
    assert best.total < judge.original().total / 4
    assert script_text(best.script).startswith("expand(sum, i, j)\ndistribute()\n")


def test_what_threads_share_starts_before_all_kinds_are_timed() -> None:
    """Kinds for several threads and for one take turns; after some come those near the fastest of both."""
    texts = ("tile(S, 8)", "unroll_and_jam(S, i=2)", "interchange(S, i, j)", "skew(S, j, i)", "unroll(S, j)")
    alone = [parse_script(text) for text in texts]
    shared = [(*one, *parse_script("parallel(S, i)")) for one in alone]
    known: dict[Script, float] = {}
    order: list[Script] = []
    asked: list[tuple[int, Script]] = []

    def near(script: Script) -> Iterator[Trial]:
        asked.append((len(order), script))
        return iter(())

    for one in in_turn([Trial(one, 1.0, "") for one in (*shared, *alone)], known, near, 4):
        order.append(one.script)
        known[one.script] = float(len(order))
    assert [is_shared(one) for one in order[:4]] == [True, False, True, False]
    assert asked == [(4, order[1]), (4, order[0])]
    assert {*shared, *alone} == set(order)
