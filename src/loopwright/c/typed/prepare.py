"""Prepares the preprocessed text for the front end, and locates the regions in it.

Pragmas are removed: they change no meaning here, and some hide the loop after them.  A region at file
scope, in a fragment, is put into a function.  Undeclared names get stand-ins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache

from loopwright.c.file import c_file
from loopwright.c.regions import Region
from loopwright.c.tokens import Lexeme, lexemes, whole_word, words
from loopwright.c.typed import front_end, tree
from loopwright.c.typed.expansion import Definition, ExpandedToken, confirmed, expanded, expanded_words
from loopwright.c.typed.front_end import Parsed
from loopwright.c.typed.options import OF_TYPES, PLAIN, CompilerOptions, refuse_cplusplus_ending
from loopwright.c.typed.preprocess import Preprocessed, preprocess, without
from loopwright.c.typed.redefined import needed_macros
from loopwright.c.typed.stand_ins import NO_LENGTH, StandIns
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span, line_ends

_ROUNDS = 6
"""How often stand-ins are added: new ones may reveal further undeclared names."""
_BRACES = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[{}]')
_TARGETS = {
    "__x86_64__": ("x86_64-linux-gnu", 8),
    "__aarch64__": ("aarch64-linux-gnu", 8),
    "__i386__": ("i386-linux-gnu", 4),
}
"""For each machine's macro, the target, and the size of `long` and pointers in bytes."""
_MEANS_SOMETHING = re.compile(r"\s*#\s*pragma\s+(weak|pack|redefine_extname|scalar_storage_order)\b")


@dataclass(frozen=True)
class Located:
    """The place of a region in the preprocessed text, and its tokens there, mapped to the file."""

    start: int
    end: int
    texts: Sequence[str]
    """The texts of the tokens."""
    follows_place: bool
    """Whether a token comes from `__LINE__` or a similar macro."""
    mapping: Callable[[], tuple[tuple[int, ...], tuple[ExpandedToken, ...]]]
    """Computes the tokens and their offsets in the preprocessed text; rarely needed for long regions."""

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        return self.mapping()[0]

    @cached_property
    def tokens(self) -> tuple[ExpandedToken, ...]:
        return self.mapping()[1]

    def place_of(self, offset: int) -> Span:
        """The place in the file of the token at an offset of the preprocessed text."""
        last = max((k for k, start in enumerate(self.offsets) if start <= offset), default=0)
        return self.tokens[last].span


@dataclass(frozen=True)
class Unread:
    """A region that the typed reading does not cover: the reason, and its place in the file."""

    place: Span
    reason: str
    spot: Span


@dataclass(frozen=True)
class LocatedText:
    """A preprocessed file with its regions located, before the front end parses it."""

    text: Preprocessed
    located: tuple[tuple[Region, Located | Unread], ...]
    arguments: tuple[str, ...]
    """The front end's arguments, which describe the compiler."""
    assumed: tuple[str, ...]
    """Macros that are assumed to be defined, since the preprocessor drops a region without them."""


def located_text(source: Source, options: CompilerOptions, regions: tuple[Region, ...]) -> LocatedText:
    """The preprocessed file without its pragmas, and the regions in it."""
    text, assumed = preprocessed(source, options, regions)
    bounds = [_bounds(text, source, region) for region in regions]
    plain = _for_front_end(text, [pair for pair in bounds if pair is not None])
    located = [_located(source, region, pair, plain) for region, pair in zip(regions, bounds, strict=True)]
    return LocatedText(plain, tuple(zip(regions, located, strict=True)), _arguments(options, text), assumed)


@lru_cache(maxsize=8)
def located_file(source: Source, options: CompilerOptions = PLAIN) -> LocatedText:
    """A file as its compiler preprocesses it, with its regions."""
    refuse_cplusplus_ending(source.path)
    return located_text(source, options.for_file(source.path), c_file(source).regions)


@dataclass(frozen=True)
class Prepared:
    """The result of the preparation; `text` is what the front end parsed."""

    text: Preprocessed
    parsed: Parsed
    located: tuple[tuple[Region, Located | Unread], ...]
    has_lengths: bool
    """Whether array lengths are those of the file, not those of stand-ins."""
    undeclared: frozenset[str]
    """Names that are declared nowhere, and have a stand-in."""


def prepared(given: LocatedText) -> Prepared:
    """The parsed text and the regions in it."""
    plain, arguments = given.text, given.arguments
    whole, parsed, known = plain, front_end.parse(plain.text, arguments), StandIns()
    for _ in range(_ROUNDS):
        own = [one for one in parsed.diagnostics if whole.line_of(one.offset) or NO_LENGTH in one.text]
        text_of_file = _own_text(plain) if own else ""
        new = known.after(own, whole.text, text_of_file)
        if new == known:
            break
        known, whole = new, _without_names(plain, new.hidden).after(new.declarations(text_of_file))
        parsed = front_end.parse(whole.text, arguments)
    located = tuple((region, _moved(one, whole.shift)) for region, one in given.located)
    return Prepared(whole, parsed, located, not known.constants, known.values | known.types)


def preprocessed(
    source: Source, options: CompilerOptions, regions: tuple[Region, ...]
) -> tuple[Preprocessed, tuple[str, ...]]:
    """The preprocessed text with the macros defined that its regions need, and those macros."""
    text = preprocess(source, options)
    needed = [name for region in _left_out(text, source, regions) for name in needed_macros(source, region)]
    assumed = tuple(dict.fromkeys(needed))
    if assumed:
        defined = [f"-D{name}" for name in assumed]
        text = preprocess(source, replace(options, arguments=(*defined, *options.arguments)))
    return text, assumed


def preprocessed_around(
    source: Source, options: CompilerOptions, place: Span
) -> tuple[Preprocessed, int] | None:
    """A preprocessed file, and where a region starts in it; None if the preprocessor drops the region."""
    file = c_file(source)
    text, _ = preprocessed(source, options.for_file(source.path), file.regions)
    bounds = _bounds(text, source, file.region(place))
    return None if bounds is None else (text, bounds[0][1])


def _left_out(text: Preprocessed, source: Source, regions: Sequence[Region]) -> list[Region]:
    """The regions that are not in the preprocessed text."""
    return [region for region in regions if _bounds(text, source, region) is None]


def _moved(one: Located | Unread, distance: int) -> Located | Unread:
    if isinstance(one, Unread):
        return one
    return Located(
        one.start + distance,
        one.end + distance,
        one.texts,
        one.follows_place,
        lambda: (tuple([offset + distance for offset in one.offsets]), one.tokens),
    )


def _arguments(options: CompilerOptions, text: Preprocessed) -> tuple[str, ...]:
    """The front end's arguments for the compiler: the language, the target, whether `char` is signed."""
    target = [one for macro, one in _TARGETS.items() if macro in text.changes]
    sizes = {text.number(name) for name in ("__SIZEOF_LONG__", "__SIZEOF_POINTER__")}
    if any(sizes != {size} for _, size in target):
        message = "with one of the options, 'long' or pointers have another size than on this machine"
        raise BadInput(Code.OPTION, message, hint="remove the option, such as -mx32 or -mabi=ilp32")
    char = "-funsigned-char" if "__CHAR_UNSIGNED__" in text.changes else "-fsigned-char"
    types = [one for one in options.arguments if one.startswith(OF_TYPES)]
    return (options.standard() or "-std=gnu17", char, *types, *(f"--target={name}" for name, _ in target))


_Pair = tuple[tuple[int, int], tuple[int, int]]


def _bounds(text: Preprocessed, source: Source, region: Region) -> _Pair | None:
    """The places of a region's two pragmas in the preprocessed text; None if it was dropped."""
    before = max(1, source.line_of(region.place.start) - 1)
    wanted = {("scop", before), ("endscop", source.line_of(region.place.end))}
    found = {}
    for place in text.pragmas:
        name = "".join(text.text[slice(*place)].split()[1:2])
        if (name, text.line_of(place[0])) in wanted:
            found[name] = place
    return (found["scop"], found["endscop"]) if len(found) == 2 else None


def _for_front_end(text: Preprocessed, bounds: Sequence[_Pair]) -> Preprocessed:
    blanked = [place for place in text.pragmas if _MEANS_SOMETHING.match(text.text, place[0]) is None]
    whole = without(text.text, blanked)
    for count, (opening, closing) in enumerate(bounds):
        depth = 0
        for brace in _BRACES.finditer(whole, 0, opening[0]):
            depth += (brace.group() == "{") - (brace.group() == "}")
        if depth <= 0:
            whole = _put(_put(whole, opening, f"int _{count}(){{"), closing, "}")
    return replace(text, text=whole)


def _put(text: str, place: tuple[int, int], words: str) -> str:
    return text[: place[0]] + words.ljust(place[1] - place[0]) + text[place[1] :]


def _located(source: Source, region: Region, pair: _Pair | None, text: Preprocessed) -> Located | Unread:
    """The compiler's tokens of a region, if they equal those of its source with macros expanded."""
    if pair is None:
        return Unread(region.place, "the preprocessor removes this region", region.place)
    start, end = pair[0][1], pair[1][0]
    inner = [(pragma.place.start, pragma.place.end) for pragma in region.pragmas]
    own = without(source.text[: region.place.end], inner)

    @cache
    def table(name: str) -> Definition | None:
        return text.definition(name, start)

    @cache
    def mapped() -> Unread | tuple[tuple[int, ...], tuple[ExpandedToken, ...]]:
        given = lexemes(text.text, start, end)
        written = lexemes(own, region.place.start, region.place.end)
        return _mapped(region.place, expanded(source, written, table), given)

    def mapping() -> tuple[tuple[int, ...], tuple[ExpandedToken, ...]]:
        found = mapped()
        assert not isinstance(found, Unread), "the tokens are the same"
        return found

    written = words(own, region.place.start, region.place.end)
    given = words(text.text, start, end)
    ours = None if written is None else expanded_words(written, table)
    if given is not None and ours == given and "".join(given).isascii():
        return Located(start, end, given, follows_place=False, mapping=mapping)
    found = mapped()
    if isinstance(found, Unread):
        return found
    follows_place = any(one.follows_place for one in found[1])
    return Located(start, end, [one.text for one in found[1]], follows_place, mapping)


def _mapped(
    place: Span, tokens: Sequence[ExpandedToken], given: Sequence[Lexeme]
) -> Unread | tuple[tuple[int, ...], tuple[ExpandedToken, ...]]:
    """The offsets of the compiler's tokens, and the tokens; or the first one that differs from ours."""
    mapped: list[ExpandedToken] = []
    for ours, theirs in zip(tokens, given, strict=False):
        one = confirmed(ours, theirs.text)
        if one is None or not ours.text.isascii():
            reason = f"the compiler reads '{theirs.text}' here, not '{ours.text}'"
            return Unread(place, reason, ours.span)
        mapped.append(one)
    if len(tokens) != len(given):
        return Unread(place, "the compiler reads more or fewer tokens here", place)
    return tuple([one.start for one in given]), tuple(mapped)


def _pieces(text: Preprocessed) -> Iterator[tuple[str, bool]]:
    """The pieces of the text, and whether each is from the file itself."""
    ends = (*text.starts[1:], len(text.text))
    yield text.text[: text.starts[0]] if text.starts else text.text, False
    for start, end, line in zip(text.starts, ends, text.lines, strict=True):
        yield text.text[start:end], line > 0


def _own_text(text: Preprocessed) -> str:
    """The parts of the text that are from the file itself."""
    return "\n".join(piece for piece, is_own in _pieces(text) if is_own)


def _without_names(text: Preprocessed, names: Collection[str]) -> Preprocessed:
    """The text with these names in its headers replaced by others of the same length."""
    if not names:
        return text
    word = whole_word(*sorted(names))
    changed = [
        piece if is_own else word.sub(lambda match: "$" + match[0][1:], piece)
        for piece, is_own in _pieces(text)
    ]
    return replace(text, text="".join(changed))


@dataclass(frozen=True)
class Listing:
    """The tokens of a piece of the preprocessed text: where each starts there, and in the file."""

    source: Source
    starts: tuple[int, ...]
    tokens: tuple[ExpandedToken, ...]

    def place(self, first: int, end: int) -> tree.TokenRange:
        if not first < min(end, len(self.tokens)):
            return tree.TokenRange(first, end, self.source.at(0, 0))
        _, span, macro, *_ = self.tokens[first]
        whole = Span(span.source, span.start, self.tokens[min(end, len(self.tokens)) - 1].span.end)
        is_one = macro is not None and all(
            one.macro == macro and one.span == span for one in self.tokens[first:end]
        )
        return tree.TokenRange(first, end, whole, macro if is_one else None)


def union(tokens: Sequence[ExpandedToken]) -> Span:
    """The span from the first to the last of some tokens, which are in source order."""
    return Span(tokens[0].span.source, tokens[0].span.start, tokens[-1].span.end)


def listed(
    source: Source,
    text: Preprocessed,
    located: Sequence[tuple[Region, Located | Unread]],
    start: int,
    end: int,
) -> Listing:
    """The tokens between two offsets; those in regions are mapped one by one, others by their lines."""
    found = lexemes(text.text, start, end)
    mapped: dict[int, ExpandedToken] = {}
    for _, spot in located:
        if isinstance(spot, Located) and start <= spot.start and spot.end <= end:
            mapped.update(zip(spot.offsets, spot.tokens, strict=True))
    starts = tuple([one.start for one in found])
    lines = zip(found, text.lines_of(starts), strict=True)
    tokens = [mapped.get(one.start) or _by_line(source, one.text, line) for one, line in lines]
    return Listing(source, starts, tuple(tokens))


def _by_line(source: Source, text: str, line: int) -> ExpandedToken:
    """The token at its place in a line, if it is there once; otherwise at the line."""
    ends = line_ends(source.text)
    if not 0 < line <= len(ends) + 1:
        return ExpandedToken(text, source.at(0, 0))
    start = ends[line - 2] + 1 if line > 1 else 0
    end = ends[line - 1] if line <= len(ends) else len(source.text)
    found = source.text.find(text, start, end)
    if found >= 0 and source.text.find(text, found + 1, end) < 0:
        return ExpandedToken(text, Span(source, found, found + len(text)))
    return ExpandedToken(text, Span(source, start, end))
