"""Variables declared in the body of a loop: every iteration has its own, and must not miss another's.

The statements of a text are proved to be those of the original as if a name were one variable
throughout.  That is so if no value of it goes from one iteration of the loop around its declaration
to another, or out of the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.declarations import declared_name
from loopwright.c.syntax import Node, walk
from loopwright.model.program import Program
from loopwright.prove.legality.parallel import ParallelLoop, inside
from loopwright.prove.legality.privatisation import privatised
from loopwright.prove.legality.times import comparable, pieces_of
from loopwright.prove.verdict import Proved, Undecided, Verdict


def declared_in_loops(program: Program) -> Iterator[tuple[str, Node, int, Node]]:
    """The variables of the region that are declared inside a loop.

    With the innermost loop, its depth, and the declaration.
    """
    local = {array.name for array in program.arrays if array.local}
    around: list[Node] = []
    for node in walk(program.syntax):
        while around and around[-1].end <= node.start:
            around.pop()
        if node.type == "for_statement":
            around.append(node)
        if node.type != "declaration" or not around:
            continue
        for declarator in node.children_by_field_name("declarator"):
            named = declared_name(declarator)
            if named is not None and named[0] in local:
                yield named[0], around[-1], len(around) - 1, node


def prove_scopes(program: Program) -> Verdict:
    """Whether each iteration can do with its own of what it declares."""
    count = 0
    schedules = comparable(program, program)
    pieces = {name: pieces_of(name, schedule) for name, schedule in schedules.items()}
    for name, node, depth, _ in declared_in_loops(program):
        names = tuple(s.name for s in program.statements if node.span.contains(s.body.place))
        loop = ParallelLoop(2 * depth + 1, names)
        array = program.array(name)
        found = privatised(program, inside(loop, pieces), loop, array)
        if found is None or found.last:
            line = node.span.line
            return Undecided(f"a value of {name} may leave an iteration of the loop in line {line}")
        count += 1
    return Proved(count)
