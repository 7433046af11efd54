"""The annotations of a dimension appear on the loops that scan it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from loopwright.emit.c import to_c
from loopwright.errors import BadInput
from loopwright.generate.program import generate
from loopwright.loops.nodes import For, Let, Node, Remarked
from loopwright.loops.traverse import subprograms
from loopwright.model.annotations import Annotation, Parallel, Unrolled, Vector
from loopwright.model.schedule import Annotated, Band, Schedule
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import Proved, Refuted
from tests.generate import support

RECTANGLE = support.flat("[n, m] -> { S[i, j] -> [i, j] : 0 <= i < m and 0 <= j < n }")


def annotated(schedule: Schedule, dimension: int, annotation: Annotation | None = None) -> Schedule:
    return replace(schedule, tree=Annotated(annotation or Parallel(), dimension, schedule.tree))


def loops(node: Node) -> Iterator[For]:
    return (part for part in subprograms(node) if isinstance(part, For))


def said(schedule: Schedule) -> list[tuple[int | None, tuple[Annotation, ...]]]:
    """The dimensions of the loops with what is said of them, the loops proved."""
    return [(loop.dimension, loop.annotations) for loop in loops(support.proved_program(schedule))]


@pytest.mark.parametrize("annotation", [Parallel(), Vector()])
def test_the_loop_of_a_dimension(annotation: Annotation) -> None:
    assert said(annotated(RECTANGLE, 0, annotation)) == [(0, (annotation,)), (1, ())]
    assert said(annotated(RECTANGLE, 1, annotation)) == [(0, ()), (1, (annotation,))]


def test_several_annotations() -> None:
    both = annotated(annotated(annotated(RECTANGLE, 1, Vector()), 1), 0)
    assert said(both) == [(0, (Parallel(),)), (1, (Parallel(), Vector()))]
    assert said(annotated(annotated(RECTANGLE, 0), 0)) == [(0, (Parallel(),)), (1, ())]


@pytest.mark.parametrize("taken", ["c0", "c0, t1", "c2, t2, x2"])
def test_whatever_the_iterators_are_called(taken: str) -> None:
    """Names of parameters are not those of iterators."""
    sizes = " and ".join(f"{name} >= 0" for name in taken.split(", "))
    schedule = support.flat(f"[n, {taken}] -> {{ S[i, j] -> [i, j] : 0 <= i, j < n and {sizes} }}")
    node = support.proved_program(annotated(schedule, 1))
    assert [(loop.dimension, loop.annotations) for loop in loops(node)] == [(0, ()), (1, (Parallel(),))]
    assert not any(loop.iterator.startswith("c0") for loop in loops(node)) or "c0" not in taken


def test_every_loop_of_the_dimension() -> None:
    """Two loops for the two statements, one for the even values of both."""
    apart = support.flat("[n] -> { A[i] -> [i] : 0 <= i < n; B[i] -> [i] : n + 5 <= i < 2n + 5 }")
    assert said(annotated(apart, 0)) == [(0, (Parallel(),))] * 2
    shifted = support.flat("{ A[i] -> [2i] : 0 <= i < 10; B[i] -> [2i + 1] : 0 <= i < 10 }")
    assert said(annotated(shifted, 0)) == [(0, (Parallel(),))]


def test_a_dimension_with_one_value_takes_the_annotation_up() -> None:
    constant = support.flat("[n] -> { S[i] -> [3, i] : 0 <= i < n }")
    assert said(annotated(constant, 0)) == [(1, ())]
    piecewise = support.flat("[n] -> { S[i] -> [i, 0] : n - 1 <= 3i <= n + 1 and i >= 0 }")
    node = support.proved_program(annotated(piecewise, 0))
    assert not any(isinstance(part, For | Let) and part.dimension == 1 for part in subprograms(node))


def test_written_out_values_are_one_each() -> None:
    """The four values of j have no loop; the loop around them says how many they are."""
    unrolled = support.flat(
        "[n] -> { S[i, j] -> [i, j] : 0 <= i < n and 0 <= j < 4 }", options="{ [i, j] -> unroll[1] }"
    )
    assert said(annotated(unrolled, 1)) == [(0, (Unrolled(4),))]
    nested = support.flat(
        "[n] -> { S[i, j, k] -> [i, j, k] : 0 <= i < n and 0 <= j < 3 and 0 <= k < 2 }",
        options="{ [i, j, k] -> unroll[d] : 1 <= d <= 2 }",
    )
    assert said(annotated(nested, 0)) == [(0, (Parallel(), Unrolled(6)))]


@pytest.mark.parametrize("dimension", [2, -1, 7])
def test_an_annotation_no_loop_takes_up(dimension: int) -> None:
    with pytest.raises(BadInput) as refused:
        generate(annotated(RECTANGLE, dimension))
    message = refused.value.message
    assert message.startswith(f"no loop has the annotation of schedule dimension {dimension}, Parallel")
    hint = "the dimensions below count from 0; annotate one of them, or move the annotation"
    assert refused.value.hint == hint


def test_a_dimension_above_the_annotation_is_not_below_it() -> None:
    assert isinstance(RECTANGLE.tree, Band)
    inside = replace(RECTANGLE.tree, child=Annotated(Parallel(), 0, RECTANGLE.tree.child))
    with pytest.raises(BadInput, match="no band below has this dimension") as refused:
        generate(replace(RECTANGLE, tree=inside))
    assert refused.value.hint is not None and "count from 2" in refused.value.hint


def test_remarks_of_the_author_stay_remarks() -> None:
    """isl's mark nodes mean nothing, whatever they say."""
    marked = support.tree(
        """
        domain: "[n] -> { S[i] : 0 <= i < n }"
        child:
          mark: "parallel 0"
          child:
            schedule: "[{ S[i] -> [i] }]"
        """
    )
    node = support.proved_program(marked)
    assert isinstance(node, Remarked) and node.remark == "parallel 0"
    assert [loop.annotations for loop in loops(node)] == [()]
    assert to_c(node, openmp=True).startswith("// parallel 0\nfor (int c0")


def test_unordered_instances_are_parallel_loops_of_no_dimension() -> None:
    unordered = support.flat("[n] -> { S[i, j] -> [i] : 0 <= i < n and 0 <= j < n }")
    assert said(unordered) == [(0, ()), (None, (Parallel(),))]


@pytest.mark.parametrize("dimension", [0, 1])
def test_loops_that_say_less_or_more_than_the_schedule_are_refuted(dimension: int) -> None:
    schedule = annotated(RECTANGLE, dimension)
    verdicts = [prove_scan(schedule, generate(annotated(RECTANGLE, k))) for k in (0, 1)]
    assert isinstance(verdicts[dimension], Proved)
    assert isinstance(verdicts[1 - dimension], Refuted)
    less = prove_scan(schedule, generate(RECTANGLE))
    assert isinstance(less, Refuted) and less.obligation == "unsaid"
    more = prove_scan(RECTANGLE, generate(schedule))
    assert isinstance(more, Refuted) and more.obligation == "parallel"
    assert f"the parallel loop over c{dimension}" in more.message
