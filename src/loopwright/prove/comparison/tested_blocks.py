"""Compares with a source that tests the conditions of blocks of iterations before them.

    int hit;
    for (t) {                                       for (t) {
      hit = 0;                                        ;
      for (int i ..) hit |= c;                        ;
      for (int i ..) if (hit) if (c) b;               for (int i ..) if (c) b;
    }                                               }

OLD            what it is to do
plain          NEW without the tests, compared with OLD as any other source
plain, timed   the same instances at the times that they have in NEW: a proved order of plain
NEW            what `prove.legality.pretests` proves of these two, both as their texts are read
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from loopwright.c.file import c_file
from loopwright.c.syntax import Node, field, named_children, operator, without_parentheses
from loopwright.c.tokens import spelled
from loopwright.errors import BadInput, Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program, Statement
from loopwright.presburger.sets import IN
from loopwright.progress import Progress
from loopwright.prove.comparison.programs import prove_equivalent
from loopwright.prove.equivalence.answer import Equivalence
from loopwright.prove.equivalence.unset import prove_lifetimes
from loopwright.prove.legality.legality import prove_legal
from loopwright.prove.legality.pretests import TestedStatement, prove_tested
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.annotations import prove_annotations
from loopwright.prove.text.correspondence import prove_model
from loopwright.prove.verdict import Proved
from loopwright.read.c.gate.gate import gated
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import parse_c
from loopwright.source import Edit, Source, Span

PAST_TESTS = ", without tests of blocks that are proved to change nothing"


def prove_past_tests(
    old: Program,
    new: Program,
    *,
    reading: ReadOptions,
    allow_reassociation: bool = False,
    from_text: bool = False,
    progress: Progress,
) -> Equivalence:
    """Decides what `prove_equivalent` does, for a NEW with such tests too."""
    compared = partial(prove_equivalent, allow_reassociation=allow_reassociation, progress=progress)
    found = _without_tests(new.source, new.syntax)
    if found is not None:
        number = [one.place for one in c_file(new.source).regions].index(new.region)
        progress("proving that tests of blocks change nothing")
        known = _without(found, new.source, number, reading)
        if known is not None:
            plain, obligations = known
            answer = prove_past_tests(
                old, plain, reading=reading, allow_reassociation=allow_reassociation, progress=progress
            )
            if isinstance(answer.verdict, Proved):
                proved = Proved(answer.verdict.obligations + obligations)
                way = answer.way.removesuffix(PAST_TESTS) + PAST_TESTS
                return replace(answer, verdict=proved, way=way, texts=None)
    return compared(old, new, from_text=from_text)


def _without(
    found: _WithoutTests, source: Source, number: int, reading: ReadOptions
) -> tuple[Program, int] | None:
    """The program of the source without tests, and the obligations of the proof that it does what NEW does.

    None if that is not proved: then NEW is compared as it is.
    """
    try:
        new, plain = (gated(parse_c(one, reading), reading)[number] for one in (source, found.source))
        return plain, _proved(new, plain, found)
    except (BadInput, GaveUp, Unreadable):
        return None


def _proved(new: Program, plain: Program, found: _WithoutTests) -> int:
    """The obligations of the proof; raises GaveUp if a part fails."""
    obligations = 0
    for verdict in (
        prove_model(new),
        prove_annotations(new, allow_reassociation=False),
        prove_lifetimes(new, new.context),
    ):
        if not isinstance(verdict, Proved):
            raise GaveUp(Code.UNDECIDED, "the text with tests is not proved")
        obligations += verdict.obligations
    at = {one.body.place.start: one.name for one in new.statements}
    tested = [TestedStatement(*(_named(at, place.start) for place in one)) for one in _places(found)]
    added = {name for one in tested for name in (one.clear, one.test)}
    kept = [one for one in new.statements if one.name not in added]
    if len(kept) != len(plain.statements):
        raise GaveUp(Code.UNDECIDED, "without tests there are other statements")
    both = list(zip(plain.statements, kept, strict=True))
    untimed = replace(plain, statements=tuple(_renamed(one, other) for one, other in both))
    timed = replace(
        untimed,
        statements=tuple(
            replace(one, schedule=other.schedule) for one, other in zip(untimed.statements, kept, strict=True)
        ),
    )
    order = prove_legal(untimed, timed)
    if not order.proved:
        raise GaveUp(Code.UNDECIDED, "without tests the order is another one")
    return obligations + order.obligations + prove_tested(timed, new, tested)


def _places(found: _WithoutTests) -> list[tuple[Span, Span, Span]]:
    return [(one.run, one.clear, one.test) for one in found.places]


def _named(at: Mapping[int, str], start: int) -> str:
    if start not in at:
        raise GaveUp(Code.UNDECIDED, "a test is no statement of its own")
    return at[start]


def _renamed(statement: Statement, other: Statement) -> Statement:
    """The statement with the name of another."""
    name = other.domain.get_tuple_id()
    return replace(
        statement,
        name=other.name,
        domain=statement.domain.set_tuple_id(name),
        schedule=statement.schedule.set_tuple_id(IN, name),
        accesses=tuple(
            replace(one, relation=one.relation.set_tuple_id(IN, name)) for one in statement.accesses
        ),
    )


_TYPES = (["int"], ["long", "long"])


@dataclass(frozen=True)
class _TestPlaces:
    """The places of `hit = 0;`, of `hit |= c;` and of `if (hit) if (c) b`."""

    clear: Span
    test: Span
    run: Span


@dataclass(frozen=True)
class _WithoutTests:
    """The source without the tests of one variable, and where they were."""

    source: Source
    places: tuple[_TestPlaces, ...]


def _without_tests(source: Source, block: Node) -> _WithoutTests | None:
    """The source without the tests of the first such variable in a region; None if there is none."""
    for declaration in block.of_type("declaration"):
        words = spelled(declaration.text)
        if len(words) < 3 or words[:-2] not in _TYPES or words[-1] != ";":
            continue
        found = _uses(block, words[-2])
        edits = sorted(_edits(declaration, found)) if found else []
        if edits:
            places = (_TestPlaces(*(one.span for one in several)) for several in found)
            return _WithoutTests(source.edited(edits), tuple(places))
    return None


def _uses(block: Node, name: str) -> list[tuple[Node, Node, Node]]:
    """The tests with this variable, each with what clears it and what it decides; [] for other uses."""
    clear: list[Node] = []
    test: list[Node] = []
    for statement in block.of_type("expression_statement"):
        inner = statement.only_expression
        if inner is None or inner.type != "assignment_expression" or field(inner, "left").text != name:
            continue
        if operator(inner) == "=" and field(inner, "right").text == "0":
            clear.append(statement)
        elif operator(inner) == "|=":
            test.append(statement)
    run = [
        one
        for one in block.of_type("if_statement")
        if one.child_by_field_name("alternative") is None
        and without_parentheses(field(one, "condition")).text == name
    ]
    uses = [one for one in block.of_type("identifier") if one.text == name]
    if len({len(clear), len(test), len(run)}) > 1 or len(uses) != 1 + 3 * len(run):
        return []
    return list(zip(clear, test, run, strict=True))


def _edits(declaration: Node, found: list[tuple[Node, Node, Node]]) -> Iterator[Edit]:
    yield declaration.span.reworded()
    for clear, test, run in found:
        yield clear.span.reworded(";")
        yield _alone(test).span.reworded(";")
        guard = run.span.source.at(run.start, field(run, "consequence").start - run.start)
        yield guard.reworded()


def _alone(statement: Node) -> Node:
    """The outermost statement that does nothing but this one; its loops declare their iterators."""
    outer = statement.parent
    while outer is not None and outer.parent is not None and outer.parent.type != "function_definition":
        match outer.type:
            case "compound_statement" if named_children(outer) == [statement]:
                pass
            case "for_statement" if (head := outer.child_by_field_name("initializer")) is not None and (
                head.type == "declaration"
            ):
                pass
            case "if_statement" if outer.child_by_field_name("alternative") is None:
                pass
            case _:
                break
        statement, outer = outer, outer.parent
    return statement
