"""OpenMP directives: the clauses of parallel and vector loops, and their pragmas.

OpenMP 5.0: sections 2.9.1 (canonical loop form) and 2.19 (data-sharing clauses).

It also declares variables of the region in the loop that needs them.

A variable whose values do not leave an iteration of a loop is declared in the body of that loop, if
all statements that access it are in such loops; otherwise before all loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from loopwright.c.tokens import names_in, spelled
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Compare, Relation, Var
from loopwright.loops.nodes import Block, Call, For, Let, Node, Remark, Remarked
from loopwright.loops.traverse import Term, children, subprograms, variables, with_children
from loopwright.model.annotations import Clauses, Independent, Parallel, ReductionClause, Vector

if TYPE_CHECKING:  # generating loops from a description does not need C
    from loopwright.model.program import Array, Program

if TYPE_CHECKING:
    from loopwright.model.program import Array, Program


ORDERED = {Relation.LT: 1, Relation.LE: 1, Relation.GT: -1, Relation.GE: -1}
"""The direction in which a loop with such a test counts."""


@dataclass(frozen=True, slots=True)
class ReductionStep:
    """A statement that combines values into `array`, which a parallel loop may do in any order."""

    statement: str
    operator: str
    array: str


@dataclass(frozen=True, slots=True)
class PrivateStorage:
    """An array that can be privatised in each iteration of a loop around `statements`.

    The loop scans this `dimension` of the schedule: iterations of inner loops may share the copy.
    """

    array: str
    last: bool
    statements: tuple[str, ...]
    dimension: int


@dataclass(frozen=True)
class Sharing:
    """The facts about storage in a program's parallel loops."""

    program: Program
    accumulations: tuple[ReductionStep, ...] = ()
    private: tuple[PrivateStorage, ...] = ()
    outside: frozenset[str] = frozenset()
    """Iterators that are declared outside of the loops."""
    lanes: tuple[tuple[str, ...], ...] = ()
    """The statements of vector loops whose lanes have to run statement by statement."""

    def why_not(self, loop: For) -> str | None:
        """The reason why OpenMP cannot distribute the loop among threads, if any."""
        if not has_canonical_form(loop):
            return "its end is not a comparison of its iterator with a number known before it starts"
        for step in self._accumulated(loop):
            if not self._is_variable(step.array):
                return f"it combines values into {step.array}, which is a member of a struct"
            if not self._only_combined(loop, step):
                return f"it combines values into {step.array}, and accesses the array in other ways, too"
            if _section(self.program.array(step.array)) is None:
                return f"it combines values into {step.array}, whose size is not known from the text"
        always = set(_always(loop.body))
        for one in self._private(loop):
            if one.last and not any(self._writes(name, one.array) for name in always):
                return f"the last value of {one.array} is needed, and not every iteration writes it"
        return None

    def clauses(self, loop: For) -> Clauses | None:
        """The clauses of the loop's pragma, their names sorted; None if OpenMP cannot distribute it."""
        if self.why_not(loop) is not None or (loop.vector is not None and self._runs_in_step(loop)):
            return None
        private, last = (
            sorted({one.array for one in self._private(loop) if one.last == is_last})
            for is_last in (False, True)
        )
        together = self.together(loop)
        private = sorted({*private, *self._inner_iterators(together[-1])})
        accumulated = self._accumulated(loop)
        reductions = tuple(
            ReductionClause(operator, tuple(self._sections(accumulated, operator)))
            for operator in sorted({step.operator for step in accumulated})
        )
        dealt = loop.parallel is not None and is_uneven(together)
        return Clauses(len(together), tuple(private), tuple(last), reductions, dealt)

    def _runs_in_step(self, loop: For) -> bool:
        """Whether lanes must run statement by statement, which OpenMP's `simd` does not guarantee."""
        return any(_statements(loop) <= set(one) for one in self.lanes)

    def needs_clauses(self, loop: For) -> bool:
        """Whether the loop combines values, has variables of its own that the region does not declare, or
        arrays: gcc's `ivdep` gives the lanes of a vector one of each array, wherever it is declared.
        """
        local = {array.name for array in self.program.arrays if array.local and not array.rank}
        own = [one for one in self._own(loop) if one.last or one.array not in local]
        return bool(self._accumulated(loop) or own)

    def _sections(self, accumulated: list[ReductionStep], operator: str) -> Iterator[str]:
        for name in sorted({step.array for step in accumulated if step.operator == operator}):
            yield str(_section(self.program.array(name)))

    def together(self, loop: For) -> tuple[For, ...]:
        """The parallel loops to distribute as one (`collapse`): `loop`, and loops nested perfectly in it.

        Each is proved to be parallel, so two iterations that differ in any of them are independent.
        The bounds of the inner loops do not depend on the outer iterators, and there is no private
        storage and no reduction, which would apply to all of the loops.
        """
        found = [loop]
        while not (self._private(loop) or self._accumulated(loop)):
            inner = _only(found[-1].body)
            changing = {outer.iterator for outer in found}
            if inner is None or inner.parallel is None or inner.vector is not None:
                break  # a vector loop has a pragma of its own, which no collapsed loop may have
            if not has_canonical_form(inner) or self._private(inner):
                break
            if (variables(inner.start) | variables(inner.test)) & changing:
                break
            found.append(inner)
        return tuple(found)

    def _accumulated(self, loop: For) -> list[ReductionStep]:
        inside = _statements(loop)
        return [step for step in self.accumulations if step.statement in inside]

    def _only_combined(self, loop: For, step: ReductionStep) -> bool:
        """Whether the loop accesses the array only to combine values into it.

        Each thread has its own copy of the array of a `reduction`, which starts with zeros.
        """
        combining = {one.statement for one in self._accumulated(loop) if one.array == step.array}
        for name in _statements(loop):
            statement = self.program.statement(name)
            own = [access for access in statement.accesses if access.array == step.array]
            targets = [access for access in own if access.is_write]
            if own and (name not in combining or len(targets) != 1):
                return False
            if not all(access.relation.is_equal(targets[0].relation) for access in own):
                return False
        return True

    def _own(self, loop: For) -> list[PrivateStorage]:
        """What each iteration has of its own, wherever it is declared."""
        inside = _statements(loop)
        touched = {a.array for name in inside for a in self.program.statement(name).accesses}
        own = [one for one in self.private if loop.dimension in (None, one.dimension)]
        return [one for one in own if inside <= set(one.statements) and one.array in touched]

    def _private(self, loop: For) -> list[PrivateStorage]:
        """What each iteration has of its own, and a clause has to name."""
        declared = declared_inside(loop)
        return [one for one in self._own(loop) if one.array not in declared]

    def _inner_iterators(self, loop: For) -> set[str]:
        """The iterators of inner loops, which threads would share; the loop's own is always private."""
        inner = {part.iterator for part in subprograms(loop.body) if isinstance(part, For)}
        return inner & self.outside

    def _is_variable(self, name: str) -> bool:
        """Whether this is a name of the text; that of a field such as `p->s` is not."""
        return name in names_in(self.program.region.text)

    def _writes(self, statement: str, array: str) -> bool:
        writes = self.program.statement(statement).writes
        return any(access.array == array and access.must for access in writes)


def has_canonical_form(loop: For) -> bool:
    """Whether the test compares the iterator with a bound it counts to, which is fixed on entry."""
    match loop.test:
        case Compare(relation, Var(name), bound):
            towards = ORDERED.get(relation, 0) * loop.step > 0
            return towards and name == loop.iterator and name not in variables(bound)
        case _:
            return False


def with_clauses(node: Node, clauses: Callable[[For], Clauses | None], *, inside: bool = False) -> Node:
    """`node` with `clauses` on the loops to distribute: vector loops, and the outermost parallel ones.

    What is inside of a `simd` may not be a parallel loop (section 2.20, nesting of regions).
    """
    if isinstance(node, For) and node.annotation(Independent) is not None:
        found = clauses(node)
        if node.vector is not None:
            node = node.with_annotation(Vector(found))
        if node.parallel is not None and found is not None and not inside:
            node, inside = node.with_annotation(Parallel(found)), True
        inside = inside or (node.vector is not None and found is not None)
    return with_children(node, lambda child: with_clauses(child, clauses, inside=inside))


def without_vectors(node: Node, unsaid: Callable[[For], bool]) -> Node:
    """`node` where vector loops without clauses that are `unsaid` are not vector loops."""
    if isinstance(node, For) and node.vector is not None and node.vector.clauses is None and unsaid(node):
        kept = tuple(one for one in node.annotations if not isinstance(one, Vector))
        node = replace(node, annotations=kept)
    return with_children(node, lambda child: without_vectors(child, unsaid))


def pragma(loop: For) -> str | None:
    """The directive for a loop that is distributed among threads, among the lanes of a vector, or both."""
    parallel, vector = loop.parallel, loop.vector
    if parallel is not None and parallel.clauses is not None:
        simd = " simd" if vector is not None else ""
        return f"#pragma omp parallel for{simd}{_clause_text(parallel.clauses)}"
    if vector is not None and vector.clauses is not None:
        return f"#pragma omp simd{_clause_text(vector.clauses)}"
    return None


def _clause_text(clauses: Clauses) -> str:
    found = [f" collapse({clauses.collapse})"] if clauses.collapse > 1 else []
    lists = (("private", clauses.private), ("lastprivate", clauses.lastprivate))
    found += [f" {word}({', '.join(names)})" for word, names in lists if names]
    found += [f" reduction({one.operator}:{', '.join(one.items)})" for one in clauses.reductions]
    found += [" schedule(static, 1)"] if clauses.dealt else []
    return "".join(found)


def unshared(node: Node, sharing: Sharing) -> Iterator[str]:
    """Messages about the parallel loops that are not distributed among threads, with reasons."""
    if isinstance(node, For) and node.vector is not None and sharing.clauses(node) is not None:
        for part in subprograms(node.body):
            if isinstance(part, For) and part.parallel is not None:
                yield f"the loop over {part.iterator} is inside the one over {node.iterator}, a vector loop"
        return
    if not isinstance(node, For) or node.parallel is None:
        for child in children(node):
            yield from unshared(child, sharing)
        return
    reason = sharing.why_not(node)
    if reason is not None:
        yield f"the loop over {node.iterator} is not an OpenMP loop: {reason}"
        yield from unshared(node.body, sharing)
        return
    for part in subprograms(sharing.together(node)[-1].body):
        if isinstance(part, For) and part.parallel is not None:
            outer = f"the one over {node.iterator}, which is already parallel"
            yield f"the loop over {part.iterator} is inside {outer}"


def is_uneven(loops: tuple[For, ...]) -> bool:
    """Whether one bound of an inner loop depends on these loops and the other does not: triangles.

    Static contiguous parts of such iterations would be unbalanced.
    """
    moving = {loop.iterator for loop in loops}
    inner = (part for part in subprograms(loops[-1].body) if isinstance(part, For))
    return any(_moves(one.start, moving) != _moves(one.test, moving) for one in inner)


def _moves(term: Term, names: set[str]) -> bool:
    return not names.isdisjoint(variables(term))


def _only(body: Node) -> For | None:
    """The loop that a body consists of."""
    match body:
        case For():
            return body
        case Block((inner,)):
            return _only(inner)
        case _:
            return None


def _statements(loop: For) -> set[str]:
    return {part.name for part in subprograms(loop) if isinstance(part, Call)}


def _always(node: Node) -> Iterator[str]:
    """The statements that run whenever `node` does."""
    match node:
        case Call(name):
            yield name
        case Block() | Let() | Remarked():
            for child in children(node):
                yield from _always(child)
        case _:
            return


def _section(array: Array) -> str | None:
    """`s`, or all cells of an array, `A[:n][:m]`; None if their number is not in its declaration."""
    if array.rank == 0:
        return array.name
    if len(array.extents) != array.rank or any(_is_vague(extent) for extent in array.extents):
        return None
    return array.name + "".join(f"[:{extent}]" for extent in array.extents)


def _is_vague(extent: str) -> bool:
    words = spelled(extent)
    return not words or words[-1] == "*" or not {"static", "const", "restrict", "volatile"}.isdisjoint(words)


@dataclass(frozen=True, slots=True)
class DeclarationNote(Remark):
    """A variable of the region, declared before the statement."""

    name: str


def with_declarations(node: Node, program: Program, scopes: Mapping[str, int]) -> Node:
    """`node` with marks where variables are declared."""
    for name, depth in scopes.items():
        touching = {s.name for s in program.statements if any(a.array == name for a in s.accesses)}
        if _is_inside(node, touching, depth):
            node = _marked(node, touching, depth, DeclarationNote(name))
    return node


def declared_inside(node: Node) -> frozenset[str]:
    """The variables that are declared somewhere in `node`."""
    remarks = (part.remark for part in subprograms(node) if isinstance(part, Remarked))
    return frozenset(remark.name for remark in remarks if isinstance(remark, DeclarationNote))


def declaring(program: Program, name: str, body: Node, lines: list[str]) -> list[str]:
    """The lines of `body` after the declaration of a variable, which its first value may be part of."""
    array = program.array(name)
    if isinstance(body, Call) and _initialises(program, body, array):
        return [f"{array.element_type} {lines[0]}", *lines[1:]]
    return [array.declaration, *lines]


def _initialises(program: Program, call: Call, array: Array) -> bool:
    """Whether this is the text of an initialiser, which may follow the type again."""
    statement = program.statement(call.name)
    is_own = any(access.array == array.name for access in statement.writes)
    is_commented = any(place.start < place.end for place in statement.body.leading)
    return bool(statement.body.terminator) and is_own and not is_commented and not array.rank


def _encloses(node: Node, depth: int) -> bool:
    """Whether `node` is a loop down to this dimension, or its only iteration."""
    return isinstance(node, For | Let) and node.dimension is not None and node.dimension <= depth


def _is_inside(node: Node, touching: set[str], depth: int) -> bool:
    """Whether each of the statements is in a loop down to this dimension.

    Where the loop of the dimension itself has one iteration, nothing may be written for it.
    """
    if _encloses(node, depth):
        return True
    if isinstance(node, Call):
        return node.name not in touching
    return all(_is_inside(child, touching, depth) for child in children(node))


def _marked(node: Node, touching: set[str], depth: int, note: Remark) -> Node:
    """The bodies of the innermost of these loops are marked."""
    calls = {part.name for part in subprograms(node) if isinstance(part, Call)}
    if not calls & touching:
        return node
    if isinstance(node, For | Let) and _encloses(node, depth) and not _is_inside(node.body, touching, depth):
        return replace(node, body=Remarked(note, node.body))
    return with_children(node, lambda child: _marked(child, touching, depth, note))
