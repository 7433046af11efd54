"""Loops with a number each, in any of the notations: tile sizes, factors, distances."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.transform.script.arguments import (
    NAME,
    ArgumentKind,
    Misuse,
    Reader,
    check_name,
    check_number,
    checked_tuple,
    items,
    must_be,
)
from loopwright.transform.script.syntax import ScriptNumber, ScriptWord


@dataclass(frozen=True)
class LoopNumber:
    """A number and its loop; without a loop it applies to one of the innermost loops."""

    number: int
    loop: str | None = None


@dataclass(frozen=True)
class LoopNumbersKind(ArgumentKind[tuple[LoopNumber, ...]]):
    """Loops with a number each, in any of the notations. i=32, j=32      i, 32      i, 32, j, 32      i, j,
    32, 32      [i, j], [32, 32]      [i, j], 32 32, 32          [32, 32]                     for the
    innermost loops, where applicable
    """

    minimum: int | None = None
    named: bool = True
    """Whether the loops must be named."""
    most = None

    def read(self, reader: Reader, name: str) -> tuple[LoopNumber, ...]:
        keyed = [argument for argument in reader.rest if argument.keyword is not None]
        other = next((argument for argument in reader.rest if argument.keyword is None), None)
        if keyed and other is not None:
            message = "the other arguments name their loop, this one does not"
            raise reader.error(other.place, message, f"write it as {reader.usage}")
        words = [argument.keyword for argument in keyed if argument.keyword is not None]
        numbers: list[ScriptNumber] = []
        values = [one for argument in reader.rest for one in items(argument.value)]
        for one in values:
            match one:
                case ScriptWord() if not keyed:
                    words.append(one)
                case ScriptNumber():
                    numbers.append(one)
                case _:
                    raise reader.wrong(one.place, "a number" if keyed else "an iterator or a number")
        reader.rest.clear()
        return self._paired(reader, name, words, numbers)

    def _paired(
        self, reader: Reader, name: str, words: list[ScriptWord], numbers: list[ScriptNumber]
    ) -> tuple[LoopNumber, ...]:
        example = f"write it as {reader.usage}"
        if not numbers:
            raise reader.error(reader.line.place, f"{reader.line.name.text} without a number", example)
        for number in numbers:
            if self.minimum is not None and number.value < self.minimum:
                raise reader.error(number.place, must_be(number.value, self.minimum))
        if not words:
            if self.named:
                raise reader.error(numbers[0].place, "it is not said which loop this is for", example)
            reader.remember(name, *(number.place for number in numbers))
            return tuple(LoopNumber(number.value) for number in numbers)
        if len(numbers) == 1:
            numbers = numbers * len(words)
        if len(numbers) != len(words):
            read: list[ScriptWord | ScriptNumber] = [*words, *numbers]
            last = max(read, key=lambda one: one.place.start)
            raise reader.error(last.place, f"{len(words)} loops, but {len(numbers)} numbers", example)
        reader.remember(name, *(word.place for word in words))
        return tuple(LoopNumber(one.value, word.text) for word, one in zip(words, numbers, strict=True))

    def check(self, value: object, name: str) -> None:
        given = checked_tuple(value, name)
        loops = [one.loop for one in given if isinstance(one, LoopNumber)]
        is_named = self.named or any(loop is not None for loop in loops)
        for item, one in enumerate(given):
            if not isinstance(one, LoopNumber):
                raise Misuse(Code.ARGUMENTS, f"{one!r} must be a LoopNumber", argument=name, item=item)
            check_number(one.number, self.minimum, name, item)
            if one.loop is not None:
                check_name(one.loop, name, item, NAME, Code.NO_ITERATOR, "iterator")
            elif is_named:
                raise Misuse(Code.ARGUMENTS, "a loop has to be named", argument=name, item=item)
        if not given:
            raise Misuse(Code.ARGUMENTS, "a number is missing", argument=name)

    def words(self, value: tuple[LoopNumber, ...], name: str) -> list[str]:
        return [str(one.number) if one.loop is None else f"{one.loop}={one.number}" for one in value]


LoopNumbersArgument: TypeAlias = Annotated[tuple[LoopNumber, ...], LoopNumbersKind()]
LoopSizesArgument: TypeAlias = Annotated[tuple[LoopNumber, ...], LoopNumbersKind(1)]
TileSizesArgument: TypeAlias = Annotated[tuple[LoopNumber, ...], LoopNumbersKind(1, named=False)]
