"""`loopwright bench` on kernels of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from loopwright.cli.main import main
from loopwright.run import benchmark

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

KERNELS = Path(__file__).parents[2] / "kernels"


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["bench", *words])
    return int(ended.value.code or 0)


def kernel(folder: Path, script: str) -> str:
    """A small copy of a shipped kernel, with another script beside it."""
    text = (KERNELS / "mvt.c").read_text()
    (folder / "mvt.c").write_text(text.replace("#define N 4000", "#define N 60"))
    (folder / "mvt.lw").write_text(script)
    return str(folder / "mvt.c")


def test_a_table_with_the_mean_and_a_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    plot = tmp_path / "plot.svg"
    path = kernel(tmp_path, "interchange(Second, i, j)\n")
    assert run(path, "--rounds", "2", "--plot", str(plot)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["kernel", "original", "transformed", "ratio", "bits"]
    assert lines[1].startswith("mvt ") and "the same" in lines[1]
    assert lines[2].startswith("geometric mean")
    assert "geometric mean" in plot.read_text() or plot.stat().st_size > 1000


def test_without_matplotlib_the_plot_is_skipped_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "can_draw", lambda: False)
    plot = tmp_path / "plot.png"
    assert run(kernel(tmp_path, "# as it is\n"), "--rounds", "1", "--plot", str(plot)) == 0
    assert "no plot: matplotlib is not installed" in capsys.readouterr().err
    assert not plot.exists()


def test_json_and_kept_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = kernel(tmp_path, "interchange(Second, i, j)\n")
    kept = tmp_path / "kept"
    assert run(path, "--rounds", "3", "--json", "--no-plot", "--keep", str(kept), "-D", "N=50") == 0
    data = json.loads(capsys.readouterr().out)
    (one,) = data["kernels"]
    assert data["verdict"] == "done" and one["name"] == "mvt" and one["same_bits"] is True
    assert len(one["original"]) == len(one["transformed"]) == 3
    assert "#pragma scop" in (kept / "mvt.c").read_text()


def test_an_illegal_script_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(kernel(tmp_path, "reverse(First, j)\n"), "--no-plot") == 1
    assert capsys.readouterr().out.count("\n") == 1


def test_different_bits_are_an_answer_of_no(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the proof only the comparison is left to find it."""
    path = kernel(tmp_path, "reverse(First, j)\n")
    assert run(path, "--no-prove", "--rounds", "1", "--no-plot") == 1
    captured = capsys.readouterr()
    assert "DIFFERENT: byte" in captured.out and "the results differ: mvt" in captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mvtt"], "did you mean mvt?"),
        (["no/such.c"], "there is no file no/such.c"),
        (["mvt", "--compiler", "no-such-compiler"], "there is no no-such-compiler"),
    ],
)
def test_what_cannot_be_done_is_reported(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) in (2, 3)
    captured = capsys.readouterr()
    assert message in captured.err and captured.out.count("\n") <= 1


def test_a_kernel_without_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = kernel(tmp_path, "")
    (tmp_path / "mvt.lw").unlink()
    assert run(path) == 2
    assert "has no script beside it" in capsys.readouterr().err


def test_results_are_never_kept_over_the_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = kernel(tmp_path, "")
    before = Path(path).read_bytes()
    assert run(path, "--keep", str(tmp_path)) == 2
    assert Path(path).read_bytes() == before
    assert "is the kernel itself" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0", "-1", "many"])
def test_rounds_are_a_positive_number(text: str) -> None:
    assert run("mvt", "--rounds", text) == 2
