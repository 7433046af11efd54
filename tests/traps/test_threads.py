"""Pragmas that say which threads run a statement or a loop: without them others do."""

from __future__ import annotations

from loopwright.errors import BadInput
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from tests.traps.support import Trap

_OF_STATEMENTS = [
    "single",
    "critical",
    "barrier",
    "atomic",
    "task",
    "parallel",
    "target",
    "scope",
    "sections",
]
_OF_THREADS = [
    *(f"omp {words}" for words in ("loop", "distribute", "distribute parallel for", "masked taskloop")),
    *(f"acc {words}" for words in ("loop", "loop gang", "parallel", "routine seq", "data copy(a)")),
]
_OF_THEIR_OWN = [
    *(f"omp {words}" for words in ("parallel for", "parallel loop", "target teams distribute parallel for")),
    *(
        f"omp {words}"
        for words in ("teams distribute", "parallel masked taskloop", "taskloop", "for", "simd")
    ),
    *(f"acc {words}" for words in ("parallel loop", "kernels loop independent", "serial loop")),
]


def _read(body: str) -> bool:
    text = Source("t.c", Trap("", body).text())
    try:
        parse_c(text)
    except BadInput as failure:
        assert "which threads run a statement" in failure.message
        return False
    return True


def test_pragmas_that_say_which_threads_run_a_statement() -> None:
    for word in _OF_STATEMENTS:
        statement = "a[i] += 1;" if word != "barrier" else ""
        assert not _read(f"for (i = 0; i < n; i++) {{\n#pragma omp {word}\n{statement} b[i] = 0; }}")


def test_pragmas_that_divide_a_loop_among_threads_that_there_are() -> None:
    """Without them each of these threads runs the whole loop; with threads of its own, one does."""
    loop = "for (i = 0; i < n; i++) a[i] = 1;"
    assert not [one for one in _OF_THREADS if _read(f"#pragma {one}\n{loop}")]
    assert not [one for one in _OF_THEIR_OWN if not _read(f"#pragma {one}\n{loop}")]
