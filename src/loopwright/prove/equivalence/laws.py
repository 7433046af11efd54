"""Algebraic laws that are exact bit by bit, for all values: equal terms are rewritten to the same term.

Every operation of IEEE 754 gives the number nearest to the exact result.  So two expressions with the same
exact result, and the same sign if that is zero, are equal.

    x * 1, x / 1, x - 0        x                 and x + 0 for integers; for -0.0 it is +0.0
    -(-x)                      x
    x + (-y), (-y) + x         x - y             and x - (-y) is x + y
    (-x) * y, x / (-y)         -(x * y), -(x / y)     rounding is the same on both sides of zero
    x / 2^k                    x * 2^-k          if 2^-k is a number: both are the exact quotient, rounded
    x + x                      2 * x             see `doubled`: also for integers, which overflow together
    (int)(short)c              (int)c            for a char c: by a type that holds all of another
    !(x == y), !(x != y)       x != y, x == y    and of integers !(x < y) is y <= x
    !c ? x : y                 c ? y : x
    x < y ? 1 : 0              x < y             which is an int, 0 or 1
    k + (x < y)                x < y ? k + 1 : k     of integers
    c ? (d ? x : y) : y        c && d ? x : y    the tests are evaluated one after the other in both

The laws of signs are for floating types: for integers, -x may overflow where x does not.  The bits of NaNs
are not considered.
"""

from __future__ import annotations

import math
from ctypes import c_float
from fractions import Fraction

from loopwright.c import types
from loopwright.c.types import SIGNIFICANT_BITS, represents
from loopwright.loops.expressions import Int
from loopwright.prove.equivalence.terms import CHOICE, Apply, Constant, Index, Term

EXACT = 1 << 24
"""Integers below this are exact in every floating type."""


def combined(name: str, left: Term, right: Term, kind: types.CType) -> Term:
    """`left name right` of operands of the type `kind`."""
    if isinstance(kind, types.Floating):
        signs = _signs(name, left, right, kind)
        if signs is not None:
            return signs
        inverse = _inverse(right) if name == "/" else None
        if inverse is not None:
            return combined("*", left, inverse, kind)
    elif name == "+" and (test := _test_of(right)) is not None:
        return chosen(test, Apply("+", (left, Index(Int(1), kind)), kind), left, kind)
    if _is_neutral(name, right):
        return left
    if name == "*" and _is_neutral(name, left):
        return right
    return Apply(name, (left, right), kind)


def _signs(name: str, left: Term, right: Term, kind: types.CType) -> Term | None:
    """The operation with signs moved out of its operands, if there are any."""
    mine, theirs = _unsigned(left), _unsigned(right)
    match name:
        case "+" if theirs is not None:
            return combined("-", left, theirs, kind)
        case "+" if mine is not None:
            return combined("-", right, mine, kind)
        case "-" if theirs is not None:
            return combined("+", left, theirs, kind)
        case "*" | "/" if mine is not None or theirs is not None:
            inner = combined(name, mine or left, theirs or right, kind)
            return inner if mine is not None and theirs is not None else negated(inner)
        case _:
            return None


def _unsigned(term: Term) -> Term | None:
    """x, if `term` is -x."""
    match term:
        case Apply("-x", (inner,), kind) if isinstance(kind, types.Floating):
            return inner
        case Index(Int(value), kind) if value < 0 and isinstance(kind, types.Floating):
            return Index(Int(-value), kind)
        case Constant(text, kind) if text.startswith("-"):
            return Constant(text[1:], kind)
        case _:
            return None


def negated(term: Term) -> Term:
    """-term; a number other than zero includes its sign."""
    match term:
        case Index(Int(value), kind) if value > 0 and isinstance(kind, types.Floating):
            return Index(Int(-value), kind)
        case Constant(text, kind) if not text.startswith("-"):
            return Constant(f"-{text}", kind)
        case _:
            return _unsigned(term) or Apply("-x", (term,), types.promoted(term.type))


def _is_neutral(name: str, right: Term) -> bool:
    """x * 1, x / 1 and x - 0 are x, for every x; x + 0.0 is not, for -0.0."""
    if not isinstance(right, Index) or not isinstance(right.value, Int):
        return False
    if name == "+":
        return right.value.value == 0 and isinstance(right.type, types.Integer)
    return right.value.value == {"*": 1, "/": 1, "-": 0}.get(name)


def _inverse(term: Term) -> Term | None:
    """1 / term, for a power of two whose inverse is one too; 1 is unchanged."""
    match term:
        case Index(Int(value), kind):
            number = float(value) if abs(value) < EXACT else 0.0
        case Constant(text, types.Floating(32 | 64) as kind):
            number = float(text)
        case _:
            return None
    if number == 0 or not math.isfinite(number) or abs(math.frexp(number)[1]) > 100:
        return None
    return literal(1 / number, kind) if abs(math.frexp(number)[0]) == 0.5 and abs(number) != 1 else None


def literal(value: float, kind: types.CType) -> Term:
    """A nonnegative number as a term, in a canonical form."""
    if value.is_integer() and value < EXACT:
        return Index(Int(int(value)), kind)
    return Constant(repr(value), kind)


def widened(term: Term, kind: types.CType) -> Term | None:
    """x, if `term`, which is converted to `kind`, is x in a type that can represent every value of x's type.

    An integer type represents every integer modulo its size; a floating type is exact for some integers only.
    """
    match term:
        case Apply(name, (inner,), other) if name == conversion(other) and represents(other, inner.type):
            is_narrowed = isinstance(inner.type, types.Integer) and isinstance(other, types.Floating)
            is_defined = not (is_narrowed and isinstance(kind, types.Integer)) or represents(kind, inner.type)
            return inner if is_defined else None
        case _:
            return None


def shortened(term: Term, kind: types.CType) -> Term | None:
    """A literal that is exact as a float, and so in every floating type, in another one."""
    match term:
        case Constant(text, known) if {known, kind} <= SIGNIFICANT_BITS.keys() and _is_single(text):
            return Constant(text, kind)
        case _:
            return None


def conversion(kind: types.CType) -> str:
    """The operator that converts a value of another type to this type."""
    return f"({types.spelling(kind)})"


def _is_single(text: str) -> bool:
    """Whether a number is the same in all floating types."""
    value = float(text)
    return math.isfinite(value) and Fraction(text) == Fraction(value) and c_float(value).value == value


def opposite(condition: Term) -> Term:
    """!condition."""
    match condition:
        case Apply("==" | "!=" as name, operands, kind):
            return Apply("!=" if name == "==" else "==", operands, kind)
        case Apply("<" | "<=" as name, (left, right), kind) if _are_integers(left, right):
            return Apply("<=" if name == "<" else "<", (right, left), kind)
        case _:
            return Apply("!", (condition,), types.INT)


def _are_integers(*terms: Term) -> bool:
    """Whether all terms are integers, which are totally ordered, unlike NaNs."""
    return all(isinstance(term.type, types.Integer) for term in terms)


def _test_of(term: Term) -> Term | None:
    """The test on data by which an integer is 1 or 0."""
    match term:
        case Apply("<" | "<=" | "==" | "!=", _, kind) if kind == types.INT:
            return term
        case Apply("?:", (test, Index(Int(1)), Index(Int(0)))) if not _are_affine(test):
            return test
        case _:
            return None


def conjunction(left: Term, right: Term) -> Term:
    """`left && right`, normalised so that the first of several tests is outermost."""
    match left:
        case Apply("&&", (one, other)):
            return conjunction(one, conjunction(other, right))
        case _:
            return Apply("&&", (left, right), types.INT)


def chosen(condition: Term, then: Term, orelse: Term, kind: types.CType) -> Term:
    """`condition ? then : orelse`."""
    match condition, then, orelse:
        case _, Apply("?:", (inner, one, other)), _ if other == orelse and not _are_affine(condition, inner):
            return chosen(conjunction(condition, inner), one, orelse, kind)
        case Apply("!", (inner,)), _, _:
            return chosen(inner, orelse, then, kind)
        case Apply("<" | "<=" | "==" | "!="), Index(Int(1)), Index(Int(0)) if kind == condition.type:
            return condition
        case _:
            return Apply(CHOICE, (condition, then, orelse), kind)


def _are_affine(*tests: Term) -> bool:
    """Whether one of the tests is on sizes and iterators: such tests split the instances."""
    return any(isinstance(test, Index) for test in tests)


def doubled(term: Term) -> Term | None:
    """x, if `term` is 2 * x; every sum of two values equal to x is that, too."""
    match term:
        case Apply("*", (Index(Int(2)), other), kind) if other.type == kind and types.is_arithmetic(kind):
            return other
        case Apply("*", (other, Index(Int(2))), kind) if other.type == kind and types.is_arithmetic(kind):
            return other
        case _:
            return None
