"""`--prover` on the command line: the proof is written, checked, or how to check it is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from loopwright.cli.main import main
from tests.coq.support import needs_coqc

pytestmark = pytest.mark.usefixtures("built")
ROOT = Path(__file__).resolve().parents[2]
RECTANGLE = str(ROOT / "examples" / "rectangle.poly")
KERNEL = """\
void f(int n, double x[n], double a[n][n], double y[n]) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      L: x[i] = x[i] + a[i][j] * y[j];
#pragma endscop
}
"""


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


@pytest.fixture
def kernel(tmp_path: Path) -> tuple[str, str]:
    source, script = tmp_path / "k.c", tmp_path / "k.lw"
    source.write_text(KERNEL)
    script.write_text("interchange(L, i, j)\n")
    return str(source), str(script)


@needs_coqc
def test_codegen_writes_and_checks_a_proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof = tmp_path / "proof.v"
    assert run("codegen", RECTANGLE, "--prover", "coq", "-o", str(proof), "--json") == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert "S(c0, c1);" in found["code"]
    assert found["provers"] == [{"prover": "coq", "answer": f"{proof}: checked by coqc, no axioms"}]
    assert f"{proof}: checked by coqc, no axioms" in said.err
    assert "Theorem loops_correct" in proof.read_text()


@needs_coqc
def test_transform_writes_and_checks_a_proof(
    tmp_path: Path, kernel: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    proof = tmp_path / "proof.v"
    assert run("transform", *kernel, "--prover", "coq", "-o", str(proof), "--json") == 0
    (answer,) = json.loads(capsys.readouterr().out)["provers"]
    assert answer == {"prover": "coq", "answer": f"{proof}: checked by coqc, no axioms"}
    assert "Theorem same_memory" in proof.read_text()


def test_without_coqc_there_is_no_answer_and_how_to_check_the_file_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COQC", "no-such-program")
    proof = tmp_path / "proof.v"
    assert run("codegen", RECTANGLE, "--prover", "coq", "-o", str(proof)) == 3
    said = capsys.readouterr().err
    assert "coqc is not installed" in said and "apt install coq" in said
    assert "coqc -Q proofs Loopwright" in said
    assert proof.read_text().startswith("(** * Loops for rectangle.poly")


def test_without_coqc_and_without_a_file_there_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COQC", "no-such-program")
    assert run("codegen", RECTANGLE, "--prover", "coq") == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert "coqc is not installed" in said.err


@needs_coqc
@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [("PATH", "", "make is not installed"), ("XDG_CACHE_HOME", "/dev/null/x", "names another place")],
)
def test_where_the_library_cannot_be_compiled_there_is_no_answer(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    value: str,
    message: str,
) -> None:
    monkeypatch.setenv("COQC", str(shutil.which("coqc")))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(variable, value)
    assert run("codegen", RECTANGLE, "--prover", "coq") == 3
    assert message in capsys.readouterr().err


@needs_coqc
def test_a_proof_that_takes_too_long_is_no_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof = str(tmp_path / "proof.v")
    words = ("codegen", RECTANGLE, "--prover", "coq", "-o", proof, "--prover-timeout", "0.01")
    assert run(*words) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert "could not decide: coqc was not done" in said.err


def test_a_proof_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    assert run("codegen", RECTANGLE, "--prover", "coq", "-o", str(tmp_path / "no" / "proof.v")) == 2


def test_a_proof_and_none_exclude_each_other(kernel: tuple[str, str]) -> None:
    assert run("codegen", RECTANGLE, "--prover", "coq", "--no-prove") == 2
    assert run("transform", *kernel, "--prover", "coq", "--no-prove") == 2


def test_cvc5_gives_a_second_opinion(kernel: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cvc5", reason="cvc5 is not installed: pip install cvc5")
    assert run("codegen", RECTANGLE, "--prover", "cvc5") == 0
    assert "cvc5 agrees" in capsys.readouterr().err
    assert run("transform", *kernel, "--prover", "cvc5") == 0
    assert "cvc5 agrees" in capsys.readouterr().err


def test_a_transformation_about_nothing_says_so(
    kernel: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("transform", *kernel, "--assume", "n < 0", "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["proof"]["status"] == "about nothing"
    assert "this proof is vacuous: no statement has an instance" in said.err


def test_other_provers_are_asked_about_two_files(
    tmp_path: Path, kernel: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("cvc5", reason="cvc5 is not installed: pip install cvc5")
    assert run("transform", *kernel) == 0
    new = tmp_path / "new.c"
    new.write_text(capsys.readouterr().out)
    assert run("prove", kernel[0], str(new), "--prover", "cvc5", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["proof"]["by"] == "cvc5" and "cvc5 agrees" in found["provers"][0]["answer"]
    assert run("suggest", kernel[0], "--prover", "cvc5") == 0
    assert "interchange(L, i, j)" in (said := capsys.readouterr().out) and "; cvc5 agrees" in said


@needs_coqc
def test_two_files_have_a_proof_that_is_verified(
    tmp_path: Path, kernel: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("transform", *kernel) == 0
    new, proof = tmp_path / "new.c", tmp_path / "proof.v"
    new.write_text(capsys.readouterr().out)
    words = ("--prover", "coq", "--proof", str(proof), "--timeout", "600")
    assert run("prove", kernel[0], str(new), *words) == 0
    assert run("verify", str(new), str(proof)) == 0


def test_a_prover_that_is_missing_is_missed_at_once(
    kernel: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COQC", "no-such-program")
    for words in (("prove", kernel[0]), ("suggest",), ("optimise",)):
        assert run(*words, kernel[0], "--prover", "coq") == 3
        assert "coqc is not installed" in capsys.readouterr().err
    assert run("prove", kernel[0], kernel[0], "--proof", "proof.v") == 2
