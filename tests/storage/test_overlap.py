"""`overlap`: tiles of several steps, with redundant halos; the order is a relation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import islpy as isl
import pytest

from loopwright.errors import BadInput, GaveUp, LoopwrightError
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.storage import prove_storage
from loopwright.prove.legality.values import StorageVerdict
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from loopwright.transform import Plan, plan_of
from loopwright.transform.storage import StorageChange, replaced_text

HEAD = "void f(int m, int n, double a[n], double b[n])\n{\n  int t, i;\n#pragma scop\n"
STEPS = """\
  for (t = 0; t < m; t++) {
    for (i = 1; i < n - 1; i++)
      New: b[i] = 0.5 * (a[i - 1] + a[i + 1]) + b[0];
    for (i = 1; i < n - 1; i++)
      Old: a[i] = b[i];
  }
"""
SCRIPT = "L = lift(New, 1)\n(T, C) = overlap(L, t=2, i=8)\n"
WHOLE = SCRIPT.replace("i=8", "i=8, whole")


def planned(body: str, script: str = SCRIPT) -> Plan:
    (program,) = parse_c(Source("f.c", f"{HEAD}{body}#pragma endscop\n}}\n"))
    return plan_of(program).transform(script)


@cache
def change(script: str = SCRIPT) -> StorageChange:
    return planned(STEPS.replace(" + b[0]", ""), script).storage[0]


@pytest.mark.parametrize("script", [SCRIPT, WHOLE])
def test_every_value_is_the_original_one(script: str) -> None:
    verdict = prove_storage(change(script))
    assert not verdict.wrong and verdict.obligations > 20


def test_whole_tiles_have_loops_of_constant_length() -> None:
    text = change(WHOLE).after.region.text
    assert text.count("i = 8 * iT - (1); i <= 8 * iT + 7 + (1)") == 4, text


def test_what_is_computed_of_unknown_values_is_no_value() -> None:
    """All instances of whole tiles taken for instances of the original: outside of the bounds none is one."""
    right = change(WHOLE)
    assert right.redundancy is not None and len(right.redundancy.instances) == 4
    verdict = prove_storage(replace(right, redundancy=replace(right.redundancy, instances={})))
    assert verdict.wrong and "reads a[i - 1]" in str(verdict.wrong)


@pytest.mark.parametrize(("old", "new"), [("double", "long"), ("0.5 * (a[i - 1]", "0.5 * ((int)a[i - 1]")])
def test_operations_that_may_be_undefined_are_not_run_on_unknown_values(old: str, new: str) -> None:
    head, body = HEAD.replace(old, new), STEPS.replace(" + b[0]", "").replace(old, new)
    (program,) = parse_c(Source("f.c", f"{head}{body}#pragma endscop\n}}\n"))
    with pytest.raises(GaveUp, match="may be undefined"):
        prove_storage(plan_of(program).transform(WHOLE).storage[0])


def test_blocks_are_independent_and_steps_are_not() -> None:
    body = STEPS.replace(" + b[0]", "")
    assert prove_plan(planned(body, f"{SCRIPT}block(T, iT)\nthread(C, i=8)\n")).proved
    assert not prove_plan(planned(body, f"{SCRIPT}block(T, tT)\n")).proved


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("i = 8 * iT - (2); i <= 8 * iT + 7 + (2)", "i = 8 * iT - (1); i <= 8 * iT + 7 + (2)", "a[i - 1]"),
        ("i <= 8 * iT + 7 + (1 * ", "i <= 8 * iT + 6 + (1 * ", ""),
        ("= a[i]", "= b[i]", "touches b[0]"),
        ("= a_next[i]", "= a[i]", "reads a[i]"),
        ("a_next[i] = a_tile", "a[i] = a_tile", ""),
        ("t <= 0 + 4 * tT + 0 + 1", "t <= 0 + 4 * tT + 0", "leave out S1(t = 1"),
        ("a_tile[12]", "a_tile[11]", "a_tile[11]"),
        ("i = 8 * iT; i <= 8 * iT + 7", "i = 8 * iT + 1; i <= 8 * iT + 7", ""),
        ("4 * tT <= m - 1", "4 * tT <= m - 2", "leave out"),
    ],
)
def test_wrong_tiles_are_refused_with_a_read(old: str, new: str, said: str) -> None:
    verdict = verdict_on(change(), old, new)
    assert verdict.wrong and said in str(verdict.wrong)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i = 8 * iT - (2); i <= 8 * iT + 7 + (2)", "i = 8 * iT - (1); i <= 8 * iT + 7 + (2)"),
        ("i = 8 * iT - (1); i <= 8 * iT + 7 + (1)", "i = 8 * iT; i <= 8 * iT + 7 + (1)"),
        ("= a_next[i]", "= a[i]"),
        ("t <= 0 + 4 * tT + 0 + 1", "t <= 0 + 4 * tT + 0 + 2"),
        ("i = 8 * iT; i <= 8 * iT + 7", "i = 8 * iT - 1; i <= 8 * iT + 7"),
    ],
)
def test_wrong_whole_tiles_are_refused(old: str, new: str) -> None:
    assert verdict_on(change(WHOLE), old, new).wrong


def verdict_on(right: StorageChange, old: str, new: str) -> StorageVerdict:
    """What is said of the text of tiles with a part replaced."""
    text = right.after.region.text
    assert old in text, text
    body = text.replace(old, new, 1)
    arrays = [array for array in right.after.arrays if array.space is not None]
    declared, _, rest = body.partition("for (")
    sizes = {one.name: one for one in arrays}
    for word in declared.split(";")[:-1]:
        name, extent = word.split()[1].rstrip("]").split("[")
        sizes[name] = replace(sizes[name], extents=(extent,))
    wrong = replaced_text(right.before, f"for ({rest}", list(sizes.values()))
    return prove_storage(replace(right, after=wrong))


def test_what_is_told_of_copies_is_only_a_guide() -> None:
    """Another time for the cells that copies are of, and another statement that is computed."""
    right = change()
    claimed = right.redundancy
    assert claimed is not None
    later = {name: replace(one, time=_later(one.time)) for name, one in claimed.held.items()}
    assert prove_storage(replace(right, redundancy=replace(claimed, held=later))).wrong
    others = {name: "S2" if one == "S1" else "S1" for name, one in claimed.computes.items()}
    with pytest.raises(LoopwrightError):
        prove_storage(replace(right, redundancy=replace(claimed, computes=others)))


def _later(time: isl.Map) -> isl.Map:
    """One step later."""
    step = isl.Map("{ [p, t, q, i, r] -> [p, t + 1, q, i, r] }")
    return time.apply_range(step)


@pytest.mark.parametrize(
    ("body", "script", "message"),
    [
        (STEPS, SCRIPT, "b[0]"),
        (STEPS.replace(" + b[0]", " + b[2 * i]"), SCRIPT, "b[2 * i]"),
        (STEPS, "L = lift(New, 1)\n(T, C) = overlap(L, t=2)\n", "a size for each loop"),
        (STEPS, "(T, C) = overlap(New, t=2, i=8)\n", "not the whole region"),
        (STEPS, "L = lift(New, 1)\nshift(L, t, 1)\n(T, C) = overlap(L, t=2, i=8)\n", "operation changed"),
        (STEPS, "parallel(Old, i)\n" + SCRIPT, "are marked already"),
    ],
)
def test_what_is_no_stencil(body: str, script: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        planned(body, script)
    assert message in caught.value.message


def test_a_step_that_reads_what_it_writes_is_refused() -> None:
    loops = "  for (t = 0; t < m; t++)\n    for (i = 1; i < n - 1; i++)\n"
    body = f"{loops}      New: a[i] = a[i - 1] + a[i + 1];\n"
    assert not prove_plan(planned(body)).proved


def test_refusals_say_which_form_is_taken() -> None:
    body = STEPS.replace(" + b[0]", "")
    with pytest.raises(BadInput) as caught:
        planned(body.replace("t < m", "t < m / 2"))
    assert caught.value.message.startswith("the bounds of t are not plain sums of sizes")
    assert caught.value.hint is not None and "m / 2" in caught.value.hint
    head = HEAD.replace("double a[n]", "double g[2][n]")
    loops = "  for (t = 0; t < m; t++)\n    for (i = 1; i < n - 1; i++)\n"
    text = f"{head}{loops}      New: g[(t + 1) % 2][i] = g[t % 2][i - 1];\n"
    (program,) = parse_c(Source("f.c", f"{text}#pragma endscop\n}}\n"))
    with pytest.raises(BadInput) as caught:
        plan_of(program).transform(SCRIPT)
    assert caught.value.hint is not None and caught.value.hint.startswith("use two arrays")
