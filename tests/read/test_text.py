"""Files that do not describe loops, whatever their suffix."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.read.schedules import SUFFIXES, read_schedule
from loopwright.read.text import LARGEST
from loopwright.source import Source


def refusal(path: Path) -> BadInput:
    with pytest.raises(BadInput) as raised:
        read_schedule(path)
    assert raised.value.span is not None
    assert raised.value.span.file == str(path)
    return raised.value


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("content", "line", "column", "message"),
    [
        (b"", 1, 1, "the file is empty"),
        (b"  \n# only a comment\n", 1, 1, "the file is empty"),
        (b"# fine\n\x00\x01", 2, 1, "character 0x00 does not belong in a text file"),
        (b"\x7fELF\x02\x01", 1, 1, "character 0x7f does not belong in a text file"),
        (b"# fine\n# caf\xe9\n", 2, 6, "byte 0xe9 is not UTF-8 text"),
        (b"{" * 600, 1, 501, "brackets are nested more than 500 deep"),
        (b"{ [i] : " + b"exists a: " * 600, 1, 5009, "more than 500 times 'exists' in a row"),
        (b"{ [i] : i = " + b"2*" * 600, 1, 1014, "more than 500 times '*' in a row"),
    ],
)
def test_files_that_no_reader_understands(
    tmp_path: Path, suffix: str, content: bytes, line: int, column: int, message: str
) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    error = refusal(path)
    assert error.span is not None
    assert (error.message, error.span.line, error.span.column) == (message, line, column)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "character", ["a", "{", "1 ", '"', "\n", "(", "param n\n", "# #\n", "child:\n", "a: "]
)
def test_large_files_are_refused_in_linear_time(tmp_path: Path, suffix: str, character: str) -> None:
    """The tests would take many minutes where it is quadratic."""
    path = tmp_path / f"file{suffix}"
    path.write_text(character * (LARGEST // 16 // len(character)))
    refusal(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_larger_files_are_not_looked_at(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_text("a: " * (LARGEST // 3 + 1))
    assert refusal(path).message == f"the file is larger than {LARGEST} bytes"


def test_directories_missing_files_and_unknown_endings(tmp_path: Path) -> None:
    assert refusal(tmp_path).message == "cannot be read: Is a directory"
    assert refusal(tmp_path / "none.poly").message == "cannot be read: No such file or directory"
    unknown = refusal(tmp_path / "file.txt")
    assert unknown.message == "no reader for files that end in '.txt'"
    endings = "known endings are .cloog, .in, .poly, .scop, .st"
    assert unknown.hint == f"{endings}; 'codegen --format st' states the format of others"
    assert refusal(tmp_path / "file").message == "the file's name has no ending"


def test_a_byte_order_mark_and_other_line_ends_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "file.poly"
    path.write_bytes(b"\xef\xbb\xbfstatement S(i)\r\n  domain i = 0\r\n  schedule i\r\n")
    assert str(read_schedule(path).domain) == "{ S[i = 0] }"


def test_places_and_excerpts() -> None:
    source = Source("f", "ab\ncde\n")
    assert (source.at(0).line, source.at(0).column, source.at(0).excerpt) == (1, 1, "ab")
    assert (source.at(5, 9).line, source.at(5, 9).column, source.at(5, 9).length) == (2, 3, 1)
    assert (source.at(99).line, source.at(99).column) == (3, 1)
    assert [source.offset(1, 1), source.offset(2, 3), source.offset(9, 9)] == [0, 5, 7]
