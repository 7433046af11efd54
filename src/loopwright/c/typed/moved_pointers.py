"""Whether a region may move a pointer, from the front end's cursors alone: its tree need not be built."""

from __future__ import annotations

from loopwright.c.typed import front_end
from loopwright.c.typed.file import TypedFile
from loopwright.c.typed.prepare import Located


def may_move_pointers(file: TypedFile) -> bool:
    """Whether statements of a region may declare a pointer, or change one, as the front end parsed them."""
    return any(_may_move(file, spot) for _, spot in file.located if isinstance(spot, Located))


def _may_move(file: TypedFile, spot: Located) -> bool:
    """The same for one region.

    Every node of the region is made of a cursor that shares text with it.  The nodes that change a variable
    are assignments, `++` and `--`, which have the variable's type.
    """
    pending = [one for start, end, one in file.top if start < spot.end and spot.start < end]
    while pending:
        for cursor in front_end.children(pending.pop()):
            start, end = front_end.extent(cursor)
            if start < spot.end and spot.start < end:
                if front_end.may_move_a_pointer(cursor):
                    return True
                pending.append(cursor)
    return False
