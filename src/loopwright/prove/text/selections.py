"""Macros of kernels that stand for other C: what is selected, and what is copied at once.

    if (LW_SELECT(test)) statement                 if (test) statement
    LW_TOGETHER(2, c, 1, to, from);                for (long c = 1; c <= 2; c += 1) to = from;

All values are read before the first one is written, so `to` and `from` are of two arrays.  One of them is in
registers.  Of the other one, the last subscript is c and something else, and the first element has to be at a
multiple of the number of elements: rows of arrays begin at multiples of 32 elements, and those of an array
that threads share at multiples of their length, so that what is added to c is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from loopwright.c.macros import integer_text
from loopwright.c.syntax import Node, identifiers, named_children, walk
from loopwright.errors import Code, InternalError
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.kept import meant_kept
from loopwright.prove.text.macros import array_view, call_arguments, called_by, called_name, part
from loopwright.prove.text.split import meant_barriers
from loopwright.source import Edit

REGISTERS = 0
"""In place of a multiple: elements are wherever their lane has them."""
COUNTS = ("2", "4")


def meant(statements: Sequence[Node], text: str) -> Iterator[Edit]:
    """Where the macros stand in a kernel, and what they mean; Unreadable where nothing is known of one."""
    yield from meant_kept(statements, text)
    yield from meant_barriers(statements)
    nodes = [node for statement in statements for node in walk(statement)]
    calls = [one for one in nodes if one.type == "expression_statement" and called_by(one) is not None]
    rows = dict(length for one in calls for length in _row(one))
    for node in nodes:
        if node.type == "if_statement":
            yield from _selection(part(node, "condition"))
    for node in (one for one in calls if called_by(one) == "LW_TOGETHER"):
        yield node.start, node.end, _loop(node, rows)


def without_nested(edits: Sequence[Edit]) -> list[Edit]:
    """In order, without those inside of what another one takes out."""
    found: list[Edit] = []
    for one in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if not found or one[0] >= found[-1][1]:
            found.append(one)
        elif one[1] > found[-1][1] or found[-1][2]:
            raise InternalError(Code.INTERNAL, "two macros of a kernel overlap")
    return found


def _row(node: Node) -> Iterator[tuple[str, int]]:
    """The array that a statement declares, with a number of elements that rows begin at multiples of."""
    macro, arguments = called_by(node) or "", call_arguments(named_children(node)[0])
    if macro.startswith("LW_REGISTERS_"):
        yield arguments[1], REGISTERS
    elif macro.startswith("LW_SHARED_") and arguments[-1].isdigit():
        yield arguments[1], gcd(int(arguments[-1]), 32) if len(arguments) > 3 else 32
    elif (view := array_view(macro, arguments)) is not None and not view.rows:
        yield view.name, 32


def _selection(condition: Node) -> Iterator[tuple[int, int, str]]:
    inside = named_children(condition)
    if len(inside) == 1 and called_name(inside[0]) == "LW_SELECT":
        name = part(inside[0], "function")
        yield name.start, name.end, ""


def _loop(node: Node, rows: Mapping[str, int]) -> str:
    arguments = named_children(part(named_children(node)[0], "arguments"))
    shown = " ".join(node.text.split())
    if len(arguments) != 5:
        raise Unreadable(f"a copy of neighbours nothing is known of: {shown}")
    count, name, first, to, source = (one.text for one in arguments)
    if count not in COUNTS or not name.isidentifier() or not first.isdigit():
        raise Unreadable(f"a copy of neighbours nothing is known of: {shown}")
    multiples = [rows.get(_array(one), 1) for one in arguments[3:]]
    if sorted(one == REGISTERS for one in multiples) != [False, True]:
        raise Unreadable(f"a copy of neighbours that is not one between registers and an array: {shown}")
    for one, multiple in zip(arguments[3:], multiples, strict=True):
        _check_neighbours(one, name, int(first), int(count), multiple)
    last = int(first) + int(count) - 1
    return f"for (long {name} = {first}; {name} <= {last}; {name} += 1) {to} = {source};"


def _array(access: Node) -> str:
    """The name of an array with subscripts."""
    return _array(part(access, "argument")) if access.type == "subscript_expression" else access.text


def _check_neighbours(access: Node, name: str, first: int, count: int, multiple: int) -> None:
    """The last subscript alone has the iterator, which is a term of it; the rest is a multiple with it."""
    others = identifiers(part(access, "argument"))
    terms = _terms(part(access, "index"), 1)
    if name in others or terms.pop(name, 0) != 1:
        raise Unreadable(f"{access.text} is not one of neighbours along {name}")
    begins = terms.pop("", 0) + first
    if multiple == REGISTERS:
        aligned = not any(terms.values())
    else:
        aligned = multiple % count == 0 and not any(one % count for one in (begins, *terms.values()))
    if not aligned:
        raise Unreadable(f"{access.text} does not begin at a multiple of {count} elements")


def _terms(node: Node, factor: int) -> dict[str, int]:
    """A sum of multiples of names, and of 1 under the name ''."""
    match node.type:
        case "parenthesized_expression":
            return _terms(named_children(node)[0], factor)
        case "identifier":
            return {node.text: factor}
        case "number_literal" if (number := integer_text(node.text)) is not None:
            return {"": factor * number}
        case "binary_expression":
            return _combined(node, factor)
        case _:
            raise Unreadable(f"nothing is known of the subscript {node.text}")


def _combined(node: Node, factor: int) -> dict[str, int]:
    left, right, sign = part(node, "left"), part(node, "right"), part(node, "operator").type
    match sign:
        case "+" | "-":
            found = _terms(left, factor)
            for key, more in _terms(right, factor if sign == "+" else -factor).items():
                found[key] = found.get(key, 0) + more
            return found
        case "*" if left.type == "number_literal" and (number := integer_text(left.text)) is not None:
            return _terms(right, factor * number)
        case _:
            raise Unreadable(f"nothing is known of the subscript {node.text}")
