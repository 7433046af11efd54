"""A text with its bounds and affine conditions blanked: what it is made of, not how often it runs.

The C reader finds the statements of a text, their iterators and what they declare; what their loops
mean is read by `text_loops`.  So the reader need not work out domains of loops with many bounds, which
takes long.  Offsets are those of the text: `for (int i = max(a, b); i < n; i++)` becomes
`for (int i = 0        ; i<1  ; i++)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from loopwright.c.file import c_file
from loopwright.c.loops import first_value, loop_iterator
from loopwright.c.syntax import Node, field, named_children, walk
from loopwright.c.tokens import blank
from loopwright.loops.expressions import Var
from loopwright.model.program import Program
from loopwright.prove.reading.c_expressions import Unreadable, Words, test, words_of
from loopwright.prove.reading.loops import leaf_nodes, sides, step_of
from loopwright.prove.reading.operation import Different, StatementSyntax, aligned
from loopwright.source import Edit, Source, Span, with_edits


def outlined(source: Source, originals: Mapping[int, Program]) -> tuple[Source, frozenset[Span]]:
    """The text with the loops of its regions reduced, and where an `if` is a statement as a whole.

    `originals[k]` has the parameters of region `k`; a region without one is made empty.
    """
    whole: set[Span] = set()
    edits: list[Edit] = []
    for number, region in enumerate(c_file(source).regions):
        program = originals.get(number)
        if program is None:
            edits.append((region.place.start, region.place.end, blank(region.place.text)))
            continue
        words = words_of(replace(program, region=region.place))
        stored = frozenset(array.name for array in program.arrays if array.local)
        whole_ = _whole_statements(program)
        blanks = _blanks(c_file(source).block(region.place), words, whole_, stored)
        for where, text in sorted(blanks, key=lambda one: one[0]):
            if text is None:
                whole.add(where)
                continue
            width = where.end - where.start
            if len(text) > width:
                raise Unreadable(f"there is no room for '{text}' in '{where.text}'")
            edits.append((where.start, where.end, text.ljust(width)))
    outline = replace(source, text=with_edits(source.text, edits))
    return outline, frozenset(where.on(outline) for where in whole)


def _whole_statements(program: Program) -> tuple[StatementSyntax, ...]:
    """The statements that could be taken for a part of a loop nest, and are none.

    Unsigned numbers make an `if` one on data: `(unsigned)(i - 5) < 10` is not `i - 5 < 10`.
    """
    if not any(node.type in _PARTS for node in leaf_nodes(program, program.syntax).values()):
        return ()
    return tuple(one for one in sides(program).values() if one.node.type in _PARTS)


_UNFOLLOWED = ("do_statement", "while_statement", "switch_statement")
_PARTS = ("if_statement", "for_statement", "compound_statement", *_UNFOLLOWED)


def _is_one_of(statements: Sequence[StatementSyntax], new: StatementSyntax) -> bool:
    for old in statements:
        try:
            aligned(old, new)
        except Different:
            continue
        return True
    return False


def _blanks(
    node: Node, words: Words, whole: Sequence[StatementSyntax], stored: frozenset[str]
) -> Iterator[tuple[Span, str | None]]:
    """What to put where; a condition on data is part of a statement, and nothing is put there.

    `stored` are the locals of the original that are storage, and no names of values.
    """
    is_part = node.type in _PARTS and node.type != "if_statement"
    if is_part and _is_one_of(whole, StatementSyntax(node, words)):
        yield node.span, None
        return
    match node.type:
        case "for_statement":
            name = loop_iterator(node)
            condition = node.child_by_field_name("condition")
            if name is None or condition is None:
                raise Unreadable("a loop without an iterator or a test")
            yield first_value(node).span, "0"
            yield condition.span, f"{name}<1" if step_of(node, name, words) > 0 else f"{name}>-1"
            yield from _blanks(field(node, "body"), words.bind(name, Var(name)), whole, stored)
        case "if_statement":
            condition = field(node, "condition")
            if _is_one_of(whole, StatementSyntax(node, words)):
                yield node.span, None
                return
            try:
                test(condition, words)
            except Unreadable:
                return
            yield condition.span, "(1)"
            for part in named_children(node)[1:]:
                yield from _blanks(part, words, whole, stored)
        case "compound_statement" | "else_clause" | "labeled_statement":
            for part in named_children(node):
                if part.type == "declaration":
                    for name in _declared(part, words):
                        words = words if name in stored else words.bind(name, Var(name))
                yield from _blanks(part, words, whole, stored)
        case _:
            return


def _declared(node: Node, words: Words) -> list[str]:
    """The names a declaration gives values to; whether they are integers does not matter here."""
    if any(part.type == "pointer_declarator" for part in walk(node)):
        raise Unreadable("a pointer, which has to stay in its row")
    made = [part for part in node.children_by_field_name("declarator") if part.type == "init_declarator"]
    return [words.of(field(part, "declarator")) for part in made]


def unfolded(outline: Program, source: Source, original: Program) -> Program:
    """The program read from an outline, put back onto its text and the original's parameters.

    A parameter that only occurs in values looks like a variable in the outline, and is none.
    """
    known = set(original.params)
    statements = tuple(
        replace(one, accesses=tuple(access for access in one.accesses if access.array not in known))
        for one in outline.statements
    )
    found = replace(
        outline,
        parameters=original.parameters,
        context=original.context,
        arrays=tuple(array for array in outline.arrays if array.name not in known),
        statements=statements,
    )
    moved: Program = _moved(found, source)
    return moved


def _moved(value: Any, source: Source) -> Any:
    """A value with all spans in it put onto another version of their text."""
    match value:
        case Span():
            return value.on(source)
        case tuple():
            return tuple(_moved(part, source) for part in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            parts = {part.name: _moved(getattr(value, part.name), source) for part in fields(value)}
            return replace(value, **parts)
        case _:
            return value
