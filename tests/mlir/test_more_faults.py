"""Faults that scalar replacement, code motion, tiling, fusion and others could make: each is refuted.

The first text of a pair is right, the second what a pass must not make of it.
"""

from __future__ import annotations

import pytest

from loopwright.errors import Illegal
from tests.mlir.test_prove import compared

SUMS = """func.func @f(%a: memref<?xf64>, %s: memref<1xf64>, %n: index) {
  affine.for %i = 0 to %n {
    %v = affine.load %a[%i] : memref<?xf64>
    %t = affine.load %s[0] : memref<1xf64>
    %u = arith.addf %t, %v : f64
    affine.store %u, %s[0] : memref<1xf64>
  }
  return
}
"""
CHOSEN = """#small = affine_set<(d0) : (4 - d0 >= 0)>
func.func @f(%a: memref<9xf64>, %b: memref<9xf64>, %x: f64, %y: f64) {
  affine.for %i = 0 to 9 {
    affine.store %x, %a[%i] : memref<9xf64>
    affine.if #small(%i) {
      affine.store %y, %a[%i] : memref<9xf64>
    }
    %v = affine.load %a[%i] : memref<9xf64>
    affine.store %v, %b[%i] : memref<9xf64>
  }
  return
}
"""
READ_TWICE = """func.func @f(%a: memref<9xf64>, %b: memref<9xf64>) {
  affine.for %i = 0 to 8 {
    %v = affine.load %a[0] : memref<9xf64>
    affine.store %v, %a[%i] : memref<9xf64>
    %w = affine.load %b[%i] : memref<9xf64>
    affine.store %w, %a[7 - %i] : memref<9xf64>
    %u = affine.load %a[0] : memref<9xf64>
    affine.store %u, %b[%i] : memref<9xf64>
  }
  return
}
"""
INVARIANT = """func.func @f(%a: memref<?xf64>, %b: memref<?xf64>, %n: index) {
  affine.for %i = 0 to %n {
    %v = affine.load %a[3] : memref<?xf64>
    %w = arith.addf %v, %v : f64
    affine.store %w, %a[%i] : memref<?xf64>
  }
  return
}
"""
DIAGONAL = """func.func @f(%a: memref<?x?xf64>, %n: index) {
  affine.for %i = 1 to %n {
    affine.for %j = 0 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %v = affine.load %a[%i - 1, %j + 1] : memref<?x?xf64>
      affine.store %v, %a[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""
OUTER = "  affine.for %i = 1 to %n {\n"
INNER = "    affine.for %j = 0 to affine_map<()[s0] -> (s0 - 1)>()[%n] {\n"
TILED = """#same = affine_map<(d0) -> (d0)>
func.func @f(%a: memref<?x?xf64>, %n: index) {
  affine.for %ii = 1 to %n step 4 {
    affine.for %jj = 0 to affine_map<()[s0] -> (s0 - 1)>()[%n] step 4 {
      affine.for %i = #same(%ii) to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%ii)[%n] {
        affine.for %j = #same(%jj) to min affine_map<(d0)[s0] -> (d0 + 4, s0 - 1)>(%jj)[%n] {
          %v = affine.load %a[%i - 1, %j + 1] : memref<?x?xf64>
          affine.store %v, %a[%i, %j] : memref<?x?xf64>
        }
      }
    }
  }
  return
}
"""
TWO_LOOPS = """func.func @f(%a: memref<?xf64>, %b: memref<?xf64>, %n: index) {
  affine.for %i = 0 to %n {
    %v = affine.load %a[%i] : memref<?xf64>
    %w = arith.mulf %v, %v : f64
    affine.store %w, %b[%i] : memref<?xf64>
  }
  affine.for %i = 0 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
    %v = affine.load %b[%i + 1] : memref<?xf64>
    affine.store %v, %a[%i] : memref<?xf64>
  }
  return
}
"""
FUSED = """func.func @f(%a: memref<?xf64>, %b: memref<?xf64>, %n: index) {
  affine.for %i = 0 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
    %u = affine.load %a[%i + 1] : memref<?xf64>
    %w = arith.mulf %u, %u : f64
    affine.store %w, %b[%i + 1] : memref<?xf64>
    %v = affine.load %b[%i + 1] : memref<?xf64>
    affine.store %v, %a[%i] : memref<?xf64>
  }
  return
}
"""
PRIVATE = """func.func @f(%a: memref<9xf64>, %b: memref<9xf64>) {
  %t = memref.alloc() : memref<9xf64>
  affine.for %i = 0 to 9 {
    %v = affine.load %a[%i] : memref<9xf64>
    affine.store %v, %t[%i] : memref<9xf64>
  }
  affine.for %i = 0 to 9 {
    %v = affine.load %t[8 - %i] : memref<9xf64>
    affine.store %v, %b[%i] : memref<9xf64>
  }
  return
}
"""
ONE_CELL = """func.func @f(%a: memref<9xf64>, %b: memref<9xf64>) {
  %t = memref.alloc() : memref<1xf64>
  affine.for %i = 0 to 9 {
    %v = affine.load %a[%i] : memref<9xf64>
    affine.store %v, %t[0] : memref<1xf64>
    %w = affine.load %t[0] : memref<1xf64>
    affine.store %w, %b[%i] : memref<9xf64>
  }
  return
}
"""
RECTANGLE = """func.func @f(%a: memref<4x6xf64>, %b: memref<4x6xf64>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 6 {
      %v = affine.load %a[%i, %j] : memref<4x6xf64>
      affine.store %v, %b[3 - %i, %j] : memref<4x6xf64>
    }
  }
  return
}
"""
COALESCED = """func.func @f(%a: memref<4x6xf64>, %b: memref<4x6xf64>) {
  affine.for %k = 0 to 24 {
    %i = affine.apply affine_map<(d0) -> (d0 floordiv 6)>(%k)
    %j = affine.apply affine_map<(d0) -> (d0 mod 6)>(%k)
    %v = affine.load %a[%i, %j] : memref<4x6xf64>
    affine.store %v, %b[3 - %i, %j] : memref<4x6xf64>
  }
  return
}
"""
BY_TWO = """func.func @f(%a: memref<?xf64>, %x: f64, %n: index) {
  affine.for %i = 1 to %n step 2 {
    affine.store %x, %a[%i] : memref<?xf64>
  }
  return
}
"""
NORMALISED = """func.func @f(%a: memref<?xf64>, %x: f64, %n: index) {
  affine.for %i = 0 to affine_map<()[s0] -> (s0 floordiv 2)>()[%n] {
    affine.store %x, %a[%i * 2 + 1] : memref<?xf64>
  }
  return
}
"""
CARRIED = """func.func @f(%a: memref<?xf64>, %n: index) {
  affine.for %i = 1 to %n {
    %v = affine.load %a[%i - 1] : memref<?xf64>
    affine.store %v, %a[%i] : memref<?xf64>
  }
  return
}
"""
REPEATED = """func.func @f(%a: memref<6xi16>) {
  %x = arith.constant 3 : i16
  %y = arith.constant 7 : i16
  affine.for %i = 0 to 6 {
    affine.store %x, %a[%i] : memref<6xi16>
  }
  affine.for %t = 0 to 5 {
    affine.for %i = 0 to 6 {
      %v = affine.load %a[%i] : memref<6xi16>
      %w = arith.muli %v, %y : i16
      affine.store %w, %a[%i] : memref<6xi16>
    }
  }
  return
}
"""
SCALED = """func.func @f(%a: memref<?xf64>, %x: f64, %n: index) {
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  scf.for %i = %one to %n step %one {
    %k = arith.muli %i, %three : index
    memref.store %x, %a[%k] : memref<?xf64>
  }
  return
}
"""
FOLDED = """func.func @f(%a: memref<?xf64>, %x: f64, %n: index) {
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %first = arith.muli %one, %three : index
  %last = arith.muli %n, %three : index
  scf.for %i = %first to %last step %three {
    memref.store %x, %a[%i] : memref<?xf64>
  }
  return
}
"""
TRANSPOSED = """func.func @f(%in: memref<1x6x5xf32>, %out: memref<1x5x6xf32>, %scale: memref<1x6xf32>) {
  affine.for %b = 0 to 1 {
    affine.for %i = 0 to 5 {
      affine.for %j = 0 to 6 {
        %v = affine.load %in[%b, %j, %i] : memref<1x6x5xf32>
        affine.store %v, %out[%b, %i, %j] : memref<1x5x6xf32>
      }
    }
  }
  affine.for %b = 0 to 1 {
    affine.for %i = 0 to 5 {
      affine.for %j = 0 to 6 {
        %v = affine.load %out[%b, %i, %j] : memref<1x5x6xf32>
        %s = affine.load %scale[%b, %j] : memref<1x6xf32>
        %r = arith.mulf %v, %s : f32
        affine.store %r, %out[%b, %i, %j] : memref<1x5x6xf32>
      }
    }
  }
  return
}
"""
SCALED_AT_ONCE = """func.func @f(%in: memref<1x6x5xf32>, %out: memref<1x5x6xf32>, %scale: memref<1x6xf32>) {
  %z = arith.constant 0 : index
  affine.for %b = 0 to 1 {
    affine.for %i = 0 to 5 {
      affine.for %j = 0 to 6 {
        %v = affine.load %in[%z, %j, %i] : memref<1x6x5xf32>
        affine.store %v, %out[%z, %i, %j] : memref<1x5x6xf32>
        %w = affine.load %out[%b, %i, %j] : memref<1x5x6xf32>
        %s = affine.load %scale[%b, %j] : memref<1x6xf32>
        %r = arith.mulf %w, %s : f32
        affine.store %r, %out[%b, %i, %j] : memref<1x5x6xf32>
      }
    }
  }
  return
}
"""
SMALLER = """func.func @f(%a: memref<8xi32>, %b: memref<8xi8>, %x: i32) {
  affine.for %i = 0 to 8 {
    %s = affine.load %b[%i] : memref<8xi8>
    %v = arith.extsi %s : i8 to i32
    %c = arith.cmpi slt, %v, %x : i32
    %w = arith.select %c, %v, %x : i32
    affine.store %w, %a[%i] : memref<8xi32>
  }
  return
}
"""
EXTENDED = "    %v = arith.extsi %s : i8 to i32"
WRONG = {
    "fusion: what is filled once, filled again each time (16 bits wrap around)": (
        REPEATED,
        REPEATED.replace(
            "      %v = affine.load", "      affine.store %x, %a[%i] : memref<6xi16>\n      %v = affine.load"
        ),
    ),
    "scalar replacement: the sum of one iteration": (
        SUMS,
        SUMS.replace("    %t = affine.load %s[0] : memref<1xf64>\n", "").replace(
            "  affine.for", "  %t = affine.load %s[0] : memref<1xf64>\n  affine.for"
        ),
    ),
    "scalar replacement: a store forwarded over one under a condition": (
        CHOSEN,
        CHOSEN.replace("affine.store %v, %b", "affine.store %x, %b"),
    ),
    "scalar replacement: the condition's store forwarded everywhere": (
        CHOSEN,
        CHOSEN.replace("affine.store %v, %b", "affine.store %y, %b"),
    ),
    "scalar replacement: one load for two, a store between them": (
        READ_TWICE,
        READ_TWICE.replace("%u, %b", "%v, %b"),
    ),
    "code motion: a load of what the loop writes": (
        INVARIANT,
        INVARIANT.replace("    %v = affine.load %a[3] : memref<?xf64>\n", "").replace(
            "  affine.for", "  %v = affine.load %a[3] : memref<?xf64>\n  affine.for"
        ),
    ),
    "tiling: of a nest whose dependence goes back": (DIAGONAL, TILED),
    "interchange: of a nest whose dependence goes back": (
        DIAGONAL,
        DIAGONAL.replace(OUTER + INNER, INNER.replace("    ", "  ", 1) + "  " + OUTER),
    ),
    "fusion: a first iteration that is lost": (TWO_LOOPS, FUSED),
    "fusion: one cell for a buffer that is read in reverse": (PRIVATE, ONE_CELL),
    "coalescing: rows counted by their number": (RECTANGLE, COALESCED.replace("6)>(%k)", "4)>(%k)", 1)),
    "normalisation: one iteration too few": (
        BY_TWO,
        NORMALISED.replace("(s0 floordiv 2)", "((s0 - 1) floordiv 2)"),
    ),
    "56235: a factor folded into the range of a loop, but not into its first value": (
        SCALED,
        FOLDED.replace("%first to", "%one to"),
    ),
    "152077: fusion under another subscript": (
        TRANSPOSED,
        SCALED_AT_ONCE.replace("%in[%z, %j", "%in[%z, %i"),
    ),
    "folding: an extension without the sign": (SMALLER, SMALLER.replace("extsi", "extui")),
    "folding: of two extensions the second without the sign": (
        SMALLER,
        SMALLER.replace(
            EXTENDED, "    %u = arith.extsi %s : i8 to i16\n    %v = arith.extui %u : i16 to i32"
        ),
    ),
    "folding: a comparison without signs": (SMALLER, SMALLER.replace("slt", "ult")),
    "parallelisation: of a loop that carries a value": (
        CARRIED,
        CARRIED.replace("affine.for %i = 1 to %n", "affine.parallel (%i) = (1) to (symbol(%n))"),
    ),
}  # fmt: skip
RIGHT = {
    "two extensions": (
        SMALLER,
        SMALLER.replace(
            EXTENDED, "    %u = arith.extsi %s : i8 to i16\n    %v = arith.extsi %u : i16 to i32"
        ),
    ),
    "products of 16 bits, exchanged": (REPEATED, REPEATED.replace("%v, %y", "%y, %v")),
    "56235: a factor folded into the range of a loop": (SCALED, FOLDED),
    "152077: fusion of a copy and its scaling": (TRANSPOSED, SCALED_AT_ONCE),
    "coalescing": (RECTANGLE, COALESCED),
    "normalisation": (BY_TWO, NORMALISED),
    "fusion of a buffer read in order": (PRIVATE.replace("8 - %i", "%i"), ONE_CELL),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_of_a_pass(name: str) -> None:
    old, new = WRONG[name]
    assert compared(old, old).obligations > 0
    with pytest.raises(Illegal):
        compared(old, new)


@pytest.mark.parametrize("name", RIGHT)
def test_what_a_pass_does_rightly(name: str) -> None:
    assert compared(*RIGHT[name]).obligations > 0
