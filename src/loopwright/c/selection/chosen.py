"""Selects the loops of a file to read if no pragma marks them: those of a function, or one at a line.

A choice becomes places in the source, `Source.chosen`, which are kept in every later version of it:
from then on a chosen region is treated like one between pragmas.  It consists of complete statements, and of
the lines they are on if these contain nothing else.

`Nearby` drops the bodies of functions that are unrelated to the parts that are read.

Such a body may prevent a reading, by an alias; it enables none.  So a part that cannot be read without
them cannot be read with them, and is cheaper to try: a large file consists mostly of other functions.

`directed` finds the statements that OpenMP loop directives apply to, and the regions read because of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from loopwright.c.file import CFile, c_file, whole_file
from loopwright.c.loops import LOOPS
from loopwright.c.openmp import OpenmpDirective, loop_directives, without_directives
from loopwright.c.regions import about_a_loop, marked_regions
from loopwright.c.reworded.plain_loops import begins
from loopwright.c.selection.choice import Choice
from loopwright.c.syntax import Node, field, named_children, refuse, walk
from loopwright.c.tokens import blank, names_in, without_comments
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span, called, with_edits


@dataclass(frozen=True)
class FunctionWithLoops:
    """A function and its outermost loops, in source order."""

    name: str
    node: Node
    loops: tuple[Node, ...]

    @property
    def place(self) -> Span:
        """The statements of its body from the first with a loop to the last with one."""
        inside = [part for part in field(self.node, "body").named_children if _has_loop(part)]
        first = begins(inside[0]) if inside[0].type in LOOPS else inside[0]
        return lines_of(first, inside[-1])


def functions_with_loops(file: CFile) -> tuple[FunctionWithLoops, ...]:
    """The functions with loops that a file defines."""
    found = (_with_loops(node) for node in file.possible.of_type("function_definition"))
    return tuple(one for one in found if one is not None)


def _with_loops(node: Node) -> FunctionWithLoops | None:
    loops = tuple(outermost(field(node, "body"))) if node.child_by_field_name("body") is not None else ()
    return FunctionWithLoops(function_name(node), node, loops) if loops else None


def outermost(node: Node) -> Iterator[Node]:
    """The loops below `node` that are not inside another loop below it."""
    end = node.start
    for loop in node.of_type(*sorted(LOOPS)):
        if loop is not node and loop.start >= end:
            yield loop
            end = loop.end


def place_of(loop: Node) -> Span:
    """A loop with its label or initialising statement, on lines of its own, and the pragmas about it."""
    statement = begins(loop)
    if statement is not loop:
        return lines_of(statement, loop)
    whole = _labelled(statement)
    return lines_of(whole, whole)


def with_places(source: Source, places: Iterable[Span]) -> Source:
    """The source with exactly these parts chosen."""
    return replace(source, chosen=tuple(sorted((place.start, place.end) for place in places)))


def chosen(source: Source, wanted: Choice) -> Source:
    """The source with exactly the requested parts chosen."""
    file = whole_file(source)
    places = [place for name in wanted.functions for place in _of_function(file, name)]
    for loop in wanted.loops:
        if loop.file is None or _is_same_file(loop.file, source.path):
            places.append(_of_line(file, loop.line))
    if not places:
        hint = "write --loop LINE or --loop FILE:LINE with the name of the file that is read"
        place = Span.start_of(source.path)
        raise BadInput(Code.OPTION, f"--loop {wanted.loops[0]} is in another file", span=place, hint=hint)
    places = sorted(set(places))
    for one, other in pairwise(places):
        if other.start < one.end:
            message = "the chosen loops overlap"
            raise BadInput(Code.OPTION, message, span=other.on(source), hint="leave one of them out")
    return with_places(source, places)


def _of_function(file: CFile, name: str) -> list[Span]:
    """The regions marked in a function, or all of its loops."""
    named = [one for one in file.possible.of_type("function_definition") if function_name(one) == name]
    found = [loops for one in named if (loops := _with_loops(one)) is not None]
    if len(found) != 1:
        raise _no_function(file, name, [one.node for one in found])
    inside = [one.place for one in marked_regions(file.source, file.directives)]
    marked = [place for place in inside if found[0].node.span.contains(place)]
    return marked or [found[0].place]


def _no_function(file: CFile, name: str, several: Sequence[Node]) -> BadInput:
    if several:
        message = f"{len(several)} functions are called '{name}'"
        hint = "--loop LINE reads the loop that starts on a line"
        return BadInput(Code.OPTION, message, span=several[1].span, hint=hint)
    functions = file.possible.of_type("function_definition")
    defined = any(function_name(node) == name for node in functions)
    message = f"the function '{name}' has no loop" if defined else f"no function is called '{name}'"
    names = ", ".join(one.name for one in functions_with_loops(file))
    hint = f"the functions with loops are {names}" if names else "no function of this file has a loop"
    return BadInput(Code.OPTION, message, span=Span.start_of(file.source.path), hint=hint)


def _of_line(file: CFile, line: int) -> Span:
    """The outermost loop that starts on a line."""
    loops = [node for one in functions_with_loops(file) for node in walk(one.node) if node.type in LOOPS]
    for node in loops:
        if node.span.line == line or place_of(node).line == line:
            return place_of(node)
    lines = list(dict.fromkeys(node.span.line for node in loops))
    near = sorted(sorted(lines, key=lambda other: abs(other - line))[:8])
    hint = "this file has no loop"
    if near:
        start = "a loop starts on line" if len(near) == 1 else "loops start on the lines"
        hint = f"{start} {', '.join(map(str, near))}; 'loopwright find {file.source.path}' lists them"
    message = f"no loop starts on line {line}"
    place = file.source.at(file.source.offset(line, 1))
    raise BadInput(Code.OPTION, message, span=place, hint=hint)


def _is_same_file(name: str, path: str) -> bool:
    """Whether `name` is the file at `path`, written in full or by its last parts."""
    shown = called(path).replace("\\", "/")
    return shown == name or shown.endswith("/" + name.removeprefix("./")) or shown == name.removeprefix("./")


def lines_of(first: Node, last: Node) -> Span:
    """The span from `first` to `last`, with the pragmas about `first`, extended to the ends of the lines.

    A comment after the last statement on its line belongs to it.
    """
    source = first.source
    visible = without_comments(source.text, literals=True)
    start = first.start
    for line in reversed([one for one in c_file(source).directives if one.place.end <= start]):
        if not about_a_loop(line) or visible[line.place.end : start].strip():
            break
        start = line.place.start
    before = visible.rfind("\n", 0, start) + 1
    start = before + len(source.text[before:start].rstrip(" \t"))
    after = visible.find("\n", last.end)
    rest = slice(last.end, after)
    is_alone = after >= 0 and not visible[rest].strip() and "/*" not in source.text[rest]
    return Span(source, start, after + 1 if is_alone else last.end)


def _has_loop(node: Node) -> bool:
    return node.type in LOOPS or any(True for _ in outermost(node))


def function_name(function: Node) -> str:
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "identifier":
        inner = node.child_by_field_name("declarator")
        node = inner if inner is not None else next(iter(node.named_children), None)
    return "" if node is None else node.text


@dataclass(frozen=True)
class _FunctionText:
    start: int
    body: int
    end: int
    heads: frozenset[str]
    """The names before its body, including its own."""
    names: frozenset[str]
    is_plain: bool
    """Whether its body contains no preprocessor line."""


class Nearby:
    """A file whose parts are tried one after the other."""

    def __init__(self, file: CFile) -> None:
        lines = [line.place.start for line in file.directives]
        self._functions = [
            _text_of(node, body, lines)
            for node in file.possible.of_type("function_definition")
            if (body := node.child_by_field_name("body")) is not None
        ]
        self._always = frozenset(name for line in file.directives for name in names_in(line.argument))
        """Names in directives: a macro may expand to a call."""

    def of(self, source: Source) -> Source:
        """The source with the bodies of functions blanked that the chosen parts do not refer to."""
        kept = set(self._led_to(source))
        edits: list[Edit] = []
        for number, one in enumerate(self._functions):
            if number not in kept and one.is_plain and (not edits or one.body >= edits[-1][1]):
                first, last = one.body + 1, one.end - 1
                edits.append((first, last, blank(source.text[first:last])))
        return replace(source, text=with_edits(source.text, edits))

    def _led_to(self, source: Source) -> Iterator[int]:
        """The functions around the chosen parts, and those whose names are mentioned there, transitively."""
        around = [
            number
            for number, one in enumerate(self._functions)
            if any(one.start < end and start < one.end for start, end in source.chosen)
        ]
        names = set(self._always)
        pending, seen = list(around), set(around)
        while pending:
            number = pending.pop()
            yield number
            names |= self._functions[number].names
            for other, one in enumerate(self._functions):
                if other not in seen and one.heads & names:
                    seen.add(other)
                    pending.append(other)


def _text_of(node: Node, body: Node, lines: list[int]) -> _FunctionText:
    text = node.source.text
    head = frozenset(names_in(text[node.start : body.start].partition("(")[0]))
    names = frozenset(names_in(text[node.start : node.end]))
    is_plain = text[body.start : body.start + 1] == "{" and text[body.end - 1 : body.end] == "}"
    is_plain = is_plain and not any(body.start <= line < body.end for line in lines)
    return _FunctionText(node.start, body.start, node.end, head - _KEYWORDS, names, is_plain)


_KEYWORDS = frozenset(
    (
        *("static", "inline", "extern", "const", "void", "int", "double", "float", "long", "short", "char"),
        *("struct", "unsigned", "signed", "_Bool", "volatile", "__inline", "__inline__", "__attribute__"),
    )
)
"""Words before a function's name that are no reason to keep it."""


@dataclass(frozen=True)
class DirectedFile:
    """A source without its loop directives, with the regions around these chosen."""

    source: Source
    directives: tuple[tuple[OpenmpDirective, Span], ...]
    """Each directive with the loop or the block that it applies to."""

    def at(self, statement: Node) -> tuple[OpenmpDirective, ...]:
        """The directives at a loop or a block, in source order.

        In a rewritten file, a statement is a different one, even if it has the same length.
        """
        place = (statement.start, statement.end, statement.text)
        return tuple(one for one, span in self.directives if (span.start, span.end, span.text) == place)


def directed(source: Source, choice: Choice) -> DirectedFile:
    """The source with the requested parts chosen, or else the loops with directives."""
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
    """Raise if the chosen parts contain another OpenMP directive, which would be dropped."""
    for line in c_file(source).directives:
        is_read = any(start <= line.place.start < end for start, end in source.chosen)
        if is_read and line.name == "pragma" and line.argument.split()[:1] == ["omp"]:
            hint = "remove it, or choose other loops with --loop"
            raise refuse(line.place, "this directive does not apply to a loop", hint, Code.DIRECTIVE)


def statement_of(file: CFile, directive: OpenmpDirective, others: Sequence[OpenmpDirective]) -> Node:
    """The loop that a directive applies to; for `fuse`, and directives about its result, the block."""
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
    if node.type not in wanted or start not in (node.start, _labelled(node).start):
        what = "a block of loops" if is_about_several else "a 'for' loop"
        hint = "put it directly before its loop"
        raise refuse(directive.place, f"{what} must follow this directive", hint, Code.DIRECTIVE)
    return node


def _labelled(statement: Node) -> Node:
    """A statement with the labels before it."""
    around = takewhile(lambda one: one.type == "labeled_statement", statement.around())
    *_, whole = statement, *around
    return whole


def _places(source: Source, directives: Sequence[OpenmpDirective]) -> Iterator[Span]:
    """For each directive the outermost loop around it, or the marked region around it."""
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
    inside = takewhile(lambda one: one.type != "function_definition", node.around())
    *_, found = node, *(one for one in inside if one.type in LOOPS)
    return _labelled(found)
