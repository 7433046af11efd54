"""What the pragmas of a text say of its loops: which are independent, and what each thread has of its own.

Of clauses, `private` of iterators and bounds is known here, and those that say who runs what; reductions
and private values are for `prove.text.annotations`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from loopwright.c.file import c_file
from loopwright.c.loops import loop_iterator
from loopwright.c.regions import Directive
from loopwright.c.syntax import Node, field, without_parentheses
from loopwright.prove.descent.reading import LoopText
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.annotations import clauses_of, is_harmless, is_promise
from loopwright.prove.text.clauses import runs_in_order, uncertain_value, unknown_clause
from loopwright.prove.verdict import Refuted

_MORE = re.compile(r"\b(collapse|safelen|firstprivate|linear)\b")


def independent_loops(text: LoopText) -> dict[int, tuple[Directive, ...]]:
    """The loops that are said to be independent, by their number, with the pragmas that say so."""
    found: dict[int, tuple[Directive, ...]] = {}
    for number, pragmas in text.pragmas.items():
        for pragma in pragmas:
            if is_harmless(pragma.argument):
                continue
            line = pragma.place.line
            if not is_promise(pragma.argument):
                raise Unreadable(f"nothing is known of what '#pragma{pragma.argument}' in line {line} does")
            unknown = unknown_clause(pragma.argument, c_file(pragma.place.source).macro_names)
            reductions, _, last = clauses_of(pragma.argument)
            unknown = unknown or uncertain_value(pragma, dict.fromkeys(text.stored, False))
            is_plain = not (_MORE.search(pragma.argument) or runs_in_order(pragma.argument))
            if unknown is not None or reductions or last or not is_plain:
                raise Unreadable(f"the pragma in line {line} says more than that iterations are independent")
            found[number] = (*found.get(number, ()), pragma)
    return found


def shared_by_threads(text: LoopText, independent: Mapping[int, tuple[Directive, ...]]) -> Refuted | None:
    """An iterator or bound that the threads of a loop share, and all assign."""
    for number, pragma in ((number, one) for number, pragmas in independent.items() for one in pragmas):
        _, private, _ = clauses_of(pragma.argument)
        if private & text.stored:
            raise Unreadable(
                f"whether every iteration has its own {min(private & text.stored)} is not known here"
            )
        if "parallel" not in pragma.argument:
            continue
        head = text.heads[number]
        assigned = _assigned(field(head, "body"), text.assigned)
        shared = sorted(
            (at, name) for name, at in assigned.items() if name not in {*private, loop_iterator(head)}
        )
        if shared:
            at, name = shared[0]
            line, writer = pragma.place.line, head.source.line_of(at)
            message = f"the threads of the loop at line {head.span.line} share '{name}'"
            witness = f"all of them assign it in line {writer}; no clause in line {line} makes it private"
            return Refuted("parallel", message, witness)
    return None


def _assigned(body: Node, names: frozenset[str]) -> dict[str, int]:
    """Which of the names a part of the text assigns, and where first."""
    found: dict[str, int] = {}
    for part in body.of_type("assignment_expression"):
        target = without_parentheses(field(part, "left"))
        if target.text in names:
            found[target.text] = min(found.get(target.text, part.start), part.start)
    return found
