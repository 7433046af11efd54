"""Traps: functions in whose place the linker may take others, wherever the file says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.options import PLAIN
from loopwright.c.typed.preprocess import preprocess
from loopwright.source import Source
from tests.traps.support import PROVED, comparison, function

_G = "double g(double x) { return x + 1; }"
_CALL, _INLINED = "for (i = 0; i < n; i++) a[i] = g(b[i]);", "for (i = 0; i < n; i++) a[i] = b[i] + 1;"
REPLACED = {
    "weak, said later": f"{_G} __attribute__((weak)) double g(double);",
    "weak, said after the name": f"{_G} double g(double) __attribute__((weak));",
    "weak, by its type": f"{_G} extern __typeof(g) g __attribute__((__weak__));",
    "weak, in another function": f"{_G} void o(void) {{ double g(double) __attribute__((weak)); }}",
    "weak, said before": f"__attribute__((weak)) double g(double); {_G}",
    "weak, in brackets": f"[[gnu::weak]] {_G}",
    "weak, by a macro": f"#define MAY __attribute__((weak))\n{_G} MAY double g(double);",
    "weak, by a pragma": f"#pragma weak g\n{_G}",
    "weak, by a pragma after it": f"{_G}\n#pragma weak g\n",
    "weak, by assembler": f'{_G} __asm__(".weak g");',
    "the name of another": f'double g(double) __asm__("sin"); {_G}',
    "another's name, by a pragma": f"#pragma redefine_extname g sin\n{_G}",
    "another's name, by assembler": f'{_G} __asm__(".set g, h");',
}
KEPT = {
    "plain": _G,
    "another is weak": f"{_G} __attribute__((weak)) void o(void);",
    "another has a label": f'{_G} double o(double) __asm__("sin");',
}


@pytest.mark.parametrize("name", REPLACED)
def test_a_function_that_may_be_another_is_not_its_body(name: str, tmp_path: Path) -> None:
    old, new = (function(body, head=REPLACED[name]) for body in (_CALL, _INLINED))
    assert comparison(old, new, tmp_path) != PROVED
    assert comparison(new, old, tmp_path) != PROVED


@pytest.mark.parametrize("name", KEPT)
def test_a_function_that_is_no_other_is_its_body(name: str, tmp_path: Path) -> None:
    old, new = (function(body, head=KEPT[name]) for body in (_CALL, _INLINED))
    assert comparison(old, new, tmp_path) == PROVED


@pytest.mark.parametrize(
    "text, names",
    [
        ('double g(int) __asm__("h");', ["renamed", "renamed_or_aliases"]),
        ('double g(int) __attribute__((alias("h")));', ["renamed_or_aliases"]),
        ('static double g(int) __attribute__((__weakref__("h")));', ["renamed_or_aliases"]),
        ("double g(int h) __attribute__((weak));", ["weak"]),
        ('double g(int h) __attribute__((ifunc("r")));', ["weak"]),
        ("double g(int h);", []),
    ],
)
def test_each_word_by_which_the_linker_is_told_of_names(text: str, names: list[str]) -> None:
    found = preprocess(Source("", f"{text}\n"), PLAIN)
    every = ("renamed", "renamed_or_aliases", "weak")
    assert [name for name in every if {"g", "h"} <= getattr(found, name)] == names
