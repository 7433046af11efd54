"""`loopwright codegen`: what is printed where, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import islpy as isl
import pytest

from loopwright.cli.main import main
from loopwright.loops.nodes import EMPTY, Node
from loopwright.model.schedule import Schedule
from loopwright.prove.verdict import Refuted, Undecided, Verdict
from loopwright.rewrite import generation

ROOT = Path(__file__).resolve().parents[2]

TRIANGLE = """\
param n
context n >= 1
statement S1(i, j)
  domain 0 <= i < n and 0 <= j <= i
  schedule i, j
"""

LOOPS = """\
for (int c0 = 0; c0 < n; c0 += 1)
  for (int c1 = 0; c1 <= c0; c1 += 1)
    S1(c0, c1);
"""

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def triangle(tmp_path: Path) -> str:
    path = tmp_path / "triangle.poly"
    path.write_text(TRIANGLE)
    return str(path)


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["codegen", *words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_standard_output_is_the_code_alone(triangle: str, capfd: Captured) -> None:
    for words in ((), ("-o", "-")):
        assert run(triangle, *words) == 0
        assert capfd.readouterr() == (LOOPS, "")


def test_stats_go_to_standard_error(triangle: str, capfd: Captured) -> None:
    assert run(triangle, "--stats") == 0
    out, err = capfd.readouterr()
    assert out == LOOPS
    assert err.startswith("2 loops, 0 ifs, 1 statement copy; generated in ")
    assert "obligations" in err
    assert run(triangle, "--stats", "--no-prove") == 0
    assert "prove" not in capfd.readouterr().err


def test_json(triangle: str, capfd: Captured) -> None:
    assert run(triangle, "--json") == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["verdict"], found["code"], found["diagnostics"]) == ("proved", LOOPS, [])
    assert (found["stats"]["loops"], found["stats"]["ifs"], found["stats"]["statements"]) == (2, 0, 1)
    assert found["stats"]["obligations"] > 0
    assert run(triangle, "--json", "--no-prove") == 0
    assert json.loads(capfd.readouterr().out)["verdict"] == "not proved"


def test_output_file(triangle: str, tmp_path: Path, capfd: Captured) -> None:
    target = tmp_path / "loops.c"
    assert run(triangle, "-o", str(target)) == 0
    assert target.read_text() == LOOPS
    assert run(triangle, "-o", str(tmp_path / "no" / "loops.c")) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "loops.c:1:1: error: cannot be written: No such file or directory\n" in err


def test_standalone_names_the_parameters(triangle: str, capfd: Captured) -> None:
    assert run(triangle, "--standalone") == 0
    assert "n)" in capfd.readouterr().out


def test_bad_input_shows_the_place(tmp_path: Path, capfd: Captured) -> None:
    path = tmp_path / "bad.poly"
    path.write_text(TRIANGLE.replace("<= i\n", "<= k\n"))
    assert run(str(path)) == 2
    assert capfd.readouterr() == (
        "",
        f"{path}:4:35: error: unknown name k\n"
        "      domain 0 <= i < n and 0 <= j <= k\n"
        "                                      ^\n"
        "hint: known names: i, j, n\n"
        "more: loopwright explain LW210\n",
    )
    assert run(str(path), "--json") == 2
    found = json.loads(capfd.readouterr().out)
    assert (found["verdict"], found["code"]) == ("bad input", None)
    [diagnostic] = found["diagnostics"]
    assert (diagnostic["line"], diagnostic["column"], diagnostic["message"]) == (4, 35, "unknown name k")


def test_an_unbounded_dimension_is_bad_input_with_a_place(tmp_path: Path, capfd: Captured) -> None:
    path = tmp_path / "endless.poly"
    path.write_text("statement S(i)\n  domain i <= 0\n  schedule i\n")
    assert run(str(path)) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"{path}:3:3: error: ")
    assert "lower bound" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fast"], "there is no option --fast"),
        (["--loop-type", "fast"], "invalid choice: 'fast'"),
        (["--timeout", "soon"], "'soon' must be a number of seconds >= 0.001"),
        (["--max-statements", "0"], "'0' must be an integer >= 1"),
        (["--separate-depth", "-1"], "'-1' must be an integer >= 0"),
    ],
)
def test_unknown_options_and_values(triangle: str, words: list[str], message: str, capfd: Captured) -> None:
    assert run(triangle, *words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err


def refute(schedule: Schedule, node: Node) -> Verdict:
    return Refuted("missing", "S1(0, 0) never runs", "n = 1: S1(0, 0)")


def undecide(schedule: Schedule, node: Node) -> Verdict:
    return Undecided("the order of S1 is beyond me")


def test_nothing_wrong_is_printed(triangle: str, monkeypatch: pytest.MonkeyPatch, capfd: Captured) -> None:
    monkeypatch.setattr(generation, "prove_scan", refute)
    for words in ([], ["--timeout", "60"]):
        assert run(triangle, *words) == 1
        out, err = capfd.readouterr()
        assert out == ""
        assert "the generated program is wrong: S1(0, 0) never runs" in err
        assert "witness: n = 1: S1(0, 0)" in err
        assert "this is a bug in Loopwright" in err


def test_a_program_that_lost_its_statements_is_not_printed(
    triangle: str, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    monkeypatch.setattr(generation, "generate", lambda schedule, options: EMPTY)
    assert run(triangle) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "witness: " in err
    assert run(triangle, "--no-prove") == 0


def test_nothing_unproved_is_printed(triangle: str, monkeypatch: pytest.MonkeyPatch, capfd: Captured) -> None:
    monkeypatch.setattr(generation, "prove_scan", undecide)
    assert run(triangle) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert "could not be proved: the order of S1 is beyond me" in err
    assert run(triangle, "--json") == 3
    assert json.loads(capfd.readouterr().out)["verdict"] == "gave up"


def test_a_failure_of_isl_is_no_answer(
    triangle: str, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    def fail(schedule: Schedule, options: object) -> NoReturn:
        isl.Set("{ [i] : i = 0 }").get_dim_name(isl.dim_type.set, 99)
        isl.Set("{ what }")
        raise AssertionError

    monkeypatch.setattr(generation, "generate", fail)
    assert run(triangle) == 4
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"{triangle}: internal error: Error in test_codegen.py:")
    assert "please report it" in err
    assert "Traceback" not in err


def test_time_runs_out(triangle: str, monkeypatch: pytest.MonkeyPatch, capfd: Captured) -> None:
    monkeypatch.setattr(generation, "generate", lambda schedule, options: time.sleep(3600))
    start = time.monotonic()
    assert run(triangle, "--timeout", "60", "--wall-timeout", "0.5") == 3
    assert time.monotonic() - start < 600, "the worker was waited for"
    out, err = capfd.readouterr()
    assert out == ""
    told = "the wall-clock limit of 0.5 s ran out while generating loops"
    assert err.startswith(f"{triangle}: error: {told}\n")


def test_a_worker_that_dies_is_no_answer(
    triangle: str, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    def die(schedule: Schedule, options: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(generation, "generate", die)
    assert run(triangle, "--timeout", "60") == 4
    message = "internal error: the process that was generating loops terminated unexpectedly"
    assert message in capfd.readouterr().err


def test_within_the_time_limit_nothing_changes(triangle: str, tmp_path: Path, capfd: Captured) -> None:
    assert run(triangle, "--timeout", "60") == 0
    assert capfd.readouterr() == (LOOPS, "")
    assert run(str(tmp_path / "none.poly"), "--timeout", "60") == 2
    assert "none.poly:1:1: error: cannot be read: No such file or directory" in capfd.readouterr().err


def test_too_many_statements(tmp_path: Path, capfd: Captured) -> None:
    path = tmp_path / "many.poly"
    path.write_text("statement S(i)\n  domain 0 <= i < 50\n  schedule i\noption unroll 0\n")
    assert run(str(path), "--max-statements", "10") == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert "10" in err
    assert run(str(path), "--max-statements", "50") == 0


def test_the_loop_type_can_be_chosen(tmp_path: Path, capfd: Captured) -> None:
    path = tmp_path / "three.poly"
    path.write_text("statement S(i)\n  domain 0 <= i < 3\n  schedule i\n")
    assert run(str(path), "--loop-type", "unroll") == 0
    assert capfd.readouterr().out == "S(0);\nS(1);\nS(2);\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_is_reported(triangle: str) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "loopwright", "codegen", triangle]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=_environment())
    assert ended.returncode == 3
    what = f"{triangle}: error: standard output cannot be written: No space left on device\n"
    assert ended.stderr == f"{what}more: loopwright explain LW311\n"


def test_starting_loads_nothing_heavy() -> None:
    heavy = "{'islpy', 'networkx', 'numpy', 'rich', 'typer', 'tree_sitter', 'cvc5'}"
    code = f"import sys, loopwright.cli.main; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_environment()
    )
    assert found.stdout == "[]\n"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}
