"""Help where people look: codes, doctor, completion, examples, the demo."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from loopwright.cli import demo
from loopwright.cli.main import VERBS, main, parsed, parser
from loopwright.errors import BadInput, Code

PRODUCT = """void f(int n, double A[n][n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      Mult: C[i][j] += A[i][j];
#pragma endscop
}
"""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(words)
    found = capsys.readouterr()
    return int(ended.value.code or 0), found.out, found.err


def test_all_codes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "explain")
    codes, operations = out.split("\n\n")
    assert [line.split()[0] for line in codes.splitlines()] == [code.value for code in Code]
    assert "tile            Loops over tiles" in operations


def test_an_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "explain", "LW999")
    assert status == 2 and "hint: did you mean LW" in err


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("interchnge(Mult, i, j)", "LW204"),
        ("interchange(Malt, i, j)", "LW205"),
        ("interchange(Mult, i, x)", "LW206"),
        ("interchange(Mult, i)", "LW209"),
        ("interchange(Mult, i, j", "LW210"),
        ("tile(Mult, 2, 2, 2)", "LW208"),
    ],
)
def test_mistakes_in_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, code: str
) -> None:
    (tmp_path / "k.c").write_text(PRODUCT)
    (tmp_path / "s.lw").write_text(script + "\n")
    status, _, err = run(capsys, "transform", str(tmp_path / "k.c"), str(tmp_path / "s.lw"))
    assert status == 2
    assert err.endswith(f"more: loopwright explain {code}\n"), err


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [("#pragma scop\n", "", "LW202"), ("i++", "i ^= 3", "LW211"), ("j < n", "j <", "LW211")],
)
def test_mistakes_in_c(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, code: str
) -> None:
    (tmp_path / "k.c").write_text(PRODUCT.replace(before, after))
    status, _, err = run(capsys, "transform", str(tmp_path / "k.c"))
    assert status == 2
    assert err.endswith(f"more: loopwright explain {code}\n"), err


def test_help_has_an_example_for_each_verb(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--help")
    for name in VERBS:
        assert f"loopwright {name}" in out
    for name in VERBS:
        _, own, _ = run(capsys, name, "--help")
        assert "example: " in own and f"loopwright {name}" in own.split("example: ")[1]
        assert all(len(line) <= 110 for line in own.splitlines())


def test_doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = run(capsys, "doctor")
    assert status == 0 and "ok       islpy" in out
    monkeypatch.setattr(shutil, "which", lambda name: None)
    _, out, _ = run(capsys, "doctor")
    assert "absent   gcc" in out and "apt-get install gcc" in out
    _, out, _ = run(capsys, "doctor", "--json")
    assert next(one for one in json.loads(out)["parts"] if one["name"] == "coqc")["found"] is None


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    _, out, _ = run(capsys, "completion", shell)
    assert "suggest" in out and "allow-reassociation" in out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=out, text=True, check=True)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "completion", "fish")
    (tmp_path / "kernel.c").touch()
    words = ("loopwright sugg", "loopwright transform --openm", "loopwright show kern")
    script = out + "".join(f'\ncomplete -C "{line}"' for line in words)
    done = subprocess.run(["fish"], input=script, text=True, check=True, capture_output=True, cwd=tmp_path)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["suggest", "--openmp", "kernel.c"]


def test_a_script_may_follow_options() -> None:
    assert parsed(["transform", "k.c", "--openmp", "s.lw"]).script == "s.lw"
    with pytest.raises(BadInput, match="unexpected argument"):
        parsed(["transform", "k.c", "s.lw", "--openmp", "t.lw"])
    with pytest.raises(BadInput, match="no option is called --opnmp") as caught:
        parsed(["transform", "k.c", "--opnmp"])
    assert caught.value.diagnostic.hint == "did you mean --openmp?"
    assert parser().prog == "loopwright"


def test_files_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of a similar name may be meant; a header that is missing may define names as macros."""
    (tmp_path / "kernel.c").write_text('#include "sizes.h"\n' + PRODUCT)
    status, _, err = run(capsys, "transform", str(tmp_path / "kernal.c"))
    assert status == 2 and f"hint: did you mean {tmp_path / 'kernel.c'}?" in err
    status, _, err = run(capsys, "transform", str(tmp_path / "kernel.c"), "-o", str(tmp_path / "no" / "k.c"))
    assert status == 2 and f"hint: there is no folder {tmp_path / 'no'}: make it first" in err
    status, _, err = run(capsys, "transform", str(tmp_path / "kernel.c"))
    assert status == 0 and "taken on trust: 'sizes.h' was not found (-I says where)" in err


def test_two_programs_are_for_another_option() -> None:
    with pytest.raises(BadInput) as caught:
        parsed(["check", "old.c", "-D", "N=5", "new.c"])
    assert caught.value.diagnostic.hint is not None
    assert caught.value.diagnostic.hint.startswith("loopwright check new.c --spec old.c ")


def test_the_demo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a compiler: it says so, and does the rest; with one it is run from the wheel."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    status, out, err = run(capsys, "demo", "--keep", str(tmp_path / "d"))
    assert status == 0, err
    assert out.count("not timed: there is no gcc") == len(demo.ACTS)
    assert "a value is read before it is written" in out and "is marked parallel" in out
    assert out.count("proved: every dependence is preserved") == len(demo.ACTS)
    assert (tmp_path / "d" / "matmul-new.c").read_text().count("Mult:") == 1


def test_two_columns() -> None:
    text = demo.side_by_side("a\nbb\n", "\n".join(map(str, range(30))), 80)
    assert text.splitlines()[2] == "a  | 0"
    assert text.endswith("| ... and 8 more lines\n")


def test_a_marked_loop_without_openmp_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The text does not show that the loop is parallel, so the report says how it could."""
    (tmp_path / "k.c").write_text(PRODUCT)
    (tmp_path / "s.lw").write_text("parallel(Mult, i)\n")
    words = ("transform", str(tmp_path / "k.c"), str(tmp_path / "s.lw"))
    _, out, err = run(capsys, *words)
    assert "#pragma omp" not in out and "note: independent iterations of the loop over i are proved" in err
    _, out, err = run(capsys, *words, "--openmp")
    assert "#pragma omp parallel for" in out and "note:" not in err


def test_lines_of_a_script_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.c").write_text(PRODUCT)
    kernel = str(tmp_path / "k.c")
    lines = ("-e", "interchange(Mult, i, j)", "-e", "tile(Mult, j=8)")
    status, out, _ = run(capsys, "transform", kernel, *lines)
    assert status == 0 and out.index("for (int jT") < out.index("for (int j ") < out.index("for (int i ")
    status, _, err = run(capsys, "transform", kernel, "-e", "tile(Mult, i=8)", "-e", "interchange(Mult, i)")
    assert status == 2 and "<-e>:2:1: error" in err and "interchange(Mult, i)" in err
    status, _, err = run(capsys, "transform", kernel, "distribute()")
    assert status == 2 and "-e 'distribute()' gives a line of a script" in err
    status, _, err = run(capsys, "transform", kernel, "-e", "distribute()", "s.lw")
    assert status == 2 and "a script file and -e exclude each other" in err


def test_an_operation_on_everything_is_done_in_every_region(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "  for (int i = 0; i < n; i++) { a[i] = i; b[i] = a[i]; }"
    region = f"#pragma scop\n{body}\n#pragma endscop\n"
    (tmp_path / "k.c").write_text(f"void f(int n, int *a, int *b) {{\n{region}{region}}}\n")
    status, out, _ = run(capsys, "transform", str(tmp_path / "k.c"), "-e", "distribute()", "--step")
    assert status == 0 and out.count("for (") == 4
