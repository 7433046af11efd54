"""Integer values as sums of products: 2*i + n*j - 1.

The factors of products are atoms: variables that keep their values, iteration counts, and other
expressions of these, such as n / 4, which are opaque.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from loopwright.c.loops import binary
from loopwright.c.syntax import Node, without_parentheses
from loopwright.c.tokens import decimal
from loopwright.lazy_dataclass import dataclass

_MOST_TERMS = 12


class Atom(NamedTuple):
    """A C expression of a number, and the declarations that it depends on, by their offsets."""

    text: str
    about: tuple[int, ...] = ()


Product = tuple[Atom, ...]


@dataclass(frozen=True)
class IntegerSum:
    """Products in order, each with its constant factor; () is 1."""

    terms: tuple[tuple[Product, int], ...] = ()

    @staticmethod
    def number(value: int) -> IntegerSum:
        return _sum_of({(): value})

    @staticmethod
    def atom(text: str, about: Iterable[int] = ()) -> IntegerSum:
        return _sum_of({(Atom(text, tuple(sorted(set(about)))),): 1})

    @property
    def constant(self) -> int | None:
        """The number that it is, if it is constant."""
        if not self.terms:
            return 0
        (product, value), *others = self.terms
        return value if not product and not others else None

    @property
    def is_atom(self) -> bool:
        """Whether it is one factor and nothing else."""
        return len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1

    @property
    def atoms(self) -> frozenset[Atom]:
        return frozenset(atom for product, _ in self.terms for atom in product)

    @property
    def about(self) -> frozenset[int]:
        return frozenset(offset for atom in self.atoms for offset in atom.about)

    @property
    def numbers(self) -> tuple[IntegerSum, ...]:
        """The sum as a tuple; a pointer has several numbers, its subscripts."""
        return (self,)

    def with_numbers(self, numbers: tuple[IntegerSum, ...]) -> IntegerSum:
        return numbers[0]

    def plus(self, other: IntegerSum, factor: int = 1) -> IntegerSum:
        found = dict(self.terms)
        for product, value in other.terms:
            found[product] = found.get(product, 0) + factor * value
        return _sum_of(found)

    def minus(self, other: IntegerSum) -> IntegerSum:
        return self.plus(other, -1)

    def times(self, other: IntegerSum) -> IntegerSum:
        found: dict[Product, int] = {}
        for mine, value in self.terms:
            for theirs, factor in other.terms:
                product = tuple(sorted((*mine, *theirs)))
                found[product] = found.get(product, 0) + value * factor
        return _sum_of(found)

    def coefficient(self, atom: Atom) -> IntegerSum | None:
        """The coefficient of an atom, if it is never multiplied by itself."""
        found: dict[Product, int] = {}
        for product, value in self.terms:
            if product.count(atom) > 1:
                return None
            if atom in product:
                rest = tuple(one for one in product if one != atom)
                found[rest] = found.get(rest, 0) + value
        return _sum_of(found)

    def without(self, atom: Atom) -> IntegerSum:
        """The products that do not contain an atom."""
        return _sum_of({product: value for product, value in self.terms if atom not in product})

    def replaced(self, atom: Atom, value: IntegerSum) -> IntegerSum:
        """The sum with a value substituted for an atom that is never multiplied by itself."""
        factor = self.coefficient(atom)
        return self if factor is None else self.without(atom).plus(factor.times(value))

    @property
    def ordered(self) -> list[tuple[Product, int]]:
        """The terms as they are written: what is added first, long products first."""
        return sorted(self.terms, key=lambda one: (one[1] < 0, -len(one[0])))

    @property
    def is_long(self) -> bool:
        return len(self.terms) > _MOST_TERMS

    def __str__(self) -> str:
        """The sum in C, without parentheses around it."""
        return self._spelled("") or "0"

    def computed_in(self, kind: str) -> str:
        """The sum in C as an operand, computed in a type: `((long)i * m + (long)1)`."""
        return f"({self._spelled(f'({kind})', to_all=True) or f'({kind})0'})"

    @property
    def widened(self) -> str:
        """The sum in C without parentheses, of which no part is computed in `int`: `(long)i * m + j + 1`."""
        return str(self) if self.is_atom or self.constant is not None else self._spelled("(long)")

    @property
    def has_no_parts(self) -> bool:
        """Whether a type that holds the sum holds all that is computed for it: n - i, not 3 * i - n."""
        factors = [factors_of(product, number) for product, number in self.terms]
        is_sum = len(factors) == 2 and max(factors) == 1 and any(number > 0 for _, number in self.terms)
        return is_sum or (len(factors) <= 1 and sum(factors) <= 2)

    @property
    def widened_operand(self) -> str:
        return self.operand if self.is_atom or self.constant is not None else f"({self.widened})"

    def appended(self, *, widened: bool) -> str:
        """The sum as it is added to a number of type `long`: ` + (long)i * m + j`."""
        return "".join(f" {sign} {text}" for sign, text in self._signed("(long)" if widened else ""))

    def _spelled(self, cast: str, *, to_all: bool = False) -> str:
        """The sum with casts so that it is computed in a type: before its first term and products, or all."""
        terms = [*self._signed(cast, to_all=to_all)]
        if not terms:
            return ""
        (sign, first), *others = terms
        start = sign.replace("+", "") + (first if first.startswith(cast) else cast + first)
        return start + "".join(f" {sign} {text}" for sign, text in others)

    def _signed(self, cast: str, *, to_all: bool = False) -> Iterator[tuple[str, str]]:
        """The terms with their signs, and casts before products, or before all."""
        for product, value in self.ordered:
            factors = [atom.text for atom in product]
            if abs(value) != 1 or not factors:
                factors.insert(0, str(abs(value)))
            is_cast = to_all or len(factors) > 1
            yield "-" if value < 0 else "+", (cast if is_cast else "") + " * ".join(factors)

    @property
    def operand(self) -> str:
        """The sum in C as an operand of any expression."""
        text = str(self)
        return text if self.is_atom or text.isdigit() else f"({text})"


def factors_of(product: Product, number: int) -> int:
    """How many factors a product is written with."""
    return len(product) + (abs(number) != 1 or not product)


def _sum_of(found: Mapping[Product, int]) -> IntegerSum:
    return IntegerSum(tuple(sorted((product, value) for product, value in found.items() if value)))


ZERO, ONE = IntegerSum(), IntegerSum.number(1)


def sum_of(node: Node, atom: Callable[[Node], IntegerSum | None]) -> IntegerSum | None:
    """An expression as a sum; `atom` gives the value of a part that is not a sum, product or number."""
    node = without_parentheses(node)
    value, parts = decimal(node.text), binary(node)
    if value is not None:
        return IntegerSum.number(value)
    if parts is None or parts.sign not in ("+", "-", "*"):
        return atom(node)
    left, right = sum_of(parts.left, atom), sum_of(parts.right, atom)
    if left is None or right is None:
        return None
    return left.times(right) if parts.sign == "*" else left.plus(right, 1 if parts.sign == "+" else -1)


@dataclass(frozen=True)
class RunCount:
    """The trip count of a loop, and the same if it runs at all."""

    all: IntegerSum
    once_entered: IntegerSum


def iterations(test: str, left: IntegerSum, right: IntegerSum, number: Atom) -> RunCount | None:
    """How often `left test right` holds consecutively, for the iteration numbers 0, 1, ...

    `!=` holds until both are equal, if they come closer by one each time; this does not show that they meet.
    """
    if test == "!=":
        gap = right.minus(left)
        closer = gap.coefficient(number)
        if closer is None or closer.constant not in (1, -1):
            return None
        left_over = gap.without(number)
        count = left_over if closer.constant == -1 else ZERO.minus(left_over)
        return RunCount(count, count)
    if test in (">", ">="):
        test, left, right = {">": "<", ">=": "<="}[test], right, left
    if test not in ("<", "<="):
        return None
    space = right.minus(left) if test == "<" else right.minus(left).plus(ONE)
    step = space.coefficient(number)
    size = None if step is None or step.constant is None else -step.constant
    if size is None or size < 1:
        return None
    free = space.without(number)
    if free.constant is not None:
        fixed = IntegerSum.number(max(0, -(-free.constant // size)))
        return RunCount(fixed, fixed)
    more = free.plus(IntegerSum.number(size - 1))
    some = free if size == 1 else IntegerSum.atom(f"({more.widened_operand} / {size})", free.about)
    return RunCount(IntegerSum.atom(f"({free.widened} > 0 ? {some.widened} : 0)", free.about), some)
