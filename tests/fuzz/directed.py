"""Tests `prove FILE.c` on programs with OpenMP directives: those it calls legal are run with threads.

Only the directives differ from the original, so a wrong yes leaves different bits, or races.  For a no, the
two iterations that it names must access the cell that it names.
"""

from __future__ import annotations

import random
import re
from collections import Counter

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.rewrite.directives import prove_directives
from loopwright.rewrite.request import Request
from tests.fuzz.dependent import counted_program, dependent_program, sequential_program
from tests.fuzz.findings import Finding
from tests.fuzz.judge import Pair, judged, judged_with_threads
from tests.fuzz.limits import Late, limited
from tests.fuzz.mutants import Mutant, wrong_mutant
from tests.fuzz.places import old_path
from tests.fuzz.programs import Program, random_program
from tests.fuzz.shrink import shrunk_pair
from tests.fuzz.traces import Untraced, unconfirmed

CLAUSES = ("private({})",) * 8 + ("lastprivate({})",) * 4 + ("shared({})", "firstprivate({})") * 2
SUMS = ("reduction(+:{})", "reduction(+:{})", "reduction(-:{})", "reduction(*:{})", "reduction(max:{})")
"""Of whole numbers: other sums are rounded in another way, which these clauses ask for."""
MORE = (
    *("schedule(static)", "schedule(static, 2)", "num_threads(3)", "if(n > 3)", "order(concurrent)"),
    "collapse(2)",
)


def directed_pair(seed: int) -> Pair:
    """A program, and the same with a directive at one of its loops or two."""
    rng = random.Random(f"directive {seed}")
    made = sequential_program if rng.random() < 0.9 else dependent_program
    program = made(rng, 0.6) if rng.random() < 0.85 else random_program(rng)
    program = counted_program(rng) if rng.random() < 0.12 else program
    lines = program.text.split("\n")
    loops = [k for k, line in enumerate(lines) if line.lstrip().startswith("for (")]
    chosen = rng.sample(loops, min(len(loops), rng.choice((1, 1, 1, 2))))
    if rng.random() < 0.4:
        chosen = loops[:1]
    for where in sorted(chosen, reverse=True):
        is_nest = lines[where + 1].lstrip().startswith("for (")
        lines.insert(where, _directive(rng, program, is_nest=is_nest))
    return Pair(program.text, "\n".join(lines), program.arrays)


def _directive(rng: random.Random, program: Program, *, is_nest: bool) -> str:
    words = ["#pragma omp", rng.choice(("parallel for",) * 6 + ("parallel for simd", "simd"))]
    are_whole = not re.search(r" (double|float) [sA]", program.text)
    clauses = CLAUSES + SUMS * 2 if are_whole else CLAUSES
    added = re.search(r" s ([-+*])= ", program.text) if are_whole else None
    if added is not None and rng.random() < 0.7:  # the clause that its loop needs
        words.append(f"reduction({added[1]}:s)")
    else:
        used = [name for name in "stvc" if re.search(rf"\b{name}\b(?! = \d;)", program.text)]
        likely = [name for name in used if re.search(rf"(?<!\w ){name}(\[\w*\])? = ", program.text)] or used
        names = rng.sample(likely, min(len(likely), rng.choice((0, 1, 1, 2))))
        words += [rng.choice(clauses).format(name) for name in names]
    if rng.random() < 0.25:
        words.append(rng.choice(MORE if is_nest else MORE[:-1]))
    return " ".join(words)


def directive_case(seed: int, outcomes: Counter[str]) -> Mutant | Finding | None:
    return said_of_directives(seed, directed_pair(seed), outcomes)


def said_of_directives(seed: int, pair: Pair, outcomes: Counter[str]) -> Mutant | Finding | None:
    """What `prove` says of the directives of a text; None where it is no yes."""
    try:
        with limited():
            prove_directives(Request(str(old_path(pair.new))))
    except (BadInput, GaveUp) as failure:
        outcomes[f"directive: {type(failure).__name__}"] += 1
        return None
    except Illegal as failure:
        return _refused(seed, pair, failure, outcomes)
    except Exception as failure:
        texts = (("program", pair.old), ("new", pair.new))
        return Finding("directive", seed, f"{type(failure).__name__}: {failure}", texts)
    except Late:
        outcomes["directive: late"] += 1
        return None
    outcomes["directive: Proved"] += 1
    return Mutant("directive", seed, pair, "proved", yes=True)


def _refused(seed: int, pair: Pair, failure: Illegal, outcomes: Counter[str]) -> Finding | None:
    """A no that the touches of the loops do not confirm, where they can be traced."""
    try:
        told = unconfirmed(pair.new, failure.diagnostic.details or {"violations": ()})
    except Untraced:
        outcomes["directive: Illegal, not traced"] += 1
        return None
    outcomes["directive: Illegal"] += 1
    texts = (("program", pair.old), ("new", pair.new))
    return None if told is None else Finding("directive", seed, f"a no that no trace confirms: {told}", texts)


def small_directive(pair: Pair, one: Mutant | Finding) -> Finding | None:
    """What is wrong, with as little as possible of the text."""
    found = wrong_directive(one)
    if found is None:
        return None

    def again(other: Pair) -> Finding | None:
        said = said_of_directives(one.seed, other, Counter())
        return None if said is None else wrong_directive(said)

    return shrunk_pair(found, pair, again)


def wrong_directive(one: Mutant | Finding) -> Finding | None:
    """What running shows against a yes."""
    if isinstance(one, Finding):
        return one
    return wrong_mutant(one, *judged([one.pair])) or wrong_mutant(one, *judged_with_threads([one.pair]))
