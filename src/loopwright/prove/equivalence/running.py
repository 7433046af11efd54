"""By running: finds sizes and inputs for which the two programs leave different values in memory.

Runs with uninterpreted operations show where to look; C arithmetic on generated inputs decides.  `x + x` and
`2 * x` do not differ, and `(a + b) + c` differs from `a + (b + c)`.  Runs that agree prove nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field as field_of
from dataclasses import replace
from typing import TypeAlias

from loopwright.c.liveness import first_value, has_no_value
from loopwright.c.macros import reachable_macros
from loopwright.c.tokens import names_in
from loopwright.c.types import (
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    CType,
    Integer,
    is_arithmetic,
    named_type,
    unqualified,
)
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Int
from loopwright.model.program import Program
from loopwright.presburger.points import values_text
from loopwright.prove.equivalence.arithmetic import FACTORED, TypedNumber, Unvalued, World, computing, differ
from loopwright.prove.equivalence.beginning import OTHERWISE, EnclosingFunction, function_of
from loopwright.prove.equivalence.counterexample import (
    Telling,
    cell_text,
    is_zero,
    number_text,
    rests_on_unset,
    telling,
)
from loopwright.prove.equivalence.definitions import constants, functions_with_body
from loopwright.prove.equivalence.known_numbers import (
    Beginning,
    macros_of_headers,
    open_names,
    standard_headers,
)
from loopwright.prove.equivalence.numbering import (
    Numbered,
    Table,
    bag_difference,
    before,
    described,
    first_difference,
    numbered,
)
from loopwright.prove.equivalence.numbers import Undefined
from loopwright.prove.equivalence.reading import local_name
from loopwright.prove.equivalence.shared import names_of_one_memory
from loopwright.prove.equivalence.terms import Apply, CellTerm, Index, TermAssignment, subterms
from loopwright.prove.equivalence.traces import (
    CellKey,
    Runnable,
    Sizes,
    StatementRun,
    computed_sizes,
    leading_to,
    runnable,
    small_sizes,
)
from loopwright.prove.equivalence.within_rows import within_rows
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.verdict import Refuted, Undecided
from loopwright.read.c.purity import LIBRARY

FEW_STEPS, MOST_STEPS = 3_000, 30_000
"""Statement executions of both programs together, over all sizes."""
MOST_DOUBTS = 8
"""How many sizes with different operations but equal values are tried before giving up."""
MOST_SEEDS, MOST_OF_INTEGERS, SEEDED_STEPS = 40, 240, 4_000
"""Maximum number of inputs, and statement executions of one run over all of them."""
MOST_NUMBERS, LARGEST_NUMBER = 4, 100
"""How many integers of the programs are tried as inputs, and the largest."""

Steps: TypeAlias = tuple[tuple[StatementRun, ...], tuple[StatementRun, ...]]
"""A run of OLD and one of NEW."""


@dataclass(frozen=True)
class Pair:
    """Two programs to run side by side."""

    paths: tuple[str, str]
    """The paths of their files."""
    runs: tuple[Runnable, Runnable]
    arrays: tuple[str, ...]
    reassociate: bool
    opaque: frozenset[str]
    """Functions defined in a file, whose bodies are not examined."""
    known: Mapping[str, float] = field_of(default_factory=dict)
    """Values of variables of the function at the start of the regions."""
    unset: frozenset[str] = frozenset()
    """Variables of OLD that are uninitialised at the start of its region."""
    function: EnclosingFunction | None = None
    """The function around the region of OLD."""
    constants: Mapping[str, float] = field_of(default_factory=dict)
    """Constants of headers."""

    @property
    def assignments(self) -> list[TermAssignment]:
        """All assignments of the programs; copies of a statement share theirs."""
        own = {id(one.copied or one): one for side in self.runs for one in side.computations.values()}
        return [assignment for one in own.values() for assignment in one.assignments]

    @property
    def types(self) -> dict[str, CType]:
        return {one.target.array: one.target.type for one in self.assignments}


def by_running(
    old: Program,
    new: Program,
    arrays: tuple[str, ...],
    *,
    budget: int = MOST_STEPS,
    hints: tuple[Sizes, ...] = (),
    reassociate: bool = False,
) -> Refuted | Undecided:
    """Finds a cell of `arrays` that ends up different; `hints` are sizes to try first."""
    try:
        pair = pair_of((old, new), (runnable(old), runnable(new)), arrays, reassociate=reassociate)
    except Unreadable as failure:
        return Undecided(str(failure))
    left = budget
    tried = 0
    doubts: list[str] = []
    for sizes in small_sizes(old.context, hints, computed_sizes(old)):
        steps = pair.runs[0].run(sizes), pair.runs[1].run(sizes)
        if steps[0] is None or steps[1] is None or not pair.runs[0].stays_inside(steps[0], sizes):
            continue
        left -= len(steps[0]) + len(steps[1])
        tried += 1
        found = compared(pair, (steps[0], steps[1]), sizes)
        if isinstance(found, Refuted):
            return found
        doubts += [] if found is None else [found]
        if left < 0 or len(doubts) == MOST_DOUBTS:
            break
    return Undecided(doubts[0] if doubts else f"{tried} small runs agree")


def pair_of(
    programs: tuple[Program, Program],
    runs: tuple[Runnable, Runnable],
    arrays: tuple[str, ...],
    *,
    reassociate: bool,
) -> Pair:
    """Pairs two programs to run; raises `Unreadable` if a run would not show what they compute."""
    arrays_of = ((p, one) for p in programs for one in p.arrays if not one.local)
    fixed = [one.name for p, one in arrays_of if one.name in constants(p.source)]
    if fixed:
        raise Unreadable(f"the value of the constant '{fixed[0]}' was not determined")
    shared = names_of_one_memory(*programs)
    if shared is not None:
        raise Unreadable(f"whether '{shared[0]}' and '{shared[1]}' are the same memory was not determined")
    functions = tuple(map(function_of, programs))
    for program, function in zip(programs, functions, strict=True):
        name = _macro_of_header(program, function)
        if name is not None:
            raise Unreadable(f"the macro '{name}' of a header was not examined")
    name = _defined_elsewhere(programs, functions)
    if name is not None:
        raise Unreadable(f"'{name}', which the file does not define, was not examined")
    opaque = functions_with_body(programs[0].source) | functions_with_body(programs[1].source)
    paths = programs[0].source.path, programs[1].source.path
    given = {name: value for one in functions if one is not None for name, value in one.constants.items()}
    known = given | _known(*programs)
    return Pair(paths, runs, arrays, reassociate, opaque, known, _unset(programs[0]), functions[0], given)


def _macro_of_header(program: Program, known: EnclosingFunction | None) -> str | None:
    """Returns a constant of a header `<..>`, read as a variable or a size, whose value is not known."""
    names = [one for one in open_names(program) if known is None or one not in known.constants]
    if not names:
        return None
    there = macros_of_headers(standard_headers(program.file), program.compiled.for_file(program.source.path))
    return next((one for one in names if one in there), None)


def _defined_elsewhere(
    programs: tuple[Program, Program], functions: Sequence[EnclosingFunction | None]
) -> str | None:
    """Returns a name of one program alone that a user's header or an option may define.

    A name that both have is a size like any other.  If one has a number in its place, the name is that
    number.
    """
    names = [_named_in(one) for one in programs]
    given = {name for one in functions if one is not None for name in one.constants}
    alone = [{*open_names(one)} - names[1 - k] - given for k, one in enumerate(programs)]
    return min(alone[0] | alone[1], default=None)


def _named_in(program: Program) -> set[str]:
    """The names in a region, and in the expansions of its macros."""
    found = set(names_in(program.region.text))
    macros = [one for name in sorted(found) for one in reachable_macros(program.file.macros, name)]
    return found.union(*(names_in(one.body) for one in macros))


def _known(old: Program, new: Program) -> dict[str, float]:
    """The values of the function's variables at the start of the regions; those of OLD take precedence."""
    found: dict[str, float] = {}
    for program in (new, old):
        names = {one.name for one in program.arrays if one.rank == 0 and not one.local}
        values = {name: first_value(program.file, program.region, name) for name in sorted(names)}
        found |= {name: value for name, value in values.items() if value is not None}
    return found


def _unset(program: Program) -> frozenset[str]:
    """Locals of the region, and uninitialised scalars of the function."""
    own = {local_name(one.name) for one in program.arrays if one.local}
    others = {one.name for one in program.arrays if one.rank == 0 and not one.local}
    return frozenset(own | {name for name in others if has_no_value(program.file, program.region, name)})


def compared(pair: Pair, steps: Steps, sizes: Sizes, only: CellKey | None = None) -> Refuted | str | None:
    """The first difference in values, of all cells or of `only` one; a text if only the operations differ."""
    table = Table(pair.reassociate)
    places, runs = [] if only is None else [only], None
    if only is None:
        steps = within_rows(steps, pair.runs, sizes)
        runs = one, other = numbered(steps, table)
        places = [
            place
            for place in sorted({*one.cells, *other.cells})
            if place[0] in pair.arrays and _final(one, place, table) != _final(other, place, table)
        ]
    if not places:
        return None
    beginning = Beginning({}, frozenset()) if pair.function is None else pair.function.beginning(sizes)
    if beginning is None:
        return None
    values = {name: value for name, value in beginning.values.items() if value is not None}
    pair = replace(pair, known={**pair.known, **values})
    try:
        wrong = _real(pair, steps, places)
    except Unvalued as unknown:
        return f"the operations differ, but what '{unknown}' computes is not known"
    if wrong is None:
        return f"{cell_text(places[0])} is computed by different operations, which gave the same values"
    parts = steps
    if only is None:
        parts = leading_to(steps[0], wrong.place), leading_to(steps[1], wrong.place)
    doubt = beginning.doubt({*sizes, *_read_in(parts)})
    if doubt is None and pair.function is not None and pair.function.hides_changes:
        doubt = "what macros change before the region was not determined"
    if doubt is not None:
        return doubt
    shown = telling(parts, wrong.place, (wrong.old, wrong.new), wrong.world)
    given = {place: float(value.number) for place, value in shown.given.items()}
    doubt = beginning.keeps_out(given, _functions(pair))
    if doubt is not None:
        return doubt
    others = [] if pair.function is None else sorted({*pair.function.parameters} & _read_in(parts))
    sizes = {**sizes, **{name: OTHERWISE for name in others if name not in sizes}}
    return _refuted(pair, sizes, wrong.place, shown, runs or numbered(parts, table), table)


def _read_in(steps: Steps) -> set[str]:
    return {cell.array for side in steps for step in side for cell in step.computation.read}


def _final(run: Numbered, place: CellKey, table: Table) -> int:
    return run.cells[place].number if place in run.cells else before(place, table)


@dataclass(frozen=True)
class ValueDifference:
    """A cell that ends up with two different values, in a world."""

    place: CellKey
    old: TypedNumber
    new: TypedNumber
    world: World


_CHARS = (named_type("signed char"), named_type("unsigned char"))
_CANDIDATES: tuple[CType, ...] = (INT, DOUBLE, FLOAT, *_CHARS, named_type("unsigned long"))
"""Types that an unknown type may be; `char` is one of two."""


def _real(pair: Pair, steps: Steps, places: list[CellKey]) -> ValueDifference | None:
    """Finds a cell whose values differ under every type that an unknown type may be."""
    types = pair.types
    found: ValueDifference | None = None
    has_integers = any(isinstance(one, Integer) for one in types.values())
    most, numbers = (MOST_OF_INTEGERS, _numbers(pair)) if has_integers else (MOST_SEEDS, ())
    begun = World(0, DOUBLE, pair.reassociate, pair.opaque, {}, pair.known, pair.unset, numbers)
    runs = [computing(side) for side in steps]
    for unknown in _possible_types(pair):
        found = None
        for seed in range(_seeds(steps, most)):
            world = replace(begun, seed=seed, unknown=unknown)
            try:
                left = [run(world, places) for run in runs]
                for place in places:
                    values = [side.get(place) or world.input(place, types[place[0]]) for side in left]
                    if found is None and differ(*values):
                        is_open = rests_on_unset(steps[0], place, world)
                        found = None if is_open else ValueDifference(place, values[0], values[1], world)
            except Undefined:
                continue
            if found is not None:
                break
        if found is None:
            return None
    return found


def _seeds(steps: Steps, most: int) -> int:
    """How many inputs to try: reordered sums often round to the same, and maxima hide other operands."""
    return max(FACTORED + 1, min(most, SEEDED_STEPS // max(1, len(steps[0]) + len(steps[1]))))


def _numbers(pair: Pair) -> tuple[int, ...]:
    """The first integers in the expressions of the programs."""
    parts = (part for one in pair.assignments for part in subterms(one.value))
    found = (part.value.value for part in parts if isinstance(part, Index) and isinstance(part.value, Int))
    return tuple(dict.fromkeys(one for one in found if 1 < abs(one) <= LARGEST_NUMBER))[:MOST_NUMBERS]


def _possible_types(pair: Pair) -> tuple[CType, ...]:
    """The types that an unknown type may be; those of header constants are known."""
    unknown = [part for part in _typed_parts(pair) if not is_arithmetic(part.type)]
    names = {part.array for part in unknown if isinstance(part, CellTerm)}
    kinds = {type(pair.constants.get(name)) for name in names}
    if not unknown or (kinds == {float} and not any(isinstance(part, Apply) for part in unknown)):
        return (DOUBLE,)
    if all(unqualified(part.type) == CHAR for part in unknown):
        return _CHARS
    is_int = kinds == {int} and not any(isinstance(part, Apply) for part in unknown)
    return (INT,) if is_int else _CANDIDATES


def _typed_parts(pair: Pair) -> list[CellTerm | Apply]:
    """The cells, conversions and function results."""
    return [
        part
        for assignment in pair.assignments
        for part in (assignment.target, *subterms(assignment.value))
        if isinstance(part, CellTerm)
        or (isinstance(part, Apply) and (part.operator.startswith("(") or part.operator.endswith("()")))
    ]


def _refuted(
    pair: Pair, sizes: Sizes, place: CellKey, found: Telling, runs: tuple[Numbered, Numbered], table: Table
) -> Refuted:
    name = cell_text(place)
    shown = [
        f"{number_text(value)} {_writer(run, place, path)}"
        for value, run, path in zip((found.old, found.new), runs, pair.paths, strict=True)
    ]
    numbers = [_final(run, place, table) for run in runs]
    inner = first_difference(table, numbers[0], numbers[1])
    where = [
        described(table, number) + (f" in line {run.lines[number]}" if number in run.lines else "")
        for number, run in zip(inner, runs, strict=True)
    ]
    text = f"{name} is {shown[0]}, but {shown[1]}"
    text += f", {found.inputs}" if found.inputs else ""
    counted = bag_difference(table, *inner)
    text += f"; {counted}" if counted else f"; the first difference: {where[0]}, but {where[1]}"
    unknown = sorted(_functions(pair) - LIBRARY)
    if unknown:
        text += f"; taking {', '.join(unknown)} for any function"
    listed = values_text(sizes)
    message = f"{name} does not end up with the same value"
    witness = f"{listed}: {text}" if listed else text
    inputs = tuple((*cell, float(value.number)) for cell, value in found.given.items() if not is_zero(value))
    return Refuted("equivalence", message, witness, sizes, cell=place, inputs=inputs)


def _writer(run: Numbered, place: CellKey, path: str) -> str:
    if place not in run.cells:
        return f"after {path}, which does not write it"
    return f"after {path} (line {run.cells[place].line})"


def _functions(pair: Pair) -> set[str]:
    return {
        part.operator[:-2]
        for assignment in pair.assignments
        for part in subterms(assignment.value)
        if isinstance(part, Apply) and part.operator.endswith("()")
    }
