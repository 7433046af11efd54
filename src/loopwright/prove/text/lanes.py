"""Registers of the lanes of a warp, and of threads: which accesses to them a text may have.

In a kernel of one warp,

    for (LW_LANE_TYPE x = LW_LANE(x, 0, 1); x <= 31; x += LW_LANES(x, 1))

runs iteration k in lane k, in every such loop.  So an array of which lane k has the cells a[k][...] can be in
registers, if they are used in two ways alone:

    own       a[x][...] is a register of the lane;
    other     v = a[(x + k) % 32][...], a copy and nothing else, is the register of another lane, which a
              shuffle fetches: all lanes have to run it, so only loops with constant bounds are around it.

In a block of several warps, along y, whose lanes are the 32 threads along x, a loop over w of the same form,
along y, is around that one, and arrays have the warp as another first subscript: a[w][x][...] and
a[w][(x + k) % 32][...].

That no lane writes in a phase what another one reads there is proved with the independence of the loop.

In any kernel, where every phase that uses an array has loops over threads that run iteration k in thread k,
and uses its cells a[y][x][...] alone, thread (y, x) can have these in its registers, from phase to phase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopwright.c.syntax import Node, walk
from loopwright.emit.cuda.launches import LANES
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.macros import part
from loopwright.prove.text.turns import constant_loop


def is_whole_head(first: str, step: str, test: Node, name: str, count: int) -> bool:
    """Whether a distributed loop runs iterations 0 to count - 1: of so many threads, k runs iteration k."""
    return (first, step, " ".join(test.text.split())) == ("0", "1", f"{name} <= {count - 1}")


def check_own(body: Node, threads: Sequence[str], names: frozenset[str]) -> list[Node]:
    """The places of arrays in the registers of threads in what thread (y, x) runs, each a[y][x]."""
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
    """The places of arrays in registers in what a lane runs; Unreadable where one is of something else."""
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
        if re.fullmatch(rf"\({lane} \+ \d+\) % {LANES}", index) is None or not _is_shuffle(access, body):
            raise Unreadable(f"lane {lane} uses {node.text}[{index}], which is in registers of another lane")
    return found


def _row(node: Node, warp: str) -> Node | None:
    """a[w] of the name a, where w is the warp."""
    row = node.parent
    if row is None or row.type != "subscript_expression" or part(row, "argument") != node:
        return None
    return row if part(row, "index").text == warp else None


def named_in(body: Node, names: frozenset[str]) -> Iterator[Node]:
    return (node for node in walk(body) if node.type == "identifier" and node.text in names)


def _refuse_other_meaning(body: Node, names: set[str]) -> None:
    """A name keeps its meaning: nothing declares it again, and no lane changes its number."""
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
    """Whether it is all of the right side of an assignment that every lane runs as often."""
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
