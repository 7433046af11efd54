"""Programs as a careful person writes them in C."""

from __future__ import annotations

from textwrap import dedent

import pytest

from loopwright.emit.c import to_c
from loopwright.loops.expressions import TRUE, And, Compare, Expr, FloorDiv, Int, Max, Min, Relation, Sum, Var
from loopwright.loops.nodes import EMPTY, Block, Call, For, If, Let, Node, Remarked
from loopwright.model.annotations import Parallel

I0, I1, N, M = Var("c0"), Var("c1"), Var("n"), Var("m")
S, T = Call("S", (I0,)), Call("T", (I0,))


def less(left: Expr, right: Expr) -> Compare:
    return Compare(Relation.LT, left, right)


def loop(body: Node, *, parallel: bool = False, iterator: str = "c0", bound: Expr = N) -> For:
    said = (Parallel(),) if parallel else ()
    return For(iterator, Int(0), less(Var(iterator), bound), 1, body, annotations=said)


POSITIVE, SMALL = less(Int(0), M), less(M, Int(9))


def lines(text: str) -> str:
    return dedent(text).lstrip("\n")


def test_one_statement_needs_no_braces() -> None:
    inner = loop(If(less(I1, I0), Call("S1", (I0, Sum((I1, Int(2)))))), iterator="c1")
    assert to_c(loop(inner)) == lines("""
        for (int c0 = 0; c0 < n; c0 += 1)
          for (int c1 = 0; c1 < n; c1 += 1)
            if (c1 < c0)
              S1(c0, c1 + 2);
        """)


def test_two_statements_do() -> None:
    assert to_c(Block((loop(Block((S, Block((T,))))), Call("U", ())))) == lines("""
        for (int c0 = 0; c0 < n; c0 += 1) {
          S(c0);
          T(c0);
        }
        U();
        """)


def test_else_and_chains_of_it() -> None:
    chain = If(POSITIVE, Block((S, T)), If(SMALL, S, Block((T, T))))
    assert to_c(chain) == lines("""
        if (0 < m) {
          S(c0);
          T(c0);
        } else if (m < 9)
          S(c0);
        else {
          T(c0);
          T(c0);
        }
        """)


def test_an_else_belongs_to_one_if() -> None:
    assert to_c(If(POSITIVE, loop(If(SMALL, S)), T)) == lines("""
        if (0 < m) {
          for (int c0 = 0; c0 < n; c0 += 1)
            if (m < 9)
              S(c0);
        } else
          T(c0);
        """)
    assert to_c(If(POSITIVE, Remarked("inner", If(SMALL, S, T)))) == lines("""
        if (0 < m) {
          // inner
          if (m < 9)
            S(c0);
          else
            T(c0);
        }
        """)


def test_a_body_that_does_nothing() -> None:
    assert to_c(EMPTY) == ""
    assert to_c(If(POSITIVE, EMPTY, S)) == lines("""
        if (0 < m) {
        } else
          S(c0);
        """)


def test_infinite_and_strided_loops() -> None:
    assert to_c(For("c0", Int(0), TRUE, 3, S)) == lines("""
        for (int c0 = 0; ; c0 += 3)
          S(c0);
        """)


def test_declarations_have_a_scope() -> None:
    value = Let("c1", FloorDiv(I0, 2), Call("S", (I1,)))
    assert to_c(loop(value)) == lines("""
        for (int c0 = 0; c0 < n; c0 += 1) {
          int c1 = floord(c0, 2);
          S(c1);
        }
        """)
    assert to_c(loop(Block((value, value)))) == lines("""
        for (int c0 = 0; c0 < n; c0 += 1) {
          {
            int c1 = floord(c0, 2);
            S(c1);
          }
          {
            int c1 = floord(c0, 2);
            S(c1);
          }
        }
        """)


def test_a_declaration_does_not_capture_its_own_name() -> None:
    """In C the `c0` on the right of `int c0 = c0 + 1` would be the new one."""
    again = For("c0", Sum((I0, Int(1))), less(I0, N), 1, S)
    assert to_c(loop(again)) == lines("""
        for (int c0 = 0; c0 < n; c0 += 1)
          for (int c0_ = c0 + 1; c0_ < n; c0_ += 1)
            S(c0_);
        """)


@pytest.mark.parametrize(
    ("mark", "comment"),
    [
        ("tile", "  // tile\n"),
        ("two\nlines", "  // two lines\n"),
        ("a /* b */ c", "  // a / * b * / c\n"),
        ("joins the next \\", "  // joins the next\n"),
        ("", ""),
    ],
)
def test_marks_are_comments_of_one_line(mark: str, comment: str) -> None:
    assert to_c(loop(Remarked(mark, S))) == f"for (int c0 = 0; c0 < n; c0 += 1)\n{comment}  S(c0);\n"


def test_parallel_loops_are_annotated() -> None:
    nest = loop(loop(S, parallel=True, iterator="c1"), parallel=True)
    assert to_c(nest).count("// parallel") == 2
    assert to_c(nest, openmp=True) == lines("""
        #pragma omp parallel for
        for (int c0 = 0; c0 < n; c0 += 1)
          // parallel
          for (int c1 = 0; c1 < n; c1 += 1)
            S(c0);
        """)
    both = For("c0", Int(0), And((less(I0, N), less(I0, M))), 1, S, annotations=(Parallel(),))
    assert "#pragma" not in to_c(both, openmp=True)


def test_constants_beyond_int_widen_the_iterators() -> None:
    assert to_c(loop(S, bound=Int(5 * 10**9))) == lines("""
        for (long long c0 = 0; c0 < 5000000000LL; c0 += 1)
          S(c0);
        """)
    assert "for (long c0" in to_c(loop(S), iterator_type="long")


def test_names_that_are_not_cs() -> None:
    """`n'` and `n_` stay two names, a keyword and a helper are not used as names."""
    arguments = tuple(map(Var, ("n'", "n_", "int", "min", "2k")))
    assert to_c(Call("S[i]", arguments)) == "S_i_(n__, n_, int_, min_, _2k);\n"


def test_statements_as_isl_prints_them() -> None:
    assert to_c(Block((Call("", (I0, I1)), Call("n", (N,)), Call("S", ()), Call("S", (N,))))) == lines("""
        (c0, c1);
        n(n);
        S();
        S(n);
        """)


def test_standalone_prints_what_is_used_and_no_more() -> None:
    program = loop(Call("S", (FloorDiv(I0, 2),)), bound=Min((N, M)))
    text = to_c(program, standalone=True, parameters=("m", "unused"))
    assert text.count("floord(long long n, long long d)") == 1
    assert text.count("min(long long a, long long b)") == 1
    assert "max" not in text
    assert text.endswith(
        lines("""
        void S(int);

        void run(int m, int unused, int n)
        {
          (void)unused;
          for (int c0 = 0; c0 < min(n, m); c0 += 1)
            S(floord(c0, 2));
        }
        """)
    )


def test_standalone_tells_things_of_one_name_apart() -> None:
    program = Block((Call("", ()), Call("S", (N,)), Call("S", (N, M)), Call("n", ()), Call("run", ())))
    text = to_c(program, standalone=True)
    assert text == lines("""
        void S(int);
        void S_(int, int);
        void S__(void);
        void n_(void);
        void run(void);

        void run_(int m, int n)
        {
          S__();
          S(n);
          S_(n, m);
          n_();
          run();
        }
        """)


def test_helpers_are_not_printed_for_a_maximum_of_one() -> None:
    assert "max" not in to_c(loop(S, bound=Max((N,))), standalone=True)
