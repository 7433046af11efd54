"""Liveness: whether a variable that a region assigns may be live-out, that is, read afterwards.

The value is followed from the region along every path of the function until it is overwritten: through
another iteration of the loops around the region, and to the targets of `goto`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import field

from loopwright.c.openmp import directive_of
from loopwright.c.tokens import blank, names_in
from loopwright.c.typed import tree
from loopwright.c.typed.effects import in_lengths
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.pointer_values import addressed
from loopwright.c.types import Floating, Integer, innermost, unqualified
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.source import with_edits


@dataclass
class _Flow:
    """Follows one variable through a function: whether it may hold the value that the region left in it.

    `run` takes whether it may hold it before a piece of code, and returns whether it may hold it after.
    """

    function: TypedFunction
    offset: int
    first: int
    end: int
    is_read: bool = False
    is_inside: bool = False
    """Inside the region, which reads the value that it left if it runs again."""
    labels: set[str] = field(default_factory=set)
    """Labels that are reached with the value."""
    ends: list[bool] = field(default_factory=list)
    """For each enclosing loop or switch, whether a `break` leaves it with the value."""
    cases: list[bool] = field(default_factory=list)
    """For each enclosing switch, whether its cases are reached with the value."""

    def reads(self, *, holds: bool) -> bool:
        """Whether the value may be read; iterates to a fixed point, since a `goto` may jump backwards."""
        known = -1
        while known != len(self.labels):
            known = len(self.labels)
            self.run(self.function.body, holds=holds)
        return self.is_read

    def run(self, node: tree.Node | None, *, holds: bool) -> bool:
        if node is None:
            return holds
        if not self.is_inside and self.first <= node.place.first and node.place.end <= self.end:
            self.is_inside = True
            remains = self.run(node, holds=holds)
            self.is_inside = False
            return remains or node.place.end >= self.end - 1
        if not self._matters(node):
            return holds
        match node:
            case tree.Name(declaration=declared):
                self.is_read = self.is_read or (holds and declared.offset == self.offset)
                return holds
            case tree.SizeOf(value=value) if value is not None:
                return holds
            case tree.Assign(operator="=", target=tree.Name(declaration=declared), value=value):
                after = self.run(value, holds=holds)
                return after and declared.offset != self.offset
            case (
                tree.Conditional(test=test, then=then, otherwise=otherwise)
                | tree.IfStatement(test=test, then=then, otherwise=otherwise)
            ):
                before = self.run(test, holds=holds)
                branches = [self.run(then, holds=before), self.run(otherwise, holds=before)]
                return any(branches)
            case tree.Binary(operator="&&" | "||", left=left, right=right):
                before = self.run(left, holds=holds)
                return self.run(right, holds=before) or before
            case tree.ForStatement(first=first, test=test, step=step, body=body):
                return self._loop((test,), (body, step), holds=self.run(first, holds=holds))
            case tree.Labelled(label=label, statement=statement):
                reached = label in self.labels or self.function.jumps_anywhere
                return self.run(statement, holds=holds or reached)
            case tree.Return(value=value):
                self.run(value, holds=holds)
                return False
            case tree.OtherStatement():
                return self._other(node, holds=holds)
        for part in tree.children(node):
            holds = self.run(part, holds=holds)
        return holds

    def _matters(self, node: tree.Node) -> bool:
        """Whether a node contains the variable, the region, a label or a `goto`."""
        first, end = node.place.first, node.place.end
        places = self.function.mentions.get(self.offset, ())
        if bisect_left(places, first) < bisect_left(places, end):
            return True
        return self._has_region(node) or self._jumps(node, "label", "GOTO_STMT")

    def _jumps(self, node: tree.Node, *kinds: str) -> bool:
        places = self.function.jumps
        start = bisect_left(places, (node.place.first, ""))
        stop = bisect_left(places, (node.place.end, ""))
        return any(kind in kinds for _, kind in places[start:stop])

    def _other(self, node: tree.OtherStatement, *, holds: bool) -> bool:
        parts = node.parts
        match node.kind:
            case "WHILE_STMT":
                return self._loop(parts[:1], parts[1:], holds=holds)
            case "DO_STMT":
                return self._loop((), parts, holds=holds)
            case "SWITCH_STMT":
                before = self.run(parts[0], holds=holds) if parts else holds
                self.cases.append(before)
                self.ends.append(False)
                after = [self.run(part, holds=False) for part in parts[1:]]
                self.cases.pop()
                return any((before, self.ends.pop(), *after))
            case "CASE_STMT" | "DEFAULT_STMT":
                holds = holds or (bool(self.cases) and self.cases[-1])
            case "BREAK_STMT":
                if self.ends:
                    self.ends[-1] = self.ends[-1] or holds
                return False
            case "GOTO_STMT":
                if holds:
                    self.labels.add(self.function.tokens[node.place.first + 1].text)
                return False
        for part in parts:
            holds = self.run(part, holds=holds)
        return holds

    def _loop(
        self, tests: Sequence[tree.Node | None], body: Sequence[tree.Node | None], *, holds: bool
    ) -> bool:
        """Run a loop twice, as the body may carry the value around; `continue` falls through to the rest."""
        self.ends.append(False)
        for _ in range(2):
            before = holds
            for test in tests:
                holds = self.run(test, holds=holds)
            inside = holds
            for part in body:
                inside = self.run(part, holds=inside) or self._continues(part, holds=holds)
            holds = holds or inside
            if holds == before:
                break
        return self.ends.pop() or holds

    def _continues(self, node: tree.Node | None, *, holds: bool) -> bool:
        """Whether a `continue` may end the body while the variable holds the value; any one counts."""
        jumps = node is not None and self._jumps(node, "CONTINUE_STMT")
        return jumps and (holds or self._has_region(node))

    def _has_region(self, node: tree.Node | None) -> bool:
        return node is not None and node.place.first <= self.first and self.end <= node.place.end


def read_after(file: TypedFile, region: TypedRegion, declared: tree.Declaration) -> str:
    """How the value that the region leaves may be read; "" if it is dead."""
    function = region.function
    if calls_at_its_end(declared):
        return f"a function is called with '{declared.name}' when its lifetime ends"
    if is_address_taken(file, function, declared):
        return f"the address of '{declared.name}' is taken"
    if _hidden(function, declared):
        return f"'{declared.name}' occurs in code that is not understood"
    is_read = _is_read_unseen(region, declared)
    if is_read or _Flow(function, declared.offset, region.first, region.end).reads(holds=False):
        return f"'{declared.name}' is read after the region"
    if not (declared.is_file_scope or declared.storage is tree.Storage.STATIC):
        return ""
    for other in file.functions_with(declared.name):
        place = (region.first, region.end) if other is function else (-1, -1)
        if other.problems or _Flow(other, declared.offset, *place).reads(holds=True):
            return f"'{declared.name}' is read in '{other.declaration.name}'"
    if declared.storage is tree.Storage.EXTERNAL:
        return _read_elsewhere(file, region, declared)
    return ""


def _is_read_unseen(region: TypedRegion, declared: tree.Declaration) -> bool:
    """Whether code after the region names the variable where the tree has no node: in the length of an array
    in a type, or in a directive: `#pragma omp parallel num_threads(i)`."""
    function = region.function
    tokens, around = function.tokens, [one.place.first for one in _repeating(region)]
    jumps = _jumps_after(region)
    places = [at for at in in_lengths(function) if tokens[at].text == declared.name]
    places += [at for at, words in function.directives if declared.name in _read_by(words)]
    return any(
        at >= region.end or (at < region.first and (jumps or any(one < at for one in around)))
        for at in places
    )


_LISTING = ("private", "shared", "default")
"""Clauses that list variables without reading them."""


def _read_by(words: str) -> tuple[str, ...]:
    """The names in a directive whose values it may read: all of one that cannot be parsed."""
    try:
        said = directive_of(words)
    except BadInput:
        return names_in(words)
    lists = [] if said is None else [one.place for one in said.clauses if one.name in _LISTING]
    return names_in(with_edits(words, ((one.start, one.end, blank(one.text)) for one in lists)))


def _repeating(region: TypedRegion) -> Iterator[tree.Node]:
    """The loops around the region, which may run it again."""
    for node in region.function.nodes:
        is_around = node.place.first < region.first and region.end <= node.place.end
        if is_around and isinstance(node, tree.ForStatement | tree.OtherStatement):
            yield node


def _read_elsewhere(file: TypedFile, region: TypedRegion, declared: tree.Declaration) -> str:
    """A callee after the region, without a definition here, that may read the variable; "" if none."""
    again = may_run_again(region)
    for node in region.function.nodes:
        if not isinstance(node, tree.CallExpression) or not (again or node.place.first >= region.end):
            continue
        called = node.callee
        if called is None:
            return f"'{declared.name}' may be read by a function that is called through a pointer"
        is_known = file.text.is_of_system(called.offset) or file.definition(called) is not None
        if not is_known and not called.name.startswith("__builtin_"):
            return f"'{declared.name}' may be read in '{called.name}', which is not in this file"
    return ""


_KEPT_TO_ITSELF = frozenset(
    ("aligned", "Alignas", "alignas", "unused", "maybe_unused", "nonstring", "deprecated", "mode")
)


def calls_at_its_end(declared: tree.Declaration) -> bool:
    """Whether an attribute of an automatic variable, such as `cleanup`, may make other code read it."""
    words = (re.sub(r"^(?:gnu\s*::\s*)?_*|_*\s*(?:\(.*)?$", "", one) for one in declared.attributes)
    return declared.storage is tree.Storage.AUTOMATIC and not set(words) <= _KEPT_TO_ITSELF


def _hidden(function: TypedFunction, declared: tree.Declaration) -> bool:
    """Whether tokens that could not be parsed contain the name; those of the region are all parsed."""
    return any(declared.name in problem.words for problem in function.problems)


def is_named_after(region: TypedRegion, declared: tree.Declaration) -> bool:
    """Whether the source after the region may name a variable that is declared in it."""
    function = region.function
    places = function.mentions.get(declared.offset, ())
    return _hidden(function, declared) or any(at >= region.end for at in places)


def is_address_taken(file: TypedFile, function: TypedFunction, declared: tree.Declaration) -> bool:
    """Whether a pointer to a variable may exist."""
    is_shared = declared.is_file_scope or declared.storage is tree.Storage.STATIC
    is_number = isinstance(unqualified(declared.type), Integer | Floating)  # no array, which may be a pointer
    functions = file.functions_with(declared.name, addressed=is_number) if is_shared else (function,)
    if any(declared.offset in one.addressed for one in functions):
        return True
    return declared.is_file_scope and any(
        declared.offset in addressed(tuple(tree.walk(variable))) for variable, _ in file.variables
    )


def may_run_again(region: TypedRegion) -> bool:
    """Whether one call of the function may run the region twice: by a loop around it, or a `goto`."""
    return _jumps_after(region) or any(_repeating(region))


def _jumps_after(region: TypedRegion) -> bool:
    """Whether the function may jump after the region, and thus return to code before it."""
    places = [place for place, kind in region.function.jumps if kind == "GOTO_STMT"]
    return region.function.jumps_anywhere or any(place >= region.end for place in places)


def may_be_seen(region: TypedRegion, declared: tree.Declaration) -> bool:
    """Whether an automatic variable is mentioned after the region, or its address escapes."""
    function = region.function
    again = [node.place for node in _repeating(region)]
    outside = [at for at in function.mentions.get(declared.offset, ()) if not region.first <= at < region.end]
    later = any(at >= region.end or any(one.first <= at < one.end for one in again) for at in outside)
    is_seen = later or (bool(outside) and _jumps_after(region)) or calls_at_its_end(declared)
    is_seen = is_seen or _is_read_unseen(region, declared)
    return is_seen or _hidden(function, declared) or may_be_pointed_to(region, declared)


def may_be_pointed_to(region: TypedRegion, declared: tree.Declaration) -> bool:
    """Whether the function makes a pointer to an automatic variable, or into it."""
    return declared.offset in region.function.addressed


def is_only_written_outside(file: TypedFile, region: TypedRegion, declared: tree.Declaration) -> bool:
    """Whether a whole program, in one file, has a static array of numbers that only the region reads.

    Other code may assign to its cells; lengths in types count as code. Reads by the region of its own
    results are not considered.
    """
    kind = innermost(declared.type)
    is_plain = isinstance(kind, Integer | Floating) and declared.is_file_scope
    if not is_plain or not file.functions_named("main") or is_address_taken(file, region.function, declared):
        return False
    for function in file.functions_with(declared.name):
        if function.problems or function.errors:
            return False
        set_there = {
            owner.place.first
            for node in function.nodes
            if isinstance(node, tree.Assign) and node.operator == "="
            if (owner := _root(node.target)) is not None
        }
        inside = range(region.first, region.end) if function is region.function else range(0)
        places = (at for at, token in enumerate(function.tokens) if token.text == declared.name)
        said = (at for at, words in function.directives if declared.name in names_in(words))
        if any(at not in inside and at not in set_there for at in (*places, *said)):
            return False
    return not any(
        isinstance(node, tree.Name) and node.declaration.offset == declared.offset
        for variable, _ in file.variables
        for node in tree.walk(variable)
    )


def _root(target: tree.Expression) -> tree.Name | None:
    """The array of an element: `a` for `a[i][j]`."""
    while isinstance(target, tree.Subscript | tree.Cast):
        target = target.base if isinstance(target, tree.Subscript) else target.operand
    return target if isinstance(target, tree.Name) else None
