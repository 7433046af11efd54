"""Calls in index expressions: min, max, floord, ceild, and functions and macros of the file.

And masks: `n & 3`, `n & ~3`, `~3u & n`.  In two's complement `x & (2^k - 1)` is the remainder r modulo 2^k,
and `x & -2^k`, or `x & ~(2^k - 1)`, is x - r.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from loopwright.c.casts import Ambiguous, expression_of
from loopwright.c.expression_types import common_type
from loopwright.c.file import mentioned
from loopwright.c.index_helpers import INDEX_HELPERS, divides_in_floating
from loopwright.c.macros import Macro, definitions, integer_text, looks_like_macro, with_arguments
from loopwright.c.references import parameter_name
from loopwright.c.syntax import (
    Node,
    field,
    is_atomic,
    named_children,
    operator,
    refuse,
    walk,
    without_parentheses,
)
from loopwright.c.types import Integer, is_unsigned, mask_of, promoted
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import number, variable, whole
from loopwright.read.c.frames import ACCEPTED, Frame, LocalValue, NotAffine
from loopwright.read.c.wraparound import (
    FrameTypes,
    cut_to,
    operands_from_zero,
    require_convertible,
    require_from_zero,
    type_in,
)


@dataclass(frozen=True)
class Evaluators:
    """The functions that read the arguments of a call."""

    affine: Callable[[Node, Frame], isl.PwAff]
    constant: Callable[[Node, Frame], int]


def index_call(node: Node, frame: Frame, read: Evaluators) -> isl.PwAff:
    """The value of min, max, floord, ceild; of a macro of the file; or of a macro that is a parameter."""
    setting = frame.setting
    function = field(node, "function")
    name = function.text
    arguments = named_children(field(node, "arguments"))
    if function.type == "parenthesized_expression":
        raise NotAffine(node, "the cast may change the value")
    found = definitions(setting.macros, name)
    try:
        if len(found) == 1 and not found[0].conditional and found[0].parameters is not None:
            known_form = _form(found[0]) if len(arguments) == 2 else None
            if known_form is not None and not is_unsigned(common_type(arguments, FrameTypes(frame))):
                return _index_helper(known_form, arguments, frame, read)
            return _expanded(node, found[0], arguments, frame, read)
        if (known := setting.function(name)) is not None and known.value is not None:
            return _returned(node, name, arguments, frame, read)
    except NotAffine:
        if not divides_in_floating(setting.file, name):
            raise
    is_known = name not in setting.file.function_names or divides_in_floating(setting.file, name)
    if name in INDEX_HELPERS and is_known and len(arguments) == 2:
        return _index_helper(name.strip("_").lower(), arguments, frame, read)
    if looks_like_macro(name) and not any(mentions_iterator(part, frame) for part in arguments):
        for argument in arguments:
            read.affine(argument, frame)
        return variable(parameter_name(node.text))
    raise NotAffine(node, f"what '{name}' returns is not known")


_SMALLER = re.compile(r"\((\()?\(0\)([<>])=?\(1\)(?(1)\))\?\(([01])\):\(([01])\)\)")
_ROUNDED = {
    "(((0)<z)?-((-(0)+(1)-u)/(1)):(0)/(1))": "floord",
    "(((0)<z)?-((-(0))/(1)):((0)+(1)-u)/(1))": "ceild",
}
"""The usual definitions, with 0 and 1 in place of their parameters, z and u in place of their numbers."""


def _form(macro: Macro) -> str | None:
    """The index function that a macro with two parameters computes, if its body has a usual form.

    The form decides, not the name: `#define least(a, b) ((a) < (b) ? (a) : (b))` is min.
    """
    if macro.parameters is None or len(set(macro.parameters)) != 2:
        return None
    words = {"0": "z", "1": "u", macro.parameters[0]: "0", macro.parameters[1]: "1"}
    body = "".join(re.sub(r"\w+", lambda word: words.get(word[0], "?"), macro.body).split())
    smaller = _SMALLER.fullmatch(body)
    if smaller is not None and smaller[3] != smaller[4]:
        return "min" if (smaller[2] == "<") == (smaller[3] == "0") else "max"
    return _ROUNDED.get(body)


def alternatives(node: Node, frame: Frame, kind: str) -> list[Node]:
    """The a, b and c of `min(a, min(b, c))`, if `kind` is "min"; otherwise the node itself.

    i <= min(a, b) is i <= a and i <= b: a single set, whereas min(a, b) has two pieces.
    """
    core = without_parentheses(node)
    if core.type != "call_expression":
        return [node]
    name = field(core, "function").text
    arguments = named_children(field(core, "arguments"))
    found = definitions(frame.setting.macros, name)
    if found:
        is_plain = len(found) == 1 and not found[0].conditional
        form = _form(found[0]) if is_plain else None
    else:
        is_helper = name in INDEX_HELPERS and name not in frame.setting.file.function_names
        form = name.strip("_").lower().removeprefix("i") if is_helper else None
    if form != kind or len(arguments) != 2 or is_unsigned(common_type(arguments, FrameTypes(frame))):
        return [node]
    return [part for argument in arguments for part in alternatives(argument, frame, kind)]


def _index_helper(name: str, arguments: list[Node], frame: Frame, read: Evaluators) -> isl.PwAff:
    first = read.affine(arguments[0], frame)
    if name in ("min", "imin", "max", "imax"):
        second = read.affine(arguments[1], frame)
        if is_unsigned(common_type(arguments, FrameTypes(frame))):
            require_from_zero(arguments[0], first, frame)
            require_from_zero(arguments[1], second, frame)
        return first.min(second) if "min" in name else first.max(second)
    divisor = read.constant(arguments[1], frame)
    if divisor <= 0:
        raise NotAffine(arguments[1], "it is not a positive constant")
    quotient = first.scale_down_val(whole(divisor))
    return quotient.floor() if name == "floord" else quotient.ceil()


def mentions_iterator(node: Node, frame: Frame) -> bool:
    return any(
        part.type == "identifier" and part.text in frame.setting.names.iterators for part in walk(node)
    )


PARENTHESES = "put parentheses around the body of the macro"


def called_expression(
    node: Node, frame: Frame, argument: Callable[[Node, Frame], isl.PwAff]
) -> tuple[Node, Frame] | None:
    """The expression that a macro or function of the file has in this call, and the frame to read it in."""
    name = field(node, "function").text
    arguments = named_children(field(node, "arguments"))
    found = definitions(frame.setting.macros, name)
    if len(found) == 1 and not found[0].conditional and found[0].parameters is not None:
        return _expansion(node, found[0], arguments, frame)
    function = frame.setting.function(name)
    if found or function is None or function.value is None:
        return None
    return _body(node, name, arguments, frame, argument)


def _expanded(node: Node, macro: Macro, arguments: list[Node], frame: Frame, read: Evaluators) -> isl.PwAff:
    """The value of a macro's body with the arguments substituted for its parameters."""
    value, inside = _expansion(node, macro, arguments, frame)
    try:
        return read.affine(value, inside)
    except NotAffine as failure:
        raise NotAffine(node, failure.reason, failure.hint) from None
    except BadInput as failure:
        raise refuse(
            node, f"in this macro: {failure.message}", failure.hint or ACCEPTED, failure.code
        ) from None


def _expansion(node: Node, macro: Macro, arguments: list[Node], frame: Frame) -> tuple[Node, Frame]:
    """A macro's body with the arguments substituted for its parameters.

    The body must be a single operand at the call; inside, the preprocessor's result is parsed as it is.  A
    macro does not expand inside itself.
    """
    parameters = macro.parameters or ()
    if len(parameters) != len(arguments):
        raise NotAffine(node, f"the macro has {len(parameters)} parameters")
    texts = [argument.text for argument in arguments]
    try:
        value = expression_of(with_arguments(macro, texts), frame.setting.kinds, texts, node.source.path)
    except Ambiguous as failure:
        raise NotAffine(node, f"in this macro, {failure}") from None
    if value is None or not is_atomic(value):
        raise NotAffine(node, "the macro is not an expression in parentheses", PARENTHESES)
    others = tuple(other for other in frame.setting.macros if other != macro)
    setting = replace(frame.setting, macros=others)
    return value, replace(frame, setting=setting)


def _returned(node: Node, name: str, arguments: list[Node], frame: Frame, read: Evaluators) -> isl.PwAff:
    """The value of a function of the file that consists of one `return` of integers."""
    value, inside = _body(node, name, arguments, frame, read.affine)
    try:
        return read.affine(value, inside)
    except NotAffine as failure:
        raise NotAffine(node, f"in '{name}', {failure.reason}", failure.hint) from None


def _body(
    node: Node, name: str, arguments: list[Node], frame: Frame, argument: Callable[[Node, Frame], isl.PwAff]
) -> tuple[Node, Frame]:
    """The expression that a function of the file returns, with its parameters bound to the arguments."""
    function = frame.setting.function(name)
    if (
        function is None
        or function.value is None
        or not function.is_integer
        or len(function.parameters) != len(arguments)
    ):
        raise NotAffine(node, f"what '{name}' returns is not known")
    for word, called in mentioned(function):
        if not called and not definitions(frame.setting.macros, word):
            raise NotAffine(node, f"'{name}' depends on '{word}', which may name another variable there")
    inner = frame
    for parameter, kind, given in zip(function.parameters, function.types, arguments, strict=True):
        inner = inner.bind(LocalValue(parameter, _as_kept(given, kind, frame, argument), type=kind))
    entered = frame.setting.entered | {name}
    inside = replace(inner, setting=replace(inner.setting, entered=entered))
    _refuse_cut(function.value, function.type, inside)
    return function.value, inside


def _as_kept(node: Node, kind: str, frame: Frame, argument: Callable[[Node, Frame], isl.PwAff]) -> isl.PwAff:
    """The value of an argument; raises NotAffine if a parameter of type `kind` may not hold it."""
    _refuse_cut(node, kind, frame)
    value = argument(node, frame)
    require_convertible(node, value, kind, frame)
    return value


def _refuse_cut(node: Node, kind: str, frame: Frame) -> None:
    if cut_to(node, FrameTypes(frame).written_type(kind), frame) is not None:
        raise NotAffine(node, f"the value may not fit '{kind}', the type in the head of the function")


def masked(node: Node, frame: Frame, read: Evaluators) -> isl.PwAff:
    """`x & mask` or `mask & x`, for a mask that keeps the lowest bits, or all others."""
    side, mask = _value_and_mask(node, frame, read)
    value = read.affine(side, frame)
    if mask >= 0 and not mask & (mask + 1):
        return value.mod_val(whole(mask + 1))
    if mask >= 0 or -mask & (-mask - 1):
        raise NotAffine(node, "this mask keeps other bits than the lowest, or all others")
    if side in operands_from_zero(node, frame):
        require_from_zero(side, value, frame)
    return value.sub(value.mod_val(whole(-mask)))


def _value_and_mask(node: Node, frame: Frame, read: Evaluators) -> tuple[Node, int]:
    """The operand that is not known, and the other one as a number with the same bits."""
    left, right = field(node, "left"), field(node, "right")
    try:
        value, mask, number_ = left, right, _bits(right, frame, read)
    except NotAffine:
        value, mask, number_ = right, left, _bits(left, frame, read)
    found = mask_of(number_, type_in(mask, frame), type_in(value, frame))
    if found is None:
        raise NotAffine(mask, "this is not known to be a signed number")
    return value, found


def _bits(node: Node, frame: Frame, read: Evaluators) -> int:
    """A mask as an integer modulo 2^w, where w is the width of its type: ~3u and -4u are -4."""
    core = without_parentheses(node)
    if core.type == "unary_expression" and operator(core) in ("~", "-"):
        inner = _bits(field(core, "argument"), frame, read)
        return -inner - (operator(core) == "~")
    magnitude = integer_text(core.text[1:]) if core.text.startswith("-") else None
    if core.type == "number_literal" and magnitude is not None:
        return -magnitude
    return read.constant(core, frame)


def inverted(node: Node, frame: Frame, read: Evaluators) -> isl.PwAff:
    """~x = -x - 1 of a signed number; the bits inverted in an unsigned one depend on its width."""
    kind = promoted(type_in(field(node, "argument"), frame))
    if not isinstance(kind, Integer) or not kind.signed:
        raise NotAffine(field(node, "argument"), "this is not known to be a signed number")
    return read.affine(field(node, "argument"), frame).neg().sub(number(1))
