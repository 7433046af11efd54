"""OpenMP directives of the program under test: which of them leave the arrays of the original as they are.

A check follows arrays by their names and addresses.  A clause that gives each thread a copy of one, or copies
it to a device, makes of one name several variables.  Only what is listed here is known not to.
"""

from __future__ import annotations

import re

from loopwright.c.tokens import without_comments
from loopwright.check.original.specification import Specification
from loopwright.check.program.reachable import ReachedCode
from loopwright.errors import Code, GaveUp
from loopwright.source import Source

_DIRECTIVE = re.compile(r"#\s*pragma\s+omp\b((?:\\\r?\n|[^\n])*)")
_HIDDEN = re.compile(r"\b_Pragma\b|(?:%:|\?\?=)\s*pragma\b")
_WORD = re.compile(r"([A-Za-z_]\w*)\s*(\((?:[^()]|\([^()]*\))*\))?")
_SHARED = frozenset(
    [
        "parallel",
        "for",
        "simd",
        "sections",
        "section",
        "single",
        "master",
        "masked",
        "critical",
        "barrier",
        "atomic",
        "ordered",
        "taskwait",
        "taskgroup",
        "taskyield",
        "flush",
        "shared",
        "default",
        "schedule",
        "num_threads",
        "if",
        "nowait",
        "collapse",
        "proc_bind",
        "safelen",
        "simdlen",
        "aligned",
        "untied",
        "mergeable",
        "grainsize",
        "num_tasks",
        "priority",
        "hint",
        "read",
        "write",
        "update",
        "capture",
        "seq_cst",
        "release",
        "acquire",
        "acq_rel",
        "relaxed",
    ]
)
"""Directives and clauses after which a name means the variable it meant before."""
_COPIES = frozenset(
    [
        "private",
        "firstprivate",
        "lastprivate",
        "reduction",
        "linear",
        "copyprivate",
        "threadprivate",
        "copyin",
    ]
)
"""Clauses after which each thread has its own variable of the names in them."""
_TASKS = ("task", "taskloop")
"""Directives that copy local variables by themselves."""


def uses_openmp(source: Source) -> bool:
    """Whether a program has directives; GaveUp where they may be hidden from a reader of its lines."""
    plain = without_comments(source.text, literals=True)
    hidden = _HIDDEN.search(plain)
    if hidden is not None:
        message = f"'{hidden.group()}' is not followed"
        place = source.at(hidden.start(), len(hidden.group()))
        raise GaveUp(Code.UNDECIDED, message, span=place, hint="write '#pragma' lines")
    return _DIRECTIVE.search(plain) is not None


def refuse_copies(spec: Specification, known: ReachedCode) -> None:
    """Raise for a directive of the file that may make copies of an array of the original."""
    plain = without_comments(known.source.text, literals=True)
    for directive in _DIRECTIVE.finditer(plain):
        for name, arguments in _WORD.findall(directive[1].replace("\\", " ")):
            copied = _copied(spec, known, name, arguments)
            if copied is not None:
                place = known.source.at(directive.start(), directive.end() - directive.start())
                hint = "leave the clause out, or check the program without OpenMP"
                raise GaveUp(Code.UNDECIDED, f"'{name}' {copied}", span=place, hint=hint)


def _copied(spec: Specification, known: ReachedCode, name: str, arguments: str) -> str | None:
    """What is not known to leave the arrays as they are; None where it is."""
    roots = {array.partition("__")[0] for array in spec.arrays}
    if name in _SHARED:
        return None
    if name in _COPIES:
        inside = [word for word in re.findall(r"[A-Za-z_]\w*", arguments) if word in roots]
        return f"copies '{inside[0]}', which is then not followed" if inside else None
    if name in _TASKS:
        around = known.around
        variables = [known.at_segment(root) for root in sorted(roots)]
        local = [one for one in variables if one and around and around.node.span.contains(one.place)]
        return f"may copy '{local[0].name}', which is then not followed" if local else None
    return "is not known to leave the arrays of the original as they are"
