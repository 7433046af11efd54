"""The law of this room: what the C compiler makes of the text does what the program means.

Random programs are printed, compiled with all warnings as errors and run; the calls they make
are the ones the interpreter makes.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.emit.c import to_c
from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Not,
    Or,
    Relation,
    Rem,
    Scaled,
    Select,
    Sum,
    Test,
    TruncDiv,
    Var,
)
from loopwright.loops.interpreter import ExecutedCall, execute
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from tests.conftest import examples

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to compile with")

T = TypeVar("T")

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-tautological-compare", "-Wno-unused-variable")
"""All, but that a random program may compare a thing with itself and not use what it declares."""

STATEMENTS = r"""
#include <stdio.h>
#include <stdlib.h>
void S(long long a);
void T(long long a, long long b);
void run(long long n, long long m);
void S(long long a) { printf("S %lld\n", a); }
void T(long long a, long long b) { printf("T %lld %lld\n", a, b); }
int main(int count, char **words) { (void)count; run(atoll(words[1]), atoll(words[2])); return 0; }
"""

NAMES = ("n", "m", "c0", "c1")
constants = st.integers(-7, 7)
divisors = st.integers(1, 6)


def repeated(draw: st.DrawFn, what: st.SearchStrategy[T], least: int = 0) -> tuple[T, ...]:
    return tuple(draw(st.lists(what, min_size=least, max_size=3)))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> Expr:
    inner = expressions(depth - 1)
    match draw(st.integers(0, 9)) if depth else draw(st.integers(0, 1)):
        case 0:
            return Int(draw(constants))
        case 1:
            return Var(draw(st.sampled_from(NAMES)))
        case 2:
            return Sum(repeated(draw, inner))
        case 3:
            return Scaled(draw(constants), draw(inner))
        case 4:
            return FloorDiv(draw(inner), draw(divisors))
        case 5:
            return TruncDiv(draw(inner), draw(divisors))
        case 6:
            return Rem(draw(inner), draw(divisors))
        case 7:
            return Min(repeated(draw, inner, 1))
        case 8:
            return Max(repeated(draw, inner, 1))
        case _:
            return Select(draw(conditions(depth - 1)), draw(inner), draw(inner))


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2) -> Test:
    inner = conditions(depth - 1)
    match draw(st.integers(0, 4)) if depth else 0:
        case 0 | 1:
            sides = expressions(depth)
            return Compare(draw(st.sampled_from(Relation)), draw(sides), draw(sides))
        case 2:
            return And(repeated(draw, inner))
        case 3:
            return Or(repeated(draw, inner))
        case _:
            return Not(draw(inner))


@st.composite
def programs(draw: st.DrawFn, depth: int = 4) -> Node:
    inner = programs(depth - 1)
    match draw(st.integers(0, 7)) if depth else 0:
        case 0:
            return Call("S", (draw(expressions()),))
        case 1:
            return Call("T", (draw(expressions()), draw(expressions())))
        case 2:
            return Block(repeated(draw, inner))
        case 3 | 4:
            return If(draw(conditions()), draw(inner), draw(st.none() | inner))
        case 5:
            length, step = draw(st.integers(0, 4)), draw(st.integers(1, 3))
            return short_loop(draw(expressions()), length, step, draw(inner))
        case 6:
            return Let(draw(st.sampled_from(["c0", "c1"])), draw(expressions()), draw(inner))
        case _:
            return Remarked(draw(st.sampled_from(["mark", "end \\", "/* */"])), draw(inner))


def short_loop(start: Expr, length: int, step: int, body: Node) -> Node:
    """A loop over `c0` of at most `length` iterations, wherever it starts."""
    test = Compare(Relation.LT, Var("c0"), Var("c1"))
    return Let("c1", Sum((start, Int(length))), For("c0", start, test, step, body))


@settings(max_examples=examples(40))
@given(st.lists(programs(), min_size=6, max_size=6))
def test_the_compiled_text_makes_the_calls_of_the_program(
    tmp_path_factory: pytest.TempPathFactory, parts: list[Node]
) -> None:
    node = Let("c0", Var("n"), Let("c1", Var("m"), Block(tuple(parts))))
    folder = tmp_path_factory.mktemp("compiled")
    program = compiled(node, folder)
    for n, m in ((3, 5), (-4, 1)):
        assert calls(program, n, m) == list(execute(node, {"n": n, "m": m}))


def compiled(node: Node, folder: Path) -> Path:
    """The program that makes the calls of `node`, for the sizes it is started with."""
    text = to_c(node, standalone=True, parameters=("n", "m"), iterator_type="long long")
    (folder / "run.c").write_text(text)
    (folder / "main.c").write_text(STATEMENTS)
    build = ["gcc", *WARNINGS, "run.c", "main.c", "-o", "program"]
    done = subprocess.run(build, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return folder / "program"


def calls(program: Path, n: int, m: int) -> list[ExecutedCall]:
    """The calls that the compiled text makes."""
    ran = subprocess.run([program, str(n), str(m)], capture_output=True, text=True, check=True)
    words = (line.split() for line in ran.stdout.splitlines())
    return [(name, tuple(map(int, values))) for name, *values in words]
