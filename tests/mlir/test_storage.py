"""Where the cells of buffers and the lanes of vectors lie, which function a name means, what is no loop."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.prove.mlir.translation import STRIDES
from tests.mlir.test_prove import compared


def _two_stores(kind: str, first: str, second: str) -> str:
    stores = [f"  affine.store {one} : {kind}\n" for one in (first, second)]
    return f"func.func @f(%a: {kind}, %x: f64, %y: f64) {{\n{''.join(stores)}  return\n}}\n"


def exchanged(kind: str) -> tuple[str, str]:
    """A store to [0, 1] and one to [1, 0], in both orders."""
    x, y = "%x, %a[0, 1]", "%y, %a[1, 0]"
    return _two_stores(kind, x, y), _two_stores(kind, y, x)


@pytest.mark.parametrize(
    "layout",
    [
        "strided<[1, 1]>",
        "strided<[0, 1]>",
        "strided<[3, 3], offset: 2>",
        "affine_map<(d0, d1) -> (d0 + d1)>",
        "affine_map<(d0, d1) -> (0)>",
        "affine_map<(d0, d1) -> (d0, d0)>",
    ],
)
def test_subscripts_of_one_place(layout: str) -> None:
    with pytest.raises(GaveUp, match="a buffer of the type"):
        compared(*exchanged(f"memref<4x4xf64, {layout}>"))


@pytest.mark.parametrize(
    ("kind", "is_trusted"),
    [
        ("memref<4x4xf64>", False),
        ("memref<?x4xf64, strided<[4, 1]>>", False),
        ("memref<4x4xf64, strided<[1, 7]>>", False),
        ("memref<4x4xf64, affine_map<(d0, d1) -> (d1, d0)>>", False),
        ("memref<?x?xf64, strided<[1, 7]>>", True),
        ("memref<?x?xf64, strided<[?, ?], offset: ?>>", True),
    ],
)
def test_subscripts_of_other_places(kind: str, is_trusted: bool) -> None:
    assert (STRIDES in compared(*exchanged(kind)).assumptions) == is_trusted


LANES = """func.func @f(%a: memref<16xf64>, %b: memref<16xf64>, %p: f64) {{
  %c = arith.constant 0.0 : f64
  %z = arith.constant 0 : index
{}
  vector.transfer_write %w, %b[%z] {{in_bounds = [true]}} : vector<4xf64>, memref<16xf64>
  return
}}
"""
READ = "  {} = vector.transfer_read %a[%z], %c {{in_bounds = [true]}} : memref<16xf64>, vector<{}xf64>"
SPREAD = "  %v = affine.load %a[0] : memref<16xf64>\n  %w = vector.broadcast %v : f64 to vector<4xf64>"
STORE = "  affine.store %p, %a[0] : memref<16xf64>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            READ.format("%v", 1) + "\n  %w = vector.broadcast %v : vector<1xf64> to vector<4xf64>",
            READ.format("%w", 4),
        ),
        (f"{SPREAD}\n{STORE}", f"{STORE}\n{SPREAD}"),
    ],
    ids=["one lane for all", "a load that is spread before a store"],
)
def test_lanes(old: str, new: str) -> None:
    with pytest.raises((GaveUp, Illegal)):
        compared(LANES.format(old), LANES.format(new))
    assert compared(LANES.format(new), LANES.format(new)).obligations > 0


ONE = """func.func @f(%b: memref<9xf64>, %p: f64) {
  affine.store %p, %b[0] : memref<9xf64>
  return
}
"""
OTHER = ONE.replace("%b[0]", "%b[1]")
LOOP = """func.func @f(%b: memref<9xf64>, %p: f64) {
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>,
                   step = 1 : index, upperBoundMap = affine_map<() -> (9)>}> ({
  ^bb0(%i: index):
    affine.store %p, %b[%i] : memref<9xf64>
    affine.yield
  }) : () -> ()
  return
}
"""
VECTORS = ONE.replace("memref<9xf64>", "memref<9xvector<4xf64>>").replace("%p: f64", "%p: vector<4xf64>")
def nested(count: int) -> str:
    """ONE with its store in loops, and another after it."""
    heads = "".join(f"  affine.for %i{k} = 0 to 2 {{\n" for k in range(count))
    return ONE.replace("  return", f"{heads}{OTHER.splitlines()[1]}\n{'}' * count}\n  return")


JUMP = '"cf.br"()[^bb1] : () -> ()\n  ^bb1:\n    '


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (f"module {{\n{ONE}}}\nmodule {{\n{ONE}}}\n", f"module {{\n{OTHER}}}\nmodule {{\n{ONE}}}\n", GaveUp),
        (LOOP.replace("step = 1", "step = 0"), LOOP, GaveUp),
        (LOOP.replace("step = 1", "step = -1"), LOOP, GaveUp),
        (LOOP.replace("affine.yield", f"{JUMP}affine.yield"), LOOP, GaveUp),
        (ONE.replace("  return", f"  {JUMP}return"), ONE, GaveUp),
        (VECTORS, VECTORS, GaveUp),
        (nested(300), ONE, BadInput),
        (nested(30), ONE, GaveUp),
    ],
    ids=["two of a name", "no step", "a step back", "blocks of a loop", "blocks of a function",
         "buffers of vectors", "300 loops", "30 loops"],
)  # fmt: skip
def test_what_is_not_compared(old: str, new: str, error: type[Exception]) -> None:
    """Neither a yes nor an internal error."""
    with pytest.raises(error):
        compared(old, new)
