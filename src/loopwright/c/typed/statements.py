"""Builds statements with the expressions of `builder` from cursors, and finds those of a region."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopwright.c.typed import front_end, tree
from loopwright.c.typed.builder import Builder, Range
from loopwright.c.typed.front_end import Cursor

_WRITTEN = {
    "WHILE_STMT": r"while \( \)",
    "DO_STMT": r"do (; )?while \( \)",
    "SWITCH_STMT": r"switch \( \)",
    "CASE_STMT": r"case (\.\.\. )?:",
    "DEFAULT_STMT": r"default :",
    "BREAK_STMT": r"break",
    "CONTINUE_STMT": r"continue",
    "NULL_STMT": r";",
    "GOTO_STMT": r"goto \S+",
}
"""The tokens of a statement without those of its parts; statements not listed here are not modelled."""


def built_statement(builder: Builder, cursor: Cursor) -> tree.Statement:
    """The statement at a cursor."""
    whole = builder.range_of(cursor)
    place = builder.listing.place(*whole)
    if front_end.is_expression(cursor):
        value = builder.expression(cursor)
        return tree.Evaluate(value.place, value)
    match front_end.kind(cursor):
        case "COMPOUND_STMT":
            inner = _statements(builder, front_end.children(cursor))
            _require(builder, whole, inner, r"\{( ;)* \}")
            return tree.CompoundStatement(place, tuple(inner))
        case "DECL_STMT":
            return _declare(builder, cursor, whole)
        case "FOR_STMT" if front_end.children(cursor):
            return _for(builder, cursor, whole)
        case "IF_STMT" if len(front_end.children(cursor)) >= 2:
            test, *branches = front_end.children(cursor)
            tested = builder.expression(test)
            then, *other = _statements(builder, branches)
            pattern = r"if \( \)( ;)? else" if other else r"if \( \)"
            _require(builder, whole, (tested, then, *other), pattern)
            return tree.IfStatement(place, tested, then, other[0] if other else None)
        case "LABEL_STMT" if front_end.children(cursor):
            inner = _statements(builder, front_end.children(cursor)[-1:])
            _require(builder, whole, inner, r"\S+ :")
            return tree.Labelled(place, str(cursor.spelling), inner[0])
        case "RETURN_STMT":
            values = [builder.expression(one) for one in front_end.children(cursor)]
            _require(builder, whole, values, "return")
            return tree.Return(place, values[0] if values else None)
        case kind:
            parts = _parts(builder, front_end.children(cursor))
            if kind in _WRITTEN:
                _require(builder, whole, parts, _WRITTEN[kind])
            else:
                builder.problem(whole, "this statement is not modelled")
            return tree.OtherStatement(place, kind, tuple(parts))


def _statements(builder: Builder, cursors: Sequence[Cursor]) -> list[tree.Statement]:
    return [built_statement(builder, one) for one in cursors]


def _parts(builder: Builder, cursors: Sequence[Cursor]) -> list[tree.Node]:
    found: list[tree.Node] = []
    for one in cursors:
        if front_end.is_expression(one):
            found.append(builder.expression(one))
        elif front_end.is_statement(one):
            found.append(built_statement(builder, one))
    return found


def _require(builder: Builder, whole: Range, parts: Sequence[tree.Node], pattern: str) -> None:
    own = " ".join(builder.own(whole, parts))
    own = re.sub("<%", "{", re.sub("%>", "}", own))
    if re.fullmatch(pattern, own) is None:
        builder.problem(whole, f"'{own}' is not understood here", own.split())


def _declare(builder: Builder, cursor: Cursor, whole: Range) -> tree.Declare:
    """The declared variables and functions; a declaration of a type declares no storage."""
    found = [
        built_variable(builder, one)
        for one in front_end.children(cursor)
        if front_end.kind(one) in ("VAR_DECL", "FUNCTION_DECL")
    ]
    return tree.Declare(builder.listing.place(*whole), tuple(found))


def built_variable(builder: Builder, cursor: Cursor) -> tree.Declarator:
    """One declarator: the expressions before its `=` are sizes, the one after it is the initialiser."""
    whole = builder.range_of(cursor)
    declaration = builder.names.declaration(cursor)
    name = builder.span_at(front_end.start(cursor))
    if front_end.kind(cursor) == "FUNCTION_DECL":
        return tree.Declarator(builder.listing.place(*whole), name, declaration, None)
    parts = [builder.expression(one) for one in front_end.children(cursor) if front_end.is_expression(one)]
    position = _equals(builder, (builder.index_of(front_end.start(cursor)), whole[1]))
    initial = next((one for one in parts if position is not None and one.place.first == position + 1), None)
    if position is not None and initial is None:
        builder.problem(whole, "the first value of this variable is not understood")
    sizes = tuple(one for one in parts if one is not initial)
    return tree.Declarator(builder.listing.place(*whole), name, declaration, initial, sizes)


def _equals(builder: Builder, whole: Range) -> int | None:
    """The `=` of a declarator, after its name, which may be in parentheses; not one inside a size."""
    depth = 0
    for position in range(*whole):
        text = builder.listing.tokens[position].text
        depth = max(0, depth + (text in "([{") - (text in ")]}"))
        if text == "=" and depth == 0:
            return position
    return None


def _for(builder: Builder, cursor: Cursor, whole: Range) -> tree.ForStatement:
    """A `for` loop; the semicolons in its head tell which parts it has."""
    *head, body = front_end.children(cursor)
    inner = built_statement(builder, body)
    parts = _parts(builder, head)
    declared = parts[0] if parts and isinstance(parts[0], tree.Declare) else None
    _require(builder, whole, (*parts, inner), r"for \( ; \)" if declared is not None else r"for \( ; ; \)")
    semicolons = [
        position
        for position in range(whole[0], inner.place.first)
        if builder.listing.tokens[position].text == ";"
        and not any(part.place.first <= position < part.place.end for part in parts)
    ]
    if declared is not None:
        semicolons.insert(0, declared.place.end - 1)
    slots: list[tree.Expression | None] = [None, None, None]
    for part in parts:
        if isinstance(part, tree.Expression):
            slots[min(2, sum(part.place.first > position for position in semicolons))] = part
    first, test, step = slots
    return tree.ForStatement(builder.listing.place(*whole), declared or first, test, step, inner)


def statements_between(block: tree.Node, first: int, end: int) -> tuple[tree.Statement, ...] | None:
    """The statements of the innermost block around tokens `first` to `end` that lie between them."""
    for child in tree.children(block):
        if child.place.first <= first and end <= child.place.end and _has_block(child, first, end):
            return statements_between(child, first, end)
    if not isinstance(block, tree.CompoundStatement):
        return _alone(block, first, end)
    inside = [
        _after_labels(one, first)
        for one in block.statements
        if one.place.first < end and first < one.place.end
    ]
    is_whole = all(first <= one.place.first and one.place.end <= end for one in inside)
    return tuple(inside) if is_whole else _alone(block, first, end)


def _alone(around: tree.Node, first: int, end: int) -> tuple[tree.Statement, ...] | None:
    """The statement that consists of these tokens, except for a `;`, without a block: the body of an `if`."""
    for node in tree.walk(around):
        if (
            isinstance(node, tree.Statement)
            and node.place.first == first
            and end - 1 <= node.place.end <= end
        ):
            return (node,)
    return None


def _after_labels(statement: tree.Statement, first: int) -> tree.Statement:
    """The statement after a `case` or label that is before the region, if the statement is in the region."""
    while statement.place.first < first:
        inner = [part for part in tree.children(statement) if isinstance(part, tree.Statement)]
        is_case = isinstance(statement, tree.OtherStatement) and statement.kind in (
            "CASE_STMT",
            "DEFAULT_STMT",
        )
        if len(inner) != 1 or not (is_case or isinstance(statement, tree.Labelled)):
            break
        statement = inner[0]
    return statement


def _has_block(node: tree.Node, first: int, end: int) -> bool:
    """Whether a block below `node` encloses the tokens; its braces do not count as part of it."""
    if isinstance(node, tree.CompoundStatement) and node.place.first < first and end < node.place.end:
        return True
    return any(
        _has_block(child, first, end)
        for child in tree.children(node)
        if child.place.first <= first and end <= child.place.end
    )
