"""The cost model on a machine that is always the same: what it counts, and how it ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.optimise.model.arithmetic import Operations, operations_of
from loopwright.optimise.model.balance import largest_part
from loopwright.optimise.model.cost import Estimate, estimate
from loopwright.optimise.model.machine import USUAL, CacheLevel, Machine, this_machine
from loopwright.optimise.model.sizes import SUPPOSED, sizes_of
from loopwright.optimise.model.touches import costed_loops
from loopwright.read.c.reader import read_c
from loopwright.transform import plan_of, to_schedule
from tests.conftest import ROOT
from tests.kernel_programs import kernel_program

MACHINE = Machine(
    (CacheLevel(32 << 10, 5.0), CacheLevel(1 << 20, 12.0), CacheLevel(32 << 20, 25.0)), vector=32
)

PRODUCT = """\
double A[{n}][{n}], B[{n}][{n}], C[{n}][{n}];
void f(void)
{{
#pragma scop
  for (int i = 0; i < {n}; i++)
    for (int j = 0; j < {n}; j++)
      for (int k = 0; k < {n}; k++)
        S: C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""


def estimated(file: Path, script: str = "", machine: Machine = MACHINE, threads: int = 1) -> Estimate:
    (program,) = read_c(file)
    plan = plan_of(program).transform(script)
    node = generate(to_schedule(plan), GenerationOptions())
    return estimate(node, plan.program, sizes_of(plan.program, ()), machine, threads)


BETTER = [
    "2mm",
    "gemm",
    "syrk",
    "lu",
    "trmm",
    "covariance",
    "gramschmidt",
    "mvt",
    "atax",
    "jacobi-2d",
    "seidel-2d",
]


@pytest.mark.parametrize("name", BETTER)
def test_what_experience_says_is_faster_costs_less(name: str) -> None:
    file = ROOT / "kernels" / f"{name}.c"
    script = file.with_suffix(".lw").read_text()
    assert estimated(file, script).total < 0.9 * estimated(file).total


def test_trip_counts_and_factors(tmp_path: Path) -> None:
    file = tmp_path / "triangle.c"
    file.write_text(
        "double A[100][200];\nvoid f(void)\n{\n#pragma scop\n  for (int i = 0; i < 100; i++)\n"
        "    for (int j = 0; j < i; j++)\n      A[i][2 * j] = 0;\n#pragma endscop\n}\n"
    )
    (program,) = read_c(file)
    root = costed_loops(generate(to_schedule(plan_of(program)), GenerationOptions()), program, {}, {})
    (outer,) = root.loops
    (inner,) = outer.loops
    assert 98 <= outer.trip <= 100 and 45 <= inner.trip <= 55 and inner.executions == outer.trip
    (touch,) = inner.calls[0].touches
    assert touch.is_write and touch.factors == (((outer.name, 1),), ((inner.name, 2),))


def test_a_tile_that_fits_moves_fewer_lines(tmp_path: Path) -> None:
    file = tmp_path / "product.c"
    file.write_text(PRODUCT.format(n=600))
    plain = estimated(file, "interchange(S, [i, k, j])")
    tiled = estimated(file, "tile(S, 64, 64, 64)\ninterchange(S, k, j)")
    assert tiled.lines[1] < plain.lines[1] / 4, "B does not fit into the second cache, a tile of it does"
    small = tmp_path / "small.c"
    small.write_text(PRODUCT.format(n=24))
    fitting = estimated(small).lines
    assert fitting[0] == fitting[2] <= 3 * 24 * 24 / 8 + 3, "what fits is fetched once"


def test_vectors_go_along_rows(tmp_path: Path) -> None:
    file = tmp_path / "product.c"
    file.write_text(PRODUCT.format(n=64))
    down, along = estimated(file), estimated(file, "interchange(S, k, j)")
    assert along.arithmetic < down.arithmetic / 2, "k waits for the sum; j does four at a time"


@pytest.mark.parametrize(
    ("kinds", "is_vector"),
    [(("int", "short", "short"), True), (("double", "double", "double"), False)],
    ids=["integers", "numbers that round"],
)
def test_compilers_combine_integers_in_vectors(
    tmp_path: Path, kinds: tuple[str, str, str], is_vector: bool
) -> None:
    """A sum of short integers along rows is no slower than vectors of sums, which make each of them wider."""
    c, a, b = kinds
    file = tmp_path / "k.c"
    text = PRODUCT.format(n=512).replace("double A[512][512], B[512][512], C[512][512];", "{}")
    text = text.replace("{}", f"{a} A[512][512]; {b} B[512][512]; {c} C[512][512];")
    file.write_text(text.replace("B[k][j]", "B[j][k]"))
    along = estimated(file, "unroll_and_jam(S, i=4, j=4)").total
    file.write_text(file.read_text().replace("B[j][k]", "B[k][j]"))
    across = estimated(file, "interchange(S, j, k)\nunroll_and_jam(S, i=4, k=4)").total
    assert (along < across) == is_vector


def test_iterations_written_out_share_loads(tmp_path: Path) -> None:
    file = tmp_path / "product.c"
    file.write_text(PRODUCT.format(n=64))
    rows = "interchange(S, [i, k, j])"
    assert (
        estimated(file, f"{rows}\nunroll_and_jam(S, i=4, k=4)").arithmetic
        < 0.8 * estimated(file, rows).arithmetic
    )


TEMPORARIES = """\
float in[64][900], out[64][900];
unsigned char small[64][900];
float sum;
void f(void)
{{
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 800; j++) {{
      {body}
    }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("fast", "slow"),
    [
        ("sum = in[i][j]; out[i][j] = sum * sum;", "out[i][j] = sum; sum = in[i][j];"),
        (
            "sum = 0; for (int k = 0; k < 8; k++) sum += in[i][j + k]; out[i][j] = sum;",
            "for (int k = 0; k < 8; k++) sum += in[i][j + k]; out[i][j] = sum;",
        ),
        ("out[i][j] = in[i][j] > 1 ? 1 : 2;", "out[i][j] = small[i][j] > 1 ? 1 : 2;"),
    ],
    ids=["each lane has its scalar", "and sums into it", "not of chars and floats that are chosen"],
)
def test_vectors_of_private_scalars(tmp_path: Path, fast: str, slow: str) -> None:
    found = []
    for body in (fast, slow):
        file = tmp_path / "temporaries.c"
        file.write_text(TEMPORARIES.format(body=body))
        found.append(estimated(file).arithmetic)
    assert found[0] < found[1] / 2


def test_operations_are_counted_in_the_text() -> None:
    program = kernel_program("seidel-2d")
    assert operations_of(program.statements[0]) == Operations(simple=8, divisions=1, calls=0)


def test_sizes_are_given_defined_or_supposed(tmp_path: Path) -> None:
    file = tmp_path / "sizes.c"
    file.write_text(
        "#define M 20\n#define N (2 * M)\ndouble A[N][M][9];\nvoid f(int n)\n{\n#pragma scop\n"
        "  for (int i = 0; i < N; i++)\n    for (int j = 0; j < M; j++)\n"
        "      for (int k = 0; k < n; k++)\n        A[i][j][k] = 0;\n#pragma endscop\n}\n"
    )
    (program,) = read_c(file)
    known = sizes_of(program, ["n=7"])
    assert known.get("n") == 7 and known.get("N", 40) == 40
    assert sizes_of(program, ())["n"] == SUPPOSED
    with pytest.raises(BadInput, match="the size 'n' is not from"):
        sizes_of(program, [f"n={10**23}"])


def test_the_machine_is_what_the_system_says(tmp_path: Path) -> None:
    for k, (level, kind, size) in enumerate(
        [(1, "Data", "48K"), (1, "Instruction", "32K"), (2, "Unified", "2M")]
    ):
        index = tmp_path / f"index{k}"
        index.mkdir()
        for name, text in (
            ("level", str(level)),
            ("type", kind),
            ("size", size),
            ("coherency_line_size", "128"),
        ):
            (index / name).write_text(text + "\n")
    processor = tmp_path / "cpuinfo"
    processor.write_text("flags : fpu sse2 avx avx2\n")
    machine = this_machine(tmp_path, processor)
    assert [one.size for one in machine.caches] == [48 << 10, 2 << 20]
    assert (machine.line, machine.vector, machine.registers) == (128, 32, 16)
    nothing = this_machine(tmp_path / "none", tmp_path / "none")
    assert nothing.caches == USUAL.caches and str(nothing).startswith("L1 32 KiB, L2 1024 KiB")


def test_what_compilers_write_out_is_no_loop(tmp_path: Path) -> None:
    """Loops of three iterations in a loop over a row: the loop over the row is the innermost one."""
    file = tmp_path / "filter.c"
    file.write_text(
        "float in[99][99], out[90][90], w[3][3];\nvoid f(void)\n{\n#pragma scop\n"
        "  for (int y = 0; y < 90; y++)\n"
        "    for (int x = 0; x < 90; x++)\n      for (int r = 0; r < 3; r++)\n"
        "        for (int s = 0; s < 3; s++)\n          out[y][x] += in[y + r][x + s] * w[r][s];\n"
        "#pragma endscop\n}\n"
    )
    (program,) = read_c(file)
    root = costed_loops(generate(to_schedule(plan_of(program)), GenerationOptions()), program, {}, {})
    (row,) = root.loops[0].loops
    assert not row.loops and len(row.calls) == 9 and row.trip == 90


def test_the_thread_with_most_work_counts() -> None:
    tiles, triangle = (256.0, 256.0, 256.0, 32.0), tuple(map(float, range(1, 9)))
    assert largest_part(tiles, 2, is_dealt=False) == 512 / 800
    assert largest_part(triangle, 2, is_dealt=False) == 26 / 36
    assert largest_part(triangle, 2, is_dealt=True) == 20 / 36
    assert largest_part((1.0,) * 5, 4, is_dealt=False) == 2 / 5
    assert largest_part((), 2, is_dealt=False) == 1 / 2


def test_many_rows_are_shared_more_evenly_than_few_tiles(tmp_path: Path) -> None:
    file = tmp_path / "product.c"
    file.write_text(PRODUCT.format(n=800))
    tiled = "interchange(S, [i, k, j])\ntile(S, j=256, k=128)\ninterchange(S, [jT, kT, i])\n"
    alone, tiles, rows = (
        estimated(file, script, threads=2).total
        for script in (tiled, f"{tiled}parallel(S, jT)", f"{tiled}parallel(S, i)")
    )
    assert 0.5 * alone < rows < 0.55 * alone < 0.6 * alone < tiles < 0.7 * alone


COUNTED = """\
unsigned char image[900][900];
int bins[256];
void f(void)
{
#pragma scop
  for (int y = 0; y < 900; y++)
    for (int x = 0; x < 900; x++)
      S: bins[image[y][x]]++;
#pragma endscop
}
"""


def test_cells_that_data_choose_are_in_an_array_of_known_size_and_wait(tmp_path: Path) -> None:
    few, many = tmp_path / "few.c", tmp_path / "many.c"
    few.write_text(COUNTED)
    many.write_text(COUNTED.replace("bins[256]", "bins[99000000]"))
    assert estimated(few).total < 10 * 900 * 900 < estimated(many).total
    assert estimated(few, "unroll_and_jam(S, y=8)").total > 0.75 * estimated(few).total


def test_compilers_write_out_three_short_loops_inside_each_other(tmp_path: Path) -> None:
    file = tmp_path / "k.c"
    file.write_text("""\
double a[90][90][90], b[90][90][90], s;
void f(void)
{
#pragma scop
  for (int i = 1; i < 89; i++)
    for (int j = 1; j < 89; j++)
      for (int k = 1; k < 89; k++) {
        s = 0;
        for (int p = 0; p < 3; p++)
          for (int q = 0; q < 3; q++)
            for (int r = 0; r < 3; r++)
              S: s += a[i + p - 1][j + q - 1][k + r - 1];
        b[i][j][k] = s;
      }
#pragma endscop
}
""")
    written = estimated(file, "unroll(S, r)\nunroll(S, q)\nunroll(S, p)").total
    assert estimated(file).total == pytest.approx(written)


def test_results_are_stored_where_other_cells_of_the_array_may_be_the_same(tmp_path: Path) -> None:
    text = """\
double A[90][90], V[90][90];
void f(void)
{
#pragma scop
  for (int k = 0; k < 40; k++)
    for (int j = 40; j < 90; j++)
      S: A[0][j] -= A[0][k] * V[j][k];
#pragma endscop
}
"""
    same, other = tmp_path / "same.c", tmp_path / "other.c"
    same.write_text(text)
    other.write_text(text.replace("A[0][k]", "V[0][k]"))
    jam = "unroll_and_jam(S, k=8)"
    assert estimated(same, jam).arithmetic > 4 * estimated(other, jam).arithmetic
    assert estimated(same).total == pytest.approx(estimated(other).total)


def test_threads_lose_what_restrict_says(tmp_path: Path) -> None:
    """Compilers make a function of a parallel loop; of its pointers they do not know that they are apart."""
    blocks = "(S, SRest) = isplit(S, {[i, k, j] : 4 * [i / 4] + 4 <= 160 and 4 * [k / 4] + 4 <= 160}, 0)"
    script = f"interchange(S, [i, k, j])\n{blocks}\nunroll_and_jam(S, i=4, k=4)\nparallel(S, iT)"
    by_name, by_pointer = tmp_path / "arrays.c", tmp_path / "pointers.c"
    by_name.write_text(PRODUCT.format(n=160))
    arrays, head = PRODUCT.format(n=160).split("\n", 1)
    names = arrays.removeprefix("double ").removesuffix(";").split(", ")
    rows = ", ".join(f"double (*restrict {one[0]})[160]" for one in names)
    by_pointer.write_text(head.replace("void f(void)", f"void f({rows})"))
    costs = {file: estimated(file, script, threads=2).total for file in (by_name, by_pointer)}
    assert costs[by_pointer] > 2 * costs[by_name]
    vectors = estimated(by_pointer, f"{script}\nvectorize(S, j)", threads=2).total
    assert 1.02 * costs[by_name] < vectors < 0.7 * costs[by_pointer], "what stays is loaded in each iteration"
    alone = script.rpartition("\n")[0]
    assert estimated(by_pointer, alone).total == estimated(by_name, alone).total
