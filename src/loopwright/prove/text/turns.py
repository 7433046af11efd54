"""Buffers that take turns: what a step of a march writes, and what the step before it has written.

In `for (long r = first; test; r += 1)` the rows a[r % 2] and a[(r + 1) % 2] of an array have no cell in
common, and each of them is the other one in the next iteration.  So a phase that writes one of them and a
phase that reads the other need no barrier between them, but for those of the iteration before.
"""

from __future__ import annotations

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


def touched_by(name: Node, march: str) -> tuple[str, ...]:
    """What a use of an array touches: one of two buffers, in the loop over `march`, or all of it."""
    access = name.parent
    if march and access is not None and access.type == "subscript_expression":
        texts = (f"{march} % 2", f"({march} + 1) % 2")
        if part(access, "argument") == name and part(access, "index").text in texts:
            return (f"{name.text}[{texts.index(part(access, 'index').text)}]",)
    return all_of(name.text)


def all_of(used: str) -> tuple[str, ...]:
    """An array and its buffers, of one of them or of all."""
    name = used.partition("[")[0]
    return name, f"{name}[0]", f"{name}[1]"


def in_turn(used: str) -> tuple[str, ...]:
    """What was a buffer in the iteration before."""
    name, _, number = used.partition("[")
    return (f"{name}[{1 - int(number[0])}]",) if number else (used,)
