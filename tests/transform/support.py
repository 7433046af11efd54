"""Programs, scripts, and what the loops made of them really execute."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput
from loopwright.generate.program import generate
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.prove.legality.plans import independent_loops
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved
from loopwright.transform import Plan, flat_schedule, to_schedule, transform
from tests.c.support import instances, region

FIGURE_3A = """\
for (i = 0; i < n; i++) {
  for (j = 0; j < n; j++) {
    L1: a[i] = 0;
  }
  for (j = 0; j < n; j++) {
    L2: b[i] = 0;
  }
}"""

FIGURE_4A = """\
for (i = 0; i < n; i++) {
  for (j = 0; j < n; j++) {
    L1: a[i] = 0;
        b[i] = 1;
  }
}
for (i = 0; i < n; i++) {
  for (j = 0; j < n; j++) {
    L2: a[i] = 2;
        b[i] = 3;
  }
  for (j = 0; j < n; j++) {
    L3: a[i] = 4;
        b[i] = 5;
  }
}"""

MATMUL = """\
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++) {
    Init: A[i][j] = 0;
    for (k = 0; k < n; k++)
      Mult: A[i][j] += B[i][k] * C[k][j];
  }"""


def planned(body: str, script: str) -> Plan:
    return transform(region(body), script, "s.lw")


def positions(plan: Plan) -> list[tuple[int, ...]]:
    return [leaf.position for leaf in plan.leaves]


def order(program: Program, values: dict[str, int]) -> list[tuple[str, tuple[int, ...]]]:
    """The instances by their schedule vectors, from enumeration alone."""
    return instances(program, values)


def loops_of(plan: Plan) -> Node:
    """The generated loops, which must be proved to run the schedule."""
    node = generate(to_schedule(plan))
    verdict = prove_scan(flat_schedule(plan.program), node, independent_loops(plan))
    assert isinstance(verdict, Proved), verdict
    return node


MANY = 10_000


def check(plan: Plan, **values: int) -> Node:
    """The loops run every instance once, in the order of the schedule vectors.

    Many instances of a small size, as lanes of warps have them, are enough.
    """
    node = loops_of(plan)
    for size in (0, 1, 3, 7):
        here = dict.fromkeys(plan.program.params, size) | values
        instances = order(plan.program, here)
        assert list(execute(node, here, 100_000)) == instances
        if len(instances) > MANY:
            break
    return node


def refused(body: str, script: str) -> BadInput:
    with pytest.raises(BadInput) as caught:
        planned(body, script)
    return caught.value


def pointed_at(error: BadInput) -> tuple[int, int, str]:
    """Line, column, and the text under the caret."""
    span = error.span
    assert span is not None
    return span.line, span.column, span.excerpt[span.column - 1 : span.column - 1 + span.length]
