"""The package as a wheel, run away from the repository: its kernels, its Coq library, its demo."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.coq.support import needs_coqc

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, built from a copy: a build leaves files in the folder it builds."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "copy"
    for name in ("src", "kernels", "proofs", "examples", "docs/operations", "docs/tutorial"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.vo*", "*.glob", ".*")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(copy)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def run(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    environment.pop("LOOPWRIGHT_PROOFS", None)
    environment.pop("LOOPWRIGHT_CHECKER", None)
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )


def test_the_package_is_the_wheels(installed: Path, tmp_path: Path) -> None:
    found = run(installed, tmp_path, "-c", "import loopwright; print(loopwright.__file__)").stdout
    assert found.strip() == str(installed / "loopwright" / "__init__.py")


def test_the_playground_finds_its_page(installed: Path, tmp_path: Path) -> None:
    text = "from loopwright.serve.app import examples; print(len(examples()['tutorial/sums'].script))"
    assert int(run(installed, tmp_path, "-c", text).stdout) > 50
    for name in ("serve/static/index.html", "serve/static/playground.js", "show/static/moving.js"):
        assert (installed / "loopwright" / name).stat().st_size > 1000


@needs_gcc
def test_bench_finds_the_kernels(installed: Path, tmp_path: Path) -> None:
    words = ("bench", "trisolv", "--rounds", "1", "--no-plot", "--no-prove")
    lines = run(installed, tmp_path, "-m", "loopwright", *words).stdout.splitlines()
    assert lines[1].startswith("trisolv ") and "the same" in lines[1]


@needs_coqc
def test_coq_finds_the_library(installed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "rectangle.poly", tmp_path)
    words = ("codegen", "rectangle.poly", "--prover", "coq")
    assert "checked by coqc, no axioms" in run(installed, tmp_path, "-m", "loopwright", *words).stderr


@needs_gcc
def test_the_demo_finds_its_files(installed: Path, tmp_path: Path) -> None:
    shown = run(installed, tmp_path, "-m", "loopwright", "demo").stdout
    assert shown.count("times as fast, and the same bits.") == 2
