"""Random programs and random scripts with operations on storage: what is accepted is compiled and run.

Every accepted script makes a function that runs beside the original on the same data, for sizes that include
0 and 1, under the sanitizers of gcc, with and without memory to allocate: the same bits have to come out, or
the same numbers up to rounding where a sum is split.

    python -m tests.storage.attack --scripts 1000
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from loopwright.emit.region import new_source
from loopwright.errors import BadInput, GaveUp
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.model.program import Program
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.plans import prove_plan
from loopwright.read.c.reader import parse_c
from loopwright.rewrite.scripts import loops_of
from loopwright.source import Source
from loopwright.transform import Plan, plan_of, to_schedule

SIGNATURE = "int n, int m, double A[n + 4][m + 4], double B[n + 4][m + 4], double x[n + m + 8]"
SIZES = ((0, 0), (1, 1), (0, 5), (1, 3), (2, 1), (3, 5), (7, 6))
FLAGS = ("-O1", "-w", "-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

WRAPPED = "-Wl,--wrap=malloc,--wrap=free"
LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}
"""`free` is counted instead: looking for leaks at the end takes the sanitizer seconds."""

MAIN = """
int main(void)
{
  static const int sizes[][2] = {SIZES};
  for (int pair = 0; pair < PAIRS; pair++)
    for (int s = 0; s < (int)(sizeof(sizes) / sizeof(sizes[0])); s++) {
      int n = sizes[s][0], m = sizes[s][1];
      size_t big = (size_t)(n + 4) * (m + 4), small = n + m + 8;
      double *data[2];
      for (int v = 0; v < 2; v++) {
        data[v] = calloc(2 * big + small, sizeof(double));
        for (size_t k = 0; k < 2 * big + small; k++)
          data[v][k] = (double)((k * 7919 + 13) % 1021) / 1021;
        double *a = data[v], *b = a + big, *x = b + big;
        held = 0;
        if (v == 0) old_functions[pair](n, m, (void *)a, (void *)b, x);
        else { starving = getenv("STARVE") != NULL; new_functions[pair](n, m, (void *)a, (void *)b, x); }
        starving = 0;
        if (held != 0) printf("%d %d %d: not freed\\n", pair, n, m);
      }
      int differ = 0;
      for (size_t k = 0; k < 2 * big + small; k++) {
        double one = data[0][k], other = data[1][k];
        differ |= loose[pair] ? fabs(one - other) > 1e-9 * (1 + fabs(one) + fabs(other))
                              : memcmp(&one, &other, sizeof one) != 0;
      }
      if (differ)
        printf("%d %d %d\\n", pair, n, m);
      free(data[0]); free(data[1]);
    }
  return 0;
}
"""

WRAPPER = """
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <math.h>
static int starving;
void *__real_malloc(size_t size);
static long held;
void *__wrap_malloc(size_t size) {
  void *got = starving ? NULL : __real_malloc(size);
  held += got != NULL;
  return got;
}
void __real_free(void *block);
void __wrap_free(void *block) { held -= block != NULL; __real_free(block); }
"""


@dataclass(frozen=True)
class Case:
    """An accepted script, and both programs."""

    script: str
    old: str
    new: str

    @property
    def rounds(self) -> bool:
        return "split_sum" in self.script


def random_region(rng: random.Random) -> str:
    """A function with a region: scalars and a row as temporaries, arrays as data."""
    after = "x[0] += s;" if rng.random() < 0.15 else ""
    early = rng.random() < 0.15
    body = _statements(rng, ("i",), 2 if early else 1)
    start = "double s = 0.5, t = 0.25, w = 0.75, v[m + 4]; for (int j = 0; j < m + 4; j++) v[j] = j;"
    before = "    s = 0.5;\n" if rng.random() < 0.3 else ""
    return (
        f"void f({SIGNATURE})\n{{\n  {start}\n#pragma scop\n{before}"
        f"  for (int i = 1; i <= n; i++) {{\n{body}  }}\n#pragma endscop\n  {after}\n}}\n"
    )


def _statements(rng: random.Random, loops: tuple[str, ...], more: int) -> str:
    lines: list[str] = []
    margin = "    " * len(loops)
    for variable in "st":
        if rng.random() < (0.7 if len(loops) == 1 else 0.2):
            lines.append(f"{margin}{variable} = x[{loops[-1]}{_offset(rng)}] * 0.5;\n")
    for _ in range(rng.randint(1, 3) + more):
        if len(loops) < 3 and rng.random() < (0.5 if len(loops) == 1 else 0.25):
            loop = "ijk"[len(loops)]
            up, down = f"{loop} = 1; {loop} <= m; {loop}++", f"{loop} = m; {loop} >= 1; {loop}--"
            half = f"{loop} = 1; {loop} <= m / {rng.choice('23')}; {loop}++"
            head = f"for (int {rng.choice([up, up, down, down, half])})"
            lines.append(f"{margin}{head} {{\n{_statements(rng, (*loops, loop), 0)}{margin}}}\n")
        else:
            lines.append(f"{margin}{_assignment(rng, loops)}\n")
    return "".join(lines)


def _assignment(rng: random.Random, loops: tuple[str, ...]) -> str:
    target = _cell(rng, loops, written=True)
    operator = rng.choice(["=", "=", "=", "+="])
    value = f"{_cell(rng, loops)} * 0.5 + {_cell(rng, loops)}"
    if rng.random() < 0.3:
        one, other, factor = _cell(rng, loops), _cell(rng, loops), rng.choice("wwws")
        products = f"{factor} * {one} * {other}", f"{one} * {factor} + {other}", f"1 / {factor} * {one}"
        value = rng.choice(products)
    text = f"{target} {operator} {value};"
    return f"if ({_cell(rng, loops)} > 0.4) {text}" if rng.random() < 0.08 else text


def _cell(rng: random.Random, loops: tuple[str, ...], *, written: bool = False) -> str:
    choices = ["s", "t", "s", "t", f"x[{loops[-1]}{_offset(rng)}]"]
    if len(loops) > 1:
        inner = rng.choice(loops[1:])
        choices += [f"v[{inner}]", f"v[{inner}{_offset(rng)}]"]
        choices += [f"{array}[i{_offset(rng)}][{inner}{_offset(rng)}]" for array in "AB"]
    return rng.choice(choices)


def _offset(rng: random.Random) -> str:
    return rng.choice(["", "", " - 1", " + 1"])


def random_script(rng: random.Random, program: Program) -> str:
    """One operation on storage at least, and orders before and after it."""
    steps = [_order(rng, program) for _ in range(rng.choice([0, 0, 0, 1]))]
    steps += [_storage(rng, program) for _ in range(rng.choice([1, 1, 2]))]
    steps += [_order(rng, program) for _ in range(rng.choice([0, 1, 2]))]
    return "\n".join(steps)


def _storage(rng: random.Random, program: Program) -> str:
    variable = rng.choice([one.name for one in program.arrays if one.name in "stv"] or ["s"])
    using = [s.iterators for s in program.statements if any(a.array == variable for a in s.accesses)]
    shared = [loop for loop in "ijk" if all(loop in loops for loops in using)] or ["i"]
    loops = shared[: rng.randint(1, len(shared))] if rng.random() < 0.9 else ["i", "j"]
    kind = rng.random()
    adding = [one.name for one in program.statements if "+=" in one.body.place.text]
    if adding and kind < 0.15:
        return f"(P, Q) = split_sum({rng.choice(adding)})"
    if kind < 0.4:
        reader = rng.choice(program.statements)
        arrays = [access.array for access in reader.reads if access.array in "ABxv"] or ["x"]
        where = rng.choice(["", "", ", i", ", j", ", iT", ", i, transposed"])
        if rng.random() < 0.5:
            arrays = [access.array for access in reader.accesses if access.array in "ABxv"] or ["x"]
            where += ", written"
        elif rng.random() < 0.4:
            where += ", scaled"
        return f"pack({rng.choice(arrays)}, {reader.name}{where})"
    kind = rng.random()
    if kind < 0.25:
        return f"rename({variable}, {rng.choice(program.statements).name})"
    if kind < 0.45:
        return rng.choice(["contract(v)", "contract(v, 1)", "contract(v, 2, ring)", "contract(x, 4, ring)"])
    return f"expand({variable}, {', '.join(loops)})"


def _order(rng: random.Random, program: Program) -> str:
    one = rng.choice([statement.name for statement in program.statements])
    loop, other = rng.sample(["i", "j", "k"], 2)
    return rng.choice(
        [
            f"interchange({one}, {loop}, {other})",
            "distribute()",
            f"distribute(@{program.region.line + 1})",
            f"reverse({one}, {loop})",
            f"tile({one}, {loop}={rng.choice([2, 3])})",
            f"shift({one}, {loop}, {rng.choice([-1, 1])})",
            f"parallel({one}, {loop})",
        ]
    )


def attempt(rng: random.Random, outcomes: Counter[str]) -> Case | None:
    """A random script for a random program; None where it is refused."""
    text = random_region(rng)
    try:
        (program,) = parse_c(Source("k.c", text))
        script = random_script(rng, program)
        plan = plan_of(program).transform(script)
    except BadInput as failure:
        outcomes[f"no plan: {failure.code.name}"] += 1
        return None
    try:
        verdict = prove_plan(plan, allow_reassociation="split_sum" in script)
    except GaveUp:
        verdict = None
    if verdict is None or not verdict.proved:
        outcomes["refused"] += 1
        return None
    outcomes["accepted"] += 1
    return Case(script, text, new_text(plan, verdict))


def new_text(plan: Plan, verdict: LegalityVerdict) -> str:
    node = generate(to_schedule(plan), GenerationOptions())
    return new_source([loops_of(plan, node, verdict)]).text


def wrong(cases: list[Case], folder: Path) -> list[tuple[Case, str]]:
    """The cases whose programs leave different bits, with the sizes or what a sanitizer says."""
    text = [WRAPPER]
    for number, case in enumerate(cases):
        for version, body in (("old", case.old), ("new", case.new)):
            text.append(body.replace("void f(", f"static void {version}_{number}(", 1))
    for version in ("old", "new"):
        names = ", ".join(f"{version}_{number}" for number in range(len(cases)))
        text.append(f"static void (*{version}_functions[])() = {{{names}}};")
    loose = ", ".join(str(int(case.rounds)) for case in cases)
    text.append(f"static const int loose[] = {{{loose}}};")
    sizes = ", ".join(f"{{{n}, {m}}}" for n, m in SIZES)
    text.append(MAIN.replace("SIZES", sizes).replace("PAIRS", str(len(cases))))
    source, program = folder / "attack.c", folder / "attack"
    source.write_text("\n".join(text))
    command = ["gcc", "-std=gnu11", *FLAGS, WRAPPED, "-o", str(program), str(source), "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    found: list[tuple[Case, str]] = []
    for environment in (LEAKS, {**LEAKS, "STARVE": "1"}):
        done = subprocess.run([program], capture_output=True, text=True, env=environment, check=False)
        for line in done.stdout.splitlines():
            pair, *size = line.split()
            found.append((cases[int(pair)], f"n, m = {' '.join(size)} {environment}"))
        if done.returncode != 0:
            found.append((cases[0], done.stderr))
    return found


def attacked(scripts: int, seed: int) -> tuple[Counter[str], list[tuple[Case, str]]]:
    """The outcomes of that many accepted or refused scripts, and what is wrong."""
    rng = random.Random(seed)
    outcomes: Counter[str] = Counter()
    cases: list[Case] = []
    while outcomes["accepted"] + outcomes["refused"] < scripts:
        case = attempt(rng, outcomes)
        cases += [] if case is None else [case]
    found: list[tuple[Case, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(cases), 100):
            found += wrong(cases[start : start + 100], Path(folder))
    return outcomes, found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scripts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    outcomes, found = attacked(arguments.scripts, arguments.seed)
    print(", ".join(f"{count} {what}" for what, count in outcomes.most_common()))
    for case, what in found:
        print(f"WRONG, {what}:\n{case.script}\n{case.old}\n{case.new}")
    print(f"{len(found)} wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
