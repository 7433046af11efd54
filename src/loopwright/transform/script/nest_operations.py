"""Operations of scripts: values whose fields are the arguments, in source order.

This module has the four operators and the operations on the loops of one nest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache
from typing import Annotated, Any, ClassVar, Self, TypeAlias, get_args, get_origin, get_type_hints

from loopwright.lazy_dataclass import dataclass
from loopwright.transform.script.arguments import (
    ArgumentKind,
    CountArgument,
    FlagArgument,
    HandleArgument,
    IntegerArgument,
    LoopArgument,
    LoopListArgument,
    LoopsArgument,
    MapArgument,
    Misuse,
    NumberedLoopArgument,
    SetArgument,
    SizeArgument,
)
from loopwright.transform.script.loop_numbers import LoopNumbersArgument, LoopSizesArgument, TileSizesArgument


@dataclass(frozen=True)
class ArgumentField:
    """A field of an operation: its name, the kind of its values, and its default value if it has one."""

    name: str
    kind: ArgumentKind[Any]
    default: object

    @property
    def is_optional(self) -> bool:
        return self.default is not MISSING

    def check(self, value: object) -> None:
        """Raise `Misuse` for values that no script can contain."""
        if value is not self.default:
            self.kind.check(value, self.name)


class BaseOperation:
    """Base class of operations: a name in scripts, example calls, and the handles they bind."""

    name: ClassVar[str]
    usage: ClassVar[str]
    gives: ClassVar[int] = 0

    @classmethod
    @cache
    def parameters(cls) -> tuple[ArgumentField, ...]:
        """The fields with the kinds they are annotated with."""
        hints = get_type_hints(cls, include_extras=True)
        assert is_dataclass(cls)
        return tuple(ArgumentField(one.name, _kind(hints[one.name]), one.default) for one in fields(cls))

    def __post_init__(self) -> None:
        for parameter in self.parameters():
            try:
                parameter.check(getattr(self, parameter.name))
            except Misuse as error:
                message = f"{error.message} (argument {parameter.name} of {self.name})"
                told, item = error.argument, error.item
                raise Misuse(error.code, message, argument=told, item=item, hint=error.hint) from None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(word for _, word in self.words())})"

    def words(self) -> Iterator[tuple[str, str]]:
        """The arguments as printed, each with its field, without default values."""
        for parameter in self.parameters():
            value = getattr(self, parameter.name)
            if value != parameter.default:
                yield from ((parameter.name, word) for word in parameter.kind.words(value, parameter.name))

    @property
    def handles(self) -> tuple[str, ...]:
        """The loop components it names."""
        return tuple(
            handle
            for parameter in self.parameters()
            for handle in parameter.kind.handles(getattr(self, parameter.name))
        )

    def with_handles(self, names: Mapping[str, str]) -> Self:
        """The operation with other names for the loop components it names."""
        changed: dict[str, object] = {}
        for parameter in self.parameters():
            value = getattr(self, parameter.name)
            if parameter.kind.handles(value):
                is_one = isinstance(value, str)
                others = tuple(names.get(one, one) for one in ((value,) if is_one else value))
                changed[parameter.name] = others[0] if is_one else others
        assert is_dataclass(self)
        return replace(self, **changed)


def _kind(hint: object) -> ArgumentKind[Any]:
    """The kind in `Annotated[int, NumberKind()]`, also with `| None`."""
    annotated = hint if get_origin(hint) is Annotated else get_args(hint)[0]
    kind = get_args(annotated)[1]
    assert isinstance(kind, ArgumentKind)
    return kind


@dataclass(frozen=True)
class Realign(BaseOperation):
    """Adjacent components share `common` loops afterwards."""

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
    """Swap two loops."""

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
    """Unroll a loop completely, or by `factor`."""

    name = "unroll"
    usage = "unroll(L, i) or unroll(L, i, 4)"
    target: HandleArgument
    loop: NumberedLoopArgument
    factor: SizeArgument | None = None


@dataclass(frozen=True)
class UnrollAndJam(BaseOperation):
    """Unroll outer loops inside the innermost one."""

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
