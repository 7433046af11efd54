"""Types that the text does not show, or that do not hold what is put into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import BadInput
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.verdict import Undecided
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from tests.traps.support import PROVED, Trap, answer, comparison, function

UNSIGNED_OF_A_HEADER = ["unsigned", "unsigned char", "unsigned short", "unsigned long", "char", "short", "_Bool"]
"""Reversed, a loop with such an iterator runs to `j >= 0` for ever, or wraps around before."""
SIGNED_OF_A_HEADER = ["int", "long", "long long", "signed", "int32_t"]


def _header(kind: str) -> tuple[tuple[str, str], ...]:
    return (("kind.h", f"#include <stdint.h>\ntypedef {kind} count_t;\n"),)


def _counted(name: str, kind: str) -> list[Trap]:
    head = '#include "kind.h"'
    return [
        Trap(f"{name} {kind}, outside", "for (c = 0; c < n; c++) a[c] = c;", head, "count_t c;", headers=_header(kind)),
        Trap(f"{name} {kind}, in the loop", "for (count_t c = 0; c < n; c++) a[c] = c;", head, headers=_header(kind)),
    ]


HEADERS = [trap for kind in UNSIGNED_OF_A_HEADER for trap in _counted("an iterator of type", kind)] + [
    Trap(
        "a macro for the type",
        "for (count_t c = 0; c < n; c++) a[c] = c;",
        '#include "kind.h"',
        headers=(("kind.h", "#define count_t unsigned\n"),),
    ),
    Trap(
        "a typedef of a typedef",
        "for (count_t c = 0; c < n; c++) a[c] = c;",
        '#include "kind.h"',
        headers=(("kind.h", "typedef unsigned u; typedef u v; typedef v count_t;\n"),),
    ),
    Trap(
        "int is another type",
        "for (int c = 0; c < n; c++) a[c] = c;",
        '#include "kind.h"',
        headers=(("kind.h", "#define int unsigned\n"),),
    ),
]

NARROW = [
    Trap(f"{kind} from {first} while {test}", f"for (c = {first}; {test}; c++) a[i] = 1;", setup=f"{kind} c; i = 0;")
    for kind, first, test in [
        ("unsigned char", "0", "c < 300"),
        ("unsigned char", "0", "c <= 255"),
        ("signed char", "0", "c < 128"),
        ("short", "0", "c <= 32767"),
        ("unsigned short", "0", "c < 65536"),
        ("_Bool", "0", "c < 2"),
    ]
]
WIDE_ENOUGH = [
    Trap(f"{kind} from {first} while {test}", f"for (c = {first}; {test}; c++) a[c] = 1;", setup=f"{kind} c;")
    for kind, first, test in [
        ("unsigned char", "0", "c < 100"),
        ("signed char", "0", "c < 100"),
        ("short", "0", "c < 90"),
        ("unsigned short", "1", "c <= 99"),
        ("long", "0", "c < n"),
        ("int", "0", "c < n"),
        ("unsigned", "0", "c < 100u"),
    ]
]

CONSTANTS = [
    Trap(f"bound {bound}", f"for (i = 0; i < {bound}; i++) a[0] = i;", "#include <limits.h>")
    for bound in [
        "UINT_MAX + 10",
        "4294967295u + 10",
        "UINT_MAX + 1",
        "(UINT_MAX - 1) * 2",
        "2147483648u * 2",
        "0u - 1 + 20",
        "INT_MAX + 10u + INT_MAX",
        "(unsigned char)300",
    ]
]

CONVERSIONS = [
    Trap(f"if ({test})", f"for (i = 0; i < 9; i++) if ({test}) a[i] = s;")
    for test in [
        "(unsigned)n > 5",
        "(unsigned)i - 5 < 3",
        "(unsigned)n < (unsigned)i",
        "i - 5 < 3u",
        "(unsigned char)n > 5",
        "(short)n == i",
        "(_Bool)n == i",
        "(unsigned)(n - 1) > 3u",
        "(float)n > i",
    ]
]
"""Conditions that mean something other than the integers in them: each is one on data, or refused."""

OBSERVED = [
    Trap(name, body, head)
    for name, body, head in [
        ("volatile by a typedef", "for (i = 0; i < n; i++) a[i] = v;", "typedef volatile double V; V v;"),
        ("volatile by a macro", "for (i = 0; i < n; i++) a[i] = v;", "#define V volatile\nV double v;"),
        ("a volatile member", "for (i = 0; i < n; i++) a[i] = v.m;", "struct S { volatile double m; } v;"),
        ("a volatile struct", "for (i = 0; i < n; i++) a[i] = v.m;", "volatile struct S { double m; } v;"),
        ("through a pointer to volatile", "for (i = 0; i < n; i++) a[i] = v[i];", "volatile double *v;"),
        ("a member through a pointer to volatile", "for (i = 0; i < n; i++) a[i] = v->m;", "volatile struct S { double m; } *v;"),
        ("atomic", "for (i = 0; i < n; i++) v += i;", "_Atomic int v;"),
        ("an atomic member", "for (i = 0; i < n; i++) v.m += i;", "struct S { _Atomic int m; } v;"),
        ("a bit-field", "for (i = 0; i < n; i++) v.m = i;", "struct S { int m : 3, k : 5; } v;"),
        ("a bit-field that is counted up", "for (i = 0; i < n; i++) v.m++;", "struct S { int m : 3; } v;"),
        ("a bit-field by a typedef", "for (i = 0; i < n; i++) v[i].m = i;", "typedef struct { unsigned m : 1; } B; B v[9];"),
    ]
]

ELEMENTS = [
    Trap("double is float", "for (i = 0; i < n; i++) z[i] = i;", "#define double float\ndouble z[100];"),
    Trap("float by a typedef named like a type", "for (i = 0; i < n; i++) z[i] = i;", "typedef float size_t; size_t z[100];"),
]


@pytest.mark.parametrize("trap", HEADERS, ids=lambda trap: trap.name)
def test_types_of_a_header_are_what_the_header_says(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("kind", SIGNED_OF_A_HEADER)
def test_signed_types_of_a_header_are_read(kind: str, tmp_path: Path) -> None:
    assert [answer(trap, tmp_path) for trap in _counted("", kind)[:1]] == [PROVED]


@pytest.mark.parametrize("trap", NARROW, ids=lambda trap: trap.name)
def test_iterators_that_wrap_around_are_refused(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


_SIZES = "int n, unsigned m, unsigned char small"
_FORMS = {"its own": "for ({0} {1}) a[0] = c;", "of a block": "{{ {0} c; for ({1}) a[0] = c; }}"}


BY_SIZES = [
    Trap(f"{kind} {name}, {head}", form.format(kind, head), parameters=_SIZES)
    for name, form in _FORMS.items()
    for kind, head in [
        ("unsigned char", "c = 0; c < n; c++"),
        ("signed char", "c = 0; c < n; c++"),
        ("short", "c = 0; c < n; c++"),
        ("unsigned short", "c = 0; c < m; c++"),
        ("unsigned char", "c = 0; c <= small; c++"),
        ("signed char", "c = 0; c < small; c++"),
        ("short", "c = n; c > 0; c--"),
        ("short", "c = n; c-- > 0;"),
        ("short", "c = 200; c < small; c += 32700"),
        ("_Bool", "c = 0; c < n; c++"),
        ("unsigned", "c = m; c >= 1; c -= 2"),
    ]
]
IN_RANGE = [
    Trap(f"{kind} {name}, {head}", form.format(kind, head), parameters=_SIZES)
    for name, form in _FORMS.items()
    for kind, head in [
        ("unsigned char", "c = 0; c < small; c++"),
        ("short", "c = 0; c <= small; c++"),
        ("short", "c = small; c >= 0; c--"),
        ("unsigned", "c = m; c > 0; c--"),
    ]
]

_BOUNDS = [("8", True), ("255", True), ("256", False), ("(1 << 8)", False), ("(250 + 5)", True), ("-1", True)]
_COUNTED = "for (unsigned char c = 0; c < COUNT; c++) a[0] = c;"
for _text, _is_inside in _BOUNDS:
    _trap = Trap(f"COUNT is {_text}", _COUNTED, head=f"#define COUNT {_text}")
    (IN_RANGE if _is_inside else BY_SIZES).append(_trap)
BY_SIZES.append(Trap("COUNT is a size", _COUNTED, head="#define COUNT n"))


@pytest.mark.parametrize("trap", BY_SIZES, ids=lambda trap: trap.name)
def test_iterators_that_some_size_makes_wrap_around_are_refused(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("trap", IN_RANGE, ids=lambda trap: trap.name)
def test_iterators_that_the_types_of_sizes_keep_in_range_are_read(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED


def test_what_keeps_an_iterator_in_range_can_be_stated(tmp_path: Path) -> None:
    trap = Trap("", "for (unsigned char c = 0; c < n; c++) a[c] = 1;")
    (tmp_path / "t.c").write_text(trap.text())
    with pytest.raises(BadInput, match="'c' has 8 bits, and may wrap around"):
        read_c(tmp_path / "t.c")
    assert read_c(tmp_path / "t.c", ReadOptions(assume=("n <= 255",)))


@pytest.mark.parametrize("kind", ["unsigned", "size_t", "unsigned long"])
def test_a_local_of_an_unsigned_type_is_its_value_converted(kind: str, tmp_path: Path) -> None:
    trap = Trap("", f"for (int i = 0; i < n; i++) {{ {kind} u = i; a[u] = b[i] + u; }}", "#include <stddef.h>")
    assert answer(trap, tmp_path) == PROVED
    text = function("for (int i = 0; i < n; i++) { unsigned u = i - 5; a[i] = b[i] + u / 2; }")
    assert comparison(text, text.replace("+ u / 2", "+ (i - 5) / 2"), tmp_path) != PROVED


@pytest.mark.parametrize("trap", WIDE_ENOUGH, ids=lambda trap: trap.name)
def test_iterators_that_do_not_are_read(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED


@pytest.mark.parametrize("trap", CONSTANTS, ids=lambda trap: trap.name)
def test_constants_that_do_not_fit_are_not_what_they_look_like(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("trap", CONVERSIONS, ids=lambda trap: trap.name)
def test_conversions_in_conditions(trap: Trap, tmp_path: Path) -> None:
    """The condition is kept whole with what it guards: nothing is known of when it holds."""
    if answer(trap, tmp_path) == PROVED:
        (program,) = read_c(tmp_path / "t.c")
        assert all(not access.must for one in program.statements for access in one.writes)


@pytest.mark.parametrize("trap", OBSERVED, ids=lambda trap: trap.name)
def test_storage_that_others_look_at_is_refused(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


_CHAR = "for (i = 0; i < n; i++) r[i] = (char)q[i];"
_PLAIN_CHAR = [
    (_CHAR, _CHAR.replace("char", "signed char")),
    (_CHAR, _CHAR.replace("char", "unsigned char")),
    (_CHAR.replace("char", "letter"), _CHAR.replace("char", "signed char")),
    (_CHAR.replace("(char)q", "l"), _CHAR.replace("(char)q", "(signed char)l")),
    (_CHAR.replace("(char)q", "l"), _CHAR.replace("(char)q", "(unsigned char)l")),
]


@pytest.mark.parametrize(("old", "new"), _PLAIN_CHAR)
def test_whether_char_has_a_sign_is_the_compilers_choice(old: str, new: str, tmp_path: Path) -> None:
    """It is no reason for a yes, nor for a no."""
    head = "typedef char letter; char l[100]; int q[100], r[100];"
    (tmp_path / "old.c").write_text(function(old, head=head))
    (tmp_path / "new.c").write_text(function(new, head=head))
    assert isinstance(compare_files(tmp_path / "old.c", tmp_path / "new.c").verdict, Undecided)


def test_a_function_of_the_library_by_the_name_that_compilers_have_for_it(tmp_path: Path) -> None:
    old, new = (f"for (i = 0; i < n; i++) a[i] = {name}(b[i]);" for name in ("__builtin_sqrt", "sqrt"))
    head = "#include <math.h>"
    assert comparison(function(old, head=head), function(new, head=head), tmp_path) == PROVED


@pytest.mark.parametrize("trap", ELEMENTS, ids=lambda trap: trap.name)
def test_names_of_types_that_mean_others_are_refused(trap: Trap, tmp_path: Path) -> None:
    assert "which its declaration does not show" in answer(trap, tmp_path)


def test_a_declaration_that_is_none_is_told_as_such(tmp_path: Path) -> None:
    """What the front end makes of it is no type of the array."""
    file = tmp_path / "t.c"
    file.write_text(function("for (i = 0; i < n; i++) few[i] = 1;", head="double few[-5];"))
    with pytest.raises(BadInput, match=r"the compiler does not accept the declaration of 'few'"):
        read_c(file)


@pytest.mark.parametrize("test", ["n >= u", "(unsigned)n > 5", "n - 5 < u", "u > n && n < 9", "n == u || n < u"])
def test_a_size_that_an_unsigned_number_is_compared_with_may_be_below_0(test: str, tmp_path: Path) -> None:
    """In C, -3 >= 2u: the test is left as it is, and nothing of the size is taken on trust."""
    (tmp_path / "t.c").write_text(function(f"if ({test}) a[0] = 1;", setup="unsigned u = 2;"))
    (program,) = read_c(tmp_path / "t.c")
    assert program.context.is_subset(program.statements[0].domain.params())
    assert not [one.text for one in program.trusted if "not below 0" in one.text]


def test_what_depends_on_a_header_that_is_missing_is_not_known(tmp_path: Path) -> None:
    head = '#include "missing_for_sure.h"'
    for setup, loop in (("", "for (idx_t c = 0; c < n; c++)"), ("idx_t m = n;", "for (int c = 0; c < m; c++)")):
        trap = Trap("missing", f"{loop} a[c] = c;", head, setup)
        assert "it is not known what" in answer(trap, tmp_path)


def test_loops_over_one_name_have_each_its_own_type(tmp_path: Path) -> None:
    loops = "for (short c = 0; c < 9; c++) a[c] = 1; for (int c = 0; c < n; c++) b[c] = 2;"
    for body in (loops, loops.replace("short", "size_t"), loops.replace("short", "unsigned char")):
        assert answer(Trap("two types", body, "#include <stddef.h>"), tmp_path) == PROVED
    assert "may wrap around" in answer(Trap("narrow", loops.replace("c < 9", "c < n")), tmp_path)


_SUBSCRIPTS = [
    ("x[i - 2]", "x[i - 2u]"),
    ("x[i - 2]", "x[(unsigned)(i - 2)]"),
    ("x[i - 2]", "x[i + 4294967294u]"),
    ("x[(i - 5) / 2]", "x[(i - 5) / 2u]"),
    ("x[(i - 5) % 4]", "x[(i - 5) % 4u]"),
    ("x[(i - 5) / 2]", "x[(unsigned long)(i - 5) / 2]"),
    ("x[i - (int)u]", "x[i - u]"),
    ("x[(int)(i - u)]", "x[i - u]"),
    ("x[(i - (int)u) / 2]", "x[(i - u) / 2]"),
]


@pytest.mark.parametrize(("old", "new"), _SUBSCRIPTS)
def test_a_pointer_has_more_bits_than_an_unsigned_subscript(old: str, new: str, tmp_path: Path) -> None:
    """Below 0 it wraps around to 2^32 - 1, and not to -1."""
    texts = [f"for (int i = 1; i < n; i++) a[i] = {value};" for value in (old, new)]
    before, after = (function(text, parameters="int n, double *x, unsigned u") for text in texts)
    assert comparison(before, after, tmp_path) != PROVED != comparison(after, before, tmp_path)


def test_an_unsigned_subscript_that_is_not_below_0(tmp_path: Path) -> None:
    texts = [f"for (int i = 2; i < n; i++) a[i] = b[{value}];" for value in ("i - 2", "i - 2u")]
    old, new = map(function, texts)
    assert comparison(old, new, tmp_path) == PROVED == comparison(new, old, tmp_path)


def test_a_subscript_of_as_many_bits(tmp_path: Path) -> None:
    for value in ("x[(unsigned long)i - 2]", "x[i - 2l]"):
        old, new = (function(f"for (i = 1; i < n; i++) a[i] = {one};") for one in ("x[i - 2]", value))
        assert comparison(old, new, tmp_path) == PROVED


@pytest.mark.parametrize(("start", "is_same"), [("n", False), ("m", True), ("i", True), ("i - 3", False)])
def test_a_loop_that_counts_to_0_has_no_end_below_it(start: str, is_same: bool, tmp_path: Path) -> None:
    head = "for (int i = 0; i < 9; i++)"
    texts = [f"{head} for (int j = {start}; j{test};) a[j] = i;" for test in ("-- > 0", "--")]
    old, new = (function(text, parameters="int n, unsigned short m") for text in texts)
    assert (comparison(old, new, tmp_path) == PROVED) == is_same


@pytest.mark.parametrize("body", ["q[i] = w;", "q[i] = g(w);", "q[i] = w + 1;"])
def test_types_that_the_interface_of_the_front_end_does_not_know(body: str, tmp_path: Path) -> None:
    head = "typedef _Float16 T; T q[100], w; T g(T) __attribute__((const));"
    old, new = (function(f"for (i = {first}) {body}", head=head) for first in ("0; i < n; i++", "n - 1; i >= 0; i--"))
    assert comparison(old, new, tmp_path) == PROVED


@pytest.mark.parametrize("kind", ["long double", "double long", "volatile long double"])
@pytest.mark.parametrize("head", ["{kind} z[100];", "typedef {kind} wide; wide z[100];"])
def test_long_doubles_are_read(kind: str, head: str, tmp_path: Path) -> None:
    read = Trap("", "for (i = 0; i < n; i++) b[i] = z[i] * 1.5L;", head.format(kind=kind))
    assert (answer(read, tmp_path) == PROVED) == (kind != "volatile long double")


@pytest.mark.parametrize(("option", "is_same"), [("-mlong-double-80", True), ("-mlong-double-64", False)])
def test_a_long_double_of_another_size_is_refused(option: str, is_same: bool, tmp_path: Path) -> None:
    trap = Trap("", "for (i = 0; i < n; i++) z[i] = b[i];", "long double z[100];")
    assert (answer(trap, tmp_path, CompilerOptions((option,))) == PROVED) == is_same
