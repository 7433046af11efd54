"""Reports how the innermost loops of TSVC can be vectorised: as they are, or by which operations.

    python -m benchmarks.tsvc [FOLDER]
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import LoopwrightError
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.suggest import Remedies, cure_apart, suggestions
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.transform.perform import performed
from loopwright.transform.plan import Component, Plan
from loopwright.transform.proposals import proposals
from loopwright.transform.script.operations import Vectorize
from loopwright.transform.script.steps import Step
from loopwright.transform.suggest import ProposalKind, handle_at
from loopwright.transform.vectors import Position

CORPUS = os.environ.get("LOOPWRIGHT_CORPUS", "../shared/corpus")


def innermost(plan: Plan) -> Iterator[tuple[Position, str]]:
    """A statement and the iterator of each loop that is the innermost one around it."""
    seen: set[Position] = set()
    for leaf in plan.leaves:
        path = leaf.position[: leaf.depth]
        if leaf.loops and path not in seen:
            seen.add(path)
            yield leaf.position, leaf.loops[-1]


def answer(plan: Plan, position: Position, loop: str) -> str:
    """What it takes to run the loop in the lanes of a vector."""
    handle = handle_at(plan, position)
    if handle is None:
        return "no handle"
    marked = performed(plan, Step(Vectorize(handle, (loop,))))
    verdict = prove_plan(marked)
    if verdict.proved:
        return "order of lanes" if verdict.lanes else "private variables" if verdict.private else "as it is"
    if prove_plan(marked, allow_reassociation=True).proved:
        return "reassociation"
    for allowed in (False, True):
        steps = cure_apart(marked, verdict, Remedies(allow_reassociation=allowed))
        if steps:
            return "; ".join([*map(str, steps), *(["reassociation"] if allowed else [])])
    here = plan.statements_at(Component.of([position]))
    tests = (one for one in proposals(plan, ()) if one.kind is ProposalKind.VECTORS and len(one.steps) > 1)
    found = suggestions(plan, proposed=[one for one in tests if one.statements == here])
    return next(("; ".join(map(str, one.steps)) for one in found if one.legal), "none")


def answers(path: Path) -> list[str]:
    try:
        headers = path.parent.parent / "include" / path.parent.name
        options = ReadOptions(compiled=CompilerOptions(("-I", str(headers))))
        plans = [Plan.of(program) for program in read_c(str(path), options)]
        return [answer(plan, *one) for plan in plans for one in innermost(plan)]
    except LoopwrightError as failure:
        return [f"refused: {failure.message}"]


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else f"{CORPUS}/c/tsvc")
    count: Counter[str] = Counter()
    for path in sorted(folder.glob("*.c")):
        found = answers(path)
        count.update({one if "(" not in one else "other storage or order" for one in found} or {"no loop"})
        print(f"{path.stem:8} {' | '.join(found)}", flush=True)
    print(", ".join(f"{number} {what}" for what, number in count.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
