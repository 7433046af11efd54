"""The types of integer expressions, where they matter: in values, not in subscripts.

As a mathematical integer, `i - n` does not depend on the types of i and n.  As a C value it does: in an
unsigned type it wraps around, and a product of two longs overflows later than one of two ints.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import reduce

from loopwright.c import types
from loopwright.c.casts import Ambiguous, expression_of
from loopwright.c.declarations import declared_name, is_floating_type
from loopwright.c.expression_types import COMPARISONS, integer_type
from loopwright.c.loops import loop_iterator
from loopwright.c.macros import Macro, definitions, integer_text, with_arguments
from loopwright.c.syntax import Node, field, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import packed
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.prove.reading.c_expressions import MOST_EXPANSIONS, Unreadable, Words, words_of
from loopwright.prove.reading.helper_macros import is_helper
from loopwright.source import Span


@dataclass(frozen=True)
class WordTypes:
    """The types of the names at a place; an undeclared name is assumed to be an int.

    A macro has the type of its expansion: `K` of `#define K 8u` is unsigned.
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

    def member_type(self, member: Node) -> types.CType:
        unknown = types.Unknown(f"the type of '{member.text}' is not known")
        return self.words.types.get(packed(self.words.of(member)), unknown)

    def expansions(self, name: Node, arguments: list[str] | None) -> list[tuple[Node, WordTypes]]:
        """The expansions of a macro by each of its definitions, as far as they are expressions."""
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
    """The common type of all, or an unknown type."""
    first = kinds[0] if kinds else None
    same = first is not None and all(kind == first for kind in kinds)
    return first if first is not None and same else types.Unknown("a macro need not be an integer")


def _number_types(macros: Sequence[Macro]) -> list[types.CType]:
    """The types of macros that are numbers; none if one is not."""
    are_numbers = all(one.parameters is None and integer_text(one.body) is not None for one in macros)
    return [types.literal_type(one.body.strip("()+- \t")) for one in macros] if are_numbers else []


def type_at(node: Node, words: Words, at: Span) -> types.CType:
    """The C type of an integer expression of iterators and parameters at a place."""
    return integer_type(node, WordTypes(words, at))


def value_type(node: Node, words: Words, at: Span) -> types.CType | None:
    """The type of an integer expression whose value as a mathematical integer is its C value.

    None if it is not: if it is computed in an unsigned type, or in one that is not known.
    """
    return _faithful_type(node, WordTypes(words, at))


def is_exact_subscript(node: Node, words: Words, at: Span) -> bool:
    """Whether a subscript selects the element that its value as a mathematical integer denotes.

    A name or a number does; sums and products with as many bits as a pointer do, modulo 2^bits.
    """
    core = without_parentheses(node)
    return core.type in ("identifier", "number_literal") or _is_exact_sum(core, WordTypes(words, at))


def _is_exact_sum(node: Node, scope: WordTypes) -> bool:
    """Whether it equals its value as a mathematical integer, modulo the bits of a pointer.

    `(unsigned)(i - 1) + 5L` does not: a value that has wrapped around in fewer bits is another number.
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
    """The type of an expression; None if a part is computed, or compared, in a type that wraps around or is
    not known."""
    node = without_parentheses(node)
    is_name = node.type == "identifier" and not definitions(scope.words.macros, node.text)
    parameter = None if is_name else scope.words.types.get(packed(node.text))
    return _computed_type(node, scope) if parameter is None else parameter


def _computed_type(node: Node, scope: WordTypes) -> types.CType | None:
    """The type of an expression that is not a parameter as a whole."""
    match node.type:
        case "identifier" if definitions(scope.words.macros, node.text):
            numbers = _number_types(definitions(scope.words.macros, node.text))
            return _known(_one(numbers)) if numbers else _expanded_type(scope.expansions(node, None))
        case "identifier":
            return None if node.text in scope.words.cut else scope.name_type(node)
        case "field_expression" | "subscript_expression" | "pointer_expression":
            return _known(scope.member_type(node))
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
    return bool(definitions(words.macros, name.text)) and not is_helper(name.text, words.macros)


def _expanded_type(expansions: list[tuple[Node, WordTypes]]) -> types.CType | None:
    return _known(_one([_faithful_type(node, scope) for node, scope in expansions]))


def _known(kind: types.CType) -> types.CType | None:
    return None if isinstance(kind, types.Unknown) else kind


_OPERATIONS = ("unary_expression", "binary_expression")


def _result(operation: str, left: types.CType, whole: types.CType) -> types.CType:
    """The result type of an operation whose operands are converted to `whole`."""
    if operation in (*COMPARISONS, "&&", "||", "!"):
        return types.INT
    return left if operation in ("<<", ">>") else whole


def integer_types(program: Program) -> dict[str, types.Integer]:
    """The types of iterators, parameters and integers declared in the region that are not ints.

    A name that is declared several times with types that hold any int is treated as an int: what its smallest
    type holds, all of them do.  Raises Unreadable if a type is not known.
    """
    sizes = {parameter.text: parameter.name for parameter in program.parameters}
    macros = words_of(program).macros
    found = {name: name for name in (*_declared_here(program), *_iterators(program))} | sizes
    declared = _declared(program, found)
    kinds: dict[str, types.Integer] = {}
    for text in sorted(found):
        several = declared.get(text) or _number_types(definitions(macros, text))
        if not text.isidentifier() or (not several and definitions(macros, text)):
            raise Unreadable(f"the type of '{text}' is not known")
        kind = _one_integer(several)
        if kind is None:
            raise Unreadable(f"'{text}' is no integer, or one of several types")
        if kind != types.INT:
            kinds[found[text]] = kind
    return kinds


def _one_integer(kinds: Sequence[types.CType]) -> types.Integer | None:
    """The common type; int if all types hold any int."""
    several = {types.unqualified(kind) for kind in kinds}
    if len(several) == 1:
        (one,) = several
        return one if isinstance(one, types.Integer) else None
    return types.INT if all(types.holds(kind, types.INT) for kind in several) else None


def _iterators(program: Program) -> set[str]:
    return {name for one in program.statements for name in one.iterators}


def _declared_here(program: Program) -> set[str]:
    """The integers that the region declares, except arrays."""
    words = words_of(program)
    found: set[str] = set()
    for node in walk(program.syntax):
        if node.type != "declaration":
            continue
        if not is_floating_type(words.declarations.resolved(field(node, "type").text)):
            named = map(declared_name, node.children_by_field_name("declarator"))
            found.update(one[0] for one in named if one is not None and one[1] == 0)
    return found


def _declared(program: Program, names: Collection[str]) -> dict[str, list[types.CType]]:
    """The types of names declared in the region and, unless all their loops declare them, before it."""
    region, declarations = program.region, program.file.declarations
    kinds = program.file.kinds(region)
    assigned = {one.text for one in program.parameters} | _assigned_iterators(program)
    found: dict[str, list[types.CType]] = {}
    for one in declarations.variables:
        if one.name in names and (
            region.contains(one.place)
            or (one.name in assigned and one == declarations.visible(one.name, region))
        ):
            found.setdefault(one.name, []).append(kinds.written_type(one.type, certain=True))
    return found


def _assigned_iterators(program: Program) -> set[str]:
    """The iterators of loops that do not declare them."""
    loops = [node for node in walk(program.syntax) if node.type == "for_statement"]
    first = [(loop_iterator(node), node.child_by_field_name("initializer")) for node in loops]
    return {name for name, part in first if name and (part is None or part.type != "declaration")}
