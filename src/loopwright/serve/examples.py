"""What the menu offers: the tutorial, the demonstration, the kernels, descriptions, and an opened file."""

from __future__ import annotations

from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.reader import load_c
from loopwright.read.text import load

FIRST = "tutorial/sums"

TUTORIAL = {
    "sums": ("sums.c", "sums.lw", "1. A sum along columns"),
    "wrong": ("sums.c", "wrong.lw", "2. The same, refused"),
    "heat": ("heat.c", "heat.lw", "3. A stencil in skewed tiles"),
    "heat-wrong": ("heat.c", "heat-wrong.lw", "4. In square tiles, refused"),
    "heat-waves": ("heat.c", "heat-waves.lw", "5. Diagonals that run at once"),
}

FORMS = {".poly": "poly", ".in": "in", ".st": "st", ".cloog": "cloog", ".scop": "scop"}


@dataclass(frozen=True)
class Example:
    """C with a script, or a description in one of the forms."""

    group: str
    title: str
    c: str = ""
    script: str = ""
    text: str = ""
    form: str = ""

    def data(self) -> dict[str, Any]:
        return asdict(self)


def examples(file: str | None = None) -> dict[str, Example]:
    """By their names; the file that was opened is the first."""
    found: dict[str, Example] = {}
    if file is not None:
        found["opened"] = _opened(file)
    data = Path(str(resources.files("loopwright") / "data"))
    for name, (c, script, title) in TUTORIAL.items():
        folder = data / "tutorial"
        found[f"tutorial/{name}"] = Example("Tutorial", title, _read(folder / c), _read(folder / script))
    demo = Path(str(resources.files("loopwright.cli") / "demo_files"))
    found["demo/matmul"] = _with_script(demo / "matmul.c", "Tutorial", "6. A product of matrices")
    found["demo/seidel"] = _with_script(demo / "seidel.c", "Tutorial", "7. A stencil of two dimensions")
    for path in sorted((data / "kernels").glob("*.c")):
        found[f"kernel/{path.stem}"] = _with_script(path, "Kernels", path.stem)
    for path in sorted((data / "examples").iterdir()):
        if path.suffix in FORMS:
            text, form = _read(path), FORMS[path.suffix]
            found[f"loops/{path.name}"] = Example("Loops from a description", path.name, text=text, form=form)
    return found


def _opened(file: str) -> Example:
    """The file of the command line, with the script beside it."""
    path = Path(file)
    if path.suffix in FORMS:
        return Example("Opened", path.name, text=load(path).text, form=FORMS[path.suffix])
    script = path.with_suffix(".lw")
    text = load(script).text if script.is_file() else ""
    return Example("Opened", path.name, load_c(path).encode().decode("utf-8", "replace"), text)


def _with_script(path: Path, group: str, title: str) -> Example:
    script = path.with_suffix(".lw")
    return Example(group, title, _read(path), _read(script) if script.is_file() else "")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
