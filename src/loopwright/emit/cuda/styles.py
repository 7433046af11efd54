"""The style of kernel loops: integer widths, lanes, registers, unrolling.

Adjacent cells that a lane loads or stores at once:

    for (c = 1; c <= 2; c++)
      own[w][x][0][3][p][c] = a[i][j][2 * x + c - 5];   -->   LW_TOGETHER(2, c, 1, own[...][c], a[i][j][...]);

A copy between registers and another array is contiguous if both last subscripts grow with c, and can be
vectorised if that of the other array begins at a multiple of their number, as rows do (`prelude.h`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

import islpy as isl

from loopwright.emit.c import Style
from loopwright.emit.cuda.barriers import ArriveNote, BarrierNote, SplitNote, WaitNote, is_mapped
from loopwright.emit.cuda.interface import device_type
from loopwright.emit.cuda.kept import EarlyCopies, EarlyNote, FirstNote, KeptTests, MaskNote
from loopwright.emit.cuda.launches import SHARED_TILE, Launch, OwnNote, is_lane_loop, is_warp_loop
from loopwright.emit.cuda.predication import (
    constant_length,
    numbered_registers,
    register_lengths,
    unrolled,
)
from loopwright.emit.expressions import flat_condition_to_c
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Compare, Int, Or, Relation, Var
from loopwright.loops.nodes import Call, For, If, Node, Remark
from loopwright.loops.sums import LinearSum
from loopwright.loops.traverse import is_said, subprograms, subterms
from loopwright.model.annotations import AXES, GPU, BlockLoop, ThreadLoop
from loopwright.model.program import Access, Array, MemorySpace, Program, Statement
from loopwright.presburger.functions import coefficient
from loopwright.presburger.sets import OUT, PARAM

COUNTS = (2, 4)


def together(program: Program, style: Style, loop: For) -> list[str] | None:
    """The copies of a loop as one of all adjacent cells; None if they are not known to be adjacent."""
    match loop:
        case For(name, Int(first), Compare(Relation.LE, Var(tested), Int(last)), 1, Call() as call) if (
            name == tested and last - first + 1 in COUNTS
        ):
            count = last - first + 1
        case _:
            return None
    if not _is_copy(program, call, name, first, count):
        return None
    (line,) = style.call(call)
    to, source = line.removesuffix(";").split(" = ")
    return [f"LW_TOGETHER({count}, {name}, {first}, {to}, {source});"]


def _is_copy(program: Program, call: Call, name: str, first: int, count: int) -> bool:
    statement = program.statement(call.name)
    both = *statement.writes, *statement.reads
    copy = " = ".join(one.place.text for one in both)
    if len(both) != 2 or statement.body.place.text.removesuffix(";") != copy:
        return False
    spaces = {one.name: one.space for one in program.arrays}
    factors = [0 if spaces[one.array] is MemorySpace.PRIVATE else count for one in both]
    if sorted(factors) != [0, count]:
        return False
    return all(
        _grows(statement, access, call, name, first, factor)
        for access, factor in zip(both, factors, strict=True)
    )


def _grows(statement: Statement, access: Access, call: Call, name: str, first: int, factor: int) -> bool:
    """Whether its last subscript grows with the loop, starting at a multiple of a factor.

    For registers, with factor 0, it is the iterator plus a constant.
    """
    subscript = isl.PwMultiAff.from_map(access.relation.intersect_domain(statement.domain))
    last = subscript.get_pw_aff(subscript.dim(OUT) - 1)
    if last.n_piece() != 1 or last.get_pieces()[0][1].dim(isl.dim_type.div):
        return False
    aff = last.get_pieces()[0][1]
    total = LinearSum(constant=int(aff.get_constant_val().to_python()) + first)
    for k, one in enumerate(call.arguments):
        total = total.plus_expr(coefficient(aff, isl.dim_type.in_, k), one)
    for k in range(aff.dim(PARAM)):
        total = total.plus_term(coefficient(aff, PARAM, k), Var(f" {k}"))
    others = [times for times, term in total.terms if term != Var(name)]
    grows = (1, Var(name)) in total.terms
    if factor == 0:
        return grows and not others
    return grows and all(one % factor == 0 for one in (total.constant, *others))


def resident_blocks(array: Array) -> int:
    """How many blocks can run on a multiprocessor; if several warps share a tile, a block has these."""
    warps = resident_warps(array)
    return max(warps // int(array.extents[0]), 1) if array.rank == SHARED_TILE else warps


def resident_warps(array: Array) -> int:
    """How many warps can run on a multiprocessor whose lanes keep an array of `stream` in registers.

    For each level but the last, two rows are live between steps, and the columns beside one row; for the
    first one, also a loaded row.  The outermost strips need no columns beside.  Addresses and temporaries
    take some 36 more, and 12 more if three steps are unrolled, so that no row moves.
    """
    levels, _, *strips, width = map(int, array.extents[2 if array.rank == SHARED_TILE else 1 :])
    columns, count, inner = width - 2, prod(strips), prod(one - 2 for one in strips)
    words = (levels - 1) * (2 * columns * count + 2 * inner) + columns * count
    registers = (2 if array.element_type == "double" else 1) * words + (36 if strips else 48)
    return GPU.parts * max(GPU.registers // (GPU.lanes * 8 * -(-registers // 8)), 2)


MOST_OWN = {(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4)}
"""The numbers of thread axes and subscripts that arrays in registers may have."""

FEW_WARPS = 8
"""Up to so many on a multiprocessor, its instruction cache has room for long code."""

LARGEST = 1 << 24
"""The largest size for 32-bit kernels; for larger ones the original loops run."""


def narrowed(style: Style, node: Node) -> Style:
    """The same with 32-bit integers; block indices saturate at the largest number."""
    blocks = {part.iterator for part in subprograms(node) if is_said(part, BlockLoop)}
    return replace(style, iterator_type="LW_INDEX", types=dict.fromkeys(blocks, "LW_BLOCK_INDEX"))


def memory_text(program: Program, word: str, name: str) -> str:
    """`LW_SHARED_2(float, A, 48, 80);`"""
    array = program.array(name)
    words = ", ".join([device_type(program, array), name, *array.extents])
    return f"LW_{word}_{array.rank}({words});"


def distributed_loop(loop: For, first: str) -> tuple[str, str] | None:
    """The start and step of a thread or a block."""
    block, thread = loop.annotation(BlockLoop), loop.annotation(ThreadLoop)
    mapped = block or thread
    if mapped is None:
        return None
    word, axis, step = "THREAD" if block is None else "BLOCK", mapped.axis, loop.step
    return f"LW_{word}({axis}, {first}, {step})", f"LW_{word}S({axis}, {step})"


def in_lanes(
    program: Program, style: Style, node: Node, array: Array, kept: KeptTests, early: EarlyCopies | None
) -> Style:
    """The style of a kernel with registers: each lane runs one iteration, constant loops are unrolled.

    Tests are branch-free: those of columns are the same in every step of a march.  If warps share a tile,
    cells at borders are selected.  Adjacent cells are copied at once.
    """
    lanes = _LanesOfKernel(style, node, array, kept, early)
    found = replace(
        style,
        mark=lanes.marked,
        distributed=lanes.distributed,
        annotated=lanes.written_out,
        types={**style.types, **lanes.types},
        condition=lambda test: flat_condition_to_c(test.test),
        instead=lambda loop: together(program, style, loop),
    )
    if not lanes.warps:
        return found
    return replace(found, call=lanes.call, condition=lanes.condition, annotated=lanes.annotated)


@dataclass(frozen=True, eq=False)
class _LanesOfKernel:
    """The loops of a kernel whose lanes have `array` in registers."""

    style: Style
    node: Node
    array: Array
    kept: KeptTests
    early: EarlyCopies | None

    @cached_property
    def warps(self) -> int:
        """How many warps share a tile; 0 if none do."""
        return int(self.array.extents[0]) if self.array.rank == SHARED_TILE else 0

    @cached_property
    def _loops(self) -> list[For]:
        return [part for part in subprograms(self.node) if isinstance(part, For)]

    @cached_property
    def _axes(self) -> dict[int, str]:
        """The axes along which lanes and warps run the iterations of loops."""
        axes = {id(part): "x" for part in self._loops if is_lane_loop(part)}
        warps = [part for part in self._loops if self.warps and is_warp_loop(part, self.warps)]
        return axes | {id(part): "y" for part in warps}

    @cached_property
    def _marches(self) -> list[For]:
        """The loops whose steps all lanes take together."""
        return [
            part
            for part in self._loops
            if not is_mapped(part) and any(map(is_mapped, subprograms(part.body)))
        ]

    @cached_property
    def _inner(self) -> set[int]:
        return {id(part) for outer in self._marches for part in subprograms(outer.body)}

    @property
    def types(self) -> dict[str, str]:
        kind = "LW_LANE_INDEX" if self.style.iterator_type == "LW_INDEX" else "LW_LANE_TYPE"
        return {part.iterator: kind for part in self._loops if id(part) in self._axes}

    def marked(self, remark: str | Remark, body: Node, lines: list[str]) -> list[str]:
        if isinstance(remark, BarrierNote) and (remark.of_warp or not self.warps):
            return [*lines, "LW_WARP_BARRIER();"]
        match remark:
            case ArriveNote(test):
                return [f"LW_ARRIVE({test});", *lines]
            case WaitNote(march):
                return [*lines, f"LW_WAIT({march});"]
            case SplitNote():
                return ["LW_SPLIT();", *lines, "LW_SPLIT_END();"]
            case EarlyNote(march, last):
                return [f"LW_EARLY({march}, {last})", *lines]
            case MaskNote() if self.early is not None:
                return [*self.kept.lines, self.early.room, *lines]
            case FirstNote(march, first):
                return [f"LW_EARLY_FIRST({march}, {first})", *lines]
        return self.style.mark(remark, body, lines)

    def distributed(self, loop: For, first: str) -> tuple[str, str] | None:
        axis = self._axes.get(id(loop))
        lane = f"LW_LANE({axis}, 0, 1)", f"LW_LANES({axis}, 1)"
        return distributed_loop(loop, first) if axis is None else lane

    def written_out(self, loop: For) -> list[str]:
        """The unrolled steps of a march: rows move down by one in each step, so three unrolled steps need no
        copies; steps of planes of one warp are too long for that.  With few warps, steps at borders are
        unrolled as well.
        """
        march = "LW_UNROLL_1" if self.array.rank == 5 else "LW_UNROLL_3"
        if loop in self._marches and self.array.rank == 4 and resident_warps(self.array) <= FEW_WARPS:
            return [march]
        return unrolled(loop, "LW_UNROLL" if id(loop) in self._inner else march)

    def annotated(self, loop: For) -> list[str]:
        """The kept tests before a march of warps that share a tile."""
        is_march = id(loop) == self.kept.march and self.early is None
        return [*(self.kept.lines if is_march else ()), *self.written_out(loop)]

    def call(self, part: Call) -> list[str]:
        lines, early = self.style.call(part), self.early
        return early.lines(lines) if early is not None and part.name == early.statement else lines

    def condition(self, test: If) -> str:
        return self.kept.texts.get(id(test)) or _selected(test)


def _selected(node: If) -> str:
    """The test of a single cell, one of several that select border cells, or another test."""
    text, several = flat_condition_to_c(node.test), any(isinstance(one, Or) for one in subterms(node.test))
    return f"LW_SELECT({text})" if several and isinstance(node.then, Call) else text


def with_own(program: Program, style: Style, launch: Launch, names: Sequence[str]) -> Style:
    """The style of a kernel whose threads have arrays in registers: constant loops are unrolled."""
    marks, axes = style.mark, len(launch.threads)
    for array in (one for one in program.arrays if one.name in names):
        counts = tuple(str(launch.threads[axis]) for axis in reversed(AXES) if axis in launch.threads)
        if (axes, array.rank) not in MOST_OWN or array.extents[:axes] != counts:
            sizes = " by ".join(array.extents)
            message = f"{array.name}, in registers, has {sizes} elements for {' by '.join(counts)} threads"
            hint = "its first loops are to be those over threads, each with as many threads as iterations"
            raise BadInput(Code.LOOPS_DO_NOT_FIT, message, span=program.region, hint=hint)

    def marked(remark: str | Remark, body: Node, lines: list[str]) -> list[str]:
        if isinstance(remark, OwnNote):
            return [memory_text(program, f"OWN_{axes}", remark.name), *lines]
        return marks(remark, body, lines)

    lengths = register_lengths(program)

    def written_out(loop: For) -> list[str]:
        """The loops to unroll: those of a thread with constant trip count and no tests, and those that index
        registers."""
        known = loop.step == 1 and constant_length(loop) is not None
        if not known or any(map(is_mapped, subprograms(loop))):
            return []
        tested = any(isinstance(part, If) for part in subprograms(loop.body))
        # One that begins at a number has registers' subscripts; others, such as steps of a product, are long.
        plain = not tested and isinstance(loop.start, Int)
        return ["LW_UNROLL"] if plain or numbered_registers(loop, lengths) is not None else []

    return replace(style, mark=marked, annotated=written_out)
