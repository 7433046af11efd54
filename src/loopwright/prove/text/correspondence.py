"""A program's text against its model [Namjoshi2016, section 4.2].

The model says which instances there are and when each runs; the text says so too, by its loops.
The loops are translated from the syntax tree into LOOP, apart from the reader, and proved to run
exactly the model's schedule: here with isl, every instance once, none besides, in the order of the
times; in `ranking` with cvc5, step by step, by the conditions of that section.
"""

from __future__ import annotations

from loopwright.model.program import Program
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.text.c_expressions import Unreadable
from loopwright.prove.text.loops import text_loops
from loopwright.prove.verdict import Undecided, Verdict
from loopwright.transform.scheduling import flat_schedule


def prove_model(program: Program) -> Verdict:
    """Whether the model that was read is what the text of the region does, for all parameters."""
    try:
        loops = text_loops(program)
    except Unreadable as failure:
        return Undecided(str(failure))
    return prove_scan(flat_schedule(program), loops)
