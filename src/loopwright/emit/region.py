"""Loops put back into the file their statements came from.

Every call becomes the statement's own text with its iterators replaced; parameters are written as
the author wrote them; variables that were declared inside the region are declared in front of the
new loops; everything outside the region stays as it is, byte for byte, but for the helper macros
in front of the first region that needs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loopwright.c.declarations import is_unsigned_type
from loopwright.emit.c import program_text
from loopwright.emit.comments import closing, comment_of, commented, with_comments
from loopwright.emit.downwards import counted_down
from loopwright.emit.handwriting import handwriting_of
from loopwright.emit.helpers import DEFINITIONS, defined, taken, used, written_out
from loopwright.emit.iterator_types import IteratorTypes, iterator_types, parameter_types, plainly
from loopwright.emit.labels import label_of, with_loop_labels
from loopwright.emit.loop_names import LoopNames, author_named
from loopwright.emit.marks import VECTORIZE, on_loops
from loopwright.emit.names import Names, with_names
from loopwright.emit.openmp import Accumulation, PrivateStorage, Sharing, unshared
from loopwright.emit.scopes import declaration, declared_by, declared_inside, declaring, with_declarations
from loopwright.emit.statement_text import StatementText
from loopwright.emit.style import Style
from loopwright.loops.nodes import Call, For, Let, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.program import Program
from loopwright.read.c.assume import is_assume
from loopwright.source import Source

_SHARED = "#pragma omp parallel for"


@dataclass(frozen=True)
class Loops:
    """The new loops of one region, and what its loops are called in scripts."""

    program: Program
    node: Node
    accumulations: tuple[Accumulation, ...] = ()
    private: tuple[PrivateStorage, ...] = ()
    names: LoopNames = field(default_factory=dict)
    scopes: Mapping[str, int] = field(default_factory=dict)
    """For variables of the region, the loops in which they can be declared, by their depth."""

    @property
    def sharing(self) -> Sharing:
        return Sharing(self.program, self.accumulations, self.private)


def file_text(regions: Sequence[Loops], *, openmp: bool = False) -> str:
    """The file with new loops in its regions; there is one at least, and all are of one file."""
    source = regions[0].program.source
    nodes = [named_loops(one) for one in regions]
    missing = [name for name in used(nodes) if name not in defined(source)]
    pieces: list[str] = []
    position = 0
    for one, node in zip(regions, nodes, strict=True):
        start = one.program.region.start
        if missing and set(used([node])) & set(missing):
            line = _line_before(source, start)
            end = line_end(source)
            pieces += [source.text[position:line], *(DEFINITIONS[name] + end for name in missing)]
            position, missing = line, []
        pieces += [source.text[position:start], _region(one, node, openmp)]
        position = one.program.region.end
    return "".join([*pieces, source.text[position:]])


def region_text(loops: Loops, *, openmp: bool = False) -> str:
    """The lines between the region's pragmas."""
    return _region(loops, named_loops(loops), openmp)


def openmp_notes(loops: Loops) -> tuple[str, ...]:
    """What OpenMP is not told, and why."""
    return tuple(unshared(named_loops(loops), loops.sharing))


def claims(loops: Loops) -> tuple[Call, ...]:
    """For each statement copy in the order of the text: the instance it is, in the text's names."""
    return tuple(part for part in subprograms(named_loops(loops)) if isinstance(part, Call))


def named_loops(loops: Loops) -> Node:
    """The loops with marks where they belong, no helper the file has not room for, and final iterators."""
    node = with_declarations(on_loops(loops.node), loops.program, loops.scopes)
    node = written_out(counted_down(node), taken(loops.program.source))
    return author_named(node, loops.program, loops.names)


def _line_before(source: Source, offset: int) -> int:
    """Where the line in front of the one that starts at `offset` starts."""
    return source.text.rfind("\n", 0, max(0, offset - 1)) + 1


def line_end(source: Source) -> str:
    return "\r\n" if "\r\n" in source.text else "\n"


def _region(loops: Loops, node: Node, openmp: bool) -> str:
    program = loops.program
    if not program.statements:
        return program.region.text
    declared = program.file.declarations
    types = iterator_types(program, node, declared)
    named = _with_parameters(program, node, types, parameter_types(program, declared))
    style = _style(loops, named, types, openmp)
    inside = declared_inside(node)
    outside = [declaration(a) for a in program.arrays if a.local and a.name not in inside]
    lines = [*_assumptions(program), *outside, *program_text(named, style).splitlines(), *closing(program)]
    lines = _spaced(lines)
    if outside:
        lines = ["{", *style.indented(lines), "}"]
    margin, end = _margin(program), line_end(program.source)
    return "".join(f"{line if line.startswith('#') or not line else margin + line}{end}" for line in lines)


def _spaced(lines: Sequence[str]) -> list[str]:
    """Without empty lines where something begins: at the start, and behind `{` and the head of a loop."""
    kept: list[str] = []
    for line in lines:
        begins = not kept or not kept[-1].strip() or kept[-1].rstrip().endswith(("{", ")", "else"))
        if line.strip() or not begins:
            kept.append(line if line.strip() else "")
    return kept


def _style(loops: Loops, node: Node, types: IteratorTypes, openmp: bool) -> Style:
    """The author's hand; an iterator declared outside is used where it has the right type."""
    hand = handwriting_of(loops.program)
    hand = replace(hand, outside=hand.outside & set(types.own))
    texts, sharing = StatementText(loops.program, node, types), replace(loops.sharing, outside=hand.outside)
    return Style(
        types.number,
        openmp,
        texts.lines,
        _marked(openmp, sharing),
        lambda loop, shared: [" ".join([_SHARED, *sharing.clauses(loop)])] if shared else [],
        hand,
        types.own,
        lambda loop: sharing.why_not(loop) is None,
        lambda text: declared_by(text) is not None or comment_of(text, loops.program.source) is not None,
    )


def _with_parameters(program: Program, node: Node, types: IteratorTypes, declared: Mapping[str, str]) -> Node:
    """`node` with the author's texts for its parameters, and labels and comments on its loops.

    An unsigned size must not turn differences huge: it is cast, but in the heads of loops over
    unsigned iterators, where nothing is subtracted.
    """
    plain = {parameter.name: f"{parameter.name} as it is" for parameter in program.parameters}
    node = with_comments(with_loop_labels(node, program), program)
    node = plainly(node, types.unsigned, plain)
    texts: dict[str, str] = {}
    for parameter in program.parameters:
        text = _primary(parameter.text)
        texts[plain[parameter.name]] = text
        unsigned = is_unsigned_type(declared.get(parameter.text, ""))
        texts[parameter.name] = f"((long long){text})" if unsigned else text
    iterators = {
        part.iterator if isinstance(part, For) else part.name
        for part in subprograms(node)
        if isinstance(part, For | Let)
    }
    calls = [part for part in subprograms(node) if isinstance(part, Call)]
    names = Names(
        {**texts, **{name: name for name in sorted(iterators)}},
        {(call.name, len(call.arguments)): call.name for call in calls},
    )
    return with_names(node, names)


def _primary(text: str) -> str:
    """The author's text, made to bind like a name."""
    is_primary = re.fullmatch(r"\w+(\s*(->|\.)\s*\w+)*|\w+\s*\([^()]*\)", text) is not None
    return text if is_primary else f"({text})"


def _assumptions(program: Program) -> list[str]:
    """The `assume` pragmas of the region, which stay with it."""
    region = program.file.region(program.region)
    return [line.place.text.strip() for line in region.pragmas if is_assume(line)]


def _margin(program: Program) -> str:
    """The indentation of the first line of the region that is code."""
    for line in program.region.text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip(" \t"))]
    return ""


def _marked(openmp: bool, sharing: Sharing) -> Callable[[str, Node, list[str]], list[str]]:
    """What labels, comments, vector loops and declarations are written as."""

    def marked(text: str, body: Node, lines: list[str]) -> list[str]:
        if text == VECTORIZE:
            return _vector(body, lines, sharing if openmp else None)
        variable = declared_by(text)
        if variable is not None:
            return declaring(sharing.program, variable, body, lines)
        comment = comment_of(text, sharing.program.source)
        if comment is not None:
            return commented(sharing.program, comment, lines)
        label = label_of(text)
        if label is None:
            return lines
        return [f"{label}:", *lines] if lines[0].startswith("#") else [f"{label}: {lines[0]}", *lines[1:]]

    return marked


def _vector(loop: Node, lines: list[str], sharing: Sharing | None) -> list[str]:
    """The lines of a vector loop: for OpenMP, or for gcc."""
    if sharing is None or not isinstance(loop, For) or sharing.why_not(loop) is not None:
        return ["#pragma GCC ivdep", *lines]
    if lines[0].startswith(_SHARED):
        return [_SHARED + " simd" + lines[0].removeprefix(_SHARED), *lines[1:]]
    return [" ".join(["#pragma omp simd", *sharing.clauses(loop)]), *lines]
