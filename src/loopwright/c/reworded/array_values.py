"""Rewrites array declarations with initialisers as assignments.

    double w[3] = {a, b, 1};           double w[3]; w[0] = a; w[1] = b; w[2] = 1;
    double t[8] = {0};                 double t[8]; for (int k = 0; k < 8; k++) t[k] = 0;
    double t[8] = {1};                 the same, then t[0] = 1;

C converts an initialiser like an assigned value, sets missing elements to 0, and evaluates the values in
any order.  A `static const` array of constants has the same elements at every read, so it may be set at
its declaration; `const` is dropped, since nothing assigns such an array.  The caller must check what macros
hide.  Line numbers do not change.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import count

from loopwright.c.file import CFile
from loopwright.c.macros import constant_macro, integer_text
from loopwright.c.reworded.passages import Passage, fresh_names, passages, rewritten
from loopwright.c.syntax import Node, field, identifiers, named_children, walk
from loopwright.c.tokens import bracketed, on_one_line
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

_MOST_VALUES = 64
_ZERO = re.compile(r"0[uUlL]*|(?:0+\.0*|\.0+)[fFlL]?")
_CHANGING = ("assignment_expression", "update_expression")
_UNREAD = ("string_literal", "concatenated_string", "initializer_pair", "compound_literal_expression")


def with_array_values(source: Source) -> Source:
    """The source with assignments in place of the initialisers of arrays that its regions declare."""
    return rewritten(source, _set_after, "declaration")


def arrays_with_values(source: Source) -> tuple[tuple[Span, Span], ...]:
    """The declarations of such arrays: the words before the first declarator, and the whole."""
    found = []
    for passage in passages(source):
        for node in passage.block.of_type("declaration"):
            if any(map(_is_array, _declarators(node))):
                first = _declarators(node)[0].start
                found.append((source.at(node.start, first - node.start), node.span))
    return tuple(found)


def _declarators(declaration: Node) -> list[Node]:
    return declaration.children_by_field_name("declarator")


def _is_array(declarator: Node) -> bool:
    if declarator.type != "init_declarator":
        return False
    kinds = field(declarator, "declarator").type, field(declarator, "value").type
    return kinds == ("array_declarator", "initializer_list")


def _set_after(declaration: Node, passage: Passage) -> list[Edit] | None:
    """Edits for the last array with an initialiser in a declaration."""
    declarators = _declarators(declaration)
    arrays = [one for one in declarators if _is_array(one)]
    block = declaration.parent
    if not arrays or block is None or block.type != "compound_statement":
        return None
    if block.parent is not None and block.parent.type == "switch_statement":
        return None
    last = arrays[-1]
    later = declarators[declarators.index(last) + 1 :]
    plain = _without_qualifiers(declaration, last)
    array = _array_of(last, passage.file)
    if plain is None or array is None or any(one.type == "init_declarator" for one in later):
        return None
    if plain and not _is_read_by_elements(array, block):
        return None
    if any(array.name in identifiers(one) for one in (*later, field(last, "value"))):
        return None
    text = array.assignments(fresh_names(last.source, "k"))
    if text is None:
        return None
    cut = Span(last.source, field(last, "declarator").start, last.end).reworded(array.declared)
    return [*plain, cut, (declaration.end, declaration.end, text)]


def _without_qualifiers(declaration: Node, array: Node) -> list[Edit] | None:
    """Edits that remove `const` and `static const`; None if there are other words."""
    words = [one for one in declaration.named_children if one.end <= array.start]
    qualifiers = [one for one in words if one.type in ("storage_class_specifier", "type_qualifier")]
    names = {one.text for one in qualifiers}
    if any(one.type == "attribute_specifier" for one in declaration.named_children):
        return None
    if not names <= {"const", "static"} or names == {"static"}:
        return None
    if names and len(_declarators(declaration)) > 1:
        return None
    return [(one.start, one.end, "") for one in qualifiers]


def _is_read_by_elements(array: _InitialisedArray, block: Node) -> bool:
    """Whether the array never decays to a pointer: one to a `static` array may outlive the block."""
    for name in block.named(array.name):
        node, above = name, name.parent
        for _ in array.sizes:
            is_element = above is not None and above.type == "subscript_expression"
            if above is None or above.type == "array_declarator":
                break
            if not is_element or field(above, "argument") is not node:
                return False
            node, above = above, above.parent
        if above is not None and above.type in ("pointer_expression", "subscript_expression"):
            return False
    return True


@dataclass(frozen=True)
class _InitialisedArray:
    name: str
    sizes: tuple[str, ...]
    values: tuple[tuple[tuple[int, ...], str], ...]
    """The given elements, by their subscripts."""
    is_whole: bool
    """Whether all elements are given."""

    @property
    def declared(self) -> str:
        return self.name + bracketed(self.sizes)

    def assignments(self, fresh: Iterator[str]) -> str | None:
        """Statements that initialise the array."""
        if len(self.values) > _MOST_VALUES:
            return None
        text = ""
        if not self.is_whole:
            counters = [next(fresh) for _ in self.sizes]
            pairs = zip(counters, self.sizes, strict=True)
            loops = (f"for (int {name} = 0; {name} < {size}; {name}++) " for name, size in pairs)
            text = " " + "".join(loops) + self.name + bracketed(counters) + " = 0;"
        given = [one for one in self.values if self.is_whole or not _ZERO.fullmatch(one[1])]
        return text + "".join(f" {self.name}{bracketed(place)} = {value};" for place, value in given)


def _array_of(declarator: Node, file: CFile) -> _InitialisedArray | None:
    node, sizes = field(declarator, "declarator"), list[Node | None]()
    while node.type == "array_declarator":
        if any(one.type in ("type_qualifier", "*", "static") for one in node.children):
            return None
        sizes.append(node.child_by_field_name("size"))
        node = field(node, "declarator")
    sizes.reverse()
    listed = field(declarator, "value")
    if node.type != "identifier" or any(one is None for one in sizes[1:]):
        return None
    if any(one.type in (*_UNREAD, *_CHANGING) for one in walk(listed)):
        return None
    values = _values(listed, len(sizes), ())
    if values is None:
        return None
    given = len(named_children(listed))
    texts = [str(given) if one is None else on_one_line(one.text) for one in sizes]
    lengths = [_length(text, file) for text in texts]
    if any(
        length is None or index >= length
        for place, _ in values
        for index, length in zip(place, lengths, strict=True)
    ):
        return None
    known = [length for length in lengths if length is not None]
    is_whole = len(known) == len(lengths) and math.prod(known) == len(values)
    return _InitialisedArray(node.text, tuple(texts), tuple(values), is_whole)


def _length(text: str, file: CFile) -> int | None:
    """The value of a size, if it is a constant."""
    value = integer_text(text)
    return constant_macro(file.macros, text) if value is None else value


def _values(
    listed: Node, dimensions: int, place: tuple[int, ...]
) -> list[tuple[tuple[int, ...], str]] | None:
    """The values of an initialiser by subscripts; None if its braces do not match the dimensions."""
    inside = named_children(listed)
    if not inside or (len(inside) == 1 and _ZERO.fullmatch(inside[0].text) and dimensions > 1):
        return []
    found: list[tuple[tuple[int, ...], str]] = []
    for index, one in zip(count(), inside, strict=False):
        at = (*place, index)
        if dimensions == 1:
            if one.type == "initializer_list":
                return None
            found.append((at, on_one_line(one.text)))
            continue
        inner = _values(one, dimensions - 1, at) if one.type == "initializer_list" else None
        if inner is None:
            return None
        found += inner
    return found
