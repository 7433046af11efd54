"""Regions in functions, compared."""

from __future__ import annotations

from pathlib import Path

from loopwright.prove.equivalence.equivalence import Equivalence, prove_equivalent
from loopwright.read.c.reader import read_c

NAMES = "int n, int m, double *a, double *b, double *c, double A[n][n], double B[n][n], double C[n][n]"


def wrapped(body: str, *, head: str = "", names: str = NAMES, own: str = "", after: str = "") -> str:
    """`body` as the region of a function, with `own` declarations in front and `after` behind."""
    return (
        f"{head}\nvoid f({names})\n{{\n  int i, j, k, t;\n{own}\n"
        f"#pragma scop\n{body.strip(chr(10))}\n#pragma endscop\n{after}\n}}\n"
    )


def compared(tmp_path: Path, old: str, new: str, *, allow_reassociation: bool = False) -> Equivalence:
    """What is proved about two files with one region each."""
    programs = []
    for name, text in (("old.c", old), ("new.c", new)):
        (tmp_path / name).write_text(text)
        (program,) = read_c(str(tmp_path / name))
        programs.append(program)
    return prove_equivalent(programs[0], programs[1], allow_reassociation=allow_reassociation)
