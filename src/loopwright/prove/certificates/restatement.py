"""Restates what a proof file about a transformation must prove, from the two C files.

The loops, the known facts about parameters, the accesses of statements, and what is private to iterations
come from the sources.  Domains, times, tags and origins say nothing about the programs: they are auxiliary,
given by the proof file, and the theorem states that some exist.

If storage has changed, there is a third source between them, given by the proof file: the statements of the
original on their new cells, with the copies of cells at its end.  Its loops mean nothing.  Its statements
must be those of the original except for cells that moved, or copies (`unlike_storage`), and each statement of
the new source must be an instance of one of these.  That all reads see the original values is the theorem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import islpy as isl

from loopwright.c.declarations import declared_name
from loopwright.c.syntax import walk
from loopwright.c.tokens import names_in
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr
from loopwright.loops.nodes import Node
from loopwright.model.program import MemorySpace, Program, Statement
from loopwright.presburger.sets import OUT
from loopwright.prove.certificates.buffers import product_words
from loopwright.prove.certificates.files import TextClaims, with_independent
from loopwright.prove.certificates.middle import divided, middle, with_products_of
from loopwright.prove.certificates.specification import Owned, cell_words, shapes_of, specification, touches
from loopwright.prove.certificates.temporaries import owned_at_depths
from loopwright.prove.coq.meanings import MEANINGS, REQUIRED, TYPES, laid_out
from loopwright.prove.coq.meanings import text as quoted
from loopwright.prove.coq.problem_terms import ProblemReader, problem_terms
from loopwright.prove.coq.words import Words, listed, name, names, program, region
from loopwright.prove.coq.words import loops as counted
from loopwright.prove.legality.bounds import outside
from loopwright.prove.legality.scaled import OtherProducts, merged_products, product_of
from loopwright.prove.legality.values import no_copy, other_text, out_of_bounds
from loopwright.prove.obligations.cells import touched, whole_arrays
from loopwright.prove.obligations.legality import both_sides, original_side
from loopwright.prove.obligations.timetable import pieces_of
from loopwright.transform.storage import StorageChange, replaced_text

MADE_OF = ("parameters", "known", "memory_use", "original", "transformed")
"""The definitions on which the theorem is based."""
FITTING = {
    "statements": "map (fun h => (shape_name h, shape_arguments h)) statements = statement_names",
    "copies_of_iterations": "map (fun S => (fst S, temporaries (snd S))) copies_of_iterations = copies",
    "values_of_temporaries": "forallb (fun x => existsb (String.eqb x) lost) "
    "(temporaries values_of_temporaries) = true",
}
"""Requirements on the definitions that a proof file may choose."""
CHANGE = "let T := Change (Specification parameters known statements) new_times memory_use in"
MORE = {"stored": (), "divided": ("wholes",), "buffered": ("buffers_of_iterations", "products", "wholes")}
"""Further definitions for each kind of theorem; no iteration of a C source has its own buffers."""
CHOSEN = (
    *("statements", "middle_times", "copies", "copied"),
    *("last_times", "replaced", "seen_values", "left_values"),
)
STORED = (
    "let U := Stored (Specification parameters known statements) middle_times memory_use new_memory_use "
    "copies copied last_times replaced seen_values left_values in"
)
FITTING_STORED = {
    "statements": FITTING["statements"],
    "copies": "map (fun h => (shape_name h, shape_arguments h)) copies = copy_names",
    "copied": "map (fun c => (copied_from c, copied_to c)) copied = copied_cells",
    "left_values": f"({STORED} forallb (is_compared U) compared) = true",
}
"""Requirements on the definitions that a proof file may choose: what is observable later is compared."""


@dataclass(frozen=True)
class Restatement:
    """A Coq file that defines a theorem's statement as a proposition with its name."""

    text: str
    theorem: str
    chosen: tuple[str, ...]
    """The definitions of a proof file that the proposition quantifies existentially, in this order."""
    made_of: tuple[str, ...] = MADE_OF
    """The definitions that must agree with the sources."""


def restatement(
    original: Program, new: Program, loops: Node, claims: TextClaims, owned: Sequence[Owned]
) -> Restatement:
    """The theorem of a proof file with these claims.

    `loops` are those of the new source, around the instances that its statements are claimed to execute;
    `owned` is what its pragmas make private to iterations.
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
    """Defines a list of statements with the names of their arguments."""
    pairs = _list(f"({quoted(one)}, {_list(map(quoted, arguments))})" for one, arguments in statements)
    return f"Definition {defined} : list (string * list string) := {pairs}.\n"


def proposition(
    kind: str,
    definitions: Sequence[str],
    let: str,
    chosen: Sequence[str],
    fitting: Mapping[str, str],
    made_of: tuple[str, ...] = MADE_OF,
) -> Restatement:
    """The proposition that `chosen` definitions exist, `fitting` ones, for which the theorem holds."""
    meaning = MEANINGS[kind]
    said = [fitting[one] for one in chosen if one in fitting]
    claim = " /\\\n  ".join((*said, f"({let} {meaning.theorem})"))
    bound = "".join(f" ({one} : {TYPES[one]})" for one in chosen)
    stated = f"\nDefinition {meaning.name} : Prop := exists{bound},\n  {claim}.\n"
    text = laid_out(f"{REQUIRED}.\n\n{''.join(definitions)}{stated}")
    return Restatement(text, meaning.name, tuple(chosen), made_of)


def lost_temporaries(original: Program) -> tuple[str, ...]:
    """Temporaries that may hold anything after the region: nothing reads them, and all writes are certain.

    The theorem about them assumes the latter, so no array has a may-write, or a write whose cell is not one
    function of the iterators.
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
    """The original as its source, unless the claims are about terms."""
    text = original.region.text
    return program(node, no_hint) if claims.form == "term" else region(text, node, no_hint)


def no_hint(_: int) -> Sequence[Expr]:
    return ()


def _list(items: Iterable[str]) -> str:
    return f"[{'; '.join(items)}]"


def claimed_change(original: Program, claims: TextClaims) -> StorageChange:
    """The change of storage that the claims are about; raises BadInput if its source cannot be read."""
    after = replaced_text(original, claims.stored, ())
    return StorageChange(original, original, after, 0, division=dict(claims.wholes))


def unlike_storage(change: StorageChange, text: str) -> str | None:
    """Returns why `change.after`, read from `text`, is not the original on other cells, with copies."""
    old, new = change.original, change.after
    if new.region.text != text or len(new.file.regions) != len(old.file.regions):
        return "the text on new cells is not one region"
    return next(_unlike(old, new, change.division), None)


def _unlike(old: Program, new: Program, wholes: dict[str, str]) -> Iterator[str]:
    known = {array.name: array for array in old.arrays}
    words = set(names_in(old.source.text))
    for array in new.arrays:
        mine = known.get(array.name)
        if mine is None and (not array.local or array.name in words):
            yield f"'{array.name}' is not a new array of the region"
        if mine is not None and _declared(new, array.name) != _declared(old, array.name):
            yield f"'{array.name}' is declared differently"
    made = {array.name for array in new.arrays} - known.keys()
    if [one for one in _declarations(new) if one[0] not in made] != list(_declarations(old)):
        yield "the text on new cells declares other variables"
    if not {one.name for one in old.statements} <= {one.name for one in new.statements}:
        yield "the text on new cells has fewer statements"
        return
    known_names = {one.name for one in old.statements} | wholes.keys()
    products = {one.name: product_of(one, new) for one in new.statements if one.name not in known_names}
    try:
        merged = merged_products(old, new, products)
    except OtherProducts as failure:
        yield str(failure)
        return
    statements = {one.name: one for one in merged.statements}
    for one in new.statements:
        if one.name in statements and one.name in wholes:
            yield f"{one.name} is a part of a statement and a statement"
        whole = statements.get(wholes.get(one.name, one.name))
        if whole is not None:
            yield from _unlike_statement(whole, one, old, new)
        elif products[one.name] is None and (wrong := no_copy(one, new)) is not None:
            yield wrong


def _unlike_statement(old: Statement, new: Statement, before: Program, after: Program) -> Iterator[str]:
    if old.iterators != new.iterators or old.iterator_types != new.iterator_types:
        yield f"{new.name} has other iterators than {old.name}"
        return
    instance = new.domain.identity().set_tuple_id(OUT, old.domain.get_tuple_id())
    wrong = other_text(old, new, before, after, None if old.name == new.name else instance)
    if wrong is not None:
        yield wrong


def _declared(program: Program, array: str) -> tuple[object, ...]:
    one = program.array(array)
    return one.rank, one.element_type, one.local, one.extents, one.rows


DEFINING = ("type_definition", "enum_specifier", "struct_specifier", "union_specifier", "function_definition")


def _declarations(program: Program) -> Iterator[tuple[str, str]]:
    """Yields the names that the region declares or defines, except iterators, and how."""
    for node in walk(program.syntax):
        if node.type in DEFINING or node.type.startswith("preproc"):
            yield node.type, node.text
        elif node.type == "declaration" and (node.parent is None or node.parent.type != "for_statement"):
            for declarator in node.children_by_field_name("declarator"):
                named = declared_name(declarator)
                yield ("", node.text) if named is None else (named[0], node.text)


def outside_of_storage(change: StorageChange, text: Program) -> str | None:
    """Returns an out-of-bounds access of new storage; `text` shows which of it the new source allocates."""
    known = {one.name for one in change.original.arrays}
    spaces = {one.name: one.space or MemorySpace.STACK for one in text.arrays if one.name not in known}
    arrays = tuple(replace(one, space=spaces.get(one.name)) for one in change.after.arrays)
    statements = {one.name for one in change.original.statements}
    copies = tuple(one for one in change.after.statements if one.name not in statements)
    wrong = next(outside(change.original, replace(change.after, arrays=arrays), copies, tested=True), None)
    return None if wrong is None else f"{out_of_bounds(*wrong).reader}, which is no cell of it"


def stored_restatement(change: StorageChange, loops: Node, claims: TextClaims) -> Restatement:
    """The theorem of a proof file with these claims; `loops` are those of the new source."""
    division = divided([change])
    found = with_products_of(division, change.after)
    between = list(middle(found))
    copies = [one for one in between if one.is_copy]
    (table, _), _ = both_sides(division.program, division.program, division.choosing, division.choosing)
    statements = {one.statement.name: one for one in between}
    stayed = [(statements[one], shape.arguments) for one, shape in shapes_of(table)]
    more = listed(list(division.wholes.items()), partial(map, name))
    if claims.kind == "buffered":
        more = chain("0", listed(found.products, product_words), more)
    node = with_independent(loops, claims.parallel)
    has_parts = claims.kind != "stored"
    words = (
        *(claims.kind, *specification(replace(table, statements=())), "0"),
        *listed([one.touched(0) for one, _ in stayed], touches),
        *listed([one.touched(1) for one, _ in stayed], touches),
        *("0",) * 6,
        *(more if has_parts else ()),
        *original_program(change.original, division.text, claims),
        *(counted(division.choosing, no_hint) if has_parts else ()),
        *program(node, no_hint),
        *(*NO_PROPOSAL, *NO_PROPOSAL),
    )
    made_of = (*MADE_OF, "new_memory_use", *MORE[claims.kind])
    looked_at = [one.name for one in change.original.arrays if not change.original.is_dead_after(one)]
    cells = [(*cell_words(one.reads[0].cells[1]), *cell_words(one.writes[0].cells[1])) for one in copies]
    places = ProblemReader(iter(" ".join(listed(cells, iter)).split()))
    compared = ProblemReader(iter(" ".join(names(looked_at)).split()))
    pairs = places.several(lambda: f"({places.place()}, {places.place()})")
    definitions = [
        problem_terms(" ".join(words)).defined(*made_of),
        names_defined("statement_names", [(one.statement.name, arguments) for one, arguments in stayed]),
        names_defined("copy_names", [(one.statement.name, one.statement.iterators) for one in copies]),
        f"Definition copied_cells : list (place * place) := {pairs}.\n",
        f"Definition compared : list string := {compared.several(compared.name)}.\n",
    ]
    return proposition(claims.kind, definitions, STORED, CHOSEN, FITTING_STORED, made_of)
