"""`--openmp`: what threads share, own and combine is proved, and the text compiles and runs right."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from loopwright.errors import Illegal
from loopwright.prove.text.annotations import prove_annotations
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.reader import read_c
from loopwright.rewrite.request import Outcome
from tests.pipeline.support import compiler, file, region, result, wrapped

PROGRAM = """\
#include <stdio.h>
static double a[64], b[64], A[64][8], hist[8];
static int key[64];
int main(void)
{{
  int i, j, n = 64;
  double t, last = 0, s = 0, tmp[4];
  for (i = 0; i < n; i++) {{
    a[i] = i % 7;
    key[i] = i % 8;
  }}
#pragma scop
{body}
#pragma endscop
  for (i = 0; i < n; i++)
    for (j = 0; j < 8; j++)
      s += a[i] + 3 * b[i] + (i + j) * A[i][j] + j * hist[j];
  printf("%g %g\\n", s, last);
  return 0;
}}
"""


def output(text: str, folder: Path, threads: int) -> str:
    """What a program prints; the compiler has nothing to remark but labels and variables not used."""
    source = folder / "program.c"
    source.write_text(text)
    quiet = [f"-Wno-{what}" for what in ("unused-label", "unknown-pragmas", "unused-variable")]
    command = [compiler(), "-fopenmp", "-Wall", "-Wextra", "-Werror", *quiet, "-O1", "-o"]
    subprocess.run([*command, str(folder / "program"), str(source)], check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([folder / "program"], check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def shared_out(tmp_path: Path, body: str, script: str, *, allow_reassociation: bool = False) -> str:
    """The new region; two threads print what one printed before."""
    text = PROGRAM.format(body=body)
    outcome = result(tmp_path, text, script, openmp=True, allow_reassociation=allow_reassociation)
    assert output(outcome.source.text, tmp_path, 2) == output(text, tmp_path, 1)
    return region(outcome.source.text)


SCALAR = "  for (i = 0; i < n; i++) {\n    t = a[i] * 2;\n    L: b[i] = t + t * t;\n  }"


def test_a_scalar_written_before_it_is_read_is_private(tmp_path: Path) -> None:
    new = shared_out(tmp_path, SCALAR, "parallel(L, i)\n")
    assert new == f"#pragma omp parallel for private(t)\n{SCALAR}\n"


def test_a_small_array_written_before_it_is_read_is_private(tmp_path: Path) -> None:
    body = (
        "  for (i = 0; i < n; i++) {\n    for (j = 0; j < 4; j++)\n      tmp[j] = a[i] * j;\n"
        "    for (j = 0; j < 4; j++)\n      L: A[i][j] = tmp[3 - j];\n  }"
    )
    assert "#pragma omp parallel for private(j, tmp)\n" in shared_out(tmp_path, body, "parallel(L, i)\n")


def test_what_a_thread_has_for_itself_is_shared_by_the_lanes_of_loops_inside(tmp_path: Path) -> None:
    body = (
        "  for (i = 0; i < n; i++)\n    for (j = 0; j < 8; j++)\n      for (int k = 0; k < n; k++)\n"
        "        L: A[i][j] += a[k] * key[j];"
    )
    script = "tile(L, i=4, j=8)\ninterchange(L, [iT, jT, k, i, j])\npack(A, L, jT, written)\n"
    new = shared_out(tmp_path, body, f"{script}vectorize(L, j)\nparallel(L, iT)\n")
    assert "#pragma omp parallel for private(i, j)\n" in new and "#pragma omp simd\n" in new


def test_what_is_read_after_the_region_is_lastprivate(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    last = a[i];\n    L: b[i] = last * last;\n  }"
    new = shared_out(tmp_path, body, "parallel(L, i)\n")
    assert "#pragma omp parallel for lastprivate(last)\n" in new


def test_what_is_read_later_in_the_region_is_lastprivate(tmp_path: Path) -> None:
    body = SCALAR + "\n  for (j = 0; j < n; j++)\n    a[j] += t;"
    assert "lastprivate(t)" in shared_out(tmp_path, body, "parallel(L, i)\n")


def test_a_variable_of_the_loop_body_does_not_make_the_loop_sequential(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    double u = a[i];\n    L: b[i] = u * u;\n  }"
    assert "#pragma omp parallel for" in shared_out(tmp_path, body, "parallel(L, i)\n")


def test_sums_are_reduced(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    L: last += a[i];"
    new = shared_out(tmp_path, body, "parallel(L, i)\n", allow_reassociation=True)
    assert "#pragma omp parallel for reduction(+:last)\n" in new


def test_cells_of_an_array_are_reduced(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    for (j = 0; j < 8; j++)\n      L: hist[j] += a[i] * j;"
    new = shared_out(tmp_path, body, "parallel(L, i)\n", allow_reassociation=True)
    assert "#pragma omp parallel for private(j) reduction(+:hist[:8])\n" in new


ELIMINATION = (
    "  for (i = 1; i < 8; i++)\n    for (j = 0; j < 8; j++)\n      for (int k = 0; k < i; k++)\n"
    "        L: A[i][j] -= A[i - k - 1][j] * 0.5;"
)


def test_an_array_is_not_reduced_where_its_other_cells_are_read(tmp_path: Path) -> None:
    """A thread would have read the zeros its own array starts with."""
    text = PROGRAM.format(body=ELIMINATION)
    outcome = result(tmp_path, text, "parallel(L, k)\n", openmp=True, allow_reassociation=True)
    assert "#pragma omp" not in outcome.source.text
    (note,) = outcome.notes
    assert note.endswith("it combines values into A, and accesses the array in other ways, too")
    shared = ELIMINATION.replace("      for", "#pragma omp parallel for reduction(+:A[:64][:8])\n      for")
    (program,) = read_c(file(tmp_path, PROGRAM.format(body=shared)))
    found = prove_annotations(program, allow_reassociation=True)
    assert isinstance(found, Undecided) and "does more with A" in found.reason


def test_what_is_only_read_is_not_a_reduction(tmp_path: Path) -> None:
    body = "#pragma omp parallel for reduction(+:t)\n  for (i = 0; i < n; i++)\n    b[i] = t;"
    (program,) = read_c(file(tmp_path, PROGRAM.format(body=body)))
    assert isinstance(prove_annotations(program, allow_reassociation=True), Undecided)


def test_vector_loops(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    double u = a[i];\n    L: b[i] = u * u;\n  }"
    assert "#pragma omp simd" in shared_out(tmp_path, body, "vectorize(L, i)\n")
    both = shared_out(tmp_path, body, "parallel(L, i)\nvectorize(L, i)\n")
    assert "#pragma omp parallel for simd" in both


def test_what_openmp_cannot_say_is_a_note(tmp_path: Path) -> None:
    text = wrapped("  for (i = 0; i < n; i++)\n    for (j = 0; j < m; j++)\n      L: a[j] += b[i];")
    outcome = result(tmp_path, text, "parallel(L, i)\n", openmp=True, allow_reassociation=True)
    assert "#pragma omp" not in outcome.source.text
    assert outcome.notes == (
        "the loop over i is not an OpenMP loop: it combines values into a, "
        "whose size is not known from the text",
    )


def test_a_field_cannot_be_reduced(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    L: p->s += b[i];"
    text = "struct acc { double s; };\n" + wrapped(body, names="int n, struct acc *p, double *b")
    outcome = result(tmp_path, text, "parallel(L, i)\n", openmp=True, allow_reassociation=True)
    assert "#pragma omp" not in outcome.source.text
    (note,) = outcome.notes
    assert note.endswith("which is a member of a struct")


NEST = "  for (i = 0; i < n; i++)\n    for (j = 0; j < 8; j++)\n      L: A[i][j] = i - j;"


def test_parallel_loops_right_inside_each_other_are_shared_out_as_one(tmp_path: Path) -> None:
    new = shared_out(tmp_path, NEST, "parallel(L, i, j)\n")
    assert new == f"#pragma omp parallel for collapse(2)\n{NEST}\n".replace("j < 8", "j <= 7")
    tiles = shared_out(tmp_path, NEST, "tile(L, 4, 4)\nparallel(L, iT, jT)\n")
    assert "#pragma omp parallel for collapse(2) private(i, j)\n" in tiles


OUTER = "  for (i = 0; i < n; i++)"
NOT_TOGETHER = {
    "a triangle": f"{OUTER}\n    for (j = 0; j < i; j++)\n      L: A[i][j] = 0;",
    "a line between": f"{OUTER} {{\n    b[i] = 1;\n    for (j = 0; j < n; j++)\n      L: A[i][j] = 0;\n  }}",
}


@pytest.mark.parametrize("name", NOT_TOGETHER)
def test_other_parallel_loops_are_not(tmp_path: Path, name: str) -> None:
    text = result(tmp_path, wrapped(NOT_TOGETHER[name]), "parallel(L, i, j)\n", openmp=True).source.text
    dealt = " schedule(static, 1)" if name == "a triangle" else ""
    assert f"#pragma omp parallel for private(j){dealt}\n" in text


COLLAPSED = {
    "collapse(2)": ("A[i][j] = a[i];", Proved),
    "collapse(2) private(j)": ("A[i][j] = a[i];", Proved),
    "collapse(2) ": ("A[i][j + 1] = A[i][j];", Refuted),
    "private(t) collapse(2)": ("{ t = a[i]; A[i][j] = t; }", Proved),
    "private(t)  collapse(2)": ("{ if (j == 0) t = a[i]; A[i][j] = t; }", Undecided),
    "lastprivate(t) collapse(2)": ("{ t = a[i]; A[i][j] = t; }", Undecided),
}


@pytest.mark.parametrize("clauses", COLLAPSED)
def test_loops_a_text_shares_out_as_one_are_each_proved(tmp_path: Path, clauses: str) -> None:
    body, answer = COLLAPSED[clauses]
    nest = f"for (i = 0; i < n; i++)\n    for (j = 0; j < 7; j++)\n      {body}"
    text = PROGRAM.format(body=f"#pragma omp parallel for {clauses}\n{nest}")
    (program,) = read_c(file(tmp_path, text))
    assert isinstance(prove_annotations(program, allow_reassociation=False), answer)


def test_a_parallel_loop_in_a_parallel_loop_is_a_note(tmp_path: Path) -> None:
    text = wrapped("  for (i = 0; i < n; i++)\n    for (j = 0; j < i; j++)\n      L: A[i][j] = 0;")
    outcome: Outcome = result(tmp_path, text, "parallel(L, i)\nparallel(L, j)\n", openmp=True)
    assert outcome.source.text.count("#pragma omp") == 1
    assert outcome.notes == ("the loop over j is inside the one over i, which is already parallel",)


CARRIED = {
    "read first": "  for (i = 0; i < n; i++) {\n    L: b[i] = t;\n    t = a[i];\n  }",
    "not always written": "  for (i = 0; i < n; i++) {\n    if (i > 3)\n      t = a[i];\n"
    "    L: b[i] = t;\n  }",
    "last one not written": "  for (i = 0; i < n; i++) {\n    if (i < 9)\n      last = a[i];\n"
    "    L: b[i] = 1;\n  }",
    "half of it": "  for (i = 0; i < n; i++) {\n    for (j = 0; j < 2; j++)\n      tmp[j] = a[i];\n"
    "    for (j = 0; j < 4; j++)\n      L: A[i][j] = tmp[j];\n  }",
}


@pytest.mark.parametrize("body", CARRIED.values(), ids=list(CARRIED))
def test_values_that_cross_iterations_are_refused(tmp_path: Path, body: str) -> None:
    with pytest.raises(Illegal):
        result(tmp_path, PROGRAM.format(body=body), "parallel(L, i)\n", openmp=True)


def test_a_pointer_is_not_private_storage(tmp_path: Path) -> None:
    """`private(p)` would be another pointer, to nowhere."""
    body = (
        "  for (i = 0; i < n; i++) {\n    for (j = 0; j < 2; j++)\n      b[j] = a[i];\n"
        "    L: A[i][0] = b[1];\n  }"
    )
    with pytest.raises(Illegal):
        result(tmp_path, wrapped(body), "parallel(L, i)\n", openmp=True)


PRAGMAS = {
    "private(t)": Proved,
    "lastprivate(t)": Proved,
    "private(t) schedule(static)": Proved,
    "private(t) firstprivate(n)": Proved,
    "private(t, a)": Undecided,
}


@pytest.mark.parametrize("clauses", PRAGMAS)
def test_clauses_of_a_text_are_not_believed(tmp_path: Path, clauses: str) -> None:
    body = SCALAR.replace("  for", f"#pragma omp parallel for {clauses}\n  for", 1)
    (program,) = read_c(file(tmp_path, PROGRAM.format(body=body)))
    assert isinstance(prove_annotations(program, allow_reassociation=True), PRAGMAS[clauses])


def test_a_shared_iterator_is_found(tmp_path: Path) -> None:
    nest = "  for (i = 0; i < n; i++)\n    for (j = 0; j < 8; j++)\n      A[i][j] = 0;"
    body = f"#pragma omp parallel for\n{nest}"
    (program,) = read_c(file(tmp_path, PROGRAM.format(body=body)))
    verdict = prove_annotations(program, allow_reassociation=True)
    assert isinstance(verdict, Undecided) and "its own j" in verdict.reason
    right = body.replace("for\n", "for private(j)\n", 1)
    (program,) = read_c(file(tmp_path, PROGRAM.format(body=right)))
    assert isinstance(prove_annotations(program, allow_reassociation=True), Proved)
