"""Bugs put into the checked segment of a program [Bao2016, tables 7 and 10]."""

from __future__ import annotations

import random
from dataclasses import dataclass

from loopwright.c.file import c_file
from loopwright.c.syntax import Node, field, named_children, walk
from loopwright.check.program.segment import Segment
from loopwright.source import Source, Span


@dataclass(frozen=True)
class Mutant:
    kind: str
    text: str


def mutants(segment: Segment, seed: int, count: int, places: tuple[Span, ...] | None = None) -> list[Mutant]:
    """Up to `count` different mutants in `places`, evenly of all kinds that apply."""
    choose = random.Random(seed)
    where = Place(segment.source, places or (segment.place,))
    kinds = {kind: make(where) for kind, make in KINDS.items()}
    pools = {kind: choose.sample(found, len(found)) for kind, found in kinds.items()}
    result: list[Mutant] = []
    seen = {segment.source.text}
    while len(result) < count and any(pools.values()):
        for kind, pool in pools.items():
            if pool and len(result) < count:
                text = pool.pop()
                if text not in seen:
                    seen.add(text)
                    result.append(Mutant(kind, text))
    return result


@dataclass(frozen=True)
class Place:
    """Where bugs may be put."""

    source: Source
    parts: tuple[Span, ...]

    def has(self, node: Node) -> bool:
        return any(part.contains(node.span) for part in self.parts)


def _nodes(where: Place) -> list[Node]:
    root = c_file(where.source).possible
    return [node for node in walk(root) if where.has(node)]


def _with(source: Source, *changes: tuple[int, int, str]) -> str:
    text = source.text
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def loop_bounds(where: Place) -> list[str]:
    """Some bound is one off: decreased as in [Bao2016, table 7], or increased."""
    source = where.source
    found = []
    for node in _nodes(where):
        if node.type != "for_statement":
            continue
        condition = node.child_by_field_name("condition")
        if condition is not None and condition.type == "binary_expression":
            right = field(condition, "right")
            old = source.text[right.start : right.end]
            at = (right.start, right.end)
            found += [_with(source, (*at, f"({old}) {by}")) for by in ("- 1", "+ 1")]
        start = node.child_by_field_name("initializer")
        value = None
        if start is not None:
            inner = next((part for part in walk(start) if part.type == "init_declarator"), start)
            value = inner.child_by_field_name("value") or inner.child_by_field_name("right")
        if value is not None:
            old = source.text[value.start : value.end]
            found.append(_with(source, (value.start, value.end, f"({old}) + 1")))
    return found


def subscripts(where: Place) -> list[str]:
    """Some subscript is halved or one off."""
    source = where.source
    found = []
    for node in _nodes(where):
        if node.type == "subscript_expression":
            index = field(node, "index")
            old = source.text[index.start : index.end]
            for new in (f"({old}) / 2", f"({old}) - 1", f"({old}) + 1"):
                found.append(_with(source, (index.start, index.end, new)))
    return found


def permutations(where: Place) -> list[str]:
    """Two loops, one the only statement of the other, change places."""
    source = where.source
    found = []
    for node in _nodes(where):
        body = node.child_by_field_name("body") if node.type == "for_statement" else None
        while body is not None and body.type == "compound_statement" and len(named_children(body)) == 1:
            body = named_children(body)[0]
        if body is None or body.type != "for_statement":
            continue
        heads = [(n.start, field(n, "body").start) for n in (node, body)]
        texts = [source.text[start:end] for start, end in heads]
        found.append(_with(source, (*heads[0], texts[1]), (*heads[1], texts[0])))
    return found


def code_motion(where: Place) -> list[str]:
    """Neighbouring statements change places, or one is run twice, or not at all."""
    source = where.source
    found = []
    kinds = ("for_statement", "expression_statement", "if_statement", "labeled_statement")
    for node in _nodes(where):
        if node.type not in kinds:
            continue
        old = source.text[node.start : node.end]
        siblings = node.parent.named_children if node.parent is not None else []
        other = next((one for one in siblings if one.start > node.start), None)
        if other is not None and where.has(other) and other.type in kinds:
            second = source.text[other.start : other.end]
            places = ((node.start, node.end), (other.start, other.end))
            found.append(_with(source, (*places[0], second), (*places[1], old)))
        if node.type == "expression_statement":
            found.append(_with(source, (node.start, node.end, ";")))
            found.append(_with(source, (node.start, node.end, f"{{ {old} {old} }}")))
    return found


KINDS = {
    "loop bound": loop_bounds,
    "array access": subscripts,
    "permutation": permutations,
    "code motion": code_motion,
}
