"""Plants a mistake in the result of one step of `transform`: the later proofs must detect it.

    storage   other subscripts, sizes or loops that copy, in the text that an operation on storage makes
    loops     loops of kernels that run other iterations
    text      a token of the C that is printed: loops, clauses, guards
    types     a cast of the C that is printed, or the type of a local
    kernels   a token of the text of kernels

An accepted mistake is run beside the original: it may be without effect.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from unittest.mock import patch

from loopwright.emit.cuda.text import DeviceText, device_text
from loopwright.emit.region import Loops, new_source
from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.loops.nodes import Node
from loopwright.model.program import Array, Program
from loopwright.rewrite import cuda, targets
from loopwright.source import Source
from loopwright.transform import Plan, storage
from loopwright.transform.storage import TextEdit
from tests.fuzz.dependent import dependent_program, local_program, stored_program
from tests.fuzz.findings import Finding
from tests.fuzz.limits import Late, limited
from tests.fuzz.mutants import Mutant, mutated, other_token, tokens, with_another_type
from tests.fuzz.programs import random_program
from tests.fuzz.scripts import mapped_loops, marked_loop, random_operation, storage_operation
from tests.fuzz.transforms import KERNELS, Case, accepted, script_of
from tests.prove.mutation import mutants

TOGETHER = 3
"""Numbers that have one program and script."""
STAGES = ("storage",) * 3 + ("text",) * 4 + ("types", "types", "kernels", "kernels", "loops")


def stage_case(seed: int, outcomes: Counter[str]) -> Mutant | Finding | None:
    """What `transform` makes of a program where one of its steps is wrong; None where that is seen."""
    rng = random.Random(f"stage {seed}")
    mistake = Mistake(rng, random.Random(f"stage of {seed // TOGETHER}").choice(STAGES))
    try:
        with limited():
            number = seed if mistake.stage == "types" else seed // TOGETHER  # these have few types to change
            case = replace(_case(number, mistake.stage), seed=seed)
            with mistake.planted(guarded=case.guard):
                done = accepted(case)
    except Late:
        outcomes["stage: late"] += 1
        return None
    except Exception as failure:
        if mistake.made:  # whatever it is that stops on what a step would not hand on, it stops
            outcomes["stage: refused"] += 1
            return None
        if not isinstance(failure, BadInput | Illegal | GaveUp):
            return Finding("stage", seed, f"{type(failure).__name__}: {failure}", ())
        outcomes[f"stage: {type(failure).__name__}"] += 1
        return None
    if not mistake.made:
        outcomes["stage: BadInput"] += 1
        return None
    outcomes["stage: accepted"] += 1
    told = f"/* {mistake.stage}: {'; '.join(case.script)} */\n{done.new}"
    return Mutant("stage", seed, replace(done.pair, new=told), "proved", yes=True)


TRIES = 4
"""Programs of which one may have a script that is accepted."""


@lru_cache(maxsize=2)
def _case(number: int, stage: str) -> Case:
    """A program, and a script that is accepted."""
    rng = random.Random(f"stages {number}")
    made = (_tried(rng, number, stage) for _ in range(TRIES))
    return next((case for case in made if case.script), Case(number, dependent_program(rng), ()))


def _tried(rng: random.Random, seed: int, stage: str) -> Case:
    match stage:
        case "storage":
            program = stored_program(rng)
            script = script_of(program, rng, storage_operation, 1)
        case "kernels" | "loops":
            program = dependent_program(rng, 0.7)
            script = script_of(program, rng, mapped_loops, 1)
        case "types":
            program = local_program(rng)
            script = script_of(program, rng, random_operation, rng.choice((0, 1, 1)))
        case _:
            program = dependent_program(rng, 0.4) if rng.random() < 0.7 else random_program(rng)
            chosen = rng.choice((random_operation, random_operation, storage_operation, marked_loop))
            script = script_of(program, rng, chosen, rng.choice((0, 1, 1, 2)))
    is_guarded = stage == "text" and rng.random() < 0.35
    return Case(seed, program, script, openmp="parallel" in "".join(script), guard=is_guarded)


@dataclass
class Mistake:
    """A step that does something else than it should, once or each time that it is taken."""

    rng: random.Random
    stage: str
    made: bool = False

    @contextmanager
    def planted(self, *, guarded: bool) -> Iterator[None]:
        """The step is wrong inside of this; where there is a guard, when what it guards is printed."""
        change: AbstractContextManager[object]
        match self.stage:
            case "storage":
                change = patch.object(storage, "_edited", self._edited(storage._edited))
            case "loops":
                step = cuda.CudaTarget.generated
                change = patch.object(cuda.CudaTarget, "generated", self._generated(step))
            case "kernels":
                change = patch.object(cuda, "device_text", self._device(device_text))
            case _:
                change = patch.object(targets, "new_source", self._source(new_source, guarded))
        with change:
            yield

    def other(self, text: str) -> str:
        """The text with one of its tokens changed; as it is where none is found to change."""
        found = tokens(text)
        names = {one.group() for one in found} | {"n", "m", "i", "j"}
        for one in self.rng.choices(found, k=12) if found else ():
            word = other_token(self.rng, one.group(), names)
            if word != one.group():
                self.made = True
                return text[: one.start()] + word + text[one.end() :]
        return text

    def _edited(self, step: Callable[..., Source]) -> Callable[..., Source]:
        def edited(program: Program, edits: Sequence[TextEdit], new: Sequence[Array], end: str) -> Source:
            edits, new, kind = list(edits), list(new), self.rng.random()
            sized = [k for k, one in enumerate(new) if one.extents]
            if sized and kind < 0.4:
                at = self.rng.choice(sized)
                where = self.rng.randrange(len(new[at].extents))
                sizes = list(new[at].extents)
                sizes[where] = f"({sizes[where]}) {self.rng.choice(('- 1', '- 1', '+ 1', '- 2'))}"
                new[at], self.made = replace(new[at], extents=tuple(sizes)), True
            elif edits and (kind < 0.75 or not end):
                at = self.rng.randrange(len(edits))
                edits[at] = replace(edits[at], text=self.other(edits[at].text))
            else:
                end = self.other(end)
            return step(program, edits, new, end)

        return edited

    def _generated(self, step: Callable[[cuda.CudaTarget, Plan], Node]) -> Callable[..., Node]:
        def generated(target: cuda.CudaTarget, plan: Plan) -> Node:
            node = step(target, plan)
            others = [other for what, other in mutants(node) if what != "make it parallel"]
            self.made = self.made or bool(others)
            return self.rng.choice(others) if others else node

        return generated

    def _device(self, step: Callable[..., DeviceText]) -> Callable[..., DeviceText]:
        def device(regions: Sequence[Loops], *, narrow: bool = False) -> DeviceText:
            made = step(regions, narrow=narrow)
            head, mark, text = made.kernels.text.partition(KERNELS)
            return replace(made, kernels=replace(made.kernels, text=head + mark + self.other(text)))

        return device

    def _source(self, step: Callable[..., Source], guarded: bool) -> Callable[..., Source]:
        def source(regions: Sequence[Loops], *, openmp: bool = False) -> Source:
            made = step(regions, openmp=openmp)
            if guarded and not any(one.guard for one in regions):
                return made
            other = (with_another_type if self.stage == "types" else mutated)(self.rng, made.text)
            self.made = self.made or other != made.text
            return replace(made, text=other)

        return source
