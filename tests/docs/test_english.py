"""Words that are not plain technical English stay out of names, comments, messages and pages.

A word is listed when it has been used in a sense that a reader has to guess, such as "behind" for "after".
"""

from __future__ import annotations

import re

import pytest

from tests.docs.test_references import texts

HERE = "tests/docs/test_english.py"
ROOMS = ("docs/", "tests/", "benchmarks/", "kernels/", "proofs/", "examples/", "src/loopwright/presburger/")
"""Where the words do not occur any more."""

WORDS = {
    "behind": r"(?<!step )(?<!points )(?<!plane\n# )(?<!left )behind(?! these theorems| nearly)",
    "nobody": r"nobody|somebody|anybody",
    "aloud": r"aloud",
    "anew": r"anew",
    "affair": r"affairs?",
    "a pit of": r"a pit of",
}
MESSAGES = ("behind the segment, the program ended", "runs behind the first", "is_dead_behind")
"""What tests expect or import of other rooms."""


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_not_used(word: str) -> None:
    pattern = re.compile(rf"(?<![A-Za-z])(?:{WORDS[word]})(?![A-Za-z])", re.IGNORECASE)
    others = re.compile("|".join(map(re.escape, MESSAGES)))
    found = [
        f"{name}:{text.count(chr(10), 0, one.start()) + 1}"
        for name, text in texts()
        if name.startswith(ROOMS) and name != HERE
        for one in pattern.finditer(others.sub("", text))
    ]
    assert found == []
