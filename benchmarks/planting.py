"""Plants one fault in the output of a loop optimiser, for `benchmarks.faults`.

    bound      a number, a comparison, min or max in the head of a loop
    condition  a number or a comparison in an `if`
    subscript  a number in a subscript, or two iterators exchanged
    order      two neighbouring statements, or the heads of two loops, exchanged
    constant   a constant or an operator of a statement
    missing    a statement that is left out
    rounding   floord for ceild, or ceild for floord
    size       one size for another, or one less or more, in a bound or a condition
    clause     a name taken out of `private`, or `parallel for` in front of another loop
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

DIGITS = re.compile(r"(?<![\w.])\d+(?![\w.])")
LOOP = re.compile(r"(\s*)for \((\w+)=(.*);\2<=(.*);\2\+\+\) \{$")
"""A loop in steps of one, with its own first value."""
SIZE = re.compile(r"\b[A-Z]+\b")
PRAGMA = re.compile(r"#pragma omp parallel for private\(([^)]*)\)")


@dataclass(frozen=True)
class Fault:
    """A text with one change.

    `runs_as` is what a compiler has to be given to see its effect, if it has one: for a loop that is wrongly
    parallel the loop backwards.  `is_race` says that the text has a race whatever its results are.
    """

    kind: str
    line: int
    was: str
    text: str
    runs_as: str
    is_race: bool = False


Change = tuple[int, str]
"""The number of a line, and the line in its place."""


def region(text: str) -> tuple[int, int]:
    """The body of `kernel`, which is what was rewritten."""
    start = re.search(r"kernel\w*\([^)]*\)\s*\{", text)
    assert start is not None, "a kernel has a function of that name"
    end = text.index("\nstatic const struct", start.end()) if "\nstatic const struct" in text else len(text)
    return start.end(), end


def planted(text: str, kind: str, pick: random.Random) -> Fault | None:
    """The text with one fault, if it has a place for one of the kind."""
    start, end = region(text)
    lines = text[start:end].split("\n")
    if kind == "clause":
        return _clause(text, pick)
    changes = [change for change in KINDS[kind](lines) if lines[change[0][0]] != change[0][1]]
    if not changes:
        return None
    change = pick.choice(changes)
    was = lines[change[0][0]].strip()
    for k, line in change:
        lines[k] = line
    new = text[:start] + "\n".join(lines) + text[end:]
    return Fault(kind, text.count("\n", 0, start) + change[0][0] + 1, was, new, new)


def _at(line: str, match: re.Match[str], new: str) -> str:
    return line[: match.start()] + new + line[match.end() :]


def _numbers(k: int, line: str, start: int = 0, end: int | None = None) -> Iterator[tuple[Change]]:
    for match in DIGITS.finditer(line, start, len(line) if end is None else end):
        for more in (1, -1):
            yield ((k, _at(line, match, str(int(match[0]) + more))),)


def _comparisons(k: int, line: str) -> Iterator[tuple[Change]]:
    others = {"<=": "<", ">=": ">", "==": "<=", "&&": "||", "min(": "max(", "max(": "min("}
    for match in re.finditer("|".join(map(re.escape, others)), line):
        yield ((k, _at(line, match, others[match[0]])),)


def _bounds(lines: list[str]) -> Iterator[tuple[Change, ...]]:
    for k, line in enumerate(lines):
        if "for (" in line or re.match(r"\s*[lu]b[vp]=", line):
            yield from _numbers(k, line)
            yield from _comparisons(k, line)


def _conditions(lines: list[str]) -> Iterator[tuple[Change, ...]]:
    for k, line in enumerate(lines):
        if re.match(r"\s*if ", line):
            yield from _numbers(k, line)
            yield from _comparisons(k, line)


def _subscripts(lines: list[str]) -> Iterator[tuple[Change, ...]]:
    for k, line in enumerate(lines):
        for part in re.finditer(r"\[[^\]]*\]", line) if ";;" in line else ():
            yield from _numbers(k, line, part.start(), part.end())
        for two in re.finditer(r"\[([^\]]*)\]\[([^\]]*)\]", line) if ";;" in line else ():
            yield ((k, _at(line, two, f"[{two[2]}][{two[1]}]")),)


def _orders(lines: list[str]) -> Iterator[tuple[Change, ...]]:
    for k in range(len(lines) - 1):
        one, other = lines[k], lines[k + 1]
        heads = LOOP.match(one), LOOP.match(other)
        are_loops = (
            heads[0]
            and heads[1]
            and not re.search(rf"\b{heads[0][2]}\b", other)
            and _body(lines, k)[1] == _body(lines, k + 1)[1] + 1  # nothing else in the outer one
        )
        if are_loops or (";;" in one and ";;" in other):
            yield (k, other), (k + 1, one)


def _constants(lines: list[str]) -> Iterator[tuple[Change, ...]]:
    others = {"+=": "-=", "-=": "+=", "*=": "+=", " + ": " - ", " - ": " + ", " * ": " + ", "MAX": "MATCH"}
    for k, line in enumerate(lines):
        if ";;" not in line:
            continue
        inside = [one.span() for one in re.finditer(r"\[[^\]]*\]", line)]
        for match in re.finditer("|".join(map(re.escape, others)), line):
            if not any(start <= match.start() < end for start, end in inside):
                yield ((k, _at(line, match, others[match[0]])),)
        for match in re.finditer(r"(?<![\w\[])\d+\.\d+", line):
            yield ((k, _at(line, match, f"{match[0]}1")),)


def _missing(lines: list[str]) -> Iterator[tuple[Change, ...]]:
    for k, line in enumerate(lines):
        if ";;" in line:
            yield ((k, "  ;"),)


def _roundings(lines: list[str]) -> Iterator[tuple[Change, ...]]:
    for k, line in enumerate(lines):
        for match in re.finditer(r"\b(?:floord|ceild)\(", line):
            yield ((k, _at(line, match, "ceild(" if match[0] == "floord(" else "floord(")),)


def _sizes(lines: list[str]) -> Iterator[tuple[Change, ...]]:
    heads = [k for k, line in enumerate(lines) if re.match(r"\s*(?:for \(|if |[lu]b[vp]=)", line)]
    names = sorted({name for k in heads for name in SIZE.findall(lines[k])})
    for k in heads:
        for match in SIZE.finditer(lines[k]):
            others = [name for name in names if name != match[0]]
            for new in (*others, f"({match[0]}-1)", f"({match[0]}+1)"):
                yield ((k, _at(lines[k], match, new)),)


KINDS: dict[str, Callable[[list[str]], Iterable[tuple[Change, ...]]]] = {
    "bound": _bounds,
    "condition": _conditions,
    "subscript": _subscripts,
    "order": _orders,
    "constant": _constants,
    "missing": _missing,
    "rounding": _roundings,
    "size": _sizes,
    "clause": lambda lines: (),
}


def _body(lines: list[str], head: int) -> tuple[int, int]:
    """The lines of a loop after its head, up to its brace."""
    depth = 0
    for k in range(head, len(lines)):
        depth += lines[k].count("{") - lines[k].count("}")
        if depth == 0:
            return head + 1, k
    raise AssertionError("a loop ends")


def _assigned(lines: list[str]) -> set[str]:
    return set(re.findall(r"\b(t\d+|[lu]b\w?)=(?!=)", "\n".join(line for line in lines if ";;" not in line)))


def _clause(text: str, pick: random.Random) -> Fault | None:
    start, _ = region(text)
    lines = text.split("\n")
    first = text.count("\n", 0, start)
    pragmas = [k for k, line in enumerate(lines) if PRAGMA.search(line)]
    loops = [k for k in range(first, len(lines)) if LOOP.match(lines[k]) and "omp" not in lines[k - 1]]
    loops = [k for k in loops if not any("omp parallel" in one for one in lines[slice(*_body(lines, k))])]
    if pragmas and (pick.random() < 0.6 or not loops):
        return _without_name(lines, pick.choice(pragmas), pick)
    return _made_parallel(lines, pick.choice(loops)) if loops else None


def _without_name(lines: list[str], k: int, pick: random.Random) -> Fault:
    names = PRAGMA.search(lines[k])
    assert names is not None
    kept = names[1].split(",")
    gone = pick.choice(kept)
    kept.remove(gone)
    clause = f" private({','.join(kept)})" if kept else ""
    new = [*lines[:k], _at(lines[k], names, f"#pragma omp parallel for{clause}"), *lines[k + 1 :]]
    text = "\n".join(new)
    return Fault("clause", k + 1, lines[k], text, text, gone in _assigned(lines[slice(*_body(lines, k + 1))]))


def _made_parallel(lines: list[str], k: int) -> Fault:
    head = LOOP.match(lines[k])
    assert head is not None
    inner = sorted(_assigned(lines[slice(*_body(lines, k))]))
    clause = f" private({','.join(inner)})" if inner else ""
    back = f"{head[1]}for ({head[2]}={head[4]};{head[2]}>={head[3]};{head[2]}--) {{"
    before = k - next(n for n in range(k) if not lines[k - 1 - n].startswith("#pragma"))
    text = "\n".join([*lines[:before], f"#pragma omp parallel for{clause}", *lines[k:]])
    backwards = "\n".join([*lines[:k], back, *lines[k + 1 :]])
    return Fault("clause", k + 1, lines[k].strip(), text, backwards)
