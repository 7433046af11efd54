"""Converts a program with mapped loops to a sequence of kernel launches.

    host       loops and conditions around the mapped loops; each execution of their body is a launch
    launch     perfectly nested block loops: their iterations are independent blocks
    block      uniform loops and conditions around phases phase      perfectly nested thread loops; a barrier
    separates two phases thread     the program inside of the thread loops

Code without mapped loops is a launch of one thread, and inside a kernel a phase of one thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from loopwright.emit.cuda.barriers import BarrierNote, SplitNote, is_mapped, is_split, with_last_barrier
from loopwright.emit.openmp import DeclarationNote, declared_inside, has_canonical_form
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Compare, Expr, Int, Relation, Scaled, Sum, Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remark, Remarked
from loopwright.loops.traverse import is_said, subprograms, variables, with_children
from loopwright.model.annotations import AXES, GPU, BlockLoop, Parallel, ThreadLoop, Vector
from loopwright.model.program import Array
from loopwright.source import Span


@dataclass(frozen=True, slots=True)
class OneThreadNote(Remark):
    """Only one thread along each of the axes executes the statement."""

    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedNote(Remark):
    """An array in shared memory of the block, declared before the statement."""

    name: str


@dataclass(frozen=True, slots=True)
class RegistersNote(Remark):
    """An array whose first subscript is the lane that holds the rest in its registers."""

    name: str


@dataclass(frozen=True, slots=True)
class OwnNote(Remark):
    """An array whose first subscripts are the indices of the thread that holds the rest in its registers."""

    name: str


MemoryNote: TypeAlias = SharedNote | RegistersNote | OwnNote
SHARED_TILE = 6
"""Subscripts of an array in the registers of warps that share a tile: the warp, the lane, and others."""


@dataclass(frozen=True)
class Distribution:
    """A loop over blocks or over threads (`kind`), along an axis."""

    kind: str
    axis: str


@dataclass(frozen=True)
class Launch:
    """A kernel: its program, the blocks along each axis if the host can count them, the threads."""

    name: str
    node: Node
    blocks: dict[str, Expr | None]
    threads: dict[str, int]

    def has_lanes_of(self, array: Array) -> bool:
        """Whether a block has the warps whose lanes have an array in registers: one, or several along y."""
        warps = {"y": int(array.extents[0])} if array.rank == SHARED_TILE else {}
        return self.threads == {"x": GPU.lanes, **warps}


@dataclass(frozen=True)
class Launched:
    """The host's program, whose calls are those of `launches`, in source order."""

    host: Node
    launches: tuple[Launch, ...]


@dataclass(frozen=True)
class Touches:
    """The arrays that a part of a kernel reads and writes, except those in registers."""

    read: frozenset[str]
    written: frozenset[str]

    def is_apart_from(self, other: Touches) -> bool:
        """Whether neither writes an array that the other accesses."""
        mine, theirs = self.read | self.written, other.read | other.written
        return not self.written & theirs and not other.written & mine


def launched(
    node: Node, name: str, place: Span, memories: Mapping[str, MemoryNote], touches: Mapping[str, Touches]
) -> Launched:
    """`node` as a sequence of launches; kernels are named `name` with a number.

    `memories` are the arrays of blocks and threads, `touches` the arrays that statements access.
    """
    splitter = _Splitter(name, place, memories, touches, [])
    if not any(map(is_mapped, subprograms(node))):
        hint = "map independent loops by 'block' and 'thread'; 'loopwright suggest --target cuda' names some"
        raise splitter.refused("no loop of the region is mapped to blocks or threads", hint)
    host = splitter.host(node)
    return Launched(host, tuple(splitter.found))


@dataclass(frozen=True)
class _Splitter:
    name: str
    place: Span
    memories: Mapping[str, MemoryNote]
    touches: Mapping[str, Touches]
    found: list[Launch]

    def refused(self, message: str, hint: str) -> BadInput:
        return BadInput(Code.LOOPS_DO_NOT_FIT, message, span=self.place, hint=hint)

    def host(self, node: Node) -> Node:
        """Return the part that stays on the host; add the kernels to `found`."""
        if isinstance(node, For) and is_mapped(node):
            return self._launch(node)
        if not any(isinstance(part, Call) for part in subprograms(node)):
            return Block(())
        if not any(is_mapped(part) for part in subprograms(node)):
            return self._launch(node)
        if isinstance(node, Block):
            return Block(tuple(self.host(child) for child in _grouped(node)))
        if isinstance(node, Remarked) and isinstance(node.remark, DeclarationNote):
            raise self.refused(
                f"{node.remark.name} is declared around mapped loops, and their threads would share it",
                "map loops that are further out, or make it an array of the function",
            )
        return with_children(node, self.host)

    def _launch(self, node: Node) -> Node:
        for part in subprograms(node):
            if isinstance(part, For):
                self._check(part)
        axes = {
            one.axis: one.count
            for part in subprograms(node)
            if isinstance(part, For) and (one := part.annotation(ThreadLoop)) is not None
        }
        blocks: dict[str, Expr | None] = {}
        body = self._blocks(node, blocks, frozenset())
        known = (self.memories.get(one) for one in declared_inside(body))
        last = not any(isinstance(one, SharedNote) for one in known)
        body = self._phases(body, tuple(axis for axis in AXES if axis in axes), last=last)
        body = self._of_warps(body)
        name = f"{self.name}_{len(self.found)}"
        self.found.append(Launch(name, _rebuilt(node, body), blocks, axes))
        return Call(name, ())

    def _check(self, loop: For) -> None:
        """Check that the bound of a mapped loop is fixed on entry, and that it counts up."""
        kinds = [loop.annotation(kind) for kind in (BlockLoop, ThreadLoop, Parallel, Vector)]
        mapped = [one for one in kinds[:2] if one is not None]
        if any(one is not None for one in kinds[2:]):
            raise self.refused(
                f"the loop over {loop.iterator} is marked for OpenMP, which is not part of CUDA",
                "map it by 'block' or 'thread', or remove the mark",
            )
        if len(mapped) == 2:
            raise self.refused(
                f"the loop over {loop.iterator} is mapped to blocks and to threads",
                "tile it, and map the loop over tiles to blocks and the loop inside to threads",
            )
        if mapped and not (has_canonical_form(loop) and loop.step > 0):
            raise self.refused(
                f"the loop over {loop.iterator} is mapped, and does not count up to a known bound",
                "change the operations that make it, for example its order",
            )

    def _blocks(self, node: Node, blocks: dict[str, Expr | None], inside: frozenset[str]) -> Node:
        """The program of a block: block loops are perfectly nested."""
        if not any(is_said(part, BlockLoop) for part in subprograms(node)):
            return node
        match node:
            case For() if (mapped := node.annotation(BlockLoop)) is not None:
                if mapped.axis in blocks:
                    raise self.refused(
                        f"two loops along axis {mapped.axis} of the grid are nested", "map one of them"
                    )
                blocks[mapped.axis] = None if _known(node) & inside else _count(node)
                return self._blocks(node.body, blocks, inside | {node.iterator})
            case Let(name, _, body):
                return self._blocks(body, blocks, inside | {name})
            case Remarked(DeclarationNote(name)):
                raise self.refused(
                    f"{name} is declared between the loops over blocks, whose threads would share it",
                    "map loops that are further in",
                )
            case Remarked(_, body) | If(_, body, None):
                return self._blocks(body, blocks, inside)
            case Block((only,)):
                return self._blocks(only, blocks, inside)
            case _:
                raise self.refused(
                    "the loops that are mapped to blocks are not directly inside each other",
                    "distribute the statements, so that each nest has its own loops, and map each nest",
                )

    def _phases(self, node: Node, axes: tuple[str, ...], *, last: bool) -> Node:
        """Add barriers after the phases, except the `last` of a kernel, which no loop repeats."""
        if not axes:
            return node
        if isinstance(node, Call) or not any(is_said(part, ThreadLoop) for part in subprograms(node)):
            return _ended(Remarked(OneThreadNote(axes), node), last=last)
        match node:
            case For() if is_said(node, ThreadLoop):
                found = self._thread_axes(node)
                rest = tuple(axis for axis in axes if axis not in found)
                return _ended(Remarked(OneThreadNote(rest), node) if rest else node, last=last)
            case Block(nodes):
                final = len(nodes) - 1
                parts = [self._phases(child, axes, last=last and k == final) for k, child in enumerate(nodes)]
                return Block(tuple(self._together(parts)))
            case For():
                return replace(node, body=self._phases(node.body, axes, last=False))
            case Remarked(DeclarationNote(name), body) if name in self.memories:
                return Remarked(self.memories[name], self._phases(body, axes, last=last))
            case Remarked(DeclarationNote(name)):
                raise self.refused(
                    f"{name} is declared around the loops over threads, which would share it",
                    "map loops that are further out",
                )
            case _:
                return with_children(node, lambda child: self._phases(child, axes, last=last))

    def _together(self, parts: Sequence[Node]) -> Iterator[Node]:
        """The parts of a block; independent phases have no barrier between them."""
        since: list[Touches] = []
        for part, following in zip(parts, [*parts[1:], None], strict=True):
            match part, following:
                case Remarked(BarrierNote(), body), Remarked(BarrierNote(), other):
                    since.append(self._touched(body))
                    after = self._touched(other)
                    if all(one.is_apart_from(after) for one in since):
                        yield body
                        continue
            since = []
            yield part

    def _of_warps(self, node: Node, *, inside: bool = False) -> Node:
        """Use barriers of warps if these have registers, and a phase writes no shared memory.

        If they share buffers, a barrier of the block comes after the loop that repeats their uses.
        """
        registers = {name for name, note in self.memories.items() if isinstance(note, RegistersNote)}
        match node:
            case Remarked(BarrierNote(), body) if registers:
                return Remarked(BarrierNote(not self._touched(body).written - registers), body)
            case For() if is_mapped(node):
                return node
            case For() if registers and not inside:
                touched = self._touched(node).written & self.memories.keys()
                body = replace(node, body=self._of_warps(node.body, inside=True))
                if not touched - registers:
                    return body
                body = with_last_barrier(body, self._is_apart)
                ended = Remarked(BarrierNote(), body)
                return Remarked(SplitNote(), ended) if is_split(body) else ended
            case _:
                return with_children(node, lambda child: self._of_warps(child, inside=inside))

    def _is_apart(self, node: Node) -> bool:
        """Whether a phase does not access shared memory."""
        shared = {name for name, note in self.memories.items() if isinstance(note, SharedNote)}
        touched = self._touched(node)
        return not (touched.read | touched.written) & shared

    def _touched(self, node: Node) -> Touches:
        found = [self.touches[part.name] for part in subprograms(node) if isinstance(part, Call)]
        read = frozenset(name for one in found for name in one.read)
        return Touches(read, frozenset(name for one in found for name in one.written))

    def _thread_axes(self, node: Node) -> tuple[str, ...]:
        """The axes of perfectly nested thread loops."""
        if not any(is_said(part, ThreadLoop) for part in subprograms(node)):
            return ()
        match node:
            case For() if (mapped := node.annotation(ThreadLoop)) is not None:
                inner = self._thread_axes(node.body)
                if mapped.axis not in inner:
                    return mapped.axis, *inner
            case Let(body=body) | Remarked(body=body) | If(_, body, None) | Block((body,)):
                return self._thread_axes(body)
            case If(_, body, other) if other is not None:
                found = self._thread_axes(body)
                if set(found) == set(self._thread_axes(other)):
                    return found
        raise self.refused(
            "the loops that are mapped to threads are not directly inside each other",
            "distribute the statements, so that each nest has its own loops over threads",
        )


def is_lane_loop(loop: For) -> bool:
    """Whether lane k executes iteration k."""
    return _is_along(loop, "x", GPU.lanes)


def is_warp_loop(loop: For, warps: int) -> bool:
    """Whether iteration k is that of warp k, of so many: lanes are along x, warps along y."""
    return _is_along(loop, "y", warps)


def _is_along(loop: For, axis: str, count: int) -> bool:
    """Whether iteration k is that of thread k along an axis, of so many."""
    mapped = loop.annotation(ThreadLoop)
    if mapped is None or (mapped.axis, mapped.count) != (axis, count):
        return False
    until = Compare(Relation.LE, Var(loop.iterator), Int(count - 1))
    return (loop.start, loop.test, loop.step) == (Int(0), until, 1)


def _grouped(node: Block) -> Iterator[Node]:
    """The children, with adjacent ones without mapped loops grouped into one launch."""
    waiting: list[Node] = []
    for child in node.children:
        if any(is_mapped(part) for part in subprograms(child)):
            if waiting:
                yield Block(tuple(waiting))
            waiting = []
            yield child
        else:
            waiting.append(child)
    if waiting:
        yield Block(tuple(waiting))


def _ended(phase: Node, *, last: bool) -> Node:
    return phase if last else Remarked(BarrierNote(), phase)


def _rebuilt(node: Node, body: Node) -> Node:
    """`node` with `body` inside of its block loops."""
    if not any(is_said(part, BlockLoop) for part in subprograms(node)):
        return body
    return with_children(node, lambda child: _rebuilt(child, body))


def _known(loop: For) -> frozenset[str]:
    return variables(loop.start) | (variables(loop.test) - {loop.iterator})


def _count(loop: For) -> Expr | None:
    """last - first + 1 of the values of the iterator: at least as many as there are iterations."""
    match loop.test:
        case Compare(Relation.LE, _, bound):
            return _difference(bound, loop.start, 1)
        case Compare(Relation.LT, _, bound):
            return _difference(bound, loop.start, 0)
        case _:
            return None


def _difference(last: Expr, first: Expr, more: int) -> Expr:
    """last - first + more."""
    constant = more - first.value if isinstance(first, Int) else more
    subtracted = () if isinstance(first, Int) else (Scaled(-1, first),)
    added = (Int(constant),) if constant else ()
    return Sum((last, *subtracted, *added)) if subtracted or added else last


def names_inside(node: Node, call: str = "") -> frozenset[str]:
    """The iterators and numbers that `node` declares; if a kernel is given, those around its call."""
    return frozenset(
        part.iterator if isinstance(part, For) else part.name
        for part in subprograms(node)
        if isinstance(part, For | Let) and (not call or _calls(part, call))
    )


def _calls(node: Node, name: str) -> bool:
    return any(isinstance(part, Call) and part.name == name for part in subprograms(node))
