"""What a function returns, as the value of a variable: so that the statements before it are all that counts.

    double f(..) { B; return e; }           double f(..) { double r; B; r = (e); return r; }
    void f(..) { if (c) return; B }         void f(..) { if (c) ; else { B } }

It is the same where no other `return` is in the function: what is returned is converted to the type of the
function as in an assignment, and nothing after B uses what B declares.  r is a name that the text does not
have.  Lines stay.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.c.syntax import Node, field, named_children
from loopwright.c.tokens import on_one_line
from loopwright.source import Edit, Source

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
    statements = [part for part in named_children(body) if part.type != "comment"]
    if kind.type not in _TYPES or not statements or "\\\n" in body.text or any(body.of_type(*_LABELS)):
        return ()
    early = [(one, found) for one in statements if (found := _early(one)) is not None]
    last = statements[-1] if statements[-1].type == "return_statement" else None
    returns = [found for _, found in early] + ([] if last is None else [last])
    is_void = kind.text == "void"
    if len(body.of_type("return_statement")) != len(returns) or statements[-1] in [one for one, _ in early]:
        return ()
    if any((_value(one) is None) != is_void for one in returns) or (last is None and not is_void):
        return ()
    edits = [edit for one in returns for edit in _assigned(one)]
    edits += [(one.end, one.end, " else {") for one, _ in early]
    end = statements[-1].end
    closing = " }" * len(early)
    if is_void:
        return (*edits, (end, end, closing)) if returns else ()
    edits.append((end, end, f"{closing} return {RETURNED};"))
    return ((body.start + 1, body.start + 1, f" {on_one_line(kind.text)} {RETURNED};"), *edits)


_LABELS = ("labeled_statement", "goto_statement", "preproc_if", "preproc_ifdef")


def _early(statement: Node) -> Node | None:
    """The `return` of `if (c) return e;`."""
    if statement.type != "if_statement" or statement.child_by_field_name("alternative") is not None:
        return None
    inner = field(statement, "consequence")
    if inner.type == "compound_statement":
        parts = [part for part in named_children(inner) if part.type != "comment"]
        inner = parts[0] if len(parts) == 1 else inner
    return inner if inner.type == "return_statement" else None


def _value(statement: Node) -> Node | None:
    values = [part for part in named_children(statement) if part.type != "comment"]
    return values[0] if len(values) == 1 else None


def _assigned(statement: Node) -> tuple[Edit, ...]:
    """`return e;` as an assignment."""
    value, word = _value(statement), statement.start
    if value is None:
        return ((word, word + len("return"), ""),)
    return ((word, word + len("return"), f"{RETURNED} = ("), (value.end, value.end, ")"))
