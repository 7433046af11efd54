"""The run-time library of a check is C without warnings from compilers and analysers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.check import runtime
from loopwright.check.algorithms.codes import CodeScheme, codes
from loopwright.check.algorithms.fast import fast_check
from loopwright.check.algorithms.precise import precise_tables
from loopwright.check.original.writers import writers
from loopwright.check.program.segment import parse_input
from loopwright.check.run.judged import Job
from loopwright.check.run.sizes import extents_tables
from loopwright.check.verify import CheckOptions, delayed, prepared
from loopwright.source import Source
from tests.check.figures import figure_6
from tests.check.support import QUICK, kernel, quick, small
from tests.check.test_bad_input import text
from tests.conftest import share

FOLDER = Path(runtime.__file__).parent
STRICT = ("gcc", "-std=c11", "-Wall", "-Wextra", "-Wmissing-prototypes", "-Wshadow", "-Werror")
POINTERS = text(
    "double *p = A; for (i = 0; i < N; i++) { *p = B[i]; p++; } s.d[0] = 1;",
    functions="struct { double *d; } s;",
    before="double other[3]; s.d = other;",
)


def _job(name: str) -> Job:
    if name == "figure 6":
        return prepared(parse_input(Source("p.c", figure_6())), CheckOptions(tools=QUICK))
    if name == "pointers":
        return prepared(parse_input(Source("p.c", POINTERS)), CheckOptions(tools=QUICK))
    path = kernel(name)
    return prepared(parse_input(Source(str(path), path.read_text()), path), quick(small(name)))


def _lint(folder: Path, file: str, *options: str) -> None:
    command = [*STRICT, *options, "-I", str(FOLDER), "-I", str(folder), "-c", "-o", "/dev/null", file]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_file_is_listed() -> None:
    listed = {*runtime.ENGINES, *runtime.HEADERS, runtime.TERMS, runtime.ALLOCATED}
    assert {path.name for path in FOLDER.glob("*.[ch]")} == listed


@pytest.mark.parametrize("name", ["probe.c", "team.c"])
def test_files_that_depend_on_nothing(name: str, tmp_path: Path) -> None:
    _lint(tmp_path, str(FOLDER / name), "-fanalyzer")


@pytest.mark.parametrize(
    "name", ["figure 6", "pointers", *share(["gemm", "lu", "nussinov", "heat-3d", "deriche"], 2)]
)
def test_engines_with_the_tables_of_a_program(name: str, tmp_path: Path) -> None:
    job = _job(name)
    found = writers(job.spec)
    scheme = CodeScheme(job.spec, found, codes(job.spec))
    tables = {
        "precise.c": precise_tables(job.spec, found, job.sites.sites),
        "delayed.c": fast_check(job.spec, found, scheme, job.sites, (), parallel=False).tables,
        "extents.c": extents_tables(job.spec, job.sites),
    }
    for engine, content in tables.items():
        (tmp_path / runtime.TABLES_HEADER).write_text(content)
        _lint(tmp_path, str(FOLDER / engine), "-fanalyzer")
    if name == "pointers":
        texts = (runtime.runtime_text(one) for one in ("delayed.c", runtime.ALLOCATED))
        (tmp_path / runtime.TABLES_HEADER).write_text(tables["delayed.c"])
        (tmp_path / "engine.c").write_text("".join(texts))
        _lint(tmp_path, "engine.c", "-Wno-missing-prototypes")


@pytest.mark.parametrize("name", ["figure 6", "pointers", "gemm", "lu", "heat-3d"])
def test_headers_that_programs_include(name: str, tmp_path: Path) -> None:
    """What only the program itself calls is unused here."""
    job = _job(name)
    built = delayed(job, writers(job.spec), CheckOptions(tools=QUICK))
    (tmp_path / runtime.PROGRAM_HEADER).write_text(built.header)
    (tmp_path / "alone.c").write_text(f'#include "{runtime.PROGRAM_HEADER}"\nint lw_none;\n')
    _lint(tmp_path, "alone.c", "-Wno-unused-function", "-Wno-unused-variable")
