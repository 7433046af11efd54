"""Iterators and temporaries whose last value is read after the region, by whatever way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, Trap, answer

_LOOP = "for (i = 0; i < n; i++) a[i] = i;"

READ = [
    Trap("after it", _LOOP, after="s = i;"),
    Trap("returned", _LOOP, after="g(i);", head="void g(int);"),
    Trap("by a macro", _LOOP, "#define LAST i", after="s = LAST;"),
    Trap("by a macro of a header", _LOOP, '#include "h.h"', after="s = LAST;", headers=(("h.h", "#define LAST i\n"),)),
    Trap("by a pointer that was made before", _LOOP, setup="int *w = &i;", after="s = *w;"),
    Trap("by a pointer that a function was given", _LOOP, "void keep(int *); void look(void);", "keep(&i);", "look();"),
    Trap("on one path", _LOOP, after="if (n) i = 0; s = i;"),
    Trap("after a loop that may not run", _LOOP, after="while (n--) i = 0; s = i;"),
    Trap("after a loop that assigns it late", _LOOP, after="for (j = 0; j < n; j++) i = 3; s = i;"),
    Trap("in its own assignment", _LOOP, after="i = i + 1; s = i;"),
    Trap("by +=", _LOOP, after="i += 2; s = i;"),
    Trap("by ++", _LOOP, after="i++; s = i;"),
    Trap("in a condition", _LOOP, after="if (i == n) s = 1;"),
    Trap("on the right of ||", _LOOP, after="if (n || (i = 0)) s = i;"),
    Trap("in a branch of ?:", _LOOP, after="s = n ? (i = 0) : i;"),
    Trap("in the next round of a loop around it", _LOOP, setup="while (n--) { s = i;", after="}"),
    Trap("in the test of a loop around it", _LOOP, setup="do {", after="} while (i < 10);"),
    Trap("in the step of a loop around it", _LOOP, setup="for (j = 0; j < 9; j += i) {", after="}"),
    Trap("after a goto", _LOOP, after="goto end; i = 0; end: s = i;"),
    Trap("in a case", _LOOP, after="switch (n) { case 1: i = 0; break; case 2: s = i; }"),
    Trap("as a static variable", "for (c = 0; c < n; c++) a[c] = c;", setup="static int c; s = c;"),
    Trap("as a variable of the file", "for (c = 0; c < n; c++) a[c] = c;", "int c; int g(void) { return c; }"),
    Trap("as a variable of the file, by a function called after it", "for (c = 0; c < n; c++) a[c] = c;", "static int c; static void g(void) { s = c; }", after="g();"),
    Trap("as a variable of the file whose address is taken", "for (c = 0; c < n; c++) a[c] = c;", "static int c; int *w = &c;"),
    Trap("in a text that is not understood", _LOOP, after="OOPS(s = i;) [;"),
]
DEAD = [
    Trap("not read", _LOOP),
    Trap("assigned first", _LOOP, after="i = 0; s = i;"),
    Trap("the iterator of another loop", _LOOP, after="for (i = 0; i < 3; i++) b[i] = i;"),
    Trap("assigned on both paths", _LOOP, after="if (n) i = 0; else i = 1; s = i;"),
    Trap("another variable of the name", _LOOP, after="{ int i = 3; s = i; }"),
    Trap("in a loop around it that assigns first", _LOOP, setup="while (n--) {", after="i = 0; s = i; }"),
    Trap("on a path that does not come from the region", _LOOP, setup="if (n) { s = i; return; }"),
    Trap("a variable of the file that all assign first", "for (c = 0; c < n; c++) a[c] = c;", "static int c; void g(void) { for (c = 0; c < 3; c++) b[c] = 0; }"),
]


@pytest.mark.parametrize("trap", READ, ids=lambda trap: trap.name)
def test_values_that_are_read_afterwards(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("trap", DEAD, ids=lambda trap: trap.name)
def test_values_that_are_not(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED
