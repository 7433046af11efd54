"""Traps: subscripts of arrays that are members of elements, past the length that their declaration gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import Trap, answer

_HEAD = "struct s { double y[2], z[1]; }; struct t { struct s u[2]; double m[2][3]; } v[8]; struct s w[8], *p;"

_OUTSIDE = {
    "a last member of an array's element": "w[2].z[i + 4] = w[2].z[i + 3];",
    "one after the end": "w[i].z[1] = w[i].z[0];",
    "another than the last member": "w[2].y[i + 1] = i;",
    "below the start": "w[i].y[-1] = i;",
    "a value": "x[i] = w[i].y[2];",
    "an element of an element": "v[i].u[1].z[1] = i;",
    "in the middle of an element": "v[i].u[2].z[0] = i;",
    "a row": "v[i].m[2][0] = i;",
    "in a row": "v[i].m[0][i] = i;",
    "an element of a pointer's target": "p[i].y[2] = i;",
    "a test": "if (w[i].y[3] > 0) x[i] = i;",
    "with a known number": "w[i].y[K] = i;",
}
"""What is outside whenever n is 5."""

_INSIDE = {
    "the last member of a pointer's target": "p[0].z[i + 4] = i;",
    "the same by an arrow": "p->z[i + 4] = i;",
    "a number that may be 0": "w[i].z[m] = i;",
    "a branch": "x[i] = i > 9 ? w[i].z[1] : 0;",
    "what is not evaluated": "x[i] = sizeof(w[i].z[1]);",
    "some elements": "w[i].y[i & 1] = i;",
}


@pytest.mark.parametrize("name", _OUTSIDE | _INSIDE)
def test_members_of_elements_are_as_long_as_declared(name: str, tmp_path: Path) -> None:
    body = f"for (i = 0; i < 5; i++) {(_OUTSIDE | _INSIDE)[name]}"
    trap = Trap(name, body, head=f"{_HEAD} static int K = 2;", parameters="int m, double *x")
    assert ("is outside its array" in answer(trap, tmp_path)) == (name in _OUTSIDE)
