"""The parser in Coq against a C compiler: what it reads is what C does, and other texts it does not read.

Types are no part of it: `test_ranges.py` has iterators that wrap around, and sums that overflow.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.loops.interpreter import execute
from loopwright.prove.certificates import checker
from loopwright.prove.coq.words import name, names
from tests.coq.test_checker_texts import read_text

pytestmark = pytest.mark.usefixtures("built")
SIZES = ("n", "m")
# fmt: off
READ = [
    "for (int i = n; i > 0; i--) S(i);", "for (int i = n - 1; i >= 0; --i) S(i);",
    "for (int i = 0; i < n; i += 2) S(i);", "for (int i = 0; i < n; i = i + 3) S(i);",
    "for (int i = n; i > 0; i = i - 2) S(i);", "for (int i = n; i > 0; i -= 2) S(i);",
    "for (int i = 0; n > i; i++) S(i);", "for (int i = 0; i <= n - 1; i++) S(i);",
    "for (int i = 0; !(i >= n); i++) S(i);", "for (long long i = 0; i < n; i++) S(i);",
    "for (int64_t i = 0; i < n; i++) S(i);", "for (int i = 0; i < n; i++) // x\n S(i);",
    "for (int i = 0; i < n; i++) /* S(i); */ S(m);", "for (int i = 0; i < n; i++) /* /* */ S(m); /* */",
    "for (int i = 0; i < n; i++) /**/S(m);//\n", "/*/ S(n); /*/ S(m);", "S(n) /* ; S(m) */ ;",
    "//*\nS(n);//*/S(m);", "for (int i = 0; i < 5L; i++) S(i);", "for (int i = 0; i < (n); i++) S((i));",
    "for (int i = 0; i < - -n; i++) S(-i);", "for (int i = 0; i < n; i++) S(i - -1);", "S(n - m - 1);",
    "S(n - (m - 1));", "S(2 * n - 3 * m * 2);", "S(n * 2 / 3);", "S(n / 2 * 3);", "S(n / 2 / 3);",
    "S(-n / 2);", "S(-(n / 2));", "S(n % 3);", "S(-n % 3);", "S((-n) % 3);", "S(n % 3 * 2);",
    "S(n * 7 % 3);", "S(2 - 3 * n / 2 + 1);", "S(!n);", "S(n && m);", "S(n < m);", "S(n ? 1 : 2);",
    "S(n < m ? n : m);", "S(n < m ? n : m < 0 ? 1 : 2);", "S((n < m ? n : m) + 1);", "S(n < m ? n : m + 1);",
    "S(n < m || m < 3 && n < 2 ? 7 : 8);", "S(n == m == 1 ? 7 : 8);", "S(n < m < 1 ? 7 : 8);",
    "S(n <= m != 0 ? 7 : 8);", "S(!n < m ? 7 : 8);", "S(!(n < m) ? 7 : 8);",
    "S(n + 1 < m * 2 && !(m > n || n == 3) ? 1 : 0);", "S(min(n, m));", "S(min(n, m) - 1);",
    "S(min(n, max(m, 2)));", "S(floord(n, 2));", "S(floord(-n, 3));", "if (n < m) S(1); else S(2);",
    "if (n < m) if (n < 1) S(1); else S(2);", "if (n < m) { if (n < 1) S(1); } else S(2);", "if (n) S(1);",
    "if (n < m);S(1);", "if (n < m) {} else S(1);", "if (n < m) S(1); else if (m < 2) S(2); else S(3);",
    "if (n < m) { S(1) ; ; }", "{ { S(1); } S(2); }", "; S(1);;",
    "for (int i = 0; i < n; i++) for (int i = 0; i < m; i++) S(i);",
    "for (int i = 0; i < n; i++) { for (int i = 0; i < m; i++) S(i); S(i); }",
    "for (int n = 0; n < 3; n++) S(n);", "for (int i = 0; i < n; i++) { int i = 7; S(i); }",
    "{ int n = 2; S(n); } S(n);", "int k = n + 1; S(k);", "const int k = n + 1; S(k); S(k + 1);",
    "for (int i = 0; i < n && i < m; i++) S(i);", "for (int i = 0; i < n || i < m; i++) S(i);",
    "for (int i = 0; i < min(n, m); i += 1) S(i);", "for (int i = 0; i * 2 < n; i++) S(i);",
    "for (int i = 0; i % 3 != 2; i++) S(i);", "for (int i = n; i <= -1; i++) S(i / 2);",
    "for (int i = -n; i < n; i++) S(i % 2);", "for (int i = -5; i < 5; i++) S(floord(i, 3));",
    "for (int i = -5; i < 5; i++) S((i + 1) / 2);", "for (int i = -5; i < 5; i++) if (i % 2 == 1) S(i);",
    "for (int i = -5; i < 5; i++) if ((i + n) % 3 == 0) S(i);", "S ( n ) ;", "S\n(\nn\n)\n;", "\tS(n)\v;\f",
    "S(n);\r\nS(m);", "S(n); // é\n", "S(n)/*\"*/; S(m); /*\"*/",
    "for (int i = 0; i < n; i++) if (i < 2) ; else S(i);", "for (int i = 3; i < n; i++); S(n);",
    "S(99999999999 % 7);", "S(n - 2147483648);", "S(1 - 1 - 1);", "S(7 - 2 * 3 % 4);", "S(10 % 4 % 3);",
    "S(8 / 4 / 2);", "S(- 7 / 2);", "S(-7 % 3);", "S(3 - -7 % 3);", "S(n < 3 == 1 ? 5 : 6);",
]
NOT_READ = [
    "for (int i = n; i-- > 0;) S(i);", "for (int i = 0; i < n; i -= -2) S(i);",
    "for (int i = 0; i < n; i = 3 + i) S(i);",
    "for (unsigned char i = 250; i < n + 253; i++) { S(i); if (i == 252) break; }",
    "for (_Bool i = 0; i < n; i++) { S(i); break; }", "for (float i = 0; i < n; i++) S(i);",
    "for (double i = 0; i < n / 2.0; i++) S((int) i);", "for (int i = 0; i < n; i++) <% S(i); %>",
    "for (int i = 0; i < n; i++) // x \\\n S(i);\nS(m);", "for (int i = 0; i < 010; i++) S(i);",
    "for (int i = 0; i < 0x5; i++) S(i);", "for (int i = 0; i < 5u; i++) S(i);",
    "for (int i = n; i < 2u; i++) S(i);", "for (int i = 0; i < 0b11; i++) S(i);",
    "for (int i = 0; i < 3e0; i++) S(i);", "for (int i = 0; i < 1'000; i++) S(i);",
    "for (int i = 0; i < '\\3'; i++) S(i);", "for (int i = 0; i < 5.; i++) S(i);",
    "for (int i = 0; i < 00; i++) S(i);", "for (int i = 0; i < 09; i++) S(i);",
    "for (int i = 0; i < (int)n; i++) S(i);", "for (int i = 0; i < (char)(n + 256); i++) S(i);",
    "for (int i = 0; i < (unsigned)3; i++) S(i);", "for (int i = 0; i < +n; i++) S(+i);",
    "for (int i = 0; i < n--; i++) S(i);", "for (int i = 0; i < n; i++) S(i++);",
    "for (int i = 0; i < n; i++) S(--i + 1);", "for (int i = 0; i < n; i++) S(i--1);",
    "for (int i = 0; i < n; i++) S(i---1);", "for (int i = 0; i < n; i++) S(i+ +1);", "S(m / -2);",
    "S(n % -3);", "S(n / 0);", "S(n << 1);", "S(~n);", "S(n & 1);", "S(n = m);", "S((n, m));",
    "S(floord(n, -2));", "S(ceild(n, 2));", "if (n < m) else S(1);", "if (n < m, m < n) S(1);",
    "if (n = m) S(1);", "S(1) S(2);", "S(1), S(2);", "S(1);S(2)", "do S(1); while (0);",
    "goto a; S(1); a: S(2);", "a: S(1);", "switch (n) { case 1: S(1); default: S(2); }", "return; S(1);",
    "for (int i = 0; i < n; i++) { if (i == 1) continue; S(i); }",
    "for (int i = 0; i < n; i++) { if (i == 1) break; S(i); }", "for (int i = i; i < 2; i++) S(i);",
    "int k = n; k = 3; S(k);", "int k = n, l = m; S(k); S(l);", "int k; k = n; S(k);",
    "for (int i = 0, j = 0; i < n; i++) S(i);", "for (int i = 0; i < n; i++, n--) S(i);",
    "for (int i = 0; i < n;) S(i++);", "int i; for (i = 0; i < n; i++) S(i);", "for (; n < 0;) S(1);",
    "for (int i = 0; i < n; ++i, ++i) S(i);", "for (int i = 0; i < n; i += n - n + 1) S(i);",
    "for (int i = 0; i < n; i += 1 + 1) S(i);", "for (int i = 0; i < n; i *= 2) S(i), i++;",
    "for (int i = 0; i < n; i += 0x2) S(i);", "for (int i = n; i < m; i += 2u) S(i);",
    "for (int i = 0; i * i < n; i++) S(i);", "for (int i = 0; i < n; i++) S(i * i);",
    "#if 0\nS(1);\n#endif\nS(2);", "#define n 3\nS(n);", "S\\\n(1);", "S(1\\\n2);", "S(n??/\n);",
    "f\\\nor (int i = 0; i < n; i++) S(i);", "S(n); \"S(m);\";", "'S(m);'; S(n);", "S(n)%:; ",
    "for (int i = 0; i < n; i++) [[likely]] S(i);", "for (register int i = 0; i < n; i++) S(i);",
    "for (const int i = 0; i < n;) { S(i); break; }", "for (volatile int i = 0; i < n; i++) S(i);",
    "for (int *i = 0; i < n; i++) S(i);", "for (auto i = 0; i < n; i++) S(i);", "S(8 / (4 / 2));",
]
# fmt: on
C = """
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define floord(n, d) ((n) < 0 ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
static void S(long long x) { printf("%lld ", x); }
int main(int count, char **given) { int n = atoi(given[1]), m = atoi(given[2]);
"""


def test_what_is_read_is_what_a_compiler_makes_of_it(tmp_path: Path) -> None:
    """All as one program, a number before each."""
    whole = "\n".join(f"S({1000 + k}); {{ {text}\n}}" for k, text in enumerate(READ))
    (tmp_path / "all.c").write_text(f"{C}{whole}\nreturn 0; }}\n")
    subprocess.run(["gcc", "-w", "-std=c11", "-o", "all", "all.c"], cwd=tmp_path, check=True)
    node = read_text(whole, SIZES)
    for n, m in ((5, -3), (-7, 4), (3, 3), (0, 1)):
        command = [str(tmp_path / "all"), str(n), str(m)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert [str(values[0]) for _, values in execute(node, {"n": n, "m": m})] == done.stdout.split()


@pytest.mark.parametrize("text", NOT_READ)
def test_other_texts_are_not_read(text: str) -> None:
    problem = " ".join(
        ("scan", *names(SIZES), "and", "0", "0", "printed", name(text), "0", "atcall", "0", "0")
    )
    command = [str(checker.checker()), "read"]
    done = subprocess.run(command, input=problem, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "unread\n")
