"""Loops that end where a pointer reaches another one: how often they run, as a text.

    double *p = a, *end = a + n;
    while (p < end) *p++ = 0;                  k of for (k = 0; k < n; k++), p being p + k
    while (p < end) { p[1] = 0; p += 2; }      k of for (k = 0; 2 * k < n; k++), p being p + 2 * k
    for (p = a; p != end; p++) *p = 0;         k of for (k = 0; k < n; k++), p being a + k
    p = a + n; while (p > a) *--p = 0;         k of for (k = 0; k < n; k++), p being p - k

How far the two are apart is told by their declarations: all variables of these are those of the function,
no address leads to them, and nothing assigns them but the loop, and that the pointer alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedRegion
from loopwright.c.types import ArrayType, Integer, Pointer, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.numbered_loops import (
    OWN,
    NumberedLoop,
    counter_type,
    fresh_name,
    head_of,
    moved_variable,
    parts_of,
    step_of,
    steps_of,
)

_UP, _DOWN = ("<", "!="), (">", "!=")
_SWAPPED = {"<": ">", ">": "<", "!=": "!="}
_DEEPEST = 4


def by_end(loop: tree.Node, region: TypedRegion) -> NumberedLoop | None:
    """How often a loop with the test `p < end` runs, and where p is before each iteration."""
    parts = parts_of(loop)
    if parts is None:
        return None
    first, test, step, body = parts
    counted = (body,) if step is None else (body, step)
    for name, relation, end in _compared(test):
        walker, start = name.declaration, _start(first, name.declaration, end.declaration)
        stride = _stride(walker, counted)
        after = [] if step is None else steps_of(step)
        if start is not None:
            after = [one for one in after if moved_variable(one) != walker]
        is_started = first is None or (start is not None and not _changes(walker, body, *after))
        is_even = relation != "!=" or abs(stride or 0) == 1
        if not stride or not is_started or not is_even or _is_mentioned(end.declaration, counted):
            continue
        known = _KnownPointers(loop, walker, region)
        count = known.distance(name if start is None else start, end, _UP if stride > 0 else _DOWN, relation)
        text = None if count is None else _counted(count, abs(stride), fresh_name(region))
        if text is not None:
            return NumberedLoop(
                fresh_name(region),
                body,
                (head_of(loop, body, region), text),
                (walker,),
                start=None if start is None else (walker, start.declaration.name),
                after=tuple(after),
                ends_early=relation == "!=",
                stride=stride,
                tested=walker,
            )
    return None


def _compared(test: tree.Expression) -> list[tuple[tree.Name, str, tree.Name]]:
    """p, < and end of `p < end`; end, > and p as well."""
    core = tree.without_casts(test)
    if not isinstance(core, tree.Binary) or core.operator not in _SWAPPED:
        return []
    left, right = tree.without_casts(core.left), tree.without_casts(core.right)
    if not (isinstance(left, tree.Name) and isinstance(right, tree.Name)):
        return []
    return [(left, core.operator, right), (right, _SWAPPED[core.operator], left)]


def _changes(one: tree.Declaration, *parts: tree.Node) -> list[tree.Node]:
    return [node for part in parts for node in tree.walk(part) if moved_variable(node) == one]


def _stride(walker: tree.Declaration, parts: Sequence[tree.Node]) -> int | None:
    """How far all changes of a pointer together move it."""
    steps = [step_of(one) for one in _changes(walker, *parts)]
    known = [one for one in steps if one is not None]
    return sum(known) if len(known) == len(steps) else None


def _counted(count: tree.Expression, size: int, fresh: str) -> str | None:
    """The head of a loop that counts up to a number in steps of some size."""
    kind, limit = unqualified(count.type), _told(count)
    if not isinstance(kind, Integer) or limit is None:
        return None
    name = counter_type(kind)
    if size > 1 and name == "int":
        name = "long"
    passed = fresh if size == 1 else f"{size} * {fresh}"
    return f"for ({name} {fresh} = 0; {passed} < {limit}; {fresh}++)"


def _told(count: tree.Expression) -> str | None:
    """A number as a text, where it is made of names and constants."""
    match tree.without_casts(count):
        case tree.Name(declaration=declared):
            return declared.name
        case tree.Number(text=text):
            return text
        case tree.Binary(operator=operator, left=left, right=right):
            parts = _told(left), _told(right)
            return None if None in parts else f"({parts[0]} {operator} {parts[1]})"
    return None


def _start(
    first: tree.Node | None, walker: tree.Declaration, end: tree.Declaration
) -> tree.Name | None:
    """a of `p = a` or `double *p = a`, or of `double *p = a, *end = a + n`; no more is declared."""
    match first:
        case tree.Assign(operator="=", target=tree.Name(declaration=declared), value=value):
            found = tree.without_casts(value) if declared == walker else None
        case tree.Declare(variables=variables) if {one.declaration for one in variables} <= {walker, end}:
            given = [one.initial for one in variables if one.declaration == walker]
            found = tree.without_casts(given[0]) if given and given[0] is not None else None
        case _:
            return None
    return found if isinstance(found, tree.Name) else None


def _is_mentioned(one: tree.Declaration, parts: Sequence[tree.Node]) -> bool:
    return any(
        isinstance(node, tree.Name) and node.declaration == one for part in parts for node in tree.walk(part)
    )


@dataclass(frozen=True)
class _Position:
    """`base` or `base + count`."""

    base: tree.Declaration
    count: tree.Expression | None = None


@dataclass(frozen=True)
class _KnownPointers:
    """What the declarations of a function say of pointers that only one loop of it changes, if any."""

    loop: tree.Node
    walker: tree.Declaration
    region: TypedRegion

    def position(self, name: tree.Expression, depth: int = 0) -> _Position | None:
        """Where a variable points to before the loop, in the words of one that has no such words."""
        if not isinstance(name, tree.Name) or depth > _DEEPEST or not self._is_kept(name.declaration):
            return None
        one = name.declaration
        if isinstance(unqualified(one.type), ArrayType):
            return _Position(one)
        initial = self._initial(one)
        if initial is None:
            return _Position(one) if one.storage is tree.Storage.PARAMETER else None
        base, count = _parts_of_sum(initial)
        if base is None or not _same_elements(one, base.declaration):
            return _Position(one)
        found = self.position(base, depth + 1)
        if found is None or (found.count is not None and count is not None):
            return _Position(one)
        return _Position(found.base, found.count if count is None else count)

    def distance(
        self, start: tree.Name, end: tree.Name, way: Sequence[str], relation: str
    ) -> tree.Expression | None:
        """How many elements a pointer passes that starts and ends at these, and walks one way."""
        here, there = self.position(start), self.position(end)
        if here is None or there is None or here.base != there.base or relation not in way:
            return None
        near, far = (here, there) if way == _UP else (there, here)
        is_told = near.count is None and far.count is not None and self._is_told(far.count)
        return far.count if is_told else None

    def _initial(self, one: tree.Declaration) -> tree.Expression | None:
        own = (each.initial for each in self._declared() if each.declaration.offset == one.offset)
        return next(own, None)

    def _declared(self) -> list[tree.Declarator]:
        return [node for node in self.region.function.nodes if isinstance(node, tree.Declarator)]

    def _is_kept(self, one: tree.Declaration) -> bool:
        """Whether a variable is the function's own, no address leads to it, and the loop alone changes it,
        and that only where it is the pointer that walks."""
        function, place = self.region.function, self.loop.place
        is_array = isinstance(unqualified(one.type), ArrayType)
        if not is_array and (one.storage not in OWN or one.offset in function.addressed or one.attributes):
            return False
        if any(one.name in problem.words for problem in function.problems):
            return False
        if any(each.declaration.name == one.name and each.declaration != one for each in self._declared()):
            return False
        changes = [node.place.first for node in function.nodes if moved_variable(node) == one]
        return all(one == self.walker and place.first <= at < place.end for at in changes)

    def _is_told(self, count: tree.Expression) -> bool:
        """Whether a number is made of variables that keep their values, and of constants."""
        for part in tree.walk(count):
            match part:
                case tree.Name(declaration=declared):
                    if not isinstance(unqualified(declared.type), Integer) or not self._is_kept(declared):
                        return False
                case tree.Number() | tree.Binary(operator="+" | "-" | "*") | tree.Cast(is_implicit=True):
                    continue
                case _:
                    return False
        return True


def _parts_of_sum(initial: tree.Expression) -> tuple[tree.Name | None, tree.Expression | None]:
    """a and n of `a + n` and `&a[n]`; a of `a`."""
    match core := tree.without_casts(initial):
        case tree.Name():
            return core, None
        case tree.Binary(operator="+", left=left, right=right):
            base, count = tree.without_casts(left), tree.without_casts(right)
            if isinstance(unqualified(base.type), Integer):
                base, count = count, base
        case tree.Unary(operator="&", operand=tree.Subscript(base=left, index=right)):
            base, count = tree.without_casts(left), tree.without_casts(right)
        case _:
            return None, None
    return (base, count) if isinstance(base, tree.Name) else (None, None)


def _same_elements(one: tree.Declaration, other: tree.Declaration) -> bool:
    """Whether two variables lead to elements of one type, but for `const`."""
    mine, theirs = _element(one), _element(other)
    return mine is not None and mine == theirs


def _element(one: tree.Declaration) -> object:
    match unqualified(one.type):
        case Pointer(target=inner) | ArrayType(element=inner):
            return unqualified(inner)
    return None
