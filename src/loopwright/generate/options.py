"""What the user may ask of the generator beyond the schedule's own options."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.model.schedule import LoopType


@dataclass(frozen=True)
class Options:
    loop_type: LoopType = LoopType.DEFAULT
    """The loop type of every schedule dimension that does not name its own."""
    separate_from: int = 0
    """Separation starts at this depth: outer loops stay perfectly nested [Quillere2000, section 6.1]."""
    separate_depth: int | None = None
    """Separation stops at this depth: deeper dimensions are atomic, which bounds code size."""
    single_upper_bound: bool = True
    """`c0 <= min(a, b)` rather than `c0 <= a && c0 <= b` [Grosser2015, section 5.3]."""
    nested_bounds: bool = True
    """Drop conditions that inner loops enforce anyway [Grosser2015, example 5.5]."""
    split_bounds: bool = False
    """Remove min and max from loop bounds by splitting outer loops [Quillere2000, section 7]."""
    dead_loops: bool = False
    """Separate again, by the contexts in which inner loops are not empty [Quillere2000, section 6]."""
    max_statements: int | None = None
    """Give up when the program grows beyond this many statement copies."""
    max_unroll: int = 100_000
    """Give up rather than unroll a loop into more copies than this."""
