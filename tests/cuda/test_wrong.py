"""Kernels that are wrong, each by one change of the text: every one is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.c.syntax import field, named_children, parse
from loopwright.emit.cuda.text import DeviceText
from loopwright.emit.cuda.text import device_text as right_text
from loopwright.emit.region import Loops
from loopwright.errors import LoopwrightError
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.kernels import KernelReader
from loopwright.rewrite import cuda
from loopwright.source import Source
from tests.cuda.support import made

PROGRAM = """\
void f(int n, int m, double s, double A[n][m], double B[n][m], double c[n])
{
  int i, j;
#pragma scop
  for (i = 1; i < n - 1; i++) {
    Edge: c[i] = s;
    for (j = 0; j < m; j++)
      Copy: B[i][j] = A[i][j] + c[i];
    for (j = 1; j < m; j++)
      Use: A[i][j] = s * B[i][j - 1];
  }
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      Last: B[i][j] = A[i][j];
#pragma endscop
}
"""

SCRIPT = """\
L = lift(Copy, 1)
block(L, i)
thread(Copy, j=16)
thread(Use, j=16)
block(Last, i)
thread(Last, j=32)
"""

CHANGES = {
    "a barrier is missing": (
        "LW_BARRIER();\n    for (LW_INDEX j = LW_THREAD(x, 1", "for (LW_INDEX j = LW_THREAD(x, 1"
    ),
    "the barrier after the phase of one thread is missing": ("}\n    LW_BARRIER();", "}"),
    "a barrier that not all threads reach": (
        "B[i][j] = A[i][j] + c[i];", "{ B[i][j] = A[i][j] + c[i]; LW_BARRIER(); }"
    ),
    "all threads run what one should": ("if (LW_ONE(x)) {", "{"),
    "one thread runs what all should": (
        "for (LW_INDEX j = LW_THREAD(x, 0, 1)", "if (LW_ONE(x)) for (LW_INDEX j = LW_THREAD(x, 0, 1)"
    ),
    "a halo that is one too small": ("B[i][j - 1]", "B[i][j]"),
    "an iteration too many": ("LW_THREAD(x, 0, 1); j < m", "LW_THREAD(x, 0, 1); j <= m"),
    "an iteration that starts late": ("LW_THREAD(x, 0, 1); j < m", "LW_THREAD(x, 1, 1); j < m"),
    "threads that skip iterations": ("LW_THREADS(x, 1)", "LW_THREADS(x, 2)"),
    "threads along an axis that has none": ("LW_THREAD(x, 0, 1)", "LW_THREAD(y, 0, 1)"),
    "a loop over threads without a distribution": ("LW_THREAD(x, 0, 1)", "0"),
    "blocks distributed as threads": ("LW_BLOCK(x, 1, 1)", "LW_THREAD(x, 1, 1)"),
    "a loop that counts in 32 bits": ("LW_INDEX j = LW_THREAD(x, 0, 1)", "int j = LW_THREAD(x, 0, 1)"),
    "swapped buffers": ("(B_, A_, n, m)", "(A_, B_, n, m)"),
    "swapped sizes": ("LW_ARRAY_2(double, A, m)", "LW_ARRAY_2(double, A, n)"),
    "an array of another type": ("LW_ARRAY_2(double, A, m)", "LW_ARRAY_2(float, A, m)"),
    "results that do not come back": ("LW_WRITTEN(double, B", "LW_READ(double, B"),
    "too small a copy": ("(double, A, (size_t)(n) * (m))", "(double, A, (size_t)(n) * (n))"),
    "a copy of something else": ("LW_WRITTEN(double, c", "LW_WRITTEN(double, A"),
    "too many threads": ("LW_SIZE(16, 1, 1)", "LW_SIZE(2048, 1, 1)"),
    "more threads than the kernel is compiled for": ("LW_SIZE(16, 1, 1)", "LW_SIZE(512, 1, 1)"),
    "threads counted in another way than they are launched": (
        "LW_BLOCK_SIZE(16, 1, 1)", "LW_BLOCK_SIZE(8, 1, 1)"
    ),
    "threads along an axis no loop is along": ("LW_SIZE(16, 1, 1)", "LW_SIZE(4, 4, 1)"),
    "blocks along an axis no loop is along": (", 1), LW_SIZE(16", ", 2), LW_SIZE(16"),
    "a grid that changes a size": ("LW_GRID(", "LW_GRID(n++ + "),
    "a grid of another kind": ("LW_GRID(", "dim3("),
    "another operation": ("s * B[i]", "s + B[i]"),
    "another scalar": (", double s, LW_INDEX n", ", float s, LW_INDEX n"),
    "a size that nothing bounds": ("  LW_WITHIN(n, 16777216);\n", ""),
    "a bound that lets larger sizes through": ("LW_WITHIN(n, 16777216)", "LW_WITHIN(n, 2147483647)"),
    "a bound that is a size": ("LW_WITHIN(n, 16777216)", "LW_WITHIN(n, n)"),
    "the bound of another size": ("LW_WITHIN(n, 16777216)", "LW_WITHIN(m, 16777216)"),
    "a number of a block that overflows": ("LW_BLOCK_INDEX ", "LW_INDEX "),
    "a launch too many": ("return LW_END();", "LW_LAUNCH(x); return LW_END();"),
    "launches in another order": ("LW_LAUNCH(loopwright_program_5_0", "LW_LAUNCH(loopwright_program_5_1"),
    "a macro with another meaning": ("threadIdx.axis * (step)", "threadIdx.axis * 2 * (step)"),
    "a variable that threads do not share": (
        "    if (LW_ONE(x)) {\n      c[i]", "    double c[1]; if (LW_ONE(x)) {\n      c[i]"
    ),
    "a launcher that C does not find": ("LW_LAUNCHER int", "int"),
    "a launcher that nothing outside of the file finds": ("LW_LAUNCHER int", "static\nLW_LAUNCHER int"),
    "a launcher of another type": ("LW_LAUNCHER int", "LW_LAUNCHER long"),
    "a kernel that is not a kernel": ("LW_KERNEL(16) ", "void "),
    "a size in parentheses": ("LW_SIZE(16, 1, 1)", "(LW_SIZE(16, 1, 1))"),
    "a size of two numbers": ("LW_SIZE(16, 1, 1)", "LW_SIZE(16, 1)"),
    "a grid of two numbers": (", 1, 1), LW_SIZE(16", ", 1), LW_SIZE(16"),
    "a grid that divides by zero": ("LW_GRID(", "LW_GRID(n / 0 + "),
    "a grid that is a macro": ("LW_GRID(n", "LW_GRID(LW_RESTRICT"),
    "a grid that is not an integer": ("LW_GRID(", "LW_GRID(s + "),
    "a launcher that does nothing": (
        "LW_BEGIN();", "return 1; }\nLW_LAUNCHER int other(void) {\n LW_BEGIN();"
    ),
    "a directive": ("\nLW_LAUNCHER", "\n#define s 3\nLW_LAUNCHER"),
}
"""What is wrong, a text of the kernels, and what is put in its place."""

IN_C = {
    "arguments in another order": ("(double *)B, (double *)A", "(double *)A, (double *)B"),
    "another value": ("if (!", "if (! "),
    "another original": ("s * B[i][j - 1];\n  }", "s * B[i][j];\n  }"),
    "a change outside of the region": ("int i, j;", "int i, j; n--;"),
}


def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], *, in_c: bool) -> str:
    """What is said of the kernels after the first occurrence of a text in them is replaced."""
    old, new = change

    def changed(regions: list[Loops], narrow: bool = True) -> DeviceText:
        right = right_text(regions, narrow=True)
        part = right.host if in_c else right.kernels
        assert old in part.text, part.text.partition("begins here")[2] or part.text
        text = Source(part.path, part.text.replace(old, new, 1))
        return replace(right, host=text) if in_c else replace(right, kernels=text)

    monkeypatch.setattr(cuda, "device_text", changed)
    with pytest.raises(LoopwrightError) as caught:
        made(tmp_path, PROGRAM, SCRIPT)
    return caught.value.message


def test_the_right_kernels_are_accepted(tmp_path: Path) -> None:
    assert made(tmp_path, PROGRAM, SCRIPT).kernels is not None


@pytest.mark.parametrize("what", CHANGES)
def test_a_wrong_kernel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    wrong(tmp_path, monkeypatch, CHANGES[what], in_c=False)


@pytest.mark.parametrize("what", IN_C)
def test_a_wrong_call_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    wrong(tmp_path, monkeypatch, IN_C[what], in_c=True)


BRANCHES = """\
void kernel(void) {
  for (long i = LW_THREAD(y, 0, 1); i < n; i += LW_THREADS(y, 1))
    if (i < 3)
      for (long j = LW_THREAD(x, 0, 1); j < n; j += LW_THREADS(x, 1))
        A[i][j] = 1;
    else
      for (long j = LW_THREAD(x, 0, 1); j < i; j += LW_THREADS(x, 1))
        A[i][j] = 2;
}
"""


SCOPES = """\
void kernel(void) {
  { LW_SHARED_1(double, A, 8); if (LW_ONE(x)) A[0] = 1; LW_BARRIER(); }
  { LW_SHARED_1(double, A, 8); if (LW_ONE(x)) A[0] = 2; LW_BARRIER(); }
}
"""


@pytest.mark.parametrize(
    "change", [("", ""), ("LW_BARRIER(); }\n  {", "LW_BARRIER();"), ("LW_BARRIER(); ", "")]
)
def test_a_buffer_is_declared_once_in_a_block(change: tuple[str, str]) -> None:
    """Each of two blocks has its own; one block does not declare it twice, and a barrier is between uses."""
    text = SCOPES.replace(*change, 1)
    (function,) = named_children(parse(Source("kernels.cu", text), text))
    reader = KernelReader({"x": 8, "y": 1, "z": 1}, frozenset({"A"}), {"A": ("double", "double", ("8",))})
    if change[1] == change[0]:
        reader.body(named_children(field(function, "body")))
        assert reader.buffers == ["A", "A"]
    else:
        with pytest.raises(Unreadable):
            reader.body(named_children(field(function, "body")))


@pytest.mark.parametrize(
    ("loop", "right"),
    [
        ("for (long j = LW_THREAD(x, 0, 1); j < i; j += LW_THREADS(x, 1))", True),
        ("for (long j = 0; j < i; j++)", False),
        ("for (long j = LW_THREAD(y, 0, 1); j < i; j += LW_THREADS(y, 1))", False),
    ],
)
def test_both_branches_of_a_phase_are_distributed(loop: str, right: bool) -> None:
    first, _, rest = BRANCHES.partition("else\n")
    text = f"{first}else\n      {loop}\n{rest.partition(chr(10))[2]}"
    source = Source("kernels.cu", text)
    (function,) = named_children(parse(source, text))
    reader = KernelReader({"x": 8, "y": 4, "z": 1}, frozenset({"A"}), {})
    body = named_children(field(function, "body"))
    if right:
        reader.body(body)
        assert [one.axis for one in reader.distributed] == ["y", "x", "x"]
    else:
        with pytest.raises(Unreadable):
            reader.body(body)
