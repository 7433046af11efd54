"""Along its loops: proves that a source executes the instances of OLD once each, preserving its dependences.

A failure is not a refutation, since the instances of statements may have been guessed; only if everything
else is proved is a loop that is marked independent, and is not, known to be a race.

The module also interprets pragmas on loops: which are independent, and what is private to each thread. It
understands the clauses `private`, for iterators and bounds, and those that distribute iterations; reductions
and private values are left to `prove.text.annotations`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial

import islpy as isl

from loopwright.c.clauses import unknown_clause
from loopwright.c.file import c_file
from loopwright.c.liveness import is_hidden, refuse_live_iterators
from loopwright.c.loops import loop_iterator
from loopwright.c.regions import Directive
from loopwright.c.syntax import Node, field, without_parentheses
from loopwright.c.tokens import names_in
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr
from loopwright.loops.traverse import calls_of
from loopwright.model.dependences import adjacent
from loopwright.model.program import Program, Statement
from loopwright.presburger.points import smallest_point, values_text
from loopwright.presburger.sets import OUT
from loopwright.prove.descent.executed import Descent, Race, Wrong
from loopwright.prove.descent.instances import Claims, Instances, functions
from loopwright.prove.descent.reading import LoopText, read_loops
from loopwright.prove.descent.unjam import unjammed
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.scanning.conditions import IteratorScope, value
from loopwright.prove.text.annotations import clauses_of, is_harmless, is_promise
from loopwright.prove.text.clauses import may_run_in_order, runs_in_order, uncertain_value
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from loopwright.source import Span


def read_new(old: Program, region: Span) -> LoopText:
    """Reads the loops of the region, whose iterators and bounds nothing else reads; or raises Unreadable."""
    if any(array.local for array in old.arrays):
        raise Unreadable("the original declares variables in its region")
    text = read_loops(old, region)
    file = c_file(region.source)
    for name in sorted(text.assigned):
        if not is_hidden(file, region, name):
            raise Unreadable(f"'{name}' is not a variable of the function that is known by its name alone")
    try:
        refuse_live_iterators(file.tree, region, text.assigned)
    except BadInput as failure:
        raise Unreadable(failure.diagnostic.message) from None
    return text


def shared_counters(text: LoopText) -> Refuted | None:
    """Refutes a parallel loop whose threads share an iterator or bound that they all assign."""
    return shared_by_threads(text, independent_loops(text))


@dataclass(frozen=True)
class Recognised:
    """A source whose statements are recognised as instances of OLD, before any proof."""

    text: LoopText
    claims: Mapping[str, Claims]
    instances: Mapping[str, Instances]


def recognised(old: Program, text: LoopText, claims: Mapping[str, Claims]) -> Recognised:
    """Recognises the statements of the source as instances of those that they may be."""
    return Recognised(text, claims, functions(old, text, claims))


def by_descent(old: Program, new: Recognised) -> Verdict:
    """Proves that the source does what `old` does, and its loops may execute as its pragmas say."""
    text, claims, found = new.text, new.claims, new.instances
    independent = independent_loops(text)
    plain = unjammed(text.loops, claims, lambda loop: loop.dimension in independent)
    domains = {one.name: one.domain.intersect_params(old.context) for one in old.statements}
    relation = cache(partial(_relation, old))
    leaves = {
        name: tuple(
            (statement, relation(text.leaves[name].iterators, statement, own)) for statement, own in several
        )
        for name, several in found.items()
    }
    descent = Descent(leaves, domains, adjacent(old), frozenset(independent), plain.jams)
    try:
        runs = descent.runs(plain.loops, IteratorScope(isl.Set.from_params(old.context), {}))
        for name, domain in domains.items():
            _same_instances(runs.get(name), domain)
    except Wrong as failure:
        point = smallest_point(failure.example.params())
        sizes = {} if point is None else dict(point.parameters)
        return Undecided(f"along its loops: {_reason(failure, text, sizes)}", sizes)
    if descent.races:
        certain = (race for race in descent.races if _is_certain(race, old))
        race = next(certain, None)
        if race is None:
            return Undecided("the iterations of a loop that is marked parallel may depend on each other")
        return _race(race, old, text, found)
    return Proved(descent.obligations + len(domains))


def _relation(old: Program, iterators: tuple[str, ...], statement: str, values: tuple[Expr, ...]) -> isl.Map:
    """{ [iterators] -> O[values] }."""
    space = isl.Space.set_alloc(old.context.get_ctx(), 0, len(iterators)).align_params(
        old.context.get_space()
    )
    scope = IteratorScope(isl.Set.universe(space), {name: k for k, name in enumerate(iterators)})
    entries = isl.PwAffList.alloc(old.context.get_ctx(), len(values))
    for one in values:
        entries = entries.add(value(one, scope))
    whole = isl.MultiPwAff.from_pw_aff_list(space.from_domain().add_dims(OUT, len(values)), entries)
    return whole.as_map().set_tuple_name(OUT, statement)


def _same_instances(runs: isl.Map | None, domain: isl.Set) -> None:
    """Checks that exactly the instances of a statement are executed."""
    executed = isl.Set.empty(domain.get_space()) if runs is None else runs.range()
    for kind, wrong in (("missing", domain.subtract(executed)), ("extra", executed.subtract(domain))):
        if not wrong.is_empty():
            raise Wrong(kind, None, wrong)


_SAID = {
    "missing": "an instance of the original is not run",
    "extra": "an instance is run that the original lacks",
    "twice": "an instance is run twice",
    "order": "a dependence is not kept",
    "carried": "a dependence is not kept",
    "end": "a loop until two numbers are equal was not shown to end (compare them by '<', or state by"
    " --assume what makes it end)",
}


def _reason(failure: Wrong, text: LoopText, values: Mapping[str, int]) -> str:
    """What failed, where, and for which sizes."""
    sizes = values_text(values)
    leaves = [] if failure.node is None else [one.name for one in calls_of(failure.node)]
    where = f" in lines {_lines(leaves, text)}" if leaves else ""
    return f"{_SAID[failure.kind]}{where}" + (f", for {sizes}" if sizes and failure.kind != "end" else "")


def _lines(leaves: list[str], text: LoopText) -> str:
    lines = sorted(text.leaves[name].place.line for name in leaves)
    return str(lines[0]) if lines[0] == lines[-1] else f"{lines[0]} to {lines[-1]}"


def _is_certain(race: Race, old: Program) -> bool:
    """Whether the accesses of its two statements are independent of data; those of others need not be."""
    return all(access.must for name in race.pair for access in old.statement(name).accesses)


def _race(race: Race, old: Program, text: LoopText, found: Mapping[str, Instances]) -> Verdict:
    """The refutation of a race: two iterations, the statements that access one cell, and the sizes."""
    first, second = (old.statement(name) for name in race.pair)
    number = race.loop.dimension or 0
    said = [pragma.argument for pragma in text.pragmas.get(number, ())]
    if not any("parallel" in one and not may_run_in_order(one) for one in said):
        return Undecided("the iterations of a loop that is marked as independent may depend on each other")
    point = smallest_point(race.example)
    assert point is not None, "a race has an example"
    head = text.heads[number]
    iterations = [point.coordinates[place] for place in race.places]
    values = point.coordinates[race.example.unwrap().dim(isl.dim_type.in_) :]
    shown = [
        _occurrence(statement, own, race, text, found)
        for statement, own in ((first, values[: first.depth]), (second, values[first.depth :]))
    ]
    sizes = values_text(point.parameters)
    message = f"the iterations of the loop at line {head.span.line} are not independent"
    name = race.loop.iterator
    witness = f"{shown[0]} at {name} = {iterations[0]}, {shown[1]} at {name} = {iterations[1]}"
    return Refuted("parallel", message, f"{sizes}: {witness}" if sizes else witness, point.parameters)


def _occurrence(
    statement: Statement,
    instance: tuple[int, ...],
    race: Race,
    text: LoopText,
    found: Mapping[str, Instances],
) -> str:
    """A statement of the original, and its lines in the loop."""
    leaves = [one.name for one in calls_of(race.loop) if statement.name in dict(found[one.name])]
    values = values_text(dict(zip(statement.iterators, instance, strict=True)))
    said = " ".join(statement.body.place.text.split())
    return (
        f"'{said}' (line {_lines(leaves, text)}) of {values}"
        if values
        else f"'{said}' (line {_lines(leaves, text)})"
    )


_MORE = re.compile(r"\b(collapse|safelen|firstprivate|linear)\b")


def independent_loops(text: LoopText) -> dict[int, tuple[Directive, ...]]:
    """The loops marked as independent, by their number, with the pragmas that mark them."""
    found: dict[int, tuple[Directive, ...]] = {}
    for number, pragmas in text.pragmas.items():
        for pragma in pragmas:
            if is_harmless(pragma.argument):
                continue
            line = pragma.place.line
            if not is_promise(pragma.argument):
                raise Unreadable(f"the effect of '#pragma{pragma.argument}' in line {line} is not known")
            unknown = unknown_clause(pragma.argument, c_file(pragma.place.source).macro_names)
            reductions, _, last = clauses_of(pragma.argument)
            unknown = unknown or uncertain_value(pragma, dict.fromkeys(text.stored, False))
            is_plain = not (_MORE.search(pragma.argument) or runs_in_order(pragma.argument))
            if unknown is not None or reductions or last or not is_plain:
                raise Unreadable(f"the pragma in line {line} says more than that iterations are independent")
            found[number] = (*found.get(number, ()), pragma)
    return found


def shared_by_threads(text: LoopText, independent: Mapping[int, tuple[Directive, ...]]) -> Refuted | None:
    """Refutes a loop whose threads share an iterator or bound that they all assign."""
    for number, pragma in ((number, one) for number, pragmas in independent.items() for one in pragmas):
        _, private, _ = clauses_of(pragma.argument)
        if private & text.stored:
            raise Unreadable(
                f"whether every iteration has its own {min(private & text.stored)} is not known"
            )
        head = text.heads[number]
        assigned = _assigned(field(head, "body"), text.assigned)
        unset = [name for name in sorted(private - {*assigned, loop_iterator(head)}) if head.mentions(name)]
        if unset:
            raise Unreadable(f"the private {unset[0]} has no value in line {pragma.place.line}")
        if not {"parallel", "simd"} & set(names_in(pragma.argument)):
            continue
        shared = sorted(
            (at, name) for name, at in assigned.items() if name not in {*private, loop_iterator(head)}
        )
        if shared:
            at, name = shared[0]
            line, writer = pragma.place.line, head.source.line_of(at)
            if "parallel" not in pragma.argument:
                raise Unreadable(f"whether every lane of line {line} has its own {name} is not known")
            message = f"the threads of the loop at line {head.span.line} share '{name}'"
            witness = f"all of them assign it in line {writer}; no clause in line {line} makes it private"
            return Refuted("parallel", message, witness)
    return None


def _assigned(body: Node, names: frozenset[str]) -> dict[str, int]:
    """The names that a part of the source assigns, with the first position."""
    found: dict[str, int] = {}
    for part in body.of_type("assignment_expression"):
        target = without_parentheses(field(part, "left"))
        if target.text in names:
            found[target.text] = min(found.get(target.text, part.start), part.start)
    return found
