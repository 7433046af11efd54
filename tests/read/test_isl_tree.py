"""isl's schedule trees (`.st`): every node type, options, and every refusal with its place."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.errors import BadInput
from loopwright.model.schedule import (
    LEAF,
    AnyOrder,
    Band,
    Context,
    Expansion,
    Extension,
    Filter,
    Guard,
    LoopType,
    Mark,
    Schedule,
    Sequence,
    Tree,
)
from loopwright.read.isl_tree import parse

DOMAIN = 'domain: "[n] -> { S[i, j] : 0 <= i, j < n }"\n'


def read(text: str) -> Schedule:
    return parse(text, "t.st")


def below_domain(text: str) -> Tree:
    return read(DOMAIN + text).tree


def test_domain_alone() -> None:
    schedule = read(DOMAIN)
    assert schedule.tree is LEAF
    assert schedule.domain.is_equal(isl.UnionSet("[n] -> { S[i, j] : 0 <= i, j < n }"))
    assert schedule.context.is_equal(isl.Set("[n] -> { : }"))


def test_contexts_at_the_top_are_the_schedules_own() -> None:
    schedule = read(
        DOMAIN
        + 'child:\n  context: "[n] -> { [] : n > 3 }"\n  child:\n    context: "[m] -> { [] : m > 0 }"\n'
    )
    assert schedule.tree is LEAF
    assert schedule.context.is_equal(isl.Set("[n, m] -> { : n > 3 and m > 0 }"))


def test_band_with_everything() -> None:
    tree = below_domain(
        "child:\n"
        '  schedule: "L[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]"\n'
        "  permutable: 1\n"
        "  coincident: [ 1, 0 ]\n"
        '  options: "[n] -> { separate[0]; unroll[x] : x >= 1;'
        ' isolate[[] -> L[a, b]] : a < n - 1; [isolate[] -> atomic[0]] }"\n'
    )
    assert isinstance(tree, Band)
    assert tree.schedule.is_equal(isl.UnionMap("{ S[i, j] -> [i, j] }"))
    assert tree.permutable
    assert [member.coincident for member in tree.members] == [True, False]
    assert [member.loop_type for member in tree.members] == [LoopType.SEPARATE, LoopType.UNROLL]
    assert [member.isolated_loop_type for member in tree.members] == [LoopType.ATOMIC, LoopType.DEFAULT]
    assert tree.isolate is not None
    assert tree.isolate.is_equal(isl.Map("[n] -> { [] -> [a, b] : a < n - 1 }"))


def test_isolation_is_about_outer_dimensions_too() -> None:
    tree = below_domain(
        'child:\n  schedule: "[{ S[i, j] -> [(i)] }]"\n  child:\n'
        '    schedule: "[{ S[i, j] -> [(j)] }]"\n    options: "{ isolate[[a] -> [b]] : b < a }"\n'
    )
    assert isinstance(tree, Band)
    assert tree.isolate is None
    assert isinstance(tree.child, Band)
    assert tree.child.isolate is not None
    assert tree.child.isolate.is_equal(isl.Map("{ [a] -> [b] : b < a }"))


def test_sequence_set_filter_and_mark() -> None:
    tree = below_domain(
        "child:\n  sequence:\n"
        '  - filter: "{ S[i, j] : i < j }"\n    child:\n      mark: "fast"\n'
        '      child:\n        set:\n        - filter: "{ S[i, j] }"\n'
        '  - filter: "{ S[i, j] : i >= j }"\n    child:\n      set:\n'
        '      - filter: "{ S[i, i] }"\n      - filter: "{ S[i, j] : i > j }"\n'
    )
    assert isinstance(tree, Sequence)
    first, second = tree.children
    assert isinstance(first.child, Mark)
    assert first.child.name == "fast"
    assert isinstance(first.child.child, AnyOrder)
    assert isinstance(second.child, AnyOrder)
    assert [str(child.filter) for child in second.child.children] == ["{ S[i, i] }", "{ S[i, j] : j < i }"]


def test_a_filter_by_itself_and_a_guard() -> None:
    tree = below_domain(
        'child:\n  filter: "{ S[i, 0] }"\n  child:\n    guard: "[n] -> { [] : n >= 8 }"\n    child:\n'
        '      schedule: "[{ S[i, j] -> [(i)] }]"\n      child:\n        context: "[n] -> { [i] : i < n }"\n'
    )
    assert isinstance(tree, Filter)
    assert isinstance(tree.child, Guard)
    assert tree.child.guard.is_equal(isl.Set("[n] -> { [] : n >= 8 }"))
    assert isinstance(tree.child.child, Band)
    inner = tree.child.child.child
    assert isinstance(inner, Context)
    assert inner.context.is_equal(isl.Set("[n] -> { [i] : i < n }"))


def test_extension_below_a_band_and_at_the_root() -> None:
    tree = below_domain(
        'child:\n  schedule: "[{ S[i, j] -> [(i)] }]"\n  child:\n'
        '    extension: "{ [i] -> T[i] }"\n    child:\n'
        '      sequence:\n      - filter: "{ T[i] }"\n      - filter: "{ S[i, j] }"\n'
    )
    assert isinstance(tree, Band)
    assert isinstance(tree.child, Extension)
    assert tree.child.extension.is_equal(isl.UnionMap("{ [i] -> T[i] }"))
    root = read('extension: "[n] -> { [] -> T[i] : 0 <= i < n }"\n')
    assert root.domain.is_empty()
    assert isinstance(root.tree, Extension)


def test_expansion() -> None:
    tree = below_domain(
        'child:\n  contraction: "{ A[i, j, k] -> S[i, j] }"\n'
        '  expansion: "{ S[i, j] -> A[i, j, k] : 0 <= k < 3 }"\n'
    )
    assert isinstance(tree, Expansion)
    assert tree.expansion.is_equal(isl.UnionMap("{ S[i, j] -> A[i, j, k] : 0 <= k < 3 }"))


def test_a_band_without_members_orders_nothing() -> None:
    assert below_domain('child:\n  schedule: "[]"\n') is LEAF


def test_flow_style() -> None:
    text = '{ domain: "{ S[i] : 0 <= i < 3 }", child: { schedule: "[{ S[i] -> [(-i)] }]" } } # done\n'
    tree = read(text).tree
    assert isinstance(tree, Band)
    assert tree.schedule.is_equal(isl.UnionMap("{ S[i] -> [-i] }"))


S = 'domain: "{ S[i] : 0 <= i < 3 }"\nchild:\n'
BAND = '  schedule: "[{ S[i] -> [(i)] }]"\n'


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("junk", 1, 1, "'junk' has no meaning here"),
        ('domain: "{ S[i] : i < }"\n', 1, 23, "the domain cannot be read: unexpected '}'"),
        (
            S + '  schedule: "[{ S[i] -> [(j)] }]"\n',
            3,
            27,
            "the schedule cannot be read: unknown identifier 'j'",
        ),
        (S + '  schedl: "[{ S[i] -> [(i)] }]"\n', 3, 3, "unknown key schedl"),
        (S + "  filter: { S[i] }\n", 3, 3, "filter should be followed by a quoted text"),
        (S + "  filter: 3\n", 3, 3, "filter should be followed by a quoted text"),
        (S + '  filter: "{ S[i] }\n', 3, 3, "filter should be followed by a quoted text"),
        (S + "  permutable: x\n", 3, 3, "permutable should be followed by 0 or 1"),
        (S + '  sequence: "S"\n', 3, 3, "sequence should be followed by a list of filters"),
        (S, 2, 1, "child should be followed by a node"),
        (S + '  filter: "{ S[i] } more"\n', 3, 24, "'e' after the end of the object"),
        (S + BAND + '  options: "{ : }"\n', 1, 1, "unknown option {  :  }"),
        ("1 1 1", 1, 1, "'1' has no meaning here"),
        (S + BAND + '  options: "{ fast[0] }"\n', 4, 15, "unknown option { fast[i0] }"),
        (
            S + BAND + '  options: "{ isolate[[a] -> [b]] }"\n',
            4,
            15,
            "isolate has 1 outer and 1 inner dimensions here, not 0 outer and 1 inner",
        ),
        (S + BAND + '  options: "{ separate[x]; atomic[x] }"\n', 4, 3, "conflicting loop type options"),
        (S + BAND + BAND, 4, 3, "schedule is given twice for one node"),
        (S + '  sequence:\n  - schedule: "[{ S[i] -> [(i)] }]"\n', 3, 3, "a child that is not a filter"),
        (
            S + '  schedule: "[{ T[i] -> [(i)] }]"\n',
            3,
            3,
            "the schedule gives no time to { S[i] : 0 <= i <= 2 }",
        ),
        (S + '  mark: "m"\n', 3, 3, "expecting child"),
        (BAND.strip(), 1, 1, "root of schedule tree should be a domain or extension"),
        ('{ domain: "{ S[0] }" } more', 1, 24, "the tree ends before this"),
    ],
)
def test_refusals_have_their_place(
    text: str, line: int, column: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BadInput) as raised:
        read(text)
    span = raised.value.span
    assert raised.value.message == message
    assert span is not None
    assert (span.file, span.line, span.column) == ("t.st", line, column)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", ""), "isl is not to speak for itself"


def test_excessive_nesting_is_refused() -> None:
    text = DOMAIN + "".join(f'{"  " * k}child:\n{"  " * k}  mark: "m"\n' for k in range(150))
    with pytest.raises(BadInput, match="nested more than 100 deep"):
        read(text)


def test_the_same_key_in_sibling_nodes_is_not_twice() -> None:
    children = '  - filter: "{ S[i] : i = 0 }"\n  - filter: "{ S[i] : i > 0 }"\n'
    assert isinstance(read(S + "  sequence:\n" + children).tree, Sequence)


def test_quoted_keys() -> None:
    """YAML allows them, and isl reads them."""
    domain, band = "{ S[i] : 0 <= i < 4 }", "[{ S[i] -> [i] }]"
    quoted = parse(f'{{"domain": "{domain}", "child": {{"schedule": "{band}"}}}}', "t.st")
    plain = parse(f'domain: "{domain}"\nchild:\n  schedule: "{band}"\n', "t.st")
    assert quoted.domain.is_equal(plain.domain)
    assert type(quoted.tree) is type(plain.tree)
