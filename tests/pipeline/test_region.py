"""The new text: the author's statements in new loops, everything else untouched."""

from __future__ import annotations

from pathlib import Path

from loopwright.progress import silent
from loopwright.prove.legality.privatisation import prove_scopes
from loopwright.prove.verdict import Proved, Undecided
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request, TargetName
from loopwright.rewrite.rereading import is_parted
from loopwright.source import Source
from tests.pipeline.support import file, new_region, output, region, result, wrapped

LOOP = "  for (i = 0; i < n; i++)\n    a[i] = 0;"


def test_statements_keep_their_text_and_parameters_their_spelling(tmp_path: Path) -> None:
    body = "  for (i = 0; i < g->n; i++)\n    A[i][0]   = SQRT_FUN( b[i] );"
    text = "struct grid { int n; };\n" + wrapped(body, names="struct grid *g, double *b, double A[10][10]")
    assert region(result(tmp_path, text).source.text) == (
        "  for (i = 0; i < g->n; i++)\n    A[i][0]   = SQRT_FUN( b[i] );\n"
    )


def test_everything_outside_the_regions_stays_byte_for_byte(tmp_path: Path) -> None:
    text = "/* ä \t*/\n" + wrapped(LOOP) + "\n\n" + wrapped(LOOP).replace("void f", "void g") + "// end"
    new = result(tmp_path, text).source.text
    for part in ("/* ä \t*/\nvoid f", "}\n\n\nvoid g", "#pragma endscop\n}\n// end"):
        assert part in text and part in new
    assert new.count("for (i = 0;") == 2


def test_line_ends_and_odd_bytes_stay(tmp_path: Path) -> None:
    path = tmp_path / "k.c"
    path.write_bytes(("// \xff\n" + wrapped(LOOP)).replace("\n", "\r\n").encode("latin-1"))
    data = transformed(Request(str(path)), silent).source.encode()
    assert b"// \xff\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n") > 5


def test_comments_and_labels_go_with_their_statement(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    /* clear */\n    Zero: a[i] = 0; // here\n  }"
    expected = "  for (i = 0; i < n; i++) {\n    /* clear */\n    Zero: a[i] = 0;  // here\n  }\n"
    assert new_region(tmp_path, body) == expected


def test_of_a_statement_written_twice_the_first_has_the_comment_and_the_label(tmp_path: Path) -> None:
    body = "  for (i = 0; i < 2; i++) {\n    /* clear */\n    Zero: a[i] = 0;\n  }"
    assert new_region(tmp_path, body, "unroll(Zero, i)") == "  /* clear */\n  Zero: a[0] = 0;\n  a[1] = 0;\n"


def test_a_new_iterator_does_not_take_a_name_of_the_region(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    L: a[i] = iT;"
    text = new_region(tmp_path, body, "tile(L, 32)", head="double iT;\n")
    assert text == (
        "  for (int iT2 = 0; iT2 <= floord(n - 1, 32); iT2++)\n"
        "    for (i = 32 * iT2; i <= min(n - 1, 32 * iT2 + 31); i++)\n      L: a[i] = iT;\n"
    )


def test_values_are_put_in_parentheses_where_operators_could_reach_them(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    L: a[2*i] = 3 * i;"
    assert "a[2 * i - 10] = 3 * (i - 5);" in new_region(tmp_path, body, "shift(L, i, 5)")


def test_a_macro_sees_one_argument(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    L: a[i] = TWICE(i);"
    text = new_region(tmp_path, body, "shift(L, i, 1)", head="#define TWICE(x) x + x\n")
    assert "a[i - 1] = TWICE((i - 1));" in text


def test_values_keep_the_type_of_the_iterator(tmp_path: Path) -> None:
    body = "  for (unsigned char_ = 1; char_ < n; char_++)\n    a[char_] = 1 / char_;"
    assert new_region(tmp_path, body) == body + "\n"
    body = "  for (unsigned x = 1; x < n; x++)\n    L: a[x] = 1 / x;"
    assert "long long x = 2" in (text := new_region(tmp_path, body, "shift(L, x, 1)"))
    assert "1 / ((unsigned)(x - 1))" in text


def test_an_unsigned_size_is_made_signed(tmp_path: Path) -> None:
    text = wrapped("  for (int x = 0; x < n; x++)\n    L: a[x] = 0;", names="unsigned n, double *a")
    new = region(result(tmp_path, text, "shift(L, x, -2)").source.text)
    assert "((long long)n)" in new and "for (long long x = -2;" in new


def test_local_variables_are_declared_where_they_are_needed(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    double u = b[i];\n    L: a[i] = u * u;\n  }"
    assert new_region(tmp_path, body) == body + "\n"


def test_a_local_array_is_declared_in_its_loop(tmp_path: Path) -> None:
    body = (
        "  for (i = 0; i < n; i++) {\n    double u[2];\n    for (j = 0; j <= 1; j++)\n"
        "      u[j] = b[i + j];\n    a[i] = u[0] + u[1];\n  }"
    )
    assert new_region(tmp_path, body) == body + "\n"


def test_a_local_variable_whose_value_goes_on_is_declared_in_front(tmp_path: Path) -> None:
    body = "  double u;\n  for (i = 0; i < n; i++) {\n    a[i] = i ? u : 0;\n    u = b[i];\n  }"
    assert new_region(tmp_path, body) == (
        "  {\n    double u;\n    for (i = 0; i < n; i++) {\n"
        "      a[i] = i ? u : 0;\n      u = b[i];\n    }\n  }\n"
    )


def test_a_declaration_in_the_wrong_loop_is_not_believed(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    double t;\n    if (i == 0)\n      t = 0;\n    a[i] = t;\n  }"
    (program,) = read_c(file(tmp_path, wrapped(body)))
    assert isinstance(prove_scopes(program), Undecided)
    (program,) = read_c(file(tmp_path, wrapped(body.replace("if (i == 0)", ""))))
    assert isinstance(prove_scopes(program), Proved)


def test_a_local_integer_is_written_out(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++) {\n    int last = n - 1 - i;\n    a[last] = b[i];\n  }"
    assert "a[n - 1 - i] = b[i];" in new_region(tmp_path, body)


def test_helpers_are_defined_once_before_the_first_region_that_needs_them(tmp_path: Path) -> None:
    tiled = "  for (i = 0; i < n; i++)\n    L: a[i] = 0;"
    second = wrapped(tiled).replace("void f", "void g")
    text = wrapped(LOOP) + second + second.replace("L:", "M:").replace("void g", "void h")
    new = result(tmp_path, text, "tile(L, 32)\ntile(M, 32)\n").source.text
    assert new.count("#define min(a, b)") == new.count("#define floord(n, d)") == 1
    assert new.index("void g") < new.index("#define min") < new.index("min(")


def test_helpers_of_an_earlier_run_are_used_again(tmp_path: Path) -> None:
    tiled = wrapped("  for (i = 0; i < n; i++)\n    L: a[i] = 0;")
    once = result(tmp_path, tiled, "tile(L, 32)\n").source.text
    twice = result(tmp_path, once, "tile(L, 4)\n").source.text
    assert twice.count("#define min(a, b)") == 1


def test_a_name_of_the_file_is_not_a_helper(tmp_path: Path) -> None:
    head = "double min, max;\n"
    new = new_region(tmp_path, "  for (i = 0; i < n; i++)\n    L: a[i] = min;", "tile(L, 32)", head=head)
    assert "min(" not in new and " ? " in new


def test_assumptions_stay_in_the_region(tmp_path: Path) -> None:
    body = "#pragma loopwright assume n >= 1\n  for (i = 0; i != n; i++)\n    a[i] = 0;"
    assert new_region(tmp_path, body).startswith("#pragma loopwright assume n >= 1\n")


def test_a_condition_on_data_gets_braces(tmp_path: Path) -> None:
    body = (
        "  for (i = 0; i < n; i++)\n    if (i < m) {\n      if (a[i] > 0)\n        b[i] = a[i];\n"
        "    } else\n      b[i] = 0;"
    )
    new = new_region(tmp_path, body)
    assert "if (a[i] > 0)" in new
    assert read_c(file(tmp_path, wrapped(new.rstrip("\n")), "again.c"))


def test_statements_of_several_lines_keep_their_shape(tmp_path: Path) -> None:
    body = "      for (i = 0; i < n; i++)\n        a[i] = b[i]\n             + 1;"
    assert new_region(tmp_path, body) == (
        "      for (i = 0; i < n; i++) {\n        a[i] = b[i]\n             + 1;\n      }\n"
    )


def test_a_region_without_statements_stays(tmp_path: Path) -> None:
    assert new_region(tmp_path, "  ;") == "  ;\n"


PROGRAM = """\
#include <stdio.h>
static double a[40], b[40], s;
int main(void)
{{
  int n = 37;
  for (int x = 0; x < n; x++)
    a[x] = x % 7;
{region}
  printf("%a %a\\n", s, b[n - 1]);
  return 0;
}}
"""


def test_openmp_pragmas_compile_where_declarations_and_conditions_are(tmp_path: Path) -> None:
    body = (
        "#pragma scop\n  for (int i = 0; i < n; i++) {\n    double t = a[i];\n    L: b[i] = t * 2;\n  }\n"
        "  for (int i = 0; i < n; i++)\n    Sum: s += a[i];\n#pragma endscop"
    )
    text = PROGRAM.format(region=body)
    request = result(tmp_path, text, "parallel(Sum, i)", openmp=True, allow_reassociation=True)
    assert "#pragma omp parallel for reduction(+:s)\n" in request.source.text
    assert output(request.source.text, tmp_path, "-fopenmp") == output(text, tmp_path)


def test_vector_loops_are_marked_for_gcc(tmp_path: Path) -> None:
    body = "#pragma scop\n  for (int i = 0; i < n; i++)\n    L: b[i] = a[i] * 2;\n#pragma endscop"
    text = PROGRAM.format(region=body)
    new = result(tmp_path, text, "vectorize(L, i)").source.text
    assert "#pragma GCC ivdep\n  for (int i" in new
    assert output(new, tmp_path) == output(text, tmp_path)


ALONE = (
    ("if (n > 3)", ""),
    ("if (n > 3)", "else a[0] = 3;"),
    ("WHEN(n > 3)", ""),
    ("for (int q = 0; q < n; q++)", ""),
    ("do", "while (n-- > 3);"),
    ("switch (n) case 5: more:", ""),
    ("if (n > 3) a[0] = 5; else", ""),
)
"""What stands before a region that is the statement of it, and what comes after."""


def test_a_region_that_is_the_statement_of_a_condition_or_a_loop_stays_one(tmp_path: Path) -> None:
    """Two loops come out of the loop, or a loop under a condition, which takes no `else` of another one."""
    parts, script = ["#define WHEN(c) if (c)\n"], []
    for k, (before, after) in enumerate(ALONE):
        loop = f"for (int i = 0; i < n; i++) {{ if (n > 4) {{ L{k}: a[i] += {k}; M{k}: b[i] += 2; }} }}"
        text = f"{before}\n#pragma scop\n{loop}\n#pragma endscop\n{after}\n"
        parts.append(f"void f{k}(int n, double *restrict a, double *restrict b) {{\n{text}}}\n")
        script.append(f"distribute(L{k}, M{k})")
    text = "".join(parts)
    new = result(tmp_path, text, "\n".join(script)).source.text
    calls = "".join(f"f{k}(n, a, b); " for k in range(len(ALONE)))
    main = (
        "\n#include <stdio.h>\nint main(void) { double a[9] = {0}, b[9] = {0};\n"
        f"for (int n = 0; n < 9; n++) {{ {calls} }}\n"
        'for (int i = 0; i < 9; i++) printf("%g %g ", a[i], b[i]); }\n'
    )
    assert new.count("for (int i") == 2 * len(ALONE)
    assert output(new + main, tmp_path) == output(text + main, tmp_path) != ""


def test_new_text_that_a_condition_is_not_about(tmp_path: Path) -> None:
    head = "void f(int n, double a[n], double b[n])\n{ if (n > 3)\n#pragma scop\n"
    body, tail = "  for (int i = 0; i < n; i++) { L: a[i] = 1; M: b[i] = 2; }\n", "#pragma endscop\n}\n"
    path = file(tmp_path, head + body + tail)
    first, second = (f"for (int i = 0; i < n; i++) {one}\n" for one in ("a[i] = 1;", "b[i] = 2;"))
    for text, wrong in (
        (first + second, True),
        ("{" + first + second + "}", False),
        ("if (n > 0) {" + first + second + "}", True),
        ("if (n > 0) {" + first + second + "} else {" + body + "}", False),
    ):
        assert is_parted(Source("new.c", f"{head}{text}\n{tail}"), read_c(path)) == wrong
    request = Request(path, "distribute(L, M)\nblock(L, i)\nblock(M, i)", target=TargetName.CUDA)
    assert transformed(request, silent).kernels is not None


def test_a_product_in_a_subscript_stays_one_where_an_iterator_is_a_number(tmp_path: Path) -> None:
    """`m + j` in place of `1 * m + j` was no product, and the proof of the text failed."""
    loops = "for (i = 1; i < 3; i++) for (j = 0; j < m; j++) "
    text = wrapped(loops + "S: a[i * m + j] = b[i - 1] + a[(i - 1) * m + j];")
    new = region(result(tmp_path, text, "unroll(S, i)").source.text)
    assert "a[1 * m + j] = b[0] + a[(1 - 1) * m + j];" in new
    assert "a[2 * m + j] = b[1] + a[(2 - 1) * m + j];" in new
