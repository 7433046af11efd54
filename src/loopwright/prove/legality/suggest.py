"""Decides which of the proposed operations are legal, and explains in one line why they may be useful.

It also finds what would make a refused script legal: temporaries with a cell for each iteration, copies of
old values.

A variable that is dead after the region is expanded along all the loops that its statements share.  For
another array of which only anti-dependences are broken, the statements that read the old values read a copy:
node splitting.  If that does not suffice, statements in one nest may block each other: they are distributed
as far as that is legal, in simple loops after exchanging neighbours if necessary.  These steps precede the
script; a remedy counts only if the whole is proved.  Before all that, an operation on one of several
statements in a nest may have been meant for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from loopwright.errors import BadInput, Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence, memory_based
from loopwright.model.program import Access, Program, Statement
from loopwright.presburger.dimensions import first
from loopwright.presburger.sets import IN, OUT
from loopwright.progress import Progress, silent
from loopwright.prove.legality.explain import headline, witness
from loopwright.prove.legality.legality import LegalityVerdict, Status
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.legality.violation import Violation
from loopwright.transform.perform import performed
from loopwright.transform.plan import Plan
from loopwright.transform.proposals import conditional, proposals
from loopwright.transform.script.nest_operations import Interchange, Permute, Reverse, Skew, StripMine, Tile
from loopwright.transform.script.operations import (
    DistributeLegally,
    Expand,
    Pack,
    Pretest,
    Reorder,
    Vectorize,
)
from loopwright.transform.script.steps import Step, script_text
from loopwright.transform.suggest import Goal, Proposal, ProposalKind, handle_at, nests

MOST_NEIGHBOURS = 5
"""Maximum number of statements of a region that are exchanged."""


class Remedies:
    """Plans of one program after steps that are tried as remedies, each performed and proved once."""

    def __init__(self, *, allow_reassociation: bool = False) -> None:
        self._allowed = allow_reassociation
        self._known: dict[tuple[Step, ...], Plan | None] = {}

    def helps(self, plan: Plan, steps: tuple[Step, ...]) -> bool:
        """Whether the plan's script is legal after the steps."""
        if steps not in self._known:
            self._known[steps] = self._legal(Plan.of(plan.written), steps)
        begun = self._known[steps]
        return begun is not None and self._legal(begun, [one.step for one in plan.history]) is not None

    def _legal(self, plan: Plan, steps: Sequence[Step]) -> Plan | None:
        """The plan after the steps, if it is legal; its storage was proved before."""
        try:
            after = performed(plan, *steps)
            verdict = prove_plan(after, allow_reassociation=self._allowed, known=plan.storage)
        except (BadInput, GaveUp):
            return None
        return after if verdict.proved else None


def cure(plan: Plan, verdict: LegalityVerdict, remedies: Remedies | None = None) -> tuple[Step, ...]:
    """The steps with new storage to insert before the plan's, or none; `verdict` is that on the plan."""
    steps = _storage(plan, verdict)
    return steps if steps and (remedies or Remedies()).helps(plan, steps) else ()


def cure_apart(plan: Plan, verdict: LegalityVerdict, remedies: Remedies | None = None) -> tuple[Step, ...]:
    """The same, with statements distributed if storage alone does not suffice."""
    remedies = remedies or Remedies()
    alone = cure(plan, verdict, remedies)
    steps = _storage(plan, verdict)
    if alone or steps is None:
        return alone
    more = dict.fromkeys((*steps, *_temporaries(plan)))
    for stored in dict.fromkeys((steps, tuple(more))):
        for exchange in ((), *_exchanges(plan)):
            apart = (*stored, *exchange, Step(DistributeLegally()))
            if remedies.helps(plan, apart):
                return apart
    return ()


def _whole_nest(plan: Plan, remedies: Remedies) -> Step | None:
    """The only step of the plan, for all statements in the loops around its target, if that is legal."""
    steps = [one.step for one in plan.history]
    operation = steps[0].operation if len(steps) == 1 else None
    if not isinstance(operation, Interchange | Permute | Skew | Reverse | StripMine | Tile):
        return None
    written = Plan.of(plan.written)
    own = written.components.get(operation.target)
    for nest in nests(written) if own is not None and not plan.storage else ():
        if own is None or nest.definition or not set(own.positions) < set(nest.component.positions):
            continue
        step = Step(replace(operation, target=nest.handle))
        if remedies.helps(written, (step,)):
            return step
    return None


def _tests_instead(plan: Plan) -> tuple[Step, ...]:
    """Tests of blocks of the statement that the only step of the plan is to put in vectors, if legal."""
    steps, written = [one.step for one in plan.history], Plan.of(plan.written)
    operation = steps[0].operation if len(steps) == 1 else None
    own = written.components.get(operation.target) if isinstance(operation, Vectorize) else None
    for leaf in written.leaves:
        if own is not None and own.positions == (leaf.position,):
            for one in suggestions(written, proposed=conditional(written, leaf)):
                if one.legal and isinstance(one.steps[-1].operation, Pretest):
                    return one.steps
    return ()


def advice(plan: Plan, verdict: LegalityVerdict, *, allow_reassociation: bool) -> str:
    """What would make a refused script legal, or does much the same legally, as a sentence; "" if unknown."""
    remedies = Remedies(allow_reassociation=allow_reassociation)
    if whole := _whole_nest(plan, remedies):
        return f"{whole} is legal: all statements in these loops move together"
    if steps := cure_apart(plan, verdict, remedies):
        return hint(steps)
    if tests := _tests_instead(plan):
        return f"{', '.join(map(str, tests))} is legal: blocks of iterations are tested by vectors"
    return ""


def _temporaries(plan: Plan) -> Iterator[Step]:
    """Yields expansions of scalars that are dead after the region, one cell per iteration."""
    for array in plan.written.arrays:
        loops = _shared(plan, array.name)
        if not array.rank and loops and plan.written.is_dead_after(array):
            yield Step(Expand(array.name, loops))


def _exchanges(plan: Plan) -> Iterator[tuple[Step]]:
    """Yields exchanges of neighbours in one loop body, the last first; only for a few, without nests."""
    written = Plan.of(plan.written)
    pairs = list(pairwise(leaf for leaf in written.leaves if leaf.loops))
    simple = written.loops == 1 and len(pairs) < MOST_NEIGHBOURS
    for one, two in reversed(pairs if simple else []):
        names = [handle_at(written, leaf.position) for leaf in (one, two)]
        if one.loops == two.loops and one.position[: one.depth] == two.position[: two.depth] and all(names):
            yield (Step(Reorder(str(names[0]), str(names[1]))),)


def _storage(plan: Plan, verdict: LegalityVerdict) -> tuple[Step, ...] | None:
    """New storage for the arrays whose dependences are broken, if possible.

    None if the verdict is about other failures, or the script changes storage itself.
    """
    if not verdict.violations or verdict.wrong or verdict.defects or plan.storage:
        return None
    broken: dict[str, list[Violation]] = {}
    for one in verdict.violations:
        broken.setdefault(one.array, []).append(one)
    return tuple(dict.fromkeys(step for name in broken for step in _steps(plan, name, broken[name])))


def _steps(plan: Plan, name: str, broken: list[Violation]) -> list[Step]:
    """Steps that might repair broken dependences of one array."""
    array = next((one for one in plan.written.arrays if one.name == name), None)
    if array is None:
        return []
    loops = _shared(plan, name)
    if plan.written.is_dead_after(array):
        return [Step(Expand(name, loops))] if loops else []
    if any(one.kind != "anti" for one in broken):
        return []
    return [Step(Pack(name, one.first.statement)) for one in broken]


def cured(steps: tuple[Step, ...]) -> str:
    """The effect of the steps, as a clause."""
    owned = [one.operation.variable for one in steps if isinstance(one.operation, Expand)]
    copied = dict.fromkeys(one.operation.variable for one in steps if isinstance(one.operation, Pack))
    texts = [f"each iteration has its own {' and '.join(owned)}"] if owned else []
    texts += [f"old values of {' and '.join(copied)} are read from a copy"] if copied else []
    texts += ["neighbours change places"] if any(isinstance(one.operation, Reorder) for one in steps) else []
    texts += ["statements have loops of their own"] if Step(DistributeLegally()) in steps else []
    return " and ".join(texts)


def hint(steps: tuple[Step, ...]) -> str:
    """The remedy as a sentence."""
    return f"{', '.join(map(str, steps))} at the start of the script makes it legal: then {cured(steps)}"


def _shared(plan: Plan, name: str) -> tuple[str, ...]:
    """The outermost loops shared by all statements in loops that use the variable."""
    users = [s.iterators for s in plan.written.statements if any(a.array == name for a in s.accesses)]
    users = [one for one in users if one] or users
    count = 0
    while all(len(one) > count and one[count] == users[0][count] for one in users):
        count += 1
    return users[0][:count]


@dataclass(frozen=True)
class Suggestion:
    """A proposal with its verdict; `reassociation` if it is legal only if sums may be reordered."""

    kind: ProposalKind
    steps: tuple[Step, ...]
    reason: str
    legal: bool
    reassociation: bool = False
    gain: int = 0
    """How many fewer accesses jump between rows in the innermost loop."""
    statements: tuple[str, ...] = ()
    """The statements that it reorders."""
    speed: float | None = None
    """The speedup of the region, if a cost model predicted it."""

    def __repr__(self) -> str:
        steps = "; ".join(map(str, self.steps))
        speed = "" if self.speed is None else f", {self.speed:.1f} times as fast by the model"
        needs = ", with allow_reassociation" if self.reassociation else ""
        return f"<Suggestion {steps}{'' if self.legal else ', not legal'}{needs}{speed}>"

    @property
    def script(self) -> str:
        """The steps as lines of a script."""
        return script_text(self.steps).rstrip("\n")


def suggestions(
    plan: Plan, progress: Progress = silent, proposed: Iterable[Proposal] | None = None
) -> Iterator[Suggestion]:
    """Yields every proposal with its verdict; for each goal, none after the first that is legal."""
    known, remedies = tuple(memory_based(plan.original)), Remedies()
    reached: set[Goal] = set()
    tried = list(proposals(plan, known) if proposed is None else proposed)
    for number, proposal in enumerate(tried):
        if proposal.goal in reached or reached.intersection(proposal.unless):
            continue
        after = proposal.applied(plan)
        if after is None:
            continue
        progress(f"trying {proposal.steps[-1]}", number, len(tried))
        found = replace(_tried(plan, after, proposal, known, remedies), statements=proposal.statements)
        if found.legal and (not found.reassociation or proposal.kind is not ProposalKind.TILING):
            reached.update((proposal.goal, *proposal.reaches))
        yield found


def _tried(
    plan: Plan, after: Plan, proposal: Proposal, known: tuple[Dependence, ...], remedies: Remedies
) -> Suggestion:
    try:
        verdict = prove_plan(after, dependences=known)
    except GaveUp as failure:
        if failure.code is not Code.UNDECIDED:
            raise
        return Suggestion(proposal.kind, proposal.steps, failure.message, legal=False)
    if verdict.status is Status.PROVED:
        reason = _reason(plan.program, proposal, known)
        gain = _gain(proposal, _innermost(plan.program, proposal))
        return Suggestion(proposal.kind, proposal.steps, reason, legal=True, gain=gain)
    heal = cure_apart if proposal.kind is ProposalKind.PARALLEL else cure
    expanded = heal(after, verdict, remedies)
    if expanded:
        gain = _gain(proposal, _innermost(plan.program, proposal))
        why = f"legal once {cured(expanded)}"
        return Suggestion(proposal.kind, (*expanded, *proposal.steps), why, legal=True, gain=gain)
    operators = _only_reductions(verdict)
    if operators:
        reason = f"legal with --allow-reassociation: only the order of the steps of {operators} changes"
        return Suggestion(proposal.kind, proposal.steps, reason, legal=True, reassociation=True)
    first = verdict.failures[0]
    word = "" if verdict.status is Status.ILLEGAL else "could not decide: "
    reason = f"{word}{headline(first)}: {witness(first)}"
    return Suggestion(proposal.kind, proposal.steps, reason, legal=False)


def _only_reductions(verdict: LegalityVerdict) -> str:
    """The operators of the reductions if these are the only failures, otherwise ""."""
    found: dict[str, None] = {}
    for failure in verdict.failures:
        if not isinstance(failure, Violation) or failure.reduction is None:
            return ""
        found[f"a reduction by {failure.reduction}"] = None
    return " and ".join(found)


def _reason(program: Program, proposal: Proposal, known: tuple[Dependence, ...]) -> str:
    inside = [one for one in known if one.source in proposal.statements and one.sink in proposal.statements]
    match proposal.kind:
        case ProposalKind.PARALLEL if proposal.is_skewed:
            return "skewed tiles wait only for tiles on diagonals before theirs: those of one run at once"
        case ProposalKind.PARALLEL if len(proposal.loops) > 1:
            diagonal = " and ".join(proposal.loops)
            return f"{_each(len(inside))} goes from one diagonal of {diagonal} to a later one"
        case ProposalKind.PARALLEL:
            if not inside:
                return f"no two iterations of {proposal.loops[0]} touch the same cell"
            return f"{_each(len(inside))} stays inside one iteration of {proposal.loops[0]}"
        case ProposalKind.INTERCHANGE:
            kept = f"{_each(len(inside))} keeps its order" if inside else "nothing depends on the order"
            inner = _innermost(program, proposal)
            effect = _effect(_gain(proposal, inner), proposal, inner)
            return f"{kept}; {effect}" if effect else kept
        case ProposalKind.TILING:
            along = " and ".join(proposal.loops)
            how = " once they are skewed" if proposal.is_skewed else ""
            if not inside:
                return f"nothing depends on the order of {along}"
            whole = f"; {proposal.whole} stays whole, for vectors" if proposal.whole else ""
            kept = f"{_each(len(inside))} goes forwards along {along}{how}"
            return f"{kept}, so tiles run one after the other{whole}"
        case ProposalKind.FUSION:
            return _fused(program, proposal)
        case ProposalKind.UNROLL_AND_JAM:
            along = " and ".join(proposal.loops)
            return f"iterations of {along} run together in the innermost loop; what they share is read once"
        case ProposalKind.DISTRIBUTION:
            return "every value is computed before the loops that read it begin"
        case ProposalKind.MAPPING:
            along = " and ".join(proposal.loops)
            return f"no iteration of {along} waits for another: blocks and threads run them in any order"
        case ProposalKind.VECTORS if isinstance(proposal.operations[-1], Pretest):
            return "its conditions are tested by vectors, and only blocks in which one holds run"
        case ProposalKind.VECTORS:
            return f"iterations of {proposal.loops[0]} run in the lanes of a vector"
        case ProposalKind.REORDERING:
            return "neither waits for the other" if not inside else f"{_each(len(inside))} keeps its order"


def _each(count: int) -> str:
    return "the only dependence" if count == 1 else f"each of {count} dependences"


def _effect(gain: int, proposal: Proposal, statement: Statement | None) -> str:
    """How the innermost loop accesses memory, before and after."""
    if statement is None or gain == 0:
        return ""
    one, two = proposal.loops
    then, now = (_jumps(statement, iterator) for iterator in (one, two))
    count = len(statement.accesses)
    but = "but " if gain < 0 else ""
    return f"{but}with {one} innermost {then} of {count} accesses jump between rows, instead of {now}"


def _innermost(program: Program, proposal: Proposal) -> Statement | None:
    """The statement whose innermost loop an interchange replaces by another of its own loops."""
    if proposal.kind is not ProposalKind.INTERCHANGE:
        return None
    names = proposal.statements if proposal.moved is None else (proposal.moved,)
    found = [program.statement(name) for name in names]
    outer, inner = proposal.loops
    return next((one for one in found if one.iterators[-1:] == (inner,) and outer in one.iterators), None)


def _gain(proposal: Proposal, statement: Statement | None) -> int:
    if statement is None:
        return 0
    one, two = proposal.loops
    return _jumps(statement, two) - _jumps(statement, one)


def _jumps(statement: Statement, iterator: str) -> int:
    """How many accesses move to another row from one iteration of the loop to the next."""
    place = statement.iterators.index(iterator)
    return sum(_is_jump(access, place) for access in statement.accesses)


def _is_jump(access: Access, place: int) -> bool:
    """Whether a subscript other than the last depends on the iterator at `place`."""
    rank = int(access.relation.dim(OUT))
    if rank < 2:
        return False
    rows = first(access.relation, OUT, rank - 1)
    return bool(rows.is_single_valued()) and not bool(rows.eliminate(IN, place, 1).is_single_valued())


def _fused(program: Program, proposal: Proposal) -> str:
    names = proposal.statements
    arrays = [
        {access.array for access in program.statement(name).accesses if access.relation.dim(OUT) > 0}
        for name in names
    ]
    shared = sorted(set.intersection(*arrays)) if arrays else []
    loops = " and ".join(proposal.loops)
    how = "the second runs after the first" if proposal.is_shifted else "both run"
    kept = f"every value is there in time when {how} in the same loop over {loops}"
    return f"{kept}; they share {', '.join(shared)}" if shared else kept
