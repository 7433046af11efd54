"""Works are cited by keys that docs/references.md has: `[Grosser2015, section 5.4]`."""

from __future__ import annotations

import re
from functools import cache

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "references.md"
KEY = re.compile(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d)(?=[],])")
NUMBERED = re.compile(r"\bpapers?[ _]00\d\b", re.IGNORECASE)
FOLDERS = ("src", "docs", "tests", "proofs", "benchmarks", "kernels", "examples")
SUFFIXES = {".py", ".md", ".v", ".c", ".h", ".lw"}


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """All files in which a work may be cited, by name."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    return tuple(
        (str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
        for path in [*paths, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
        if path.suffix in SUFFIXES and path.is_file() and path != PAGE
    )


def listed() -> list[str]:
    return re.findall(r"^- \*\*\[(\w+)\]\*\* ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_key_is_listed_and_every_listed_work_is_cited() -> None:
    cited = {key for _, text in texts() for key in KEY.findall(text)}
    assert cited == set(listed())


def test_a_key_is_listed_once() -> None:
    assert len(listed()) == len(set(listed())) >= 16


def test_works_are_not_numbered() -> None:
    found = [name for name, text in texts() if NUMBERED.search(f"{name}\n{text}")]
    assert found == []
