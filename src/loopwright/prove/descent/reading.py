"""Reads the loops that another tool printed, from the syntax alone.

Besides what `prove.reading.loops` reads: variables that hold a bound, and the value of an iterator after its
loop.

    lbv = e; ubv = f; for (t = lbv; t <= ubv; t++)
    for (t = a; t <= e - 7; t += 8) ...  for (; t <= e; t++) ...

The second loop begins with the final value of the first, a + 8 max(0, floor((e - 7 - a) / 8) + 1); a
statement there that reads t is a loop of one iteration over it. A statement is anything but a loop, a
condition or such an assignment; its effect is determined elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import field as field_of
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from loopwright.c.declarations import is_integer_type
from loopwright.c.file import c_file
from loopwright.c.loops import first_value, loop_iterator
from loopwright.c.regions import Directive
from loopwright.c.syntax import Node, field, named_children, operator, without_parentheses
from loopwright.c.tokens import names_in
from loopwright.c.types import is_signed, named_type
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import nodes as loops
from loopwright.loops.expressions import Compare, Expr, FloorDiv, Int, Max, Relation, Scaled, Sum, Test, Var
from loopwright.model.program import Program
from loopwright.prove.reading.c_expressions import Unreadable, Words, expression, test, words_of
from loopwright.prove.reading.integer_types import value_type
from loopwright.prove.reading.loops import step_of
from loopwright.prove.reading.operation import StatementSyntax
from loopwright.source import Span

T = TypeVar("T")


@dataclass(frozen=True)
class TextLeaf:
    """A statement of the source, in the loops over `iterators`, outermost first."""

    name: str
    syntax: StatementSyntax
    iterators: tuple[str, ...]

    @property
    def place(self) -> Span:
        return self.syntax.node.span

    @cached_property
    def meaning(self) -> tuple[str, tuple[tuple[str, Expr], ...]]:
        """The text and the values of the names in it: equal meanings imply equal effects."""
        return meaning(self.syntax.node, self.syntax.words)


def meaning(node: Node, words: Words) -> tuple[str, tuple[tuple[str, Expr], ...]]:
    """A text and the values of the names in it."""
    text, values = node.text, words.values
    names = dict.fromkeys(names_in(text))
    return text, tuple([(name, values[name]) for name in names if name in values])


@dataclass(frozen=True)
class LoopText:
    """The loops around calls of `leaves`; `dimension` of a loop is its number in `heads`."""

    loops: loops.Node
    leaves: Mapping[str, TextLeaf]
    heads: tuple[Node, ...]
    pragmas: Mapping[int, tuple[Directive, ...]]
    """The pragmas before each loop."""
    assigned: frozenset[str]
    """Iterators and bounds that are declared outside."""
    stored: frozenset[str]
    """Names that cannot be iterators: the variables and parameters of the original."""


def read_loops(old: Program, region: Span) -> LoopText:
    """Reads the loops of a region with the parameters of `old`, or raises Unreadable."""
    file = c_file(region.source)
    words = words_of(replace(old, region=region))
    block = file.block(region)
    pragmas = _at_loops(block, file.region(region).pragmas)
    stored = frozenset((*(array.name for array in old.arrays), *old.params))
    is_flat = not block.of_type("declaration")
    reader = _TextReader([], [], set(), stored, frozenset(pragmas), _assignments(block), is_flat)
    made = reader.sequence(named_children(block), words, ())
    leaves = {leaf.name: leaf for leaf in reader.leaves}
    found = {k: pragmas[head.start] for k, head in enumerate(reader.heads) if head.start in pragmas}
    return LoopText(made, leaves, tuple(reader.heads), found, frozenset(reader.assigned), stored)


def _at_loops(block: Node, pragmas: tuple[Directive, ...]) -> dict[int, tuple[Directive, ...]]:
    """The pragmas by the start of the next loop; raises Unreadable if another statement is in between."""
    starts = sorted((node.start, node.type) for node in block.statements())
    found: dict[int, tuple[Directive, ...]] = {}
    for pragma in pragmas:
        index = bisect_left(starts, (pragma.place.end, ""))
        if index == len(starts) or starts[index][1] != "for_statement":
            raise Unreadable(f"the pragma in line {pragma.place.line} is not in front of a loop")
        start = starts[index][0]
        found[start] = (*found.get(start, ()), pragma)
    return found


@dataclass
class _TextReader:
    leaves: list[TextLeaf]
    heads: list[Node]
    assigned: set[str]
    stored: frozenset[str]
    pragmas: frozenset[int]
    """The starts of loops with pragmas."""
    changes: list[tuple[int, str]]
    """Assignments to names, in source order."""
    is_flat: bool
    """Whether the region declares no name: identical names then have the same type."""
    known: dict[object, object] = field_of(default_factory=dict)

    def read(self, how: Callable[[Node, Words], T], node: Node, words: Words) -> T:
        """Caches the result of reading a node: tools print the same bounds many times.

        Whether it is signed depends on the types of its names, not on their values.
        """
        if not self.is_flat:
            return how(node, words)
        key = (how, node.text) if how is _is_signed else (how, meaning(node, words))
        if key not in self.known:
            self.known[key] = how(node, words)
        found: T = self.known[key]  # type: ignore[assignment]
        return found

    def sequence(self, nodes: list[Node], words: Words, outer: tuple[str, ...]) -> loops.Node:
        """Reads a sequence of statements; an assignment to a bound is valid until the next one."""
        made: list[loops.Node] = []
        ended: dict[str, Expr] = {}
        for node in nodes:
            if node.type in ("comment", "pragma_argument"):
                continue
            bound = self.bound(node, words, outer)
            if bound is not None:
                name, value = bound
                words = words.bind(name, value)
                ended.pop(name, None)
                continue
            one = self.after_loops(node, words, outer, ended)
            changed = self.assigned_in(node)
            if any(name in changed and name not in outer for name in words.values):
                kept = {k: v for k, v in words.values.items() if k in outer or k not in changed}
                words = replace(words, values=kept)
            ended = {name: value for name, value in ended.items() if name not in changed}
            if isinstance(one, loops.For) and _assigns_first(node) and node.start not in self.pragmas:
                most = limit(one.test, one.iterator)
                last = None if most is None else value_after(one.start, most, one.step)
                if last is not None:
                    ended[one.iterator] = last
            made.append(one)
        return loops.Block(tuple(made))

    def after_loops(
        self, node: Node, words: Words, outer: tuple[str, ...], ended: Mapping[str, Expr]
    ) -> loops.Node:
        """Reads a statement that uses the final i of a loop, e: `for (i = e; i <= e; i++) statement`.

        A statement that changes i has its own loops over it.
        """
        is_reader = node.type in ("if_statement", "expression_statement")
        left = ended.keys() - self.assigned_in(node) - set(outer) if is_reader else ()
        read = [name for name in sorted(left) if node.mentions(name)]
        if len(read) != 1:
            return self.statement(node, words, outer, ended)
        (name,) = read
        number = len(self.heads)
        self.heads.append(node)
        body = self.statement(node, words.bind(name, Var(name)), (*outer, name))
        once = Compare(Relation.LE, Var(name), ended[name])
        return loops.For(name, ended[name], once, 1, body, dimension=number)

    def assigned_in(self, node: Node) -> frozenset[str]:
        """The names that a statement assigns."""
        first, last = (bisect_left(self.changes, (at, "")) for at in (node.start, node.end))
        return frozenset(name for _, name in self.changes[first:last])

    def bound(self, node: Node, words: Words, outer: tuple[str, ...]) -> tuple[str, Expr] | None:
        """The name and value of `name = e;`, if the name is a variable for bounds."""
        core = node.only_assignment
        if core is None:
            return None
        left = without_parentheses(field(core, "left"))
        if left.type != "identifier" or not self.is_counter(left, words):
            return None
        right = field(core, "right")
        if left.text in outer or not self.read(_is_signed, right, words):
            raise Unreadable(f"'{left.text}' is assigned in a loop over it, or not as a signed number")
        self.assigned.add(left.text)
        return left.text, self.read(expression, right, words)

    def is_counter(self, name: Node, words: Words) -> bool:
        """Whether a name is a signed integer that the original does not use in its region."""
        declared = words.declarations.visible(name.text, name.span)
        if declared is None or declared.rank or name.text in self.stored:
            return False
        kind = words.declarations.resolved(declared.type)
        return is_integer_type(kind) and is_signed(named_type(kind))

    def statement(
        self, node: Node, words: Words, outer: tuple[str, ...], ended: Mapping[str, Expr] | None = None
    ) -> loops.Node:
        match node.type:
            case "expression_statement" if not named_children(node):
                return loops.EMPTY
            case "compound_statement":
                return self.sequence(named_children(node), words, outer)
            case "labeled_statement":
                return self.statement(named_children(node)[-1], words, outer)
            case "for_statement":
                return self.loop(node, words, outer, ended or {})
            case "if_statement":
                return self.conditional(node, words, outer)
            case "expression_statement":
                return self.leaf(node, words, outer)
            case kind:
                raise Unreadable(f"a statement of the kind '{kind}' among the loops")

    def leaf(self, node: Node, words: Words, outer: tuple[str, ...]) -> loops.Node:
        name = f"S{len(self.leaves) + 1}"
        self.leaves.append(TextLeaf(name, StatementSyntax(node, words), outer))
        return loops.Call(name, ())

    def conditional(self, node: Node, words: Words, outer: tuple[str, ...]) -> loops.Node:
        condition = field(node, "condition")
        try:
            chosen = self.read(test, condition, words)
        except Unreadable:
            return self.leaf(node, words, outer)
        self.require_signed(condition, words)
        then = self.statement(field(node, "consequence"), words, outer)
        alternative = node.child_by_field_name("alternative")
        if alternative is None:
            return loops.If(chosen, then)
        return loops.If(chosen, then, self.statement(named_children(alternative)[-1], words, outer))

    def require_signed(self, node: Node, words: Words) -> None:
        if not self.read(_is_signed, node, words):
            raise Unreadable(f"'{node.text}' is not computed in signed numbers")

    def loop(self, node: Node, words: Words, outer: tuple[str, ...], ended: Mapping[str, Expr]) -> loops.Node:
        name, start = self.begun(node, words, ended)
        condition = node.child_by_field_name("condition")
        if condition is None or name in outer:
            raise Unreadable("a loop without a test, or over the iterator of another one")
        # A name that the loop changes has the new value in the next iteration, and in the test.
        changed = self.assigned_in(node) - {name, *outer}
        kept = {word: value for word, value in words.values.items() if word not in changed}
        inside = replace(words, values=kept).bind(name, Var(name))
        self.require_signed(condition, inside)
        step = step_of(node, name, words)
        if step <= 0:
            raise Unreadable("a loop that counts down")
        number = len(self.heads)
        self.heads.append(node)
        tested = self.read(test, condition, inside)
        body = self.statement(field(node, "body"), inside, (*outer, name))
        return loops.For(name, start, tested, step, body, dimension=number)

    def begun(self, node: Node, words: Words, ended: Mapping[str, Expr]) -> tuple[str, Expr]:
        """The iterator of a loop and its first value."""
        if node.child_by_field_name("initializer") is None:
            names = [name for name in ended if _updates(node, name)]
            if len(names) != 1:
                raise Unreadable("a loop that begins where no other loop over the same iterator ended")
            return names[0], ended[names[0]]
        name = loop_iterator(node)
        if name is None:
            raise Unreadable("a loop without an iterator")
        start = field(node, "initializer")
        if start.type == "declaration":
            kind = words.declarations.resolved(field(start, "type").text)
        else:
            if operator(start) != "=":
                raise Unreadable("a loop without a first value")
            declared = words.declarations.visible(name, node.span)
            kind = "" if declared is None or declared.rank else words.declarations.resolved(declared.type)
            self.assigned.add(name)
        if not is_integer_type(kind) or not is_signed(named_type(kind)) or name in self.stored:
            raise Unreadable(f"the iterator '{name}' is not known to be a signed number")
        self.require_signed(first_value(node), words)
        return name, self.read(expression, first_value(node), words)


def _is_signed(node: Node, words: Words) -> bool:
    """Whether an expression is computed in signed types."""
    return value_type(node, words, node.span) is not None


def _assigns_first(node: Node) -> bool:
    """Whether a statement is a loop over a variable that outlives it."""
    start = node.child_by_field_name("initializer") if node.type == "for_statement" else None
    return node.type == "for_statement" and (start is None or start.type != "declaration")


def _updates(node: Node, name: str) -> bool:
    update = node.child_by_field_name("update")
    if update is None:
        return False
    update = without_parentheses(update)
    part = "argument" if update.type == "update_expression" else "left"
    target = update.child_by_field_name(part)
    return target is not None and without_parentheses(target).text == name


def _assignments(block: Node) -> list[tuple[int, str]]:
    """The assignments to names, in source order."""
    found: list[tuple[int, str]] = []
    for part in block.of_type("assignment_expression", "update_expression"):
        target = part.child_by_field_name("left" if part.type == "assignment_expression" else "argument")
        if target is not None:
            found.append((part.start, without_parentheses(target).text))
    return sorted(found)


def limit(tested: Test, iterator: str) -> Expr | None:
    """e, if the test is `iterator <= e`, `iterator + 7 < e + 8`, or equivalent."""
    match tested:
        case Compare(Relation.LE, Var(name), most) if name == iterator:
            return most
        case Compare(Relation.LT, left, most):
            return limit(Compare(Relation.LE, left, Sum((most, Int(-1)))), iterator)
        case Compare(Relation.LE, Sum((left, Int(distance))), most):
            return limit(Compare(Relation.LE, left, Sum((most, Int(-distance)))), iterator)
        case _:
            return None


def value_after(start: Expr, most: Expr, step: int) -> Expr:
    """The value of an iterator after `for (t = start; t <= most; t += step)`."""
    steps = FloorDiv(Sum((most, Int(step), Scaled(-1, start))), step)
    return Sum((start, Scaled(step, Max((Int(0), steps)))))
