"""Variables of single threads: how they begin, and how each is combined into a shared one at the end.

A step combines a value into a variable, as `s += own`, `s = own + s`, `if (own > m) m = own`,
`m = own > m ? own : m` or `m = fmax(m, own)` do.  A variable begins at the identity of that operator, which
changes no value that it is combined with, or, if values may be combined twice, at any other value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from loopwright.c.accumulations import GREATER, SMALLER, accumulation_of
from loopwright.c.file import CFile
from loopwright.c.loops import only_statement
from loopwright.c.macros import definitions, with_arguments
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import on_one_line, packed
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span

OfLibrary: TypeAlias = Callable[[str, Span], bool]
"""Whether a name means what the C library says, at a place."""

EXTREMES = ("min", "max")
IDEMPOTENT = (*EXTREMES, "&", "|")
"""Operators by which combining a value twice is combining it once."""
_NUMBERS = {"+": r"0+(?:\.0*)?[fFlL]?", "*": r"1(?:\.0*)?[fFlL]?", "|": "0", "^": "0", "&": r"~0|-1"}
_INFINITE = {
    "double": r"INFINITY|HUGE_VAL|1(?:\.0*)?/0\.0*",
    "float": r"INFINITY|HUGE_VALF",
}
_FINITE = {"double": "DBL_MAX", "float": "FLT_MAX"}
_SIGNED = {
    "int": "INT",
    "long": "LONG",
    "long long": "LLONG",
    "short": "SHRT",
    "int32_t": "INT32",
    "int64_t": "INT64",
}
_UNSIGNED = {
    "unsigned": "UINT",
    "unsigned int": "UINT",
    "unsigned long": "ULONG",
    "size_t": "SIZE",
    "uint32_t": "UINT32",
    "uint64_t": "UINT64",
}
FINITE = "no operand of a minimum or maximum is an infinity"
_SELECTING = {
    "double": ("fmin", "fmax", "fminl", "fmaxl"),
    "float": ("fmin", "fmax", "fminf", "fmaxf", "fminl", "fmaxl"),
}
"""The functions that return one of two operands of a type as it is."""
_PARTS = (
    *("expression_statement", "assignment_expression", "binary_expression"),
    *("parenthesized_expression", "identifier"),
)
_CHOICES = (
    *("if_statement", "compound_statement", "conditional_expression"),
    *("call_expression", "argument_list"),
)


@dataclass(frozen=True)
class MergingStep:
    """A statement that combines a value into the variable `name`, by an operator."""

    operator: str
    name: str
    node: Node
    text: str
    """The statement, with no macros in it that choose the larger or smaller value."""

    @property
    def is_atomic(self) -> bool:
        """Whether OpenMP's `atomic` may stand before it."""
        return self.operator not in EXTREMES and self.node.type == "expression_statement"


def step_of(statement: Node, file: CFile) -> MergingStep | None:
    """A statement as a step that names its variable nowhere but where the form does."""
    text = _without_choosing_macro(statement, file)
    found = accumulation_of(text)
    parsed = only_statement(text)
    if found is None or parsed is None or found.carried or found.operator not in (*_NUMBERS, *EXTREMES):
        return None
    name = text[slice(*found.target)]
    is_alone = identifiers(parsed).count(name) == len({found.target, *found.reads})
    return MergingStep(found.operator, name, statement, text) if is_alone else None


def _without_choosing_macro(statement: Node, file: CFile) -> str:
    """`m = MAX(m, x);` with the macro of the file written out."""
    core = statement.only_assignment
    call = None if core is None else without_parentheses(field(core, "right"))
    if core is None or call is None or call.type != "call_expression":
        return statement.spelled.text
    macros = definitions(file.macros, field(call, "function").text)
    arguments = [one.text for one in named_children(field(call, "arguments"))]
    if len(macros) != 1 or macros[0].conditional or len(macros[0].parameters or ()) != len(arguments):
        return statement.spelled.text
    return f"{field(core, 'left').text} = {on_one_line(with_arguments(macros[0], arguments))};"


def combined_value(step: MergingStep, kind: str, is_of_library: OfLibrary) -> str | None:
    """The variable that a step combines, unchanged, into one of the same type; None for another value."""
    statement = only_statement(step.text)
    if statement is None:
        return None
    called = [field(one, "function").text for one in walk(statement) if one.type == "call_expression"]
    own = {*identifiers(statement)} - {step.name, *called}
    is_extreme = step.operator in EXTREMES
    others = (*SMALLER, *GREATER) if is_extreme else (step.operator,)
    signs = {"assignment_expression": ("=", f"{step.operator}="), "binary_expression": others}
    parts = (*_PARTS, *(_CHOICES if is_extreme else ()))
    for node in walk(statement):
        if node.type in signs and operator(node) not in signs[node.type]:
            return None
        if node.is_named and node.type not in parts:
            return None
    if len(own) != 1 or not leaves_unchanged(step, kind, is_of_library):
        return None
    (name,) = own
    return name if is_extreme or identifiers(statement).count(name) == 1 else None


def leaves_unchanged(step: MergingStep, kind: str, is_of_library: OfLibrary) -> bool:
    """Whether all calls are of functions of the C library that return one of two numbers as it is."""
    statement = only_statement(step.text)
    calls = [] if statement is None else [one for one in walk(statement) if one.type == "call_expression"]
    called = {field(one, "function").text for one in calls}
    return all(one in _SELECTING.get(kind, ()) and is_of_library(one, step.node.span) for one in called)


def begins_as_identity(value: Node, operation: str, kind: str, is_of_library: OfLibrary) -> bool:
    """Whether combining it with anything of a type changes nothing: for `needs_finite`, with no infinity."""
    text = packed(without_parentheses(value).text)
    if not all(is_of_library(name, value.span) for name in identifiers(value)):
        return False
    if operation not in EXTREMES:
        return re.fullmatch(_NUMBERS[operation], text) is not None
    if kind in _UNSIGNED:
        return text == ("0" if operation == "max" else f"{_UNSIGNED[kind]}_MAX")
    if kind in _SIGNED:
        return text == f"{_SIGNED[kind]}_{'MIN' if operation == 'max' else 'MAX'}"
    sign, limits = "-" if operation == "max" else "", f"{_INFINITE.get(kind)}|{_FINITE.get(kind)}"
    return text.startswith(sign) and kind in _FINITE and re.fullmatch(limits, text[len(sign) :]) is not None


def needs_finite(before: str, after: str) -> bool:
    """Whether a text was rewritten by taking the largest finite number for larger than all others."""
    return any(before.count(name) > after.count(name) for name in _FINITE.values())
