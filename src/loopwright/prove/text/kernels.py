"""Reads the source of kernels back as the C code that it means, and checks the rules for that.

A distributed loop `for (long i = LW_THREAD(x, first, step); test; i += LW_THREADS(x, step))` executes every
iteration of `for (long i = first; test; i += step)` once, on one of the threads along x, whatever their
number.  So a kernel means its loops, the distributed ones being parallel, if

    blocks     loops over blocks are directly inside each other, outside of everything else;
    numbers    iterators, and numbers that are declared, have 64 bits;
    uniform    code around phases, including barriers, depends on no thread: all of a block execute it;
    phases     a phase is a nest of thread loops, directly inside each other, and along every axis that has
               several threads there is such a loop, or a test that lets one thread through;
    barriers   between two phases of a block, on every path, there is a barrier, unless neither writes what
               the other uses; and one after the last use of buffers, since the next block that the threads
               run has the same memory for them;
    turns      in a loop over r of all threads, a[r % 2] and a[(r + 1) % 2] are two buffers (`lanes`);
    buffers    an array that threads share is declared where all of them execute it, once in a block;
    registers  in a kernel of one warp, lane k has a[k] of an array in registers, in one of several warps
               along y, lane k of warp w has a[w][k], and in any kernel thread (y, x) a[y][x] (`lanes`).
               A barrier of warps suffices between uses of such arrays: no warp has registers of another.

Iterations that may run at the same time are then iterations of one distributed loop: that they are
independent is proved of the C source produced here, as for OpenMP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from loopwright.c.syntax import Node, identifiers, named_children, walk
from loopwright.c.tokens import bracketed
from loopwright.emit.cuda.launches import SHARED_TILE, Distribution
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import AXES, GPU
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.lanes import (
    all_of,
    check_own,
    check_registers,
    clash,
    constant_loop,
    counted,
    in_turn,
    is_whole_head,
    named_in,
    runs,
    touched_by,
)
from loopwright.prove.text.macros import (
    axis_of,
    call_arguments,
    called_by,
    distributed_head,
    flat_operators,
    has_threads,
    is_assigned,
    is_thread_loop,
    lane_names,
    part,
    refuse_macros,
    refuse_narrow,
    single_axes,
    tests_threads,
)
from loopwright.source import Edit

MOST_READ = 16
"""Maximum trip count of a loop around phases that is read iteration by iteration."""
PRAGMA = "\n#pragma omp parallel for\n"


@dataclass(frozen=True)
class Used:
    """The arrays read and written since the last barrier."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()

    def __or__(self, other: Used) -> Used:
        return Used(self.read | other.read, self.written | other.written)

    def without(self, names: Iterable[str]) -> Used:
        gone = {part for name in names for part in all_of(name)}
        return Used(self.read - gone, self.written - gone)

    def conflicts(self, other: Used) -> frozenset[str]:
        """The arrays that one writes and the other uses."""
        return clash(self.written, other.read | other.written) | clash(other.written, self.read)

    def renamed(self, names: Callable[[str], Iterable[str]]) -> Used:
        read, written = ({new for one in old for new in names(one)} for old in (self.read, self.written))
        return Used(frozenset(read), frozenset(written))


NOTHING = Used()


@dataclass
class KernelReader:
    """Reads the body of a kernel with `threads` along the axes."""

    threads: Mapping[str, int]
    storage: frozenset[str] = frozenset()
    """The variables of the region: those declared around thread loops must not be shared by threads."""
    shared: Mapping[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    """Shared arrays of a block: the type in kernels, the type in the region, the sizes."""
    buffers: list[str] = field(default_factory=list)
    """Shared arrays that the kernel declares: each block has its own memory for them."""
    scopes: list[tuple[str, int]] = field(default_factory=list)
    """The blocks that declare them."""
    private: Mapping[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    """Arrays in the registers of lanes, in the same form."""
    registers: list[str] = field(default_factory=list)
    own: Mapping[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    """Arrays in the registers of threads, in the same form."""
    owned: list[str] = field(default_factory=list)
    used: list[Node] = field(default_factory=list)
    """The uses of register arrays by lanes or threads."""
    edits: list[Edit] = field(default_factory=list)
    distributed: list[Distribution] = field(default_factory=list)
    march: str = ""
    """The iterator of the outermost loop of all threads, if its step is 1."""
    values: dict[str, int] = field(default_factory=dict)
    """Iterators of inner loops with constant trip counts, whose phases are read iteration by iteration."""

    def body(self, statements: list[Node]) -> None:
        """Reads everything except the declarations of arrays."""
        for statement in statements:
            self.edits += [(one.start, one.end, 2 * one.text) for one in flat_operators(statement)]
            refuse_narrow(statement, self.storage)
        self._blocks(statements, frozenset())
        names = frozenset([*self.private, *self.own])
        places = {node.start for node in self.used}
        for node in (one for statement in statements for one in named_in(statement, names)):
            if node.start not in places:
                raise Unreadable(f"{node.text} is in registers, and used where no lane is known")

    @property
    def _busy(self) -> frozenset[str]:
        return frozenset(axis for axis, count in self.threads.items() if count > 1)

    def _blocks(self, statements: list[Node], axes: frozenset[str]) -> None:
        """Reads loops over blocks, then what each block executes."""
        around = [node for node in statements if any(axis_of(one, "BLOCK") for one in walk(node))]
        if not around:
            dirty = self._sequence(statements, NOTHING)
            if (dirty.read | dirty.written) & set(self.buffers) and self._busy:
                raise Unreadable("no barrier between a block and the next one that uses its buffers")
            return
        for node in statements:
            self._check_declaration(node)
        others = [node for node in statements if node is not around[0] and node.type != "declaration"]
        if len(around) > 1 or others:
            raise Unreadable("a loop over blocks has neighbours in its kernel, which nothing orders")
        node = around[0]
        match node.type:
            case "compound_statement":
                self._blocks(named_children(node), axes)
            case "if_statement" if node.child_by_field_name("alternative") is None:
                self._blocks([part(node, "consequence")], axes)
            case "for_statement" if (axis := axis_of(node, "BLOCK")) is not None and axis not in axes:
                self._loop(node, "BLOCK", axis)
                self._blocks([part(node, "body")], axes | {axis})
            case _:
                raise Unreadable("loops over blocks are not directly inside each other")

    def _sequence(self, statements: list[Node], dirty: Used) -> Used:
        """Reads code that all threads execute; `dirty` is what phases used since the last barrier."""
        for node in statements:
            dirty = self._uniform(node, dirty)
        return dirty

    def _uniform(self, node: Node, dirty: Used) -> Used:
        match node.type:
            case "compound_statement":
                return self._sequence(named_children(node), dirty)
            case "declaration":
                self._check_declaration(node)
                return dirty
            case "expression_statement" if called_by(node) == "LW_BARRIER":
                self.edits.append((node.start, node.end, ""))
                return NOTHING
            case "expression_statement" if (called_by(node) or "").startswith("LW_SHARED_"):
                self._buffer(node)
                return dirty
            case "expression_statement" if called_by(node) == "LW_WARP_BARRIER" and self._warps:
                self.edits.append((node.start, node.end, ""))
                return NOTHING if self._warps == 1 else dirty.without(self.private)
            case "expression_statement" if (called_by(node) or "").startswith("LW_REGISTERS_"):
                self._registers(node)
                return dirty
            case "expression_statement" if (called_by(node) or "").startswith("LW_OWN_"):
                self._own(node)
                return dirty
            case "for_statement" if not is_thread_loop(node):
                return self._repeated(node, dirty)
            case "if_statement" if not tests_threads(node):
                other = node.child_by_field_name("alternative")
                ends = [self._uniform(part(node, "consequence"), dirty)]
                ends.append(self._sequence(named_children(other), dirty) if other is not None else dirty)
                return ends[0] | ends[1]
            case "expression_statement" | "for_statement" | "if_statement":
                used = self._used(node)
                if self._busy and (names := dirty.conflicts(used)):
                    line, both = node.span.line, ", ".join(sorted(names))
                    raise Unreadable(f"no barrier before the phase in line {line} of the kernels: {both}")
                self._phase(node, {})
                return dirty | used
            case _:
                raise Unreadable(f"a kernel has an unknown statement: {node.type}")

    def _used(self, node: Node) -> Used:
        """The variables of the region that a phase reads and writes; registers are not shared by threads.

        A variable that is neither an array nor a number that is never assigned counts as written too.
        """
        names = [one for one in walk(node) if one.type == "identifier" and one.text in self.storage]
        names = [one for one in names if one.text not in self.own and runs(one, node, self.values)]
        lanes = lane_names(walk(node))
        touched = [(one, touched_by(one, self.march, lanes)) for one in names]
        written = {part for one, parts in touched if is_assigned(one) for part in parts}
        return Used(frozenset(part for _, parts in touched for part in parts), frozenset(written))

    def _check_declaration(self, node: Node) -> None:
        """Checks a declaration, of which every thread has its own copy: a number that is never assigned."""
        if node.type != "declaration" or not self._busy:
            return
        names = {*identifiers(node)}
        if names & self.storage:
            shared = ", ".join(sorted(names & self.storage))
            raise Unreadable(f"{shared} is declared where each thread has its own, and all should share it")

    def _buffer(self, node: Node) -> None:
        """LW_SHARED_2(float, A, 48, 80): an array that all threads of the block share."""
        kind, name, *sizes = call_arguments(named_children(node)[0])
        known = self.shared.get(name)
        scope = name, -1 if node.parent is None else node.parent.start
        if known is None or (known[0], known[2]) != (kind, tuple(sizes)) or scope in self.scopes:
            raise Unreadable(f"{name} is shared by threads, and is not what the region means by it")
        if called_by(node) != f"LW_SHARED_{len(sizes)}" or not all(map(str.isdigit, sizes)):
            raise Unreadable(f"the sizes of {name} are not known")
        self.buffers.append(name)
        self.scopes.append(scope)
        rows = bracketed(sizes)
        self.edits.append((node.start, node.end, f"{known[1]} {name}{rows};"))

    @property
    def _warps(self) -> int:
        """The number of warps along y in a block whose lanes are along x; 0 for other blocks."""
        return self.threads["y"] if (self.threads["x"], self.threads["z"]) == (GPU.lanes, 1) else 0

    def _registers(self, node: Node) -> None:
        """LW_REGISTERS_4(float, a, 32, 9, 3, 6): of an array of the region, lane k has a[k].

        LW_REGISTERS_6(float, a, 12, 32, 5, 4, 8, 4): of 12 warps, lane k of warp w has a[w][k].
        """
        kind, name, *sizes = call_arguments(named_children(node)[0])
        known = self.private.get(name)
        if known is None or (known[0], known[2]) != (kind, tuple(sizes)) or name in self.registers:
            raise Unreadable(f"{name} is in registers, and is not what the region means by it")
        lanes = [str(GPU.lanes)] if self._warps == 1 else [str(self._warps), str(GPU.lanes)]
        known_rank = (len(sizes) == SHARED_TILE) is (len(lanes) == 2)
        if not known_rank or called_by(node) != f"LW_REGISTERS_{len(sizes)}" or sizes[: len(lanes)] != lanes:
            raise Unreadable(f"{name} is in registers of {GPU.lanes} lanes, which the kernel does not have")
        self.registers.append(name)
        self.used += named_in(node, frozenset([name]))
        self.edits.append((node.start, node.end, f"{known[1]} {name}{bracketed(sizes)};"))

    def _own(self, node: Node) -> None:
        """LW_OWN_2_4(float, a, 16, 16, 8, 8): of an array of the region, thread (y, x) has a[y][x]."""
        kind, name, *sizes = call_arguments(named_children(node)[0])
        known = self.own.get(name)
        scope = name, -1 if node.parent is None else node.parent.start
        if known is None or (known[0], known[2]) != (kind, tuple(sizes)) or scope in self.scopes:
            raise Unreadable(f"{name} is in registers, and is not what the region means by it")
        counts = [str(self.threads[axis]) for axis in reversed(AXES) if axis in self._busy]
        word = f"LW_OWN_{len(counts)}_{len(sizes)}"
        if called_by(node) != word or sizes[: len(counts)] != counts or not all(map(str.isdigit, sizes)):
            raise Unreadable(f"{name} is in the registers of threads that the kernel does not have")
        self.owned.append(name)
        self.scopes.append(scope)
        self.used += named_in(node, frozenset([name]))
        self.edits.append((node.start, node.end, f"{known[1]} {name}{bracketed(sizes)};"))

    def _lanes(self, node: Node, warp: str = "") -> None:
        """Reads a loop whose iteration k is executed by lane k; with several warps, in one of them."""
        axis = axis_of(node, "LANE")
        declared = part(node, "initializer")
        if axis != ("x" if warp or self._warps == 1 else "y"):
            raise Unreadable("loops over lanes are not directly inside of one over the warps of their block")
        first, step, _, _ = distributed_head(node, "LANE", axis)
        name = part(part(declared, "declarator"), "declarator").text
        whole = is_whole_head(first, step, part(node, "condition"), name, self.threads[axis])
        if not self._warps or not whole or name == warp:
            raise Unreadable(f"the loop over {name} is not one of the lanes of a warp")
        kind = part(declared, "type")
        self.edits.append((kind.start, kind.end, "long"))
        self._loop(node, "LANE", axis)
        body = part(node, "body")
        if axis == "y":
            inside = named_children(body) if body.type == "compound_statement" else [body]
            if len(inside) != 1:
                raise Unreadable(f"the loop over the warps {name} has more in it than one over lanes")
            self._lanes(inside[0], name)
            return
        self.used += check_registers(body, name, frozenset(self.registers), warp)
        self._phase(body, dict.fromkeys(self._busy, ""))

    def _repeated(self, node: Node, dirty: Used) -> Used:
        """Reads a loop of all threads: the end of one iteration precedes the beginning of the next.

        In the next step of a march, alternating buffers are swapped.
        """
        refuse_macros(part(node, "initializer"), part(node, "condition"), part(node, "update"))
        outer = not self.march
        if outer:
            self.march = counted(node)
        declared = (self.buffers, self.scopes, self.registers, self.owned)
        lists: tuple[list[Any], ...] = (self.edits, self.distributed, self.used, *declared)
        known = [len(one) for one in lists]
        before = dirty
        fixed = None if outer else constant_loop(node)
        if fixed is not None and fixed[0] not in self.values and 0 <= fixed[2] - fixed[1] < MOST_READ:
            for value in range(fixed[1], fixed[2] + 1):
                for one, length in zip(lists, known, strict=True):
                    del one[length:]
                self.values[fixed[0]] = value
                before = self._uniform(part(node, "body"), before)
            del self.values[fixed[0]]
            return before
        while True:
            after = self._uniform(part(node, "body"), before)
            repeated = before | (after.renamed(in_turn) if outer and self.march else after)
            if repeated == before:
                break
            before = repeated
            for one, length in zip(lists, known, strict=True):
                del one[length:]
        if outer and self.march:
            self.march, after = "", after.renamed(all_of)
        return dirty | after

    def _phase(self, node: Node, axes: Mapping[str, str]) -> None:
        """Reads loops over threads and tests for one thread, then what each thread executes.

        `axes` are those of the loops, with the name of the iterator if thread k executes only iteration k.
        """
        match node.type:
            case "compound_statement" if len(named_children(node)) == 1 and has_threads(node):
                self._phase(named_children(node)[0], axes)
            case "if_statement" if tests_threads(node):
                single = single_axes(node)
                if single & set(axes):
                    raise Unreadable("a test for one thread inside of a loop over threads")
                self.edits.append((node.start, part(node, "consequence").start, ""))
                self._phase(part(node, "consequence"), {**axes, **dict.fromkeys(single, "")})
            case "if_statement" if has_threads(node):
                refuse_macros(part(node, "condition"))
                self._phase(part(node, "consequence"), axes)
                other = node.child_by_field_name("alternative")
                for branch in named_children(other) if other is not None else ():
                    self._phase(branch, axes)
            case "for_statement" if axis_of(node, "LANE") is not None and not axes:
                self._lanes(node)
            case "for_statement" if (axis := axis_of(node, "THREAD")) is not None and axis not in axes:
                self._loop(node, "THREAD", axis)
                self._phase(part(node, "body"), {**axes, axis: self._whole(node, axis)})
            case _:
                if has_threads(node):
                    raise Unreadable("loops over threads are not directly inside each other")
                if not self._busy <= set(axes):
                    missing = ", ".join(sorted(self._busy - set(axes)))
                    line = node.span.line
                    raise Unreadable(f"line {line} of the kernels is run by all threads along {missing}")
                refuse_macros(node)
                iterators = [axes[axis] for axis in reversed(AXES) if axis in self._busy]
                self.used += check_own(node, iterators, frozenset(self.owned))

    def _whole(self, node: Node, axis: str) -> str:
        """The iterator of a loop whose iteration k is executed by thread k."""
        first, step, _, _ = distributed_head(node, "THREAD", axis)
        name = part(part(part(node, "initializer"), "declarator"), "declarator").text
        whole = is_whole_head(first, step, part(node, "condition"), name, self.threads[axis])
        return name if whole else ""

    def _loop(self, node: Node, kind: str, axis: str) -> None:
        """Replaces the head of a distributed loop by that of the loop it means."""
        first, step, value, added = distributed_head(node, kind, axis)
        self.edits.append((node.start, node.start, PRAGMA))
        self.edits.append((value.start, value.end, first))
        self.edits.append((added.start, added.end, step))
        self.distributed.append(Distribution("thread" if kind == "LANE" else kind.lower(), axis))
        refuse_macros(part(node, "condition"))
