"""What a new text must not have, whatever its regions compute.

A compiler accepts it as far as it accepts OLD, and its OpenMP directives, and its loops around nothing end:
such a loop has no statement that a proof would be about, and one that does not end, or leaves the range of
its iterator, is not what OLD does.

What operations leave beside their values, flags and `errno`, and what they depend on: rounding.

Where a file changes or reads one of these, two programs with the same values need not do the same: the laws
of `laws.py` are about numbers that are rounded to the nearest one, and a call that nothing uses may set
`errno`.  Programs that do the same operations in another order leave the same flags.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.c.loops import loop_iterator
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk, walk_inside
from loopwright.c.tokens import names_in, without_comments
from loopwright.c.typed.file import typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import preprocess
from loopwright.c.typed.refusals import refused_by_compiler, refused_directive
from loopwright.c.types import Integer, holds
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import AssumptionKind, Program, Standing
from loopwright.presburger.points import smallest_point, values_text
from loopwright.prove.equivalence.answer import REASSOCIATION, Equivalence
from loopwright.prove.reading.c_expressions import words_of
from loopwright.prove.reading.integer_types import type_at
from loopwright.prove.verdict import REORDERED, rounding
from loopwright.read.c.purity import CHARACTERS, CLASSES, LIBRARY
from loopwright.source import Source

_WORKS = ("expression_statement", "declaration", "return_statement", "goto_statement")
_BOUND = r"(?:[A-Za-z_]\w*(?: - \d{1,9})?|\d{1,9})"
_UP, _DOWN = (
    re.compile(rf"(\w+) {sign}=? {_BOUND} (?:\1 {step}{step}|{step}{step} \1|\1 {step}= 1)")
    for sign, step in (("<", r"\+"), (">", "-"))
)
"""Condition and step, their tokens apart by spaces."""
_ASSERTIONS = ("_Static_assert", "static_assert")
_TOKEN = re.compile(r"\w+|\+\+|--|[-+<>=!]=|\S")


@dataclass(frozen=True)
class Compiled:
    """A text, and how it is compiled."""

    source: Source
    options: CompilerOptions

    @property
    def keeps_more_digits(self) -> bool:
        """Whether results are not rounded to their types before they are assigned (C11, 5.2.4.2.2)."""
        return preprocess(self.source, self.options).number("__FLT_EVAL_METHOD__") in (1, 2)

    @property
    def errors(self) -> list[tuple[str, int]]:
        """The errors of the front end in the file itself, not in headers, with their lines."""
        return typed_file(self.source, self.options).own_errors

    @property
    def preprocessor_errors(self) -> Counter[str]:
        """What the compiler's preprocessor does not accept, without places."""
        found = typed_file(self.source, self.options).text.errors
        return Counter(one.partition("error:")[2].strip() or one for one in found)


def not_compiled(old: Compiled, new: Compiled) -> str | None:
    """Why the functions of two texts are none, whatever their regions are; None where nothing is known.

    A snippet, whose region is in no function, is not held to that.
    """
    for one in (old, new):
        refused = refused_by_compiler(one.source, one.options)
        lines = _needed_lines(one.source) if refused else frozenset()
        first = next((error for error in refused if error.line in lines), None)
        if first is not None:
            return f"{one.source.path} does not compile: {first}"
    return None


def _needed_lines(source: Source) -> frozenset[int]:
    """The lines of functions with regions, of what the file declares of names in them, and of its demands."""
    regions = [one.place for one in c_file(source).regions]
    pending = [*named_children(c_file(replace(source, chosen=())).possible)]
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
    """The names that a declaration of a file may declare."""
    if node.type == "function_definition":
        return set(identifiers(field(node, "declarator"))[:1])
    return {part.text for part in walk(node) if part.type in ("identifier", "type_identifier")}


def unacceptable(old: Compiled, new: Compiled) -> str | None:
    """What makes the regions of `new` no answer to those of `old`; None where there is nothing."""
    errors = further_errors(old, new)
    if errors is not None:
        return errors
    endless = _endless(new.source)
    if endless is not None:
        return f"line {endless.span.line}: it is not known that this loop around nothing ends"
    shift = None if _shifts(old.source) else next(iter(_shifts(new.source)), None)
    if shift is not None:
        return f"line {shift.span.line}: {shift.text} is not defined below 0, and OLD shifts nothing"
    refused = refused_directive(new.source, new.options)
    return None if refused is None else f"no compiler need accept an OpenMP directive of NEW: {refused}"


def further_errors(old: Compiled, new: Compiled) -> str | None:
    """What the front end does not accept of `new`, beyond what it does not accept of `old`."""
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
    """Names that NEW alone uses, and nothing declares.

    Where OLD is a part of a file that leaves names undeclared, NEW may do so with its own iterators.
    """
    known = typed_file(old.source, old.options).undeclared
    further = typed_file(new.source, new.options).undeclared - known
    if further and known:
        further -= {loop_iterator(loop) or "" for loop in c_file(new.source).tree.of_type("for_statement")}
    return sorted(further)


def _endless(source: Source) -> Node | None:
    """The first loop without a statement in it that does not count to a bound in steps of 1."""
    file = c_file(source)
    for region in file.regions:
        for node in file.block(region.place).of_type("for_statement"):
            if not _works(node) and not _counts(node):
                return node
    return None


def _shifts(source: Source) -> list[Node]:
    """Shifts to the left, in regions, of integers that are not data and may be below 0.

    Those of data are operations of a statement, for which OLD has to have the same.
    """
    file = c_file(source)
    return [
        node
        for region in file.regions
        if "<<" in region.place.text
        for node in file.block(region.place).of_type("binary_expression")
        if operator(node) == "<<" and not _is_harmless_shift(field(node, "left"))
    ]


def _is_harmless_shift(left: Node) -> bool:
    """Whether what is shifted is data, or a sum of numbers and iterators that count up from a number."""
    parts = list(walk(left))
    if any(one.type in ("subscript_expression", "call_expression", "pointer_expression") for one in parts):
        return True
    if any(one.type == "unary_expression" for one in parts):
        return False
    if any(one.type == "binary_expression" and operator(one) not in ("+", "*") for one in parts):
        return False
    return all(_counts_up_from_number(one) for one in parts if one.type == "identifier")


def _counts_up_from_number(name: Node) -> bool:
    node = name.parent
    while node is not None:
        if node.type == "for_statement" and loop_iterator(node) == name.text:
            first, update = node.child_by_field_name("initializer"), node.child_by_field_name("update")
            starts = first is not None and re.search(r"= *\d+ *;?$", first.text) is not None
            return starts and update is not None and "-" not in update.text
        node = node.parent
    return False


def _works(loop: Node) -> bool:
    body = field(loop, "body")
    return any(part.type in _WORKS and part.named_children for part in walk_inside(body, body.span))


def _counts(loop: Node) -> bool:
    parts = [loop.child_by_field_name(name) for name in ("condition", "update")]
    words = " ".join(" ".join(_TOKEN.findall(one.text)) for one in parts if one is not None)
    inner = {loop_iterator(one) for one in field(loop, "body").of_type("for_statement")}
    return not inner & set(words.split()) and any(form.fullmatch(words) for form in (_UP, _DOWN))


def further_assumption(old: Program, new: Program) -> str | None:
    """What the new region assumes of sizes for which the old one assumes nothing, or less."""
    known = old.promised
    for one in new.assumptions:
        if one.holds_for is not None and not known.is_subset(one.holds_for):
            return f"NEW computes the same only where {one.text}"
    return None


def missing_assumption(old: Program, new: Program) -> str | None:
    """Sizes for which an unsigned number wraps around in the old region, and nothing does in the new one."""
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
    """A loop of the new region that counts to a size in a type of fewer values than all of the old one have.

    `old` has its assumptions tried: where nothing is left to assume of the arithmetic, it is wide enough.
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
                return f"NEW counts to '{side.text}' in a type that ends at {kind.greatest}, and OLD does not"
    return None


def without_elements(old: Program, new: Program, allocated: frozenset[str]) -> str | None:
    """An array that the new region declares with a length that may be below 1, which C leaves undefined."""
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
_QUIET = {"fabs", "floor", "ceil", "round", "trunc", "fmin", "fmax", "copysign", "rint", "nearbyint"}
_SETTING = LIBRARY - CHARACTERS - CLASSES - {name + end for name in _QUIET for end in ("", "f", "l")}
"""Functions of the library that may set `errno`."""


def contract_of(old: Sequence[Program], answers: Sequence[Equivalence]) -> str:
    """What is promised of floating-point numbers, where there are some."""
    if not any(one.rounds for one in old):
        return ""
    if any(REASSOCIATION in one.trusted for one in answers):
        return REORDERED
    return rounding(old[0].compiled.loose(old[0].source))


def seen_besides_values(
    texts: Sequence[Compiled], answers: Sequence[Equivalence], *, rounds: bool
) -> str | None:
    """Why programs with the same values need not do the same; None where nothing is known to see more."""
    rounds = rounds and any(one.way == "by values" for one in answers)
    if rounds and any(one.keeps_more_digits for one in texts):
        return "NEW has other operations, and as it is built, their results have more digits than their types"
    visible = [_INCLUDED.sub("", without_comments(one.source.text, literals=False)) for one in texts]
    sought = {name for name in (*_ROUNDING, "errno") if any(name in text for text in visible)}
    names = sought.intersection(name for text in visible for name in names_in(text)) if sought else sought
    used = sorted(_ROUNDING & names)
    if used and rounds:
        return f"NEW has other operations, and '{used[0]}' is about how numbers are rounded, or their flags"
    if "errno" not in names:
        return None
    regions = [region.place.text for one in texts for region in c_file(one.source).regions]
    calls = sorted(_SETTING.intersection(name for text in regions for name in names_in(text)))
    return f"'{calls[0]}' may set errno, which is used" if calls else None
