"""Keeps tests that are invariant in a march in the bits of one register per lane.

    for (r = 0; r <= 85; r++)                 LW_MASK();
      for each lane x                         LW_BITS(0, w, x, p, 1, 4, c, 1, 2, 2 * x + c >= n + 4);
        for (p = 1; p <= 4; p++)       -->    for (r = 0; r <= 85; r++)
          for (c = 1; c <= 2; c++)              for each lane x
            if (2 * x + c >= n + 4 | r >= n)      for (p = 1; p <= 4; p++) for (c = 1; c <= 2; c++)
              S;                                    if (LW_KEPT_OR(2 * p + c - 3, r >= n, ...)) S;

A test of a cell is true at borders, or selects cells inside an array among those.  The part that depends on
the step of the march is the same for all cells.  The test around all cells of a lane is a flag: one bit.  The
text repeats each kept test at its use, so it means the same without bits.

Cells that lanes with borders copy from a read-only array are fetched one step ahead (`LW_EARLY`): the cells
of the next step are copied to thread-local storage during computation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from loopwright.emit.cuda.barriers import is_mapped
from loopwright.emit.cuda.interface import device_type
from loopwright.emit.cuda.predication import is_lane_axis
from loopwright.emit.expressions import flat_condition_to_c
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import And, Compare, Int, Or, Relation, Test, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remark, Remarked
from loopwright.loops.traverse import subprograms, subterms, variables, with_children
from loopwright.model.program import MemorySpace, Program

BITS = 32
"""The bits of a register."""

Counted: TypeAlias = tuple[str, int, int]
"""The iterator of a loop, its first and its last value."""


@dataclass(frozen=True, slots=True)
class EarlyNote(Remark):
    """The cells that the statement copies are fetched one step of the march ahead."""

    march: str
    last: int


@dataclass(frozen=True, slots=True)
class FirstNote(Remark):
    """The copies of the first step are fetched here."""

    march: str
    first: int


@dataclass(frozen=True, slots=True)
class MaskNote(Remark):
    """The kept tests of the march are computed before the statement."""


@dataclass(frozen=True)
class EarlyCopies:
    """A statement whose copies are fetched a step ahead, and the loops over the cells of a lane."""

    statement: str
    loops: tuple[Counted, ...]
    type: str

    def lines(self, lines: Sequence[str]) -> list[str]:
        (line,) = lines
        to, source = line.removesuffix(";").split(" = ")
        return [f"LW_LATE({bit_text(0, self.loops)}, {to}, {source});"]

    @property
    def room(self) -> str:
        return f"LW_LATE_ROOM({self.type}, {cells(self.loops)});"


@dataclass(frozen=True)
class KeptTests:
    """The text of a kernel's tests, by the identity of their nodes, and the bits kept for them."""

    march: int = 0
    texts: Mapping[int, str] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


@dataclass
class _Bits:
    """Tests with the first of their bits."""

    lanes: tuple[str, ...] = ()
    used: int = 0
    known: dict[tuple[str, tuple[Counted, ...]], int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def kept(self, test: str, loops: tuple[Counted, ...]) -> int:
        key = (test, loops)
        if key not in self.known:
            self.known[key] = self.used
            self.used += cells(loops)
            lanes = ", ".join(self.lanes)
            counted = "".join(f", {name}, {first}, {last}" for name, first, last in loops)
            word = "BITS" if loops else "FLAGS"
            self.lines.append(f"LW_{word}({self.known[key]}, {lanes}{counted}, {test});")
        return self.known[key]


def cells(loops: Sequence[Counted]) -> int:
    count = 1
    for _, first, last in loops:
        count *= last - first + 1
    return count


def bit_text(first: int, loops: Sequence[Counted]) -> str:
    """`2 * p + c - 3`: the bit of a cell, given the first bit."""
    (outer, start, _), (inner, low, high) = loops
    width = high - low + 1
    rest = first - width * start - low
    return f"{width} * {outer} + {inner}" + (f" {'+' if rest > 0 else '-'} {abs(rest)}" if rest else "")


def kept_tests(node: Node) -> KeptTests:
    """The tests of a kernel that bits are kept for; none if they exceed a register."""
    marches = [one for one in subprograms(node) if is_march(one)]
    if not marches or any(isinstance(one, Let) for one in subprograms(marches[0])):
        return KeptTests()
    bits, texts = _Bits(), dict[int, str]()
    for part in subprograms(node):
        if isinstance(part, For) and is_lane_axis(part) and not bits.lanes:
            bits.lanes = _lanes_around(node, part)
    _collect(node, frozenset(), None, bits, texts)
    if not texts or bits.used > BITS or len(bits.lanes) != 2:
        return KeptTests()
    return KeptTests(id(marches[0]), texts, ("LW_MASK();", *bits.lines))


def is_march(node: Node) -> bool:
    """Whether this is a loop of all threads that contains phases."""
    return isinstance(node, For) and not is_mapped(node) and any(map(is_mapped, subprograms(node.body)))


def _lanes_around(node: Node, lanes: For) -> tuple[str, ...]:
    """The names of the loops over the warps of a block and over lanes."""
    outer = [
        one for one in subprograms(node) if isinstance(one, For) and is_mapped(one) and one.body is lanes
    ]
    return *(one.iterator for one in outer), lanes.iterator


def _collect(
    node: Node, moving: frozenset[str], loops: tuple[Counted, ...] | None, bits: _Bits, texts: dict[int, str]
) -> None:
    """`loops` are those inside of the lanes of a march; None outside of these."""
    match node:
        case For() if is_lane_axis(node):
            loops = () if moving else None
        case For() if is_march(node):
            moving |= {node.iterator}
        case For(name, Int(first), Compare(Relation.LE, Var(tested), Int(last))) if loops is not None:
            loops = (*loops, (name, first, last)) if name == tested else None
        case If(test, then, _) if loops is not None and any(isinstance(one, Or) for one in subterms(test)):
            text = None
            if isinstance(then, Call) and len(loops) == 2:
                text = _cell_text(test, moving, loops, bits)
            elif not loops and isinstance(then, For):
                text = _flag_text(test, moving, bits)
            if text is not None:
                texts[id(node)] = text
    for child in (node.body,) if isinstance(node, For) else _parts(node):
        _collect(child, moving, loops, bits, texts)


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case If(_, then, orelse):
            return (then,) if orelse is None else (then, orelse)
        case Block(nodes):
            return nodes
        case Remarked(_, body):
            return (body,)
        case _:
            return ()


def _sorted(arguments: Sequence[Test], moving: frozenset[str]) -> tuple[tuple[Test, ...], tuple[Test, ...]]:
    """The tests that are invariant in the march, and the rest."""
    still = tuple(one for one in arguments if not variables(one) & moving)
    return still, tuple(one for one in arguments if variables(one) & moving)


def _cell_text(test: Test, moving: frozenset[str], loops: tuple[Counted, ...], bits: _Bits) -> str | None:
    match test:
        case Or(arguments):
            still, moved = _sorted(arguments, moving)
            if not still or not moved:
                return None
            shown = flat_condition_to_c(Or(still))
            bit = bit_text(bits.kept(shown, loops), loops)
            return f"LW_KEPT_OR({bit}, {flat_condition_to_c(Or(moved))}, {shown})"
        case And(arguments):
            some = [one for one in arguments if isinstance(one, Or)]
            inside, rows = _sorted([one for one in arguments if one not in some], moving)
            border, planes = _sorted(some[0].arguments, moving) if len(some) == 1 else ((), ())
            if not (inside and rows and border and planes):
                return None
            within, at_border = flat_condition_to_c(And(inside)), flat_condition_to_c(Or(border))
            first = bits.kept(within, loops)
            if bits.kept(f"({within}) & ({at_border})", loops) != first + cells(loops):
                return None
            now = [flat_condition_to_c(And(rows)), flat_condition_to_c(Or(planes))]
            words = [bit_text(first, loops), str(cells(loops)), *now, within, at_border]
            return f"LW_KEPT_WHERE({', '.join(words)})"
        case _:
            return None


def _flag_text(test: Test, moving: frozenset[str], bits: _Bits) -> str:
    """The test around all cells of a lane."""
    sign = " & " if isinstance(test, And) else " | "
    match test:
        case And(arguments) | Or(arguments):
            still, moved = _sorted(arguments, moving)
            found: list[str] = []
            if still:
                shown = flat_condition_to_c(And(still) if isinstance(test, And) else Or(still))
                found.append(f"LW_FLAG({bits.kept(shown, ())}, {shown})")
            nested = [isinstance(test, And) and isinstance(one, Or) for one in moved]
            found += [
                f"({_flag_text(one, moving, bits) if each else flat_condition_to_c(one)})"
                for one, each in zip(moved, nested, strict=True)
            ]
            return sign.join(found)
        case _:
            return flat_condition_to_c(test)


def with_early_copies(
    program: Program, node: Node, written: frozenset[str]
) -> tuple[Node, EarlyCopies | None]:
    """The kernel with notes where cells are fetched a step ahead, and the list of these."""
    marches = [one for one in subprograms(node) if is_march(one)]
    match march := marches[0] if marches else None:
        case For(name, Int(first), Compare(Relation.LE, Var(tested), Int(last)), 1) if name == tested:
            pass
        case _:
            return node, None
    found = [one for one in subprograms(march) if _is_early(program, one, written)]
    lanes = [one for one in subprograms(march) if isinstance(one, For) and is_lane_axis(one)]
    if len(found) != 1:
        return node, None
    copies, lane = found[0], lanes[0]
    warps = next(one for one in subprograms(march) if isinstance(one, For) and one.body is lane)
    outer: Node = march
    for part in reversed(list(subprograms(node))):
        outer = part if isinstance(part, Remarked) and part.body is outer else outer
    prologue = replace(warps, body=replace(lane, body=Remarked(FirstNote(name, first), copies)))

    def changed(part: Node) -> Node:
        if part is copies:
            return Remarked(EarlyNote(name, last), copies)
        inner = with_children(part, changed)
        return Block((Remarked(MaskNote(), prologue), inner)) if part is outer else inner

    (called,) = (one.name for one in subprograms(copies) if isinstance(one, Call))
    kind = device_type(program, program.array(program.statement(called).reads[0].array))
    return changed(node), EarlyCopies(called, tuple(_nest(copies)), kind)


def _nest(node: Node) -> list[Counted]:
    """The loops over cells in a test, one inside of the other."""
    match node:
        case If(_, body, None):
            return _nest(body)
        case For(name, Int(first), Compare(Relation.LE, _, Int(last)), 1, body):
            return [(name, first, last), *_nest(body)]
        case _:
            return []


def _is_early(program: Program, node: Node, written: frozenset[str]) -> bool:
    """Tests of cells of two loops, around a copy to registers from an array that is only read."""
    match node:
        case If(_, For(body=For(body=If(And(), Call(called), None))) as nest, None) if len(_nest(nest)) == 2:
            statement = program.statement(called)
        case _:
            return False
    both = *statement.writes, *statement.reads
    spaces = {one.name: one.space for one in program.arrays}
    known = [spaces[one.array] for one in both] == [MemorySpace.PRIVATE, MemorySpace.HEAP]
    text = " = ".join(one.place.text for one in both)
    return known and both[1].array not in written and statement.body.place.text.removesuffix(";") == text
