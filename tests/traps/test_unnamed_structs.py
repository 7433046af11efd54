"""Traps: pointers in structs that no name alone leads to: one that is chosen, cast, computed or returned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, Trap
from tests.traps.test_shown_memory import _read, _trap

_S = (
    "struct S{double*p,*q; struct S*next;}; static struct S*same(struct S*s){return s;} "
    "static struct S*first(struct S**s){return s[0];} "
)
_GIVEN = "struct S*u, struct S*v, void*w, char*c"


def _structs(name: str, one: str, other: str, setup: str = "") -> Trap:
    trap = _trap(name, f"{setup} double*p={one},*q={other};", _S)
    return Trap(name, trap.body, head=trap.head, setup=trap.setup, parameters=f"int n, {_GIVEN}")


SHARED = [
    _structs("the same", "u->p", "u->p"),
    _structs("chosen", "(n > 3 ? u : v)->p", "u->p"),
    _structs("the other that is chosen", "(n > 3 ? u : v)->p", "v->p"),
    _structs("both chosen", "(n > 3 ? u : v)->p", "(n > 4 ? v : u)->p"),
    _structs("after a comma", "(n++, u)->p", "u->p"),
    _structs("cast", "((struct S*)w)->p", "((struct S*)w)->p"),
    _structs("cast twice", "((struct S*)(void*)u)->p", "u->p"),
    _structs("a number before it", "(0 + u)->p", "u->p"),
    _structs("by a number", "((struct S*)((unsigned long)u + 8 - 8))->p", "u->p"),
    _structs("a difference before it", "(&c[4] - &c[4] + u)->p", "u->p"),
    _structs("assigned", "(v = u)->p", "u->p"),
    _structs("returned", "same(u)->p", "u->p"),
    _structs("returned twice", "same(same(u))->p", "u->p"),
    _structs("the address of it", "(&*u)->p", "u->p"),
    _structs("moved", "(u++)->p", "v->p", "v = u;"),
    _structs("deep", "(n > 3 ? u : v)->next->p", "u->next->p"),
    _structs("the next of one that is cast", "((struct S*)w)->next->p", "v->p", "v = ((struct S*)w)->next;"),
    _structs("dereferenced", "(*(n > 3 ? u : v)).p", "u->p"),
    _structs("an element", "(n > 3 ? u : v)[0].p", "u->p"),
    _structs("stored before", "(n > 3 ? u : v)->p", "u->q", "u->p = u->q;"),
    _structs("stored in what is chosen", "u->p", "v->q", "(n > 3 ? u : v)->p = v->q;"),
    _structs("stored in what is cast", "((struct S*)w)->p", "v->q", "((struct S*)w)->p = v->q;"),
]
APART = [
    _structs("two members", "u->p", "u->q"),
    _structs("members of what is chosen", "(n > 3 ? u : v)->p", "(n > 3 ? u : v)->q"),
    _structs("members of what is cast", "((struct S*)w)->p", "((struct S*)w)->q"),
    _structs("a struct of its own", "(n > 3 ? u : v)->p", "x.p", "struct S x; x.p = malloc(80);"),
]


@pytest.mark.parametrize("trap", SHARED, ids=lambda trap: trap.name)
def test_memory_that_such_structs_share(trap: Trap, tmp_path: Path) -> None:
    assert "memory" in _read(trap, tmp_path)


@pytest.mark.parametrize("trap", APART, ids=lambda trap: trap.name)
def test_memory_that_they_keep_apart(trap: Trap, tmp_path: Path) -> None:
    assert _read(trap, tmp_path) == PROVED
