"""Loops as other tools print them: bounds in variables, remainders, unrolled and jammed, without pragmas."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import Comparison, ComparisonOptions
from loopwright.prove.verdict import Proved, Refuted, Undecided

HEAD = """
#include <math.h>
#define ceild(n,d)  (((n)<0) ? -((-(n))/(d)) : ((n)+(d)-1)/(d))
#define floord(n,d) (((n)<0) ? -((-(n)+(d)-1)/(d)) : (n)/(d))
#define max(x,y)    ((x) > (y)? (x) : (y))
#define min(x,y)    ((x) < (y)? (x) : (y))
"""
FUNCTION = """
static double sum;
void f(int n, int m, double a[n], double A[n][n], double B[n][n], double C[n][n])
{{
  int i, j, k;
{}
}}
"""
OWN = "  int t1, t2, t3, t4;\n  register int lbv, ubv, lbp, ubp;\n"
SWEEP = "for (k = 0; k < m; k++) for (i = 1; i < n - 1; i++) a[i] = a[i - 1] + a[i] + a[i + 1];"
SKEWED = """
if ((n >= 3) && (m >= 1)) {
  for (t1 = 0; t1 <= floord(m - 1, 32); t1++) {
    for (t2 = t1; t2 <= min(floord(m + n - 3, 32), floord(32*t1 + n + 29, 32)); t2++) {
      for (t3 = max(32*t1, 32*t2 - n + 2); t3 <= min(min(m - 1, 32*t1 + 31), 32*t2 + 30); t3++) {
        for (t4 = max(32*t2, t3 + 1); t4 <= min(32*t2 + 31, t3 + n - 2); t4++) {
          a[(-t3 + t4)] = a[(-t3 + t4) - 1] + a[(-t3 + t4)] + a[(-t3 + t4) + 1];;
        }
      }
    }
  }
}
"""
ADDED = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i][j] + B[j][i];"
IN_ROWS = """
lbp = 0;
ubp = n - 1;
#pragma omp parallel for private(lbv,ubv,t2)
for (t1 = lbp; t1 <= ubp; t1++) {
  lbv = 0;
  ubv = n - 1;
#pragma ivdep
#pragma vector always
  for (t2 = lbv; t2 <= ubv; t2++) {
    A[t1][t2] = A[t1][t2] + B[t2][t1];;
  }
}
"""
PRODUCT = (
    "for (i = 0; i < n; i++) for (k = 0; k < n; k++) for (j = 0; j < n; j++) C[i][j] += A[i][k] * B[k][j];"
)
JAMMED = """
for (t1 = 0; t1 <= (n - 1) - 1; t1 += 2) {
  for (t2 = 0; t2 <= n - 1; t2++) {
    for (t3 = 0; t3 <= n - 1; t3++) {
      C[t1][t3] += A[t1][t2] * B[t2][t3];;
      C[(t1+1)][t3] += A[(t1+1)][t2] * B[t2][t3];;
    }
  }
}
for (; t1 <= n - 1; t1++) {
  for (t2 = 0; t2 <= n - 1; t2++) {
    for (t3 = 0; t3 <= n - 1; t3++) {
      C[t1][t3] += A[t1][t2] * B[t2][t3];;
    }
  }
}
"""


def compared(tmp_path: Path, old: str, new: str, *, for_provers: int = 0) -> Comparison:
    """A marked region, and what a tool made of it, which it does not mark."""
    before, after = tmp_path / "old.c", tmp_path / "new.c"
    before.write_text(FUNCTION.format(f"#pragma scop\n{old}\n#pragma endscop"))
    after.write_text(HEAD + FUNCTION.format(OWN + new))
    return compare_files(before, after, ComparisonOptions(for_provers=for_provers))


SUMS = "for (i = 0; i < n; i++) { sum = 0; for (j = 0; j < n; j++) sum += A[i][j]; a[i] = sum; }"
IN_A_STATIC = """
for (t1 = 0; t1 <= n - 1; t1++) {
  sum = 0;;
  lbv = 0;
  ubv = n - 1;
  for (t2 = lbv; t2 <= ubv; t2++)
    sum += A[t1][t2];;
  a[t1] = sum;;
}
"""

TWICE = "for (i = 0; i < n; i++) a[i] = 1.0; for (i = 0; i < n; i++) A[i][0] = a[i];"
AGAIN = """
for (t1 = 0; t1 <= n - 1; t1++)
  a[t1] = 1.0;;
if (n >= 1) {
  for (t1 = 0; t1 <= n - 1; t1++)
    A[t1][0] = a[t1];;
}
"""

RIGHT = {
    "skewed tiles": (SWEEP, SKEWED),
    "a static variable that nothing reads afterwards": (SUMS, IN_A_STATIC),
    "bounds in variables": (ADDED, IN_ROWS),
    "jammed": (PRODUCT, JAMMED),
    "an iterator of a loop before, under a condition": (TWICE, AGAIN),
}


@pytest.mark.parametrize("name", RIGHT)
def test_texts_as_they_are_printed(tmp_path: Path, name: str) -> None:
    found = compared(tmp_path, *RIGHT[name])
    assert isinstance(found.verdict, Proved) and found.answers[0].way == "along its loops"


FAULTS = [
    (SWEEP, SKEWED, "32*t2 + 31,", "32*t2 + 30,"),
    (SWEEP, SKEWED, "t1 = 0", "t1 = 1"),
    (SWEEP, SKEWED, "for (t2 = t1;", "for (t2 = t1 + 1;"),
    (ADDED, IN_ROWS, "ubv = n - 1", "ubv = n - 2"),
    (ADDED, IN_ROWS, "private(lbv,ubv,t2)", "private(lbv,ubv)"),
    (ADDED, IN_ROWS, "private(lbv,ubv,t2)", "private(ubv,t2)"),
    (PRODUCT, JAMMED, "A[(t1+1)][t2]", "A[(t1+1)][(t2+1)]"),
    (PRODUCT, JAMMED, "for (; t1 <= n - 1", "for (; t1 <= n - 2"),
    (PRODUCT, JAMMED, "t1 += 2", "t1 += 3"),
]


@pytest.mark.parametrize(("old", "new", "part", "other"), FAULTS)
def test_one_change_is_refused(tmp_path: Path, old: str, new: str, part: str, other: str) -> None:
    assert part in new
    assert isinstance(compared(tmp_path, old, new.replace(part, other, 1)).verdict, Refuted)


def test_the_sizes_at_which_a_proof_fails_are_tried(tmp_path: Path) -> None:
    """One iteration in 100 is missing, which small sizes do not show."""
    tiles = "for (t1 = 0; t1 <= floord(n - 1, 100); t1++)"
    new = f"{tiles} for (t2 = 100*t1; t2 <= min(n - 1, 100*t1 + 98); t2++) a[t2] = 1.0;"
    found = compared(tmp_path, "for (i = 0; i < n; i++) a[i] = 1.0;", new).verdict
    assert isinstance(found, Refuted) and found.parameters["n"] == 100


def test_the_sizes_at_which_a_statement_runs_are_tried(tmp_path: Path) -> None:
    """The last of its copies is another statement, and runs from n = 80 on."""
    new = "for (t1 = 0; t1 <= min(n - 1, 78); t1++) a[t1] = 1.0;"
    new += "for (t1 = 79; t1 <= n - 1; t1++) a[t1] = 2.0;"
    found = compared(tmp_path, "for (i = 0; i < n; i++) a[i] = 1.0;", new).verdict
    assert isinstance(found, Refuted) and found.parameters["n"] == 80


def test_loops_put_together_keep_what_they_run_beyond_the_original(tmp_path: Path) -> None:
    """Two loops are one conjunction only where both stay inside the domain of their statement."""
    one = "{{ A[t1][1] = A[t1][1] + B[1][t1];; }}"
    loops = "for (t1 = 0; t1 <= 9; t1++) {0} for (t1 = 10; t1 <= n{1}; t1++) {0}"
    text = f"if (n >= 1000) {{{{ {loops} }}}} else {{{{ for (t1 = 0; t1 < n; t1++) {{0}} }}}}"
    old = "for (i = 0; i < n; i++) A[i][1] = A[i][1] + B[1][i];"
    right, wrong = (text.format(one.format(), end) for end in (" - 1", ""))
    assert isinstance(compared(tmp_path, old, right).verdict, Proved)
    found = compared(tmp_path, old, wrong).verdict
    assert isinstance(found, Refuted) and "A[1000][1]" in found.message


def test_inputs_for_which_factors_are_numbers(tmp_path: Path) -> None:
    """Of most matrices the factors are no numbers after a few rows, and so is what a fault changes."""
    old = (
        "for (i = 0; i < n; i++) {"
        "  for (j = 0; j < i; j++) {"
        "    for (k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];"
        "    A[i][j] /= A[j][j]; }"
        "  for (k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k];"
        "  A[i][i] = sqrt(A[i][i]); }"
    )
    found = compared(tmp_path, old, old.replace("k < j", "k < min(j, 20)")).verdict
    assert isinstance(found, Refuted) and found.parameters["n"] >= 22


def test_a_text_that_is_read_along_its_loops_only(tmp_path: Path) -> None:
    """The reader of C does not know `lbv`; a proof, or a proof that failed, stands without it."""
    assert compared(tmp_path, ADDED, IN_ROWS, for_provers=10**6).proved
    twice = IN_ROWS.replace("A[t1][t2] = A[t1][t2] + B[t2][t1];", "A[t1][t2] = 1.0;")
    twice += "if (n >= 1) A[0][0] = 1.0;"
    old = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 1.0;"
    assert isinstance(compared(tmp_path, old, twice).verdict, Undecided)


@pytest.mark.parametrize("update", ["t2++", "t2 += 1", "t2 = t1 + 1", "(t2 = 0, t1 + 1)"])
def test_an_update_changes_its_own_iterator(tmp_path: Path, update: str) -> None:
    old, new = "for (i = 0; i < n; i++) a[i] = 1.0;", "for (t1 = 0; t1 <= n - 1; t1++) a[t1] = 1.0;"
    assert compared(tmp_path, old, new).proved
    with pytest.raises(BadInput):
        compared(tmp_path, old, new.replace("t1++", update))


def test_an_update_that_multiplies_by_one_is_not_followed(tmp_path: Path) -> None:
    old, new = "for (i = 0; i < n; i++) a[i] = 1.0;", "for (t1 = 0; t1 <= n - 1; t1 *= 1) a[t1] = 1.0;"
    assert isinstance(compared(tmp_path, old, new).verdict, Undecided)


CARRIED = "for (i = 1; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i - 1][j] + B[i][j];"
SHARED = IN_ROWS.replace("lbp = 0", "lbp = 1").replace("B[t2][t1]", "B[t1][t2]")


_ADD = "A[t1][t2] = A[t1][t2] + B[t2][t1];"
CHANGED = [
    "ubv = n - 1; for (t1 = 0; t1 <= ubv; t1++) { for (t2 = 0; t2 < n; t2++) ADD ubv = n - 2; }",
    "ubv = n - 1; for (t1 = 0; t1 < n; t1++) { for (t2 = 0; t2 <= ubv; t2++) ADD ubv = n - 2; }",
    "ubp = n; for (t1 = 0; t1 < n; t1++) { ubv = ubp; for (t2 = 0; t2 < ubv; t2++) ADD ubp = 1; }",
]


@pytest.mark.parametrize("text", CHANGED)
def test_a_bound_that_its_loop_changes(tmp_path: Path, text: str) -> None:
    """The value that it has before the loop is that of the first iteration alone."""
    try:
        assert not isinstance(compared(tmp_path, ADDED, text.replace("ADD", _ADD)).verdict, Proved)
    except BadInput as failure:
        assert "is written in the region" in failure.message


SEEN = {
    "by a macro of a macro": ("#define LAST t1\n#define END LAST\n", "", "a[0] = END;"),
    "by a name put together": ("#define V(k) t##k\n", "", "a[0] = V(1);"),
    "by a pointer": ("", "int *p = &t1;", "a[0] = *p;"),
    "by a pointer from a macro": ("#define AT(x) &x\n", "int *p = AT(t1);", "a[0] = *p;"),
    "where it need not be set again": ("", "", "if (m > 3) t1 = 0; a[0] = t1;"),
    "where no iteration sets it again": ("", "", "for (k = 0; k < m; k++) t1 = 0; a[0] = t1;"),
    "at a label": ("", "", "if (m > 3) goto end; t1 = 1; end: a[0] = t1;"),
    "by a jump back": ("", "k = 0; again: a[0] = t1; if (k > 1) return;", "k++; goto again;"),
    "nowhere": ("", "", "t1 = 3; a[0] = t1;"),
}


@pytest.mark.parametrize("name", SEEN)
def test_an_iterator_that_is_seen_after_its_loop(tmp_path: Path, name: str) -> None:
    head, own, later = SEEN[name]
    (before, old), (after, new) = (
        (tmp_path / f"{word}.c", f"for ({word} = 0; {word} < n; {word}++) a[{word}] = 1.0;")
        for word in ("i", "t1")
    )
    for file, text in ((before, old), (after, new)):
        region = f"#pragma scop\n{text}\n#pragma endscop"
        file.write_text(head + FUNCTION.format(f"int t1 = 5; {own}\n{region}\n{later}"))
    try:
        assert isinstance(compare_files(before, after).verdict, Proved) == (name == "nowhere")
    except BadInput as failure:
        assert name != "nowhere", failure.message


def test_a_race_is_told_by_its_lines(tmp_path: Path) -> None:
    new = SHARED.replace("= A[t1][t2] +", "= A[t1 - 1][t2] +")
    found = compared(tmp_path, CARRIED, new).verdict
    assert isinstance(found, Refuted) and found.obligation == "parallel"
    assert "t1 = 1" in found.witness and "A[i][j] = A[i - 1][j] + B[i][j]" in found.witness


def test_a_race_beside_what_data_decide(tmp_path: Path) -> None:
    """That data decide what a statement reads is no doubt of a race of another one."""
    last = "a[0] = a[0] > 0.5 ? B[0][0] : 2.0;"
    loop = "for (t1 = 0; t1 <= n - 1; t1++) { lbv = 0; for (t2 = lbv; t2 <= 0; t2++) sum += a[t1]; }"
    new = f"#pragma omp parallel for private(lbv,t2)\n{loop}\n{last}"
    found = compared(tmp_path, f"for (i = 0; i < n; i++) sum += a[i]; {last}", new).verdict
    assert isinstance(found, Refuted) and found.obligation == "parallel"


def test_a_root_of_what_is_negative(tmp_path: Path) -> None:
    """It is computed, and is not a number."""
    new = "for (t1 = 0; t1 <= n - 1; t1++) a[t1] = sqrt(-1.0 - A[t1][0] * A[t1][0]);"
    old = "for (i = 0; i < n; i++) a[i] = sqrt(1.0 + A[i][0] * A[i][0]);"
    found = compared(tmp_path, old, new).verdict
    assert isinstance(found, Refuted) and "but NaN" in found.witness


def test_a_loop_that_vectors_may_not_run(tmp_path: Path) -> None:
    old = "for (i = 1; i < n; i++) a[i] = a[i - 1] + 1.0;"
    new = "#pragma ivdep\nfor (t1 = 1; t1 <= n - 1; t1++) { a[t1] = a[t1 - 1] + 1.0;; }"
    assert isinstance(compared(tmp_path, old, new).verdict, Refuted)


JAMMED_DEPENDENCE = """
for (t1 = 1; t1 <= (n - 1) - 1; t1 += 2) {
  for (t2 = 0; t2 <= n - 2; t2++) {
    A[t1][t2] = A[t1 - 1][(t2+1)];;
    A[(t1+1)][t2] = A[(t1+1) - 1][(t2+1)];;
  }
}
for (; t1 <= n - 1; t1++) {
  for (t2 = 0; t2 <= n - 2; t2++) {
    A[t1][t2] = A[t1 - 1][(t2+1)];;
  }
}
"""


def test_jamming_that_a_dependence_forbids(tmp_path: Path) -> None:
    """Row t1 + 1 reads the next column of row t1, which is not written yet."""
    old = "for (i = 1; i < n; i++) for (j = 0; j < n - 1; j++) A[i][j] = A[i - 1][j + 1];"
    assert isinstance(compared(tmp_path, old, JAMMED_DEPENDENCE).verdict, Refuted)
    kept = JAMMED_DEPENDENCE.replace("[(t2+1)]", "[t2]")
    old = old.replace("j + 1", "j")
    assert isinstance(compared(tmp_path, old, kept).verdict, Proved)


def test_what_an_iterator_is_after_a_parallel_loop_is_not_known(tmp_path: Path) -> None:
    new = "#pragma omp parallel for\nfor (t1 = 0; t1 <= n - 2; t1++) { a[t1] = 1.0;; }\n"
    new += "for (; t1 <= n - 1; t1++) a[t1] = 1.0;"
    found = compared(tmp_path, "for (i = 0; i < n; i++) a[i] = 1.0;", new)
    assert isinstance(found.verdict, Undecided), found


@pytest.mark.parametrize("own", ["short", "signed char", "double", "volatile int", "static int"])
def test_the_compiler_is_asked_what_the_iterators_are(tmp_path: Path, own: str) -> None:
    before, after = tmp_path / "old.c", tmp_path / "new.c"
    before.write_text(FUNCTION.format(f"#pragma scop\n{SWEEP}\n#pragma endscop"))
    after.write_text(HEAD + FUNCTION.format(f"  int t1, t2, t3; {own} t4;\n{SKEWED}"))
    try:
        assert not isinstance(compare_files(before, after).verdict, Proved)
    except BadInput as failure:
        assert failure.message
