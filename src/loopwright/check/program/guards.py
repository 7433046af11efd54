"""Assignments that are not operations: none may reach an array of the original.

Where a pointer points that was set before the segment, in a field, or by another file is not
known, nor whether a subscript stays in its own array.  So the address such an assignment goes to is
compared, when it runs, with where the arrays lie; what it assigns stays as it was.  Variables that are no
arrays of the original are compared as a whole (`kept.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.syntax import (
    Node,
    field,
    is_dereference,
    named_children,
    walk,
    without_parentheses,
)
from loopwright.check.original.specification import Specification
from loopwright.check.original.structure import assignment_of
from loopwright.check.program.addresses import blocks, bounds
from loopwright.check.program.instrument import Insertion
from loopwright.check.program.kept import keeping
from loopwright.check.program.sites import Sites
from loopwright.lazy_dataclass import dataclass

_FILLERS = re.compile(
    r"(__builtin_)?(memcpy|memmove|memset|bzero|strcpy|strncpy|strcat|strncat|v?sn?printf)|fread|qsort|fgets|"
    r"gettimeofday|time|posix_memalign|free|realloc|pthread_create|__(atomic|sync)_\w+"
)
"""What is filled, freed or changed is their first argument."""
_SECOND = re.compile(
    r"read|clock_gettime|nanosleep|strto(d|f|l|ll|ul|ull)|pthread_join|__atomic_(load|exchange)"
)
_LATER = re.compile(r"f?scanf|sscanf")


@dataclass(frozen=True)
class Guards:
    """`header` goes before the program, `begin` and `end`, both expressions, around its segment."""

    header: str
    begin: str
    end: str
    insertions: tuple[Insertion, ...]
    engine: str = ""
    """What follows the engine."""
    options: tuple[str, ...] = ()
    """For the linker."""


def guards(spec: Specification, sites: Sites) -> Guards:
    """What notices assignments that are not sites: to the arrays, and to what the original leaves alone."""
    found, kept = _of_arrays(spec, sites), keeping(spec, sites)
    return Guards(
        found.header + kept.header,
        found.begin + kept.begin,
        found.end + kept.end,
        found.insertions,
        kept.engine,
        kept.options,
    )


def _of_arrays(spec: Specification, sites: Sites) -> Guards:
    """What notices assignments to the arrays that are not sites."""
    arrays = blocks(spec, sites.known)
    targets = [target for body in sites.known.bodies for target in _unknown_targets(sites, body)]
    filled = [argument for body in sites.known.bodies for argument in _filled(body)]
    if not arrays or not (targets or filled):
        return Guards("", "", "", ())
    numbers = [spec.arrays.index(array) for array in arrays]
    header = (
        f"#define LW_GUARDED {len(arrays)}\n"
        f"static const int lw_guarded[] = {{{', '.join(map(str, numbers))}}};\n"
        '#include "guards.h"\n'
    )
    begin, end = [], []
    for k, array in enumerate(arrays):
        base = f"(const char *)&{array}{'[0]' * spec.ranks[array]}"
        for side, offset in enumerate(bounds(spec, array)):
            begin.append(f"lw_reach[{k}][{side}] = {base} + {offset}, ")
            end.append(f"lw_reach[{k}][{side}] = 0, ")
    marks = [mark for target in targets for mark in _around(target)]
    marks += [mark for argument in filled for mark in _in_call(argument)]
    return Guards(header, "".join(begin), "".join(end), tuple(marks))


def _unknown_targets(sites: Sites, body: Node) -> Iterator[Node]:
    """`*p`, `p[k]` and `s.p[k]` that are assigned and are not cells."""
    for node in walk(body):
        assignment = None if node.type == "init_declarator" else assignment_of(node)
        if assignment is None or sites.side.cell(assignment.target) is not None:
            continue
        core = without_parentheses(assignment.target)
        is_pointer = is_dereference(core)
        if is_pointer or core.type == "subscript_expression":
            yield assignment.target


def _filled(body: Node) -> Iterator[Node]:
    """The arguments of functions of the library that these write to."""
    for node in walk(body):
        if node.type != "call_expression":
            continue
        name, given = field(node, "function").text, named_children(field(node, "arguments"))
        if _FILLERS.fullmatch(name):
            yield from given[:1]
        if _SECOND.fullmatch(name):
            yield from given[1:2]
        if _LATER.fullmatch(name):
            yield from given[1:] if name == "scanf" else given[2:]


def _around(target: Node) -> tuple[Insertion, Insertion]:
    text = target.text
    opening = f"(*(__typeof__({text}) *)lw_elsewhere(&("
    return _wrapped(target, opening, ")))")


def _in_call(argument: Node) -> tuple[Insertion, Insertion]:
    return _wrapped(argument, f"(__typeof__(({argument.text}) + 0))lw_elsewhere((void *)(", "))")


def _wrapped(node: Node, opening: str, closing: str) -> tuple[Insertion, Insertion]:
    """Inside whatever is inserted before and after the node."""
    return Insertion(node.start, 1 << 20, opening), Insertion(node.end, -(1 << 20), closing)
