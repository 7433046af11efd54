"""The shipped scripts for a GPU: each is proved, and its kernels compute the bits of the original."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import KERNELS as PROVED
from loopwright.rewrite.request import Outcome, Request, TargetName
from tests.conftest import share
from tests.cuda.support import KERNELS, original, run

SIZES = {
    "heat-3d": ("-DTSTEPS=3", "-DN=37"),
    "jacobi-2d": ("-DTSTEPS=3", "-DN=75"),
    "fdtd-2d": ("-DTMAX=3", "-DNX=75", "-DNY=83"),
    "correlation": ("-DM=75", "-DN=83"),
    "gemm": ("-DNI=131", "-DNJ=137", "-DNK=20"),
}
"""2mm is gemm twice: `benchmarks.gpu` checks it."""


def shipped(name: str) -> Outcome:
    script = KERNELS / "gpu" / f"{name}.lw"
    request = Request(str(KERNELS / f"{name}.c"), script.read_text(), str(script), target=TargetName.CUDA)
    return transformed(request, silent)


@pytest.mark.parametrize("name", share(list(SIZES), 2))
def test_the_kernels_compute_the_same_bits(tmp_path: Path, name: str) -> None:
    outcome = shipped(name)
    assert PROVED in [proof.what for proof in outcome.regions[0].proofs]
    text = (KERNELS / f"{name}.c").read_text()
    expected = original(tmp_path, text, *SIZES[name], arguments=("--dump",))
    assert len(expected) > 1000 and run(tmp_path, outcome, *SIZES[name], arguments=("--dump",)) == expected
    assert outcome.kernels is not None
    compiled_by_nvcc(tmp_path, outcome.kernels.text)


def nvcc() -> str | None:
    """The CUDA compiler: that of the machine, or that of the package nvidia-cuda-nvcc."""
    files = [file for folder in sys.path for file in Path(folder).glob("nvidia/cu*/bin/nvcc")]
    return shutil.which("nvcc") or next(map(str, files), None)


def compiled_by_nvcc(folder: Path, text: str) -> None:
    """Nothing is to be remarked about the kernels; where there is no compiler, nothing is known."""
    compiler = nvcc()
    if compiler is None or shutil.which("g++") is None:
        return
    (folder / "kernels.cu").write_text(text)
    command = [compiler, "-arch=sm_90", "-Werror", "all-warnings", "-cubin", "-o", "k.cubin", "kernels.cu"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
