"""Reasons to reject a new source, whatever its regions compute.

The compiler must accept it as far as it accepts OLD, and accept its OpenMP directives.  Its loops with empty
bodies, or with assignments to dead variables, must terminate: no statement of such a loop occurs in a proof,
and a loop that does not terminate, or overflows its iterator, is not what OLD does.

It also covers the side effects of operations (floating-point flags and `errno`) and the rounding mode, on
which they depend.  If a file changes or reads one of these, two programs with equal values can behave
differently: the laws of `laws.py` assume rounding to nearest, and a call whose result is unused may set
`errno`.  Programs that execute the same operations in another order leave the same flags.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace

from loopwright.c.expression_types import DeclaredTypes, integer_type
from loopwright.c.file import CFile, c_file, whole_file
from loopwright.c.loops import loop_iterator
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk
from loopwright.c.tokens import names_in, without_comments
from loopwright.c.typed.file import typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import preprocess
from loopwright.c.typed.refusals import refused_by_compiler, refused_directive
from loopwright.c.types import Floating, Integer, holds, is_unsigned, promoted
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import AssumptionKind, Program, Standing
from loopwright.presburger.points import smallest_point, values_text
from loopwright.prove.comparison.endings import not_known_to_end
from loopwright.prove.equivalence.answer import REASSOCIATION, Equivalence
from loopwright.prove.equivalence.combinations import COMPARABLE
from loopwright.prove.legality.reductions import element_types
from loopwright.prove.reading.c_expressions import words_of
from loopwright.prove.reading.integer_types import type_at
from loopwright.prove.text.annotations import promises, prove_annotations
from loopwright.prove.text.guards import Established, shown_by
from loopwright.prove.text.index_arithmetic import refuse_shown, within_types
from loopwright.prove.verdict import REORDERED, Proved, Refuted, Undecided, rounding
from loopwright.read.c.purity import SETTING_ERRNO
from loopwright.source import Source

_ASSERTIONS = ("_Static_assert", "static_assert")


@dataclass(frozen=True)
class Compiled:
    """A source and the options it is compiled with."""

    source: Source
    options: CompilerOptions

    @property
    def keeps_more_digits(self) -> bool:
        """Whether intermediate results have excess precision, C11, 5.2.4.2.2 (FLT_EVAL_METHOD is 1 or 2)."""
        return preprocess(self.source, self.options).number("__FLT_EVAL_METHOD__") in (1, 2)

    @property
    def errors(self) -> list[tuple[str, int]]:
        """The errors of the front end in the file itself, not in headers, with their lines."""
        return typed_file(self.source, self.options).own_errors

    @property
    def preprocessor_errors(self) -> Counter[str]:
        """The preprocessor's errors, without their positions."""
        found = typed_file(self.source, self.options).text.errors
        return Counter(one.partition("error:")[2].strip() or one for one in found)


def not_compiled(old: Compiled, new: Compiled) -> str | None:
    """Returns the reason why one of the two sources does not compile, or None if no reason is known.

    Only the lines that the regions need count; a snippet, whose region is in no function, need not compile.
    """
    for one in (old, new):
        refused = refused_by_compiler(one.source, one.options)
        lines = _needed_lines(one.source) if refused else frozenset()
        first = next((error for error in refused if error.line in lines), None)
        if first is not None:
            return f"{one.source.path} does not compile: {first}"
    return None


def _needed_lines(source: Source) -> frozenset[int]:
    """Lines of functions with regions, the declarations they use, directives and static assertions."""
    regions = [one.place for one in c_file(source).regions]
    pending = [*named_children(whole_file(source).possible)]
    others: list[Node] = []
    needed: list[Node] = []
    while pending:
        node = pending.pop()
        if node.text.startswith(_ASSERTIONS):
            needed.append(node)
        elif node.type.startswith("preproc_") or node.type == "linkage_specification":
            pending += named_children(node)
        elif node.type == "function_definition" and any(node.span.contains(one) for one in regions):
            needed.append(node)
        else:
            others.append(node)
    for node in needed:
        words = set(names_in(node.text))
        needed += [one for one in others if not words.isdisjoint(_declared_names(one))]
        others = [one for one in others if words.isdisjoint(_declared_names(one))]
    spans = [*(node.span for node in needed), *(one.place for one in c_file(source).directives)]
    places = [(one.line, source.line_of(one.end)) for one in spans]
    return frozenset(line for first, last in places for line in range(first, last + 1))


def _declared_names(node: Node) -> set[str]:
    """The names that a top-level declaration may declare."""
    if node.type == "function_definition":
        return set(identifiers(field(node, "declarator"))[:1])
    return {part.text for part in walk(node) if part.type in ("identifier", "type_identifier")}


def unacceptable(old: Compiled, new: Compiled) -> str | None:
    """Returns why the regions of `new` cannot replace those of `old`, or None."""
    errors = further_errors(old, new)
    if errors is not None:
        return errors
    endless = not_known_to_end(new.source)
    if endless is not None:
        return endless
    shift = None if _shifts(old.source) else next(iter(_shifts(new.source)), None)
    if shift is not None:
        return f"line {shift.span.line}: {shift.text} is undefined for numbers below 0, and OLD has no shift"
    refused = refused_directive(new.source, new.options)
    return None if refused is None else f"no compiler need accept an OpenMP directive of NEW: {refused}"


def further_errors(old: Compiled, new: Compiled) -> str | None:
    """Returns an error that the front end reports for `new` and not for `old`, or None."""
    errors = new.errors
    further = Counter(text for text, _ in errors) - Counter(text for text, _ in old.errors)
    if further:
        text, line = next(one for one in errors if one[0] in further)
        return f"no compiler accepts NEW: line {line}: {text}"
    malformed = new.preprocessor_errors - old.preprocessor_errors
    if malformed:
        return f"no compiler accepts NEW: {next(iter(malformed))}"
    unknown = _undeclared(old, new)
    return f"no compiler accepts NEW: '{unknown[0]}' is declared nowhere" if unknown else None


def _undeclared(old: Compiled, new: Compiled) -> list[str]:
    """Names that only NEW uses and nothing declares.

    If OLD is a fragment that leaves names undeclared, NEW may leave its own iterators undeclared too.
    """
    known = typed_file(old.source, old.options).undeclared
    further = typed_file(new.source, new.options).undeclared - known
    if further and known:
        further -= {loop_iterator(loop) or "" for loop in c_file(new.source).tree.of_type("for_statement")}
    return sorted(further)


def _shifts(source: Source) -> list[Node]:
    """Left shifts, in regions, of integers that are not data and may be negative.

    Shifts of data are operations of a statement; OLD must have the same ones.
    """
    file = c_file(source)
    return [
        node
        for region in file.regions
        if "<<" in region.place.text
        for node in file.block(region.place).of_type("binary_expression")
        if operator(node) == "<<" and not _is_harmless_shift(field(node, "left"), file)
    ]


def _is_harmless_shift(left: Node, file: CFile) -> bool:
    """Whether the left operand is data, unsigned, or made of literals and iterators that count up from a
    literal."""
    if is_unsigned(promoted(integer_type(left, DeclaredTypes(file.declarations, file.macros, left.span)))):
        return True
    parts = list(walk(left))
    if any(one.type in ("subscript_expression", "call_expression", "pointer_expression") for one in parts):
        return True
    if any(one.type == "unary_expression" or one.text.startswith("-") for one in parts):
        return False
    if any(one.type == "binary_expression" and operator(one) not in ("+", "*") for one in parts):
        return False
    return all(_counts_up_from_number(one) for one in parts if one.type == "identifier")


def _counts_up_from_number(name: Node) -> bool:
    for node in name.around():
        if node.type == "for_statement" and loop_iterator(node) == name.text:
            first, update = node.child_by_field_name("initializer"), node.child_by_field_name("update")
            starts = first is not None and re.search(r"= *\d+ *;?$", first.text) is not None
            return starts and update is not None and "-" not in update.text
    return False


def further_assumption(old: Program, new: Program) -> str | None:
    """Returns an assumption on sizes that the new region makes and the old one does not imply."""
    known = old.promised
    for one in new.assumptions:
        if one.holds_for is not None and not known.is_subset(one.holds_for):
            return f"NEW computes the same only where {one.text}"
    return None


def missing_assumption(old: Program, new: Program) -> str | None:
    """Returns sizes at which an unsigned number wraps around in the old region but not in the new one."""
    for one in old.assumptions:
        if one.holds_for is None or one.standing is not Standing.ASSUMED:
            continue
        wrong = new.promised.intersect(old.facts).subtract(one.holds_for)
        if one.kind is AssumptionKind.ARITHMETIC and not wrong.is_empty():
            point = smallest_point(wrong)
            values = "" if point is None else values_text(point.parameters)
            return f"OLD computes the same only where {one.text}, and NEW does not ask for it: {values}"
    return None


def narrower_iterator(old: Program, new: Program) -> str | None:
    """Returns a loop of the new region that counts to a size in a narrower type than the old one has.

    The assumptions of `old` have already been tried: if no arithmetic assumption is left, its types are wide
    enough.
    """
    kinds = new.file.kinds(new.region)
    if not any(one.kind is AssumptionKind.ARITHMETIC for one in old.trusted):
        return None
    types = [kinds.written_type(text, certain=True) for one in old.statements for text in one.iterator_types]
    least = min((kind.greatest for kind in types if isinstance(kind, Integer)), default=0)
    counted = {
        name: kinds.written_type(text, certain=True)
        for one in new.statements
        for name, text in zip(one.iterators, one.iterator_types, strict=False)
    }
    for loop in new.syntax.of_type("for_statement"):
        name, test = loop_iterator(loop), loop.child_by_field_name("condition")
        kind = counted.get(name or "")
        if test is None or not isinstance(kind, Integer) or kind.greatest >= least:
            continue
        parts = [part for part in walk(test) if part.type == "binary_expression"]
        for side in (field(part, one) for part in parts for one in ("left", "right")):
            bound = type_at(side, words_of(new), side.span)
            if isinstance(bound, Integer) and not holds(kind, bound) and not side.mentions(name or ""):
                return f"NEW counts to '{side.text}' in a type of at most {kind.greatest}, and OLD does not"
    return None


def without_elements(old: Program, new: Program, allocated: frozenset[str]) -> str | None:
    """Returns an array that the new region declares with a length that may be below 1: undefined in C."""
    facts = old.facts
    for array in old.arrays:
        facts = facts.intersect(array.inside.params()) if array.local and array.inside is not None else facts
    for array in new.arrays:
        inside = array.inside if array.local and array.name not in allocated else None
        if inside is not None and not facts.is_subset(inside.params()):
            return f"NEW declares '{array.name}' with no element for some sizes"
    used = {array.name for array in new.arrays} | allocated
    for one in new.file.declarations.variables:
        if new.region.contains(one.place) and one.name not in used and not all(map(str.isdigit, one.extents)):
            return f"NEW declares '{one.name}', whose length is not known, and does not use it"
    return None


_ROUNDING = frozenset(
    (
        *("fesetround", "fegetround", "fesetenv", "fegetenv", "feholdexcept", "feupdateenv", "feraiseexcept"),
        *("fetestexcept", "feclearexcept", "fegetexceptflag", "fesetexceptflag", "feenableexcept"),
        *("FENV_ACCESS", "FENV_ROUND", "_mm_setcsr", "_mm_getcsr", "__builtin_ia32_ldmxcsr", "_FPU_SETCW"),
        *("_MM_SET_ROUNDING_MODE", "_MM_SET_FLUSH_ZERO_MODE", "_MM_SET_DENORMALS_ZERO_MODE"),
    )
)
_INCLUDED = re.compile(r"(?m)^[ \t]*#[ \t]*include\b[^\n]*")


def unstated(before: Program, after: Program, allocated: frozenset[str]) -> str | None:
    """Returns what the new source requires and the old one does not."""
    return (
        further_assumption(before, after)
        or missing_assumption(before, after)
        or narrower_iterator(before, after)
        or without_elements(before, after, allocated)
    )


OUTSIDE = "code outside the functions of these regions is not compared"
_OF_CELLS = (AssumptionKind.ROWS, AssumptionKind.BOUNDS, AssumptionKind.ALIASING)


def with_settled(
    old: Program, new: Program, guard: Established | None, *, from_text: bool
) -> tuple[Program, Program]:
    """Both programs, with the assumptions marked that are proved or tested by a guard."""
    facts = old.facts if guard is None else old.context.intersect(guard.parameters)
    old = replace(old, assumptions=within_types(old, new, facts))
    refuse_shown(new)
    theirs = new.assumptions if guard is None else shown_by(new, new.assumptions, guard)
    # If the loops of the source are not analysed on their own, its cells are those of the old file.
    theirs = tuple(one for one in theirs if not from_text or one.kind not in _OF_CELLS)
    settled = {(one.kind, one.text) for one in old.assumptions if one.standing is not Standing.ASSUMED}
    arithmetic = {pair for pair in settled if pair[0] is AssumptionKind.ARITHMETIC}
    left = tuple(one for one in theirs if (one.kind, one.text) not in arithmetic)
    return old, replace(new, assumptions=left)


def without_rows_of_inputs(
    old: tuple[Program, ...], new: tuple[Program, ...]
) -> tuple[tuple[Program, ...], tuple[Program, ...]]:
    """Both files' programs without what is assumed of rows of arrays that none of them writes.

    The rows may reach into each other: the same cell is the same element, and nothing is lost there.
    """
    written = {one.array for program in (*old, *new) for each in program.statements for one in each.writes}
    return tuple(_of_written(one, written) for one in old), tuple(_of_written(one, written) for one in new)


def _of_written(program: Program, written: Container[str]) -> Program:
    """The program without assumptions about rows, except of written arrays."""
    reads = [one for statement in program.statements for one in statement.reads]
    inputs = {one.place for one in reads if one.array not in written}
    kept = (one for one in program.assumptions if one.kind != AssumptionKind.ROWS or one.place not in inputs)
    return replace(program, assumptions=tuple(kept))


def comparable(new: Program) -> tuple[str, ...]:
    """What is assumed of floating-point numbers of which a clause keeps the largest or smallest."""
    names = [name for one in promises(new) for kind, name in one.reductions if kind in ("min", "max")]
    kinds = element_types(new) if names else {}
    return (COMPARABLE,) if any(isinstance(kinds.get(one), Floating) for one in names) else ()


def contract_of(old: Sequence[Program], answers: Sequence[Equivalence]) -> str:
    """Returns the contract for floating-point results, or "" if the programs compute none."""
    if not any(one.rounds for one in old):
        return ""
    if any(REASSOCIATION in one.trusted for one in answers):
        return REORDERED
    return rounding(old[0].compiled.loose(old[0].source))


def seen_besides_values(
    texts: Sequence[Compiled], answers: Sequence[Equivalence], *, rounds: bool
) -> str | None:
    """Returns why programs with equal values may still behave differently, or None if unknown."""
    rounds = rounds and any(one.way.startswith("by values") for one in answers)
    if rounds and any(one.keeps_more_digits for one in texts):
        return "NEW has other operations, and with these options results have more digits than their types"
    visible = [_INCLUDED.sub("", without_comments(one.source.text, literals=False)) for one in texts]
    sought = {name for name in (*_ROUNDING, "errno") if any(name in text for text in visible)}
    names = sought.intersection(name for text in visible for name in names_in(text)) if sought else sought
    used = sorted(_ROUNDING & names)
    if used and rounds:
        return f"NEW has other operations, and '{used[0]}' concerns the rounding mode or its flags"
    if "errno" not in names:
        return None
    regions = [region.place.text for one in texts for region in c_file(one.source).regions]
    calls = sorted(SETTING_ERRNO.intersection(name for text in regions for name in names_in(text)))
    return f"'{calls[0]}' may set errno, which is used" if calls else None


def unkept(old: Sequence[Program]) -> str | None:
    """Returns what is not proved about the pragmas of the originals, which may change what their loops do."""
    found = next((said for one in old if (said := _not_known(one)) is not None), None)
    return None if found is None else f"what the pragmas of {old[0].source.path} say is not proved: {found}"


def _not_known(program: Program) -> str | None:
    """Returns what is not proved about the pragmas of an original.

    An orphaned `omp for` divides its loop among the threads of its caller.
    """
    dropped = (one.text for one in program.trusted if one.kind is AssumptionKind.PRAGMA)
    divided = next((text for text in dropped if re.search(r"#pragma\s+omp\s+(?:for|sections)\b", text)), None)
    if divided is not None:
        return divided
    if next(promises(program), None) is None:
        return None
    match prove_annotations(program, allow_reassociation=True):
        case Proved():
            return None
        case Undecided(reason):
            return reason
        case Refuted(message=message):
            return message


def trusted_by(old: Sequence[Program], new: Sequence[Program], answers: list[Equivalence]) -> tuple[str, ...]:
    """The assumptions of the answers; an assumption that is phrased in several ways is listed once."""
    proved = {promise.pragma.place for program in new for promise in promises(program)}
    said = [entry.text for program in old for entry in program.trusted]
    said += [entry.text for program in new for entry in program.trusted if entry.place not in proved]
    said += [text for answer in answers for text in answer.trusted]
    once = {tuple(sorted(re.findall(r"\w+", text))): text for text in reversed(said)}
    return (*(text for text in dict.fromkeys(said) if text in once.values()), OUTSIDE)
