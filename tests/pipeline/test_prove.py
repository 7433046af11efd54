"""`loopwright prove OLD NEW`: programs that somebody else rewrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopwright.prove.equivalence.symbolic import first_difference
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.reader import read_c
from tests.pipeline.support import compared, file, run, wrapped

COPY = "  for (i = 0; i < n; i++)\n    a[i] = b[i] + 1;"
STENCIL = (
    "  for (t = 0; t < m; t++) {\n    for (i = 1; i < n - 1; i++)\n      b[i] = a[i - 1] + a[i + 1];\n"
    "    for (i = 1; i < n - 1; i++)\n      a[i] = b[i];\n  }"
)
PRODUCT = (
    "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++) {\n      A[i][j] = 0;\n"
    "      for (k = 0; k < n; k++)\n        A[i][j] += a[i] * b[k];\n    }"
)

SAME = {
    "unrolled": (
        COPY,
        "  for (i = 0; i + 1 < n; i += 2) {\n    a[i] = b[i] + 1;\n    a[i + 1] = b[1 + i] + 1;\n  }\n"
        "  if (n % 2 == 1)\n    a[n - 1] = b[n - 1] + 1;",
    ),
    "tiled": (
        COPY,
        "  for (j = 0; j < n; j += 32)\n    for (k = j; k < n && k < j + 32; k++)\n      a[k] = b[k] + 1;",
    ),
    "split and reversed": (
        COPY,
        "  for (i = n - 1; i >= 5; i--)\n    a[i] = b[i] + 1;\n"
        "  for (i = 0; i < n && i < 5; i++)\n    a[i] = b[i] + 1;",
    ),
    "shifted and renamed": (COPY, "  for (int x = 3; x <= n + 2; x++)\n    a[x - 3] = (b[x - 3] + 1);"),
    "time loop renamed and shifted": (
        STENCIL,
        STENCIL.replace("t = 0; t < m; t++", "j = 1; j <= m; j++"),
    ),
    "distributed and interchanged": (
        PRODUCT,
        "  for (j = 0; j < n; j++)\n    for (i = 0; i < n; i++)\n      A[i][j] = 0;\n"
        "  for (k = 0; k < n; k++)\n    for (i = 0; i < n; i++)\n      for (j = 0; j < n; j++)\n"
        "        A[i][j] += a[i] * b[k];",
    ),
    "a local variable written out": (
        "  for (i = 0; i < n; i++) {\n    int last = n - 1 - i;\n    a[last] = b[i];\n  }",
        "  for (i = 0; i < n; i++)\n    a[i] = b[n - 1 - i];",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_instances_in_an_order_that_changes_nothing(tmp_path: Path, name: str) -> None:
    old, new = SAME[name]
    found = compared(tmp_path, wrapped(old), wrapped(new))
    assert isinstance(found.verdict, Proved), found.verdict


WRONG = {
    "an iteration lost": (COPY, COPY.replace("i < n", "i < n - 1"), "n = 1"),
    "an iteration too many": (
        "  for (i = 0; i < n; i++)\n    a[i] = 0;\n  for (i = 0; i < n; i++)\n    b[i] = 0;",
        "  for (i = 0; i < n; i++)\n    a[i] = 0;\n"
        "  for (i = 0; i < n; i++) {\n    b[i] = 0;\n    b[i] = 0;\n  }",
        "",
    ),
    "a dependence reversed": (
        "  for (i = 1; i < n; i++)\n    a[i] = a[i - 1];",
        "  for (i = n - 1; i >= 1; i--)\n    a[i] = a[i - 1];",
        "n = 3",
    ),
    "the sum in another order": (
        PRODUCT,
        PRODUCT.replace("k = 0; k < n; k++", "k = n - 1; k >= 0; k--"),
        "n = 2",
    ),
    "a stencil that forgets to copy": (
        STENCIL,
        STENCIL[: STENCIL.index("    for (i = 1; i < n - 1; i++)\n      a[i]")] + "  }",
        "",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_no_has_an_example(tmp_path: Path, name: str) -> None:
    old, new, sizes = WRONG[name]
    found = compared(tmp_path, wrapped(old), wrapped(new))
    assert isinstance(found.verdict, Refuted), found.verdict
    assert sizes in found.verdict.witness


UNKNOWN = {
    "another operation": (COPY, COPY.replace("+ 1", "+ 2")),
    "the operands swapped": (COPY, COPY.replace("b[i] + 1", "1 + b[i]")),
    "another array": (COPY, COPY.replace("b[i]", "a[i]")),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_operations_are_not_compared(tmp_path: Path, name: str) -> None:
    old, new = UNKNOWN[name]
    found = compared(tmp_path, wrapped(old), wrapped(new))
    assert isinstance(found.verdict, Undecided), found.verdict


def test_a_macro_that_means_something_else_is_seen(tmp_path: Path) -> None:
    body = "  for (i = 0; i < n; i++)\n    a[i] = SQUARE(b[i]);"
    one = wrapped(body, head="#define SQUARE(x) ((x) * (x))\n")
    other = wrapped(body, head="#define SQUARE(x) ((x) + (x))\n")
    assert isinstance(compared(tmp_path, one, one).verdict, Proved)
    found = compared(tmp_path, one, other).verdict
    assert isinstance(found, Undecided) and "SQUARE" in found.reason


def test_a_type_that_is_another_one_is_seen(tmp_path: Path) -> None:
    names = "int n, int m, float *a, double *b"
    found = compared(tmp_path, wrapped(COPY), wrapped(COPY, names=names)).verdict
    assert isinstance(found, Undecided) and "a" in found.reason


def test_a_macro_argument_is_text(tmp_path: Path) -> None:
    head = "#define TWICE(x) x * 2\n"
    old = wrapped("  for (i = 0; i < n; i++)\n    a[i] = TWICE(i);", head=head)
    new = wrapped("  for (i = 1; i <= n; i++)\n    a[i - 1] = TWICE(i - 1);", head=head)
    right = wrapped("  for (i = 1; i <= n; i++)\n    a[i - 1] = TWICE((i - 1));", head=head)
    assert not isinstance(compared(tmp_path, old, new).verdict, Proved)
    assert isinstance(compared(tmp_path, old, right).verdict, Proved)


def test_a_promise_of_independence_is_proved_too(tmp_path: Path) -> None:
    old = wrapped("  for (i = 1; i < n; i++)\n    a[i] = a[i - 1];")
    new = wrapped("#pragma omp parallel for\n  for (i = 1; i < n; i++)\n    a[i] = a[i - 1];")
    found = compared(tmp_path, old, new).verdict
    assert isinstance(found, Refuted) and "not independent" in found.message
    free = wrapped("#pragma omp parallel for\n" + COPY)
    assert isinstance(compared(tmp_path, wrapped(COPY), free).verdict, Proved)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = file(tmp_path, wrapped(COPY), "old.c")
    new = file(tmp_path, wrapped(SAME["tiled"][1]), "new.c")
    bad = file(tmp_path, wrapped(COPY.replace("i < n", "i < n - 1")), "bad.c")
    assert run("prove", old, new) == 0
    assert "proved" in capsys.readouterr().out
    assert run("prove", old, bad) == 1
    shown = capsys.readouterr().err
    assert "not equivalent" in shown and "witness: " in shown and "a[i] = b[i] + 1;" in shown
    assert run("prove", old, bad, "--json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "wrong"
    assert run("prove", old, file(tmp_path, wrapped(UNKNOWN["another operation"][1]), "o.c")) == 3
    assert run("prove", old, str(tmp_path / "none.c")) == 2
    assert run("prove", old, file(tmp_path, wrapped(COPY) + wrapped(COPY), "two.c")) == 2


@pytest.mark.parametrize("name", SAME)
def test_small_runs_of_equivalent_programs_agree(tmp_path: Path, name: str) -> None:
    """Values of both runs are numbered by one table: two tables once made equal runs differ."""
    (old,) = read_c(file(tmp_path, wrapped(SAME[name][0]), "old.c"))
    (new,) = read_c(file(tmp_path, wrapped(SAME[name][1]), "new.c"))
    assert first_difference(old, new) is None


def test_statements_with_the_same_text_find_their_own(tmp_path: Path) -> None:
    """Both halves of a time step clear a[i]; unrolled, each copy belongs to its half."""
    old = (
        "  for (t = 0; t < m; t++) {\n"
        "    for (i = 0; i < n; i++) {\n      a[i] = 0;\n      b[i] += a[i];\n    }\n"
        "    for (i = 0; i < n; i++) {\n      a[i] = 0;\n      A[i][0] += a[i];\n    }\n  }"
    )
    first = "      a[{0}] = 0;\n      b[{0}] += a[{0}];\n"
    second = "      a[{0}] = 0;\n      A[{0}][0] += a[{0}];\n"
    new = "  for (t = 0; t < m; t++) {\n" + "".join(
        f"    for (i = 0; i + 1 < n; i += 2) {{\n{half.format('i')}{half.format('i + 1')}    }}\n"
        f"    if (n % 2 == 1) {{\n{half.format('n - 1')}    }}\n"
        for half in (first, second)
    ) + "  }"
    found = compared(tmp_path, wrapped(old), wrapped(new))
    assert isinstance(found.verdict, Proved), found.verdict
