"""Errors of the user's compiler, and of the front end in OpenMP directives.

An undeclared name gets a stand-in, and an error outside of a region hides nothing of it: so a file may
be read that is not a valid program.  If no header is missing, the compiler's verdict counts.

The front end that types a file parses it without its pragmas.  Here it parses it again with those of OpenMP:
new errors are about directives.  It does not know all loop transformations of OpenMP 6: the directives at a
loop with one of these are checked where they are applied.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

from loopwright.c.tokens import names_in
from loopwright.c.typed import front_end, tree
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.options import PLAIN, CompilerOptions, absolute_paths
from loopwright.c.typed.prepare import Located
from loopwright.c.typed.preprocess import run_compiler
from loopwright.c.types import INT, Integer, common, holds, is_signed, is_unsigned, promoted, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

_ERROR = re.compile(r"(?m)^<stdin>:(\d+):(?:\d+:)? (?:fatal )?error: (.*)$")

_CLASH = re.compile(
    r"(?m)^<stdin>:\d+:\d+: error: '\w+' redeclared as different kind of symbol\n"
    r"(?:(?!<stdin>:).*\n)*?(/.*):\d+:\d+: note: previous "
)


@dataclass(frozen=True)
class Refusal:
    """An error of a compiler in a line of a file."""

    compiler: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {Path(self.compiler).name} says: {self.text}"


def refused_by_compiler(source: Source, options: CompilerOptions = PLAIN) -> list[Refusal]:
    """The errors in a file, if none of its headers is missing.

    The compiler is run regardless of the front end's result: it may be another version, or another compiler.
    """
    file = typed_file(source, options)
    return [] if file.missing else compiler_errors(source, options, file.assumed)


def compiler_errors(
    source: Source, options: CompilerOptions = PLAIN, assumed: Sequence[str] = ()
) -> list[Refusal]:
    """The compiler's errors in the source of a file, with the macros `assumed` defined.

    A variable with the name of a library function (`y1` of <math.h>) is no error, but calling it is.
    """
    done, compiler = _compiled(source, options, tuple(f"-D{name}" for name in assumed))
    messages = done.stderr.decode("utf-8", "replace")
    arguments = absolute_paths(options.for_file(source.path).arguments, Path())
    own = tuple(one.removeprefix("-I") for one in arguments if one.startswith("-I"))
    clashes = {one.start() for one in _CLASH.finditer(messages) if not one[1].startswith(own)}
    errors = (one for one in _ERROR.finditer(messages) if one.start() not in clashes)
    return [Refusal(compiler, int(one[1]), one[2]) for one in errors]


def is_compiled(source: Source, options: CompilerOptions = PLAIN) -> bool:
    """Whether the compiler accepts a file as it is.  This avoids the front end, slower on long sources."""
    return _compiled(source, options, ())[0].returncode == 0


@lru_cache(maxsize=4)
def _compiled(
    source: Source, options: CompilerOptions, defined: tuple[str, ...]
) -> tuple[subprocess.CompletedProcess[bytes], str]:
    """The result of compiling a file, and the compiler."""
    options = options.for_file(source.path)
    arguments = (*defined, *absolute_paths(options.arguments, Path()))
    folder = Path(source.path).parent if source.path else Path()
    data = source.text.encode("utf-8", "surrogateescape")
    command = (*options.program(), "-fsyntax-only", "-w", *arguments)
    return run_compiler(command, data, folder if folder.is_dir() else Path()), command[0]


_OPENMP = re.compile(r"\s*#\s*pragma\s+omp\b")
_NEWER = re.compile(
    r"\s*#\s*pragma\s+omp\s+(?:(?:reverse|interchange|stripe|fuse|split|nothing)\b|.*\bapply\s*\()"
)
_LISTED = re.compile(r"\b(private|firstprivate|lastprivate|shared|reduction|linear)\s*\(([^()]*)\)")
_BOTH = {"firstprivate", "lastprivate"}
"""The only two clauses of one directive that may name the same variable."""
_ALONE = re.compile(
    r"\s*#\s*pragma\s+omp\s+(barrier|begin|cancel\w*|declare|end|error|flush|requires|task(wait|yield)|threadprivate)\b"
)
"""The directives that no statement follows."""
_REDUCTION = re.compile(r"\s*#\s*pragma\s+omp\s+declare\s+reduction\b")
"""The directives that clauses of other directives name."""
_TEAM = re.compile(
    r"\s*#\s*pragma\s+omp\s+parallel"
    r"((\s|,)+(default\s*\(\s*(shared|none)\s*\)|(if|num_threads|proc_bind|shared)\s*\([^()]*\)))*\s*"
)
_DIVIDED = re.compile(r"\s*#\s*pragma\s+omp\s+for\b")
_AROUND_LOOPS = re.compile(
    r"(?:[\s{};]|for\s*\(\s*[A-Za-z_]\w*(?:\s+\w+)+\s*=[\w\s<>=!+\-;]*\)|[A-Za-z_][\w\s,*]*;)*"
)
"""Loops with their own iterators, and declarations without values: each thread has its own."""
_COLLAPSE = re.compile(r"\bcollapse\s*\(\s*(\d{1,2})\s*\)")
_STEP = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[{}();]|\belse\b')


def refused_directive(source: Source, options: CompilerOptions = PLAIN) -> str | None:
    """The error in an OpenMP directive of a region, and its line; None if there is none."""
    file = typed_file(source, options)
    regions = [spot for _, spot in file.located if isinstance(spot, Located)]
    inside = [
        (place, words)
        for place, words in zip(file.text.pragmas, file.text.directives, strict=True)
        if _OPENMP.match(words)
        and any(one.start <= place[0] < one.end or _is_around(file, place, words, one) for one in regions)
    ]
    if not inside:
        return None
    for place, words in inside:
        name = _named_twice(words)
        if name is not None:
            return f"line {file.text.line_of(place[0])}: '{name}' is in two clauses of one directive"
        if _has_converted_bound(file, words, place):
            return (
                f"line {file.text.line_of(place[0])}: OpenMP requires a bound of the type of the iterator, "
                "which may be too small for this one"
            )
    everywhere = zip(file.text.pragmas, file.text.directives, strict=True)
    declared = ((place, words) for place, words in everywhere if _REDUCTION.match(words))
    return _error(file, chain(declared, _known(file.text.text, inside)))


def _is_around(file: TypedFile, place: tuple[int, int], words: str, region: Located) -> bool:
    """Whether a region is in the statement of a directive: `for` means what it does in `parallel`."""
    has_statement = _ALONE.match(words) is None
    return has_statement and place[1] <= region.start < _end(file.text.text, place[1])


def _has_converted_bound(file: TypedFile, words: str, place: tuple[int, int]) -> bool:
    """Whether OpenMP may count a loop of a directive differently from C, which does not convert its bound.

    `for (unsigned char i = 1; i < n % 5; i++)` is empty for n = -3 in C; if gcc divides it among threads, it
    ends at 253.  A bound above the largest value of the type ends no loop in C either, and is not
    reported; nor is one below the smallest value of a type that holds an int.
    """
    collapsed = _COLLAPSE.search(words)
    if collapsed is None and _counts_by_int(file, place[1]):
        return False
    line = file.text.line_of(place[0])
    regions = [one for one in file.regions if isinstance(one, TypedRegion)]
    nodes = (node for one in regions for node in tree.walk_all(one.statements))
    loops = (one for one in nodes if isinstance(one, tree.ForStatement) and one.place.span.line >= line)
    return any(map(_is_converted, islice(loops, int(collapsed[1]) if collapsed else 1)))


_HEAD = re.compile(
    r"\s*for\s*\([^;{}\"']*;([^;{}\"']*);\s*(?:\+\+|--)?\s*([A-Za-z_]\w*)\s*(?:\+\+|--|[-+]?=[^=,;{}\"']*)?\)"
)
_UNUSUAL_NUMBER = re.compile(r"\d{9}|0[xXbB]|\d[.eEpP]")


def _counts_by_int(file: TypedFile, start: int) -> bool:
    """Whether the loop at `start` has an int iterator, and its test contains no number of another type.

    The front end looks up the iterator only: typing all regions takes seconds if the source is long.
    """
    head = _HEAD.match(file.text.text, start)
    if head is None or _UNUSUAL_NUMBER.search(head[1]):
        return False
    iterator = file.named_at(head.start(2))
    return iterator is not None and unqualified(iterator.type) == INT


def _is_converted(loop: tree.ForStatement) -> bool:
    iterator = None if loop.step is None else tree.changed_root(loop.step)
    if iterator is None or not isinstance(loop.test, tree.Binary):
        return False
    sides = [tree.without_casts(one) for one in (loop.test.left, loop.test.right)]
    kind = unqualified(iterator.type)
    for bound in (one for one in sides if tree.root_of(one) != iterator):
        if isinstance(bound, tree.Number) and bound.value is not None and isinstance(kind, Integer):
            return not kind.least <= bound.value <= kind.greatest
        is_wide = is_unsigned(bound.type) or (is_signed(kind) and holds(kind, INT))
        is_same = holds(kind, bound.type) or common(promoted(kind), promoted(bound.type)) == kind
        return not is_wide and not is_same
    return False


def is_in_block(place: Span, options: CompilerOptions = PLAIN) -> bool:
    """Whether a region is among the statements of a block, not alone after `if (c)` or a label."""
    file = typed_file(place.source, options)
    spots = (spot for region, spot in file.located if region.place == place and isinstance(spot, Located))
    return any(file.text.text[: spot.start].rstrip()[-1:] in (";", "{", "}") for spot in spots)


@dataclass(frozen=True)
class OpenmpStatement:
    """An OpenMP directive, and the range of the preprocessed text that it applies to."""

    words: str
    line: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"line {self.line}: {self.words.strip()}"


def openmp_statements(file: TypedFile) -> tuple[OpenmpStatement, ...]:
    """The OpenMP directives of a file with the statements that they apply to."""
    text = file.text
    return tuple(
        OpenmpStatement(words, text.line_of(place[0]), place[1], _end(text.text, place[1]))
        for place, words in zip(text.pragmas, text.directives, strict=True)
        if _OPENMP.match(words) and not _ALONE.match(words)
    )


def surrounding_directive(
    source: Source, options: CompilerOptions = PLAIN, *, is_rewritten: bool = True
) -> str | None:
    """A directive whose statement contains a region, which therefore does not run as it would by itself.

    For a region that is not rewritten, `parallel` does not count if `for` divides all loops in it: each
    thread runs everything around them, at the same time as the other threads.
    """
    file = typed_file(source, options)
    found = openmp_statements(file)
    divided = [one for one in found if _DIVIDED.match(one.words)]
    for _, region in file.located:
        if not isinstance(region, Located):
            continue
        inside = [one for one in found if region.start <= one.start < region.end]
        teams = 0 if inside and inside[0] in divided and not is_rewritten else 1
        for one in found:
            if not one.start <= region.start < one.end:
                continue
            teams += 1
            if teams > 1 or not _TEAM.fullmatch(one.words) or not _is_divided(file, one, divided):
                return str(one)
    return None


def _is_divided(file: TypedFile, team: OpenmpStatement, divided: Sequence[OpenmpStatement]) -> bool:
    """Whether everything that a statement runs is in divided loops."""
    start, around, text = team.start, "", file.text.text
    for one in divided:
        if team.start <= one.start < team.end:
            around += text[start : one.start - len(one.words)]
            start = one.end
    return _AROUND_LOOPS.fullmatch(around + text[start : team.end]) is not None


def _end(text: str, start: int) -> int:
    """The end of the statement that starts at `start`."""
    depth, end = 0, None
    for step in _STEP.finditer(text, start):
        if end is not None and step[0] != "else":
            return end
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(step[0], 0)
        end = step.end() if depth == 0 and step[0] in (";", "}") else None
        if depth < 0:
            return step.start()
    return len(text) if end is None else end


def _named_twice(words: str) -> str | None:
    """A name that occurs twice in the data-sharing clauses of a directive."""
    found: dict[str, list[str]] = {}
    for clause, inside in _LISTED.findall(words):
        first, colon, second = re.sub(r"\[[^\]]*\]", "", inside).partition(":")
        listed = second if clause == "reduction" and colon else first
        for name in names_in(listed):
            found.setdefault(name, []).append(clause)
    twice = (name for name, clauses in found.items() if len(clauses) > 1 and set(clauses) != _BOTH)
    return next(twice, None)


def _known(
    text: str, pragmas: Sequence[tuple[tuple[int, int], str]]
) -> Iterator[tuple[tuple[int, int], str]]:
    """The directives at loops all of whose directives the front end knows."""
    group: list[tuple[tuple[int, int], str]] = []
    for place, words in (*pragmas, ((len(text), len(text)), "")):
        if group and text[group[-1][0][1] : place[0]].strip():
            if not any(_NEWER.match(each) for _, each in group):
                yield from group
            group = []
        group.append((place, words))


def _error(file: TypedFile, pragmas: Iterator[tuple[tuple[int, int], str]]) -> str | None:
    """The first error that the front end reports with these pragmas only."""
    text = file.text.text
    for place, words in pragmas:
        text = text[: place[0]] + words.ljust(place[1] - place[0]) + text[place[1] :]
    before = Counter(one.text for one in file.parsed.diagnostics)
    found = front_end.parse(text, (*file.arguments, "-fopenmp", "-fopenmp-version=52")).diagnostics
    for error in sorted(found, key=lambda one: one.offset):
        if before[error.text] > 0:
            before[error.text] -= 1
            continue
        return f"line {file.text.line_of(error.offset)}: {error.text}"
    return None
