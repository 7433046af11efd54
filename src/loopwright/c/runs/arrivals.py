"""What the file computes before a region is reached, as far as it shows.

Runs are followed from `main`, from callers of the function, and of the function alone.  What other files,
inputs and unknown pointers may have changed is not known.  A value says what one run has there: it refutes an
assumption, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial

from loopwright.c import types
from loopwright.c.runs.memory import GLOBAL, STATIC, Key, RunMemory, StoredBlock, TypeSizes
from loopwright.c.runs.statements import STEPS, Arrival, FollowedRun
from loopwright.c.runs.values import Stopped
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.unfollowed import calls_of


def arrivals(region: TypedRegion, file: TypedFile) -> tuple[Arrival, ...]:
    """The runs that come to a region."""
    key = ("arrivals", region.function.declaration.offset, region.first)
    return file.once(key, lambda: tuple(_arrivals(region, file)))


def _arrivals(region: TypedRegion, file: TypedFile) -> Iterator[Arrival]:
    if region.function.problems or region.function.errors:
        return
    own = region.function
    callers = [caller for caller, _ in calls_of(file, own)]
    mains = file.functions_named("main")
    for function in dict.fromkeys((id(one), one) for one in (own, *callers, *mains)):
        yield from _followed(function[1], region, file)


def _followed(function: TypedFunction, region: TypedRegion, file: TypedFile) -> list[Arrival]:
    is_main = function.declaration.name == "main"
    sizes = TypeSizes(partial(_records, file))
    run = FollowedRun(file, sizes, RunMemory(_unknown_block), -1, STEPS, region=region)
    cached: dict[tuple[Key, bool], StoredBlock] = {}

    def first(key: Key, *, is_lost: bool) -> StoredBlock:
        if (key, is_lost) not in cached:
            cached[key, is_lost] = StoredBlock(None)
            cached[key, is_lost] = _first_block(key, run, is_main=is_main, is_lost=is_lost)
        return cached[key, is_lost]

    run.memory = RunMemory(first)
    with suppress(Stopped, RecursionError):
        run.run(function, [None] * len(function.parameters))
    return run.arrived


def _first_block(key: Key, run: FollowedRun, *, is_main: bool, is_lost: bool) -> StoredBlock:
    """A variable that nothing has changed: its first value, in a run from `main` or if it is constant."""
    if key[0] not in (GLOBAL, STATIC):
        return StoredBlock(None)
    known = run.file.once(("static variables",), lambda: _static_variables(run.file))
    variable = known.get(key)
    if variable is None:
        return StoredBlock(None)
    declared = variable.declaration
    is_own = declared.storage is tree.Storage.STATIC
    if not _is_constant(declared.type) and (not is_main or (is_lost and not is_own)):
        return StoredBlock(None)
    if variable.initial is None:
        return StoredBlock(None if variable.place.span.text.startswith("extern") else 0)
    memory, run.memory = run.memory, RunMemory(run.memory.first)
    try:
        run.initialise(key, declared.type, variable.initial)
        return run.memory.block(key)
    finally:
        run.memory = memory


def _is_constant(kind: types.CType) -> bool:
    inner = kind
    while isinstance(inner, types.ArrayType):
        inner = inner.element
    return isinstance(inner, types.Qualified) and inner.is_const and not inner.is_volatile


def _static_variables(file: TypedFile) -> Mapping[Key, tree.Declarator]:
    """The variables of the file, and static ones of functions, by their blocks."""
    found: dict[Key, tree.Declarator] = {}
    for variable, problems in file.variables:
        key: Key = (GLOBAL, variable.declaration.name)
        if problems:
            continue
        if key not in found or variable.initial is not None:
            found[key] = variable
    for node in file.nodes:
        if isinstance(node, tree.Declarator) and node.declaration.storage is tree.Storage.STATIC:
            found[STATIC, node.declaration.offset] = node
    return found


def _records(file: TypedFile) -> Mapping[str, types.Record]:
    return file.once(("records",), lambda: _by_tag(file))


def _by_tag(file: TypedFile) -> dict[str, types.Record]:
    """The structs of the file by their tags."""
    found: dict[str, types.Record] = {}
    kinds = [node.type for node in file.nodes if isinstance(node, tree.Expression)]
    kinds += [node.declaration.type for node in file.nodes if isinstance(node, tree.Declarator)]
    pending = [*dict.fromkeys([*kinds, *(one.declaration.type for one, _ in file.variables)])]
    seen = set[types.CType]()
    while pending:
        kind = types.unqualified(pending.pop())
        if kind in seen:
            continue
        seen.add(kind)
        match kind:
            case types.Pointer(target=inner) | types.ArrayType(element=inner):
                pending.append(inner)
            case types.Record(tag=tag, fields=tuple(fields)):
                found.setdefault(tag, kind)
                pending += [one.type for one in fields]
    return found


def _unknown_block(key: Key, *, is_lost: bool) -> StoredBlock:
    del key, is_lost
    return StoredBlock(None)
