"""What a file declares at its top level, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.c.syntax import Node, field, identifiers, named_children, walk, walk_inside
from loopwright.c.tokens import names_in, on_one_line, without_comments
from loopwright.prove.comparison.function_frame import declared_in
from loopwright.source import Source, Span

_TAGGED = ("struct_specifier", "union_specifier", "enum_specifier")


def meanings_of(source: Source) -> dict[str, list[str]]:
    """What a file declares at its top level, by name: functions with their bodies, types, variables.

    Functions with regions are compared separately.
    """
    file = c_file(replace(source, chosen=()))
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
    used = [Counter(names_in(without_comments(one.source.text, literals=True))) for one in (old, new)]
    for k, region in enumerate((old, new)):
        inside = Counter(names_in(without_comments(region.text, literals=True)))
        for name, text in made[k].items():
            is_alike = made[1 - k].get(name) == text or name not in used[1 - k]
            if used[k][name] > inside[name] or not is_alike:
                return name
    return None


def _made_in(region: Span) -> dict[str, str]:
    """The types, tags and enumerators that a region defines."""
    file = c_file(replace(region.source, chosen=()))
    found: dict[str, str] = {}
    for node in walk_inside(file.possible, region):
        has_body = node.type in _TAGGED and node.child_by_field_name("body") is not None
        if (has_body or node.type == "type_definition") and region.contains(node.span):
            found.update(_types(node))
    return found


def with_what_they_mention(names: Iterable[str], meanings: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The meanings of names, of the names in these, and so on."""
    pending = list(names)
    found: dict[str, list[str]] = {}
    for name in pending:
        if name in meanings and name not in found:
            found[name] = meanings[name]
            pending += (word for text in meanings[name] for word in names_in(text))
    return found
