"""`(X) - y`: a cast of -y if X is a type, a difference if X is a value.

The grammar cannot know, and guesses: `(x) - y` a difference, `(x) - y * z` a cast, `(x)(y)` a call.
A wrong guess loses the read of x, and groups the following operators differently.  The guess is corrected
in the text that the parser gets, character for character, so that offsets remain those of the source:

    (x) - y * z   becomes    x  - y * z   for a value: without parentheses the parse is unique
    (Num) - y     becomes   (int) - y     for a type: what the file calls it is what the cast is to
    (X) - y * z   becomes   ~   - y * z   for a type too short for that, or a macro: a cast binds like ~
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from itertools import pairwise

from loopwright.c.declarations import Declarations, is_certain_cast, is_integer_type, is_type_text
from loopwright.c.macros import Macro, definitions
from loopwright.c.syntax import Node, conditionals_without_yes, field, named_children, parse, stands_as, walk
from loopwright.c.tokens import names_in
from loopwright.c.types import CType, named_type
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span


class NameKind(Enum):
    """The kind of a name before an operand."""

    VALUE = auto()
    TYPE = auto()
    INTEGER = auto()
    """A type of integers wide enough to keep the value."""
    UNKNOWN = auto()


@dataclass(frozen=True)
class Kinds:
    """The kinds of the names of a file at a place in it; without a place, of any declaration."""

    declarations: Declarations
    macros: tuple[Macro, ...]
    at: Span | None
    plain: frozenset[str] = frozenset()
    """Names that occur somewhere without parentheses around them, unlike a type in a cast."""

    def of(self, name: str) -> NameKind:
        """A variable in scope is a value, even if a type has its name; so is a macro that is not a type."""
        if name in self.declarations.functions or self._is_variable(name):
            return NameKind.VALUE
        meaning = self.declarations.resolved(name)
        found = definitions(self.macros, name)
        if found:
            if not all(macro.parameters is None and is_type_text(macro.body) for macro in found):
                return NameKind.VALUE
            meaning = self.declarations.resolved(found[0].body) if len(found) == 1 else name
        elif name not in self.declarations.types and not name.endswith("_t"):
            return NameKind.VALUE if name in self.plain or self.at is None else NameKind.UNKNOWN
        return NameKind.INTEGER if is_integer_type(meaning) else NameKind.TYPE

    def _is_variable(self, name: str) -> bool:
        if self.at is None:
            return any(variable.name == name for variable in self.declarations.variables)
        return self.declarations.visible(name, self.at) is not None

    def written_type(self, text: str, *, certain: bool) -> CType:
        """The type that a text denotes, through the typedefs and macros of the file.

        A macro that is defined under an `#if` is not a `certain` definition.
        """
        text = self.declarations.resolved(text)
        for word in text.split():
            found = definitions(self.macros, word)
            if len(found) == 1 and found[0].parameters is None and not (certain and found[0].conditional):
                text = self.declarations.resolved(text.replace(word, found[0].body))
        return named_type(text)

    def may_be_type(self, name: str) -> bool:
        """Whether neither the file nor its macros tell what a name is, or what it is another name for."""
        found = definitions(self.macros, name)
        if len(found) == 1 and found[0].parameters is None and found[0].body.isidentifier():
            return self.of(found[0].body) is NameKind.UNKNOWN
        return self.of(name) is NameKind.UNKNOWN

    def is_type(self, name: str) -> bool:
        return self.of(name) in (NameKind.TYPE, NameKind.INTEGER)


class Ambiguous(Exception):
    """Raised if the file does not show whether `name` is a type or a value, and an index depends on it."""

    def __init__(self, node: Node, name: str) -> None:
        super().__init__(f"'{name}' in parentheses may be a type or a value")
        self.node = node
        self.name = name


@dataclass(frozen=True)
class ShownTree:
    """A syntax tree, and the text that the parser was given, with the offsets of the source."""

    shown: str
    root: Node


def parse_possible(source: Source, shown: str) -> ShownTree:
    """The tree of a source without impossible casts, independent of the meaning of names."""
    return _edited_until_right(ShownTree(shown, parse(source, shown)), None)


def settled(possible: ShownTree, kinds: Kinds) -> Node:
    """The tree with casts and values distinguished."""
    return _edited_until_right(possible, kinds).root


def parse_settled(
    source: Source, shown: str, kinds: Kinds, whole: str | None = None, at: Span | None = None
) -> Node:
    """The tree of a source, parsed as `shown`, with casts and values distinguished (see `parse`)."""
    return settled(ShownTree(shown, parse(source, shown, whole, at)), kinds)


_Edit = tuple[Span, str]


def _edited_until_right(parsed: ShownTree, kinds: Kinds | None) -> ShownTree:
    text, root = parsed.shown, parsed.root
    while edits := tuple(_edits(root, text, kinds)):
        for edit, replacement in edits:
            width = edit.end - edit.start
            text = text[: edit.start] + replacement.ljust(width) + text[edit.end :]
        root = parse(root.source, text)
    return ShownTree(text, root)


def expression_of(text: str, kinds: Kinds, values: Sequence[str] = (), path: str = "") -> Node | None:
    """The expression in a text, in a source of its own; None if it is not an expression.

    The names in `values` are those of arguments of a macro that had no parentheses there.
    """
    plain = kinds.plain.union(*(names_in(value) for value in values))
    source = Source(path, f"int x = {text};")
    root = parse_settled(source, source.text, replace(kinds, plain=plain))
    if root.has_error or len(root.named_children) != 1 or conditionals_without_yes(root):
        return None
    declarator = root.named_children[0].child_by_field_name("declarator")
    return None if declarator is None else declarator.child_by_field_name("value")


def _edits(root: Node, text: str, kinds: Kinds | None) -> Iterator[_Edit]:
    """Replacements for pairs of parentheses; each round removes some of them."""
    plain: frozenset[str] | None = None
    done = 0
    for node in root.possible_casts():
        if node.end <= done:
            continue
        edit = None
        if _is_impossible_cast(node):
            edit = _without_pair(node, text)
        elif (factor := _factor(node)) is not None:
            edit = factor.span, f" {text[factor.start + 1 : factor.end - 1]} "
        elif kinds is not None and (name := _guessed(node, text)) is not None:
            if plain is None:
                others = () if kinds.at is None else _standing_alone(root)
                plain = kinds.plain.union(_text(text, one) for one in others)
            edit = _settled(node, name, text, replace(kinds, plain=plain))
        if edit is not None:
            done = node.end
            yield edit


def _settled(node: Node, name: str, text: str, kinds: Kinds) -> _Edit | None:
    """How to write `(name)` so that the grammar parses it correctly; None if it does."""
    kind = kinds.of(name)
    if kind is NameKind.UNKNOWN and _is_index(node):
        raise Ambiguous(node, name)
    if node.type == "cast_expression":
        return _without_pair(node, text) if kind in (NameKind.VALUE, NameKind.UNKNOWN) else None
    is_called = node.parent is not None and stands_as(node, "function", "call_expression")
    if kind in (NameKind.TYPE, NameKind.INTEGER) or (is_called and kinds.may_be_type(name)):
        if len(name) < len("int") or definitions(kinds.macros, name):
            return node.span, "~"
        opening = text.index(name, node.start)
        return Span(node.source, opening, opening + len(name)), _type_words(len(name))
    if is_called and kind is NameKind.VALUE and not definitions(kinds.macros, name):
        return _without_pair(node, text)
    return None


def _type_words(length: int) -> str:
    """Keywords of some C type, as long as a name, which the grammar parses as a cast."""
    short = {3: "int", 4: "long", 5: "short", 6: "signed", 7: "ssize_t"}
    return short[length] if length in short else f"long{' ' * (length - 7)}int"


def _without_pair(node: Node, text: str) -> _Edit:
    """The edit that makes the parentheses at the start of `node` spaces."""
    closing = next(child for child in node.children if child.type == ")")
    return Span(node.source, node.start, closing.end), " " + text[node.start + 1 : closing.start]


def _is_impossible_cast(node: Node) -> bool:
    """Whether it is like `(A[i]) - y` or `(f(x)) - y`: there are no casts to types of arrays and functions.

    `sizeof (x) - y` is the size of x, minus y, for any x.
    """
    if node.type != "cast_expression":
        return False
    if node.parent is not None and "sizeof" in node.parent.type:
        return True
    kinds = [part.type for part in walk(field(node, "type"))]
    composed = "abstract_array_declarator" in kinds or "abstract_function_declarator" in kinds
    return composed and "abstract_pointer_declarator" not in kinds


def _factor(node: Node) -> Node | None:
    """`(i)` in `(s * (i)) - y`, which the grammar parses as a cast to a function that returns a pointer.

    There are no such casts; without its parentheses the factor is parsed correctly.
    """
    if node.type != "cast_expression":
        return None
    part = field(node, "type").child_by_field_name("declarator")
    if part is None or part.type != "abstract_pointer_declarator":
        return None
    while part is not None and part.type == "abstract_pointer_declarator":
        part = part.child_by_field_name("declarator")
    if part is None or part.type != "abstract_function_declarator" or len(named_children(part)) != 1:
        return None
    return field(part, "parameters")


def _guessed(node: Node, text: str) -> str | None:
    """The name X, if `node` starts with `(X)` and the grammar had to guess its kind."""
    if node.type == "cast_expression":
        name = field(node, "type")
        if len(name.children) != 1 or name.children[0].type != "type_identifier":
            return None
        return None if is_certain_cast(node) else _text(text, name)
    if node.type != "parenthesized_expression":
        return None
    inner = named_children(node)
    if len(inner) != 1 or inner[0].type != "identifier":
        return None
    parent = node.parent
    if parent is None or "sizeof" in parent.type:
        return None
    is_called = stands_as(node, "function", "call_expression")
    followed = re.compile(r"\s*(--|\+\+|[-+*&](?![&=>]))").match(text, node.end) is not None
    return _text(text, inner[0]) if is_called or followed else None


def _standing_alone(root: Node) -> Iterator[Node]:
    """Identifiers without parentheses around them, unlike a type in a cast."""
    for node in walk(root):
        if node.type != "parenthesized_expression":
            yield from (child for child in node.children if child.type == "identifier")


def _is_index(node: Node) -> bool:
    """Whether the value of `node` decides where or how often something happens."""
    for inner, outer in pairwise((node, *node.around())):
        if outer.type == "subscript_expression" and field(outer, "index") == inner:
            return True
        if outer.type == "for_statement":
            return field(outer, "body") != inner
        if outer.type == "if_statement" and field(outer, "condition") == inner:
            return True
    return False


def _text(text: str, node: Node) -> str:
    return text[node.start : node.end]
