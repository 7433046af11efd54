"""Compares two programs outside of the segments that `check` compares by running them."""

from __future__ import annotations

import re
from collections import Counter

from loopwright.c.tokens import names_in, without_comments
from loopwright.prove.comparison.function_frame import frame_of
from loopwright.prove.comparison.meanings import meanings_of
from loopwright.prove.comparison.outside import outside_difference
from loopwright.prove.comparison.preprocessor import directive_lines
from loopwright.source import Source, Span


def uncompared(old: Span, new: Span) -> str | None:
    """Returns why the code around two regions cannot be compared, or None if it can."""
    before, after = frame_of(old), frame_of(new)
    if before is None or after is None:
        return None if before is after else "only one of them is in a function"
    names = [re.findall(r"\w+(?=\s*\()", one.head)[:1] for one in (before, after)]
    return None if names[0] == names[1] else "their functions have different names"


def rest_difference(old: Span, new: Span) -> str | None:
    """Returns how two programs differ outside of their regions, ignoring what only the new one has."""
    difference = outside_difference(old, new, of_regions=False)
    if difference is not None:
        return difference
    here, there = meanings_of(old.source), meanings_of(new.source)
    used = [Counter(names_in(without_comments(_around_text(one), literals=False))) for one in (old, new)]
    for name, texts in here.items():
        other = there.get(name, texts if name not in used[1] else [])
        if texts != other and (max(one[name] for one in used) > 1 or "=" in "".join((*texts, *other))):
            return f"'{name}' is not declared in the same way"
    before, after = (_definitions(one.source) for one in (old, new))
    for name, lines in before.items():
        if after.get(name, lines) != lines and any(one[name] > len(lines) for one in used):
            return f"'{name}' is not defined in the same way"
    return None


def _around_text(region: Span) -> str:
    text = region.source.text
    return text[: region.start] + "\n" + text[region.end :]


def _definitions(source: Source) -> dict[str, list[str]]:
    """The lines that define or undefine each macro of a file."""
    found: dict[str, list[str]] = {}
    for line in directive_lines(without_comments(source.text, literals=True)):
        words = line.split(maxsplit=2)
        if words[:1] in (["define"], ["undef"]) and len(words) > 1:
            found.setdefault(names_in(words[1])[0], []).append(line)
    return found
