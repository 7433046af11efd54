"""Loops marked parallel: Coq accepts that their iterations may run in any order, or refuses."""

from __future__ import annotations

import pytest

from loopwright.prove.coq import parallel
from loopwright.prove.coq.check import Accepted, Refused, check
from tests.coq.support import SECONDS, needs_coqc
from tests.coq.test_transformations import SCALAR, written
from tests.transform.support import MATMUL, planned

SCRIPT = "distribute(Init, Mult)\ntile(Mult, i=8)\nparallel(Mult, iT)\nvectorize(Init, j)"


@needs_coqc
def test_independent_iterations_may_run_in_any_order() -> None:
    """The tiles of a product, and the vector loop that clears it: two theorems about each."""
    text = written(planned(MATMUL, SCRIPT))
    assert text.count('mark "parallel" on') == 2
    assert "Print Assumptions same_memory_in_any_order." in text
    assert check(text, SECONDS) == Accepted()


@needs_coqc
def test_a_loop_that_carries_a_dependence_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The iterations of i share s; a writer that takes them for independent gets no further than this."""
    monkeypatch.setattr(parallel, "_apart", lambda loop, tables: True)
    found = check(written(planned(SCALAR, "parallel(Dot, i)")), SECONDS)
    assert isinstance(found, Refused), found
    assert found.lemma == "new_independent", found


def test_iterations_with_storage_of_their_own_are_not_spoken_of() -> None:
    text = written(planned(SCALAR, "parallel(Dot, i)"))
    assert "Loops over c0 are to be parallel with storage for each iteration" in text
    assert "Print Assumptions same_memory." in text
