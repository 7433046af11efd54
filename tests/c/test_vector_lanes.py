"""Vectors as their lanes: the same results, or the text as it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loopwright.c.reworded.vector_lanes import with_lanes
from loopwright.source import Source

PROGRAM = """#include <immintrin.h>
#include <stdio.h>
#define K (4)
typedef float v4f __attribute__((vector_size(4 * sizeof(float)), aligned(4)));
double x[64], y[64], m[4][64];
float z[64];
__attribute__((target("avx2,fma"))) void pd(int n, double a, int b) {
  const __m256d u = _mm256_set1_pd(a), zero = _mm256_setzero_pd();
  __m256d acc[2], w = _mm256_set_pd(1, a, x[3], b), last = _mm256_setr_pd(1.5, a, 2, -a);
  const __m256d less = _mm256_set1_pd(-1.5);
  acc[0] = zero; acc[1] = _mm256_broadcast_sd(&x[5]);
  for (int i = 0; i + K <= n; i += K) {
    __m256d v = _mm256_loadu_pd(&x[i]), s = _mm256_loadu_pd(m[1] + i + 1);
    acc[i / K % 2] = _mm256_fmadd_pd(v, u, acc[i / K % 2]);
    if (i % 8) w = _mm256_fnmsub_pd(v, s, w); else w = _mm256_fmsub_pd(v, s, /* w */ w);
    _mm256_storeu_pd(x + i + 1, _mm256_max_pd(_mm256_min_pd(v, s), _mm256_loadu_pd(x + i)));
    _mm256_storeu_pd(&m[2][i], _mm256_fnmadd_pd(v, s,
                                                _mm256_sqrt_pd(_mm256_mul_pd(v, v))));
    { __m256d v = _mm256_div_pd(s, u), t = _mm256_sub_pd(v, s); _mm256_storeu_pd(y + i, t); }
  }
  _mm256_storeu_pd(&m[3][0], _mm256_add_pd(acc[0], acc[1]));
  _mm256_storeu_pd(&m[3][4], w);
  _mm256_storeu_pd(m[3] + 8, _mm256_fnmadd_pd(_mm256_set1_pd(-0.5), last, less));
  m[3][20] = _mm256_cvtsd_f64(w) + b;
}
void gnu(int n, float a) {
  v4f sum = {1, a, 2.5f, n}, one = -(v4f){-0.0f, 1, 0.0f, -1.5f};
  for (int i = 0; i < n; i += 4) {
    v4f v = *(v4f *)&z[i];
    sum += v * a - one / 3;
    *(v4f *)(z + i) = -v + 0.1f * *(const v4f *)&z[i + 1];
  }
  sum[1] = sum[0] + sum[3];
  *(v4f *)&z[40] = sum;
}
int main(void) {
  for (int i = 0; i < 64; i++) {
    x[i] = i * 0.37 + 1; y[i] = i * i % 17; z[i] = (float)(i * 5 % 11);
    for (int j = 0; j < 4; j++) m[j][i] = ((i * 7 + j) % 13 - 3) / 4.0;
  }
  pd(19, 0.3, 7); gnu(20, 1.7f);
  for (int i = 0; i < 64; i++) printf("%a %a %a %a %a\\n", x[i], y[i], m[2][i], m[3][i], z[i]);
}
"""
FLAGS = ("-O1", "-w", "-ffp-contract=off")


def has_vectors() -> bool:
    info = Path("/proc/cpuinfo")
    words = info.read_text().split() if info.exists() else []
    return "avx2" in words and "fma" in words


def output(text: str, folder: Path, name: str) -> str:
    source, binary = folder / f"{name}.c", folder / name
    source.write_text(text)
    subprocess.run(["gcc", *FLAGS, source, "-o", binary, "-lm"], check=True, capture_output=True)
    return subprocess.run([binary], check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(not has_vectors(), reason="this processor has no AVX2")
def test_lanes_compute_the_same(tmp_path: Path) -> None:
    found = with_lanes(Source("program.c", PROGRAM))
    assert found.reason == "" and found.is_fused
    assert "_mm256" not in found.source.text and "vector_size" not in found.source.text
    assert found.source.text.count("\n") == PROGRAM.count("\n")
    assert output(found.source.text, tmp_path, "lanes") == output(PROGRAM, tmp_path, "vectors")


def test_what_is_stored_is_computed_before() -> None:
    text = with_lanes(Source("program.c", PROGRAM)).source.text
    line = next(one for one in text.split("\n") if "x[(i) + (1)] = " in one)
    assert line.index("double lane") < line.index("x[(i) + (1)] = ") < line.index("x[((i) + (1)) + 1] = ")


START = "__m256d v = _mm256_loadu_pd(x + i);"
FUNCTION = f"""#include <immintrin.h>
double x[64], w[8][64];
float z[64];
long k[64];
void f(int i, double a) {{
  {START}
  _mm256_storeu_pd(x + i, _mm256_add_pd(v, v));
}}
"""
REFUSED = {
    "a macro for a function": ("double x[64]", "#define _mm256_add_pd _mm256_sub_pd\ndouble x[64]"),
    "a macro for a type": ("double x[64]", "#define __m256d __m256\ndouble x[64]"),
    "a macro for an operand and an operator": ("x + i);", "x - OFF);\n#define OFF -i - 0"),
    "a macro for a vector": ("double x[64]", "#define TWICE(v) _mm256_add_pd(v, v)\ndouble x[64]"),
    "a macro for the elements' type": ("double x[64]", "#define double float\ndouble x[64]"),
    "a header of the user": ("double x[64]", '#include "more.h"\ndouble x[64]'),
    "elements of another type": ("x + i);", "z + i);"),
    "a row": ("x + i);", "w + i);"),
    "a cast of a pointer": ("x + i);", "(double *)z + i);"),
    "an element that a number is read from": ("x + i, _mm", "x + (int)x[0], _mm"),
    "volatile elements": ("double x[64]", "volatile double x[64]"),
    "an aligned load": ("loadu", "load"),
    "a pointer to a vector": (START, f"{START} double *p = (double *)&v; p[1] = 0;"),
    "the address of a lane": (START, f"{START} double *p = &v[0]; p[1] = 0;"),
    "a lane that is not a number": (START, f"{START} a = v[i];"),
    "a side effect": ("x + i);", "x + i++);"),
    "a call": ("_mm256_add_pd(v, v)", "_mm256_set1_pd(g(a))"),
    "two types of vectors": ("_mm256_add_pd(v, v)", "_mm256_add_pd(v, _mm_set1_pd(a))"),
    "a comma": ("  _mm256_storeu", "  v = v, _mm256_storeu"),
    "a static vector": (START, f"static {START}"),
    "a name of a lane": ("double x[64]", "int v_lane2;\ndouble x[64]"),
    "a condition of the preprocessor": (START, f"#ifdef FAST\n{START}\n#endif"),
    "one line on two": ("_mm256_add_pd(v, v)", "\\\n_mm256_add_pd(v, v)"),
    "a clause": ("  _mm256_storeu", "#pragma omp simd private(v)\n  _mm256_storeu"),
    "another function": ("_mm256_add_pd(v, v)", "_mm256_addsub_pd(v, v)"),
    "a sum of integers": ("_mm256_add_pd(v, v)", "_mm256_add_epi64(v, v)"),
    "the library's function in the file": (
        "_mm256_add_pd(v, v));\n}",
        "_mm256_fmadd_pd(v, v, v));\n}\ndouble fma(double p, double q, double r) { return p; }",
    ),
    "vectors of the file": ("double x[64]", "__m256d far;\ndouble x[64]"),
    "an alignment that vectors of GNU C need": (START, "__m256d v = *(__m256d *)&x[i];"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_vectors_that_stay(name: str) -> None:
    """What is not known stays as it is, and why is told."""
    assert with_lanes(Source("f.c", FUNCTION)).reason == ""
    was, now = REFUSED[name]
    assert was in FUNCTION
    source = Source("f.c", FUNCTION.replace(was, now, 1))
    found = with_lanes(source)
    assert found.reason and found.source == source


COPIED = """#include <string.h>
#include <stdio.h>
typedef float v4 __attribute__((vector_size(16)));
float x[64], y[64];
void f(int n, float a) {
  v4 acc[2] = {{0}};
  for (int i = 0; i + 3 < n; i += 4) {
    v4 p, q;
    memcpy(&p, x + i + 1, sizeof p);
    memcpy(&q, &y[i], sizeof(v4)), (void)0;
    memcpy(&acc[i / 4 % 2], &y[i + 2], 16);
    q = a * p + q;
    memcpy(y + i, &q, sizeof(q));
  }
}
int main(void) {
  for (int i = 0; i < 64; i++) { x[i] = i * 0.37f; y[i] = i * 5 % 11; }
  f(21, 0.3f);
  for (int i = 0; i < 64; i++) printf("%a\\n", y[i]);
}
""".replace("acc[2] = {{0}}", "acc[2]").replace(", (void)0", "")
NOT_COPIED = {
    "a part": ("sizeof p", "8"),
    "a type of another size": ("sizeof p", "sizeof(float)"),
    "a vector of a vector": ("x + i + 1, sizeof p", "&q, sizeof p"),
    "bytes": ("x + i + 1", "(char *)x + i"),
    "the file's own function": (
        "#include <string.h>",
        "static void memcpy(void *a, const void *b, long n) {}",
    ),
    "a macro of that name": ("float x[64]", "#define memcpy(a, b, n) (n)\nfloat x[64]"),
    "its value": ("memcpy(&p", "v4 *r = memcpy(&p"),
}


def test_copied_vectors_are_copied_by_lanes(tmp_path: Path) -> None:
    found = with_lanes(Source("f.c", COPIED))
    assert found.reason == "" and "memcpy(" not in found.source.text
    assert "p_lane0 = x[(i) + (1)]; p_lane1 = x[((i) + (1)) + 1];" in found.source.text
    assert output(found.source.text, tmp_path, "lanes") == output(COPIED, tmp_path, "vectors")


@pytest.mark.parametrize("name", NOT_COPIED)
def test_copies_that_stay(name: str) -> None:
    was, now = NOT_COPIED[name]
    assert was in COPIED
    found = with_lanes(Source("f.c", COPIED.replace(was, now, 1)))
    assert found.reason and not found.has_vectors
