"""The fourteen scripts of [Namjoshi2016, appendix B]: executed, and proved legal where that holds."""

from __future__ import annotations

import pytest

from loopwright.model.program import Program
from loopwright.prove.legality.plans import prove_plan
from loopwright.transform import transform
from tests.c.support import region
from tests.transform.appendix_b import KERNELS, Kernel
from tests.transform.support import check

BY_NAME = {kernel.name: kernel for kernel in KERNELS}


def program(kernel: Kernel) -> Program:
    return region(kernel.body, pure=("sqrt",))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_scripts_of_namjoshi2016(kernel: Kernel) -> None:
    plan = transform(program(kernel), kernel.script, "s.lw")
    verdict = prove_plan(plan)
    assert not verdict.defects
    assert (not verdict.violations) == kernel.legal
    check(plan)


def test_there_are_fourteen() -> None:
    assert len(KERNELS) == 14


def test_lu_as_printed_is_wrong_where_iterators_keep_their_values() -> None:
    """Its first line moves j back by what counting from zero took away."""
    kernel = BY_NAME["lu"]
    own_values = kernel.script.replace("from_zero()\n", "")
    assert prove_plan(transform(program(kernel), own_values, "s.lw")).violations
    unmoved = own_values.replace("affine(Right, {[i,j,k]->[i,j+i,k]})\n", "")
    assert not prove_plan(transform(program(kernel), unmoved, "s.lw")).violations


def test_seidel_in_one_line() -> None:
    plan = transform(program(BY_NAME["seidel-2d"]), "tile(Loop, 4, 4, 4, skew)", "s.lw")
    assert not prove_plan(plan).violations
    check(plan)
