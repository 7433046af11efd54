"""Every expression with the type that C gives it."""

from __future__ import annotations

import pytest

from loopwright.c.typed.file import TypedRegion, typed_file
from loopwright.c.typed.tree import (
    Assign,
    CallExpression,
    Cast,
    Expression,
    MemberAccess,
    Name,
    Number,
    SizeOf,
    Storage,
    Subscript,
    Unary,
    Update,
    walk,
    without_casts,
)
from loopwright.c.types import ArrayType, CType, Enumeration, Floating, Integer, Pointer, Qualified, Unknown
from loopwright.source import Source
from tests.c.typed.support import DOUBLE, FLOAT, INT, LONG, UNSIGNED, type_of, typed, value

TYPES: list[tuple[str, CType]] = [
    ("i + j", INT),
    ("i + u", UNSIGNED),
    ("h + h", INT),
    ("u - 1", UNSIGNED),
    ("i + 1L", LONG),
    ("i * y", FLOAT),
    ("y + x", DOUBLE),
    ("x < y", INT),
    ("!x", INT),
    ("-h", INT),
    ("~u", UNSIGNED),
    ("i << 3L", INT),
    ("i ? y : x", DOUBLE),
    ("i ? 1 : u", UNSIGNED),
    ("(long)i + u", LONG),
    ("a[i]", DOUBLE),
    ("i, x", DOUBLE),
    ("'c'", INT),
    ("1.5f", FLOAT),
    ("4294967295", LONG),
    ("0xffffffff", UNSIGNED),
    ("sizeof x", Integer(64, False, 4)),
]


@pytest.mark.parametrize(("text", "kind"), TYPES, ids=[text for text, _ in TYPES])
def test_types_of_expressions(text: str, kind: CType) -> None:
    assert type_of(f"({text})") == kind


COMPUTED: list[tuple[str, CType, CType]] = [
    ("i += x", DOUBLE, INT),
    ("i += j", INT, INT),
    ("h += 1", INT, Integer(8, False, 1)),
    ("h *= u", UNSIGNED, Integer(8, False, 1)),
    ("y -= x", DOUBLE, FLOAT),
    ("i <<= 2L", INT, INT),
    ("u += i", UNSIGNED, UNSIGNED),
]


@pytest.mark.parametrize(("text", "computed", "kind"), COMPUTED, ids=[text for text, *_ in COMPUTED])
def test_a_compound_assignment_computes_in_a_type_of_its_own(text: str, computed: CType, kind: CType) -> None:
    found = value(text)
    assert isinstance(found, Assign) and (found.computed, found.type) == (computed, kind)


def test_conversions_that_c_makes_by_itself_are_nodes() -> None:
    found = value("x = i")
    assert isinstance(found, Assign) and isinstance(found.value, Cast)
    assert found.value.is_implicit and found.value.type == DOUBLE and found.value.operand.type == INT
    written = value("x = (double)i")
    assert isinstance(written, Assign) and isinstance(written.value, Cast) and not written.value.is_implicit


@pytest.mark.parametrize(
    ("text", "operator", "is_prefix"),
    [("a[i]++", "++", False), ("++a[i]", "++", True), ("n--", "--", False), ("--n", "--", True)],
)
def test_where_an_increment_stands(text: str, operator: str, is_prefix: bool) -> None:
    found = value(text)
    assert isinstance(found, Update) and (found.operator, found.is_prefix) == (operator, is_prefix)


def test_the_subscripted_is_the_pointer_on_either_side() -> None:
    for text in ("a[i]", "i[a]"):
        found = value(f"x = {text}")
        assert isinstance(found, Assign) and isinstance(found.value, Subscript)
        assert _name(found.value.base) == "a" and _name(found.value.index) == "i"


def _name(node: Expression) -> str:
    core = without_casts(node)
    return core.declaration.name if isinstance(core, Name) else ""


def test_members_say_what_shares_their_place() -> None:
    inside = "int b : 3; union { float f; int g; }; double d[4]; volatile int v;"
    head = f"struct S {{ {inside} }} s, *p; const struct S c;"
    names = ("s.b", "s.f", "p->g", "p->d[2]", "c.b", "s.v")
    found = {name: _member(value(f"x = {name}", head)) for name in names}
    facts = {name: (one.in_union, one.is_bit_field, one.is_arrow) for name, one in found.items()}
    assert all(one.field is not None for one in found.values())
    assert facts["s.b"] == (False, True, False)
    assert facts["s.f"] == (True, False, False) and facts["p->g"] == (True, False, True)
    assert facts["p->d[2]"] == (False, False, True)
    assert found["s.b"].type == Integer(3, True, 3)
    assert found["c.b"].type == Qualified(Integer(3, True, 3), is_const=True)
    assert found["s.v"].type == Qualified(INT, is_volatile=True)


def _member(node: Expression) -> MemberAccess:
    return next(one for one in walk(node) if isinstance(one, MemberAccess))


def test_names_are_resolved_to_their_declarations() -> None:
    head = "enum E { FEW = 7, MANY }; static double s; extern int z; double g(double) __attribute__((pure));"
    region = typed("int n = 1; x = n + s + z + MANY + g(x);", head)
    names = [node for one in region.statements for node in walk(one) if isinstance(node, Name)]
    found = {one.declaration.name: one.declaration for one in names}
    assert (found["n"].storage, found["n"].is_file_scope) == (Storage.AUTOMATIC, False)
    assert found["s"].storage is Storage.STATIC and found["z"].storage is Storage.EXTERNAL
    assert (found["MANY"].storage, found["MANY"].value) == (Storage.ENUMERATOR, 8)
    assert found["g"].attributes == ("pure",)


def test_two_variables_of_one_name_are_two() -> None:
    region = typed("for (int t = 0; t < 2; t++) { double t = 1; x = t; }")
    names = [node.declaration for one in region.statements for node in walk(one) if isinstance(node, Name)]
    assert len({one.offset for one in names if one.name == "t"}) == 2


def test_calls_know_whom_they_call() -> None:
    head = "#include <math.h>\ndouble (*g)(double); static int h2(int q) { return q; }"
    calls = {
        text: node
        for text in ("sqrt(x)", "h2(i)", "g(x)", "nowhere(i)", "__builtin_fabs(x)")
        for node in walk(value(f"x = {text}", head))
        if isinstance(node, CallExpression)
    }
    callees = {text: call.callee for text, call in calls.items()}
    storages = {text: None if one is None else one.storage for text, one in callees.items()}
    assert storages["sqrt(x)"] is storages["h2(i)"] is Storage.FUNCTION
    assert storages["g(x)"] is Storage.EXTERNAL
    assert storages["nowhere(i)"] is Storage.UNDECLARED
    assert isinstance(calls["nowhere(i)"].type, Unknown)
    assert calls["__builtin_fabs(x)"].type == DOUBLE


DECLARED: list[tuple[str, CType]] = [
    ("double q[4][5];", ArrayType(ArrayType(DOUBLE, 5), 4)),
    ("double (*q)[5];", Pointer(ArrayType(DOUBLE, 5))),
    ("double *restrict q;", Pointer(DOUBLE, restrict=True)),
    ("volatile int q;", Qualified(INT, is_volatile=True)),
    ("typedef const float T; T q;", Qualified(FLOAT, is_const=True)),
    ("typedef unsigned T; T q;", UNSIGNED),
    ("#include <stdint.h>\nuint8_t q;", Integer(8, False, 1)),
    ("#include <stddef.h>\nsize_t q;", Integer(64, False, 4)),
    ("_Bool q;", Integer(1, False, 0)),
    ("enum E { A, B } q;", Enumeration("E", UNSIGNED)),
    ("double _Complex q;", Floating(64, is_complex=True)),
    ("long double q;", Floating(80)),
    ("long double _Complex q;", Floating(80, is_complex=True)),
    ("__typeof__(i) q;", INT),
    ("real q;", Unknown("the type 'real' is not declared")),
    ("", Unknown("'q' is not declared")),
]


@pytest.mark.parametrize(("head", "kind"), DECLARED, ids=[head or "nothing" for head, _ in DECLARED])
def test_types_of_variables(head: str, kind: CType) -> None:
    region = typed("x = sizeof q;", head)
    names = [node for one in region.statements for node in walk(one) if isinstance(node, Name)]
    assert [one.type for one in names if one.declaration.name == "q"] == [kind]


def test_parameters_that_are_arrays_are_pointers() -> None:
    head = "void f(int n, double A[n][n], const int b[3])"
    source = f"{head} {{\n#pragma scop\nA[0][0] = b[0];\n#pragma endscop\n}}\n"
    (region,) = typed_file(Source("t.c", source)).regions
    assert isinstance(region, TypedRegion)
    _, square, row = region.function.parameters
    assert square.type == Pointer(ArrayType(DOUBLE, "n"))
    assert row.type == Pointer(Qualified(INT, is_const=True))


@pytest.mark.parametrize(("text", "number"), [("10", 10), ("0x10", 16), ("010", 8), ("'a'", 97), ("5u", 5)])
def test_numbers_have_their_values(text: str, number: int) -> None:
    (found,) = [one for one in walk(value(f"i = {text}")) if isinstance(one, Number)]
    assert found.value == number


def test_sizes_are_known_where_the_type_is() -> None:
    (known,) = [one for one in walk(value("i = sizeof(double)")) if isinstance(one, SizeOf)]
    (unknown,) = [one for one in walk(value("i = sizeof q")) if isinstance(one, SizeOf)]
    assert known.value == 8 and unknown.value is None


@pytest.mark.parametrize("text", ["q + 1", "q * x", "q[3]", "-q", "i ? q : 1", "q.f", "q->f[2]", "(1, q)"])
def test_what_depends_on_the_unknown_is_unknown(text: str) -> None:
    assert isinstance(type_of(f"({text})"), Unknown)


@pytest.mark.parametrize(("text", "kind"), [("q < 1", INT), ("(double)q", DOUBLE), ("x = q", DOUBLE)])
def test_what_does_not_is_known(text: str, kind: CType) -> None:
    assert type_of(f"({text})") == kind


def test_addresses_and_targets() -> None:
    found = value("x = *&a[3]")
    assert isinstance(found, Assign) and isinstance(found.value, Unary)
    assert found.value.type == DOUBLE and found.value.operand.type == Pointer(DOUBLE)
