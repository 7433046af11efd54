"""Loops with a number each, however they are written: sizes of tiles, factors, distances.

i=32, j=32      i, 32      i, 32, j, 32      i, j, 32, 32      [i, j], [32, 32]      [i, j], 32
32, 32          [32, 32]                     for the innermost loops
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.errors import Code
from loopwright.read.script import Integer, Items, Value, Word
from loopwright.transform.arguments import Arguments
from loopwright.transform.plan import Misuse


@dataclass(frozen=True)
class Sized:
    """A number, the loop it is for (none: the innermost ones) and the argument that says so."""

    size: int
    loop: str | None
    argument: int


def sized(args: Arguments, start: int, end: int, least: int | None, example: str) -> list[Sized]:
    """The arguments `start` to `end` as loops with numbers; `example` shows a right call."""
    named = [k for k in range(start, end) if args.keyword(k) is not None]
    if named:
        other = next((k for k in range(start, end) if k not in named), None)
        if other is not None:
            message = "the other arguments name their loop, this one does not"
            raise Misuse(Code.ARGUMENTS, message, argument=other, hint=f"write it as {example}")
        return [Sized(args.integer(k, least), args.keyword(k), k) for k in named]
    return _paired(args, _flat(args, start, end, example), least, example)


def _flat(args: Arguments, start: int, end: int, example: str) -> list[tuple[Word | Integer, int]]:
    found: list[tuple[Word | Integer, int]] = []
    for k in range(start, end):
        value: Value = args.operation.arguments[k].value
        for one in value.values if isinstance(value, Items) else (value,):
            if not isinstance(one, (Word, Integer)):
                raise args.wrong(k, "an iterator or a number", f"write it as {example}")
            found.append((one, k))
    return found


def _paired(
    args: Arguments, flat: list[tuple[Word | Integer, int]], least: int | None, example: str
) -> list[Sized]:
    words = [(one.text, k) for one, k in flat if isinstance(one, Word)]
    numbers = [(one.value, k) for one, k in flat if isinstance(one, Integer)]
    for value, k in numbers:
        if least is not None and value < least:
            raise Misuse(Code.ARGUMENTS, f"the number should be at least {least}", argument=k)
    if not numbers:
        raise Misuse(
            Code.ARGUMENTS, f"{args.operation.name.text} without a number", hint=f"write it as {example}"
        )
    if not words:
        return [Sized(value, None, k) for value, k in numbers]
    if len(numbers) == 1:
        numbers *= len(words)
    if len(numbers) != len(words):
        raise Misuse(
            Code.ARGUMENTS,
            f"{len(words)} loops, but {len(numbers)} numbers",
            argument=flat[-1][1],
            hint=f"write it as {example}",
        )
    return [Sized(value, word, k) for (word, k), (value, _) in zip(words, numbers, strict=True)]
