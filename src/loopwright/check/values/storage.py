"""Values that a segment keeps in arrays that its original lacks."""

from __future__ import annotations

import re
from dataclasses import replace

from loopwright.c.declarations import declared_name
from loopwright.c.syntax import walk
from loopwright.c.tokens import names_in
from loopwright.check.original.specification import Specification
from loopwright.check.program.sites import Sites
from loopwright.check.run.report import Answer, Report

_ALLOCATED = re.compile(r"=.*(\w*alloc\s*\(|\(void \*\))", re.DOTALL)
"""A pointer to memory of its own, not into an array."""


def with_own_storage(sites: Sites, spec: Specification, report: Report) -> Report:
    """Values that operations take from arrays of the segment's own are not followed: no refutation then."""
    if report.answer is not Answer.VIOLATION:
        return report
    nodes = [node for body in sites.known.bodies for node in walk(body)]
    arrays = [declared_name(one) for one in nodes if one.type == "array_declarator" and "*" not in one.text]
    allocated = [node for node in nodes if node.type == "init_declarator" and _ALLOCATED.search(node.text)]
    found = [one for one in (*arrays, *map(declared_name, allocated)) if one is not None]
    declared = {name for name, _, _ in found} - {array.name for array in spec.program.arrays}
    values = [site.assignment.value for site in sites.sites if not site.candidates]
    own = sorted({name for value in values if value for name in names_in(value.text)} & declared)
    if not own:
        return report
    note = f"values are kept in {', '.join(own)}, which the original lacks: `prove` follows such storage"
    return replace(report, answer=Answer.GAVE_UP, findings=(), violations=0, notes=(*report.notes, note))
