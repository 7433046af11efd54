"""Compares a kernel with a rewritten version, bit by bit and in time, and charts the speedups.

Kernels with their scripts: `NAME.c` beside `NAME.lw`.
"""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from loopwright.errors import BadInput, Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.progress import Progress, silent
from loopwright.read.text import load
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.compiler import EXACT, FAST, Compiler, compile_c
from loopwright.run.timing import Times, geometric_mean, interleaved, output_of

DUMP = "--dump"
"""The flag that makes a program print the bytes of its results."""
PROCESSOR_TIME = "-DCLOCK=CLOCK_PROCESS_CPUTIME_ID"
"""The processor time of one thread, which other load affects less than wall-clock time."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first byte that differs; `None` stands for the end of the shorter output."""

    offset: int
    one: int | None
    two: int | None

    def __str__(self) -> str:
        def shown(byte: int | None) -> str:
            return "the end" if byte is None else f"{byte:02x}"

        return f"byte {self.offset}: {shown(self.one)}, not {shown(self.two)}"


def first_difference(one: bytes, two: bytes) -> Difference | None:
    """The first difference of two outputs, or None if they are bit-identical."""
    if one == two:
        return None
    shorter = min(len(one), len(two))
    low, high = 0, shorter  # one[:low] == two[:low]; the first difference is at `high` at the latest
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return Difference(low, _byte(one, low), _byte(two, low))


def _byte(data: bytes, offset: int) -> int | None:
    return data[offset] if offset < len(data) else None


@dataclass(frozen=True, slots=True)
class Result:
    """`difference` is None if the results are bit-identical."""

    name: str
    difference: Difference | None
    original: Times
    transformed: Times

    @property
    def ratio(self) -> float:
        """The speedup over the original, by medians."""
        return self.original.median / self.transformed.median


@dataclass(frozen=True)
class TimingOptions:
    """Options to compile and time two programs."""

    compiler: Compiler
    rounds: int
    timeout: float
    """Seconds for each run."""
    defines: tuple[str, ...] = ()
    wall_clock: bool = False


def compare_and_time(
    original: Path, transformed: Path, folder: Path, options: TimingOptions, progress: Progress = silent
) -> Result:
    """Build both files twice in `folder`, compare the exact builds, time the fast ones."""
    name, timeout = original.stem, options.timeout
    clock = () if options.wall_clock else (PROCESSOR_TIME,)
    programs: dict[tuple[str, str], Path] = {}
    for kind, flags in (("exact", EXACT), ("fast", FAST)):
        for which, source in (("original", original), ("transformed", transformed)):
            progress(f"compiling {name}, {which}")
            target = folder / f"{name}-{which}-{kind}"
            words = (*flags, *clock, *options.defines)
            programs[which, kind] = compile_c(options.compiler, source, target, words)
    progress(f"comparing {name}")
    outputs = [
        output_of([str(programs[which, "exact"]), DUMP], timeout=timeout)
        for which in ("original", "transformed")
    ]
    commands = {which: [str(programs[which, "fast"])] for which in ("original", "transformed")}
    times = interleaved(
        commands,
        rounds=options.rounds,
        timeout=timeout,
        progress=lambda text: progress(f"timing {name}, {text}"),
    )
    _refuse_no_time(name, times)
    return Result(name, first_difference(outputs[0], outputs[1]), times["original"], times["transformed"])


def _refuse_no_time(name: str, times: Mapping[str, Times]) -> None:
    """Refuse runs that take no time, which have no ratio."""
    for which, found in times.items():
        if found.median == 0:
            message = f"{name}, {which}: the region runs too briefly to be measured"
            raise BadInput(Code.RUN, message, hint="give a larger size, such as -D N=2000")


def benchmarked(
    kernel: Kernel, folder: Path, options: TimingOptions, *, prove: bool, progress: Progress
) -> Result:
    """Compare the kernel with its script's result, which is kept in `folder`."""
    new = folder / f"{kernel.name}.c"
    if new.resolve() == kernel.source.resolve():
        raise BadInput(Code.FILE, f"{new} is the kernel itself", hint="keep the results in another folder")
    new.write_bytes(_by_script(kernel, progress, prove=prove))
    try:
        return compare_and_time(kernel.source, new, folder, options, progress)
    except BadInput as failure:
        if failure.span is not None and Path(failure.span.file) == new:
            message = f"the transformed {kernel.name}.c {failure.message}"
            raise InternalError(Code.OWN_MISTAKE, message, span=failure.span) from failure
        raise


def _by_script(kernel: Kernel, progress: Progress, *, prove: bool) -> bytes:
    """The kernel's file with its script applied, and proved."""
    script = load(kernel.script)
    request = Request(str(kernel.source), script.text, script.path, prove=prove)

    def named(doing: str, done: int = 0, total: int = 0) -> None:
        progress(f"{kernel.name}: {doing}", done, total)

    return transformed(request, named).source.encode()


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def write_chart(results: Sequence[Result], path: Path) -> None:
    """One bar per kernel on a logarithmic axis, the fastest first, with the geometric mean as a line."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    ordered = sorted(results, key=lambda result: (-result.ratio, result.name))
    ratios = [result.ratio for result in ordered]
    mean = geometric_mean(ratios)
    figure = Figure(figsize=(max(6.0, 0.38 * len(ordered) + 2), 4.2), layout="constrained")
    axes = figure.subplots()
    colours = ["#2a7f62" if ratio >= 1 else "#b3402e" for ratio in ratios]
    names, heights = [result.name for result in ordered], [ratio - 1 for ratio in ratios]
    bars = axes.bar(names, heights, bottom=1, color=colours)
    axes.bar_label(bars, labels=[f"{ratio:.1f}" for ratio in ratios], padding=2, fontsize=8)
    axes.set_yscale("log")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.axhline(mean, color="#555555", linewidth=0.8, linestyle="--", label=f"geometric mean {mean:.2f}")
    axes.set_ylabel("times as fast as the original")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")
    axes.tick_params(axis="x", length=0)
    for label in axes.get_xticklabels():
        label.set(rotation=60, horizontalalignment="right", rotation_mode="anchor")
    axes.margins(x=0.02, y=0.12)
    axes.legend(frameon=False)
    figure.savefig(path)


@dataclass(frozen=True, slots=True)
class Kernel:
    name: str
    source: Path
    script: Path


def kernel_folder() -> Path:
    """`kernels/` of the working directory, or the one in the package."""
    here = Path("kernels")
    return here if here.is_dir() else Path(str(resources.files("loopwright") / "data" / "kernels"))


def kernels_named(names: Sequence[str]) -> tuple[Kernel, ...]:
    """The kernels with these names, or at these paths; without names, all that have a script."""
    if not names:
        files = sorted(kernel_folder().glob("*.c"))
        return tuple(_at(path) for path in files if path.with_suffix(".lw").exists())
    return tuple(_named(name) for name in names)


def _named(name: str) -> Kernel:
    if name.endswith(".c"):
        if not Path(name).is_file():
            raise BadInput(Code.FILE, f"there is no file {name}")
        return _at(Path(name))
    folder = kernel_folder()
    path = folder / f"{name}.c"
    if path.is_file():
        return _at(path)
    known = sorted(one.stem for one in folder.glob("*.c"))
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"the kernels are {', '.join(known)}"
    raise BadInput(Code.FILE, f"there is no kernel {name} in {folder}", hint=hint)


def _at(source: Path) -> Kernel:
    script = source.with_suffix(".lw")
    if not script.is_file():
        raise BadInput(Code.FILE, f"{source} has no script beside it", hint=f"write one at {script}")
    return Kernel(source.stem, source, script)
