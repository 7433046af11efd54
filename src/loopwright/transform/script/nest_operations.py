"""The four operators and the operations on the loops of one nest: values whose fields are their arguments."""

from __future__ import annotations

from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass
from loopwright.transform.script.arguments import (
    CountArgument,
    FlagArgument,
    HandleArgument,
    IntegerArgument,
    LoopArgument,
    LoopListArgument,
    LoopsArgument,
    MapArgument,
    NumberedLoopArgument,
    SetArgument,
    SizeArgument,
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


Operator: TypeAlias = Realign | Lift | Affine | Isplit
"""The four operators of [Namjoshi2016, section 3.1]."""

NestOperation: TypeAlias = (
    Interchange | Permute | Skew | Shift | Reverse | StripMine | Tile | Unroll | UnrollAndJam | FromZero
)
"""The loops of one nest in another order, or counted another way."""
