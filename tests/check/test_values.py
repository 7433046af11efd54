"""Programs that compute what their original computes by other operations, and in other storage."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.selection.choice import Choice
from loopwright.check.run.execute import Toolchain
from loopwright.check.run.report import Answer, Report, as_text
from loopwright.check.values.functions import paired
from loopwright.check.values.terms import same_terms
from loopwright.check.verify import CheckOptions, check_file
from loopwright.errors import LoopwrightError
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.source import Source, Span

HEAD = """#include <stdio.h>
#include <string.h>
#define N 21
#define T 5
static double A[N][N], x[N], y[N], u[N], v[N], w[N];
static int mode = 1;
"""
TAIL = """
int main(void)
{
  for (int i = 0; i < N; i++) x[i] = u[i] = w[i] = i % 5;
  kernel();
  printf("%g\\n", x[1] + y[1] + u[2] + v[3] + w[4]);
  return 0;
}
"""
OLD = """static void kernel(void)
{
  int t, i, j;
#pragma scop
  for (i = 0; i < N; i++) {
    y[i] = 0.0;
    for (j = 0; j < N; j++)
      y[i] += A[i][j] * x[j];
  }
  for (t = 0; t < T; t++) {
    for (i = 1; i < N - 1; i++)
      v[i] = 0.33 * (u[i - 1] + u[i] + u[i + 1]);
    for (i = 1; i < N - 1; i++)
      u[i] = v[i];
  }
  for (i = 0; i < N; i++)
    w[i] += 2.0 * x[i];
#pragma endscop
}
"""
PRODUCT = """  const double *a = &A[0][0];
  double *q = y;
  do {
    double sum = 0.0;
    const double *p = x;
  again:
    sum += *a++ * *p++;
    if (p < x + N) goto again;
    *q++ = sum;
  } while (q < y + N);
"""
SWAPPED = """  static double more[N];
  double *from = u, *to = more;
  more[0] = u[0], more[N - 1] = u[N - 1];
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++) to[i] = 0.33 * (from[i - 1] + from[i] + from[i + 1]);
    double *other = from;
    from = to, to = other;
  }
  memcpy(v + 1, from + 1, (N - 2) * sizeof(double));
  if (from != u) memcpy(u, from, sizeof u);
"""
DEVICE = """  int i = 0, n = (N + 3) / 4;
  switch (N % 4) {
  case 0: do { add(&w[i], &x[i]); i++;
  case 3:      w[i] += TWICE(x[i]), i++;
  case 2:      w[i] += TWICE(x[i]), i++;
  case 1:      w[i] = w[i] + 2.0 * x[i], i++;
          } while (--n > 0);
  }
"""
HELPERS = """#define TWICE(e) (2.0 * (e))
struct pair { double *to; const double *from; };
static void added(struct pair one) { *one.to += TWICE(*one.from); }
static void add(double *to, const double *from) { struct pair one = {to, from}; added(one); }
"""


def function(*parts: str) -> str:
    return "static void kernel(void)\n{\n" + "".join(f"  {{\n{part}  }}\n" for part in parts) + "}\n"


NEW = HELPERS + function(DEVICE, PRODUCT, SWAPPED)


def checked(folder: Path, new: str) -> Report | None:
    """The comparison by terms alone."""
    (folder / "old.c").write_text(HEAD + OLD + TAIL)
    (old,) = read_c(folder / "old.c")
    return same_terms(old, Source(str(folder / "new.c"), HEAD + new + TAIL), Toolchain(), ())


def test_pointer_walks_swaps_and_a_switch_into_a_loop_are_valid(tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text(HEAD + OLD + TAIL)
    (tmp_path / "new.c").write_text(HEAD + NEW + TAIL)
    options = CheckOptions(reading=ReadOptions(choice=Choice(functions=("kernel",))))
    report = check_file(tmp_path / "new.c", tmp_path / "old.c", options)
    assert report.answer is Answer.VALID
    assert report.notes == ()
    text = as_text(report)
    assert "all variables get the values of the original" in text
    assert "(size N = 21, T = 5)" in text or "(size T = 5, N = 21)" in text


def test_operands_in_another_order_are_no_violation(tmp_path: Path) -> None:
    """The cells that each operation reads are those of the original, and so are the values."""
    region = "  for (int i = 1; i < N; i++) x[i] = %s;\n"
    for name, values in (("old.c", "x[i - 1] + u[i]"), ("new.c", "u[i] + x[i - 1]")):
        text = region.replace("%s", values)
        (tmp_path / name).write_text(
            f"{HEAD}static void kernel(void)\n{{\n#pragma scop\n{text}#pragma endscop\n}}\n{TAIL}"
        )
    assert check_file(tmp_path / "new.c", tmp_path / "old.c").answer is Answer.VALID


PLAIN = "  for (int i = 0; i < N; i++) w[i] += 2.0 * x[i];\n"
ADDED = "sum += *a++ * *p++;"
WRONG = {
    "one too few": ("y + N)", "y + N - 1)"),
    "another order of a sum": (ADDED, "sum = *a++ * *p++ + (sum + 0.5) - 0.5;"),
    "data decide": (ADDED, "if (*p != 0.0) sum += *a * *p; a++; p++;"),
    "not set": ("double sum = 0.0;", "double sum; if (q == y) sum = 0.0;"),
    "beyond the end": ("double sum = 0.0;", "double sum = 0.0; if (q == y) sum = x[N + 40] * 0; sum = 0.0;"),
}


@pytest.mark.parametrize("name", [name for name in WRONG if name != "one too few"])
def test_other_values_are_not_valid(tmp_path: Path, name: str) -> None:
    assert checked(tmp_path, function(PRODUCT.replace(*WRONG[name]), SWAPPED, PLAIN)) is None


UNSEEN = {
    "bytes of a number": "  long bits; memcpy(&bits, &x[0], sizeof bits); if (bits) y[0] = x[0];\n",
    "a pointer to bytes": "  if (((const unsigned char *)x)[7]) y[0] = x[0];\n",
    "a union": "  union { double d; long l; } one = {x[0]}; if (one.l) y[0] = x[0];\n",
    "output": '  printf("here");\n',
    "a flag that the original does not look at": "  if (!mode) y[0] = 1.0;\n",
    "a variable that the original leaves alone": "  mode = 2;\n",
    "threads": "#pragma omp parallel for\n  for (int i = 0; i < N; i++) y[i] = y[i];\n",
    "a promise to the compiler": "#pragma GCC ivdep\n  for (int i = 0; i < N; i++) y[i] = y[i];\n",
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_terms_do_not_show_is_not_valid(tmp_path: Path, name: str) -> None:
    assert checked(tmp_path, function(PRODUCT, SWAPPED, PLAIN, UNSEEN[name])) is None


OUTSIDE = {
    "a constant": ("#define T 5", "#define T 6"),
    "another function": ("i % 5", "i % 6"),
    "a macro for a word of the original": ("static int mode", "#define x y\nstatic int mode"),
}


@pytest.mark.parametrize(
    "line", ['#include "own.h"', "#if __STDC_VERSION__ >= 199901L\n#define FEW 2\n#endif"]
)
def test_what_another_compiler_may_see_otherwise_is_not_valid(tmp_path: Path, line: str) -> None:
    (tmp_path / "old.c").write_text(HEAD + OLD + TAIL)
    (old,) = read_c(tmp_path / "old.c")
    text = f"{line}\n{HEAD}" + function(PRODUCT, SWAPPED, PLAIN) + TAIL
    both = Source(str(tmp_path / "both.c"), f"{line}\n{HEAD}{OLD}{TAIL}")
    region = Span(both, old.region.start + len(line) + 1, old.region.end + len(line) + 1)
    assert paired(region, Source("new.c", text)) is None
    assert paired(old.region, Source("new.c", text.removeprefix(f"{line}\n"))) is not None


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_around_the_function_must_be_the_same(tmp_path: Path, name: str) -> None:
    was, now = OUTSIDE[name]
    text = HEAD + function(PRODUCT, SWAPPED, PLAIN) + TAIL
    (tmp_path / "old.c").write_text(HEAD + OLD + TAIL)
    (old,) = read_c(tmp_path / "old.c")
    assert same_terms(old, Source("new.c", text.replace(was, now)), Toolchain(), ()) is None


def test_what_is_not_valid_keeps_its_first_answer(tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text(HEAD + OLD + TAIL)
    short = PRODUCT.replace(*WRONG["one too few"])
    (tmp_path / "new.c").write_text(HEAD + function(short, SWAPPED, PLAIN) + TAIL)
    options = CheckOptions(reading=ReadOptions(choice=Choice(functions=("kernel",))))
    with pytest.raises(LoopwrightError, match="gets another name"):
        check_file(tmp_path / "new.c", tmp_path / "old.c", options)


@pytest.mark.parametrize(
    ("head", "old", "new"),
    [
        ("static int I[9];\nstatic void k(void)", "I[i] = I[i] / 2;", "{ int t = I[i]; I[i] = t >> 1; }"),
        ("static int f = 3; double I[9];\nstatic void k(void)", "I[i] = I[i] * f;", "I[i] = I[i] * 3;"),
        ("static double I[9];\nstatic void k(int f)", "I[i] = I[i] * f;", "I[i] = I[i] * 3;"),
    ],
)
def test_integers_are_data_of_one_run(head: str, old: str, new: str, tmp_path: Path) -> None:
    """They have no terms: the same numbers in one run are nothing."""
    call = "k(3)" if "int f)" in head else "k()"
    files = []
    for name, text in (("old.c", old), ("new.c", new)):
        loop = f"#pragma scop\n  for (int i = 0; i < 9; i++)\n    {text}\n#pragma endscop"
        files.append(tmp_path / name)
        files[-1].write_text(f"{head}\n{{\n{loop}\n}}\nint main(void) {{ {call}; return I[3] > 2; }}\n")
    (original,) = read_c(files[0])
    assert same_terms(original, Source.decode(str(files[1]), files[1].read_bytes()), Toolchain(), ()) is None


@pytest.mark.parametrize(
    ("head", "setup", "is_shown"),
    [
        ("static double kept[N];", "", True),
        ("typedef double real;", "real kept[N];", True),
        ("", "static double kept[N];", True),
        ("", "static double kept[N]; static int calls; if (calls++) return;", False),
        ("static double kept[N]; static int calls;", "if (calls++) return;", False),
        ("", "static int calls; if (calls++) return; double kept[N];", False),
        ("", "static const int one = 1; double kept[N];", True),
    ],
)
def test_what_is_left_by_another_call(head: str, setup: str, is_shown: bool, tmp_path: Path) -> None:
    """The program calls the function once; that is no reason to believe what it keeps for the next time."""
    region = "#pragma scop\n  for (int i = 0; i < N; i++)\n    y[i] = x[i] * w[i];\n#pragma endscop"
    old = f"static void kernel(void)\n{{\n{region}\n}}\n"
    loops = "for (int i = 0; i < N; i++) kept[i] = x[i] * w[i]; for (int i = 0; i < N; i++) y[i] = kept[i];"
    (tmp_path / "old.c").write_text(HEAD + old + TAIL)
    (original,) = read_c(tmp_path / "old.c")
    new = f"{HEAD}{head}\nstatic void kernel(void)\n{{\n  {setup}\n  {loops}\n}}\n{TAIL}"
    assert (same_terms(original, Source("new.c", new), Toolchain(), ()) is not None) == is_shown


ROW = "for (int i = 0; i < N; i++) "
SET = ROW + "y[i] = x[i] * 2;"
ANY = "int any = 0; for (int k = 0; k < 8; k++) any |= p[k]; y[i] = any ? x[i] * 2 : 5; }"
NEXT = "static double next(const double **p) { return *(*p)++; }"
TWICE = "static double twice(double *p) { *p *= 2; return *p; }"
OTHERWISE = {
    "an enumeration": ("", ROW + "{ enum e { P = 1 } v = P; y[i] = x[i] * (v - 2 > 0 ? 3 : 2); }"),
    "bits": ("", "struct s { unsigned long b : 40; } v = {0}; if ((v.b - 1) >> 40 == 0) return; " + SET),
    "a type without a word": ("", ROW + "{ auto k = 2.0; y[i] = x[i] * k; }"),
    "a tag named like a variable": ("", ROW + "{ struct mode { char a[2]; }; y[i] = x[i] * sizeof(mode); }"),
    "operands that are calls": (NEXT, "const double *p = x; double d = next(&p) - next(&p); " + SET),
    "operands that are macros": ("#define ONE *p++", "double *p = x, d = ONE - ONE; " + SET),
    "an operand that a call changes": (TWICE, "double s = x[0]; s += twice(&s); " + SET),
    "an element in two operands": ("", "int k[] = {0}; double d = x[k[0]++] + k[0]; " + SET),
    "bytes by another name": ("typedef unsigned char B;", ROW + "{ B *p = (B *)&x[i]; " + ANY),
    "bytes of new memory": ("", ROW + "{ char *p = calloc(8, 1); double *d = (double *)p; *d = x[i]; " + ANY),
    "beside a number": ("struct s { double d; long l; };", "struct s one = {x[0], 0}; " + SET),
    "a call in parentheses": ("", '(puts)("here"); ' + SET),
    "a call by a macro": ("#define SAY puts", 'SAY ("here"); ' + SET),
    "a variable of the environment": ("", 'if (!(getenv)("LOOPWRIGHT_SEED")) return; ' + SET),
    "the first call": ("static int first;", "if (!first) { first = 1; return; } " + SET),
    "the first call, by an own variable": ("", "static int first; if (!first) { first = 1; return; } " + SET),
    "the first call, by a pointer": ("", "static const double *at; if (at) return; at = x; " + SET),
    "a static by a macro": ("#define KEEP static", "KEEP int calls; if (calls++) return; " + SET),
    "integers that are not set": ("", "int *k = malloc(9); if (k[1] == 0) return; " + SET),
    "elements that are not set": ("", "int k[3]; if (k[1] == 7) return; " + SET),
    "fields that are not set": ("", "struct s { int k; } one; if (one.k == 7) return; " + SET),
    "what a pointer says is not set": ("", "int k, *p = &k; if (*p == 7) return; " + SET),
    "a word in two parts": ("#define JOIN(a, b) a##b", 'int pu, ts; JOIN(pu, ts)("here"); ' + SET),
    "a word on two lines": ("", 'int pu, ts; pu\\\nts("here"); ' + SET),
    "a variable of the library": ("", "extern int opterr; if (!opterr) return; " + SET),
    "the order of objects": ("", "if (x > y) return; " + SET),
    "an address": ("", "if ((size_t)x % 64) return; " + SET),
    "an address without a cast": ("", "size_t at = x; if (at == 3) return; " + SET),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_is_read_otherwise_or_not_seen(name: str, tmp_path: Path) -> None:
    head, body = OTHERWISE[name]
    loop = "for (int i = 0; i < N; i++)\n    y[i] = x[i] * 2;"
    old = f"static void kernel(void)\n{{\n#pragma scop\n  {loop}\n#pragma endscop\n}}\n"
    first = HEAD + "#include <stdlib.h>\n#include <math.h>\n"
    (tmp_path / "old.c").write_text(first + old + TAIL)
    (original,) = read_c(tmp_path / "old.c")
    new = f"{first}{head}\nstatic void kernel(void)\n{{\n  {body}\n}}\n{TAIL}"
    assert same_terms(original, Source("new.c", new), Toolchain(), ()) is None


@pytest.mark.parametrize(("given", "is_same"), [("a", True), ("a * 3.0", False)])
def test_parameters_of_a_function_that_calls_itself(given: str, is_same: bool, tmp_path: Path) -> None:
    head = f"{HEAD}static void kernel(double a, int n)\n{{\n"
    end = "}\n" + TAIL.replace("kernel()", "kernel(0.5, 7)")
    loop = "#pragma scop\n  for (int i = 0; i < n; i++)\n    y[i] = x[i] * a;\n#pragma endscop\n"
    (tmp_path / "old.c").write_text(head + loop + end)
    (original,) = read_c(tmp_path / "old.c")
    new = f"{head}  if (n > 1) kernel({given}, n - 1);\n  y[n - 1] = x[n - 1] * a;\n{end}"
    assert (same_terms(original, Source("new.c", new), Toolchain(), ()) is not None) == is_same


SINGLE = "static float f[N];\n"
TYPES_OF_NUMBERS = [
    ("y[i] = x[i] * 1.41421353816986083984375;", "y[i] = x[i] * sqrt(2.0f);", False),
    ("y[i] = x[i] * 1.4142135623730951;", "y[i] = x[i] * sqrt(2.0f);", True),
    ("y[i] = f[i] * f[i];", "y[i] = (i >= 0 ? f[i] : 1.0) * f[i];", False),
    ("y[i] = f[i] * f[i];", "y[i] = (i >= 0 ? f[i] : 1) * f[i];", True),
    ("y[i] = x[i] * 2.0;", "{ static const double two[] = {2.0}; y[i] = two[0] * x[i]; }", True),
]


@pytest.mark.parametrize(("was", "now", "is_same"), TYPES_OF_NUMBERS)
def test_types_of_constants(was: str, now: str, is_same: bool, tmp_path: Path) -> None:
    first = HEAD + "#include <math.h>\n" + SINGLE
    kernel = "static void kernel(void)\n{{\n{}  for (int i = 0; i < N; i++)\n    {}\n{}}}\n"
    (tmp_path / "old.c").write_text(first + kernel.format("#pragma scop\n", was, "#pragma endscop\n") + TAIL)
    (original,) = read_c(tmp_path / "old.c")
    new = Source("new.c", first + kernel.format("", now, "") + TAIL)
    assert (same_terms(original, new, Toolchain(), ()) is not None) == is_same


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if (mode == 1) {", "}"),
        ("double two = mode + 1;", ""),
        ("static double kept; kept += x[0];", ""),
        ("double two = sizeof('a') + 1;", ""),
    ],
)
def test_the_original_is_looked_at_too(before: str, after: str, tmp_path: Path) -> None:
    factor = "two" if "two" in before else "2.0"
    loop = "  for (int i = 0; i < N; i++)\n    y[i] = x[i] * {};\n"
    region = f"#pragma scop\n{loop.format(factor)}#pragma endscop"
    (tmp_path / "old.c").write_text(
        f"{HEAD}static void kernel(void)\n{{\n{before}\n{region}\n{after}\n}}\n{TAIL}"
    )
    (original,) = read_c(tmp_path / "old.c")
    new = f"{HEAD}static void kernel(void)\n{{\n{loop.format('2.0')}}}\n{TAIL}"
    assert same_terms(original, Source("new.c", new), Toolchain(), ()) is None


@pytest.mark.parametrize("option", ["-funsigned-char", "-ansi"])
def test_options_that_change_the_language(option: str, tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text(HEAD + OLD + TAIL)
    (old,) = read_c(tmp_path / "old.c")
    assert same_terms(old, Source("new.c", HEAD + NEW + TAIL), Toolchain(options=(option,)), ()) is None


@pytest.mark.parametrize(
    "changed",
    ["(sizeof('a') + 1)", "(sizeof(1 == 1) + 1)", "(sizeof(!i) + 1)", "(sizeof LETTER + 1)", "TWICE_IN_GNU"],
)
def test_what_is_another_number_in_another_language(changed: str, tmp_path: Path) -> None:
    """Each of these is 2 for a compiler of C++, and another number for one of C."""
    head = "#define LETTER 'a'\n"
    if changed.isidentifier():
        head += f"#ifdef _GNU_SOURCE\n#define {changed} 2\n#else\n#define {changed} 3\n#endif\n"
    loop = "  for (int i = 0; i < N; i++)\n    y[i] = x[i] * 2;"
    old = f"static void kernel(void)\n{{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"
    new = f"{head}static void kernel(void)\n{{\n{loop.replace('* 2', f'* {changed}')}\n}}\n"
    (tmp_path / "old.c").write_text(HEAD + old + TAIL)
    (original,) = read_c(tmp_path / "old.c")
    assert same_terms(original, Source("new.c", HEAD + new + TAIL), Toolchain(), ()) is None
