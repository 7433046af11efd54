"""Rewrites small trees of C as a programmer would; some rewrites are correct only for some programs.

Running a result beside the original decides whether it is correct.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from tests.fuzz.nests import Assign, Block, If, Loop, Node, Words, lines, map_words, names_in, put
from tests.fuzz.rewordings import OF_ASSIGNS, OF_IFS, Chosen, Nodes, types_of

OfLoop: TypeAlias = Callable[[Loop, Chosen], Nodes | None]


def _sum(*parts: str) -> str:
    return f"({' + '.join(parts)})"


def unrolled(loop: Loop, chosen: Chosen) -> Nodes:
    """Several iterations written out, and a loop for the rest."""
    name, count = loop.name, chosen.rng.choice((2, 3, 4))
    copies: list[Node] = []
    for k in range(count):
        copies.append(Block("", put(name, _sum(name, str(k)) if k else name, loop.body)))
    first = Words(f"int {name} = {loop.low};")
    test = f"{name} + {count - 1} < {loop.high}"
    if chosen.rng.random() < 0.4:
        test = f"{name} < {loop.low} + ({loop.high} - {loop.low}) / {count} * {count}"
    many = Block(f"for (; {test}; {name} += {count})", tuple(copies))
    return (Block("", (first, many, Block(f"for (; {name} < {loop.high}; {name}++)", loop.body))),)


def peeled_first(loop: Loop, chosen: Chosen) -> Nodes:
    once = If(f"{loop.low} < {loop.high}", put(loop.name, f"({loop.low})", loop.body))
    return once, replace(loop, low=_sum(loop.low, "1"))


def peeled_last(loop: Loop, chosen: Chosen) -> Nodes:
    once = If(f"{loop.low} < {loop.high}", put(loop.name, f"({loop.high} - 1)", loop.body))
    return replace(loop, high=f"({loop.high} - 1)"), once


def split(loop: Loop, chosen: Chosen) -> Nodes:
    """Two loops, before and after a point."""
    point = chosen.rng.choice(("3", "m", "n / 2", "n - 1"))
    middle = f"({point} < {loop.high} ? {point} : {loop.high})"
    later = f"({point} > {loop.low} ? {point} : {loop.low})"
    return replace(loop, high=middle), replace(loop, low=later)


def stripped(loop: Loop, chosen: Chosen) -> Nodes:
    size, outer = chosen.rng.choice((2, 3, 4)), chosen.fresh
    if chosen.rng.random() < 0.5:
        end = f"({outer} + {size} < {loop.high} ? {outer} + {size} : {loop.high})"
        return (Loop(outer, loop.low, loop.high, (replace(loop, low=outer, high=end),), "int", size),)
    start = f"({loop.low} + {size} * {outer})"
    end = f"({start} + {size} < {loop.high} ? {start} + {size} : {loop.high})"
    count = f"({loop.high} - {loop.low} + {size - 1}) / {size}"
    return (Loop(outer, "0", count, (replace(loop, low=start, high=end),)),)


def reversed_order(loop: Loop, chosen: Chosen) -> Nodes:
    head = f"for (int {loop.name} = {loop.high} - 1; {loop.name} >= {loop.low}; {loop.name}--)"
    return (Block(head, loop.body),)


def mirrored(loop: Loop, chosen: Chosen) -> Nodes:
    """The counter goes down, what it stands for goes up."""
    (down,) = reversed_order(loop, chosen)
    up = f"({loop.low} + {loop.high} - 1 - {loop.name})"
    return (map_words_in(down, lambda text: re.sub(rf"\b{loop.name}\b", lambda _: up, text)),)


def map_words_in(node: Node, words: Callable[[str], str]) -> Node:
    """The block with the expressions of its body changed, and its head as it is."""
    assert isinstance(node, Block)
    return replace(node, body=tuple(map_words(words, one) for one in node.body))


def moved(loop: Loop, chosen: Chosen) -> Nodes:
    by = chosen.rng.choice((1, 2, -1))
    body = put(loop.name, f"({loop.name} - {by})" if by > 0 else f"({loop.name} + {-by})", loop.body)
    return (replace(loop, low=f"({loop.low} + {by})", high=f"({loop.high} + {by})", body=body),)


def scaled(loop: Loop, chosen: Chosen) -> Nodes:
    body = put(loop.name, f"({loop.name} / 2)", loop.body)
    return (replace(loop, low=f"2 * ({loop.low})", high=f"2 * ({loop.high})", body=body, by=2),)


def while_loop(loop: Loop, chosen: Chosen) -> Nodes:
    first, last = Words(f"{loop.kind} {loop.name} = {loop.low};"), Words(f"{loop.name} += {loop.by};")
    test = f"{loop.name} < {loop.high}"
    if chosen.rng.random() < 0.6:
        return (Block("", (first, Block(f"while ({test})", (*loop.body, last)))),)
    once = Block("do", (*loop.body, last), f" while ({test});")
    return (If(f"{loop.low} < {loop.high}", (first, once)),)


def broken(loop: Loop, chosen: Chosen) -> Nodes:
    """A loop that a break ends."""
    leave = Words(f"if ({loop.name} >= {loop.high}) break;")
    head = f"for (int {loop.name} = {loop.low}; ; {loop.name}++)"
    if chosen.rng.random() < 0.6:
        bound = chosen.rng.choice(("24", "n + m + 3", "n"))
        head = f"for (int {loop.name} = {loop.low}; {loop.name} < {bound}; {loop.name}++)"
    return (Block(head, (leave, *loop.body)),)


def guarded(loop: Loop, chosen: Chosen) -> Nodes:
    return (If(f"{loop.low} {chosen.rng.choice(('<', '<', '<='))} {loop.high}", (loop,)),)


def with_other_type(loop: Loop, chosen: Chosen) -> Nodes:
    kinds = (
        "long",
        "long",
        "unsigned",
        "short",
        "unsigned char",
        "signed char",
        "long long",
        "unsigned long",
    )
    return (replace(loop, kind=chosen.rng.choice(kinds)),)


def up_to_and_with(loop: Loop, chosen: Chosen) -> Nodes:
    head = f"for (int {loop.name} = {loop.low}; {loop.name} <= {loop.high} - 1; {loop.name}++)"
    if chosen.rng.random() < 0.3:
        head = f"for (int {loop.name} = {loop.low}; {loop.name} != {loop.high}; {loop.name}++)"
    return (Block(head, loop.body),)


def interchanged(loop: Loop, chosen: Chosen) -> Nodes | None:
    match loop.body:
        case (Loop() as inner,) if loop.name not in names_in((replace(inner, body=()),)):
            return (replace(inner, body=(replace(loop, body=inner.body),)),)
    return None


def triangle_interchanged(loop: Loop, chosen: Chosen) -> Nodes | None:
    """for i in [a, b), j in [c, i + 1)  -->  for j in [c, b), i in [max(a, j), b)"""
    match loop.body:
        case (Loop() as inner,) if inner.high == f"{loop.name} + 1" and loop.name not in inner.low:
            start = f"({loop.low} > {inner.name} ? {loop.low} : {inner.name})"
            return (replace(inner, high=loop.high, body=(replace(loop, low=start, body=inner.body),)),)
    return None


def distributed(loop: Loop, chosen: Chosen) -> Nodes | None:
    if len(loop.body) < 2:
        return None
    at = chosen.rng.randrange(1, len(loop.body))
    return replace(loop, body=loop.body[:at]), replace(loop, body=loop.body[at:])


def walked(loop: Loop, chosen: Chosen) -> Nodes | None:
    """A pointer that goes along with the iterator."""
    flat = [
        one
        for one in chosen.arrays
        if one.rank == 1 and f"{one.name}[{loop.name}" in "\n".join(lines(loop.body))
    ]
    if not flat:
        return None
    one, name = chosen.rng.choice(flat), f"q{chosen.fresh}"

    def words(text: str) -> str:
        text = re.sub(rf"\b{one.name}\[{loop.name}\]", f"(*{name})", text)
        return re.sub(rf"\b{one.name}\[{loop.name} ([+-]) (\d)\]", rf"{name}[\g<1>\2]", text)

    body = tuple(map_words(words, node) for node in loop.body)
    first = Words(f"{one.type} *{name} = {one.name} + {loop.low};")
    return (Block("", (first, replace(loop, body=(*body, Words(f"{name}++;"))))),)


def accumulated(loop: Loop, chosen: Chosen) -> Nodes | None:
    """A sum in a variable."""
    match loop.body:
        case (Assign(target, operator, value),) if operator != "=" and loop.name not in names_in(
            (Words(target),)
        ):
            sum_ = f"a{chosen.fresh}"
            kind = chosen.type_of(target) if chosen.rng.random() < 0.9 else "double"
            inside = replace(loop, body=(Assign(sum_, operator, value),))
            first, last = Words(f"{kind} {sum_} = {target};"), Assign(target, "=", sum_)
            return (Block("", (first, inside, last)),)
    return None


def tiled(loop: Loop, chosen: Chosen) -> Nodes | None:
    """Two loops in tiles; the bounds of the inner one may not name the outer one."""
    match loop.body:
        case (Loop() as inner,) if loop.name not in names_in((replace(inner, body=()),)):
            one, other = chosen.rng.choice((2, 3, 4)), chosen.rng.choice((2, 3, 5))
            outer, second = f"o{chosen.fresh}", f"r{chosen.fresh}"
            ends = (f"({name} + {size} < {end.high} ? {name} + {size} : {end.high})"
                    for name, size, end in ((outer, one, loop), (second, other, inner)))  # fmt: skip
            points = replace(loop, low=outer, high=next(ends), body=())
            within = replace(points, body=(replace(inner, low=second, high=next(ends)),))
            return (Loop(outer, loop.low, loop.high, (
                Loop(second, inner.low, inner.high, (within,), "int", other),), "int", one),)  # fmt: skip
    return None


def skewed(loop: Loop, chosen: Chosen) -> Nodes | None:
    """for i, j  -->  for i, j' = j + f i; perhaps with the diagonals outside, where the bounds are plain"""
    match loop.body:
        case (Loop() as inner,) if inner.by == 1:
            shift = f"{chosen.rng.choice(('', '2 * '))}{loop.name}"
            body = put(inner.name, f"({inner.name} - {shift})", inner.body)
            low, high = f"({inner.low} + {shift})", f"({inner.high} + {shift})"
            return (replace(loop, body=(replace(inner, low=low, high=high, body=body),)),)
    return None


def jammed(loop: Loop, chosen: Chosen) -> Nodes | None:
    """Two iterations of the outer loop in each of the inner one, and the last one alone where one is left."""
    match loop.body:
        case (Loop() as inner,) if loop.name not in names_in((replace(inner, body=()),)):
            name = loop.name
            both = replace(inner, body=(*inner.body, *put(name, f"({name} + 1)", inner.body)))
            first = Words(f"int {name} = {loop.low};")
            many = Block(f"for (; {name} + 1 < {loop.high}; {name} += 2)", (both,))
            return (Block("", (first, many, Block(f"for (; {name} < {loop.high}; {name}++)", loop.body))),)
    return None


def through_a_row(loop: Loop, chosen: Chosen) -> Nodes | None:
    """All values are computed into a row of this function before any of them is stored."""
    match loop.body:
        case (Assign(target, operator, value),):
            name = f"b{chosen.fresh}"
            kind, length = types_of(chosen, chosen.type_of(target)), chosen.rng.choice((24, 24, 64))
            row = Words(f"{kind} {name}[{length}];")
            first = replace(loop, body=(Assign(f"{name}[{loop.name}]", "=", value),))
            then = replace(loop, body=(Assign(target, operator, f"{name}[{loop.name}]"),))
            return (Block("", (row, first, then)),)
    return None


def counted(loop: Loop, chosen: Chosen) -> Nodes | None:
    """Subscripts that a counter of its own holds."""
    found = re.findall(rf"\[({loop.name} [+-] \d)\]", "\n".join(lines(loop.body)))
    if not found:
        return None
    old, name = chosen.rng.choice(found), f"k{chosen.fresh}"
    first = Words(f"int {name} = {old.replace(loop.name, loop.low, 1)};")
    body = tuple(map_words(lambda text: text.replace(f"[{old}]", f"[{name}]"), one) for one in loop.body)
    return (Block("", (first, replace(loop, body=(*body, Words(f"{name}++;"))))),)


def unswitched(loop: Loop, chosen: Chosen) -> Nodes | None:
    match loop.body:
        case (If(test, then, other),) if loop.name not in names_in((Words(test),)):
            no = (replace(loop, body=other),) if other else ()
            return (If(test, (replace(loop, body=then),), no),)
    return None


def hoisted(loop: Loop, chosen: Chosen) -> Nodes | None:
    """An element whose subscripts do not change is read once."""
    text = "\n".join(lines(loop.body))
    cells = [cell for cell in re.findall(r"\b[A]\d\[\w\]", text) if loop.name not in cell]
    if not cells:
        return None
    cell, name = chosen.rng.choice(cells), f"c{chosen.fresh}"
    kind = chosen.type_of(cell)

    def reads(node: Node) -> Node:
        if isinstance(node, Assign):
            return replace(node, value=node.value.replace(cell, name))
        return node

    if any(one.rank == 1 and cell.startswith(one.name) for one in chosen.arrays):
        body = tuple(reads(node) for node in loop.body)
        return (Block("", (Words(f"{kind} {name} = {cell};"), replace(loop, body=body))),)
    return None


def bounded(loop: Loop, chosen: Chosen) -> Nodes:
    """A bound that is computed in another type or way."""
    other = chosen.rng.choice(
        ("(unsigned)({})", "({}) + 0u", "({}) - 1u + 1L", "(long)({})", "({}) - 1 + 1u", "(short)({})",
         "(unsigned char)({})", "2 * ({}) / 2", "(({}) << 1) >> 1", "(({}) > 0 ? {} : 0)", "({}) & 31")
    )  # fmt: skip
    return (replace(loop, high=other.replace("{}", loop.high)),)


OF_LOOPS: tuple[OfLoop, ...] = (
    unrolled, unrolled, peeled_first, peeled_last, split, stripped, stripped, reversed_order, mirrored, moved,
    scaled, while_loop, broken, guarded, with_other_type, up_to_and_with, interchanged, interchanged,
    triangle_interchanged, distributed, distributed, walked, walked, accumulated, accumulated, unswitched,
    hoisted, bounded, tiled, tiled, tiled, skewed, skewed, jammed, jammed, through_a_row, through_a_row,
    counted,
)  # fmt: skip


def rewritten(nodes: Nodes, chosen: Chosen) -> Nodes | None:
    """The nodes with one of them, or of those inside, rewritten; None where it cannot be."""
    where = chosen.rng.randrange(len(nodes))
    before, node, after = nodes[:where], nodes[where], nodes[where + 1 :]
    made = _inside(node, chosen) if chosen.rng.random() < 0.5 else None
    if made is None:
        made = _fused(nodes, where) if chosen.rng.random() < 0.1 else None
        if made is None and chosen.rng.random() < 0.15:
            made = _swapped(nodes, where)
        if made is not None:
            return made
        made = _itself(node, chosen)
    return None if made is None else (*before, *made, *after)


def _fused(nodes: Nodes, where: int) -> Nodes | None:
    match nodes[where : where + 2]:
        case (Loop() as one, Loop() as other) if replace(one, body=()) == replace(other, body=()):
            both = replace(one, body=(*one.body, *other.body))
            return (*nodes[:where], both, *nodes[where + 2 :])
    return None


def _swapped(nodes: Nodes, where: int) -> Nodes | None:
    """A statement and the next one in the other order."""
    if where + 1 >= len(nodes) or any(isinstance(one, Words) for one in nodes[where : where + 2]):
        return None
    return (*nodes[:where], nodes[where + 1], nodes[where], *nodes[where + 2 :])


def _inside(node: Node, chosen: Chosen) -> Nodes | None:
    match node:
        case If(then=body) | Loop(body=body) | Block(body=body):
            made = rewritten(body, chosen) if body else None
            if made is None:
                return None
            return (replace(node, then=made) if isinstance(node, If) else replace(node, body=made),)
    return None


def _itself(node: Node, chosen: Chosen) -> Nodes | None:
    match node:
        case Loop(by=1):
            return chosen.rng.choice(OF_LOOPS)(node, chosen)
        case Assign():
            return chosen.rng.choice(OF_ASSIGNS)(node, chosen)
        case If():
            return chosen.rng.choice(OF_IFS)(node, chosen)
    return None
