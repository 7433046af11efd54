"""Collects the proofs from a region to its new source, and the assumptions taken on trust.

Every function here runs one proof of `prove` and returns the evidence; it raises unless the answer is yes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import islpy as isl

from loopwright.c.guard import GuardedRegion
from loopwright.emit.region import Loops, claims
from loopwright.errors import REPORT, Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.annotations import (
    Annotation,
    BlockLoop,
    Clauses,
    Independent,
    Parallel,
    ThreadLoop,
    Vector,
)
from loopwright.model.program import Assumption, AssumptionKind, MemorySpace, Program, Standing
from loopwright.progress import Progress
from loopwright.prove.legality.explain import refusal
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.plans import independent_loops, prove_plan, stages
from loopwright.prove.legality.privatisation import declared_in_loops, prove_scopes, remarks
from loopwright.prove.obligations.cvc5 import Cvc5, is_installed
from loopwright.prove.reading.operation import wrapping_subscript
from loopwright.prove.scanning.scan import ScannedLoops, prove_scan
from loopwright.prove.text.annotations import promises, prove_annotations, said_of_loops
from loopwright.prove.text.correspondence import modelled, prove_model, prove_text
from loopwright.prove.text.guards import NotAGuard, established, shown_by
from loopwright.prove.text.index_arithmetic import refuse_new, unchanged_text, within_types
from loopwright.prove.text.ranking import prove_ranking
from loopwright.prove.text.text_model import negative_bound, typed_like
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.rewrite.request import (
    KEPT,
    LOOPS,
    MARKED,
    MODEL,
    RANKING,
    SCOPES,
    STORAGE,
    TEXT,
    Proof,
    RewriteOptions,
)
from loopwright.source import Span
from loopwright.transform import Plan, flat_schedule


@dataclass(frozen=True)
class Evidence:
    """Proofs, and assumptions as text; `silence` is what a requested prover did not decide."""

    proofs: tuple[Proof, ...] = ()
    trusted: tuple[str, ...] = ()
    silence: tuple[str, ...] = ()

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(
            self.proofs + other.proofs, self.trusted + other.trusted, self.silence + other.silence
        )


def on_trust(program: Program) -> Evidence:
    """The reader's assumptions that the file does not justify."""
    return Evidence(trusted=tuple(entry.text for entry in program.trusted))


def of_model(program: Program, options: RewriteOptions, progress: Progress) -> Evidence:
    """Prove that the model matches the source: by isl as a whole; by cvc5, if installed, step by step.

    One of them suffices, unless cvc5 was requested; a refutation by either ends the proof.
    """
    progress("proving the model")
    found = [_read_right(MODEL, prove_model(program))]
    asked, limit = options.prover.prover == "cvc5", options.prover.seconds
    if asked or is_installed():
        progress("asking cvc5 about the model")
        verdict = prove_ranking(program, Cvc5() if limit is None else Cvc5(limit))
        found.append(_read_right(RANKING, verdict))
        if asked and not found[-1].proofs:
            raise GaveUp(Code.UNDECIDED, f"could not decide: {found[-1].trusted[0]}")
        if isinstance(verdict, Undecided):
            found[-1] = Evidence(silence=(f"cvc5 does not confirm the model: {verdict.reason}",))
    if not any(one.proofs for one in found):
        return found[0]
    return sum((one for one in found if one.proofs or one.silence), Evidence())


def _read_right(what: str, verdict: Verdict) -> Evidence:
    """Raise an internal error of the reader for a refutation."""
    match verdict:
        case Proved(obligations):
            return proof(what, obligations)
        case Undecided(reason):
            return Evidence(trusted=(f"the loops of the region mean what was read: {reason}",))
        case Refuted() as wrong:
            raise InternalError(Code.OWN_MISTAKE, f"the text was misread: {wrong.message} ({wrong.witness})")


def of_legality(
    plan: Plan,
    options: RewriteOptions,
    progress: Progress,
    *,
    lanes: bool = True,
    host: bool = True,
    distances: Mapping[Span, int] = MappingProxyType({}),
) -> tuple[Evidence, LegalityVerdict]:
    """Prove that every dependence is preserved; find the reductions and private storage of parallel loops."""
    progress("proving the script legal")
    allowed = options.allow_reassociation
    verdict = prove_plan(plan, allow_reassociation=allowed, lanes=lanes, host=host, distances=distances)
    failure = refusal(verdict, stages(plan))
    if failure is not None:
        from loopwright.prove.legality.suggest import advice

        found = advice(plan, verdict, allow_reassociation=allowed)
        raise type(failure).of(replace(failure.diagnostic, hint=found)) if found else failure
    kept = proof(KEPT, verdict.obligations - verdict.storage)
    if verdict.storage:
        kept += proof(STORAGE, verdict.storage)
    trusted = tuple(one.assumption for one in verdict.reassociations)
    owned = sum((proof(text, count) for text, count in remarks(verdict.private)), Evidence())
    for name in verdict.temporaries:
        owned += proof(f"every read of {name} sees the same value, although its accesses are reordered", 1)
    return kept + owned + Evidence(trusted=trusted), verdict


def of_scanning(plan: Plan, node: Node, progress: Progress) -> tuple[Evidence, ScannedLoops]:
    """Prove that the loops execute every instance once, in the order of the schedule, and that exactly the
    loops proved independent are marked so.
    """
    progress("proving the loops")
    verdict = prove_scan(flat_schedule(plan.program), node, independent_loops(plan))
    found = _demanded(LOOPS, verdict)
    return found, ScannedLoops(node, sum(one.obligations for one in found.proofs))


def refuse_other_pragmas(printed: Node, new: Program) -> None:
    """Raise unless the pragmas of a source state exactly the annotations of the printed loops."""
    said, read = _said(printed), said_of_loops(new)
    if said != read and (any(said) or any(read)):
        raise InternalError(Code.OWN_MISTAKE, "the pragmas of the new text are not what its loops say")


def of_text(plan: Plan, loops: Loops, new: Program, scanned: ScannedLoops | None = None) -> Evidence:
    """Prove that the new source executes the schedule, and that its pragmas are correct.

    `scanned` are loops that were proved to execute this schedule.
    """
    named = claims(loops)
    verdict = prove_text(plan.program, new, named, scanned=scanned)
    if isinstance(verdict, Proved):
        below = negative_bound(typed_like(new, plan.program), plan.written.promised)
        if below is not None:
            verdict = Undecided(f"'{below.text}' may be below 0, and is compared with an unsigned number")
    wraps = wrapping_subscript(plan.written) if isinstance(verdict, Refuted) else None
    if wraps is not None:
        reason = f"'{wraps.text}' is an unsigned subscript, which may wrap around below 0: cast it to long"
        verdict = Undecided(reason)
    found = _demanded(TEXT, verdict)
    if any(promises(new)) or any(declared_in_loops(new)):
        text = _with_registers(plan.original, modelled(plan.original, new, named))
        found += _demanded(SCOPES, prove_scopes(text))
        # The user allowed the reassociation of sums when the script was proved legal.
        independent = prove_annotations(text, allow_reassociation=True)
        found += _demanded(MARKED, independent)
    return replace(found, proofs=tuple(proof for proof in found.proofs if proof.obligations))


def _with_registers(original: Program, text: Program) -> Program:
    """The source with the facts about arrays in registers."""
    names = [one.name for one in original.arrays if one.space is MemorySpace.PRIVATE]
    arrays = (replace(one, space=MemorySpace.PRIVATE) if one.name in names else one for one in text.arrays)
    return replace(text, arrays=tuple(arrays)) if names else text


def of_assumptions(
    plan: Plan, loops: Loops, new: Program, guard: GuardedRegion | None
) -> tuple[Assumption, ...]:
    """The assumptions of the region: proved, or tested by its guard as read back."""
    written = plan.written
    if loops.guard and guard is None:
        raise InternalError(Code.OWN_MISTAKE, "the guard of the new text is not read as one")
    if guard is None:
        return tried(plan, loops, new, written.facts)
    try:
        holds = established(written, guard.conditions)
    except NotAGuard as failure:
        raise InternalError(Code.OWN_MISTAKE, f"the guard of the new text, {failure}") from failure
    known = tried(plan, loops, new, holds.parameters.intersect(written.context))
    return shown_by(written, known, holds)


def tried(plan: Plan, loops: Loops, new: Program, established: isl.Set) -> tuple[Assumption, ...]:
    """Try to prove the assumptions of the region with its new source, for parameters in `established`.

    Proofs for only these need a guard that establishes them.
    """
    unchanged = unchanged_text(plan.written, plan.original, new, claims(loops))
    found = within_types(plan.written, new, established, unchanged)
    if any(one.kind is AssumptionKind.ARITHMETIC and one.standing is Standing.ASSUMED for one in found):
        refuse_new(plan.written, new)
    return found


def _said(node: Node) -> tuple[frozenset[Independent], ...]:
    """The annotations a source must have for each loop; none for a parallel one that OpenMP does not
    distribute.

    A mapped loop is a parallel one in the source equivalent to kernels.
    """
    loops = [part for part in subprograms(node) if isinstance(part, For)]
    return tuple(
        frozenset(
            one
            for one in map(_as_parallel, loop.annotations)
            if isinstance(one, Vector) or (isinstance(one, Parallel) and one.clauses is not None)
        )
        for loop in loops
    )


def _as_parallel(one: Annotation) -> Annotation:
    return Parallel(Clauses()) if isinstance(one, BlockLoop | ThreadLoop) else one


def proof(what: str, obligations: int) -> Evidence:
    """One proof."""
    return Evidence((Proof(what, obligations),))


def _demanded(what: str, verdict: Verdict) -> Evidence:
    """Raise an internal error unless this holds, as it must of everything Loopwright generates."""
    match verdict:
        case Proved(obligations):
            return proof(what, obligations)
        case Refuted():
            raise InternalError(
                Code.OWN_MISTAKE,
                f"this should hold, and does not: {what}: {verdict.message} ({verdict.witness})",
                hint=f"nothing was written; {REPORT}",
            )
        case Undecided(reason):
            raise GaveUp(
                Code.UNDECIDED,
                f"could not decide that {what}: {reason}",
                hint="nothing was written; --no-prove writes the file without a proof",
            )
