"""Values that kernels keep between steps of a march, apart from arrays: tests in bits, early copies.

    LW_FLAG(bit, test)                                  (test)
    LW_KEPT_OR(bit, now, test)                          ((test) | (now))
    LW_KEPT_WHERE(bit, count, rows, planes, in, at)     ((rows) & (in) & ((planes) | (at)))

    LW_EARLY(r, last) statement                         statement
    LW_LATE(number, to, from);                          to = from;

A bit means its test where it is read if it was set by the same test (`LW_BITS`, `LW_FLAGS`): for the same
lane and the same values of p and c; every other name in the test has one value in the whole block.  Bits of
different tests are distinct.

LW_EARLY executes its statement twice: in step r each LW_LATE stores what was fetched, then, if r + 1 is a
step, each one fetches for r + 1.  LW_EARLY_FIRST fetches for the first step.  The stored value is that of
`from` in step r if the statement is the same in both, executes once in each step of the march, and contains
nothing that differs between steps except r; if the kernel only reads the array of `from`; and if a thread has
a place for every cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from loopwright.c.syntax import Node, identifiers, named_children, walk
from loopwright.c.tokens import names_in
from loopwright.emit.cuda.kept import BITS, Counted, bit_text, cells
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.lanes import changed_names, constant_loop, test_holds
from loopwright.prove.text.macros import (
    array_view,
    axis_of,
    call_arguments,
    called_by,
    called_name,
    element_bytes,
    lane_names,
    part,
)
from loopwright.source import Edit

EARLY = re.compile(r"LW_EARLY(_FIRST)?\((\w+), (\d+)\)(?=\s+if\b)")
_SETS = ("LW_FLAGS", "LW_BITS")
_ASKS = ("LW_FLAG", "LW_KEPT_OR", "LW_KEPT_WHERE")


@dataclass(frozen=True)
class _KeptBits:
    """Bits from `first` on: one for each cell in the loops of a test, or a single one."""

    first: int
    lanes: tuple[str, str]
    loops: tuple[Counted, ...]
    test: str


def meant_kept(statements: Sequence[Node], text: str) -> Iterator[Edit]:
    """Yields the edits that replace such macros by their meaning, or raises Unreadable."""
    nodes = [node for statement in statements for node in walk(statement)]
    asked = [one for one in nodes if called_name(one) in _ASKS]
    calls = [one for one in nodes if one.type == "expression_statement" and called_by(one) is not None]
    masks = [one for one in calls if called_by(one) == "LW_MASK"]
    sets = [one for one in calls if called_by(one) in _SETS]
    rooms = [one for one in calls if called_by(one) == "LW_LATE_ROOM"]
    for one in (*masks, *sets, *rooms):
        yield one.start, one.end, ""
    if asked or sets or masks:
        yield from _bits(masks, sets, asked)
    if not statements:
        return
    begin, end = statements[0].start, statements[-1].end
    marks = list(EARLY.finditer(text, begin, end))
    late = [one for one in calls if called_by(one) == "LW_LATE"]
    if marks or late or rooms:
        yield from _early(statements, nodes, marks, late, rooms)


def late_bytes(statements: Sequence[Node]) -> int:
    """The bytes into which a block fetches copies: per thread as many elements as LW_LATE_ROOM says."""
    nodes = [node for statement in statements for node in walk(statement)]
    calls = [(called_by(one), named_children(one)[0]) for one in nodes if one.type == "expression_statement"]
    rooms = [call_arguments(call) for name, call in calls if name == "LW_LATE_ROOM"]
    sizes = [call_arguments(call) for name, call in calls if name == "LW_BLOCK_SIZE"]
    if not rooms:
        return 0
    if len(rooms) != 1 or len(rooms[0]) != 2 or len(sizes) != 1 or not rooms[0][1].isdigit():
        raise Unreadable("copies are fetched to a place of unknown size")
    if not all(map(str.isdigit, sizes[0])):
        raise Unreadable("a block has a number of threads that is not known")
    return element_bytes(rooms[0][0]) * prod(map(int, [rooms[0][1], *sizes[0]]))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _lane_names(node: Node) -> tuple[str, ...]:
    """The iterators of the loops over warps and lanes around a node, outermost first."""
    return lane_names(reversed([*node.around()]))


def _bits(masks: Sequence[Node], sets: Sequence[Node], asked: Sequence[Node]) -> Iterator[Edit]:
    block = masks[0].parent if len(masks) == 1 else None
    if block is None or block.type != "compound_statement" or call_arguments(named_children(masks[0])[0]):
        raise Unreadable("bits of tests are kept in a register that nothing declares, or several do")
    if any(one.parent != block or one.start < masks[0].start for one in sets):
        raise Unreadable("a test is kept where not every thread computes it once")
    known = [_set(one) for one in sets]
    used = [one.first + k for one in known for k in range(cells(one.loops))]
    if len(set(used)) != len(used) or any(bit >= BITS for bit in used):
        raise Unreadable("two tests are kept in one bit")
    after = max((one.end for one in sets), default=masks[0].end)
    changed = changed_names(block)
    for one in asked:
        if one.start < after or not block.start <= one.start < block.end:
            raise Unreadable(f"{_plain(one.text)} is asked for before it is kept")
        if not _is_tested(one):
            raise Unreadable(f"{_plain(one.text)} is used as something other than a test")
        yield one.start, one.end, _asked(one, known, changed)


def _is_tested(node: Node) -> bool:
    """Whether a node is the condition of an `if`, or one of several tests in it."""
    outer = node.parent
    while outer is not None and (
        outer.type == "parenthesized_expression"
        or (outer.type == "binary_expression" and part(outer, "operator").type in ("|", "&"))
    ):
        node, outer = outer, outer.parent
    return outer is not None and outer.type == "if_statement" and part(outer, "condition") == node


def _set(node: Node) -> _KeptBits:
    call = named_children(node)[0]
    arguments = [_plain(one) for one in call_arguments(call)]
    match called_by(node), arguments:
        case "LW_FLAGS", [first, warp, lane, test] if first.isdigit():
            return _KeptBits(int(first), (warp, lane), (), test)
        case "LW_BITS", [first, warp, lane, p, p0, p1, c, c0, c1, test] if all(
            map(str.isdigit, (first, p0, p1, c0, c1))
        ):
            loops = ((p, int(p0), int(p1)), (c, int(c0), int(c1)))
            names = {warp, lane, p, c}
            if len(names) == 4 and all(low <= high for _, low, high in loops):
                return _KeptBits(int(first), (warp, lane), loops, test)
    raise Unreadable(f"a test is kept in an unknown way: {_plain(node.text)}")


def _asked(node: Node, known: Sequence[_KeptBits], changed: set[str]) -> str:
    """The meaning of a macro that reads bits."""
    arguments = [_plain(one) for one in call_arguments(node)]
    match called_name(node), arguments:
        case "LW_FLAG", [bit, test]:
            _check_kept(node, bit, test, (), known, changed)
            return f"({test})"
        case "LW_KEPT_OR", [bit, now, test]:
            _check_kept(node, bit, test, _cell_loops(node), known, changed)
            return f"(({test}) | ({now}))"
        case "LW_KEPT_WHERE", [bit, count, rows, planes, inside, border]:
            loops = _cell_loops(node)
            first = _check_kept(node, bit, inside, loops, known, changed)
            both, next_bit = f"({inside}) & ({border})", bit_text(first + cells(loops), loops)
            _check_kept(node, next_bit, both, loops, known, changed)
            if count != str(cells(loops)):
                raise Unreadable(f"bits of cells at borders are not those after the others: {count}")
            return f"(({rows}) & ({inside}) & (({planes}) | ({border})))"
    raise Unreadable(f"kept bits are used in an unknown way: {_plain(node.text)}")


def _cell_loops(node: Node) -> tuple[Counted, ...]:
    """The two innermost loops of constant trip count around a node."""
    found = [one for one in node.around() if one.type == "for_statement"]
    loops = [one for outer in found[:2] if (one := constant_loop(outer)) is not None]
    if len(loops) != 2:
        raise Unreadable(f"no loops over the cells of a lane are around {_plain(node.text)}")
    return loops[1], loops[0]


def _check_kept(
    node: Node, bit: str, test: str, loops: tuple[Counted, ...], known: Sequence[_KeptBits], changed: set[str]
) -> int:
    """The first bit of the test; raises Unreadable if it was not set by the same test."""
    for one in known:
        shown = str(one.first) if not loops else bit_text(one.first, loops)
        if shown == bit and one.test == test and one.loops == loops and one.lanes == _lane_names(node):
            break
    else:
        raise Unreadable(f"bit {bit} is not that of {test}")
    own = {*one.lanes, *(name for name, _, _ in loops)}
    inside = set(names_in(test)) - own
    if moved := sorted(inside & changed):
        raise Unreadable(f"{moved[0]} changes between steps, and a test of it is kept in bit {bit}")
    return one.first


def _early(
    statements: Sequence[Node],
    nodes: Sequence[Node],
    marks: Sequence[re.Match[str]],
    late: Sequence[Node],
    rooms: Sequence[Node],
) -> Iterator[Edit]:
    if [one[1] for one in marks] != ["_FIRST", None] or len(late) != 2 or len(rooms) != 1:
        raise Unreadable("copies are fetched early in other places than before a march and in its steps")
    copies = [_marked(one, nodes) for one in marks]
    first, again = copies
    if _plain(first.text) != _plain(again.text):
        raise Unreadable("what is fetched before a march is not what its steps copy")
    march = _march(again, marks[1][2], marks[1][3])
    names = (marks[0][2], marks[0][3])
    if names != (march[1], str(march[2])) or _lane_names(first) != _lane_names(again):
        raise Unreadable(f"{marks[0][0]} does not fetch for the first step of the march")
    phase = _phase_of(first)
    if phase.parent != march[0].parent or phase.start > march[0].start or rooms[0].parent != phase.parent:
        raise Unreadable("what the first step of a march copies is not fetched right before it")
    if rooms[0].start > phase.start:
        raise Unreadable("copies are fetched to a place that is declared later")
    _check_copies(again, late[1], rooms[0], statements)
    yield phase.start, phase.end, ""
    mark = marks[1]
    yield mark.start(), mark.end(), ""
    _, to, source = named_children(part(named_children(late[1])[0], "arguments"))
    yield late[1].start, late[1].end, f"{to.text} = {source.text};"


def _marked(mark: re.Match[str], nodes: Sequence[Node]) -> Node:
    """The statement after a mark."""
    found = [one for one in nodes if one.type == "if_statement" and one.start >= mark.end()]
    after = min(found, key=lambda one: one.start, default=None)
    if after is None or mark.string[mark.end() : after.start].strip():
        raise Unreadable(f"{mark[0]} stands before something other than tests of copies")
    if after.child_by_field_name("alternative") is not None:
        raise Unreadable(f"{mark[0]} stands before tests with something else to do")
    return after


def _phase_of(node: Node) -> Node:
    """The phase whose lanes execute nothing but a statement."""
    lanes = [one for one in node.around() if axis_of(one, "LANE") is not None]
    if len(lanes) != 2 or part(lanes[1], "body") != lanes[0] or part(lanes[0], "body") != node:
        raise Unreadable("before a march lanes do more than to fetch copies")
    return lanes[1]


def _march(node: Node, name: str, last: str) -> tuple[Node, str, int]:
    """The march whose steps each execute a statement once, its iterator and its first step."""
    inside, loops, tests = node, list[Counted](), list[tuple[str, bool]]()
    for outer in node.around():
        counted = constant_loop(outer)
        match outer.type:
            case "compound_statement":
                pass
            case "else_clause":
                inside = outer
                continue
            case "for_statement" if axis_of(outer, "LANE") is not None:
                pass
            case "for_statement" if counted is not None and counted[0] == name:
                if str(counted[2]) != last or _runs(loops, tests) != 1:
                    raise Unreadable(f"a step of the march over {name} does not run its copies once")
                if moved := {one for one, _, _ in loops} & set(identifiers(node)):
                    raise Unreadable(f"{min(moved)} differs inside of a step, and copies depend on it")
                return outer, name, counted[1]
            case "for_statement" if counted is not None:
                loops.append(counted)
            case "if_statement":
                test = _plain(part(outer, "condition").text)
                tests.append((test, part(outer, "consequence") == inside))
            case _:
                break
        inside = outer
    raise Unreadable(f"no march over {name} is around copies that are fetched early")


def _runs(loops: Sequence[Counted], tests: Sequence[tuple[str, bool]]) -> int:
    """How often something executes in loops of constant trip count, under tests of their iterators."""
    found = 0
    for values in product(*(range(first, last + 1) for _, first, last in loops)):
        known = {name: value for (name, _, _), value in zip(loops, values, strict=True)}
        for test, _ in tests:
            if test_holds(test, known) is None:
                raise Unreadable(f"whether copies are made in a step depends on {test}")
        found += all(test_holds(test, known) is wanted for test, wanted in tests)
    return found


def _check_copies(node: Node, late: Node, room: Node, statements: Sequence[Node]) -> None:
    """Checks for one copy in two loops, each cell to a place of its own, from an array that is only read."""
    number, to, source = named_children(part(named_children(late)[0], "arguments"))
    loops = _cell_loops(late)
    for inner in late.around():
        if inner == node:
            break
        nested = inner.type == "if_statement" and inner.child_by_field_name("alternative") is None
        if not nested and inner.type != "compound_statement" and constant_loop(inner) not in loops:
            raise Unreadable(f"copies that are fetched early are inside of a {inner.type}")
    else:
        raise Unreadable("a copy that is fetched early is not one of its statement")
    others = [one for one in walk(node) if one.type.endswith("_statement") and one != late]
    if any(one.type not in ("if_statement", "for_statement", "compound_statement") for one in others):
        raise Unreadable("a statement is run twice, and does more than to copy")
    kind, count = call_arguments(named_children(room)[0])
    if _plain(number.text) != bit_text(0, loops) or count != str(cells(loops)):
        raise Unreadable(f"{_plain(late.text)} has no place of its own for each cell")
    calls = [one for one in statements if one.type == "expression_statement" and called_by(one) is not None]
    views = [array_view(called_by(one) or "", call_arguments(named_children(one)[0])) for one in calls]
    read = [one for one in views if one is not None and one.is_const and not one.rows]
    array = source
    while array.type == "subscript_expression":
        array = part(array, "argument")
    if (array.text, kind) not in [(one.name, one.kind) for one in read] or to.type != "subscript_expression":
        raise Unreadable(f"{_plain(late.text)} does not copy from an array that the kernel only reads")
