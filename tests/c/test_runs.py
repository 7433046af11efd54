"""What runs that a file shows have in its variables when a region is reached: known values are those of C."""

import pytest

from loopwright.c.runs.arrivals import arrivals
from loopwright.c.runs.memory import Value
from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.tree import Name, walk_all
from loopwright.source import Source


def _known(head: str, before: str) -> Value:
    """The value of n where a region is reached in `main`; None if it is not known."""
    region_text = "#pragma scop\nfor (int i = 0; i < n; i++) out[i] = 1;\n#pragma endscop\n"
    text = f"{head}\ndouble out[99];\nint main(void)\n{{\n{before}\n{region_text}}}\n"
    file = typed_file(Source("runs.c", text))
    (region,) = file.regions
    assert isinstance(region, TypedRegion)
    used = (node for node in walk_all(region.statements) if isinstance(node, Name))
    size = next(node for node in used if node.declaration.name == "n")
    found = {run.value(size) for run in arrivals(region, file)}
    return found.pop() if len(found) == 1 else None


KNOWN: list[tuple[str, str, int]] = [
    # An operand of an assignment is evaluated once.
    ("", "int v[2] = {4, 4}, k = 0; v[k++] += 4; int n = v[0] + k;", 9),
    ("int v[2], k; int *f(void) { return &v[k++]; }", "--*f(); *f() += 5; int n = v[1] + k;", 7),
    # Bit-fields are stored in their bits.
    ("struct { unsigned a : 3, b : 5; int c : 4; } s;", "s.a--; s.b = 9; int n = s.a * 100 + s.b;", 709),
    ("struct { int c : 4, d : 4; } s;", "s.d = 3; s.c = 7; s.c--; int n = 10 * s.d - s.c;", 24),
    ("struct { int a : 1; } s;", "s.a = 1; int n = s.a++ + 5;", 4),
    # Structs have the sizes that attributes and pragmas give them.
    ("struct __attribute__((packed)) s { char c; int v; } t[2];", "t[1].v = 7; int n = *((char *)t + 6);", 7),
    (
        "struct __attribute__((aligned(16))) s { int v; } t[2];",
        "struct s *p = t; int n = (char *)(p + 1) - (char *)p;",
        16,
    ),
    ("struct s { char c; _Alignas(8) char v; } t[2];", "int n = sizeof t;", 32),
    (
        "typedef struct { int a, b; } s; s t[2] = {{1, 2}, {3, 4}};",
        "s *p = t + 1; { typedef char s; s c = 1; } int n = p->a;",
        3,
    ),
    # Strings fill arrays, also in braces, and have the bytes of C.
    ("char t[2][4] = {\"ab\", \"cde\"}, u[] = {\"fg\"};", "int n = t[1][1] * 1000 + u[1];", 100103),
    ("char t[] = \"\\?\\e\\18\\x4\";", "int n = t[0] * 10000 + t[1] * 100 + t[3];", 632756),
    ("unsigned char t[] = \"\\xff!\";", "int n = sizeof t * 1000 + t[0];", 3255),
    # Of a union, a list gives one member a value.
    ("struct { int k; union { int i; char c; }; int m; } s = {1, 2, 3};", "int n = s.i * 10 + s.m;", 23),
    ("", "double x = 0.49999999999999994; int n = 3 + (int)__builtin_round(x);", 3),
]
UNKNOWN: list[tuple[str, str]] = [
    # A store at an unknown place.
    ("int c(void);", "int n = 3, *p = &n; int **q = c() ? &p : 0; **q = 4;"),
    ("int c(void);", "double x = 3, *p = c() ? &x : 0; *p = 4; int n = x;"),
    ("int c(void); int *kept;", "int n = 3; kept = &n; c();"),
    ("int c(void); static int k = 3; void set(int v) { k = v; }", "c(); int n = k;"),
    ("#include <stdio.h>\nint c(void);", "int n = 3; scanf(\"%d\", c() ? &n : 0);"),
    # What the library stores, and calls.
    ("#include <stdlib.h>", "char *e = 0; strtol(\"12\", &e, 10); int n = e == 0 ? 4 : 8;"),
    ("#include <stdio.h>", "int n = 3; printf(\"abcd%n\\n\", &n);"),
    (
        "#include <stdlib.h>\nint k; int f(const void *a, const void *b) { k++; return a < b; }",
        "int v[3]; k = 1; qsort(v, 3, 4, f); int n = k;",
    ),
    (
        "#include <signal.h>\nint k; void f(int s) { k = s; }",
        "signal(SIGUSR1, f); k = 1; raise(SIGUSR1); int n = k;",
    ),
    ("struct s { int *v; }; void c(const struct s *);", "int n = 3; struct s t = {&n}; c(&t);"),
    # What acts without being named.
    ("int k = 1; __attribute__((constructor)) void f(void) { k = 4; }", "int n = k;"),
    ("int k = 1; extern int l __attribute__((alias(\"k\")));", "k = 2; l = 5; int n = k;"),
    ("void f(int *p) { *p = 4; }", "int n __attribute__((cleanup(f))) = 3;"),
    ("__attribute__((weak)) int k = 3;", "int n = k;"),
    ("#define OTHER extern\nOTHER int k;", "int n = k + 1;"),
    # Numbers made of addresses.
    ("int v[9];", "int n = (unsigned long)v & 3 ? 5 : 4;"),
    (
        "typedef unsigned long word; int v[9], w;",
        "w = 3; word x = (word)v ^ (word)&w; int *p = (int *)(x ^ (word)v); *p = 4; int n = w;",
    ),
    # Values that are computed in another way here, or that are not specified.
    ("", "long double x = 0.1L; int n = 3 + (x * 10 == 1.0L);"),
    ("#include <ctype.h>", "int n = isdigit('5');"),
    ("#include <stdlib.h>", "int n = strtol(\"99999999999999999999\", 0, 10) & 7;"),
    ("#define X \"3\"", "int n = __builtin_atoi(\"12\" X \"4\");"),
    ("", "int k = 7, n = 0; switch (k % 4) { do { case 0: n++; case 3: n++; } while (k-- > 5); }"),
    ("struct { struct { int a, b; } p; } s = {.p.a = 5, .p = {.b = 2}};", "int n = s.p.a + 1;"),
]


@pytest.mark.parametrize(("head", "before", "value"), KNOWN)
def test_a_known_value_is_that_of_the_run(head: str, before: str, value: int) -> None:
    assert _known(head, before) == value


@pytest.mark.parametrize(("head", "before"), UNKNOWN)
def test_what_the_file_does_not_show_is_not_known(head: str, before: str) -> None:
    assert _known(head, before) is None
