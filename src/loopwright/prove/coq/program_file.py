"""A Coq file about one program: what it is, what it is to run, and why it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.emit.c import to_c
from loopwright.loops.expressions import FALSE
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.schedule import Schedule
from loopwright.prove.coq.arithmetic import conditional, proposition
from loopwright.prove.coq.covers import steps, ways
from loopwright.prove.coq.names import comment, identifier, text, variables
from loopwright.prove.coq.order import order_steps
from loopwright.prove.coq.terms import listed, node_term
from loopwright.prove.obligations.decisions import Choice
from loopwright.prove.obligations.timetable import Shape, TimedStatement, Timetable, timetable
from loopwright.prove.obligations.witnesses import witness


@dataclass(frozen=True, eq=False)
class Named:
    """A program and its timetable, with the names of the definitions about it."""

    table: Timetable
    program: Node
    loops: str
    schedule: str
    prefix: str = ""
    """In front of the names of the other definitions."""

    @property
    def parameters(self) -> dict[str, str]:
        return variables(self.table.parameters)


def program_file(schedule: Schedule, program: Node, title: str) -> str:
    """The whole file for `program`, which is to run `schedule`."""
    named = Named(timetable(schedule, program), program, "loops", "schedule")
    parts = [
        _heading(named, title),
        "From Loopwright Require Import Tactics.",
        "(** ** The program *)",
        program_definition(named),
        "(** ** What it is to run *)",
        context_definition(named.table, "known"),
        *schedule_definitions(named, "known"),
        "(** ** The program runs its schedule. *)",
        *scanning_proof(named, "known", "loops_correct"),
        "Print Assumptions loops_correct.",
    ]
    return "\n\n".join(parts) + "\n"


def _heading(named: Named, title: str) -> str:
    where = comment(proposition(named.table.known, {}))
    sizes = ", ".join(named.table.parameters)
    every = f"For all integers {sizes} with [{where}]" if sizes else "Always"
    parallel = any(isinstance(one, For) and one.parallel for one in subprograms(named.program))
    remark = "\n    A loop marked parallel is taken in its sequential order here.\n" if parallel else ""
    return f"""(** * {comment(title)}

    The program:
<<
{indented(comment(to_c(named.program)).splitlines(), 4)}
>>
    Theorem [loops_correct], at the end: {every}, this program ends,
    having run every instance of the schedule once, nothing else, and in the schedule's order.
{remark}
    What has to be read to know what is proved: the definitions of [loops] and of
    [schedule], here; [implements], in the library.  Everything else is checked by Coq. *)"""


def indented(lines: Sequence[str], width: int) -> str:
    return "\n".join(" " * width + line for line in lines)


def program_definition(named: Named) -> str:
    lines = node_term(named.program, named.table.hint)
    return f"Definition {named.loops} : node :=\n{indented(lines, 2)}."


def _match(subject: str, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    shown = "".join(f"  | {pattern} => {value}\n" for pattern, value in cases)
    blank = ", ".join("_" for _ in subject.split(","))
    return f"match {subject} with\n{shown}  | {blank} => {otherwise}\n  end"


def context_definition(table: Timetable, name: str) -> str:
    names = variables(table.parameters)
    body = _match("p", [(listed(names.values()), proposition(table.known, names))], "False")
    return f"Definition {name} (p : list Z) : Prop :=\n  {body}."


def binders(names: Sequence[str]) -> str:
    return f" ({' '.join(names)} : Z)" if names else ""


def schedule_definitions(named: Named, known: str) -> list[str]:
    """The domain and the time of every statement, and all of them together."""
    found: list[str] = []
    entries: list[str] = []
    own = list(named.parameters.values())
    applied = "".join(f" {name}" for name in own)
    for number, statement in enumerate(named.table.statements):
        domain = definition_name("domain", statement, number, named)
        time = definition_name("time", statement, number, named)
        several = any(shape.times for shape in statement.shapes)
        if several:
            found.append(_relation(named, statement, time))
            entries.append(f"statement_at_all {text(statement.name)} (fun _ => True) ({time}{applied})")
        else:
            found.append(_domain(named, statement, domain))
            found.append(_time(named, statement, time))
            entries.append(f"statement_at {text(statement.name)} ({domain}{applied}) ({time}{applied})")
    inside = ";\n      ".join(entries)
    body = _match("p", [(listed(own), f"[\n      {inside}]")], "[]")
    names = listed(map(text, named.table.parameters))
    found.append(f"Definition {named.schedule} : program :=\n  Program {names} {known} (fun p =>\n  {body}).")
    return found


def definition_name(kind: str, statement: TimedStatement, number: int, named: Named) -> str:
    """A name for a definition about a statement, no other statement's."""
    plain = identifier(f"{named.prefix}{kind}", statement.name)
    others = [identifier(f"{named.prefix}{kind}", one.name) for one in named.table.statements]
    return plain if others.count(plain) == 1 else f"{plain}_{number}"


def argument_names(named: Named, shape: Shape) -> dict[str, str]:
    own = variables((*shape.arguments, *shape.times), named.parameters.values())
    return {**named.parameters, **own}


def _pattern(shape: Shape, names: dict[str, str]) -> str:
    return listed(names[one] for one in shape.arguments)


def _domain(named: Named, statement: TimedStatement, name: str) -> str:
    cases = []
    for shape in statement.shapes:
        names = argument_names(named, shape)
        cases.append((_pattern(shape, names), proposition(shape.domain, names)))
    body = _match("x", cases, "False")
    return f"Definition {name}{binders(list(named.parameters.values()))} (x : list Z) : Prop :=\n  {body}."


def _time(named: Named, statement: TimedStatement, name: str) -> str:
    cases = []
    for shape in statement.shapes:
        names = argument_names(named, shape)
        cases.append((_pattern(shape, names), conditional(shape.time or Choice(()), names)))
    body = _match("x", cases, "[]")
    return f"Definition {name}{binders(list(named.parameters.values()))} (x : list Z) : list Z :=\n  {body}."


def _relation(named: Named, statement: TimedStatement, name: str) -> str:
    cases = []
    for shape in statement.shapes:
        names = argument_names(named, shape)
        pattern = f"{_pattern(shape, names)}, {listed(names[one] for one in shape.times)}"
        cases.append((pattern, proposition(shape.domain, names)))
    body = _match("x, t", cases, "False")
    return f"Definition {name}{binders(list(named.parameters.values()))} (x t : list Z) : Prop :=\n  {body}."


def scanning_proof(named: Named, known: str, theorem: str) -> list[str]:
    """The four obligations as lemmas, and the theorem."""
    loops, schedule, prefix = named.loops, named.schedule, named.prefix
    place = f"(environment {schedule} p) {loops}"
    statements = f"(statements {schedule} p)"
    return [
        "(** Every loop ends, at the first value for which its test fails. *)\n"
        f"Lemma {prefix}loops_end : forall p, {known} p -> regular {place}.\n"
        "Proof. known_parameters. prove_regular. Qed.",
        "(** Nothing is missing: the call that runs an instance, and the iterations it runs in. *)\n"
        f"Lemma {prefix}nothing_missing : forall p, {known} p ->\n"
        f"  forall ev, scheduled {statements} ev -> reached {place} ev.\n"
        f"Proof.\n  known_parameters. prove_covers.\n{indented(_covers(named), 2)}\nQed.",
        "(** Nothing is extra. *)\n"
        f"Lemma {prefix}nothing_extra : forall p, {known} p ->\n"
        f"  forall ev, reached {place} ev -> scheduled {statements} ev.\n"
        "Proof. known_parameters. prove_sound. Qed.",
        "(** Nothing is twice or out of order. *)\n"
        f"Lemma {prefix}in_order : forall p, {known} p -> ordered (after {statements}) {place}.\n"
        f"Proof.\n  known_parameters.\n{indented(_order(named), 2)}\nQed.",
        f"Theorem {theorem} : implements {schedule} {loops}.\n"
        "Proof.\n  apply program_correct; [reflexivity|]. intros p Hp. constructor.\n"
        f"  - exact ({prefix}loops_end p Hp).\n"
        f"  - exact ({prefix}nothing_missing p Hp).\n"
        f"  - exact ({prefix}nothing_extra p Hp).\n"
        f"  - exact ({prefix}in_order p Hp).\nQed.",
    ]


def _entry(named: Named) -> str:
    return f"intros {' '.join([*named.parameters.values(), 'Hp'])}."


def _order(named: Named) -> list[str]:
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
        lines = ["arrive."] if tree is None else steps(tree, paths, names)
        calls = "a call" if tree is not None else "no call"
        head = f"{entry} (* {calls} for {comment(statement.name)} *)"
        found += [f"{'- ' if len(shapes) > 1 else ''}{head}"]
        found += [f"{'  ' if len(shapes) > 1 else ''}{line}" for line in lines]
    return found
