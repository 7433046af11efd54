"""Sizes with known values in a region, and the consequences for the assumptions on sizes.

macros        that are the same integer everywhere in the region
variables     of the function, or static ones of this file, that are assigned only a few numbers
parameters    of the function, if the file calls it with numbers
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce

import islpy as isl

from loopwright.c.runs.arrivals import arrivals
from loopwright.c.runs.statements import Arrival
from loopwright.c.tokens import names_in, packed, whole_word
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.known_values import Values, ValuesBefore, changes, integer_type, the_value, values_of
from loopwright.c.typed.members import first_part, is_apart, variable_of, whole_of
from loopwright.errors import BadInput, Code
from loopwright.model.parameters import ShownCall
from loopwright.model.program import Assumption, AssumptionKind, Program, Standing
from loopwright.presburger.named import number, variable
from loopwright.source import Span

_FEW = 3
"""An assumption that holds only if loops run once or twice counts as refuted."""

_MOST_CALLS = 16
"""The maximum number of calls with different numbers."""


class RowsOfNumbers(BadInput):
    """Raised if an assumption on rows is about a length with a known value, which decides what coincides.

    `names` are the spellings of the sizes that are numbers, and their names in the program.
    """

    def __init__(self, message: str, place: Span, names: frozenset[str]) -> None:
        super().__init__(Code.REGION_TEXT, message, span=place)
        self.names = names


def with_numbers(one: Assumption, program: Program, region: TypedRegion) -> Assumption:
    """An assumption about sizes, settled if possible by those with known values in the function."""
    if one.holds_for is None or one.standing is not Standing.ASSUMED or not program.cases:
        return one
    sizes = with_known_sizes(program)
    if sizes.is_subset(one.holds_for):
        return replace(one, standing=Standing.PROVED)
    certain = one.kind is not AssumptionKind.BOUNDS  # which includes possible accesses, too
    for case in program.cases:
        message = f"the file refutes an assumption made here: {one.text}, for {case}"
        place, numbers = one.place or region.place, dict(case.numbers)
        refuted = is_refuted(one, program, numbers)
        if one.kind is AssumptionKind.ROWS and not numbers.keys().isdisjoint(one.about):
            if case.place is None or refuted:
                known = numbers if case.place is None else one.about
                texts = (packed(part.text) for part in program.parameters if part.name in known)
                raise RowsOfNumbers(message, place, frozenset((*known, *texts)))
        elif certain and refuted:
            raise BadInput(Code.REGION_TEXT, message, span=place)
    return one


def is_refuted(
    one: Assumption, program: Program, numbers: Mapping[str, int], given: Mapping[str, isl.Set] | None = None
) -> bool:
    """Whether an assumption holds for none of these numbers, or only if loops run once or twice.

    `given` are the conditions that give other parameters their values.
    """
    assert one.holds_for is not None
    usual, given = with_known_sizes(program), given or {}
    for name, value in numbers.items():
        usual = usual.intersect(variable(name).eq_set(number(value)))
    for condition in given.values():
        usual = usual.intersect(condition)
    for name in {part.name for part in program.parameters} - numbers.keys() - given.keys():
        usual = usual.intersect(variable(name).ge_set(number(_FEW)))
    return not usual.is_empty() and bool(usual.is_disjoint(one.holds_for))


def with_known_sizes(program: Program) -> isl.Set:
    """The known constraints on the parameters, including their values."""
    found = program.facts
    for one in program.parameters:
        if one.known:
            each = (variable(one.name).eq_set(number(value)) for value in one.known)
            found = found.intersect(reduce(isl.Set.union, each))
    return found


def macro_numbers(nodes: list[tree.Node]) -> dict[str, int]:
    """The macros that are the same integer everywhere in the region."""
    found: dict[str, set[int | None]] = {}
    inside: set[int] = set()
    for node in nodes:
        macro = node.place.macro
        if macro is None or node.place.first in inside:
            continue
        inside.update(range(node.place.first, node.place.end))
        found.setdefault(macro, set()).add(the_value(values_of(node, lambda _: None)))
    values = {name: next(iter(known)) for name, known in found.items() if len(known) == 1}
    return {name: value for name, value in values.items() if value is not None}


def known_values(region: TypedRegion, file: TypedFile) -> dict[tree.Declaration, tuple[int, ...]]:
    """The variables with one of a few values whenever the region is reached, which it does not modify."""
    before = values_before(region.function, file)
    found = ((one, before.values(one, region.first)) for one in _kept(region))
    return {one: tuple(sorted(values)) for one, values in found if values is not None}


def values_before(function: TypedFunction, file: TypedFile) -> ValuesBefore:
    return ValuesBefore(function, partial(_static_number, file=file), _directed(file))


def _kept(region: TypedRegion) -> set[tree.Declaration]:
    """The variables in a region, and members of structs, that it does not modify."""
    nodes = [*tree.walk_all(region.statements)]
    names = {one for node in nodes if (one := variable_of(node)) is not None}
    changed = [*changes(nodes)]
    return {one for one in names if not any(_is_changed(one, *pair) for pair in changed)}


def _is_changed(one: tree.Declaration, root: tree.Declaration, node: tree.Assign | tree.Update) -> bool:
    return root.offset == one.offset and not is_apart(one, node.target)


def calls_of(
    region: TypedRegion, file: TypedFile, names: Mapping[tree.Declaration, str]
) -> tuple[ShownCall, ...]:
    """The calls of the function around a region that pass numbers for its parameters; `names` are their names
    in the program."""
    function = region.function
    kept = [
        (position, one)
        for position, one in enumerate(function.parameters)
        if one in names and is_unchanged(one, region)
    ]
    found: dict[tuple[tuple[str, int], ...], Span] = {}
    is_shown = bool(kept) and _is_always_reached(region)
    for body in file.functions_with(function.declaration.name) if is_shown else ():
        before = values_before(body, file)
        for node in body.nodes:
            if not isinstance(node, tree.CallExpression) or not _is_of(node, function):
                continue
            given = [(names[one], node.arguments[at]) for at, one in kept if at < len(node.arguments)]
            values = [(name, the_value(before.computed(value, node.place.first))) for name, value in given]
            known = tuple((name, value) for name, value in values if value is not None)
            found.setdefault(known, node.place.span)
    return tuple(ShownCall(place, known) for known, place in found.items() if known)[:_MOST_CALLS]


def with_computed(program: Program, region: TypedRegion, file: TypedFile) -> tuple[ShownCall, ...]:
    """The calls with numbers of a program, and what runs that the file shows compute before the region."""
    found = {one.numbers: one for one in (*program.calls, *computed(program, region, file, arrivals))}
    return tuple(found.values())[:_MOST_CALLS]


def computed(
    program: Program,
    region: TypedRegion,
    file: TypedFile,
    runs: Callable[[TypedRegion, TypedFile], tuple[Arrival, ...]],
) -> Iterator[ShownCall]:
    """The numbers that parameters of a program have in such runs, as far as they are known."""
    nodes = dict(_numbers_read(program, region, file))
    for run in runs(region, file) if nodes else ():
        values = [(name, run.value(node)) for name, node in nodes.items()]
        known = tuple((name, value) for name, value in values if isinstance(value, int))
        if known:
            place = region.place if run.call is None else run.call.place.span
            yield ShownCall(place, known, is_computed=run.call is None)


def _numbers_read(
    program: Program, region: TypedRegion, file: TypedFile
) -> Iterator[tuple[str, tree.Expression]]:
    """The expressions of a region that are parameters of its program, without those that threads have."""
    private = _directed(file)
    texts = {packed(part.text): part.name for part in program.parameters if not part.known}
    for node in tree.walk_all(region.statements):
        one = variable_of(node)
        name = texts.get(packed(node.place.span.text)) or (None if one is None else texts.get(one.name))
        if name is None or not isinstance(node, tree.Expression) or integer_type(node.type) is None:
            continue
        if private.isdisjoint(names_in(name)):
            yield name, node


def _is_always_reached(region: TypedRegion) -> bool:
    """Whether every call of the function reaches the region: it is unconditional, and nothing skips it."""
    before = [node for node in region.function.nodes if node.place.first < region.first]
    kinds = tree.IfStatement | tree.ForStatement | tree.OtherStatement
    tests = [node for node in before if isinstance(node, kinds)]
    called = (each for one in tests for each in tree.walk(one) if isinstance(each, tree.CallExpression))
    is_inside = any(one.place.end > region.first for one in tests)
    words = {token.text for token in region.function.tokens[: region.first]}
    is_left = not words.isdisjoint(("return", "goto", "asm", "__asm__", "__asm"))
    return not (is_inside or is_left or any(each.place.first < region.first for each in called))


def _is_of(call: tree.CallExpression, function: TypedFunction) -> bool:
    one = call.callee
    return one is not None and one.storage is tree.Storage.FUNCTION and one.name == function.declaration.name


def is_unchanged(one: tree.Declaration, region: TypedRegion) -> bool:
    """Whether it is a parameter of the function that still has the value of the argument."""
    if one.storage is not tree.Storage.PARAMETER or one.offset in region.function.addressed:
        return False
    targets = [node.target for node in region.function.nodes if isinstance(node, tree.Assign | tree.Update)]
    return not any(isinstance(target, tree.Name) and target.declaration == one for target in targets)


def _directed(file: TypedFile) -> frozenset[str]:
    """The names in directives, which may make variables private to threads."""
    return frozenset(name for one in file.text.directives for name in names_in(one))


def _static_number(one: tree.Declaration, file: TypedFile) -> Values | None:
    """The value of a variable that only this file can modify, and does not."""
    whole = whole_of(one)
    is_plain = one.is_file_scope and is_of_this_file(whole, file) and not file.may_point_to(whole.name)
    kind, first = integer_type(one.type), first_part(one, file.first_value(whole)) if is_plain else None
    value = None if first is None else the_value(values_of(first, partial(_static_number, file=file)))
    bodies = file.functions_with(whole.name)
    if value is None or kind is None or any(_may_change(one, body) for body in bodies):
        return None
    return frozenset((kind.converted(value),))


def _may_change(one: tree.Declaration, function: TypedFunction) -> bool:
    is_unread = function.errors or any(whole_of(one).name in problem.words for problem in function.problems)
    is_changed = any(_is_changed(one, *pair) for pair in changes(function.nodes))
    return bool(is_unread) or is_changed or one.offset in function.addressed


_OTHER_WAYS = re.compile(r"(?<!\w)(?:_*asm_*|_*alias_*|_*weak(?:ref)?_*|redefine_extname)(?!\w)")


def is_of_this_file(declared: tree.Declaration, file: TypedFile) -> bool:
    """Whether only the file itself can access a static variable: no header, assembly or alias does."""
    if declared.storage is not tree.Storage.STATIC or declared.attributes or declared.is_thread_local:
        return False
    text = file.text
    uses = whole_word(declared.name).finditer(text.text)
    return _OTHER_WAYS.search(file.source.text) is None and all(text.line_of(one.start()) for one in uses)
