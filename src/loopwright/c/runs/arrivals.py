"""What the file computes before a region is reached, as far as it shows.

Runs are followed from `main`, from callers of the function, and of the function alone.  What other files,
inputs and unknown pointers may have changed is not known.  A value says what one run has there: it refutes an
assumption, and proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from loopwright.c import types
from loopwright.c.runs.memory import GLOBAL, STATIC, Key, RunMemory, StoredBlock, TypeSizes, Value
from loopwright.c.runs.statements import STEPS, Arrival, FollowedRun
from loopwright.c.runs.values import Stopped
from loopwright.c.tokens import matches_with
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.known_values import integer_type
from loopwright.c.typed.unfollowed import calls_of

_LITTLE, _MANY = 7, 4095
"""The sizes of sampled runs: odd, so that halves and remainders of them differ."""
_MOST_SIZES = 8
"""The maximum number of parameters of which many are tried alone."""


def arrivals(region: TypedRegion, file: TypedFile, *, guess: bool | None = None) -> tuple[Arrival, ...]:
    """The runs that come to a region; a `guess` is what tests that are not known are taken to be."""
    key = ("arrivals", region.function.declaration.offset, region.first, guess)
    return file.once(key, lambda: tuple(_arrivals(region, file, guess=guess)))


def _arrivals(region: TypedRegion, file: TypedFile, *, guess: bool | None) -> Iterator[Arrival]:
    if region.function.problems or region.function.errors or _acts_unseen(file):
        return
    own, left = region.function, STEPS if guess is None else STEPS // 2
    callers = [caller for caller, _ in calls_of(file, own)]
    for function in {id(one): one for one in (own, *file.functions_named("main"), *callers)}.values():
        run = _followed(function, region, file, (), left, guess=guess)
        left = run.steps
        yield from run.arrived
        if left <= 0:
            return


def sampled(region: TypedRegion, file: TypedFile) -> tuple[Arrival, ...]:
    """The runs of the function around a region that come there, for some sizes: few, many, and many of one.

    What none of them satisfies, the function does not satisfy for sizes of any use."""
    key = ("sampled", region.function.declaration.offset, region.first)
    return file.once(key, lambda: tuple(_sampled(region, file)))


def _sampled(region: TypedRegion, file: TypedFile) -> Iterator[Arrival]:
    own = region.function
    sizes = [place for place, one in enumerate(own.parameters) if integer_type(one.type) is not None]
    if own.problems or own.errors or _acts_unseen(file) or not 0 < len(sizes) <= _MOST_SIZES:
        return
    for many in ((), tuple(sizes), *((place,) for place in sizes)):
        given: list[Value] = [None] * len(own.parameters)
        for place in sizes:
            given[place] = _MANY if place in many else _LITTLE
        yield from _followed(own, region, file, given, STEPS // 8).arrived


_ATTRIBUTES = ("constructor", "cleanup", "alias", "weak", "weakref", "ifunc")
_UNSEEN = re.compile(
    rf"(?:\b__attribute(?:__)?\s*\(|\[\[)[^;{{}}]*?(?<![^\W_])(?:{'|'.join(_ATTRIBUTES)})(?![^\W_])"
)
"""Attributes by which something runs, or is stored, that no statement names."""


def _acts_unseen(file: TypedFile) -> bool:
    return file.once(("unseen",), lambda: any(matches_with(_UNSEEN, file.text.text, _ATTRIBUTES)))


def _followed(
    function: TypedFunction,
    region: TypedRegion,
    file: TypedFile,
    given: Sequence[Value],
    steps: int,
    *,
    guess: bool | None = None,
) -> FollowedRun:
    """The run of a function with these arguments; of any others nothing is known."""
    is_main = function.declaration.name == "main"
    sizes = TypeSizes(lambda: file.once(("records", id(function)), lambda: _by_tag(file, function, region)))
    run = FollowedRun(file, sizes, RunMemory(_unknown_block), -1, steps, region=region, guess=guess)
    cached: dict[tuple[Key, bool], StoredBlock] = {}

    def first(key: Key, *, is_lost: bool) -> StoredBlock:
        if (key, is_lost) not in cached:
            cached[key, is_lost] = StoredBlock(None)
            cached[key, is_lost] = _first_block(key, run, is_main=is_main, is_lost=is_lost)
        return cached[key, is_lost]

    run.memory = RunMemory(first)
    with suppress(Stopped, RecursionError):
        run.run(function, [*given] or [None] * len(function.parameters))
    return run


def _first_block(key: Key, run: FollowedRun, *, is_main: bool, is_lost: bool) -> StoredBlock:
    """A variable that nothing has changed: its first value, in a run from `main` or if it is constant."""
    variable = run.statics.get(key) if key[0] == STATIC else None
    if key[0] == GLOBAL:
        variable = run.file.once(("variables",), lambda: _variables(run.file)).get(key)
    if variable is None:
        return StoredBlock(None)
    declared = variable.declaration
    if not _is_constant(declared.type) and (not is_main or is_lost):
        return StoredBlock(None)
    if variable.initial is None:
        is_elsewhere = key[0] == GLOBAL and declared.name in run.file.declared_elsewhere
        return StoredBlock(None if is_elsewhere else 0)
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


def _variables(file: TypedFile) -> Mapping[Key, tree.Declarator]:
    """The variables of the file by their blocks; of several declarations, the one with a first value."""
    found: dict[Key, tree.Declarator] = {}
    for variable, problems in file.variables:
        key: Key = (GLOBAL, variable.declaration.name)
        if not problems and (key not in found or variable.initial is not None):
            found[key] = variable
    return found


def _by_tag(file: TypedFile, function: TypedFunction, region: TypedRegion) -> dict[str, types.Record]:
    """The structs of the variables of a file, and of two functions, by their tags."""
    found: dict[str, types.Record] = {}
    nodes = (*function.nodes, *region.function.nodes)
    kinds = [node.type for node in nodes if isinstance(node, tree.Expression)]
    kinds += [node.declaration.type for node in nodes if isinstance(node, tree.Declarator)]
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
