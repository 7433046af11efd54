"""`(X) - y` without its parentheses, where the compiler reads X as a value that a header declares.

    a[(X) - y]    becomes    a[ X  - y]

From the file alone, X may be a type, and `(X) - y` a cast of -y (`c.casts`).  One token that is a whole
expression means the same without parentheses of its own, whatever stands beside it.  A name that nothing
declares stays in them: it may be a type of a missing header.  Offsets do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.casts import NameKind
from loopwright.c.file import c_file
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import BadInput
from loopwright.source import Edit, Source

_POSSIBLE = re.compile(r"\(\s*([A-Za-z_]\w*)\s*\)\s*[-+*&]")
_AFTER = frozenset("+-*&")


def with_values_shown(source: Source, options: CompilerOptions) -> Source:
    """The source without such parentheses in its regions."""
    if not _may_have_any(source):
        return source
    try:
        file = typed_file(source, options)
    except BadInput:
        return source
    edits = [
        one for region in file.regions if isinstance(region, TypedRegion) for one in _edits(region, file)
    ]
    return source.edited(sorted(edits)) if edits else source


def _may_have_any(source: Source) -> bool:
    """Whether a region has a name in parentheses that the file does not explain."""
    file = c_file(source)
    return any(
        file.kinds(region.place).of(name) is NameKind.UNKNOWN
        for region in file.regions
        for name in dict.fromkeys(_POSSIBLE.findall(region.place.text))
    )


def _edits(region: TypedRegion, file: TypedFile) -> Iterator[Edit]:
    """Blanks for the parentheses; the place of an expression includes its own, which are those of no call."""
    tokens = region.function.tokens
    for node in tree.walk_all(region.statements):
        is_known = isinstance(node, tree.Number) or (
            isinstance(node, tree.Name) and node.declaration.name not in file.undeclared
        )
        first, last = node.place.first, node.place.end - 1
        if not is_known or last != first + 2 or last + 1 >= region.end:
            continue
        around = tokens[first], tokens[last], tokens[last + 1]
        is_written = all(one.macro is None for one in around)
        if is_written and [one.text for one in around[:2]] == ["(", ")"] and around[2].text in _AFTER:
            yield from (one.span.reworded(" ") for one in around[:2])
