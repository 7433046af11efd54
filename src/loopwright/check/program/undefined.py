"""What the code of the segment does besides the operations, as far as C may leave it undefined.

The operations are those of the original, and so is what they are undefined for.  All else the program brings
itself: subscripts of its own arrays, shifts, conversions, memory that it allocates.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.macros import definitions, integer_text
from loopwright.c.syntax import Node, field, is_address, operator, walk
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.sites import Sites
from loopwright.read.c.purity import INDEX_HELPERS, LIBRARY
from loopwright.source import Span

_LARGE = 1 << 15
"""Sums and products of a few smaller numbers stay inside an int."""
_STORAGE = ("array_declarator", "struct_specifier", "union_specifier", "abstract_pointer_declarator")
_SILENT = ("printf", "fprintf", "puts", "putchar", "fflush", "abs", "exit")


def own_code(sites: Sites) -> Iterator[Node]:
    """The nodes of the code that is reached; of operations only what is in their subscripts."""
    for body in sites.known.bodies:
        for node in walk(body):
            if not _is_operation(sites, node.span):
                yield node


def _is_operation(sites: Sites, place: Span) -> bool:
    """Whether a place is part of an operation of the original, and not of a subscript in it."""
    around = [site for site in sites.sites if site.candidates and site.assignment.node.span.contains(place)]
    terms = [term for site in around for cell in (site.write, *site.reads) for term in cell.terms]
    return bool(around) and not any(term.span.contains(place) for term in terms)


def may_be_undefined(sites: Sites) -> bool:
    """Whether the program does more than to count, to compare and to run operations."""
    return any(_is_doubtful(sites.known, node) for node in own_code(sites))


def has_own_memory(sites: Sites) -> bool:
    """Whether the program keeps numbers where no flag tells of them: arrays, structures, allocated memory."""
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
    """Whether a place is in the code of the segment, and in no operation."""
    return any(body.span.contains(place) for body in sites.known.bodies) and not _is_operation(sites, place)


def is_own_line(sites: Sites, line: int) -> bool:
    """Whether a line has memory accesses of the segment that are not those of its operations."""
    source = sites.known.source
    kinds = ("subscript_expression", "pointer_expression", "field_expression", "call_expression")
    nodes = [node for node in own_code(sites) if node.type in kinds]
    return any(source.line_of(node.start) <= line <= source.line_of(node.end) for node in nodes)
