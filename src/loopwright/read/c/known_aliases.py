"""Pointers that the function around a region shows to point into an array the region uses as well.

That two arrays have no memory in common is taken on trust, but not against `double *p = a;`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.c.references import pointer_sum, reference_of
from loopwright.c.syntax import Node, field, operator, refuse, walk, without_parentheses
from loopwright.read.c.names import Setting, Unfollowed
from loopwright.source import Span


def refuse_known_aliases(setting: Setting, root: Node, region: Span) -> None:
    """Raise where one of two names for the same memory is written in the region."""
    names = setting.names
    arrays = {name for name, rank in names.ranks.items() if rank > 0 and name not in names.iterators}
    for function in root.named_children:
        if function.type != "function_definition" or not function.span.contains(region):
            continue
        given = [(target, value) for target, value in _given(function) if not region.contains(target.span)]
        into: dict[str, set[str]] = {}
        for target, value in given:
            into.setdefault(target.text, set()).update(_pointed_to(setting, value))
        for target, _ in given:
            pointer = target.text
            for array in sorted(_reached(into, pointer) & arrays - {pointer}):
                both = {array, pointer}
                if pointer in arrays and both & names.assigned and not both <= names.untracked:
                    failure = refuse(
                        target,
                        f"'{pointer}' points into '{array}', and the region uses both",
                        f"use one of them in the region: '{array}' with other subscripts, or '{pointer}'",
                    )
                    raise Unfollowed(failure, names=frozenset(both))


def _reached(into: Mapping[str, set[str]], pointer: str) -> set[str]:
    """What a pointer may point into, through other pointers too."""
    found: set[str] = set()
    pending = [pointer]
    while pending:
        new = into.get(pending.pop(), set()) - found
        found |= new
        pending += sorted(new)
    return found


def _given(function: Node) -> Iterator[tuple[Node, Node]]:
    """The variables that are given a value, and the values."""
    for node in walk(function):
        if node.type == "init_declarator":
            target, value = field(node, "declarator"), field(node, "value")
            while target.type.endswith("_declarator"):
                target = target.child_by_field_name("declarator") or target.named_children[0]
        elif node.type == "assignment_expression" and operator(node) == "=":
            target, value = without_parentheses(field(node, "left")), field(node, "right")
        else:
            continue
        if target.type == "identifier":
            yield target, value


def _pointed_to(setting: Setting, value: Node) -> set[str]:
    """The arrays that a pointer with this value may point into: a, a + i, &a[i], (T *)a, c ? a : b."""
    core = without_parentheses(value)
    match core.type:
        case "cast_expression":
            return _pointed_to(setting, field(core, "value"))
        case "conditional_expression":
            sides = (field(core, side) for side in ("consequence", "alternative"))
            return set().union(*(_pointed_to(setting, side) for side in sides))
        case "pointer_expression" if operator(core) == "&":
            reference = reference_of(field(core, "argument"))
            return set() if reference is None else {reference.base}
    target, _ = pointer_sum(core)
    if target != core:
        return _pointed_to(setting, target)
    reference = reference_of(core)
    if reference is None:
        return set()
    declared = setting.declarations.visible(reference.base, setting.region)
    rank = max(setting.names.ranks.get(reference.base, 0), 0 if declared is None else declared.rank)
    return {reference.base} if len(reference.subscripts) < rank else set()
