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


STRUCT = "for (i = 0; i < n; i++) { struct P { double u; double v; } q; q.u = b[i]; a[i] = q.u + sizeof(struct P); }"
UNRELATED = [
    "double P;", "struct K { int P; }; int g(struct K *k) { return k->P; }", "int g(int P) { return P; }",
    "enum { P = 3 };", "int g(void) { goto P; P: return 3; }", "typedef struct { char u; } P;",
]  # fmt: skip
RELATED = [
    "struct P { char u; };", "#define S struct\nS P { char u; };", "struct\n/* x */ P *z;", "#define P Q",
    "struct __attribute__((packed)) P { char c; };", "#define T(x) struct x\nT(P) { char u; };",
    "struct\n#define FOO ;\nP { char u; };", "union P *z;", "#define double struct\ndouble P { char u; };",
]  # fmt: skip


@pytest.mark.parametrize("head", [*UNRELATED, *RELATED])
def test_a_tag_is_no_variable(head: str, tmp_path: Path) -> None:
    """Variables, members and labels have names of their own (C17 6.2.3)."""
    text = function(STRUCT, head=head)
    assert (comparison(text, text, tmp_path) == PROVED) == (head in UNRELATED)
