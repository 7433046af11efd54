"""Rewrites `omp parallel` blocks that contain only work-sharing loops: each loop becomes a parallel loop.

    #pragma omp parallel private(x)                   {
    {                                                 #pragma omp parallel for private(x) schedule(static)
    #pragma omp for schedule(static)                  for (..) A
    for (..) A                                        #pragma omp parallel for private(x)
    #pragma omp for                                   for (..) B
    for (..) B                                        }
    }

A loop around these that each thread runs by itself, with a private iterator, is kept as one loop.  All
threads wait at the end of a work-sharing loop, as at the end of a parallel one, so `nowait` is dropped on
the last loop and supported nowhere else.  A private value does not survive from one loop to the next in the
new form: a program that relies on it reads an indeterminate value there.  A reduction on the block is one
on its only loop.  Line numbers do not change.

`with_ordered_tests` rewrites `i != n` in a loop that an OpenMP directive divides as the equivalent `i < n`:

    #pragma omp parallel for                          #pragma omp parallel for
    for (int i = 0; i != n; i++) B;                   for (int i = 0; i < n; i++) B;

OpenMP's canonical loops with `!=` count by one, no statement of B exits them, and n does not change:
with n below the first value, i would overflow, which is undefined behaviour for signed numbers of 32 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.file import c_file
from loopwright.c.loops import first_value, loop_iterator
from loopwright.c.regions import Directive, Region
from loopwright.c.reworded.passages import changed_in, is_before
from loopwright.c.reworded.plain_loops import is_simple, stepped
from loopwright.c.syntax import Node, field, identifiers, walk
from loopwright.c.tokens import names_in
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.known_values import integer_type
from loopwright.c.typed.options import CompilerOptions
from loopwright.source import Edit, Source, Span

BLOCK = re.compile(r"\s*omp\s+parallel\b(?!\s*[,]?\s*(?:for|sections|loop|masked|master|workshare)\b)")
_FOR = re.compile(r"\s*omp\s+(for(?:\s+simd)?)\b")
_BARRIER = re.compile(r"\s*omp\s+barrier\s*")
_NOWAIT = re.compile(r"[\s,]*\bnowait\b")
CLAUSES = re.compile(
    r"(?:[\s,]*(?:private|shared|default|num_threads|proc_bind|if|reduction)\s*\([^()]*(?:\([^()]*\)[^()]*)*\))*\s*"
)


def with_parallel_loops(source: Source) -> Source:
    """The source without such blocks in its regions."""
    file = c_file(source)
    edits = [
        edit
        for region in file.regions
        for pragma in region.pragmas
        if BLOCK.match(pragma.argument) is not None
        for edit in _edits(file.block(region.place), region, pragma)
    ]
    return source.edited(sorted(edits)) if edits else source


def _edits(around: Node, region: Region, pragma: Directive) -> list[Edit]:
    """Edits that make the loops of a block parallel; none if the block contains anything else."""
    head = BLOCK.match(pragma.argument)
    clauses = pragma.argument[head.end() :] if head is not None else ""
    after = [one for one in around.statements() if one.start >= pragma.place.end]
    block = min(after, key=lambda one: (one.start, -one.end), default=None)
    if block is None or CLAUSES.fullmatch(clauses) is None:
        return []
    inner = [one for one in region.pragmas if pragma.place.end <= one.place.start < block.end]
    team = _Team(clauses, inner, frozenset(changed_in(block)))
    edits = team.shared(block, pragma.place.end, is_last=True)
    if edits is None or not team.loops or (team.loops > 1 and "reduction" in clauses):
        return []
    return [_edit(pragma, ""), *edits]


class _Team:
    """The threads of a block: its clauses and pragmas, and the names that it modifies."""

    def __init__(self, clauses: str, pragmas: list[Directive], changed: frozenset[str]) -> None:
        self.clauses, self.pragmas, self.changed = clauses, pragmas, changed
        self.loops = 0
        """The number of work-sharing loops."""

    def shared(self, block: Node, at: int, *, is_last: bool) -> list[Edit] | None:
        """Edits that make the work-sharing loops parallel; None if there is anything else."""
        parts = block.named_children if block.type == "compound_statement" else [block]
        loops = [one for one in parts if one.type not in ("comment", "preproc_call")]
        edits: list[Edit] = []
        for loop in loops:
            own = [one for one in self.pragmas if at <= one.place.start < loop.start]
            said = [one for one in own if not _is_barrier(one)]
            if loop.type != "for_statement" or len(said) > 1:
                return None
            edits += [_edit(one, "") for one in own if one not in said]
            is_end = is_last and loop is loops[-1]
            found = self._shared_loop(said[0], is_last=is_end) if said else self._run_by_all(loop)
            if found is None:
                return None
            edits += found
            at = loop.end
        rest = [one for one in self.pragmas if at <= one.place.start < block.end]
        return [*edits, *(_edit(one, "") for one in rest)] if all(map(_is_barrier, rest)) else None

    def _shared_loop(self, pragma: Directive, *, is_last: bool) -> list[Edit] | None:
        head = _FOR.match(pragma.argument)
        if head is None:
            return None
        further = pragma.argument[head.end() :]
        is_unlike = not {*names_in(further)}.isdisjoint(_private(self.clauses))
        if is_unlike or (_NOWAIT.search(further) is not None and not is_last):
            return None
        self.loops += 1
        said = f"#pragma omp parallel {head[1]}{self.clauses} {_NOWAIT.sub(' ', further).strip()}"
        return [_edit(pragma, said.rstrip())]

    def _run_by_all(self, loop: Node) -> list[Edit] | None:
        """Edits for a loop that each thread runs by itself, with a private iterator and invariant bounds."""
        start, test = (loop.child_by_field_name(one) for one in ("initializer", "condition"))
        update, name = loop.child_by_field_name("update"), loop_iterator(loop)
        if start is None or start.type != "declaration" or name is None or test is None or update is None:
            return None
        others = {*identifiers(first_value(loop)), *identifiers(test)} - {name}
        changed = changed_in(field(loop, "body"))
        is_plain = is_simple(first_value(loop)) and is_simple(test) and stepped(update) == name
        if not is_plain or name in changed or not others.isdisjoint(self.changed):
            return None
        self.loops += 1  # the work-sharing loops in it run several times
        return self.shared(field(loop, "body"), loop.start, is_last=False)


def _private(clauses: str) -> set[str]:
    return {name for inside in re.findall(r"\bprivate\s*\(([^()]*)\)", clauses) for name in names_in(inside)}


def _is_barrier(pragma: Directive) -> bool:
    return _BARRIER.fullmatch(pragma.argument) is not None


def _edit(pragma: Directive, words: str) -> Edit:
    return pragma.place.reworded(words)


_DIVIDING = re.compile(r"\s*omp\s+(?:parallel\s+)?(?:for|simd)\b(?!.*\b(?:collapse|ordered)\b)", re.DOTALL)
_SIGN = re.compile(r"\s*!=\s*")


def with_ordered_tests(source: Source, options: CompilerOptions) -> Source:
    """The source with such tests replaced; loops without such a directive are kept."""
    divided = {span.start for span in _divided(source)} if "!=" in source.text else set()
    if not divided:
        return source
    typed = [one for one in typed_file(source, options).regions if isinstance(one, TypedRegion)]
    loops = (node for one in typed for node in tree.walk_all(one.statements))
    edits = [
        edit
        for node in loops
        if isinstance(node, tree.ForStatement) and node.place.span.start in divided
        for edit in _test_edits(node, source)
    ]
    return source.edited(sorted(edits))


def _divided(source: Source) -> Iterator[Span]:
    """The loops that such directives apply to."""
    file = c_file(source)
    for region in file.regions:
        pragmas = [one for one in region.pragmas if _DIVIDING.match(one.argument)]
        for node in walk(file.block(region.place)) if pragmas else ():
            if node.type == "for_statement" and any(is_before(one, node) for one in pragmas):
                yield node.span


def _test_edits(loop: tree.ForStatement, source: Source) -> Iterator[Edit]:
    match loop.test, loop.step:
        case tree.Binary(operator="!=", left=left, right=right), tree.Update(operator=step, target=target):
            name = tree.without_casts(left)
            kind = integer_type(name.type)
            if not isinstance(name, tree.Name) or kind is None or not kind.signed or kind.bits < 32:
                return
            if tree.root_of(target) != name.declaration or loop.test is None or loop.test.place.macro:
                return
            between = Span(source, left.place.span.end, right.place.span.start)
            if _SIGN.fullmatch(between.text):
                yield between.start, between.end, " < " if step == "++" else " > "
