"""What random attacks found: each input stays, with the answer that it has to get."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from loopwright.errors import BadInput, GaveUp
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.reader import read_c
from tests.fuzz.affine_cases import shows_a_difference
from tests.fuzz.affine_pairs import affine_pair
from tests.fuzz.hostile import answered
from tests.fuzz.programs import Array, Program
from tests.fuzz.teams import team_program
from tests.fuzz.transforms import Case, accepted, wrong

HEAD = "static void step(int *q, int x) { q[x] = q[x + 1] + 1; }\n"
HEAD += "typedef unsigned long word;\n"
HEAD += "void f(int n, int m, unsigned u, double A[24][24], int B[24])\n{\n  int s = 0;\n#pragma scop\n"
TAIL = "#pragma endscop\n}\n"


def made(body: str, script: str) -> str:
    return accepted(Case(0, Program(HEAD + body + TAIL, ()), tuple(filter(None, [script])))).new


ANSWERED = {
    "a condition that another one makes irrelevant": (
        "for (int i = n; i >= 1; i--) if (n <= n || s > 2) B[i] = s + i;\n"
        "for (int i = n; i >= 1; i--) if (!(n < n && s > 2)) A[1][i] = s + i;\n",
        "from_zero()",
    ),
    "an int that is given what is computed in long": (
        "for (int i = 0; i < m; i++) { int x = i + 0L; A[i][i] = x + B[i]; }\n",
        "L = lift(S1, 0)\ntile(L, i=3)",
    ),
    "a long that is a size, which is an int": (
        "for (long i = 0; i < n; i++) if (m == i) for (long j = 0; j <= n; j += 2) A[i][i] = B[j] - i;\n",
        "",
    ),
    "counters of a type with another name": (
        "for (word i = 0; i < m + 1; i++) { s = B[i]; B[0] = s + B[i]; }\n",
        "",
    ),
    "a 'do' loop, and nothing else that runs": (
        "{ int i = n; do { B[i] = 1; i -= 2; } while (i > 0); }\n"
        "for (int i = 1; i < n; i++) { if (n <= n) continue; B[i] = 2; }\n",
        "",
    ),
    "a loop left as it is has no start to count from": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { if (B[j] > 3) continue; B[i] = j; }\n",
        "from_zero()",
    ),
    "an empty block that is indented otherwise": (
        "for (int i = 2; i < m; i++) {\n  if (i == i || 0.25f == 1) {\n  }\n  B[i] = 1;\n}\n",
        "L = lift(S1, 0)\nunroll(L, i, 3)",
    ),
    "a loop up to != ends, though its last iterations do nothing": (
        "for (int i = n; i > 0; i -= 2) for (int j = 1; j != n; j++) { if (i % 3) continue; A[j][i] = 1; }\n",
        "",
    ),
    "a sum with the own iterator of a loop left as it is": (
        "for (int i = 2; i <= m; i += 2) for (int j = 1; j >= 1; j--) {"
        " if (B[i] > 2) continue; A[i + j][j] = 1; }\n",
        "from_zero()",
    ),
    "an argument whose type is not that of the new iterator": (
        "for (int i = 0; i < u; i++) s = 1;\nfor (int i = 0; i < n; i++) B[i] -= abs(i);\n",
        "L = lift(S1, 0)\nshift(L, i, -1)",
    ),
    "loops left as they are with iterators of one name and two types": (
        "for (int i = 0; i < n - 1; i++) { if (i < u) for (unsigned j = (int)u; j >= i; j--) s = j;\n"
        "else { for (int j = 0; j < n - i; j++) B[j] = 4;\n"
        "  for (int j = 2; j <= sizeof(int); j++) A[i][j] = 2; } }\n",
        "distribute()",
    ),
    "an argument that is computed in an unsigned type": (
        "for (unsigned i = 0; i < n; i++) step(B, i + i);\nfor (int i = 2; i < n / 2; i++) A[i][i] = 1;\n",
        "",
    ),
    "an argument over a small type that counts down": (
        "for (unsigned char i = 4; i >= 1; i--) if (i < m)\n"
        "  for (int j = i + 1; j >= 2; j--) step(1 + B, i - 1);\n",
        "pack(B, S1, i, reused)",
    ),
    "locals of values that are computed in a small type": (
        "for (unsigned char i = 0; i < 9; i++) {\n"
        "  int x = 2 * i; long y = i; unsigned z = i + 1, v = z * i; B[x] = y; A[z - 1][i] += x + v; }\n",
        "reverse(S2, i)",
    ),
    "a local in a loop with two counters, which is left as it is": (
        "for (int i = 1; i < n; i++) { int x = i; for (int k = 1, j = i; j < m; j++, k++) B[x] = k; }\n",
        "",
    ),
    "a local that was given an unsigned one": (
        "for (int i = 1; i < n; i++) { unsigned x = i;\n"
        "  if (m != 2) { int y = x + 1; B[y] += s; A[y + 1][i] *= B[x]; } }\n",
        "",
    ),
    "locals of values that are computed in an unsigned type": (
        "for (unsigned long i = 0; i < u; i++) { int x = 2 * i; A[i][x / 2] = x; }\n",
        "",
    ),
    "a copy where sizes are signed and unsigned": (
        "for (int i = m; i >= 1; i--) if (m < u) for (int j = i; j < n - i; j++) A[j][j] += B[2] * B[i];\n",
        "pack(B, S1, j)",
    ),
    "a number of blocks with a size that is converted": (
        "for (int i = 0; i < m; i++) { if (!(i >= u + 1)) continue; B[i] = 1; }\n",
        "block(S1, i)",
    ),
    "relations with redundancies": (
        "for (int i = 1; i < m; i++) B[i] = B[i - 1];\n"
        "for (int i = n; i > 0; i -= 2) {\n"
        "  for (int j = 0; j < n - i; j++) {\n"
        "    B[2] = s;\n"
        "    if (m <= n + 1) B[i] = A[i + 1][i]; else { B[j + 2] = B[i + 2]; A[3][3] += A[9 - j][0]; }\n"
        "  }\n"
        "  if (i >= m + 1)\n"
        "    for (int j = m + 1; j >= i; j--) { s = B[i + 1]; A[i + 2][0] = B[i - 1] * A[j + 1][0]; }\n"
        "}\n",
        "pack(B, S1, i)",
    ),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_what_was_an_internal_error(name: str) -> None:
    assert "#pragma scop" in made(*ANSWERED[name])


def test_a_variable_of_a_statement_that_never_runs() -> None:
    body = "for (int i = 0; i < n; i++) { s = B[i]; if (i < i) s = 3; B[i] = s; }\n"
    with pytest.raises(BadInput, match="never runs"):
        made(body, "expand(s, i)")


def test_names_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "k.c"
    text = HEAD + "for (int i = 0; i < n@; i++) B[i] = 1;\n" + TAIL
    path.write_bytes(text.encode().replace(b"@", b"\xae\xd3"))
    assert answered(["transform", str(path)])[0] == "2"


@pytest.mark.parametrize("cut", ["out[", "int q[", "[", "double z = sizeof(int["])
def test_a_file_that_ends_after_a_bracket(cut: str, tmp_path: Path) -> None:
    path = tmp_path / "k.c"
    path.write_text(HEAD + "for (int i = 0; i < n; i++) B[i] = 1;\n" + TAIL.rstrip("}\n") + "\n" + cut)
    assert answered(["transform", str(path)])[0] in ("0", "2")


def test_a_mark_of_the_byte_order_before_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "k.poly").write_bytes(b"\xef\xbb\xbfx\xb0\x7fa")
    status, said = answered(["codegen", str(tmp_path / "k.poly")])
    assert status == "2" and "byte 0xb0" in said


def test_a_sum_with_an_array_of_variable_length_is_a_pointer(tmp_path: Path) -> None:
    """The front end gives A + 1 the type of the array A."""
    path = tmp_path / "k.c"
    head = "void f(int n, double A[n])\n{\n  double *q = A + 1;\n#pragma scop\n"
    path.write_text(head + "for (int i = 2; i < n; i++) A[i] = q[i - 2];\n" + TAIL)
    assert read_c(path)[0].statements[0].accesses


def test_what_only_the_new_file_assumes_is_no_yes(tmp_path: Path) -> None:
    """n * 1u is not a number below 0: a loop that runs nowhere for n = -1 would run for ever."""
    text = "void f(int n, double A[24])\n{\n#pragma scop\nfor (int i = 0; i < n; i++) A[i] = 1;\n" + TAIL
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(text)
    new.write_text(text.replace("i < n", "i < n * 1u"))
    assert not compare_files(old, new).proved and compare_files(new, new).proved


def test_a_loop_that_does_not_run_may_start_beyond_a_narrow_type() -> None:
    body = "for (int i = 0; i < n; i++) { if (i < u) B[i] = 1; else s = 2; }\n"
    assert "for (long long i = ((long long)u); i < n" in made(body, "distribute()")


def test_sizes_that_the_proof_leaves_out_are_not_wrong() -> None:
    """i < n compares unsigned numbers, so that -3 is a large one: the proof says that n is not below 0."""
    head = "void f(int n, int m, unsigned u, short h, int B[24], double *out)\n{\n#pragma scop\n"
    text = head + "for (unsigned i = 2; i < 10; i++) if (i < n) B[i] = 3;\n" + TAIL
    case = accepted(Case(0, Program(text, (Array("B", "int", 1),)), ()))
    assert not case.pair.is_promised((-3, 2, 2, -2)) and case.pair.is_promised((0, 2, 2, 1))
    assert not wrong([case]) and wrong([replace(case, guarded=True)])


def test_which_cells_are_copied_is_a_condition_with_quotients() -> None:
    loops = "for (int i = n - 1; i > 0; i -= 2) for (int j = i; j < m; j++) for (int k = 0; k < m; k++)"
    body = f"{loops} s = B[j];\n"
    text = HEAD + body + "#pragma endscop\n  B[0] = s;\n}\n"
    assert "s = s_k[" in accepted(Case(0, Program(text, ()), ("expand(s, k)",))).new


PAIRS = {
    "a part of a subscript wraps around in fewer bits": ("B[i + 4] = 1", "B[i - 1u + 5L] = 1", Undecided),
    "the same part after a cast": ("B[i + 4] = 1", "B[(unsigned)i - 1 + 5L] = 1", Undecided),
    "a part that a cast alone makes unsigned": ("B[i + 4] = 1", "B[(unsigned)(i - 1) + 5L] = 1", Undecided),
    "a part that does not": ("B[i + 4] = 1", "B[i + 1u + 3L] = 1", Proved),
    "a shift by a number below 0": ("B[i] += i", "B[i << -1] += i", Undecided),
    "a shift by more bits than there are": ("B[i] += i", "B[i << 1000000000000] += i", Undecided),
    "a bound that shifts a number below 0": ("B[i] += i", "if (i < (n << 1) / 2) B[i] += i", Undecided),
    "a shift of an iterator, which is none": ("B[i] += i", "B[(i << 1) / 2] += i", Proved),
    "a name is declared nowhere": ("B[i] = i > n ? u : 1", "B[i] = i > n ? x : 1", Undecided),
    "a local of a type that cuts": ("unsigned char x = 2 * i; B[i] = x", "B[i] = 2 * i", Undecided),
    "a local in a quotient": ("long x = u; B[i] = (x - 9) / 2", "B[i] = (u - 9) / 2", Undecided),
    "a local that is unsigned": ("unsigned x = i; B[i] = (x - 9) / 2", "B[i] = (i - 9) / 2", Undecided),
    "a local that is unsigned, with its cast": (
        "unsigned x = i + 0L; B[i] = (x - 9) / 2", "B[i] = ((unsigned)(i + 0L) - 9) / 2", Proved,
    ),
    "a local that is 0 is not 1 in a witness": ("B[i] += s * i", "B[i] += s * (i + 1)", Undecided),
    "a local that is 0 is 0 in a witness": ("B[i] += s * i", "B[i] += s + i", Refuted),
}


def test_a_witness_names_what_the_function_is_given(tmp_path: Path) -> None:
    """m decides nothing but a value, and another number of it would show no difference."""
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    body = "for (unsigned i = 0; i < u; i++) if (m != u + 1) B[i] = 7;\n"
    old.write_text(HEAD + body + TAIL)
    new.write_text(HEAD + body.replace("m != u", "u != u") + TAIL)
    verdict = compare_files(old, new).verdict
    assert isinstance(verdict, Refuted) and verdict.parameters == {"u": 4, "m": 5}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_files(name: str, tmp_path: Path) -> None:
    old, new, answer = PAIRS[name]
    before, after = tmp_path / "old.c", tmp_path / "new.c"
    for path, statement in zip((before, after), (old, new), strict=True):
        path.write_text(HEAD + f"for (int i = 0; i < n; i++) {{ {statement}; }}\n" + TAIL)
    assert isinstance(compare_files(before, after).verdict, answer)


def test_a_parallel_loop_inside_of_lanes_has_no_directive() -> None:
    """OpenMP has no parallel region inside of a simd one: gcc refuses such a text."""
    body = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) A[i][j] = 1;\n"
    script = ("parallel(S1, j)", "vectorize(S1, i)")
    new = accepted(Case(0, Program(HEAD + body + TAIL, ()), script, openmp=True)).new
    assert "#pragma omp simd collapse(2)\n" in new and "#pragma omp parallel" not in new


def test_no_loop_inside_reuses_a_variable() -> None:
    body = "for (int i = 0; i < n; i++) B[i] = s;\n"
    with pytest.raises(BadInput, match="is of cells of its own"):
        made(body, "pack(s, S1, i, reused)")


def test_bounds_that_hold_nowhere_are_no_promise(tmp_path: Path) -> None:
    """Where j ends is not known, so that no size is known to be small enough; this says nothing of sizes."""
    path = tmp_path / "k.c"
    loop = "for (int k = 1, j = 1; j < n - i; j++, k++) { if (s) s = B[j] / s; A[j + 2][j - 1] = k; }"
    path.write_text(HEAD + f"for (int i = 0; i <= 9; i++) {{ {loop} if (i < u) B[i] = 1; }}\n" + TAIL)
    (program,) = read_c(path)
    assert not any(one.holds_for is not None and one.holds_for.is_empty() for one in program.assumptions)


def test_counters_of_one_name_in_loops_of_several_kinds(tmp_path: Path) -> None:
    """It was an internal error, of a new text with a `while` loop."""
    path = tmp_path / "k.c"
    loops = """for (int i = 0; i <= m; i += 1) {
  for (int j = 0; j < i + 1; j++) { if (j < u + 1) continue; A[i][i + i] *= A[1][j]; }
  if (m % 3 == 1) {
    int j = 0;
    while (j < n - i) { A[i + 2][4] -= B[j + 1]; j++; }
  } else
    for (int j = i; j < 10; j++) A[i][j - 1] *= i >= n ? B[i + 1] : A[j][8];
}
"""
    path.write_text(HEAD + loops + TAIL)
    assert answered(["transform", str(path)])[0] == "2"


def test_a_condition_on_what_is_no_longer_changed() -> None:
    """Without its writes `s` is a size, and the condition one on sizes: it was an internal error."""
    body = "for (int i = 0; i < n; i++) if (s != 0) B[i] = 1 / s;\n"
    body += "for (int i = 1; i < n; i++) { s = B[i]; A[i][0] = s; }\n"
    with pytest.raises(BadInput, match="would change 's'"):
        made(body, "rename(s, S2)")


def test_more_than_a_name_is_declared(tmp_path: Path) -> None:
    """It was an internal error."""
    path = tmp_path / "k.c"
    path.write_text(HEAD + "for (int i = 0; i < n; i++) { int (x) = B[i]; B[i] = x + 1; }\n" + TAIL)
    with pytest.raises(BadInput, match="this declares more than a name"):
        read_c(path)


def test_a_no_about_a_size_that_loops_up_to_ten_hide_below() -> None:
    """The loops up to 10 write again what differs: it was told as a wrong no."""
    seed = 10769976978570
    assert shows_a_difference(affine_pair(seed), seed)


def test_what_lastprivate_names_is_set() -> None:
    """Where no iteration sets it, both programs may leave anything: other bits were told as a wrong yes."""
    found = 0
    for seed in range(400):
        lines = team_program(random.Random(seed))[0].splitlines()
        for line, head in pairwise(lines):
            if "lastprivate" in line:
                found += 1
                assert "i < 9" in head or "i = 9" in head
    assert found > 10


BEYOND = "double A[24], B[24];\nvoid f(int n, int *q)\n{\n#pragma scop\n  for (int i = 0; i < n; i++) {\n"
BEYOND += "%s  }\n#pragma endscop\n}\n"
WRITTEN = "    if (q[i] > 0)\n      B[i + 20] = 1;\n"


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("    A[i] = 500000000L * i;\n", "    A[i] = 500000000 * i;\n", Refuted),
        ("", "    B[i + 20] = B[i + 20];\n", Undecided),
        ("", "    A[i * 6] = A[i * 6];\n", Undecided),
    ],
)
def test_what_data_keep_from_a_cell_says_nothing_of_sizes(
    old: str, new: str, answer: type[Refuted | Undecided], tmp_path: Path
) -> None:
    """`B[i + 20]` may never be touched: then n is any number, and NEW overflows or leaves its arrays."""
    paths = tmp_path / "old.c", tmp_path / "new.c"
    for path, more in zip(paths, (old, new), strict=True):
        path.write_text(BEYOND % (WRITTEN + more))
    assert isinstance(compare_files(*paths).verdict, answer)


def test_what_is_private_in_the_loops_of_a_team_stays_what_it_was() -> None:
    """`lastprivate(t)` in place of `private(t)` would change what is read afterwards."""
    loop = "#pragma omp for private(s)\nfor (int i = 1; i < 9; i++) { s = B[i + 1]; A[i][0] = s; }\n"
    head = HEAD.replace("#pragma scop\n", "#pragma omp parallel\n{\n#pragma scop\n")
    text = head + loop + loop.replace("][0]", "][1]") + "#pragma endscop\n}\n  B[0] = s;\n}\n"
    with pytest.raises(GaveUp, match="'s' is what it was after the old loops"):
        accepted(Case(0, Program(text, ()), ("fuse(S1, S2)",)))


def test_a_number_of_blocks_is_computed_from_one_below_0() -> None:
    body = "for (int i = n; i > 1; i--) B[i] += 1;\n"
    new = made(body, "strip_mine(S1, i, 3)\nshift(S1, i, -1)\nblock(S1, i)")
    assert "LW_GRID(min(-3, " in new


ELSEWHERE = """static void step(double *q, int x) { q[x] = q[x + 1] + 1; }
void f(int n, int m, double A[24])
{
  double *p = A + 1;
#pragma scop
  for (int i = 2; i < m; i++) {
    step(1 + A, i + n);
    p[i] *= A[i];
  }
#pragma endscop
}
"""


def test_an_argument_with_a_number_that_no_model_has() -> None:
    """Both of `p` and `A` are touched, so that nothing is known of subscripts, and `n` is no parameter."""
    new = accepted(Case(0, Program(ELSEWHERE, ()), ("distribute()",))).new
    assert "A[(long)(i + n) + 1] = A[(long)((i + n) + 1) + 1] + 1;" in new
