"""Integer constants of C that hold what they say on every machine.

An `int` may have 32 bits.  A constant that leaves it no room for arithmetic is written as a
`long long`, and a program that has one keeps its iterators in `long long`s.
"""

from __future__ import annotations

from loopwright.errors import BadInput, Code
from loopwright.loops.expressions import FloorDiv, Int, Rem, Scaled, TruncDiv
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import Term, subprograms, subterms, terms

INT_ROOM = 2**30
"""Constants below this can be added in an `int`."""

LONG_LONG_MAX = 2**63 - 1


def literal(value: int) -> str:
    """`value` as C writes it; a negative one begins with a minus sign."""
    if abs(value) <= INT_ROOM:
        return str(value)
    if -LONG_LONG_MAX <= value <= LONG_LONG_MAX:
        return f"{value}LL"
    if value == -LONG_LONG_MAX - 1:
        return f"(-{LONG_LONG_MAX}LL - 1)"
    raise BadInput(
        Code.TOO_LARGE,
        f"the constant {value} does not fit in the 64 bits of C's long long",
        hint="scale the sets down: no C program can hold this value",
    )


def is_wide(node: Node) -> bool:
    """Whether `node` has a constant that `int` iterators should not be used with."""
    return any(abs(value) > INT_ROOM for part in subprograms(node) for value in _constants(part))


def _constants(node: Node) -> tuple[int, ...]:
    own = (node.step,) if isinstance(node, For) else ()
    return own + tuple(value for term in terms(node) for part in subterms(term) for value in _constant(part))


def _constant(term: Term) -> tuple[int, ...]:
    match term:
        case Int(value):
            return (value,)
        case Scaled(factor):
            return (factor,)
        case FloorDiv(_, divisor) | TruncDiv(_, divisor) | Rem(_, divisor):
            return (divisor,)
        case _:
            return ()
