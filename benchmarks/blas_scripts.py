"""Scripts for kernels of BLAS and LAPACK: textbook tiling, for given sizes.

Blocks for two caches, panels packed into contiguous buffers, and a tile of rows times vectors that stays in
registers.  Full tiles are split off first, so that they have no guards; the remainder has narrower tiles, or
is unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from string import Template

MOST_ON_STACK = 4096
"""Elements of an array that is not allocated."""

NARROW = 8
"""Columns of the tiles near a diagonal, and their rows."""


@dataclass(frozen=True)
class TileSizes:
    """Rows and columns in registers, steps that a panel has, rows that a block has."""

    rows: int
    columns: int
    depth: int
    block: int

    def over(self, steps: int) -> TileSizes:
        """With panels of about `depth` steps that leave no rest of `steps`, if any do.

        Panels on the stack are no good: compilers then do not keep the sums in registers.
        """
        least = MOST_ON_STACK // self.columns + 1
        wanted = max(self.depth, least)
        whole = [one for one in range(max(least, wanted * 2 // 3), wanted * 2) if steps % one == 0]
        return replace(self, depth=min(whole, key=lambda one: abs(one - wanted), default=wanted))

    def for_rows(self, rows: int) -> TileSizes:
        """With more rows and fewer columns, if that leaves no rest of `rows`: 10 x 16 in place of 8 x 24."""
        other = replace(self, rows=self.rows * 5 // 4, columns=self.columns * 2 // 3)
        fits = other.columns % NARROW == 0 and rows % self.rows and not rows % other.rows
        return replace(other, block=self.block // other.rows * other.rows) if fits else self

    def even(self, rows: int) -> TileSizes:
        """With blocks of nearly the same size, half as large again: each packs its panels."""
        count = max(1, round(rows / (1.5 * self.block)))
        return replace(self, block=-(-rows // count // self.rows) * self.rows)

    def texts(self) -> dict[str, str]:
        near = {"narrow": NARROW}
        return {name: str(value) for name, value in {**vars(self), **near}.items()}


WHOLE = "i < $rows * [$ni/$rows] and k < $depth * [$nk/$depth]"
PRODUCT = f"""\
($name, ${{name}}Rest) = isplit($name, {{[i, k, j] : {WHOLE} and j < $columns * [$nj/$columns]}}, 0)
(${{name}}Right, ${{name}}Rest) = isplit(${{name}}Rest, {{[i, k, j] :
  {WHOLE} and j >= $columns * [$nj/$columns]}}, 0)
"""
TILES = """\
tile($name, k=$depth, i=$block, j=$columns)
strip_mine($name, i, $rows)
interchange($name, [kT, iT, jT, iT1, k, i, j])
affine($name, {[kT, iT, jT, iT1, k, i, j] -> [kT, iT, jT, iT1, k, i, v] : v = j - $columns * jT})
pack($left, $name, iT$scaled)
pack($right, $name, jT)
pack($sums, $name, iT1, written)
unroll($name, i)
vectorize($name, v)
"""
"""A sum over k for rows i and columns j: panels in the first cache, rows of the left factor in the second."""


@dataclass(frozen=True)
class Product:
    """`name` adds products of `left` and `right` to `sums`; sizes are those of rows, columns and steps."""

    name: str
    sums: str
    left: str
    right: str
    ni: str
    nj: str
    nk: str
    scaled: bool = False

    def script(self, sizes: TileSizes) -> str:
        given = {**vars(self), **sizes.texts(), "scaled": ", scaled" if self.scaled else ""}
        found = Template(PRODUCT).substitute(given)
        for name in (self.name, f"{self.name}Right"):
            found += Template(TILES).substitute({**given, "name": name})
        return found


TRIANGLE = """\
($name, ${name}Rest) = isplit($name, {[i, k, j] : i < $rows * [N/$rows] and k < $depth * [M/$depth]}, 0)
tile($name, k=$depth, i=$block)
interchange($name, [kT, iT, k, i, j])
$before
(Full, Near) = isplit($name, {[kT, iT, k, i, j] :
  $columns * [j/$columns] + $columns <= $rows * [i/$rows]}, 2)
(Near, Corner) = isplit(Near, {[kT, iT, k, i, j] : j < $rows * [i/$rows]}, 2)
strip_mine(Full, i, $rows)
strip_mine(Full, j, $columns)
interchange(Full, [kT, iT, jT, iT1, k, i, j])
affine(Full, {[kT, iT, jT, iT1, k, i, j] -> [kT, iT, jT, iT1, k, i, v] : v = j - $columns * jT})
${full}pack(C, Full, iT1, written)
unroll(Full, i)
vectorize(Full, v)
strip_mine(Near, i, $rows)
strip_mine(Near, j, $rows)
interchange(Near, [kT, iT, jT, iT1, k, i, j])
affine(Near, {[kT, iT, jT, iT1, k, i, j] -> [kT, iT, jT, iT1, k, i, v] : v = j - $rows * jT})
${near}pack(C, Near, iT1, written)
unroll(Near, i)
vectorize(Near, v)
strip_mine(Corner, i, $rows)
interchange(Corner, [kT, iT, iT1, k, i, j])
affine(Corner, {[kT, iT, iT1, k, i, j] -> [kT, iT, iT1, k, i, v] : v = j - $rows * iT1})
${corner}pack(C, Corner, iT1, written)
unroll(Corner, i)
vectorize(Corner, v)
"""
"""A product of which a triangle is wanted: whole tiles below it, narrow ones near it, the corners on it."""


def triangle(sizes: TileSizes, name: str, before: str, panel: str) -> str:
    """`before` packs what is read by rows, and `panel` what is read by columns, with $name, $loop and $more.

    $more are the underscores that tell the loops of one copy from those of the others.
    """
    given: dict[str, str] = {**sizes.texts(), "name": name, "before": before}
    parts = (("full", "Full", "jT"), ("near", "Near", "jT"), ("corner", "Corner", "iT1"))
    for number, (key, part, loop) in enumerate(parts):
        given[key] = Template(panel).substitute(name=part, loop=loop, more="_" * number) + "\n"
    return Template(TRIANGLE).substitute(given)


def two_triangles(sizes: TileSizes) -> str:
    """The two products of syr2k, one after the other: each addition and multiplication is one operation.

    Rows are read where they are.  A copy is written row by row: 24 streams are read, and one is written.
    """
    found = "(Mult, Turned) = split_sum(Mult)\ndistribute(Scale, Mult, Turned)\n"
    for name, array in (("Mult", "A"), ("Turned", "B")):
        panel = f"""\
P = pack({array}, $name, $loop, transposed, scaled)
interchange(P, {array}_1$more, {array}_2$more)"""
        found += triangle(sizes, name, "", panel)
    return found


REASSOCIATED = frozenset({"syr2k"})
"""Kernels whose sums are added in another order."""


TRMM = """\
distribute(Mult, Alpha)
interchange(Mult, k, j)
(Mult, Rest) = isplit(Mult, {[i, k, j] :
  i < $rows * [M/$rows] and k < $depth * [M/$depth] and j < $columns * [N/$columns]}, 0)
tile(Mult, k=$depth, j=$columns)
interchange(Mult, [kT, jT, i, k, j])
affine(Mult, {[kT, jT, i, k, j] -> [kT, jT, i, k, v] : v = j - $columns * jT})
pack(B, Mult, jT)
(Near, Full) = isplit(Mult, {[kT, jT, i, k, v] : k < $rows * [i/$rows] + $rows}, 2)
strip_mine(Full, i, $rows)
interchange(Full, [kT, jT, iT, k, i, v])
pack(A, Full, kT, transposed)
pack(B, Full, iT, written)
unroll(Full, i)
vectorize(Full, v)
vectorize(Near, v)
"""
"""Rows of B are read before they change: a panel of it is copied before the rows above it are summed up."""

SYMM = """\
expand(temp2, i, j)
distribute(Clear, Upper, Lower, Combine)
reorder(Upper, Lower)
reorder(Upper, Combine)
interchange(Lower, [i, k, j])
(Lower, LowerRest) = isplit(Lower, {[i, k, j] :
  i < $rows * [M/$rows] and j < $columns * [N/$columns] and k < $rows * [i/$rows]}, 0)
tile(Lower, k=$depth, j=$columns)
strip_mine(Lower, i, $rows)
interchange(Lower, [kT, jT, iT, k, i, j])
affine(Lower, {[kT, jT, iT, k, i, j] -> [kT, jT, iT, k, i, v] : v = j - $columns * jT})
pack(A, Lower, kT)
pack(B, Lower, jT)
pack(temp2_i_j, Lower, iT, written)
unroll(Lower, i)
vectorize(Lower, v)
interchange(Upper, [k, i, j])
(Near, Upper) = isplit(Upper, {[k, i, j] : i < $rows * [k/$rows] + $rows}, 0)
(Upper, Rest) = isplit(Upper, {[k, i, j] : i < $depth * [M/$depth] and j < $columns * [N/$columns]}, 0)
tile(Upper, i=$depth, j=$columns)
strip_mine(Upper, k, $rows)
interchange(Upper, [iT, jT, kT, i, k, j])
affine(Upper, {[iT, jT, kT, i, k, j] -> [iT, jT, kT, i, k, v] : v = j - $columns * jT})
pack(A, Upper, iT, transposed)
pack(B, Upper, jT, scaled)
pack(C, Upper, kT, written)
unroll(Upper, k)
vectorize(Upper, v)
"""
"""The sums below the diagonal and those above it are two products, each with a triangle of A."""

LU = """\
affine(Norm, {[i, j] -> [i, j, k] : k = j})
L = fuse(Left, Norm, Right, 3)
interchange(L, [k, i, j])
strip_mine(L, k, $depth)
(Left, Low) = isplit(Left, {[kT, k, i, j] : k >= $depth * [N/$depth] or j < $depth * kT + $depth}, 4)
(Right, Up) = isplit(Right, {[kT, k, i, j] : k >= $depth * [N/$depth] or i < $depth * kT + $depth}, 4)
reorder(Low, Norm)
reorder(Low, Right)
distribute(Right, Low, Up, 1)
P = lift(Norm, 2)
interchange(P, k, i)
(Low, LowRest) = isplit(Low, {[kT, k, i, j] : j < $columns * [i/$columns] and i < $rows * [N/$rows]}, 1)
(Up, UpRest) = isplit(Up, {[kT, k, i, j] :
  j >= $columns * [i/$columns] + $columns and j < $columns * [N/$columns]}, 1)
interchange(LowRest, k, i)
interchange(UpRest, k, i)
"""
LU_TILES = """\
tile($name, i=$rows, j=$columns)
interchange($name, [kT, iT, jT, k, i, j])
affine($name, {[kT, iT, jT, k, i, j] -> [kT, iT, jT, k, i, v] : v = j - $columns * jT})
pack(A, $name, kT, reused)
pack(A, $name, jT, written, reused)
unroll($name, i)
vectorize($name, v)
"""
"""Elimination by blocks of columns: first the block's own rows and columns, then the rest of the matrix."""

CHOLESKY = """\
affine(Square, {[i, k] -> [i, j, k] : j = i})
affine(Root, {[i] -> [i, j] : j = i})
L = fuse(Norm, Square, Root, 2)
L = lift(Below, 1)
tile(L, j=$columns)
interchange(L, [jT, i, j])
(Full, Below) = isplit(Below, {[jT, i, j, k] :
  i >= $columns * jT + $columns and i < $rows * [N/$rows] and k < $columns * jT}, 1)
(Corner, Below) = isplit(Below, {[jT, i, j, k] :
  i < $columns * jT + $columns and $columns * jT + $columns <= N and k < $columns * jT}, 1)
(Below, Solve) = isplit(Below, {[jT, i, j, k] : i < $columns * jT + $columns or i >= $rows * [N/$rows]}, 3)
(Norm, Scale) = isplit(Norm, {[jT, i, j] : i < $columns * jT + $columns or i >= $rows * [N/$rows]}, 3)
reorder(Solve, Norm)
reorder(Scale, Square)
reorder(Scale, Root)
reorder(Solve, Square)
reorder(Solve, Root)
distribute(Root, Solve, 1)
L = lift(Solve, 2)
tile(L, i=$rows)
interchange(L, [jT, iT, j, i])
distribute(Solve, Scale, 3)
interchange(Solve, i, k)
pack(A, L, iT, transposed, written, reused)
vectorize(Solve, i)
vectorize(Scale, i)
tile(Full, i=$rows)
interchange(Full, [jT, iT, k, i, j])
affine(Full, {[jT, iT, k, i, j] -> [jT, iT, k, i, v] : v = j - $columns * jT})
pack(A, Full, jT, transposed, reused)
pack(A, Full, iT, written, reused)
unroll(Full, i)
vectorize(Full, v)
interchange(Corner, [jT, k, i, j])
affine(Corner, {[jT, k, i, j] -> [jT, k, i, v] : v = j - $columns * jT})
pack(A, Corner, jT, written, reused)
pack(A, Corner, jT, transposed)
unroll(Corner, i)
vectorize(Corner, v)
"""
"""Block columns: what all columns before them give; the block on the diagonal; what it gives the rows."""


def scripts(tiles: TileSizes, sizes_of: dict[str, dict[str, int]]) -> dict[str, str]:
    """The script of each kernel, for tiles of about these sizes."""

    def products(kernel: str, *several: tuple[str, Product]) -> str:
        return "".join(
            first + one.script(tiles.for_rows(sizes_of[kernel][one.ni]).over(sizes_of[kernel][one.nk]))
            for first, one in several
        )

    flat = replace(tiles, depth=tiles.depth // 2)
    halves = replace(tiles, columns=2 * NARROW, rows=NARROW, depth=3 * 2 * NARROW)
    swapped = "distribute(Init$, Comp$)\ninterchange(Comp$, k, j)\n"
    columns = "P = pack(A, $name, $loop, transposed)\ninterchange(P, A_1_${more}, A_2_${more})"
    return {
        "gemm": products(
            "gemm",
            ("distribute(Scale, Mult)\n", Product("Mult", "C", "A", "B", "NI", "NJ", "NK", scaled=True)),
        ),
        "2mm": products(
            "2mm",
            (
                "distribute(Init, Mult)\ninterchange(Mult, k, j)\n",
                Product("Mult", "tmp", "A", "B", "NI", "NJ", "NK", scaled=True),
            ),
            (
                "distribute(Scale, Sum)\ninterchange(Sum, k, j)\n",
                Product("Sum", "D", "tmp", "C", "NI", "NL", "NJ"),
            ),
        ),
        "3mm": products(
            "3mm",
            (swapped.replace("$", "E"), Product("CompE", "E", "A", "B", "NI", "NJ", "NK")),
            (swapped.replace("$", "F"), Product("CompF", "F", "C", "D", "NJ", "NL", "NM")),
            (swapped.replace("$", "G"), Product("CompG", "G", "E", "F", "NI", "NL", "NJ")),
        ),
        "syrk": "distribute(Scale, Mult)\n"
        + triangle(flat.over(sizes_of["syrk"]["M"]), "Mult", "pack(A, Mult, iT, scaled)", columns),
        "syr2k": two_triangles(tiles.over(sizes_of["syr2k"]["M"]).even(sizes_of["syr2k"]["N"])),
        "symm": Template(SYMM).substitute(flat.over(sizes_of["symm"]["M"]).texts()),
        "trmm": Template(TRMM).substitute(flat.over(sizes_of["trmm"]["M"]).texts()),
        "lu": Template(LU).substitute(halves.texts())
        + "".join(Template(LU_TILES).substitute({**halves.texts(), "name": name}) for name in ("Low", "Up")),
        "cholesky": Template(CHOLESKY).substitute(halves.texts()),
    }
