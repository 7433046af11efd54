"""Numbers that no machine holds: on the command line, in files and in scripts, none ends in a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopwright as lw
from loopwright.cli.main import main
from loopwright.errors import BadInput, Code
from tests.conftest import ROOT

NUMBERS = {"2^63": str(2**63), "20 digits": "9" * 20, "5000 digits": "9" * 5000, "negative": "-" + "9" * 5000}

C = (
    "void f(int n, double *x) {{\n#pragma scop\n"
    "  for (int i = 0; i < {}; i++) S: x[i{}] = {};\n#pragma endscop\n}}\n"
)

FILES = {
    "domain.poly": "param n\nstatement S(i)\n  domain 0 <= i < {}\n  schedule i\n",
    "schedule.poly": "param n\nstatement S(i)\n  domain 0 <= i < n\n  schedule {}*i\n",
    "unroll.poly": "param n\nstatement S(i)\n  domain 0 <= i < n\n  schedule i\noption unroll {}\n",
    "flat.in": "[n] -> {{ S[i] -> [i] : 0 <= i < {} }}\n{{ : }}\n{{}}\n",
    "stride.in": "[n] -> {{ S[i] -> [i * {}] : 0 <= i < n }}\n{{ : }}\n{{}}\n",
    "tree.st": 'domain: "{{ S[i] : 0 <= i < {} }}"\nchild:\n  schedule: "[{{ S[i] -> [(i)] }}]"\n',
    "matrix.cloog": "c\n\n1 3\n1 1 {}\n1\nn\n1\n1\n2 4\n1 1 0 0\n1 -1 1 -1\n0 0 0\n0\n\n0\n",
    "size.cloog": "c\n\n{} 3\n1 1 0\n1\nn\n1\n1\n2 4\n1 1 0 0\n1 -1 1 -1\n0 0 0\n0\n\n0\n",
    "bound.c": C.format("{}", "", "0"),
    "subscript.c": C.format("n", " + {}", "0"),
    "value.c": C.format("n", "", "{}"),
}


def status(capfd: pytest.CaptureFixture[str], *words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    err = capfd.readouterr().err
    assert "Traceback" not in err and "internal error" not in err
    assert len(err) < 3000, "the number is not shown at length"
    return int(ended.value.code or 0)


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("name", FILES)
def test_in_files(tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, number: str) -> None:
    """An answer where it fits, bad input where it does not."""
    (tmp_path / name).write_text(FILES[name].replace("{{", "{").replace("}}", "}").replace("{}", number, 1))
    verb = "transform" if name.endswith(".c") else "codegen"
    found = status(capfd, verb, str(tmp_path / name))
    assert found in (0, 2)
    if len(number) == 5000:
        assert found == 2


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(2**63 - 3, 2**63 - 1, 2), (2**63 - 3, 2**63 - 2, 0), (-(2**63), 2 - 2**63, 0)],
)
def test_a_loop_to_the_last_number(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], first: int, last: int, expected: int
) -> None:
    """The value after the last one, which ends the loop, has to fit as well."""
    (tmp_path / "last.in").write_text(f"{{ S[i] -> [i] : {first} <= i <= {last} }}\n{{ : }}\n{{}}\n")
    assert status(capfd, "codegen", str(tmp_path / "last.in")) == expected


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize(
    "line",
    ["tile(S, {})", "shift(S, i, {})", "tile(@{}, 4)", "affine(S, {[i] -> [i + {}]})", "unroll(S, i, {})"],
)
def test_in_scripts(tmp_path: Path, capfd: pytest.CaptureFixture[str], line: str, number: str) -> None:
    (tmp_path / "k.c").write_text(C.format("n", "", "0"))
    assert status(capfd, "transform", str(tmp_path / "k.c"), "-e", line.replace("{}", number)) == 2


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize(
    "words",
    [
        ["codegen", "F.poly", "--max-statements={}"],
        ["codegen", "F.poly", "--max-unroll={}"],
        ["codegen", "F.poly", "--separate-depth={}"],
        ["codegen", "F.poly", "--separate-from={}"],
        ["codegen", "F.poly", "--timeout={}"],
        ["bench", "--rounds={}"],
        ["check", "F.c", "-DN={}"],
        ["optimise", "F.c", "--model", "--size=n={}"],
        ["transform", "F.c", "--assume=n < {}"],
    ],
)
def test_in_options(tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str], number: str) -> None:
    (tmp_path / "F.c").write_text(C.format("n", "", "0"))
    (tmp_path / "F.poly").write_text(FILES["domain.poly"].replace("{}", "n"))
    filled = [word.replace("{}", number).replace("F.", str(tmp_path / "F.")) for word in words]
    assert status(capfd, *filled) == 2


@pytest.mark.parametrize("text", ["1_000", " 5", "٣", "1.0", "0x10", ""])
def test_an_integer_is_digits(capfd: pytest.CaptureFixture[str], text: str) -> None:
    poly = str(ROOT / "examples" / "triangle_tiles.poly")
    with pytest.raises(SystemExit) as ended:
        main(["codegen", poly, f"--max-statements={text}"])
    assert ended.value.code == 2
    assert f"'{text}' must be an integer >= 1" in capfd.readouterr().err


@pytest.mark.parametrize("number", ["0", "-5", "1e3", "n"])
def test_sizes_to_optimise_for(tmp_path: Path, capfd: pytest.CaptureFixture[str], number: str) -> None:
    (tmp_path / "f.c").write_text(C.format("n", "", "0"))
    assert status(capfd, "optimise", str(tmp_path / "f.c"), "--model", "--size", f"n={number}") == 2


def test_a_size_that_the_program_does_not_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It was taken and had no effect: the model answered for another size than was meant."""
    (tmp_path / "f.c").write_text(C.format("n", "", "0"))
    with pytest.raises(SystemExit) as ended:
        main(["optimise", str(tmp_path / "f.c"), "--model", "--size", "rows=3"])
    assert ended.value.code == 2
    assert "'rows' is given a value, but does not occur in the program" in capfd.readouterr().err
    with pytest.raises(BadInput) as caught:
        lw.optimise(tmp_path / "f.c", model=True, rows=3)
    assert caught.value.diagnostic.code is Code.OPTION
