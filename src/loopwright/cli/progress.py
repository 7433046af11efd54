"""Progress on a terminal: one line that is removed at the end.  In a pipe nothing is printed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from loopwright.progress import Progress, silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


@contextmanager
def progress_line(stream: TextIO) -> Iterator[Progress]:
    """A callback that shows progress until the block ends."""
    if not stream.isatty():
        yield silent
        return
    shown = _Shown(stream)
    try:
        yield shown
    finally:
        shown.end()


@dataclass
class _Shown:
    """The line; the first report starts it, so that a process forked before has no threads."""

    stream: TextIO
    line: Bar | None = None
    task: TaskID | None = field(default=None)

    def __call__(self, doing: str, done: int = 0, total: int = 0) -> None:
        if self.line is None:
            self.line = _line(self.stream)
            self.task = self.line.add_task(doing, total=None, count="")
            self.line.start()
        assert self.task is not None
        count = f"{done} of {total}" if total else ""
        self.line.update(self.task, description=doing, completed=done, total=total or None, count=count)

    def end(self) -> None:
        if self.line is not None:
            self.line.stop()


def _line(stream: TextIO) -> Bar:
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
