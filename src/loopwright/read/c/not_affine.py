"""The answer that an expression is not affine, and how it becomes a diagnostic."""

from __future__ import annotations

from loopwright.c.syntax import Node, refuse
from loopwright.errors import BadInput, Code
from loopwright.read.c.frames import Frame

ACCEPTED = (
    "accepted: sums of iterators and parameters with constant factors, / and % by constants, "
    "min, max, floord, ceild, and c ? a : b"
)


class NotAffine(Exception):
    """`node` is not a quasi-affine expression, because of `reason`; `hint` is what to do about it."""

    def __init__(self, node: Node, reason: str, hint: str = ACCEPTED) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason
        self.hint = hint


def not_affine(frame: Frame, failure: NotAffine, what: str) -> BadInput:
    """The diagnostic for an expression that has to be affine."""
    return refuse(
        failure.node,
        f"{what} must be affine in the iterators and parameters, but {failure.reason}",
        failure.hint,
        code=Code.NOT_AFFINE,
    )
