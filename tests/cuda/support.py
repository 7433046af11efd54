"""Programs with kernels: made, compiled as C with the emulation of the prelude, and run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Outcome, Request
from tests.conftest import ROOT

KERNELS = ROOT / "kernels"
QUIET = ("-Wno-unknown-pragmas", "-Wno-unused")


def made(folder: Path, text: str, script: str) -> Outcome:
    """The outcome for a C file and a script, with kernels."""
    file = folder / "program.c"
    file.write_text(text)
    return transformed(Request(str(file), script, cuda=True), silent)


def kernels(outcome: Outcome) -> str:
    """The text of the kernels, without the prelude."""
    assert outcome.kernels is not None
    return outcome.kernels.text.partition("begins here. */\n")[2]


def run(
    folder: Path, outcome: Outcome, *flags: str, device: bool = True, arguments: tuple[str, ...] = ()
) -> bytes:
    """What the program prints that calls the kernels, which one thread runs."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    assert outcome.kernels is not None
    (folder / "new.cu").write_text(outcome.kernels.text)
    (folder / "new.c").write_text(outcome.source.text)
    common = [compiler, "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", *QUIET]
    subprocess.run([*common, "-c", "-o", "kernels.o", "-x", "c", "new.cu"], check=True, cwd=folder)
    subprocess.run([*common, *flags, "-o", "new", "new.c", "kernels.o", "-lm"], check=True, cwd=folder)
    environment = dict(os.environ) if device else {**os.environ, "LOOPWRIGHT_NO_DEVICE": "1"}
    return subprocess.run(
        [folder / "new", *arguments], check=True, capture_output=True, env=environment
    ).stdout


def original(folder: Path, text: str, *flags: str, arguments: tuple[str, ...] = ()) -> bytes:
    """What the program prints as it was written."""
    (folder / "old.c").write_text(text)
    command = ["gcc", "-O1", "-ffp-contract=off", "-w", *flags, "-o", "old", "old.c", "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    return subprocess.run([folder / "old", *arguments], check=True, capture_output=True).stdout
