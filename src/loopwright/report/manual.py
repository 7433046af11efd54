"""The explanation of each diagnostic code, from the sections of docs/codes.md, which is in the package.

Also the page of each script operation in docs/operations, which is in the package.
"""

from __future__ import annotations

import re
import textwrap
from functools import cache
from importlib import resources
from pathlib import Path

from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass

SECTION = re.compile(
    r"^## (?P<code>\w+): (?P<title>.*)\n\n(?P<meaning>(?:.+\n)+)\n(?P<remedy>(?:.+\n)+)"
    r"(?:\n```text\n(?P<example>(?:.+\n)+?)```\n)?",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Page:
    """One kind of error: its meaning and its remedy."""

    code: Code
    title: str
    meaning: str
    remedy: str
    example: str


@cache
def code_pages() -> dict[Code, Page]:
    """The pages in the order of the file."""
    text = (resources.files("loopwright") / "data" / "codes.md").read_text(encoding="utf-8")
    found = (_page(**section.groupdict(default="")) for section in SECTION.finditer(text))
    return {page.code: page for page in found}


def _page(code: str, title: str, meaning: str, remedy: str, example: str) -> Page:
    return Page(Code(code), title, " ".join(meaning.split()), " ".join(remedy.split()), example.rstrip("\n"))


def text_of(page: Page) -> str:
    """The whole entry."""
    parts = [f"{page.code.value}: {page.title}", page.meaning, page.remedy]
    filled = [textwrap.fill(part, 88) for part in parts]
    if page.example:
        filled.append(textwrap.indent(page.example, "    "))
    return "\n\n".join(filled) + "\n"


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
    found = (_operation_page(path) for path in sorted(folder.glob("*.md")) if path.stem != "README")
    return {page.name: page for page in found}


def _operation_page(path: Path) -> OperationPage:
    prose = path.read_text(encoding="utf-8").split("```", 1)[0].split("![", 1)[0].strip()
    title, usage, opening, *rest = re.split(r"\n\s*\n", prose)
    parts = [usage, opening, *rest]
    text = "\n\n".join(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", part) for part in parts)
    first = re.match(r".*?[.:](?=\s|$)", opening, re.DOTALL)
    sentence = " ".join((first.group() if first else opening).split()).rstrip(".:") + "."
    return OperationPage(title.removeprefix("# ").strip(), usage.strip(), sentence, text)
