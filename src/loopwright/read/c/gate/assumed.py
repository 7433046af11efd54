"""Tries the reader's assumptions with the typed declarations: proved, refuted, or left.

    iterators     the final value of an iterator is not live-out: the lifetimes of variables were followed
    constants     a macro that is an integer everywhere in the region
    subscripts    0 <= s_k < e_k for all instances, if the declaration gives e_k
    memory        `restrict`, and local variables without pointers to them

The remaining assumption on subscripts holds for some parameters, which are stored with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c import types
from loopwright.c.tokens import bare, bracketed, packed
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.typed.known_values import integer_type
from loopwright.c.typed.members import is_at_the_end
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
from loopwright.presburger.named import everywhere, number, tuple_set, variable
from loopwright.presburger.points import smallest_point, values_text
from loopwright.presburger.sets import OUT
from loopwright.read.c.gate.aliases import pairs_left
from loopwright.read.c.gate.numbers import (
    calls_of,
    known_values,
    macro_numbers,
    with_computed,
    with_known_sizes,
    with_numbers,
)
from loopwright.read.c.gate.pointer_elements import changeable_pointers
from loopwright.read.c.gate.row_lengths import DeclaredLengths, is_of_numbers, refuse_shown_numbers
from loopwright.read.c.second.accesses import NamedCell, cell_of
from loopwright.read.c.trust import APART


def settled(program: Program, region: TypedRegion, file: TypedFile) -> Program:
    """The program with its assumptions tried, and with the constraints of types on its parameters."""
    nodes = [*tree.walk_all(region.statements)]
    declared, constants = _declared(nodes), macro_numbers(nodes)
    known = with_shown(program, region, file)
    members = _members(nodes)
    for node in nodes:
        if isinstance(node, tree.Name) and node.declaration.name in members:
            message = f"'{node.declaration.name}' is also the name of a member of a struct here"
            raise BadInput(Code.REGION_TEXT, message, span=node.place.span, hint="rename the variable")
    kinds = {name: one.type for name, one in declared.items()} | members
    lengths = DeclaredLengths(known, region, file)
    sized = [_sized(one, declared, kinds.get(one.name), lengths) for one in program.arrays]
    arrays = tuple(replace(one, layout=_layout(declared.get(one.name))) for one in sized)
    known = replace(known, arrays=arrays)
    tried = [
        part
        for one in (*_of_memory(known, nodes, kinds), *_of_pointers(nodes, region))
        for part in (
            _bounds(one, known)
            if one.kind is AssumptionKind.BOUNDS
            else [_tried(one, known, region, declared, constants)]
        )
    ]
    if any(map(is_of_numbers, tried)):
        known = replace(known, calls=with_computed(known, region, file))
    found = replace(known, assumptions=tuple(with_numbers(one, known, region) for one in tried))
    refuse_shown_numbers(found, region, file)
    return found


def with_shown(program: Program, region: TypedRegion, file: TypedFile) -> Program:
    """The program with the types and numbers of its parameters that the file shows, and its calls."""
    nodes = [*tree.walk_all(region.statements)]
    declared, constants = _declared(nodes), macro_numbers(nodes)
    known_numbers, written = known_values(region, file), _written_types(nodes)
    fixed = {name: known_numbers.get(one, ()) for name, one in declared.items()}
    fixed |= {one.name: values for one, values in known_numbers.items() if one.part_of is not None}
    parameters = tuple(
        replace(
            one,
            values=_values(one.text, declared, constants),
            numbers=fixed.get(packed(one.text), ()),
            type=written.get(bare(one.text)),
        )
        for one in program.parameters
    )
    names = {declared[one.text]: one.name for one in parameters if one.text in declared}
    return replace(program, parameters=parameters, calls=calls_of(region, file, names))


def _of_memory(
    program: Program, nodes: Sequence[tree.Node], kinds: Mapping[str, types.CType]
) -> Iterator[Assumption]:
    """The assumptions, where those on aliasing include all pointers: the source does not show the pointers in
    `vec a` and `double *restrict *a`, nor those to rows in `s->v[i][j]`."""
    listed = next((one for one in program.assumptions if one.kind is AssumptionKind.ALIASING), None)
    about = () if listed is None else listed.about
    missing = [one.name for one in program.arrays if not one.local and one.name not in about]
    found = tuple(name for name in missing if _may_share(kinds.get(name)))
    text = f"{', '.join(found)}: {APART}"
    if listed is None and found and len(program.arrays) + len(program.parameters) > 1:
        yield Assumption(AssumptionKind.ALIASING, text, about=found)
    for one in program.assumptions:
        if one is listed and found:
            one = replace(one, text=f"{', '.join(found)}, {one.text}", about=(*found, *about))
        yield one
    written = {access.array for statement in program.statements for access in statement.writes}
    rows = [
        one.name
        for one in program.arrays
        if one.name in written and _leads_to_rows(kinds.get(one.name), one.rank)
    ]
    if rows:
        words = {cell.base: node.place.span.text for node, cell in _member_cells(nodes)}
        text = f"{', '.join(words.get(one, one) for one in rows)}: no two rows overlap"
        yield Assumption(AssumptionKind.ALIASING, text)


def _of_pointers(nodes: Sequence[tree.Node], region: TypedRegion) -> Iterator[Assumption]:
    """The assumption that stores through a pointer do not overwrite pointers that others point to."""
    found: dict[str, None] = {}
    for node in (one for one in nodes if isinstance(one, tree.Assign | tree.Update)):
        for pointer in changeable_pointers(node.target):
            own = pointer.declaration if isinstance(pointer, tree.Name) else None
            is_reached = own is None or own.is_file_scope or own.offset in region.function.addressed
            if is_reached and isinstance(pointer, tree.Name | tree.MemberAccess):
                found[pointer.place.span.text] = None
    if found:
        text = f"{', '.join(found)}: no write through a pointer changes it"
        yield Assumption(AssumptionKind.ALIASING, text)


def _may_share(kind: types.CType | None) -> bool:
    """Whether it is a pointer whose type does not promise exclusive access to its target."""
    core = None if kind is None else types.unqualified(kind)
    return isinstance(core, types.Pointer) and not core.restrict


def _leads_to_rows(kind: types.CType | None, rank: int) -> bool:
    """Whether a subscript other than the first is that of a pointer, which may point anywhere."""
    for dimension in range(rank):
        core = None if kind is None else types.unqualified(kind)
        if dimension and isinstance(core, types.Pointer):
            return True
        match core:
            case types.Pointer(target=inner) | types.ArrayType(element=inner):
                kind = inner
            case _:
                return False
    return False


def _tried(
    one: Assumption,
    program: Program,
    region: TypedRegion,
    declared: Mapping[str, tree.Declaration],
    constants: Mapping[str, int],
) -> Assumption:
    is_proved = False
    match one.kind:
        case AssumptionKind.ITERATOR:
            # `refuse_seen_iterators` did not raise; variables visible in other files may be read there
            known = [declared.get(name) for name in one.about]
            is_proved = all(one is None or one.storage is not tree.Storage.EXTERNAL for one in known)
        case AssumptionKind.CONSTANT:
            is_proved = bool(one.about) and all(
                name in constants or _integer(declared.get(name)) for name in one.about
            )
        case AssumptionKind.ALIASING if one.about:
            left = pairs_left(program, region, declared, one.about)
            return replace(one, pairs=left, standing=Standing.ASSUMED if left else Standing.PROVED)
        case AssumptionKind.ARITHMETIC if one.holds_for is not None:
            is_proved = program.facts.is_subset(one.holds_for)
    return replace(one, standing=Standing.PROVED) if is_proved else one


def _declared(nodes: list[tree.Node]) -> dict[str, tree.Declaration]:
    """The variables of the region by name, if the name denotes a single variable."""
    found: dict[str, set[tree.Declaration]] = {}
    for node in nodes:
        if isinstance(node, tree.Name):
            found.setdefault(node.declaration.name, set()).add(node.declaration)
    return {name: next(iter(known)) for name, known in found.items() if len(known) == 1}


def _written_types(nodes: Sequence[tree.Node]) -> dict[str, types.CType]:
    """The types of `s->n`, `h * w` and macros by their spelling, if a spelling has a single type."""
    found: dict[str, set[types.CType]] = {}
    for node in nodes:
        if isinstance(node, tree.Expression) and tree.without_casts(node) is node:
            kind = types.unqualified(node.type)
            if isinstance(kind, types.Integer) and types.name_of(kind):
                found.setdefault(bare(node.place.span.text), set()).add(kind)
    return {text: next(iter(kinds)) for text, kinds in found.items() if len(kinds) == 1}


def _integer(declared: tree.Declaration | None) -> types.Integer | None:
    return None if declared is None else integer_type(declared.type)


def _layout(declared: tree.Declaration | None) -> Layout | None:
    """The layout of a numeric variable, or of the target of a pointer."""
    if declared is None:
        return None
    kind = types.unqualified(declared.type)
    is_pointer = isinstance(kind, types.Pointer)
    rows: list[int | str] = []
    inner = types.unqualified(kind.target) if isinstance(kind, types.Pointer) else kind
    while isinstance(inner, types.ArrayType):
        if inner.length is None:
            return None
        rows.append(inner.length)
        inner = types.unqualified(inner.element)
    if not isinstance(inner, types.Integer | types.Floating):
        return None
    return Layout(is_pointer, types.stored_bytes(inner), tuple(rows if is_pointer else rows[1:]), inner)


def _values(
    text: str, declared: Mapping[str, tree.Declaration], constants: Mapping[str, int]
) -> tuple[int, int] | None:
    if text in constants:
        return constants[text], constants[text]
    kind = _integer(declared.get(text))
    return None if kind is None else (kind.least, kind.greatest)


def _members(nodes: list[tree.Node]) -> dict[str, types.CType]:
    """The types of `v.x` and `g->x` by the names that the reader gives them.

    An array of at most one element at the end of a pointer's target may be longer than declared.
    """
    found: dict[str, set[types.CType]] = {}
    for node, cell in _member_cells(nodes):
        kind = types.unqualified(node.type)
        length = kind.length if isinstance(kind, types.ArrayType) else 2
        is_open = length is None or (length in (0, 1) and is_at_the_end(node))
        found.setdefault(cell.base, set()).add(types.Unknown("its rows may be longer") if is_open else kind)
    return {name: next(iter(kinds)) for name, kinds in found.items() if len(kinds) == 1}


def _member_cells(nodes: Sequence[tree.Node]) -> Iterator[tuple[tree.MemberAccess, NamedCell]]:
    """The members of structs that are named without subscripts."""
    for node in nodes:
        cell = cell_of(node, {}) if isinstance(node, tree.MemberAccess) else None
        if cell is not None and not cell.subscripts and isinstance(node, tree.MemberAccess):
            yield node, cell


def _bounds(one: Assumption, program: Program) -> list[Assumption]:
    """Proved if no access is out of bounds; raises if one is out of bounds whenever it happens.

    Arrays without a declared size get an assumption of their own.
    """
    facts = with_known_sizes(program)
    enough = needed = everywhere()
    unknown = [array.name for array in program.arrays if array.inside is None]
    inside = {array.name: array.inside for array in program.arrays if array.inside is not None}
    for statement in program.statements:
        for access in statement.accesses:
            if access.array in inside:
                wrong = _outside(access, statement, inside[access.array], facts)
                _refuse_outside(access, statement, wrong, facts)
                enough = enough.subtract(wrong.params())
                needed = needed.subtract(wrong.params()) if access.must else needed
    if len(unknown) == sum(array.rank > 0 for array in program.arrays):
        return [one]
    left = [replace(one, text=f"{', '.join(unknown)}: {one.text}", about=tuple(unknown))] if unknown else []
    if facts.is_subset(enough):
        return left or [replace(one, standing=Standing.PROVED)]
    runs = program.domain().intersect_params(enough.intersect(facts))
    if runs.is_empty():
        return [one]
    enough, needed = (each.coalesce().gist(facts) for each in (enough, needed))
    return [replace(one, holds_for=enough, needs=needed), *left]


def _sized(
    array: Array,
    declared: Mapping[str, tree.Declaration],
    kind: types.CType | None,
    lengths: DeclaredLengths,
) -> Array:
    """An array with the cells that its declaration allows; the dimension of a pointer is unbounded."""
    names = [f"subscript {k}" for k in range(array.rank)]
    cells = everywhere()
    is_sized = not array.rows
    kind = None if kind is None else types.unqualified(kind)
    for dimension, name in enumerate(names):
        if array.rows and dimension > 0:
            continue  # the reader tried what is known of rows, or it is an assumption of its own
        match kind:
            case types.Pointer(target=inner):
                is_sized = False
            case types.ArrayType(element=inner, length=length) if not array.rows:
                size = lengths.of(length, declared.get(array.name), declared)
                if size is None:
                    return array
                own = variable(name)
                cells = cells.intersect(own.ge_set(number(0))).intersect(own.lt_set(size))
            case _:
                return array
        kind = types.unqualified(inner)
    return replace(array, inside=tuple_set(cells, array.name, names), is_sized=is_sized)


def _outside(access: Access, statement: Statement, inside: isl.Set, facts: isl.Set) -> isl.Map:
    """{ S[i] -> A[s] : s_k < 0 or s_k >= e_k for some k }."""
    touched = access.relation.intersect_domain(statement.domain).intersect_params(facts)
    if inside.dim(isl.dim_type.set) < touched.dim(OUT):
        return isl.Map.empty(touched.get_space())  # rows that a pointer points to
    return touched.subtract_range(inside).coalesce()


def _refuse_outside(access: Access, statement: Statement, wrong: isl.Map, facts: isl.Set) -> None:
    """Raise if an access is out of bounds whenever it happens."""
    if wrong.is_empty() or not access.must:
        return
    happens = access.relation.intersect_domain(statement.domain).intersect_params(facts).params()
    if not happens.is_subset(wrong.params()):
        return
    flat = wrong.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(OUT).wrap().flatten()
    point = smallest_point(flat)
    assert point is not None
    values = {**point.parameters, **dict(zip(statement.iterators, point.coordinates, strict=False))}
    at = values_text(values)
    cell = bracketed(point.coordinates[statement.depth :])
    message = f"'{access.array}{cell}' is outside its array, according to the declaration: {at}"
    hint = "give the array its size, or the loop its bound"
    raise BadInput(Code.REGION_TEXT, message, span=access.place, hint=hint)
