"""What each operation of a script does: its page in docs/operations, which is part of the package."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path

from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class OperationPage:
    """`usage` are right calls, `summary` is one sentence, `text` the whole page up to its first example."""

    name: str
    usage: str
    summary: str
    text: str


@cache
def operation_pages() -> dict[str, OperationPage]:
    """By the operations' names."""
    folder = Path(str(resources.files("loopwright") / "data" / "operations"))
    found = (_page(path) for path in sorted(folder.glob("*.md")) if path.stem != "README")
    return {page.name: page for page in found}


def _page(path: Path) -> OperationPage:
    prose = path.read_text(encoding="utf-8").split("```", 1)[0].split("![", 1)[0].strip()
    title, usage, opening, *rest = re.split(r"\n\s*\n", prose)
    parts = [usage, opening, *rest]
    text = "\n\n".join(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", part) for part in parts)
    first = re.match(r".*?[.:](?=\s|$)", opening, re.DOTALL)
    sentence = " ".join((first.group() if first else opening).split()).rstrip(".:") + "."
    return OperationPage(title.removeprefix("# ").strip(), usage.strip(), sentence, text)
