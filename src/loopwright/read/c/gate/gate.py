"""The gate: a program passes if the typed reading of its file shows that nothing was misread.

The reader uses neither a preprocessor nor types.  The gate asks the compiler and the front end:
names, types, macros, calls, aliases and lifetimes of variables must be what the reader assumed, and
a second extraction must find the same statements, values and accesses.  Anything not known to be harmless
is refused.

It also finds iterators and temporaries whose values may be live-out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.macros import HELPERS
from loopwright.c.regions import FOR_A_LOOP
from loopwright.c.syntax import refuse
from loopwright.c.tokens import names_in
from loopwright.c.typed.expansion import ExpandedToken
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.liveness import (
    calls_at_its_end,
    is_named_after,
    is_only_written_outside,
    may_be_pointed_to,
    may_be_seen,
    may_run_again,
    read_after,
)
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.pointer_values import addressed
from loopwright.c.typed.prepare import Located, Unread
from loopwright.c.typed.redefined import redefined
from loopwright.c.typed.tree import (
    CallExpression,
    Declaration,
    Declarator,
    Declare,
    Labelled,
    Name,
    Storage,
    walk,
    walk_all,
)
from loopwright.c.types import Floating, Integer, unqualified
from loopwright.errors import BadInput, Code
from loopwright.model.program import Array, Assumption, AssumptionKind, Program
from loopwright.presburger.last_writes import seen_writes
from loopwright.presburger.sets import within_effort
from loopwright.read.c.gate.aliases import refuse_shown_aliases
from loopwright.read.c.gate.assumed import settled
from loopwright.read.c.gate.calls import foreign_names, refuse_calls, refuse_reach, renamed_functions
from loopwright.read.c.gate.numbers import is_of_this_file
from loopwright.read.c.gate.types import (
    iterators_of,
    refuse_effects_in_types,
    refuse_types,
    undeclared_iterators,
)
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.c.second.compare import compare

EFFORT = 2_000_000
"""The limit of isl operations for computing what the region reads without having written it."""


def gated(
    programs: Sequence[Program], options: ReadOptions = AS_MARKED, *, in_order: bool = True
) -> tuple[Program, ...]:
    """The programs of a file, each completed by the typed reading; raises an error if it contradicts.

    `in_order`: the schedules consist of positions and iterators, as the C reader makes them.
    """
    if not programs:
        return ()
    file = typed_file(programs[0].source, options.compiled)
    found = {region.place: region for region in file.regions}
    believed = frozenset(options.pure)
    built = (*_of_build(options.compiled.for_file(programs[0].source.path)), *_of_missing(file))
    foreign = foreign_names(file.text, HELPERS)
    return tuple(
        replace(
            _gated(_with(program, built), found[program.region], file, believed, in_order=in_order),
            foreign=foreign,
            compiled=options.compiled,
        )
        for program in programs
    )


def _with(program: Program, assumptions: tuple[Assumption, ...]) -> Program:
    return replace(program, assumptions=(*program.assumptions, *assumptions))


def _of_build(options: CompilerOptions) -> Iterator[Assumption]:
    """The assumption for a build option that defines what C leaves undefined."""
    if options.wraps():
        text = f"no integer of the region overflows, although {options.wraps()} defines the result"
        yield Assumption(AssumptionKind.DESCRIPTION, text)


def _of_missing(file: TypedFile) -> Iterator[Assumption]:
    """The assumption for missing headers: a name may be a macro of theirs."""
    if file.missing:
        headers = ", ".join(f"'{one}'" for one in file.missing)
        was = "was" if len(file.missing) == 1 else "were"
        text = f"{headers} {was} not found (-I says where): they define no name of the region as a macro"
        yield Assumption(AssumptionKind.DESCRIPTION, text)


def _gated(
    program: Program, region: TypedRegion | Unread, file: TypedFile, pure: frozenset[str], *, in_order: bool
) -> Program:
    if isinstance(region, Unread):
        raise BadInput(Code.REGION_TEXT, f"{_FIRST}: {region.reason}", span=region.spot, hint=_HINT)
    asserted = _refuse_places(region)
    _refuse_pragma_before(region, file)
    _refuse_entries(region)
    _refuse_redefined(program, region, file)
    refuse_lasting_locals(region)
    refuse_effects_in_types(region)
    refuse_types(program, region)
    refuse_calls(program, region, file, pure)
    refuse_reach(program, region, file, pure)
    believed = compare(program, region, file, in_order=in_order)
    refuse_shown_aliases(program, region, file)
    refuse_seen_iterators(program, region, file)
    refuse_seen_locals(region)
    refuse_lost_alignment(program, region)
    assumed = tuple(Assumption(AssumptionKind.CONSTANT, text) for text in _assumed(program, region, file))
    listed = (*program.assumptions, *believed, *assumed, *asserted)
    observed = with_observed(program, region, file)
    seen = replace(observed, assumptions=listed, renamed=renamed_functions(region))
    return settled(seen, region, file)


def _refuse_pragma_before(region: TypedRegion, file: TypedFile) -> None:
    """Raise if a pragma before the region, such as `_Pragma` in a macro, applies to the first loop."""
    spots = [spot for one, spot in file.located if one.place == region.place and isinstance(spot, Located)]
    for spot in spots:
        for place, words in zip(file.text.pragmas, file.text.directives, strict=True):
            is_before = place[1] <= spot.start and not file.text.text[place[1] : spot.start].strip()
            if is_before and FOR_A_LOOP.match(words.partition("pragma")[2]):
                message = f"'{words.strip()}' applies to the loop after it, inside the region"
                raise refuse(region.place, message, "put it before its loop, as '#pragma' in the region")


def _refuse_entries(region: TypedRegion) -> None:
    """Raise if a `goto` outside of the region may jump into it, however it is hidden."""
    function = region.function
    for node in walk_all(region.statements):
        if not isinstance(node, Labelled):
            continue
        jumps = [place + 1 for place, kind in function.jumps if kind == "GOTO_STMT"]
        outside = [at for at in jumps if not region.first <= at < region.end]
        if function.jumps_anywhere or any(function.tokens[at].text == node.label for at in outside):
            hint = "give the label in the region another name, or end the region before it"
            raise refuse(
                node.place.span, f"a jump from elsewhere may lead to '{node.label}', into the region", hint
            )


def _refuse_redefined(program: Program, region: TypedRegion, file: TypedFile) -> None:
    """Raise if a header or option redefines a macro, so that its definition in the file is not in effect."""
    spots = [spot for one, spot in file.located if one.place == region.place]
    (at,) = (spot.start for spot in spots if isinstance(spot, Located))
    names = redefined(names_in(region.place.text), program.file.macros_before(region.place), file.text, at)
    if names:
        message = f"'{names[0]}' is defined in the file, and again or otherwise by a header or an option"
        hint = "include the header before the definition, or use another name"
        raise refuse(region.place, message, hint)


def _refuse_places(region: TypedRegion) -> tuple[Assumption, ...]:
    """Raise if a macro expands to its own place, which differs in the new source.

    The only exception is the message of a failed assertion: the program ends with it.
    """
    nodes = walk_all(region.statements)
    calls = [node for node in nodes if isinstance(node, CallExpression) and node.callee is not None]
    asserted = [call.place for call in calls if call.callee and call.callee.name in _ASSERTIONS]
    found: tuple[Assumption, ...] = ()
    for number, token in enumerate(region.tokens, region.first):
        if not token.follows_place:
            continue
        if not any(place.first <= number < place.end for place in asserted):
            raise _place_used(token)
        text = "a failed assertion may report another line than before"
        found = (Assumption(AssumptionKind.DESCRIPTION, text, token.span),)
    return found


def _place_used(token: ExpandedToken) -> BadInput:
    name = "__LINE__" if token.text[0].isdigit() else "__FILE__"
    inside = "" if token.macro is None or token.macro.startswith("__") else f" in the macro '{token.macro}'"
    message = f"'{name}'{inside} depends on its place in the file, which changes"
    other = f"leave the macro out of the region, or define it without '{name}' here"
    hint = other if inside else "give the value a name before the region"
    return BadInput(Code.REGION_TEXT, message, span=token.span, hint=hint)


_ASSERTIONS = ("__assert_fail", "__assert_rtn", "__assert", "__assert_func")
"""The functions that `assert` calls in the C libraries."""
_FIRST = "the compiler does not read this as it is written here"
_HINT = "give the options that the file is compiled with: -I, -D, -include, -std=, -p"


def _assumed(program: Program, region: TypedRegion, file: TypedFile) -> list[str]:
    defined = [f"'{name}' is defined: the compiler sees the region only then" for name in file.assumed]
    names = undeclared_iterators(program, region)
    return defined + [f"'{name}' is declared elsewhere, as an int" for name in names]


def refuse_seen_iterators(program: Program, region: TypedRegion, file: TypedFile) -> None:
    """Raise if the final value of an iterator may be live-out."""
    nodes = [*walk_all(region.statements)]
    outer = [pair for pair in iterators_of(program, nodes) if not isinstance(pair[0].first, Declare)]
    for loop, declared in {one.offset: (loop, one) for loop, one in reversed(outer)}.values():
        reason = read_after(file, region, declared)
        if reason:
            hint = f"declare the iterator in the loop: for (int {declared.name} = ...)"
            raise refuse(loop.place.span, f"{reason}, and the region uses it as an iterator", hint)


def refuse_seen_locals(region: TypedRegion) -> None:
    """Raise if a variable that the region declares, which is out of scope after it, is named after it."""
    for statement in region.statements:
        if not isinstance(statement, Declare):
            continue
        for one in statement.variables:
            if is_named_after(region, one.declaration):
                name = one.declaration.name
                message = f"'{name}' is declared in the region, and used after it"
                raise refuse(statement.place.span, message, f"declare '{name}' before the region")


def refuse_lasting_locals(region: TypedRegion) -> None:
    """Raise if a variable that the region declares outlives its block, or has another type than declared.

    A macro may be `static int`, and an attribute may call a function.
    """
    for node in walk_all(region.statements):
        if not isinstance(node, Declarator):
            continue
        declared = node.declaration
        if declared.storage in (Storage.STATIC, Storage.EXTERNAL) or declared.is_thread_local:
            message = f"'{declared.name}' is declared in the region, and outlives its block"
        elif calls_at_its_end(declared) and not any("vector_size" in one for one in declared.attributes):
            message = f"a function is called with '{declared.name}' when its lifetime ends"
        elif any("mode" in one for one in declared.attributes):
            message = f"an attribute gives '{declared.name}' another type than its declaration"
        else:
            continue
        raise refuse(node.name, message, "declare it before the region")


def with_observed(program: Program, region: TypedRegion, file: TypedFile) -> Program:
    """The program with the storage marked that is live-out, or whose address escapes."""
    names = {
        node.declaration.name: node.declaration
        for statement in region.statements
        for node in walk(statement)
        if isinstance(node, Name)
    }
    found = tuple(_marked(array, region, file, names) for array in program.arrays)
    again = (None, False) if may_run_again(region) else (False,)
    kept = (
        one.observed in again and (one.rank or one.observed is None) and reads_first(program, one)
        for one in found
    )
    arrays = (replace(one, observed=True) if seen else one for one, seen in zip(found, kept, strict=True))
    return replace(program, arrays=tuple(arrays))


def reads_first(program: Program, array: Array) -> bool:
    """Whether the region may read an array before writing it: in another run, what it left there.

    If this is not decided within the limit, it may.
    """
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
    try:
        return within_effort(
            EFFORT, lambda: not seen_writes(reads, writes, program.schedule()).without.is_empty()
        )
    except isl.Error:
        return True


def _marked(array: Array, region: TypedRegion, file: TypedFile, names: Mapping[str, Declaration]) -> Array:
    declared = names.get(array.name)
    if declared is None:
        return array
    is_own = declared.is_own
    addressed = is_own and may_be_pointed_to(region, declared)
    is_number = array.rank == 0 and isinstance(unqualified(declared.type), Integer | Floating)
    if is_number and (is_own or is_of_this_file(declared, file)):
        observed: bool | None = read_after(file, region, declared) != ""
    elif array.rank and not is_own and is_of_this_file(declared, file):
        observed = not is_only_written_outside(file, region, declared)
    else:
        observed = True if not is_own or may_be_seen(region, declared) else None
    return replace(array, observed=observed, addressed=addressed)


def refuse_lost_alignment(program: Program, region: TypedRegion) -> None:
    """Raise if there is a pointer to an aligned variable of the region: new declarations omit attributes."""
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
