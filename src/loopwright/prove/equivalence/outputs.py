"""What counts after the region: the storage in which two programs have to agree.

A variable of the region's own is gone behind it.  A local variable of the function that nothing
behind the region mentions cannot be looked at.  A variable the other file does not have is taken
for a temporary, which is said.  Everything else counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

from loopwright.model.program import Program
from loopwright.model.source import Source, TextRange
from loopwright.read.c.macros import macros_of, mentions
from loopwright.read.c.region_syntax import declared_in, parse_file
from loopwright.read.c.syntax import field, operator, place, text_of, walk

_ELEMENTS = ("subscript_expression", "parenthesized_expression")
_LOOPS = ("for_statement", "while_statement", "do_statement")


@dataclass(frozen=True)
class Outputs:
    """The arrays that count, and what is believed of those that do not."""

    arrays: tuple[str, ...]
    trusted: tuple[str, ...]


def outputs(old: Program, new: Program) -> Outputs:
    """The storage both files know and that may be looked at after the region."""
    own = [{array.name for array in program.arrays if not array.local} for program in (old, new)]
    arrays: list[str] = []
    trusted: list[str] = []
    for name in sorted(own[0] | own[1]):
        users = [program for program, names in zip((old, new), own, strict=True) if name in names]
        dead = [program for program in users if is_dead(program, name)]
        others = [program for program in (old, new) if program not in users]
        missing = [program for program in others if not _is_declared(program, name)]
        if len(dead) == len(users):
            continue
        if missing or dead:
            where = (missing or dead)[0].source.path
            how = "does not have" if missing else "keeps to itself"
            trusted.append(f"'{name}', which {where} {how}, is not looked at after the region")
        else:
            arrays.append(name)
    return Outputs(tuple(arrays), tuple(trusted))


def _is_declared(program: Program, name: str) -> bool:
    declarations = declared_in(program.source)
    return any(declarations.visible(one, program.region) for one in (name, name.split("__")[0]))


def is_dead(program: Program, name: str) -> bool:
    """Whether `name` is local to the function, keeps to its name, and is not mentioned behind the region."""
    source = program.source
    inside = _around(source, program.region)
    uses = [n for n in inside if n.type == "identifier" and text_of(source, n) == name]
    return (
        any(_declares(use) for use in uses)
        and all(use.start_byte < program.region.end for use in uses)
        and not any(_escapes(use) for use in uses if not program.region.contains(place(use)))
        and not any(mentions(macro, name) for macro in macros_of(source))
    )


@lru_cache(maxsize=8)
def _around(source: Source, region: TextRange) -> tuple[Node, ...]:
    """What is in the function around a region that is run once: nothing if it is in a loop."""
    root = parse_file(source)
    around = [node for node in walk(root) if place(node).contains(region)]
    functions = [node for node in around if node.type == "function_definition"]
    if len(functions) != 1 or any(node.type in _LOOPS for node in around):
        return ()
    inside = tuple(walk(field(functions[0], "body")))
    return () if any(node.type == "goto_statement" for node in inside) else inside


def _declares(use: Node) -> bool:
    """Whether this is `double t` or `double t[n]` in a block, and not `static`."""
    node = use
    while node.parent is not None and node.parent.type in ("array_declarator", "init_declarator"):
        if node.parent.child_by_field_name("declarator") != node:
            return False
        node = node.parent
    outer = node.parent
    if outer is None or outer.type != "declaration":
        return False
    storage = [part.type for part in outer.children]
    return "storage_class_specifier" not in storage


def _escapes(use: Node) -> bool:
    """Whether the storage itself, and not a value in it, is handed on: `&t`, `f(t)`, `p = t`."""
    if _declares(use):
        return False
    node = use
    while node.parent is not None and node.parent.type in _ELEMENTS:
        if node.parent.type == "subscript_expression" and field(node.parent, "argument") != node:
            return False
        node = node.parent
    outer = node.parent
    if outer is None or (outer.type == "pointer_expression" and operator(outer) == "&"):
        return True
    is_target = outer.type == "assignment_expression" and field(outer, "left") == node
    return not is_target and not (node.type == "subscript_expression" or outer.type == "binary_expression")
