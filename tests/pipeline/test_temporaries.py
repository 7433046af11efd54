"""Temporaries do not prevent a new order, as long as every read sees the same value."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.deciders import Isl
from loopwright.errors import Illegal
from loopwright.generate.program import generate
from loopwright.progress import silent
from loopwright.prove.obligations.formulas import Fails
from loopwright.prove.obligations.legality import both_sides, transformation_obligations
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import ProverRequest, Request
from loopwright.transform import to_schedule, transform
from tests.coq.support import needs_coqc
from tests.pipeline.support import file, output, region, result

PROGRAM = """\
#include <stdio.h>
static double A[24][24], B[24][24], C[24][24], g;
int main(void)
{{
  int i, j, k, n = 24;
  double s, row[24];
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {{
      A[i][j] = i + 2 * j;
      B[i][j] = i * j % 7;
    }}
#pragma scop
{body}
#pragma endscop
  double sum = g;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      sum += (i + 3 * j) * C[i][j];
  printf("%g\\n", sum);
  return 0;
}}
"""

INSIDE = """\
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {
      double t = 0;
      for (k = 0; k < n; k++)
        Add: t += A[i][k] * B[k][j];
      Set: C[i][j] = t;
    }
"""

OUTSIDE = INSIDE.replace("double t = 0;", "s = 0;").replace("t += ", "s += ").replace("= t;", "= s;")

ARRAY = """\
  for (i = 0; i < n; i++) {
    for (k = 0; k < n; k++)
      row[k] = A[i][k] + 1;
    for (j = 0; j < n; j++)
      Set: C[i][j] = row[j] * B[i][n - 1 - j];
  }
"""

RIGHT = [
    (INSIDE, "interchange(@14, i, j)\n"),
    (OUTSIDE, "interchange(@14, i, j)\n"),
    (OUTSIDE, "tile(@14, 5, 7)\n"),
    (ARRAY, "reverse(@13, i)\n"),
]


@pytest.mark.parametrize(("body", "script"), RIGHT)
def test_loops_around_a_temporary_change_their_order(tmp_path: Path, body: str, script: str) -> None:
    text = PROGRAM.format(body=body.rstrip("\n"))
    outcome = result(tmp_path, text, script)
    assert any("sees the same value" in proof.what for proof in outcome.regions[0].proofs)
    assert output(outcome.source.text, tmp_path) == output(text, tmp_path)


def test_the_new_loops_declare_it_where_the_old_ones_did(tmp_path: Path) -> None:
    text = PROGRAM.format(body=INSIDE.rstrip("\n"))
    new = region(result(tmp_path, text, "interchange(@14, i, j)\n").source.text)
    inner = INSIDE.split("\n", 2)[2]
    assert new == f"  for (j = 0; j < n; j++)\n    for (i = 0; i < n; i++) {{\n{inner}"


def test_a_read_that_would_see_another_value_is_refused(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    P: s = A[i][0];\n    Q: C[i][0] = s;\n  }"
    with pytest.raises(Illegal):
        result(tmp_path, PROGRAM.format(body=body), "distribute(P, Q)\n")


@pytest.mark.parametrize("before", ["double *p = row;", "double *p = &row[2];", "double *p = &(row)[2];"])
def test_an_array_with_a_pointer_to_it_is_not_a_temporary(tmp_path: Path, before: str) -> None:
    text = PROGRAM.format(body=ARRAY.rstrip("\n")).replace("#pragma scop", f"  {before}\n#pragma scop")
    with pytest.raises(Illegal):
        result(tmp_path, text.replace("  printf", "  sum += p[1];\n  printf"), "reverse(@14, i)\n")


@pytest.mark.parametrize("after", ["sum += s;", "double *p = &s; sum += *p;", "sum += *&(s);"])
def test_what_is_read_after_the_region_is_not_a_temporary(tmp_path: Path, after: str) -> None:
    text = PROGRAM.format(body=OUTSIDE.rstrip("\n")).replace("  printf", f"  {after}\n  printf")
    with pytest.raises(Illegal):
        result(tmp_path, text, "interchange(@14, i, j)\n")


def test_a_global_is_not_a_temporary(tmp_path: Path) -> None:
    body = OUTSIDE.replace("s = 0", "g = 0").replace("s += ", "g += ").replace("= s;", "= g;")
    with pytest.raises(Illegal):
        result(tmp_path, PROGRAM.format(body=body.rstrip("\n")), "interchange(@14, i, j)\n")


@pytest.mark.parametrize(("body", "script"), [RIGHT[1], RIGHT[3]])
def test_cvc5_proves_that_every_read_sees_the_value_it_saw(tmp_path: Path, body: str, script: str) -> None:
    code = file(tmp_path, PROGRAM.format(body=body.rstrip("\n")))
    done = transformed(Request(code, script, "s.lw", prover=ProverRequest("cvc5")), silent)
    assert any("cvc5 agrees" in remark for remark in done.remarks)


@needs_coqc
def test_coq_proves_that_memory_is_the_same_except_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOOPWRIGHT_CHECKER")
    code = file(tmp_path, PROGRAM.format(body=OUTSIDE.rstrip("\n")))
    request = Request(code, "interchange(@14, i, j)\n", "s.lw", prover=ProverRequest("coq"))
    (region,) = transformed(request, silent).regions
    assert region.proof is not None and region.proof.by == "coq"
    assert "except in s, read nowhere after" in region.proof.detail


BROKEN = {"distribute(Clear, Add)": "last", "reverse(Add, k)": "last", "reorder(Set, Add)": "earlier"}


@pytest.mark.parametrize("script", BROKEN)
def test_an_order_in_which_a_read_sees_another_value_is_found(tmp_path: Path, script: str) -> None:
    """As if isl had called s a temporary that carries the same values."""
    labelled = OUTSIDE.replace("s = 0;", "Clear: s = 0;")
    (program,) = read_c(file(tmp_path, PROGRAM.format(body=labelled.rstrip("\n"))))
    plan = transform(program, f"{script}\n", "s.lw")
    sides = both_sides(plan.original, plan.program, generate(to_schedule(plan)))
    obligations = list(transformation_obligations(plan.original, *sides, ["s"]))
    answers = zip(obligations, Isl().decide(obligations), strict=True)
    failed = [one.name for one, answer in answers if isinstance(answer, Fails)]
    assert any(name.startswith(BROKEN[script]) for name in failed), failed


FUNCTION = """\
double g, out;
void f(int n, double *a, double x)
{{
  int i;
  {declaration}
  {before}
#pragma scop
  for (i = 0; i < n; i++)
    s = a[i];
#pragma endscop
  {after}
}}
"""

SEEN = {
    "nothing": ("double s;", "", "", True),
    "written again": ("double s;", "s = 1;", "", True),
    "read after": ("double s;", "", "out = s;", False),
    "static": ("static double s;", "", "", True),
    "static, read in the next call": ("static double s;", "out = s;", "", False),
    "read when a loop comes back": ("double s = 0;", "for (int r = 0; r < 2; r++) { out = s;", "}", False),
    "a jump back": ("double s = 0;", "again: out = s;", "if (out < 1) goto again;", False),
    "two of the name": ("double s;", "{ double s = 1; out = s; }", "", True),
    "read in the next round": ("double s = 0;", "for (int r = 0; r < 2; r++) { a[0] = s;", "}", False),
}


@pytest.mark.parametrize("case", SEEN)
def test_who_can_see_what_is_left_in_a_variable(tmp_path: Path, case: str) -> None:
    declaration, before, after, dead = SEEN[case]
    text = FUNCTION.format(declaration=declaration, before=before, after=after)
    (program,) = read_c(file(tmp_path, text))
    array = next(one for one in program.arrays if one.name == "s")
    assert program.is_dead_after(array) is dead


WHOLE_FILE = """\
static double u[100], out[100]{more};
{others}
void f(int n, double *a)
{{
#pragma scop
  for (int i = 1; i < 100; i++)
    u[i] = a[i];
  for (int i = 1; i < 100; i++)
    out[i] = {value};
#pragma endscop
}}
{main}
"""

WITH_MAIN = "int main(void) { return out[3] > 0; }"

ONLY_HERE = {
    "a whole program": ("", "", "u[i] * u[100 - i]", WITH_MAIN, True),
    "written elsewhere": ("", "void start(void) { u[3] = out[3] = 1; }", "u[i]", WITH_MAIN, True),
    "read elsewhere": ("", "double see(void) { return u[3]; }", "u[i]", WITH_MAIN, False),
    "added to elsewhere": ("", "void start(void) { u[3] += 1; }", "u[i]", WITH_MAIN, False),
    "a pointer to it": ("", "double *see(void) { return u; }", "u[i]", WITH_MAIN, False),
    "a pointer of the file": (", *p = &u[3]", "", "u[i]", WITH_MAIN, False),
    "read by the next run": ("", "", "u[i - 1]", WITH_MAIN, False),
    "no whole program": ("", "", "u[i]", "", False),
    "of other files too": ("", "", "u[i]", WITH_MAIN, False),
}


@pytest.mark.parametrize("case", ONLY_HERE)
def test_who_can_see_what_is_left_in_an_array_of_the_file(tmp_path: Path, case: str) -> None:
    more, others, value, main, dead = ONLY_HERE[case]
    text = WHOLE_FILE.format(more=more, others=others, value=value, main=main)
    if case == "of other files too":
        text = text.replace("static double u[100],", "double u[100]; static double")
    (program,) = read_c(file(tmp_path, text))
    array = next(one for one in program.arrays if one.name == "u")
    assert program.is_dead_after(array) is dead
