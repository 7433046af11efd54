"""Laws of all operations, on random scripts.

Whatever a script does: every instance keeps exactly one time (unless a map of the script's own sends
two to one), the generated loops run the schedule, and replaying the script gives the same plan.
"""

from __future__ import annotations

import islpy as isl
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from loopwright.errors import BadInput
from loopwright.generate.program import generate
from loopwright.loops.interpreter import execute
from loopwright.prove.legality.plans import independent_loops
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Refuted
from loopwright.transform import DirectiveKind, Plan, flat_schedule, script_text, to_schedule, transform
from tests.c.support import region
from tests.conftest import examples
from tests.transform.support import FIGURE_4A, MATMUL, order

TRIANGLE = """\
for (i = 0; i < n; i++) {
  P: a[i] = 0;
  for (j = 0; j <= i; j++)
    Q: A[i][j] = a[i];
  for (j = n; j > i; j -= 2)
    R: A[i][j] = b[i];
}"""

HANDLES = {FIGURE_4A: ("L1", "L2", "L3"), MATMUL: ("Init", "Mult"), TRIANGLE: ("P", "Q", "R")}
LOOPS = ("i", "j", "k", "iT", "jT")
SMALL = st.integers(min_value=1, max_value=4)


def operation(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    one = st.sampled_from((*names, "X", "Y"))
    loop = st.sampled_from(LOOPS)
    maps = st.sampled_from(
        ["{[i,j]->[j,i]}", "{[i,j]->[i/2,j,i%2]}", "{[i]->[-i]}", "{[i,j]->[i+j,j]}", "{[i]->[i,0]}"]
    )
    condition = st.sampled_from(["{[i]: i < 2}", "{[i,j]: j < i}", "{[i]: i % 2 = 0}", "{[i,j]: i + j < n}"])
    return st.one_of(
        st.builds("realign({}, {}, {})".format, one, one, st.integers(0, 2)),
        st.builds("X = lift({}, {})".format, one, st.integers(0, 2)),
        st.builds("affine({}, {})".format, one, maps),
        st.builds("(X, Y) = isplit({}, {}, {})".format, one, condition, st.integers(0, 2)),
        st.builds("interchange({}, {}, {})".format, one, loop, loop),
        st.builds("skew({}, {}, {}, {})".format, one, loop, loop, SMALL),
        st.builds("shift({}, {}, {})".format, one, loop, SMALL),
        st.builds("reverse({}, {})".format, one, loop),
        st.builds("strip_mine({}, {}, {})".format, one, loop, SMALL),
        st.builds("tile({}, {}, {})".format, one, SMALL, SMALL),
        st.builds("tile({}, {}, {}, full)".format, one, SMALL, SMALL),
        st.builds("tile({}, {}, {}, skew)".format, one, SMALL, SMALL),
        st.builds("unroll({}, {}, {})".format, one, loop, SMALL),
        st.builds("unroll_and_jam({}, {}, {})".format, one, loop, SMALL),
        st.builds("X = fuse({}, {})".format, one, one),
        st.builds("distribute({})".format, one),
        st.builds("reorder({}, {})".format, one, one),
        st.builds("sink({}, {}, {})".format, one, one, SMALL),
        st.builds("parallel({}, {})".format, one, loop),
        st.builds("separate({}, {})".format, one, loop),
    )


@st.composite
def scripts(draw: st.DrawFn) -> tuple[str, str]:
    body = draw(st.sampled_from(tuple(HANDLES)))
    lines = draw(st.lists(operation(HANDLES[body]), min_size=4, max_size=12))
    return body, "\n".join(lines)


def applied(body: str, script: str) -> Plan:
    """The script without the lines that make no sense where they are."""
    plan = transform(region(body), "", "s.lw")
    for line in script.splitlines():
        try:
            plan = plan.transform(line, "s.lw")
        except BadInput:
            continue
    return plan


@given(scripts())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_what_runs_is_what_the_schedule_says(case: tuple[str, str]) -> None:
    body, script = case
    plan = applied(body, script)
    assume(plan.history)
    assume(plan.loops <= 6 and len(plan.leaves) <= 12)
    try:
        node = generate(to_schedule(plan))
    except BadInput:  # a later operation put something without a bound into an unrolled loop
        assert any(directive.kind is DirectiveKind.UNROLL for directive in plan.directives)
        return
    assert not isinstance(prove_scan(flat_schedule(plan.program), node, independent_loops(plan)), Refuted)
    for size in (1, 5):
        values = dict.fromkeys(plan.program.params, size)
        assert list(execute(node, values, 100_000)) == order(plan.program, values)


@given(scripts())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_every_instance_keeps_one_time(case: tuple[str, str]) -> None:
    body, script = case
    plan = applied(body, script)
    for statement in plan.program.statements:
        domain = statement.domain.intersect_params(plan.program.context)
        times = statement.schedule.intersect_domain(domain)
        assert domain.is_subset(times.domain()) and times.is_single_valued()
        assert times.dim(isl.dim_type.out) == 2 * plan.loops + 1
    accepted = script_text(one.step for one in plan.history)
    again = transform(region(body), accepted, "s.lw")
    assert again.leaves == plan.leaves and again.components == plan.components
