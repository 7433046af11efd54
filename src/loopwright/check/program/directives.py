"""Refuses pragmas and attributes of the program under test whose effects the checks would miss.

A check follows arrays by their names and addresses, through operations in source order.  A clause
that gives each thread a copy of an array, or copies it to a device, splits one name into several variables;
an assertion that iterations are independent, or options for one function, let the compiler build a program
other than the instrumented one.  Only what is listed here is known to do neither.
"""

from __future__ import annotations

import re

from loopwright.c.tokens import names_in, without_comments
from loopwright.check.original.specification import Specification
from loopwright.check.program.reachable import ReachedCode
from loopwright.errors import Code, GaveUp
from loopwright.source import Source, Span

_DIRECTIVE = re.compile(r"#\s*pragma\s+omp\b((?:\\\r?\n|[^\n])*)")
_PRAGMA = re.compile(r"(?m)^[ \t]*#[ \t]*pragma\b((?:\\\r?\n|[^\n])*)")
_HIDDEN = re.compile(r"\b_Pragma\b|(?:%:|\?\?=)\s*pragma\b")
_WORD = re.compile(r"([A-Za-z_]\w*)\s*(\((?:[^()]|\([^()]*\))*\))?")
_SHARED = frozenset(
    [
        "parallel", "for", "sections", "section", "single", "master", "masked", "critical", "barrier",
        "atomic", "ordered", "taskwait", "taskgroup", "taskyield", "flush", "shared", "default", "schedule",
        "num_threads", "if", "nowait", "collapse", "proc_bind", "untied", "mergeable", "final", "depend",
        "grainsize", "num_tasks", "priority", "hint", "read", "write", "update", "capture", "seq_cst",
        "release", "acquire", "acq_rel", "relaxed",
    ]
)
"""Directives and clauses that do not change which variable a name denotes."""
_COPIES = frozenset(
    [
        "private", "firstprivate", "lastprivate", "reduction", "linear", "copyprivate", "threadprivate",
        "copyin",
    ]
)
"""Clauses that privatise the names in them."""
_LANES = frozenset(["simd", "safelen", "simdlen", "aligned", "nontemporal"])
"""Directives and clauses that run iterations concurrently, in an order that no run determines."""
_HARMLESS = re.compile(
    r"\s*(?:scop|endscop|loopwright|polycheck|omp|once|message|region|endregion|ivdep|vector|(?:no)?unroll"
    r"|(?:push|pop)_macro|(?:GCC|clang)\s+(?:diagnostic|unroll|warning|error|system_header|poison)"
    r"|clang\s+loop\s+unroll(?:_count)?)\b"
    r"|\s*GCC\s+target\s*\(\s*\"prefer-vector-width=\d+\"\s*\)\s*\Z"
)
"""Pragmas that do not affect the operations, or that the compiler ignores."""
_ATTRIBUTE = re.compile(r"__attribute(?:__)?\s*\(\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)\)")
_KEPT = re.compile(
    r"(?:__)?(?:aligned|alloc_size|always_inline|artificial|assume_aligned|cold|const|deprecated"
    r"|fallthrough|flatten|format|gnu_inline|hot|leaf|malloc|may_alias|noclone|noinline|noipa|nonnull"
    r"|noreturn|nothrow|packed|pure|returns_nonnull|section|sentinel|target|unused|used|vector_size"
    r"|visibility|warn_unused_result)(?:__)?"
)
"""Attributes that do not change the meaning of operations; declarations are compared elsewhere."""
_TASKS = ("task", "taskloop")
"""Directives that copy local variables implicitly."""


def uses_openmp(source: Source) -> bool:
    """Whether a program has directives; raises GaveUp if its lines may hide some."""
    plain = without_comments(source.text, literals=True)
    hidden = _HIDDEN.search(plain)
    if hidden is not None:
        message = f"'{hidden.group()}' is not followed"
        place = source.at(hidden.start(), len(hidden.group()))
        raise GaveUp(Code.UNDECIDED, message, span=place, hint="write '#pragma' lines")
    return _DIRECTIVE.search(plain) is not None


def refuse_directives(spec: Specification, known: ReachedCode) -> None:
    """Raise for a directive of the file whose effect a check may miss, such as copying an array."""
    plain = without_comments(known.source.text, literals=True)
    _refuse_promises(known.source, plain)
    for directive in _DIRECTIVE.finditer(plain):
        for name, arguments in _WORD.findall(directive[1].replace("\\", " ")):
            copied = _copied(spec, known, name, arguments)
            if copied is not None:
                place = known.source.at(directive.start(), directive.end() - directive.start())
                hint = "remove the clause, or check the program without OpenMP"
                raise GaveUp(Code.UNDECIDED, f"'{name}' {copied}", span=place, hint=hint)
        if directive[1].split()[:1] == ["atomic"] and _is_in_program(known, directive.start()):
            place = known.source.at(directive.start(), directive.end() - directive.start())
            hint = "write 'critical' in its place, or check the program without OpenMP"
            message = "the operation of an 'atomic' cannot be recorded in one piece with it"
            raise GaveUp(Code.UNDECIDED, message, span=place, hint=hint)


def _is_in_program(known: ReachedCode, offset: int) -> bool:
    """Whether an offset is in the function around the program under test."""
    return known.around is not None and known.around.node.span.contains(known.source.at(offset, 0))


def _refuse_promises(source: Source, plain: str) -> None:
    """Raise for what `unkept_promise` finds."""
    place = unkept_promise(source, plain)
    if place is not None:
        shown = " ".join(plain[place.start : place.end].split())
        message = f"with '{shown}' the compiler may build another program than the one that is checked"
        raise GaveUp(Code.UNDECIDED, message, span=place, hint="remove it, or use 'loopwright prove'")


def unkept_promise(source: Source, plain: str | None = None) -> Span | None:
    """Return a pragma or attribute that is not known to preserve the operations and their order.

    `plain` is the text without its comments.
    """
    plain = without_comments(source.text, literals=True) if plain is None else plain
    unknown = [one for one in _PRAGMA.finditer(plain) if _HARMLESS.match(one[1]) is None]
    unknown += [
        one
        for one in _ATTRIBUTE.finditer(plain)
        if not all(_KEPT.fullmatch(name) for name, _ in _WORD.findall(one[1]))
    ]
    first = next(iter(unknown), None)
    return None if first is None else source.at(first.start(), first.end() - first.start())


def _copied(spec: Specification, known: ReachedCode, name: str, arguments: str) -> str | None:
    """Return why a clause is not known to leave the arrays in place; None if it is."""
    roots = {array.partition("__")[0] for array in spec.arrays}
    if name in _SHARED:
        return None
    if name in _LANES:
        return "lets iterations run at the same time, which a sequential run does not show"
    if name in _COPIES:
        inside = [word for word in names_in(arguments) if word in roots]
        return f"copies '{inside[0]}', and the copy cannot be followed" if inside else None
    if name in _TASKS:
        around = known.around
        variables = [known.at_segment(root) for root in sorted(roots)]
        local = [one for one in variables if one and around and around.node.span.contains(one.place)]
        return f"may copy '{local[0].name}', and the copy cannot be followed" if local else None
    return "is not known to leave the arrays of the original as they are"
