"""Storage of the segment's own in which it keeps values: these are not followed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from loopwright.c.declarations import declared_name, type_text
from loopwright.c.syntax import Node, walk
from loopwright.c.tokens import names_in
from loopwright.check.program.sites import Site, Sites

_FLOATING = re.compile(r"(?:long )?double|float")
_ALLOCATED = re.compile(r"=.*(\w*alloc\s*\(|\(void \*\))", re.DOTALL)
"""A pointer to memory of its own, not into an array."""


def not_followed(sites: Sites, site: Site, originals: frozenset[str]) -> str | None:
    """Where an assignment has its value from, if that is neither the original's arrays nor followed."""
    stored = _own_storage(sites, site, originals)
    if stored:
        names = ", ".join(stored)
        return f"values are kept in {names}, which the original lacks: `prove` follows such storage"
    value = site.assignment.value
    functions = {one.name for one in sites.known.functions}
    if site.candidates or value is None or not functions.intersection(names_in(value.text)):
        return None
    return f"the value of '{value.text}' is computed in a function: `prove` follows it"


def _own_storage(sites: Sites, site: Site, originals: frozenset[str]) -> list[str]:
    """The arrays and variables of the segment that an assignment reads which the original lacks."""
    value = site.assignment.value
    if site.candidates or value is None:
        return []
    nodes = [node for body in sites.known.bodies for node in walk(body)]
    nodes += [node for one in sites.known.functions for node in one.node.of_type("parameter_declaration")]
    arrays = [one for one in nodes if one.type == "array_declarator" and "*" not in one.text]
    allocated = [one for one in nodes if one.type == "init_declarator" and _ALLOCATED.search(one.text)]
    found = [declared_name(one) for one in (*arrays, *allocated)]
    declared = {one[0] for one in found if one is not None}.union(_floating_variables(nodes)) - originals
    return sorted(declared.intersection(names_in(value.text)))


def _floating_variables(nodes: Iterable[Node]) -> set[str]:
    """The variables that hold one number of floating point each."""
    found: set[str] = set()
    for node in nodes:
        is_declared = node.type in ("declaration", "parameter_declaration")
        if not is_declared or not _FLOATING.fullmatch(type_text(node, qualifiers=False)):
            continue
        for one in node.children_by_field_name("declarator"):
            named = declared_name(one)
            if named is not None and named[1] == 0 and "*" not in one.text.split("=")[0]:
                found.add(named[0])
    return found
