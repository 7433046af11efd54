"""What random attacks found in the types in which values are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import pytest

from loopwright.emit.region import Loops, new_source
from loopwright.errors import BadInput, InternalError
from loopwright.rewrite import targets
from loopwright.source import Source
from tests.fuzz.affine_pairs import affine_pair
from tests.fuzz.judge import judged
from tests.fuzz.programs import Array, Program
from tests.fuzz.test_found import made
from tests.fuzz.transforms import Case, accepted, wrong

TEXT = """#define K 100u
void f(int n, int m, unsigned u, short h, {kind} A0[24], double *out)
{{
#pragma scop
  for (int i = 1; i < 10; i++) {{
    {local};
    A0[i + 1] = {value} + A0[i - 1];
  }}
#pragma endscop
}}
"""
GIVEN = (
    "u + 1", "u", "(unsigned)n", "h + u", "i + K", "i + 1u", "n - 2L - i", "n + 5L", "(int)(n + 5L)", "h",
)  # fmt: skip


def local_case(local: str, value: str = "(x - 9) / 2", kind: str = "long") -> Case:
    text = TEXT.format(local=local, value=value, kind=kind)
    return Case(0, Program(text, (Array("A0", kind, 1),)), ())


@pytest.mark.parametrize("given", GIVEN)
def test_a_local_has_its_own_type_where_its_value_stands_for_it(given: str) -> None:
    """`(u + 1 - 9) / 2` is unsigned, `(x - 9) / 2` is an int; an int that is given a long is cut."""
    assert not wrong([accepted(local_case(f"int x = {given}"))])


def test_a_local_without_its_cast_is_another_value() -> None:
    """A printer that leaves it out is found out."""

    def mistaken(regions: Sequence[Loops], *, openmp: bool) -> Source:
        source = new_source(regions, openmp=openmp)
        assert "(int)(u + 1)" in source.text
        return replace(source, text=source.text.replace("(int)(u + 1)", "(u + 1)"))

    with patch.object(targets, "new_source", mistaken), pytest.raises(InternalError, match="is not a 'int'"):
        accepted(local_case("int x = u + 1"))


@pytest.mark.parametrize(
    ("local", "value", "kind"),
    [
        ("unsigned x = i * 7 - m", "x - n", "long"),
        ("int x = i", "A0[i + 1] / (n + x)", "unsigned"),
        ("int x = i", "(n + x - 7u) / 2", "long"),
        ("int x = i", "(n + x - 0x80000000) / 2", "long"),
    ],
)
def test_a_size_is_a_long_number_in_kernels(local: str, value: str, kind: str) -> None:
    """Beside an unsigned number it is converted to unsigned in C, and to long there."""
    case = replace(local_case(local, value, kind), script=("block(S1, i)",))
    text = case.program.text.replace("A0[i - 1]", "1").replace("i < 10", "i < n")
    case = replace(case, program=replace(case.program, text=text))
    with pytest.raises(BadInput, match="unsigned numbers; kernels have n in 64 bits"):
        accepted(case)


def test_a_while_loop_counts_in_the_type_of_its_declaration() -> None:
    loop = "{ word i = 2; while (i < n) { B[i + 1] *= 3; i++; } }\n"
    assert "for (unsigned long i = 2; i < n; i++)" in made(loop, "")


def test_sizes_of_mlir_are_not_below_zero() -> None:
    """As the answer says: of these functions no others stay in their arrays."""
    assert not judged([affine_pair(45001314).pair])[0].wrong
