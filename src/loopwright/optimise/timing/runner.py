"""Compiles, runs and times C files."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.timing.driver import GIVE_MAIN
from loopwright.run.benchmark import PROCESSOR_TIME
from loopwright.run.compiler import FAST, LONGEST, Compiler, compile_c
from loopwright.run.timing import TIME, execute, measured
from loopwright.source import Source, Span


@dataclass(frozen=True)
class TrialRunner:
    """Compiles sources derived from `source` with `flags`, and runs them.

    Of a program that knows the flag `--time` the seconds count that it then prints, of any other the
    processor time of the whole run.
    """

    source: Path
    folder: Path
    compiler: Compiler
    flags: tuple[str, ...]
    prints_time: bool = False
    threads: int = 1
    driver: str = ""
    """The text added to each source: a main function, if the file has none."""

    def program(self, text: str, name: str, flags: Sequence[str] = FAST, seconds: float = LONGEST) -> Path:
        """`text` compiled in so many seconds; what it includes is looked for beside the original."""
        file = self.folder / f"{name}.c"
        file.write_bytes((text + self.driver).encode("utf-8", "surrogateescape"))
        beside = ("-iquote", str(self.source.resolve().parent))
        threads = _shared(self.compiler) if self.threads > 1 else ()
        options = (*flags, *threads, *beside, *self.flags)
        return compile_c(self.compiler, file, self.folder / name, options, seconds)

    def seconds(self, program: Path, limit: float, most: float = inf) -> float:
        """How long one run takes, by its own measurement; `GaveUp` where that is far more than `limit`.

        On the clock it may take longer: it starts, it ends, and it may have to wait for the processor; but no
        more than `most` seconds.
        """
        patience = min(2 + 4 * limit, most)
        try:
            return self._measured(program, patience)
        except BadInput as failure:
            if not self.driver:
                raise
            message = "the program does not terminate normally on the data generated for its functions"
            raise BadInput(
                Code.RUN, message, span=Span.start_of(str(self.source)), hint=GIVE_MAIN
            ) from failure

    def _measured(self, program: Path, patience: float) -> float:
        command = [str(program)]
        if self.threads > 1:
            command = ["env", f"OMP_NUM_THREADS={self.threads}", *command]
        if self.prints_time:
            return measured(command, timeout=patience)
        return processor_time(command, patience) if self.threads == 1 else clock_time(command, patience)


def _shared(compiler: Compiler) -> tuple[str, ...]:
    """The flags for programs with parallel loops.

    gcc makes a function of a parallel loop, in which it knows no longer that arrays are apart: storage of the
    region's own and arrays of the program, for example.  Asked to look at all functions of a file, it does.
    """
    return ("-fopenmp", "-fipa-pta") if Path(compiler.path).name.startswith("gcc") else ("-fopenmp",)


def with_clock(runner: TrialRunner, text: str) -> TrialRunner:
    """The runner that knows how programs made of the file are timed.

    A text that leaves its clock open is given the processor's, unless several threads share the work.
    """
    if runner.driver:
        return replace(runner, prints_time=True)
    if runner.threads == 1 and re.search(r"#\s*ifndef\s+CLOCK\b", text):
        runner = replace(runner, flags=(*runner.flags, PROCESSOR_TIME))
    return replace(runner, prints_time=f'"{TIME}"' in text)


def original_program(runner: TrialRunner, text: str) -> Path:
    """The original file, compiled."""
    try:
        return runner.program(text, "original")
    except BadInput as failure:
        if runner.driver or has_main(text):
            raise _of_the_file(failure, Source(str(runner.source), text)) from None
        raise BadInput(
            Code.DOES_NOT_COMPILE,
            "there is no program to run: the file has no main and does not link as it is",
            span=Span.start_of(str(runner.source)),
            hint="give the file a main that runs its regions, or name one that has it: --cc-option main.c",
        ) from None


def _of_the_file(failure: BadInput, source: Source) -> BadInput:
    """What is wrong with a copy of the file, which a driver may follow, said of the file."""
    span = failure.diagnostic.span
    if span is not None and span.start == 0:
        span = Span.start_of(source.path)
    elif span is not None and span.source.text.startswith(source.text) and span.end <= len(source.text):
        span = replace(span, source=source)
    return BadInput.of(replace(failure.diagnostic, span=span))


def has_main(text: str) -> bool:
    return re.search(r"\bmain\s*\(", text) is not None


def may_have_main(option: str) -> bool:
    """Whether an option names a file in which a main function may be."""
    file = Path(option)
    if option.endswith(".c") and file.is_file():
        return has_main(file.read_text(errors="replace"))
    return option.endswith((".c", ".o", ".a"))


def clock_time(command: Sequence[str], limit: float) -> float:
    """The seconds a command takes on the clock."""
    begun = time.monotonic()
    done = execute(command, timeout=limit)
    if done.status != 0:
        raise BadInput(Code.RUN, f"{' '.join(command)}: {done.ending}")
    return time.monotonic() - begun


def processor_time(command: Sequence[str], limit: float) -> float:
    """The seconds of processor time a command takes, in all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = execute(command, timeout=limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.status != 0:
        raise BadInput(Code.RUN, f"{' '.join(command)}: {done.ending}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
