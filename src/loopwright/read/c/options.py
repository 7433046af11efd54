"""How a C file is read: what is stated of it, which of its loops are read, and how it is compiled."""

from __future__ import annotations

from loopwright.c.selection.choice import BY_PRAGMAS, Choice
from loopwright.c.typed.options import PLAIN, CompilerOptions
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What every function that reads C files is given."""

    pure: tuple[str, ...] = ()
    """Functions that have no side effects."""
    assume: tuple[str, ...] = ()
    """Conditions, in C, that hold of the parameters."""
    choice: Choice = BY_PRAGMAS
    compiled: CompilerOptions = PLAIN
    rows: bool = False
    """An array that is only read, and written as one dimension, is read in rows where that takes a condition
    on sizes, which is listed: a guard tests it, and then knows how much of the array is read."""
    numbers: frozenset[str] = frozenset()
    """Names of which nothing is assumed as lengths of rows: they are numbers where the file is compiled."""
    at_numbers: bool = False
    """All sizes that are numbers where the file is compiled are known to be these, in what is proved too."""


AS_MARKED = ReadOptions()
"""The loops that pragmas mark, with nothing stated of them, in a file that is compiled without options."""
