"""isl's flat schedules (`.in`)."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.errors import BadInput
from loopwright.model.schedule import LEAF, AnyOrder, Band
from loopwright.read.isl_flat import parse

EXAMPLE = """\
# A comment, with { braces }.
[n] -> { S[i, j] -> [i, 0, j] : 0 <= i,
  j < n; T[i] -> [i, 1, 0] : 0 <= i < n }
[n] -> { : n >= 1 }
[n] -> { [i, t, j] -> separate[x] : x >= 1; [i, t, j] -> unroll[2] }
"""


def test_schedule_context_and_options_become_one_band() -> None:
    schedule = parse(EXAMPLE, "t.in")
    assert schedule.context.is_equal(isl.Set("[n] -> { : n >= 1 }"))
    assert schedule.domain.is_equal(isl.UnionSet("[n] -> { S[i, j] : 0 <= i, j < n; T[i] : 0 <= i < n }"))
    assert isinstance(schedule.tree, Band)
    assert len(schedule.tree.members) == 3
    assert schedule.tree.child is LEAF
    assert schedule.tree.options is not None
    assert schedule.tree.options.is_equal(
        isl.UnionMap("{ [i, t, j] -> separate[x] : x >= 1; [i, t, j] -> unroll[2] }")
    )


def test_nothing_orders_vectors_of_different_spaces() -> None:
    maps = "S[i] -> [i, 0] : 0 < i < 4; T[i] -> [i] : 0 < i < 4; U[i] -> [A[i] -> B[0]] : i = 0"
    text = f"{{ {maps} }}\n{{ : }}\n{{ }}"
    tree = parse(text, "t.in").tree
    assert isinstance(tree, AnyOrder)
    bands = [child.child for child in tree.children]
    assert [len(band.members) for band in bands if isinstance(band, Band)] == [1, 2, 2]
    assert [str(child.filter) for child in tree.children] == [
        "{ T[i] : 0 < i <= 3 }",
        "{ U[i = 0] }",
        "{ S[i] : 0 < i <= 3 }",
    ]
    for band in bands:
        assert isinstance(band, Band)
        assert not str(band.schedule.range()).count("[A[")


def test_vectors_may_have_a_name() -> None:
    text = "{ S[i] -> T[i] : 0 < i < 4 }\n{ : }\n{ T[i] -> atomic[0] }"
    tree = parse(text, "t.in").tree
    assert isinstance(tree, Band)
    assert tree.schedule.is_equal(isl.UnionMap("{ S[i] -> [i] : 0 < i < 4 }"))
    assert tree.options is not None
    assert tree.options.is_equal(isl.UnionMap("{ [i] -> atomic[0] }"))


GOOD = "{ S[i] -> [i] : 0 <= i < 4 }\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("{ S[i] -> [i] : 0 <= i < }\n{ : }\n{ }", 1, 26, "the schedule cannot be read: unexpected '}'"),
        (
            "{ S[i] -> [i] : 0 <= k }\n{ : }\n{ }",
            1,
            22,
            "the schedule cannot be read: unknown identifier 'k'",
        ),
        (
            "{ S[i] -> [i] :\n  0 <= k }\n{ : }\n{ }",
            2,
            8,
            "the schedule cannot be read: unknown identifier 'k'",
        ),
        ("{ S[i] : 0 <= i }\n{ : }\n{ }", 1, 1, "the schedule cannot be read: invalid input"),
        (GOOD, 1, 29, "the context should follow here"),
        (GOOD + "{ : }", 2, 6, "the options should follow here"),
        (GOOD + "{ : }\n{ }\n{ }\n", 4, 1, "a fourth object in the file"),
        (GOOD + "{ : }\n{ }\nmore", 4, 1, "the rest of the file has no braces"),
        (GOOD + "{ : n > 0 }\n{ }", 2, 5, "the context cannot be read: unknown identifier 'n'"),
        (GOOD + "{ [i] : i > 0 }\n{ }", 2, 1, "the context constrains more than parameters"),
        (GOOD + "{ : }\n{ [i] -> fast[0] }", 3, 10, "unknown option { fast[i0] }"),
        (GOOD + "{ : }\n{ [i] -> unroll[0, 1] }", 3, 10, "unknown option { unroll[i0, i1] }"),
        ("{ S[i] -> [i]\n{ : }\n{ }", 1, 1, "the schedule has a brace that is never closed"),
        ("} { : }\n{ }", 1, 1, "this brace closes none that is open"),
        ("hello", 1, 1, "the schedule has no braces"),
    ],
)
def test_refusals_have_their_place(
    text: str, line: int, column: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BadInput) as raised:
        parse(text, "t.in")
    span = raised.value.span
    assert raised.value.message == message
    assert span is not None
    assert (span.file, span.line, span.column) == ("t.in", line, column)
    assert span.excerpt == text.splitlines()[line - 1]
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", ""), "isl is not to speak for itself"


def test_an_option_about_other_time_vectors_selects_none() -> None:
    """As in isl: the same options may be given with schedules of several depths."""
    schedule = parse(GOOD + "{ : }\n{ [i, j] -> unroll[0] }", "t.in")
    band = schedule.tree
    assert isinstance(band, Band) and band.options is not None and band.options.is_empty()
