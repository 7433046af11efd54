"""Blocks of `omp parallel` that only hold loops which the threads share: each loop is a parallel one.

    #pragma omp parallel private(x)                   {
    {                                                 #pragma omp parallel for private(x) schedule(static)
    #pragma omp for schedule(static)                  for (..) A
    for (..) A                                        #pragma omp parallel for private(x)
    #pragma omp for                                   for (..) B
    for (..) B                                        }
    }

All threads wait at the end of a loop, as they do at the end of a parallel one, so `nowait` is left out at the
last loop and nowhere else.  What a thread keeps for itself from one loop to the next is lost in other words:
such a program reads what has no value there.  A reduction of the block is one of its only loop.  Lines stay.
"""

from __future__ import annotations

import re

from loopwright.c.file import c_file
from loopwright.c.regions import Directive, Region
from loopwright.c.syntax import Node
from loopwright.c.tokens import names_in
from loopwright.source import Edit, Source

_BLOCK = re.compile(r"\s*omp\s+parallel\b(?!\s*[,]?\s*(?:for|sections|loop|masked|master|workshare)\b)")
_FOR = re.compile(r"\s*omp\s+(for(?:\s+simd)?)\b")
_BARRIER = re.compile(r"\s*omp\s+barrier\s*")
_NOWAIT = re.compile(r"[\s,]*\bnowait\b")
_CLAUSES = re.compile(
    r"(?:[\s,]*(?:private|shared|default|num_threads|proc_bind|if|reduction)\s*\([^()]*(?:\([^()]*\)[^()]*)*\))*\s*"
)


def with_parallel_loops(source: Source) -> Source:
    """The text without such blocks in its regions."""
    file = c_file(source)
    edits = [
        edit
        for region in file.regions
        for pragma in region.pragmas
        if _BLOCK.match(pragma.argument) is not None
        for edit in _edits(file.block(region.place), region, pragma)
    ]
    return source.edited(sorted(edits)) if edits else source


def _edits(around: Node, region: Region, pragma: Directive) -> list[Edit]:
    """What makes the loops of a block parallel ones; nothing where the block holds something else."""
    head = _BLOCK.match(pragma.argument)
    clauses = pragma.argument[head.end() :] if head is not None else ""
    after = [one for one in around.statements() if one.start >= pragma.place.end]
    block = min(after, key=lambda one: (one.start, -one.end), default=None)
    if block is None or _CLAUSES.fullmatch(clauses) is None:
        return []
    parts = block.named_children if block.type == "compound_statement" else [block]
    loops = [one for one in parts if one.type not in ("comment", "preproc_call")]
    inner = [one for one in region.pragmas if pragma.place.end <= one.place.start < block.end]
    edits = [_edit(pragma, "")]
    at = pragma.place.end
    for loop in loops:
        own = [one for one in inner if at <= one.place.start < loop.start]
        shared = [one for one in own if not _is_barrier(one)]
        head = _FOR.match(shared[0].argument) if len(shared) == 1 else None
        if loop.type != "for_statement" or head is None:
            return []
        further = shared[0].argument[head.end() :]
        is_unlike = not {*names_in(further)}.isdisjoint(_private(clauses))
        if is_unlike or (_NOWAIT.search(further) is not None and loop is not loops[-1]):
            return []
        said = f"#pragma omp parallel {head[1]}{clauses} {_NOWAIT.sub(' ', further).strip()}"
        edits += [_edit(one, said.rstrip() if one in shared else "") for one in own]
        at = loop.end
    rest = [one for one in inner if one.place.start >= at]
    if not loops or not all(map(_is_barrier, rest)) or (len(loops) > 1 and "reduction" in clauses):
        return []
    return [*edits, *(_edit(one, "") for one in rest)]


def _private(clauses: str) -> set[str]:
    return {name for inside in re.findall(r"\bprivate\s*\(([^()]*)\)", clauses) for name in names_in(inside)}


def _is_barrier(pragma: Directive) -> bool:
    return _BARRIER.fullmatch(pragma.argument) is not None


def _edit(pragma: Directive, words: str) -> Edit:
    place = pragma.place
    return place.start, place.end, words + "\n" * place.text.count("\n")
