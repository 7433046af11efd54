"""`expand`, from the script to a text that is proved; and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from loopwright.errors import BadInput, Code, GaveUp, Illegal, InternalError
from loopwright.model.program import MemorySpace, Program
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.storage import prove_storage
from loopwright.prove.legality.suggest import cure, cure_apart, suggestions
from loopwright.prove.verdict import Refuted
from loopwright.read.c.reader import parse_c, read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Outcome, ProverRequest, Request
from loopwright.source import Source
from loopwright.transform import FluentPlan, plan_of
from loopwright.transform.suggest import ProposalKind
from tests.storage.attack import attacked, new_text

PRODUCT = """\
void f(int n, int m, int p, double A[n][p], double B[p][m], double C[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double acc = 0.0;
      for (int k = 0; k < p; k++)
        Add: acc += A[i][k] * B[k][j];
      Get: C[i][j] = acc;
    }
#pragma endscop
}
"""

REORDER = "distribute(S1, Add, Get)\ninterchange(Add, j, k)\n"


def written(tmp_path: Path, text: str, name: str = "k.c") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def result(tmp_path: Path, text: str, script: str, prover: str = "isl") -> Outcome:
    request = Request(written(tmp_path, text), script, "s.lw", prover=ProverRequest(prover))
    return transformed(request, silent)


def program(text: str) -> Program:
    return parse_c(Source("k.c", text))[0]


def planned(text: str, script: str) -> FluentPlan:
    return plan_of(program(text)).transform(script)


def function(body: str, after: str = "") -> str:
    head = "double f(int n, int m, double A[n][m], double x[n]) {\n  double s = 0, t = 0, v[8];\n"
    return f"{head}#pragma scop\n{body}\n#pragma endscop\n  {after}\n}}\n"


def test_the_accumulator_blocks_the_order_and_expand_frees_it(tmp_path: Path) -> None:
    with pytest.raises(Illegal):
        result(tmp_path, PRODUCT, REORDER)
    outcome = result(tmp_path, PRODUCT, f"expand(acc, i, j)\n{REORDER}")
    text = outcome.source.text
    assert "acc_i_j[i][j] += A[i][k] * B[k][j];" in text
    assert text.startswith("#include <stdlib.h>\n") and text.count("free(acc_i_j_memory);") == 1
    (report,) = outcome.regions
    assert any("every read sees the same value" in proof.what for proof in report.proofs)
    assert report.proof is not None
    assert report.proof.by == "isl" or "except in acc, acc_i_j," in report.proof.detail
    new = written(tmp_path, text, "new.c")
    assert compare_files(str(tmp_path / "k.c"), new).proved


@pytest.fixture(scope="module")
def expanded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The product with its accumulator expanded."""
    folder = tmp_path_factory.mktemp("expanded")
    return result(folder, PRODUCT, f"expand(acc, i, j)\n{REORDER}").source.text


def test_both_branches_of_an_allocation_are_compared(tmp_path: Path, expanded: str) -> None:
    old = written(tmp_path, PRODUCT, "old.c")
    for right, wrong in (("acc_i_j[i][j] += ", "acc_i_j[i][j] -= "), ("  acc += ", "  acc -= ")):
        changed = written(tmp_path, expanded.replace(right, wrong), "new.c")
        assert expanded.count(right) == 1
        assert isinstance(compare_files(old, changed).verdict, Refuted)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("n > 0 && m > 0", "n > 0"),
        (" / (size_t)m", ""),
        ("(size_t)n * (size_t)m *", "(size_t)n *"),
        ("+ 63)", "+ 62)"),
        ("!= NULL", "== NULL"),
        ("double (*restrict acc_i_j)[m]", "double (*restrict acc_i_j)[n]"),
        ("double (*restrict acc_i_j)[m]", "float (*restrict acc_i_j)[m]"),
        ("free(acc_i_j_memory);", ""),
        ("free(acc_i_j_memory);", "free(acc_i_j_memory); free(acc_i_j_memory);"),
        ("acc_i_j[i][j] = 0.0;", "{ acc_i_j[i][j] = 0.0; free(acc_i_j_memory); }"),
        ("#include <stdlib.h>", "#include <stdlib.h>\n#define malloc(size) alloca(8)"),
        ("#include <stdlib.h>", ""),
        ("#include <stdlib.h>", "#include <stdlib.h>\n#define n (p++)"),
        ("#include <stdlib.h>", "#include <stdlib.h>\n#define double double) + puts((char *)0"),
        ("#include <stdlib.h>", "#include <stdlib.h>\n#define else"),
    ],
)  # fmt: skip
def test_no_other_allocation_is_accepted(tmp_path: Path, expanded: str, right: str, wrong: str) -> None:
    old = written(tmp_path, PRODUCT, "old.c")
    assert right in expanded
    with pytest.raises(BadInput):
        compare_files(old, written(tmp_path, expanded.replace(right, wrong), "new.c"))


def test_elements_may_have_a_type_with_a_name_of_its_own(tmp_path: Path) -> None:
    text = f"typedef double real;\n{PRODUCT.replace('double', 'real')}"
    new = result(tmp_path, text, f"expand(acc, i, j)\n{REORDER}").source.text
    assert "real (*restrict acc_i_j)[m] =" in new
    assert compare_files(str(tmp_path / "k.c"), written(tmp_path, new, "new.c")).proved


@pytest.mark.parametrize("name", ["free", "size_t", "malloc"])
def test_names_of_the_allocation_that_mean_something_else(name: str) -> None:
    text = PRODUCT.replace("int p,", f"int p, int {name},")
    with pytest.raises(BadInput, match=f"'{name}' is not what <stdlib.h> declares"):
        planned(text, "expand(acc, i)")


@pytest.mark.parametrize("front", ["// {}", "#ifdef NONE\n{}\n#endif"])
def test_a_header_that_is_not_included_is_added(front: str) -> None:
    header = "#include <stdlib.h>"
    plan = planned(front.format(header) + "\n" + PRODUCT, "expand(acc, i)")
    verdict = prove_plan(plan)
    assert new_text(plan, verdict).count(header) == 2


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("#define _GNU_SOURCE\n{}#include <stdio.h>\n", "", "{}#include <stdio.h>"),
        ('#include "own.h"\n#include <stdio.h>\n', "", '#include "own.h"\n{}'),
        ("", '\n#include "own.h"\nint more;\n', "{}void f"),
        ("", "\n#include <stdlib.h>\nint more;\n", "{}void f"),
    ],
    ids=["macros stand before it", "macros of a header of its own", "after the region", "itself after it"],
)
def test_a_header_is_added_where_macros_for_headers_are_defined(
    before: str, after: str, expected: str
) -> None:
    plan = planned(f"{before.format('')}{PRODUCT}{after}", "expand(acc, i)")
    assert expected.format("#include <stdlib.h>\n") in new_text(plan, prove_plan(plan))


def test_small_constant_sizes_are_on_the_stack(tmp_path: Path) -> None:
    body = "  for (int i = 0; i < 8; i++) {\n    s = x[i];\n    x[i] = s * 2;\n  }"
    plan = planned(function(body), "expand(s, i)")
    (made,) = (array for array in plan.program.arrays if array.space is not None)
    assert made.space is MemorySpace.STACK and made.extents == ("8",)
    text = result(tmp_path, function(body), "expand(s, i)\nreverse(S1, i)").source.text
    assert "malloc" not in text and "double s_i[8];" in text


def test_loops_that_do_not_start_at_zero_and_count_down(tmp_path: Path) -> None:
    body = "  for (int i = n - 2; i >= 3; i--) {\n    s = x[i];\n    x[i] = s + x[i - 1];\n  }"
    outcome = result(tmp_path, function(body), "expand(s, i)\ndistribute(S1, S2)")
    assert "s_i[n - i - 2] = x[i];" in outcome.source.text and "(n - 4) > 0" in outcome.source.text


def test_loops_that_end_at_a_quotient(tmp_path: Path) -> None:
    body = "  for (int i = 0; i < n / 2; i++) {\n    s = x[2 * i];\n    x[i] = s * 2;\n  }"
    outcome = result(tmp_path, function(body), "expand(s, i)\ndistribute(S1, S2)")
    assert "malloc((size_t)((n / 2)) * sizeof(double) + 63)" in outcome.source.text
    with pytest.raises(Illegal):
        waits = body.replace("i = 0", "i = 1").replace("x[2 * i]", "x[i - 1]")
        result(tmp_path, function(waits), "expand(s, i)\ndistribute(S1, S2)")


def test_an_array_is_expanded(tmp_path: Path) -> None:
    body = """\
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 8; j++)
      v[j] = A[i][j];
    for (int j = 0; j < 8; j++)
      A[i][j] = v[7 - j];
  }"""
    outcome = result(tmp_path, function(body), "expand(v, i)\ndistribute(S1, S2)")
    assert "v_i[i][7 - j]" in outcome.source.text and "double (*restrict v_i)[8]" in outcome.source.text


def test_iterations_are_independent_once_they_have_their_own(tmp_path: Path) -> None:
    body = "  for (int i = 0; i < n; i++) {\n    s = x[i];\n    x[i] = s * 2;\n  }"
    request = Request(written(tmp_path, function(body)), "expand(s, i)\nparallel(S1, i)", "s.lw", openmp=True)
    text = transformed(request, silent).source.text
    assert "#pragma omp parallel for\n" in text  # the pointer is shared, and never private


WRAPPED = """\
void f(int n, double *restrict a, double *restrict b) {
  double s, t, x = 1;
#pragma scop
BODY
#pragma endscop
}
"""
ROUND = "  for (int i = 0; i < n; i++) {\n    A: a[i] = b[i] + x;\n    T: x = b[i];\n  }"
SUMS = "  t = 0;\n  for (int i = 0; i < n; i++) {\n    s = b[i];\n    A: a[i] = s + t;\n    T: t = s;\n  }"


@pytest.mark.parametrize(
    ("body", "cured", "reads"),
    [
        (ROUND, ["expand(x, i)", "reorder(A, T)", "distribute()"], "a[i] = b[i] + x_i[i];"),
        (f"  x = b[0];\n{ROUND}", ["expand(x, i)", "reorder(A, T)", "distribute()"], "x_i[0] = b[0];"),
        (SUMS, ["expand(t, i)", "expand(s, i)", "reorder(A, T)", "distribute()"], "t_i[i + 1] = s_i[i];"),
        (ROUND.replace("x = b[i]", "x += b[i]"), [], ""),
        (ROUND.replace("i < n; i++", "i < n; i += 2"), [], ""),
    ],
)
def test_a_variable_that_wraps_around_has_a_cell_more(
    tmp_path: Path, body: str, cured: list[str], reads: str
) -> None:
    text = WRAPPED.replace("BODY", body)
    plan = planned(text, "vectorize(A, i)")
    verdict = prove_plan(plan)
    assert not verdict.proved
    steps = [str(one) for one in cure_apart(plan, verdict)]
    assert steps == cured
    suggested = [one.script.splitlines() for one in suggestions(plan_of(program(text))) if one.legal]
    found = [one for one in suggested if one[-1].startswith("parallel(")]
    assert bool(steps) == any(one[:1] == steps[:1] for one in found)
    if steps:
        new = result(tmp_path, text, "\n".join([*steps, "vectorize(A, i)"])).source.text
        assert reads in new


def test_what_is_looked_at_later_is_copied_back(tmp_path: Path) -> None:
    """The value of the last iteration, where there is one; of an array, cell by cell."""
    body = "  for (int i = 0; i < n; i++) {\n    s = x[i];\n    x[i] = s * 2;\n  }"
    outcome = result(tmp_path, function(body, "return s;"), "expand(s, i)\ndistribute(S1, S2)")
    assert "if (n >= 1)\n        s = s_i[n - 1];" in outcome.source.text
    rows = body.replace("s = x[i];", "for (int j = 0; j < 8; j++)\n      v[j] = A[i][j];")
    plan = planned(function(rows.replace("s * 2", "v[0]"), "return v[0];"), "expand(v, i)")
    assert prove_plan(plan).proved


WRONG = {
    "a value of the iteration before": ("s += x[i];", "", "S1(i = 0) reads s: what s held before"),
    "a write that may happen": ("if (x[i] > 0) s = x[i]; x[i] = s;", "", "what s held before the region"),
    "a loop between the two": ("s = x[i]; for (int j = 0; j < m; j++) t = s + t;", "", "reads t"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_refusal_names_the_read_and_both_values(case: str) -> None:
    body, after, witness = WRONG[case]
    variable = "t" if "between" in case else "s"
    plan = planned(function(f"  for (int i = 0; i < n; i++) {{ {body} }}", after), f"expand({variable}, i)")
    verdict = prove_plan(plan)
    assert not verdict.proved and verdict.wrong
    first = verdict.wrong[0]
    assert witness in f"{first.reader}: {first.wanted}" or witness in first.wanted
    assert first.found != first.wanted and first.text == f"expand({variable}, i)"


@pytest.mark.parametrize(
    ("script", "code"),
    [("expand(z, i)", Code.NO_VARIABLE), ("expand(s, k)", Code.NO_ITERATOR), ("expand(x, i)", None)],
)
def test_what_has_no_meaning(script: str, code: Code | None) -> None:
    text = function("  for (int i = 0; i < n; i++) {\n    s = x[i];\n    x[i] = s * 2;\n  }")
    if code is None:
        assert not prove_plan(planned(text, script)).proved
        return
    with pytest.raises(BadInput) as caught:
        planned(text, script)
    assert caught.value.code is code and caught.value.span is not None


def test_an_order_that_is_illegal_before_the_change_is_refused() -> None:
    text = function("  for (int i = 1; i < n; i++) {\n    s = x[i - 1];\n    x[i] = s * 2;\n  }")
    assert prove_plan(planned(text, "expand(s, i)")).proved
    verdict = prove_plan(planned(text, "reverse(S1, i)\nexpand(s, i)\nreverse(S1, i)"))
    assert verdict.violations and not verdict.proved


def test_cvc5_is_not_said_to_agree(tmp_path: Path) -> None:
    text = function("  for (int i = 0; i < n; i++) {\n    s = x[i];\n    x[i] = s * 2;\n  }")
    with pytest.raises(GaveUp, match="storage has changed"):
        result(tmp_path, text, "expand(s, i)", "cvc5")


def test_a_variable_of_two_regions_is_expanded_in_both(tmp_path: Path) -> None:
    body = "  for (int i = 0; i < n; i++) {\n    s = x[i];\n    x[i] = s * 2;\n  }"
    text = function(body) + function(body).replace("double f(", "double g(")
    assert result(tmp_path, text, "expand(s, i)").source.text.count("s_i[i] = x[i];") == 2


def mutants(change_after: Program) -> list[Program]:
    """The program with one access, or two of one statement, to other cells of the new array."""
    found = []
    for statement in change_after.statements:
        for k, access in enumerate(statement.accesses):
            if access.array != "acc_i_j":
                continue
            for shift in ("[i + 1, j]", "[i, j - 1]", "[0, j]", "[j, i]", "[i, 0]"):
                iterators = ", ".join(statement.iterators)
                moved = isl.Map(f"[n, m, p] -> {{ {statement.name}[{iterators}] -> acc_i_j{shift} }}")
                accesses = list(statement.accesses)
                accesses[k] = replace(access, relation=moved.intersect_domain(statement.domain))
                changed = replace(statement, accesses=tuple(accesses))
                statements = tuple(changed if one is statement else one for one in change_after.statements)
                found.append(replace(change_after, statements=statements))
    return found


def test_mutants_of_the_storage_map_are_refused() -> None:
    (change,) = planned(PRODUCT, "expand(acc, i, j)").storage
    assert not prove_storage(change).wrong
    made = mutants(change.after)
    assert len(made) == 20
    for mutant in made:
        try:
            refused = bool(prove_storage(replace(change, after=mutant)).wrong)
        except InternalError:
            refused = True
        assert refused


def test_another_operation_is_no_change_of_storage() -> None:
    (change,) = planned(PRODUCT, "expand(acc, i, j)").storage
    other = planned(PRODUCT.replace("acc +=", "acc -="), "expand(acc, i, j)").program
    with pytest.raises(InternalError):
        prove_storage(replace(change, after=other))


def test_accepted_scripts_change_no_bit() -> None:
    outcomes, wrong = attacked(24, seed=3)
    assert not wrong and outcomes["accepted"] >= 5 and outcomes["refused"] >= 5


def test_a_refusal_names_the_cure(tmp_path: Path) -> None:
    with pytest.raises(Illegal) as caught:
        result(tmp_path, PRODUCT, REORDER)
    assert caught.value.hint is not None and caught.value.hint.startswith("expand(acc, i, j) at the start")


def test_a_cure_may_need_loops_of_their_own() -> None:
    body = "    s = 0;\n    for (int j = 0; j < n; j++)\n      s += A[j][i];\n    x[i] = s;"
    plan = planned(function(f"  for (int i = 0; i < n; i++) {{\n{body}\n  }}"), "interchange(S2, i, j)")
    verdict = prove_plan(plan)
    assert cure(plan, verdict) == ()
    assert [str(one) for one in cure_apart(plan, verdict)] == ["expand(s, i)", "distribute()"]


def test_expansion_is_suggested_where_it_frees_an_order() -> None:
    tried = suggestions(plan_of(program(PRODUCT)))
    found = [one for one in tried if one.script.startswith("expand(acc, i, j)")]
    assert {one.kind for one in found} >= {ProposalKind.INTERCHANGE, ProposalKind.TILING}
    assert all(one.legal and prove_plan(planned(PRODUCT, one.script)).proved for one in found)


def test_no_cure_is_named_that_does_not_help() -> None:
    text = function("  for (int i = 1; i < n; i++) {\n    s = x[i - 1];\n    x[i] = s * 2;\n  }")
    plan = planned(text, "reverse(S1, i)")
    assert cure(plan, prove_plan(plan)) == ()


def test_storage_stays_where_unknown_calls_may_touch_it() -> None:
    text = function("  for (int i = 0; i < n; i++) {\n    s = x[i];\n    x[i] = s * 2;\n    g(x);\n  }")
    with pytest.raises(BadInput):
        planned(f"void g(double *);\n{text}", "expand(s, i)")


def test_steps_that_conditions_of_other_loops_restrict(tmp_path: Path) -> None:
    """isl asks for explicit quotients where it is to say what bounds an iterator."""
    text = (
        "void f(int m, double a[64], double b[64], double t, double *out)\n{\n#pragma scop\n"
        "  for (int i = 2; i <= m; i += 3)\n    for (int j = 1; j <= i; j += 3) {\n"
        "      if ((i + 1) % 2 == 0) continue;\n      if (a[j] != 0) t = b[i] / a[j];\n    }\n"
        "#pragma endscop\n  *out = t;\n}\n"
    )
    (tmp_path / "k.c").write_text(text)
    (program,) = read_c(tmp_path / "k.c")
    with pytest.raises(BadInput, match="which iteration writes t last"):
        plan_of(program).transform("expand(t, j)")
