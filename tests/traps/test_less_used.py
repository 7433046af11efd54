"""C that is less used: what is read keeps its dependences, and what is not says so in words that are true."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.errors import BadInput
from loopwright.progress import silent
from loopwright.prove.legality.plans import prove_plan
from loopwright.read.c.gate.numbers import known_values
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.source import Source
from loopwright.transform.perform import performed
from loopwright.transform.plan import Plan
from loopwright.transform.script.steps import parse_script
from tests.traps.support import PROVED, Trap, comparison

_HEAD = """#line 500 "other.c"
#include <stdarg.h>
struct bits { unsigned n : 4; };
struct open { int n; double d[]; };
int k;
static void first(y) double *y; { y[3] = y[4]; }
static void some(int n, ...) { va_list a; va_start(a, n); double *s = va_arg(a, double *); s[0] += 1; va_end(a); }
static inline double value(double y, ...) { return y; }
"""

_READ = {
    "a definition as in K&R C": ("f(n, x) int n; double *x;", "x[i] = x[i + 1];"),
    "a call of one": ("f(int n, double *x)", "{ x[i] = 0; first(x); }"),
    "a variadic function": ("f(int n, double *x)", "{ x[i] = i; some(1, x); }"),
    "an effect in an argument without a name": ("f(int n, double *x)", "x[i] = value(x[i], x[i + 1]++);"),
    "128 bits": ("f(__int128 n, __int128 *x)", "x[i] = x[i + 1] + 1;"),
    "typeof": ("f(int n, double *x)", "{ __typeof__(x[i]) t = x[i]; x[i + 1] = t; }"),
    "an attribute of C23": ("f(int n, double *x)", "{ [[maybe_unused]] double t = x[i]; x[i + 1] = t; }"),
    "a bit-field as a bound": ("f(struct bits *p, double *x)", "if (i < p->n) x[i] = x[i + 1];"),
    "a flexible array": ("f(int n, struct open *p)", "p->d[i] = p->d[i + 1];"),
    "an effect in a length": ("f(int n, double x[k++][n])", "x[i][0] = x[i + 1][0] + k;"),
    "a length that is set": ("f(int n, double x[n][n = n - 1])", "x[i][0] = x[i + 1][0];"),
    "a length of before": ("f(int n, double (*x)[n])", "x[i][0] = x[i + 1][0];", "n = 3;"),
    "static and restrict": ("f(int n, double x[restrict static 10])", "x[i] = x[i + 1];"),
    "a nested function": ("f(int n, double *x)", "g(i);", "double t = 0; void g(int i) { x[i + 1] = t; t = x[i]; }"),
}


def test_loops_in_less_used_c_are_not_reversed(tmp_path: Path) -> None:
    text = _HEAD
    for number, (head, body, *setup) in enumerate(_READ.values()):
        loop = f"for ({'__int128' if '128' in head else 'int'} i = 0; i < 9; i++) {body}"
        head = head.replace("f(", f"f{number}(", 1)
        text += f"void {head} {{ {' '.join(setup)}\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"
    (tmp_path / "t.c").write_text(text)
    programs = read_c(tmp_path / "t.c")
    assert len(programs) == len(_READ)
    for name, program in zip(_READ, programs, strict=True):
        plan = Plan.of(program)
        (first, *_) = program.statements
        reversed_loop = performed(plan, *parse_script(f"reverse({first.name}, i)"))
        assert not prove_plan(reversed_loop).proved, name


_NOT_READ = {
    "auto": ("for (auto i = 0; i < n; i++) x[i] = 0;", "the compiler accepts this"),
    "a statement in an expression": ("for (i = 0; i < n; i++) x[i] = ({ x[i + 1] = 3; x[i]; });", "cannot be read"),
    "an effect in a bound": ("for (i = 0; i < ({ x[0] = 1; n; }); i++) x[i + 1] = x[i];", "must be affine"),
    "generic": ("for (i = 0; i < n; i++) x[i] = _Generic(x[i], double: x[i], float: 1);", "cannot be read"),
    "a range of cases": ("for (i = 0; i < n; i++) switch (i) { case 1 ... 3: x[i] = 1; }", "the compiler accepts"),
    "parts of complex numbers": ("for (i = 0; i < n; i++) __real__ z[i] = 0;", "the compiler accepts this"),
    "a bit-field that is written": ("for (i = 0; i < n; i++) b[i].a = i;", "is a bit-field"),
    "a pragma in a macro": ("for (k = 0; k < n; k++) {\nPAR\nfor (i = 0; i < n; i++) x[i] = 1;\n}", "'PAR' is a macro"),
    "an option": ("for (i = 0; i < n; i++) SET(x[i], x[i + 1]);", "is not an expression"),
    "a literal": ("for (i = 0; i < n; i++) x[i] = (double[]){x[i + 1], 2}[0];", "cannot be read"),
    "an iterator of the outer type": ("for (typeof(m) j = 0; j < m - 4; j++) x[j] = x[j + 1];", "does not show"),
    **{
        f"an effect in the type of '{text}'": (f"for (i = 0; i < n; i++) {{ {text} x[i + 1] = k; }}", "for the length")
        for text in (
            *("typeof(int[k++]) *t;", "int (*t)[k++];", "int t[k += 1];", "(void)(int (*)[g()])x;", "int t[g()];"),
            *("k = ((int (*)[k++ + 1])x)[0][0];", "int (*t)[n], (*u)[({ k++; 3; })];", "int (*t)[x[k++] > 1];"),
        )
    },
    "a name in other letters": ("for (i = 0; i < n; i++) x[i] = \\u00e9;", "does not read this as it is"),
}


@pytest.mark.parametrize("name", _NOT_READ)
def test_what_is_not_read_is_told(name: str, tmp_path: Path) -> None:
    body, message = _NOT_READ[name]
    head = "struct s { int a : 3; int b : 5; };\n#define PAR _Pragma(\"omp simd\")\n"
    head += "int g(void);\n#define SET(a, ...) a = 0 __VA_OPT__(+ __VA_ARGS__)\ndouble \\u00e9;\n"
    parameters = "int n, unsigned m, double *x, double _Complex *z, struct s *b"
    text = f"{head}void f({parameters}) {{ int i, k = 0;\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    (tmp_path / "t.c").write_text(text)
    with pytest.raises(BadInput) as refused:
        read_c(tmp_path / "t.c")
    assert message in refused.value.message


def test_functions_that_set_errno_are_not_moved_where_it_is_looked_at(tmp_path: Path) -> None:
    """The last of several errors stays in errno: EDOM for log(-1), ERANGE for log(0)."""
    head = "#include <errno.h>\n#include <math.h>\nint last(void) { return errno; }"
    for name, is_read in (("log", False), ("fabs", True)):
        trap = Trap(name, f"for (i = 0; i < n; i++) x[i] = {name}(i - 1.0);", head=head)
        (tmp_path / "t.c").write_text(trap.text())
        if is_read:
            read_c(tmp_path / "t.c")
        else:
            with pytest.raises(BadInput, match="may set errno, which the file uses"):
                read_c(tmp_path / "t.c")
    (tmp_path / "t.c").write_text(Trap("", "for (i = 0; i < n; i++) x[i] = log(i);", head="#include <math.h>").text())
    read_c(tmp_path / "t.c")


def test_declarations_whose_types_do_something_stay(tmp_path: Path) -> None:
    """They are left out where they declare pointers that are not used; so is no number known that they change."""
    old, new, number = (
        Trap("", body, setup=setup).text()
        for setup, body in (
            ("k = 0;", "for (i = 0; i < n; i++) x[i + 1] = k;"),
            ("k = 0;", "for (i = 0; i < n; i++) { int (*t)[k++]; x[i + 1] = k; }"),
            ("k = 0; for (i = 0; i < n; i++) (void)sizeof(int[k++]);", "for (i = 0; i < n; i++) x[i + k] = x[i];"),
        )
    )
    assert comparison(old, new, tmp_path) != PROVED
    file = typed_file(Source("t.c", number))
    (region,) = file.regions
    assert isinstance(region, TypedRegion) and not known_values(region, file)


ODD = (
    "for (i = 0; i < 8; i++) for (int j = 2; j < 9; j++) x[i * n + j]++; for (i = 0; i < 8; i++) x[i % 4] = 0;",
    *("for (i = 0; i < n; i++) if (m >= m) x[i] = 1;", "for (i = 0; i < n + m - m; i++) x[i] = 1;"),
    *("if (m || !m) x[0] = 1;", "for (i = 0; i < (m >= m ? n : 3); i++) x[i] = 1;"),
    *("for (i = 0; i < n; i++) if (m != m) x[i] = 1;", "for (i = 0; i < n; i++) if (x[i] > m * m) x[i] = m;"),
)


def test_sizes_that_cancel_and_remainders_in_flat_arrays_are_read(tmp_path: Path) -> None:
    regions = "".join(
        f"void f{number}(int n, unsigned m, double *x) {{ int i;\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        for number, body in enumerate(ODD)
    )
    (tmp_path / "t.c").write_text(regions)
    done = transformed(Request(file=str(tmp_path / "t.c")), silent)
    assert len(done.regions) == len(ODD)
