"""Finds integers that NEW computes as values in a type that cannot hold them, where OLD does not overflow.

Values are compared as mathematical integers, whatever types they are computed in: `i * 100000` equals `i *
100000L` as long as an int holds it.  For every such expression e of type T in a statement with domain D

    { p : there are i in D(p) with e(i, p) outside of T }

is the set of sizes at which it overflows: no such size of NEW may be one at which OLD computes everything
without overflow.  What NEW also computes in the head of a loop is a bound; it is a listed assumption that
these and subscripts do not overflow, unless they do so at small sizes: a[i + 2147483647 - K].  A head is
asked in the iterations that it lets run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

import islpy as isl

from loopwright.c.declarations import declared_name
from loopwright.c.syntax import Node, field, operator, walk
from loopwright.c.tokens import packed
from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.types import Integer
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Int, Scaled
from loopwright.loops.nodes import Call
from loopwright.loops.nodes import Node as LoopNode
from loopwright.loops.traverse import subterms, with_calls
from loopwright.model.program import Assumption, Program
from loopwright.presburger.named import at_parameters, everywhere, number, variable
from loopwright.presburger.points import smallest_point, values_text
from loopwright.presburger.sets import DIM, within_effort
from loopwright.prove.descent.reading import LoopText
from loopwright.prove.reading.c_expressions import Unreadable, Words, expression
from loopwright.prove.reading.integer_types import type_at
from loopwright.prove.reading.loops import sides, text_loops
from loopwright.prove.reading.operation import StatementSyntax, is_in_subscript
from loopwright.prove.scanning.executed import executed, runs
from loopwright.prove.text.index_arithmetic import is_refuted
from loopwright.prove.text.intervals import NotShown, Overflows
from loopwright.prove.text.overflow import refuse_overflow
from loopwright.prove.verdict import Refuted, Undecided
from loopwright.read.c.gate.assumed import with_shown
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import parse_c
from loopwright.source import Source

ARITHMETIC = ("+", "-", "*", "<<")
_EFFORT = 2_000_000
"""Maximum number of isl operations."""
_SMALL = 1 << 15
"""Sizes up to this one are small: a subscript with smaller numbers alone does not overflow there."""
_FAR = re.compile(r"\d{5}|0[xX]")
"""What a text has that has greater numbers."""


@dataclass(frozen=True)
class _IntegerValue:
    """An integer that a statement computes, and its type."""

    node: Node
    value: Expr
    type: Integer


def overflow_of_new(old: Program, new: Program) -> Refuted | Undecided | None:
    """Returns a value of NEW outside its type, at sizes at which no value of OLD is outside its own; both
    programs have the same parameters.  Returns None if there is none, or if isl takes too long."""
    known = old.facts.intersect(new.facts)
    return _overflow(old, (*old.assumptions, *new.assumptions), known, _loops(new), sides(new))


def overflow_of_text(old: Program, text: LoopText) -> Refuted | Undecided | None:
    """The same as `overflow_of_new`, for loops that were followed."""
    statements = {name: leaf.syntax for name, leaf in text.leaves.items()}
    return _overflow(old, old.assumptions, old.facts, text.loops, statements)


def overflow_at(old: Program, sizes: Mapping[str, int]) -> str | None:
    """Returns a signed overflow of OLD at these sizes, in a bound, subscript or value: undefined behaviour.

    Returns None if there is none, or if that is not known.
    """
    found = _signed_overflow(old, sizes)
    return None if found is None else f"for {values_text(sizes)} OLD may do anything: {found}"


def _signed_overflow(old: Program, sizes: Mapping[str, int]) -> str | None:
    if not {*old.params} <= sizes.keys():
        return None  # the difference holds for all sizes
    try:
        refuse_overflow(old, {name: (size, size) for name, size in sizes.items()})
    except Overflows as failure:
        if failure.kind.signed:
            return str(failure)
    except NotShown:
        pass  # an interval is too wide, or data has no bound
    known = at_parameters(old.context, sizes)
    try:
        own = {name: [*_computed(one.node, one.words, subscripts=True)] for name, one in sides(old).items()}
        for one, wrong in _beyond(_loops(old), own, known):
            if one.type.signed and not wrong.is_empty():
                return f"'{packed(one.node.text)}' is beyond {one.type.greatest}"
    except Unreadable:
        pass
    return None


def _overflow(
    old: Program,
    assumed: Sequence[Assumption],
    known: isl.Set,
    loops: LoopNode,
    statements: Mapping[str, StatementSyntax],
) -> Refuted | Undecided | None:
    is_far = any(_FAR.search(text) for text in {one.node.source.text for one in statements.values()})
    computed = {
        name: [*filter(_is_asked, _everywhere(side) if is_far else _computed(side.node, side.words))]
        for name, side in statements.items()
    }
    if not any(computed.values()):
        return None
    for one in assumed:
        known = known if one.implies is None else known.intersect(one.implies)
    known = known.intersect(_in_their_types(old))
    try:
        return within_effort(_EFFORT, lambda: _found(old, known, loops, computed))
    except isl.Error:
        return None  # the assumption is then listed


def _is_asked(one: _IntegerValue) -> bool:
    """Whether it is a value, or part of a subscript or bound that may overflow at small sizes."""
    parts = [*subterms(one.value)]
    numbers = [part.value for part in parts if isinstance(part, Int)]
    numbers += [part.factor for part in parts if isinstance(part, Scaled)]
    return not _is_index(one.node) or (one.type.signed and max(map(abs, numbers), default=0) > _SMALL)


def _in_their_types(program: Program) -> isl.Set:
    """The sizes that fit into the types of variables declared outside of the region."""
    found, kinds = everywhere(), program.file.kinds(program.region)
    for one in program.parameters:
        declared = program.file.declarations.visible(one.text, program.region)
        is_plain = declared is not None and declared.rank == 0
        kind = kinds.written_type(declared.type, certain=True) if declared is not None and is_plain else None
        if isinstance(kind, Integer):
            size, least, greatest = variable(one.name), number(kind.least), number(kind.greatest)
            found = found.intersect(size.ge_set(least)).intersect(size.le_set(greatest))
    return found


def _found(
    old: Program, known: isl.Set, loops: LoopNode, computed: Mapping[str, list[_IntegerValue]]
) -> Refuted | Undecided | None:
    found = [(one, wrong) for one, wrong in _beyond(loops, computed, known) if not wrong.is_empty()]
    if not found:
        return None
    own = {name: [*_everywhere(one)] for name, one in sides(old).items()}
    excused = known.subtract(known)
    for _, wrong in _beyond(_loops(old), own, known):
        excused = excused.union(wrong.params())
    for one, wrong in found:
        point = smallest_point(wrong.intersect_params(wrong.params().subtract(excused)))
        is_index = _is_index(one.node) or packed(one.node.text) in _bounds_around(one.node)
        if point is not None and (not is_index or _is_small(point.parameters)):
            return _told(old, one, point.parameters, point.coordinates[0])
    return None


def _is_small(sizes: Mapping[str, int]) -> bool:
    return max(map(abs, sizes.values()), default=0) <= _SMALL


def _is_index(node: Node) -> bool:
    """Whether a node is part of a subscript or of the head of a loop."""
    return is_in_subscript(node) or any(head.span.contains(node.span) for head in _heads(node))


def _everywhere(side: StatementSyntax) -> Iterator[_IntegerValue]:
    """What a statement and the heads of its loops compute."""
    for part in (side.node, *_heads(side.node)):
        yield from _computed(part, side.words, subscripts=True)


def _heads(node: Node) -> list[Node]:
    """The first values and tests of the loops around a node."""
    loops = (one for one in node.around() if one.type == "for_statement")
    parts = (one.child_by_field_name(name) for one in loops for name in ("initializer", "condition"))
    return [one for one in parts if one is not None]


def _bounds_around(node: Node) -> frozenset[str]:
    """The sums and products in loop heads of the text around a node."""
    heads = [
        part
        for loop in node.root.of_type("for_statement")
        for name in ("initializer", "condition")
        if (part := loop.child_by_field_name(name)) is not None
    ]
    return frozenset(
        packed(one.text) for head in heads for one in walk(head) if one.type == "binary_expression"
    )


def _told(old: Program, one: _IntegerValue, sizes: Mapping[str, int], value: int) -> Refuted | Undecided:
    text = " ".join(one.node.text.split())
    message = f"NEW computes '{text}' in a type that ends at {one.type.greatest}, and leaves it; OLD does not"
    witness = f"{values_text(sizes)}: '{text}' is {value}" if sizes else f"'{text}' is {value}"
    if one.node.type == "cast_expression" or not one.type.signed:
        return Undecided(f"{message} ({witness}); C defines the value, which was not followed further")
    if any(around.type == "conditional_expression" for around in one.node.around()):
        return Undecided(f"{message}, where it is evaluated: {witness}")
    try:
        refuse_overflow(old, {name: (size, size) for name, size in sizes.items()})
    except NotShown as failure:
        return Undecided(f"{message}, as far as that is shown: {witness}; {failure}")
    return Refuted("overflow", message, witness, dict(sizes))


def _loops(program: Program) -> LoopNode:
    return text_loops(program, lambda statement, _: Call(statement.name, ()))


def _beyond(
    loops: LoopNode, computed: Mapping[str, list[_IntegerValue]], known: isl.Set
) -> Iterator[tuple[_IntegerValue, isl.Set]]:
    """Yields each computed integer with the values that its type cannot hold."""
    valued = with_calls(
        loops, lambda call: Call(call.name, tuple(one.value for one in computed.get(call.name, ())))
    )
    for run in runs(executed(valued, known)):
        values = run.domain.apply(isl.Map.from_multi_pw_aff(run.arguments)).intersect_params(known)
        own = computed.get(run.name, [])
        for k, one in enumerate(own):
            alone = values.project_out(DIM, k + 1, len(own) - k - 1).project_out(DIM, 0, k)
            above = alone.lower_bound_val(DIM, 0, isl.Val(str(one.type.greatest + 1)))
            yield one, above.union(alone.upper_bound_val(DIM, 0, isl.Val(str(one.type.least - 1))))


def _computed(node: Node, words: Words, *, subscripts: bool = False) -> Iterator[_IntegerValue]:
    """Yields sums, products and casts in a node, and the initial values of the locals that it names."""
    for part in walk(node):
        if is_in_subscript(part) and not subscripts:
            continue
        given = _given(part) if part.type == "identifier" else None
        if given is not None:
            yield from _computed(given, words, subscripts=subscripts)
        is_sum = part.type in ("binary_expression", "unary_expression") and operator(part) in ARITHMETIC
        if not is_sum and given is None and part.type != "cast_expression":
            continue
        kind = type_at(part, words, part.span)
        try:
            value = expression(field(part, "value") if part.type == "cast_expression" else part, words)
        except Unreadable:
            continue
        if isinstance(kind, Integer):
            yield _IntegerValue(part, value, kind)


def _given(name: Node) -> Node | None:
    """Returns the initial value of the block-local variable with this name."""
    inside = takewhile(lambda one: one.type != "function_definition", name.around())
    blocks = (one for one in inside if one.type == "compound_statement")
    for before in (one for block in blocks for one in block.named_children):
        if before.type == "declaration" and before.end <= name.start:
            for one in before.children_by_field_name("declarator"):
                if one.type == "init_declarator" and (declared_name(one) or ("", 1))[:2] == (name.text, 0):
                    return field(one, "value")
    return None


def leaves_types(text: Source, reading: ReadOptions) -> bool:
    """Whether a source shows, by its numbers or those of its calls, that subscripts leave their types.

    The reading is not compared with a second one: it proves nothing here.
    """
    try:
        programs, file = parse_c(text, reading), typed_file(text, reading.compiled)
        regions = {region.place: region for region in file.regions}
        typed = [(one, regions[one.region]) for one in programs]
        found = [with_shown(one, region, file) for one, region in typed if isinstance(region, TypedRegion)]
    except BadInput:  # then it shows nothing
        return False
    return any(map(is_refuted, found))
