"""Tests random scripts on random programs: results of `transform` are run beside the original."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from loopwright.errors import BadInput, GaveUp, Illegal, LoopwrightError
from loopwright.model.program import Program as ReadProgram
from loopwright.progress import silent
from loopwright.prove.legality.plans import prove_plan
from loopwright.read.c.reader import read_c
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request, TargetName
from loopwright.transform import plan_of
from tests.fuzz.dependent import dependent_program
from tests.fuzz.findings import Finding, symptom
from tests.fuzz.judge import Judgement, Pair, judged, judged_with_threads
from tests.fuzz.limits import Late, limited
from tests.fuzz.places import old_path
from tests.fuzz.programs import Program, random_program
from tests.fuzz.scripts import random_operation
from tests.fuzz.shrink import shrunk

KERNELS = "begins here. */\n"
"""The end of what the text of kernels starts with."""
TRIES = 10
"""How many operations are tried on a program; those that are refused are left out of its script."""

Choose: TypeAlias = Callable[[random.Random, ReadProgram, int], tuple[str, ...]]
"""The lines of an operation, by the program and the number of the try."""
DEPENDENT = 0.55
"""How many of the programs are small."""


@dataclass(frozen=True)
class Case:
    """A program, a script for it, and the text that `transform` makes."""

    seed: int
    program: Program
    script: tuple[str, ...]
    new: str = ""
    openmp: bool = False
    guard: bool = False
    prelude: str = ""
    """What kernels need before them."""
    guarded: bool = False
    """Whether nothing is left to assume."""

    @property
    def pair(self) -> Pair:
        texts = self.program.text, self.new
        made = Pair(*texts, self.program.arrays, guarded=self.guarded, prelude=self.prelude)
        return replace(made, is_hostile=self.guarded)


def program_of(rng: random.Random) -> Program:
    """A program of any kind, or a small one."""
    return dependent_program(rng) if rng.random() < DEPENDENT else random_program(rng)


def case_of(seed: int, outcomes: Counter[str]) -> Case | Finding | None:
    """The accepted script of this seed, or the failure that is no answer; None where all is refused."""
    rng = random.Random(seed)
    program = program_of(rng)
    script: tuple[str, ...] = ()
    try:
        with limited():
            wanted = rng.choice((1, 1, 2, 2, 3)) if rng.random() < 0.95 else 0
            script = script_of(program, rng, random_operation, wanted)
            case = _given(seed, program, script)
            made = accepted(case)
    except LoopwrightError as failure:
        if not isinstance(failure, BadInput | Illegal | GaveUp):
            return _crash(seed, program, script, failure)
        outcomes[f"transform: {type(failure).__name__}"] += 1
        return None
    except Exception as failure:
        return _crash(seed, program, script, failure)
    except Late:
        outcomes["transform: late"] += 1
        return None
    outcomes["transform: accepted"] += 1
    return made


def _given(seed: int, program: Program, script: tuple[str, ...]) -> Case:
    """A case with the options that its script needs; some get a guard."""
    return Case(seed, program, script, openmp="parallel" in "".join(script), guard=seed % 8 == 0)


def script_of(program: Program, rng: random.Random, choose: Choose, wanted: int) -> tuple[str, ...]:
    """Operations that can be performed, and are legal as far as the first proof sees."""
    (read,) = read_c(old_path(program.text))
    plan, kept = plan_of(read), tuple[str, ...]()
    for number in range(TRIES):
        if len(kept) >= wanted:
            break
        lines = choose(rng, read, number)
        try:
            after = plan.transform("\n".join(lines))
            if prove_plan(after).proved:
                plan, kept = after, (*kept, *lines)
        except (BadInput, GaveUp):
            continue
        except Exception:
            return (*kept, *lines)
    return kept


def accepted(case: Case) -> Case:
    path = old_path(case.program.text)
    script = "\n".join(case.script) or None
    cuda = script is not None and "block(" in script
    target, guard = TargetName.CUDA if cuda else TargetName.C, case.guard and not cuda
    request = Request(str(path), script, openmp=case.openmp, guard=guard, target=target)
    outcome = transformed(request, silent)
    guarded = request.guard and not outcome.left
    kernels = "" if outcome.kernels is None else outcome.kernels.text
    prelude, mark, launched = kernels.partition(KERNELS)
    return replace(case, new=launched + outcome.source.text, guarded=guarded, prelude=prelude + mark)


def _crash(seed: int, program: Program, script: tuple[str, ...], failure: Exception) -> Finding:
    texts = (("program", program.text), ("script", "\n".join(script)))
    return Finding("transform", seed, f"{type(failure).__name__}: {failure}", texts)


def wrong(cases: list[Case]) -> list[Finding]:
    """The accepted cases that running does not confirm."""
    told = judged([case.pair for case in cases])
    found = [wrong_case(case, one) for case, one in zip(cases, told, strict=True)]
    return [one for one in found if one is not None] + races(cases)


def races(cases: list[Case]) -> list[Finding]:
    """The accepted cases with threads that running them does not confirm."""
    marked = [case for case in cases if "#pragma omp" in case.new]
    told = judged_with_threads([case.pair for case in marked])
    found = [wrong_case(case, one) for case, one in zip(marked, told, strict=True)]
    return [one for one in found if one is not None]


def wrong_case(case: Case, told: Judgement) -> Finding | None:
    if not told.wrong:
        return None
    texts = (("program", case.program.text), ("script", "\n".join(case.script)), ("new", case.new))
    return Finding("transform", case.seed, told.wrong[0], texts)


def small(finding: Finding) -> Finding:
    """The same failure of a smaller program."""
    texts = dict(finding.texts)
    one = _known(finding)
    script = tuple(texts["script"].split("\n")) if texts["script"] else ()
    case = replace(one, script=script)
    found = finding

    def same(text: str, script: tuple[str, ...]) -> bool:
        nonlocal found
        again = tried(replace(case, program=replace(one.program, text=text), script=script))
        if again is None or symptom(again) != symptom(finding):
            return False
        found = again
        return True

    for line in script:
        fewer = tuple(one for one in case.script if one != line)
        if same(one.program.text, fewer):
            case = replace(case, script=fewer)
    shrunk(one.program.text, lambda text: same(text, case.script))
    return found


def tried(case: Case) -> Finding | None:
    """What is wrong with a case whose program and script are given."""
    try:
        made = accepted(case)
    except (BadInput, Illegal, GaveUp):
        return None
    except Exception as failure:
        return _crash(case.seed, case.program, case.script, failure)
    return next(iter(wrong([made])), None)


def _known(finding: Finding) -> Case:
    program = program_of(random.Random(finding.seed))
    return replace(_given(finding.seed, program, (dict(finding.texts)["script"],)), script=())
