"""Compares two MLIR files: whether the functions of the new one do what those of the old one do.

by running     a buffer or result that ends up with another value, for sizes and inputs: a refutation
independence   no two iterations of a parallel loop touch one cell, one of them writing
by values      every buffer and result ends up with the same value, for every size: a proof

Parallel loops are independent: no two iterations access one cell, one of them writing it.

For the loop of iterator number d around statements a and b: no a[i] and b[j] with i and j equal before d,
different at d, and a common cell that one of them writes.

Unrolled loops and their remainders are merged into the original loop:

    for (i = a; i < m; i += k s) { B(i); B(i + s); ...; B(i + (k - 1) s) }
    for (i = b; i < c; i += s) B(i)

    -->  for (i = a; i < c; i += s) B(i)

if, in all surrounding loops, both together execute B for the same values of i, the first loop for smaller
ones than the second.  A proof by values then has fewer statements to distinguish, and sums over one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import islpy as isl
from xdsl.dialects.func import FuncOp

from loopwright.errors import BadInput, Code, Diagnostic, GaveUp, Illegal, NotModelled
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Int, Sum, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import calls_in, children, variables
from loopwright.presburger.dimensions import equal_in
from loopwright.presburger.named import parameter_names, parameter_space
from loopwright.presburger.points import smallest_point, values_text
from loopwright.presburger.sets import IN, OUT, isl_failures, union
from loopwright.progress import Progress
from loopwright.prove.descent.linear import ONE, Form, form_of, substituted
from loopwright.prove.descent.refutation import ProgramPair
from loopwright.prove.equivalence.answer import REASSOCIATION, Agreement
from loopwright.prove.equivalence.assignments import Computation
from loopwright.prove.equivalence.definedness import NewMemory, needed
from loopwright.prove.equivalence.flow import Flow
from loopwright.prove.equivalence.pairs import Pair
from loopwright.prove.equivalence.terms import Apply, CellTerm, Index, Term, subterms
from loopwright.prove.equivalence.values import by_flows
from loopwright.prove.mlir.cells import MlirNames
from loopwright.prove.mlir.function import AffineFunction
from loopwright.prove.mlir.translation import translated
from loopwright.prove.mlir.values import is_opaque
from loopwright.prove.scanning.executed import executed, runs
from loopwright.prove.verdict import ROUNDING, Proved, Refuted, Undecided, Verdict
from loopwright.read.mlir.parsing import MlirFile
from loopwright.source import Span

Around: TypeAlias = Callable[[Node], Node]
"""Rebuilds the loops and conditions around a place, with another body."""


def rerolled(function: AffineFunction, context: isl.Set) -> AffineFunction:
    """The function with its unrolled loops merged, for sizes in `context`."""
    loops = _Rerolling(function, context).node(function.loops, (), lambda inner: inner)
    left = calls_in(loops)
    own = {name: one for name, one in function.computations.items() if name in left}
    return replace(function, loops=loops, computations=own)


class _Rerolling:
    def __init__(self, function: AffineFunction, context: isl.Set) -> None:
        self.computations = function.computations
        self.context = context

    def node(self, node: Node, outer: tuple[str, ...], around: Around) -> Node:
        match node:
            case Block(children):
                parts = [self.node(child, outer, around) for child in children]
                return Block(self.joined([one for one in parts if one != Block(())], outer, around))
            case For():
                body = self.node(
                    node.body, (*outer, node.iterator), lambda inner: around(replace(node, body=inner))
                )
                return replace(node, body=body)
            case If(test, then, orelse):
                yes = self.node(then, outer, lambda inner: around(If(test, inner)))
                no = orelse and self.node(orelse, outer, lambda inner: around(If(test, Block(()), inner)))
                return If(test, yes, no)
            case Call() | Let() | Remarked():
                return node

    def joined(self, parts: list[Node], outer: tuple[str, ...], around: Around) -> tuple[Node, ...]:
        """The parts, with neighbours merged that are one loop."""
        made: list[Node] = []
        for part in parts:
            whole = self.whole(made[-1], part, outer, around) if made else None
            made[-1:] = [whole] if whole is not None else [*made[-1:], part]
        return tuple(made)

    def whole(self, main: Node, rest: Node, outer: tuple[str, ...], around: Around) -> For | None:
        """Merges two loops if they are an unrolled loop and its remainder; otherwise returns None."""
        if not isinstance(main, For) or not isinstance(rest, For) or main.annotations or rest.annotations:
            return None
        copies, left = divmod(main.step, rest.step) if rest.step > 0 else (0, 0)
        bodies = _calls(main.body), _calls(rest.body)
        if copies < 2 or left or bodies[0] is None or bodies[1] is None:
            return None
        if len(bodies[0]) != copies * len(bodies[1]):
            return None
        for place, name in enumerate(bodies[0]):
            copy, other = divmod(place, len(bodies[1]))
            at: Form = {main.iterator: Fraction(1), ONE: Fraction(copy * rest.step)}
            moved = {rest.iterator: at}
            if not _same(self.computations[name], self.computations[bodies[1][other]], moved):
                return None
        whole = replace(rest, start=main.start)
        first = [
            self.values(main, Sum((Var(main.iterator), Int(copy * rest.step))), outer, around)
            for copy in range(copies)
        ]
        second, all_of_them = (self.values(one, Var(one.iterator), outer, around) for one in (rest, whole))
        before = union(first)
        late = before.lex_ge_set(second)
        for place in range(len(outer)):
            late = late.equate(IN, place, OUT, place)
        return whole if late.is_empty() and before.union(second).is_equal(all_of_them) else None

    def values(self, loop: For, value: Expr, outer: tuple[str, ...], around: Around) -> isl.Set:
        """{ [outer iterators, value] } of the iterations of a loop."""
        call = Call("one", (*map(Var, outer), value))
        (run,) = runs(executed(around(replace(loop, body=call)), self.context))
        return run.domain.apply(isl.Map.from_multi_pw_aff(run.arguments))


def _calls(node: Node) -> list[str] | None:
    """The statements of a body that contains nothing else, or None."""
    match node:
        case Call(name):
            return [name]
        case Block(children):
            parts = [_calls(child) for child in children]
            known = [part for part in parts if part is not None]
            return [name for part in known for name in part] if len(known) == len(parts) else None
        case _:
            return None


def _same(one: Computation, other: Computation, moved: Mapping[str, Form]) -> bool:
    """Whether `one` does what `other` does with other values of the iterators."""
    return len(one.assignments) == len(other.assignments) and all(
        mine.is_conditional == its.is_conditional
        and _equal(mine.target, its.target, moved)
        and _equal(mine.value, its.value, moved)
        for mine, its in zip(one.assignments, other.assignments, strict=True)
    )


def _equal(one: Term, other: Term, moved: Mapping[str, Form]) -> bool:
    match one, other:
        case CellTerm(array, subscripts, kind), CellTerm(its_array, its_subscripts, its_kind):
            return (array, kind, len(subscripts)) == (its_array, its_kind, len(its_subscripts)) and all(
                _equal_integers(*pair, moved) for pair in zip(subscripts, its_subscripts, strict=True)
            )
        case Index(value, kind), Index(its_value, its_kind):
            return kind == its_kind and _equal_integers(value, its_value, moved)
        case Apply(operator, arguments, kind), Apply(its_operator, its_arguments, its_kind):
            return (operator, kind, len(arguments)) == (its_operator, its_kind, len(its_arguments)) and all(
                _equal(*pair, moved) for pair in zip(arguments, its_arguments, strict=True)
            )
        case _:
            return one == other


def _equal_integers(one: Expr, other: Expr, moved: Mapping[str, Form]) -> bool:
    mine, its = form_of(one), form_of(other)
    if mine is None or its is None:
        return one == other and not variables(other) & moved.keys()
    return mine == substituted(its, moved)


SMALLEST = (0,)
"""Sizes that runs of loops seldom use."""
OUTSIDE = "code outside these functions is not compared"


def same_functions(
    old: MlirFile, new: MlirFile, *, allow_reassociation: bool, progress: Progress
) -> Agreement:
    """Proves that each function of `old` has one of `new` that does the same, or raises an error."""
    others = {one.sym_name.data: one for one in new.functions}
    _refuse_other_globals(old, new)
    obligations = 0
    trusted: list[str] = []
    for function in old.functions:
        name = function.sym_name.data
        if name not in others:
            raise BadInput(
                Code.REGION, f"{new.source.path} has no function @{name}", span=Span.start_of(new.source.path)
            )
        progress(f"comparing @{name}")
        try:
            before, after = _translated(old, function, new, others[name])
            verdict = _compared(before, after, progress, allow_reassociation=allow_reassociation)
        except RecursionError:
            raise NotModelled("loops or values that are nested too deeply", new.place(others[name])) from None
        obligations += _demanded(verdict, after)
        trusted += [*before.trusted, *after.trusted]
    trusted += [*([REASSOCIATION] if allow_reassociation else []), OUTSIDE]
    ways = ("by values",) * len(old.functions)
    return Agreement(obligations, ways, tuple(dict.fromkeys(trusted)), contract=ROUNDING)


def _refuse_other_globals(old: MlirFile, new: MlirFile) -> None:
    """Checks that a global of both files has one type and one initial value."""
    for name, one in old.variables.items():
        other = new.variables.get(name)
        if other is not None and other.properties != one.properties:
            place = new.place(other)
            raise GaveUp(Code.UNDECIDED, f"could not decide: @{name} is another global", span=place)


def _translated(
    old: MlirFile, function: FuncOp, new: MlirFile, other: FuncOp
) -> tuple[AffineFunction, AffineFunction]:
    """Both functions, with arguments named as in `old`; their types may differ in known sizes."""
    if function.function_type != other.function_type:
        place = new.place(other)
        raise BadInput(Code.REGION, f"@{function.sym_name.data} has other arguments or results", span=place)
    names = MlirNames.of(function, "")
    return translated(old, function, names), translated(new, other, replace(names, side="'"))


def _demanded(verdict: Verdict, after: AffineFunction) -> int:
    match verdict:
        case Proved(obligations):
            return obligations
        case Refuted(message=message, witness=witness):
            text = f"not equivalent: {message}"
            raise Illegal.of(Diagnostic(Code.NOT_EQUIVALENT, text, span=after.place, witness=witness))
        case Undecided(reason):
            raise GaveUp(Code.UNDECIDED, f"could not decide: {reason}", span=after.place)


@isl_failures("isl could not compare two functions")
def _compared(
    old: AffineFunction, new: AffineFunction, progress: Progress, *, allow_reassociation: bool
) -> Verdict:
    context = old.defined(_common(old.context, new.context))
    if context.is_empty():
        return Undecided(f"{old.source.path} leaves its buffers for every size")
    runs = old.runnable, new.runnable
    arrays = tuple(dict.fromkeys((*old.outputs, *new.outputs)))
    paths = old.source.path, new.source.path
    progress("looking for a difference in small runs")
    pair = Pair(paths, runs, arrays, allow_reassociation, _unknown(old, new))
    wrong = ProgramPair(pair, context).difference(first=SMALLEST)
    if wrong is not None:
        return wrong
    progress("looking for races")
    safe = independent(old, context)
    if not isinstance(safe, Proved):
        return Undecided(f"the parallel loops of {old.source.path} are not independent")
    apart = independent(new, context)
    if not isinstance(apart, Proved):
        return apart
    progress("proving by values")
    plain = rerolled(new, context)
    flows = old.flow(context), plain.flow(context)
    own = frozenset(one.name for one in new.arrays if one.local)
    known = {one.name: one for one in new.arrays}
    memory = NewMemory(flows[1], known, own, flows[0], frozenset(), context, wraps=True)
    found, _ = by_flows(flows, needed(memory, flows), arrays, paths, reassociate=allow_reassociation)
    if isinstance(found, Proved) and not context.is_subset(plain.defined(context)):
        return Undecided(f"{new.source.path} leaves its buffers for some sizes")
    if isinstance(found, Undecided):
        return found
    return Proved(found.obligations + safe.obligations + apart.obligations)


def _common(one: isl.Set, other: isl.Set) -> isl.Set:
    """Sizes that both functions may have; a size that one does not use can be any."""
    names = dict.fromkeys((*parameter_names(one), *parameter_names(other)))
    space = parameter_space(tuple(names))
    return one.align_params(space).intersect(other.align_params(space))


def _unknown(*functions: AffineFunction) -> frozenset[str]:
    """The operations whose values are not known."""
    return frozenset(
        part.operator.removesuffix("()")
        for function in functions
        for one in function.computations.values()
        for assignment in one.assignments
        for part in subterms(assignment.value)
        if isinstance(part, Apply) and is_opaque(part.operator)
    )


@dataclass(frozen=True, eq=False)
class _ArrayTouch:
    """{ S[i] -> A[x] }: an access of a statement."""

    statement: str
    array: str
    cells: isl.Map
    is_write: bool


def independent(function: AffineFunction, context: isl.Set) -> Proved | Refuted:
    """Proves that the iterations of every parallel loop may execute in any order, or at the same time."""
    loops = list(_parallel(function.loops, 0))
    if not loops:
        return Proved(0)
    touches = list(_touches(function, function.flow(context)))
    obligations = 0
    for depth, members in loops:
        inside = [one for one in touches if one.statement in members]
        written = {one.array for one in inside if one.is_write}
        for first in (one for one in inside if one.is_write):
            for second in (one for one in inside if one.array in written and one.array == first.array):
                obligations += 1
                pairs = equal_in(first.cells.apply_range(second.cells.reverse()), range(depth))
                apart = pairs.intersect(_different(pairs, depth)).intersect_params(context)
                if not apart.is_empty():
                    return _race(function, first, second, apart, depth)
    return Proved(obligations)


def _parallel(node: Node, depth: int) -> Iterator[tuple[int, frozenset[str]]]:
    """Yields the parallel loops: the number of loops around each, and the statements inside."""
    if isinstance(node, For) and node.parallel is not None:
        yield depth, calls_in(node)
    for child in children(node):
        yield from _parallel(child, depth + isinstance(node, For))


def _touches(function: AffineFunction, flow: Flow) -> Iterator[_ArrayTouch]:
    for name, one in function.computations.items():
        for place, assignment in enumerate(one.assignments):
            key = name if len(one.assignments) == 1 else f"{name}.{place}"
            definition = flow.definitions[key]
            for cell in dict.fromkeys((assignment.target, *assignment.cells)):
                cells = definition.relation(cell.subscripts, cell.array).set_tuple_name(IN, name)
                if cell == assignment.target:
                    yield _ArrayTouch(name, cell.array, cells, is_write=True)
                if cell in assignment.cells:
                    yield _ArrayTouch(name, cell.array, cells, is_write=False)


def _different(pairs: isl.Map, depth: int) -> isl.Map:
    everything = isl.Map.universe(pairs.get_space())
    return everything.subtract(everything.equate(IN, depth, OUT, depth))


def _race(
    function: AffineFunction, first: _ArrayTouch, second: _ArrayTouch, pairs: isl.Map, depth: int
) -> Refuted:
    point = smallest_point(pairs.wrap())
    assert point is not None
    own = len(function.iterators[first.statement])
    values = point.coordinates[:own], point.coordinates[own:]
    shown = []
    for touch, at in zip((first, second), values, strict=True):
        names = function.iterators[touch.statement]
        instance = values_text(dict(zip(names, at, strict=True)))
        place = function.places[touch.statement]
        how = "writes" if touch.is_write else "reads"
        shown.append(f"line {place.line} ({place.text.strip()}) {how} it for {instance}")
    sizes = values_text(point.parameters)
    iterator = function.iterators[first.statement][depth]
    message = f"iterations of the parallel loop over {iterator} touch one cell of {first.array}"
    witness = f"{sizes}: {shown[0]}, {shown[1]}" if sizes else f"{shown[0]}, {shown[1]}"
    return Refuted("parallel", message, witness, point.parameters)
