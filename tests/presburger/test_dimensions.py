"""Tuples and parameters by what is wanted of them: each operation against its definition, point by point."""

from __future__ import annotations

from itertools import product

import islpy as isl
from hypothesis import given
from hypothesis import strategies as st

from loopwright.presburger.dimensions import (
    all_points,
    at,
    beyond,
    equal_in,
    first,
    only,
    padded,
    selection,
    split,
    within,
)
from loopwright.presburger.named import (
    at_parameters,
    fixed_parameters,
    names_of,
    onwards,
    parameter_names,
    parameter_values,
    rename_parameters,
    without_parameters,
)
from loopwright.presburger.sets import DIM, IN, OUT

SIZE = 3
points = st.frozensets(st.tuples(*[st.integers(-2, 2)] * SIZE), min_size=1, max_size=6)
places = st.integers(0, SIZE - 1)


def a_set(vectors: frozenset[tuple[int, ...]]) -> isl.Set:
    return isl.Set("{ " + "; ".join(str(list(one)) for one in sorted(vectors)) + " }")


def a_map(pairs: frozenset[tuple[tuple[int, ...], tuple[int, ...]]]) -> isl.Map:
    return isl.Map("{ " + "; ".join(f"{list(x)} -> {list(y)}" for x, y in sorted(pairs)) + " }")


def pairs_of(relation: isl.Map) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    count = relation.dim(IN)
    return {(one[:count], one[count:]) for one in all_points(relation.wrap().flatten())}


@given(points, places)
def test_one_dimension_and_the_first_ones(vectors: frozenset[tuple[int, ...]], k: int) -> None:
    assert set(all_points(only(a_set(vectors), DIM, k))) == {(one[k],) for one in vectors}
    assert set(all_points(first(a_set(vectors), DIM, k))) == {one[:k] for one in vectors}
    assert set(all_points(beyond(a_set(vectors), DIM, k))) == {one[k:] for one in vectors}


@given(points, st.lists(st.integers(-2, 2), max_size=SIZE))
def test_at_given_values(vectors: frozenset[tuple[int, ...]], values: list[int]) -> None:
    wanted = {one for one in vectors if one[: len(values)] == tuple(values)}
    assert set(all_points(at(a_set(vectors), DIM, values))) == wanted


@given(points, st.lists(st.tuples(st.integers(-2, 0), st.integers(-1, 2)), max_size=SIZE))
def test_within_a_box(vectors: frozenset[tuple[int, ...]], box: list[tuple[int, int]]) -> None:
    wanted = {
        one for one in vectors if all(low <= x <= high for x, (low, high) in zip(one, box, strict=False))
    }
    assert set(all_points(within(a_set(vectors), box))) == wanted


@given(points, st.integers(0, SIZE))
def test_split(vectors: frozenset[tuple[int, ...]], count: int) -> None:
    assert pairs_of(split(a_set(vectors), count)) == {(one[:count], one[count:]) for one in vectors}


@given(points, points, st.sets(places))
def test_equal_in_some_dimensions(
    left: frozenset[tuple[int, ...]], right: frozenset[tuple[int, ...]], dimensions: set[int]
) -> None:
    both = frozenset(product(left, right))
    wanted = {(x, y) for x, y in both if all(x[k] == y[k] for k in dimensions)}
    assert pairs_of(equal_in(a_map(both), dimensions)) == wanted


@given(points, st.lists(places, max_size=4))
def test_selection(vectors: frozenset[tuple[int, ...]], columns: list[int]) -> None:
    domain = a_set(vectors)
    chosen = domain.apply(selection(domain.get_space(), columns))
    assert set(all_points(chosen)) == {tuple(one[k] for k in columns) for one in vectors}


@given(points, st.integers(SIZE, SIZE + 2))
def test_padded(vectors: frozenset[tuple[int, ...]], length: int) -> None:
    relation = padded(a_map(frozenset((one, one) for one in vectors)), length)
    assert relation.dim(OUT) == length
    assert pairs_of(relation) == {(one, one + (0,) * (length - SIZE)) for one in vectors}


def test_a_value_of_any_size() -> None:
    large = 2**80
    assert at(isl.Set("{ [i] }"), DIM, [large]).is_equal(isl.Set(f"{{ [{large}] }}"))


TRIANGLE = isl.Set("[n, m, k] -> { [i, j] : 0 <= i < n and 0 <= j < m and k = 4 }")


def test_parameters_by_name() -> None:
    assert parameter_names(TRIANGLE) == ("n", "m", "k")
    assert names_of(isl.Set("[n, m] -> { [i] : i < m }")) == ["m"]
    assert fixed_parameters(TRIANGLE) == {"k": 4}


def test_parameters_at_values_and_without_them() -> None:
    fixed = at_parameters(TRIANGLE, {"m": 1, "n": 2, "absent": 7})
    assert parameter_names(fixed) == ("n", "m", "k")
    assert set(all_points(without_parameters(fixed))) == {(0, 0), (1, 0)}
    assert parameter_names(without_parameters(TRIANGLE, ["m", "absent"])) == ("n", "k")


def test_renamed_parameters() -> None:
    assert parameter_names(rename_parameters(TRIANGLE, {"m": "M", "absent": "A"})) == ("n", "M", "k")


def test_the_values_of_parameters_at_a_point() -> None:
    values = parameter_values(isl.Set("[n, m] -> { [i] : i = 0 and n = 3 and m = -2 }").sample_point())
    assert values == {"n": 3, "m": -2}


def test_onwards() -> None:
    values = isl.Set("[n, i] -> { : i = 2 n and n >= 0 }")
    assert onwards(values, "i", up=True).is_equal(isl.Set("[n, i] -> { : i >= 2 n and n >= 0 }"))
    assert onwards(values, "i", up=False).is_equal(isl.Set("[n, i] -> { : i <= 2 n and n >= 0 }"))
