"""Translates C index expressions to LOOP expressions, from the syntax alone.

This is a second reading of the source: the reader translates the same expressions to Presburger functions
separately, and proofs that use this module do not trust it.  Both share the syntax tree and the names of the
parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field as field_of
from dataclasses import replace
from typing import TypeVar

from loopwright.c.casts import Ambiguous, Kinds, expression_of
from loopwright.c.declarations import Declarations, is_integer_type, known_constant
from loopwright.c.expression_types import DeclaredTypes, constant_value, integer_type
from loopwright.c.file import FunctionDefinition, c_file
from loopwright.c.index_helpers import divides_in_floating
from loopwright.c.macros import Macro, definitions, integer_text, with_arguments
from loopwright.c.syntax import Node, field, is_atomic, named_children, operator, without_parentheses
from loopwright.c.tokens import packed
from loopwright.c.types import CType
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.model.program import Program
from loopwright.presburger.named import fixed_parameters
from loopwright.prove.reading.file_functions import function_of
from loopwright.prove.reading.helper_macros import is_helper
from loopwright.prove.reading.operations import chosen, complement, is_signed, masked, outcome, scaled
from loopwright.source import Source

MOST_EXPANSIONS = 50
_WIDEST = 64
"""The width in bits of the widest integer type."""
POINTER = "pointer"
"""The type of a local that denotes a row: `double *row = a + i * n;`."""
_Meaning = TypeVar("_Meaning")
RELATIONS = {relation.value: relation for relation in ex.Relation}


class Unreadable(Exception):
    """The source is not an expression of LOOP; the message says why."""


@dataclass(frozen=True)
class Words:
    """The meaning of names at a place: `values` are iterators and locals, `parameters` texts and names."""

    source: Source
    parameters: Mapping[str, str]
    fixed: Mapping[str, int]
    macros: tuple[Macro, ...]
    declarations: Declarations
    kinds: Kinds
    values: Mapping[str, ex.Expr]
    expansions: int = 0
    texts: Mapping[str, LocalText] = field_of(default_factory=dict)
    """Locals defined by an expression that is not one of LOOP, such as `int row = i * n;`."""
    cut: frozenset[str] = frozenset()
    """Locals of a type that may not hold their initial value, such as `unsigned x = i - 1;`."""
    converted: frozenset[str] = frozenset()
    """Those of them whose values are the initial ones, converted: C computes these as integers."""
    given: Mapping[str, LocalText] = field_of(default_factory=dict)
    """The initial values of locals in `values`."""
    renamed: frozenset[str] = frozenset()
    """Names of library functions that are macros of a header."""
    types: Mapping[str, CType] = field_of(default_factory=dict)
    """The types of parameters, by their texts: names, members, elements, products, macros."""

    def of(self, node: Node) -> str:
        return node.text

    def declared_value(self, name: str) -> int | None:
        """The value of the only enumerator, or `const` integer declared with a number, of this name."""
        found = None if self.kinds.at is None else self.declarations.visible(name, self.kinds.at)
        is_hidden = name in self.values or name in self.texts or definitions(self.macros, name)
        return None if found is None or is_hidden else known_constant(self.declarations, name)

    def bind(
        self,
        name: str,
        value: ex.Expr,
        *,
        cut: bool = False,
        converted: bool = False,
        local: LocalText | None = None,
    ) -> Words:
        """The words in which a name has a value, that of a `local` or of an iterator."""
        texts, given = _without(name, self.texts), _without(name, self.given)
        given |= {} if local is None else {name: local}
        names = self.cut | {name} if cut else self.cut - {name}
        same = self.converted | {name} if cut and converted else self.converted - {name}
        values = {**self.values, name: value}
        return replace(self, values=values, texts=texts, given=given, cut=names, converted=same)

    def define(self, name: str, node: Node, kind: str) -> Words:
        """The words after `kind name = node;`."""
        texts = {**self.texts, name: LocalText(node, kind, self)}
        values, given = _without(name, self.values), _without(name, self.given)
        return replace(self, values=values, given=given, texts=texts)


@dataclass(frozen=True)
class LocalText:
    """The value of a local: an expression, its declared type, and the meaning of its names."""

    node: Node
    type: str
    words: Words


def _without(name: str, words: Mapping[str, _Meaning]) -> dict[str, _Meaning]:
    return {word: meaning for word, meaning in words.items() if word != name}


def words_of(program: Program) -> Words:
    """The words for a program: parameters, macros and types of its file."""
    source = program.source
    return Words(
        source,
        {packed(parameter.text): parameter.name for parameter in program.parameters},
        fixed_parameters(program.context),
        program.file.macros_before(program.region),
        program.file.declarations,
        program.file.kinds(program.region),
        {},
        renamed=program.renamed,
        types={packed(one.text): one.type for one in program.parameters if one.type is not None},
    )


def expression(node: Node, words: Words) -> ex.Expr:
    """The value of an integer expression."""
    parameter = words.parameters.get(packed(words.of(node)))
    match node.type:
        case "identifier" if words.of(node) in words.values:
            return words.values[words.of(node)]
        case "identifier" if words.of(node) in words.texts:
            raise Unreadable(f"the local '{words.of(node)}' is not only an index expression")
        case _ if parameter is not None:
            return ex.Var(parameter)
        case "number_literal":
            return ex.Int(_integer(words.of(node)))
        case "parenthesized_expression":
            return expression(_only(node), words)
        case "cast_expression":
            return _cast(node, words)
        case "unary_expression" if operator(node) in ("-", "+"):
            inner = expression(field(node, "argument"), words)
            return scaled(-1, inner) if operator(node) == "-" else inner
        case "unary_expression" if operator(node) == "~" and is_signed(_type_of(node, words)):
            return complement(expression(field(node, "argument"), words))
        case "binary_expression" if operator(node) in ("+", "-", "*", "/", "%", "<<", ">>", "&"):
            return _arithmetic(node, words)
        case "binary_expression" | "unary_expression" if operator(node) in (*RELATIONS, "&&", "||", "!"):
            return ex.Select(test(node, words), ex.Int(1), ex.Int(0))
        case "conditional_expression":
            parts = [field(node, part) for part in ("consequence", "alternative")]
            values = (expression(part, words) for part in parts)
            return chosen(test(field(node, "condition"), words), *values)
        case "call_expression":
            return _call(node, words)
        case "identifier" if definitions(words.macros, words.of(node)):
            return _expanded(node, None, words)
        case "identifier" if (value := words.declared_value(words.of(node))) is not None:
            return ex.Int(value)
        case _ if (value := constant_value(node, words.kinds, words.kinds.at or node.span)) is not None:
            return ex.Int(value)
        case _:
            raise Unreadable(f"'{words.of(node)}' cannot be read as an index expression")


def test(node: Node, words: Words) -> ex.Test:
    """The meaning of a condition."""
    match node.type:
        case "parenthesized_expression":
            return test(_only(node), words)
        case "binary_expression" if operator(node) in RELATIONS:
            sides = (expression(field(node, side), words) for side in ("left", "right"))
            return ex.Compare(RELATIONS[operator(node)], *sides)
        case "binary_expression" if operator(node) in ("&&", "||"):
            first = test(field(node, "left"), words)
            if outcome(first) == (operator(node) == "||"):
                return first  # the other is not evaluated
            both = first, test(field(node, "right"), words)
            return ex.And(both) if operator(node) == "&&" else ex.Or(both)
        case "unary_expression" if operator(node) == "!":
            return ex.Not(test(field(node, "argument"), words))
        case _:
            return ex.Compare(ex.Relation.NE, expression(node, words), ex.Int(0))


def constant(node: Node, words: Words) -> int:
    """The value of a step or divisor."""
    value = constant_of(expression(node, words), words)
    if value is None:
        above = node.parent
        divides = above is not None and above.type == "binary_expression" and operator(above) in ("/", "%")
        said = f"the value of '{words.of(node)}' is not known"
        raise Unreadable(f"{said}, and it divides there: {_TWO_LOOPS}" if divides else said)
    return value


_TWO_LOOPS = "write the loop over quotients and remainders as two loops"


def _power(node: Node, words: Words) -> int:
    """The factor of a shift; C defines no shift by a negative number, or by the width of the type or more."""
    bits = constant(node, words)
    if not 0 <= bits < _WIDEST:
        raise Unreadable(f"a shift by {bits} bits")
    return 1 << bits


def _only(node: Node) -> Node:
    inner = named_children(node)
    if len(inner) != 1:
        raise Unreadable("parentheses around more than one expression")
    return inner[0]


def _integer(text: str) -> int:
    value = integer_text(text)
    if value is None:
        raise Unreadable(f"'{text}' is not an integer")
    return value


def constant_of(expr: ex.Expr, words: Words) -> int | None:
    """The value of an expression without iterators, if it is known."""
    match expr:
        case ex.Int(value):
            return value
        case ex.Var(name):
            return words.fixed.get(name, words.declared_value(name))
        case ex.Scaled(factor, argument):
            inner = constant_of(argument, words)
            return None if inner is None else factor * inner
        case ex.Sum(terms):
            values = [constant_of(term, words) for term in terms]
            known = [value for value in values if value is not None]
            return sum(known) if len(known) == len(values) else None
        case _:
            return None


def _cast(node: Node, words: Words) -> ex.Expr:
    kind = words.of(field(node, "type"))
    if not is_integer_type(words.declarations.resolved(kind)):
        raise Unreadable(f"the cast to '{kind}' may change the value")
    return expression(field(node, "value"), words)


def _arithmetic(node: Node, words: Words) -> ex.Expr:
    left, right = field(node, "left"), field(node, "right")
    match operator(node):
        case "+":
            return ex.Sum((expression(left, words), expression(right, words)))
        case "-":
            return ex.Sum((expression(left, words), scaled(-1, expression(right, words))))
        case "*":
            return _product(expression(left, words), expression(right, words), words)
        case "<<":
            return scaled(_power(right, words), expression(left, words))
        case ">>":
            return ex.FloorDiv(expression(left, words), _power(right, words))
        case "&":
            return _masked(left, right, words)
        case "/":
            return _quotient(expression(left, words), constant(right, words))
        case _:
            divisor = abs(constant(right, words))
            if divisor == 0:
                raise Unreadable("a division by zero")
            return ex.Rem(expression(left, words), divisor)


def _masked(left: Node, right: Node, words: Words) -> ex.Expr:
    """`x & mask` or `mask & x`."""
    mask = _mask(right, words)
    if mask is None:
        left, right, mask = right, left, _mask(left, words)
    kinds = _type_of(left, words), _type_of(right, words)
    found = None if mask is None else masked(expression(left, words), mask, kinds)
    if found is None:
        raise Unreadable("a mask that keeps other bits than the lowest, or all others")
    return found


def _mask(node: Node, words: Words) -> int | None:
    """The value of a mask, modulo 2^w if its type is unsigned and has w bits; None if it is not known."""
    core = without_parentheses(node)
    if core.type == "unary_expression" and operator(core) in ("~", "-"):
        inner = _mask(field(core, "argument"), words)
        return None if inner is None else -inner - (operator(core) == "~")
    if core.type == "number_literal" and words.of(core).startswith("-"):
        return -_integer(words.of(core)[1:].lstrip())
    return constant_of(expression(core, words), words)


def _type_of(node: Node, words: Words) -> CType:
    """The type of a parameter, or of an expression of variables and numbers."""
    known = words.types.get(packed(words.of(node)))
    at = words.kinds.at or node.span
    return known or integer_type(node, DeclaredTypes(words.declarations, words.macros, at))


def _product(left: ex.Expr, right: ex.Expr, words: Words) -> ex.Expr:
    for factor, other in ((left, right), (right, left)):
        if isinstance(factor, ex.Int):
            return scaled(factor.value, other)
    for factor, other in ((left, right), (right, left)):
        value = constant_of(factor, words)
        if value is not None:
            return scaled(value, other)
    raise Unreadable("a product of two things that are not constant")


def _quotient(dividend: ex.Expr, divisor: int) -> ex.Expr:
    if divisor == 0:
        raise Unreadable("a division by zero")
    quotient = ex.TruncDiv(dividend, abs(divisor))
    return quotient if divisor > 0 else scaled(-1, quotient)


def called_function(call: Node, words: Words) -> FunctionDefinition | None:
    """The function of the file that is called, if its value depends on its arguments alone."""
    return function_of(call, words.source, words.macros, words.declarations, words.types)


def _call(node: Node, words: Words) -> ex.Expr:
    name = words.of(field(node, "function"))
    arguments = named_children(field(node, "arguments"))
    if definitions(words.macros, name) and not is_helper(name, words.macros):
        return _expanded(node, [words.of(argument) for argument in arguments], words)
    function = called_function(node, words)
    if function is not None and function.value is not None:
        values = dict(zip(function.parameters, (expression(one, words) for one in arguments), strict=True))
        inside = replace(words, parameters={}, types={}, texts={}, given={}, values=values)
        return expression(function.value, inside)
    file = c_file(words.source)
    is_own = name in file.function_names and not divides_in_floating(file, name)
    match name.lower() if len(arguments) == 2 and not is_own else "":
        case "min":
            return ex.Min(tuple(expression(argument, words) for argument in arguments))
        case "max":
            return ex.Max(tuple(expression(argument, words) for argument in arguments))
        case "floord" | "ceild":
            dividend, divisor = expression(arguments[0], words), constant(arguments[1], words)
            if divisor <= 0:
                raise Unreadable("a floor of a quotient by what is not positive")
            if name.lower() == "floord":
                return ex.FloorDiv(dividend, divisor)
            return scaled(-1, ex.FloorDiv(scaled(-1, dividend), divisor))
        case _:
            raise Unreadable(f"'{words.of(node)}' cannot be read as an index expression")


_CLOSED = (
    "parenthesized_expression",
    "argument_list",
    "init_declarator",
    "assignment_expression",
    "subscript_expression",
    "for_statement",
)
"""Contexts in which the expansion of a macro without an operator cannot be split."""


def expansion(use: Node, arguments: list[str] | None, words: Words) -> tuple[Node, Words]:
    """The expression that a macro of the file expands to, as in the preprocessor, and its words."""
    name = words.of(use if arguments is None else field(use, "function"))
    found = definitions(words.macros, name)
    if len(found) != 1 or found[0].conditional or words.expansions >= MOST_EXPANSIONS:
        raise Unreadable(f"the definition of the macro '{name}' is not known for certain")
    (macro,) = found
    if (macro.parameters is None) != (arguments is None) or "#" in macro.body:
        raise Unreadable(f"the macro '{name}' is not used as it is defined")
    if len(macro.parameters or ()) != len(arguments or ()):
        raise Unreadable(f"the macro '{name}' has another number of arguments")
    given = arguments or []
    try:
        node = expression_of(with_arguments(macro, given), words.kinds, given)
    except Ambiguous as failure:
        raise Unreadable(str(failure)) from None
    around = use.parent
    if node is None or not (is_atomic(node) or around is None or around.type in _CLOSED):
        raise Unreadable(f"the macro '{name}' is not an expression of its own here")
    return node, replace(words, expansions=words.expansions + 1)


def _expanded(use: Node, arguments: list[str] | None, words: Words) -> ex.Expr:
    return expression(*expansion(use, arguments, words))
