"""When each algorithm applies, and that they agree."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from loopwright.check.algorithms.codes import code_map, codes
from loopwright.check.algorithms.scheme import groups_of
from loopwright.check.algorithms.versions import can_count
from loopwright.check.original.writers import writers
from loopwright.check.program.segment import Input, parse_input
from loopwright.check.run.report import Answer
from loopwright.check.verify import CheckOptions, check_file, check_text, delayed, prepared, verdict
from loopwright.cli.main import main
from loopwright.errors import GaveUp
from loopwright.source import Source
from tests.check.figures import figure_1, figure_6
from tests.check.support import NAMES, QUICK, kernel, quick, shipped_script, small
from tests.check.test_races import PARALLEL
from tests.conftest import share

needs_barvinok = pytest.mark.skipif(not can_count(), reason="islpy-barvinok is not installed")
NO_RANK = ("doitgen", "durbin", "nussinov", "symm")
"""Kernels with a statement whose subscripts and affine version numbers do not determine it."""


def _input(name: str) -> Input:
    return parse_input(Source(str(kernel(name)), kernel(name).read_text()), kernel(name))


@pytest.mark.parametrize("name", ["gemm", "lu", "adi", "durbin", "correlation"])
def test_codes_tell_the_writers_of_a_cell_apart(name: str) -> None:
    """{ A[w] -> [code] } of all writers is one-to-one from writers, cell by cell; no code is 0."""
    spec = prepared(_input(name), quick(small(name))).spec
    found = codes(spec)
    for array in spec.written:
        total = 0
        pairs = isl.UnionSet("{ }")
        for statement in spec.writers(array):
            cells = statement.write.relation.range_product(code_map(found, statement))
            total += statement.domain.count_val().to_python()
            pairs = pairs.union(isl.UnionSet.from_set(cells.range()))
            assert code_map(found, statement).range().dim_min_val(0).to_python() >= 1
            assert code_map(found, statement).range().dim_max_val(0).to_python() < found.bounds[array]
        assert isl.Set.from_union_set(pairs).count_val().to_python() == total


def test_statements_that_look_alike_share_their_codes() -> None:
    spec = prepared(_input("lu"), quick({"N": 9})).spec
    assert [[one.name for one in group.members] for group in groups_of(spec)] == [["S1", "S3"], ["S2"]]


@pytest.mark.parametrize(
    ("times", "size"), [(1, 1), (254, 1), (255, 2), (65_534, 2), (65_535, 4), (1 << 31, 8)]
)
def test_shadows_are_as_small_as_codes_allow(times: int, size: int) -> None:
    """Codes 1 to R of a cell that is written R times, and 0."""
    text = figure_1("a").replace("#define N 100", f"#define N 4\n#define R {times}\nlong s;")
    text = text.replace("for (i=0; i<N; i++)", "for (s=0; s<R; s++) for (i=0; i<N; i++)")
    assert codes(prepared(parse_input(Source("p.c", text)), CheckOptions(tools=QUICK)).spec).size == {
        "A": size
    }


def test_codes_that_do_not_fit() -> None:
    loops = "".join(f"for (s{k}=0; s{k}<R; s{k}++) " for k in range(4))
    text = figure_1("a").replace("#define N 100", "#define N 4\n#define R 100000\nint s0, s1, s2, s3;")
    text = text.replace("for (i=0; i<N; i++)\n    A", f"{loops} for (i=0; i<N; i++)\n    A")
    job = prepared(parse_input(Source("p.c", text)), CheckOptions(tools=QUICK))
    with pytest.raises(GaveUp, match="do not fit into 64 bits"):
        codes(job.spec)
    report = verdict(job, writers(job.spec), CheckOptions(tools=QUICK))
    assert (report.answer, report.algorithm) == (Answer.VIOLATION, "algorithm A")


@pytest.mark.skipif(can_count(), reason="islpy-barvinok is installed")
def test_algorithm_b_says_what_it_lacks() -> None:
    with pytest.raises(GaveUp, match="barvinok"):
        check_text(figure_1("a"), options=CheckOptions(algorithm="b", tools=QUICK))


@needs_barvinok
@pytest.mark.parametrize("name", [name for name in share(NAMES, 3, 1) if name not in NO_RANK])
def test_algorithm_b(name: str) -> None:
    options = quick(small(name), "b")
    job = prepared(_input(name), options)
    report = verdict(job, writers(job.spec), options)
    assert (report.answer, report.algorithm) == (Answer.VALID, "algorithm B")


@needs_barvinok
@pytest.mark.parametrize("name", NO_RANK)
def test_the_rank_condition_of_algorithm_b(name: str) -> None:
    options = quick(small(name), "b")
    job = prepared(_input(name), options)
    with pytest.raises(GaveUp, match="do not determine its iterators"):
        delayed(job, writers(job.spec), options)


@needs_barvinok
def test_algorithm_b_finds_the_error_of_table_4() -> None:
    options = CheckOptions(algorithm="b", tools=QUICK)
    assert check_text(figure_6(), options=options).answer is Answer.VALID
    assert check_text(figure_6(swapped=True), options=options).findings[0].operation == 3


@pytest.mark.parametrize("name", ["gemm", "seidel-2d", "atax"])
def test_checks_in_place_of_operations(name: str) -> None:
    options = CheckOptions(small(name), "codes", QUICK, only_checks=True)
    assert check_file(kernel(name), kernel(name), options).answer is Answer.VALID


def test_checks_cannot_replace_operations_whose_values_are_used() -> None:
    text = figure_1("a").replace("/*S:*/", "if (A[0] < 1)")
    with pytest.raises(GaveUp, match="uses values it computes"):
        check_text(text, options=CheckOptions(tools=QUICK, only_checks=True))


def test_operations_outside_the_segment_are_not_checked() -> None:
    text = figure_1("f").replace("int i, j, T = 7, M = 4;", "int i, j, T = 7, M = 4; fn(0, 5);")
    text = text.replace("return 0;", "fn(3, 9); return 0;")
    for algorithm in ("a", "codes"):
        report = check_text(text, options=CheckOptions(algorithm=algorithm, tools=QUICK))
        assert (report.answer, report.notes) == (Answer.VALID, ())


def test_openmp_is_noted() -> None:
    report = check_text(PARALLEL, options=CheckOptions(tools=QUICK))
    assert report.answer is Answer.VALID
    assert any("no data races" in note for note in report.notes)


@pytest.mark.parametrize("name", ["atax", "lu", "jacobi-1d"])
def test_self(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a script makes is proved, and then checked while it runs."""
    script = tmp_path / "s.lw"
    script.write_text(shipped_script(name) or "")
    sizes = [f"-D{parameter}={number}" for parameter, number in small(name, first=9).items()]
    with pytest.raises(SystemExit) as ended:
        main(["check", str(kernel(name)), "--self", str(script), *sizes])
    assert ended.value.code == 0
    assert "valid: a reordering" in capsys.readouterr().out
