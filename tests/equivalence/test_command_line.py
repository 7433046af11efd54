"""`loopwright prove OLD NEW` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.equivalence.right import COPY, RIGHT
from tests.equivalence.support import wrapped
from tests.pipeline.support import file, run


def test_the_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = file(tmp_path, wrapped(COPY), "old.c")
    new = file(tmp_path, wrapped(RIGHT["tiled"][1]), "new.c")
    assert run("prove", old, new) == 0
    assert "proved along its loops" in capsys.readouterr().out
    swapped = file(tmp_path, wrapped(RIGHT["operands swapped"][1]), "swapped.c")
    assert run("prove", old, swapped) == 0
    assert "proved by values" in capsys.readouterr().out
    bad = file(tmp_path, wrapped(COPY.replace("i < n", "i < n - 1")), "bad.c")
    assert run("prove", old, bad) == 1
    shown = capsys.readouterr().err
    assert "not equivalent" in shown and "witness: " in shown and "which does not write it" in shown
    assert run("prove", old, bad, "--json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "wrong"
    other = file(tmp_path, wrapped(COPY.replace("b[i] + 1", "(b[i] + 1) / 2 * 2")), "other.c")
    assert run("prove", old, other) == 3
    assert "could not decide" in capsys.readouterr().err


def test_bad_input(tmp_path: Path) -> None:
    old = file(tmp_path, wrapped(COPY), "old.c")
    assert run("prove", old, str(tmp_path / "none.c")) == 2
    assert run("prove", old, file(tmp_path, wrapped(COPY) + wrapped(COPY), "two.c")) == 2


def test_files_that_do_not_end_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prove", "/dev/zero", file(tmp_path, wrapped(COPY), "new.c")) == 2
    assert "this file has more than 4 MiB" in capsys.readouterr().err


@pytest.mark.parametrize("marked", ["old.c", "new.c"])
def test_a_byte_order_mark_is_skipped(marked: str, tmp_path: Path) -> None:
    text = wrapped(COPY.replace("< n", "< N"), head="#define N 1000")
    for name in ("old.c", "new.c"):
        (tmp_path / name).write_text(text.lstrip(), encoding="utf-8-sig" if name == marked else "utf-8")
    assert run("prove", str(tmp_path / "old.c"), str(tmp_path / "new.c")) == 0


def test_what_is_taken_on_trust_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = file(tmp_path, wrapped(COPY), "old.c")
    text = "for (i = 0; i < n; i++) { x[0] = b[i]; a[i] = x[0] + 1; }"
    new = file(tmp_path, f"static double x[100];\n{wrapped(text)}", "new.c")
    assert run("prove", old, new) == 0
    assert "'x', which" in capsys.readouterr().err


def test_reassociation_is_allowed_by_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sums = "for (i = 0; i < n; i++) a[0] += b[{}];"
    old = file(tmp_path, wrapped(sums.format("i")), "old.c")
    new = file(tmp_path, wrapped(sums.format("n - 1 - i")), "new.c")
    assert run("prove", old, new) == 1
    capsys.readouterr()
    assert run("prove", old, new, "--allow-reassociation", "--json") == 0
    assert json.loads(capsys.readouterr().out)["ways"] == ["by instances"]


def test_the_time_is_limited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = file(tmp_path, wrapped(COPY), "old.c")
    assert run("prove", old, old, "--timeout", "0.001") == 3
    assert "limit of 0.01 s" in capsys.readouterr().err
