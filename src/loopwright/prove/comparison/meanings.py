"""What a file declares at its top level, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import pairwise

from loopwright.c.file import c_file, whole_file
from loopwright.c.syntax import Node, field, identifiers, named_children, walk, walk_inside
from loopwright.c.tokens import lexemes, names_in, on_one_line
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.comparison.function_frame import declared_in
from loopwright.source import Source, Span

_TAGGED = ("struct_specifier", "union_specifier", "enum_specifier")
_KEYWORDS = ("struct", "union", "enum", "typedef")


def meanings_of(source: Source) -> dict[str, list[str]]:
    """What a file declares at its top level, by name: functions with their bodies, types, variables.

    Functions with regions are compared separately.
    """
    file = whole_file(source)
    regions = [one.place for one in c_file(source).regions]
    found: dict[str, list[str]] = {}
    pending = [*named_children(file.possible)]
    while pending:
        node = pending.pop(0)
        if node.type.startswith("preproc_") or node.type == "linkage_specification":
            pending = [*named_children(node), *pending]
        elif node.type == "declaration":
            for name, local in declared_in(node):
                found.setdefault(name, []).append(local.text)
        elif node.type == "function_definition" and not any(node.span.contains(one) for one in regions):
            found.setdefault(identifiers(field(node, "declarator"))[0], []).append(on_one_line(node.text))
        for name, text in _types(node):
            found.setdefault(name, []).append(text)
    return found


def _types(node: Node) -> Iterator[tuple[str, str]]:
    """The tags, enumerators and names of types that a declaration mentions or makes, and as what."""
    if node.type in ("declaration", "type_definition", *_TAGGED):
        kind = field(node, "type") if node.type not in _TAGGED else node
        made = [part for part in walk(kind) if part.type in (*_TAGGED, "enumerator")]
        for one in (part.child_by_field_name("name") for part in made):
            if one is not None:
                yield one.text, on_one_line(kind.text)
    if node.type == "type_definition":
        declarators = node.children_by_field_name("declarator")
        head = node.text[: declarators[0].start - node.start] if declarators else ""
        for one in declarators:
            yield names_in(one.text)[0], on_one_line(f"{head} {one.text}")


def type_of_a_region(old: Span, new: Span) -> str | None:
    """Returns a name that one region makes a type or an enumerator, and that is something else elsewhere."""
    made = [_made_in(one) for one in (old, new)]
    if not any(made):
        return None
    for k, (region, place) in enumerate(((old, new), (new, old))):
        own, other = made[k], made[1 - k]
        tags = {name for name, one in own.items() if one.is_tag and other.get(name, one).is_tag}
        outside = _named(region, tags, inside=False)
        used = _named(place, tags, inside=False) | _named(place, tags, inside=True)
        for name, one in own.items():
            if name in outside or (name in used and other.get(name) != one):
                return name
    return None


@dataclass(frozen=True)
class _Made:
    """What a region makes of a name."""

    text: str
    is_tag: bool


_BEFORE = """
. -> goto int double float char long short unsigned signed void const volatile static return
; { } = + - * / % & | ^ ! ~ < > <= >= == != && || ? : += -= *= /= ++ --
"""
_BEFORE_OTHERS = frozenset(_BEFORE.split())
"""Tokens after which a name is a variable, member or label, and no tag, in arguments of a macro too."""


def _named(region: Span, tags: Set[str], *, inside: bool) -> set[str]:
    """The names that may be types and enumerators, or one of the tags, inside a region or outside."""
    file = whole_file(region.source)
    lines = [one.place for one in file.directives if region.contains(one.place) == inside]
    found = {name for line in lines for name in names_in(line.text)}
    for before, one in pairwise(lexemes(file.plain, 0, len(file.plain))):
        is_tag = before.text not in _BEFORE_OTHERS or before.text in file.macro_names
        is_meant = is_tag or one.text not in tags
        if one.is_name and is_meant and inside == (region.start <= one.start < region.end):
            found.add(one.text)
    return found


def _made_in(region: Span) -> dict[str, _Made]:
    """The types, tags and enumerators that a region defines."""
    if not any(word in region.text for word in _KEYWORDS):
        return {}
    file = whole_file(region.source)
    found: dict[str, _Made] = {}
    for node in walk_inside(file.possible, region):
        has_body = node.type in _TAGGED and node.child_by_field_name("body") is not None
        if (has_body or node.type == "type_definition") and region.contains(node.span):
            tags = {part.text for one in walk(node) if one.type in _TAGGED for part in _name(one)}
            others = {part.text for one in walk(node) if one.type == "enumerator" for part in _name(one)}
            is_plain = node.type != "type_definition"
            for name, text in _types(node):
                known = found.get(name)
                is_tag = is_plain and name in tags - others and (known is None or known.is_tag)
                found[name] = _Made(text, is_tag)
    return found


def _name(node: Node) -> list[Node]:
    name = node.child_by_field_name("name")
    return [] if name is None else [name]


def with_what_they_mention(names: Iterable[str], meanings: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The meanings of names, of the names in these, and so on."""
    pending = list(names)
    found: dict[str, list[str]] = {}
    for name in pending:
        if name in meanings and name not in found:
            found[name] = meanings[name]
            pending += (word for text in meanings[name] for word in names_in(text))
    return found
