"""How the gate says no: at a node of the typed tree, with a hint."""

from __future__ import annotations

from loopwright.c.typed.tree import Node
from loopwright.errors import BadInput, Code


def refuse(node: Node, message: str, hint: str) -> BadInput:
    """The error for a piece of the user's text, to be raised."""
    return BadInput(Code.REGION_TEXT, message, span=node.place.span, hint=hint)
