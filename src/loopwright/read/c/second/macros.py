"""What macros of the file stand for in a region: storage, constants, variables that nothing there changes."""

from __future__ import annotations

from dataclasses import replace

from loopwright.c.typed.points_to import root_and_path
from loopwright.c.typed.tree import Subscript, Unary, without_casts
from loopwright.model.program import Access, Program
from loopwright.read.c.second.accesses import Touched
from loopwright.read.c.second.leaves import Found
from loopwright.read.c.second.scope import Scope


def by_macro(one: Touched, program: Program) -> Touched:
    """Storage that a macro is the only word for is called by the macro's name."""
    names = {array.name for array in program.arrays}
    core, outer = without_casts(one.node), 0
    while core.place.macro is None or core.place.span.text not in names:
        match core:
            case Subscript(base=inner) | Unary(operator="*", operand=inner):
                core, outer = without_casts(inner), outer + 1
            case _:
                return one
    if one.cell.base in names:
        return one
    left = one.cell.subscripts[len(one.cell.subscripts) - outer :]
    return replace(one, cell=replace(one.cell, base=core.place.span.text, subscripts=left))


def is_constant_macro(access: Access, found: Found) -> bool:
    """A macro of a header that stands for a number, which the reader takes for a variable that is read."""
    return not access.is_write and access.place.text in found.place.scope.facts.constants


def is_fixed_in_macro(one: Touched, scope: Scope, program: Program) -> bool:
    """A variable that a macro of the file reads and nothing in the region writes: a constant there."""
    is_unknown = all(array.name != one.cell.base for array in program.arrays)
    is_from_macro = one.node.place.macro is not None and one.node.place.span.text != one.cell.base
    root, path = root_and_path(one.node)
    facts = scope.facts
    is_written = root is None or root.offset in facts.written or (root.offset, path) in facts.changed
    return is_unknown and is_from_macro and not one.is_write and not is_written
