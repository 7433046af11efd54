"""Proves that no bound, condition or subscript of a source overflows its type or wraps around.

Every expression has an interval of values, and a C type; an interval that exceeds the type is a failure.
Intervals start from what is known of the parameters:

    [a, b] + [c, d] = [a + c, b + d],   the iterator of  for (i = s; i < e; i += k)  has  [min s, max e - 1],

and max e - 1 + k must be within its type, too.  Relations between variables are lost, so a failure means only
"not shown".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import declared_name
from loopwright.c.expression_types import COMPARISONS, constant_value
from loopwright.c.loops import first_value, loop_iterator
from loopwright.c.macros import definitions, looks_like_macro, reachable_macros
from loopwright.c.syntax import (
    Node,
    field,
    identifiers,
    is_dereference,
    named_children,
    operator,
    walk,
    without_parentheses,
)
from loopwright.c.tokens import packed
from loopwright.c.types import CType, common, promoted
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program, Statement
from loopwright.prove.reading.c_expressions import Unreadable, Words, constant, words_of
from loopwright.prove.reading.helper_macros import has_no_subscript, is_helper
from loopwright.prove.reading.integer_types import type_at
from loopwright.prove.reading.loops import leaf_nodes, step_of
from loopwright.prove.text.annotations import promises
from loopwright.prove.text.exact_ranges import TextInstances
from loopwright.prove.text.intervals import TRUTH, Interval, NotShown, Typed, hull, truncated
from loopwright.source import Span


def refuse_overflow(
    program: Program,
    parameters: Mapping[str, Interval],
    unchanged: frozenset[Span] = frozenset(),
    known: isl.Set | None = None,
) -> int:
    """Returns the number of expressions checked; raises NotShown for the first that may exceed its type.

    `parameters` are the values of parameters, which are in `known`; `unchanged` is text of the original.
    """
    try:
        leaves = statements_at(program)
        marked = (one for one in promises(program) if one.pragma.argument.split()[:1] == ["omp"])
        omp = frozenset(one.loop for one in marked)
        words, instances = words_of(program), None if known is None else TextInstances(program, known)
        scope = ValueScope(program, words, parameters, {}, leaves, unchanged, omp=omp, instances=instances)
        return sum(1 for _ in scope.sequence(program.syntax))
    except Unreadable as failure:
        raise NotShown(str(failure)) from failure


def statements_at(program: Program) -> dict[Node, Statement]:
    """The statements by their syntax."""
    return {node: program.statement(name) for name, node in leaf_nodes(program, program.syntax).items()}


def expression_range(node: Node, program: Program, parameters: Mapping[str, Interval]) -> Interval:
    """The interval of an expression of parameters at the start of the region, or raises NotShown."""
    scope = ValueScope(program, words_of(program), parameters, {}, {}, frozenset(), program.region)
    found = scope.value(node)
    return found.least, found.greatest


@dataclass(frozen=True)
class ValueScope:
    program: Program
    words: Words
    parameters: Mapping[str, Interval]
    values: Mapping[str, Typed]
    """Intervals of iterators and locals."""
    leaves: Mapping[Node, Statement]
    unchanged: frozenset[Span]
    at: Span | None = None
    """Where to look names up, if not at their own positions."""
    omp: frozenset[Node] = frozenset()
    """The loops of OpenMP directives, whose trip counts are computed before they run."""
    instances: TextInstances | None = None
    """If subscripts are to be tried at all instances."""

    def bind(self, name: str, value: Typed) -> ValueScope:
        return replace(self, values={**self.values, name: value})

    def sequence(self, node: Node) -> Iterator[Typed]:
        """Yields the expressions of a block; a declaration is in scope until its end."""
        scope = self
        for part in named_children(node):
            if part.type == "declaration" and part not in self.leaves:
                for one in part.children_by_field_name("declarator"):
                    if one.type == "init_declarator" and one not in self.leaves:
                        name, value = scope._local(one)
                        yield value
                        scope = scope.bind(name, value)
                    elif one in self.leaves:
                        yield from scope._leaf(one)
                    yield from scope._sizes(one)
            else:
                yield from scope.statement(part)

    def statement(self, node: Node) -> Iterator[Typed]:
        if node in self.leaves:
            yield from self._leaf(node)
            return
        match node.type:
            case "compound_statement":
                yield from self.sequence(node)
            case "for_statement":
                yield from self._loop(node)
            case "if_statement":
                yield self.value(field(node, "condition"))
                for part in named_children(node)[1:]:
                    yield from self.statement(part)
            case "else_clause" | "labeled_statement":
                yield from self.statement(named_children(node)[-1])
            case "comment" | "expression_statement" if node.type == "comment" or not named_children(node):
                return
            case kind:
                raise NotShown(f"a statement of the kind '{kind}'")

    def _local(self, node: Node) -> tuple[str, Typed]:
        """Evaluates `int m = e`: e must fit the type of m."""
        named = declared_name(node)
        if named is None or named[1] > 0:
            raise NotShown(f"'{node.text}' is not a number")
        given = self.value(field(node, "value"))
        kind = type_at(field(node, "declarator"), self.words, field(node, "value").span)
        return named[0], Typed(given.least, given.greatest, self._declared(node, kind)).within(node)

    def _declared(self, node: Node, known: CType) -> CType:
        outer = node.parent
        written = None if outer is None else outer.child_by_field_name("type")
        return known if written is None else self.words.kinds.written_type(written.text, certain=True)

    def _loop(self, node: Node) -> Iterator[Typed]:
        name = loop_iterator(node)
        condition = node.child_by_field_name("condition")
        if name is None or condition is None:
            raise NotShown("a loop without an iterator or a test")
        step, kind, start, limit = self.counted(node, name, condition)
        if step > 0:
            reached = (start.least, max(start.least, limit))
        else:
            reached = (min(start.greatest, limit), start.greatest)
        last = Typed(reached[0] + min(step, 0), reached[1] + max(step, 0), kind).within(condition)
        yield last
        if node in self.omp:
            yield self._difference(condition, name, start, kind)
        scope = self.bind(name, Typed(*reached, kind))
        scope.bind(name, last).value(condition)
        yield from scope.statement(field(node, "body"))

    def _difference(self, condition: Node, name: str, start: Typed, kind: CType) -> Typed:
        """Evaluates e - s of `for (i = s; i < e; ..)`: if it overflows, OpenMP leaves the trip count
        undefined, although in C there are no iterations for e < s (OpenMP 5.2, 4.4.2)."""
        core = without_parentheses(condition)
        sides = [without_parentheses(field(core, side)) for side in ("left", "right")]
        ends = [self.value(one) for one in sides if one.text != name]
        if len(ends) != 1:
            raise NotShown(f"'{condition.text}' is not the test of a loop that can be counted")
        found = (ends[0].least - start.greatest, ends[0].greatest - start.least)
        limits = (found[0], found[1]) if operator(core) in ("<", "<=", "!=") else (-found[1], -found[0])
        return Typed(*limits, common(ends[0].type, kind)).within(condition)

    def counted(self, node: Node, name: str, condition: Node) -> tuple[int, CType, Typed, int]:
        """The step of a loop, the type of its iterator, its first values, and the limit of the last."""
        step = step_of(node, name, self.words)
        start = self.value(first_value(node))
        first = field(node, "initializer")
        own = field(first, "declarator") if first.type == "declaration" else None
        kind = start.type
        if own is None:
            kind = type_at(field(first, "left"), self.words, node.span)
        else:
            kind = self._declared(own, kind)
        Typed(start.least, start.greatest, kind).within(first)
        limits = list(self._limits(condition, name, is_up=step > 0))
        if not limits:
            raise NotShown(f"the loop over {name} has no limit of its own")
        return step, kind, start, min(limits) if step > 0 else max(limits)

    def _limits(self, node: Node, name: str, *, is_up: bool) -> Iterator[int]:
        """Yields e - 1 of `i < e` for each condition of the loop; e + 1 of `i > e` for a negative step."""
        core = without_parentheses(node)
        if core.type != "binary_expression":
            return
        if operator(core) == "&&":
            for side in ("left", "right"):
                yield from self._limits(field(core, side), name, is_up=is_up)
            return
        left, right, sign = without_parentheses(field(core, "left")), field(core, "right"), operator(core)
        if name in _names(right):
            return
        added = self._added(left, name)
        if added is None:
            return
        end = self.value(right)
        if is_up and sign in ("<", "<="):
            yield end.greatest - added[0] - (sign == "<")
        elif not is_up and sign in (">", ">="):
            yield end.least - added[1] + (sign == ">")

    def _added(self, node: Node, name: str) -> Interval | None:
        """The interval of e in `i + e`, `i - e` or `e + i`; None for other expressions.

        `i + e < n` limits i if `i + e` does not wrap around for all values that i then has, including the
        first to fail the test: the user of the limit checks that.
        """
        if node.type == "identifier" and node.text == name:
            return 0, 0
        if node.type != "binary_expression" or operator(node) not in ("+", "-"):
            return None
        first, second = without_parentheses(field(node, "left")), without_parentheses(field(node, "right"))
        if operator(node) == "+" and second.type == "identifier" and second.text == name:
            first, second = second, first
        if first.type != "identifier" or first.text != name or name in _names(second):
            return None
        other = self.value(second)
        is_sum = operator(node) == "+"
        return (other.least, other.greatest) if is_sum else (-other.greatest, -other.least)

    def _leaf(self, node: Node) -> Iterator[Typed]:
        """Yields the subscripts of a statement."""
        for part in walk(node):
            try:
                if part.type == "subscript_expression":
                    yield self.value(field(part, "index"))
                elif is_dereference(part):
                    yield from self._terms(field(part, "argument"))
                elif part.type == "call_expression" and self._is_macro(field(part, "function")):
                    raise NotShown(f"what '{part.text}' computes is not seen")
            except (NotShown, Unreadable):
                if not any(one.contains(part.span) for one in self.unchanged) and not self._fits(part, node):
                    raise

    def _fits(self, part: Node, leaf: Node) -> bool:
        if part.type != "subscript_expression" or self.instances is None:
            return False
        return self.instances.stay_in_types(field(part, "index"), self.leaves[leaf])

    def _sizes(self, declarator: Node) -> Iterator[Typed]:
        """Yields the sizes of a declared array."""
        for part in walk(declarator):
            size = part.child_by_field_name("size") if part.type == "array_declarator" else None
            if size is not None and not any(one.contains(size.span) for one in self.unchanged):
                yield self.value(size)

    def _is_macro(self, function: Node) -> bool:
        """Whether a macro that is called may compute a subscript besides those in its arguments."""
        known = definitions(self.words.macros, function.text)
        if not known:
            return looks_like_macro(function.text)
        return not all(map(has_no_subscript, reachable_macros(self.words.macros, function.text)))

    def _terms(self, node: Node) -> Iterator[Typed]:
        """Yields the numbers added to a pointer."""
        core = without_parentheses(node)
        if core.type == "binary_expression" and operator(core) in ("+", "-"):
            yield from self._terms(field(core, "left"))
            yield self.value(field(core, "right"))
        elif core.type not in ("identifier", "subscript_expression", "field_expression"):
            raise NotShown(f"'{core.text}' cannot be read")

    def value(self, node: Node) -> Typed:
        """The interval of an expression, of which every part is within its type."""
        core = without_parentheses(node)
        text = packed(core.text)
        if core.type == "identifier" and core.text in self.values:
            return self.values[core.text]
        if text in self.words.parameters:
            name = self.words.parameters[text]
            if name not in self.parameters:
                raise NotShown(f"'{core.text}' is not known")
            kind = type_at(core, self.words, self.at or core.span)
            return Typed(*self.parameters[name], kind).within(core)
        match core.type:
            case "number_literal" | "char_literal" | "sizeof_expression":
                value = constant_value(core, self.words.kinds, self.at or core.span)
                if value is None:
                    raise NotShown(f"'{core.text}' is not an integer")
                return Typed(value, value, type_at(core, self.words, core.span)).within(core)
            case "unary_expression" if operator(core) == "-":
                inner = self.value(field(core, "argument"))
                return Typed(-inner.greatest, -inner.least, promoted(inner.type)).within(core)
            case "unary_expression" if operator(core) == "+":
                return self.value(field(core, "argument"))
            case "unary_expression" if operator(core) == "!":
                self.value(field(core, "argument"))
                return TRUTH
            case "cast_expression":
                inner = self.value(field(core, "value"))
                kind = self.words.kinds.written_type(field(core, "type").text, certain=True)
                return Typed(inner.least, inner.greatest, kind).within(core)
            case "binary_expression":
                return self._binary(core)
            case "conditional_expression":
                self.value(field(core, "condition"))
                sides = [self.value(field(core, part)) for part in ("consequence", "alternative")]
                return hull(sides, core)
            case "call_expression":
                return self._call(core)
            case _:
                raise NotShown(f"'{core.text}' cannot be read")

    def _binary(self, core: Node) -> Typed:
        sign = operator(core)
        left, right = self.value(field(core, "left")), self.value(field(core, "right"))
        if sign in ("&&", "||"):
            return TRUTH
        kind = common(left.type, right.type)
        for side in (left, right):  # the common type of the operands must hold both
            Typed(side.least, side.greatest, kind).within(core)
        match sign:
            case _ if sign in COMPARISONS:
                return TRUTH
            case "+":
                found = (left.least + right.least, left.greatest + right.greatest)
            case "-":
                found = (left.least - right.greatest, left.greatest - right.least)
            case "*":
                products = [a * b for a in (left.least, left.greatest) for b in (right.least, right.greatest)]
                found = (min(products), max(products))
            case "/" | "%":
                divisor = constant(field(core, "right"), self.words)
                if divisor <= 0:
                    raise NotShown(f"'{core.text}' divides by what is not positive")
                if sign == "/":
                    found = (truncated(left.least, divisor), truncated(left.greatest, divisor))
                else:
                    found = (max(1 - divisor, min(left.least, 0)), min(divisor - 1, max(left.greatest, 0)))
            case _:
                raise NotShown(f"'{core.text}' cannot be read")
        return Typed(*found, kind).within(core)

    def _call(self, core: Node) -> Typed:
        """Evaluates the helpers, whatever macros of the file they are: the loops are read that way."""
        name = field(core, "function").text
        arguments = [self.value(one) for one in named_children(field(core, "arguments"))]
        if name not in ("min", "max", "floord") or not is_helper(name, self.words.macros):
            raise NotShown(f"'{core.text}' cannot be read")
        both = hull(arguments, core)
        if name == "floord":
            divisor = constant(named_children(field(core, "arguments"))[1], self.words)
            if divisor <= 0:
                raise NotShown(f"'{core.text}' divides by what is not positive")
            low, high = arguments[0].least // divisor, arguments[0].greatest // divisor
            return Typed(low, high, both.type).within(core)
        choose = min if name == "min" else max
        low = choose(one.least for one in arguments)
        return Typed(low, choose(one.greatest for one in arguments), both.type).within(core)


def _names(node: Node) -> set[str]:
    return {*identifiers(node)}
