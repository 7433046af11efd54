"""What a proof file about a transformation must prove, restated from the two C files.

A proof file names its original and says, of each statement of the new text, which instance of the
original it is (`TextClaims`).  These are claims: whoever verifies the file proves them from the texts.
The loops, what is known of the parameters, and what the statements read and write come from the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, Node
from loopwright.model.program import Program
from loopwright.prove.coq.names import laid_out, text
from loopwright.prove.coq.parallel import with_independent
from loopwright.prove.coq.statements import Named, context_definition, program_definition, use_definitions
from loopwright.prove.coq.terms import listed as listing
from loopwright.prove.coq.words import (
    Words,
    listed,
    name,
    read_expr,
    read_list,
    read_name,
    read_word,
    vector,
)
from loopwright.prove.obligations.cells import touched
from loopwright.prove.obligations.sides import original_side
from loopwright.source import Source, Span

BEGINNING = "(* For loopwright verify: "


@dataclass(frozen=True)
class NewText:
    """A new text, and which instance of the original each of its statements is, in its order."""

    program: Program
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class TextClaims:
    """What a proof file says of the texts it is about."""

    original: str
    """The name of the original file."""
    region: int
    """Counted from 0, in the original as in the new file."""
    parallel: tuple[int, ...]
    """The loops of the new text that the theorem takes in any order."""
    calls: tuple[Call, ...]


def claims_of(original: Program, printed: NewText, parallel: Sequence[int]) -> TextClaims:
    places = [region.place for region in original.file.regions]
    file = Path(original.source.path).name
    return TextClaims(file, places.index(original.region), tuple(parallel), printed.calls)


def claims_text(claims: TextClaims) -> str:
    """As a comment; its words contain no quotation marks and no end of a comment."""
    numbers = (str(claims.region), *listed(claims.parallel, lambda one: [str(one)]))
    calls = (" ".join((name(one.name), *vector(one.arguments))) for one in claims.calls)
    lines = [" ".join((name(claims.original), *numbers)), str(len(claims.calls)), *calls]
    return BEGINNING + "\n   ".join(lines) + " *)"


def read_claims(source: Source) -> TextClaims:
    """The claims of a proof file; BadInput where it has none."""
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
        claims = TextClaims(read_name(words), _number(words), read_list(words, _number), _calls(words))
        if next(words, None) is not None:
            raise ValueError("there are more words")
    except (ValueError, RecursionError) as failure:
        message = f"what it says of its texts cannot be read: {failure}"
        raise BadInput(Code.PROOF_FILE, message, span=source.at(found.start())) from None
    return claims


def _number(words: Words) -> int:
    number = int(read_word(words))
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number


def _calls(words: Words) -> tuple[Call, ...]:
    return read_list(words, lambda words: Call(read_name(words), read_list(words, read_expr)))


SAME = "forall p, known p ->\n  {meaning} (memory_use p) (combine {names} p) original transformed."
MEANINGS = {
    "same_memory": "compute_the_same",
    "same_memory_in_any_order": "compute_the_same_in_any_order",
}
"""The theorems of a proof file, and what each says of the two programs."""


def restatement(original: Program, loops: Node, parallel: Sequence[int]) -> str:
    """A Coq file with the statements of these theorems as propositions of the same names."""
    table, text_program = original_side(original)
    before = Named(table, text_program, "original", "source")
    after = Named(table, with_independent(loops, parallel), "transformed", "target")
    names = listing(map(text, table.parameters))
    parts = [
        "From Loopwright Require Import Tactics.",
        program_definition(before),
        program_definition(after),
        context_definition(table),
        *use_definitions(touched(original), before),
        *_propositions(names),
    ]
    return laid_out("\n\n".join(parts))


def _propositions(names: str) -> Iterator[str]:
    for theorem, meaning in MEANINGS.items():
        yield f"Definition {theorem} : Prop :=\n  {SAME.format(meaning=meaning, names=names)}"
