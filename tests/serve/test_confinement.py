"""C in the playground makes the compiler read nothing but headers of the C library."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.serve.confinement import refuse_reading
from loopwright.source import Source
from tests.conftest import ROOT

REFUSED = {
    "absolute": '#include "/etc/passwd"',
    "absolute, angles": "#include </etc/passwd>",
    "upwards": '#include "../../etc/passwd"',
    "upwards, angles": "#include <../../etc/passwd>",
    "through a header's folder": "#include <sys/../../../etc/passwd>",
    "beside the file": '#include "secret.h"',
    "not of the C library": "#include <linux/version.h>",
    "computed": '#define F "/etc/passwd"\n#include F',
    "computed by a call": "#define F(x) </etc/x>\n#include F(passwd)",
    "spaces": '  #  include   "/etc/passwd"',
    "a comment between": '#/* */include/* */"/etc/passwd"',
    "a line joined": '#inc\\\nlude "/etc/passwd"',
    "a line joined with blanks": '#inc\\  \nlude "/etc/passwd"',
    "a line joined, with the ends of lines of another system": '#inc\\\r\nlude "/etc/passwd"\r',
    "a line that ends otherwise": '#define F 1\r#include "/etc/passwd"',
    "a digraph": '%:include "/etc/passwd"',
    "include_next": "#include_next <stdio.h>",
    "import": '#import "/etc/passwd"',
    "embed": 'int a[] = {\n#embed "/etc/passwd"\n};',
    "has_include": '#if __has_include("/etc/passwd")\n#endif',
    "has_include, called otherwise": '#define H __has_include\n#if H("/etc/passwd")\n#endif',
    "has_include, pasted": '#define P(a, b) a##b\n#if P(__has_, include)("/etc/passwd")\n#endif',
    "has_include, pasted by a digraph": '#define P(a, b) a %:%: b\n#if P(__has_, include)("/etc/passwd")\n#endif',
    "has_include, pasted by the library": '#include <stdio.h>\n#if __CONCAT(__has_, include)("/etc/passwd")\n#endif',
    "has_include, hidden in a macro": '#include <stdio.h>\n#define Q __CONCAT(__has_, include)("/etc/passwd")\n#if Q\n#endif',
    "has_include_next": "#if 0\n#elif __has_include_next(<stdio.h>)\n#endif",
    "has_embed": '#if __has_embed("/etc/passwd")\n#endif',
    "pragma dependency": '#pragma GCC dependency "/etc/passwd"',
    "pragma by an operator": '_Pragma("GCC dependency \\"/etc/passwd\\"")',
    "pragma by pasting": '#define P(a, b) a##b\nP(_Pra, gma)("GCC dependency \\"/etc/passwd\\"")',
    "pragma by pasting of the library": '#include <stdio.h>\n__CONCAT(_Pra, gma)("GCC dependency \\"/etc/passwd\\"")',
    "pragma of precompiled headers": '#pragma GCC pch_preprocess "/etc/passwd"',
    "line, whose file an error would show": '#line 1 "/etc/passwd"\n#error',
    "a line mark": '# 1 "/etc/passwd"\n#error',
    "a directive made by a macro": '#define H #\nH include "/etc/passwd"',
    "a directive hidden after a raw string": 'char *s = R"(\n#include "/etc/passwd"\n)";',
    "a directive in a comment that raw strings hide": 'char *s = R"(\n/*\n)";\n#include "/etc/passwd"\nchar *t = u8R"(*/\n)";',
    "a directive hidden after a comment that is none": "int a = '/*';\n#include \"/etc/passwd\"\n/* */",
    "a directive in a comment that a separator of C23 hides": 'int a = 1e+u\'0; char *b = "\'/*";\n#include "/etc/passwd"\n/* */',
    "a directive hidden after a quote": "int a; '/*\n#include \"/etc/passwd\"\n/* */",
    "a control character": '#in\0clude "/etc/passwd"',
    "a form feed": '#\finclude "/etc/passwd"',
    "a trigraph": '??=include "/etc/passwd"',
    "a line joined by a trigraph": '#inc??/\nlude "/etc/passwd"',
    "assembly with a word between": '#include <stdio.h>\n__asm__ volatile (".incbin \\"/etc/passwd\\"");',
    "assembly by a macro": '#define A __asm__\nA (".incbin \\"/etc/passwd\\"");',
    "assembly by its short name": 'asm(".incbin \\"/etc/passwd\\"");',
    "assembly in two lines": '#define A a\\\nsm\nA(".incbin \\"/etc/passwd\\"");',
    "assembly": '#include <stdio.h>\n__asm__(".incbin \\"/etc/passwd\\"");',
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_not_read(name: str) -> None:
    with pytest.raises(BadInput) as refused:
        refuse_reading(Source("kernel.c", REFUSED[name] + "\n"))
    assert refused.value.span is not None and refused.value.span.file == "kernel.c"


READ = """#include <stdio.h>
#include <immintrin.h>
#pragma GCC target("avx2")
static __m256d zero(void) { return _mm256_setzero_pd(); }
#include "math.h" /* the library's */
#ifndef N
#define N 100 // "not /* a comment
#endif
#if defined(N) && N > 10 && __STDC_VERSION__ >= 199901L && !defined __clang__
#define TEXT(x) #x
#endif
static char quote = '"' + (5-'0') + u8'"' + L'/', *text = "#include \\"/etc/passwd\\"";
void f(int n, double *restrict a) { _Static_assert(sizeof(int) == 4, "int"); }
#pragma omp parallel for
"""


def test_ordinary_texts_are_read() -> None:
    refuse_reading(Source("kernel.c", READ))
    refuse_reading(Source("kernel.c", READ.replace("\n", "\r\n")))
    for path in (*ROOT.glob("kernels/*.c"), *ROOT.glob("docs/*/*.c")):
        refuse_reading(Source(str(path), path.read_text()))


def test_the_table_is_of_texts_that_do_read(tmp_path: Path) -> None:
    """What gcc really does with three of them: the refusals are needed."""
    secret = tmp_path / "secret"
    secret.write_text("int found;\n")
    for name in ("absolute", "has_include, pasted", "has_include, hidden in a macro"):
        text = REFUSED[name].replace("/etc/passwd", str(secret)).replace("#endif", "int found;\n#endif")
        done = subprocess.run(["gcc", "-E", "-"], input=text, capture_output=True, text=True, check=False)
        assert "int found;" in done.stdout, name
