"""The parts of a C file selected without pragmas: functions, and loops by their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

from loopwright.arguments import expected, integer, texts
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LoopPlace:
    """A line where a loop starts; without `file`, in the file that is read."""

    file: str | None
    line: int

    def __str__(self) -> str:
        return str(self.line) if self.file is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Choice:
    """What to read; nothing is selected if it is empty."""

    functions: tuple[str, ...] = ()
    loops: tuple[LoopPlace, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.functions and not self.loops


_LINES = 10**9
"""More lines than any file has."""
BY_PRAGMAS = Choice()
"""The regions that pragmas mark."""


def choice(
    functions: str | Iterable[str] | None = None, loops: int | str | Iterable[int | str] | None = None
) -> Choice:
    """The choice of `lw.read(file, function="gemm")`, `loop=12`, `loop="gemm.c:12"`, or several of them."""
    names = texts(functions or (), 'function="f", or function=("f", "g")')
    one = integer(loops)
    lines = (one,) if isinstance(one, int | str) else one or ()
    usage = 'loop=12, loop="file.c:12", or loop=(12, 30)'
    expected(lines, Iterable, "a line, or a list of lines", usage)
    for line in (lines := tuple(map(integer, lines))):
        expected(line, (int, str), "a line", usage)
    return Choice(names, tuple(map(_place, lines)))


def _place(what: int | str) -> LoopPlace:
    text = "" if isinstance(what, int) and abs(what) >= _LINES else str(what)
    parts = re.fullmatch(r"(?:(.+):)?([0-9]{1,9})", text, re.DOTALL)
    if parts is None or int(parts[2]) < 1:
        hint = "write --loop LINE or --loop FILE:LINE, the line on which the loop starts"
        raise BadInput(Code.OPTION, f"'{text or '...'}' must be a line >= 1, or a file and a line", hint=hint)
    return LoopPlace(parts[1], int(parts[2]))
