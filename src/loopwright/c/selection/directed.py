"""What OpenMP directives about loops stand at, and the regions that are read because of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.c.file import CFile, c_file
from loopwright.c.loops import LOOPS
from loopwright.c.openmp import OpenmpDirective, loop_directives, without_directives
from loopwright.c.regions import marked_regions
from loopwright.c.selection.choice import Choice
from loopwright.c.selection.chosen import chosen, lines_of, with_places
from loopwright.c.syntax import Node, named_children, refuse
from loopwright.c.tokens import without_comments
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span


@dataclass(frozen=True)
class DirectedFile:
    """A text without its directives about loops, of which the regions around these are read."""

    source: Source
    directives: tuple[tuple[OpenmpDirective, Span], ...]
    """Each with the loop or the block that it stands at."""

    def at(self, statement: Node) -> tuple[OpenmpDirective, ...]:
        """The directives at a loop or a block, in the order of the text."""
        place = (statement.start, statement.end)
        return tuple(one for one, span in self.directives if (span.start, span.end) == place)


def directed(source: Source, choice: Choice) -> DirectedFile:
    """The text, in which what is asked for is read, or else the loops with directives."""
    found = loop_directives(source)
    if not found:
        hint = "give two files, OLD and NEW, or put '#pragma omp tile sizes(4)' or the like at a loop"
        raise BadInput(
            Code.DIRECTIVE,
            "no loop of this file has an OpenMP directive",
            span=Span.start_of(source.path),
            hint=hint,
        )
    plain = without_directives(source, found)
    plain = with_places(plain, _places(plain, found)) if choice.is_empty else chosen(plain, choice)
    inside = [one for one in found if any(start <= one.place.start < end for start, end in plain.chosen)]
    _refuse_others(plain)
    file = c_file(plain)
    return DirectedFile(plain, tuple((one, statement_of(file, one, found).span) for one in inside))


def _refuse_others(source: Source) -> None:
    """In what is read there is no other directive of OpenMP, which would be dropped."""
    for line in c_file(source).directives:
        is_read = any(start <= line.place.start < end for start, end in source.chosen)
        if is_read and line.name == "pragma" and line.argument.split()[:1] == ["omp"]:
            hint = "leave it out, or read other loops by --loop"
            raise refuse(line.place, "this directive is not about a loop", hint, Code.DIRECTIVE)


def statement_of(file: CFile, directive: OpenmpDirective, others: Sequence[OpenmpDirective]) -> Node:
    """The loop that a directive stands at; for `fuse`, and those about what it leaves, the block."""
    visible = without_comments(file.plain, literals=True)
    rest = visible[directive.place.end :]
    start = directive.place.end + len(rest) - len(rest.lstrip())
    node = file.possible
    while node.start < start or node.type == "translation_unit":
        inner = [part for part in node.children if part.start <= start < part.end]
        if not inner:
            break
        node = inner[0]
    while node.type == "labeled_statement":
        node = named_children(node)[-1]
    between = [one for one in others if directive.place.end <= one.place.start < start]
    is_about_several = any(one.name == "fuse" for one in (directive, *between))
    wanted = ("for_statement", "compound_statement") if is_about_several else ("for_statement",)
    if node.type not in wanted or (node.start != start and not _is_labelled(node, start)):
        what = "a block of loops" if is_about_several else "a 'for' loop"
        hint = "put it directly before its loop"
        raise refuse(directive.place, f"{what} must follow this directive", hint, Code.DIRECTIVE)
    return node


def _is_labelled(node: Node, start: int) -> bool:
    while node.parent is not None and node.parent.type == "labeled_statement":
        node = node.parent
    return node.start == start


def _places(source: Source, directives: Sequence[OpenmpDirective]) -> Iterator[Span]:
    """For each directive the outermost loop around it, or the region that is marked around it."""
    file = c_file(source)
    marked = [one.place for one in marked_regions(source, file.directives)]
    found: dict[Span, Span] = {}
    for directive in directives:
        statement = _outermost(statement_of(file, directive, directives))
        region = next((place for place in marked if place.contains(statement.span)), None)
        place = lines_of(statement, statement) if region is None else region
        known = found.get(statement.span, place)
        found[statement.span] = Span(source, min(known.start, _line_start(directive)), known.end)
    yield from dict.fromkeys(found.values())


def _line_start(directive: OpenmpDirective) -> int:
    text, start = directive.place.source.text, directive.place.start
    before = text.rfind("\n", 0, start) + 1
    return start if text[before:start].strip() else before


def _outermost(node: Node) -> Node:
    """The outermost loop around a statement, or the statement."""
    found = node
    while node.parent is not None and node.parent.type != "function_definition":
        node = node.parent
        if node.type in LOOPS:
            found = node
    while found.parent is not None and found.parent.type == "labeled_statement":
        found = found.parent
    return found
