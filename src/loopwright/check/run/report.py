"""The answer of a check, as text and as data."""

from __future__ import annotations

from enum import Enum
from typing import Any, assert_never

from loopwright.c.tokens import bracketed
from loopwright.check.original.specification import Specification, Stated
from loopwright.check.program.sites import Site
from loopwright.check.run.findings import ErrorClass, Finding, StatementInstance
from loopwright.errors import Code, Diagnostic
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.points import values_text
from loopwright.source import Edit, Source, Span


class Answer(Enum):
    """How a check ended, with its exit status."""

    VALID = 0
    VIOLATION = 1
    GAVE_UP = 3
    CRASHED = 4


@dataclass(frozen=True)
class Report:
    """The verdict for one problem size."""

    answer: Answer
    spec: Specification
    sites: tuple[Site, ...]
    source: Source
    algorithm: str
    because: str
    """The reason for this algorithm."""
    operations: int | None
    findings: tuple[Finding, ...] = ()
    violations: int = 0
    ending: str = ""
    """How the checked program ended, if abnormally."""
    notes: tuple[str, ...] = ()
    around: str = ""
    """Why the answer covers only the segment: what differs around it, or why that was not compared."""
    by_values: bool = False
    """Valid by the terms that the whole function computes, not by the operations of its segment."""

    def __repr__(self) -> str:
        return f"<Report {self.source.path}: {self.answer.name}, {self.violations} violations>"

    @property
    def exit_code(self) -> int:
        return self.answer.value


def as_text(report: Report) -> str:
    """Return the report as text: the first finding in full, one line for each other."""
    sizes = values_text(dict(report.spec.sizes))
    lines: list[str] = []
    for finding in report.findings:
        lines += _finding_lines(report, finding)
    if report.violations > len(report.findings):
        lines.append(f"{report.violations} violations in all")
    if report.ending:
        lines.append(f"{report.source.path}: the checked program {report.ending}")
    lines.append(_verdict(report, sizes))
    lines.append(f"algorithm: {report.algorithm}, because {report.because}")
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines) + "\n"


def _verdict(report: Report, sizes: str) -> str:
    """The answer in a line, which notes if it covers only the segment."""
    kept, around = "a reordering of the original that keeps its dependences", report.around
    match report.answer:
        case Answer.VALID if report.by_values:
            verdict = "valid: all variables get the values of the original, by the same operations on data"
        case Answer.VALID if around:
            verdict = f"the segment is valid: {kept}; the code around it was not compared: {around}"
        case Answer.VALID:
            verdict = f"valid: {kept}"
        case Answer.VIOLATION:
            verdict = "not valid"
        case Answer.GAVE_UP if around:
            verdict = f"could not decide: the segment is {kept}, but the code around it differs: {around}"
        case Answer.GAVE_UP:
            verdict = "could not decide"
        case Answer.CRASHED if report.findings:
            verdict = "not valid, and the run did not end"
        case Answer.CRASHED:
            verdict = "the run did not end, so there is no verdict"
        case _:
            assert_never(report.answer)
    counted = "" if report.operations is None else f"; {report.operations} operations"
    return f"{report.source.path}: {verdict} (size {sizes or 'fixed'}{counted})"


def as_data(report: Report) -> dict[str, Any]:
    """Return the report as JSON data."""
    return {
        "file": report.source.path,
        "verdict": report.answer.name.lower().replace("_", " "),
        "exit": report.exit_code,
        "sizes": dict(report.spec.sizes),
        "algorithm": report.algorithm,
        "because": report.because,
        "operations": report.operations,
        "violations": report.violations,
        "ending": report.ending or None,
        "around": report.around or None,
        "notes": list(report.notes),
        "findings": [_finding_data(report, finding) for finding in report.findings],
    }


_UNANSWERED = {
    Answer.VALID: Code.UNDECIDED,
    Answer.VIOLATION: Code.NOT_EQUIVALENT,
    Answer.GAVE_UP: Code.UNDECIDED,
    Answer.CRASHED: Code.CRASHED,
}


def as_diagnostics(report: Report) -> tuple[Diagnostic, ...]:
    """Return the errors, each at its operation; none for a valid program."""
    if report.answer is Answer.VALID:
        return ()
    sizes = values_text(dict(report.spec.sizes))
    found = [_diagnostic(report, finding, sizes) for finding in report.findings]
    if not found:
        said = [*([f"the checked program {report.ending}"] if report.ending else []), *report.notes]
        said += [f"the code around the segment differs: {report.around}"] if report.around else []
        message = "; ".join(said) or f"{report.violations} violations"
        place = Span.start_of(report.source.path)
        found.append(Diagnostic(_UNANSWERED[report.answer], message, span=place, witness=sizes or None))
    return tuple(found)


def _diagnostic(report: Report, finding: Finding, sizes: str) -> Diagnostic:
    message = f"{finding.kind.value}: {explanation(report, finding)}"
    if finding.site is None:
        place = Span.start_of(report.source.path)
        return Diagnostic(Code.NOT_EQUIVALENT, message, span=place, witness=sizes or None)
    site = report.sites[finding.site]
    shown = f"operation {finding.operation}: {operation_text(report.source, site, finding.seen)}"
    witness = f"{sizes}: {shown}" if sizes else shown
    return Diagnostic(Code.NOT_EQUIVALENT, message, span=site.assignment.node.span, witness=witness)


def instance_text(spec: Specification, instance: StatementInstance | None) -> str:
    """`S1[0, 2, 1]`, by the statement's tag where it has one; None is the value before the segment."""
    if instance is None:
        return "nothing"
    name = statement_name(spec, spec.statements[instance.statement])
    return f"{name}[{', '.join(map(str, instance.iteration))}]"


def statement_name(spec: Specification, statement: Stated) -> str:
    for tag in spec.program.tags:
        if tag.statements == (statement.name,) and tag.depth == statement.depth:
            return tag.name
    return statement.name


def cell_text(array: str, subscripts: tuple[int, ...]) -> str:
    return array + bracketed(subscripts)


def operation_text(source: Source, site: Site, seen: tuple[int, ...]) -> str:
    """The assignment with the subscripts it had: `A[2][2] = A[1][2] + A[2][1]`."""
    cells = [site.write, *(cell for cell in site.reads if cell.node != site.write.node)]
    offsets: list[Edit] = []
    position = 0
    for cell in (site.write, *site.reads):
        count = len(cell.subscripts)
        name = cell.node.text.split("[")[0].strip("(* ")
        shown = cell_text(name, seen[position : position + count])
        position += count
        if any(cell is one for one in cells):
            offsets.append((cell.node.start, cell.node.end, shown))
    node = site.assignment.node
    pieces: list[str] = []
    at = node.start
    for start, end, shown in sorted(offsets):
        if start >= at:
            pieces += [source.text[at:start], shown]
            at = end
    pieces.append(source.text[at : node.end])
    return " ".join("".join(pieces).split())


def read_cell(site: Site, finding: Finding) -> str:
    """The cell of the read a finding is about, as it was observed."""
    assert finding.read is not None
    position = len(site.write.subscripts)
    for cell in site.reads[: finding.read]:
        position += len(cell.subscripts)
    cell = site.reads[finding.read]
    return cell_text(cell.array, finding.seen[position : position + len(cell.subscripts)])


def explanation(report: Report, finding: Finding) -> str:
    """Return a sentence that describes the error."""
    spec = report.spec
    site = None if finding.site is None else report.sites[finding.site]
    match, found, wanted = (
        instance_text(spec, one) for one in (finding.match, finding.found, finding.wanted)
    )
    match finding.kind:
        case ErrorClass.TOO_SOON if finding.read is not None and site is not None:
            cell = read_cell(site, finding)
            last = "which nothing has written yet" if finding.found is None else f"last written by {found}"
            return f"{match} runs too soon: it reads {cell}, {last}; expected {wanted} to have written it"
        case ErrorClass.OVERWRITTEN if site is not None:
            cell = read_cell(site, finding)
            value = f"the value of {wanted}" if finding.wanted is not None else "the value from before"
            return f"{match} reads {cell} after {found} overwrote it too soon; expected {value}"
        case ErrorClass.TOO_SOON:
            return f"{match} runs too soon: expected {wanted} to write the cell first"
        case ErrorClass.DUPLICATE:
            return f"{match} runs a second time; " + (
                f"expected {wanted}" if finding.wanted is not None else "nothing is left to write the cell"
            )
        case ErrorClass.MISSING:
            array = spec.statements[finding.match.statement].write.array if finding.match else "?"
            cell = cell_text(array, finding.cell or ())
            return f"{match} never ran: {cell} was last written by {found}"
        case ErrorClass.WRONG_READ if site is not None and finding.read is not None:
            cell = cell_text(site.reads[finding.read].array, finding.cell or ())
            return f"{match} reads {read_cell(site, finding)}; expected {cell}"
        case ErrorClass.WRONG_WRITE if site is not None:
            expected = cell_text(site.write.array, finding.cell or ())
            return f"{match} writes {_written(site, finding)}; expected {expected}"
        case ErrorClass.OUTSIDE if site is not None:
            return f"it writes {_written(site, finding)}, which the original does not touch"
        case _:
            expected = f"; expected {wanted} to write the cell next" if finding.wanted is not None else ""
            return f"it is not an instance of any statement of the original{expected}"


def _written(site: Site, finding: Finding) -> str:
    return cell_text(site.write.array, finding.seen[: len(site.write.subscripts)])


def _finding_lines(report: Report, finding: Finding) -> list[str]:
    source = report.source
    if finding.site is None:
        return [f"{source.path}: {finding.kind.value}: {explanation(report, finding)}"]
    site = report.sites[finding.site]
    where = site.assignment.node.span.place
    depth = f", call depth {finding.depth}" if finding.depth > 0 else ""
    return [
        f"{where}: {finding.kind.value}: {explanation(report, finding)}",
        f"    operation {finding.operation}{depth}: {operation_text(source, site, finding.seen)}",
    ]


def _finding_data(report: Report, finding: Finding) -> dict[str, Any]:
    spec = report.spec
    data: dict[str, Any] = {
        "class": finding.kind.value,
        "message": explanation(report, finding),
        "operation": finding.operation,
        "depth": finding.depth,
        "instance": None if finding.match is None else instance_text(spec, finding.match),
        "observed": None if finding.found is None else instance_text(spec, finding.found),
        "expected": None if finding.wanted is None else instance_text(spec, finding.wanted),
        "line": None,
        "column": None,
        "text": None,
    }
    if finding.site is not None:
        site = report.sites[finding.site]
        span = site.assignment.node.span
        text = operation_text(report.source, site, finding.seen)
        data |= {"line": span.line, "column": span.column, "text": text}
    return data
