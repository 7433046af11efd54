"""Programs whose segment is a reordering of the original, and which do something else around it."""

from __future__ import annotations

from pathlib import Path
from platform import machine

import pytest

from loopwright.check.program.outside import other_effect
from loopwright.check.program.segment import parse_input
from loopwright.check.run.report import Answer, as_text
from loopwright.check.verify import CheckOptions, check_text, prepared
from loopwright.errors import BadInput, GaveUp
from loopwright.source import Source
from tests.check.support import QUICK
from tests.check.test_meaning import answer, program

_MAIN = "#define M 3\nint z = 4; static void fill(void) { B[0] = 1; }"
AROUND = {
    "the end": ("", "exit(0);"),
    "a return": ("A[0] = 1;", "return 0; A[0] = 1;"),
    "other code after it": ("C[0] = A[0];", "C[0] = A[1];"),
    "more code after it": ("", "A[0] = 9;"),
    "less code after it": ("C[0] = A[0];", ""),
}
ABOVE = {
    "another first value": ("int z = 4;", "int z = 5;"),
    "another macro": ("#define M 3", "#define M 4"),
    "another function": ("B[0] = 1", "B[0] = 2"),
    "other values before it": ("/*before*/", "for (i = 0; i < N; i++) B[i] = i;"),
    "a value that differs": ("double A[N]", "double A[N] = { 1 }"),
    "a type of the file": ("int z", "long z"),
}


@pytest.mark.parametrize("name", [*AROUND, *ABOVE])
def test_a_program_that_differs_around_its_segment_is_no_plain_yes(name: str, tmp_path: Path) -> None:
    """The segments agree; the answer says what is around them, and is not exit 0."""
    frame = program(functions=_MAIN, before="fill(); z = M; /*before*/")
    frame = frame.replace("return 0;", "/*after*/ return 0;")
    old, new = AROUND.get(name, ("/*after*/", "/*after*/"))
    texts = [frame.replace("/*after*/", one) for one in (old, new)]
    if name in ABOVE:
        texts = [frame, frame.replace(*ABOVE[name])]
    assert texts[0] != texts[1]
    assert answer(tmp_path, texts[0], texts[0]) == Answer.VALID.name
    original = tmp_path / "old.c"
    original.write_text(texts[0])
    report = check_text(texts[1], original, CheckOptions(tools=QUICK), name=str(tmp_path / "new.c"))
    assert (report.answer, report.exit_code) == (Answer.GAVE_UP, 3)
    assert "but the code around it differs: " in as_text(report).splitlines()[0]


def test_an_original_without_surroundings_is_compared_as_a_segment(tmp_path: Path) -> None:
    original = tmp_path / "old.c"
    original.write_text(program().replace("int main(void)", "int kernel(void)"))
    report = check_text(program(before="B[0] = 1;"), original, CheckOptions(tools=QUICK))
    assert report.answer is Answer.VALID
    assert as_text(report).startswith("p.c: the segment is valid: ")
    assert "the code around it was not compared: their functions have different names" in as_text(report)


FRAME = """#define N 6
double A[N], B[N];
int seen;
int main(void)
{
  double sums[N]; int flag = 0, k, count;
  for (k = 0; k < N; k++) { B[k] = k; sums[k] = 0; }
  for (count = 0; count < N; count++) A[count] = 1;
#pragma scop
  for (int i = 0; i < N; i++)
    A[i] = A[i] + B[i];
#pragma endscop
  return flag + seen + (int)sums[0] + count == 7;
}
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("seen = 1;", Answer.GAVE_UP),
        ("flag = 1;", Answer.GAVE_UP),
        ("sums[i] = 1;", Answer.GAVE_UP),
        ("count = i;", Answer.GAVE_UP),
        ("k = i;", Answer.VALID),
        ("double sums[N]; sums[i] = 1;", Answer.VALID),
    ],
)
def test_what_the_original_leaves_alone(more: str, expected: Answer, tmp_path: Path) -> None:
    """Variables that are looked at elsewhere; a counter of other loops may be used, and new ones may."""
    text = FRAME.replace("    A[i] = A[i] + B[i];", f"  {{ A[i] = A[i] + B[i]; {more} }}")
    assert answer(tmp_path, FRAME, text) == expected.name


BESIDES = {
    "by a function of the library": ("memset(&z, 1, sizeof z);", ""),
    "by a pointer that is set later": ("int *p; p = &z; *p = 5;", ""),
    "by a field": ("known.at[0] = 5;", ""),
    "by the element of a number": ("0[known.at] = 5;", ""),
    "by what a function returns": ("*where() = 5;", ""),
    "by a function with a parameter": ("change(&z);", ""),
    "allocated memory, by what a function returns": ("*given() = 5;", ""),
    "allocated memory, in another cell": ("given()[9]++;", ""),
    "allocated memory, by a field": ("change(list->at);", ""),
    "allocated memory, by a chain": ("for (struct S *q = first(); q; q = q->next) q->v = 5;", ""),
    "allocated memory, by the library": ("memset(given(), 1, 4);", ""),
    "allocated memory, by a number": ("*(int *)(unsigned long)given() = 5;", ""),
    "allocated memory, by a pointer to a function": ("int *(*g)(void) = given; *g() = 5;", ""),
    "allocated memory that is given back": ("free(given());", ""),
    "what is printed": ('printf("%d", 3);', ""),
    "the next random number": ("srand(3);", 'printf("%d", rand());'),
    "a variable that lasts": ("count();", "count();"),
    "the iterator": ("i = 3;", 'printf("%d", i);'),
}
"""What is done in the segment, and after it."""


ALLOWED = {
    "nothing": ("", ""),
    "allocated memory that stays as it was": ("*given() = 1;", ""),
    "memory of its own": ("int *t = malloc(40); t[0] = 5; free(t);", ""),
    "the iterator, set to what it is": ("i = 6;", 'printf("%d", i);'),
}


@pytest.mark.parametrize("name", [*ALLOWED, *BESIDES])
def test_what_a_segment_changes_besides_is_no_yes(name: str) -> None:
    functions = (
        "int z = 4; struct { int *at; } known = { &z };\nint *where(void) { return &z; }\n"
        "void change(int *p) { *p = 5; }\nint count(void) { static int k; return k++; }\n"
        "struct S { int *at, v; struct S *next; } *list;\nint *given(void) { return list->at; }\n"
        "struct S *first(void) { return list; }\n"
    )
    made = "list = calloc(2, sizeof *list); list->next = list + 1; list->at = malloc(40); *list->at = 1;"
    inside, after = (ALLOWED | BESIDES)[name]
    loop = "for (i = 0; i < 6; i++) A[i] = B[i];"
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\ndouble A[6], B[6];\n"
        f"{functions}int main(void) {{\nint i; {made}\n"
        f"/*@ polycheck start spec\n{loop}\n*/\n{loop} {inside}\n"
        f'/*@ polycheck end */\nprintf("%d%d", z, list->next->v); {after}\nreturn 0; }}\n'
    )
    found = check_text(text, None, CheckOptions(tools=QUICK)).answer
    assert found is (Answer.VALID if name in ALLOWED else Answer.GAVE_UP)


LEFT = {
    "as it is": ("for (i = 0; i < n; i++) A[i] = B[i];", True),
    "from the end": ("for (i = n - 1; i >= 0; i--) A[i] = B[i];", False),
    "from the end, and set": ("for (i = n - 1; i >= 0; i--) A[i] = B[i]; i = n;", True),
    "from the end, and set to more": ("for (i = n - 1; i >= 0; i--) A[i] = B[i]; i = n + 1;", False),
    "with an iterator of its own": ("for (int i = 0; i < n; i++) A[i] = B[i];", False),
    "with a size that changes": ("for (i = 0; i < n; i++) A[i] = B[i]; int *p = &n; *p = 3; i = n;", False),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_in_an_iterator_is_compared(name: str) -> None:
    loop, is_valid = LEFT[name]
    text = (
        "#include <stdio.h>\ndouble A[6], B[6];\nint main(void) {\nint i, n = 6;\n"
        f"/*@ polycheck start spec\nfor (i = 0; i < n; i++) A[i] = B[i];\n*/\n{loop}\n/*@ polycheck end */\n"
        'printf("%d", i); return 0; }\n'
    )
    found = check_text(text, None, CheckOptions(tools=QUICK)).answer
    assert found is (Answer.VALID if is_valid else Answer.GAVE_UP)


BEFORE = {
    "many blocks, given back": ("for (i = 0; i < 400000; i++) free(malloc(24)); at = malloc(8);", True),
    "a block that is moved": ("at = malloc(1 << 24); *at = 1; at = reallocarray(at, 1 << 26, 4);", True),
    "memory of the stack": ("at = alloca(8);", False),
    "memory of the system": ("at = mmap(0, 4096, 3, 0x22, -1, 0);", False),
}


@pytest.mark.parametrize("name", BEFORE)
def test_memory_that_is_made_before(name: str) -> None:
    """What the segment writes there is as it was, and is not compared where the memory is not known."""
    before, is_valid = BEFORE[name]
    loop = "for (i = 0; i < 6; i++) A[i] = B[i];"
    text = (
        "#define _GNU_SOURCE\n#include <alloca.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n"
        "double A[6], B[6]; int *at; int *where(void) { return at; }\n"
        f"int main(void) {{\nint i; {before} *at = 1;\n/*@ polycheck start spec\n{loop}\n*/\n"
        f"{loop} *where() = 1;\n/*@ polycheck end */\nreturn *at; }}\n"
    )
    found = check_text(text, None, CheckOptions(tools=QUICK))
    assert found.answer is (Answer.VALID if is_valid else Answer.GAVE_UP)


def test_what_is_too_large_to_be_compared_is_named() -> None:
    loop = "for (i = 0; i < 6; i++) A[i] = B[i];"
    text = (
        "#include <stdlib.h>\ndouble A[6], B[6]; char *at; char *where(void) { return at; }\n"
        "int main(void) {\nint i; at = malloc(5UL << 29);\n"
        f"/*@ polycheck start spec\n{loop}\n*/\n{loop} MORE\n"
        "/*@ polycheck end */\nreturn at[3]; }\n"
    )
    found = check_text(text.replace("MORE", "*where() = 0;"), None, CheckOptions(tools=QUICK))
    assert found.answer is Answer.GAVE_UP
    assert any(one.endswith("after the segment: allocated memory") for one in found.notes)
    assert check_text(text.replace("MORE", ""), None, CheckOptions(tools=QUICK)).answer is Answer.VALID


UNLIKE = {
    "a pointer inside of an element": "double *p = (double *)((char *)B + 4);"
    " for (i = 0; i < 6; i++) A[i] = p[i];",
    "another way of rounding": "__builtin_ia32_ldmxcsr(0x9fc0); for (i = 0; i < 6; i++) A[i] = B[i];",
}


@pytest.mark.parametrize("name", UNLIKE)
def test_what_reads_or_rounds_otherwise_is_no_yes(name: str) -> None:
    text = (
        "double A[6], B[6];\nint main(void) {\nint i;\n/*@ polycheck start spec\n"
        f"for (i = 0; i < 6; i++) A[i] = B[i];\n*/\n{UNLIKE[name]}\n/*@ polycheck end */\nreturn 0; }}\n"
    )
    assert verdict_of(text) is not Answer.VALID


def verdict_of(text: str) -> Answer | None:
    """The answer; None where there is none."""
    try:
        return check_text(text, None, CheckOptions(tools=QUICK)).answer
    except (BadInput, GaveUp):
        return None


def test_what_lets_the_compiler_reassociate_is_no_yes_by_terms() -> None:
    text = (
        "PRAGMA\ndouble B[6], s;\nint main(void) {\nint i;\n/*@ polycheck start spec\n"
        "for (i = 0; i < 6; i++) s += B[i];\n*/\n"
        "{ double t = s; for (i = 0; i < 6; i++) t += B[i]; s = t; }\n/*@ polycheck end */\nreturn 0; }\n"
    )
    wide = '#pragma GCC target("prefer-vector-width=512")' if machine() == "x86_64" else ""
    assert all(verdict_of(text.replace("PRAGMA", one)) is Answer.VALID for one in ("", wide))
    fast = 'optimize("fast-math")'
    others = [f"#pragma GCC {fast}", *([wide.replace('"p', '"fma,p'), f"{wide} {fast}"] if wide else [])]
    assert all(verdict_of(text.replace("PRAGMA", one)) is None for one in others)


LEADING = [
    ("", "double *p", "p[0] = 7;", True),
    ("", "double *p", "double *q; q = p; q[0] = 7;", True),
    ("", "double **p", "double *q = *p; q[0] = 7;", True),
    ("", "double *p", "for (double *q = p, *e = p + 2; q != e; q++) *q = 1;", True),
    ("", "double *p", "memcpy(p, B, 8);", True),
    ("static void side(double *q) { q[0] = 7; }", "double *p", "side(p);", True),
    ("struct S { double *p; };", "struct S s", "s.p[0] = 7;", True),
    ("struct S { double p; };", "struct S *s", "s->p = 7;", True),
    ("extern int flag;", "void", "flag = 7;", True),
    ("#include <getopt.h>", "void", "optind = 7;", True),
    ("", "int n", "n = 7;", False),
    ("", "double *p", "double t[3]; double *q = t; q[1] = 2;", False),
    ("#include <stdlib.h>", "double *p", "double *q = malloc(80); q[1] = 2; free(q);", False),
    ("static int flag;", "void", "flag = 7;", False),
]
"""What the program declares, the parameters around its segment, what this does besides its operations."""


@pytest.mark.parametrize(("head", "parameters", "more", "is_seen"), LEADING)
def test_memory_of_callers_that_a_segment_changes(
    head: str, parameters: str, more: str, is_seen: bool, tmp_path: Path
) -> None:
    """Variables of functions that call it, literals, variables of other files: no run compares them."""
    text = (
        f"#include <string.h>\n#define N 8\ndouble A[N], B[N];\n{head}\nvoid kernel({parameters}) {{\n"
        "#pragma scop\nfor (int i = 0; i < N; i++) A[i] = B[i];\n%s\n#pragma endscop\n}\n"
        "int main(void) { return 0; }\n"
    )
    (tmp_path / "old.c").write_text(text % "")
    given = parse_input(Source(str(tmp_path / "new.c"), text % more), tmp_path / "old.c")
    job = prepared(given, CheckOptions({"N": 8}, tools=QUICK))
    assert (other_effect(job.spec, job.sites.known) is not None) == is_seen
