"""Lines of a Coq file that fit on a screen."""

from __future__ import annotations

import re

WIDTH = 100
BREAK = re.compile(r"(?<=[;,)]) (?=\S)|(?<=->) |(?<==>) | (?=\\/ |/\\ |&& |\|\| )")
"""Where a line may be broken, outside strings: after an entry of a list, an argument or an arrow,
and before a connective."""


def laid_out(text: str) -> str:
    """The same file, long lines of code broken; comments stay as they are."""
    found: list[str] = []
    inside = False
    for line in text.splitlines():
        inside = inside or line.startswith("(**")
        found += [line] if inside or len(line) <= WIDTH else _broken(line)
        inside = inside and not line.endswith("*)")
    return "\n".join(found) + "\n"


def _broken(line: str) -> list[str]:
    """Broken where the fewest parentheses are open, and as late as possible, again and again."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    found: list[str] = []
    while len(line) > WIDTH:
        depths = _depths(line)
        places = [one.start() for one in BREAK.finditer(line, len(indent)) if depths[one.start()] is not None]
        if not places:
            break
        fitting = [place for place in places if place <= WIDTH] or places[:1]
        place = min(fitting, key=lambda place: (depths[place], -place))
        found.append(line[:place])
        line = indent + line[place + 1 :]
    return [*found, line]


def _depths(line: str) -> list[int | None]:
    """How many parentheses and brackets are open at each place; None in a string."""
    found: list[int | None] = []
    depth, quoted = 0, False
    for letter in line:
        quoted = quoted != (letter == '"')
        depth += 0 if quoted else (letter in "([") - (letter in ")]")
        found.append(None if quoted else depth)
    return found
