"""Two programs run by `native.c` do what the interpreter of LOOP runs, and tell the same of their cells."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from loopwright.c.types import DOUBLE, INT
from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Not,
    Or,
    Relation,
    Rem,
    Scaled,
    Select,
    Sum,
    TruncDiv,
    Var,
)
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Block, For, If, Let, Node
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.descent import native
from loopwright.prove.descent.encoding import NotNative
from loopwright.prove.descent.native import TooLong, native_pair
from loopwright.prove.equivalence import counterexample, numbering, running
from loopwright.prove.equivalence.assignments import Computation, columns_of
from loopwright.prove.equivalence.pairs import Pair
from loopwright.prove.equivalence.running import compared
from loopwright.prove.equivalence.terms import Apply, CellTerm, Index, TermAssignment
from loopwright.prove.equivalence.traces import CellKey, Runnable, StatementRun, leading_to
from loopwright.prove.verdict import Refuted

OUTER, J, N = Var("i"), Var("j"), Var("n")
MOST = 10_000
EMPTY_TEST = Compare(Relation.LT, Int(1), Int(0))


def _more(value: Expr, number: int) -> Expr:
    return Sum((value, Int(number)))


def _statement(name: str, target: CellTerm, *read: CellTerm) -> Computation:
    """target = read[0] + ... + i."""
    value = Apply("+", (*read, Index(OUTER, INT)), DOUBLE)
    made = (TermAssignment(target, value),)
    return Computation(name, 1, made, columns_of(made))


def _cell(array: str, *at: Expr) -> CellTerm:
    return CellTerm(array, at, DOUBLE)


ROW = _statement("row", _cell("A", OUTER), _cell("A", _more(OUTER, -1)), _cell("s"))
POINT = _statement(
    "point", _cell("B", OUTER, _more(J, 1)), _cell("B", _more(OUTER, -1), J), _cell("A", OUTER)
)
SUM = _statement("sum", _cell("s"), _cell("s"), _cell("B", OUTER, J))
STATEMENTS = {one.name: one for one in (ROW, POINT, SUM)}


def _up_to(name: str, last: Expr, body: Node) -> For:
    return For(name, Int(0), Compare(Relation.LE, Var(name), last), 1, body)


INSIDE = Block((POINT.call(), SUM.call()))
PROGRAMS: dict[str, Node] = {
    "floors": _up_to("i", FloorDiv(_more(N, -9), 2), _up_to("j", Max((OUTER, Int(2), _more(N, -5))), INSIDE)),
    "remainders": _up_to("i", N, If(Compare(Relation.EQ, Rem(_more(OUTER, -3), 2), Int(0)), ROW.call())),
    "quotients": _up_to("i", TruncDiv(_more(Scaled(-3, N), 1), 2), ROW.call()),
    "a choice": _up_to(
        "i", N, _up_to("j", Select(Compare(Relation.LT, OUTER, Int(3)), OUTER, Min((N, Int(5)))), INSIDE)
    ),
    "branches": _up_to(
        "i",
        N,
        If(
            Or((Compare(Relation.GT, OUTER, Int(4)), Not(Compare(Relation.NE, OUTER, Int(1))))),
            ROW.call(),
            Let("j", Scaled(2, OUTER), INSIDE),
        ),
    ),
    "down": For(
        "j",
        N,
        And((Compare(Relation.GE, J, Int(-2)), Compare(Relation.GE, J, Scaled(-1, N)))),
        -3,
        Block((Let("i", J, ROW.call()), _up_to("i", J, SUM.call()))),
    ),
    "one name in another": _up_to(
        "i",
        N,
        Block((_up_to("j", OUTER, For("i", OUTER, Compare(Relation.LE, OUTER, J), 1, INSIDE)), ROW.call())),
    ),
    "nothing": Block(()),
}


def _pair(old: Node, new: Node, arrays: tuple[str, ...] = ("A", "B", "s")) -> Pair:
    extents = {"B": (Int(50), None)}
    runs = Runnable(old, STATEMENTS, extents), Runnable(new, STATEMENTS, {})
    return Pair(("old.c", "new.c"), runs, arrays, reassociate=False, opaque=frozenset())


@pytest.mark.parametrize("size", (-3, 0, 1, 6, 9))
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_what_the_interpreter_runs(name: str, size: int) -> None:
    program, sizes = PROGRAMS[name], {"n": size}
    pair = native_pair(_pair(program, Block((program, program))))
    took = pair.run(sizes, MOST)
    steps = pair.leading_to()
    assert steps is not None
    expected = list(execute(program, sizes))
    for found, times in zip(steps, (1, 2), strict=True):
        assert [(one.computation.name, one.values) for one in found] == expected * times
    assert took == 3 * pair.count(sizes, MOST)
    if took:
        with pytest.raises(TooLong):
            pair.count(sizes, took // 3 - 1)
        with pytest.raises(TooLong):
            pair.run(sizes, 2 * took // 3 - 1)


@pytest.mark.parametrize("name", [one for one in PROGRAMS if one != "nothing"])
def test_tells_of_the_cells_that_python_tells_of(name: str) -> None:
    """What leads to each of them, too, and that both find the same difference in values."""
    sizes = {"n": 9}
    for old, new in (
        (PROGRAMS[name], PROGRAMS["branches"]),
        (PROGRAMS["floors"], Block((PROGRAMS["floors"], PROGRAMS[name]))),
    ):
        pair = _pair(old, new)
        fast = native_pair(pair)
        counts = (native_pair(_pair(one, one)).count(sizes, MOST) for one in (old, new))
        assert fast.run(sizes, MOST) == sum(counts)
        everything = fast.leading_to()
        assert everything is not None
        runs = numbering.numbered(everything, numbering.Table(reassociate=False))
        one, other = ({place: final.number for place, final in run.cells.items()} for run in runs)
        assert fast.differs == (one != other)
        for number, place in fast.different():
            assert fast.leading_to(number) == tuple(leading_to(one, place) for one in everything)
        if fast.differs:
            by_python = isinstance(compared(pair, everything, sizes), Refuted)
            is_defined = pair.runs[0].is_defined(everything[0], sizes)
            assert (fast.confirmed(sizes) is not None) == (by_python and is_defined)


def test_only_of_cells_that_count() -> None:
    programs = PROGRAMS["branches"], Block((PROGRAMS["branches"], PROGRAMS["remainders"]))
    for arrays, differs in ((("B",), False), (("A",), True)):
        pair = native_pair(_pair(*programs, arrays))
        pair.run({"n": 7}, MOST)
        assert pair.differs == differs


def test_two_pairs_have_memory_of_their_own() -> None:
    one, other = (
        native_pair(_pair(program, Block(()))) for program in (PROGRAMS["floors"], PROGRAMS["remainders"])
    )
    one.run({"n": 9}, MOST)
    expected = one.different(), one.leading_to()
    other.run({"n": 9}, MOST)
    assert (one.different(), one.leading_to()) == expected
    del other
    assert (one.different(), one.leading_to()) == expected


def test_an_original_outside_of_its_arrays_is_no_witness() -> None:
    pair = native_pair(_pair(_up_to("i", N, Let("j", Int(1), SUM.call())), Block(())))
    for size, is_inside in ((49, True), (50, False)):
        pair.run({"n": size}, MOST)
        assert pair.differs
        assert pair.is_inside(pair.pair.runs[0], {"n": size}) == is_inside
        assert (pair.confirmed({"n": size}) is not None) == is_inside


def test_many_cells_and_large_subscripts() -> None:
    """The table of cells grows, and rows far from each other are not confused."""
    column = _up_to("i", N, Let("j", Int(1), POINT.call()))
    pair = native_pair(_pair(column, column))
    assert pair.run({"n": 3_000}, MOST) == 6_002
    far = Let("i", Sum((Scaled(1 << 33, OUTER), Scaled(-(1 << 40), N))), ROW.call())
    program = _up_to("i", N, Block((far, _up_to("j", Int(70), POINT.call()))))
    pair = native_pair(_pair(program, program))
    pair.run({"n": 45}, MOST)
    assert not pair.differs
    pair = native_pair(_pair(program, Block((program, Let("i", Int(45 << 33), Let("i", OUTER, ROW.call()))))))
    pair.run({"n": 45}, MOST)
    assert [place for _, place in pair.different()] == [("A", (45 << 33,))]


@pytest.mark.parametrize(
    "start", (Scaled(1 << 59, N), Sum((Scaled(1 << 58, N), FloorDiv(Scaled(1 << 58, N), 1))))
)
def test_integers_that_do_not_fit_end_a_run(start: Expr) -> None:
    program = For("i", start, Compare(Relation.GT, OUTER, Int(0)), 1, ROW.call())
    pair = native_pair(_pair(program, program))
    with pytest.raises(TooLong):
        pair.run({"n": 20}, MOST)


@pytest.mark.parametrize("size", (1 << 60, 1 << 64, -(1 << 64), (1 << 70) + 3))
def test_sizes_that_do_not_fit_are_not_run(size: int) -> None:
    """C would run another size, 0 for 1 << 64, and a difference would be told of one that has none."""
    program = _up_to("i", Min((N, Int(3))), ROW.call())
    pair = native_pair(_pair(program, For("i", N, Compare(Relation.LE, OUTER, Int(3)), 1, ROW.call())))
    with pytest.raises(TooLong):
        pair.run({"n": size}, MOST)
    with pytest.raises(KeyError):
        pair.run({"m": 1}, MOST)


def test_a_subscript_that_no_array_has_is_seen() -> None:
    program = Let("i", Int((1 << 60) - 1), Let("i", _more(OUTER, 1), Let("j", Int(1), SUM.call())))
    pair = native_pair(_pair(program, Block(())))
    with pytest.raises(TooLong):
        pair.run({}, MOST)


def test_more_cells_than_are_kept_end_a_run() -> None:
    program = _up_to("i", N, Let("j", Int(1), POINT.call()))
    pair = native_pair(_pair(program, Block(())))
    with pytest.raises(TooLong):
        pair.run({"n": 340_000}, 1_000_000)
    pair.run({"n": 6}, MOST)
    assert pair.differs


def test_nothing_is_left_in_the_folder_of_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/none")  # where nothing can be kept
    monkeypatch.setattr(native, "compiled_runner", native.compiled_runner.__wrapped__)
    native_pair(_pair(PROGRAMS["floors"], PROGRAMS["floors"])).run({"n": 9}, MOST)
    assert [*tmp_path.iterdir()] == []


def test_it_is_compiled_once_for_all_runs_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another text of it, or other options, are another library."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = native.compiled_runner.__wrapped__()
    (kept,) = (tmp_path / "loopwright").iterdir()
    assert kept.read_bytes() == first
    kept.write_bytes(b"as it is")
    assert native.compiled_runner.__wrapped__() == b"as it is"
    monkeypatch.setattr(native, "FLAGS", (*native.FLAGS, "-O0"))
    assert native.compiled_runner.__wrapped__() != b"as it is"
    assert len([*kept.parent.iterdir()]) == 2


@pytest.mark.parametrize("name", ("floors", "a choice", "branches"))
def test_long_runs_are_told_apart_as_short_ones_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that both runs compute alike are one number, what differs has others, and lines are kept."""
    runs = (execute(PROGRAMS[one], {"n": 9}) for one in (name, "branches"))
    steps = tuple(tuple(StatementRun(STATEMENTS[one], at) for one, at in run) for run in runs)
    assert len(steps) == 2
    found: list[set[CellKey]] = []
    for longest in (10**9, 0):
        monkeypatch.setattr(numbering, "LONG_RUNS", longest)
        table = numbering.Table(reassociate=False)
        one, other = numbering.numbered(steps, table)
        assert any(key[0] == "value" for key in table.keys) == (longest == 0)
        known = [{place: final.number for place, final in run.cells.items()} for run in (one, other)]
        found.append(
            {place for place in {*one.cells, *other.cells} if known[0].get(place) != known[1].get(place)}
        )
        assert {final.line for run in (one, other) for final in run.cells.values()} == {1}
    assert found[0] == found[1]
    assert bool(found[0]) == (name != "branches")


def test_what_leads_to_a_cell_after_many_executions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The witness has no first difference then, and is the same otherwise."""
    old = _up_to("i", N, ROW.call())
    pair = native_pair(_pair(old, _up_to("i", _more(N, -1), ROW.call())))
    said: list[str] = []
    for most in (running.MOST_NUMBERED, 5):
        monkeypatch.setattr(running, "MOST_NUMBERED", most)
        pair.run({"n": 9}, MOST)
        found = pair.confirmed({"n": 9})
        assert found is not None
        said.append(found.witness)
    assert "the first difference" in said[0] and said[0].startswith(said[1])


def test_numbers_that_do_not_fit_are_not_encoded() -> None:
    large = (Scaled(1 << 64, OUTER), Sum((OUTER, Int(-(1 << 60)))), FloorDiv(OUTER, 1 << 63))
    for value in (*large, *(kind(OUTER, by) for kind in (FloorDiv, TruncDiv, Rem) for by in (0, -2))):
        program = _up_to("i", N, Let("j", value, INSIDE))
        with pytest.raises(NotNative):
            native_pair(_pair(program, program))


@pytest.mark.parametrize("flags", (("-no-such-option",), ("-fsyntax-only",), ("-c",)))
def test_without_a_compiler(flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor with one that writes nothing, or what is no library."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(native, "FLAGS", flags)
    monkeypatch.setattr(native, "compiled_runner", native.compiled_runner.__wrapped__)
    with pytest.raises(NotNative):
        native_pair(_pair(PROGRAMS["floors"], PROGRAMS["floors"]))


STEPS = """void steps(int T, int n, double a[n][n][n]) {
  for (int t = 0; t < T; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
          a[i][j][k] = a[i][j][k] * 0.5 + t;
}
"""


def test_a_witness_of_many_executions_is_made_smaller(tmp_path: Path) -> None:
    """Sizes past a tile are tried as 33 to 40; the step that is left out is number 21."""
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(STEPS)
    new.write_text(STEPS.replace("t < T", "t < (T < 20 ? T : 20)"))
    found = compare_files(old, new).verdict
    assert isinstance(found, Refuted) and found.parameters == {"T": 21, "n": 1}


@pytest.mark.parametrize("longest", (counterexample.LONG_RUNS, 0))
def test_inputs_of_a_stencil_that_are_easy_to_repeat(
    longest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal numbers show nothing where neighbours are averaged; of long runs nothing else is tried."""
    monkeypatch.setattr(counterexample, "LONG_RUNS", longest)
    monkeypatch.setattr(counterexample, "MOST_STEPS", 0)
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(STENCIL)
    new.write_text(STENCIL.replace("a[i + 2]", "a[i + 1]"))
    found = compare_files(old, new).verdict
    assert isinstance(found, Refuted)
    assert "with 1 in cells with an odd sum of subscripts, 0 in all other cells" in found.witness


STENCIL = """void step(int n, double a[n], double b[n]) {
  for (int i = 2; i < n - 2; i++)
    b[i] = 0.25 * (a[i - 2] + a[i - 1] + a[i + 1] + a[i + 2]);
}
"""
