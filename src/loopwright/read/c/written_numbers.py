"""Substitutes known values for sizes: `a[3 * i]` for `a[K * i]`.

K may be a macro with other definitions under other options, `(1 + 2)`, or `int K = 3;` that nothing changes.
A numeric stride determines which cells coincide; a named one is a row length that needs an assumption.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from loopwright.c.file import c_file
from loopwright.c.reworded.macros_written_out import with_macros_written_out
from loopwright.c.tokens import names_in, packed, without_comments
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.known_values import integer_type
from loopwright.c.typed.members import variable_of
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Unread
from loopwright.c.types import INT, LONG, UNSIGNED, CType, Integer, literal_type, promoted
from loopwright.model.program import Assumption, AssumptionKind, Program
from loopwright.read.c.gate.numbers import RowsOfNumbers, known_values, with_known_sizes
from loopwright.read.c.options import ReadOptions
from loopwright.source import Edit, Source

Reading = Callable[[Source, ReadOptions], tuple[Program, ...]]


def with_rows_of_numbers(source: Source, options: ReadOptions, read: Reading) -> tuple[Program, ...]:
    """Read a source; if an assumption on rows would have lengths with known values, these are substituted."""
    try:
        return read(source, options)
    except RowsOfNumbers as found:
        further = replace(options, numbers=options.numbers | found.names)
        programs = with_rows_of_numbers(with_numbers(source, found.names, options.compiled), further, read)
        told = [Assumption(AssumptionKind.CONSTANT, text) for text in other_definitions(source, found.names)]
        return tuple(replace(one, assumptions=(*one.assumptions, *told)) for one in programs)


def at_known_numbers(program: Program) -> Program:
    """A program restricted to the known values of its parameters, and what other options would change."""
    names = [one.text for one in program.parameters if one.known]
    told = [Assumption(AssumptionKind.CONSTANT, text) for text in other_definitions(program.source, names)]
    context = with_known_sizes(program)
    return replace(program, context=context, assumptions=(*program.assumptions, *told))


def other_definitions(source: Source, names: Collection[str]) -> list[str]:
    """Assumptions for what other options would change: macros and variables that are defined or assigned
    inside an `#if`, or depend on such a name."""
    macros = c_file(source).macros
    told = {one.name for one in macros if one.conditional}
    made_of = [(one.name, one.body) for one in macros]
    text = without_comments(source.text, literals=False)
    depths = [(one.start(), 1 if one[1] else -1) for one in _CONDITIONAL.finditer(text)]
    for one in _GIVEN.finditer(text):
        made_of.append((one[1], one[2]))
        told |= {one[1]} if sum(step for start, step in depths if start < one.start()) else set()
    parts: dict[str, set[str]] = {}
    for name, value in made_of:
        parts.setdefault(name, set()).update(names_in(value))
    found: dict[str, bool] = {}
    waiting = [part for name in names for part in names_in(name)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = name in told
            waiting += parts.get(name, ())
    return [f"'{name}' has its value of this compilation" for name in sorted(found) if found[name]]


_GIVEN = re.compile(r"\b([A-Za-z_]\w*)[ \t]*(?:(?:<<|>>|[-+*/%&|^])?=(?!=)|\+\+|--)(?=([^;]*))")
"""An assignment: the name, and the value, as in `k = K + 1`."""
_CONDITIONAL = re.compile(r"(?m)^[ \t]*#[ \t]*(?:(if)|endif)")


def with_numbers(source: Source, names: Collection[str], options: CompilerOptions) -> Source:
    """The source with these macros and variables in its regions replaced by their values, if they are
    numbers."""
    file = typed_file(source, options)
    edits = [edit for region in file.regions for edit in _variables(region, names, file)]
    written = source.edited(sorted(edits))
    return with_macros_written_out(written, options, lambda call, _: call.text in names)


def names_written_out(source: Source, programs: Iterable[Program]) -> frozenset[str]:
    """The names in the regions of a source that do not occur in the source that was read in its place."""
    before = {name for one in c_file(source).regions for name in names_in(one.place.text)}
    return frozenset(before.difference(*(names_in(one.region.text) for one in programs)))


def _variables(region: TypedRegion | Unread, names: Collection[str], file: TypedFile) -> Iterator[Edit]:
    if isinstance(region, Unread):
        return
    known = {one: values for one, values in known_values(region, file).items() if one.name in names}
    inside = 0
    for node in tree.walk_all(region.statements):
        is_name = (one := variable_of(node)) is not None and len(known.get(one, ())) == 1
        place = node.place.span
        if place.start < inside or not (is_name or isinstance(node, tree.Subscript)):
            continue
        index = node.index if isinstance(node, tree.Subscript) else node
        several = _several(index, known)
        if not is_name and (not several or any(map(_is_statement_like, tree.walk(index)))):
            continue
        texts = [(choice, _with_values(index, known | choice)) for choice in _choices(several)]
        if all(text is not None for _, text in texts):
            place = index.place.span
            inside = place.end
            yield place.start, place.end, _chosen(texts)


def _is_statement_like(node: tree.Node) -> bool:
    """Whether a node cannot stand after `:` without parentheses."""
    return isinstance(node, tree.Assign) or (isinstance(node, tree.Binary) and node.operator == ",")


Known = Mapping[tree.Declaration, tuple[int, ...]]


def _several(node: tree.Node, known: Known) -> dict[tree.Declaration, tuple[int, ...]]:
    """The variables in an expression with several possible values."""
    names = (one for part in tree.walk(node) if (one := variable_of(part)) is not None)
    return {one: known[one] for one in names if len(known.get(one, ())) > 1}


def _choices(several: Known) -> list[dict[tree.Declaration, tuple[int, ...]]]:
    combined = product(*several.values())
    return [{one: (value,) for one, value in zip(several, values, strict=True)} for values in combined]


def _chosen(texts: Sequence[tuple[Known, str | None]]) -> str:
    """`K == 2 ? 2 * i : 3 * i`: the last text is the default."""
    *tested, (_, last) = texts
    parts = [
        " && ".join(f"{one.name} == {values[0]}" for one, values in choice.items()) + f" ? {text} : "
        for choice, text in tested
    ]
    return "".join(parts) + (last or "")


def _with_values(node: tree.Node, known: Known) -> str | None:
    """The text of an expression with known values in place of variables; None if the source hides a name."""
    nodes = [*tree.walk(node)]
    typed = {id(inner) for one in nodes if isinstance(one, _OF_TYPES) for inner in tree.walk(one)}
    whole, edits = node.place.span, []
    for one in nodes:
        variable = None if id(one) in typed else variable_of(one)
        values = known.get(variable, ()) if variable is not None else ()
        if len(values) != 1 or variable is None:
            continue
        text, place = _written(values[0], integer_type(variable.type)), one.place.span
        if not text or packed(place.text) != variable.name:
            return None
        edits.append((place.start - whole.start, place.end - whole.start, text))
    return Source("", whole.text).edited(sorted(edits)).text


_OF_TYPES = (tree.SizeOf, tree.OtherExpression)
"""Nodes in which the type of a variable may matter, not only its value."""


def _written(value: int, kind: Integer | None) -> str:
    """A number with the type that a variable of a type has in an expression."""
    plain = INT if kind is None else promoted(kind)
    text = f"({value}{_SUFFIXES.get(plain, '')})"
    return text if plain == literal_type(text.strip("(-)")) else ""


_SUFFIXES: dict[CType, str] = {LONG: "L", UNSIGNED: "u"}
