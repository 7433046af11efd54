"""Integers and pointers that are counted on in loops, in the words of how often these have run.

    k = 1;                                             ;
    for (i = 0; i < n; i++) { y[i] = x[k]; k += 3; }   for (i = 0; i < n; i++) { y[i] = x[(1 + 3 * i)]; ; }

    p = x; end = x + n;                                ; ;
    while (p < end) *q++ += *p++;                      for (long k_1 = 0; k_1 < n; k_1++) q[k_1] += x[k_1];

The statements of a region are followed in the order in which they run.  A variable of the function whose
values are sums of products of others, of numbers of iterations and of what it was before the region is
replaced by these sums wherever it is read, and is then not assigned any more: its name is what it was at
first.  In a loop a variable may gain the same in each iteration, may be c - v after v, or may change places
with another one.  After a loop it is what it was plus what so many iterations make of it, where a comparison
says how many.

All others stay what they are.  It counts for runs without overflow, and where pointers that are compared are
in one array.  Lines stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.file import c_file
from loopwright.c.tokens import names_in
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.types import Integer, Pointer, is_observed, unqualified
from loopwright.read.c.evolved_loops import plain_iterator
from loopwright.read.c.evolved_state import NotFollowed
from loopwright.read.c.evolved_statements import EvolvedStatements
from loopwright.read.c.evolved_values import element_of, is_signed
from loopwright.read.c.numbered_loops import OWN, loops_around, moved_variable
from loopwright.source import Edit, Source

_MOST = 60
_DIRECTED = re.compile(r"#\s*pragma\b.*|\b_Pragma\b")
INT = Integer(32, signed=True, rank=3)
_CHANGED = re.compile(r"\+\+|--|[+-]=|\b(?:int|long|ptrdiff_t|const)\b|\*\s*\w+\s*=")


def with_evolved_values(source: Source, options: CompilerOptions) -> Source:
    """The text with such variables replaced, where there are any."""
    if not any(_CHANGED.search(region.place.text) for region in c_file(source).regions):
        return source
    edits = [one for region in typed_file(source, options).regions for one in _edits(region)]
    return source.edited(sorted(set(edits))) if edits else source


def _edits(region: object) -> list[Edit]:
    if not isinstance(region, TypedRegion) or region.function.jumps_anywhere:
        return []
    nodes = [*tree.walk_all(region.statements)]
    is_jump = any(kind == "GOTO_STMT" for _, kind in region.function.jumps)
    if is_jump or any(isinstance(node, tree.Labelled) for node in nodes):
        return []
    directives = _DIRECTED.findall(region.place.text)
    named = {name for line in directives for name in names_in(line)}
    has_unsigned = any(_is_unsigned(node) for node in nodes)
    followed = {one.offset: one for one in _candidates(region, nodes, has_unsigned=has_unsigned)}
    followed = {offset: one for offset, one in followed.items() if one.name not in named}
    for _ in range(_MOST):
        if not followed:
            break
        statements = EvolvedStatements(
            region, followed, is_directed=bool(directives), has_unsigned=has_unsigned
        )
        try:
            return statements.edits()
        except NotFollowed as failure:
            if failure.offset not in followed:
                return []
            del followed[failure.offset]
    return []


def _is_unsigned(node: tree.Node) -> bool:
    """Whether an expression computes without a sign, so that the type of what it is made of matters."""
    if not isinstance(node, tree.Name | tree.Binary | tree.Cast | tree.Number | tree.MemberAccess):
        return False
    kind = unqualified(node.type)
    return isinstance(kind, Integer) and not kind.signed and kind.rank >= 3


def _candidates(
    region: TypedRegion, nodes: list[tree.Node], *, has_unsigned: bool
) -> Iterator[tree.Declaration]:
    """The variables that may be replaced: the function's own, given values in the region, dead after it."""
    function = region.function
    plain = {one.offset for node in nodes if (one := plain_iterator(node)) is not None}
    changed = [one for node in nodes if (one := moved_variable(node)) is not None]
    changed += [node.declaration for node in nodes if isinstance(node, tree.Declarator)]
    is_repeated = bool(loops_around(region.statements[0], function.nodes)) if region.statements else True
    for one in dict.fromkeys(changed):
        is_number = is_signed(one.type) and (not has_unsigned or unqualified(one.type) == INT)
        is_pointer = isinstance(unqualified(one.type), Pointer) and element_of(one.type) is not None
        if one.offset in plain or is_observed(one.type) or not (is_number or is_pointer):
            continue
        if one.storage not in OWN or one.offset in function.addressed or one.attributes:
            continue
        if any(one.name in problem.words for problem in function.problems):
            continue
        mentioned = function.mentions.get(one.offset, ())
        is_inside = all(region.first <= at < region.end for at in mentioned)
        is_last = all(at < region.end for at in mentioned) and not is_repeated
        if is_inside or is_last:
            yield one

