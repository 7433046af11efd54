"""Annotations of loops, from the script to the text: the proofs of `transform` find errors in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loopwright.emit import region
from loopwright.errors import Illegal, InternalError
from loopwright.generate.context import GenerationContext
from loopwright.generate.program import generate
from loopwright.loops.nodes import For, Node
from loopwright.loops.traverse import with_children
from loopwright.model.annotations import Clauses, Parallel, Vector
from loopwright.model.schedule import Annotated, Schedule
from loopwright.progress import silent
from loopwright.rewrite import targets
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.transform import Plan, to_schedule
from tests.pipeline.support import result, wrapped

BODY = "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n      L: A[i][j] = a[i] + b[j];"
UNSAID = "which are to be independent, but the loop does not say so"
SCRIPT = "parallel(L, i)\nvectorize(L, j)\n"


def text(tmp_path: Path, script: str = SCRIPT) -> str:
    return result(tmp_path, wrapped(BODY), script, openmp=True).source.text


def test_the_loops_have_their_pragmas(tmp_path: Path) -> None:
    new = text(tmp_path)
    assert new.count("#pragma omp parallel for private(j)\n  for (i") == 1
    assert new.count("#pragma omp simd\n    for (j") == 1


def refused(tmp_path: Path, script: str = SCRIPT) -> str:
    with pytest.raises(InternalError) as caught:
        text(tmp_path, script)
    return caught.value.message


@pytest.mark.parametrize("script", ["parallel(L, i)\n", "vectorize(L, j)\n", SCRIPT])
def test_an_annotation_the_generator_drops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(GenerationContext, "said", lambda self: ())
    assert UNSAID in refused(tmp_path, script)


def test_an_annotation_the_generator_puts_on_another_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both loops could be parallel; only one was proved to be."""
    right = GenerationContext.said

    def other(self: GenerationContext) -> Any:
        return right(replace(self, origins=tuple(None if k is None else 1 - k for k in self.origins)))

    monkeypatch.setattr(GenerationContext, "said", other)
    assert UNSAID in refused(tmp_path, "parallel(L, i)\n")


def test_an_annotation_the_generator_puts_on_all_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GenerationContext, "said", lambda self: (Parallel(),))
    found = refused(tmp_path, "parallel(L, i)\n")
    assert "run in different iterations of the parallel loop over c1, but the schedule orders them" in found


def test_a_schedule_that_annotates_another_dimension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(plan: Plan) -> Schedule:
        schedule = to_schedule(plan)
        tree = schedule.tree
        assert isinstance(tree, Annotated)
        return replace(schedule, tree=replace(tree, dimension=1))

    monkeypatch.setattr(targets, "to_schedule", wrong)
    assert UNSAID in refused(tmp_path, "parallel(L, i)\n")


def changed(node: Node, change: Callable[[For], For]) -> Node:
    here = change(node) if isinstance(node, For) else node
    return with_children(here, lambda child: changed(child, change))


def test_a_parallel_loop_said_to_be_a_vector_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(schedule: Schedule, *options: Any) -> Node:
        return changed(
            generate(schedule, *options),
            lambda loop: replace(loop, annotations=(Vector(),)) if loop.parallel is not None else loop,
        )

    monkeypatch.setattr(targets, "generate", wrong)
    assert "run in different iterations of the parallel loop over c0" in refused(tmp_path, "parallel(L, i)\n")


NOT_SAID = "the pragmas of the new text are not what its loops say"


def test_a_pragma_that_is_not_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region, "_annotated", lambda loop: [])
    assert refused(tmp_path) == NOT_SAID


def test_a_pragma_on_another_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = region._annotated

    def inner(loop: For) -> list[str]:
        """That of i in front of j, whose iterations are independent as well."""
        moved = Parallel(Clauses()) if loop.iterator == "j" else Parallel()
        return right(replace(loop, annotations=(moved,)))

    monkeypatch.setattr(region, "_annotated", inner)
    assert refused(tmp_path, "parallel(L, i)\n") == NOT_SAID


def test_a_clause_that_is_not_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = region._annotated
    monkeypatch.setattr(region, "_annotated", lambda loop: [one.split(" private")[0] for one in right(loop)])
    assert refused(tmp_path) == NOT_SAID


_OWN = {
    "independent": ("#pragma omp parallel for", "x[i] = y[i];", True),
    "a sum": ("#pragma omp parallel for reduction(+: s)", "s += x[i];", True),
    "vectors": ("#pragma omp simd", "x[i] = y[i];", True),
    "a promise of another compiler": ("#pragma GCC ivdep", "x[i] = y[i];", True),
    "iterations that depend on each other": ("#pragma omp parallel for", "x[i] = x[i - 1];", None),
    "a sum without its clause": ("#pragma omp parallel for", "s += x[i];", None),
    "a size of each thread's own": ("#pragma omp parallel for reduction(+: n)", "x[i] = y[i];", False),
}
"""Pragmas of the original: whether it is proved that leaving them out changes nothing; None where it does."""


@pytest.mark.parametrize("name", _OWN)
def test_pragmas_of_the_original_are_tried(name: str, tmp_path: Path) -> None:
    pragma, body, is_proved = _OWN[name]
    loop = f"{pragma}\nfor (int i = 1; i < n; i++) {body}"
    (tmp_path / "k.c").write_text(
        "void f(int n, double *restrict x, double *restrict y) {\ndouble s = 0;\n"
        f"#pragma scop\n{loop}\n#pragma endscop\ny[0] = s;\n}}\n"
    )
    request = Request(file=str(tmp_path / "k.c"))
    if is_proved is None:
        with pytest.raises(Illegal) as failure:
            transformed(request, silent)
        assert failure.value.span is not None and failure.value.span.text == pragma and failure.value.witness
        return
    (found,) = transformed(request, silent).regions
    assert is_proved == (not any("#pragma" in text for text in found.assumptions))
