"""What Coq cannot check: that the definitions in a file describe the C program.  They are compared here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from loopwright.generate.program import generate
from loopwright.loops.expressions import Or
from loopwright.loops.interpreter import evaluate
from loopwright.loops.nodes import Call, Node
from loopwright.loops.traverse import with_children
from loopwright.model.program import Program, Statement
from loopwright.presburger.points import Point, smallest_point
from loopwright.prove.certificates import checker, problems
from loopwright.prove.certificates.checker import Checked
from loopwright.prove.certificates.problems import change_problem
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.obligations.cells import Cell, StatementCells, touched
from loopwright.prove.obligations.legality import Side, both_sides
from loopwright.prove.verdict import NOT_CHECKED
from loopwright.read.c.reader import read_c, read_source
from loopwright.source import Source
from loopwright.transform import to_schedule, transform
from tests.coq.support import change_status
from tests.coq.test_transformations import STENCIL
from tests.transform.support import planned

KERNELS = sorted((Path(__file__).resolve().parents[2] / "kernels").glob("*.c"))
REFERENCE = re.compile(r"\b([A-Za-z_]\w*)\b((?:\s*\[[^][]*\])*)(?!\s*\()")
COMPOUND = re.compile(r"[^=;]*[-+*/]=")
LARGE = 12
"""Sizes at which different subscripts are different numbers."""


def by_the_reader(cells: tuple[Cell, ...], at: dict[str, int]) -> set[tuple[str, tuple[int, ...]]]:
    return {(cell.array, tuple(evaluate(one, at) for one in cell.subscripts)) for cell in cells}


def by_the_text(text: str, program: Program, at: dict[str, int]) -> list[tuple[str, tuple[int, ...]]]:
    """The references of a statement, from the left, subscripts as Python computes them."""
    names = {array.name for array in program.arrays}
    return [
        (name, tuple(eval(one, {}, dict(at)) for one in re.findall(r"\[([^][]*)\]", subscripts)))
        for name, subscripts in REFERENCE.findall(text)
        if name in names
    ]


def instance(program: Program, statement: Statement) -> Point:
    domain = statement.domain.intersect_params(program.context.params())
    for k in range(domain.dim(isl.dim_type.param)):
        domain = domain.lower_bound_val(isl.dim_type.param, k, isl.Val(LARGE + k))
    point = smallest_point(domain)
    assert point is not None
    return point


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_the_accesses_of_a_kernel_are_those_in_its_text(path: Path) -> None:
    """`memory_use`, which every theorem speaks of, against the references that a regular expression finds."""
    for program in read_c(path):
        for statement, use in zip(program.statements, touched(program), strict=True):
            point = instance(program, statement)
            at = {**point.parameters, **dict(zip(statement.iterators, point.coordinates, strict=True))}
            place = statement.body.place
            found = by_the_text(program.source.text[place.start : place.end], program, at)
            read = found if COMPOUND.match(program.source.text, place.start) else found[1:]
            assert by_the_reader(use.reads, at) == set(read), statement.name
            assert by_the_reader(use.writes, at) == {found[0]}, statement.name


@pytest.mark.usefixtures("built")
def test_accesses_that_are_forgotten_make_no_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer of problems that forgets the neighbours would have an illegal interchange accepted."""

    def forgetful(program: Program, steps: object = None) -> tuple[StatementCells, ...]:
        return tuple(replace(use, reads=use.writes) for use in touched(program))

    plan = planned(STENCIL, "interchange(Loop, t, i)")
    assert not prove_plan(plan).proved
    node = generate(to_schedule(plan))
    monkeypatch.setattr(problems, "touched", forgetful)
    terms = change_problem(plan.original, plan.program, node).terms
    assert isinstance(checker.asked(terms, 20), Checked)
    assert change_status(plan.original, plan.program, node, seconds=20).status == NOT_CHECKED


RECURRENCE = "for (int i = 1; i < n; i++) { S: b[i] = b[i - 1] + a[i]; T: a[i] = b[i] * 2; }"
FAULTS: dict[str, Callable[[Side, Side], tuple[Side, Side]]] = {
    "context": lambda old, new: (
        (replace(old[0], known=Or(())), old[1]),
        (replace(new[0], known=Or(())), new[1]),
    ),
    "schedule": lambda old, new: (old, (old[0], new[1])),
    "loops": lambda old, new: (old, (new[0], old[1])),
    "original": lambda old, new: ((old[0], new[1]), new),
    "statement": lambda old, new: (old, (new[0], renamed_calls(new[1]))),
}


def renamed_calls(node: Node) -> Node:
    if isinstance(node, Call):
        return replace(node, name={"S1": "S2", "S2": "S1"}[node.name])
    return with_children(node, renamed_calls)


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_what_writes_problems_make_no_yes(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong plan, and a program beside the checker that confuses what it gives it."""
    region = f"#pragma scop\n{RECURRENCE}\n#pragma endscop\n"
    text = f"void f(int n, double a[restrict n], double b[restrict n]) {{\n{region}}}\n"
    (program,) = read_source(Source("k.c", text))
    plan = transform(program, "reverse(S, i)", "s.lw")
    node = generate(to_schedule(plan))

    def wrong(original: Program, new: Program, loops: Node, text: Node | None) -> tuple[Side, Side]:
        return FAULTS[fault](*both_sides(original, new, loops, text))

    monkeypatch.setattr(problems, "both_sides", wrong)
    assert change_status(plan.original, plan.program, node, seconds=20).status == NOT_CHECKED
