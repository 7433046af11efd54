"""A program that does what is undefined in C is not valid, even if the run that was seen came out right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.c.selection.choice import Choice
from loopwright.check.original.specification import specification
from loopwright.check.program.control import decided_by_data
from loopwright.check.program.doubts import of_other_type
from loopwright.check.program.reachable import reached
from loopwright.check.program.segment import parse_input
from loopwright.check.program.sites import find_sites
from loopwright.check.program.unset import unset_reads
from loopwright.check.run.report import Answer
from loopwright.check.verify import CheckOptions, check_file, check_text
from loopwright.read.c.options import ReadOptions
from loopwright.source import Source
from tests.check.support import QUICK
from tests.check.test_bad_input import COPY, check, text


@pytest.mark.parametrize(
    ("program", "unset"),
    [
        ("int k; if (k) i = 1;", 1),
        ("int k; if (argc) k = 1; else k = 2; i = k;", 0),
        ("int k; if (argc) k = 1; i = k;", 1),
        ("int k; for (i = 0; i < 2; i++) k = i; i = k;", 1),
        ("int k; do { k = 0; } while (k);", 0),
        ("int k; do { if (argc) continue; k = 0; } while (k);", 1),
        ("int k; for (;;) { k = 1; if (argc) break; } i = k;", 0),
        ("int k; switch (argc) { case 0: k = 1; break; default: k = 2; } i = k;", 1),
        ("goto in; int k = 1; in: i = k;", 1),
        ("int k; k++;", 1),
        ("int k, j = sizeof k; argc && (k = 1); i = k + j;", 1),
        ("int k; i = argc ? (k = 1) : (k = 2); i = k;", 0),
        ("int *p; if (p) i = 1;", 1),
        ("int k; int *p = &k; *p = 1; i = k;", 0),
        ("static int k; i = k;", 0),
        ("int k; { int k = 1; i = k; } { int k; i = k; }", 1),
        ("int k = 1, j; for (j = k; j < 2; j++) { int m; if (j) m = j; else return 0; i = m; }", 0),
    ],
)  # fmt: skip
def test_variables_that_may_not_be_set(program: str, unset: int) -> None:
    given = parse_input(Source("p.c", text(f"{program} {COPY}")))
    known = reached(given.segment, {array.name: array.rank for array in given.original.arrays})
    assert len(unset_reads(known)) == unset


@pytest.mark.parametrize(
    ("program", "seen"),
    [
        ("int k; if (k == 77) A[0] = B[0];", "'k' is read at p.c:13:14, and nothing has set it"),
        ("int *o = malloc(N * sizeof(int)); for (i = 0; i <= N; i++) o[i] = i; free(o);",
         "heap-buffer-overflow (p.c:13)"),
        ("int m = 1 << (33 * argc); if (m == 12) A[0] = B[0];",
         "shift exponent 33 is too large for 32-bit type 'int' (p.c:13:13)"),
        ("for (volatile int k = -2147483647 + argc; k < argc; k--);",
         "signed integer overflow: -2147483648 - 1 cannot be represented in type 'int' (p.c:13:56)"),
        ("volatile int k = 2147483600; while (argc <= k && k != argc) k += 32;",
         "signed integer overflow: 2147483632 + 32 cannot be represented in type 'int' (p.c:13:65)"),
    ],
)  # fmt: skip
def test_a_run_that_came_out_right(program: str, seen: str) -> None:
    report = check(text(f"{program} {COPY}"))
    assert report.answer is Answer.VIOLATION and not report.findings
    assert report.notes[-1] == f"undefined: {seen}"


def test_a_variable_that_is_set_when_the_program_runs() -> None:
    """No text shows it; the run does."""
    assert check(text(f"int k; for (int j = 0; j < 2; j++) k = j; if (k) {COPY}")).answer is Answer.VALID


def test_arrays_that_are_not_set() -> None:
    """What is in them decides the order, and it is something else with another compiler."""
    program = f"int o[N]; if (o[2] & 2) {COPY} else A[0] = B[0];"
    assert check(text(program)).answer is Answer.VIOLATION


@pytest.mark.parametrize(
    ("program", "functions"),
    [
        ("for (i = 0; i < N; i++) if (B[i] < 5) A[i] = B[i];", ""),
        ("for (i = 0; i < N; i++) f(B[i], i);", "static void f(double x, int k) { if (x < 5) A[k] = B[k]; }"),
        (f"int late = rand(); if (late == 5) return 1; {COPY}", ""),
        (f"int o[N], *p = o; *p = B[0] < 5; if (o[0]) {COPY}", ""),
        (f"int o = 0, *p = &o; *p = B[0] < 5; if (o > 0) {COPY}", ""),
        (f"if (small(B)) {COPY}", "static int small(double *b) { return b[0] < 5; }"),
        (f"int o; test(B, &o); if (o) {COPY}", "static void test(double *b, int *to) { *to = b[0] < 5; }"),
        (f"int o[1] = {{B[0] < 5}}, *p = o; int *q = p; if (*q) {COPY}", ""),
        (f"struct {{ int o; }} s, t; s.o = B[0] < 5; t = s; if (t.o) {COPY}", ""),
    ],
)
def test_data_that_decide_what_runs(program: str, functions: str) -> None:
    """A run is about its data, and the answer is about all."""
    report = check(text(program, functions=functions))
    assert report.answer is Answer.GAVE_UP
    assert "data decide which operations run" in report.notes[-1]


def test_a_thread_that_nothing_waits_for() -> None:
    functions = "#include <pthread.h>\nstatic void *w(void *x) { A[0] = B[0]; return x; }"
    program = f"pthread_t t; {COPY} if (argc > 9) pthread_create(&t, 0, w, 0);"
    report = check(text(program, functions=functions))
    assert report.answer is Answer.GAVE_UP
    assert "nothing waits for the thread that is started at p.c:14:67" in report.notes[-1]


def test_without_sanitizers_a_doubt_stays() -> None:
    """A compiler that has none looks at nothing: what is not shown to be set is not taken for set."""
    tools = replace(QUICK, options=("-static",))
    report = check_text(text(f"int k; if (argc) k = 0; {COPY} i = k;"), options=CheckOptions(tools=tools))
    assert report.answer is Answer.GAVE_UP
    assert report.notes[-1].startswith("'k' may be read at p.c:13:68 before it is set")


@pytest.mark.parametrize(
    ("program", "functions", "seen"),
    [
        (f"{COPY} i = 0; index_of[i] = i++;", "", "'i' is changed and used in one expression"),
        (f"{COPY} i = i++;", "", "'i' is changed and used in one expression in no defined order"),
        (f"{COPY} i = one(i, i++);", "static int one(int a, int b) { return a + b; }", "'i' is changed"),
        (f"int k = 0; if (!setjmp(e)) {{ k = 1; longjmp(e, 1); }} {COPY} index_of[0] = k;",
         "#include <setjmp.h>\njmp_buf e;", "'k' may have an undefined value at p.c:14:107"),
        (f"int k = late(3); {COPY} index_of[0] = k;", "static int late(int k) { if (k > 9) return 1; }",
         "'late(3)' may be used at p.c:13:11, and the function may end without a value"),
        (f"long k = *(long *)C; {COPY} index_of[0] = k > 0;", "", "'(long *)C' at p.c:13:13 may access"),
        (f"if (argc < 9) {COPY}", "", "the command line decides which operations run, at p.c:13:6"),
        (f"int k = argv[0] ? 1 : 0; if (k) {COPY}", "", "the command line decides which operations run"),
        (f'if (!getenv("NO_SUCH_VARIABLE")) {COPY}', "", "data decide which operations run"),
    ],
)  # fmt: skip
def test_what_no_run_shows(program: str, functions: str, seen: str) -> None:
    report = check(text(program, functions=functions))
    assert report.answer is Answer.GAVE_UP
    assert report.notes[-1].startswith(seen)


@pytest.mark.parametrize(
    ("program", "functions"),
    [
        (f"int k = 0; k = k + 1; index_of[k] = k; i = k++; {COPY}", ""),
        (f"int k = sign(3); {COPY} index_of[0] = k;",
         "static int sign(int k) { if (k > 0) return 1; else if (k < 0) return -1; return 0; }"),
        (f"note(3); {COPY}", "static int noted; static int note(int k) { noted = k; }"),
        (f"unsigned *k = (unsigned *)index_of; char *c = (char *)index_of; k[0] = 3; c[0] = 1; {COPY}", ""),
        (f"int *k = (int *)malloc(4 * sizeof(int)); k[0] = 1; free(k); {COPY}", ""),
    ],
)  # fmt: skip
def test_what_looks_doubtful_and_is_right(program: str, functions: str) -> None:
    assert check(text(program, functions=functions)).answer is Answer.VALID


@pytest.mark.parametrize(
    ("program", "functions", "is_other"),
    [
        ("int k = 1; void *p = &k; if (*(float *)p > 5) A[0] = B[0];", "", True),
        ("int k = 1; void *p = &k; float *q = p; if (*q > 5) A[0] = B[0];", "", True),
        ("int k = 1; void *p, *r; p = &k; r = p; if (*(short *)r > 5) A[0] = B[0];", "", True),
        ("int k[2] = { 1, 2 }; void *p = k; if (((long *)p)[0] == 5) A[0] = B[0];", "", True),
        ("int k = 1; if (g(&k)) A[0] = B[0];", "static int g(void *p) { return *(float *)p > 5; }", True),
        ("int k = 1; if (g(&k)) A[0] = B[0];", "static int g(void *p) { int *q = p; return *q > 5; }", False),
        ("int k = 1; void *p = &k; unsigned char *q = p; if (*(unsigned *)p > *q) A[0] = B[0];", "", False),
        ("int k = 1; double t = k; if (t > 5) A[0] = B[0];", "", False),
    ],
)  # fmt: skip
def test_memory_that_another_type_reads_by_way_of_void(program: str, functions: str, is_other: bool) -> None:
    given = parse_input(Source("p.c", text(f"{program} {COPY}", functions=functions)))
    known = reached(given.segment, {array.name: array.rank for array in given.original.arrays})
    assert bool(list(of_other_type(known))) == is_other


@pytest.mark.parametrize(
    ("program", "is_data"),
    [
        ('FILE *f = fopen("/dev/null", "r"); if (f)', True),
        ('int k = 1; scanf("%d", &k); if (k)', True),
        ("char l[9] = \"\"; fgets(l, 9, stdin); if (l[0] != 'x')", True),
        ("long k; memcpy(&k, A, 8); if (k != 5)", True),
        ("time_t k; time(&k); if (k > 5)", True),
        ('char l[9]; sprintf(l, "%g", B[0]); if (l[0])', True),
        ("int k = 1, m; memcpy(&m, &k, 4); if (m)", False),
        ('printf("%g", B[0]); if (N > 1)', False),
    ],
)
def test_data_that_functions_of_the_library_bring(program: str, is_data: bool) -> None:
    given = parse_input(Source("p.c", text(f"{program} {COPY}")))
    spec = specification(given.original, {"N": 8})
    known = reached(given.segment, {array.name: array.rank for array in given.original.arrays})
    assert (decided_by_data(find_sites(spec, known)) is not None) == is_data


@pytest.mark.parametrize("value", ["", " = { 1 }"])
@pytest.mark.parametrize("element", ["double", "const int"])
def test_a_read_before_the_first_variable_of_the_program(element: str, value: str, tmp_path: Path) -> None:
    """The sanitizer's zone after a variable is before another one, if there is another one."""
    head = f"static {element} given[24]{value};\nint s;\n"
    head += f"void f(int n, {element} A[24])\n{{\nfor (int i = 0; i < n; i++) {{\n"
    tail = "}\n}\nint main(void) { f(3, given); return 0; }\n"
    loops = ("if (n < 0) s += A[i - 1];", f"{element} x = A[i - 1]; if (n < 0) s += x;")
    old, new = (tmp_path / name for name in ("old.c", "new.c"))
    for path, body in zip((old, new), loops, strict=True):
        path.write_text(f"{head}{body}\n{tail}")
    options = CheckOptions(tools=QUICK, reading=ReadOptions(choice=Choice(("f",))))
    assert check_file(old, old, options).answer is Answer.VALID
    found = check_file(new, old, options)
    assert found.answer is Answer.VIOLATION
    assert any("global-buffer-overflow" in note for note in found.notes)
