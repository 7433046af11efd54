"""Affine expressions and conditions as values, and their text.

If a value was read from a text, `at` is its place there.  Two values are equal if they have the same
structure, regardless of place; `written` and the grammar of `read.formula_grammar` are inverses:

    parse(written(f)) = f
"""

from __future__ import annotations

from dataclasses import field
from enum import IntEnum
from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span


@dataclass(frozen=True)
class Symbol:
    text: str
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Numeral:
    """A nonnegative number: -3 is `Negative(Numeral(3))`."""

    value: int
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Truth:
    value: bool
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Negative:
    argument: Formula
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Addition:
    """A sum of two or more terms."""

    terms: tuple[Formula, ...]
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Multiplicative:
    """`* / %`; a product without an operator, `2i`, is one too."""

    operator: str
    left: Formula
    right: Formula
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class FunctionCall:
    """A function by its name; `[e]` is `floor(e)`."""

    function: str
    arguments: tuple[Formula, ...]
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Selection:
    test: Formula
    then: Formula
    orelse: Formula
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Chain:
    """`a, b < c <= d`: every neighbour compared with every neighbour."""

    operands: tuple[tuple[Formula, ...], ...]
    operators: tuple[str, ...]
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Junction:
    """`and` or `or` of two or more arguments."""

    conjunction: bool
    arguments: tuple[Formula, ...]
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Complement:
    argument: Formula
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Exists:
    names: tuple[Symbol, ...]
    body: Formula
    at: Span | None = field(default=None, compare=False, repr=False)


Formula: TypeAlias = (
    Symbol
    | Numeral
    | Truth
    | Negative
    | Addition
    | Multiplicative
    | FunctionCall
    | Selection
    | Chain
    | Junction
    | Complement
    | Exists
)


class _Binding(IntEnum):
    """The precedence of a text: operands of lower precedence are put in parentheses."""

    VALUE = 0
    ANY = 1
    ALL = 2
    TEST = 3
    SUM = 4
    PRODUCT = 5
    FACTOR = 6
    PRIMARY = 7


def written(formula: Formula) -> str:
    """The formula as text in the grammar."""
    return _within(formula, _Binding.VALUE)


def _within(formula: Formula, least: _Binding) -> str:
    """The text as an operand that needs at least the precedence `least`."""
    text, binding = _text(formula)
    return text if binding >= least else f"({text})"


def _text(formula: Formula) -> tuple[str, _Binding]:
    match formula:
        case Symbol(text):
            return text, _Binding.PRIMARY
        case Numeral(value):
            return str(value), _Binding.PRIMARY
        case Truth(value):
            return "true" if value else "false", _Binding.PRIMARY
        case Negative(argument):
            return f"-{_within(argument, _Binding.PRIMARY)}", _Binding.FACTOR
        case Addition(terms):
            return _sum(terms), _Binding.SUM
        case Multiplicative(operator, left, right):
            factors = _within(left, _Binding.PRODUCT), _within(right, _Binding.FACTOR)
            return f" {operator} ".join(factors), _Binding.PRODUCT
        case FunctionCall("floor", (argument,)):
            return f"[{written(argument)}]", _Binding.PRIMARY
        case FunctionCall(function, arguments):
            return f"{function}({', '.join(map(written, arguments))})", _Binding.PRIMARY
        case Selection(test, then, orelse):
            return f"{_within(test, _Binding.ANY)} ? {written(then)} : {written(orelse)}", _Binding.VALUE
        case Chain(operands, operators):
            return _chain(operands, operators), _Binding.TEST
        case Junction(conjunction, arguments):
            word, least = (" and ", _Binding.TEST) if conjunction else (" or ", _Binding.ALL)
            binding = _Binding.ALL if conjunction else _Binding.ANY
            return word.join(_within(one, least) for one in arguments), binding
        case Complement(argument):
            inner = _within(argument, _Binding.TEST)
            return f"not ({inner})" if isinstance(argument, Complement) else f"not {inner}", _Binding.TEST
        case Exists(names, body):
            return f"exists ({', '.join(name.text for name in names)}: {written(body)})", _Binding.TEST


def _sum(terms: tuple[Formula, ...]) -> str:
    """A sum; negative terms after the first are subtracted."""
    text = _within(terms[0], _Binding.PRODUCT)
    for term in terms[1:]:
        if isinstance(term, Negative):
            text += f" - {_within(term.argument, _Binding.PRODUCT)}"
        else:
            text += f" + {_within(term, _Binding.PRODUCT)}"
    return text


def _chain(operands: tuple[tuple[Formula, ...], ...], operators: tuple[str, ...]) -> str:
    sides = [", ".join(_within(one, _Binding.SUM) for one in side) for side in operands]
    return sides[0] + "".join(
        f" {operator} {side}" for operator, side in zip(operators, sides[1:], strict=True)
    )
