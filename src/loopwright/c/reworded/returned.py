"""What a function returns, as the value of a variable: so that the statements before it are all that counts.

    double f(..) { B; return e; }         double f(..) { double r; B; r = (e); return r; }

It is the same where `return` is the last statement of the function and the only one: e is converted to the
type of the function as in an assignment.  r is a name that the text does not have.  Lines stay.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.c.reworded.plain_loops import Edit
from loopwright.c.syntax import Node, field, named_children
from loopwright.c.tokens import on_one_line
from loopwright.source import Source

RETURNED = "returned_value"
_TYPES = ("primitive_type", "sized_type_specifier", "type_identifier")


def with_returned_values(source: Source, functions: Iterable[Node]) -> Source:
    """The text in which these functions return the value of a variable, where they end with `return`."""
    if RETURNED in source.text:
        return source
    edits = [edit for one in functions for edit in _edits(one)]
    return source.edited(sorted(edits)) if edits else source


def _edits(function: Node) -> tuple[Edit, ...]:
    kind, declarator, body = (function.child_by_field_name(name) for name in ("type", "declarator", "body"))
    if kind is None or body is None or declarator is None or declarator.type != "function_declarator":
        return ()
    if kind.type not in _TYPES or kind.text == "void":
        return ()
    returns = body.of_type("return_statement")
    statements = [part for part in named_children(body) if part.type != "comment"]
    if len(list(returns)) != 1 or not statements or statements[-1].type != "return_statement":
        return ()
    values = [part for part in named_children(statements[-1]) if part.type != "comment"]
    if len(values) != 1 or "\\" in statements[-1].text:
        return ()
    start = field(function, "body").start + 1
    word = statements[-1].start
    end = values[0].end
    return (
        (start, start, f" {on_one_line(kind.text)} {RETURNED};"),
        (word, word + len("return"), f"{RETURNED} = ("),
        (end, end, ")"),
        (statements[-1].end, statements[-1].end, f" return {RETURNED};"),
    )
