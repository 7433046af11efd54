"""A file that is wrong somewhere is refused: loops, schedules, accesses, certificates, one change each."""

from __future__ import annotations

import re

import pytest

from loopwright.prove.coq.check import Accepted, check
from tests.coq.support import SECONDS, needs_coqc, plan_file
from tests.coq.test_transformations import TRIANGLE
from tests.transform.support import planned

SCRIPT = "distribute(Init, Row)\ninterchange(Row, i, j)"
INNER = '(Counting "c1" (Var "c0") (Compare LT (Var "c1") (Var "n")) 1'
NEW_TIME = '[(Int 1); (Var "j"); (Int 0); (Var "i"); (Int 0)]'

WRONG = {
    "the original has one iteration less": ("j <= i;", "j < i;"),
    "an access is forgotten": ('Use [("x", [(Var "i")]); ("a"', 'Use [("a"'),
    "the new loops do not end": (INNER, INNER.replace("LT", "GE")),
    "the new loops have one iteration less": (
        INNER,
        INNER.replace('(Var "n")', '(Sum [(Var "n"); (Int (-1))])'),
    ),
    "the new loops have one iteration more": (INNER, INNER.replace("LT", "LE")),
    "the new loops count by two": (INNER, INNER[:-1] + "2"),
    "the arguments are exchanged": (
        '(Calling "S2" [(Var "c1"); (Var "c0")]',
        '(Calling "S2" [(Var "c0"); (Var "c1")]',
    ),
    "a statement has another name": ('(Calling "S2" [(Var "c1")', '(Calling "S1" [(Var "c1")'),
    "a name is bound nowhere": ('(Calling "S2" [(Var "c1")', '(Calling "S2" [(Var "c3")'),
    "the schedule wants the nests the other way round": (NEW_TIME, NEW_TIME.replace("Int 1", "Int (-1)")),
    "the schedule wants the inner loop to count down": (
        NEW_TIME,
        NEW_TIME.replace('(Var "i")', '(Scaled (-1) (Var "i"))'),
    ),
    "a cell is read that another instance writes": (
        'Use [("x", [(Var "i")]); ("a"',
        'Use [("x", [(Var "i")]); ("x", [(Var "j")]); ("a"',
    ),
    "a certificate is missing": ("list certificate := [c1; ", "list certificate := ["),
    "a certificate is another one": ("list certificate := [c1; ", "list certificate := [c0; "),
    "a factor is negative": ("c0 := (Farkas [(0%nat, 1)", "c0 := (Farkas [(0%nat, (-1))"),
}


@needs_coqc
@pytest.mark.usefixtures("built")
def test_every_wrong_file_is_refused() -> None:
    """All in one run of coqc, whose `Fail` succeeds where a proof is refused; the right file is accepted."""
    text = plan_file(planned(TRIANGLE, SCRIPT))
    whole = re.fullmatch(r"(.*?\n)(.*)Print Assumptions same_memory\.\n", text, re.DOTALL)
    assert whole is not None
    required, body = whole.groups()
    modules = []
    for k, (name, (old, new)) in enumerate(WRONG.items()):
        assert body.count(old) == 1, (name, body)
        changed = body.replace(old, new).replace("Qed.", "Fail Qed. Abort.")
        modules.append(f"(* {name} *)\nModule M{k}.\n{changed}End M{k}.\n")
    right = f"Module Right.\n{body}End Right.\nPrint Assumptions Right.same_memory.\n"
    found = check("".join((required, *modules, right)), SECONDS)
    assert found == Accepted(), found
