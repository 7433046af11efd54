"""Builds a program whose instances and times are those of its source, read from the syntax alone.

The C reader computes the domain of every statement as it goes, which takes long for loops with many bounds,
such as tiles of a skewed stencil.  Here it is given the outline of the source, for the statements and their
accesses, and the loops are read as they are for a proof.  An instance of a statement runs at

    the place of the statement in each block around it, and the iteration of each loop, from outside in.

The outline of a source has its bounds and affine conditions blanked: it shows the structure of the source,
not how often its parts execute.

The C reader finds the statements of a source, their iterators and what they declare; `text_loops` reads the
meaning of their loops.  So the reader need not compute domains of loops with many bounds.  Offsets are those
of the source: `for (int i = max(a, b); i < n; i++)` becomes `for (int i = 0        ; i<1  ; i++)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import permutations
from typing import Any

import islpy as isl

from loopwright.c.declarations import is_unsigned_type
from loopwright.c.file import c_file
from loopwright.c.loops import first_value, loop_iterator
from loopwright.c.syntax import Node, field, named_children, operator, walk, without_parentheses
from loopwright.c.syntax import Node as Syntax
from loopwright.c.tokens import blank, packed
from loopwright.c.types import Unknown, is_signed, is_unsigned, named_type
from loopwright.errors import BadInput
from loopwright.loops.expressions import Expr, Int, Var
from loopwright.loops.nodes import Block, For, If
from loopwright.loops.traverse import NodePath, children, paths_to_calls
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.named import number, variable
from loopwright.presburger.sets import OUT
from loopwright.prove.reading.c_expressions import RELATIONS, Unreadable, Words, test, words_of
from loopwright.prove.reading.integer_types import type_at, value_type
from loopwright.prove.reading.loops import leaf_nodes, sides, step_of, text_loops, values_at
from loopwright.prove.reading.operation import Different, StatementSyntax, aligned
from loopwright.prove.scanning.executed import executed, loops
from loopwright.prove.text.annotations import promises
from loopwright.read.c.assume import is_assume
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import parse_c
from loopwright.source import Edit, Source, Span, with_edits


def outlined(source: Source, originals: Mapping[int, Program]) -> tuple[Source, frozenset[Span]]:
    """The source with the loops of its regions reduced, and the places where a whole `if` is a statement.

    `originals[k]` has the parameters of region `k`; a region without one is made empty.
    """
    whole: set[Span] = set()
    edits: list[Edit] = []
    for k, region in enumerate(c_file(source).regions):
        program = originals.get(k)
        if program is None:
            edits.append((region.place.start, region.place.end, blank(region.place.text)))
            continue
        words = words_of(replace(program, region=region.place))
        stored = frozenset(array.name for array in program.arrays if array.local)
        whole_ = _whole_statements(program)
        blanks = _blanks(c_file(source).block(region.place), words, whole_, stored)
        for where, text in sorted(blanks, key=lambda one: one[0]):
            if text is None:
                whole.add(where)
                continue
            width = where.end - where.start
            if len(text) > width:
                raise Unreadable(f"there is no room for '{text}' in '{where.text}'")
            edits.append((where.start, where.end, text.ljust(width)))
    outline = replace(source, text=with_edits(source.text, edits))
    return outline, frozenset(where.on(outline) for where in whole)


def _whole_statements(program: Program) -> tuple[StatementSyntax, ...]:
    """The statements that look like part of a loop nest but are not.

    Unsigned numbers turn an `if` into one on data: `(unsigned)(i - 5) < 10` is not `i - 5 < 10`.
    """
    if not any(node.type in _PARTS for node in leaf_nodes(program, program.syntax).values()):
        return ()
    return tuple(one for one in sides(program).values() if one.node.type in _PARTS)


_UNFOLLOWED = ("do_statement", "while_statement", "switch_statement")
_PARTS = ("if_statement", "for_statement", "compound_statement", *_UNFOLLOWED)


def _is_one_of(statements: Sequence[StatementSyntax], new: StatementSyntax) -> bool:
    for old in statements:
        try:
            aligned(old, new)
        except Different:
            continue
        return True
    return False


def _blanks(
    node: Node, words: Words, whole: Sequence[StatementSyntax], stored: frozenset[str]
) -> Iterator[tuple[Span, str | None]]:
    """Yields replacements for spans; a condition on data is part of a statement and is kept.

    `stored` are the locals of the original that are storage, not names of values.
    """
    is_part = node.type in _PARTS and node.type != "if_statement"
    if is_part and _is_one_of(whole, StatementSyntax(node, words)):
        yield node.span, None
        return
    match node.type:
        case "for_statement":
            name = loop_iterator(node)
            condition = node.child_by_field_name("condition")
            if name is None or condition is None:
                raise Unreadable("a loop without an iterator or a test")
            yield first_value(node).span, "0"
            yield condition.span, f"{name}<1" if step_of(node, name, words) > 0 else f"{name}>-1"
            yield from _blanks(field(node, "body"), words.bind(name, Var(name)), whole, stored)
        case "if_statement":
            condition = field(node, "condition")
            if _is_one_of(whole, StatementSyntax(node, words)):
                yield node.span, None
                return
            try:
                test(condition, words)
            except Unreadable:
                return
            yield condition.span, "(1)"
            for part in named_children(node)[1:]:
                yield from _blanks(part, words, whole, stored)
        case "compound_statement" | "else_clause" | "labeled_statement":
            for part in named_children(node):
                if part.type == "declaration":
                    for name in _declared(part, words):
                        words = words if name in stored else words.bind(name, Var(name))
                yield from _blanks(part, words, whole, stored)
        case _:
            return


def _declared(node: Node, words: Words) -> list[str]:
    """The names that a declaration initialises; whether they are integers does not matter here."""
    if any(part.type == "pointer_declarator" for part in walk(node)):
        raise Unreadable("a pointer, which has to stay in its row")
    made = [part for part in node.children_by_field_name("declarator") if part.type == "init_declarator"]
    return [words.of(field(part, "declarator")) for part in made]


def unfolded(outline: Program, source: Source, original: Program) -> Program:
    """The program read from an outline, mapped back to its source and the original's parameters.

    A parameter that only occurs in values looks like a variable in the outline, and is removed.
    """
    known = set(original.params)
    statements = tuple(
        replace(one, accesses=tuple(access for access in one.accesses if access.array not in known))
        for one in outline.statements
    )
    found = replace(
        outline,
        parameters=original.parameters,
        context=original.context,
        arrays=tuple(array for array in outline.arrays if array.name not in known),
        statements=statements,
    )
    moved: Program = _moved(found, source)
    return moved


def _moved(value: Any, source: Source) -> Any:
    """A value with all its spans moved to another version of their source."""
    match value:
        case Span():
            return value.on(source)
        case tuple():
            return tuple(_moved(part, source) for part in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            parts = {part.name: _moved(getattr(value, part.name), source) for part in fields(value)}
            return replace(value, **parts)
        case _:
            return value


def read_text(
    source: Source, originals: Sequence[Program], pure: Sequence[str] = ()
) -> tuple[Program, ...] | None:
    """Reads the regions of a source with the parameters of `originals`; None if the C reader must.

    That is the case for regions with promises or assumptions, for loops that could wrap around or might not
    terminate, and for everything that is refused, so that the reader reports why.
    """
    regions = c_file(source).regions
    if len(regions) != len(originals) or any(is_assume(pragma) for one in regions for pragma in one.pragmas):
        return None
    try:
        outline, whole = outlined(source, dict(enumerate(originals)))
        outlines = parse_c(outline, ReadOptions(tuple(pure)), whole)
        found = [unfolded(one, source, old) for one, old in zip(outlines, originals, strict=True)]
        return tuple(map(_modelled, found)) if all(map(_is_plain, found)) else None
    except (Unreadable, BadInput, RecursionError):
        return None


def _is_plain(program: Program) -> bool:
    """Whether nothing is promised, no iterator wraps around, and every loop terminates by its test."""
    if any(True for _ in promises(program)) or has_unsigned(program):
        return False
    if not all(
        is_signed(named_type(kind)) for statement in program.statements for kind in statement.iterator_types
    ):
        return False
    if any(value_type(node, words_of(program), node.span) is None for node in _bounds(program)):
        return False
    tree = executed(text_loops(program), program.context)
    return all(loop.endless is None for loop in loops(tree))


def has_unsigned(program: Program) -> bool:
    """Whether anything is converted to an unsigned type, for which only the reader tracks negative values."""
    return any(_is_unsigned(node, program) for node in walk(program.syntax))


def _is_unsigned(node: Syntax, program: Program) -> bool:
    match node.type:
        case "number_literal":
            return "u" in node.text.lower()
        case "cast_expression" | "declaration":
            return is_unsigned_type(program.file.declarations.resolved(field(node, "type").text))
        case _:
            return False


def converted_bound(program: Program) -> Syntax | None:
    """Returns a bound or condition converted to an unsigned type that may change it: `i >= 2u`."""
    words = words_of(program)
    bounds = (one for one in _bounds(program) if any(_is_unsigned(part, program) for part in walk(one)))
    return next((one for one in bounds if value_type(one, words, one.span) is None), None)


def typed_like(new: Program, old: Program) -> Program:
    """`new`, with the types that the typed reading gave the parameters of the original."""
    kinds = {packed(one.text): one.type for one in old.parameters}
    parameters = (replace(one, type=kinds.get(packed(one.text))) for one in new.parameters)
    return replace(new, parameters=tuple(parameters))


def negative_bound(program: Program, known: isl.Set) -> Syntax | None:
    """Returns an operand compared with an unsigned iterator that may be negative, for `known` sizes.

    `j <= c` is not `j < c + 1`: where c is -1, it always holds.
    """
    words = words_of(program)
    parts = (part for one in _bounds(program) for part in walk(one) if part.type == "binary_expression")
    compared = (one for one in parts if operator(one) in RELATIONS)
    compared = (one for one in compared if value_type(one, words, one.span) is None)
    compared = (one for one in compared if not _asks_for_zero(one))
    pairs = ([field(one, side) for side in ("left", "right")] for one in compared)
    mixed = (pair for pair in pairs if not all(_is_signed(one, words) for one in pair))
    upward = _upward(program, words, known)
    for pair in mixed:
        below = [one for one in pair if not _is_from_zero(one, words, known)]
        counted = any(_counts_to_a_number(*both, words, upward) for both in permutations(pair, 2))
        if below and not counted:
            return below[0]
    return None


def _asks_for_zero(comparison: Syntax) -> bool:
    """Whether it is `x == 0` or `x != 0`: 0 stays 0 in every type that C converts both sides to."""
    is_zero = any(field(comparison, side).text == "0" for side in ("left", "right"))
    return is_zero and operator(comparison) in ("==", "!=")


def _upward(program: Program, words: Words, known: isl.Set) -> frozenset[str]:
    """The iterators that count up from a nonnegative value in all their loops."""
    heads = [one for one in _heads(program) if one.type == "for_statement"]
    named = [(name, one) for one in heads if (name := loop_iterator(one)) is not None]
    rising = [
        _is_from_zero(first_value(one), words, known) and step_of(one, name, words) > 0 for name, one in named
    ]
    others = {name for (name, _), rises in zip(named, rising, strict=True) if not rises}
    return frozenset(name for name, _ in named) - others


def _counts_to_a_number(iterator: Syntax, size: Syntax, words: Words, upward: frozenset[str]) -> bool:
    """Whether a signed iterator that is never negative is compared with a size of any type.

    In the type to which C converts both, they are the same integers.
    """
    is_size = packed(size.text) in words.parameters
    return is_size and iterator.text in upward and _is_signed(iterator, words)


def _is_signed(node: Syntax, words: Words) -> bool:
    """Whether an expression has a signed type.

    The typed reading refuses iterators that are unsigned or narrow if the source does not show it.
    """
    kind = words.types.get(packed(node.text)) or type_at(node, words, node.span)
    is_iterator = node.type == "identifier" and packed(node.text) not in words.parameters
    return is_signed(kind) or (is_iterator and isinstance(kind, Unknown))


def _is_from_zero(node: Syntax, words: Words, known: isl.Set) -> bool:
    """Whether an expression is nonnegative: a sum or product of unsigned numbers and nonnegative sizes."""
    node = without_parentheses(node)
    if node.type == "binary_expression" and operator(node) in ("+", "*"):
        return all(_is_from_zero(field(node, side), words, known) for side in ("left", "right"))
    name = words.parameters.get(packed(node.text))
    if name is not None and known.is_subset(variable(name).ge_set(number(0))):
        return True
    return node.type == "number_literal" or is_unsigned(type_at(node, words, node.span))


def _bounds(program: Program) -> Iterator[Syntax]:
    """Yields the expressions that control how often statements execute; unsigned ones might wrap."""
    for node in _heads(program):
        if node.type == "for_statement":
            yield first_value(node)
        yield field(node, "condition")


def _heads(program: Program) -> Iterator[Syntax]:
    """Yields the loops and conditions around statements."""
    statements = {statement.body.place for statement in program.statements}
    pending = [program.syntax]
    while pending:
        node = pending.pop()
        if node.span in statements:
            continue
        if node.type in ("for_statement", "if_statement"):
            yield node
        pending += node.named_children


def _modelled(program: Program) -> Program:
    """The program with the domains and times of its source; of accesses only the arrays are known."""
    times = {call.name: _time(path) for call, path in paths_to_calls(text_loops(program))}
    length = max((len(time) for time in times.values()), default=0)
    padded = {name: (*time, *[Int(0)] * (length - len(time))) for name, time in times.items()}
    found = values_at(program, padded, program.context)
    return replace(program, statements=tuple(_timed(one, found[one.name]) for one in program.statements))


def _timed(statement: Statement, times: isl.Map) -> Statement:
    domain = times.domain()
    accesses = tuple(replace(one, relation=_anything(domain, one), must=False) for one in statement.accesses)
    return replace(statement, domain=domain, schedule=times.reset_tuple_id(OUT), accesses=accesses)


def _anything(domain: isl.Set, access: Access) -> isl.Map:
    """{ S[i] -> A[x] } for all x."""
    rank = access.relation.dim(OUT)
    return isl.Map.from_domain(domain).add_dims(OUT, rank).set_tuple_name(OUT, access.array)


def _time(path: NodePath) -> tuple[Expr, ...]:
    """The time of a call: the iterators around it, and its positions in blocks with several parts."""
    found: list[Expr] = []
    for node, place in path:
        match node:
            case For(iterator=iterator):
                found.append(Var(iterator))
            case Block() | If() if len(children(node)) > 1:
                found.append(Int(place))
    return tuple(found)
