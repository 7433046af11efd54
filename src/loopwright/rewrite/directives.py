"""Applies the OpenMP directives at the loops of a file: the resulting plans of its regions, and the proof.

The clauses of a parallel loop are compared with the needs of its iterations.

The proof determines which variables must be private, and which sums are reductions.  A directive must state
exactly that: without `private(t)` the threads share t, with `private(n)` they read an uninitialised n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopwright.c.clauses import combined_cells, linear_steps, names_in_clause, number_in_clause
from loopwright.c.file import c_file
from loopwright.c.loops import loop_iterator, outer_iterators
from loopwright.c.openmp import SHARING, OpenmpDirective, as_pragma, integer
from loopwright.c.regions import Directive
from loopwright.c.selection.choice import BY_PRAGMAS
from loopwright.c.selection.chosen import DirectedFile, directed
from loopwright.c.syntax import Node, field, identifiers, walk
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.refusals import refused_directive, surrounding_directive
from loopwright.c.typed.spelling import with_numbers
from loopwright.errors import BadInput, Code, GaveUp, Illegal, LoopwrightError
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Assumption, AssumptionKind, Program, Standing
from loopwright.presburger.named import number, variable
from loopwright.progress import Progress, silent
from loopwright.prove.legality.explain import refusal
from loopwright.prove.legality.legality import LegalityVerdict, Status
from loopwright.prove.legality.plans import prove_plan, stages
from loopwright.prove.text.annotations import promises, prove_annotations
from loopwright.prove.text.clauses import is_kept, not_linear, uncertain_value
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.reader import load_c, read_source
from loopwright.rewrite.evidence import Evidence, of_legality, of_model, on_trust
from loopwright.rewrite.late_iterators import refuse_late_iterators
from loopwright.rewrite.request import RegionReport, Request, RewriteOptions
from loopwright.source import Source, Span
from loopwright.transform.plan import Plan


def asks_for_sums(file: DirectedFile) -> bool:
    """Whether a directive requests a reduction, which combines values in any order."""
    return any(one.clause("reduction") is not None for one, _ in file.directives)


def refuse_sharing(file: DirectedFile, program: Program, verdict: LegalityVerdict) -> None:
    """Raise unless the directives of parallel loops privatise exactly the required variables."""
    for directive, place in file.directives:
        if directive.name in SHARING and program.region.contains(directive.place):
            loop = _node(file, place)
            pragma = replace(as_pragma(directive), place=directive.place.on(file.source))
            _refuse_values(directive, pragma, program)
            _refuse_steps(directive, pragma, loop, is_own=file.at(loop)[-1] == directive)
            _refuse_shared_iterators(file, directive, loop)
            _refuse_privates(directive, loop, verdict)
            _refuse_copies(directive, program, verdict)
            _refuse_sums(directive, loop, verdict)


def _refuse_values(directive: OpenmpDirective, pragma: Directive, program: Program) -> None:
    """Raise for a clause whose value OpenMP need not allow."""
    sizes = {name: program.context.is_subset(variable(name).ge_set(number(1))) for name in program.params}
    uncertain = uncertain_value(pragma, sizes)
    if uncertain is not None:
        message = f"{uncertain} is not known to have a value that OpenMP allows"
        raise _no(directive, message, "'#pragma assume m > 0' in the region says what is known of a size")


def _refuse_steps(directive: OpenmpDirective, pragma: Directive, loop: Node, *, is_own: bool) -> None:
    """Raise for `linear` of anything but the iterator of the loop that the directive is at."""
    joined = number_in_clause(pragma.argument, "collapse") or 1
    joined_iterators = frozenset((loop_iterator(loop) or "", "another")[: min(joined, 2)])
    wrong = not_linear(pragma.argument, loop, joined_iterators)
    if wrong is None and not is_own:
        wrong = next(iter(linear_steps(pragma.argument)), None)
    if wrong is not None:
        message = f"'{wrong}' is not the iterator, or does not grow by as much as the clause says"
        raise _no(directive, message, f"leave out linear({wrong})")


def _refuse_shared_iterators(file: DirectedFile, directive: OpenmpDirective, loop: Node) -> None:
    said = {name for name, _ in _names(directive)}
    for name in _shared_iterators(file, loop):
        if name not in said:
            raise _no(directive, f"the iterator '{name}' is shared by all threads", f"private({name})")


def _refuse_privates(directive: OpenmpDirective, loop: Node, verdict: LegalityVerdict) -> None:
    local, used, said = set(_declared(loop)), set(identifiers(loop)), set(_names(directive))
    copied = {(name, "private") for name, _ in _names(directive, "firstprivate")}
    needed = {
        (one.array, "lastprivate" if one.last else "private")
        for one in verdict.private
        if one.span == directive.place and one.array in used - local
    }
    iterators = {loop_iterator(node) for node in walk(loop) if node.type == "for_statement"}
    for name, clause in sorted(needed - said - copied):
        raise _no(directive, f"'{name}' is shared by all threads", f"{clause}({name})")
    for name, clause in sorted(said - needed):
        if name not in iterators and (clause == "lastprivate" or name in used - local):
            message = f"'{name}' has no value in a thread that has its own"
            raise _no(directive, message, f"leave out {clause}({name})")


def _refuse_copies(directive: OpenmpDirective, program: Program, verdict: LegalityVerdict) -> None:
    """Raise for a variable whose copies get values that the variable itself does not."""
    own = {one.array for one in verdict.private if one.span == directive.place and not one.last}
    written = {access.array for statement in program.statements for access in statement.writes}
    for name, _ in _names(directive, "firstprivate"):
        if name in written - own:
            message = f"the '{name}' of a thread is not the one that the loop sets"
            raise _no(directive, message, f"leave out firstprivate({name})")


def _refuse_sums(directive: OpenmpDirective, loop: Node, verdict: LegalityVerdict) -> None:
    used = set(identifiers(loop)) - set(_declared(loop))
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
    """The variables declared in the body of a loop, or in the head of an inner one."""
    for node in walk(field(loop, "body")):
        if node.type == "declaration":
            for part in node.children_by_field_name("declarator"):
                yield from identifiers(part)[:1]


def _shared_iterators(file: DirectedFile, loop: Node) -> Iterator[str]:
    """The iterators, declared outside, that inner loops set and no directive at these makes copies of."""
    affected = 1
    for directive in file.at(loop):
        for name in ("sizes", "permutation", "collapse"):
            clause = directive.clause(name)
            if clause is not None:
                own = integer(clause.arguments[0]) if name == "collapse" else len(clause.arguments)
                affected = max(affected, own)
    inner = loop.of_type("for_statement")
    yield from outer_iterators(node for node in inner[affected:] if not _has_its_own(file, node))


def _has_its_own(file: DirectedFile, loop: Node) -> bool:
    """Whether the directives at a loop give its threads an iterator of their own that is not copied back.

    `for` does, without `lastprivate`; `simd` copies back what its last iteration leaves.
    """
    name = loop_iterator(loop)
    for directive in file.at(loop):
        said = dict(_names(directive))
        if said.get(name or "") == "private" or (directive.name in _PRIVATE and name not in said):
            return True
    return False


_PRIVATE = ("parallel for", "for")


def _names(directive: OpenmpDirective, *clauses: str) -> Iterator[tuple[str, str]]:
    argument = as_pragma(directive).argument
    for clause in clauses or ("private", "lastprivate"):
        for name in sorted(names_in_clause(argument, clause)):
            yield name, clause


def _reductions(directive: OpenmpDirective) -> Iterator[tuple[str, str]]:
    """`reduction(+: s, t)` as pairs of the operator and a name; a section is more than a name."""
    for one in combined_cells(as_pragma(directive).argument):
        yield one.operator, one.array + "[]" * len(one.section)


@dataclass(frozen=True)
class DirectedPlans:
    """The plan of each region after its directives; `shared`: some loop is parallel.

    Iterations of a loop marked at one of these places that are so far apart run in order.
    """

    plans: tuple[Plan, ...]
    file: DirectedFile
    distances: Mapping[Span, int]

    @property
    def shared(self) -> bool:
        return any(one.name in SHARING for one, _ in self.file.directives)


def directed_plans(request: Request) -> DirectedPlans:
    """The regions of a file with their directives applied; rewritten, if the request is to `transform`."""
    found = directed(load_c(request.file), request.reading.choice)
    programs = read_source(found.source, replace(request.reading, choice=BY_PRAGMAS))
    if not request.directives:
        refuse_late_iterators(c_file(found.source))
    from loopwright.transform.openmp.nests import after_directives  # for this alone

    made = after_directives(map(Plan.of, programs), found)
    plans = tuple(one.plan for one in made)
    distances = {place: near for one in made for place, near in one.distances.items()}
    written = replace(load_c(request.file), chosen=found.source.chosen)
    refuse_surrounded(written, plans[0].written, is_rewritten=request.directives)
    if request.directives:
        _refuse_called(found)
    refuse_directives_of(with_numbers(written, request.reading.compiled), request.reading.compiled)
    return DirectedPlans(plans, found, distances)


def _refuse_called(file: DirectedFile) -> None:
    """Raise for a worksharing loop outside `parallel`: `parallel for` would not divide it; and for `safelen`,
    which new loops are not given."""
    for directive, _ in file.directives:
        length = directive.clause("safelen")
        if length is not None:
            hint = "'loopwright prove FILE' proves it; transform without --apply-directives leaves it there"
            message = "'safelen' is not written at new loops"
            raise BadInput(Code.DIRECTIVE, message, span=length.place, hint=hint)
        if directive.name in ("for", "for simd"):
            message = "which threads divide this loop is not known: 'parallel' is not in its function"
            hint = "'parallel for' divides it; transform without --apply-directives keeps 'for'"
            raise BadInput(Code.DIRECTIVE, message, span=directive.place, hint=hint)


def refuse_surrounded(source: Source, program: Program, *, is_rewritten: bool) -> None:
    """Raise if regions of a file are in the statement of a directive that their own do not handle."""
    surrounding = surrounding_directive(source, program.compiled, is_rewritten=is_rewritten)
    if surrounding is not None:
        message = f"these loops are inside the statement of another directive: {surrounding}"
        hint = "'parallel for' at the loop, or 'for' at all loops in 'parallel', divides their iterations"
        raise BadInput(Code.DIRECTIVE, message, span=program.region, hint=hint)


def is_openmp(one: Assumption) -> bool:
    """Whether it concerns a directive that is ignored."""
    words = [] if one.place is None else one.place.text.lstrip("# \t").split()
    return one.kind is AssumptionKind.PRAGMA and words[:2] == ["pragma", "omp"]


def refuse_directives_of(source: Source, compiled: CompilerOptions) -> None:
    """Raise if a compiler does not accept an OpenMP directive in a region, which then has no meaning."""
    refused = refused_directive(source, compiled)
    if refused is not None:
        message = f"a compiler does not accept a directive: {refused}"
        raise BadInput(Code.DIRECTIVE, message, span=Span.start_of(source.path))


def with_pragmas_tried(program: Program) -> Program:
    """Test the pragmas of the program: if the iterations that they assert to be independent are, the loops
    compute the same as without them; raises, with a witness, if they are not."""
    left = [one for one in program.trusted if one.kind is AssumptionKind.PRAGMA]
    if not left or next(promises(program), None) is None:
        return program
    match prove_annotations(program, allow_reassociation=True):
        case Undecided():
            return program
        case Refuted(message=message, witness=witness):
            raise Illegal(Code.NOT_PARALLEL, message, witness=witness, span=left[0].place)
        case Proved():
            listed = program.assumptions
            tried = (replace(one, standing=Standing.PROVED) if one in left else one for one in listed)
            return replace(program, assumptions=tuple(tried))


@dataclass(frozen=True)
class DirectivesProved:
    """The proofs and assumptions by which every directive of the regions is legal for all sizes."""

    directives: int
    regions: tuple[RegionReport, ...]

    @property
    def obligations(self) -> int:
        return sum(proof.obligations for region in self.regions for proof in region.proofs)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for region in self.regions for text in region.assumptions))


def prove_directives(request: Request, progress: Progress = silent) -> DirectivesProved:
    """Prove that the directives preserve the results of the loops; raises, with a witness, if they do not."""
    progress(f"reading {request.file}")
    found = directed_plans(request)
    if asks_for_sums(found.file):
        request = replace(request, allow_reassociation=True)
    reports = [_proved(plan, found, request, progress) for plan in found.plans]
    return DirectivesProved(len(found.file.directives), tuple(reports))


def _proved(plan: Plan, found: DirectedPlans, options: RewriteOptions, progress: Progress) -> RegionReport:
    evidence: Evidence = on_trust(plan.written) + of_model(plan.written, options, progress)
    try:
        legal, verdict = of_legality(plan, options, progress, lanes=False, distances=found.distances)
    except Illegal as error:
        raise _of_certain(error, plan, found, options) from None
    refuse_sharing(found.file, plan.written, verdict)
    evidence += legal
    line = plan.written.region.line
    return RegionReport(line, (), (), evidence.proofs, evidence.trusted)


def _of_certain(
    error: Illegal, plan: Plan, found: DirectedPlans, options: RewriteOptions
) -> LoopwrightError:
    """The error without conflicts that need not be any.

    Threads share nothing that the directive of their loop privatises; but an iteration reads it before
    writing it, or it is read after the loop.  One thread, or one lane after the other, may run the iterations
    that a clause puts together.
    """
    clauses = ("private", "lastprivate", "firstprivate")
    directives = {one.place: one for one, _ in found.file.directives if one.name in SHARING}
    said = {(place, name) for place, one in directives.items() for name, _ in _names(one, *clauses)}
    verdict = prove_plan(
        plan, allow_reassociation=options.allow_reassociation, lanes=False, distances=found.distances
    )
    private = {(one.loop_span, one.array) for one in verdict.violations} & said
    excused = [
        one
        for one in verdict.violations
        if one.loop_span is not None
        and one.loop_span in directives
        and is_kept(as_pragma(directives[one.loop_span]).argument, one)
    ]
    if not (private or excused) or verdict.status is Status.UNDECIDED:
        return error
    left = [
        one
        for one in verdict.violations
        if (one.loop_span, one.array) not in private and not any(one is other for other in excused)
    ]
    if left or verdict.defects or verdict.wrong:
        return refusal(replace(verdict, violations=tuple(left)), stages(plan)) or error
    if private:
        of_name = {name: one for one in directives.values() for place, name in private if place == one.place}
        name = min(of_name)
        message = f"the '{name}' of a thread need not have the value that is read"
        hint = f"set '{name}' in each iteration before it is read, and do not read it later"
        return _no(of_name[name], message, hint)
    place = min(one.loop_span for one in excused if one.loop_span is not None)
    message = "they depend on each other, and may or may not run in order"
    return _no(directives[place], message, "without the clauses that say so, the answer is no")
