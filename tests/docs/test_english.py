"""Words that are not plain technical English stay out of names, comments, messages and pages.

A word is listed when it has been used in a sense that a reader has to guess, such as "behind" for "after".
"""

from __future__ import annotations

import re

import pytest

from tests.docs.test_references import texts

HERE = "tests/docs/test_english.py"
WORDS = {
    "behind": r"(?<!point )(?<!step )(?<!points )(?<!plane\n# )(?<!left )behind(?! these theorems| nearly)",
    "nobody": r"nobody|somebody|anybody",
    "aloud": r"aloud",
    "anew": r"anew",
    "affair": r"affairs?",
    "a pit of": r"a pit of",
}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_not_used(word: str) -> None:
    pattern = re.compile(rf"(?<![A-Za-z])(?:{WORDS[word]})(?![A-Za-z])", re.IGNORECASE)
    found = [
        f"{name}:{text.count(chr(10), 0, one.start()) + 1}"
        for name, text in texts()
        if name != HERE
        for one in pattern.finditer(text)
    ]
    assert found == []
