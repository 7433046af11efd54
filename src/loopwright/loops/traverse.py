"""Traversal of LOOP programs and expressions, substitution, and reversal of loops.

for (c0 = 1 - n; c0 <= 0; c0++) S(-c0)   is   for (c0 = n - 1; c0 >= 0; c0--) S(c0)

It also counts the nodes, loops and tests of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import TypeAlias, TypeGuard, assert_never

from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.expressions import MIRRORED, Compare, Relation, Scaled, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.model.annotations import Annotation

Term: TypeAlias = ex.Expr | ex.Test
NodePath: TypeAlias = tuple[tuple[Node, int], ...]
"""Nested nodes from the outside in, each with the index of the child that leads to the next."""


def operands(term: Term) -> tuple[Term, ...]:
    """The expressions and tests directly inside `term`, from left to right."""
    match term:
        case ex.Int() | ex.Var():
            return ()
        case ex.Compare(_, left, right):
            return left, right
        case ex.Sum(terms):
            return terms
        case ex.Scaled(_, argument) | ex.FloorDiv(argument) | ex.TruncDiv(argument) | ex.Rem(argument):
            return (argument,)
        case ex.Not(negated):
            return (negated,)
        case ex.Min(arguments) | ex.Max(arguments):
            return arguments
        case ex.And(tests) | ex.Or(tests):
            return tests
        case ex.Select(test, then, orelse):
            return test, then, orelse
        case _:
            assert_never(term)


def subterms(term: Term) -> Iterator[Term]:
    """`term` and everything inside it, the outer before the inner."""
    pending = [term]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(operands(current)))


def variables(term: Term) -> frozenset[str]:
    """The names of the iterators and parameters `term` mentions."""
    return frozenset(part.name for part in subterms(term) if isinstance(part, ex.Var))


def children(node: Node) -> tuple[Node, ...]:
    """The programs directly inside `node`, in order."""
    match node:
        case Call():
            return ()
        case Block(nodes):
            return nodes
        case If(_, then, orelse):
            return (then,) if orelse is None else (then, orelse)
        case For(body=body) | Let(body=body) | Remarked(body=body):
            return (body,)
        case _:
            assert_never(node)


def with_children(node: Node, change: Callable[[Node], Node]) -> Node:
    """`node` with its direct children changed."""
    match node:
        case Call():
            return node
        case Block(nodes):
            return Block(tuple(change(child) for child in nodes))
        case If(test, then, orelse):
            return If(test, change(then), None if orelse is None else change(orelse))
        case For() | Let() | Remarked():
            return replace(node, body=change(node.body))
        case _:
            assert_never(node)


def with_calls(node: Node, call: Callable[[Call], Node]) -> Node:
    """`node` with its calls replaced."""
    return call(node) if isinstance(node, Call) else with_children(node, lambda one: with_calls(one, call))


def subprograms(node: Node) -> Iterator[Node]:
    """`node` and everything inside it, the outer before the inner."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def terms(node: Node) -> tuple[Term, ...]:
    """The expressions and tests of `node` itself, without those of the programs inside it."""
    match node:
        case Call(_, arguments):
            return arguments
        case If(test):
            return (test,)
        case For(_, start, test):
            return start, test
        case Let(_, value):
            return (value,)
        case Block() | Remarked():
            return ()
        case _:
            assert_never(node)


def free_variables(node: Node) -> frozenset[str]:
    """The variables `node` uses and does not declare: its parameters, if it is a whole program."""
    known: dict[int, frozenset[str]] = {}

    def used(term: Term) -> frozenset[str]:  # the same bounds are in many loops
        if id(term) not in known:
            known[id(term)] = variables(term)
        return known[id(term)]

    def free(node: Node) -> frozenset[str]:
        inside = frozenset[str]().union(*map(free, children(node)))
        match node:
            case For(iterator, start, test):
                return used(start) | ((used(test) | inside) - {iterator})
            case Let(name, value):
                return used(value) | (inside - {name})
            case _:
                return inside.union(*map(used, terms(node)))

    return free(node)


def rename(expr: ex.Expr, names: Mapping[str, str]) -> ex.Expr:
    """`expr` with each variable in `names` called by its new name."""
    return substituted_expr(expr, {old: ex.Var(new) for old, new in names.items()})


def rename_test(test: ex.Test, names: Mapping[str, str]) -> ex.Test:
    """`test` with each variable in `names` called by its new name."""
    return substituted(test, {old: ex.Var(new) for old, new in names.items()})


def is_said(node: Node, kind: type[Annotation]) -> TypeGuard[For]:
    """Whether a node is a loop with an annotation of this kind."""
    return isinstance(node, For) and node.annotation(kind) is not None


def calls_of(node: Node) -> list[Call]:
    """The calls in `node`, in source order."""
    return [part for part in subprograms(node) if isinstance(part, Call)]


def calls_in(node: Node) -> frozenset[str]:
    """The statements that `node` runs, by name."""
    return frozenset(call.name for call in calls_of(node))


def paths_to_calls(node: Node, path: NodePath = ()) -> Iterator[tuple[Call, NodePath]]:
    """The calls in source order, each with its path from `node`."""
    if isinstance(node, Call):
        yield node, path
    for number, child in enumerate(children(node)):
        yield from paths_to_calls(child, (*path, (node, number)))


def unmarked(node: Node) -> Node:
    """The node that the remarks before `node` apply to."""
    return unmarked(node.body) if isinstance(node, Remarked) else node


def in_sequence(node: Node) -> Node:
    """The program with all annotations removed."""
    plain = replace(node, annotations=()) if isinstance(node, For) else node
    return with_children(plain, in_sequence)


def scaled(factor: int, expr: ex.Expr) -> ex.Expr:
    """`factor * expr`, without nested factors and without a factor of one."""
    match expr:
        case ex.Int(value):
            return ex.Int(factor * value)
        case ex.Scaled(inner, argument):
            return scaled(factor * inner, argument)
        case _:
            return expr if factor == 1 else ex.Scaled(factor, expr)


def negated(expr: ex.Expr) -> ex.Expr:
    """`-expr`: of a smallest value, the largest of those negated."""
    match expr:
        case ex.Int() | ex.Scaled():
            return scaled(-1, expr)
        case ex.Sum(terms):
            return ex.Sum(tuple(map(negated, terms)))
        case ex.Min(arguments):
            return ex.Max(tuple(map(negated, arguments)))
        case ex.Max(arguments):
            return ex.Min(tuple(map(negated, arguments)))
        case ex.Select(test, then, orelse):
            return ex.Select(test, negated(then), negated(orelse))
        case ex.Var() | ex.FloorDiv() | ex.TruncDiv() | ex.Rem():
            return ex.Scaled(-1, expr)
        case _:
            assert_never(expr)


def with_parts(
    expr: ex.Expr, change: Callable[[ex.Expr], ex.Expr], test: Callable[[ex.Test], ex.Test]
) -> ex.Expr:
    """`expr` with the expressions and tests directly inside it changed."""
    match expr:
        case ex.Int() | ex.Var():
            return expr
        case ex.Sum(terms):
            return ex.Sum(tuple(map(change, terms)))
        case ex.Scaled(factor, argument):
            return ex.Scaled(factor, change(argument))
        case ex.FloorDiv(argument, divisor) | ex.TruncDiv(argument, divisor) | ex.Rem(argument, divisor):
            return type(expr)(change(argument), divisor)
        case ex.Min(arguments) | ex.Max(arguments):
            return type(expr)(tuple(map(change, arguments)))
        case ex.Select(condition, then, orelse):
            return ex.Select(test(condition), change(then), change(orelse))
        case _:
            assert_never(expr)


def with_expressions(test: ex.Test, change: Callable[[ex.Expr], ex.Expr]) -> ex.Test:
    """`test` with the expressions that it compares changed."""
    match test:
        case ex.Compare(relation, left, right):
            return ex.Compare(relation, change(left), change(right))
        case ex.And(arguments) | ex.Or(arguments):
            return type(test)(tuple(with_expressions(one, change) for one in arguments))
        case ex.Not(argument):
            return replace(test, argument=with_expressions(argument, change))
        case _:
            assert_never(test)


def with_terms(node: Node, change: Callable[[ex.Expr], ex.Expr]) -> Node:
    """`node` with the expressions in it changed, those of the programs inside it too."""
    match node:
        case Call(_, arguments, time):
            times = None if time is None else tuple(map(change, time))
            return replace(node, arguments=tuple(map(change, arguments)), time=times)
        case If(test):
            node = replace(node, test=with_expressions(test, change))
        case For(_, start, test):
            node = replace(node, start=change(start), test=with_expressions(test, change))
        case Let(_, value):
            node = replace(node, value=change(value))
        case Block() | Remarked():
            pass
        case _:
            assert_never(node)
    return with_children(node, lambda child: with_terms(child, change))


def substituted_expr(expr: ex.Expr, values: Mapping[str, ex.Expr]) -> ex.Expr:
    """`expr` with values substituted for names; names without a value stay."""

    def again(one: ex.Expr) -> ex.Expr:
        return substituted_expr(one, values)

    match expr:
        case ex.Var(name):
            return values.get(name, expr)
        case ex.Scaled(factor, argument):
            return scaled(factor, again(argument))
        case _:
            return with_parts(expr, again, lambda test: substituted(test, values))


def substituted(test: ex.Test, values: Mapping[str, ex.Expr]) -> ex.Test:
    """`test` with values substituted for names."""
    return with_expressions(test, lambda expr: substituted_expr(expr, values))


def counted_up(loop: For) -> For:
    """A loop that counts down, rewritten to count up with its iterator declared inside.

    for (i = a; test; i -= s) body   -->   for (i' = -a; test[-i'/i]; i' += s) { int i = -i'; body }
    """
    counted = f"{loop.iterator}'"
    value = Scaled(-1, Var(counted))
    return replace(
        loop,
        iterator=counted,
        start=negated(loop.start),
        test=substituted(loop.test, {loop.iterator: value}),
        step=-loop.step,
        body=Let(loop.iterator, value, loop.body),
    )


def counted_down(node: Node) -> Node:
    """`node` with each loop counting down whose statements use the negative of its iterator."""
    node = with_children(node, counted_down)
    if not isinstance(node, For):
        return node
    match node.test:
        case Compare(Relation.LT | Relation.LE as relation, Var(name), bound) if name == node.iterator:
            if not _is_backwards(node):
                return node
            return replace(
                node,
                start=negated(node.start),
                test=Compare(MIRRORED[relation], Var(name), negated(bound)),
                step=-node.step,
                body=with_terms(node.body, partial(substituted_expr, values={name: Scaled(-1, Var(name))})),
            )
        case _:
            return node


def _is_backwards(loop: For) -> bool:
    """Whether statements inside use the negated iterator, and none the iterator itself."""
    values = {argument for call in calls_of(loop.body) for argument in call.arguments}
    return Scaled(-1, Var(loop.iterator)) in values and Var(loop.iterator) not in values


@dataclass(frozen=True, slots=True)
class Size:
    """How often each construct occurs in the text of a program."""

    loops: int = 0
    ifs: int = 0
    elses: int = 0
    calls: int = 0
    """Copies of statements."""
    min_max: int = 0
    """Minima and maxima of two arguments; one of three counts twice, as it is printed."""
    remainders: int = 0
    floor_divisions: int = 0
    divisions: int = 0
    selects: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Size)))


def size(node: Node) -> Size:
    """The static counts of `node` and everything inside it."""
    total = Size()
    for part in subprograms(node):
        inside = (_own_size(one) for term in terms(part) for one in subterms(term))
        total += sum(inside, _own_size(part))
    return total


def _own_size(part: Node | Term) -> Size:
    match part:
        case Call():
            return Size(calls=1)
        case For():
            return Size(loops=1)
        case If(orelse=orelse):
            return Size(ifs=1, elses=0 if orelse is None else 1)
        case ex.Min(arguments) | ex.Max(arguments):
            return Size(min_max=len(arguments) - 1)
        case ex.Rem():
            return Size(remainders=1)
        case ex.FloorDiv():
            return Size(floor_divisions=1)
        case ex.TruncDiv():
            return Size(divisions=1)
        case ex.Select():
            return Size(selects=1)
        case _:
            return Size()


def operations(term: ex.Expr | ex.Test) -> int:
    """The number of operations in `term`; both branches of a `Select` count."""
    inner = sum(operations(operand) for operand in operands(term))
    match term:
        case ex.Int() | ex.Var():
            return 0
        case ex.Sum(parts) | ex.Min(parts) | ex.Max(parts):
            return inner + max(len(parts) - 1, 0)
        case ex.And(tests) | ex.Or(tests):
            return inner + max(len(tests) - 1, 0)
        case ex.Scaled() | ex.FloorDiv() | ex.TruncDiv() | ex.Rem() | ex.Select() | ex.Compare() | ex.Not():
            return inner + 1
        case _:
            assert_never(term)
