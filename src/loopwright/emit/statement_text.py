"""Prints calls as the author's statements, with the iterators replaced by their new values.

Subscripts are simplified: `y - 1` for `y + (-1)`, `8 * iT` for `(8 * iT + 1) - 1`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping

from loopwright.c.declarations import is_unsigned_type, unqualified
from loopwright.c.tokens import names_in, without_comments
from loopwright.emit.comments import column, comment_lines, in_front_of_loops, statement_labels, unindented
from loopwright.emit.expressions import expression_to_c
from loopwright.emit.iterator_types import IteratorTypes
from loopwright.emit.quotients import Quotients, loops_around, quotient_at, tile_number
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.program import Hole, Inlined, Program, Statement, is_element
from loopwright.source import Span

_ATOM = re.compile(r"\w+")


class StatementPrinter:
    """Prints the calls of one program as statements."""

    def __init__(
        self,
        program: Program,
        node: Node,
        types: IteratorTypes,
        quotients: Quotients | None = None,
        *,
        labels: bool = True,
    ) -> None:
        self.program, self.types, self.labels = program, types, labels
        self.quotients = quotients or {}
        self.around = loops_around(node) if self.quotients else {}
        calls = [part for part in subprograms(node) if isinstance(part, Call)]
        self.first = {call.name: call for call in reversed(calls)}
        self.elsewhere = in_front_of_loops(node)

    def lines(self, call: Call) -> list[str]:
        """The statement; the first copy has its comments and its label."""
        statement = self.program.statement(call.name)
        values = (expression_to_c(argument) for argument in call.arguments)
        given = dict(zip(statement.iterators, values, strict=True))
        lines = _substituted(self.program, statement, given, self.types, self._tiles(call))
        if call is not self.first[call.name]:
            return lines
        source, body = self.program.source, statement.body
        if self.labels:
            lines[0] = statement_labels(self.program, statement) + lines[0]
        if body.trailing is not None:
            after = comment_lines(source, body.trailing)
            lines = [*lines[:-1], f"{lines[-1]}  {after[0]}", *after[1:]]
        own = [place for place in body.leading if place not in self.elsewhere]
        leading = [line for place in own for line in comment_lines(source, place)]
        return [*leading, *lines]

    def _tiles(self, call: Call) -> dict[tuple[str, int], str]:
        """Quotients of the call's iterators: the loops around it that scan them, or values derived from
        theirs."""
        loops = self.around.get(id(call), ())
        scanning = {loop.dimension: loop.iterator for loop in loops}
        values = dict(zip(self.program.statement(call.name).iterators, call.arguments, strict=True))
        found: dict[tuple[str, int], str] = {}
        for (iterator, divisor), depth in self.quotients.get(call.name, {}).items():
            number = tile_number(values[iterator], divisor, loops) if depth not in scanning else None
            if depth in scanning:
                found[iterator, divisor] = scanning[depth]
            elif number is not None:
                found[iterator, divisor] = f"({expression_to_c(number)})"
        return found


def _substituted(
    program: Program,
    statement: Statement,
    values: Mapping[str, str],
    types: IteratorTypes,
    tiles: Mapping[tuple[str, int], str],
) -> list[str]:
    """The lines of the statement, `values[i]` in place of every iterator `i`, not indented.

    `types` are those of the new iterators.  Lines after the first keep their indentation relative
    to it.
    """
    body = statement.body
    filling = _Filling(program, values, types, tiles, _integers(program))
    text = filling.filled(body.place, body.holes) + body.terminator
    return unindented(text, column(program.source, body.place.start))


def _integers(program: Program) -> frozenset[str]:
    """The parameters and macros, which the proof expands."""
    macros = (macro.name for macro in program.file.macros_before(program.region))
    return frozenset([*(one.text for one in program.parameters), *macros])


@dataclass(frozen=True)
class _Filling:
    program: Program
    values: Mapping[str, str]
    types: IteratorTypes
    tiles: Mapping[tuple[str, int], str]
    """The text for an iterator divided by a number."""
    integers: frozenset[str]
    """Names with the same integer value everywhere in a statement."""

    def filled(self, place: Span, holes: tuple[Hole | Inlined, ...], *, index: bool = False) -> str:
        """The text of `place` with its holes filled; `index` if it is in a subscript."""
        pieces: list[str] = []
        position = place.start
        rest = holes
        while rest:
            around, inside = self._whole_subscript(rest, place)
            tile = self._tile(rest[0], place) if around is None else None
            if tile is not None:
                pieces += [self.program.source.text[position : tile[0].start], tile[1]]
                position, rest = tile[0].end, rest[1:]
                continue
            if around is not None:
                part, filling = around, self._subscript(around, inside)
            else:
                part = rest[0].place
                inner = index or self._in_subscript(place.start, part.start)
                is_signed = not any(map(is_unsigned_type, _types(rest[0])))
                filling = self._filler(rest[0], index=inner and is_signed)
            pieces += [self.program.source.text[position : part.start], filling]
            position = part.end
            rest = rest[max(1, len(inside)) :]
        pieces.append(self.program.source.text[position : place.end])
        return "".join(pieces)

    def _whole_subscript(
        self, holes: tuple[Hole | Inlined, ...], place: Span
    ) -> tuple[Span | None, tuple[Hole | Inlined, ...]]:
        """A sum between brackets around the first hole, and its holes; every quotient in it is known."""
        around = plain_subscript(self.program.source.text, holes[0].place, place, quotients=bool(self.tiles))
        if around is None:
            return None, ()
        inside = tuple(hole for hole in holes if hole.place.end <= around.end)
        known = sum(self._tile(hole, around) is not None for hole in inside)
        return (around, inside) if known == around.text.count("/") else (None, ())

    def _tile(self, hole: Hole | Inlined, place: Span) -> tuple[Span, str] | None:
        """`jT` for `(j / 48)`, and the place of that."""
        if not self.tiles or not isinstance(hole, Hole):
            return None
        found = quotient_at(hole, place)
        name = None if found is None else self.tiles.get((hole.iterator, found[0]))
        return None if found is None or name is None else (found[1], name)

    def _subscript(self, place: Span, holes: tuple[Hole | Inlined, ...]) -> str:
        """A sum between brackets; if it is more than a renaming, its terms are collected.

        `i * m` stays `1 * m`: it is a product of the text, and is compared with one.
        """
        filled = [
            self._tile(hole, place) or (hole.place, self._filler(hole, index=not _is_converted(hole)))
            for hole in holes
        ]
        fillers = [text for _, text in filled]
        pieces: list[str] = []
        position = place.start
        for where, filler in filled:
            pieces += [self.program.source.text[position : where.start], filler]
            position = where.end
        text = "".join(pieces) + self.program.source.text[position : place.end]
        is_renamed = all(map(str.isidentifier, fillers)) and len(set(fillers)) == len(fillers)
        as_it_was = text == fillers[0] or is_renamed
        is_kept = as_it_was or not self._is_sum(place, holes) or _linear_text(place.text) is None
        return text if is_kept else tidied(text, quotients=bool(self.tiles))

    def _is_sum(self, place: Span, holes: tuple[Hole | Inlined, ...]) -> bool:
        """Whether all names in `place`, and in what locals are given, are integers it does not set itself."""
        own = {hole.place.text for hole in holes}
        if not {name for name in names_in(place.text) if name not in own} <= self.integers:
            return False
        return all(self._is_sum(one.definition, one.holes) for one in holes if isinstance(one, Inlined))

    def _in_subscript(self, start: int, end: int) -> bool:
        """Whether the text that follows is between brackets, where only its value matters.

        For an unsigned number this holds only for sums, which wrap around and back.
        """
        visible = without_comments(self.program.source.text[start:end], literals=False)
        return visible.count("[") > visible.count("]")

    def _filler(self, hole: Hole | Inlined, *, index: bool) -> str:
        match hole:
            case Hole(_, iterator):
                value = self.values[iterator]
            case Inlined(_, definition, inner, is_row=True):
                row = self.filled(definition, inner)
                return row if is_element(row) else f"({row})"
            case Inlined(_, definition, inner):
                value = self.filled(definition, inner, index=index)
                index = index and self._are_ints(value)
        if not index and hole.type != self._type(value):
            return f"(({hole.type}){value})" if _ATOM.fullmatch(value) else f"(({hole.type})({value}))"
        text = self.program.source.text
        alone = _ATOM.fullmatch(value) is not None or _is_whole_subscript(text, hole.place)
        return value if alone else f"({value})"

    def _type(self, value: str) -> str | None:
        """The type of an expression of the new iterators; None if sizes or numbers may have widened it."""
        if value.isidentifier() and value not in self.integers:
            return self.types.of(value) if self._may_be_int(value) or value in self.types.own else None
        return "int" if self.types.number == "int" and self._are_ints(value) else None

    def _are_ints(self, value: str) -> bool:
        """Whether an expression has only the type int and those of the new iterators."""
        return _NO_INT.search(value) is None and all(map(self._may_be_int, names_in(value)))

    def _may_be_int(self, name: str) -> bool:
        """Whether a name is that of an int, of a number that is one, or of a new iterator."""
        file, region = self.program.file, self.program.region
        variable = file.declarations.visible(name, region)
        if variable is not None:
            return unqualified(file.declarations.resolved(variable.type)) == "int"
        bodies = [macro.body for macro in file.macros_before(region) if macro.name == name]
        if bodies:
            return all(_INT.fullmatch(one) for one in bodies)
        return any(name in names_in(value) for value in self.values.values())


def _types(hole: Hole | Inlined) -> frozenset[str]:
    """Its type, and the types of its values."""
    inside = () if isinstance(hole, Hole) else hole.holes
    return frozenset({hole.type}.union(*map(_types, inside)))


def _is_converted(hole: Hole | Inlined) -> bool:
    """Whether a local was given what is computed in another type than int, and its own; where it is signed,
    with a local that is not.
    """
    inside = hole.holes if isinstance(hole, Inlined) else ()
    inner = [kind for one in inside if isinstance(one, Inlined) for kind in _types(one)]
    is_unsigned = any(map(is_unsigned_type, (hole.type, *inner)))
    return is_unsigned and not _types(hole) <= {"int", hole.type}


def _is_whole_subscript(text: str, place: Span) -> bool:
    """`A[i]`: nothing around the iterator could bind to a part of its value."""
    before = text[max(0, place.start - 1) : place.start]
    after = text[place.end : place.end + 1]
    return before == "[" and after == "]"


_PLAIN = re.compile(r"[\w\s+*()-]*")
"""Sums of names and numbers; numbers with a suffix or a leading zero are not Python, and are not parsed."""

_WITH_QUOTIENTS = re.compile(r"[\w\s+*()/-]*")

_CALL = re.compile(r"\w\s*\(")

_NO_INT = re.compile(r"\b\d\w*[uUlL]|\b\d{10}|\b0[xX]")
"""Numbers that are no int, or may be none."""

_INT = re.compile(r"\(?\s*-?\s*(?:0|[1-9]\d{0,8})\s*\)?")
"""Bodies of macros that are one."""

SubscriptSum = Counter[str]
"""The factor of each name, in order of appearance; that of "" is the constant."""


def plain_subscript(text: str, hole: Span, within: Span, *, quotients: bool = False) -> Span | None:
    """The text between the brackets around `hole`, if it is a sum of names and numbers, or of `quotients`."""
    start = text.rfind("[", within.start, hole.start) + 1
    end = text.find("]", hole.end, within.end)
    allowed = _WITH_QUOTIENTS if quotients else _PLAIN
    if start == 0 or end < 0 or allowed.fullmatch(text, start, end) is None or _CALL.search(text, start, end):
        return None
    return Span(hole.source, start, end)


def tidied(subscript: str, *, quotients: bool = False) -> str:
    """The same sum with its constants, names and `quotients` collected; other texts stay as they are."""
    if (_WITH_QUOTIENTS if quotients else _PLAIN).fullmatch(subscript) is None:
        return subscript
    linear = _linear_text(subscript)
    return subscript if linear is None else _printed(linear)


def _linear_text(subscript: str) -> SubscriptSum | None:
    try:
        return _linear(ast.parse(subscript.strip(), mode="eval").body)
    except SyntaxError:
        return None


def _linear(expression: ast.expr) -> SubscriptSum | None:
    """An expression as a sum, or None if it is not one."""
    match expression:
        case ast.Name(id=name):
            return Counter({name: 1})
        case ast.Constant(value=int(number)):
            return Counter({"": number})
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(_linear(operand), -1)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            one, other = _linear(left), _scaled(_linear(right), 1 if isinstance(sign, ast.Add) else -1)
            return None if one is None or other is None else _sum(one, other)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(_linear(left), _linear(right))
        case ast.BinOp(op=ast.Div()):
            return Counter({f"({ast.unparse(expression)})": 1})
        case _:
            return None


def _scaled(linear: SubscriptSum | None, factor: int) -> SubscriptSum | None:
    if linear is None:
        return None
    return Counter({name: factor * number for name, number in linear.items()})


def _sum(one: SubscriptSum, other: SubscriptSum) -> SubscriptSum:
    return Counter({name: one[name] + other[name] for name in [*one, *other]})


def _product(one: SubscriptSum | None, other: SubscriptSum | None) -> SubscriptSum | None:
    """The product of two sums, one of which must be a number."""
    if one is None or other is None:
        return None
    if set(one) <= {""}:
        return _scaled(other, one[""])
    return _scaled(one, other[""]) if set(other) <= {""} else None


def _printed(linear: SubscriptSum) -> str:
    """A positive term first, the constant last."""
    terms = [(name, factor) for name, factor in linear.items() if name and factor]
    terms.sort(key=lambda term: term[1] < 0)
    if linear[""] or not terms:
        terms.append(("", linear[""]))
    text = ""
    for name, factor in terms:
        number = "" if name and abs(factor) == 1 else str(abs(factor))
        size = " * ".join(word for word in (number, name) if word)
        if text:
            text += f" - {size}" if factor < 0 else f" + {size}"
        else:
            text = f"-{size}" if factor < 0 else size
    return text
