"""Functions that can be inlined: they contain no `static`, label, jump or early `return`.

Each has one definition, which is the one that the linker takes.  No macro in it introduces a name; its macros
have the same meaning at the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from loopwright.c.declarations import declared_name
from loopwright.c.file import CFile
from loopwright.c.syntax import Node, field, identifiers, named_children, walk
from loopwright.c.tokens import is_name, names_in, without_comments
from loopwright.c.typed import tree
from loopwright.c.typed.expansion import definition
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.linker_names import is_another
from loopwright.c.typed.prepare import Located
from loopwright.c.types import Record, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span

_JUMPS = ("goto_statement", "labeled_statement", "gnu_asm_expression", "ERROR", "type_definition")
_SPECIAL = frozenset(
    ("__attribute__", "__attribute", "asm", "__asm__", "static", "extern", "volatile", "sizeof")
)
KEYWORDS = frozenset(
    (
        *("for", "if", "else", "while", "do", "return", "break", "continue", "static", "inline"),
        *("int", "long", "short", "unsigned", "signed", "char", "float", "double", "void", "const", "struct"),
    )
)


@dataclass(frozen=True)
class InlinableFunction:
    """A function definition that can be inlined."""

    type: str
    name: str
    parameters: tuple[Node, ...]
    statements: tuple[Node, ...]
    """The statements without the last one if that is a `return`."""
    value: Node | None
    own: frozenset[str]
    free: frozenset[str]
    records: frozenset[str] = frozenset()
    """The parameters that are structs."""
    kept: frozenset[str] = frozenset()
    """Those of them that the function neither modifies nor takes the address of."""


def inlinable_function(
    file: CFile, name: str, region: Span, typed: Callable[[], TypedFile]
) -> InlinableFunction | None:
    """The only definition of a function, if it has a form that can be inlined.

    `typed` is the typed reading of the file, or of one that differs from it only in regions; it is evaluated
    last.
    """
    definitions = [one for one in file.tree.named_children if one.type == "function_definition"]
    found = [one for one in definitions if _named(one) == name]
    if len(found) != 1 or found[0].span.contains(region) or name in file.inner_functions:
        return None
    (node,) = found
    made = _of_plain_form(node, name)
    compiled = typed().functions_named(name) if made is not None else ()
    at = [one.place for one in file.regions].index(region)
    if made is None or len(compiled) != 1 or is_another(compiled[0], typed()):
        return None
    if not _means_the_same(node, compiled[0], typed(), at):
        return None
    records, kept = _records(compiled[0])
    return replace(made, records=records, kept=kept)


def _of_plain_form(node: Node, name: str) -> InlinableFunction | None:
    """A function with parameters that are values and pointers, and at most one `return`, at its end."""
    body, declarator = field(node, "body"), field(node, "declarator")
    head = names_in(node.text[: declarator.start - node.start])
    kind = [word for word in head if word not in ("static", "inline")]
    if declarator.type != "function_declarator" or ("inline" in head and "static" not in head):
        return None
    listed = named_children(field(declarator, "parameters"))
    parameters = [] if [one.text for one in listed] == ["void"] else listed
    inside = named_children(body)
    last = inside[-1] if inside and inside[-1].type == "return_statement" else None
    values = [] if last is None else named_children(last)
    returns = [one for one in walk(body) if one.type == "return_statement" and one is not last]
    words = {*names_in(body.text), *names_in(field(declarator, "parameters").text), *kind}
    if returns or words & (_SPECIAL | {name}) or body.of_type(*_JUMPS):
        return None
    if any(parameter_shape(one) is None for one in parameters) or (kind == ["void"]) != (last is None):
        return None
    names = _own_and_free(node, parameters)
    if names is None or (last is not None and len(values) != 1):
        return None
    statements, value = tuple(inside if last is None else inside[:-1]), values[0] if values else None
    own, free = names
    return InlinableFunction(" ".join(kind), name, tuple(parameters), statements, value, own, free - {name})


def _own_and_free(node: Node, parameters: Sequence[Node]) -> tuple[frozenset[str], frozenset[str]] | None:
    """The names that a function declares, and the other names; None if one is also the name of a member."""
    own = {part for one in parameters for part in identifiers(field(one, "declarator"))[:1]}
    own |= {word for one in walk(field(node, "body")) for word in _declared(one)}
    if any(one.type in ("field_identifier", "type_identifier") and one.text in own for one in walk(node)):
        return None
    named = {one.text for one in walk(node) if one.type != "field_identifier" and not one.named_children}
    members = {one.text for one in walk(node) if one.type == "field_identifier"} - named
    words = {*names_in(without_comments(node.text, literals=False))} - members
    return frozenset(own), frozenset(words - own - KEYWORDS)


def _records(found: TypedFunction) -> tuple[frozenset[str], frozenset[str]]:
    """The parameters that are structs, and those of them that are not modified and do not escape."""
    records = [one for one in found.parameters if isinstance(unqualified(one.type), Record)]
    targets = [node.target for node in found.nodes if isinstance(node, tree.Assign | tree.Update)]
    changed = {one.offset for one in map(tree.owner, targets) if one is not None} | found.addressed
    kept = [one for one in records if one.offset not in changed and not found.problems]
    return frozenset(one.name for one in records), frozenset(one.name for one in kept)


def _named(definition: Node) -> str:
    return next(iter(identifiers(field(definition, "declarator"))), "")


def parameter_shape(node: Node) -> tuple[str, int, tuple[str, ...]] | None:
    """The name, rank and extents of a parameter."""
    declarator = node.child_by_field_name("declarator") if node.type == "parameter_declaration" else None
    return None if declarator is None else declared_name(declarator)


def _declared(node: Node) -> tuple[str, ...]:
    """The names that a declaration declares."""
    if node.type != "declaration":
        return ()
    named = [declared_name(one) for one in node.children_by_field_name("declarator")]
    return tuple(one[0] for one in named if one is not None)


def _means_the_same(node: Node, function: TypedFunction, file: TypedFile, region: int) -> bool:
    """Whether macros neither introduce nor remove names in a function, and are the same in a region: then its
    source has the same meaning there.

    for each macro m in the source, and in the expansion of these:  m has one definition in the function
    and in the region, the same, and is never undefined

    The compiler does not report what `pop_macro` restores, nor the effect of a missing header.
    """
    words = names_in(without_comments(node.text, literals=False))
    place, spot = file.located[region]
    first, last = sorted((node.start, place.place.start))
    is_hidden = bool(file.missing) and "include" in node.source.text[first:last]
    is_restored = "pop_macro" in node.source.text or "pop_macro" in file.text.text
    if is_hidden or is_restored or not function.starts or not isinstance(spot, Located):
        return False
    extents = (function.starts[0], function.starts[-1]), (spot.start, spot.end)
    pending, macros = [*dict.fromkeys(words)], set[str]()
    for name in pending:
        meanings = [one for first, last in extents for one in file.text.definitions(name, first, last)]
        is_undone = any(definition(line) is None for _, line in file.text.changes.get(name, ()))
        if is_undone or any(one != meanings[0] for one in meanings):
            return False
        if meanings[0] is not None:
            macros.add(name)
            pending += [one.text for one in meanings[0].body if is_name(one.text) and one.text not in pending]
    written = Counter(one for one in words if one not in macros)
    return written == Counter(token.text for token in function.tokens if token.is_name)
