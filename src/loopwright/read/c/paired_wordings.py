"""Two files in other words, side by side, as `prove` compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from loopwright.c.reworded.memory_calls import with_memory_loops
from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import BadInput
from loopwright.read.c.element_pointers import with_element_pointers
from loopwright.read.c.inlined import called_in, with_calls_inlined
from loopwright.read.c.pointer_walks import with_pointer_walks
from loopwright.read.c.rephrased import (
    in_plain_loops,
    with_assigned_arrays,
    with_first_values,
    with_other_iterators,
)
from loopwright.source import Source

_DEEPEST = 3
"""How deep functions that call others are inlined."""
Texts: TypeAlias = tuple[Source, Source]
Rewording: TypeAlias = Callable[[Source, CompilerOptions], Source]


def pairs_of_wordings(
    old: Source, new: Source, compiled: CompilerOptions, options: CompilerOptions
) -> Iterator[Texts]:
    """Two files in plain loops, as they are, with first values for all loops, with other iterators, with
    elements in place of pointers, and with assignments to arrays that have first values, each pair of texts
    once.

    Functions that only one of them calls, or that are not the same in both, are inlined first, and what
    `memset` and `memcpy` do to elements is done by loops.
    """
    seen: set[Texts] = set()
    old, new = with_memory_loops(old), with_memory_loops(new)
    for texts in _all_pairs((old, new), (compiled, options)):
        if texts not in seen:
            seen.add(texts)
            yield texts


def _all_pairs(given: Texts, options: tuple[CompilerOptions, CompilerOptions]) -> Iterator[Texts]:
    def both(texts: Texts, *ways: Rewording) -> Texts:
        for way in ways:
            texts = way(texts[0], options[0]), way(texts[1], options[1])
        return texts

    plain = both(given, in_plain_loops)
    inlined = plain
    for _ in range(_DEEPEST):
        further = _inlined(*inlined, *options)
        if further == inlined:
            break
        inlined = further
    yield both(inlined, in_plain_loops)
    yield plain
    yield given
    yield both(given, with_first_values)
    yield both(given, with_other_iterators)
    walked = (
        with_pointer_walks(given[0], options[0]),
        with_pointer_walks(given[1], options[1], always=False),
    )
    pointed = both(walked, partial(with_element_pointers, rows=True))
    for texts in (walked, pointed, both(given, with_assigned_arrays), both(pointed, with_assigned_arrays)):
        if texts != given:
            yield both(texts, in_plain_loops)
            yield both(texts, with_first_values)


def _inlined(old: Source, new: Source, compiled: CompilerOptions, options: CompilerOptions) -> Texts:
    """Both texts without calls of functions that only one of them calls, or that differ."""
    try:
        before, after = called_in(old), called_in(new)
    except BadInput:
        return old, new
    names = {name for name in (*before, *after) if before.get(name) != after.get(name)}
    if not names:
        return old, new
    return with_calls_inlined(old, names, compiled), with_calls_inlined(new, names, options)
