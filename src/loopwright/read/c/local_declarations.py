"""What cannot be declared in a region: what outlives its block, points elsewhere, or changes size."""

from __future__ import annotations

from loopwright.c.syntax import Node, refuse, walk
from loopwright.read.c.frames import Frame


def refuse_pointers(declarator: Node, frame: Frame) -> None:
    """What is reached through a local pointer would be another name for an array."""
    for part in walk(declarator):
        if part.type == "pointer_declarator":
            raise refuse(
                part,
                "a pointer declared in a region cannot be followed",
                "use the array it points into",
            )


def sizes_in(declarator: Node) -> list[Node]:
    """The expressions between the brackets of `double t[n][4]`."""
    found = [part.child_by_field_name("size") for part in walk(declarator) if part.type == "array_declarator"]
    return [size for size in found if size is not None]


def refuse_changing_size(size: Node, frame: Frame) -> None:
    """A local array is declared once, in front of the region: its size must be known there."""
    names = frame.setting.names
    for part in walk(size):
        name = part.text if part.type == "identifier" else ""
        if name in names.iterators or name in names.written:
            what = "an iterator" if name in names.iterators else f"'{name}', which the region sets"
            raise refuse(
                part,
                f"the size of a local array depends on {what}",
                "declare the array before the region",
            )


def refuse_specifiers(node: Node, frame: Frame) -> None:
    """A local lives while its block runs, and nobody else sees it."""
    for part in node.children:
        word = part.text
        lasts = part.type == "storage_class_specifier" and word not in ("register", "auto")
        if lasts or word == "volatile":
            raise refuse(
                part,
                f"a variable that is '{word}' cannot be declared in a region",
                "declare it before the region",
            )
