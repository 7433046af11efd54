"""Finds tests of blocks of iterations before them, and rewrites a region without them.

    int hit;
    for (t) {                                       for (t) {
      hit = 0;                                        ;
      for (int i ..) hit |= c;                        ;
      for (int i ..) if (hit) if (c) b;               for (int i ..) if (c) b;
    }                                               }

Whether both do the same is not decided here: `prove.comparison.tested_blocks` proves it.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c.syntax import Node, field, named_children, operator, without_parentheses
from loopwright.c.tokens import spelled
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

_TYPES = (["int"], ["long", "long"])


@dataclass(frozen=True)
class TestPlaces:
    """The places of `hit = 0;`, of `hit |= c;` and of `if (hit) if (c) b`."""

    clear: Span
    test: Span
    run: Span


@dataclass(frozen=True)
class WithoutTests:
    """The source without the tests of one variable, and where they were."""

    source: Source
    places: tuple[TestPlaces, ...]


def without_tests(source: Source, block: Node) -> WithoutTests | None:
    """The source without the tests of the first such variable in a region; None if there is none."""
    for declaration in block.of_type("declaration"):
        words = spelled(declaration.text)
        if len(words) < 3 or words[:-2] not in _TYPES or words[-1] != ";":
            continue
        found = _uses(block, words[-2])
        edits = sorted(_edits(declaration, found)) if found else []
        if edits:
            places = (TestPlaces(*(one.span for one in several)) for several in found)
            return WithoutTests(source.edited(edits), tuple(places))
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
