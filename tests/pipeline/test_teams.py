"""Loops that are divided among threads which there are already: their new loops are divided as well."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.errors import BadInput, GaveUp, Illegal, LoopwrightError
from loopwright.progress import silent
from loopwright.rewrite.pipeline import transformed
from loopwright.rewrite.request import Outcome, Request

HEAD = """#include <stdio.h>
enum { N = 40 };
double A[N][N], B[N], C[N], s;
int who(void);
_Thread_local int each;
_Atomic int drawn;
int mine;
#pragma omp threadprivate(mine)
"""
FIELD = "for (i = 1; i < n; i++) {0} for (j = 0; j < m; j++) {1}: A[i][j] = A[i][j] * 2 + B[j];"
PARALLEL = "#pragma omp parallel private(i, j, t)\n"
FOR = "#pragma omp for\n"

SOUND = {
    "as it is": (PARALLEL, "", FOR + FIELD.format("", "L{}"), "", "for"),
    "turned": (PARALLEL, "", FOR + FIELD.format("", "L{}"), "interchange(L{}, i, j)", "for private(i)"),
    "in tiles": (PARALLEL, "", FOR + FIELD.format("", "L{}"), "tile(L{}, 8, 4)", "for private(i, j)"),
    "a schedule": (
        PARALLEL,
        "",
        "#pragma omp for schedule(dynamic, 2)\n" + FIELD.format("", "L{}"),
        "reverse(L{}, i)",
        "for private(j) schedule(dynamic, 2)",
    ),
    "under a condition": (
        PARALLEL,
        "",
        FOR + "for (i = 1; i < n; i++) for (j = 0; j < m; j++) if (n > 9) L{}: A[i][j] += 1;",
        "interchange(L{}, i, j)",
        "for private(i)",
    ),
    "not waiting": (
        PARALLEL,
        "",
        "#pragma omp for nowait\n" + FIELD.format("", "L{}"),
        "reverse(L{}, i)",
        "for private(j)",
    ),
    "a loop around": (
        PARALLEL,
        "",
        "for (j = 0; j < m; j++) {\n" + FOR + "for (i = 1; i < n; i++) L{}: A[i][j] += B[i]; }",
        "",
        "for private(i)",
    ),
    "an iterator of a loop that all threads run": (
        PARALLEL,
        "int k = each; double u = 0; for (k = 0; k < m; k++) { if (k > 2) u = k * 2;",
        FOR + "for (i = 1; i < n; i++) L{}: C[i] = C[i] * u + k;",
        "reverse(L{}, i)",
        "for",
    ),
    "a value of each iteration": (
        PARALLEL,
        "",
        FOR + "for (i = 1; i < n; i++) L{}: { t = B[i]; C[i] = t * t; }",
        "reverse(L{}, i)",
        "for private(t)",
    ),
    "a value that all threads have": (
        PARALLEL,
        "int k = n / 2; double u; u = B[k];",
        FOR + "for (i = 1; i < n; i++) L{}: C[i] += u + k;",
        "reverse(L{}, i)",
        "for",
    ),
    "an iterator with a value": (
        PARALLEL,
        FOR + "for (i = 0; i < n; i++) C[i] = 0;\n i = n - 2;",
        FOR + "for (j = 0; j < m; j++) L{}: A[i][j] += B[j];",
        "reverse(L{}, j)",
        "for",
    ),
    "sums": (
        PARALLEL,
        "",
        "#pragma omp for reduction(+: s)\nfor (i = 0; i < n; i++) L{}: s += 1;",
        "reverse(L{}, i)",
        "for reduction(+:s)",
    ),
    "two loops": (
        PARALLEL,
        "",
        f"{FOR}for (i = 1; i < n; i++) L{{}}: C[i] = B[i];\n{FOR}for (i = 1; i < n; i++) B[i] = C[i - 1];",
        "",
        "for",
    ),
    "vectors": (
        PARALLEL,
        "",
        FOR + "for (i = 1; i < n; i++) L{}: C[i] += B[i - 1];",
        "vectorize(L{}, i)",
        "for simd",
    ),
    "threads that call": (
        "",
        "",
        FOR + "for (int i = 1; i < n; i++) L{}: C[i] += B[i - 1];",
        "reverse(L{}, i)",
        "for",
    ),
}
"""What begins the team, what each thread runs before, the region, its script, and the new directive."""


def _function(name: str, head: str, before: str | None, region: str) -> str:
    """A function; what `before` opens is closed after the region."""
    is_open = before is not None and before.count("{") > before.count("}")
    begin, end = ("", "") if before is None else (f"{{\n{before}\n", "}}" if is_open else "}")
    return (
        f"void {name}(int n, int m) {{ int i, j; double t;\n{head}{begin}"
        f"#pragma scop\n{region}\n#pragma endscop\n{end} }}\n"
    )


def _outcome(text: str, script: str, folder: Path) -> Outcome:
    (folder / "t.c").write_text(text)
    return transformed(Request(str(folder / "t.c"), script=script or None), silent)


MAIN = """int main(void) {
  for (int i = 0; i < N; i++) { B[i] = i %% 7; C[i] = i; for (int j = 0; j < N; j++) A[i][j] = i - j; }
  %s
  double sum = s;
  for (int i = 0; i < N; i++) {
    sum = sum * 3 / 2 + B[i] + C[i];
    for (int j = 0; j < N; j++) sum += A[i][j] * (i + j);
  }
  printf("%%a\\n", sum);
}
"""


def _regions(text: str) -> list[str]:
    return [part.partition("#pragma endscop")[0] for part in text.split("#pragma scop")[1:]]


def test_new_loops_are_divided_and_compute_the_same(tmp_path: Path) -> None:
    """All in one program, which four threads run: as it is, and with its scripts."""
    parts, script, calls = [], [], []
    for k, (head, before, region, steps, _) in enumerate(SOUND.values()):
        parts.append(_function(f"f{k}", head, before, region.replace("{}", str(k))))
        script.append(steps.replace("{}", str(k)))
        calls.append(f"f{k}(N, N);" if head else f"\n#pragma omp parallel\nf{k}(N, N);\n")
    old = HEAD + "".join(parts)
    same = _outcome(old, "", tmp_path)
    changed = _outcome(old, "\n".join(filter(None, script)), tmp_path)
    assert "parallel for" not in same.source.text + changed.source.text
    for k, (name, (*_, steps, said)) in enumerate(SOUND.items()):
        outcome = changed if steps else same
        lines = [line.strip() for line in _regions(outcome.source.text)[k].splitlines() if "pragma" in line]
        is_kept = name in ("as it is", "two loops")
        assert set(lines) == {f"#pragma omp {said}", *([] if is_kept else ["#pragma omp barrier"])}, name
        assert is_kept or lines[0] == "#pragma omp barrier"
        listed = " ".join(outcome.regions[k].assumptions)
        assert ("all threads wait at these loops" in listed) != is_kept
        assert ("equal in all threads" in listed) == (name == "threads that call")
        assert "is removed together" not in listed
    printed = []
    for name, text in (("old", old), ("same", same.source.text), ("changed", changed.source.text)):
        (tmp_path / f"{name}.c").write_text(text + MAIN % " ".join(calls))
        command = ["gcc", "-O1", "-fopenmp", "-Wno-unknown-pragmas", f"{name}.c", "-o", name]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
        threads = {"OMP_NUM_THREADS": "4"}
        words = [tmp_path / name]
        run = subprocess.run(words, env=threads, capture_output=True, text=True, check=True, timeout=60)
        printed.append(run.stdout)
    assert printed[0] == printed[1] == printed[2] != ""


LOOP = "for (i = 0; i < n; i++) L: C[i] = 1;"
OWN = "for (i = 0; i < n; i++) L: C[i] = k;"
PART, MEMBER = OWN.replace("k;", "k[0];"), OWN.replace("k;", "k.a;")
UNSOUND = {
    "dependent iterations": (
        PARALLEL,
        "",
        "for (i = 1; i < n; i++) for (j = 1; j < m; j++) L: A[i][j] = A[i - 1][j - 1];",
        "depend on each other",
    ),
    "a thread's number": (PARALLEL, "int k = who();", OWN, "its own 'k'"),
    "a copy of what each thread has": (PARALLEL, "int k = each;", OWN, "its own 'k'"),
    "a copy of what is private to threads": (PARALLEL, "int k; k = mine + n;", OWN, "its own 'k'"),
    "a number that is drawn": (PARALLEL, "int k = drawn++;", OWN, "its own 'k'"),
    "a number that others draw": (PARALLEL, "drawn += 1; int k = drawn;", OWN, "its own 'k'"),
    "a number drawn under a lock": (PARALLEL, "int k; who(); s += 1; k = s; who();", OWN, "its own 'k'"),
    "a number that a function draws": (PARALLEL, "who(); int k = s;", OWN, "its own 'k'"),
    "a thread's own turn": (PARALLEL, "int k = 0; if (who()) k = 1;", OWN, "its own 'k'"),
    "a number of a number": (PARALLEL, "int l = who(), k = l + 1;", OWN, "its own 'k'"),
    "a thread's own count": (PARALLEL, "int k = 0; while (who()) k++;", OWN, "its own 'k'"),
    "an iteration that a thread skips": (
        PARALLEL,
        "int k; for (k = 0; k < 2; k++) if (k == who()) {",
        OWN,
        "its own 'k'",
    ),
    "an iteration that a thread leaves": (
        PARALLEL,
        "int k; for (k = 0; k < 2; k++) { if (k == who()) continue;",
        OWN,
        "its own 'k'",
    ),
    "a call that a thread leaves": (
        "",
        "int k; for (k = 0; k < 2; k++) { if (k == who()) return;",
        OWN,
        "its own 'k'",
    ),
    "a loop of each thread": (PARALLEL, "int k; for (k = 0; k < who(); k++) {", OWN, "its own 'k'"),
    "steps of each thread": (PARALLEL, "int k; for (k = 0; k < 5; k += who()) {", OWN, "its own 'k'"),
    "another step of each thread": (
        PARALLEL,
        "int k, l = 0; for (k = 0; l < 5; k++, l += who()) {",
        OWN,
        "its own 'k'",
    ),
    "a first value of each thread": (PARALLEL, "int k; for (k = who(); k < 5; k++) {", OWN, "its own 'k'"),
    "a value that a step replaces": (
        PARALLEL,
        "int k, l; for (k = 0, l = 0; l < 2; k = who(), l++) {",
        OWN,
        "its own 'k'",
    ),
    "a value that a step replaces, declared": (
        PARALLEL,
        "for (int k = 0, l = 0; l < 2; k = who(), l++) {",
        OWN,
        "its own 'k'",
    ),
    "a value of a turn before": (
        PARALLEL,
        "int k = 0, l; for (l = 0; l < 2; k = 3, l++) if (l == who()) {",
        OWN,
        "its own 'k'",
    ),
    "a jump over a value": (PARALLEL, "int k = 0; if (who()) goto q; k = 1; q: ;", OWN, "its own 'k'"),
    "a part of an array": (PARALLEL, "int k[2]; k[0] = who(); k[1] = 3;", PART, "its own 'k'"),
    "a part of a struct": (PARALLEL, "struct { int a, b; } k; k.a = who(); k.b = 3;", MEMBER, "its own 'k'"),
    "the length of an array": (PARALLEL, "int l = who(); int a[l]; int k = sizeof a;", OWN, "its own 'k'"),
    "assembler": (PARALLEL, 'int k = 0; asm("" : "+r"(k));', OWN, "its own 'k'"),
    "a pointer to what is drawn": (
        f"double *p = &s;\n{PARALLEL}",
        "int k; who(); s += 1; k = *p; who();",
        OWN,
        "its own 'k'",
    ),
    "what one thread found": (
        PARALLEL,
        "int k = 0;\n#pragma omp for\nfor (i = 0; i < n; i++) k = i;\n",
        OWN,
        "its own 'k'",
    ),
    "a thread's own array": (
        PARALLEL,
        "double D[N];",
        "for (i = 0; i < n; i++) L: D[i] = B[i];",
        "its own 'D'",
    ),
    "a value of a thread": (
        PARALLEL,
        "",
        "for (i = 0; i < n; i++) { L: t = B[i]; } C[0] = t;",
        "every thread",
    ),
    "a value of the loop before": (
        PARALLEL,
        "",
        f"for (i = 0; i < n; i++) L: C[i] = t;\n{FOR}for (i = 0; i < n; i++) {{ t = B[i]; B[i] = t * t; }}",
        "its own 't', which is read before",
    ),
    "an array of each thread": (
        PARALLEL,
        "double D[N];",
        "for (i = 0; i < n; i++) { L: D[0] = B[i]; M: C[i] = D[0]; }",
        "could not decide the effect of several threads",
    ),
    "no block": ("#pragma omp parallel\n", None, LOOP, "applies to the loop after it"),
    "statements beside": (PARALLEL, "", f"{LOOP} B[0] += 1;", "every thread runs"),
    "a loop beside": (PARALLEL, "", f"{LOOP} for (i = 0; i < n; i++) B[i] += 1;", "every thread runs"),
    "a condition without braces": (PARALLEL, "if (n > 3)", LOOP, "without braces"),
    "one thread alone": (f"{PARALLEL}#pragma omp single\n", "", LOOP, "inside 'single'"),
    "an order": (PARALLEL, "", LOOP, "clause 'ordered'"),
    "a sum without a clause": (PARALLEL, "", "for (i = 0; i < n; i++) L: s += C[i];", ""),
    "a sum that is multiplied": (PARALLEL, "", "for (i = 0; i < n; i++) L: s += 1;", "combined by '+'"),
    "a default": ("#pragma omp parallel default(firstprivate)\n", "", LOOP, "a clause makes"),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_what_cannot_be_divided(name: str, tmp_path: Path) -> None:
    head, before, region, reason = UNSOUND[name]
    clauses = {"an order": " ordered", "a sum that is multiplied": " reduction(*: s)"}.get(name, "")
    text = HEAD + _function("f", head, before, f"#pragma omp for{clauses}\n{region}")
    script = "interchange(L, i, j)" if name == "dependent iterations" else "reverse(L, i)"
    with pytest.raises((BadInput, GaveUp, Illegal)) as caught:
        _outcome(text, script, tmp_path)
    assert isinstance(caught.value, LoopwrightError) and reason in caught.value.message


@pytest.mark.parametrize("name", [name for name in UNSOUND if UNSOUND[name][3].startswith("its own")])
def test_the_same_loops_are_divided_in_the_same_way(name: str, tmp_path: Path) -> None:
    """What differs from thread to thread does so as before: each runs its iterations, in the same order."""
    head, before, region, _ = UNSOUND[name]
    line = "#pragma omp for nowait schedule(static)"
    outcome = _outcome(HEAD + _function("f", head, before, f"{line}\n{region}"), "", tmp_path)
    assert line in outcome.source.text.partition("#pragma scop")[2]
    assert not any(
        "pragma" in one or "threads" in one for each in outcome.regions for one in each.assumptions
    )


PACKED = "for (i = 1; i < n; i++) L: C[i] += A[i - 1][i - 1];"


@pytest.mark.parametrize(
    ("script", "loops"),
    [("pack(A, L)", PACKED), ("expand(t, i)", "for (i = 1; i < n; i++) { t = B[i]; C[i] = t; }")],
)
def test_new_storage_of_each_thread_cannot_be_filled_by_all(script: str, loops: str, tmp_path: Path) -> None:
    """Each thread would allocate its own buffer, and fill the part of it that its iterations are of."""
    text = HEAD + _function("f", PARALLEL, "", f"#pragma omp for private(t)\n{loops}")
    alone = HEAD + _function("f", "", "", loops)
    assert "[i - 1]" in _outcome(alone, script, tmp_path).source.text
    with pytest.raises(GaveUp, match="each thread would have its own"):
        _outcome(text, script, tmp_path)


def test_loops_that_are_collapsed_are_not_the_same_with_other_loops_inside(tmp_path: Path) -> None:
    region = f"#pragma omp for collapse(2)\n{FIELD.format('', 'L')}"
    outcome = _outcome(HEAD + _function("f", PARALLEL, "", region), "reverse(L, j)", tmp_path)
    assert "#pragma omp for private(j)" in outcome.source.text


def test_values_that_no_thread_reads_if_one_runs_all_loops(tmp_path: Path) -> None:
    """One thread alone may run the second loop; the others read what the first one left them."""
    loops = (
        "#pragma omp for nowait\nfor (i = 0; i < n; i++) for (j = 0; j < n; j++) L: t = A[i][j];\n"
        "#pragma omp for nowait schedule(static, 99)\nfor (i = 0; i < n; i++) t = 7;\n"
        "#pragma omp for\nfor (i = 0; i < n; i++) C[i] = t;"
    )
    text = HEAD + _function("f", PARALLEL, "t = 0;", loops)
    assert "schedule(static, 99)" in _outcome(text, "", tmp_path).source.text
    with pytest.raises(GaveUp, match="its own 't'"):
        _outcome(text, "reverse(L, j)", tmp_path)
