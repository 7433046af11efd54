"""The meaning of LOOP in Coq, and the terms that are written, against the interpreter, on random programs."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

from loopwright.progress import silent
from loopwright.prove.coq.check import coqc, library
from tests.coq.support import needs_coqc

SOURCE = Path(__file__).resolve().parents[2] / "proofs" / "semantics.py"
COUNT = 120


@needs_coqc
def test_coq_finds_the_traces_the_interpreter_finds(tmp_path: Path) -> None:
    """`make -C proofs semantics SEED=7` tries others."""
    spec = importlib.util.spec_from_file_location("semantics", SOURCE)
    assert spec is not None and spec.loader is not None
    semantics = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(semantics)
    (tmp_path / "semantics.v").write_text(semantics.examples(0, COUNT))
    command = [str(coqc()), "-q", "-noglob", "-Q", str(library(silent)), "Loopwright", "semantics.v"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_theorem_is_asked_for_its_axioms() -> None:
    """`make coq` asks Coq about those in Axioms.v; nothing in the library is assumed or left out."""
    texts = {path.name: path.read_text() for path in SOURCE.parent.glob("*.v")}
    asked = set(re.findall(r"@(\w+)", texts.pop("Axioms.v")))
    texts.pop("semantics.v", None)
    stated = re.compile(r"^ *(?:Theorem|Corollary) +(\w+)", re.MULTILINE)
    assert {one for text in texts.values() for one in stated.findall(text)} <= asked
    assumed = re.compile(r"^ *(?:Axioms?|Parameters?|Conjecture|Admit\w*)\b|\badmit\b", re.MULTILINE)
    assert [name for name, text in texts.items() if assumed.search(text)] == []
