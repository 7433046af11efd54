"""Tests that answers are the same for every hash seed, and from concurrent threads.

    python -m tests.fuzz.same --count 200 --seed 0

What `transform` and `prove` say of small programs is asked in processes with other hash seeds, and in one of
three threads; an answer that is not the same byte by byte is printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from loopwright.errors import LoopwrightError
from loopwright.prove.comparison.files import compare_files
from tests.fuzz.dependent import dependent_program
from tests.fuzz.mutants import mutated
from tests.fuzz.places import new_path, old_path
from tests.fuzz.scripts import random_operation
from tests.fuzz.transforms import Case, accepted, script_of

SEEDS = ("0", "1", "2718281828")
THREADS = 3


def answer(number: int) -> str:
    """What is said of a program with a script, or of one with a token changed."""
    rng = random.Random(f"same {number}")
    program = dependent_program(rng)
    try:
        if number % 3 == 0:
            other = new_path(mutated(rng, program.text))
            said = str(compare_files(old_path(program.text), other).verdict)
        else:
            script = script_of(program, rng, random_operation, rng.choice((1, 2, 3)))
            said = accepted(Case(number, program, script, openmp="parallel" in "".join(script))).new
    except LoopwrightError as failure:
        said = f"{type(failure).__name__}: {failure}"
    folder = str(old_path(program.text).parent)
    return f"{number}: {said.replace(folder, '')!r}"


def answers(first: int, count: int, threads: int) -> list[str]:
    with ThreadPoolExecutor(threads) as pool:
        return [*pool.map(answer, range(first, first + count))]


def elsewhere(first: int, count: int, seed: str, threads: int) -> list[str]:
    """The answers of a process of its own."""
    told = ["--seed", str(first), "--count", str(count), "--threads", str(threads)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.same", *told],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def differences(first: int, count: int) -> list[str]:
    """Answers of the first seed that others do not give."""
    asked = [(seed, 1) for seed in SEEDS] + [(SEEDS[0], THREADS)]
    with ThreadPoolExecutor(len(asked)) as pool:
        found: Sequence[list[str]] = [*pool.map(lambda one: elsewhere(first, count, *one), asked)]
    return [
        f"hash seed {seed}, threads {threads}: {mine}\nnot {theirs}"
        for (seed, threads), others in zip(asked, found, strict=True)
        for mine, theirs in zip(others, found[0], strict=True)
        if mine != theirs
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.same")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--threads", type=int, default=0, help="answer here, with so many threads")
    arguments = parser.parse_args()
    if arguments.threads:
        print(*answers(arguments.seed, arguments.count, arguments.threads), sep="\n")
        return 0
    found = differences(arguments.seed, arguments.count)
    print(*found, f"{len(found)} of {arguments.count * (len(SEEDS))} answers differ", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
