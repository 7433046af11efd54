"""Macros of kernels that are expanded first: split barriers, selections, copies at once.

Split barriers: threads arrive, and wait later until all threads of the block have arrived.

    LW_SPLIT();
    for (LW_INDEX r = 0; r <= 85; r += 1) {          for (LW_INDEX r = 0; r <= 85; r += 1) {
      phases                                           phases
      LW_ARRIVE(1);                          means     other phases
      other phases                                     LW_BARRIER();
      LW_WAIT(r);                                    }
    }

What precedes LW_ARRIVE in one thread happens before what follows LW_WAIT in another; the other phases of a
step and all of the next step may run at the same time.  So the two mean a barrier if the other phases use no
array of the block, read nothing that a step writes, and write only cells of their own step, of arrays that
nothing else in the march uses: their first subscript is the step and something constant. A step arrives once
and waits once: `LW_ARRIVE(v == 1);` arrives in the last iteration of a loop over v, and `LW_WAIT(r);` waits
for what arrived in step r.

Macros that mean other C code: selections, and copies at once.

    if (LW_SELECT(test)) statement                 if (test) statement

    LW_TOGETHER(2, c, 1, to, from);                for (long c = 1; c <= 2; c += 1) to = from;

All values are read before the first one is written, so `to` and `from` are of two arrays.  One of them is in
registers.  For the other one, the last subscript is c plus another term, and the first element must be at a
multiple of the number of elements: rows of arrays begin at multiples of 32 elements, and those of a shared
array at multiples of their length, so the term added to c must be a multiple too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from loopwright.c.macros import integer_text
from loopwright.c.syntax import Node, identifiers, named_children, walk
from loopwright.c.tokens import names_in
from loopwright.errors import Code, InternalError
from loopwright.model.annotations import GPU
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.kept import meant_kept
from loopwright.prove.text.lanes import constant_loop
from loopwright.prove.text.macros import array_view, call_arguments, called_by, called_name, is_assigned, part
from loopwright.source import Edit

_PARTS = ("LW_SPLIT", "LW_ARRIVE", "LW_WAIT", "LW_SPLIT_END")


def meant_barriers(statements: Sequence[Node]) -> Iterator[Edit]:
    """Yields the edits that replace split barriers by their meaning, or raises Unreadable."""
    nodes = [node for statement in statements for node in walk(statement)]
    calls = [one for one in nodes if one.type == "expression_statement" and called_by(one) is not None]
    parts = [one for one in calls if called_by(one) in _PARTS]
    if not parts:
        return
    if [called_by(one) for one in parts] != list(_PARTS):
        raise Unreadable("a barrier of two parts is not one in the steps of one march")
    given = [call_arguments(named_children(one)[0]) for one in parts]
    if [len(one) for one in given] != [0, 1, 1, 0]:
        raise Unreadable("a part of a barrier has an unknown argument")
    begin, arrive, wait, end = parts
    march, between = _step(arrive, wait)
    _check_march(march, begin, end)
    if given[2] != [_iterator(march)]:
        raise Unreadable(f"threads wait for another step than the one they are in: {given[2][0]}")
    shares = [one for one in calls if (called_by(one) or "").startswith("LW_SHARED_")]
    shared = {call_arguments(named_children(one)[0])[1] for one in shares}
    views = (array_view(called_by(one) or "", call_arguments(named_children(one)[0])) for one in calls)
    _check_between(march, between, shared, {one.name for one in views if one is not None})
    for one in (begin, arrive, end):
        yield one.start, one.end, ""
    yield wait.start, wait.end, "LW_BARRIER();"


def _step(arrive: Node, wait: Node) -> tuple[Node, list[Node]]:
    """The march, and what each step of it executes after threads have arrived and before they wait."""
    body = wait.parent
    march = None if body is None else body.parent
    if body is None or march is None or march.type != "for_statement" or part(march, "body") != body:
        raise Unreadable("threads wait where no step of a march ends")
    within = named_children(body)
    inner = arrive.parent
    (test,) = call_arguments(named_children(arrive)[0])
    if inner == body:
        last, found = arrive, list[Node]()
        if test != "1":
            raise Unreadable(f"whether threads arrive in a step depends on {test}")
    else:
        loop = None if inner is None else inner.parent
        counted = None if loop is None else constant_loop(loop)
        if loop is None or inner is None or counted is None or loop not in within:
            raise Unreadable("threads arrive where it is not known that each step does so once")
        if " ".join(test.split()) != f"{counted[0]} == {counted[2]}" or counted[1] > counted[2]:
            raise Unreadable(f"threads do not arrive in the last iteration alone: {test}")
        inside = named_children(inner)
        last, found = loop, inside[inside.index(arrive) + 1 :]
    first = within.index(last) + 1
    if within[-1] != wait or first > len(within) - 1:
        raise Unreadable("threads do not arrive before they wait, at the end of a step")
    return march, [*found, *within[first:-1]]


def _check_march(march: Node, begin: Node, end: Node) -> None:
    """Checks that steps count from 0, after the split barrier begins and before a full one that ends it."""
    head = " ".join(part(march, "initializer").text.split())
    name = re.fullmatch(r"(?:LW_INDEX|long) (\w+) = 0;", head)
    block = march.parent
    around = [] if block is None or block.type != "compound_statement" else named_children(block)
    known = name is not None and part(march, "update").text == f"{name[1]} += 1"
    if not known or begin not in around or end not in around:
        raise Unreadable("a barrier of two parts is not one of a march that counts its steps from 0 on")
    place = around.index(march)
    after = [called_by(one) for one in around[place + 1 : place + 3]]
    if around.index(begin) > place or after != ["LW_BARRIER", "LW_SPLIT_END"]:
        raise Unreadable("threads may wait at a barrier of two parts that is not there")


def _iterator(march: Node) -> str:
    return part(part(part(march, "initializer"), "declarator"), "declarator").text


def _check_between(march: Node, between: Sequence[Node], shared: set[str], arrays: set[str]) -> None:
    step = _iterator(march)
    names = [one for one in walk(march) if one.type == "identifier" and one.text in arrays | shared]
    inside = [one for one in names if any(phase.start <= one.start < phase.end for phase in between)]
    if used := sorted({one.text for one in inside} & shared):
        raise Unreadable(f"{used[0]} is used after threads have arrived, and nothing orders that")
    assigned = {one.text for one in names if is_assigned(one) or _is_given(one)}
    written = {one.text for one in inside if one.text in assigned}
    outside = {one.text for one in names if one not in inside}
    if wrong := sorted(written & outside):
        raise Unreadable(f"{wrong[0]} is written after threads have arrived, and used before")
    changed = _declared(march)
    for name in sorted(written):
        rows = {_first_subscript(one) for one in inside if one.text == name}
        if len(rows) != 1 or not _is_of_step(rows.pop(), step, changed):
            raise Unreadable(f"cells of {name} that threads write are not those of one step")


def _is_given(name: Node) -> bool:
    """Whether a name is in the destination of a copying macro; other arguments are treated as written."""
    outer = name.enclosing("argument_list", "expression_statement")
    if outer is None or outer.type != "argument_list":
        return False
    arguments = named_children(outer)
    called = outer.parent is not None and part(outer.parent, "function").text
    kept = {"LW_TOGETHER": 4, "LW_LATE": 2}.get(str(called), -1)
    return not 0 <= kept < len(arguments) or not arguments[kept].start <= name.start


def _declared(march: Node) -> set[str]:
    """The iterators of loops inside of the march."""
    found = (one for one in walk(part(march, "body")) if one.type == "init_declarator")
    return {part(one, "declarator").text for one in found}


def _first_subscript(name: Node) -> str:
    access = name.parent
    if access is None or access.type != "subscript_expression" or part(access, "argument") != name:
        return ""
    return " ".join(part(access, "index").text.split())


def _is_of_step(row: str, step: str, changed: set[str]) -> bool:
    """Whether a row is like `77 * iT + r - 9`: the step, once, and terms that no inner loop changes."""
    names = names_in(row)
    plain = re.fullmatch(r"[\w\s+*()-]+", row) is not None
    times = re.search(rf"\*\s*\(*\s*{step}\b|\b{step}\s*\)*\s*\*", row) is not None
    return plain and not times and names.count(step) == 1 and not set(names) & changed


REGISTERS = 0
"""Used instead of a multiple: elements in registers have no alignment."""
COUNTS = ("2", "4")


def meant(statements: Sequence[Node], text: str) -> Iterator[Edit]:
    """Yields the edits that replace the macros of a kernel by their meaning, or raises Unreadable."""
    yield from meant_kept(statements, text)
    yield from meant_barriers(statements)
    nodes = [node for statement in statements for node in walk(statement)]
    calls = [one for one in nodes if one.type == "expression_statement" and called_by(one) is not None]
    rows = dict(length for one in calls for length in _row(one))
    for node in nodes:
        if node.type == "if_statement":
            yield from _selection(part(node, "condition"))
    for node in (one for one in calls if called_by(one) == "LW_TOGETHER"):
        yield node.start, node.end, _loop(node, rows)


def without_nested(edits: Sequence[Edit]) -> list[Edit]:
    """The edits in order, without those inside what another one removes."""
    found: list[Edit] = []
    for one in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if not found or one[0] >= found[-1][1]:
            found.append(one)
        elif one[1] > found[-1][1] or found[-1][2]:
            raise InternalError(Code.INTERNAL, "two macros of a kernel overlap")
    return found


def _row(node: Node) -> Iterator[tuple[str, int]]:
    """Yields the array that a statement declares, with the alignment of its rows in elements."""
    macro, arguments = called_by(node) or "", call_arguments(named_children(node)[0])
    if macro.startswith("LW_REGISTERS_"):
        yield arguments[1], REGISTERS
    elif macro.startswith("LW_SHARED_") and arguments[-1].isdigit():
        yield arguments[1], gcd(int(arguments[-1]), GPU.row) if len(arguments) > 3 else GPU.row
    elif (view := array_view(macro, arguments)) is not None:
        yield view.name, GPU.row


def _selection(condition: Node) -> Iterator[tuple[int, int, str]]:
    inside = named_children(condition)
    if len(inside) == 1 and called_name(inside[0]) == "LW_SELECT":
        name = part(inside[0], "function")
        yield name.start, name.end, ""


def _loop(node: Node, rows: Mapping[str, int]) -> str:
    arguments = named_children(part(named_children(node)[0], "arguments"))
    shown = " ".join(node.text.split())
    if len(arguments) != 5:
        raise Unreadable(f"an unknown copy of neighbours: {shown}")
    count, name, first, to, source = (one.text for one in arguments)
    if count not in COUNTS or not name.isidentifier() or not first.isdigit():
        raise Unreadable(f"an unknown copy of neighbours: {shown}")
    multiples = [rows.get(_array(one), 1) for one in arguments[3:]]
    if sorted(one == REGISTERS for one in multiples) != [False, True]:
        raise Unreadable(f"a copy of neighbours that is not one between registers and an array: {shown}")
    for one, multiple in zip(arguments[3:], multiples, strict=True):
        _check_neighbours(one, name, int(first), int(count), multiple)
    last = int(first) + int(count) - 1
    return f"for (long {name} = {first}; {name} <= {last}; {name} += 1) {to} = {source};"


def _array(access: Node) -> str:
    """The name of the array in a subscripted access."""
    return _array(part(access, "argument")) if access.type == "subscript_expression" else access.text


def _check_neighbours(access: Node, name: str, first: int, count: int, multiple: int) -> None:
    """Checks that only the last subscript has the iterator, as a term; the rest must be aligned."""
    others = identifiers(part(access, "argument"))
    terms = _terms(part(access, "index"), 1)
    if name in others or terms.pop(name, 0) != 1:
        raise Unreadable(f"{access.text} is not one of neighbours along {name}")
    begins = terms.pop("", 0) + first
    if multiple == REGISTERS:
        aligned = not any(terms.values())
    else:
        aligned = multiple % count == 0 and not any(one % count for one in (begins, *terms.values()))
    if not aligned:
        raise Unreadable(f"{access.text} does not begin at a multiple of {count} elements")


def _terms(node: Node, factor: int) -> dict[str, int]:
    """The coefficients of names in a sum, and the constant under the name ''."""
    match node.type:
        case "parenthesized_expression":
            return _terms(named_children(node)[0], factor)
        case "identifier":
            return {node.text: factor}
        case "number_literal" if (number := integer_text(node.text)) is not None:
            return {"": factor * number}
        case "binary_expression":
            return _combined(node, factor)
        case _:
            raise Unreadable(f"the subscript {node.text} is not known")


def _combined(node: Node, factor: int) -> dict[str, int]:
    left, right, sign = part(node, "left"), part(node, "right"), part(node, "operator").type
    match sign:
        case "+" | "-":
            found = _terms(left, factor)
            for key, more in _terms(right, factor if sign == "+" else -factor).items():
                found[key] = found.get(key, 0) + more
            return found
        case "*" if left.type == "number_literal" and (number := integer_text(left.text)) is not None:
            return _terms(right, factor * number)
        case _:
            raise Unreadable(f"the subscript {node.text} is not known")
