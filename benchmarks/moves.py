"""The moves of Tadashi [Vatai2024] on the kernels, judged here.

    python -m benchmarks.moves --python PYTHON [KERNEL ...]

PYTHON is an interpreter that has Tadashi (`make bench-tadashi` installs one in `.venv-tadashi`).  On every
kernel each single move that Tadashi offers is made, whether Tadashi calls it legal or not, and the C file it
writes is compared with the original by `loopwright prove`, which does not see Tadashi's schedules.

The preprocessor would turn a kernel's sizes into numbers before Tadashi sees them; here they become
parameters of the function first.  Tadashi takes it that subscripts are in range: so does the question asked.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from loopwright.run.benchmark import kernels_named

ANSWERS = {0: "proved", 1: "no", 2: "refused", 3: "undecided", 4: "failed"}


@dataclass(frozen=True)
class Move:
    kernel: str
    words: str
    legal: bool
    """Tadashi's own verdict."""
    answer: str
    """What `loopwright prove` says of the file."""


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--python", required=True, help="an interpreter that has Tadashi")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for a proof (30)")
    arguments = parser.parse_args(words)
    moves: list[Move] = []
    for kernel in kernels_named(arguments.kernels):
        here = judged(kernel.source, arguments.python, arguments.timeout)
        moves += here
        counts = Counter(_row(move) for move in here)
        sys.stdout.write(f"{kernel.name:16}{_sentence(counts)}\n")
        for move in here:
            if move.answer != ("proved" if move.legal else "no"):
                sys.stdout.write(f"    {move.words}: Tadashi {_word(move)}, loopwright {move.answer}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(moves)} moves: {_sentence(Counter(_row(move) for move in moves))}\n")
    return 0


def _word(move: Move) -> str:
    return "legal" if move.legal else "illegal"


def _row(move: Move) -> str:
    return f"Tadashi {_word(move)}, here {move.answer}"


def _sentence(counts: Counter[str]) -> str:
    return "; ".join(f"{number} {row}" for row, number in sorted(counts.items()))


def judged(source: Path, python: str, timeout: float) -> list[Move]:
    """All moves on one kernel."""
    text, sizes = parametric(source.read_text())
    assumed = [word for name, size in sizes.items() for word in ("--assume", f"{name} <= {size}")]
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        old = Path(folder) / source.name
        old.write_text(text)
        script = Path(__file__).with_name("tadashi_moves.py")
        command = [str(Path(python).absolute()), "-P", str(script.resolve()), str(old), folder]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            sys.stderr.write(f"{source.name}: Tadashi stopped: {last}\n")
        found = []
        for line in done.stdout.splitlines():
            move = json.loads(line)
            answer = _proved(old, move["file"], [*assumed, "--timeout", str(timeout)])
            found.append(Move(source.stem, move["move"], move["legal"], answer))
        return found


def _proved(old: Path, new: str, options: list[str]) -> str:
    command = [sys.executable, "-m", "loopwright", "prove", str(old), new, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return ANSWERS.get(done.returncode, f"status {done.returncode}")


def parametric(text: str) -> tuple[str, dict[str, int]]:
    """A kernel's text with its sizes as parameters of the function; their values are kept for the arrays."""
    sizes = {name: int(size) for name, size in re.findall(r"#ifndef (\w+)\n#define \1 (\d+)\n", text)}
    start = text.index("static void kernel(void)")
    end = text.index("\n}", start)

    def renamed(part: str) -> str:
        return re.sub(r"\b\w+\b", lambda word: f"SIZE_{word[0]}" if word[0] in sizes else word[0], part)

    parameters = ", ".join(f"long {name}" for name in sizes)
    function = text[start:end].replace("kernel(void)", f"kernel({parameters})", 1)
    values = ", ".join(f"SIZE_{name}" for name in sizes)
    rest = renamed(text[end:]).replace("kernel()", f"kernel({values})")
    return renamed(text[:start]) + function + rest, sizes


if __name__ == "__main__":
    sys.exit(main())
