"""That a program runs its schedule, for Coq: the four obligations as lemmas, and the theorem.

A theorem about all sizes in a context that has none, or about statements that never run, would be true of
any program.  So there are examples, which Coq checks: sizes for which each statement has an instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import FALSE
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.presburger.points import smallest_point
from loopwright.prove.coq.arithmetic import Names, argument, proposition
from loopwright.prove.coq.names import branch, comment
from loopwright.prove.coq.order import Order, order_steps
from loopwright.prove.coq.statements import Named, argument_names, domain_name, indented, label
from loopwright.prove.coq.terms import integer, listed
from loopwright.prove.coq.words import is_marked
from loopwright.prove.obligations.decisions import Cases, Decided, Decision
from loopwright.prove.obligations.timetable import Shape, TimedStatement
from loopwright.prove.obligations.witnesses import Witness, witness

ORDER = {
    True: "of any two executions the earlier has the earlier time.",
    False: "of any two executions the earlier\n    is another instance, and its time is not the later one.",
}


def scanning_proof(named: Named, theorem: str) -> list[str]:
    """The four obligations as lemmas, and the theorem."""
    loops, schedule, prefix = named.loops, named.schedule, named.prefix
    place = f"(environment {schedule} p) {loops}"
    statements = f"(statements {schedule} p)"
    order = _order(named)
    relation, weaker = ("sooner", "strictly_ordered _ _ _ ") if order.strict else ("after", "")
    in_order = f"({prefix}in_order p Hp)" if order.strict else f"{prefix}in_order p Hp"
    return [
        "(** Every loop ends: its test holds up to some value of the iterator and not after it. *)\n"
        f"Lemma {prefix}loops_end : forall p, known p -> regular {place}.\n"
        "Proof. known_parameters. prove_regular. Qed.",
        "(** Nothing is missing: for an instance of each statement, the way through the program to the\n"
        "    call that runs it, with the iteration of each loop. *)\n"
        f"Lemma {prefix}nothing_missing : forall p, known p ->\n"
        f"  forall ev, scheduled {statements} ev -> reached {place} ev.\n"
        f"Proof.\n  known_parameters. prove_covers.\n{indented(_covers(named), 2)}\nQed.",
        "(** Nothing is extra: every call has arguments in the domain of its statement. *)\n"
        f"Lemma {prefix}nothing_extra : forall p, known p ->\n"
        f"  forall ev, reached {place} ev -> scheduled {statements} ev.\n"
        "Proof. known_parameters. prove_sound. Qed.",
        f"(** Nothing is twice or out of order: {ORDER[order.strict]} *)\n"
        f"Lemma {prefix}in_order : forall p, known p ->\n"
        f"  ordered ({relation} {statements}) {place}.\n"
        f"Proof.\n  known_parameters.\n{indented(order.lines, 2)}\nQed.",
        f"(** Together: for all parameters [{loops}] ends, having run all instances of [{schedule}], each\n"
        "    once, nothing else, and in its order. *)\n"
        f"Theorem {theorem} : implements {schedule} {loops}.\n"
        "Proof.\n  apply program_correct; [reflexivity|]. intros p Hp. constructor.\n"
        f"  - exact ({prefix}loops_end p Hp).\n"
        f"  - exact ({prefix}nothing_missing p Hp).\n"
        f"  - exact ({prefix}nothing_extra p Hp).\n"
        f"  - exact ({weaker}{in_order}).\nQed.",
    ]


def _entry(named: Named) -> str:
    return f"intros {' '.join([*named.parameters.values(), 'Hp'])}."


def _order(named: Named) -> Order:
    entry = f"for_all_parameters. {_entry(named)}"
    return order_steps(named.table, named.program, named.parameters, entry)


def _covers(named: Named) -> list[str]:
    """One part for each statement and number of arguments that has instances."""
    paths = ways(named.program)
    found: list[str] = []
    shapes = [
        (statement, shape)
        for statement in named.table.statements
        for shape in statement.shapes
        if shape.domain != FALSE
    ]
    for statement, shape in shapes:
        names = argument_names(named, shape)
        own = [names[one] for one in (*shape.arguments, *shape.times)]
        entry = f"intros {' '.join([*named.parameters.values(), 'Hp', *own, 'H'])}."
        tree = witness(shape)
        lines = ["no_instance."] if tree is None else steps(tree, paths, names)
        remark = "" if tree is not None else ": no call"
        head = f"{entry} (* {named.place(statement.name)}{remark} *)"
        found += [f"{'- ' if len(shapes) > 1 else ''}{head}"]
        found += [f"{'  ' if len(shapes) > 1 else ''}{line}" for line in lines]
    return found


# -- examples -------------------------------------------------------------------------------------------


def sample_examples(named: Named) -> list[str]:
    """An example for every statement; where one has no instances, that is said."""
    if smallest_point(named.table.context) is None:
        return ["(** No values of the parameters are possible, so that nothing is said here. *)"]
    found = [_example(named, statement) for statement in named.table.statements]
    return [ABOUT, *(one for one in found if one)] if any(found) else []


ABOUT = """\
(** ** This is about something: sizes that are allowed, and an instance of each statement. *)"""


def _example(named: Named, statement: TimedStatement) -> str:
    """Nothing is shown where instances have several times: these are in the proof of coverage."""
    shapes = [shape for shape in statement.shapes if not shape.times]
    points = [(shape, smallest_point(_possible(named, shape))) for shape in shapes]
    point = next((point for _, point in points if point is not None), None)
    if not shapes:
        return ""
    if point is None:
        return f"(** {comment(statement.name)} has no instance. *)"
    sizes = [integer(point.parameters.get(name, 0)) for name in named.table.parameters]
    at = "".join(f" {size}" for size in sizes)
    instance = listed(map(integer, point.coordinates))
    return (
        f"Example instance_{label(named, statement)} : "
        f"known {listed(sizes)} /\\ {domain_name(named, statement)}{at} {instance}.\n"
        "Proof. formula_holds. Qed."
    )


def _possible(named: Named, shape: Shape) -> isl.Set:
    return shape.wanted.intersect_params(named.table.context.params())


@dataclass(frozen=True)
class Iteration:
    """Into the loop whose iterator is this dimension."""

    dimension: int


Step: TypeAlias = str | Iteration


def ways(program: Node) -> list[tuple[Step, ...]]:
    """For each call, in the order of the text, the steps from the root to it."""
    return list(_ways(program, (), 0))


def _ways(node: Node, so_far: tuple[Step, ...], depth: int) -> Iterator[tuple[Step, ...]]:
    match node:
        case Call():
            yield so_far
        case Block(children):
            for k, child in enumerate(children):
                yield from _ways(child, (*so_far, f"Child {k}"), depth)
        case If(_, then, orelse):
            yield from _ways(then, (*so_far, "Yes"), depth)
            if orelse is not None:
                yield from _ways(orelse, (*so_far, "No"), depth)
        case For(body=body):
            mark = ("Enter",) if is_marked(node) else ()
            yield from _ways(body, (*so_far, *mark, Iteration(depth)), depth + 1)
        case Let(body=body):
            yield from _ways(body, (*so_far, "Enter"), depth + 1)
        case Remarked(body=body):
            yield from _ways(body, (*so_far, "Enter"), depth)
        case _:
            assert_never(node)


def steps(tree: Decision[Witness], paths: list[tuple[Step, ...]], names: Names) -> list[str]:
    """The lines of the proof."""
    match tree:
        case Decided(found):
            return _wrapped([_step(one, found, names) for one in paths[found.position]])
        case Cases(test, yes, no):
            return [
                f"cases ({proposition(test, names)}).",
                *branch(steps(yes, paths, names)),
                *branch(steps(no, paths, names)),
            ]


def _step(step: Step, found: Witness, names: Names) -> str:
    match step:
        case Iteration(dimension):
            return f"Iterate {argument(found.iterators[dimension], names)}"
        case _:
            return step


def _wrapped(path: list[str], width: int = 90) -> list[str]:
    lines = ["run_by ["]
    for k, one in enumerate(path):
        shown = f"{one}; " if k < len(path) - 1 else one
        if len(lines[-1]) + len(shown) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append("  ")
        lines[-1] += shown
    return [*lines[:-1], f"{lines[-1]}]."]
