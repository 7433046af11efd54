"""Compares the effect of the preprocessor on two files.

The same tokens may mean different things in the two files: a header that only one includes may define a macro
that both use, or decide an `#if`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.file import c_file, whole_file
from loopwright.c.regions import without_hint
from loopwright.c.tokens import KEYWORDS, names_in, without_comments
from loopwright.c.typed.expansion import Definition, are_alike
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import preprocessed_around
from loopwright.c.typed.preprocess import Preprocessed
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

_LINE = re.compile(r"(?m)^[ \t]*#((?:\\\r?\n|[^\n])*)")
_DEFINE = re.compile(r"define ([A-Za-z_]\w*)")
_ADDED = re.compile(
    r"include <(?:math|stdio|stdlib|string|assert|omp|stddef|stdint|limits|float)\.h>"
    r"|pragma (?:scop|endscop|once|(?:loopwright )?assume .*|(?:GCC )?ivdep|vector always"
    r"|(?:GCC )?(?:no)?unroll\b.*"
    r"|(?:GCC|clang) diagnostic .*|STDC FP_CONTRACT OFF|clang loop unroll.*"
    r"|omp (?:parallel|for|simd|tile|stripe|interchange|reverse|unroll|fuse|split|loop|distribute|teams)\b.*)"
)
"""Directives that are harmless to add.  Loop pragmas are judged at their loops; any other pragma may affect
all code after it."""
_GUARD = re.compile(r"pragma omp (?:atomic|critical)\b.*")
"""Another function may get one, and is compared on its own; where one is gone, threads may meet."""
_HIDING = frozenset(["__attribute__", "__attribute", "asm", "__asm__", "__asm", "_Pragma", "alias"])


def adds_only_harmless_text(old: Source, new: Source) -> bool:
    """Whether the new file has the directives of the old one, apart from standard headers, pragmas and macros
    with fresh names: only then does the preprocessor leave its lines as written if it leaves those of the
    old file."""
    before, after = (without_comments(without_hint(one.text), literals=True) for one in (old, new))
    if "%:" in after or "??" in after or ("\\\n" in after and "\\\n" not in before):
        return False
    known = set(names_in(before))
    hiding = {word for word in _HIDING - known if word in after}
    if hiding and not hiding.isdisjoint(names_in(after)):
        return False
    kept = [one for one in directive_lines(after) if not _is_added(one, known)]
    expected = [one for one in directive_lines(before) if not _is_added(one, known)]
    for line in kept:
        if expected and line == expected[0]:
            expected = expected[1:]
        elif not _GUARD.fullmatch(line):
            return False
    return not expected


def directive_lines(text: str) -> list[str]:
    return [" ".join(one[1].split()) for one in _LINE.finditer(text)]


def _is_added(line: str, known: set[str]) -> bool:
    macro = _DEFINE.match(line)
    if macro is not None:
        return macro[1] not in known and macro[1] not in KEYWORDS
    return _ADDED.fullmatch(line) is not None


@dataclass(frozen=True)
class ExpandedFunction:
    """The function around a region: its names, its preprocessed file, the position of the region in it."""

    names: frozenset[str]
    text: Preprocessed
    at: int
    source: Source

    def macro(self, name: str) -> Definition | None:
        return self.text.definition(name, self.at)

    @property
    def hidden(self) -> frozenset[str]:
        """The names that its macros expand to, including nested macros."""
        found: dict[str, None] = {}
        pending = list(self.names)
        for name in pending:
            one = self.macro(name)
            brought = () if one is None else (word.text for word in one.body if word.is_name)
            own = () if one is None else one.parameters or ()
            further = [word for word in brought if word not in found and word not in own]
            found.update(dict.fromkeys(further))
            pending += further
        return frozenset(found)


def expanded_function(region: Span, options: CompilerOptions) -> ExpandedFunction | None:
    """Preprocesses the function around a region; returns None if the preprocessor removes the region."""
    found = preprocessed_around(region.source, options, region)
    if found is None:
        return None
    names: set[str] = set()
    for node in whole_file(region.source).possible.of_type("function_definition"):
        if node.span.contains(region):
            names.update(names_in(_LINE.sub("", without_comments(node.text, literals=True))))
    return ExpandedFunction(frozenset(names), *found, region.source)


def expansion_difference(old: ExpandedFunction, new: ExpandedFunction) -> str | None:
    """Returns how the preprocessor treats names, headers or lines of both functions differently, or None."""
    pending = sorted((old.names | old.hidden) & (new.names | new.hidden))
    for name in pending:
        if not are_alike(old.macro(name), new.macro(name)):
            return f"the macro '{name}' is not the same in both"
    before, after = old.text.headers(), new.text.headers()
    for header, text in before.items():
        if after.get(header, text) != text:
            return f"the header '{header}' does not say the same in both"
    if any("__COUNTER__" in one.source.text or "__COUNTER__" in one.hidden for one in (old, new)):
        return "'__COUNTER__' may not be the same number in both"
    if _numbered_lines(old) != _numbered_lines(new):
        return "'__LINE__' is not the same number in both"
    chosen = iter(_conditional_lines(new))
    for line, is_read in _conditional_lines(old):
        other = next((read for text, read in chosen if text == line), None)
        if other is not None and other != is_read:
            return f"only one of them has '{line}' after preprocessing"
    return None


def _numbered_lines(function: ExpandedFunction) -> list[int]:
    """Lines outside of the regions that use their own line number: anywhere in the file through `__LINE__`
    itself, in the function also through a macro, except `assert`, which prints it when the program aborts."""
    source = function.source
    if "__LINE__" not in source.text and "__LINE__" not in function.hidden:
        return []
    own = {name for name in function.names if name != "assert" and _counts_lines(function, name)}
    regions = [one.place for one in c_file(source).regions]
    text = without_comments(source.text, literals=True)
    bodies = whole_file(source).possible.of_type("function_definition")
    around = [node.span for node in bodies if any(node.span.contains(place) for place in regions)]
    found: list[int] = []
    for one in re.finditer(r"[A-Za-z_]\w*", _LINE.sub(lambda line: " " * len(line[0]), text)):
        is_inside = any(place.start <= one.start() < place.end for place in around)
        is_region = any(place.start <= one.start() < place.end for place in regions)
        if not is_region and (one[0] == "__LINE__" or (is_inside and one[0] in own)):
            found.append(text.count("\n", 0, one.start()))
    return found


def _counts_lines(function: ExpandedFunction, name: str) -> bool:
    pending = [name]
    for word in pending:
        macro = function.macro(word)
        body = () if macro is None else macro.body
        pending += [one.text for one in body if one.is_name and one.text not in pending]
    return "__LINE__" in pending


_CONDITIONAL = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b")


def _conditional_lines(function: ExpandedFunction) -> Iterator[tuple[str, bool]]:
    """Yields the lines under an `#if`, except those of regions, and whether the compiler sees them."""
    source, text = function.source, function.text
    regions = [one.place for one in c_file(source).regions]
    seen: set[int] = set()
    for start, end, first in zip(text.starts, (*text.starts[1:], len(text.text)), text.lines, strict=True):
        rows = text.text[start:end].split("\n") if first else []
        seen.update(first + k for k, row in enumerate(rows) if row.strip())
    depth = offset = 0
    for number, line in enumerate(without_comments(source.text, literals=True).split("\n"), 1):
        test = _CONDITIONAL.match(line)
        depth += 0 if test is None else -1 if test[1] == "endif" else 1
        is_own = not any(place.start <= offset < place.end for place in regions)
        if depth and is_own and line.strip() and not line.lstrip().startswith("#"):
            yield " ".join(line.split()), number in seen
        offset += len(line) + 1
