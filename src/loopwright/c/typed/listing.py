"""The tokens of a piece of the preprocessed text, with their places in the file."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.c.regions import Region
from loopwright.c.tokens import lexemes
from loopwright.c.typed import tree
from loopwright.c.typed.expansion import ExpandedToken
from loopwright.c.typed.prepare import Located, Unread
from loopwright.c.typed.preprocess import Preprocessed
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span, line_ends


@dataclass(frozen=True)
class Listing:
    """The tokens of a piece of the preprocessed text: where each starts there, and in the file."""

    source: Source
    starts: tuple[int, ...]
    tokens: tuple[ExpandedToken, ...]

    def place(self, first: int, end: int) -> tree.TokenRange:
        if not first < min(end, len(self.tokens)):
            return tree.TokenRange(first, end, self.source.at(0, 0))
        _, span, macro, *_ = self.tokens[first]
        whole = Span(span.source, span.start, self.tokens[min(end, len(self.tokens)) - 1].span.end)
        is_one = macro is not None and all(
            one.macro == macro and one.span == span for one in self.tokens[first:end]
        )
        return tree.TokenRange(first, end, whole, macro if is_one else None)


def union(tokens: Sequence[ExpandedToken]) -> Span:
    """The span from the first to the last of some tokens, which are in source order."""
    return Span(tokens[0].span.source, tokens[0].span.start, tokens[-1].span.end)


def listed(
    source: Source,
    text: Preprocessed,
    located: Sequence[tuple[Region, Located | Unread]],
    start: int,
    end: int,
) -> Listing:
    """The tokens between two offsets; those in regions are mapped one by one, others by their lines."""
    found = lexemes(text.text, start, end)
    mapped: dict[int, ExpandedToken] = {}
    for _, spot in located:
        if isinstance(spot, Located) and start <= spot.start and spot.end <= end:
            mapped.update(zip(spot.offsets, spot.tokens, strict=True))
    starts = tuple([one.start for one in found])
    lines = zip(found, text.lines_of(starts), strict=True)
    tokens = [mapped.get(one.start) or _by_line(source, one.text, line) for one, line in lines]
    return Listing(source, starts, tuple(tokens))


def _by_line(source: Source, text: str, line: int) -> ExpandedToken:
    """The token at its place in a line, if it is there once; otherwise at the line."""
    ends = line_ends(source.text)
    if not 0 < line <= len(ends) + 1:
        return ExpandedToken(text, source.at(0, 0))
    start = ends[line - 2] + 1 if line > 1 else 0
    end = ends[line - 1] if line <= len(ends) else len(source.text)
    found = source.text.find(text, start, end)
    if found >= 0 and source.text.find(text, found + 1, end) < 0:
        return ExpandedToken(text, Span(source, found, found + len(text)))
    return ExpandedToken(text, Span(source, start, end))
