"""A region that defines a type or an enumerator which hides another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import LEFT, PROVED, Trap, answer, comparison, function

_ENUM = "enum { Z = 2 };"
_SUM = "a[i] = b[i] + Z;"
TRAPS = [
    Trap("an enumerator", f"for (i = 0; i < n; i++) {{ enum {{ Z = 3 }} q; {_SUM} }}", _ENUM),
    Trap("an enumerator of a struct", f"for (i = 0; i < n; i++) {{ struct {{ enum {{ Z = 3 }} r; }} q; {_SUM} }}", _ENUM),
    Trap("an enumerator in an operand", "for (i = 0; i < n; i++) { k = sizeof(enum { Z = 3 }); a[i] = b[i] + Z; }", _ENUM),
    Trap("a tag", "for (i = 0; i < n; i++) { struct Z { int u, v; } q; a[i] = b[i] + sizeof(struct Z); }", "struct Z { int u; };"),
]  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_a_region_defines_no_type(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) not in (PROVED, LEFT)


def test_a_type_without_a_name_hides_nothing(tmp_path: Path) -> None:
    body = "for (i = 0; i < n; i++) { struct { double u; } q; q.u = b[i]; a[i] = q.u; }"
    assert answer(Trap("", body), tmp_path) == LEFT


_LOOP = f"for (i = 0; i < n; i++) {{ {_SUM} }}"
PAIRS = {
    "an enumerator": (_ENUM, _LOOP, f"enum {{ Z = 3 }}; {_LOOP}"),
    "an enumerator of a pointer": (_ENUM, _LOOP, _LOOP.replace("{ a", "{ enum { Z = 3 } *q; a")),
    "an enumerator for a variable": ("int Z = 2;", _LOOP, f"enum {{ Z = 3 }}; {_LOOP}"),
    "a type": (
        "typedef char T;",
        "for (i = 0; i < n; i++) a[i] = (T)b[i];",
        "typedef int T; for (i = 0; i < n; i++) a[i] = (T)b[i];",
    ),
    "the size of a type": (
        "typedef char T;",
        "for (i = 0; i < n; i++) a[i] = b[i] + sizeof(T);",
        "typedef int T; for (i = 0; i < n; i++) a[i] = b[i] + sizeof(T);",
    ),
    "a tag": (
        "struct T { char u; };",
        "for (i = 0; i < n; i++) { a[i] = b[i] + sizeof(struct T); }",
        "for (i = 0; i < n; i++) { struct T { int u; } *q; a[i] = b[i] + sizeof(struct T); }",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_one_region_defines_is_no_plain_yes(name: str, tmp_path: Path) -> None:
    head, old, new = PAIRS[name]
    texts = [function(body, head=head) for body in (old, new)]
    assert "is something else elsewhere" in comparison(texts[0], texts[1], tmp_path)
    assert "is something else elsewhere" in comparison(texts[1], texts[0], tmp_path)
    assert comparison(texts[0], texts[0], tmp_path) == PROVED
