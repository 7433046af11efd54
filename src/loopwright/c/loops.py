"""The parts of a `for` loop, and forms of it that are recognised without analysis.

    for (i = n; i-- > 0;) body          runs body for i = n - 1, ..., 0
    for (i = n; i--;) body              is equivalent, or counts down from a negative n until it overflows
    for (...) { A; if (c) continue; B }     is    for (...) { A; if (!c) B }

Also additions to a variable, `x += a + b;`, and their parts, from syntax only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from loopwright.c.declarations import declared_name
from loopwright.c.syntax import Node, field, named_children, operator, parse, walk, without_parentheses
from loopwright.c.tokens import decimal
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source

LOOPS = ("for_statement", "while_statement", "do_statement")
LEAVING = ("return_statement", "goto_statement", "break_statement", "continue_statement")
"""Statements after which the next one may not run."""


def loop_iterator(loop: Node) -> str | None:
    """The variable that a `for` initialises, if it initialises exactly one."""
    start = loop.child_by_field_name("initializer")
    if start is None:
        return None
    if start.type == "declaration":
        declarators = start.children_by_field_name("declarator")
        named = declared_name(declarators[0]) if len(declarators) == 1 else None
        return named[0] if named is not None and named[1] == 0 else None
    if start.type == "assignment_expression":
        target = without_parentheses(field(start, "left"))
        return target.text if target.type == "identifier" else None
    return None


def outer_iterators(loops: Iterable[Node]) -> tuple[str, ...]:
    """The iterators of `for` loops that are assigned, not declared, in the head of their loop."""
    found: dict[str, None] = {}
    for node in loops:
        name = loop_iterator(node)
        if name is not None and field(node, "initializer").type != "declaration":
            found.setdefault(name)
    return tuple(found)


def first_value(node: Node) -> Node:
    """The initial value of a loop's iterator."""
    start = field(node, "initializer")
    if start.type == "declaration":
        return field(field(start, "declarator"), "value")
    return field(start, "right")


def unit_step(update: Node, name: str) -> int | None:
    """1 for `i++` and `++i`, -1 for `i--` and `--i`; None if another variable changes."""
    is_mine = without_parentheses(field(update, "argument")).text == name
    return (1 if operator(update) == "++" else -1) if is_mine else None


def loop_step(loop: Node, name: str) -> int | None:
    """The number that is added to an iterator after each iteration: 1 for `i++`, -4 for `i -= 4`."""
    update = loop.child_by_field_name("update")
    return None if update is None else added_to(update, name)


def added_to(update: Node, name: str) -> int | None:
    """The number that `i++`, `i -= 4` and the like add to a variable; None for other expressions."""
    core = without_parentheses(update)
    if core.type == "update_expression":
        return unit_step(core, name)
    if core.type != "assignment_expression" or field(core, "left").text != name:
        return None
    size = decimal(without_parentheses(field(core, "right")).text)
    return SIGNS[operator(core)] * size if size and operator(core) in SIGNS else None


class Operands(NamedTuple):
    """`left sign right`, without parentheses around the operands."""

    left: Node
    sign: str
    right: Node


def binary(node: Node | None) -> Operands | None:
    """The parts of a binary expression; None for any other."""
    core = None if node is None else without_parentheses(node)
    if core is None or core.type != "binary_expression":
        return None
    left, right = (without_parentheses(field(core, side)) for side in ("left", "right"))
    return Operands(left, operator(core), right)


def only_inside(statement: Node) -> Node:
    """The only statement of a block, recursively; any other statement itself."""
    while statement.type == "compound_statement" and len(named_children(statement)) == 1:
        statement = named_children(statement)[0]
    return statement


@dataclass(frozen=True, slots=True)
class Countdown:
    """`i-- > limit`, the test of a loop without an update; `i--` by itself has no limit, and it is 0."""

    name: Node
    limit: Node | None


def countdown_of(loop: Node) -> Countdown | None:
    """The countdown in a loop's test, if there is one."""
    test = loop.child_by_field_name("condition")
    if loop.child_by_field_name("update") is not None or test is None:
        return None
    core = without_parentheses(test)
    is_compared = core.type == "binary_expression" and operator(core) == ">"
    counted = without_parentheses(field(core, "left")) if is_compared else core
    is_postfix = counted.type == "update_expression" and counted.children[0] == field(counted, "argument")
    if not is_postfix or operator(counted) != "--":
        return None
    name = without_parentheses(field(counted, "argument"))
    return Countdown(name, field(core, "right") if is_compared else None)


def skip_condition(node: Node) -> Node | None:
    """The condition c, if `node` is `if (c) continue;` at the top level of the body of a loop."""
    if node.type != "if_statement" or node.child_by_field_name("alternative") is not None:
        return None
    inside = only_inside(field(node, "consequence"))
    block = node.parent
    around = block.parent if block is not None and block.type == "compound_statement" else None
    is_top = around is not None and around.type == "for_statement"
    return field(node, "condition") if is_top and inside.type == "continue_statement" else None


SIGNS = {"+=": 1, "-=": -1}
ASSIGNING = {1: "+=", -1: "-="}

PREFIX = "void f(void) {"


@dataclass(frozen=True)
class AddedSum:
    """`target += first + second;`: the nodes of its parts, and the operators that add each part by itself."""

    target: Node
    first: Node
    second: Node
    operators: tuple[str, str]

    @property
    def texts(self) -> tuple[str, str]:
        """The two statements that add one part each."""
        parts = zip(self.operators, (self.first, self.second), strict=True)
        one, other = (f"{self.target.text} {sign} {part.text};" for sign, part in parts)
        return one, other


def added_sum(text: str) -> AddedSum | None:
    """The sum of two parts that a statement adds to a variable, or subtracts from it."""
    statement = only_statement(text)
    assignment = None if statement is None else statement.only_expression
    if assignment is None or assignment.type != "assignment_expression" or operator(assignment) not in SIGNS:
        return None
    value = without_parentheses(field(assignment, "right"))
    if value.type != "binary_expression" or operator(value) not in ("+", "-"):
        return None
    sign = SIGNS[operator(assignment)]
    other = sign if operator(value) == "+" else -sign
    parts = field(value, "left"), field(value, "right")
    return AddedSum(field(assignment, "left"), *parts, (ASSIGNING[sign], ASSIGNING[other]))


def only_statement(text: str) -> Node | None:
    """The syntax of a text that is a single statement."""
    root = parse(Source("", f"{PREFIX}{text}}}"))
    if root.has_error or len(root.named_children) != 1:
        return None
    statements = named_children(field(root.named_children[0], "body"))
    return statements[0] if len(statements) == 1 else None


def words_of(text: str) -> tuple[str, ...]:
    """The tokens of one statement, without comments."""
    statement = only_statement(text)
    leaves = [] if statement is None else [one for one in walk(statement) if not one.children]
    return tuple(one.text for one in leaves if one.type != "comment")
