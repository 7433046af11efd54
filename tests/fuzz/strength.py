"""Measures how many cases it takes to find a fault, planted in a copy of the sources, one at a time.

    python -m tests.fuzz.strength --seconds 60 --jobs 8

Each is looked for by the kinds of cases that are meant to find it, or by those that are given.
A fault is one change of a line.  The attack runs on the copy until it finds something, which may be a wrong
answer or an answer that is none (an internal error: the proofs of Loopwright stop it before running does).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "loopwright"


@dataclass(frozen=True)
class Planted:
    """A line, or a part of one that occurs once in its file, and what stands there instead.

    `kinds` are those of cases that are meant to find it.
    """

    name: str
    file: str
    old: str
    new: str
    kinds: str


FAULTS = (
    Planted(
        "anti-dependences are no dependences",
        "model/dependences.py",
        "                if found is not None:\n",
        "                if found is not None and (first.access.is_write or not second.access.is_write):\n",
        "transform",
    ),
    Planted(
        "output dependences are no dependences",
        "model/dependences.py",
        "                if found is not None:\n",
        "                if found is not None and not (first.access.is_write and second.access.is_write):\n",
        "transform",
    ),
    Planted(
        "what a parallel loop carries backwards",
        "prove/legality/precedence.py",
        "sides = (pairs.intersect(column.less), pairs.intersect(column.greater))",
        "sides = (pairs.intersect(column.greater),)",
        "directive,transform",
    ),
    Planted(
        "private variables may be read first",
        "prove/legality/privatisation.py",
        "            if not left.is_empty():\n                return False\n    return True",
        "            if not left.is_empty():\n                return True\n    return True",
        "directive,transform",
    ),
    Planted(
        "new arrays may be one too small",
        "prove/legality/bounds.py",
        "order_lt(OUT, k, OUT, count + place + k)",
        "order_le(OUT, k, OUT, count + place + k)",
        "stage",
    ),
    Planted(
        "integers fit into every floating type",
        "c/types.py",
        "            return bits <= SIGNIFICANT_BITS.get(wide, 0)",
        "            return True",
        "rewrite",
    ),
    Planted(
        "a conversion there and back is nothing",
        "prove/equivalence/laws.py",
        " if name == conversion(other) and represents(other, inner.type):",
        " if name == conversion(other):",
        "rewrite",
    ),
    Planted(
        "operations under fewer guards are defined",
        "prove/equivalence/definedness.py",
        "theirs is not None and theirs.guards <= self.guards[new]",
        "theirs is not None",
        "rewrite",
    ),
    Planted(
        "unsigned and int make int",
        "c/types.py",
        "    if lower.signed or not higher.signed or higher.bits > lower.bits:\n        return higher",
        "    if lower.signed or not higher.signed or higher.bits > lower.bits:\n        return lower",
        "rewrite",
    ),
    Planted(
        "small types are not promoted",
        "c/types.py",
        "    return INT if is_small and holds(INT, kind) else kind",
        "    return kind",
        "rewrite",
    ),
    Planted(
        "a run does not wrap around",
        "prove/equivalence/arithmetic.py",
        "        return limits.converted(whole)",
        "        return limits.greatest",
        "rewrite",
    ),
    Planted(
        "other locals are the same",
        "prove/comparison/outside.py",
        "    return _locals_difference(before, after) or _order_difference(before, after)",
        "    return None",
        "rewrite,transform",
    ),
    Planted(
        "what check found is valid",
        "check/run/judged.py",
        "    elif log.violations:\n        answer = Answer.VIOLATION\n",
        "    elif log.violations:\n        answer = Answer.VALID\n",
        "check",
    ),
    Planted(
        "a statement may run twice",
        "prove/scanning/scan.py",
        "            disjoint = are_apart(known, known_of_other) or mine.is_disjoint(other)",
        "            disjoint = True",
        "codegen",
    ),
    Planted(
        "instances may be missing",
        "prove/scanning/scan.py",
        "        covered = wanted.is_subset(union)",
        "        covered = True",
        "codegen",
    ),
    Planted(
        "loops may run in another order",
        "prove/scanning/pairs.py",
        "                if not smaller.pairs.is_empty():",
        "                if False:",
        "codegen",
    ),
    Planted(
        "threads may share what each needs",
        "rewrite/directives.py",
        "    for name, clause in sorted(needed - said - copied):",
        "    for name, clause in sorted(needed & said):",
        "directive",
    ),
    Planted(
        "directives may be left out",
        "transform/openmp/nests.py",
        "        if obeyed_once.count(directive.place) != 1:",
        "        if obeyed_once.count(directive.place) > 1:",
        "directive",
    ),
    Planted(
        "a sum may read itself",
        "prove/legality/reductions.py",
        "    if write.place != target or not _leaves_alone(statement, write, reads):",
        "    if write.place != target:",
        "directive,transform",
    ),
    Planted(
        "what a loop adds is added once",
        "read/c/evolved_loops.py",
        "        return first.plus(rest.times(loop.number))",
        "        return first.plus(rest)",
        "transform,rewrite",
    ),
    Planted(
        "variables are not read after a region",
        "read/c/gate/gate.py",
        '        observed: bool | None = read_after(file, region, declared) != ""',
        "        observed: bool | None = False",
        "transform,directive",
    ),
    Planted(
        "loops of MLIR count by one",
        "prove/mlir/translation.py",
        "        loop = For(iterator, low, Compare(Relation.LT, Var(iterator), high), step, body)",
        "        loop = For(iterator, low, Compare(Relation.LT, Var(iterator), high), 1, body)",
        "mlir",
    ),
    Planted(
        "writes that may happen do happen",
        "presburger/last_writes.py",
        "    info = info if may is None else info.set_may_source(may)\n",
        "    info = info if may is None else info.set_must_source(must.union(may))\n",
        "transform,directive",
    ),
    Planted(
        "a loop carries what one iteration does",
        "prove/legality/precedence.py",
        "sides = (pairs.intersect(column.less), pairs.intersect(column.greater))",
        "sides = (pairs,)",
        "directive",
    ),
    Planted(
        "locals are what they were given",
        "prove/reading/operation.py",
        "    elif given != kind and not _is_same_subscript(old, before, kind, given):",
        "    elif False:",
        "stage,transform",
    ),
    Planted(
        "threads keep the directives of other loops",
        "rewrite/teams.py",
        "        if [_head(one) for one in parts] != heads or self._outermost() != len(heads):",
        "        if self._outermost() != len(heads):",
        "team",
    ),
    Planted(
        "threads may have other values of their own",
        "rewrite/teams.py",
        "        if other is not None:\n",
        "        if False:\n",
        "team",
    ),
    Planted(
        "bounds of directives are not converted",
        "c/typed/refusals.py",
        "        if _has_converted_bound(file, words, place):",
        "        if False:",
        "directive",
    ),
)


def planted(one: Planted, folder: Path) -> None:
    """A copy of the sources with the fault; what is compiled of the others is used again."""
    shutil.copytree(SOURCES, folder / "loopwright", ignore_dangling_symlinks=True)
    path = folder / "loopwright" / one.file
    text = path.read_text()
    if text.count(one.old) != 1:
        raise ValueError(f"{one.name}: {one.file} has that line {text.count(one.old)} times")
    path.write_text(text.replace(one.old, one.new))


def found_after(one: Planted, seconds: float, seed: int, kinds: str) -> str:
    """How many cases of an attack were answered when it was found, and by which."""
    with tempfile.TemporaryDirectory(prefix="strength-") as name:
        planted(one, Path(name))
        others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([name, str(ROOT), *others])}
        command = [sys.executable, "-m", "tests.fuzz", "--seconds", str(seconds), "--seed", str(seed)]
        command += ["--kinds", kinds or one.kinds]
        done = subprocess.run(
            [*command, "--first"], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
    cases = re.search(r"(?m)^all +(\d+)", done.stdout)
    if cases is None:
        return f"the attack failed: {done.stderr.strip()[-300:]}"
    wrong = re.search(r"(?m)^WRONG (.*)", done.stdout)
    return f"after {cases[1]} cases: {wrong[1][:90]}" if wrong else f"not found in {cases[1]} cases"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.strength")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="faults with this in their names")
    parser.add_argument("--kinds", default="", help="instead of those meant to find a fault")
    arguments = parser.parse_args()
    asked = [one for one in FAULTS if arguments.only in one.name]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        told = arguments.seconds, arguments.seed, arguments.kinds
        answers = pool.map(lambda one: found_after(one, *told), asked)
        for one, answer in zip(asked, answers, strict=True):
            print(f"{one.name:<42} {answer}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
