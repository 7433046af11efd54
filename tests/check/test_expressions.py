"""Expressions of expected codes have the values of the functions they stand for."""

from __future__ import annotations

import re

import islpy as isl
import pytest

from loopwright.check.algorithms.codes import codes, guesses, own_code, previous_code, source_code
from loopwright.check.algorithms.scheme import Group
from loopwright.check.original.c_text import test as condition_text
from loopwright.check.original.c_text import value
from loopwright.check.original.solving import solve
from loopwright.check.original.specification import Specification
from loopwright.check.original.writers import subscripts, writers
from loopwright.check.program.segment import parse_input
from loopwright.check.verify import prepared
from loopwright.source import Source
from tests.check.support import kernel, quick, small


def _points(domain: isl.Set) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    count = domain.dim(isl.dim_type.set)

    def add(point: isl.Point) -> None:
        values = (point.get_coordinate_val(isl.dim_type.set, k) for k in range(count))
        found.append(tuple(one.to_python() for one in values))

    domain.foreach_point(add)
    return found


def _evaluated(text: str, names: list[str], point: tuple[int, ...]) -> int:
    """C without division or branches, by Python: `!` is the one operator they do not share."""
    assert not re.search(r"[/%?]|&&|\|\|", text), text
    python = re.sub(r"!(?=\()", "1 ^ ", text)
    return int(eval(python, {}, dict(zip(names, point, strict=True))))


def _value(function: isl.PwAff, point: tuple[int, ...]) -> int:
    at = isl.Point.zero(function.domain().get_space())
    for k, number in enumerate(point):
        at = at.set_coordinate_val(isl.dim_type.set, k, isl.Val(number))
    result: int = function.eval(at).to_python()
    return result


def _spec(name: str) -> Specification:
    given = parse_input(Source("p.c", kernel(name).read_text()), kernel(name))
    return prepared(given, quick(small(name))).spec


@pytest.mark.parametrize("name", ["jacobi-2d", "floyd-warshall", "lu", "trisolv", "gemver", "covariance"])
def test_codes_as_text(name: str) -> None:
    spec = _spec(name)
    found, chosen = writers(spec), codes(spec)
    for group in chosen.groups:
        names = [f"x{k}" for k in range(group.depth)]
        functions = [previous_code(spec, found, chosen, group), own_code(chosen, group)]
        functions += [source_code(spec, found, chosen, group, k) for k in range(len(group.first.reads))]
        for function in functions:
            text = value(function, names, group.domain, branches=False)
            for point in _points(group.domain):
                assert _evaluated(text, names, point) == _value(function, point), text
        _domain_is_its_test(group, names)


def _domain_is_its_test(group: Group, names: list[str]) -> None:
    everything = isl.Set.universe(group.domain.get_space())
    text = condition_text(group.domain, names, everything, branches=False)
    inside = set(_points(group.domain))
    around = isl.Set.universe(group.domain.get_space())
    for k in range(group.depth):
        around = around.lower_bound_val(isl.dim_type.set, k, isl.Val(-1))
        around = around.upper_bound_val(isl.dim_type.set, k, isl.Val(9))
    for point in _points(around):
        assert bool(_evaluated(text, names, point)) == (point in inside)


def test_open_iterators_come_from_the_code() -> None:
    """Seidel's subscripts do not show t; the code in the shadow is t itself."""
    name = "seidel-2d"
    spec = _spec(name)
    found, chosen = writers(spec), codes(spec)
    (group,) = chosen.groups
    solution = solve(subscripts(group.first), group.depth)
    assert solution.free == (0,)
    (guess,) = guesses(spec, found, chosen, group, solution.free)
    assert value(guess, ["s", "o0", "o1"], guess.domain()) == "s"
