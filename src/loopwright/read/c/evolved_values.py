"""What integers and pointers of a function are where an expression is evaluated, as sums of products.

A value is an `IntegerSum`, or an `ElementPointer`; None where it is not known.  Only variables that keep
their values, or whose values are known themselves, are in it, so that the text of a value means the same
wherever its names do.

After that come the parts of loops of the typed reading, and the variables that expressions change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from loopwright.c.sums import ZERO, IntegerSum
from loopwright.c.typed import tree
from loopwright.c.types import ArrayType, CType, Integer, Pointer, is_observed, unqualified
from loopwright.lazy_dataclass import dataclass

_OPAQUE = ("/", "%", ">>", "&", "<", "<=", ">", ">=", "==", "!=", "&&", "||")
_INT = 3
_MOST_FACTORS = 3


@dataclass(frozen=True)
class ElementPointer:
    """`&base[s]..[s]`, as many subscripts as it takes to get to a number of type `element`."""

    base: tree.Declaration
    subscripts: tuple[IntegerSum, ...]
    element: CType

    def moved(self, by: IntegerSum) -> ElementPointer | None:
        """So many elements further; rows are not left, and no row is gone to from another."""
        return replace(self, subscripts=(self.last.plus(by),)) if len(self.subscripts) == 1 else None

    @property
    def numbers(self) -> tuple[IntegerSum, ...]:
        return self.subscripts

    def with_numbers(self, numbers: tuple[IntegerSum, ...]) -> ElementPointer:
        return replace(self, subscripts=numbers)

    @property
    def about(self) -> frozenset[int]:
        return frozenset((self.base.offset,)).union(*(one.about for one in self.subscripts))

    @property
    def row(self) -> str:
        """A text that is the pointer, as far as the last subscript goes."""
        return self.base.name + "".join(f"[{one}]" for one in self.subscripts[:-1])

    @property
    def last(self) -> IntegerSum:
        return self.subscripts[-1]

    def is_near(self, other: ElementPointer) -> bool:
        """Whether two pointers differ by their last subscripts at most."""
        return self.base == other.base and self.subscripts[:-1] == other.subscripts[:-1]


Value: TypeAlias = IntegerSum | ElementPointer
Lookup: TypeAlias = Callable[[tree.Declaration | tree.MemberAccess], "Value | None"]
"""What a variable is, or a member; None where that is not known, or it may change."""


def is_signed(kind: CType, least: int = _INT) -> bool:
    """Whether a type is `int` or a wider signed one."""
    core = unqualified(kind)
    return isinstance(core, Integer) and core.signed and core.rank >= least


def rank_of(kind: CType) -> int:
    core = unqualified(kind)
    return core.rank if isinstance(core, Integer) else -1


def element_of(kind: CType) -> tuple[CType, int] | None:
    """The type of the numbers that a pointer or an array leads to, and by how many subscripts."""
    core, depth = unqualified(kind), 0
    while isinstance(core, Pointer | ArrayType):
        inner = core.target if isinstance(core, Pointer) else core.element
        if (isinstance(core, Pointer) and depth) or is_observed(inner):
            return None
        core, depth = unqualified(inner), depth + 1
    return (core, depth) if depth else None


def own_value(one: tree.Declaration) -> Value | None:
    """A variable in its own words; none that something else may change."""
    if is_observed(one.type):
        return None
    if is_signed(one.type):
        return IntegerSum.atom(one.name, (one.offset,))
    found = element_of(one.type)
    return None if found is None else ElementPointer(one, (ZERO,) * found[1], found[0])


def value_of(node: tree.Expression, lookup: Lookup) -> Value | None:
    """What an expression without side effects computes."""
    match node:
        case tree.Number(value=int(value), text=text) if text.isdigit() and is_signed(node.type):
            return IntegerSum.number(value)
        case tree.Name(declaration=declared):
            return lookup(declared)
        case tree.MemberAccess() if is_signed(node.type):
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
        case tree.Binary(operator="+" | "-" | "*"):
            return _computed(node, lookup)
        case tree.Binary(operator=operator) if operator in _OPAQUE and is_signed(node.type):
            return _opaque(node, (node.left, node.right), lookup)
        case tree.Conditional() if is_signed(node.type):
            return _opaque(node, (node.test, node.then, node.otherwise), lookup)
    return None


def _converted(node: tree.Cast, operand: tree.Expression, lookup: Lookup) -> Value | None:
    """A conversion that keeps every number; or of a pointer, to the elements that it has."""
    inner = value_of(operand, lookup)
    match inner:
        case IntegerSum():
            is_kept = is_signed(operand.type) and is_signed(node.type)
            return inner if is_kept and rank_of(operand.type) <= rank_of(node.type) else None
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
    """Where an element of a one-dimensional array is, or where a row of another one begins."""
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
    """Any other expression of known numbers, as a text."""
    found = [value_of(one, lookup) for one in parts]
    values = [one for one in found if isinstance(one, IntegerSum)]
    if len(values) < len(found) or not all(is_signed(one.type) for one in parts):
        return None
    about = frozenset[int]().union(*(one.about for one in values))
    texts = [one.operand for one in values]
    match node:
        case tree.Binary(operator="/" | "%") if (values[1].constant or 0) < 1:
            return None  # where it is not defined, so is what it was assigned in
        case tree.Binary(operator=">>") if values[1].constant not in range(31):
            return None
        case tree.Binary(operator="&"):
            return _masked(values[0], values[1])
        case tree.Binary(operator=operator):
            return IntegerSum.atom(f"({texts[0]} {operator} {texts[1]})", about)
        case _:
            return IntegerSum.atom(f"({texts[0]} ? {texts[1]} : {texts[2]})", about)


def _masked(left: IntegerSum, right: IntegerSum) -> IntegerSum | None:
    """`n & 3` as a text, where the readers know it; `n & ~3` is `n - (n & 3)`."""
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
    """First, test, step and body of a loop that tests first."""
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
    """The variable that an expression changes."""
    if not isinstance(node, tree.Update | tree.Assign):
        return None
    target = tree.without_casts(node.target)
    return target.declaration if isinstance(target, tree.Name) else None


def step_of(node: tree.Node) -> int | None:
    """How far an expression moves a pointer."""
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
    """From the inside out."""
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
