"""Proves that statements whose condition is tested before they run do what they did.

A statement S of P, `if (c) b`, is in P' `if (hit) if (c) b`, after Z, `hit = 0`, and T, `hit |= c`.
A block u is what runs at the times that begin with the entries u.  P' leaves what P does, if

    operations   the texts are these, `hit` is a new int, and all other statements are unchanged;
    blocks       θS(i) = (u, p, v) and θT(i) = (u, p - d, w) for the same instances i, Z runs at (u, p - e),
                 0 < d < e, with one p for each u, and no such (u, p) is that of two of them;
    alone        no other statement writes what c(i) reads, or hit, from (u, p - e) on until S(i);
    defined      c has no effect, and is defined where T evaluates it (`prove.legality.tested_values`).

Proof.  In a block, hit is at S(i) what Z and all T(j) left: 0 if every c(j) was 0 at T(j), else 1.  Where it
is 1, S(i) is what it was.  Where it is 0, let S(j) be the first instance of the block whose c(j) is 1 when it
runs in P.  No S before it in the block has written anything, and nothing else writes what c(j) reads between
T(j) and S(j): c(j) is what it was at T(j), 0, a contradiction.  So no S of the block does anything in P.  The
values do not matter, -0 or what is not a number: nothing is computed but c.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import islpy as isl

from loopwright.c.conditions import ConditionalStatement, conditional_statement
from loopwright.c.tokens import names_in, spelled
from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE, Access, Array, MemorySpace, Program, Statement
from loopwright.presburger.dimensions import equal_in, first, padded, split
from loopwright.presburger.sets import IN, OUT, isl_failures
from loopwright.prove.legality.summands import is_at_the_same_time
from loopwright.prove.legality.tested_values import refuse_other_values
from loopwright.prove.legality.values import StorageVerdict, access_text, moves, other_text
from loopwright.transform.storage import StorageChange

MOST_STATEMENTS = 32
"""The most statements, or loops, between Z and S in a block that are looked at."""


@dataclass(frozen=True)
class TestedStatement:
    """The name of S in both programs, and those of Z and T."""

    run: str
    clear: str
    test: str


def prove_pretests(change: StorageChange) -> StorageVerdict:
    """Proves the change; raises GaveUp where it is not shown to be one of these, or not to be right."""
    tested = [TestedStatement(name, clear, test) for name, (clear, test) in change.tests.items()]
    return StorageVerdict(prove_tested(change.before, change.after, tested))


@isl_failures("isl could not compare a program with one that tests conditions first")
def prove_tested(before: Program, after: Program, tested: Sequence[TestedStatement]) -> int:
    """Proves that `after` does what `before` does: how many obligations; raises GaveUp where it cannot.

    Several statements may use the variable in turn, if none does while another needs its value.
    """
    hit = _only_new_variable(before, after)
    _refuse_other_program(before, after, tested)
    for one in tested:
        old, new = before.statement(one.run), after.statement(one.run)
        clear, test = after.statement(one.clear), after.statement(one.test)
        found = conditional_statement(old.body.place.text)
        if found is None or old.body.terminator:
            raise _undecided(f"{one.run} may be no statement under a comparison")
        reads = tested_reads(old, found)
        _refuse_other_statement(old, new, hit)
        _refuse_other_clearing(clear, hit)
        _refuse_other_test(old, reads, test, found, hit)
        blocks = _blocks(after, clear, test, new)
        _refuse_writes_between(after, one, (*reads, new.accesses[0]), blocks)
        refuse_other_values(before, old, found, reads, blocks.of_instances)
    uses = {one.name for one in after.statements if any(access.array == hit for access in one.accesses)}
    if uses != {name for one in tested for name in (one.run, one.clear, one.test)}:
        raise _undecided(f"{hit} is used for something else")
    return 3 * len(after.statements) + 8 * len(tested)


def _undecided(reason: str) -> GaveUp:
    return GaveUp(Code.UNDECIDED, f"could not decide: {reason}")


def _only_new_variable(before: Program, after: Program) -> str:
    """The variable `hit`, which nothing else in the file can mean."""
    known = {one.name for one in before.arrays}
    new = [one for one in after.arrays if one.name not in known]
    if len(new) != 1 or len(after.arrays) != len(known) + 1 or ELSEWHERE in known or not _is_flag(new[0]):
        raise _undecided("a test before statements has other storage")
    if new[0].name in names_in(before.source.text):
        raise _undecided(f"{new[0].name} has another meaning in the file")
    return new[0].name


def _is_flag(array: Array) -> bool:
    is_whole = array.element_type in ("int", "long long") and array.space in (None, MemorySpace.STACK)
    return is_whole and (array.rank, array.local, array.addressed) == (0, True, False)


def _refuse_other_program(before: Program, after: Program, tested: Sequence[TestedStatement]) -> None:
    """Checks that everything except the statements about tests is unchanged."""
    added = {name for one in tested for name in (one.clear, one.test)}
    kept = [one.name for one in after.statements if one.name not in added]
    if kept != [one.name for one in before.statements] or len(added) != 2 * len({one.run for one in tested}):
        raise _undecided("conditions are tested in another program")
    run = {one.run for one in tested}
    for old in before.statements:
        new = after.statement(old.name)
        if not is_at_the_same_time(old, new):
            raise _undecided(f"{old.name} runs at another time where a condition is tested")
        if old.name not in run:
            different = other_text(old, new, before, after)
            if different or any(moves(a, b) for a, b in zip(old.accesses, new.accesses, strict=True)):
                raise _undecided(different or f"{old.name} is another statement where one is tested")


def tested_reads(statement: Statement, found: ConditionalStatement) -> tuple[Access, ...]:
    """The accesses of the condition, in their order."""
    start = statement.body.place.start
    first_, last = (start + one for one in found.place)
    return tuple(one for one in statement.accesses if first_ <= one.place.start and one.place.end <= last)


def _refuse_other_statement(old: Statement, new: Statement, hit: str) -> None:
    """Checks that S has the test of `hit` before it, and otherwise touches the same cells."""
    if spelled(new.body.place.text) != ["if", "(", hit, ")", *spelled(old.body.place.text)]:
        raise _undecided(f"{old.name} is another statement after a test")
    flag, *others = new.accesses
    same = len(others) == len(old.accesses) and not any(
        mine.is_write != theirs.is_write or moves(mine, theirs)
        for mine, theirs in zip(old.accesses, others, strict=True)
    )
    if not same or new.body.terminator or not _is_use(flag, hit, is_write=False):
        raise _undecided(f"{old.name} touches other cells after a test")


def _is_use(access: Access, hit: str, *, is_write: bool) -> bool:
    return access.array == hit and access.must and access.is_write == is_write


def _refuse_other_clearing(clear: Statement, hit: str) -> None:
    if spelled(clear.body.place.text) != [hit, "=", "0", ";"] or [
        _is_use(one, hit, is_write=True) for one in clear.accesses
    ] != [True]:
        raise _undecided(f"{hit} is not cleared before a test")


def _refuse_other_test(
    old: Statement, reads: tuple[Access, ...], test: Statement, found: ConditionalStatement, hit: str
) -> None:
    """Checks that T has the instances of S and evaluates its condition, on the cells that S reads for it."""
    same = (test.iterators, test.iterator_types) == (old.iterators, old.iterator_types)
    renamed = test.domain.set_tuple_id(old.domain.get_tuple_id())
    if not same or test.body.terminator or not renamed.is_equal(old.domain):
        raise _undecided(f"the test of {old.name} has other instances")
    if spelled(test.body.place.text) != [hit, "|=", *spelled(found.condition.text), ";"]:
        raise _undecided(f"the test of {old.name} is another condition")
    own = [one for one in test.accesses if one.array == hit]
    others = [one for one in test.accesses if one.array != hit]
    flags = [_is_use(one, hit, is_write=is_write) for one, is_write in zip(own, (False, True), strict=False)]
    if len(own) != 2 or flags != [True, True] or len(others) != len(reads):
        raise _undecided(f"the test of {old.name} touches other cells")
    for mine, theirs in zip(reads, others, strict=True):
        cells = theirs.relation.set_tuple_id(IN, old.domain.get_tuple_id())
        same = mine.array == theirs.array and not theirs.is_write and not mine.is_write
        if not same or not cells.intersect_domain(old.domain).is_equal(
            mine.relation.intersect_domain(old.domain)
        ):
            raise _undecided(f"the test of {old.name} reads other cells")


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The times of S[i], of which (u, p) are the first `length` entries, and e of the blocks."""

    times: isl.Map
    length: int
    distance: int

    @property
    def of_instances(self) -> isl.Map:
        """{ S[i] -> (u, p) }."""
        return first(self.times, OUT, self.length)


def _blocks(after: Program, clear: Statement, test: Statement, run: Statement) -> _Blocks:
    """Checks that the times of Z, T and S are (u, p - e), (u, p - d, w) and (u, p, v), with 0 < d < e."""
    wrong = _undecided(f"the test of {run.name} is not right before it")
    zeroed, tested, ran = _times(after, (clear, test, run))
    tested = tested.set_tuple_id(IN, run.domain.get_tuple_id())
    steps = product(range(ran.dim(OUT)), range(1, MOST_STATEMENTS))
    entry, d = next(((k, d) for k, d in steps if _is_earlier(tested, ran, k, d)), (0, 0))
    if not d or not all(one.is_single_valued() for one in (zeroed, tested, ran)):
        raise wrong
    if any(not one.domain.is_subset(one.schedule.domain()) for one in (clear, test)):
        raise wrong
    at_zero, at_test, at_run = (first(one, OUT, entry + 1).range() for one in (zeroed, tested, ran))
    together = (at_zero, at_test), (at_zero, at_run), (at_test, at_run)
    cleared = first(zeroed, OUT, entry + 1)
    further = range(d + 1, MOST_STATEMENTS)
    e = next((e for e in further if at_zero.apply(_step(cleared, entry, e - d)).is_equal(at_test)), 0)
    is_one = split(at_run, entry).is_single_valued()
    if not e or not is_one or any(not a.is_disjoint(b) for a, b in together):
        raise wrong
    return _Blocks(ran, entry + 1, e)


def _is_earlier(times: isl.Map, later: isl.Map, entry: int, amount: int) -> bool:
    """Whether later times differ up to this entry only there, by an amount."""
    one, other = (first(each, OUT, entry + 1) for each in (times, later))
    return bool(one.apply_range(_step(one, entry, amount)).is_equal(other))


def _times(program: Program, statements: tuple[Statement, ...]) -> list[isl.Map]:
    """The times of the instances, of one length."""
    length = max(one.schedule.dim(OUT) for one in program.statements)
    return [
        padded(one.schedule, length).intersect_domain(one.domain).intersect_params(program.context)
        for one in statements
    ]


def _step(times: isl.Map, entry: int, amount: int) -> isl.Map:
    """{ t -> t + amount at one entry }."""
    step = isl.MultiAff.identity_on_domain_space(times.get_space().range())
    step = step.set_aff(entry, step.get_aff(entry).add_constant_val(isl.Val(amount)))
    return isl.Map.from_multi_aff(step)


def _refuse_writes_between(
    after: Program, tested: TestedStatement, reads: tuple[Access, ...], blocks: _Blocks
) -> None:
    """Checks that no other statement writes what c(i) or S(i) reads, from (u, p - e) on until S(i)."""
    names = (tested.clear, tested.test, tested.run)
    others = tuple(one for one in after.statements if one.name not in names)
    space, block = blocks.times.get_space().range(), range(blocks.length)
    earlier = isl.Map.lex_lt(space)
    back = [_step(blocks.times, blocks.length - 1, -count) for count in range(blocks.distance + 1)]
    for read in reads:
        reading = read.relation.reverse().apply_range(blocks.times)
        for other, times in zip(others, _times(after, others), strict=True):
            for write in (one for one in other.writes if one.array == read.array):
                writing = times.reverse().apply_range(write.relation).apply_range(reading)
                sooner = writing.intersect(earlier)
                if not all(equal_in(sooner.apply_range(one), block).is_empty() for one in back):
                    what = f"{other.name} may change '{access_text(read)}' between {tested.run} and its test"
                    hint = f"distribute {other.name} from {tested.run} first, or name an inner loop"
                    raise GaveUp(Code.UNDECIDED, f"could not decide: {what}", hint=hint)
