"""Programs in the style of a well-known suite: read, and run as the model says.

The model is checked against the compiler: every statement is replaced by a print of its number
and iterators, and what the compiled loops print is what the schedule orders.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from loopwright.model.program import Program
from loopwright.read.c.reader import read_c
from tests.c.support import KERNELS, instances
from tests.conftest import ROOT

FILES = sorted(KERNELS.glob("*.c")) + sorted((ROOT / "kernels").glob("*.c"))


@pytest.fixture(params=FILES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def program(request: pytest.FixtureRequest) -> Program:
    return read_once(request.param)


@cache
def read_once(path: Path) -> Program:
    (found,) = read_c(path)
    return found


@pytest.mark.parametrize(
    ("name", "count", "params"),
    [
        ("adi", 27, ("_PB_N", "_PB_TSTEPS")),
        ("correlation", 15, ("_PB_M", "_PB_N")),
        ("deriche", 42, ("_PB_W", "_PB_H")),
        ("durbin", 10, ("_PB_N",)),
        ("fdtd", 4, ("_PB_TMAX", "_PB_NY", "_PB_NX")),
        ("floyd", 1, ("POLYBENCH_LOOP_BOUND_2800_n",)),
        ("gramschmidt", 7, ("_PB_N", "_PB_M")),
        ("heat", 2, ("TSTEPS", "_PB_N")),
        ("ludcmp", 12, ("_PB_N",)),
        ("nussinov", 5, ("_PB_N",)),
    ],
)
def test_what_is_found(name: str, count: int, params: tuple[str, ...]) -> None:
    (program,) = read_c(KERNELS / f"{name}.c")
    assert len(program.statements) == count
    assert program.params == params
    assert all(access.must for statement in program.statements for access in statement.writes)


def test_the_schedule_is_one_to_one(program: Program) -> None:
    assert program.schedule().is_injective() and program.schedule().is_single_valued()


def traced(program: Program, values: dict[str, int]) -> str:
    """A C program that prints the statements of the region as they are reached."""
    iterators = sorted({name for statement in program.statements for name in statement.iterators})
    pieces = ["#include <stdio.h>\n", f"int main(void) {{ int {', '.join(iterators)};\n"]
    position = program.region.start
    text = program.source.text
    for statement in program.statements:
        body = statement.body.place
        form = "%d" + " %d" * statement.depth
        arguments = "".join(f", {iterator}" for iterator in statement.iterators)
        number = statement.name.lstrip("S")
        pieces += [text[position : body.start], f'printf("{form}\\n", {number}{arguments});']
        position = body.end
    pieces += [text[position : program.region.end], "return 0; }\n"]
    code = "".join(pieces)
    for parameter in program.parameters:
        code = re.sub(rf"\b{re.escape(parameter.text)}(?!\w)", str(values[parameter.name]), code)
    return code


@pytest.mark.parametrize("size", [1, 4])
def test_the_compiled_loops_run_the_schedule(program: Program, size: int, tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    values = {name: size + offset for offset, name in enumerate(program.params)}
    source = tmp_path / "trace.c"
    source.write_text(traced(program, values))
    binary = tmp_path / "trace"
    subprocess.run([compiler, "-w", "-o", str(binary), str(source)], check=True)
    output = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout
    ran = [tuple(map(int, line.split())) for line in output.splitlines()]
    ordered = [(int(name.lstrip("S")), *point) for name, point in instances(program, values)]
    assert ran == ordered
