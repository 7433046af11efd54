"""Unrolled loops with a loop for what is left over: one loop again only where they are; padded reads."""

from __future__ import annotations

import pytest

from loopwright.errors import GaveUp, Illegal
from loopwright.loops.nodes import For
from loopwright.loops.traverse import subprograms
from loopwright.prove.mlir.cells import MlirNames
from loopwright.prove.mlir.comparison import rerolled
from loopwright.prove.mlir.translation import translated
from loopwright.read.mlir.parsing import parse_mlir
from loopwright.source import Source
from tests.mlir.test_prove import compared

HEAD = "func.func @f(%s: memref<f64>, %A: memref<?x?xf64>, %n: index, %m: index) {\n"
ADDED = """
        %{k} = affine.load %s[] : memref<f64>
        %x{k} = affine.load %A[%i, %j + {k}] : memref<?x?xf64>
        %y{k} = arith.addf %{k}, %x{k} : f64
        affine.store %y{k}, %s[] : memref<f64>"""
PLAIN = f"""{HEAD}
  affine.for %i = 0 to %n {{
    affine.for %j = 0 to %m {{{ADDED.format(k=0)}
    }}
  }}
  return
}}
"""
MIDDLE = "affine_map<()[s0] -> ((s0 floordiv 3) * 3)>()[%m]"
UNROLLED = f"""{HEAD}
  affine.for %i = 0 to %n {{
    affine.for %j = 0 to {MIDDLE} step 3 {{{"".join(ADDED.format(k=k) for k in range(3))}
    }}
    affine.for %j = {MIDDLE} to %m {{{ADDED.format(k=0)}
    }}
  }}
  return
}}
"""


def inner_loops(text: str) -> int:
    """How many loops are left inside the first."""
    file = parse_mlir(Source("f.mlir", text))
    (one,) = file.functions
    function = translated(file, one, MlirNames.of(one, ""))
    loops = rerolled(function, function.context).loops
    return sum(isinstance(node, For) for node in subprograms(loops)) - 1


def test_a_sum_in_an_unrolled_loop_is_proved() -> None:
    assert inner_loops(UNROLLED) == 1
    assert compared(PLAIN, UNROLLED).obligations


def test_bounds_of_the_loops_around_count() -> None:
    """`j` from `i` on: what is left over starts before `i` where there is nothing to do, unless i <= m."""
    begun = "affine_map<(d0)[s0] -> (d0 + ((s0 - d0) floordiv 3) * 3)>(%i)[%m]"
    text = UNROLLED.replace("%j = 0", "%j = affine_map<(d0) -> (d0)>(%i)").replace(MIDDLE, begun)
    assert inner_loops(text) == 2
    assert inner_loops(text.replace("%i = 0 to %n", "%i = 0 to %m")) == 1


DIFFERENT = {
    "a middle one later": UNROLLED.replace(f"%j = {MIDDLE}", f"%j = {MIDDLE.replace('* 3)', '* 3 + 1)')}"),
    "a first loop beyond the middle": UNROLLED.replace(f"to {MIDDLE}", "to %m"),
    "copies in another order": UNROLLED.replace("%j + 1]", "%j + 5]").replace("%j + 2]", "%j + 1]"),
    "one copy twice": UNROLLED.replace("%j + 2]", "%j + 1]"),
    "another operation in a copy": UNROLLED.replace("addf %2", "subf %2"),
    "another operation in what is left over": "subf %0".join(UNROLLED.rsplit("addf %0", 1)),
    "a copy missing": UNROLLED.replace(ADDED.format(k=2), ""),
    "iterations two by two": UNROLLED.replace("to %m {", "to %m step 2 {"),
    "a condition on other rows": UNROLLED.replace("%A[%i, %j + 1]", "%A[%i + 1, %j + 1]"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_not_an_unrolled_loop_stays(name: str) -> None:
    assert DIFFERENT[name] != UNROLLED
    assert inner_loops(DIFFERENT[name]) == 2
    with pytest.raises(Illegal):
        compared(PLAIN, DIFFERENT[name])


def test_an_unrolled_loop_that_ends_later_is_refuted() -> None:
    text = UNROLLED.replace("to %m", "to affine_map<()[s0] -> (s0 + 1)>()[%m]")
    assert inner_loops(text) == 1
    with pytest.raises(Illegal):
        compared(PLAIN, text)


SHIFTED = """func.func @f(%A: memref<10xf64>, %B: memref<10xf64>) {
  affine.for %i = 0 to 10 {
    %0 = affine.load %A[%i] : memref<10xf64>
    %1 = arith.addf %0, %0 : f64
    affine.store %1, %B[%i] : memref<10xf64>
  }
  return
}
"""
LANES = """func.func @f(%A: memref<10xf64>, %B: memref<10xf64>) {
  affine.for %i = 0 to 10 step 4 {
    %p = ub.poison : f64
    %0 = vector.transfer_read %A[%i], %p : memref<10xf64>, vector<4xf64>
    %1 = arith.addf %0, %0 : vector<4xf64>
    vector.transfer_write %1, %B[%i] : vector<4xf64>, memref<10xf64>
  }
  return
}
"""


def test_lanes_outside_a_buffer_are_not_read() -> None:
    assert compared(SHIFTED, LANES).obligations


LEAVING = {
    "all lanes said to be inside": LANES.replace("%p :", "%p {in_bounds = [true]} :"),
    "a load that is chosen after it": SHIFTED.replace(
        "%0 = affine.load",
        "%c = affine.load %A[%i + 1] : memref<10xf64>\n    %n = arith.constant 9 : index\n"
        "    %t = arith.cmpi slt, %i, %n : index\n    %o = affine.load %A[%i] : memref<10xf64>\n"
        "    %d = arith.select %t, %c, %o : f64\n    affine.store %d, %B[%i] : memref<10xf64>\n"
        "    %0 = affine.load",
    ),
}


@pytest.mark.parametrize("name", LEAVING)
def test_what_leaves_a_buffer_is_not_proved(name: str) -> None:
    with pytest.raises((GaveUp, Illegal)):
        compared(SHIFTED, LEAVING[name])


def _guarded(name: str, at: str) -> str:
    """An operation of integers that only a choice uses, inside of the test of another choice."""
    return f"""
    %x{at} = affine.load %a[%i + {at}] : memref<?xi32>
    %y{at} = affine.load %b[%i + {at}] : memref<?xi32>
    %c{at} = arith.cmpi slt, %x{at}, %y{at} : i32
    %s{at} = arith.{name} %x{at}, %y{at} : i32
    %v{at} = arith.select %c{at}, %s{at}, %x{at} : i32
    %d{at} = arith.cmpi slt, %v{at}, %y{at} : i32
    %t{at} = arith.select %d{at}, %y{at}, %v{at} : i32
    affine.store %t{at}, %a[%i + {at}] : memref<?xi32>"""


@pytest.mark.parametrize("name", ["addi", "subi", "muli"])
def test_integers_that_wrap_around_may_be_computed_anywhere(name: str) -> None:
    head = "func.func @f(%a: memref<?xi32>, %b: memref<?xi32>, %n: index) {"
    middle = "affine_map<()[s0] -> ((s0 floordiv 2) * 2)>()[%n]"
    one, two = _guarded(name, "0"), _guarded(name, "1")
    plain = f"{head}\n  affine.for %i = 0 to %n {{{one}\n  }}\n  return\n}}\n"
    unrolled = f"""{head}
  affine.for %i = 0 to {middle} step 2 {{{one}{two}
  }}
  affine.for %i = {middle} to %n {{{one}
  }}
  return
}}
"""
    assert compared(plain, unrolled).obligations
    with pytest.raises(Illegal):
        compared(plain, unrolled.replace("%v1, %y1", "%y1, %v1"))
