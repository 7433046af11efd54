"""Other words for the same C: texts, and how often they stay as they are."""

from __future__ import annotations

import pytest

from loopwright.c.reworded.declared import with_leading_attributes, with_outer_declarations
from loopwright.c.reworded.final_values import with_final_values
from loopwright.c.reworded.jumps import with_structured_jumps
from loopwright.c.reworded.loop_heads import with_one_counter
from loopwright.errors import BadInput
from loopwright.read.c.reader import read_source
from loopwright.source import Source


def whole(region: str, before: str = "", after: str = "", parameters: str = "int n, double *a") -> str:
    return f"long f({parameters}) {{{before}\n#pragma scop\n{region}\n#pragma endscop\n{after} }}\n"


HELD = "__attribute__((aligned(32))) "


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("double t[4] __attribute__((aligned(32)));", f"{HELD}double t[4] {' ' * 28};"),
        ("a[0] = 1; int t __attribute__((aligned(32))); t = 1;", f"a[0] = 1; {HELD}int t {' ' * 28}; t = 1;"),
        ("unsigned int t[N * 2][3] __attribute__((unused));", None),
        ("typedef double t __attribute__((aligned(32)));", ""),
        ("double t __attribute__((aligned(32))), u;", ""),
        ("double u, t __attribute__((aligned(32)));", ""),
        ("double t __attribute__((cleanup(g)));", ""),
        ("double t __attribute__((vector_size(32)));", ""),
        ("double t(int) __attribute__((aligned(32)));", ""),
        ("double t = 1 __attribute__((aligned(32)));", ""),
        ("// double t __attribute__((aligned(32)));", ""),
    ],
)  # fmt: skip
def test_attributes_at_the_front(old: str, new: str | None) -> None:
    found = with_leading_attributes(Source("t.c", whole(old))).text
    if new is None:
        assert found != whole(old)
    else:
        assert found == whole(new or old)


@pytest.mark.parametrize(
    ("region", "after", "hoisted", "left"),
    [
        ("double s = 0;", "return s;", " double s;", "s = 0;"),
        ("double s = 0, r, q = n;", "return q;", " double s, r, q;", "s = 0; q = n;"),
        ("long s;\ns = 1;", "return s;", " long s;", ";\ns = 1;"),
        ("double s = 0;", "return 1;", None, ""),
        ("double s = 0, r = s;", "return r;", None, ""),
        ("static double s = 0;", "return s;", None, ""),
        ("const double s = 0;", "return s;", None, ""),
        ("double s[2] = {0};", "return s[0];", None, ""),
        ("double *s = a;", "return *s;", None, ""),
        ("a[0] = s; double s = 0;", "return s;", None, ""),
        ("{ double s = 0; }", "return s;", None, ""),
        ("struct P s;", "return s.x;", None, ""),
        ("__auto_type s = 0.5;", "return s;", None, ""),
    ],
)
def test_declared_before_the_region(region: str, after: str, hoisted: str | None, left: str) -> None:
    old = whole(region, after=after)
    new = old if hoisted is None else whole(left, before=hoisted, after=after)
    assert with_outer_declarations(Source("t.c", old)).text == new


@pytest.mark.parametrize("before", ["\nif (n)", "\n#define OPEN {", "\nswitch (n) case 1:", "\ndo"])
def test_nothing_is_declared_where_no_statement_begins(before: str) -> None:
    text = whole("double s = 0;", before=before, after="return s;")
    assert with_outer_declarations(Source("t.c", text)).text == text


@pytest.mark.parametrize(
    ("before", "is_moved"), [("n++;", True), ("", True), ("if (n) ", False), ("n++;\n#define X 1\n", False)]
)
def test_declared_before_what_is_read_without_pragmas(before: str, is_moved: bool) -> None:
    text = f"double f(int n, double *a) {{ {before}$double s = 0; a[0] = s;$ return s; }}"
    start, end = text.index("$"), text.rindex("$") - 1
    source = Source("t.c", text.replace("$", ""), ((start, end),))
    moved = f"{before.rstrip() or '{'} double s;"
    new = source.text.replace("double s = 0", "s = 0").replace(before.rstrip() or "{", moved, 1)
    found = with_outer_declarations(source)
    assert found.text == (new if is_moved else source.text)
    ((first, last),) = found.chosen
    assert found.text[first:last].startswith("s = 0; a" if is_moved else "double s")


LOOP = "for (i = 0; i < n; i++) { if (a[i] < 0) goto L; a[i] = 1; }"
TWO = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { if (a[j] < i) goto L; a[j] = 1; }"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"{LOOP}\nL: a[0] = 2;", f"{LOOP.replace('goto L', 'break')}\nL: a[0] = 2;"),
        (f"{LOOP}\nL: ;", f"{LOOP.replace('goto L', 'break')}\n;"),
        (f"{TWO}\nL: a[0] = 2;", f"{{ {TWO}\nL: ; }} a[0] = 2;"),
        (f"{LOOP}\na[1] = 1;\nL: a[0] = 2;", ""),
        (f"if (n > 3) goto L;\n{TWO}\nL: a[0] = 2;", ""),
        (f"if (n > 3) {LOOP}\nL: a[0] = 2;", ""),
        (f"\n#pragma GCC ivdep\n{TWO}\nL: a[0] = 2;", ""),
        ("for (i = 0; i < n; i++) switch (n) { case 1: goto L; }\nL: a[0] = 2;",
         "{ for (i = 0; i < n; i++) switch (n) { case 1: goto L; }\nL: ; } a[0] = 2;"),
    ],
)  # fmt: skip
def test_jumps_out_of_loops(old: str, new: str) -> None:
    assert with_structured_jumps(Source("t.c", whole(old))).text == whole(new or old)


@pytest.mark.parametrize("after", ["if (n > 3) goto L;", "void *to = &&L; goto *to;"])
def test_a_label_that_is_named_outside_of_the_region_stays(after: str) -> None:
    old, new = f"{LOOP}\nL: ;", f"{LOOP.replace('goto L', 'break')}\nL: ;"
    assert with_structured_jumps(Source("t.c", whole(old, after=after))).text == whole(new, after=after)
    two = whole(f"{TWO}\nL: a[0] = 2;", after=after)
    assert with_structured_jumps(Source("t.c", two)).text == two


@pytest.mark.parametrize(
    ("kind", "other", "head", "last"),
    [
        ("long", "long", "i = 0; i < n; i++", "i = n"),
        ("long", "int", "i = 0; i <= n; i++", "i = (long)(n) + 1"),
        ("long", "unsigned", "i = 0; i < n; i++", None),
        ("long", "int", "i = 0; i + 1 < n; i++", "i = n - 1"),
        ("long", "long", "i = 0; i < n; i += 2", None),
        ("size_t", "size_t", "i = 0; i < n; i++", "i = n"),
        ("size_t", "size_t", "i = 0; i <= n; i++", None),
        ("size_t", "size_t", "i = 0; i < n - 1; i++", None),
        ("size_t", "size_t", "i = 0; i + 1 < n; i++", None),
        ("size_t", "int", "i = 0; i < n; i++", None),
        ("unsigned", "unsigned", "i = n; i > 0; i--", "i = 0"),
        ("unsigned", "unsigned", "i = -1; i < 5; i++", None),
        ("unsigned", "unsigned", "i = 0; i < 5000000000; i++", None),
        ("unsigned char", "int", "i = 0; i < n; i++", None),
        ("short", "short", "i = 0; i < n; i++", None),
    ],
)
def test_iterators_of_wider_types_get_their_last_values(
    kind: str, other: str, head: str, last: str | None
) -> None:
    text = whole(f"for ({head}) a[i] = 1;", f"{kind} i;", "return i;", f"{other} n, double *a")
    found = with_final_values(Source("t.c", text)).text
    assert (f") {last};" in found and f"for ({kind} i_1 = " in found) if last else found == text


@pytest.mark.parametrize(
    "text",
    [
        whole("double s = 0; for (int i = 0; i < n; i++) s += a[i];", after="return s;"),
        whole("for (i = 0; i < n; i++) a[i] = 1;", "long i;", "return i;", "long n, double *a"),
        whole(LOOP + "\nL: ;", "int i;", "return 0;"),
        whole("int i = 0; " + TWO + "\nL: a[0] = 2;", "int j;", "return 0;"),
        whole(
            "for (int i = 0; i < n; i++) { int t[2] __attribute__((aligned(32))); t[0] = i; a[i] = t[0]; }",
            after="return 0;",
        ),
    ],
)  # fmt: skip
def test_these_forms_are_read(text: str) -> None:
    (program,) = read_source(Source("t.c", text))
    assert program.statements


@pytest.mark.parametrize("declared", [f"{HELD}double t[4]", "_Alignas(32) double t[4]"])
def test_the_alignment_of_what_a_call_is_given_would_be_lost(declared: str) -> None:
    loop = f"for (int i = 0; i < n; i++) {{ {declared}; t[0] = a[i]; a[i] = g(t); }}"
    text = "double g(double *);\n" + whole(loop, after="return 0;")
    with pytest.raises(BadInput, match="'t' is aligned, and there is a pointer to it"):
        read_source(Source("t.c", text))


@pytest.mark.parametrize(
    ("before", "loop", "last"),
    [
        ("int i = n;", "while (i--) a[i] = 0;", 0),
        ("int i; i = n;", "for (; i--;) a[i] = 0;", 0),
        ("int i = n;", "while (i-- > 2) a[i] = 0;", 2),
        ("int i = n;", "while (--i >= 0) a[i] = 0;", 0),
        ("int i = n;", "while (--i > 1) a[i] = 0;", 2),
        ("long i = n;", "for (; --i >= 3;) a[i] = 0;", 3),
        ("unsigned i = n;", "while (--i >= 0) a[i] = 0;", None),
        ("int i = n; int *p = &i;", "while (--i >= 0) a[i] = *p;", None),
        ("int i = n;", "do a[i] = 0; while (--i >= 0);", None),
        ("int i = n; for (int k = 0; k < 3; k++)", "while (i--) a[i] = 0;", None),
    ],
)
def test_loops_that_count_down_in_their_tests(before: str, loop: str, last: int | None) -> None:
    text = whole(loop, before)
    if last is None:
        with pytest.raises(BadInput):
            read_source(Source("t.c", text))
        return
    (program,) = read_source(Source("t.c", text))
    (statement,) = program.statements
    assert str(statement.domain.coalesce()) == f"[n] -> {{ S1[i] : {last} <= i < n }}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for (s = 0, i = 1; i < n; i++) s += a[i];", "{ s = 0; for (i = 1; i < n; i++) s += a[i]; }"),
        ("for (i = 1, s = 0; i < n; i++) s += a[i];", "{ s = 0; for (i = 1; i < n; i++) s += a[i]; }"),
        ("for (s = t = 0, p = a, i = k; i < n; i++) ;", "{ s = t = 0; p = a; for (i = k; i < n; i++) ; }"),
        ("for (a[0] = f(), i = 1; i < n; i++) ;", "{ a[0] = f(); for (i = 1; i < n; i++) ; }"),
        ("for (int i = 0, m = n / 2; i < m; i++) {}", "{ int m = n / 2; for (int i = 0; i < m; i++) {} }"),
        ("for (long m = k, i = m; i < n; i++) ;", "{ long m = k; for (long i = m; i < n; i++) ; }"),
        (
            "if (n) for (s = 0, i = 0; i < n; i++) if (i) s++; else t++;",
            "if (n) { s = 0; for (i = 0; i < n; i++) if (i) s++; else t++; }",
        ),
        ("for (i = 0, s = i; i < n; i++) ;", None),
        ("for (i = s, s = 0; i < n; i++) ;", None),
        ("for (i = 0, a[0] = 1; i < n; i++) ;", None),
        ("for (i = 0, s = a[0]; i < n; i++) ;", None),
        ("for (i = *p, s = 0; i < n; i++) ;", None),
        ("for (i = 0, f(); i < n; i++) ;", None),
        ("for (i = 0, s += 2; i < n; i++) ;", None),
        ("for (i = 0, i = 1; i < n; i++) ;", None),
        ("for (s = 0, t = 0; i < n; i++) ;", None),
        ("for (i = 0, j = n; i < j; i++, j--) ;", None),
        ("for (int i = k, k = 0; i < n; i++) ;", None),
        ("for (int i = 0, *p = a; i < n; i++) ;", None),
        ("for (int i = 0, t[2]; i < n; i++) ;", None),
        ("for (static int i = 0, k = 0; i < n; i++) ;", None),
        ("_Pragma(\"omp simd\")\nfor (s = 0, i = 0; i < n; i++) ;", None),
        ("#pragma omp simd\nfor (s = 0, i = 0; i < n; i++) ;", None),
    ],
)  # fmt: skip
def test_a_head_that_sets_more_than_its_counter(old: str, new: str | None) -> None:
    assert with_one_counter(Source("t.c", whole(old))).text == whole(old if new is None else new)


def test_lines_stay_where_a_head_is_divided() -> None:
    old = "for (i = 0,\n  s = 0 /* c */;\n  i < n; i++)\n  s += a[i];\na[0] = s;"
    new = "{ s = 0; for (i = 0\n /* c */;\n  i < n; i++)\n  s += a[i]; }\na[0] = s;"
    assert with_one_counter(Source("t.c", whole(old))).text == whole(new)
