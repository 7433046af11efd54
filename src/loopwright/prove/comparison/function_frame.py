"""What a function does outside of its region, and what it declares there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from loopwright.c.declarations import Declarations, Variable
from loopwright.c.file import CFile, c_file, whole_file
from loopwright.c.syntax import Node, field, identifiers, named_children, walk, walk_inside
from loopwright.c.tokens import names_in, on_one_line, without_comments
from loopwright.c.typed.expansion import Definition, definition
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span

PRAGMA = re.compile(r"(?m)^[ \t]*#[ \t]*pragma\b(?!\s+(?:end)?scop\b)[^\n]*")
DIRECTIVE = re.compile(r"(?m)^[ \t]*#(?:\\\r?\n|[^\n])*")
MacroTable = Callable[[str], Definition | None]


@dataclass(frozen=True)
class FrameLocal:
    """A variable that a function declares outside its region: base type, declarator and initial value."""

    name: str
    type: str
    shape: str
    value: Node | None

    @property
    def text(self) -> str:
        return f"{self.type} {self.shape}{'' if self.value is None else ' = ' + on_one_line(self.value.text)}"


Locals = dict[str, FrameLocal]


@dataclass(frozen=True)
class Piece:
    """A piece of a function outside its region; `declares` holds the locals that it exists for."""

    text: str
    declares: frozenset[str] = frozenset()


REGION = Piece("the region")


@dataclass(frozen=True)
class FunctionFrame:
    head: str
    parameters: str
    done: tuple[Piece, ...]
    """Statements, declarations, blocks, heads of statements around the region, pragmas, in source order."""
    locals: Locals
    names: frozenset[str]
    """All names that the function mentions, including those in its region."""
    region: str
    node: Node
    place: Span
    """Where the region is."""
    macro: MacroTable
    hidden: frozenset[str] = frozenset()
    """Names that occur in the macros it uses."""

    @property
    def declarations(self) -> Declarations:
        return c_file(self.place.source).declarations

    def variable(self, name: str) -> Variable | None:
        """What a name denotes in front of the region."""
        return self.declarations.visible(name, self.place)


def frame_of(region: Span, *, agree: bool = False) -> FunctionFrame | None:
    """Returns the function around a region, without the region."""
    file = whole_file(region.source)
    for node in walk_inside(file.possible, region):
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        if body is None or not body.start <= region.start <= region.end <= body.end:
            continue
        found: Locals = {}
        regions = [one.place for one in c_file(region.source).regions] if agree else [region]
        done = list(_pieces(body, region, found, regions))
        done += _pragmas(node.text[: region.start - node.start])
        done += [REGION, *_pragmas(node.text[region.end - node.start :])]
        names = names_in(DIRECTIVE.sub("", node.text))
        head = on_one_line(node.text[: body.start - node.start])
        inside = without_comments(region.text, literals=True)
        table = _written(c_file(region.source))
        return FunctionFrame(
            head, _parameters(node), tuple(done), found, frozenset(names), inside, node, region, table
        )
    return None


def _written(file: CFile) -> MacroTable:
    """The macros as the file alone defines them."""

    def table(name: str) -> Definition | None:
        found = [one for one in file.macros if one.name == name]
        if not found:
            return None
        one = found[0]
        inside = "" if one.parameters is None else f"({', '.join(one.parameters)})"
        is_certain = len(found) == 1 and not one.conditional
        return definition(f"#define {name}{inside} {on_one_line(one.body) if is_certain else '#'}")

    return table


def _pragmas(text: str) -> list[Piece]:
    found = PRAGMA.finditer(without_comments(text, literals=True))
    return [Piece(on_one_line(one.group())) for one in found]


def _parameters(function: Node) -> str:
    lists = [part for part in walk(field(function, "declarator")) if part.type == "parameter_list"]
    return ", ".join(on_one_line(part.text) for part in named_children(lists[0])) if lists else ""


def _pieces(node: Node, region: Span, found: Locals, regions: Sequence[Span]) -> Iterator[Piece]:
    """Yields what a statement around the region does outside of `regions`; adds its locals to `found`."""
    parts = named_children(node)
    meeting = [part.span for part in parts if part.start < region.end and region.start < part.end]
    # the region may end with white space after the part that contains it
    passed = set() if all(region.contains(part) for part in meeting) else {region}
    for part in parts:
        for one in regions:
            if one not in passed and (one.contains(part.span) or (one == region and part.end > one.start)):
                passed.add(one)
                yield REGION
        if part.type == "comment" or any(one.contains(part.span) for one in passed):
            continue
        if part.type.startswith("preproc"):
            if PRAGMA.match(part.text):
                yield Piece(on_one_line(part.text))
        elif part.start < region.end and region.start < part.end:
            yield from _around(part, region, found, regions)
        elif part.type == "declaration" and "static" not in names_in(part.text):
            yield from _declarations(part, found)
        elif node.type == "compound_statement":
            yield Piece(on_one_line(part.text))
    if region not in passed:
        yield REGION


def _around(part: Node, region: Span, found: Locals, regions: Sequence[Span]) -> Iterator[Piece]:
    """Splits a statement around the region into what it does before and after the part with the region."""
    if part.type == "compound_statement":
        inside: Locals = {}
        pieces = list(_pieces(part, region, inside, regions))
        declares = frozenset(inside)
        yield from (Piece("{", declares), *pieces, Piece("}", declares)) if declares else pieces
        found.update(inside)
        return
    inner = [one for one in part.named_children if one.start < region.end and region.start < one.end]
    first = min((one.start for one in inner), default=part.end) - part.start
    last = max((one.end for one in inner), default=part.end) - part.start
    yield Piece(f"{on_one_line(part.text[:first])} ...")
    yield from _pieces(part, region, found, regions)
    yield Piece(f"... {on_one_line(part.text[last:])}")


def _declarations(part: Node, found: Locals) -> Iterator[Piece]:
    """Yields where locals are declared and their values; types are compared here only for reused names."""
    declared = list(declared_in(part))
    plain = sorted((one for one in declared if one[1].value is None), key=lambda one: one[0])
    for name, local in (*plain, *(one for one in declared if one[1].value is not None)):
        whole = local.text if local.value is not None or name in found else name
        yield Piece(f"{whole};", frozenset([name]))
        found[name] = local


def declared_in(node: Node) -> Iterator[tuple[str, FrameLocal]]:
    declarators = node.children_by_field_name("declarator")
    kind = on_one_line(node.text[: declarators[0].start - node.start] if declarators else node.text)
    for one in declarators:
        shape, value = one.declared, one.child_by_field_name("value")
        named = identifiers(shape)
        name = named[0] if named else on_one_line(shape.text)
        yield name, FrameLocal(name, kind, on_one_line(shape.text), value)


def short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
