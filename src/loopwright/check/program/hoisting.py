"""Names the loop-invariant expressions of a nest that the C reader cannot analyse.

`ii < least(NI, it * T + T)` is not affine in `it` and T, but inside the nest neither changes: the
bound is a parameter.  It is evaluated once, before the nest, so only expressions that are safe there are
hoisted: no calls except of macros that are values, and expressions that could fault (an array element, a
quotient) only from the head of the nest itself, which is always evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.loops import loop_iterator
from loopwright.c.macros import assigns, definitions, hidden_names, integer_text, reachable_macros
from loopwright.c.syntax import Node, field, operator, walk, without_parentheses
from loopwright.check.original.structure import assignment_of
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.sites import Sites
from loopwright.lazy_dataclass import dataclass

_PLAIN = ("identifier", "number_literal", "parenthesized_expression", "unary_expression")
_VALUES = (*_PLAIN, "binary_expression", "conditional_expression", "cast_expression", "argument_list")


@dataclass(frozen=True)
class NestEdit:
    """`text` in place of the characters from `start` to `end` of the nest."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Hoisted:
    """A nest with names for its invariants: `texts` maps each name to its expression."""

    text: str
    texts: dict[str, str]
    start: int
    edits: tuple[NestEdit, ...]
    iterators: frozenset[str]
    index_expressions: tuple[Node, ...]
    """All bounds, conditions and subscripts of the original nest."""

    def moved(self, offset: int) -> int:
        """The position in `text` of the character at `offset` of the file."""
        grown = sum(len(e.text) - (e.end - e.start) for e in self.edits if e.end <= offset)
        return offset - self.start + grown


def hoisted(sites: Sites, node: Node) -> Hoisted:
    """The nest of the loop `node`, with its invariants named."""
    loops = node.of_type("for_statement")
    iterators = frozenset(name for loop in loops if (name := loop_iterator(loop)) is not None)
    finder = _InvariantFinder(sites.known, iterators | assigned_in(node))
    names: dict[str, str] = {}
    edits: list[NestEdit] = []
    expressions = list(_index_expressions(sites, node))
    for expression, is_head in expressions:
        for part in finder.invariants(expression, is_head=is_head):
            name = names.setdefault(part.text, f"lw_invariant_{len(names)}")
            edits.append(NestEdit(part.start, part.end, name))
    edits = sorted({edit.start: edit for edit in edits}.values(), key=lambda edit: edit.start)
    text = node.span.edited((one.start, one.end, one.text) for one in edits)
    found = {name: text for text, name in names.items()}
    return Hoisted(text, found, node.start, tuple(edits), iterators, tuple(one for one, _ in expressions))


def _index_expressions(sites: Sites, nest: Node) -> Iterator[tuple[Node, bool]]:
    """Bounds, steps, conditions and subscripts; with each, whether it is always evaluated."""
    for node in walk(nest):
        if node.type == "for_statement":
            for name in ("initializer", "condition", "update"):
                part = node.child_by_field_name(name)
                if part is not None:
                    yield part, node == nest and name != "update" and _is_simple(part)
        elif node.type == "if_statement":
            yield field(node, "condition"), False
        elif node.type == "init_declarator" and field(node, "declarator").type == "pointer_declarator":
            yield field(node, "value"), False
    for site in sites.sites:
        if nest.span.contains(site.assignment.node.span):
            for cell in (site.write, *site.reads):
                yield from ((term, False) for term in cell.terms)


def _is_simple(node: Node) -> bool:
    """Whether all parts of an expression are evaluated whenever it is."""
    return not any(
        part.type == "conditional_expression"
        or (part.type == "binary_expression" and operator(part) in ("&&", "||"))
        for part in walk(node)
    )


def assigned_in(nest: Node) -> frozenset[str]:
    """The names of all variables assigned in the nest."""
    targets = [found.target for part in walk(nest) if (found := assignment_of(part)) is not None]
    roots = [part for target in targets for part in walk(target) if part.type == "identifier"]
    return frozenset(root.text for root in roots)


@dataclass(frozen=True)
class _InvariantFinder:
    known: ReachedCode
    changing: frozenset[str]

    def invariants(self, node: Node, *, is_head: bool) -> Iterator[Node]:
        """The outermost subexpressions that are invariant in the nest and are not sums of names."""
        if self._is_hard(node) and self._is_invariant(node, is_head=is_head):
            yield node
        else:
            for child in node.named_children:
                yield from self.invariants(child, is_head=is_head)

    def _is_hard(self, node: Node) -> bool:
        """Whether the reader would reject this as an affine expression of parameters."""
        if node.type in ("call_expression", "conditional_expression", "subscript_expression"):
            return True
        if node.type != "binary_expression" or operator(node) in ("+", "-"):
            return False
        sides = [without_parentheses(field(node, side)) for side in ("left", "right")]
        has_number = any(side.type == "number_literal" for side in sides)
        return operator(node) in ("/", "%", "<<", ">>", "&", "|", "^") or (
            operator(node) == "*" and not has_number
        )

    def _is_invariant(self, node: Node, *, is_head: bool) -> bool:
        for part in walk(node):
            if not part.is_named:
                continue
            name = part.text
            if part.type == "identifier":
                if name in self.changing or self._is_hidden(name):
                    return False
            elif part.type == "call_expression":
                if not definitions(self.known.macros, field(part, "function").text):
                    return False
            elif part.type == "subscript_expression":
                if not is_head or self._is_array(part):
                    return False
            elif part.type not in (*_VALUES, "type_descriptor", "primitive_type", "comment"):
                return False
            if part.type == "binary_expression" and not (is_head or self._is_safe(part)):
                return False
        return True

    def _is_safe(self, node: Node) -> bool:
        """Whether a binary operation cannot fault: divisors are numbers."""
        if operator(node) not in ("/", "%"):
            return True
        divisor = integer_text(field(node, "right").text)
        return divisor is not None and divisor > 0

    def _is_hidden(self, name: str) -> bool:
        """Whether a macro is more than a value, or its value may change in the nest."""
        macros = self.known.macros
        if any(
            assigns(macro) or "[" in macro.body or "*(" in macro.body
            for macro in reachable_macros(macros, name)
        ):
            return True
        return any(called or word in self.changing for _, word, called in hidden_names(macros, name))

    def _is_array(self, node: Node) -> bool:
        """Whether an element belongs to an array of the original, which may change."""
        base = field(node, "argument")
        while base.type in ("subscript_expression", "parenthesized_expression"):
            base = base.named_children[0]
        return base.type != "identifier" or base.text in self.known.ranks
