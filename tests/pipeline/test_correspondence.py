"""A text against its model: by isl as a whole, by cvc5 step by step [Namjoshi2016, section 4.2]."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from hypothesis import assume, given, settings

from benchmarks.deciders import Isl
from loopwright.errors import GaveUp
from loopwright.loops.expressions import And, Compare, Int, Relation, Rem, TruncDiv, Var
from loopwright.model.program import Program
from loopwright.prove.obligations.cvc5 import Cvc5
from loopwright.prove.obligations.formulas import Fails, Holds, Obligation
from loopwright.prove.reading.loops import text_loops
from loopwright.prove.text.correspondence import prove_model
from loopwright.prove.text.ranking import prove_ranking, ranking_obligations
from loopwright.prove.text.steps import steps_of
from loopwright.prove.verdict import Proved, Refuted
from loopwright.read.c.reader import parse_c, read_c
from loopwright.source import Source
from tests.c.support import region
from tests.c.test_random import Tree, trees
from tests.conftest import ROOT, examples
from tests.pipeline.support import file, run, wrapped

KERNELS = sorted((Path(__file__).parents[1] / "c" / "kernels").glob("*.c")) + sorted(
    (ROOT / "kernels").glob("*.c")
)


@pytest.fixture(autouse=True)
def needs_cvc5() -> None:
    pytest.importorskip("cvc5")


def program(body: str, head: str = "") -> Program:
    (found,) = parse_c(Source("t.c", wrapped(body, head=head)))
    return found


ASSUMED = "#pragma loopwright assume n >= 0\n"
LOOPS = {
    "none": "  a[0] = 1;\n  a[1] = 2;",
    "upwards by steps": "  for (i = m; i < n; i += 3)\n    a[i] = 0;",
    "downwards": "  for (i = n - 1; i >= m; i -= 2)\n    a[i] = 0;",
    "often empty inside": "  for (i = 0; i < n; i++)\n    for (j = i + 5; j < m; j++)\n      A[i][j] = 0;",
    "several bounds": "  for (i = 0; i < n && i < m; i++)\n    a[i] = 0;",
    "a first value out of two": "  for (i = n > m ? n : m; i < 2 * n; i++)\n    a[i] = 0;",
    "branches": (
        "  for (i = 0; i < n; i++) {\n    if (i % 2 == 0 && i < m)\n      a[i] = 0;\n    else if (i > 7)\n"
        "      a[i] = 1;\n    b[i] = 2;\n  }"
    ),
    "a local value": (
        "  for (i = 0; i < n; i++) {\n    int rest = n - i;\n"
        "    for (j = 0; j < rest; j++)\n      A[i][j] = 0;\n  }"
    ),
    "a loop without statements": "  for (i = 0; i < n; i++)\n    ;\n  a[0] = 1;",
    "halves": "  for (i = 0; i < n / 2; i++)\n    a[i] = b[2 * i];",
    "up to a value": ASSUMED + "  for (i = 0; i != n; i++)\n    a[i] = 0;",
    "down to a value": ASSUMED + "  for (i = n; i != 0; i--)\n    a[i - 1] = 0;",
    "up to a value by steps": "  for (i = n; i != n + 12; i += 3)\n    a[i] = 0;",
    "up to a value or a bound": "  for (i = 0; i < n && i != m; i++)\n    a[i] = 0;",
    "up to the first of some": "  for (i = m; i % 5 != 3; i++)\n    a[i] = 0;",
    "a loop up to a value inside": (
        "  for (i = 0; i < n; i++)\n    for (j = i; j != n; j++) {\n      A[i][j] = 0;\n"
        "      for (k = 0; k != j; k++)\n        A[i][j] += k;\n    }"
    ),
    "a macro in a bound": "  for (i = 0; i < HALF(n); i++)\n    a[i] = 0;",
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_every_kind(name: str) -> None:
    read = program(LOOPS[name], "#define HALF(x) ((x) / 2)\n")
    assert isinstance(prove_model(read), Proved)
    verdict = prove_ranking(read, Cvc5())
    assert isinstance(verdict, Proved), verdict


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_kernels(path: Path) -> None:
    for read in read_c(path):
        verdict = prove_ranking(read, Cvc5())
        assert isinstance(verdict, Proved), verdict


@settings(max_examples=examples(25))
@given(trees((), 3))
def test_no_true_model_is_refuted(tree: Tree) -> None:
    """Law: Inv, Rank1 and Rank2 hold of what the reader made, whatever the loops' tests."""
    read = region(tree.text)
    assume(len(read.statements) <= 6)
    assert not isinstance(prove_ranking(read, Cvc5(0.5)), Refuted)


NEST = (
    "  for (i = 0; i < n; i++) {\n    a[i] = 0;\n    for (j = i; j < n; j++)\n      a[i] += A[i][j];\n  }\n"
    "  b[0] = a[0];"
)


def misread(name: str, *, domain: isl.Set | None = None, schedule: isl.Map | None = None) -> Program:
    """NEST with something else in the model of one statement."""
    read = program(NEST)
    own = read.statement(name)
    other = replace(own, domain=domain or own.domain, schedule=schedule or own.schedule)
    return replace(read, statements=tuple(other if s.name == name else s for s in read.statements))


MISREAD = {
    "an instance too few": misread("S2", domain=isl.Set("[n] -> { S2[i, j] : 0 <= i < n and i < j < n }")),
    "an instance too many": misread("S2", domain=isl.Set("[n] -> { S2[i, j] : 0 <= i < n and i <= j <= n }")),
    "an instance after the end": misread("S1", domain=isl.Set("[n] -> { S1[i] : 0 <= i <= n }")),
    "an instance before the start": misread("S1", domain=isl.Set("[n] -> { S1[i] : -1 <= i < n }")),
    "a loop backwards": misread("S2", schedule=isl.Map("[n] -> { S2[i, j] -> [0, i, 1, -j, 0] }")),
    "statements exchanged": misread("S1", schedule=isl.Map("[n] -> { S1[i] -> [0, i, 2, 0, 0] }")),
    "the end at the start": misread("S3", schedule=isl.Map("[n] -> { S3[] -> [-1, 0, 0, 0, 0] }")),
    "never": misread("S3", domain=isl.Set("[n] -> { S3[] : n > 5 }")),
}


@pytest.mark.parametrize("name", MISREAD)
def test_a_model_that_is_not_the_text_is_seen_by_both(name: str) -> None:
    assert isinstance(prove_model(MISREAD[name]), Refuted)
    for prover in (Cvc5(), Isl()):
        verdict = prove_ranking(MISREAD[name], prover)
        assert isinstance(verdict, Refuted) and "does not hold" in verdict.message and verdict.witness


def broken(read: Program) -> set[str]:
    """The names of the conditions that do not hold of some step."""
    found = list(ranking_obligations(read))
    return {one.name for one, answer in zip(found, Cvc5().decide(found), strict=True) if answer != Holds()}


def test_the_conditions_are_those_of_namjoshi2016() -> None:
    assert broken(program(NEST)) == set()
    assert broken(MISREAD["an instance too few"]) == {"Inv"}
    assert broken(MISREAD["an instance after the end"]) == {"Rank2"}
    assert "Rank1" in broken(MISREAD["the end at the start"])


def test_the_points_of_a_nest() -> None:
    """Two statements, two heads; the heads of the paths listed for [Namjoshi2016, figure 1]."""
    steps = steps_of(text_loops(program(NEST)))
    assert sum(point.is_head for point in steps.points) == 2 and len(steps.points) == 5
    assert len(steps.entry) == 1


def test_cvc5_divides_as_c_does() -> None:
    at = Compare(Relation.EQ, Var("x"), Int(-7))
    quotient = Compare(Relation.EQ, TruncDiv(Var("x"), 2), Int(-3))
    remainder = Compare(Relation.EQ, Rem(Var("x"), 2), Int(-1))
    right = Obligation("right", "as C rounds", at, And((quotient, remainder)))
    wrong = Obligation("wrong", "as no one does", at, Compare(Relation.EQ, TruncDiv(Var("x"), 2), Int(-4)))
    assert Cvc5().decide([right, wrong]) == (Holds(), Fails({"x": -7}))


def test_where_cvc5_is_absent_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cvc5", None)
    with pytest.raises(GaveUp, match="not installed"):
        Cvc5().decide([])
    path = file(tmp_path, wrapped(NEST))
    assert run("transform", path, "--prover", "cvc5") == 3
    assert "pip install" in capsys.readouterr().err
    assert run("transform", path) == 0
