"""The new file read again, as a file of unknown origin.

Only regions with new text are read: the others, and all that is outside of the regions, have to be
what they were, byte for byte, but for the definitions of the helper macros.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopwright.c.file import c_file
from loopwright.emit.helpers import DEFINITIONS
from loopwright.errors import BadInput, Code, InternalError
from loopwright.model.program import Program
from loopwright.prove.text.c_expressions import Unreadable
from loopwright.prove.text.outline import outlined, unfolded
from loopwright.read.c.reader import parse_c
from loopwright.source import Source, Span


class Unlike(Exception):
    """The file is not the original with new text in these regions; the message says why."""


def read_again(new: Source, originals: Sequence[Program]) -> tuple[Program, ...]:
    """The statements of the regions that were rewritten; what their loops mean is for the proof."""
    try:
        return read_regions(new, originals)
    except Unlike as failure:
        raise InternalError(Code.OWN_MISTAKE, f"the new text {failure}") from failure


def read_regions(new: Source, originals: Sequence[Program]) -> tuple[Program, ...]:
    """The same of a file of any origin; Unlike where it differs in other ways."""
    before = [region.place for region in originals[0].file.regions]
    after = [region.place for region in c_file(new).regions]
    rewritten = [before.index(program.region) for program in originals]
    if len(before) != len(after) or not _same_outside(originals, new, [after[k] for k in rewritten]):
        raise Unlike("differs outside its regions")
    programs = dict(zip(rewritten, originals, strict=True))
    try:
        outline, whole = outlined(new, programs)
        found = parse_c(outline, pure=_called(originals), whole=whole)
    except BadInput as failure:
        line = failure.span.excerpt.strip() if failure.span else ""
        raise Unlike(f"cannot be read back: {failure.message}: {line}") from failure
    except Unreadable as failure:
        raise Unlike(f"cannot be read back: {failure}") from failure
    return tuple(unfolded(found[k], new, program) for k, program in programs.items())


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
    lines = (text + source.text[position:]).splitlines(keepends=True)
    return [line for line in lines if line.strip() not in DEFINITIONS.values()]
