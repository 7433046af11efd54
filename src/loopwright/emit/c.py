"""LOOP programs as C, written the way a careful person writes it.

A body of one statement has no braces, unless an `else` could be read as belonging to another
`if`; a block inside a block is written out in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, assert_never

from loopwright.emit.expressions import condition_to_c, expression_to_c
from loopwright.emit.literals import is_wide
from loopwright.emit.names import fresh, readable_names, standalone_names, with_names
from loopwright.emit.standalone import translation_unit
from loopwright.emit.style import Braces, Style
from loopwright.loops.expressions import TRUE
from loopwright.loops.nodes import Block, Call, For, If, Let, Mark, Node

IteratorType: TypeAlias = Literal["int", "long", "long long"]


def to_c(
    node: Node,
    *,
    standalone: bool = False,
    parameters: Sequence[str] = (),
    openmp: bool = False,
    iterator_type: IteratorType | None = None,
) -> str:
    """`node` as C.

    `standalone` makes it a file that compiles alone: the helpers it uses, a declaration of each
    statement, and a function of the parameters; `parameters` gives their order, and those the
    program uses besides follow.  Iterators are `int`, or `long long` where a constant of the
    program needs it, unless `iterator_type` says otherwise.
    """
    style = Style(iterator_type or ("long long" if is_wide(node) else "int"), openmp)
    if not standalone:
        return program_text(with_names(node, readable_names(node, parameters)), style)
    names = standalone_names(node, parameters)
    program = with_names(node, names)
    body = "".join(f"  {line}\n" if line else "\n" for line in program_text(program, style).splitlines())
    arguments = tuple(names.variables[parameter] for parameter in parameters)
    return translation_unit(program, body, fresh("run", names.all()), arguments, style.iterator_type)


def program_text(node: Node, style: Style) -> str:
    """The lines of `node`, whose names are C's."""
    statements = _flat(node)
    lone = len(statements) == 1
    lines = [line for statement in statements for line in _lines(statement, style, lone)]
    return "".join(f"{line}\n" for line in lines)


def _flat(node: Node) -> tuple[Node, ...]:
    """The statements `node` is a sequence of; a mark stays in front of its first."""
    match node:
        case Block(nodes):
            return tuple(statement for child in nodes for statement in _flat(child))
        case Mark(text, body):
            first, *rest = _flat(body) or (Block(()),)
            return Mark(text, first), *rest
        case _:
            return (node,)


def _lines(node: Node, style: Style, lone: bool) -> list[str]:
    """The lines of one statement; a `lone` one has the scope around it for itself."""
    match node:
        case Call():
            return style.call(node)
        case If():
            return _conditional(node, style)
        case For():
            return _loop(node, style)
        case Let(name, value, body):
            declaration = f"{style.iterator_type} {name} = {expression_to_c(value)};"
            lines = [declaration, *_sequence(body, style)]
            return lines if lone else ["{", *style.indented(lines), "}"]
        case Mark(text, body):
            return style.mark(text, body, _lines(body, style, lone))
        case Block():
            return []
        case _:
            assert_never(node)


def _sequence(node: Node, style: Style) -> list[str]:
    """The lines of `node` in a scope that is not its own."""
    return [line for statement in _flat(node) for line in _lines(statement, style, False)]


def _loop(loop: For, style: Style) -> list[str]:
    iterator = loop.iterator
    test = " " if loop.test == TRUE else f" {condition_to_c(loop.test)}"
    annotated = style.openmp and loop.parallel and style.shareable(loop)
    inner = style.in_parallel() if annotated else style
    start = f"{style.declared(iterator)} = {expression_to_c(loop.start)}"
    head = f"for ({start};{test}; {style.hand.update(iterator, loop.step)})"
    lines = _controlled(head, loop.body, inner, braces=_needs_braces(loop.body, inner))
    return [*style.parallel(loop, annotated), *lines] if loop.parallel else lines


def _conditional(node: If, style: Style) -> list[str]:
    ambiguous = _ends_in_if(node.then, node.orelse is not None)
    braces = ambiguous or _needs_braces(node.then, style)
    lines = _controlled(f"if ({condition_to_c(node.test)})", node.then, style, braces)
    if node.orelse is None:
        return lines
    head = "else"
    if braces and style.hand.braces is Braces.SAME_LINE:
        head = f"{lines.pop()} else"
    orelse = _flat(node.orelse)
    if len(orelse) == 1 and isinstance(orelse[0], If):
        first, *rest = _conditional(orelse[0], style)
        return [*lines, f"{head} {first}", *rest]
    return [*lines, *_controlled(head, node.orelse, style, _needs_braces(node.orelse, style))]


def _controlled(head: str, body: Node, style: Style, braces: bool) -> list[str]:
    statements = _flat(body)
    lines = [line for s in statements for line in _lines(s, style, len(statements) == 1)]
    if not braces:
        return [head, *style.indented(lines)]
    opening = [head, "{"] if style.hand.braces is Braces.OWN_LINE else [f"{head} {{"]
    return [*opening, *style.indented(lines), "}"]


def _needs_braces(body: Node, style: Style) -> bool:
    """Whether `body` is anything but exactly one statement of C.

    A statement of several lines or one that starts with `if` gets braces too: what is in it is
    the author's, and an `else` might find it.
    """
    statements = _flat(body)
    if len(statements) != 1 or style.hand.always_braces or _needs_block(statements[0], style):
        return True
    match _unmarked(statements[0]):
        case Let() | Block():
            return True
        case Call() as call:
            lines = style.call(call)
            return len(lines) != 1 or re.match(r"if\b", lines[0]) is not None
        case _:
            return False


def _ends_in_if(body: Node, followed_by_else: bool) -> bool:
    """Whether an `else` in or after `body`, written without braces, could belong to two `if`s."""
    statements = _flat(body)
    match _unmarked(statements[0]) if len(statements) == 1 else None:
        case If(orelse=None):
            return followed_by_else
        case If():
            return True
        case For(body=inner):
            return _ends_in_if(inner, followed_by_else)
        case _:
            return False


def _needs_block(node: Node, style: Style) -> bool:
    return isinstance(node, Mark) and (style.needs_block(node.text) or _needs_block(node.body, style))


def _unmarked(node: Node) -> Node:
    return _unmarked(node.body) if isinstance(node, Mark) else node
