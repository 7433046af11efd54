"""`#if` inside of a region: the branch that the compiler takes, in place of all of them.

    #ifdef FAST
      a[i] = b[i] * 2;
    #else                      becomes          a[i] = b[i] + b[i];
      a[i] = b[i] + b[i];
    #endif

Which branch that is, the compiler is asked, with the options of the user: a pragma in each of them is in its
output or is not.  That it reads the same text without the others is compared.  Lines stay.  The text without
the other branches is the same for these options alone, which is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopwright.c.regions import Directive, directives_of, marked_places
from loopwright.c.tokens import blank
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import preprocess
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

_OPENING = ("if", "ifdef", "ifndef")
_FURTHER = ("elif", "elifdef", "elifndef", "else")
_WORD = "loopwright_branch"


@dataclass(frozen=True)
class BranchTaken:
    """A line that decides which text of a region is compiled, and whether the text after it is."""

    place: Span
    is_taken: bool

    def __str__(self) -> str:
        line = " ".join(self.place.text.split())
        return f"'{line}' is taken as the compiler takes it now: the text after it is " + (
            "compiled" if self.is_taken else "left out"
        )


def with_branches_taken(source: Source, options: CompilerOptions) -> tuple[Source, tuple[BranchTaken, ...]]:
    """The text with the branches alone that are compiled, in its regions, and the lines that decide it.

    The text itself where there are none, where they reach out of a region, or where a header that may decide
    them is missing.
    """
    if "#" not in source.text or not any(word in source.text for word in ("if", "IF")):
        return source, ()
    lines = [one for place in marked_places(source) for one in _conditional(source, place)]
    if not lines:
        return source, ()
    opened = [one for one in lines if one.name != "endif"]
    marks = [(one.place.end, one.place.end, f"\n#pragma {_WORD} {k}") for k, one in enumerate(opened)]
    asked = preprocess(replace(source, chosen=()).edited(marks), options)
    if asked.missing or asked.errors:
        return source, ()
    said = {" ".join(text.split()) for text in asked.directives}
    taken = [f"#pragma {_WORD} {k}" in said for k in range(len(opened))]
    found = tuple(BranchTaken(one.place, is_taken) for one, is_taken in zip(opened, taken, strict=True))
    edited = source.edited(_blanked(source, lines, {one.place: one.is_taken for one in found}))
    if _compiled(edited, options) != _compiled(source, options):
        return source, ()  # a condition on the line it stands on, or on how often something was asked
    return edited, found


def _compiled(source: Source, options: CompilerOptions) -> str:
    """All that the compiler reads, but for where it stands."""
    return "".join(preprocess(replace(source, chosen=()), options).text.split())


def _conditional(source: Source, place: Span) -> Sequence[Directive]:
    """The lines of conditions in a region, if they are whole there."""
    names = (*_OPENING, *_FURTHER, "endif")
    lines = [one for one in directives_of(source) if place.contains(one.place) and one.name in names]
    depth = 0
    for one in lines:
        depth += (one.name in _OPENING) - (one.name == "endif")
        if depth < (one.name in _FURTHER):
            return ()
    return lines if depth == 0 else ()


def _blanked(
    source: Source, lines: Sequence[Directive], taken: dict[Span, bool]
) -> list[Edit]:
    """The lines themselves, and the text after each that is not taken, up to the next of its own."""
    edits: dict[tuple[int, int], str] = {}
    position = -1
    for start, end in sorted(_left_out(lines, taken), key=lambda one: (one[0], -one[1])):
        if start >= position:
            edits[start, end] = blank(source.text[start:end])
            position = end
    return [(start, end, text) for (start, end), text in edits.items()]


def _left_out(lines: Sequence[Directive], taken: dict[Span, bool]) -> Iterator[tuple[int, int]]:
    open_lines: list[Directive] = []
    for one in lines:
        if one.name not in _OPENING:
            before = open_lines.pop()
            if not taken[before.place]:
                yield before.place.start, one.place.start
        if one.name != "endif":
            open_lines.append(one)
        yield one.place.start, one.place.end
