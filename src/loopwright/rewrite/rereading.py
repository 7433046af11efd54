"""The new file read again, as a file of unknown origin.

Only regions with new text are read: the others, and all that is outside of the regions, have to be
what they were, byte for byte, but for the definitions of the helper macros.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from loopwright.c.allocation import HEADER, Allocation, with_local_arrays
from loopwright.c.file import c_file
from loopwright.c.guard import ADDRESS_HEADER, GuardedRegion
from loopwright.c.regions import without_hint
from loopwright.c.tokens import spelled
from loopwright.emit.helpers import DEFINITIONS
from loopwright.errors import BadInput, Code, InternalError
from loopwright.model.program import MemorySpace, Program
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.guards import tokens_without_labels, unguarded
from loopwright.prove.text.outline import outlined, unfolded
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import parse_c
from loopwright.source import Source, Span


class Unlike(Exception):
    """The file is not the original with new text in these regions; the message says why."""


def read_again(
    new: Source,
    originals: Sequence[Program],
    written: Sequence[Program],
    guarded: Collection[int] = (),
) -> tuple[tuple[Program, ...], dict[int, GuardedRegion]]:
    """The statements of the regions that were rewritten; what their loops mean is for the proof.

    `written` are the programs that the file had, `originals` the same with the storage of the new text.
    Where a region allocates storage, what it does without is the text that the file had.  Regions under a
    guard, those with the numbers `guarded` among `written`, come with it; what they do otherwise is the text
    of the file.
    """
    try:
        plain, guards = unguarded(new, written, guarded)
        return read_regions(plain, originals, written), guards
    except Unlike as failure:
        raise InternalError(Code.OWN_MISTAKE, f"the new text {failure}") from failure


def read_regions(
    new: Source, originals: Sequence[Program], written: Sequence[Program] | None = None
) -> tuple[Program, ...]:
    """The same of a file of any origin; Unlike where it differs in other ways."""
    written = originals if written is None else written
    new, allocations = with_local_arrays(new, allocated=True)
    before = [region.place for region in written[0].file.regions]
    after = [region.place for region in c_file(new).regions]
    rewritten = [before.index(program.region) for program in written]
    if len(before) != len(after) or not _same_outside(written, new, [after[k] for k in rewritten]):
        raise Unlike("differs outside its regions")
    for number, program in zip(rewritten, written, strict=True):
        other = allocations[number].other.text if number in allocations else None
        if other is not None and spelled(other) != tokens_without_labels(program):
            raise Unlike("does something else where there is no memory")
    programs = dict(zip(rewritten, originals, strict=True))
    try:
        outline, whole = outlined(new, programs)
        found = parse_c(outline, ReadOptions(tuple(sorted(_called(originals)))), whole)
    except BadInput as failure:
        line = failure.span.excerpt.strip() if failure.span else ""
        raise Unlike(f"cannot be read back: {failure.message}: {line}") from failure
    except Unreadable as failure:
        raise Unlike(f"cannot be read back: {failure}") from failure
    return tuple(
        _with_spaces(unfolded(found[k], new, program), allocations.get(k)) for k, program in programs.items()
    )


def _with_spaces(program: Program, allocation: Allocation | None) -> Program:
    """With what is allocated marked as such: threads cannot have copies of it."""
    names = [] if allocation is None else [one.name for one in allocation.arrays]
    arrays = (replace(one, space=MemorySpace.HEAP) if one.name in names else one for one in program.arrays)
    return replace(program, arrays=tuple(arrays))


def _called(programs: Sequence[Program]) -> set[str]:
    """Names that may be those of functions.

    Whether they are pure was asked when the original was read, and the calls of the new text are
    proved to be those of the original, operation by operation.
    """
    return {name for program in programs for name in re.findall(r"([A-Za-z_]\w*)\s*\(", program.region.text)}


def _same_outside(originals: Sequence[Program], new: Source, places: Sequence[Span]) -> bool:
    old = _lines_outside(originals[0].source, [program.region for program in originals])
    return old == _lines_outside(new, places)


def _lines_outside(source: Source, places: Sequence[Span]) -> list[str]:
    text, position = "", 0
    for place in places:
        text += source.text[position : place.start]
        position = place.end
    lines = without_hint(text + source.text[position:]).splitlines(keepends=True)
    return [line for line in lines if line.strip() not in (*DEFINITIONS.values(), HEADER, ADDRESS_HEADER)]
