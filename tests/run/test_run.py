"""Compiling, running, comparing and timing programs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.errors import BadInput, GaveUp
from loopwright.run.benchmark import Difference, TimingOptions, compare_and_time, first_difference
from loopwright.run.compiler import EXACT, Compiler, compile_c, find_compiler
from loopwright.run.timing import Times, execute, geometric_mean, interleaved, measured, output_of

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

PRINTS = """\
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "--time")) puts("0.001");
  else fputs("%s", stdout);
  return 0;
}
"""


def script(folder: Path, name: str, text: str) -> list[str]:
    """A command that runs a Python text."""
    path = folder / name
    path.write_text(text)
    return [sys.executable, str(path)]


def test_a_missing_compiler_is_reported_with_a_hint() -> None:
    with pytest.raises(GaveUp, match="there is no no-such-compiler") as caught:
        find_compiler("no-such-compiler")
    assert caught.value.hint is not None and "install" in caught.value.hint


@needs_gcc
def test_a_program_is_compiled_and_run(tmp_path: Path) -> None:
    source = tmp_path / "one.c"
    source.write_text(PRINTS % "hello")
    program = compile_c(find_compiler(), source, tmp_path / "one", EXACT)
    assert output_of([str(program)], timeout=10) == b"hello"


@needs_gcc
def test_a_compiler_error_keeps_its_place(tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    source.write_text("int main(void) {\n  return x;\n}\n")
    with pytest.raises(BadInput, match=r"'x' undeclared|‘x’ undeclared") as caught:
        compile_c(find_compiler(), source, tmp_path / "wrong")
    span = caught.value.span
    assert span is not None
    assert (span.file, span.line, span.column, span.excerpt) == (str(source), 2, 10, "  return x;")


def test_a_compiler_that_fails_without_a_place(tmp_path: Path) -> None:
    fake = tmp_path / "cc"
    fake.write_text("#!/bin/sh\necho 'no space left' >&2\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(BadInput, match="does not compile: no space left"):
        compile_c(Compiler(str(fake)), tmp_path / "a.c", tmp_path / "a")


def test_a_run_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(GaveUp, match=r"still running after 0\.2 s"):
        execute(script(tmp_path, "loop.py", "while True: pass"), timeout=0.2)


def test_a_crash_is_distinguished_from_an_exit_status(tmp_path: Path) -> None:
    crash = execute(script(tmp_path, "abort.py", "import os; os.abort()"), timeout=20)
    assert crash.ending == "signal SIGABRT"
    with pytest.raises(BadInput, match="exit status 3: bad luck"):
        output_of(script(tmp_path, "three.py", "import sys; print('bad luck', file=sys.stderr); sys.exit(3)"),
                  timeout=20)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="cannot be run"):
        execute(["./no-such-program"], timeout=1)


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_the_first_difference_is_the_first(one: bytes, two: bytes) -> None:
    pairs = list(zip(one, two, strict=False))
    at = next((k for k, (a, b) in enumerate(pairs) if a != b), len(pairs))
    found = first_difference(one, two)
    if one == two:
        assert found is None
    else:
        assert found == Difference(at, one[at] if at < len(one) else None, two[at] if at < len(two) else None)


def test_a_difference_in_words() -> None:
    assert str(first_difference(b"ab\x00", b"ab")) == "byte 2: 00, not the end"


def test_programs_take_turns_and_every_other_round_goes_backwards(tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = "open({log!r}, 'a').write({name!r}); print({seconds})"
    commands = {
        name: script(tmp_path, name, text.format(log=str(log), name=name, seconds=seconds))
        for name, seconds in (("a", 0.002), ("b", 0.001))
    }
    times = interleaved(commands, rounds=3, timeout=20)
    assert log.read_text() == "abbaab"
    assert times == {"a": Times((0.002,) * 3), "b": Times((0.001,) * 3)}


def test_medians_and_spread() -> None:
    times = Times((1.0, 100.0, 2.0, 3.0, 2.0))
    assert times.median == 2.0
    assert times.spread == pytest.approx(0.25)
    assert Times((1.0,)).spread == 0.0


@pytest.mark.parametrize("text", ["print('fast')", "print(-1)", "print('nan')", "pass", "print(12812619)"])
def test_a_program_that_prints_no_time_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="--time printed"):
        measured(script(tmp_path, "t.py", text), timeout=20)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=8))
def test_the_geometric_mean_turns_with_the_ratios(ratios: list[float]) -> None:
    assert geometric_mean(1 / ratio for ratio in ratios) == pytest.approx(1 / geometric_mean(ratios))


@needs_gcc
@pytest.mark.parametrize(("text", "same"), [("hello", True), ("hellO", False)])
def test_two_programs_are_compared_and_timed(tmp_path: Path, text: str, same: bool) -> None:
    one, two = tmp_path / "one.c", tmp_path / "two.c"
    one.write_text(PRINTS % "hello")
    two.write_text(PRINTS % text)
    result = compare_and_time(one, two, tmp_path, TimingOptions(find_compiler(), rounds=2, timeout=20))
    assert (result.difference is None) is same
    assert result.ratio == 1.0 and len(result.original.seconds) == 2
