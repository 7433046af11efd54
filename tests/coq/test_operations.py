"""What the verified checker says of each operation, as docs/provers.md lists it: the examples of its page.

To write what it says now into the page: LOOPWRIGHT_UPDATE_DOCS=1 pytest tests/coq/test_operations.py
"""

from __future__ import annotations

import os
import re
import shutil
from itertools import groupby

import pytest

from loopwright.generate.program import generate
from loopwright.prove.certificates.specification import AllowedDifferences, Owned
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.verdict import NOT_CHECKED, ProofStatus
from loopwright.read.c.reader import read_source
from loopwright.rewrite.scripts import loops_of
from loopwright.source import Source
from loopwright.transform import Plan, to_schedule, transform
from loopwright.transform.script.steps import NAMES
from tests.coq.support import change_status, storage_status
from tests.transform.support import planned
from tests.transform.test_documentation import EXAMPLE, PAGES

pytestmark = [
    pytest.mark.skipif(shutil.which("ocamlopt") is None, reason="ocamlopt is missing: apt install ocaml"),
    pytest.mark.usefixtures("built"),
]
DOCUMENT = PAGES.parent / "provers.md"
TABLE = re.compile(r"(?<=\| operation \| status \|\n\|---\|---\|\n)(?:\|.*\|\n)+")

FUNCTION = """
double further(int n, double f, double a[restrict n], double b[restrict n])
{{
  double t;
#pragma scop
{}
#pragma endscop
  return t;
}}
"""
PRIVATE = "for (int i = 0; i < n; i++) { double u; S: u = a[i]; T: b[i] = u * u; }"
LAST = "for (int i = 0; i < 8; i++) { S: t = a[i]; T: b[i] = t * t; }"
DOT = "t = 0; for (int i = 0; i < n; i++) S: t += a[i] * b[i];"
SUMS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) S: b[i] += f * a[j];"
FURTHER = {
    "parallel, with `private`": (PRIVATE, "parallel(S, i)"),
    "parallel, with `lastprivate`": (LAST, "parallel(S, i)"),
    "parallel, with `reduction` (`--allow-reassociation`)": (DOT, "parallel(S, i)"),
    "pack, scaled": (SUMS, "pack(a, S, scaled)"),
}
"""What the pages of operations do not show: a program, and a script."""


def further(text: str, script: str) -> Plan:
    (program,) = read_source(Source("further.c", FUNCTION.format(text)))
    return transform(program, script, "script.lw")


def status(plan: Plan) -> ProofStatus:
    if plan.storage:
        return storage_status(plan)
    verdict = prove_plan(plan, allow_reassociation=True)
    assert verdict.proved, verdict
    loops = loops_of(plan, generate(to_schedule(plan)), verdict)
    private = tuple(Owned(one.array, one.statements, one.last) for one in loops.private)
    combining = tuple({one.statement: one for one in verdict.reassociations})
    allowed = AllowedDifferences(combining, private, verdict.temporaries)
    return change_status(plan.original, plan.program, loops.node, allowed, seconds=20)


def shown(found: list[ProofStatus]) -> str:
    """The answers, each once; with the reason where there is no yes."""
    said = [f"{one.status}: {one.detail}" if one.status == NOT_CHECKED else one.status for one in found]
    return "; ".join(one for one, _ in groupby(said))


def rows() -> dict[str, str]:
    found = {}
    for name in sorted(NAMES):
        examples = EXAMPLE.finditer((PAGES / f"{name}.md").read_text())
        found[f"[{name}](operations/{name}.md)"] = shown(
            [status(planned(one["before"], one["script"])) for one in examples]
        )
    return found | {name: shown([status(further(*one))]) for name, one in FURTHER.items()}


def test_the_status_of_each_operation_is_listed() -> None:
    table = "".join(f"| {name} | {said} |\n" for name, said in rows().items())
    text = DOCUMENT.read_text()
    if os.environ.get("LOOPWRIGHT_UPDATE_DOCS"):
        DOCUMENT.write_text(TABLE.sub(lambda _: table, text))
    else:
        listed = TABLE.search(text)
        assert listed is not None and listed.group() == table
