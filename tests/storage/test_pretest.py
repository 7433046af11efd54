"""`pretest`: blocks of iterations that change nothing are not run; the results are the same to the bit."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import islpy as isl
import pytest

from loopwright.errors import BadInput, Code, GaveUp
from loopwright.presburger.sets import OUT
from loopwright.progress import silent
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.tested_blocks import PAST_TESTS
from loopwright.prove.comparison.texts import Comparison
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.pretests import prove_pretests
from loopwright.prove.verdict import NOT_CHECKED, Refuted
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from tests.storage.attack import new_text
from tests.storage.test_expand import planned, written

STRIPS = "strip_mine(S, i, 8)\nT = pretest(S1, iT)\n"

FIRST = "S: if (a[i] > x) { x = a[i]; k = i; }"


def function(statements: str, value: str = "double", element: str = "double", name: str = "f") -> str:
    """A function with a loop around the statements, and what it uses before and after it."""
    return (
        f"static void {name}(int n, {value} *px, unsigned *pk, long *pj, {element} a[48],\n"
        f"  {element} b[6][8])\n"
        f"{{\n  {value} x = px[0], y = px[1]; unsigned k = *pk; long j = *pj;\n#pragma scop\n"
        f"  {statements}\n#pragma endscop\n  px[0] = x; px[1] = y; *pk = k; *pj = j;\n}}\n"
    )


def loop(statement: str) -> str:
    return f"for (int i = 0; i < n; i++) {{ {statement} }}"


@dataclass(frozen=True)
class Case:
    """A region, the types of x and of the array, and a script."""

    statements: str
    script: str = STRIPS
    value: str = "double"
    element: str = "double"


ROWS = "for (int i = 0; i < n && i < 6; i++)\n    for (int q = 0; q < 8; q++)\n      "

CASES = (
    Case(loop(FIRST)),
    Case(loop("S: if (a[i] >= x) { x = a[i]; k = i; }"), value="float", element="float"),
    Case(loop("S: if (x > a[i]) { k = 3 * i - 5; x = a[i]; j = -i; }"), value="int", element="int"),
    Case(
        loop("S: if (a[i] <= x) { k = i; x = a[i]; }"), f"{STRIPS}isolate(T, iT, [i])\nisolate(S1, iT, [i])"
    ),
    Case(loop("S: if (a[i] > x) { x = a[i]; k = i; }"), value="float"),  # x is rounded, or cut
    Case(loop(FIRST), value="int"),
    Case(loop(FIRST), value="unsigned char", element="int"),
    Case(loop(FIRST), value="unsigned", element="int"),
    Case(loop("S: if (fabs(a[i]) > x) { x = fabs(a[i]); k = i; }")),
    Case(loop("S: if (a[i] * 0.5 > fabs(x)) { x = -a[i]; k = i; }")),
    Case(loop("S: if (a[i] < (float)0.5) k = i;")),
    Case(loop("S: if (k < 5 || !(a[i] > y)) { x = a[i]; }")),
    Case(loop(f"{FIRST} a[i] = x;")),  # the maximum so far
    Case(loop(f"{FIRST} if (a[i] < y) {{ y = a[i]; j = i; }}"), f"{STRIPS}distribute(S1, S2)"),
    Case(loop(f"{FIRST} if (a[i] < y) {{ y = a[i]; k = i; }}"), "strip_mine(S, i, 4)\nU = pretest(S2, iT)"),
    Case(f"{ROWS}S: if (b[i][q] >= x) {{ x = b[i][q]; k = i; j = q; }}", "T = pretest(S, i)"),
    Case(f"{ROWS}S: if (b[i][q] > a[i]) {{ a[i] = b[i][q]; k = q; }}", "T = pretest(S, i)"),
    Case(
        f"{ROWS}S: if (b[i][q] > a[q]) a[q] = b[i][q];",
        "interchange(S, i, q)\nT = pretest(S, q)",
    ),
)

CHECK = """
static int check_NUMBER(int seed, int n)
{
  TYPE a[2][48], b[2][6][8];
  VALUE x[2][2];
  unsigned k[2] = {77, 77};
  long j[2] = {88, 88};
  srand(seed * 64 + n);
  int count = seed % 3 ? 12 : 4, up = seed % 7 == 0;
  for (int c = 0; c < 48; c++)
    a[1][c] = a[0][c] = up ? c : WHOLE ? rand() % count - 3 : some[rand() % count];
  for (int c = 0; c < 48; c++)
    b[1][c / 8][c % 8] = b[0][c / 8][c % 8] = WHOLE ? rand() % count : some[rand() % count];
  VALUE first = rand() % 2 && !INTEGER ? a[0][0] : INTEGER ? rand() % count : some[rand() % count];
  for (int c = 0; c < 4; c++) x[c / 2][c % 2] = first;
  old_NUMBER(n, x[0], &k[0], &j[0], a[0], b[0]);
  new_NUMBER(n, x[1], &k[1], &j[1], a[1], b[1]);
  return memcmp(x[0], x[1], sizeof x[0]) || k[0] != k[1] || j[0] != j[1]
      || memcmp(a[0], a[1], sizeof a[0]) || memcmp(b[0], b[1], sizeof b[0]);
}
"""

MAIN = """
int main(void)
{
  for (int seed = 0; seed < 300; seed++)
    for (int n = -1; n <= 40; n++) {
TRIED    }
  return 0;
}
"""

HEAD = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const double some[] = {0.0, -0.0, NAN, 1, 1, -1, 0.5, 2.25, 300, INFINITY, -INFINITY, 1e300};
"""


@cache
def program_of_all() -> str:
    """The original, what became of it, and the comparison for each of the cases."""
    texts, tried = [HEAD], []
    for number, case in enumerate(CASES):
        old, new = (
            function(case.statements, case.value, case.element, f"{one}_{number}") for one in ("old", "new")
        )
        plan = planned(f"#include <math.h>\n{new}", case.script)
        verdict = prove_plan(plan)
        assert verdict.proved, case
        is_whole, is_integer = "int" in case.element, case.value not in ("double", "float")
        check = CHECK.replace("NUMBER", str(number)).replace("TYPE", case.element)
        check = check.replace("VALUE", case.value).replace("WHOLE", str(int(is_whole)))
        texts += [new_text(plan, verdict), old, check.replace("INTEGER", str(int(is_integer)))]
        tried.append(f'      if (check_{number}(seed, n)) printf("{number} %d %d\\n", seed, n);\n')
    return "".join([*texts, MAIN.replace("TRIED", "".join(tried))])


@pytest.mark.parametrize("flags", [["-O3", "-march=native"], ["-O1", "-fsanitize=undefined,address"]])
def test_the_results_are_the_same_to_the_bit(flags: list[str], tmp_path: Path) -> None:
    """With -0.0, infinities, equal values and what is not a number, for -1 to 40 iterations."""
    source, built = tmp_path / "cases.c", tmp_path / "cases"
    source.write_text(program_of_all())
    subprocess.run(["gcc", "-w", "-ffp-contract=off", *flags, "-o", built, source, "-lm"], check=True)
    done = subprocess.run([built], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_the_text_is_a_test_of_each_block_and_its_iterations() -> None:
    plan = planned(function(loop(FIRST)), STRIPS)
    texts = [one.body.place.text for one in plan.program.statements]
    run, clear, test = texts
    assert run == "if (hit) if (a[i] > x) { x = a[i]; k = i; }"
    assert (clear, test) == ("hit = 0;", "hit |= a[i] > x;")
    assert plan.statements_at(plan.components["T"]) == (plan.program.statements[2].name,)


@pytest.mark.parametrize(("element", "flag"), [("float", "int"), ("int", "int"), ("double", "long long")])
def test_the_flag_is_as_wide_as_what_is_compared(element: str, flag: str) -> None:
    plan = planned(function(loop(FIRST.replace("k = i", "k = 0")), element, element), STRIPS)
    assert plan.program.array("hit").element_type == flag


def test_a_used_name_is_not_taken() -> None:
    plan = planned("int hit;\n" + function(loop(FIRST)), STRIPS)
    assert plan.program.statements[0].body.place.text.startswith("if (hit_) if")


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (loop(f"{FIRST} x *= 0.5;"), "S2 may change 'x' between S1 and its test"),
        (loop(f"{FIRST} a[i + 1] = y;"), "S2 may change 'a[i]'"),
        (loop("S: if (a[i] > x) { x = a[i]; a[i] = 0; }"), "'a[i]' may be another cell"),
        (loop("S: if (a[i] > a[8]) { a[8] = a[i]; k = i; }"), "'a[i]' may be another cell"),
        (loop("S: if (a[i] > x * 2) { x = a[i]; k = i; }"), "'x' changes"),
        (loop("S: if (k / i > 1) { k = i; }"), "'k' changes"),
        (loop("S: if (a[i] > x > 1) { x = a[i]; k = i; }"), "'x' changes"),
        (loop("S: if (x > 0 && a[i] > y) { x = a[i]; k = i; }"), "'x' changes"),
        (
            loop("S: if (k < 3 && a[i] > x) { x = a[i]; }"),
            "'x' may be another cell in another iteration, or un",
        ),
        (loop("S: if (sqrt(a[i]) > x) { x = a[i]; k = i; }"), "what 'sqrt(a[i])' may do"),
        (loop("S: if (a[i] > MORE) { x = a[i]; k = i; }"), "MORE is a macro"),
        (loop("S: if (a[i] > TWICE(y)) { x = a[i]; k = i; }"), "TWICE is a macro"),
        (loop("S: if (&a[i] > &a[n - i]) k = i;"), ""),
        (loop("S: if (pk > pk + i) k = i;"), ""),
    ],
)
def test_what_is_not_known_to_be_the_same_is_refused(statements: str, told: str) -> None:
    macros = "#include <math.h>\n#define MORE y ? 1 : 0\n#define TWICE(v) ((v) + (v))\n"
    with pytest.raises((GaveUp, BadInput)) as refused:
        prove_plan(planned(macros + function(statements), STRIPS))
    assert not told or (isinstance(refused.value, GaveUp) and told in refused.value.message)


def test_a_function_of_the_file_is_not_that_of_the_library() -> None:
    own = "static int calls;\nstatic double fabs(double v) { calls++; return v; }\n"
    text = own + function(loop("S: if (fabs(a[i]) > x) { x = a[i]; k = i; }"))
    with pytest.raises((GaveUp, BadInput)):
        prove_plan(planned(text, STRIPS))


@pytest.mark.parametrize(
    ("statement", "script"),
    [
        ("S: if (a[i] > x) { x = a[i]; } else k = i;", STRIPS),
        ("S: if (a[i]) k = i;", STRIPS),
        ("S: x += a[i];", STRIPS),
        (FIRST, "T = pretest(S, i)"),
        (FIRST, "strip_mine(S, i, 8)\nvectorize(S, i)\nT = pretest(S, iT)"),
        (FIRST, "isplit(S, {[i] : i > 3}, 0)\nstrip_mine(S, i, 8)\nT = pretest(S, iT)"),
        (f"{FIRST} y = 0;", "strip_mine(@6, i, 8)\nT = pretest(@6, iT)"),
    ],
)
def test_what_has_no_such_test(statement: str, script: str) -> None:
    with pytest.raises(BadInput) as refused:
        planned(function(loop(statement)), script)
    assert refused.value.code is not Code.INTERNAL


def test_a_volatile_variable_is_not_read_twice() -> None:
    text = function(loop(FIRST)).replace("double a[48]", "volatile double a[48]")
    with pytest.raises(BadInput, match="volatile"):
        planned(text, STRIPS)


def test_blocks_of_several_threads_are_refused() -> None:
    assert not prove_plan(planned(function(loop(FIRST)), f"{STRIPS}parallel(S1, iT)")).proved


def test_rows_of_several_threads_have_a_flag_each() -> None:
    rows = f"{ROWS}S: if (b[i][q] > a[i]) {{ a[i] = b[i][q]; }}"
    assert prove_plan(planned(function(rows), "T = pretest(S, i)\nparallel(S, i)")).proved


def test_another_program_is_noticed() -> None:
    (change,) = planned(function(loop(f"{FIRST} a[i] = y;")), STRIPS).storage
    prove_pretests(change)
    for number in range(4):
        one = change.after.statements[number]
        for entry in range(3 if number >= 2 else one.schedule.dim(OUT)):  # the order in (u, p - e) is free
            step = isl.MultiAff.identity_on_domain_space(one.schedule.get_space().range())
            step = step.set_aff(entry, step.get_aff(entry).add_constant_val(isl.Val(1)))
            later = replace(one, schedule=one.schedule.apply_range(isl.Map.from_multi_aff(step)))
            statements = tuple(later if it is one else it for it in change.after.statements)
            with pytest.raises(GaveUp):
                prove_pretests(replace(change, after=replace(change.after, statements=statements)))


@pytest.mark.parametrize(
    ("statement", "other"),
    [
        (FIRST, FIRST.replace(">", ">=")),
        (FIRST, FIRST.replace("k = i", "k = i + 1")),
        (FIRST, FIRST.replace("(a[i]", "(a[i + 1]")),
    ],
)
def test_another_text_is_noticed(statement: str, other: str) -> None:
    change, wrong = (planned(function(loop(text)), STRIPS).storage[0] for text in (statement, other))
    with pytest.raises(GaveUp):
        prove_pretests(replace(change, after=wrong.after))


def test_fewer_tests_are_noticed() -> None:
    (change,) = planned(function(loop(FIRST)), STRIPS).storage
    for number in (1, 2):
        one = change.after.statements[number]
        fewer = replace(one, domain=one.domain.lower_bound_val(isl.dim_type.set, 0, isl.Val(1)))
        statements = tuple(fewer if it is one else it for it in change.after.statements)
        with pytest.raises(GaveUp):
            prove_pretests(replace(change, after=replace(change.after, statements=statements)))


def test_the_new_text_says_that_the_checker_cannot_tell(tmp_path: Path) -> None:
    done = transformed(Request(written(tmp_path, function(loop(FIRST))), STRIPS, "s.lw"), silent)
    (region,) = done.regions
    assert "hit |= a[i] > x;" in done.source.text
    assert region.proof is not None and (region.proof.by, region.proof.status) == ("isl", NOT_CHECKED)


def emitted(tmp_path: Path, text: str, script: str, *, openmp: bool = False) -> str:
    request = Request(written(tmp_path, text), script, "s.lw", openmp=openmp)
    return transformed(request, silent).source.text


def compared(tmp_path: Path, old: str, new: str) -> Comparison:
    return compare_files(written(tmp_path, old, "old.c"), written(tmp_path, new, "new.c"))


@pytest.mark.parametrize(
    ("statements", "script"),
    [
        (loop(FIRST), STRIPS),
        (loop(FIRST), f"{STRIPS}isolate(T, iT, [i])\nisolate(S1, iT, [i])"),
        (loop(f"{FIRST} a[i] = x;"), STRIPS),
        (loop(f"{FIRST} if (a[i] < y) {{ y = a[i]; j = i; }}"), f"{STRIPS}U = pretest(S2, iT)\n"),
        (f"{ROWS}S: if (b[i][q] > a[i]) {{ a[i] = b[i][q]; }}", "T = pretest(S, i)\nparallel(S, i)"),
    ],
)
def test_the_new_file_is_proved_by_itself(tmp_path: Path, statements: str, script: str) -> None:
    old = function(statements)
    new = emitted(tmp_path, old, script, openmp=True)
    assert "hit |= " in new
    found = compared(tmp_path, old, new)
    assert found.proved and all(one.way.endswith(PAST_TESTS) for one in found.answers)
    assert all(one.texts is None for one in found.answers)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("hit |= a[i] > x;", "hit |= a[i] > 2 * x;"),
        ("hit |= a[i] > x;", "hit |= a[i + 1] > x;"),
        ("hit |= a[i] > x;", "hit = a[i] > x;"),
        ("hit |= a[i] > x;", "hit &= a[i] > x;"),
        ("hit |= a[i] > x;", "{ hit |= a[i] > x; a[n] = y; }"),
        ("hit = 0;\n", "hit = 0; x = y;\n"),
        ("if (hit) if", "if (!hit) if"),
        ("k = i; }\n", "k = i; }\n    j = hit;\n"),
        ("k = i; }\n", "k = i; }\n    x = 0.5 * x;\n"),
        ("k = i; }\n", "k = i; hit = 0; }\n"),
        ("8 * iT + 7); i++)\n      hit", "8 * iT + 6); i++)\n      hit"),
        ("for (int i = 8 * iT; i <= min(n - 1, 8 * iT + 7); i++)\n      hit", "      hit"),
        ("(n - 1, 8 * iT + 7); i++)\n      S", "(n - 1, 8 * iT + 8); i++)\n      S"),
    ],
)
def test_a_file_with_other_tests_is_not_proved(tmp_path: Path, part: str, other: str) -> None:
    old = function(loop(FIRST))
    new = emitted(tmp_path, old, STRIPS)
    assert part in new
    try:
        assert not compared(tmp_path, old, new.replace(part, other)).proved
    except BadInput as refused:
        assert refused.code is not Code.INTERNAL


def test_a_flag_that_is_not_cleared_runs_more_and_is_not_decided(tmp_path: Path) -> None:
    old = function(loop(FIRST))
    new = emitted(tmp_path, old, STRIPS).replace("    hit = 0;\n", "").replace("long long hit;", "")
    new = new.replace("  for (int iT", "  long long hit;\n  hit = 0;\n  for (int iT")
    assert not isinstance(compared(tmp_path, old, new).verdict, Refuted)
