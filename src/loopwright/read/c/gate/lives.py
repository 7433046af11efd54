"""Iterators and temporaries whose values may be read after the region."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from loopwright.c.syntax import refuse
from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.typed.liveness import (
    calls_at_its_end,
    is_named_after,
    may_be_pointed_to,
    may_be_seen,
    may_run_again,
    read_after,
)
from loopwright.c.typed.tree import Declaration, Declarator, Declare, Name, Storage, addressed, walk, walk_all
from loopwright.c.types import Floating, Integer, unqualified
from loopwright.model.program import Array, Program
from loopwright.presburger.last_writes import seen_writes
from loopwright.read.c.gate.types import iterators_of


def refuse_seen_iterators(program: Program, region: TypedRegion, file: TypedFile) -> None:
    """Raise where the value that a loop leaves in its iterator may be read."""
    nodes = [*walk_all(region.statements)]
    outer = [pair for pair in iterators_of(program, nodes) if not isinstance(pair[0].first, Declare)]
    for loop, declared in {one.offset: (loop, one) for loop, one in reversed(outer)}.values():
        reason = read_after(file, region, declared)
        if reason:
            hint = f"declare the iterator in the loop: for (int {declared.name} = ...)"
            raise refuse(loop.place.span, f"{reason}, and the region uses it as an iterator", hint)


def refuse_seen_locals(region: TypedRegion) -> None:
    """Raise where a variable that the region declares, and that is gone after it, is named after it."""
    for statement in region.statements:
        if not isinstance(statement, Declare):
            continue
        for one in statement.variables:
            if is_named_after(region, one.declaration):
                name = one.declaration.name
                message = f"'{name}' is declared in the region, and used after it"
                raise refuse(statement.place.span, message, f"declare '{name}' before the region")


def refuse_lasting_locals(region: TypedRegion) -> None:
    """Raise where a variable that the region declares is not gone with its block, or has another type.

    A macro may be `static int`, and an attribute may call a function.
    """
    for node in walk_all(region.statements):
        if not isinstance(node, Declarator):
            continue
        declared = node.declaration
        if declared.storage in (Storage.STATIC, Storage.EXTERNAL) or declared.is_thread_local:
            message = f"'{declared.name}' is declared in the region, and lives longer than its block"
        elif calls_at_its_end(declared) and not any("vector_size" in one for one in declared.attributes):
            message = f"a function is called with '{declared.name}' at the end of its life"
        elif any("mode" in one for one in declared.attributes):
            message = f"an attribute gives '{declared.name}' another type than it is declared with"
        else:
            continue
        raise refuse(node.name, message, "declare it before the region")


def with_observed(program: Program, region: TypedRegion, file: TypedFile) -> Program:
    """The program with the storage marked that is seen after the region, or whose address gets away."""
    names = {
        node.declaration.name: node.declaration
        for statement in region.statements
        for node in walk(statement)
        if isinstance(node, Name)
    }
    found = tuple(_marked(array, region, file, names) for array in program.arrays)
    if may_run_again(region):
        found = tuple(
            replace(one, observed=True) if one.observed is None and _reads_first(program, one) else one
            for one in found
        )
    return replace(program, arrays=found)


def _reads_first(program: Program, array: Array) -> bool:
    """Whether the region may read what it finds in an array: the next time, what it left there."""
    reads, writes = isl.UnionMap("{ }"), isl.UnionMap("{ }")
    for statement in program.statements:
        for access in statement.accesses:
            if access.array == array.name:
                relation = isl.UnionMap.from_map(access.relation.intersect_domain(statement.domain))
                if not access.is_write:
                    reads = reads.union(relation)
                elif access.must:
                    writes = writes.union(relation)
    reads = reads.intersect_params(program.context)
    return not seen_writes(reads, writes, program.schedule()).without.is_empty()


def _marked(array: Array, region: TypedRegion, file: TypedFile, names: Mapping[str, Declaration]) -> Array:
    declared = names.get(array.name)
    if declared is None:
        return array
    is_own = declared.storage in (Storage.AUTOMATIC, Storage.PARAMETER)
    addressed = is_own and may_be_pointed_to(region, declared)
    is_number = array.rank == 0 and isinstance(unqualified(declared.type), Integer | Floating)
    if is_number and (is_own or _is_of_this_file(declared, file)):
        observed: bool | None = read_after(file, region, declared) != ""
    else:
        observed = True if not is_own or may_be_seen(region, declared) else None
    return replace(array, observed=observed, addressed=addressed)


def refuse_lost_alignment(program: Program, region: TypedRegion) -> None:
    """The variables of a region are declared again by their types alone: no pointer leads to aligned ones."""
    nodes = [*walk_all(region.statements)]
    taken, kept = addressed(nodes), [statement.body.place for statement in program.statements]
    for node in nodes:
        if not isinstance(node, Declarator) or any(place.contains(node.name) for place in kept):
            continue
        is_aligned = any(_ALIGNED.search(word) for word in node.declaration.attributes)
        if is_aligned and node.declaration.offset in taken:
            message = f"'{node.declaration.name}' is aligned, and there is a pointer to it"
            raise refuse(node.name, message, f"declare '{node.declaration.name}' before the region")


_ALIGNED = re.compile(r"(?i:align)")
_OTHER_WAYS = re.compile(r"(?<!\w)(?:_*asm_*|_*alias_*)(?!\w)")


def _is_of_this_file(declared: Declaration, file: TypedFile) -> bool:
    """Whether only the text of the file itself can read a static variable: no header, assembler or alias."""
    if declared.storage is not Storage.STATIC or declared.attributes or declared.is_thread_local:
        return False
    text = file.text
    uses = re.finditer(rf"(?<![\w$]){re.escape(declared.name)}(?![\w$])", text.text)
    return _OTHER_WAYS.search(file.source.text) is None and all(text.line_of(one.start()) for one in uses)
