"""The claims that a proof file about a transformation makes about its sources.

A proof file names its original and gives, for each statement of the new source, the instance of the original
that it executes (`TextClaims`).  These are claims: a verifier of the file proves them from the sources.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import subprograms, with_children
from loopwright.model.annotations import Parallel
from loopwright.model.program import Program
from loopwright.prove.certificates.middle import wholes_of
from loopwright.prove.certificates.status import CertifiedProblem
from loopwright.prove.coq.meanings import MEANINGS
from loopwright.prove.coq.words import (
    Words,
    is_marked,
    listed,
    name,
    read_expr,
    read_list,
    read_name,
    read_word,
    vector,
)
from loopwright.prove.verdict import SEQUENTIAL
from loopwright.source import Source, Span
from loopwright.transform.storage import StorageChange

OTHER_STORAGE = ("stored", "divided", "buffered")
"""Kinds of problems whose statements may be parts of those of the original, under other names."""
FORMS = ("term", "original", "region")
"""The forms, by how many of the programs are sources."""
BEGINNING = "(* For loopwright verify: "


@dataclass(frozen=True)
class TextClaims:
    """The claims of a proof file about its sources."""

    original: str
    """The name of the original file."""
    region: int
    """The number of the region in both files, counted from 0."""
    kind: str
    """The kind of the problem, which determines the meaning of the theorem."""
    form: str
    """`region`: the theorem is about the sources; `term`: about their loops as terms; `original`: about the
    source of the original and the loops of the new one."""
    parallel: tuple[int, ...]
    """The loops of the new source whose iterations the theorem allows in any order."""
    calls: tuple[Call, ...]
    stored: str = ""
    """If storage has changed: the source of the region on its new cells, whose instances the calls are."""
    wholes: tuple[tuple[str, str], ...] = ()
    """Statements of that source that are parts of one of the original."""


def claims_of(
    original: Program,
    calls: tuple[Call, ...],
    loops: Node,
    found: CertifiedProblem,
    storage: Sequence[StorageChange] = (),
) -> TextClaims:
    """The claims of a problem about `original` and `loops`, those of the new source."""
    places = [region.place for region in original.file.regions]
    file = Path(original.source.path).name
    every = [one for one in subprograms(loops) if isinstance(one, For)]
    marked = tuple(k for k, one in enumerate(every) if is_marked(one))
    form = FORMS[found.problem.count(" region ")]
    parallel = () if found.status.status == SEQUENTIAL else marked
    stored = storage[-1].after.region.text if storage else ""
    wholes = tuple(wholes_of(storage).items())
    return TextClaims(file, places.index(original.region), found.kind, form, parallel, calls, stored, wholes)


def claims_text(claims: TextClaims) -> str:
    """The claims as a comment; its words contain no quotation marks and no end of a comment."""
    numbers = listed(claims.parallel, lambda one: [str(one)])
    words = (name(claims.original), str(claims.region), claims.kind, claims.form, *numbers)
    calls = (" ".join((name(one.name), *vector(one.arguments))) for one in claims.calls)
    lines = [" ".join(words), str(len(claims.calls)), *calls]
    if claims.kind in OTHER_STORAGE:
        lines += [name(claims.stored), " ".join(listed(claims.wholes, partial(map, name)))]
    return BEGINNING + "\n   ".join(lines) + " *)"


def read_claims(source: Source) -> TextClaims:
    """The claims of a proof file; raises BadInput if it has none."""
    found = re.search(re.escape(BEGINNING) + r"([^*\"]*) \*\)", source.text)
    if found is None:
        raise BadInput(
            Code.PROOF_FILE,
            "this is not a proof file about a C file",
            span=Span.start_of(source.path),
            hint="`loopwright transform FILE.c SCRIPT --prover coq -o PROOF.v` writes one",
        )
    words = iter(found[1].split())
    try:
        first = read_name(words), _number(words), _one_of(words, MEANINGS), _one_of(words, FORMS)
        claims = TextClaims(*first, read_list(words, _number), _calls(words))
        if claims.kind in OTHER_STORAGE:
            claims = replace(claims, stored=read_name(words), wholes=read_list(words, _pair))
        if next(words, None) is not None:
            raise ValueError("there are more words")
    except (ValueError, RecursionError) as failure:
        message = f"what it says of its texts cannot be read: {failure}"
        raise BadInput(Code.PROOF_FILE, message, span=source.at(found.start())) from None
    return claims


def _one_of(words: Words, known: Container[str]) -> str:
    word = read_word(words)
    if word not in known:
        raise ValueError(f"{word!r} is not a word of a proof file")
    return word


def _number(words: Words) -> int:
    number = int(read_word(words))
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number


def _pair(words: Words) -> tuple[str, str]:
    return read_name(words), read_name(words)


def _calls(words: Words) -> tuple[Call, ...]:
    return read_list(words, lambda words: Call(read_name(words), read_list(words, read_expr)))


def with_independent(node: Node, which: Container[int]) -> Node:
    """Marks the loops at these positions as parallel, and removes the annotations of others."""
    seen = count()

    def visit(part: Node) -> Node:
        if isinstance(part, For):
            part = replace(part, annotations=(Parallel(),) if next(seen) in which else ())
        return with_children(part, visit)

    return visit(node)
