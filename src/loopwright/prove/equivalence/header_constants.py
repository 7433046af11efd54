"""Constants of headers, such as INT_MAX and M_PI, which a text without its headers takes for variables."""

from __future__ import annotations

import re
from functools import lru_cache

from loopwright.c.file import CFile
from loopwright.c.macros import integer_text
from loopwright.c.tokens import ASSIGNING, spelled
from loopwright.c.typed.options import PLAIN
from loopwright.c.typed.preprocess import preprocess
from loopwright.model.program import Program
from loopwright.source import Source

LARGEST = 2**31 - 1
_DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?")


def literal_number(text: str) -> float | None:
    """The int or double that a literal is."""
    return float(text) if _DECIMAL.fullmatch(text) else integer_text(text)


@lru_cache(maxsize=8)
def macros_of_headers(headers: tuple[str, ...]) -> frozenset[str]:
    """The macros that these headers define, and those of the compiler itself."""
    return frozenset(preprocess(Source("", "".join(f"#include {one}\n" for one in headers)), PLAIN).changes)


@lru_cache(maxsize=32)
def macro_of_headers(headers: tuple[str, ...], name: str) -> float | None:
    """The double or int that a macro of these headers stands for; None where it is something else."""
    if name not in macros_of_headers(headers):
        return None
    text = "".join(f"#include {one}\n" for one in headers)
    found = preprocess(Source("", f"{text}{name}\n"), PLAIN).text.split("\n")
    last = next((line.strip() for line in reversed(found) if line.strip()), "")
    while last.startswith("(") and last.endswith(")"):
        last = last[1:-1].strip()
    number = literal_number(re.sub(r"\(double\)\s*(\S+)L", r"\1", last))
    return None if isinstance(number, int) and abs(number) > LARGEST else number


def standard_headers(file: CFile) -> tuple[str, ...]:
    """The headers `<..>` that a file includes."""
    given = (one.argument.strip() for one in file.directives if one.name == "include")
    return tuple(one for one in given if one.startswith("<"))


def open_names(program: Program) -> tuple[str, ...]:
    """The names of a region that are taken for variables or sizes, and are declared nowhere in the file."""
    names = {*program.params, *(one.name for one in program.arrays if one.rank == 0 and not one.local)}
    own = {macro.name for macro in program.file.macros}
    declared = program.file.declarations
    return tuple(one for one in sorted(names - own) if declared.visible(one, program.region) is None)


@lru_cache(maxsize=8)
def macros_of_file(source: Source) -> frozenset[str]:
    """The macros of a file and its headers."""
    return frozenset(preprocess(source, PLAIN).changes)


@lru_cache(maxsize=8)
def changing_macros(source: Source) -> frozenset[str]:
    """The macros of a file and its headers that may assign to something, or take an address."""
    changes = preprocess(source, PLAIN).changes.items()
    changing = ASSIGNING | {"&"}
    return frozenset(
        name for name, lines in changes if any(not changing.isdisjoint(spelled(text)) for _, text in lines)
    )
