"""Tests `transform` on worksharing loops in a `parallel`: accepted results are run with threads.

Programs that race by themselves are ignored, which the runs of the original detect.
"""

from __future__ import annotations

import random
from collections import Counter

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.model.program import Program
from loopwright.progress import silent
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from tests.fuzz.findings import Finding
from tests.fuzz.judge import Pair
from tests.fuzz.limits import Late, limited
from tests.fuzz.mutants import Mutant
from tests.fuzz.places import old_path
from tests.fuzz.programs import PARAMETERS, Array
from tests.fuzz.scripts import random_operation

CLAUSES = ("", "", "", " nowait", " nowait", " schedule(static, 2)", " schedule(dynamic)",
           " schedule(static) nowait", " private(t)", " lastprivate(t)", " firstprivate(w)",
           " collapse(2)")  # fmt: skip
OWN = (
    ("  {k} w = n;",),
    ("  {k} t = m;",),
    ("  {k} w = omp_get_thread_num();",),
    ("  {k} w = 0;", "#pragma omp for schedule(static)", "  for (int k = 0; k < 7; k++) w += k;"),
    ("  {k} w = 1;", "  if (omp_get_thread_num() > 0) w = 2;"),
)
"""What a thread does before: some have another value of their own then than others."""
OF_ONE = ("reverse({0}, {1})", "tile({0}, {1}=3)", "shift({0}, {1}, 1)", "unroll({0}, {1}, 2)")
OF_TWO = ("interchange({0}, {1}, {2})", "skew({0}, {2}, {1}, 1)", "tile({0}, {1}=3, {2}=2)")


class _TeamMaker:
    """Loops whose iterations are independent of each other, but for a few."""

    def __init__(self, rng: random.Random, arrays: tuple[Array, ...], *, is_unlike: bool) -> None:
        self.rng = rng
        self.arrays = arrays
        self.is_unlike = is_unlike

    def cell(self, one: Array, loops: str, *, near: bool) -> str:
        by = (self.rng.choice(("", "", " + 1", " - 1") if near else ("",)) for _ in range(one.rank))
        names = (loops[k % len(loops)] for k in range(one.rank))
        return one.name + "".join(f"[{name}{more}]" for name, more in zip(names, by, strict=True))

    def statements(self, loops: str, clause: str) -> list[str]:
        target = self.rng.choice(self.arrays)
        others = [one for one in self.arrays if one != target or self.rng.random() < 0.1] or [target]
        read = [self.cell(one, loops, near=one != target) for one in self.rng.choices(others, k=2)]
        to = self.cell(target, loops, near=self.rng.random() < 0.08)
        if "(t)" in clause:
            return [f"t = {read[0]};", f"{to} = t + {read[1]};"]
        if "(s)" in clause or ":s" in clause:
            return [f"s += {read[0]};", *([f"{to} = {read[1]};"] if self.rng.random() < 0.4 else [])]
        more = self.rng.choice(("* w", "+ w") if self.is_unlike else (f"+ {read[1]}", "* w", "+ i", "+ t"))
        return [f"{to} {self.rng.choice(('=', '=', '+='))} {read[0]} {more};"]

    def divided(self) -> list[str]:
        rng = self.rng
        clause = rng.choice(CLAUSES) if rng.random() < 0.85 else " reduction(+:s)"
        if self.is_unlike:  # which thread runs an iteration counts, and is said
            clause = " schedule(static)"
        is_last = "lastprivate" in clause  # without a last iteration that sets it, its value may be any
        is_nest = rng.random() < 0.4 or "collapse" in clause
        body = self.statements("ij" if is_nest else "i", clause)
        if is_nest:
            high = "8" if is_last else rng.choice(("m", "m", "8", "i + 1"))
            body = [f"for (int j = 1; j < {high}; j++) {{", *(f"  {one}" for one in body), "}"]
        low = rng.choice(("1", "1", "2", "0"))
        high = "9" if is_last else rng.choice(("n", "n", "m", "n - 1", "9"))
        head = f"for (int i = {low}; i < {high}; i++) {{"
        if rng.random() < 0.1:
            head = f"for (int i = {high}; i > {low}; i--) {{"
        return [f"#pragma omp for{clause}", head, *(f"  {one}" for one in body), "}"]


def team_program(rng: random.Random) -> tuple[str, tuple[Array, ...]]:
    """A function whose region is in a `parallel`, or in the statements that it calls."""
    kind = rng.choice(("int", "long", "unsigned", "int"))
    arrays = tuple(Array(f"A{k}", kind, rng.choice((1, 1, 2))) for k in range(rng.choice((2, 3))))
    before = [line.format(k=kind) for line in (rng.choice(OWN) if rng.random() < 0.6 else ())]
    maker = _TeamMaker(rng, arrays, is_unlike=len(before) > 1 or "num()" in "".join(before))
    loops = [line for _ in range(rng.choice((1, 1, 2, 2, 3))) for line in maker.divided()]
    if rng.random() < 0.2:
        loops = ["for (int k = 0; k < m; k++) {", *(f"  {one}" for one in loops), "}"]
    if rng.random() < 0.1:
        loops.insert(0, rng.choice(("#pragma omp barrier", f"w = {rng.randint(1, 3)};", "s = 1;")))
    own = rng.choice(("", "", "", "firstprivate(t, w)", "firstprivate(w)", "default(shared)"))
    team = f"#pragma omp parallel num_threads({rng.choice((2, 3))}) {own}".rstrip()
    given = ", ".join([PARAMETERS, *(one.declaration for one in arrays), "double *out"])
    lines = [f"void f({given})", "{", "  extern int omp_get_thread_num(void);"]
    lines += [*(f"  {kind} {name} = {k};" for k, name in enumerate("stw"))]
    lines += [team, "  {", *before, "#pragma scop", *(f"    {one}" for one in loops)]
    lines += ["#pragma endscop", "  }"]
    lines += [f"  out[{k}] = {name};" for k, name in enumerate("st") if rng.random() < 0.4]
    return "\n".join([*lines, "}", ""]), arrays


def _plain(rng: random.Random, program: Program) -> tuple[str, ...]:
    """An operation on loops that a statement has, inside of those that all run."""
    one = rng.choice(program.statements)
    loops = [name for name in one.iterators if name != "k"]
    if len(program.statements) > 1 and rng.random() < 0.25:
        return (rng.choice(("distribute()", f"fuse(S1, {program.statements[1].name})")),)
    chosen = OF_TWO if len(loops) > 1 and rng.random() < 0.6 else OF_ONE
    return (rng.choice(chosen).format(one.name, *loops[: 2 if chosen is OF_TWO else 1]),) if loops else ()


def team_case(seed: int, outcomes: Counter[str]) -> Mutant | Finding | None:
    """What `transform` makes of a program; None where it refuses."""
    rng = random.Random(f"team {seed}")
    text, arrays = team_program(rng)
    path, script = old_path(text), ""
    try:
        with limited():
            for number in range(rng.choice((0, 1, 1, 2))):
                (read,) = read_c(path)
                lines = _plain(rng, read) if rng.random() < 0.75 else random_operation(rng, read, number)
                script = "\n".join([*filter(None, [script]), *lines])
            new = transformed(Request(str(path), script or None), silent).source.text
    except (BadInput, Illegal, GaveUp) as failure:
        outcomes[f"team: {type(failure).__name__}"] += 1
        return None
    except Exception as failure:
        texts = (("program", text), ("script", script))
        return Finding("team", seed, f"{type(failure).__name__}: {failure}", texts)
    except Late:
        outcomes["team: late"] += 1
        return None
    outcomes["team: accepted"] += 1
    old, new = (one.replace("dynamic", "static, 1") for one in (text, f"/* {script} */\n{new}"))
    return Mutant("team", seed, Pair(old, new, arrays), "proved", yes=True)
