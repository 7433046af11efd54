"""Programs to check: the kernels, as they are and as their scripts rewrite them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from loopwright.check.run.execute import Toolchain
from loopwright.check.verify import CheckOptions
from loopwright.emit.region import Loops, new_source
from loopwright.errors import BadInput
from loopwright.generate.program import generate
from loopwright.transform import plan_of, to_schedule, transform
from tests.kernel_programs import kernel_program

KERNELS = Path(__file__).parents[2] / "kernels"
NAMES = sorted(path.stem for path in KERNELS.glob("*.c"))
QUICK = Toolchain(timeout=5.0, fast=("-O0",), precise=("-O0", "-g"))


def kernel(name: str) -> Path:
    return KERNELS / f"{name}.c"


@cache
def small(name: str, *, first: int = 5) -> dict[str, int]:
    """Small sizes, no two equal."""
    program = kernel_program(name)
    return {parameter: first + k for k, parameter in enumerate(program.params)}


def quick(sizes: dict[str, int], algorithm: str = "auto") -> CheckOptions:
    """CheckOptions for tests: programs are small, so that compiling is what takes time."""
    return CheckOptions(sizes, algorithm, QUICK)


@cache
def rewritten(name: str, script: str) -> str:
    """The kernel's file with its region rewritten by a script, whether that is legal or not."""
    program = kernel_program(name)
    plan = transform(program, script)
    return new_source([Loops(plan.program, generate(to_schedule(plan)))]).text


def shipped_script(name: str) -> str | None:
    """The script of a kernel that keeps its storage and the order of sums, as the checker asks for."""
    paths = [folder / f"{name}.lw" for folder in (KERNELS / "kept", KERNELS)]
    return next((path.read_text() for path in paths if path.exists()), None)


def everywhere(name: str, operation: str, size: int) -> tuple[str, int]:
    """The kernel with `operation(tag, innermost loop, size)` wherever it is accepted, and how often."""
    program = kernel_program(name)
    plan, count = plan_of(program), 0
    for tag in program.tags:
        inside = [program.statement(one) for one in tag.statements]
        if len(inside) != 1 or inside[0].depth != tag.depth or tag.depth == 0:
            continue
        loop = inside[0].iterators[-1]
        alone = f"{operation}({tag.name}, {loop}, {size})"
        together = f"L = lift({tag.name}, {tag.depth - 1})\n{operation}(L, {loop}, {size})"
        for script in (alone, together):
            try:
                plan = plan.transform(script, "test")
            except BadInput:
                continue
            count += 1
            break
    return new_source([Loops(plan.program, generate(to_schedule(plan)))]).text, count
