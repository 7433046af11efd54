"""Properties of a schedule that the source executing it inherits: independent loops, storage in loops.

Legality of the schedule states that instances whose times first differ at its dimension d are independent, if
each block has its own copy of what its threads share.  A loop of the source inherits this if

    scanned    instances in different iterations of it have times that first differ at such a dimension: this
               is part of the proof that the loops of the source execute the schedule;
    own        what an iteration may privatise is declared in the loop.

A variable that is declared inside loops of the source is one variable in the schedule.  It may be declared
there if

    contained  in the schedule, each value read from it was written at a time with the same first entries;
    in scope   instances with these entries are in one iteration of the loops around the declaration.

A few statements of a schedule become many in an unrolled source with special cases, so comparing the accesses
of the source again would cost much more than checking where its statements are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from loopwright.c.syntax import Node
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call
from loopwright.model.annotations import BlockLoop, IndependentLoops, ThreadLoop
from loopwright.model.program import Array, Program, Statement
from loopwright.presburger.dimensions import first, padded
from loopwright.presburger.sets import IN, OUT, union
from loopwright.prove.legality.privatisation import OF_BLOCKS, declared_in_loops, innermost_scope
from loopwright.prove.reading.loops import values_at
from loopwright.prove.text.annotations import promises
from loopwright.prove.text.correspondence import prove_text
from loopwright.prove.verdict import Proved, Undecided, Verdict


def prove_inherited(
    intended: Program,
    new: Program,
    claims: Sequence[Call],
    independent: Sequence[IndependentLoops],
    distributed: Sequence[BlockLoop | ThreadLoop],
) -> Verdict:
    """Proves that `new` executes the schedule of `intended`, with the `independent` loops marked.

    `distributed` says for each marked loop what its iterations are.
    """
    found = list(promises(new))
    words = {one.pragma.argument.strip() for one in found}
    if words - {"omp parallel for"} or len(found) != len(distributed):
        return Undecided("the pragmas of the text are not those of kernels")
    marked = {one.loop: said for one, said in zip(found, distributed, strict=True)}
    scanned = prove_text(intended, new, claims, independent, marked)
    if not isinstance(scanned, Proved):
        return scanned
    scopes = list(_scopes(intended, new, claims))
    shared = _not_own(intended, new, marked, scopes)
    if shared is not None:
        return Undecided(f"{shared} is not declared in each of the loops whose iterations may have their own")
    for array in {one.array.name: one.array for one in scopes}.values():
        if not _is_contained(intended, new, array, [one for one in scopes if one.array is array]):
            return Undecided(f"a value of {array.name} may leave an iteration of the loop that declares it")
    return Proved(scanned.obligations + len(marked) + len(scopes))


@dataclass(frozen=True, eq=False)
class _DeclaredScope:
    """A declaration of `array`, the innermost loop around it and the statements that use it.

    `iterations` maps { time of a statement -> iteration of the loops around the declaration }.
    """

    array: Array
    loop: Node
    users: frozenset[str]
    iterations: tuple[isl.Map, ...]


def _scopes(intended: Program, new: Program, claims: Sequence[Call]) -> Iterator[_DeclaredScope]:
    """Yields the declarations inside loops."""
    declared = list(declared_in_loops(new))
    claimed = {one.name: claim for one, claim in zip(new.statements, claims, strict=True)}
    arguments = {name: claim.arguments for name, claim in claimed.items()} if declared else {}
    instances = values_at(new, arguments, intended.context) if declared else {}
    deepest = max((depth for _, _, depth, _ in declared), default=0)
    arrays = {array.name: array for array in intended.arrays}
    for number, (name, loop, depth, node) in enumerate(declared):
        around = node if node.parent is None else node.parent
        users = [one.name for one in _users(new, name) if around.span.contains(one.body.place)]
        iterations: list[isl.Map] = []
        for user in users:
            old = intended.statement(claimed[user].name)
            times = instances[user].set_tuple_name(OUT, old.name).apply_range(old.schedule)
            own = isl.Map.identity(times.get_space().domain().map_from_set())
            own = padded(first(own, OUT, depth + 1).reset_tuple_id(OUT), deepest + 1).add_dims(OUT, 1)
            own = own.fix_val(OUT, deepest + 1, isl.Val(number))
            iterations.append(times.reverse().apply_range(own))
        yield _DeclaredScope(arrays[name], loop, frozenset(users), tuple(iterations))


def _users(program: Program, name: str) -> Iterator[Statement]:
    return (one for one in program.statements if any(access.array == name for access in one.accesses))


def _not_own(
    intended: Program,
    new: Program,
    marked: Mapping[Node, BlockLoop | ThreadLoop],
    scopes: Sequence[_DeclaredScope],
) -> str | None:
    """Returns a variable that iterations of a marked loop share although each should have its own.

    These are the storage of blocks in loops over blocks, and local scalars in any marked loop.
    """
    for array in intended.arrays:
        here = [one for one in scopes if one.array is array]
        for loop, said in marked.items():
            if array.rank and not (isinstance(said, BlockLoop) and array.space in OF_BLOCKS):
                continue
            inner = [one.users for one in here if loop.span.contains(one.loop.span)]
            users = {one.name for one in _users(new, array.name) if loop.span.contains(one.body.place)}
            if array.local and not users <= frozenset().union(*inner):
                return array.name
    return None


def _is_contained(intended: Program, new: Program, array: Array, scopes: Sequence[_DeclaredScope]) -> bool:
    """Whether no value of `array` flows from one scope to another."""
    users = [user for one in scopes for user in one.users]
    if sorted(users) != sorted(one.name for one in _users(new, array.name)):
        return False
    depth = innermost_scope(intended, array)
    found = [first(one, IN, 2 * (depth or 0) + 2) for scope in scopes for one in scope.iterations]
    return depth is not None and (not found or bool(union(found).is_single_valued()))
