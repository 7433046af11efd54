"""Statements that no operation can tell apart, put together."""

from __future__ import annotations

import islpy as isl

from loopwright.c.syntax import without_parentheses
from loopwright.check.original.solving import linear_row
from loopwright.check.original.specification import FixedAccess, Specification, Stated, unnamed
from loopwright.check.original.structure import match_assignments
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import union


@dataclass(frozen=True)
class Group:
    """Statements of one text and one set of access functions, on disjoint domains."""

    number: int
    members: tuple[Stated, ...]
    domain: isl.Set
    """The union of the domains, unnamed."""

    @property
    def first(self) -> Stated:
        return self.members[0]

    @property
    def depth(self) -> int:
        return self.first.depth


def group_of(groups: tuple[Group, ...], statement: Stated) -> Group:
    return next(group for group in groups if statement in group.members)


def alone(spec: Specification) -> tuple[Group, ...]:
    """Every statement a group of its own."""
    return tuple(Group(s.number, (s,), unnamed(s.domain)) for s in spec.statements)


def groups_of(spec: Specification) -> tuple[Group, ...]:
    members: list[list[Stated]] = []
    for statement in spec.statements:
        for group in members:
            if _same_text(spec, group[0], statement) and _can_join(group, statement):
                group.append(statement)
                break
        else:
            members.append([statement])
    return tuple(
        Group(number, tuple(group), union(unnamed(one.domain) for one in group).coalesce())
        for number, group in enumerate(members)
    )


def _same_text(spec: Specification, one: Stated, other: Stated) -> bool:
    """Whether the same sites are candidates for both, iterators standing at the same places."""
    if one.depth != other.depth:
        return False
    holes = match_assignments(spec.side, one.assignment, one.symbols, spec.side, other.assignment)
    if holes is None:
        return False
    pairs = [(name, without_parentheses(node).text) for name, node in holes]
    return all(
        text in other.symbols and one.symbols.index(name) == other.symbols.index(text) for name, text in pairs
    )


def _can_join(group: list[Stated], statement: Stated) -> bool:
    """Equal affine access functions, and no iteration in common."""
    first = group[0]
    touched = zip((first.write, *first.reads), (statement.write, *statement.reads), strict=True)
    return all(_same_function(one, other, first.depth) for one, other in touched) and all(
        unnamed(member.domain).is_disjoint(unnamed(statement.domain)) for member in group
    )


def _same_function(one: FixedAccess, other: FixedAccess, depth: int) -> bool:
    if one.array != other.array:
        return False
    pairs = zip(one.subscripts, other.subscripts, strict=True)
    rows = [(linear_row(a, depth), linear_row(b, depth)) for a, b in pairs]
    return all(first is not None and first == second for first, second in rows)
