"""The typed reading of a file: its regions, its functions and its declarations.

    text of the file  --the user's compiler, -E-->  tokens  --libclang-->  cursors  --builder-->  tree

A region is read if the compiler's tokens equal those of the region's source with its macros expanded, if the
front end reports no error in it, and if every token belongs to a node of the tree.  Otherwise it is `Unread`,
with the reason.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import starmap
from operator import itemgetter
from typing import Any, TypeVar

from loopwright.c.regions import Region
from loopwright.c.tokens import BLIND_JUMPS, lexemes, whole_word
from loopwright.c.typed import front_end, tree
from loopwright.c.typed.builder import Builder, Problem
from loopwright.c.typed.copied import Body, Outline, ReadFunction, copied_body, read_before, top_at
from loopwright.c.typed.expansion import ExpandedToken
from loopwright.c.typed.front_end import Cursor, Parsed
from loopwright.c.typed.names import Names, Types
from loopwright.c.typed.options import PLAIN, CompilerOptions
from loopwright.c.typed.pointer_values import addressed
from loopwright.c.typed.prepare import (
    Located,
    LocatedText,
    Unread,
    listed,
    located_file,
    located_text,
    prepared,
    union,
)
from loopwright.c.typed.preprocess import Preprocessed, may_take_address
from loopwright.c.typed.statements import built_statement, built_variable, statements_between
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

_ADDRESS = re.compile(r"(?<!&)&(?:&&)*(?!&)|(?<!\w)_*asm_*(?!\w)")
"""`&` as a unary or binary operator, but not `&&`; operands of inline assembly may be addresses too."""
Fact = TypeVar("Fact")
_JUMPS = ("GOTO_STMT", "CONTINUE_STMT")


@dataclass(frozen=True)
class TypedFunction:
    """A function with a body; `problems` are its tokens that could not be parsed."""

    declaration: tree.Declaration
    parameters: tuple[tree.Declaration, ...]
    body: tree.CompoundStatement
    tokens: tuple[ExpandedToken, ...]
    problems: tuple[Problem, ...]
    errors: tuple[str, ...] = ()
    """What the front end rejected in it, and may have dropped."""
    starts: tuple[int, ...] = ()
    """Where its tokens start in the preprocessed text."""
    directives: tuple[tuple[int, str], ...] = ()
    """The pragmas in it, each with the number of the token after it; they are not in the tree."""

    @cached_property
    def nodes(self) -> tuple[tree.Node, ...]:
        """All nodes of the body, in source order."""
        return tuple(tree.walk(self.body))

    @cached_property
    def mentions(self) -> dict[int, tuple[int, ...]]:
        """The tokens that name each variable, by the offset of its declaration."""
        found: dict[int, list[int]] = {}
        for node in self.nodes:
            if isinstance(node, tree.Name):
                found.setdefault(node.declaration.offset, []).append(node.place.first)
        return {offset: tuple(sorted(places)) for offset, places in found.items()}

    @cached_property
    def jumps(self) -> tuple[tuple[int, str], ...]:
        """The places of labels, `goto` and `continue`, in source order."""
        found = [(node.place.first, "label") for node in self.nodes if isinstance(node, tree.Labelled)]
        others = [node for node in self.nodes if isinstance(node, tree.OtherStatement)]
        found += [(node.place.first, node.kind) for node in others if node.kind in _JUMPS]
        return tuple(sorted(found))

    @cached_property
    def jumps_anywhere(self) -> bool:
        """Whether a jump may have an unknown target: computed `goto`, assembly, unread text, `longjmp`."""
        known = {place for place, kind in self.jumps if kind == "GOTO_STMT"}
        return any(one.text in BLIND_JUMPS and at not in known for at, one in enumerate(self.tokens))

    @cached_property
    def addressed(self) -> frozenset[int]:
        """The variables that a pointer may point to."""
        return addressed(self.nodes)

    def keeps(self, one: tree.Declaration) -> bool:
        """Whether a variable is local to the function and accessed by its name only."""
        return one.is_own and not one.attributes and one.offset not in self.addressed

    @cached_property
    def giving(self) -> tuple[tree.Node, ...]:
        """The nodes that may set a variable: declarations, assignments, calls."""
        kinds = (tree.Declarator, tree.Assign, tree.CallExpression)
        return tuple(node for node in self.nodes if isinstance(node, kinds))


def _may_lead_to(function: TypedFunction, name: str) -> bool:
    """Whether a name in a function is not a local variable, or its address is taken."""
    named = {node.declaration for node in function.nodes if isinstance(node, tree.Name)}
    is_kept = all(function.keeps(one) for one in named if one.name == name)
    return not is_kept or any(name in problem.words for problem in function.problems)


@dataclass(frozen=True)
class TypedRegion:
    """The statements between two pragmas, and the function around them."""

    place: Span
    statements: tuple[tree.Statement, ...]
    function: TypedFunction
    first: int
    end: int
    """The region consists of the tokens of the function from `first` to `end` (exclusive)."""

    @property
    def tokens(self) -> tuple[ExpandedToken, ...]:
        return self.function.tokens[self.first : self.end]


@dataclass(frozen=True)
class TypedFile:
    """What the compiler and the front end report about a file."""

    source: Source
    text: Preprocessed
    parsed: Parsed
    names: Names
    located: tuple[tuple[Region, Located | Unread], ...]
    arguments: tuple[str, ...] = ()
    """The front end's arguments, which describe the compiler."""
    assumed: tuple[str, ...] = ()
    """Macros that are assumed to be defined, since the preprocessor drops a region without them."""
    undeclared: frozenset[str] = frozenset()
    """Names without a declaration: a header is missing, or the file is a fragment."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The headers that were not found."""
        return self.text.missing

    @cached_property
    def regions(self) -> tuple[TypedRegion | Unread, ...]:
        return tuple(
            spot if isinstance(spot, Unread) else self._region(region, spot) for region, spot in self.located
        )

    @property
    def own_errors(self) -> list[tuple[str, int]]:
        """The errors of the front end in the file itself, not in headers, with their lines."""
        placed = [(one.text, self.text.line_of(one.offset)) for one in self.parsed.diagnostics]
        return [(text, line) for text, line in placed if line]

    def accepts(self, spot: Located) -> bool:
        """Whether the front end reports no error in a region."""
        return not any(spot.start <= error.offset < spot.end for error in self.parsed.diagnostics)

    def named_at(self, offset: int) -> tree.Declaration | None:
        """The declaration of the name at an offset of the preprocessed text, if it is an expression there."""
        found = front_end.named_at(self.parsed, offset)
        return None if found is None else self.names.declaration(found)

    def mentions_around(self, spot: Located, name: str) -> int:
        """How often a word occurs in the preprocessed function around a region, outside the region."""
        word = whole_word(name)
        around = [(start, end) for start, end, _ in self.top if start <= spot.start and spot.end <= end]
        pieces = [piece for start, end in around for piece in ((start, spot.start), (spot.end, end))]
        return sum(1 for piece in pieces for _ in word.finditer(self.text.text, *piece))

    def may_point_to(self, name: str) -> bool:
        """Whether a pointer may point to what regions call by a name: the text contains something like
        `&name`, or an attribute that exposes addresses, and not only for variables of other functions.
        """
        if not may_take_address(self.text.text, name):
            return False
        return any(isinstance(one, Unread) or _may_lead_to(one.function, name) for one in self.regions)

    @cached_property
    def top(self) -> tuple[tuple[int, int, Cursor], ...]:
        """The declarations of the file itself, without those of headers."""
        found = []
        for cursor in front_end.children(self.parsed.unit.cursor):
            start, end = front_end.extent(cursor)
            if self.text.line_of(start):
                found.append((start, end, cursor))
        return tuple(found)

    @cached_property
    def _defined(self) -> list[tuple[int, int, Cursor]]:
        functions = [one for one in self.top if front_end.kind(one[2]) == "FUNCTION_DECL"]
        return [one for one in functions if one[2].is_definition()]

    @cached_property
    def functions(self) -> tuple[TypedFunction, ...]:
        """The functions that the file defines."""
        return tuple(self._built(start, cursor) for start, _, cursor in self._defined)

    @cached_property
    def nodes(self) -> tuple[tree.Node, ...]:
        """All nodes of these functions."""
        return tuple(node for function in self.functions for node in function.nodes)

    def function_around(self, offset: int) -> TypedFunction | None:
        """The function of the file that contains an offset of the preprocessed text."""
        number = bisect_left(self._defined, offset + 1, key=itemgetter(0)) - 1
        start, end, cursor = self._defined[number] if number >= 0 else (0, 0, None)
        return None if cursor is None or offset >= end else self._built(start, cursor)

    def once(self, key: tuple[object, ...], compute: Callable[[], Fact]) -> Fact:
        """What follows from the file alone, computed at the first request for its key."""
        if key not in self._facts:
            self._facts[key] = compute()
        found: Fact = self._facts[key]
        return found

    @cached_property
    def _facts(self) -> dict[tuple[object, ...], Any]:
        """The facts computed so far."""
        return {}

    def functions_with(self, name: str, *, addressed: bool = False) -> tuple[TypedFunction, ...]:
        """The functions of the file that contain this word; `addressed`: that also take some address."""
        words = [whole_word(name), *([_ADDRESS] if addressed else ())]
        return tuple(
            self._built(start, cursor)
            for start, end, cursor in self._defined
            if all(word.search(self.text.text, start, end) for word in words)
        )

    def functions_named(self, name: str) -> tuple[TypedFunction, ...]:
        """The functions of the file with this name."""
        named = (one for one in self._defined if str(one[2].spelling) == name)
        return tuple(self._built(start, cursor) for start, _, cursor in named)

    @cached_property
    def variables(self) -> tuple[tuple[tree.Declarator, tuple[Problem, ...]], ...]:
        """The variables of the file, and the problems in their initialisers."""
        found = []
        for start, end, cursor in self.top:
            if front_end.kind(cursor) == "VAR_DECL":
                builder = self._builder(start, end)
                variable = built_variable(builder, cursor)
                found.append((variable, tuple(builder.problems)))
        return tuple(found)

    @cached_property
    def declared_elsewhere(self) -> frozenset[str]:
        """The variables that are declared `extern` in the file."""
        variables = (one for _, _, one in self.top if front_end.kind(one) == "VAR_DECL")
        return frozenset(str(one.spelling) for one in variables if front_end.is_extern(one))

    @cached_property
    def _definitions(self) -> dict[str, tuple[int, int, Cursor]]:
        """The functions and variables defined in the file or its headers, by name; the last one counts."""
        found = {}
        for cursor in front_end.children(self.parsed.unit.cursor):
            is_function = front_end.kind(cursor) == "FUNCTION_DECL" and cursor.is_definition()
            if is_function or front_end.kind(cursor) == "VAR_DECL":
                is_first = str(cursor.spelling) not in found
                if is_first or is_function or front_end.children(cursor):
                    found[str(cursor.spelling)] = (*front_end.extent(cursor), cursor)
        return found

    def definition(self, function: tree.Declaration) -> TypedFunction | None:
        """The definition of a function; None if neither the file nor a header has one."""
        name = "" if function.is_own or function.storage is tree.Storage.STATIC else function.name
        found = self._definitions.get(name)
        if found is None or front_end.kind(found[2]) != "FUNCTION_DECL":
            return None
        return self._built(found[0], found[2])

    def first_value(self, variable: tree.Declaration) -> tree.Expression | None:
        """The initialiser of a variable of file scope."""
        found = self._definitions.get(variable.name) if variable.is_file_scope else None
        if found is None or front_end.kind(found[2]) != "VAR_DECL":
            return None
        return built_variable(self._builder(found[0], found[1]), found[2]).initial

    def _builder(self, start: int, end: int) -> Builder:
        listing = listed(self.source, self.text, self.located, start, end)
        return Builder(listing, self.names, built_statement)

    def _function(self, start: int, end: int, cursor: Cursor) -> TypedFunction:
        builder = self._builder(start, end)
        declaration, listing = self.names.declaration(cursor), builder.listing
        inside = front_end.children(cursor)
        parameters = [self.names.declaration(one) for one in inside if front_end.kind(one) == "PARM_DECL"]
        errors = tuple(one.text for one in self.parsed.diagnostics if start <= one.offset < end)
        before = read_before(self.source.path)
        key, outline = str(cursor.spelling), self._outline
        found = copied_body(before[key], outline, start, errors, builder) if key in before else None
        body, problems = found or self._body(builder, inside)
        if outline.has(start):
            before[key] = ReadFunction(outline, start, body, problems, errors, listing.starts)
        parts = (declaration, tuple(parameters), body, listing.tokens, problems, errors, listing.starts)
        return TypedFunction(*parts, tuple(self._directives(listing.starts, end)))

    def _body(self, builder: Builder, inside: Sequence[Cursor]) -> Body:
        """The body of a function, built from cursors, and its problems."""
        body = tree.CompoundStatement(builder.listing.place(0, 0), ())
        for child in inside:
            if front_end.kind(child) == "COMPOUND_STMT":
                built = built_statement(builder, child)
                body = built if isinstance(built, tree.CompoundStatement) else body
        return body, tuple(builder.problems)

    @cached_property
    def _outline(self) -> Outline:
        said = tuple(one for one in self.text.directives if one.split()[1:2] not in (["scop"], ["endscop"]))
        about = (self.arguments, self.text.shift, self.names.types.has_lengths, said)
        return Outline(self.text.text, tuple(starmap(top_at, self.top)), about)

    def _directives(self, starts: tuple[int, ...], end: int) -> Iterator[tuple[int, str]]:
        """The pragmas between the tokens of a function."""
        places = self.text.pragmas
        for number in range(bisect_left(places, (starts[0], 0)), bisect_left(places, (end, 0))):
            yield bisect_left(starts, places[number][0]), self.text.directives[number]

    def _region(self, region: Region, spot: Located) -> TypedRegion | Unread:
        for error in self.parsed.diagnostics:
            if spot.start <= error.offset < spot.end:
                return Unread(region.place, error.text, spot.place_of(error.offset))
        around = [one for one in self.top if one[0] <= spot.start and spot.end <= one[1]]
        if len(around) != 1 or front_end.kind(around[0][2]) != "FUNCTION_DECL":
            return Unread(region.place, "it is not inside a function", region.place)
        function = self._built(around[0][0], around[0][2])
        starts = [one.start for one in lexemes(self.text.text, around[0][0], spot.start)]
        first = len(starts)
        end = first + len(spot.tokens)
        for problem in function.problems:
            # A problem of a node around the region is one of tokens outside it, or is seen inside too.
            if problem.first < end and first < problem.end and not _surrounds(problem, first, end):
                place = union(function.tokens[max(problem.first, first) : min(problem.end, end)])
                return Unread(region.place, problem.reason, place)
        statements = statements_between(function.body, first, end)
        if statements is None:
            return Unread(region.place, "it is not a list of whole statements", region.place)
        covered = {k for one in statements for k in range(one.place.first, one.place.end)}
        stray = [k for k in range(first, end) if k not in covered and function.tokens[k].text != ";"]
        if stray:
            token = function.tokens[stray[0]]
            return Unread(region.place, f"'{token.text}' belongs to no statement", token.span)
        return TypedRegion(region.place, statements, function, first, end)

    @cached_property
    def _functions(self) -> dict[int, TypedFunction]:
        """The functions built so far, by their start."""
        return {}

    def _built(self, start: int, cursor: Cursor) -> TypedFunction:
        if start not in self._functions:
            self._functions[start] = self._function(*front_end.extent(cursor), cursor)
        return self._functions[start]


def _surrounds(problem: Problem, first: int, end: int) -> bool:
    return problem.first <= first and end <= problem.end and (problem.first, problem.end) != (first, end)


@lru_cache(maxsize=8)
def typed_file(source: Source, options: CompilerOptions = PLAIN) -> TypedFile:
    """Read a file as its compiler does."""
    return _typed(source, located_file(source, options))


@lru_cache(maxsize=8)
def typed_text(source: Source, options: CompilerOptions = PLAIN) -> TypedFile:
    """The typed reading of a source whose regions are not located."""
    return _typed(source, located_text(source, options.for_file(source.path), ()))


def _typed(source: Source, given: LocatedText) -> TypedFile:
    ready = prepared(given)
    names = Names(ready.text, Types(ready.text.shift, ready.has_lengths))
    parts = (source, ready.text, ready.parsed, names, ready.located)
    return TypedFile(*parts, given.arguments, given.assumed, ready.undeclared)


def may_point_to(source: Source, options: CompilerOptions, name: str) -> bool:
    """Whether a pointer may point to what the regions of a source call by a name.

    The front end's text is the compiler's with stand-ins before it, which take no address: if the
    compiler's contains no such address, the front end need not read it.
    """
    if not may_take_address(located_file(source, options).text.text, name):
        return False
    return typed_file(source, options).may_point_to(name)
