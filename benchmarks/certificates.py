"""Measures the coverage and cost of the verified checker on the corpus and the kernels' scripts.

    python -m benchmarks.certificates corpus [--seconds 2] [--every 1] [NAME...]
    python -m benchmarks.certificates scripts

Prints a line for each input: isl's proof, writing the problem, finding certificates and checking them, in
milliseconds of processor time; then the share that is checked, medians and maxima.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from loopwright.emit.c import printed_loops, to_c
from loopwright.errors import LoopwrightError
from loopwright.generate.program import generate
from loopwright.loops.nodes import Node
from loopwright.model.schedule import Schedule
from loopwright.presburger.named import parameter_names
from loopwright.prove.certificates.checker import ENOUGH, Checked, NotChecked, certificates, checked
from loopwright.prove.certificates.problems import change_problem
from loopwright.prove.certificates.specification import AllowedDifferences
from loopwright.prove.certificates.status import PrintedLoops, scan_tries, written
from loopwright.prove.certificates.stored import stored_problem
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved
from loopwright.read.c.reader import read_c
from loopwright.read.schedules import read_schedule
from loopwright.transform import Plan, flat_schedule, to_schedule, transform

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("LOOPWRIGHT_CORPUS", ROOT.parent / "shared" / "corpus"))
KERNELS = ROOT / "kernels"
SUFFIXES = (".in", ".st", ".cloog")


@dataclass(frozen=True)
class Row:
    """Seconds of processor time; `reason` says why there is no yes."""

    name: str
    isl: float
    written: float
    found: float
    checked: float
    reason: str = ""

    def line(self) -> str:
        times = (self.isl, self.written, self.found, self.checked)
        return "".join(f"{1000 * one:9.0f}" for one in times) + f"  {self.name}  {self.reason}"


def scanned(schedule: Schedule, node: Node) -> list[Callable[[], str | None]]:
    """What `codegen` asks: of the text, as it prints it, and of the loops."""
    names = parameter_names(schedule.context.get_space().align_params(schedule.domain.get_space()))
    printed = PrintedLoops(to_c(node, parameters=names), printed_loops(node, names))
    return [one.problem for group in scan_tries(schedule, node, printed) for one in group]


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(name: str, isl: float, problems: Sequence[Callable[[], str | None]], seconds: float) -> Row:
    """The first problem that has an answer."""
    row = Row(name, isl, 0, 0, 0, "no problem")
    for problem in problems:
        start = time.process_time()
        text = written(problem, seconds)
        wrote, begun = time.process_time() - start, children()
        given = text if isinstance(text, NotChecked) else certificates(text, seconds)
        found, begun = children() - begun, children()
        if isinstance(text, NotChecked) or isinstance(given, NotChecked):
            reason = given.reason if isinstance(given, NotChecked) else ""
            row = Row(name, isl, wrote, found, 0, reason)
            continue
        answer = checked(text, given)
        reason = "" if isinstance(answer, Checked) else answer.reason
        return Row(name, isl, wrote, found, children() - begun, reason)
    return row


def of_corpus(names: Sequence[str], every: int, seconds: float) -> Iterator[Row]:
    paths = sorted(path for path in CORPUS.rglob("*") if path.suffix in SUFFIXES)
    for path in [one for one in paths if not names or one.stem in names][::every]:
        try:
            schedule = read_schedule(path)
            node = generate(schedule)
            start = time.process_time()
            if not isinstance(prove_scan(schedule, node), Proved):
                continue
            isl = time.process_time() - start
        except LoopwrightError:
            continue
        yield measured(str(path.relative_to(CORPUS)), isl, scanned(schedule, node), seconds)


def of_scripts(names: Sequence[str], seconds: float) -> Iterator[Row]:
    for script in sorted(KERNELS.rglob("*.lw")):
        if names and script.stem not in names:
            continue
        (program,) = read_c(KERNELS / f"{script.stem}.c")
        plan = transform(program, script.read_text(), script.name)
        node = generate(to_schedule(plan))
        start = time.process_time()
        verdict = prove_plan(plan)
        prove_scan(flat_schedule(plan.program), node)
        isl = time.process_time() - start
        problem = partial(changed, plan, node, verdict)
        yield measured(str(script.relative_to(KERNELS)), isl, [problem], seconds)


def changed(plan: Plan, node: Node, verdict: LegalityVerdict) -> str:
    if plan.storage:
        return stored_problem(plan.storage, plan.program, node).text
    allowed = AllowedDifferences(verdict.exact, temporaries=verdict.temporaries)
    return change_problem(plan.original, plan.program, node, allowed).with_original


def main() -> None:
    parser = argparse.ArgumentParser(description="how much the verified checker checks, and what that costs")
    parser.add_argument("what", choices=("corpus", "scripts"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=ENOUGH)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    print(f"{'isl':>9}{'problem':>9}{'finding':>9}{'checking':>9}  milliseconds")
    rows: list[Row] = []
    found = (
        of_corpus(options.names, options.every, options.seconds)
        if options.what == "corpus"
        else of_scripts(options.names, options.seconds)
    )
    for row in found:
        print(row.line(), flush=True)
        rows.append(row)
    good = [row for row in rows if not row.reason]
    print(f"{len(good)} of {len(rows)} checked")
    for what in ("isl", "written", "found", "checked"):
        values = [1000 * float(getattr(row, what)) for row in good]
        if values:
            print(f"{what}: median {statistics.median(values):.0f} ms, at most {max(values):.0f} ms")
    sys.exit(len(good) < len(rows))


if __name__ == "__main__":
    main()
