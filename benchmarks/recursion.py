"""Recursive programs, tasks and cache-oblivious stencils judged by `check` [Bao2016, tables 8 to 10].

    python -m benchmarks.recursion [--only NAME ...] [--bugs N]

Each program of benchmarks/programs/recursive holds its original.  It has to be valid, without races where it
has tasks; with one bound, subscript, order or place changed the verdict has to be that of brute force, which
runs both and looks at every operation, without tasks; the faults of a compiler (-D FAULT=1) have to be found.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from loopwright.check.original.writers import writers
from loopwright.check.program.reachable import reached
from loopwright.check.program.segment import Input, parse_input
from loopwright.check.run.execute import Toolchain
from loopwright.check.run.report import Answer
from loopwright.check.verify import CheckOptions, check, prepared, verdict
from loopwright.errors import BadInput, GaveUp
from loopwright.source import Source
from tests.check.mutation import mutants
from tests.check.oracle import expected, is_valid, traced

FOLDER = Path(__file__).parent / "programs" / "recursive"
SIZES = {
    "apop": {"N": 60, "T": 40},
    "cholesky": {"N": 20},
    "heat": {"N": 40, "T": 5},
    "heat2d": {"N": 24, "T": 13},
    "heat2p": {"N": 24, "T": 13},
    "lu": {"N": 48},
    "matmul": {"N": 48},
    "rectmul": {"M": 37, "N": 50, "K": 41},
    "reg_detect": {"GRID": 4, "LENGTH": 20, "ROUNDS": 2},
    "spacemul": {"N": 48},
    "stencil27": {"N": 13, "T": 7},
    "stencil7": {"N": 13, "T": 7},
}


@dataclass(frozen=True)
class Row:
    """What `check` says of a program: right, of its bugs, of the fault of a compiler."""

    name: str
    answer: Answer
    bugs: int
    found: int
    differing: int
    fault: Answer | None

    @property
    def is_right(self) -> bool:
        return self.answer is Answer.VALID and not self.differing and self.fault in (None, Answer.VIOLATION)


def judged(path: Path, bugs: int) -> Row:
    """One program, with so many bugs put into it."""
    text = path.read_text()
    sizes = SIZES[path.stem]
    tools = Toolchain(timeout=60.0)
    options = CheckOptions(sizes, tools=tools, race="omp" in text)
    answer = check(_input(path, text), options).answer
    text = "".join(line for line in text.splitlines(keepends=True) if "#pragma omp" not in line)
    given = _input(path, text)
    plain = CheckOptions(sizes, tools=tools)
    written = writers(prepared(given, plain).spec)
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / path.name
        own.write_text(original(text))
        wanted = expected(prepared(parse_input(Source(str(own), own.read_text()), own), plain))
    ranks = {array.name: array.rank for array in given.original.arrays}
    bodies = tuple(function.body.span for function in reached(given.segment, ranks).functions)
    tried = found = differing = 0
    for mutant in mutants(given.segment, seed=5, count=bugs, places=(given.segment.place, *bodies)):
        try:
            changed = prepared(_input(path, mutant.text), plain)
            is_wrong = not is_valid(wanted, traced(changed))
        except (BadInput, GaveUp):
            continue
        said = verdict(changed, written, plain).answer
        tried += is_wrong
        found += is_wrong and said is not Answer.VALID
        differing += (said is Answer.VALID) == is_wrong
    fault = None
    if "FAULT" in text:
        fault = check(given, CheckOptions({**sizes, "FAULT": 1}, tools=tools)).answer
    return Row(path.stem, answer, tried, found, differing, fault)


def original(text: str) -> str:
    """The file with the loops of the original in the place of the program."""
    loops = re.search(r"polycheck start spec\n(.*?)\*/", text, re.DOTALL)
    assert loops is not None, "the program holds its original"
    start, end = text.index("/*@ polycheck start"), text.index("/*@ polycheck end */")
    names = ", ".join(sorted(set(re.findall(r"for \((\w+) =", loops[1]))))
    region = f"  int {names};\n#pragma scop\n{loops[1]}#pragma endscop\n"
    return text[:start] + region + text[end:].replace("/*@ polycheck end */", "", 1)


def _input(path: Path, text: str) -> Input:
    return parse_input(Source(str(path), text))


def main() -> int:
    """Print the table; the exit status says whether all verdicts are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--bugs", type=int, default=6)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.only:
        rows.append(row := judged(FOLDER / f"{name}.c", arguments.bugs))
        fault = "" if row.fault is None else f"  the compiler's fault: {row.fault.name.lower()}"
        mark = " " if row.is_right else "!"
        told = f"bugs found {row.found} of {row.bugs}, not as brute force {row.differing}"
        print(f"{mark} {row.name:12} {row.answer.name.lower():10} {told}{fault}", flush=True)
    return 0 if all(row.is_right for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
