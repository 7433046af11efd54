"""Compiles and runs checked programs, and records how they ended.

Data races of the checked program, found by ThreadSanitizer [Bao2016, section 5, "Parallelization"].

The verdict of a check holds for a parallel program if it has no data races; the sanitizer sees those of the
schedules it runs.  It can miss two simultaneous accesses, so a program that ends soon is run again.  The
sanitizer does not know the locks inside gcc's OpenMP library and would report every join as a race, so a
program with OpenMP is linked with a small team of plain threads instead of the library.  Unsupported features
of the team are reported, never guessed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path

from loopwright.check.program.segment import Input
from loopwright.check.run.report import Answer, Report
from loopwright.check.runtime import HEADERS, PROGRAM_HEADER, TABLES_HEADER, runtime_text
from loopwright.errors import BadInput, Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.run.supervise import PATIENCE, processor_time
from loopwright.source import Source, Span

STEP = 0.2
"""Seconds after which the processor time of a running program is looked at again."""


def time_used() -> float:
    """The processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@dataclass(frozen=True)
class Toolchain:
    """How programs are compiled and run."""

    compiler: str = "gcc"
    options: tuple[str, ...] = ()
    """Options of the user: definitions, include paths, libraries."""
    arguments: tuple[str, ...] = ()
    timeout: float = 60.0
    """Seconds of processor time for each run, which may take `PATIENCE` times as long by the clock."""
    deadline: float | None = None
    """The deadline of the whole check, by `time_used`."""
    openmp: bool = False
    fast: tuple[str, ...] = ("-O3", "-fno-aggressive-loop-optimizations")
    """Options for the run that only accumulates differences."""
    keep: Path | None = None
    """A folder for the instrumented programs."""
    precise: tuple[str, ...] = ("-O1", "-g", "-fno-inline", "-fno-optimize-sibling-calls")
    """Options for the run that explains errors; it counts frames to determine call depths."""

    def time_left(self) -> float | None:
        """Return the seconds until the deadline; raises GaveUp if none are left."""
        left = None if self.deadline is None else self.deadline - time_used()
        if left is not None and left <= 0:
            raise GaveUp(Code.TIME, "the time limit ran out before the program ran", hint="raise --timeout")
        return left

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time_used() >= self.deadline

    def compile(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Call the compiler."""
        command, left = [self.compiler, *arguments], self.time_left()
        wall = None if left is None else PATIENCE * left
        try:
            return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=wall)
        except subprocess.TimeoutExpired:
            message = f"the time limit ran out while {self.compiler} was running"
            raise GaveUp(Code.TIME, message, hint="raise --timeout") from None


@dataclass(frozen=True)
class Built:
    """The sources to compile: the instrumented program with its header, and an engine with its tables."""

    program: str
    header: str
    engine: str
    tables: str = ""
    options: tuple[str, ...] = ("-O3",)
    title: str = ""
    """The subfolder to keep it in, if the user wants to see it."""


@dataclass(frozen=True)
class Ended:
    """How a run ended; `lines` are what it reported."""

    lines: tuple[str, ...]
    status: int
    timed_out: bool
    errors: str
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def crashed(self) -> str | None:
        """The signal that ended the run, if one did."""
        if self.timed_out or self.status >= 0:
            return None
        try:
            return signal.Signals(-self.status).name
        except ValueError:
            return f"signal {-self.status}"


@contextmanager
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="loopwright-check-") as name:
        yield Path(name)


def compile_program(tools: Toolchain, built: Built, folder: Path, source: Source) -> Path:
    """The executable; `source` is the user's file, whose folder is searched for includes."""
    compiler = shutil.which(tools.compiler)
    if compiler is None:
        raise GaveUp(
            Code.NO_COMPILER,
            f"'{tools.compiler}' is not installed",
            hint="checking needs a C compiler: install gcc",
        )
    _write(built, folder)
    if tools.keep is not None and built.title:
        shutil.copytree(folder, tools.keep / built.title, dirs_exist_ok=True)
    engine, executable = folder / "engine.o", folder / "program"
    extra = ("-fopenmp",) if tools.openmp else ()
    around = str(Path(source.path).resolve().parent)
    tools.time_left()
    machine = [option for option in tools.options if option.startswith(("-m", "-f"))]
    engine.write_bytes(_engine(compiler, (*built.options, *machine), built.engine, built.tables))
    arguments = [
        *built.options, *extra, "-w", "-I", str(folder), "-iquote", around,
        str(folder / "program.c"), str(engine), "-o", str(executable), *tools.options, "-lm",
    ]  # fmt: skip
    done = tools.compile(arguments)
    if done.returncode:
        _refuse(tools, folder, source, done.stderr)
    return executable


def _write(built: Built, folder: Path) -> None:
    """Write all sources; the folder is self-contained."""
    texts = {"program.c": built.program, PROGRAM_HEADER: built.header}
    texts |= {"engine.c": built.engine, TABLES_HEADER: built.tables}
    texts |= {name: runtime_text(name) for name in HEADERS}
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8", "surrogateescape")


@lru_cache(maxsize=32)
def _engine(compiler: str, options: tuple[str, ...], engine: str, tables: str) -> bytes:
    """The object file of an engine, compiled by itself: the user's definitions must not change it."""
    with workspace() as folder:
        _write(Built("", "", engine, tables), folder)
        source, target = folder / "engine.c", folder / "engine.o"
        done = Toolchain(compiler).compile([*options, "-w", "-c", str(source), "-o", str(target)])
        if done.returncode:
            message = f"the checker's own code does not compile: {_first_error(done.stderr)}"
            raise InternalError(Code.OWN_MISTAKE, message)
        return target.read_bytes()


def _first_error(messages: str) -> str:
    return next((line for line in messages.splitlines() if "error" in line), messages[:200]).strip()


def _refuse(tools: Toolchain, folder: Path, source: Source, messages: str) -> None:
    """Raise because the program does not compile, by itself or because of the insertions."""
    extra = ("-fopenmp",) if tools.openmp else ()
    plain, path = folder / "plain.c", source.path
    plain.write_text(f'#line 1 "{path}"\n{source.text}', "utf-8", "surrogateescape")
    around = ("-iquote", str(Path(path).resolve().parent))
    output = ("-o", str(folder / "plain.o"), *compile_only(tools.options))
    alone = tools.compile(["-w", *extra, *around, "-c", str(plain), *output])
    if alone.returncode:
        hint = f"{tools.compiler} says: {_first_error(alone.stderr)}"
        raise BadInput(
            Code.DOES_NOT_COMPILE, "the program does not compile", span=Span.start_of(path), hint=hint
        )
    undefined = re.findall(r"undefined reference to [`‘'](\w+)['’]", messages)
    if undefined:
        message = f"the program cannot be linked: nothing defines '{undefined[0]}'"
        hint = "give the file or the library that does with --cc-option"
        if "main" in undefined:
            message = "the program has no 'main', and it is checked while it runs"
            hint = "write one that calls it with data; without running, 'loopwright prove' compares two files"
        raise BadInput(Code.DOES_NOT_COMPILE, message, span=Span.start_of(path), hint=hint)
    first = _first_error(messages)
    raise InternalError(Code.OWN_MISTAKE, f"the instrumented program does not compile: {first}")


def compile_only(options: Sequence[str]) -> list[str]:
    """The options without libraries and files to link."""
    return [option for option in options if not option.startswith("-l") and not option.endswith((".c", ".o"))]


def run_program(
    tools: Toolchain, executable: Path, folder: Path, variables: Mapping[str, str] | None = None
) -> Ended:
    """Run until it ends or time is up; in each case, keep what it wrote to the report."""
    report = folder / "report"
    report.write_text("")
    errors = folder / "errors"
    left = tools.time_left()
    seconds = tools.timeout if left is None else min(tools.timeout, left)
    environment = {**os.environ, "LOOPWRIGHT_REPORT": str(report), **(variables or {})}
    with open(errors, "w") as sink:
        process = subprocess.Popen(
            [str(executable), *tools.arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=sink,
            env=environment,
            start_new_session=True,
        )
        try:
            status, timed_out = _waited(process, seconds), False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            status, timed_out = process.wait(), True
        finally:  # processes that it has started and not waited for
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    lines = tuple(report.read_text(errors="replace").splitlines())
    return Ended(lines, status, timed_out, errors.read_text(errors="replace")[-4000:])


def _waited(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Its status; raises TimeoutExpired after such processor time, or `PATIENCE` times that by the clock."""
    started = time.monotonic()
    while True:
        passed = time.monotonic() - started
        used = processor_time(process.pid)
        left = min(seconds - (passed if used is None else used), PATIENCE * seconds - passed)
        if left <= 0:
            raise subprocess.TimeoutExpired(process.args, seconds)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, STEP))


_RACE = "WARNING: ThreadSanitizer: data race"
_RUNS, _SECONDS_TO_RUN_AGAIN = 3, 2.0
_OPTIONS = ("-O1", "-g", "-w", "-fsanitize=thread")


def with_races(given: Input, tools: Toolchain, report: Report) -> Report:
    """Return `report`, or a violation if the uninstrumented program has a data race.

    If races were not searched for, "valid" would claim more than is known.
    """
    try:
        race = _race(given, tools)
    except GaveUp as failure:
        answer = Answer.GAVE_UP if report.answer is Answer.VALID else report.answer
        return replace(_noted(report, f"no race detection: {failure.message}"), answer=answer)
    if race is None:
        return _noted(report, "ThreadSanitizer saw no data race in what it ran")
    found = replace(report, answer=Answer.VIOLATION, violations=report.violations + 1)
    return _noted(found, f"data race {race}")


def _noted(report: Report, note: str) -> Report:
    return replace(report, notes=(*report.notes, note))


def _race(given: Input, tools: Toolchain) -> str | None:
    """Return the place of the first data race of a run, or None; raises GaveUp if the run is inconclusive."""
    with workspace() as folder:
        _compile(given, tools, folder)
        start = time.monotonic()
        for _ in range(_RUNS):
            seen = _seen_in_a_run(tools, folder)
            if _RACE in seen:
                return _first_place(seen, given.segment.source.path)
            if time.monotonic() - start > _SECONDS_TO_RUN_AGAIN:
                break
    return None


def _seen_in_a_run(tools: Toolchain, folder: Path) -> str:
    """Return ThreadSanitizer's output for a run; raises GaveUp if the run is incomplete."""
    ended = run_program(tools, folder / "program", folder, {"TSAN_OPTIONS": f"log_path={folder / 'races'}"})
    seen = "".join(path.read_text(errors="replace") for path in sorted(folder.glob("races.*")))
    if _RACE in seen:
        return seen
    if "FATAL: ThreadSanitizer" in seen + ended.errors or "unexpected memory mapping" in ended.errors:
        raise _unknown("ThreadSanitizer cannot run here")
    if ended.timed_out:
        raise _unknown("the program did not end in time under ThreadSanitizer")
    if ended.crashed is not None:
        raise _unknown(f"the program crashed ({ended.crashed}) under ThreadSanitizer")
    return seen


def _unknown(message: str) -> GaveUp:
    return GaveUp(Code.UNDECIDED, message)


def _compile(given: Input, tools: Toolchain, folder: Path) -> None:
    """Compile the program, not instrumented, with the team; GaveUp with the compiler's first complaint."""
    program, team = folder / "program.c", folder / "team.c"
    path = Path(given.segment.source.path)
    line = f'#line 1 "{path.name}"\n'
    program.write_text(line + given.segment.source.text, "utf-8", "surrogateescape")
    team.write_text(runtime_text("team.c") if tools.openmp else "")
    parallel = ("-fopenmp",) if tools.openmp else ()
    around = ("-iquote", str(path.resolve().parent))
    objects = [str(folder / "program.o"), str(folder / "team.o")]
    steps = [
        [*_OPTIONS, *parallel, *around, "-c", str(program), "-o", objects[0], *compile_only(tools.options)],
        [*_OPTIONS, "-c", str(team), "-o", objects[1]],
        ["-fsanitize=thread", *objects, "-o", str(folder / "program"), *tools.options, "-lm", "-lpthread"],
    ]
    for step in steps:
        done = tools.compile(step)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
            raise _unknown(lines[0].strip() if lines else done.stderr[:200].strip())


def _first_place(messages: str, path: str) -> str:
    """The first line of the user's file that the sanitizer names."""
    name = Path(path).name
    for line in messages.splitlines():
        if f"{name}:" in line:
            return f"at {path}:{line.split(f'{name}:')[1].split()[0]}"
    return "(ThreadSanitizer does not say where)"
