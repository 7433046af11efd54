"""What `loopwright optimise` finds by itself: `python -m benchmarks.optimising [KERNEL or FILE.c ...]`.

One line for each program, with speedups over gcc -O3 -march=native: by the script that is found in the
budget, by the one the model alone chooses, by the shipped script, by clang and by clang with Polly where this
machine has them, and by Pluto's best text where there is one in ../shared/peers.  All versions of a program
run in turns on one core, and the shortest times count.
The last column is the model's prediction for its own choice.  Without names: all kernels, and the programs
in benchmarks/programs, which no script was written for; those in its folder `apart` were written after the
moves that the others led to.  With --earlier FOLDER there is a column for the scripts in it, say of a commit:

    git archive COMMIT kernels | tar x -C FOLDER --strip-components=1

With --jobs N, N programs at a time are searched and measured, each on a core of its own; with --alone S, what
counts is measured again when all searches have ended, S seconds a program, with nothing beside it: our
versions, and the three peers' that were fastest before.  --built FOLDER has what peers made of the kernels
elsewhere, NAME.clang, NAME.polly or NAME.polly-SETTING, for machines without their compilers.  --json keeps
every time and script; it is written after each program, so that an interrupted run leaves what it has.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from benchmarks.speed import contestants
from loopwright.errors import LoopwrightError
from loopwright.optimise.optimising import Optimised, Search, optimise_file
from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.benchmark import PROCESSOR_TIME, kernel_folder
from loopwright.run.compiler import FAST, compile_c, find_compiler
from loopwright.run.timing import geometric_mean, interleaved

PEERS = Path(os.environ.get("LOOPWRIGHT_PEERS", "../shared/peers"))
PROGRAMS = Path(__file__).parent / "programs"
APART = PROGRAMS / "apart"
VARIANTS = ("notile", "tile", "notile1", "tile1")
MOST_ROUNDS, LONG = 20, 6.0
"""Short programs run so many times, or for so many seconds."""

PEER_COLUMNS = ("clang", "polly", "pluto")
COLUMNS = ("found", "model", "shipped", "earlier", *PEER_COLUMNS)
BEST = "the best of them"
AGAIN = 3
"""So many of the peers' programs are timed again alone."""


@dataclass(frozen=True)
class Row:
    """One program: seconds and speedups by version, scripts that were found, the model's prediction."""

    program: str
    ratios: dict[str, float] = field(default_factory=dict)
    predicted: float = math.nan
    seconds: dict[str, tuple[float, ...]] = field(default_factory=dict)
    scripts: dict[str, str] = field(default_factory=dict)
    failure: str = ""
    programs: dict[str, str] = field(default_factory=dict)
    """The compiled versions, where they are kept."""


@dataclass(frozen=True)
class Effort:
    """Seconds for the search and for the model alone; None leaves the search out."""

    budget: float | None
    model_budget: float
    rounds: int
    earlier: Path | None = None
    """Other scripts for the kernels."""
    built: Path | None = None
    """What peers have made of the kernels elsewhere."""
    kept: Path | None = None
    """Where compiled programs are kept."""

    def folder(self) -> AbstractContextManager[str]:
        """Where the versions of one program are compiled."""
        if self.kept is None:
            return tempfile.TemporaryDirectory(prefix="loopwright-")
        return nullcontext(tempfile.mkdtemp(dir=self.kept))

    def words(self) -> list[str]:
        """The options of a process that measures one program like this."""
        search = "--model-only" if self.budget is None else f"--budget={self.budget}"
        folders = {"earlier": self.earlier, "built": self.built, "kept": self.kept}
        given = [f"--{name}={folder}" for name, folder in folders.items() if folder is not None]
        return [search, f"--model-budget={self.model_budget}", f"--rounds={self.rounds}", *given]


def main(words: list[str] | None = None) -> int:
    arguments = _parser().parse_args(words)
    effort = Effort(
        None if arguments.model_only else arguments.budget,
        arguments.model_budget,
        arguments.rounds,
        arguments.earlier,
        arguments.built,
        arguments.kept,
    )
    if arguments.core is not None:
        os.sched_setaffinity(0, {arguments.core})
        sys.stdout.write(json.dumps(asdict(measured(Path(arguments.programs[0]), effort))) + "\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        kept = replace(effort, kept=Path(folder)) if arguments.alone else effort
        rows = _written(_rows(sources(arguments.programs), arguments, kept), arguments.json)
        if arguments.alone:
            sys.stdout.write("again, one program at a time:\n")
            rows = _written((timed_again(row, arguments.alone) for row in rows), arguments.json)
    sys.stdout.write(summary([row for row in rows if row.ratios]))
    sys.stdout.write(f"timed: built with {' '.join(FAST)}; results are compared by `loopwright bench`\n")
    return 0


def _written(rows: Iterable[Row], file: str | None) -> list[Row]:
    """The rows, each written as soon as it is there."""
    sys.stdout.write(f"{'program':18}" + "".join(f"{name:>9}" for name in COLUMNS) + f"{'predicted':>11}\n")
    found = []
    for row in rows:
        found.append(row)
        sys.stdout.write(_line(row))
        sys.stdout.flush()
        if file:
            Path(file).write_text(json.dumps([asdict(one) for one in found], indent=1))
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each search (60)")
    parser.add_argument("--model-budget", type=float, default=30.0, help="seconds for the model alone (30)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model-only", action="store_true", help="leave out the search that times programs")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time, each on its own core (1)")
    parser.add_argument("--limit", type=float, default=36000.0, help="seconds after which nothing is begun")
    parser.add_argument("--earlier", type=Path, metavar="FOLDER", help="scripts to compare with, too")
    parser.add_argument("--alone", type=float, metavar="S", help="time again, alone, S seconds a program")
    parser.add_argument("--built", type=Path, metavar="FOLDER", help="programs that peers made elsewhere")
    parser.add_argument("--kept", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", metavar="FILE", help="write times and scripts to this file")
    parser.add_argument("--core", type=int, help=argparse.SUPPRESS)
    return parser


def sources(names: Sequence[str]) -> list[Path]:
    """Files by their names; without any, all kernels with a script and all programs without one."""
    if names:
        return [Path(name) if name.endswith(".c") else kernel_folder() / f"{name}.c" for name in names]
    kernels = sorted(path for path in kernel_folder().glob("*.c") if path.with_suffix(".lw").is_file())
    return [*kernels, *sorted(PROGRAMS.glob("*.c")), *sorted(APART.glob("*.c"))]


def _rows(files: Sequence[Path], arguments: argparse.Namespace, effort: Effort) -> Iterator[Row]:
    """The rows as they are ready; each comes from a process that stays on one core."""
    end = time.monotonic() + arguments.limit
    cores: queue.Queue[int] = queue.Queue()
    for core in sorted(os.sched_getaffinity(0))[: arguments.jobs]:
        cores.put(core)

    def row(file: Path) -> Row:
        core = cores.get()
        try:
            return _in_process(file, [*effort.words(), f"--core={core}"], end - time.monotonic())
        finally:
            cores.put(core)

    with ThreadPoolExecutor(cores.qsize()) as pool:
        for done in as_completed([pool.submit(row, file) for file in files]):
            yield done.result()


def _in_process(file: Path, options: Sequence[str], left: float) -> Row:
    if left <= 0:
        return Row(file.stem, failure="not begun within the limit")
    command = [sys.executable, "-m", "benchmarks.optimising", str(file), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=left + 60)
    except subprocess.TimeoutExpired:
        return Row(file.stem, failure="not ended within the limit")
    if done.returncode:
        return Row(file.stem, failure=done.stderr[-400:])
    sys.stderr.write(done.stderr)
    try:
        return Row(**json.loads(done.stdout))
    except json.JSONDecodeError:
        return Row(file.stem, failure=f"no result, but {done.stdout[:200]!r}")


def _line(row: Row) -> str:
    if row.failure:
        return f"{row.program:18} {row.failure.splitlines()[-1]}\n"
    figures = "".join(f"{row.ratios.get(name, math.nan):9.2f}" for name in COLUMNS)
    return f"{row.program:18}{figures}{row.predicted:11.2f}\n"


def summary(rows: list[Row]) -> str:
    """Geometric means over the kernels and over the other programs, who is ahead, and the model's error."""
    text = ""
    groups = {"kernels": [row for row in rows if "shipped" in row.ratios]}
    apart = {path.stem for path in APART.glob("*.c")}
    groups["others"] = [row for row in rows if "shipped" not in row.ratios and row.program not in apart]
    groups["apart"] = [row for row in rows if row.program in apart]
    for title, group in groups.items():
        if group:
            text += f"{title + ', mean':18}" + "".join(_mean(group, name) for name in COLUMNS) + "\n"
    for other in ("shipped", "earlier", *PEER_COLUMNS, BEST):
        both = [row for row in rows if "found" in row.ratios and other in row.ratios]
        ahead = sum(row.ratios["found"] > row.ratios[other] for row in both)
        text += f"found is ahead of {other} on {ahead} of {len(both)}\n" if both else ""
    errors = [math.exp(abs(math.log(row.predicted / row.ratios["model"]))) for row in rows]
    off = geometric_mean(errors) if errors else math.nan
    return f"{text}the model's ratios are off by a factor of {off:.2f}\n"


def _mean(rows: Sequence[Row], name: str) -> str:
    known = [row.ratios[name] for row in rows if name in row.ratios]
    return f"{geometric_mean(known):9.2f}" if known else f"{'-':>9}"


def measured(file: Path, effort: Effort) -> Row:
    """One program: searches first, then all versions in turns."""
    original = file.read_text()
    by_model = optimise_file(file, Search(budget=effort.model_budget, model=True))
    texts, scripts = {"gcc": original, "model": _text(original, by_model)}, {"model": by_model.script}
    if effort.budget is not None:
        found = optimise_file(file, Search(budget=effort.budget))
        texts["found"], scripts["found"] = _text(original, found), found.script
    scripts_of = {"shipped": file.with_suffix(".lw")}
    if effort.earlier is not None:
        scripts_of["earlier"] = effort.earlier / f"{file.stem}.lw"
    for name, script in scripts_of.items():
        if script.is_file():
            request = Request(file=str(file), script=script.read_text(), prove=False)
            texts[name] = transformed(request, silent).source.text
    for variant in VARIANTS:
        peer = PEERS / "pluto" / f"{file.stem}.{variant}.c"
        if peer.is_file():
            texts[f"pluto {variant}"] = peer.read_text()
    first = {text: name for name, text in reversed(texts.items())}
    with effort.folder() as folder:
        distinct = {name: texts[name] for name in first.values()}
        programs = {name: str(path) for name, path in _built(file, Path(folder), distinct)}
        programs |= _by_peers(file, Path(folder), effort.built)
        times = _in_turns({name: [path] for name, path in programs.items()}, effort.rounds, LONG)
    same = {name: first[text] for name, text in texts.items()} | {name: name for name in times}
    seconds = {name: times[one] for name, one in same.items() if one in times}
    paths = {name: programs[one] for name, one in same.items() if one in times}
    return Row(file.stem, ratios_of(seconds), by_model.predicted, seconds, scripts, programs=paths)


def ratios_of(seconds: dict[str, tuple[float, ...]]) -> dict[str, float]:
    """How many times as fast as gcc each version is, and the best one of each peer and of all peers."""
    ratios = {name: min(seconds["gcc"]) / min(one) for name, one in seconds.items()}
    best = {name: max(map(ratios.__getitem__, _versions(ratios, name)), default=0.0) for name in PEER_COLUMNS}
    ratios |= {name: ratio for name, ratio in best.items() if ratio}
    return ratios | ({BEST: max(best.values())} if any(best.values()) else {})


def _versions(names: Iterable[str], peer: str) -> list[str]:
    """What a peer has made, with its settings."""
    return [name for name in names if name.partition(" ")[0] == peer]


def timed_again(row: Row, longest: float) -> Row:
    """The row by other times: our versions and the fastest ones of the peers."""
    if row.failure:
        return row
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    peers = [name for peer in PEER_COLUMNS for name in _versions(row.seconds, peer)]
    peers.sort(key=lambda name: min(row.seconds[name]))
    chosen = [name for name in row.programs if name not in peers] + peers[:AGAIN]
    first = {row.programs[name]: name for name in reversed(chosen)}
    times = _in_turns({name: [path] for path, name in first.items()}, 2, longest)
    seconds = {name: times[first[row.programs[name]]] for name in chosen}
    return replace(row, ratios=ratios_of(seconds), seconds=seconds)


def _by_peers(file: Path, folder: Path, built: Path | None) -> dict[str, str]:
    """What clang and Polly make of a program, here or elsewhere."""
    found = {}
    if built is not None:
        for path in sorted(built.glob(f"{file.stem}.*")):
            found[path.name[len(file.stem) + 1 :].replace("-", " ", 1)] = str(path)
    else:
        for one in contestants():
            if one.name in PEER_COLUMNS:
                flags = (*one.flags, PROCESSOR_TIME)
                found[one.name] = str(compile_c(one.compiler, file, folder / one.name, flags))
    return {name: path for name, path in found.items() if _runs(name, path)}


def _runs(name: str, program: str) -> bool:
    """A peer's program that this machine cannot run is left out, with a message."""
    try:
        interleaved({name: [program]}, rounds=1, timeout=120.0)
    except LoopwrightError as error:
        sys.stderr.write(f"{name} is left out: {error}\n")
        return False
    return True


def _in_turns(commands: dict[str, list[str]], rounds: int, longest: float) -> dict[str, tuple[float, ...]]:
    """The seconds of each program, of short ones in more rounds: what is the same text is one program."""
    begun = time.monotonic()
    found: dict[str, tuple[float, ...]] = dict.fromkeys(commands, ())
    for turn in range(MOST_ROUNDS):
        if turn >= rounds and time.monotonic() - begun > longest:
            break
        for name, times in interleaved(commands, rounds=1, timeout=120.0).items():
            found[name] += times.seconds
    return found


def _text(original: str, found: Optimised) -> str:
    return original if found.outcome is None else found.outcome.source.text


def _built(file: Path, folder: Path, texts: dict[str, str]) -> list[tuple[str, Path]]:
    """Versions of a file.  A peer's text that does not compile is left out, with a message."""
    found = []
    compiler, flags = find_compiler(), (*FAST, PROCESSOR_TIME, "-iquote", str(file.resolve().parent))
    for number, (name, text) in enumerate(texts.items()):
        source = folder / f"{number}.c"
        source.write_text(text)
        try:
            found.append((name, compile_c(compiler, source, folder / str(number), flags)))
        except LoopwrightError as error:
            sys.stderr.write(f"{name} is left out: {error}\n")
    return found


if __name__ == "__main__":
    sys.exit(main())
