"""Two files in other words: loops that count but are not plain `for` loops, and what is no such loop."""

import re
from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Proved, Refuted
from loopwright.read.c.find import nests_of
from loopwright.read.c.reader import load_c


def verdict(tmp_path: Path, old: str, new: str) -> str:
    """Yes, no, or not known."""
    old_file, new_file = tmp_path / "old.c", tmp_path / "new.c"
    old_file.write_text(old)
    new_file.write_text(new)
    try:
        found = compare_files(old_file, new_file).verdict
    except BadInput:
        return "unknown"
    return "yes" if isinstance(found, Proved) else "no" if isinstance(found, Refuted) else "unknown"


def file(body: str, before: str = "", declared: str = "int i, j;", after: str = "") -> str:
    head = f"{before}\nint f(int n, int m, double A[1000], double B[1000]) {{\n  {declared}\n"
    return f"{head}#pragma scop\n{body}\n#pragma endscop\n  {after or 'return 0;'}\n}}\n"


LOOP = "for (i = 0; i < n; i++) A[i] = B[i] + 1;"
TEN = "for (i = 0; i < 10; i++) A[i] = B[i] + 1;"
STEP = "A[i] = B[i] + 1;"
TWO = "A[i] = B[i] + 1; A[i+1] = B[i+1] + 1;"
BY_NAME = "{ double t = B[i]; A[i] = t + 1; }"
PAIR = "double t[2]; for (j = 0; j < 2; j++) t[j] = B[i + j]; for (j = 0; j < 2; j++) A[i + j] = t[j] + 1;"

COUNTING = [
    (LOOP, f"i = 0; while (i < n) {{ {STEP} i++; }}"),
    (LOOP, f"i = 0; j = m; while (i < n) {{ {STEP} i += 1; }}"),
    (LOOP, f"i = n - 1; while (i >= 0) {{ {STEP} --i; }}"),
    (LOOP, f"i = n; while (i-- > 0) {STEP}"),
    (LOOP, f"i = 0; if (i < n) do {{ {STEP} i++; }} while (i < n);"),
    (LOOP, f"if (n > 0) {{ i = 0; do {{ {STEP} i++; }} while (i < n); }}"),
    (LOOP, f"i = 0; if (n > 0) do {{ {STEP} i++; }} while (i < n);"),
    (LOOP, f"int p = 0; if (n > 0) {{ do {{ {STEP} p++; }} while (n > p); }}".replace("[i]", "[p]")),
    (f"for (i = 0; i <= n; i++) {STEP}", f"if (n >= 0) {{ i = 0; do {{ {STEP} i++; }} while (i <= n); }}"),
    (TEN, f"i = 0; do {{ {STEP} i++; }} while (i < 10);"),
    (LOOP, f"i = 0; for (;;) {{ if (i >= n) break; {STEP} i++; }}"),
    (LOOP, f"i = 0; while (1) {{ if (!(i < n)) {{ break; }} {STEP} i++; }}"),
    (LOOP, f"for (i = 0;; i++) {{ if (i >= n) break; {STEP} }}"),
    (
        "for (i = 0; i < n; i++) if (i < m) A[i] = 1;",
        "for (i = 0; i < n; i++) { if (m <= i) break; A[i] = 1; }",
    ),
    (LOOP, f"for (i = 0; i < n;) {{ {STEP} i++; }}"),
    (LOOP, f"i = 0; for (; i < n; i++) {STEP}"),
    (
        "for (i = 0; i < n; i++) for (j = 0; j < i; j++) A[i] += B[j];",
        "i = 0; while (i < n) { j = 0; while (j < i) { A[i] += B[j]; j++; } i++; }",
    ),
    (LOOP, f"i = 0; while (i + 1 < n) {{ {TWO} i += 2; }} if (i < n) {STEP}"),
    (LOOP, f"for (i = 0; i + 1 < n; i += 2) {{ {TWO} }} for (; i < n; i++) {STEP}"),
    (LOOP, f"for (i = 0; i + 1 < n; i += 2) {{ {TWO} }} for (; i < n; i++) {BY_NAME}"),
    (LOOP, f"for (i = 0; i <= n - 2; i += 2) {{ {PAIR} }} if (i < n) {STEP}"),
]
"""What is equal, and read as such."""

OTHERWISE = [
    (LOOP, f"i = 0; while (i <= n) {{ {STEP} i++; }}"),
    (LOOP, f"i = 1; while (i < n) {{ {STEP} i++; }}"),
    (LOOP, f"i = 0; while (i < n) {{ i++; {STEP} }}"),
    (LOOP, f"i = 0; while (i < n) {{ if (i == 3) continue; {STEP} i++; }}"),
    (LOOP, f"i = 0; while (i < n) {{ {STEP} int i = 3; i++; }}"),
    (LOOP, f"i = 0; j = i++; while (i < n) {{ {STEP} i++; }}"),
    (LOOP, f"i = m; m = 0; while (i < n) {{ {STEP} i++; }}"),
    (LOOP, f"i = 0; do {{ {STEP} i++; }} while (i < n);"),
    (LOOP, f"i = 0; if (i <= n) do {{ {STEP} i++; }} while (i < n);"),
    (LOOP, f"i = 0; if (n >= 0) do {{ {STEP} i++; }} while (i < n);"),
    (LOOP, f"i = 0; if (n != 0) do {{ {STEP} i++; }} while (i < n);"),
    (LOOP, f"unsigned p = 0; if (n > 0) do {{ {STEP} p++; }} while (p <= n);".replace("[i]", "[p]")),
    ("for (i = 9; i > n; i--) A[i] = 1;", "unsigned p = 9; if (9 > n) do { A[p] = 1; p--; } while (p > n);"),
    (LOOP, f"if (n > 0) {{ i = 1; do {{ {STEP} i++; }} while (i < n); }}"),
    (";", f"i = 0; do {{ {STEP} i++; }} while (i < 0);"),
    (";", f"i = 9; do {{ {STEP} i++; }} while (i < 010);"),
    (LOOP, f"for (i = 0;; i++) {{ {STEP} if (i >= n) break; }}"),
    (LOOP, f"for (i = 0;; i++) {{ if (i > n) break; {STEP} }}"),
    (LOOP, f"i = 0; while (i + 1 < n) {{ {TWO} i += 2; }}"),
    (LOOP, f"i = 0; while (i + 1 < n) {{ {TWO} i += 2; }} if (i <= n) {STEP}"),
    (LOOP, f"i = 0; while (i + 2 < n) {{ {TWO} i += 2; }} if (i < n) {STEP}"),
    (LOOP, f"for (i = 0; i + 1 < n; i += 2) {{ {TWO} }} n = n - 1; for (; i < n; i++) {BY_NAME}"),
    (LOOP, f"for (i = 0; i + 1 < n; i += 2) {{ {TWO} }} {{ int n = 3; for (; i < n; i++) {BY_NAME} }}"),
    (LOOP, f"for (i = 0; i + 1 < n; i += 2) {{ {TWO} }} if (i < n) {{ int n = 0; A[i] = B[i] + n; }}"),
    (LOOP, f"for (i = 0; i + 2 < n; i += 2) {{ {TWO} }} if (i < n) {BY_NAME}"),
    (LOOP, f"i = 0;\n#pragma omp parallel for\nwhile (i < n) {{ {STEP} i++; }}"),
]
"""What is not equal, or not C."""

AROUND = [
    (f"i = 0; while (i < n) {{ SKIP; {STEP} i++; }}", "#define SKIP if (B[i] > 5) continue", "int i, j;", ""),
    (f"i = 0; BUMP; while (i < n) {{ {STEP} i++; }}", "#define BUMP i = 1", "int i, j;", ""),
    (f"i = 0; j = ONE; while (i < n) {{ {STEP} i++; }}", "#define ONE i++", "int i, j;", ""),
    (f"i = 0; *p = 1; while (i < n) {{ {STEP} i++; }}", "", "int i, j, *p = &i;", ""),
    (f"static int i = 0; while (i < n) {{ {STEP} i++; }}", "", "int j;", ""),
    (f"i = 0; while (i < n) {{ {STEP} i++; }}", "", "int i = 0, j;", "return i;"),
    (f"i = 0; while (i < n) {{ {STEP} i++; }}", "", "int j; volatile int i;", ""),
    (f"i = 0; while (i < n) {{ {STEP} i++; }}", "", "int j; unsigned char i;", ""),
    (f"for (int i = 0; i + 1 < n; i += 2) {{ {TWO} }} if (i < n) {STEP}", "", "int i = 0, j;", ""),
    (f"for (int i = 0; i + 1 < n; i += 2) {{ {TWO} }} for (; i < n; i++) {STEP}", "", "int i = 0, j;", ""),
]
"""The same, with what stands around it: a macro, a declaration, a use after the region."""


@pytest.mark.parametrize(("old", "new"), COUNTING)
def test_loops_that_count(tmp_path: Path, old: str, new: str) -> None:
    assert verdict(tmp_path, file(old), file(new)) == "yes"


@pytest.mark.parametrize(("old", "new"), OTHERWISE)
def test_loops_that_do_something_else(tmp_path: Path, old: str, new: str) -> None:
    assert verdict(tmp_path, file(old), file(new)) != "yes"


@pytest.mark.parametrize(("new", "before", "declared", "after"), AROUND)
def test_what_stands_around_them(tmp_path: Path, new: str, before: str, declared: str, after: str) -> None:
    old = file(LOOP.replace("i = 0", "int i = 0"), before, declared, after)
    assert verdict(tmp_path, old, file(new, before, declared, after)) != "yes"


BACK = "for (i = n - 1; i >= 0; i--) A[i] = B[i] + 1;"
AFTER = [
    (LOOP, LOOP, "yes"),
    (LOOP, f"{BACK} i = n > 0 ? n : 0;", "yes"),
    (LOOP, "for (j = n - 1; j >= 0; j--) A[j] = B[j] + 1; i = n; if (n < 0) i = 0;", "yes"),
    (f"{LOOP} i = 0;", f"{BACK} i = 0;", "yes"),
    (LOOP, f"i = 0; while (i < n) {{ {STEP} i++; }}", "yes"),
    ("for (i = 1; i <= n; i++) A[i] = 1;", "for (j = n; j > 0; j--) A[j] = 1; i = n < 1 ? 1 : n + 1;", "yes"),
    ("for (i = 2; i < n; i += 3) A[i] = 1;", "for (i = 2; i <= n - 1; i += 3) A[i] = 1;", "yes"),
    (LOOP, BACK, "no"),
    (LOOP, f"{BACK} i = n;", "no"),
    (f"{LOOP} i = 0;", f"{BACK} i = 1;", "no"),
    ("for (i = 2; i < n; i += 3) A[i] = 1;", "for (i = 2; i < n; i += 3) A[i] = 1; i = n;", "no"),
    (LOOP, f"for (i = 0; i < n; i++) {{ {STEP} if (B[i] > 3) break; }}", "unknown"),
    (LOOP, f"for (i = 0; i < n; i++) {{ {STEP} n = n - 0; }}", "unknown"),
    (LOOP, f"for (i = 0; i < n; i++) {{ {STEP} i += 0; }}", "unknown"),
    (LOOP, f"\n#pragma omp parallel for\n{LOOP}", "unknown"),
    (LOOP, f"\n#pragma omp parallel for lastprivate(i)\n{LOOP}", "unknown"),
]
"""Regions of a function that returns i."""

SEEN = [
    ("", "int i, j, *p = &i;", LOOP.replace("B[i]", "B[*p]")),
    ("#define AT(x) (&(x))", "int i, j, *p = AT(i);", LOOP.replace("B[i]", "B[*p]")),
    ("int i; static double now(void) { return i; }", "int j;", LOOP.replace("B[i]", "now()")),
    ("", "static int i; int j;", LOOP),
    ("", "short i; int j;", LOOP),
    ("", "unsigned i; int j;", LOOP),
    ("#define N_I (n + i - i)", "int i, j;", LOOP.replace("< n", "< N_I")),
    ("static int k; void more(void) { k++; }", "int i, j;", "for (i = 0; i < k; i++) { A[i] = 1; more(); }"),
]
"""Iterators that are more than local numbers, or bounds that change: i is not known after the loop."""


@pytest.mark.parametrize(("old", "new", "answer"), AFTER)
def test_iterators_after_their_loops(tmp_path: Path, old: str, new: str, answer: str) -> None:
    assert verdict(tmp_path, file(old, after="return i;"), file(new, after="return i;")) == answer


@pytest.mark.parametrize(("before", "declared", "loop"), SEEN)
def test_iterators_that_are_seen_otherwise(tmp_path: Path, before: str, declared: str, loop: str) -> None:
    old = file(loop, before, declared, "return i;")
    other = re.sub(r"\bi\b", "j", loop)
    new = file(f"{other} i = n > 0 ? n : 0;", before, declared, "return i;")
    assert verdict(tmp_path, old, new) != "yes"


SCRATCH = "for (i = 0; i < 10; i++) t[i] = B[i]; for (i = 0; i < 10; i++) A[i] = t[i];"


@pytest.mark.parametrize(
    ("old", "new", "after", "answer"),
    [
        ("double t[10];", "double t[16];", "", "yes"),
        ("double t[16];", "double t[10];", "", "unknown"),
        ("double t[10];", "double t[16];", "return t[0] > 0;", "unknown"),
        ("double t[10];", "double t[16];", "return sizeof(int);", "unknown"),
        ("double t[10], *p = t;", "double t[16], *p = t;", "return *p > 0;", "unknown"),
        ("double t[10];", "float t[16];", "", "unknown"),
        ("double t[10];", "double t[16] = {0};", "", "unknown"),
    ],
)
def test_a_local_array_that_is_longer(tmp_path: Path, old: str, new: str, after: str, answer: str) -> None:
    first, second = (file(SCRATCH, declared=f"int i; {one}", after=after) for one in (old, new))
    assert verdict(tmp_path, first, second) == answer


def test_loops_that_no_pragma_marks(tmp_path: Path) -> None:
    """The statement that gives the counter its first value belongs to the loop."""
    texts = [LOOP, f"i = 0;\n  while (i < n) {{ {STEP} i++; }}"]
    for name, text in zip(("old.c", "new.c"), texts, strict=True):
        (tmp_path / name).write_text(re.sub(r"#pragma (end)?scop\n", "", file(text)))
    found = compare_files(tmp_path / "old.c", tmp_path / "new.c")
    assert isinstance(found.verdict, Proved)
    assert [entry for entry in found.trusted if "new.c: read with plain loops" in entry]
    (nest,) = nests_of(load_c(tmp_path / "new.c"))
    assert nest.program is not None and nest.lines == (4, 5)


UNMARKED = [
    (f"int i = 0;\n for (; i + 1 < n; i += 2) {{ {TWO} }}\n if (i < n) {STEP}", "yes"),
    (f"int i, j;\n for (i = 0; i + 2 <= n; i += 2) {{ {PAIR} }}\n for (; i < n; i++) {STEP}", "yes"),
    (
        f"int even = n / 2 * 2;\n for (int i = 0; i < even; i += 2) {{ {TWO} }}\n"
        f" for (int i = even; i < n; i++) {STEP}",
        "yes",
    ),
    (f"double one = B[0];\n for (int i = 0; i < n; i++) {STEP}\n if (n > 0) A[0] = one + 1;", "yes"),
    ("double one = B[0];\n for (int i = 0; i < n; i++) A[i] = one + 1;", "no"),
    (
        f"int i;\n for (i = 0; i < n - 1; i += 2) {{ {TWO} }}\n if (i < n) {{ {STEP} i++; }}\n"
        f" if (i < n) {{ {STEP} i++; }}",
        "yes",
    ),
    (f"int i;\n for (i = 0; i < n - 1; i++) {STEP}\n goto end;\n end: if (i < n) {STEP}", "unknown"),
]
"""Bodies of a function without pragmas; what is beside the loops may do what they leave out."""


@pytest.mark.parametrize(("body", "answer"), UNMARKED)
def test_what_stands_beside_loops_that_no_pragma_marks(tmp_path: Path, body: str, answer: str) -> None:
    whole = "int f(int n, double A[1000], double B[1000]) {{\n  {}\n  return 0;\n}}\n"
    old = whole.format("for (int i = 0; i < n; i++)\n    A[i] = B[i] + 1;")
    assert verdict(tmp_path, old, whole.format(body)) == answer


WEIGHTED = "for (i = 0; i < n; i++) { double w[2][2] = {{1, 2}, {3}}; A[i] = w[0][1] * B[i] + w[1][0]; }"
GROWING = "for (i = 0; i < n; i++) { double w[2] = {1, 2}; w[0] += A[i]; A[i] = w[0] + w[1]; }"
COPIED = "for (i = 0; i < n; i++) { double w[2] = {A[i], A[0]}; A[i] = 5; B[i] = w[0] + w[1]; }"

VALUES = [
    ("yes", WEIGHTED, WEIGHTED.replace("i = 0; i < n; i++", "i = n - 1; i >= 0; i--")),
    ("no", WEIGHTED, WEIGHTED.replace("{{1, 2}, {3}}", "{{1, 3}, {2}}")),
    ("no", GROWING, f"double w[2] = {{1, 2}}; {GROWING.replace('double w[2] = {1, 2}; ', '')}"),
    ("no", COPIED, COPIED.replace("A[i] = 5; ", "").replace("{ double", "{ A[i] = 5; double")),
]


@pytest.mark.parametrize(("answer", "old", "new"), VALUES)
def test_arrays_with_first_values_in_both(tmp_path: Path, answer: str, old: str, new: str) -> None:
    assert verdict(tmp_path, file(old), file(new)) == answer
