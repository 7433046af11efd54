"""Decides whether operations that look like statements of the original mean the same.

The texts of an operation and of a statement match up to subscripts and iterators.  This module compares the
meaning of the rest as the compiler sees it: macros, types, constants and called functions may differ between
two files, and between two places of one file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from loopwright.c.references import reference_of
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, typed_text
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.types import CType, Pointer, unqualified
from loopwright.check.original.sameness import Sameness, type_difference
from loopwright.check.original.specification import Specification, Stated
from loopwright.check.original.structure import (
    PROTOTYPE,
    TypedOperation,
    assignment_of,
    inner_assignment,
    mark,
    marked_operations,
    match_assignments,
    reads,
)
from loopwright.check.program.directives import refuse_directives
from loopwright.check.program.instrument import around_sites, inserted
from loopwright.check.program.outside import refuse_hidden, refuse_other_sizes, refuse_unseen
from loopwright.check.program.sites import Candidate, Site, Sites
from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, with_edits

_GOTO = re.compile(r"\bgoto\b")
"""Searched for in the preprocessed source, where it has only this spelling."""


def with_same_meaning(spec: Specification, sites: Sites, options: CompilerOptions) -> Sites:
    """Return the sites, each with the candidates that mean the same; raises GaveUp if none is left."""
    old = typed_text(Source(spec.program.source.path, PROTOTYPE + _marked_original(spec)), options)
    marks = around_sites(sites, sites.sites, lambda site, observed: mark(site.number, _texts(site)))
    text = PROTOTYPE + inserted(sites.known.segment, marks, "", "")
    new = typed_text(Source(sites.known.source.path, text), options)
    refuse_directives(spec, sites.known)
    refuse_unseen(spec, sites.known)
    refuse_hidden(sites.known, new.text)
    given = {one[2:].partition("=")[0] for one in options.arguments if one.startswith("-D")}
    refuse_other_sizes(spec, given.union(dict(sites.known.segment.sizes)), old.text, new.text)
    compared = _Meanings(spec, sites, old, new, marked_operations(old), marked_operations(new))
    jumps = _GOTO.search(new.text.text) is not None
    return replace(sites, sites=tuple(compared.site(site) for site in sites.sites), jumps=jumps)


def _marked_original(spec: Specification) -> str:
    """The original with a mark before each of its statements."""
    added = sorted(edit for statement in spec.statements for edit in _edits(spec, statement))
    return with_edits(spec.program.source.text, ((offset, offset, text) for offset, text in added))


def _edits(spec: Specification, statement: Stated) -> Iterator[tuple[int, str]]:
    node, value = statement.assignment.node, statement.assignment.value
    call = mark(statement.number, _texts_of_original(spec, statement))
    if node.type == "init_declarator" and value is not None:
        yield from ((value.start, f"({call}, "), (value.end, ")"))
    else:
        yield node.start, f"{call}, "


def _texts_of_original(spec: Specification, statement: Stated) -> list[str]:
    assignment, side = statement.assignment, spec.side
    cells = [assignment.target, *(cell.node for cell in reads(side, assignment))]
    holes = match_assignments(side, assignment, statement.symbols, side, assignment) or ()
    return [node.text for node in (*cells, *(node for _, node in holes))]


def _texts(site: Site) -> list[str]:
    cells = [site.write.node, *(cell.node for cell in site.reads)]
    return [node.text for node in (*cells, *(node for one in site.candidates for _, node in one.holes))]


@dataclass(frozen=True)
class _Meanings:
    """The typed ASTs of both files, with their marked operations."""

    spec: Specification
    sites: Sites
    old: TypedFile
    new: TypedFile
    statements: dict[int, TypedOperation]
    operations: dict[int, TypedOperation]
    compared: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def site(self, site: Site) -> Site:
        """The site with the candidates that mean the same."""
        reasons = [self._reason(site, candidate) for candidate in site.candidates]
        same = [one for one, reason in zip(site.candidates, reasons, strict=True) if reason is None]
        first = next((reason for reason in reasons if reason is not None), None)
        if first is not None and not same:
            raise _undecided(site, first)
        return replace(site, candidates=tuple(same))

    def _reason(self, site: Site, candidate: Candidate) -> str | None:
        """Return why an operation is not known to equal a statement; None if it is."""
        old = self.statements.get(candidate.statement.number)
        new = self.operations.get(site.number)
        if old is None or new is None:
            return _unread(self.old if old is None else self.new)
        count = 1 + len(site.reads)
        start = count + site.first_hole(candidate) - site.first_hole(site.candidates[0])
        rules = Sameness(
            self.old,
            self.new,
            old.arguments[:count],
            new.arguments[:count],
            old.arguments[count:],
            new.arguments[start : start + len(candidate.holes)],
            compared=self.compared,
        )
        return (
            _problem(old)
            or _problem(new)
            or self._roots(site, new.arguments[:count])
            or _operation_difference(rules, site, old, new)
        )

    def _roots(self, site: Site, cells: Sequence[tree.Expression]) -> str | None:
        """Let the compiler read the names of arrays as they are written."""
        for cell, typed in zip((site.write, *site.reads), cells, strict=True):
            reference = reference_of(cell.node)
            declared = _root(typed)
            if reference is None or declared is None or declared.name != reference.root.text:
                return f"'{cell.node.text}' is a macro, or names something else"
        return None


def _root(node: tree.Expression) -> tree.Declaration | None:
    """The variable that an element belongs to or is reached from."""
    match node:
        case tree.Name():
            return node.declaration
        case tree.Subscript():
            return _root(node.base)
        case tree.MemberAccess():
            return _root(node.object)
        case tree.Cast():
            return _root(node.operand)
        case tree.Unary() if node.operator in ("*", "&"):
            return _root(node.operand)
        case tree.Binary() if node.operator in ("+", "-"):
            sides = [one for one in (node.left, node.right) if isinstance(unqualified(one.type), Pointer)]
            return _root(sides[0]) if len(sides) == 1 else None
        case _:
            return None


def _operation_difference(
    rules: Sameness, site: Site, old: TypedOperation, new: TypedOperation
) -> str | None:
    """Require equal target types, equal operation types and equal values."""
    reason = type_difference(_target_type(old), _target_type(new))
    if reason is not None:
        return f"'{site.write.node.text}': {reason}"
    reason = rules.expressions(old.arguments[0], new.arguments[0])
    if reason is not None or isinstance(old.node, tree.Update) != isinstance(new.node, tree.Update):
        return reason or "the operators differ"
    if isinstance(old.node, tree.Update):
        return None
    if isinstance(old.node, tree.Assign) and isinstance(new.node, tree.Assign):
        reason = type_difference(old.node.computed, new.node.computed)
        if reason is not None:
            return f"what '{old.node.operator}' computes: {reason}"
    return rules.expressions(_value(old), _value(new, site))


def _target_type(operation: TypedOperation) -> CType:
    node = operation.node
    if operation.declared is not None:
        return operation.declared.type
    return node.target.type if isinstance(node, tree.Assign | tree.Update) else node.type


def _value(operation: TypedOperation, site: Site | None = None) -> tree.Expression:
    """The assigned value; for `a = c = b`, c or b depending on the site."""
    node = operation.node
    if operation.declared is not None or not isinstance(node, tree.Assign):
        return tree.without_casts(node)
    meant = None if site is None else site.assignment
    written = None if meant is None else assignment_of(meant.node)
    while written is not None and meant is not None and written.value != meant.value:
        inner, written = inner_assignment(node), written.inner
        if inner is None:
            break
        node = inner
    last = inner_assignment(node)
    return last.target if last is not None and meant is not None else tree.without_casts(node.value)


def _problem(operation: TypedOperation) -> str | None:
    """The part of an operation that is not understood; problems in the code around it do not count.

    If the front end dropped part of a function, names in it may mean something else.
    """
    place = operation.node.place
    for error in operation.function.errors:
        return f"the function around it is not understood: {error}"
    for problem in operation.function.problems:
        is_around = problem.first <= place.first and place.end <= problem.end
        if place.first < problem.end and problem.first < place.end and not is_around:
            return problem.reason
    return None


def _unread(file: TypedFile) -> str:
    errors = [error for function in file.functions for error in function.errors]
    return f"its types are not known: {errors[0]}" if errors else "its types are not known"


def _undecided(site: Site, reason: str) -> GaveUp:
    message = f"this operation is not known to mean what it means in the original: {reason}"
    hint = "give both programs the same types, macros and functions"
    return GaveUp(Code.UNDECIDED, message, span=site.assignment.node.span, hint=hint)
