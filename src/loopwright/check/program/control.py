"""Finds out whether control flow depends on data: then a run says nothing about other data.

Values are followed from the elements of the original's arrays, and from functions whose results vary between
runs (`rand`, `time`), through variables to the conditions, subscripts and bounds that control the operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.c.loops import LEAVING
from loopwright.c.references import reference_of
from loopwright.c.syntax import Node, field, is_address, named_children, operator, walk, without_parentheses
from loopwright.check.program.pointers import declared_identifier
from loopwright.check.program.reachable import Function, ReachedCode, callees
from loopwright.check.program.sites import Sites
from loopwright.lazy_dataclass import dataclass

_CHANGING = frozenset(
    ("rand", "random", "rand_r", "drand48", "lrand48", "time", "clock", "getpid", "omp_get_wtime", "__rdtsc",
     "getenv", "secure_getenv", "getchar", "getc", "fgetc", "fopen", "open", "feof", "ferror", "ftell")
)  # fmt: skip
_FILLING = frozenset(
    ("scanf", "fscanf", "fgets", "fread", "read", "gettimeofday", "clock_gettime", "time", "rand_r")
)
"""Functions that write data to where their arguments point; the number that they return is data too."""
_COPYING = frozenset(("memcpy", "memmove", "strcpy", "strncpy", "strcat", "sprintf", "snprintf", "sscanf"))
"""Functions that copy data from where some of their arguments point to where the rest point."""
_CHOOSING = ("if_statement", "while_statement", "do_statement", "for_statement", "switch_statement")
_CELLS = ("subscript_expression", "identifier", "pointer_expression", "field_expression")
NEVER_RETURN = frozenset(
    ("exit", "_exit", "_Exit", "quick_exit", "abort", "longjmp", "__builtin_unreachable")
)


@dataclass(frozen=True)
class DataPlace:
    """A variable or the result of a function, by where it is declared.

    With `pointed`: its pointees or elements.
    """

    start: int
    pointed: bool = False


_STARTS, _JOINS = ("pthread_create", "thrd_create"), ("pthread_join", "thrd_join")


def doubt(sites: Sites) -> str | None:
    """Return why one correct run does not imply that all runs are correct."""
    decided = decided_by_data(sites)
    if decided is not None:
        where = decided.span.place
        return f"data decide which operations run, at {where}: this run is right, other runs may not be"
    started = starts_threads(sites.known)
    if started is not None and not list(_calls(sites.known, _JOINS)):
        where = started.span.place
        return f"nothing waits for the thread that is started at {where}: it may run after the segment"
    return None


def starts_threads(known: ReachedCode) -> Node | None:
    """The place where the segment starts a thread."""
    return next(_calls(known, _STARTS), None)


def _calls(known: ReachedCode, names: tuple[str, ...]) -> Iterator[Node]:
    nodes = (node for body in known.bodies for node in body.of_type("call_expression"))
    return (node for node in nodes if field(node, "function").text in names)


def decided_by_data(sites: Sites) -> Node | None:
    """A condition, bound or subscript that depends on data and controls operations."""
    places = _places(sites, frozenset())
    return next((part for part in _deciding(sites) if _has_data(sites, places, part)), None)


def decided_by_arguments(sites: Sites) -> Node | None:
    """The same for the command line, if nothing depends on data."""
    known = sites.known
    main = known.around if known.around is not None and known.around.name == "main" else None
    names = [name for name in main.parameters if name is not None] if main is not None else []
    variables = [known.parameter(main, name) for name in names] if main is not None else []
    starts = {one.place.start for one in variables if one is not None}
    if not any(body.named(name) for body in known.bodies for name in names):
        return None
    given = frozenset(DataPlace(start, pointed) for start in starts for pointed in (False, True))
    places = _places(sites, given)
    return next((part for part in _deciding(sites) if _has_data(sites, places, part)), None)


def _deciding(sites: Sites) -> Iterator[Node]:
    """The expressions that decide which operations execute."""
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
    """Whether a node below `node` is an operation, may execute one, or skips others."""
    own = {site.assignment.node for site in sites.sites}
    for part in walk(node):
        if besides is not None and besides.span.contains(part.span):
            continue
        if part in own or part.type in LEAVING:
            return True
        if part.type == "call_expression":
            name = field(part, "function").text
            inside = any(one.name == name for one in sites.known.functions)
            if inside or name in NEVER_RETURN or field(part, "function").type != "identifier":
                return True
    return False


def _places(sites: Sites, found: frozenset[DataPlace]) -> frozenset[DataPlace]:
    """The variables that data flow into, by assignments and as arguments; `found` already hold some."""
    nodes = [node for body in sites.known.bodies for node in walk(body)]
    while True:
        more = found | {place for node in nodes for place in _given(sites, found, node)}
        if more == found:
            return found
        found = more


def _given(sites: Sites, places: frozenset[DataPlace], node: Node) -> Iterator[DataPlace]:
    for targets, value in _values(sites, node):
        yield from _through(sites, places, value, targets)
    if node.type == "call_expression" and not _called(sites, field(node, "function")):
        yield from _filled(sites, places, node)


def _filled(sites: Sites, places: frozenset[DataPlace], call: Node) -> Iterator[DataPlace]:
    """The places a library function writes data to."""
    name, arguments = field(call, "function").text, field(call, "arguments")
    copied = name in _COPYING and (
        _has_data(sites, places, arguments)
        or _points_to_data(sites, places, arguments)
        or any(part.type == "identifier" and part.text in sites.known.ranks for part in walk(arguments))
    )
    if copied or name in _FILLING:
        yield from (place for part in walk(arguments) for place in _led_to(sites, part))


def _values(sites: Sites, node: Node) -> Iterator[tuple[list[DataPlace], Node]]:
    """The values that an assignment, an initialiser, a call or a return gives, with their destinations."""
    match node.type:
        case "assignment_expression":
            target = field(node, "left")
            reference = reference_of(target)
            if reference is not None:
                is_pointed = without_parentheses(target).type != "identifier"
                starts = _starts(sites, reference.root)
                yield [DataPlace(start, is_pointed) for start in starts], field(node, "right")
        case "init_declarator":
            value = field(node, "value")
            name = declared_identifier(field(node, "declarator"))
            if name is not None:
                is_pointed = value.type == "initializer_list"
                starts = _starts(sites, name, seen_from=value)
                yield [DataPlace(start, is_pointed) for start in starts], value
        case "call_expression":
            for argument, starts in _parameters(sites, node):
                yield [DataPlace(start) for start in starts], argument
        case "return_statement" if node.named_children:
            results = [one for one in sites.known.functions if one.node.span.contains(node.span)]
            yield [DataPlace(one.node.start) for one in results], node.named_children[0]
        case _:
            pass


def _through(
    sites: Sites, places: frozenset[DataPlace], value: Node, targets: Sequence[DataPlace]
) -> Iterator[DataPlace]:
    """Propagate data from a value to its destination, through pointers to the objects they derive from."""
    if _has_data(sites, places, value):
        yield from targets
    if _points_to_data(sites, places, value):
        yield from (DataPlace(one.start, pointed=True) for one in targets)
    if any(DataPlace(one.start, pointed=True) in places for one in targets if not one.pointed):
        yield from (place for part in walk(value) for place in _led_to(sites, part))


def _led_to(sites: Sites, part: Node) -> Iterator[DataPlace]:
    """The places a pointer derived from `part` may reach: elements of arrays and pointers, variables by
    `&`."""
    if part.type != "identifier":
        return
    found = sites.known.declarations.visible(part.text, part.span)
    is_address = part.parent is not None and part.parent.type == "pointer_expression"
    if found is not None and (found.rank > 0 or is_address):
        yield DataPlace(found.place.start, pointed=found.rank > 0)


def _parameters(sites: Sites, call: Node) -> Iterator[tuple[Node, list[int]]]:
    """The arguments of a call, each with the parameters that may receive it."""
    known = sites.known
    functions = _called(sites, field(call, "function"))
    for index, argument in enumerate(named_children(field(call, "arguments"))):
        places = []
        for function in functions:
            name = function.parameters[index] if index < len(function.parameters) else None
            found = None if name is None else known.parameter(function, name)
            places += [found.place.start] if found is not None else []
        yield argument, places


def _starts(sites: Sites, name: Node, seen_from: Node | None = None) -> list[int]:
    """The declaration of the variable of this name."""
    found = sites.known.declarations.visible(name.text, (seen_from or name).span)
    return [] if found is None else [found.place.start]


def _has_data(sites: Sites, places: frozenset[DataPlace], node: Node) -> bool:
    """Whether the value of an expression contains data."""
    for part in walk(node):
        if part.type == "call_expression" and _returns_data(sites, places, field(part, "function")):
            return True
        if part.type == "identifier":
            starts = _starts(sites, part)
            if any(DataPlace(start) in places for start in starts):
                return True
            is_read = not _is_carried(sites, part)
            if is_read and any(DataPlace(start, pointed=True) in places for start in starts):
                return True
        is_cell = part.type in _CELLS and sites.side.cell(part) is not None
        if is_cell and not _is_address(part):
            return True
    return False


def _returns_data(sites: Sites, places: frozenset[DataPlace], function: Node) -> bool:
    results = (DataPlace(one.node.start) for one in _called(sites, function))
    return function.text in _CHANGING | _FILLING or any(result in places for result in results)


def _called(sites: Sites, function: Node) -> tuple[Function, ...]:
    """The reached functions that a call may run: none for a library function."""
    is_library = (
        function.type == "identifier"
        and sites.known.declarations.visible(function.text, function.span) is None
        and all(one.name != function.text for one in sites.known.functions)
    )
    return () if is_library else callees(sites.known, function)


def _points_to_data(sites: Sites, places: frozenset[DataPlace], node: Node) -> bool:
    """Whether an expression is derived from a pointer to data, or from a whole array or structure of data."""
    names = (part for part in walk(node) if part.type == "identifier" and _is_carried(sites, part))
    return any(DataPlace(start, pointed=True) in places for name in names for start in _starts(sites, name))


def _is_carried(sites: Sites, name: Node) -> bool:
    """Whether a pointer is moved, copied, passed or compared, without reading its pointee."""
    for parent in name.around():
        match parent.type:
            case "pointer_expression" if operator(parent) == "*":
                return False
            case "subscript_expression" | "field_expression":
                return False
            case "call_expression":
                return bool(_called(sites, field(parent, "function")))
            case kind if kind.endswith(("assignment_expression", "_statement", "declarator", "declaration")):
                return True
    return True


def _is_address(node: Node) -> bool:
    """Whether only the address of an element is taken, or its size."""
    parent = node.beyond("parenthesized_expression")
    if parent is None or parent.type == "sizeof_expression":
        return parent is not None
    return is_address(parent)
