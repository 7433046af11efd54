"""C expressions as quasi-affine functions of iterators and parameters, with C's arithmetic.

`/` and `%` round towards zero, as in C.  Expressions that are not affine raise `NotAffine` with the place and
the reason; whether that is fatal depends on the context.
"""

from __future__ import annotations

from functools import reduce

import islpy as isl

from loopwright.c.casts import expression_of
from loopwright.c.declarations import is_floating_type, is_integer_type
from loopwright.c.expression_types import constant_value as constant_value_of
from loopwright.c.macros import definitions, integer_text
from loopwright.c.references import expression_name, parameter_name, reference_of
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
from loopwright.c.types import is_unsigned
from loopwright.errors import Code
from loopwright.presburger.named import COMPARED, constant_value, number, select, variable, whole
from loopwright.read.c.frames import ACCEPTED, Frame, LocalValue, NotAffine
from loopwright.read.c.index_calls import (
    PARENTHESES,
    Evaluators,
    alternatives,
    index_call,
    inverted,
    masked,
    mentions_iterator,
)
from loopwright.read.c.names import is_counted_inside
from loopwright.read.c.wraparound import (
    depends_on_iterators,
    is_widened,
    operands_from_zero,
    require_from_zero,
    type_in,
)


def affine(node: Node, frame: Frame) -> isl.PwAff:
    """The integer expression `node` as a function of the names in scope."""
    text = node.text
    if text not in frame.affine_values:
        frame.affine_values[text] = _affine_here(node, frame)
    return frame.affine_values[text]


def _affine_here(node: Node, frame: Frame) -> isl.PwAff:
    """The value of an expression; in the head of a loop, an invariant non-affine one is a parameter."""
    if not frame.in_head:
        return _affine(node, frame)
    try:
        return _affine(node, frame)
    except NotAffine:
        if node.type == "number_literal" or not is_unchanging(node, frame):
            raise
        return variable(expression_name(node.text))


def _affine(node: Node, frame: Frame) -> isl.PwAff:
    match node.type:
        case "number_literal":
            return number(_integer(node, node.text))
        case "identifier":
            return _named(node, frame)
        case "parenthesized_expression":
            return affine(_only_child(node), frame)
        case "unary_expression" if operator(node) == "-":
            return _negated(node, frame)
        case "unary_expression" if operator(node) == "+":
            return affine(field(node, "argument"), frame)
        case "unary_expression" if operator(node) == "~":
            return inverted(node, frame, Evaluators(affine, constant))
        case "cast_expression":
            return _cast(node, frame)
        case "binary_expression" if operator(node) in "+-*/%":
            return _arithmetic(node, frame)
        case "binary_expression" if operator(node) in ("<<", ">>"):
            return _shifted(node, frame)
        case "binary_expression" if operator(node) == "&":
            return masked(node, frame, Evaluators(affine, constant))
        case "char_literal" | "sizeof_expression":
            return _known(node, frame)
        case "true" | "false":
            return number(1 if node.type == "true" else 0)
        case "binary_expression" | "unary_expression" if operator(node) in (*COMPARED, "&&", "||", "!"):
            return select(condition(node, frame), number(1), number(0))
        case "conditional_expression":
            return _choice(node, frame)
        case "call_expression":
            return index_call(node, frame, Evaluators(affine, constant))
        case "field_expression":
            return _field(node, frame)
        case "subscript_expression" | "pointer_expression":
            raise NotAffine(node, "it depends on data")
        case _:
            raise NotAffine(node, "it is not an affine expression")


def condition(node: Node, frame: Frame) -> isl.Set:
    """The values for which the test `node` holds."""
    match node.type:
        case "parenthesized_expression":
            return condition(_only_child(node), frame)
        case "binary_expression" if operator(node) in COMPARED:
            return _compared(node, frame)
        case "binary_expression" if operator(node) == "&&":
            left = condition(field(node, "left"), frame)
            return left.intersect(condition(field(node, "right"), frame.where(left)))
        case "binary_expression" if operator(node) == "||":
            left = condition(field(node, "left"), frame)
            return left.union(condition(field(node, "right"), frame.where(left.complement()))).coalesce()
        case "unary_expression" if operator(node) == "!":
            return condition(field(node, "argument"), frame).complement()
        case _:
            return affine(node, frame).ne_set(number(0))


def _compared(node: Node, frame: Frame) -> isl.Set:
    """The set where a comparison holds; `a < min(b, c)` is split into its parts, which must all hold."""
    name = operator(node)
    kinds = {"<": ("max", "min"), ">": ("min", "max")}.get(name.removesuffix("="))
    if kinds is not None and name != "==" and not any(operands_from_zero(node, frame)):
        sides = [
            [affine(part, frame) for part in alternatives(field(node, side), frame, kind)]
            for side, kind in zip(("left", "right"), kinds, strict=True)
        ]
        if len(sides[0]) + len(sides[1]) > 2:
            pairs = [COMPARED[name](one, other) for one in sides[0] for other in sides[1]]
            return reduce(isl.Set.intersect, pairs)
    return COMPARED[name](*_operands(node, frame))


def constant(node: Node, frame: Frame) -> int:
    """The value of a constant; names that the file defines as one integer count."""
    value = constant_value(affine(node, with_constants(node, frame)))
    if value is None:
        raise NotAffine(node, "the value of this is not known")
    return value


def with_constants(node: Node, frame: Frame) -> Frame:
    """The frame in which the constants of the file in `node` are bound to their values."""
    for part in walk(node):
        name = part.text if part.type == "identifier" else ""
        known = frame.setting.constant(name)
        if known is not None and frame.value(name) is None and name not in frame.iterators:
            frame = frame.bind(LocalValue(name, number(known)))
    return frame


def _integer(node: Node, text: str) -> int:
    value = integer_text(text)
    if value is None:
        raise NotAffine(node, "this number is not an integer, or is below 0 and unsigned")
    if value >= 1 << 63:
        raise NotAffine(node, "this number does not fit into 64 bits")
    return value


def _known(node: Node, frame: Frame) -> isl.PwAff:
    value = constant_value_of(node, frame.setting.kinds, frame.setting.region)
    if value is None:
        raise NotAffine(node, f"the value of '{node.text}' is not known")
    return number(value)


def _only_child(node: Node) -> Node:
    children = named_children(node)
    if len(children) != 1:
        raise NotAffine(node, "it is not an affine expression")
    return children[0]


def _named(node: Node, frame: Frame) -> isl.PwAff:
    """The value of an identifier: an iterator, a local integer, or a parameter."""
    setting = frame.setting
    name = node.text
    local = frame.local(name)
    if local is not None:
        if local.value is None:
            raise NotAffine(node, f"the value of '{name}' multiplies two things that are not constant")
        return local.value
    if name in frame.iterators:
        return variable(name)
    if setting.kinds.is_type(name):
        raise NotAffine(node, f"'{name}' is a type")
    if name in setting.names.iterators and is_counted_inside(node, name, setting.whole):
        raise NotAffine(node, f"'{name}' is the iterator of a loop that is kept whole")
    if name in setting.names.iterators:
        raise refuse(
            node,
            f"'{name}' is the iterator of another loop, and is read outside it",
            "write the value itself: the value of an iterator after its loop is not tracked",
        )
    if name in setting.names.written:
        raise NotAffine(
            node,
            f"'{name}' is written in the region, so it is not a parameter",
            f"end the region before '{name}' changes, or use another variable",
        )
    if setting.names.ranks.get(name, 0) > 0:
        raise NotAffine(node, f"'{name}' is an array")
    if name in setting.names.untracked:
        raise NotAffine(node, f"the value of '{name}' cannot be followed")
    for macro in definitions(setting.macros, name):
        value_ = expression_of(macro.body, setting.kinds)
        if value_ is None or not is_atomic(value_):
            raise NotAffine(node, f"the macro '{name}' is not an expression in parentheses", PARENTHESES)
    declared = setting.declarations.visible(name, setting.region)
    if declared is not None and is_floating_type(setting.declarations.resolved(declared.type)):
        raise NotAffine(node, f"'{name}' is a '{declared.type}', not an integer")
    return variable(name)


def _cast_type(node: Node) -> str:
    return field(node, "type").text


def _cast(node: Node, frame: Frame) -> isl.PwAff:
    kind = _cast_type(node)
    if not is_integer_type(frame.setting.declarations.resolved(kind)):
        raise NotAffine(node, f"the cast to '{kind}' may change the value")
    inner = field(node, "value")
    value = affine(inner, frame)
    if is_widened(type_in(inner, frame), type_in(node, frame)):
        require_from_zero(inner, value, frame)
    return value


def _negated(node: Node, frame: Frame) -> isl.PwAff:
    inner = affine(field(node, "argument"), frame)
    if (constant_value(inner) or 0) > 0 and is_unsigned(type_in(node, frame)):
        raise NotAffine(node, "this is below 0, and is converted to an unsigned type")
    return inner.neg()


def _arithmetic(node: Node, frame: Frame) -> isl.PwAff:
    name = operator(node)
    if name in "/%":
        return _division(node, frame)
    if name == "*":
        return _product(node, frame)
    first, second = _operands(node, frame)
    return first.add(second) if name == "+" else first.sub(second)


def _operands(node: Node, frame: Frame) -> tuple[isl.PwAff, isl.PwAff]:
    """The values of both operands as C computes them."""
    values = {side: affine(side, frame) for side in (field(node, "left"), field(node, "right"))}
    has_iterators = any(depends_on_iterators(one, frame) for one in values.values())
    of_sizes = operator(node) in COMPARED and not has_iterators
    for side in operands_from_zero(node, frame):
        require_from_zero(side, values[side], frame, of_sizes=of_sizes)
    left, right = values.values()
    return left, right


def _product(node: Node, frame: Frame) -> isl.PwAff:
    """A product: one factor must be constant; macros count only if the other factor is not."""
    left, right = field(node, "left"), field(node, "right")
    for factor, other in ((left, right), (right, left)):
        value = constant_value(affine(factor, frame))
        if value is not None:
            return _scaled(affine(other, frame), value)
    for factor, other in ((left, right), (right, left)):
        if not mentions_iterator(factor, frame):
            try:
                return _scaled(affine(other, frame), constant(factor, frame))
            except NotAffine:
                continue
    raise NotAffine(node, "it multiplies two things that are not constant")


def _scaled(value: isl.PwAff, factor: int) -> isl.PwAff:
    return value.scale_val(whole(factor))


def _division(node: Node, frame: Frame) -> isl.PwAff:
    """C's quotient or remainder; a plain floor or modulo if the dividend is known to be nonnegative."""
    dividend = affine(field(node, "left"), frame)
    divisor = constant(field(node, "right"), frame)
    if divisor == 0:
        raise refuse(node, "this divides by zero", ACCEPTED, code=Code.NOT_AFFINE)
    for side in operands_from_zero(node, frame):
        if side == field(node, "left"):
            require_from_zero(side, dividend, frame)
        elif divisor < 0:
            raise NotAffine(side, "this is below 0, and is converted to an unsigned type")
    size = whole(abs(divisor))
    never_negative = frame.known().intersect(dividend.lt_set(number(0))).is_empty()
    if operator(node) == "%":
        return dividend.mod_val(size) if never_negative else dividend.tdiv_r(number(abs(divisor)))
    quotient = (
        dividend.scale_down_val(size).floor() if never_negative else dividend.tdiv_q(number(abs(divisor)))
    )
    return quotient if divisor > 0 else quotient.neg()


def _shifted(node: Node, frame: Frame) -> isl.PwAff:
    """Shifts by constants."""
    left, right = affine(field(node, "left"), frame), constant(field(node, "right"), frame)
    if not 0 <= right < 31:
        raise NotAffine(node, "a shift by this amount is undefined")
    if operator(node) == "<<":
        return _scaled(left, 1 << right)
    if not frame.known().intersect(left.lt_set(number(0))).is_empty():
        raise NotAffine(node, "this may shift a negative number")
    return left.scale_down_val(whole(1 << right)).floor()


def _choice(node: Node, frame: Frame) -> isl.PwAff:
    test = condition(field(node, "condition"), frame)
    then = affine(field(node, "consequence"), frame.where(test))
    return select(test, then, affine(field(node, "alternative"), frame.where(test.complement())))


def _field(node: Node, frame: Frame) -> isl.PwAff:
    """The parameter that `s.n` or `p->n` is, if nothing in the region modifies it."""
    setting = frame.setting
    reference = reference_of(node)
    if reference is None or reference.subscripts:
        raise NotAffine(node, "it depends on data")
    root = reference.root.text
    changed = bool({reference.base, root} & (setting.names.written | setting.names.untracked))
    if changed or setting.names.ranks.get(reference.base, 0) > 0 or root in setting.names.iterators:
        raise NotAffine(node, "it depends on data")
    return variable(parameter_name(node.text))


_UNCHANGING = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")


def is_unchanging(node: Node, frame: Frame) -> bool:
    """Whether an integer expression is invariant in the region: `h * w`, `grid_points[0]`, `*n`."""
    core = without_parentheses(node)
    match core.type:
        case "number_literal":
            value = integer_text(core.text)
            return value is not None and value < 1 << 31
        case "binary_expression" if operator(core) in _UNCHANGING:
            return all(is_unchanging(field(core, side), frame) for side in ("left", "right"))
        case "cast_expression" if is_integer_type(frame.setting.declarations.resolved(_cast_type(core))):
            return is_unchanging(field(core, "value"), frame)
        case "identifier" | "field_expression":
            local = frame.local(core.text)
            if core.text in frame.iterators or local is not None:
                return False
            try:
                _affine(core, frame)
            except NotAffine:
                return False
            return True
        case "subscript_expression":
            return _is_unchanging_element(core, frame)
        case "pointer_expression" if operator(core) == "*":
            is_plain = without_parentheses(field(core, "argument")).type == "identifier"
            return is_plain and _is_unchanging_element(core, frame)
        case _:
            return False


def _is_unchanging_element(node: Node, frame: Frame) -> bool:
    """Whether the region does not modify an element, and its subscripts are invariant."""
    setting = frame.setting
    reference = reference_of(node)
    if reference is None or reference.partial or reference.elsewhere:
        return False
    root = reference.root.text
    names = setting.names
    if {reference.base, root} & (names.written | names.iterators | names.untracked):
        return False
    if definitions(setting.macros, root) or setting.kinds.is_type(root) or frame.local(root) is not None:
        return False
    declared = setting.declarations.visible(reference.base, setting.region)
    if declared is not None and not is_integer_type(setting.declarations.resolved(declared.type)):
        return False
    terms = [term for subscript in reference.subscripts for term in subscript]
    return len(reference.subscripts) > 0 and all(is_unchanging(term, frame) for term in terms)
