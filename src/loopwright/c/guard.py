"""Loops guarded by a run-time test: the C code of the guard, written and recognised.

    if (n <= 1073741824
        && (uintptr_t)b - (uintptr_t)a >= (uintptr_t)(n) * sizeof(*a)
        && (uintptr_t)a - (uintptr_t)b >= (uintptr_t)(n) * sizeof(*b)) {
      ... new loops
    } else {
      ... the loops as they were
    }

A condition is one on parameters, or `b - a >= size` of two addresses: the first byte of b is none of the
`size` bytes starting at a, since unsigned arithmetic is modulo 2^w.  Two arrays are disjoint if and only if
this holds for both.  Nothing in it can overflow or trap.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from loopwright.c.file import c_file
from loopwright.c.regions import Region
from loopwright.c.syntax import field, named_children
from loopwright.c.tokens import packed, spelled, without_comments
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

ADDRESS_HEADER = "#include <stdint.h>"
_ADDRESS = "uintptr_t"
_NEEDED = (_ADDRESS, "sizeof", "if", "else")


@dataclass(frozen=True, slots=True)
class NotInside:
    """The condition that the first byte of `other` is outside `array`: outside all of it, or some elements.

    `factors` are the numbers whose product is the number of elements; empty if `array` is not a pointer.
    """

    array: str
    other: str
    factors: tuple[str, ...] = ()

    def text(self, scalars: frozenset[str]) -> str:
        """The condition in C; for a scalar, its address is used."""
        names = (f"&{one}" if one in scalars else one for one in (self.array, self.other))
        start, other = (f"(uintptr_t){one}" for one in names)
        size = f"sizeof({self.array})"
        if self.factors:
            counts = [f"(uintptr_t)({one})" for one in self.factors]
            size = " * ".join([*counts, f"sizeof(*{self.array})"])
        return f"{other} - {start} >= {size}"


_NOT_INSIDE = re.compile(r"\(uintptr_t\)(&?)(\w+)-\(uintptr_t\)(&?)(\w+)>=(.*)")


def not_inside(condition: str, scalars: frozenset[str]) -> NotInside | None:
    """The meaning of a condition of that form; None if it has another form."""
    match = _NOT_INSIDE.fullmatch(packed(condition))
    if match is None:
        return None
    other, array, size = match[2], match[4], match[5]
    factors = re.fullmatch(r"((?:\(uintptr_t\)\([^()]*\)\*)+)sizeof\(\*\w+\)", size)
    counts = [] if factors is None else re.findall(r"\(uintptr_t\)\(([^()]*)\)", factors[1])
    found = NotInside(array, other, tuple(counts))
    return found if packed(found.text(scalars)) == packed(condition) else None


def guarding(conditions: Sequence[str], inner: Sequence[str], other: Sequence[str], step: str) -> list[str]:
    """The lines of `inner` under all conditions, and those of `other` if one does not hold."""
    first, *more = conditions
    head = [f"if ({first}", *(f"    && {one}" for one in more)]
    head[-1] += ") {"
    return [
        *head,
        *(step + line if line and not line.startswith("#") else line for line in inner),
        "} else {",
        *(step + line if line else line for line in other),
        "}",
    ]


@dataclass(frozen=True, slots=True)
class GuardedRegion:
    """A region of this form: the conditions, and the branches."""

    conditions: tuple[str, ...]
    inner: Span
    other: Span


def guard_of(source: Source, region: Region) -> GuardedRegion | None:
    """The region in the form above, with any conditions; None if it does not have that form."""
    parts = named_children(c_file(source).block(region.place))
    if len(parts) != 1 or parts[0].type != "if_statement" or redefined(source):
        return None
    chosen = parts[0]
    alternative, then = chosen.child_by_field_name("alternative"), field(chosen, "consequence")
    if alternative is None or then.type != "compound_statement":
        return None
    other = named_children(alternative)[-1]
    if other.type != "compound_statement":
        return None
    tested = field(chosen, "condition")
    text = without_comments(source.text[tested.start : tested.end], literals=True).strip()
    conditions = tuple(_conditions(text[1:-1])) if text.startswith("(") and text.endswith(")") else ()
    inner, outer = (Span(source, one.start + 1, one.end - 1) for one in (then, other))
    return GuardedRegion(conditions, inner, outer) if conditions else None


def _conditions(text: str) -> list[str]:
    """The operands of a conjunction."""
    found, depth, start = [], 0, 0
    for match in re.finditer(r"[()]|&&|\|\|", text):
        sign = match[0]
        depth += (sign == "(") - (sign == ")")
        if sign == "||" and depth == 0:
            return [text.strip()]
        if sign == "&&" and depth == 0:
            found.append(text[start : match.start()].strip())
            start = match.end()
    return [*found, text[start:].strip()]


def redefined(source: Source) -> list[str]:
    """Names needed by the form that the file defines: no guard is written or recognised then."""
    own = c_file(source).defined_names
    return [name for name in _NEEDED if name in own]


def without_guards(
    source: Source, others: Mapping[int, Sequence[str]]
) -> tuple[Source, dict[int, GuardedRegion]]:
    """The source with only the new loops of each region of this form; line numbers do not change.

    `others` are the tokens of the original loops, by the numbers of regions; a region whose `else` has
    other tokens is unchanged.
    """
    found: dict[int, GuardedRegion] = {}
    edits: list[Edit] = []
    for number, region in enumerate(c_file(source).regions):
        guard = guard_of(source, region) if number in others else None
        if guard is None or spelled(guard.other.text) != list(others[number]):
            continue
        found[number] = guard
        before = source.text[region.place.start : guard.inner.start].count("\n")
        after = source.text[guard.inner.end : region.place.end].count("\n")
        inner = guard.inner.text
        is_block = inner.strip().startswith("{") and inner.strip().endswith("}")
        text = "".join(["\n" * before, inner if is_block else f"{{{inner}}}", "\n" * after])
        edits.append((region.place.start, region.place.end, text))
    return (source.edited(edits) if found else source), found
