"""What a region modifies through pointers, and which values are invariant in it.

`s->d + i * s->w` is the same address everywhere in a region that modifies neither member.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from loopwright.c.typed import tree
from loopwright.c.typed.effects import Reach, may_be_written, reach_of
from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.types import ArrayType, Pointer, Record, Unknown, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.purity import LIBRARY


@dataclass(frozen=True)
class ChangedMemory:
    """The memory that a region modifies through pointers."""

    region: TypedRegion
    file: TypedFile

    @cached_property
    def _nodes(self) -> list[tree.Node]:
        return [*tree.walk_all(self.region.statements)]

    @cached_property
    def _reach(self) -> Reach:
        return reach_of(self.file, self._nodes, LIBRARY)

    def keeps(self, lvalue: tree.Expression, *, by_name: bool) -> bool:
        """Whether the region modifies nothing of the type of an lvalue through pointers.

        `by_name`: whether it assigns to nothing with the lvalue's name.  The reader assumes, and lists, that
        other names denote other memory in the rewritten source.
        """
        reach, nodes = self._reach, self._nodes
        if by_name:
            is_known = not reach.unknown and not any(isinstance(one, Unknown) for one in reach.written)
            targets = [node.target for node in nodes if isinstance(node, tree.Assign | tree.Update)]
            return is_known and not any(_may_be(tree.without_casts(one), lvalue) for one in targets)
        named = {node.declaration.offset: node.declaration for node in nodes if isinstance(node, tree.Name)}
        changed = [named[one] for one in sorted(reach.changed) if one in named]
        is_hidden = all(one.is_own and one.offset not in self.region.function.addressed for one in changed)
        is_known = not reach.unknown and all(one in named for one in reach.changed)
        return is_known and is_hidden and not may_be_written(lvalue.type, reach.written)


def _may_be(target: tree.Expression, lvalue: tree.Expression) -> bool:
    """Whether an assignment through a pointer has the name of an lvalue, or modifies more than a number."""
    if tree.owner(target) is not None:
        return False
    if isinstance(unqualified(target.type), Record | Pointer | ArrayType | Unknown):
        return True
    if isinstance(target, tree.MemberAccess):
        return isinstance(lvalue, tree.MemberAccess) and target.name == lvalue.name
    root = tree.root_of(target)
    is_element = not isinstance(lvalue, tree.MemberAccess)
    return root is None or (is_element and root == tree.root_of(lvalue))


def is_only_followed(
    one: tree.Declaration, nodes: Iterable[tree.Node], around: Mapping[int, tree.Node]
) -> bool:
    """Whether a pointer is only dereferenced: `p->x`, `p[k]`, `*p`."""
    uses = (node for node in nodes if isinstance(node, tree.Name) and node.declaration == one)
    for part, outer in (tree.with_conversions(use, around) for use in uses):
        match outer:
            case tree.Unary(operator="*") | tree.MemberAccess(is_arrow=True):
                pass
            case tree.Subscript(base=base) if base is part:
                pass
            case _:
                return False
    return True
