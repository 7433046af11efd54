"""Sizes that both files define as one number: what is right for it alone is proved for it alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import Comparison, ComparisonOptions
from loopwright.prove.equivalence.answer import OnlyFor
from loopwright.prove.verdict import Refuted
from loopwright.read.c.options import ReadOptions
from tests.equivalence.support import wrapped
from tests.pipeline.support import file, run

COPY = "for (i = 0; i < N; i++) a[i] = b[i] * 2.0;"
UNROLLED = "for (i = 0; i < N; i += {step}) {{ {body} }}"
TILED = "for (t = 0; t < N; t += 8) for (i = t; i < t + 8; i++) a[i] = b[i] * 2.0;"
DEFINED = "#define N 1000"


def _unrolled(step: int) -> str:
    body = " ".join(f"a[i + {k}] = b[i + {k}] * 2.0;" for k in range(step))
    return UNROLLED.format(step=step, body=body)


def _compared(tmp_path: Path, new: str, *heads: str, assume: tuple[str, ...] = ()) -> Comparison:
    first, last = heads[0], heads[-1]
    old = file(tmp_path, wrapped(COPY, head=first), "old.c")
    options = ComparisonOptions(ReadOptions(assume=assume))
    return compare_files(old, file(tmp_path, wrapped(new, head=last), "new.c"), options)


@pytest.mark.parametrize(("new", "head"), [(_unrolled(4), DEFINED), (TILED, "#define N (1024)")])
def test_what_is_right_for_the_number_alone(new: str, head: str, tmp_path: Path) -> None:
    found = _compared(tmp_path, new, head)
    number = 1000 if head == DEFINED else 1024
    assert found.proved and found.only_for == OnlyFor({"N": number}, {"N": 1})
    assert not any("N ==" in text for text in found.trusted)


def test_what_is_right_for_all_sizes_is_said_of_all(tmp_path: Path) -> None:
    found = _compared(tmp_path, "for (i = N - 1; i >= 0; i--) a[i] = b[i] * 2.0;", DEFINED)
    assert found.proved and found.only_for is None


def test_what_is_wrong_for_the_number_too(tmp_path: Path) -> None:
    found = _compared(tmp_path, _unrolled(3), DEFINED).verdict
    assert isinstance(found, Refuted) and found.parameters == {"N": 1}
    assert found.witness.endswith("; both files define N = 1000, for which they differ too")


OPEN = {
    "an option may say otherwise": ("#ifndef N\n#define N 1000\n#endif",),
    "defined again": (f"{DEFINED}\n#undef N\n#define N 1001",),
    "defined again by a header": (f'{DEFINED}\n#include "other.h"',),
    "a number that is no int": ("#define N 4000000000",),
    "two numbers": (DEFINED, "#define N 1004"),
}


@pytest.mark.parametrize("name", OPEN)
def test_sizes_without_a_number_of_their_own(name: str, tmp_path: Path) -> None:
    file(tmp_path, "#undef N\n#define N 1001\n", "other.h")
    found = _compared(tmp_path, _unrolled(4), *OPEN[name])
    assert not found.proved and found.only_for is None


def test_a_size_that_something_is_stated_of(tmp_path: Path) -> None:
    assert not _compared(tmp_path, _unrolled(4), DEFINED, assume=("N >= 1",)).proved
    assert _compared(tmp_path, _unrolled(4), DEFINED, assume=("N % 4 == 0",)).only_for is None
    pragma = "#pragma loopwright assume N >= 1\n"
    assert not _compared(tmp_path, pragma + _unrolled(4), DEFINED).proved


def test_the_command_line_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = file(tmp_path, wrapped(COPY, head=DEFINED), "old.c")
    new = file(tmp_path, wrapped(_unrolled(4), head=DEFINED), "new.c")
    assert run("prove", old, new) == 0
    assert "  holds for N = 1000, as both files define it, but not for N = 1\n" in capsys.readouterr().err
    assert run("prove", old, new, "--json") == 0
    assert json.loads(capsys.readouterr().out)["only_for"] == {"sizes": {"N": 1000}, "not_for": {"N": 1}}
