"""Locates the affine original and the part of the program to check [Bao2016, section 4].

One file holds both:

    /*@ polycheck start spec
      <affine input program>
    */
    <transformed program>
    /*@ polycheck end */

or the original is the region of a file of its own, and the program marks the code to check by
`/*@ polycheck start */ ... /*@ polycheck end */` or by the pragmas of a region.  Problem sizes
may be annotated: `/*@ polycheck size N = 4, T = 2 */`.

Macros that hide assignments, loops or arrays are expanded before the program is analysed.

`#define STEP(i) A[i] = B[i]` is an assignment wherever STEP is used, and must be instrumented there.  A use
is replaced by its expansion; line numbers stay the same.  Uses whose expansion is not known (several
definitions, `#` and `##`) are left in place, and refused later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from loopwright.c.file import c_file
from loopwright.c.macros import Macro, assigns, definitions, integer_text
from loopwright.c.regions import marked_regions
from loopwright.c.selection.choice import Choice
from loopwright.c.selection.chosen import functions_with_loops
from loopwright.c.syntax import refuse
from loopwright.c.tokens import as_text, blank, lexemes, names_in, without_comments
from loopwright.c.typed.expansion import Definition, expanded
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.read.c.find import resolved
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.c.reader import load_unmarked, parse_c, read_source
from loopwright.source import Source, Span

START = re.compile(r"/\*@\s*polycheck\s+start(\s+spec)?\b(.*?)\*/", re.DOTALL)
END = re.compile(r"/\*@\s*polycheck\s+end\s*\*/")
_SIZE = re.compile(r"/\*@\s*polycheck\s+sizes?\b(.*?)\*/", re.DOTALL)
_REGION = "#pragma scop"
_MARKS = "put /*@ polycheck start */ before and /*@ polycheck end */ after the statements to check"


@dataclass(frozen=True)
class Segment:
    """The checked part of a program: `place` holds whole statements."""

    source: Source
    place: Span
    sizes: tuple[tuple[str, int], ...]
    """The annotated problem sizes."""


@dataclass(frozen=True)
class Input:
    """An affine original and the segment that claims to reorder it."""

    original: Program
    segment: Segment
    marked: Span | None = None
    """The segment in the source as given, if the original is in a file of its own."""


def parse_input(source: Source, spec: str | Path | None = None, options: ReadOptions = AS_MARKED) -> Input:
    """Parse the two programs from one annotated source, or from a source and a file."""
    start = _marked_start(source)
    if start is None and spec is not None and not source.chosen:
        source = resolved(source, options)
    if spec is None:
        return _one_file(source, start, options)
    originals = read_source(load_unmarked(spec), options)
    if len(originals) != 1:
        raise BadInput(
            Code.SEGMENT,
            "the original has more than one region",
            span=Span.start_of(str(spec)),
            hint="keep one",
        )
    marked = _segment(source, start).place
    return Input(originals[0], _segment(*_written_out(source, originals[0])), marked)


def in_same_function(source: Source, spec: Source, options: ReadOptions) -> ReadOptions:
    """Chooses the function of the original where nothing is marked: other tools print no such pragmas."""
    is_marked = _marked_start(source) or source.chosen or marked_regions(source, c_file(source).directives)
    places = [one.place for one in marked_regions(spec, c_file(spec).directives)]
    if is_marked or not options.choice.is_empty or len(places) != 1:
        return options
    defined = {one.name for one in functions_with_loops(c_file(source))}
    for one in functions_with_loops(c_file(spec)):
        if one.name in defined and all(places[0].contains(loop.span) for loop in one.loops):
            return replace(options, choice=Choice((one.name,)))
    return options


def _written_out(source: Source, original: Program) -> tuple[Source, re.Match[str] | None]:
    """The program with such macros expanded, and where its segment starts."""
    plain = written_out(source, [array.name for array in original.arrays])
    return plain, _marked_start(plain)


def _marked_start(source: Source) -> re.Match[str] | None:
    found = list(START.finditer(source.text))
    if len(found) > 1:
        where = Span(source, found[1].start(), found[1].end())
        raise refuse(where, "a second segment starts here", "check one segment at a time", code=Code.SEGMENT)
    return found[0] if found else None


def _segment(source: Source, start: re.Match[str] | None) -> Segment:
    if start is None:
        is_marked = source.chosen or re.search(r"#\s*pragma\s+scop", source.text)
        regions = c_file(source).regions if is_marked else ()
        if len(regions) != 1:
            message = "no segment to check is marked"
            raise BadInput(Code.SEGMENT, message, span=Span.start_of(source.path), hint=_MARKS)
        return Segment(source, regions[0].place, _sizes(source))
    end = END.search(source.text, start.end())
    if end is None:
        where = Span(source, start.start(), start.start() + len("/*@ polycheck start"))
        raise refuse(where, "this segment does not end", _MARKS, code=Code.SEGMENT)
    return Segment(source, Span(source, start.end(), end.start()), _sizes(source))


def _sizes(source: Source) -> tuple[tuple[str, int], ...]:
    """The sizes given by comments `/*@ polycheck size N = 4 */`."""
    found: list[tuple[str, int]] = []
    for comment in _SIZE.finditer(source.text):
        for entry in comment[1].split(","):
            name, equals, text = (part.strip() for part in entry.partition("="))
            value = integer_text(text) if equals else None
            if value is None or not name.isidentifier():
                where = Span(source, comment.start(), comment.end())
                raise refuse(
                    where, f"'{entry.strip()}' is not a size", "write N = 100, M = 20", code=Code.SEGMENT
                )
            found.append((name, value))
    return tuple(found)


def _one_file(source: Source, start: re.Match[str] | None, options: ReadOptions) -> Input:
    if start is None or not start[1]:
        raise BadInput(
            Code.SEGMENT,
            "there is no original in this file",
            span=Span.start_of(source.path),
            hint="write it into a comment '/*@ polycheck start spec ... */', or give it with --spec",
        )
    _segment(source, start)
    original = _original(source, start, options)
    return Input(original, _segment(*_written_out(source, original)))


def _original(source: Source, start: re.Match[str], options: ReadOptions) -> Program:
    """The commented program as a region; places in it are those of the file.

    The rest of the file is another program: iterators it reads are not the original's.
    """
    text = source.text
    opener = Span(source, start.start(), start.start(2))
    before = text[text.rfind("\n", 0, opener.start) + 1 : opener.start]
    after = text[opener.end : text.find("\n", opener.end)]
    if before.strip() or after.strip():
        hint = "put '/*@ polycheck start spec' on a line of its own"
        raise refuse(opener, "the original starts in the middle of a line", hint, code=Code.SEGMENT)
    length = opener.end - opener.start
    pieces = [
        text[: opener.start],
        _REGION.ljust(length) if "\n" not in text[opener.start : opener.end] else _two_lines(text, opener),
        text[opener.end : start.end() - 2],
        "\n#pragma endscop\n",
        "}\n" * _open_blocks(text[: opener.start]),
    ]
    (program,) = parse_c(Source(source.path, "".join(pieces)), options)
    if not program.statements:
        raise refuse(
            opener, "the original has no statements", "write the affine loops here", code=Code.SEGMENT
        )
    return program


def _open_blocks(text: str) -> int:
    """The number of open braces at the end of `text`."""
    plain = without_comments(text, literals=False)
    return max(0, plain.count("{") - plain.count("}"))


def _two_lines(text: str, opener: Span) -> str:
    """An opener with a line end in it, `#pragma scop` in front and the rest blank."""
    rest = blank(text[opener.start : opener.end])
    return _REGION + rest[len(_REGION) :] if "\n" not in rest[: len(_REGION)] else _REGION + "\n"


_STATEMENTS = frozenset(("for", "while", "do", "if", "else", "switch", "return", "goto"))


def written_out(source: Source, arrays: Iterable[str]) -> Source:
    """Return `source` with the uses of macros expanded that are more than values."""
    file, names = c_file(source), frozenset(arrays)
    known = [one for one in file.macros if _can_be(file.macros, one)]
    hiding = {one.name: one for one in known if _hides(file.macros, one, names)}
    bodies = {
        name: Definition(name, one.parameters, is_variadic=False, body=lexemes(one.body, 0, len(one.body)))
        for name, one in hiding.items()
    }
    text = file.plain if hiding else ""
    edits = []
    tokens = expanded(source, lexemes(text, 0, len(text)), bodies.get)
    for (name, place), made in groupby(tokens, lambda token: (token.macro, token.span)):
        if name is not None and place.start > hiding[name].place.end:
            written = as_text([token.text for token in made])
            edits.append((place.start, place.end, written + "\n" * place.text.count("\n")))
    return source.edited(edits) if edits else source


def _can_be(macros: tuple[Macro, ...], macro: Macro) -> bool:
    """Whether the expansion of the macro is known wherever it is used."""
    is_only = len(definitions(macros, macro.name)) == 1 and not macro.conditional
    is_plain = "#" not in macro.body and "..." not in macro.place.text
    return is_only and is_plain and macro.name not in names_in(macro.body)


def _hides(macros: tuple[Macro, ...], macro: Macro, arrays: frozenset[str]) -> bool:
    """Whether a macro is more than a numeric value, itself or through other macros."""
    words = set(names_in(macro.body))
    if assigns(macro) or words & (_STATEMENTS | arrays):
        return True
    inner = [one for one in macros if one.name in words and one.place.start != macro.place.start]
    return any(_can_be(macros, one) and _hides(_without(macros, macro), one, arrays) for one in inner)


def _without(macros: tuple[Macro, ...], macro: Macro) -> tuple[Macro, ...]:
    return tuple(one for one in macros if one is not macro)
