"""Functions of an earlier reading are copied, and are what they would be if they were built again."""

import pytest

from loopwright.c.typed import copied, front_end
from loopwright.c.typed.file import TypedFile, TypedFunction, may_point_to, typed_file, typed_text
from loopwright.c.typed.moved_pointers import may_move_pointers
from loopwright.c.typed.options import PLAIN
from loopwright.source import Source

BEFORE = """double h(double);
int n;
static double before(double *a)
{
    for (int i = 0; i < n; i++) a[i] = h(a[i]);
    return a[0];
}
"""
AFTER = """int between;
struct later { int x; };
double after(double *a, int k)
{
    struct later l = { 0 };
    static int calls;
    extern int other;
    calls++;
    u(k + other + between);
    return before(a) + changed(a, k);
}
"""


def _text(body: str, before: str = BEFORE) -> Source:
    return Source("a.c", f"{before}double changed(double *a, int k)\n{{ {body} }}\n{AFTER}")


def _read(source: Source) -> TypedFile:
    typed_text.cache_clear()
    return typed_text(source)


def _copied(old: Source, new: Source, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions of the new text that are copied; all are what they are without the old text."""
    copied.read_before.cache_clear()
    alone = _read(new).functions
    copied.read_before.cache_clear()
    assert _read(old).functions
    found: list[TypedFunction] = []
    with monkeypatch.context() as patch:
        patch.setattr(TypedFile, "_body", lambda file, builder, inside: ("built", ()))
        found += _read(new).functions
    copied.read_before.cache_clear()
    assert _read(old).functions
    assert _read(new).functions == alone
    return [one.declaration.name for one in found if str(one.body) != "built"]


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return a[k];", "return a[k + 1];", ["before", "after"]),
        ("return a[k];", "/* k */\n\n return a[k];", ["before", "after"]),
        ("return a[k];", "double t = h(a[k]); return t;", ["before", "after"]),
        ("return a[k];", "u(k); return a[k];", ["before"]),
        ("u(k); return a[k];", "return a[k];", ["before"]),
        ("return a[k];", "extern int other; return a[other];", ["before"]),
        ("return a[k];", "struct t { int x; } t = { k }; return a[t.x];", []),
        ("return a[k];", "typedef int t; return a[(t)k];", []),
        ("return a[k];", "struct __attribute__((packed)) t { int x; } t = { k }; return a[t.x];", []),
        ("return a[k];", "struct later *p = 0; return a[k];", ["before", "after"]),
    ],
    ids=["value", "spaces", "local", "call", "no call", "extern", "struct", "typedef", "packed", "tag"],
)
def test_what_a_changed_body_cannot_declare_for_others_is_copied(
    old: str, new: str, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _copied(_text(old), _text(new), monkeypatch) == names


@pytest.mark.parametrize(
    "before",
    [
        BEFORE.replace("int n;", "long n;"),
        BEFORE.replace("double h", "float h"),
        BEFORE.replace("int n;", "int n, m;"),
        f"#pragma omp threadprivate(n)\n{BEFORE}",
    ],
    ids=["type", "function", "more", "pragma"],
)
def test_nothing_is_copied_where_the_rest_of_the_file_differs(
    before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "return a[k];"
    assert _copied(_text(body), _text(body, before), monkeypatch) == []


@pytest.mark.parametrize("unnamed", ["struct {", "struct __attribute__((packed)) {", "union {", "enum {"])
def test_nothing_is_copied_where_a_type_without_a_name_moves(
    unnamed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = f"typedef {unnamed} {'X' if 'enum' in unnamed else 'int x;'} }} T; T t;"
    after = f"{kind}\ndouble last(double *a) {{ T *p = &t; return a[sizeof *p]; }}\n"
    old, new = (Source("a.c", _text(body).text + after) for body in ("return a[k];", "\nreturn a[k + 1];"))
    assert _copied(old, new, monkeypatch) == []
    old, new = (
        Source("a.c", kind + _text(body).text) for body in ("return a[k];", "\nreturn a[k + 1];")
    )
    assert _copied(old, new, monkeypatch) == ["before", "after"]


def test_the_offsets_of_cursors_are_those_that_the_front_end_looks_up() -> None:
    file = typed_text(Source("a.c", f"#include <math.h>\n#include <stdio.h>\n{_text('return a[k];').text}"))
    library = front_end._library()
    pending = [file.parsed.unit.cursor]
    while pending:
        cursor = pending.pop()
        place, spot = library.clang_getCursorExtent(cursor), library.clang_getCursorLocation(cursor)
        ends = library.clang_getRangeStart(place), library.clang_getRangeEnd(place)
        assert front_end.extent(cursor) == tuple(map(front_end.offset_of, ends))
        assert front_end.start(cursor) == front_end.offset_of(spot)
        pending += front_end.children(cursor)


def test_the_lines_of_several_offsets_are_those_of_each() -> None:
    text = typed_text(Source("a.c", f"#include <math.h>\n{_text('return a[k];').text}")).text
    offsets = range(0, len(text.text) + 1, 3)
    assert [*text.lines_of(offsets)] == [text.line_of(one) for one in offsets]


REGION = """#define NEXT(p) p++
typedef double *Pointer;
typedef double Number;
struct s { int n; double *v; };
void f(double *a, double *b, Pointer c, double d[8], struct s *t, int n)
{
    int i;
    double *p = a;
#pragma scop
    for (i = 0; i < n; i++) { %s }
#pragma endscop
}
"""


MOVING = """*p++ = 0;
(p)++;
((--p))[0] = 1;
p += i;
(p) = a + i;
NEXT(p);
double *q = a;
Pointer q = a; *q = 1;
c++;
++d;
d = a;
Number *q; q = b;
int k = 0, *q; q = &k;
if (p = b) a[i] = 0;
"""
KEEPING = """a[i] = 0;
*p = 1;
t->n++;
t->v[i] = p[i];
Number q = b[i];
int k = i; a[k++] = *c;
(*p)++;
*(a + i) += 2;
t->v + i;
"""


@pytest.mark.parametrize(
    ("statement", "is_moved"),
    [
        *((one, True) for one in MOVING.splitlines()),
        *((one, False) for one in KEEPING.splitlines()),
    ],
)
def test_a_region_moves_a_pointer_if_it_declares_or_changes_one(statement: str, is_moved: bool) -> None:
    assert may_move_pointers(typed_file(Source("a.c", REGION % statement))) == is_moved


@pytest.mark.parametrize("address", ["", "g(&n);", "g(& ( n ));", "g(n & i);", "g(&a[n]);", "g(&nn, &&n);"])
def test_what_the_text_tells_of_addresses_is_what_the_tree_tells(address: str) -> None:
    source = Source("a.c", REGION.replace("int i;", f"int i; {address}") % "a[i] = n;")
    for name in ("n", "i", "a", "nn", "p"):
        assert may_point_to(source, PLAIN, name) == typed_file(source).may_point_to(name)
