"""OpenMP, clause by clause: what a pragma says of a loop is proved, or nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.refusals import refused_directive
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.text.annotations import prove_annotations
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.gate.gate import gated
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from tests.traps.support import PROVED, Trap, answer, comparison, function

_COPY = "for (i = 0; i < n; i++) a[i] = b[i];"
_TEMPORARY = "for (i = 0; i < n; i++) { u = b[i]; a[i] = u; }"
_SUM = "for (i = 0; i < n; i++) u += b[i];"
_CELLS = "for (i = 0; i < n; i++) for (int l = 0; l < 10; l++) c[l] += b[i];"
_SHIFTED = "for (i = 4; i < n; i++) a[i] = a[i - 4];"
_NEST = "for (i = 0; i < n; i++) for (int l = 1; l < n; l++) A[i][l] = A[i][l - 1];"
_HEAD = "double c[10]; int z(int); typedef _Bool flag;\n#define TWO 2\n#define NAME u\n"

WRONG = [
    ("parallel for lastprivate(u)", _TEMPORARY + " // read after, and n may be 0"),
    ("parallel for private(u)", "for (i = 0; i < n; i++) { a[i] = u; u = b[i]; }"),
    ("parallel for firstprivate(u)", _TEMPORARY),
    ("parallel for", _TEMPORARY),
    ("parallel for shared(u)", _TEMPORARY),
    ("parallel for private(x)", "for (i = 0; i < n; i++) { x[0] = b[i]; a[i] = x[0]; }"),
    ("parallel for private(n)", _COPY),
    ("parallel for lastprivate(conditional: u)", _TEMPORARY),
    ("parallel for reduction(*:u)", _SUM),
    ("parallel for reduction(max:u)", _SUM),
    ("parallel for reduction(task, +:u)", _SUM),
    ("parallel for reduction(inscan, +:u)", _SUM),
    ("parallel for reduction(mine:u)", _SUM),
    ("parallel for reduction(+:NAME)", _SUM),
    ("parallel for", _SUM),
    ("parallel for reduction(+:u)", "for (i = 0; i < n; i++) { u += b[i]; a[i] = u; }"),
    ("parallel for reduction(+:u)", "for (i = 0; i < n; i++) u = b[i] - u;"),
    ("parallel for reduction(+:k)", "for (i = 0; i < n; i++) k += b[i];"),
    ("parallel for reduction(*:k)", "for (i = 0; i < n; i++) k *= 1.5;"),
    ("parallel for reduction(+:k)", "for (i = 0; i < n; i++) k += sqrt(i);"),
    ("parallel for reduction(+:h)", "for (i = 0; i < n; i++) h += k;"),
    ("parallel for reduction(+:c[0:5])", _CELLS),
    ("parallel for reduction(+:c[1:9])", _CELLS),
    ("parallel for reduction(+:c[0:n])", _CELLS),
    ("parallel for reduction(+:x)", "for (i = 0; i < n; i++) x[0] += b[i];"),
    ("parallel for reduction(+:x[0:1])", "for (i = 0; i < n; i++) x[1] += b[i];"),
    ("parallel for collapse(2)", _NEST),
    ("parallel for collapse(TWO)", _NEST),
    ("parallel for collapse(0x2)", _NEST),
    ("parallel for collapse(1 + 1)", _NEST),
    (
        "parallel for collapse(2)",
        "for (i = 0; i < n; i++) { a[i] = 0; for (int l = 0; l < n; l++) A[i][l] = 1; }",
    ),
    ("parallel for", "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 1;"),
    ("parallel for shared(j)", "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 1;"),
    ("parallel for nowait", _COPY),
    ("parallel for ordered(1)", _COPY),
    ("parallel for ordered", _SHIFTED),
    ("simd ordered", _COPY),
    ("simd firstprivate(k)", _COPY),
    ("parallel for firstprivate(u)", "for (i = 0; i < n; i++) { a[i] = u; u = b[i]; }"),
    ("parallel for firstprivate(v)", "for (i = 0; i < n; i++) { if (i > 3) v = b[i]; a[i] = v; }"),
    ("parallel for firstprivate(c)", "for (i = 0; i < 10; i++) c[i] = b[i];"),
    ("parallel for firstprivate(i)", _COPY),
    ("parallel for firstprivate(NAME)", _COPY),
    ("parallel for firstprivate(unheard)", _COPY),
    ("simd linear(i:2)", _COPY),
    ("simd linear(i)", "for (i = 8; i < n; i += 2) a[i] = b[i];"),
    ("simd linear(val(i))", _COPY),
    ("simd linear(i:k)", _COPY),
    ("parallel for default(private)", _COPY),
    ("parallel for if(k = 3)", _COPY),
    ("parallel for num_threads(z(3))", _COPY),
    ("parallel for schedule(static, k++)", _COPY),
    ("parallel for schedule(static, n)", _COPY),
    ("parallel for schedule(dynamic, n / m)", _COPY),
    ("parallel for num_threads(n)", _COPY),
    ("parallel for num_threads(n + 1)", _COPY),
    ("parallel for if(1 / n)", _COPY),
    ("parallel for if(1 << n)", _COPY),
    ("parallel for if(j)", _COPY),
    ("parallel for if(*x > 0)", _COPY),
    ("simd safelen(3)", "for (i = 4; i < n; i += 2) a[i] = a[i - 4];"),
    ("parallel for copyin(s)", _COPY),
    ("parallel for simd safelen(4)", _SHIFTED),
    ("simd safelen(5)", _SHIFTED),
    ("simd simdlen(4)", _SHIFTED),
    ("simd safelen(TWO)", _SHIFTED),
    ("simd safelen(4)", "for (i = 0; i < n; i++) a[i] = a[i + 3];"),
    ("simd safelen(4)", "for (i = 8; i < n; i += 2) a[i] = a[i - 4];"),
    ("simd linear(k:2)", _COPY),
    ("simd linear(i: step(2))", _COPY),
    ("simd nontemporal(u)", "for (i = 1; i < n; i++) a[i] = a[i - 1];"),
    ("parallel for allocate(u) shared(u)", _TEMPORARY),
    ("simd aligned(x:64)", "for (i = 0; i < n; i++) x[i] = 1;"),
    ("parallel for collapse(2)", _NEST.replace("l < n", "l < b[i]") + " // the inner loop is left as it is"),
    ("parallel for collapse(2)", _NEST.replace("l < n", "l < (int)b[i]")),
]
RIGHT = [
    ("parallel for", _COPY),
    ("parallel for schedule(dynamic, 4), num_threads(2 + 1) if(parallel: n > 100 && s < 3)", _COPY),
    ("parallel for if(n * 8 / 2 > 100)", _COPY),
    ("simd safelen(2)", "for (i = 4; i < n; i += 2) a[i] = a[i - 4];"),
    ("parallel for default(none) shared(a, b, n) proc_bind(close)", _COPY),
    ("parallel for lastprivate(u)", _TEMPORARY.replace("< n", "< 9")),
    ("parallel for lastprivate(u)", _TEMPORARY.replace("< n", "< m")),
    ("parallel for reduction(+:u)", _SUM),
    ("parallel for reduction(+:k)", "for (i = 0; i < n; i++) k += i;"),
    ("parallel for reduction(+:c[0:10])", _CELLS),
    ("parallel for reduction(+:c)", _CELLS),
    ("parallel for reduction(+:x[0:2])", "for (i = 0; i < n; i++) x[1] += b[i];"),
    ("parallel for collapse(2)", _NEST.replace("A[i][l - 1]", "1")),
    ("parallel for private(j)", "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 1;"),
    ("simd safelen(4)", _SHIFTED),
    ("simd safelen(7)", "for (i = 0; i < n; i++) a[i] = a[i + 7];"),
    ("simd simdlen(8)", _COPY),
    ("simd nontemporal(a)", _COPY),
    ("parallel for order(reproducible: concurrent)", _COPY),
    ("parallel for lastprivate(u) allocate(u)", _TEMPORARY.replace("< n", "< 9")),
    ("parallel for ordered", _COPY),
    ("parallel for firstprivate(n, u)", "for (i = 0; i < n; i++) a[i] = b[i] * u;"),
    ("parallel for firstprivate(v)", "for (i = 0; i < n; i++) { v = b[i]; a[i] = v; }"),
    ("parallel for firstprivate(x)", "for (i = 0; i < n; i++) x[i] = 1;"),
    ("parallel for firstprivate(c)", "for (i = 0; i < 10; i++) b[i] = c[i];"),
    ("simd linear(i)", _COPY),
    ("parallel for simd linear(i : 2)", "for (i = 8; i < n; i += 2) a[i] = b[i];"),
]

_SQUARE = _NEST.replace("A[i][l - 1]", "1")
NOT_ACCEPTED = [
    ("parallel for default(none)", _COPY),
    ("parallel for default(none) shared(a, b)", _COPY),
    ("parallel for shared(i)", _COPY),
    ("parallel for firstprivate(i)", _COPY),
    ("parallel for reduction(+:i)", _COPY),
    ("parallel for private(u) private(u)", _COPY),
    ("parallel for private(u, u)", _COPY),
    ("parallel for private(u) shared(u)", _COPY),
    ("parallel for firstprivate(n) shared(n)", _COPY),
    ("parallel for reduction(+:u, u)", _SUM),
    ("parallel for reduction(+:u) reduction(*:u)", _SUM),
    ("parallel for reduction(+:c[0:10], c[0:10])", _CELLS),
    ("parallel for reduction(+:u) private(u)", _SUM),
    ("parallel for lastprivate(i) private(i)", _COPY),
    ("parallel for\n#pragma omp simd", _COPY),
    ("parallel for\n#pragma omp parallel for", _COPY),
    ("simd\n#pragma omp parallel for", _COPY),
    (
        "simd",
        "for (i = 0; i < n; i++) {\n#pragma omp parallel for\nfor (int l = 1; l < n; l++) A[i][l] = 1; }",
    ),
    ("parallel for schedule(static) schedule(dynamic)", _COPY),
    ("parallel for if(n) if(n)", _COPY),
    ("parallel for num_threads(0)", _COPY),
    ("simd num_threads(2)", _COPY),
    ("simd schedule(static)", _COPY),
    ("simd shared(a)", _COPY),
    ("simd collapse(1) collapse(1)", _COPY),
    ("simd safelen(4) simdlen(8)", _COPY),
    ("parallel for safelen(4)", _COPY),
    ("parallel for linear(i) lastprivate(i)", _COPY),
    ("parallel for collapse(3)", _SQUARE),
    ("parallel for collapse(2)", _SQUARE.replace("l < n", "l < i * i")),
    ("parallel for", _COPY.replace("i++", "i *= 2")),
    ("parallel for", _COPY.replace("i < n", "i < n && k")),
    ("parallel for", _COPY.replace("i = 0", "i = 0, k = 0")),
    ("parallel for", "for (i = 0; i < n; i++) { if (b[i] > 3) break; a[i] = 1; }"),
    ("parallel for", "for (i = 0; i < n; i++) { if (b[i] > 3) return; a[i] = 1; }"),
    ("parallel for", "k = 3; " + _COPY),
    ("parallel for private(unheard)", _COPY),
    ("parallel for reduction(&:u)", _SUM),
    ("parallel for", "for (unsigned char l = 1; l < n % 5; l++) a[l] = 1; // ends at 253 for n = -3"),
    ("parallel for", "for (unsigned char l = 1; n % 5 > l; l++) a[l] = 1;"),
    ("parallel for", "for (unsigned l = 1; l < (long)n; l++) a[l] = 1;"),
    ("simd", "for (short l = 1; l <= n - 1; l++) a[l] = 1;"),
    ("parallel for collapse(2)", "for (i = 0; i < n; i++) for (unsigned short l = 1; l < n; l++) A[i][l] = 1;"),
]
_COUNTED = (
    "unsigned char l = 1; l < 9", "unsigned char l = 1; l < sizeof(int)", "unsigned l = 1; l < n",
    "unsigned long l = 1; l < n", "long l = 1; l < n", "int l = 1; l < (long)n",
)  # fmt: skip
ACCEPTED = [
    *(("parallel for", f"for ({head}; l++) a[l] = 1;") for head in _COUNTED),
    *(pair for pair in RIGHT if "lastprivate" not in pair[0]),
    ("parallel for lastprivate(u) firstprivate(u)", _TEMPORARY),
    ("parallel for collapse(2)", _SQUARE.replace("l < n", "l < i")),
    ("parallel for collapse(2)\n#pragma omp reverse", _SQUARE),
    ("parallel for simd if(simd: n) if(parallel: n)", _COPY),
    ("parallel for\n#pragma omp tile sizes(4)", _COPY),
]


def _refused(pragma: str, loop: str) -> str | None:
    setup = "double u = 1, v = 2; int m = 64; k = 0;"
    text = function(f"#pragma omp {pragma}\n{loop}", head=_HEAD, setup=setup)
    return refused_directive(Source("t.c", text))


@pytest.mark.parametrize(("pragma", "loop"), NOT_ACCEPTED)
def test_directives_that_no_compiler_need_accept(pragma: str, loop: str) -> None:
    assert _refused(pragma, loop) is not None


@pytest.mark.parametrize("team", ["", "firstprivate(w)", "private(w) default(shared)", "copyin(a)"])
def test_a_variable_that_the_threads_around_a_region_share(team: str) -> None:
    """A sum of it is none of a variable that each thread has."""
    region = "#pragma scop\n#pragma omp for reduction(+:s)\nfor (int i = 0; i < n; i++) s += i;\n#pragma endscop\n"
    text = f"int f(int n) {{ int s = 0, w = n;\n#pragma omp parallel {team}\n{{\n{region}}}\nreturn s + w; }}\n"
    assert (refused_directive(Source("t.c", text)) is None) == ("copyin" not in team)
    own = text.replace("{\n#pragma scop", "{ int s = 0;\n#pragma scop")
    assert refused_directive(Source("t.c", own)) is not None


def test_directives_that_compilers_accept() -> None:
    assert [pair for pair in ACCEPTED if _refused(*pair) is not None] == []


def test_a_text_with_such_a_directive_is_not_proved(tmp_path: Path) -> None:
    answer = comparison(function(_COPY), function(f"#pragma omp parallel for shared(i)\n{_COPY}"), tmp_path)
    assert "may not be shared, predetermined as private" in answer


def _is_proved(pragma: str, loop: str, head: str = _HEAD, more: str = "") -> bool:
    setup = f"double u = 1, v = 2; flag h = 0; int m = 64; k = 0; {more}"
    text = function(f"#pragma omp {pragma}\n{loop}", head=head, setup=setup, after="s = u + k + h;")
    (program,) = gated(parse_c(Source("t.c", text)))
    return isinstance(prove_annotations(program, allow_reassociation=True), Proved)


@pytest.mark.parametrize(("pragma", "loop"), WRONG)
def test_what_a_clause_does_not_promise(pragma: str, loop: str) -> None:
    assert not _is_proved(pragma, loop)


@pytest.mark.parametrize(("pragma", "loop"), RIGHT)
def test_what_it_does(pragma: str, loop: str) -> None:
    assert _is_proved(pragma, loop)


@pytest.mark.parametrize(
    "change",
    [
        *("m = 0;", "m \\\n= 0;", "m -= 64;", "(m)--;", "for (m = 3; m > 0; --m) ;", "h = z(m = 0);"),
        *('__asm("" : "=r"(m));', '__asm__("" : "=r"(m));', "int *q = &\n#line 9\nm; *q = 0;", "SET;"),
        *("int *q <: 1 :> = <% &((m)) %>; *q<:0:> = 0;", "*(&__extension__ m) = 0;", "__real__ m = 0;"),
    ],
)
def test_a_bound_that_is_changed_is_not_what_it_was_declared_as(change: str) -> None:
    """A loop that runs no iteration has no last one."""
    loop, head = _TEMPORARY.replace("< n", "< m"), _HEAD + "#define SET m = 0\n"
    assert not _is_proved("parallel for lastprivate(u)", loop, head, change)


@pytest.mark.parametrize(
    ("clause", "is_kept"),
    [
        *(("parallel for if(0)", True), ("parallel for num_threads(1)", True), ("simd if(simd: 0)", True)),
        *(("parallel for schedule(static, 40)", True), ("parallel for schedule(dynamic, 2)", True)),
        *(("parallel for if(n > 99)", True), ("simd simdlen(1)", True), ("simd simdlen(4)", False)),
        *(("parallel for schedule(static, 1) num_threads(2)", False), ("parallel for if(1)", False)),
    ],
)
def test_iterations_that_one_thread_runs_in_order(clause: str, is_kept: bool, tmp_path: Path) -> None:
    """They may depend on each other: that is no reason for a no."""
    loop = "for (i = 1; i < n; i++) a[i] = a[i - 1];"
    (tmp_path / "old.c").write_text(function(loop))
    (tmp_path / "new.c").write_text(function(f"#pragma omp {clause}\n{loop}"))
    verdict = compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict
    assert isinstance(verdict, Undecided if is_kept else Refuted)


def test_a_lane_has_its_own_temporary(tmp_path: Path) -> None:
    old, new = (
        function(f"{line}{_TEMPORARY}", setup="double u;") for line in ("", "#pragma omp simd private(u)\n")
    )
    assert comparison(old, new, tmp_path) == PROVED


def test_a_call_may_be_to_a_variant() -> None:
    variant = (
        "double w(double);\n#pragma omp declare variant(w) match(construct={parallel})\ndouble v1(double);\n"
    )
    assert not _is_proved("parallel for", _COPY, _HEAD + variant)


def test_an_operator_may_be_declared_to_be_another() -> None:
    declared = "#pragma omp declare reduction(+: double: omp_out += 2 * omp_in)\n"
    assert not _is_proved("parallel for reduction(+:u)", _SUM, _HEAD + declared)


@pytest.mark.parametrize(
    ("definition", "is_larger"),
    [
        ("#define max(p, q) ((p) > (q) ? (p) : (q))", True),
        ("#define max(p, q) ((p) > (q) ? (q) : (p))", False),
        ("#define max(p, q) ((p) + (q))", False),
        ("static double max(double p, double q) { return p < q ? q : p; }", True),
        ("static double max(double p, double q) { return p - q; }", False),
        ("static double max(double p, double q) { double r = p; return r; }", False),
    ],
)
def test_a_function_called_max_is_looked_into(definition: str, is_larger: bool) -> None:
    loop = "for (i = 0; i < n; i++) u = max(u, b[i]);"
    assert _is_proved("parallel for reduction(max:u)", loop, definition) == is_larger


@pytest.mark.parametrize(("cell", "is_own"), [("own[0]", True), ("own[(int)b[i]]", False), ("own[1]", False)])
def test_every_cell_that_is_read_is_written_in_the_iteration(cell: str, is_own: bool) -> None:
    """A write to one of the cells that a read may be of is not a write to its cell."""
    setup = "double own[16]; int i; for (i = 0; i < 16; i++) own[i] = i;"
    loop = f"for (i = 0; i < n; i++) {{ own[0] = b[i]; a[i] = {cell}; }}"
    text = function(
        f"#pragma omp parallel for private(own)\n{loop}",
        setup=setup,
        parameters="int n, double *restrict a, double *restrict b",
    )
    (program,) = parse_c(Source("t.c", text))
    assert isinstance(prove_annotations(program, allow_reassociation=False), Proved) == is_own


_OF_A_THREAD = {
    "a variable": "_Thread_local double v;",
    "by the word of gcc": "static __thread double v;",
    "by a directive": "double v;\n#pragma omp threadprivate(v)\n",
    "in a function": "static _Thread_local double w; static double g(void) { return w; }\n#define v g()\n",
}


@pytest.mark.parametrize("name", _OF_A_THREAD)
def test_what_each_thread_has_of_its_own(name: str, tmp_path: Path) -> None:
    """Only the first thread has the value that the original reads."""
    old, head = "for (i = 0; i < n; i++) a[i] = v;", _OF_A_THREAD[name]
    new = f"#pragma omp parallel for\n{old}"
    answer = comparison(function(old, head=head), function(new, head=head), tmp_path)
    assert "each thread has its own" in answer


def test_a_barrier_before_a_region_is_not_about_its_loop(tmp_path: Path) -> None:
    trap = Trap("", "for (i = 0; i < n; i++) a[i] = 1;", setup="\n#pragma omp barrier")
    assert answer(trap, tmp_path) == PROVED


_ORIGINALS = [
    ("parallel for private(u)", _TEMPORARY),
    ("simd private(u)", _TEMPORARY),
    ("parallel for firstprivate(u)", _TEMPORARY),
    ("parallel for private(u)", "for (i = 0; i < n; i++) { a[i] = u; u = b[i]; }"),
    ("parallel for num_threads(k++)", _COPY),
    ("parallel for reduction(&&:k)", "for (i = 0; i < n; i++) k = k && b[i];"),
    ("parallel", _COPY),
    ("parallel sections", f"{{ {_COPY} }}"),
    ("for", _COPY),
    ("for", "for (i = 0; i < n; i++) s += b[i];"),
    ("target", _COPY),
]


@pytest.mark.parametrize(("pragma", "loop"), _ORIGINALS)
def test_an_original_that_does_not_do_what_its_loops_do(pragma: str, loop: str, tmp_path: Path) -> None:
    parts = {"setup": "double u = 1; k = 5;", "after": "s = u + k;"}
    old, new = (function(f"{line}\n{loop}", **parts) for line in (f"#pragma omp {pragma}", ""))
    assert comparison(old, new, tmp_path) != PROVED


def test_an_original_that_does(tmp_path: Path) -> None:
    parts = {"setup": "double u;"}
    for pragma in ("parallel for private(u)", "simd private(u)"):
        old, new = (function(f"{line}\n{_TEMPORARY}", **parts) for line in (f"#pragma omp {pragma}", ""))
        assert comparison(old, new, tmp_path) == PROVED


@pytest.mark.parametrize(
    ("kind", "value", "is_largest"),
    [
        *(("unsigned char", value, False) for value in ("q[i]", "i", "300", "c8[i] + c8[i]")),
        *(("int", value, False) for value in ("u[i]", "l[i]", "(unsigned)q[i]")),
        *(("unsigned", value, False) for value in ("q[i]", "i")),
        *(("int", value, True) for value in ("q[i]", "i", "c8[i] + q[i]")),
        *((kind, "c8[i]", True) for kind in ("unsigned char", "short", "long", "double")),
    ],
)
def test_the_largest_number_that_its_type_holds(kind: str, value: str, is_largest: bool) -> None:
    head = "int q[100]; unsigned u[100]; long l[100]; unsigned char c8[100];"
    loop = f"for (i = 0; i < n; i++) v = v > {value} ? v : {value};"
    text = function(
        f"#pragma omp parallel for reduction(max:v)\n{loop}",
        head=head,
        setup=f"{kind} v = 0;",
        after="s = v;",
    )
    (program,) = parse_c(Source("t.c", text))
    assert isinstance(prove_annotations(program, allow_reassociation=True), Proved) == is_largest
