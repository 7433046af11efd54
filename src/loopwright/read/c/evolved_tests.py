"""Rewrites the tests of loops over tracked variables as tests of the iteration count."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

from loopwright.c.sums import Atom, IntegerSum
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.types import LONG, Integer, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.evolved_state import EvolvedState
from loopwright.read.c.evolved_values import ElementPointer, Value, loops_around, moved_variable, rank_of
from loopwright.read.c.purity import LIBRARY

_COMPARED = ("<", "<=", ">", ">=", "!=")
LoopTest: TypeAlias = tuple[str, tuple[tuple[IntegerSum, str, IntegerSum], ...]]


@dataclass(frozen=True)
class EvolvedTests:
    """Tests as C text, with the numbers that they compare."""

    state: EvolvedState
    file: TypedFile
    pointers_alone: bool

    def read(self, test: tree.Expression, body: tree.Statement, number: Atom) -> LoopTest | None:
        """The test of a loop as C text, with the numbers it compares; performs its modifications."""
        core = tree.without_casts(test)
        if isinstance(core, tree.Binary) and core.operator == "&&" and not self.state.changes_in(core):
            both = self.read(core.left, body, number), self.read(core.right, body, number)
            if both[0] is None or both[1] is None:
                return None
            return f"({both[0][0]}) && ({both[1][0]})", (*both[0][1], *both[1][1])
        if not isinstance(core, tree.Binary) or core.operator not in _COMPARED:
            return None
        worth = self.state.embedded(core)
        sides = [self._compared(one, worth) for one in (core.left, core.right)]
        match sides:
            case [IntegerSum() as left, IntegerSum() as right] if core.operator != "!=":
                relation: str | None = core.operator
                wider = max(core.left.type, core.right.type, key=rank_of)
                spelled = partial(self.state.widths.number, kind=wider)
            case [ElementPointer() as one, ElementPointer() as other] if one.is_near(other):
                left, right, spelled = one.last, other.last, partial(self.state.widths.number, kind=LONG)
                relation = core.operator if core.operator != "!=" else self._ending(left, right, body, number)
            case _:
                return None
        at = test.place.first
        self.state.check(left, at)
        self.state.check(right, at)
        if relation is None:
            return None
        return f"{spelled(left)} {relation} {spelled(right)}", ((left, relation, right),)

    def _ending(self, left: IntegerSum, right: IntegerSum, body: tree.Node, number: Atom) -> str | None:
        """The relation < or > for !=, if each iteration moves pointers one element closer: passing each
        other is undefined, as long as all calls return.  Otherwise != is kept, and the loop must be proved
        to end."""
        gap = right.minus(left).coefficient(number)
        closer = None if gap is None else gap.constant
        if closer in (1, -1) and not self.pointers_alone:
            return "!="
        is_exact = closer in (1, -1) and self.pointers_alone and self._returns(body)
        return {-1: "<", 1: ">"}[closer] if is_exact and closer is not None else None

    def _returns(self, body: tree.Node) -> bool:
        calls = (node.callee for node in tree.walk(body) if isinstance(node, tree.CallExpression))
        return all(
            callee is not None
            and callee.name.removeprefix("__builtin_") in LIBRARY
            and self.file.definition(callee) is None
            for callee in calls
        )

    def counted_down(
        self, node: tree.Node, body: tree.Node, test: tree.Expression, number: Atom
    ) -> LoopTest | None:
        """The test for `n--`, `n-- > 0` or `n-- != 0`, if nothing else reads n afterwards."""
        core, relation = tree.without_casts(test), "!="
        if not self.pointers_alone:
            return None
        if isinstance(core, tree.Binary) and core.operator in (">", "!="):
            right, relation = tree.without_casts(core.right), core.operator
            core = tree.without_casts(core.left)
            if not isinstance(right, tree.Number) or right.value != 0:
                return None
        one = moved_variable(core)
        if not isinstance(core, tree.Update) or core.is_prefix or core.operator != "--" or one is None:
            return None
        kind, function = unqualified(one.type), self.state.region.function
        if not isinstance(kind, Integer) or kind.rank < 1 or not _is_own(one, function):
            return None
        is_exact = relation == ">" or not kind.signed
        if not is_exact and (kind.rank < 3 or not self._returns(body)):
            return None  # it may wrap around and continue, or exit before the behaviour is undefined
        mentioned, place = function.mentions.get(one.offset, ()), node.place
        declarators = [x for x in function.nodes if isinstance(x, tree.Declarator)]
        declared = [x.place.first for x in declarators if x.declaration == one]
        outer = [x.place for x in loops_around(node, function.nodes)]
        is_fresh = all(declared and x.first < declared[0] < x.end for x in outer)
        is_last = all(at < place.end for at in mentioned)
        if not is_fresh or not is_last or any(body.place.first <= at < body.place.end for at in mentioned):
            return None
        count = IntegerSum.atom(one.name, (one.offset,))
        self.state.check(count, place.first)
        left = IntegerSum((((number,), 1),))
        return f"{left} < {count}", ((left, "<", count),)

    def _compared(self, node: tree.Expression, worth: Mapping[int, Value]) -> Value | None:
        core = tree.without_casts(node)
        known = worth.get(id(core))
        return known if known is not None else self.state.value(node)


def _is_own(one: tree.Declaration, function: TypedFunction) -> bool:
    return function.keeps(one) and not any(one.name in problem.words for problem in function.problems)
