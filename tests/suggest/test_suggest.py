"""`loopwright suggest`: what it lists is legal, what it leaves out is not, and both can be tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopwright.cli.main import main
from loopwright.progress import silent
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.suggest import Suggestion, suggestions
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request, TargetName
from loopwright.transform import parse_script, plan_of
from loopwright.transform.suggest import ProposalKind, mappings
from tests.kernel_programs import kernel_program

KERNELS = Path(__file__).resolve().parent.parent.parent / "kernels"

PRODUCT = """void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      Init: C[i][j] = 0;
      for (int k = 0; k < n; k++)
        Mult: C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
"""

STENCIL = """void f(int n, int m, double a[n]) {
#pragma scop
  for (int t = 0; t < m; t++)
    for (int i = 1; i < n - 1; i++)
      a[i] = a[i - 1] + a[i + 1];
#pragma endscop
}
"""

PAIR = """void f(int n, double a[n], double b[n], double c[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    P: b[i] = a[i];
  for (int i = 0; i < n; i++)
    Q: c[i] = b[SUBSCRIPT];
#pragma endscop
}
"""


def found(folder: Path, text: str) -> list[Suggestion]:
    file = folder / "k.c"
    file.write_text(text)
    (program,) = read_c(file)
    return list(suggestions(plan_of(program)))


def lines(tried: list[Suggestion], kind: ProposalKind) -> list[str]:
    return [one.script for one in tried if one.kind is kind and one.legal and not one.reassociation]


def test_a_product(tmp_path: Path) -> None:
    tried = found(tmp_path, PRODUCT)
    assert lines(tried, ProposalKind.PARALLEL) == ["parallel(Init, i)", "parallel(Init, j)"]
    assert "distribute(Init, Mult)\ninterchange(Mult, j, k)" in lines(tried, ProposalKind.INTERCHANGE)
    assert "distribute(Init, Mult)\ntile(Mult, i=32, j=32, k=32)" in lines(tried, ProposalKind.TILING)
    sums = [one.script for one in tried if one.reassociation]
    assert sums == ["parallel(Mult, k)"]


def test_the_best_interchange_says_why(tmp_path: Path) -> None:
    best = max(found(tmp_path, PRODUCT), key=lambda one: one.gain)
    assert best.script.endswith("interchange(Mult, j, k)")
    assert best.reason.endswith("with j innermost 0 of 4 accesses jump between rows, instead of 1")


def test_a_stencil_needs_skewed_tiles(tmp_path: Path) -> None:
    tried = found(tmp_path, STENCIL)
    assert lines(tried, ProposalKind.TILING) == ["tile(@3, 32, 32, skew)"]
    assert lines(tried, ProposalKind.INTERCHANGE) == []
    wavefront = "skew(@3, i, t, 2)\ninterchange(@3, t, i)\nparallel(@3, t)"
    of_tiles = "tile(@3, t=32, i=32, skew)\nskew(@3, iT, tT)\ninterchange(@3, tT, iT)\nparallel(@3, tT)"
    assert lines(tried, ProposalKind.PARALLEL) == [wavefront, of_tiles]
    refused = next(one for one in tried if one.script == "interchange(@3, t, i)")
    assert "S1(" in refused.reason and not refused.legal


@pytest.mark.parametrize(("subscript", "legal"), [("i", True), ("n - 1 - i", False)])
def test_fusion(tmp_path: Path, subscript: str, legal: bool) -> None:
    tried = found(tmp_path, PAIR.replace("SUBSCRIPT", subscript))
    assert lines(tried, ProposalKind.FUSION) == (["fuse(P, Q, 1)"] if legal else [])


def test_fusion_with_a_delay(tmp_path: Path) -> None:
    """Q reads what P writes two iterations later, so it runs two iterations after P."""
    tried = found(
        tmp_path, PAIR.replace("i < n; i++)\n    Q", "i < n - 2; i++)\n    Q").replace("SUBSCRIPT", "i + 2")
    )
    assert lines(tried, ProposalKind.FUSION) == ["shift(Q, i=2)\nfuse(P, Q, 1)"]
    reason = next(one.reason for one in tried if one.kind is ProposalKind.FUSION and one.legal)
    assert reason.endswith("when the second runs after the first in the same loop over i; they share b")


def test_short_loops_are_not_tiled(tmp_path: Path) -> None:
    text = PRODUCT.replace("int k = 0; k < n", "int k = 0; k < 5")
    tiles = lines(found(tmp_path, text), ProposalKind.TILING)
    assert tiles and not any("k=" in one for one in tiles)


TIME = """void f(int n, int m, double a[n][n], double b[n][n]) {
#pragma scop
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = a[i - 1][j] + a[i][j + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
"""


def test_time_tiles_of_several_nests(tmp_path: Path) -> None:
    tried = found(tmp_path, TIME)
    tiles = lines(tried, ProposalKind.TILING)
    assert "tile(@3, 32, 32, 32, skew)" in tiles and "tile(@3, t=32, i=32, skew)" in tiles
    reason = next(one.reason for one in tried if one.script == "tile(@3, t=32, i=32, skew)")
    assert reason.endswith(
        "once they are skewed, so tiles run one after the other; j stays whole, for vectors"
    )


@pytest.mark.parametrize("text", [PRODUCT, STENCIL, PAIR.replace("SUBSCRIPT", "i")])
def test_what_is_pasted_is_accepted(tmp_path: Path, text: str) -> None:
    """By `loopwright transform`: with all its proofs, about the loops and the text too."""
    for one in found(tmp_path, text):
        if one.legal:
            wanted = Request(
                file=str(tmp_path / "k.c"), script=one.script, allow_reassociation=one.reassociation
            )
            assert transformed(wanted, silent).regions[0].proofs, one.script


@pytest.mark.parametrize("name", ["gemm", "jacobi-1d", "trisolv", "fdtd-2d", "floyd-warshall"])
def test_every_suggestion_is_proved_again(name: str) -> None:
    """Each line read from its text, and proved with dependences computed again."""
    program = kernel_program(name)
    for one in suggestions(plan_of(program)):
        plan = plan_of(program).transform(one.script)
        assert prove_plan(plan, allow_reassociation=one.reassociation).proved == one.legal, one.script


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["suggest", *words])
    return int(ended.value.code or 0), capsys.readouterr().out


def test_the_text_is_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.c").write_text(PRODUCT)
    status, text = run(capsys, str(tmp_path / "k.c"), "--all")
    assert status == 0
    names = [step.operation.name for step in parse_script(text, "k.lw")]
    assert {"parallel", "interchange", "tile"} <= set(names)
    assert "# not interchange(Mult, i, k)" in text


def test_kinds_without_a_gain_come_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the order of the kinds themselves, the interchange, which is slower, comes first."""
    two = "{ A[i][j] = B[i][j]; C[i][j] = 2 * B[i][j]; }"
    (tmp_path / "k.c").write_text(
        "void f(int n, double A[n][n], double B[n][n], double C[n][n]) {\n#pragma scop\n"
        f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {two}\n#pragma endscop\n}}\n"
    )
    _, text = run(capsys, str(tmp_path / "k.c"))
    slower = next(line for line in text.splitlines() if line.startswith("interchange"))
    assert "times as slow" in slower
    assert text.index("# loops with independent") < text.index("# adjacent statements") < text.index(slower)


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.c").write_text(STENCIL)
    status, text = run(capsys, str(tmp_path / "k.c"), "--json")
    tried = json.loads(text)["regions"][0]["suggestions"]
    assert status == 0
    scripts = {one["script"]: one for one in tried if one["legal"]}
    assert scripts["tile(@3, 32, 32, skew)"]["speed"] > 0
    assert max(scripts.values(), key=lambda one: one["speed"])["script"].endswith("parallel(@3, tT)")


def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.c").write_text("int main(void) { return 0; }\n")
    assert run(capsys, str(tmp_path / "k.c"))[0] == 2


CONVOLUTION = """void f(int n, int o, int c, int h, int w, double A[n][o][h][w], double B[n][c][h + 2][w + 2],
       double C[o][c][3][3]) {
#pragma scop
  for (int b = 0; b < n; b++)
    for (int g = 0; g < o; g++)
      for (int i = 0; i < c; i++)
        for (int y = 0; y < h; y++)
          for (int x = 0; x < w; x++)
            for (int u = 0; u < 3; u++)
              for (int v = 0; v < 3; v++)
                S: A[b][g][y][x] += B[b][i][y + u][x + v] * C[g][i][u][v];
#pragma endscop
}
"""


def test_a_convolution_of_seven_loops_is_tiled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once there was no tiling for it, and 26 interchanges were listed."""
    (tmp_path / "k.c").write_text(CONVOLUTION)
    status, text = run(capsys, str(tmp_path / "k.c"))
    tiling = next(line for line in text.splitlines() if line.startswith("tile("))
    assert status == 0 and tiling.startswith("tile(S, b=8, g=8, i=8, y=8, x=32)  # 1.6 times as fast")
    assert sum(line.startswith("interchange(") for line in text.splitlines()) <= 3
    assert any(line.startswith("unroll_and_jam(S, y=4)") for line in text.splitlines())


BOTH = """void f(int n, double a[n], double b[n], double c[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    P: b[i] = a[i];
    Q: c[i] = a[i];
  }
#pragma endscop
}
"""


def test_other_kinds(tmp_path: Path) -> None:
    tried = found(tmp_path, BOTH)
    assert lines(tried, ProposalKind.DISTRIBUTION) == ["distribute(P, Q)"]
    assert lines(tried, ProposalKind.REORDERING) == ["reorder(P, Q)"]


SWAP = """void f(int steps, int n, double *a, double *b) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = (a[i - 1] + a[i + 1]) / 2;
    double *s = a;
    if (n > 5) { a = b; b = s; }
  }
#pragma endscop
}
"""


def test_what_was_left_as_it_is_comes_with_a_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "swap.c"
    file.write_text(SWAP)
    status, text = run(capsys, str(file))
    assert status == 0
    assert "# not analysed, so that no operation was tried inside\n# line 7: 'a' has 1 dimension here" in text
    assert text.count("if (t % 2 == 0) b[i] = .. a[i] ..; else a[i] = .. b[i] ..") == 1
    (program,) = read_c(file)
    assert "{a, b, s} as one: not aliased" in program.assumptions[0].text


def test_mappings_to_a_gpu(tmp_path: Path) -> None:
    """Loops that carry a sum are not mapped; a statement that shares loops gets its own."""
    file = tmp_path / "k.c"
    file.write_text(PRODUCT)
    (program,) = read_c(file)
    plan = plan_of(program)
    legal = [one for one in suggestions(plan, proposed=mappings(plan)) if one.legal]
    assert {one.kind for one in legal} == {ProposalKind.MAPPING}
    assert [str(one.steps[-1]) for one in legal] == ["thread(Init, i=8, j=32)", "thread(Mult, i=8, j=32)"]
    both = "\n".join(dict.fromkeys(line for one in legal for line in one.script.splitlines()))
    request = Request(str(file), both, target=TargetName.CUDA, prove=False)
    assert transformed(request, silent).kernels is not None


def test_nothing_to_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.c").write_text(STENCIL)
    with pytest.raises(SystemExit) as ended:
        main(["suggest", str(tmp_path / "k.c"), "--target", "cuda", "--all"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "blocks and threads of a GPU: none" in shown and "# not thread(" in shown


CONDITIONAL = """double f(int n, double a[n], double b[n], int k[1]) {
  double x = a[0]; int at = 0;
#pragma scop
  for (int i = 1; i < n; i++)
    S: STATEMENT
#pragma endscop
  k[0] = at;
  return x;
}
"""


@pytest.mark.parametrize(
    ("statement", "script", "reassociation"),
    [
        ("if (a[i] > x) { x = a[i]; at = i; }", "strip_mine(S, i, 64)\nTest = pretest(S, iT)", False),
        ("if (a[i] < 0) at = i;", "strip_mine(S, i, 64)\nTest = pretest(S, iT)", False),
        ("if (a[i] < 0) x += a[i];", "vectorize(S, i)", True),
        ("if (a[i] < 0) b[i] = a[i];", "", False),
        ("if (a[i] < x) x = x * a[i] + b[i];", "strip_mine(S, i, 64)\nTest = pretest(S, iT)", False),
    ],
    ids=["argmax", "last index", "sum", "in vectors already", "recurrence"],
)
def test_conditional_statements(tmp_path: Path, statement: str, script: str, *, reassociation: bool) -> None:
    """A reduction is a matter of lanes; what is none, of tests of blocks."""
    tried = found(tmp_path, CONDITIONAL.replace("STATEMENT", statement))
    legal = [one for one in tried if one.kind is ProposalKind.VECTORS and one.legal]
    assert [(one.script, one.reassociation) for one in legal] == ([(script, reassociation)] if script else [])


def test_a_condition_that_cannot_be_tested_is_no_error(tmp_path: Path) -> None:
    """The type of what is cast to is that of an array, or else unknown."""
    text = CONDITIONAL.replace("STATEMENT", "if (a[i] < (real)0.) at = i;").replace("double a", "real a")
    (tmp_path / "real.h").write_text("typedef float real;\n")
    known, unknown = (found(tmp_path, f'#include "{name}.h"\n{text}') for name in ("real", "absent"))
    tests = [[one for one in tried if one.kind is ProposalKind.VECTORS][-1] for tried in (known, unknown)]
    assert [one.legal for one in tests] == [True, False]
    assert "could not decide: the type of" in tests[1].reason


@pytest.mark.parametrize(
    ("loops", "script"),
    [
        (
            "for (int j = 0; j < n; j++) { double y = 0;"
            " for (int i = 1; i < n; i++) S: if (b[i] > y) y = b[i] + j; a[j] = y; }",
            "expand(y, j)\nstrip_mine(S, i, 64)\nTest = pretest(S, iT)",
        ),
        ("for (int i = 1; i < n; i++) { double y = 2 * a[i]; S: if (y > x) { x = y; at = i; } }", ""),
    ],
    ids=["of a row", "of an iteration"],
)
def test_a_variable_of_the_loop_gets_cells_of_its_own(tmp_path: Path, loops: str, script: str) -> None:
    """Tests are written at the end of the region, where such a variable is not declared."""
    head, end = CONDITIONAL.split("  for", 1)[0], CONDITIONAL.split("STATEMENT\n")[1]
    tried = found(tmp_path, f"{head}{loops}\n{end}")
    legal = [one.script for one in tried if one.kind is ProposalKind.VECTORS and one.legal]
    assert legal == ([script] if script else [])


def test_vectors_that_are_refused_name_the_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.c"
    file.write_text(CONDITIONAL.replace("STATEMENT", "if (a[i] > x) { x = a[i]; at = i; }"))
    with pytest.raises(SystemExit) as refused:
        main(["transform", str(file), "-e", "vectorize(S, i)"])
    assert refused.value.code
    told = capsys.readouterr().err
    assert "hint: strip_mine(S, i, 64), Test = pretest(S, iT) is legal" in told
    with pytest.raises(SystemExit) as accepted:
        main(["transform", str(file), "-e", "strip_mine(S, i, 64)", "-e", "Test = pretest(S, iT)"])
    assert not accepted.value.code
