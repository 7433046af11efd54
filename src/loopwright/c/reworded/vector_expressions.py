"""Expressions of vectors as C expressions of their lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopwright.c.declarations import declared_name, type_text
from loopwright.c.reworded.aligned import is_aligned
from loopwright.c.reworded.vector_words import (
    ADDED_FIRST,
    ALIGNED,
    ARITHMETIC,
    CHOICES,
    FIRST_LANES,
    FUSED,
    LOADS,
    ROOTS,
    VectorFunction,
    VectorMove,
    VectorType,
    is_word_of_vectors,
    move_number,
    vector_function,
    vector_move,
)
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import bracketed, is_number, on_one_line
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span

_LONGEST = 4_000
"""The maximum number of characters of a lane: choices repeat their operands."""
_PURE = (
    *("identifier", "number_literal", "parenthesized_expression", "subscript_expression"),
    *("field_expression", "field_identifier", "unary_expression", "binary_expression"),
    *("cast_expression", "type_descriptor", "primitive_type"),
)


_SIGNED = ("int", "long", "long int", "long long", "short", "char", "signed char", "unsigned char")
"""Types whose sums do not wrap around."""


class NotInLanes(Exception):
    """Vectors that cannot be rewritten as lanes, and the reason."""

    def __init__(self, reason: str, place: Span | None) -> None:
        super().__init__(reason)
        self.place = place


@dataclass(frozen=True)
class VectorVariable:
    """A vector, or an array of vectors with `rank` dimensions."""

    type: VectorType
    rank: int


@dataclass(frozen=True)
class VectorNames:
    """The meaning of the names of a function."""

    types: Mapping[str, VectorType]
    variables: Mapping[str, VectorVariable]
    macros: frozenset[str]
    contracted: bool = False
    """Whether fused multiply-adds become a product and a sum."""


@dataclass(frozen=True)
class Lanes:
    """A vector value: a C expression for each lane."""

    type: VectorType
    texts: tuple[str, ...]
    calls_library: bool = False
    crosses: bool = False
    """Whether a lane depends on other lanes."""


def lane_names(name: str, of: VectorType) -> tuple[str, ...]:
    return tuple(f"{name}_lane{k}" for k in range(of.lanes))


def variable_lanes(node: Node, names: VectorNames) -> Lanes | None:
    """The lanes of a vector variable, or of an element of an array of vectors; None for other nodes."""
    node = without_parentheses(node)
    indices: list[str] = []
    while node.type == "subscript_expression":
        indices.insert(0, index_text(field(node, "index"), names))
        node = without_parentheses(field(node, "argument"))
    variable = names.variables.get(node.text) if node.type == "identifier" else None
    if variable is None or variable.rank != len(indices):
        return None
    subscripts = bracketed(indices)
    return Lanes(variable.type, tuple(f"{one}{subscripts}" for one in lane_names(node.text, variable.type)))


def index_text(node: Node, names: VectorNames) -> str:
    """An element's index: it consists of integers, so that storing a lane does not change it."""
    if any(part.type == "cast_expression" for part in walk(node)):
        raise NotInLanes(f"'{on_one_line(node.text)}' is an index with a cast", node.span)
    return pure_text(node, names)


def pure_text(node: Node, names: VectorNames) -> str:
    """A scalar expression without side effects, which may be evaluated several times."""
    for part in walk(node):
        if not part.is_named or part.type == "comment":
            continue
        is_vector = part.type == "identifier" and (
            part.text in names.variables or part.text in names.types or is_word_of_vectors(part.text)
        )
        if part.type not in _PURE or is_vector:
            raise NotInLanes(f"'{on_one_line(node.text)}' cannot be evaluated once for each lane", node.span)
        if part.type == "unary_expression" and operator(part) not in ("-", "+"):
            raise NotInLanes(f"'{on_one_line(node.text)}' cannot be evaluated once for each lane", node.span)
    return on_one_line(node.text)


@dataclass(frozen=True)
class ExpressionsInLanes:
    """The expressions of a function; `root` is the file, which declares variables too."""

    root: Node
    function: Node
    names: VectorNames

    def value(self, node: Node) -> Lanes | None:
        """The lanes of an expression; None if it is not a vector."""
        node = without_parentheses(node)
        found = variable_lanes(node, self.names)
        if found is None:
            match node.type:
                case "call_expression":
                    found = self.called(node)
                case "binary_expression" if operator(node) in ARITHMETIC.values():
                    found = self.combined(node)
                case "unary_expression" if operator(node) == "-":
                    inner = self.value(field(node, "argument"))
                    found = None if inner is None else _lane_by_lane(inner.type, [inner], "(-{})")
                case "compound_literal_expression":
                    made = self.names.types.get(on_one_line(field(node, "type").text))
                    found = None if made is None else self.listed(field(node, "value"), made)
                case "pointer_expression" if operator(node) == "*":
                    found = self.pointed(node)
        if found is not None and max(map(len, found.texts)) > _LONGEST:
            raise NotInLanes("this expression of vectors is too long", node.span)
        return found

    def vector(self, node: Node, wanted: VectorType) -> Lanes:
        found = self.value(node)
        if found is None or not found.type.is_like(wanted):
            raise NotInLanes(f"'{on_one_line(node.text)}' is not a vector of the expected type", node.span)
        return found

    def combined(self, node: Node) -> Lanes | None:
        """Arithmetic on vectors, or on a vector and a scalar for all lanes."""
        sides = field(node, "left"), field(node, "right")
        found = [self.value(one) for one in sides]
        known = next((one for one in found if one is not None), None)
        if known is None:
            return None
        lanes = [
            self.filled(side, known.type) if one is None else one
            for side, one in zip(sides, found, strict=True)
        ]
        if not lanes[0].type.is_like(lanes[1].type):
            raise NotInLanes("the operands are vectors of different types", node.span)
        return _lane_by_lane(known.type, lanes, f"({{}} {operator(node)} {{}})")

    def filled(self, node: Node, of: VectorType) -> Lanes:
        """A scalar in all lanes, converted to their type."""
        return Lanes(of, (self.converted(node, of.element),) * of.lanes)

    def listed(self, node: Node, of: VectorType) -> Lanes:
        values = named_children(node)
        if node.type != "initializer_list" or len(values) != of.lanes:
            raise NotInLanes(
                f"'{on_one_line(node.text)}' is not a list of {of.lanes} values, one for each lane", node.span
            )
        return Lanes(of, tuple(self.converted(one, of.element) for one in values))

    def converted(self, node: Node, element: str) -> str:
        text = pure_text(node, self.names)
        bare = without_parentheses(node)
        is_literal = is_number(bare.text) and "." in bare.text
        if is_literal and (bare.text[-1] in "fF") == (element == "float") and bare.text[-1] not in "lL":
            return f"({text})" if text.startswith(("-", "+")) else text
        if bare.type == "identifier" and self.declared(bare, element) == {0}:
            return text
        return f"(({element})({text}))"

    def declared(self, name: Node, element: str) -> set[int]:
        """The ranks in the declarations of a name; empty if one has another type."""
        found: set[int] = set()
        if name.text in self.names.macros:
            return set()
        places = [
            *self.function.of_type("declaration", "parameter_declaration"),
            *(one for one in named_children(self.root) if one.type == "declaration"),
        ]
        for node in places:
            for declarator in node.children_by_field_name("declarator"):
                known = declared_name(declarator)
                if known is None or known[0] != name.text:
                    continue
                words = {part.text for part in named_children(node) if part.type.endswith("_qualifier")}
                if type_text(node, qualifiers=False) != element or not words <= {"const", "restrict"}:
                    return set()
                found.add(known[1])
        return found

    def called(self, node: Node) -> Lanes | None:
        function = vector_function(field(node, "function").text)
        arguments = named_children(field(node, "arguments"))
        if function is None:
            return self.moved(vector_move(field(node, "function").text), arguments)
        if function.action in FIRST_LANES:
            return None
        made = function.type
        match function.action, arguments:
            case action, [one] if action in LOADS:
                return self.loaded(one, made, function.action)
            case "broadcast", [one]:
                return Lanes(made, (self.loaded(one, made).texts[0],) * made.lanes)
            case "setzero", []:
                return Lanes(made, ("0.0f" if made.element == "float" else "0.0",) * made.lanes)
            case "set1", [one]:
                return self.filled(one, made)
            case ("set" | "setr") as action, values if len(values) == made.lanes:
                texts = tuple(self.converted(one, made.element) for one in values)
                return Lanes(made, texts[::-1] if action == "set" else texts)
            case _:
                return self.computed(function, arguments)

    def moved(self, move: VectorMove | None, arguments: Sequence[Node]) -> Lanes | None:
        if move is None or len(arguments) != len(move.takes) + move.has_number:
            return None
        number = move_number(arguments[-1].text) if move.has_number else 0
        if number is None:
            return None
        lanes = [self.vector(one, kind) for one, kind in zip(arguments, move.takes, strict=False)]
        texts = move.lanes([one.texts for one in lanes], number)
        calls = any(one.calls_library for one in lanes)
        return Lanes(move.made, texts, calls, crosses=True) if texts else None

    def computed(self, function: VectorFunction, arguments: Sequence[Node]) -> Lanes | None:
        made, action = function.type, function.action
        lanes = [self.vector(one, made) for one in arguments]
        suffix = "f" if made.element == "float" else ""
        if action in ADDED_FIRST and len(lanes) == 3:
            action, lanes = ADDED_FIRST[action], [*lanes[1:], lanes[0]]
        match action, len(lanes):
            case _, 2 if action in ARITHMETIC:
                return _lane_by_lane(made, lanes, f"({{}} {ARITHMETIC[action]} {{}})")
            case _, 2 if action in CHOICES:
                return _lane_by_lane(made, lanes, f"({{0}} {CHOICES[action]} {{1}} ? {{0}} : {{1}})")
            case _, 3 if action in FUSED:
                product, added = FUSED[action]
                if self.names.contracted:
                    negated = "(-({} * {}))" if product else "({} * {})"
                    return _lane_by_lane(made, lanes, f"({negated} {added or '+'} {{}})")
                form = f"fma{suffix}({product}{{}}, {{}}, {added}{{}})"
                return _lane_by_lane(made, lanes, form, calls=True)
            case _, 1 if action in ROOTS:
                return _lane_by_lane(made, lanes, f"{action}{suffix}({{}})", calls=True)
            case _:
                return None

    def pointed(self, node: Node) -> Lanes | None:
        """The lanes of `*(v4 *)&x[i]`, for vectors without required alignment."""
        cast = without_parentheses(field(node, "argument"))
        if cast.type != "cast_expression":
            return None
        words = on_one_line(field(cast, "type").text).replace("const ", "").replace(" const", "")
        made = self.names.types.get(words.removesuffix("*").strip())
        if made is None or not words.endswith("*"):
            return None
        if not made.is_anywhere:
            raise NotInLanes("the address of this vector must be aligned", node.span)
        return self.loaded(field(cast, "value"), made)

    def loaded(self, address: Node, made: VectorType, action: str = "") -> Lanes:
        """The elements starting at an address, which some actions need to be aligned."""
        is_known = self.names.macros.isdisjoint(identifiers(address))
        if action in ALIGNED and not (is_known and is_aligned(address, made.lanes, self.function)):
            raise NotInLanes(f"the address '{on_one_line(address.text)}' must be aligned", address.span)
        base, index = self.address(address, made.element)
        later = [f"{base}[({index}) + {k}]" for k in range(1, made.lanes)]
        return Lanes(made, (f"{base}[{index}]", *later))

    def address(self, node: Node, element: str) -> tuple[str, str]:
        """An address as a pointer, or a row of an array, and the index of an element there."""
        node = without_parentheses(node)
        match node.type:
            case "binary_expression" if operator(node) in ("+", "-"):
                base, index = self.address(field(node, "left"), element)
                more = self.number(field(node, "right"))
                if index == "0" and operator(node) == "+":
                    return base, more
                return base, f"({index}) {operator(node)} ({more})"
            case "pointer_expression" if operator(node) == "&":
                inner = without_parentheses(field(node, "argument"))
                if inner.type == "subscript_expression":
                    base = self.row(field(inner, "argument"), element)
                    return base, self.number(field(inner, "index"))
            case "identifier" | "subscript_expression":
                return self.row(node, element), "0"
        raise NotInLanes(f"the address '{on_one_line(node.text)}' cannot be read", node.span)

    def number(self, node: Node) -> str:
        """A term for sums of subscripts: sums of pointers do not wrap around like those of `unsigned`."""
        text = index_text(node, self.names)
        names = [one for one in walk(node) if one.type in ("identifier", "field_identifier")]
        is_signed = all(any(self.declared(one, kind) for kind in _SIGNED) for one in names)
        marked = (one.text for one in walk(node) if one.type == "number_literal")
        return text if is_signed and all(map(str.isdecimal, marked)) else f"(long)({text})"

    def row(self, node: Node, element: str) -> str:
        """A pointer to elements: a name with all subscripts except one."""
        text = index_text(node, self.names)
        root, depth = without_parentheses(node), 1
        while root.type == "subscript_expression":
            root, depth = without_parentheses(field(root, "argument")), depth + 1
        if root.type != "identifier" or self.declared(root, element) != {depth}:
            raise NotInLanes(f"'{on_one_line(node.text)}' is not known to hold {element}", node.span)
        return text


def _lane_by_lane(made: VectorType, lanes: Sequence[Lanes], form: str, *, calls: bool = False) -> Lanes:
    texts = tuple(form.format(*(one.texts[k] for one in lanes)) for k in range(made.lanes))
    calls = calls or any(one.calls_library for one in lanes)
    return Lanes(made, texts, calls, any(one.crosses for one in lanes))
