"""Traps: C files on which a reader that takes text for its meaning answers wrongly.

A trap is answered rightly if it is refused (`BadInput`), answered no (`Illegal`), left undecided
(`GaveUp`), or left as it is: then the statement in question may touch anything, and keeps its place.  Each
table has files next to the traps that differ in the point in question, and are proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loopwright.c.typed.options import PLAIN, CompilerOptions
from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Refuted, Undecided
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request

PROVED = "proved"
LEFT = "left as it is"


@dataclass(frozen=True)
class Trap:
    """A file with one region; `body` is the region, `setup` what comes before it in the function."""

    name: str
    body: str
    head: str = ""
    setup: str = ""
    after: str = ""
    parameters: str = "int n, double *x, double *y"
    headers: tuple[tuple[str, str], ...] = ()
    script: str = ""

    def text(self) -> str:
        return (
            "double a[100], b[100], A[100][100]; double s, t;\n"
            f"{self.head}\n"
            f"void f({self.parameters}) {{\nint i, j, k; {self.setup}\n"
            f"#pragma scop\n{self.body}\n#pragma endscop\n{self.after}\n}}\n"
        )


def answer(trap: Trap, folder: Path, options: CompilerOptions = PLAIN) -> str:
    """What `loopwright transform` says: "proved", or the message of the refusal."""
    file = folder / "t.c"
    file.write_text(trap.text())
    for name, text in trap.headers:
        (folder / name).write_text(text)
    script = trap.script or None
    try:
        transformed(Request(file=str(file), script=script, reading=ReadOptions(compiled=options)), silent)
        programs = read_c(file, ReadOptions(compiled=options))
    except (BadInput, Illegal, GaveUp) as failure:
        return failure.message
    return LEFT if any(program.set_aside for program in programs) else PROVED


def function(body: str, **parts: str) -> str:
    """A file whose region is `body`; the other parts are those of a trap."""
    return Trap("", body, **parts).text()  # type: ignore[arg-type]


def comparison(old: str, new: str, folder: Path) -> str:
    """What `loopwright prove` says of two texts."""
    (folder / "old.c").write_text(old)
    (folder / "new.c").write_text(new)
    try:
        found = compare_files(folder / "old.c", folder / "new.c").verdict
    except (BadInput, Illegal, GaveUp) as failure:
        return failure.message
    match found:
        case Refuted(message=message):
            return message
        case Undecided(reason):
            return reason
    return PROVED
