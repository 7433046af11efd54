"""Reads the function that launches kernels back, with the C file that calls it.

The result is the region as C code, each launch replaced by what its kernel means (`kernels`), for the proofs
that every new source must pass.  This module checks the link between host and device memory: each name in a
kernel is the parameter of that name, the parameter is passed what the region means by the name, and every
array has a copy of its declared type and size, which is copied back if the region writes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from loopwright.c.allocation import AllocatedArray, allocating
from loopwright.c.syntax import Node, identifiers, named_children, parse
from loopwright.c.tokens import blank
from loopwright.emit.cuda.launches import Distribution
from loopwright.emit.helpers import DEFINITIONS
from loopwright.emit.region import without_labels
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import AXES, GPU
from loopwright.model.program import Array, MemorySpace, Program
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.kept import late_bytes
from loopwright.prove.text.kernels import KernelReader
from loopwright.prove.text.macros import (
    array_view,
    call_arguments,
    called_by,
    called_name,
    check_grid,
    check_room,
    is_view,
    part,
    statement_calls,
)
from loopwright.prove.text.narrow import Numbers, bounded_sizes, loop_numbers, refuse_wide
from loopwright.prove.text.split import meant, without_nested
from loopwright.source import Edit, Source

_DECORATION = re.compile(
    r"(?m)^LW_KERNEL\((\d+)(?:, \d+)?\)|^LW_LAUNCHER\b|(?<=\*)LW_RESTRICT(?= \w+_\b)"
    r"|LW_UNROLL(?:_[13])?(?=\s+for\b)|LW_EARLY(?:_FIRST)?\(\w+, \d+\)(?=\s+if\b)"
)
_UNROLL = re.compile(r"LW_UNROLL(?:_[13])?\b")
_INDEX = re.compile(r"\bLW_(?:BLOCK_)?INDEX\b")
_NARROW = re.compile(r"\bLW_(?:BLOCK_|LANE_)?INDEX\b")
_NUMBERS = ("long", "long long", "long int")
_INTEGERS = frozenset({"int", "unsigned", "long", "short", "signed", "char"})


@dataclass(frozen=True)
class LaunchedRegion:
    """A region as the C code that its launches mean, and its distributed loops in source order."""

    text: str
    distributed: tuple[Distribution, ...]


@dataclass(frozen=True)
class _KernelFunction:
    name: str
    parameters: tuple[tuple[str, str], ...]
    """Names with their types."""
    body: tuple[Node, ...]


@dataclass(frozen=True)
class _KernelCall:
    """LW_LAUNCH(kernel, LW_GRID(x, y, z), LW_SIZE(x, y, z), (arguments)).

    LW_LAUNCH_WITH(bytes, kernel, ...) reserves room for a shared array of five dimensions.
    """

    kernel: _KernelFunction
    grid: Node
    threads: dict[str, int]
    room: int


def read_launches(
    kernels: Source, host: Source, prelude: str, originals: Sequence[Program], written: Sequence[Program]
) -> tuple[LaunchedRegion, ...]:
    """Reads the launches that implement the regions of a file; raises Unreadable if they are not understood.

    `written` are the programs of the file, `originals` the same with the storage of the kernels.
    """
    functions, bounds = _functions(kernels, prelude)
    late = {one.name: late_bytes(one.body) for one in functions.values()}
    edits = [edit for one in functions.values() for edit in meant(one.body, kernels.text)]
    if plain := without_nested(edits):
        kernels = kernels.edited(plain)
        functions, bounds = _functions(kernels, prelude)
    launchers = re.findall(r"(?m)^LW_LAUNCHER int (\w+)\(", kernels.text[len(prelude) :])
    found: list[LaunchedRegion] = []
    position = shift = 0
    for program, own in zip(originals, written, strict=True):
        region = own.region
        if host.text[position + shift : region.start + shift] != own.source.text[position : region.start]:
            raise Unreadable("the C file differs outside of its regions")
        name, types, values, length = _called(host.text[region.start + shift :], region.text)
        position, shift = region.end, shift + length - (region.end - region.start)
        launcher = functions.get(name) if name in launchers else None
        if launcher is None or [kind for _, kind in launcher.parameters] != types:
            raise Unreadable(f"{name} is declared as another function than it is")
        meaning = {one: value for (one, _), value in zip(launcher.parameters, values, strict=True)}
        found.append(_Launcher(program, own, functions, bounds, launcher, meaning, late).read())
    if host.text[position + shift :] != written[-1].source.text[position:]:
        raise Unreadable("the C file differs outside of its regions")
    return tuple(found)


def _called(text: str, original: str) -> tuple[str, list[str], list[str], int]:
    """The function that is called at the start of `text`, its types and values, the length of the region:

    { extern int f(types);
      if (!f(values)) {
    the original
      } }
    """
    head = re.match(r"\{ extern int (\w+)\(([^()]*)\);\n  if \(!\1\((.*)\)\) \{\n", text)
    tail = f"{original.rstrip()}\n  }} }}\n"
    if head is None or not text.startswith(tail, head.end()):
        raise Unreadable("the region of the C file is not a call with the original loops after it")
    types = [one.strip() for one in head[2].split(",")]
    values = [one.strip() for one in head[3].split(",")]
    if len(types) != len(values):
        raise Unreadable(f"{head[1]} is called with {len(values)} values for {len(types)} parameters")
    return head[1], types, values, head.end() + len(tail)


def _functions(source: Source, prelude: str) -> tuple[dict[str, _KernelFunction], dict[str, int]]:
    """The functions after the prelude, and for each kernel the number of threads it is compiled for."""
    if not source.text.startswith(prelude):
        raise Unreadable("the text of the kernels does not begin with the macros it uses")
    rest = source.text[len(prelude) :]
    bounds = {one[2]: int(one[1]) for one in re.finditer(r"LW_KERNEL\((\d+)(?:, \d+)?\) (\w+)", rest)}
    shown = _DECORATION.sub(lambda one: ("void" if one[1] else "").ljust(len(one[0])), rest)
    lines = shown.split("\n")
    for k, line in enumerate(lines):
        if line.startswith("#"):
            if line not in DEFINITIONS.values():
                raise Unreadable(f"an unknown directive: {line}")
            lines[k] = blank(line)
    root = parse(source, blank(prelude) + "\n".join(lines))
    found = [_function(node) for node in named_children(root)]
    if root.has_error or len({one.name for one in found}) != len(found):
        raise Unreadable("the text of the kernels is not C")
    return {one.name: one for one in found}, bounds


def _function(node: Node) -> _KernelFunction:
    if node.type != "function_definition":
        raise Unreadable(f"beside kernels and launchers there is a {node.type}")
    declarator = part(node, "declarator")
    if len(named_children(node)) != 3:
        raise Unreadable(f"a function with more than a type and a body: {declarator.text}")
    given = [one.text.replace("LW_RESTRICT", "") for one in named_children(part(declarator, "parameters"))]
    body = named_children(part(node, "body"))
    return _KernelFunction(part(declarator, "declarator").text, tuple(map(_parameter, given)), tuple(body))


def _parameter(text: str) -> tuple[str, str]:
    """Parses `double *A_` as A_ of type `double *`."""
    match = re.fullmatch(r"((?:\w+ )*\w+)\s*(\*?)\s*\b(\w+)", " ".join(text.split()))
    if match is None:
        raise Unreadable(f"an unknown parameter: {text}")
    return match[3], f"{match[1]} {match[2]}".strip()


@dataclass(frozen=True)
class _Launcher:
    program: Program
    written: Program
    functions: dict[str, _KernelFunction]
    bounds: dict[str, int]
    launcher: _KernelFunction
    meaning: dict[str, str]
    """The meaning of the launcher's parameters in the region."""
    late: dict[str, int]
    """The bytes into which each kernel fetches copies."""

    def read(self) -> LaunchedRegion:
        if len(self.launcher.body) < 3:
            raise Unreadable("a launcher without launches")
        begin, *copies, run, end = self.launcher.body
        if [one.text for one in (begin, end)] != ["LW_BEGIN();", "return LW_END();"]:
            raise Unreadable("a launcher does not begin and end as launchers do")
        if run.type != "if_statement" or part(run, "condition").text != "(LW_READY())":
            raise Unreadable("launches that do not ask whether the device is ready")
        within = bounded_sizes(copies)
        self._check_copies(copies[len(within) :])
        edits: list[Edit] = []
        distributed: list[Distribution] = []
        body = part(run, "consequence")
        self._host(body, edits, distributed, {})
        self._check_numbers(body, {name: (-bound, bound) for name, bound in within.items()})
        text = _edited(body, edits)[1:-1].strip("\n") + "\n"
        return LaunchedRegion(self._allocated(text), tuple(distributed))

    def _check_numbers(self, node: Node, numbers: Numbers) -> None:
        """Checks kernels that count in 32 bits, for the sizes that the launcher accepts."""
        words = identifiers(node)
        kernels = [self.functions[one] for one in words if one in self.functions]
        if not any(_counts_in_32_bits(one) for one in kernels):
            return
        match node.type:
            case "for_statement":
                self._check_numbers(part(node, "body"), loop_numbers(node, numbers))
            case "expression_statement":
                small = [name for name, kind in kernels[0].parameters if kind == "LW_INDEX"]
                if missing := [name for name in small if name not in numbers]:
                    raise Unreadable(f"nothing bounds {missing[0]}, a number of {kernels[0].name}")
                body = [one for one in kernels[0].body if not (called_by(one) or "").startswith("LW_")]
                refuse_wide(body, {name: numbers[name] for name in small})
            case _:
                for child in named_children(node):
                    self._check_numbers(child, numbers)

    def _allocated(self, text: str) -> str:
        """The code that runs if the device has memory for all arrays; otherwise the original runs."""
        arrays = [
            AllocatedArray(one.name, f"{one.name}_memory", str(one.element_type), one.extents)
            for one in self.program.arrays
            if one.space is MemorySpace.HEAP
        ]
        if not arrays:
            return text
        lines = allocating(arrays, text.splitlines(), without_labels(self.written), "  ")
        return "".join(f"{line}\n" for line in lines)

    def _check_copies(self, nodes: Sequence[Node]) -> None:
        """Checks that every array has a copy of its type and size, and written arrays are copied back."""
        copies = {call_arguments(call)[1]: (name, call) for _, name, call in statement_calls(list(nodes))}
        touched = {access.array for one in self.program.statements for access in one.accesses}
        written = {access.array for one in self.program.statements for access in one.writes}
        types = dict(self.launcher.parameters)
        for array in self.program.arrays:
            scratch = array.space is MemorySpace.HEAP
            is_array = bool(array.rank or array.extents) and (scratch or not array.local)
            if array.name not in touched or not is_array:
                continue
            if array.name not in copies:
                raise Unreadable(f"{array.name} is not copied to the device")
            name, call = copies[array.name]
            kind, _, count = call_arguments(call)
            factors = [one.strip("() ") for one in count.removeprefix("(size_t)").split(" * ")]
            wanted = "LW_SCRATCH" if scratch else "LW_WRITTEN" if array.name in written else "LW_READ"
            host = f"{array.name}_host"
            if name != wanted or not self._is_array(array.name, kind, factors):
                raise Unreadable(f"the copy of {array.name} is not of its size, or does not come back")
            if scratch:
                continue
            if types.get(host) != f"{kind} *" or self.meaning[host] != f"({kind} *){array.name}":
                raise Unreadable(f"the copy of {array.name} is one of something else")
        if len(copies) != len(nodes):
            raise Unreadable("a launcher does more than to copy arrays and to launch kernels")

    def _is_array(self, name: str, kind: str, extents: Sequence[str]) -> bool:
        """Whether `name` denotes in the region an array of this type with these extents."""
        array = next((one for one in self.program.arrays if one.name == name), None)
        if array is None:
            return False
        plain = self._plain_type(array)
        sizes = [self.meaning.get(one, one) for one in extents]
        return plain == kind and sizes == [" ".join(one.split()) for one in array.extents]

    def _first_extent(self, name: str) -> list[str]:
        extents = (one.extents for one in self.program.arrays if one.name == name)
        return [" ".join(one[0].split()) for one in extents if one][:1]

    def _host(
        self, node: Node, edits: list[Edit], distributed: list[Distribution], known: dict[str, str]
    ) -> None:
        """Reads loops, conditions and declarations around launches; `known` are the names in scope."""
        known = known if node.type == "declaration" else {**known}
        match node.type:
            case "compound_statement" | "else_clause":
                for child in named_children(node):
                    self._host(child, edits, distributed, known)
            case "for_statement":
                self._declare(part(node, "initializer"), known)
                self._host(part(node, "body"), edits, distributed, known)
            case "if_statement":
                for child in named_children(node)[1:]:
                    self._host(child, edits, distributed, known)
            case "declaration":
                self._declare(node, known)
            case "expression_statement":
                edits.append((node.start, node.end, self._launch(node, distributed, known)))
            case _:
                raise Unreadable(f"between launches there is a {node.type}")

    def _declare(self, node: Node, known: dict[str, str]) -> None:
        if node.type != "declaration" or part(node, "type").text not in _NUMBERS:
            raise Unreadable("between launches something is declared that is not a number")
        name = part(part(node, "declarator"), "declarator").text
        if name in {array.name for array in self.program.arrays}:
            raise Unreadable(f"{name} is declared between launches, which would not share it")
        known[name] = part(node, "type").text

    def _called_kernel(self, node: Node) -> _KernelCall:
        calls = list(statement_calls([node]))
        parts = named_children(part(calls[0][2], "arguments")) if calls else []
        room = parts.pop(0).text if calls and calls[0][1] == "LW_LAUNCH_WITH" and parts else "0"
        if len(parts) != 4 or calls[0][1] not in ("LW_LAUNCH", "LW_LAUNCH_WITH") or not room.isdigit():
            raise Unreadable("between launches there is another statement")
        kernel = self.functions.get(parts[0].text)
        sizes = call_arguments(parts[2])
        known_size = called_name(parts[2]) == "LW_SIZE" and len(sizes) == len(AXES)
        if kernel is None or not known_size or not all(map(str.isdigit, sizes)):
            raise Unreadable(f"an unknown launch: {parts[0].text}")
        threads = dict(zip(AXES, map(int, sizes), strict=True))
        total = prod(threads.values())
        is_large = any(count > GPU.most_along[axis] for axis, count in threads.items())
        if is_large or not 0 < total <= min(GPU.most_threads, self.bounds.get(kernel.name, 0)):
            raise Unreadable(f"a launch of {total} threads, which {kernel.name} is not made for")
        arguments = [one.strip() for one in parts[3].text.strip()[1:-1].split(",")]
        if arguments != [name for name, _ in kernel.parameters]:
            raise Unreadable(f"{kernel.name} is passed something other than its parameters say")
        if not kernel.body or kernel.body[0].text != f"LW_BLOCK_SIZE({', '.join(sizes)});":
            raise Unreadable(f"{kernel.name} is made for blocks of another size")
        return _KernelCall(replace(kernel, body=kernel.body[1:]), parts[1], threads, int(room))

    def _launch(self, node: Node, distributed: list[Distribution], known: dict[str, str]) -> str:
        """The meaning of the launched kernel."""
        call = self._called_kernel(node)
        kernel = call.kernel
        views = [one for one in statement_calls(list(kernel.body)) if is_view(one[1])]
        self._check_parameters(kernel, views, known)
        names = frozenset(one.name for one in self.program.arrays)
        reader = KernelReader(call.threads, names, self._arrays_in(MemorySpace.SHARED))
        reader.private = self._arrays_in(MemorySpace.PRIVATE)
        reader.own = self._arrays_in(MemorySpace.OWN)
        rest = list(kernel.body[len(views) :])
        reader.body(rest)
        axes = frozenset(one.axis for one in reader.distributed if one.kind == "block")
        numbers = {name for name, kind in self.launcher.parameters if set(kind.split()) <= _INTEGERS}
        check_grid(call.grid, axes, frozenset(numbers | known.keys()))
        for one in rest:
            for pattern, text in ((_UNROLL, ""), (_INDEX, "long")):
                found = pattern.finditer(one.source.text, one.start, one.end)
                reader.edits += [(match.start(), match.end(), text) for match in found]
        buffers = [reader.shared[name] for name in reader.buffers]
        check_room(kernel.name, buffers, call.room, self.late[kernel.name])
        distributed += reader.distributed
        return "{\n" + "\n".join(_edited(one, reader.edits) for one in rest) + "\n}\n"

    def _arrays_in(self, space: MemorySpace) -> dict[str, tuple[str, str, tuple[str, ...]]]:
        return {
            one.name: (self._plain_type(one), str(one.element_type), one.extents)
            for one in self.program.arrays
            if one.space is space
        }

    def _plain_type(self, array: Array) -> str:
        resolved = self.program.file.declarations.resolved(array.element_type or "").split()
        return " ".join(word for word in resolved if word not in ("const", "static", "extern"))

    def _check_parameters(
        self, kernel: _KernelFunction, views: list[tuple[Node, str, Node]], known: dict[str, str]
    ) -> None:
        """Checks that pointers are those of array views, and other parameters are those of the region."""
        pointers = {name: kind for name, kind in kernel.parameters if kind.endswith("*")}
        if [node for node, _, _ in views] != list(kernel.body[: len(views)]) or len(views) != len(pointers):
            raise Unreadable(f"{kernel.name} does not begin with its arrays")
        for _, macro, call in views:
            view = array_view(macro, call_arguments(call))
            if view is None or pointers.get(f"{view.name}_") != view.pointer:
                raise Unreadable(f"{kernel.name} has an array that is not a view of its parameter")
            sizes = view.sizes if view.rows else [*self._first_extent(view.name), *view.sizes]
            if not self._is_array(view.name, view.kind, sizes):
                raise Unreadable(f"{view.name} in {kernel.name} is not what the region means by it")
        types = dict(self.launcher.parameters)
        for name, kind in kernel.parameters:
            if name in pointers:
                continue
            if kind == "LW_INDEX":
                same = name in known or (types.get(name) in _NUMBERS and self.meaning[name] == name)
            elif name in known:
                same = kind in _NUMBERS
            else:
                is_kept = name.startswith("lw_extent") or self.meaning.get(name) == name
                same = types.get(name) == kind and is_kept
            if not same:
                raise Unreadable(f"{name} in {kernel.name} is not what the region means by it")


def _counts_in_32_bits(kernel: _KernelFunction) -> bool:
    texts = [kind for _, kind in kernel.parameters]
    return any(_NARROW.search(text) for text in [*texts, *(one.text for one in kernel.body)])


def _edited(node: Node, edits: Sequence[Edit]) -> str:
    """The text of `node` with the edits inside of it."""
    inside = [one for one in edits if node.start <= one[0] and one[1] <= node.end]
    return node.span.edited(sorted(inside, key=lambda one: one[:2]))
