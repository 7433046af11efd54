"""Local pointers to rows: after `double *row = a + i * n;`, `row[j]` is `(a + i * n)[j]`.

Such a pointer is neither storage nor an alias of the array, provided that the region uses it in no other
way.  It is supported if

    it is initialised with `a + i * n`, `out[y]`, `&img[y][0]` or `&a[i * n]`, into an array of
    numbers of the same type that the file declares outside the region;
    every occurrence of its name in the region is followed by a bracket: `row[j]`;
    no macro mentions it, and its value mentions no member that a pointer leads to.

All others are refused at their declaration.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.c.casts import Kinds
from loopwright.c.declarations import (
    FLOATING_TYPES,
    INTEGER_TYPES,
    Declarations,
    Variable,
    declared_name,
    type_text,
)
from loopwright.c.macros import definitions, mentions
from loopwright.c.references import Reference, Subscript, pointer_sum, reference_of
from loopwright.c.syntax import Node, field, is_address, operator, walk, without_parentheses
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span

_HARMLESS = frozenset(("const", "restrict", "__restrict", "__restrict__", "static", "extern"))


@dataclass(frozen=True, slots=True)
class RowPointer:
    """A pointer to a row: in `scope`, `name[j]` means `definition[j]`."""

    name: str
    scope: Span
    declarator: Node
    definition: Node
    base: str
    subscripts: tuple[Subscript, ...]
    """The subscripts of `definition[0]`: one for each dimension of the base."""

    def element(self, reference: Reference) -> Reference:
        """The element of the array that `row[j]` means."""
        index, *inner = reference.subscripts
        *outer, last = self.subscripts
        return replace(reference, base=self.base, subscripts=(*outer, (*last, *index), *inner))


def row_at(rows: tuple[RowPointer, ...], reference: Reference) -> RowPointer | None:
    """The row pointer at the start of a reference in the source of the region."""
    name, spot = reference.root.text, reference.root.span
    return next((row for row in rows if row.name == name and row.scope.contains(spot)), None)


def row_pointers(block: Node, kinds: Kinds, iterators: frozenset[str]) -> tuple[RowPointer, ...]:
    """The row pointers of a region that are supported."""
    declared: dict[str, list[RowPointer | None]] = {}
    for node in walk(block):
        for declarator in node.children_by_field_name("declarator") if node.type == "declaration" else ():
            named = declared_name(declarator)
            if named is not None:
                row = _row_pointer(node, declarator, kinds.declarations, block)
                declared.setdefault(named[0], []).append(row)
    macros = kinds.macros
    kept: list[RowPointer] = []
    for name, own in declared.items():
        rows = [row for row in own if row is not None and row.base not in declared]
        hidden = any(mentions(one, name) for one in macros)
        is_other = hidden or definitions(macros, name) != () or name in kinds.declarations.types
        is_plain = not is_other and not any(definitions(macros, row.base) for row in rows)
        words = [node for node in walk(block) if node.type == "identifier" and node.text == name]
        if len(rows) == len(own) and is_plain and name not in iterators and _are_elements(words, rows):
            kept += rows
    return tuple(kept)


def _are_elements(words: list[Node], rows: list[RowPointer]) -> bool:
    """Whether each occurrence of a name is its declaration, or the base of an element in its scope."""
    for word in words:
        outer = word.parent
        if any(field(row.declarator, "declarator").span.contains(word.span) for row in rows):
            continue
        is_element = outer is not None and outer.type == "subscript_expression"
        seen = [row for row in rows if row.scope.contains(word.span)]
        if not is_element or outer is None or field(outer, "argument") != word or len(seen) != 1:
            return False
    return True


def _row_pointer(node: Node, declarator: Node, declarations: Declarations, block: Node) -> RowPointer | None:
    """The row pointer that a declaration makes, if it points into an array of the file."""
    scope = node.parent
    if declarator.type != "init_declarator" or scope is None or scope.type != "compound_statement":
        return None
    pointer = field(declarator, "declarator")
    if pointer.type != "pointer_declarator":
        return None
    name = field(pointer, "declarator")
    marks = [part.text for part in pointer.children if part != name]
    if name.type != "identifier" or not set(marks) <= _HARMLESS | {"*"}:
        return None
    definition = row_text(field(declarator, "value"))
    target, terms = pointer_sum(definition)
    is_taken = is_address(target)
    reference = reference_of(field(target, "argument") if is_taken else target)
    if reference is None or reference.partial or reference.root.text != reference.base:
        return None
    subscripts = reference.subscripts if is_taken else (*reference.subscripts, ())
    variable = declarations.visible(reference.base, block.span)
    kind = type_text(node, qualifiers=True)
    if variable is None or len(subscripts) != variable.rank or not same_numbers(kind, variable, declarations):
        return None
    if (is_taken and len(subscripts) != 1) or any(_is_loaded(part) for part in walk(definition)):
        return None
    whole = (*subscripts[:-1], (*subscripts[-1], *terms))
    reach = Span(node.source, declarator.end, scope.end)
    return RowPointer(name.text, reach, declarator, definition, reference.base, whole)


def _is_loaded(part: Node) -> bool:
    """Whether a part of an expression is read through a pointer, so that names do not tell if it changes."""
    return part.type == "field_expression" and operator(part) == "->"


def row_text(value: Node) -> Node:
    """The row that a pointer is initialised with: `img[y]` for `&img[y][0]`, which is equivalent."""
    core = without_parentheses(value)
    if is_address(core):
        element = without_parentheses(field(core, "argument"))
        if element.type == "subscript_expression" and field(element, "index").text == "0":
            return without_parentheses(field(element, "argument"))
    return core


def same_numbers(kind: str, variable: Variable, declarations: Declarations) -> bool:
    """Whether the elements of a variable are numbers of the type `kind` that a pointer points to."""
    words = [set(declarations.resolved(text).split()) - _HARMLESS for text in (kind, variable.type)]
    return words[0] == words[1] and bool(words[0]) and words[0] <= INTEGER_TYPES | FLOATING_TYPES
