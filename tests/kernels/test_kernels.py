"""The shipped kernels: thirty programs, each with a script that is proved and changes no bit."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from loopwright.errors import Illegal
from loopwright.progress import silent
from loopwright.report.diagnostics import as_text
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.run.benchmark import first_difference
from loopwright.run.compiler import compile_c, find_compiler
from loopwright.run.timing import output_of
from tests.conftest import share

KERNELS = Path(__file__).parents[2] / "kernels"
FILES = sorted(KERNELS.glob("*.c"))
LOOPY = sorted((KERNELS / "loopy").glob("*.lw"))
APPENDIX_B = (
    "2mm", "3mm", "adi", "covariance", "doitgen", "fdtd-2d", "gemver", "gramschmidt", "heat-3d", "jacobi-2d",
    "lu", "mvt", "seidel-2d", "trmm",
)  # fmt: skip

EXACT = ("-O1", "-ffp-contract=off", "-std=c11")
"""Every operation rounded, and compiled quickly."""
SIZES = (131, 137, 149, 139, 151)
"""No multiple of any block, larger than most: full blocks and what is left of them both run."""

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def sizes(source: Path, given: tuple[int, ...] = SIZES) -> list[str]:
    """-D options for a small run: few time steps, awkward extents."""
    names = [name for name in re.findall(r"#ifndef (\w+)", source.read_text()) if name != "CLOCK"]
    steps = [name for name in names if name.startswith("T")]
    extents = [name for name in names if name not in steps]
    lengths = (2203,) if source.stem == "jacobi-1d" and given is SIZES else given
    return [f"-D{name}=23" for name in steps] + [
        f"-D{name}={length}" for name, length in zip(extents, lengths, strict=False)
    ]


def results(source: Path, program: Path, options: list[str]) -> bytes:
    compiled = compile_c(find_compiler(), source, program, (*EXACT, *options))
    return output_of([str(compiled), "--dump"], timeout=60)


@cache
def expected_results(kernel: Path) -> bytes:
    with TemporaryDirectory() as folder:
        return results(kernel, Path(folder) / "original", sizes(kernel))


def same_bits(kernel: Path, script: Path, folder: Path) -> None:
    request = Request(file=str(kernel), script=script.read_text(), script_file=str(script))
    new = folder / "new.c"
    new.write_bytes(transformed(request, silent).source.encode())
    expected = expected_results(kernel)
    assert len(expected) > 1000
    assert first_difference(results(new, folder / "transformed", sizes(kernel)), expected) is None


def test_there_are_thirty_and_each_has_a_script() -> None:
    assert len(FILES) == 30
    assert [path.stem for path in FILES if not path.with_suffix(".lw").exists()] == []
    assert tuple(path.stem for path in LOOPY) == APPENDIX_B


@needs_gcc
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_kernel_compiles_without_a_warning_and_sums_what_it_dumps(path: Path, tmp_path: Path) -> None:
    program = tmp_path / "kernel"
    flags = ["-O1", "-march=native", "-Wall", "-Wextra", "-Werror", *sizes(path, (13, 17, 11, 19, 23))]
    subprocess.run(["gcc", *flags, str(path), "-o", str(program), "-lm"], check=True)
    total = 14695981039346656037
    dumped = output_of([str(program), "--dump"], timeout=60)
    assert 100 < len(dumped) < 100_000
    for byte in dumped:
        total = (total ^ byte) * 1099511628211 % 2**64
    printed = output_of([str(program), "--checksum"], timeout=60).decode().strip()
    assert re.fullmatch("[0-9a-f]{16}", printed)
    assert printed == output_of([str(program)], timeout=60).decode().split()[-1]
    assert printed == f"{total:016x}"
    assert float(output_of([str(program), "--time"], timeout=60)) >= 0


@needs_gcc
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_script_is_proved_and_changes_no_bit(path: Path, tmp_path: Path) -> None:
    same_bits(path, path.with_suffix(".lw"), tmp_path)


@needs_gcc
@pytest.mark.parametrize("script", share(LOOPY, 3), ids=lambda path: path.stem)
def test_a_script_of_loopy_is_proved_and_changes_no_bit(script: Path, tmp_path: Path) -> None:
    same_bits(KERNELS / f"{script.stem}.c", script, tmp_path)


@pytest.mark.parametrize("name", ["jacobi-2d", "seidel-2d"])
def test_what_is_left_of_a_garbled_script_is_illegal(name: str) -> None:
    """Our copy of [Namjoshi2016] lacks the first operation of these two; the rest breaks a dependence."""
    lines = (KERNELS / "loopy" / f"{name}.lw").read_text().splitlines()
    operations = [line for line in lines if line and not line.startswith("#")]
    left = "\n".join([operations[0], *operations[2:]])
    assert operations[0] == "from_zero()" and len(operations) == 3
    with pytest.raises(Illegal) as caught:
        transformed(Request(file=str(KERNELS / f"{name}.c"), script=left), silent)
    assert isinstance(caught.value, Illegal) and "dependence" in as_text(caught.value.diagnostic)


def test_loopy_counts_from_zero() -> None:
    """lu's script as printed, on loops that start where the C file starts them, is another one."""
    lines = (KERNELS / "loopy" / "lu.lw").read_text().splitlines()
    printed = "\n".join(line for line in lines if line != "from_zero()")
    with pytest.raises(Illegal):
        transformed(Request(file=str(KERNELS / "lu.c"), script=printed), silent)
