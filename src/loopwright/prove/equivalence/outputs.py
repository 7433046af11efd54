"""What counts after the region: the storage in which two programs have to agree.

A variable of the region's own is gone behind it.  A local variable of the function that nothing
behind the region mentions cannot be looked at.  A variable the other file does not have is taken
for a temporary, which is said.  Everything else counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.model.program import Program
from loopwright.read.c.automatic import is_dead_behind


@dataclass(frozen=True)
class Outputs:
    """The arrays that count, and what is believed of those that do not."""

    arrays: tuple[str, ...]
    trusted: tuple[str, ...]


def outputs(old: Program, new: Program) -> Outputs:
    """The storage both files know and that may be looked at after the region."""
    own = [(program, {one.name: one for one in program.arrays if not one.local}) for program in (old, new)]
    arrays: list[str] = []
    trusted: list[str] = []
    for name in sorted({name for _, known in own for name in known}):
        users = [(program, known[name]) for program, known in own if name in known]
        dead = [program for program, array in users if is_dead_behind(program, array)]
        others = [program for program, known in own if name not in known]
        missing = [program for program in others if not _is_declared(program, name)]
        if len(dead) == len(users):
            continue
        if missing or dead:
            where = (missing or dead)[0].source.path
            how = "does not have" if missing else "keeps to itself"
            trusted.append(f"'{name}', which {where} {how}, is not looked at after the region")
        else:
            arrays.append(name)
    return Outputs(tuple(arrays), tuple(trusted))


def _is_declared(program: Program, name: str) -> bool:
    declarations = program.file.declarations
    return any(declarations.visible(one, program.region) for one in (name, name.split("__")[0]))
