"""Options for reading a C file: assumptions, which loops to read, and how it is compiled."""

from __future__ import annotations

from loopwright.c.selection.choice import BY_PRAGMAS, Choice
from loopwright.c.typed.options import PLAIN, CompilerOptions
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of every function that reads C files."""

    pure: tuple[str, ...] = ()
    """Functions without side effects."""
    assume: tuple[str, ...] = ()
    """Conditions on the parameters, in C."""
    choice: Choice = BY_PRAGMAS
    compiled: CompilerOptions = PLAIN
    rows: bool = False
    """Whether a one-dimensional array that is only read is read in rows even if that needs a condition on
    sizes, which is listed: a guard tests it, and then knows how much of the array is read."""
    numbers: frozenset[str] = frozenset()
    """Names that need no assumptions as lengths of rows, since they are known numbers."""
    at_numbers: bool = False
    """Whether all sizes with known values are restricted to these, in what is proved too."""


AS_MARKED = ReadOptions()
"""The loops that pragmas mark, without assumptions, in a file that is compiled without options."""
