"""`vectorize`: what lanes own and combine, and the anti-dependences that they keep."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from loopwright.errors import GaveUp, Illegal
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.text.annotations import prove_annotations
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from loopwright.transform import plan_of
from tests.pipeline.support import result

FUNCTION = """\
double f(int n, double *restrict a, double *restrict b)
{{
  double s = 0, t;
#pragma scop
{pragma}  for (int i = 1; i < n - 1; i++) {{
{body}
  }}
#pragma endscop
  return s;
}}
"""
SUM, ONLY_SOME = "    S: s += a[i];", "    S: if (a[i] > 0) s += a[i];"
LARGEST, OWN = "    S: if (a[i] > s) s = a[i];", "    S: t = a[i] + 1;\n    b[i] = t * t;"
FORWARD, ITSELF = "    S: b[i] = a[i + 1];\n    a[i] = b[i] + 1;", "    S: a[i] = a[i + 1] * 2;"
IVDEP = "#pragma GCC ivdep"


@pytest.mark.parametrize(
    ("body", "with_openmp", "without"),
    [
        (SUM, "#pragma omp simd reduction(+:s)", None),
        (ONLY_SOME, "#pragma omp simd reduction(+:s)", None),
        (LARGEST, "#pragma omp simd reduction(max:s)", None),
        (OWN, "#pragma omp simd private(t)", None),
        (FORWARD, IVDEP, IVDEP),
        (ITSELF, IVDEP, IVDEP),
    ],
)
def test_each_pragma_says_what_is_proved(
    tmp_path: Path, body: str, with_openmp: str, without: str | None
) -> None:
    text = FUNCTION.format(body=body, pragma="")
    for openmp, wanted in ((True, with_openmp), (False, without)):
        outcome = result(tmp_path, text, "vectorize(S, i)\n", openmp=openmp, allow_reassociation=True)
        pragmas = [line.strip() for line in outcome.source.text.splitlines() if "#pragma" in line][1:-1]
        assert pragmas == ([] if wanted is None else [wanted])


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        (SUM, False),
        (ONLY_SOME, False),
        ("    S: a[i] = a[i - 1] * 2;", True),  # a value goes from lane to lane
        ("    S: a[i] = b[i] + 1;\n    b[i] = a[i + 1];", True),  # the write comes first in the body
        ("    S: if (s > a[i]) s += a[i];", True),  # the condition sees the sum
        ("    S: { s = a[i + 1]; a[i] = s; b[i] = a[i + 1]; }", True),  # it reads after it writes
    ],
)
def test_other_dependences_are_not_kept(tmp_path: Path, body: str, allowed: bool) -> None:
    text = FUNCTION.format(body=body, pragma="")
    with pytest.raises((Illegal, GaveUp)):
        result(tmp_path, text, "vectorize(S, i)\n", openmp=True, allow_reassociation=allowed)


@pytest.mark.parametrize(
    ("pragma", "answer"),
    [(IVDEP, Proved), ("#pragma omp simd", Undecided), ("#pragma omp parallel for", Refuted)],
)
def test_only_lanes_of_gcc_run_statement_by_statement(pragma: str, answer: type[Verdict]) -> None:
    (program,) = parse_c(Source("k.c", FUNCTION.format(body=FORWARD, pragma=f"{pragma}\n")))
    verdict = prove_annotations(program, allow_reassociation=True)
    assert isinstance(verdict, answer)


def test_nothing_is_known_of_the_order_in_which_openmp_runs_lanes() -> None:
    (program,) = parse_c(Source("k.c", FUNCTION.format(body=FORWARD, pragma="")))
    plan = plan_of(program).transform("vectorize(S, i)")
    assert prove_plan(plan).proved and not prove_plan(plan, lanes=False).proved


@pytest.mark.parametrize("lines", [*permutations(("vectorize(S, i)", "pack(a, S, i, written)"))])
def test_lanes_of_ivdep_share_an_array_of_the_loop(lines: tuple[str, ...], tmp_path: Path) -> None:
    text = FUNCTION.format(pragma="", body="    S: a[2 * i] = a[2 * i + 1] - a[2 * i];")
    for openmp, said in ((False, []), (True, ["#pragma omp simd"])):
        new = result(tmp_path, text, "\n".join(lines), openmp=openmp).source.text
        assert "a_packed[" in new
        assert [one for one in new.splitlines() if "ivdep" in one or "simd" in one] == said
