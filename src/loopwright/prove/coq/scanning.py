"""That a program runs its schedule, for Coq: the four obligations as lemmas, and the theorem."""

from __future__ import annotations

from loopwright.loops.expressions import FALSE
from loopwright.prove.coq.covers import steps, ways
from loopwright.prove.coq.order import Order, order_steps
from loopwright.prove.coq.statements import Named, argument_names, indented
from loopwright.prove.obligations.witnesses import witness

ORDER = {
    True: "of any two executions the earlier has the earlier time.",
    False: "of any two executions the earlier\n    is another instance, and its time is not the later one.",
}


def scanning_proof(named: Named, known: str, theorem: str) -> list[str]:
    """The four obligations as lemmas, and the theorem."""
    loops, schedule, prefix = named.loops, named.schedule, named.prefix
    place = f"(environment {schedule} p) {loops}"
    statements = f"(statements {schedule} p)"
    order = _order(named)
    relation, weaker = ("sooner", "strictly_ordered _ _ _ ") if order.strict else ("after", "")
    in_order = f"({prefix}in_order p Hp)" if order.strict else f"{prefix}in_order p Hp"
    return [
        "(** Every loop ends: its test holds up to some value of the iterator and not after it. *)\n"
        f"Lemma {prefix}loops_end : forall p, {known} p -> regular {place}.\n"
        "Proof. known_parameters. prove_regular. Qed.",
        "(** Nothing is missing: for an instance of each statement, the way through the program to the\n"
        "    call that runs it, with the iteration of each loop. *)\n"
        f"Lemma {prefix}nothing_missing : forall p, {known} p ->\n"
        f"  forall ev, scheduled {statements} ev -> reached {place} ev.\n"
        f"Proof.\n  known_parameters. prove_covers.\n{indented(_covers(named), 2)}\nQed.",
        "(** Nothing is extra: every call has arguments in the domain of its statement. *)\n"
        f"Lemma {prefix}nothing_extra : forall p, {known} p ->\n"
        f"  forall ev, reached {place} ev -> scheduled {statements} ev.\n"
        "Proof. known_parameters. prove_sound. Qed.",
        f"(** Nothing is twice or out of order: {ORDER[order.strict]} *)\n"
        f"Lemma {prefix}in_order : forall p, {known} p ->\n"
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
