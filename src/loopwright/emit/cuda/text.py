"""Generates the source of kernels, of the functions that launch them, and of the C file that calls these.

FILE.cu    a kernel for each launch, and for each region a function with C's linkage: it copies arrays to
           the device, launches the kernels in order, and copies what was written back
FILE.c     calls the function; if that fails (no device, no memory, an error), the author's loops run, which
are kept
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from pathlib import Path

from loopwright.c.tokens import names_in
from loopwright.emit.c import Style, program_text
from loopwright.emit.comments import CommentNote, comment_lines
from loopwright.emit.cuda.barriers import ArriveNote, BarrierNote, SplitNote, WaitNote
from loopwright.emit.cuda.interface import (
    DeviceArray,
    Interface,
    bytes_of,
    check_names,
    check_room,
    has_room,
    interface_of,
)
from loopwright.emit.cuda.kept import KeptTests, kept_tests, with_early_copies
from loopwright.emit.cuda.launches import (
    SHARED_TILE,
    Distribution,
    Launch,
    Launched,
    MemoryNote,
    OneThreadNote,
    OwnNote,
    RegistersNote,
    SharedNote,
    Touches,
    launched,
    names_inside,
)
from loopwright.emit.cuda.styles import (
    LARGEST,
    distributed_loop,
    in_lanes,
    memory_text,
    narrowed,
    resident_blocks,
    with_own,
)
from loopwright.emit.expressions import expression_to_c
from loopwright.emit.helpers import DEFINITIONS, used
from loopwright.emit.openmp import DeclarationNote, declared_inside, declaring
from loopwright.emit.region import Loops, printable, with_regions
from loopwright.emit.statement_text import StatementPrinter
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Node, Remark, Remarked
from loopwright.loops.traverse import subprograms
from loopwright.model.annotations import AXES, GPU, BlockLoop, ThreadLoop
from loopwright.model.program import Array, MemorySpace, Program, Statement
from loopwright.source import Source

MANY_BLOCKS = "1024"
"""Blocks along an axis whose number the host does not know: any number is correct."""


@cache
def prelude() -> str:
    """The prelude of kernel source: the macros it uses, for CUDA and for C."""
    return (Path(__file__).parent / "prelude.h").read_text()


@dataclass(frozen=True)
class DeviceRegion:
    """A region of the file as a function that launches kernels."""

    loops: Loops
    name: str
    interface: Interface
    launched: Launched
    style: Style
    narrow: bool
    """Whether kernels use 32-bit integers, and the launcher accepts sizes up to `LARGEST`."""


def _device_region(loops: Loops, *, narrow: bool) -> DeviceRegion:
    program, place = loops.program, loops.in_file.region
    stem = re.sub(r"\W", "_", Path(program.source.path).stem)
    name = f"loopwright_{stem}_{place.line}"
    node, types = printable(loops, loops.named, wide=True)
    inside = declared_inside(node)
    own = [array for array in program.arrays if array.local and array.space is not MemorySpace.HEAP]
    outside = [array.name for array in own if array.name not in inside]
    if outside:
        message = f"{', '.join(outside)} is declared in the region and needed by several iterations"
        hint = "declare it before the region, as an array"
        raise BadInput(Code.REGION_TEXT, message, span=place, hint=hint)
    call = StatementPrinter(program, node, types, loops.quotients, labels=False).lines
    marks = _marks(program)
    style = Style(
        types.number, call, _nothing, marks, _needs_block, types=types.own, distributed=distributed_loop
    )
    notes = ((array.name, _NOTES[array.space]) for array in own if array.space in _NOTES)
    memories = {name: note(name) for name, note in notes}
    touches = {one.name: _touches(program, one) for one in program.statements}
    kernels = launched(node, name, place, memories, touches)
    shared = [array for array in own if array.space is MemorySpace.SHARED]
    for launch in kernels.launches:
        declared = declared_shared(launch.node)
        check_room(program, [array for array in shared if array.name in declared])
    # Lanes with strips of planes run faster in 64 bits: conversions cost registers they need.
    strips = any(array.space is MemorySpace.PRIVATE and array.rank == 5 for array in own)
    return DeviceRegion(loops, name, interface_of(program), kernels, style, narrow and not strips)


def declared_shared(node: Node) -> frozenset[str]:
    """The names that a kernel declares around its phases."""
    remarks = [one.remark for one in subprograms(node) if isinstance(one, Remarked)]
    return frozenset(one.name for one in remarks if isinstance(one, SharedNote | DeclarationNote))


_NOTES: dict[MemorySpace | None, Callable[[str], MemoryNote]] = {
    MemorySpace.SHARED: SharedNote,
    MemorySpace.PRIVATE: RegistersNote,
    MemorySpace.OWN: OwnNote,
}


def _touches(program: Program, statement: Statement) -> Touches:
    own = {array.name for array in program.arrays if array.space is MemorySpace.OWN}
    read, written = (
        frozenset(access.array for access in accesses) - own
        for accesses in (statement.reads, statement.writes)
    )
    return Touches(read, written)


@dataclass(frozen=True)
class DeviceText:
    """The file of the kernels and the C file that calls them."""

    kernels: Source
    host: Source
    regions: tuple[DeviceRegion, ...]

    def emulated(self, texts: Sequence[str]) -> Source:
        """The C file with `texts` for its regions, for the proof of the kernels as read back."""
        return with_regions([region.loops for region in self.regions], texts)


def device_text(regions: Sequence[Loops], *, narrow: bool = False) -> DeviceText:
    """The loops of regions of one file as kernels, whose numbers have 64 bits or, `narrow`, 32."""
    found = tuple(_device_region(one, narrow=narrow) for one in regions)
    path = f"{regions[0].program.source.path}.cu"
    return DeviceText(Source(path, _kernels_text(found)), _host_source(found), found)


def distributions(text: DeviceText) -> tuple[tuple[Distribution, ...], ...]:
    """The mapped loops of each region, in source order."""
    return tuple(
        tuple(
            Distribution("block" if isinstance(one, BlockLoop) else "thread", one.axis)
            for launch in region.launched.launches
            for part in subprograms(launch.node)
            if isinstance(part, For)
            for one in part.annotations
            if isinstance(one, BlockLoop | ThreadLoop)
        )
        for region in text.regions
    )


def _kernels_text(regions: Sequence[DeviceRegion]) -> str:
    """The file for nvcc."""
    helpers = used([region.loops.named for region in regions])
    parts = [prelude(), "".join(f"{DEFINITIONS[name]}\n" for name in helpers)]
    for region in regions:
        parts += [_kernel(region, launch) for launch in region.launched.launches]
        parts.append(_launcher(region))
    return "\n".join(part for part in parts if part)


def _host_source(regions: Sequence[DeviceRegion]) -> Source:
    """The C file: each region is a call, followed by the author's loops in case that fails."""
    source = regions[0].loops.in_file.source
    calls = [(region.loops.in_file.region, _region_call(region)) for region in regions]
    return source.edited([(place.start, place.end, text) for place, text in calls])


def _region_call(region: DeviceRegion) -> str:
    interface, text = region.interface, region.loops.in_file.region.text
    types = [*(f"{a.type} *" for a in interface.passed), *(kind for _, kind in interface.scalars)]
    types += ["long"] * len(interface.numbers)
    values = [*(f"({a.type} *){a.name}" for a in interface.passed), *(name for name, _ in interface.scalars)]
    values += [number for _, number in interface.numbers]
    head = f"{{ extern int {region.name}({', '.join(types)});"
    return f"{head}\n  if (!{region.name}({', '.join(values)})) {{\n{text.rstrip()}\n  }} }}\n"


def _nothing(loop: For) -> list[str]:
    return []


def _needs_block(remark: str | Remark) -> bool:
    return isinstance(
        remark,
        DeclarationNote
        | CommentNote
        | BarrierNote
        | ArriveNote
        | WaitNote
        | SplitNote
        | SharedNote
        | RegistersNote
        | OwnNote,
    )


def _marks(program: Program) -> Callable[[str | Remark, Node, list[str]], list[str]]:
    def marked(remark: str | Remark, body: Node, lines: list[str]) -> list[str]:
        match remark:
            case DeclarationNote(name):
                return declaring(program, name, body, lines)
            case CommentNote(place):
                return [*comment_lines(program.source, place), *lines]
            case SharedNote(name):
                return [memory_text(program, "SHARED", name), *lines]
            case RegistersNote(name):
                return [memory_text(program, "REGISTERS", name), *lines]
            case BarrierNote():
                return [*lines, "LW_BARRIER();"]
            case OneThreadNote(axes):
                test = " && ".join(f"LW_ONE({axis})" for axis in axes)
                return [f"if ({test}) {{", *(f"  {line}" for line in lines), "}"]
            case _:
                return lines

    return marked


def _in_registers(region: DeviceRegion, launch: Launch) -> list[Array]:
    """The array that the lanes of a launch keep in registers, if there is one."""
    marks = [one.remark for one in subprograms(launch.node) if isinstance(one, Remarked)]
    names = {one.name for one in marks if isinstance(one, RegistersNote)}
    return [array for array in region.loops.program.arrays if array.name in names][:1]


def _body(region: DeviceRegion, launch: Launch) -> str:
    """The source of a kernel, without its arrays."""
    parts, program = list(subprograms(launch.node)), region.loops.program
    registers = _in_registers(region, launch)
    own = [one.remark.name for one in parts if isinstance(one, Remarked) and isinstance(one.remark, OwnNote)]
    style = narrowed(region.style, launch.node) if region.narrow else region.style
    if not registers:
        return program_text(launch.node, with_own(program, style, launch, own) if own else style)
    if not launch.has_lanes_of(registers[0]):
        message = f"arrays in registers are those of the {GPU.lanes} lanes of a warp"
        hint = f"map their loop to {GPU.lanes} threads, and the loop of warps that share a tile to as many"
        raise BadInput(Code.LOOPS_DO_NOT_FIT, message, span=region.loops.in_file.region, hint=hint)
    node, early = launch.node, None
    if registers[0].rank == SHARED_TILE:
        node, early = with_early_copies(program, node, frozenset(_written(region, launch)))
    kept = kept_tests(node) if registers[0].rank == SHARED_TILE else KeptTests()
    if not kept.lines:
        node, early = launch.node, None
    return program_text(node, in_lanes(program, style, node, registers[0], kept, early))


def _kernel(region: DeviceRegion, launch: Launch) -> str:
    body = _body(region, launch)
    _check_names(region, body)
    arrays = _arrays(region, body)
    written = _written(region, launch)
    parameters = [
        f"{'' if array.name in written else 'const '}{array.type} *LW_RESTRICT {array.name}_"
        for array in arrays
    ]
    parameters += [f"{kind} {name}" for name, kind in _values(region, launch, body)]
    rows = dict.fromkeys(_fetched(region, launch, arrays), region.loops.fetched)
    views = [_view(array, rows.get(array.name, 0), is_written=array.name in written) for array in arrays]
    threads = prod(launch.threads.values())
    size = f"LW_BLOCK_SIZE({', '.join(str(launch.threads.get(axis, 1)) for axis in AXES)});"
    warps = [str(resident_blocks(one)) for one in _in_registers(region, launch)]
    head = f"LW_KERNEL({', '.join([str(threads), *warps])}) {launch.name}({', '.join(parameters)})"
    return f"{head}\n{{\n{_indented([size, *views, *body.splitlines()])}}}\n"


def _view(array: DeviceArray, rows: int, *, is_written: bool) -> str:
    """The declaration of an array in a kernel, which prefetches so many `rows` ahead."""
    if rows:
        words = ", ".join([array.type, array.name, *array.sizes, str(rows)])
        return f"LW_AHEAD_{len(array.sizes)}({words});"
    words = ", ".join([array.type, array.name, *array.sizes[1:]])
    return f"LW_{'' if is_written else 'CONST_'}ARRAY_{len(array.sizes)}({words});"


def _fetched(region: DeviceRegion, launch: Launch, arrays: Sequence[DeviceArray]) -> set[str]:
    """The arrays that lanes only read, if their rows are prefetched."""
    if not region.loops.fetched or not _in_registers(region, launch):
        return set()
    written = _written(region, launch)
    return {one.name for one in arrays if one.name not in written and len(one.sizes) in (2, 3)}


def _launcher(region: DeviceRegion) -> str:
    interface = region.interface
    parameters = [f"{array.type} *{array.name}_host" for array in interface.passed]
    parameters += [f"{kind} {name}" for name, kind in interface.scalars]
    parameters += [f"long {name}" for name, _ in interface.numbers]
    copies = [
        f"LW_{'SCRATCH' if array.scratch else 'WRITTEN' if array.written else 'READ'}"
        f"({array.type}, {array.name}, {array.count});"
        for array in interface.arrays
    ]
    launches = {launch.name: launch for launch in region.launched.launches}
    style = replace(region.style, call=lambda call: [_launch(region, launches[call.name])])
    host = program_text(region.launched.host, style)
    _check_names(region, host, launches)
    within = [f"LW_WITHIN({name}, {LARGEST});" for name in _bounded(region)]
    lines = ["LW_BEGIN();", *within, *copies, "if (LW_READY()) {"]
    lines += [*(f"  {line}" for line in host.splitlines()), "}"]
    head = f"LW_LAUNCHER int {region.name}({', '.join(parameters)})"
    return f"{head}\n{{\n{_indented([*lines, 'return LW_END();'])}}}\n"


def _launch(region: DeviceRegion, launch: Launch) -> str:
    body = _body(region, launch)
    arguments = [f"{array.name}_" for array in _arrays(region, body)]
    arguments += [name for name, _ in _values(region, launch, body)]
    blocks = ", ".join(_blocks(launch, axis) for axis in AXES)
    threads = ", ".join(str(launch.threads.get(axis, 1)) for axis in AXES)
    words = f"{launch.name}, LW_GRID({blocks}), LW_SIZE({threads}), ({', '.join(arguments)})"
    program, declared = region.loops.program, declared_shared(launch.node)
    room = sum(bytes_of(program, one) for one in program.arrays if has_room(one) and one.name in declared)
    return f"LW_LAUNCH_WITH({room}, {words});" if room else f"LW_LAUNCH({words});"


def _blocks(launch: Launch, axis: str) -> str:
    if axis not in launch.blocks:
        return "1"
    count = launch.blocks[axis]
    return MANY_BLOCKS if count is None else expression_to_c(count)


def _arrays(region: DeviceRegion, body: str) -> list[DeviceArray]:
    used = set(names_in(body))
    return [array for array in region.interface.arrays if array.name in used]


def _values(region: DeviceRegion, launch: Launch, body: str) -> list[tuple[str, str]]:
    """The scalars and numbers a kernel needs, and iterators of the host, with their types."""
    arrays = _arrays(region, body)
    fetched = _fetched(region, launch, arrays)
    sizes = {name for array in arrays for name in array.sizes[array.name not in fetched :]}
    used = {*names_in(body), *sizes}
    style = region.style
    iterators = sorted(names_inside(region.launched.host, launch.name))
    bounded = _bounded(region)
    numbers = [(name, "LW_INDEX" if name in bounded else "long") for name, _ in region.interface.numbers]
    kinds = [style.types.get(name, style.iterator_type) for name in iterators]
    known = [*region.interface.scalars, *numbers]
    known += zip(iterators, ["LW_INDEX"] * len(kinds) if region.narrow else kinds, strict=True)
    return [(name, kind) for name, kind in known if name in used]


def _bounded(region: DeviceRegion) -> list[str]:
    """The sizes that a launcher accepts only up to a bound."""
    numbers = [name for name, _ in region.interface.numbers if not name.startswith("lw_extent")]
    return numbers if region.narrow else []


def _written(region: DeviceRegion, launch: Launch) -> set[str]:
    program = region.loops.program
    calls = [part.name for part in subprograms(launch.node) if isinstance(part, Call)]
    return {access.array for name in calls for access in program.statement(name).writes}


def _check_names(region: DeviceRegion, text: str, more: Iterable[str] = ()) -> None:
    local = (array.name for array in region.loops.program.arrays if array.local)
    inside = (names_inside(launch.node) for launch in region.launched.launches)
    known = region.interface.known.union(names_inside(region.launched.host), *inside)
    extents = [name for name, text in region.interface.numbers if name != text]
    names = {*known, *local, *more, *(f"{name}_" for name in known)}
    check_names(region.loops.program, text, names, extents)


def _indented(lines: Iterable[str]) -> str:
    return "".join(f"  {line}\n" if line else "\n" for line in lines)
