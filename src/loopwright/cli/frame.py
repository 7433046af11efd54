"""How every verb runs: work, its outcome, text or JSON, exit status.  No failure is a traceback.

A verb turns the command line into an `Invocation`; `perform` does the rest.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TextIO, TypeVar

from loopwright.cli.output import write_err, write_error, write_file, write_out
from loopwright.errors import REPORT, BadInput, Code, Diagnostic, GaveUp, InternalError, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.progress import Progress, silent
from loopwright.source import Span, called

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

T = TypeVar("T")


@dataclass(frozen=True)
class Printed:
    """The result of a verb: texts for both streams, files, and the exit status."""

    out: str | bytes = ""
    err: str = ""
    files: tuple[tuple[str, bytes], ...] = ()
    status: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is wrong with some of several files, where the verb goes on with the others."""


@dataclass(frozen=True)
class Invocation(Generic[T]):
    """One use of a verb; `file` is what an error is about that has no place of its own."""

    work: Callable[[Progress], T]
    render: Callable[[T], Printed]
    file: str | None = None
    failed: Callable[[], dict[str, Any]] | None = None
    """With --json: the object for a failure, whose "verdict" and "diagnostics" are filled in."""
    seconds: float | None = None
    """The limit of processor time for the work."""
    wall: float | None = None
    """The limit on the clock; without it, a multiple of the other."""
    slow: str = "allow more time with --timeout"
    """What to do where it ran out."""
    prepare: Callable[[Progress], None] | None = None
    """What is done once and for all, and does not count."""
    sarif: str | None = None
    """Where the diagnostics go as SARIF too."""
    revision: str = ""
    """The earlier revision that diagnostics may be about."""


def asked(
    arguments: Namespace,
    work: Callable[[Namespace, Progress], T],
    render: Callable[[Namespace, T], Printed],
    empty: Mapping[str, Any],
    **more: Any,
) -> Invocation[T]:
    """The use of a verb with a FILE, with the limits and outputs that its options name.

    `empty` is what --json prints of a failure besides the file, the verdict and the diagnostics.
    """
    options = vars(arguments)
    more = {"seconds": options.get("timeout"), "wall": options.get("wall_timeout"), **more}
    failed = {"file": arguments.file, "verdict": "", **empty}
    return Invocation(
        work=lambda progress: work(arguments, progress),
        render=lambda value: render(arguments, value),
        file=arguments.file,
        failed=(lambda: failed) if arguments.json else None,
        sarif=options.get("sarif"),
        **more,
    )


def perform(invocation: Invocation[T]) -> int:
    """Work, render, write; the exit status."""
    try:
        with progress_line(sys.stderr) as progress:
            value = named(lambda: _worked(invocation, progress))
        printed = named(lambda: invocation.render(value))
        for path, data in printed.files:
            write_file(path, data)
        write_out(printed.out)
    except LoopwrightError as error:
        return _failed(invocation, error)
    write_err(printed.err)
    return _logged(invocation, printed.diagnostics, printed.status)


def _worked(invocation: Invocation[T], progress: Progress) -> T:
    if invocation.prepare is not None:
        invocation.prepare(progress)
    if invocation.seconds is None:
        return invocation.work(progress)
    from loopwright.run.supervise import within

    return within(
        invocation.seconds,
        lambda inner: named(lambda: invocation.work(inner)),
        progress,
        hint=invocation.slow,
        wall=invocation.wall,
    )


def _failed(invocation: Invocation[T], error: LoopwrightError) -> int:
    file = None if invocation.file is None else called(invocation.file)
    if isinstance(error, BadInput) and file is not None:
        error.at(Span.start_of(file))
    diagnostic = error.diagnostic
    if invocation.failed is not None and error.code is not Code.OUTPUT:
        from loopwright.report.diagnostics import as_json

        diagnostics = [as_json(error.diagnostic, file)]
        data = invocation.failed() | {"verdict": error.code.verdict, "diagnostics": diagnostics}
        try:
            write_out(as_lines(data))
        except GaveUp as unwritten:
            write_error(error, file)
            error = unwritten
    write_error(error, file)
    return _logged(invocation, (diagnostic,), error.code.exit_code)


def _logged(invocation: Invocation[T], diagnostics: Sequence[Diagnostic], status: int) -> int:
    """Write the SARIF log, if one is asked for; the status of the answer, or of its failure after a yes."""
    if invocation.sarif is None:
        return status
    from loopwright import __version__
    from loopwright.report.diagnostics import sarif_log

    log = sarif_log(diagnostics, called(invocation.file or "loopwright"), __version__, invocation.revision)
    try:
        _refuse_replacing(invocation.sarif)
        write_file(invocation.sarif, as_lines(log).encode())
    except LoopwrightError as error:
        write_error(error, None)
        return status or error.code.exit_code
    return status


def _refuse_replacing(path: str) -> None:
    """A log replaces a log, and no other file: the name may be that of an input."""
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        return
    with open(path, "rb") as file:
        start = file.read(1)
    if start not in (b"", b"{"):
        message, hint = "this is no SARIF log, and is not replaced", "give --sarif the name of a new file"
        raise BadInput(Code.FILE, message, span=Span.start_of(path), hint=hint)


def as_lines(data: dict[str, Any]) -> str:
    """JSON as it is printed."""
    return json.dumps(data, indent=2) + "\n"


def named(work: Callable[[], T]) -> T:
    """What `work` returns; whatever it raises, raised as one of Loopwright's own errors."""
    try:
        return work()
    except InternalError as error:
        raise error.advised(REPORT) from error.__cause__
    except LoopwrightError:
        raise
    except KeyboardInterrupt:
        raise GaveUp(Code.INTERRUPTED, "interrupted") from None
    except MemoryError:
        raise GaveUp(Code.SIZE, "memory ran out") from None
    except Exception as error:
        raise _unexpected(error) from error


def _unexpected(error: Exception) -> InternalError:
    """A failure of isl's or ours that was not foreseen.  It is never an answer."""
    if os.environ.get("LOOPWRIGHT_TRACEBACK"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = next(iter(str(error).splitlines()), "no message")
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    hint = f"{REPORT}; LOOPWRIGHT_TRACEBACK=1 shows where it happened"
    return InternalError(Code.INTERNAL, f"{type(error).__name__} in {where}: {what}", hint=hint)


@contextmanager
def progress_line(stream: TextIO | None) -> Iterator[Progress]:
    """A callback that shows progress on a terminal, on one line that is removed at the end."""
    if stream is None or not stream.isatty():
        yield silent
        return
    shown = _ProgressLine(stream)
    try:
        yield shown
    finally:
        shown.end()


@dataclass
class _ProgressLine:
    """The line; the first report starts it, so that a process forked before has no threads."""

    stream: TextIO
    line: Bar | None = None
    task: TaskID | None = None

    def __call__(self, doing: str, done: int = 0, total: int = 0) -> None:
        if self.line is None:
            self.line = _bar(self.stream)
            self.task = self.line.add_task(doing, total=None, count="")
            self.line.start()
        assert self.task is not None
        count = f"{done} of {total}" if total else ""
        self.line.update(self.task, description=doing, completed=done, total=total or None, count=count)

    def end(self) -> None:
        if self.line is not None:
            self.line.stop()


def _bar(stream: TextIO) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    doing = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1))
    return Progress(
        BarColumn(bar_width=16),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        doing,
        console=Console(file=stream),
        transient=True,
        expand=True,
    )
