"""What operations leave beside their values, flags and `errno`, and what they depend on: rounding.

Where a file changes or reads one of these, two programs with the same values need not do the same: the laws
of `laws.py` are about numbers that are rounded to the nearest one, and a call that nothing uses may set
`errno`.  Programs that do the same operations in another order leave the same flags.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopwright.c.file import c_file
from loopwright.c.tokens import names_in, without_comments
from loopwright.model.program import Program
from loopwright.prove.equivalence.answer import REASSOCIATION, Equivalence
from loopwright.prove.verdict import REORDERED, ROUNDING
from loopwright.read.c.purity import CHARACTERS, CLASSES, LIBRARY
from loopwright.source import Source

_ROUNDING = frozenset(
    (
        *("fesetround", "fegetround", "fesetenv", "fegetenv", "feholdexcept", "feupdateenv", "feraiseexcept"),
        *("fetestexcept", "feclearexcept", "fegetexceptflag", "fesetexceptflag", "feenableexcept"),
        *("FENV_ACCESS", "FENV_ROUND", "_mm_setcsr", "_mm_getcsr", "__builtin_ia32_ldmxcsr", "_FPU_SETCW"),
        *("_MM_SET_ROUNDING_MODE", "_MM_SET_FLUSH_ZERO_MODE", "_MM_SET_DENORMALS_ZERO_MODE"),
    )
)
_INCLUDED = re.compile(r"(?m)^[ \t]*#[ \t]*include\b[^\n]*")
_QUIET = {"fabs", "floor", "ceil", "round", "trunc", "fmin", "fmax", "copysign", "rint", "nearbyint"}
_SETTING = LIBRARY - CHARACTERS - CLASSES - {name + end for name in _QUIET for end in ("", "f", "l")}
"""Functions of the library that may set `errno`."""


def contract_of(old: Sequence[Program], answers: Sequence[Equivalence]) -> str:
    """What is promised of floating-point numbers, where there are some."""
    if not any(one.rounds for one in old):
        return ""
    return REORDERED if any(REASSOCIATION in one.trusted for one in answers) else ROUNDING


def seen_besides_values(
    texts: Sequence[Source], answers: Sequence[Equivalence], *, rounds: bool
) -> str | None:
    """Why programs with the same values need not do the same; None where nothing is known to see more."""
    visible = [_INCLUDED.sub("", without_comments(one.text, literals=False)) for one in texts]
    names = frozenset(name for text in visible for name in names_in(text))
    used = sorted(_ROUNDING & names)
    if used and rounds and any(one.way == "by values" for one in answers):
        return f"NEW has other operations, and '{used[0]}' is about how numbers are rounded, or their flags"
    if "errno" not in names:
        return None
    regions = [region.place.text for one in texts for region in c_file(one).regions]
    calls = sorted(_SETTING.intersection(name for text in regions for name in names_in(text)))
    return f"'{calls[0]}' may set errno, which is used" if calls else None
