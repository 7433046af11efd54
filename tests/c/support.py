"""Reading snippets, and looking at what came out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import islpy as isl
import pytest

from loopwright.errors import BadInput, Diagnostic
from loopwright.model.program import Access, Program, Statement
from loopwright.read.c.gate.gate import gated
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import parse_c
from loopwright.source import Source

KERNELS = Path(__file__).parent / "kernels"

FIRST_LINE = 4
"""The line the body of a snippet starts on."""


def wrapped(body: str, *, head: str = "", tail: str = "") -> str:
    """`body` as the region of a function."""
    return (
        f"{head}\nvoid f(int n, int m, double *a, double *b, double A[n][n]) {{ int i, j, k;\n"
        f"#pragma scop\n{body}\n#pragma endscop\n{tail}}}\n"
    )


def region(
    body: str, *, head: str = "", tail: str = "", pure: Sequence[str] = (), assume: Sequence[str] = ()
) -> Program:
    """The program of a snippet; `head` is one line in front of the function."""
    text = wrapped(body, head=head, tail=tail)
    (program,) = parse_c(Source("t.c", text), ReadOptions(tuple(pure), tuple(assume)))
    return program


def refusal(
    body: str, *, head: str = "", tail: str = "", pure: Sequence[str] = (), assume: Sequence[str] = ()
) -> BadInput:
    """The error a snippet is refused with, or for which a part of it is left as it is."""
    try:
        program = region(body, head=head, tail=tail, pure=pure, assume=assume)
    except BadInput as failure:
        return failure
    return BadInput.of(set_aside(program))


def gate_refusal(body: str, *, head: str = "", tail: str = "") -> BadInput:
    """The error with which the typed reading refuses a snippet that is read."""
    programs = parse_c(Source("t.c", wrapped(body, head=head, tail=tail)))
    with pytest.raises(BadInput) as refused:
        gated(programs)
    return refused.value


def set_aside(program: Program) -> Diagnostic:
    """Why the first part of a program that was not understood is left as it is; there is one."""
    if not program.set_aside:
        pytest.fail("the region is read, all of it")
    return program.set_aside[0]


def underlined(error: BadInput) -> str:
    """The text the caret of a diagnostic points at."""
    span = error.span
    assert span is not None
    return span.excerpt[span.column - 1 : span.column - 1 + span.length]


def is_domain(statement: Statement, expected: str) -> bool:
    """Whether the domain is the set written in isl's notation, `[n] -> { [i] : ... }`."""
    wanted = isl.Set(expected).set_tuple_name(statement.name)
    return bool(statement.domain.is_equal(wanted))


def cells(access: Access, statement: Statement) -> str:
    """The relation without what the domain says, as isl prints it."""
    text = str(access.relation.gist_domain(statement.domain))
    return text[text.rindex("->") + 2 : -1].strip()


def reads(statement: Statement) -> list[str]:
    return [_shown(access, statement) for access in statement.reads]


def writes(statement: Statement) -> list[str]:
    return [_shown(access, statement) for access in statement.writes]


def _shown(access: Access, statement: Statement) -> str:
    return cells(access, statement) + ("" if access.must else "?")


def instances(program: Program, values: dict[str, int]) -> list[tuple[str, tuple[int, ...]]]:
    """The instances for these parameters, in the order of the schedule."""
    found: list[tuple[tuple[int, ...], str, tuple[int, ...]]] = []
    for statement in program.statements:
        space = statement.domain.get_space()
        point = isl.Set.universe(space.params())
        for name, value in values.items():
            position = space.find_dim_by_name(isl.dim_type.param, name)
            if position >= 0:
                point = point.fix_val(isl.dim_type.param, position, isl.Val(value))
        for instance in _points(statement.domain.intersect_params(point)):
            here = statement.domain.intersect_params(point)
            for position, value in enumerate(instance):
                here = here.fix_val(isl.dim_type.set, position, isl.Val(value))
            (time,) = _points(here.apply(statement.schedule))
            found.append((time, statement.name, instance))
    return [(name, instance) for _, name, instance in sorted(found)]


def _points(points: isl.Set) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    count = points.dim(isl.dim_type.set)

    def visit(point: isl.Point) -> None:
        found.append(
            tuple(int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in range(count))
        )

    points.foreach_point(visit)
    return found
