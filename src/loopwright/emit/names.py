"""Chooses a valid C name for each name of the program.

A valid name is kept.  In others, invalid characters become underscores, and underscores are appended
until all names differ.

It also chooses familiar names for new iterators.

A loop that scans an iterator of the original, `S(i, c1)`, has its name; any other has the name it
has in scripts, `iT` for the tiles of `i`.  Loops side by side may share a name.  Where the name is taken,
by an outer loop or otherwise in the source, a number is appended to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeAlias, assert_never

from loopwright.c.macros import HELPERS
from loopwright.c.tokens import KEYWORDS, names_in
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import (
    free_variables,
    rename,
    rename_test,
    subprograms,
    variables,
    with_calls,
    with_children,
)
from loopwright.model.program import Hole, Inlined, Program, Statement
from loopwright.source import Span
from loopwright.transform.plan import Plan
from loopwright.transform.vectors import pieces


@dataclass(frozen=True)
class CNames:
    """The C names of a program's variables, and of its statements by name and arity."""

    variables: Mapping[str, str]
    statements: Mapping[tuple[str, int], str]

    def all(self) -> frozenset[str]:
        return frozenset((*self.variables.values(), *self.statements.values()))


def readable_names(node: Node, parameters: Iterable[str] = ()) -> CNames:
    """Names for code that is pasted into another program, as isl prints it.

    A statement may share its name with a variable or with a statement of another arity, and
    may have none: the other program decides what a call means.
    """
    named = _distinct([*_variables(node, parameters), *(name for name, _ in called_statements(node) if name)])
    statements = {(name, arity): named.get(name, "") for name, arity in called_statements(node)}
    return CNames(named, statements)


def standalone_names(node: Node, parameters: Iterable[str] = ()) -> CNames:
    """Names for code that is compiled alone: statements and variables all have different names."""
    named = _distinct(_variables(node, parameters))
    used = set(named.values())
    statements: dict[tuple[str, int], str] = {}
    for name, arity in sorted(called_statements(node), key=lambda called: not _is_identifier(called[0])):
        statements[name, arity] = fresh(name or "S", used)
        used.add(statements[name, arity])
    return CNames(named, statements)


def with_names(node: Node, names: CNames) -> Node:
    """`node` with its variables and statements called by their C names.

    In LOOP the scope of a declaration begins after its initial value, in C before it: in `int i = i + 1;`
    the second `i` would be the first.  There the declared name is changed.
    """

    def declared(node: For | Let, scope: Mapping[str, str]) -> str:
        name, value = (node.iterator, node.start) if isinstance(node, For) else (node.name, node.value)
        wanted = names.variables[name]
        is_mentioned = wanted in variables(rename(value, scope))
        return fresh(wanted, names.all().union(scope.values())) if is_mentioned else wanted

    renamed = _renamed(node, names.variables, declared)
    return with_calls(
        renamed, lambda call: replace(call, name=names.statements[call.name, len(call.arguments)])
    )


def _renamed(
    node: Node, scope: Mapping[str, str], declared: Callable[[For | Let, Mapping[str, str]], str]
) -> Node:
    """`node` with the names in `scope`, and those that its loops and declarations are given."""

    def inside(child: Node) -> Node:
        return _renamed(child, scope, declared)

    match node:
        case Call(_, arguments, time):
            times = None if time is None else tuple(rename(one, scope) for one in time)
            return replace(node, arguments=tuple(rename(one, scope) for one in arguments), time=times)
        case If(test):
            return with_children(replace(node, test=rename_test(test, scope)), inside)
        case For(iterator, start, test):
            inner = {**scope, iterator: declared(node, scope)}
            first, until = rename(start, scope), rename_test(test, inner)
            body = _renamed(node.body, inner, declared)
            return replace(node, iterator=inner[iterator], start=first, test=until, body=body)
        case Let(name, value, body):
            inner = {**scope, name: declared(node, scope)}
            body = _renamed(body, inner, declared)
            return replace(node, name=inner[name], value=rename(value, scope), body=body)
        case Block() | Remarked():
            return with_children(node, inside)
        case _:
            assert_never(node)


def _distinct(names: Iterable[str]) -> dict[str, str]:
    """A C name for each name; valid ones are kept, so they are chosen first."""
    wanted = sorted(set(names), key=lambda name: (not _is_identifier(name), name))
    used: set[str] = set()
    result: dict[str, str] = {}
    for name in wanted:
        result[name] = fresh(name, used)
        used.add(result[name])
    return result


def fresh(name: str, used: AbstractSet[str]) -> str:
    """A C name for `name` that is not in use."""
    candidate = name if _is_identifier(name) else _sanitised(name)
    while candidate in used or not _is_identifier(candidate):
        candidate += "_"
    return candidate


def _sanitised(name: str) -> str:
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return text if re.match(r"[A-Za-z_]", text) else f"_{text}"


def _is_identifier(name: str) -> bool:
    return (
        re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
        and name not in KEYWORDS
        and name not in HELPERS
    )


def _variables(node: Node, parameters: Iterable[str]) -> list[str]:
    declared = (
        part.iterator if isinstance(part, For) else part.name
        for part in subprograms(node)
        if isinstance(part, For | Let)
    )
    return sorted({*parameters, *free_variables(node), *declared})


def called_statements(node: Node) -> list[tuple[str, int]]:
    """The names and arities of the statements that `node` calls."""
    return sorted({(part.name, len(part.arguments)) for part in subprograms(node) if isinstance(part, Call)})


LoopNames: TypeAlias = Mapping[str, tuple[tuple[str, ...], ...]]
"""For each statement, what the loops around it are called, outermost first; one entry for each place."""



def loop_names(plan: Plan) -> LoopNames:
    """The loops' names as scripts know them."""
    loops = {leaf.position: leaf.loops for leaf in plan.leaves}
    return {
        statement.name: tuple(loops[position] for position, _ in pieces(statement.schedule))
        for statement in plan.program.statements
    }


def author_named(node: Node, program: Program, known: LoopNames) -> Node:
    """`node` with the author's names for its iterators; parameters keep their names."""
    statements = {statement.name: statement for statement in program.statements}
    avoided = _avoided(program) | free_variables(node)
    return _renamed(node, {}, _Naming(statements, known, avoided).declared)


def _avoided(program: Program) -> frozenset[str]:
    """The names with another meaning in the new source."""
    words = {*KEYWORDS, *HELPERS, *program.params, *(array.name for array in program.arrays)}
    texts = [parameter.text for parameter in program.parameters]
    texts += [extent for array in program.arrays for extent in array.extents]
    texts += [text for s in program.statements for text in _fixed(program, s.body.place, s.body.holes)]
    for macro in program.file.macros:
        words |= {macro.name, *names_in(macro.body)} - set(macro.parameters or ())
    return frozenset(words.union(*(names_in(text) for text in texts)))


def _fixed(program: Program, place: Span, holes: Sequence[Hole | Inlined]) -> Iterator[str]:
    """The parts of a text that stay as they are."""
    position = place.start
    for hole in holes:
        yield program.source.text[position : hole.place.start]
        if isinstance(hole, Inlined):
            yield from _fixed(program, hole.definition, hole.holes)
        position = hole.place.end
    yield program.source.text[position : place.end]


class _Naming:
    """The names that statements, scripts and the source give to loops, or forbid."""

    def __init__(
        self, statements: Mapping[str, Statement], known: LoopNames, avoided: AbstractSet[str]
    ) -> None:
        self.statements, self.known, self.avoided = statements, known, avoided

    def declared(self, loop: For | Let, scope: Mapping[str, str]) -> str:
        iterator = loop.iterator if isinstance(loop, For) else loop.name
        wanted = next(self._candidates(loop, iterator), iterator)
        name, number = wanted, 1
        while name in self.avoided or name in scope.values():
            number += 1
            name = f"{wanted}{number}" if not wanted[-1].isdigit() else f"{wanted}_{number}"
        return name

    def _candidates(self, loop: For | Let, iterator: str) -> Iterator[str]:
        """The author's name for it first, then the script's."""
        calls = [part for part in subprograms(loop.body) if isinstance(part, Call)]
        for call in calls:
            for argument, name in zip(call.arguments, self.statements[call.name].iterators, strict=True):
                if argument == Var(iterator):
                    yield name
        depth = loop.dimension
        for call in calls:
            for loops in self.known.get(call.name, ()):
                if depth is not None and depth < len(loops):
                    yield loops[depth]
