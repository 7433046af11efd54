"""Pairs the functions of two files that differ in one function and in what only it uses.

The rest of the original's file must be in the other one, in the same order.  New parts there must define no
name that the original's file mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property

from loopwright.c.declarations import declared_name
from loopwright.c.file import c_file
from loopwright.c.liveness import functions_around
from loopwright.c.regions import Directive
from loopwright.c.syntax import Node, field, walk
from loopwright.c.tokens import names_in, on_one_line, without_comments
from loopwright.check.runtime import TERMS, runtime_text
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

_LASTING = re.compile(r"static\s+(double|float)\b[^*=]*")
_CONSTANT = re.compile(r"static\s+const\b[^*]*(=|$)")
_PLAIN = ("declaration", "function_definition", "type_definition", "struct_specifier", "enum_specifier", ";")


@dataclass(frozen=True)
class FunctionCode:
    """A function with the parts of its file that it uses."""

    function: Node
    parts: tuple[Node | Directive, ...]
    """The function, and the functions, macros, types and variables that it uses."""
    names: frozenset[str]
    """The names used by the function and its parts; not those only declared along with it."""

    @cached_property
    def text(self) -> str:
        """All of it, without comments."""
        parts = [without_comments(text_of(part), literals=False) for part in self.parts]
        return re.sub(r"\\\n", " ", "\n".join(parts))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(node for part in self.parts if isinstance(part, Node) for node in walk(part))

    @property
    def macros(self) -> tuple[Directive, ...]:
        return tuple(part for part in self.parts if isinstance(part, Directive))


@dataclass(frozen=True)
class FunctionPair:
    """A function of two files, `old` and `new`, with the variables of both files."""

    old: FunctionCode
    new: FunctionCode
    variables: tuple[str, ...]
    extra: tuple[str, ...]
    """The variables that only the new file has."""
    lasting: tuple[Span, ...]
    """The words `static` of variables inside the new function, and inside those that it uses."""


def text_of(part: Node | Directive) -> str:
    return part.span.text if isinstance(part, Node) else part.place.text


@dataclass(frozen=True)
class _Item:
    """A declaration, a definition or a preprocessor line, as tokens."""

    words: str
    defines: tuple[str, ...]
    part: Node | Directive


def paired(region: Span, new: Source) -> FunctionPair | None:
    """Return the function around the region and its counterpart; None if the files differ elsewhere."""
    old = region.source
    name = _around(old, region)
    if name is None:
        return None
    before, after = _items(old), _items(new)
    if before is None or after is None:
        return None
    own, others = _split(before, name)
    counterpart, rest = _split(after, name)
    if own is None or counterpart is None or _head(own) != _head(counterpart):
        return None
    added = _added(others, rest)
    mentioned = {*names_in(old.text)}
    if added is None or not all(_is_harmless(one, mentioned) for one in added):
        return None
    variables = tuple(variable for one in others for variable in _variables(one.part))
    extra = tuple(variable for one in added for variable in _variables(one.part))
    codes = [_code(function, items) for function, items in ((own, others), (counterpart, rest))]
    shared = {one.words for one in others}
    kept = [part for part in codes[1].parts[1:] if on_one_line(text_of(part)) in shared]
    statics = [one for part in codes[1].parts if part not in kept for one in _statics(part)]
    if any(map(_statics, (*codes[0].parts, *kept))) or not all(map(_holds_terms, statics)):
        return None
    lasting = tuple(Span(one.source, one.start, one.start + len("static")) for one in statics)
    return FunctionPair(codes[0], codes[1], variables, extra, lasting)


def _code(function: Node, others: list[_Item]) -> FunctionCode:
    named = _reached(function, others)
    used = (function, *(one.part for one in named if not tuple(_variables(one.part))))
    names = frozenset(name for part in used for name in names_in(text_of(part)))
    return FunctionCode(function, (function, *(one.part for one in named)), names)


def _around(source: Source, region: Span) -> str | None:
    return next(map(_function_name, functions_around(c_file(source).possible, region)), None)


def _function_name(node: Node) -> str | None:
    declarator = node.child_by_field_name("declarator")
    if declarator is None or declarator.type != "function_declarator":
        return None
    return field(declarator, "declarator").text


def _items(source: Source) -> list[_Item] | None:
    """The parts of a file in order; None if one is of another kind."""
    file = c_file(source)
    nodes = [node for node in file.possible.children if node.type != "comment"]
    if any(node.type not in _PLAIN or node.has_error for node in nodes):
        return None
    if any(_is_unseen(line) for line in file.directives):
        return None
    spans = [node.span for node in nodes]
    lines = [line for line in file.directives if not any(span.contains(line.place) for span in spans)]
    found = [(node.start, _Item(on_one_line(node.span.text), _defined(node), node)) for node in nodes]
    found += [(line.place.start, _Item(on_one_line(line.place.text), _macro(line), line)) for line in lines]
    return [item for _, item in sorted(found, key=lambda one: one[0])]


def _is_unseen(line: Directive) -> bool:
    """Whether a line includes a header that the header of the terms does not, or is a preprocessor condition:
    a C++ compiler defines other names.
    """
    if line.name in ("include", "include_next", "import", "embed"):
        return line.argument.strip() not in _headers()
    return line.name.startswith(("if", "elif"))


@cache
def _headers() -> frozenset[str]:
    return frozenset(re.findall(r"^#include (<\w[\w/]*\.h>)", runtime_text(TERMS), re.MULTILINE))


def _defined(node: Node) -> tuple[str, ...]:
    if node.type == "function_definition":
        name = _function_name(node)
        return () if name is None else (name,)
    if node.type == "declaration":
        named = (declared_name(one) for one in node.children_by_field_name("declarator"))
        return tuple(one[0] for one in named if one is not None)
    inner = node.child_by_field_name("type")
    tags = [one.child_by_field_name("name") for one in (node, inner) if one is not None]
    parts = [*tags, *node.children_by_field_name("declarator")]
    return tuple(word for one in parts if one is not None for word in names_in(one.text))


def _macro(line: Directive) -> tuple[str, ...]:
    return names_in(line.argument)[:1] if line.name == "define" else ()


def _split(items: list[_Item], name: str) -> tuple[Node | None, list[_Item]]:
    """The definition of the function, and the rest."""
    own = [one.part for one in items if isinstance(one.part, Node) and _is_definition(one.part, name)]
    rest = [one for one in items if not (isinstance(one.part, Node) and _is_definition(one.part, name))]
    return (own[0] if len(own) == 1 else None), rest


def _is_definition(node: Node, name: str) -> bool:
    return node.type == "function_definition" and _function_name(node) == name


def _head(function: Node) -> str:
    return on_one_line(function.source.text[function.start : field(function, "body").start])


def _added(old: list[_Item], new: list[_Item]) -> list[_Item] | None:
    """The parts of the new file that are not in the old one; None if one of the old is missing."""
    added: list[_Item] = []
    wanted = iter(old)
    expected = next(wanted, None)
    for item in new:
        if expected is not None and item.words == expected.words:
            expected = next(wanted, None)
        else:
            added.append(item)
    return added if expected is None else None


def _is_harmless(item: _Item, mentioned: set[str]) -> bool:
    """Whether a new part of a file does not affect the old ones."""
    if isinstance(item.part, Node):
        if "__attribute__" in names_in(item.part.text):
            return False  # it may run before all else
        is_named = bool(item.defines) or item.part.type == ";"
        return is_named and not mentioned & {*item.defines} and item.part.type != "enum_specifier"
    if item.part.name == "include":
        return True
    return item.part.name == "define" and not mentioned & {*item.defines}


def _variables(part: Node | Directive) -> Iterator[str]:
    """The variables that a part of a file declares, without constants."""
    if not isinstance(part, Node) or part.type != "declaration":
        return
    is_const = any(one.type == "type_qualifier" and one.text == "const" for one in part.children)
    for declarator in part.children_by_field_name("declarator"):
        named = declared_name(declarator)
        if named is not None and not (is_const and "*" not in declarator.text.partition("=")[0]):
            yield named[0]


def _reached(function: Node, others: list[_Item]) -> list[_Item]:
    """The parts of the file that a function names, transitively."""
    found: list[_Item] = []
    left = list(others)
    words = {*names_in(function.span.text)}
    while True:
        named = [one for one in left if words & {*one.defines}]
        if not named:
            return found
        found += named
        words |= {word for one in named for word in names_in(text_of(one.part))}
        left = [one for one in left if one not in named]


def _statics(part: Node | Directive) -> list[Node]:
    """The declarations of a function's variables of static storage duration, without constants."""
    if not isinstance(part, Node) or part.type != "function_definition":
        return []
    found = [one for one in field(part, "body").of_type("declaration") if "static" in names_in(one.text)]
    return [one for one in found if not _CONSTANT.match(one.text)]


def _holds_terms(declaration: Node) -> bool:
    """Whether variables can be treated as uninitialised and local to one call: numbers with terms, without
    initialisers.

    Integers and pointers left by an earlier call would distinguish calls.
    """
    return _LASTING.fullmatch(declaration.text) is not None
