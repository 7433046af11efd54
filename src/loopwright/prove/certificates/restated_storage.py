"""What a proof file about changed storage must prove, restated from the two C files.

Between them is a third text, which the proof file has: the statements of the original on their new cells,
with the copies of cells at its end.  Its loops mean nothing.  Of it is demanded that its statements are those
of the original but for cells that moved, or copies (`unlike_storage`), and of the new text that each of its
statements is an instance of one of these.  That all reads see the values that they saw is the theorem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

from loopwright.c.declarations import declared_name
from loopwright.c.syntax import Node as SyntaxNode
from loopwright.c.syntax import walk
from loopwright.c.tokens import names_in
from loopwright.loops.nodes import Node
from loopwright.model.program import MemorySpace, Program, Statement
from loopwright.presburger.sets import OUT
from loopwright.prove.certificates.buffers import product_words
from loopwright.prove.certificates.claims import TextClaims, with_independent
from loopwright.prove.certificates.middle import divided, middle, with_products_of
from loopwright.prove.certificates.restatement import (
    MADE_OF,
    NO_PROPOSAL,
    Restatement,
    names_defined,
    no_hint,
    original_program,
    proposition,
)
from loopwright.prove.certificates.specification import cell_words, shapes_of, specification, touches
from loopwright.prove.coq.problem_terms import ProblemReader, problem_terms
from loopwright.prove.coq.words import listed, name, names, program
from loopwright.prove.coq.words import loops as counted
from loopwright.prove.legality.bounds import outside
from loopwright.prove.legality.scaled import OtherProducts, merged_products, product_of
from loopwright.prove.legality.values import no_copy, other_text, out_of_bounds
from loopwright.prove.obligations.legality import both_sides
from loopwright.transform.storage import StorageChange, replaced_text

MORE = {"stored": (), "divided": ("wholes",), "buffered": ("buffers_of_iterations", "products", "wholes")}
"""What the theorem of each kind is made of besides; no iteration of a C text has buffers of its own."""
CHOSEN = (
    *("statements", "middle_times", "copies", "copied"),
    *("last_times", "replaced", "seen_values", "left_values"),
)
STORED = (
    "let U := Stored (Specification parameters known statements) middle_times memory_use new_memory_use "
    "copies copied last_times replaced seen_values left_values in"
)
FITTING = {
    "statements": "map (fun h => (shape_name h, shape_arguments h)) statements = statement_names",
    "copies": "map (fun h => (shape_name h, shape_arguments h)) copies = copy_names",
    "copied": "map (fun c => (copied_from c, copied_to c)) copied = copied_cells",
    "left_values": f"({STORED} forallb (is_compared U) compared) = true",
}
"""What is demanded of the definitions that a proof file may choose: what is looked at later is compared."""


def claimed_change(original: Program, claims: TextClaims) -> StorageChange:
    """The change of storage that the claims are about; BadInput where its text is not read."""
    after = replaced_text(original, claims.stored, ())
    return StorageChange(original, original, after, 0, division=dict(claims.wholes))


def unlike_storage(change: StorageChange, text: str) -> str | None:
    """Why `change.after`, read from `text`, is not the original on other cells, with copies."""
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
            yield f"'{array.name}' is no new array of the region"
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
    """The names that the region declares or defines, but for those of iterators, and how."""
    for node in walk(program.syntax):
        if node.type in DEFINING or node.type.startswith("preproc"):
            yield node.type, node.text
        elif node.type == "declaration" and not _is_head(node):
            for declarator in node.children_by_field_name("declarator"):
                named = declared_name(declarator)
                yield ("", node.text) if named is None else (named[0], node.text)


def _is_head(declaration: SyntaxNode) -> bool:
    return declaration.parent is not None and declaration.parent.type == "for_statement"


def outside_of_storage(change: StorageChange, text: Program) -> str | None:
    """An access of new storage that leaves it; what of it the new text allocates is told by `text`."""
    known = {one.name for one in change.original.arrays}
    spaces = {one.name: one.space or MemorySpace.STACK for one in text.arrays if one.name not in known}
    arrays = tuple(replace(one, space=spaces.get(one.name)) for one in change.after.arrays)
    statements = {one.name for one in change.original.statements}
    copies = tuple(one for one in change.after.statements if one.name not in statements)
    wrong = next(outside(change.original, replace(change.after, arrays=arrays), copies, tested=True), None)
    return None if wrong is None else f"{out_of_bounds(*wrong).reader}, which is no cell of it"


def stored_restatement(change: StorageChange, loops: Node, claims: TextClaims) -> Restatement:
    """The theorem of a proof file with these claims; `loops` are those of the new text."""
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
    return proposition(claims.kind, definitions, STORED, CHOSEN, FITTING, made_of)
