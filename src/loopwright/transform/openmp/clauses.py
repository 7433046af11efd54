"""The clauses of directives: which there are, and what they say."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.c.openmp import Applied, OpenmpClause, OpenmpDirective, integer
from loopwright.c.syntax import refuse
from loopwright.c.tokens import has_effect
from loopwright.errors import BadInput, Code
from loopwright.source import Span

_SHARED = frozenset(
    (
        *("collapse", "default", "if", "lastprivate", "num_threads", "private", "proc_bind", "reduction"),
        *("schedule", "shared", "simdlen"),
    )
)

CLAUSES: Mapping[str, frozenset[str]] = {
    "tile": frozenset(("sizes",)),
    "stripe": frozenset(("sizes",)),
    "interchange": frozenset(("permutation",)),
    "reverse": frozenset(),
    "unroll": frozenset(("full", "partial")),
    "split": frozenset(("counts",)),
    "fuse": frozenset(("looprange",)),
    "nothing": frozenset(),
    "parallel for simd": _SHARED,
    "parallel for": _SHARED,
    "for simd": _SHARED,
    "for": _SHARED,
    "simd": _SHARED,
}
"""The clauses of each directive that are understood, besides `apply`."""

_EVALUATED = ("if", "num_threads", "schedule", "proc_bind")


def check_clauses(directive: OpenmpDirective) -> None:
    known = CLAUSES[directive.name]
    seen: set[str] = set()
    for clause in directive.clauses:
        if clause.name not in known:
            names = ", ".join(sorted(known)) or "none"
            message = f"the clause '{clause.name}' of '{directive.name}' is not understood"
            raise refused(clause.place, message, f"its clauses here are: {names}")
        if clause.name in seen:
            raise refused(clause.place, f"the clause '{clause.name}' is there twice")
        if clause.name == "default" and [one.text for one in clause.arguments] not in (["shared"], ["none"]):
            raise refused(clause.place, "'default' must be shared or none here")
        if clause.name in _EVALUATED and any(has_effect(one.text) for one in clause.arguments):
            raise refused(clause.place, f"an expression of '{clause.name}' must not change or call anything")
        seen.add(clause.name)


def refused(place: Span, message: str, hint: str = "see docs/openmp.md for what is read") -> BadInput:
    return refuse(place, message, hint, Code.DIRECTIVE)


def sizes_of(directive: OpenmpDirective) -> tuple[int, ...]:
    return tuple(map(integer, needed(directive, "sizes").arguments))


def needed(directive: OpenmpDirective, name: str) -> OpenmpClause:
    clause = directive.clause(name)
    if clause is None or not clause.arguments:
        raise refused(directive.place, f"'{directive.name}' needs the clause '{name}'")
    return clause


def applied_loops(
    directive: OpenmpDirective, clause: Applied, kinds: Mapping[str, range]
) -> list[tuple[int, OpenmpDirective]]:
    """The directives of one `apply` with the numbers of their loops."""
    if (clause.kind is None and len(kinds) != 1) or (clause.kind is not None and clause.kind not in kinds):
        names = ", ".join(kinds) or "no loops"
        raise refused(clause.place, f"'apply' must name what '{directive.name}' generates: {names}")
    loops = kinds[clause.kind] if clause.kind is not None else next(iter(kinds.values()))
    numbers = clause.numbers or tuple(range(1, len(loops) + 1))
    if any(number > len(loops) for number in numbers):
        raise refused(clause.place, f"'apply' names loop {max(numbers)}; {len(loops)} are generated")
    if len(numbers) != len(clause.directives):
        message = f"'apply' has {len(clause.directives)} directives for {len(numbers)} loops"
        raise refused(clause.place, message, "write one for each; 'nothing' leaves a loop as it is")
    return [(loops[number - 1], one) for number, one in zip(numbers, clause.directives, strict=True)]
