"""Sizes that are numbers where a region is compiled, and what these say of what is assumed of sizes.

    macros        that are one integer wherever they stand in the region
    variables     of the function, or of this file alone, that are given one number and nothing changes
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import islpy as isl

from loopwright.c.tokens import names_in, whole_word
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.known_values import ValuesBefore, changes, integer_type, value_of
from loopwright.errors import BadInput, Code
from loopwright.model.program import Assumption, AssumptionKind, Parameter, Program, Standing
from loopwright.presburger.named import number, variable
from loopwright.presburger.points import values_text
from loopwright.source import Span

_FEW = 3
"""What has to hold, and does so only where loops run once or twice, does not hold."""


class RowsOfNumbers(BadInput):
    """Rows on trust whose length is a number here: it says itself which cells are the same.

    `names` are how the sizes are written that are numbers.
    """

    def __init__(self, message: str, place: Span, names: frozenset[str]) -> None:
        super().__init__(Code.REGION_TEXT, message, span=place)
        self.names = names


def with_numbers(one: Assumption, program: Program, region: TypedRegion) -> Assumption:
    """An assumption about sizes, some of which are numbers in the function: then it may be settled."""
    numbers = {part.name: value for part in program.parameters if (value := _number(part)) is not None}
    if one.holds_for is None or one.standing is not Standing.ASSUMED or not numbers:
        return one
    sizes = with_known_sizes(program)
    if sizes.is_subset(one.holds_for):
        return replace(one, standing=Standing.PROVED)
    usual = sizes
    for name in (part.name for part in program.parameters if part.name not in numbers):
        usual = usual.intersect(variable(name).ge_set(number(_FEW)))
    place = one.place or region.place
    message = f"the file refutes what has to hold here: {one.text}, for {values_text(numbers)}"
    if one.kind is AssumptionKind.ROWS and not numbers.keys().isdisjoint(one.about):
        texts = (part.text for part in program.parameters if part.name in numbers)
        raise RowsOfNumbers(message, place, frozenset(texts))
    is_certain = one.kind is not AssumptionKind.BOUNDS  # which counts what may be touched, too
    if is_certain and not usual.is_empty() and usual.is_disjoint(one.holds_for):
        raise BadInput(Code.REGION_TEXT, message, span=place)
    return one


def with_known_sizes(program: Program) -> isl.Set:
    """What is known of the parameters, their numbers included."""
    found = program.facts
    for one in program.parameters:
        if (value := _number(one)) is not None:
            found = found.intersect(variable(one.name).eq_set(number(value)))
    return found


def _number(one: Parameter) -> int | None:
    """The one value that a parameter can have."""
    least, greatest = one.values or (0, 1)
    return least if least == greatest else one.fixed


def macro_numbers(nodes: list[tree.Node]) -> dict[str, int]:
    """Macros that are one integer wherever they stand in the region."""
    found: dict[str, set[int | None]] = {}
    inside: set[int] = set()
    for node in nodes:
        macro = node.place.macro
        if macro is None or node.place.first in inside:
            continue
        inside.update(range(node.place.first, node.place.end))
        found.setdefault(macro, set()).add(value_of(node, lambda _: None))
    values = {name: next(iter(known)) for name, known in found.items() if len(known) == 1}
    return {name: value for name, value in values.items() if value is not None}


def known_values(region: TypedRegion, file: TypedFile) -> dict[tree.Declaration, int]:
    """The variables in a region that have one number each whenever it is reached, and that it keeps."""
    nodes = [*tree.walk_all(region.statements)]
    changed = {root for root, _ in changes(nodes)}
    before = ValuesBefore(region.function, partial(_static_number, file=file), _directed(file))
    declared = {node.declaration for node in nodes if isinstance(node, tree.Name)} - changed
    found = ((one, before.value(one, region.first)) for one in declared)
    return {one: value for one, value in found if value is not None}


def _directed(file: TypedFile) -> frozenset[str]:
    """The names in directives, which may give threads variables of their own."""
    return frozenset(name for one in file.text.directives for name in names_in(one))


def _static_number(one: tree.Declaration, file: TypedFile) -> int | None:
    """That of a variable that this file alone can change, and does not."""
    is_plain = one.is_file_scope and is_of_this_file(one, file) and not file.may_point_to(one.name)
    kind, first = integer_type(one.type), file.first_value(one) if is_plain else None
    value = None if first is None else value_of(first, partial(_constant, file=file))
    if value is None or kind is None or any(_may_change(one, body) for body in file.functions_with(one.name)):
        return None
    return kind.converted(value)


def _constant(name: tree.Name, file: TypedFile) -> int | None:
    return _static_number(name.declaration, file)


def _may_change(one: tree.Declaration, function: TypedFunction) -> bool:
    is_unread = function.errors or any(one.name in problem.words for problem in function.problems)
    changed = {root.offset for root, _ in changes(function.nodes)}
    return bool(is_unread) or one.offset in changed | function.addressed


_OTHER_WAYS = re.compile(r"(?<!\w)(?:_*asm_*|_*alias_*|_*weak(?:ref)?_*|redefine_extname)(?!\w)")


def is_of_this_file(declared: tree.Declaration, file: TypedFile) -> bool:
    """Whether only the text of the file itself can read a static variable: no header, assembler or alias."""
    if declared.storage is not tree.Storage.STATIC or declared.attributes or declared.is_thread_local:
        return False
    text = file.text
    uses = whole_word(declared.name).finditer(text.text)
    return _OTHER_WAYS.search(file.source.text) is None and all(text.line_of(one.start()) for one in uses)
