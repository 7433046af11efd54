"""Assumptions on the parameters that the user states: `#pragma loopwright assume n >= 1`, or `--assume`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.casts import Ambiguous, parse_settled
from loopwright.c.expression_types import COMPARISONS
from loopwright.c.regions import Directive
from loopwright.c.syntax import Node, field, operator, refuse, walk
from loopwright.c.tokens import blank, names_in
from loopwright.errors import BadInput, Code
from loopwright.model.program import Assumption, AssumptionKind
from loopwright.presburger.named import everywhere, names_of
from loopwright.read.c.affine import condition
from loopwright.read.c.frames import Frame, NotAffine
from loopwright.read.c.names import Setting
from loopwright.read.text import refuse_long_numbers
from loopwright.source import Source, Span

_ASSUME = re.compile(r"\s*(?:loopwright\s+)?assume\b")
_HINT = "write a condition on the parameters, such as n >= 1 && m >= n"
_BEFORE, _AFTER = "int x=", ";"


_DEEPEST = 250
"""The maximum number of levels of syntax, as the reader is recursive."""


def refuse_deep(root: Node) -> None:
    """Raise if a source has more levels of syntax below its root than can be read."""
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > _DEEPEST:
            raise refuse(node, "this is nested too deeply", "split the expression or the loops")
        pending.extend((child, depth + 1) for child in reversed(node.children))


def is_assume(pragma: Directive) -> bool:
    return pragma.name == "pragma" and _ASSUME.match(pragma.argument) is not None


def assume_pragma(setting: Setting, pragma: Directive) -> tuple[isl.Set, Assumption]:
    """The set that a pragma states, and its entry in the list of assumptions."""
    match = _ASSUME.match(pragma.argument)
    start = pragma.argument_start + (0 if match is None else match.end())
    source = pragma.place.source
    text = source.text
    while text[start] in " \t" and start < pragma.place.end:
        start += 1
    head = blank(text[: start - len(_BEFORE)]) + _BEFORE
    return _condition(setting, Span(source, start, pragma.place.end), head)


def assume_option(setting: Setting, option: str) -> tuple[isl.Set, Assumption]:
    """The set that an `--assume` option states; its errors point into the option."""
    refuse_long_numbers(Source("--assume", option))
    if re.search("[\ud800-\udfff]", option):  # bytes that are no text
        where = Source("--assume", option).whole
        raise BadInput(Code.OPTION, "this is not a condition", span=where, hint=_HINT)
    padded = Source("--assume", " " * len(_BEFORE) + option)
    try:
        stated, assumption = _condition(setting, padded.at(len(_BEFORE), len(option)), _BEFORE)
    except BadInput as failure:
        raise _in_option(failure, option) from None
    file = setting.region.source
    used = names_in(file.text)
    for name in names_of(stated):
        if name not in used:
            message = f"there is no '{name}' in {file.path}"
            raise BadInput(Code.OPTION, message, span=Source("--assume", option).whole, hint=_HINT)
    return stated, replace(assumption, place=None)


def _in_option(failure: BadInput, option: str) -> BadInput:
    """The same error, with its columns counted in the option itself."""
    span = failure.span
    if span is not None:
        start, end = (max(0, offset - len(_BEFORE)) for offset in (span.start, span.end))
        span = Span(Source(span.file, option), start, end)
    return BadInput(failure.code, failure.message, span=span, hint=failure.hint)


def _condition(setting: Setting, stated: Span, head: str) -> tuple[isl.Set, Assumption]:
    """The set that `stated` describes; the parser gets `head`, as long as what precedes it."""
    words = re.sub(r"\band\b", "&& ", re.sub(r"\bor\b", "||", stated.text))
    try:
        root = parse_settled(stated.source, head + words + _AFTER, setting.kinds)
    except Ambiguous as failure:
        raise refuse(stated, str(failure), "leave out the parentheses around it") from None
    declarations = [node for node in root.named_children if node.type == "declaration"]
    if root.has_error or len(declarations) != 1 or not stated.text.strip():
        raise refuse(stated, "this is not a condition", _HINT, code=Code.OPTION)
    refuse_deep(declarations[0])
    value = field(field(declarations[0], "declarator"), "value")
    _refuse_chains(value)
    try:
        result = condition(value, Frame(setting, everywhere()))
    except NotAffine as failure:
        raise refuse(
            failure.node, f"an assumption must be affine, but {failure.reason}", _HINT, code=Code.NOT_AFFINE
        ) from None
    if result.is_empty():
        raise refuse(stated, "this is never true", _HINT, code=Code.OPTION)
    return result, Assumption(AssumptionKind.USER, stated.text.strip(), stated, holds_for=result)


def _refuse_chains(value: Node) -> None:
    """Raise for `1 <= n <= m`, which means `(1 <= n) <= m` in C and is not intended."""
    for node in walk(value):
        if node.type == "binary_expression" and operator(node) in COMPARISONS:
            for side in (field(node, "left"), field(node, "right")):
                if side.type == "binary_expression" and operator(side) in COMPARISONS:
                    raise refuse(
                        node, "C does not chain comparisons", "write a <= b && b <= c", code=Code.OPTION
                    )


def combined(sets: Sequence[isl.Set]) -> isl.Set:
    result = everywhere()
    for item in sets:
        result = result.intersect(item)
    return result
