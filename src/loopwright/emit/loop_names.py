"""The names of new iterators, as the author knows them.

A loop that scans an iterator of the original, `S(i, c1)`, has its name; any other has the name it
has in scripts, `iT` for the tiles of `i`.  Loops side by side may share a name.  Where the name is taken,
by a loop outside or by the text for something else, a number is appended to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeAlias, assert_never

from loopwright.c.macros import HELPERS
from loopwright.c.tokens import names_in
from loopwright.emit.names import KEYWORDS
from loopwright.loops.expressions import Var
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import free_variables, rename, rename_test, subprograms, with_children
from loopwright.model.program import Hole, Inlined, Program, Statement
from loopwright.source import Span
from loopwright.transform.plan import Plan
from loopwright.transform.vectors import pieces

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
    """`node` with its iterators called as the author would; its parameters stay what they are."""
    statements = {statement.name: statement for statement in program.statements}
    avoided = _avoided(program) | free_variables(node)
    return _Naming(statements, known, avoided).named(node, {})


def _avoided(program: Program) -> frozenset[str]:
    """The words that have another meaning in the new text."""
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
    """The names that statements, scripts and the text give to loops, or forbid."""

    def __init__(
        self, statements: Mapping[str, Statement], known: LoopNames, avoided: AbstractSet[str]
    ) -> None:
        self.statements, self.known, self.avoided = statements, known, avoided

    def named(self, node: Node, scope: Mapping[str, str]) -> Node:
        match node:
            case Call(name, arguments, time):
                times = None if time is None else tuple(rename(one, scope) for one in time)
                return Call(name, tuple(rename(one, scope) for one in arguments), times)
            case If(test):
                renamed = replace(node, test=rename_test(test, scope))
                return with_children(renamed, lambda child: self.named(child, scope))
            case For(iterator, start, test):
                inner = {**scope, iterator: self._fresh(node, iterator, scope)}
                return replace(
                    node,
                    iterator=inner[iterator],
                    start=rename(start, scope),
                    test=rename_test(test, inner),
                    body=self.named(node.body, inner),
                )
            case Let(name, value, body):
                inner = {**scope, name: self._fresh(node, name, scope)}
                named = self.named(body, inner)
                return replace(node, name=inner[name], value=rename(value, scope), body=named)
            case Block() | Remarked():
                return with_children(node, lambda child: self.named(child, scope))
            case _:
                assert_never(node)

    def _fresh(self, loop: For | Let, iterator: str, scope: Mapping[str, str]) -> str:
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
