"""Builds the tree from the front end's cursors, and accounts for every token.

The tokens of a node are those of its children and its own; its own must be those that its kind is
written with: `for ( ; ; )`, one operator, `[ ]`.  A statement that the front end dropped, because of an
undeclared name, leaves tokens that no node covers: a `Problem`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from itertools import takewhile

from loopwright.c import types
from loopwright.c.expression_types import COMPARISONS
from loopwright.c.typed import front_end, tree
from loopwright.c.typed.front_end import Cursor
from loopwright.c.typed.names import Names
from loopwright.c.typed.prepare import Listing
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span

Range = tuple[int, int]
_DEEPEST = 300
_PARTS = {
    "PAREN_EXPR": 1,
    "UNARY_OPERATOR": 1,
    "BINARY_OPERATOR": 2,
    "COMPOUND_ASSIGNMENT_OPERATOR": 2,
    "CONDITIONAL_OPERATOR": 3,
    "CSTYLE_CAST_EXPR": 1,
    "ARRAY_SUBSCRIPT_EXPR": 2,
    "CALL_EXPR": 1,
}
"""How many parts are required; after an error the front end may have dropped some."""
_COMPARISONS = (*COMPARISONS, "&&", "||")


@dataclass(frozen=True, slots=True)
class Problem:
    """Tokens that could not be parsed, and the reason."""

    first: int
    end: int
    reason: str
    words: tuple[str, ...]
    """The tokens concerned."""


@dataclass
class Builder:
    """Builds the expressions of one function or declaration."""

    listing: Listing
    names: Names
    statement: Callable[[Builder, Cursor], tree.Node]
    """Builds a statement inside an expression."""
    problems: list[Problem] = field(default_factory=list)
    depth: int = 0

    def range_of(self, cursor: Cursor) -> Range:
        start, end = front_end.extent(cursor)
        return bisect_left(self.listing.starts, start), bisect_left(self.listing.starts, end)

    def span_at(self, offset: int) -> Span:
        """The place in the file of the token at an offset of the preprocessed text."""
        tokens, place = self.listing.tokens, self.index_of(offset)
        return tokens[place].span if place < len(tokens) else self.listing.source.at(0, 0)

    def index_of(self, offset: int) -> int:
        """The index of the token at an offset."""
        return bisect_left(self.listing.starts, offset)

    def own(self, whole: Range, parts: Sequence[tree.Node]) -> list[str]:
        """The tokens of a node that do not belong to its parts."""
        texts: list[str] = []
        position = whole[0]
        for part in sorted(parts, key=lambda one: one.place.first):
            texts += [one.text for one in self.listing.tokens[position : part.place.first]]
            position = max(position, part.place.end)
        return texts + [one.text for one in self.listing.tokens[position : whole[1]]]

    def require(self, whole: Range, parts: Sequence[tree.Node], *expected: str) -> None:
        found = self.own(whole, parts)
        if found != list(expected):
            reason = f"'{' '.join(found)}' is not what was expected here: '{' '.join(expected)}'"
            self.problem(whole, reason, found)

    def problem(self, whole: Range, reason: str, words: Sequence[str] | None = None) -> None:
        """Record a problem: these tokens of a node, or all of them."""
        texts = [one.text for one in self.listing.tokens[slice(*whole)]] if words is None else words
        self.problems.append(Problem(whole[0], whole[1], reason, tuple(texts)))

    def expression(self, cursor: Cursor, whole: Range | None = None) -> tree.Expression:
        """The expression at a cursor, with its tokens if they are known; one that is not modelled keeps its
        parts."""
        self.depth += 1
        whole = whole or self.range_of(cursor)
        try:
            if self.depth > _DEEPEST:
                self.problem(whole, "this is nested too deeply")
                kind = types.Unknown("nested too deeply")
                return tree.OtherExpression(self.listing.place(*whole), kind, "deep", ())
            name = front_end.kind(cursor)
            return self._leaf(cursor, whole, name) or self._composed(cursor, whole, name)
        finally:
            self.depth -= 1

    def _leaf(self, cursor: Cursor, whole: Range, name: str) -> tree.Expression | None:
        """A name or a literal, which has no parts."""
        match name:
            case "DECL_REF_EXPR":
                declaration = self.names.declaration(front_end.referenced(cursor))
                self.require(whole, (), declaration.name)
                return tree.Name(self.listing.place(*whole), declaration.type, declaration)
            case "INTEGER_LITERAL" | "CHARACTER_LITERAL":
                value, kind = front_end.value(cursor), self.names.types.of(cursor.type)
                return tree.Number(self.listing.place(*whole), kind, self._text(whole), value)
            case "FLOATING_LITERAL" | "IMAGINARY_LITERAL":
                kind = self.names.types.of(cursor.type)
                return tree.Number(self.listing.place(*whole), kind, self._text(whole), None)
            case "STRING_LITERAL":
                return tree.Text(self.listing.place(*whole), self.names.types.of(cursor.type))
        return None

    def _composed(self, cursor: Cursor, whole: Range, name: str) -> tree.Expression:
        parts = front_end.children(cursor)
        if len(parts) < _PARTS.get(name, 0):
            self.problem(whole, "a part of this is not understood")
            return self._other(cursor, whole, name, parts)
        match name:
            case "UNEXPOSED_EXPR":
                return self._implicit(cursor, whole, parts)
            case "PAREN_EXPR":
                (inner,) = map(self.expression, parts)
                self.require(whole, (inner,), "(", ")")
                return replace(inner, place=self.listing.place(*whole))
            case "UNARY_OPERATOR":
                return self._unary(cursor, whole, parts)
            case "BINARY_OPERATOR" | "COMPOUND_ASSIGNMENT_OPERATOR":
                return self._binary(cursor, whole, parts)
            case "CONDITIONAL_OPERATOR":
                return self._conditional(cursor, whole, parts)
            case "CSTYLE_CAST_EXPR":
                return self._cast(cursor, whole, parts)
            case "ARRAY_SUBSCRIPT_EXPR":
                return self._subscript(cursor, whole, parts)
            case "MEMBER_REF_EXPR":
                return self._member(cursor, whole, parts)
            case "CALL_EXPR":
                return self._call(cursor, whole, parts)
            case "CXX_UNARY_EXPR":
                inside = tuple(map(self.expression, _expressions(parts)))
                kind = self.names.types.of(cursor.type)
                value = None if unknown_of(*inside) else front_end.value(cursor)
                return tree.SizeOf(self.listing.place(*whole), kind, value, inside)
            case _:
                return self._other(cursor, whole, name, parts)

    def _text(self, whole: Range) -> str:
        return " ".join(one.text for one in self.listing.tokens[whole[0] : whole[1]])

    def _implicit(self, cursor: Cursor, whole: Range, parts: Sequence[Cursor]) -> tree.Expression:
        """An implicit conversion: the same tokens with another type.  Of an unknown value, it is omitted."""
        inner = _expressions(parts)
        if len(inner) != 1 or self.range_of(inner[0]) != whole:
            return self._other(cursor, whole, "UNEXPOSED_EXPR", parts)
        operand = self.expression(inner[0], whole)
        kind = self.names.types.of(cursor.type)
        if isinstance(operand.type, types.Unknown) or types.unqualified(operand.type) == types.unqualified(
            kind
        ):
            return operand
        return tree.Cast(operand.place, kind, operand, is_implicit=True)

    def _conditional(self, cursor: Cursor, whole: Range, parts: Sequence[Cursor]) -> tree.Expression:
        test, then, otherwise = map(self.expression, parts)
        self.require(whole, (test, then, otherwise), "?", ":")
        kind = unknown_of(then, otherwise) or self.names.types.of(cursor.type)
        return tree.Conditional(self.listing.place(*whole), kind, test, then, otherwise)

    def _cast(self, cursor: Cursor, whole: Range, parts: Sequence[Cursor]) -> tree.Expression:
        operand = self.expression(parts[-1])
        if operand.place.end != whole[1] or self.own(whole, (operand,))[:1] != ["("]:
            self.problem(whole, "this cast is not understood")
        return tree.Cast(
            self.listing.place(*whole), self.names.types.of(cursor.type), operand, is_implicit=False
        )

    def _unary(self, cursor: Cursor, whole: Range, parts: Sequence[Cursor]) -> tree.Expression:
        (operand,) = map(self.expression, parts)
        place = self.listing.place(*whole)
        name = front_end.unary_operator(cursor)
        kind = self.names.types.of(cursor.type)
        if name in ("x++", "x--", "++x", "--x"):
            word = name.strip("x")
            self.require(whole, (operand,), word)
            return tree.Update(place, types.unqualified(operand.type), word, name[0] != "x", operand)
        self.require(whole, (operand,), name)
        match name:
            case "&":
                kind = types.Pointer(operand.type)
            case "*":
                kind = target_of(operand.type) or kind
            case "!":
                pass
            case _:
                kind = unknown_of(operand) or kind
        return tree.Unary(place, kind, name, operand)

    def _binary(self, cursor: Cursor, whole: Range, parts: Sequence[Cursor]) -> tree.Expression:
        left, right = map(self.expression, parts)
        place = self.listing.place(*whole)
        name = front_end.binary_operator(cursor)
        self.require(whole, (left, right), name)
        if name == "=":
            kind = types.unqualified(left.type)
            return tree.Assign(place, kind, name, left, right, kind)
        if front_end.kind(cursor) == "COMPOUND_ASSIGNMENT_OPERATOR":
            computed = computation_type(left.type, right.type, name)
            return tree.Assign(place, types.unqualified(left.type), name, left, right, computed)
        kind = self.names.types.of(cursor.type)
        if name == ",":
            kind = right.type
        elif name not in _COMPARISONS:
            kind = unknown_of(left, right) or kind
        return tree.Binary(place, kind, name, left, right)

    def _subscript(self, cursor: Cursor, whole: Range, parts: Sequence[Cursor]) -> tree.Expression:
        first, second = map(self.expression, parts)
        own = self.own(whole, (first, second))
        if own not in (["[", "]"], ["<:", ":>"]):
            self.problem(whole, "this subscript is not understood")
        is_swapped = isinstance(types.unqualified(second.type), types.Pointer | types.ArrayType)
        base, index = (second, first) if is_swapped else (first, second)
        kind = target_of(base.type) or self.names.types.of(cursor.type)
        return tree.Subscript(self.listing.place(*whole), kind, base, index)

    def _member(self, cursor: Cursor, whole: Range, parts: Sequence[Cursor]) -> tree.Expression:
        place = self.listing.place(*whole)
        inner = _expressions(parts)
        name = str(cursor.spelling)
        if len(inner) != 1:
            return self._other(cursor, whole, "MEMBER_REF_EXPR", parts)
        object_ = self.expression(inner[0])
        own = self.own(whole, (object_,))
        if own not in ([".", name], ["->", name]):
            self.problem(whole, "this member is not understood")
        found = self.names.member(front_end.referenced(cursor))
        if found is None:
            reason = types.Unknown(f"the type that '{name}' is a member of is not declared")
            return tree.MemberAccess(
                place, reason, object_, name, own[:1] == ["->"], None, in_union=False, is_bit_field=False
            )
        member, in_union, is_bit_field = found
        kind = _qualified_like(object_.type, member, is_arrow=own[:1] == ["->"])
        return tree.MemberAccess(
            place, kind, object_, name, own[:1] == ["->"], member, in_union, is_bit_field
        )

    def _call(self, cursor: Cursor, whole: Range, parts: Sequence[Cursor]) -> tree.Expression:
        function, *arguments = map(self.expression, _expressions(parts))
        own = self.own(whole, (function, *arguments))
        if own != ["(", *[","] * (len(arguments) - 1), ")"]:
            self.problem(whole, "this call is not understood")
        core = function
        while isinstance(core, tree.Cast) and core.is_implicit:
            core = core.operand
        callee = core.declaration if isinstance(core, tree.Name) else None
        is_builtin = callee is not None and callee.name.startswith("__builtin_")
        unknown = None if is_builtin else unknown_of(core)
        kind = unknown or self.names.types.of(cursor.type)
        return tree.CallExpression(self.listing.place(*whole), kind, callee, function, tuple(arguments))

    def _other(self, cursor: Cursor, whole: Range, name: str, parts: Sequence[Cursor]) -> tree.Expression:
        inside: list[tree.Node] = []
        for child in parts:
            if front_end.is_expression(child):
                inside.append(self.expression(child))
            elif front_end.is_statement(child):
                inside.append(self.statement(self, child))
        kind = self.names.types.of(cursor.type)
        texts = [one.text for one in self.listing.tokens[slice(*whole)]]
        is_designated = texts[:1] in (["."], ["["])
        name = "designated" if is_designated else name
        ahead = tuple(takewhile(lambda text: text != "=", texts)) if is_designated else ()
        return tree.OtherExpression(self.listing.place(*whole), kind, name, tuple(inside), ahead)


def _expressions(parts: Sequence[Cursor]) -> list[Cursor]:
    return [one for one in parts if front_end.is_expression(one)]


def unknown_of(*parts: tree.Expression) -> types.Unknown | None:
    """The first unknown type among those of `parts`."""
    return next((one.type for one in parts if isinstance(one.type, types.Unknown)), None)


def target_of(kind: types.CType) -> types.CType | None:
    """The pointee type of a value of this type; None if the type is not a pointer."""
    match types.unqualified(kind):
        case types.Unknown() as unknown:
            return unknown
        case types.Pointer(target):
            return target
        case types.ArrayType(element):
            return element
    return None


def _qualified_like(kind: types.CType, member: types.Field, *, is_arrow: bool) -> types.CType:
    """The type of a member: in a volatile or const struct, it is volatile or const."""
    outer = target_of(kind) if is_arrow else kind
    if isinstance(outer, types.Unknown):
        return outer
    if isinstance(outer, types.Qualified) and not isinstance(member.type, types.Unknown):
        inner = types.unqualified(member.type)
        own = member.type if isinstance(member.type, types.Qualified) else types.Qualified(inner)
        return types.Qualified(
            inner, outer.is_const or own.is_const, outer.is_volatile or own.is_volatile, own.is_atomic
        )
    return member.type


def computation_type(left: types.CType, right: types.CType, operator: str) -> types.CType:
    """The type in which `left op= right` is computed (6.5.16.2 and 6.3.1.8)."""
    one, other = types.promoted(_plain(left)), types.promoted(_plain(right))
    if isinstance(one, types.Pointer | types.Unknown) or operator in ("<<=", ">>="):
        return one
    return other if isinstance(other, types.Unknown) else types.common(one, other)


def _plain(kind: types.CType) -> types.CType:
    """The type without qualifiers, and the integer type of an enumeration."""
    found = types.unqualified(kind)
    return found.integer if isinstance(found, types.Enumeration) else found
