"""Headers that two files include under the same names, and that are not the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from loopwright.c.typed.options import CompilerOptions
from loopwright.source import Source

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_LARGEST = 1 << 22


def different_header(
    old: Source, new: Source, old_options: CompilerOptions, options: CompilerOptions
) -> str | None:
    """The first header, next to the files or in folders of -I, that has two texts; those of the compiler
    are the same for both.
    """
    pending = [(name, Path(old.path).parent, Path(new.path).parent) for name in _names(old.text, new.text)]
    forced = (_after(one.arguments, "-include") for one in (old_options, options))
    pending += [(Path(a).name, Path(a).parent, Path(b).parent) for a, b in zip(*forced, strict=False)]
    folders = [[Path(one) for one in _after(each.arguments, "-I")] for each in (old_options, options)]
    seen: set[tuple[Path | None, Path | None]] = set()
    while pending:
        name, here, there = pending.pop(0)
        before, after = _found(name, [here, *folders[0]]), _found(name, [there, *folders[1]])
        if (before, after) in seen:
            continue
        seen.add((before, after))
        texts = [None if path is None else _text(path) for path in (before, after)]
        if texts[0] != texts[1]:
            return name
        if before is not None and after is not None and texts[0] is not None and before != after:
            pending += [(one, before.parent, after.parent) for one in _names(texts[0])]
    return None


def _names(*texts: str) -> list[str]:
    return list(dict.fromkeys(match[1] or match[2] for text in texts for match in _INCLUDE.finditer(text)))


def _after(words: Sequence[str], name: str) -> Iterator[str]:
    """The values of an option, `-I folder` or `-Ifolder`."""
    for k, word in enumerate(words):
        if word == name and k + 1 < len(words):
            yield words[k + 1]
        elif name == "-I" and word.startswith("-I") and word != "-I":
            yield word[2:]


def _found(name: str, folders: Sequence[Path]) -> Path | None:
    return next((path.resolve() for path in (folder / name for folder in folders) if path.is_file()), None)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LARGEST).decode("utf-8", "surrogateescape")
