"""Proves or refutes the assumption that index arithmetic stays within its types.

A statement with the text of the original, in iterators of types at least as wide, overflows only where the
original does, and there the behaviour of the original is undefined.

A bound or subscript that overflows its type or wraps around for numbers that the file defines is a
refutation.  Loops are followed in their first and last iterations, and in the test that ends them: there
iterators have one value, so every expression has one, and a value outside its type is a refutation.

    for (i = s; i + 4 <= n; i++)    the last test is  n + 1 <= n:  2^32 where n is unsigned and 2^32 - 1

Code under a condition, or that is only sometimes computed, refutes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import islpy as isl

from loopwright.c.loops import loop_iterator
from loopwright.c.syntax import Node, field, operator, walk, without_parentheses
from loopwright.c.tokens import packed
from loopwright.c.types import Integer, holds, is_signed, promoted
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Var
from loopwright.loops.nodes import Call
from loopwright.model.parameters import Parameter, ShownCall
from loopwright.model.program import Assumption, AssumptionKind, Program, Standing, Statement
from loopwright.presburger.named import parameter_ranges
from loopwright.prove.reading.c_expressions import Unreadable, words_of
from loopwright.prove.reading.integer_types import type_at
from loopwright.prove.text.intervals import Interval, NotShown, Overflows, Typed
from loopwright.prove.text.overflow import ValueScope, refuse_overflow, statements_at
from loopwright.prove.text.text_model import has_unsigned
from loopwright.source import Span


def within_types(
    old: Program, new: Program, established: isl.Set, unchanged: frozenset[Span] = frozenset()
) -> tuple[Assumption, ...]:
    """The assumptions of `old`, with those about index arithmetic tried: shown always, or for `established`.

    The new source need not reproduce a signed overflow of the old source, but must reproduce an unsigned one.
    An overflow that the file itself shows is refused.
    """
    refuse_shown(old)
    found: list[Assumption] = []
    for one in old.assumptions:
        if one.kind is AssumptionKind.ARITHMETIC and one.holds_for is None:
            is_new = one.place is None
            shown = [
                (not is_new or _stays(new, known, unchanged))
                and ((is_new and is_signed_throughout(old)) or _stays(old, known))
                for known in (old.facts, established)
            ]
            standing = Standing.PROVED if shown[0] else Standing.GUARDED if shown[1] else one.standing
            one = replace(one, standing=standing)
        found.append(one)
    return tuple(found)


def refuse_new(old: Program, new: Program) -> None:
    """Raises an error if the new source overflows for numbers that the file defines, where the old one does
    not: A_packed[i + 2000000000] for all i from -2000000000 to 2000000000."""
    for case in old.cases or (ShownCall(None, ()),):
        found = shown_overflow(new, dict(case.numbers))
        if found is not None:
            message = f"bounds and subscripts of the new source overflow: {found}"
            raise BadInput(Code.REGION_TEXT, message, span=old.region, hint="count in a wider type: long i")


def refuse_shown(program: Program) -> None:
    """Raises an error if an index expression overflows its type for numbers that the file defines."""
    for case in program.cases or (ShownCall(None, ()),):
        points = {name: (value, value) for name, value in case.numbers}
        if _stays(program, program.facts, points=points):
            continue  # cannot overflow, by intervals alone
        found = shown_overflow(program, dict(case.numbers))
        if found is not None:
            told = f", for {case}" if case.numbers else ""
            message = f"the file refutes that bounds and subscripts do not overflow: {found}{told}"
            hint = "compute in a wider type, or with other numbers"
            raise BadInput(Code.REGION_TEXT, message, span=program.region, hint=hint)


def is_refuted(program: Program) -> bool:
    """Whether an index expression overflows its type for numbers that the file defines."""
    try:
        refuse_shown(program)
    except BadInput:
        return True
    return False


def _stays(
    program: Program,
    known: isl.Set,
    unchanged: frozenset[Span] = frozenset(),
    points: Mapping[str, Interval] = MappingProxyType({}),
) -> bool:
    try:
        refuse_overflow(program, {**parameter_ranges(known), **points}, unchanged, known)
    except NotShown:
        return False
    return True


def unchanged_text(written: Program, old: Program, new: Program, claims: Sequence[Call]) -> frozenset[Span]:
    """The statements and elements of `new` with the text that they have in the file, at the same values of
    the same iterators, none of which has become narrower.

    `claims` says which instance of `old` each statement of `new` executes, and is proved.  Of the program
    that is `written` in the file, `old` has the statements with other elements where their storage has
    changed, and copies: a subscript of them that is computed in no fewer bits than those of `written` reaches
    the same elements.
    """
    own = {one.name: one for one in written.statements}
    found: set[Span] = set()
    for one, claim in zip(new.statements, claims, strict=True):
        if claim.name not in own:
            found |= _as_wide_in_rows(one, new, written)
            continue
        before = own[claim.name]
        types = dict(zip(one.iterators, one.iterator_types, strict=False))
        kinds = zip(before.iterators, before.iterator_types, strict=False)
        is_same = claim.arguments == tuple(Var(name) for name in old.statement(claim.name).iterators)
        is_same = is_same and before.iterators == old.statement(claim.name).iterators
        if is_same and all(name in types and _is_as_wide(types[name], kind, new) for name, kind in kinds):
            found |= set(_same_text(before, one))
    return frozenset(found)


def _same_text(before: Statement, after: Statement) -> Iterator[Span]:
    """The statement, or those of its elements that keep their text: access number k stays number k."""
    if packed(before.body.place.text) == packed(after.body.place.text):
        yield after.body.place
    elif len(before.accesses) == len(after.accesses):
        for first, second in zip(before.accesses, after.accesses, strict=True):
            if packed(first.place.text) == packed(second.place.text):
                yield second.place


def _as_wide_in_rows(copy: Statement, new: Program, written: Program) -> set[Span]:
    """The elements A[i * n + j] of a copy, computed in no fewer bits than by the statements in the file."""
    found: set[Span] = set()
    in_rows = {one.name for one in written.arrays if one.rows}
    for name in in_rows & {one.array for one in copy.accesses}:
        own = _subscript_bits(new, name, (copy,))
        others = _subscript_bits(written, name, written.statements)
        if own is not None and others is not None and min(own, default=0) >= max(others, default=0):
            found |= {one.place for one in copy.accesses if one.array == name}
    return found


def _subscript_bits(program: Program, name: str, statements: Sequence[Statement]) -> set[int] | None:
    """The numbers of bits in which subscripts of an array are computed; None if one is not known."""
    places = {one.place for each in statements for one in each.accesses if one.array == name}
    nodes = {node.span: node for node in program.syntax.of_type("subscript_expression")}
    words, found = words_of(program), set[int]()
    for place in places:
        kind = type_at(field(nodes[place], "index"), words, place) if place in nodes else None
        if not isinstance(kind, Integer):
            return None
        found.add(kind.bits)
    return found


def is_signed_throughout(program: Program) -> bool:
    """Whether all iterators and parameters are signed, `unsigned` does not occur in the source, and no
    conversion makes another number of one that its type does not hold: that is no overflow."""
    kinds = program.file.kinds(program.region)
    types = {kind for one in program.statements for kind in one.iterator_types}
    iterators = all(is_signed(promoted(kinds.written_type(kind, certain=True))) for kind in types)
    free = [one for one in program.parameters if not _is_fixed(one)]
    sizes = all(one.values is not None and one.values[0] < 0 for one in free)
    return iterators and sizes and not has_unsigned(program) and not _narrows(program)


def _narrows(program: Program) -> bool:
    """Whether an integer is converted to a signed type that does not hold all values of its own."""
    words, kinds = words_of(program), program.file.kinds(program.region)
    given = [(field(one, "value"), one) for one in program.syntax.of_type("cast_expression")]
    for node in program.syntax.of_type("declaration"):
        values = (one.child_by_field_name("value") for one in node.children_by_field_name("declarator"))
        given += [(value, node) for value in values if value is not None]
    for value, into in given:
        kind = kinds.written_type(field(into, "type").text, certain=True)
        own = type_at(value, words, value.span)
        if isinstance(kind, Integer) and isinstance(own, Integer) and not holds(kind, own):
            return True
    return False


def _is_fixed(one: Parameter) -> bool:
    return one.values is not None and one.values[0] == one.values[1]


def _is_as_wide(new: str, old: str, program: Program) -> bool:
    kinds = program.file.kinds(program.region)
    wide, narrow = (kinds.written_type(kind, certain=True) for kind in (new, old))
    return wide == narrow or (holds(wide, narrow) and isinstance(wide, Integer) and wide.signed)


def shown_overflow(program: Program, numbers: Mapping[str, int]) -> str | None:
    """Returns an expression that overflows its type for these parameter values, or None if none is found."""
    if any(node.type in _JUMPS for node in walk(program.syntax)):
        return None
    points = {name: (value, value) for name, value in numbers.items()}
    try:
        leaves = statements_at(program)
        scope = _EndsOfLoops(program, words_of(program), points, {}, leaves, frozenset())
        for _ in scope.sequence(program.syntax):
            pass
    except Overflows as found:
        return str(found)
    except (NotShown, Unreadable):
        return None
    return None


@dataclass(frozen=True)
class _EndsOfLoops(ValueScope):
    def statement(self, node: Node) -> Iterator[Typed]:
        """Follows one statement; a statement that cannot be followed does not hide the others."""
        try:
            if node.type != "if_statement":
                yield from super().statement(node)
        except Overflows:
            raise
        except (NotShown, Unreadable):
            return

    def _loop(self, node: Node) -> Iterator[Typed]:
        name, condition = loop_iterator(node), node.child_by_field_name("condition")
        if name is None or condition is None or without_parentheses(condition).type != "binary_expression":
            return
        step, kind, start, limit = self.counted(node, name, condition)
        times = max(0, (limit - start.least) // step + 1)
        final = start.least + times * step
        yield self.bind(name, Typed(final, final, kind).within(condition)).value(condition)
        for value in {start.least, final - step} if times else ():
            yield from self.bind(name, Typed(value, value, kind)).statement(field(node, "body"))

    def _leaf(self, node: Node) -> Iterator[Typed]:
        if not any(_is_partial(part) for part in walk(node)):
            yield from super()._leaf(node)

    def value(self, node: Node) -> Typed:
        if _is_partial(without_parentheses(node)):
            raise NotShown(f"not all of '{node.text}' is computed always")
        return super().value(node)


def _is_partial(node: Node) -> bool:
    """Whether parts of an expression may not be evaluated."""
    is_logic = node.type == "binary_expression" and operator(node) in ("&&", "||")
    return is_logic or node.type in ("conditional_expression", "sizeof_expression")


_JUMPS = ("break_statement", "continue_statement", "goto_statement", "return_statement")
"""Statements that may leave a loop before its last iteration."""
