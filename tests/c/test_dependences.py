"""Dependences: memory-based for legality, value-based for the flow of values."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import islpy as isl
import pytest

from loopwright.errors import InternalError
from loopwright.model.dependences import DependenceKind, Dependences, adjacent, dependences
from loopwright.model.program import Program
from loopwright.prove.legality.legality import prove_legal
from tests.c.support import instances, region


def memory(found: Dependences, kind: DependenceKind, source: str, sink: str) -> isl.UnionMap:
    union = isl.UnionMap("{ }")
    for item in found.memory:
        if (item.kind, item.source, item.sink) == (kind, source, sink):
            union = union.union(isl.UnionMap.from_map(item.relation))
    return union


def test_matrix_multiplication() -> None:
    program = region(
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { A[i][j] = 0;"
        " for (k = 0; k < n; k++) A[i][j] += B[i][k] * C[k][j]; }"
    )
    found = dependences(program)
    box = "0 <= i, j, k < n"
    assert memory(found, DependenceKind.FLOW, "S1", "S2").is_equal(
        isl.UnionMap(f"[n] -> {{ S1[i, j] -> S2[i, j, k] : {box} }}")
    )
    carried = isl.UnionMap(f"[n] -> {{ S2[i, j, k] -> S2[i, j, l] : {box} and k < l < n }}")
    for kind in DependenceKind:
        assert memory(found, kind, "S2", "S2").is_equal(carried)
    last_writer = isl.UnionMap(
        "[n] -> { S1[i, j] -> S2[i, j, 0] : 0 <= i, j < n;"
        f" S2[i, j, k] -> S2[i, j, l] : {box} and l = k + 1 and l < n }}"
    )
    assert found.flow.is_equal(last_writer.intersect_params(isl.Set("[n] -> { : n > 0 }")))


def test_writing_what_another_iteration_reads_first() -> None:
    """Fusing `s[p] = a[1] * c[p]` with `a[p] = s[p]` breaks an anti-dependence on a[1]."""
    program = region("for (i = 0; i < n; i++) b[i] = a[1] * c[i]; for (i = 0; i < n; i++) a[i] = b[i];")
    anti = memory(dependences(program), DependenceKind.ANTI, "S1", "S2")
    assert anti.is_equal(isl.UnionMap("[n] -> { S1[i] -> S2[1] : 0 <= i < n and n > 1 }"))


def test_a_subscript_that_is_not_affine_conflicts_with_everything() -> None:
    program = region("for (i = 0; i < n; i++) for (j = 0; j < n; j++) T[p * q][i][j] = T[p * q][j][i] + 1;")
    found = dependences(program)
    assert all(not item.must for item in found.memory)
    flow = memory(found, DependenceKind.FLOW, "S1", "S1")
    wanted = isl.UnionMap("[n] -> { S1[i, j] -> S1[j, i] : 0 <= i < j < n }")
    assert wanted.is_subset(flow)


def test_a_write_that_may_not_happen_does_not_hide_the_one_before() -> None:
    program = region("x = 1; for (i = 0; i < n; i++) { if (a[i] > 0) x = 2; b[i] = x; }")
    flow = dependences(program).flow
    assert isl.UnionMap("[n] -> { S1[] -> S3[i] : 0 <= i < n }").is_subset(flow)
    certain = region("x = 1; for (i = 0; i < n; i++) { x = 2; b[i] = x; }")
    assert not isl.UnionMap("[n] -> { S1[] -> S3[0] : 0 < n }").is_subset(dependences(certain).flow)


def test_reads_of_what_was_there_before_are_live_in() -> None:
    program = region("for (i = 1; i < n; i++) a[i] = a[i - 1] + b[i];")
    live = dependences(program).live_in
    assert live.is_equal(isl.UnionMap("[n] -> { S1[1] -> a[0] : n > 1; S1[i] -> b[i] : 0 < i < n }"))


def test_the_context_restricts_dependences() -> None:
    text = "for (i = 0; i < n; i++) a[i] = a[i + m];"
    assert dependences(region(text)).memory
    assert not dependences(region(text, assume=["m >= n"])).memory


PROGRAMS = [
    "for (i = 0; i < n; i++) { x = a[i]; for (j = i; j > 0; j--) { a[j] = a[j-1] + x; x += 1; } b[i] = x; }",
    "for (i = 0; i < n; i += 2) a[i / 2] = a[i] + b[(n - i) % 3]; for (i = n; i > 0; i--) b[i] = a[i];",
    "for (i = 0; i < n; i++) for (j = 0; j <= i; j++) "
    "if ((i + j) % 2) A[i][j] = A[j][i]; else A[i][0] += A[j][i];",
    "for (i = 0; i < n; i++) { a[i] = b[i]; if (a[i] > 0) b[0] = a[i]; b[i] = a[n - 1 - i]; }",
]


Instance = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Cell:
    """One cell that an instance touches."""

    name: str
    is_write: bool
    must: bool


def touched(program: Program, name: str, point: tuple[int, ...], values: dict[str, int]) -> list[Cell]:
    """The cells an instance touches, found point by point."""
    statement = program.statement(name)
    found = []
    for access in statement.accesses:
        relation = access.relation
        for position, value in enumerate(point):
            relation = relation.fix_val(isl.dim_type.in_, position, isl.Val(value))
        for key, value in values.items():
            position = relation.find_dim_by_name(isl.dim_type.param, key)
            relation = relation.fix_val(isl.dim_type.param, position, isl.Val(value))
        cells: list[isl.Point] = []
        relation.range().foreach_point(cells.append)
        found += [Cell(str(cell).split("->")[-1], access.is_write, access.must) for cell in cells]
    return found


@pytest.mark.parametrize("text", PROGRAMS)
def test_memory_based_dependences_against_brute_force(text: str) -> None:
    program = region(text)
    values = {"n": 5}
    order = instances(program, values)
    wanted = set()
    cells = [touched(program, name, point, values) for name, point in order]
    for first, second in itertools.combinations(range(len(order)), 2):
        for one, other in itertools.product(cells[first], cells[second]):
            if one.name == other.name and (one.is_write or other.is_write):
                wanted.add((order[first], order[second]))
    fixed = isl.Set("[n] -> { : n = 5 }")
    relation = dependences(program).relation().intersect_params(fixed)
    assert _pairs(relation) == wanted


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_flow_of_values_against_brute_force(text: str) -> None:
    """A read may see the last certain write before it, and uncertain writes since."""
    program = region(text)
    values = {"n": 5}
    wanted: set[tuple[Instance, Instance]] = set()
    writers: dict[str, list[Instance]] = {}
    for instance in instances(program, values):
        cells = touched(program, *instance, values)
        for cell in cells:
            if not cell.is_write:
                wanted |= {(writer, instance) for writer in writers.get(cell.name, [])}
        for cell in cells:
            if cell.is_write:
                earlier = [] if cell.must else writers.get(cell.name, [])
                writers[cell.name] = [*earlier, instance]
    flow = dependences(program).flow.intersect_params(isl.Set("[n] -> { : n = 5 }"))
    assert _pairs(flow) == wanted


def _pairs(relation: isl.UnionMap) -> set[tuple[Instance, Instance]]:
    found = set()
    pieces: list[isl.Map] = []
    relation.foreach_map(pieces.append)
    for piece in pieces:
        names = [piece.get_tuple_name(kind) for kind in (isl.dim_type.in_, isl.dim_type.out)]
        ins = piece.dim(isl.dim_type.in_)
        points: list[tuple[int, ...]] = []

        def visit(point: isl.Point, points: list[tuple[int, ...]] = points) -> None:
            count = point.get_space().dim(isl.dim_type.set)
            points.append(
                tuple(int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in range(count))
            )

        piece.wrap().flatten().foreach_point(visit)
        for point in points:
            found.add(((str(names[0]), point[:ins]), (str(names[1]), point[ins:])))
    return found


def test_an_error_of_isl_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> isl.Map:
        raise isl.Error("out of operations")

    program = region("for (i = 0; i < n; i++) a[i] = a[i + 1];")
    monkeypatch.setattr("loopwright.model.dependences._runs_before", fail)
    with pytest.raises(InternalError, match="out of operations"):
        dependences(program)


def test_chains_of_dependences_are_left_out_of_those_that_others_follow_from() -> None:
    stencil = region(
        """for (t = 0; t < n; t++) {
          for (i = 1; i < m; i++) b[i] = a[i - 1] + a[i];
          for (i = 1; i < m; i++) a[i] = b[i];
        }"""
    )
    assert {*adjacent(stencil)} == {("S1", "S2"), ("S2", "S1")}


def test_pairs_of_statements_that_are_alike_have_their_own_dependences() -> None:
    """Pairs of one shape are computed once; each is what its own domains, times and accesses say."""
    program = region(
        "for (i = 1; i < n; i++) { A[i][0] = 1; A[i][0] += A[i - 1][0]; A[i][0] += A[i - 1][0]; A[i][1] = 2;}"
        "for (i = 1; i < n; i++) { A[i][0] += A[i - 1][0]; if (i > 3) A[i][0] += A[i - 1][0]; }"
    )
    found = dependences(program).memory
    shapes = {one.shape for one in found}
    assert len(shapes) < len(found)
    for one in found:
        source, sink = program.statement(one.source), program.statement(one.sink)
        before = isl.Map.lex_lt(source.schedule.get_space().range())
        order = source.schedule.apply_range(before).apply_range(sink.schedule.reverse())
        cells = one.source_access.relation.apply_range(one.sink_access.relation.reverse())
        wanted = order.intersect(cells).intersect_domain(source.domain).intersect_range(sink.domain)
        assert one.relation.is_equal(wanted), (one.source, one.sink)


def test_an_order_that_breaks_one_of_two_pairs_alike_is_refused() -> None:
    program = region("for (i = 1; i < n; i++) { A[i][0] = 1; A[i][0] += 1; A[i][0] += 1; A[i][0] += 1; }")
    swapped = {one.name: one.schedule for one in program.statements}
    swapped["S3"], swapped["S4"] = (
        swapped[name].set_tuple_name(isl.dim_type.in_, other) for name, other in (("S4", "S3"), ("S3", "S4"))
    )
    broken = prove_legal(program, swapped).violations
    assert {(one.first.statement, one.second.statement) for one in broken} == {("S3", "S4")}
