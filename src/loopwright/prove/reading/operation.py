"""Compares two statements: whether they are the same operation, up to equations between their values.

Two texts are compared node by node.  If both have an integer expression of iterators and parameters, `A[i +
1]` and `A[c0 + 2]`, they may differ: that their values are equal is an equation between the iterators of the
two statements, to be proved.  Outside of subscripts their types must also be the same.  Everything else must
be identical.

The arguments of a call may be those of a macro, which sees text and not values: `SQ(i + 1)` and `SQ(c0 + 2)`
need not be equal.  There only a single name or literal may be replaced, and only by another atomic
expression.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.macros import definitions
from loopwright.c.references import reference_of
from loopwright.c.syntax import Node, field, is_atomic, operator, stands_as, walk, without_parentheses
from loopwright.c.tokens import packed
from loopwright.c.types import INT, LONG, CType, Integer, holds, is_signed, promoted
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Int, Min
from loopwright.model.program import Program
from loopwright.prove.reading.c_expressions import POINTER, LocalText, Unreadable, Words, expression, words_of
from loopwright.prove.reading.integer_types import type_at, value_type


@dataclass(frozen=True)
class StatementSyntax:
    """A statement's syntax, and the meaning of the names in it."""

    node: Node
    words: Words


@dataclass(frozen=True, slots=True)
class Equation:
    """States that `old` at an instance of the old statement equals `new` at one of the new."""

    old: Expr
    new: Expr


class Different(Exception):
    """The two texts are not the same operation; the message says where."""


class Uncompared(Different):
    """They differ in integer expressions of iterators and sizes, whose values are not known."""


def same_operation(old: StatementSyntax, new: StatementSyntax) -> tuple[Equation, ...]:
    """The equations under which the two statements do the same; raises `Different` if there are none."""
    found = dict.fromkeys(aligned(old, new))
    return tuple(one for one in found if not (isinstance(one.old, Int) and one.old == one.new))


def aligned(old: StatementSyntax, new: StatementSyntax) -> tuple[Equation, ...]:
    """The pairs of integer expressions of both, in source order."""
    found: list[Equation] = []
    _align(_core(old.node), _core(new.node), old.words, new.words, found, textual=False)
    return tuple(found)


def _core(node: Node) -> Node:
    """The assignment inside `x = e;`."""
    inner = _parts(node)
    return inner[0] if node.type == "expression_statement" and inner else node


def _parts(node: Node) -> list[Node]:
    """The children without comments and, except in the head of a loop, without semicolons."""
    ignored = ("comment",) if node.type == "for_statement" else ("comment", ";")
    return [child for child in node.children if child.type not in ignored]


def _align(
    old: Node, new: Node, before: Words, after: Words, found: list[Equation], *, textual: bool
) -> None:
    if not textual:
        old, new = without_parentheses(old), without_parentheses(new)
    local = _local(old, before)
    is_closed = not textual or new.type == "parenthesized_expression"
    if local is not None and (local.type == POINTER or is_closed):
        _align_local(local, old, new, before, after, found)
        return
    values = _values(old, new, before, after, textual=textual)
    if values is None:
        _align_parts(old, new, before, after, found, textual=textual)
        return
    try:
        parts: list[Equation] = []
        if values[1:] and _wrap_alike(old, new, before, after):
            _align_parts(old, new, before, after, parts, textual=textual)
        found += parts or values
    except Different:
        found += values


def _wrap_alike(old: Node, new: Node, before: Words, after: Words) -> bool:
    """Whether parts of a sum that may wrap around have the same types in both texts."""
    old, new = without_parentheses(old), without_parentheses(new)
    kinds = type_at(old, before, old.span), type_at(new, after, new.span)
    if kinds[0] != kinds[1] and (_is_narrow(old, before) or _is_narrow(new, after)):
        return False
    (first, parts), (second, others) = _shape(old), _shape(new)
    is_same = first == second and len(parts) == len(others)
    return not is_same or all(_wrap_alike(*pair, before, after) for pair in zip(parts, others, strict=True))


def _align_parts(
    old: Node, new: Node, before: Words, after: Words, found: list[Equation], *, textual: bool
) -> None:
    """Aligns the parts of two nodes of the same shape."""
    is_closed = not textual or new.type == "parenthesized_expression"
    if is_closed and _align_given(old, new, before, after, found):
        return
    first, second = _shape(old), _shape(new)
    if first[0] != second[0] or len(first[1]) != len(second[1]):
        kind = Uncompared if _is_of_numbers(old, before) and _is_of_numbers(new, after) else Different
        raise kind(f"'{_shown(before.of(old))}' is not '{_shown(after.of(new))}'")
    if not first[1]:
        if old.type != "compound_statement":  # an empty block may be indented in any way
            _same_text(old, new, before, after)
        return
    inside = (textual and old.type != "parenthesized_expression") or old.type == "argument_list"
    for one, other in zip(first[1], second[1], strict=True):
        within = inside and not stands_as(one, "index", "subscript_expression")
        _align(one, other, before, after, found, textual=within)


def _is_of_numbers(node: Node, words: Words) -> bool:
    """Whether all names in an expression are iterators and sizes."""
    names = {part.text for part in walk(node) if part.type == "identifier"}
    return bool(names) and names <= {*words.values, *words.parameters}


def _local(node: Node, words: Words) -> LocalText | None:
    return words.texts.get(words.of(node)) if node.type == "identifier" else None


def _align_local(
    old: LocalText, name: Node, new: Node, before: Words, after: Words, found: list[Equation]
) -> None:
    """Aligns a local of the old source with its value in the new one, cast to its type, or a local.

    A pointer is subscripted, `(a + i * n)[j]`: its text cannot be split by a macro.
    """
    other = _local(new, after)
    if other is not None and old.type == other.type:
        _align(old.node, other.node, old.words, other.words, found, textual=False)
        return
    if old.type != POINTER:
        new = without_parentheses(new)
        is_cast = new.type == "cast_expression" and after.of(field(new, "type")) == old.type
        given = type_at(old.node, old.words, old.node.span)
        is_held = old.type == "int" and holds(INT, given)
        kind = type_at(name, before, name.span)
        if not is_cast and not is_held and not _is_same_subscript(name, before, kind, given):
            raise Different(f"'{_shown(after.of(new))}' is not a '{old.type}'")
        is_own = given == INT and _is_cast(old.node) and not (is_cast and _is_cast(field(new, "value")))
        new = field(new, "value") if is_cast and not is_own else new
    _align(old.node, new, old.words, after, found, textual=False)


def _is_cast(node: Node) -> bool:
    return without_parentheses(node).type == "cast_expression"


def _align_given(old: Node, new: Node, before: Words, after: Words, found: list[Equation]) -> bool:
    """Whether `old` is a local, and `new` is its initial value, converted to its type.

    The names in the initial value are also those at the place of `old`: none of them is redeclared there.
    """
    local = before.given.get(old.text) if old.type == "identifier" else None
    if local is None or any(before.values.get(name) is not one for name, one in local.words.values.items()):
        return False
    kind, given = type_at(old, before, old.span), type_at(local.node, local.words, local.node.span)
    new = without_parentheses(new)
    if new.type == "cast_expression" and type_at(new, after, new.span) == kind:
        new = field(new, "value")
    elif given != kind and not _is_same_subscript(old, before, kind, given):
        return False
    _align(local.node, new, local.words, after, found, textual=False)
    return True


def _is_same_subscript(old: Node, words: Words, kind: CType, given: CType) -> bool:
    """Whether a local in a subscript may be replaced by its initial value, in the type of that.

    In a signed type it is the same integer.  In an unsigned one it is if it is nonnegative, as the subscripts
    of an array with declared sizes are; sums wrap around and back again.
    """
    if not is_signed(promoted(given)):
        return False
    if is_signed(kind):
        return is_in_subscript(old) and holds(kind, given)
    return _is_term_of_subscript(old) and _has_extent(old, words)


def _values(
    old: Node, new: Node, before: Words, after: Words, *, textual: bool
) -> tuple[Equation, ...] | None:
    """The equation if both are integer expressions of iterators and parameters.

    Further equations state that unsigned parts of a subscript, which would wrap around, are nonnegative.
    """
    if textual and not (_is_single(old) and is_atomic(new)):
        return None
    given = _before_cast(old, new, before, after)
    try:
        equation = Equation(expression(old, before), expression(given, after))
    except Unreadable:
        return None
    kinds = value_type(old, before, old.span), value_type(new, after, new.span)
    if given != new or kinds[0] == kinds[1] is not None or (is_in_subscript(old) and _are_signed(kinds)):
        return (equation,)
    sides = (old, before, kinds[0]), (new, after, kinds[1])
    are_right = (kind is not None or _is_sum(side, words) for side, words, kind in sides)
    if not _is_term_of_subscript(old) or not all(are_right):
        return None
    return equation, *_not_below_zero(old, new, before, after)


def _not_below_zero(old: Node, new: Node, before: Words, after: Words) -> Iterator[Equation]:
    """Yields equations that parts that would wrap around are nonnegative; none if both wrap around alike."""
    mine, others = _narrow_parts(old, before), _narrow_parts(new, after)
    are_whole = mine in ((), (old,)) and others in ((), (new,))
    if are_whole and type_at(old, before, old.span) == type_at(new, after, new.span):
        return
    for part in () if _has_extent(old, before) else mine:
        yield Equation(_below_zero(part, before), Int(0))
    for part in others:
        yield Equation(Int(0), _below_zero(part, after))


def _below_zero(node: Node, words: Words) -> Expr:
    return Min((expression(node, words), Int(0)))


def _narrow_parts(node: Node, words: Words) -> tuple[Node, ...]:
    """The largest parts of a sum that are unsigned with fewer bits than a pointer.

    `A[i - 1 + 5L]` adds a long number to one that has wrapped around in fewer bits, which is another sum.
    """
    core = without_parentheses(node)
    if _is_narrow(core, words):
        return (node,)
    match core.type:
        case "unary_expression" if operator(core) in ("-", "+"):
            return _narrow_parts(field(core, "argument"), words)
        case "binary_expression" if operator(core) in ("+", "-", "*"):
            return (*_narrow_parts(field(core, "left"), words), *_narrow_parts(field(core, "right"), words))
        case "cast_expression":
            return _narrow_parts(field(core, "value"), words)
        case _:
            return ()


def _is_narrow(node: Node, words: Words) -> bool:
    """Whether it is unsigned with fewer bits than a pointer, which does not wrap around where that does.

    An iterator does not become negative: that is proved of its loop.
    """
    core = without_parentheses(node)
    kind = type_at(core, words, core.span)
    is_iterator = core.type == "identifier" and core.text in words.values
    return isinstance(kind, Integer) and not kind.signed and kind.bits < LONG.bits and not is_iterator


def _has_extent(node: Node, words: Words) -> bool:
    """Whether it is in a subscript of an array whose sizes are all declared.

    A number that wraps around below 0 is out of bounds, and not a subscript of a program that stays in
    bounds.
    """
    outer = _subscripted(node)
    found = None if outer is None else reference_of(outer)
    declared = None if found is None else words.declarations.visible(found.base, found.root.span)
    return declared is not None and len(declared.extents) == declared.rank and all(declared.extents)


def wrapping_subscript(program: Program) -> Node | None:
    """Returns a subscript in an unsigned type narrower than a pointer, of storage with undeclared size.

    If it may be negative, the same sum in a signed type is another element.
    """
    words = words_of(program)
    indices = (field(node, "index") for node in program.syntax.of_type("subscript_expression"))
    sums = (one for one in indices if without_parentheses(one).type != "identifier")
    return next((one for one in sums if _narrow_parts(one, words) and not _has_extent(one, words)), None)


def _before_cast(old: Node, new: Node, before: Words, after: Words) -> Node:
    """e of `(T)e`, if `old` has the type T: a cast to the type of a value does not change it.

    Nor does a cast of the initial value of a local of type T, which is converted in the same way, nor one of
    sums and products to a type of no more bits than these are computed in: it keeps the low bits.
    """
    cast = without_parentheses(new)
    if cast.type != "cast_expression":
        return new
    inner = field(cast, "value")
    is_local = old.type == "identifier" and old.text in before.converted
    mine = type_at(old, before, old.span) if is_local else value_type(old, before, old.span)
    is_own = type_at(cast, after, cast.span) == mine
    named = [part.text for part in walk(inner) if part.type == "identifier"]
    is_narrow = isinstance(mine, Integer) and mine.rank > 0 and mine.bits <= INT.bits
    is_narrow = is_narrow and not any(definitions(after.macros, name) for name in named)
    is_same = value_type(inner, after, inner.span) is not None or (is_narrow and _is_sum(inner, after))
    return inner if is_own and is_same else new


def _are_signed(kinds: tuple[CType | None, ...]) -> bool:
    """Whether both are computed in signed types, in which C values are the mathematical ones."""
    return all(kind is not None and is_signed(kind) for kind in kinds)


def _is_single(node: Node) -> bool:
    return node.type in ("identifier", "number_literal") or is_atomic(node)


def _is_sum(node: Node, words: Words) -> bool:
    """Whether it consists of sums and products only, which wrap around and back again.

    So do casts to types of as many bits as the sums have, or more.
    """
    node = without_parentheses(node)
    match node.type:
        case "identifier" | "number_literal":
            return True
        case "field_expression" | "subscript_expression" | "pointer_expression":
            return packed(node.text) in words.types
        case "unary_expression" if operator(node) in ("-", "+"):
            return _is_sum(field(node, "argument"), words)
        case "binary_expression" if operator(node) in ("+", "-", "*"):
            return _is_sum(field(node, "left"), words) and _is_sum(field(node, "right"), words)
        case "cast_expression":
            kind = type_at(node, words, node.span)
            is_wide = isinstance(kind, Integer) and kind.bits >= INT.bits
            return is_wide and _is_sum(field(node, "value"), words)
        case _:
            return False


def _is_term_of_subscript(node: Node) -> bool:
    """Whether only sums and products are between `node` and the brackets around it."""
    outer = next((one for one in node.around() if not _is_summed(one)), None)
    if outer is None or outer.type != "subscript_expression":
        return False
    return field(outer, "index").span.contains(node.span)


def _is_summed(outer: Node) -> bool:
    kinds = ("parenthesized_expression", "unary_expression", "binary_expression")
    return outer.type in kinds and (outer.type == kinds[0] or operator(outer) in ("+", "-", "*"))


def is_in_subscript(node: Node) -> bool:
    """Whether `node` is part of a subscript, where values are mathematical integers."""
    return _subscripted(node) is not None


def _subscripted(node: Node) -> Node | None:
    """The innermost access that `node` is part of a subscript of."""
    inside = (one for one in (node, *node.around()) if stands_as(one, "index", "subscript_expression"))
    return next((one.parent for one in inside), None)


def _shape(node: Node) -> tuple[str, list[Node]]:
    """The kind of a node with its punctuation and the positions of its parts, and the parts.

    `x++` differs from `++x`.  An initialisation is an assignment.  An apparent operator may be the cast
    `(X)`: its text counts.
    """
    if node.type == "init_declarator":
        return "assignment_expression: _ = _", [field(node, "declarator"), field(node, "value")]
    parts = _parts(node)
    if node.type == "unary_expression":
        text = packed(node.source.text[node.start : field(node, "argument").start])
        marks = text if text.startswith("(") else operator(node)
    else:
        marks = " ".join("_" if part.is_named else part.type for part in parts)
    return f"{node.type}: {marks}", [part for part in parts if part.is_named]


def _same_text(old: Node, new: Node, before: Words, after: Words) -> None:
    """Requires the same name or literal, and that a name has the same meaning there."""
    one, other = before.of(old), after.of(new)
    own = one in before.values or other in after.values or one in before.texts or other in after.texts
    if one != other or (old.type == "identifier" and own):
        raise Different(f"'{_shown(one)}' is not '{_shown(other)}'")


def _shown(text: str) -> str:
    short = " ".join(text.split())
    return short if len(short) <= 60 else short[:57] + "..."
