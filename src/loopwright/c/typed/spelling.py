"""Rewrites a file into an equivalent spelling: without digraphs, and without the branches that are not taken.

`plainly_spelled` removes digraphs, `#if 1` and `#if 0`.  The new text has the length and the lines of the old
one, and is used only if the compiler's preprocessor makes the same tokens of both.  Macros in OpenMP
directives are replaced by the numbers that they expand to.

`with_branches_taken` replaces an `#if` inside a region by the branch that the compiler takes:

    #ifdef FAST
      a[i] = b[i] * 2;
    #else                      becomes          a[i] = b[i] + b[i];
      a[i] = b[i] + b[i];
    #endif

The compiler decides which branch that is, with the user's options: a pragma is inserted in each branch, and
is in the output or not.  The text without the other branches must preprocess to the same tokens.  Line
numbers do not change.  It is equivalent for these options only, which is reported.

`with_pragmas_inside` moves a pragma about the first loop of a region from before `#pragma scop` to after it:

    #ifdef OPEN
      #pragma omp parallel for          #ifdef OPEN
    #endif                     becomes  #endif
    #pragma scop                        #pragma scop
      for (i = 0; i < n; i++)             #pragma omp parallel for
                                          for (i = 0; i < n; i++)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopwright.c.regions import Directive, about_a_loop, directives_of, marked_places
from loopwright.c.tokens import blank, spelled, without_comments
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import preprocess
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

_DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}"}
_DIGRAPH = re.compile("|".join(_DIGRAPHS))
_CHOICE = re.compile(r"(?m)^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)$")
_DIRECTIVE = re.compile(r"(?m)^[ \t]*#[ \t]*pragma[ \t]+omp\b(?:[^\n\\]|\\\n|\\)*$")
_DEFINED = re.compile(r"(?m)^[ \t]*#[ \t]*(?:define|undef)[ \t]+([A-Za-z_]\w*)")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_NUMBER = re.compile(r"#define \w+ \(*(0|[1-9]\d*)\)*\s*")


def plainly_spelled(source: Source, options: CompilerOptions) -> Source:
    """The text without these, if it contains any and the compiler agrees; otherwise unchanged."""
    visible = without_comments(source.text, literals=False)
    text = source.text
    for start, end in _left_out(visible):
        text, visible = (one[:start] + blank(one[start:end]) + one[end:] for one in (text, visible))
    for found in reversed([*_DIGRAPH.finditer(visible)]):
        text = text[: found.start()] + _DIGRAPHS[found[0]].ljust(2) + text[found.end() :]
    if text == source.text:
        return with_numbers(source, options)
    new = replace(source, text=text)
    return with_numbers(new if _tokens(new, options) == _tokens(source, options) else source, options)


def without_digraphs(source: Source, options: CompilerOptions) -> Source:
    """The text without digraphs in its regions, if the compiler agrees; otherwise unchanged."""
    if _DIGRAPH.search(source.text) is None:
        return source
    places = [*source.chosen, *((one.start, one.end) for one in marked_places(source))]
    found = _DIGRAPH.finditer(without_comments(source.text, literals=False))
    inside = [one for one in found if any(start <= one.start() < end for start, end in places)]
    text = source.text
    for one in inside:
        text = text[: one.start()] + _DIGRAPHS[one[0]].ljust(2) + text[one.end() :]
    new = replace(source, text=text)
    return new if inside and _tokens(new, options) == _tokens(source, options) else source


def with_numbers(source: Source, options: CompilerOptions) -> Source:
    """The text with macros in OpenMP directives replaced by their numbers, if they are defined once, as a
    number, before all of these directives.
    """
    visible = without_comments(source.text, literals=False)
    lines = [one.span() for one in _DIRECTIVE.finditer(visible)]
    words = [(start + one.start(), one) for start, end in lines for one in _NAME.finditer(visible[start:end])]
    defined = {one[1] for one in _DEFINED.finditer(visible)}
    if not any(one[0] in defined or one[0].isupper() for _, one in words):
        return source
    changes = preprocess(source, options).changes
    late = {one[1] for one in _DEFINED.finditer(visible, lines[0][0])}
    text = source.text
    for start, name in reversed(words):
        found = changes.get(name[0], ())
        number = _NUMBER.fullmatch(found[0][1]) if len(found) == 1 and name[0] not in late else None
        if number is not None:
            text = text[:start] + number[1].ljust(len(name[0])) + text[start + len(name[0]) :]
    return source if text == source.text else replace(source, text=text)


def _tokens(source: Source, options: CompilerOptions) -> list[str]:
    text = preprocess(source, options).text
    return [_DIGRAPHS.get(one, one) for one in spelled(text)]


def _left_out(visible: str) -> list[tuple[int, int]]:
    """The lines of `#if 1`, `#if 0` and their `#else` and `#endif`, and the text that `#if 0` excludes."""
    found: list[tuple[int, int]] = []
    opened: list[tuple[int, bool | None]] = []
    for line in _CHOICE.finditer(visible):
        word, condition = line[1], line[2].strip()
        if word in ("if", "ifdef", "ifndef"):
            chosen = {"1": True, "0": False}.get(condition) if word == "if" else None
            opened.append((line.start(), chosen))
            found += [line.span()] if chosen is not None else []
            continue
        if not opened:
            return []
        start, chosen = opened.pop()
        if chosen is None:
            opened += [(start, None)] if word != "endif" else []
            continue
        if word == "elif":
            return []
        found += [line.span(), *([] if chosen else [(start, line.end())])]
        opened += [(line.start(), not chosen)] if word == "else" else []
    return [] if opened else found


_OPENING = ("if", "ifdef", "ifndef")
_FURTHER = ("elif", "elifdef", "elifndef", "else")
_WORD = "loopwright_branch"


@dataclass(frozen=True)
class BranchTaken:
    """A conditional directive in a region, and whether the text after it is compiled."""

    place: Span
    is_taken: bool
    at: int | None = None
    """The place of that text, if it is elsewhere."""

    def is_in(self, region: Span) -> bool:
        return region.start <= (self.place.start if self.at is None else self.at) < region.end

    def __str__(self) -> str:
        line = " ".join(self.place.text.split())
        return f"'{line}' is decided as in this compilation: the text after it is " + (
            "compiled" if self.is_taken else "left out"
        )


def with_branches_taken(source: Source, options: CompilerOptions) -> tuple[Source, tuple[BranchTaken, ...]]:
    """The source with only the compiled branches in its regions, and the directives that decide it.

    The source is unchanged if there are no branches, if they extend beyond a region, or if a header that may
    decide them is missing.
    """
    if "#" not in source.text or not any(word in source.text for word in ("if", "IF")):
        return source, ()
    lines = [one for place in marked_places(source) for one in _conditional(source, place)]
    if not lines:
        return source, ()
    opened = [one for one in lines if one.name != "endif"]
    marks = [(one.place.end, one.place.end, f"\n#pragma {_WORD} {k}") for k, one in enumerate(opened)]
    asked = preprocess(replace(source, chosen=()).edited(marks), options)
    if asked.missing or asked.errors:
        return source, ()
    said = {" ".join(text.split()) for text in asked.directives}
    taken = [f"#pragma {_WORD} {k}" in said for k in range(len(opened))]
    found = tuple(BranchTaken(one.place, is_taken) for one, is_taken in zip(opened, taken, strict=True))
    edited = source.edited(_blanked(source, lines, {one.place: one.is_taken for one in found}))
    if _compiled(edited, options) != _compiled(source, options):
        return source, ()  # a condition depends on its own line number, or on how often it was evaluated
    return edited, found


def with_pragmas_inside(source: Source, options: CompilerOptions) -> tuple[Source, tuple[BranchTaken, ...]]:
    """The source with pragmas about the first loops of regions moved inside, and the directives that decide
    whether they are compiled."""
    found: list[BranchTaken] = []
    for number in range(len(() if source.chosen else marked_places(source))):
        lines = directives_of(source)
        place = marked_places(source)[number]
        (opening,) = (k for k, one in enumerate(lines) if one.place.end == place.start)
        ends = 0
        while lines[opening - 1 - ends].name == "endif" and ends < opening - 1:
            ends += 1
        pragma = opening - 1 - ends
        start, end = lines[max(pragma, 0)].place.start, lines[max(pragma, 0)].place.end
        between = without_comments(source.text, literals=True)[end : lines[opening].place.start].splitlines()
        is_before = pragma >= 0 and all(not one.strip() or one.strip().startswith("#") for one in between)
        around = _around(lines[:pragma], ends) if is_before and _is_whole(lines[pragma]) else None
        if around is None:
            continue
        after = source.text.index("\n", place.start) + 1
        start = source.text.rfind("\n", 0, start) + 1
        moved = source.text[start:end] + "\n"
        edited = source.edited([(start, source.text.index("\n", end) + 1, ""), (after, after, moved)])
        before, now = (_compiled(one, options).replace("#pragmascop", "") for one in (source, edited))
        if before == now:
            found += [BranchTaken(one.place, is_taken=True, at=after - len(moved)) for one in around]
            source = edited
    return source, tuple(found)


def _is_whole(pragma: Directive) -> bool:
    """Whether a pragma applies to a loop by itself, not to threads that run loops of another pragma."""
    words = pragma.argument.partition("(")[0].split()
    return about_a_loop(pragma) and ("omp" not in words or not {*words}.isdisjoint(_LOOP_DIRECTIVES))


_LOOP_DIRECTIVES = frozenset(("for", "simd", "loop", "taskloop"))


def _around(lines: Sequence[Directive], depth: int) -> list[Directive] | None:
    """The innermost conditions whose first branches are open after these lines; None if other branches
    are, or if something is defined or included since."""
    found: list[Directive] = []
    inner = 0
    for one in reversed(lines):
        if len(found) == depth:
            break
        if one.name in _OPENING and not inner:
            found.append(one)
        elif one.name in (*_FURTHER, "define", "undef", "include") and not inner:
            return None
        inner += (one.name == "endif") - (one.name in _OPENING and inner > 0)
    return found if len(found) == depth else None


def _compiled(source: Source, options: CompilerOptions) -> str:
    """The compiler's input after preprocessing, without white space."""
    return "".join(preprocess(replace(source, chosen=()), options).text.split())


def _conditional(source: Source, place: Span) -> Sequence[Directive]:
    """The conditional directives in a region, if they are balanced there."""
    names = (*_OPENING, *_FURTHER, "endif")
    lines = [one for one in directives_of(source) if place.contains(one.place) and one.name in names]
    depth = 0
    for one in lines:
        depth += (one.name in _OPENING) - (one.name == "endif")
        if depth < (one.name in _FURTHER):
            return ()
    return lines if depth == 0 else ()


def _blanked(source: Source, lines: Sequence[Directive], taken: dict[Span, bool]) -> list[Edit]:
    """Edits that blank the directives, and each branch that is not taken."""
    edits: dict[tuple[int, int], str] = {}
    position = -1
    for start, end in sorted(_not_taken(lines, taken), key=lambda one: (one[0], -one[1])):
        if start >= position:
            edits[start, end] = blank(source.text[start:end])
            position = end
    return [(start, end, text) for (start, end), text in edits.items()]


def _not_taken(lines: Sequence[Directive], taken: dict[Span, bool]) -> Iterator[tuple[int, int]]:
    open_lines: list[Directive] = []
    for one in lines:
        if one.name not in _OPENING:
            before = open_lines.pop()
            if not taken[before.place]:
                yield before.place.start, one.place.start
        if one.name != "endif":
            open_lines.append(one)
        yield one.place.start, one.place.end
