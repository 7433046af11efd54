"""The types of integer expressions, where they matter: in values, not in subscripts.

As integers, `i - n` is the same whatever the types of i and n.  As values of C it is not: of an
unsigned type it wraps around, and a product of two longs overflows later than one of two ints.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import reduce

from loopwright.c import types
from loopwright.c.casts import Ambiguous, expression_of
from loopwright.c.declarations import is_floating_type
from loopwright.c.expression_types import COMPARISONS, integer_type
from loopwright.c.macros import Macro, definitions, integer_text, with_arguments
from loopwright.c.syntax import Node, field, named_children, operator, walk, without_parentheses
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import nodes as loop_nodes
from loopwright.loops.traverse import subprograms
from loopwright.model.program import Program
from loopwright.prove.reading.c_expressions import MOST_EXPANSIONS, Words, is_helper, words_of
from loopwright.source import Span


@dataclass(frozen=True)
class WordTypes:
    """The types of the names at a place; one that is not declared is taken to be an int.

    A macro has the type of what it stands for: `K` of `#define K 8u` is unsigned.
    """

    words: Words
    at: Span

    def name_type(self, name: Node) -> types.CType:
        macros = definitions(self.words.macros, name.text)
        if macros:
            numbers = _number_types(macros)
            return _one(numbers or [integer_type(node, scope) for node, scope in self.expansions(name, None)])
        found = self.words.declarations.visible(name.text, self.at)
        return types.INT if found is None else self.written_type(found.type)

    def expansions(self, name: Node, arguments: list[str] | None) -> list[tuple[Node, WordTypes]]:
        """What a macro stands for by each of its definitions, as far as they are expressions."""
        words = replace(self.words, expansions=self.words.expansions + 1)
        found: list[tuple[Node, WordTypes]] = []
        given = arguments or []
        for macro in definitions(words.macros, name.text):
            fits = (macro.parameters is None) == (arguments is None) and "#" not in macro.body
            if not fits or len(macro.parameters or ()) != len(given) or words.expansions > MOST_EXPANSIONS:
                return []
            try:
                node = expression_of(with_arguments(macro, given), words.kinds, given)
            except Ambiguous:
                return []
            if node is None:
                return []
            found.append((node, WordTypes(words, self.at)))
        return found

    def result_type(self, function: str) -> types.CType | None:
        return None

    def written_type(self, text: str) -> types.CType:
        return self.words.kinds.written_type(text, certain=True)


def _one(kinds: Sequence[types.CType | None]) -> types.CType:
    """The type that all of them are."""
    first = kinds[0] if kinds else None
    same = first is not None and all(kind == first for kind in kinds)
    return first if first is not None and same else types.Unknown("a macro need not be an integer")


def _number_types(macros: Sequence[Macro]) -> list[types.CType]:
    """The types of macros that are numbers; none where one is not."""
    are_numbers = all(one.parameters is None and integer_text(one.body) is not None for one in macros)
    return [types.literal_type(one.body.strip("()+- \t")) for one in macros] if are_numbers else []


def type_at(node: Node, words: Words, at: Span) -> types.CType:
    """The type C gives an integer expression of iterators and parameters at a place."""
    return integer_type(node, WordTypes(words, at))


def value_type(node: Node, words: Words, at: Span) -> types.CType | None:
    """The type of an integer expression at a place whose value as an integer is its value in C.

    None where it is not: where it is computed in an unsigned type, or in one that is not known.
    """
    return _faithful_type(node, WordTypes(words, at))


def is_exact_subscript(node: Node, words: Words, at: Span) -> bool:
    """Whether a subscript is the element that its value as an integer says.

    A name or a number is; sums and products of as many bits as a pointer has are, modulo these.
    """
    core = without_parentheses(node)
    return core.type in ("identifier", "number_literal") or _is_exact_sum(core, WordTypes(words, at))


def _is_exact_sum(node: Node, scope: WordTypes) -> bool:
    """Whether it is its value as an integer, modulo the bits of a pointer.

    `(unsigned)(i - 1) + 5L` is not: what has wrapped around in fewer bits is another number.
    """
    node = without_parentheses(node)
    if _faithful_type(node, scope) is not None:
        return True
    kind = integer_type(node, scope)
    if not isinstance(kind, types.Integer) or not (kind.signed or kind.bits >= types.LONG.bits):
        return False
    match node.type:
        case "binary_expression" if operator(node) in ("+", "-", "*"):
            return all(_is_exact_sum(field(node, side), scope) for side in ("left", "right"))
        case "unary_expression" if operator(node) in ("+", "-"):
            return _is_exact_sum(field(node, "argument"), scope)
        case "cast_expression":
            return _is_exact_sum(field(node, "value"), scope)
        case "identifier" if definitions(scope.words.macros, node.text):
            expanded = scope.expansions(node, None)
        case "call_expression" if _is_macro(field(node, "function"), scope.words):
            texts = [part.text for part in named_children(field(node, "arguments"))]
            expanded = scope.expansions(field(node, "function"), texts)
        case _:
            return False
    return bool(expanded) and all(_is_exact_sum(*one) for one in expanded)


def _faithful_type(node: Node, scope: WordTypes) -> types.CType | None:
    """The type of an expression; None where something is computed, or compared, in a type that wraps around
    or is not known.
    """
    node = without_parentheses(node)
    match node.type:
        case "identifier" if definitions(scope.words.macros, node.text):
            numbers = _number_types(definitions(scope.words.macros, node.text))
            return _known(_one(numbers)) if numbers else _expanded_type(scope.expansions(node, None))
        case "identifier":
            return None if node.text in scope.words.cut else scope.name_type(node)
        case "number_literal" | "char_literal" | "sizeof_expression":
            kind = integer_type(node, scope)
            return None if node.text.startswith("-") and types.is_unsigned(kind) else kind
        case "cast_expression":
            kind, inner = integer_type(node, scope), _faithful_type(field(node, "value"), scope)
            return kind if inner is not None and types.holds(kind, inner) else None
        case "unary_expression":
            parts = [field(node, "argument")]
        case "binary_expression":
            parts = [field(node, "left"), field(node, "right")]
        case "conditional_expression":
            if _faithful_type(field(node, "condition"), scope) is None:
                return None
            parts = [field(node, part) for part in ("consequence", "alternative")]
        case "call_expression" if _is_macro(field(node, "function"), scope.words):
            texts = [part.text for part in named_children(field(node, "arguments"))]
            return _expanded_type(scope.expansions(field(node, "function"), texts))
        case "call_expression":
            parts = named_children(field(node, "arguments"))
        case _:
            return None
    kinds: list[types.CType] = []
    for part in parts:
        own = _faithful_type(part, scope)
        if own is None:
            return None
        kinds.append(types.promoted(own))
    whole = reduce(types.common, kinds) if kinds else None
    if whole is None or not types.is_signed(whole):
        return None
    if node.type == "call_expression" and len(parts) != 2:
        return integer_type(node, scope)
    return _result(operator(node) if node.type in _OPERATIONS else "", kinds[0], whole)


def _is_macro(name: Node, words: Words) -> bool:
    return bool(definitions(words.macros, name.text)) and not is_helper(name.text, words)


def _expanded_type(expansions: list[tuple[Node, WordTypes]]) -> types.CType | None:
    return _known(_one([_faithful_type(node, scope) for node, scope in expansions]))


def _known(kind: types.CType) -> types.CType | None:
    return None if isinstance(kind, types.Unknown) else kind


_OPERATIONS = ("unary_expression", "binary_expression")


def _result(operation: str, left: types.CType, whole: types.CType) -> types.CType:
    """What an operation makes of operands that are converted to `whole`."""
    if operation in (*COMPARISONS, "&&", "||", "!"):
        return types.INT
    return left if operation in ("<<", ">>") else whole


def holds_ints(program: Program, loops: loop_nodes.Node) -> bool:
    """Whether what the iterators and parameters of `loops` are called in the file of `program` holds any int.

    A name that is not declared is a macro's: a number, and none that C takes to be unsigned.
    """
    sizes = {parameter.text for parameter in program.parameters}
    macros = words_of(program).macros
    numbers = [kind for name in sizes for kind in _number_types(definitions(macros, name))]
    declared = _declared(program, _iterators(loops) | sizes)
    kinds = [*numbers, *(kind for several in declared.values() for kind in several)]
    return all(map(str.isidentifier, sizes)) and all(types.holds(kind, types.INT) for kind in kinds)


def wide_names(program: Program) -> tuple[str, ...]:
    """The iterators and parameters that are long, or wider, wherever the file declares them.

    None where the text converts integers otherwise than in arithmetic, so that an expression need not be
    computed in the widest type that something in it has.
    """
    if _converts(program):
        return ()
    parameters = {parameter.text: parameter.name for parameter in program.parameters}
    iterators = {name for one in program.statements for name in one.iterators}
    called = {**{name: name for name in sorted(iterators)}, **parameters}
    kinds = _declared(program, called)
    wide = [name for name, several in kinds.items() if all(types.holds(kind, types.LONG) for kind in several)]
    return tuple(sorted(called[name] for name in wide))


def _iterators(loops: loop_nodes.Node) -> set[str]:
    parts = [part for part in subprograms(loops) if isinstance(part, loop_nodes.For | loop_nodes.Let)]
    return {part.iterator if isinstance(part, loop_nodes.For) else part.name for part in parts}


def _declared(program: Program, names: Collection[str]) -> dict[str, list[types.CType]]:
    """The types of those that the file declares, each as often as it does."""
    kinds = program.file.kinds(program.region)
    found: dict[str, list[types.CType]] = {}
    for one in program.file.declarations.variables:
        if one.name in names:
            found.setdefault(one.name, []).append(kinds.written_type(one.type, certain=True))
    return found


def _converts(program: Program) -> bool:
    """Whether there are casts, integers that are no iterators, or macros that are no numbers."""
    words = words_of(program)
    for node in walk(program.syntax):
        match node.type:
            case "cast_expression":
                return True
            case "declaration" if node.parent is None or node.parent.type != "for_statement":
                if not is_floating_type(words.declarations.resolved(field(node, "type").text)):
                    return True
            case "identifier" if macros := definitions(words.macros, node.text):
                if not _number_types(macros) and not is_helper(node.text, words):
                    return True
    return False
