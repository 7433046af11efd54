"""Variables that the original leaves alone and the file looks at elsewhere: the segment has to keep them.

Which variables a segment may change is not always seen in its text: a pointer that was set before, a function
of the library, a field.  So what they hold is compared before the segment and after it.
"""

from __future__ import annotations

import re

from loopwright.c.declarations import Variable
from loopwright.check.original.specification import Specification
from loopwright.check.program.outside import is_looked_at, own_names
from loopwright.check.program.reachable import ReachedCode
from loopwright.lazy_dataclass import dataclass

_NOT_HERE = re.compile(r"\b(?:extern|register|typedef|_Atomic|__thread|_Thread_local)\b")
"""What has no size that is known, no address, or another value in each thread."""


@dataclass(frozen=True)
class Keeping:
    """`header` goes before the program, `begin` and `end`, both expressions, around its segment."""

    header: str = ""
    begin: str = ""
    end: str = ""


def kept_names(spec: Specification, known: ReachedCode) -> tuple[str, ...]:
    """The variables known where the segment starts that it has to leave as they were."""
    own = own_names(spec.program)
    names = dict.fromkeys(one.name for one in known.declarations.variables)
    found = [one for name in names if (one := known.at_segment(name)) is not None]
    return tuple(one.name for one in found if one.name not in own and _is_kept(spec, known, one))


def _is_kept(spec: Specification, known: ReachedCode, variable: Variable) -> bool:
    program, place = spec.program, known.segment.place
    there = program.file.declarations.visible(variable.name, program.region)
    if there is None or variable.value is not None or not variable.scope.contains(place):
        return False
    if variable.place.end > place.start or "" in variable.extents:
        return False
    text = variable.place.source.text
    start = 1 + max(text.rfind(mark, 0, variable.place.start) for mark in ";{}(")
    if _NOT_HERE.search(text, start, variable.place.start):
        return False
    return is_looked_at(known, variable.name)


def keeping(spec: Specification, known: ReachedCode) -> Keeping:
    """What compares the variables that have to be kept."""
    names = kept_names(spec, known)
    if not names:
        return Keeping()
    header = f'#define LW_KEPT {len(names)}\n#include "kept.h"\n'
    calls = [f"({k}, &{name}, sizeof {name}), " for k, name in enumerate(names)]
    begin, end = ("".join(f"{name}{one}" for one in calls) for name in ("lw_hold", "lw_holds"))
    return Keeping(header, begin, end)


def not_kept(spec: Specification, known: ReachedCode, changed: frozenset[int]) -> list[str]:
    """What is said of variables that a run has changed."""
    names = kept_names(spec, known) if changed else ()
    listed = ", ".join(names[k] for k in sorted(changed))
    return [f"not what it was before the segment, and looked at elsewhere: {listed}"] if changed else []
