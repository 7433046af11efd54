"""Jumps that do not say where, and functions that are called at the end of a life: values are seen by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, comparison, function

_NUMBER = "for (i = 0; i < n; i++) { u = b[i]; a[i] = u; }"
_ARRAY = "for (i = 0; i < n; i++) { z[0] = b[i]; a[i] = z[0]; }"
_PLAIN = "for (i = 0; i < n; i++) a[i] = b[i];"
_BACKWARDS = "for (i = n - 1; i >= 0; i--) a[i] = b[i];"
_AGAIN = "double u = 0, z[2] = {{ 0 }}; int c = 0; {} again: s += {};"
_CLEANUP = "void seen(void *);\n#define OWN __attribute__((cleanup(seen)))\n"

LATER = {
    "by the address of a label": ("", "void *to = &&again;", "if (c++ < 2) goto *to;"),
    "in assembler": ("", "", 'if (c++ < 2) __asm__ goto("b %l0" : : : : again);'),
    "in a macro": ("#define JUMP(to) goto to", "", "if (c++ < 2) JUMP(again);"),
}


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("read", ["u", "z[0]", "i"])
def test_what_a_jump_leads_to_reads_it(name: str, read: str, tmp_path: Path) -> None:
    head, before, after = LATER[name]
    parts = {"head": head, "setup": "i = 0; " + _AGAIN.format(before, read), "after": after}
    old, new = {"u": (_NUMBER, _PLAIN), "z[0]": (_ARRAY, _PLAIN), "i": (_PLAIN, _BACKWARDS)}[read]
    assert comparison(function(old, **parts), function(new, **parts), tmp_path) != PROVED


@pytest.mark.parametrize(
    ("head", "setup"),
    [
        ("", "void *to = &&in; if (n == 3) { i = 2; goto *to; }"),
        ("", 'if (n == 3) { i = 2; __asm__ goto("b %l0" : : : : in); }'),
        ("#define JUMP goto in", "if (n == 3) { i = 2; JUMP; }"),
    ],
)
def test_a_jump_into_the_region(head: str, setup: str, tmp_path: Path) -> None:
    old, new = (text.replace("a[i]", "in: a[i]") for text in (_PLAIN, _BACKWARDS))
    parts = {"head": head, "setup": setup}
    assert "into the region" in comparison(function(old, **parts), function(new, **parts), tmp_path)


ENDS = {
    "of a number": ("double u OWN = 0;", _NUMBER),
    "of an array": ("double z[2] OWN = { 0 };", _ARRAY),
    "as C23 writes it": ("[[gnu::cleanup(seen)]] double u = 0;", _NUMBER),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_end_of_a_life_is_seen(name: str, tmp_path: Path) -> None:
    setup, old = ENDS[name]
    for text, is_seen in ((setup, True), (setup.replace("OWN", ""), "OWN" not in setup)):
        parts = {"head": _CLEANUP, "setup": text}
        found = comparison(function(old, **parts), function(_PLAIN, **parts), tmp_path)
        assert (found != PROVED) == is_seen


def test_the_end_of_an_iterator(tmp_path: Path) -> None:
    parts = {"head": _CLEANUP, "setup": "{ int i OWN = 0;", "after": "}"}
    found = comparison(function(_PLAIN, **parts), function(_BACKWARDS, **parts), tmp_path)
    assert "a function is called with 'i' when its lifetime ends" in found


@pytest.mark.parametrize("around", ["switch (k) case 2:", "while (k++ < 2)"])
def test_two_statements_where_one_was(around: str, tmp_path: Path) -> None:
    new = "for (i = 0; i < 5; i++) a[i] = b[i]; for (i = 5; i < 9; i++) a[i] = b[i];"
    old, new = (function(text, setup=f"k = 0; {around}") for text in (_PLAIN.replace("n", "9"), new))
    assert "not a list of whole statements" in comparison(old, new, tmp_path)
