"""Buffers that take turns: what a step of a march writes, and what the step before it has written.

In `for (long r = first; test; r += 1)` the rows a[r % 2] and a[(r + 1) % 2] of an array have no cell in
common, and each of them is the other one in the next iteration.  So a phase that writes one of them and a
phase that reads the other need no barrier between them, but for those of the iteration before.

A cell of a thread's own, a[...][w][...][x][...] in loops over the warps w and the lanes x, is touched by no
other thread in phases where all uses of the array have w and x in the same places: these need no barrier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from loopwright.c.syntax import Node, walk
from loopwright.prove.text.macros import part


def counted(loop: Node) -> str:
    """The iterator of a loop that counts up by 1, and that nothing inside declares again; else nothing."""
    declared = part(loop, "initializer")
    if declared.type != "declaration":
        return ""
    name = part(part(declared, "declarator"), "declarator").text
    inside = [one for one in walk(part(loop, "body")) if one.type == "init_declarator"]
    again = any(part(one, "declarator").text == name for one in inside)
    return name if part(loop, "update").text == f"{name} += 1" and not again else ""


def touched_by(name: Node, march: str, lanes: Sequence[str] = ()) -> tuple[str, ...]:
    """What a use of an array touches: one of two buffers, in the loop over `march`, or all of it.

    Of a buffer in a phase of `lanes`, one of the thread's own cells has the places of these after it.
    """
    access = name.parent
    if march and access is not None and access.type == "subscript_expression":
        texts = (f"{march} % 2", f"({march} + 1) % 2")
        if part(access, "argument") == name and part(access, "index").text in texts:
            return (f"{name.text}[{texts.index(part(access, 'index').text)}]{_own(access, lanes)}",)
    return all_of(name.text)


def _own(access: Node, lanes: Sequence[str]) -> str:
    """`:0,2` where the subscripts after the first one have the numbers of the thread there."""
    outer, indices = access.parent, list[str]()
    while outer is not None and outer.type == "subscript_expression" and part(outer, "argument") == access:
        indices.append(part(outer, "index").text)
        access, outer = outer, outer.parent
    if not lanes or any(indices.count(one) != 1 for one in lanes):
        return ""
    return ":" + ",".join(str(indices.index(one)) for one in lanes)


def clash(one: Iterable[str], other: Iterable[str]) -> frozenset[str]:
    """What both touch, not counting cells that are a thread's own in both."""
    known = dict[str, set[str]]()
    for used in other:
        base, _, places = used.partition(":")
        known.setdefault(base, set()).add(places)
    parts = (used.partition(":") for used in one)
    return frozenset(
        base for base, _, places in parts if base in known and (not places or known[base] != {places})
    )


def constant_loop(node: Node) -> tuple[str, int, int] | None:
    """`for (LW_INDEX v = 0; v <= 3; v += 1)`, of which nothing inside declares or changes v."""
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
    """The names that something in it declares or assigns, or may through its address."""
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
    """Whether a part of a phase runs, for all that tests of the `known` numbers around it say."""
    inner, outer = node, node.parent
    while inner != within and outer is not None:
        if outer.type == "if_statement" and part(outer, "condition") != inner:
            holds = test_holds(part(outer, "condition").text, known)
            if holds is not None and holds is not (part(outer, "consequence") == inner):
                return False
        inner, outer = outer, outer.parent
    return True


def test_holds(test: str, known: Mapping[str, int]) -> bool | None:
    """Whether `(v == 1)` holds; None of other tests."""
    match = re.fullmatch(r"\((\w+) (==|>=|<=) (\d+)\)", " ".join(test.split()))
    if match is None or match[1] not in known:
        return None
    value, number = known[match[1]], int(match[3])
    return value == number if match[2] == "==" else value >= number if match[2] == ">=" else value <= number


def all_of(used: str) -> tuple[str, ...]:
    """An array and its buffers, of one of them or of all."""
    name = used.partition("[")[0]
    return name, f"{name}[0]", f"{name}[1]"


def in_turn(used: str) -> tuple[str, ...]:
    """What was a buffer in the iteration before."""
    name, _, number = used.partition("[")
    return (f"{name}[{1 - int(number[0])}]",) if number else (used,)
