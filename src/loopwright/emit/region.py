"""Loops put back into the file their statements came from.

Every call becomes the statement's own text with its iterators replaced; parameters are written as
the author wrote them; variables that were declared inside the region are declared in front of the
new loops; everything outside the region stays as it is, byte for byte, but for the helper macros
in front of the first region that needs them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopwright.emit.c import Style, program_text
from loopwright.emit.expressions import expression_to_c
from loopwright.emit.helpers import DEFINITIONS, defined, taken, used, written_out
from loopwright.emit.literals import is_wide
from loopwright.emit.marks import VECTORIZE, on_loops
from loopwright.emit.names import HELPERS, KEYWORDS, Names, with_names
from loopwright.emit.substitution import comment_lines, substituted
from loopwright.errors import Code, GaveUp
from loopwright.loops.nodes import Call, For, Let, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.program import Array, Program, Statement
from loopwright.model.source import Source
from loopwright.read.c.assume import is_assume
from loopwright.read.c.declarations import Declarations, is_unsigned_type
from loopwright.read.c.region_syntax import declared_in
from loopwright.read.c.regions import find_regions

_QUALIFIERS = ("const", "volatile", "register", "static", "extern", "auto")


@dataclass(frozen=True, slots=True)
class Accumulation:
    """A statement whose steps a parallel loop may combine in any order."""

    statement: str
    operator: str
    array: str


@dataclass(frozen=True)
class Loops:
    """The new loops of one region."""

    program: Program
    node: Node
    accumulations: tuple[Accumulation, ...] = ()


def file_text(regions: Sequence[Loops], *, openmp: bool = False) -> str:
    """The file with new loops in its regions; there is one at least, and all are of one file."""
    source = regions[0].program.source
    avoided = taken(source)
    nodes = [written_out(on_loops(one.node), avoided) for one in regions]
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


def claims(loops: Loops) -> tuple[Call, ...]:
    """For each statement copy in the order of the text: the instance it is, in the text's names."""
    node = written_out(on_loops(loops.node), taken(loops.program.source))
    names = _names(loops.program, node, {})
    own = {parameter.name: parameter.name for parameter in loops.program.parameters}
    renamed = with_names(node, Names({**names.variables, **own}, names.statements))
    return tuple(part for part in subprograms(renamed) if isinstance(part, Call))


def _line_before(source: Source, offset: int) -> int:
    """Where the line in front of the one that starts at `offset` starts."""
    return source.text.rfind("\n", 0, max(0, offset - 1)) + 1


def line_end(source: Source) -> str:
    return "\r\n" if "\r\n" in source.text else "\n"


def _region(loops: Loops, node: Node, openmp: bool) -> str:
    program = loops.program
    if not program.statements:
        return program.source.slice(program.region)
    types = _types(program, declared_in(program.source))
    number = _iterator_type(program, node, types)
    named = with_names(node, _names(program, node, types))
    writer = _Writer(loops, named, number)
    style = Style(number, openmp, writer.call, _mark, writer.parallel)
    lines = [*_assumptions(program), *_declarations(program), *program_text(named, style).splitlines()]
    if any(array.local for array in program.arrays):
        lines = ["{", *(line if line.startswith("#") else f"  {line}" for line in lines), "}"]
    indent = _indentation(program)
    end = line_end(program.source)
    return "".join(f"{line if line.startswith('#') or not line else indent + line}{end}" for line in lines)


def _types(program: Program, declared: Declarations) -> dict[str, str]:
    """The declared types of the parameters, where there is a declaration."""
    names = [parameter.text for parameter in program.parameters]
    found = ((name, declared.visible(name, program.region)) for name in names)
    return {name: declared.resolved(variable.type) for name, variable in found if variable is not None}


def _iterator_type(program: Program, node: Node, types: Mapping[str, str]) -> str:
    """A type that holds what the author's iterators and sizes do: `int` if that is all there is."""
    used = {*types.values(), *(one for statement in program.statements for one in statement.iterator_types)}
    plain = {" ".join(word for word in one.split() if word not in _QUALIFIERS) for one in used}
    if is_wide(node) or not plain <= {"int", "signed", "signed int", "short", "char", "long", "long int"}:
        return "long long"
    return "long" if plain & {"long", "long int"} else "int"


def _names(program: Program, node: Node, types: Mapping[str, str]) -> Names:
    """Iterators that are no other name of the file, and the parameters' own texts."""
    texts = {parameter.name: _parameter(parameter.text, types) for parameter in program.parameters}
    words = {*re.findall(r"[A-Za-z_]\w*", program.source.text), *KEYWORDS, *HELPERS}
    variables: dict[str, str] = dict(texts)
    for part in subprograms(node):
        if isinstance(part, For | Let):
            name = part.iterator if isinstance(part, For) else part.name
            if name not in variables:
                variables[name] = _fresh(name, words)
                words.add(variables[name])
    calls = [part for part in subprograms(node) if isinstance(part, Call)]
    return Names(variables, {(call.name, len(call.arguments)): call.name for call in calls})


def _fresh(name: str, words: set[str]) -> str:
    """`c0`, or `c0_`, `c0__`, ... if the file has such a name."""
    while name in words:
        name += "_"
    return name


def _parameter(text: str, types: Mapping[str, str]) -> str:
    """The author's text, made to bind like a name; an unsigned one must not turn differences huge."""
    if is_unsigned_type(types.get(text, "")):
        return f"((long long){text})"
    is_primary = re.fullmatch(r"\w+(\s*(->|\.)\s*\w+)*|\w+\s*\([^()]*\)", text) is not None
    return text if is_primary else f"({text})"


def _assumptions(program: Program) -> list[str]:
    """The `assume` pragmas of the region, which stay with it."""
    source = program.source
    (region,) = [one for one in find_regions(source) if one.place == program.region]
    return [source.slice(line.place).strip() for line in region.pragmas if is_assume(line)]


def _declarations(program: Program) -> list[str]:
    return [_declaration(array) for array in program.arrays if array.local]


def _declaration(array: Array) -> str:
    return f"{array.element_type} {array.name}{''.join(f'[{extent}]' for extent in array.extents)};"


def _indentation(program: Program) -> str:
    """That of the first line of the region that is code."""
    for line in program.source.slice(program.region).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip(" \t"))]
    return ""


def _mark(text: str) -> list[str]:
    return ["#pragma GCC ivdep"] if text == VECTORIZE else []


class _Writer:
    """What the calls and parallel loops of one region are written as."""

    def __init__(self, loops: Loops, node: Node, number: str) -> None:
        self.number = number
        self.program = loops.program
        self.statements = {statement.name: statement for statement in loops.program.statements}
        self.accumulations = {one.statement: one for one in loops.accumulations}
        calls = [part for part in subprograms(node) if isinstance(part, Call)]
        self.copies = {name: [call for call in calls if call.name == name] for name in self.statements}

    def call(self, call: Call) -> list[str]:
        """The statement; the first copy has its comments, an only one its label."""
        statement = self.statements[call.name]
        values = (expression_to_c(argument) for argument in call.arguments)
        given = dict(zip(statement.iterators, values, strict=True))
        lines = substituted(self.program, statement, given, self.number)
        if call is not self.copies[call.name][0]:
            return lines
        source, body = self.program.source, statement.body
        label = self._label(statement)
        lines[0] = label + lines[0]
        if body.trailing is not None:
            behind = comment_lines(source, body.trailing)
            lines = [*lines[:-1], f"{lines[-1]}  {behind[0]}", *behind[1:]]
        leading = [line for place in body.leading for line in comment_lines(source, place)]
        return [*leading, *lines]

    def _label(self, statement: Statement) -> str:
        """The tags on this very statement, where it has one copy only: C wants labels unique."""
        if len(self.copies[statement.name]) != 1:
            return ""
        tags = [
            tag.name
            for tag in self.program.tags
            if tag.statements == (statement.name,) and tag.depth == statement.depth
        ]
        return "".join(f"{tag}: " for tag in tags)

    def parallel(self, loop: For, shared: bool) -> list[str]:
        """The pragma of a loop that OpenMP shares out, with the results its threads combine."""
        if not shared:
            return []
        clauses: dict[str, None] = {}
        for part in subprograms(loop):
            step = self.accumulations.get(part.name) if isinstance(part, Call) else None
            if step is not None:
                clauses[self._reduction(step)] = None
        return [" ".join(["#pragma omp parallel for", *clauses])]

    def _reduction(self, step: Accumulation) -> str:
        array = next(one for one in self.program.arrays if one.name == step.array)
        if array.rank > 0:
            raise GaveUp(
                Code.OPENMP,
                f"{step.statement} combines values into cells of {step.array} in a parallel loop, "
                "which OpenMP cannot share out without locks",
                hint="accumulate into a scalar, or mark another loop parallel",
            )
        return f"reduction({step.operator}:{array.name})"
