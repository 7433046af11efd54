"""Registers of the lanes of a warp, and of threads: which accesses to them are allowed.

In a kernel of one warp,

    for (LW_LANE_TYPE x = LW_LANE(x, 0, 1); x <= 31; x += LW_LANES(x, 1))

executes iteration k in lane k, in every such loop.  So an array of which lane k has the cells a[k][...] can
be in registers if it is accessed in these two ways only:

    own       a[x][...] is a register of the lane;
    other     v = a[(x + k) % 32][...], a copy and nothing else, is the register of another lane, which a
              shuffle fetches: all lanes must execute it, so only loops with constant bounds are around it.

In a block of several warps, along y, whose lanes are the 32 threads along x, a loop over w of the same form,
along y, is around that one, and arrays have the warp as a further first subscript: a[w][x][...] and a[w][(x +
k) % 32][...].

That no lane writes in a phase what another one reads there is proved with the independence of the loop.

In any kernel, if every phase that uses an array has loops over threads that execute iteration k in thread k,
and uses only its cells a[y][x][...], thread (y, x) can keep these in its registers, from phase to phase.

Alternating buffers: what a step of a march writes, and what the step before it wrote.

In `for (long r = first; test; r += 1)` the rows a[r % 2] and a[(r + 1) % 2] of an array have no cell in
common, and they are swapped in the next iteration.  So a phase that writes one of them and a phase that reads
the other need no barrier between them, except those of the previous iteration.

A cell private to a thread, a[...][w][...][x][...] in loops over the warps w and the lanes x, is accessed by
no other thread in phases where all uses of the array have w and x in the same places: these need no barrier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from loopwright.c.syntax import Node, walk
from loopwright.model.annotations import GPU
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.macros import part


def counted(loop: Node) -> str:
    """The iterator of a loop with step 1 that nothing inside redeclares, or ""."""
    declared = part(loop, "initializer")
    if declared.type != "declaration":
        return ""
    name = part(part(declared, "declarator"), "declarator").text
    inside = [one for one in walk(part(loop, "body")) if one.type == "init_declarator"]
    again = any(part(one, "declarator").text == name for one in inside)
    return name if part(loop, "update").text == f"{name} += 1" and not again else ""


def touched_by(name: Node, march: str, lanes: Sequence[str] = ()) -> tuple[str, ...]:
    """What a use of an array accesses: one of two buffers, in the loop over `march`, or the whole array.

    For a buffer in a phase of `lanes`, a cell private to the thread is followed by the places of these.
    """
    access = name.parent
    if march and access is not None and access.type == "subscript_expression":
        texts = (f"{march} % 2", f"({march} + 1) % 2")
        if part(access, "argument") == name and part(access, "index").text in texts:
            return (f"{name.text}[{texts.index(part(access, 'index').text)}]{_own(access, lanes)}",)
    return all_of(name.text)


def _own(access: Node, lanes: Sequence[str]) -> str:
    """`:0,2` if the subscripts after the first have the numbers of the thread at these places."""
    outer, indices = access.parent, list[str]()
    while outer is not None and outer.type == "subscript_expression" and part(outer, "argument") == access:
        indices.append(part(outer, "index").text)
        access, outer = outer, outer.parent
    if not lanes or any(indices.count(one) != 1 for one in lanes):
        return ""
    return ":" + ",".join(str(indices.index(one)) for one in lanes)


def clash(one: Iterable[str], other: Iterable[str]) -> frozenset[str]:
    """What both access, except cells that are private to a thread in both."""
    known = dict[str, set[str]]()
    for used in other:
        base, _, places = used.partition(":")
        known.setdefault(base, set()).add(places)
    parts = (used.partition(":") for used in one)
    return frozenset(
        base for base, _, places in parts if base in known and (not places or known[base] != {places})
    )


def constant_loop(node: Node) -> tuple[str, int, int] | None:
    """Matches `for (LW_INDEX v = 0; v <= 3; v += 1)`, if nothing inside declares or changes v."""
    if node.type != "for_statement":
        return None
    texts = [" ".join(part(node, name).text.split()) for name in ("initializer", "condition", "update")]
    head = re.fullmatch(r"(?:int|long|LW_INDEX) (\w+) = (\d+);", texts[0])
    name = "" if head is None else head[1]
    until = re.fullmatch(rf"{name} <= (\d+)", texts[1])
    if head is None or until is None or texts[2] not in (f"{name} += 1", f"{name}++"):
        return None
    return None if name in changed_names(part(node, "body")) else (name, int(head[2]), int(until[1]))


def changed_names(node: Node) -> set[str]:
    """The names that a node declares or assigns, or may change through their addresses."""
    found: set[str] = set()
    for one in walk(node):
        match one.type:
            case "init_declarator" | "declaration":
                found.add(part(one, "declarator").text)
            case "assignment_expression":
                found.add(part(one, "left").text)
            case "update_expression" | "pointer_expression":
                found.add(part(one, "argument").text)
    return found


def runs(node: Node, within: Node, known: Mapping[str, int]) -> bool:
    """Whether a part of a phase may execute, given the tests of `known` numbers around it."""
    inner, outer = node, node.parent
    while inner != within and outer is not None:
        if outer.type == "if_statement" and part(outer, "condition") != inner:
            holds = test_holds(part(outer, "condition").text, known)
            if holds is not None and holds is not (part(outer, "consequence") == inner):
                return False
        inner, outer = outer, outer.parent
    return True


def test_holds(test: str, known: Mapping[str, int]) -> bool | None:
    """Whether `(v == 1)` holds; None for other tests."""
    match = re.fullmatch(r"\((\w+) (==|>=|<=) (\d+)\)", " ".join(test.split()))
    if match is None or match[1] not in known:
        return None
    value, number = known[match[1]], int(match[3])
    return value == number if match[2] == "==" else value >= number if match[2] == ">=" else value <= number


def all_of(used: str) -> tuple[str, ...]:
    """An array and its two buffers, given any of them."""
    name = used.partition("[")[0]
    return name, f"{name}[0]", f"{name}[1]"


def in_turn(used: str) -> tuple[str, ...]:
    """The name that a buffer had in the previous iteration."""
    name, _, number = used.partition("[")
    return (f"{name}[{1 - int(number[0])}]",) if number else (used,)


def is_whole_head(first: str, step: str, test: Node, name: str, count: int) -> bool:
    """Whether a distributed loop has iterations 0 to count - 1, of which thread k executes k."""
    return (first, step, " ".join(test.text.split())) == ("0", "1", f"{name} <= {count - 1}")


def check_own(body: Node, threads: Sequence[str], names: frozenset[str]) -> list[Node]:
    """The uses of arrays in the registers of threads in the code of thread (y, x), each a[y][x]."""
    found = list(named_in(body, names))
    if found:
        _refuse_other_meaning(body, {*threads, *names})
    for node in found:
        access: Node | None = node
        for thread in threads:
            inner, access = access, None if access is None else access.parent
            own = access is not None and access.type == "subscript_expression"
            if access is None or not own or part(access, "argument") != inner or not thread:
                raise Unreadable(f"{node.text} is used as something other than an array in registers")
            if part(access, "index").text != thread:
                index = part(access, "index").text
                raise Unreadable(f"thread {thread} uses {node.text}[{index}], in another thread's registers")
    return found


def check_registers(body: Node, lane: str, names: frozenset[str], warp: str = "") -> list[Node]:
    """The uses of register arrays in the code of a lane; raises Unreadable if one is used in another way."""
    _refuse_other_meaning(body, {lane, *([warp] if warp else []), *names})
    found = list(named_in(body, names))
    for node in found:
        array = _row(node, warp) if warp else node
        access = None if array is None else array.parent
        if access is None or access.type != "subscript_expression" or part(access, "argument") != array:
            raise Unreadable(f"{node.text} is used as something other than an array in registers")
        index = part(access, "index").text
        if index == lane:
            continue
        if re.fullmatch(rf"\({lane} \+ \d+\) % {GPU.lanes}", index) is None or not _is_shuffle(access, body):
            raise Unreadable(f"lane {lane} uses {node.text}[{index}], which is in registers of another lane")
    return found


def _row(node: Node, warp: str) -> Node | None:
    """The access a[w] around the name a, where w is the warp."""
    row = node.parent
    if row is None or row.type != "subscript_expression" or part(row, "argument") != node:
        return None
    return row if part(row, "index").text == warp else None


def named_in(body: Node, names: frozenset[str]) -> Iterator[Node]:
    return (node for node in walk(body) if node.type == "identifier" and node.text in names)


def _refuse_other_meaning(body: Node, names: set[str]) -> None:
    """Checks that names keep their meaning: nothing redeclares them, and no lane changes its number."""
    for node in walk(body):
        match node.type:
            case "declaration" | "init_declarator":
                changed = [one for one in walk(node) if one.type == "identifier" and _is_declared(one)]
            case "assignment_expression":
                changed = [part(node, "left")]
            case "update_expression" | "pointer_expression":
                changed = [part(node, "argument")]
            case _:
                continue
        wrong = sorted(one.text for one in changed if one.type == "identifier" and one.text in names)
        if wrong:
            raise Unreadable(f"{wrong[0]} is declared again or assigned in what a lane runs")


def _is_declared(node: Node) -> bool:
    outer = node.parent
    return outer is not None and outer.child_by_field_name("declarator") == node


def _is_shuffle(access: Node, body: Node) -> bool:
    """Whether it is the whole right-hand side of an assignment that every lane executes equally often."""
    whole, outer = access, access.parent
    while outer is not None and outer.type == "subscript_expression":
        whole, outer = outer, outer.parent
    if outer is None or outer.type != "assignment_expression" or part(outer, "right") != whole:
        return False
    if (
        part(outer, "operator").type != "="
        or outer.parent is None
        or outer.parent.type != "expression_statement"
    ):
        return False
    around = outer.parent
    while around != body:
        next_around = around.parent
        if next_around is None:
            return False
        if next_around.type == "for_statement" and constant_loop(next_around) is None:
            return False
        if next_around.type not in ("for_statement", "compound_statement"):
            return False
        around = next_around
    return True
