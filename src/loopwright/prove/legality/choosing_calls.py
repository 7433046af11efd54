"""Calls in a step such as `s = max(s, e)`: whether they choose one of their arguments, and leave it as it is.

`fmaxf(s, e)` rounds a double s to a float, and `fmax(s, e)` a long.  Then s changes in the first step that
runs, but not in threads or lanes that have an accumulator of their own.
"""

from __future__ import annotations

import re

from loopwright.c.accumulations import CALLS, accumulation_of
from loopwright.c.macros import definitions, with_arguments
from loopwright.c.types import DOUBLE, FLOAT, LONG_DOUBLE, CType, named_type, represents
from loopwright.model.program import Program, Statement

CALLED = re.compile(r"\b(?!if\b|sizeof\b)([A-Za-z_]\w*)\s*\(")
_SUFFIXES = {"f": FLOAT, "l": LONG_DOUBLE}
_LOOSE = "b ? b : b"
"""An argument that a macro without parentheses around its parameters would split."""


def chooses(program: Program, statement: Statement, kind: CType) -> bool:
    """Whether each `max` in a step is the larger of two numbers, unchanged if they have this type."""
    called = [name for name in CALLED.findall(statement.body.place.text) if name in CALLS]
    return all(_is_what_it_is_called(program, name) and _keeps(program, name, kind) for name in called)


def _is_what_it_is_called(program: Program, name: str) -> bool:
    for macro in definitions(program.file.macros, name):
        if macro.parameters is None or len(macro.parameters) != 2:
            return False
        texts = (f"a = {with_arguments(macro, given)};" for given in (["a", _LOOSE], [_LOOSE, "a"]))
        if any(_chosen(text) != CALLS[name] for text in texts):
            return False
    for function in (one for one in program.file.functions if one.name == name):
        value = "" if function.value is None else function.value.text
        first = function.parameters[0] if len(function.parameters) == 2 else ""
        if _chosen(f"{first} = {value};") != CALLS[name]:
            return False
    return True


def _chosen(text: str) -> str | None:
    found = accumulation_of(text)
    return None if found is None else found.operator


def _keeps(program: Program, name: str, kind: CType) -> bool:
    """Whether a function, if it is one of the file or of the C library, has arguments and a value that hold
    all numbers of a type, if that is declared."""
    functions = [one for one in program.file.functions if one.name == name]
    if functions:
        texts = {text for one in functions for text in (one.type, *one.types)}
        found = [named_type(program.file.declarations.resolved(text)) for text in texts]
    elif definitions(program.file.macros, name) or not name.startswith(("fmin", "fmax")):
        return True
    else:
        found = [_SUFFIXES.get(name[len("fmax") :], DOUBLE)]
    return kind == named_type("") or all(one == kind or represents(one, kind) for one in found)
