"""Loops around nothing, which have no statement to prove anything of: they have to end."""

from __future__ import annotations

import pytest

from loopwright.c.typed.options import PLAIN
from loopwright.prove.comparison.acceptable import unacceptable
from loopwright.source import Source
from tests.traps.support import function

_COPY = "for (i = 0; i < n; i++) a[i] = b[i];"
ENDLESS = [
    "for (i = 0; i >= 0; i++) ;",
    "for (i = 0; i >= 0; i++) { }",
    "for (i = 0; i < n; i--) ;",
    "for (i = 0; i <= 0; i--) ;",
    "for (i = 0; i < n; i += 0) ;",
    "for (i = 0; i < n; i += k) ;",
    "for (i = 1; i < n; i *= 2) ;",
    "for (i = 0; i != n; i++) ;",
    "for (i = 0; i <= 2147483647; i++) ;",
    "for (i = 0; i < n * 1000000; i++) ;",
    "for (i = 2000000000; i < 2147483647; i += 100000000) ;",
    "for (i = 0; i < n; i++) for (j = 0; j >= 0; j++) ;",
    "for (i = 0; i < n; i++) for (i = 0; i < 3; i++) ;",
    "for (i = 0; i <= k; i++) for (k = 0; k < i; k++) ;",
    "for (i = 0; i < n; i++) { ; for (j = 9; j > 8; j++) ; }",
    "for (i = 0; i < n; ) ;",
    "for (i = 0; ; i++) ;",
    "for (;;) ;",
]
ENDING = [
    "for (i = 0; i < n; i++) ;",
    "for (i = 0; i < n; ++i) { }",
    "for (int l = n; l > 0; l -= 1) { ; }",
    "for (i = 0; i <= n - 1; i++) for (j = 9; j >= 0; j--) ;",
    "for (i = 0; i != n; i++) s = 1;",
]


@pytest.mark.parametrize("loop", ENDLESS)
def test_loops_that_may_not_end(loop: str) -> None:
    found = unacceptable(Source("t.c", function(f"{_COPY} {loop}")), PLAIN)
    assert found == "line 6: it is not known that this loop around nothing ends"


@pytest.mark.parametrize("loop", ENDING)
def test_loops_that_end_or_do_something(loop: str) -> None:
    assert unacceptable(Source("t.c", function(f"{_COPY} {loop}")), PLAIN) is None
