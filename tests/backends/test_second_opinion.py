"""What becomes of cvc5's answers on what isl has proved, and on the model of a C text."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from loopwright.errors import GaveUp, InternalError
from loopwright.generate.program import generate
from loopwright.loops.expressions import TRUE, Compare, Int, Relation, Var
from loopwright.progress import silent
from loopwright.prove.obligations.formulas import Obligation
from loopwright.prove.obligations.scanning import scanning_obligations
from loopwright.rewrite.evidence import of_model
from loopwright.rewrite.opinions import second_opinion
from loopwright.rewrite.request import ProverRequest, RewriteOptions
from tests.c.support import region
from tests.generate.support import flat

pytest.importorskip("cvc5", reason="cvc5 is not installed: pip install cvc5")


def test_a_counterexample_to_what_isl_proved_is_our_mistake() -> None:
    """As it would be if isl were wrong."""
    wrong = Obligation("order_0", "this is first", TRUE, Compare(Relation.LE, Var("i"), Int(3)))
    with pytest.raises(InternalError, match=r"isl proved, and cvc5 refutes, order_0: this is first: i = \d+"):
        second_opinion([wrong], None, silent)


def test_no_answer_in_time_is_no_answer() -> None:
    schedule = flat("[n] -> { S[i, j] -> [floor(i/7), floor(j/5), i, j] : 0 <= j <= i < n }")
    with pytest.raises(GaveUp, match="could not decide"):
        second_opinion(scanning_obligations(schedule, generate(schedule)), 0.001, silent)


LOOP = "#pragma loopwright assume n >= 0\nfor (i = 0; i != n; i++) a[i] = 0;"


def test_a_model_that_was_misread_stops_everything() -> None:
    """isl looks at the whole, cvc5 at the steps; each stops alone (here isl comes first)."""
    read = region(LOOP)
    options = RewriteOptions(prover=ProverRequest("cvc5"))
    assert len(of_model(read, options, silent).proofs) == 2
    (own,) = read.statements
    shorter = isl.Set(f"[n] -> {{ {own.name}[i] : 0 <= i < n - 1 }}")
    misread = replace(read, statements=(replace(own, domain=shorter),))
    with pytest.raises(InternalError, match="the text was misread"):
        of_model(misread, options, silent)


def test_cvc5_alone_stops_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its counterexample is not taken for a thing to trust where isl was not asked, or was wrong."""
    from loopwright.prove.verdict import Undecided
    from loopwright.rewrite import evidence

    monkeypatch.setattr(evidence, "prove_model", lambda program: Undecided("not asked"))
    read = region(LOOP)
    found = of_model(read, RewriteOptions(), silent)
    assert [one.what for one in found.proofs] == ["Inv, Rank1 and Rank2 hold for the source, by cvc5"]
    assert not found.trusted
    (own,) = read.statements
    longer = isl.Set(f"[n] -> {{ {own.name}[i] : 0 <= i <= n }}")
    misread = replace(read, statements=(replace(own, domain=longer),))
    with pytest.raises(InternalError, match=r"misread: Rank2 does not hold.*cvc5"):
        of_model(misread, RewriteOptions(), silent)
