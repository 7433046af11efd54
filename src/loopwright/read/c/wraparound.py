"""Unsigned numbers in index expressions: where their value in C differs from the intended integer.

Sums and products of unsigned numbers are correct modulo 2^w, so `i - j + j` is i for all i and j.  A
negative value matters only if such a number is compared, divided, or widened: `i - 5 < n` with an unsigned n
does not hold for i = 0, and -1 < n does not hold at all.  There it must be nonnegative.  For an expression
of sizes only this is assumed, and listed (`trust`); for one with iterators, and in an `if` on sizes, it is
proved, or the expression is not affine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import islpy as isl

from loopwright.c.expression_types import COMPARISONS, integer_type
from loopwright.c.macros import definitions
from loopwright.c.syntax import Node, field, operator
from loopwright.c.types import CType, Integer, Unknown, common, holds, is_unsigned, literal_type, promoted
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import everywhere, names_of, number, parameter_values, variable
from loopwright.read.c.frames import Frame, NotAffine
from loopwright.read.c.names import Setting


@dataclass(frozen=True)
class FrameTypes:
    """The types of the names at a place; unknown if a declaration was not found."""

    frame: Frame

    def name_type(self, name: Node) -> CType:
        setting, text = self.frame.setting, name.text
        local = self.frame.local(text)
        if local is not None:
            return self.written_type(local.type)
        loop = next((loop for loop in reversed(self.frame.loops) if loop.iterator == text), None)
        if loop is not None:
            return self.written_type(loop.type)
        bodies = [macro.body.strip("() ") for macro in definitions(setting.macros, text)]
        if len(bodies) == 1 and bodies[0][:1].isdigit():
            return literal_type(bodies[0])
        declared = setting.declarations.visible(text, setting.region)
        if declared is None:
            return Unknown(f"no declaration of '{text}' was seen")
        return self.written_type(declared.type)

    def member_type(self, member: Node) -> CType:
        return Unknown(f"'{member.text}' cannot be read as an integer expression")

    def result_type(self, function: str) -> CType | None:
        found = self.frame.setting.function(function)
        return None if found is None else self.written_type(found.type)

    def written_type(self, text: str) -> CType:
        return self.frame.setting.kinds.written_type(text, certain=False)


def type_in(node: Node, frame: Frame) -> CType:
    """The type of an index expression in C."""
    text = node.text
    if text not in frame.types:
        frame.types[text] = integer_type(node, FrameTypes(frame))
    return frame.types[text]


def operands_from_zero(node: Node, frame: Frame) -> Iterator[Node]:
    """The operands of a comparison, a division or a sum that must be nonnegative."""
    sides = {side: type_in(side, frame) for side in (field(node, "left"), field(node, "right"))}
    kind = reduce(common, map(promoted, sides.values()))
    divides = operator(node) in ("/", "%", *COMPARISONS)
    for side, own in sides.items():
        if (divides and is_unsigned(kind)) or is_widened(own, kind):
            yield side


def is_widened(narrow: CType, wide: CType) -> bool:
    """Whether an unsigned number is widened, which makes a negative value wrong."""
    given = promoted(narrow)
    is_wider = isinstance(given, Integer) and isinstance(wide, Integer) and given.bits < wide.bits
    return is_wider and is_unsigned(given)


def cut_to(node: Node, target: CType, frame: Frame) -> Integer | None:
    """The narrower type that `node` is converted to, such as int for `(int)n` of a long; None if it is not.

    An unsigned type of the same width has the same value modulo 2^w, which is checked where it is used.
    """
    given = promoted(type_in(node, frame))
    if not isinstance(given, Integer) or not isinstance(target, Integer) or holds(target, given):
        return None
    return None if is_unsigned(target) and target.bits >= given.bits else target


def require_convertible(node: Node, value: isl.PwAff, target: str, frame: Frame) -> None:
    """Raise if `value`, that of `node`, may change in an assignment to a variable of type `target`."""
    kind = FrameTypes(frame).written_type(target)
    if is_unsigned(kind) or is_widened(type_in(node, frame), kind):
        require_from_zero(node, value, frame)


def facts_of_types(setting: Setting, names: Iterable[str]) -> isl.Set:
    """The constraints that types put on variables which the region does not modify."""
    types, facts = FrameTypes(Frame(setting, everywhere())), everywhere()
    for name in names:
        declared = setting.declarations.visible(name, setting.region)
        is_fixed = name not in setting.names.written and name not in setting.names.iterators
        if declared is None or declared.rank > 0 or not is_fixed:
            continue
        if is_unsigned(types.written_type(declared.type)):
            facts = facts.intersect(variable(name).ge_set(number(0)))
    return facts


def require_from_zero(node: Node, value: isl.PwAff, frame: Frame, *, of_sizes: bool = False) -> None:
    """Raise if `value`, that of `node`, may be negative in some iteration; in a test, `of_sizes` too."""
    if not depends_on_iterators(value, frame) and not (frame.in_test and of_sizes):
        return
    below = frame.known().intersect(value.lt_set(number(0)))
    if not below.is_empty():
        text = " ".join(node.text.split())
        raise NotAffine(
            node,
            f"'{text}' is an unsigned number here, and may be below 0: {_example(below)}",
            "cast the unsigned side to a signed type, or state what keeps it above: --assume",
        )


def depends_on_iterators(value: isl.PwAff, frame: Frame) -> bool:
    return not set(frame.iterators).isdisjoint(names_of(value))


def _example(points: isl.Set) -> str:
    """Values of the names for which it happens."""
    values = parameter_values(points.sample_point())
    return ", ".join(f"{name} = {values[name]}" for name in names_of(points))
