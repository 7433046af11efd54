"""Rewrites two files in parallel, as `prove` compares them.

It also rewrites vectors as lanes, if their types and functions are those of the compiler's own headers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeAlias

from loopwright.c.reworded.flat_loops import SIZES, has_products, with_flat_loops, with_nested_loops
from loopwright.c.reworded.guarded_sums import with_reductions
from loopwright.c.reworded.macros_written_out import with_macros_written_out
from loopwright.c.reworded.memory_calls import (
    FETCHED,
    fused_calls,
    with_memory_loops,
    with_products,
    without_prefetches,
)
from loopwright.c.reworded.numbers_for_sizes import mentions_sizes, sizes_to_try, with_numbers
from loopwright.c.reworded.own_values import FINITE, needs_finite
from loopwright.c.reworded.parallel_blocks import with_parallel_loops
from loopwright.c.reworded.thread_chunks import IN_PARTS, for_two_threads, with_whole_loops
from loopwright.c.reworded.vector_lanes import InLanes, may_be_defined, with_lanes
from loopwright.c.reworded.vector_words import HEADERS
from loopwright.c.tokens import is_number, names_in
from loopwright.c.typed.expansion import definition
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import preprocess
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.points import values_text
from loopwright.read.c.evolution import with_evolved_values, with_pointer_walks
from loopwright.read.c.inlined import called_in, with_calls_inlined
from loopwright.read.c.rephrased import (
    in_plain_loops,
    in_table_loops,
    with_assigned_arrays,
    with_first_values,
    with_other_iterators,
)
from loopwright.read.c.tables import with_tables
from loopwright.source import Source, Span

_DEEPEST = 3
"""The maximum depth of inlined calls."""
Texts: TypeAlias = tuple[Source, Source]
PairOfOptions: TypeAlias = tuple[CompilerOptions, CompilerOptions]
COUNTED_ON = "what integer variables count or are set to does not overflow, compared pointers share an array"
Rewording: TypeAlias = Callable[[Source, CompilerOptions], Source]


@dataclass(frozen=True)
class PairOfWordings:
    """Two sources, and the assumptions under which they are equivalent to the given ones."""

    texts: Texts
    trusted: tuple[str, ...] = ()
    races_count: bool = True
    """Whether dependences between iterations in these sources imply dependences in the given ones."""
    flat: Texts | None = None
    """The sources before rows replaced one-dimensional tables."""


@dataclass(frozen=True)
class SmallSizes:
    """Two sources for certain sizes, and a description of these."""

    told: str
    numbers: dict[str, int]
    texts: Texts


def _both(texts: Texts, options: PairOfOptions, *ways: Rewording) -> Texts:
    """Two sources after applying several rewrites to each in sequence."""
    for way in ways:
        texts = way(texts[0], options[0]), way(texts[1], options[1])
    return texts


def pairs_of_wordings(
    old: Source, new: Source, compiled: CompilerOptions, options: CompilerOptions
) -> Iterator[PairOfWordings]:
    """Two files with plain loops, as they are, with initialisers for all loops, with other iterators, with
    elements in place of pointers, with assignments to initialised arrays, and with the values of
    induction variables in each iteration; each pair of sources once.

    Functions that only one of them calls, or that differ, are inlined first, and `memset` and `memcpy` of
    elements become loops.  Loops that the threads of a block share become parallel loops.
    """
    seen: set[Texts] = set()
    bare = without_prefetches(old), without_prefetches(new)
    told: tuple[str, ...] = (FETCHED,) if bare != (old, new) else ()
    own = (compiled, options)
    merged = _both((with_memory_loops(bare[0]), with_memory_loops(bare[1])), own, with_reductions)
    told += _of_extremes(bare, merged)
    old, new = (with_parallel_loops(one) for one in merged)
    given = (old, new)
    yield from _once(_in_all_tables(given, own, told), seen)
    shown = _with_sizes_shown(given, own)
    if shown != given:
        yield from _once(_in_all_tables(shown, own, told), seen)
    whole = _both(given, own, _with_teams_written_out)
    if whole != given:
        for pair in _once(_in_all_tables(whole, own, told), seen):
            trusted = dict.fromkeys((*pair.trusted, IN_PARTS, *_of_extremes(given, whole)))
            yield replace(pair, trusted=tuple(trusted), races_count=False)


def _of_extremes(before: Sequence[Source], after: Sequence[Source]) -> tuple[str, ...]:
    """What is assumed of values of which threads keep the largest or smallest."""
    pairs = zip(before, after, strict=True)
    return (FINITE,) if any(needs_finite(one.text, other.text) for one, other in pairs) else ()


def _with_teams_written_out(source: Source, options: CompilerOptions) -> Source:
    """The source with whole loops for the parts that threads have, and reductions for their sums."""
    return in_table_loops(
        source, options, lambda one: with_whole_loops(with_reductions(one, options, of_teams=True))
    )


def _with_sizes_shown(given: Texts, options: PairOfOptions) -> Texts:
    """Two sources with macro calls in regions expanded, if one names a size of the enclosing function."""
    if not any(map(mentions_sizes, given)):
        return given

    def is_called(call: Span, _: Sequence[str]) -> bool:
        return call.text.endswith(")")

    return _both(given, options, partial(with_macros_written_out, is_written_out=is_called))


def _once(pairs: Iterable[PairOfWordings], seen: set[Texts]) -> Iterator[PairOfWordings]:
    """Each pair of sources once."""
    for pair in pairs:
        if pair.texts not in seen:
            seen.add(pair.texts)
            yield pair


def _in_all_tables(
    given: Texts, options: PairOfOptions, told: tuple[str, ...]
) -> Iterator[PairOfWordings]:
    for texts, more in _in_tables(given, options):
        trusted = (*told, *more)
        for pair in _all_pairs(texts, options):
            yield replace(pair, trusted=(*pair.trusted, *trusted))
        if any("*" in one.text for one in texts):
            for flat, rows in _in_rows(texts, options):
                yield PairOfWordings(rows, trusted, flat=flat)


def _in_rows(given: Texts, options: PairOfOptions) -> Iterator[tuple[Texts, Texts]]:
    """The sources before and after rows replace one-dimensional tables, if they can be read so."""
    inlined = _with_all_inlined(_both(given, options, in_plain_loops), options)
    pointed = _with_elements(inlined, options, rows=True)
    for texts in dict.fromkeys((inlined, pointed)):
        found = with_tables(*texts, options)
        if found is not None:
            yield texts, found
            return


def _in_tables(
    given: Texts, options: PairOfOptions
) -> Iterator[tuple[Texts, tuple[str, ...]]]:
    """The sources, then with a loop for each size of a table, then with one for the whole table; and the
    assumptions that these need."""
    yield given, ()
    if any(map(has_products, given)):
        for way in (with_nested_loops, with_flat_loops):
            texts = _both(given, options, partial(in_table_loops, way=way))
            if texts != given:
                yield texts, (SIZES,)


def with_small_sizes(
    given: Texts, options: PairOfOptions, assumed: Sequence[str]
) -> Iterator[SmallSizes]:
    """Two sources with numbers for sizes that they multiply and that have no assumptions, and two threads
    if they use thread numbers.  Macros that may name a size are expanded."""
    old, new = _with_sizes_shown(given, options)
    threads = for_two_threads(old), for_two_threads(new)
    if threads != (old, new):
        yield SmallSizes("with two threads", {}, threads)
        old, new = threads
    for numbers in sizes_to_try(old, new):
        if numbers.keys().isdisjoint(name for one in assumed for name in names_in(one)):
            texts = with_numbers(old, numbers), with_numbers(new, numbers)
            yield SmallSizes(values_text(numbers), numbers, texts)


def _all_pairs(given: Texts, options: PairOfOptions) -> Iterator[PairOfWordings]:
    for texts in _identities(given, options):
        yield PairOfWordings(texts)
    for texts in (given, _with_all_inlined(_both(given, options, in_plain_loops), options)):
        evolved = _both(texts, options, with_evolved_values)
        if evolved != texts:
            yield PairOfWordings(evolved, (COUNTED_ON,))
            yield PairOfWordings(_both(evolved, options, in_plain_loops), (COUNTED_ON,))


def _with_all_inlined(texts: Texts, options: PairOfOptions) -> Texts:
    for _ in range(_DEEPEST):
        further = _inlined(*texts, *options)
        if further == texts:
            break
        texts = further
    return texts


def _identities(given: Texts, options: PairOfOptions) -> Iterator[Texts]:
    plain = _both(given, options, in_plain_loops)
    inlined = _with_all_inlined(plain, options)
    yield _both(inlined, options, in_plain_loops)
    yield plain
    yield given
    yield _both(given, options, with_first_values)
    yield _both(given, options, with_other_iterators)
    for texts in dict.fromkeys((given, inlined)):
        yield from _without_pointers(texts, options)


def _without_pointers(given: Texts, options: PairOfOptions) -> Iterator[Texts]:
    """Two sources with elements in place of pointers, and assignments in place of array initialisers."""
    walked, pointed = (_with_elements(given, options, rows=rows) for rows in (False, True))
    assigned = (_both(texts, options, with_assigned_arrays) for texts in (given, pointed))
    for texts in (walked, pointed, *assigned):
        if texts != given:
            yield _both(texts, options, in_plain_loops)
            yield _both(texts, options, with_first_values)


def _with_elements(texts: Texts, options: PairOfOptions, *, rows: bool) -> Texts:
    """Two sources with elements in place of pointers."""
    return (
        with_pointer_walks(texts[0], options[0], rows=rows),
        with_pointer_walks(texts[1], options[1], always=False, rows=rows),
    )


def _inlined(old: Source, new: Source, compiled: CompilerOptions, options: CompilerOptions) -> Texts:
    """Both sources with the functions inlined that only one of them calls, or that differ."""
    try:
        before, after = called_in(old), called_in(new)
    except BadInput:
        return old, new
    names = {name for name in (*before, *after) if before.get(name) != after.get(name)}
    if not names:
        return old, new
    return with_calls_inlined(old, names, compiled), with_calls_inlined(new, names, options)


_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")
_HIDING = ("-include", "-imacros", "-nostdinc", "-U", "-undef")
_LISTS = ("CPATH", "C_INCLUDE_PATH")
"""Environment variables with folders in which a compiler looks for headers before its own."""
_ELSEWHERE = ("GCC_EXEC_PREFIX", "COMPILER_PATH")


def in_lanes(source: Source, options: CompilerOptions, *, contracted: bool = False) -> InLanes:
    """The source with its vectors rewritten as lanes, if their names have no other meaning here.

    Options and the environment may redefine them.  `contracted`: fused multiply-adds, also those of the
    library, become products and sums.
    """
    found = with_lanes(source, contracted=contracted)
    calls = fused_calls(source)
    if found.source == source and not calls:
        return found
    options = options.for_file(source.path)
    reason = _hidden(source, options.arguments) or _redefined(source, found.source, options)
    if reason:
        return replace(found, source=source, reason=reason if found.has_vectors else "")
    if contracted:
        found = replace(found, source=with_products(found.source, fused_calls(found.source)))
    return replace(found, is_fused=found.is_fused or bool(calls))


def _hidden(source: Source, arguments: Sequence[str]) -> str:
    """An option, or an environment variable, that may change the meaning of words of a file."""
    for name in (*_LISTS, *_ELSEWHERE):
        folders = os.environ[name].split(os.pathsep) if os.environ.get(name) else []
        if folders and (name in _ELSEWHERE or any(_has_header(Path(folder)) for folder in folders)):
            return f"the variable {name} of the environment"
    words = [*arguments, ""]
    for k, word in enumerate(words[:-1]):
        if word.startswith(_HIDING):
            return f"the option {word}"
        folder = next((name for name in _FOLDERS if word.startswith(name)), None)
        if folder is not None:
            place = Path(word.removeprefix(folder) or words[k + 1])
            if _has_header(place):
                return f"a header for vectors in {place}"
        if word.startswith("-D"):
            name, _, value = (word.removeprefix("-D") or words[k + 1]).partition("=")
            if name in names_in(source.text) and value and not is_number(value):
                return f"the option -D{name}"
    return ""


def _redefined(source: Source, lanes: Source, options: CompilerOptions) -> str:
    """A word that headers or options redefine; definitions in the file itself are known."""
    whole = preprocess(source, options)
    pending = [*names_in(source.text), *names_in(lanes.text)]
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        lines = [text for at, text in whole.changes.get(name, ()) if not whole.line_of(at)]
        for made in filter(None, map(definition, lines)):
            body = " ".join(one.text for one in made.body)
            is_fine = may_be_defined(name, made.parameters, body)
            if not is_fine and not set(lines) <= _of_the_compiler(options.compiler).get(name, frozenset()):
                return f"the macro '{name}' of a header, or of an option"
            pending += [] if made.parameters is not None else [one.text for one in made.body if one.is_name]
    return ""


@lru_cache(maxsize=4)
def _of_the_compiler(compiler: str) -> dict[str, frozenset[str]]:
    """The macro definitions of the vector headers by themselves."""
    found = preprocess(Source("", "#include <immintrin.h>\n"), CompilerOptions(compiler=compiler))
    return {name: frozenset(text for _, text in lines) for name, lines in found.changes.items()}


def _has_header(folder: Path) -> bool:
    return any((folder / header.strip("<>")).exists() for header in HEADERS)
