"""The possible values of integer expressions and variables, with C's conversions.

    expressions   of numbers, enumerators, `sizeof`, and variables with known values
    variables     if all assignments that may reach a place store known values, and few of them

An assignment does not reach a place if every path leads through a later one: the later one is in a block
around the place, with no label or case in between.  Loops around the place may carry others back to it,
unless they contain the later one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from ctypes import c_float
from dataclasses import replace
from functools import cached_property
from itertools import product
from operator import add, and_, eq, ge, gt, le, lt, mul, ne, or_, sub, xor

from loopwright.c import types
from loopwright.c.typed import tree
from loopwright.c.typed.effects import effect_in_a_type
from loopwright.c.typed.file import TypedFunction
from loopwright.c.typed.members import first_part, is_apart, variable_of, whole_of
from loopwright.lazy_dataclass import dataclass

Values = frozenset[int]
"""All the values that an expression can have when it is evaluated."""
Lookup = Callable[[tree.Declaration], "Values | None"]
MOST_VALUES = 4
"""More values than these count as unknown."""
_SUMS = {"+": add, "-": sub, "*": mul, "&": and_, "|": or_, "^": xor}
COMPARED = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_ASSEMBLER = frozenset(("asm", "__asm", "__asm__"))


def integer_type(kind: types.CType) -> types.Integer | None:
    """The integer type that a type is, or that its enumeration is compatible with."""
    kind = types.unqualified(kind)
    kind = kind.integer if isinstance(kind, types.Enumeration) else kind
    return kind if isinstance(kind, types.Integer) else None


def values_of(node: tree.Node, lookup: Lookup) -> Values | None:
    """The values of an integer expression; None if it reads unknown names, or is undefined."""
    kind = integer_type(node.type) if isinstance(node, tree.Expression) else None
    if kind is None:
        return None
    match node:
        case tree.Number(value=int(value)):
            return frozenset((value,))
        case tree.Name(declaration=tree.Declaration(storage=tree.Storage.ENUMERATOR, value=int(value))):
            return frozenset((value,))
        case tree.Name() | tree.MemberAccess():
            variable = variable_of(node)
            return None if variable is None else lookup(variable)
        case tree.SizeOf(value=int(value)):
            return frozenset((value,))
        case tree.Cast(operand=operand) if _is_floating(operand) and kind != types.BOOL:  # 0.5 is true
            return _all([_truncated(operand)], kind)
        case tree.Cast(operand=operand):
            return _all(values_of(operand, lookup), kind)
        case tree.Unary(operator=sign, operand=operand):
            inner = values_of(operand, lookup)
            return None if inner is None else _all(unary(sign, one, kind) for one in inner)
        case tree.Conditional(test=test, then=then, otherwise=otherwise):
            chosen = values_of(test, lookup)
            tests = _EITHER if chosen is None else {bool(one) for one in chosen}
            return _together((values_of(then if one else otherwise, lookup) for one in tests), kind)
        case tree.Binary(operator=sign, left=left, right=right):
            first, second = values_of(left, lookup), values_of(right, lookup)
            shared = integer_type(types.common(_plain(left), _plain(right)))
            if first is None or second is None or shared is None:
                return None
            if sign in COMPARED:
                sides = product(map(shared.converted, first), map(shared.converted, second))
                return frozenset(int(COMPARED[sign](*pair)) for pair in sides)
            return _all(binary(sign, one, other, kind) for one, other in product(first, second))
    return None


_EITHER = frozenset((False, True))


def the_value(found: Values | None) -> int | None:
    """The single value of an expression, if it always has the same one."""
    return next(iter(found)) if found is not None and len(found) == 1 else None


def _all(found: Iterable[int | None] | None, kind: types.Integer | None = None) -> Values | None:
    """These values, converted to a type; None if one is unknown, or there are too many."""
    known: set[int] = set()
    for one in (None,) if found is None else found:
        if one is None:
            return None
        known.add(one if kind is None else kind.converted(one))
    return frozenset(known) if 0 < len(known) <= MOST_VALUES else None


def _together(found: Iterable[Values | None], kind: types.Integer) -> Values | None:
    """The values of one of several expressions."""
    return _all([one for values in found for one in (values or (None,))], kind)


def _plain(node: tree.Expression) -> types.CType:
    return integer_type(node.type) or node.type


def _is_floating(node: tree.Expression) -> bool:
    return isinstance(types.unqualified(node.type), types.Floating)


def _truncated(node: tree.Expression) -> int | None:
    """The integer part of a number such as `3.7` or `-1e3f`."""
    match node:
        case tree.Cast(operand=operand, is_implicit=True) if _is_floating(operand):
            return _truncated(operand)
        case tree.Unary(operator="-" | "+" as sign, operand=operand):
            inner = _truncated(operand)
            return None if inner is None else -inner if sign == "-" else inner
        case tree.Number(text=text) if set(text.lower()) <= set("0123456789.e+-f"):
            exact = float(text.lower().removesuffix("f"))
            rounded = c_float(exact).value if text[-1] in "fF" else exact
            return int(rounded) if abs(rounded) < (1 << 31) - 1 else None
    return None


def _fitting(value: int, kind: types.Integer) -> int | None:
    """A result in its type: unsigned ones wrap around, signed overflow is undefined."""
    is_defined = not kind.signed or kind.least <= value <= kind.greatest
    return kind.converted(value) if is_defined else None


def unary(sign: str, value: int, kind: types.Integer) -> int | None:
    match sign:
        case "-":
            return _fitting(-value, kind)
        case "+" | "__extension__":
            return value
        case "~":
            return kind.converted(~value)
        case "!":
            return int(not value)
    return None


def binary(sign: str, first: int, second: int, kind: types.Integer) -> int | None:
    match sign:
        case "&&":
            return int(bool(first and second))
        case "||":
            return int(bool(first or second))
        case "/" | "%" if second != 0:
            return _fitting(types.divided(sign, first, second), kind)
        case "<<" | ">>" if 0 <= second < kind.bits and first >= 0:
            return _fitting(first << second if sign == "<<" else first >> second, kind)
        case _ if sign in _SUMS:
            return _fitting(_SUMS[sign](first, second), kind)
    return None


@dataclass(frozen=True)
class GivenValue:
    """A node that sets a variable, or declares it without a value."""

    node: tree.Declarator | tree.Assign | tree.Update
    is_statement: bool
    """Whether it is a statement of a block, under no condition there."""
    value: tree.Expression | None
    """The value; None if it is not a single expression."""

    @property
    def is_given(self) -> bool:
        """Whether it is no declaration without a value."""
        return not isinstance(self.node, tree.Declarator) or self.node.initial is not None

    @property
    def place(self) -> tree.TokenRange:
        return self.node.place

    @property
    def is_declared(self) -> bool:
        return isinstance(self.node, tree.Declarator)


@dataclass(frozen=True)
class ValuesBefore:
    """The values that variables of a function can have when one of its tokens is reached."""

    function: TypedFunction
    outside: Callable[[tree.Declaration], Values | None] = lambda _: None
    """The values of a variable that other functions set; unknown by default."""
    directed: frozenset[str] = frozenset()
    """Names in directives, which may make variables private to threads."""

    def values(
        self, one: tree.Declaration, at: int, active: frozenset[tuple[str, int, int]] = frozenset()
    ) -> Values | None:
        """All values that a variable can have when the token `at` is reached."""
        kind = integer_type(one.type)
        if one.storage is tree.Storage.ENUMERATOR:
            return None if one.value is None else frozenset((one.value,))
        if kind is None or (one.name, one.offset, at) in active or not self._is_followed(one):
            return None
        reaching, is_other = self.reaching(one, at)
        inside = active | {(one.name, one.offset, at)}
        given = [each for each in reaching if each.is_given]
        found = [self._given_by(each, inside) for each in given]
        return _together([*found, *([self.outside(one)] if is_other else [])], kind)

    def _given_by(self, given: GivenValue, active: frozenset[tuple[str, int, int]]) -> Values | None:
        return None if given.value is None else self.computed(given.value, given.place.first, active)

    def computed(
        self, node: tree.Expression, at: int, active: frozenset[tuple[str, int, int]] = frozenset()
    ) -> Values | None:
        """All values that an expression can have when the token `at` is reached."""
        return values_of(node, lambda variable: self.values(variable, at, active))

    def _is_followed(self, one: tree.Declaration) -> bool:
        kind = one.type
        is_plain = not isinstance(kind, types.Qualified) or not (kind.is_volatile or kind.is_atomic)
        words = (problem.words for problem in self.function.problems)
        name = whole_of(one).name
        is_hidden = self.is_opaque or name in self.directed or any(name in each for each in words)
        return is_plain and not is_hidden and one.offset not in self.function.addressed

    @cached_property
    def is_opaque(self) -> bool:
        """Whether the function may change variables or jump in ways that the analysis does not see."""
        function = self.function
        assembler = any(token.text in _ASSEMBLER for token in function.tokens)
        is_hidden = effect_in_a_type(function) is not None
        return bool(function.errors) or assembler or function.jumps_anywhere or is_hidden

    def reaching(self, one: tree.Declaration, at: int) -> tuple[list[GivenValue], bool]:
        """The nodes that may have set a variable before a token, and whether other code may have."""
        given = self._given_to(one)
        is_own = one.storage is tree.Storage.AUTOMATIC
        if not is_own and all(each.is_declared for each in given):
            is_kept = one.storage is tree.Storage.STATIC and not one.is_file_scope and not one.attributes
            return (given, False) if is_kept else ([], True)
        if not is_own:
            given = [each for each in given if not each.is_declared]
        last = max((each for each in given if self._leads_to(each, at)), default=None, key=_end)
        if last is None:
            return given, not is_own
        around = [each for each in self._repeating if _encloses(each, at) and not _contains(each, last.place)]

        def may_reach(place: tree.TokenRange) -> bool:
            return last.place.end <= place.first < at or any(_contains(each, place) for each in around)

        is_seen = not is_own and one.storage is not tree.Storage.PARAMETER
        is_other = is_seen and any(map(may_reach, self._unknown))
        return [last, *(each for each in given if may_reach(each.place))], is_other

    def _leads_to(self, given: GivenValue, at: int) -> bool:
        """Whether every path to a token goes through a node that is a statement of a block around it."""
        if not given.is_statement or given.place.end > at:
            return False
        inner = [block for block in self._blocks if _contains(block, given.place)]
        is_around = bool(inner) and _encloses(min(inner, key=lambda one: one.end - one.first), at)
        return is_around and not any(given.place.end <= entry <= at for entry in self._entries)

    def _given_to(self, one: tree.Declaration) -> list[GivenValue]:
        """The nodes that may set a variable, or a member of it."""
        found: list[GivenValue] = []
        for node in self._given.get(one.offset, ()):
            is_statement = id(node) in self._own
            if isinstance(node, tree.Declarator):
                found.append(GivenValue(node, is_statement, first_part(one, node.initial)))
            elif not is_apart(one, node.target):
                is_simple = isinstance(node, tree.Assign) and node.operator == "="
                is_whole = is_simple and variable_of(node.target) == one
                value = node.value if is_whole and isinstance(node, tree.Assign) else None
                found.append(GivenValue(node, is_statement and is_whole, value))
        return found

    @cached_property
    def _own(self) -> frozenset[int]:
        """The nodes that are statements of a block, or set the first values of a loop, by identity."""
        blocks = (each for each in self.function.nodes if isinstance(each, tree.CompoundStatement))
        loops = (each for each in self.function.nodes if isinstance(each, tree.ForStatement))
        parts = [part for block in blocks for each in block.statements for part in _parts(each)]
        return frozenset(map(id, (*parts, *(part for loop in loops for part in _first_values(loop)))))

    @cached_property
    def _given(self) -> dict[int, list[tree.Declarator | tree.Assign | tree.Update]]:
        found: dict[int, list[tree.Declarator | tree.Assign | tree.Update]] = {}
        for node in self.function.nodes:
            if isinstance(node, tree.Declarator):
                found.setdefault(node.declaration.offset, []).append(node)
        for root, node in changes(self.function.nodes):
            found.setdefault(root.offset, []).append(node)
        return found

    @cached_property
    def _blocks(self) -> list[tree.TokenRange]:
        """Places in which first values of a loop, or statements, come before all after them."""
        kinds = tree.CompoundStatement | tree.ForStatement
        return [each.place for each in self.function.nodes if isinstance(each, kinds)]

    @cached_property
    def _repeating(self) -> list[tree.TokenRange]:
        """What may run again; the first values of a loop are set once."""
        found = [each.place for each in self.function.nodes if isinstance(each, tree.OtherStatement)]
        loops = (each for each in self.function.nodes if isinstance(each, tree.ForStatement))
        return found + [_repeated(each) for each in loops]

    @cached_property
    def _entries(self) -> list[int]:
        """The places of labels and cases."""
        labels = [place for place, kind in self.function.jumps if kind == "label"]
        others = [each for each in self.function.nodes if isinstance(each, tree.OtherStatement)]
        return labels + [each.place.first for each in others if each.kind in ("CASE_STMT", "DEFAULT_STMT")]

    @cached_property
    def _unknown(self) -> list[tree.TokenRange]:
        """Calls and stores through pointers: either may change variables not local to the function."""
        nodes = self.function.nodes
        calls = [each.place for each in nodes if isinstance(each, tree.CallExpression | tree.OtherExpression)]
        written = (each for each in nodes if isinstance(each, tree.Assign | tree.Update))
        return calls + [each.place for each in written if tree.owner(each.target) is None]


def changes(nodes: Iterable[tree.Node]) -> Iterator[tuple[tree.Declaration, tree.Assign | tree.Update]]:
    """The assignments, each with the variable that its lvalue starts with."""
    for node in nodes:
        root = tree.root_of(node.target) if isinstance(node, tree.Assign | tree.Update) else None
        if root is not None and isinstance(node, tree.Assign | tree.Update):
            yield root, node


def _parts(statement: tree.Statement) -> tuple[tree.Node, ...]:
    match statement:
        case tree.Declare(variables=variables):
            return variables
        case tree.Evaluate(value=value):
            return (value,)
    return ()


def _first_values(loop: tree.ForStatement) -> Iterator[tree.Node]:
    """The variables that a loop sets before all else, under no condition: `i = 0, j = n`."""
    pending = [] if loop.first is None else [loop.first]
    while pending:
        match pending.pop():
            case tree.Declare(variables=variables):
                yield from variables
            case tree.Binary(operator=",", left=left, right=right):
                pending += [left, right]
            case other:
                yield other


def _repeated(loop: tree.ForStatement) -> tree.TokenRange:
    place = loop.place
    return place if loop.first is None else replace(place, first=loop.first.place.end - 1)


def _end(given: GivenValue) -> int:
    return given.place.end


def _encloses(place: tree.TokenRange, at: int) -> bool:
    return place.first < at < place.end


def _contains(outer: tree.TokenRange, inner: tree.TokenRange) -> bool:
    return outer.first <= inner.first and inner.end <= outer.end
