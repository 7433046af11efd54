"""Rewrites statements about vectors as statements about their lanes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field as made_of
from itertools import count

from loopwright.c.file import CFile
from loopwright.c.reworded.vector_expressions import (
    ExpressionsInLanes,
    Lanes,
    NotInLanes,
    VectorNames,
    lane_names,
    variable_lanes,
)
from loopwright.c.reworded.vector_words import FIRST_LANES, SIZES, STORES, VectorType, vector_function
from loopwright.c.syntax import Node, field, is_address, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import names_in, on_one_line, packed
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit

COPY = "memcpy"
_LANES = tuple(map(str, range(64)))
"""Lane numbers as written."""


@dataclass
class StatementsInLanes:
    """The rewritten statements of one function."""

    file: CFile
    function: Node
    names: VectorNames
    needs_library: bool = False
    copies: bool = False
    """Whether the function calls `memcpy`."""
    numbers: Iterator[int] = made_of(default_factory=count)

    @property
    def expressions(self) -> ExpressionsInLanes:
        return ExpressionsInLanes(self.file.possible, self.function, self.names)

    def edits(self) -> list[Edit]:
        found: list[Edit] = []
        for node in self.function.of_type("declaration", "expression_statement"):
            text = self.declared(node) if node.type == "declaration" else self.performed(node)
            if text is not None:
                found.append(node.span.reworded(text))
        for edit in self.single_lanes():
            found += [] if _is_in(edit, found) else [edit]
        self.refuse_left(found)
        return found

    def declared(self, node: Node) -> str | None:
        """The declaration of the lanes of its vectors, each with its value."""
        specifier = node.child_by_field_name("type")
        made = None if specifier is None else self.names.types.get(specifier.text)
        if made is None:
            return None
        declarators = node.children_by_field_name("declarator")
        words = [one.text for one in named_children(node) if one is not specifier and one not in declarators]
        is_alone = node.parent is not None and node.parent.type == "compound_statement"
        if not is_alone or not {*words} <= {"const", "register"}:
            raise NotInLanes(f"the declaration '{on_one_line(node.text)}' cannot be read", node.span)
        parts = [part for one in declarators for part in self.declarators(one, made)]
        return f"{' '.join([*words, made.element])} {', '.join(parts)};"

    def declarators(self, node: Node, made: VectorType) -> list[str]:
        match node.type:
            case "identifier":
                return list(lane_names(node.text, made))
            case "init_declarator" if (name := field(node, "declarator")).type == "identifier":
                value = field(node, "value")
                expressions = self.expressions
                is_list = value.type == "initializer_list"
                lanes = expressions.listed(value, made) if is_list else expressions.vector(value, made)
                self.needs_library |= lanes.calls_library
                pairs = zip(lane_names(name.text, made), lanes.texts, strict=True)
                return [f"{one} = {text}" for one, text in pairs]
            case "array_declarator":
                inner = node
                while inner.type == "array_declarator":
                    inner = field(inner, "declarator")
                sizes = on_one_line(node.text[inner.end - node.start :])
                if inner.type == "identifier":
                    return [f"{one}{sizes}" for one in lane_names(inner.text, made)]
        raise NotInLanes(f"the declaration of '{on_one_line(node.text)}' cannot be read", node.span)

    def performed(self, node: Node) -> str | None:
        """The lane-by-lane form of an assignment of a vector, or of a store; None for other statements."""
        parts = named_children(node)
        inner = without_parentheses(parts[0]) if len(parts) == 1 else node
        found: list[str] | None = None
        if inner.type == "assignment_expression":
            found = self.assigned(inner)
        elif inner.type == "call_expression":
            function = vector_function(field(inner, "function").text)
            arguments = named_children(field(inner, "arguments"))
            if field(inner, "function").text == COPY and len(arguments) == 3:
                found = self.copied(*arguments)
            elif function is not None and function.action in STORES:
                if len(arguments) != 2:
                    raise NotInLanes(f"'{on_one_line(inner.text)}'", inner.span)
                found = self.stored(
                    self.expressions.loaded(arguments[0], function.type, function.action), arguments[1]
                )
        if found is None:
            return None
        text = " ".join(found)
        is_alone = node.parent is not None and node.parent.type == "compound_statement"
        declares = found[0].startswith(("double ", "float "))
        return text if is_alone and not declares else f"{{ {text} }}"

    def assigned(self, node: Node) -> list[str] | None:
        target, how = field(node, "left"), operator(node)
        own = variable_lanes(target, self.names)
        if own is None:
            place = self.expressions.value(target) if target.type == "pointer_expression" else None
            if place is None:
                return None
            if how != "=":
                raise NotInLanes(f"'{on_one_line(node.text)}'", node.span)
            return self.stored(place, field(node, "right"))
        expressions = self.expressions
        if how not in ("=", "+=", "-=", "*=", "/="):
            raise NotInLanes(f"'{on_one_line(node.text)}'", node.span)
        value = expressions.value(field(node, "right"))
        if value is None and how != "=":
            value = expressions.filled(field(node, "right"), own.type)
        if value is None or not value.type.is_like(own.type):
            raise NotInLanes(f"'{on_one_line(node.text)}'", node.span)
        self.needs_library |= value.calls_library
        first, texts = self.kept(value) if value.crosses else ([], value.texts)
        pairs = zip(own.texts, texts, strict=True)
        return [*first, *(f"{one} {how} {text};" for one, text in pairs)]

    def copied(self, to: Node, of: Node, size: Node) -> list[str] | None:
        """The lanes of `memcpy(&v, x + i, sizeof v)`, and of the reverse; None if no vector is copied."""
        into, out = (self.pointed_at(without_parentheses(one)) for one in (to, of))
        vector, own = into if into is not None else out if out is not None else (None, None)
        if vector is None or own is None:
            return None
        made = own.type
        names = [vector.text, *(name for name, one in self.names.types.items() if one.is_like(made))]
        sizes = {str(made.lanes * SIZES[made.element]), *(packed(f"sizeof({name})") for name in names)}
        is_whole = packed(size.text) in sizes or on_one_line(size.text) == f"sizeof {vector.text}"
        if not is_whole or (into is not None and out is not None):
            raise NotInLanes(f"'{COPY}' must copy a whole vector from or to memory", size.span)
        self.copies = True
        if into is None:
            return self.stored(self.expressions.loaded(to, made), vector)
        values = self.expressions.loaded(of, made).texts
        return [f"{one} = {text};" for one, text in zip(own.texts, values, strict=True)]

    def pointed_at(self, node: Node) -> tuple[Node, Lanes] | None:
        """The vector v of `&v`, if it is one."""
        inner = field(node, "argument") if is_address(node) else None
        lanes = None if inner is None else variable_lanes(inner, self.names)
        return None if inner is None or lanes is None else (inner, lanes)

    def kept(self, value: Lanes) -> tuple[list[str], tuple[str, ...]]:
        """Temporary variables for lanes, so that all are computed before one is assigned."""
        number = next(self.numbers)
        own = tuple(f"lane{number}_{k}" for k in range(value.type.lanes))
        values = ", ".join(f"{one} = {text}" for one, text in zip(own, value.texts, strict=True))
        return [f"{value.type.element} {values};"], own

    def stored(self, places: Lanes, node: Node) -> list[str]:
        """Stores of all lanes; all are computed before one is stored."""
        value = self.expressions.vector(node, places.type)
        self.needs_library |= value.calls_library
        is_variable = variable_lanes(node, self.names) is not None
        first, texts = ([], value.texts) if is_variable else self.kept(value)
        return [*first, *(f"{place} = {text};" for place, text in zip(places.texts, texts, strict=True))]

    def single_lanes(self) -> Iterator[Edit]:
        """Edits for `v[2]`, and for functions that extract the first lane, where a number is expected."""
        for node in walk(self.function):
            found: Lanes | None = None
            number = 0
            if node.type == "subscript_expression":
                found = variable_lanes(field(node, "argument"), self.names)
                index = field(node, "index").text
                number = int(index) if index in _LANES else -1
            elif node.type == "call_expression":
                function = vector_function(field(node, "function").text)
                arguments = named_children(field(node, "arguments"))
                if function is not None and function.action in FIRST_LANES and len(arguments) == 1:
                    found = self.expressions.value(arguments[0])
                    found = found if found is not None and found.type.is_like(function.type) else None
                    self.needs_library |= found is not None and found.calls_library
            above = node.parent
            is_pointed_at = above is not None and above.type == "pointer_expression"
            if found is not None and 0 <= number < found.type.lanes and not is_pointed_at:
                yield node.span.reworded(found.texts[number])

    def refuse_left(self, edits: list[Edit]) -> None:
        """Raise an error if a vector of the function is named outside of these edits, or in a pragma."""
        for name in self.names.variables:
            for node in self.function.named(name):
                if not _is_in((node.start, node.end, ""), edits):
                    raise NotInLanes(f"'{name}' is used in a form that cannot be read", node.span)
        for line in self.file.directives:
            if not {*self.names.variables}.isdisjoint(names_in(line.argument)):
                raise NotInLanes("a directive names a vector", line.place)


def _is_in(edit: Edit, edits: list[Edit]) -> bool:
    return any(start <= edit[0] and edit[1] <= end for start, end, _ in edits)
