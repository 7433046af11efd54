"""What the reader took on trust, tried with the typed declarations: proved, refuted, or left.

    iterators     the value that a loop leaves is not read: the life of variables was followed (`lives`)
    constants     a macro that is an integer everywhere in the region
    subscripts    0 <= s_k < e_k for all instances, where the declaration says e_k
    memory        `restrict`, and variables of the function that no pointer leads to

What is left of subscripts holds for some parameters, which are kept with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.typed.tree import (
    Assign,
    Binary,
    Cast,
    Declaration,
    Name,
    Node,
    Number,
    Storage,
    Unary,
    Update,
    walk,
)
from loopwright.c.types import ArrayType, CType, Enumeration, Floating, Integer, Pointer, unqualified
from loopwright.errors import BadInput, Code
from loopwright.model.program import (
    Access,
    Array,
    Assumption,
    AssumptionKind,
    Layout,
    Program,
    Standing,
    Statement,
)
from loopwright.presburger.named import constant_value, everywhere, number, variable
from loopwright.presburger.points import smallest_point
from loopwright.presburger.sets import OUT
from loopwright.read.c.gate.aliases import pairs_left


def settled(program: Program, region: TypedRegion, file: TypedFile) -> Program:
    """The program with its assumptions tried, and with what the types say of its parameters."""
    nodes = [node for statement in region.statements for node in walk(statement)]
    declared = _declared(nodes)
    constants = _constants(nodes)
    parameters = tuple(
        replace(one, values=_values(one.text, declared, constants)) for one in program.parameters
    )
    arrays = tuple(replace(one, layout=_layout(declared.get(one.name))) for one in program.arrays)
    known = replace(program, parameters=parameters, arrays=arrays)
    tried = (_tried(one, known, region, declared, constants) for one in program.assumptions)
    return replace(known, assumptions=tuple(tried))


def _tried(
    one: Assumption,
    program: Program,
    region: TypedRegion,
    declared: Mapping[str, Declaration],
    constants: Mapping[str, int],
) -> Assumption:
    is_proved = False
    match one.kind:
        case AssumptionKind.ITERATOR:
            is_proved = True  # `refuse_seen_iterators` did not raise
        case AssumptionKind.CONSTANT:
            is_proved = bool(one.about) and all(
                name in constants or _integer(declared.get(name)) for name in one.about
            )
        case AssumptionKind.BOUNDS:
            return _bounds(one, program, region, declared)
        case AssumptionKind.ALIASING if one.about:
            left = pairs_left(program, region, declared, one.about)
            return replace(one, pairs=left, standing=Standing.ASSUMED if left else Standing.PROVED)
        case AssumptionKind.ARITHMETIC if one.holds_for is not None:
            is_proved = program.facts.is_subset(one.holds_for)
    return replace(one, standing=Standing.PROVED) if is_proved else one


def _declared(nodes: list[Node]) -> dict[str, Declaration]:
    """The variables of the region by name, where a name is of one variable."""
    found: dict[str, set[Declaration]] = {}
    for node in nodes:
        if isinstance(node, Name):
            found.setdefault(node.declaration.name, set()).add(node.declaration)
    return {name: next(iter(known)) for name, known in found.items() if len(known) == 1}


def _constants(nodes: list[Node]) -> dict[str, int]:
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


def _value(node: Node) -> int | None:
    """The value of an integer expression without names, if all of it fits its types."""
    found: int | None = None
    match node:
        case Number(value=value, text=text) if not re.search(r"[.']", text):
            found = value
        case Unary(operator="-", operand=operand) if (inner := _value(operand)) is not None:
            found = -inner
        case Cast(operand=operand):
            found = _value(operand)
        case Binary(operator="+" | "-" | "*" as sign, left=left, right=right):
            sides = (_value(left), _value(right))
            if sides[0] is not None and sides[1] is not None:
                a, b = sides[0], sides[1]
                found = a + b if sign == "+" else a - b if sign == "-" else a * b
    kind = unqualified(node.type) if isinstance(node, Number | Unary | Binary | Cast) else None
    fits = isinstance(kind, Integer) and found is not None and kind.least <= found <= kind.greatest
    return found if fits else None


def _integer(declared: Declaration | None) -> Integer | None:
    kind = None if declared is None else unqualified(declared.type)
    kind = kind.integer if isinstance(kind, Enumeration) else kind
    return kind if isinstance(kind, Integer) else None


def _layout(declared: Declaration | None) -> Layout | None:
    """What a variable of numbers is, or leads to."""
    if declared is None:
        return None
    kind = unqualified(declared.type)
    is_pointer = isinstance(kind, Pointer)
    rows: list[int | str] = []
    inner = unqualified(kind.target) if isinstance(kind, Pointer) else kind
    while isinstance(inner, ArrayType):
        if inner.length is None:
            return None
        rows.append(inner.length)
        inner = unqualified(inner.element)
    if not isinstance(inner, Integer | Floating):
        return None
    return Layout(is_pointer, -(-inner.bits // 8), tuple(rows if is_pointer else rows[1:]))


def _values(
    text: str, declared: Mapping[str, Declaration], constants: Mapping[str, int]
) -> tuple[int, int] | None:
    if text in constants:
        return constants[text], constants[text]
    kind = _integer(declared.get(text))
    return None if kind is None else (kind.least, kind.greatest)


def _bounds(
    one: Assumption, program: Program, region: TypedRegion, declared: Mapping[str, Declaration]
) -> Assumption:
    """Proved where no access leaves its array; raises where one leaves its row whenever it happens."""
    facts = program.facts
    enough = everywhere()
    for array in program.arrays:
        lengths = _lengths(array, program, region, declared)
        if lengths is None:
            return one
        for statement in program.statements:
            for access in statement.accesses:
                if access.array == array.name:
                    _refuse_outside(access, statement, lengths, facts)
                    enough = enough.subtract(_outside(access, statement, lengths, facts).params())
    if facts.is_subset(enough):
        return replace(one, standing=Standing.PROVED)
    runs = program.domain().intersect_params(enough)
    return one if runs.is_empty() else replace(one, holds_for=enough.coalesce().gist(facts))


def _lengths(
    array: Array, program: Program, region: TypedRegion, declared: Mapping[str, Declaration]
) -> tuple[isl.PwAff | None, ...] | None:
    """The length of each dimension, None for one that a pointer leads to; None where it is not known."""
    if array.rank == 0:
        return ()
    own = declared.get(array.name)
    kind: CType | None = None if own is None else unqualified(own.type)
    found: list[isl.PwAff | None] = []
    for dimension in range(array.rank):
        if array.rows and dimension > 0:
            found.append(None)  # what is known of rows was tried by the reader, or is an entry of its own
            continue
        match kind:
            case Pointer(target=inner):
                found.append(None)
            case ArrayType(element=inner, length=length) if not array.rows:
                size = _length(length, program, region, declared, own)
                if size is None:
                    return None
                found.append(size)
            case _:
                return None
        kind = unqualified(inner)
    return tuple(found)


def _length(
    length: int | str | None,
    program: Program,
    region: TypedRegion,
    declared: Mapping[str, Declaration],
    array: Declaration | None,
) -> isl.PwAff | None:
    """The length of a dimension; of a variable length array if it is a parameter of the function, declared
    before the array, that has not changed since.
    """
    if isinstance(length, int):
        return number(length)
    if length is None or not re.fullmatch(r"\w+", length):
        return None
    size = declared.get(length)
    if size is None or array is None or array.offset < size.offset or length not in program.params:
        return None
    return variable(length) if _is_unchanged(size, region) else None


def _is_unchanged(one: Declaration, region: TypedRegion) -> bool:
    """Whether it is a parameter of the function, with the value it was given."""
    if one.storage is not Storage.PARAMETER or one.offset in region.function.addressed:
        return False
    targets = [node.target for node in region.function.nodes if isinstance(node, Assign | Update)]
    return not any(isinstance(target, Name) and target.declaration == one for target in targets)


def _outside(
    access: Access, statement: Statement, lengths: tuple[isl.PwAff | None, ...], facts: isl.Set
) -> isl.Map:
    """{ S[i] -> A[s] : s_k < 0 or s_k >= e_k for some k }."""
    touched = access.relation.intersect_domain(statement.domain).intersect_params(facts)
    wrong = isl.Map.empty(touched.get_space())
    for k, length in enumerate(lengths[: touched.dim(OUT)]):
        if length is None:
            continue
        wrong = wrong.union(touched.subtract(touched.lower_bound_val(OUT, k, isl.Val(0))))
        for size, bound in length.get_pieces():
            top = touched.intersect_params(size)
            inside = _below(top, k, bound)
            wrong = wrong.union(top.subtract(inside))
    return wrong.coalesce()


def _below(touched: isl.Map, k: int, bound: isl.Aff) -> isl.Map:
    """The part of a relation whose coordinate k is below a function of the parameters."""
    limit = isl.PwAff.from_aff(bound)
    names = [str(limit.get_dim_name(isl.dim_type.param, j)) for j in range(limit.dim(isl.dim_type.param))]
    fresh = "below which it is"
    coordinate = variable(fresh).lt_set(limit)
    marked = touched.insert_dims(isl.dim_type.param, 0, 1).set_dim_name(isl.dim_type.param, 0, fresh)
    marked = marked.equate(isl.dim_type.param, 0, OUT, k).intersect_params(coordinate)
    place = marked.find_dim_by_name(isl.dim_type.param, fresh)
    assert place >= 0 and fresh not in names
    return marked.project_out(isl.dim_type.param, place, 1)


def _refuse_outside(
    access: Access, statement: Statement, lengths: tuple[isl.PwAff | None, ...], facts: isl.Set
) -> None:
    """Raise where an access leaves its row, of a length that is a number, whenever it happens."""
    rows = [None if one is None or constant_value(one) is None else one for one in lengths]
    wrong = _outside(access, statement, (None, *rows[1:]), facts)
    if wrong.is_empty() or not access.must:
        return
    happens = access.relation.intersect_domain(statement.domain).intersect_params(facts).params()
    if not happens.is_subset(wrong.params()):
        return
    flat = wrong.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(OUT).wrap().flatten()
    point = smallest_point(flat)
    assert point is not None
    values = {**point.parameters, **dict(zip(statement.iterators, point.coordinates, strict=False))}
    at = ", ".join(f"{name} = {value}" for name, value in values.items())
    cell = "".join(f"[{value}]" for value in point.coordinates[statement.depth :])
    message = f"'{access.array}{cell}' is outside of its row, as the declaration says: {at}"
    hint = "give the array its size, or the loop its bound"
    raise BadInput(Code.REGION_TEXT, message, span=access.place, hint=hint)
