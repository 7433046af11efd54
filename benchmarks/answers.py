"""Checks that the extracted checker and Coq give the same answers to all problems of the tool.

    python -m benchmarks.answers [--every 1] [--changed 3] [--limit 60] [corpus|scripts|gpu...]

Runs `codegen` on the files of the corpus and `transform` on the kernels' scripts, those for a GPU too, and
records every problem for the verified checker.  Its certificates, and some with numbers changed, are given to
the extracted program and to the same function in `coqc` (`vm_compute`).  Prints a line for each input with
the tool's answer, and the number of different answers; the exit status is 1 if one does.  Problems for which
no certificates are found have no answers to compare.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from loopwright.cli.main import main as loopwright
from loopwright.progress import silent
from loopwright.prove.certificates import status
from loopwright.prove.certificates.checker import ENOUGH, Checked, NotChecked, asked, certificates, checked
from loopwright.prove.certificates.checker import Answer as CheckerAnswer
from loopwright.prove.coq.check import library, the_coqc
from tests.coq.support import answers_file

from .certificates import CORPUS, KERNELS, SUFFIXES


@dataclass(frozen=True)
class Input:
    """One use of the tool, and what it is called here."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """Answers that were compared, those that differ, and problems that coqc had not enough time for."""

    answers: int = 0
    differing: int = 0
    late: int = 0

    def plus(self, other: Compared) -> Compared:
        return Compared(
            self.answers + other.answers, self.differing + other.differing, self.late + other.late
        )


def inputs(kinds: Sequence[str], every: int) -> Iterator[Input]:
    if "corpus" in kinds:
        paths = sorted(path for path in CORPUS.rglob("*") if path.suffix in SUFFIXES)
        for path in paths[::every]:
            yield Input(str(path.relative_to(CORPUS)), ("codegen", str(path), "--json"))
    for script in sorted(KERNELS.rglob("*.lw"))[::every]:
        name = script.relative_to(KERNELS)
        is_gpu = name.parts[0] == "gpu"
        if ("gpu" if is_gpu else "scripts") in kinds:
            made = Path(tempfile.gettempdir()) / f"{script.stem}.cu"
            target = ("--target", "cuda", "-o", str(made)) if is_gpu else ()
            words = ("transform", str(KERNELS / f"{script.stem}.c"), str(script), "--json", *target)
            yield Input(str(name), words)


def problems_of(one: Input) -> tuple[list[str], str]:
    """What the verified checker is asked, each problem once, and what the tool says of the proof."""
    found: dict[str, None] = {}

    def kept(problem: str, seconds: float = ENOUGH, example: dict[str, int] | None = None) -> CheckerAnswer:
        found[problem] = None
        return asked(problem, seconds, example)

    said = io.StringIO()
    with (
        mock.patch.object(status, "asked", kept),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        loopwright(one.words)
    return list(found), "; ".join(dict.fromkeys(_statuses(said.getvalue())))


def _statuses(text: str) -> Iterator[str]:
    """Every `proof` in what was said."""
    try:
        left = [json.loads(text)]
    except json.JSONDecodeError:
        yield "no answer"
        return
    while left:
        here = left.pop()
        if isinstance(here, dict):
            proof = here.get("proof")
            if isinstance(proof, dict):
                yield f"{proof['status']} by {proof['by']} ({proof['detail']})"
            left += here.values()
        elif isinstance(here, list):
            left += here


def changed(words: str, chance: random.Random) -> str:
    """One factor of one sum is another: `farkas COUNT (SKIP FACTOR)...`."""
    parts = words.split()
    sums = [k for k, word in enumerate(parts) if word == "farkas" and parts[k + 1] != "0"]
    if sums:
        start = chance.choice(sums)
        place = start + 3 + 2 * chance.randrange(int(parts[start + 1]))
        parts[place] = str(int(parts[place]) + chance.choice([-1, 1, 2]))
    return " ".join(parts)


def compared(problem: str, count: int, limit: int, chance: random.Random) -> Compared:
    given = certificates(problem)
    if isinstance(given, NotChecked):
        return Compared()
    several = [given, *(changed(given, chance) for _ in range(count))]
    here = [isinstance(checked(problem, one), Checked) for one in several]
    there = computed(answers_file(problem, several), limit)
    if there is None:
        return Compared(late=1)
    differing = sum(a != b for a, b in zip(here, there, strict=True))
    return Compared(len(several), differing)


def computed(text: str, limit: int) -> list[bool] | None:
    """What `coqc` computes for a file of answers; None if it takes too long."""
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "answers.v").write_text(text)
        command = [the_coqc(), "-q", "-noglob", "-Q", str(library(silent)), "Loopwright", "answers.v"]
        limited = ["prlimit", f"--cpu={limit}", *command]
        done = subprocess.run(limited, cwd=made, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return None
    if done.returncode != 0:
        raise RuntimeError(f"coqc failed: {done.stderr.strip()[-400:]}")
    found = re.search(r"= \[([^]]*)\]", done.stdout)
    assert found is not None, done.stdout
    return [word.strip() == "true" for word in found.group(1).split(";")]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="whether the extracted checker and Coq give the same answers"
    )
    parser.add_argument("kinds", nargs="*", default=["corpus", "scripts", "gpu"])
    parser.add_argument("--every", type=int, default=1, help="take every nth input")
    parser.add_argument("--changed", type=int, default=3, help="changed certificates for each problem")
    parser.add_argument("--limit", type=int, default=60, help="processor seconds for coqc on one problem")
    options = parser.parse_args()
    os.environ.setdefault("NO_COLOR", "1")
    chance = random.Random(13)
    total = Compared()
    for one in inputs(options.kinds, options.every):
        problems, said = problems_of(one)
        here = Compared()
        for problem in problems:
            here = here.plus(compared(problem, options.changed, options.limit, chance))
        total = total.plus(here)
        print(f"{here.answers:5}{here.differing:5}{here.late:5}  {one.name}  {said}", flush=True)
    print(f"{total.answers} answers, {total.differing} differ, {total.late} problems without time in coqc")
    sys.exit(total.differing > 0)


if __name__ == "__main__":
    main()
