"""Programs with kernels: made, compiled as C with the emulation of the prelude, and run."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from loopwright.emit.cuda.text import DeviceText, device_text
from loopwright.emit.region import Loops
from loopwright.errors import LoopwrightError
from loopwright.progress import silent
from loopwright.rewrite import cuda
from loopwright.rewrite.cuda import CudaTarget, of_launches
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Outcome, Request, TargetName
from loopwright.rewrite.rereading import read_again
from loopwright.source import Source
from loopwright.transform import Plan
from tests.conftest import ROOT

KERNELS = ROOT / "kernels"
QUIET = ("-Wno-unknown-pragmas", "-Wno-unused")


def made(folder: Path, text: str, script: str) -> Outcome:
    """The outcome for a C file and a script, with kernels."""
    file = folder / "program.c"
    file.write_text(text)
    return transformed(Request(str(file), script, target=TargetName.CUDA), silent)


def kernels(outcome: Outcome) -> str:
    """The text of the kernels, without the prelude."""
    assert outcome.kernels is not None
    return outcome.kernels.text.partition("begins here. */\n")[2]


def run(
    folder: Path, outcome: Outcome, *flags: str, device: bool = True, arguments: tuple[str, ...] = ()
) -> bytes:
    """What the program prints that calls the kernels, which one thread runs."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    assert outcome.kernels is not None
    (folder / "new.cu").write_text(outcome.kernels.text)
    (folder / "new.c").write_text(outcome.source.text)
    common = [compiler, "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", *QUIET]
    subprocess.run([*common, "-c", "-o", "kernels.o", "-x", "c", "new.cu"], check=True, cwd=folder)
    subprocess.run([*common, *flags, "-o", "new", "new.c", "kernels.o", "-lm"], check=True, cwd=folder)
    environment = dict(os.environ) if device else {**os.environ, "LOOPWRIGHT_NO_DEVICE": "1"}
    return subprocess.run(
        [folder / "new", *arguments], check=True, capture_output=True, env=environment
    ).stdout


def original(folder: Path, text: str, *flags: str, arguments: tuple[str, ...] = ()) -> bytes:
    """What the program prints as it was written."""
    (folder / "old.c").write_text(text)
    command = ["gcc", "-O1", "-ffp-contract=off", "-w", *flags, "-o", "old", "old.c", "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    return subprocess.run([folder / "old", *arguments], check=True, capture_output=True).stdout


@dataclass(frozen=True)
class Made:
    """Kernels with all that their proof needs, so that other texts of them can be judged."""

    outcome: Outcome
    plan: Plan
    loops: Loops
    device: DeviceText
    folder: Path

    def read_back(self, device: DeviceText) -> None:
        """All that is proved of the texts of kernels and host."""
        originals, written = [self.plan.original], [self.plan.written]
        text, _ = of_launches(device, originals, written)
        (new,), _ = read_again(text, originals, written)
        CudaTarget().of_text(self.plan, self.loops, new, silent)


def kernels_of(program: str, script: str, folder: Path) -> Made:
    """The kernels that a script makes, proved."""
    seen: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:

        def text(regions: list[Loops], **kinds: bool) -> DeviceText:
            device = device_text(regions, **kinds)
            seen["device"] = device
            return device

        def proved(target: CudaTarget, plan: Plan, loops: Loops, *rest: Any) -> Any:
            seen["plan"], seen["loops"] = plan, loops
            return of_text(target, plan, loops, *rest)

        of_text = CudaTarget.of_text
        patch.setattr(cuda, "device_text", text)
        patch.setattr(CudaTarget, "of_text", proved)
        outcome = made(folder, program, script)
    return Made(outcome, seen["plan"], seen["loops"], seen["device"], folder)


def refuse(right: Made, old: str, new: str) -> None:
    """The kernels with another text in one place are refused."""
    kernels = right.device.kernels
    assert old in kernels.text, kernels.text.partition("begins here")[2]
    text = Source(kernels.path, kernels.text.replace(old, new, 1))
    with pytest.raises(LoopwrightError):
        right.read_back(replace(right.device, kernels=text))


LAUNCH = """
#undef LW_LAUNCH
#define LW_LAUNCH(kernel, grid, size, arguments) lw_run(grid, size, [&] { kernel arguments; })
#undef LW_LAUNCH_WITH
#define LW_LAUNCH_WITH(bytes, kernel, grid, size, arguments) LW_LAUNCH(kernel, grid, size, arguments)
#undef LW_SHARED_5
#define LW_SHARED_5(type, name, n0, n1, n2, n3, n4) static type name[n0][n1][n2][n3][n4]
#define lw_split_begin(barrier, first, warps) lw_emulated_split(first, warps)
#define lw_arrive(barrier, first) lw_emulated_arrive(first)
#define lw_wait(barrier, step) lw_emulated_wait(step)
#define lw_begins lw_emulated_begins
#define lw_fetch_to(to, from) lw_emulated_fetch(to, from, sizeof *(to))
"""


def run_in_threads(folder: Path, text: str, host: str, order: int) -> bytes:
    """What the program prints whose kernels are run by threads in an order: 0, 1 or 2 of `emulator.h`."""
    compile_for_threads(folder, text, host)
    return threads_print(folder, order)


def compile_for_threads(folder: Path, text: str, host: str) -> None:
    """The text is the one for nvcc: every thread has its own registers, and blocks their shared memory."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    prelude, mark, rest = text.partition("/* The text of the program begins here. */\n")
    header = Path(__file__).parent / "emulator.h"
    (folder / "threads.cpp").write_text(f'#include "{header}"\n{prelude}{LAUNCH}{mark}{rest}')
    (folder / "host.c").write_text(host)
    subprocess.run(["g++", "-std=c++17", "-O1", "-w", "-c", "threads.cpp"], check=True, cwd=folder)
    command = ["gcc", "-O1", "-ffp-contract=off", "-w", "-c", "host.c"]
    subprocess.run(command, check=True, cwd=folder)
    subprocess.run(["g++", "-o", "threads", "threads.o", "host.o", "-lm"], check=True, cwd=folder)


def threads_print(folder: Path, order: int, mutant: int = 0) -> bytes:
    """What they print, or tell where they cannot go on; with one of the mistakes of `emulator.h`."""
    environment = {**os.environ, "LW_ORDER": str(order), "LW_MUTANT": str(mutant)}
    done = subprocess.run([folder / "threads"], capture_output=True, env=environment)
    return done.stdout if done.returncode == 0 else done.stderr
