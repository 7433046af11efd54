"""Statements that accumulate: reordering them relies only on the associativity of an operator.

The steps of a reduction on one cell depend on each other in every way, yet any order of them gives the same
result if the operator is associative and commutative.  Floating-point operators are not quite, so such an
order is refused unless the user allows it; the proof then lists the assumption. All other dependences of the
statements are preserved: writes to the cell before, reads of it after, and reads of the added expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from loopwright.c.accumulations import (
    CALLS,
    AccumulationSyntax,
    accumulation_of,
    collects_tests,
    without_subscripts,
)
from loopwright.c.macros import definitions, reached_tokens
from loopwright.c.tokens import is_name, is_number, without_comments
from loopwright.c.types import (
    BOOL,
    CHAR,
    INT,
    CType,
    Floating,
    Integer,
    Unknown,
    holds,
    literal_type,
    named_type,
)
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence, memory_based
from loopwright.model.program import Access, Program, Statement
from loopwright.prove.legality.choosing_calls import CALLED, chooses
from loopwright.source import Span


@dataclass(frozen=True)
class Reduction:
    """`statement` combines values into cells of `array` with `operator`: + * min max & | ^ argmin argmax.

    `places` are the occurrences of the accumulator in its text, and of what is `carried` along with it.
    """

    statement: str
    operator: str
    array: str
    places: tuple[Span, ...]
    exact: str = ""
    """Steps with the same nonempty text here are bit-identical in any order."""
    carried: tuple[str, ...] = ()
    """The variables set with the accumulator, such as the position of the maximum."""


@dataclass(frozen=True)
class Reassociation:
    """An assumption of the proof: steps of this reduction may be combined in another order.

    In the parallel loops `loops` the steps would race: there the code must combine private results, as
    OpenMP's `reduction` clause does.
    """

    statement: str
    operator: str
    array: str
    text: str
    span: Span
    loops: tuple[str, ...] = ()
    parted: bool = False
    """Whether the terms that a step adds are added one after the other."""

    @property
    def assumption(self) -> str:
        if self.parted:
            return f"in {self.statement} the parts of a sum may be added to {self.array} one after the other"
        what = f"{self.operator!r}" if len(self.operator) == 1 else self.operator
        unless = ", as no two of its values are equal" if self.operator.startswith("arg") else ""
        return (
            f"the steps of the reduction of {self.array} by {what} in {self.statement} "
            f"give the same result in any order{unless}"
        )


def reductions(program: Program) -> dict[str, Reduction]:
    """The statements that are steps of a reduction, by name."""
    found = ((statement.name, _reduction(program, statement)) for statement in program.statements)
    return {name: reduction for name, reduction in found if reduction is not None}


def _reduction(program: Program, statement: Statement) -> Reduction | None:
    if statement.body.terminator:
        return None
    shape = accumulation_of(statement.body.place.text)
    if shape is None or len(statement.writes) != 1 + len(shape.carried):
        return None
    target, reads = _places(shape, statement.body.place)
    if shape.carried:
        return _extreme(program, statement, shape)
    (write,) = statement.writes
    if write.place != target or not _leaves_alone(statement, write, reads):
        return None
    exact = _exactness(program, statement, shape.operator, write.array)
    rounds = not exact and _rounds_each_step(program, statement, write.array)
    rounds = rounds or (not exact and _is_cut(program, statement, shape.operator, write.array))
    if rounds or not chooses(program, statement, element_types(program)[write.array]):
        return None
    return Reduction(statement.name, shape.operator, write.array, tuple(sorted({target, *reads})), exact)


def _extreme(program: Program, statement: Statement, shape: AccumulationSyntax) -> Reduction | None:
    """The step of an argmin or argmax; None if it may reveal more than which of equal values was first.

    A carried variable is not read in the step, and has one cell for each cell of the accumulator, not shared
    with another: otherwise it would reveal other steps.  Values have the accumulator's type.
    """
    target, reads = _places(shape, statement.body.place)
    begin = statement.body.place.start
    carried = {(begin + start, begin + end) for start, end in shape.carried}
    writes = {(one.place.start, one.place.end): one for one in statement.writes}
    write = writes.pop((target.start, target.end), None)
    arrays = [one.array for one in statement.accesses]
    if write is None or set(writes) != carried or not _leaves_alone(statement, write, reads):
        return None
    if any(arrays.count(one.array) != 1 or not _is_along(write, one) for one in writes.values()):
        return None
    first, last = (begin + place for place in shape.value)
    values = [one for one in statement.reads if first <= one.place.start and one.place.end <= last]
    if not _has_one_type(program, write.array, values, statement.body.place.text[slice(*shape.value)]):
        return None
    places = (target, *reads, *(one.place for one in writes.values()))
    along = tuple(sorted(one.array for one in writes.values()))
    return Reduction(statement.name, shape.operator, write.array, tuple(sorted(set(places))), carried=along)


def element_types(program: Program) -> dict[str, CType]:
    """The element types of arrays, as the file declares them or, for those of a header, by the compiler."""
    resolved = program.file.declarations.resolved
    named = {one.name: named_type(resolved(one.element_type or "")) for one in program.arrays}
    declared = {one.name: one.layout.element for one in program.arrays if one.layout is not None}
    unknown = {name for name, kind in named.items() if isinstance(kind, Unknown) and kind != CHAR}
    return named | {name: kind for name, kind in declared.items() if kind is not None and name in unknown}


def _is_along(write: Access, other: Access) -> bool:
    """Whether the cells of two accesses of a statement are in one-to-one correspondence."""
    return bool(write.relation.reverse().apply_range(other.relation).is_bijective())


def _has_one_type(program: Program, accumulator: str, values: Sequence[Access], text: str) -> bool:
    """Whether a compared value has the type of the accumulator: an unmodified cell, or doubles."""
    types = element_types(program)
    kind = types.get(accumulator)
    if not isinstance(kind, Integer | Floating) or {types[one.array] for one in values} != {kind}:
        return False
    whole = " ".join(without_comments(text, literals=True).split())
    if len(values) == 1 and whole == " ".join(values[0].place.text.split()):
        return True
    defined = {one.name for one in program.file.macros} | {one.name for one in program.file.functions}
    others = [one for one in _WORDS.findall(without_subscripts(whole)) if one not in types]
    return kind == named_type("double") and "fabs" not in defined and set(others) <= {"fabs"}


def _exactness(program: Program, statement: Statement, operator: str, accumulator: str) -> str:
    """The class of integer steps that commute exactly, and are defined in any order, or "".

    Maxima and minima of ints and bitwise operators combine in any order.  A sum of positive numbers grows: in
    any order it overflows an int only if its final value does.  Other sums may overflow in one order and not
    in another.  Every combined value must be an int: nothing is converted.  Sums and products of unsigned
    integers, and of what is converted to unsigned, are exact modulo 2^bits.  So are bits of comparisons.
    """
    types = element_types(program)
    text = without_subscripts(without_comments(statement.body.place.text, literals=True))
    kind, is_increment = types.get(accumulator), _INCREMENT.search(text) is not None
    if isinstance(kind, Integer) and not kind.signed and kind.rank >= INT.rank and operator in "+*&|^":
        is_whole = _is_of_ints(program, text, types, partial(_becomes_unsigned, kind))
        return operator if is_whole or (operator == "+" and is_increment) else ""
    if isinstance(kind, Integer) and kind != BOOL and collects_tests(statement.body.place.text):
        return operator
    if kind != INT or operator == "*":
        return ""
    is_exact = is_increment if operator == "+" else _is_of_ints(program, text, types, _becomes_int)
    return operator if is_exact else ""


def combines_exactly(program: Program, array: str) -> bool:
    """Whether all steps on an array are bit-identical in any order, for any initial value."""
    steps = [one for one in reductions(program).values() if one.array == array]
    kind = element_types(program).get(array)
    is_unsigned = isinstance(kind, Integer) and not kind.signed
    return bool(steps) and all(one.exact and (is_unsigned or one.operator != "+") for one in steps)


def _becomes_unsigned(accumulator: Integer, kind: CType | None) -> bool:
    return _becomes_int(kind) or (isinstance(kind, Integer) and kind.rank <= accumulator.rank)


def _is_of_ints(
    program: Program, text: str, types: Mapping[str, CType], becomes: Callable[[CType | None], bool]
) -> bool:
    """Whether all operands of a step are ints, are converted to ints, or satisfy `becomes`.

    Outside of subscripts only arrays, small decimal numbers, and macros composed of these are understood.
    """
    macros = [definitions(program.file.macros, name) for name in dict.fromkeys(CALLED.findall(text))]
    if any(len(one) != 1 or one[0].parameters is None or one[0].conditional for one in macros):
        return False
    parts = [(text, {one[0].name for one in macros}), *((m.body, set(m.parameters or ())) for (m,) in macros)]
    for part, names in parts:
        words = [word for word in _WORDS.findall(part) if word not in names and word != "if"]
        small = [word for word in words if _SMALL.fullmatch(word)]
        arrays = [types.get(word) for word in words if word not in small]
        if _UNKNOWN.search(part) or not all(map(becomes, arrays)):
            return False
    return True


def _becomes_int(kind: CType | None) -> bool:
    """Whether int holds every value of the type; it holds those of char, whatever its sign."""
    if isinstance(kind, Integer):
        return kind.rank < INT.rank or kind == INT
    return isinstance(kind, Unknown) and kind.name == "char"


_WORDS = re.compile(r"\w+")
_SMALL = re.compile(r"0|[1-9]\d{0,8}")
_UNKNOWN = re.compile(r"[.\"'#@$\\]|->|(?<!&)&(?![&=])")
_INCREMENT = re.compile(r"(?:\+\+\s*[A-Za-z_]\w*|[A-Za-z_]\w*\s*(?:\+\+|\+=\s*[1-9]\d{0,8}))\s*;?[\s}]*$")


def _rounds_each_step(program: Program, statement: Statement, accumulator: str) -> bool:
    """Whether a step may lose a fraction: `int p; p += x` with a non-integer x.

    The accumulator is then rounded towards zero in every step, so the order of the steps matters.
    """
    kind = (kinds := element_types(program))[accumulator]
    if kind == BOOL:
        return True
    if isinstance(kind, Floating) or kind == named_type(""):  # not declared where it is visible
        return False
    text = without_comments(statement.body.place.text, literals=True)
    others = [kinds.get(access.array) for access in statement.reads]
    is_exact = all(isinstance(one, Integer) or one == kind for one in others)
    calls = any(name not in CALLS for name in CALLED.findall(text))
    return calls or not is_exact or not _computes_integers(program, statement)


def _computes_integers(program: Program, statement: Statement) -> bool:
    """Whether all names and numbers in a statement outside its cells are integers, with macros expanded."""
    macros = program.file.macros
    for token in reached_tokens(macros, text_between_accesses(statement)):
        if token in CALLS or token in ("if", "else", "sizeof") or definitions(macros, token):
            continue
        if is_name(token) or is_number(token):
            known = (named_type(program.file.declarations.resolved(token)), type_of_name(program, token))
            if not any(isinstance(one, Integer) for one in known):
                return False
    return True


def text_between_accesses(statement: Statement) -> str:
    """The text of a statement without its accesses."""
    text, start = statement.body.place.text, statement.body.place.start
    for access in sorted(statement.accesses, key=lambda one: -one.place.start):
        text = f"{text[: access.place.start - start]} {text[access.place.end - start :]}"
    return text


def _is_cut(program: Program, statement: Statement, operator: str, accumulator: str) -> bool:
    """Whether a maximum or minimum may be converted to another value by the type of the accumulator.

    `unsigned char m; if (x > m) m = x;` keeps the maximum of x only if all are below 256.  Every number must
    be of that type; for types below int, nothing may be computed with it, as sums are ints.
    """
    types = element_types(program)
    kind = types.get(accumulator)
    if operator not in ("min", "max") or not (isinstance(kind, Integer) or kind == CHAR):
        return False
    text = without_subscripts(without_comments(statement.body.place.text, literals=True))
    words = [word for word in _WORDS.findall(text) if word != "if" and word not in CALLS]
    others = [types[word] if word in types else type_of_name(program, word) for word in words]
    computes = re.search(r"[-+*/%~^&|]|<<", text) is not None
    return (kind != INT and computes and not holds(kind, INT)) or not all(
        one == kind or holds(kind, one) for one in others
    )


def type_of_name(program: Program, word: str) -> CType:
    """The type of a literal, or of a variable that is not storage of the region."""
    if word[0].isdigit():
        return literal_type(word)
    found = program.file.declarations.visible(word, program.region)
    several = (zip(one.iterators, one.iterator_types, strict=False) for one in program.statements)
    known = dict(pair for pairs in several for pair in pairs)
    text = known.get(word) or ("" if found is None else found.type)
    return named_type(program.file.declarations.resolved(text))


def _places(shape: AccumulationSyntax, text: Span) -> tuple[Span, tuple[Span, ...]]:
    parts = (shape.target, *shape.reads)
    target, *reads = (Span(text.source, text.start + start, text.start + end) for start, end in parts)
    return target, tuple(reads)


def _leaves_alone(statement: Statement, write: Access, reads: tuple[Span, ...]) -> bool:
    """Whether the accumulator is read as in the form, and no instance reads its own cell elsewhere."""
    own = [access for access in statement.reads if access.array == write.array]
    accumulator = [access for access in own if access.place in reads]
    others = [access for access in own if access.place not in reads]
    return (
        len(accumulator) == len(reads)
        and all(access.relation.is_equal(write.relation) for access in accumulator)
        and all(access.relation.intersect(write.relation).is_empty() for access in others)
    )


def only_associativity(dependence: Dependence, known: dict[str, Reduction]) -> Reduction | None:
    """Returns the reduction if the dependence is between two accumulations by the same operator."""
    first, second = known.get(dependence.source), known.get(dependence.sink)
    if first is None or second is None or first.operator != second.operator:
        return None
    if (first.carried or second.carried) and first is not second:
        return None
    if dependence.source_access.place not in first.places:
        return None
    return first if dependence.sink_access.place in second.places else None


def is_exact(dependence: Dependence, known: dict[str, Reduction]) -> bool:
    """Whether the dependence is between steps that are bit-identical in any order."""
    if only_associativity(dependence, known) is None:
        return False
    return known[dependence.source].exact == known[dependence.sink].exact != ""


def ordering(program: Program) -> tuple[Dependence, ...]:
    """The dependences that a sequential order must preserve."""
    known = reductions(program)
    return tuple(one for one in memory_based(program) if not is_exact(one, known))


def shared_steps(program: Program) -> tuple[Dependence, ...]:
    """The dependences that `ordering` omits: several threads must preserve these too."""
    known = {name: one for name, one in reductions(program).items() if one.exact}
    return tuple(one for one in memory_based(program, known) if is_exact(one, known)) if known else ()


def used_otherwise(program: Program, operator: str, array: str) -> Statement | None:
    """Returns the first statement that accesses `array` other than to combine values into it.

    If threads have private arrays for combining values, as with OpenMP's `reduction`, they do not see its
    other values.
    """
    known = reductions(program)
    for statement in program.statements:
        step = known.get(statement.name)
        places = step.places if step is not None and (step.operator, step.array) == (operator, array) else ()
        if any(access.array == array and access.place not in places for access in statement.accesses):
            return statement
    return None


def reassociation(program: Program, reduction: Reduction, loops: tuple[str, ...] = ()) -> Reassociation:
    place = program.statement(reduction.statement).body.place
    text = " ".join(place.text.split())
    return Reassociation(reduction.statement, reduction.operator, reduction.array, text, place, loops)
