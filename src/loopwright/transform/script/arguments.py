"""The kinds of arguments of operations: how each is parsed, checked and printed.

The fields of an operation are annotated with them, so an operation is just a dataclass: `loops:
LoopsArgument` is read from `i, j` or `[i, j]`, must be names, and is printed as `i, j`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Generic, TypeAlias, TypeVar

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span
from loopwright.transform.script.formulas import AffineMap, AffineSet
from loopwright.transform.script.syntax import (
    LONGEST,
    ScriptArgument,
    ScriptBraces,
    ScriptLine,
    ScriptList,
    ScriptNumber,
    ScriptValue,
    ScriptWord,
)

NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
HANDLE = re.compile(rf"{NAME.pattern}|@[0-9]+")

Value = TypeVar("Value")
"""The type of an argument in Python."""


class Misuse(BadInput):
    """An error for an operation that does not apply.

    `argument` is the faulty field of the operation; `item` is the index of the value, if it has several.
    """

    def __init__(
        self, code: Code, message: str, *, argument: str | None = None, item: int = 0, hint: str | None = None
    ) -> None:
        super().__init__(code, message, hint=hint)
        self.argument = argument
        self.item = item


@dataclass
class Reader:
    """Reads the arguments of a line in turn, and records their places."""

    line: ScriptLine
    usage: str
    rest: list[ScriptArgument]
    flags: frozenset[str] = frozenset()
    """The flags at the end of the line."""
    places: dict[tuple[str, int], Span] = field(default_factory=dict)

    def wrong(self, place: Span, wanted: str, hint: str | None = None) -> BadInput:
        """The error that the argument at `place` is not as expected."""
        text = " ".join(place.text.split())
        return self.error(place, f"'{text}' where {wanted} should be", hint or f"write it as {self.usage}")

    def error(self, place: Span, message: str, hint: str | None = None) -> BadInput:
        return BadInput(Code.ARGUMENTS, message, span=place, hint=hint)

    def take(self) -> ScriptValue:
        """The next argument, which must not have a keyword."""
        argument = self.rest.pop(0)
        if argument.keyword is not None:
            raise self.error(argument.place, f"'{argument.keyword.text} =' has no meaning here")
        return argument.value

    def remember(self, name: str, *places: Span) -> None:
        """Record the places of the values of a field."""
        for item, place in enumerate(places):
            self.places[name, item] = place


class ArgumentKind(ABC, Generic[Value]):
    """Base class of argument kinds; `least` and `most` bound the number of arguments of a line."""

    least: int = 1
    most: int | None = 1

    @abstractmethod
    def read(self, reader: Reader, name: str) -> Value:
        """The value of the field `name`, from the next arguments of the line."""

    @abstractmethod
    def check(self, value: object, name: str) -> None:
        """Raise `Misuse` of the field `name` for values that no script can contain."""

    @abstractmethod
    def words(self, value: Value, name: str) -> list[str]:
        """The arguments as they are written."""

    def handles(self, value: Value) -> tuple[str, ...]:
        """The loop components it names."""
        return ()


@dataclass(frozen=True)
class HandleKind(ArgumentKind[str]):
    """A loop component: a label, a statement, a line `@12`, or a name given by `=`."""

    def read(self, reader: Reader, name: str) -> str:
        word = _handle(reader, reader.take())
        reader.remember(name, word.place)
        return word.text

    def check(self, value: object, name: str) -> None:
        check_name(value, name, 0, HANDLE, Code.NO_COMPONENT, "loop component")

    def words(self, value: str, name: str) -> list[str]:
        return [value]

    def handles(self, value: str | None) -> tuple[str, ...]:
        return () if value is None else (value,)


def _handle(reader: Reader, value: ScriptValue) -> ScriptWord:
    if isinstance(value, ScriptWord):
        return value
    line = f"; a line of the C file is written @{value.value}" if isinstance(value, ScriptNumber) else ""
    raise reader.wrong(value.place, "a handle", f"a label, or a name given by '='{line}")


_LONGEST_SHOWN = 60


def check_name(
    value: object, argument: str, item: int, pattern: re.Pattern[str], code: Code, what: str
) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        hint = None if isinstance(value, str) else f"names are given as text, such as '{_EXAMPLES[code]}'"
        raise Misuse(code, f"no {what} is called {_shown(value)}", argument=argument, item=item, hint=hint)


_EXAMPLES = {Code.NO_COMPONENT: "S1", Code.NO_ITERATOR: "i", Code.NO_VARIABLE: "sum"}


def _shown(value: object) -> str:
    """A value of any kind, as printed in messages."""
    if isinstance(value, int) and abs(value) >= 10**LONGEST:
        return "by so long a number"
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


@dataclass(frozen=True)
class HandlesKind(ArgumentKind[tuple[str, ...]]):
    """Several components, `A, B` or `[A, B]`; a number may follow them."""

    fewest: int = 1
    reserved: tuple[str, ...] = ()
    """Keywords allowed as the last argument."""
    most = None

    def read(self, reader: Reader, name: str) -> tuple[str, ...]:
        words: list[ScriptWord] = []
        while reader.rest and not (len(reader.rest) == 1 and isinstance(reader.rest[0].value, ScriptNumber)):
            words += [_handle(reader, one) for one in items(reader.take())]
        reader.remember(name, *(word.place for word in words))
        return tuple(word.text for word in words)

    def check(self, value: object, name: str) -> None:
        given = checked_tuple(value, name)
        for item, one in enumerate(given):
            check_name(one, name, item, HANDLE, Code.NO_COMPONENT, "loop component")
        if len(given) < self.fewest:
            message = f"at least {self.fewest} loop components are needed, not {len(given)}"
            raise Misuse(Code.ARGUMENTS, message, argument=name)

    def words(self, value: tuple[str, ...], name: str) -> list[str]:
        return [f"[{', '.join(value)}]"] if value[-1] in self.reserved else list(value)

    def handles(self, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value)


def items(value: ScriptValue) -> Sequence[ScriptValue]:
    """The values of a list; a single value counts as a list."""
    return value.values if isinstance(value, ScriptList) else (value,)


def checked_tuple(value: object, name: str) -> tuple[object, ...]:
    if not isinstance(value, tuple):
        raise Misuse(Code.ARGUMENTS, f"{value!r} must be a tuple", argument=name)
    return value


@dataclass(frozen=True)
class LoopKind(ArgumentKind[str]):
    """A loop, by its iterator."""

    numbered: bool = False
    """Whether its number is the next argument: `i=32` gives both."""

    def read(self, reader: Reader, name: str) -> str:
        argument = reader.rest[0]
        if self.numbered and argument.keyword is not None:
            reader.rest[0] = ScriptArgument(argument.value.place, None, argument.value)
            reader.remember(name, argument.keyword.place)
            return argument.keyword.text
        value = reader.take()
        found = [_iterator(reader, one) for one in items(value)]
        if len(found) != 1:
            raise reader.error(value.place, "one loop at a time", f"write it as {reader.usage}")
        reader.remember(name, found[0].place)
        return found[0].text

    def check(self, value: object, name: str) -> None:
        check_name(value, name, 0, NAME, Code.NO_ITERATOR, "iterator")

    def words(self, value: str, name: str) -> list[str]:
        return [value]


def _iterator(reader: Reader, value: ScriptValue) -> ScriptWord:
    if not isinstance(value, ScriptWord) or value.text.startswith("@"):
        raise reader.wrong(value.place, "an iterator")
    return value


@dataclass(frozen=True)
class VariableKind(ArgumentKind[str]):
    """A variable or an array of the program, by its name."""

    def read(self, reader: Reader, name: str) -> str:
        value = reader.take()
        if not isinstance(value, ScriptWord) or value.text.startswith("@"):
            raise reader.wrong(value.place, "the name of a variable")
        reader.remember(name, value.place)
        return value.text

    def check(self, value: object, name: str) -> None:
        check_name(value, name, 0, NAME, Code.NO_VARIABLE, "variable")

    def words(self, value: str, name: str) -> list[str]:
        return [value]


@dataclass(frozen=True)
class LoopsKind(ArgumentKind[tuple[str, ...]]):
    """Several loops, `i, j` or `[i, j]`."""

    brackets: bool = False
    """Whether they are written as a list."""
    most = None

    def read(self, reader: Reader, name: str) -> tuple[str, ...]:
        words: list[ScriptWord] = []
        while reader.rest:
            value = reader.take()
            if isinstance(value, ScriptList) and not value.values:
                raise reader.wrong(value.place, "a list of iterators")
            words += [_iterator(reader, one) for one in items(value)]
        reader.remember(name, *(word.place for word in words))
        return tuple(word.text for word in words)

    def check(self, value: object, name: str) -> None:
        for item, one in enumerate(checked_tuple(value, name)):
            check_name(one, name, item, NAME, Code.NO_ITERATOR, "iterator")
        if not value:
            raise Misuse(Code.ARGUMENTS, "no loop is named", argument=name)

    def words(self, value: tuple[str, ...], name: str) -> list[str]:
        return [f"[{', '.join(value)}]"] if self.brackets else list(value)


@dataclass(frozen=True)
class NumberKind(ArgumentKind[int]):
    """An integer."""

    minimum: int | None = None

    def read(self, reader: Reader, name: str) -> int:
        found = items(reader.take())
        if len(found) != 1 or not isinstance(found[0], ScriptNumber):
            raise reader.wrong(found[0].place if found else reader.line.place, "a number")
        reader.remember(name, found[0].place)
        return found[0].value

    def check(self, value: object, name: str) -> None:
        check_number(value, self.minimum, name)

    def words(self, value: int, name: str) -> list[str]:
        return [str(value)]


def check_number(value: object, minimum: int | None, argument: str, item: int = 0) -> None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number and isinstance(value, int) and abs(value) >= 10**LONGEST:
        message = f"the number must have at most {LONGEST} digits"
        raise Misuse(Code.ARGUMENTS, message, argument=argument, item=item)
    if not isinstance(value, int) or not is_number or (minimum is not None and value < minimum):
        raise Misuse(Code.ARGUMENTS, must_be(value, minimum), argument=argument, item=item)


def must_be(value: object, minimum: int | None) -> str:
    least = "" if minimum is None else f" >= {minimum}"
    return f"the number must be an integer{least}, not {value!r}"


@dataclass(frozen=True)
class FlagKind(ArgumentKind[bool]):
    """The name of the field among the last arguments, or nothing."""

    least = 0

    def read(self, reader: Reader, name: str) -> bool:
        return name in reader.flags

    def check(self, value: object, name: str) -> None:
        if not isinstance(value, bool):
            raise Misuse(Code.ARGUMENTS, f"{value!r} must be True or False", argument=name)

    def words(self, value: object, name: str) -> list[str]:
        return [name] if value else []


@dataclass(frozen=True)
class BracesKind(ArgumentKind[AffineMap | AffineSet]):
    """A map between iteration vectors, or a set of them."""

    type: type[AffineMap] | type[AffineSet]
    what: str
    example: str

    def read(self, reader: Reader, name: str) -> AffineMap | AffineSet:
        value = reader.take()
        if not isinstance(value, ScriptBraces) or not isinstance(value.content, self.type):
            raise reader.wrong(value.place, self.what, f"such as {self.example}")
        reader.remember(name, value.place)
        return value.content

    def check(self, value: object, name: str) -> None:
        if not isinstance(value, self.type):
            raise Misuse(Code.ARGUMENTS, f"{value!r} where {self.what} should be", argument=name)

    def words(self, value: AffineMap | AffineSet, name: str) -> list[str]:
        return [str(value)]


HandleArgument: TypeAlias = Annotated[str, HandleKind()]
VariableArgument: TypeAlias = Annotated[str, VariableKind()]
LoopArgument: TypeAlias = Annotated[str, LoopKind()]
NumberedLoopArgument: TypeAlias = Annotated[str, LoopKind(numbered=True)]
LoopsArgument: TypeAlias = Annotated[tuple[str, ...], LoopsKind()]
LoopListArgument: TypeAlias = Annotated[tuple[str, ...], LoopsKind(brackets=True)]
IntegerArgument: TypeAlias = Annotated[int, NumberKind()]
CountArgument: TypeAlias = Annotated[int, NumberKind(0)]
SizeArgument: TypeAlias = Annotated[int, NumberKind(1)]
FlagArgument: TypeAlias = Annotated[bool, FlagKind()]
MapArgument: TypeAlias = Annotated[AffineMap, BracesKind(AffineMap, "a map", "{[i, j] -> [j, i]}")]
SetArgument: TypeAlias = Annotated[AffineSet, BracesKind(AffineSet, "a condition", "{[i, j] : j < n/2}")]
