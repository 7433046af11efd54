"""The parts of loops of the typed reading, and the variables that expressions change."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.c.typed import tree

OWN = (tree.Storage.AUTOMATIC, tree.Storage.PARAMETER)
_LOOPS = ("WHILE_STMT", "DO_STMT")


def parts_of(
    loop: tree.Node,
) -> tuple[tree.Node | None, tree.Expression, tree.Node | None, tree.Statement] | None:
    """First, test, step and body of a loop that tests first."""
    match loop:
        case tree.ForStatement(first=first, test=test, step=step, body=body) if test is not None:
            return first, test, step, body
        case tree.OtherStatement(kind="WHILE_STMT", parts=(test, body)) if isinstance(test, tree.Expression):
            if isinstance(body, tree.Expression):
                return None, test, None, tree.Evaluate(body.place, body)
            if isinstance(body, tree.Statement):
                return None, test, None, body
    return None


def steps_of(step: tree.Node) -> list[tree.Expression]:
    """The parts of `i++, p++`."""
    if isinstance(step, tree.Binary) and step.operator == ",":
        return [*steps_of(step.left), *steps_of(step.right)]
    return [step] if isinstance(step, tree.Expression) else []


def moved_variable(node: tree.Node) -> tree.Declaration | None:
    """The variable that an expression changes."""
    if not isinstance(node, tree.Update | tree.Assign):
        return None
    target = tree.without_casts(node.target)
    return target.declaration if isinstance(target, tree.Name) else None


def step_of(node: tree.Node) -> int | None:
    """How far an expression moves a pointer."""
    match node:
        case tree.Update(operator=operator):
            return 1 if operator == "++" else -1
        case tree.Assign(operator="+=" | "-=" as operator, value=value):
            core = tree.without_casts(value)
            if isinstance(core, tree.Number) and core.value is not None and core.text.isdigit():
                return core.value if operator == "+=" else -core.value
    return None


def loops_around(
    loop: tree.Node, nodes: Sequence[tree.Node]
) -> list[tree.ForStatement | tree.OtherStatement]:
    """From the inside out."""
    found = [
        node
        for node in nodes
        if (
            isinstance(node, tree.ForStatement)
            or (isinstance(node, tree.OtherStatement) and node.kind in _LOOPS)
        )
        and node.place.first < loop.place.first
        and node.place.end >= loop.place.end
    ]
    return sorted(found, key=lambda one: -one.place.first)
