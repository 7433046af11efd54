"""How a Coq file is written: strings, comments, lines that fit on a screen."""

from __future__ import annotations

import re


def text(name: str) -> str:
    """A string of Coq's."""
    return '"' + name.replace('"', '""') + '"'


def comment(words: str) -> str:
    """Text that cannot end a comment or begin another, nor open a string."""
    return words.replace('"', "'").replace("(*", "( *").replace("*)", "* )")


# -- lines ----------------------------------------------------------------------------------------------


WIDTH = 100
WORD = re.compile(r'(?:"[^"]*"|[^" ])+')
"""What is not broken: strings, and what has no spaces."""


def laid_out(text: str) -> str:
    """The same file, long lines of code broken; comments and strings of several lines stay as they are."""
    found: list[str] = []
    commented = quoted = False
    for line in text.split("\n"):
        commented = commented or (line.startswith("(*") and not quoted)
        opened = line.count('"') % 2 == 1 and not commented
        kept = commented or quoted or opened or len(line) <= WIDTH
        found += [line] if kept else _broken(line)
        quoted = quoted != opened
        commented = commented and not line.endswith("*)")
    return "\n".join(found).rstrip("\n") + "\n"


def _broken(line: str) -> list[str]:
    """Broken between words, as late as possible; all but the first line are indented."""
    found: list[str] = []
    here = ""
    for word in WORD.findall(line):
        if here and len(here) + 1 + len(word) > WIDTH:
            found.append(here)
            here = f"    {word}"
        else:
            here = f"{here} {word}" if here else word
    return [*found, here]
