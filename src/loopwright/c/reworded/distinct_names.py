"""Renames variables of a region that share their name with another variable there.

    for (..) { int j = 2 * i; x[j] = 0; }            for (..) { int j_1 = 2 * i; x[j_1] = 0; }
    for (int j = 0; j < n; j++) ..                   for (int j = 0; j < n; j++) ..
    int j = 0; while (j < n) ..                      int j_2 = 0; while (j_2 < n) ..
    for (int n = 0; n < m; n++) x[n] = 0;            for (int n_1 = 0; n_1 < m; n_1++) x[n_1] = 0;

Consecutive loops may share the name of their iterators, and so may consecutive blocks.  The new name is fresh
in the file; the caller must check what macros expand to.  Line numbers do not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from loopwright.c.declarations import declared_name, type_text
from loopwright.c.loops import loop_iterator
from loopwright.c.regions import Region
from loopwright.c.reworded.passages import edited_while, fresh_names, passages
from loopwright.c.syntax import Node, walk
from loopwright.c.tokens import names_in, packed
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

_OTHERWISE = ("enumerator", "function_definition", "type_definition")
"""Nodes that give names a meaning besides declarations."""
_LEFT_WHOLE = ("while_statement", "do_statement", "switch_statement")
"""Statements that may be kept unchanged, with their declarations."""


@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable that a declarator of a region declares, and the statement that is its scope."""

    name: str
    declarator: Node
    scope: Node

    def sees(self, place: Node) -> bool:
        return place.start >= self.declarator.start and self.scope.span.contains(place.span)

    @property
    def is_counter(self) -> bool:
        """Whether it is declared in the head of a loop."""
        return self.scope.type == "for_statement"


def with_distinct_names(source: Source) -> Source:
    """The source with such variables renamed, if none of them is used after its region."""
    return edited_while(source, _edits)


def _edits(source: Source) -> Iterator[list[Edit]]:
    for passage in passages(source):
        if not passage.block.of_type(*_OTHERWISE):
            yield from _edits_in(passage.region, passage.block)


def _edits_in(region: Region, block: Node) -> Iterator[list[Edit]]:
    said = {word for pragma in region.pragmas for word in names_in(pragma.place.text)}
    variables: dict[str, list[_Variable]] = {}
    for one in _variables(block):
        variables.setdefault(one.name, []).append(one)
    for name, known in variables.items():
        if name in said or _is_declared_twice(known):
            continue
        places = [place for place in block.named(name) if region.place.contains(place.span)]
        counting = [*_counting(block, name)]
        outer = [place for place in places if not any(one.sees(place) for one in known)]
        for variable in _in_conflict(known, outer, counting):
            edits = _renamed(variable, known, region.place)
            if edits:
                yield edits


def _variables(block: Node) -> Iterator[_Variable]:
    for node in block.of_type("declaration"):
        scope = node.enclosing("compound_statement", "for_statement")
        for declarator in node.children_by_field_name("declarator"):
            named = declared_name(declarator)
            if named is not None and scope is not None:
                yield _Variable(named[0], declarator, scope)


def _is_declared_twice(known: list[_Variable]) -> bool:
    """Whether two of these variables have one scope, which is an error that no renaming may hide."""
    return len({one.scope.span for one in known}) < len(known)


def _counting(block: Node, name: str) -> Iterator[Node]:
    """The loops with this iterator that do not declare it."""
    for loop in block.of_type("for_statement"):
        start = loop.child_by_field_name("initializer")
        if loop_iterator(loop) == name and start is not None and start.type != "declaration":
            yield loop


def _in_conflict(known: list[_Variable], outer: list[Node], counting: list[Node]) -> Iterator[_Variable]:
    """The variables to rename: those that hide another one, or differ in kind, and are not `outer`."""
    is_read = any(not any(loop.span.contains(place.span) for loop in counting) for place in outer)
    for one in known:
        is_inside = any(loop.span.contains(one.declarator.span) for loop in counting)
        if is_read or is_inside or (outer and not one.is_counter):
            yield one
    for one, other in combinations(known, 2):
        first, second = sorted((one, other), key=lambda each: each.declarator.start)
        if first.sees(second.declarator):
            yield second
        elif first.is_counter != second.is_counter:
            yield second if first.is_counter else first
        elif _frame(first.scope) != _frame(second.scope) or not (first.is_counter or _alike(first, second)):
            yield second


def _alike(one: _Variable, other: _Variable) -> bool:
    """Whether the declarations of two variables of blocks are spelled alike."""
    return _words(one.declarator) == _words(other.declarator)


def _words(declarator: Node) -> tuple[str, str]:
    declaration = declarator.parent
    kind = "" if declaration is None else type_text(declaration, qualifiers=False)
    return kind, packed(declarator.declared.text)


def _frame(scope: Node) -> Span | None:
    """The innermost statement around a declaration that may be kept unchanged."""
    for node in (scope, *scope.around()):
        if node.type in _LEFT_WHOLE or (node.type == "for_statement" and loop_iterator(node) is None):
            return node.span
    return None


def _renamed(variable: _Variable, known: list[_Variable], region: Span) -> list[Edit]:
    """Edits that rename all uses of this variable; none if some are outside of the region."""
    name = variable.name
    inner = [one for one in known if one is not variable and variable.sees(one.declarator)]
    named = [
        place
        for place in variable.scope.named(name)
        if variable.sees(place) and not any(one.sees(place) for one in inner)
    ]
    is_seen_elsewhere = not all(region.contains(place.span) for place in named)
    if is_seen_elsewhere or _is_linked(variable.declarator) or _sizes_name(variable):
        return []
    own = next(fresh_names(variable.scope.source, name))
    return [(place.start, place.end, own) for place in named]


def _is_linked(declarator: Node) -> bool:
    """Whether the name has linkage: `extern double z;`, `double g(int);`."""
    declaration = declarator.parent
    words = () if declaration is None else declaration.children
    is_stored = any(word.type == "storage_class_specifier" for word in words)
    return is_stored or bool(declarator.of_type("function_declarator"))


def _sizes_name(variable: _Variable) -> bool:
    """Whether the declarator names the variable twice: in `double t[t]`, the scope starts after it."""
    declarator = variable.declarator
    found = [one for one in walk(declarator.declared) if one.type == "identifier"]
    return sum(one.text == variable.name for one in found) != 1
