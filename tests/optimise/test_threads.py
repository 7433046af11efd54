"""Moves for several threads: loops in parts, copies of their own, rows that nothing waits for."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.errors import Code, GaveUp
from loopwright.optimise.candidates.judging import GIVEN, Judge
from loopwright.optimise.candidates.nests import SearchContext, targets
from loopwright.optimise.candidates.orders import cut_after, parallel
from loopwright.optimise.candidates.parts import parted, with_other_strips
from loopwright.optimise.candidates.structures import around
from loopwright.optimise.candidates.threads import among_threads, finer_tiles, in_parts, shared_by_threads
from loopwright.optimise.model.machine import CacheLevel
from loopwright.optimise.proving import first_proved
from loopwright.optimise.timing.trials import Trial
from loopwright.prove.legality.reductions import ordering
from loopwright.transform import plan_of
from loopwright.transform.perform import performed
from loopwright.transform.script.steps import parse_script
from tests.kernel_programs import kernel_program
from tests.optimise.test_registers import WIDE, judge_of


def test_threads_do_not_share_a_copy_that_is_made_again(tmp_path: Path) -> None:
    """Each iteration has its own copy where threads share a loop that makes one; inside it they share it."""
    text = """\
for (int i = 0; i < 96; i++)
  for (int k = 0; k < 400; k++)
    for (int j = 0; j < 96; j++)
      S: A[i][j] += B[i][k] * C[k][j];"""
    judge = judge_of(tmp_path, text)
    script = parse_script(
        "tile(S, k=200, i=48, j=24)\nstrip_mine(S, i, 4)\ninterchange(S, [kT, iT, jT, iT1, k, i, j])\n"
        "pack(C, S, jT)\npack(A, S, iT1, written)\n"
    )
    plan = performed(judge.plan, *script)
    scripts = [one for nest in targets(plan) for one in parallel(plan, nest, judge.setting)]
    found = {str(one[-1]).partition(", ")[2]: [str(step) for step in one[len(script) :]] for one in scripts}
    assert "expand(C_packed, iT)" in found["iT)"]
    assert "expand" not in " ".join(found["iT1)"])
    judged = [judge.estimated(one, "") for one in scripts if "expand(C_packed, iT)" in map(str, one)]
    assert len(judged) == 1 and judged[0] is not None


def test_data_that_other_nests_leave_in_a_cache_are_there_for_threads_too(tmp_path: Path) -> None:
    """A nest judged by itself seems to fetch all its data: nests after others were never shared."""
    text = """\
for (int i = 0; i < 400; i++)
  for (int j = 0; j < 400; j++)
    S: A[i][j] = B[i][j];
for (int i = 0; i < 400; i++)
  for (int j = 0; j < 400; j++)
    T: B[i][j] = A[i][j] * 2;"""
    judge = judge_of(tmp_path, text)
    judge = replace(judge, threads=2, setting=replace(judge.setting, threads=2))
    start, script = judge.original(), parse_script("parallel(T, i)")
    after = judge.estimated(script, "", (("S2",), start))
    judge.known.pop(script)
    whole = judge.estimated(script, "")
    assert after is not None and whole is not None
    assert after.cycles["S2"] == pytest.approx(whole.cycles["S2"], rel=0.02)


def test_an_inner_loop_is_shared_in_parts(tmp_path: Path) -> None:
    text = """\
for (int i = 0; i < 95; i++)
  for (int k = i + 1; k < 96; k++)
    for (int j = 0; j < 400; j++)
      S: B[i][j] += A[k][i] * B[k][j];"""
    judge = judge_of(tmp_path, text)
    judge = replace(judge, threads=2, setting=replace(judge.setting, threads=2))
    shared = among_threads(judge, judge.original())
    assert [str(one) for one in shared.script] == [
        "strip_mine(S, j, 200)",
        "interchange(S, [jT, i, k])",
        "parallel(S, jT)",
        "vectorize(S, j)",
    ]


def test_tiles_after_those_on_the_diagonal_are_shared() -> None:
    """Columns wait for a block of columns, not for each other; the block itself has nothing to share."""
    plan = plan_of(kernel_program("gramschmidt"))
    sizes = {"M": 640, "N": 720}
    setting = SearchContext(plan, WIDE, sizes, ordering(plan.original), threads=2)
    judge = Judge(plan, setting, math.inf, threads=2)
    script = parse_script(
        "distribute()\ntile(@35, k=1048576, j=120, skew)\n"
        "interchange(UpdateR, [i, j])\ninterchange(UpdateA, [i, j])\n"
    )
    given = judge.estimated(script, GIVEN)
    assert given is not None
    shared = among_threads(judge, given)
    assert [str(one) for one in shared.script[1:] if "interchange" not in str(one)][:4] == [
        "tile(@35, k=40, j=40, skew)",
        "(After, Before) = isplit(@35, {[kT, jT, k] : jT > kT}, 1)",
        "reorder(After, Before)",
        "parallel(After, jT)",
    ]
    assert not any("parallel(Before" in str(one) for one in shared.script)
    assert shared.total < 0.75 * given.total


def test_after_a_script_that_takes_too_long_to_prove_comes_one_with_some_of_its_steps() -> None:
    """Not the one that writes out half as much, and is slower."""
    jam = "unroll_and_jam(S, i=8)"
    texts = (f"{jam}\ntile(T, 32, 512, skew)", jam, "unroll_and_jam(S, i=4)")
    long, part, half = (Trial(parse_script(text), 1, "") for text in texts)

    def prove(one: Trial, limit: float) -> str:
        if one is long:
            raise GaveUp(Code.TIME, "too long")
        return "proved"

    assert first_proved([long, part, half], prove, lambda: 60.0) == (part, "proved")


@pytest.mark.parametrize(
    ("sum", "before", "part"),
    [
        ("B[i][j] += A[k][i] * B[k][j]", "8 * [i / 8] + 8 <= k", "p = [j / 200]"),
        ("C[i][k] += A[i][j] * B[k][j]", "8 * [i / 8] + 8 <= k", "p = [i / 8] % 2"),
    ],
    ids=["columns", "rows that take turns"],
)
def test_a_loop_over_parts_is_around_blocks_and_what_they_leave_over(
    tmp_path: Path, sum: str, before: str, part: str
) -> None:
    text = f"""\
for (int i = 0; i < 395; i++)
  for (int k = i + 1; k < 396; k++)
    for (int j = 0; j < 400; j++)
      S: {sum};"""
    judge = judge_of(tmp_path, text)
    judge = replace(judge, threads=2, setting=replace(judge.setting, threads=2))
    blocks = f"strip_mine(S, i, 8); (S, Near) = isplit(S, {{[iT, i, k, j] : {before}}}, 1); reorder(S, Near)"
    alone = judge.estimated(parse_script(blocks.replace("; ", "\n")), "")
    assert alone is not None
    shared = in_parts(judge, alone)
    assert shared is not None and shared.total < 0.6 * alone.total
    assert [str(one) for one in shared.script][:5] == [
        f"affine(S, {{[i, k, j] -> [p, i, k, j] : {part}}})",
        "strip_mine(S, i, 8)",
        f"(S, Near) = isplit(S, {{[p, iT, i, k, j] : {before}}}, 2)",
        "reorder(S, Near)",
        "parallel(S1, p)",
    ]


@pytest.mark.parametrize(
    ("last", "cut"),
    [
        ("k < 8 && k < i", ["(After, Before) = isplit(S, {[i, k, j] : i > 7}, 0)", "reorder(After, Before)"]),
        ("k < i", []),
    ],
    ids=["the first rows are waited for", "every row is"],
)
def test_rows_that_nothing_waits_for_are_shared(tmp_path: Path, last: str, cut: list[str]) -> None:
    text = f"""\
for (int i = 0; i < 90; i++)
  for (int k = 0; {last}; k++)
    for (int j = 0; j < 90; j++)
      S: A[i][j] -= A[k][j] * B[i][k];"""
    judge = judge_of(tmp_path, text)
    (nest,) = targets(judge.plan)
    scripts = list(cut_after(judge.plan, nest, "i", judge.setting))
    assert [[str(step) for step in one] for one in scripts] == ([[*cut, "parallel(After, i)"]] if cut else [])
    assert all(judge.estimated(one, "") is not None for one in scripts)


def test_few_large_tiles_become_smaller_ones_that_threads_share_evenly(tmp_path: Path) -> None:
    """Three tiles of 128 columns are two for one thread and one for the other."""
    text = """\
for (int i = 0; i < 3; i++)
  for (int k = 0; k < 396; k++)
    for (int j = 0; j < 384; j++)
      S: A[i][j] += B[i][k] * C[k][j];"""
    judge = judge_of(tmp_path, text)
    judge = replace(judge, threads=2, setting=replace(judge.setting, threads=2))
    script = parse_script("tile(S, j=128)\ninterchange(S, [jT, i, k])")
    start = judge.estimated(script, "")
    assert start is not None
    (nest,) = targets(start.plan)
    scripts = list(finer_tiles(judge, start, nest))
    assert [[str(step) for step in one] for one in scripts] == [
        [f"tile(S, j={size})", "interchange(S, [jT, i, k])", "parallel(S, jT)"] for size in (64, 32, 16)
    ]
    assert all(judge.estimated(one, "") is not None for one in scripts)


def test_a_loop_that_adds_to_the_same_cells_is_not_parted(tmp_path: Path) -> None:
    text = """\
for (int k = 0; k < 400; k++)
  for (int i = 0; i < 396; i++)
    for (int j = 0; j < 400; j++)
      S: C[i][j] += A[k][i] * B[k][j];"""
    judge = judge_of(tmp_path, text)
    small = replace(judge.setting.machine, caches=(CacheLevel(1 << 14, 1.0), CacheLevel(1 << 19, 1.0)))
    for machine, row in ((judge.setting.machine, 200), (small, 104)):  # a part of a row stays in the cache
        setting = replace(judge.setting, threads=2, machine=machine)
        found = list(parted(judge.plan, parse_script("unroll_and_jam(S, k=8)"), "S1", setting))
        parts = [str(one[0]).rpartition(" : ")[2] for one in found]
        assert parts == ["p = [i / 200]})", f"p = [j / {row}]}})"]


def test_sums_that_are_pushed_in_tiles_run_along_diagonals() -> None:
    """nussinov: on one thread the tiles stay in a cache, and threads share those on a diagonal."""
    program = kernel_program("nussinov")
    setting = SearchContext(plan_of(program), WIDE, {"N": 1600}, ordering(program), threads=2)
    judge = Judge(setting.start, setting, 10**6, clock=lambda: 0, threads=2)
    known = {origin: script for script, origin in around(judge.plan, setting) if "pushed" in origin}
    pushed, tiled = (judge.estimated(known[f"a sum pushed, {way}"], "") for way in ("not pulled", "in tiles"))
    assert pushed is not None and tiled is not None
    assert tiled.total < pushed.total
    shared = among_threads(judge, tiled)
    assert [str(step) for step in shared.script[len(tiled.script) :]][:3] == [
        "skew(@35, jT, iT)",
        "interchange(@35, iT, jT)",
        "parallel(@35, iT)",
    ]


@pytest.mark.parametrize(
    ("origin", "limits"),
    [(GIVEN, [10.0, 5.2]), ("other sizes", [15.0, 1.95])],
    ids=["half is kept for a script that was given", "a part is kept for shorter ones"],
)
def test_what_takes_too_long_to_prove_leaves_time_for_others(origin: str, limits: list[float]) -> None:
    """Twenty seconds are left; a proof that is not found takes its limit and two seconds more."""
    scripts = (parse_script(f"unroll_and_jam(S, {sizes})") for sizes in ("i=8, j=8", "j=8, i=8", "i=4"))
    long, long_too, short = (Trial(script, 1, "") for script in scripts)
    short = replace(short, origin=origin)
    left, asked = [20.0], list[float]()

    def prove(one: Trial, limit: float) -> str:
        asked.append(limit)
        if one is not short:
            left[0] -= limit + 2
            raise GaveUp(Code.TIME, "too long")
        return "proved"

    assert first_proved([long, long_too, short], prove, lambda: left[0]) == (short, "proved")
    assert asked == pytest.approx(limits)


def test_after_copies_that_take_too_long_to_prove_the_fastest_without_them_comes() -> None:
    texts = (
        "pack(A, S, i, written)\nunroll_and_jam(T, i=2)",
        "unroll_and_jam(S, i=8)",
        "unroll_and_jam(S, i=2)",
    )
    copied, fast, slow = (Trial(parse_script(text), 1, "") for text in texts)

    def prove(one: Trial, limit: float) -> str:
        if one is copied:
            raise GaveUp(Code.TIME, "too long")
        return "proved"

    assert first_proved([copied, fast, slow], prove, lambda: 60.0) == (fast, "proved")


def test_what_small_nests_write_out_does_not_count_beside_a_large_one() -> None:
    """After 16 x 4 come 8 x 4, and not 4 x 4, though all write out eight of another nest too."""
    other = "\nunroll_and_jam(T, i=8)"
    texts = (f"unroll_and_jam(S, i={rows}, k=4){other}" for rows in (16, 8, 4))
    large, half, quarter = (Trial(parse_script(text), 1, "") for text in texts)

    def prove(one: Trial, limit: float) -> str:
        if one is large:
            raise GaveUp(Code.TIME, "too long")
        return "proved"

    assert first_proved([large, half, quarter], prove, lambda: 60.0) == (half, "proved")


@pytest.mark.parametrize(
    ("needed", "result", "limits"),
    [
        ({"i=8": 13, "k=4": 2, "i=4": 2}, "k=4", [12, 5.2, 6]),
        ({"i=8": 13, "k=4": 20, "i=4": 5}, "i=4", [12, 5.2, 3]),
        ({"i=8": 11, "k=4": 2, "i=4": 2}, "i=8", [12]),
    ],
    ids=["a faster one is proved after it", "it is the result", "the fastest is proved at once"],
)
def test_time_is_kept_for_the_choice_of_the_model(
    needed: dict[str, float], result: str, limits: list[float]
) -> None:
    """The second of three scripts is half as long as the first, the third, the model's choice, is too."""
    trials = [Trial(parse_script(f"unroll_and_jam(S, {one})"), 1, "") for one in needed]
    seconds = {trial.script: one for trial, one in zip(trials, needed.values(), strict=True)}
    left, asked = [20.0], list[float]()

    def prove(one: Trial, limit: float) -> str:
        asked.append(limit)
        left[0] -= min(limit, seconds[one.script])
        if seconds[one.script] > limit:
            raise GaveUp(Code.TIME, "too long")
        return "proved"

    found = first_proved(trials, prove, lambda: left[0], trials[2].script)
    assert found == (trials[list(needed).index(result)], "proved")
    assert asked == pytest.approx(limits)


@pytest.mark.parametrize(("interrupts", "is_found"), [(1, True), (2, False)])
def test_an_interrupt_ends_one_proof_and_a_second_one_all(interrupts: int, *, is_found: bool) -> None:
    """Of a minute that is left, proofs of shorter scripts may take eight seconds more."""
    factors = ("i=8, j=8", "i=8, j=4", "i=2", "j=2")
    trials = [Trial(parse_script(f"unroll_and_jam(S, {one})"), 1, "") for one in factors]
    left, asked = [60.0], list[tuple[Trial, float]]()

    def prove(one: Trial, limit: float) -> str:
        asked.append((one, limit))
        left[0] -= 2
        if len(asked) <= interrupts:
            raise KeyboardInterrupt
        return "proved"

    found = first_proved(trials, prove, lambda: left[0])
    assert found == ((trials[1], "proved") if is_found else (None, None))
    assert asked == [(trials[0], 55.0), (trials[1], pytest.approx(5.2))][: len(asked)]


def test_loops_that_run_often_are_left_to_one_thread(tmp_path: Path) -> None:
    """Threads share the product in any case, and what runs in each of 90 steps where they may wait often."""
    text = """\
for (int t = 0; t < 90; t++) {
  for (int i = 0; i < 90; i++)
    for (int j = 0; j < 90; j++)
      S: A[i][j] = A[i][j] * 3 + B[t][0] * C[i][j];
  for (int i = 0; i < 90; i++)
    T: B[t + 1][i] = B[t][i] + A[0][i];
}
for (int i = 0; i < 90; i++)
  for (int k = 0; k < 90; k++)
    for (int j = 0; j < 90; j++)
      U: C[i][j] += A[i][k] * A[k][j];"""
    judge = judge_of(tmp_path, text)
    judge = replace(judge, threads=2, setting=replace(judge.setting, threads=2))
    few, many = (
        {step for step in map(str, among_threads(judge, judge.original(), most).script) if "parallel" in step}
        for most in (20, 1000)
    )
    assert (few, many) == ({"parallel(U, i)"}, {"parallel(U, i)", "parallel(S, i)"})


def test_steps_that_commute_are_not_for_several_threads(tmp_path: Path) -> None:
    """One thread may run them in any order; two would update one cell at the same time."""
    head = "for (int i = 0; i < 90; i++)\n  for (int j = 0; j < 90; j++)\n"
    judge = judge_of(tmp_path, f"{head}    S: row[j] |= H[i][j];")
    judge = replace(judge, setting=replace(judge.setting, dependences=ordering(judge.plan.original)))
    assert not judge.setting.dependences
    assert judge.estimated(parse_script("reverse(S, i)"), "") is not None
    assert judge.estimated(parse_script("parallel(S, j)"), "") is not None
    assert judge.estimated(parse_script("parallel(S, i)"), "") is None


def test_strips_are_as_long_in_all_steps_that_name_them() -> None:
    """In a strip of a factorisation one thread works alone: less in half of one, which several steps name."""
    program = kernel_program("lu")
    setting = SearchContext(plan_of(program), WIDE, {"N": 400}, ordering(program), threads=2)
    judge = Judge(setting.start, setting, math.inf, threads=2)
    judge.original()
    script = parse_script(
        "distribute(Left, Norm, Right)\naffine(Norm, {[i, j] -> [i, j, k] : k = j})\n"
        "fuse(Left, Norm, 3)\nfuse(Norm, Right, 3)\ninterchange(@31, [k, i, j])\nstrip_mine(@31, k, 40)\n"
        "(After, Panel) = isplit(@31, {[kT, k, i, j] : i >= 40 * kT + 40 and j >= 40 * kT + 40}, 1)\n"
        "reorder(After, Panel)\ninterchange(Panel, k, i)\ninterchange(After, k, i)\n"
    )
    half, twice = with_other_strips(script)
    assert "strip_mine(@31, k, 20)" in map(str, half) and "i >= 20 * kT + 20 and" in str(half[6])
    assert "80 * kT + 80" in str(twice[6]) and "40" not in str(twice[6])
    assert list(with_other_strips(parse_script("strip_mine(S, k, 40)"))) == []
    one = judge.estimated(script, "")
    assert one is not None
    strips = [
        [str(step) for step in found.script if "strip_mine" in str(step)]
        for found in shared_by_threads(judge, one)
    ]
    assert ["strip_mine(@31, k, 20)"] in strips and ["strip_mine(@31, k, 40)"] in strips
