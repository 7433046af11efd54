"""The values of a program's parameters for the estimate: given, defined in the file, or assumed."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.c.casts import Ambiguous, expression_of
from loopwright.c.expression_types import integer_value
from loopwright.c.macros import definitions
from loopwright.errors import BadInput, Code
from loopwright.model.program import Program

_DEEPEST = 8
"""How many macros are defined by others."""
SUPPOSED = 1000
"""The assumed value of an unknown size."""
LARGEST = 10**12
"""More iterations of one loop no run has."""


def sizes_of(program: Program, defines: Sequence[str]) -> dict[str, int]:
    """A value for every parameter; `defines` are those of the command line, "N=2000"."""
    found = {one.name: value_of(one.text, program, defines) or SUPPOSED for one in program.parameters}
    for name, value in found.items():
        if abs(value) > LARGEST:
            message = f"the size '{name}' is not from {-LARGEST} to {LARGEST}"
            raise BadInput(Code.OPTION, message, span=program.region, hint="give its value: --size NAME=1000")
    return found


def value_of(text: str, program: Program, defines: Sequence[str]) -> int | None:
    """The value of an expression of macros and of names that are defined; None where there is none."""
    given = {name: value for name, _, value in (one.partition("=") for one in defines)}
    kinds = program.file.kinds(program.region)

    def value(text: str, depth: int) -> int | None:
        try:
            node = expression_of(text, kinds)
        except Ambiguous:  # `(n) * 2`, where nothing says what n is
            return None
        return None if node is None else integer_value(node, lambda name: named(name, depth), kinds)

    def named(name: str, depth: int) -> int | None:
        known = definitions(program.file.macros, name)
        body = given.get(name) or (known[0].body if known and known[0].parameters is None else None)
        return value(body, depth - 1) if body and depth else None

    return value(text, _DEEPEST)
