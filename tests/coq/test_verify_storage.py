"""`loopwright verify` after storage has changed: the theorem is restated with the cells of the new text."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from loopwright.prove.certificates.files import read_claims
from loopwright.prove.certificates.restatement import claimed_change, stored_restatement, unlike_storage
from loopwright.prove.coq.verification import sentences
from loopwright.prove.obligations.legality import opened
from loopwright.prove.text.correspondence import claimed_loops
from loopwright.read.c.reader import load_c, read_c
from loopwright.read.text import load
from loopwright.rewrite.rereading import read_regions
from tests.coq.support import needs_coqc
from tests.coq.test_cli import run
from tests.coq.test_verify import PRIVATE, Files, made

pytestmark = pytest.mark.usefixtures("built")

TEXT = PRIVATE.replace("  double u;\n", "  double u, w[9];\n")
SCRIPT = "expand(u, i)\nparallel(S, i)"


@pytest.fixture(scope="module")
def files(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPWRIGHT_CHECKER", str(program))
        return made(tmp_path_factory.mktemp("stored"), SCRIPT, "--openmp", text=TEXT)


@needs_coqc
def test_other_storage_is_verified(files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where what it replaced is looked at later, the same proof proves too little."""
    new, proof = files.but(tmp_path)
    assert run("verify", new, proof, "--json") == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["proof"]["status"] == "checked"
    assert region["proof"]["detail"] == "except in storage that has changed and is read nowhere after"
    for file in (tmp_path / "new.c", tmp_path / "k.c"):
        file.write_text(file.read_text().replace("#pragma endscop", "#pragma endscop\n  b[0] = u;"))
    assert run("verify", new, proof) == 1
    assert "its theorem is not the one about" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "status", "message"),
    [
        ("b[i] = u_i[i] * u_i[i]", "b[i] = u_i[i] + u_i[i]", 1, "S2 is another operation"),
        ("u_i[i] = a[i]", "u_i[i] = a[i + 1]", 1, "does not do what"),
        ("double u_i[n];", "", 1, "'u_i' is not a new array of the region"),
        ("u_i", "w", 1, "'w' is not a new array of the region"),
        ("double u_i[n];", "double u_i[n]; double a[n];", 1, "'a' is declared differently"),
        ("double u_i[n];", "double u_i[n]; int m = n;", 1, "declares other variables"),
        ("double u_i[n];", "float u_i[n];", 1, "is of another kind or type"),
        ("double u_i[n];", "double u_i[n + 1];", 3, "declared differently in the text: u_i"),
        ("double u_i[n];", "double u_i[n];\n#pragma endscop\n#pragma scop\n", 1, "is not one region"),
        ("S: ", "u_i[0] = 0; S: ", 1, "S1 is another"),
        ("}\n", "}\n for (int i = 0; i < n; i++) b[i] = a[i] + 1;\n", 1, "S3 is not a copy of a cell"),
    ],
)
def test_what_is_said_of_storage_is_not_believed(
    files: Files,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    status: int,
    message: str,
) -> None:
    """The text on new cells is the original but for these: nothing else in it may differ."""
    proof = files.proof.read_text()
    changed = proof.replace(coded(old), coded(new))
    assert changed != proof
    assert run("verify", *files.but(tmp_path, proof=changed)) == status
    assert message in capsys.readouterr().err


def coded(text: str) -> str:
    """As a word of a proof file."""
    return quote(text, safe="'")


def test_new_storage_is_large_enough(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both texts say that it is smaller."""
    proof = files.proof.read_text().replace(coded("u_i[n];"), coded("u_i[n - 1];"))
    loop = "for (int i = 0; i < n; i++) {\n  S: u_i[i] = a[i];\n  T: b[i] = u_i[i] * u_i[i];\n}\n"
    before, after = TEXT.split("  for")[0], TEXT[TEXT.index("#pragma endscop") :]
    new = f"{before}double u_i[n - 1];\n#pragma omp parallel for\n{loop}{after}"
    assert run("verify", *files.but(tmp_path, new=new, proof=proof)) == 1
    assert "which is no cell of it" in capsys.readouterr().err


SCALED = """\
void f(int n, double a, double A[restrict n][n], double B[restrict n], double C[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) S: C[i] += a * A[i][j] * B[j];
#pragma endscop
}
"""


def test_products_are_restated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the theorem is made of is in the proof file as the texts say it; a buffer of sums is refused."""
    found = made(tmp_path, "interchange(S, i, j)\npack(A, S, j, scaled)", text=SCALED)
    claims = read_claims(load(found.proof))
    (original,) = read_c(tmp_path / "k.c")
    change = claimed_change(original, claims)
    assert claims.kind == "buffered" and unlike_storage(change, claims.stored) is None
    (new,) = read_regions(load_c(found.new), [change.after], [original])
    stated = stored_restatement(change, opened(claimed_loops(new, claims.calls)), claims)
    mine, theirs = definitions(found.proof.read_text()), definitions(stated.text)
    assert {one: mine[one] for one in stated.made_of} == {one: theirs[one] for one in stated.made_of}
    found.proof.write_text(found.proof.read_text().replace(coded("= a * A"), coded("= a + A")))
    assert run("verify", str(found.new), str(found.proof)) == 1
    assert "S1 is another statement" in capsys.readouterr().err


def definitions(text: str) -> dict[str, str]:
    parts = (one.split(maxsplit=2) for _, one in sentences(text) if one.startswith("Definition "))
    return {name: " ".join(term.split()) for _, name, term in parts}
