"""Reads C expressions as terms, from the syntax of a statement.

Conversions are explicit, as C performs them, and macros of the file are expanded. An expression whose value
depends on anything unknown here is `Unreadable`; nothing is guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from ctypes import c_float
from dataclasses import field as field_of
from dataclasses import replace
from fractions import Fraction

from loopwright.c.declarations import known_constant
from loopwright.c.expression_types import COMPARISONS
from loopwright.c.macros import definitions, integer_text
from loopwright.c.references import is_subtracted, reference_of
from loopwright.c.syntax import Node, field, is_atomic, named_children, operator, without_parentheses
from loopwright.c.types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    LONG_DOUBLE,
    LONG_LONG,
    CType,
    Floating,
    Integer,
    Unknown,
    common,
    holds,
    is_arithmetic,
    literal_type,
    promoted,
)
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Int, Scaled, Sum
from loopwright.prove.equivalence.laws import (
    chosen,
    combined,
    conjunction,
    conversion,
    literal,
    negated,
    opposite,
    shortened,
    widened,
)
from loopwright.prove.equivalence.terms import CHOICE, Apply, CellTerm, Constant, Index, Term
from loopwright.prove.reading.c_expressions import Unreadable, Words, expansion, expression
from loopwright.prove.reading.integer_types import is_exact_subscript, value_type
from loopwright.read.c.purity import CHARACTERS, CLASSES, LIBRARY, REAL
from loopwright.source import Span

ARITHMETIC = ("+", "-", "*", "/", "%", "&", "|", "^")
ABSOLUTE: dict[str, Integer | Floating] = {"abs": INT, "labs": LONG, "llabs": LONG_LONG}
SUFFIXES: dict[str, Integer | Floating] = {"f": FLOAT, "l": LONG_DOUBLE}
_ROUNDED = {"ilogb": INT, "lround": LONG, "lrint": LONG, "llround": LONG_LONG, "llrint": LONG_LONG}
"""Functions of floating-point numbers with integer results."""
_DECIMAL = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFlL]?")


@dataclass(frozen=True)
class Reading:
    """The meaning of the names at a statement; `types` are those of the arrays, `local` ones are marked."""

    words: Words
    types: Mapping[str, CType]
    ranks: Mapping[str, int]
    local: frozenset[str]
    place: Span
    in_rows: Mapping[Span, CellTerm] = field_of(default_factory=dict)
    """For A[i * n + j], where the rows of A have n elements: the cell (i, j)."""
    known: dict[str, Expr] = field_of(default_factory=dict)
    """Terms of subscripts, which recur often."""

    def of(self, node: Node) -> str:
        return self.words.of(node)

    def resolved(self, text: str) -> CType:
        """The type that is written so; raises if blocks of the file define one of its names differently."""
        for name in text.split():
            if name in self.words.declarations.ambiguous_types:
                raise Unreadable(f"'{name}' is not the same type in the whole file")
        return self.words.kinds.written_type(text, certain=True)


def local_name(name: str) -> str:
    """The name of a local of the region, which may differ from the file's variable of that name."""
    return f"{name} of the region"


def converted(term: Term, kind: CType) -> Term:
    """`term` converted to another type; for a choice, each of its values, and for a comparison, 1 or 0."""
    if term.type == kind and not is_nameless(kind):
        return term
    if isinstance(term, Apply) and term.operator in _COMPARISONS and is_arithmetic(kind):
        values = (converted(Index(Int(one), term.type), kind) for one in (1, 0))
        return Apply(CHOICE, (term, *values), kind)
    if isinstance(term, Apply) and term.operator == CHOICE and is_arithmetic(term.type):
        condition, then, orelse = term.arguments
        return Apply(CHOICE, (condition, converted(then, kind), converted(orelse, kind)), kind)
    if isinstance(term, Index) and _keeps_its_value(term, kind):
        return Index(term.value, kind)
    inner = widened(term, kind)
    if inner is not None:
        return converted(inner, kind)
    return shortened(term, kind) or Apply(conversion(kind), (term,), kind)


_COMPARISONS = ("<", "<=", "==", "!=")


def is_nameless(kind: CType) -> bool:
    """Whether two values of this type need not have the same type."""
    return isinstance(kind, Unknown) and not kind.name


def _keeps_its_value(term: Index, kind: CType) -> bool:
    """Whether an integer keeps its value in another integer type, or is converted to a floating type."""
    if isinstance(term.value, Int) and isinstance(kind, Integer):
        return kind.least <= term.value.value <= kind.greatest
    return isinstance(term.type, Integer) and (isinstance(kind, Floating) or holds(kind, term.type))


def term(node: Node, reading: Reading) -> Term:
    """The value of an expression."""
    node = without_parentheses(node)
    index = _index(node, reading)
    if index is not None:
        return index
    match node.type:
        case "number_literal":
            return _number(reading.of(node))
        case "cast_expression":
            return converted(term(field(node, "value"), reading), _cast_type(node, reading))
        case "unary_expression":
            return _unary(operator(node), term(field(node, "argument"), reading))
        case "binary_expression":
            left, right = (term(field(node, side), reading) for side in ("left", "right"))
            return binary(operator(node), left, right)
        case "conditional_expression":
            parts = [field(node, part) for part in ("condition", "consequence", "alternative")]
            return choice(*(term(part, reading) for part in parts))
        case "call_expression":
            return _call(node, reading)
        case "identifier" if definitions(reading.words.macros, reading.of(node)):
            return _expanded(node, None, reading)
        case "identifier" if (constant := constant_of(reading.of(node), reading)) is not None:
            return constant
        case "identifier" | "subscript_expression" | "pointer_expression" | "field_expression":
            return cell(node, reading)
        case kind:
            raise Unreadable(f"'{reading.of(node)}' cannot be read as a value ({kind.replace('_', ' ')})")


def constant_of(name: str, reading: Reading) -> Term | None:
    """An enumerator or `const` integer of the file whose value is known, or None."""
    value = known_constant(reading.words.declarations, name)
    found = reading.words.declarations.visible(name, reading.place)
    if value is None or found is None or name in reading.local:
        return None
    return converted(Index(Int(value), INT), reading.resolved(found.type))


def binary(name: str, left: Term, right: Term) -> Term:
    """`left name right`, with the operands converted as in C; a > b becomes b < a."""
    if name in (">", ">="):
        name, left, right = name.replace(">", "<"), right, left
    if name == "&&":
        return conjunction(left, right)
    if name == "||":
        return Apply(name, (left, right), INT)
    if name in ("<<", ">>"):
        return Apply(name, (left, right), promoted(left.type))
    if name not in (*ARITHMETIC, *COMPARISONS):
        raise Unreadable(f"the operator '{name}' cannot be read as a value")
    kind = common(left.type, right.type)
    if is_arithmetic(kind):
        left, right = converted(left, kind), converted(right, kind)
        if name in ARITHMETIC:
            return combined(name, left, right, kind)
    return Apply(name, (left, right), INT if name in COMPARISONS else kind)


def _unary(name: str, inner: Term) -> Term:
    match name:
        case "!":
            return opposite(inner)
        case "-":
            return negated(inner)
        case "+" if is_arithmetic(inner.type):
            return converted(inner, promoted(inner.type))
        case _:
            return Apply(f"{name}x", (inner,), promoted(inner.type))


def choice(condition: Term, then: Term, orelse: Term) -> Term:
    """`condition ? then : orelse`."""
    kind = common(then.type, orelse.type)
    if is_arithmetic(kind):
        then, orelse = converted(then, kind), converted(orelse, kind)
    elif then.type == orelse.type:
        kind = then.type
    return chosen(condition, then, orelse, kind)


def cell(node: Node, reading: Reading) -> CellTerm:
    """A variable or array element."""
    found = reference_of(node)
    in_rows = reading.in_rows.get(node.span)
    if found is not None and in_rows is not None and found.base == in_rows.array:
        for part in (part for parts in found.subscripts for part in parts):
            _refuse_inexact(part, reading)
        return in_rows
    if found is None or found.partial or reading.ranks.get(found.base) != len(found.subscripts):
        raise Unreadable(f"'{reading.of(node)}' cannot be read as a variable or element")
    subscripts = tuple(Sum(tuple(_signed(part, reading) for part in parts)) for parts in found.subscripts)
    name = local_name(found.base) if found.base in reading.local else found.base
    return CellTerm(name, tuple(map(_simple, subscripts)), reading.types[found.base])


def _signed(part: Node, reading: Reading) -> Expr:
    """A term of a subscript: i and -1 of `*(a + i - 1)`."""
    text = part.text
    value = reading.known.get(text)
    if value is None:
        value = expression(part, reading.words)
        _refuse_inexact(part, reading)
        reading.known[text] = value
    return Scaled(-1, value) if is_subtracted(part) else value


def _refuse_inexact(part: Node, reading: Reading) -> None:
    if not is_exact_subscript(part, reading.words, reading.place):
        raise Unreadable(f"'{reading.of(part)}' is computed in an unsigned type")


def _simple(value: Sum) -> Expr:
    return value.terms[0] if len(value.terms) == 1 else value if value.terms else Int(0)


def _index(node: Node, reading: Reading) -> Index | None:
    """An integer expression of iterators and parameters, or None if it could wrap around."""
    try:
        value = expression(node, reading.words)
    except Unreadable:
        return None
    kind = value_type(node, reading.words, reading.place)
    return None if kind is None else Index(value, kind)


def _cast_type(node: Node, reading: Reading) -> CType:
    text = reading.of(field(node, "type"))
    if "*" in text or "[" in text:
        raise Unreadable(f"the cast to '{text}' cannot be read")
    return reading.resolved(text)


def _number(text: str) -> Term:
    if text.startswith("-"):
        return negated(_number(text[1:].lstrip()))
    kind, whole = literal_type(text), integer_text(text)
    if whole is not None and isinstance(kind, Integer):
        return Index(Int(whole), kind)
    if (hexadecimal := _HEXADECIMAL.fullmatch(text)) is not None:
        return _hexadecimal(hexadecimal)
    if _DECIMAL.fullmatch(text) is None:
        raise Unreadable(f"the number '{text}' cannot be read")
    digits = text.rstrip("fFlL")
    value = float(digits)
    is_exact = math.isfinite(value) and Fraction(digits) == Fraction(value)
    if kind == LONG_DOUBLE and not is_exact:
        return Constant(digits, kind)
    if kind == FLOAT and not is_exact and _is_between_floats(value):
        raise Unreadable(f"the number '{text}' cannot be read")
    return literal(value, kind)


_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d{1,3})([fFlL]?)")


def _hexadecimal(found: re.Match[str]) -> Term:
    """`0x1.8p3`, if it is a double."""
    whole, part, exponent, suffix = found.groups()
    exact = Fraction(int(whole + part or "0", 16)) * Fraction(2) ** (int(exponent) - 4 * len(part))
    value = float(exact) if exact < _LARGEST else math.inf
    if not (whole or part) or not math.isfinite(value) or Fraction(value) != exact:
        raise Unreadable(f"the number '{found[0]}' cannot be read")
    return literal(value, SUFFIXES.get(suffix.lower(), DOUBLE))


_LARGEST = 1 << 1023
"""Numbers below it are doubles, or are rounded to some."""


def _is_between_floats(value: float) -> bool:
    """Whether rounding a number to a float depends on digits that a double does not have."""
    below, above = (c_float(math.nextafter(value, end)).value for end in (-math.inf, math.inf))
    return below != above


def _call(node: Node, reading: Reading) -> Term:
    function = field(node, "function")
    name = reading.of(function)
    parts = named_children(field(node, "arguments"))
    if function.type == "parenthesized_expression" and len(parts) == 1:
        kind = reading.resolved(reading.of(without_parentheses(function)))
        if (
            is_arithmetic(kind)
            or reading.of(without_parentheses(function)) in reading.words.declarations.types
        ):
            return converted(term(parts[0], reading), kind)
    if function.type != "identifier":
        raise Unreadable(f"'{reading.of(node)}' cannot be read as a value")
    if definitions(reading.words.macros, name):
        return _expanded(node, [reading.of(part) for part in parts], reading)
    if name in reading.words.renamed:
        raise Unreadable(f"'{name}' is a macro, which is defined elsewhere")
    plain = name.removeprefix("__builtin_")
    name = plain if plain in LIBRARY - reading.words.declarations.functions else name
    declared = name in reading.words.declarations.functions
    if _is_variable(name, reading):
        raise Unreadable(f"'{name}' is a variable: which function it leads to is not known")
    if not declared and name not in LIBRARY and not all(is_atomic(part) for part in parts):
        raise Unreadable(f"'{name}' may be a macro, which sees the text of its arguments")
    arguments = tuple(term(part, reading) for part in parts)
    if name in LIBRARY and not declared:
        return library_call(name, arguments)
    return Apply(f"{name}()", arguments, Unknown(f"what '{name}' returns is not known"))


def _is_variable(name: str, reading: Reading) -> bool:
    """Whether the callee is a pointer to a function, by its declaration."""
    pointer = re.compile(rf"\(\s*\*[\s\w]*\b{re.escape(name)}\s*\)\s*\(")
    is_declared = name in reading.words.declarations.functions
    is_value = not is_declared and reading.words.declarations.visible(name, reading.place) is not None
    return is_value or pointer.search(reading.words.source.text) is not None


def library_call(name: str, arguments: tuple[Term, ...]) -> Term:
    """Reads a call of the C library: parameters have the type of the function, except ldexp's second.

    For functions on complex numbers neither types nor results are known here.
    """
    base = name if name in REAL else name[:-1]
    if name in CLASSES:
        return Apply(f"{name}()", arguments, INT)
    if name in CHARACTERS:
        return Apply(f"{name}()", tuple(converted(one, INT) for one in arguments), INT)
    if name in ABSOLUTE:
        kind = ABSOLUTE[name]
    elif base in REAL:
        kind = SUFFIXES[name[-1]] if base != name else DOUBLE
    else:
        return Apply(f"{name}()", arguments, Unknown(f"what '{name}' returns is not known"))
    kinds = [kind] * len(arguments)
    if base in ("ldexp", "scalbn") and len(kinds) == 2:
        kinds[1] = INT
    given = tuple(converted(one, wanted) for one, wanted in zip(arguments, kinds, strict=True))
    return Apply(f"{name}()", given, _ROUNDED.get(base, kind))


def _expanded(use: Node, arguments: list[str] | None, reading: Reading) -> Term:
    node, words = expansion(use, arguments, reading.words)
    return term(node, replace(reading, words=words, known={}))
