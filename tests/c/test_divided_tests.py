"""Loops of OpenMP that count to `i != n` are read as `i < n`, where that is what they mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.reworded.parallel_blocks import with_ordered_tests
from loopwright.c.typed.options import PLAIN
from loopwright.errors import BadInput, LoopwrightError
from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.source import Source

FOR = "#pragma omp parallel for"
TEXT = (
    "void f({size}, double *restrict a, double *restrict b) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n"
)


def text_of(loops: str, size: str = "int n") -> str:
    return TEXT.format(loops=loops, size=size)


@pytest.mark.parametrize(
    ("loops", "words"),
    [
        (f"{FOR}\nfor (int i = 0; i != n; i++) a[i] = b[i];", "i < n;"),
        (f"{FOR} schedule(static)\nfor (int i = n - 1; i != -1; --i) a[i] = b[i];", "i > -1;"),
        ("#pragma omp simd\nfor (long i = 0; i != n; ++i) a[i] = b[i];", "i < n;"),
        (f"{FOR}\nfor (int i = 0; i != n; i++) for (int j = 0; j != n; j++) a[i] = b[j];", "i < n; i++) for"),
    ],
)
def test_what_a_directive_divides(loops: str, words: str) -> None:
    found = with_ordered_tests(Source("t.c", text_of(loops)), PLAIN).text
    assert words in found and found.count("!=") == loops.count("!=") - 1


@pytest.mark.parametrize(
    "loops",
    [
        "for (int i = 0; i != n; i++) a[i] = b[i];",
        f"{FOR}\nfor (unsigned i = 0; i != n; i++) a[i] = b[i];",
        f"{FOR}\nfor (short i = 0; i != n; i++) a[i] = b[i];",
        f"{FOR}\nfor (int i = 0; i != n; i += 2) a[i] = b[i];",
        f"{FOR} collapse(2)\nfor (int i = 0; i != n; i++) for (int j = 0; j < n; j++) a[i] = b[j];",
        "#pragma omp critical\nfor (int i = 0; i != n; i++) a[i] = b[i];",
    ],
)
def test_what_stays_as_it_is(loops: str) -> None:
    source = Source("t.c", text_of(loops))
    assert with_ordered_tests(source, PLAIN) == source


def test_such_loops_are_proved_or_refused_like_others(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    path.write_text(text_of(f"{FOR}\nfor (int i = 0; i != n; i++) a[i] = b[i];"))
    assert "i < n" in transformed(Request(file=str(path)), silent).source.text
    path.write_text(text_of(f"{FOR}\nfor (int i = 0; i != n; i++) a[i + 1] = a[i];"))
    with pytest.raises(LoopwrightError) as failure:
        transformed(Request(file=str(path)), silent)
    assert not isinstance(failure.value, BadInput)
