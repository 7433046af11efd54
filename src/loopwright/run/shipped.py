"""Kernels with their scripts: `NAME.c` beside `NAME.lw`."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Kernel:
    name: str
    source: Path
    script: Path


def kernel_folder() -> Path:
    """`kernels/` of the working directory, or the one that is part of the package."""
    here = Path("kernels")
    return here if here.is_dir() else Path(str(resources.files("loopwright") / "data" / "kernels"))


def kernels_named(names: Sequence[str]) -> tuple[Kernel, ...]:
    """The kernels with these names, or at these paths; without names, all that have a script."""
    if not names:
        files = sorted(kernel_folder().glob("*.c"))
        return tuple(_at(path) for path in files if path.with_suffix(".lw").exists())
    return tuple(_named(name) for name in names)


def _named(name: str) -> Kernel:
    if name.endswith(".c"):
        if not Path(name).is_file():
            raise BadInput(Code.FILE, f"there is no file {name}")
        return _at(Path(name))
    folder = kernel_folder()
    path = folder / f"{name}.c"
    if path.is_file():
        return _at(path)
    known = sorted(one.stem for one in folder.glob("*.c"))
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"the kernels are {', '.join(known)}"
    raise BadInput(Code.FILE, f"there is no kernel {name} in {folder}", hint=hint)


def _at(source: Path) -> Kernel:
    script = source.with_suffix(".lw")
    if not script.is_file():
        raise BadInput(Code.FILE, f"{source} has no script beside it", hint=f"write one at {script}")
    return Kernel(source.stem, source, script)
