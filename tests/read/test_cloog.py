"""CLooG's input: matrices old and new, isl's notation, names, scattering, dialects."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.errors import BadInput
from loopwright.model.schedule import Band, LoopType, Schedule
from loopwright.read.cloog import parse

TRIANGLE = """\
# language: C
c

# {n | n >= 1}
1 3
1 1 -1
1            # the parameters have names
n

2 # Number of statements

1
# {i, j | 1 <= i <= n; j = i}
3 5
1  1  0  0 -1
1 -1  0  1  0
0  1 -1  0  0
0 0 0

2            # a union
1 4
0  1  0 -7
1 4
0  1 -1  0
0 0 0
1
x y

"""

SCATTERED = (
    TRIANGLE
    + """\
2 # Scattering functions
2 7
# c1 c2  i  j  n  1
0  1  0 -1  0  0  0
0  0  1  0 -1  0 -1
1 5
0  1 -1  0  0
1
c1 c2
2
anything that follows
"""
)


def read(text: str) -> Schedule:
    return parse(text, "t.cloog")


def order(schedule: Schedule) -> isl.UnionMap:
    assert isinstance(schedule.tree, Band)
    return schedule.tree.schedule


def test_domains_and_names() -> None:
    schedule = read(TRIANGLE + "0\n")
    assert schedule.context.is_equal(isl.Set("[n] -> { : n >= 1 }"))
    expected = isl.UnionSet("[n] -> { S1[x, y] : 1 <= x <= n and y = x; S2[x] : x = 7 or x = n }")
    assert schedule.domain.is_equal(expected)
    assert "S1[x, y = x]" in str(schedule.domain)


def test_without_scattering_iterators_order_padded_with_zeros() -> None:
    schedule = read(TRIANGLE + "0\n")
    expected = isl.UnionMap("[n] -> { S1[x, y] -> [x, y]; S2[x] -> [x, 0] }")
    assert order(schedule).is_equal(expected.intersect_domain(schedule.domain))


def test_the_last_part_may_be_left_out() -> None:
    assert order(read(TRIANGLE)).is_equal(order(read(TRIANGLE + "0\n")))


def test_scattering_is_padded_and_what_follows_is_not_read() -> None:
    schedule = read(SCATTERED)
    expected = isl.UnionMap("[n] -> { S1[x, y] -> [x, y + 1]; S2[x] -> [x, 0] }")
    assert order(schedule).is_equal(expected.intersect_domain(schedule.domain))


def test_how_loops_are_made_is_left_to_the_generator() -> None:
    tree = read(SCATTERED).tree
    assert isinstance(tree, Band)
    assert {member.loop_type for member in tree.members} == {LoopType.DEFAULT}


def test_relations_with_local_dimensions() -> None:
    text = """\
f
1
0 4 0 0 0 2
0
1
1
# rows columns out in local parameters: i = 2 e
3 6 1 0 1 2
0 1 -2 0 0 0
1 1 0 0 0 0
1 -1 0 1 0 0
0 0 0
0
1
# c = -i
1 6 1 1 0 2
0 1 1 0 0 0
0
"""
    schedule = read(text)
    assert schedule.domain.is_equal(isl.UnionSet("[M, N] -> { S1[i] : i mod 2 = 0 and 0 <= i <= M }"))
    assert order(schedule).is_equal(isl.UnionMap("[M, N] -> { S1[i] -> [-i] : i mod 2 = 0 and 0 <= i <= M }"))


def test_isl_notation_names_parameters_by_name_or_by_position() -> None:
    text = (
        "c [p, q] -> { : p > 0 }\n1\na b\n2\n"
        "[q] -> { [i] :\n 0 <= i < q }\n0 0 0\n[z] -> { [i] : 0 <= i < z }\n0 0 0\n0\n0\n"
    )
    schedule = read(text)
    assert schedule.context.is_equal(isl.Set("[a, b] -> { : a > 0 }"))
    expected = isl.UnionSet("[a, b] -> { S1[i] : 0 <= i < b; S2[i] : 0 <= i < a }")
    assert schedule.domain.is_equal(expected)


def test_isl_notation_of_a_scattering() -> None:
    text = (
        "c\n[n] -> { : }\n1\nn\n1\n[n] -> { [i] : 0 <= i < n }\n0 0 0\n0\n1\n[n] -> { [i] -> [0, -i] }\n0\n"
    )
    assert order(read(text)).is_equal(isl.UnionMap("[n] -> { S1[i] -> [0, -i] : 0 <= i < n }"))


def test_signals_of_an_old_dialect_are_read_past() -> None:
    domain = "1\n1 3\n1 1 0\n"
    signals = f"1\n{domain}1\n{domain}1\n0 0\n"
    schedule = read(f"c\n0 2\n0\n1\n{domain}{signals}0\n0\n")
    assert schedule.domain.is_equal(isl.UnionSet("{ S1[i] : i >= 0 }"))


def test_no_iterators_no_band() -> None:
    schedule = read("c\n0 2\n0\n1\n1\n0 2\n0 0 0\n0\n0\n")
    assert schedule.domain.is_equal(isl.UnionSet("{ S1[] }"))
    assert not isinstance(schedule.tree, Band)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("pascal\n", 1, 1, "'pascal' is not a language"),
        ("c\n", 1, 2, "the file ends where the context should be"),
        ("c\n1 3\n1 1\n", 3, 3, "a row of 2 numbers in a matrix of 3 columns"),
        ("c\n1 3\n1 x 0\n", 3, 3, "'x' where a coefficient of the context should be"),
        ("c\n1 3\n2 1 0\n", 3, 1, "2 is not a kind of constraint"),
        ("c\n1 3 4\n", 2, 1, "the head of the context has 3 numbers"),
        ("c\n0 1\n", 2, 3, "the context cannot have 1 columns"),
        ("c\n-1 3\n", 2, 1, "the size of the context cannot be negative"),
        ("c\n0 4\n1\nn n\n", 4, 3, "the name n is defined twice"),
        ("c\n0 3\n1\n3n\n", 4, 1, "'3n' is not a name"),
        ("c\n[n] -> { : n > }\n0\n", 2, 16, "the context cannot be read: unexpected '}'"),
        ("c\n[n] -> { : n > 0\n0\n", 3, 2, "the file ends where the brace that closes the context should be"),
        ("c\n0 3\n0\n1\n1\n1 2\n1 1\n", 6, 1, "a matrix of 2 columns does not fit 1 parameters"),
        ("c\n0 3\n0\n1\n2\n0 4\n0 5\n", 7, 1, "parts of 1 and of 2 dimensions in one union"),
        ("c\n0 3\n0\n1\n1\n0 4\n0 4\n", 7, 1, "statement 1 should end here with the line 0 0 0"),
        ("c\n0 3\n0\n1\n1\n0 4\n0 0 0\n1\nM\n", 9, 1, "the name M is defined twice"),
        ("c\n0 3\n0\n1\n1\n0 4\n0 0 0\n0\n2\n", 9, 1, "2 scattering functions for 1 statements"),
        (
            "c\n0 3\n0\n1\n1\n0 4\n0 0 0\n0\n1\n0 3\n", 10, 1,
            "a matrix of 3 columns does not fit 1 parameters and 1 iterators",
        ),
        ("c\n0 3\n0\n99999999999\n", 4, 12, "the file ends where the domain of statement 1 should be"),
    ],
)  # fmt: skip
def test_refusals_have_their_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(BadInput) as raised:
        read(text)
    span = raised.value.span
    assert raised.value.message == message
    assert span is not None
    assert (span.file, span.line, span.column) == ("t.cloog", line, column)
