"""Replaces loop bounds that a region assigns before its loops by their values.

    k = e;  ..  for (i = a; i <= k; i++)              for (i = a; i <= e; i++)

as translators from Fortran write it.  It is an identity if the assignment is the last one before the head on
every path, if k is a local variable of type int, like the names in e, or of type long (then it becomes
`(long)e`, and names in e may be long, too), and if e has the same value in the head as at the assignment.
The caller must check this, and that no pointer points to k; the changed heads are reported.
An assignment is removed if nothing else reads its variable.  Line numbers do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.declarations import type_text
from loopwright.c.file import CFile
from loopwright.c.regions import Region
from loopwright.c.reworded.passages import Passage, is_declared, passages
from loopwright.c.syntax import (
    Node,
    assigned_target,
    field,
    identifiers,
    named_children,
    operator,
    walk,
    without_parentheses,
)
from loopwright.c.tokens import blank, decimal, names_in, on_one_line
from loopwright.c.types import INT, LONG, named_type
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source

_VALUES = (
    *("identifier", "number_literal", "parenthesized_expression", "binary_expression"),
    *("unary_expression", "pointer_expression", "call_expression", "argument_list"),
)
_EXTREMES = ("min", "max", "MIN", "MAX")
_STATEMENTS = ("expression_statement", "declaration")
_JUMPS = ("goto_statement", "labeled_statement", "switch_statement")
_NOT_LOCAL = frozenset(("static", "extern", "volatile", "_Thread_local", "__thread"))


@dataclass(frozen=True)
class WithBounds:
    """A source with values for bounds in the heads of loops, and the offsets of these heads."""

    source: Source
    heads: tuple[int, ...] = ()
    loops: tuple[int, ...] = ()
    """The offsets of the same heads before the change."""
    before: Source | None = None


def with_set_bounds(source: Source, kept: frozenset[int] = frozenset()) -> WithBounds:
    """Replace the bounds, except in loops that start at an offset in `kept`."""
    edits: list[Edit] = []
    heads: list[int] = []
    for passage in passages(source):
        if passage.block.of_type(*_JUMPS):
            continue
        found = _Settings.of(passage)
        for loop in (one for one in passage.block.of_type("for_statement") if one.start not in kept):
            changed = list(found.in_head(loop))
            edits += changed
            heads += [loop.start] * bool(changed)
        edits += found.left_out(kept) if heads else []
    edits.sort()
    longer = [(end, len(text) - (end - start)) for start, end, text in edits]
    moved = tuple(at + sum(more for end, more in longer if end <= at) for at in heads)
    return WithBounds(source.edited(edits), moved, tuple(heads), source) if heads else WithBounds(source)


@dataclass(frozen=True)
class _Settings:
    """The assignments `k = e;` of a region, by variable, to variables that are set in no other way."""

    region: Region
    by_name: dict[str, list[Node]]
    mentioned: dict[str, list[Node]]
    """The uses of the variables in the function, without declarations."""
    long: frozenset[str]
    """The variables of type long."""

    @staticmethod
    def of(passage: Passage) -> _Settings:
        block, file, region, around = passage.block, passage.file, passage.region, passage.function
        by_name: dict[str, list[Node]] = {}
        others: set[str] = set()
        for node in walk(block):
            target = _target(node)
            if target is not None and _is_setting(node, file):
                by_name.setdefault(target, []).append(node)
            elif target is not None:
                others.add(target)
        names = {name for name in by_name if name not in others and _is_local(name, around)}
        mentioned: dict[str, list[Node]] = {name: [] for name in names}
        for node in walk(block):
            if node.type == "identifier" and node.text in mentioned and not _is_target(node):
                mentioned[node.text].append(node)
        for node in around:
            is_named = node.type == "identifier" and node.text in mentioned and not is_declared(node)
            if is_named and not region.place.contains(node.span):
                mentioned[node.text].append(node)
        long = frozenset(name for name in names if _set_type(by_name[name][0], file) == "long")
        return _Settings(region, {name: by_name[name] for name in sorted(names)}, mentioned, long)

    def in_head(self, loop: Node) -> Iterator[Edit]:
        """Edits for the head of a loop."""
        for part in (loop.child_by_field_name(name) for name in ("initializer", "condition")):
            for node in walk(part) if part is not None else ():
                text = self._value(node) if node.type == "identifier" and not _is_target(node) else None
                if text is not None:
                    yield node.start, node.end, text

    def _value(self, read: Node, depth: int = 0) -> str | None:
        """The value of a variable where it is read, with the values of other variables substituted."""
        setting = self._reaching(read) if read.text in self.by_name and depth < 8 else None
        if setting is None:
            return None
        value = _assigned(setting)
        pieces, position = "", value.start
        for node in walk(value):
            inner = self._value(node, depth + 1) if node.type == "identifier" else None
            if inner is not None:
                pieces += value.source.text[position : node.start] + inner
                position = node.end
        text = " ".join((pieces + value.source.text[position : value.end]).split())
        text = text if re.fullmatch(r"\w+", text) else f"({text})"
        return f"((long){text})" if read.text in self.long else text

    def _reaching(self, read: Node) -> Node | None:
        """The assignment that reaches a read on every path, if the names in its value are the same variables
        there, and nothing in between modifies them."""
        settings = self.by_name[read.text]
        child = read
        while child.parent is not None:
            is_block = child.parent.type in ("compound_statement", "translation_unit")
            between: list[Node] = []
            for one in reversed(named_children(child.parent) if is_block else []):
                if one.start >= child.end:
                    continue
                inside = [setting for setting in settings if one.span.contains(setting.span)]
                if one is not child and inside:
                    changed = {name for part in between for name in _changed_in(part)}
                    is_same = changed.isdisjoint((read.text, *identifiers(_assigned(inside[0]))))
                    return one if inside == [one] and is_same else None
                between.append(one if one is not child or child not in settings else read)
            child = child.parent
        return None

    def left_out(self, kept: frozenset[int]) -> Iterator[Edit]:
        """Edits that remove assignments of variables read only in heads of loops and in each other."""
        dropped = set(self.by_name)
        while True:
            mentioned = {name: self.mentioned[name] for name in dropped}
            read = {
                name
                for name, places in mentioned.items()
                if not all(self._goes(one, dropped, kept) for one in places)
            }
            if not read:
                break
            dropped -= read
        for name in sorted(dropped):
            for one in self.by_name[name]:
                yield one.start, one.end, ";" + blank(one.text)[1:]

    def _goes(self, read: Node, dropped: set[str], kept: frozenset[int]) -> bool:
        """Whether a read does not occur in the new source."""
        if not self.region.place.contains(read.span) or self._reaching(read) is None:
            return False
        around: Node | None = read
        while around is not None and around.type not in ("for_statement", *_STATEMENTS):
            inner, around = around, around.parent
        if around is None:
            return False
        if around.type == "for_statement":
            head = [around.child_by_field_name(part) for part in ("initializer", "condition")]
            return around.start not in kept and inner in head
        return any(around in self.by_name[name] for name in dropped)


def _target(node: Node) -> str | None:
    """The variable that a node modifies, declares, or takes the address of."""
    match node.type:
        case "expression_statement" if (core := node.only_expression) is not None:
            is_assigned = core.type == "assignment_expression"
            target = without_parentheses(field(core, "left")) if is_assigned else core
            return target.text if is_assigned and target.type == "identifier" else None
        case "assignment_expression":
            is_alone = node.parent is not None and node.parent.type == "expression_statement"
            target = without_parentheses(field(node, "left"))
            return None if is_alone or target.type != "identifier" else target.text
        case "update_expression" | "pointer_expression":
            is_changed = node.type == "update_expression" or operator(node) == "&"
            target = without_parentheses(field(node, "argument"))
            return target.text if is_changed and target.type == "identifier" else None
        case "declaration":
            declared = _declared_value(node)
            return None if declared is None else declared.text
        case "init_declarator":
            is_alone = node.parent is not None and _declared_value(node.parent) is not None
            return None if is_alone else next(iter(identifiers(field(node, "declarator"))), None)
    return None


def _declared_value(node: Node) -> Node | None:
    """The k of `int k = e;`, a declaration of a single scalar."""
    declarators = node.children_by_field_name("declarator")
    if node.type != "declaration" or len(declarators) != 1 or declarators[0].type != "init_declarator":
        return None
    target = field(declarators[0], "declarator")
    return target if target.type == "identifier" else None


def _assigned(statement: Node) -> Node:
    if statement.type == "declaration":
        return field(field(statement, "declarator"), "value")
    return field(named_children(statement)[0], "right")


def _is_setting(node: Node, file: CFile) -> bool:
    """Whether a node is `k = e;` or `int k = e;` in a block, where k and the names in e have type int, or
    k has type long and they have either type."""
    if node.type not in _STATEMENTS:
        return False
    if node.type == "expression_statement" and operator(named_children(node)[0]) != "=":
        return False
    if node.parent is None or node.parent.type not in ("compound_statement", "translation_unit"):
        return False
    value = _assigned(node)
    if not all(_is_value(part) for part in walk(value) if part.is_named and part.type != "comment"):
        return False
    words = [part for part in walk(value) if part.type == "identifier" and part.text not in _EXTREMES]
    kind = _set_type(node, file)
    types = {"int": ("int",), "long": ("int", "long")}.get(kind or "", ())
    return on_one_line(value.text) != "" and bool(types) and all(_type(one, file) in types for one in words)


def _set_type(node: Node, file: CFile) -> str | None:
    """The type of k in `k = e;` or `int k = e;`."""
    if node.type == "declaration":
        return _integer(type_text(node, qualifiers=False), file)
    return _type(without_parentheses(field(named_children(node)[0], "left")), file)


def _is_value(part: Node) -> bool:
    match part.type:
        case "number_literal":
            return decimal(part.text) is not None
        case "binary_expression":
            return operator(part) in ("+", "-", "*", "/", "%")
        case "unary_expression":
            return operator(part) == "-"
        case "pointer_expression":
            return operator(part) == "*" and field(part, "argument").type == "identifier"
        case "call_expression":
            return field(part, "function").text in _EXTREMES
    return part.type in _VALUES


def _type(word: Node, file: CFile) -> str | None:
    """The type of a variable, or of the object of a dereferenced pointer."""
    is_pointed = word.parent is not None and word.parent.type == "pointer_expression"
    declared = file.declarations.visible(word.text, word.span)
    if declared is None or declared.rank != int(is_pointed) or declared.extents not in ((), ("",)):
        return None
    return _integer(declared.type, file)


def _integer(text: str, file: CFile) -> str | None:
    """`int` or `long`, for any spelling: `long int`, `const integer`."""
    resolved = file.declarations.resolved(text)
    if not {*resolved.split()} <= {"int", "long", "signed", "const"}:
        return None
    kind = named_type(resolved)
    return "int" if kind == INT else "long" if kind == LONG else None


def _is_local(name: str, around: list[Node]) -> bool:
    """Whether exactly one declaration in the function declares a variable, and it has automatic storage."""
    declared = [node for node in around if node.type == "declaration" and name in _declared_in(node)]
    return len(declared) == 1 and not _NOT_LOCAL & set(names_in(declared[0].text))


def _declared_in(node: Node) -> list[str]:
    found = [one.declared for one in node.children_by_field_name("declarator")]
    return [one.text for one in found if one.type == "identifier"]


def _changed_in(node: Node) -> Iterator[str]:
    """The names that a statement assigns to or declares."""
    for part in walk(node):
        target = assigned_target(part)
        yield from _outside_of_brackets(target) if target is not None else ()
        yield from _declared_in(part) if part.type in ("declaration", "parameter_declaration") else ()


def _outside_of_brackets(target: Node) -> Iterator[str]:
    """The names in an lvalue outside of subscripts: `a[i + j] = e` modifies neither i nor j."""
    pending = [target]
    while pending:
        node = pending.pop()
        if node.type == "identifier":
            yield node.text
        is_element = node.type == "subscript_expression"
        pending += [field(node, "argument")] if is_element else node.children


def _is_target(name: Node) -> bool:
    parent = name.parent
    return parent is not None and parent.type == "assignment_expression" and field(parent, "left") == name
