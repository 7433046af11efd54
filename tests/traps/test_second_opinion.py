"""Two extractors, one answer: a fault in either stops `transform`.

Each fault is put into one of the two, by a wrapper around one of its functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loopwright.errors import BadInput
from loopwright.presburger.named import number
from loopwright.progress import silent
from loopwright.read.c import accesses, assemble, loops, statements
from loopwright.read.c.accesses import Touch
from loopwright.read.c.second import compare, leaves, relations
from loopwright.read.c.second.accesses import Touched
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request

TEXT = """void f(int n, int *k, double *a, double *b, double A[n][n]) {
  int i, j;
#pragma scop
  for (i = 1; i < n; i++) {
    a[i] = a[i - 1] + b[i];
    for (j = i; j < n; j += 2)
      if (i > 3)
        A[i][j] += A[j][i - 1] * b[j];
      else
        b[j] = a[j] > 0 ? A[i][0] : 1;
    b[k[i]] = 2;
  }
#pragma endscop
}
"""


def _read(folder: Path) -> None:
    file = folder / "t.c"
    file.write_text(TEXT)
    transformed(Request(file=str(file)), silent)


def _without(which: int) -> Callable[[Any], Any]:
    """The function with one of the values it gives left out."""

    def changed(function: Any) -> Any:
        def wrapper(*given: Any, **named: Any) -> Any:
            found = list(function(*given, **named))
            elements = [one for one in found if not hasattr(one, "cell") or one.cell.subscripts]
            return tuple(one for one in found if one not in elements[which : which + 1])

        return wrapper

    return changed


def _each(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function with its values changed."""

    def changed(function: Any) -> Any:
        return lambda *given, **named: tuple(change(one) for one in function(*given, **named))

    return changed


def _result(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def changed(function: Any) -> Any:
        return lambda *given, **named: change(function(*given, **named))

    return changed


_OTHER = {"k": "a", "a": "b", "b": "a", "A": "a", "i": "i", "j": "j", "n": "n"}


def _moved(one: Touch | Touched) -> Touch | Touched:
    """The same access of another array."""
    if isinstance(one, Touch):
        return replace(one, base=_OTHER[one.base])
    return replace(one, cell=replace(one.cell, base=_OTHER[one.cell.base]))


READER = {
    "the first access is forgotten": (statements, "touches", _without(0)),
    "the second access is forgotten": (statements, "touches", _without(1)),
    "the last access is forgotten": (statements, "touches", _without(2)),
    "writes are reads": (statements, "touches", _each(lambda one: replace(one, is_write=False))),
    "reads are writes": (statements, "touches", _each(lambda one: replace(one, is_write=True))),
    "all are certain": (statements, "touches", _each(lambda one: replace(one, must=True))),
    "what is unknown is certain": (assemble, "access_of", _result(lambda one: replace(one, must=True))),
    "another array is touched": (statements, "touches", _each(_moved)),
    "subscripts are off by one": (accesses, "affine_subscript", _result(lambda value: value.add(number(1)))),
    "subscripts are negated": (accesses, "affine_subscript", _result(lambda value: value.neg())),
    "loops start late": (loops, "_first", _result(lambda value: value.add(number(1)))),
    "tests are off by one": (loops, "affine", _result(lambda value: value.sub(number(1)))),
    "steps are doubled": (loops, "_step", _result(lambda step: 2 * step)),
    "tests hold always": (loops, "condition", _result(lambda test: test.union(test.complement()))),
    "conditions are turned round": (statements, "condition", _result(lambda test: test.complement())),
}
SECOND = {
    "the first access is forgotten": (compare, "touched_by_statement", _without(0)),
    "the second access is forgotten": (compare, "touched_by_statement", _without(1)),
    "the third access is forgotten": (compare, "touched_by_statement", _without(2)),
    "writes are reads": (compare, "touched_by_statement", _each(lambda one: replace(one, is_write=False))),
    "nothing is certain": (compare, "touched_by_statement", _each(lambda one: replace(one, must=False))),
    "all are anywhere": (compare, "touched_by_statement", _each(lambda one: replace(one, anywhere=True))),
    "another array is touched": (compare, "touched_by_statement", _each(_moved)),
    "a statement is forgotten": (compare, "found_in", _without(1)),
    "subscripts are off by one": (relations, "affine", _result(lambda value: value.add(number(1)))),
    "loops start late": (leaves, "affine", _result(lambda value: value.add(number(1)))),
    "steps are doubled": (leaves, "_step", _result(lambda step: 2 * step)),
    "conditions are turned round": (leaves, "condition", _result(lambda test: test.complement())),
}


def test_without_a_fault_both_agree(tmp_path: Path) -> None:
    _read(tmp_path)


@pytest.mark.parametrize("fault", READER)
def test_a_fault_in_the_reader(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, change = READER[fault]
    monkeypatch.setattr(module, name, change(getattr(module, name)))
    with pytest.raises(BadInput):
        _read(tmp_path)


@pytest.mark.parametrize("fault", SECOND)
def test_a_fault_in_the_second_extractor(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, change = SECOND[fault]
    monkeypatch.setattr(module, name, change(getattr(module, name)))
    with pytest.raises(BadInput, match="two readings"):
        _read(tmp_path)
