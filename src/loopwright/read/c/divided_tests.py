"""`i != n` of a loop that an OpenMP directive divides, as the `i < n` that it means there.

    #pragma omp parallel for                          #pragma omp parallel for
    for (int i = 0; i != n; i++) B;                   for (int i = 0; i < n; i++) B;

OpenMP's canonical loops with `!=` count by one, no statement of B leaves them, and n is the same throughout:
with n below the first value, i would go on until it overflows, which signed numbers of 32 bits do not in C.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.file import c_file
from loopwright.c.reworded.plain_loops import is_before
from loopwright.c.syntax import walk
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.known_values import integer_type
from loopwright.c.typed.options import CompilerOptions
from loopwright.source import Edit, Source, Span

_DIVIDING = re.compile(r"\s*omp\s+(?:parallel\s+)?(?:for|simd)\b(?!.*\b(?:collapse|ordered)\b)", re.DOTALL)
_SIGN = re.compile(r"\s*!=\s*")


def with_ordered_tests(source: Source, options: CompilerOptions) -> Source:
    """The text with these tests; those of loops without such a directive stay."""
    if "!=" not in source.text or "omp" not in source.text:
        return source
    divided = {span.start for span in _divided(source)}
    typed = [one for one in typed_file(source, options).regions if isinstance(one, TypedRegion)]
    loops = (node for one in typed for node in tree.walk_all(one.statements))
    edits = [
        edit
        for node in loops
        if isinstance(node, tree.ForStatement) and node.place.span.start in divided
        for edit in _edits(node, source)
    ]
    return source.edited(sorted(edits))


def _divided(source: Source) -> Iterator[Span]:
    """The loops that such directives are about."""
    file = c_file(source)
    for region in file.regions:
        pragmas = [one for one in region.pragmas if _DIVIDING.match(one.argument)]
        for node in walk(file.block(region.place)) if pragmas else ():
            if node.type == "for_statement" and any(is_before(one, node) for one in pragmas):
                yield node.span


def _edits(loop: tree.ForStatement, source: Source) -> Iterator[Edit]:
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
