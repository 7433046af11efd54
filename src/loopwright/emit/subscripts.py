"""Subscripts as a person would write them: `y - 1` for `y + (-1)`, `8 * iT` for `(8 * iT + 1) - 1`."""

from __future__ import annotations

import ast
import re
from collections import Counter

from loopwright.source import Span

_PLAIN = re.compile(r"[\w\s+*()-]*")
"""Sums of names and numbers; numbers with a suffix or a leading zero are not Python, and are not parsed."""

_WITH_QUOTIENTS = re.compile(r"[\w\s+*()/-]*")

_CALL = re.compile(r"\w\s*\(")

SubscriptSum = Counter[str]
"""The factor of each name, in order of appearance; that of "" is the constant."""


def plain_subscript(text: str, hole: Span, within: Span, *, quotients: bool = False) -> Span | None:
    """What is between the brackets around `hole`, if it is a sum of names and numbers, or of `quotients`."""
    start = text.rfind("[", within.start, hole.start) + 1
    end = text.find("]", hole.end, within.end)
    allowed = _WITH_QUOTIENTS if quotients else _PLAIN
    if start == 0 or end < 0 or allowed.fullmatch(text, start, end) is None or _CALL.search(text, start, end):
        return None
    return Span(hole.source, start, end)


def tidied(subscript: str, *, quotients: bool = False) -> str:
    """The same sum with its constants, names and `quotients` collected; other texts stay as they are."""
    if (_WITH_QUOTIENTS if quotients else _PLAIN).fullmatch(subscript) is None:
        return subscript
    try:
        expression = ast.parse(subscript.strip(), mode="eval").body
    except SyntaxError:
        return subscript
    linear = _linear(expression)
    return subscript if linear is None else _printed(linear)


def _linear(expression: ast.expr) -> SubscriptSum | None:
    """An expression as a sum, or None if it is none."""
    match expression:
        case ast.Name(id=name):
            return Counter({name: 1})
        case ast.Constant(value=int(number)):
            return Counter({"": number})
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(_linear(operand), -1)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            one, other = _linear(left), _scaled(_linear(right), 1 if isinstance(sign, ast.Add) else -1)
            return None if one is None or other is None else _sum(one, other)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(_linear(left), _linear(right))
        case ast.BinOp(op=ast.Div()):
            return Counter({f"({ast.unparse(expression)})": 1})
        case _:
            return None


def _scaled(linear: SubscriptSum | None, factor: int) -> SubscriptSum | None:
    if linear is None:
        return None
    return Counter({name: factor * number for name, number in linear.items()})


def _sum(one: SubscriptSum, other: SubscriptSum) -> SubscriptSum:
    return Counter({name: one[name] + other[name] for name in [*one, *other]})


def _product(one: SubscriptSum | None, other: SubscriptSum | None) -> SubscriptSum | None:
    """One of the two has to be a number."""
    if one is None or other is None:
        return None
    if set(one) <= {""}:
        return _scaled(other, one[""])
    return _scaled(one, other[""]) if set(other) <= {""} else None


def _printed(linear: SubscriptSum) -> str:
    """A positive term first, the constant last."""
    terms = [(name, factor) for name, factor in linear.items() if name and factor]
    terms.sort(key=lambda term: term[1] < 0)
    if linear[""] or not terms:
        terms.append(("", linear[""]))
    text = ""
    for name, factor in terms:
        number = "" if name and abs(factor) == 1 else str(abs(factor))
        size = " * ".join(word for word in (number, name) if word)
        if text:
            text += f" - {size}" if factor < 0 else f" + {size}"
        else:
            text = f"-{size}" if factor < 0 else size
    return text
