"""The types of arithmetic expressions, against the C compiler: `_Generic` tells what a type is."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import pytest

from loopwright.c.types import (
    DOUBLE,
    INT,
    CType,
    Integer,
    Unknown,
    common,
    holds,
    literal_type,
    named_type,
    promoted,
    spelling,
)
from loopwright.run.compiler import find_compiler

NAMES = (
    "_Bool",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "float",
    "double",
    "long double",
)
_LITERALS = """
0 1 2147483647 2147483648 4294967295 4294967296 9223372036854775807 0x7fffffff 0x80000000 0xffffffff
0x100000000 017777777777 037777777777 0xffffffffffffffff 1u 4294967296u 1l 1ul 1lu 1ll 1ull 1LLU 1.0
1e3 1.f 1e3f .5L
"""
LITERALS = _LITERALS.split()


def told_by_the_compiler(expressions: list[str], folder: Path) -> list[str]:
    cases = ", ".join(f'{name}: "{name}"' for name in NAMES)
    lines = "".join(f"  puts(_Generic(({one}), {cases}));\n" for one in expressions)
    source = folder / "types.c"
    source.write_text(f"#include <stdio.h>\nint main(void) {{\n{lines}  return 0;\n}}\n")
    compiler = find_compiler().path
    subprocess.run([compiler, "-w", "-o", str(folder / "types"), str(source)], check=True)
    return subprocess.run([str(folder / "types")], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )


def test_sums_have_the_type_the_compiler_gives_them(tmp_path: Path) -> None:
    pairs = list(product(NAMES, NAMES))
    told = told_by_the_compiler([f"({one})1 + ({other})1" for one, other in pairs], tmp_path)
    for (one, other), name in zip(pairs, told, strict=False):
        assert common(named_type(one), named_type(other)) == named_type(name), (one, other)


def test_operands_are_promoted_as_the_compiler_does(tmp_path: Path) -> None:
    told = told_by_the_compiler([f"+({name})1" for name in NAMES], tmp_path)
    assert [promoted(named_type(name)) for name in NAMES] == [named_type(name) for name in told if name]


def test_numbers_have_the_type_the_compiler_gives_them(tmp_path: Path) -> None:
    told = told_by_the_compiler(LITERALS, tmp_path)
    assert [spelling(literal_type(one)) for one in LITERALS] == [name for name in told if name]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("const int", INT),
        ("long unsigned int", Integer(64, False, 4)),
        ("uint8_t", Integer(8, False, 1)),
        ("int long long", Integer(64, True, 5)),
        ("double", DOUBLE),
    ],
)
def test_names_of_types(text: str, kind: CType) -> None:
    assert named_type(text) == kind


def test_unknown_types_stay_unknown() -> None:
    real = named_type("real")
    assert isinstance(real, Unknown) and spelling(real) == "real"
    assert real == named_type("real") != named_type("other")
    assert isinstance(common(real, INT), Unknown) and isinstance(promoted(real), Unknown)
    assert not holds(real, INT) and not holds(INT, real)


def test_a_narrow_bit_field_of_unsigned_numbers_is_an_int() -> None:
    assert promoted(Integer(5, False, 3)) == INT
    assert promoted(Integer(32, False, 3)) == Integer(32, False, 3)
