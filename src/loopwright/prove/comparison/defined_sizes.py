"""Sizes that two files define as the same numbers: what holds for these, and not for others.

A macro that is a number is a size like any other, so that an answer holds for all of them.  A text that is
unrolled without a remainder is right for the number alone: where the answer for all sizes is no, it is asked
for again with `N == 1000`, as both files say.  A macro under `#ifndef`, or one that a header or an option
changes, has no number of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.c.macros import constant_macro
from loopwright.c.tokens import names_in
from loopwright.c.typed.preprocess import preprocess
from loopwright.errors import BadInput
from loopwright.presburger.points import values_text
from loopwright.prove.comparison.acceptable import Compiled
from loopwright.prove.comparison.texts import Comparison, ComparisonOptions
from loopwright.prove.equivalence.answer import OnlyFor
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.assume import is_assume

_LARGEST = (1 << 31) - 1
"""An `int`: what larger numbers are depends on how they are written."""


def as_defined(
    found: Comparison,
    files: tuple[Compiled, Compiled],
    options: ComparisonOptions,
    compared: Callable[[ComparisonOptions], Comparison],
) -> Comparison:
    """What is found, if not proved for all sizes, for those that the files define."""
    match found.verdict:
        case Refuted(parameters=sizes) | Undecided(sizes=sizes):
            numbers = _defined_numbers(sizes, files, options)
        case Proved():
            return found
    if all(sizes[name] == value for name, value in numbers.items()):
        return found
    stated = tuple(f"{name} == {value}" for name, value in numbers.items())
    reading = replace(options.reading, assume=(*options.reading.assume, *stated))
    try:
        again = compared(replace(options, reading=reading))
    except BadInput as failure:
        return found.with_remark(f"both files define {values_text(numbers)}, for which {failure.message}")
    listed = values_text(numbers)
    match again.verdict:
        case Proved():
            wrong = sizes if isinstance(found.verdict, Refuted) else {}
            trusted = tuple(text for text in again.trusted if text not in stated)
            return replace(again, trusted=trusted, only_for=OnlyFor(numbers, wrong))
        case Refuted():
            return found.with_remark(f"both files define {listed}, for which they differ too")
        case Undecided():
            return found.with_remark(f"both files define {listed}, for which it was not decided")


def _defined_numbers(
    names: Iterable[str], files: tuple[Compiled, Compiled], options: ComparisonOptions
) -> dict[str, int]:
    """The macros among these that both files define as one number, whatever the options of a compiler.

    What something is stated of is a size that its user has in mind.
    """
    stated = set(names_in(" ".join((*options.reading.assume, *map(_stated_in, files)))))
    numbers = {name: {_number(name, one) for one in files} for name in sorted({*names} - stated)}
    return {name: value for name, (value, *others) in numbers.items() if value is not None and not others}


def _stated_in(file: Compiled) -> str:
    lines = c_file(file.source).directives
    return " ".join(one.argument for one in lines if is_assume(one))


def _number(name: str, file: Compiled) -> int | None:
    """What a macro is, where the file defines it once and nothing else does."""
    value = constant_macro(c_file(file.source).macros, name)
    if value is None or not 0 <= value <= _LARGEST:
        return None
    changes = preprocess(file.source, file.options).changes
    return value if len(changes.get(name, ())) == 1 else None
