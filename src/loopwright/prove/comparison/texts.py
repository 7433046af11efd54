"""Compares two C sources by regions: along the loops of the new one, or by reading both in the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from loopwright.c.allocation import AllocatedArray, with_local_arrays
from loopwright.c.file import c_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import different_header
from loopwright.errors import BadInput, Code, Note
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import AssumptionKind, Program
from loopwright.progress import Progress
from loopwright.prove.comparison.acceptable import (
    OUTSIDE,
    Compiled,
    contract_of,
    seen_besides_values,
    trusted_by,
    unacceptable,
    unkept,
    unstated,
    with_settled,
    without_rows_of_inputs,
)
from loopwright.prove.comparison.expanded import expanded_texts, without_bounds
from loopwright.prove.comparison.outside import difference_around
from loopwright.prove.comparison.preprocessor import adds_only_harmless_text
from loopwright.prove.comparison.programs import prove_along
from loopwright.prove.comparison.regions import is_too_long, under_guards
from loopwright.prove.comparison.tested_blocks import prove_past_tests
from loopwright.prove.comparison.values_in_types import leaves_types
from loopwright.prove.equivalence.answer import Equivalence, OnlyFor
from loopwright.prove.text.guards import Established
from loopwright.prove.text.text_model import read_text
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.read.c.assume import is_assume
from loopwright.read.c.gate.gate import gated
from loopwright.read.c.gate.text import counts_signed, reads_as_written
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.c.purity import undefined_helpers
from loopwright.read.c.reader import parse_c, read_source
from loopwright.read.c.written_numbers import names_written_out, other_definitions, with_numbers
from loopwright.source import Source, Span


@dataclass(frozen=True)
class ComparisonOptions:
    """Options for reading and comparing two files."""

    reading: ReadOptions = AS_MARKED
    old_compiled: CompilerOptions | None = None
    """Compiler options of the old file, if they differ from those of the new one."""
    allow_reassociation: bool = False
    for_provers: int = 0
    """Regions of up to this many characters are also compared by instances, for other provers to confirm."""
    allow_contraction: bool = False
    """Whether fused multiply-adds of vectors are treated as separate products and sums."""
    inputs_in_rows: bool = False
    """Whether arrays that are only read are read in rows, which may reach into each other (a proof only)."""

    @property
    def of_old(self) -> ReadOptions:
        """How to read the old file."""
        rows = self.reading.rows or self.inputs_in_rows
        return replace(self.reading, compiled=self.old_compiled or self.reading.compiled, rows=rows)


PLAINLY = ComparisonOptions()
"""Regions are marked by pragmas, and nothing is assumed about them."""


@dataclass(frozen=True)
class Comparison:
    """The answers for the regions in order, up to the first that is not yes, and their assumptions."""

    answers: tuple[Equivalence, ...]
    trusted: tuple[str, ...]
    place: Span
    """The last region compared, in the new file."""
    contract: str = ""
    """The contract for floating-point results, or ""."""
    only_for: OnlyFor | None = None

    def __repr__(self) -> str:
        return f"<Comparison {self.place.file}: {self.verdict!r} {self.only_for or ''}".rstrip() + ">"

    @property
    def verdict(self) -> Verdict:
        """Proved if all regions are; otherwise the verdict on the first region that is not."""
        last = self.answers[-1].verdict
        if not isinstance(last, Proved):
            return last
        proved = (one.verdict for one in self.answers)
        return Proved(sum(one.obligations for one in proved if isinstance(one, Proved)))

    @property
    def proved(self) -> bool:
        return isinstance(self.verdict, Proved)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes that explain a negative answer, if there are any."""
        return self.answers[-1].notes

    def with_remark(self, remark: str) -> Comparison:
        """The same comparison, with a remark appended to the witness of a refutation."""
        *others, last = self.answers
        if not isinstance(last.verdict, Refuted):
            return self
        told = replace(last.verdict, witness=f"{last.verdict.witness}; {remark}")
        return replace(self, answers=(*others, replace(last, verdict=told)))


def compared_texts(
    before: Source, source: Source, written: Source, asked: ComparisonOptions, progress: Progress
) -> Comparison:
    """Compares two sources; `written` is the second one as it was before it was reworded."""
    compiled, options = asked.of_old.compiled, asked.reading.compiled
    old = read_source(before, asked.of_old)
    names = names_written_out(before, old)
    if names and (plain := with_numbers(before, names, compiled)) != before:
        again = compared_texts(plain, with_numbers(source, names, options), written, asked, progress)
        return replace(again, trusted=(*again.trusted, *other_definitions(before, names)))
    guarded = under_guards(before, source, old, asked.of_old)
    old, source, guards = guarded.old, guarded.new, guarded.guards
    asked = replace(asked, reading=replace(asked.reading, rows=guarded.in_rows or asked.inputs_in_rows))
    given, allocations = with_local_arrays(source, allocated=True)
    texts = [given, with_local_arrays(source, allocated=False)[0]] if allocations else [source]
    found: list[Comparison] = []
    own = [one for each in allocations.values() for one in each.arrays]
    names = frozenset(one.name for one in own)
    for text in texts:
        each = partial(_compared, old, text, asked, guards, names, progress)
        compared = partial(_text_first, old, text, asked, each)
        expanded = _expanded(before, old, text, asked, progress, own) if text is texts[0] else None
        is_proved = expanded is not None and expanded.proved
        along = expanded if is_proved else _followed(before, old, text, asked, progress)
        one = _in_some_way(along, compared, text, asked)
        found.append(one if expanded is None else _otherwise(partial(replace, one), expanded))
        if not found[-1].proved:
            wrong = _as_a_whole(found[-1], old, text, (compiled, options))
            return wrong if text is texts[0] else wrong.with_remark("where nothing can be allocated")
    answers = tuple(one for each in found for one in each.answers)
    first, second = Compiled(before, compiled), Compiled(source, options)
    reason = (
        unkept(old)
        or unacceptable(first, Compiled(written, options))
        or _different_around(old, before, texts[0], (compiled, options))
        or seen_besides_values((first, second), answers, rounds=any(one.rounds for one in old))
    )
    if reason is not None:
        return replace(found[0], answers=(replace(found[0].answers[0], verdict=Undecided(reason)),))
    helpers = undefined_helpers(c_file(source))
    return replace(
        found[0],
        answers=answers,
        trusted=tuple(dict.fromkeys((*helpers, *(text for one in found for text in one.trusted)))),
        contract=contract_of(old, answers),
    )


def _in_some_way(
    along: Comparison | None, compared: Callable[[], Comparison], text: Source, asked: ComparisonOptions
) -> Comparison:
    """Returns the answer along the loops, or another if that is undecided or provers should confirm it."""
    if along is None:
        return compared()
    is_undecided = isinstance(along.verdict, Undecided)
    if isinstance(along.verdict, Undecided) and is_too_long(text):
        return _undecided(along, along.verdict, "the text is too long for that")
    is_short = all(len(region.place.text) <= asked.for_provers for region in c_file(text).regions)
    return _otherwise(compared, along) if is_undecided or (along.proved and is_short) else along


def _expanded(
    before: Source,
    old: tuple[Program, ...],
    text: Source,
    asked: ComparisonOptions,
    progress: Progress,
    arrays: Sequence[AllocatedArray],
) -> Comparison | None:
    """Compares with the old source whose variables have a cell for each iteration; None if none have."""
    both = expanded_texts(old, text, arrays)
    if both is None:
        return None
    try:
        made = tuple(map(without_bounds, read_source(both.old, asked.of_old)))  # these are proved
    except BadInput:
        return None
    found = _followed(both.old, made, both.new, asked, progress)
    compilers = asked.of_old.compiled, asked.reading.compiled
    if found is None or _different_around(made, both.old, both.new, compilers):
        return None
    answer = found.answers[0]
    if isinstance(answer.verdict, Proved):
        answer = replace(answer, verdict=Proved(both.obligations + answer.verdict.obligations))
    trusted = dict.fromkeys((*(one.text for program in old for one in program.trusted), *found.trusted))
    return replace(found, answers=(answer,), trusted=tuple(trusted))


def _followed(
    before: Source, old: tuple[Program, ...], text: Source, asked: ComparisonOptions, progress: Progress
) -> Comparison | None:
    """Compares by following the loops of the new source.

    This uses no compiler, so the source must be valid C and mean what it appears to mean.
    """
    is_plain = adds_only_harmless_text(before, text)
    along = _along(old, text, progress, allow_reassociation=asked.allow_reassociation) if is_plain else None
    if along is None or not along.proved:
        return along
    compilers = asked.of_old.compiled, asked.reading.compiled
    if any(map(_may_wrap, old)) or not reads_as_written(old, text, *compilers):
        return None
    return along if is_too_long(text) or not leaves_types(text, asked.reading) else None


def _different_around(
    old: Sequence[Program], before: Source, text: Source, compilers: tuple[CompilerOptions, CompilerOptions]
) -> str | None:
    """Returns how the code around regions that agree differs, or None."""
    for program, region in zip(old, c_file(text).regions, strict=True):
        difference = difference_around(program.region, region.place, *compilers, agree=True)
        if difference is None and not adds_only_harmless_text(before, text):
            difference = "one file has directives that the other lacks"
        header = different_header(before, text, *compilers) if difference is None else None
        if header is not None:
            difference = f"the header {header} is not the same for both"
        if difference is not None:
            return f"the regions agree, but not what is around them: {difference}"
    return None


def _as_a_whole(
    found: Comparison,
    old: Sequence[Program],
    text: Source,
    compilers: tuple[CompilerOptions, CompilerOptions],
) -> Comparison:
    """Extends a refutation of regions to the functions around them.

    It becomes undecided if the code around the regions differs too, because that may do what they leave out,
    or if the pragmas of the old file are not proved, because it may then not do what its loops do.
    """
    verdict, regions = found.verdict, c_file(text).regions
    if not isinstance(verdict, Refuted) or len(old) != len(regions):
        return found
    pairs = zip(old, regions, strict=True)
    around = (difference_around(one.region, other.place, *compilers) for one, other in pairs)
    difference = next((said for said in around if said is not None), None)
    reason = unkept(old)
    if difference is None and reason is None:
        return found
    reason = reason or f"the regions differ, and so does what is around them: {difference}"
    reason += "; of the regions alone: "
    reason += f"{verdict.message}; {verdict.witness}"
    last = replace(found.answers[-1], verdict=Undecided(reason))
    return replace(found, answers=(*found.answers[:-1], last))


def _may_wrap(program: Program) -> bool:
    """Whether it is only assumed that no unsigned number wraps around: NEW must then be checked too."""
    left = (one for one in program.trusted if one.kind is AssumptionKind.ARITHMETIC)
    return any(one.holds_for is not None for one in left)


def _otherwise(compared: Callable[[], Comparison], along: Comparison) -> Comparison:
    """Returns a second answer if it is better: other provers can confirm it, or it decides.

    If the source cannot be read for the second way, the first answer is returned; if neither decides, both
    reasons are.
    """
    last = along.answers[-1]
    try:
        found = compared()
    except BadInput as failure:
        if not isinstance(last.verdict, Undecided) or last.verdict.sizes:
            return along
        place = failure.diagnostic.span
        spot = "" if place is None else f"line {place.line}: "
        return _undecided(along, last.verdict, f"{spot}{failure.diagnostic.message}")
    if isinstance(last.verdict, Undecided) and isinstance(found.verdict, Undecided):
        return _undecided(found, last.verdict, found.verdict.reason)
    return found if found.proved or not along.proved else along


def _undecided(found: Comparison, along: Undecided, other: str) -> Comparison:
    """An undecided comparison with the reasons of both ways."""
    own = along.reason if along.sizes else f"along its loops: {along.reason}"
    last = found.answers[-1].verdict
    unread = isinstance(last, Undecided) and last.unread
    verdict = Undecided(f"{own}; read by itself: {other}", along.sizes, unread=unread)
    return replace(found, answers=(*found.answers[:-1], replace(found.answers[-1], verdict=verdict)))


def _text_first(
    old: tuple[Program, ...],
    source: Source,
    asked: ComparisonOptions,
    compared: Callable[[tuple[Program, ...] | None], Comparison],
) -> Comparison:
    """Compares the regions as their text alone is read and, if that does not decide, as the C reader does.

    It finds the indices in rows of an array of one dimension, and says which statements it keeps whole.
    """
    signed = counts_signed(source, asked.reading.compiled)
    text = read_text(source, old, asked.reading.pure) if signed else None
    try:
        found = compared(text)
    except BadInput:
        if text is None:
            raise
        return compared(None)
    in_rows = any(array.rows for program in (*old, *(text or ())) for array in program.arrays)
    is_open = in_rows and isinstance(found.verdict, Undecided)
    return _otherwise(lambda: compared(None), found) if is_open else found


def _compared(
    old: tuple[Program, ...],
    source: Source,
    asked: ComparisonOptions,
    guards: Mapping[int, Established],
    allocated: frozenset[str],
    progress: Progress,
    text: tuple[Program, ...] | None,
) -> Comparison:
    """Compares the regions of a source in order, until one is not proved; `text` has them read already."""
    new = text or parse_c(source, asked.reading)
    new = gated(new, asked.reading, in_order=text is None)
    if asked.inputs_in_rows:
        old, new = without_rows_of_inputs(old, new)
    if len(old) != len(new):
        raise BadInput(
            Code.REGION,
            f"{old[0].source.path} has {len(old)} regions, {source.path} has {len(new)}",
            span=Span.start_of(source.path),
            hint="put as many '#pragma scop' regions into both, or choose one by --function NAME",
        )
    answers: list[Equivalence] = []
    place = Span.start_of(source.path)
    equivalent = partial(
        prove_past_tests,
        reading=asked.reading,
        allow_reassociation=asked.allow_reassociation,
        from_text=text is not None,
        progress=progress,
    )
    for one, other in zip(old, new, strict=True):
        answers.append(equivalent(one, other))
        place = _start(other.region)
        if not isinstance(answers[-1].verdict, Proved):
            break
    tried = [
        with_settled(one, other, guards.get(k), from_text=text is not None)
        for k, (one, other) in enumerate(zip(old, new, strict=True))
    ]
    trusted = trusted_by([one for one, _ in tried], [other for _, other in tried], answers)
    for k, (before, after) in enumerate(tried[: len(answers)]):
        further = unstated(before, after, allocated)
        if further is not None and isinstance(answers[k].verdict, Proved):
            answers = [*answers[:k], replace(answers[k], verdict=Undecided(further))]
            break
    return Comparison(tuple(answers), trusted, place)


def _along(
    old: Sequence[Program], source: Source, progress: Progress, *, allow_reassociation: bool
) -> Comparison | None:
    """Compares along the loops of the new file; returns None if a region has loops it cannot follow."""
    marked = c_file(source).regions
    if len(marked) != len(old) or any(is_assume(one) for each in marked for one in each.pragmas):
        return None
    regions = [one.place for one in marked]
    answers: list[Equivalence] = []
    for one, region in zip(old, regions, strict=True):
        answer = prove_along(one, region, allow_reassociation=allow_reassociation, progress=progress)
        if answer is None:
            return None
        answers.append(answer)
        if not isinstance(answer.verdict, Proved):
            break
    trusted = [entry.text for program in old for entry in program.trusted]
    trusted += [text for answer in answers for text in answer.trusted]
    place = _start(regions[len(answers) - 1])
    return Comparison(tuple(answers), (*dict.fromkeys(trusted), OUTSIDE), place)


def _start(region: Span) -> Span:
    """The position of the first token of a region."""
    return region.source.at(region.start + len(region.text) - len(region.text.lstrip()))
