"""Proof files: the statement in English and as terms, and certificates that Coq checks by computation.

A proof file about a transformation names its original and gives, for each statement of the new source, the
instance of the original that it executes (`TextClaims`).  These are claims: a verifier of the file proves
them from the sources.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
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
from loopwright.presburger.points import smallest_point
from loopwright.prove.certificates.middle import wholes_of
from loopwright.prove.certificates.specification import shapes_of
from loopwright.prove.certificates.status import CertifiedProblem
from loopwright.prove.coq.check import how_to_check
from loopwright.prove.coq.meanings import MEANINGS, REQUIRED, comment, laid_out, theorem_text
from loopwright.prove.coq.meanings import text as quoted
from loopwright.prove.coq.problem_terms import ProblemTerms, certificate_terms, problem_terms
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
from loopwright.prove.obligations.legality import original_side
from loopwright.prove.obligations.timetable import Timetable
from loopwright.prove.verdict import SEQUENTIAL
from loopwright.source import Source, Span
from loopwright.transform.storage import StorageChange

SAID = {
    "scan": "for all sizes that [known] allows, the loops end, having run every instance of\n"
    "    [statements] once, nothing else, and in the order of their times.",
    "change": "for all sizes that [known] allows, both programs end and leave the same\n"
    "    memory, whatever was in it before and whatever the statements compute, as long as they read\n"
    "    and write only what [memory_use] says.",
    "private": "the same of both programs as long as statements read and write only what\n"
    "    [memory_use] says, where iterations of parallel loops have copies of what\n"
    "    [copies_of_iterations] names; memory is equal except there.",
    "reused": "for all sizes that [known] allows, both programs end and leave the same\n"
    "    memory except in what [values_of_temporaries] names, whatever the statements compute, as long\n"
    "    as they read and write only what [memory_use] says.",
    "stored": "for all sizes that [known] allows, both programs end and leave the same\n"
    "    memory, except in what [replaced] names and [left_values] does not, if instances compute the\n"
    "    same values from the same values: they read and write what [memory_use] and [new_memory_use]\n"
    "    say, in this order.",
}
SAID["divided"] = SAID["stored"]
SAID["buffered"] = (
    f"{SAID['stored']}  What [products] names is read as one value,\n"
    "    computed from the cells there; iterations of parallel loops have the buffers of their own that\n"
    "    [buffers_of_iterations] names."
)
"""What the theorem says, by the kind of the problem."""
READ = {
    "scan": "[known], [statements] and [loops]",
    "change": "[known], [memory_use], [original] and [transformed]",
    "private": "[known], [memory_use], [copies_of_iterations], [original] and [transformed]",
    "reused": "[known], [memory_use], [values_of_temporaries], [original] and [transformed]",
    "stored": "[known], [memory_use], [new_memory_use], [copied], [original] and [transformed]",
}
READ["divided"] = READ["stored"]
READ["buffered"] = f"[products], [buffers_of_iterations], {READ['stored']}"
"""The definitions in a file that determine what is proved."""
COMPARED = """\
    Which cells a statement reads and writes, and what the loops are where they are given as a term, is
    taken from the program that wrote this file; it can be compared line by line, or restated from
    the C files: loopwright verify NEW.c FILE.v."""
BEGUN = """\
    Its last loop has no end.  [loops] is each of its beginnings: that loop goes on up to [{last}], whatever
    that is, and [statements] has the instances up to that time.
"""
TOLD = """\
    That [statements] is what was asked for is taken from the program that wrote this file."""


def program_file(
    found: CertifiedProblem, table: Timetable, shown: str, title: str, last: str | None = None
) -> str:
    """The file about loops with source `shown` and their instances in `table`.

    If the last loop is infinite, it is about the loops up to any value `last` of its iterator.
    """
    heading = f"(** * {comment(title)}\n\n    The program:\n<<\n{_lines(shown)}\n>>\n"
    if last is not None:
        heading += BEGUN.format(last=comment(last))
    return _file(found, heading, [], _examples(table))


def transformation_file(
    found: CertifiedProblem,
    original: Program,
    new: Program,
    loops: Node,
    calls: tuple[Call, ...],
    title: str,
    storage: Sequence[StorageChange] = (),
) -> str:
    """The file about the region of `original` and its new source, that of `new`.

    The first line of the title is the heading; further lines are the script.  `loops` are those of the new
    source, around the instances that its statements execute.
    """
    first, *script = title.splitlines()
    file = comment(Path(original.source.path).name)
    scripted = f"<<\n{_lines(chr(10).join(script))}\n>>\n" if script else ""
    heading = (
        f"(** * {comment(first)}\n\n{scripted}    The original, a part of {file}:\n"
        f"<<\n{_lines(original.region.text)}\n>>\n    The new text:\n<<\n{_lines(new.region.text)}\n>>\n"
    )
    examples = "" if found.kind in OTHER_STORAGE else _examples(original_side(original)[0])
    return _file(found, heading, [claims_text(claims_of(original, calls, loops, found, storage))], examples)


def _examples(table: Timetable) -> str:
    """Allowed sizes and an instance for each statement that has one: the theorem is not vacuous.

    Statements whose instances have several times are omitted.
    """
    texts: list[str] = []
    for statement, shape in shapes_of(table):
        point = smallest_point(shape.wanted.intersect_params(table.context.params()))
        if point is None or shape.times:
            continue
        sizes = _integers(point.parameters.get(name, 0) for name in table.parameters)
        where = f"(combine parameters {sizes})"
        texts.append(
            f"Example instance_{len(texts) + 1} : decide {where} known = true /\\\n"
            f"  has_instance statements {where} {quoted(statement)} {_integers(point.coordinates)} [].\n"
            "Proof. split; reflexivity. Qed.\n"
        )
    return "".join(texts)


def _integers(values: Iterable[int]) -> str:
    return f"[{'; '.join(f'({value})' if value < 0 else str(value) for value in values)}]"


def _lines(text: str) -> str:
    return "\n".join(f"    {line}" for line in comment(text).strip("\n").splitlines())


def _file(found: CertifiedProblem, heading: str, more: list[str], examples: str) -> str:
    terms = problem_terms(found.problem)
    parts = [
        heading + _explained(terms, found),
        *more,
        f"{REQUIRED}.",
        terms.defined(),
        examples and f"(** Sizes that are allowed, and an instance of each statement. *)\n{examples}",
        "(** Why each condition that the checker computes holds. *)",
        certificate_terms(found.certificates),
        theorem_text(terms.meaning),
    ]
    return laid_out("\n\n".join(part.rstrip("\n") for part in parts if part))


def _explained(terms: ProblemTerms, found: CertifiedProblem) -> str:
    kind = found.kind
    sequential = "    Parallel loops are taken in their sequential order.\n"
    remark = sequential if found.status.status == SEQUENTIAL else ""
    return f"""    Theorem [{terms.meaning.name}], at the end: {SAID[kind]}
{remark}
    What has to be read to know what is proved: the definitions of {READ[kind]},
    here, and what the theorem is made of, in the library.  A text is read by [parse] (Parser.v).  The rest
    is checked by Coq, which computes that the certificates are right:
<<
    {how_to_check("FILE.v")}
>>
{TOLD if kind == "scan" else COMPARED}
    Trusted are, too, that integers do not overflow, and that different cells are different places. *)"""


OTHER_STORAGE = ("stored", "divided", "buffered")
"""Kinds of problems whose statements may be parts of those of the original, under other names."""
FORMS = ("term", "original", "region")
"""The forms, by how many of the programs are sources."""
_BEGINNING = "(* For loopwright verify: "


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
    return _BEGINNING + "\n   ".join(lines) + " *)"


def read_claims(source: Source) -> TextClaims:
    """The claims of a proof file; raises BadInput if it has none."""
    found = re.search(re.escape(_BEGINNING) + r"([^*\"]*) \*\)", source.text)
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
