"""A new file whose loops stand under guards: what is compared is what they do where the guards hold.

Where a guard does not hold, the loops of the old region run, token by token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.prove.text.guards import Established, NotAGuard, established, shown_by, unguarded
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_source
from loopwright.source import Source


@dataclass(frozen=True)
class GuardedComparison:
    """The old programs under the guards of the new file, and the loops of these alone.

    `in_rows`: the old file was read with arrays in rows that are only read, which the guards are about.
    """

    old: tuple[Program, ...]
    new: Source
    guards: Mapping[int, Established]
    in_rows: bool = False

    @property
    def left(self) -> int:
        """How much is left to believe."""
        return sum(len(program.trusted) for program in self.old)


def under_guards(
    before: Source, new: Source, old: tuple[Program, ...], reading: ReadOptions
) -> GuardedComparison:
    """The programs of `before`, read as leaves less to believe where `new` has guards."""
    if len(c_file(new).regions) != len(old) or not unguarded(new, old)[1]:
        return GuardedComparison(old, new, {})
    found = _under(old, new)
    if found.guards and not found.left:
        return found
    rows = read_source(before, replace(reading, rows=True))
    other = replace(_under(rows, new), in_rows=True)
    return other if other.guards and (not found.guards or other.left < found.left) else found


def _under(old: tuple[Program, ...], new: Source) -> GuardedComparison:
    plain, conditions = unguarded(new, old)
    try:
        guards = {k: established(old[k], guard.conditions) for k, guard in conditions.items()}
    except NotAGuard:
        return GuardedComparison(old, new, {})
    found = tuple(_where(one, guards[k]) if k in guards else one for k, one in enumerate(old))
    return GuardedComparison(found, plain, guards)


def _where(program: Program, guard: Established) -> Program:
    """What a program does where a guard holds."""
    shown = shown_by(program, program.assumptions, guard)
    return replace(program, assumptions=shown, context=program.context.intersect(guard.parameters))
