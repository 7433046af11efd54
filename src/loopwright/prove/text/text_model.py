"""A program whose instances and times are those of its text, read from the syntax alone.

The C reader works out the domain of every statement as it goes, which takes long for loops with
many bounds: tiles of a skewed stencil.  Here it is given the outline of the text, for the statements
and what they touch, and the loops are read as they are for a proof.  An instance of a statement runs at

    the place of the statement in each block around it, and the iteration of each loop, from outside in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import is_unsigned_type
from loopwright.c.file import c_file
from loopwright.c.loops import first_value
from loopwright.c.syntax import Node as Syntax
from loopwright.c.syntax import field, operator, walk, without_parentheses
from loopwright.c.tokens import packed
from loopwright.c.types import is_signed, is_unsigned, named_type
from loopwright.errors import BadInput
from loopwright.loops.expressions import Expr, Int, Var
from loopwright.loops.nodes import Block, For, If
from loopwright.loops.traverse import NodePath, children, paths_to_calls
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.named import number, variable
from loopwright.presburger.sets import OUT
from loopwright.prove.reading.c_expressions import RELATIONS, Unreadable, Words, words_of
from loopwright.prove.reading.integer_types import type_at, value_type
from loopwright.prove.reading.loops import text_loops, values_at
from loopwright.prove.scanning.executed import executed, loops
from loopwright.prove.text.annotations import promises
from loopwright.prove.text.outline import outlined, unfolded
from loopwright.read.c.assume import is_assume
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import parse_c
from loopwright.source import Source


def read_text(
    source: Source, originals: Sequence[Program], pure: Sequence[str] = ()
) -> tuple[Program, ...] | None:
    """The regions of a text that has the parameters of `originals`; None where the C reader has to do it.

    That is for regions with promises or assumptions, for loops that could wrap around or might not
    end, and for everything that is refused, so that the reader says why.
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
    """Whether nothing is promised, no iterator wraps around, and every loop ends by its test."""
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
    """Whether anything is converted to an unsigned type: the reader knows what may be negative there."""
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
    """What decides how often statements run and is converted to an unsigned type, in which it may be another
    number: `i >= 2u`."""
    words = words_of(program)
    bounds = (one for one in _bounds(program) if any(_is_unsigned(part, program) for part in walk(one)))
    return next((one for one in bounds if value_type(one, words, one.span) is None), None)


def negative_bound(program: Program, known: isl.Set) -> Syntax | None:
    """What is compared with an unsigned iterator and may be below 0, for the sizes that are `known`.

    `j <= c` is no `j < c + 1`: where c is -1, it always holds.
    """
    words = words_of(program)
    parts = (part for one in _bounds(program) for part in walk(one) if part.type == "binary_expression")
    compared = (one for one in parts if operator(one) in RELATIONS)
    compared = (one for one in compared if value_type(one, words, one.span) is None)
    sides = (field(one, side) for one in compared for side in ("left", "right"))
    return next((one for one in sides if not _is_from_zero(one, words, known)), None)


def _is_from_zero(node: Syntax, words: Words, known: isl.Set) -> bool:
    """Whether an expression is not below 0: a sum of unsigned numbers, and of sizes that are not."""
    node = without_parentheses(node)
    if node.type == "binary_expression" and operator(node) in ("+", "*"):
        return all(_is_from_zero(field(node, side), words, known) for side in ("left", "right"))
    name = words.parameters.get(packed(node.text))
    if name is not None and known.is_subset(variable(name).ge_set(number(0))):
        return True
    return node.type == "number_literal" or is_unsigned(type_at(node, words, node.span))


def _bounds(program: Program) -> Iterator[Syntax]:
    """What decides how often statements run: an unsigned number among it might wrap around."""
    statements = {statement.body.place for statement in program.statements}
    pending = [program.syntax]
    while pending:
        node = pending.pop()
        if node.span in statements:
            continue
        if node.type == "for_statement":
            yield first_value(node)
        if node.type in ("for_statement", "if_statement"):
            yield field(node, "condition")
        pending += node.named_children


def _modelled(program: Program) -> Program:
    """With the domains and times of the text; of accesses only the arrays are known."""
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
    """The iterators around a call, and the places in what has several parts."""
    found: list[Expr] = []
    for node, place in path:
        match node:
            case For(iterator=iterator):
                found.append(Var(iterator))
            case Block() | If() if len(children(node)) > 1:
                found.append(Int(place))
    return tuple(found)
