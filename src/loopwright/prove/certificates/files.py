"""Proof files: the statement in English and as terms, and certificates that Coq checks by computation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from loopwright.loops.nodes import Call, Node
from loopwright.model.program import Program
from loopwright.presburger.points import smallest_point
from loopwright.prove.certificates.claims import OTHER_STORAGE, claims_of, claims_text
from loopwright.prove.certificates.specification import shapes_of
from loopwright.prove.certificates.status import CertifiedProblem
from loopwright.prove.coq.check import how_to_check
from loopwright.prove.coq.meanings import REQUIRED, comment, laid_out, theorem_text
from loopwright.prove.coq.meanings import text as quoted
from loopwright.prove.coq.problem_terms import ProblemTerms, certificate_terms, problem_terms
from loopwright.prove.obligations.legality import original_side
from loopwright.prove.obligations.timetable import Timetable
from loopwright.prove.verdict import SEQUENTIAL
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
