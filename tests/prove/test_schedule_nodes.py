"""What each node of a schedule tree means to the proof."""

from __future__ import annotations

import pytest

from loopwright.loops.nodes import Node
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted, Undecided, Verdict
from tests.prove.build import block, call, flat, let, loop, tree, when


def is_proved(verdict: Verdict) -> bool:
    assert not isinstance(verdict, Undecided), verdict
    return isinstance(verdict, Proved)


def wrong(verdict: Verdict) -> str:
    assert isinstance(verdict, Refuted), verdict
    return verdict.obligation


SEQUENCE = """
domain: "[n] -> {{ S[i] : 0 <= i < n; T[i] : 0 <= i < n }}"
child:
  {kind}:
  - filter: "{{ S[i] }}"
    child:
      schedule: "[{{ S[i] -> [i] }}]"
  - filter: "{{ T[i] }}"
    child:
      schedule: "[{{ T[i] -> [i] }}]"
"""
S, T = loop("i", "0", "i < n", call("S", "i")), loop("i", "0", "i < n", call("T", "i"))
FUSED = loop("i", "0", "i < n", call("S", "i"), call("T", "i"))
REVERSED = loop("i", "1 - n", "i <= 0", call("S", "-i"))


@pytest.mark.parametrize(
    ("program", "sequence", "set_"),
    [
        (block(S, T), True, True),
        (block(T, S), False, True),
        (FUSED, False, True),
        (block(REVERSED, T), False, False),
    ],
)
def test_sequence_and_set(program: Node, sequence: bool, set_: bool) -> None:
    """Children of a set node may even be interleaved; inside a child there is order as ever."""
    assert is_proved(prove_scan(tree(SEQUENCE.format(kind="sequence")), program)) == sequence
    assert is_proved(prove_scan(tree(SEQUENCE.format(kind="set")), program)) == set_


def test_a_set_below_a_band() -> None:
    schedule = tree("""
domain: "[n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }"
child:
  schedule: "[{ S[i] -> [i]; T[i] -> [i] }]"
  child:
    set:
    - filter: "{ S[i] }"
    - filter: "{ T[i] }"
""")
    assert is_proved(prove_scan(schedule, FUSED))
    assert is_proved(prove_scan(schedule, loop("i", "0", "i < n", call("T", "i"), call("S", "i"))))
    assert wrong(prove_scan(schedule, block(S, T))) == "order"


def test_a_filter_that_drops_instances() -> None:
    schedule = tree("""
domain: "[n] -> { S[i] : 0 <= i < n }"
child:
  sequence:
  - filter: "{ S[i] : i >= 2 }"
    child:
      schedule: "[{ S[i] -> [i] }]"
""")
    assert is_proved(prove_scan(schedule, loop("i", "2", "i < n", call("S", "i"))))
    assert wrong(prove_scan(schedule, S)) == "extra"


def test_one_statement_in_two_children() -> None:
    schedule = tree("""
domain: "[n] -> { S[i] : 0 <= i < n }"
child:
  sequence:
  - filter: "{ S[i] : i mod 2 = 1 }"
    child:
      schedule: "[{ S[i] -> [i] }]"
  - filter: "{ S[i] : i mod 2 = 0 }"
    child:
      schedule: "[{ S[i] -> [i] }]"
""")
    odd = loop("i", "1", "i < n", call("S", "i"), step=2)
    even = loop("i", "0", "i < n", call("S", "i"), step=2)
    assert is_proved(prove_scan(schedule, block(odd, even)))
    assert wrong(prove_scan(schedule, block(even, odd))) == "order"
    assert wrong(prove_scan(schedule, S)) == "order"


def test_two_bands_are_one_longer() -> None:
    schedule = tree("""
domain: "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < n }"
child:
  schedule: "[{ S[i, j] -> [j] }]"
  child:
    schedule: "[{ S[i, j] -> [i] }]"
""")
    assert is_proved(
        prove_scan(schedule, loop("j", "0", "j < n", loop("i", "0", "i < n", call("S", "i", "j"))))
    )
    program = loop("i", "0", "i < n", loop("j", "0", "j < n", call("S", "i", "j")))
    assert wrong(prove_scan(schedule, program)) == "order"


def test_a_context_at_the_top_and_a_mark() -> None:
    schedule = tree("""
domain: "[n] -> { S[i] : 0 <= i < n }"
child:
  context: "[n] -> { [] : n >= 10 }"
  child:
    mark: "here"
    child:
      schedule: "[{ S[i] -> [i] }]"
""")
    assert is_proved(prove_scan(schedule, block(call("S", "0"), loop("i", "1", "i < n", call("S", "i")))))


INNER_CONTEXT = """
domain: "[n] -> {{ S[i, j] : 0 <= i < n and 0 <= j < n }}"
child:
  schedule: "[{{ S[i, j] -> [i] }}]"
  child:
    {kind}: "[n] -> {{ [i] : i <= 9 }}"
    child:
      schedule: "[{{ S[i, j] -> [j] }}]"
"""


def test_a_context_below_a_band_is_an_assumption() -> None:
    """No i is greater than 9, so that n is at most 10."""
    schedule = tree(INNER_CONTEXT.format(kind="context"))
    inner = loop("j", "0", "j < n", call("S", "i", "j"))
    assert is_proved(prove_scan(schedule, loop("i", "0", "i < n", inner)))
    assert is_proved(prove_scan(schedule, loop("i", "0", "i < min(n, 10)", inner)))
    assert wrong(prove_scan(schedule, loop("i", "0", "i < min(n, 9)", inner))) == "missing"


def test_a_guard_is_a_condition() -> None:
    schedule = tree(INNER_CONTEXT.format(kind="guard"))
    inner = loop("j", "0", "j < n", call("S", "i", "j"))
    assert wrong(prove_scan(schedule, loop("i", "0", "i < n", inner))) == "extra"
    assert is_proved(prove_scan(schedule, loop("i", "0", "i < n", when("i <= 9", inner))))


def test_a_guard_on_parameters() -> None:
    schedule = tree("""
domain: "[n] -> { S[i] : 0 <= i < n }"
child:
  guard: "[n] -> { [] : n >= 5 }"
  child:
    schedule: "[{ S[i] -> [i] }]"
""")
    assert is_proved(prove_scan(schedule, when("n >= 5", S)))
    assert wrong(prove_scan(schedule, S)) == "extra"


def test_an_expansion_replaces_instances() -> None:
    schedule = tree("""
domain: "[n] -> { G[i] : 0 <= i < n }"
child:
  schedule: "[{ G[i] -> [i] }]"
  child:
    contraction: "{ S[i, k] -> G[i] : 0 <= k <= 1 }"
    expansion: "{ G[i] -> S[i, k] : 0 <= k <= 1 }"
    child:
      schedule: "[{ S[i, k] -> [-k] }]"
""")
    assert is_proved(prove_scan(schedule, loop("i", "0", "i < n", call("S", "i", "1"), call("S", "i", "0"))))
    assert (
        wrong(prove_scan(schedule, loop("i", "0", "i < n", call("S", "i", "0"), call("S", "i", "1"))))
        == "order"
    )


EXTENSION = tree("""
domain: "[n] -> { S[i] : 0 <= i < n and i mod 2 = 0 }"
child:
  schedule: "[{ S[i] -> [i] }]"
  child:
    extension: "{ [i] -> T[k] : 0 <= k <= i and k <= 1 }"
    child:
      sequence:
      - filter: "{ T[k] }"
        child:
          schedule: "[{ T[k] -> [k] }]"
      - filter: "{ S[i] }"
""")


def extended(*inner: Node) -> Node:
    return loop("i", "0", "i < n", *inner, step=2)


def copies(time: tuple[str, ...] | None) -> Node:
    return loop("k", "0", "k <= min(i, 1)", call("T", "k", time=time))


def test_an_extension_adds_instances_for_outer_values_that_occur() -> None:
    """T(0) runs for each even i: its calls say which run they are, or are guessed."""
    assert is_proved(prove_scan(EXTENSION, extended(copies(("i", "k")), call("S", "i"))))
    assert is_proved(prove_scan(EXTENSION, extended(copies(None), call("S", "i"))))


def test_extensions_missing_repeated_and_in_the_wrong_order() -> None:
    hint = ("i", "k")
    assert wrong(prove_scan(EXTENSION, extended(call("S", "i"), copies(hint)))) == "order"
    assert wrong(prove_scan(EXTENSION, extended(copies(hint), copies(hint), call("S", "i")))) == "twice"
    assert wrong(prove_scan(EXTENSION, extended(call("S", "i")))) == "missing"
    skipping = when("i > 2", copies(hint))
    assert wrong(prove_scan(EXTENSION, extended(skipping, call("S", "i")))) == "missing"


def test_a_hint_is_not_believed() -> None:
    """The program is right and its hint is wrong: no proof, and no refutation."""
    verdict = prove_scan(EXTENSION, extended(copies(("0", "k")), call("S", "i")))
    assert isinstance(verdict, Undecided)
    assert "times chosen" in verdict.reason


def test_an_instance_with_several_times() -> None:
    schedule = flat("[n] -> { S[] -> [i, j] : 0 <= i < n and 0 <= j < 2; T[i] -> [i, 2] : 0 <= i < n }")
    inner = loop("j", "0", "j < 2", call("S", time=("i", "j")))
    assert is_proved(prove_scan(schedule, loop("i", "0", "i < n", inner, call("T", "i"))))
    unrolled = call("S", time=("i", "0")), call("S", time=("i", "1"))
    assert is_proved(prove_scan(schedule, loop("i", "0", "i < n", *unrolled, call("T", "i"))))
    assert (
        wrong(prove_scan(schedule, loop("i", "0", "i < n", unrolled[0], call("T", "i"), unrolled[1])))
        == "order"
    )
    assert wrong(prove_scan(schedule, loop("i", "0", "i < n", unrolled[0], call("T", "i")))) == "too few"
    three = loop("i", "0", "i < n", *unrolled, call("S", time=("i", "1")), call("T", "i"))
    assert wrong(prove_scan(schedule, three)) == "too many"


def test_times_that_cannot_be_guessed() -> None:
    """As often as it should, which alone is no proof; but too few or too many are wrong in any case."""
    schedule = flat("{ S[] -> [t] : 0 <= t <= 4 }")
    verdict = prove_scan(schedule, loop("i", "10", "i <= 14", call("S")))
    assert isinstance(verdict, Undecided)
    assert "does not say which" in verdict.reason
    assert wrong(prove_scan(schedule, loop("i", "10", "i <= 13", call("S")))) == "too few"


def test_an_instance_in_two_children() -> None:
    schedule = tree("""
domain: "[n] -> { S[i] : 0 <= i < n }"
child:
  sequence:
  - filter: "{ S[i] }"
    child:
      schedule: "[{ S[i] -> [i] }]"
  - filter: "{ S[i] }"
    child:
      schedule: "[{ S[i] -> [-i] }]"
""")
    forward = loop("i", "0", "i < n", call("S", "i", time=("i",)))
    backward = loop("i", "1 - n", "i <= 0", call("S", "-i", time=("i",)))
    assert is_proved(prove_scan(schedule, block(forward, backward)))
    assert wrong(prove_scan(schedule, block(backward, forward))) == "order"


def test_let_can_carry_a_time() -> None:
    schedule = flat("{ S[] -> [t] : 0 <= t <= 4 and t mod 2 = 0 }")
    program = loop("i", "0", "i < 3", let("t", "2 * i", call("S", time=("t",))))
    assert is_proved(prove_scan(schedule, program))
