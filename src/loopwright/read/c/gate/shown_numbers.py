"""Rows whose length has no value in the file for which they are apart.

The file may give it by an expression: `int m = n / 2;`, or `n & 3`, or the width of a bit-field.

Other files may change `int d = 2;`, so that it is no known number.  But if the file gives a variable, or
a member of a struct, certain numbers only, and a length of rows is too short with all of them, the file
refutes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import islpy as isl

from loopwright.c.runs.arrivals import sampled
from loopwright.c.tokens import packed
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.typed.known_values import Values, changes, integer_type, the_value, values_of
from loopwright.c.typed.members import first_part, is_apart, variable_of, whole_of
from loopwright.errors import BadInput, Code
from loopwright.model.program import Assumption, AssumptionKind, Program, Standing
from loopwright.presburger.named import everywhere, number, variable
from loopwright.read.c.gate.numbers import RowsOfNumbers, computed, is_refuted, is_unchanged, values_before
from loopwright.read.c.second.integers import affine
from loopwright.read.c.second.scope import Facts, Scope, Unclear

_MOST = 16
"""The maximum number of combinations of numbers."""


def refuse_shown_numbers(program: Program, region: TypedRegion, file: TypedFile) -> None:
    """Raise if rows are not apart for any of the numbers that the file gives to their length, or numbers are
    converted to others for all sizes that are tried."""
    believed = [one for one in program.assumptions if is_of_numbers(one)]
    are_rows = any(one.kind is AssumptionKind.ROWS for one in believed)
    shown = _shown(program, region, file) if are_rows else {}
    given = _given(program, region, file) if are_rows else {}
    runs = [dict(one.numbers) for one in computed(program, region, file, sampled)] if believed else []
    for one in believed:
        own = {name: values for name, values in shown.items() if name in one.about}
        cases = [dict(zip(own, values, strict=True)) for values in product(*own.values())]
        is_shown = (own or not given.keys().isdisjoint(one.about)) and len(cases) <= _MOST
        is_never = len(runs) > 1 and all(is_refuted(one, program, numbers) for numbers in runs)
        if is_never or (is_shown and all(is_refuted(one, program, numbers, given) for numbers in cases)):
            message = f"the file refutes an assumption made here: {one.text}"
            if one.kind is not AssumptionKind.ROWS:
                raise BadInput(Code.REGION_TEXT, message, span=one.place or region.place)
            texts = (packed(part.text) for part in program.parameters if part.name in one.about)
            raise RowsOfNumbers(message, one.place or region.place, frozenset((*one.about, *texts)))


def is_of_numbers(one: Assumption) -> bool:
    """Whether it is open whether an assumption about numbers holds."""
    is_about = one.kind in (AssumptionKind.ROWS, AssumptionKind.ARITHMETIC)
    return is_about and one.standing is Standing.ASSUMED and one.holds_for is not None


def _shown(program: Program, region: TypedRegion, file: TypedFile) -> Mapping[str, Values]:
    """The numbers that the file gives to parameters of a region which are variables of file scope."""
    named = [variable_of(node) for node in tree.walk_all(region.statements)]
    variables = {one.name: one for one in named if one is not None and one.is_file_scope}
    found: dict[str, Values] = {}
    for part in program.parameters:
        one = variables.get(packed(part.text))
        values = None if one is None or part.known else _numbers(one, file)
        if values:
            found[part.name] = values
    return found


def _given(program: Program, region: TypedRegion, file: TypedFile) -> dict[str, isl.Set]:
    """The conditions on parameters that are bit-fields, or variables with a single expression as value."""
    found: dict[str, isl.Set] = {}
    names = {packed(part.text): part.name for part in program.parameters if not part.known}
    for node in tree.walk_all(region.statements):
        kind = integer_type(node.type) if isinstance(node, tree.MemberAccess) else None
        name = names.get(packed(node.place.span.text))
        if name is None or name in found:
            continue
        if isinstance(node, tree.MemberAccess) and node.is_bit_field and kind is not None:
            own = variable(name)
            found[name] = own.ge_set(number(kind.least)).intersect(own.le_set(number(kind.greatest)))
        elif isinstance(node, tree.Name):
            value = _value_before(node.declaration, region, file)
            if value is not None:
                found[name] = variable(name).eq_set(value)
    return found


def _value_before(one: tree.Declaration, region: TypedRegion, file: TypedFile) -> isl.PwAff | None:
    """The value of a local variable, if it is a function of parameters that the function does not change."""
    if not region.function.keeps(one) or one.storage is not tree.Storage.AUTOMATIC:
        return None
    reaching, is_other = values_before(region.function, file).reaching(one, region.first)
    if is_other or len(reaching) != 1 or reaching[0].value is None:
        return None
    nodes = [*tree.walk(reaching[0].value)]
    named = [node.declaration for node in nodes if isinstance(node, tree.Name)]
    functions = {
        name.offset: file.definition(name) for name in named if name.storage is tree.Storage.FUNCTION
    }
    if not all(name.offset in functions or is_unchanged(name, region) for name in named):
        return None
    known = {offset: function for offset, function in functions.items() if function is not None}
    facts = Facts(frozenset(), frozenset(), known, {}, {}, tokens=region.function.tokens)
    try:
        return affine(reaching[0].value, Scope(facts, everywhere(), {}, {}))
    except Unclear:
        return None


def _numbers(one: tree.Declaration, file: TypedFile) -> Values | None:
    """The numbers that a variable of file scope is given in the file; None if others are, or none."""
    whole, kind = whole_of(one), integer_type(one.type)
    bodies = file.functions_with(whole.name)
    if kind is None or one.attributes or any(one.offset in body.addressed for body in bodies):
        return None
    first = file.first_value(whole)
    stored = [] if first is None else [first_part(one, first)]
    stored += [value for body in bodies for value in _stored(one, body.nodes)]
    values = [None if node is None else the_value(values_of(node, lambda _: None)) for node in stored]
    known = frozenset(kind.converted(value) for value in values if value is not None)
    return None if None in values else known


def _stored(one: tree.Declaration, nodes: tuple[tree.Node, ...]) -> Iterator[tree.Expression | None]:
    """The values that assignments give to a variable; None for one that is not a plain store."""
    for root, node in changes(nodes):
        if root.offset == one.offset and not is_apart(one, node.target):
            is_plain = isinstance(node, tree.Assign) and node.operator == "="
            is_whole = is_plain and variable_of(node.target) == one
            yield node.value if is_whole and isinstance(node, tree.Assign) else None
