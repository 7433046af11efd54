"""Measures how many proofs Coq checks: loops of the corpus, and transformations of the kernels.

    python -m benchmarks.proofs corpus [--seconds 60] [--every 1]
    python -m benchmarks.proofs kernels [gemm lu]
    python -m benchmarks.proofs scripts
    python -m benchmarks.proofs loopy

`kernels`: every legal interchange, skew, tiling by 32 and fusion of labelled nests; `scripts`: the
scripts the kernels come with; `loopy`: those of kernels/loopy.  Prints one line for each proof, and the
share that `coqc` accepts.  Files of the corpus whose loops do not end or are parallel are counted separately:
the first have no trace; for the second only the sequential order is proved, as a schedule has no memory
accesses.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from pathlib import Path

from loopwright.errors import BadInput, GaveUp, InternalError, LoopwrightError
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.expressions import TRUE
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.program import Program
from loopwright.progress import silent
from loopwright.prove.certificates.status import Tries, certified, change_tries, scan_tries, stored_tries
from loopwright.prove.coq.check import Accepted, OutOfTime, Refused, check, coqc, library
from loopwright.prove.legality.plans import prove_plan
from loopwright.read.c.reader import read_c
from loopwright.read.schedules import read_schedule
from loopwright.transform import Plan, to_schedule, transform
from tests.coq.support import proof_file

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("LOOPWRIGHT_CORPUS", ROOT.parent / "shared" / "corpus"))
KERNELS = ROOT / "kernels"
SUFFIXES = (".in", ".st", ".cloog")
TILE = 32
PATIENCE = 60
"""How much longer than its processor time a proof may take, on a machine that does other things."""


@dataclass(frozen=True)
class Result:
    name: str
    outcome: str
    """accepted, refused, out of time, not written, or why it does not count."""
    seconds: float
    detail: str = ""


COUNTED = ("accepted", "refused", "out of time", "not written")


def kind(program: Node) -> str | None:
    """Why a program does not count."""
    loops = [node for node in subprograms(program) if isinstance(node, For)]
    if any(loop.test == TRUE for loop in loops):
        return "infinite loops"
    return "parallel loops" if any(loop.parallel is not None for loop in loops) else None


def processor_time() -> float:
    """What the programs started from here have used."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """`coqc` gets so much processor time, whatever else the machine does."""
    library(silent)
    with tempfile.TemporaryDirectory() as made:
        wrapper = Path(made) / "coqc"
        wrapper.write_text(f'#!/bin/sh\nulimit -t {ceil(seconds)}\nexec "{coqc()}" "$@"\n')
        wrapper.chmod(0o755)
        os.environ["COQC"] = str(wrapper)
        yield


def checked(name: str, text: str, seconds: float) -> Result:
    start = processor_time()
    try:
        answer = check(text, PATIENCE * seconds)
    except InternalError:
        if processor_time() - start < seconds / 2:  # the limit counts the system's time, too
            raise
        answer = OutOfTime(seconds)
    spent = processor_time() - start
    match answer:
        case Accepted():
            return Result(name, "accepted", spent)
        case Refused(line, lemma, message):
            return Result(name, "refused", spent, f"{lemma}, line {line}: {' '.join(message.split())[:80]}")
        case OutOfTime():
            return Result(name, "out of time", spent)


def of_file(path: Path, seconds: float) -> Iterator[Result]:
    """The loops for one file of the corpus."""
    name = str(path.relative_to(CORPUS))
    try:
        schedule = read_schedule(path)
        program = generate(schedule)
        why = kind(program)
        if why is None:
            yield checked(name, written(scan_tries(schedule, program), seconds), seconds)
        else:
            yield Result(name, why, 0)
    except BadInput as error:
        yield Result(name, "infinite loops", 0, error.message)
    except LoopwrightError as error:
        yield Result(name, "not written", 0, error.message)


def written(tries: Tries, seconds: float) -> str:
    """The file, without words."""
    found = certified(tries, seconds)
    return proof_file(found.problem, found.certificates)


def scripts(plan: Plan) -> Iterator[str]:
    """Interchange, skewing, tiling of each labelled nest, and fusion of neighbours."""
    seen: list[str] = []
    for tag in plan.program.tags:
        if tag.name in seen or len(tag.statements) != 1:
            continue
        seen.append(tag.name)
        loops = plan.program.statement(tag.statements[0]).iterators
        for k in range(len(loops) - 1):
            yield f"interchange({tag.name}, {loops[k]}, {loops[k + 1]})"
            yield f"skew({tag.name}, {loops[k + 1]}, {loops[k]}, 1)"
        if loops:
            yield f"tile({tag.name}, {', '.join(f'{name}={TILE}' for name in loops)})"
            yield f"tile({tag.name}, {', '.join(f'{name}={TILE}' for name in loops)}, skew)"
    for first, second in pairwise(seen):
        yield f"fuse({first}, {second})"


def of_kernel(path: Path, seconds: float) -> Iterator[Result]:
    """Every legal one of the small transformations of a kernel; those that come to the same, once."""
    proofs: dict[str, str] = {}
    for program in read_c(path):
        for script in scripts(transform(program, "", "empty.lw")):
            name = f"{path.stem}: {script}"
            try:
                text = proof_of(program, script, seconds)
            except BadInput:
                continue
            except GaveUp as error:
                yield Result(name, "not written", 0, error.message)
                continue
            if text is not None:
                proofs.setdefault(text, name)
    for text, name in proofs.items():
        yield checked(name, text, seconds)


def proof_of(program: Program, script: str, seconds: float) -> str | None:
    """The file for a script, None where it is not legal."""
    plan = transform(program, script, "script.lw")
    if not prove_plan(plan).proved:
        return None
    node = generate(to_schedule(plan), GenerationOptions())
    if plan.storage:
        return written(stored_tries(plan.storage, plan.program, node), seconds)
    return written(change_tries(plan.original, plan.program, node), seconds)


def of_script(path: Path, seconds: float) -> Iterator[Result]:
    """A script on its kernel."""
    for program in read_c(KERNELS / f"{path.stem}.c"):
        try:
            text = proof_of(program, path.read_text(), seconds)
        except GaveUp as error:
            yield Result(path.stem, "not written", 0, error.message)
            continue
        yield Result(path.stem, "not legal", 0) if text is None else checked(path.stem, text, seconds)


def shown(result: Result) -> str:
    return f"{result.outcome:14} {result.seconds:6.1f} s  {result.name}  {result.detail}".rstrip()


def report(results: list[Result]) -> None:
    counts = Counter(result.outcome for result in results)
    counted = [result for result in results if result.outcome in COUNTED]
    accepted = counts["accepted"]
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    if counted:
        slowest = max(result.seconds for result in counted)
        share = 100 * accepted / len(counted)
        print(f"checked by coqc: {accepted} of {len(counted)}, {share:.1f} %; slowest {slowest:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description="How much Coq checks.")
    parser.add_argument("what", choices=tuple(OF))
    parser.add_argument("names", nargs="*", help="only files with one of these in their name")
    parser.add_argument("--seconds", type=float, default=60.0, help="of processor time for each proof")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th file")
    arguments = parser.parse_args()
    with limited(arguments.seconds):
        run(arguments)


def run(arguments: argparse.Namespace) -> None:
    results: list[Result] = []
    for path in files(arguments.what, arguments.names)[:: arguments.every]:
        for result in OF[arguments.what](path, arguments.seconds):
            results.append(result)
            print(shown(result), flush=True)
    report(results)


OF: dict[str, Callable[[Path, float], Iterator[Result]]] = {
    "corpus": of_file,
    "kernels": of_kernel,
    "scripts": of_script,
    "kept": of_script,
    "loopy": of_script,
}


INPUTS = {"kernels": "*.c", "scripts": "*.lw", "kept": "kept/*.lw", "loopy": "loopy/*.lw"}


def files(what: str, names: Sequence[str]) -> list[Path]:
    """The inputs of a kind with one of the names in their path, if any are given."""
    if what == "corpus":
        found = [path for path in CORPUS.rglob("*") if path.suffix in SUFFIXES]
        if not found:
            sys.exit(f"no corpus at {CORPUS}: set LOOPWRIGHT_CORPUS")
    else:
        found = list(KERNELS.glob(INPUTS[what]))
    return sorted(path for path in found if not names or any(name in str(path) for name in names))


if __name__ == "__main__":
    main()
