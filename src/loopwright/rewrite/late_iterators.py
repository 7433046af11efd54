"""The final values of iterators after a directive, which differ from those after the loops.

Rewritten loops get a statement that sets them; a compiler that applies the directive adds none.  So code
outside its loops that may run after the directive may only assign an iterator, not read it.
"""

from __future__ import annotations

from loopwright.c.file import CFile
from loopwright.c.liveness import functions_around, is_hidden, replaces
from loopwright.c.loops import LOOPS, loop_iterator, outer_iterators
from loopwright.c.syntax import Node
from loopwright.errors import BadInput, Code
from loopwright.source import Span


def refuse_late_iterators(file: CFile) -> None:
    """Raise if the final value of an iterator after a directive may be read."""
    for region in file.regions:
        for name in outer_iterators(file.block(region.place).of_type("for_statement")):
            if not is_hidden(file, region.place, name):
                raise _refusal(name, region.place)
            for use in _uses(file, region.place, name):
                if not replaces(use):
                    raise _refusal(name, use.span)


def _refusal(name: str, place: Span) -> BadInput:
    message = f"'{name}' may be read after a loop whose directive leaves another value in it than the loop"
    hint = f"declare the iterator in the loop: for (int {name} = ...)"
    return BadInput(Code.DIRECTIVE, message, span=place, hint=hint)


def _uses(file: CFile, region: Span, name: str) -> list[Node]:
    """The uses of a name outside the loops it iterates that may be reached after one of them.

    If the code after the region executes once and assigns it first, its final value is dead.
    """
    found: list[Node] = []
    for function in functions_around(file.tree, region):
        is_repeated = bool(function.of_type("labeled_statement")) or any(
            loop.span.contains(region) and loop.start < region.start for loop in function.of_type(*LOOPS)
        )
        own = [one.span for one in function.of_type("for_statement") if loop_iterator(one) == name]
        uses = [use for use in function.named(name) if not any(one.contains(use.span) for one in own)]
        later = [use for use in uses if use.start >= region.end]
        if not is_repeated and later and _is_certain(later[0], region):
            later = []
        found += uses if is_repeated else [use for use in uses if region.contains(use.span)] + later
    return found


def _is_certain(use: Node, region: Span) -> bool:
    """Whether this assigns the name on every path after the region."""
    statement = use.parent.parent if replaces(use) and use.parent is not None else None
    if statement is None or statement.type != "expression_statement" or statement.parent is None:
        return False
    return statement.parent.type == "compound_statement" and statement.parent.span.contains(region)
