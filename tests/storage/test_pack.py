"""`pack`: copies of what is read, before all loops or in each iteration of one."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from loopwright.errors import BadInput, Code, GaveUp, InternalError
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.storage import prove_storage, through_copies
from loopwright.prove.legality.suggest import cure, hint
from loopwright.prove.legality.values import ComparedRead
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from tests.storage.test_expand import function, planned, result, written

SPLIT = "  for (int i = 1; i < n - 1; i++) {\n    s = A[i][0];\n    x[i] = x[i - 1] + x[i + 1] * s;\n  }"
NODE = "  for (int i = 0; i < n - 1; i++) {\n    A[i][0] = x[i] * 2;\n    x[i] = A[i][0] + A[i + 1][0];\n  }"
PRODUCT = """\
void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        S: C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
TILED = "tile(S, i=8, j=16, k=32)\ninterchange(S, [jT, kT, iT, i, k, j])\n"


def test_a_node_is_split(tmp_path: Path) -> None:
    assert not prove_plan(planned(function(NODE), "distribute(S1, S2)")).proved
    text = result(tmp_path, function(NODE), "pack(A, S2)\ndistribute(S1, S2)").source.text
    assert "x[i] = A[i][0] + A_packed[i][0];" in text  # the value of this iteration is not the old one
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved


def test_splitting_the_node_is_named_as_the_cure() -> None:
    plan = planned(function(NODE), "distribute(S1, S2)")
    steps = cure(plan, prove_plan(plan))
    assert [str(one) for one in steps] == ["pack(A, S2)"]
    assert hint(steps).endswith("then old values of A are read from a copy")


def test_tiles_are_packed_and_transposed(tmp_path: Path) -> None:
    script = f"{TILED}P = pack(B, S, kT)\npack(A, S, iT, transposed)\n"
    text = result(tmp_path, PRODUCT, script).source.text
    assert "C[i][j] += A_packed[k - 32 * kT][i - 8 * iT] * B_packed[k - 32 * kT][j - 16 * jT];" in text
    assert "double B_packed[32][16];" in text and "double A_packed[32][8];" in text


def test_what_a_tile_writes_is_copied_back(tmp_path: Path) -> None:
    script = "tile(S, i=4, j=8)\ninterchange(S, [iT, jT, k, i, j])\n"
    script += "P = pack(C, S, jT, written)\nreverse(P, C_1)"
    text = result(tmp_path, PRODUCT, script).source.text
    assert "double C_packed[4][8];" in text
    assert "C_packed[C_1 - 4 * iT][C_2 - 8 * jT] = C[C_1][C_2];" in text
    assert "C[C_1][C_2] = C_packed[C_1 - 4 * iT][C_2 - 8 * jT];" in text
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved


BAND = """\
void f(int n, double A[n][n], double B[n][n]) {
#pragma scop
  for (int j = 0; j < n; j++)
    for (int i = j + 1; i < n; i++)
      for (int k = j + 1; k <= i; k++)
        S: A[i][k] -= A[i][j] * B[k][n - 1 + j - k];
#pragma endscop
}
"""


def test_a_diagonal_is_copied_into_a_row(tmp_path: Path) -> None:
    text = result(tmp_path, BAND, "pack(B, S, j)").source.text
    assert "S: A[i][k] -= A[i][j] * B_packed[k - j - 1];" in text
    assert "B_packed[B_1 - j - 1] = B[B_1][n + j - B_1 - 1];" in text
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved


LINES = """\
void f(int n, double A[n][2 * n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
      S: C[i][j] += A[j][j] * A[j - 1][j] + A[j][2 * j];
#pragma endscop
}
"""


def test_cells_of_several_lines_are_packed(tmp_path: Path) -> None:
    """The simple hull of what is read has a division that isl does not know."""
    text = result(tmp_path, LINES, "strip_mine(S, j, 4)\npack(A, S, jT)").source.text
    assert "A_packed[j - 4 * jT][j - 1]" in text


FIRST = """\
void f(int n, double x[n], double A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      S: A[i][j] = x[j];
      T: x[i] += A[i][j] * 2;
    }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("script", "proved", "copies"),
    [
        ("L = lift(S, 1)\npack(A, L, i, written)", True, 1),  # every cell is set before it is used
        ("pack(A, S, i, written)", False, 1),  # T reads what is still in the copy
        ("pack(A, S, j, written)", True, 1),
        ("pack(x, T, i, written)", False, 2),  # S reads x[i], to which T adds
        ("pack(x, T, j, written)", True, 2),
        ("pack(A, T, i, written)", False, 1),  # the copy comes before S
    ],
)
def test_cells_that_are_written(script: str, proved: bool, copies: int) -> None:
    plan = planned(FIRST, script)
    assert len(plan.program.statements) == 2 + copies
    assert prove_plan(plan).proved is proved


def test_only_what_is_used_again_is_packed() -> None:
    square = PRODUCT.replace("B[k][j]", "A[j][k]")
    script = "tile(S, j=8, i=4)\npack(A, S, jT, transposed, reused)"
    after = planned(square, script).program.region.text
    assert "C[i][j] += A[i][k] * A_packed[k][j - 8 * (j / 8)];" in after, after


def test_without_the_copy_before_or_after_a_value_is_missed() -> None:
    (change,) = planned(PRODUCT, "pack(C, S, j, written)").storage
    assert not prove_storage(change).wrong
    statements = change.after.statements
    for missing in statements[-2:]:
        after = replace(change.after, statements=tuple(one for one in statements if one is not missing))
        assert prove_storage(replace(change, after=after)).wrong


def test_a_copy_is_a_component(tmp_path: Path) -> None:
    plan = planned(PRODUCT, f"{TILED}P = pack(B, S, kT)\ninterchange(P, B_1, B_2)\nreverse(P, B_1)")
    assert prove_plan(plan).proved
    assert plan["S"].pack("A", "iT", name="Q").plan.components["Q"].positions


def test_reads_of_new_values_are_left_alone_or_refused() -> None:
    with pytest.raises(BadInput) as caught:
        planned(function("  for (int i = 1; i < n; i++)\n    x[i] = x[i - 1];"), "pack(x, S1)")
    assert caught.value.code is Code.STORAGE
    assert prove_plan(planned(function(SPLIT), "pack(x, S2)\nexpand(s, i)")).proved


def test_mutants_of_a_copy_are_refused() -> None:
    (change,) = planned(function(NODE), "pack(A, S2)").storage
    assert not prove_storage(change).wrong
    copy = change.after.statements[-1]
    read, write = copy.accesses
    mutants = []
    for access, cells in (
        (read, "A[a + 1, b]"),
        (read, "A[a, b + 1]"),
        (read, "A[a - 1, b]"),
        (write, "A_packed[a, b]"),
        (write, "A_packed[a - 2, b]"),
        (write, "A_packed[a - 1, b + 1]"),
        (write, "A_packed[0, b]"),
    ):
        moved = isl.Map(f"[n, m] -> {{ {copy.name}[a, b] -> {cells} }}").intersect_domain(copy.domain)
        pair = [replace(one, relation=moved) if one is access else one for one in (read, write)]
        mutants.append(replace(copy, accesses=tuple(pair)))
    half = copy.domain.intersect(isl.Set(f"[n, m] -> {{ {copy.name}[a, b] : a > 1 }}"))
    mutants.append(replace(copy, domain=half))
    late = isl.Map(f"[n, m] -> {{ {copy.name}[a, b] -> [9, a, 0, b, 0] }}")
    mutants.append(replace(copy, schedule=late))
    for mutant in mutants:
        after = replace(change.after, statements=(*change.after.statements[:-1], mutant))
        try:
            refused = bool(prove_storage(replace(change, after=after)).wrong)
        except InternalError:
            refused = True
        assert refused, mutant.accesses


def test_a_statement_that_is_no_copy_is_refused() -> None:
    (change,) = planned(function(NODE), "pack(A, S2)").storage
    copy = change.after.statements[-1]
    wrong = replace(copy, body=change.after.statements[0].body)
    after = replace(change.after, statements=(*change.after.statements[:-1], wrong))
    with pytest.raises(InternalError):
        prove_storage(replace(change, after=after))


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("pack(C, S)", Code.NO_VARIABLE),
        ("pack(Z, S)", Code.NO_VARIABLE),
        ("pack(A, S, t)", Code.NO_ITERATOR),
        ("pack(A, Z)", Code.NO_COMPONENT),
    ],
)
def test_what_has_no_meaning(script: str, code: Code) -> None:
    with pytest.raises(BadInput) as caught:
        planned(PRODUCT, script)
    assert caught.value.code is code and caught.value.span is not None


SCALED = """\
void f(int n, double w, double A[n][n], double B[n][n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        S: C[i][j] += w * A[i][k] * B[k][j];
#pragma endscop
}
"""


def test_a_copy_holds_products(tmp_path: Path) -> None:
    text = result(tmp_path, SCALED, "strip_mine(S, k, 8)\npack(A, S, kT, scaled)").source.text
    assert "= w * A[i][A_2];" in text
    assert "S: C[i][j] += A_packed[0][k - 8 * kT] * B[k][j];" in text
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved
    doubled = text.replace("= w * A[i][A_2];", "= w * A[i][A_2] * 2;")
    assert not compare_files(str(tmp_path / "k.c"), written(tmp_path, doubled, "wrong.c")).proved


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("w * A", "1 / w * A", "no read of A is multiplied"),  # (1 / w) * A[i][k]
        ("w * A", "(w + 1) * A", "no read of A is multiplied"),
        ("double w", "float w", "no read of A is multiplied"),
        ("double w", "int w", "no read of A is multiplied"),
        ("S: C", "w = 2; S: C", "no read of A is multiplied"),
        ("w * A[i][k] * B[k][j]", "w * A[i][k] + A[k][j] * w", "A is multiplied by different variables"),
    ],
)
def test_other_products_are_not_held(old: str, new: str, why: str) -> None:
    text = SCALED.replace(old, new).replace("w = 2; S: C", "{ w = 2; S: C").replace("B[k][j];", "B[k][j]; }")
    text = text if "{ w" in text else SCALED.replace(old, new)
    with pytest.raises(BadInput) as caught:
        planned(text, "pack(A, S, i, scaled)")
    assert why in caught.value.message


def test_mutants_of_a_product_are_refused() -> None:
    (change,) = planned(SCALED, "pack(A, S, i, scaled)").storage
    assert not prove_storage(change).wrong
    copy = change.after.statements[-1]
    cell = next(one for one in copy.reads if one.array == "A")
    moved = isl.Map(f"[n] -> {{ {copy.name}[i, a, b] -> A[b, a] }}").intersect_domain(copy.domain)
    accesses = tuple(replace(one, relation=moved) if one is cell else one for one in copy.accesses)
    other = (*change.after.statements[:-1], replace(copy, accesses=accesses))
    after = replace(change.after, statements=other)
    assert prove_storage(replace(change, after=after)).wrong
    for name in ("A_packed", "w"):  # another statement fills the buffer, or changes the factor
        writing = replace(cell, array=name, is_write=True)
        first, *rest = change.after.statements
        statements = (replace(first, accesses=(*first.accesses, writing)), *rest)
        with pytest.raises(InternalError, match="on which a buffer of products depends"):
            prove_storage(replace(change, after=replace(change.after, statements=statements)))


PARTS = "(S, Rest) = isplit(S, {[i, j, k] : i < 4 * [n/4] and j < 4 * [i/4]}, 0)\ntile(S, i=4, j=4)\n"


def test_a_part_of_a_statement_is_packed(tmp_path: Path) -> None:
    script = f"{PARTS}interchange(S, [iT, jT, k, i, j])\npack(C, S, jT, written)\npack(B, S, jT)\n"
    text = result(tmp_path, PRODUCT, script).source.text
    assert "C_packed[i - 4 * iT][j - 4 * jT] += A[i][k] * B_packed[k][j - 4 * jT];" in text
    assert "C[i][j] += A[i][k] * B[k][j];" in text  # what is left keeps its storage
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, text, "new.c")).proved


def test_the_last_tile_alone_is_packed() -> None:
    """Its number is the quotient [n / 16], which no bound gives without a division."""
    script = """\
interchange(S, [k, i, j])
(Rest, S) = isplit(S, {[k, i, j] : j < 16 * [n / 16]}, 0)
tile(S, j=16)
interchange(S, [jT, k, i, j])
pack(A, S, jT)
pack(B, S, jT)
"""
    plan = planned(PRODUCT, script)
    assert "for (int jT = " in plan.program.source.text and "n / 16" in plan.program.source.text
    assert prove_plan(plan).proved


def test_mutants_of_a_division_are_refused() -> None:
    change = planned(PRODUCT, f"{PARTS}pack(B, S, iT)").storage[0]
    assert change.division == {"S2": "S1"} and not prove_storage(change).wrong
    rest, part = change.after.statements
    fewer = part.domain.lower_bound_val(isl.dim_type.set, 2, isl.Val(1))
    later = part.schedule.fix_val(isl.dim_type.out, 0, isl.Val(7))
    swapped = (part.accesses[1], part.accesses[0], *part.accesses[2:])
    for mutant in (
        (rest, replace(part, domain=fewer)),
        (replace(rest, domain=change.before.statements[0].domain), part),
        (rest, replace(part, schedule=later)),
        (rest, replace(part, accesses=swapped)),
        (rest,),
    ):
        with pytest.raises(InternalError):
            prove_storage(replace(change, after=replace(change.after, statements=mutant)))


def test_packed_parts_have_no_directives_yet() -> None:
    with pytest.raises(BadInput, match="unrolled or marked"):
        planned(PRODUCT, f"{PARTS}unroll(S, j)\npack(B, S, iT)")


@pytest.mark.parametrize("last", [3, 30])
def test_values_that_copies_hand_on(last: int) -> None:
    """C copies what C copied before: three times is followed to the cell, thirty times is not."""
    cells = isl.Map("{ [t] -> a[t] }")
    copying = {"C": ComparedRead("C reads", cells, cells, None, "a[t]", None)}
    begun = isl.Map("{ C[0] -> a[0] }").set_tuple_name(isl.dim_type.in_, "C reads")
    passed = isl.Map("{ C[t] -> C[t - 1] : t > 0 }").set_tuple_name(isl.dim_type.in_, "C reads")
    passed = passed.set_tuple_name(isl.dim_type.out, "C writes 0")
    flow = {"C reads": isl.UnionMap.from_map(begun).union(isl.UnionMap.from_map(passed))}
    read = isl.Map(f"{{ S[t] -> C[t] : 0 <= t <= {last} }}").set_tuple_name(isl.dim_type.out, "C writes 0")
    with nullcontext() if last == 3 else pytest.raises(GaveUp, match="from copy to copy"):
        found = through_copies(isl.UnionMap.from_map(read), copying, flow)
        assert found is not None and found.is_equal(isl.UnionMap("{ S[t] -> a[0] : 0 <= t <= 3 }"))


TWICE = """\
void f(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      B[i][j] = 0;
      for (int k = 0; k < n; k++)
        B[i][j] += A[i][k] * D[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      Clear: C[i][j] = 0;
      for (int k = 0; k < n; k++)
        Sum: C[i][j] += A[j][k] * B[i][k];
    }
#pragma endscop
}
"""


@pytest.mark.parametrize("pack", ["pack(A, Sum, transposed)", "pack(C, Clear, written)"])
def test_nests_that_were_distributed_have_room_for_copies(pack: str) -> None:
    """Their places have negative parts after the first one: copies went into the nest, or into the next."""
    plan = planned(TWICE, f"distribute()\n{pack}")
    assert any(part < 0 for leaf in plan.leaves for part in leaf.position)
    assert prove_plan(plan).proved
    places = [leaf.position[0] for leaf in plan.leaves]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("script", ["pack(P, S1, written)", "pack(P, S2)"])
def test_parts_of_cells_are_not_packed(script: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("""
struct point { int x, y; } P[9];
void f(int n, int *B) {
#pragma scop
  for (int i = 1; i < n; i++) {
    P[i].x = 1;
    B[i] = P[i].y;
  }
#pragma endscop
}
""")
    with pytest.raises(BadInput, match="is a part of a cell"):
        transformed(Request(str(tmp_path / "p.c"), script=script), silent)


def test_the_place_in_a_copy_may_be_a_fraction_of_what_a_counter_is(tmp_path: Path) -> None:
    """The row i % 4 of every third i, counted in the copy by thirds."""
    loop = "for (int i = 0; i <= m; i += 3)\n    A[i + 2][9 - i] += A[2 * i][i + 2] + A[i % 4][i];"
    text = f"void f(int m, double A[24][24]) {{\n#pragma scop\n  {loop}\n#pragma endscop\n}}\n"
    found = result(tmp_path, text, "pack(A, S1, i, transposed)").source.text
    assert "A_packed[0][(12 * ((i + 11) / 12) - i) / 3]" in found
