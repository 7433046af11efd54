"""Damaged scripts: whatever is wrong with them, the answer is a plan or `BadInput` with a place."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopwright.errors import BadInput
from tests.conftest import examples
from tests.transform.support import MATMUL, planned

SCRIPT = """\
distribute(Init, Mult)  # first
affine(Mult, {[i,j,k]->[i1,j1,k1,i2]: i1=[i/32] and i2=i%32 and j1=j and k1=min(k, 2j) or 1 = 0})
L = lift(Mult, 1)
(A, B) = isplit(L, {[i, j] : exists a: i = 2a and j < n}, 1)
tile(A, i1=4, j1=8, full)
interchange(B, [j1, i1])
shift(B, i1, -2)
"""
PIECES = [*"()[]{},:=-%/0", "->", "99999999999999999999", "n", "Mult"]


@given(
    st.integers(0, len(SCRIPT)), st.integers(0, 12), st.one_of(st.sampled_from(PIECES), st.text(max_size=3))
)
@settings(max_examples=examples(250), deadline=None, suppress_health_check=list(HealthCheck))
def test_damaged_scripts(start: int, removed: int, put: str) -> None:
    text = SCRIPT[:start] + put + SCRIPT[start + removed :]
    try:
        planned(MATMUL, text)
    except BadInput as error:
        assert error.span is not None and error.span.file == "s.lw"
        assert 1 <= error.span.line <= text.count("\n") + 1
