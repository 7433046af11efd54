"""Variables declared in a region: the storage they become, and which cannot be moved."""

from __future__ import annotations

from collections.abc import Collection

from loopwright.c.syntax import Node, refuse, walk
from loopwright.model.program import Array
from loopwright.read.c.names import Local, RegionNames, Unfollowed
from loopwright.source import Span


def _hides(outer: Local, inner: Local) -> bool:
    """Whether one would hide the other in the new source, where `outer` is declared before the loops and
    statements kept whole keep their declarations."""
    if outer is inner or outer.name != inner.name:
        return False
    return outer.scope.contains(inner.scope) or (inner.is_kept and not outer.is_kept)


def local_arrays(names: RegionNames, block: Node) -> tuple[Array, ...]:
    """The storage to declare before the loops; raises for what cannot be moved there."""
    arrays: dict[str, Array] = {}
    for local in names.locals:
        array = Array(local.name, local.rank, local.type, local=True, extents=local.extents)
        if not local.is_kept and arrays.setdefault(local.name, array) != array:
            raise refuse(
                local.node,
                f"'{local.name}' is declared twice in the region, with different types",
                "give the two variables different names",
            )
        if any(_hides(other, local) for other in names.locals):
            raise refuse(
                local.node,
                f"this '{local.name}' hides another one declared in the region",
                "give the two variables different names",
            )
    declared = {local.name for local in names.locals}
    for node in walk(block):
        name = node.text if node.type == "identifier" else ""
        if name in declared and not any(
            local.name == name and local.scope.contains(node.span) for local in names.locals
        ):
            raise refuse(
                node,
                f"this '{name}' is not the one declared inside the region",
                "give the two variables different names",
            )
    return tuple(arrays.values())


_TAGGED = ("struct_specifier", "union_specifier", "enum_specifier")


def refuse_named_types(block: Node, whole: Collection[Span]) -> None:
    """Raise for a tag or enumerator that the region defines: the new source has no such definition.

    In a statement that is kept whole it stays.
    """
    for kind in block.of_type(*_TAGGED):
        body = kind.child_by_field_name("body")
        is_named = kind.child_by_field_name("name") is not None or bool(kind.of_type("enumerator"))
        if body is not None and is_named and not any(place.contains(kind.span) for place in whole):
            raise refuse(kind, "a type definition cannot be read in a region", "move it out of the region")


def refuse_pointers(declarator: Node, name: str = "") -> None:
    """Raise for a local pointer, which would be an alias of an array.

    Inside a statement that is kept whole, the pointer `name` may be untracked instead.
    """
    for part in walk(declarator):
        if part.type == "pointer_declarator":
            failure = refuse(
                part, "a pointer declared in a region cannot be followed", "use the array it points into"
            )
            raise Unfollowed(failure, names=frozenset((name,))) if name else failure


def sizes_in(declarator: Node) -> list[Node]:
    """The expressions in the brackets of `double t[n][4]`."""
    found = [part.child_by_field_name("size") for part in walk(declarator) if part.type == "array_declarator"]
    return [size for size in found if size is not None]


def refuse_changing_size(size: Node, names: RegionNames) -> None:
    """Raise if the size of a local array, which is declared before the region, is not known there."""
    for part in walk(size):
        name = part.text if part.type == "identifier" else ""
        if name in names.iterators or name in names.written:
            what = "an iterator" if name in names.iterators else f"'{name}', which the region sets"
            raise refuse(
                part, f"the size of a local array depends on {what}", "declare the array before the region"
            )
