"""Rewrites integers and pointers that loops increment in terms of iteration counts.

    k = 1;                                             ;
    for (i = 0; i < n; i++) { y[i] = x[k]; k += 3; }   for (i = 0; i < n; i++) { y[i] = x[(1 + 3 * i)]; ; }

    p = x; end = x + n;                                ; ;
    while (p < end) *q++ += *p++;                      for (long k_1 = 0; k_1 < n; k_1++) q[k_1] += x[k_1];

The statements of a region are interpreted in execution order.  A local variable whose values are sums of
products of other variables, of iteration counts and of its value before the region is replaced by these sums
wherever it is read, and is no longer assigned: its name denotes its initial value.  In a loop a variable may
increase by the same amount in each iteration, may become c - v after v, or may be swapped with another one.
After a loop its value is its initial value plus the effect of all iterations, if a comparison gives their
number.

If only pointers are tracked, all loops that count integers are kept, and

    while (n--) *d++ = 0;                              for (long k_1 = 0; k_1 < n; k_1++) d[k_1] = 0;
    P *p = &s->own[i], *q = p + 1; p->x = q->y;        ; s->own[i].x = s->own[i + 1].y;

A pointer may start at a member, at an element or at a sum with an offset of any type, which keep their
spelling if the region modifies nothing that they depend on.  All other values are kept.  The rewriting is
valid for runs without overflow in which pointers that are compared point into one array.  Line numbers do
not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.file import c_file
from loopwright.c.tokens import names_in
from loopwright.c.typed import tree
from loopwright.c.typed.effects import effect_in_a_type
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.moved_pointers import may_move_pointers
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.types import Integer, Pointer, is_observed, unqualified
from loopwright.errors import BadInput
from loopwright.read.c.changed_memory import ChangedMemory
from loopwright.read.c.evolved_loops import plain_loop
from loopwright.read.c.evolved_state import EvolvedState, NotFollowed
from loopwright.read.c.evolved_statements import EvolvedStatements, Following
from loopwright.read.c.evolved_values import element_of, is_signed, loops_around, moved_variable
from loopwright.source import Edit, Source

_MOST = 60
_DIRECTED = re.compile(r"#\s*pragma\b.*|\b_Pragma\b")
INT = Integer(32, signed=True, rank=3)
_CHANGED = re.compile(r"\+\+|--|[+-]=|\b(?:int|long|ptrdiff_t|const)\b|\*\s*\w+\s*=")


def with_evolved_values(source: Source, options: CompilerOptions) -> Source:
    """The source with such variables replaced, if there are any."""
    if not any(_CHANGED.search(region.place.text) for region in c_file(source).regions):
        return source
    return _evolved(source, options, Following())


def with_pointer_walks(
    source: Source, options: CompilerOptions, *, always: bool = True, rows: bool = False
) -> Source:
    """The source with elements of arrays in place of pointers to them; integers are kept.

    `while (n--) *d++ = 0;` is only equivalent if it is defined.  With `always` false, such loops are kept: a
    loop head that counts tells how often the other loops run, for every n.
    `rows`: pointers to rows of arrays are tracked as well, on the assumption that they stay in the rows.
    """
    if "*" not in source.text:
        return source
    return _evolved(source, options, Following(pointers_alone=True, new_heads=always, into_rows=rows))


def _evolved(source: Source, options: CompilerOptions, following: Following) -> Source:
    try:
        file = typed_file(source, options)
    except BadInput:
        return source
    if following.pointers_alone and not may_move_pointers(file):
        return source
    edits = [one for region in file.regions for one in _edits(region, file, following)]
    return source.edited(sorted(set(edits))) if edits else source


def _edits(region: object, file: TypedFile, following: Following) -> list[Edit]:
    if not isinstance(region, TypedRegion) or region.function.jumps_anywhere:
        return []
    if effect_in_a_type(region) is not None:
        return []
    nodes = [*tree.walk_all(region.statements)]
    is_jump = any(kind == "GOTO_STMT" for _, kind in region.function.jumps)
    if is_jump or any(isinstance(node, tree.Labelled) for node in nodes):
        return []
    directives = _DIRECTED.findall(region.place.text)
    named = {name for line in directives for name in names_in(line)}
    has_unsigned = not following.pointers_alone and any(_is_unsigned(node) for node in nodes)
    followed = {one.offset: one for one in _candidates(region, nodes, following, has_unsigned=has_unsigned)}
    followed = {offset: one for offset, one in followed.items() if one.name not in named}
    for _ in range(_MOST):
        if not followed:
            break
        memory = ChangedMemory(region, file)
        state = EvolvedState(
            region, followed, memory, has_unsigned=has_unsigned, into_rows=following.into_rows
        )
        statements = EvolvedStatements(state, file, following, is_directed=bool(directives))
        try:
            return statements.edits()
        except NotFollowed as failure:
            if failure.offset not in followed:
                return []
            del followed[failure.offset]
    return []


def _is_unsigned(node: tree.Node) -> bool:
    """Whether an expression is computed in an unsigned type, so that the types of its operands matter."""
    if not isinstance(node, tree.Name | tree.Binary | tree.Cast | tree.Number | tree.MemberAccess):
        return False
    kind = unqualified(node.type)
    return isinstance(kind, Integer) and not kind.signed and kind.rank >= 3


def _candidates(
    region: TypedRegion, nodes: list[tree.Node], following: Following, *, has_unsigned: bool
) -> Iterator[tree.Declaration]:
    """The variables that may be replaced: local ones, assigned in the region, and not live-out."""
    function = region.function
    loops = [plain_loop(node, assigned=False) for node in nodes]
    plain = {one.counter.offset for one in loops if one is not None}
    changed = [one for node in nodes if (one := moved_variable(node)) is not None]
    changed += [node.declaration for node in nodes if isinstance(node, tree.Declarator)]
    is_repeated = bool(loops_around(region.statements[0], function.nodes)) if region.statements else True
    for one in dict.fromkeys(changed):
        is_number = is_signed(one.type) and (not has_unsigned or unqualified(one.type) == INT)
        is_pointer = isinstance(unqualified(one.type), Pointer) and element_of(one.type) is not None
        if following.pointers_alone and not is_pointer:
            continue
        if one.offset in plain or is_observed(one.type) or not (is_number or is_pointer):
            continue
        if not function.keeps(one):
            continue
        if any(one.name in problem.words for problem in function.problems):
            continue
        mentioned = function.mentions.get(one.offset, ())
        is_inside = all(region.first <= at < region.end for at in mentioned)
        is_last = all(at < region.end for at in mentioned) and not is_repeated
        if is_inside or is_last:
            yield one

