"""What `loopwright optimise` finds for the kernels by itself: `python -m benchmarks.optimising [KERNEL...]`.

One line for each kernel, with speedups over gcc -O3 -march=native: by the script that is found in the
budget, by the one the model alone chooses, by the shipped script, and by Pluto's best text where there is
one in ../shared/peers.  All programs of a kernel run in turns, and the shortest times count.  The last
column is the model's error: its prediction over what was measured.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from loopwright.errors import LoopwrightError
from loopwright.optimise.optimising import Optimised, Search, optimise_file
from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.benchmark import PROCESSOR_TIME
from loopwright.run.compiler import FAST, Compiler, compile_c, find_compiler
from loopwright.run.shipped import Kernel, kernels_named
from loopwright.run.timing import geometric_mean, interleaved

PEERS = Path(os.environ.get("LOOPWRIGHT_PEERS", "../shared/peers"))
VARIANTS = ("notile", "tile", "notile1", "tile1")
COLUMNS = ("found", "model", "shipped", "pluto")


@dataclass(frozen=True)
class Row:
    """The speedups of one kernel by column, and the model's prediction for what it chose."""

    kernel: str
    ratios: dict[str, float]
    predicted: float


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each kernel (60)")
    parser.add_argument("--model-budget", type=float, default=30.0, help="seconds for the model alone (30)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model-only", action="store_true", help="leave out the search that times programs")
    arguments = parser.parse_args(words)
    sys.stdout.write(f"{'kernel':16}" + "".join(f"{name:>9}" for name in COLUMNS) + f"{'predicted':>11}\n")
    rows = []
    for kernel in kernels_named(arguments.kernels):
        budget = None if arguments.model_only else arguments.budget
        row = measured(kernel, budget, arguments.model_budget, arguments.rounds)
        rows.append(row)
        figures = "".join(f"{row.ratios.get(name, math.nan):9.2f}" for name in COLUMNS)
        sys.stdout.write(f"{kernel.name:16}{figures}{row.predicted:11.2f}\n")
        sys.stdout.flush()
    sys.stdout.write(summary(rows))
    return 0


def summary(rows: list[Row]) -> str:
    """The geometric means, and by which factor predictions are off."""
    means = ""
    for name in COLUMNS:
        known = [row.ratios[name] for row in rows if name in row.ratios]
        means += f"{geometric_mean(known):9.2f}" if known else f"{'-':>9}"
    errors = [math.exp(abs(math.log(row.predicted / row.ratios["model"]))) for row in rows]
    off = f"the model's ratios are off by a factor of {geometric_mean(errors):.2f}\n"
    return f"{'geometric mean':16}{means}\n{off}"


def measured(kernel: Kernel, budget: float | None, model_budget: float, rounds: int) -> Row:
    """One kernel: searches first, then all programs in turns."""
    by_model = optimise_file(kernel.source, Search(budget=model_budget, model=True))
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        place = Path(folder)
        texts = {"gcc": kernel.source.read_text(), "model": _text(kernel, by_model)}
        if budget is not None:
            texts["found"] = _text(kernel, optimise_file(kernel.source, Search(budget=budget)))
        request = Request(file=str(kernel.source), script=kernel.script.read_text(), prove=False)
        texts["shipped"] = transformed(request, silent).source.text
        for variant in VARIANTS:
            peer = PEERS / "pluto" / f"{kernel.name}.{variant}.c"
            if peer.is_file():
                texts[f"pluto {variant}"] = peer.read_text()
        commands = {name: [str(path)] for name, path in _built(compiler, place, texts)}
        times = interleaved(commands, rounds=rounds, timeout=120.0)
    ratios = {name: min(times["gcc"].seconds) / min(one.seconds) for name, one in times.items()}
    pluto = [ratio for name, ratio in ratios.items() if name.startswith("pluto")]
    if pluto:
        ratios["pluto"] = max(pluto)
    return Row(kernel.name, ratios, by_model.predicted)


def _text(kernel: Kernel, found: Optimised) -> str:
    return kernel.source.read_text() if found.outcome is None else found.outcome.source.text


def _built(compiler: Compiler, folder: Path, texts: dict[str, str]) -> list[tuple[str, Path]]:
    """A peer's text that does not compile is left out, with a message."""
    found = []
    for number, (name, text) in enumerate(texts.items()):
        source = folder / f"{number}.c"
        source.write_text(text)
        try:
            found.append((name, compile_c(compiler, source, folder / str(number), (*FAST, PROCESSOR_TIME))))
        except LoopwrightError as error:
            sys.stderr.write(f"{name} is left out: {error}\n")
    return found


if __name__ == "__main__":
    sys.exit(main())
