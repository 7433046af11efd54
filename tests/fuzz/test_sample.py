"""A fixed sample of the attacks that `make fuzz` makes for as long as it is told: none may succeed."""

from __future__ import annotations

import re
import shutil
from collections import Counter

import pytest

from loopwright.c.typed.options import PLAIN
from loopwright.c.typed.preprocess import Preprocessed, preprocess
from loopwright.source import Source
from tests.conftest import ROOT
from tests.fuzz.__main__ import rounds
from tests.fuzz.judge import HOSTILE, RUNS, Pair, judged
from tests.fuzz.kinds import KINDS
from tests.fuzz.loop_forms import form_of
from tests.fuzz.preprocessing import as_it_is, without_compiler
from tests.fuzz.programs import Array
from tests.fuzz.rewrites import rewriting
from tests.fuzz.shrink import shrunk
from tests.fuzz.strength import FAULTS, SOURCES

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")


def test_no_attack_succeeds() -> None:
    outcomes: Counter[str] = Counter()
    assert rounds(0, 1, outcomes, mutants_each=1) == []
    assert outcomes["transform: accepted"] >= 2 and outcomes["rewrite: Proved"] >= 1
    assert any(what.startswith("mutant: ") for what in outcomes)


def test_faults_can_still_be_planted() -> None:
    """`python -m tests.fuzz.strength` measures how many cases find them."""
    for one in FAULTS:
        assert (SOURCES / one.file).read_text().count(one.old) == 1, one.name


BODY = "void f(int n, int m, unsigned u, short h, int A0[24], double *out)\n{\n  A0[0] = %s;\n}\n"


def test_runs_tell_programs_apart() -> None:
    """The judge of the attacks: other bits, what is not defined any more, what was not defined before."""
    arrays = (Array("A0", "int", 1),)
    values = (("n", "n + 0"), ("n", "n + (m == 9)"), ("n", "n + A0[20 + m]"), ("A0[20 + m]", "n"))
    told = judged([Pair(BODY % old, BODY % new, arrays, guarded=True) for old, new in values])
    assert [one.wrong[:1] for one in told] == [
        (),
        ("n = 8, m = 9, u = 9, h = 9, data 1: other bits",),
        ("n = -3, m = 2, u = 2, h = -2, data 1: other bits",),
        ("n = -3, m = 2, u = 2, h = -2, data 1: other bits",),
    ]
    usual = RUNS - len(HOSTILE)
    assert told[0].defined == usual and told[3].defined < usual
    assert any("out of bounds" in line or "overflow" in line for line in told[2].wrong)


def test_what_is_found_is_shrunk() -> None:
    text = (
        "void f(int n, int *x)\n{\n#pragma scop\n  for (int i = 0; i < n; i++) {\n    if (i > 3) {\n"
        "      x[i] = (x[i] + 2);\n    }\n    x[0] = 7;\n  }\n#pragma endscop\n}\n"
    )
    small = "void f(int n, int *x)\n{\n#pragma scop\n    x[0] = 7;\n#pragma endscop\n}\n"
    assert shrunk(text, lambda smaller: "= 7" in smaller) == small


def test_runs_after_one_that_is_stopped_count_too() -> None:
    """Static variables start again there, in both texts; a pair after another is judged as by itself."""
    counting = BODY.replace("  A0[0] = %s", "  static int k;\n  A0[%s] = k++")
    arrays = (Array("A0", "int", 1),)
    pairs = [Pair(counting % "n + 3", counting % f"{more}n + 3", arrays) for more in ("0 + ", "1 - 1 + ")]
    pairs.insert(1, Pair(BODY % "1", BODY % "1 / (n + 3)", arrays))
    told = judged(pairs)
    assert [bool(one.wrong) for one in told] == [False, True, False]
    assert "division by zero" in told[1].wrong[0]
    assert [one.defined for one in judged(pairs[::-1])] == [one.defined for one in told[::-1]]


def test_texts_without_macros_stay() -> None:
    """What stands for preprocessing has the tokens and pragmas of the compiler's, at the same lines."""
    pairs = [*map(rewriting, range(3)), *(form_of(k)[0] for k in range(3, 8))]
    texts = [text for one in pairs for text in (one.old, one.new) if as_it_is(text.encode(), "gcc")]
    assert len(texts) >= 6
    for text in texts:
        source = Source("k.c", text)
        preprocess.cache_clear()
        asked = preprocess(source, PLAIN)
        preprocess.cache_clear()
        with without_compiler():
            made = preprocess(source, PLAIN)
        assert _words(asked) == _words(made) and asked.directives == made.directives


def _words(text: Preprocessed) -> list[tuple[str, int]]:
    found = ((one.group(), text.line_of(one.start())) for one in re.finditer(r"\w+|[^\s\w]", text.text))
    return [(word, line) for word, line in found if line]


def test_the_page_for_contributors_lists_the_kinds() -> None:
    """Mutants of accepted scripts and changed loops of schedules are counted by themselves."""
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("| kind | a case is |")[2]
    listed = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(listed) == sorted({*KINDS, "mutant", "scan"})
