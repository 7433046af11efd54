"""Where texts come from and where results go: standard input, closed and full outputs, devices and pipes."""

from __future__ import annotations

import importlib
import io
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from loopwright.cli import main as command_line
from tests.conftest import ROOT

POLY = "param n\nstatement S(i)\n  domain 0 <= i < n\n  schedule i\n"
LOOPS = "for (int c0 = 0; c0 < n; c0 += 1)\n  S(c0);\n"
C = (
    "void f(int n, double A[n][n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
    "    for (int j = 1; j < n; j++)\n      S: A[i][j] = A[i][j - 1];\n#pragma endscop\n}\n"
)

Fed = Callable[..., tuple[int, str, str]]

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")


@pytest.fixture
def poly(tmp_path: Path) -> str:
    path = tmp_path / "line.poly"
    path.write_text(POLY)
    return str(path)


@pytest.fixture
def c(tmp_path: Path) -> str:
    path = tmp_path / "k.c"
    path.write_text(C)
    return str(path)


def run(
    *words: str, redirect: str = "", text: str | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """The verb in a shell, which can close streams: `redirect` is what stands after the command."""
    command = ["sh", "-c", f'"$@" {redirect}', "sh", sys.executable, "-m", "loopwright", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        command, input=text, capture_output=True, text=True, env=environment, cwd=folder, timeout=120
    )


@pytest.fixture
def fed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fed:
    """The verb in this process, with a text as its standard input."""

    def run_here(*words: str, text: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        with pytest.raises(SystemExit) as ended:
            command_line.main(words)
        found = capsys.readouterr()
        return int(ended.value.code or 0), found.out, found.err

    return run_here


CLOSED = "error: standard output is closed\nmore: loopwright explain LW311\n"


@pytest.mark.parametrize("verb", [["codegen"], ["codegen", "--json"], ["codegen", "--timeout", "60"]])
def test_a_closed_standard_output_is_said(poly: str, verb: list[str]) -> None:
    done = run(*verb, poly, redirect=">&-")
    assert (done.returncode, done.stderr) == (3, f"{poly}: {CLOSED}")


@pytest.mark.parametrize("verb", ["extract", "suggest", "transform"])
def test_a_closed_standard_output_of_every_verb(c: str, verb: str) -> None:
    done = run(verb, c, redirect=">&-")
    assert done.returncode == 3 and done.stderr.endswith(CLOSED)


def test_a_failure_is_said_even_where_its_json_cannot_be(tmp_path: Path) -> None:
    done = run("suggest", "none.c", "--json", redirect=">&-", folder=tmp_path)
    assert done.returncode == 3
    assert "none.c:1:1: error: cannot be read" in done.stderr and "output is closed" in done.stderr


def test_a_closed_standard_error_changes_nothing(poly: str, c: str) -> None:
    done = run("codegen", poly, "--stats", redirect="2>&-")
    assert (done.returncode, done.stdout) == (0, LOOPS)
    assert run("codegen", f"{poly}x", redirect="2>&-").returncode == 2
    assert run("transform", c, "-e", "reverse(S, j)", redirect="2>&-").returncode == 1
    assert run("codegen", poly, redirect=">&- 2>&-").returncode == 3
    assert run("codegen", poly, redirect="<&-").stdout == LOOPS


def test_a_reader_that_went_away(poly: str, c: str) -> None:
    """As `loopwright ... | head` leaves it."""
    for words in (["codegen", poly], ["extract", c], ["--help"], ["explain"]):
        reading, writing = os.pipe()
        os.close(reading)
        command = [sys.executable, "-m", "loopwright", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, env=environment)
        os.close(writing)
        assert done.returncode == 3 and "standard output cannot be written: Broken pipe" in done.stderr
        assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@needs_full
def test_full_devices(poly: str) -> None:
    for words in (["codegen", poly], ["--help"], ["--version"], ["doctor"]):
        done = run(*words, redirect=">/dev/full")
        assert done.returncode == 3 and "No space left on device" in done.stderr
    done = run("codegen", f"{poly}x", redirect="2>/dev/full")
    assert done.returncode == 2
    before = os.stat("/dev/full")
    done = run("codegen", poly, "-o", "/dev/full")
    assert done.returncode == 2 and "/dev/full:1:1: error: cannot be written: No space left" in done.stderr
    after = os.stat("/dev/full")
    assert stat.S_ISCHR(after.st_mode) and after.st_rdev == before.st_rdev


@pytest.mark.parametrize("verb", ["codegen", "transform", "show"])
def test_a_pipe_is_written_through(tmp_path: Path, poly: str, c: str, verb: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = run(verb, poly if verb == "codegen" else c, "-o", str(pipe))
    reader.join(60)
    assert done.returncode == 0, done.stderr
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    begins = {"codegen": b"for (", "transform": b"void f", "show": b"<!doctype html>"}[verb]
    assert read[0].startswith(begins)


def test_standard_output_by_its_device(poly: str, tmp_path: Path) -> None:
    target = tmp_path / "loops.c"
    done = run("codegen", poly, "-o", "/dev/stdout", redirect=f"> {target}")
    assert done.returncode == 0 and target.read_text() == LOOPS


def test_a_file_is_replaced_as_a_whole(poly: str, tmp_path: Path) -> None:
    """Its mode stays, and a link stays a link."""
    target, link = tmp_path / "loops.c", tmp_path / "link.c"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    assert run("codegen", poly, "-o", str(link)).returncode == 0
    assert link.is_symlink() and target.read_text() == LOOPS and target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["line.poly", "link.c", "loops.c"]


def test_standard_input(c: str, fed: Fed) -> None:
    script = "interchange(S, i, j)\n"
    status, wanted, _ = fed("transform", c, "-e", script.strip())
    assert status == 0
    _, out, err = fed("transform", "-", "-e", script.strip(), text=C)
    assert out == wanted and err.startswith("<stdin>:3: region of 1 statement")
    assert fed("transform", c, "-", text=script)[1] == wanted
    assert fed("extract", "-", text=C)[1].startswith("<stdin>:3-5: 1 statement")
    assert fed("suggest", "-", text=C)[1] == fed("suggest", c)[1].replace(c, "<stdin>")
    assert "proved along its loops: <stdin> is equivalent to" in fed("prove", c, "-", text=C)[1]
    assert fed("show", "-", text=C)[1].startswith("<!doctype html>")
    assert fed("codegen", "-", "--format", "poly", text=POLY)[1] == LOOPS
    assert run("codegen", "-", "--format", "poly", "--timeout", "60", text=POLY).stdout == LOOPS


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["prove", "-", "-"], "<stdin>:1:1: error: two files cannot both be standard input"),
        (["transform", "-", "-"], "<stdin>:1:1: error: two files cannot both be standard input"),
        (["transform", "-", "--in-place"], "--in-place replaces a file"),
        (["codegen", "-"], "the format of standard input is not known\nhint: --format poly"),
        (["extract", "-"], "<stdin>:3:26: error: this does not add a constant"),
    ],
)
def test_standard_input_that_is_wrong(words: list[str], message: str, fed: Fed) -> None:
    status, _, err = fed(*words, text=C.replace("i < n; i++", "i < n; i ^= 3"))
    assert status == 2 and message in err, err


def test_a_closed_standard_input() -> None:
    done = run("extract", "-", redirect="<&-")
    assert done.returncode == 2 and "<stdin>:1:1: error: cannot be read" in done.stderr


@pytest.mark.parametrize(
    ("verb", "meant"),
    [("transfrom", "did you mean transform?"), ("chekc", "did you mean check?"), ("x", "the verbs are ")],
)
def test_a_mistyped_verb(verb: str, meant: str, fed: Fed) -> None:
    status, _, err = fed(verb, "k.c")
    assert status == 2
    assert err.startswith(f"loopwright: error: no verb is called '{verb}'\nhint: {meant}")


def test_what_the_encoding_lacks_is_written_as_escapes(c: str) -> None:
    Path(c).write_text(C.replace("S: A", "/* ± */ S: A"), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "loopwright", "transform", c, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "±" in json.loads(done.stdout)["code"]


def test_an_interrupt_while_modules_are_loaded() -> None:
    """It is no answer, and shows no traceback."""
    code = (
        "import sys; from loopwright.__main__ import main\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'loopwright.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted()); main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "loopwright: interrupted\n")


def test_an_interrupt_while_the_command_line_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no answer, and shows no traceback."""

    def interrupted(words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "parsed", interrupted)
    with pytest.raises(SystemExit) as caught:
        command_line.main(["explain", "LW101"])
    assert caught.value.code == 130
    assert capsys.readouterr().err == "loopwright: interrupted\n"


@pytest.mark.parametrize("verb", ["extract", "prove --directives"])
def test_an_interrupt_of_work_is_one_line(
    c: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    """Also in one of several files, which are asked about in processes of their own."""

    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    for name, function in (("report.program_text", "extracted"), ("read.c.reader", "load_c")):
        monkeypatch.setattr(importlib.import_module(f"loopwright.{name}"), function, interrupted)
    with pytest.raises(SystemExit) as caught:
        command_line.main([*verb.split(), c])
    assert (caught.value.code, capsys.readouterr()) == (130, ("", "loopwright: interrupted\n"))
