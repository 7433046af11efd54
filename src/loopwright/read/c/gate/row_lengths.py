"""Lengths of rows: functions of sizes that are the same at the declaration and in the region, and those
that have no value in the file for which rows are apart.

The file may give a length by an expression: `int m = n / 2;`, or `n & 3`, or the width of a bit-field.

Other files may change `int d = 2;`, so that it is no known number.  But if the file gives a variable, or
a member of a struct, certain numbers only, and a length of rows is too short with all of them, the file
refutes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product

import islpy as isl

from loopwright.c.casts import expression_of
from loopwright.c.runs.arrivals import sampled
from loopwright.c.syntax import Node, field, operator, without_parentheses
from loopwright.c.tokens import decimal, names_in, packed
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.typed.known_values import Values, changes, integer_type, the_value, values_of
from loopwright.c.typed.members import first_part, is_apart, variable_of, whole_of
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
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


@dataclass(frozen=True)
class DeclaredLengths:
    """The lengths of arrays that the function around a region declares, or its file."""

    program: Program
    region: TypedRegion
    file: TypedFile

    def of(
        self,
        length: int | str | None,
        array: tree.Declaration | None,
        declared: Mapping[str, tree.Declaration],
    ) -> isl.PwAff | None:
        """The length of a dimension; of a variable length array, if it is a number where the array is
        declared, or depends only on unmodified parameters of the function that are declared before the array.
        """
        if isinstance(length, int):
            return number(length)
        if length is None or array is None:
            return None
        known = self._numbers.get((array.offset, packed(length)))
        if known is not None:
            return number(known)
        node = expression_of(length, self.program.file.kinds(self.program.region))
        value = None if node is None else _length_value(node)
        if value is None:
            return None
        for name in sorted(set(names_in(length))):
            size = declared.get(name)
            kind = None if size is None else integer_type(size.type)
            if size is None or array.offset < size.offset or name not in self.program.params:
                return None
            if not is_unchanged(size, self.region) or kind is None or not (kind.signed or length == name):
                return None
        return value

    @cached_property
    def _numbers(self) -> dict[tuple[int, str], int]:
        """The lengths that are numbers where they are declared, by the offset of the array and their text."""
        function = self.region.function
        before = values_before(function, self.file)
        found: dict[tuple[int, str], int] = {}
        for node in function.nodes:
            for size in node.sizes if isinstance(node, tree.Declarator) else ():
                value = the_value(before.computed(size, node.place.first))
                if value is not None and isinstance(node, tree.Declarator):
                    tokens = function.tokens[size.place.first : size.place.end]
                    found[node.declaration.offset, "".join(one.text for one in tokens)] = value
        return found


def _length_value(node: Node) -> isl.PwAff | None:
    """Sizes and numbers, their sums, and products and quotients by numbers: C rounds towards zero."""
    core = without_parentheses(node)
    match core.type:
        case "identifier":
            return variable(core.text)
        case "number_literal":
            value = decimal(core.text)
            return None if value is None else number(value)
        case "binary_expression":
            sides = [without_parentheses(field(core, side)) for side in ("left", "right")]
            left, right = map(_length_value, sides)
            if left is None or right is None:
                return None
            factors = [decimal(side.text) for side in sides]
            match operator(core):
                case "+":
                    return left.add(right)
                case "-":
                    return left.sub(right)
                case "*" if factors != [None, None]:
                    return left.mul(right)
                case "/" if factors[1]:
                    return left.tdiv_q(right)
    return None
