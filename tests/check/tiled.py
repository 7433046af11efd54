"""Scripts that tile the kernels, as they are tiled in [Bao2016, tables 7 and 10, figure 9].

Tiles are of as many loops as dependences allow, skewed where they have to be; where statements of a
nest need different tiles they are distributed first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent

TILED = {
    "2mm": """
        L = lift(Mult, 2)
        tile(L, a, b, c, skew)
        M = lift(Sum, 2)
        tile(M, a, b, c, skew)""",
    "3mm": """
        L = lift(CompE, 2)
        tile(L, a, b, c, skew)
        M = lift(CompF, 2)
        tile(M, a, b, c, skew)
        P = lift(CompG, 2)
        tile(P, a, b, c, skew)""",
    "adi": """
        C = lift(PQ, 3)
        distribute(PQinit, C, Vinit, V, 1)
        tile(C, i=a, j=b)
        tile(V, i=a, j=b)
        R = lift(RowPQ, 3)
        distribute(RowInit, R, Uinit, U, 1)
        tile(R, i=a, j=b)
        tile(U, i=a, j=b)""",
    "atax": """
        distribute(Init, Row, Column)
        tile(Row, a, b)
        tile(Column, a, b)""",
    "bicg": """
        L = lift(Row, 1)
        tile(L, a, b, skew)""",
    "cholesky": """
        L = lift(Below, 1)
        tile(L, a, b, c, skew)""",
    "correlation": """
        distribute(ClearMean, SumMean, DivMean)
        tile(SumMean, a, b)
        distribute(ClearDev, SumDev, DivDev, RootDev, KeepDev)
        tile(SumDev, a, b)
        distribute(Center, Reduce)
        tile(Center, a, b)
        tile(Reduce, a, b)
        distribute(Unit, Init, Mult, Mirror)
        tile(Mult, a, b, c)""",
    "covariance": """
        distribute(ClearMean, SumMean, DivMean)
        tile(SumMean, a, b)
        tile(Center, a, b)
        distribute(Init, Mult, Final)
        tile(Mult, a, b, c)""",
    "deriche": """
        L = lift(Right, 1)
        tile(L, a, b, skew)
        tile(Rows, a, b)
        M = lift(Down, 1)
        tile(M, a, b, skew)
        tile(Columns, a, b)""",
    "doitgen": """
        L = lift(Mult, 3)
        tile(L, a, b, skew)""",
    "fdtd-2d": """
        L = lift(HZ, 1)
        tile(L, a, b, c, skew)""",
    "floyd-warshall": """
        tile(Path, a, b)""",
    "gemm": """
        L = lift(Mult, 1)
        tile(L, a, b, c, skew)""",
    "gemver": """
        tile(First, a, b)
        tile(Second, a, b)
        tile(Fourth, a, b)""",
    "gesummv": """
        distribute(ClearT, ClearY, MultA, MultB, Combine)
        tile(MultA, a, b)
        tile(MultB, a, b)""",
    "gramschmidt": """
        distribute(InitR, UpdateR, UpdateA, 1)
        tile(UpdateR, a, b)
        tile(UpdateA, a, b)""",
    "heat-3d": """
        L = lift(LoopA, 1)
        tile(L, a, b, c, d, skew)""",
    "jacobi-1d": """
        L = lift(LoopA, 1)
        tile(L, a, b, skew)""",
    "jacobi-2d": """
        L = lift(LoopA, 1)
        tile(L, a, b, c, skew)""",
    "lu": """
        L = lift(Left, 1)
        tile(L, a, b, c, skew)""",
    "mvt": """
        tile(First, a, b)
        tile(Second, a, b)""",
    "nussinov": """
        L = lift(Split, 2)
        tile(L, i=a, j=b)""",
    "seidel-2d": """
        tile(Loop, a, b, c, skew)""",
    "syr2k": """
        L = lift(Mult, 1)
        tile(L, a, b, c, skew)""",
    "syrk": """
        L = lift(Mult, 1)
        tile(L, a, b, c, skew)""",
    "trisolv": """
        L = lift(Subtract, 1)
        tile(L, a, b, skew)""",
    "trmm": """
        distribute(Mult, Alpha)
        tile(Mult, a, b, c)""",
}

IN_ONE_DIRECTION = {
    "durbin": """
        strip_mine(Dot, i, a)
        strip_mine(Mirror, i, a)
        strip_mine(Copy, i, a)""",
    "ludcmp": """
        strip_mine(Left, k, a)
        strip_mine(Right, k, a)
        strip_mine(Forward, j, a)
        strip_mine(Backward, j, a)""",
    "symm": """
        L = lift(Lower, 3)
        strip_mine(L, k, a)""",
}
"""A scalar that all iterations use keeps the outer loops of these in their order."""


def tiling(name: str, sizes: Sequence[int]) -> str:
    """The script that tiles a kernel, with a, b, c and d for the sizes from the outside in."""
    script = dedent((TILED | IN_ONE_DIRECTION)[name]).strip()
    given = dict(zip("abcd", sizes, strict=False))
    return re.sub(r"\b[abcd]\b", lambda word: str(given[word.group()]), script)
