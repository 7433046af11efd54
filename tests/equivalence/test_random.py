"""Random rewritings, judged by a compiler: no wrong yes, no wrong no."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from loopwright.prove.verdict import Proved, Refuted, Undecided
from tests.conftest import examples
from tests.equivalence.compiled import differences, function
from tests.equivalence.programs import text
from tests.equivalence.random_pairs import pair
from tests.equivalence.support import compared

SIZES = [(n, m) for n in range(5) for m in range(5)] + [(7, 8), (9, 6)]
SEEDS = tuple(range(1, 30))
COUNT = 1000 if os.environ.get("LOOPWRIGHT_HYPOTHESIS") == "search" else examples(24)
SAMPLE = range(100, 100 + COUNT)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("seed", SAMPLE)
def test_answers_agree_with_what_is_computed(tmp_path: Path, seed: int) -> None:
    old, new = (text(program) for program in pair(seed))
    match compared(tmp_path, function("f", old), function("f", new)).verdict:
        case Proved():
            assert differences(tmp_path, old, new, SIZES) == []
        case Refuted(parameters=sizes):
            shown = (sizes.get("n", 3), sizes.get("m", 3))
            assert differences(tmp_path, old, new, [shown], SEEDS) == [shown]
        case Undecided(reason):
            assert reason
