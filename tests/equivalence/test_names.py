"""Names that mean something else in the other file, and storage that is not the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.prove.equivalence.shared import with_common_parameters
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from tests.equivalence.right import COPY
from tests.equivalence.support import NAMES, compared, wrapped

LOOP = "for (i = 0; i < n; i++)"


def test_a_macro_is_what_it_is_defined_to_be(tmp_path: Path) -> None:
    body = f"{LOOP} a[i] = SQUARE(b[i]);"
    one = wrapped(body, head="#define SQUARE(x) ((x) * (x))")
    other = wrapped(body, head="#define SQUARE(x) ((x) + (x))")
    assert isinstance(compared(tmp_path, one, one).verdict, Proved)
    assert isinstance(compared(tmp_path, one, wrapped(f"{LOOP} a[i] = b[i] * b[i];")).verdict, Proved)
    assert isinstance(compared(tmp_path, one, other).verdict, Refuted)


def test_a_macro_argument_is_text(tmp_path: Path) -> None:
    head = "#define TWICE(x) x * 2"
    old = wrapped(f"{LOOP} a[i] = TWICE(i);", head=head)
    new = wrapped("for (i = 1; i <= n; i++) a[i - 1] = TWICE(i - 1);", head=head)
    right = wrapped("for (i = 1; i <= n; i++) a[i - 1] = TWICE((i - 1));", head=head)
    assert isinstance(compared(tmp_path, old, new).verdict, Refuted)
    assert isinstance(compared(tmp_path, old, right).verdict, Proved)


def test_a_macro_that_is_split_by_the_operators_around_it(tmp_path: Path) -> None:
    head = "#define SUM n + 0.5"
    old = wrapped(f"{LOOP} a[i] = 2 * SUM;", head=head)
    new = wrapped(f"{LOOP} a[i] = 2 * (n + 0.5);", head=head)
    assert not isinstance(compared(tmp_path, old, new).verdict, Proved)


def test_a_macro_that_depends_on_the_compiler_is_not_inspected(tmp_path: Path) -> None:
    one = wrapped(f"{LOOP} a[i] = b[i] * W;", head="#ifdef FAST\n#define W 2\n#else\n#define W 3\n#endif")
    other = wrapped(f"{LOOP} a[i] = b[i] * W;", head="#ifdef FAST\n#define W 2\n#else\n#define W 4\n#endif")
    assert isinstance(compared(tmp_path, one, one).verdict, Proved)
    assert isinstance(compared(tmp_path, one, other).verdict, Undecided)


FUNCTION = "static double half(double x) { return x / 2; }\nstatic double g(double x) { return half(x) + 1; }"


def test_a_function_is_what_it_calls_too(tmp_path: Path) -> None:
    body = f"{LOOP} a[i] = g(b[i]);"
    other = FUNCTION.replace("x / 2", "x / 3")
    old = wrapped(body, head=FUNCTION)
    assert isinstance(compared(tmp_path, old, old).verdict, Proved)
    found = compared(tmp_path, old, wrapped(body, head=other)).verdict
    assert isinstance(found, Undecided) and "half" in found.reason


def test_what_a_function_with_a_body_computes_is_not_made_up(tmp_path: Path) -> None:
    """g(x) and g(-x) differ for most functions g, and not for this one."""
    head = "static double g(double x) { return x * x; }"
    old, new = (wrapped(f"{LOOP} a[i] = g({x});", head=head) for x in ("b[i]", "-b[i]"))
    assert isinstance(compared(tmp_path, old, new).verdict, Undecided)


def test_which_function_a_pointer_leads_to_is_not_made_up(tmp_path: Path) -> None:
    head = "static double g(double x) { return x * x; }\nstatic double (*p)(double) = g;"
    old, new = (wrapped(f"{LOOP} a[i] = {name}(b[i]);", head=head) for name in ("p", "g"))
    try:
        assert isinstance(compared(tmp_path, old, new).verdict, Undecided)
    except BadInput as failure:
        assert "side effects" in failure.message
    assert isinstance(compared(tmp_path, new, old).verdict, Undecided)


def test_max_does_not_mind_the_order_of_its_arguments(tmp_path: Path) -> None:
    old, new = (wrapped(f"{LOOP} a[i] = max({x});") for x in ("b[i], c[i]", "c[i], b[i]"))
    assert not isinstance(compared(tmp_path, old, new).verdict, Refuted)


def test_a_type_that_is_another_one_is_seen(tmp_path: Path) -> None:
    names = NAMES.replace("double *a", "float *a")
    found = compared(tmp_path, wrapped(COPY), wrapped(COPY, names=names)).verdict
    assert isinstance(found, Undecided) and "a" in found.reason


def test_a_typedef_that_is_another_one_is_seen(tmp_path: Path) -> None:
    names = NAMES.replace("double *a", "real *a")
    one, other = (wrapped(COPY, head=f"typedef {kind} real;", names=names) for kind in ("double", "float"))
    assert isinstance(compared(tmp_path, one, one).verdict, Proved)
    assert isinstance(compared(tmp_path, one, other).verdict, Undecided)


def test_rows_of_another_length_lie_elsewhere(tmp_path: Path) -> None:
    body = f"{LOOP} for (j = 0; j < n; j++) A[i][j] = 0;"
    names = NAMES.replace("double A[n][n]", "double A[n][m]")
    assert isinstance(compared(tmp_path, wrapped(body), wrapped(body, names=names)).verdict, Undecided)


BOUNDED = "for (i = 0; i < K; i++) a[i] = 0;"
FIXED = {
    "an enumerator": ("enum { K = 2 };", "enum { K = 3 };", f"{LOOP} a[i] = K * b[i];"),
    "a constant": ("static const double K = 2;", "static const double K = 3;", f"{LOOP} a[i] = K * b[i];"),
    "a constant bound": ("static const int K = 2;", "static const int K = 3;", BOUNDED),
    "a macro as a bound": ("#define K 2", "#define K 3", BOUNDED),
    "a macro in a subscript": ("#define K 2", "#define K 3", f"{LOOP} a[i + K] = b[i];"),
    "fields": (
        "struct s { float x, y; }; extern struct s q[];",
        "struct s { double x, y; }; extern struct s q[];",
        f"{LOOP} q[i].x = b[i];",
    ),
}


@pytest.mark.parametrize("name", FIXED)
def test_what_a_file_fixes_has_to_be_the_same(tmp_path: Path, name: str) -> None:
    one, other, body = FIXED[name]
    assert isinstance(compared(tmp_path, wrapped(body, head=one), wrapped(body, head=one)).verdict, Proved)
    found = compared(tmp_path, wrapped(body, head=one), wrapped(body, head=other)).verdict
    assert not isinstance(found, Proved)


def test_a_macro_that_is_a_number_may_be_written_out(tmp_path: Path) -> None:
    old = wrapped(f"{LOOP} a[i + K] = b[i];", head="#define K 2")
    assert isinstance(compared(tmp_path, old, wrapped(f"{LOOP} a[i + 2] = b[i];")).verdict, Proved)
    assert isinstance(compared(tmp_path, old, wrapped(f"{LOOP} a[i + 3] = b[i];")).verdict, Refuted)


def test_a_constant_is_not_made_up(tmp_path: Path) -> None:
    old = wrapped(f"{LOOP} a[i] = K * b[i];", head="static const double K = 2;")
    assert not isinstance(compared(tmp_path, old, wrapped(f"{LOOP} a[i] = 2 * b[i];")).verdict, Refuted)


def test_without_sizes_there_is_nothing_to_prove(tmp_path: Path) -> None:
    old, new = (wrapped(f"#pragma assume n {sign} 5\n{COPY}") for sign in ("<", ">"))
    assert isinstance(compared(tmp_path, old, new).verdict, Undecided)


INTEGERS = {
    "an unsigned difference": (
        "for (unsigned x = 0; x < n; x++) a[x] = x - n;",
        "for (int x = 0; x < n; x++) a[x] = x - n;",
    ),
    "a cast that cuts off": (
        "for (int x = 0; x < n; x++) a[x] = (char)x;",
        "for (int x = 0; x < n; x++) a[x] = x;",
    ),
    "a wider product": (
        "for (int x = 0; x < n; x++) a[x] = (long)x * x * x * x;",
        "for (int x = 0; x < n; x++) a[x] = x * x * x * x;",
    ),
    "an unsigned comparison": (
        "for (unsigned x = 0; x < n; x++) a[x] = x - 1 < n ? b[x] : c[x];",
        "for (unsigned x = 0; x < n; x++) a[x] = x < n + 1 ? b[x] : c[x];",
    ),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_have_types(tmp_path: Path, name: str) -> None:
    old, new = INTEGERS[name]
    names = NAMES.replace("int n", "unsigned n") if "unsigned" in name else NAMES
    one = compared(tmp_path, wrapped(old, names=names), wrapped(new, names=names)).verdict
    assert not isinstance(one, Proved)


def test_a_variable_of_the_file_is_not_one_of_the_region(tmp_path: Path) -> None:
    """NEW leaves the global x alone."""
    old = wrapped(f"{LOOP} {{ x = b[i]; a[i] = x; }}", head="double x;")
    new = wrapped(f"{LOOP} {{ double x = b[i]; a[i] = x; }}", head="double x;")
    assert not isinstance(compared(tmp_path, old, new).verdict, Proved)


def test_a_variable_that_only_one_of_them_keeps_to_itself(tmp_path: Path) -> None:
    """OLD has x in its function, NEW leaves a value in a global one."""
    old = wrapped(f"{LOOP} {{ x = b[i]; a[i] = x; }}", own="  double x;")
    new = wrapped(f"{LOOP} {{ x = b[i]; a[i] = x; }}", head="double x;")
    found = compared(tmp_path, old, new)
    assert isinstance(found.verdict, Proved) and any("'x'" in text for text in found.trusted)


def test_a_parameter_of_another_type_is_another_one(tmp_path: Path) -> None:
    old = wrapped(f"{LOOP} a[i] = b[i] / m + m / 2;")
    new = wrapped(f"{LOOP} a[i] = b[i] / m + m / 2;", names=NAMES.replace("int m", "double m"))
    assert not isinstance(compared(tmp_path, old, new).verdict, Proved)


def test_two_locals_of_one_name(tmp_path: Path) -> None:
    """One x is a float, the other one a double."""
    text = f"{LOOP} {{ float x = b[i]; a[i] = x; }} {LOOP} {{ double x = c[i]; b[i] = x; }}"
    one, other = wrapped(text), wrapped(text.replace("float", "double"))
    with pytest.raises(BadInput, match="declared twice"):
        compared(tmp_path, one, other)


def test_a_local_variable_that_is_not_read_does_not_count(tmp_path: Path) -> None:
    old = wrapped(f"{LOOP} a[i] = (b[i] + c[i]) * 2;", own="  double x;")
    new = wrapped(f"{LOOP} {{ x = b[i] + c[i]; a[i] = x * 2; }}", own="  double x;")
    found = compared(tmp_path, old, new)
    assert isinstance(found.verdict, Proved) and not any("'x'" in text for text in found.trusted)
    for after in ("  a[0] = x;", "  use(&x);"):
        seen = [text.replace("#pragma endscop", f"#pragma endscop\n{after}") for text in (old, new)]
        assert isinstance(compared(tmp_path, *seen).verdict, Refuted)
    kept = [text.replace("  double x;", "  double x; double *p = &x;") for text in (old, new)]
    assert isinstance(compared(tmp_path, *kept).verdict, Refuted)
    static = [text.replace("  double x;", "  static double x;") for text in (old, new)]
    assert isinstance(compared(tmp_path, *static).verdict, Refuted)


def test_a_variable_the_other_file_has_not_is_a_temporary_on_trust(tmp_path: Path) -> None:
    old = wrapped(f"{LOOP} a[i] = (b[i] + c[i]) * 2;")
    new = wrapped(f"{LOOP} {{ x[i] = b[i] + c[i]; a[i] = x[i] * 2; }}", names=NAMES + ", double *x")
    found = compared(tmp_path, old, new)
    assert isinstance(found.verdict, Proved)
    assert any("'x'" in text and "old.c" in text for text in found.trusted)
    known = wrapped(f"{LOOP} a[i] = (b[i] + c[i]) * 2;", names=NAMES + ", double *x")
    assert isinstance(compared(tmp_path, known, new).verdict, Refuted)


def test_a_promise_of_independence_is_proved_too(tmp_path: Path) -> None:
    old = wrapped("for (i = 1; i < n; i++) a[i] = a[i - 1];")
    new = wrapped("#pragma omp parallel for\nfor (i = 1; i < n; i++) a[i] = a[i - 1];")
    found = compared(tmp_path, old, new).verdict
    assert isinstance(found, Refuted) and "not independent" in found.message
    free = wrapped("#pragma omp parallel for\n" + COPY)
    assert isinstance(compared(tmp_path, wrapped(COPY), free).verdict, Proved)


def test_sizes_for_which_the_original_leaves_its_arrays_show_nothing(tmp_path: Path) -> None:
    """For n = 1, OLD reads outside A; the two differ in nothing else."""
    names = NAMES.replace("double A[n][n]", "double A[2][2]")
    old = wrapped(f"{LOOP} a[i] = A[1][1 + n];", names=names)
    new = wrapped(f"{LOOP} a[i] = A[1][2 + n];", names=names)
    assert isinstance(compared(tmp_path, old, new).verdict, Undecided)


def test_a_name_in_parentheses_after_the_region_counts(tmp_path: Path) -> None:
    """Taken for a cast, `(s) - b[0] * c[0]` would not mention s."""
    body = f"{LOOP} {{ s = VALUE; a[i] = b[i]; }}"
    after = "a[0] = (s) - b[0] * c[0];"
    old, new = (wrapped(body.replace("VALUE", x), own="double s;", after=after) for x in ("b[i]", "c[i]"))
    assert isinstance(compared(tmp_path, old, new).verdict, Refuted)


def test_what_is_subtracted_from_a_pointer_is_not_added(tmp_path: Path) -> None:
    old = wrapped(f"{LOOP} *(a + i - 1) = b[i];")
    assert isinstance(compared(tmp_path, old, wrapped(f"{LOOP} a[i - 1] = b[i];")).verdict, Proved)
    assert isinstance(compared(tmp_path, old, wrapped(f"{LOOP} a[i + 1] = b[i];")).verdict, Refuted)


ROW = "for (i = 0; i < n; i++) { const double *row = ROW; for (j = 0; j < m; j++) a[j] += row[j]; }"


def test_a_pointer_is_the_row_it_points_to(tmp_path: Path) -> None:
    one, other, third = (wrapped(ROW.replace("ROW", row)) for row in ("b + i * m", "c + i * m", "b + i * n"))
    plain = wrapped("for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[j] += (b + i * m)[j];")
    assert isinstance(compared(tmp_path, one, one).verdict, Proved)
    assert isinstance(compared(tmp_path, one, plain).verdict, Proved)
    assert isinstance(compared(tmp_path, one, other).verdict, Undecided)
    assert isinstance(compared(tmp_path, one, third).verdict, Undecided)


def test_a_local_of_the_new_text_is_not_what_the_old_one_calls_so(tmp_path: Path) -> None:
    old = wrapped(f"{LOOP} a[i] = b[i] * t;")
    new = wrapped(f"{LOOP} {{ int t = i * m; a[i] = b[i] * t; }}")
    assert not isinstance(compared(tmp_path, old, new).verdict, Proved)
    array = wrapped(f"{LOOP} a[i] = c[i];")
    pointer = wrapped(f"{LOOP} {{ double *c = b + i * m; a[i] = c[i]; }}")
    assert not isinstance(compared(tmp_path, array, pointer).verdict, Proved)
    assert not isinstance(compared(tmp_path, pointer, array).verdict, Proved)


def test_a_local_of_the_region_is_not_a_size(tmp_path: Path) -> None:
    """The function's own t is not mentioned; m is, where nothing depends on it."""
    local = wrapped(f"{LOOP} {{ int t = i * m; a[i] = b[i] * t; }}")
    (program,) = parse_c(Source("local.c", local))
    assert with_common_parameters(program, program)[0].params == ("n", "m")
    (outer,) = parse_c(Source("outer.c", wrapped(f"{LOOP} a[i] = b[i] * 2; for (i = t; i < 0; i++) ;")))
    assert "t" in with_common_parameters(program, outer)[0].params
