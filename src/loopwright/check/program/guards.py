"""Guards against other assignments: only operations may write arrays of the original.

The target of a pointer that was set before the segment, in a field, or by another file is unknown, and so is
whether a subscript is in bounds.  So, at run time, the target address of such an assignment is compared with
the addresses of the arrays; the assigned value is unchanged.  Variables that are not arrays of the original
are compared as a whole.

The segment must preserve variables that the original does not write and the file uses elsewhere.  Its source
does not always show which variables it may modify: through a pointer set before, a library function, a field.
So their values are compared before and after the segment.  If it may write through pointers, so is all memory
allocated before it that holds no array of the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from loopwright.c.declarations import Variable
from loopwright.c.index_helpers import INDEX_HELPERS
from loopwright.c.syntax import (
    Node,
    assigned_target,
    field,
    is_dereference,
    named_children,
    walk,
    without_parentheses,
)
from loopwright.c.tokens import has_assignment, name_matches, without_comments
from loopwright.check.original.specification import Specification, box
from loopwright.check.original.structure import assignment_of
from loopwright.check.program.addresses import arrays_by_rows, blocks, bounds
from loopwright.check.program.instrument import Insertion
from loopwright.check.program.outside import is_looked_at, left_iterators, own_names
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.sites import Sites
from loopwright.check.runtime import ALLOCATED, runtime_text
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.purity import LIBRARY

_NOT_HERE = re.compile(r"\b(?:extern|register|typedef|_Atomic|__thread|_Thread_local)\b")
"""Keywords of variables without a known size, without an address, or with one value per thread."""
_ALLOCATE = (
    *("malloc", "calloc", "realloc", "free", "aligned_alloc", "memalign", "posix_memalign", "valloc"),
    *("strdup", "strndup", "reallocarray"),
)
_ALLOCATE_OTHERWISE = frozenset(
    (
        *("alloca", "__builtin_alloca", "mmap", "mmap64", "mremap", "sbrk", "brk", "shmat", "pvalloc"),
        *("asprintf", "vasprintf", "getline", "getdelim", "open_memstream", "scandir", "realpath"),
    )
)
"""Functions that return memory that is not compared."""


@dataclass(frozen=True)
class Guards:
    """`header` goes before the program, `begin` and `end`, both expressions, around its segment."""

    header: str = ""
    begin: str = ""
    end: str = ""
    insertions: tuple[Insertion, ...] = ()
    engine: str = ""
    """The code after the engine."""
    options: tuple[str, ...] = ()
    """Options for the linker."""


def kept_names(spec: Specification, known: ReachedCode) -> tuple[str, ...]:
    """The variables visible where the segment starts that it must preserve."""
    own = own_names(spec.program)
    names = dict.fromkeys(one.name for one in known.declarations.variables)
    found = [one for name in names if (one := known.at_segment(name)) is not None]
    return tuple(one.name for one in found if one.name not in own and _is_kept(spec, known, one))


def _is_kept(spec: Specification, known: ReachedCode, variable: Variable) -> bool:
    program, place = spec.program, known.segment.place
    there = program.file.declarations.visible(variable.name, program.region)
    if there is None or variable.value is not None or not variable.scope.contains(place):
        return False
    if variable.place.end > place.start or "" in variable.extents:
        return False
    text = variable.place.source.text
    start = 1 + max(text.rfind(mark, 0, variable.place.start) for mark in ";{}(")
    if _NOT_HERE.search(text, start, variable.place.start):
        return False
    return is_looked_at(known, variable.name)


def keeping(spec: Specification, sites: Sites) -> Guards:
    """The code that compares the variables that must be preserved, and memory allocated before."""
    names, is_wary = kept_names(spec, sites.known), may_write_elsewhere(sites)
    calls = [f"({k}, &{name}, sizeof {name}), " for k, name in enumerate(names)]
    begin, end = ("".join(f"{name}{one}" for one in calls) for name in ("lw_hold", "lw_holds"))
    left = left_iterators(spec, sites.known)
    for k, (name, value) in enumerate(left.items(), len(names)):
        begin += f"lw_held[{k}] = (unsigned long)({value}), "
        end += f"lw_leaves({k}, (unsigned long){name}), "
    count = len(names) + len(left)
    header = f'#define LW_KEPT {count}\n#define LW_TELL {int(is_wary)}\n#include "kept.h"\n'
    found = Guards(header, begin, end) if count else Guards()
    own = _own_memory(spec, sites.known) if is_wary else None
    if own is None:
        return found
    functions = "void lw_own(const void *), lw_own_rows(const void *, long, long), lw_hold_allocated(void), "
    return Guards(
        f"{found.header}{functions}lw_holds_allocated(void);\n",
        f"{found.begin}{own}lw_hold_allocated(), ",
        f"{found.end}lw_holds_allocated(), ",
        engine=runtime_text(ALLOCATED),
        options=tuple(f"-Wl,--wrap={name}" for name in _ALLOCATE),
    )


def _own_memory(spec: Specification, known: ReachedCode) -> str | None:
    """Calls that record the addresses of the original's arrays; None if one of them is unknown."""
    whole, rows = blocks(spec, known), arrays_by_rows(spec, known)
    others = [one for one in spec.arrays if one not in (*whole, *rows) and not spec.footprint(one).is_empty()]
    if others:
        return None
    pointed = [one for one in whole if spec.ranks[one]]
    calls = [f"lw_own((const void *)&{one}{'[0]' * spec.ranks[one]}), " for one in pointed]
    for array in rows:
        low, high = box(spec.footprint(array))[0]
        calls.append(f"lw_own((const void *){array}), lw_own_rows((const void *){array}, {low}, {high}), ")
    return "".join(calls)


def may_write_elsewhere(sites: Sites) -> bool:
    """Whether the segment may write through a pointer to memory other than the original's cells."""
    known = sites.known
    plain = {function.name for function in known.functions} | LIBRARY | INDEX_HELPERS
    nodes = [node for body in known.bodies for node in walk(body)]
    words = {node.text for node in nodes if node.type in ("identifier", "type_identifier")}
    bodies = [macro.body for macro in known.macros if macro.name in words]
    if any("(" in body or has_assignment(body) for body in bodies):
        return True
    for node in nodes:
        if node.type == "call_expression" and field(node, "function").text not in plain:
            return True
        target = assigned_target(node)
        if target is not None and sites.side.cell(target) is None and not _is_direct(known, target):
            return True
        parts = named_children(node) if node.type == "expression_statement" else []
        if [one.type for one in parts] == ["identifier"]:  # a macro of a header
            return True
    return False


def _is_direct(known: ReachedCode, target: Node) -> bool:
    """A variable, a member of one, or an element of an array object, not of a pointer."""
    node = without_parentheses(target)
    while node.type in ("field_expression", "subscript_expression"):
        if node.type == "field_expression" and field(node, "operator").type == "->":
            return False
        is_element, node = node.type == "subscript_expression", without_parentheses(field(node, "argument"))
        if is_element and node.type == "field_expression":
            return False
    variable = known.declarations.visible(node.text, node.span) if node.type == "identifier" else None
    return variable is not None and (variable.rank == len(variable.extents) or node is target)


def not_kept(spec: Specification, sites: Sites, changed: frozenset[int], unseen: frozenset[int]) -> list[str]:
    """The message about variables that a run has modified, and about what was not compared."""
    kept = (*kept_names(spec, sites.known), *left_iterators(spec, sites.known))
    names = {-1: "allocated memory", **dict(enumerate(kept))}
    notes = []
    if changed:
        listed = ", ".join(names[k] for k in sorted(changed))
        notes.append(f"used elsewhere, but not with the values that the original leaves: {listed}")
    if unseen - changed:
        listed = ", ".join(names[k] for k in sorted(unseen - changed))
        notes.append(f"too large to be compared before and after the segment: {listed}")
    if may_write_elsewhere(sites) and _own_memory(spec, sites.known) is None:
        notes.append("allocated memory was not compared: the segment may write there through pointers")
    elif others := _other_memory(sites):
        shown = ", ".join(others)
        notes.append(f"not compared, and the segment writes through pointers: memory reached by {shown}")
    return notes


def _other_memory(sites: Sites) -> list[str]:
    """Allocation functions that the file calls elsewhere, if the segment may write through pointers."""
    known = sites.known
    text = without_comments(known.source.text, literals=False)
    names = [one for one in name_matches(text) if one[0] in _ALLOCATE_OTHERWISE and text[one.end()] != "."]
    if not names or not may_write_elsewhere(sites):
        return []
    inside = [body.span for body in known.bodies]
    found = [one[0] for one in names if not any(body.start <= one.start() < body.end for body in inside)]
    return sorted({*found})


_FILLERS = re.compile(
    r"(__builtin_)?(memcpy|memmove|memset|bzero|strcpy|strncpy|strcat|strncat|v?sn?printf)|fread|qsort|fgets|"
    r"gettimeofday|time|posix_memalign|free|realloc|pthread_create|__(atomic|sync)_\w+"
)
"""Functions that fill, free or modify their first argument."""
_SECOND = re.compile(
    r"read|clock_gettime|nanosleep|strto(d|f|l|ll|ul|ull)|pthread_join|__atomic_(load|exchange)"
)
_LATER = re.compile(r"f?scanf|sscanf")


def guards(spec: Specification, sites: Sites) -> Guards:
    """Code that detects assignments other than sites, to the arrays or to what the original does not
    write."""
    found, kept = _of_arrays(spec, sites), keeping(spec, sites)
    return replace(
        kept,
        header=found.header + kept.header,
        begin=found.begin + kept.begin,
        end=found.end + kept.end,
        insertions=found.insertions,
    )


def _of_arrays(spec: Specification, sites: Sites) -> Guards:
    """Code that detects assignments to the arrays that are not sites."""
    arrays = blocks(spec, sites.known)
    targets = [target for body in sites.known.bodies for target in _unknown_targets(sites, body)]
    filled = [argument for body in sites.known.bodies for argument in _filled(body)]
    if not arrays or not (targets or filled):
        return Guards()
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
    """The assigned `*p`, `p[k]` and `s.p[k]` that are not cells."""
    for node in walk(body):
        assignment = None if node.type == "init_declarator" else assignment_of(node)
        if assignment is None or sites.side.cell(assignment.target) is not None:
            continue
        core = without_parentheses(assignment.target)
        is_pointer = is_dereference(core)
        if is_pointer or core.type == "subscript_expression":
            yield assignment.target


def _filled(body: Node) -> Iterator[Node]:
    """The arguments that library functions write to."""
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
    """Insertions nested inside all others before and after the node."""
    return Insertion(node.start, 1 << 20, opening), Insertion(node.end, -(1 << 20), closing)
