"""The macros in the source of kernels: loops and tests of blocks and threads, and the memory that the threads
of a block share: what a kernel declares, and what its launch reserves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import prod

from loopwright.c.expression_types import COMPARISONS
from loopwright.c.syntax import Node, identifiers, named_children, walk
from loopwright.emit.helpers import DEFINITIONS
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import AXES, GPU
from loopwright.prove.reading.c_expressions import Unreadable

NUMBERS = ("long", "long long", "long int", "LW_INDEX")
"""Types of 64 bits, and of 32 where `narrow` shows that these suffice."""
_TYPES = {
    "LANE": ("LW_LANE_TYPE", "LW_LANE_INDEX"),
    "BLOCK": (*NUMBERS[:3], "LW_BLOCK_INDEX"),
    "THREAD": NUMBERS,
}


_VIEW = re.compile(r"LW_(ARRAY|CONST_ARRAY|AHEAD)_(\d)")


def part(node: Node, name: str) -> Node:
    """The child in field `name`; raises Unreadable if it is missing."""
    child = node.child_by_field_name(name)
    if child is None:
        raise Unreadable(f"a {node.type} without {name}")
    return child


@dataclass(frozen=True)
class ArrayView:
    """An array of a kernel: LW_CONST_ARRAY_2(float, A, n1), or LW_AHEAD_2(float, A, n0, n1, 2).

    `sizes` are all extents but the first; the first is given if a prefetch accesses a cell `rows` further on:
    A[i + rows] is in the array if i + rows < n0, since A[i] is.
    """

    kind: str
    name: str
    sizes: tuple[str, ...]
    is_const: bool
    rows: int = 0

    @property
    def pointer(self) -> str:
        """The type of the viewed parameter."""
        return f"{'const ' if self.is_const else ''}{self.kind} *"


def is_view(macro: str) -> bool:
    return _VIEW.fullmatch(macro) is not None


def array_view(macro: str, arguments: Sequence[str]) -> ArrayView | None:
    match _VIEW.fullmatch(macro), arguments:
        case re.Match() as found, [kind, name, *sizes, rows] if found[1] == "AHEAD":
            known = len(sizes) == int(found[2]) and rows.isdigit() and int(rows) > 0
            return ArrayView(kind, name, tuple(sizes), is_const=True, rows=int(rows)) if known else None
        case re.Match() as found, [kind, name, *sizes] if len(sizes) + 1 == int(found[2]):
            return ArrayView(kind, name, tuple(sizes), found[1] == "CONST_ARRAY")
    return None


def refuse_narrow(node: Node, storage: frozenset[str]) -> None:
    """Raises Unreadable for a loop that counts in a narrower type than sizes: it may miss its bound.

    A variable declared with another type is one of the region, in `storage`, and has its type there.
    """
    for one in walk(node):
        kinds = ("LANE", "BLOCK")
        shared = one.parent is not None and any(axis_of(one.parent, kind) is not None for kind in kinds)
        if one.type == "for_statement" and part(one, "initializer").type != "declaration":
            raise Unreadable("a loop of a kernel declares its iterator")
        if one.type != "declaration" or shared or part(one, "type").text in NUMBERS:
            continue
        names = {*identifiers(part(one, "declarator"))}
        if not names & storage:
            raise Unreadable(f"a number of a kernel does not have a numeric type: {one.text}")


def distributed_head(node: Node, kind: str, axis: str) -> tuple[str, str, Node, Node]:
    """`first` and `step`, with the macros of the head: both name the same axis and the same step >= 1."""
    declared = part(node, "initializer")
    if declared.type != "declaration" or part(declared, "type").text not in _TYPES[kind]:
        raise Unreadable("a distributed loop counts in another type than those of its kind")
    value = part(part(declared, "declarator"), "value")
    update = part(node, "update")
    if update.type != "assignment_expression" or part(update, "operator").type != "+=":
        raise Unreadable("a distributed loop counts up")
    name = part(part(declared, "declarator"), "declarator").text
    added = part(update, "right")
    arguments, more = call_arguments(value), call_arguments(added)
    same = arguments[::2] == [axis, *more[1:]] and more[:1] == [axis] and len(arguments) == 3
    if not same or called_name(added) != f"LW_{kind}S" or part(update, "left").text != name:
        raise Unreadable(f"the loop over {name} is not distributed in one way")
    if not (more[1].isdigit() and int(more[1]) >= 1) or not counts_up(part(node, "condition"), name):
        raise Unreadable(f"the loop over {name} does not count up to a bound")
    return arguments[1], more[1], value, added


def is_assigned(name: Node) -> bool:
    """Whether a name is assigned to, or used in a way that is not understood."""
    access, outer = name, name.parent
    while outer is not None and (
        outer.type == "parenthesized_expression"
        or (outer.type == "subscript_expression" and part(outer, "argument") == access)
    ):
        access, outer = outer, outer.parent
    if outer is None or outer.type in ("update_expression", "pointer_expression", "field_expression"):
        return True
    return outer.type == "assignment_expression" and part(outer, "left") == access


def counts_up(test: Node, name: str) -> bool:
    """Whether a test is `i < bound` or `i <= bound`, with a bound without i."""
    if test.type != "binary_expression" or part(test, "operator").type not in ("<", "<="):
        return False
    inside = identifiers(part(test, "right"))
    return part(test, "left").text == name and name not in inside


def axis_of(node: Node, kind: str) -> str | None:
    """The axis of a loop that is distributed over blocks or threads, or None."""
    if node.type != "for_statement":
        return None
    starts = [one for one in walk(part(node, "initializer")) if called_name(one) == f"LW_{kind}"]
    arguments = call_arguments(starts[0]) if len(starts) == 1 else []
    return arguments[0] if arguments and arguments[0] in AXES else None


def lane_names(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The iterators of the loops over warps and lanes among these nodes, the outer one first."""
    loops = [one for one in nodes if axis_of(one, "LANE") is not None]
    names = tuple(part(part(part(one, "initializer"), "declarator"), "declarator").text for one in loops)
    return names if [axis_of(one, "LANE") for one in loops] == ["y", "x"] else ()


def is_thread_loop(node: Node) -> bool:
    return axis_of(node, "THREAD") is not None or axis_of(node, "LANE") is not None


def has_threads(node: Node) -> bool:
    return any(is_thread_loop(one) or called_name(one) == "LW_ONE" for one in walk(node))


def tests_threads(node: Node) -> bool:
    return any(called_name(one) == "LW_ONE" for one in walk(part(node, "condition")))


def flat_operators(node: Node) -> Iterator[Node]:
    """Yields the operators `|` and `&` between tests, where `||` and `&&` have the same value, 0 or 1."""
    for one in walk(node):
        if _is_flat(one):
            yield part(one, "operator")


def _is_flat(node: Node) -> bool:
    if node.type != "binary_expression" or part(node, "operator").type not in ("|", "&"):
        return False
    return all(_is_test(part(node, side)) for side in ("left", "right"))


def _is_test(node: Node) -> bool:
    if node.type == "parenthesized_expression":
        return _is_test(named_children(node)[0])
    compares = node.type == "binary_expression" and part(node, "operator").type in COMPARISONS
    return compares or _is_flat(node)


def single_axes(node: Node) -> frozenset[str]:
    """The axes of `if (LW_ONE(x) && LW_ONE(y)) ...`."""
    tests = [text.strip() for text in part(node, "condition").text.strip()[1:-1].split("&&")]
    axes = frozenset(axis for axis in AXES if f"LW_ONE({axis})" in tests)
    if len(axes) != len(tests) or node.child_by_field_name("alternative") is not None:
        raise Unreadable("an unknown test for one thread")
    return axes


def refuse_macros(*nodes: Node) -> None:
    for node in nodes:
        for one in walk(node):
            if one.type == "identifier" and one.text.startswith(("LW_", "lw_call")):
                raise Unreadable(f"{one.text} stands where no macro is known")


def called_name(node: Node) -> str | None:
    """The name of the function or macro that an expression calls."""
    return part(node, "function").text if node.type == "call_expression" else None


def called_by(node: Node) -> str | None:
    """The name of the function or macro that a statement calls."""
    inside = named_children(node)
    return called_name(inside[0]) if len(inside) == 1 else None


def call_arguments(node: Node) -> list[str]:
    """The texts of the arguments of a call."""
    if node.type != "call_expression":
        return []
    return [one.text for one in named_children(part(node, "arguments"))]


def statement_calls(nodes: list[Node]) -> Iterator[tuple[Node, str, Node]]:
    """Yields the statements that are calls, each with the name and the call."""
    for node in nodes:
        name = called_by(node) if node.type == "expression_statement" else None
        if name is not None:
            yield node, name, named_children(node)[0]


_WIDER = ("long", "long long")
"""Types to which the printer converts sizes."""


def check_grid(grid: Node, shared: frozenset[str], numbers: frozenset[str]) -> None:
    """Checks LW_GRID(x, y, z): along an axis over which a loop is distributed, any number of blocks is
    correct, since there is at least one (`lw_clamp`); along another axis every block would execute the
    whole kernel, so there must be one."""
    counts = named_children(part(grid, "arguments")) if called_name(grid) == "LW_GRID" else []
    if len(counts) != len(AXES):
        raise Unreadable("a launch on an unknown grid")
    for axis, count in zip(AXES, counts, strict=True):
        if not (_is_count(count, numbers) if axis in shared else count.text == "1"):
            raise Unreadable(f"{count.text} blocks along {axis}, which no loop of the kernel shares")


def _is_count(node: Node, numbers: frozenset[str]) -> bool:
    """Whether an expression is integer arithmetic without assignments, with constant divisors."""
    match node.type:
        case "number_literal":  # may be negative, such as `-3`
            return node.text.removeprefix("-").isdigit()
        case "identifier":
            return node.text in numbers
        case "binary_expression":
            sides = [part(node, "left"), part(node, "right")]
            if part(node, "operator").type in ("/", "%") and not _is_divisor(sides[1]):
                return False
        case "call_expression":
            sides = named_children(part(node, "arguments"))
            if called_name(node) not in DEFINITIONS or len(sides) != 2:
                return False
            if called_name(node) == "floord" and not _is_divisor(sides[1]):
                return False
        case "parenthesized_expression" | "conditional_expression":
            sides = named_children(node)
        case "unary_expression" if part(node, "operator").type == "-":
            sides = [part(node, "argument")]
        case "cast_expression" if part(node, "type").text in _WIDER:
            sides = [part(node, "value")]
        case _:
            return False
    return all(_is_count(one, numbers) for one in sides)


def _is_divisor(node: Node) -> bool:
    return node.type == "number_literal" and node.text.isdigit() and int(node.text) > 0


ROOM_RANK = 5
_BYTES = {"float": 4, "int": 4, "unsigned": 4, "double": 8, "long": 8}


def element_bytes(kind: str) -> int:
    """The size of an element type; more than a block has if the type is not known."""
    return _BYTES.get(kind, GPU.most_room + 1)


def check_room(
    kernel: str, buffers: Sequence[tuple[str, str, tuple[str, ...]]], room: int, late: int
) -> None:
    """Checks that the buffers of a kernel, and `late` bytes for copies, fit into the memory of a block.

    Buffers of five dimensions use the room reserved by the launch: there is at most one, of exactly that
    size.
    """
    total, large = late, 0
    for kind, _, sizes in buffers:
        size = prod(map(int, sizes)) * element_bytes(kind)
        if len(sizes) != ROOM_RANK:
            total += size
        elif size != room:
            raise Unreadable(f"{kernel} is launched with room for {room} bytes, and needs {size}")
        else:
            large += 1
    if total > GPU.most_shared or total + room > GPU.most_room or large > 1:
        raise Unreadable(f"{kernel} has buffers of {total + room} bytes, more than a block has")
