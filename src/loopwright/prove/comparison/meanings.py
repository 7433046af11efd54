"""What a file declares at its top level, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.c.syntax import field, identifiers, named_children, walk
from loopwright.c.tokens import names_in, on_one_line
from loopwright.prove.comparison.function_frame import declared_in
from loopwright.source import Source

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
        if node.type in ("declaration", "type_definition", *_TAGGED):
            kind = field(node, "type") if node.type not in _TAGGED else node
            made = [part for part in walk(kind) if part.type in (*_TAGGED, "enumerator")]
            for one in (part.child_by_field_name("name") for part in made):
                if one is not None:
                    found.setdefault(one.text, []).append(on_one_line(kind.text))
        if node.type == "type_definition":
            declarators = node.children_by_field_name("declarator")
            head = node.text[: declarators[0].start - node.start] if declarators else ""
            for one in declarators:
                found.setdefault(names_in(one.text)[0], []).append(on_one_line(f"{head} {one.text}"))
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
