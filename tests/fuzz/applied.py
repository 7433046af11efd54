"""Tests OpenMP's loop transforming directives, applied by `transform --apply-directives`.

Accepted results are run and compared with the program without directives.
"""

from __future__ import annotations

import random
from collections import Counter

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from tests.fuzz.dependent import dependent_program
from tests.fuzz.findings import Finding
from tests.fuzz.judge import Pair
from tests.fuzz.limits import Late, limited
from tests.fuzz.mutants import Mutant
from tests.fuzz.places import old_path

WORDS = (
    "tile sizes(2)", "tile sizes(3)", "tile sizes(2, 3)", "tile sizes(4, 2)", "unroll partial(2)",
    "unroll partial(3)", "unroll full", "reverse", "reverse", "interchange", "interchange",
    "interchange permutation(2, 1)", "split counts(2, omp_fill)", "split counts(omp_fill, 3)",
    "split counts(1, omp_fill, 2)", "stripe sizes(2)", "stripe sizes(2, 2)", "parallel for", "simd",
)  # fmt: skip


def applied_program(rng: random.Random) -> tuple[str, Pair]:
    """A text with one to three directives at a loop, or at two; and the pair with the text without."""
    program = dependent_program(rng, 0.4)
    lines = program.text.split("\n")
    loops = [k for k, line in enumerate(lines) if line.lstrip().startswith("for (")]
    chosen = rng.sample(loops, min(len(loops), rng.choice((1, 1, 1, 2))))
    for where in sorted(chosen, reverse=True):
        is_nest = lines[where + 1].lstrip().startswith("for (")
        of_two = ("sizes(2, ", "sizes(4, ", "interchange")
        known = [one for one in WORDS if is_nest or not any(word in one for word in of_two)]
        words = rng.sample(known, rng.choice((1, 1, 1, 2, 3)))
        lines[where:where] = [f"#pragma omp {one}" for one in words]
    if rng.random() < 0.12:  # all loops of the region as one
        first, last = lines.index("#pragma scop"), lines.index("#pragma endscop")
        lines[first + 1 : last] = ["#pragma omp fuse", "  {", *lines[first + 1 : last], "  }"]
    return "\n".join(lines), Pair(program.text, "", program.arrays)


def applied_case(seed: int, outcomes: Counter[str]) -> Mutant | Finding | None:
    """What `transform` makes of the directives; None where it refuses."""
    text, pair = applied_program(random.Random(f"applied {seed}"))
    try:
        with limited():
            new = transformed(Request(str(old_path(text)), None, directives=True), silent).source.text
    except (BadInput, Illegal, GaveUp) as failure:
        outcomes[f"applied: {type(failure).__name__}"] += 1
        return None
    except Exception as failure:
        return Finding("applied", seed, f"{type(failure).__name__}: {failure}", (("program", text),))
    except Late:
        outcomes["applied: late"] += 1
        return None
    outcomes["applied: accepted"] += 1
    asked = " | ".join(line for line in text.split("\n") if line.startswith("#pragma omp"))
    made = Pair(pair.old, f"/* {asked} */\n{new}", pair.arrays)
    return Mutant("applied", seed, made, "proved", yes=True)
