"""`verify`: a new C file, and proof files of unknown origin about it.

The theorem is restated from the two C files.  Proof files contribute steps for Coq to check and claims to
prove: the name of the original file, and the instances of its statements that the new source executes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loopwright.c.types import INT, holds
from loopwright.errors import BadInput, Code, Diagnostic, GaveUp, Illegal
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.annotations import Independent
from loopwright.model.program import Program
from loopwright.progress import Progress
from loopwright.prove.certificates.files import OTHER_STORAGE, TextClaims, read_claims
from loopwright.prove.certificates.restatement import (
    claimed_change,
    lost_temporaries,
    outside_of_storage,
    restatement,
    stored_restatement,
    unlike_storage,
)
from loopwright.prove.certificates.specification import Owned
from loopwright.prove.certificates.status import about_nothing
from loopwright.prove.coq.check import ENOUGH, Accepted, OutOfTime, Refused
from loopwright.prove.coq.verification import Another, Forbidden, Verification, verify
from loopwright.prove.legality.privatisation import prove_scopes
from loopwright.prove.obligations.legality import opened
from loopwright.prove.text.annotations import prove_annotations, said_of_loops
from loopwright.prove.text.correspondence import claimed_loops, modelled, prove_claims, prove_model
from loopwright.prove.verdict import CHECKED, SEQUENTIAL, ProofStatus, Proved, Refuted, Verdict
from loopwright.read.c.find import resolved
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.c.reader import load_c, read_c
from loopwright.read.text import load
from loopwright.rewrite.rereading import Unlike, is_parted, read_regions
from loopwright.source import Source, Span
from loopwright.transform.scheduling import flat_schedule
from loopwright.transform.storage import StorageChange


@dataclass(frozen=True)
class VerifyRequest:
    """The new file, the proofs of its regions, and how the original is read."""

    new: str
    proofs: tuple[str, ...]
    old: str | None = None
    reading: ReadOptions = AS_MARKED
    seconds: float | None = None


@dataclass(frozen=True)
class VerifiedRegion:
    """One region with its proof, and the strength of the proof."""

    line: int
    proof: str
    status: ProofStatus


@dataclass(frozen=True)
class Verified:
    old: str
    regions: tuple[VerifiedRegion, ...]
    assumptions: tuple[str, ...]


def verified(request: VerifyRequest, progress: Progress) -> Verified:
    """Return what the proofs establish about the new file; raises if one does not prove its theorem."""
    progress("reading")
    sources = [load(path) for path in request.proofs]
    claims = [read_claims(source) for source in sources]
    old = request.old or _original(request, claims)
    programs = read_c(old, request.reading)
    originals = [_region(programs, one, source) for one, source in zip(claims, sources, strict=True)]
    if len({program.region for program in originals}) < len(originals):
        raise BadInput(Code.PROOF_FILE, "two proof files are about the same region")
    new_source = resolved(load_c(request.new), request.reading)
    order = sorted(range(len(claims)), key=lambda k: claims[k].region)
    changes = [_change(*one) for one in zip(claims, originals, sources, strict=True)]
    intended = [
        program if one is None else one.after for one, program in zip(changes, originals, strict=True)
    ]
    if is_parted(new_source, [originals[k] for k in order]):
        raise _no(request.new, f"a condition or loop of {request.new} is about a part of its region alone")
    try:
        texts = read_regions(new_source, [intended[k] for k in order], [originals[k] for k in order])
    except Unlike as failure:
        raise _no(request.new, f"{request.new} {failure}: it is not the text of the proof") from None
    regions = tuple(
        _verified_region(originals[k], changes[k], text, claims[k], sources[k], request, progress)
        for k, text in zip(order, texts, strict=True)
    )
    trusted = dict.fromkeys(entry.text for program in originals for entry in program.trusted)
    return Verified(old, regions, tuple(trusted))


def _original(request: VerifyRequest, claims: Sequence[TextClaims]) -> str:
    """The file named by the proofs, next to the first of them or next to the new file."""
    names = {one.original for one in claims}
    name = claims[0].original
    places = [Path(place).parent / name for place in (*request.proofs[:1], request.new)]
    found = next((place for place in places if place.is_file()), None)
    hint = "--old names the original"
    if len(names) > 1:
        message = f"the proof files have different originals: {', '.join(sorted(names))}"
        raise BadInput(Code.PROOF_FILE, message, span=Span.start_of(request.proofs[0]), hint=hint)
    if Path(name).name != name or found is None:
        message = f"the original, {name}, is neither next to the proof nor next to {request.new}"
        raise BadInput(Code.PROOF_FILE, message, span=Span.start_of(request.proofs[0]), hint=hint)
    return str(found)


def _region(programs: Sequence[Program], claims: TextClaims, source: Source) -> Program:
    places = [region.place for region in programs[0].file.regions]
    found = [one for one in programs if places.index(one.region) == claims.region]
    if not found:
        message = f"the original has no region {claims.region + 1}"
        raise BadInput(Code.PROOF_FILE, message, span=Span.start_of(source.path))
    return found[0]


def _change(claims: TextClaims, original: Program, proof: Source) -> StorageChange | None:
    """The change of storage, of a proof file about one."""
    if claims.kind not in OTHER_STORAGE:
        return None
    change = claimed_change(original, claims)
    wrong = unlike_storage(change, claims.stored)
    if wrong is not None:
        raise _no(proof.path, f"what it says of storage is not the original: {wrong}")
    return change


def _verified_region(
    original: Program,
    change: StorageChange | None,
    new: Program,
    claims: TextClaims,
    proof: Source,
    request: VerifyRequest,
    progress: Progress,
) -> VerifiedRegion:
    progress("restating the theorem")
    _refuse_narrow(original, new, request.new)
    _demanded(prove_model(original), request.new)
    intended = original if change is None else change.after
    _demanded(prove_claims(intended, new, claims.calls), request.new)
    text = modelled(intended, new, claims.calls)
    _demanded(prove_scopes(text), request.new)
    _demanded(prove_annotations(text, allow_reassociation=True), request.new)
    loops = opened(claimed_loops(new, claims.calls))
    if change is None:
        statement = restatement(original, new, loops, claims, _owned(new, loops))
    else:
        wrong = outside_of_storage(change, new)
        if wrong is not None:
            raise _no(request.new, wrong)
        statement = stored_restatement(change, loops, claims)
    limit = ENOUGH if request.seconds is None else request.seconds
    found = verify(
        *(proof.text, statement.text, statement.theorem, statement.chosen, statement.made_of),
        *(limit, progress),
    )
    _accepted(found, proof, request.new)
    return VerifiedRegion(new.region.line, proof.path, _status(original, new, claims, _owned(new, loops)))


def _refuse_narrow(original: Program, new: Program, file: str) -> None:
    """Raise for new iterators narrower than an int, because the theorem is about unbounded integers."""
    known = {kind for one in original.statements for kind in one.iterator_types}
    kinds = new.file.kinds(new.region)
    for one in new.statements:
        for name, kind in zip(one.iterators, one.iterator_types, strict=False):
            if kind not in known and not holds(kinds.written_type(kind, certain=True), INT):
                raise _no(file, f"'{name}' is a '{kind}', which does not hold every int")


def _demanded(verdict: Verdict, file: str) -> None:
    match verdict:
        case Proved():
            return
        case Refuted(message=message, witness=witness):
            raise _no(file, f"{message} ({witness})")
        case _:
            raise GaveUp(Code.UNDECIDED, f"could not decide: {verdict.reason}", span=Span.start_of(file))


def _accepted(found: Verification, proof: Source, new: str) -> None:
    match found:
        case Accepted():
            return
        case OutOfTime(spent):
            raise GaveUp(
                Code.TIME,
                f"could not decide: coqc was not done after {spent:g} s of processor time",
                span=Span.start_of(proof.path),
                hint="allow more time with --prover-timeout",
            )
        case Refused(line, lemma, said):
            text = f"coqc does not accept it: {lemma}, line {line}: {' '.join(said.split())[:200]}"
            raise _no(proof.path, text, _AGAIN)
        case Forbidden(line, sentence):
            shown = " ".join(sentence.split())[:60]
            raise _no(proof.path, f"line {line}: '{shown}' has no place in a proof, and is not run", _AGAIN)
        case Another(parts):
            differ = f": {', '.join(parts)} of the file {_is_not(parts)} what the texts say" if parts else ""
            raise _no(proof.path, f"its theorem is not the one about {new}{differ}", _AGAIN)


def _is_not(parts: Sequence[str]) -> str:
    return "is not" if len(parts) == 1 else "are not"


_AGAIN = (
    "if the proof file is damaged or older than the new source, write it again:"
    " `loopwright transform FILE.c SCRIPT --prover coq -o PROOF.v`"
)


def _no(path: str, message: str, hint: str | None = None) -> Illegal:
    return Illegal.of(Diagnostic(Code.ANOTHER_THEOREM, message, span=Span.start_of(path), hint=hint))


def _status(original: Program, new: Program, claims: TextClaims, owned: Sequence[Owned]) -> ProofStatus:
    """The coverage of the theorem: nothing, the sequential order, or all annotations of the source."""
    nothing = about_nothing(flat_schedule(original), "coq")
    if nothing is not None:
        return nothing
    said = said_of_loops(new)
    if not all(_covered(k, one, claims, owned) for k, one in enumerate(said)):
        detail = "isl proves that the iterations of its parallel loops are independent"
        return ProofStatus("coq", SEQUENTIAL, "; ".join((detail, *_lost(original, claims))))
    lost = dict.fromkeys(one.array for one in owned if not one.last)
    kept = dict.fromkeys(one.array for one in owned if one.last)
    remarks = [f"except in {', '.join(lost)}, private to iterations"] if lost else []
    remarks += [f"in {', '.join(kept)} by the copy of the iteration that writes last"] if kept else []
    remarks += _lost(original, claims)
    return ProofStatus("coq", CHECKED, "; ".join(remarks))


def _lost(original: Program, claims: TextClaims) -> list[str]:
    if claims.kind in OTHER_STORAGE:
        return ["except in storage that has changed and is read nowhere after"]
    if claims.kind != "reused":
        return []
    return [f"except in {', '.join(lost_temporaries(original))}, read nowhere after"]


def _owned(new: Program, node: Node) -> list[Owned]:
    """The storage that the pragmas privatise; an iterator is not memory."""
    arrays = {array.name for array in new.arrays}
    loops = [one for one in subprograms(node) if isinstance(one, For)]
    found: list[Owned] = []
    for loop, said in zip(loops, said_of_loops(new), strict=True):
        inside = {part.name for part in subprograms(loop) if isinstance(part, Call)}
        for clauses in (one.clauses for one in said if one.clauses is not None):
            found += [Owned(name, inside) for name in clauses.private if name in arrays]
            found += [Owned(name, inside, last=True) for name in clauses.lastprivate if name in arrays]
    return found


def _covered(position: int, said: frozenset[Independent], claims: TextClaims, owned: Sequence[Owned]) -> bool:
    """Whether the theorem covers the loop in any order, and its pragma states no more than that.

    The theorem about temporaries with other intermediate values covers only the sequential order.
    """
    plain = all(
        clauses is None or (clauses.collapse == 1 and not clauses.reductions)
        for clauses in (one.clauses for one in said)
    )
    in_any_order = position in claims.parallel and claims.kind != "reused"
    return not said or (plain and in_any_order and (not owned or claims.kind == "private"))
