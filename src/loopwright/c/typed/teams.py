"""The OpenMP team that runs a region: which variables each thread has its own copy of, and which differ.

`#pragma omp for` divides a loop among the threads of the enclosing `parallel` or, if its function has none,
among the threads that call the function.  Each thread has its own copy of variables declared inside, and of
those that clauses privatise.  Such a variable is equal in all threads if all threads give it equal values:

    x = e    under no other directive, where e has no calls and reads only variables that are equal, and
             likewise for all conditions around the assignment; and if it is in a loop around the region, for
             all conditions around the region: no thread skips iterations that others run

A shared variable is equal in all threads if none changes it there except under a directive, it is
neither atomic nor volatile, and no function is called that may be a lock, or change it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from loopwright.c import types
from loopwright.c.openmp import OpenmpDirective, directive_of
from loopwright.c.tokens import names_in
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.typed.known_values import ValuesBefore
from loopwright.c.typed.prepare import Located
from loopwright.c.typed.refusals import openmp_statements
from loopwright.lazy_dataclass import dataclass

_PRIVATE = ("private", "firstprivate")
_TEAM = frozenset((*_PRIVATE, "shared", "default", "num_threads", "if", "proc_bind"))
"""Clauses of `parallel` that leave it known which variables are private."""
_HARMLESS = "omp_get_"
_UNLIKE = (tree.CallExpression, tree.OtherExpression, tree.OtherStatement, tree.Assign, tree.Update)
"""Nodes whose value may differ between threads."""
_LEAVING = ("GOTO_STMT", "INDIRECT_GOTO_STMT", "BREAK_STMT", "CONTINUE_STMT")

_REACHED = (-1, -1)
"""Stands for the region among the variables that are being examined."""


class NoTeam(Exception):
    """The reason why it is unknown which threads run a region."""


@dataclass(frozen=True)
class Team:
    """The statement that all threads run, as a range of the preprocessed text."""

    region: TypedRegion
    start: int
    end: int
    listed: frozenset[str]
    """The names that clauses privatise."""
    others: tuple[tuple[int, int], ...]
    """The statements of other directives inside."""
    is_called: bool
    """Whether it is a function that all threads call."""

    @cached_property
    def own(self) -> frozenset[tree.Declaration]:
        """The variables in the region that are private to each thread."""
        names = (node for node in tree.walk_all(self.region.statements) if isinstance(node, tree.Name))
        return frozenset(one.declaration for one in names if self._is_own(one.declaration))

    @cached_property
    def given(self) -> tuple[str, ...]:
        """The function's parameters in it: equal in all threads if all call it with equal arguments."""
        found = (one.name for one in self.own if one.storage is tree.Storage.PARAMETER)
        return tuple(sorted(found)) if self.is_called else ()

    def unlike(self) -> str | None:
        """A variable that the region only reads, and that may differ between threads."""
        inside = [*tree.walk_all(self.region.statements)]
        changed = {tree.changed_root(node) for node in inside}
        read = sorted((one for one in self.own - changed), key=lambda one: one.offset)
        at = self.region.first
        return next((one.name for one in read if not self._is_same(one, at, frozenset())), None)

    @cached_property
    def _values(self) -> ValuesBefore:
        return ValuesBefore(self.region.function)

    def _is_own(self, one: tree.Declaration) -> bool:
        if one.is_file_scope or not one.is_own:
            return False
        return one.name in self.listed or self.start <= one.offset < self.end

    def _is_same(self, one: tree.Declaration, at: int, active: frozenset[tuple[int, int]]) -> bool:
        """Whether a variable has the same value in all threads that reach a token."""
        if one.is_thread_local or (one.offset, at) in active:
            return not one.is_thread_local
        if not self._is_own(one):
            return self._is_steady(one)
        function = self.region.function
        words = (problem.words for problem in function.problems)
        is_hidden = one.offset in function.addressed or any(one.name in each for each in words)
        if is_hidden or self._values.is_opaque or self._jumps:
            return False
        given, _ = self._values.reaching(one, at)
        inside = active | {(one.offset, at)}
        return all(self._gives_same(one, each.node, inside) for each in given)

    def _is_steady(self, one: tree.Declaration) -> bool:
        """Whether all threads that read a shared variable read the same value."""
        addressed = self.region.function.addressed
        is_hidden = one.is_file_scope or not one.is_own or one.offset in addressed
        return not _is_watched(one.type) and one not in self._changed and not (is_hidden and self._has_calls)

    @cached_property
    def _alone(self) -> list[tree.Node]:
        """The nodes that each thread runs, outside of the region and of other directives."""
        inside = (node for node in self.region.function.nodes if self._is_in_team(node))
        region = range(self.region.first, self.region.end)
        return [
            node
            for node in inside
            if node.place.first not in region
            and not any(start <= self._offset(node) < end for start, end in self.others)
        ]

    @cached_property
    def _changed(self) -> frozenset[tree.Declaration | None]:
        return frozenset(map(tree.changed_root, self._alone))

    @cached_property
    def _has_calls(self) -> bool:
        calls = (node for node in self._alone if isinstance(node, tree.CallExpression))
        return any(one.callee is None or not one.callee.name.startswith(_HARMLESS) for one in calls)

    @cached_property
    def _jumps(self) -> bool:
        """Whether a jump may make a thread skip unconditional statements."""
        others = (node for node in self._alone if isinstance(node, tree.OtherStatement))
        return any(node.kind in _LEAVING for node in others)

    def _gives_same(self, one: tree.Declaration, node: tree.Node, active: frozenset[tuple[int, int]]) -> bool:
        at = self._offset(node)
        if not self.start <= at < self.end:
            return True
        if any(start <= at < end for start, end in self.others):
            return False
        if self._is_repeated(node) and not self._is_reached_by_all(active):
            return False
        at, values = node.place.first, [*self._conditions(node)]
        if isinstance(node, tree.Assign):
            values.append(node.value)
        elif isinstance(node, tree.Declarator) and node.initial is not None:
            values.append(node.initial)
        is_plain = isinstance(node, tree.Declarator) or (
            isinstance(node, tree.Assign) and node.operator == "="
        )
        is_before = is_plain or self._is_same(one, at, active)
        return is_before and all(self._is_same_value(part, at, active) for part in values)

    def _is_repeated(self, node: tree.Node) -> bool:
        """Whether a loop around the region runs a node."""
        loops = (one.place for one in self.region.function.nodes if isinstance(one, tree.ForStatement))
        region = self.region
        return any(
            one.first < region.first and region.end <= one.end and one.first < node.place.first < one.end
            for one in loops
        )

    def _is_reached_by_all(self, active: frozenset[tuple[int, int]]) -> bool:
        """Whether all threads run the region equally often: no condition around it differs, none returns."""
        if _REACHED in active:
            return True
        last = self.region.function.body.statements[-1]
        if any(isinstance(node, tree.Return) and node is not last for node in self._alone):
            return False
        inside = active | {_REACHED}
        tests = self._conditions(self.region.statements[0])
        return all(self._is_same_value(one, self.region.first, inside) for one in tests)

    def _is_same_value(self, value: tree.Node, at: int, active: frozenset[tuple[int, int]]) -> bool:
        for node in tree.walk(value):
            if isinstance(node, _UNLIKE) or (isinstance(node, tree.Expression) and _is_watched(node.type)):
                return False
            if isinstance(node, tree.SizeOf) and node.value is None:
                return False
            if isinstance(node, tree.Subscript | tree.MemberAccess | tree.Unary):
                root = tree.root_of(node)
                is_reached = not isinstance(node, tree.Unary) or node.operator == "*"
                if root is None or (is_reached and self._is_own(root)):
                    return False
                if is_reached and tree.owner(node) is None and self._has_calls:
                    return False
            if isinstance(node, tree.Name) and not self._is_same(node.declaration, at, active):
                return False
        return True

    def _conditions(self, node: tree.Node) -> Iterator[tree.Node]:
        """The conditions, in the team's statement, that decide whether a node runs."""
        for outer in self.region.function.nodes:
            if outer is node or not _contains(outer, node) or not self._is_in_team(outer):
                continue
            match outer:
                case tree.IfStatement(test=test) | tree.Conditional(test=test):
                    yield test
                case tree.ForStatement(first=first, test=test):
                    is_first = first is not None and _contains(first, node)
                    yield from () if test is None or is_first else (test,)
                case tree.Binary(operator="&&" | "||", left=left):
                    yield left
                case tree.OtherStatement():
                    yield outer

    def _is_in_team(self, node: tree.Node) -> bool:
        return self.start <= self._offset(node) < self.end

    def _offset(self, node: tree.Node) -> int:
        return self.region.function.starts[node.place.first]


def team_around(file: TypedFile, region: TypedRegion) -> Team:
    """The team that divides the loops of a region; raises `NoTeam` if it is unknown."""
    (spot,) = (spot for one, spot in file.located if one.place == region.place and isinstance(spot, Located))
    found = openmp_statements(file)
    around = [one for one in found if one.end > spot.start >= one.start]
    function = region.function
    start, end = function.starts[0], function.starts[-1] + 1
    listed: frozenset[str] = frozenset()
    if around:
        said = directive_of(around[0].words)
        if len(around) > 1 or said is None or said.name != "parallel":
            raise NoTeam(f"these loops are inside the statement of another directive: {around[-1]}")
        unknown = [one.name for one in said.clauses if one.name not in _TEAM]
        if unknown or not _shares_others(said):
            raise NoTeam(f"it is not known which variables a clause makes private: {around[0]}")
        start, end = around[0].start, around[0].end
        if "{" not in file.text.text[start : spot.start]:
            raise NoTeam(f"the first loop alone is the statement of a directive: {around[0]}")
        listed = names_of(said, *_PRIVATE)
    others = tuple((one.start, one.end) for one in found if start < one.start < end and one not in around)
    return Team(region, start, end, listed, others, is_called=not around)


def _contains(outer: tree.Node, inner: tree.Node) -> bool:
    return outer.place.first <= inner.place.first and inner.place.end <= outer.place.end


def _is_watched(kind: types.CType) -> bool:
    return isinstance(kind, types.Qualified) and (kind.is_volatile or kind.is_atomic)


def names_of(said: OpenmpDirective, *clauses: str) -> frozenset[str]:
    """The names in clauses of a directive."""
    found = (one.arguments for one in said.clauses if one.name in clauses)
    return frozenset(name for arguments in found for one in arguments for name in names_in(one.text))


def _shares_others(said: OpenmpDirective) -> bool:
    default = said.clause("default")
    return default is None or [one.text for one in default.arguments] in (["shared"], ["none"])
