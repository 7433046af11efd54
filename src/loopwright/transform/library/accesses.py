"""Accesses to a variable in the text of a region, replaced by others; its declaration with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.c.declarations import declared_name, unqualified
from loopwright.c.syntax import Node, walk
from loopwright.errors import Code
from loopwright.model.program import Array, MemorySpace, Program, Statement
from loopwright.source import Span
from loopwright.transform.plan import Plan
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.script.steps import close_to
from loopwright.transform.storage import TextEdit

MOST_ON_STACK = 4096
"""Elements of an array that the function keeps on its stack."""


def in_space(array: Array, space: MemorySpace | None = None) -> Array:
    """In the memory of a GPU that is named; else on the stack if small and constant, or allocated."""
    size = 1
    for extent in array.extents:
        size = size * int(extent) if size and extent.isdigit() else 0
    if space is None:
        small = 0 < size <= MOST_ON_STACK
        return replace(array, space=MemorySpace.STACK if small else MemorySpace.HEAP)
    if not size:
        sizes = " by ".join(array.extents)
        message = f"{array.name} has {sizes} elements: a memory of a GPU has arrays of constant sizes"
        hint = "tile the loops, and name the loop over tiles that the copy is made in"
        raise Misuse(Code.STORAGE, message, argument="loop", hint=hint)
    return replace(array, space=space)


def variable_called(plan: Plan, name: str, *, sized: bool = True) -> Array:
    """The array or variable of that name, if its storage can be changed; `sized` if its sizes are needed."""
    arrays = {array.name: array for array in plan.program.arrays}
    if name not in arrays:
        near = close_to(name, list(arrays))
        hint = f"did you mean {near}?" if near else f"the variables are {', '.join(arrays) or 'none'}"
        raise Misuse(Code.NO_VARIABLE, f"no variable is called {name}", argument="variable", hint=hint)
    array = arrays[name]
    known = not sized or ("" not in array.extents and len(array.extents) == array.rank)
    if array.element_type is None or not known:
        message = f"the declaration of {name} does not say what it holds and how much of it"
        hint = "declare it in the file, with all its sizes"
        raise Misuse(Code.STORAGE, message, argument="variable", hint=hint)
    if array.rows:
        message = f"{name} is one dimension that is used as {array.rank}"
        raise Misuse(Code.STORAGE, message, argument="variable", hint="declare it with its dimensions")
    return replace(array, element_type=unqualified(array.element_type))


def moved(statement: Statement, name: str, front: str, place: Span | None = None) -> Iterator[TextEdit]:
    """`front` for the name in each access to it, or in that at a `place`."""
    for access in statement.accesses:
        if access.array != name or place not in (None, access.place):
            continue
        text = access.place.text
        if not text.startswith(name) or text[len(name) :].strip()[:1] not in ("", "["):
            message = f"'{' '.join(text.split())}' is another way to write {name}"
            raise Misuse(Code.STORAGE, message, argument="variable", hint=f"write {name} and its subscripts")
        yield TextEdit(access.place.source.at(access.place.start, len(name)), front)


def without_declaration(program: Program, array: Array) -> Iterator[TextEdit]:
    """Of a variable declared in the region only its first value stays."""
    if not array.local:
        return
    for node in walk(program.syntax):
        if node.type != "declaration":
            continue
        declarators = node.children_by_field_name("declarator")
        names = [declared_name(one) for one in declarators]
        if not any(named is not None and named[0] == array.name for named in names):
            continue
        if len(declarators) != 1:
            message = f"{array.name} is declared together with others"
            raise Misuse(Code.STORAGE, message, argument="variable", hint="declare it by itself")
        yield _only_value(node, declarators[0])


def declared_values(program: Program, array: Array, statement: Statement) -> Iterator[TextEdit]:
    """`double x; x = e` for `double x = e`, where that is the statement: x stays declared for others."""
    for node in walk(program.syntax):
        if node.type != "declaration":
            continue
        declarators = node.children_by_field_name("declarator")
        if not any(one.span == statement.body.place for one in declarators):
            continue
        if len(declarators) != 1:
            message = f"{array.name} is declared together with others"
            raise Misuse(Code.STORAGE, message, argument="variable", hint="declare it by itself")
        front = node.source.at(node.start, declarators[0].start - node.start)
        yield TextEdit(front, f"{front.text.strip()} {array.name}; ")


def _only_value(declaration: Node, declarator: Node) -> TextEdit:
    source = declaration.source
    if declarator.type == "init_declarator":
        return TextEdit(source.at(declaration.start, declarator.start - declaration.start), "")
    return TextEdit(declaration.span, "")
