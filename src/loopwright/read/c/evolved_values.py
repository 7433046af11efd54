"""The values of integers and pointers of a function at an expression, as sums of products.

A value is an `IntegerSum`, or an `ElementPointer`; None if it is unknown.  It contains only variables that
keep their values, or whose values are known themselves, so that the C text of a value means the same
everywhere in the scope of its names.

The file also has helpers for the parts of loops in the typed tree, and the variables that expressions modify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from loopwright.c.sums import ZERO, Atom, IntegerSum
from loopwright.c.typed import tree
from loopwright.c.types import ArrayType, CType, Integer, Pointer, is_observed, unqualified
from loopwright.lazy_dataclass import dataclass

_OPAQUE = ("/", "%", ">>", "&", "<", "<=", ">", ">=", "==", "!=", "&&", "||")
_INT = 3
_MOST_FACTORS = 3


@dataclass(frozen=True)
class ElementPointer:
    """The pointer `&base[s]..[s]`, with as many subscripts as lead to an object of type `element`."""

    base: Atom
    """A variable, or another pointer or array that keeps its value, as spelled in C."""
    subscripts: tuple[IntegerSum, ...]
    element: CType

    def moved(self, by: IntegerSum) -> ElementPointer | None:
        """The pointer moved by some elements; None for rows, as a pointer does not move between rows."""
        return replace(self, subscripts=(self.last.plus(by),)) if len(self.subscripts) == 1 else None

    @property
    def numbers(self) -> tuple[IntegerSum, ...]:
        return self.subscripts

    def with_numbers(self, numbers: tuple[IntegerSum, ...]) -> ElementPointer:
        return replace(self, subscripts=numbers)

    @property
    def about(self) -> frozenset[int]:
        return frozenset(self.base.about).union(*(one.about for one in self.subscripts))

    @property
    def row(self) -> str:
        """C for the pointer, up to the last subscript."""
        return self.base.text + "".join(f"[{one}]" for one in self.subscripts[:-1])

    @property
    def last(self) -> IntegerSum:
        return self.subscripts[-1]

    def is_near(self, other: ElementPointer) -> bool:
        """Whether two pointers differ at most in their last subscripts."""
        return self.base == other.base and self.subscripts[:-1] == other.subscripts[:-1]


Value: TypeAlias = IntegerSum | ElementPointer
Lookup: TypeAlias = Callable[[tree.Declaration | tree.Expression], "Value | None"]
"""The value of a variable, or of another part of an expression; None if unknown, or it may change."""


def is_signed(kind: CType, least: int = _INT) -> bool:
    """Whether a type is `int` or a wider signed type."""
    core = unqualified(kind)
    return isinstance(core, Integer) and core.signed and core.rank >= least


def rank_of(kind: CType) -> int:
    core = unqualified(kind)
    return core.rank if isinstance(core, Integer) else -1


def is_beyond(value: Value | None, kind: CType) -> bool:
    """Whether a value is a number that its type does not hold, so that computing it is undefined."""
    core = unqualified(kind)
    number = value.constant if isinstance(value, IntegerSum) and isinstance(core, Integer) else None
    return number is not None and isinstance(core, Integer) and not core.least <= number <= core.greatest


def element_of(kind: CType) -> tuple[CType, int] | None:
    """The element type of a pointer or an array of numbers, and the number of subscripts to it."""
    core, depth = unqualified(kind), 0
    while isinstance(core, Pointer | ArrayType):
        inner = core.target if isinstance(core, Pointer) else core.element
        if (isinstance(core, Pointer) and depth) or is_observed(inner):
            return None
        core, depth = unqualified(inner), depth + 1
    return (core, depth) if depth else None


def own_value(one: tree.Declaration) -> Value | None:
    """A variable as its own value; None if other code may modify it."""
    return in_words(one.name, one.type, (one.offset,))


def in_words(text: str, kind: CType, about: Iterable[int]) -> Value | None:
    """A value spelled in C that depends on these declarations; None if other code may modify it."""
    if is_observed(kind):
        return None
    if is_signed(kind):
        return IntegerSum.atom(text, about)
    found = element_of(kind)
    base = Atom(text, tuple(sorted(set(about))))
    return None if found is None else ElementPointer(base, (ZERO,) * found[1], found[0])


def value_of(node: tree.Expression, lookup: Lookup) -> Value | None:
    """The value of an expression without side effects."""
    match node:
        case tree.Number(value=int(value), text=text) if text.isdigit() and is_signed(node.type):
            return IntegerSum.number(value)
        case tree.Name(declaration=declared):
            return lookup(declared)
        case tree.MemberAccess():
            return lookup(node)
        case tree.Cast(operand=operand):
            return _converted(node, operand, lookup)
        case tree.Unary(operator="-" | "+" as sign, operand=operand) if is_signed(node.type):
            inner = _number(operand, lookup)
            return inner if inner is None or sign == "+" else ZERO.minus(inner)
        case tree.Unary(operator="~", operand=tree.Number(value=int(value), text=text)) if text.isdigit():
            return IntegerSum.number(-value - 1) if is_signed(node.type) else None
        case tree.Unary(operator="&", operand=operand):
            return _location(tree.without_casts(operand), lookup)
        case tree.Subscript() if isinstance(unqualified(node.type), ArrayType):
            return _location(node, lookup)
        case tree.Subscript() if isinstance(unqualified(node.type), Pointer):
            return lookup(node)
        case tree.Binary(operator="+" | "-" | "*"):
            found = _computed(node, lookup)
            is_pointer = isinstance(unqualified(node.type), Pointer)
            return lookup(node) if found is None and is_pointer else found
        case tree.Binary(operator=operator) if operator in _OPAQUE and is_signed(node.type):
            return _opaque(node, (node.left, node.right), lookup)
        case tree.Conditional() if is_signed(node.type):
            return _opaque(node, (node.test, node.then, node.otherwise), lookup)
    return None


def _converted(node: tree.Cast, operand: tree.Expression, lookup: Lookup) -> Value | None:
    """The value of a conversion that preserves every number, or of one between pointers to the same type.

    What is computed in fewer bits stays so, as one factor: `n * m` of `long t = n * m`.
    """
    inner = value_of(operand, lookup)
    match inner:
        case IntegerSum():
            ranks = rank_of(operand.type), rank_of(node.type)
            if not is_signed(operand.type) or not is_signed(node.type) or ranks[0] > ranks[1]:
                return None
            is_computed = ranks[0] < ranks[1] and inner.constant is None and not inner.is_atom
            return IntegerSum.atom(inner.operand, inner.about) if is_computed else inner
        case ElementPointer():
            found = element_of(node.type)
            is_same = found is not None and found[0] == inner.element
            return inner if is_same and node.is_implicit else None
    return None


def _number(node: tree.Expression, lookup: Lookup) -> IntegerSum | None:
    found = value_of(node, lookup)
    return found if isinstance(found, IntegerSum) else None


def _computed(node: tree.Binary, lookup: Lookup) -> Value | None:
    left, right = value_of(node.left, lookup), value_of(node.right, lookup)
    match left, node.operator, right:
        case IntegerSum(), "+", IntegerSum() if is_signed(node.type):
            return _short(left.plus(right))
        case IntegerSum(), "-", IntegerSum() if is_signed(node.type):
            return _short(left.minus(right))
        case IntegerSum(), "*", IntegerSum() if is_signed(node.type):
            return _short(left.times(right))
        case ElementPointer(), "+" | "-" as sign, IntegerSum() if is_signed(node.right.type):
            return left.moved(right if sign == "+" else ZERO.minus(right))
        case IntegerSum(), "+", ElementPointer() if is_signed(node.left.type):
            return right.moved(left)
    return None


def _short(found: IntegerSum) -> IntegerSum | None:
    is_long = found.is_long or any(len(product) > _MOST_FACTORS for product, _ in found.terms)
    return None if is_long else found


def _location(node: tree.Expression, lookup: Lookup) -> ElementPointer | None:
    """The address of an element of a one-dimensional array, or of the start of a row of another one."""
    if not isinstance(node, tree.Subscript):
        return None
    index = _number(node.index, lookup)
    inner = tree.without_casts(node.base)
    outer = _location(inner, lookup) if isinstance(inner, tree.Subscript) else value_of(inner, lookup)
    reached = element_of(inner.type)
    if index is None or not isinstance(outer, ElementPointer) or reached is None:
        return None
    if not is_signed(node.index.type):
        return None
    at = len(outer.subscripts) - reached[1]
    if at < 0 or (at == len(outer.subscripts) - 1 and at > 0 and index != ZERO):
        return None
    given = [*outer.subscripts]
    given[at] = given[at].plus(index)
    return replace(outer, subscripts=tuple(given))


def _opaque(node: tree.Expression, parts: tuple[tree.Expression, ...], lookup: Lookup) -> IntegerSum | None:
    """Any other expression of known numbers, as C text."""
    found = [value_of(one, lookup) for one in parts]
    values = [one for one in found if isinstance(one, IntegerSum)]
    if len(values) < len(found) or not all(is_signed(one.type) for one in parts):
        return None
    about = frozenset[int]().union(*(one.about for one in values))
    texts = [one.operand if one.has_no_parts else one.widened_operand for one in values]
    match node:
        case tree.Binary(operator="/" | "%") if (values[1].constant or 0) < 1:
            return None  # where it is undefined, so is the original assignment
        case tree.Binary(operator=">>") if values[1].constant not in range(31):
            return None
        case tree.Binary(operator="&"):
            return _masked(values[0], values[1])
        case tree.Binary(operator=operator):
            return IntegerSum.atom(f"({texts[0]} {operator} {texts[1]})", about)
        case _:
            return IntegerSum.atom(f"({texts[0]} ? {texts[1]} : {texts[2]})", about)


def _masked(left: IntegerSum, right: IntegerSum) -> IntegerSum | None:
    """`n & 3` as C text, which the readers support; `n & ~3` is `n - (n & 3)`."""
    mask = right.constant
    if mask is None:
        return None
    bits = mask if mask >= 0 else -mask - 1
    if not bits or bits.bit_count() != bits.bit_length():
        return None
    low = IntegerSum.atom(f"({left.operand} & {bits})", left.about)
    return low if mask >= 0 else left.minus(low)


_LOOPS = ("WHILE_STMT", "DO_STMT")


def parts_of(
    loop: tree.Node | None,
) -> tuple[tree.Node | None, tree.Expression, tree.Node | None, tree.Statement] | None:
    """The initialiser, test, step and body of a loop that tests first."""
    match loop:
        case tree.ForStatement(first=first, test=test, step=step, body=body) if test is not None:
            return first, test, step, body
        case tree.OtherStatement(kind="WHILE_STMT", parts=(test, body)) if isinstance(test, tree.Expression):
            if isinstance(body, tree.Expression):
                return None, test, None, tree.Evaluate(body.place, body)
            if isinstance(body, tree.Statement):
                return None, test, None, body
    return None


def steps_of(step: tree.Node) -> list[tree.Expression]:
    """The parts of `i++, p++`."""
    if isinstance(step, tree.Binary) and step.operator == ",":
        return [*steps_of(step.left), *steps_of(step.right)]
    return [step] if isinstance(step, tree.Expression) else []


def moved_variable(node: tree.Node) -> tree.Declaration | None:
    """The variable that an expression modifies."""
    if not isinstance(node, tree.Update | tree.Assign):
        return None
    target = tree.without_casts(node.target)
    return target.declaration if isinstance(target, tree.Name) else None


def step_of(node: tree.Node) -> int | None:
    """By how much an expression moves a pointer."""
    match node:
        case tree.Update(operator=operator):
            return 1 if operator == "++" else -1
        case tree.Assign(operator="+=" | "-=" as operator, value=value):
            core = tree.without_casts(value)
            if isinstance(core, tree.Number) and core.value is not None and core.text.isdigit():
                return core.value if operator == "+=" else -core.value
    return None


def loops_around(
    loop: tree.Node, nodes: Sequence[tree.Node]
) -> list[tree.ForStatement | tree.OtherStatement]:
    """The loops around a loop, from the innermost to the outermost."""
    found = [
        node
        for node in nodes
        if (
            isinstance(node, tree.ForStatement)
            or (isinstance(node, tree.OtherStatement) and node.kind in _LOOPS)
        )
        and node.place.first < loop.place.first
        and node.place.end >= loop.place.end
    ]
    return sorted(found, key=lambda one: -one.place.first)
