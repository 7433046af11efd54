"""`prove` on MLIR: passes that are right are proved, wrong ones are refuted with sizes, lines and texts."""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.progress import silent
from loopwright.prove.equivalence.answer import Agreement
from loopwright.prove.mlir.comparison import same_functions
from loopwright.read.mlir.parsing import parse_mlir
from loopwright.source import Source

HEAD = "func.func @f(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %x: f64, %n: index, %m: index)"

PRODUCT = (
    HEAD
    + """ {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%i, 0] : memref<?x?xf64>
      %1 = affine.load %B[%i, %j] : memref<?x?xf64>
      %2 = arith.mulf %1, %x : f64
      %3 = arith.addf %0, %2 : f64
      affine.store %3, %A[%i, 0] : memref<?x?xf64>
    }
  }
  return
}
"""
)


def compared(old: str, new: str) -> Agreement:
    before, after = parse_mlir(Source("old.mlir", old)), parse_mlir(Source("new.mlir", new))
    return same_functions(before, after, allow_reassociation=False, progress=silent)


TILED = (
    "#low = affine_map<(d0) -> (d0)>\n#high = affine_map<(d0)[s0] -> (d0 + 4, s0)>\n"
    + HEAD.replace("%A", "%arg0").replace("%n", "%arg3")
    + """ {
  affine.for %t = 0 to %arg3 step 4 {
    affine.for %i = #low(%t) to min #high(%t)[%arg3] {
      affine.for %j = 0 to %m {
        %0 = affine.load %arg0[%i, 0] : memref<?x?xf64>
        %1 = affine.load %B[%i, %j] : memref<?x?xf64>
        %2 = arith.mulf %1, %x : f64
        %3 = arith.addf %0, %2 : f64
        affine.store %3, %arg0[%i, 0] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
)

SCALAR = (
    HEAD
    + """ {
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i, 0] : memref<?x?xf64>
    %s = affine.for %j = 0 to %m iter_args(%a = %0) -> (f64) {
      %1 = affine.load %B[%i, %j] : memref<?x?xf64>
      %2 = arith.mulf %x, %1 : f64
      %3 = arith.addf %a, %2 : f64
      affine.yield %3 : f64
    }
    affine.store %s, %A[%i, 0] : memref<?x?xf64>
  }
  return
}
"""
)

PARALLEL = PRODUCT.replace("affine.for %i = 0 to %n", "affine.parallel (%i) = (0) to (symbol(%n))")

BUFFERED = (
    HEAD
    + """ {
  affine.for %i = 0 to %n {
    %b = memref.alloc() : memref<1xf64>
    %v = affine.load %A[%i, 0] : memref<?x?xf64>
    affine.store %v, %b[0] : memref<1xf64>
    affine.for %j = 0 to %m {
      %0 = affine.load %b[0] : memref<1xf64>
      %1 = affine.load %B[%i, %j] : memref<?x?xf64>
      %2 = arith.mulf %1, %x : f64
      %3 = arith.addf %0, %2 : f64
      affine.store %3, %b[0] : memref<1xf64>
    }
    %w = affine.load %b[0] : memref<1xf64>
    affine.store %w, %A[%i, 0] : memref<?x?xf64>
    memref.dealloc %b : memref<1xf64>
  }
  return
}
"""
)


@pytest.mark.parametrize("new", [PRODUCT, TILED, SCALAR, PARALLEL, BUFFERED])
def test_passes_that_are_right(new: str) -> None:
    assert compared(PRODUCT, new).obligations > 0
    assert compared(new, PRODUCT).obligations > 0


WRONG = {
    "a tile is one short": (TILED.replace("d0 + 4", "d0 + 3"), "n = 4", "which does not write it"),
    "a factor is gone": (SCALAR.replace("arith.mulf %x, %1", "arith.mulf %1, %1"), "m = ", "in line 8"),
    "the old value is written back": (
        BUFFERED.replace("affine.store %w", "affine.store %v"),
        "m = ",
        "A[0][0]",
    ),
    "a race": (
        PRODUCT.replace("affine.for %j = 0 to %m", "affine.parallel (%j) = (0) to (%m)"),
        "m = 2",
        "line 8 (affine.store %3, %A[%i, 0] : memref<?x?xf64>) writes it for i = 0, j = 1",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_passes_that_are_wrong(name: str) -> None:
    new, size, said = WRONG[name]
    with pytest.raises(Illegal) as refused:
        compared(PRODUCT, new)
    assert size in refused.value.witness and said in refused.value.witness


REDUCED = """func.func @f(%a: memref<?xf64>, %n: index) {
  %r = affine.parallel (%i) = (0) to (%n) reduce ("addf") -> (f64) {
    %x = affine.load %a[%i] : memref<?xf64>
    affine.yield %x : f64
  }
  affine.store %r, %a[0] : memref<?xf64>
  return
}
"""
FAST = PRODUCT.replace("addf %0, %2 :", "addf %0, %2 fastmath<fast> :")
WHOLE = PRODUCT.replace("f64", "i32").replace("mulf", "muli").replace("addf", "addi")
NO_WRAP = WHOLE.replace("addi %0, %2 :", "addi %0, %2 overflow<nsw> :")
NUMBERS = PRODUCT.replace("addf", "maxnumf")


@pytest.mark.parametrize(
    ("old", "new"),
    [(PRODUCT, FAST), (WHOLE, NO_WRAP), (NUMBERS, NUMBERS.replace("maxnumf", "maximumf"))],
    ids=["fastmath", "nsw", "maximum"],
)
def test_what_an_operation_says_beside_its_operands_counts(old: str, new: str) -> None:
    with pytest.raises((GaveUp, Illegal)):
        compared(old, new)
    assert compared(new, new.replace("%2", "%value")).obligations > 0


def test_what_is_not_modelled_is_named() -> None:
    called = PRODUCT.replace("  return", "  func.call @g() : () -> ()\n  return") + "func.func private @g()\n"
    with pytest.raises(GaveUp, match=r"not modelled: func\.call at line 11"):
        compared(called, PRODUCT)
    with pytest.raises(GaveUp, match=r"not modelled: affine\.parallel with a reduction at line 2"):
        compared(REDUCED, REDUCED)
    with pytest.raises(GaveUp, match=r"not modelled: tensor\.empty at line 2"):
        compared(PRODUCT, PRODUCT.replace("{\n", "{\n  %t = tensor.empty() : tensor<4xf64>\n", 1))


@pytest.mark.parametrize(("chosen", "is_same"), [("%x", True), ("%y", False)])
@pytest.mark.parametrize("flags", ["", " overflow<nsw>"])
def test_numbers_wrap_around(chosen: str, is_same: bool, flags: str) -> None:
    """2147483647 + 1 is below 0 in 32 bits, or nothing that is known where that is not allowed."""
    text = "func.func @f(%a: memref<8xi32>, %x: i32, %y: i32) {{\n{}\n  return\n}}\n"
    computed = f"""%m = arith.constant 2147483647 : i32
  %o = arith.constant 1 : i32
  %z = arith.constant 0 : i32
  %s = arith.addi %m, %o{flags} : i32
  %c = arith.cmpi slt, %s, %z : i32
  %v = arith.select %c, %x, %y : i32
  affine.store %v, %a[0] : memref<8xi32>"""
    new = f"affine.store {chosen}, %a[0] : memref<8xi32>"
    if is_same and not flags:
        assert compared(text.format(computed), text.format(new))
        return
    with pytest.raises((GaveUp, Illegal)):
        compared(text.format(computed), text.format(new))


OF_BITS = {
    "a number where the bit is set": ("%r = arith.select %c, %p, %z : i32", 1),
    "minus one": ("%r = arith.select %c, %m, %z : i32", -1),
    "without a sign": ("%r = arith.extui %c : i1 to i32", 1),
    "with a sign": ("%r = arith.extsi %c : i1 to i32", -1),
    "by way of 64 bits": ("%q = arith.extsi %c : i1 to i64\n  %r = arith.trunci %q : i64 to i32", -1),
    "by way of an index": (
        "%q = arith.index_cast %c : i1 to index\n  %r = arith.index_cast %q : index to i32",
        -1,
    ),
}


@pytest.mark.parametrize("name", OF_BITS)
def test_what_is_made_of_a_bit(name: str) -> None:
    """A bit that is set is -1 as a number with a sign."""

    def text(body: str) -> str:
        return f"""func.func @f(%a: memref<8xi32>, %o: memref<8xi32>) {{
  %p = arith.constant 1 : i32
  %m = arith.constant -1 : i32
  %z = arith.constant 0 : i32
  %x = affine.load %a[0] : memref<8xi32>
  %c = arith.cmpi slt, %x, %z : i32
  {body}
  affine.store %r, %o[0] : memref<8xi32>
  return
}}
"""

    body, value = OF_BITS[name]
    for other, found in OF_BITS.values():
        if found == value:
            assert compared(text(body), text(other)).obligations > 0
        else:
            with pytest.raises(Illegal):
                compared(text(body), text(other))


def test_bits_are_compared_as_numbers() -> None:
    """As numbers with a sign, a bit that is set is below one that is not."""
    text = """func.func @f(%a: memref<8xi32>, %b: memref<8xi1>) {{
  %z = arith.constant 0 : i32
  %x = affine.load %a[0] : memref<8xi32>
  %c = arith.cmpi slt, %x, %z : i32
  %d = arith.cmpi sge, %x, %z : i32
  %e = arith.cmpi {}, %c, %d : i1
  %p = arith.constant 1 : i32
  %r = arith.select %e, %p, %z : i32
  affine.store %r, %a[0] : memref<8xi32>
  return
}}
"""
    with pytest.raises(Illegal):
        compared(text.format("slt"), text.format("ult"))
    chosen = text.format("slt").replace("arith.select %e", "arith.select %c")
    with pytest.raises(GaveUp):
        compared(text.format("slt"), chosen)


def test_vectors_of_conditions() -> None:
    """`affine-super-vectorize` compares and selects vectors."""
    old = """func.func @f(%a: memref<8xf64>, %x: f64, %z: f64) {
  affine.for %i = 0 to 8 {
    %v = affine.load %a[%i] : memref<8xf64>
    %m = arith.cmpf ole, %v, %x : f64
    %s = arith.select %m, %x, %v : f64
    affine.store %s, %a[%i] : memref<8xf64>
  }
  return
}
"""
    new = """func.func @f(%a: memref<8xf64>, %x: f64, %z: f64) {
  %c = vector.broadcast %x : f64 to vector<4xf64>
  affine.for %i = 0 to 8 step 4 {
    %v = vector.transfer_read %a[%i], %z : memref<8xf64>, vector<4xf64>
    %m = arith.cmpf ole, %v, %c : vector<4xf64>
    %s = arith.select %m, %c, %v : vector<4xi1>, vector<4xf64>
    vector.transfer_write %s, %a[%i] : vector<4xf64>, memref<8xf64>
  }
  return
}
"""
    assert compared(old, new).obligations
    with pytest.raises(Illegal, match="does not end up with the same value"):
        compared(old, new.replace("%m, %c, %v", "%m, %v, %c"))


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("%3 = arith.addf %0, %2", "%3 = arith.addf %3, %2"),
        ("to %n {", "to %j {"),
        ("%1, %x : f64", "%3, %x : f64"),
        ("affine.for %j = 0 to %m", "affine.for %j = 0 to %i2"),
    ],
)
def test_values_that_are_used_before_they_are_defined(was: str, now: str) -> None:
    with pytest.raises(BadInput):
        compared(PRODUCT, PRODUCT.replace(was, now))


def _in_steps(first: int) -> str:
    """Iterations of j in steps of 2 that start before their subscripts do."""
    return f"""
func.func @f(%a: memref<24x24xf32>, %b: memref<24xf32>, %n: index) {{
  affine.for %i = 1 to affine_map<()[s0] -> (s0 + 1)>()[%n] {{
    affine.for %j = {first} to affine_map<()[s0] -> (s0 + {first})>()[%n] step 2 {{
      %x = affine.load %a[%i, %j - {first}] : memref<24x24xf32>
      %y = affine.load %b[%j - {first}] : memref<24xf32>
      %z = arith.addf %x, %y : f32
      %u = affine.load %b[%i] : memref<24xf32>
      %v = arith.addf %z, %u : f32
      affine.store %v, %b[%i] : memref<24xf32>
    }}
  }}
  return
}}
"""


def test_a_remainder_that_isl_wrote_twice() -> None:
    assert compared(_in_steps(0), _in_steps(-1))


@pytest.mark.parametrize("bounds", ["max #none() to %n", "0 to min #none()"])
def test_bounds_without_a_result_are_not_modelled(bounds: str) -> None:
    """data-copy-generate of mlir-opt 19 writes such bounds of loops that copy whole buffers."""
    new = "#none = affine_map<() -> ()>\n" + PRODUCT.replace("%i = 0 to %n", f"%i = {bounds}")
    with pytest.raises(GaveUp, match="of no expressions"):
        compared(PRODUCT, new)
