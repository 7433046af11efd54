"""From the text of a schedule to proved C, as the tests of the generator write it."""

from __future__ import annotations

from textwrap import dedent

from loopwright.emit.c import to_c
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.nodes import Node
from loopwright.loops.traverse import size
from loopwright.model.schedule import Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved
from loopwright.read import isl_flat, isl_tree, poly


def flat(schedule: str, context: str = "{ : }", options: str = "{ }") -> Schedule:
    """A flat schedule as isl's own tool reads it."""
    return isl_flat.parse(f"{schedule}\n{context}\n{options}\n", "test.in")


def tree(text: str) -> Schedule:
    return isl_tree.parse(dedent(text), "test.st")


def polyhedral(text: str) -> Schedule:
    return poly.parse(dedent(text), "test.poly")


def proved_program(schedule: Schedule, **options: object) -> Node:
    """The loops for `schedule`, proved."""
    node = generate(schedule, GenerationOptions(**options))  # type: ignore[arg-type]
    verdict = prove_scan(schedule, node)
    assert isinstance(verdict, Proved), verdict
    return node


def text(program: Node) -> str:
    return to_c(program).rstrip("\n")


def code(schedule: Schedule, **options: object) -> str:
    """The text of the proved loops."""
    return text(proved_program(schedule, **options))


def assert_no_larger(program: Node, **limits: int) -> None:
    """The counts of `loops.measure.Size` named in `limits` are not exceeded."""
    actual = {name: getattr(size(program), name) for name in limits}
    exceeded = {name: count for name, count in actual.items() if count > limits[name]}
    assert not exceeded, (exceeded, limits)


def c(text: str) -> str:
    """Expected text, written indented in the test."""
    return dedent(text).strip("\n")
