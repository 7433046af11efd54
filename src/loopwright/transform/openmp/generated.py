"""The loops that directives generate, and the plan while directives are applied.

It also reads the clauses of directives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import islice

from loopwright.c.clauses import clauses_for, unknown_clause
from loopwright.c.file import c_file
from loopwright.c.openmp import SHARING, Applied, OpenmpClause, OpenmpDirective, as_pragma, integer
from loopwright.c.syntax import refuse
from loopwright.c.tokens import has_effect
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.read.formula import Chain, Formula, Junction, Symbol
from loopwright.source import Span
from loopwright.transform.openmp.loops import CountedLoop, refuse_triangle, substituted
from loopwright.transform.perform import performed
from loopwright.transform.plan import Plan
from loopwright.transform.script.formulas import AffineMap
from loopwright.transform.script.operations import Affine, Operation
from loopwright.transform.script.steps import Step, StepOrigin


@dataclass(frozen=True)
class LoopNest:
    """Perfectly nested loops, outermost first, inside `depth` other loops.

    `values` are the iterators of the text as functions of the loops of the plan.
    """

    handle: str
    depth: int
    loops: tuple[CountedLoop, ...]
    values: Mapping[str, Formula]


@dataclass(frozen=True)
class LoopSequence:
    """Consecutive loop nests."""

    nests: tuple[LoopNest, ...]


Generated = LoopNest | LoopSequence


@dataclass(frozen=True)
class DirectedPlan:
    """The plan so far.

    Of a loop that `simd safelen(k)` marks, at its place, iterations with times that differ by `distances` or
    more are in different vectors.
    """

    plan: Plan
    distances: Mapping[Span, int] = field(default_factory=dict)

    def perform(self, directive: OpenmpDirective, *operations: Operation) -> DirectedPlan:
        steps = [Step(one, origin=StepOrigin(directive.place, {})) for one in operations]
        return replace(self, plan=performed(self.plan, *steps))

    def bind(self, directive: OpenmpDirective, names: tuple[str, ...], operation: Operation) -> DirectedPlan:
        step = Step(operation, names, StepOrigin(directive.place, {}))
        return replace(self, plan=performed(self.plan, step))

    def fresh(self, stem: str) -> str:
        """A handle that is not used yet."""
        return self.fresh_handles(stem, 1)[0]

    def fresh_handles(self, stem: str, count: int) -> tuple[str, ...]:
        names = (f"{stem}{k}" for k in range(1, 1000))
        return tuple(islice((name for name in names if name not in self.plan.components), count))

    def dimensions(self, nest: LoopNest, loops: int) -> tuple[str, ...]:
        """The plan's names of the first loops around a nest and in it."""
        component = self.plan.component(nest.handle)
        return self.plan.leaf(component.first).loops[: nest.depth + loops]

    def free_names(self, nest: LoopNest, wanted: list[str]) -> list[str]:
        """Names for new loops, as requested or with numbers appended."""
        component = self.plan.component(nest.handle)
        taken = {name for position in component.positions for name in self.plan.leaf(position).loops}
        taken |= set(self.plan.program.params) | {one.name for one in self.plan.program.arrays}
        found: list[str] = []
        for name in wanted:
            variants = (name, *(f"{name}{k}" for k in range(1, 1000)))
            found.append(next(one for one in variants if one not in taken and one not in found))
        return found

    def with_loops(
        self, directive: OpenmpDirective, nest: LoopNest, inside: int, added: Mapping[str, Formula]
    ) -> DirectedPlan:
        """New loops around the first `inside` loops of a nest; their values are over the text's iterators."""
        names = self.dimensions(nest, inside)
        outputs = tuple(map(Symbol, (*names[: nest.depth], *added, *names[nest.depth :])))
        return self.mapped(directive, nest, names, outputs, added)

    def mapped(
        self,
        directive: OpenmpDirective,
        nest: LoopNest,
        inputs: tuple[str, ...],
        outputs: tuple[Formula, ...],
        defined: Mapping[str, Formula],
    ) -> DirectedPlan:
        """affine(L, {[inputs] -> [outputs] : name = formula and ...})"""
        tests = [
            Chain(((Symbol(name),), (substituted(formula, nest.values),)), ("=",))
            for name, formula in defined.items()
        ]
        condition = (
            Junction(conjunction=True, arguments=tuple(tests)) if len(tests) > 1 else next(iter(tests), None)
        )
        function = AffineMap(tuple(map(Symbol, inputs)), outputs, condition)
        return self.perform(directive, Affine(nest.handle, function))


@dataclass(frozen=True)
class Made:
    """The result of a directive, and the parts that `apply` can name: loops by number from 0, or nests."""

    state: DirectedPlan
    left: Generated
    kinds: Mapping[str, range]


def affected(directive: OpenmpDirective, nest: LoopNest, count: int) -> tuple[CountedLoop, ...]:
    """The loops that the directive applies to, which are rectangular."""
    if len(nest.loops) < count:
        message = f"'{directive.name}' needs {count} loops with nothing between them, not {len(nest.loops)}"
        raise refused(directive.place, message)
    refuse_triangle(nest.loops[:count], directive.name)
    return nest.loops[:count]


CLAUSES: Mapping[str, frozenset[str]] = {
    "tile": frozenset(("sizes",)),
    "stripe": frozenset(("sizes",)),
    "interchange": frozenset(("permutation",)),
    "reverse": frozenset(),
    "unroll": frozenset(("full", "partial")),
    "split": frozenset(("counts",)),
    "fuse": frozenset(("looprange",)),
    "nothing": frozenset(),
    **{name: frozenset(clauses_for(name)) for name in SHARING},
}
"""The supported clauses of each directive, besides `apply`."""

_EVALUATED = ("if", "num_threads", "schedule", "proc_bind")
_REPEATED = frozenset(
    (
        *("allocate", "firstprivate", "if", "lastprivate", "linear", "nontemporal", "private", "reduction"),
        "shared",
    )
)


def check_clauses(directive: OpenmpDirective) -> None:
    known = CLAUSES[directive.name]
    seen: set[str] = set()
    for clause in directive.clauses:
        if clause.name not in known:
            names = ", ".join(sorted(known)) or "none"
            message = f"the clause '{clause.name}' of '{directive.name}' is not understood"
            raise refused(clause.place, message, f"its clauses here are: {names}")
        if clause.name in seen - _REPEATED:
            raise refused(clause.place, f"the clause '{clause.name}' is there twice")
        if clause.name == "default" and [one.text for one in clause.arguments] not in (["shared"], ["none"]):
            raise refused(clause.place, "'default' must be shared or none here")
        if clause.name in _EVALUATED and any(has_effect(one.text) for one in clause.arguments):
            raise refused(clause.place, f"an expression of '{clause.name}' must not change or call anything")
        seen.add(clause.name)
    if directive.name in SHARING:
        macros = c_file(directive.place.source).macro_names
        unknown = unknown_clause(as_pragma(directive).argument, macros)
        if unknown is not None:
            raise refused(directive.place, f"'{unknown}' of '{directive.name}' is not understood")


def refused(place: Span, message: str, hint: str = "see docs/openmp.md for what is read") -> BadInput:
    return refuse(place, message, hint, Code.DIRECTIVE)


def sizes_of(directive: OpenmpDirective) -> tuple[int, ...]:
    return tuple(map(integer, needed(directive, "sizes").arguments))


def needed(directive: OpenmpDirective, name: str) -> OpenmpClause:
    clause = directive.clause(name)
    if clause is None or not clause.arguments:
        raise refused(directive.place, f"'{directive.name}' needs the clause '{name}'")
    return clause


def applied_loops(
    directive: OpenmpDirective, clause: Applied, kinds: Mapping[str, range]
) -> list[tuple[int, OpenmpDirective]]:
    """The directives of one `apply`, with the numbers of their loops."""
    if (clause.kind is None and len(kinds) != 1) or (clause.kind is not None and clause.kind not in kinds):
        names = ", ".join(kinds) or "no loops"
        raise refused(clause.place, f"'apply' must name what '{directive.name}' generates: {names}")
    loops = kinds[clause.kind] if clause.kind is not None else next(iter(kinds.values()))
    numbers = clause.numbers or tuple(range(1, len(loops) + 1))
    if any(number > len(loops) for number in numbers):
        raise refused(clause.place, f"'apply' names loop {max(numbers)}; {len(loops)} are generated")
    if len(numbers) != len(clause.directives):
        message = f"'apply' has {len(clause.directives)} directives for {len(numbers)} loops"
        raise refused(clause.place, message, "write one for each; 'nothing' leaves a loop as it is")
    return [(loops[number - 1], one) for number, one in zip(numbers, clause.directives, strict=True)]
