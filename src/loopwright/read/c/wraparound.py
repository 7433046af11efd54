"""Unsigned numbers in index expressions: where C's value is not the integer that was meant.

Sums and products of unsigned numbers are right modulo 2^w, so `i - j + j` is i whatever i and j are.
What is below 0 shows where such a number is compared, divided, or made wider: `i - 5 < n` with
an unsigned n does not hold for i = 0, and -1 < n does not hold at all.  There it has to be at
least 0.  Of an expression of sizes alone that is believed, and listed (`trust`); of one with
iterators it is proved, or the expression is not affine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from loopwright.c.macros import definitions
from loopwright.c.syntax import Node, field, named_children, operator, without_parentheses
from loopwright.c.types import (
    INTEGERS,
    UNKNOWN,
    common,
    is_unsigned,
    known_type,
    literal_type,
    promoted,
)
from loopwright.presburger.named import PARAM, everywhere, number, variable
from loopwright.read.c.frames import Frame
from loopwright.read.c.names import Setting
from loopwright.read.c.not_affine import NotAffine

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def integer_type(node: Node, frame: Frame) -> str:
    """The type C gives an index expression; `UNKNOWN` where a name's declaration was not seen."""
    node = without_parentheses(node)
    match node.type:
        case "number_literal":
            return literal_type(node.text)
        case "sizeof_expression":
            return "unsigned long"
        case "cast_expression":
            return _resolved(field(node, "type").text, frame)
        case "update_expression":
            return integer_type(field(node, "argument"), frame)
        case "unary_expression":
            inner = integer_type(field(node, "argument"), frame)
            return "int" if operator(node) == "!" else promoted(inner)
        case "binary_expression" if operator(node) in (*COMPARISONS, "&&", "||"):
            return "int"
        case "binary_expression":
            left, right = (integer_type(field(node, side), frame) for side in ("left", "right"))
            return promoted(left) if operator(node) in ("<<", ">>") else common(left, right)
        case "conditional_expression":
            return common(
                *(integer_type(field(node, side), frame) for side in ("consequence", "alternative"))
            )
        case "call_expression":
            return _type_of_call(node, frame)
        case "identifier":
            return _type_of_name(node, frame)
        case _:
            return UNKNOWN


def _type_of_call(node: Node, frame: Frame) -> str:
    """That of a function of the file; a macro like `min` is taken to have that of its arguments."""
    function = frame.setting.function(field(node, "function").text)
    if function is not None:
        return _resolved(function.type, frame)
    kinds = [integer_type(part, frame) for part in named_children(field(node, "arguments"))]
    return common(*kinds) if len(kinds) == 2 else UNKNOWN


def _type_of_name(node: Node, frame: Frame) -> str:
    setting = frame.setting
    name = node.text
    local = frame.local(name)
    if local is not None:
        return _resolved(local.type, frame)
    loop = next((loop for loop in reversed(frame.loops) if loop.iterator == name), None)
    if loop is not None:
        return _resolved(loop.type, frame)
    bodies = [macro.body.strip("() ") for macro in definitions(setting.macros, name)]
    if len(bodies) == 1 and bodies[0][:1].isdigit():
        return literal_type(bodies[0])
    declared = setting.declarations.visible(name, setting.region)
    return UNKNOWN if declared is None else _resolved(declared.type, frame)


def _resolved(text: str, frame: Frame) -> str:
    """The arithmetic type a text is, through the typedefs and macros of the file."""
    declarations = frame.setting.declarations
    text = declarations.resolved(text)
    for word in text.split():
        found = definitions(frame.setting.macros, word)
        if len(found) == 1 and found[0].parameters is None:
            text = declarations.resolved(text.replace(word, found[0].body))
    return known_type(text)


def operands_from_zero(node: Node, frame: Frame) -> Iterator[Node]:
    """The operands of a comparison, a division or a sum that must not be below 0."""
    left, right = field(node, "left"), field(node, "right")
    kind = common(integer_type(left, frame), integer_type(right, frame))
    if kind not in INTEGERS:
        return
    divides = operator(node) in ("/", "%", *COMPARISONS)
    for side in (left, right):
        if (divides and not INTEGERS[kind].signed) or is_widened(integer_type(side, frame), kind):
            yield side


def is_widened(narrow: str, wide: str) -> bool:
    """Whether an unsigned number gets more bits, which are not those it would have below 0."""
    source, target = INTEGERS.get(promoted(narrow)), INTEGERS.get(wide)
    return source is not None and target is not None and not source.signed and source.bits < target.bits


def require_convertible(node: Node, value: isl.PwAff, target: str, frame: Frame) -> None:
    """Raise where `value`, that of `node`, may change when a variable of type `target` is given it."""
    kind = _resolved(target, frame)
    if is_unsigned(kind) or is_widened(integer_type(node, frame), kind):
        require_from_zero(node, value, frame)


def facts_of_types(setting: Setting, names: Iterable[str]) -> isl.Set:
    """What the types of variables that the region leaves alone say of their values."""
    frame, facts = Frame(setting, everywhere()), everywhere()
    for name in names:
        declared = setting.declarations.visible(name, setting.region)
        is_fixed = name not in setting.names.written and name not in setting.names.iterators
        if declared is None or declared.rank > 0 or not is_fixed:
            continue
        if is_unsigned(_resolved(declared.type, frame)):
            facts = facts.intersect(variable(name).ge_set(number(0)))
    return facts


def require_from_zero(node: Node, value: isl.PwAff, frame: Frame) -> None:
    """Raise where `value`, that of `node`, may be below 0 for some iteration."""
    if not _depends_on_iterators(value, frame):
        return
    below = frame.known().intersect(value.lt_set(number(0)))
    if not below.is_empty():
        text = " ".join(node.text.split())
        raise NotAffine(
            node,
            f"'{text}' is an unsigned number here, and may be below 0: {_example(below)}",
            "cast the unsigned side to a signed type, or state what keeps it above: --assume",
        )


def _depends_on_iterators(value: isl.PwAff, frame: Frame) -> bool:
    places = [value.find_dim_by_name(PARAM, iterator) for iterator in frame.iterators]
    return any(place >= 0 and value.involves_dims(PARAM, place, 1) for place in places)


def _example(points: isl.Set) -> str:
    """Values of the names for which it happens."""
    point = points.sample_point()
    involved = [k for k in range(points.dim(PARAM)) if points.involves_dims(PARAM, k, 1)]
    values = [f"{points.get_dim_name(PARAM, k)} = {point.get_coordinate_val(PARAM, k)}" for k in involved]
    return ", ".join(values)
