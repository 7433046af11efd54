"""The work of the points-to analysis: stores are found once, and sets computed again only if they grow."""

from __future__ import annotations

from collections import Counter

import pytest

from loopwright.c.typed import stores
from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.least import LeastSets
from loopwright.c.typed.points_to import PointsTo
from loopwright.c.typed.tree import Assign, walk_all
from loopwright.source import Source

_HEAD = "struct R { struct R *next; double *p; };\n"
_STORING = "static void g{k}(struct R *w, struct R *v) {{ w->next->p = v->next->p; }}\n"
_REGION = """void f(struct R *w, struct R *v, int n) {
%s
#pragma scop
  for (int i = 1; i < n; i++) w->next->p[i] = v->next->p[i - 1];
#pragma endscop
}
"""


def _work(count: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the nodes of functions are searched for copies, and sets are computed, in a file with so many
    functions that store pointers: each of them stores in what all others may load."""
    found = Counter[str]()
    compute, copied = LeastSets._compute, stores.copied
    with monkeypatch.context() as patched:
        patched.setattr(LeastSets, "_compute", lambda *args: (found.update(["sets"]), compute(*args))[1])
        patched.setattr(stores, "copied", lambda *args: (found.update(["searches"]), copied(*args))[1])
        functions = "".join(_STORING.format(k=k) for k in range(count))
        calls = " ".join(f"g{k}(w, v);" for k in range(count))
        file = typed_file(Source("t.c", _HEAD + functions + _REGION % calls))
        (region,) = file.regions
        assert isinstance(region, TypedRegion)
        facts = PointsTo(file, region.function)
        (store,) = (one for one in walk_all(region.statements) if isinstance(one, Assign))
        assert facts.storage_of(store.target)
    return found


def test_work_grows_with_the_stores_and_not_with_their_square(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (_work(count, monkeypatch) for count in (10, 40))
    assert many["sets"] <= 5 * few["sets"]
    assert many["searches"] <= 5 * few["searches"]


def test_sets_that_do_not_depend_on_a_growing_one_are_computed_once() -> None:
    found: Counter[str] = Counter()
    sets = LeastSets[int]()

    def first() -> frozenset[int]:
        found["first"] += 1
        alone = sets.least(("alone",), lambda: (found.update(["alone"]), frozenset([1]))[1])
        return alone | sets.least(("second",), second)

    def second() -> frozenset[int]:
        found["second"] += 1
        return sets.least(("first",), first) | {2}

    assert sets.least(("first",), first) == {1, 2} == sets.least(("second",), second)
    assert found == {"alone": 1, "first": 2, "second": 2}
