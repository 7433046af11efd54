"""The grammar of scripts, and where their mistakes are."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput
from loopwright.transform.script.formulas import AffineMap, AffineSet
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Affine, Isplit, Lift, Shift
from loopwright.transform.script.steps import parse_script
from tests.transform.support import MATMUL, planned, pointed_at, refused


def test_an_empty_script_changes_nothing() -> None:
    for text in ("", "\n\n", "# only a remark", "   # and another\n"):
        plan = planned(MATMUL, text)
        assert plan.program is plan.original and plan.history == ()


def test_lines_comments_and_brackets_that_span_lines() -> None:
    script = parse_script(
        "# head\nL = lift(Mult, 2)  # remark\r\n\naffine(L, {[i, j] ->  # inside\n  [j, i]})\n", "s.lw"
    )
    assert script[0].operation == Lift("Mult", 2) and script[0].binds == ("L",)
    assert str(script[1]) == "affine(L, {[i, j] -> [j, i]})"


def test_values() -> None:
    script = parse_script("(A, B) = isplit(L, {[i] : i < 2}, 1); shift(L, i=-3)\naffine(@4, {[i] -> [-i]})")
    split, shift, affine = (step.operation for step in script)
    assert isinstance(split, Isplit) and isinstance(split.condition, AffineSet) and split.common == 1
    assert shift == Shift("L", (LoopNumber(-3, "i"),))
    assert isinstance(affine, Affine) and isinstance(affine.function, AffineMap) and affine.target == "@4"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("tile(Mult, 32", (1, 5, "("), "never closed"),
        ("tile(Mult, 32))", (1, 15, ")"), "closes nothing"),
        ("affine(Mult, {[i]->[i])", (1, 23, ")"), "'}' should be"),
        ("tile Mult", (1, 6, "Mult"), "'(' should be"),
        ("tile(Mult 32)", (1, 11, "32"), "',' or ')' should be"),
        ("tile(Mult, ,)", (1, 12, ","), "a value should be"),
        ("= tile(Mult)", (1, 1, "="), "an operation should be"),
        ("lift(Mult, 1) lift(Mult, 1)", (1, 15, "lift"), "after the operation"),
        ("affine(Mult, {[i,j] - [j,i]})", (1, 21, "-"), "'->' or ':' should be"),
        ("affine(Mult, {[i,j]})", (1, 20, "}"), "neither a map nor a condition"),
        ("affine(Mult, {[i,j] -> [j,+]})", (1, 28, "]"), "a name or a number should be"),
        ("\n\ntile(Mult, $)", (3, 12, "$"), "no meaning"),
    ],
)
def test_what_is_not_a_script(text: str, place: tuple[int, int, str], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_script(text, "s.lw")
    assert message in caught.value.message
    line, column, shown = pointed_at(caught.value)
    assert (line, column) == place[:2] and shown[:1] == place[2][:1]


@pytest.mark.parametrize(
    ("line", "shown", "message", "hint"),
    [
        ("tyle(Mult, 32)", "tyle", "no operation is called tyle", "did you mean tile?"),
        ("tile(Malt, 32)", "Malt", "no loop component is called Malt", "did you mean Mult?"),
        ("interchange(Mult, jj, k)", "jj", "no loop of the component has the iterator jj", "did you mean j?"),
        ("interchange(Mult, x, k)", "x", "iterator x", "its loops are i, j, k"),
        ("realign(Init, Mult)", "realign(Init, Mult)", "takes 3 arguments, not 2", "realign(L1, L2, n)"),
        ("lift(Mult, 1, 2)", "2", "takes 2 arguments, not 3", "L = lift(L1, n)"),
        ("(A, B) = lift(Mult, 1)", "A, B", "lift gives one handle, not 2", None),
        ("A = shift(Mult, i, 1)", "A", "shift gives no handle, not 1", None),
        ("affine(Mult, 3)", "3", "'3' where a map should be", "{[i, j] -> [j, i]}"),
        ("(A, B) = isplit(Mult, {[i] -> [i]}, 0)", "{[i] -> [i]}", "where a condition should be", "j < n/2"),
        ("realign(Init, Mult, Mult)", "Mult", "'Mult' where a number should be", None),
        ("shift(3, i, 1)", "3", "'3' where a handle should be", "written @3"),
        ("tile(Mult, 0)", "0", ">= 1", None),
        ("affine(Mult, {[i,j,k] -> [i,j*k,k]})", "*", "not affine", None),
        ("affine(Mult, {[i,j,k] -> [i,j,k/n]})", "/", "positive constant", None),
        ("affine(Mult, {[i,j,i] -> [i,j,k]})", "i", "used twice", None),
        ("affine(Mult, {[i,n,k] -> [i,n,k]})", "n", "a parameter of the program", None),
        ("affine(Mult, {[i,j,k] -> [i,jj+1,k]})", "jj", "unknown name jj", "did you mean j?"),
        ("(A, B) = isplit(Mult, {[i] : i < m}, 1)", "m", "unknown name m", None),
    ],
)
def test_mistakes_are_shown_at_their_place(line: str, shown: str, message: str, hint: str | None) -> None:
    error = refused(MATMUL, f"# a script\n{line}\n")
    row, _, under = pointed_at(error)
    assert (row, under) == (2, shown)
    assert message in error.message
    if hint is not None:
        assert error.hint is not None and hint in error.hint


def test_the_history_has_the_steps_with_their_places() -> None:
    plan = planned(MATMUL, "realign(Init, Mult, 0)\n  affine(Mult, {[i,j,k] ->\n [i,k,j]})\n")
    first, second = plan.history
    assert str(first.step) == "realign(Init, Mult, 0)"
    assert str(second.step) == "affine(Mult, {[i, j, k] -> [i, k, j]})"
    assert (second.step.span.line, second.step.span.column) == (2, 3)
    assert second.program is plan.program and first.program is not plan.original


def test_brackets_round_down_and_remainders_are_not_negative() -> None:
    one = planned(MATMUL, "affine(Mult, {[i,j,k] -> [a,b,c]: a=[i/32] and b=i%32 and c=[(j-5)/4] + k*0})")
    other = planned(MATMUL, "affine(Mult, {[i,j,k] -> [floor(i/32), i mod 32, floord(j-5, 4)]})")
    assert one.program.statement("S2").schedule.is_equal(other.program.statement("S2").schedule)
    assert one.leaf((0, 0, 1, 0)).loops == ("a", "b", "c")
