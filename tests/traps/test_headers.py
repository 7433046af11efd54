"""Headers that change what a text means after it is written, and compilers that do not accept it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import BadInput, GaveUp
from loopwright.progress import silent
from loopwright.read.c.options import ReadOptions
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Request
from loopwright.rewrite.rereading import OTHER_LINES
from tests.check.test_meaning import answer as checked
from tests.traps.support import PROVED, Trap, answer, comparison, function

_TRIANGLE = "for (i = 0; i < n; i++) for (j = i; j < n; j++) S: A[i][j] = b[j];"
_TILED = "tile(S, 4, 4)"
_INCLUDE = '#include "h.h"'


def _trap(header: str, head: str = _INCLUDE, after: str = "", script: str = _TILED) -> Trap:
    return Trap("", _TRIANGLE, head, after=after, headers=(("h.h", header),), script=script)


HELPERS = [
    ("#define max(p, q) ((p) < (q) ? (p) : (q))\n#define USE max(1, 2)\n", "max"),
    ("static inline int min(int p, int q) { return p < q ? p : q; }\n", "min"),
    ("#define LEAST(p, q) min(p, q)\n", "min"),
    ("#define LEAST(max, q) min(max, q)\n", "min"),
    ("struct range { int least, max; };\n", "max"),
    ("enum { floord = 3 };\n", "floord"),
]


@pytest.mark.parametrize(("header", "name"), HELPERS)
def test_helpers_that_a_header_knows_are_written_out(header: str, name: str, tmp_path: Path) -> None:
    """A macro of ours would change what the header's macros and functions mean after the region."""
    trap = _trap(header)
    assert answer(trap, tmp_path) == PROVED
    new = transformed(Request(file=str(tmp_path / "t.c"), script=_TILED), silent).source.text
    assert f"#define {name}(" not in new and new.count("#define") == 2


@pytest.mark.parametrize("header", ["double other;\n", "#define LATER(max,min) ((max) > (min))\n", "#include <stdio.h>\n"])
def test_helpers_of_the_file_itself_are_used(header: str, tmp_path: Path) -> None:
    """Parameters of a header's macros, as those of the C library are, name their arguments only."""
    trap = _trap(header)
    assert answer(trap, tmp_path) == PROVED
    for _ in range(2):
        new = transformed(Request(file=str(tmp_path / "t.c"), script=_TILED), silent).source.text
        assert new.count("#define") == 3
        head, _, rest = new.partition("#pragma scop")
        (tmp_path / "t.c").write_text(f"{head}#pragma scop\n{_TRIANGLE}\n#pragma endscop\n{rest.partition('endscop')[2]}")


def test_minima_that_are_written_out_are_read_as_minima(tmp_path: Path) -> None:
    """Two cases for each of them would be too many sets to compare."""
    body = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) if (j >= i - max && i + j <= n + min) S: A[i][j] = i;"
    trap = Trap("", body, "int min, max;", parameters="int n, int m", script="tile(S, i=2, j=3)")
    assert answer(trap, tmp_path) == PROVED


CHANGED = [_trap("#define iT 5\n"), _trap("#define jT i\n")]


@pytest.mark.parametrize("trap", CHANGED)
def test_names_of_new_loops_that_are_macros(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


_NULL = "#undef NULL\n#define NULL b\n"
ALLOCATED = [
    (_trap("#include <stdio.h>\n", script="pack(b, S)"), True),
    (_trap(f"#include <stdio.h>\n{_NULL}", script="pack(b, S)"), True),  # <stdlib.h>, after it, defines NULL again
    (_trap(f"#include <stdio.h>\n{_NULL}", after="s = NULL[0];", script="pack(b, S)"), False),
    (_trap("", head=f"{_INCLUDE}\n{_NULL}", script="pack(b, S)"), False),
]


@pytest.mark.parametrize(("trap", "is_proved"), ALLOCATED)
def test_memory_that_new_loops_allocate_is_compared_with_the_null_pointer_of_a_header(
    trap: Trap, is_proved: bool, tmp_path: Path
) -> None:
    assert (answer(trap, tmp_path) == PROVED) == is_proved


@pytest.mark.parametrize(("after", "is_told"), [("s = __LINE__;", True), ("s = 1;", False)])
def test_lines_after_a_region(after: str, is_told: bool, tmp_path: Path) -> None:
    assert answer(_trap("", after=after), tmp_path) == PROVED
    found = transformed(Request(file=str(tmp_path / "t.c"), script=_TILED), silent)
    assert (OTHER_LINES in found.regions[0].assumptions) == is_told


_REFUSED = 'extern int weak(void) __attribute__((weakref("h")));'


@pytest.mark.parametrize(("head", "is_told"), [(_REFUSED, True), ("static " + _REFUSED[7:], False)])
def test_errors_outside_of_a_region_are_told(head: str, is_told: bool, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(Trap("", "for (i = 0; i < n; i++) x[i] = 1;", head).text())
    found = transformed(Request(file=str(tmp_path / "t.c")), silent).regions[0].assumptions
    assert any(text.startswith("the file compiles, though") for text in found) == is_told


REDEFINED = [
    ("#define N 10\n" + _INCLUDE, "#undef N\n#define N 20\n", "for (i = 0; i < N; i++) a[i] = s;", True),
    ("#define z b\n" + _INCLUDE, "#undef z\n#define z a\n", "for (i = 1; i < n; i++) z[i] = a[i - 1];", True),
    ("#define P 0\n" + _INCLUDE, "#undef P\n", "for (i = 1; i < n; i++) a[i - P] = a[i];", False),
    ("#define N M\n#define M 9\n" + _INCLUDE, "#undef M\n#define M 8\n", "for (i = 0; i < N; i++) a[i] = s;", True),
]


@pytest.mark.parametrize(("head", "header", "body", "is_read"), REDEFINED)
def test_macros_of_the_file_that_a_header_redefines(
    head: str, header: str, body: str, is_read: bool, tmp_path: Path
) -> None:
    """What is proved holds for both definitions; in two files they are not the same."""
    trap = Trap("", body, head, headers=(("h.h", header),))
    assert (answer(trap, tmp_path) == PROVED) == is_read
    (tmp_path / "h.h").write_text(header)
    other = head.replace(_INCLUDE, "")
    assert comparison(function(body, head=head), function(body, head=other), tmp_path) != PROVED


_LARGER = "#define MAX(p, q) ((p) >= (q) ? (p) : (q))\nint q[100];\n" + _INCLUDE
_AGAIN = [
    ("", True),
    ("#undef MAX\n#define MAX(p, q) ((p) * 2 - (q))\n", False),
    ("#undef MAX\n#define MAX(p, q) ((q) >= (p) ? (p) : (q))\n", True),
    ("#define larger(p, q) MAX(p, q)\n", True),
]


@pytest.mark.parametrize(("header", "is_larger"), _AGAIN)
def test_a_step_that_a_header_makes_another_one(header: str, is_larger: bool, tmp_path: Path) -> None:
    """Which steps may be taken in any order is for the definition that the compiler has."""
    loop = "for (i = 0; i < n; i++) L: k = MAX(k, q[i]);"
    trap = Trap("", loop, _LARGER, "k = 0;", "s = k;", headers=(("h.h", header),), script="reverse(L, i)")
    assert (answer(trap, tmp_path) == PROVED) == is_larger


BRANCHES = """#ifdef FAST
static double g(double v) { return v + 1; }
typedef float real;
enum { K = 1 };
#else
static double g(double v) { return v; }
typedef double real;
enum { K = 0 };
#endif
"""


@pytest.mark.parametrize("value", ["g(b[i])", "(real)b[i]", "b[i] + K", "b[i]"])
@pytest.mark.parametrize("name", ["FAST", "SLOW"])
def test_macros_of_one_file_that_decide_what_a_header_says(value: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text(BRANCHES)
    body = f"for (i = 0; i < n; i++) a[i] = {value};"
    old, new = (function(body, head=text + _INCLUDE) for text in ("", f"#define {name}\n"))
    assert (comparison(old, new, tmp_path) == PROVED) == (name == "SLOW")


SIZES = [
    ("#define N 10\n", "#define N 10\n#include \"n.h\"\n", False),
    ("#define N 10\n", "#define N 10\n", True),
    ("#define N 10\n#include \"n.h\"\n", "#define N 20\n", True),
    ("#define N 10\n#include \"n.h\"\n", "#define N 10\n", False),
    ("#define M 10\n#define N M\n", "#define M 20\n#define N M\n", False),
    ("#define N 10\n", "int N = 20;\n", False),
]
"""How the original and the program under test say what N is."""


@pytest.mark.parametrize(("old", "new", "is_same"), SIZES)
def test_sizes_of_a_check_that_headers_define(old: str, new: str, is_same: bool, tmp_path: Path) -> None:
    (tmp_path / "n.h").write_text("#undef N\n#define N 20\n")
    rest = (
        "double a[100], b[100];\nint main(void) {\n#pragma scop\nfor (int i = 0; i < N; i++) a[i] = b[i];\n"
        "#pragma endscop\nreturn a[15] != 0; }\n"
    )
    assert (checked(tmp_path, old + rest, new + rest) == "VALID") == is_same


NOT_COMPILED = [
    Trap("a type of another compiler", "for (i = 0; i < n; i++) a[i] = q;", setup="_BitInt(7) q = 3;"),
    Trap("in another function", "for (i = 0; i < n; i++) a[i] = s;", "void g(void) { _BitInt(9) q = 1; s = q; }"),
]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="what gcc says is asked")
@pytest.mark.parametrize("trap", NOT_COMPILED, ids=lambda trap: trap.name)
def test_texts_that_the_compiler_does_not_accept(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED
    if trap.setup:
        assert comparison(trap.text(), trap.text(), tmp_path) != PROVED


def test_a_new_text_that_an_old_standard_does_not_have(tmp_path: Path) -> None:
    """New loops declare their iterators, which C had not in 1989."""
    (tmp_path / "t.c").write_text(_trap("").text().replace(_INCLUDE, ""))
    reading = ReadOptions(compiled=CompilerOptions(("-std=c89",)))
    with pytest.raises((GaveUp, BadInput), match="does not compile"):
        transformed(Request(file=str(tmp_path / "t.c"), script=_TILED, reading=reading), silent)


def test_a_snippet_need_not_compile(tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text("double a[9];\n#pragma scop\nfor (int i = 0; i < 9; i++) a[i] = 1;\n#pragma endscop\n")
    assert "a[i] = 1" in transformed(Request(file=str(tmp_path / "t.c")), silent).source.text


NAMED_LIKE_A_FUNCTION = [
    ("#include <math.h>", "1", True),
    ("#include <math.h>", "y1(1)", False),
    ("double y1(double);", "1", False),
]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="what gcc says is asked")
@pytest.mark.parametrize(("head", "value", "is_read"), NAMED_LIKE_A_FUNCTION)
def test_a_variable_that_has_the_name_of_a_function(head: str, value: str, is_read: bool, tmp_path: Path) -> None:
    text = (
        f"{head}\nstatic double y1[99];\nvoid f(int n) {{\n#pragma scop\n"
        f"for (int i = 0; i < n; i++) y1[i] = {value};\n#pragma endscop\n}}\n"
    )
    assert (comparison(text, text, tmp_path) == PROVED) == is_read
