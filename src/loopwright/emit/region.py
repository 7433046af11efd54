"""Puts new loops back into the file of their statements.

Every call becomes the statement's own text with its iterators replaced; parameters are written as
the author wrote them; variables that were declared inside the region are declared before the
new loops; everything outside the region is preserved byte for byte, except for helper macros before the first
region that needs them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from loopwright.c.allocation import HEADER, AllocatedArray, allocating
from loopwright.c.declarations import as_signed
from loopwright.c.file import c_file, includes
from loopwright.c.guard import ADDRESS_HEADER, guarding
from loopwright.c.regions import WIDE_VECTORS, without_hint
from loopwright.c.syntax import field as syntax_field
from loopwright.c.syntax import named_children
from loopwright.c.typed.refusals import is_in_block
from loopwright.emit.c import Handwriting, Style, plain_call, program_text, shared_out
from loopwright.emit.comments import (
    CommentNote,
    LabelNote,
    closing,
    comment_lines,
    handwriting_of,
    with_comments,
    with_loop_labels,
)
from loopwright.emit.expressions import is_wide
from loopwright.emit.helpers import DEFINITIONS, defined, taken, used, written_out
from loopwright.emit.iterator_types import IteratorTypes, iterator_types, parameter_types, plainly
from loopwright.emit.names import CNames, LoopNames, author_named, with_names
from loopwright.emit.openmp import (
    DeclarationNote,
    PrivateStorage,
    ReductionStep,
    Sharing,
    declared_inside,
    declaring,
    pragma,
    unshared,
    with_clauses,
    with_declarations,
    without_vectors,
)
from loopwright.emit.quotients import Quotients
from loopwright.emit.statement_text import StatementPrinter
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, For, Let, Node, Remark
from loopwright.loops.traverse import counted_down, subprograms
from loopwright.model.annotations import BlockLoop, ThreadLoop
from loopwright.model.program import MemorySpace, Program
from loopwright.read.c.assume import is_assume
from loopwright.source import Edit, Source, Span


@dataclass(frozen=True)
class Loops:
    """The new loops of one region, and their names in scripts."""

    program: Program
    node: Node
    accumulations: tuple[ReductionStep, ...] = ()
    private: tuple[PrivateStorage, ...] = ()
    lanes: tuple[tuple[str, ...], ...] = ()
    """The statements of vector loops whose lanes have to run statement by statement."""
    names: LoopNames = field(default_factory=dict)
    scopes: Mapping[str, int] = field(default_factory=dict)
    """For variables of the region, the loops in which they can be declared, by their depth."""
    written: Program | None = None
    """The program in the file, if `program` has other storage."""
    quotients: Quotients = field(default_factory=dict)
    """The loops over tiles that subscripts of new storage can name."""
    wide: bool = False
    """Whether gcc is asked to use full vector registers."""
    guard: tuple[str, ...] = ()
    """Conditions under which the new loops run; otherwise the original loops do."""
    fetched: int = 0
    """The number of rows that kernels of lanes prefetch into a cache."""

    @cached_property
    def named(self) -> Node:
        """The loops with declarations and final iterators, without helpers whose names the file uses."""
        node = with_declarations(self.node, self.program, self.scopes)
        node = written_out(counted_down(node), taken(self.program.source, self.in_file))
        return author_named(node, self.program, self.names)

    @property
    def in_file(self) -> Program:
        return self.program if self.written is None else self.written

    @property
    def is_in_block(self) -> bool:
        """Whether the region may have sibling statements."""
        return is_in_block(self.in_file.region, self.in_file.compiled)

    @property
    def allocated(self) -> tuple[AllocatedArray, ...]:
        """The arrays that are allocated on each call."""
        return tuple(
            AllocatedArray(one.name, f"{one.name}_memory", str(one.element_type), one.extents)
            for one in self.program.arrays
            if one.space is MemorySpace.HEAP
        )

    @property
    def sharing(self) -> Sharing:
        return Sharing(self.program, self.accumulations, self.private, lanes=self.lanes)


def new_source(regions: Sequence[Loops], *, openmp: bool = False) -> Source:
    """The file with new loops in its regions; there is at least one, and all are of one file."""
    return with_regions(regions, [_region(one, one.named, openmp=openmp) for one in regions])


def with_regions(regions: Sequence[Loops], texts: Sequence[str]) -> Source:
    """The file with these texts in its regions, and the helpers that the loops use."""
    source = regions[0].in_file.source
    nodes = [one.named for one in regions]
    missing = [name for name in used(nodes) if name not in defined(source)]
    edits: list[Edit] = []
    end, top = line_end(source), regions[0].in_file.region
    if any(one.wide for one in regions) and without_hint(source.text) == source.text:
        edits.append((0, 0, WIDE_VECTORS.replace("\n", end)))
    if any(one.allocated for one in regions) and not includes(source, HEADER, top):
        first = _first_include(source, top)
        edits.append((first, first, HEADER + end))
    addresses = any("uintptr_t" in one for loops in regions for one in loops.guard)
    if addresses and not includes(source, ADDRESS_HEADER, top):
        first = _first_include(source, top)
        edits.append((first, first, ADDRESS_HEADER + end))
    for one, node, text in zip(regions, nodes, texts, strict=True):
        region = one.in_file.region
        if missing and set(used([node])) & set(missing):
            line = _line_before(region)
            edits.append((line, line, "".join(DEFINITIONS[name] + end for name in missing)))
            missing = []
        edits.append((region.start, region.end, text))
    return source.edited(edits)


def _first_include(source: Source, region: Span) -> int:
    """The place for another include: before the first one before a region, which macros may configure.

    After it, where it is one of the program's own: that may define such macros, `_POSIX_C_SOURCE`, itself.
    """
    depth = 0
    for line in c_file(source).directives:
        if line.name == "include" and depth == 0 and line.place.start < region.start:
            own = '"' in line.place.text
            return source.text.find("\n", line.place.end) + 1 if own else line.place.start
        depth += (line.name in ("if", "ifdef", "ifndef")) - (line.name == "endif")
    return 0


def region_text(loops: Loops, *, openmp: bool = False) -> str:
    """The lines between the region's pragmas."""
    return _region(loops, loops.named, openmp=openmp)


def openmp_notes(loops: Loops) -> tuple[str, ...]:
    """The parallel loops that have no pragma, and why."""
    return tuple(unshared(loops.named, loops.sharing))


def claims(loops: Loops) -> tuple[Call, ...]:
    """For each statement copy in the order of the text: its instance, in the names of the source."""
    return tuple(part for part in subprograms(loops.named) if isinstance(part, Call))


def _line_before(region: Span) -> int:
    """Where the line of the pragma before a region starts, or the line a chosen region starts on."""
    before = region.start if region.source.chosen else max(0, region.start - 1)
    return region.source.text.rfind("\n", 0, before) + 1


def line_end(source: Source) -> str:
    return "\r\n" if "\r\n" in source.text else "\n"


def printed_loops(loops: Loops, *, openmp: bool = False) -> Node:
    """The loops as they are printed, with clauses where OpenMP distributes them."""
    return _printed(loops, loops.named, openmp=openmp)[0]


def printable(loops: Loops, node: Node, *, wide: bool = False) -> tuple[Node, IteratorTypes]:
    """`node` with the names of the file, and the types of its iterators; `wide` ones have 64 bits."""
    program = loops.program
    declared = program.file.declarations
    types = iterator_types(program, node, declared)
    types = types.widened() if wide else types
    return _with_parameters(program, node, types, parameter_types(program, declared)), types


def _printed(loops: Loops, node: Node, *, openmp: bool) -> tuple[Node, Style]:
    """`node` with the names of the file, and its printing style."""
    program = loops.program
    named, types = printable(loops, node)
    hand = handwriting_of(program)
    hand = replace(hand, outside=hand.outside & set(types.own))  # where it has the right type
    if openmp:
        named = with_clauses(named, replace(loops.sharing, outside=hand.outside).clauses)
    named = without_vectors(named, loops.sharing.needs_clauses)
    return named, _style(loops, named, types, hand)


def _region(loops: Loops, node: Node, *, openmp: bool) -> str:
    program = loops.program
    if not program.statements:
        return program.region.text
    _refuse_copied_labels(program, node)
    named, style = _printed(loops, node, openmp=openmp)
    inside = declared_inside(node)
    local = [one for one in program.arrays if one.local and one.space is not MemorySpace.HEAP]
    outside = [one.declaration for one in local if one.name not in inside]
    lines = [*_assumptions(program), *outside, *program_text(named, style).splitlines(), *closing(program)]
    lines = _spaced(lines)
    if loops.allocated:
        step = style.hand.indent
        lines = allocating(loops.allocated, lines, without_labels(loops.in_file), step)
    elif outside or not loops.is_in_block:
        lines = ["{", *style.indented(lines), "}"]
    if loops.guard:
        lines = guarding(loops.guard, lines, without_labels(loops.in_file), style.hand.indent)
    margin, end = _margin(program, style.hand.indent), line_end(program.source)
    before = "" if program.region.column == 1 else end
    moved = [line if line.startswith("#") or not line else margin + line for line in lines]
    return before + "".join(f"{line}{end}" for line in moved)


def without_labels(program: Program) -> list[str]:
    """The lines of the region as written, without its labels, which are before the new loops."""
    labelled = program.syntax.of_type("labeled_statement")
    edits = ((syntax_field(one, "label").start, named_children(one)[-1].start, "") for one in labelled)
    return textwrap.dedent(program.region.edited(edits)).strip("\r\n").splitlines()


def _refuse_copied_labels(program: Program, node: Node) -> None:
    """Refuse copies of labels inside statements, which are jump targets and must be unique in a function."""
    calls = [part.name for part in subprograms(node) if isinstance(part, Call)]
    for statement in program.statements:
        place = statement.body.place
        if calls.count(statement.name) > 1 and re.search(r"\bgoto\b", place.text):
            message = f"{statement.name} contains a label, and the new loops contain it several times"
            hint = "keep all instances in the same loops: fewer splits, no unrolling"
            raise BadInput(Code.REGION_TEXT, message, span=place, hint=hint)


def _spaced(lines: Sequence[str]) -> list[str]:
    """Remove empty lines at the start, and after `{` and loop heads."""
    kept: list[str] = []
    for line in lines:
        begins = not kept or not kept[-1].strip() or kept[-1].rstrip().endswith(("{", ")", "else"))
        if line.strip() or not begins:
            kept.append(line if line.strip() else "")
    return kept


def _style(loops: Loops, node: Node, types: IteratorTypes, hand: Handwriting) -> Style:
    """The author's handwriting, and the author's text for statements."""
    program = loops.program

    def marked(remark: str | Remark, body: Node, lines: list[str]) -> list[str]:
        match remark:
            case DeclarationNote(name):
                return declaring(program, name, body, lines)
            case CommentNote(place):
                return [*comment_lines(program.source, place), *lines]
            case LabelNote(label) if lines[0].startswith("#"):
                return [f"{label}:", *lines]
            case LabelNote(label):
                return [f"{label}: {lines[0]}", *lines[1:]]
            case _:
                return lines

    return Style(
        types.number,
        StatementPrinter(program, node, types, loops.quotients).lines,
        _annotated,
        marked,
        lambda remark: isinstance(remark, DeclarationNote | CommentNote),
        hand,
        types.own,
    )


def _annotated(loop: For) -> list[str]:
    """The OpenMP pragma of a loop that has clauses; one for gcc on other vector loops.

    Mapped loops have a comment: such source displays a plan and is not compiled.
    """
    directive = pragma(loop) or ("#pragma GCC ivdep" if loop.vector is not None else None)
    block, thread = loop.annotation(BlockLoop), loop.annotation(ThreadLoop)
    mapped = [] if block is None else [f"// blocks along {block.axis}"]
    mapped += [] if thread is None else [f"// {thread.count} threads along {thread.axis}"]
    return mapped if directive is None else [*mapped, directive]


def _with_parameters(program: Program, node: Node, types: IteratorTypes, declared: Mapping[str, str]) -> Node:
    """`node` with the author's texts for its parameters, and labels and comments on its loops.

    A difference of unsigned sizes would wrap around, so they are cast, except in the heads of loops over
    unsigned iterators, which have no subtraction.
    """
    plain = {parameter.name: f"{parameter.name} as it is" for parameter in program.parameters}
    node = with_comments(with_loop_labels(node, program), program)
    node = plainly(node, types.unsigned, plain)
    texts: dict[str, str] = {}
    for parameter in program.parameters:
        text = _primary(parameter.text)
        texts[plain[parameter.name]] = text
        texts[parameter.name] = as_signed(text, declared.get(parameter.text, ""))
    iterators = {
        part.iterator if isinstance(part, For) else part.name
        for part in subprograms(node)
        if isinstance(part, For | Let)
    }
    calls = [part for part in subprograms(node) if isinstance(part, Call)]
    names = CNames(
        {**texts, **{name: name for name in sorted(iterators)}},
        {(call.name, len(call.arguments)): call.name for call in calls},
    )
    return with_names(node, names)


def _primary(text: str) -> str:
    """The author's text, in parentheses unless it binds like a name."""
    is_primary = re.fullmatch(r"\w+(\s*(->|\.)\s*\w+|\[\w+\])*|\w+\s*\([^()]*\)", text) is not None
    return text if is_primary else f"({text})"


def _assumptions(program: Program) -> list[str]:
    """The `assume` pragmas of the region, which stay with it."""
    region = program.file.region(program.region)
    return [line.place.text.strip() for line in region.pragmas if is_assume(line)]


def _margin(program: Program, step: str) -> str:
    """The indentation of the first line of the region that is code, or of the line it starts on.

    A region on the line of the brace that opens its block is indented one step further.
    """
    if program.region.column > 1:
        line = program.region.excerpt
        is_in_braces = line[: program.region.column - 1].rstrip().endswith("{")
        return line[: len(line) - len(line.lstrip(" \t"))] + (step if is_in_braces else "")
    for line in program.region.text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip(" \t"))]
    return ""


def described_text(node: Node, program: Program, *, openmp: bool = False) -> str:
    """The lines of `node`, whose calls are statements of a description with statement texts, as in OpenScop.

    Every call becomes the statement's text with its iterators replaced, and loops are called what the
    iterators are.  A statement without a text stays a call.
    """
    named = author_named(node, program, {})
    number = "long long" if is_wide(named) else "int"
    texts = StatementPrinter(program, named, IteratorTypes(number, {}, frozenset()))

    def lines(call: Call) -> list[str]:
        place = program.statement(call.name).body.place
        return texts.lines(call) if place.start < place.end else plain_call(call)

    return program_text(shared_out(named) if openmp else named, Style(number, lines))
