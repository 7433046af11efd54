"""Translates the operations of arith and math, and affine expressions, to terms.

Integers that are affine in iterators and sizes are `Index` terms; so are comparisons of them, which are 0 or
1.  Operators are those of C if C has one that computes the same.  Any other operation is an uninterpreted
function: equal operands give equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from loopwright.c import types
from loopwright.loops import expressions as ex
from loopwright.loops.interpreter import evaluate
from loopwright.prove.equivalence.laws import chosen, combined, literal, negated
from loopwright.prove.equivalence.reading import converted
from loopwright.prove.equivalence.terms import Apply, CellTerm, Index, Term

WHOLE = (types.INT, types.LONG)
"""The integer types for which C's operators are used: C would promote the others."""
_INTEGERS = {
    1: types.BOOL,
    8: types.Integer(8, signed=True, rank=1),
    16: types.Integer(16, signed=True, rank=2),
    32: types.INT,
    64: types.LONG,
}
SMALL = (_INTEGERS[8], _INTEGERS[16])
"""The integer types that C promotes to int, which holds their sums and products, and then converts."""
ARITHMETIC = {
    "arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.divf": "/",
    "arith.addi": "+", "arith.subi": "-", "arith.muli": "*", "arith.divsi": "/", "arith.remsi": "%",
    "arith.andi": "&", "arith.ori": "|", "arith.xori": "^",
}  # fmt: skip
_WRAPPING = ("arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori")
CONVERSIONS = (
    "arith.extf", "arith.truncf", "arith.sitofp", "arith.fptosi", "arith.extsi", "arith.trunci",
    "arith.index_cast",
)  # fmt: skip
_SAME_NAMES = """
acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf exp expm1 floor log log10 log1p log2
sin sinh sqrt tan tanh trunc
"""
LIBRARY = {f"math.{name}": name for name in _SAME_NAMES.split()} | {
    "math.absf": "fabs", "math.powf": "pow", "arith.maxnumf": "fmax", "arith.minnumf": "fmin",
}  # fmt: skip
"""Functions of the C library; `maximumf`, which propagates NaNs, is a different one."""
SIGNED = ("eq", "ne", "slt", "sle", "sgt", "sge")
"""The predicates of arith.cmpi, by number; those after them are unsigned."""
UNSIGNED = 4
"""The distance from the number of an unsigned predicate to that of the signed one."""
RELATIONS = (ex.Relation.EQ, ex.Relation.NE, ex.Relation.LT, ex.Relation.LE, ex.Relation.GT, ex.Relation.GE)
ORDERED = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
"""The predicates of arith.cmpf that are operators of C: ordered ones, and `une`."""


POISON = "a poison value"
"""A cell that nothing writes: it may hold any value."""


def type_of(kind: Attribute) -> types.CType:
    """The C type with the same values and operations."""
    match kind:
        case Float64Type():
            return types.DOUBLE
        case Float32Type():
            return types.FLOAT
        case IndexType():
            return types.LONG
        case VectorType():
            return type_of(kind.element_type)
        case IntegerType():
            bits = kind.width.data
            return _INTEGERS.get(bits, types.Unknown("an integer of another width", f"i{bits}"))
        case _:
            return types.Unknown("a type of MLIR", str(kind))


def opaque(name: str, operands: Sequence[Term], kind: types.CType) -> Term:
    """An uninterpreted function."""
    return Apply(f"{name}()", tuple(operands), kind)


def is_opaque(operator: str) -> bool:
    """Whether an operator is a function of MLIR whose values are not known."""
    return operator.endswith("()") and "." in operator


def constant(operation: arith.ConstantOp) -> Term | None:
    """A number, or a vector of one number; None for others."""
    kind = type_of(operation.result.type)
    match operation.value:
        case IntegerAttr():
            whole = operation.value.value.data
            return Index(ex.Int(whole & 1 if kind == types.BOOL else whole), kind)
        case FloatAttr():
            return number(operation.value.value.data, kind)
        case DenseIntOrFPElementsAttr() as several if several.is_splat():
            (value,) = dict.fromkeys(several.get_values())
            return number(value, kind) if isinstance(value, float) else Index(ex.Int(value), kind)
        case _:
            return None


def number(value: float, kind: types.CType) -> Term:
    """A floating-point number as a term, in a canonical form; -0.0 is not 0."""
    if str(value).startswith("-"):
        return negated(literal(-value, kind))
    return literal(value, kind)


def computed(operation: Operation, operands: Sequence[Term]) -> Term | None:
    """The value of an operation with one result; None if it is not one of arith or math."""
    name = operation.name
    kind = type_of(operation.results[0].type) if operation.results else types.INT
    allowed = _allowances(operation)
    if allowed and not all(isinstance(one, Index) for one in operands):
        return opaque(f"{name} {allowed}", operands, types.INT if kind == types.BOOL else kind)
    match name:
        case "arith.negf":
            return negated(operands[0])
        case "vector.broadcast":
            return None if isinstance(operation.operands[0].type, VectorType) else operands[0]
        case "ub.poison":
            return CellTerm(POISON, (), kind)
        case "arith.select":
            return _selected(operands, kind)
        case _ if name in _OF_BITS and _is_bit(operation.operands[0].type):
            return converted(_whole(operands[0], _OF_BITS[name]), kind)
        case "arith.cmpi" if _is_bit(operation.operands[0].type):
            return _compared_bits(_predicate(operation), operands)
        case "arith.cmpi":
            return _compared_integers(_predicate(operation), operands)
        case "arith.cmpf":
            return _compared_numbers(_predicate(operation), operands)
        case "arith.extui" if not isinstance(operands[0], Index) and operands[0].type in _INTEGERS.values():
            return converted(_unsigned(operands[0]), kind)
        case _ if name in CONVERSIONS:
            return _converted(name, operands[0], kind)
        case _ if name in LIBRARY and isinstance(kind, types.Floating):
            return opaque(LIBRARY[name] + ("f" if kind == types.FLOAT else ""), operands, kind)
        case _ if name.startswith("arith.") and all(isinstance(one, Index) for one in operands):
            exact = _affine(name, [one for one in operands if isinstance(one, Index)], kind, allowed)
            if exact is None and allowed:
                return opaque(f"{name} {allowed}", operands, kind)
            return exact or _arithmetic(name, operands, kind)
        case _ if name.startswith(("arith.", "math.")):
            return _arithmetic(name, operands, kind)
        case _:
            return None


def _allowances(operation: Operation) -> str:
    """The flags of an operation of arith or math: `fastmath`, `nsw`, a rounding mode.

    They permit the compiler to compute another value, or an undefined one: a different function.
    """
    if not operation.name.startswith(("arith.", "math.")):
        return ""
    said = {**operation.attributes, **operation.properties}
    texts = {name: str(value) for name, value in sorted(said.items()) if name not in ("predicate", "value")}
    return " ".join(f"{name}={text}" for name, text in texts.items() if not text.endswith("<none>"))


def _arithmetic(name: str, operands: Sequence[Term], kind: types.CType) -> Term:
    if name in ARITHMETIC and (isinstance(kind, types.Floating) or kind in WHOLE) and len(operands) == 2:
        return combined(ARITHMETIC[name], operands[0], operands[1], kind)
    if name in _WRAPPING and kind in SMALL:
        whole = [converted(one, types.INT) for one in operands]
        return converted(combined(ARITHMETIC[name], whole[0], whole[1], types.INT), kind)
    return opaque(name, operands, kind)


def _predicate(operation: Operation) -> int:
    found = operation.properties.get("predicate", operation.attributes.get("predicate"))
    assert isinstance(found, IntegerAttr)
    return int(found.value.data)


def truth(test: ex.Test) -> Index:
    """1 where the test holds, else 0."""
    return Index(ex.Select(test, ex.Int(1), ex.Int(0)), types.INT)


def tested(value: Term) -> ex.Test | None:
    """The test of a truth value; None for one of data."""
    match value:
        case Index(ex.Select(test, ex.Int(1), ex.Int(0))):
            return test
        case Index(value=expression):
            return ex.Compare(ex.Relation.NE, expression, ex.Int(0))
        case _:
            return None


_OF_BITS = {
    "arith.extsi": -1, "arith.sitofp": -1, "arith.index_cast": -1,
    "arith.extui": 1, "arith.uitofp": 1, "arith.index_castui": 1,
}  # fmt: skip
"""The value of a set bit after a conversion: in a signed type it is -1."""


def _is_bit(kind: Attribute) -> bool:
    return type_of(kind) == types.BOOL


def _whole(bit: Term, value: int) -> Term:
    """`value` if a truth value is true, else 0."""
    return _selected((bit, Index(ex.Int(value), types.INT), Index(ex.Int(0), types.INT)), types.INT)


def _compared_bits(predicate: int, operands: Sequence[Term]) -> Term:
    """Compares bits as signed numbers, -1 and 0, or unsigned ones, 1 and 0."""
    is_signed = predicate < len(SIGNED)
    numbers = [_whole(one, -1 if is_signed else 1) for one in operands]
    return _compared_integers(predicate if is_signed else predicate - UNSIGNED, numbers)


def _compared_integers(predicate: int, operands: Sequence[Term]) -> Term:
    left, right = operands
    if isinstance(left, Index) and isinstance(right, Index) and predicate < len(SIGNED):
        return truth(ex.Compare(RELATIONS[predicate], left.value, right.value))
    if left.type not in WHOLE or any(isinstance(one, Index) for one in operands if predicate >= len(SIGNED)):
        return opaque(f"arith.cmpi{predicate}", operands, types.INT)
    if predicate >= len(SIGNED):
        return _compared(RELATIONS[predicate - UNSIGNED].value, _unsigned(left), _unsigned(right))
    return _compared(RELATIONS[predicate].value, left, right)


def _unsigned(value: Term) -> Term:
    """An integer as the unsigned one with the same bits."""
    assert isinstance(value.type, types.Integer)
    return converted(value, replace(value.type, signed=False))


def _compared_numbers(predicate: int, operands: Sequence[Term]) -> Term:
    left, right = operands
    if predicate not in ORDERED:
        return opaque(f"arith.cmpf{predicate}", operands, types.INT)
    return _compared(ORDERED[predicate], left, right)


def _compared(name: str, left: Term, right: Term) -> Term:
    """A comparison; a > b becomes b < a."""
    if name.startswith(">"):
        return Apply(name.replace(">", "<"), (right, left), types.INT)
    return Apply(name, (left, right), types.INT)


def _selected(operands: Sequence[Term], kind: types.CType) -> Term:
    condition, then, orelse = operands
    match then, orelse:
        case Index(one), Index(other) if (test := tested(condition)) is not None and one != other:
            return Index(ex.Select(test, one, other), kind)
    return chosen(condition, then, orelse, kind)


def _converted(name: str, value: Term, kind: types.CType) -> Term:
    if types.BOOL in (value.type, kind):
        return opaque(name, (value,), kind)
    return converted(value, kind)


def _affine(name: str, operands: Sequence[Index], kind: types.CType, allowed: str) -> Term | None:
    """The integer operation as an expression, if it is one; sizes are assumed not to overflow."""
    if len(operands) != 2:
        return None
    if kind == types.BOOL:
        tests = [test for one in operands if (test := tested(one)) is not None]
        match name:
            case "arith.andi":
                return truth(ex.And(tuple(tests)))
            case "arith.ori":
                return truth(ex.Or(tuple(tests)))
            case "arith.xori" if operands[1].value in (ex.Int(1), ex.Int(-1)):
                return truth(ex.Not(tests[0]))
            case _:
                return None
    made = _expression(name, [one.value for one in operands])
    if made is None or not isinstance(kind, types.Integer) or kind not in WHOLE:
        return None
    if not all(isinstance(one.value, ex.Int) for one in operands):
        return Index(made, kind)
    value = evaluate(made, {})
    wrapped = _wrapped(value, kind)
    return None if allowed and value != wrapped else Index(ex.Int(wrapped), kind)


def _wrapped(value: int, kind: types.Integer) -> int:
    """An integer wrapped around to the width of a type, as by operations of arith."""
    return (value - kind.least) % (1 << kind.bits) + kind.least


def _expression(name: str, values: Sequence[ex.Expr]) -> ex.Expr | None:
    left, right = values
    match name, left, right:
        case "arith.addi", _, _:
            return ex.Sum((left, right))
        case "arith.subi", _, _:
            return ex.Sum((left, ex.Scaled(-1, right)))
        case "arith.muli", ex.Int(factor), _:
            return ex.Scaled(factor, right)
        case "arith.muli", _, ex.Int(factor):
            return ex.Scaled(factor, left)
        case "arith.divsi", _, ex.Int(divisor) if divisor > 0:
            return ex.TruncDiv(left, divisor)
        case "arith.remsi", _, ex.Int(divisor) if divisor > 0:
            return ex.Rem(left, divisor)
        case "arith.floordivsi", _, ex.Int(divisor) if divisor > 0:
            return ex.FloorDiv(left, divisor)
        case "arith.ceildivsi", _, ex.Int(divisor) if divisor > 0:
            return ex.FloorDiv(ex.Sum((left, ex.Int(divisor - 1))), divisor)
        case "arith.minsi", _, _:
            return ex.Min((left, right))
        case "arith.maxsi", _, _:
            return ex.Max((left, right))
        case _:
            return None


def at(map_: AffineMap, values: Sequence[ex.Expr]) -> tuple[ex.Expr, ...] | None:
    """The results of a map for these dimensions and symbols; None if one is a product or quotient of them."""
    found = [expression(one, values[: map_.num_dims], values[map_.num_dims :]) for one in map_.results]
    known = tuple(one for one in found if one is not None)
    return known if len(known) == len(found) else None


_QUOTIENTS: dict[AffineBinaryOpKind, Callable[[ex.Expr, int], ex.Expr]] = {
    AffineBinaryOpKind.FloorDiv: ex.FloorDiv,
    AffineBinaryOpKind.CeilDiv: lambda one, by: ex.FloorDiv(ex.Sum((one, ex.Int(by - 1))), by),
    AffineBinaryOpKind.Mod: lambda one, by: ex.Sum((one, ex.Scaled(-by, ex.FloorDiv(one, by)))),
}


def expression(affine: AffineExpr, dims: Sequence[ex.Expr], symbols: Sequence[ex.Expr]) -> ex.Expr | None:
    """An affine expression for these dimensions and symbols; None for products and quotients of them."""
    match affine:
        case AffineConstantExpr(value):
            return ex.Int(value)
        case AffineDimExpr(position):
            return dims[position]
        case AffineSymExpr(position):
            return symbols[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left, right = expression(lhs, dims, symbols), expression(rhs, dims, symbols)
            if left is None or right is None:
                return None
            match kind, left, right:
                case AffineBinaryOpKind.Add, _, _:
                    return ex.Sum((left, right))
                case AffineBinaryOpKind.Mul, ex.Int(by), other:
                    return ex.Scaled(by, other)
                case AffineBinaryOpKind.Mul, other, ex.Int(by):
                    return ex.Scaled(by, other)
                case _, _, ex.Int(by) if by > 0 and kind in _QUOTIENTS:
                    return _QUOTIENTS[kind](left, by)
    return None
