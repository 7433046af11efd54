"""Loops and statements by the line of the C file they are on: `@12` needs no label."""

from __future__ import annotations

import re

from loopwright.c.syntax import walk_inside
from loopwright.model.program import Program

HANDLE = re.compile(r"@(\d+)")

_WHOLE = ("for_statement", "if_statement", "labeled_statement")
"""What stands for everything inside it when it begins on a line."""


def at_lines(program: Program) -> dict[str, tuple[str, ...]]:
    """`@12` -> the statements it names, for every line of the region that names some.

    A line on which a loop, a condition or a label begins names all that is inside the outermost of
    them; another line names the statements that are written on it.
    """
    found: dict[int, tuple[str, ...]] = {}
    for node in walk_inside(program.file.possible, program.region):
        if node.type in _WHOLE and program.region.contains(node.span):
            inside = tuple(one.name for one in program.statements if node.span.contains(one.body.place))
            if inside:
                found.setdefault(node.span.line, inside)
    for line, names in _written_on(program).items():
        found.setdefault(line, names)
    return {f"@{line}": found[line] for line in sorted(found)}


def nearest(handle: str, known: list[str]) -> list[str]:
    """The lines that name something next to one that does not: one before it, one after it."""
    wanted = _line(handle)
    before = [name for name in known if _line(name) < wanted]
    after = [name for name in known if _line(name) > wanted]
    return [*before[-1:], *after[:1]]


def _line(handle: str) -> int:
    match = HANDLE.fullmatch(handle)
    assert match is not None
    return int(match[1])


def _written_on(program: Program) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for statement in program.statements:
        first = statement.body.place.line
        last = program.source.line_of(statement.body.place.end)
        for line in range(first, last + 1):
            found[line] = (*found.get(line, ()), statement.name)
    return found
