"""Moves for loops that wait: rows in flight, and columns that wait for a block of steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.optimise.candidates.columns import columns
from loopwright.optimise.candidates.deferred import deferred
from loopwright.optimise.candidates.finishing import finished
from loopwright.optimise.candidates.flight import rows_in_flight
from loopwright.optimise.candidates.judging import Judge
from loopwright.optimise.candidates.nests import Phase, SearchContext, targets
from loopwright.optimise.candidates.orders import ORDERING, cuts, parallel
from loopwright.optimise.candidates.planner import COPYING, Planner
from loopwright.optimise.candidates.storage import packings, renamings, split_sums
from loopwright.optimise.candidates.structures import around
from loopwright.optimise.candidates.threads import parallelise
from loopwright.optimise.candidates.tiles import BLOCKING, hexagons
from loopwright.prove.legality.reductions import ordering
from loopwright.transform import plan_of, script_text
from loopwright.transform.perform import performed
from loopwright.transform.script.operations import Isplit
from loopwright.transform.script.steps import parse_script
from tests.kernel_programs import kernel_program
from tests.optimise.test_registers import WIDE, judge_of

WAITING = """\
for (int i = 1; i < 90; i++)
  for (int j = 1; j < 400; j++) {
    A[i][j] = A[i - 1][j - 1] + B[i][j];
    A[i][j] = A[i][j] + A[i][j - 1];
  }"""

INDEPENDENT = WAITING.replace("A[i][j - 1]", "B[i][j - 1]")

PIVOTS = """\
for (int k = 0; k < 90; k++) {
  row[k] = k;
  for (int i = k + 1; i < 90; i++)
    if (A[i][k] > A[row[k]][k])
      row[k] = i;
  for (int j = 0; j < 90; j++) {
    double kept = A[k][j];
    A[k][j] = A[row[k]][j];
    A[row[k]][j] = kept;
  }
  for (int i = k + 1; i < 90; i++)
    for (int j = k + 1; j < 90; j++)
      A[i][j] -= A[i][k] * A[k][j];
}"""

FROM_THE_RIGHT = """\
for (int i = 0; i < 90; i++)
  for (int j = 0; j < 90; j++) {
    for (int k = 0; k < j; k++)
      A[i][j] -= A[i][k] * B[k][j];
    A[i][j] = A[i][j] / B[j][j];
  }"""

FROM_BELOW = FROM_THE_RIGHT.replace("A[i][k] * B[k][j]", "A[k][j] * B[i][k]").replace("k < j", "k < i")

ALL_COLUMNS = PIVOTS.replace("A[i][k] > A[row[k]][k]", "A[i][89] > A[row[k]][89]")


@pytest.mark.parametrize(
    ("text", "move", "legal"),
    [
        (WAITING, rows_in_flight, [True, True]),
        (INDEPENDENT, rows_in_flight, []),
        (PIVOTS, deferred, [True, True, False, False]),
        (ALL_COLUMNS, deferred, [False, False, False, False]),
        (FROM_THE_RIGHT, columns, [True, True]),
        (FROM_THE_RIGHT.replace("k < j", "k < 90"), columns, [False, False]),
        (FROM_THE_RIGHT.replace("A[i][j] / B[j][j]", "A[i][j] + A[0][89]"), columns, [False, False]),
        (FROM_BELOW, columns, []),
    ],
    ids=[
        "rows",
        "no row waits",
        "pivots",
        "pivots of a column after the block",
        "columns",
        "all columns",
        "a column after the block",
        "rows before",
    ],
)
def test_what_may_wait_waits(tmp_path: Path, text: str, move: Phase, legal: list[bool]) -> None:
    """The last two scripts without a copy: what is read of the block has changed places meanwhile."""
    judge = judge_of(tmp_path, text)
    nest = targets(judge.plan)[0]
    scripts = list(move(judge.plan, nest, judge.setting))
    assert [judge.estimated(script, "") is not None for script in scripts] == legal


def test_rows_that_end_at_the_diagonal_have_corners_and_rows_after_them(tmp_path: Path) -> None:
    """Rows and columns of a box do not: there all rows go together, and nothing is split off."""
    text = FROM_THE_RIGHT.replace("90", "96").replace("B[k][j]", "A[j][k]")
    corner = "{[jT, iT, k, i, v] : iT >= 6 * (jT + 1)}"
    after = "{[jT, i, j] : i >= 24 * jT + 24}"
    for columns_before, expected in (("i", [[corner], [corner, after]]), ("96", [[], []])):
        judge = judge_of(tmp_path, text.replace("j < 96", f"j < {columns_before}"))
        scripts = columns(judge.plan, targets(judge.plan)[0], judge.setting)
        splits = [[step.operation for step in one if isinstance(step.operation, Isplit)] for one in scripts]
        assert [[str(one.condition) for one in script[1:]] for script in splits] == expected


def test_sums_along_the_diagonal_take_what_complete_columns_give_together(tmp_path: Path) -> None:
    """Each sum waited for its own last term: it goes with the block; columns may be called as lanes are."""
    text = """\
for (int i = 0; i < 96; i++)
  for (int v = 0; v <= i; v++)
    for (int k = 0; k <= v; k++) {
      if (v == i && k < i)
        D: A[i][i] -= A[i][k] * A[i][k];
      if (v < i && k < v)
        S: A[i][v] -= A[i][k] * A[v][k];
      if (k == v && v < i)
        N: A[i][v] = A[i][v] / A[v][v];
    }"""
    judge = judge_of(tmp_path, text)
    script = next(columns(judge.plan, targets(judge.plan)[0], judge.setting))
    early = [
        "(DEarly, D) = isplit(D, {[vT, i, v, k] : k < 24 * vT}, 1)",
        "interchange(DEarly, [vT, k, i, v])",
    ]
    assert [str(step) for step in script][2:4] == early


ELIMINATION = """\
for (int j = 0; j < 400; j++)
  for (int i = j + 1; i < 400; i++)
    for (int k = j + 1; k <= i; k++)
      S: A[i][k] -= A[i][j] * A[k][j];"""


@pytest.mark.parametrize(
    ("text", "copies"),
    [
        (ELIMINATION, ["pack(A, S, j)"]),
        (ELIMINATION.replace("A[k][j]", "A[j][k]"), []),
        (ELIMINATION.replace("A[k][j]", "A[k][i]"), []),
    ],
    ids=["a column", "a row", "another column for each row"],
)
def test_columns_that_an_elimination_reads_are_copied(tmp_path: Path, text: str, copies: list[str]) -> None:
    judge = judge_of(tmp_path, text)
    scripts = list(packings(judge.plan))
    assert [script_text(script).strip() for script in scripts] == copies
    assert all(judge.estimated(script, "") is not None for script in scripts)


HANDED_ON = """\
double u[90][90];
for (int i = 0; i < 90; i++)
  for (int j = 0; j < 90; j++)
    Make: u[i][j] = A[i][j] * 2;
for (int i = 2; i < 90; i++)
  for (int j = 0; j < 90; j++)
    Take: B[i][j] = u[i - 2][j] + u[i][j];"""


@pytest.mark.parametrize(
    ("text", "contracted"),
    [
        (HANDED_ON, ["contract(u, 4, ring)"]),
        (HANDED_ON.replace("u[i - 2]", "u[i]"), ["contract(u)"]),
        (HANDED_ON.removeprefix("double u[90][90];\n").replace("u[", "C["), []),
    ],
    ids=["a ring of rows", "a scalar", "what is seen afterwards stays"],
)
def test_what_joined_nests_hand_on_is_kept_in_few_cells(
    tmp_path: Path, text: str, contracted: list[str]
) -> None:
    judge = judge_of(tmp_path, text)
    joined = judge.estimated(parse_script("fuse(Make, Take, 2)"), "")
    assert joined is not None
    _, *found = Planner(judge)._contracted(joined)
    assert [str(one.script[-1]) for one in found] == contracted


@pytest.mark.parametrize(("last", "is_exchanged"), [("90", True), ("j", False)], ids=["box", "triangle"])
def test_loops_that_gcc_exchanges_are_no_merit_of_a_script(
    tmp_path: Path, last: str, is_exchanged: bool
) -> None:
    text = f"for (int j = 0; j < 90; j++)\n  for (int i = 0; i < {last}; i++)\n    S: A[i][j] = B[i][j];"
    judge = judge_of(tmp_path, text)
    written, turned = (judge.estimated(parse_script(one), "") for one in ("", "interchange(S, [i, j])"))
    assert written is not None and turned is not None and turned.total < written.total
    assert judge.as_compiled() == (turned if is_exchanged else written).total


STEPS = """\
for (int t = 0; t < 50; t++) {
  for (int i = 1; i < 399; i++)
    C[0][i] = A[0][i - 1] + A[0][i + 1];
  for (int i = 1; i < 399; i++)
    A[0][i] = C[0][i];
}"""


def test_tiles_that_grow_and_shrink_are_for_threads(tmp_path: Path) -> None:
    judge = judge_of(tmp_path, STEPS)
    nest = targets(judge.plan)[0]
    assert not list(hexagons(judge.plan, nest, judge.setting))
    found = list(hexagons(judge.plan, nest, replace(judge.setting, threads=2)))
    assert [str(script[-1]) for script in found] == [
        "(Early, Late) = hexagon(@7, t=64, i=1024)",
        "(Early, Late) = hexagon(@7, t=32, i=256)",
    ]
    tops = {leaf.position[0] for leaf in performed(judge.plan, *found[0]).leaves}
    assert len(tops) == 1, "both phases are in the loop over tiles of steps"


def test_loops_with_single_statements_alone_have_no_such_tiles(tmp_path: Path) -> None:
    judge = judge_of(tmp_path, "for (int i = 0; i < 400; i++) {\n  A[0][i] = 1;\n  C[0][i] = A[0][i];\n}")
    judge = replace(judge, threads=2, setting=replace(judge.setting, threads=2))
    assert not [one for nest in targets(judge.plan) for one in hexagons(judge.plan, nest, judge.setting)]


def test_a_temporary_of_an_inner_nest_is_renamed_and_lies_as_what_it_is_set_from(tmp_path: Path) -> None:
    text = """\
double s;
for (int j = 0; j < 90; j++) {
  s = A[j][j];
  A[j][j] = s * s;
  for (int i = j + 1; i < 90; i++) {
    s = A[i][j];
    for (int k = 0; k < j; k++)
      s -= A[i][k] * A[j][k];
    A[i][j] = s / A[j][j];
  }
}"""
    judge = judge_of(tmp_path, text)
    (found,) = renamings(judge.plan)
    assert [str(step) for step in found] == ["rename(s, @11)", "expand(s_S3, i, j)"]
    assert judge.estimated(found, "") is not None


def test_a_temporary_row_is_expanded_for_threads(tmp_path: Path) -> None:
    text = """\
for (int i = 0; i < 96; i++) {
  for (int j = 0; j < 96; j++)
    C[0][j] = B[i][j] * 2;
  for (int j = 1; j < 96; j++)
    A[i][j] = C[0][j] - C[0][j - 1];
}"""
    judge = judge_of(tmp_path, text)
    scripts = [one for nest in targets(judge.plan)[:1] for one in parallel(judge.plan, nest, judge.setting)]
    alone, expanded = scripts[:2]
    assert str(expanded[0]) == "expand(C, i)"
    assert judge.estimated(alone, "") is None and judge.estimated(expanded, "") is not None
    names = judge.plan.statements_at(targets(judge.plan)[0].component)
    judge.known.pop(expanded)
    found = judge.estimated(expanded, "", (names, judge.original()))
    assert found is not None and set(found.cycles) == {one.name for one in found.plan.program.statements}


def test_what_is_left_of_a_statement_outside_of_a_parallel_loop_is_not_shared(tmp_path: Path) -> None:
    text = """\
for (int i = 0; i < 96; i++)
  for (int j = 0; j < 96; j++)
    S: A[i][j] = B[i][j] * C[i][j];"""
    judge = replace(judge_of(tmp_path, text), threads=2)
    split = "(S, Rest) = isplit(S, {[i, j] : i < 48}, 0)\n"
    alone, half, whole = (
        judge.estimated(parse_script(split + more), "")
        for more in ("", "parallel(S, i)\n", "parallel(S, i)\nparallel(Rest, i)\n")
    )
    assert alone is not None and half is not None and whole is not None
    assert alone.total > half.total > whole.total


def test_sums_are_split_where_their_order_may_change(tmp_path: Path) -> None:
    text = """\
for (int i = 0; i < 90; i++)
  for (int k = 0; k < 90; k++)
    for (int j = 0; j < 90; j++)
      S: A[i][j] += B[i][k] * C[k][j] + C[i][k] * B[k][j];"""
    strict = judge_of(tmp_path, text)
    script = split_sums(strict.plan)
    assert [str(one) for one in script] == ["(S, SSecond) = split_sum(S)", "distribute(S, SSecond)"]
    assert strict.estimated(script, "") is None
    assert replace(strict, allow_reassociation=True, known={}).estimated(script, "") is not None


def test_what_threads_share_has_vectors(tmp_path: Path) -> None:
    """Along the innermost loop that is not written out."""
    text = """\
for (int i = 0; i < 96; i++)
  for (int k = 0; k < 96; k++)
    for (int j = 0; j < 96; j++)
      S: A[i][j] += B[i][k] * C[k][j];"""
    judge = replace(judge_of(tmp_path, text), threads=2)
    for script in ("", "unroll_and_jam(S, i=4, k=4)"):
        assert judge.estimated(parse_script(script), "") is not None
    parallelise(judge, 2)
    scripts = {"; ".join(map(str, one.script)) for one in judge.found()}
    assert {
        "parallel(S, i); vectorize(S, j)",
        "unroll_and_jam(S, i=4, k=4); parallel(S, iT); vectorize(S, j)",
    } <= scripts


def test_threads_share_the_rows_around_the_one_that_all_read(tmp_path: Path) -> None:
    """Row k is written in step k too: the rows before it read what it was, those after it what it is."""
    text = """\
for (int k = 0; k < 96; k++)
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 96; j++)
      S: A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];"""
    judge = replace(judge_of(tmp_path, text), threads=2)
    (nest, *_) = targets(judge.plan)
    found = [script for script in parallel(judge.plan, nest, judge.setting) if len(script) == 4]
    assert [str(step) for step in found[0]] == [
        "(Above, Here) = isplit(S, {[k, i, j] : i < k}, 1)",
        "(Here, Below) = isplit(Here, {[k, i, j] : i = k}, 1)",
        "parallel(Above, i)",
        "parallel(Below, i)",
    ]
    assert [judge.estimated(script, "") is not None for script in found] == [True] * len(found)
    whole = parse_script("parallel(S, i)")
    assert judge.estimated(whole, "") is None


def test_a_subscript_that_data_decide_is_no_function_of_the_loops(tmp_path: Path) -> None:
    text = "for (int i = 0; i < 90; i++)\n  for (int j = 0; j < 80; j++)\n    A[i][row[j]] += 1;"
    judge = judge_of(tmp_path, text)
    (nest,) = targets(judge.plan)
    for move in (*ORDERING, *BLOCKING, *COPYING, parallel):
        for script in move(judge.plan, nest, judge.setting):
            performed(judge.plan, *script)
    assert not list(cuts(judge.plan, nest, judge.setting))


def test_vectors_are_said_where_they_are_legal_and_rows_that_meet_get_longer(tmp_path: Path) -> None:
    text = """\
double T[90][256];
for (int i = 1; i < 90; i++)
  for (int j = 0; j < 256; j++)
    T[i][j] = A[i][j] + B[i][j];
for (int i = 1; i < 90; i++)
  for (int j = 0; j < 256; j++)
    C[i][0] += T[i][j];"""
    judge = judge_of(tmp_path, text)
    vectors, longer = finished(judge, judge.original())
    assert [str(step) for step in vectors.script] == ["vectorize(@8, j)"]
    assert [str(step) for step in longer.script] == ["pad(T, 8)"]


def test_the_end_of_an_iteration_is_joined_with_the_next_one() -> None:
    program = kernel_program("durbin")
    setting = SearchContext(plan_of(program), WIDE, {"N": 200}, ordering(program))
    judge = Judge(setting.start, setting, 10**6, clock=lambda: 0)
    known = around(judge.plan, setting)
    (script,) = (one for one, origin in known if origin == "joined with the next iteration")
    assert script_text(script).splitlines() == [
        "shift(Copy, k=1)",
        "reorder(Mirror, Copy)",
        "reorder(Alpha, Copy)",
        "reorder(Dot, Copy)",
        "fuse(Copy, Dot, 2)",
    ]
    assert judge.estimated(script, "") is not None
