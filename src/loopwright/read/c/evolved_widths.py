"""The C text of numbers that variables have after many steps, computed so that nothing overflows on the way.

p += 3              p[(long)3 * i]              the pointer moves by 3, and nothing computes 3 * i
k -= 3              (long)n - (long)3 * i       k is small, 3 * i need not be
k += 3, from 1      3 * i + 1                   each part is at most the value of k
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.c.sums import Atom, IntegerSum, Product, factors_of
from loopwright.c.typed import tree
from loopwright.c.types import INT, CType
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.evolved_values import rank_of

_SIGNED = {3: "int", 4: "long", 5: "long long"}
"""The signed types by rank."""


@dataclass(frozen=True, eq=False)
class Widths:
    """The types of the variables in sums."""

    types: Mapping[int, CType]
    """By the declarations of the variables."""
    counters: int
    """The rank of the counters of new loops, which count from 0 and have no declaration."""
    iterators: Mapping[int, bool]
    """The iterators of the enclosing loops: whether each counts up from a number >= 0."""

    def is_long(self, value: IntegerSum) -> bool:
        """Whether no operation of a sum, from the left to the right, is one of `int`."""
        begun = [self._begins_long(product, number) for product, number in value.ordered]
        many = [factors_of(product, number) > 1 for product, number in value.ordered]
        return any(begun[:2]) and all(one or not product for one, product in zip(begun, many, strict=True))

    def _begins_long(self, product: Product, number: int) -> bool:
        """Whether one of the first two factors of a product is wider than `int`."""
        first = product[: 2 if abs(number) == 1 else 1]
        ranks = (min(map(rank_of, self._types(atom)), default=self.counters) for atom in first)
        return any(rank > INT.rank for rank in ranks)

    def _types(self, atom: Atom) -> Iterator[CType]:
        return (self.types[one] for one in atom.about)

    def element(self, value: IntegerSum) -> str:
        """The number of an element that a pointer has walked to; it may be one that no `int` holds."""
        return str(value) if self.is_long(value) else value.widened

    def around(self, index: tree.Expression, value: IntegerSum) -> tuple[str, str]:
        """What to write before and after a subscript to add a sum to it."""
        begun = [self._begins_long(product, number) for product, number in value.ordered]
        is_token = index.place.first + 1 == index.place.end
        cast = "" if any(begun[:1]) or rank_of(index.type) > INT.rank else "(long)"
        more = value.appended(widened=not self.is_long(value))
        return (cast, more) if is_token else (f"{cast}(", f"){more}")

    def number(self, value: IntegerSum, kind: CType) -> str:
        """A sum whose value a type holds, in this type or in `long`."""
        is_int = rank_of(kind) <= INT.rank and self._is_direct(value)
        return str(value) if is_int else self.element(value)

    def operand(self, value: IntegerSum, kind: CType) -> str:
        """The same as an operand of any expression."""
        text = self.number(value, kind)
        return value.operand if text == str(value) else f"({text})"

    def int_operand(self, value: IntegerSum) -> str:
        """The same in the type `int`, which matters beside unsigned numbers."""
        text = self.operand(value, INT)
        is_plain = text == value.operand and all(atom.text.isidentifier() for atom in value.atoms)
        return text if is_plain else f"((int){text})"

    def typed(self, value: IntegerSum, kind: CType) -> str:
        """The same in a signed type."""
        name = _SIGNED[rank_of(kind)]
        is_wide = rank_of(kind) > INT.rank
        return value.computed_in(name) if is_wide else f"(({name}){self.operand(value, kind)})"

    def _is_direct(self, value: IntegerSum) -> bool:
        """Whether `int` holds the parts of a sum, too, if it holds the sum."""
        is_growing = all(number > 0 for _, number in value.terms) and all(map(self._is_natural, value.atoms))
        return value.has_no_parts or is_growing

    def _is_natural(self, atom: Atom) -> bool:
        """Whether an atom is an iterator that is never negative."""
        return atom.text.isidentifier() and all(self.iterators.get(one, False) for one in atom.about)
