"""C arithmetic on concrete values: the results of a run on generated inputs.

Integer overflow, division by zero and the like raise `Undefined`: such a run shows nothing.  `exact`
arithmetic is that of rational numbers, in which sums may be reassociated.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_float
from dataclasses import field
from fractions import Fraction
from functools import cached_property, partial
from operator import add, and_, eq, ge, gt, le, lt, mul, ne, or_, sub, xor
from typing import TypeAlias

from loopwright.c import types
from loopwright.c.index_helpers import INDEX_HELPERS
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.equivalence.inputs import ALIKE, NOT_FINITE, floating_input, integer_input
from loopwright.prove.equivalence.numbers import EXACT, SELECTING, TRUTHS, Undefined, classified, ratio
from loopwright.prove.equivalence.reading import ABSOLUTE, SUFFIXES
from loopwright.prove.equivalence.terms import CHOICE, Apply, CellTerm, Constant, Index, InputTerm, Term
from loopwright.prove.equivalence.traces import CellKey, StatementRun
from loopwright.read.c.purity import CLASSES, LIBRARY

Number = int | float | Fraction


class Unvalued(Exception):
    """The value of an operation is not known here."""


class OtherType(Exception):
    """A cell holds a value of another type than its own."""


@dataclass(frozen=True, slots=True)
class TypedNumber:
    type: types.CType
    number: Number


@dataclass(frozen=True)
class World:
    """Inputs and interpretations: a `seed` for the initial cells, and a type for those of unknown type."""

    seed: int
    unknown: types.CType
    exact: bool
    opaque: frozenset[str]
    """Functions defined in the file, whose bodies are not examined."""
    given: Mapping[CellKey, TypedNumber] = field(default_factory=dict)
    """Initial values of some cells, for any seed."""
    known: Mapping[str, float] = field(default_factory=dict)
    """Values of variables of the function at the start of the region."""
    loaded: Mapping[str, CellKey] = field(default_factory=dict)
    """Variables that hold the value of a cell then."""
    unset: frozenset[str] = frozenset()
    """Variables of OLD that are uninitialised at the start of the region."""
    numbers: tuple[int, ...] = ()
    """Integers that occur in the programs: if cells hold them, tests may succeed."""
    extremes: tuple[float, ...] = NOT_FINITE
    """Special numbers that cells may hold; if none, no result is special either."""
    truth: int = TRUTHS[0]
    """What `isnan` and the like return where they hold."""

    def type(self, kind: types.CType) -> types.CType:
        if isinstance(kind, types.Unknown) and kind.name.startswith(types.ANOTHER_TYPE):
            raise Unvalued("a vector, or a number of another size than its type")
        return kind if types.is_arithmetic(kind) else self.unknown

    def input(self, place: CellKey, kind: types.CType) -> TypedNumber:
        """The value of a cell before the region."""
        if (place := self.loaded.get(place[0], place)) in self.given:
            return self.given[place]
        if place[0] in self.known:
            number = self.known[place[0]]
            return self.converted(
                TypedNumber(types.DOUBLE if isinstance(number, float) else types.LONG, number), kind
            )
        kind = self.type(kind)
        if kind == types.DOUBLE and not self.exact:
            return TypedNumber(kind, floating_input(self.seed, place, self.extremes))
        if isinstance(kind, types.Integer):
            number = integer_input(self.seed, place, self.numbers)
            is_small = 0 <= number < 128 or (kind.signed and -128 <= number < 0)
            if not is_small or kind.bits < 8 or kind.rank == 0:
                number = _to_integer(TypedNumber(types.INT, number), kind)
            return TypedNumber(kind, number)
        is_whole = kind == types.LONG_DOUBLE and self.seed % 3 != ALIKE
        if is_whole:
            return TypedNumber(kind, float(integer_input(self.seed, place, ())))
        number = floating_input(self.seed, place, self.extremes)
        return self.converted(TypedNumber(types.DOUBLE, number), kind)

    @cached_property
    def _numbers(self) -> dict[CellKey, TypedNumber]:
        return {}

    def number(self, kinds: Mapping[str, types.CType], place: CellKey) -> int | float:
        """The initial value without its type, which is the array's in `kinds`, for all runs in this world."""
        kind, known = kinds[place[0]], self._numbers.get(place)
        if known is None or (known.type is not kind and known.type != kind):
            known = self._numbers[place] = self.input(place, kind)
            if known.type != kind or isinstance(known.number, Fraction):
                raise OtherType
        assert not isinstance(known.number, Fraction), "no arithmetic of rational numbers"
        return known.number

    def converted(self, value: TypedNumber, kind: types.CType) -> TypedNumber:
        kind = self.type(kind)
        if isinstance(kind, types.Integer):
            return TypedNumber(kind, _to_integer(value, kind))
        if self.exact:
            return TypedNumber(kind, _fraction(value.number))
        number = float(value.number)
        if kind == types.LONG_DOUBLE:
            check_exact(number, value.number)
        number = c_float(number).value if kind == types.FLOAT else number
        if not self.extremes and not math.isfinite(number):
            raise Undefined("a number that is not finite, where all are said to be")
        return TypedNumber(kind, number)

    def rounded(self, number: Number, kind: types.CType) -> TypedNumber:
        """The result of a floating-point operation."""
        return self.converted(TypedNumber(types.DOUBLE, number), kind)


def check_exact(found: Number, exact: Number) -> None:
    """Raises unless a number is the exact one: a long double has the digits of a double and unknown ones."""
    if found != exact and not (math.isnan(found) and math.isnan(exact)):
        raise Undefined("a long double of other digits than those of a double")


def _fraction(number: Number) -> Fraction:
    if isinstance(number, float) and not math.isfinite(number):
        raise Undefined("a number that is not finite")
    return Fraction(number)


def _to_integer(value: TypedNumber, limits: types.Integer) -> int:
    number = value.number
    if limits == types.BOOL:
        return int(number != 0)
    if isinstance(number, float) and not math.isfinite(number):
        raise Undefined("a conversion to an integer")
    whole = int(number)
    if limits.least <= whole <= limits.greatest:
        return whole
    if isinstance(value.type, types.Integer):
        return limits.converted(whole)
    raise Undefined("a conversion to an integer")


Compute: TypeAlias = Callable[["World", Sequence[CellKey] | None], dict[CellKey, TypedNumber]]
"""Computes what a run leaves in these cells, or in all cells that it writes."""


def computed(steps: Sequence[StatementRun], world: World) -> dict[CellKey, TypedNumber]:
    """Returns what a run leaves in the cells it writes."""
    return computing(steps)(world, None)


def computing(steps: Sequence[StatementRun]) -> Compute:
    """The same for any world: as Python functions if all statements are, otherwise by walking terms."""
    runs = {id(step.computation): step.computation.in_numbers for step in steps}
    kinds: dict[str, types.CType] = {}
    for one in runs.values():
        apart = one is None or any(kinds.setdefault(name, kind) != kind for name, kind in one.types.items())
        if one is None or apart:
            return lambda world, wanted: _walked(steps, world)
    made = [one for one in runs.values() if one is not None]
    calls = frozenset().union(*(one.calls for one in made))
    has_floating = any(one.has_floating for one in made)
    functions = {key: one.run for key, one in runs.items() if one is not None}
    calls_in_order = [(functions[id(step.computation)], step.values) for step in steps]

    def compute(world: World, wanted: Sequence[CellKey] | None) -> dict[CellKey, TypedNumber]:
        if ((world.exact or not world.extremes) and has_floating) or calls & world.opaque:
            return _walked(steps, world)
        memory: dict[CellKey, int | float] = {}
        read = partial(world.number, kinds)
        try:
            for run, values in calls_in_order:
                run(values, memory, read)
        except OtherType:
            return _walked(steps, world)
        places = list(memory) if wanted is None else [place for place in wanted if place in memory]
        return {place: TypedNumber(kinds[place[0]], memory[place]) for place in places}

    return compute


def _walked(steps: Sequence[StatementRun], world: World) -> dict[CellKey, TypedNumber]:
    memory: dict[CellKey, TypedNumber] = {}
    for step in steps:
        for assignment in step.computation.assignments:
            memory[step.place(assignment.target)] = value_of(assignment.value, step, memory, world)
    return memory


def differ(one: TypedNumber, other: TypedNumber) -> bool:
    """Whether two values differ in their bits; all NaNs are considered equal."""
    if isinstance(one.number, float) and isinstance(other.number, float):
        if math.isnan(one.number) and math.isnan(other.number):
            return False
        return struct.pack("d", one.number) != struct.pack("d", other.number)
    return one.number != other.number


def value_of(term: Term, step: StatementRun, memory: dict[CellKey, TypedNumber], world: World) -> TypedNumber:
    match term:
        case Constant(text, kind):
            if kind == types.LONG_DOUBLE:
                check_exact(float(text), Fraction(text))
            return world.converted(TypedNumber(types.DOUBLE, float(text)), kind)
        case Index(value, kind):
            return world.converted(TypedNumber(types.LONG, step.at(value)), kind)
        case CellTerm(_, _, kind):
            place = step.place(term)
            return memory[place] if place in memory else world.input(place, kind)
        case Apply():
            return _applied(term, lambda one: value_of(one, step, memory, world), world)
        case InputTerm():
            raise AssertionError("a statement reads cells")


def _applied(term: Apply, value: Callable[[Term], TypedNumber], world: World) -> TypedNumber:
    operator, arguments = term.operator, term.arguments
    match operator:
        case "?:":
            assert operator == CHOICE
            chosen = value(arguments[1] if value(arguments[0]).number != 0 else arguments[2])
            other = {one for one in (arguments[1].type, arguments[2].type) if types.is_arithmetic(one)}
            return world.converted(chosen, other.pop()) if len(other) == 1 else chosen
        case "&&":
            return TypedNumber(types.INT, int(all(value(one).number != 0 for one in arguments)))
        case "||":
            return TypedNumber(types.INT, int(any(value(one).number != 0 for one in arguments)))
        case "!":
            return TypedNumber(types.INT, int(value(arguments[0]).number == 0))
        case _ if operator.startswith("("):
            return world.converted(value(arguments[0]), term.type)
        case _ if operator.endswith("()"):
            return _called(operator[:-2], [value(one) for one in arguments], world)
        case _ if len(arguments) == 1:
            return _unary(operator[0], value(arguments[0]), world)
        case _:
            return _binary(operator, value(arguments[0]), value(arguments[1]), world)


def _unary(operator: str, operand: TypedNumber, world: World) -> TypedNumber:
    kind = types.promoted(operand.type)
    if operator == "~":
        if isinstance(operand.number, int):
            return _integer(~operand.number, kind)
        raise Undefined("~ of what is not an integer")
    number = -operand.number if operator == "-" else operand.number
    return _integer(number, kind) if isinstance(number, int) else world.rounded(number, kind)


def _integer(number: int, kind: types.CType) -> TypedNumber:
    assert isinstance(kind, types.Integer), "an operation on integers has an integer type"
    if kind.signed and not kind.least <= number <= kind.greatest:
        raise Undefined("an integer that overflows")
    return TypedNumber(kind, number & kind.greatest if not kind.signed else number)


COMPARED: Mapping[str, Callable[[Number, Number], bool]] = {
    "<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne,
}  # fmt: skip
_OF_INTEGERS: Mapping[str, Callable[[int, int], int]] = {
    "+": add, "-": sub, "*": mul, "&": and_, "|": or_, "^": xor,
}  # fmt: skip
_OF_NUMBERS: Mapping[str, Callable[[Number, Number], Number]] = {"+": add, "-": sub, "*": mul}


def _binary(operator: str, left: TypedNumber, right: TypedNumber, world: World) -> TypedNumber:
    if operator in ("<<", ">>"):
        return _shifted(operator, left, right)
    kind = types.common(left.type, right.type)
    one, other = (world.converted(side, kind).number for side in (left, right))
    if operator in COMPARED:
        return TypedNumber(types.INT, int(COMPARED[operator](one, other)))
    if isinstance(one, int) and isinstance(other, int):
        return _integer(_whole(operator, one, other), kind)
    found = _floating(operator, one, other)
    if kind == types.LONG_DOUBLE and all(map(math.isfinite, (one, other))) and (operator, other) != ("/", 0):
        check_exact(found, _floating(operator, Fraction(one), Fraction(other)))
    return world.rounded(found, kind)


def _shifted(operator: str, left: TypedNumber, right: TypedNumber) -> TypedNumber:
    if not isinstance(left.number, int) or not isinstance(right.number, int):
        raise Undefined("a shift of what is not an integer")
    kind = types.promoted(left.type)
    is_left = operator == "<<"
    if not isinstance(kind, types.Integer) or not 0 <= right.number < kind.bits:
        raise Undefined("a shift by too many bits")
    if is_left and left.number < 0:
        raise Undefined("a negative number that is shifted to the left")
    return _integer(left.number << right.number if is_left else left.number >> right.number, kind)


def _whole(operator: str, one: int, other: int) -> int:
    if operator in _OF_INTEGERS:
        return _OF_INTEGERS[operator](one, other)
    if operator not in ("/", "%") or other == 0:
        raise Undefined("a division by zero")
    return types.divided(operator, one, other)


def _floating(operator: str, one: Number, other: Number) -> Number:
    if operator in _OF_NUMBERS:
        return _OF_NUMBERS[operator](one, other)
    if operator != "/":
        raise Undefined(f"'{operator}' of numbers that are not integers")
    if other != 0:
        return one / other
    if isinstance(one, Fraction) or isinstance(other, Fraction):
        raise Undefined("a division by zero")
    return ratio(one, other)


def _called(name: str, arguments: list[TypedNumber], world: World) -> TypedNumber:
    """Evaluates a library function; other functions without a body get some function of the assumed type.

    Names with two underscores are the compiler's own, and have a meaning.
    """
    if name == "__builtin_expect" and len(arguments) == 2:
        return world.converted(arguments[0], types.LONG)
    if name in world.opaque or name.startswith("__"):
        raise Unvalued(name)
    if name in LIBRARY:
        return _library(name, arguments, world)
    if name in INDEX_HELPERS and len(arguments) == 2:
        return _smaller_or_larger(name, *arguments)
    given = [world.converted(one, world.unknown).number for one in arguments]
    return world.input((f"{name}{given}", ()), world.unknown)


def _smaller_or_larger(name: str, one: TypedNumber, other: TypedNumber) -> TypedNumber:
    """Evaluates min and max, which are assumed to mean that; of two zeros or a NaN, the result is
    unspecified."""
    if name.strip("_i").lower() not in ("min", "max"):
        raise Unvalued(name)
    numbers = one.number, other.number
    if any(math.isnan(number) for number in numbers):
        raise Undefined(f"{name} of a NaN")
    if numbers == (0, 0) and math.copysign(1, numbers[0]) != math.copysign(1, numbers[1]):
        raise Undefined(f"{name} of two zeros")
    is_less = one.number < other.number
    return one if is_less == ("min" in name.lower()) else other


def _library(name: str, arguments: list[TypedNumber], world: World) -> TypedNumber:
    if name in ABSOLUTE:
        return _integer(abs(int(arguments[0].number)), ABSOLUTE[name])
    if name in CLASSES:
        return _class_of(name, arguments, world)
    base = name if name in EXACT else name[:-1]
    kind = types.DOUBLE if name == base else SUFFIXES.get(name[-1])
    if kind is None or base not in ({*SELECTING, "sqrt"} if kind == types.LONG_DOUBLE else EXACT):
        raise Unvalued(name)
    numbers = [float(one.number) for one in arguments]
    try:
        found = float(EXACT[base](*numbers))
    except (ValueError, OverflowError) as wrong:
        raise Undefined(f"{name} of this") from wrong
    if name == "sqrtl" and math.isfinite(found):
        check_exact(numbers[0], Fraction(found) ** 2)
    return world.rounded(found, kind)


def _class_of(name: str, arguments: list[TypedNumber], world: World) -> TypedNumber:
    one = arguments[0]
    found = None
    if len(arguments) == 1 and isinstance(one.type, types.Floating):
        found = classified(name, float(one.number), one.type, world.truth, world.known)
    if found is None:
        raise Unvalued(name)
    return TypedNumber(types.INT, found)
