"""Whether a program with statements divided runs what it ran.

A statement S of P has the parts S1, S2, ... in P', each with a text of its own.  P' is P with other names if

    operations   every part has the text of S, and instance i of the part touches what instance i of S does;
    instances    the domains of the parts are disjoint, and together the domain of S;
    order        instance i of a part has the time of instance i of S.
"""

from __future__ import annotations

import islpy as isl

from loopwright.errors import Code, InternalError
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import padded
from loopwright.presburger.sets import OUT
from loopwright.prove.legality.values import StorageVerdict, moves, refuse_other_text
from loopwright.transform.storage import StorageChange


def prove_division(change: StorageChange) -> StorageVerdict:
    """Nothing is wrong, or it is an error of ours: what `division` says is what was made."""
    before, after = change.before, change.after
    known = {one.name for one in before.arrays}
    parts: dict[str, list[Statement]] = {one.name: [] for one in before.statements}
    for one in after.statements:
        parts[change.division.get(one.name, one.name)].append(one)
    if {one.name for one in after.arrays} != known:
        raise InternalError(Code.INTERNAL, "a division declares storage")
    for old in before.statements:
        _refuse_other_instances(old, parts[old.name], before)
        for part in parts[old.name]:
            _refuse_other_part(old, part, before, after)
    return StorageVerdict(len(before.statements) + 2 * len(after.statements), ())


def _instance(old: Statement, part: Statement) -> isl.Map:
    """{ part[i] -> S[i] } where the part has an instance."""
    same = isl.Map.identity(part.domain.get_space().map_from_set())
    return same.set_tuple_id(OUT, old.domain.get_tuple_id()).intersect_domain(part.domain)


def _refuse_other_instances(old: Statement, parts: list[Statement], before: Program) -> None:
    found = isl.Set.empty(old.domain.get_space())
    for part in parts:
        mine = part.domain.set_tuple_id(old.domain.get_tuple_id()).intersect_params(before.context)
        if not mine.is_disjoint(found):
            raise InternalError(Code.INTERNAL, f"two parts of {old.name} have an instance in common")
        found = found.union(mine)
    if not found.is_equal(old.domain.intersect_params(before.context)):
        raise InternalError(Code.INTERNAL, f"the parts of {old.name} are not all of it")


def _refuse_other_part(old: Statement, part: Statement, before: Program, after: Program) -> None:
    instance = _instance(old, part)
    refuse_other_text(old, part, before, after, instance)
    length = max(old.schedule.dim(OUT), part.schedule.dim(OUT))
    times = padded(part.schedule, length).intersect_domain(part.domain)
    same = (
        old.iterators == part.iterators
        and old.iterator_types == part.iterator_types
        and not any(
            moves(mine, theirs, instance) for mine, theirs in zip(old.accesses, part.accesses, strict=True)
        )
        and times.is_equal(instance.apply_range(padded(old.schedule, length)))
    )
    if not same:
        raise InternalError(Code.INTERNAL, f"a part of {old.name} is another statement")
