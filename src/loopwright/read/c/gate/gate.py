"""The gate: a program passes if the typed reading of its file finds nothing that was misread.

The text is read without a preprocessor and without types.  Here the compiler and the front end are asked:
names, types, macros, calls, aliases and the life of variables have to be what the reader took them for, and
a second extraction has to find the same statements, values and accesses.  What is not known to be harmless
is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopwright.c.macros import HELPERS
from loopwright.c.syntax import refuse
from loopwright.c.tokens import names_in
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.prepare import Located, Unread
from loopwright.c.typed.redefined import redefined
from loopwright.c.typed.tree import CallExpression, Labelled, walk_all
from loopwright.errors import BadInput, Code
from loopwright.model.program import Assumption, AssumptionKind, Program
from loopwright.read.c.gate.aliases import refuse_shown_aliases
from loopwright.read.c.gate.assumed import settled
from loopwright.read.c.gate.calls import foreign_names, refuse_calls, refuse_reach, renamed_functions
from loopwright.read.c.gate.lives import (
    refuse_lasting_locals,
    refuse_lost_alignment,
    refuse_seen_iterators,
    refuse_seen_locals,
    with_observed,
)
from loopwright.read.c.gate.types import refuse_types, undeclared_iterators
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.c.second.compare import compare


def gated(
    programs: Sequence[Program], options: ReadOptions = AS_MARKED, *, in_order: bool = True
) -> tuple[Program, ...]:
    """The programs of a file, each with what the typed reading adds to it; raises where it contradicts.

    `in_order`: the schedules are positions and iterators, as the C reader makes them.
    """
    if not programs:
        return ()
    file = typed_file(programs[0].source, options.compiled)
    found = {region.place: region for region in file.regions}
    believed = frozenset(options.pure)
    foreign = foreign_names(file.text, HELPERS)
    return tuple(
        replace(
            _gated(program, found[program.region], file, believed, in_order=in_order),
            foreign=foreign,
            compiled=options.compiled,
        )
        for program in programs
    )


def _gated(
    program: Program,
    region: TypedRegion | Unread,
    file: TypedFile,
    pure: frozenset[str],
    *,
    in_order: bool,
) -> Program:
    if isinstance(region, Unread):
        raise BadInput(Code.REGION_TEXT, f"{_FIRST}: {region.reason}", span=region.spot, hint=_HINT)
    asserted = _refuse_places(region)
    _refuse_entries(region)
    _refuse_redefined(program, region, file)
    refuse_lasting_locals(region)
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
    return settled(seen, region)


def _refuse_entries(region: TypedRegion) -> None:
    """No `goto` outside of the region leads into it, whatever it is hidden in."""
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
    """A macro means what the text of the file says: no header or option after it has defined it again."""
    spots = [spot for one, spot in file.located if one.place == region.place]
    (at,) = (spot.start for spot in spots if isinstance(spot, Located))
    names = redefined(names_in(region.place.text), program.file.macros_before(region.place), file.text, at)
    if names:
        message = f"'{names[0]}' is defined in the file, and again or otherwise by a header or an option"
        hint = "include the header before the definition, or use another name"
        raise refuse(region.place, message, hint)


def _refuse_places(region: TypedRegion) -> tuple[Assumption, ...]:
    """A macro that stands for its own place is another number in the new text.

    What a failed assertion prints is the one such text that is let go: the program ends with it.
    """
    nodes = walk_all(region.statements)
    calls = [node for node in nodes if isinstance(node, CallExpression) and node.callee is not None]
    asserted = [call.place for call in calls if call.callee and call.callee.name in _ASSERTIONS]
    found: tuple[Assumption, ...] = ()
    for number, token in enumerate(region.tokens, region.first):
        if not token.follows_place:
            continue
        if not any(place.first <= number < place.end for place in asserted):
            message = f"'{token.text}' stands for the place it is at, which changes"
            hint = "give the value a name before the region"
            raise BadInput(Code.REGION_TEXT, message, span=token.span, hint=hint)
        text = "a failed assertion may name another line than before"
        found = (Assumption(AssumptionKind.DESCRIPTION, text, token.span),)
    return found


_ASSERTIONS = ("__assert_fail", "__assert_rtn", "__assert", "__assert_func")
"""What `assert` calls in the C libraries."""
_FIRST = "the compiler does not read this as it is written here"
_HINT = "give the options that the file is compiled with: -I, -D, -include, -std=, -p"


def _assumed(program: Program, region: TypedRegion, file: TypedFile) -> list[str]:
    defined = [f"'{name}' is defined: the compiler sees the region only then" for name in file.assumed]
    names = undeclared_iterators(program, region)
    return defined + [f"'{name}' is declared elsewhere, as an int" for name in names]
