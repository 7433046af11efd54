"""Proves that the numbers of kernels fit into 32 bits, for the sizes that their launcher accepts.

`LW_INDEX i` is a number of 64 bits in the source that is proved (`launcher`), and one of 32 bits on a device.
Both are equal if the absolute value of every number that is computed is at most 2^30.  Each expression has an
interval of values, as in `overflow`, derived from the bounds of the launcher:

    LW_WITHIN(n, b)  n in [-b, b],    for (LW_INDEX i = s; i <= e; i += k)  i in [min s, max e]

The rest of the range up to 2^31 is for the step that a loop adds to its last value.  A number must be a
subscript or be compared: a number that is used as a value of the program may need more than 32 bits there,
and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from loopwright.c.expression_types import COMPARISONS
from loopwright.c.macros import integer_text
from loopwright.c.syntax import Node, named_children, walk
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.macros import call_arguments, called_by, called_name, part, statement_calls

Interval = tuple[int, int]
Numbers = Mapping[str, Interval]

MOST = 1 << 30
_STARTS = re.compile(r"LW_(BLOCK|THREAD|LANE)")
_TESTS = (*COMPARISONS, "&&", "||", "&", "|")


def bounded_sizes(nodes: Sequence[Node]) -> dict[str, int]:
    """The bounds of sizes, from the statements LW_WITHIN(n, 16777216) at the start of a launcher."""
    found: dict[str, int] = {}
    for _, name, call in statement_calls(list(nodes)):
        if name != "LW_WITHIN":
            break
        size, bound = call_arguments(call)
        if size in found or not bound.isdigit():
            raise Unreadable(f"an unknown bound of {size}")
        found[size] = int(bound)
    return found


def refuse_wide(statements: Sequence[Node], numbers: Numbers) -> None:
    """Raises Unreadable if the absolute value of a number may exceed 2^30."""
    for node in statements:
        if node.type == "declaration" and part(node, "type").text == "LW_INDEX":
            declared = part(node, "declarator")
            numbers = {**numbers, part(declared, "declarator").text: _value(part(declared, "value"), numbers)}
        else:
            _statement(node, numbers)


def loop_numbers(node: Node, numbers: Numbers) -> Numbers:
    """The intervals of numbers inside a loop: those outside it, and its iterator."""
    declared = part(part(node, "initializer"), "declarator")
    name, start = part(declared, "declarator").text, part(declared, "value")
    if _STARTS.fullmatch(called_name(start) or "") is not None:
        start = named_children(part(start, "arguments"))[1]
    least, greatest = _value(start, numbers)
    test, update = part(node, "condition"), part(node, "update")
    added = part(update, "right") if update.type == "assignment_expression" else None
    step = call_arguments(added)[-1:] if added is not None else []
    step = step or ([] if added is None else [added.text])
    if not step or not step[0].isdigit() or int(step[0]) > 1024 or part(update, "operator").type != "+=":
        raise Unreadable(f"the loop over {name} does not count up by a small number")
    if test.type != "binary_expression" or part(test, "operator").type not in ("<", "<="):
        raise Unreadable(f"the loop over {name} has no bound")
    last = _value(part(test, "right"), numbers)[1]
    if part(test, "left").text != name:
        raise Unreadable(f"the loop over {name} has no bound")
    return {**numbers, name: (least, max(least, greatest, last))}


def _statement(node: Node, numbers: Numbers) -> None:
    match node.type:
        case "compound_statement":
            refuse_wide(named_children(node), numbers)
        case "for_statement":
            _statement(part(node, "body"), loop_numbers(node, numbers))
        case "if_statement":
            if "LW_ONE" not in part(node, "condition").text:
                _value(part(node, "condition"), numbers)
            for one in named_children(node)[1:]:
                _statement(one, numbers)
        case "else_clause":
            _statement(named_children(node)[0], numbers)
        case "expression_statement" if (called_by(node) or "").startswith("LW_"):
            return
        case "expression_statement" | "declaration":
            for index in _subscripts(node):
                _value(index, numbers)
            _refuse_values(node, numbers)
        case _:
            raise Unreadable(f"a {node.type} among numbers of 32 bits")


def _subscripts(node: Node) -> Iterator[Node]:
    return (part(one, "index") for one in walk(node) if one.type == "subscript_expression")


def _refuse_values(node: Node, numbers: Numbers) -> None:
    """Checks that a statement uses numbers only in its subscripts."""
    inside = {one.start for index in _subscripts(node) for one in walk(index)}
    for one in walk(node):
        if one.type == "identifier" and one.text in numbers and one.start not in inside:
            raise Unreadable(f"{one.text} is a value of the program, which may need more than 32 bits")


def _value(node: Node, numbers: Numbers) -> Interval:
    found = _unchecked(node, numbers)
    if not -MOST <= found[0] <= found[1] <= MOST:
        raise Unreadable(f"'{' '.join(node.text.split())}' may need more than 32 bits")
    return found


def _unchecked(node: Node, numbers: Numbers) -> Interval:
    match node.type:
        case "parenthesized_expression":
            return _value(named_children(node)[0], numbers)
        case "identifier" if node.text in numbers:
            return numbers[node.text]
        case "number_literal" if (number := integer_text(node.text)) is not None:
            return number, number
        case "unary_expression" if part(node, "operator").type == "-":
            least, greatest = _value(part(node, "argument"), numbers)
            return -greatest, -least
        case "binary_expression":
            return _binary(node, numbers)
        case "conditional_expression":
            _value(part(node, "condition"), numbers)
            one, other = (_value(part(node, name), numbers) for name in ("consequence", "alternative"))
            return min(one[0], other[0]), max(one[1], other[1])
        case "call_expression" if called_name(node) in ("min", "max"):
            both = [_value(one, numbers) for one in named_children(part(node, "arguments"))]
            chosen = min if called_name(node) == "min" else max
            return chosen(one[0] for one in both), chosen(one[1] for one in both)
        case "call_expression" if called_name(node) == "floord":
            value, divisor = (_value(one, numbers) for one in named_children(part(node, "arguments")))
            if divisor[0] == divisor[1] > 0:
                return value[0] // divisor[0], value[1] // divisor[0]
    raise Unreadable(f"the size of '{' '.join(node.text.split())}' is not known")


def _binary(node: Node, numbers: Numbers) -> Interval:
    left, right = (_value(part(node, side), numbers) for side in ("left", "right"))
    match part(node, "operator").type:
        case "+":
            return left[0] + right[0], left[1] + right[1]
        case "-":
            return left[0] - right[1], left[1] - right[0]
        case "*":
            products = [a * b for a in left for b in right]
            return min(products), max(products)
        case "/" if right[0] == right[1] > 0:
            return min(left[0] // right[0], 0), max(left[1] // right[0], 0)
        case "%" if right[0] == right[1] > 0:
            return min(max(left[0], 1 - right[0]), 0), max(min(left[1], right[0] - 1), 0)
        case sign if sign in _TESTS:
            return 0, 1
    raise Unreadable(f"the size of '{' '.join(node.text.split())}' is not known")
