"""The kernels of [Namjoshi2016, appendix B] in short, and its scripts.

The dummy loops around single statements are left out: a statement with fewer loops has zeros in
the places of those it lacks, which is what a loop over 0 gives.  Where the printed script is
damaged (braces and arrows lost), it is written as it must have been.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kernel:
    name: str
    body: str
    script: str
    legal: bool = True
    """Of seidel-2d's script only the tiling is left in print; without its skew it is wrong."""


TILE_3 = (
    "{[i,j,k]->[i1,j1,k1,i2,j2,k2]: i1=[i/32] and i2=i%32 and j1=[j/32]\n"
    "and j2=j%32 and k1=[k/32] and k2=k%32}"
)

PRODUCT = """
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++) {{
    {init}: {c}[i][j] = 0;
    for (k = 0; k < n; k++)
      {mult}: {c}[i][j] += {a}[i][k] * {b}[k][j];
  }}
"""


def product(init: str, mult: str, c: str, a: str, b: str) -> str:
    return PRODUCT.format(init=init, mult=mult, c=c, a=a, b=b)


def product_script(init: str, mult: str) -> str:
    return f"realign({init}, {mult}, 0)\naffine({mult}, {{[i,j,k]->[i,k,j]}})\naffine({mult}, {TILE_3})\n"


KERNELS = [
    Kernel(
        "gemver",
        """
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++)
    A[i][j] = A[i][j] + u[i] * v[j];
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++)
    Second: x[i] = x[i] + A[j][i] * y[j];
""",
        "affine(Second, {[i,j] -> [j,i]})",
    ),
    Kernel(
        "trmm",
        """
for (i = 0; i < m; i++)
  for (j = 0; j < n; j++) {
    for (k = i + 1; k < m; k++)
      Mult: B[i][j] += A[k][i] * B[k][j];
    Alpha: B[i][j] = alpha * B[i][j];
  }
""",
        f"realign(Mult, Alpha, 0)\naffine(Mult, {{[i,j,k]->[i,k,j]}})\naffine(Mult, {TILE_3})",
    ),
    Kernel(
        "2mm",
        product("Init", "Mult", "T", "A", "B") + product("Scale", "Sum", "D", "T", "C"),
        product_script("Init", "Mult") + product_script("Scale", "Sum"),
    ),
    Kernel(
        "doitgen",
        """
for (r = 0; r < n; r++)
  for (q = 0; q < n; q++) {
    for (p = 0; p < n; p++) {
      Init: sum[p] = 0;
      for (s = 0; s < n; s++)
        Mult: sum[p] += A[r][q][s] * C[s][p];
    }
    for (p = 0; p < n; p++)
      Ret: A[r][q][p] = sum[p];
  }
""",
        "realign(Init, Mult, 2)\naffine(Mult, {[r,q,p,s]->[r,q,s,p]})\n"
        "affine(Mult, {[r,q,s,p]->[r,q,s1,p1,s2,p2]: p1=[p/64] and p2=p%64 and s1=[s/64]\nand s2=s%64})",
    ),
    Kernel(
        "3mm",
        product("InitE", "CompE", "E", "A", "B")
        + product("InitF", "CompF", "F", "C", "D")
        + product("InitG", "CompG", "G", "E", "F"),
        product_script("InitE", "CompE")
        + product_script("InitF", "CompF")
        + product_script("InitG", "CompG"),
    ),
    Kernel(
        "mvt",
        """
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++)
    First: x[i] = x[i] + A[i][j] * y[j];
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++)
    Second: z[i] = z[i] + A[j][i] * w[j];
""",
        "affine(Second, {[i,j] -> [j,i]})",
    ),
    Kernel(
        "gramschmidt",
        """
for (k = 0; k < n; k++) {
  s[0] = 0;
  for (i = 0; i < m; i++)
    s[0] += A[i][k] * A[i][k];
  R[k][k] = sqrt(s[0]);
  for (i = 0; i < m; i++)
    Q[i][k] = A[i][k] / R[k][k];
  for (j = k + 1; j < n; j++) {
    InitR: R[k][j] = 0;
    for (i = 0; i < m; i++)
      UpdateR: R[k][j] += Q[i][k] * A[i][j];
    for (i = 0; i < m; i++)
      UpdateA: A[i][j] = A[i][j] - Q[i][k] * R[k][j];
  }
}
""",
        "realign(InitR, UpdateR, 1)\nrealign(UpdateR, UpdateA, 1)\naffine(InitR, {[i,j,k]->[i,k,j]})\n"
        "affine(UpdateR, {[i,j,k]->[i,k,j]})\naffine(UpdateA, {[i,j,k]->[i,k,j]})",
    ),
    Kernel(
        "lu",
        """
for (i = 0; i < n; i++) {
  for (j = 0; j < i; j++) {
    for (k = 0; k < j; k++)
      Left: A[i][j] -= A[i][k] * A[k][j];
    Norm: A[i][j] /= A[j][j];
  }
  for (j = i; j < n; j++)
    for (k = 0; k < i; k++)
      Right: A[i][j] -= A[i][k] * A[k][j];
}
""",
        "from_zero()\naffine(Right, {[i,j,k]->[i,j+i,k]})\naffine(Norm, {[i,j,0]->[i,j,j]})\n"
        "realign(Norm, Right, 3)\nrealign(Left, Norm, 3)\nL = lift(Left, 3)\n"
        "affine(L, {[i,j,k]->[i,k,j]})\n"
        "affine(L, {[i,j,k]->[i1,j1,k1,i2,j2,k2]: i1=[i/128] and i2=i%128 and j1=[j/128]\n"
        "and j2=j%128 and k1=[k/128] and k2=k%128})",
    ),
    Kernel(
        "adi",
        """
for (t = 1; t <= m; t++)
  for (i = 1; i < n - 1; i++) {
    PQinit: v[0][i] = 1;
    p[i][0] = 0;
    q[i][0] = v[0][i];
    for (j = 1; j < n - 1; j++) {
      PQ: p[i][j] = c / (p[i][j-1] + b);
      q[i][j] = (u[j][i-1] + q[i][j-1]) / (p[i][j-1] + b);
    }
    Vinit: v[n-1][i] = 1;
    for (j = n - 2; j >= 1; j--)
      V: v[j][i] = p[i][j] * v[j+1][i] + q[i][j];
  }
""",
        "realign(Vinit, V, 1)\naffine(V, {[i,j,k]->[i,k,j]})\n"
        "affine(V, {[t,i,j]->[t,i1,j1,i2,j2]: i1=[i/32] and i2=i%32 and j1=[j/32]\nand j2=j%32})",
    ),
    Kernel(
        "fdtd-2d",
        """
for (t = 0; t < m; t++) {
  for (j = 0; j < n; j++)
    ey[0][j] = f[t];
  for (i = 1; i < n; i++)
    for (j = 0; j < n; j++)
      EY: ey[i][j] = ey[i][j] - (hz[i][j] - hz[i-1][j]);
  for (i = 0; i < n; i++)
    for (j = 1; j < n; j++)
      EX: ex[i][j] = ex[i][j] - (hz[i][j] - hz[i][j-1]);
  for (i = 0; i < n - 1; i++)
    for (j = 0; j < n - 1; j++)
      HZ: hz[i][j] = hz[i][j] - (ex[i][j+1] - ex[i][j] + ey[i+1][j] - ey[i][j]);
}
""",
        "realign(EY, EX, 3)\naffine(HZ, {[t,i,j]->[t,i+1,j]})\nrealign(EX, HZ, 3)",
    ),
    Kernel(
        "heat-3d",
        """
for (t = 1; t <= m; t++) {
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < n - 1; j++)
      for (k = 1; k < n - 1; k++)
        LoopB: B[i][j][k] = A[i+1][j][k] + A[i-1][j][k] + A[i][j+1][k] + A[i][j-1][k]
                          + A[i][j][k+1] + A[i][j][k-1] + A[i][j][k];
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < n - 1; j++)
      for (k = 1; k < n - 1; k++)
        LoopA: A[i][j][k] = B[i+1][j][k] + B[i-1][j][k] + B[i][j+1][k] + B[i][j-1][k]
                          + B[i][j][k+1] + B[i][j][k-1] + B[i][j][k];
}
""",
        "affine(LoopA, {[t,i,j,k]->[t,i+1,j,k]})\nrealign(LoopB, LoopA, 4)",
    ),
    Kernel(
        "jacobi-2d",
        """
for (t = 0; t < m; t++) {
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < n - 1; j++)
      LoopB: B[i][j] = A[i][j] + A[i][j-1] + A[i][1+j] + A[1+i][j] + A[i-1][j];
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < n - 1; j++)
      LoopA: A[i][j] = B[i][j] + B[i][j-1] + B[i][1+j] + B[1+i][j] + B[i-1][j];
}
""",
        "affine(LoopA, {[t,i,j]->[t,i+1,j]})\nrealign(LoopB, LoopA, 3)",
    ),
    Kernel(
        "seidel-2d",
        """
for (t = 0; t <= m - 1; t++)
  for (i = 1; i <= n - 2; i++)
    for (j = 1; j <= n - 2; j++)
      Loop: A[i][j] = (A[i-1][j-1] + A[i-1][j] + A[i-1][j+1] + A[i][j-1] + A[i][j] + A[i][j+1]
                    + A[i+1][j-1] + A[i+1][j] + A[i+1][j+1]) / 9.0;
""",
        "affine(Loop, {[t,i,j]->[t,i1,j1,i2,j2]: i1=[i/32] and i2=i%32 and j1=[j/32]\nand j2=j%32})",
        legal=False,
    ),
    Kernel(
        "covariance",
        """
for (i = 0; i < m; i++)
  for (j = i; j < m; j++) {
    Init: cov[i][j] = 0;
    for (k = 0; k < n; k++)
      Mult: cov[i][j] += data[k][i] * data[k][j];
    Final: {
      cov[i][j] /= f;
      cov[j][i] = cov[i][j];
    }
  }
""",
        "realign(Init, Mult, 0)\nrealign(Mult, Final, 0)\naffine(Mult, {[i,j,k]->[k,i,j]})\n"
        f"affine(Mult, {TILE_3})\n"
        "affine(Final, {[i,j]->[i1,j1,i2,j2]: i1=[i/32] and i2=i%32 and j1=[j/32]\nand j2=j%32})",
    ),
]
