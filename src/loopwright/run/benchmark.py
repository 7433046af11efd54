"""One kernel: the original against a rewritten text, for bits and for time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loopwright.run.comparison import Difference, first_difference
from loopwright.run.compiler import EXACT, FAST, Compiler, compile_c
from loopwright.run.execution import output_of
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
    return Result(name, first_difference(outputs[0], outputs[1]), times["original"], times["transformed"])
