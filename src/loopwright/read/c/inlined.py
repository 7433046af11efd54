"""Inlines calls of functions that the file defines.

    f(e, A);          { T x = e; B }                  of  void f(T x, U *p) { B }, with A in place of p
    y = f(e);         { T x = e; B; y = (T)(r); }     of  T f(T x) { B; return r; }
    ... f(e) ...      ... ((T)(r)) ...                of  T f(T x) { return r; }, with ((T)(e)) in place of x

All names of the function are renamed to fresh ones; names that it takes from the file mean the same in the
caller.  Arguments have no side effects, so their order does not matter, and each is evaluated where the call
evaluates it.  A pointer parameter that is not assigned is replaced by the caller's array or pointer, if both
have the same elements; another pointer is copied.  A struct is the caller's own, if neither modifies it.
The function has no `static`, label, jump or early `return`, and no macro in it introduces a name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from loopwright.c.declarations import Variable
from loopwright.c.file import c_file
from loopwright.c.macros import looks_like_macro
from loopwright.c.reworded.passages import Passage, rewritten, tops_around
from loopwright.c.syntax import (
    Node,
    assigned_names,
    field,
    identifiers,
    is_address,
    named_children,
    operator,
    walk,
    without_parentheses,
)
from loopwright.c.tokens import names_in, on_one_line, spelled, with_names_replaced, without_comments
from loopwright.c.typed.file import TypedFile, may_point_to, typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.inlinable import KEYWORDS, InlinableFunction, inlinable_function, parameter_shape
from loopwright.source import Edit, Source

_MOST = 12
"""The maximum number of calls that are inlined."""
_EFFECTS = ("call_expression", "assignment_expression", "update_expression", "gnu_asm_expression")
_TAGS = ("struct_specifier", "union_specifier", "enum_specifier")
_QUALIFIERS = frozenset(("const", "restrict", "__restrict", "__restrict__"))


def called_in(source: Source) -> dict[str, str]:
    """The functions of the file that its regions call, and their bodies."""
    file = c_file(source)
    texts = [without_comments(region.place.text, literals=False) for region in file.regions]
    words = {name for text in texts for name in re.findall(r"\b([A-Za-z_]\w*)\s*\(", text)}
    called = words - file.macro_names
    whole = without_comments(source.text, literals=False)
    if not any(re.search(rf"\b{name}\s*\([^;{{}}]*\)\s*{{", whole) for name in called - KEYWORDS):
        return {}
    return {one.name: on_one_line(one.body.span.text) for one in file.functions if one.name in called}


def with_calls_inlined(
    source: Source, names: Collection[str], options: CompilerOptions, before: Source | None = None
) -> Source:
    """The source with the calls of these functions in its regions inlined, as far as possible.

    `before` is the source before other calls were inlined: edits only affect regions, so each function is
    compiled once.
    """

    def typed() -> TypedFile:
        return typed_file(source if before is None else before, options)

    def rule(node: Node, passage: Passage) -> list[Edit]:
        called, place = field(node, "function").text, passage.region.place
        function = inlinable_function(passage.file, called, place, typed) if called in names else None
        edit = None if function is None else _Call(passage, node, function, options).edit()
        return [] if edit is None else [edit]

    return rewritten(source, rule, "call_expression", most=_MOST)


@dataclass(frozen=True)
class _Call:
    passage: Passage
    node: Node
    function: InlinableFunction
    options: CompilerOptions

    def edit(self) -> Edit | None:
        """The edit that replaces the call, or the statement that it is or ends."""
        arguments = named_children(field(self.node, "arguments"))
        pure = not any(part.type in _EFFECTS for one in arguments for part in walk(one))
        pure = pure and not self._is_in_a_macro()
        local = {word for one in tops_around(self.passage) for word in _local_names(one)}
        names = {*self.function.free, self.function.name}
        if not pure or len(arguments) != len(self.function.parameters) or names & local:
            return None
        renamed: dict[str, str] = self._fresh()
        copies: list[str] = []
        values: dict[str, str] = {}
        for parameter, argument in zip(self.function.parameters, arguments, strict=True):
            name = identifiers(field(parameter, "declarator"))[0]
            if name in self.function.records:
                if name not in self.function.kept or not self._is_kept(argument):
                    return None
                renamed[name] = values[name] = argument.text
            elif field(parameter, "declarator").type == "identifier":
                kind = " ".join(one for one in parameter.text.split() if one not in _QUALIFIERS)
                kind = kind.removesuffix(name).strip()
                copies.append(f"{kind} {renamed[name]} = {on_one_line(argument.text)};")
                values[name] = f"(({kind})({on_one_line(argument.text)}))"
            elif self._is_same_storage(parameter, argument, dict(zip(self._names(), arguments, strict=True))):
                renamed[name] = values[name] = argument.text
            elif self.function.statements and _is_one_pointer(parameter):
                kind = _constant(parameter) + field(parameter, "type").text
                copies.append(f"{kind} *{renamed[name]} = {on_one_line(argument.text)};")
            else:
                return None
        if self.function.value is not None and not self.function.statements:
            return self._as_value(values, arguments)
        return self._as_statements(renamed, copies)

    def _is_kept(self, argument: Node) -> bool:
        """Whether a struct argument is a variable of the caller without pointers to it."""
        theirs = self.passage.file.declarations.visible(argument.text, self.node.span)
        if argument.type != "identifier" or theirs is None or theirs.rank:
            return False
        is_local = any(one.span.contains(theirs.place) for one in tops_around(self.passage))
        return is_local and not self._is_given_away(argument.text)

    def _is_given_away(self, name: str) -> bool:
        return may_point_to(self.node.source, self.options, name)

    def _is_in_a_macro(self) -> bool:
        """Whether the call is in an argument of a macro, which may depend on its text."""
        known = {macro.name for macro in self.passage.file.macros}
        calls = (one for one in self.node.around() if one.type == "call_expression")
        names = (field(one, "function").text for one in calls)
        return any(name in known or looks_like_macro(name) for name in names)

    def _names(self) -> list[str]:
        return [identifiers(field(one, "declarator"))[0] for one in self.function.parameters]

    def _fresh(self) -> dict[str, str]:
        used, number = set(names_in(self.node.source.text)), 1
        while any(f"{name}_{number}" in used for name in self.function.own):
            number += 1
        return {name: f"{name}_{number}" for name in self.function.own}

    def _is_same_storage(self, parameter: Node, argument: Node, given: dict[str, Node]) -> bool:
        """Whether a parameter always points to the first element of the array that its argument names."""
        name = identifiers(field(parameter, "declarator"))[0]
        mine = parameter_shape(parameter)
        theirs = self.passage.file.declarations.visible(argument.text, self.node.span)
        if argument.type != "identifier" or theirs is None or mine is None:
            return False
        changed = any(name in _reassigned(one) for part in self.function.statements for one in walk(part))
        kind = " ".join(w for w in field(parameter, "type").text.split() if w not in _QUALIFIERS)
        texts = {one: on_one_line(value.text) for one, value in given.items()}
        rows = [spelled(with_names_replaced(one, texts)) for one in mine[2][1:]]
        same_rows = len(mine[2]) == mine[1] and rows == [spelled(one) for one in theirs.extents[1:]]
        return (
            not changed
            and _is_plain(parameter)
            and self._is_fixed(theirs)
            and not theirs.has_row_pointers
            and mine[1] == theirs.rank
            and kind == " ".join(w for w in theirs.type.split() if w not in _QUALIFIERS)
            and (mine[1] == 1 or same_rows)
        )

    def _is_fixed(self, variable: Variable) -> bool:
        """Whether a variable is an array, or a pointer of the caller whose address does not escape."""
        around = tops_around(self.passage)
        is_local = any(one.span.contains(variable.place) for one in around)
        is_array = len(variable.extents) == variable.rank and not (is_local and variable.may_alias)
        return is_array or (is_local and not self._is_given_away(variable.name))

    def _as_value(self, values: dict[str, str], arguments: list[Node]) -> Edit | None:
        value = self.function.value
        assert value is not None, "only of functions that are a value"
        always = Counter(part.text for part in _always(value) if part.type == "identifier")
        is_plain = all(one.type in ("identifier", "number_literal") for one in arguments)
        if not is_plain and any(always[name] < 1 for name in values):
            return None
        if any(part.type in _EFFECTS and part.type != "call_expression" for part in walk(value)):
            return None
        text = with_names_replaced(on_one_line(value.text), values)
        return self.node.spelled.reworded(f"(({self.function.type})({text}))")

    def _as_statements(self, renamed: dict[str, str], copies: list[str]) -> Edit | None:
        """The block that replaces `f(e);` or `y = f(e);`."""
        statement, target = self.node.parent, ""
        if self.function.value is not None:
            assigned = self.node.parent
            if assigned is None or assigned.type != "assignment_expression" or operator(assigned) != "=":
                return None
            left, statement = field(assigned, "left"), assigned.parent
            if field(assigned, "right") is not self.node or left.of_type(*_EFFECTS):
                return None
            inner = [node for statement in self.function.statements for node in walk(statement)]
            changed = {word for one in inner for word in _targets(one)}
            if not changed <= self.function.own - set(self._pointers()) or any(map(_calls, inner)):
                return None
            value = with_names_replaced(on_one_line(self.function.value.text), renamed)
            target = f"{on_one_line(left.text)} = ({self.function.type})({value}); "
        if statement is None or statement.type != "expression_statement":
            return None
        inside = " ".join(on_one_line(one.text) for one in self.function.statements)
        if "#" in inside:
            return None
        text = f"{{ {' '.join(copies)} {with_names_replaced(inside, renamed)} {target}}}"
        return statement.spelled.reworded(text)

    def _pointers(self) -> list[str]:
        listed = zip(self._names(), self.function.parameters, strict=True)
        return [name for name, one in listed if field(one, "declarator").type != "identifier"]


def _is_one_pointer(parameter: Node) -> bool:
    """Whether a parameter is `T *p` or `const T *p`."""
    declarator = field(parameter, "declarator")
    inner = field(declarator, "declarator") if declarator.type == "pointer_declarator" else declarator
    return inner is not declarator and inner.type == "identifier" and "volatile" not in parameter.text


def _constant(parameter: Node) -> str:
    return "const " if "const" in names_in(parameter.text.partition("*")[0]) else ""


def _calls(node: Node) -> bool:
    return node.type == "call_expression"


def _reassigned(node: Node) -> tuple[str, ...]:
    """The variable that an expression modifies or takes the address of."""
    if node.type not in ("assignment_expression", "update_expression") and not is_address(node):
        return ()
    target = node.child_by_field_name("left") or field(node, "argument")
    return identifiers(target) if without_parentheses(target).type == "identifier" else ()


def _is_plain(parameter: Node) -> bool:
    """Whether a parameter is an array or a pointer without `restrict`, with sizes that are names."""
    nodes = [*walk(parameter)]
    kinds = [one.type for one in nodes]
    is_alone = any(one.type == "type_qualifier" and "restrict" in one.text for one in nodes)
    return not is_alone and kinds.count("pointer_declarator") <= 1 and _NOT_PLAIN.isdisjoint(kinds)


_NOT_PLAIN = frozenset(
    ("parenthesized_declarator", "function_declarator", "parenthesized_expression", "call_expression")
) | {"attribute_specifier", "abstract_function_declarator", "ERROR"}


def _targets(node: Node) -> tuple[str, ...]:
    """The names through which an expression modifies something; conservatively, all names in its target."""
    return identifiers(node) if node.type == "pointer_expression" else assigned_names(node)


def _always(value: Node) -> Iterator[Node]:
    """The parts of an expression that are evaluated whenever it is."""
    yield value
    match value.type:
        case "conditional_expression":
            parts = [field(value, "condition")]
        case "binary_expression" if operator(value) in ("&&", "||"):
            parts = [field(value, "left")]
        case "sizeof_expression":
            parts = []
        case _:
            parts = value.named_children
    for part in parts:
        yield from _always(part)


def _local_names(function: Node) -> set[str]:
    """The names that a function declares: variables, types, tags and enumerators."""
    found: set[str] = set()
    for node in walk(function):
        if node.type in ("declaration", "parameter_declaration"):
            for one in node.children_by_field_name("declarator"):
                found.update(identifiers(one)[:1])
        elif node.type == "type_definition":
            for one in node.children_by_field_name("declarator"):
                found.update(names_in(one.text))
        elif node.type in _TAGS and (tag := node.child_by_field_name("name")) is not None:
            found.update((tag.text,) if node.child_by_field_name("body") is not None else ())
        elif node.type == "enumerator":
            found.add(field(node, "name").text)
    return found
