"""Law: what a compiled statement touches is in its model.

Random statements are written as text, with and without needless parentheses.  The same text is
compiled as C++ with arrays and scalars that record every access, and read by the reader.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import islpy as isl
import pytest

from loopwright.errors import BadInput
from loopwright.model.program import Access, Program
from tests.c.support import region

COUNT = 4000 if os.environ.get("LOOPWRIGHT_HYPOTHESIS") == "search" else 60
SIZE = 3
LOOP = f"for (int i = 0; i < {SIZE}; i++) for (int j = 0; j < {SIZE}; j++)"

HEAD = """
typedef double real; typedef long count;
#define SQ(v) ((v)*(v))
#define CLAMP(v, w) ((v) < 0 ? (w) : (v))
#define EL(r, c) A[(r)-1][c]
#define AT(r, c) ((r)*2-(c)*3)
double weigh(double v) { return v + 1; }
"""

RECORDER = r"""
#include <cstdio>
#include <cmath>
#include <string>
static int program, now_i, now_j;
struct Pointer;
struct Cell {
  std::string name; double value;
  Cell(std::string n) : name(n), value(n.size() % 3 + 1) {}
  Cell(const Cell &) = default;
  void log(char kind) const { printf("%d %d %d %c %s\n", program, now_i, now_j, kind, name.c_str()); }
  operator double() const { log('R'); return value; }
  double operator=(double v) { log('W'); value = v; return v; }
  double operator=(const Cell &o) { return *this = (double)o; }
  double operator+=(double v) { return *this = (double)*this + v; }
  double operator-=(double v) { return *this = (double)*this - v; }
  double operator*=(double v) { return *this = (double)*this * v; }
  double operator++() { return *this += 1; }
  double operator--() { return *this -= 1; }
  double operator++(int) { double old = *this; *this = old + 1; return old; }
  double operator--(int) { double old = *this; *this = old - 1; return old; }
  Pointer operator&() const;
};
static std::string at(double k) { return " " + std::to_string(std::isfinite(k) ? (long)k : 0L); }
struct Row { std::string name; Cell operator[](double k) const { return Cell(name + at(k)); } };
struct Pointer { std::string name; double k; Cell operator*() const { return Cell(name + at(k)); }
  Pointer operator+(double d) const { return {name, k + d}; }
  Pointer operator-(double d) const { return {name, k - d}; }
  Cell operator[](double d) const { return Cell(name + at(k + d)); } };
Pointer Cell::operator&() const {
  size_t end = name.rfind(' '); return {name.substr(0, end), (double)std::stol(name.substr(end))}; }
struct Array1 { std::string name; Cell operator[](double k) const { return Cell(name + at(k)); }
  Pointer operator+(double k) const { return {name, k}; }
  Cell operator*() const { return Cell(name + at(0)); } };
struct Array2 { std::string name; Row operator[](double k) const { return {name + at(k)}; } };
"""

STORAGE = f'int n = {SIZE}; Cell x("x"), y("y"), z("z"); Array1 a{{"a"}}, b{{"b"}}; Array2 A{{"A"}};'


class Writer:
    """Random C text; most of the time nothing but the grammar says how it groups.

    In a pattern, `<T>` is a target, `<I>` an index, `<S>` a subscript, `<V>` a value and `<A>` an atom.
    """

    TARGETS = ("x", "y", "z", "(x)", "a[<S>]", "b[<S>]", "(b[<S>])", "A[<S>][<I>]", "*(b + <I>)", "*a",
               "(b + <I>)[1]", "*(b + i - 1)", "*(&b[<S>] + <I>)", "*(&a[<I>] - 1)", "*&b[<S>]",
               "(&a[<I>])[<S>]", "(A[<I>][<S>])", "EL(<I>, <S>)", "(EL(i, j))")  # fmt: skip
    INDICES = ("i", "j", "n", "(i)", "2*i", "(j)*3", "1", "(count)i", "(count)(i+1)", "AT(i, j)",
               "AT(n, i+1)", "i - 1", "i+j", "i-(n)", "(i)-(j)*2", "(count)-i*3", "j - (int)i")  # fmt: skip
    SUBSCRIPTS = ("<I>", "<I>", "<I>", "<I>", "(int)x", "(int)b[<I>]", "(int)(x = <I>)", "(int)y++")
    ATOMS = ("<T>", "<T>", "<T>", "<T>", "i", "2", "1.5", "(n)", "(i)", "(2)")
    INNER = (
        "(<V>)", "weigh(<V>)", "(weigh)(<V>)", "(weigh(<V>))", "SQ(<V>)", "CLAMP(<V>, <A>)", "(<V>, <A>)",
        "(<V> < <A> ? <V> : <A>)", "(<T> = <V>)", "(<T> += <V>)", "((<V>) && <A>)", "sizeof(x)",
        "fmin(<V>, <A>)", " --<T>", "(real)(<V>)",
    )  # fmt: skip
    SIGNS = ("", "", "", "", " -", " +", "!", "(real)", "(real)-", "(double)", "(int)", "(real)+")

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def fill(self, patterns: tuple[str, ...], depth: int) -> str:
        """One of `patterns`, its holes filled."""
        makers = {
            "<T>": lambda: self.fill(self.TARGETS, depth),
            "<I>": lambda: self.fill(self.INDICES, 0),
            "<S>": lambda: self.fill(self.SUBSCRIPTS, 0),
            "<V>": lambda: self.value(depth - 1),
            "<A>": lambda: self.fill(self.ATOMS, 0),
        }
        return re.sub(r"<[A-Z]>", lambda hole: makers[hole[0]](), self.random.choice(patterns))

    def value(self, depth: int) -> str:
        text = self.operand(depth)
        while self.random.random() < 0.5:
            text += self.random.choice(("-", "+", "*", " - ", " + ", " * ")) + self.operand(depth)
        return text

    def operand(self, depth: int) -> str:
        is_simple = depth <= 0 or self.random.random() < 0.5
        return self.random.choice(self.SIGNS) + self.fill(self.ATOMS if is_simple else self.INNER, depth)

    def statement(self) -> str:
        text = self.fill(("<T> = <V>;", "<T> = <V>;", "<T> += <V>;", "<T> *= <V>;"), 3)
        if self.random.random() < 0.2:
            test, other = self.fill(("<V> > <A>", "<V>"), 2), self.fill(("else <T> = <V>;", ""), 2)
            return f"if ({test}) {{ {text} }} {other}"
        return text


def recorded(statements: list[str], folder: Path) -> set[tuple[int, int, int, str, tuple[str, ...]]]:
    """(program, i, j, kind, cell) of every access, from a run of the compiled text."""
    bodies = [
        f"void p{k}() {{ {STORAGE} program = {k}; {LOOP} {{ now_i = i; now_j = j;\n{text}\n}} }}"
        for k, text in enumerate(statements)
    ]
    calls = "".join(f"p{k}();" for k in range(len(statements)))
    file = folder / "recorded.cc"
    file.write_text(RECORDER + HEAD + "\n".join(bodies) + f"\nint main() {{ {calls} }}\n")
    compiler = shutil.which("g++")
    assert compiler is not None
    subprocess.run([compiler, "-w", "-O0", "-fpermissive", file, "-o", folder / "recorded"], check=True)
    output = subprocess.run([folder / "recorded"], check=True, capture_output=True, text=True).stdout
    found = set()
    for line in dict.fromkeys(output.splitlines()):
        number, i, j, kind, *cell = line.split()
        found.add((int(number), int(i), int(j), kind, tuple(cell)))
    return found


def has_cell(access: Access, i: int, j: int, subscripts: tuple[str, ...]) -> bool:
    name = access.relation.get_tuple_name(isl.dim_type.in_)
    point = isl.Map(f"[n] -> {{ {name}[{i}, {j}] -> {access.array}[{', '.join(subscripts)}] : n = {SIZE} }}")
    return not access.relation.intersect(point).is_empty()


def read_program(text: str) -> Program | None:
    try:
        return region(f"{LOOP}\n{text}", head=HEAD)
    except BadInput:
        return None


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the statements that record")
def test_what_runs_is_in_the_model(tmp_path: Path) -> None:
    statements = [Writer(seed).statement() for seed in range(COUNT)]
    programs = [read_program(text) for text in statements]
    read = [k for k, program in enumerate(programs) if program is not None]
    assert len(read) > 0.9 * COUNT, "most of the statements have to be readable"
    log = recorded([statements[k] for k in read], tmp_path)
    for number, i, j, kind, (array, *subscripts) in sorted(log):
        program = programs[read[number]]
        assert program is not None
        if array in program.params:
            continue
        accesses = [access for statement in program.statements for access in statement.accesses]
        mine = [access for access in accesses if access.array == array and access.is_write == (kind == "W")]
        assert any(has_cell(access, i, j, tuple(subscripts)) for access in mine), (
            f"{statements[read[number]]}\n{kind} {array}{subscripts} at i = {i}, j = {j} is not in the model"
        )
