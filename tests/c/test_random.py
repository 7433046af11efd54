"""Law: whatever loops and conditions, the model runs the instances that C runs, in C's order.

Programs are generated as trees, printed as C for the reader, and run here by the meaning of C.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import islpy as isl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.c.support import instances, region
from tests.conftest import examples

Environment = dict[str, int]


@dataclass(frozen=True)
class Expression:
    """C text and its value."""

    text: str
    value: Callable[[Environment], int]


@dataclass(frozen=True)
class Tree:
    """A piece of program: its text, and the instances it runs (statement number, iterators)."""

    text: str
    run: Callable[[Environment, tuple[str, ...]], Iterator[tuple[int, tuple[int, ...]]]]
    statements: int


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a >= 0) == (b >= 0) else -1)


def remainder(a: int, b: int) -> int:
    return a - b * truncated(a, b)


def binary(sign: str, work: Callable[[int, int], int], a: Expression, b: Expression) -> Expression:
    return Expression(f"({a.text} {sign} {b.text})", lambda env: work(a.value(env), b.value(env)))


def choice(test: Expression, a: Expression, b: Expression) -> Expression:
    return Expression(
        f"({test.text} ? {a.text} : {b.text})", lambda env: a.value(env) if test.value(env) else b.value(env)
    )


def constant(value: int) -> Expression:
    return Expression(f"({value})" if value < 0 else str(value), lambda env: value)


def name(word: str) -> Expression:
    return Expression(word, lambda env: env[word])


@cache
def expressions(scope: tuple[str, ...], depth: int) -> st.SearchStrategy[Expression]:
    atoms = st.one_of(st.integers(-4, 6).map(constant), st.sampled_from(("n", "m", *scope)).map(name))
    if depth == 0:
        return atoms
    inner = expressions(scope, depth - 1)
    divisors = st.sampled_from((2, 3, 4, -2)).map(constant)
    return st.one_of(
        atoms,
        st.builds(lambda a, b: binary("+", operator.add, a, b), inner, inner),
        st.builds(lambda a, b: binary("-", operator.sub, a, b), inner, inner),
        st.builds(lambda a, b: binary("*", operator.mul, a, b), st.integers(-2, 3).map(constant), inner),
        st.builds(lambda a, b: binary("/", truncated, a, b), inner, divisors),
        st.builds(lambda a, b: binary("%", remainder, a, b), inner, divisors),
        st.builds(_extremum, st.sampled_from((("min", min), ("max", max))), inner, inner),
        st.builds(choice, conditions(scope, 0), inner, inner),
    )


def _extremum(kind: tuple[str, Callable[[int, int], int]], a: Expression, b: Expression) -> Expression:
    word, work = kind
    return Expression(f"{word}({a.text}, {b.text})", lambda env: work(a.value(env), b.value(env)))


COMPARISONS: tuple[tuple[str, Callable[[int, int], bool]], ...] = (
    ("<", operator.lt),
    ("<=", operator.le),
    (">", operator.gt),
    (">=", operator.ge),
    ("==", operator.eq),
    ("!=", operator.ne),
)


@cache
def conditions(scope: tuple[str, ...], depth: int) -> st.SearchStrategy[Expression]:
    inner = expressions(scope, depth)
    compare = st.builds(
        lambda sign, a, b: binary(sign[0], lambda x, y: int(sign[1](x, y)), a, b),
        st.sampled_from(COMPARISONS),
        inner,
        inner,
    )
    return st.one_of(
        compare,
        st.builds(lambda a, b: binary("&&", lambda x, y: int(bool(x) and bool(y)), a, b), compare, compare),
        st.builds(lambda a, b: binary("||", lambda x, y: int(bool(x) or bool(y)), a, b), compare, compare),
        st.builds(lambda a: Expression(f"!{a.text}", lambda env: int(not a.value(env))), compare),
    )


@cache
def trees(scope: tuple[str, ...], depth: int) -> st.SearchStrategy[Tree]:
    statement = st.just(Tree("w = 0;", lambda env, around: iter([(0, tuple(env[i] for i in around))]), 1))
    if depth == 0:
        return statement
    iterator = f"i{len(scope)}"
    return st.one_of(
        statement,
        st.lists(trees(scope, depth - 1), min_size=2, max_size=3).map(_block),
        st.builds(_if, conditions(scope, 1), trees(scope, depth - 1), st.none() | trees(scope, depth - 1)),
        st.builds(
            _loop,
            st.just(iterator),
            expressions(scope, 1),
            st.sampled_from((1, 1, 2, 3, -1, -2)),
            st.booleans(),
            expressions(scope, 1),
            st.none() | conditions((*scope, iterator), 1),
            st.none() | conditions((*scope, iterator), 0),
            trees((*scope, iterator), depth - 1),
        ),
    )


def _block(parts: list[Tree]) -> Tree:
    def run(env: Environment, around: tuple[str, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
        first = 0
        for part in parts:
            for number, point in part.run(env, around):
                yield first + number, point
            first += part.statements

    return Tree(f"{{ {' '.join(p.text for p in parts)} }}", run, sum(p.statements for p in parts))


def _if(test: Expression, then: Tree, orelse: Tree | None) -> Tree:
    def run(env: Environment, around: tuple[str, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
        if test.value(env):
            yield from then.run(env, around)
        elif orelse is not None:
            for number, point in orelse.run(env, around):
                yield then.statements + number, point

    tail = "" if orelse is None else f" else {{ {orelse.text} }}"
    count = then.statements + (0 if orelse is None else orelse.statements)
    return Tree(f"if ({test.text}) {{ {then.text} }}{tail}", run, count)


def _loop(
    iterator: str,
    start: Expression,
    step: int,
    strict: bool,
    end: Expression,
    also: Expression | None,
    skip: Expression | None,
    body: Tree,
) -> Tree:
    """A loop that ends at `end`, or before it where the test `also` fails first; `skip` leaves out steps."""

    def run(env: Environment, around: tuple[str, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
        value = start.value(env)
        last = end.value(env)
        while (value < last if step > 0 else value > last) or (not strict and value == last):
            inside = {**env, iterator: value}
            if also is not None and not also.value(inside):
                return
            if skip is None or not skip.value(inside):
                yield from body.run(inside, (*around, iterator))
            value += step

    sign = ("<" if step > 0 else ">") + ("" if strict else "=")
    more = "" if also is None else f" && {also.text}"
    head = f"int {iterator} = {start.text}; {iterator} {sign} {end.text}{more}; {iterator} += {step}"
    text = body.text if skip is None else f"{{ if ({skip.text}) continue; {body.text} }}"
    return Tree(f"for ({head}) {text}", run, body.statements)


@settings(max_examples=examples(100))
@given(trees((), 4), st.integers(-3, 5), st.integers(-3, 5))
def test_the_model_runs_what_c_runs(tree: Tree, n: int, m: int) -> None:
    program = region(tree.text)
    expected = list(tree.run({"n": n, "m": m}, ()))
    found = instances(program, {"n": n, "m": m})
    assert [(int(name.lstrip("S")) - 1, point) for name, point in found] == expected


@settings(max_examples=examples(100))
@given(expressions(("i",), 3), st.integers(-6, 6), st.integers(-3, 5), st.integers(-3, 5))
def test_subscripts_are_what_c_computes(subscript: Expression, i: int, n: int, m: int) -> None:
    program = region(f"for (i = -6; i <= 6; i++) a[{subscript.text}] = 0;")
    (access,) = program.statements[0].writes
    assert access.must
    relation = access.relation
    for name, value in (("n", n), ("m", m)):
        position = relation.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            relation = relation.fix_val(isl.dim_type.param, position, isl.Val(value))
    cells = relation.fix_val(isl.dim_type.in_, 0, isl.Val(i)).range()
    point = cells.sample_point()
    value = subscript.value({"i": i, "n": n, "m": m})
    assert cells.is_singleton()
    assert int(point.get_coordinate_val(isl.dim_type.set, 0).to_python()) == value
