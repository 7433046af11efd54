"""What a parallel loop says of variables, beside what its iterations need.

The proof finds out which variables every iteration must have for itself, and which sums are combined.  A
directive has to say exactly that: without `private(t)` the threads share t, with `private(n)` they read an n
that nothing was written to.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.file import c_file
from loopwright.c.loops import loop_iterator, outer_iterators
from loopwright.c.openmp import SHARING, OpenmpDirective, integer
from loopwright.c.selection.directed import DirectedFile
from loopwright.c.syntax import Node, field, identifiers, refuse, walk
from loopwright.errors import Code, GaveUp
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.source import Span


def asks_for_sums(file: DirectedFile) -> bool:
    """Whether a directive asks for a reduction, which combines values in any order."""
    return any(one.clause("reduction") is not None for one, _ in file.directives)


def refuse_sharing(file: DirectedFile, region: Span, verdict: LegalityVerdict) -> None:
    """Raise unless the directives of parallel loops make private what has to be, and nothing else."""
    for directive, place in file.directives:
        if directive.name in SHARING and region.contains(directive.place):
            loop = _node(file, place)
            _refuse_shared_iterators(file, directive, loop)
            _refuse_privates(directive, loop, verdict)
            _refuse_sums(directive, loop, verdict)


def _refuse_shared_iterators(file: DirectedFile, directive: OpenmpDirective, loop: Node) -> None:
    said = {name for name, _ in _names(directive)}
    for name in _shared_iterators(file, loop):
        if name not in said:
            raise _no(directive, f"the iterator '{name}' is shared by all threads", f"private({name})")


def _refuse_privates(directive: OpenmpDirective, loop: Node, verdict: LegalityVerdict) -> None:
    local, used, said = set(_declared(loop)), set(identifiers(loop)), set(_names(directive))
    needed = {
        (one.array, "lastprivate" if one.last else "private")
        for one in verdict.private
        if one.array in used - local
    }
    iterators = {loop_iterator(node) for node in walk(loop) if node.type == "for_statement"}
    for name, clause in sorted(needed - said):
        raise _no(directive, f"'{name}' is shared by all threads", f"{clause}({name})")
    for name, clause in sorted(said - needed):
        if name not in iterators and (clause == "lastprivate" or name in used - local):
            message = f"'{name}' has no value in a thread that has its own"
            raise _no(directive, message, f"leave out {clause}({name})")


def _refuse_sums(directive: OpenmpDirective, loop: Node, verdict: LegalityVerdict) -> None:
    used = set(identifiers(loop))
    sums = {(one.operator, one.array) for one in verdict.reassociations if one.loops and one.array in used}
    if sums != set(_reductions(directive)):
        names = ", ".join(f"{operator}: {name}" for operator, name in sorted(sums)) or "none"
        raise _no(directive, "its reductions are others than those of the loop", f"they are {names}")


def _no(directive: OpenmpDirective, message: str, hint: str) -> GaveUp:
    text = f"could not decide that the iterations are independent: {message}"
    return GaveUp(Code.UNDECIDED, text, span=directive.place, hint=hint)


def _node(file: DirectedFile, place: Span) -> Node:
    nodes = walk(c_file(file.source).possible)
    return next(node for node in nodes if (node.start, node.end) == (place.start, place.end))


def _declared(loop: Node) -> Iterator[str]:
    """The variables that are declared in the body of a loop, or in the head of one inside."""
    for node in walk(field(loop, "body")):
        if node.type == "declaration":
            for part in node.children_by_field_name("declarator"):
                yield from identifiers(part)[:1]


def _shared_iterators(file: DirectedFile, loop: Node) -> Iterator[str]:
    """Of loops inside that no directive is about, the iterators that are declared outside."""
    affected = 1
    for directive in file.at(loop):
        for name in ("sizes", "permutation", "collapse"):
            clause = directive.clause(name)
            if clause is not None:
                own = integer(clause.arguments[0]) if name == "collapse" else len(clause.arguments)
                affected = max(affected, own)
    inner = loop.of_type("for_statement")
    yield from outer_iterators(node for node in inner[affected:] if not file.at(node))


def _names(directive: OpenmpDirective) -> Iterator[tuple[str, str]]:
    for name in ("private", "lastprivate"):
        clause = directive.clause(name)
        for argument in () if clause is None else clause.arguments:
            yield argument.text.strip(), name


def _reductions(directive: OpenmpDirective) -> Iterator[tuple[str, str]]:
    """`reduction(+: s, t)` as pairs of the operator and a name."""
    clause = directive.clause("reduction")
    if clause is None:
        return
    operator, colon, first = clause.arguments[0].text.partition(":")
    if not colon:
        raise refuse(clause.place, "'reduction' needs an operator", "reduction(+: s)", Code.DIRECTIVE)
    yield operator.strip(), first.strip()
    for argument in clause.arguments[1:]:
        yield operator.strip(), argument.text.strip()
