"""What a Coq file defines about one program: its loops, and what each statement runs, when, and touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from textwrap import wrap

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import TRUE
from loopwright.loops.nodes import Node
from loopwright.prove.coq.arithmetic import Names, conditional, proposition, vector
from loopwright.prove.coq.names import comment, identifier, text, variables
from loopwright.prove.coq.terms import listed, node_term
from loopwright.prove.obligations.cells import Cell, StatementCells
from loopwright.prove.obligations.decisions import Decided
from loopwright.prove.obligations.timetable import Shape, TimedStatement, Timetable


@dataclass(frozen=True)
class SourceText:
    """A statement in the text of its file."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, eq=False)
class Named:
    """A program and its timetable, with the names of the definitions about it."""

    table: Timetable
    program: Node
    loops: str
    schedule: str
    prefix: str = ""
    """Before the names of the other definitions."""
    shared: frozenset[str] = frozenset()
    """Statements whose domain is defined once, for this program and another, and has no prefix."""
    sources: Mapping[str, SourceText] = field(default_factory=dict)
    """Where statements come from, by name, where that is known."""

    def place(self, statement: str) -> str:
        """The statement's name and, where it is known, its line."""
        source = self.sources.get(statement)
        return comment(statement if source is None else f"{statement}, line {source.line}")

    @property
    def parameters(self) -> dict[str, str]:
        return variables(self.table.parameters)


def indented(lines: Sequence[str], width: int) -> str:
    return "\n".join(" " * width + line for line in lines)


def program_definition(named: Named) -> str:
    lines = node_term(named.program, named.table.hint)
    return f"Definition {named.loops} : node := <{{\n{indented(lines, 2)}\n}}>."


def _match(subject: str, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    shown = "".join(f"  | {pattern} => {value}\n" for pattern, value in cases)
    blank = ", ".join("_" for _ in subject.split(","))
    return f"match {subject} with\n{shown}  | {blank} => {otherwise}\n  end"


def context_definition(table: Timetable) -> str:
    names = variables(table.parameters)
    body = _match("p", [(listed(names.values()), proposition(table.known, names))], "False")
    return f"Definition known (p : list Z) : Prop :=\n  {body}."


def every(table: Timetable, first: str) -> str:
    """For which values of the parameters, in words that start with `first`, "for" or "For"."""
    if not table.parameters:
        return f"{first} this program"
    sizes = f"{first} all integers {', '.join(table.parameters)}"
    return sizes if table.known == TRUE else f"{sizes} with [{comment(proposition(table.known, {}))}]"


def binders(names: Sequence[str]) -> str:
    return f" ({' '.join(names)} : Z)" if names else ""


def applied(named: Named) -> str:
    """The parameters as arguments."""
    return "".join(f" {name}" for name in named.parameters.values())


def schedule_definitions(named: Named, *, again: bool = False) -> list[str]:
    """The domain and the time of every statement, and all of them together.

    `again`: the domains that are shared with another program have been defined with that one.
    """
    found: list[str] = []
    entries: list[str] = []
    own = list(named.parameters.values())
    for statement in named.table.statements:
        domain, time = domain_name(named, statement), time_name(named, statement)
        if any(shape.times for shape in statement.shapes):
            found.append(_relation(named, statement, time))
            entries.append(
                f"statement_at_all {text(statement.name)} (fun _ => True) ({time}{applied(named)})"
            )
            continue
        if not (again and statement.name in named.shared):
            about = remark(named, statement.name, "Its iterations:", SHORT)
            found.append(about + _domain(named, statement, domain))
        found.append(f"(** {_when(named, statement.name, again=again)} *)\n{_time(named, statement, time)}")
        entries.append(statement_term(named, statement))
    inside = ";\n      ".join(entries)
    body = _match("p", [(listed(own), f"[\n      {inside}]")], "[]")
    names = listed(map(text, named.table.parameters))
    found.append(f"Definition {named.schedule} : program :=\n  Program {names} known (fun p =>\n  {body}).")
    return found


def _when(named: Named, statement: str, *, again: bool) -> str:
    """What the definition of a time is, after that of the statement's domain or, `again`, alone."""
    if again:
        return f"The new time of {comment(statement)}:"
    return "Its time in the original:" if named.sources else "Its time:"


def remark(named: Named, statement: str, what: str, width: int | None = None) -> str:
    """What a definition about the statement is; its text where it is known, or the first `width` letters."""
    source = named.sources.get(statement)
    if source is None:
        return f"(** {comment(statement)}.  {what} *)\n"
    text = source.text if width is None or len(source.text) <= width else f"{source.text[:width]} ..."
    words = f"(** {comment(statement)} is [{comment(text)}], line {source.line}.  {what} *)"
    return "\n    ".join(wrap(words, WIDTH)) + "\n"


WIDTH = 96
"""Of a comment."""
SHORT = 70
"""How much of a statement is enough to know it."""


def statement_term(named: Named, statement: TimedStatement) -> str:
    """The statement with its domain and its time, for given parameters."""
    domain, time = domain_name(named, statement), time_name(named, statement)
    return f"statement_at {text(statement.name)} ({domain}{applied(named)}) ({time}{applied(named)})"


def domain_name(named: Named, statement: TimedStatement) -> str:
    return _name("domain" if statement.name in named.shared else f"{named.prefix}domain", statement, named)


def time_name(named: Named, statement: TimedStatement) -> str:
    return _name(f"{named.prefix}time", statement, named)


def label(named: Named, statement: TimedStatement) -> str:
    """What the statement is called in the names of lemmas about it."""
    return _name("", statement, named).removeprefix("_") or "statement"


def _name(kind: str, statement: TimedStatement, named: Named) -> str:
    """A name for a definition about a statement, no other statement's."""
    names = [identifier(kind, one.name) for one in named.table.statements]
    own = [one.name for one in named.table.statements].index(statement.name)
    return names[own] if names.count(names[own]) == 1 else f"{names[own]}_{own}"


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
        cases.append((_pattern(shape, names), conditional(shape.time or Decided(()), names)))
    body = _match("x", cases, "[]")
    return f"Definition {name}{binders(list(named.parameters.values()))} (x : list Z) : list Z :=\n  {body}."


def _relation(named: Named, statement: TimedStatement, name: str) -> str:
    cases = []
    for shape in statement.shapes:
        names = argument_names(named, shape)
        pattern = f"{_pattern(shape, names)}, {listed(names[one] for one in shape.times)}"
        cases.append((pattern, proposition(shape.domain, names)))
    body = _match("x, at_time", cases, "False")
    sizes = binders(list(named.parameters.values()))
    return f"Definition {name}{sizes} (x at_time : list Z) : Prop :=\n  {body}."


# -- what each statement may read and write ------------------------------------------------------------


def use_definitions(uses: Sequence[StatementCells], named: Named) -> list[str]:
    """The accesses of every statement, in the order of the timetable, and all of them as `memory_use`."""
    by_name = {use.statement: use for use in uses}
    labels = {one.name: label(named, one) for one in named.table.statements}
    inside = "; ".join(f"use_{one}{applied(named)}" for one in labels.values())
    together = (
        f"Definition memory_use (p : list Z) : accesses :=\n"
        f"  match p with\n  | {listed(named.parameters.values())} => accesses_of [{inside}]\n"
        f"  | _ => accesses_of []\n  end."
    )
    return [*(_use(by_name[name], one, named) for name, one in labels.items()), together]


def _use(use: StatementCells, name: str, named: Named) -> str:
    """The accesses as lists of cells."""
    own = variables(use.arguments, named.parameters.values())
    names = {**named.parameters, **own}
    pattern = listed(own.values())
    parts = [
        f"    (fun x => match x with {pattern} => {_cells(cells, names)} | _ => [] end)"
        for cells in (use.reads, use.writes)
    ]
    head = f"Definition use_{name}{binders(list(named.parameters.values()))} : access :="
    about = remark(named, use.statement, "It may read, and may write:")
    return about + "\n".join([head, f"  Access {text(use.statement)}", *parts]) + "."


def _cells(cells: Sequence[Cell], names: Names) -> str:
    return listed(f"({text(one.array)}, {vector(one.subscripts, names)})" for one in cells)
