"""Statements that were divided: the original, with the names of the parts for their instances.

Where storage changes for some instances of a statement S, these have a name S' of their own.  The checker is
given the loops of the original with a choice in place of each call of S,

    if (i is an instance of S') S'(i); else S(i);

and checks that joining the names again makes of it the loops as they are written (`proofs/Divided.v`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, If, Node
from loopwright.loops.traverse import substituted, with_children
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.sets import IN
from loopwright.prove.obligations.formulas import formula_of
from loopwright.prove.obligations.sides import loops_as_written
from loopwright.transform.storage import StorageChange


def wholes_of(changes: Sequence[StorageChange]) -> dict[str, str]:
    """Of each statement that is a part of another, that of the original."""
    found: dict[str, str] = {}
    for change in changes:
        found |= {part: found.get(whole, whole) for part, whole in change.division.items()}
    return {part: whole for part, whole in found.items() if part != whole}


@dataclass(frozen=True, eq=False)
class DividedOriginal:
    """The program before the first change, with parts, whose statements they are, and its loops."""

    program: Program
    wholes: dict[str, str]
    """Of each part, the name of its statement."""
    text: Node
    """The loops as they are written."""
    choosing: Node
    """These, with choices between the parts."""


def divided(changes: Sequence[StorageChange]) -> DividedOriginal:
    """The statements are in the order of the last program."""
    original, after = changes[0].original, changes[-1].after
    wholes = wholes_of(changes)
    names = {one.name: one for one in original.statements}
    parts: dict[str, list[Statement]] = {name: [] for name in names}
    found: list[Statement] = []
    for one in after.statements:
        whole = wholes.get(one.name, one.name)
        if whole in names:
            parts[whole].append(one)
            found.append(_part(names[whole], one) if wholes else names[whole])
    text = loops_as_written(original)
    program = replace(original, statements=tuple(found))
    return DividedOriginal(program, wholes, text, _choosing(text, parts, original))


def _part(whole: Statement, part: Statement) -> Statement:
    """The instances of `whole` that are the part's, on the cells of the original."""
    name = part.domain.get_tuple_id()
    domain = whole.domain.set_tuple_id(name).intersect(part.domain)

    def of_part(access: Access) -> Access:
        return replace(access, relation=access.relation.set_tuple_id(IN, name).intersect_domain(domain))

    schedule = whole.schedule.set_tuple_id(IN, name).intersect_domain(domain)
    accesses = tuple(map(of_part, whole.accesses))
    return replace(whole, name=part.name, domain=domain, schedule=schedule, accesses=accesses)


def _choosing(node: Node, parts: Mapping[str, Sequence[Statement]], original: Program) -> Node:
    """The loops with a choice between the parts in place of each call."""
    if not isinstance(node, Call):
        return with_children(node, lambda inside: _choosing(inside, parts, original))
    first, *others = parts[node.name]
    values = dict(zip(first.iterators, node.arguments, strict=True))
    known = original.statement(node.name).domain.intersect_params(original.context)
    found: Node = replace(node, name=first.name)
    for part in others:
        inside = part.domain.set_tuple_id(known.get_tuple_id()).gist(known)
        condition = substituted(formula_of(inside, part.iterators), values)
        found = If(condition, replace(node, name=part.name), found)
    return found
