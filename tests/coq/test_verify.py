"""`loopwright verify`: a proof file is accepted for the texts it is about, and for nothing else."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Relation,
    Rem,
    Scaled,
    Select,
    Sum,
    TruncDiv,
    Var,
)
from loopwright.prove.certificates.files import read_claims
from loopwright.prove.certificates.restatement import Restatement, lost_temporaries, restatement
from loopwright.prove.coq import check as coq
from loopwright.prove.coq.check import Accepted
from loopwright.prove.coq.verification import Another, Forbidden, forbidden, sentences, verify
from loopwright.prove.coq.words import expr, read_expr
from loopwright.prove.obligations.legality import opened
from loopwright.prove.text.correspondence import claimed_loops
from loopwright.read.c.reader import load_c, read_c, read_source
from loopwright.read.text import load
from loopwright.rewrite.rereading import read_regions
from loopwright.source import Source
from tests.coq.support import SECONDS, needs_coqc
from tests.coq.test_cli import KERNEL, run

pytestmark = pytest.mark.usefixtures("built")


@dataclass(frozen=True)
class Files:
    """An original, a new text, and the proof about both."""

    new: Path
    proof: Path

    def but(self, folder: Path, *, new: str | None = None, proof: str | None = None) -> tuple[str, str]:
        """Copies with another text, next to a copy of the original."""
        (folder / "k.c").write_text(self.proof.with_name("k.c").read_text())
        places = folder / "new.c", folder / "proof.v"
        places[0].write_text(self.new.read_text() if new is None else new)
        places[1].write_text(self.proof.read_text() if proof is None else proof)
        return str(places[0]), str(places[1])


def made(folder: Path, script: str, *more: str, text: str = KERNEL) -> Files:
    """What transform writes, not checked: each test has its own way to do that."""
    source, proof = folder / "k.c", folder / "proof.v"
    source.write_text(text)
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
        patch.setattr(coq, "check", lambda *_: Accepted())
        patch.setattr(coq, "coqc", lambda: "coqc")
        words = ("--prover", "coq", "-o", str(proof), *more)
        assert run("transform", str(source), "-e", script, *words) == 0
    (folder / "new.c").write_text(said.getvalue())
    return Files(folder / "new.c", proof)


@pytest.fixture(scope="module")
def files(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Tests change copies of these."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPWRIGHT_CHECKER", str(program))
        return made(tmp_path_factory.mktemp("verified"), "interchange(L, i, j)")


def statement(files: Files) -> Restatement:
    """The theorem that the texts ask for."""
    claims = read_claims(load(files.proof))
    (original,) = read_c(files.proof.with_name("k.c"))
    (new,) = read_regions(load_c(files.new), [original])
    return restatement(original, new, opened(claimed_loops(new, claims.calls)), claims, ())


# -- right files --------------------------------------------------------------------------------------


@needs_coqc
def test_a_proof_is_verified(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("verify", str(files.new), str(files.proof)) == 0
    said = capsys.readouterr().out
    assert "leaves the memory that" in said and "proved by" in said


@needs_coqc
def test_a_parallel_loop_is_verified_in_any_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = made(tmp_path, "parallel(L, i)", "--openmp")
    assert "#pragma omp parallel for" in found.new.read_text()
    assert run("verify", str(found.new), str(found.proof), "--json") == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["proof"]["status"] == "checked"


def test_expressions_are_read_as_they_are_written() -> None:
    i, n = Var("i's"), Var("a b")
    test = And((Compare(Relation.LE, i, Int(-3)), Compare(Relation.NE, n, i)))
    parts: list[Expr] = [Sum((i, Scaled(-2, n))), FloorDiv(i, 4), TruncDiv(n, 3), Rem(i, 2)]
    term: Expr = Select(test, Min((*parts, Int(0))), Max(tuple(parts)))
    assert read_expr(iter(" ".join(expr(term)).split())) == term


# -- texts that are not those of the proof --------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a[i][j]", "a[j][i]", "does not do what"),
        ("x[i] + a", "x[i] - a", "a statement of the text is another one"),
        ("int i, j;", "int j, i;", "differs outside its regions"),
        ("#pragma scop\n", "#pragma scop\nx[0] = 1;\n", "has 2 statements, not 1"),
        ("for (j =", "for (char j =", "counts 'j' in the type 'char'"),
        ("for (j =", "for (K3 j =", "counts 'j' in the type 'K3'"),
        ("for (j =", "for (float j =", "counts 'j' in the type 'float'"),
    ],
)
def test_another_text_is_refused_before_coq_is_asked(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    changed = files.new.read_text().replace(old, new)
    assert changed != files.new.read_text()
    assert run("verify", *files.but(tmp_path, new=changed)) in (1, 3)
    assert message in capsys.readouterr().err


@needs_coqc
def test_other_loops_are_refused(files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the proof of the right ones, and with one that says the same of the wrong ones."""
    changed = files.new.read_text().replace("i = j;", "i = j + 1;")
    assert changed != files.new.read_text()
    assert run("verify", *files.but(tmp_path, new=changed)) == 1
    assert "transformed of the file is not what the texts say" in capsys.readouterr().err
    proof = files.proof.read_text().replace("i = j;", "i = j + 1;")
    assert run("verify", *files.but(tmp_path, new=changed, proof=proof)) == 1
    said = capsys.readouterr().err
    assert "coqc does not accept it: same_memory" in said
    assert "hint: if the proof file is damaged or older than the new source, write it again" in said


@needs_coqc
def test_copies_of_iterations_are_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are those of the pragma: a proof about other copies, or about none, is no proof of the text."""
    found = made(tmp_path, "parallel(S, i)", "--openmp", text=PRIVATE)
    new, proof = found.new, found.proof
    assert "private(u)" in new.read_text()
    assert run("verify", str(new), str(proof), "--json") == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["proof"]["status"] == "checked" and "except in u" in region["proof"]["detail"]
    proof.write_text(proof.read_text().replace('Storage ["u"]', 'Storage ["u"; "w"]'))
    assert run("verify", str(new), str(proof)) == 1
    assert "its theorem is not the one about" in capsys.readouterr().err


@needs_coqc
def test_temporaries_are_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that nothing reads after the region; a proof that leaves others alone is one of another text."""
    found = made(tmp_path, "reverse(@4, i)", text=PRIVATE)
    assert run("verify", str(found.new), str(found.proof), "--json") == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["proof"]["detail"] == "except in u, read nowhere after"
    for file in (found.new, found.new.with_name("k.c")):
        file.write_text(file.read_text().replace("#pragma endscop", "#pragma endscop\n  b[0] = u;"))
    assert run("verify", str(found.new), str(found.proof)) == 1
    assert "its theorem is not the one about" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("u = a[i]; b[i] = u;", ("u",)),
        ("if (a[i] > 0) u = a[i]; b[i] = u;", ()),
        ("w[i] = a[i]; w[(int)a[i]] = 1; b[i] = w[i];", ()),
        ("u = a[i]; w[0] = u; b[i] = w[0]; b[0] = u;", ("u", "w")),
    ],
)
def test_temporaries_are_dead_and_written_for_sure(text: str, lost: tuple[str, ...]) -> None:
    """The theorem about them supposes that who writes one does so in any case."""
    region = f"#pragma scop\n  for (int i = 0; i < n; i++) {{ {text} }}\n#pragma endscop\n"
    before = "void f(int n, double a[restrict n], double b[restrict n]) {\n  double u, w[100];\n"
    (program,) = read_source(Source("k.c", f"{before}{region}}}\n"))
    assert lost_temporaries(program) == lost


PRIVATE = """\
void f(int n, double a[restrict n], double b[restrict n]) {
  double u;
#pragma scop
  for (int i = 0; i < n; i++) {
    S: u = a[i];
    T: b[i] = u * u;
  }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("pattern", "new", "status", "message"),
    [
        ("var 'i var 'j", "var 'j var 'i", 1, "does not do what"),
        ("'S1 2", "'S1 3", 2, "cannot be read"),
        ("'S1 2 var 'i", "'S1 2 floor var 'i 0", 2, "a division by 0"),
        ("'S1 2 var 'i", "'S1 2 " + "scaled 1 " * 100_000 + "var 'i", 2, "cannot be read"),
        ("'k.c 0", "'k.c 1", 2, "has no region 2"),
        ("'k.c 0", "'k.c -1", 2, "cannot be read"),
        ("'k.c", "'..%2Fk.c", 2, "is neither next to the proof"),
        ("For loopwright verify", "For other readers", 2, "not a proof file about a C file"),
        ("'S1 2", "'S7 2", 3, "no statement S7 with 2 iterators"),
        ("'S1 2 var 'i", "'S1 1", 3, "no statement S1 with 1 iterators"),
        ("var 'i var 'j", "var 'i var 'm", 3, "m is not a name of the text"),
    ],
)
def test_claims_are_not_believed(
    files: Files,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    pattern: str,
    new: str,
    status: int,
    message: str,
) -> None:
    changed = files.proof.read_text().replace(pattern, new)
    assert changed != files.proof.read_text()
    assert run("verify", *files.but(tmp_path, proof=changed)) == status
    assert message in capsys.readouterr().err


# -- proofs of something else ---------------------------------------------------------------------------

CLAIM = "for_texts T original transformed (fun e => texts_the_same (stated T e) e)"


def definitions(proof: str) -> str:
    found = [text for _, text in sentences(proof) if text.startswith(("From", "Definition"))]
    return "".join(f"{text}.\n" for text in found)


def by_contradiction(proof: str) -> str:
    """A context that has no sizes: everything is true of them."""
    text = definitions(proof).replace("known : test := (And [])", "known : test := (Or [])")
    steps = "split; [vm_compute; reflexivity|]. eexists _, _. split; [vm_compute; reflexivity|]. "
    steps += "split; [vm_compute; reflexivity|]. intros q [_ H]. discriminate H."
    return f"{text}Theorem same_memory : {CLAIM}.\nProof. {steps} Qed.\nPrint Assumptions same_memory.\n"


def about_nothing(proof: str) -> str:
    theorem = "Theorem same_memory : True.\nProof. exact I. Qed.\nPrint Assumptions same_memory.\n"
    return definitions(proof) + theorem


def another_meaning(proof: str) -> str:
    """The same words for something that is true of all programs."""
    meaning = "Definition texts_the_same (A : accesses) (e : env) (n m : counted) : Prop := True.\n"
    steps = "split; [vm_compute; reflexivity|]. eexists _, _. split; [vm_compute; reflexivity|]. "
    steps += "split; [vm_compute; reflexivity|]. intros q _. exact I."
    theorem = f"Theorem same_memory : {CLAIM}.\nProof. {steps} Qed.\nPrint Assumptions same_memory.\n"
    return f"{definitions(proof)}{meaning}{theorem}"


def without_reads(proof: str) -> str:
    """A statement said to read less than it does; the steps of the proof still prove that."""
    return re.sub(r';\s+\("y",\s+\[\(Var\s+"j"\)\]\)', "", proof)


def of_another_size(proof: str) -> str:
    """A parameter more."""
    more = proof.replace('parameters : list string := ["n"]', 'parameters : list string := ["n"; "m"]')
    return more.replace("combine parameters [1]", "combine parameters [1; 1]")


def with_another_text(proof: str) -> str:
    """The same loops in other words."""
    return proof.replace('Region "  for (j = 0; j < n;', 'Region "  for (j = 0; j <= n - 1;')


@needs_coqc
@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (by_contradiction, ("known",)),
        (about_nothing, ()),
        (another_meaning, ()),
        (without_reads, ("memory_use",)),
        (of_another_size, ("parameters",)),
        (with_another_text, ("transformed",)),
    ],
)
def test_another_theorem_is_refused(
    files: Files, change: Callable[[str], str], parts: tuple[str, ...]
) -> None:
    """Files that coqc accepts, and that prove nothing of the texts."""
    proof = files.proof.read_text()
    assert change(proof) != proof
    asked = statement(files)
    assert verify(change(proof), asked.text, asked.theorem, asked.chosen, asked.made_of, SECONDS) == Another(
        parts
    )


# -- commands that no proof needs -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Axiom all : False.",
        "Lemma all : False. Proof. Admitted.",
        "Unset Guard Checking.",
        'Redirect "file" Print nat.',
        'Lemma all : True. Proof. 1: { Redirect "file" Print nat. exact I. } Qed.',
        "Lemma all : True. Proof. - exact I. + Axiom x : False. Qed.",
        'Declare ML Module "plugin".',
        'Extraction "file" nat.',
        'Load "file".',
        'Notation "a < b" := True.',
        "From Coq Require Import Reals.",
        "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.",
        'Definition x := "(*". Axiom all : False. Definition y := "*)".',
        '(* " *) (* " *) Axiom all : False. (* *)',
        "Module Loopwright. End Loopwright.",
        "Lemma all : True. Proof. #[global] exact I. Qed.",
        "Lemma all : True. Proof. 1: Print nat. exact I. Qed.",
        "Lemma all : True. Proof. all: Admitted.",
        "Lemma all : True. Proof. - 1, 2-3: Axiom x : False. Qed.",
        "Lemma all : True. Proof. [goal]: Redirect x Print nat. Qed.",
        "Lemma all : True. Proof. !: Abort. Qed.",
        "Definition x := 1. Axiom",
        "Unset Universe Checking.",
        'Add LoadPath "." as Loopwright.',
        'Add ML Path ".".',
        "Set Typeclasses Depth 1.",
        "Ltac exact x := idtac.",
        "Coercion all (n : nat) : Prop := True.",
        "Lemma all : True. Proof. exact I. Defined.",
        "Lemma all : False. Proof. (* (*) *) *) Admitted.",
        "Lemma all : True. Proof. exact I.\u00a0Qed.\nAxiom x : False.",
        "Defini\u0442ion x := 1.",
        "Lemma all : True. Proof. -+ * {2:Fail exact I. } Qed.",
        "Time Definition x := 1.",
        "Lemma all : True. Proof. exact I. Qed. Import ListNotations.",
        "Include Type T.",
        "Parameter x : False.",
        "Hint Resolve x : core.",
    ],
)
def test_commands_are_not_run(text: str) -> None:
    assert isinstance(forbidden(f"From Loopwright Require Import Library.\n{text}\n"), Forbidden), text


def test_what_a_proof_consists_of_is_allowed(files: Files) -> None:
    assert forbidden(files.proof.read_text()) is None


def test_a_sentence_knows_its_line() -> None:
    text = 'Definition x := "a. b".\n\n(* one. (* two. *) *)\nLemma y :\n  x = x. Proof. auto. Qed.'
    assert [(line, one.split()[0]) for line, one in sentences(text)] == [
        (1, "Definition"),
        (4, "Lemma"),
        (5, "Proof"),
        (5, "auto"),
        (5, "Qed"),
    ]
