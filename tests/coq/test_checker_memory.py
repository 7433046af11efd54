"""The verified checker on whole transformations: what they do to memory."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.generate.program import generate
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import with_children
from loopwright.model.annotations import Parallel
from loopwright.prove.certificates import checker
from loopwright.prove.certificates.checker import Checked, NotChecked
from loopwright.prove.certificates.problems import change_problem, range_problem
from loopwright.prove.certificates.specification import AllowedDifferences, Owned
from loopwright.prove.legality.reductions import reductions
from loopwright.prove.verdict import CHECKED, NOT_CHECKED, SEQUENTIAL, ProofStatus
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from loopwright.transform import to_schedule, transform
from loopwright.transform.scheduling import flat_schedule
from tests.coq.support import assert_accepted, change_status, needs_coqc, proof_file
from tests.coq.test_ranges import REGION, ROWS, UNSIGNED, UP_TO
from tests.kernel_programs import kernel_program

pytestmark = [
    pytest.mark.skipif(shutil.which("ocamlopt") is None, reason="ocamlopt is missing: apt install ocaml"),
    pytest.mark.usefixtures("built"),
]
KERNELS = Path(__file__).resolve().parents[2] / "kernels"


@pytest.mark.parametrize(
    "script", ["loopy/2mm.lw", "loopy/mvt.lw", "jacobi-1d.lw", "loopy/seidel-2d.lw", "lu.lw"]
)
def test_whole_transformations_are_checked(script: str) -> None:
    path = KERNELS / script
    program = kernel_program(path.stem)
    plan = transform(program, path.read_text(), script)
    node = generate(to_schedule(plan))
    answer = checker.asked(change_problem(plan.original, plan.program, node).terms, 20)
    assert isinstance(answer, Checked), answer


def test_a_transformation_that_is_not_legal_is_not() -> None:
    program = kernel_program("jacobi-1d")
    tag = program.tags[0].name
    loop, inner = program.statement(program.tags[0].statements[0]).iterators[:2]
    plan = transform(program, f"interchange({tag}, {loop}, {inner})", "script.lw")
    node = generate(to_schedule(plan))
    assert isinstance(checker.asked(change_problem(plan.original, plan.program, node).terms), NotChecked)


DOWN_A_COLUMN = "for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) S: B[i][j] = B[i-1][j];"
TWO_SUMS = "for (int i = 0; i < n; i++) { S: s += C[i]; T: s += A[i][i]; }"
SUM_AND_PRODUCT = "for (int i = 0; i < n; i++) { S: s += C[i]; T: s *= A[i][i]; }"
SUM_OF_SUMS = "for (int i = 0; i < n; i++) S: s += C[i] * s;"
PREFIX = "for (int i = 0; i < n; i++) { S: s += A[i][i]; T: C[i] = s; }"
SEVERAL_STEPS = """for (int i = 0; i < n; i++) {
  S: x = A[i][i];
  for (int j = 0; j < i; j++) T: x -= A[i][j];
  U: C[i] = x;
}"""
OF_THE_LAST_ITERATION = "for (int i = 0; i < n; i++) { S: C[i] = x; T: x = A[i][i]; }"
WRITTEN_ONCE = "S: x = s; for (int i = 0; i < n; i++) T: C[i] = x;"
READ_AFTERWARDS = "for (int i = 0; i < n; i++) S: x = A[i][i]; T: C[0] = x;"
IN_ANOTHER_LOOP = "for (int i = 0; i < n; i++) S: x = C[i]; for (int i = 0; i < n; i++) T: C[i] = x;"
OWN_X = Owned("x", ("S1", "S2", "S3"))
OWN = "for (int i = 0; i < n; i++) { S: x = A[i][i]; T: C[i] = x * x; }"


def parallel_answer(
    text: str, depths: Sequence[int], combining: Sequence[str] = (), private: Sequence[Owned] = ()
) -> str:
    return parallel_status(text, depths, combining, private).status


def parallel_status(
    text: str, depths: Sequence[int], combining: Sequence[str] = (), private: Sequence[Owned] = ()
) -> ProofStatus:
    """The status of the text as it is, the loops at these depths said to be parallel."""
    (program,) = read_source(Source("region.c", REGION.format(text)))
    node = generate(to_schedule(transform(program, "", "empty.lw")))

    def said(part: Node, here: int) -> Node:
        if not isinstance(part, For):
            return with_children(part, lambda child: said(child, here))
        inside = replace(part, body=said(part.body, here + 1))
        return inside.with_annotation(Parallel()) if here in depths else inside

    return change_status(
        program, program, said(node, 0), AllowedDifferences(tuple(combining), tuple(private)), seconds=20
    )


@pytest.mark.parametrize(
    ("text", "depth", "combining", "status"),
    [
        (ROWS, 0, (), CHECKED),
        (ROWS, 1, (), CHECKED),
        (DOWN_A_COLUMN, 1, (), CHECKED),
        (DOWN_A_COLUMN, 0, (), SEQUENTIAL),
        (TWO_SUMS, 0, (), SEQUENTIAL),
        (TWO_SUMS, 0, ("S1",), SEQUENTIAL),
        (TWO_SUMS, 0, ("S1", "S2"), CHECKED),
        (SUM_AND_PRODUCT, 0, ("S1", "S2"), SEQUENTIAL),
        (PREFIX, 0, ("S1",), SEQUENTIAL),
        (OWN, 0, (), SEQUENTIAL),
    ],
)
def test_iterations_in_any_order(text: str, depth: int, combining: Sequence[str], status: str) -> None:
    """Those that touch no cell in common, or that only combine values in it by one operator."""
    assert parallel_answer(text, [depth], combining) == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (OWN, CHECKED),
        (SEVERAL_STEPS, CHECKED),
        (OF_THE_LAST_ITERATION, SEQUENTIAL),
        (WRITTEN_ONCE, SEQUENTIAL),
        (READ_AFTERWARDS, SEQUENTIAL),
        (IN_ANOTHER_LOOP, SEQUENTIAL),
    ],
)
def test_iterations_with_their_own_x(text: str, status: str) -> None:
    """Where every value that is read was written in the same iteration."""
    assert parallel_answer(text, [0], private=[OWN_X]) == status


@pytest.mark.parametrize(
    ("text", "status"), [(OWN, CHECKED), (OF_THE_LAST_ITERATION, SEQUENTIAL), (READ_AFTERWARDS, SEQUENTIAL)]
)
def test_the_copy_of_the_last_iteration_is_kept(text: str, status: str) -> None:
    """What OpenMP calls lastprivate: x is not excepted where every iteration has its own."""
    found = parallel_status(text, [0], private=[replace(OWN_X, last=True)])
    kept = "in x by the copy of the iteration that writes last"
    assert found.status == status and (kept in found.detail) == (status == CHECKED), found


def test_the_last_copy_of_an_inner_loop_is_not_checked() -> None:
    owners = [Owned("x", names, last=True) for names in (("S1", "S2", "S3"), ("S2", "S3"))]
    assert parallel_answer(EACH_CELL, [0, 1], private=owners) == SEQUENTIAL


EACH_CELL = """for (int i = 0; i < n; i++) {
  S: C[i] = 0;
  for (int j = 0; j < n; j++) { T: x = A[i][j]; U: B[i][j] = x * x; }
}"""
EACH_ROW = """for (int i = 0; i < n; i++) {
  S: x = C[i];
  for (int j = 0; j < n; j++) T: B[i][j] = x * A[i][j];
}"""
ALONG_A_ROW = """for (int i = 0; i < n; i++) {
  S: x = C[i];
  for (int j = 0; j < n; j++) { T: B[i][j] = x; U: x = A[i][j]; }
}"""


@pytest.mark.parametrize(
    ("text", "owners", "status"),
    [
        (EACH_CELL, ("S1 S2 S3", "S2 S3"), CHECKED),
        (EACH_CELL, ("S2 S3",), CHECKED),
        (EACH_CELL, (), SEQUENTIAL),
        (EACH_ROW, ("S1",), SEQUENTIAL),
        (EACH_ROW, ("S1 S2",), SEQUENTIAL),
        (ALONG_A_ROW, ("S1 S2 S3", "S2 S3"), SEQUENTIAL),
    ],
)
def test_loops_inside_of_each_other_with_their_own_x(text: str, owners: Sequence[str], status: str) -> None:
    """Both loops are parallel, and around `owners` stand those whose iterations have their own.

    What a loop around all the statements owns, a loop around some of them owns too: what an iteration of the
    outer loop wrote is not seen by those of the inner one.
    """
    private = [Owned("x", one.split()) for one in owners]
    assert parallel_answer(text, [0, 1], private=private) == status


def test_a_sum_of_itself_is_no_reduction() -> None:
    (program,) = read_source(Source("region.c", REGION.format(SUM_OF_SUMS)))
    assert not reductions(program)


def parallel_problem() -> str:
    (program,) = read_source(Source("region.c", REGION.format(TWO_SUMS)))
    node = generate(to_schedule(transform(program, "parallel(S, i)", "script.lw")))
    problem = change_problem(program, program, node, AllowedDifferences(tuple(reductions(program)))).terms
    assert "mark 'parallel" in problem
    return problem


def test_steps_that_combine_may_change_places_and_others_not() -> None:
    problem = parallel_problem()
    given = checker.certificates(problem, 20)
    assert isinstance(given, str) and isinstance(checker.checked(problem, given), Checked)
    wrong = problem.replace("combined '%2B", "plain")
    assert isinstance(checker.checked(wrong, given), NotChecked)


def private_problem() -> str:
    (program,) = read_source(Source("region.c", REGION.format(OWN)))
    node = generate(to_schedule(transform(program, "parallel(S, i)", "script.lw")))
    return change_problem(program, program, node, AllowedDifferences(private=(OWN_X,))).terms


def test_a_tag_that_is_not_the_iteration_is_refused() -> None:
    """The copies are then others than those of the text."""
    problem = private_problem()
    tag = "int 1 var 'i"
    assert problem.count(tag) == 2
    for other in ("int 1 int 7", "int 0 var 'i", "int 1 scaled 2 var 'i"):
        assert isinstance(checker.asked(problem.replace(tag, other)), NotChecked)


PRODUCT = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
  Clear: x = 0;
  for (int k = 0; k < n; k++) Add: x += A[i][k] * A[k][j];
  Set: B[i][j] = x;
}"""


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("interchange(@4, i, j)", CHECKED),
        ("reverse(@4, i)", CHECKED),
        ("distribute(Clear, Add)", NOT_CHECKED),
        ("reverse(Add, k)", NOT_CHECKED),
        ("reorder(Set, Add)", NOT_CHECKED),
    ],
)
def test_temporaries_that_hold_other_values_in_between(script: str, status: str) -> None:
    """Where every read sees a value of its own (i, j), as it did, and the steps of a sum keep their order."""
    answer = checker.asked(reused_problem(script), 20)
    assert isinstance(answer, Checked if status == CHECKED else NotChecked), answer


def reused_problem(script: str, text: str = PRODUCT) -> str:
    (program,) = read_source(Source("region.c", REGION.format(text)))
    plan = transform(program, script, "script.lw")
    node = generate(to_schedule(plan))
    assert change_status(plan.original, plan.program, node, seconds=20).status == NOT_CHECKED
    return change_problem(plan.original, plan.program, node, AllowedDifferences(temporaries=("x",))).terms


def downward_problem() -> str:
    down = PRODUCT.replace("int k = 0; k < n; k++", "int k = n - 1; k >= 0; k--")
    problem = reused_problem("reverse(@4, i)", down)
    assert "-1 call 'S2" in problem
    return problem


DOWN = "for (int i = n - 1; i > 0; i -= 2) for (int j = i; j >= i - 1; j--) S: C[i] = C[i] + A[i][j];"


def test_loops_that_count_down() -> None:
    """As they stand in the text; another step is another program."""
    (program,) = read_source(Source("region.c", REGION.format(DOWN)))
    problem = change_problem(program, program, generate(flat_schedule(program))).terms
    assert problem.count("> var 'i int 0 -2 for") == 1 and problem.count("int -1 -1 call") == 1
    assert isinstance(checker.asked(problem, 20), Checked)
    for step in ("2", "-1"):
        wrong = problem.replace("int 0 -2 for", f"int 0 {step} for")
        assert isinstance(checker.asked(wrong, 20), NotChecked)


NEVER = """for (int i = 0; i < n; i++) { S: C[i] = 0; if (i < 0) T: C[i] = 1; }
for (int i = 5; i < 3; i++) U: x = C[i];"""


def test_statements_that_never_run() -> None:
    """Their calls are there; the new text may leave them out."""
    (program,) = read_source(Source("region.c", REGION.format(NEVER)))
    plan = transform(program, "reverse(S, i)")
    found = change_status(program, plan.program, generate(to_schedule(plan)))
    assert found.status == CHECKED


@needs_coqc
def test_coq_agrees() -> None:
    """On parallel loops, private storage, temporaries and ranges."""
    known = ReadOptions(assume=("0 <= n && n <= 100",))
    (program,) = read_source(Source("region.c", REGION.format(UP_TO)), known)
    files: list[str] = []
    (unsigned,) = read_source(Source("region.c", REGION.format(UNSIGNED)), known)
    ranges = (range_problem(program).words, range_problem(unsigned).words)
    for problem in (parallel_problem(), private_problem(), downward_problem(), *ranges):
        given = checker.certificates(problem, 20)
        assert isinstance(given, str)
        files.append(proof_file(problem, given))
    assert_accepted(files)
