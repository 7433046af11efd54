"""Follows pointers into arrays: `double *p = &A[i][0]`, and functions that take a block of an array.

The targets of a pointer are followed through the reachable code: initialisations, assignments and arguments,
with any offsets.  A pointer that stays in one array denotes that array, and its address determines the cell
at run time.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.declarations import Variable, is_integer_type
from loopwright.c.references import Reference, reference_of
from loopwright.c.syntax import Node, field, named_children, operator, refuse, walk, without_parentheses
from loopwright.check.program.reachable import Function, ReachedCode, callees
from loopwright.lazy_dataclass import dataclass

Pointees = dict[Variable, frozenset[str]]
_QUALIFIERS = ("const", "volatile", "restrict", "static", "extern", "register", "signed")
ELSEWHERE = ""
"""The target of a pointer that is assigned the address of something else."""


@dataclass(frozen=True)
class Pointers:
    """`pointees` are the arrays each pointer variable may point into."""

    known: ReachedCode
    pointees: Pointees

    def variable(self, node: Node) -> Variable | None:
        """The pointer an identifier names, if it points into an array of the original."""
        found = self.known.declarations.visible(node.text, node.span)
        return found if found in self.pointees else None

    def array_of(self, reference: Reference) -> str | None:
        """The array that an element `p[k]` or `*p` belongs to."""
        variable = self.variable(reference.root)
        if variable is None or len(reference.subscripts) != variable.rank or reference.partial:
            return None
        array, *others = sorted(self.pointees[variable], key=lambda name: (name == ELSEWHERE, name))
        if others:
            where = "elsewhere" if others[0] == ELSEWHERE else f"into '{others[0]}'"
            message = f"'{variable.name}' points into '{array}' and {where}"
            raise refuse(reference.node, message, "use a pointer for each array")
        if not self._is_of_elements(variable, array):
            message = f"'{variable.name}' points into '{array}', but not to elements of its type"
            raise refuse(reference.node, message, "use a pointer of the array's own type")
        return array

    def _is_of_elements(self, variable: Variable, array: str) -> bool:
        """Whether the pointee of a pointer has the size of an element: one write, one cell."""
        declared = self.known.at_segment(array)
        return declared is None or self._type(variable) == self._type(declared)

    def _type(self, variable: Variable) -> tuple[str, ...]:
        words = self.known.declarations.resolved(variable.type).split()
        return tuple(sorted(word for word in words if word not in _QUALIFIERS))


def pointers(known: ReachedCode) -> Pointers:
    """Follow arrays into pointers until nothing new is found."""
    flows = [(variable, value) for variable, value in _flows(known) if not _is_array(known, variable)]
    found = Pointers(known, {variable: frozenset() for variable, _ in flows})
    while True:
        pointees = dict(found.pointees)
        for variable, value in flows:
            pointees[variable] |= _origins(found, value)
        if pointees == found.pointees:
            inside = {one: arrays for one, arrays in pointees.items() if arrays - {ELSEWHERE}}
            return Pointers(known, inside)
        found = Pointers(known, pointees)


def _is_array(known: ReachedCode, variable: Variable) -> bool:
    """Whether a variable is an array of the original, or always an alias of one."""
    is_itself = variable.name in known.ranks and variable == known.at_segment(variable.name)
    return is_itself or known.named(variable) is not None


def _flows(known: ReachedCode) -> Iterator[tuple[Variable, Node]]:
    """Pointer variables, with the values they are assigned.

    Assignments anywhere in the file count; of calls, those in reachable code and those of the function that
    contains the segment.
    """
    for node in walk(known.file):
        match node.type:
            case "init_declarator":
                yield from _to_name(known, field(node, "declarator"), field(node, "value"))
            case "assignment_expression" if operator(node) == "=":
                yield from _to_name(known, field(node, "left"), field(node, "right"))
            case "call_expression" if known.around is not None:
                if field(node, "function").text == known.around.name:
                    yield from _to_parameters_of(known, known.around, node)
    for body in known.bodies:
        for node in walk(body):
            if node.type == "call_expression":
                for function in callees(known, field(node, "function")):
                    yield from _to_parameters_of(known, function, node)


def _to_name(known: ReachedCode, target: Node, value: Node) -> Iterator[tuple[Variable, Node]]:
    """The target of `p = value` or `double *p = value`, if that is a pointer."""
    name = declared_identifier(target)
    if name is not None:
        at = value if target.type.endswith("declarator") else name
        found = known.declarations.visible(name.text, at.span)
        if found is not None and found.rank > 0:
            yield found, value


def declared_identifier(target: Node) -> Node | None:
    """The variable that is assigned or declared as a whole."""
    core = without_parentheses(target)
    while core.type.endswith("declarator"):
        inner = core.child_by_field_name("declarator")
        if inner is None:
            inner = next(iter(core.named_children), None)
        if inner is None:
            return None
        core = inner
    return core if core.type == "identifier" else None


def _to_parameters_of(known: ReachedCode, function: Function, call: Node) -> Iterator[tuple[Variable, Node]]:
    arguments = named_children(field(call, "arguments"))
    for name, value in zip(function.parameters, arguments, strict=False):
        variable = None if name is None else known.parameter(function, name)
        if variable is not None and variable.rank > 0:
            yield variable, value


def _origins(found: Pointers, node: Node) -> frozenset[str]:
    """The arrays that the value of a pointer expression may point into; none for a number."""
    core = without_parentheses(node)
    match core.type:
        case "identifier":
            return _named(found, core)
        case "cast_expression":
            return _origins(found, field(core, "value"))
        case "assignment_expression":
            return _origins(found, field(core, "right"))
        case "binary_expression" if operator(core) in ("+", "-"):
            return _sum_origins(found, core)
        case "conditional_expression":
            return _origins(found, field(core, "consequence")) | _origins(found, field(core, "alternative"))
        case "pointer_expression" if operator(core) == "&":
            reference = reference_of(field(core, "argument"))
            return frozenset((ELSEWHERE,)) if reference is None else _named(found, reference.root)
        case "subscript_expression" | "pointer_expression":
            reference = reference_of(core)
            return frozenset((ELSEWHERE,)) if reference is None else _row(found, reference)
        case "number_literal" | "null" | "binary_expression" | "unary_expression" | "sizeof_expression":
            return frozenset()
        case _:
            return frozenset((ELSEWHERE,))


def _sum_origins(found: Pointers, node: Node) -> frozenset[str]:
    """For a pointer plus or minus a number: if one side points into an array, the other is not a pointer."""
    sides = [_origins(found, field(node, side)) for side in ("left", "right")]
    return next((side for side in sides if side - {ELSEWHERE}), sides[0] | sides[1])


def _named(found: Pointers, root: Node) -> frozenset[str]:
    variable = found.variable(root)
    if variable is not None:
        return found.pointees[variable]
    known = found.known
    array = known.array_of(Reference(root.text, (), partial=False, node=root, root=root))
    if array is not None and known.ranks[array] > 0:
        return frozenset((array,))
    declared = known.declarations.visible(root.text, root.span)
    is_number = declared is not None and declared.rank == 0 and is_integer_type(declared.type)
    return frozenset() if is_number else frozenset((ELSEWHERE,))


def _row(found: Pointers, reference: Reference) -> frozenset[str]:
    """`A[i]` of an array of rank 2 is a pointer into it; an element is a number."""
    known = found.known
    declared = known.declarations.visible(reference.root.text, reference.root.span)
    if declared is None or reference.partial:
        return frozenset((ELSEWHERE,))
    is_pointer = len(reference.subscripts) < declared.rank
    return _named(found, reference.root) if is_pointer else frozenset()
