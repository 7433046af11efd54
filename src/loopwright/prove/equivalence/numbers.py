"""Compiles statements to Python functions on plain numbers, several times as fast as walking their terms.

The types of all terms are known at translation, so that only numbers remain at run time.  Statements with
values of unknown type, or with calls to other than a few functions, are not translated.

`classified` computes what `isnan`, `fpclassify` and their like return.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_float
from enum import IntEnum
from functools import partial
from typing import Any, NoReturn, TypeAlias

from loopwright.c.expression_types import COMPARISONS
from loopwright.c.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    CType,
    Floating,
    Integer,
    common,
    divided,
    holds,
    is_arithmetic,
    promoted,
)  # fmt: skip
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr
from loopwright.prove.equivalence.terms import CHOICE, Apply, CellTerm, Constant, Index, Term, TermAssignment

Cell: TypeAlias = tuple[str, tuple[int, ...]]
Number: TypeAlias = int | float
Run: TypeAlias = Callable[[Sequence[int], dict[Cell, Number], Callable[[Cell], Number]], None]
"""Takes the values of the columns, the memory, and a function that reads initial values."""
Typed: TypeAlias = tuple[str, CType]
"""The Python source of a value, and its C type."""
_ARITHMETIC, _BITWISE = ("+", "-", "*"), ("&", "|", "^")
_DEEPEST = 25
"""Maximum nesting of operations: Python limits nested parentheses."""


class Undefined(Exception):
    """The result is undefined in C."""


@dataclass(frozen=True)
class NumberRun:
    """A statement as a function on cells, with the types of its arrays; cells hold no others."""

    run: Run
    types: Mapping[str, CType]
    has_floating: bool
    calls: frozenset[str]
    """Library functions that it calls."""


def in_numbers(assignments: tuple[TermAssignment, ...], columns: Mapping[Expr, int]) -> NumberRun | None:
    """Compiles a statement; returns None if the type of a value depends on the run, or is not known."""
    writer = _Writer(columns, {}, set(), set())
    lines = ["def run(at, memory, read):", "    get = memory.get"]
    try:
        for one in assignments:
            value, kind = writer.value(one.value, _DEEPEST)
            if kind != writer.cell_type(one.target):
                return None
            lines.append(f"    memory[{writer.place(one.target)}] = {value}")
    except _NotStatic:
        return None
    space: dict[str, Any] = dict(_HELPERS)
    exec(compile("\n".join(lines), "<numbers>", "exec"), space)
    has_floating = not all(isinstance(one, Integer) for one in writer.types)
    return NumberRun(space["run"], writer.arrays, has_floating, frozenset(writer.calls))


class _NotStatic(Exception):
    """A term whose type is not known statically, or an operation that is not supported here."""


@dataclass(frozen=True)
class _Writer:
    columns: Mapping[Expr, int]
    arrays: dict[str, CType]
    types: set[CType]
    calls: set[str]

    def known(self, kind: CType) -> CType:
        if not isinstance(kind, Integer) and kind not in (FLOAT, DOUBLE):
            raise _NotStatic
        self.types.add(kind)
        return kind

    def cell_type(self, cell: CellTerm) -> CType:
        if self.arrays.setdefault(cell.array, self.known(cell.type)) != cell.type:
            raise _NotStatic
        return cell.type

    def place(self, cell: CellTerm) -> str:
        subscripts = "".join(f"at[{self.columns[one]}]," for one in cell.subscripts)
        return f"({cell.array!r}, ({subscripts}))"

    def value(self, term: Term, depth: int) -> Typed:
        """The Python source of a value, and its type."""
        if depth == 0:
            raise _NotStatic
        match term:
            case Constant(text, kind):
                return self.constant(float(text), self.known(kind)), kind
            case Index(value, kind):
                return self.converted(f"at[{self.columns[value]}]", LONG, kind), kind
            case CellTerm():
                kind = self.cell_type(term)
                return f"(was if (was := get(cell := {self.place(term)})) is not None else read(cell))", kind
            case Apply(operator, (one,)) if operator.startswith("("):
                return self.converted(*self.value(one, depth - 1), term.type), term.type
            case Apply():
                return self.applied(term, depth)
            case _:
                raise _NotStatic

    def constant(self, number: float, kind: CType) -> str:
        if not math.isfinite(number):
            raise _NotStatic
        if isinstance(kind, Integer):
            if not kind.least <= number <= kind.greatest or kind == BOOL:
                raise _NotStatic
            return f"({int(number)})"
        return f"({(c_float(number).value if kind == FLOAT else number)!r})"

    def applied(self, term: Apply, depth: int) -> Typed:
        operator = term.operator
        if operator == CHOICE:
            return self.choice(term, depth)
        if operator.endswith("()"):
            return self.called(term, depth)
        values = [self.value(one, depth - 1) for one in term.arguments]
        if operator in ("&&", "||"):
            word = " and " if operator == "&&" else " or "
            return f"int({word.join(f'({text} != 0)' for text, _ in values)})", INT
        if operator == "!":
            return f"int({values[0][0]} == 0)", INT
        if len(values) == 1:
            return self.unary(operator[0], values[0])
        if len(values) != 2:
            raise _NotStatic
        return self.binary(operator, values[0], values[1])

    def choice(self, term: Apply, depth: int) -> Typed:
        (test, _), one, two = (self.value(part, depth - 1) for part in term.arguments)
        kinds: set[CType] = {part.type for part in term.arguments[1:] if is_arithmetic(part.type)}
        if len(kinds) != 1:
            if one[1] != two[1]:
                raise _NotStatic
            kinds = {one[1]}
        (kind,) = kinds
        return f"({self.converted(*one, kind)} if {test} != 0 else {self.converted(*two, kind)})", kind

    def called(self, term: Apply, depth: int) -> Typed:
        if term.operator not in ("sqrt()", "exp()", "fabs()") or len(term.arguments) != 1:
            raise _NotStatic
        value = self.converted(*self.value(term.arguments[0], depth - 1), DOUBLE)
        self.calls.add(term.operator[:-2])
        return f"{term.operator[:-2]}({value})", DOUBLE

    def unary(self, operator: str, one: Typed) -> Typed:
        kind = self.known(promoted(one[1]))
        if operator not in "-+~" or (operator == "~" and not isinstance(kind, Integer)):
            raise _NotStatic
        return self.fitting(f"({operator}{one[0]})", kind), kind

    def binary(self, operator: str, left: Typed, right: Typed) -> Typed:
        if operator in ("<<", ">>"):
            return self.shifted(operator, left, right)
        kind = self.known(common(left[1], right[1]))
        one, other = self.converted(*left, kind), self.converted(*right, kind)
        is_whole = isinstance(kind, Integer)
        if operator in COMPARISONS:
            return f"int({one} {operator} {other})", INT
        if operator in _ARITHMETIC or (operator in _BITWISE and is_whole):
            return self.fitting(f"({one} {operator} {other})", kind), kind
        if operator == "/" or (operator == "%" and is_whole):
            text = f"divided({operator!r}, {one}, {other})" if is_whole else f"ratio({one}, {other})"
            return self.fitting(text, kind), kind
        raise _NotStatic

    def shifted(self, operator: str, left: Typed, right: Typed) -> Typed:
        kind = self.known(promoted(left[1]))
        if not isinstance(kind, Integer) or not isinstance(right[1], Integer):
            raise _NotStatic
        return self.fitting(f"shifted({operator!r}, {left[0]}, {right[0]}, {kind.bits})", kind), kind

    def fitting(self, text: str, kind: CType) -> str:
        """The source of an operation's result in a type that it may not fit."""
        if not isinstance(kind, Integer):
            return f"single({text})" if kind == FLOAT else text
        if not kind.signed:
            return f"({text} & {kind.greatest})"
        return f"(fits if {kind.least} <= (fits := {text}) <= {kind.greatest} else overflow())"

    def converted(self, text: str, of: CType, kind: CType) -> str:
        """Converts a value of one type to another (C17 6.3.1)."""
        self.known(kind)
        if kind == of or holds(kind, of):
            return text
        if kind == BOOL:
            return f"int({text} != 0)"
        if not isinstance(kind, Integer):
            number = f"float({text})" if isinstance(of, Integer) else text
            return f"single({number})" if kind == FLOAT else number
        if not isinstance(of, Integer):
            return f"whole({text}, {kind.least}, {kind.greatest})"
        if not kind.signed:
            return f"({text} & {kind.greatest})"
        return f"((({text} + {-kind.least}) & {(1 << kind.bits) - 1}) - {-kind.least})"


def _single(number: float) -> float:
    return c_float(number).value


def _overflow() -> NoReturn:
    raise Undefined("an integer that overflows")


def _whole(number: float, least: int, greatest: int) -> int:
    if not math.isfinite(number) or not least <= int(number) <= greatest:
        raise Undefined("a conversion to an integer")
    return int(number)


def _divided(operator: str, one: int, other: int) -> int:
    if other == 0:
        raise Undefined("a division by zero")
    return divided(operator, one, other)


def ratio(one: float, other: float) -> float:
    """The IEEE 754 quotient of two numbers."""
    if other != 0:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, other)


def _shifted(operator: str, one: int, by: int, bits: int) -> int:
    if not 0 <= by < bits or (one < 0 and operator == "<<"):
        raise Undefined("a shift by too many bits, or of a negative number to the left")
    return one << by if operator == "<<" else one >> by


def root(number: float) -> float:
    """The IEEE 754 square root; NaN for a negative number."""
    return math.nan if number < 0 else math.sqrt(number)


_NAMES = """
sqrt exp expm1 log log2 log10 log1p pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh
fabs floor ceil trunc fmod remainder hypot copysign erf erfc
"""
EXACT: dict[str, Callable[..., float]] = {name: getattr(math, name) for name in _NAMES.split()}


def _whole_number(base: str, number: float) -> float:
    """C's floor, ceil and trunc: they keep the sign, and return a non-finite argument unchanged."""
    if not math.isfinite(number):
        return number
    return math.copysign(float(getattr(math, base)(number)), number)


def _with_sign_of(number: float, other: float) -> float:
    """C's copysign; which sign a NaN has depends on the machine."""
    if math.isnan(other):
        raise ValueError("the sign of a NaN")
    return math.copysign(number, other)


def _extreme(name: str, one: float, other: float) -> float:
    """C's fmin and fmax: they ignore NaNs; of two zeros, the result is unspecified."""
    if math.isnan(one) or math.isnan(other):
        return other if math.isnan(one) else one
    if one == other == 0 and math.copysign(1, one) != math.copysign(1, other):
        raise ValueError("one of two zeros")
    return min(one, other) if name == "fmin" else max(one, other)


EXACT |= {"sqrt": root, "copysign": _with_sign_of}
EXACT |= {name: partial(_whole_number, name) for name in ("floor", "ceil", "trunc")}
EXACT |= {name: partial(_extreme, name) for name in ("fmin", "fmax")}


SELECTING = frozenset(("fabs", "copysign", "floor", "ceil", "trunc", "fmin", "fmax"))
"""Functions of which a result has no other digits than an argument."""


def _exponential(number: float) -> float:
    try:
        return math.exp(number)
    except OverflowError as wrong:
        raise Undefined("exp of this") from wrong


_HELPERS: dict[str, Callable[..., Number]] = {
    "single": _single, "overflow": _overflow, "whole": _whole, "divided": _divided, "ratio": ratio,
    "shifted": _shifted, "sqrt": root, "exp": _exponential, "fabs": math.fabs,
}  # fmt: skip


TRUTHS = (1, -1, 8, 128)
"""Integers that C libraries return where a number is of the class: first those of gcc, whose `isinf` returns
the sign too."""
_LEAST = {FLOAT: 2.0**-126, DOUBLE: 2.0**-1022}
"""The smallest normal number of each type."""


class FloatingClass(IntEnum):
    """What `fpclassify` returns, by glibc, musl and newlib."""

    FP_NAN = 0
    FP_INFINITE = 1
    FP_ZERO = 2
    FP_SUBNORMAL = 3
    FP_NORMAL = 4


def classified(
    name: str, number: float, kind: Floating, truth: int, constants: Mapping[str, float]
) -> int | None:
    """The result of a classification, with `truth` for any integer but 0; None if it is not known.

    `constants` are numbers of the headers, which tell whether their library is another one.
    """
    if kind not in _LEAST:
        return None
    class_of = _class(number, _LEAST[kind])
    match name:
        case "fpclassify":
            is_other = any(constants.get(one.name, one) != one for one in FloatingClass)
            return None if is_other else int(class_of)
        case "isnan":
            holds = class_of is FloatingClass.FP_NAN
        case "isinf":
            holds = class_of is FloatingClass.FP_INFINITE
            truth = -truth if truth == TRUTHS[0] and number < 0 else truth
        case "isfinite":
            holds = math.isfinite(number)
        case "isnormal":
            holds = class_of is FloatingClass.FP_NORMAL
        case "signbit":
            if class_of is FloatingClass.FP_NAN:
                raise Undefined("the sign of a NaN")
            holds = math.copysign(1, number) < 0
        case _:
            return None
    return truth if holds else 0


def _class(number: float, least: float) -> FloatingClass:
    if not math.isfinite(number):
        return FloatingClass.FP_NAN if math.isnan(number) else FloatingClass.FP_INFINITE
    if number == 0:
        return FloatingClass.FP_ZERO
    return FloatingClass.FP_NORMAL if abs(number) >= least else FloatingClass.FP_SUBNORMAL
