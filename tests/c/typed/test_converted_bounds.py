"""OpenMP counts by the type that an iterator has for the compiler: what the text calls it does not matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.refusals import refused_directive
from loopwright.source import Source

CONVERTED = {
    "a type of its own": ("", "unsigned char i = 1", "n % 5"),
    "an alias that looks like int": ("typedef unsigned char int8;", "int8 i = 1", "n % 5"),
    "a macro for int": ("#define int unsigned char", "int i = 1", "m % 5"),
    "a macro in a header": ('#include "odd.h"', "int i = 1", "m % 5"),
    "a macro for a name": ("#define i j\n unsigned char j;", "i = 1", "n % 5"),
    "int, then short": ("", "int short i = 1", "(long)n"),
    "declared before, short last": ("int short i;", "i = 1", "(long)n"),
    "a mode": ("int i __attribute__((mode(QI)));", "i = 1", "n % 5"),
    "a mode before the name": ("", "__attribute__((mode(QI))) int i = 1", "n % 5"),
    "the inner one of two": ("int i;\n { unsigned char i; } unsigned char j;", "j = 1", "n % 5"),
    "a number that is no int": ("", "int i = 1", "4294967297"),
    "a macro that is no int": ("#define MANY 4294967297", "int i = 1", "MANY"),
    "a line that is called another": ("#line 2", "unsigned char i = 1", "n % 5"),
}
KEPT = {
    "int": ("", "int i = 1", "n % 5"),
    "int before": ("int i;", "i = 1", "n % 5"),
    "int, then long": ("", "int long i = 1", "n % 5"),
    "int, then unsigned": ("", "int unsigned i = 1", "n"),
    "an alias of int": ("typedef int number;", "number i = 1", "n % 5"),
    "a macro for the bound": ("#define MANY 40", "int i = 1", "MANY"),
    "qualified": ("register int i;", "i = 1", "n % 5"),
}


def _refused(declared: str, first: str, bound: str, folder: Path) -> str | None:
    (folder / "odd.h").write_text("#define int unsigned char\n")
    name = first.split("=")[0].split()[-1]
    region = f"#pragma omp parallel for\n for ({first}; {name} < {bound}; {name}++)\n  A[{name}] = 0;\n"
    inside = f"{declared}\n#pragma scop\n{region}#pragma endscop\n"
    text = f"void f(signed n, signed m, double *A) {{\n{inside}}}\n"
    return refused_directive(Source(str(folder / "t.c"), text))


@pytest.mark.parametrize("name", CONVERTED)
def test_a_bound_that_is_converted(name: str, tmp_path: Path) -> None:
    assert "type of the iterator" in (_refused(*CONVERTED[name], tmp_path) or "")


@pytest.mark.parametrize("name", KEPT)
def test_a_bound_that_is_not(name: str, tmp_path: Path) -> None:
    assert _refused(*KEPT[name], tmp_path) is None
