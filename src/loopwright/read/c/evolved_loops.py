"""The values of variables at the start of each iteration, derived from the effect of one iteration.

    v + s                       v + s * number
    c - v                       v, c - v, v, c - v, ..
    w, where w becomes v        v, w, v, w, ..
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.c.sums import Atom, IntegerSum, RunCount
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedRegion
from loopwright.c.types import Integer, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.evolved_values import ElementPointer, Value, moved_variable, step_of, steps_of

_MARK = "@"


@dataclass(frozen=True)
class EvolvingLoop:
    """The values of variables before a loop, at the start of an iteration (marked), and at its end."""

    before: Mapping[int, Value | None]
    marks: Mapping[int, Value | None]
    after: Mapping[int, Value | None]
    number: IntegerSum
    """The number of completed iterations."""


def mark(one: tree.Declaration, before: Value | None) -> Value | None:
    """A symbolic value for a variable at the start of an iteration."""
    if before is None:
        return None
    names = (f"{_MARK}{one.offset}.{place}" for place, _ in enumerate(before.numbers))
    return before.with_numbers(tuple(IntegerSum.atom(name, (one.offset,)) for name in names))


def evolved(loop: EvolvingLoop, inside: frozenset[int]) -> dict[int, Value | None]:
    """The values at the start of iteration `number`; None if unknown."""
    found: dict[int, Value | None] = {}
    for one, before in loop.before.items():
        if one not in loop.after:
            continue
        found[one] = None
        if before is not None and _is_like(before, loop.after[one]):
            parts = [_part(loop, inside, one, place) for place, _ in enumerate(before.numbers)]
            known = tuple(part for part in parts if part is not None)
            found[one] = before.with_numbers(known) if len(known) == len(parts) else None
    return found


def _is_like(one: Value, other: Value | None) -> bool:
    """Whether both are numbers, or pointers into one array."""
    bases = [value.base if isinstance(value, ElementPointer) else None for value in (one, other)]
    return other is not None and bases[0] == bases[1]


def _parts(value: Value | None) -> tuple[IntegerSum, ...]:
    return () if value is None else value.numbers


def _part(loop: EvolvingLoop, inside: frozenset[int], one: int, place: int) -> IntegerSum | None:
    """The value of one number of a variable."""
    first, after = _parts(loop.before[one])[place], _parts(loop.after[one])[place]
    ((own,), _), = _parts(loop.marks[one])[place].terms
    factor, rest = after.coefficient(own), after.without(own)
    if after == first and not _is_marked(first):
        return first
    if factor is None or rest.about & inside:
        return None
    if factor.constant == 1 and not _is_marked(rest):
        return first.plus(rest.times(loop.number))
    parity = IntegerSum.atom(f"({loop.number.operand} % 2)", loop.number.about)
    if factor.constant == -1 and not _is_marked(rest):
        return first.plus(rest.minus(first).minus(first).times(parity))
    other = _changing_places(loop, own, place, after)
    return None if other is None else first.plus(other.minus(first).times(parity))


def _changing_places(loop: EvolvingLoop, own: Atom, place: int, after: IntegerSum) -> IntegerSum | None:
    """The value before the loop of another variable, if the two are swapped in each iteration."""
    for one, marked in loop.marks.items():
        theirs = _parts(marked)
        then = _parts(loop.after.get(one))
        if place < len(theirs) and place < len(then) and theirs[place] == after:
            return _parts(loop.before[one])[place] if then[place] == IntegerSum((((own,), 1),)) else None
    return None


def _is_marked(value: IntegerSum) -> bool:
    return any(_MARK in atom.text for atom in value.atoms)


def after_all(values: Mapping[int, Value | None], inner: frozenset[int]) -> dict[int, Value | None]:
    """Values after a loop, without those that depend on what is declared in it."""
    gone = {one for one, value in values.items() if value is not None and value.about & inner}
    return {one: None if one in gone else value for one, value in values.items()}


def entered(values: Mapping[int, Value | None], count: RunCount | None) -> dict[int, Value | None]:
    """Values inside a loop, where its trip count is known to be positive."""
    if count is None or len(count.all.atoms) != 1:
        return dict(values)
    (atom,) = count.all.atoms
    return {
        one: value and value.with_numbers(tuple(x.replaced(atom, count.once_entered) for x in value.numbers))
        for one, value in values.items()
    }


def added(now: Value | None, by: Value | None, sign: str) -> Value | None:
    """`now + by` if `sign` starts with a plus, otherwise `now - by`."""
    if not isinstance(by, IntegerSum):
        return None
    by = by if sign.startswith("+") else IntegerSum().minus(by)
    match now:
        case IntegerSum():
            return now.plus(by)
        case ElementPointer():
            return now.moved(by)
    return None


def either(test: Value | None, one: Value | None, other: Value | None) -> Value | None:
    """The value of a variable after an `if`, given its values after both branches."""
    if one == other:
        return one
    if not isinstance(test, IntegerSum):
        return None
    if not isinstance(one, IntegerSum) or not isinstance(other, IntegerSum):
        return None
    text = f"({test.operand} ? {one.operand} : {other.operand})"
    return IntegerSum.atom(text, one.about | other.about | test.about)


@dataclass(frozen=True)
class PlainLoop:
    """A loop `for (int i = a; ..; i++, p++)` with no other modification of i."""

    counter: tree.Declaration
    initial: tree.Expression
    counting: tree.Expression
    others: tuple[tree.Expression, ...]


def plain_loop(node: tree.Node, *, assigned: bool) -> PlainLoop | None:
    """A loop with an integer iterator of its own; `assigned`: or with one that it initialises."""
    match node:
        case tree.ForStatement(
            first=tree.Declare(variables=(tree.Declarator(declaration=counter, initial=value),)), step=step
        ) if value is not None:
            initial: tree.Expression = value
        case tree.ForStatement(
            first=tree.Assign(operator="=", target=tree.Name(declaration=counter), value=initial), step=step
        ) if assigned and counter.is_own and not counter.attributes:
            pass
        case _:
            return None
    steps = [] if step is None else steps_of(step)
    counting = [one for one in steps if moved_variable(one) == counter and step_of(one) is not None]
    if len(counting) != 1 or not isinstance(unqualified(counter.type), Integer):
        return None
    others = tuple(one for one in steps if one is not counting[0])
    inside = tree.walk_all((*others, node.body, *(() if node.test is None else (node.test,))))
    if any(moved_variable(one) == counter for one in inside):
        return None
    return PlainLoop(counter, initial, counting[0], others)


def breaks(body: tree.Node) -> bool:
    return any(isinstance(one, tree.OtherStatement) and one.kind == "BREAK_STMT" for one in tree.walk(body))


@dataclass(frozen=True)
class NameScope:
    """The range of tokens where a name denotes a variable."""

    name: str
    offset: int
    first: int
    end: int


def scopes(region: TypedRegion) -> Iterator[NameScope]:
    """The scopes of all variables of a function, and of the others that it names."""
    function = region.function
    last = len(function.tokens)
    yield from (NameScope(one.name, one.offset, 0, last) for one in function.parameters)
    known = {one.offset for one in function.parameters}
    around = tree.parents(function.nodes)
    for node in function.nodes:
        if isinstance(node, tree.Declarator):
            outer = around.get(id(node))
            while outer is not None and not isinstance(outer, tree.CompoundStatement | tree.ForStatement):
                outer = around.get(id(outer))
            end = last if outer is None else outer.place.end
            known.add(node.declaration.offset)
            yield NameScope(node.declaration.name, node.declaration.offset, node.place.first, end)
    others = {one.declaration for one in function.nodes if isinstance(one, tree.Name)}
    yield from (NameScope(one.name, one.offset, -1, last) for one in others if one.offset not in known)
