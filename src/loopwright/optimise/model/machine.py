"""The target processor: its caches and vectors, as the system describes them."""

from __future__ import annotations

import platform
import re
import subprocess
from dataclasses import replace
from pathlib import Path

from loopwright.lazy_dataclass import dataclass
from loopwright.run.compiler import Compiler

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
PROCESSOR = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class CacheLevel:
    """`cycles` is what a line costs that is not in this cache, where lines are fetched in order."""

    size: int
    cycles: float


@dataclass(frozen=True)
class Machine:
    """Sizes in bytes; `caches` from the nearest to the farthest, each as far as one core may use it."""

    caches: tuple[CacheLevel, ...]
    line: int = 64
    vector: int = 16
    registers: int = 32
    widest: int = 0
    """Bytes in a vector if compilers use vectors of that size only on request, else 0."""

    @property
    def widened(self) -> Machine:
        """The machine for a program that asks for them."""
        return replace(self, vector=self.widest or self.vector)

    def __str__(self) -> str:
        sizes = ", ".join(f"L{k} {one.size // 1024} KiB" for k, one in enumerate(self.caches, 1))
        return (
            f"{sizes}; lines of {self.line} bytes; {self.registers} vector registers of {self.vector} bytes"
        )


LINE_COSTS = (3.5, 4.0, 13.0)
"""Cycles for a line from the second cache, from the third and from memory, fitted to measured times."""

WIDE = 64
"""Bytes in a register of AVX-512."""

USUAL = Machine(tuple(map(CacheLevel, (32 << 10, 1 << 20, 16 << 20), LINE_COSTS)))
"""The default if the system does not describe it."""


def this_machine(caches: Path = CACHES, processor: Path = PROCESSOR) -> Machine:
    """The machine this runs on; what the system does not describe is as in `USUAL`."""
    sizes = [size for _, size in sorted(_data_caches(caches))]
    found = tuple(CacheLevel(size, cost) for size, cost in zip(sizes, LINE_COSTS, strict=False))
    line = _number(caches / "index0" / "coherency_line_size") or USUAL.line
    described = _text(processor)
    vector, registers = _vectors(described)
    widest = WIDE if "avx512f" in described.split() else 0
    return Machine(found or USUAL.caches, line, vector, registers, widest)


@dataclass(frozen=True)
class MachineKind:
    """The kind of machine that a time belongs to: times of two kinds are not compared."""

    processor: str
    compiler: str


def this_site(compiler: Compiler) -> MachineKind:
    """The processor by its name, caches and vectors; the compiler by what it says about itself."""
    first = _text(PROCESSOR).partition("\n\n")[0]
    words = re.findall(r"^(?:model name|CPU (?:implementer|variant|part))\s*:\s*(.*)$", first, re.MULTILINE)
    name = " ".join(words) or platform.machine()
    done = subprocess.run([compiler.path, "--version"], capture_output=True, text=True, check=False)
    version = (done.stdout.strip().splitlines() or [compiler.path])[0]
    return MachineKind(f"{name}; {this_machine()}", version)


def _data_caches(folder: Path) -> list[tuple[int, int]]:
    """(level, bytes) of the caches that hold data."""
    found = []
    for index in sorted(folder.glob("index*")):
        kind, size = (
            _text(index / "type").strip(),
            re.fullmatch(r"(\d+)([KMG]?)", _text(index / "size").strip()),
        )
        level = _number(index / "level")
        if kind != "Instruction" and size is not None and level is not None:
            found.append((level, int(size[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[size[2]]))
    return found


def _vectors(description: str) -> tuple[int, int]:
    """Bytes in a vector, and how many registers there are; of AVX-512 gcc uses half a register."""
    words = set(description.split())
    if "avx512f" in words:
        return 32, 32
    if "avx" in words:
        return 32, 16
    if "sse2" in words:
        return 16, 16
    return (16, 32) if platform.machine() in ("aarch64", "arm64") else (USUAL.vector, USUAL.registers)


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    """Empty where the system has no such file."""
    return path.read_text(errors="replace") if path.is_file() else ""
