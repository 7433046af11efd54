"""A program under transformation: schedules, handles on loop components, directives for the generator.

A plan is immutable: every operation returns a new one.  Legality is not checked here, but once, for the final
schedule [Namjoshi2016, section 4.1].

Loops and statements can be named by their line in the C file: `@12` needs no label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field, replace
from functools import cached_property
from typing import Self

import islpy as isl

from loopwright.c.syntax import walk_inside
from loopwright.display import Displayed
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.transform.directives import DirectiveKind, LoopDirective
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.script.operations import Widen
from loopwright.transform.script.steps import Step, close_to
from loopwright.transform.storage import Redundancy, StorageChange
from loopwright.transform.vectors import Position, iteration_numbers, padded_position, pieces


@dataclass(frozen=True, slots=True)
class PlanLeaf:
    """A leaf of the syntax tree with statements, and the names of the loops around it."""

    position: Position
    loops: tuple[str, ...]

    @property
    def depth(self) -> int:
        return len(self.loops)


@dataclass(frozen=True, slots=True)
class Component:
    """P(l) of [Namjoshi2016, section 3.2]: the positions of a subtree's statements, in order and distinct."""

    positions: tuple[Position, ...]

    @staticmethod
    def of(positions: Iterable[Position]) -> Component:
        return Component(tuple(sorted(set(positions))))

    @property
    def first(self) -> Position:
        return self.positions[0]

    @property
    def last(self) -> Position:
        return self.positions[-1]


@dataclass(frozen=True)
class Performed:
    """A step of a script, and the program after it."""

    step: Step
    program: Program


@dataclass(frozen=True)
class Plan(Displayed):
    """`program` is `original` with the schedules that result from the operations in `history`.

    `original` is the program as written or, after a change of storage, what that made of it.
    `performed` makes the plan after an operation; `FluentPlan` has the operations as methods.
    """

    original: Program
    program: Program
    leaves: tuple[PlanLeaf, ...]
    components: dict[str, Component]
    directives: tuple[LoopDirective, ...] = ()
    history: tuple[Performed, ...] = ()
    storage: tuple[StorageChange, ...] = ()
    """The changes of storage: the first is of the program as written, the last one produced `original`."""
    apart: tuple[dict[str, isl.Set], ...] = ()
    """Instances of these statements that are generated a second time, without the tests of the rest."""
    along: dict[str, isl.Set] = field(default_factory=dict)
    """The same for consecutive iterations of the loop around threads."""
    fetched: int = 0
    """The number of rows that kernels of lanes prefetch into a cache."""

    @classmethod
    def of(cls, program: Program) -> Self:
        """The program as it was written: with each label, line and statement name as a handle."""
        places = {statement.name: pieces(statement.schedule) for statement in program.statements}
        leaves = tuple(
            sorted(
                (
                    PlanLeaf(position, statement.iterators)
                    for statement in program.statements
                    for position, _ in places[statement.name]
                ),
                key=lambda leaf: leaf.position,
            )
        )
        named = {tag.name: tag.statements for tag in program.tags} | at_lines(program)
        named |= {one.name: (one.name,) for one in program.statements if one.name not in named}
        handles = {
            handle: Component.of(position for name in names for position, _ in places[name])
            for handle, names in named.items()
        }
        return cls(program, program, leaves, handles)

    def __repr__(self) -> str:
        """The region on one line, then the last operations."""
        place = f"{self.original.source.path}:{self.original.region.line}"
        if not self.history:
            return f"<Plan {place}: as written>"
        shown = [str(one.step) for one in self.history[-6:]]
        earlier = len(self.history) - len(shown)
        lines = [f"<Plan {place}:", *([f"... {earlier} operations"] if earlier else []), *shown]
        return "\n  ".join(lines) + ">"

    @property
    def written(self) -> Program:
        """The program as it is in the file."""
        return self.storage[0].original if self.storage else self.original

    @cached_property
    def loops(self) -> int:
        """M, the number of loops around the deepest statement."""
        return max((leaf.depth for leaf in self.leaves), default=0)

    @property
    def is_widened(self) -> bool:
        """Whether the compiler is asked to use its full vector registers."""
        return any(isinstance(one.step.operation, Widen) for one in self.history)

    def leaf(self, position: Position) -> PlanLeaf:
        return next(leaf for leaf in self.leaves if leaf.position == position)

    def component(self, name: str, argument: str | None = None, item: int = 0) -> Component:
        """The component with this handle; `argument` of an operation names it, for errors."""
        if name in self.components:
            return self.components[name]
        by_line = [handle for handle in self.components if HANDLE.fullmatch(handle)]
        if HANDLE.fullmatch(name):
            message = f"no loop or statement of the region is on line {name[1:]}"
            near_by = nearest(name, by_line)
            hint = f"the nearest {'is' if len(near_by) == 1 else 'are'} {' and '.join(near_by)}"
        else:
            message = f"no loop component is called {name}"
            known = [handle for handle in self.components if handle not in by_line]
            near = close_to(name, known)
            hint = f"did you mean {near}?" if near else f"the handles are {', '.join(known) or 'none at all'}"
            hint += f", or by its line {by_line[0]} to {by_line[-1]}" if by_line and not near else ""
        raise Misuse(Code.NO_COMPONENT, message, argument=argument, item=item, hint=hint)

    def depth(self, component: Component) -> int:
        """The number of loops around every statement of the component."""
        return min(self.leaf(position).depth for position in component.positions)

    def common_loops(self, component: Component) -> int:
        """The number of loops that the statements of the component share."""
        first = component.first
        shared = self.depth(component)
        for position in component.positions:
            same = next((k for k in range(shared) if position[k] != first[k]), shared)
            shared = min(shared, same)
        return shared

    def sharing(self, component: Component, loop: int) -> Component:
        """The other statements in the loops at depth `loop` around the component."""
        paths = {position[: loop + 1] for position in component.positions}
        return Component.of(
            leaf.position
            for leaf in self.leaves
            if leaf.position[: loop + 1] in paths and leaf.position not in component.positions
        )

    def statements_at(self, component: Component) -> tuple[str, ...]:
        """The statements that have instances at the component's positions."""
        wanted = set(component.positions)
        return tuple(
            statement.name
            for statement in self.program.statements
            if any(position in wanted for position, _ in pieces(statement.schedule))
        )

    def iterations(self, component: Component, loops: int) -> list[isl.Set]:
        """The values (j1, ..., j(loops)) of the outermost loops, one set for each statement there."""
        found: list[isl.Set] = []
        for statement in self.program.statements:
            domain = statement.domain.intersect_params(self.program.context)
            for position, piece in pieces(statement.schedule):
                if position in component.positions:
                    found.append(domain.apply(iteration_numbers(piece, loops)))
        return found

    def named(self, name: str, component: Component) -> Plan:
        return replace(self, components={**self.components, name: component})

    def without(self, names: set[str]) -> Plan:
        """The plan without some temporary handles of an operation."""
        kept = {name: component for name, component in self.components.items() if name not in names}
        return replace(self, components=kept)

    def rescheduled(self, schedules: dict[str, isl.Map]) -> Plan:
        """The plan with other schedules for the statements named."""
        statements = tuple(
            replace(statement, schedule=schedules.get(statement.name, statement.schedule))
            for statement in self.program.statements
        )
        return replace(self, program=replace(self.program, statements=statements))

    def stored(
        self,
        program: Program,
        redundancy: Redundancy | None = None,
        division: dict[str, str] | None = None,
        summands: dict[str, str] | None = None,
        tests: dict[str, tuple[str, str]] | None = None,
    ) -> Plan:
        """The plan with `program`, which has other storage and the schedules of this plan, or its own."""
        step = len(self.history)
        parts = division or {}, summands or {}, tests or {}
        change = StorageChange(self.original, self.program, program, step, redundancy, *parts)
        return replace(self, original=program, program=program, storage=(*self.storage, change))

    def directed(
        self,
        kind: DirectiveKind,
        component: Component,
        loop: int,
        *,
        factor: int | None = None,
        points: tuple[int, ...] = (),
        axis: str = "",
    ) -> Plan:
        """The plan with one more directive on the loop at depth `loop` around the component."""
        statements = self.statements_at(component)
        directive = LoopDirective(kind, statements, component.positions, loop, factor, points, axis)
        return replace(self, directives=(*self.directives, directive))

    def remember(self, step: Step) -> Plan:
        """The plan with one more step of history, the origin of directives without a place."""
        placed = tuple(
            replace(directive, span=step.span) if directive.span is None else directive
            for directive in self.directives
        )
        return replace(self, directives=placed, history=(*self.history, Performed(step, self.program)))


def repositioned(
    plan: Plan, images: dict[Position, tuple[Position, ...]], loops: dict[Position, tuple[str, ...]]
) -> Plan:
    """P' = φ(P) for every component, leaf and directive; `loops` has the names of those that change."""
    length = max((len(new) for target in images.values() for new in target), default=plan.loops + 1) - 1

    def image(position: Position) -> tuple[Position, ...]:
        return images.get(position, (padded_position(position, length),))

    leaves = {
        new: PlanLeaf(new, loops.get(leaf.position, leaf.loops))
        for leaf in plan.leaves
        for new in image(leaf.position)
    }
    components = {
        name: Component.of(new for position in component.positions for new in image(position))
        for name, component in plan.components.items()
    }
    directives = tuple(
        replace(directive, positions=tuple(new for old in directive.positions for new in image(old)))
        for directive in plan.directives
    )
    ordered = tuple(leaves[position] for position in sorted(leaves))
    return replace(plan, leaves=ordered, components=components, directives=directives)


HANDLE = re.compile(r"@(\d+)")

_WHOLE = ("for_statement", "if_statement", "labeled_statement")
"""Nodes that represent everything inside them if they begin on a line."""


def at_lines(program: Program) -> dict[str, tuple[str, ...]]:
    """`@12` -> the statements it names, for every line of the region that names some.

    A line on which a loop, a condition or a label begins names all that is inside the outermost of
    them; another line names the statements that are written on it.
    """
    found: dict[int, tuple[str, ...]] = {}
    for node in walk_inside(program.file.outline, program.region):
        if node.type in _WHOLE and program.region.contains(node.span):
            inside = tuple(one.name for one in program.statements if node.span.contains(one.body.place))
            if inside:
                found.setdefault(node.span.line, inside)
    for line, names in _written_on(program).items():
        found.setdefault(line, names)
    return {f"@{line}": found[line] for line in sorted(found)}


def nearest(handle: str, known: list[str]) -> list[str]:
    """The nearest lines before and after a line that name something."""
    wanted = _line(handle)
    before = [name for name in known if _line(name) < wanted]
    after = [name for name in known if _line(name) > wanted]
    return [*before[-1:], *after[:1]]


def _line(handle: str) -> int:
    match = HANDLE.fullmatch(handle)
    assert match is not None
    return int(match[1])


def _written_on(program: Program) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for statement in program.statements:
        first = statement.body.place.line
        last = program.source.line_of(statement.body.place.end)
        for line in range(first, last + 1):
            found[line] = (*found.get(line, ()), statement.name)
    return found
