"""Data that `optimise` makes for functions of a file without a `main`, and where it makes none."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.c.selection.choice import choice
from loopwright.errors import BadInput
from loopwright.optimise.candidates.storage import renamings
from loopwright.optimise.timing.driver import driver_for
from loopwright.optimise.timing.runner import (
    TrialRunner,
    may_have_main,
    original_program,
    with_clock,
)
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.run.compiler import find_compiler
from loopwright.transform import plan_of
from loopwright.transform.perform import performed
from loopwright.transform.script.steps import parse_script

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BLUR = """#include <stddef.h>
void blur(const unsigned char *src, unsigned char *dst, int width, int height, size_t stride)
{
  for (int y = 1; y < height - 1; y++)
    for (int x = 1; x < width - 1; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += src[(y + dy) * stride + (x + dx)];
      dst[y * stride + x] = (unsigned char)(sum / 9);
    }
}
"""

LARGEST = """int largest(int n, const double *restrict a)
{
  int k = 0;
  double m = a[0];
  for (int i = 1; i < n; i++)
    if (a[i] > m) {
      m = a[i];
      k = i;
    }
  return k;
}
"""

CLOCKED = """struct times { double begin, end; };
void scaled(struct times *times, int n, double *a)
{
  times->begin = 1;
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] *= 2;
#pragma endscop
  times->end = 2;
}
"""

PRODUCT_OF_STRUCTS = """struct matrix { int rows, cols; double *data; };
void product(const struct matrix *A, const double *x, double *y)
{
  for (int i = 0; i < A->rows; i++)
    for (int j = 0; j < A->cols; j++)
      y[i] += A->data[i * A->cols + j] * x[j];
}
"""


def test_a_variable_that_would_be_a_constant_is_not_renamed(tmp_path: Path) -> None:
    """`int sum = 0;` with nothing else that assigns to `sum` is a constant, and no statement."""
    (tmp_path / "blur.c").write_text(BLUR)
    plan = plan_of(read_c(tmp_path / "blur.c", ReadOptions(choice=choice("blur")))[0])
    with pytest.raises(BadInput, match="would assign to 'sum' after its declaration"):
        performed(plan, *parse_script("rename(sum, @9)\n"))
    assert not list(renamings(plan))


@needs_gcc
def test_data_are_made_where_a_subscript_is_not_known(tmp_path: Path) -> None:
    file = tmp_path / "blur.c"
    file.write_text(BLUR)
    (program,) = read_c(file, ReadOptions(choice=choice("blur")))
    sizes = {"width": 60, "height": 40, "stride": 60}
    runner = TrialRunner(file, tmp_path, find_compiler(), ("-fsanitize=address",))
    runner = with_clock(replace(runner, driver=driver_for([program], [sizes], (), 1)), BLUR)
    assert 0 <= runner.seconds(original_program(runner, BLUR), 10) < 10


@needs_gcc
def test_a_call_whose_result_is_not_used_is_timed(tmp_path: Path) -> None:
    """Compilers leave out a call of a function that they know to change nothing."""
    file = tmp_path / "largest.c"
    file.write_text(LARGEST)
    (program,) = read_c(file, ReadOptions(choice=choice("largest")))
    runner = TrialRunner(file, tmp_path, find_compiler(), ("-O3",))
    runner = with_clock(replace(runner, driver=driver_for([program], [{"n": 1_000_000}], (), 1)), LARGEST)
    assert runner.seconds(original_program(runner, LARGEST), 10) > 1e-4


@needs_gcc
def test_what_a_region_does_not_use_has_memory_too(tmp_path: Path) -> None:
    file = tmp_path / "scaled.c"
    file.write_text(CLOCKED)
    runner = TrialRunner(file, tmp_path, find_compiler(), ("-fsanitize=address",))
    runner = with_clock(replace(runner, driver=driver_for(read_c(file), [{"n": 60}], (), 1)), CLOCKED)
    assert 0 <= runner.seconds(original_program(runner, CLOCKED), 10) < 10


@needs_gcc
@pytest.mark.parametrize(
    ("also", "message"),
    [
        ("int later(void);\nint now(void) { return later(); }\n", "does not link: 'later' is declared only"),
        ("#include \"not_there.h\"\n", "does not compile: not_there.h: No such file"),
    ],
)
def test_what_does_not_compile_is_said_of_the_file(also: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "scaled.c"
    file.write_text(CLOCKED)
    folder = tmp_path / "programs"
    folder.mkdir()
    runner = TrialRunner(file, folder, find_compiler(), (), driver=driver_for(read_c(file), [{}], (), 1))
    with pytest.raises(BadInput, match=message) as failure:
        original_program(runner, also + CLOCKED)
    span = failure.value.diagnostic.span
    assert span is not None and span.source.path == str(file)


def test_a_file_with_a_main_is_found_among_the_options(tmp_path: Path) -> None:
    (tmp_path / "driver.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "more.c").write_text("void dummy(void) {}\n")
    given = (str(tmp_path / "driver.c"), str(tmp_path / "more.c"), "-O3", "more.o", "not_there.c")
    assert [may_have_main(one) for one in given] == [True, False, False, True, True]


def test_no_data_are_made_for_members_of_structs(tmp_path: Path) -> None:
    file = tmp_path / "product.c"
    file.write_text(PRODUCT_OF_STRUCTS)
    (program,) = read_c(file, ReadOptions(choice=choice("product")))
    with pytest.raises(BadInput, match="no data can be generated for 'product'") as failure:
        driver_for([program], [{}], (), 1)
    assert failure.value.hint is not None and "--model" in failure.value.hint
