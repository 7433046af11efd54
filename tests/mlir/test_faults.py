"""Faults of the kinds that public reports of MLIR's affine passes describe, reduced to pairs of our own.

The numbers are those of llvm-project's issues; each pair is refuted, or what is not modelled is named.
"""

from __future__ import annotations

import pytest

from loopwright.errors import BadInput, GaveUp, Illegal
from tests.mlir.test_prove import compared

JAMMED = """func.func @f(%a: memref<9x9xi32>) {
  affine.for %i = 1 to 9 {
    affine.for %j = 0 to 8 {
      %v = affine.load %a[%i - 1, %j + 1] : memref<9x9xi32>
      affine.store %v, %a[%i, %j] : memref<9x9xi32>
    }
  }
  return
}
"""
HOISTED = """func.func @f(%a: memref<8xf32>, %x: f32, %n: index) {
  affine.for %i = 0 to %n {
    affine.store %x, %a[0] : memref<8xf32>
  }
  return
}
"""
PRODUCED = """func.func @f(%in: memref<8xf64>, %comm: memref<8xf64>, %out: memref<8xf64>) {
  affine.for %i = 0 to 8 {
    %a = affine.load %in[%i] : memref<8xf64>
    affine.store %a, %comm[7 - %i] : memref<8xf64>
  }
  affine.for %i = 0 to 8 {
    %c = affine.load %comm[%i] : memref<8xf64>
    affine.store %c, %out[%i] : memref<8xf64>
  }
  return
}
"""
DOUBLED = """func.func @f(%m: memref<8xi32>) {
  affine.for %j = 0 to 6 {
    %v = affine.load %m[%j] : memref<8xi32>
    %w = arith.addi %v, %v : i32
    affine.store %w, %m[%j] : memref<8xi32>
  }
  return
}
"""
SHIFTED = """func.func @f(%m: memref<8xi32>, %o: memref<9xi32>) {
  affine.for %j = 0 to 8 {
    %v = affine.load %o[%j] : memref<9xi32>
    affine.store %v, %o[%j + 1] : memref<9xi32>
  }
  return
}
"""
STEPPED = """func.func @f(%o: memref<32xi32>, %x: i32) {
  affine.for %i = 0 to 12 step 3 {
    affine.store %x, %o[%i] : memref<32xi32>
  }
  return
}
"""
COPIED = """func.func @f(%m: memref<4xi32>, %s: i32) {
  %z = arith.constant 0 : index
  affine.for %i = 0 to 4 {
    affine.store %s, %m[0] : memref<4xi32>
    memref.store %s, %m[%z] : memref<4xi32>
  }
  return
}
"""
SUMMED = """func.func @f(%a: memref<8xf64>) -> f64 {
  %z = arith.constant 0.0 : f64
  %s, %p = affine.for %i = 0 to 8 iter_args(%x = %z, %y = %z) -> (f64, f64) {
    %v = affine.load %a[%i] : memref<8xf64>
    %t = arith.addf %x, %v : f64
    affine.yield %t, %x : f64, f64
  }
  %r = arith.addf %s, %p : f64
  return %r : f64
}
"""
UNROLLED = """func.func @f(%a: memref<?xf64>, %x: f64, %n: index) {
  affine.for %i = 2 to %n {
    affine.store %x, %a[%i] : memref<?xf64>
  }
  return
}
"""

NESTED = """func.func @f(%x: i64) -> i64 {
  %z = arith.constant 0 : index
  %n = arith.constant 3 : index
  %o = arith.constant 1 : index
  %r = scf.for %i = %z to %n step %o iter_args(%a = %x) -> (i64) {
    %s = scf.for %j = %z to %n step %o iter_args(%b = %a) -> (i64) {
      %t = arith.addi %b, %a : i64
      scf.yield %t : i64
    }
    scf.yield %s : i64
  }
  return %r : i64
}
"""
FLAT = """func.func @f(%m: memref<3x3xf64>, %v: memref<9xf64>) {
  affine.for %i = 0 to 9 {
    %k:2 = affine.delinearize_index %i into (3, 3) : index, index
    %x = affine.load %v[%i] : memref<9xf64>
    memref.store %x, %m[%k#0, %k#1] : memref<3x3xf64>
  }
  return
}
"""
ROWS = """func.func @f(%m: memref<3x3xf64>, %v: memref<9xf64>) {
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 3 {
      %x = affine.load %v[%i * 3 + %j] : memref<9xf64>
      affine.store %x, %m[%i, %j] : memref<3x3xf64>
    }
  }
  return
}
"""
PAIRS = {
    "196554: unroll and jam of a nest whose dependence it reverses": (
        JAMMED,
        """func.func @f(%a: memref<9x9xi32>) {
  affine.for %i = 1 to 9 step 2 {
    affine.for %j = 0 to 8 {
      %v = affine.load %a[%i - 1, %j + 1] : memref<9x9xi32>
      affine.store %v, %a[%i, %j] : memref<9x9xi32>
      %w = affine.load %a[%i, %j + 1] : memref<9x9xi32>
      affine.store %w, %a[%i + 1, %j] : memref<9x9xi32>
    }
  }
  return
}
""",
    ),
    "189165: a store moved out of a loop that need not run": (
        HOISTED,
        HOISTED.replace("  affine.for", "  affine.store %x, %a[0] : memref<8xf32>\n  affine.for"),
    ),
    "fusion before all of a producer": (PRODUCED, PRODUCED.replace("  }\n  affine.for %i = 0 to 8 {\n", "")),
    "218120: lanes beyond the last iteration": (
        DOUBLED,
        """func.func @f(%m: memref<8xi32>) {
  %p = arith.constant 0 : i32
  affine.for %j = 0 to 6 step 4 {
    %v = vector.transfer_read %m[%j], %p : memref<8xi32>, vector<4xi32>
    %w = arith.addi %v, %v : vector<4xi32>
    vector.transfer_write %w, %m[%j] : vector<4xi32>, memref<8xi32>
  }
  return
}
""",
    ),
    "a recurrence in the lanes of a vector": (
        SHIFTED,
        """func.func @f(%m: memref<8xi32>, %o: memref<9xi32>) {
  affine.for %j = 0 to 8 step 4 {
    %v = affine.vector_load %o[%j] : memref<9xi32>, vector<4xi32>
    affine.vector_store %v, %o[%j + 1] : memref<9xi32>, vector<4xi32>
  }
  return
}
""",
    ),
    "225247: a step of 3 as lanes one after the other": (
        STEPPED,
        """func.func @f(%o: memref<32xi32>, %x: i32) {
  %v = vector.broadcast %x : i32 to vector<4xi32>
  affine.for %i = 0 to 12 step 12 {
    vector.transfer_write %v, %o[%i] {in_bounds = [true]} : vector<4xi32>, memref<32xi32>
  }
  return
}
""",
    ),
    "217538: a buffer copied back that nothing was copied into": (
        COPIED,
        """func.func @f(%m: memref<4xi32>, %s: i32) {
  %z = arith.constant 0 : index
  %b = memref.alloc() : memref<1xi32>
  affine.for %i = 0 to 4 {
    affine.store %s, %m[0] : memref<4xi32>
    memref.store %s, %m[%z] : memref<4xi32>
  }
  %v = affine.load %b[0] : memref<1xi32>
  affine.store %v, %m[0] : memref<4xi32>
  memref.dealloc %b : memref<1xi32>
  return
}
""",
    ),
    "216289: two values that loops carry, made one": (
        NESTED,
        """func.func @f(%x: i64) -> i64 {
  %z = arith.constant 0 : index
  %n = arith.constant 9 : index
  %o = arith.constant 1 : index
  %r = scf.for %i = %z to %n step %o iter_args(%a = %x) -> (i64) {
    %k:2 = affine.delinearize_index %i into (3, 3) : index, index
    %t = arith.addi %a, %a : i64
    scf.yield %t : i64
  }
  return %r : i64
}
""",
    ),
    "digits of a number, exchanged": (FLAT, FLAT.replace("%m[%k#0, %k#1]", "%m[%k#1, %k#0]")),
    "values that a loop carries, exchanged": (
        SUMMED,
        SUMMED.replace("affine.yield %t, %x", "affine.yield %t, %t"),
    ),
    "a remainder loop for a size below its first iteration": (
        UNROLLED,
        """#main = affine_map<()[s0] -> (((s0 - 2) floordiv 2) * 2 + 2)>
func.func @f(%a: memref<?xf64>, %x: f64, %n: index) {
  affine.for %i = 2 to #main()[%n] step 2 {
    affine.store %x, %a[%i] : memref<?xf64>
    affine.store %x, %a[%i + 1] : memref<?xf64>
  }
  affine.for %i = #main()[%n] to %n {
    affine.store %x, %a[%i] : memref<?xf64>
  }
  return
}
""",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_fault_is_refuted(name: str) -> None:
    old, new = PAIRS[name]
    assert compared(old, old).obligations > 0
    with pytest.raises(Illegal):
        compared(old, new)


def test_a_number_taken_apart_into_digits() -> None:
    assert compared(ROWS, FLAT).obligations > 0


LAID_OUT = """memref.global "private" constant @w : memref<2xf64> = dense<[1.0, -2.0]>
func.func @f(%a: memref<4xf64>, %b: memref<4xf64>, %c: memref<4xf64>) {
  %z = arith.constant 0 : index
  %w = memref.get_global @w : memref<2xf64>
  %t = memref.alloc() : memref<4xf64>
  %x = memref.load %a[%z] : memref<4xf64>
  memref.copy %b, %a : memref<4xf64> to memref<4xf64>
  memref.copy %a, %t : memref<4xf64> to memref<4xf64>
  %y = affine.load %t[symbol(%z) + 1] : memref<4xf64>
  memref.dealloc %t : memref<4xf64>
  vector.print %x : f64
  vector.print %y : f64 punctuation <comma>
  %v = affine.load %w[1] : memref<2xf64>
  memref.store %v, %c[%z] : memref<4xf64>
  return
}
"""
"""A load before a copy, a buffer that is freed, a global, what is printed, a symbol that is a number."""
_LOAD = "  %x = memref.load %a[%z] : memref<4xf64>\n"
_COPY = "  memref.copy %b, %a : memref<4xf64> to memref<4xf64>\n"
_FREE = "  memref.dealloc %t : memref<4xf64>\n"
_COPY_OUT = "  memref.copy %a, %t : memref<4xf64> to memref<4xf64>\n"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ((_LOAD + _COPY, _COPY + _LOAD), Illegal),
        ((_COPY_OUT, _COPY_OUT + _COPY_OUT.replace("%a, %t", "%t, %b")), None),
        ((_COPY_OUT, _COPY_OUT.replace("%a", "%c")), Illegal),
        (("print %x", "print %v"), BadInput),
        (("print %x", "print %y"), Illegal),
        (("<comma>", "<no_punctuation>"), Illegal),
        (("  vector.print %x : f64\n", ""), Illegal),
        ((_FREE, ""), None),
        ((_COPY_OUT, _FREE + _COPY_OUT), GaveUp),
        (("-2.0", "2.0"), GaveUp),
        (("symbol(%z) + 1", "3 - symbol(%z) - 2"), None),
        (("symbol(%z) + 1", "symbol(%z) * 2"), Illegal),
    ],
)
def test_buffers_globals_and_what_is_printed(change: tuple[str, str], error: type[Exception] | None) -> None:
    new = LAID_OUT.replace(*change, 1)
    assert new != LAID_OUT
    if error is None:
        assert compared(LAID_OUT, new).obligations > 0
        return
    with pytest.raises(error):
        compared(LAID_OUT, new)


def test_a_product_of_sizes_that_are_numbers() -> None:
    """The text of affine-loop-coalescing before anything is folded."""
    one = "  %k = arith.constant 1 : index\n  affine.for"
    same = """
    %j = affine.apply affine_map<(d0)[s0] -> (d0 * s0 + d0 floordiv s0 - d0 mod s0)>(%i)[%k]
    %d = affine.apply affine_map<(d0, d1) -> (d0 * 2 - d1)>(%i, %j)
    affine.store"""
    old = HOISTED.replace("  affine.for", one)
    new = old.replace("\n    affine.store", same).replace("%a[0]", "%a[%d]")
    assert compared(old, new).obligations > 0


def test_a_product_of_sizes_is_no_answer() -> None:
    """210585: the subscript that dependence analysis gave up on, and the tiler took for independent."""
    old = ROWS.replace("%v: memref<9xf64>", "%v: memref<9xf64>, %p: index, %q: index")
    product = "  %z = affine.apply affine_map<()[s0, s1] -> (s0 * s1)>()[%p, %q]\n"
    with pytest.raises(GaveUp, match="not modelled: a product or quotient of sizes"):
        compared(old, old.replace("  affine.for", f"{product}  affine.for", 1))


DECLARED = "func.func private @g(memref<8xf64>)\nfunc.func private @h(memref<?xf64>)\n"
NOT_MODELLED = {
    "211591: a call that sees the buffer": ("  func.call @g(%comm) : (memref<8xf64>) -> ()\n", r"func\.call"),
    "211599: a call that sees a view of the buffer": (
        "  %w = memref.cast %comm : memref<8xf64> to memref<?xf64>"
        " func.call @h(%w) : (memref<?xf64>) -> ()\n",
        r"func\.call",
    ),
    "218696: a view of part of a buffer": (
        "  %w = memref.subview %comm[0] [4] [1] : memref<8xf64> to memref<4xf64, strided<[1]>>\n",
        r"memref\.subview",
    ),
}


@pytest.mark.parametrize("name", NOT_MODELLED)
def test_what_is_not_modelled_is_no_answer(name: str) -> None:
    line, said = NOT_MODELLED[name]
    new = PRODUCED.replace("  affine.for", f"{line}  affine.for", 1) + DECLARED
    with pytest.raises(GaveUp, match=rf"not modelled: {said} at line 2"):
        compared(PRODUCED, new)


DIVIDED = """func.func @f(%a: memref<10xi32>, %x: i32, %y: i32, %c: memref<5xi32>, %n: index) {
  affine.for %i = 0 to min affine_map<(d0) -> (10, d0)>(%n) {
    %q = arith.divsi %x, %y : i32
    affine.store %q, %a[%i] : memref<10xi32>
  }
  return
}
"""
_DIVISION = "    %q = arith.divsi %x, %y : i32\n"
_FIRST = "  affine.for"
UNDEFINED = {
    "a division out of a loop that may be empty": DIVIDED.replace(_DIVISION, "").replace(
        _FIRST, f"{_DIVISION}{_FIRST}"
    ),
    "a division that is not used": DIVIDED.replace("  return", "  %z = arith.remsi %x, %y : i32\n  return"),
    "a load beyond the size": DIVIDED.replace(
        _DIVISION, f"{_DIVISION}    %z = affine.load %c[%i] : memref<5xi32>\n"
    ),
    "a store of what is there beyond the size": DIVIDED.replace(
        "  return",
        "  %z = affine.load %c[7] : memref<5xi32>\n  affine.store %z, %c[7] : memref<5xi32>\n  return",
    ),
    "storage that is too small": DIVIDED.replace(
        _DIVISION,
        "    %m = memref.alloc() : memref<1xi32>\n    affine.store %x, %m[%i] : memref<1xi32>\n"
        "    %z = affine.load %m[%i] : memref<1xi32>\n    %q = arith.divsi %z, %y : i32\n",
    ),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_not_defined_is_done_only_where_the_first_does_it(name: str) -> None:
    with pytest.raises((GaveUp, Illegal)):
        compared(DIVIDED, UNDEFINED[name])


def test_a_division_may_be_done_less_often() -> None:
    hoisted = UNDEFINED["a division out of a loop that may be empty"]
    assert compared(hoisted, DIVIDED).obligations
