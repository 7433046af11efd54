"""Every operation of a script: a value whose fields are its arguments, in the order of the text.

What an operation means is on its page in docs/operations, what it does to a plan in
`transform.perform`.  `str(operation)` is its text in a script.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypeAlias, get_args

from loopwright.transform.script.arguments import (
    CountArgument,
    FlagArgument,
    HandleArgument,
    HandlesKind,
    IntegerArgument,
    LoopArgument,
    LoopListArgument,
    LoopsArgument,
    MapArgument,
    NumberedLoopArgument,
    SetArgument,
    SizeArgument,
    VariableArgument,
)
from loopwright.transform.script.loop_numbers import LoopNumbersArgument, LoopSizesArgument, TileSizesArgument
from loopwright.transform.script.operation import BaseOperation


@dataclass(frozen=True)
class Realign(BaseOperation):
    """`common` is how many loops two neighbours share afterwards."""

    name = "realign"
    usage = "realign(L1, L2, n)"
    first: HandleArgument
    second: HandleArgument
    common: CountArgument


@dataclass(frozen=True)
class Lift(BaseOperation):
    """A handle on the `loop`-th loop around a component, 1 the outermost."""

    name = "lift"
    usage = "L = lift(L1, n)"
    gives = 1
    target: HandleArgument
    loop: CountArgument


@dataclass(frozen=True)
class Affine(BaseOperation):
    """New iterators, as functions of the old ones."""

    name = "affine"
    usage = "affine(L, {[i, j] -> [j, i]})"
    target: HandleArgument
    function: MapArgument


@dataclass(frozen=True)
class Isplit(BaseOperation):
    """The iterations where a condition holds, and after them the others."""

    name = "isplit"
    usage = "(A, B) = isplit(L, {[i, j] : j < n}, 1)"
    gives = 2
    target: HandleArgument
    condition: SetArgument
    common: CountArgument


@dataclass(frozen=True)
class Interchange(BaseOperation):
    """Two loops take each other's places."""

    name = "interchange"
    usage = "interchange(L, i, j) or interchange(L, [k, i, j])"
    target: HandleArgument
    first: LoopArgument
    second: LoopArgument


@dataclass(frozen=True)
class Permute(BaseOperation):
    """A new order of loops, from the outside in; scripts call it `interchange`, with a list."""

    name = "interchange"
    usage = "interchange(L, i, j) or interchange(L, [k, i, j])"
    target: HandleArgument
    order: LoopListArgument


@dataclass(frozen=True)
class Skew(BaseOperation):
    """`factor` times the iterator of `along` is added to that of `loop`."""

    name = "skew"
    usage = "skew(L, i, t) or skew(L, i, t, 2)"
    target: HandleArgument
    loop: LoopArgument
    along: NumberedLoopArgument
    factor: IntegerArgument = 1


@dataclass(frozen=True)
class Shift(BaseOperation):
    """A number is added to iterators."""

    name = "shift"
    usage = "shift(L, i, 1) or shift(L, i=1, j=2)"
    target: HandleArgument
    amounts: LoopNumbersArgument


@dataclass(frozen=True)
class Reverse(BaseOperation):
    """The iterations of loops from the last to the first."""

    name = "reverse"
    usage = "reverse(L, i)"
    target: HandleArgument
    loops: LoopsArgument


@dataclass(frozen=True)
class StripMine(BaseOperation):
    """A loop of `size` iterations inside a loop over these strips."""

    name = "strip_mine"
    usage = "strip_mine(L, i, 32)"
    target: HandleArgument
    loop: NumberedLoopArgument
    size: SizeArgument


@dataclass(frozen=True)
class Tile(BaseOperation):
    """Loops over tiles around the nest; sizes without loops are for the innermost ones."""

    name = "tile"
    usage = "tile(L, 32, 32), tile(L, i=32, j=32) or tile(L, 32, 32, 32, skew)"
    target: HandleArgument
    sizes: TileSizesArgument
    skew: FlagArgument = False
    full: FlagArgument = False


@dataclass(frozen=True)
class Hexagon(BaseOperation):
    """Hexagonal tiles of a time loop and the loop inside it, classical tiles of the others: two phases."""

    name = "hexagon"
    usage = "(A, B) = hexagon(L, t=4, i=16, j=32)"
    gives = 2
    target: HandleArgument
    sizes: LoopSizesArgument


@dataclass(frozen=True)
class Unroll(BaseOperation):
    """A loop written out, or `factor` iterations of it at a time."""

    name = "unroll"
    usage = "unroll(L, i) or unroll(L, i, 4)"
    target: HandleArgument
    loop: NumberedLoopArgument
    factor: SizeArgument | None = None


@dataclass(frozen=True)
class UnrollAndJam(BaseOperation):
    """Iterations of outer loops written out inside the innermost one."""

    name = "unroll_and_jam"
    usage = "unroll_and_jam(L, i=4, j=4) or unroll_and_jam(L, i, 4)"
    target: HandleArgument
    factors: LoopSizesArgument


@dataclass(frozen=True)
class FromZero(BaseOperation):
    """Loops that count 0, 1, 2, ...; without a target, all of them."""

    name = "from_zero"
    usage = "from_zero() or from_zero(L)"
    target: HandleArgument | None = None


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
class Parallel(BaseOperation):
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
    """An array loses its first `count` subscripts, or all of them: iterations share its cells."""

    name = "contract"
    usage = "contract(x) or contract(x, 1)"
    variable: VariableArgument
    count: SizeArgument | None = None


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
    usage = "P = pack(A, L), P = pack(A, L, kT), and after the loop transposed, written, reused"
    gives = 1
    variable: VariableArgument
    target: HandleArgument
    loop: LoopArgument | None = None
    transposed: FlagArgument = False
    written: FlagArgument = False
    reused: FlagArgument = False


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
class Pad(BaseOperation):
    """The rows of an array get `amount` elements more, which nothing uses."""

    name = "pad"
    usage = "pad(x, 4)"
    variable: VariableArgument
    amount: SizeArgument


Operator: TypeAlias = Realign | Lift | Affine | Isplit
"""The four operators of [Namjoshi2016, section 3.1]."""

NestOperation: TypeAlias = (
    Interchange | Permute | Skew | Shift | Reverse | StripMine | Tile | Unroll | UnrollAndJam | FromZero
)
"""The loops of one nest in another order, or counted another way."""

StatementOperation: TypeAlias = Fuse | Distribute | DistributeLegally | Reorder | Sink | Hexagon
"""Which statements share loops, and in what order they stand."""

DirectiveOperation: TypeAlias = Parallel | Vectorize | Separate | Isolate
"""What the generated loops should be, the order unchanged."""

StorageOperation: TypeAlias = Expand | Contract | Rename | Pack | Pad | Overlap
"""Where values are kept, the order unchanged."""

MappingOperation: TypeAlias = MapBlocks | MapThreads
"""Which loops become the blocks of a GPU's grid and the threads of a block."""

Operation: TypeAlias = (
    Operator
    | NestOperation
    | StatementOperation
    | DirectiveOperation
    | StorageOperation
    | MappingOperation
)

CLASSES: tuple[type[Operation], ...] = get_args(Operation)
