"""What reads are claimed to see: proved, or refuted with a read that sees something else."""

from __future__ import annotations

import islpy as isl
import pytest

from loopwright.errors import GaveUp
from loopwright.model.program import Program
from loopwright.prove.legality.seen import ClaimedFlow
from loopwright.prove.legality.values import WrongValue
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from loopwright.transform.storage import SeenWrite

ROWS = """\
void f(int n, double a[n], double b[n])
{
#pragma scop
  double own[3];
  for (int r = 0; r < n; r++) {
    own[0] = own[1];
    own[1] = own[2];
    own[2] = a[r];
    b[r] = own[0];
  }
#pragma endscop
}
"""


def program(text: str = ROWS) -> Program:
    (found,) = parse_c(Source("f.c", text))
    return found


def judged(
    number: int, claimed: list[tuple[str, str]], *, text: str = ROWS, needed: str = "r >= 2"
) -> list[WrongValue]:
    """What is wrong with sources claimed for the read of a statement, on the instances `needed`."""
    after = program(text)
    reader = after.statements[number]
    context = reader.domain.get_ctx()
    name = reader.name
    wanted = isl.Set.read_from_str(context, f"[n] -> {{ {name}[r] : 0 <= r < n and {needed} }}")
    writes = [
        SeenWrite(writer, isl.Map.read_from_str(context, f"[n] -> {{ {name}[r] -> {writer}[{at}] }}"))
        for writer, at in claimed
    ]
    (read,) = reader.reads
    return list(ClaimedFlow(after).wrong(reader, read, wanted, writes))


def test_rows_that_move_down_are_seen_one_step_later() -> None:
    assert not judged(0, [("S2", "r - 1")])
    assert not judged(1, [("S3", "r - 1")])
    assert not judged(3, [("S1", "r")])


@pytest.mark.parametrize(
    "number, claimed, says",
    [
        (1, [("S3", "r - 2")], "what S3 wrote after that"),
        (0, [("S3", "r - 1")], "another one"),
        (3, [("S1", "r - 1")], "what S1 wrote after that"),
        (3, [], "none"),
        (1, [("S3", "r + 2 - n")], "what S3 wrote after that"),
        (0, [("S2", "r - 3")], "no such instance"),
    ],
)
def test_a_wrong_source_is_refuted(number: int, claimed: list[tuple[str, str]], says: str) -> None:
    wrong = judged(number, claimed)
    assert wrong and any(one.found == says for one in wrong), wrong
    assert all("(r = " in one.reader and one.parameters["n"] >= 1 for one in wrong)


def test_a_write_in_between_is_found() -> None:
    text = ROWS.replace("    own[2] = a[r];\n", "    own[2] = a[r];\n    own[1] = own[2];\n")
    wrong = judged(0, [("S2", "r - 1")], text=text)
    assert [one.found for one in wrong] == ["what S4 wrote after that"]


def test_a_source_that_runs_later_is_no_answer() -> None:
    with pytest.raises(GaveUp, match="may run after"):
        judged(1, [("S3", "r")], needed="r < n - 1")
