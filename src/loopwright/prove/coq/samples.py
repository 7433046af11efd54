"""That a file is about something: sizes for which each statement has an instance, as examples Coq checks.

A theorem about all sizes in a context that has none, or about statements that never run, would be
true of any program.
"""

from __future__ import annotations

import islpy as isl

from loopwright.presburger.points import smallest_point
from loopwright.prove.coq.names import comment
from loopwright.prove.coq.statements import Named, domain_name, label
from loopwright.prove.coq.terms import integer, listed
from loopwright.prove.obligations.timetable import Shape, TimedStatement


def sample_examples(named: Named, known: str) -> list[str]:
    """An example for every statement; where one has no instances, that is said."""
    if smallest_point(named.table.context) is None:
        return ["(** No values of the parameters are possible, so that nothing is said here. *)"]
    found = [_example(named, statement, known) for statement in named.table.statements]
    return [ABOUT, *(one for one in found if one)] if any(found) else []


ABOUT = """\
(** ** This is about something: sizes that are allowed, and an instance of each statement. *)"""


def _example(named: Named, statement: TimedStatement, known: str) -> str:
    """Nothing is shown where instances have several times: these are in the proof of coverage."""
    shapes = [shape for shape in statement.shapes if not shape.times]
    points = [(shape, smallest_point(_possible(named, shape))) for shape in shapes]
    point = next((point for _, point in points if point is not None), None)
    if not shapes:
        return ""
    if point is None:
        return f"(** {comment(statement.name)} has no instance. *)"
    sizes = [integer(point.parameters.get(name, 0)) for name in named.table.parameters]
    at = "".join(f" {size}" for size in sizes)
    instance = listed(map(integer, point.coordinates))
    return (
        f"Example instance_{label(named, statement)} : "
        f"{known} {listed(sizes)} /\\ {domain_name(named, statement)}{at} {instance}.\n"
        "Proof. formula_holds. Qed."
    )


def _possible(named: Named, shape: Shape) -> isl.Set:
    return shape.wanted.intersect_params(named.table.context.params())
