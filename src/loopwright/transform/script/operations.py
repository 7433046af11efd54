"""All operations of scripts: values whose fields are the arguments, in source order.

docs/operations has a page on each operation, and `transform.perform` applies it to a plan.  `str(operation)`
is its text in a script.
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
    "Overlap", "Pack", "Pad", "Parallelize", "Permute", "Pretest", "Realign", "Rename", "Reorder", "Reverse",
    "Separate", "Shift", "Sink", "Skew", "SplitSum", "StatementOperation", "StorageOperation", "StripMine",
    "Tile", "Unroll", "UnrollAndJam", "Vectorize", "Widen",
]


@dataclass(frozen=True)
class Fuse(BaseOperation):
    """Fuse adjacent components in `common` loops, or as many as there are."""

    name = "fuse"
    usage = "L = fuse(A, B) or L = fuse(A, B, n)"
    gives = 1
    targets: Annotated[tuple[str, ...], HandlesKind(fewest=2)]
    common: CountArgument | None = None


DISTRIBUTE = "distribute(), distribute(L, legal), distribute(L), distribute(A, B) or distribute(A, B, n)"


@dataclass(frozen=True)
class Distribute(BaseOperation):
    """Separate components except for `common` shared loops; one component is split into its statements."""

    name = "distribute"
    usage = DISTRIBUTE
    gives = 1
    targets: Annotated[tuple[str, ...], HandlesKind(reserved=("legal",))]
    common: CountArgument = 0


@dataclass(frozen=True)
class DistributeLegally(BaseOperation):
    """Distribute the statements of a component as far as legal; without a target, all statements."""

    name = "distribute"
    usage = DISTRIBUTE
    gives = 1
    target: HandleArgument | None = None

    def words(self) -> Iterator[tuple[str, str]]:
        if self.target is not None:
            yield from (("target", self.target), ("target", "legal"))


@dataclass(frozen=True)
class Reorder(BaseOperation):
    """Swap two adjacent components."""

    name = "reorder"
    usage = "reorder(A, B)"
    first: HandleArgument
    second: HandleArgument


@dataclass(frozen=True)
class Sink(BaseOperation):
    """Move statements into the loops of an adjacent nest that they lack, at iteration `value`."""

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
    """Run the iterations of loops in parallel."""

    name = "parallel"
    usage = "parallel(L, i)"
    target: HandleArgument
    loops: LoopsArgument


@dataclass(frozen=True)
class Vectorize(BaseOperation):
    """Run the iterations of loops in the lanes of a vector."""

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
    """Generate the iterations in which all `points` run over full tiles separately, down to `loop`."""

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
    """Copy the cells that a component reads of an array, in each iteration of `loop` or before all loops."""

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
    """Tiles of several steps of a stencil, each with its own buffers and a halo."""

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
    """Lengthen the rows of an array by `amount` unused elements."""

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
class Pretest(BaseOperation):
    """Test the conditions of all instances in an iteration of `loop`, and run these only if one holds."""

    name = "pretest"
    usage = "T = pretest(S, iT)"
    gives = 1
    target: HandleArgument
    loop: LoopArgument


@dataclass(frozen=True)
class Widen(BaseOperation):
    """Ask the compiler for vectors as wide as the registers, where it would use half of them."""

    name = "widen"
    usage = "widen()"


StatementOperation: TypeAlias = Fuse | Distribute | DistributeLegally | Reorder | Sink | Hexagon
"""Operations that change which statements share loops, and their order."""

DirectiveOperation: TypeAlias = Parallelize | Vectorize | Separate | Isolate
"""Operations that change the generated loops, not the order."""

StorageOperation: TypeAlias = Expand | Contract | Rename | Pack | Pad | Overlap | Stream | SplitSum | Pretest
"""Operations that change where values are stored, not the order."""

MappingOperation: TypeAlias = MapBlocks | MapThreads
"""Operations that map loops to the blocks of a GPU's grid and the threads of a block."""

CompilerOperation: TypeAlias = Widen
"""Operations that set compiler options for the whole file, and do not change the program."""

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
