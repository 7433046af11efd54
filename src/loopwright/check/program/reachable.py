"""Finds all code the segment can reach, and which of its names denote an array of the original.

Functions of the file are followed wherever they are named, which includes function pointers.  A parameter
denotes the array that is passed for it, if all calls pass the same one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field, replace

from loopwright.c.declarations import Declarations, Variable, declarations_of, declared_name
from loopwright.c.file import c_file
from loopwright.c.macros import Macro
from loopwright.c.references import Reference
from loopwright.c.syntax import Node, named_children, refuse, walk
from loopwright.check.program.segment import Segment
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span


@dataclass(frozen=True)
class Function:
    name: str
    node: Node
    parameters: tuple[str | None, ...]

    @property
    def body(self) -> Node:
        found = self.node.child_by_field_name("body")
        assert found is not None
        return found


@dataclass(frozen=True)
class ReachedCode:
    """The segment's top nodes and the functions it reaches, with the meaning of their names."""

    source: Source
    segment: Segment
    file: Node
    """The whole file, without preprocessor lines."""
    roots: tuple[Node, ...]
    functions: tuple[Function, ...]
    declarations: Declarations
    macros: tuple[Macro, ...]
    bound: dict[tuple[str, str], str] = field(default_factory=dict)
    """(function, parameter) -> the array of the original passed for it."""
    ranks: dict[str, int] = field(default_factory=dict)
    pure: frozenset[str] = frozenset()
    """Functions that the user asserts to be pure."""
    around: Function | None = None
    """The function that contains the segment."""

    @property
    def bodies(self) -> tuple[Node, ...]:
        """The bodies, pairwise disjoint: a nested function is part of the outer one."""
        around = [*(root.span for root in self.roots), *(function.body.span for function in self.functions)]
        return (
            *self.roots,
            *(one.body for one in self.functions if not any(o.contains(one.node.span) for o in around)),
        )

    def array_of(self, reference: Reference) -> str | None:
        """The array of the original that a reference in reachable code denotes."""
        root = reference.root.text
        here = self.declarations.visible(root, reference.root.span)
        function = self._parameter_of(here)
        if function is not None:
            found = self.bound.get((function, root))
            return found if reference.base == root else None
        outside = self.at_segment(root)
        if outside is not None and outside != here:
            return None
        return reference.base if reference.base in self.ranks else None

    def at_segment(self, name: str) -> Variable | None:
        """The declaration that `name` refers to where the segment starts."""
        start = self.segment.place.start
        return self.declarations.visible(name, self.source.at(start))

    def parameter(self, function: Function, name: str) -> Variable | None:
        """The parameter `name` of a function."""
        return self.declarations.visible(name, function.body.span)

    def named(self, variable: Variable) -> str | None:
        """The array that a variable is always an alias of."""
        function = self._parameter_of(variable)
        return None if function is None else self.bound.get((function, variable.name))

    def _parameter_of(self, variable: Variable | None) -> str | None:
        """The reached function of which `variable` is a parameter, unless it contains the segment."""
        if variable is None:
            return None
        for function in self.functions:
            inside = function.node.span.contains(variable.place)
            if inside and not function.body.span.contains(variable.place):
                holds_segment = function.node.span.contains(self.segment.place)
                return None if holds_segment else function.name
        return None


def reached(segment: Segment, ranks: dict[str, int], pure: Iterable[str] = ()) -> ReachedCode:
    """Return the code that the segment reaches, with the meaning of its names."""
    source = segment.source
    file = c_file(source)
    bodies = [one.body.span for one in _functions(file.possible)]
    declarations = declarations_of(file.possible, [segment.place, *bodies])
    root = file.settled(declarations)
    functions = _functions(root)
    roots = _roots(root, segment.place)
    names = _closure(root, roots, functions, file.macros)
    found = ReachedCode(
        source,
        segment,
        root,
        roots,
        tuple(function for function in functions if function.name in names),
        declarations,
        file.macros,
        {},
        ranks,
        frozenset(pure),
        next((one for one in functions if one.body.span.contains(segment.place)), None),
    )
    return _with_bindings(found)


def _functions(root: Node) -> tuple[Function, ...]:
    found = []
    for node in walk(root):
        if node.type != "function_definition" or node.child_by_field_name("body") is None:
            continue
        declarator = next((n for n in walk(node) if n.type == "function_declarator"), None)
        name = None if declarator is None else declarator.child_by_field_name("declarator")
        parameters = None if declarator is None else declarator.child_by_field_name("parameters")
        if name is None or name.type != "identifier" or parameters is None:
            continue
        inner = [part.child_by_field_name("declarator") for part in named_children(parameters)]
        declared = [None if one is None else declared_name(one) for one in inner]
        names = tuple(None if one is None else one[0] for one in declared)
        found.append(Function(name.text, node, names))
    return tuple(found)


def _roots(root: Node, inside: Span) -> tuple[Node, ...]:
    """The outermost nodes that lie in the segment."""
    found: list[Node] = []
    pending = [root]
    while pending:
        node = pending.pop()
        where = node.span
        if inside.contains(where) and where.end > where.start:
            found.append(node)
        elif where.start < inside.end and inside.start < where.end:
            pending.extend(reversed(node.children))
    return tuple(found)


def _closure(
    root: Node, roots: Iterable[Node], functions: tuple[Function, ...], macros: tuple[Macro, ...]
) -> frozenset[str]:
    by_name = {function.name: function for function in functions}
    bodies = {macro.name: macro.body for macro in macros}
    seen: set[str] = set()
    pending = [node.text for node in roots]
    pending += _addressed(root, by_name)
    while pending:
        for word in re.findall(r"[A-Za-z_]\w*", pending.pop()):
            if word in seen:
                continue
            if word in by_name:
                seen.add(word)
                pending.append((by_name[word].body).text)
            elif word in bodies:
                seen.add(word)
                pending.append(bodies[word])
    return frozenset(seen)


def _addressed(root: Node, functions: Iterable[str]) -> list[str]:
    """Functions that are named without being called, such as signal handlers and other callbacks."""
    names = frozenset(functions)
    found = [
        node.text
        for node in walk(root)
        if node.type == "identifier"
        and node.parent is not None
        and node.parent.type not in ("call_expression", "function_declarator")
    ]
    return [name for name in dict.fromkeys(found) if name in names]


def _with_bindings(start: ReachedCode) -> ReachedCode:
    """Bind arrays to parameters that receive the same whole array in all calls.

    A parameter that also receives anything else is a pointer, not an alias of the array.
    """
    blocks: frozenset[tuple[str, str]] = frozenset()
    while True:
        found = _bound(start, blocks)
        mixed = frozenset(
            key
            for key, argument in _arguments(found)
            if key in found.bound and passed_array(found, argument) != found.bound[key]
        )
        if not mixed:
            return found
        blocks |= mixed


def _bound(start: ReachedCode, blocks: frozenset[tuple[str, str]]) -> ReachedCode:
    """Follow arrays into parameters, except `blocks`, until nothing new is bound."""
    current = start
    while True:
        bound = dict(current.bound)
        for key, argument in _arguments(current):
            array = passed_array(current, argument)
            if array is not None and key not in blocks:
                before = bound.setdefault(key, array)
                if before != array:
                    message = f"'{key[1]}' of {key[0]} is once '{before}' and here '{array}'"
                    hint = "give each array its own function, or use the arrays by their names"
                    raise refuse(argument, message, hint)
        if bound == current.bound:
            return current
        current = replace(start, bound=bound)


def _arguments(known: ReachedCode) -> Iterator[tuple[tuple[str, str], Node]]:
    """(function, parameter) and argument, of all calls."""
    for body in known.bodies:
        for node in walk(body):
            if node.type != "call_expression":
                continue
            arguments = node.child_by_field_name("arguments")
            callee = node.child_by_field_name("function")
            if arguments is None or callee is None:
                continue
            for function in callees(known, callee):
                for name, argument in zip(function.parameters, named_children(arguments), strict=False):
                    if name is not None:
                        yield (function.name, name), argument


def passed_array(known: ReachedCode, argument: Node) -> str | None:
    """The array of the original whose whole storage `argument` passes."""
    if argument.type != "identifier":
        return None
    array = known.array_of(Reference(argument.text, (), partial=False, node=argument, root=argument))
    return array if array is not None and known.ranks[array] > 0 else None


def callees(known: ReachedCode, callee: Node) -> tuple[Function, ...]:
    """The function called; through a pointer, any function that was reached."""
    name = callee.text
    direct = tuple(function for function in known.functions if function.name == name)
    return direct or known.functions
