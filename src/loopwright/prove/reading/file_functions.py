"""Functions of the file that return what they compute of their integer arguments alone:

    static int clamp(int v, int least, int most) { return v < least ? least : v > most ? most : v; }

A call of one has the same value wherever its arguments have.
"""

from __future__ import annotations

from loopwright.c.declarations import Declarations, is_unsigned_type
from loopwright.c.file import FunctionDefinition, c_file
from loopwright.c.macros import Macro, definitions
from loopwright.c.syntax import Node, field, named_children, walk
from loopwright.source import Source

_OTHER = (
    "subscript_expression", "pointer_expression", "field_expression", "call_expression",
    "assignment_expression", "update_expression", "sizeof_expression", "cast_expression",
)  # fmt: skip


def function_of(
    call: Node, source: Source, macros: tuple[Macro, ...], declarations: Declarations
) -> FunctionDefinition | None:
    """The called function, if its value is an expression of its signed parameters and of numbers."""
    name = field(call, "function").text
    found = [one for one in c_file(source).functions if one.name == name]
    one = found[0] if len(found) == 1 else None
    if one is None or one.value is None or not one.is_integer:
        return None
    kinds = [declarations.resolved(kind) for kind in (one.type, *one.types)]
    is_hidden = any(definitions(macros, word) for word in (name, *one.parameters))
    if is_hidden or declarations.visible(name, call.span) is not None or any(map(is_unsigned_type, kinds)):
        return None
    parts = [*walk(one.value)]
    is_plain = all(part.type not in _OTHER for part in parts)
    is_own = all(part.text in one.parameters for part in parts if part.type == "identifier")
    is_whole = len(named_children(field(call, "arguments"))) == len(one.parameters)
    return one if is_plain and is_own and is_whole else None
