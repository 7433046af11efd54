"""New loops look like those of the author: names, types, counting, braces, indentation, labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.emit.c import Braces, Handwriting, Increment, Style, program_text
from loopwright.loops.expressions import Compare, Int, Relation, Var
from loopwright.loops.nodes import Block, Call, For, If
from tests.pipeline.support import new_region, output, region, result, wrapped

ALLMAN = """\
    for (i = 0; i < n; ++i)
    {
        Zero: a[i] = 0;
        for (j = 0; j < m; ++j)
        {
            Add: a[i] += b[j];
        }
    }
"""

TABS = """\
\tfor (int i = 0; i < n; i += 1) {
\t\ta[i] = 0;
\t\tfor (int j = 0; j < m; j += 1)
\t\t\tAdd: a[i] += b[j];
\t}
"""

DOWN = """\
  for (i = n - 1; i >= 1; --i)
    for (j = i; j >= 1; j -= 2)
      A[i][j] = a[i];
"""

LABELLED = """\
  Nest: for (i = 0; i < n; i = i + 1)
    Inner: for (j = 0; j < n; j = j + 1)
      A[i][j] = 0;
"""

CONDITION = """\
for (int i = 0; i < n; ++i)
\tif (i == m)
\t{
\t\tS(i);
\t\tS(0);
\t}
\telse
\t\tS(1);
"""


@pytest.mark.parametrize("text", [ALLMAN, TABS, DOWN, LABELLED])
def test_loops_in_the_order_of_the_author_look_as_they_did(tmp_path: Path, text: str) -> None:
    assert new_region(tmp_path, text.rstrip("\n")) == text


def test_conditions_have_the_braces_of_their_author() -> None:
    hand = Handwriting("\t", Increment.PREFIX, Braces.OWN_LINE)
    i, n, m = Var("i"), Var("n"), Var("m")
    several = Block((Call("S", (i,)), Call("S", (Int(0),))))
    body = If(Compare(Relation.EQ, i, m), several, Call("S", (Int(1),)))
    loop = For("i", Int(0), Compare(Relation.LT, i, n), 1, body)
    assert program_text(loop, Style(hand=hand)) == CONDITION


def test_the_usual_indentation_is_the_indentation(tmp_path: Path) -> None:
    """The first loop starts one column too far to the left."""
    odd = "   for (i = 0; i < n; i++)\n        a[i] = 0;\n"
    rest = "    for (i = 0; i < n; i++)\n        for (j = 0; j < n; j++)\n            A[i][j] = 0;\n"
    new = new_region(tmp_path, (odd + rest).rstrip("\n"))
    assert "   for (i = 0; i < n; i++)\n       for (j = 0; j < n; j++)\n           A[i][j] = 0;\n" in new


COMMENTED = """\
  /* first, clear */
  for (i = 0; i < n; i++)
    a[i] = 0;  // all of it
  // then add:
  // row by row
  for (i = 0; i < n; i++) {
    // one row
    for (j = 0; j < n; j++) {
      /* one term */
      Add: a[i] += A[i][j];
    }
  }
"""


def test_comments_stay_in_front_of_loops(tmp_path: Path) -> None:
    assert new_region(tmp_path, COMMENTED.rstrip("\n")) == COMMENTED
    tiled = new_region(tmp_path, COMMENTED.rstrip("\n"), "tile(Add, 8, 8)\nparallel(Add, iT)\n")
    assert "  // then add:\n  // row by row\n  for (int iT" in tiled
    assert "      // one row\n" not in tiled and "    // one row\n    for (int jT" in tiled


def test_loops_over_tiles_are_named_as_in_scripts(tmp_path: Path) -> None:
    script = "distribute(Zero, Add)\ntile(Add, 16, 16)\n"
    assert new_region(tmp_path, ALLMAN.rstrip("\n"), script) == """\
    for (i = 0; i < n; ++i)
    {
        Zero: a[i] = 0;
    }
    for (int iT = 0; iT <= floord(n - 1, 16); ++iT)
    {
        for (int jT = 0; jT <= floord(m - 1, 16); ++jT)
        {
            for (i = 16 * iT; i <= min(n - 1, 16 * iT + 15); ++i)
            {
                for (j = 16 * jT; j <= min(m - 1, 16 * jT + 15); ++j)
                {
                    Add: a[i] += b[j];
                }
            }
        }
    }
"""


def test_a_loop_that_is_reversed_counts_down(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; ++i)\n    for (j = i; j < n; ++j)\n      L: A[i][j] = a[j];"
    assert new_region(tmp_path, body, "reverse(L, i)\nreverse(L, j)\n") == (
        "  for (i = n - 1; i >= 0; --i)\n    for (j = n - 1; j >= i; --j)\n      L: A[i][j] = a[j];\n"
    )


def test_a_loop_that_holds_what_it_held_keeps_its_label(tmp_path: Path) -> None:
    assert new_region(tmp_path, LABELLED.rstrip("\n"), "tile(Nest, 8, 8)\n").startswith("  Nest: for (int iT")


def test_a_loop_that_is_kept_whole_has_its_label_once(tmp_path: Path) -> None:
    whole = "T: for (j = 0; j < m; j++) { if (b[j] > 4) break; c += b[j]; }"
    body = f"  for (i = 0; i < n; i++) {{\n    S: a[i] = 0;\n    {whole}\n  }}"
    assert new_region(tmp_path, body, "distribute(S, T)\n") == (
        f"  for (i = 0; i < n; i++)\n    S: a[i] = 0;\n  for (i = 0; i < n; i++)\n    {whole}\n"
    )


def test_a_label_in_front_of_a_pragma_compiles(tmp_path: Path) -> None:
    body = "#pragma scop\n  Nest: for (int i = 0; i < 9; i++)\n    a[i] = i;\n#pragma endscop\n"
    text = f"#include <stdio.h>\nint a[9];\nint main(void)\n{{\n{body}  printf(\"%d\\n\", a[8]);\n}}\n"
    for script in ("parallel(Nest, i)\n", "vectorize(Nest, i)\n"):
        new = result(tmp_path, text, script, openmp=True).source.text
        assert "  Nest:\n#pragma" in new
        assert output(new, tmp_path, "-fopenmp") == "8\n"


def test_fused_loops_have_the_name_of_the_first(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    P: a[i] = 0;\n  for (j = 0; j < n; j++)\n    Q: b[j] = a[j];"
    assert new_region(tmp_path, body, "fuse(P, Q)\n") == (
        "  for (i = 0; i < n; i++) {\n    P: a[i] = 0;\n    Q: b[i] = a[i];\n  }\n"
    )


def test_a_name_that_is_taken_by_an_outer_loop_gets_a_number(tmp_path: Path) -> None:
    body = (
        "  for (i = 0; i < n; i++)\n    for (k = 0; k < m; k++)\n      P: A[i][k] = 0;\n"
        "  for (j = 0; j < n; j++)\n    for (i = 0; i < m; i++)\n      Q: A[j][i] += 1;"
    )
    new = new_region(tmp_path, body, "fuse(P, Q, 1)\n")
    assert "for (int i2 = 0; i2 < m; i2++)\n      Q: A[i][i2] += 1;" in new


def test_a_macro_never_sees_a_new_iterator(tmp_path: Path) -> None:
    """`i` inside AT is not the iterator of the loop: the macro's `i` is the one of the file."""
    head = "static int iT;\n#define AT(x) ((x) + iT)\n"
    body = "  for (i = 0; i < n; i++)\n    L: a[i] = AT(b[i]);"
    new = new_region(tmp_path, body, "tile(L, 8)\n", head=head)
    assert "int iT2 = 0" in new and "int iT =" not in new


def test_iterators_have_the_types_their_author_gave_them(tmp_path: Path) -> None:
    body = "  for (size_t i = 0; i < n; i++)\n    for (size_t j = 0; j <= i; j++)\n      L: A[i][j] = i * j;"
    text = wrapped(body, names="size_t n, double A[n][n]")
    assert region(result(tmp_path, text).source.text) == body + "\n"
    swapped = region(result(tmp_path, text, "interchange(L, i, j)\n").source.text)
    assert "for (size_t i = j; i < n; i++)" in swapped and "A[i][j] = i * j;" in swapped


def test_an_unsigned_iterator_from_which_something_is_subtracted_is_signed(tmp_path: Path) -> None:
    """`n - 1` and `i - 1` are huge for n = 0, i = 0 in an unsigned type."""
    body = "  for (size_t i = 0; i < n; i++)\n    L: a[i] = i;"
    text = wrapped(body, names="size_t n, double *a")
    new = region(result(tmp_path, text, "reverse(L, i)\n").source.text)
    assert new == ("  for (long long i = ((long long)n) - 1; i >= 0; i--)\n    L: a[i] = ((size_t)i);\n")


def test_a_long_iterator_stays_long(tmp_path: Path) -> None:
    body = "  for (long i = 0; i < n; i++)\n    L: a[i] = i;"
    assert new_region(tmp_path, body, "tile(L, 4)\n") == (
        "  for (long iT = 0; iT <= floord(n - 1, 4); iT++)\n"
        "    for (long i = 4 * iT; i <= min(n - 1, 4 * iT + 3); i++)\n      L: a[i] = i;\n"
    )


def test_iterators_declared_in_the_region_are_declared_by_their_loops(tmp_path: Path) -> None:
    body = "  int x, y;\n  for (x = 0; x < n; x++)\n    for (y = 0; y < n; y++)\n      A[x][y] = 0;"
    assert new_region(tmp_path, body) == (
        "  for (int x = 0; x < n; x++)\n    for (int y = 0; y < n; y++)\n      A[x][y] = 0;\n"
    )


def test_threads_have_their_own_iterators(tmp_path: Path) -> None:
    """`j` is declared outside the parallel loop: there all threads would share it."""
    body = "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n      L: A[i][j] = 0;"
    new = region(result(tmp_path, wrapped(body), "parallel(L, i)\n", openmp=True).source.text)
    assert new == (
        "#pragma omp parallel for private(j)\n  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n"
        "      L: A[i][j] = 0;\n"
    )


SPACED = """\
  /* first nest */
  for (i = 0; i < n; i++)
    a[i] = 0;

  /* second:
     add up */

  for (i = 0; i < n; i++) {
    for (j = 0; j < n; j++)
      a[i] += A[i][j];

    // keep
    b[i] = a[i];
  }

  /* last remark */
  // and another
"""


def test_empty_lines_and_comments_after_the_loops_stay(tmp_path: Path) -> None:
    assert new_region(tmp_path, SPACED.rstrip("\n")) == SPACED
    apart = new_region(tmp_path, SPACED.rstrip("\n"), "distribute()\nreverse(S3, i)\n")
    assert "  for (i = n - 1; i >= 0; i--) {\n    // keep\n    b[i]" in apart
    assert apart.endswith("  }\n\n  /* last remark */\n  // and another\n")
    assert "\n\n\n" not in apart and "{\n\n" not in apart
