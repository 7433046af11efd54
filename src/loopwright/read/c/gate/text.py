"""The gate for a text whose loops are followed as they are written, statement by statement (`prove.descent`).

There is no model of such a text to compare with its typed reading.  Its statements are those of a program
that passed the gate, so what can be misread is what its names mean: iterators that wrap around, variables of
another type, functions of another kind, storage that is observed.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.tree import Assign, Call, Declaration, Declare, For, Name, Node, Storage, walk
from loopwright.c.types import Integer, unqualified
from loopwright.errors import BadInput
from loopwright.model.program import Program
from loopwright.read.c.gate.types import element_type, refuse_storage
from loopwright.source import Source


def reads_as_written(
    old: Sequence[Program], source: Source, old_options: CompilerOptions, options: CompilerOptions
) -> bool:
    """Whether the compiler reads the regions of `source` as one who knows those of `old` takes them."""
    before = typed_file(old[0].source, old_options).regions
    after = typed_file(source, options).regions
    known = {region.place: region for region in before}
    pairs = zip((known.get(program.region) for program in old), after, strict=True)
    return all(
        isinstance(one, TypedRegion) and isinstance(other, TypedRegion) and _means_the_same(one, other)
        for one, other in pairs
    )


def _means_the_same(old: TypedRegion, new: TypedRegion) -> bool:
    before, after = (
        [node for statement in region.statements for node in walk(statement)] for region in (old, new)
    )
    try:
        refuse_storage(after)
    except BadInput:
        return False
    counted = {one.offset for one in map(_counted, after) if one is not None}
    return (
        not any(token.follows_place for token in new.tokens)
        and all(_is_wide(one) for one in map(_counted, after) if one is not None)
        and all(node.callee is not None for node in after if isinstance(node, Call))
        and _same_names(before, after, counted)
    )


def _counted(node: Node) -> Declaration | None:
    """The variable that a loop gives its first value."""
    match node:
        case For(first=Assign(target=Name(declaration=declared))):
            return declared
        case For(first=Declare(variables=(variable, *_))):
            return variable.declaration
    return None


def _is_wide(declared: Declaration) -> bool:
    """Whether an iterator wraps around no earlier than an int."""
    kind = unqualified(declared.type)
    return isinstance(kind, Integer) and kind.signed and kind.bits >= 32


def _same_names(before: Sequence[Node], after: Sequence[Node], counted: set[int]) -> bool:
    """Whether names of both are variables of the same type, or functions, and new ones are integers."""
    known = {node.declaration.name: node.declaration for node in before if isinstance(node, Name)}
    for node in after:
        if not isinstance(node, Name) or node.declaration.offset in counted:
            continue
        theirs, mine = node.declaration, known.get(node.declaration.name)
        if mine is None:
            is_integer = isinstance(unqualified(theirs.type), Integer)
            if not is_integer and theirs.storage is not Storage.FUNCTION:
                return False
        elif element_type(mine.type) != element_type(theirs.type):
            return False
    return True
