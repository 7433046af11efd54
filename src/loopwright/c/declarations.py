"""The declarations of a file outside the regions: types, variables, pure functions.

This is best effort: headers are not read, and macros may confuse the parser.  A missed declaration is never
unsound; declarations only lead to more refusals, or better explanations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cached_property

from loopwright.c.macros import integer_text, looks_like_macro
from loopwright.c.syntax import Node, field, operator, walk, without_parentheses
from loopwright.c.types import ANOTHER_TYPE, Integer, named_type
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span

_INTEGERS = """
int long short char signed unsigned size_t ssize_t ptrdiff_t intptr_t uintptr_t
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t int_fast32_t int_fast64_t
"""
INTEGER_TYPES = frozenset(_INTEGERS.split())
FLOATING_TYPES = frozenset(("float", "double", "_Complex", "complex", "DATA_TYPE"))
_OTHER_TYPES = frozenset(("void", "bool", "_Bool"))
_NARROW = frozenset(("char", "short", "int8_t", "int16_t", "uint8_t", "uint16_t", "bool", "_Bool"))
_UNSIGNED = frozenset(("unsigned", "size_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uintptr_t"))
_QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "static", "extern", "register", "auto"}


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared name; `rank` counts brackets and stars."""

    name: str
    type: str
    rank: int
    scope: Span
    """The block, function or file where the name is visible."""
    place: Span
    extents: tuple[str, ...] = ()
    may_alias: bool = False
    """Whether it is a pointer, or an array parameter, without `restrict`."""
    has_row_pointers: bool = False
    """Whether its rows may be anywhere: `double **A`, `double *A[9]`, not `double (*A)[9]`."""
    value: int | None = None
    """The value of an enumerator, or of a `const` integer that is initialised by a number."""


@dataclass(frozen=True)
class Declarations:
    variables: tuple[Variable, ...]
    types: frozenset[str]
    functions: frozenset[str]
    pure_functions: frozenset[str]
    aliases: tuple[tuple[str, str], ...]
    """The names and meanings of typedefs, in source order; the meaning of a pointer, an array or a function
    is the name itself."""
    casts: frozenset[str] = frozenset()
    """Names in parentheses that are called: types, unless they are values."""

    def resolved(self, text: str) -> str:
        """A type with the file's typedefs resolved, except for names that its blocks define differently."""
        words = text.split()
        for name, meaning in reversed(self.aliases):
            parts = [name] if name in self.ambiguous_types else meaning.split()
            words = [part for word in words for part in (parts if word == name else [word])]
        return " ".join(words)

    @cached_property
    def ambiguous_types(self) -> frozenset[str]:
        """The names of types that have several meanings, in different blocks or branches of an `#if`."""
        names = [name for name, _ in {*self.aliases}]
        return frozenset(name for name in names if names.count(name) > 1)

    def visible(self, name: str, at: Span) -> Variable | None:
        """The innermost variable `name` declared before `at` in a scope around it."""
        for variable in reversed(self._by_name.get(name, ())):
            if variable.place.start < at.start and variable.scope.contains(at):
                return variable
        return None

    @cached_property
    def _by_name(self) -> dict[str, list[Variable]]:
        found: dict[str, list[Variable]] = {}
        for variable in self.variables:
            found.setdefault(variable.name, []).append(variable)
        return found


def known_constant(declarations: Declarations, name: str) -> int | None:
    """The value of an enumerator or `const` integer, if the file has only one with that name."""
    found = [variable for variable in declarations.variables if variable.name == name]
    return found[0].value if len(found) == 1 and not found[0].rank else None


def is_integer_type(text: str) -> bool:
    """Whether a type is an integer type wide enough for index arithmetic, judging by its name."""
    words = set(text.split()) - _QUALIFIERS
    return bool(words) and words <= INTEGER_TYPES and not words & _NARROW


def is_type_text(text: str) -> bool:
    """Whether `text` is a type spelled out: keywords of C, and stars."""
    words = set(re.findall(r"\w+", text))
    known = INTEGER_TYPES | FLOATING_TYPES | _QUALIFIERS | _OTHER_TYPES
    return re.fullmatch(r"[\w\s*]+", text) is not None and bool(words) and words <= known


def unqualified(text: str) -> str:
    """A type without `const` and other qualifiers, which do not affect its values."""
    return " ".join(word for word in text.split() if word not in _QUALIFIERS)


def is_unsigned_type(text: str) -> bool:
    return bool(set(text.split()) & _UNSIGNED)


def as_signed(text: str, type_of_it: str) -> str:
    """The text of a size as a signed number: a difference of unsigned sizes would wrap around."""
    return f"((long long){text})" if is_unsigned_type(type_of_it) else text


def is_floating_type(text: str) -> bool:
    return bool(set(text.split()) & FLOATING_TYPES)


def type_text(declaration: Node, *, qualifiers: bool) -> str:
    """The specifiers of a declaration on one line, without storage classes and alignment."""
    words = []
    for child in declaration.children:
        if child.type == "type_qualifier" and qualifiers and child.children[0].type not in _NO_QUALIFIERS:
            words.append(child.text)
    specifier = declaration.child_by_field_name("type")
    if specifier is not None:
        is_other = _has_another_type(declaration)
        words.append(ANOTHER_TYPE if is_other else re.sub(r"\s+", " ", specifier.text))
    return " ".join(words)


_NO_QUALIFIERS = ("alignas_qualifier", "__extension__", "constexpr")  # no parts of a type
_TYPE_CHANGES = re.compile(r"\b(?:_*vector_size_*|ext_vector_type|\w*_vector_type|_*mode_*)\s*\(")


def _has_another_type(declaration: Node) -> bool:
    """Whether an attribute changes the declared type, into GNU C vectors or numbers of another size."""
    text = declaration.source.text
    if text.find("attribute", declaration.start, declaration.end) < 0:
        return False
    parts = [child for child in declaration.children if child.type != "compound_statement"]
    return any("attribute" in part.text and _TYPE_CHANGES.search(part.text) for part in parts)


def declared_name(declarator: Node) -> tuple[str, int, tuple[str, ...]] | None:
    """Name, rank and extents of a variable's declarator; None for a function's."""
    rank = 0
    extents: list[str] = []
    node: Node | None = declarator
    while node is not None and node.type != "identifier":
        match node.type:
            case "array_declarator":
                size = node.child_by_field_name("size")
                extents.insert(0, size.text if size is not None else "")
                rank += 1
            case "pointer_declarator":
                rank += 1
            case "init_declarator" | "parenthesized_declarator" | "attributed_declarator":
                pass
            case _:
                return None
        inner = node.child_by_field_name("declarator")
        node = inner if inner is not None else next((c for c in node.named_children), None)
    return None if node is None else (node.text, rank, tuple(extents))


def declarations_of(
    root: Node, regions: Sequence[Span], plain: Collection[str] = frozenset()
) -> Declarations:
    """The declarations in the tree of the whole file that are visible from the regions.

    The bodies of functions without a region are left out, and the variables of their heads; `plain` are
    functions missing from the tree (`without_plain_functions`).
    """
    found: list[Declarations] = []
    for part in root.children:
        body = part.extent_of("body") if part.type == "function_definition" else None
        if body is None or any(body[0] <= one.start and one.end <= body[1] for one in regions):
            found.append(_declared([(node, True) for node in part.declaring()]))
            continue
        heads = (one for one in part.children if one.start != body[0])
        found.append(_declared([(part, True), *((node, False) for one in heads for node in one.declaring())]))
    variables = tuple(variable for one in found for variable in one.variables)
    functions = frozenset((*plain, *(name for one in found for name in one.functions)))
    values = functions | {variable.name for variable in variables}
    return Declarations(
        variables,
        frozenset(name for one in found for name in (*one.types, *(one.casts - values))),
        functions,
        frozenset(name for one in found for name in one.pure_functions),
        tuple(alias for one in found for alias in one.aliases),
    )


def _declared(nodes: Sequence[tuple[Node, bool]]) -> Declarations:
    """The declarations in these nodes, each with whether its variables are visible from a region."""
    variables: list[Variable] = []
    types: set[str] = set()
    functions: set[str] = set()
    pure: set[str] = set()
    aliases: list[tuple[str, str]] = []
    for node, is_seen in nodes:
        match node.type:
            case "parameter_declaration" if not is_seen:
                types.update(_named_types(node) if node.child_by_field_name("declarator") else ())
            case "declaration" | "parameter_declaration" | "field_declaration":
                declarators = node.children_by_field_name("declarator")
                if declarators:
                    types.update(_named_types(node))
                if node.type != "field_declaration":
                    variables += _variables(node, declarators)
                functions.update(name for d in declarators if (name := _function_name(d)))
                pure.update(_pure_names(node, declarators))
            case "function_definition":
                declarators = node.children_by_field_name("declarator")
                functions.update(name for d in declarators if (name := _function_name(d)))
                pure.update(_pure_names(node, declarators))
            case "type_definition":
                types.update(d.text for d in node.children_by_field_name("declarator"))
                aliases += _aliases(node)
            case "enumerator_list":
                variables += _enumerators(node)
            case "cast_expression" if is_certain_cast(node):
                types.update(_named_types(node.named_children[0]))
    casts = frozenset(_cast_names([node for node, _ in nodes]))
    return Declarations(
        tuple(variables), frozenset(types), frozenset(functions), frozenset(pure), tuple(aliases), casts
    )


def is_certain_cast(node: Node) -> bool:
    """Whether `(x)` before the operand cannot be a value x, unlike in x - y, x * y, x & y, x(y)."""
    value = field(node, "value")
    match value.type:
        case "unary_expression":
            return operator(value) not in ("-", "+")
        case "number_literal":
            return not value.text.startswith(("-", "+"))
        case kind:
            return kind not in ("pointer_expression", "cast_expression", "parenthesized_expression")


def _aliases(node: Node) -> list[tuple[str, str]]:
    meaning = type_text(node, qualifiers=False)
    found = []
    for one in node.children_by_field_name("declarator"):
        name = next((part.text for part in walk(one) if part.type == "type_identifier"), None)
        other = f"{ANOTHER_TYPE}_{name}" if meaning == ANOTHER_TYPE else meaning
        found += [] if name is None else [(name, other if name == one.text else name)]
    return found


def _cast_names(nodes: Sequence[Node]) -> list[str]:
    """The X of `(X)(e)`, which the grammar parses as a call, if X is spelled like a type."""
    found = []
    for node in nodes:
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        if function is not None and function.type == "parenthesized_expression":
            name = without_parentheses(function).text
            if name.endswith("_t") or looks_like_macro(name):
                found.append(name)
    return found


def _named_types(node: Node) -> list[str]:
    specifier = node.child_by_field_name("type")
    is_name = specifier is not None and specifier.type == "type_identifier"
    return [specifier.text] if is_name and specifier is not None else []


def _variables(node: Node, declarators: list[Node]) -> list[Variable]:
    found = []
    scope = _scope(node)
    has_attribute = any(part.type == "attribute_specifier" for part in walk(node))
    for declarator in declarators:
        named = declared_name(declarator)
        if named is not None:
            name, rank, extents = named
            kind = type_text(node, qualifiers=True)
            aliased = _may_alias(node, declarator)
            value = None if has_attribute else _constant(kind, declarator)
            rows = _has_row_pointers(declarator)
            spot = declarator.span
            found.append(Variable(name, kind, rank, scope, spot, extents, aliased, rows, value))
    return found


def _constant(kind: str, declarator: Node) -> int | None:
    value = declarator.child_by_field_name("value")
    is_fixed = "const" in kind.split() and "volatile" not in kind.split()
    number = integer_text(value.text) if is_fixed and value is not None else None
    held = named_type(unqualified(kind))
    is_held = isinstance(held, Integer) and number is not None and held.least <= number <= held.greatest
    return number if is_held and is_integer_type(kind) else None


def _enumerators(node: Node) -> list[Variable]:
    """The constants of an `enum`; one without a value is one more than the previous one."""
    found: list[Variable] = []
    value: int | None = 0
    for part in node.named_children:
        if part.type != "enumerator":
            continue
        given = part.child_by_field_name("value")
        value = value if given is None else integer_text(given.text)
        name = part.named_children[0].text
        found.append(Variable(name, "int", 0, _scope(node), part.span, value=value))
        value = None if value is None else value + 1
    return found


def _may_alias(node: Node, declarator: Node) -> bool:
    words = re.findall(r"\w+", declarator.text)
    if "restrict" in words or "__restrict" in words or "__restrict__" in words:
        return False
    kinds = [part.type for part in walk(declarator)]
    is_parameter = node.type == "parameter_declaration"
    return "pointer_declarator" in kinds or (is_parameter and "array_declarator" in kinds)


def _has_row_pointers(declarator: Node) -> bool:
    """Whether a pointer is anywhere but next to the name in a declarator."""
    composing = ("pointer_declarator", "array_declarator")
    kinds = [part.type for part in walk(declarator) if part.type in composing]
    return "pointer_declarator" in kinds[:-1]


def _scope(node: Node) -> Span:
    for current in node.around():
        if current.type in ("compound_statement", "function_definition", "for_statement"):
            return current.span
        owner = None if current.parent is None else current.parent.parent
        if current.type == "parameter_list" and owner is not None and owner.type == "declaration":
            return owner.span
    return Span(node.source, 0, 1 << 62)


def _function_name(declarator: Node) -> str | None:
    node: Node | None = declarator
    while node is not None and node.type in ("pointer_declarator", "attributed_declarator"):
        node = node.child_by_field_name("declarator") or node.named_children[0]
    if node is None or node.type != "function_declarator":
        return None
    name = node.child_by_field_name("declarator")
    return name.text if name is not None and name.type == "identifier" else None


def _pure_names(node: Node, declarators: list[Node]) -> list[str]:
    """Functions with gcc's attribute `pure` or `const`, or C23's `reproducible`, `unsequenced`."""
    words: set[str] = set()
    text = node.source.text
    if text.find("attribute", node.start, node.end) < 0 and text.find("[[", node.start, node.end) < 0:
        return []
    for child in node.children:
        if child.type == "compound_statement":
            continue
        for part in walk(child):
            if part.type in ("attribute_specifier", "attribute_declaration"):
                words.update(re.findall(r"\w+", part.text))
    if not words & {"pure", "const", "__pure__", "__const__", "reproducible", "unsequenced"}:
        return []
    return [name for d in declarators if (name := _function_name(d))]
