"""The OpenMP directives at the loops of a file, obeyed: the plans they make of its regions, and the proof."""

from __future__ import annotations

from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.c.openmp import SHARING
from loopwright.c.selection.choice import BY_PRAGMAS
from loopwright.c.selection.directed import DirectedFile, directed
from loopwright.c.typed.directives import refused_directive, surrounding_directive
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.spelling import with_numbers
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Assumption, AssumptionKind
from loopwright.progress import Progress, silent
from loopwright.read.c.reader import load_c, read_source
from loopwright.rewrite.evidence import Evidence, of_legality, of_model, on_trust
from loopwright.rewrite.iterators_after import refuse_late_iterators
from loopwright.rewrite.request import RegionReport, Request, RewriteOptions
from loopwright.rewrite.sharing import asks_for_sums, refuse_sharing
from loopwright.source import Source, Span
from loopwright.transform.openmp.nests import directed_plan
from loopwright.transform.plan import Plan


@dataclass(frozen=True)
class DirectedPlans:
    """The plan of each region after its directives; `shared`: some loop is parallel."""

    plans: tuple[Plan, ...]
    file: DirectedFile

    @property
    def shared(self) -> bool:
        return any(one.name in SHARING for one, _ in self.file.directives)


def directed_plans(request: Request) -> DirectedPlans:
    """The regions of a file, with their directives obeyed."""
    found = directed(load_c(request.file), request.reading.choice)
    programs = read_source(found.source, replace(request.reading, choice=BY_PRAGMAS))
    plans = tuple(directed_plan(Plan.of(program), found) for program in programs)
    written = replace(load_c(request.file), chosen=found.source.chosen)
    surrounding = surrounding_directive(written, request.reading.compiled)
    if surrounding is not None:
        message = f"these loops stand in the statement of another directive: {surrounding}"
        hint = "'parallel for' at the loop, or 'for' at a loop in 'parallel', divides its iterations"
        raise BadInput(Code.DIRECTIVE, message, span=plans[0].written.region, hint=hint)
    refuse_directives_of(with_numbers(written, request.reading.compiled), request.reading.compiled)
    return DirectedPlans(plans, found)


def is_openmp(one: Assumption) -> bool:
    """Whether it is about a directive that is left out."""
    words = [] if one.place is None else one.place.text.lstrip("# \t").split()
    return one.kind is AssumptionKind.PRAGMA and words[:2] == ["pragma", "omp"]


def refuse_directives_of(source: Source, compiled: CompilerOptions) -> None:
    """Raise where a compiler does not accept an OpenMP directive in a region: it has no meaning then."""
    refused = refused_directive(source, compiled)
    if refused is not None:
        message = f"a compiler does not accept a directive: {refused}"
        raise BadInput(Code.DIRECTIVE, message, span=Span.start_of(source.path))


@dataclass(frozen=True)
class DirectivesProved:
    """Every directive of the regions is legal for all sizes: what was proved, and what it rests on."""

    directives: int
    regions: tuple[RegionReport, ...]

    @property
    def obligations(self) -> int:
        return sum(proof.obligations for region in self.regions for proof in region.proofs)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for region in self.regions for text in region.assumptions))


def prove_directives(request: Request, progress: Progress = silent) -> DirectivesProved:
    """That the directives keep what the loops compute; raises, with a witness, where they do not."""
    progress(f"reading {request.file}")
    found = directed_plans(request)
    refuse_late_iterators(c_file(found.file.source))
    if asks_for_sums(found.file):
        request = replace(request, allow_reassociation=True)
    reports = [_proved(plan, found.file, request, progress) for plan in found.plans]
    return DirectivesProved(len(found.file.directives), tuple(reports))


def _proved(plan: Plan, file: DirectedFile, options: RewriteOptions, progress: Progress) -> RegionReport:
    evidence: Evidence = on_trust(plan.written) + of_model(plan.written, options, progress)
    legal, verdict = of_legality(plan, options, progress, lanes=False)
    refuse_sharing(file, plan.written.region, verdict)
    evidence += legal
    line = plan.written.region.line
    return RegionReport(line, (), (), evidence.proofs, evidence.trusted)
