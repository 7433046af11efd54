"""Scripts as people write them: several spellings of one operation, and lines instead of labels."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from loopwright.transform import FluentPlan, transform
from tests.transform.support import MATMUL, planned, pointed_at

TWO = """void f(int n, double A[n][n], double C[n][n]) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      C[i][j] = 0;
  for (i = 0; i < n; i++) {
    for (j = 0; j < n; j++) {
      C[i][j] += A[j][i];
      A[j][i] =
          2.0;
    }
  }
#pragma endscop
}
"""


def scripted(script: str) -> FluentPlan:
    (program,) = parse_c(Source("two.c", TWO))
    return transform(program, script, "s.lw")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tile(Mult, i, 8)", "tile(Mult, i=8)"),
        ("tile(Mult, i, j, 8, 16)", "tile(Mult, i=8, j=16)"),
        ("tile(Mult, i, 8, j, 16)", "tile(Mult, i=8, j=16)"),
        ("tile(Mult, [i, j], [8, 16])", "tile(Mult, i=8, j=16)"),
        ("tile(Mult, [i, j], 8)", "tile(Mult, i=8, j=8)"),
        ("tile(Mult, [8, 16])", "tile(Mult, 8, 16)"),
        ("interchange(Mult, k, i, j)", "interchange(Mult, [k, i, j])"),
        ("shift(Mult, i=1, j=-2)", "shift(Mult, i, 1)\nshift(Mult, j, -2)"),
        ("shift(Mult, i, +1)", "shift(Mult, i, 1)"),
        ("reverse(Mult, i, j)", "reverse(Mult, i)\nreverse(Mult, j)"),
        ("strip_mine(Mult, k=8)", "strip_mine(Mult, k, 8)"),
        ("unroll(Mult, k=4)", "unroll(Mult, k, 4)"),
        ("parallel(Mult, i, j)", "parallel(Mult, i)\nparallel(Mult, j)"),
        ("fuse([Mult, Init])", "fuse(Init, Mult)"),
        ("distribute([Init, Mult])", "distribute(Init, Mult)"),
        ("tile(Mult, 8, 8, 8);", "tile(Mult, 8, 8, 8)"),
    ],
)
def test_two_ways_to_write_one_thing(one: str, other: str) -> None:
    start = "" if one.startswith("distribute") else "distribute(Init, Mult)\n"
    first, second = planned(MATMUL, start + one), planned(MATMUL, start + other)
    assert first.program.schedule().is_equal(second.program.schedule())
    assert [d.kind for d in first.directives] == [d.kind for d in second.directives]


@pytest.mark.parametrize(
    ("handle", "statements"),
    [
        ("@4", ("S1",)), ("@5", ("S1",)), ("@6", ("S1",)), ("@7", ("S2", "S3")), ("@8", ("S2", "S3")),
        ("@9", ("S2",)), ("@10", ("S3",)), ("@11", ("S3",)),
    ],
)  # fmt: skip
def test_a_line_is_a_handle(handle: str, statements: tuple[str, ...]) -> None:
    plan = scripted("")
    assert plan.statements_at(plan.component(handle)) == statements
    assert plan[int(handle[1:])].component == plan.component(handle)


def test_lines_follow_their_statements_through_a_script() -> None:
    plan = scripted("tile(@7, 32, 32)\ninterchange(@4, i, j)\nparallel(@9, iT)")
    assert plan.component("@9") == plan.component("S2")
    assert plan.leaf(plan.component("@9").first).loops == ("iT", "jT", "i", "j")


@pytest.mark.parametrize(
    ("line", "shown", "message", "hint"),
    [
        ("tile(@70, 32)", "@70", "no loop or statement of the region is on line 70", "the nearest is @11"),
        ("tile(@3, 32)", "@3", "is on line 3", "@4"),
        ("tile(7, 32)", "7", "'7' where a handle should be", "a line of the C file is written @7"),
        ("@4 = lift(@5, 1)", "@4", "'@4' where an operation should be", "a line reads"),
        ("tile(Init, 32)", "Init", "no loop component is called Init", "or by its line @4 to @11"),
        ("tile(s1, 32)", "s1", "no loop component is called s1", "did you mean S1?"),
        ("Tile(S1, 32)", "Tile", "no operation is called Tile", "did you mean tile?"),
        ("fission(S2, S3)", "fission", "no operation is called fission", "did you mean distribute?"),
        ("swap(S1, i, j)", "swap", "no operation is called swap", "did you mean interchange?"),
        ('tile("S1", 32)', '"', "no meaning in a script", "without quotes"),
        ("S1.tile(32)", ".", "no meaning in a script", "the component is the first argument"),
        ("tile(S1, 32) // fast", "/", "after the operation", "begins with '#'"),
        ("// tile", "/", "where an operation should be", "begins with '#'"),
        ("tile(S1, i, j, 8, 8, 8)", "8", "2 loops, but 3 numbers", "tile(L, i=32, j=32)"),
        ("tile(S1, i=8, 8)", "8", "this one does not", "tile(L, i=32, j=32)"),
        ("tile(S1, i)", "tile(S1, i)", "tile without a number", "tile(L, 32, 32)"),
        ("tile(S1, {[i] : i > 0})", "{[i] : i > 0}", "where an iterator or a number should be", "tile(L"),
        ("shift(S1, 3)", "3", "not said which loop", "shift(L, i, 1)"),
        ("unroll(S1, [i, j], 4)", "[i, j]", "one loop at a time", "unroll(L, i, 4)"),
        ("interchange(S1, i, 3)", "3", "'3' where an iterator should be", "interchange(L, i, j)"),
        ("interchange(S1, i, jj)", "jj", "has the iterator jj", "did you mean j? its loops are i, j"),
        ("affine(S1, {[i,j,k] -> [k,i,j]})", "{[i,j,k] -> [k,i,j]}", "takes 3 iterators", "are i, j"),
        ("(A,B) = isplit(S1, {[i,j,k] : k < 3}, 1)", "{[i,j,k] : k < 3}", "on 3 iterators", "are i, j"),
        ("parallel(S1)", "parallel(S1)", "takes at least 2 arguments, not 1", "parallel(L, i)"),
    ],
)  # fmt: skip
def test_a_mistake_and_what_was_meant(line: str, shown: str, message: str, hint: str) -> None:
    with pytest.raises(BadInput) as caught:
        scripted(f"{line}\n")
    _, _, under = pointed_at(caught.value)
    assert under == shown
    assert message in caught.value.message
    assert caught.value.hint is not None and hint in caught.value.hint
