"""Programs of our own that mlir-opt 22 miscompiles as public reports of llvm-project say, with what it makes.

Each is refuted: in place of a memory that was read before, it reads what is there afterwards, or the reverse.
"""

from __future__ import annotations

import pytest

from loopwright.errors import Illegal
from tests.mlir.test_prove import compared

IN_PLACE = """func.func @f(%p: memref<6xf64>, %d: memref<3xf64>, %c: f64) {
  affine.for %i = 0 to 6 {
    %0 = affine.load %p[%i] : memref<6xf64>
    %1 = arith.addf %0, %c : f64
    affine.store %1, %p[%i] : memref<6xf64>
  }
  affine.for %i = 0 to 3 {
    %0 = affine.load %p[%i] : memref<6xf64>
    affine.store %0, %d[%i] : memref<3xf64>
  }
  return
}
"""
TWICE = """func.func @f(%p: memref<6xf64>, %d: memref<3xf64>, %c: f64) {
  %one = memref.alloc() : memref<1xf64>
  affine.for %i = 0 to 6 {
    %0 = affine.load %p[%i] : memref<6xf64>
    %1 = arith.addf %0, %c : f64
    affine.store %1, %p[%i] : memref<6xf64>
  }
  affine.for %i = 0 to 3 {
    %0 = affine.load %p[%i] : memref<6xf64>
    %1 = arith.addf %0, %c : f64
    affine.store %1, %one[0] : memref<1xf64>
    %2 = affine.load %one[0] : memref<1xf64>
    affine.store %2, %d[%i] : memref<3xf64>
  }
  return
}
"""
_GLOBAL = 'memref.global "private" @g : memref<4xf64> = dense<[1.0, 2.0, 3.0, 4.0]>\n'
_SCALE = """    %v = affine.load %a[%i] : memref<4xf64>
    %w = arith.mulf %v, %x : f64
    affine.store %w, %a[%i] : memref<4xf64>
"""
_SUBTRACT = """  affine.for %i = 0 to 4 {
    %v = affine.load %b[%i] : memref<4xf64>
    %o = affine.load %s[] : memref<f64>
    %w = arith.subf %o, %v : f64
    affine.store %w, %s[] : memref<f64>
  }
"""
_ADD = """    %y = affine.load %a[%i] : memref<4xf64>
    %z = arith.addf %y, %x : f64
    affine.store %z, %a[%i] : memref<4xf64>
"""
_HEAD = f"""{_GLOBAL}func.func @f(%s: memref<f64>, %x: f64) {{
  %a = memref.get_global @g : memref<4xf64>
  %b = memref.get_global @g : memref<4xf64>
"""
_LOOP = "  affine.for %i = 0 to 4 {\n"
_END = "  }\n  return\n}\n"
HANDLES = f"{_HEAD}{_LOOP}{_SCALE}  }}\n{_SUBTRACT}{_LOOP}{_ADD}{_END}"
JOINED = f"{_HEAD}{_SUBTRACT}{_LOOP}{_SCALE}{_ADD}{_END}"
RIGHTLY_JOINED = JOINED.replace("%v = affine.load %b[%i]", "%u = affine.load %b[%i]").replace(
    "    %o = affine", "    %v = arith.mulf %u, %x : f64\n    %o = affine"
)
STRIDED = """func.func @f(%a: memref<64xf32>, %x: f32) {
  affine.for %i = 0 to 16 {
    affine.store %x, %a[%i * 4] : memref<64xf32>
  }
  return
}
"""
IN_A_ROW = """func.func @f(%a: memref<64xf32>, %x: f32) {
  %v = vector.broadcast %x : f32 to vector<4xf32>
  affine.for %i = 0 to 16 step 4 {
    %k = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    vector.transfer_write %v, %a[%k] : vector<4xf32>, memref<64xf32>
  }
  return
}
"""
PAIRS = {
    "210490: fusion computes again what was computed in place": (IN_PLACE, TWICE),
    "216535: fusion over another name of the same global": (HANDLES, JOINED),
    "196973: lanes in a row for a stride of 4": (STRIDED, IN_A_ROW),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_miscompilation_is_refuted(name: str) -> None:
    with pytest.raises(Illegal):
        compared(*PAIRS[name])


def test_a_global_under_two_names_is_one_buffer() -> None:
    assert compared(HANDLES, RIGHTLY_JOINED).obligations > 0
