"""Finds the loops of a file that can be read, and the reasons for the others.

Functions are tried as a whole, then their outermost loops, then the loops inside those that cannot be
read.  Everything that is tried together is read from one `CFile`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from loopwright.c.file import c_file
from loopwright.c.regions import marked_places, marked_regions, refusal_of
from loopwright.c.selection.chosen import (
    FunctionWithLoops,
    Nearby,
    chosen,
    functions_with_loops,
    outermost,
    place_of,
    with_places,
)
from loopwright.c.syntax import Node
from loopwright.c.typed.spelling import with_branches_taken
from loopwright.errors import BadInput, Code, Diagnostic, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.read.c.gate.gate import gated
from loopwright.read.c.gate.numbers import RowsOfNumbers
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.c.region import read_region
from loopwright.read.c.written_numbers import with_rows_of_numbers
from loopwright.source import Source, Span


@dataclass(frozen=True)
class Nest:
    """A loop nest of a function: the option that selects it, and its program or why it cannot be read."""

    function: str
    place: Span
    option: str
    """The option on the command line; "" if a pragma marks the nest."""
    program: Program | None
    why_not: Diagnostic | None

    def __repr__(self) -> str:
        first, last = self.lines
        why = "" if self.why_not is None else f": {self.why_not.summary}"
        how = f"cannot be read{why}" if self.program is None else repr(self.program)
        return f"<Nest {self.function}, lines {first} to {last}: {how}>"

    @property
    def lines(self) -> tuple[int, int]:
        """The lines of the first and the last character that is not blank."""
        text, source = self.place.text, self.place.source
        first = self.place.start + len(text) - len(text.lstrip())
        return source.line_of(first), source.line_of(self.place.start + len(text.rstrip()) - 1)


def nests_of(source: Source, options: ReadOptions = AS_MARKED) -> tuple[Nest, ...]:
    """All loop nests of a file, in source order, as large as can be read."""
    source = _with_branches_taken(replace(source, chosen=()), options)
    file = c_file(source)
    marked = [region.place for region in marked_regions(source, file.directives)]
    functions = functions_with_loops(file)
    first: list[_Candidate] = []
    around = {place: _innermost(functions, place) for place in marked}
    for one in functions:
        inside = [place for place in marked if around[place] is one]
        first += [_Candidate(one.name, place, "", ()) for place in inside]
        if not inside and not any(one.node.span.contains(place) for place in marked):
            is_only = [other.name for other in functions].count(one.name) == 1
            first += [_function(one)] if is_only else list(_loops(one.name, one.loops))
    outside = [place for place in marked if around[place] is None]
    first += [_Candidate("", place, "", ()) for place in outside]
    found = _tried(source, first, lambda places: _gated(places, options))
    return tuple(sorted(found, key=lambda nest: nest.place))


def _with_branches_taken(source: Source, options: ReadOptions) -> Source:
    """The source with only its compiled branches, if an `#if` is in a region or among loops."""
    places = marked_places(source)
    if not places:
        source = with_places(source, [one.place for one in functions_with_loops(c_file(source))])
    return replace(with_branches_taken(source, options.compiled)[0], chosen=())


def _innermost(functions: Sequence[FunctionWithLoops], place: Span) -> FunctionWithLoops | None:
    """The function around a place; in damaged source, or in GNU C, functions may be nested."""
    around = [one for one in functions if one.node.span.contains(place)]
    return max(around, key=lambda one: one.node.span.start, default=None)


def resolved(source: Source, options: ReadOptions) -> Source:
    """The source with the places to read: those selected by options, or else marked by pragmas, or else the
    only function whose loops can be read.
    """
    if not options.choice.is_empty:
        return chosen(source, options.choice)
    file = c_file(source)
    if source.chosen or "\0" in source.text or marked_regions(source, file.directives):
        return source
    functions = functions_with_loops(file)
    if not functions:
        return source
    if len(functions) == 1:
        return with_places(source, [functions[0].place])
    names = [one.name for one in functions]
    results = _each(source, [one.place for one in functions], partial(_read, options=options))
    readable = [
        (name, result) for name, result in zip(names, results, strict=True) if isinstance(result, Program)
    ]
    if len(readable) == 1:
        return with_places(source, [readable[0][1].region])
    raise _undecided(source, names, [name for name, _ in readable])


def _undecided(source: Source, names: Sequence[str], readable: Sequence[str]) -> BadInput:
    """The error if it is unclear which function is meant."""
    what = readable or names
    can = "can be read" if readable else "have loops, of which none can be read as a whole"
    return BadInput(
        Code.REGION,
        f"no region is marked in this file, and {len(what)} functions {can}",
        span=Span.start_of(source.path),
        hint=f"choose one with --function NAME ({_listed(what)}) or --loop LINE, or put '#pragma scop' "
        f"and '#pragma endscop' around the loops; 'loopwright find {source.path}' lists them",
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


@dataclass(frozen=True)
class _Candidate:
    """A place to try, and the loops to try if it cannot be read."""

    function: str
    place: Span
    option: str
    inside: tuple[Node, ...]


def _function(one: FunctionWithLoops) -> _Candidate:
    """A function as a whole; if it consists of one loop, the loops inside it come next."""
    first = one.loops[0]
    inside = tuple(outermost(first)) if place_of(first) == one.place else one.loops
    return _Candidate(one.name, one.place, f"--function {one.name}", inside)


def _loops(function: str, loops: Iterable[Node]) -> Iterator[_Candidate]:
    for loop in loops:
        place = place_of(loop)
        yield _Candidate(function, place, f"--loop {loop.span.line}", tuple(outermost(loop)))


def _tried(
    source: Source, candidates: Sequence[_Candidate], read: Callable[[Source], Iterator[Program | Diagnostic]]
) -> Iterator[Nest]:
    if not candidates:
        return
    candidates = sorted(candidates, key=lambda one: one.place)
    results = _each(source, [one.place for one in candidates], read)
    again: list[_Candidate] = []
    for one, result in zip(candidates, results, strict=True):
        if isinstance(result, Program):
            yield Nest(one.function, one.place, one.option, result, None)
        else:
            yield Nest(one.function, one.place, one.option, None, result)
            again += _loops(one.function, one.inside)
    yield from _tried(source, again, read)


def _each(
    source: Source, places: Sequence[Span], read: Callable[[Source], Iterator[Program | Diagnostic]]
) -> Iterator[Program | Diagnostic]:
    """Read the places that can be regions; for each of the others, why it cannot."""
    lines = c_file(source).directives
    refusals = [refusal_of(place, lines) for place in places]
    regions = [place for place, refusal in zip(places, refusals, strict=True) if refusal is None]
    results = read(with_places(source, regions)) if regions else iter(())
    for refusal in refusals:
        yield next(results) if refusal is None else refusal


def _read(source: Source, options: ReadOptions) -> Iterator[Program | Diagnostic]:
    """Read each chosen part by itself."""
    for start, end in source.chosen:
        try:
            yield read_region(Span(source, start, end), options)
        except LoopwrightError as failure:
            yield failure.diagnostic


class Refusals:
    """Records why the gate refuses the rewritten sources that the reader understands.

    Such a refusal, and not the original spelling, is why the source cannot be read.
    """

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def gated(self, programs: tuple[Program, ...], options: ReadOptions) -> tuple[Program, ...]:
        """The programs if the gate accepts them; a refusal is recorded and raised."""
        try:
            return gated(programs, options)
        except RowsOfNumbers:
            raise
        except BadInput as failure:
            self._found.append(failure.diagnostic)
            raise

    def told(self, first: Diagnostic, source: Source) -> Diagnostic:
        """The first recorded refusal instead of `first`, at its line; `first` is the error of the original
        source, which is returned if it is a refusal itself, or if line numbers have changed."""
        span = self._found[0].span if self._found else None
        if span is None or first in self._found or span.source.text.count("\n") != source.text.count("\n"):
            return first
        line = source.text.split("\n")[span.line - 1]
        start = source.offset(span.line, 1 + len(line) - len(line.lstrip()))
        return replace(self._found[0], span=source.at(start, max(1, len(line.strip()))))


def _attempt(options: ReadOptions, refusals: Refusals, text: Source) -> tuple[Program, ...] | None:
    def read_one(text: Source, options: ReadOptions) -> tuple[Program, ...]:
        return refusals.gated((read_region(Span(text, *text.chosen[0]), options),), options)

    try:
        return with_rows_of_numbers(text, options, read_one)
    except LoopwrightError:
        return None


def _gated(source: Source, options: ReadOptions) -> Iterator[Program | Diagnostic]:
    """Read each chosen part by itself, compare it with the compiler's reading, and rewrite it if needed."""
    from loopwright.read.c.rephrased import further_followed, in_other_words

    nearby = Nearby(c_file(source))
    for place, result in zip(source.chosen, _read(source, options), strict=True):
        refusals = Refusals()

        attempt = partial(_attempt, options, refusals)
        failure, alone = result, replace(source, chosen=(place,))
        near = nearby.of(alone)
        if isinstance(result, Program):
            try:
                read = _of_numbers(partial(refusals.gated, (result,), options), partial(attempt, alone))
            except BadInput as refused:
                failure = refused.diagnostic
            else:
                if further_followed(near, options.compiled, read, attempt) is not read:
                    read = tuple(further_followed(alone, options.compiled, read, attempt))
                yield from read
                continue
        found = in_other_words(near, options.compiled, attempt)
        if found is not None and near != alone:
            found = in_other_words(alone, options.compiled, attempt)
        assert isinstance(failure, Diagnostic), "what was read has been yielded"
        yield found[0] if found is not None else refusals.told(failure, source)


def _of_numbers(
    read: Callable[[], tuple[Program, ...]], again: Callable[[], tuple[Program, ...] | None]
) -> tuple[Program, ...]:
    """The programs, or those read again with known numbers as lengths of rows."""
    try:
        return read()
    except RowsOfNumbers:
        found = again()
        if found is None:
            raise
        return found
