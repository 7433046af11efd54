"""Pragmas that promise independent iterations: each promise is proved for its loop.

`#pragma omp parallel for`, `#pragma omp simd`, `#pragma ivdep` and `#pragma GCC ivdep` apply to the loop that
follows.

`ivdep` is about vector lanes, which preserve forward anti-dependences; OpenMP promises no such order.

Nothing is taken on trust: the iterations of the loop that follows are compared by the accesses in the source.
A `reduction` clause allows steps of that reduction to be reordered; what a `private` or `lastprivate` clause
names is proved to be private to each iteration.  A thread's `firstprivate` copy has the value before the loop
if the loop does not write it; otherwise it must be private to each iteration; `linear` is accepted for the
iterator alone.  Any other pragma may mean anything, unless it is known to preserve the meaning of a loop.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from loopwright.c.clauses import (
    clause_texts,
    combined_cells,
    names_in_clause,
    number_in_clause,
    unknown_clause,
)
from loopwright.c.loops import loop_iterator, outer_iterators
from loopwright.c.regions import Directive
from loopwright.c.syntax import Node, field, named_children, walk
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import Clauses, Independent, Parallel, ReductionClause, Vector
from loopwright.model.dependences import Dependence, memory_based
from loopwright.model.program import Program
from loopwright.presburger.named import number, variable
from loopwright.prove.legality.explain import headline, witness
from loopwright.prove.legality.legality import KnownTimes, LegalityVerdict, Status, has_registers, prove_legal
from loopwright.prove.legality.parallel import ParallelLoop, inside
from loopwright.prove.legality.privatisation import Private, declared_in_loops, privatised
from loopwright.prove.legality.reductions import combines_exactly, used_otherwise
from loopwright.prove.legality.times import comparable, pieces_of
from loopwright.prove.text.clauses import in_one_vector, is_inside, is_kept, not_linear, uncertain_value
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.source import Span

_VARIANT, _REDUCTION = (re.compile(rf"\bdeclare\s+(?:{one})\b") for one in ("variant", "variant|reduction"))
_PROMISE = re.compile(r"\s*(omp\s+parallel\s+for\b|omp\s+simd\b|(GCC\s+)?ivdep\s*$)")
_GCC, _THREADS, _LANES = (re.compile(rf"\b{word}\b") for word in ("ivdep", "parallel", "simd"))
_HARMLESS = re.compile(
    r"\s*(assume\b|(GCC\s+)?(no)?unroll\b|vector\s+always\s*$|(GCC|clang)\s+diagnostic\b|STDC\s+FP_CONTRACT\s+OFF\b|"
    r"clang\s+loop\s+unroll(_count)?\s*\([^()]*\)\s*$)"
)
"""Pragmas that change neither what a loop computes nor how it rounds."""


@dataclass(frozen=True)
class Promise:
    """The loop a pragma applies to, the accumulators it names, and what is private to each iteration."""

    pragma: Directive
    loop: Node
    depth: int
    iterators: frozenset[str]
    """The iterators of all loops that the pragma applies to."""
    reductions: frozenset[tuple[str, str]]
    private: frozenset[str]
    last: frozenset[str]

    @property
    def first(self) -> frozenset[str]:
        """The variables of which each thread has a copy, initialised with the value before the loop."""
        return names_in_clause(self.pragma.argument, "firstprivate")

    @property
    def is_for_gcc(self) -> bool:
        """Whether it is `ivdep`: scalars that the region declares then need no clause; GCC sees that."""
        return _GCC.search(self.pragma.argument) is not None


def prove_annotations(program: Program, *, allow_reassociation: bool) -> Verdict:
    """Proves that iterations of every loop with such a pragma are independent, and no other pragma matters.

    Without `allow_reassociation`, a `reduction` clause is not proved.
    """
    other_pragma = _unknown_pragma(program)
    if other_pragma is not None:
        line = other_pragma.place.line
        return Undecided(f"the effect of '#pragma{other_pragma.argument}' in line {line} is not known")
    count = 0
    known: dict[tuple[str, ...], tuple[Dependence, ...]] = {}
    declared = tuple((name, node.span) for name, node, _, _ in declared_in_loops(program))
    timed: set[str] = set()
    for promise in promises(program):
        line = promise.pragma.place.line
        unclear = _unclear(program, promise, allow_reassociation=allow_reassociation)
        if unclear is not None:
            return Undecided(unclear)
        verdict = _kept(program, promise, known, declared, timed)
        if verdict.status is Status.PROVED:
            timed.update(_loop(program, promise).statements)
            undeclared = [
                one.assumption
                for one in verdict.reassociations
                if (one.operator, one.array) not in promise.reductions
            ]
            if undeclared:
                return Undecided(f"the pragma in line {line} has no clause for a reduction")
            count += verdict.obligations + len(promise.private) + len(promise.last)
            continue
        found = verdict.failures[0]
        message = f"the iterations of the loop at line {line} are not independent: {headline(found)}"
        if verdict.status is Status.UNDECIDED or is_kept(promise.pragma.argument, found):
            return Undecided(message)
        return Refuted("parallel", message, witness(found), found.parameters)
    return Proved(count)


def _unclear(program: Program, promise: Promise, *, allow_reassociation: bool) -> str | None:
    """Returns why a clause of a pragma is not understood, or not proved for the variables it names."""
    line, argument = promise.pragma.place.line, promise.pragma.argument
    unknown = unknown_clause(argument, program.file.macro_names)
    if unknown is not None:
        return f"the pragma in line {line} has an unknown clause: {unknown}"
    sizes = {name: program.context.is_subset(variable(name).ge_set(number(1))) for name in program.params}
    uncertain = uncertain_value(promise.pragma, sizes)
    if uncertain is not None:
        return f"{uncertain} in line {line} is not known to have a value that OpenMP allows"
    if any(one.body.place.contains(promise.loop.span) for one in program.statements):
        return f"the loop of the pragma in line {line} is in a statement that is left as it is"
    inexact = [array for _, array in promise.reductions if not combines_exactly(program, array)]
    if inexact and not allow_reassociation:
        return (
            f"the reduction in line {line} combines values of {', '.join(sorted(inexact))} in any order; "
            "--allow-reassociation says that this is meant"
        )
    if (_REDUCTION if promise.reductions else _VARIANT).search(program.source.text) is not None:
        return f"what the pragma in line {line} combines or calls is declared in the file"
    collapsed = number_in_clause(argument, "collapse") or 1
    if promise.last and collapsed > 1:
        return f"the pragma in line {line} keeps what the last of several loops leaves"
    if len(promise.iterators) < collapsed:
        return f"line {line}: the loops are not directly inside each other"
    other = _not_combined(program, promise) or _not_in_section(program, promise)
    if other is not None:
        return f"line {line}: the loop does more with {other} than to combine values into it"
    wrong = _not_own(program, promise) or _not_copied(program, promise)
    uneven = not_linear(argument, promise.loop, promise.iterators)
    if uneven is not None:
        return f"line {line}: '{uneven}' is not the iterator, or does not grow by as much as the clause says"
    return wrong and f"line {line}: it is not proved that every iteration has its own {wrong}"


def is_promise(argument: str) -> bool:
    """Whether a pragma promises that the iterations of the next loop are independent."""
    return _PROMISE.match(argument) is not None


def is_harmless(argument: str) -> bool:
    """Whether a pragma is known to change nothing."""
    return _HARMLESS.match(argument) is not None


def _pragmas(program: Program) -> tuple[Directive, ...]:
    return program.file.region(program.region).pragmas


def _unknown_pragma(program: Program) -> Directive | None:
    """The first pragma that is not a promise, and not known to be harmless."""
    for pragma in _pragmas(program):
        if not is_promise(pragma.argument) and not is_harmless(pragma.argument):
            return pragma
    return None


def promises(program: Program) -> Iterator[Promise]:
    """Yields the promises of the region with their loops."""
    loops = program.syntax.of_type("for_statement")
    for pragma in _pragmas(program):
        if not is_promise(pragma.argument):
            continue
        following = [loop for loop in loops if loop.start >= pragma.place.end]
        if following:
            loop = min(following, key=lambda node: node.start)
            depth = sum(outer.span.contains(loop.span) for outer in loops) - 1
            together = list(_together(loop, pragma))
            names = frozenset(loop_iterator(one) or "" for one in together)
            for more, one in enumerate(together):
                yield Promise(pragma, one, depth + more, names, *clauses_of(pragma.argument))


def said_of_loops(program: Program) -> tuple[frozenset[Independent], ...]:
    """What the pragmas of the region promise about each loop around its statements, in source order."""
    statements = [statement.body.place for statement in program.statements]
    loops = [
        node
        for node in walk(program.syntax)
        if node.type == "for_statement"
        and any(node.span.contains(inner) and node.span != inner for inner in statements)
    ]
    loops.sort(key=lambda node: node.start)
    said: list[frozenset[Independent]] = [frozenset()] * len(loops)
    for pragma in _pragmas(program):
        following = [k for k, loop in enumerate(loops) if loop.start >= pragma.place.end]
        if following and is_promise(pragma.argument):
            said[following[0]] |= frozenset(_said(pragma.argument))
    return tuple(said)


def _said(argument: str) -> Iterator[Independent]:
    if _GCC.search(argument) is not None:
        yield Vector()
        return
    lists: dict[str, tuple[str, ...]] = {}
    reductions: list[ReductionClause] = []
    for word, names in clause_texts(argument):
        operator, _, listed = names.partition(":") if word == "reduction" else ("", "", names)
        items = tuple(name.strip() for name in listed.split(","))
        if word == "reduction":
            reductions.append(ReductionClause(operator.strip(), items))
        else:
            lists[word] = items
    collapse = number_in_clause(argument, "collapse") or 1
    own, last = lists.get("private", ()), lists.get("lastprivate", ())
    clauses = Clauses(collapse, own, last, tuple(reductions), lists.get("schedule") == ("static", "1"))
    if _THREADS.search(argument) is not None:
        yield Parallel(clauses)
    if _LANES.search(argument) is not None:
        yield Vector(clauses)


def _together(loop: Node, pragma: Directive) -> Iterator[Node]:
    """The loops that `collapse(n)` joins, each perfectly nested in the one before.

    A promise about each of them is a promise about all.
    """
    yield loop
    for _ in range(1, number_in_clause(pragma.argument, "collapse") or 1):
        body = field(loop, "body")
        while body.type == "compound_statement" and len(named_children(body)) == 1:
            body = named_children(body)[0]
        if body.type != "for_statement":
            return
        loop = body
        yield loop


def clauses_of(argument: str) -> tuple[frozenset[tuple[str, str]], frozenset[str], frozenset[str]]:
    """The reductions and the names in `private` and `lastprivate`; for an array section, the array."""
    combined = frozenset((one.operator, one.array) for one in combined_cells(argument))
    return combined, names_in_clause(argument, "private"), names_in_clause(argument, "lastprivate")


def _loop(program: Program, promise: Promise) -> ParallelLoop:
    names = tuple(s.name for s in program.statements if promise.loop.span.contains(s.body.place))
    gcc = promise.is_for_gcc
    return ParallelLoop(2 * promise.depth + 1, names, "the loop", combines=not gcc, lanes=gcc)


def _own(program: Program, promise: Promise, name: str) -> Private | None:
    """Returns how each iteration of the loop can have its own `name`, or None."""
    array = next((one for one in program.arrays if one.name == name), None)
    if array is None:
        return None
    loop = _loop(program, promise)
    schedules = comparable(program, program)
    pieces = {one: pieces_of(one, schedule) for one, schedule in schedules.items()}
    return privatised(program, inside(loop, pieces), loop, array)


def _not_own(program: Program, promise: Promise) -> str | None:
    """The first name in a clause that cannot be privatised, or whose last value would be lost.

    An iterator of an inner loop that is declared outside must be in a clause: threads would share it.  Its
    loop sets it before it is read.  The iterators of the distributed loops are private.
    """
    iterators = _assigned_iterators(promise.loop)
    if not promise.is_for_gcc and not iterators <= promise.private | promise.iterators:
        return min(iterators - promise.private - promise.iterators)
    for name in sorted((promise.private | promise.last) - iterators - promise.iterators):
        found = _own(program, promise, name)
        kept = name in promise.last and _is_always_written(program, promise.loop, name)
        if found is None or (found.last and not kept) or (name in promise.last and not kept):
            return name
    return None


def _not_copied(program: Program, promise: Promise) -> str | None:
    """The first name in `firstprivate` for which copies per thread differ from one variable.

    A copy that the loop does not write has the value before the loop; of a pointer, only the pointer is
    copied.
    """
    inside = [program.statement(name) for name in _loop(program, promise).statements]
    written = {access.array for statement in inside for access in statement.writes}
    for name in sorted(promise.first - promise.last):
        declared = program.file.declarations.visible(name, program.region)
        array = next((one for one in program.arrays if one.name == name), None)
        if name in promise.iterators | _assigned_iterators(promise.loop):
            return name
        if array is None and name not in program.params:
            return name
        is_pointer = array is not None and array.rank > 0 and declared is not None and declared.may_alias
        if is_pointer or name not in written:
            continue
        found = _own(program, promise, name)
        if found is None or found.last:
            return name
    return None


def _not_combined(program: Program, promise: Promise) -> str | None:
    """The first name in a `reduction` clause that the loop reads or writes in another way."""
    names = _loop(program, promise).statements
    part = replace(program, statements=tuple(program.statement(name) for name in names))
    wrong = (name for operator, name in sorted(promise.reductions) if used_otherwise(part, operator, name))
    return next(wrong, None)


def _not_in_section(program: Program, promise: Promise) -> str | None:
    """The first array of a `reduction` clause of which the loop accesses more than the clause names.

    For a pointer without a section, the pointer itself is combined; for a size, each thread has its own.
    """
    names = _loop(program, promise).statements
    ranks = {array.name: array.rank for array in program.arrays}
    for one in combined_cells(promise.pragma.argument):
        declared = program.file.declarations.visible(one.array, promise.loop.span)
        rank = -1 if declared is None or declared.may_alias else len(declared.extents)
        if one.array not in ranks or (not one.section and rank != ranks[one.array]):
            return one.array
        for statement in (program.statement(name) for name in names):
            for access in statement.accesses:
                cells = access.relation.intersect_domain(statement.domain).intersect_params(program.context)
                if access.array == one.array and not is_inside(cells.range(), one.section):
                    return one.array
    return None


def _assigned_iterators(loop: Node) -> frozenset[str]:
    """The iterators of inner loops that are declared outside of their loops."""
    return frozenset(
        outer_iterators(node for node in walk(field(loop, "body")) if node.type == "for_statement")
    )


def _is_always_written(program: Program, loop: Node, name: str) -> bool:
    """Whether every iteration executes a statement that writes `name`."""
    always = set(_direct(field(loop, "body")))
    return any(
        access.array == name and access.must
        for statement in program.statements
        if statement.body.place in always
        for access in statement.writes
    )


def _direct(node: Node) -> Iterator[Span]:
    """Yields the positions of the statements that are executed whenever `node` is."""
    yield node.span
    if node.type in ("compound_statement", "labeled_statement"):
        for part in named_children(node):
            yield from _direct(part)


def _kept(
    program: Program,
    promise: Promise,
    known: dict[tuple[str, ...], tuple[Dependence, ...]],
    declared: Sequence[tuple[str, Span]],
    timed: Collection[str],
) -> LegalityVerdict:
    """The verdict on one loop; loops around the same statements share the dependences in `known`.

    `declared` are variables with the innermost loops around their declarations.  For statements in `timed`,
    the verdict on a loop around them proved that each instance has one time.
    """
    loop = _loop(program, promise)
    part = replace(program, statements=tuple(program.statement(name) for name in loop.statements))
    registers = has_registers(program) and not (promise.reductions or promise.is_for_gcc)
    if loop.statements not in known and not registers:
        known[loop.statements] = tuple(memory_based(part))
    owned = promise.private | promise.last
    owned |= {name for name in promise.first - owned if _own(program, promise, name) is not None}
    here = promise.loop.span
    tried = {name for name, span in declared if here.contains(span)}
    if promise.is_for_gcc:
        tried |= {array.name for array in program.arrays if array.local and not array.rank}
    owned |= {name for name in tried - owned if _own(program, promise, name) is not None}
    loop = replace(loop, private=owned)
    kept: tuple[Dependence, ...] | None = None
    if not registers:
        kept = in_one_vector(promise.pragma.argument, promise.loop, promise.depth, known[loop.statements])
    return prove_legal(
        part, part, parallel=[loop], allow_reassociation=bool(promise.reductions),
        times=KnownTimes(registers, timed), dependences=kept,
    )
