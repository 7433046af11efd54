"""Evaluates C expressions whose variables are known.

Also: what is known at the start of a region, and the inputs that satisfy it; constants of headers, such as
INT_MAX and M_PI, which a source without its headers takes for variables.
"""

from __future__ import annotations

import operator as numbers
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import field as field_of
from dataclasses import replace
from functools import lru_cache

from loopwright.c.declarations import known_constant
from loopwright.c.file import CFile
from loopwright.c.macros import constant_macro, integer_text
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk
from loopwright.c.syntax import without_parentheses as core_of
from loopwright.c.tokens import ASSIGNING, names_in, on_one_line, spelled
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import preprocess
from loopwright.c.types import Floating, Integer, divided
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.read.c.purity import CLASSES, CLASSIFYING
from loopwright.source import Source, Span

EXACT: Mapping[str, Callable[[float, float], float]] = {
    "+": numbers.add,
    "-": numbers.sub,
    "*": numbers.mul,
    "<": numbers.lt,
    "<=": numbers.le,
    ">": numbers.gt,
    ">=": numbers.ge,
    "==": numbers.eq,
    "!=": numbers.ne,
}


@dataclass(frozen=True)
class KnownNumbers:
    """What is known at a position of a file.  A name that is not in `values` may have any value."""

    file: CFile
    place: Span
    values: dict[str, float | None]
    fixed: frozenset[str]
    """Macros and constants, which no input sets."""
    cells: Mapping[tuple[str, tuple[int, ...]], float] = field_of(default_factory=dict)
    """The values of array elements."""

    def value(self, node: Node) -> float | None:
        """The value of an expression, if known."""
        core = core_of(node)
        found: float | None = None
        match core.type:
            case "number_literal":
                found = literal_number(core.text)
            case "identifier":
                return self.named(core.text)
            case "unary_expression":
                inner, sign = self.value(field(core, "argument")), operator(core)
                if inner is None or sign not in ("-", "!", "+"):
                    return None
                found = int(not inner) if sign == "!" else -inner if sign == "-" else inner
            case "conditional_expression":
                test = self.value(field(core, "condition"))
                branch = None if test is None else "consequence" if test else "alternative"
                found = None if branch is None else self.value(field(core, branch))
            case "binary_expression":
                return self._binary(core)
            case "subscript_expression":
                place = self.place_of(core)
                return None if place is None else self.cells.get(place)
        return None if found is not None and found < 0 and self._may_wrap(core) else found

    def named(self, name: str) -> float | None:
        if name in self.values:
            return self.values[name]
        found = constant_macro(self.file.macros, name)
        return known_constant(self.file.declarations, name) if found is None else found

    def can_be(self, test: Node, *, is_true: bool) -> bool:
        """Whether inputs can give a condition this outcome: what is not known may be anything."""
        core = core_of(test)
        value = self.value(core)
        if value is not None:
            return bool(value) == is_true
        if core.type == "unary_expression" and operator(core) == "!":
            return self.can_be(field(core, "argument"), is_true=not is_true)
        if core.type == "binary_expression" and operator(core) in ("&&", "||"):
            sides = (self.can_be(field(core, one), is_true=is_true) for one in ("left", "right"))
            return all(sides) if is_true == (operator(core) == "&&") else any(sides)
        return not any(name in self.values or name in self.fixed for name in identifiers(core))

    def place_of(self, node: Node) -> tuple[str, tuple[int, ...]] | None:
        """The cell that an array access denotes, if its subscripts are known."""
        subscripts: list[int] = []
        while node.type == "subscript_expression":
            at = self.value(field(node, "index"))
            if not isinstance(at, int):
                return None
            subscripts.insert(0, at)
            node = core_of(field(node, "argument"))
        return node.text, tuple(subscripts)

    def _binary(self, node: Node) -> float | None:
        sign, left = operator(node), self.value(field(node, "left"))
        if sign in ("&&", "||") and left is not None and bool(left) == (sign == "||"):
            return int(sign == "||")
        right = self.value(field(node, "right"))
        if sign in ("&&", "||") and right is not None and bool(right) == (sign == "||"):
            return int(sign == "||")
        if left is None or right is None:
            return None
        if sign in ("&&", "||"):
            return int(bool(right))
        if min(left, right) < 0 and self._may_wrap(node):
            return None
        if sign in EXACT:
            found = _fitting(EXACT[sign](left, right))
            return None if found is not None and found < 0 and self._may_wrap(node) else found
        if sign not in ("/", "%") or not right or not (isinstance(left, int) and isinstance(right, int)):
            return left / right if sign == "/" and right else None
        return divided(sign, left, right)

    def _may_wrap(self, node: Node) -> bool:
        """Whether an expression may be unsigned, and so never negative."""
        parts = [one for one in walk(node) if one.type in ("number_literal", "identifier")]
        return any(not self._is_signed(one) for one in parts)

    def _is_signed(self, node: Node) -> bool:
        if node.type == "number_literal":
            return not {*"uU"} & {*node.text.lower().removeprefix("0x")} and not node.text.startswith("0x")
        declared = self.file.declarations.visible(node.text, self.place)
        if declared is None:
            body = constant_macro(self.file.macros, node.text)
            return body is not None and not any(
                "u" in one.body.lower() for one in self.file.macros if one.name == node.text
            )
        kind = self.file.kinds(self.place).written_type(declared.type, certain=True)
        return isinstance(kind, Floating) or (isinstance(kind, Integer) and kind.signed)


def _fitting(value: float) -> float | None:
    """A result, if it fits into an int or is a double; otherwise None."""
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, float) or abs(value) <= LARGEST else None


Inputs = Mapping[tuple[str, tuple[int, ...]], float]
"""Initial values of the cells that make a difference."""


@dataclass(frozen=True)
class AssumedCondition:
    """A condition on inputs, its outcome where the region is reached, and what is known there."""

    test: Node
    is_true: bool
    known: KnownNumbers

    def holds(self, given: Inputs) -> bool:
        """Whether inputs give the condition its outcome: cells not in `given` may have any value."""
        scalars = {name: value for (name, subscripts), value in given.items() if not subscripts}
        known = replace(self.known, values={**self.known.values, **scalars}, cells=given)
        value = known.value(self.test)
        if value is not None:
            return bool(value) == self.is_true
        return not _reads(self.test, known, given)


@dataclass(frozen=True)
class LoadedValue:
    """A variable, the load or call that gave it its value before the region, and what is known there."""

    name: str
    value: Node
    known: KnownNumbers

    @property
    def cell(self) -> tuple[str, tuple[int, ...]] | None:
        """The cell whose value it is; None if that is not known."""
        is_load = self.value.type in ("subscript_expression", "identifier")
        return self.known.place_of(self.value) if is_load else None

    def holds(self, given: Inputs, functions: Container[str]) -> bool:
        """Whether inputs give the variable the value that it was set to, where they give both.

        `functions`: those that the region calls too.
        """
        held = given.get((self.name, ()))
        if held is None:
            return True
        if self.value.type == "call_expression" and field(self.value, "function").text in functions:
            return False
        scalars = {name: value for (name, subscripts), value in given.items() if not subscripts}
        known = replace(self.known, values={**self.known.values, **scalars}, cells=given)
        value = known.value(self.value)
        return not _reads(self.value, known, given) if value is None else value == held


@dataclass(frozen=True)
class Beginning:
    """What is known at the start of a region; a name mapped to `None` is computed but not known."""

    values: Mapping[str, float | None]
    set_cells: frozenset[str]
    """Arrays of which single cells were set."""
    assumed: tuple[AssumedCondition, ...] = ()
    """Conditions under which the region is reached."""
    loaded: tuple[LoadedValue, ...] = ()
    """Variables that hold what a load or a call before the region gave."""

    def keeps_out(self, given: Inputs, functions: Container[str] = ()) -> str | None:
        """Returns why it is not known that the region is reached with these inputs.

        `functions`: those that the region calls.
        """
        test = next((one.test.text for one in self.assumed if not one.holds(given)), None)
        if test is not None:
            return f"'{on_one_line(test)}' before the region may exclude that"
        load = next((one for one in self.loaded if not one.holds(given, functions)), None)
        if load is None:
            return None
        return f"'{load.name} = {on_one_line(load.value.text)}' before the region may set another value"

    def doubt(self, names: set[str]) -> str | None:
        """Returns why a run that treats these variables as inputs shows nothing."""
        unknown = sorted(name for name in names if self.values.get(name, 0) is None or name in self.set_cells)
        return f"the value of '{unknown[0]}' before the region was not determined" if unknown else None


def _reads(node: Node, known: KnownNumbers, given: Inputs) -> bool:
    """Whether an expression may read one of these cells; a pointer itself is none."""
    arrays = {name for name, subscripts in given if subscripts}
    scalars = {name for name, subscripts in given if not subscripts}
    for part in walk(node):
        match part.type:
            case "identifier" if part.text in scalars:
                return True
            case "subscript_expression":
                place = known.place_of(part)
                if place in given or (place is None and not arrays.isdisjoint(identifiers(part))):
                    return True
            case "pointer_expression" | "field_expression" if not arrays.isdisjoint(identifiers(part)):
                return True
    return False


LARGEST = 2**31 - 1
_DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?")


def literal_number(text: str) -> float | None:
    """The int or double value of a literal."""
    return float(text) if _DECIMAL.fullmatch(text) else integer_text(text)


@lru_cache(maxsize=8)
def macros_of_headers(headers: tuple[str, ...], options: CompilerOptions) -> frozenset[str]:
    """The macros that these headers define, and those of the compiler itself."""
    return frozenset(preprocess(Source("", "".join(f"#include {one}\n" for one in headers)), options).changes)


@lru_cache(maxsize=32)
def macro_of_headers(headers: tuple[str, ...], name: str, options: CompilerOptions) -> float | None:
    """The double or int value of a macro of these headers; None if it is something else."""
    if name not in macros_of_headers(headers, options):
        return None
    text = "".join(f"#include {one}\n" for one in headers)
    found = preprocess(Source("", f"{text}{name}\n"), options).text.split("\n")
    last = next((line.strip() for line in reversed(found) if line.strip()), "")
    while last.startswith("(") and last.endswith(")"):
        last = last[1:-1].strip()
    number = literal_number(re.sub(r"\(double\)\s*(\S+)L", r"\1", last))
    return None if isinstance(number, int) and abs(number) > LARGEST else number


def standard_headers(file: CFile) -> tuple[str, ...]:
    """The headers `<..>` that a file includes."""
    given = (one.argument.strip() for one in file.directives if one.name == "include")
    return tuple(one for one in given if one.startswith("<"))


def open_names(program: Program) -> tuple[str, ...]:
    """The names of a region that are read as variables or sizes, and are not declared in the file."""
    names = {*program.params, *(one.name for one in program.arrays if one.rank == 0 and not one.local)}
    own = {macro.name for macro in program.file.macros}
    declared = program.file.declarations
    return tuple(one for one in sorted(names - own) if declared.visible(one, program.region) is None)


def other_class(program: Program) -> str | None:
    """A classification in a region, such as `isnan`, that an option or a header defines as something else."""
    used = CLASSES.intersection(names_in(program.region.text)) - {one.name for one in program.file.macros}
    if not used:
        return None
    options, headers = program.compiled.for_file(program.source.path), standard_headers(program.file)
    theirs = preprocess(Source("", "".join(f"#include {one}\n" for one in headers)), options).changes
    mine = preprocess(program.source, program.compiled).changes
    for name in sorted(used):
        lines = {line for _, line in mine.get(name, ())}
        is_known = all(any(map(CLASSIFYING.fullmatch, names_in(line))) for line in lines)
        if not is_known or not lines <= {line for _, line in theirs.get(name, ())}:
            return name
    return None


@lru_cache(maxsize=8)
def macros_of_file(source: Source, options: CompilerOptions) -> frozenset[str]:
    """The macros of a file and its headers."""
    return frozenset(preprocess(source, options).changes)


ENDING = frozenset(
    ("exit", "_exit", "_Exit", "quick_exit", "abort", "longjmp", "siglongjmp", "pthread_exit", "thrd_exit")
) | {"__builtin_unreachable", "__builtin_trap", "__builtin_abort", "__builtin_exit", "__assert_fail"}
"""Library functions that do not return."""
_RETURNING = frozenset(("printf", "fprintf", "puts", "putchar", "fputs", "fflush", "perror", "free", "srand"))
_CHANGING = ASSIGNING | ENDING | {"&", "return", "goto", "break", "continue"}


@lru_cache(maxsize=8)
def changing_macros(source: Source, options: CompilerOptions) -> frozenset[str]:
    """The macros of a file and its headers that may assign to something, take an address, or leave a block.

    `assert` is excluded: its meaning is known.
    """
    changes = preprocess(source, options).changes.items()
    bodies = {name: {word for _, text in lines for word in spelled(text)} for name, lines in changes}
    bodies.pop("assert", None)
    found: frozenset[str] = frozenset()
    known = _CHANGING
    while new := frozenset(name for name, words in bodies.items() if not words.isdisjoint(known)) - found:
        found, known = found | new, new
    return found


def may_not_return(node: Node, file: CFile) -> bool:
    """Whether an `if` without `else` ends with a call to a function of another file: `if (c) die();`."""
    body = core_of(field(node, "consequence"))
    inside = named_children(body)
    last = inside[-1] if body.type == "compound_statement" and inside else body
    call = last.named_children[0] if last.type == "expression_statement" and last.named_children else last
    if node.child_by_field_name("alternative") is not None or call.type != "call_expression":
        return False
    known = {one.name for one in file.functions} | _RETURNING
    return field(call, "function").text not in known
