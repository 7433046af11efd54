"""Every operation of a script: a value whose fields are its arguments, in the order of the text.

What an operation means is on its page in docs/operations, what it does to a plan in
`transform.perform`.  `str(operation)` is its text in a script.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias, get_args

from loopwright.lazy_dataclass import dataclass
from loopwright.transform.script.arguments import (
    CountArgument,
    FlagArgument,
    HandleArgument,
    HandlesKind,
    IntegerArgument,
    LoopArgument,
    LoopListArgument,
    LoopsArgument,
    SizeArgument,
    VariableArgument,
)
from loopwright.transform.script.loop_numbers import LoopSizesArgument
from loopwright.transform.script.nest_operations import (
    Affine,
    BaseOperation,
    FromZero,
    Interchange,
    Isplit,
    Lift,
    NestOperation,
    Operator,
    Permute,
    Realign,
    Reverse,
    Shift,
    Skew,
    StripMine,
    Tile,
    Unroll,
    UnrollAndJam,
)

__all__ = [
    "CLASSES", "DISTRIBUTE", "Affine", "Contract", "DirectiveOperation", "Distribute",
    "DistributeLegally", "Expand", "FromZero", "Fuse", "Hexagon", "Interchange", "Isolate", "Isplit",
    "Lift", "MapBlocks", "MapThreads", "MappingOperation", "NestOperation", "Operation", "Operator",
    "Overlap", "Pack", "Pad", "Parallelize", "Permute", "Realign", "Rename", "Reorder", "Reverse",
    "Separate", "Shift", "Sink", "Skew", "SplitSum", "StatementOperation", "StorageOperation", "StripMine",
    "Tile", "Unroll", "UnrollAndJam", "Vectorize", "Widen",
]


@dataclass(frozen=True)
class Fuse(BaseOperation):
    """Neighbours in the same loops, `common` of them or as many as there are."""

    name = "fuse"
    usage = "L = fuse(A, B) or L = fuse(A, B, n)"
    gives = 1
    targets: Annotated[tuple[str, ...], HandlesKind(fewest=2)]
    common: CountArgument | None = None


DISTRIBUTE = "distribute(), distribute(L, legal), distribute(L), distribute(A, B) or distribute(A, B, n)"


@dataclass(frozen=True)
class Distribute(BaseOperation):
    """Loops of their own but for `common` shared ones; one component alone is split into its statements."""

    name = "distribute"
    usage = DISTRIBUTE
    gives = 1
    targets: Annotated[tuple[str, ...], HandlesKind(reserved=("legal",))]
    common: CountArgument = 0


@dataclass(frozen=True)
class DistributeLegally(BaseOperation):
    """The statements of a component apart as far as that is legal; without a target, all statements."""

    name = "distribute"
    usage = DISTRIBUTE
    gives = 1
    target: HandleArgument | None = None

    def words(self) -> Iterator[tuple[str, str]]:
        if self.target is not None:
            yield from (("target", self.target), ("target", "legal"))


@dataclass(frozen=True)
class Reorder(BaseOperation):
    """Two neighbours change places."""

    name = "reorder"
    usage = "reorder(A, B)"
    first: HandleArgument
    second: HandleArgument


@dataclass(frozen=True)
class Sink(BaseOperation):
    """Statements move into the loops of a neighbouring nest that they lack, at iteration `value`."""

    name = "sink"
    usage = "L = sink(A, B, 0)"
    gives = 1
    target: HandleArgument
    nest: HandleArgument
    value: IntegerArgument


@dataclass(frozen=True)
class Hexagon(BaseOperation):
    """Hexagonal tiles of a time loop and the loop inside it, classical tiles of the others: two phases."""

    name = "hexagon"
    usage = "(A, B) = hexagon(L, t=4, i=16, j=32) or (A, B) = hexagon(L, t=4, i=16, j=32, staged)"
    gives = 2
    target: HandleArgument
    sizes: LoopSizesArgument
    staged: FlagArgument = False


@dataclass(frozen=True)
class Parallelize(BaseOperation):
    """The iterations of loops may run at the same time."""

    name = "parallel"
    usage = "parallel(L, i)"
    target: HandleArgument
    loops: LoopsArgument


@dataclass(frozen=True)
class Vectorize(BaseOperation):
    """The iterations of loops may run at the same time, in the lanes of a vector."""

    name = "vectorize"
    usage = "vectorize(L, i)"
    target: HandleArgument
    loops: LoopsArgument


@dataclass(frozen=True)
class Separate(BaseOperation):
    """Loops are cut where the bounds of their statements differ, so that they need no guards."""

    name = "separate"
    usage = "separate(L, i)"
    target: HandleArgument
    loops: LoopsArgument


@dataclass(frozen=True)
class Isolate(BaseOperation):
    """The iterations of the loops down to `loop` in which all `points` run over full tiles, apart."""

    name = "isolate"
    usage = "isolate(L, jT, [i, j])"
    target: HandleArgument
    loop: LoopArgument
    points: LoopListArgument


@dataclass(frozen=True)
class MapBlocks(BaseOperation):
    """The iterations of up to three loops become the blocks of a GPU's grid, the innermost along x."""

    name = "block"
    usage = "block(L, iT, jT)"
    target: HandleArgument
    loops: LoopsArgument


@dataclass(frozen=True)
class MapThreads(BaseOperation):
    """The iterations of up to three loops are distributed among the threads of a block."""

    name = "thread"
    usage = "thread(L, i=8, j=32)"
    target: HandleArgument
    counts: LoopSizesArgument


@dataclass(frozen=True)
class Expand(BaseOperation):
    """A variable gets a cell for each iteration of loops, an array one of each of its cells."""

    name = "expand"
    usage = "expand(x, i) or expand(x, i, j)"
    variable: VariableArgument
    loops: LoopsArgument


@dataclass(frozen=True)
class Contract(BaseOperation):
    """An array loses its first `count` subscripts, or all of them: iterations share its cells.

    With `ring` it has all of its subscripts, but only `count` rows, which take turns.
    """

    name = "contract"
    usage = "contract(x), contract(x, 1) or contract(x, 8, ring)"
    variable: VariableArgument
    count: SizeArgument | None = None
    ring: FlagArgument = False


@dataclass(frozen=True)
class Rename(BaseOperation):
    """A component uses a variable of its own instead of one that it shares with others."""

    name = "rename"
    usage = "rename(x, L)"
    variable: VariableArgument
    target: HandleArgument


@dataclass(frozen=True)
class Pack(BaseOperation):
    """What a component reads of an array is copied, in each iteration of `loop` or before all loops."""

    name = "pack"
    usage = (
        "P = pack(A, L), P = pack(A, L, kT), "
        "and after the loop transposed, written, reused, scaled, shared, registers"
    )
    gives = 1
    variable: VariableArgument
    target: HandleArgument
    loop: LoopArgument | None = None
    transposed: FlagArgument = False
    written: FlagArgument = False
    reused: FlagArgument = False
    scaled: FlagArgument = False
    shared: FlagArgument = False
    registers: FlagArgument = False


@dataclass(frozen=True)
class Overlap(BaseOperation):
    """Tiles of several steps of a stencil, each with buffers of its own and the cells it needs around it."""

    name = "overlap"
    usage = "(T, C) = overlap(L, t=4, i=32, j=64) or (T, C) = overlap(L, t=4, i=32, j=64, whole)"
    gives = 2
    target: HandleArgument
    sizes: LoopSizesArgument
    whole: FlagArgument = False


@dataclass(frozen=True)
class Stream(BaseOperation):
    """Tiles of several steps of a stencil, in the registers of a warp that marches along a loop."""

    name = "stream"
    usage = (
        "(T, M, Z) = stream(L, t=4, i=48, j=4), (T, M, Z) = stream(L, t=4, i=48, j=4, prefetch), "
        "(T, M, Z) = stream(L, t=4, i=48, j=4, fetch=1) or "
        "(T, M, Z) = stream(L, t=2, i=128, j=6, k=2, warps=12, trimmed)"
    )
    gives = 3
    target: HandleArgument
    sizes: LoopSizesArgument
    prefetch: FlagArgument = False
    trimmed: FlagArgument = False


@dataclass(frozen=True)
class Pad(BaseOperation):
    """The rows of an array get `amount` elements more, which nothing uses."""

    name = "pad"
    usage = "pad(x, 4)"
    variable: VariableArgument
    amount: SizeArgument


@dataclass(frozen=True)
class SplitSum(BaseOperation):
    """A statement that adds a sum of two parts becomes two, which add one part each."""

    name = "split_sum"
    usage = "(A, B) = split_sum(S)"
    gives = 2
    target: HandleArgument


@dataclass(frozen=True)
class Widen(BaseOperation):
    """The compiler is told to use vectors as wide as the registers are, where it would use half of them."""

    name = "widen"
    usage = "widen()"


StatementOperation: TypeAlias = Fuse | Distribute | DistributeLegally | Reorder | Sink | Hexagon
"""Which statements share loops, and in what order they stand."""

DirectiveOperation: TypeAlias = Parallelize | Vectorize | Separate | Isolate
"""What the generated loops should be, the order unchanged."""

StorageOperation: TypeAlias = Expand | Contract | Rename | Pack | Pad | Overlap | Stream | SplitSum
"""Where values are kept, the order unchanged."""

MappingOperation: TypeAlias = MapBlocks | MapThreads
"""Which loops become the blocks of a GPU's grid and the threads of a block."""

CompilerOperation: TypeAlias = Widen
"""What the compiler is told about the whole file, the program unchanged."""

Operation: TypeAlias = (
    Operator
    | NestOperation
    | StatementOperation
    | DirectiveOperation
    | StorageOperation
    | MappingOperation
    | CompilerOperation
)

CLASSES: tuple[type[Operation], ...] = get_args(Operation)
