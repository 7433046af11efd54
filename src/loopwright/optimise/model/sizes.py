"""The values of a program's parameters in the run that counts: given, defined in the file, or supposed."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from loopwright.c.macros import Macro, definitions
from loopwright.errors import BadInput, Code
from loopwright.model.program import Program

SUPPOSED = 1000
"""A size of which nothing is known."""
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
    return _value(text, program.file.macros, given)


def _value(text: str, macros: Sequence[Macro], given: Mapping[str, str], depth: int = 8) -> int | None:
    """The value of an expression of macros; None where there is none."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    return _evaluated(tree, macros, given, depth)


def _evaluated(tree: ast.expr, macros: Sequence[Macro], given: Mapping[str, str], depth: int) -> int | None:
    match tree:
        case ast.Constant(int(value)):
            return value
        case ast.Name(name) if depth:
            known = definitions(macros, name)
            text = given.get(name) or (known[0].body if known and known[0].parameters is None else None)
            return None if text is None else _value(text, macros, given, depth - 1)
        case ast.BinOp(left, operator, right):
            one, two = (_evaluated(part, macros, given, depth) for part in (left, right))
            if one is None or two is None:
                return None
            match operator:
                case ast.Add():
                    return one + two
                case ast.Sub():
                    return one - two
                case ast.Mult():
                    return one * two
                case ast.Div() if two:
                    return one // two
    return None
