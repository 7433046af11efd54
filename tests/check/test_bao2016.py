"""[Bao2016, figures 1, 2 and 6, tables 1 to 4]."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl
import pytest

from loopwright.check.original.specification import Specification
from loopwright.check.original.writers import Writers, writers
from loopwright.check.program.segment import parse_input
from loopwright.check.run.findings import ErrorClass, StatementInstance
from loopwright.check.run.judged import Job
from loopwright.check.run.report import Answer, explanation
from loopwright.check.verify import CheckOptions, check_text, prepared
from loopwright.source import Source
from tests.check.figures import FIGURE_1, figure_1, figure_6
from tests.check.oracle import traced
from tests.check.support import QUICK


@pytest.mark.parametrize("algorithm", ["a", "codes"])
@pytest.mark.parametrize("version", sorted(FIGURE_1))
def test_figure_1(version: str, algorithm: str) -> None:
    report = check_text(figure_1(version), options=CheckOptions(algorithm=algorithm, tools=QUICK))
    assert report.answer is Answer.VALID
    if algorithm == "a":
        assert report.operations == 100


def test_figure_1c_needs_coprime_numbers() -> None:
    """With N = 98 = 14 · 7 the walk in steps of 7 comes back before it has been everywhere."""
    report = check_text(figure_1("c", 98), options=CheckOptions(tools=QUICK))
    assert report.answer is Answer.VIOLATION
    assert [finding.kind for finding in report.findings] == [ErrorClass.MISSING]
    assert report.violations == 98 - 14


def _seidel(*, swapped: bool = False) -> Job:
    given = parse_input(Source("p.c", figure_6(swapped=swapped)))
    return prepared(given, CheckOptions(tools=QUICK))


def _image(parts: Iterable[isl.Map], point: tuple[int, ...]) -> tuple[int, ...] | None:
    """The value of a writer function at a point; None where it has none."""
    for part in parts:
        here = part.domain().get_space()
        one = isl.Set.universe(here)
        for k, number in enumerate(point):
            one = one.fix_val(isl.dim_type.set, k, isl.Val(number))
        image = one.apply(part)
        if not image.is_empty():
            found = image.sample_point()
            count = image.dim(isl.dim_type.set)
            values = (found.get_coordinate_val(isl.dim_type.set, k) for k in range(count))
            return tuple(value.to_python() for value in values)
    return None


TABLE_1 = """\
-  -        -        -
-  S[0,1,1] S[0,1,2] S[0,1,3]
-  S[0,2,1] S[0,2,2] S[0,2,3]
-  S[0,3,1] S[0,3,2] S[0,3,3]"""

TABLE_2 = """\
S<0,1,1> A[1,1] S<1,1,1> A[0,1] - A[1,0] -
S<0,1,2> A[1,2] S<1,1,2> A[0,2] - A[1,1] S<0,1,1>
S<0,1,3> A[1,3] S<1,1,3> A[0,3] - A[1,2] S<0,1,2>
S<0,2,1> A[2,1] S<1,2,1> A[1,1] S<0,1,1> A[2,0] -
S<0,2,2> A[2,2] S<1,2,2> A[1,2] S<0,1,2> A[2,1] S<0,2,1>
S<0,2,3> A[2,3] S<1,2,3> A[1,3] S<0,1,3> A[2,2] S<0,2,2>
S<0,3,1> A[3,1] S<1,3,1> A[2,1] S<0,2,1> A[3,0] -
S<0,3,2> A[3,2] S<1,3,2> A[2,2] S<0,2,2> A[3,1] S<0,3,1>
S<0,3,3> A[3,3] S<1,3,3> A[2,3] S<0,2,3> A[3,2] S<0,3,2>
S<1,1,1> A[1,1] - A[0,1] - A[1,0] -
S<1,1,2> A[1,2] - A[0,2] - A[1,1] S<1,1,1>
S<1,1,3> A[1,3] - A[0,3] - A[1,2] S<1,1,2>
S<1,2,1> A[2,1] - A[1,1] S<1,1,1> A[2,0] -
S<1,2,2> A[2,2] - A[1,2] S<1,1,2> A[2,1] S<1,2,1>
S<1,2,3> A[2,3] - A[1,3] S<1,1,3> A[2,2] S<1,2,2>
S<1,3,1> A[3,1] - A[2,1] S<1,2,1> A[3,0] -
S<1,3,2> A[3,2] - A[2,2] S<1,2,2> A[3,1] S<1,3,1>
S<1,3,3> A[3,3] - A[2,3] S<1,2,3> A[3,2] S<1,3,2>"""

TABLE_3 = """\
A[1,1] - S<0,1,1> A[0,1] - A[1,0] -
A[1,2] - S<0,1,2> A[0,2] - A[1,1] S<0,1,1>
A[2,1] - S<0,2,1> A[1,1] S<0,1,1> A[2,0] -
A[2,2] - S<0,2,2> A[1,2] S<0,1,2> A[2,1] S<0,2,1>
A[1,3] - S<0,1,3> A[0,3] - A[1,2] S<0,1,2>
A[2,3] - S<0,2,3> A[1,3] S<0,1,3> A[2,2] S<0,2,2>
A[3,1] - S<0,3,1> A[2,1] S<0,2,1> A[3,0] -
A[3,2] - S<0,3,2> A[2,2] S<0,2,2> A[3,1] S<0,3,1>
A[3,3] - S<0,3,3> A[2,3] S<0,2,3> A[3,2] S<0,3,2>
A[1,1] S<0,1,1> S<1,1,1> A[0,1] - A[1,0] -
A[1,2] S<0,1,2> S<1,1,2> A[0,2] - A[1,1] S<1,1,1>
A[2,1] S<0,2,1> S<1,2,1> A[1,1] S<1,1,1> A[2,0] -
A[2,2] S<0,2,2> S<1,2,2> A[1,2] S<1,1,2> A[2,1] S<1,2,1>
A[1,3] S<0,1,3> S<1,1,3> A[0,3] - A[1,2] S<1,1,2>
A[2,3] S<0,2,3> S<1,2,3> A[1,3] S<1,1,3> A[2,2] S<1,2,2>
A[3,1] S<0,3,1> S<1,3,1> A[2,1] S<1,2,1> A[3,0] -
A[3,2] S<0,3,2> S<1,3,2> A[2,2] S<1,2,2> A[3,1] S<1,3,1>
A[3,3] S<0,3,3> S<1,3,3> A[2,3] S<1,2,3> A[3,2] S<1,3,2>"""

TABLE_4 = """\
A[1,1] - S<0,1,1> A[0,1] - A[1,0] -
A[1,2] - S<0,1,2> A[0,2] - A[1,1] S<0,1,1>
A[2,2] - S<0,2,2> A[1,2] S<0,1,2> A[2,1] -
A[2,1] - S<0,2,1> A[1,1] S<0,1,1> A[2,0] -"""


def _numbers(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))


def _instance(values: tuple[int, ...] | None) -> str:
    return "-" if values is None else f"S<{_numbers(values)}>"


def _cell(values: tuple[int, ...]) -> str:
    return f"A[{_numbers(values)}]"


def test_table_1() -> None:
    found = writers(_seidel().spec).arrays["A"]
    rows = []
    for i in range(4):
        images = [_image(found.first, (i, j)) for j in range(4)]
        rows.append(["-" if one is None else f"S[{_numbers(one)}]" for one in images])
    assert rows == [line.split() for line in TABLE_1.splitlines()]


def _order(spec: Specification) -> list[tuple[int, ...]]:
    times = [range(2), range(1, 4), range(1, 4)]
    assert spec.statements[0].domain.count_val().to_python() == 18
    return [(t, i, j) for t in times[0] for i in times[1] for j in times[2]]


def test_table_2() -> None:
    spec = _seidel().spec
    found = writers(spec)
    (statement,) = spec.statements
    rows = []
    for instance in _order(spec):
        write = _image([statement.write.relation], instance)
        assert write is not None
        row = [_instance(instance), _cell(write), _instance(_image(found.arrays["A"].next, instance))]
        for read, before in zip(statement.reads, found.before[statement.name], strict=True):
            cell = _image([read.relation], instance)
            assert cell is not None
            row += [_cell(cell), _instance(_image(before, instance))]
        rows.append(" ".join(row))
    assert rows == TABLE_2.splitlines()


def _figure_4(job: Job, found: Writers) -> list[str]:
    """The shadows as figure 4 changes them, for the operations the program really runs."""
    array = found.arrays["A"]
    shadow: dict[tuple[int, ...], tuple[int, ...]] = {}
    rows = []
    for (_, cell, _), operation in traced(job).operations.items():
        old = shadow.get(cell)
        new = _image(array.first, cell) if old is None else _image(array.next, old)
        row = [_cell(cell), _instance(old), _instance(new)]
        for _, read, _ in operation.reads:
            row += [_cell(read), _instance(shadow.get(read))]
        assert new is not None
        shadow[cell] = new
        rows.append(" ".join(row))
    return rows


def test_table_3() -> None:
    job = _seidel()
    assert _figure_4(job, writers(job.spec)) == TABLE_3.splitlines()


def test_table_4() -> None:
    job = _seidel(swapped=True)
    assert _figure_4(job, writers(job.spec))[:4] == TABLE_4.splitlines()


@pytest.mark.parametrize("algorithm", ["a", "codes"])
def test_figure_6(algorithm: str) -> None:
    report = check_text(figure_6(), options=CheckOptions(algorithm=algorithm, tools=QUICK))
    assert report.answer is Answer.VALID


@pytest.mark.parametrize("algorithm", ["a", "codes", "auto"])
def test_the_error_of_table_4_is_found_at_the_third_operation(algorithm: str) -> None:
    report = check_text(figure_6(swapped=True), options=CheckOptions(algorithm=algorithm, tools=QUICK))
    assert report.answer is Answer.VIOLATION
    first = report.findings[0]
    assert (first.kind, first.operation, first.depth) == (ErrorClass.TOO_SOON, 3, 3)
    assert first.match == StatementInstance(0, (0, 2, 2))
    assert (first.found, first.wanted) == (None, StatementInstance(0, (0, 2, 1)))
    assert explanation(report, first) == (
        "S1[0, 2, 2] runs too soon: it reads A[2][1], which nothing has written yet; "
        "expected S1[0, 2, 1] to have written it"
    )


def test_the_sets_of_figure_2() -> None:
    spec = _seidel().spec
    found = writers(spec)
    written = isl.Set("{ A[i, j] : 1 <= i <= 3 and 1 <= j <= 3 }")
    assert found.arrays["A"].write_set.is_equal(written)
    for cell in ((1, 1), (3, 2)):
        assert _image(found.arrays["A"].last, cell) == (1, *cell)
