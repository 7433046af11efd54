"""Finds variables that code of the segment may read uninitialised.

The value of such a variable is indeterminate, and one run shows one value of many.  Definite assignment
proves a read correct: an assignment precedes it on every path.  For the other reads, a flag beside the
variable tests it at run time (`flags`).

It also finds possible undefined behaviour of the segment's code outside the operations.

The operations are those of the original, and so is their undefined behaviour.  The rest is the program's own:
subscripts of its own arrays, shifts, conversions, memory that it allocates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field as factory
from itertools import takewhile

from loopwright.c.declarations import Declarations, type_text
from loopwright.c.index_helpers import INDEX_HELPERS
from loopwright.c.macros import definitions, integer_text
from loopwright.c.syntax import (
    Node,
    field,
    is_address,
    named_children,
    operator,
    stands_as,
    walk,
    without_parentheses,
)
from loopwright.c.types import is_arithmetic, named_type
from loopwright.check.program.doubts import counts_away
from loopwright.check.program.instrument import Insertion
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.sites import Sites
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.purity import LIBRARY
from loopwright.source import Span

_LASTING = frozenset(("static", "extern", "_Thread_local", "thread_local", "__thread", "_Atomic"))
_NOT_READ = ("sizeof_expression", "alignof_expression", "offsetof_expression")
_WITHOUT_VALUES = ("va_start", "va_end", "va_copy", "__typeof__", "typeof", "_Generic")

Place = int
"""The place of a variable's declaration: the start of its declarator."""
Known = frozenset[Place] | None
"""The variables definitely assigned at this point; None if it is unreachable."""


@dataclass(frozen=True)
class UnsetRead:
    """A read of a variable of `function` that is not definitely assigned."""

    node: Node
    variable: Place
    function: Node


def unset_reads(known: ReachedCode) -> tuple[UnsetRead, ...]:
    """Return the reads in the code of the segment of variables that are not definitely assigned."""
    functions = [one.node for one in known.functions]
    if known.around is not None and known.around.node not in functions:
        functions.append(known.around.node)
    spans = [body.span for body in known.bodies]
    found = [
        UnsetRead(node, variable, function)
        for function in functions
        for node, variable in _Order(known.declarations, _candidates(function)).reads_of(function)
    ]
    return tuple(one for one in found if any(span.contains(one.node.span) for span in spans))


def _candidates(function: Node) -> frozenset[Place]:
    """Numbers and pointers of the function without an initialiser whose address is not taken.

    A jump may bypass the initialiser of the rest.
    """
    found: dict[str, list[Place]] = {}
    body = field(function, "body")
    jumps = bool(body.of_type("goto_statement", "switch_statement"))
    for declaration in body.of_type("declaration"):
        if _LASTING & {part.text for part in declaration.children}:
            continue
        for declarator in declaration.children_by_field_name("declarator"):
            is_given = declarator.type == "init_declarator"
            name = _plain(declaration, field(declarator, "declarator") if is_given and jumps else declarator)
            if name is not None:
                found.setdefault(name.text, []).append(declarator.start)
    shared = {one.text for node in function.of_type("pointer_expression") for one in _addressed(node)}
    return frozenset(place for name, places in found.items() if name not in shared for place in places)


def _plain(declaration: Node, declarator: Node) -> Node | None:
    """The name in `int k` or `T *k`."""
    inside = declarator
    while inside.type == "pointer_declarator":
        inside = field(inside, "declarator")
    if inside.type != "identifier":
        return None
    is_number = is_arithmetic(named_type(type_text(declaration, qualifiers=False)))
    return inside if is_number or declarator is not inside else None


def _addressed(node: Node) -> list[Node]:
    """The variable in `&k`."""
    if operator(node) != "&":
        return []
    inside = without_parentheses(field(node, "argument"))
    return [inside] if inside.type == "identifier" else []


@dataclass(frozen=True)
class _Order:
    """Definite assignment analysis along the source of a function."""

    declarations: Declarations
    candidates: frozenset[Place]
    reads: list[tuple[Node, Place]] = factory(default_factory=list)
    leaving: list[list[Known]] = factory(default_factory=list)
    """The variables assigned at the exits of enclosing loops and `switch`es, innermost last."""

    def reads_of(self, function: Node) -> list[tuple[Node, Place]]:
        if self.candidates:
            self._after(field(function, "body"), frozenset())
        return self.reads

    def _after(self, node: Node, known: Known) -> Known:
        """The variables assigned after a statement or expression, given those assigned before."""
        match node.type:
            case "declaration":
                return self._declared(node, known)
            case "if_statement" | "conditional_expression":
                return self._branches(node, known)
            case "for_statement" | "while_statement":
                return self._loop(node, known)
            case "do_statement":
                return self._do(node, known)
            case "switch_statement":
                self.leaving.append([])
                before = self._after(field(node, "condition"), known)
                last = self._cases(field(node, "body"), before)
                return _both(before, last, *self.leaving.pop())
            case "labeled_statement":
                return self._children(node, frozenset())  # any jump may lead here
            case "break_statement":
                if self.leaving:
                    self.leaving[-1].append(known)
                return None
            case "return_statement" | "continue_statement" | "goto_statement":
                self._children(node, known)
                return None
            case "binary_expression" if operator(node) in ("&&", "||"):
                left = self._after(field(node, "left"), known)
                self._after(field(node, "right"), left)
                return left
            case "assignment_expression":
                return self._assigned(node, known)
            case "identifier":
                return self._read(node, known)
            case "call_expression" if field(node, "function").text in _WITHOUT_VALUES:
                return known
            case _:
                return known if node.type in _NOT_READ else self._children(node, known)

    def _children(self, node: Node, known: Known) -> Known:
        for child in named_children(node):
            known = self._after(child, known)
        return known

    def _declared(self, node: Node, known: Known) -> Known:
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value")
            if value is not None:
                known = self._after(value, known)
                known = None if known is None else known | {declarator.start}
            elif declarator.type in ("identifier", "pointer_declarator"):
                known = None if known is None else known - {declarator.start}
            else:
                known = self._extents(declarator, known)
        return known

    def _extents(self, declarator: Node, known: Known) -> Known:
        for part in walk(declarator):
            size = part.child_by_field_name("size") if part.type == "array_declarator" else None
            known = known if size is None else self._after(size, known)
        return known

    def _assigned(self, node: Node, known: Known) -> Known:
        target = without_parentheses(field(node, "left"))
        if target.type != "identifier" or operator(node) != "=":
            return self._after(field(node, "right"), self._after(target, known))
        known = self._after(field(node, "right"), known)
        place = self._place(target)
        return known if known is None or place is None else known | {place}

    def _read(self, node: Node, known: Known) -> Known:
        place = self._place(node)
        if place is None or known is None or place in known:
            return known
        self.reads.append((node, place))
        return known

    def _place(self, node: Node) -> Place | None:
        found = self.declarations.visible(node.text, node.span)
        return found.place.start if found is not None and found.place.start in self.candidates else None

    def _branches(self, node: Node, known: Known) -> Known:
        before = self._after(field(node, "condition"), known)
        parts = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
        return _both(*(before if part is None else self._after(part, before) for part in parts))

    def _loop(self, node: Node, known: Known) -> Known:
        start = node.child_by_field_name("initializer")
        known = known if start is None else self._after(start, known)
        condition, update = node.child_by_field_name("condition"), node.child_by_field_name("update")
        before = known if condition is None else self._after(condition, known)
        self.leaving.append([])
        after = self._after(field(node, "body"), before)
        if update is not None:
            self._after(update, after if not _continues(node) else before)
        left = self.leaving.pop()
        return _both(*left) if _is_endless(condition) else _both(before, *left)

    def _do(self, node: Node, known: Known) -> Known:
        self.leaving.append([])
        after = self._after(field(node, "body"), known)
        end = self._after(field(node, "condition"), known if _continues(node) else after)
        return _both(end, *self.leaving.pop())

    def _cases(self, body: Node, before: Known) -> Known:
        """Handle the parts of a `switch`: each may be entered from its head."""
        after: Known = None
        for child in named_children(body):
            after = self._after(child, before if child.type == "case_statement" else after)
        return after


def _both(*ends: Known) -> Known:
    """The variables assigned on both paths."""
    reached = [end for end in ends if end is not None]
    return frozenset.intersection(*reached) if reached else None


def _continues(loop: Node) -> bool:
    return bool(loop.of_type("continue_statement"))


def _is_endless(condition: Node | None) -> bool:
    return condition is None or without_parentheses(condition).text in ("1", "true")


def flags(known: ReachedCode, reads: Iterable[UnsetRead]) -> Iterator[Insertion]:
    """Add a flag beside each variable, which its assignments set and its reads test."""
    mentioned = {one.variable: one.function for one in reads}
    asked = {one.node.start: number for number, one in enumerate(reads)}
    for variable, function in mentioned.items():
        name = f"lw_set_{variable}"
        yield Insertion(field(function, "body").start + 1, 0, f" int {name} = 0;")
        yield from _reset(function, variable, name)
        for node in function.of_type("identifier"):
            found = known.declarations.visible(node.text, node.span)
            if found is not None and found.place.start == variable:
                yield from _flag(node, name, asked.get(node.start))


def _reset(function: Node, variable: Place, name: str) -> Iterator[Insertion]:
    """Clear the flag of a variable when its block is entered again, unless it has an initialiser."""
    for node in function.of_type("declaration"):
        parent = node.parent
        if node.start <= variable < node.end and parent is not None and parent.type == "compound_statement":
            given = [one for one in node.of_type("init_declarator") if one.start <= variable < one.end]
            yield Insertion(node.end, 0, f" {name} = {len(given)};")


def _flag(node: Node, name: str, number: int | None) -> Iterator[Insertion]:
    around = takewhile(lambda one: one.type == "parenthesized_expression", node.around())
    *_, outer = node, *around
    parent = outer.parent
    is_target = stands_as(outer, "left", "assignment_expression")
    if parent is not None and is_target and operator(parent) == "=":
        yield from _wrapped(parent, "(", f", {name} = 1, {node.text})")
        return
    if number is None:
        return
    changed = parent if is_target or (parent is not None and parent.type == "update_expression") else None
    yield from _wrapped(node if changed is None else changed, f"({name} ? 0 : lw_unset({number}), ", ")")


def _wrapped(node: Node, opening: str, closing: str) -> tuple[Insertion, Insertion]:
    """Inner insertions close first and open last."""
    return Insertion(node.start, (1 << 30) - node.end, opening), Insertion(node.end, -1 - node.start, closing)


_LARGE = 1 << 15
"""Sums and products of a few numbers below this fit into an int."""
_STORAGE = ("array_declarator", "struct_specifier", "union_specifier", "abstract_pointer_declarator")
_SILENT = ("printf", "fprintf", "puts", "putchar", "fflush", "abs", "exit")


def own_code(sites: Sites) -> Iterator[Node]:
    """The nodes of the reached code; of operations, only those in their subscripts."""
    for body in sites.known.bodies:
        for node in walk(body):
            if not _is_operation(sites, node.span):
                yield node


def _is_operation(sites: Sites, place: Span) -> bool:
    """Whether a place is in an operation of the original but not in one of its subscripts."""
    around = [site for site in sites.sites if site.candidates and site.assignment.node.span.contains(place)]
    terms = [term for site in around for cell in (site.write, *site.reads) for term in cell.terms]
    return bool(around) and not any(term.span.contains(place) for term in terms)


def may_be_undefined(sites: Sites) -> bool:
    """Whether the program does more than count to a bound, compare and execute operations."""
    return any(_is_doubtful(sites.known, node) for node in own_code(sites))


def has_own_memory(sites: Sites) -> bool:
    """Whether the program keeps numbers in memory without flags: arrays, structures, allocated memory."""
    return any(
        node.type in _STORAGE
        or (node.type == "call_expression" and "alloc" in field(node, "function").text)
        or (is_address(node))
        for node in own_code(sites)
    )


def _is_doubtful(known: ReachedCode, node: Node) -> bool:
    match node.type:
        case "subscript_expression" | "cast_expression" | "pointer_expression":
            return True
        case "for_statement" | "while_statement" | "do_statement":
            return counts_away(node)
        case "field_expression":
            return operator(node) == "->"
        case "binary_expression":
            return _is_doubtful_sum(node)
        case "number_literal":
            value = integer_text(node.text)
            return value is not None and value >= _LARGE
        case "call_expression":
            return _is_doubtful_call(known, field(node, "function"))
        case _:
            return False


def _is_doubtful_sum(node: Node) -> bool:
    right, left = field(node, "right"), field(node, "left")
    match operator(node):
        case "<<" | ">>":
            return True
        case "/" | "%":
            return right.type != "number_literal"
        case "*":
            return "number_literal" not in (left.type, right.type)
        case _:
            return False


def _is_doubtful_call(known: ReachedCode, function: Node) -> bool:
    name = function.text
    if name in LIBRARY or name in INDEX_HELPERS or name in _SILENT or definitions(known.macros, name):
        return False
    return function.type != "identifier" or all(one.name != name for one in known.functions)


def is_own_place(sites: Sites, place: Span) -> bool:
    """Whether a place is in the code of the segment but in no operation."""
    return any(body.span.contains(place) for body in sites.known.bodies) and not _is_operation(sites, place)


def is_own_line(sites: Sites, line: int) -> bool:
    """Whether a line has memory accesses of the segment outside its operations."""
    source = sites.known.source
    kinds = ("subscript_expression", "pointer_expression", "field_expression", "call_expression")
    nodes = [node for node in own_code(sites) if node.type in kinds]
    return any(source.line_of(node.start) <= line <= source.line_of(node.end) for node in nodes)
