"""Functions of a file that was read before, in a text that differs from it in other functions.

A region is read in several wordings, which differ in the function around it, and each is parsed.  To build
another function again from the front end's cursors takes longer than to copy its tree:

    old text    H  f {B}  D  g {C}  R          the tree of f is copied with the places and offsets of the new
    new text    H  f {B}  D  g {C'}  R         text, if all but the bodies of some functions is the same

The tree of f follows from its tokens and from the declarations that they name.  Its tokens are the same.  A
name means the same declaration in both texts, as what is declared outside of functions is the same, in the
same order, and a body C' declares a name for the rest of the file in one way alone: it names a function that
is not declared before, or declares one or an `extern` variable.  So f is not copied if it names anything from
C, or anything first declared after the start of the bodies that differ with a name that C' contains.  A body
that defines types is not compared.  A type without a name is called after its line and column, which it keeps
only before the bodies that differ.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar, get_args

from loopwright.c.tokens import names_in
from loopwright.c.typed import front_end, tree
from loopwright.c.typed.builder import Builder, Problem
from loopwright.c.typed.front_end import Cursor
from loopwright.c.typed.prepare import Listing
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span

_TYPES = re.compile(r"\b(?:struct|union|enum)\b[^;{}]*\{|\btypedef\b")
"""The definition of a type, perhaps with attributes before its name."""
_UNNAMED = re.compile(r"\b(?:struct|union|enum)\b\s*(?:\{|\[\[|_\w*\s*\()")
"""The definition of a type without a name."""
_KINDS = frozenset((*get_args(tree.Expression), *get_args(tree.Statement), tree.Declarator))
_FIELDS = {kind: tuple(one.name for one in fields(kind)[1:]) for kind in _KINDS}
"""The fields of each kind of node after `place`."""
Node = TypeVar("Node", bound=tree.Node)
Body: TypeAlias = tuple[tree.CompoundStatement, tuple[Problem, ...]]


@dataclass(frozen=True, slots=True)
class Top:
    """A declaration outside of functions; `body` is where the body of a function starts, or the end."""

    start: int
    body: int
    end: int


@dataclass(frozen=True, eq=False)
class Outline:
    """A text that was parsed, and its declarations outside of functions and headers."""

    text: str
    tops: tuple[Top, ...]
    about: tuple[object, ...]
    """What else the trees of functions follow from: how the text was parsed, and its pragmas."""

    @cached_property
    def between(self) -> list[str]:
        """The text before, between and after these declarations."""
        bounds = [(0, 0), *((one.start, one.end) for one in self.tops), (len(self.text), 0)]
        return [self.text[one[1] : other[0]] for one, other in pairwise(bounds)]

    def has(self, start: int) -> bool:
        """Whether one of these declarations starts at an offset."""
        number = self.number_at(start)
        return number >= 0 and self.tops[number].start == start

    def number_at(self, offset: int) -> int:
        """The number of the declaration that contains an offset, or of the last one before it."""
        return bisect_right(self.tops, offset, key=attrgetter("start")) - 1


def top_at(start: int, end: int, cursor: Cursor) -> Top:
    """The declaration at a cursor."""
    parts = front_end.children(cursor) if front_end.kind(cursor) == "FUNCTION_DECL" else []
    bodies = [front_end.extent(one)[0] for one in parts if front_end.kind(one) == "COMPOUND_STMT"]
    return Top(start, bodies[0] if bodies else end, end)


@dataclass(frozen=True)
class ReadFunction:
    """A function as it was read: the text, where it starts there, and its tokens; its body, with problems."""

    outline: Outline
    start: int
    body: tree.CompoundStatement
    problems: tuple[Problem, ...]
    errors: tuple[str, ...]
    starts: tuple[int, ...]


@lru_cache(maxsize=2)
def read_before(path: str) -> dict[str, ReadFunction]:
    """The functions of a file as they were read last, by their names."""
    return {}


def copied_body(
    old: ReadFunction, new: Outline, start: int, errors: tuple[str, ...], builder: Builder
) -> Body | None:
    """The body of the function at an offset of a text, with its problems, if the old text has the same;
    `builder` has its tokens in the new text."""
    both = alike(old.outline, new)
    if both is None or not both.are_same(old.start, start) or old.errors != errors:
        return None
    names = builder.names
    copier = _Copier(both, builder.listing, old.starts, names.text.line_of, names.seen, {})
    try:
        return copier.node(old.body), old.problems
    except _DifferentError:
        return None


class _DifferentError(Exception):
    """A function cannot be copied."""


@dataclass(frozen=True, eq=False)
class Alike:
    """Two texts that differ in the bodies of some functions alone, given by their numbers."""

    old: Outline
    new: Outline
    differing: tuple[int, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of these bodies in the new text."""
        bodies = [self.new.tops[number] for number in self.differing]
        return frozenset(name for one in bodies for name in names_in(self.new.text[one.body : one.end]))

    def are_same(self, old: int, new: int) -> bool:
        """Whether the declarations that start at an offset of each text are the same."""
        number = self.new.number_at(new)
        is_one = self.new.has(new) and self.old.has(old) and self.old.number_at(old) == number
        return is_one and number not in self.differing

    def offset(self, declared: tree.Declaration) -> int:
        """Where the new text has a declaration of the old one; `_DifferentError` if it may have none, or if
        the name may be declared earlier there."""
        number = self.old.number_at(declared.offset)
        if number < 0:
            return declared.offset
        old, new = self.old.tops[number], self.new.tops[number]
        is_inside = declared.is_own or not (declared.is_file_scope or declared.storage in _LINKED)
        is_later = bool(self.differing) and number >= self.differing[0] and declared.offset >= old.body
        if is_later and not is_inside and declared.name in self.words:
            raise _DifferentError
        if declared.offset >= old.end:
            return declared.offset - old.end + new.end
        if number in self.differing and declared.offset >= old.body:
            raise _DifferentError
        return declared.offset - old.start + new.start


_LINKED = (tree.Storage.EXTERNAL, tree.Storage.FUNCTION, tree.Storage.UNDECLARED)


@lru_cache(maxsize=8)
def alike(old: Outline, new: Outline) -> Alike | None:
    """How two texts differ, if only bodies of functions do."""
    if old.about != new.about or len(old.tops) != len(new.tops) or old.between != new.between:
        return None
    differing: list[int] = []
    for number, (one, other) in enumerate(zip(old.tops, new.tops, strict=True)):
        if old.text[one.start : one.end] != new.text[other.start : other.end]:
            heads = old.text[one.start : one.body], new.text[other.start : other.body]
            bodies = old.text[one.body : one.end], new.text[other.body : other.end]
            if heads[0] != heads[1] or not all(bodies) or any(map(_TYPES.search, bodies)):
                return None
            differing.append(number)
    if differing and _UNNAMED.search(new.text, new.tops[differing[0]].body):
        return None
    return Alike(old, new, tuple(differing))


@dataclass(frozen=True, eq=False)
class _Copier:
    """Copies the nodes of a function; `listing` has its tokens in the new text, `starts` those in the old."""

    alike: Alike
    listing: Listing
    starts: tuple[int, ...]
    line_of: Callable[[int], int]
    known: dict[int, tree.Declaration]
    """The declarations of the new text that are known, by their offsets."""
    copied: dict[int, tree.Declaration]
    """The same by the offsets in the old text, as far as they were asked for."""

    def node(self, given: Node) -> Node:
        kind: Any = type(given)
        place = given.place
        values = [self._value(getattr(given, name)) for name in _FIELDS[kind]]
        if isinstance(given, tree.Declarator):
            values[0] = self._name(given.declaration)
        made: Node = kind(self.listing.place(place.first, place.end), *values)
        return made

    def _value(self, value: Any) -> Any:
        kind = type(value)
        if kind in _KINDS:
            return self.node(value)
        if kind is tuple:
            return tuple([self.node(one) if type(one) in _KINDS else one for one in value])
        return self.declaration(value) if kind is tree.Declaration else value

    def declaration(self, given: tree.Declaration) -> tree.Declaration:
        """The declaration in the new text."""
        found = self.copied.get(given.offset) if given.offset else given
        if found is None:
            offset = self.alike.offset(given)
            found = self.known.get(offset) or replace(given, offset=offset, line=self.line_of(offset))
            self.copied[given.offset] = found
        return found

    def _name(self, declared: tree.Declaration) -> Span:
        """The place of the name in a declarator, whose token is at the declaration's offset."""
        number = bisect_left(self.starts, declared.offset)
        if self.starts[number : number + 1] != (declared.offset,):
            raise _DifferentError
        return self.listing.tokens[number].span
