"""Integer expressions of the typed tree as functions of iterators and parameters, with C's conversions.

Signed arithmetic is assumed not to overflow, which is listed.  An unsigned number is correct modulo 2^w if
it is only added and multiplied; if it is compared, divided or widened, it must not be negative.  An
expression that is not a function of iterators and parameters is `Unclear`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from operator import add, mul, sub

import islpy as isl

from loopwright.c.index_helpers import INDEX_HELPERS
from loopwright.c.references import expression_name, parameter_name
from loopwright.c.typed import tree
from loopwright.c.typed.members import root_and_path
from loopwright.c.types import CType, Enumeration, Integer, Unknown, unqualified
from loopwright.presburger.named import COMPARED, constant_value, number, select, variable, whole
from loopwright.presburger.polynomials import ZERO, Polynomial, as_affine, of_affine
from loopwright.read.c.second.idioms import Extreme, Quotient, bits, idiom_of
from loopwright.read.c.second.scope import Scope, Unclear, integer_of, is_element, is_value, mentions_iterator

_DEEPEST_CALLS = 8


def affine(node: tree.Expression, scope: Scope) -> isl.PwAff:
    """The value of an integer expression."""
    if (name := parameter_of(node, scope)) is not None:
        return variable(name)
    match node:
        case tree.Number(value=int(value)) | tree.SizeOf(value=int(value)):
            return number(value)
        case tree.Name():
            return _named(node, scope)
        case tree.Cast():
            return _converted(node, scope)
        case tree.Unary(operator="-"):
            return _whole(node, affine(node.operand, scope).neg())
        case tree.Unary(operator="+"):
            return affine(node.operand, scope)
        case tree.Unary(operator="~") if _is_signed(node):
            return affine(node.operand, scope).neg().sub(number(1))
        case tree.Unary(operator="!"):
            return select(condition(node, scope), number(1), number(0))
        case tree.Binary(operator=op) if op in COMPARED or op in ("&&", "||"):
            return select(condition(node, scope), number(1), number(0))
        case tree.Binary():
            return _arithmetic(node, scope)
        case tree.Conditional():
            return _chosen(node, scope)
        case tree.CallExpression():
            return _called(node, scope)
    raise Unclear(node, "it depends on data")


def _chosen(node: tree.Conditional, scope: Scope) -> isl.PwAff:
    match idiom_of(node):
        case Extreme(is_least=is_least, first=first, second=second):
            values = affine(first, scope), affine(second, scope)
            return values[0].min(values[1]) if is_least else values[0].max(values[1])
        case Quotient(is_down=is_down, dividend=dividend, divisor=divisor):
            size = numeric(divisor, scope)
            if size is not None and size > 0:
                quotient = affine(dividend, scope).scale_down_val(whole(size))
                return quotient.floor() if is_down else quotient.ceil()
    holds = condition(node.test, scope)
    then = affine(node.then, scope.where(holds))
    return select(holds, then, affine(node.otherwise, scope.where(holds.complement())))


def condition(node: tree.Expression, scope: Scope) -> isl.Set:
    """The set where a test holds."""
    match tree.without_casts(node):
        case tree.Binary(operator=op, left=left, right=right) if op in COMPARED:
            sides = [[left], [right]]
            if op not in ("==", "!="):
                is_less = op[0] == "<"
                sides = [
                    alternatives(left, scope, is_least=not is_less),
                    alternatives(right, scope, is_least=is_less),
                ]
            lefts, rights = ([_natural(part, scope) for part in side] for side in sides)
            pairs = [COMPARED[op](one, other) for one in lefts for other in rights]
            return reduce(isl.Set.intersect, pairs)
        case tree.Binary(operator="&&", left=left, right=right):
            first = condition(left, scope)
            return first.intersect(condition(right, scope.where(first)))
        case tree.Binary(operator="||", left=left, right=right):
            first = condition(left, scope)
            return first.union(condition(right, scope.where(first.complement())))
        case tree.Unary(operator="!", operand=operand):
            return condition(operand, scope).complement()
        case other:
            return affine(other, scope).ne_set(number(0))


def _natural(node: tree.Expression, scope: Scope) -> isl.PwAff:
    """The value of an operand of a comparison."""
    value = affine(node, scope)
    _require_natural(node, value, scope)
    return value


def alternatives(node: tree.Expression, scope: Scope, *, is_least: bool) -> list[tree.Expression]:
    """a and b if a node is their minimum, or else their maximum: i <= a and i <= b is a single set."""
    core = tree.without_casts(node)
    parts: tuple[tree.Expression, ...] = ()
    if parameter_of(core, scope) is None:
        match core:
            case tree.Conditional():
                found = idiom_of(core)
                if isinstance(found, Extreme) and found.is_least == is_least:
                    parts = (found.first, found.second)
            case tree.CallExpression(callee=callee, arguments=(first, second)) if callee is not None:
                name = callee.name.strip("_").lower().removeprefix("i")
                is_named = callee.name in INDEX_HELPERS and callee.offset not in scope.facts.functions
                is_named &= all((k := integer_of(x.type)) is not None and k.signed for x in (first, second))
                if is_named and name == ("min" if is_least else "max"):
                    parts = (first, second)
    return [one for part in parts for one in alternatives(part, scope, is_least=is_least)] or [node]


def polynomial(node: tree.Expression, scope: Scope) -> Polynomial:
    """The value of an integer expression that may multiply parameters and iterators."""
    if parameter_of(node, scope) is None:
        match node:
            case tree.Name(declaration=declared) if declared.offset in scope.bound:
                return scope.bound[declared.offset]
            case tree.Cast(operand=operand) if _is_wide(node.type) and _is_wide(operand.type):
                return polynomial(operand, scope)
            case tree.Unary(operator="-", operand=operand):
                return ZERO.plus(polynomial(operand, scope), -1)
            case tree.Binary(operator="+" | "-" | "*" as op, left=left, right=right) if _is_wide(node.type):
                first, second = polynomial(left, scope), polynomial(right, scope)
                return first.times(second) if op == "*" else first.plus(second, 1 if op == "+" else -1)
            case tree.CallExpression() if (inside := _inside(node, scope)) is not None:
                return polynomial(*inside)
    return of_affine(affine(node, scope))


def numeric(node: tree.Expression, scope: Scope) -> int | None:
    """The value of a constant expression, with macros and enumerators replaced by their values."""
    plain = replace(scope, facts=replace(scope.facts, parameters=frozenset()))
    try:
        return constant_value(affine(node, plain))
    except Unclear:
        return None


def parameter_of(node: tree.Expression, scope: Scope) -> str | None:
    """The parameter that a node is as a whole: a macro, a member, a call of an unknown macro."""
    is_macro = scope.facts.is_macro(node.place)
    callee = node.callee if isinstance(node, tree.CallExpression) else None
    is_unknown = callee is not None and callee.storage is tree.Storage.UNDECLARED
    is_computed = scope.in_head and (isinstance(node, tree.Binary) or is_element(node))
    if not (is_macro or is_unknown or isinstance(node, tree.MemberAccess) or is_computed):
        return None
    text = scope.facts.text_of(node.place)
    name = text if text.isidentifier() else parameter_name(text)
    if is_computed and name not in scope.facts.parameters:
        name = expression_name(text)
    return name if name in scope.facts.parameters and _is_fixed(node, scope) else None


def _is_fixed(node: tree.Expression, scope: Scope) -> bool:
    """Whether an expression is invariant in the region."""
    for part in tree.walk(node):
        if isinstance(part, tree.Name):
            offset = part.declaration.offset
            if offset in scope.facts.written or offset in scope.iterators or offset in scope.bound:
                return False
        if is_element(part):
            root, path = root_and_path(part)
            if root is None or (root.offset, path) in scope.facts.changed:
                return False
    return True


def _named(node: tree.Name, scope: Scope) -> isl.PwAff:
    declared = node.declaration
    if declared.offset in scope.iterators:
        return variable(scope.iterators[declared.offset])
    if declared.offset in scope.bound:
        value = as_affine(scope.bound[declared.offset], scope.facts.values)
        if value is None:
            raise Unclear(node, "it multiplies two things that are not constant")
        return value
    known = scope.facts.values.get(declared.name, declared.value)
    if known is not None and declared.name not in scope.facts.parameters:
        return number(known)
    if declared.offset in scope.facts.written:
        raise Unclear(node, "it changes in the region")
    if not isinstance(unqualified(declared.type), Integer | Enumeration | Unknown):
        raise Unclear(node, "it is not an integer")
    if scope.facts.meaning.get(declared.name, declared.offset) != declared.offset:
        raise Unclear(node, f"'{declared.name}' is another variable in the region")
    return variable(declared.name)


def _is_wide(kind: CType) -> bool:
    found = integer_of(kind)
    return isinstance(unqualified(kind), Unknown) or (found is not None and found.bits >= 32)


def _converted(node: tree.Cast, scope: Scope) -> isl.PwAff:
    """A conversion between integers; raises unless it preserves the value."""
    target, source = integer_of(node.type), integer_of(node.operand.type)
    if isinstance(unqualified(node.operand.type), Unknown) and target is not None and target.bits >= 32:
        return affine(node.operand, scope)
    if target is None or source is None:
        raise Unclear(node, "the conversion may change the value")
    value = affine(node.operand, scope)
    if target.bits == 1:
        return select(value.ne_set(number(0)), number(1), number(0))
    if source.bits < target.bits and not source.signed and source.bits >= 32:
        _require_natural(node.operand, value, scope)
    is_inside = source.least >= target.least and source.greatest <= target.greatest
    if target.bits < 32 and not is_inside:
        within = value.ge_set(number(target.least)).intersect(value.le_set(number(target.greatest)))
        is_inside = scope.domain.is_subset(within)
        is_believed = node.is_implicit and not mentions_iterator(value, scope)
        if not is_inside and (not is_believed or scope.domain.is_disjoint(within)):
            raise Unclear(node, "the conversion may change the value")
    return value


def _require_natural(node: tree.Expression, value: isl.PwAff, scope: Scope) -> None:
    """Raise if an unsigned number whose value matters may be negative.  For sizes only, this is assumed if
    the reader lists it, unless the conversion is explicit.
    """
    kind = integer_of(node.type)
    if kind is None or kind.signed or kind.bits < 32:
        return
    if scope.domain.intersect(value.lt_set(number(0))).is_disjoint(scope.facts.ranges):
        return
    is_listed = scope.facts.listed.intersect(scope.domain).is_disjoint(value.lt_set(number(0)))
    if mentions_iterator(value, scope) or _converts(tree.without_casts(node)) or not is_listed:
        hint = "a number below 0 is a very large one then: rule it out, as in --assume 'n >= 0'"
        raise Unclear(node, "this unsigned number may be below 0", hint)


def _converts(node: tree.Expression) -> bool:
    """Whether an explicit cast makes a signed number unsigned."""
    if not isinstance(node, tree.Cast):
        return False
    inner, outer = integer_of(node.operand.type), integer_of(node.type)
    return inner is not None and outer is not None and inner.signed and not outer.signed


def _arithmetic(node: tree.Binary, scope: Scope) -> isl.PwAff:
    op = node.operator
    match op:
        case "+" | "-":
            first, second = affine(node.left, scope), affine(node.right, scope)
            value = first.add(second) if op == "+" else first.sub(second)
        case "*":
            value = _product(node, scope)
        case "/" | "%":
            value = _division(node, scope)
        case "<<" | ">>" | "&":
            value = bits(node, scope, affine, numeric)
        case _:
            raise Unclear(node, "it is not affine")
    _require_fitting(node, scope)
    return value


def _require_fitting(node: tree.Binary, scope: Scope) -> None:
    """Raise if a constant expression overflows, as its type is too small."""
    kind = integer_of(node.type)
    storage = {part.declaration.storage for part in tree.walk(node) if isinstance(part, tree.Name)}
    if kind is None or storage - {tree.Storage.ENUMERATOR}:
        return
    left, right = numeric(node.left, scope), numeric(node.right, scope)
    if left is None or right is None or node.operator not in _EXACT:
        return
    if not kind.least <= _EXACT[node.operator](left, right) <= kind.greatest:
        raise Unclear(node, "its value does not fit into its type")


_EXACT: Mapping[str, Callable[[int, int], int]] = {"+": add, "-": sub, "*": mul}


def _product(node: tree.Binary, scope: Scope) -> isl.PwAff:
    for factor, other in ((node.left, node.right), (node.right, node.left)):
        if is_value(other) and _is_wide(other.type) and numeric(factor, scope) == 0:
            return number(0)
    for factor, other in ((node.left, node.right), (node.right, node.left)):
        value = constant_value(affine(factor, scope))
        if value is not None:
            return affine(other, scope).scale_val(whole(value))
    for factor, other in ((node.left, node.right), (node.right, node.left)):
        value = numeric(factor, scope)
        if value is not None:
            return affine(other, scope).scale_val(whole(value))
    raise Unclear(node, "it multiplies two things that are not constant")


def _division(node: tree.Binary, scope: Scope) -> isl.PwAff:
    """Division towards zero, as in C; for nonnegative operands this is rounding down."""
    left, divisor = affine(node.left, scope), numeric(node.right, scope)
    _require_natural(node.left, left, scope)
    if divisor is None or divisor == 0:
        raise Unclear(node, "it divides by something that is not constant")
    _whole(node.right, number(divisor))
    size = number(abs(divisor))
    if node.operator == "%":
        return left.tdiv_r(size)
    return left.tdiv_q(size) if divisor > 0 else left.tdiv_q(size).neg()


def _whole(node: tree.Expression, value: isl.PwAff) -> isl.PwAff:
    """A value; raises if it is a negative unsigned number, such as -1u."""
    kind = integer_of(node.type)
    if (constant_value(value) or 0) < 0 and kind is not None and not kind.signed:
        raise Unclear(node, "this unsigned number is below 0")
    return value


def _is_signed(node: tree.Expression) -> bool:
    kind = integer_of(node.type)
    return kind is not None and kind.signed


def _called(node: tree.CallExpression, scope: Scope) -> isl.PwAff:
    """min, max, floord and ceild by name; functions of the file by their `return`."""
    inside = _inside(node, scope)
    if inside is not None:
        try:
            return affine(*inside)
        except Unclear:
            if node.callee is None or node.callee.name not in INDEX_HELPERS:
                raise
    if node.callee is None or node.callee.name not in INDEX_HELPERS or len(node.arguments) != 2:
        raise Unclear(node, "what this call returns is not known")
    name = node.callee.name.strip("_").lower()
    first = affine(node.arguments[0], scope)
    if "min" in name or "max" in name:
        second = affine(node.arguments[1], scope)
        for argument, value in zip(node.arguments, (first, second), strict=True):
            _require_natural(argument, value, scope)
        return first.min(second) if "min" in name else first.max(second)
    divisor = numeric(node.arguments[1], scope)
    if divisor is None or divisor <= 0:
        raise Unclear(node, "it divides by something that is not a positive constant")
    quotient = first.scale_down_val(whole(divisor))
    return quotient.floor() if name == "floord" else quotient.ceil()


def _inside(node: tree.CallExpression, scope: Scope) -> tuple[tree.Expression, Scope] | None:
    """The expression that a function of the file returns, if it does nothing else."""
    function = None if node.callee is None else scope.facts.functions.get(node.callee.offset)
    if function is None or function.problems or scope.depth >= _DEEPEST_CALLS:
        return None
    statements = function.body.statements
    if len(statements) != 1 or not isinstance(statements[0], tree.Return):
        return None
    value = statements[0].value
    if value is None or len(function.parameters) != len(node.arguments):
        return None
    bound = dict(scope.bound)
    for parameter, argument in zip(function.parameters, node.arguments, strict=True):
        try:
            bound[parameter.offset] = polynomial(argument, scope)
        except Unclear:
            return None
    return value, replace(scope, bound=bound, depth=scope.depth + 1)
