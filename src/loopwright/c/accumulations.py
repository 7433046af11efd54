"""The forms of an accumulation in C: `s += e`, `s = s + e`, `s = max(s, e)`, `if (e < s) s = e`.

Each of them may depend on a condition without the accumulator: `if (c) s += e`.  Other assignments in `if (e
< s) { s = e; p = f; }` are carried along: the place of the minimum, an argmin.

Only the syntax is examined here: the operator, and the occurrences of the accumulator.  The accesses show
whether `e` reads the accumulator.
"""

from __future__ import annotations

import re

from loopwright.c.conditions import is_truth_value
from loopwright.c.loops import PREFIX, only_statement
from loopwright.c.syntax import Node, field, named_children, operator, walk, without_parentheses
from loopwright.lazy_dataclass import dataclass

COMPOUND = {"+=": "+", "-=": "+", "*=": "*", "&=": "&", "|=": "|", "^=": "^"}
"""`s -= e` adds -e."""

CHAINS = {"+": ("+", "-"), "*": ("*",), "&": ("&",), "|": ("|",), "^": ("^",)}

SMALLER = ("<", "<=")
GREATER = (">", ">=")

CALLS = {
    name: "min" if "min" in name.lower() else "max"
    for name in ("min", "max", "MIN", "MAX", "fmin", "fmax", "fminf", "fmaxf", "fminl", "fmaxl", "Min", "Max")
}



@dataclass(frozen=True)
class AccumulationSyntax:
    """`target` (operator)= e, where `reads` are the occurrences of the accumulator in the form.

    Ranges are offsets into the text of the statement.
    """

    operator: str
    target: tuple[int, int]
    reads: tuple[tuple[int, int], ...]
    carried: tuple[tuple[int, int], ...] = ()
    """The variables set together with the accumulator."""
    value: tuple[int, int] = (0, 0)
    """With `carried`, the value compared with the accumulator."""


def accumulation_of(text: str) -> AccumulationSyntax | None:
    """The accumulation that the text of a statement forms, or None."""
    statement = only_statement(text)
    if statement is None:
        return None
    found = _statement(statement)
    if found is None:
        return _extreme(statement)
    name, target, reads = found
    return AccumulationSyntax(name, _range(target), tuple(_range(node) for node in reads))


_Found = tuple[str, Node, tuple[Node, ...]]


def _range(node: Node) -> tuple[int, int]:
    node = without_parentheses(node)
    return node.start - len(PREFIX), node.end - len(PREFIX)


def _statement(node: Node) -> _Found | None:
    match node.type:
        case "expression_statement":
            inner = node.only_expression
            return None if inner is None else _expression(inner)
        case "if_statement" if node.child_by_field_name("alternative") is None:
            return _guarded(node)
        case _:
            return None


def _expression(node: Node) -> _Found | None:
    match node.type:
        case "update_expression":
            target = field(node, "argument")
            return "+", target, (target,)
        case "assignment_expression" if operator(node) in COMPOUND:
            target = field(node, "left")
            return COMPOUND[operator(node)], target, (target,)
        case "assignment_expression" if operator(node) == "=":
            return _assignment(field(node, "left"), without_parentheses(field(node, "right")))
        case _:
            return None


def _assignment(target: Node, value: Node) -> _Found | None:
    match value.type:
        case "binary_expression":
            return _chain(target, value)
        case "call_expression":
            return _call(target, value)
        case "conditional_expression":
            return _choice(
                target, field(value, "condition"), field(value, "consequence"), field(value, "alternative")
            )
        case _:
            return None


def _chain(target: Node, value: Node) -> _Found | None:
    """`s = a + s - b`: the accumulator is one of the terms, with a plus."""
    for name, operators in CHAINS.items():
        if operator(value) in operators:
            own = [(node, sign) for node, sign in _terms(value, operators, 1) if _same(node, target)]
            return (name, target, (own[0][0],)) if len(own) == 1 and own[0][1] > 0 else None
    return None


def _terms(node: Node, operators: tuple[str, ...], sign: int) -> list[tuple[Node, int]]:
    inside = without_parentheses(node)
    if inside.type != "binary_expression" or operator(inside) not in operators:
        return [(inside, sign)]
    right = -sign if operator(inside) == "-" else sign
    left = _terms(field(inside, "left"), operators, sign)
    return left + _terms(field(inside, "right"), operators, right)


def _call(target: Node, value: Node) -> _Found | None:
    """`s = max(s, e)`, with the arguments in either order."""
    arguments = named_children(field(value, "arguments"))
    name = CALLS.get(_tokens(field(value, "function")))
    own = [node for node in arguments if _same(node, target)]
    return (name, target, tuple(own)) if name and len(arguments) == 2 and len(own) == 1 else None


def _choice(target: Node, test: Node, then: Node, orelse: Node) -> _Found | None:
    """`s = e < s ? e : s`, in all four forms."""
    compared = _comparison(test, target)
    if compared is None:
        return None
    takes_other, occurrence, other = compared
    if _same(then, other) and _same(orelse, target):
        return takes_other, target, (occurrence, orelse)
    if _same(then, target) and _same(orelse, other):
        return ("max" if takes_other == "min" else "min"), target, (occurrence, then)
    return None


def _guarded(node: Node) -> _Found | None:
    """`if (e < s) s = e;`, or an accumulation under a condition."""
    body = field(node, "consequence")
    if body.type == "compound_statement" and len(named_children(body)) == 1:
        body = named_children(body)[0]
    inner = body.only_expression
    found = None if inner is None else _expression(inner)
    if found is not None or inner is None or body.only_assignment is None:
        return found
    target = field(inner, "left")
    compared = _comparison(field(node, "condition"), target)
    if compared is None or not _same(field(inner, "right"), compared[2]):
        return None
    return compared[0], target, (compared[1],)


def _extreme(node: Node) -> AccumulationSyntax | None:
    """`if (e < s) { s = e; p = f; }`: an assignment to the accumulator among others, in any order."""
    if node.type != "if_statement" or node.child_by_field_name("alternative") is not None:
        return None
    body = field(node, "consequence")
    inside = named_children(body) if body.type == "compound_statement" else []
    if len(inside) < 2 or any(one.type != "expression_statement" for one in inside):
        return None
    sets = [part for one in inside for part in named_children(one)]
    if any(one.type != "assignment_expression" or operator(one) != "=" for one in sets):
        return None
    for one in sets:
        target = field(one, "left")
        compared = _comparison(field(node, "condition"), target)
        if compared is not None and _same(field(one, "right"), compared[2]):
            others = tuple(_range(field(other, "left")) for other in sets if other is not one)
            found, occurrence, value = compared
            return AccumulationSyntax(
                f"arg{found}", _range(target), (_range(occurrence),), others, _range(value)
            )
    return None


def collects_tests(text: str) -> bool:
    """Whether a statement is `s |= a < b` or alike: a bitwise operation with 0 or 1."""
    statement = only_statement(text)
    inner = None if statement is None else statement.only_expression
    if inner is None or inner.type != "assignment_expression" or operator(inner) not in ("|=", "&=", "^="):
        return False
    return is_truth_value(without_parentheses(field(inner, "right")))


def without_subscripts(text: str) -> str:
    while (shorter := _SUBSCRIPT.sub("", text)) != text:
        text = shorter
    return text


_SUBSCRIPT = re.compile(r"\[[^][]*\]")


def _comparison(test: Node, target: Node) -> tuple[str, Node, Node] | None:
    """For `e < s` or `s > e`: the operator if s is then set to e; the occurrence of s; e."""
    test = without_parentheses(test)
    if test.type != "binary_expression" or operator(test) not in SMALLER + GREATER:
        return None
    left, right = field(test, "left"), field(test, "right")
    if _same(left, target) == _same(right, target):
        return None
    own, other = (left, right) if _same(left, target) else (right, left)
    other_is_smaller = (operator(test) in SMALLER) == (own is right)
    return ("min" if other_is_smaller else "max"), own, other


def _same(one: Node, other: Node) -> bool:
    return _tokens(without_parentheses(one)) == _tokens(without_parentheses(other))


def _tokens(node: Node) -> str:
    """The tokens without comments."""
    leaves = [part for part in walk(node) if not part.children and part.type != "comment"]
    return " ".join(part.text for part in leaves)
