"""What a proof file about a transformation must prove, restated from the two C files.

The loops, what is known of the parameters, what the statements read and write, and what iterations have of
their own come from the texts.  Domains, times, tags and origins say nothing of the programs: they are means
to an end, which the proof file has, and the theorem says that there are some.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.prove.certificates.claims import TextClaims, with_independent
from loopwright.prove.certificates.specification import Owned, shapes_of, specification, touches
from loopwright.prove.certificates.temporaries import owned_at_depths
from loopwright.prove.coq.meanings import MEANINGS, REQUIRED, TYPES, laid_out
from loopwright.prove.coq.meanings import text as quoted
from loopwright.prove.coq.problem_terms import problem_terms
from loopwright.prove.coq.words import Words, listed, program, region
from loopwright.prove.obligations.cells import touched, whole_arrays
from loopwright.prove.obligations.legality import original_side
from loopwright.prove.obligations.timetable import pieces_of

MADE_OF = ("parameters", "known", "memory_use", "original", "transformed")
"""The definitions that the theorem is made of."""
FITTING = {
    "statements": "map (fun h => (shape_name h, shape_arguments h)) statements = statement_names",
    "copies_of_iterations": "map (fun S => (fst S, temporaries (snd S))) copies_of_iterations = copies",
    "values_of_temporaries": "forallb (fun x => existsb (String.eqb x) lost) "
    "(temporaries values_of_temporaries) = true",
}
"""What is demanded of the definitions that a proof file may choose."""
CHANGE = "let T := Change (Specification parameters known statements) new_times memory_use in"


@dataclass(frozen=True)
class Restatement:
    """A Coq file with a theorem's statement as a proposition of its name."""

    text: str
    theorem: str
    chosen: tuple[str, ...]
    """The definitions of a proof file that the proposition says there are, in this order."""
    made_of: tuple[str, ...] = MADE_OF
    """Those that must be what the texts say."""


def restatement(
    original: Program, new: Program, loops: Node, claims: TextClaims, owned: Sequence[Owned]
) -> Restatement:
    """The theorem of a proof file with these claims.

    `loops` are those of the new text, around the instances that its statements are claimed to be; `owned` is
    what its pragmas give iterations of their own.
    """
    table, text = original_side(original)
    uses = {use.statement: use for use in touched(original)}
    shapes = shapes_of(table)
    node = with_independent(loops, claims.parallel)
    words = (
        *("change", *specification(replace(table, statements=())), "0"),
        *listed([uses[one] for one, _ in shapes], touches),
        *original_program(original, text, claims),
        *(region(new.region.text, node, no_hint) if claims.form == "region" else program(node, no_hint)),
        *(*NO_PROPOSAL, *NO_PROPOSAL),
    )
    parts = [problem_terms(" ".join(words)).defined(*MADE_OF)]
    parts.append(names_defined("statement_names", [(one, shape.arguments) for one, shape in shapes]))
    chosen = ["statements", "new_times"]
    if claims.kind == "private":
        copies = enumerate(owned_at_depths(node, uses, owned), start=1)
        shown = _list(f"({depth}%nat, {_list(map(quoted, arrays))})" for depth, arrays in copies)
        parts.append(f"Definition copies : list (nat * list string) := {shown}.\n")
        chosen.append("copies_of_iterations")
    if claims.kind == "reused":
        lost = _list(map(quoted, lost_temporaries(original)))
        parts.append(f"Definition lost : list string := {lost}.\n")
        chosen.append("values_of_temporaries")
    return proposition(claims.kind, parts, CHANGE, chosen, FITTING)


def names_defined(defined: str, statements: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Statements, and the names of their arguments."""
    names = _list(f"({quoted(one)}, {_list(map(quoted, arguments))})" for one, arguments in statements)
    return f"Definition {defined} : list (string * list string) := {names}.\n"


def proposition(
    kind: str,
    definitions: Sequence[str],
    let: str,
    chosen: Sequence[str],
    fitting: Mapping[str, str],
    made_of: tuple[str, ...] = MADE_OF,
) -> Restatement:
    """That there are `chosen` definitions, `fitting` ones, with which the theorem of this kind holds."""
    meaning = MEANINGS[kind]
    said = [fitting[one] for one in chosen if one in fitting]
    claim = " /\\\n  ".join((*said, f"({let} {meaning.theorem})"))
    bound = "".join(f" ({one} : {TYPES[one]})" for one in chosen)
    stated = f"\nDefinition {meaning.name} : Prop := exists{bound},\n  {claim}.\n"
    text = laid_out(f"{REQUIRED}.\n\n{''.join(definitions)}{stated}")
    return Restatement(text, meaning.name, tuple(chosen), made_of)


def lost_temporaries(original: Program) -> tuple[str, ...]:
    """What may hold anything after the region: nothing reads it there, and who writes it does so in any case.

    The theorem about them supposes the latter, so that no array is one of which a write may not happen, or
    whose cell is not one function of the iterators.
    """
    unsure = {
        access.array
        for one in original.statements
        for access in one.accesses
        if access.is_write and not (access.must and len(_pieces(access.relation, one.domain)) == 1)
    }
    unsure.update(whole_arrays(original))
    return tuple(
        one.name for one in original.arrays if one.name not in unsure and original.is_dead_after(one)
    )


def _pieces(relation: isl.Map, domain: isl.Set) -> list[tuple[isl.Set, isl.MultiAff]]:
    found = relation.intersect_domain(domain)
    return pieces_of(found) if found.is_single_valued() else []


NO_PROPOSAL = ("atcall", "0", "0")


def original_program(original: Program, node: Node, claims: TextClaims) -> Words:
    """As its text, unless the claims are about terms."""
    text = original.region.text
    return program(node, no_hint) if claims.form == "term" else region(text, node, no_hint)


def no_hint(_: int) -> Sequence[Expr]:
    return ()


def _list(items: Iterable[str]) -> str:
    return f"[{'; '.join(items)}]"
