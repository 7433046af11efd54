"""Locates the regions of a file: `#pragma scop` to `#pragma endscop`, or what was chosen (see `choice`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from loopwright.c.syntax import refuse
from loopwright.c.tokens import blank, names_in, without_comments
from loopwright.errors import BadInput, Code, Diagnostic
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span, with_edits

_DIRECTIVE = re.compile(r"^[ \t]*(#[ \t]*(\w*)((?:\\\r?\n|[^\n])*))", re.MULTILINE)

_CONTINUED = re.compile(r"(?<=\s)\\\r?\n|\\\r?\n(?=\s)")
"""Line continuations between words."""

WIDE_VECTORS = """\
#if defined(__AVX512F__) && !defined(__clang__)
#pragma GCC target("prefer-vector-width=512")
#endif
"""
"""Goes before a file: by default, gcc uses half of an AVX-512 register."""


def without_hint(text: str) -> str:
    """A source without the lines before it that request wide vectors, which change no result."""
    return re.sub(r"\A" + re.escape(WIDE_VECTORS).replace("\\\n", r"\r?\n"), "", text)


@dataclass(frozen=True, slots=True)
class Directive:
    """A line `#name argument`, with comments and strings blanked in the argument."""

    name: str
    argument: str
    place: Span
    argument_start: int


@dataclass(frozen=True, slots=True)
class Region:
    """`place` is between the two pragma lines, or was chosen; `pragmas` are the others inside it."""

    place: Span
    pragmas: tuple[Directive, ...]


def directives_of(source: Source) -> tuple[Directive, ...]:
    """The preprocessor lines of a file, in order."""
    found = []
    visible = without_comments(source.text, literals=True)
    for match in _DIRECTIVE.finditer(without_comments(source.text, literals=False)):
        end = match.start(1) + len(visible[match.start(1) : match.end(1)].rstrip())
        spot = Span(source, match.start(1), end)
        argument = match[3]
        if match[2] == "pragma":
            argument = _CONTINUED.sub(lambda mark: " " * len(mark[0]), argument)
        found.append(Directive(match[2], argument.rstrip(), spot, match.start(3)))
    return tuple(found)


def without_directives(source: Source, lines: Sequence[Directive]) -> str:
    """The source with its preprocessor lines blanked, offsets unchanged."""
    return with_edits(source.text, ((one.place.start, one.place.end, blank(one.place.text)) for one in lines))


def regions_of(source: Source, lines: Sequence[Directive]) -> tuple[Region, ...]:
    """All regions; raises if there is none, or half of one."""
    if source.chosen:
        return tuple(_chosen_region(Span(source, start, end), lines) for start, end in source.chosen)
    regions = marked_regions(source, lines)
    if not regions:
        message, hint = "there is no region in this file", (
            "put '#pragma scop' before and '#pragma endscop' after the loops to read, or choose them by "
            "--function NAME or --loop LINE"
        )
        if _LOOP.isdisjoint(names_in(source.text)):
            message = f"{message}, which has no loop" if source.text.strip() else "the file is empty"
            hint = "give a C file with loops"
        raise BadInput(Code.REGION, message, span=source.at(0), hint=hint)
    return regions


_LOOP = frozenset({"for", "while", "do", "goto"})


def marked_regions(source: Source, lines: Sequence[Directive]) -> tuple[Region, ...]:
    """The regions between pragmas; raises for half of one."""
    regions: list[Region] = []
    opening: int | None = None
    for index, line in enumerate(lines):
        match _marker(line), opening:
            case "scop", None:
                _refuse_pragma_outside(source, lines[:index], line)
                opening = index
            case "scop", int():
                raise refuse(
                    line.place,
                    "a region starts inside a region",
                    "regions cannot be nested",
                    code=Code.REGION,
                )
            case "endscop", None:
                raise refuse(
                    line.place,
                    "this '#pragma endscop' has no '#pragma scop' before it",
                    "put '#pragma scop' on a line of its own before the first loop",
                    code=Code.REGION,
                )
            case "endscop", int(start):
                regions.append(_region(source, lines[start : index + 1]))
                opening = None
    if opening is not None:
        raise refuse(
            lines[opening].place,
            "this region does not end",
            "put '#pragma endscop' on a line of its own after the last loop",
            code=Code.REGION,
        )
    return tuple(regions)


def marked_places(source: Source) -> tuple[Span, ...]:
    """The places of regions, without checking their contents: those chosen, or between two pragmas."""
    if source.chosen:
        return tuple(Span(source, start, end) for start, end in source.chosen)
    marks = [line for line in directives_of(source) if _marker(line)]
    return tuple(
        Span(source, first.place.end, last.place.start)
        for first, last in pairwise(marks)
        if (_marker(first), _marker(last)) == ("scop", "endscop")
    )


def with_markers(source: Source) -> str:
    """The source with pragmas around chosen regions too, and all tokens at their lines and columns."""
    edits: list[Edit] = []
    for start, end in source.chosen:
        first, last = source.line_of(start), source.line_of(end)
        before = f"\n#line {max(1, first - 1)}\n#pragma scop\n#line {first}\n{_indent(source, start)}"
        after = f"\n#line {last}\n#pragma endscop\n#line {last}\n{_indent(source, end)}"
        edits += [(start, start, before), (end, end, after)]
    return with_edits(source.text, edits)


def _indent(source: Source, offset: int) -> str:
    return " " * (offset - source.text.rfind("\n", 0, offset) - 1)


def _marker(line: Directive) -> str | None:
    words = line.argument.split()
    is_marker = line.name == "pragma" and words[:1] in (["scop"], ["endscop"])
    return words[0] if is_marker else None


FOR_A_LOOP = re.compile(
    r"\s*(omp(?!\s+(barrier|taskwait|taskyield|flush)\b)|acc|ivdep|simd|vector"
    r"|(GCC\s+)?(no)?unroll|GCC\s+ivdep|clang\s+loop)\b"
)


def about_a_loop(line: Directive) -> bool:
    """Whether a pragma applies to the loop after it."""
    return line.name == "pragma" and FOR_A_LOOP.match(line.argument) is not None


def _refuse_pragma_outside(source: Source, before: Sequence[Directive], opening: Directive) -> None:
    """Raise for a pragma about the first loop of a region: it would apply to another loop afterwards."""
    if not before or not about_a_loop(before[-1]):
        return
    last = before[-1].place
    between = without_comments(source.text, literals=True)[last.end : opening.place.start]
    if not between.strip():
        raise refuse(
            last,
            "this pragma applies to the loop after it, which is inside the region",
            "put it after '#pragma scop', directly before its loop",
            code=Code.REGION,
        )


def _chosen_region(place: Span, lines: Sequence[Directive]) -> Region:
    inner = tuple(line for line in lines if place.contains(line.place))
    for line in inner:
        if _marker(line):
            hint = "remove the pragmas, or choose the code between them"
            raise refuse(line.place, "the chosen code contains a marked region", hint, code=Code.REGION)
    _refuse_other_directives(inner)
    return Region(place, inner)


def refusal_of(place: Span, lines: Sequence[Directive]) -> Diagnostic | None:
    """Why a chosen place cannot be a region, by the directives in it."""
    try:
        _chosen_region(place, lines)
    except BadInput as failure:
        return failure.diagnostic
    return None


def _refuse_other_directives(inner: Sequence[Directive]) -> None:
    for line in inner:
        if line.name != "pragma":
            raise refuse(
                line.place,
                f"'#{line.name}' inside a region cannot be read: it would have no place in the new loops",
                "move it out of the region, or put the region inside one branch of the '#if'",
                code=Code.REGION,
            )


def _region(source: Source, lines: Sequence[Directive]) -> Region:
    first, *inner, last = lines
    _refuse_other_directives(inner)
    start = source.text.index("\n", first.place.end) + 1
    end = source.text.rfind("\n", 0, last.place.start) + 1
    return Region(Span(source, start, end), tuple(inner))
