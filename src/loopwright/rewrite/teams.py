"""Handles loops divided among an existing team: `#pragma omp for`, in `parallel` or a function it calls.

Each thread executes the whole source, so the new loops must be divided as well.

If the outermost new loops equal the divided ones, head by head, with the same statements in their iterations,
the directives are kept: the same threads execute the same iterations in the same order.  Dependences are
preserved inside each iteration, also on private storage.  A read that need not see the last write is only
proved for one thread that executes all iterations.

Otherwise the outermost loop of each nest is proved independent and printed with `omp for`.  The source means
the same as with `omp parallel for` at these loops, which is read back and proved.  Besides:

    each thread's own variables   are private to each iteration, or equal in all threads
    `lastprivate`, `reduction`    name none of them
    new storage                   is declared inside the loops: outside, each thread would have its own
    barriers                      are before and after the new loops: threads execute other iterations than
    before, and loops that do not execute are no barriers.  New barriers for all threads are listed

The assertions of the old loops are tested in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from loopwright.c.file import c_file
from loopwright.c.openmp import OpenmpDirective, directive_of
from loopwright.c.regions import Directive
from loopwright.c.syntax import Node as SyntaxNode
from loopwright.c.tokens import names_in, spelled
from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.refusals import is_in_block
from loopwright.c.typed.teams import NoTeam, Team, names_of, team_around
from loopwright.c.typed.tree import Declaration, Declarator, changed_root, walk_all
from loopwright.emit.openmp import declared_inside
from loopwright.emit.region import Loops, line_end, new_source, printed_loops
from loopwright.errors import BadInput, Code, GaveUp, Illegal
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import children
from loopwright.model.annotations import Clauses
from loopwright.model.program import Assumption, AssumptionKind, Program, Standing, Statement
from loopwright.presburger.sets import OUT
from loopwright.prove.legality.legality import LegalityVerdict
from loopwright.prove.legality.reductions import reductions
from loopwright.prove.text.annotations import promises, prove_annotations
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.gate.gate import gated, reads_first
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.region import read_region
from loopwright.source import Edit, Source, Span
from loopwright.transform import Plan
from loopwright.transform.directives import DirectiveKind
from loopwright.transform.plan import Component

_DIVIDING = ("for", "for simd")
_KNOWN = frozenset(("nowait", "schedule", "private", "lastprivate", "reduction", "collapse"))
_OF_ONE_LOOP = (_KNOWN | {"firstprivate"}) - {"collapse"}
"""Clauses whose meaning does not depend on the body of the loop."""


@dataclass(frozen=True)
class Divided:
    """A region all of whose statements are in worksharing loops."""

    program: Program
    loops: tuple[tuple[Directive, OpenmpDirective, SyntaxNode], ...]
    """The directives, their clauses, and their loops."""
    is_kept: bool = False
    """The directives are kept unchanged."""

    @cached_property
    def team(self) -> Team:
        """The team; raises if its private variables are not known."""
        file = typed_file(self.program.source, self.program.compiled)
        places = {one.place: one for one in file.regions if isinstance(one, TypedRegion)}
        try:
            return team_around(file, places[self.program.region])
        except NoTeam as failure:
            raise BadInput(Code.DIRECTIVE, str(failure), span=self.program.region) from None

    @property
    def sums(self) -> frozenset[str]:
        """The sums that the threads combine."""
        return frozenset(name for _, said, _ in self.loops for name in names_of(said, "reduction"))

    @property
    def schedule(self) -> str:
        """The schedule clause, if it is the same for all loops."""
        clauses = [said.clause("schedule") for _, said, _ in self.loops]
        said = {"" if one is None else one.place.text for one in clauses}
        return f" {next(iter(said))}" if len(said) == 1 and said != {""} else ""

    def settled(self, listed: Sequence[Assumption]) -> tuple[Assumption, ...]:
        """The assumptions of the region: that its directives are kept, or what they assert."""
        own = {pragma.place for pragma, _, _ in self.loops}
        others = tuple(one for one in listed if one.place not in own)
        if self.is_kept:
            return others
        found = [self._promised()]
        if self.team.given:
            text = f"{', '.join(self.team.given)}: equal in all threads that call this function"
            found.append(Assumption(AssumptionKind.CONSTANT, text))
        text = (
            "all threads wait at these loops: none waits before them for what another does in them or after"
        )
        found.append(Assumption(AssumptionKind.PRAGMA, text))
        return (*others, *found)

    def _promised(self) -> Assumption:
        """Prove that the old loops are independent; raises, with a witness, if they are not."""
        text = "the loops that threads divide have independent iterations, as their directives say"
        found = Assumption(AssumptionKind.PRAGMA, text, self.loops[0][0].place)
        old = self._old_loops()
        match Undecided("") if old is None else prove_annotations(old, allow_reassociation=True):
            case Refuted(message=message, witness=witness):
                raise Illegal(Code.NOT_PARALLEL, message, witness=witness, span=found.place)
            case Proved():
                return replace(found, standing=Standing.PROVED)
        if old is not None:
            self._refuse_other_sums(old)
        return found

    def _refuse_other_sums(self, old: Program) -> None:
        """Raise if a reduction clause combines values in another way than the steps of the loop."""
        said = {name: word.replace("-", "+") for one in promises(old) for word, name in one.reductions}
        for step in reductions(old).values():
            if said.get(step.array, step.operator) != step.operator:
                reason = f"'{step.array}' is combined by '{step.operator}', and its directive says otherwise"
                raise not_divided(self.program, reason)

    def _old_loops(self) -> Program | None:
        """The region, read with `parallel for` at its loops; None if it cannot be read so."""
        number = [each.place for each in self.program.file.regions].index(self.program.region)
        options = ReadOptions(compiled=self.program.compiled)
        place = c_file(self._as_parallel_loops()).regions[number].place
        try:
            (found,) = gated((read_region(place, options),), options)
        except BadInput:
            return None
        return found

    def may_keep(self, plan: Plan) -> bool:
        """Whether the iterations of the loops that are divided are the same, with the same statements.

        A loop cannot have two directives: vectors of such a loop need `for simd`.
        """
        clauses = {one.name for _, said, _ in self.loops for one in said.clauses}
        is_plain = clauses <= _OF_ONE_LOOP and all(said.name == "for" for _, said, _ in self.loops)
        vector, parallel = DirectiveKind.VECTORIZE, DirectiveKind.PARALLEL
        is_marked = any(
            one.kind is parallel or (one.kind is vector and one.loop == 0) for one in plan.directives
        )
        if plan.storage or is_marked or not is_plain:
            return False
        return all(map(_same_first, plan.written.statements, plan.program.statements))

    def kept(self, plan: Plan, loops: Loops, lost: Sequence[str]) -> Divided | None:
        """The region with its directives kept, if the new loops are those that were divided.

        `lost` are the temporaries for which only values that are read are preserved.
        """
        if any(one.name in lost for one in self._changed(self.program.region)):
            return None
        listed = (names_of(said, "private", "firstprivate", "lastprivate") for _, said, _ in self.loops)
        if any(name in lost for names in listed for name in names):
            return None
        heads = [_head(loop) for _, _, loop in self.loops]
        new = new_source([loops])
        block = c_file(new).block(_region_of(new, plan))
        parts = [one for one in block.named_children if one.type != "comment"]
        if [_head(one) for one in parts] != heads or self._outermost() != len(heads):
            return None
        return replace(self, is_kept=True)

    def _outermost(self) -> int:
        """The number of outermost loops."""
        around = self.program.syntax.of_type("for_statement")
        inner = [
            loop
            for _, _, loop in self.loops
            for one in around
            if one != loop and one.span.contains(loop.span)
        ]
        return len(self.loops) - len(inner)

    def with_directives(self, source: Source, plan: Plan) -> Iterator[Edit]:
        """A function that puts the directives before the loops of the new source."""
        block = c_file(source).block(_region_of(source, plan))
        parts = [one for one in block.named_children if one.type == "for_statement"]
        for (pragma, _, _), loop in zip(self.loops, parts, strict=True):
            start = source.text.rfind("\n", 0, loop.start) + 1
            yield start, start, " ".join(f"#pragma {pragma.argument}".split()) + line_end(source)

    def _as_parallel_loops(self) -> Source:
        """The text with `parallel for` at these loops, and clauses for private variables."""
        edits: list[Edit] = []
        for pragma, said, loop in self.loops:
            listed = names_of(said, *(_KNOWN - {"schedule"}))
            own = {one.name for one in self._changed(loop.span)} - listed
            clauses = [one.place.text for one in said.clauses if one.name != "nowait"]
            clauses += [f"private({', '.join(sorted(own))})"] if own else []
            words = f"#pragma omp parallel {said.name} {' '.join(clauses)}"
            edits.append((pragma.place.start, pragma.place.end, words + "\n" * pragma.place.text.count("\n")))
        return self.program.source.edited(edits)

    def _changed(self, place: Span) -> Iterator[Declaration]:
        """The private variables that a part of the region modifies and does not declare."""
        inside = [one for one in walk_all(self.team.region.statements) if place.contains(one.place.span)]
        declared = {one.declaration for one in inside if isinstance(one, Declarator)}
        changed = {changed_root(node) for node in inside}
        return (one for one in self.team.own if one in changed - declared)

    def refuse_unlike(self, loops: Loops, verdict: LegalityVerdict | None) -> None:
        """Raise if the new loops make demands on private variables that these do not meet."""
        unknown = [one.name for _, said, _ in self.loops for one in said.clauses if one.name not in _KNOWN]
        if unknown:
            self._refuse(f"nothing is known of the clause '{unknown[0]}'")
        known = {one.name for one in self.program.arrays} | declared_inside(loops.named)
        own_storage = next((one.name for one in loops.program.arrays if one.name not in known), None)
        if own_storage is not None:
            self._refuse(f"each thread would have its own '{own_storage}', and execute a part of the loops")
        other = self.team.unlike()
        if other is not None:
            self._refuse(f"each thread has its own '{other}', which may differ")
        printed = [*_shared(printed_loops(loops, openmp=True))]
        if None in printed or verdict is None:
            self._refuse("a new loop has statements beside it that every thread would run")
        private = {one.array for one in verdict.private} if verdict is not None else set()
        iterators = {one for each in loops.in_file.statements for one in each.iterators}
        for one in self._changed(self.program.region):
            if one.name not in private | iterators:
                self._refuse(f"each thread has its own '{one.name}', which the loops change")
            arrays = (array for array in self.program.arrays if array.name == one.name)
            if any(reads_first(self.program, array) for array in arrays):
                self._refuse(f"each thread has its own '{one.name}', which is read before it is changed")
        own = {one.name for one in self.team.own}
        for clauses in printed:
            said = (
                []
                if clauses is None
                else [*clauses.lastprivate, *(i for r in clauses.reductions for i in r.items)]
            )
            kept = next((name for item in said for name in names_in(item)[:1] if name in own), None)
            if kept is not None:
                self._refuse(f"each thread has its own '{kept}', of which one value is wanted after the loop")
        lost = {name for _, said, _ in self.loops for name in names_of(said, "private", "firstprivate")}
        for name in (name for one in printed if one is not None for name in one.lastprivate if name in lost):
            self._refuse(f"'{name}' is what it was after the old loops, and one value of it is wanted")
        combined = {one.array for one in verdict.reassociations} if verdict is not None else set()
        if not combined <= self.sums:
            self._refuse(f"the old loops do not combine values of {min(combined - self.sums)}")

    def _refuse(self, reason: str) -> None:
        raise not_divided(self.program, reason)


def not_divided(program: Program, reason: str) -> GaveUp:
    """The note that the threads that execute a region are unknown; this makes no loop of it wrong."""
    hint = "'parallel for' at a loop divides it among threads of its own"
    return GaveUp(
        Code.UNDECIDED,
        f"could not decide the effect of several threads: {reason}",
        span=program.region,
        hint=hint,
    )


def divided(program: Program) -> Divided | None:
    """The region, if an existing team divides its loops; raises if it is not known how."""
    pragmas = program.file.region(program.region).pragmas
    said = [
        (one, directive_of(f"#pragma{one.argument}"))
        for one in pragmas
        if next(iter(names_in(one.argument)), "") == "omp"
    ]
    dividing = [(one, each) for one, each in said if each is not None and each.name in _DIVIDING]
    if not dividing:
        return None
    if len(dividing) < len(said):
        raise not_divided(program, "another directive stands beside 'omp for'")
    if not is_in_block(program.region, program.compiled):
        raise not_divided(program, "no barrier can stand before these loops without braces around them")
    loops = [(one, each, _loop_at(program, one)) for one, each in dividing]
    for statement in program.statements:
        around = [loop for _, _, loop in loops if loop.span.contains(statement.body.place)]
        if len(around) != 1:
            raise not_divided(program, "every thread runs what is not in a loop that they divide")
    return Divided(program, tuple(loops))


def _loop_at(program: Program, pragma: Directive) -> SyntaxNode:
    following = [one for one in program.syntax.of_type("for_statement") if one.start >= pragma.place.end]
    if not following:
        raise not_divided(program, "no loop follows 'omp for'")
    return min(following, key=lambda one: one.start)


def _same_first(old: Statement, new: Statement) -> bool:
    """Whether the outermost loop around a statement, and its position, are unchanged."""
    before, after = (one.schedule.project_out(OUT, 2, one.schedule.dim(OUT) - 2) for one in (old, new))
    return old.depth > 0 and bool(
        before.intersect_domain(old.domain).is_equal(after.intersect_domain(new.domain))
    )


def _head(node: SyntaxNode) -> list[str]:
    """The tokens of a loop up to its body."""
    body = node.child_by_field_name("body") if node.type == "for_statement" else None
    return [] if body is None else spelled(node.source.text[node.start : body.start])


def _region_of(source: Source, plan: Plan) -> Span:
    """The place of a plan's region in the new source."""
    places = [one.place for one in c_file(plan.written.source).regions]
    return c_file(source).regions[places.index(plan.written.region)].place


def with_divided_loops(plan: Plan) -> Plan:
    """The plan whose outermost loops are independent."""
    said = {
        position
        for one in plan.directives
        if one.kind is DirectiveKind.PARALLEL and one.loop == 0
        for position in one.positions
    }
    nests: dict[int, list[tuple[int, ...]]] = {}
    for leaf in plan.leaves:
        if not leaf.depth:
            raise not_divided(plan.written, "a statement is in no loop")
        if leaf.position not in said:
            nests.setdefault(leaf.position[0], []).append(leaf.position)
    for positions in nests.values():
        plan = plan.directed(DirectiveKind.PARALLEL, Component.of(positions), 0)
    return plan


def _shared(node: Node) -> Iterator[Clauses | None]:
    """The clauses of the outermost loops; None if one has none, or for a statement outside loops."""
    if isinstance(node, For | Call):
        parallel = node.parallel if isinstance(node, For) else None
        yield None if parallel is None else parallel.clauses
        return
    for child in children(node):
        yield from _shared(child)


def in_teams(source: Source, regions: Sequence[Divided | None], plans: Sequence[Plan]) -> Source:
    """The new source with the directives of divided regions, `for` in place of `parallel for`."""
    edits: list[Edit] = []
    for one, plan in zip(regions, plans, strict=True):
        if one is not None:
            edits += one.with_directives(source, plan) if one.is_kept else _shared_again(source, one, plan)
    return source.edited(sorted(edits))


def _shared_again(source: Source, divided: Divided, plan: Plan) -> Iterator[Edit]:
    """A function that turns `parallel for` into `for`, between barriers; a loop that always executes ends
    with one."""
    place, end = _region_of(source, plan), line_end(source)
    parts = [one for one in c_file(source).block(place).named_children if one.type != "comment"]
    first, last = place.start, place.start + len(place.text.rstrip())
    yield first, first, f"#pragma omp barrier{end}"
    for pragma in c_file(source).region(place).pragmas:
        text = pragma.place.text
        if "omp parallel for" in text:
            words = text.rstrip().replace("omp parallel for", "omp for", 1)
            words += "" if "schedule(" in words else divided.schedule
            yield pragma.place.start, pragma.place.end, words + text[len(text.rstrip()) :]
    if not parts or parts[-1].type != "for_statement":
        yield last, last, f"{end}#pragma omp barrier"
