"""Arrays that a region declares with values: the same assignments, or the text stays as it is."""

from __future__ import annotations

import pytest

from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import BadInput
from loopwright.read.c.reader import read_source
from loopwright.read.c.rephrased import with_assigned_arrays
from loopwright.source import Source
from tests.c.support import wrapped, writes

HEAD = (
    "typedef double v2[2]; typedef const double cd; struct P { double x, y; };"
    "\n#define N 8\n#define TWO 3.0, 4.0\n#define SUM 3.0 + 4.0\n#define KEPT static double"
)
SET = {
    "double w[2] = {a[i], 2};": "double w[2]; w[0] = a[i]; w[1] = 2;",
    "double w[] = {1, 2, 3};": "double w[3]; w[0] = 1; w[1] = 2; w[2] = 3;",
    "int w[2] = {2.9, b[i]};": "int w[2]; w[0] = 2.9; w[1] = b[i];",
    "double w[8] = {0};": "double w[8]; for (int k_1 = 0; k_1 < 8; k_1++) w[k_1] = 0;",
    "double w[N] = {};": "double w[N]; for (int k_1 = 0; k_1 < N; k_1++) w[k_1] = 0;",
    "double w[N] = {-0.0, 0, 3};": (
        "double w[N]; for (int k_1 = 0; k_1 < N; k_1++) w[k_1] = 0; w[0] = -0.0; w[2] = 3;"
    ),
    "double w[2][2] = {{1, 2}, {3, 4}};": (
        "double w[2][2]; w[0][0] = 1; w[0][1] = 2; w[1][0] = 3; w[1][1] = 4;"
    ),
    "double w[2][3] = {{0}, {5}};": (
        "double w[2][3]; for (int k_1 = 0; k_1 < 2; k_1++) for (int k_2 = 0; k_2 < 3; k_2++) w[k_1][k_2] = 0;"
        " w[1][0] = 5;"
    ),
    "double x = 3, w[1] = {x};": "double x = 3, w[1]; w[0] = x;",
    "double v[1] = {1}, w[1] = {v[0]};": "double v[1], w[1]; v[0] = 1; w[0] = v[0];",
    "double w[1] = {SUM};": "double w[1]; w[0] = SUM;",
    "static const double w[2] = {1, 2};": "  double w[2]; w[0] = 1; w[1] = 2;",
    "const int w[1] = {3};": " int w[1]; w[0] = 3;",
}
LEFT = [
    "double w[2] = {[1] = 2};",
    "double w[2] = {1, 2, 3};",
    "double w[2][2] = {1, 2, 3, 4};",
    "double w[1] = {1}, x = w[0];",
    "double w[2] = {TWO};",
    "KEPT w[1] = {1};",
    "static double w[1] = {1};",
    "volatile double w[1] = {1};",
    "static const double w[1] = {1}; q = w;",
    "static const double w[1] = {1}; q = &w[0];",
    "static const double w[1][1] = {{1}}; q = w[0];",
    "const double w[1] = {1}, x = 2;",
    "double w[1] = {i++};",
    "double w[1] = {(a[0] = 1)};",
    'char w[4] = "abc";',
    'char w[4] = {"abc"};',
    "struct P w[1] = {{1, 2}};",
    "v2 w[2] = {{1, 2}, {3, 4}};",
    "double *w[1] = {a};",
    "double w[n] = {1};",
    "switch (n) { double w[1] = {1}; default: break; }",
]


def _source(body: str) -> Source:
    text = wrapped(f"for (i = 0; i < n; i++) {{ {body} b[i] = n; }}", head=HEAD)
    return Source("t.c", text.replace("int i, j, k;", "int i, j, k; const double *q;"))


@pytest.mark.parametrize(("body", "text"), SET.items())
def test_values_are_assigned(body: str, text: str) -> None:
    found = with_assigned_arrays(_source(body), CompilerOptions())
    assert found.text == _source(body).text.replace(body, text)


@pytest.mark.parametrize("body", LEFT)
def test_what_is_more_than_values_stays(body: str) -> None:
    assert with_assigned_arrays(_source(body), CompilerOptions()) == _source(body)


@pytest.mark.parametrize("body", ["struct P w[1] = {0};", "cd w[1] = {1};"])
def test_arrays_that_cannot_be_assigned_are_refused(body: str) -> None:
    with pytest.raises(BadInput):
        read_source(_source(body))


def test_weights_in_a_loop() -> None:
    body = "double w[3] = {0.25, 0.5, 0.25}; b[i] = w[0] * a[i] + w[1] * a[i + 1] + w[2] * a[i + 2];"
    (program,) = read_source(_source(body))
    written = [text for statement in program.statements for text in writes(statement)]
    assert written == ["w[0]", "w[1]", "w[2]", "b[i]", "b[i]"]
    assert not program.set_aside
