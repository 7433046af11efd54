"""What a file does outside of its functions without being named by them.

A constructor runs before `main`, assembler code and attributes for the linker give names other meanings, a
pragma in a macro or `_Pragma` changes how the rest of the file is compiled, and a definition with the name of
a function of the C library takes its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.c.reserved_names import is_reserved
from loopwright.c.syntax import Node, field, identifiers, named_children
from loopwright.c.tokens import names_in, on_one_line, without_comments
from loopwright.prove.comparison.function_frame import short
from loopwright.source import Source, Span

_ATTRIBUTES = frozenset(
    ("constructor", "destructor", "ifunc", "alias", "weakref", "section", "symver", "init_priority")
)
_ACTING = _ATTRIBUTES | {"asm", "_Pragma", "__pragma"}
_NAME = re.compile(r"[A-Za-z_]\w*")


def difference_unasked(old: Source, new: Source) -> str | None:
    """Returns what only one of two files does without being named, or None."""
    done = [Counter(_acting(one)) for one in (old, new)]
    for text in (done[0] - done[1]) + (done[1] - done[0]):
        return f"only one file has '{short(text)}'"
    replaced = [{name for name in _defined(one) if is_reserved(name)} for one in (old, new)]
    for name in sorted(replaced[0] ^ replaced[1]):
        return f"only one file defines '{name}', which the system defines"
    return None


def names_acting(source: Source) -> frozenset[str]:
    """The names that the parts of a file mention which act without being named."""
    return frozenset(name for text in _acting(source) for name in _NAME.findall(text))


def _acting(source: Source) -> Iterator[str]:
    """The declarations, functions and lines of macros that act, besides functions with regions."""
    text = without_comments(source.text, literals=True)
    if not any(word in text for word in _ACTING):
        return
    file = c_file(replace(source, chosen=()))
    macros = {one.name: f"#define {one.name} {on_one_line(one.body)}" for one in file.macros}
    words = {*_ACTING}
    for _ in macros:
        further = {name for name, line in macros.items() if name not in words and _mentions(line, words)}
        if not further:
            break
        words |= further
    for node in _outside(source):
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        head = node.text if body is None else node.text[: body.start - node.start]
        if _mentions(head, words if _is_attribute(head) else words - _ATTRIBUTES):
            yield on_one_line(node.text)
            yield from (macros[name] for name in names_in(head) if name in words and name in macros)


def _is_attribute(text: str) -> bool:
    """Whether a text has attributes: their names may be those of variables."""
    return "attribute" in text or "[[" in text


def _mentions(text: str, words: set[str]) -> bool:
    found = names_in(without_comments(text, literals=False))
    return any(name in words or name.strip("_") in words for name in found)


def _outside(source: Source) -> Iterator[Node]:
    """What is at the top level of a file, besides functions with regions."""
    regions: list[Span] = [one.place for one in c_file(source).regions]
    pending = [*c_file(replace(source, chosen=())).possible.children]
    while pending:
        node = pending.pop(0)
        if node.type.startswith("preproc_if") or node.type in ("preproc_else", "linkage_specification"):
            pending = [*named_children(node), *pending]
        elif not node.type.startswith("preproc_") and not any(node.span.contains(one) for one in regions):
            yield node


def _defined(source: Source) -> set[str]:
    """The functions and variables with external linkage that a file defines."""
    found: set[str] = set()
    for node in _outside(source):
        head = node.text.partition("{")[0].partition("=")[0]
        if "static" in names_in(head) or "extern" in names_in(head):
            continue
        if node.type == "function_definition":
            found.update(identifiers(field(node, "declarator"))[:1])
        elif node.type == "declaration":
            for one in node.children_by_field_name("declarator"):
                named = identifiers(one.declared)
                if named and not one.of_type("function_declarator"):
                    found.add(named[0])
    return found
