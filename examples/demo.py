"""What Loopwright does, on one example: loops from a description, and the proof that they are right.

Then the proof is put to the test: a mistake is made in the program, and the prover finds it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from loopwright.emit.c import to_c
from loopwright.generate.program import generate
from loopwright.loops.expressions import Compare, Int, Sum
from loopwright.loops.nodes import For, Node
from loopwright.model.schedule import Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.schedules import read_schedule

EXAMPLE = Path(__file__).parent / "triangle_tiles.poly"


def main() -> None:
    print(f"--- the description: examples/{EXAMPLE.name}\n")
    print(EXAMPLE.read_text())
    schedule = read_schedule(EXAMPLE)
    program = generate(schedule)
    print("--- the loops\n")
    print(to_c(program))
    print("--- the proof\n")
    print(verdict(schedule, program), "\n")
    print("--- the same with a mistake: the innermost loop ends one iteration early\n")
    wrong = shortened(program)
    print(to_c(wrong))
    print(verdict(schedule, wrong), "\n")
    print(f"Try it: .venv/bin/loopwright codegen examples/{EXAMPLE.name} --split-bounds --stats")


def verdict(schedule: Schedule, program: Node) -> str:
    start = time.perf_counter()
    found = prove_scan(schedule, program)
    took = f"{(time.perf_counter() - start) * 1000:.0f} ms"
    match found:
        case Proved(obligations):
            return f"Proved for every n: {obligations} obligations, {took}."
        case Refuted(message=message):
            return f"Wrong: {message}."
        case Undecided(reason):
            return f"Could not decide: {reason}."


def shortened(program: Node) -> Node:
    """The program, its innermost loop's upper bound lowered by one."""
    if not isinstance(program, For):
        return program
    if isinstance(program.body, For):
        return replace(program, body=shortened(program.body))
    assert isinstance(program.test, Compare)
    lowered = Sum((program.test.right, Int(-1)))
    return replace(program, test=replace(program.test, right=lowered))


if __name__ == "__main__":
    main()
