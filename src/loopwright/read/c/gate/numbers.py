"""Sizes that are numbers where a region is compiled, and what these say of what is assumed of sizes.

    macros        that are one integer wherever they stand in the region
    variables     of the function, or of this file alone, that are given one number and nothing changes
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import add, floordiv, lshift, mod, mul, rshift, sub

import islpy as isl

from loopwright.c import types
from loopwright.c.tokens import whole_word
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
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
        found.setdefault(macro, set()).add(_value(node))
    values = {name: next(iter(known)) for name, known in found.items() if len(known) == 1}
    return {name: value for name, value in values.items() if value is not None}


def _value(node: tree.Node) -> int | None:
    """The value of an integer expression without names, if all of it fits its types."""
    found: int | None = None
    match node:
        case tree.Number(value=value, text=text) if not re.search(r"[.']", text):
            found = value
        case tree.Unary(operator="-", operand=operand) if (inner := _value(operand)) is not None:
            found = -inner
        case tree.Cast(operand=operand):
            found = _value(operand)
        case tree.Name(declaration=tree.Declaration(value=value)) | tree.SizeOf(value=value):
            found = value
        case tree.Binary(operator=sign, left=left, right=right) if sign in _EXACT:
            a, b = _value(left), _value(right)
            is_odd = a is None or b is None or (sign not in "+-*" and (a < 0 or b <= 0 or b > 62))
            found = None if is_odd or a is None or b is None else _EXACT[sign](a, b)
    kind = integer_type(node.type) if isinstance(node, _VALUED) else None
    return found if kind is not None and found is not None and kind.least <= found <= kind.greatest else None


_EXACT = {"+": add, "-": sub, "*": mul, "/": floordiv, "%": mod, "<<": lshift, ">>": rshift}
_VALUED = (tree.Number, tree.Name, tree.SizeOf, tree.Unary, tree.Binary, tree.Cast)


def integer_type(kind: types.CType) -> types.Integer | None:
    """The type of integers that a type is, that of an enumeration too."""
    kind = types.unqualified(kind)
    kind = kind.integer if isinstance(kind, types.Enumeration) else kind
    return kind if isinstance(kind, types.Integer) else None


_ASSEMBLER = frozenset(("asm", "__asm", "__asm__"))


def fixed_numbers(function: TypedFunction) -> dict[tree.Declaration | None, int]:
    """The variables of a function that are declared with a number, or assigned one in one place, and that
    nothing gives another value."""
    if function.errors or any(token.text in _ASSEMBLER for token in function.tokens):
        return {}
    given = [(root.offset, node) for root, node in changes(function.nodes)]
    places = [offset for offset, _ in given]
    late = {
        offset: node.value
        for offset, node in given
        if isinstance(node, tree.Assign) and node.operator == "=" and places.count(offset) == 1
    }
    changed = function.addressed | (set(places) - late.keys())
    unread = {word for problem in function.problems for word in problem.words}
    return {
        one.declaration: value
        for one in function.nodes
        if isinstance(one, tree.Declarator)
        and one.declaration.storage is tree.Storage.AUTOMATIC
        and one.declaration.offset not in changed
        and one.declaration.name not in unread
        and isinstance(one.declaration.type, types.Integer)
        and (one.initial is None) == (one.declaration.offset in late)
        and (value := _value(one.initial or late[one.declaration.offset])) is not None
    }


def changes(nodes: Iterable[tree.Node]) -> Iterator[tuple[tree.Declaration, tree.Assign | tree.Update]]:
    """What is assigned to, and where."""
    for node in nodes:
        root = tree.root_of(node.target) if isinstance(node, tree.Assign | tree.Update) else None
        if root is not None and isinstance(node, tree.Assign | tree.Update):
            yield root, node


def static_numbers(
    declared: Iterable[tree.Declaration], file: TypedFile
) -> dict[tree.Declaration | None, int]:
    """Those of variables that this file alone can change, and does not."""
    found: dict[tree.Declaration | None, int] = {}
    for one in declared:
        is_plain = one.is_file_scope and isinstance(one.type, types.Integer) and is_of_this_file(one, file)
        is_plain = is_plain and not file.may_point_to(one.name)
        first = file.first_value(one) if is_plain else None
        value = None if first is None else _value(first)
        if value is not None and not any(_may_change(one, body) for body in file.functions_with(one.name)):
            found[one] = value
    return found


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
