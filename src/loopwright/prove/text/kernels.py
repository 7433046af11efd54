"""The text of kernels read back: what a GPU runs, as the C text it means, and the rules for that.

A distributed loop `for (long i = LW_THREAD(x, first, step); test; i += LW_THREADS(x, step))` runs every
iteration of `for (long i = first; test; i += step)` once, in one of the threads along x, whatever their
number.  So a kernel means its loops, those that are distributed parallel, if

    blocks     loops over blocks are right inside each other, outside of everything else;
    uniform    what is around phases, barriers among it, depends on no thread: all of a block follow it;
    phases     a phase is a nest of loops over threads, right inside each other, and along every axis that has
               several threads there is such a loop, or a test that lets one thread through;
    barriers   between two phases of a block, on every path, there is a barrier, and one before a block that
               has buffers is followed by the next one, which has the same memory for them;
    buffers    an array that threads share is declared where all of them are, once;
    registers  in a kernel of one warp, lane k has a[k] of an array in registers (`lanes`).

Then iterations that may run at the same time are iterations of one distributed loop: that these are
independent is proved of the text that is made here, as for OpenMP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from loopwright.c.syntax import Node, named_children, walk
from loopwright.c.syntax import field as part
from loopwright.emit.cuda.launches import AXES, LANES, Distribution
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.lanes import check_registers, is_lane_head, named_in

PRAGMA = "\n#pragma omp parallel for\n"


@dataclass(frozen=True)
class Edit:
    """Other text for a part of a text."""

    start: int
    end: int
    text: str


def edited(node: Node, edits: list[Edit]) -> str:
    """The text of `node` with the edits inside of it."""
    pieces: list[str] = []
    position = node.start
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        pieces += [node.source.text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, node.source.text[position : node.end]])


@dataclass
class KernelReader:
    """Reads the body of a kernel that has `threads` along the axes."""

    threads: Mapping[str, int]
    storage: frozenset[str] = frozenset()
    """The variables of the region: threads share none that is declared around their loops."""
    shared: Mapping[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    """Arrays of a block: the type in kernels, the type in the region, the sizes."""
    buffers: list[str] = field(default_factory=list)
    """Those that the kernel declares."""
    private: Mapping[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    """Arrays in registers, in the same way."""
    registers: list[str] = field(default_factory=list)
    used: list[Node] = field(default_factory=list)
    """Where lanes use them."""
    edits: list[Edit] = field(default_factory=list)
    distributed: list[Distribution] = field(default_factory=list)

    def body(self, statements: list[Node]) -> None:
        """All but the declarations of arrays."""
        self._blocks(statements, frozenset())
        names = frozenset(self.private)
        places = {node.start for node in self.used}
        for node in (one for statement in statements for one in named_in(statement, names)):
            if node.start not in places:
                raise Unreadable(f"{node.text} is in registers, and used where no lane is known")

    @property
    def _busy(self) -> frozenset[str]:
        return frozenset(axis for axis, count in self.threads.items() if count > 1)

    def _blocks(self, statements: list[Node], axes: frozenset[str]) -> None:
        """Loops over blocks, then what each block runs."""
        around = [node for node in statements if any(_distribution(one, "BLOCK") for one in walk(node))]
        if not around:
            dirty = self._sequence(statements, dirty=False)
            if dirty and self.buffers and self._busy:
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
            case "for_statement" if (axis := _distribution(node, "BLOCK")) is not None and axis not in axes:
                self._loop(node, "BLOCK", axis)
                self._blocks([part(node, "body")], axes | {axis})
            case _:
                raise Unreadable("loops over blocks are not right inside each other")

    def _sequence(self, statements: list[Node], dirty: bool) -> bool:
        """What all threads follow; `dirty` where a phase came before and no barrier since then."""
        for node in statements:
            dirty = self._uniform(node, dirty)
        return dirty

    def _uniform(self, node: Node, dirty: bool) -> bool:
        match node.type:
            case "compound_statement":
                return self._sequence(named_children(node), dirty)
            case "declaration":
                self._check_declaration(node)
                return dirty
            case "expression_statement" if _call(node) == "LW_BARRIER":
                self.edits.append(Edit(node.start, node.end, ""))
                return False
            case "expression_statement" if (_call(node) or "").startswith("LW_SHARED_"):
                self._buffer(node)
                return dirty
            case "expression_statement" if _call(node) == "LW_WARP_BARRIER" and self._is_warp:
                self.edits.append(Edit(node.start, node.end, ""))
                return False
            case "expression_statement" if (_call(node) or "").startswith("LW_REGISTERS_"):
                self._registers(node)
                return dirty
            case "for_statement" if not _is_thread_loop(node):
                return self._repeated(node, dirty)
            case "if_statement" if not _tests_threads(node):
                other = node.child_by_field_name("alternative")
                ends = [self._uniform(part(node, "consequence"), dirty)]
                ends.append(self._sequence(named_children(other), dirty) if other is not None else dirty)
                return any(ends)
            case "expression_statement" | "for_statement" | "if_statement":
                if dirty and self._busy:
                    raise Unreadable(f"no barrier before the phase in line {node.span.line} of the kernels")
                self._phase(node, frozenset())
                return True
            case _:
                raise Unreadable(f"a kernel has a statement nothing is known of: {node.type}")

    def _check_declaration(self, node: Node) -> None:
        """Every thread has its own of what is declared here: a number that nothing assigns."""
        if node.type != "declaration" or not self._busy:
            return
        names = {one.text for one in walk(node) if one.type == "identifier"}
        if names & self.storage:
            shared = ", ".join(sorted(names & self.storage))
            raise Unreadable(f"{shared} is declared where each thread has its own, and all should share it")

    def _buffer(self, node: Node) -> None:
        """LW_SHARED_2(float, A, 48, 80): an array that all threads of the block share."""
        kind, name, *sizes = call_arguments(named_children(node)[0])
        known = self.shared.get(name)
        if known is None or (known[0], known[2]) != (kind, tuple(sizes)) or name in self.buffers:
            raise Unreadable(f"{name} is shared by threads, and is not what the region means by it")
        if _call(node) != f"LW_SHARED_{len(sizes)}" or not all(map(str.isdigit, sizes)):
            raise Unreadable(f"the sizes of {name} are not known")
        self.buffers.append(name)
        rows = "".join(f"[{size}]" for size in sizes)
        self.edits.append(Edit(node.start, node.end, f"{known[1]} {name}{rows};"))

    @property
    def _is_warp(self) -> bool:
        return dict(self.threads) == {"x": LANES, "y": 1, "z": 1}

    def _registers(self, node: Node) -> None:
        """LW_REGISTERS_4(float, a, 32, 9, 3, 6): of an array of the region, lane k has a[k]."""
        kind, name, *sizes = call_arguments(named_children(node)[0])
        known = self.private.get(name)
        if known is None or (known[0], known[2]) != (kind, tuple(sizes)) or name in self.registers:
            raise Unreadable(f"{name} is in registers, and is not what the region means by it")
        if not self._is_warp or _call(node) != f"LW_REGISTERS_{len(sizes)}" or sizes[0] != str(LANES):
            raise Unreadable(f"{name} is in the registers of {LANES} lanes, which the kernel does not have")
        self.registers.append(name)
        self.used += named_in(node, frozenset([name]))
        rows = "".join(f"[{size}]" for size in sizes)
        self.edits.append(Edit(node.start, node.end, f"{known[1]} {name}{rows};"))

    def _lanes(self, node: Node) -> None:
        """A loop whose iteration k is run by lane k."""
        declared = part(node, "initializer")
        first, step, _, _ = _head(node, "LANE", "x")
        name = part(part(declared, "declarator"), "declarator").text
        if not self._is_warp or not is_lane_head(first, step, part(node, "condition"), name):
            raise Unreadable(f"the loop over {name} is not one of the lanes of a warp")
        kind = part(declared, "type")
        self.edits.append(Edit(kind.start, kind.end, "long"))
        self._loop(node, "LANE", "x")
        body = part(node, "body")
        self.used += check_registers(body, name, frozenset(self.registers))
        self._phase(body, self._busy)

    def _repeated(self, node: Node, dirty: bool) -> bool:
        """A loop of all threads: what it ends with may come before what it begins with."""
        _refuse_macros(part(node, "initializer"), part(node, "condition"), part(node, "update"))
        lists: tuple[list[Any], ...] = (self.edits, self.distributed, self.buffers, self.registers, self.used)
        known = [len(one) for one in lists]
        after = self._uniform(part(node, "body"), dirty)
        if after and not dirty:
            for one, length in zip(lists, known, strict=True):
                del one[length:]
            after = self._uniform(part(node, "body"), True)
        return after or dirty

    def _phase(self, node: Node, axes: frozenset[str]) -> None:
        """Loops over threads and tests for one thread, then what each thread runs."""
        match node.type:
            case "compound_statement" if len(named_children(node)) == 1 and _has_threads(node):
                self._phase(named_children(node)[0], axes)
            case "if_statement" if _tests_threads(node):
                single = _single_axes(node)
                if single & axes:
                    raise Unreadable("a test for one thread inside of a loop over threads")
                self.edits.append(Edit(node.start, part(node, "consequence").start, ""))
                self._phase(part(node, "consequence"), axes | single)
            case "if_statement" if _has_threads(node):
                _refuse_macros(part(node, "condition"))
                self._phase(part(node, "consequence"), axes)
                other = node.child_by_field_name("alternative")
                for branch in named_children(other) if other is not None else ():
                    self._phase(branch, axes)
            case "for_statement" if _distribution(node, "LANE") is not None and not axes:
                self._lanes(node)
            case "for_statement" if (axis := _distribution(node, "THREAD")) is not None and axis not in axes:
                self._loop(node, "THREAD", axis)
                self._phase(part(node, "body"), axes | {axis})
            case _:
                if _has_threads(node):
                    raise Unreadable("loops over threads are not right inside each other")
                if not self._busy <= axes:
                    missing = ", ".join(sorted(self._busy - axes))
                    line = node.span.line
                    raise Unreadable(f"line {line} of the kernels is run by all threads along {missing}")
                _refuse_macros(node)

    def _loop(self, node: Node, kind: str, axis: str) -> None:
        """The head of a distributed loop, as the loop it means."""
        first, step, value, added = _head(node, kind, axis)
        self.edits.append(Edit(node.start, node.start, PRAGMA))
        self.edits.append(Edit(value.start, value.end, first))
        self.edits.append(Edit(added.start, added.end, step))
        self.distributed.append(Distribution("thread" if kind == "LANE" else kind.lower(), axis))
        _refuse_macros(part(node, "condition"))


def _head(node: Node, kind: str, axis: str) -> tuple[str, str, Node, Node]:
    """`first` and `step`, with where the macros stand: both say the same axis and the same step >= 1."""
    declared = part(node, "initializer")
    kinds = ("LW_LANE_TYPE",) if kind == "LANE" else ("long", "long long", "long int")
    if declared.type != "declaration" or part(declared, "type").text not in kinds:
        raise Unreadable("a distributed loop counts in 64 bits")
    value = part(part(declared, "declarator"), "value")
    update = part(node, "update")
    if update.type != "assignment_expression" or part(update, "operator").type != "+=":
        raise Unreadable("a distributed loop counts up")
    name = part(part(declared, "declarator"), "declarator").text
    added = part(update, "right")
    arguments, more = call_arguments(value), call_arguments(added)
    same = arguments[::2] == [axis, *more[1:]] and more[:1] == [axis] and len(arguments) == 3
    if not same or _called(added) != f"LW_{kind}S" or part(update, "left").text != name:
        raise Unreadable(f"the loop over {name} is not distributed in one way")
    if not (more[1].isdigit() and int(more[1]) >= 1) or not _counts_up(part(node, "condition"), name):
        raise Unreadable(f"the loop over {name} does not count up to a bound")
    return arguments[1], more[1], value, added


def _counts_up(test: Node, name: str) -> bool:
    """`i < bound` or `i <= bound`, the bound without i."""
    if test.type != "binary_expression" or part(test, "operator").type not in ("<", "<="):
        return False
    inside = [one.text for one in walk(part(test, "right")) if one.type == "identifier"]
    return part(test, "left").text == name and name not in inside


def _distribution(node: Node, kind: str) -> str | None:
    """The axis of a loop that is distributed among blocks or threads."""
    if node.type != "for_statement":
        return None
    starts = [one for one in walk(part(node, "initializer")) if _called(one) == f"LW_{kind}"]
    arguments = call_arguments(starts[0]) if len(starts) == 1 else []
    return arguments[0] if arguments and arguments[0] in AXES else None


def _is_thread_loop(node: Node) -> bool:
    return _distribution(node, "THREAD") is not None or _distribution(node, "LANE") is not None


def _has_threads(node: Node) -> bool:
    return any(
        _is_thread_loop(one) or _called(one) == "LW_ONE" for one in walk(node)
    )


def _tests_threads(node: Node) -> bool:
    return any(_called(one) == "LW_ONE" for one in walk(part(node, "condition")))


def _single_axes(node: Node) -> frozenset[str]:
    """The axes of `if (LW_ONE(x) && LW_ONE(y)) ...`."""
    tests = [text.strip() for text in part(node, "condition").text.strip()[1:-1].split("&&")]
    axes = frozenset(axis for axis in AXES if f"LW_ONE({axis})" in tests)
    if len(axes) != len(tests) or node.child_by_field_name("alternative") is not None:
        raise Unreadable("a test for one thread that nothing is known of")
    return axes


def _refuse_macros(*nodes: Node) -> None:
    for node in nodes:
        for one in walk(node):
            if one.type == "identifier" and one.text.startswith(("LW_", "lw_call")):
                raise Unreadable(f"{one.text} stands where no macro is known")


def _called(node: Node) -> str | None:
    """The name of the function or macro that an expression calls."""
    return part(node, "function").text if node.type == "call_expression" else None


def _call(node: Node) -> str | None:
    """The same of a statement."""
    inside = named_children(node)
    return _called(inside[0]) if len(inside) == 1 else None


def call_arguments(node: Node) -> list[str]:
    """The arguments of a call as texts."""
    if node.type != "call_expression":
        return []
    return [one.text for one in named_children(part(node, "arguments"))]


def statement_calls(nodes: list[Node]) -> Iterator[tuple[Node, str, Node]]:
    """The statements that are calls, each with the name and the call."""
    for node in nodes:
        name = _call(node) if node.type == "expression_statement" else None
        if name is not None:
            yield node, name, named_children(node)[0]
