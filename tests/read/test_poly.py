"""`.poly`: the design's example, the constraint language, and every refusal with its place."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.errors import BadInput
from loopwright.model.schedule import Band, LoopType, Schedule
from loopwright.read.poly import parse

DESIGN = """\
param n, m
context n >= 1 and m >= 1

statement S1(i, j)
  domain    1 <= i <= n and j = i
  schedule  i, j
  argument  i, j          # the transformation function; default: the iterators
"""


def read(text: str) -> Schedule:
    return parse(text, "t.poly")


def band(schedule: Schedule) -> Band:
    assert isinstance(schedule.tree, Band)
    return schedule.tree


def statement(domain: str, schedule: str = "i, j", more: str = "") -> Schedule:
    return read(f"param n\nstatement S(i, j)\n domain {domain}\n schedule {schedule}\n{more}")


def test_the_example_of_the_design() -> None:
    schedule = read(DESIGN)
    assert schedule.context.is_equal(isl.Set("[n, m] -> { : n >= 1 and m >= 1 }"))
    assert schedule.domain.is_equal(isl.UnionSet("[n, m] -> { S1[i, j] : 1 <= i <= n and j = i }"))
    expected = isl.UnionMap("[n, m] -> { S1[i, j] -> [i, j] : 1 <= i <= n and j = i }")
    assert band(schedule).schedule.is_equal(expected)
    assert schedule.arguments["S1"].is_equal(isl.Map("[n, m] -> { S1[i, j] -> [i, j] }"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0 <= i < n and 0 <= j <= i", "0 <= i < n and 0 <= j <= i"),
        ("0 <= i, j < n", "0 <= i < n and 0 <= j < n"),
        ("i = j or not (i < n && j != 3)", "i = j or i >= n or j = 3"),
        ("!(i >= 2) || false", "i < 2"),
        ("i % 3 = 1 and j mod 2 = 0", "i mod 3 = 1 and j mod 2 = 0"),
        ("j = i / 2", "j = floor(i / 2)"),
        ("j = [i / 32]", "j = floor(i / 32)"),
        ("j = floor((i + 1) / 2)", "j = floor((i + 1) / 2)"),
        ("j = ceil(i / 3)", "j = floor((i + 2) / 3)"),
        ("j = floord(i, 3) or j = ceild(-i, 2)", "j = floor(i / 3) or j = floor((-i + 1) / 2)"),
        ("j = floor(i / 2 + 1 / 2)", "j = floor((i + 1) / 2)"),
        ("exists k: i = 2k and k > j", "exists (k : i = 2k and k > j)"),
        (
            "exists (a, b = [i/2]: 2b = i and a > b and a < j)",
            "exists (a : i mod 2 = 0 and i < 2a and a < j)",
        ),
        ("2i + 3(j - 1) <= -n", "2i + 3j - 3 <= -n"),
        (
            "i <= min(n, j, 7) and i >= max(j - 3, 0)",
            "i <= n and i <= j and i <= 7 and i >= j - 3 and i >= 0",
        ),
        ("i = (j > 0 ? j : -j)", "(j > 0 and i = j) or (j <= 0 and i = -j)"),
        ("i - -j - (n - 1) == 0", "i + j = n - 1"),
        ("true", "true"),
    ],
)
def test_conditions_mean_what_isl_means(written: str, meant: str) -> None:
    expected = isl.UnionSet(f"[n] -> {{ S[i, j] : {meant} }}")
    assert statement(written).domain.is_equal(expected)


def test_several_domains_are_a_union_and_clauses_span_lines() -> None:
    text = "param n\nstatement S(i)\n domain 0 <= i\n   and i < n # so far\n domain i = -7\n schedule i\n"
    assert read(text).domain.is_equal(isl.UnionSet("[n] -> { S[i] : 0 <= i < n or i = -7 }"))


def test_shorter_schedules_are_padded_with_zeros() -> None:
    first = "statement A(i)\n domain i = 0\n schedule i, 1\n"
    text = first + "statement B\n schedule 3\nstatement C()\n schedule\n"
    expected = isl.UnionMap("{ A[0] -> [0, 1]; B[] -> [3, 0]; C[] -> [0, 0] }")
    assert band(read(text)).schedule.is_equal(expected)


def test_schedules_may_be_piecewise() -> None:
    expected = isl.UnionMap("[n] -> { S[i, j] -> [floor(i / 2)] : i > 2; S[i, j] -> [i mod 4] : i <= 2 }")
    assert band(statement("true", "i > 2 ? i / 2 : i % 4")).schedule.is_equal(expected)


def test_arguments_are_the_transformation_function() -> None:
    schedule = statement("0 <= i < 4 and j = 0", "i, j", " argument i + n, 2, j\n")
    assert schedule.arguments["S"].is_equal(isl.Map("[n] -> { S[i, j] -> [i + n, 2, j] }"))


def test_options_and_isolation() -> None:
    more = "option separate 0\noption unroll 1 : t0 >= n\nisolate t0 > 3\nisolate t1 = 0\n"
    found = band(statement("0 <= i < n and j = 0", "i, j", more))
    assert [member.loop_type for member in found.members] == [LoopType.SEPARATE, LoopType.DEFAULT]
    assert found.options is not None
    assert found.options.is_equal(isl.UnionMap("[n] -> { [t0, t1] -> unroll[1] : t0 >= n }"))
    assert found.isolate is not None
    assert found.isolate.is_equal(isl.Map("[n] -> { [] -> [t0, t1] : t0 > 3 or t1 = 0 }"))


HEAD = "param n\nstatement S(i)\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (HEAD + "  domain 0 <= i < m\n  schedule i\n", 3, 19, "unknown name m"),
        (HEAD + "  domain 0 <= i < n\n", 2, 1, "statement S has no schedule"),
        (HEAD + "  schedule i\n", 2, 1, "statement S has no domain"),
        (HEAD + "  domain 0 <= i <\n  schedule i\n", 3, 18, "the end where a name or a number should be"),
        (HEAD + "  domain i and i > 0\n  schedule i\n", 3, 10, "a number where a condition should be"),
        (HEAD + "  domain i = 0\n  schedule i > 0\n", 4, 12, "a condition where a number should be"),
        (HEAD + "  domain i = 0\n  schedule i * n\n", 4, 14, "a product of two variables is not affine"),
        (
            HEAD + "  domain i % n = 0\n  schedule i\n",
            3,
            12,
            "a division by anything but a positive constant",
        ),
        (
            HEAD + "  domain i / 0 = 0\n  schedule i\n",
            3,
            12,
            "a division by anything but a positive constant",
        ),
        (HEAD + "  domain (i = 0\n  schedule i\n", 3, 16, "the end where ')' should be"),
        (HEAD + "  domain i $ 0\n  schedule i\n", 3, 12, "'$' has no meaning here"),
        (
            HEAD + "  domain i, n\n  schedule i\n",
            3,
            14,
            "the end where a list should be compared with something",
        ),
        (HEAD + "  domain exists i: i = 0\n  schedule i\n", 3, 17, "the name i is defined twice"),
        (HEAD + "  domain i = 0\n  schedule floord(i)\n", 4, 12, "floord takes 2 arguments, not 1"),
        (HEAD + "  domain i = 0\n  schedule i,\n", 4, 14, "the end where a name or a number should be"),
        (HEAD + "  domain i = 0\n  schedule i\n  schedule i\n", 5, 3, "a second schedule for statement S"),
        (HEAD + "  domain i = 0\n  schedule i\noption fast 0\n", 5, 8, "unknown option 'fast'"),
        (HEAD + "  domain i = 0\n  schedule i\noption unroll 1\n", 5, 15, "there is no dimension 1"),
        (HEAD + "  domain i = 0\n  schedule i\nisolate t1 = 0\n", 5, 9, "unknown name t1"),
        (HEAD + "  domain\n  schedule i\n", 3, 3, "nothing follows domain"),
        ("param n, n\n", 1, 10, "the name n is defined twice"),
        ("param n,\n", 1, 9, "the end where a name should be"),
        ("param floor\n", 1, 7, "floor is a keyword and cannot be a name"),
        ("param n\nstatement S(n)\n", 2, 13, "the name n is defined twice"),
        ("statement S(i, i)\n", 1, 16, "the name i is defined twice"),
        ("statement S\n schedule\nstatement S\n schedule\n", 3, 11, "the name S is defined twice"),
        ("statement S(i\n", 1, 14, "the end where a closing parenthesis should be"),
        ("param n\ndomain n = 0\n", 2, 1, "domain belongs to a statement, and there is none here"),
        ("# nothing\nparam n # here\n", 2, 8, "no statement in the file"),
        ("hello world\n", 1, 1, "'hello' is not a keyword of a clause"),
        ("context n > 0\nstatement S\n schedule\n", 1, 9, "unknown name n"),
    ],
)
def test_refusals_have_their_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(BadInput) as raised:
        read(text)
    span = raised.value.span
    assert raised.value.message == message
    assert span is not None
    assert (span.file, span.line, span.column) == ("t.poly", line, column)
    assert span.excerpt == text.splitlines()[line - 1]


def test_near_names_are_suggested() -> None:
    with pytest.raises(BadInput) as raised:
        read("param size\nstatement S(i)\n domain 0 <= i < sise\n schedule i\n")
    assert raised.value.hint == "did you mean size?"


@pytest.mark.parametrize("opening", ["(", "[", "2(", "- (", "floor(", "exists k: not (", "i > 0 ? "])
def test_excessive_nesting_is_refused(opening: str) -> None:
    with pytest.raises(BadInput, match=r"nested more than|defined twice"):
        statement(opening * 400 + "i")


def test_long_sums_and_long_conjunctions_are_not_nesting() -> None:
    long_sum = " + ".join(["i"] * 3000)
    long_test = " and ".join(["i >= 0"] * 3000)
    schedule = statement(f"{long_sum} = 0 and {long_test}")
    assert schedule.domain.is_equal(isl.UnionSet("[n] -> { S[i, j] : i = 0 }"))


def test_a_schedule_of_isl_in_a_poly_file_gets_the_name_of_its_format() -> None:
    with pytest.raises(BadInput) as refused:
        read("[n] -> { S[i] -> [i] : 0 <= i < n }\n")
    assert refused.value.hint is not None and "FILE.in" in refused.value.hint
