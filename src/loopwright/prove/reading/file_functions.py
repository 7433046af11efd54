"""Functions of the file that return what they compute of their integer arguments alone:

    static int clamp(int v, int least, int most) { return v < least ? least : v > most ? most : v; }

A call of one has the same value wherever its arguments have.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.c.declarations import Declarations
from loopwright.c.expression_types import DeclaredTypes, integer_type
from loopwright.c.file import FunctionDefinition, c_file
from loopwright.c.macros import Macro, definitions
from loopwright.c.syntax import Node, field, named_children, walk
from loopwright.c.tokens import packed
from loopwright.c.types import INT, CType, holds, is_signed, named_type
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source

_OTHER = (
    "subscript_expression", "pointer_expression", "field_expression", "call_expression",
    "assignment_expression", "update_expression", "sizeof_expression", "cast_expression",
)  # fmt: skip


def function_of(
    call: Node,
    source: Source,
    macros: tuple[Macro, ...],
    declarations: Declarations,
    types: Mapping[str, CType],
) -> FunctionDefinition | None:
    """The called function, if its value is an expression of its signed parameters and of numbers.

    No conversion changes a value: each parameter holds all values of its argument, and the result those of
    the expression.  `types` are those of parameters of the program.
    """
    name = field(call, "function").text
    one = c_file(source).function(name)
    given = named_children(field(call, "arguments"))
    if one is None or one.value is None or not one.is_integer or len(given) != len(one.parameters):
        return None
    is_hidden = any(definitions(macros, word) for word in (name, *one.parameters))
    if is_hidden or declarations.visible(name, call.span) is not None:
        return None
    result, *kinds = [named_type(declarations.resolved(kind)) for kind in (one.type, *one.types)]
    declared = DeclaredTypes(declarations, macros, call.span, INT)
    outer = _CallTypes(declared, source, types)
    inner = _CallTypes(declared, source, dict(zip(one.parameters, kinds, strict=True)))
    parts = [*walk(one.value)]
    is_plain = all(part.type not in _OTHER for part in parts)
    is_own = all(part.text in one.parameters for part in parts if part.type == "identifier")
    numbers = [integer_type(part, inner) for part in parts if part.type == "number_literal"]
    are_signed = all(map(is_signed, (result, *kinds, *numbers)))
    fits = [holds(kind, integer_type(part, outer)) for kind, part in zip(kinds, given, strict=True)]
    is_kept = all(fits) and holds(result, integer_type(one.value, inner))
    return one if is_plain and is_own and are_signed and is_kept else None


@dataclass(frozen=True)
class _CallTypes:
    """The declared types, those of names and members in `types`, and of the results of functions."""

    declared: DeclaredTypes
    source: Source
    types: Mapping[str, CType]

    def name_type(self, name: Node) -> CType:
        return self.types.get(name.text) or self.declared.name_type(name)

    def member_type(self, member: Node) -> CType:
        return self.types.get(packed(member.text)) or self.declared.member_type(member)

    def result_type(self, function: str) -> CType | None:
        found = c_file(self.source).function(function)
        return None if found is None else self.written_type(found.type)

    def written_type(self, text: str) -> CType:
        return self.declared.written_type(text)
