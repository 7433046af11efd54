"""OpenScop in: what was written comes back, other tools' habits are understood, nonsense is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import islpy as isl
import pytest

from loopwright.emit.openscop import to_openscop
from loopwright.emit.region import described_text
from loopwright.errors import BadInput, Illegal
from loopwright.generate.program import generate
from loopwright.model.program import Program
from loopwright.model.schedule import Band, Schedule
from loopwright.prove.legality.rescheduling import prove_rescheduled
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved
from loopwright.read.openscop import parse, read_openscop
from loopwright.read.schedules import read_schedule
from loopwright.read.text import without_comments
from loopwright.source import Source
from tests.conftest import ROOT
from tests.kernel_programs import kernel_program

KERNELS = sorted(path.stem for path in (ROOT / "kernels").glob("*.c"))
GRID = (ROOT / "examples" / "grid.scop").read_text()

TILED = (
    GRID.replace(
        "4 5 2 0 0 1\n1  1  0  0 -1\n1 -1  0  1 -1\n1  0  1  0 -1\n1  0 -1  1 -1",
        "6 6 3 0 0 1\n1 0 1 0 0 -1\n1 0 -1 0 1 -1\n1 0 0 1 0 -1\n1 0 0 -1 1 -1\n1 -8 1 0 0 0\n1 8 -1 0 0 7",
    )
    .replace(
        "2 7 2 2 0 1\n0 -1  0  1  0  0  0\n0  0 -1  0  1  0  0",
        "3 9 3 3 0 1\n0 -1 0 0 1 0 0 0 0\n0 0 -1 0 0 0 1 0 0\n0 0 0 -1 0 1 0 0 0",
    )
    .replace("3 8 3 2 0 1", "3 9 3 3 0 1")
    .replace("0 -1  0  0  0  0  0  1", "0 -1 0 0 0 0 0 0 1")
    .replace("0  0 -1  0  1  0  0", "0 0 -1 0 0 1 0 0")
    .replace("0  0  0 -1  0  1  0", "0 0 0 -1 0 0 1 0")
)
"""i in tiles of 8, their number in front of i and j; inside a tile, j is the outer loop."""


def program(tmp_path: Path, text: str, name: str = "given.scop") -> Program:
    file = tmp_path / name
    file.write_text(text)
    return read_openscop(file)


@pytest.mark.parametrize("name", KERNELS)
def test_what_is_written_is_read(name: str, tmp_path: Path) -> None:
    given = kernel_program(name)
    text = to_openscop(given)
    found = program(tmp_path, text)
    assert found.context.is_equal(given.context.align_params(found.context.get_space()))
    assert found.schedule().is_equal(_renamed(given, given.schedule(), found))
    for mine, theirs in zip(found.statements, given.statements, strict=True):
        assert mine.iterators == theirs.iterators
        assert [(a.array, a.is_write) for a in mine.accesses] == [
            (a.array, a.is_write) for a in theirs.accesses
        ]
    assert to_openscop(found) == text


def _renamed(given: Program, schedule: isl.UnionMap, found: Program) -> isl.UnionMap:
    """With the names S1, S2, ... of the statements in the order of the file."""
    renamed = isl.UnionMap.empty(found.context.get_space())
    for mine, theirs in zip(found.statements, given.statements, strict=True):
        times = theirs.schedule.intersect_domain(theirs.domain).intersect_params(given.context)
        renamed = renamed.union(isl.UnionMap.from_map(times.set_tuple_name(isl.dim_type.in_, mine.name)))
    return renamed


def test_the_loops_have_the_texts_of_the_statements(tmp_path: Path) -> None:
    schedule, text = _generated(program(tmp_path, TILED), parse(TILED, "tiled.scop"))
    assert isinstance(prove_scan(schedule, generate(schedule)), Proved)
    assert text == (
        "for (int t1 = 0; t1 <= (n - 1) / 8; t1 += 1)\n"
        "  for (int j = 1; j < n; j += 1)\n"
        "    for (int i = max(1, 8 * t1); i <= min(n - 1, 8 * t1 + 7); i += 1)\n"
        "      A[i][j] = A[i-1][j] + A[i][j-1];\n"
    )


def _generated(scop: Program, schedule: Schedule) -> tuple[Schedule, str]:
    return schedule, described_text(generate(schedule), scop)


def test_a_loop_does_not_take_a_name_of_the_text(tmp_path: Path) -> None:
    text = GRID.replace("A[i][j] = A[i-1][j] + A[i][j-1];", "A[i][j] = c0 * A[i-1][j] + q.i;")
    text = text.replace("0 -1  0  1  0  0  0\n", "0 -1  0  1  1  0  0\n")
    _, code = _generated(program(tmp_path, text), parse(text, "named.scop"))
    assert "int c0_2 = 2" in code and "= c0 * A[c0_2 - j - 1][j] + q.i;" in code


def test_no_scattering_means_the_iterators_and_no_text_a_call() -> None:
    start, end = GRID.index("SCATTERING"), GRID.index("WRITE")
    text = GRID[:start] + GRID[end:]
    text = text.replace("\n5\nDOMAIN", "\n4\nDOMAIN")
    body = text[text.index("<body>") : text.index("</body>") + len("</body>\n")]
    text = text.replace(body, "").replace("1                       # extension", "0")
    schedule = parse(text, "plain.scop")
    assert isinstance(prove_scan(schedule, generate(schedule)), Proved)
    assert isinstance(schedule.tree, Band)
    expected = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ S1[i, j] -> [i, j] }")
    assert schedule.tree.schedule.is_equal(expected.intersect_domain(schedule.domain))


def test_names_in_the_old_way_and_default_names() -> None:
    plain = GRID.replace("<strings>\nn\n</strings>", "n")
    assert parse(plain, "a.scop").context.is_equal(parse(GRID, "b.scop").context)
    unnamed = GRID.replace("1                       # parameters are named\n<strings>\nn\n</strings>", "0")
    assert "P1" in str(parse(unnamed, "c.scop").context)


def test_another_order_is_proved_or_refuted_with_an_example(tmp_path: Path) -> None:
    before = program(tmp_path, GRID)
    assert prove_rescheduled(before, before).proved
    assert prove_rescheduled(before, read_openscop(ROOT / "examples" / "grid_waves.scop")).proved
    wrong = prove_rescheduled(before, read_openscop(ROOT / "examples" / "grid_wrong.scop"))
    assert not wrong.proved and wrong.violations[0].parameters == {"n": 3}
    assert prove_rescheduled(before, program(tmp_path, TILED, "tiled.scop")).proved


def test_tiles_that_run_an_instance_twice_are_refuted(tmp_path: Path) -> None:
    overlapping = TILED.replace("1 8 -1 0 0 7", "1 8 -1 0 0 8")
    verdict = prove_rescheduled(program(tmp_path, GRID), program(tmp_path, overlapping, "new.scop"))
    assert [defect.kind.value for defect in verdict.defects] == ["scheduled twice"]


def test_tiles_that_leave_an_instance_out_are_refuted(tmp_path: Path) -> None:
    gaps = TILED.replace("1 8 -1 0 0 7", "1 8 -1 0 0 6")
    verdict = prove_rescheduled(program(tmp_path, GRID), program(tmp_path, gaps, "new.scop"))
    assert [defect.kind.value for defect in verdict.defects] == ["unscheduled"]


def test_an_instance_too_many_is_refuted(tmp_path: Path) -> None:
    more = GRID.replace("1 -1  0  1 -1", "1 -1  0  1  0")
    with pytest.raises(Illegal, match=r"an instance is run that .* lacks") as caught:
        prove_rescheduled(program(tmp_path, GRID), program(tmp_path, more, "new.scop"))
    assert caught.value.witness == "n = 2: S1(i = 2, j = 1)"


def test_instances_at_one_time_are_right_where_they_are_independent(tmp_path: Path) -> None:
    """All of a diagonal at once; the original may not leave such things open."""
    waves = GRID.replace("0  0 -1  0  1  0  0\nWRITE", "0  0 -1  0  0  0  0\nWRITE")
    waves = waves.replace("0 -1  0  1  0  0  0\n", "0 -1  0  1  1  0  0\n")
    assert prove_rescheduled(program(tmp_path, GRID), program(tmp_path, waves, "new.scop")).proved
    with pytest.raises(BadInput, match="does not order two instances"):
        prove_rescheduled(program(tmp_path, waves, "new.scop"), program(tmp_path, GRID))


def test_a_program_that_touches_nothing_has_no_right_order(tmp_path: Path) -> None:
    silent = program(tmp_path, GRID.replace("WRITE ", "READ  "))
    with pytest.raises(BadInput, match="S1 writes nothing"):
        prove_rescheduled(silent, silent)


def test_another_program_is_not_an_order_of_this_one(tmp_path: Path) -> None:
    before = program(tmp_path, GRID)
    other = program(tmp_path, GRID.replace("+ A[i][j-1]", "- A[i][j-1]"), "other.scop")
    with pytest.raises(BadInput, match=r"statement S1 is another, 'A\[_0\]\[_1\] = .* - "):
        prove_rescheduled(before, other)
    fewer = program(tmp_path, GRID.replace("1  1 -2\n", "1  1 -9\n"), "fewer.scop")
    with pytest.raises(BadInput, match="fewer sizes"):
        prove_rescheduled(before, fewer)
    renamed = program(
        tmp_path,
        GRID.replace("i j\nA[i][j] = A[i-1][j] + A[i][j-1];", "x y\nA[x][y] = A[x-1][y] + A[x][y-1];"),
        "renamed.scop",
    )
    assert prove_rescheduled(before, renamed).proved


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<OpenScop>\n", "", "where <OpenScop> should be"),
        ("CONTEXT", "DOMAIN", "where CONTEXT should be"),
        ("</OpenScop>\n", "", "the file ends where </OpenScop>"),
        ("</OpenScop>\n", "</OpenScop>\n<OpenScop>\n", "a second scop in one file"),
        ("SCATTERING ", "SCATTER ", "'SCATTER' is not a kind of relation"),
        ("SCATTERING ", "DOMAIN ", "2 domains and 0 scatterings"),
        ("4 5 2 0 0 1", "4 5 2 1 0 0", "does not fit 1 parameters"),
        ("4 5 2 0 0 1", "4 6 2 0 0 1", "cannot have 6 columns"),
        ("0 -1  0  1  0  0  0", "0 -1  0  1  0  0", "a row of 6 numbers in a matrix of 7 columns"),
        ("0 -1  0  1  0  0  0", "2 -1  0  1  0  0  0", "2 is not a kind of constraint"),
        ("0 -1  0  0  0  0  0  1", "1 -1  0  0  0  0  0  1", "without the number of its array"),
        ("\nn\n", "\nn m\n", "2 different names for 1 parameters"),
        ("\nn\n", "\n2n\n", "'2n' is not a name"),
        ("2\ni j\n", "3\ni j\n", "2 names for 3 iterators"),
        ("2\ni j\n", "3\ni j k\n", "3 iterators in a domain of 2 dimensions"),
        ("<body>", "body", "where an extension such as <body> should begin"),
        ("</body>\n", "", "the file ends where </body>"),
        ("1 A\n", "1 A B\n", "an array is a number and a name"),
        (
            "3 8 3 2 0 1\n0 -1  0  0  0  0  0  1\n0  0 -1  0  1  0  0 -1\n0  0  0 -1  0  1  0  0",
            "2 7 2 2 0 1\n0 -1  0  0  0  0  1\n0  0 -1  1  0  0 -1",
            "1 subscripts of A, which has 2 elsewhere",
        ),
    ],
)
def test_nonsense_is_refused_at_its_place(old: str, new: str, message: str) -> None:
    assert old in GRID
    with pytest.raises(BadInput) as caught:
        parse(GRID.replace(old, new, 1), "bad.scop")
    assert message in caught.value.message and caught.value.span is not None


def test_comments_do_not_matter() -> None:
    plain = without_comments(Source("x", GRID)).text
    assert read_schedule(ROOT / "examples" / "grid.scop").domain.is_equal(parse(plain, "x").domain)


def test_prove_on_the_command_line(tmp_path: Path) -> None:
    examples = ROOT / "examples"
    for new, code in (("grid_waves.scop", 0), ("grid_wrong.scop", 1), ("triangle.cloog", 2)):
        done = subprocess.run(
            [sys.executable, "-m", "loopwright", "prove", examples / "grid.scop", examples / new],
            capture_output=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
