"""Calls, macros and casts: what is assumed, what is inspected, what is refused."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput
from loopwright.model.program import AssumptionKind, Program
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from tests.c.support import is_domain, reads, refusal, region, underlined, wrapped, writes

LOOP = "for (i = 0; i < n; i++) "


def believed(program: Program, kind: AssumptionKind) -> list[str]:
    return [entry.text for entry in program.assumptions if entry.kind is kind]


def test_the_mathematics_of_the_library_is_pure() -> None:
    program = region(LOOP + "a[i] = sqrt(b[i]) + fmaxf(b[0], expl(x));")
    assert reads(program.statements[0]) == ["b[i]", "b[0]", "x[]"]
    assert believed(program, AssumptionKind.PURE) == []


def test_a_macro_the_file_does_not_define_is_believed_and_listed() -> None:
    program = region(LOOP + "a[i] = SQRT_FUN(b[i]) * SCALAR_VAL(2.0);")
    assert reads(program.statements[0]) == ["b[i]"]
    listed = believed(program, AssumptionKind.PURE)
    assert len(listed) == 2 and listed[0].startswith("'SQRT_FUN'") and listed[1].startswith("'SCALAR_VAL'")


def test_an_unknown_function_is_refused() -> None:
    error = refusal(LOOP + "a[i] = weigh(b[i]);")
    assert "'weigh' is not known to be free of side effects" in error.message
    assert underlined(error) == "weigh(b[i])"
    assert error.hint and "--pure weigh" in error.hint and "__attribute__((const))" in error.hint


def test_a_function_is_pure_by_option_or_attribute() -> None:
    by_option = region(LOOP + "a[i] = weigh(b[i]);", pure=["weigh"])
    assert reads(by_option.statements[0]) == ["b[i]"]
    assert believed(by_option, AssumptionKind.PURE)
    for head in (
        "double weigh(double) __attribute__((pure));",
        "__attribute__((const)) double weigh(double);",
        "__attribute__((__pure__)) static double weigh(double x) { return x; }",
    ):
        assert region(LOOP + "a[i] = weigh(b[i]);", head=head).statements


def test_a_function_of_one_return_is_inspected() -> None:
    square = "static inline double square(double x) { return x * x; }"
    program = region(LOOP + "a[i] = square(b[i]);", head=square)
    assert reads(program.statements[0]) == ["b[i]"]
    assert believed(program, AssumptionKind.PURE) == []
    twice = "double table[9]; double at(int k) { return table[k]; } double two(int k) { return 2 * at(k); }"
    assert region(LOOP + "a[i] = two(i);", head=twice).statements
    assert "'two'" in refusal(LOOP + "table[i] = two(i);", head=twice).message


@pytest.mark.parametrize(
    "definition",
    [
        "double weigh(double x) { if (x < 0) return -x; return x; }",
        "double weigh(double x) { double r = 1; for (int k = 0; k < 4; k++) r = r * x + 1; return r; }",
        "double weigh(double x) { double t[2]; t[0] = x; t[1] = sqrt(t[0]); return t[1]; }",
        "double half(double x) { x /= 2; return x; } double weigh(double x) { return half(x); }",
        "double w[3]; double weigh(double x) { for (int k = 0; k < 3; k++) x += w[k]; return x; }",
    ],
)
def test_a_function_without_side_effects_is_pure(definition: str) -> None:
    program = region(LOOP + "a[i] = weigh(b[i]);", head=definition)
    assert reads(program.statements[0]) == ["b[i]"] and believed(program, AssumptionKind.PURE) == []


def test_the_compilers_own_names_for_the_library() -> None:
    program = region(LOOP + "a[i] = __builtin_fabs(b[i]) + __builtin_popcount(k) + cexp(x);")
    assert reads(program.statements[0]) == ["b[i]", "k[]", "x[]"]
    assert "not known to be free" in refusal(LOOP + "a[i] = __builtin_trap();").message


@pytest.mark.parametrize(
    "definition",
    [
        "double weigh(double x) { return total += x; }",
        "double weigh(double x) { static int calls; calls++; return x; }",
        "double weigh(double *x) { x[0] = 1; return 0; }",
        "double weigh(double *x) { double *p = x; *p = 1; p[0] = 1; return 0; }",
        "int g; double weigh(double x) { { int g; g = 1; } g = 2; return x; }",
        "#define BUMP (total++)\ndouble weigh(double x) { return x + BUMP; }",
        "double weigh(double x) { for (;;) a[0] = x; return x; }",
        "double weigh(double x) { print(x); return x; }",
        "double weigh(double x) { return measure(x); }",
        "double weigh(double x) { return weigh(x); }",
    ],
)
def test_a_function_that_may_do_more_is_refused(definition: str) -> None:
    assert "'weigh' is not known to be free" in refusal(LOOP + "a[i] = weigh(b[i]);", head=definition).message


def test_the_value_of_an_integer_function_of_one_return() -> None:
    floord = "static inline long floord(long n, long d) { return n / d - (n % d < 0); }"
    program = region("for (i = floord(m, 4); i < n; i++) a[i] = 0;", head=floord)
    assert is_domain(program.statements[0], "[n, m] -> { [i] : m - 3 <= 4 i and i < n }")
    assert believed(program, AssumptionKind.PURE) == []
    wrong = "static int min(int a, int b) { return a > b ? a : b; }"
    (statement,) = region("for (i = 0; i < min(n, m); i++) a[i] = 0;", head=wrong).statements
    assert is_domain(statement, "[n, m] -> { [i] : 0 <= i and (i < n or i < m) }")


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        ("int n; int half(int x) { return (x + n) / 2; }", "depends on 'n'"),
        ("int half(double x) { return x / 2; }", "is not known"),
        ("int half(int x) { return x * x; }", "multiplies two things"),
        ("int half(int x) { return half(x) / 2; }", "is not known"),
    ],
)
def test_a_function_that_is_not_an_index_expression(definition: str, reason: str) -> None:
    error = refusal("for (i = 0; i < half(m); i++) a[i] = 0;", head=definition)
    assert reason in error.message and underlined(error) == "half(m)"


@pytest.mark.parametrize("text", ["weigh(b[i]);", "b[i];", "STEP(b[i]);"])
def test_a_statement_may_be_without_effect(text: str) -> None:
    (statement,) = region(LOOP + text, pure=["weigh"]).statements
    assert reads(statement) == ["b[i]"] and not statement.writes


def test_a_call_through_a_pointer_is_refused() -> None:
    assert "through a pointer" in refusal(LOOP + "a[i] = table[i](x);").message


SCORE = "#define max_score(s, t) ((s >= t) ? s : t)"


def test_a_macro_the_file_defines_is_inspected() -> None:
    program = region(LOOP + "a[i] = max_score(a[i], b[i]);", head=SCORE)
    assert reads(program.statements[0]) == ["a[i]", "b[i]"]
    assert believed(program, AssumptionKind.PURE) == []


@pytest.mark.parametrize(
    ("definition", "text", "message"),
    [
        ("#define NEXT a[i + 1]", "b[i] = NEXT;", "hides a use of 'a'|hides a use of 'i'"),
        ("#define AT(k) c[k + i]", "b[i] = AT(0);", "hides a use of 'i'"),
        ("#define OUT b[0]", "b[i] = OUT;", "hides a use of 'b'"),
        ("#define BUMP(k) a[k]++", "b[i] = BUMP(i);", "is not an expression"),
        ("#define SET(k) a[k] = 1", "SET(i);", "is not an expression"),
        ("#define PUT(k) do { a[k] = 1; } while (0)", "PUT(i);", "is not an expression"),
        ("#define NAME(k) v##k", "b[i] = NAME(i);", "is not an expression"),
        ("#define LOG(k) trace(k)", "b[i] = LOG(i);", "calls 'trace'"),
        ("#define ONE TWO\n#define TWO b[1]", "b[i] = ONE;", "hides a use of 'b'"),
        ("#define V vec", "V[i] = vec[i + 1];", "stands for storage"),
        ("#define V p->v\n#define W p->v", "W[i] = V[i];", "stands for storage"),
        ("#define V p->v", "{ p = p->next; V[i] = 0; }", "stands for storage|through its fields"),
        ("#define V p->v\n#define W p->v.x", "{ V = s; W = 1; }", "stands for storage"),
        ("#define X x1", "X = x1;", "stands for storage"),
        ("#define X (*x1)", "X = 1;", "stands for storage"),
    ],
)
def test_macros_that_are_not_values_are_refused(definition: str, text: str, message: str) -> None:
    error = refusal(LOOP + text, head=definition)
    assert any(part in error.message for part in message.split("|")), error.message
    assert error.hint


@pytest.mark.parametrize("body", ["vec", "p->v", "(s.v)"])
def test_a_macro_may_be_another_word_for_storage(body: str) -> None:
    (statement,) = region(LOOP + "V[i] = V[i + 1];", head=f"#define V {body}").statements
    assert reads(statement) == ["V[1 + i]"] and writes(statement) == ["V[i]"]


def test_a_comparison_in_a_macro_is_not_an_assignment() -> None:
    head = "#define same(s, t) ((s) == (t) || (s) <= 0 || (t) != 1 || (s) >= 2)"
    assert region(LOOP + "a[i] = same(b[i], x);", head=head).statements


def test_macros_in_bounds_are_parameters_whatever_they_expand_to() -> None:
    program = region("for (i = 0; i < _PB_N; i++) a[i] = 0;", head="#define _PB_N POLYBENCH_LOOP_BOUND(N, n)")
    assert program.params == ("_PB_N",)
    assert is_domain(program.statements[0], "[_PB_N] -> { [i] : 0 <= i < _PB_N }")


def test_a_function_like_macro_in_a_bound_is_one_parameter() -> None:
    program = region("for (i = 0; i < LOOP_BOUND(4000, n); i++) a[i] = 0;")
    (parameter,) = program.parameters
    assert (parameter.name, parameter.text) == ("LOOP_BOUND_4000_n", "LOOP_BOUND(4000, n)")


def test_a_macro_of_an_iterator_is_not_a_parameter() -> None:
    error = refusal("for (i = 0; i < n; i++) for (j = 0; j < END(i); j++) A[i][j] = 0;")
    assert "what 'END' returns is not known" in error.message


def test_the_text_of_a_macro_is_what_counts() -> None:
    """`HALF(i + j)` is `(i + j/2)`: the preprocessor knows no precedence."""
    program = region(
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[HALF(i + j)] = 0;", head="#define HALF(x) (x/2)"
    )
    (write,) = program.statements[0].writes
    point = "[n] -> { S1[3, 5] : n > 9 }"
    import islpy as isl

    assert isl.Set(point).apply(write.relation).is_equal(isl.Set("[n] -> { a[5] : n > 9 }"))


def test_a_macro_that_needs_parentheses_is_refused_in_a_bound() -> None:
    error = refusal("for (i = 0; i < 2 * LAST; i++) a[i] = 0;", head="#define LAST n - 1")
    assert "not an expression in parentheses" in error.message and underlined(error) == "LAST"


def test_min_is_read_from_its_definition() -> None:
    wrong = "#define min(a, b) ((a) > (b) ? (a) : (b))"
    (statement,) = region("for (i = 0; i < min(n, m); i++) a[i] = 0;", head=wrong).statements
    assert is_domain(statement, "[n, m] -> { [i] : 0 <= i and (i < n or i < m) }")


@pytest.mark.parametrize(
    "definition",
    [
        "#define floord(n, d) floor(((double)(n))/((double)(d)))",
        "int floord(int n, int d) { return (int)floor((double)n / d); }",
        "int floord(int n, int d);",
        "",
    ],
)
def test_floord_is_believed_and_listed(definition: str) -> None:
    program = region("for (i = 0; i < floord(n, 4); i++) a[i] = 0;", head=definition)
    assert is_domain(program.statements[0], "[n] -> { [i] : 0 <= i and 4 i + 4 <= n }")
    assert believed(program, AssumptionKind.PURE) == ["'floord' is the quotient rounded down"]


def test_a_min_with_two_definitions_is_believed_and_listed() -> None:
    either = "#ifdef X\n#define min(a, b) ((a) < (b) ? (a) : (b))\n#else\n#define min(a, b) mn(a, b)\n#endif"
    program = region("for (i = 0; i < min(n, m); i++) a[i] = 0;", head=either, pure=["mn"])
    assert believed(program, AssumptionKind.PURE) == ["'min' is the smaller of its arguments"]


def test_a_macro_defined_after_the_region_says_nothing_about_it() -> None:
    error = refusal("for (i = 0; i < n; i += T) a[i] = 0;", tail="\n#define T 4\n")
    assert "must be a constant" in error.message


def test_a_parameter_is_an_integer_as_far_as_the_file_tells() -> None:
    text = "for (i = 0; i < size; i++) a[i] = 0;"
    assert region(text, head="typedef long count; count size;").params == ("size",)
    error = refusal(text, head="typedef double real; typedef real length; length size;")
    assert "'size' is a 'length', not an integer" in error.message
    (statement,) = region(LOOP + "if (limit > 0) a[i] = 0;", head="float limit;").statements
    assert reads(statement) == ["limit[]"] and writes(statement) == ["a[i]?"]


def test_volatile_storage_is_refused() -> None:
    error = refusal(LOOP + "port = a[i];", head="volatile int port;")
    assert "'port' is volatile" in error.message


def test_a_constant_is_only_fixed_where_the_model_needs_its_value() -> None:
    head = "#define N 100"
    assert str(region("for (i = 0; i < min(n, N); i++) a[i] = 0;", head=head).context) == "[n, N] -> {  :  }"
    fixed = region("for (i = 0; i < N; i++) a[N * i] = 0;", head=head)
    assert str(fixed.context) == "[N] -> {  : N = 100 }"
    assert writes(fixed.statements[0]) == ["a[100i]"]


SUFFIX = "#define SCALAR_VAL(x) x##f"


def test_a_macro_that_adds_a_suffix_to_a_number_is_a_number() -> None:
    text = LOOP + "{ a[i] = SCALAR_VAL(0.1) * b[i] - SCALAR_VAL(-2.5e-3); f = SCALAR_VAL(1.); }"
    program = region(text, head=SUFFIX)
    assert [access.array for access in program.statements[0].accesses] == ["b", "a"]


@pytest.mark.parametrize("text", ["SCALAR_VAL(b[i])", "SCALAR_VAL(n)", "SCALAR_VAL(b)", "SCALAR_VAL(2, 3)"])
def test_a_macro_that_makes_a_name_is_refused(text: str) -> None:
    error = refusal(LOOP + f"a[i] = {text};", head=SUFFIX)
    assert "is not an expression" in error.message
    assert "is not an expression" in refusal(LOOP + "a[i] = TWO(b);", head="#define TWO(x) x##_1##_2").message
    nested = "#define SCALAR_VAL(x) x##f\n#define HALF(x) SCALAR_VAL(x)"
    assert "is not an expression" in refusal(LOOP + "a[i] = HALF(0.5);", head=nested).message


def test_a_function_without_parameters_is_inspected() -> None:
    head = "static double s; static double get(void) { return s; } static int two(void) { return 2; }"
    assert writes(region(LOOP + "a[i + two()] = get();", head=head).statements[0]) == ["a[2 + i]"]
    error = refusal(LOOP + "{ s = b[i]; a[i] = get(); }", head=head)
    assert error.message == "'get' reads 's', which the region changes"


_SPECIAL = "a[i] = b[i] > HUGE_VAL / 2 ? -INFINITY : isfinite(b[i]) ? FLT_MAX : NAN;"


def test_infinities_are_numbers_and_no_storage() -> None:
    text = wrapped(LOOP + _SPECIAL, head="#include <math.h>\n#include <float.h>")
    (program,) = read_source(Source("t.c", text))
    (pairs,) = (one.pairs for one in program.assumptions if one.kind is AssumptionKind.ALIASING)
    assert [sorted(pair) for pair in pairs] == [["a", "b"]]


def test_a_macro_with_a_variable_in_it_is_storage() -> None:
    head = "double limit;\n#define INFINITY limit"
    text = wrapped(LOOP + "{ a[i] = INFINITY; limit = b[i]; }", head=head)
    with pytest.raises(BadInput, match="macro"):
        read_source(Source("t.c", text))


_STRUCT = "typedef struct {{ int n; double {data}; }} V; static double get(V v, int i) {{ {get} }}\n"
_STRUCT += "void f(V v) {{\n#pragma scop\nfor (int i = 1; i < v.n; i++) {{ {body} }}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("data", ["*data", "data[9]"])
@pytest.mark.parametrize("get", ["return v.data[i];", "assert(i < v.n); return v.data[i];"])
def test_a_call_may_be_given_a_struct_that_leads_to_what_is_written(data: str, get: str) -> None:
    """The bounds are its fields all the same; what the call may read is not known."""
    text = _STRUCT.format(data=data, get=get, body="v.data[i] = get(v, i - 1) + 1;")
    (program,) = read_source(Source("t.c", "#include <assert.h>\n" + text))
    (statement,) = program.statements
    assert statement.depth == 1 and [one.text for one in program.parameters] == ["v.n"]
    own = "v__data"
    assert own in {one.array for one in statement.reads} and own in {one.array for one in statement.writes}


@pytest.mark.parametrize("body", ["v.data[i] = get(v, i - 1); v.n = 3;", "v.data[i] = get(v, 0); v = w;"])
def test_a_struct_that_is_assigned_is_not_given_besides(body: str) -> None:
    text = _STRUCT.format(data="*data", get="return v.data[i];", body=body)
    with pytest.raises(BadInput, match="through its fields"):
        read_source(Source("t.c", "struct V w;\n" + text))


def test_an_assertion_changes_nothing() -> None:
    """What libraries write it as, a block that is a value, does what its statements do."""
    text = "#include <assert.h>\ntypedef struct { int n; double *v; } V;\n"
    text += "void f(V *a, double s) {\n#pragma scop\n"
    text += "for (int i = 0; i < a->n; i++) { assert(a->v != 0); s += a->v[i]; }\n#pragma endscop\n}\n"
    (program,) = read_source(Source("t.c", text))
    assert [one.depth for one in program.statements] == [1, 1]
    head = "int *g(void);\nstatic void set(V *b) { ({ if (b->v) ; else b->n = 0; }); }\n"
    other = text.replace("void f", head + "void f").replace("assert(a->v != 0)", "set(a)")
    with pytest.raises(BadInput, match="may change 'a->n', which decides"):
        read_source(Source("t.c", other))


_PAIR = "typedef struct {{ {kind} re, im; }} Z; typedef struct {{ unsigned dim; Z *ve; }} V;\n"
_PAIR += "static Z add(Z a, Z b) {{ Z r; r.re = a.re + b.re; r.im = a.im + b.im; return r; }}\n"
_PAIR += "void f(V *x, V *y) {{\n#pragma scop\nfor (unsigned i = 0; i < x->dim; i++)"
_PAIR += " y->ve[i] = add(x->ve[i], y->ve[i]);\n#pragma endscop\n}}\n"


@pytest.mark.parametrize(("kind", "is_read"), [("double", True), ("float", True), ("int", False)])
def test_a_struct_that_is_written_changes_what_its_members_may_be(kind: str, is_read: bool) -> None:
    """An assignment to a struct of doubles through a pointer changes no size."""
    source = Source("t.c", _PAIR.format(kind=kind))
    if is_read:
        (program,) = read_source(source)
        assert [one.depth for one in program.statements] == [1]
    else:
        with pytest.raises(BadInput, match="may change 'x->dim', which decides"):
            read_source(source)


def test_values_in_a_statement_that_is_left_whole_decide_nothing() -> None:
    head = "typedef struct { double x, y; } P; static void set(P *p, double v) { p->x = p->y = v; }\n"
    head += "static double sum(P *p) { return p->x + p->y; }\nvoid f(int n, double *a) {\n#pragma scop\n"
    body = "for (int i = 0; i < n; i++) { P p; p.x = 1; set(&p, a[i]); int s = sum(&p); a[i] = s * p.x; }\n"
    (program,) = read_source(Source("t.c", head + body + "#pragma endscop\n}\n"))
    assert [one.depth for one in program.statements] == [1]
