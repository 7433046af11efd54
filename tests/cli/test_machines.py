"""For machines: what --json prints has a schema, --sarif is SARIF, and --git compares with a revision."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from loopwright.cli.main import main
from loopwright.cli.schema import schema_text
from loopwright.errors import BadInput, Code
from loopwright.report.diagnostics import sarif_log
from loopwright.source import Span
from tests.conftest import ROOT

SUMS, HEAT = "docs/tutorial/sums.c", "docs/tutorial/heat.c"

COMMANDS = (
    "codegen examples/rectangle.poly",
    "codegen nothing.poly",
    f"transform {SUMS} docs/tutorial/sums.lw --step",
    f"transform {SUMS} docs/tutorial/wrong.lw",
    "transform docs/tutorial/directives.c --apply-directives",
    f"prove {SUMS} {SUMS}",
    f"prove {SUMS} {HEAT}",
    "prove docs/tutorial/directives.c",
    "prove docs/tutorial/directives-wrong.c",
    f"prove {SUMS} --git there-is-no-such",
    f"prove --directives {SUMS} docs/tutorial/directives-wrong.c",
    f"verify {SUMS} nothing.v --old {SUMS}",
    f"check {SUMS} --spec {SUMS} -D N=5",
    "check nothing.c --spec nothing.c",
    f"suggest {SUMS}",
    "suggest nothing.c",
    "optimise nothing.c",
    "bench nothing",
    f"extract {HEAT}",
    "extract nothing.c",
    f"find {SUMS}",
    "find nothing.c",
    "doctor",
    f"show {SUMS} nothing.lw",
)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(words)
    found = capsys.readouterr()
    return int(ended.value.code or 0), found.out, found.err


def schema(verb: str) -> Any:
    return json.loads(schema_text(verb))


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_printed_fits_its_schema(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    words = command.split()
    _, out, _ = run(capsys, *words, "--json")
    jsonschema.validate(json.loads(out), schema(words[0]))


def test_every_verb_with_json_has_a_schema(capsys: pytest.CaptureFixture[str]) -> None:
    names = schema_text(None).split()
    texts = {path.stem: path.read_text() for path in (ROOT / "src/loopwright/cli").glob("*.py")}
    assert names == sorted(name for name, text in texts.items() if '"--json", ' in text)
    assert {command.split()[0] for command in COMMANDS} == set(names)
    for name in names:
        jsonschema.Draft202012Validator.check_schema(schema(name))
    status, out, _ = run(capsys, "schema", "prove")
    assert status == 0 and json.loads(out) == schema("prove")
    assert run(capsys, "schema", "demo")[0] == 2


def test_a_schema_refuses_what_is_not_said() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"file": "a.c", "verdict": "perhaps", "diagnostics": []}, schema("prove"))


def _sarif(path: Path) -> dict[str, Any]:
    """The members that SARIF 2.1.0 requires of a log (3.13, 3.14, 3.19, 3.27), and one run."""
    log = json.loads(path.read_text())
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-schema-2.1.0.json")
    (only,) = log["runs"]
    driver = only["tool"]["driver"]
    assert driver["name"] == "loopwright"
    for one in only["results"]:
        assert one["message"]["text"]
        assert driver["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
        assert one["level"] in ("error", "warning", "note")
        for place in (*one["locations"], *one["relatedLocations"]):
            physical = place["physicalLocation"]
            assert not physical["artifactLocation"]["uri"].startswith("/")
            if "region" in physical:
                region = physical["region"]
                assert region["startLine"] >= 1 and region["endColumn"] > region["startColumn"] >= 1
    found: dict[str, Any] = only
    return found


def test_sarif_has_both_places_of_a_witness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    log = tmp_path / "log.sarif"
    assert run(capsys, "prove", "docs/tutorial/directives-wrong.c", "--sarif", str(log))[0] == 1
    (result,) = _sarif(log)["results"]
    assert result["ruleId"] == "LW101"
    assert [place["physicalLocation"]["region"]["startLine"] for place in result["locations"]] == [3]
    related = [place["physicalLocation"]["region"] for place in result["relatedLocations"]]
    assert [(place["startLine"], place["startColumn"]) for place in related] == [(6, 7), (6, 28)]
    assert run(capsys, "prove", "docs/tutorial/directives.c", "--sarif", str(log))[0] == 0
    assert _sarif(log)["results"] == []


@pytest.mark.parametrize(("name", "status"), [("directives-wrong.c", 1), ("directives.c", 2)])
def test_a_log_replaces_no_input(
    name: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer is given all the same; a yes without its log is none."""
    file = tmp_path / name
    text = Path("docs/tutorial", name).read_text()
    file.write_text(text)
    found, _, err = run(capsys, "prove", str(file), "--sarif", str(file))
    assert found == status and file.read_text() == text
    assert err.count("this is no SARIF log, and is not replaced") == 1


LOOPS = """#include "k.h"
void f(int n, double A[n][n], double B[n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = B[i] + TWO;
}
int g(int x) { return x; }
"""

SWAPPED = LOOPS.replace("(int i = 0; i", "(int q = 0; q").replace("(int j = 0; j", "(int i = 0; i")
SWAPPED = SWAPPED.replace("(int q = 0; q", "(int j = 0; j").replace("j < n; i++", "j < n; j++")
SWAPPED = SWAPPED.replace("i < n; j++)\n      A", "i < n; i++)\n      A")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five files as they were, then some of them changed."""
    folder = tmp_path / "a b"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("swapped.c", "wrong.c", "same.c", "other.c"):
        Path(name).write_text(LOOPS)
    Path("k.h").write_text("#define TWO 2\n")
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "before"],
    ):
        subprocess.run(["git", *words], check=True)
    Path("swapped.c").write_text(SWAPPED)
    Path("wrong.c").write_text(SWAPPED.replace("i < n", "i < n - 1"))
    Path("other.c").write_text(LOOPS.replace("return x", "return -x"))
    Path("new.c").write_text(LOOPS)
    return folder


def test_files_beside_a_revision(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["swapped.c", "wrong.c", "same.c", "other.c", "new.c"]
    status, out, _ = run(capsys, "prove", "--git", "HEAD", *names, "--json", "--sarif", "log.sarif")
    data = json.loads(out)
    jsonschema.validate(data, schema("prove"))
    verdicts = {one["file"]: one["verdict"] for one in data["files"]}
    wanted = ["proved", "wrong", "unchanged", "no loop changed", "new"]
    assert verdicts == dict(zip(names, wanted, strict=True))
    assert status == 1 and data["verdict"] == "wrong"
    (result,) = _sarif(Path("log.sarif"))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "wrong.c"
    assert "HEAD:wrong.c" in result["message"]["text"]


def test_a_header_of_another_text_is_no_yes(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.h").write_text("#define TWO 3\n")
    status, out, err = run(capsys, "prove", "--git", "HEAD", "swapped.c", "same.c")
    assert status == 3 and out.endswith("2 files compared with HEAD: 2 gave up\n")
    assert "the macro 'TWO' is not the same in both" in err
    Path("k.h").write_text("#define TWO 2\nextern int other;\n")
    status, out, err = run(capsys, "prove", "--git", "HEAD", "swapped.c", "same.c")
    assert status == 3 and "the header 'k.h' does not say the same in both" in err


def test_a_file_that_is_renamed_is_not_new(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "mv", "same.c", "was same.c"], check=True)
    Path("was same.c").write_text(LOOPS.replace("i < n", "i < n - 1"))
    status, out, err = run(capsys, "prove", "--git", "HEAD", "was same.c", "new.c")
    assert status == 1 and out.startswith("was same.c: wrong: ") and "\nnew.c: new\n" in out
    assert "HEAD:same.c" in err


PLAIN = LOOPS.replace('#include "k.h"\n', "").replace("TWO", "2")
CALLS = """static double g(double x) { return x; }
static double h(double x) { return g(x); }
void f(int n, double A[n]) { for (int i = 0; i < n; i++) A[i] = h(A[i]); }
"""
NOTED = "void f(int n, double A[n]) { for (int i = 0; i < n; i++) { // clear\n A[i] = 0; } }\n"
UNDER_IF = f"#ifdef X\n{PLAIN}#else\n{PLAIN}#endif\n"


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)


def test_no_setting_of_git_hides_a_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attributes of archives, links, limits of renames, variables of hooks, functions that loops call."""
    wrong = PLAIN.replace("i < n", "i < n - 1")
    texts = {
        **dict.fromkeys(("sub/kept.c", "sub/ignored.c", "sub/first.c", "sub/linked.in"), PLAIN),
        "sub/second.c": wrong,
        "sub/called.c": CALLS,
        "sub/noted.c": NOTED,
        "sub/under.c": UNDER_IF,
        **{f"sub/old{k}.c": PLAIN.replace("2", str(k)) for k in range(3, 8)},
        ".gitattributes": "ignored.c export-ignore\nkept.c export-subst\n",
    }
    (tmp_path / "sub/own").mkdir(parents=True)
    _git(tmp_path, "init", "-q")
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "sub/kept.c").write_text(PLAIN + "/* $Format:%H$ */\n")
    for name, where in {"link.c": "first.c", "other.c": "linked.in", "x.h": "/usr/include/math.h"}.items():
        (tmp_path / "sub" / name).symlink_to(where)
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "before")
    _git(tmp_path, "config", "diff.renameLimit", "1")
    _git(tmp_path / "sub/own", "init", "-q")
    sub = tmp_path / "sub"
    for k in range(3, 8):
        _git(sub, "mv", f"old{k}.c", f"new{k}.c")
        (sub / f"new{k}.c").write_text(wrong.replace("2", str(k)))
    for name in ("ignored.c", "own/one.c"):
        (sub / name).write_text(wrong)
    (sub / "called.c").write_text(CALLS.replace("return x", "return -x"))
    (sub / "noted.c").write_text(NOTED.replace("// clear\n A[i] = 0; }", "// clear A[i] = 0;\n }"))
    (sub / "under.c").write_text(UNDER_IF.replace("i < n", "i < n - 1", 1))
    (sub / "link.c").unlink()
    (sub / "link.c").symlink_to("second.c")
    monkeypatch.chdir(sub)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    names = ["kept.c", "ignored.c", "link.c", "other.c", "new5.c", "called.c", "noted.c", "under.c"]
    names.append("own/one.c")
    status, out, _ = run(capsys, "prove", "--git", "HEAD", *names, "--json")
    verdicts = [one["verdict"] for one in json.loads(out)["files"]]
    wanted = ["unchanged", "wrong", "wrong", "gave up", "wrong", "gave up", "wrong", "bad input", "bad input"]
    assert status == 1 and dict(zip(names, verdicts, strict=True)) == dict(zip(names, wanted, strict=True))


def test_revisions_that_are_not_there(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--git", "nothing", "same.c"], ["--git", "--output=x", "same.c"], ["--git", "HEAD", "-"]):
        assert run(capsys, "prove", *words)[0] == 2
    assert not Path("x").exists()


def test_bytes_that_are_no_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a name, in a comment of a region, in an option."""
    monkeypatch.chdir(tmp_path)
    loop = b"  for (int i = 0; i < n; i++)\n    x[i] += 1 /* \xe9 */;\n"
    Path("old.c").write_bytes(b"void f(int n, double *x) {\n#pragma scop\n" + loop + b"#pragma endscop\n}\n")
    Path("s.lw").write_text("strip_mine(@3, i, 4)\n")
    place = Span.start_of(os.fsdecode(b"\xff.c"))
    log = sarif_log([BadInput(Code.FILE, "no", span=place).diagnostic], "", "")
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%FF.c"
    assert run(capsys, "transform", "old.c", "s.lw", "-o", "new.c")[0] == 0
    assert run(capsys, "extract", "old.c", "--assume", "n > \udc80")[0] == 2


def test_before_the_first_commit_every_file_is_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q", "."], check=True)
    (tmp_path / "one.c").write_text(LOOPS)
    status, out, _ = run(capsys, "prove", "--git", "HEAD", "one.c")
    assert status == 0 and out.startswith("one.c: new")
    assert run(capsys, "prove", "--git", "main~1", "one.c")[0] == 2


FIRST = "void f(int n, double *a) {{\n  for (int i = 0; i < n; i++)\n    {};\n}}\n"
SECOND = "void g(int n, double *a) {{\n  for ({})\n    a[i - 1] = a[i];\n}}\n"
UP, DOWN = "int i = 1; i < n; i++", "int i = n - 1; i >= 1; i--"


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [("a[i] *= 2", UP, 0), ("h(a)", DOWN, 1), ("a[i] *= 2", DOWN, 1), ("h(a)", UP.replace("i++", "++i"), 3)],
)
def test_each_function_has_an_answer(
    first: str, second: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that cannot be decided does not hide one that is wrong."""
    head = "void h(double *);\n"
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text(head + FIRST.format("a[i] = a[i] * 2") + SECOND.format(UP))
    new.write_text(head + FIRST.format(first) + SECOND.format(second))
    assert run(capsys, "prove", str(old), str(new))[0] == status
