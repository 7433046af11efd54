"""One kernel: the original against a rewritten text, for bits and for time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from loopwright.errors import BadInput, Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.progress import Progress
from loopwright.read.text import load
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.comparison import Difference, first_difference
from loopwright.run.compiler import EXACT, FAST, Compiler, compile_c
from loopwright.run.execution import output_of
from loopwright.run.shipped import Kernel
from loopwright.run.timing import Times, interleaved

DUMP = "--dump"
"""The flag that makes a program print the bytes of its results."""
PROCESSOR_TIME = "-DCLOCK=CLOCK_PROCESS_CPUTIME_ID"
"""One thread's own time: what else the machine does counts less than on the wall clock."""


@dataclass(frozen=True, slots=True)
class Result:
    """`difference` is None where both programs leave the same bits."""

    name: str
    difference: Difference | None
    original: Times
    transformed: Times

    @property
    def ratio(self) -> float:
        """How many times as fast as the original, by medians."""
        return self.original.median / self.transformed.median


def compare_and_time(
    name: str,
    original: Path,
    transformed: Path,
    folder: Path,
    compiler: Compiler,
    *,
    rounds: int,
    timeout: float,
    defines: Sequence[str] = (),
    wall_clock: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> Result:
    """Build both files twice in `folder`, compare the exact builds, time the fast ones."""
    clock = () if wall_clock else (PROCESSOR_TIME,)
    programs: dict[tuple[str, str], Path] = {}
    for kind, flags in (("exact", EXACT), ("fast", FAST)):
        for which, source in (("original", original), ("transformed", transformed)):
            progress(f"compiling {name}, {which}")
            target = folder / f"{name}-{which}-{kind}"
            programs[which, kind] = compile_c(compiler, source, target, (*flags, *clock, *defines))
    progress(f"comparing {name}")
    outputs = [
        output_of([str(programs[which, "exact"]), DUMP], timeout=timeout)
        for which in ("original", "transformed")
    ]
    commands = {which: [str(programs[which, "fast"])] for which in ("original", "transformed")}
    times = interleaved(
        commands, rounds=rounds, timeout=timeout, progress=lambda text: progress(f"timing {name}, {text}")
    )
    _refuse_no_time(name, times)
    return Result(name, first_difference(outputs[0], outputs[1]), times["original"], times["transformed"])


def _refuse_no_time(name: str, times: Mapping[str, Times]) -> None:
    """Of what takes no time there is no ratio."""
    for which, found in times.items():
        if found.median == 0:
            message = f"{name}, {which}: the region takes too little time to be measured"
            raise BadInput(Code.RUN, message, hint="give a larger size, such as -D N=2000")


def benchmarked(
    kernel: Kernel,
    folder: Path,
    compiler: Compiler,
    *,
    prove: bool,
    rounds: int,
    timeout: float,
    defines: Sequence[str],
    wall_clock: bool,
    progress: Progress,
) -> Result:
    """The kernel against what its script makes of it, which is left in `folder`."""
    new = folder / f"{kernel.name}.c"
    if new.resolve() == kernel.source.resolve():
        raise BadInput(Code.FILE, f"{new} is the kernel itself", hint="keep the results in another folder")
    new.write_bytes(_by_script(kernel, prove, progress))
    try:
        return compare_and_time(
            kernel.name,
            kernel.source,
            new,
            folder,
            compiler,
            rounds=rounds,
            timeout=timeout,
            defines=defines,
            wall_clock=wall_clock,
            progress=progress,
        )
    except BadInput as failure:
        if failure.span is not None and Path(failure.span.file) == new:
            message = f"the transformed {kernel.name}.c {failure.message}"
            raise InternalError(Code.OWN_MISTAKE, message, span=failure.span) from failure
        raise


def _by_script(kernel: Kernel, prove: bool, progress: Progress) -> bytes:
    """The kernel's file with its script applied, and proved."""
    script = load(kernel.script)
    request = Request(str(kernel.source), script.text, script.path, prove=prove)

    def named(doing: str, done: int = 0, total: int = 0) -> None:
        progress(f"{kernel.name}: {doing}", done, total)

    return transformed(request, named).source.encode()
