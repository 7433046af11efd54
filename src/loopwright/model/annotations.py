"""Annotations of loops.

A schedule annotates one of its dimensions (`schedule.Annotated`), the generator copies the annotation to the
loops that scan the dimension (`loops.nodes.For`), and later passes read it there.  A reader selects the
annotations it knows by their type and ignores the rest; so a new target adds classes here, and no `match`
over programs changes.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Annotation:
    """The base class of annotations."""


@dataclass(frozen=True, slots=True)
class ReductionClause:
    """Each thread combines its own values by `operator`; the results are combined at the end.

    `items` are variables and array sections, such as `s` and `A[:n]`.
    """

    operator: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clauses:
    """The data-sharing clauses of a loop (OpenMP 5.0, section 2.19); all other storage is shared.

    Each thread has its own copy of `private` and `lastprivate` variables; of the latter, the value of the
    last iteration is kept.  The `collapse` outermost loops of a perfect nest are distributed as one.  If they
    are `dealt`, consecutive iterations go to different threads, one at a time.
    """

    collapse: int = 1
    private: tuple[str, ...] = ()
    lastprivate: tuple[str, ...] = ()
    reductions: tuple[ReductionClause, ...] = ()
    dealt: bool = False


@dataclass(frozen=True, slots=True)
class Independent(Annotation):
    """The iterations may run in any order.

    If a back end distributes them among threads or the lanes of a vector, `clauses` says how; if it is None,
    the loop executes as written.
    """

    clauses: Clauses | None = None


@dataclass(frozen=True, slots=True)
class Parallel(Independent):
    """Iterations may run concurrently, with any interleaving of their statements."""


@dataclass(frozen=True, slots=True)
class Vector(Independent):
    """Iterations may run concurrently, in lockstep."""


@dataclass(frozen=True, slots=True)
class BlockLoop(Independent):
    """Iterations are distributed among the blocks of a GPU's grid along an axis: x, y or z."""

    axis: str = "x"


@dataclass(frozen=True, slots=True)
class ThreadLoop(Independent):
    """Iterations are distributed among the `count` threads that a block has along an axis."""

    axis: str = "x"
    count: int = 1


AXES = ("x", "y", "z")
"""Of blocks in a grid and of threads in a block, innermost loop first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuDevice:
    """The limits of a GPU that mappings of loops, kernels and their proofs depend on."""

    lanes: int
    """Threads of a warp, which run together."""
    most_threads: int
    """Of a block."""
    most_along: Mapping[str, int]
    """Threads of a block along each axis."""
    most_shared: int
    """Bytes of arrays that a kernel may declare as shared."""
    most_room: int
    """Bytes of all that the threads of a block share, with what a launch asks for."""
    row: int
    """Rows of arrays on the device begin at multiples of so many elements."""
    parts: int
    """Of a multiprocessor; each has warps of its own, and `registers`."""
    registers: int


GPU = GpuDevice(
    lanes=32,
    most_threads=1024,
    most_along={"x": 1024, "y": 1024, "z": 64},
    most_shared=49152,
    most_room=232448,
    row=32,
    parts=4,
    registers=16384,
)
"""Shared memory as since compute capability 9.0, all else as since 2.0."""


@dataclass(frozen=True, slots=True)
class Unrolled(Annotation):
    """An iteration does the work of `factor` iterations of the directly inner loops, which are unrolled."""

    factor: int


@dataclass(frozen=True, slots=True)
class IndependentLoops:
    """The loops that scan band dimension `dimension`, where dimensions 0, 2, ... are `positions`: they are
    required to be independent in this way, which is proved from the dependences.
    """

    kind: type[Independent]
    dimension: int
    positions: tuple[int, ...]
