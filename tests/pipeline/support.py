"""Small C programs, transformed, compiled and run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from loopwright.cli.main import main
from loopwright.progress import silent
from loopwright.prove.comparison.programs import prove_equivalent
from loopwright.prove.equivalence.answer import Equivalence
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Outcome, Request


def file(tmp_path: Path, text: str, name: str = "k.c") -> str:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return str(path)


NAMES = "int n, int m, double *a, double *b, double A[n][n]"


def wrapped(body: str, *, head: str = "", names: str = NAMES) -> str:
    """`body` as the region of a function."""
    return f"{head}void f({names})\n{{\n  int i, j, k, t;\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def region(text: str) -> str:
    """What stands between the pragmas."""
    found = re.search(r"#pragma scop\r?\n(.*?)#pragma endscop", text, re.DOTALL)
    assert found is not None
    return found[1]


def result(
    tmp_path: Path,
    text: str,
    script: str | None = None,
    *,
    openmp: bool = False,
    allow_reassociation: bool = False,
) -> Outcome:
    """The outcome of the whole pipeline, all proofs included."""
    request = Request(
        file(tmp_path, text), script, "s.lw", openmp=openmp, allow_reassociation=allow_reassociation
    )
    return transformed(request, silent)


def new_region(tmp_path: Path, body: str, script: str | None = None, head: str = "") -> str:
    return region(result(tmp_path, wrapped(body, head=head), script).source.text)


def run(*words: str) -> int:
    """The exit status of a command line."""
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def compared(tmp_path: Path, old: str, new: str) -> Equivalence:
    """What is proved about two texts with one region each."""
    (one,) = read_c(file(tmp_path, old, "old.c"))
    (other,) = read_c(file(tmp_path, new, "new.c"))
    return prove_equivalent(one, other)


def compiler() -> str:
    found = shutil.which("gcc")
    if found is None:
        pytest.skip("no gcc")
    return found


def output(text: str, folder: Path, *flags: str) -> str:
    """What a program prints; no warning but for what the original has too is allowed."""
    source = folder / "program.c"
    source.write_text(text)
    command = [compiler(), "-std=gnu11", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-label"]
    command += ["-Wno-unused-variable", "-O1", "-ffp-contract=off", *flags]
    subprocess.run([*command, str(source), "-o", str(folder / "program"), "-lm"], check=True)
    return subprocess.run(
        [str(folder / "program"), "--checksum"], check=True, capture_output=True, text=True
    ).stdout


def small_sizes(text: str) -> list[str]:
    """Definitions that make the data of a kernel small, every size another one."""
    names = re.findall(r"#ifndef (\w+)\s*\n#define \1 \d+", text)
    return [f"-D{name}={11 + k}" for k, name in enumerate(names)]
