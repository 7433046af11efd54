"""The clauses of OpenMP's loop directives as written: which directive has which, with arguments of what form.

    parallel for, for, each with or without simd; simd; and GCC's ivdep, which has none

A pragma is read token by token; a clause that is not listed, one of another directive, an argument of another
form, or a name that is a macro (which the compiler also expands in pragmas) is unknown, and then nothing is
proved about the loop.  What the clauses mean is in `prove.text.clauses`.

Clauses that change neither values nor which iterations may run together:

    order(concurrent)    nothing is promised about the order of iterations that need none
    nontemporal(list)    whether the caches keep what is stored
    allocate(list)       in which memory the copies are that another clause makes
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from loopwright.c.tokens import has_effect, names_in
from loopwright.lazy_dataclass import dataclass

_HEAD = re.compile(r"\s*(?:omp\s+((?:parallel\s+)?for(?:\s+simd)?|simd)|(?:GCC\s+)?ivdep)(?![\w])")
_ORDERED = re.compile(r"\s*(?:,\s*)?ordered(?![\w(]|\s*\()")
"""Without a directive `ordered` in the loop it orders nothing; such a directive is not understood."""
_CLAUSE = re.compile(r"\s*(?:,\s*)?([a-z_]+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_NAME = r"[A-Za-z_]\w*"
_SECTION = rf"{_NAME}\s*(?:\[\s*\w*\s*:\s*\w+\s*\]\s*)*"
_LIST = rf"\s*{_NAME}\s*(?:,\s*{_NAME}\s*)*"
_NAMES = re.compile(_LIST)
_VALUE = re.compile(r"[\w\s+\-*/%<>=!&|().]+")
_COUNT = re.compile(r"\s*[1-9]\d*\s*")
_STEP = r"(?:-?\d+|step\s*\(\s*-?\d+\s*\))"
_ALLOCATOR = r"omp_(?:default|large_cap|high_bw|low_lat|thread)_mem_alloc"
_COMPUTED = ("schedule", "num_threads", "if")
"""Clauses with values that say how many threads or lanes run what."""


@dataclass(frozen=True)
class _Form:
    """The accepted arguments of a clause, and the words of its directives: any of those."""

    argument: re.Pattern[str]
    words: tuple[str, ...] = ("for", "simd")


_FORMS: Mapping[str, _Form] = {
    "reduction": _Form(
        re.compile(rf"\s*(?:[-+*&|^]|&&|\|\||min|max)\s*:\s*{_SECTION}(?:,\s*{_SECTION})*", re.ASCII)
    ),
    "private": _Form(_NAMES),
    "firstprivate": _Form(_NAMES, ("for",)),
    "lastprivate": _Form(_NAMES),
    "linear": _Form(
        re.compile(rf"{_LIST}(?::\s*(?:val|(?:val\s*,\s*)?{_STEP}|step\s*\(\s*-?\d+\s*\)\s*,\s*val)\s*)?")
    ),
    "shared": _Form(_NAMES, ("parallel",)),
    "collapse": _Form(re.compile(r"\s*[1-9]\d?\s*")),
    "simdlen": _Form(_COUNT, ("simd",)),
    "safelen": _Form(_COUNT, ("simd",)),
    "nontemporal": _Form(_NAMES, ("simd",)),
    "order": _Form(re.compile(r"\s*(?:(?:reproducible|unconstrained)\s*:\s*)?concurrent\s*")),
    "allocate": _Form(re.compile(rf"\s*(?:{_ALLOCATOR}\s*:)?{_LIST}"), ("for",)),
    "default": _Form(re.compile(r"\s*(?:shared|none)\s*"), ("parallel",)),
    "proc_bind": _Form(re.compile(r"\s*(?:master|primary|close|spread)\s*"), ("parallel",)),
    "schedule": _Form(
        re.compile(
            r"\s*(?:(?:(?:non)?monotonic|simd)\s*:\s*)?(?:static|dynamic|guided|auto|runtime)\s*"
            rf"(?:,{_VALUE.pattern})?"
        ),
        ("for",),
    ),
    "num_threads": _Form(_VALUE, ("parallel",)),
    "if": _Form(re.compile(rf"\s*(?:(?:parallel|simd)\s*:)?{_VALUE.pattern}"), ("parallel", "simd")),
}

_EXCLUSIVE = (("order", "ordered"), ("order", "safelen"))
"""Clauses that no directive may have together."""


@dataclass(frozen=True)
class CombinedCells:
    """`reduction(operator: array[from:length]...)`; without a section, the whole variable."""

    operator: str
    array: str
    section: tuple[tuple[str, str], ...] = ()


def clauses_for(directive: str) -> tuple[str, ...]:
    """The names of the clauses that a directive may have here."""
    words = directive.split()
    found = {name for name, form in _FORMS.items() if not set(form.words).isdisjoint(words)}
    return tuple(sorted(found | ({"ordered"} if "for" in words and "simd" not in words else set())))


def unknown_clause(argument: str, macros: frozenset[str] = frozenset()) -> str | None:
    """Returns the first part of a pragma that is not understood."""
    head = _HEAD.match(argument)
    if head is None:
        return argument.strip()
    at = head.end()
    known = clauses_for(head[1] or "")
    seen: dict[str, str] = {}
    while argument[at:].strip():
        found = (_ORDERED if "ordered" in known else _CLAUSE).match(argument, at)
        found = found or _CLAUSE.match(argument, at)
        if found is None:
            return argument[at:].strip()
        word, inside = found.groups() if found.re is _CLAUSE else ("ordered", None)
        seen[word] = found[0].strip()
        if inside is not None and not _is_known(word, inside, known):
            return seen[word]
        at = found.end()
    words = set(names_in(re.sub(r"\b(?:min|max)\s*:", "", argument)))
    apart = next((seen[one] for one, other in _EXCLUSIVE if one in seen and other in seen), None)
    return apart or _allocated_else(argument) or min(words & macros - _values(argument), default=None)


def _is_known(word: str, inside: str, known: tuple[str, ...]) -> bool:
    form = _FORMS.get(word)
    is_read = form is not None and word in known and form.argument.fullmatch(inside) is not None
    return is_read and not (word in _COMPUTED and has_effect(inside))


def _allocated_else(argument: str) -> str | None:
    """A name in `allocate` of which no clause makes a copy."""
    copies = ("private", "firstprivate", "lastprivate", "reduction")
    copied = {name for word, inside in clause_texts(argument) if word in copies for name in names_in(inside)}
    given = {
        name
        for word, inside in clause_texts(argument)
        if word == "allocate"
        for name in names_in(inside.rpartition(":")[2])
    }
    return min((f"allocate({name})" for name in given - copied), default=None)


def _values(argument: str) -> set[str]:
    """Names in clauses that control how many threads run what, where their values do not matter."""
    return {
        word for name, inside in _CLAUSE.findall(argument) if name in _COMPUTED for word in names_in(inside)
    }


def clause_texts(argument: str) -> list[tuple[str, str]]:
    """The clauses by name, with their arguments."""
    return [(word, inside) for word, inside in _CLAUSE.findall(argument)]


def names_in_clause(argument: str, clause: str) -> frozenset[str]:
    lists = [inside for word, inside in clause_texts(argument) if word == clause]
    return frozenset(name for inside in lists for name in names_in(inside))


def linear_steps(argument: str) -> dict[str, int]:
    """The step of each variable in `linear(i:2)` or `linear(i: val, step(2))`, 1 if none is given."""
    items = [inside.partition(":") for word, inside in clause_texts(argument) if word == "linear"]
    found: dict[str, int] = {}
    for names, _, said in items:
        step = re.search(r"-?\d+", said)
        found |= dict.fromkeys(names_in(names), int(step[0]) if step else 1)
    return found


def combined_cells(argument: str) -> Iterator[CombinedCells]:
    """Yields what the `reduction` clauses of a pragma name."""
    for word, inside in clause_texts(argument):
        if word == "reduction":
            operator, _, listed = inside.partition(":")
            for item in re.findall(_SECTION, listed):
                name = re.match(_NAME, item)
                assert name is not None
                bounds = re.findall(r"\[\s*(\w*)\s*:\s*(\w+)\s*\]", item)
                section = tuple((start or "0", length) for start, length in bounds)
                yield CombinedCells(operator.strip(), name[0], section)


def number_in_clause(argument: str, clause: str) -> int | None:
    """The argument of `collapse(2)` or `safelen(4)`."""
    found = [inside for word, inside in clause_texts(argument) if word == clause]
    return int(found[-1]) if found and found[-1].strip().isdigit() else None
