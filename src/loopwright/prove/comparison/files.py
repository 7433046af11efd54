"""Compares two files: C files region by region, OpenScop files by their dependences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from loopwright.c.file import c_file
from loopwright.c.reworded.flat_loops import SIZES
from loopwright.c.reworded.macros_written_out import with_statements_written_out
from loopwright.c.selection.choice import BY_PRAGMAS, Choice
from loopwright.c.selection.chosen import chosen
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.refusals import compiler_errors, is_compiled
from loopwright.c.typed.spelling import plainly_spelled, with_branches_taken
from loopwright.errors import BadInput, Code, Diagnostic, GaveUp, Illegal
from loopwright.progress import Progress, silent
from loopwright.prove.comparison.acceptable import Compiled, further_errors, not_compiled
from loopwright.prove.comparison.defined_sizes import as_defined, never_run
from loopwright.prove.comparison.excluded_sizes import excluding
from loopwright.prove.comparison.flat_subscripts import with_flat_subscripts
from loopwright.prove.comparison.meanings import type_of_a_region
from loopwright.prove.comparison.regions import (
    changed_functions,
    changed_parts,
    counterparts,
    has_marks,
    is_too_long,
    with_results,
)
from loopwright.prove.comparison.rows_of_inputs import with_rows_of_inputs
from loopwright.prove.comparison.texts import PLAINLY, Comparison, ComparisonOptions, compared_texts
from loopwright.prove.comparison.values_in_types import overflow_at
from loopwright.prove.equivalence.answer import Agreement, Equivalence
from loopwright.prove.legality.explain import refusal
from loopwright.prove.legality.rescheduling import prove_rescheduled
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.find import resolved
from loopwright.read.c.paired_wordings import in_lanes, pairs_of_wordings, with_small_sizes
from loopwright.read.c.reader import load_unmarked, parse_c
from loopwright.read.c.rephrased import as_written
from loopwright.read.mlir.parsing import is_mlir, read_mlir
from loopwright.read.openscop import read_openscop
from loopwright.source import Source, Span

IN_OTHER_WORDS = "read with plain loops, and with calls replaced by their effects, as the rules of C allow"

FUSED = (
    "its fused products and sums are rounded once, a product and a sum twice"
    " (--allow-contraction takes one for the other)"
)
CONTRACTED = "equal up to contraction: fused products and sums are taken for products and sums"
IN_STEP = "arrays begin at multiples of the size of vectors that are loaded and stored at aligned addresses"
LANE_BY_LANE = "vectors are read lane by lane, by the functions of the compiler's own header"


def agreement(
    old_file: str, new_file: str, options: ComparisonOptions = PLAINLY, progress: Progress = silent
) -> Agreement:
    """Proves that two files of C, OpenScop or MLIR compute the same; raises an error otherwise."""
    if is_mlir(old_file) or is_mlir(new_file):
        return _same_functions(old_file, new_file, progress, allow_reassociation=options.allow_reassociation)
    described = [name.endswith(".scop") for name in (old_file, new_file)]
    if any(described) and not all(described):
        raise BadInput(
            Code.ORDERS,
            "one file is OpenScop and the other is not",
            span=Span.start_of(new_file),
            hint="`loopwright extract --scop` writes what a C file means as OpenScop",
        )
    if all(described):
        return _same_dependences(old_file, new_file, progress)
    found = compare_files(old_file, new_file, options, progress)
    match found.verdict:
        case Proved(obligations):
            ways, texts = zip(*((one.way, one.texts) for one in found.answers), strict=True)
            return Agreement(obligations, ways, found.trusted, texts, found.contract, found.only_for)
        case Refuted(message=message, witness=witness) as refuted:
            hint = excluding(refuted, found.place.source, load_unmarked(old_file), options)
            text, notes = f"not equivalent: {message}", found.notes
            raise Illegal.of(Diagnostic(Code.NOT_EQUIVALENT, text, found.place, hint, witness, others=notes))
        case Undecided(reason):
            raise GaveUp(Code.UNDECIDED, f"could not decide: {reason}", span=found.place)


def _same_functions(
    old_file: str, new_file: str, progress: Progress, *, allow_reassociation: bool
) -> Agreement:
    """Compares the functions of two MLIR files."""
    if not (is_mlir(old_file) and is_mlir(new_file)):
        raise BadInput(
            Code.ORDERS,
            "one file is MLIR and the other is not",
            span=Span.start_of(new_file),
            hint="`loopwright extract --mlir` writes a region of a C file as MLIR",
        )
    progress("reading")
    old, new = read_mlir(old_file), read_mlir(new_file)
    from loopwright.prove.mlir.comparison import same_functions  # needs xdsl

    return same_functions(old, new, allow_reassociation=allow_reassociation, progress=progress)


def _same_dependences(old_file: str, new_file: str, progress: Progress) -> Agreement:
    """Checks that the second of two schedules of one program preserves the dependences of the first."""
    progress("reading")
    old, new = read_openscop(old_file), read_openscop(new_file)
    progress("comparing the orders")
    verdict = prove_rescheduled(old, new)
    failure = refusal(verdict)
    if failure is None:
        trusted = tuple(entry.text for entry in old.trusted)
        return Agreement(verdict.obligations, ("by its dependences",), trusted)
    if isinstance(failure, GaveUp):
        raise failure
    place = Span.start_of(new_file)
    raise Illegal.of(replace(failure.diagnostic, code=Code.NOT_EQUIVALENT, span=place))


def compare_files(
    old_file: str | Path,
    new_file: str | Path,
    options: ComparisonOptions = PLAINLY,
    progress: Progress = silent,
) -> Comparison:
    """Compares the memory as the regions of the old and the new file leave it.

    If they allocate storage, the variants with and without the allocation are both compared.
    """
    progress("reading")
    compilers = (options.of_old.compiled, options.reading.compiled)
    written = load_unmarked(old_file), load_unmarked(new_file)
    before, source = map(plainly_spelled, written, compilers)
    before, old_branches = with_branches_taken(before, compilers[0])
    source, new_branches = with_branches_taken(source, compilers[1])
    again = partial(_compared_lanes, before, source, progress=progress)
    files = Compiled(written[0], compilers[0]), Compiled(written[1], compilers[1])
    found = as_defined(again(options), files, options, again)
    found = with_rows_of_inputs(found, before, options, again)
    answers = tuple(_with_words(one, *written) for one in found.answers)
    told = dict.fromkeys(map(str, (*old_branches, *new_branches)))
    return replace(found, answers=answers, trusted=(*found.trusted, *told))


def _with_words(answer: Equivalence, old: Source, new: Source) -> Equivalence:
    """The answer, with a flag that says whether its sources were reworded before the comparison."""
    texts = answer.texts
    if texts is None:
        return answer
    is_same = (texts.original.source.text, texts.new.source.text) == (old.text, new.text)
    return replace(answer, texts=replace(texts, reworded=not is_same))


def _compared_lanes(
    before: Source, source: Source, options: ComparisonOptions, progress: Progress
) -> Comparison:
    """Compares two sources after replacing vectors by lanes, if they can be written that way."""
    compilers = (options.of_old.compiled, options.reading.compiled)
    contracted = options.allow_contraction
    old, new = (
        in_lanes(text, compiled, contracted=contracted)
        for text, compiled in zip((before, source), compilers, strict=True)
    )
    reason = next((f"{one.source.path}: vectors: {one.reason}" for one in (old, new) if one.reason), "")
    try:
        found = _compared_files(old.source, new.source, options, progress)
    except BadInput as failure:
        if reason:
            place = old.place or new.place
            raise GaveUp(Code.UNDECIDED, f"could not decide: {reason}", span=place) from failure
        span = failure.diagnostic.span
        there = None if span is None else as_written(span, (before, source))
        raise BadInput.of(replace(failure.diagnostic, span=there)) from failure
    if new.is_fused and not old.is_fused and not contracted:
        reason = f"{source.path}: {FUSED}"
    if reason and isinstance(found.verdict, Undecided):
        last = replace(found.answers[-1], verdict=Undecided(f"{reason}; {found.verdict.reason}"))
        return replace(found, answers=(*found.answers[:-1], last))
    changed = [one.path for one, other in ((before, old), (source, new)) if one != other.source]
    if not changed:
        return found
    found = replace(found, place=as_written(found.place, (before, source)))
    vectors = [one.source.path for one in (old, new) if one.has_vectors and one.source.path in changed]
    told = tuple(f"{path}: {LANE_BY_LANE}" for path in vectors)
    told += tuple(f"{one.source.path}: {IN_STEP}" for one in (old, new) if one.needs_aligned)
    for text, compiled in zip((before, source), compilers, strict=True):
        if not isinstance(found.verdict, Undecided) and not is_compiled(text, compiled):
            said = next((f": {one}" for one in compiler_errors(text, compiled)), "")
            undecided = Undecided(f"{text.path} does not compile{said}")
            return replace(found, answers=(replace(found.answers[0], verdict=undecided),))
    if contracted and (old.is_fused or new.is_fused):
        found = replace(found, contract=CONTRACTED)
    return replace(found, trusted=(*found.trusted, *told))


def _compared_files(
    before: Source, source: Source, options: ComparisonOptions, progress: Progress
) -> Comparison:
    choice = options.reading.choice
    is_marked = has_marks(before) or has_marks(source)
    if choice.is_empty and not has_marks(before):
        choice = changed_functions(before, source)
    if is_marked or choice.loops or len(choice.functions) < 2:
        return _compared_choice(before, source, choice, options, progress)
    found, failures = list[Comparison](), list[BadInput]()
    for name in choice.functions:
        try:
            found.append(_compared_choice(before, source, Choice((name,)), options, progress))
        except BadInput as failure:
            failures.append(failure)
    wrong = next((one for one in found if isinstance(one.verdict, Refuted)), None)
    if wrong is None and failures:
        raise failures[0]
    undecided = next((one for one in found if isinstance(one.verdict, Undecided)), None)
    return wrong or undecided or _together(found)


def _together(found: Sequence[Comparison]) -> Comparison:
    """Joins the proofs of several functions."""
    return replace(
        found[-1],
        answers=tuple(answer for one in found for answer in one.answers),
        trusted=tuple(dict.fromkeys(text for one in found for text in one.trusted)),
        contract=next((one.contract for one in found if one.contract), ""),
    )


def _compared_choice(
    before: Source, source: Source, choice: Choice, options: ComparisonOptions, progress: Progress
) -> Comparison:
    """Compares the chosen regions; if no pragmas mark regions, also everything that differs."""
    wider: list[tuple[Source, Source]] = []
    if choice.functions and not choice.loops:
        both = (before, source), with_results(before, source, choice.functions)
        parts = (
            changed_parts(*one, choice.functions, from_start=way)
            for way in (False, True)
            for one in dict.fromkeys(both)
        )
        wider = [one for one in parts if one is not None]
    before = resolved(before, replace(options.reading, choice=choice))
    source = source if choice.is_empty else chosen(source, choice)
    options = replace(options, reading=replace(options.reading, choice=BY_PRAGMAS))
    source = counterparts([one.place for one in c_file(before).regions], source)
    undecided: list[Comparison] = []
    compilers = (options.of_old.compiled, options.reading.compiled)
    for texts in dict.fromkeys((*wider, (before, source))):
        old, new = map(with_statements_written_out, texts, compilers)
        try:
            found = _or_refuted(old, new, options, progress)
        except BadInput:
            if texts == (before, source) and not undecided:
                raise
            continue
        found = replace(found, place=as_written(found.place, (before, source)))
        if not isinstance(found.verdict, Undecided):
            return found
        undecided.append(found)
    return _most_telling(undecided)


def _or_refuted(before: Source, source: Source, options: ComparisonOptions, progress: Progress) -> Comparison:
    """Compares variants of two sources until one gives an answer; if none does and the sources multiply
    sizes, looks for a refutation at small sizes."""
    failure: BadInput | None = None
    try:
        found = _compared_wordings(before, source, options, progress)
    except BadInput as error:
        failure, found = error, None
    if found is None or isinstance(found.verdict, Undecided):
        compilers = (options.of_old.compiled, options.reading.compiled)
        for small in with_small_sizes((before, source), compilers, options.reading.assume):
            try:
                tried = _compared_wordings(*small.texts, options, progress)
            except BadInput:
                continue
            verdict = tried.verdict
            if isinstance(verdict, Proved):
                break
            if isinstance(verdict, Refuted):
                witness = f"{small.told}{', ' if verdict.parameters else ': '}{verdict.witness}"
                told = replace(verdict, witness=witness, parameters={**small.numbers, **verdict.parameters})
                return replace(tried, answers=(*tried.answers[:-1], replace(tried.answers[-1], verdict=told)))
    if failure is not None:
        raise failure
    assert found is not None
    return found


def _most_telling(undecided: Sequence[Comparison]) -> Comparison:
    """Returns the first comparison that read all statements, otherwise the first one."""
    read = (one for one in undecided if isinstance(one.verdict, Undecided) and not one.verdict.unread)
    return next(read, undecided[0])


def _compared_wordings(
    before: Source, source: Source, options: ComparisonOptions, progress: Progress
) -> Comparison:
    """Compares variants of two sources until one gives an answer, or returns why none does."""
    compilers = (options.of_old.compiled, options.reading.compiled)
    undecided, failures = list[Comparison](), list[BadInput]()
    for pair in pairs_of_wordings(before, source, *compilers):
        texts = pair.texts
        try:
            found = compared_texts(*texts, source, options, progress)
            if found.proved and pair.flat is not None:
                found = with_flat_subscripts(found, pair.flat, options)
        except BadInput as failure:
            failures.append(failure)
            continue
        found = replace(found, place=as_written(found.place, (before, source)))
        changed = [one.path for one, other in zip(texts, (before, source), strict=True) if one != other]
        reworded = (f"{', '.join(changed)}: {IN_OTHER_WORDS}",) if changed else ()
        found = replace(found, trusted=(*found.trusted, *reworded, *pair.trusted))
        if texts[0] != before:
            found = _unless_it_overflows(found, before, options)
        is_race = isinstance(found.verdict, Refuted) and found.verdict.obligation == "parallel"
        if is_race and not pair.races_count:
            continue
        if found.proved and SIZES in pair.trusted:
            found = _unless_sizes_are_negative(found, (texts, (before, source)), options)
        if not isinstance(found.verdict, Undecided):
            return _if_compiled(found, before, source, compilers)
        undecided.append(found)
        if is_too_long(texts[1]):
            break
    if undecided:
        files = (Compiled(text, compiler) for text, compiler in zip((before, source), compilers, strict=True))
        return _told_first(_most_telling(undecided), not_compiled(*files))
    first = failures[0].diagnostic
    place = None if first.span is None else as_written(first.span, (before, source))
    raise BadInput.of(replace(first, span=place)) from failures[0].__cause__


def _told_first(found: Comparison, error: str | None) -> Comparison:
    """An undecided comparison, with the compiler's error before all other reasons."""
    last = found.answers[-1]
    if error is None or not isinstance(last.verdict, Undecided):
        return found
    verdict = replace(last.verdict, reason=f"{error}; {last.verdict.reason}")
    return replace(found, answers=(*found.answers[:-1], replace(last, verdict=verdict)))


def _unless(reason: str | None, found: Comparison) -> Comparison:
    """Withdraws an answer for a reason, if there is one."""
    if reason is None:
        return found
    return replace(found, answers=(replace(found.answers[0], verdict=Undecided(reason)),))


def _unless_sizes_are_negative(
    found: Comparison, wordings: Sequence[tuple[Source, Source]], options: ComparisonOptions
) -> Comparison:
    """Withdraws an answer that relies on nonnegative sizes if tests in a file rule them out."""
    reason = next((why for texts in wordings if (why := never_run(texts, options)) is not None), None)
    return _unless(reason, found)


def _unless_it_overflows(found: Comparison, before: Source, options: ComparisonOptions) -> Comparison:
    """Withdraws a refutation at sizes for which the old source overflows as it is written."""
    verdict = found.verdict
    try:
        programs = parse_c(before, options.of_old) if isinstance(verdict, Refuted) else ()
    except BadInput:
        return found
    beyond = (overflow_at(one, verdict.parameters) for one in programs if isinstance(verdict, Refuted))
    reason = next((one for one in beyond if one is not None), None)
    return _unless(reason, found)


def _if_compiled(
    found: Comparison, before: Source, source: Source, compilers: tuple[CompilerOptions, CompilerOptions]
) -> Comparison:
    """Withdraws an answer unless both sources compile; others are neither equivalent nor different.

    Where a region defines what is something else elsewhere, texts that are alike differ in their meaning.
    """
    other = _read_otherwise(before, source)
    if other is not None:
        return _unless(other, found)
    old, new = Compiled(before, compilers[0]), Compiled(source, compilers[1])
    if found.proved:
        reason = not_compiled(old, new)
    elif is_compiled(source, compilers[1]) and is_compiled(before, compilers[0]):
        reason = None
    else:
        reason = not_compiled(old, new) or further_errors(old, new)
    return _unless(reason, found)


def _read_otherwise(before: Source, source: Source) -> str | None:
    """Returns what a region defines and other wordings of it leave out, or None."""
    for old, new in zip(c_file(before).regions, c_file(source).regions, strict=False):
        name = type_of_a_region(old.place, new.place)
        if name is not None:
            return f"a region defines '{name}', which is something else elsewhere"
    return None
