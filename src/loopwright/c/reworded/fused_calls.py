"""Fused products and sums of the library, as products and sums that round twice.

    fma(x, y, z)        ((double)(x) * (double)(y) + (double)(z))
    fmaf(x, y, z)       ((float)(x) * (float)(y) + (float)(z))

The values are those of the call but for the rounding of the product.  The arguments are converted to the type
of the function, as in a call.  Lines stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from loopwright.c.file import c_file, includes
from loopwright.c.syntax import Node, field, identifiers, named_children
from loopwright.c.tokens import without_comments
from loopwright.source import Source

_FUSED = re.compile(r"\b(?:__builtin_)?fma[fl]?\s*\(")
_TYPES = {"fma": "double", "fmaf": "float", "fmal": "long double"}
_BUILTIN = "__builtin_"


def fused_calls(source: Source) -> list[Node]:
    """The calls of a text, inner ones after those around them, where they are those of the library.

    Its header may not be `<tgmath.h>`, where the types of the arguments choose the function.
    """
    if _FUSED.search(without_comments(source.text, literals=False)) is None:
        return []
    file = c_file(replace(source, chosen=()))
    defined = (field(one, "declarator") for one in file.possible.of_type("function_definition"))
    own = {*file.macro_names, *(name for one in defined for name in identifiers(one)[:1])}
    if includes(source, "#include <tgmath.h>") or any(name.removeprefix(_BUILTIN) in _TYPES for name in own):
        return []
    is_known = includes(source, "#include <math.h>")
    calls = [one for one in file.possible.of_type("call_expression") if _type_of(one) is not None]
    return [one for one in calls if is_known or field(one, "function").text.startswith(_BUILTIN)]


def with_products(source: Source, calls: Sequence[Node]) -> Source:
    """The text with a product and a sum in place of each of these calls."""
    edits = [
        edit
        for call in calls
        for edit in (
            (field(call, "function").start, field(call, "function").end, ""),
            *_operand(call, 0, " * "),
            *_operand(call, 1, " + "),
            *_operand(call, 2, ""),
        )
    ]
    return source.edited(sorted(edits))


def _operand(call: Node, place: int, after: str) -> list[tuple[int, int, str]]:
    """An argument in parentheses, with its conversion, and the operator in place of the comma after it."""
    argument = named_children(field(call, "arguments"))[place]
    start, end = argument.spelled.start, argument.end
    found = [(start, start, f"({_type_of(call)})("), (end, end, ")")]
    if after:
        marks = [one for one in field(call, "arguments").children if one.type == ","]
        found.append((marks[place].start, marks[place].end, after))
    return found


def _type_of(call: Node) -> str | None:
    """The type that a fused product and sum is computed in; None of another call."""
    name = field(call, "function").text.removeprefix(_BUILTIN)
    arguments = named_children(field(call, "arguments"))
    return _TYPES.get(name) if len(arguments) == 3 else None
