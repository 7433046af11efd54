"""What threads share under OpenMP's directives: each states exactly what its own loop needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import GaveUp, Illegal
from loopwright.rewrite.directives import prove_directives
from loopwright.rewrite.request import Request


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "k.c"
    path.write_text(f"void f(int n, double A[n][n], double B[n]) {{\n{text}\n}}\n")
    return str(path)


NESTED = """double v[20];
#pragma omp parallel for{outer}
for (int i = 0; i < n; i++) {{
#pragma omp parallel for{inner}
  for (int j = 0; j < n; j++) v[j] = B[j];
  for (int j = 0; j < n; j++) A[i][j] = v[j];
}}"""


def test_each_directive_says_what_its_own_loop_needs(tmp_path: Path) -> None:
    """The threads of the inner loop would write copies of v that nothing reads."""
    path = _file(tmp_path, NESTED.format(outer=" private(v)", inner=""))
    assert prove_directives(Request(path)).directives == 2
    for outer, inner in ((" private(v)", " private(v)"), ("", " private(v)"), ("", "")):
        with pytest.raises(GaveUp, match="'v'"):
            prove_directives(Request(_file(tmp_path, NESTED.format(outer=outer, inner=inner))))


INNER_SUM = """#pragma omp parallel for
for (int i = 0; i < n; i++) {
  double t = 0;
#pragma omp parallel for reduction(+: t)
  for (int j = 0; j < n; j++) t += A[i][j];
  B[i] = t;
}"""


def test_a_sum_of_an_inner_loop_is_none_of_the_outer_one(tmp_path: Path) -> None:
    assert prove_directives(Request(_file(tmp_path, INNER_SUM))).directives == 2
    outside = f"double t;\n{INNER_SUM.replace('double t = 0', 't = 0')}"
    with pytest.raises(GaveUp, match="'t' is shared by all threads"):
        prove_directives(Request(_file(tmp_path, outside)))


@pytest.mark.parametrize("loop", ["for (int j = 0; j < n; j++)", "for (int j = n - 1; j >= 0; j -= 2)"])
def test_no_conflict_is_said_to_be_on_what_is_private(tmp_path: Path, loop: str) -> None:
    """Threads do not share v[n]: the answer is that nothing has set it, and not that they do."""
    text = "#pragma omp parallel for private(v)\nfor (int i = 0; i < n; i++) {\n"
    text += f"for (int j = 0; j < n; j++) v[j] = B[j];\n{loop} A[i][j] = v[j + 1];\n}}"
    with pytest.raises(GaveUp, match="'v' of a thread need not have the value"):
        prove_directives(Request(_file(tmp_path, f"double v[20] = {{ 1 }};\n{text}")))
    path = _file(tmp_path, f"double v[20] = {{ 1 }};\n{text.replace('A[i][j]', 'B[0]')}")
    with pytest.raises(Illegal, match="iterations depend on each other") as caught:
        prove_directives(Request(path))
    assert "on v[" not in caught.value.witness


SHARED = {
    "{ double t = B[i]; A[i][0] = t; }": "",
    "{ x = B[i]; A[i][0] = x; }": "'x' is shared by all threads",
    "for (j = 0; j < n; j++) A[i][j] = 1;": "the iterator 'j' is shared by all threads",
    "s += B[i];": "its reductions are others than those of the loop",
}


@pytest.mark.parametrize("body", SHARED)
def test_variables_of_a_parallel_loop(tmp_path: Path, body: str) -> None:
    """Without a clause, and with the one that is needed."""
    loop = f"for (int i = 0; i < n; i++) {body}\nB[0] = s;"
    head = "double x, s = 0; int j;\n#pragma omp parallel for"
    if SHARED[body]:
        with pytest.raises((GaveUp, Illegal)) as caught:
            prove_directives(Request(_file(tmp_path, f"{head}\n{loop}"), allow_reassociation=True))
        assert SHARED[body] in caught.value.message
    clauses = {"x": "private(x)", "j": "private(j)", "s": "reduction(+: s)"}
    clause = next((text for name, text in clauses.items() if f"'{name}'" in SHARED[body]), "")
    clause = clauses["s"] if "reductions" in SHARED[body] else clause
    assert prove_directives(Request(_file(tmp_path, f"{head} {clause}\n{loop}"))).directives == 1
    if not clause:
        with pytest.raises(GaveUp, match="'n' has no value"):
            prove_directives(Request(_file(tmp_path, f"{head} private(n)\n{loop}")))


COPIED = {
    "B[i] = t;": "",
    "t = A[i][0]; B[i] = t;": "",
    "B[i] = t; t = i;": "'t' of a thread need not have the value",
    "v[i] = t;": "the 'v' of a thread is not the one",
    "A[i][0] = v[i] + t;": "",
}


@pytest.mark.parametrize("body", COPIED)
def test_copies_of_variables(tmp_path: Path, body: str) -> None:
    loop = f"#pragma omp parallel for firstprivate(t, v)\nfor (int i = 0; i < n; i++) {{ {body} }}"
    request = Request(_file(tmp_path, f"double t = 3, v[n]; v[0] = 1;\n{loop}\nB[0] += v[n - 1];"))
    if COPIED[body]:
        with pytest.raises((GaveUp, Illegal), match=COPIED[body]):
            prove_directives(request)
    else:
        assert prove_directives(request).directives == 1
    if body.startswith("t ="):
        read_later = Request(_file(tmp_path, f"double t = 3, v[n];\n{loop}\nB[0] += t;"))
        with pytest.raises((GaveUp, Illegal)):
            prove_directives(read_later)
