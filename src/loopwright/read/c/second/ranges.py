"""The values that their types allow the parameters of a region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import islpy as isl

from loopwright.c.typed import tree
from loopwright.c.typed.pointer_values import root_and_path
from loopwright.c.types import CType
from loopwright.presburger.named import everywhere, number, variable
from loopwright.read.c.second.integers import parameter_of
from loopwright.read.c.second.scope import Facts, Scope, integer_of


def ranges_of_types(nodes: Sequence[tree.Node], facts: Facts) -> isl.Set:
    """Where all variables and members that are parameters have values of their types."""
    declared = {node.declaration.name: node.declaration for node in nodes if isinstance(node, tree.Name)}
    variables = [(name, declared[name].type) for name in sorted(facts.parameters & declared.keys())]
    return _within((*variables, *_members(nodes, facts)))


def _members(nodes: Sequence[tree.Node], facts: Facts) -> Iterator[tuple[str, CType]]:
    """The members that are parameters, as `m->rows`, by name; not those of what is declared in the region."""
    scope = Scope(facts, everywhere(), {}, {})
    for node in nodes:
        if isinstance(node, tree.MemberAccess) and (name := parameter_of(node, scope)) is not None:
            root, _ = root_and_path(node)
            if root is not None and facts.meaning.get(root.name) == root.offset:
                yield name, node.type


def _within(types: Iterable[tuple[str, CType]]) -> isl.Set:
    """Where the values of parameters are those of their types."""
    found = everywhere()
    for name, declared in dict.fromkeys(types):
        kind = integer_of(declared)
        if kind is not None:
            value = variable(name)
            found = found.intersect(value.ge_set(number(kind.least)))
            found = found.intersect(value.le_set(number(kind.greatest)))
    return found
