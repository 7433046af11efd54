"""Replaces sizes that a function multiplies or divides by with numbers: the function for these sizes.

    void f(int n, int m, double *a)                     void f(int n, int m, double *a)
    { for (t = 0; t < n * m; t++) a[t / m] = ..; }      { for (t = 0; t < 3 * 2; t++) a[t / 2] = ..; }

The sizes are parameters that the function does not modify, of types that a literal may have.  A macro of
the file that mentions one must be expanded before.  Line numbers do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.c.declarations import declared_name
from loopwright.c.file import CFile, c_file, whole_file
from loopwright.c.reworded.passages import changed_in, declares
from loopwright.c.syntax import Node, field, identifiers, named_children, operator
from loopwright.c.tokens import names_in
from loopwright.source import Edit, Source

_ENDINGS = {"int": "", "long": "l", "size_t": "ul", "unsigned": "u", "unsigned int": "u", "long long": "ll"}
"""The literal suffix of each type."""
_TRIED = ((3, 2, 4, 5), (2, 5, 3, 4))
_TIMES = ("*", "/", "%")


def sizes_to_try(old: Source, new: Source) -> Iterator[dict[str, int]]:
    """Numbers for the sizes that either source multiplies or divides by, if both have the same ones."""
    files = [c_file(text) for text in (old, new)]
    heads = [[_sizes(one) for one in functions_around(file)] for file in files]
    if not heads[0] or heads[0] != heads[1] or any(one != heads[0][0] for one in heads[0]):
        return
    used = [name for file in files for function in functions_around(file) for name in _multiplied(function)]
    names = [name for name in heads[0][0] if name in used]
    if not names or len(names) > len(_TRIED[0]) or not all(_is_kept(file, names) for file in files):
        return
    for numbers in _TRIED:
        yield dict(zip(names, numbers, strict=False))


def with_numbers(source: Source, numbers: Mapping[str, int]) -> Source:
    """The source with these numbers in the functions of its regions."""
    edits: list[Edit] = []
    for function in functions_around(c_file(source)):
        kinds = _sizes(function)
        own = [field(one, "declarator").span for one in _parameters(function)]
        for name, number in numbers.items():
            uses = [use for use in function.named(name) if use.span not in own]
            edits += [(use.start, use.end, f"{number}{_ENDINGS[kinds[name]]}") for use in uses]
    return source.edited(sorted(edits)) if edits else source


def mentions_sizes(source: Source) -> bool:
    """Whether a macro used in a function around a region names a possible size of it."""
    file = c_file(source)
    return _are_hidden(file, {name for function in functions_around(file) for name in _sizes(function)})


def _are_hidden(file: CFile, names: set[str]) -> bool:
    """Whether a macro in the functions around regions names one of these."""
    used = {word for function in functions_around(file) for word in names_in(function.text)}
    own = ((one.name, set(names_in(one.body)).difference(one.parameters or ())) for one in file.macros)
    return any(name in used and not names.isdisjoint(words) for name, words in own)


def functions_around(file: CFile) -> list[Node]:
    """The functions that contain the regions of a file."""
    functions = whole_file(file.source).possible.of_type("function_definition")
    return [one for one in functions if any(one.span.contains(region.place) for region in file.regions)]


def _parameters(function: Node) -> list[Node]:
    head = field(function, "declarator")
    while head.type == "pointer_declarator":
        head = field(head, "declarator")
    parts = [] if head.type != "function_declarator" else named_children(field(head, "parameters"))
    return [one for one in parts if one.child_by_field_name("declarator") is not None]


def _sizes(function: Node) -> dict[str, str]:
    """The numeric parameters by name, and their types."""
    found: dict[str, str] = {}
    for one in _parameters(function):
        named, kind = declared_name(field(one, "declarator")), field(one, "type").text
        if named is not None and named[1] == 0 and kind in _ENDINGS:
            found[named[0]] = kind
    return found


def _multiplied(function: Node) -> Iterator[str]:
    """The names in products of two non-constant factors, and in divisors."""
    for node in field(function, "body").of_type("binary_expression"):
        sides = [identifiers(field(node, side)) for side in ("left", "right")]
        if operator(node) in _TIMES and sides[1] and (sides[0] or operator(node) != "*"):
            yield from (name for one in sides for name in one)


def _is_kept(file: CFile, names: list[str]) -> bool:
    """Whether the functions do not modify these parameters, and no macro names one."""
    if _are_hidden(file, {*names}):
        return False
    for function in functions_around(file):
        body = field(function, "body")
        hidden = any(declares(node, name) for node in body.of_type("declaration") for name in names)
        if hidden or not {*names}.isdisjoint(changed_in(body)):
            return False
    return True
