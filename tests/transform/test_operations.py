"""Operations are values: what is written of one is read as the same one.

parse_script(str(step)) = (step,)
"""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.errors import BadInput
from loopwright.read.formula import (
    Addition,
    Chain,
    Complement,
    Exists,
    Formula,
    FunctionCall,
    Junction,
    Multiplicative,
    Negative,
    Numeral,
    Selection,
    Symbol,
    Truth,
    written,
)
from loopwright.read.formula_grammar import COMPARISONS, WORDS
from loopwright.transform.script.arguments import (
    ArgumentKind,
    BracesKind,
    FlagKind,
    HandleKind,
    HandlesKind,
    LoopKind,
    LoopsKind,
    NumberKind,
    VariableKind,
)
from loopwright.transform.script.formulas import AffineMap, AffineSet
from loopwright.transform.script.loop_numbers import LoopNumber, LoopNumbersKind
from loopwright.transform.script.nest_operations import BaseOperation
from loopwright.transform.script.operations import CLASSES, Isplit, Operation
from loopwright.transform.script.steps import NAMES, SYNONYMS, Step, parse_script, script_text
from loopwright.transform.script.syntax import LONGEST
from tests.conftest import examples

names = st.sampled_from(["i", "j", "kT", "L_1", "skew", "full", "legal", "tile", "floor", "exists", "n"])
handles = names | st.integers(0, 999).map("@{}".format)
whole = st.integers(-(10**LONGEST) + 1, 10**LONGEST - 1)
variables = st.sampled_from(["i", "j", "a1", "n"]).map(Symbol)


def numbers(formulas: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    return st.one_of(
        st.builds(Negative, formulas),
        st.builds(Addition, st.lists(formulas, min_size=2, max_size=4).map(tuple)),
        st.builds(Multiplicative, st.sampled_from("*/%"), formulas, formulas),
        st.builds(FunctionCall, st.sampled_from(["floor", "ceil"]), st.tuples(formulas)),
        st.builds(FunctionCall, st.sampled_from(["floord", "ceild"]), st.tuples(formulas, formulas)),
        st.builds(FunctionCall, st.sampled_from(["min", "max"]), st.tuples(formulas, formulas, formulas)),
        st.builds(Selection, conditions(formulas), formulas, formulas),
    )  # fmt: skip


def conditions(values: st.SearchStrategy[Formula], *, lists: int = 1) -> st.SearchStrategy[Formula]:
    """`lists` is how many values may be compared at once: more than one only outside of other values."""
    operator = st.sampled_from([one for one in COMPARISONS if one != "=="])
    side = st.lists(values, min_size=1, max_size=lists).map(tuple)
    chain = st.integers(1, 2).flatmap(
        lambda count: st.builds(
            Chain, st.tuples(*[side] * (count + 1)), st.tuples(*[operator] * count)
        )
    )  # fmt: skip
    bound = st.lists(variables, min_size=1, max_size=2, unique=True).map(tuple)
    return st.recursive(
        chain | st.booleans().map(Truth),
        lambda inner: st.one_of(
            st.builds(Junction, st.booleans(), st.lists(inner, min_size=2, max_size=3).map(tuple)),
            st.builds(Complement, inner),
            st.builds(Exists, bound, inner),
        ),
        max_leaves=4,
    )


expressions = st.recursive(variables | st.integers(0, 10**9).map(Numeral), numbers, max_leaves=6)
vectors = st.lists(expressions, max_size=3).map(tuple)
sets = st.builds(AffineSet, vectors, conditions(expressions, lists=2))
maps = st.builds(AffineMap, vectors, vectors, st.none() | conditions(expressions, lists=2))


def several(values: st.SearchStrategy[str], least: int = 1) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(values, min_size=least, max_size=3).map(tuple)


def at_least(minimum: int | None) -> st.SearchStrategy[int]:
    return whole if minimum is None else st.integers(minimum, 10**LONGEST - 1)


def of_kind(kind: ArgumentKind[object]) -> st.SearchStrategy[object]:
    """Values of an argument, as they can be given from Python."""
    match kind:
        case HandleKind():
            return handles
        case HandlesKind(fewest=fewest):
            return several(handles, fewest)
        case LoopKind() | VariableKind():
            return names
        case LoopsKind():
            return several(names)
        case NumberKind(minimum=minimum):
            return at_least(minimum)
        case LoopNumbersKind(minimum=minimum, named=named):
            alone = st.builds(LoopNumber, at_least(minimum))
            paired = st.builds(LoopNumber, at_least(minimum), names)
            choices = [paired] if named else [paired, alone]
            return st.one_of(*(st.lists(one, min_size=1, max_size=3).map(tuple) for one in choices))
        case FlagKind():
            return st.booleans()
        case BracesKind(type=wanted):
            return maps if wanted is AffineMap else sets
        case _:
            raise AssertionError(f"no values are known for {kind}")


def of_class(operation: type[Operation]) -> st.SearchStrategy[Operation]:
    fields = {}
    for one in operation.parameters():
        values = of_kind(one.kind)
        fields[one.name] = st.just(one.default) | values if one.is_optional else values
    return st.builds(operation, **fields)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    operation = draw(st.sampled_from(CLASSES).flatmap(of_class))
    name = st.sampled_from(["A", "B_", "tile"])
    return Step(operation, tuple(draw(name) for _ in range(operation.gives)) if draw(st.booleans()) else ())


@pytest.mark.parametrize("operation", CLASSES, ids=lambda one: one.__name__)
def test_every_operation_is_read_as_it_is_written(operation: type[Operation]) -> None:
    @given(of_class(operation))
    @settings(max_examples=examples(60), deadline=None)
    def law(value: Operation) -> None:
        (step,) = parse_script(str(value))
        assert step.operation == value and hash(step.operation) == hash(value)
        assert str(step.operation) == str(value)

    law()


@given(st.lists(steps(), max_size=4).map(tuple))
@settings(max_examples=examples(100), deadline=None)
def test_scripts_are_read_as_they_are_written(script: tuple[Step, ...]) -> None:
    assert parse_script(script_text(script)) == script


@given(conditions(expressions, lists=2))
@settings(max_examples=examples(200), deadline=None)
def test_formulas_are_read_as_they_are_written(condition: Formula) -> None:
    (step,) = parse_script(f"isplit(L, {{[] : {written(condition)}}}, 0)")
    assert step.operation == Isplit("L", AffineSet((), condition), 0)


def test_the_laws_are_about_every_operation_and_every_formula() -> None:
    subclasses: list[type[BaseOperation]] = BaseOperation.__subclasses__()
    assert set(CLASSES) == set(subclasses)
    assert {one.name for one in CLASSES} == set(NAMES) and set(SYNONYMS.values()) <= set(NAMES)
    drawn: set[type[object]] = set()

    @given(conditions(expressions, lists=2))
    @settings(max_examples=examples(200), deadline=None)
    def draw(condition: Formula) -> None:
        collect(condition)

    def collect(value: object) -> None:
        if isinstance(value, tuple):
            for one in value:
                collect(one)
        elif isinstance(value, get_args(Formula)):
            drawn.add(type(value))
            for one in vars(value).values():
                collect(one)

    draw()
    assert drawn == set(get_args(Formula))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("tile( Mult , [i,j],32 )", "tile(Mult, i=32, j=32)"),
        ("interchange(L, k, i, j)", "interchange(L, [k, i, j])"),
        ("(A,B)=isplit(L,{[i,0]:i<n && !(i==3)},1)", "(A, B) = isplit(L, {[i, 0] : i < n and not i = 3}, 1)"),
        ("affine(L,{[i]->[floor(i/4),i mod 4]})", "affine(L, {[i] -> [[i / 4], i % 4]})"),
        ("affine(L,{[i,j]->[2i-(j-1)*3,-(i+j)]})", "affine(L, {[i, j] -> [2 * i - (j - 1) * 3, -(i + j)]})"),
        ("X = fuse([A, B], 2)", "X = fuse(A, B, 2)"),
        ("distribute(A, B, 0)", "distribute(A, B)"),
        ("skew(L, i, t, 1)", "skew(L, i, t)"),
        ("unroll(L, i=4)", "unroll(L, i, 4)"),
        ("tile(L, 4, full, skew)", "tile(L, 4, skew, full)"),
        ("parallel(L, [i, j])", "parallel(L, i, j)"),
    ],
)  # fmt: skip
def test_how_operations_are_written(line: str, shown: str) -> None:
    (step,) = parse_script(line)
    assert str(step) == shown


WORDS_OF_LINES = (
    ["L", "i", "@3", "legal", "skew", "4", "0", "-1"],
    ["[i]", "[i, j]", "[]", "[4, 8]", "[[i]]", "i=4", "j=[4]", "k=i"],
    ["{[i] -> [j, i]}", "{[i] : i < 3}", "i={[i] : true}", "[i, {[j] : j < 3}]"],
)
values = st.sampled_from([word for words in WORDS_OF_LINES for word in words])


@given(st.sampled_from(sorted(NAMES)), st.lists(values, max_size=5))
@settings(max_examples=examples(600), deadline=None)
def test_any_arguments_give_a_step_or_an_error_with_its_place(name: str, arguments: list[str]) -> None:
    line = f"{name}({', '.join(arguments)})"
    try:
        (step,) = parse_script(line)
    except BadInput as error:
        assert error.span is not None and error.span.text in line
    else:
        assert parse_script(str(step)) == (step,)


def test_names_that_are_words_elsewhere() -> None:
    assert "exists" in WORDS
    (step,) = parse_script("tile(floor, skew=4, full=8, skew)")
    assert str(step) == "tile(floor, skew=4, full=8, skew)"
