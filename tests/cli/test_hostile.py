"""Unusual and malformed input: every answer says what is wrong, where, and what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.cli.main import main

GOOD = """void f(int n, double A[n][n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      Mult: C[i][j] += A[i][j];
#pragma endscop
}
"""


def region(body: str) -> bytes:
    return (
        "void f(int n, double A[n][n], double x[n], volatile double v[n]) {\n"
        f"  int i, j;\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    ).encode()


CASE = ("data", "message", "advice")

FILES: list[tuple[str, bytes, str, str]] = [
    ("empty", b"", "1:1: error: the file is empty", "give a C file with loops"),
    ("blank", b" \n\n", "1:1: error: the file is empty", "give a C file with loops"),
    ("binary", bytes(range(256)), "not a text file", "give a C source file"),
    ("escape", b"\x1b[31m\x00", "not a text file", "?[31m?"),
    ("utf16", GOOD.encode("utf-16"), "not a text file", "looks like UTF-16: save it as UTF-8"),
    ("no region", b"int main(void) { return 0; }\n", "there is no region in this file, which has no loop", "give a C file with loops"),
    ("python", b"def f(x):\n  return x\n", "there is no region in this file, which has no loop", "give a C file with loops"),
    ("no end", GOOD.replace("#pragma endscop\n", "").encode(), "2:1: error: this region does not end", "endscop"),
    ("no start", GOOD.replace("#pragma scop\n", "").encode(), "has no '#pragma scop' before it", "first loop"),
    ("two starts", GOOD.replace("scop\n  for", "scop\n#pragma scop\n  for").encode(), "inside a region", "nested"),
    ("open brace", region("  for (i = 0; i < n; i++) {"), "this '{' is not closed", "whole statements"),
    ("extra brace", region("  x[0] = 0; }"), "this '}' closes a block", "whole statements"),
    ("no paren", GOOD.replace("(int j", "int j").encode(), "4:5: error: this is not C", "plain C"),
    ("_Pragma", region('  _Pragma("omp simd")\n  for (i = 0; i < n; i++) x[i] = 0;'), "4:3: error: '_Pragma' cannot be read", "a line"),
    ("no semicolon", region("  for (i = 0; i < n; i++)\n    x[i] = 0"), "5:13: error: this is not C: ';' is missing", "put ';'"),
    ("while", region("  while (n) x[0] = 0;"), "a 'while' loop cannot be read", "write it as a 'for' loop"),
    ("string", region("  while (x[n] > 0) n++;"), "whose end depends on data cannot be", "leave it out"),
    ("do", region("  do x[0] = 0; while (n);"), "a 'do' loop cannot be read", "write it as a 'for' loop"),
    ("break", region("  if (n > 0) break;"), "a 'break' cannot", "bounds of the loop"),
    ("continue", region("  continue;"), "a 'continue' cannot", "put 'if (...) continue;'"),
    ("switch", region("  switch (n) { case 0: { case 1: x[0] = 1; } }"), "a 'switch' cannot", "'if' and 'else'"),
    ("Duff's device", region("  switch (n % 2) { case 0: do { x[0] = 1; case 1: x[1] = 1; } while (--n > 0); }"), "a 'switch' into a loop cannot", "one loop over all elements"),
    ("own parts", region("#pragma omp parallel\n  { x[0] += 1; }"), "which threads run", "'reduction(+:s)'"),
    ("square", region("  for (i = 0; i * i < n; i++) x[i] = 0;"), "multiplies two things", "constant factors"),
    ("turns", region("  for (i = 1; i < n; i ^= 3) x[i] = 0;"), "not add a constant to 'i'", "i += 2"),
    ("step 0", region("  for (i = 0; i < n; i += 0) x[i] = 0;"), "does not change its iterator", "i += 2"),
    ("double", region("  for (double t = 0; t < n; t++) x[0] = t;"), "'t' is a 'double'", "declare it as int"),
    ("call", region("  for (i = 0; i < n; i++) scanf(\"%d\", &n);"), "'scanf' may change 'n'", "copy 'n'"),
    ("endless", region("  for (;;) x[0] = 1;"), "must initialise exactly one integer", "accepted: for"),
    ("jump", region("  for (i = 0; i < n; i++) i = i + 1;"), "'i' is assigned outside the head", "another variable"),
    ("two parts", region("  for (i = 0; i < (n ?: 3); i++) x[i] = 0;"), "4:20: error: this is not C", "a ? a : b"),
    ("range for", region("  for (auto i : x) x[i] = 0;"), "this is not C", "plain C"),
    ("ifdef", region("#ifdef X\n  x[0] = 0;\n"), "no place in the new loops", "out of the region"),
    ("deep", region("(" * 2000 + "x[0] = 1" + ")" * 2000 + ";"), "nested too deeply", "split the expression"),
    ("huge", region("  for (i = 0; i < 9" + "9" * 30 + "; i++) x[i] = 0;"), "does not fit into 64 bits", "accepted"),
    ("asm", region('  asm("nop");'), "cannot be read", "accepted: arithmetic"),
    ("volatile", region("  for (i = 0; i < n; i++) v[i] = 0;"), "'v' is volatile", "copy it"),
]  # fmt: skip

SCRIPTS: list[tuple[str, bytes, str, str]] = [
    ("binary", bytes(range(256)), "not UTF-8 text", "save it as UTF-8"),
    ("utf16", "tile(Mult, 32)".encode("utf-16"), "not UTF-8 text", "looks like UTF-16: save it as UTF-8"),
    ("nul", b"tile(Mult,\x00 32)", "character 0x00 does not belong", "plain text"),
    ("operation", b"tiel(Mult, 32, 32)", "1:1: error: no operation is called tiel", "did you mean tile?"),
    ("capitals", b"TILE(Mult, 32, 32)", "no operation is called TILE", "did you mean tile?"),
    ("handle", b"tile(Mutl, 32, 32)", "1:6: error: no loop component is called Mutl", "did you mean Mult?"),
    ("iterator", b"interchange(Mult, i, jj)", "the iterator jj", "did you mean j? its loops are i, j"),
    ("line", b"tile(@99, 32, 32)", "on line 99", "the nearest is @5"),
    ("open", b"tile(Mult, 32", "this '(' is never closed", "add the missing ')'"),
    ("closed", b"tile(Mult, 32))", "this ')' closes nothing", "leave it out"),
    ("commas", b"tile(Mult 32 32)", "'32' where ',' or ')' should be", "commas between them"),
    ("colons", b"tile(Mult, i:32)", "':' where ',' or ')' should be", "written i=32"),
    ("equals", b"tile(Mult, i==32)", "'==' where ',' or ')' should be", "written i=32"),
    ("zero", b"tile(Mult, 0, 32)", "must be an integer >= 1, not 0", "more: loopwright explain LW209"),
    ("digits", b"tile(Mult, 99999999999999999999)", "this number is too large", "at most 18 digits"),
    ("fraction", b"tile(Mult, 3.5, 32)", "'.' has no meaning in a script", "numbers are whole"),
    ("quotes", b'tile("Mult", 32)', "has no meaning in a script", "without quotes"),
    ("method", b"Mult.tile(32, 32)", "has no meaning in a script", "the first argument"),
    ("value", b"x = 3", "'3' where an operation should be", "L = operation(arguments)"),
    ("word", b"tile", "the line ends where '(' should be", "such as tile(Mult, 32, 32)"),
    ("python", b"for i in range(3): tile(Mult, i)", "'i' where '(' should be", "L = operation(arguments)"),
    ("slashes", b"// tile", "where an operation should be", "a remark begins with '#'"),
    ("sizes", b"tile(Mult, 1, 2, 3)", "3 tile sizes, but the statements share 2 loops", "'skew'"),
    ("bracket", b"affine(Mult, {[i,j] -> [j})", "'}' where ']' should be", "is still open"),
    ("wide map", b"affine(Mult, {[i,j,k] -> [k,j,i]})", "the map takes 3 iterators", "are i, j"),
    ("narrow map", b"affine(Mult, {[i,j] -> [i]})", "gives only 1", "a constant value"),
    ("product", b"affine(Mult, {[i,j] -> [i*j, i]})", "is not affine", "constant factors"),
    ("list", b"affine(Mult, [j, i])", "'[j, i]' where a map should be", "{[i, j] -> [j, i]}"),
    ("unknown", b"affine(Mult, {[i,j] -> [i+j, q]})", "several values for one iteration", "say what q is"),
    ("name", b"isplit(Mult, {[i,j] : i < m}, 0)", "unknown name m", "known names: i, j, n"),
    ("itself", b"interchange(Mult, i, i)", "interchanged with itself", "LW208"),
    ("alone", b"fuse(Mult)", "at least 2 loop components are needed", "fuse(A, B)"),
    ("twice", b"fuse(Mult, Mult)", "the two components overlap", "both hold S1"),
    ("no loop", b"parallel(Mult)", "takes at least 2 arguments, not 1", "parallel(L, i)"),
    ("pit", b"tile(" + b"[" * 3000 + b"]" * 3000 + b")", "nested more than 500 deep", "LW210"),
    ("too far", b"L = lift(Mult, 7)", "loop 7 of a component that has 2 loops", "its loops are i, j"),
    ("unroll", b"unroll(Mult, i)", "is not a constant", "writes out four at a time"),
]  # fmt: skip


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["transform", *words])
    assert ended.value.code == 2
    found = capsys.readouterr()
    assert found.out == "" and "Traceback" not in found.err
    assert "\x1b" not in found.err and "\0" not in found.err
    return found.err


@pytest.mark.parametrize(CASE, [one[1:] for one in FILES], ids=[one[0] for one in FILES])
def test_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, message: str, advice: str
) -> None:
    (tmp_path / "k.c").write_bytes(data)
    text = told(capsys, str(tmp_path / "k.c"))
    assert text.startswith(str(tmp_path / "k.c:")) and message in text and advice in text, text


@pytest.mark.parametrize(CASE, [one[1:] for one in SCRIPTS], ids=[one[0] for one in SCRIPTS])
def test_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, message: str, advice: str
) -> None:
    (tmp_path / "k.c").write_text(GOOD)
    (tmp_path / "s.lw").write_bytes(data)
    text = told(capsys, str(tmp_path / "k.c"), str(tmp_path / "s.lw"))
    assert text.startswith(str(tmp_path / "s.lw:")) and message in text and advice in text, text


@pytest.mark.parametrize(
    "script",
    [b"\xef\xbb\xbftile(Mult, 32, 32)", b"tile(Mult, 32, 32)\r\n", b"reverse(Mult, i); reverse(Mult, j);"],
)
def test_what_is_odd_but_right(tmp_path: Path, script: bytes) -> None:
    (tmp_path / "k.c").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    (tmp_path / "s.lw").write_bytes(script)
    with pytest.raises(SystemExit) as ended:
        main(["transform", str(tmp_path / "k.c"), str(tmp_path / "s.lw"), "-o", str(tmp_path / "new.c")])
    assert not ended.value.code and (tmp_path / "new.c").exists()
