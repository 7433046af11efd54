"""Whether data decide which operations run: then a run is about its own data, and about no other.

Values are followed from the elements of the original's arrays, and from what is another number on every run
(`rand`, `time`), through variables to the conditions, subscripts and bounds that the operations depend on.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.references import reference_of
from loopwright.c.syntax import Node, field, named_children, operator, walk
from loopwright.check.original.structure import assignment_of
from loopwright.check.program.reachable import ReachedCode, callees
from loopwright.check.program.sites import Sites

_CHANGING = frozenset(
    ("rand", "random", "rand_r", "drand48", "lrand48", "time", "clock", "getpid", "omp_get_wtime", "__rdtsc")
)
_CHOOSING = ("if_statement", "while_statement", "do_statement", "for_statement", "switch_statement")
_LEAVING = ("return_statement", "break_statement", "continue_statement", "goto_statement")
_CELLS = ("subscript_expression", "identifier", "pointer_expression", "field_expression")
_CALLS_OFF = ("exit", "_exit", "_Exit", "abort", "longjmp")

Place = int
"""Where a variable is declared."""


_STARTS, _JOINS = ("pthread_create", "thrd_create"), ("pthread_join", "thrd_join")


def doubt(sites: Sites) -> str | None:
    """Why a run that is right does not show that all are."""
    decided = decided_by_data(sites)
    if decided is not None:
        return f"data decide which operations run, at {_at(decided)}: the run is right, others need not be"
    started = starts_threads(sites.known)
    if started is not None and not list(_calls(sites.known, _JOINS)):
        return f"nothing waits for the thread that is started at {_at(started)}: it may run after the segment"
    return None


def starts_threads(known: ReachedCode) -> Node | None:
    """Where the segment starts a thread."""
    return next(_calls(known, _STARTS), None)


def _calls(known: ReachedCode, names: tuple[str, ...]) -> Iterator[Node]:
    nodes = (node for body in known.bodies for node in body.of_type("call_expression"))
    return (node for node in nodes if field(node, "function").text in names)


def _at(node: Node) -> str:
    return f"{node.span.file}:{node.span.line}:{node.span.column}"


def decided_by_data(sites: Sites) -> Node | None:
    """A condition, bound or subscript that data decide and that operations depend on."""
    places = _places(sites)
    return next((part for part in _deciding(sites) if _has_data(sites, places, part)), None)


def _deciding(sites: Sites) -> Iterator[Node]:
    """The expressions that choose which operations run."""
    for site in sites.sites:
        yield from (term for cell in (site.write, *site.reads) for term in cell.terms)
    for node in (node for body in sites.known.bodies for node in walk(body)):
        if node.type in _CHOOSING or node.type == "conditional_expression":
            condition = node.child_by_field_name("condition")
            if condition is not None and _has_operations(sites, node, condition):
                yield condition
        elif _is_choice(node) and _has_operations(sites, field(node, "right")):
            yield field(node, "left")


def _is_choice(node: Node) -> bool:
    return node.type == "binary_expression" and operator(node) in ("&&", "||")


def _has_operations(sites: Sites, node: Node, besides: Node | None = None) -> bool:
    """Whether something below `node` is an operation, may run one, or leaves others out."""
    own = {site.assignment.node for site in sites.sites}
    for part in walk(node):
        if besides is not None and besides.span.contains(part.span):
            continue
        if part in own or part.type in _LEAVING:
            return True
        if part.type == "call_expression":
            name = field(part, "function").text
            inside = any(one.name == name for one in sites.known.functions)
            if inside or name in _CALLS_OFF or field(part, "function").type != "identifier":
                return True
    return False


def _places(sites: Sites) -> frozenset[Place]:
    """The variables that data come into: by assignments, and as arguments."""
    found: frozenset[Place] = frozenset()
    nodes = [node for body in sites.known.bodies for node in walk(body)]
    while True:
        more = found | {place for node in nodes for place in _given(sites, found, node)}
        if more == found:
            return found
        found = more


def _given(sites: Sites, places: frozenset[Place], node: Node) -> Iterator[Place]:
    assignment = assignment_of(node)
    if assignment is not None and assignment.value is not None:
        reference = reference_of(assignment.target)
        if reference is not None and _has_data(sites, places, assignment.value):
            yield from _place(sites, reference.root)
    if node.type != "call_expression":
        return
    for argument, names in _parameters(sites, node):
        if _has_data(sites, places, argument):
            yield from names


def _parameters(sites: Sites, call: Node) -> Iterator[tuple[Node, list[Place]]]:
    """The arguments of a call, each with the parameters it may be given to."""
    known = sites.known
    functions = callees(known, field(call, "function"))
    for index, argument in enumerate(named_children(field(call, "arguments"))):
        places = []
        for function in functions:
            name = function.parameters[index] if index < len(function.parameters) else None
            found = None if name is None else known.parameter(function, name)
            places += [found.place.start] if found is not None else []
        yield argument, places


def _place(sites: Sites, node: Node) -> list[Place]:
    found = sites.known.declarations.visible(node.text, node.span)
    if found is None and node.parent is not None and node.parent.type == "init_declarator":
        return [node.start]
    return [] if found is None else [found.place.start]


def _has_data(sites: Sites, places: frozenset[Place], node: Node) -> bool:
    for part in walk(node):
        if part.type == "call_expression" and field(part, "function").text in _CHANGING:
            return True
        if part.type == "identifier" and any(place in places for place in _place(sites, part)):
            return True
        is_cell = part.type in _CELLS and sites.side.cell(part) is not None
        if is_cell and not _is_address(part):
            return True
    return False


def _is_address(node: Node) -> bool:
    """Whether only the address of an element is taken, or its size."""
    parent = node.parent
    while parent is not None and parent.type == "parenthesized_expression":
        parent = parent.parent
    if parent is None or parent.type == "sizeof_expression":
        return parent is not None
    return parent.type == "pointer_expression" and operator(parent) == "&"
