"""Translates the loops of a region to a program of LOOP, from its syntax tree alone.

    for (i = a; test; i -= s) body   is   for (i' = -a; test[-i'/i]; i' += s) { int i = -i'; body }

The reader's results for the same source, domains and schedules, are not used; the statements are the reader's
leaves, found by their positions in the source.

Locals may be defined by an expression that is not one of LOOP: `int row = i * n;`. Such a local is equal to
its text wherever it is used: iterators, other locals and names that the region does not assign do not change
in between.  The same holds for a pointer, `double *row = a + i * n;`, that the region only uses in elements,
`row[j]`: it points to its array, which is not assigned as a whole, with subscripts that do not change.

The module also computes values at the instances of a program's statements from its source. For expressions
e1, ..., ek at a statement S(i, j):  { S[i, j] -> [e1, ..., ek] }.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import islpy as isl

from loopwright.c.declarations import type_text
from loopwright.c.loops import LEAVING, countdown_of, first_value, loop_iterator, skip_condition
from loopwright.c.references import pointer_sum
from loopwright.c.reworded.row_pointers import row_text, same_numbers
from loopwright.c.syntax import Node, field, is_address, named_children, operator, walk, without_parentheses
from loopwright.c.types import holds, is_signed
from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import nodes as loops
from loopwright.loops.expressions import Compare, Expr, Int, Not, Relation, Scaled, Sum, Test, Var
from loopwright.loops.nodes import Call
from loopwright.model.annotations import Independent
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import split
from loopwright.presburger.sets import IN
from loopwright.prove.reading.c_expressions import (
    POINTER,
    LocalText,
    Unreadable,
    Words,
    called_function,
    constant,
    constant_of,
    expression,
    test,
    words_of,
)
from loopwright.prove.reading.integer_types import type_at, value_type
from loopwright.prove.reading.operation import StatementSyntax
from loopwright.prove.scanning.executed import executed, runs

CallOf: TypeAlias = Callable[[Statement, Words], loops.Node]
"""Translates a statement, given the meaning of the names around it."""


def own_call(statement: Statement, words: Words) -> loops.Node:
    """The statement itself, with its iterators as arguments."""
    return loops.Call(statement.name, tuple(Var(name) for name in statement.iterators))


def leaf_nodes(program: Program, block: Node) -> dict[str, Node]:
    """The syntax of each statement: the outermost node with its text."""
    places = {s.name: (s.body.place.start, s.body.place.end) for s in program.statements}
    wanted = set(places.values())
    by_place: dict[tuple[int, int], Node] = {}
    for node in walk(block):
        if (node.start, node.end) in wanted:
            by_place.setdefault((node.start, node.end), node)
    missing = [name for name, place in places.items() if place not in by_place]
    if missing:
        raise InternalError(
            Code.INTERNAL, f"the text of {', '.join(missing)} is not a statement of the syntax tree"
        )
    return {name: by_place[place] for name, place in places.items()}


NOTHING: Mapping[Node, Independent] = MappingProxyType({})


def text_loops(
    program: Program, call: CallOf = own_call, marked: Mapping[Node, Independent] = NOTHING
) -> loops.Node:
    """The loops of the region around `call` of each statement; raises Unreadable if they have another form.

    The `marked` loops carry their annotations.
    """
    block = program.syntax
    leaves = {node: name for name, node in leaf_nodes(program, block).items()}
    translation = _LoopTranslation(program, leaves, {s.name: s for s in program.statements}, call, marked)
    return translation.sequence(list(block.named_children), words_of(program))


@dataclass(frozen=True)
class _LoopTranslation:
    program: Program
    leaves: Mapping[Node, str]
    statements: Mapping[str, Statement]
    call: CallOf
    marked: Mapping[Node, Independent]

    def sequence(self, nodes: list[Node], words: Words) -> loops.Node:
        """Translates a sequence of statements; a declaration is in scope until the end."""
        made: list[loops.Node] = []
        for index, node in enumerate(nodes):
            if node.type == "declaration":
                made.append(self.declaration(node, nodes[index + 1 :], words))
                break
            skipped = skip_condition(node)
            if skipped is not None:
                made.append(loops.If(Not(test(skipped, words)), self.sequence(nodes[index + 1 :], words)))
                break
            made.append(self.statement(node, words))
        return loops.Block(tuple(made))

    def statement(self, node: Node, words: Words) -> loops.Node:
        if node in self.leaves:
            return self.call(self.statements[self.leaves[node]], words)
        match node.type:
            case "comment":
                return loops.EMPTY
            case "expression_statement" if not named_children(node):
                return loops.EMPTY
            case "compound_statement":
                return self.sequence(list(node.named_children), words)
            case "labeled_statement":
                return self.statement(named_children(node)[-1], words)
            case "for_statement" | "if_statement" if not self.has_leaf(node):
                if node.of_type(*LEAVING):
                    raise Unreadable("a jump out of a loop or out of its body")
                return loops.EMPTY
            case "for_statement":
                return self.loop(node, words)
            case "if_statement":
                return self.conditional(node, words)
            case kind:
                raise Unreadable(f"a statement of the kind '{kind}' in front of or among the loops")

    def has_leaf(self, node: Node) -> bool:
        """Whether there is a statement inside; without one, a terminating loop does nothing."""
        return any(node.start <= leaf.start and leaf.end <= node.end for leaf in self.leaves)

    def declaration(self, node: Node, rest: list[Node], words: Words) -> loops.Node:
        """Translates a declaration: `double t = e;` is a statement; `int m = n - i;` names a value."""
        return self.declarators(node.children_by_field_name("declarator"), rest, words)

    def declarators(self, nodes: list[Node], rest: list[Node], words: Words) -> loops.Node:
        if not nodes:
            return self.sequence(rest, words)
        first, *others = nodes
        if first in self.leaves:
            call = self.call(self.statements[self.leaves[first]], words)
            return loops.Block((call, self.declarators(others, rest, words)))
        if first.type != "init_declarator":
            return self.declarators(others, rest, words)
        name = words.of(field(first, "declarator"))
        try:
            value = expression(field(first, "value"), words)
        except Unreadable:
            block = self.program.syntax
            return self.declarators(others, rest, with_local_text(self.program, block, first, words))
        is_converted = value_type(field(first, "value"), words, first.span) is not None
        is_cut = not is_converted or self.is_cut(first, words)
        given = LocalText(field(first, "value"), _type_of(first), words)
        after = words.bind(name, Var(name), cut=is_cut, converted=is_converted, local=given)
        return loops.Let(name, value, self.declarators(others, rest, after))

    def is_cut(self, declarator: Node, words: Words) -> bool:
        """Whether `type name = value` may change the value; overflow of a signed type does not count."""
        kind = words.kinds.written_type(_type_of(declarator), certain=True)
        given = type_at(field(declarator, "value"), words, declarator.span)
        return not is_signed(kind) and not holds(kind, given)

    def conditional(self, node: Node, words: Words) -> loops.Node:
        chosen = test(field(node, "condition"), words)
        then = self.statement(field(node, "consequence"), words)
        alternative = node.child_by_field_name("alternative")
        if alternative is None:
            return loops.If(chosen, then)
        return loops.If(chosen, then, self.statement(named_children(alternative)[-1], words))

    def loop(self, node: Node, words: Words) -> loops.Node:
        name = loop_iterator(node)
        condition = node.child_by_field_name("condition")
        if name is None or condition is None:
            raise Unreadable("a loop without an iterator or a test")
        start = expression(first_value(node), words)
        body = field(node, "body")
        countdown = countdown_of(node)
        if countdown is not None and words.of(countdown.name) == name:
            value = Sum((start, Int(-1)))
            below = words.bind(name, Sum((Scaled(-1, Var(f"{name}'")), Int(1))))
            limit = Int(0) if countdown.limit is None else expression(countdown.limit, words)
            above = Compare(Relation.GT, expression(countdown.name, below), limit)
            return self.counting_down(name, value, above, 1, body, words)
        step = step_of(node, name, words)
        if step > 0:
            inside = words.bind(name, Var(name))
            said = (self.marked[node],) if node in self.marked else ()
            ends = test(condition, inside)
            return loops.For(name, start, ends, step, self.statement(body, inside), annotations=said)
        tested = test(condition, words.bind(name, Scaled(-1, Var(f"{name}'"))))
        return self.counting_down(name, start, tested, -step, body, words)

    def counting_down(
        self, name: str, start: Expr, tested: Test, step: int, body: Node, words: Words
    ) -> loops.Node:
        """A loop over name' = -name, which counts up."""
        counted = f"{name}'"
        inner = self.statement(body, words.bind(name, Var(name)))
        given = loops.Let(name, Scaled(-1, Var(counted)), inner)
        return loops.For(counted, Scaled(-1, start), tested, step, given)


def step_of(node: Node, name: str, words: Words) -> int:
    """The increment of the update: i++, --i, i += c, i = i + c and the like."""
    update = node.child_by_field_name("update")
    if update is None:
        raise Unreadable("a loop that does not change its iterator")
    update = without_parentheses(update)
    parts = {"update_expression": "argument", "assignment_expression": "left"}
    target = update.child_by_field_name(parts.get(update.type, ""))
    if target is None or without_parentheses(target).text != name:
        raise Unreadable(f"the update of the loop over {name} does not change {name} alone")
    if update.type == "update_expression":
        return 1 if operator(update) == "++" else -1
    right = field(update, "right")
    if operator(update) in ("+=", "-="):
        return constant(right, words) if operator(update) == "+=" else -constant(right, words)
    if operator(update) != "=":
        raise Unreadable(f"the update of the loop over {name} does not add a constant")
    here = expression(right, words.bind(name, Var(name)))
    return _difference(here, name, words)


def _difference(value: Expr, name: str, words: Words) -> int:
    """c, if `value` is name + c or c + name."""
    if isinstance(value, Sum) and len(value.terms) == 2 and Var(name) in value.terms:
        first, second = value.terms
        size = constant_of(second if first == Var(name) else first, words)
        if size is not None:
            return size
    raise Unreadable(f"the update of the loop over {name} does not add a constant")


_MAY_CHANGE = (
    "subscript_expression", "pointer_expression", "field_expression", "assignment_expression",
    "update_expression",
)


def with_local_text(program: Program, block: Node, declarator: Node, words: Words) -> Words:
    """The words after `type name = value;`; raises Unreadable if the value might change."""
    if field(declarator, "declarator").type == "pointer_declarator":
        return _with_row(program, block, declarator, words)
    value, name = field(declarator, "value"), words.of(field(declarator, "declarator"))
    if name in _assigned(block, words) or not _stays(value, block, words):
        raise Unreadable(f"'{name}' is not what its text '{words.of(value)}' is everywhere")
    return words.define(name, value, _type_of(declarator))


def _type_of(declarator: Node) -> str:
    """The declared type of a local."""
    if declarator.parent is None:
        raise Unreadable(f"'{declarator.text}' has no declaration")
    return type_text(declarator.parent, qualifiers=False)


def _stays(value: Node, block: Node, words: Words) -> bool:
    """Whether the operands of `value` do not change."""
    assigned = _assigned(block, words)
    for part in walk(value):
        word = words.of(part) if part.type == "identifier" else ""
        is_local = word in words.values or word in words.texts
        is_member = part.type == "field_expression" and operator(part) == "."  # assigned by the struct's name
        if part.type == "call_expression" and called_function(part, words) is None:
            return False
        if (part.type in _MAY_CHANGE and not is_member) or (word in assigned and not is_local):
            return False
    return True


def _with_row(program: Program, block: Node, declarator: Node, words: Words) -> Words:
    """The words after `type *name = value;`."""
    declaration, inner = declarator.parent, field(field(declarator, "declarator"), "declarator")
    name = words.of(inner)
    text = row_text(field(declarator, "value"))
    array, indices = _split(text)
    variable = words.declarations.visible(words.of(array), program.region)
    if declaration is None or inner.type != "identifier" or array.type != "identifier" or variable is None:
        raise Unreadable(f"where '{name}' points is not read")
    kind = type_text(declaration, qualifiers=True)
    assigned = [_split(target) for target in _targets(block)]
    depths = [len(terms) for start, terms in assigned if words.of(start) == words.of(array)]
    if (
        not same_numbers(kind, variable, words.declarations)
        or not all(_stays(index, block, words) for index in indices)
        or not _only_elements(block, name, words)
        or any(depth != variable.rank for depth in depths)
        or any(start.type != "identifier" for start, _ in assigned)
    ):
        raise Unreadable(f"'{name}' is not what its text '{words.of(text)}' is everywhere")
    return words.define(name, text, POINTER)


def _split(node: Node) -> tuple[Node, list[Node]]:
    """Splits `a[i][j] + k` into a and i, j, k; `&a[i] + k` into a and i, k."""
    target, terms = pointer_sum(node)
    indices = list(terms)
    if is_address(target):
        target = without_parentheses(field(target, "argument"))
    while target.type == "subscript_expression":
        indices.insert(0, field(target, "index"))
        target = without_parentheses(field(target, "argument"))
    return target, indices


def _only_elements(block: Node, name: str, words: Words) -> bool:
    """Whether the region uses `name` only in declarations and before a bracket."""
    for node in walk(block):
        outer = node.parent
        if node.type != "identifier" or words.of(node) != name or outer is None:
            continue
        is_element = outer.type == "subscript_expression" and field(outer, "argument") == node
        if not is_element and outer.type != "pointer_declarator":
            return False
    return True


def _targets(block: Node) -> list[Node]:
    """The assignment targets in the region."""
    nodes = [node for node in walk(block) if node.type in ("assignment_expression", "update_expression")]
    return [node.child_by_field_name("left") or field(node, "argument") for node in nodes]


def _assigned(block: Node, words: Words) -> frozenset[str]:
    """The names of the assigned variables and arrays."""
    found = set()
    for target in _targets(block):
        names = [words.of(part) for part in walk(target) if part.type == "identifier"]
        found.update(names[:1])
    return frozenset(found)


def sides(program: Program) -> dict[str, StatementSyntax]:
    """The syntax of every statement, with the meaning of the names in it."""
    nodes = leaf_nodes(program, program.syntax)
    found: dict[str, StatementSyntax] = {}

    def visit(statement: Statement, words: Words) -> Call:
        found[statement.name] = StatementSyntax(nodes[statement.name], words)
        return Call(statement.name, ())

    text_loops(program, visit)
    return found


def values_at(
    program: Program, expressions: Mapping[str, tuple[Expr, ...]], context: isl.Set
) -> dict[str, isl.Map]:
    """The values of the expressions at each instance, for parameters in `context`, which names them all."""

    def call(statement: Statement, words: Words) -> Call:
        own = tuple(Var(name) for name in statement.iterators)
        return Call(statement.name, (*own, *expressions.get(statement.name, ())))

    statements = {statement.name: statement for statement in program.statements}
    tree = executed(text_loops(program, call), context)
    return {run.name: _parts_of(run.domain, run.arguments, statements[run.name]) for run in runs(tree)}


def _parts_of(domain: isl.Set, arguments: isl.MultiPwAff, statement: Statement) -> isl.Map:
    """The arguments as instance -> values."""
    image = domain.apply(isl.Map.from_multi_pw_aff(arguments))
    return split(image, statement.depth).set_tuple_name(IN, statement.name)
