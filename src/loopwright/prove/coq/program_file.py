"""A Coq file about one program: what it is, what it is to run, and why it does."""

from __future__ import annotations

from loopwright.emit.c import to_c
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import in_sequence, subprograms
from loopwright.model.schedule import Schedule
from loopwright.prove.coq.check import how_to_check
from loopwright.prove.coq.names import comment, laid_out
from loopwright.prove.coq.scanning import sample_examples, scanning_proof
from loopwright.prove.coq.statements import (
    Named,
    context_definition,
    every,
    indented,
    program_definition,
    schedule_definitions,
)
from loopwright.prove.obligations.timetable import timetable


def program_file(schedule: Schedule, program: Node, title: str) -> str:
    """The whole file for `program`, which is to run `schedule`."""
    plain = in_sequence(program)
    named = Named(timetable(schedule, plain), plain, "loops", "schedule")
    parts = [
        _heading(named, program, title),
        "From Loopwright Require Import Tactics.",
        "(** ** The program *)",
        program_definition(named),
        RUN,
        f"(** What is known of the parameters. *)\n{context_definition(named.table)}",
        *schedule_definitions(named),
        *sample_examples(named),
        "(** ** The program runs its schedule. *)",
        *scanning_proof(named, "loops_correct"),
        "Print Assumptions loops_correct.",
    ]
    return laid_out("\n\n".join(parts))


RUN = """\
(** ** What it is to run

    Each statement has a domain, the vectors of arguments it runs for, and a time for each of them;
    times are compared lexicographically. *)"""


def _heading(named: Named, program: Node, title: str) -> str:
    parallel = any(isinstance(one, For) and one.parallel is not None for one in subprograms(program))
    remark = "\n    A loop marked parallel is taken in its sequential order here.\n" if parallel else ""
    return f"""(** * {comment(title)}

    The program:
<<
{indented(comment(to_c(program)).splitlines(), 4)}
>>
    Theorem [loops_correct], at the end: {every(named.table, "for")}, this program ends,
    having run every instance of the schedule once, nothing else, and in the schedule's order.
{remark}
    What has to be read to know what is proved: the definitions of [loops] and of
    [schedule], here; [implements], in the library (Poly.v, and Loop.v for what a program
    does).  The rest is checked by Coq:
<<
    {how_to_check("FILE.v")}
>>
    Coq knows nothing of C.  That [loops] is the text above, constructor by constructor, and that
    [schedule] is what was asked for, is taken from the program that wrote this file; both can be
    compared line by line.  So is that integers do not overflow. *)"""
