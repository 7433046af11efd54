"""What a file does outside of its functions without being named, and only one of two files does."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.file import c_file
from loopwright.prove.comparison.outside import outside_difference
from loopwright.prove.comparison.unasked import NAMES
from loopwright.read.c.purity import LIBRARY
from loopwright.source import Source, Span
from tests.traps.support import PROVED, comparison, function

_LOOP = "for (i = 0; i < n; i++) a[i] = b[i];"
_HELPER = "__attribute__((noinline)) static int u(void) { return 1; }"
_INIT = "static void __attribute__((constructor)) init(void) { b[0] = 5; }"
_FILL = "static void fill(void) { b[0] = 5; }"
PAIRS = {
    "a constructor": (_HELPER, f"{_HELPER} {_INIT}"),
    "a constructor in brackets": (_HELPER, f"{_HELPER} [[gnu::constructor]] static void init(void) {{ b[0] = 5; }}"),
    "a constructor that is said before": (_FILL, f"static void fill(void) __attribute__((constructor)); {_FILL}"),
    "a constructor by a macro": (
        "#define INIT __attribute__((constructor))\n",
        "#define INIT __attribute__((constructor))\nINIT static void init(void) { b[0] = 5; }",
    ),
    "another constructor": (_INIT, _INIT.replace("5", "6")),
    "a constructor that calls another function": (
        f"{_FILL} static void __attribute__((constructor)) init(void) {{ fill(); }}",
        f"{_FILL.replace('5', '6')} static void __attribute__((constructor)) init(void) {{ fill(); }}",
    ),
    "a destructor": (_HELPER, f"{_HELPER} {_INIT.replace('constructor', '__destructor__')}"),
    "a section of constructors": (
        f"{_HELPER} {_FILL}",
        f'{_HELPER} {_FILL} __attribute__((section(".init_array"), used)) static void (*q)(void) = fill;',
    ),
    "code for the assembler": ('__asm__("");', '__asm__(""); __asm__(".globl n\\nn: .long 1");'),
    "another name": (_HELPER, f'{_HELPER} extern int w(void) __attribute__((alias("u")));'),
    "a pragma": ("", '_Pragma("GCC optimize(\\"fast-math\\")")'),
    "a function of the library": ("", "void free(void *k) { b[0] = 1; }"),
    "a variable of the library": ("", "int errno;"),
    **{
        f"the function {name} of the system": ("", f"int {name}(void) {{ b[0] = 1; return 0; }}")
        for name in (
            "sigaction", "memccpy", "strtoull", "vsscanf", "sleep", "pthread_create", "omp_get_thread_num",
            "GOMP_parallel", "__muldc3", "_Unwind_Resume", "cexpl", "iswalpha", "thrd_create",
        )
    },
}  # fmt: skip
OWN = {
    "a helper": (_HELPER, f"{_HELPER} __attribute__((noinline)) static int v(void) {{ return 2; }}"),
    "a variable with such a name": ("", "int section, alias, target;"),
    "a function of the file's own": ("", "static int time(void) { return 1; }"),
    "other functions": ("", "int total(void) { return 1; } int omp(void) { return 2; } int _sum(void) { return 3; }"),
    "what the library declares": ("", "void free(void *); extern int errno;"),
    "assembler code of a function": (
        '__asm__("");',
        '__asm__(""); static void clock_read(void) { __asm__ volatile("nop"); }',
    ),
    "a constructor of both": (_INIT, f"{_INIT} int w;"),
}


def _place(head: str) -> Span:
    return c_file(Source("t.c", function(_LOOP, head=head))).regions[0].place


@pytest.mark.parametrize("name", PAIRS)
def test_what_acts_without_its_name_is_compared(name: str) -> None:
    old, new = map(_place, PAIRS[name])
    assert outside_difference(old, new) is not None
    assert outside_difference(new, old) is not None
    assert outside_difference(new, new) is None


@pytest.mark.parametrize("name", OWN)
def test_what_does_nothing_may_be_in_one_file(name: str) -> None:
    old, new = map(_place, OWN[name])
    assert outside_difference(old, new) is None
    assert outside_difference(new, old) is None


def test_a_function_of_a_library_that_one_file_defines(tmp_path: Path) -> None:
    """Both regions call `sin`, which is that of <math.h> in one file and another one in the other."""
    loop = "for (i = 0; i < n; i++) a[i] = sin(b[i]);"
    old = function(loop, head="#include <math.h>")
    new = function(loop, head="#include <math.h>\ndouble sin(double k) { return 1; }")
    assert comparison(old, old, tmp_path) == PROVED
    assert "'sin' is not declared in the same way" in comparison(old, new, tmp_path)
    assert "'sin' is not declared in the same way" in comparison(new, old, tmp_path)


def test_the_functions_that_are_known_are_reserved() -> None:
    assert LIBRARY <= NAMES
