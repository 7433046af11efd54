"""`.ci/run` does not pass by leaving things out: what may be missing has to be named."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

MAKE = """#!/bin/bash
echo "make $@"
if [ "$1" = test ]; then echo "7 passed in 1.00s"; fi
[ "$1" != "$FAILING" ]
"""


def run(folder: Path, without: str, failing: str = "") -> subprocess.CompletedProcess[str]:
    """`.ci/run` where neither coqc, ocamlopt, chromium nor apt-get is installed, and `make` does nothing."""
    for name in ("bash", "dirname", "mktemp", "rm", "cat", "tee", "grep", "tail", "nproc"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    (folder / "make").write_text(MAKE)
    (folder / "make").chmod(0o755)
    environment = {"PATH": str(folder), "LOOPWRIGHT_CI_WITHOUT": without, "FAILING": failing}
    words = [str(folder / "bash"), str(ROOT / ".ci" / "run")]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("without", "missing"),
    [("", "coqc"), ("coq", "ocamlopt"), ("coq,ocaml", "chromium"), ("ocaml,chromium", "coqc")],
)
def test_a_missing_part_fails(tmp_path: Path, without: str, missing: str) -> None:
    done = run(tmp_path, without)
    assert done.returncode == 1
    assert f"{missing} is missing and could not be installed" in done.stderr
    assert "make" not in done.stdout


def test_a_part_may_be_missing_where_that_is_said(tmp_path: Path) -> None:
    done = run(tmp_path, "coq,ocaml,chromium")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "coqc is missing: what needs it is NOT checked",
        "ocamlopt is missing: what needs it is NOT checked",
        "chromium is missing: what needs it is NOT checked",
        "make nvcc",
        f"make test JOBS={len(os.sched_getaffinity(0)) + 1}",
        "7 passed in 1.00s",
        "make lint",
        "7 passed in 1.00s",
    ]


def test_a_misspelt_part_fails(tmp_path: Path) -> None:
    done = run(tmp_path, "coqc")
    assert done.returncode == 2
    assert "'coqc' must be coq, ocaml or chromium" in done.stderr


@pytest.mark.parametrize("failing", ["lint", "test"])
def test_a_part_that_fails_is_not_hidden(tmp_path: Path, failing: str) -> None:
    done = run(tmp_path, "coq,ocaml,chromium", failing)
    assert done.returncode != 0
    assert f"make {failing}" in done.stdout
    assert done.stdout.endswith("make lint\n"), "no closing line"


def test_a_library_that_does_not_compile_fails(tmp_path: Path) -> None:
    """It is compiled beside the installation."""
    (tmp_path / "coqc").touch(0o755)
    done = run(tmp_path, "ocaml,chromium", "coq")
    assert done.returncode == 1
    assert "make coq\n" in done.stdout and "make nvcc\n" in done.stdout
    assert "make test" not in done.stdout
