"""By running: finds sizes and inputs for which the two programs leave different values in memory.

Runs with uninterpreted operations show where to look; C arithmetic on generated inputs decides.  `x + x` and
`2 * x` do not differ, and `(a + b) + c` differs from `a + (b + c)`.  Runs that agree prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

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
from loopwright.prove.equivalence.arithmetic import TypedNumber, Unvalued, World, computed, computing, differ
from loopwright.prove.equivalence.beginning import OTHERWISE
from loopwright.prove.equivalence.counterexample import (
    Telling,
    cell_text,
    rests_on_unset,
    telling,
    telling_in_turn,
)
from loopwright.prove.equivalence.inputs import FACTORED, NOT_FINITE, SUBNORMAL
from loopwright.prove.equivalence.known_numbers import Beginning
from loopwright.prove.equivalence.numbering import Table, numbered
from loopwright.prove.equivalence.numbers import TRUTHS, Undefined
from loopwright.prove.equivalence.pairs import Pair, pair_of
from loopwright.prove.equivalence.refuting import (
    ShownDifference,
    Steps,
    final_number,
    functions_in,
    refuted,
)
from loopwright.prove.equivalence.terms import Apply, CellTerm, Index, subterms
from loopwright.prove.equivalence.traces import (
    CellKey,
    Sizes,
    computed_sizes,
    leading_to,
    runnable,
    small_sizes,
)
from loopwright.prove.equivalence.within_rows import within_rows
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.verdict import Refuted, Undecided
from loopwright.read.c.purity import CLASSES

FEW_STEPS, MOST_STEPS = 3_000, 30_000
"""Statement executions of both programs together, over all sizes."""
MOST_DOUBTS = 8
"""How many sizes with different operations but equal values are tried before giving up."""
MOST_SEEDS, MOST_OF_INTEGERS, SEEDED_STEPS = 40, 240, 4_000
"""Maximum number of inputs, and statement executions of one run over all of them."""
MOST_NUMBERED = 30_000
"""Statement executions that lead to a cell, up to which it is told where its values differ first."""
SHORT_RUN = 100
"""Statement executions of both programs in runs that are tried with several values of a flag."""
MOST_NUMBERS, LARGEST_NUMBER = 4, 100
"""How many integers of the programs are tried as inputs, and the largest."""


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
            if place[0] in pair.arrays
            and final_number(one, place, table) != final_number(other, place, table)
        ]
    said: str | None = None
    for given in _with_parameters(pair, steps, sizes) if places else ():
        if not pair.admits(given, _read_in(steps)):
            said = said or "whether what was assumed of parameters allows that was not determined"
            continue
        wrong = _difference(pair, steps, (sizes, given), places, is_led=only is not None)
        if isinstance(wrong, ShownDifference):
            read = {*sizes} | _read_in(wrong.parts)
            told = {name: value for name, value in given.items() if name in read}
            is_long = sum(map(len, wrong.parts)) > MOST_NUMBERED
            known = None if is_long else runs or numbered(wrong.parts, table)
            return refuted(pair, told, wrong, known, table)
        said = said or wrong
    return said


def _with_parameters(pair: Pair, steps: Steps, sizes: Sizes) -> Iterator[Sizes]:
    """Yields the sizes with values of the other integer parameters that the runs read: the usual ones, and in
    short runs one that is 0, negative, or a number of the programs, as parameters may be flags."""
    read = _read_in(steps) if pair.function is not None else set()
    others = [] if pair.function is None else sorted({*pair.function.parameters} & read - {*sizes})
    usual = {**sizes, **dict.fromkeys(others, OTHERWISE)}
    yield usual
    is_short = sum(map(len, steps)) <= SHORT_RUN
    for name, value in product(others if is_short else (), (0, -1, *_numbers(pair))):
        yield {**usual, name: value}


def _difference(
    pair: Pair, steps: Steps, sizes: tuple[Sizes, Sizes], places: list[CellKey], *, is_led: bool
) -> ShownDifference | str | None:
    """A difference in values for these sizes, without and with other parameters; a text if there is none.

    `is_led`: all steps lead to the only place.
    """
    begun = _begun(pair, steps, sizes)
    if begun is None:
        return None
    pair, beginning = begun
    try:
        wrong = _real(pair, steps, places)
    except Unvalued as unknown:
        return f"the operations differ, but what '{unknown}' computes is not known"
    if wrong is None:
        return f"{cell_text(places[0])} is computed by different operations, which gave the same values"
    parts = steps
    if not is_led:
        parts = leading_to(steps[0], wrong.place), leading_to(steps[1], wrong.place)
    doubt = _doubt(pair, beginning, {*sizes[0], *_read_in(parts)})
    if doubt is not None:
        return doubt
    shown = telling(parts, wrong.place, (wrong.old, wrong.new), wrong.world)
    given = {place: float(value.number) for place, value in shown.given.items()}
    doubt = beginning.keeps_out(given, functions_in(pair)) or _doubted_truth(pair, parts, wrong, shown)
    return doubt or ShownDifference(wrong.place, parts, shown)


def _begun(pair: Pair, steps: Steps, sizes: tuple[Sizes, Sizes]) -> tuple[Pair, Beginning] | None:
    """The pair with what is known at the beginning for these sizes; None if the region is not reached."""
    beginning = Beginning({}, frozenset()) if pair.function is None else pair.function.beginning(sizes[1])
    if beginning is None:
        return None
    values = {name: value for name, value in beginning.values.items() if value is not None}
    if any(values.get(name, size) != size for name, size in sizes[0].items()):
        return None  # the function computes another size from these parameters
    return replace(pair, known={**pair.known, **values}, loaded=_loaded(beginning, steps)), beginning


def _doubt(pair: Pair, beginning: Beginning, names: set[str]) -> str | None:
    """Why a run that treats these variables as inputs shows nothing."""
    doubt = beginning.doubt(names)
    if doubt is None and pair.function is not None and pair.function.hides_changes:
        return "what macros change before the region was not determined"
    return doubt


@dataclass(frozen=True)
class MeasuredRuns:
    """Two runs in doubles with 0 and 1 in turn in all cells, which leave two values in a cell."""

    place: CellKey
    values: tuple[float, float]
    inputs: tuple[CellKey, ...]
    """The cells that are read before they are written."""
    steps: Steps
    """The last execution of each statement that leads to the values."""


def told_by(pair: Pair, runs: MeasuredRuns, sizes: Sizes) -> Refuted | None:
    """The difference that two measured runs show, where all that they begin with are inputs."""
    given, read = next(_with_parameters(pair, runs.steps, sizes)), _read_in(runs.steps)
    begun = _begun(pair, runs.steps, (sizes, given)) if pair.admits(given, read) else None
    if begun is None:
        return None
    known, beginning = begun
    if any({runs.place[0], *read} & {*one} for one in (known.known, known.loaded, known.unset)):
        return None
    if _doubt(known, beginning, {*sizes, *read}) is not None:
        return None
    shown = telling_in_turn(runs.values, runs.inputs)
    numbers = {place: float(value.number) for place, value in shown.given.items()}
    if beginning.keeps_out(numbers, functions_in(known)) is not None:
        return None
    told = {name: value for name, value in given.items() if name in {*sizes} | read}
    wrong = ShownDifference(runs.place, runs.steps, shown)
    return refuted(known, told, wrong, None, Table(reassociate=False))


def is_reached(pair: Pair, sizes: Sizes) -> bool:
    """Whether the region is known to be reached for these sizes."""
    begun = _begun(pair, ((), ()), (sizes, sizes)) if pair.admits(sizes, set()) else None
    return begun is not None and not begun[1].assumed and _doubt(*begun, {*sizes}) is None


def _doubted_truth(pair: Pair, parts: Steps, wrong: ValueDifference, shown: Telling) -> str | None:
    """Why the difference may be one for some C libraries only, by what they return for true."""
    used = sorted(CLASSES & functions_in(pair))
    for truth in TRUTHS if used else ():
        world = replace(wrong.world, given=shown.given, truth=truth)
        try:
            left = (computed(run, world).get(wrong.place) for run in parts)
            kinds = wrong.old.type, wrong.new.type
            ends = [one or world.input(wrong.place, kind) for one, kind in zip(left, kinds, strict=True)]
            is_shown = differ(*ends)
        except (Undefined, Unvalued):
            is_shown = False
        if not is_shown:
            return f"the values differ only for some of the numbers that '{used[0]}' may return"
    return None


def _loaded(beginning: Beginning, steps: Steps) -> dict[str, CellKey]:
    """The variables that were set to a cell of their own type, and the cells."""
    types = {cell.array: cell.type for cell in _cells_read(steps)}
    loads = ((one.name, one.cell) for one in beginning.loaded)
    pairs = ((name, cell) for name, cell in loads if cell is not None and {name, cell[0]} <= types.keys())
    return {name: cell for name, cell in pairs if types[name] == types[cell[0]]}


def _read_in(steps: Steps) -> set[str]:
    return {cell.array for cell in _cells_read(steps)}


def _cells_read(steps: Steps) -> Iterator[CellTerm]:
    computations = {id(step.computation): step.computation for side in steps for step in side}
    return (cell for one in computations.values() for cell in one.read)


@dataclass(frozen=True)
class ValueDifference:
    """A cell that ends up with two different values, in a world."""

    place: CellKey
    old: TypedNumber
    new: TypedNumber
    world: World


_CHARS = (named_type("signed char"), named_type("unsigned char"))
_INTEGERS = ("_Bool", "short", "unsigned short", "unsigned", "long", "unsigned long")
_CANDIDATES: tuple[CType, ...] = (INT, DOUBLE, FLOAT, *_CHARS, *map(named_type, _INTEGERS))
"""Types that an unknown type may be, all but long double; `char` is one of two."""


def _real(pair: Pair, steps: Steps, places: list[CellKey]) -> ValueDifference | None:
    """Finds a cell whose values differ under every type that an unknown type may be."""
    types = pair.types
    found: ValueDifference | None = None
    has_integers = any(isinstance(one, Integer) for one in types.values())
    most, numbers = (MOST_OF_INTEGERS, _numbers(pair)) if has_integers else (MOST_SEEDS, ())
    begun = World(
        *(0, DOUBLE, pair.reassociate, pair.opaque, {}, pair.known, pair.loaded, pair.unset, numbers),
        extremes=_extremes(pair),
    )
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


def _extremes(pair: Pair) -> tuple[float, ...]:
    """The special numbers that cells may hold: none for a compiler that is told that there are none."""
    if pair.finite:
        return ()
    is_classified = not functions_in(pair).isdisjoint(("isnormal", "fpclassify"))
    return NOT_FINITE + SUBNORMAL if is_classified else NOT_FINITE


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
