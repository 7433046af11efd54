"""Whether evaluating an expression once more changes anything: subscripts are, to be checked."""

from __future__ import annotations

from loopwright.c.macros import definitions, hidden_names
from loopwright.c.references import reference_of
from loopwright.c.syntax import Node, field, walk
from loopwright.check.program.reachable import Function, ReachedCode
from loopwright.read.c.purity import INDEX_HELPERS, LIBRARY

_CHANGES = ("update_expression", "assignment_expression")


def changed_in(node: Node) -> Node | None:
    """The first assignment in an expression."""
    return next((part for part in walk(node) if part.type in _CHANGES), None)


def call_with_effects(known: ReachedCode, node: Node) -> Node | None:
    """The first call in an expression that is not known to be a value and nothing else."""
    for part in walk(node):
        if part.type == "call_expression" and not _is_value(known, field(part, "function"), ()):
            return part
    return None


def _is_value(known: ReachedCode, function: Node, around: tuple[str, ...]) -> bool:
    name = function.text
    if function.type == "parenthesized_expression":
        return True  # a cast
    if definitions(known.macros, name):
        called = [word for _, word, is_call in hidden_names(known.macros, name) if is_call]
        return all(_is_named_value(known, word, around) for word in called)
    return function.type == "identifier" and _is_named_value(known, name, around)


def _is_named_value(known: ReachedCode, name: str, around: tuple[str, ...]) -> bool:
    is_pure = name in known.pure or name in known.declarations.pure_functions
    if name in around or name in LIBRARY or name in INDEX_HELPERS or is_pure:
        return True
    found = [one for one in known.functions if one.name == name]
    return bool(found) and all(_is_function_of_arguments(known, one, (*around, name)) for one in found)


def _is_function_of_arguments(known: ReachedCode, function: Function, around: tuple[str, ...]) -> bool:
    """Whether a function assigns only variables of its own that do not outlive it."""
    for part in walk(function.body):
        if part.type == "storage_class_specifier" and part.text == "static":
            return False
        if part.type == "call_expression" and not _is_value(known, field(part, "function"), around):
            return False
        if part.type in _CHANGES:
            target = field(part, "left" if part.type == "assignment_expression" else "argument")
            reference = reference_of(target)
            here = None if reference is None else known.declarations.visible(reference.base, target.span)
            if here is None or here.rank > 0 or not function.node.span.contains(here.place):
                return False
    return True
