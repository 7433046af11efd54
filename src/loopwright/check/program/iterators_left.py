"""What the loops of the original leave in iterators that are looked at after them."""

from __future__ import annotations

from loopwright.c.loops import loop_iterator
from loopwright.c.macros import constant_macro, definitions
from loopwright.c.reworded.final_values import changed_names, is_alone, is_assigned, loop_count
from loopwright.c.syntax import identifiers, named_children, walk
from loopwright.check.program.reachable import ReachedCode
from loopwright.model.program import Program


def left_in(program: Program, known: ReachedCode, name: str) -> str | None:
    """An expression for what the original leaves in an iterator, to be computed where the segment starts.

    It is known of a loop that nothing is around, the last one that names the iterator, whose bounds are
    numbers, macros for numbers, and ints that the segment does not change.
    """
    here = known.at_segment(name)
    if here is None or here.rank or known.declarations.resolved(here.type) != "int":
        return None
    file, region = program.file, program.file.region(program.region)
    named = [one for one in named_children(file.block(program.region)) if name in identifiers(one)]
    loop = named[-1] if named else None
    if loop is None or loop.type != "for_statement" or loop_iterator(loop) != name or not is_assigned(loop):
        return None
    count = loop_count(loop, name)
    if count is None or not is_alone(loop, name, region) or name in count.names:
        return None
    nodes = [*walk(file.block(program.region)), *(node for body in known.bodies for node in walk(body))]
    changed = {word for node in nodes for word in changed_names(node)}
    if count.names & changed or not all(_is_number(program, known, word) for word in count.names):
        return None
    return f"({count.test}) ? ({count.last}) : ({count.first})"


def _is_number(program: Program, known: ReachedCode, name: str) -> bool:
    """Whether a name is an int in both texts, or one macro for one number in both."""
    file = program.file
    there, here = file.declarations.visible(name, program.region), known.at_segment(name)
    if there is None or here is None:
        values = constant_macro(file.macros, name), constant_macro(known.macros, name)
        return there is here and values[0] is not None and values[0] == values[1]
    if definitions(file.macros, name) or definitions(known.macros, name):
        return False
    kinds = file.declarations.resolved(there.type), known.declarations.resolved(here.type)
    return not there.rank and not here.rank and kinds == ("int", "int")
