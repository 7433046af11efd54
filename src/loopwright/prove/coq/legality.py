"""Legality for Coq: an outline of every statement, and a lemma for each pair that the outlines leave open.

The functions `text_order`, `steady` and `decided` are those of `proofs/Outline.v`, by the same
names.  Nothing depends on their being right: where Coq finds another pair open, or this one closed,
it refuses the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Int
from loopwright.prove.coq.arithmetic import Names, vector
from loopwright.prove.coq.names import comment, text, variables
from loopwright.prove.coq.statements import (
    Named,
    applied,
    binders,
    domain_name,
    label,
    statement_term,
    time_name,
)
from loopwright.prove.coq.terms import listed
from loopwright.prove.obligations.cells import Cell, StatementCells
from loopwright.prove.obligations.decisions import Decided
from loopwright.prove.obligations.legality import meetings
from loopwright.prove.obligations.timetable import Shape, TimedStatement, Vector

Places: TypeAlias = tuple[int | None, ...]
"""The places of a time: a number, or None where it is not one."""


@dataclass(frozen=True, eq=False)
class Outline:
    """A statement before and after, and what its text says of it."""

    statement: str
    label: str
    """What it is called in names of definitions."""
    arguments: tuple[str, ...]
    use: StatementCells
    old: str
    new: str
    """The statement before and after, as terms of Coq."""
    domain: str
    old_time: str
    new_time: str
    old_places: Places
    new_places: Places
    stays: int
    """How many places stay, from the first; one more than there are where all do."""


def outlines(before: Named, after: Named, uses: Sequence[StatementCells]) -> tuple[Outline, ...]:
    """Of every statement, in the order of the old timetable."""
    by_name = {use.statement: use for use in uses}
    later = {one.name: one for one in after.table.statements}
    return tuple(
        _outline(one, later[one.name], before, after, by_name[one.name]) for one in before.table.statements
    )


def _outline(
    old: TimedStatement,
    new: TimedStatement,
    before: Named,
    after: Named,
    use: StatementCells,
) -> Outline:
    first, second = _shape(old), _shape(new)
    times = _time(first), _time(second)
    return Outline(
        old.name,
        label(before, old),
        first.arguments,
        use,
        statement_term(before, old),
        statement_term(after, new),
        domain_name(before, old),
        time_name(before, old),
        time_name(after, new),
        _places(times[0]),
        _places(times[1]),
        _stays(*times) if first.arguments == second.arguments else 0,
    )


def _shape(statement: TimedStatement) -> Shape:
    if len(statement.shapes) != 1 or statement.shapes[0].times:
        raise GaveUp(Code.NO_PROOF, f"no proof can be written: {statement.name} has no single time")
    return statement.shapes[0]


def _time(shape: Shape) -> Vector | None:
    """None where the time is given in pieces."""
    return shape.time.value if isinstance(shape.time, Decided) else None


def _places(time: Vector | None) -> Places:
    return () if time is None else tuple(one.value if isinstance(one, Int) else None for one in time)


def _stays(old: Sequence[Expr] | None, new: Sequence[Expr] | None) -> int:
    """How many places, from the first, are numbers in both or the same in both."""
    if old is None or new is None:
        return 0
    for k, (a, b) in enumerate(zip(old, new, strict=False)):
        if a != b and not (isinstance(a, Int) and isinstance(b, Int)):
            return k
    return len(old) + 1 if len(old) <= len(new) else len(new)


# -- what outlines decide -------------------------------------------------------------------------


def text_order(one: Places, other: Places) -> int:
    """−1 or 1 where numbers at the first places decide, 0 where they do not."""
    for a, b in zip(one, other, strict=False):
        if a is None or b is None:
            return 0
        if a != b:
            return -1 if a < b else 1
    return 0


def steady(count: int, one: Places, other: Places, one_new: Places, other_new: Places) -> bool:
    """Whether the first `count` places decide the order of the two, before and after in the same way."""
    if len(one) != len(other):
        return False
    for _, a, b, c, d in zip(range(count), one, other, one_new, other_new, strict=False):
        if a is not None and b is not None and c is not None and d is not None:
            if a > b or (a < b and c < d):
                return True
            if a != b or c != d:
                return False
        elif (a, b) != (c, d):
            return False
    return count > len(one)


def decided(one: Outline, other: Outline) -> bool:
    if not any(True for _ in meetings(one.use, other.use)):
        return True
    old = text_order(one.old_places, other.old_places)
    if old > 0 or (old < 0 and text_order(one.new_places, other.new_places) < 0):
        return True
    count = min(one.stays, other.stays)
    return steady(count, one.old_places, other.old_places, one.new_places, other.new_places)


# -- the file -------------------------------------------------------------------------------------


def outline_definition(one: Outline, named: Named) -> str:
    reads, writes = (listed(text(cell.array) for cell in cells) for cells in (one.use.reads, one.use.writes))
    return (
        f"Definition outline_{one.label}{binders(list(named.parameters.values()))} : outline :=\n"
        f"  Outline ({one.old})\n"
        f"    ({one.new})\n"
        f"    (use_{one.label}{applied(named)}) {len(one.arguments)} {reads} {writes}\n"
        f"    {_shown_places(one.old_places)}\n"
        f"    {_shown_places(one.new_places)} {one.stays}."
    )


def _shown_places(places: Places) -> str:
    return listed("None" if one is None else f"Some {one}" if one >= 0 else f"Some ({one})" for one in places)


def kept_lemmas(found: Sequence[Outline], named: Named) -> Iterator[tuple[str, str]]:
    """The name and the text of a lemma for each pair that is not decided, in the order Coq asks for them."""
    for one, other in product(found, repeat=2):
        if not decided(one, other):
            name = f"kept_{one.label}_{other.label}"
            yield name, _lemma(name, one, other, named)


def _lemma(name: str, one: Outline, other: Outline, named: Named) -> str:
    own = variables(one.arguments, named.parameters.values())
    primed = variables(
        [f"{argument}'" for argument in other.arguments], [*named.parameters.values(), *own.values()]
    )
    theirs = dict(zip(other.arguments, primed.values(), strict=True))
    x, y = listed(own.values()), listed(theirs.values())
    sizes = list(named.parameters.values())
    at = applied(named)
    cells = dict.fromkeys(
        f"{_subscripts(a, own, named)} = {_subscripts(b, theirs, named)}"
        for a, b in meetings(one.use, other.use)
    )
    arrays = dict.fromkeys(a.array for a, _ in meetings(one.use, other.use))
    lines = [
        f"(** {_meaning(one, other, list(arrays), named)} *)",
        f"Lemma {name} :{_every(sizes)} known {listed(sizes)} ->",
        f" {_every(list(own.values()))} {one.domain}{at} {x} ->",
        f" {_every(list(theirs.values()))} {other.domain}{at} {y} ->",
        "  " + " \\/\n  ".join(cells) + " ->",
        f"  lex_lt ({one.old_time}{at} {x}) ({other.old_time}{at} {y}) ->",
        f"  lex_lt ({one.new_time}{at} {x}) ({other.new_time}{at} {y}).",
        "Proof. prove_kept. Qed.",
    ]
    return "\n".join(lines)


def _every(names: Sequence[str]) -> str:
    return f" forall {' '.join(names)}," if names else ""


def _subscripts(cell: Cell, own: Names, named: Named) -> str:
    return vector(cell.subscripts, {**named.parameters, **own}) if cell.subscripts else "@nil Z"


def _meaning(one: Outline, other: Outline, arrays: Sequence[str], named: Named) -> str:
    both = "Two instances of " if one is other else f"{named.place(one.statement)}, and "
    cells = comment(", ".join(arrays))
    return (
        f"{both}{named.place(other.statement)}: where they touch a cell of {cells}, one of them\n"
        "    writing it, and the first ran earlier, it still does."
    )


DIFFERENT = ("old_loops_end", "old_nothing_missing", "old_in_order")
"""What implies that no two instances of the original have the same time."""


def legality_proof(found: Sequence[Outline], named: Named, lemmas: Sequence[str]) -> str:
    sizes = applied(named)
    entry = " ".join([*named.parameters.values(), "Hp"])
    listing = listed(f"outline_{one.label}{sizes}" for one in found)
    point = listed(named.parameters.values())
    steps = [f"  - kept_by ({lemma}{sizes} Hp)." for lemma in lemmas]
    return "\n".join(
        [
            "Theorem transformation_legal : forall p, known p ->",
            "  legal (memory_use p) (statements source p) (statements target p).",
            "Proof.",
            f"  known_parameters. for_all_parameters. intros {entry}.",
            f"  by_outlines {listing}.",
            "  - exact (times_differ _ _ _",
            *(f"      ({lemma} {point} Hp)" for lemma in DIFFERENT[:-1]),
            f"      ({DIFFERENT[-1]} {point} Hp)).",
            *steps,
            "Qed.",
        ]
    )
