"""How long a user waits for an answer, in processor time: `python -m benchmarks.latency`.

The slowest input of each kind is printed beside its limit; the exit status is 1 if one is over it.  The
verdict of the page of `loopwright serve` is timed by the clock, from the question to a worker that is running
already to its first message, on the tutorial's files; the shortest of some times counts, since a busy machine
lets everybody wait.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import islpy as isl

from loopwright.model.dependences import dependences
from loopwright.model.program import Program
from loopwright.progress import silent
from loopwright.prove.legality.legality import prove_legal
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.benchmark import kernel_folder
from loopwright.serve.workers import Workers

ROOT = Path(__file__).resolve().parent.parent
SKEWED = {
    "jacobi-1d": "L = lift(LoopB, 1)\ntile(L, 8, 32, skew)\n",
    "jacobi-2d": "L = lift(LoopB, 1)\ntile(L, 8, 16, 16, skew)\n",
    "heat-3d": "L = lift(LoopB, 1)\ntile(L, 4, 8, 8, 32, skew)\n",
}
"""Tiles whose loops have bounds of three and four maxima and minima."""


@dataclass(frozen=True)
class Question:
    """Something that is asked of Loopwright, and the seconds that its answer may take."""

    kind: str
    limit: float
    name: str
    ask: Callable[[], object]


def questions() -> Iterator[Question]:
    kernels = sorted(kernel_folder().glob("*.c")) + sorted((ROOT / "tests" / "c" / "kernels").glob("*.c"))
    for path in kernels:
        yield Question("dependences", 1.0, path.stem, partial(all_dependences, path))
    for path in kernels:
        yield Question("legality", 3.0, path.stem, partial(legality, path))
    for name, script in SKEWED.items():
        request = Request(str(kernel_folder() / f"{name}.c"), script)
        yield Question("transform", 10.0, name, partial(transformed, request, silent))


    yield Question("one nest", 12.0, f"{MANY} statements", partial(many_statements, TILED))
    yield Question("many nests", 6.0, f"{MANY} statements", partial(many_statements, None))


MANY = 160
"""Statements, as generated code has them."""
TILED = "L = lift(S1, 1)\ntile(L, 32, 32)\n"


def many_statements(script: str | None) -> None:
    """A nest of many statements that use two arrays in turn, or as many loops, by the command."""
    heads = "for (int i = 1; i < n; i++)\nfor (int j = 1; j < n; j++) {\n", "}\n"
    lines = []
    for k in range(MANY):
        one, other = ("a", "b") if k % 2 else ("b", "a")
        if script:
            lines.append(f"{one}[i][j] = {other}[i][j] * {k}.5 + {one}[i - 1][j - 1];\n")
        else:
            lines.append(f"for (int i = 0; i < n; i++) {one}[0][i] = {other}[0][i] * {k}.5;\n")
    body = heads[0] + "".join(lines) + heads[1] if script else "".join(lines)
    text = f"double a[512][512], b[512][512];\nvoid f(int n) {{\n#pragma scop\n{body}#pragma endscop\n}}\n"
    with TemporaryDirectory() as folder:
        file = Path(folder, "many.c")
        file.write_text(text)
        transformed(Request(str(file), script), silent)


def all_dependences(path: Path) -> None:
    for program in read_c(path):
        dependences(program)


def legality(path: Path) -> None:
    """As written, which is legal, and tiled, which usually is not."""
    for program in read_c(path):
        if not prove_legal(program, program).proved:
            raise AssertionError(f"{path.stem} as written is not legal")
        prove_legal(program, tiled(program))


def tiled(program: Program, size: int = 32) -> dict[str, isl.Map]:
    """Tiles of all loops: [p0, i1 / size, 0, i2 / size, 0, ..., i1, p1, i2, p2, ...]."""
    width = program.statements[0].schedule.dim(isl.dim_type.out)
    names = [f"t{k}" for k in range(width)]
    tiles = [part for name in names[1::2] for part in (f"floor({name}/{size})", "0")]
    step = isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join([names[0], *tiles, *names[1:]])}] }}")
    return {statement.name: statement.schedule.apply_range(step) for statement in program.statements}


def spent(ask: Callable[[], object]) -> float:
    """Processor time of the answer, in this process and in those it starts."""
    start = _processor_time()
    ask()
    return _processor_time() - start


def _processor_time() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def command(*words: str) -> float:
    return spent(lambda: subprocess.run([sys.executable, *words], capture_output=True, check=True))


def start_up() -> tuple[float, float]:
    """A small file through `codegen`; half a second, or five times what loading isl takes on this machine."""
    unit = min(command("-c", "import islpy") for _ in range(4))
    file = str(ROOT / "examples" / "trapezoid.poly")
    best = min(command("-m", "loopwright", "codegen", file) for _ in range(4))
    return best, max(0.5, 5 * unit)


TUTORIAL = ("sums.lw", "wrong.lw", "heat.lw", "heat-waves.lw", "heat-wrong.lw")
"""Scripts of the tutorial, for heat.c and for sums.c."""


async def verdicts(rounds: int = 6) -> tuple[float, float, str]:
    """Seconds on the clock until the page of `serve` has the slowest verdict, their limit, and the script."""
    workers, folder, found = Workers(), ROOT / "docs" / "tutorial", {}
    await workers.start()
    for script in TUTORIAL:
        c = folder / ("heat.c" if script.startswith("heat") else "sums.c")
        question = {"kind": "transform", "c": c.read_text(), "script": (folder / script).read_text()}
        found[script] = min([await _first_message(workers, question) for _ in range(rounds)])
    workers.stop()
    slowest = max(found, key=lambda script: found[script])
    return found[slowest], 0.3, slowest


async def _first_message(workers: Workers, question: dict[str, str]) -> float:
    start = time.monotonic()
    messages = workers.ask(question)
    line = await anext(messages)
    passed = time.monotonic() - start
    await messages.aclose()
    if json.loads(line)["stage"] != "order":
        raise AssertionError(f"not a verdict: {line[:200]!r}")
    return passed


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.parse_args(words)
    worst: dict[str, tuple[float, float, str]] = {}
    for one in questions():
        worst[one.kind] = max(worst.get(one.kind, (0.0, 0.0, "")), (spent(one.ask), one.limit, one.name))
    worst["codegen"] = (*start_up(), "trapezoid")
    worst["verdict"] = asyncio.run(verdicts())
    sys.stdout.write(f"{'question':14}{'slowest':16}{'seconds':>9}{'limit':>8}\n")
    for kind, (seconds, limit, name) in worst.items():
        over = "  over the limit" if seconds > limit else ""
        sys.stdout.write(f"{kind:14}{name:16}{seconds:9.2f}{limit:8.2f}{over}\n")
    return int(any(seconds > limit for seconds, limit, _ in worst.values()))


if __name__ == "__main__":
    sys.exit(main())
