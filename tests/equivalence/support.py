"""Regions in functions, compared."""

from __future__ import annotations

from pathlib import Path

from loopwright.c.file import c_file
from loopwright.prove.comparison.programs import prove_along, prove_equivalent
from loopwright.prove.equivalence.answer import Equivalence
from loopwright.prove.text.text_model import read_text
from loopwright.prove.verdict import Undecided
from loopwright.read.c.reader import parse_c
from loopwright.source import Source

NAMES = "int n, int m, double *a, double *b, double *c, double A[n][n], double B[n][n], double C[n][n]"


def wrapped(body: str, *, head: str = "", names: str = NAMES, own: str = "", after: str = "") -> str:
    """`body` as the region of a function, with `own` declarations before it and `after` after it."""
    return (
        f"{head}\nvoid f({names})\n{{\n  int i, j, k, t;\n{own}\n"
        f"#pragma scop\n{body.strip(chr(10))}\n#pragma endscop\n{after}\n}}\n"
    )


def compared(tmp_path: Path, old: str, new: str, *, allow_reassociation: bool = False) -> Equivalence:
    """What is proved about two files with one region each."""
    before, after = Source(str(tmp_path / "old.c"), old), Source(str(tmp_path / "new.c"), new)
    originals = parse_c(before)
    text = read_text(after, originals)
    (one,), (other,) = originals, text or parse_c(after)
    found = prove_equivalent(one, other, allow_reassociation=allow_reassociation, from_text=text is not None)
    along = prove_along(one, c_file(after).regions[0].place, allow_reassociation=allow_reassociation)
    verdict = Undecided("") if along is None else along.verdict
    agree = type(verdict) is type(found.verdict) or isinstance(verdict, Undecided)
    assert agree, f"two ways, two answers: {verdict} and {found.verdict}"
    return found
