"""The assumption that index arithmetic stays within its types, tried with what a new text says.

A statement whose text is the original's, in iterators of no smaller type, overflows where the original does,
and there the original means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.tokens import packed
from loopwright.c.types import Integer, holds, is_signed, promoted
from loopwright.errors import BadInput, Code
from loopwright.loops.expressions import Var
from loopwright.loops.nodes import Call
from loopwright.model.parameters import Parameter, ShownCall
from loopwright.model.program import Assumption, AssumptionKind, Program, Standing
from loopwright.presburger.named import parameter_ranges
from loopwright.prove.text.overflow import Interval, NotShown, refuse_overflow
from loopwright.prove.text.shown_overflow import shown_overflow
from loopwright.prove.text.text_model import has_unsigned


def within_types(
    old: Program, new: Program, established: isl.Set, unchanged: frozenset[str] = frozenset()
) -> tuple[Assumption, ...]:
    """The assumptions of `old`, those about index arithmetic tried: shown always, or for `established`.

    A signed overflow of the old text is not a behaviour that the new text has to have; an unsigned one is.
    What the file itself shows to overflow is refused.
    """
    _refuse_shown(old)
    ranges = [parameter_ranges(known) for known in (old.facts, established)]
    found: list[Assumption] = []
    for one in old.assumptions:
        if one.kind is AssumptionKind.ARITHMETIC and one.holds_for is None:
            is_new = one.place is None
            shown = [
                (not is_new or _stays(new, known, unchanged))
                and ((is_new and is_signed_throughout(old)) or _stays(old, known, frozenset()))
                for known in ranges
            ]
            standing = Standing.PROVED if shown[0] else Standing.GUARDED if shown[1] else one.standing
            one = replace(one, standing=standing)
        found.append(one)
    return tuple(found)


def _refuse_shown(program: Program) -> None:
    """Raise where an index expression leaves its type for numbers that the file gives parameters."""
    ranges = parameter_ranges(program.facts)
    for case in program.cases or (ShownCall(None, ()),):
        points = {name: (value, value) for name, value in case.numbers}
        if _stays(program, {**ranges, **points}, frozenset()):
            continue  # which one look at each loop tells
        found = shown_overflow(program, dict(case.numbers))
        if found is not None:
            told = f", for {case}" if case.numbers else ""
            message = f"the file refutes that bounds and subscripts do not overflow: {found}{told}"
            hint = "compute in a wider type, or with other numbers"
            raise BadInput(Code.REGION_TEXT, message, span=program.region, hint=hint)


def _stays(program: Program, ranges: Mapping[str, Interval], unchanged: frozenset[str]) -> bool:
    try:
        refuse_overflow(program, ranges, unchanged)
    except NotShown:
        return False
    return True


def unchanged_statements(old: Program, new: Program, claims: Sequence[Call]) -> frozenset[str]:
    """The texts of statements of `new` that are the original's, at the same values of the same iterators,
    none of which has become narrower.

    `claims` say which instance of `old` each statement of `new` is, and are proved.
    """
    found: set[str] = set()
    for one, claim in zip(new.statements, claims, strict=True):
        before = old.statement(claim.name)
        types = dict(zip(one.iterators, one.iterator_types, strict=False))
        kinds = zip(before.iterators, before.iterator_types, strict=False)
        is_same = claim.arguments == tuple(Var(name) for name in before.iterators)
        if is_same and all(name in types and _is_as_wide(types[name], kind, new) for name, kind in kinds):
            texts = {packed(body.place.text) for body in (before.body, one.body)}
            found |= texts if len(texts) == 1 else set()
    return frozenset(found)


def is_signed_throughout(program: Program) -> bool:
    """Whether all iterators and parameters are signed, and nothing in the text says `unsigned`."""
    kinds = program.file.kinds(program.region)
    types = {kind for one in program.statements for kind in one.iterator_types}
    iterators = all(is_signed(promoted(kinds.written_type(kind, certain=True))) for kind in types)
    free = [one for one in program.parameters if not _is_fixed(one)]
    sizes = all(one.values is not None and one.values[0] < 0 for one in free)
    return iterators and sizes and not has_unsigned(program)


def _is_fixed(one: Parameter) -> bool:
    return one.values is not None and one.values[0] == one.values[1]


def _is_as_wide(new: str, old: str, program: Program) -> bool:
    kinds = program.file.kinds(program.region)
    wide, narrow = (kinds.written_type(kind, certain=True) for kind in (new, old))
    return wide == narrow or (holds(wide, narrow) and isinstance(wide, Integer) and wide.signed)
