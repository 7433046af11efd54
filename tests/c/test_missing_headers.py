"""Headers that do not exist: each is put in as an empty one, in whatever order they are found missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.c.typed import preprocess as preprocessing
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import preprocess
from loopwright.source import Source

PLAIN = "#include <stddef.h>\nint x;\n"
MISSING = {
    "none": (PLAIN, ()),
    "one": ('#include "a.h"\nint x;\n', ("a.h",)),
    "several": (
        '#include "a.h"\n#include <b/c.h>\n#include "a.h"\n#include "./d.h"\n',
        ("a.h", "b/c.h", "./d.h"),
    ),
    "in a comment": ('#include "a.h"\n/*\n#include "b.h"\n*/\n', ("a.h",)),
    "in a branch": ('#include "a.h"\n#if 0\n#include "b.h"\n#else\n#include "c.h"\n#endif\n', ("a.h", "c.h")),
    "if it exists": (
        '#include "a.h"\n/*\n#include "b.h"\n*/\n#if __has_include("b.h")\n#error\n#endif\n',
        ("a.h",),
    ),
    "by a macro": ('#define A "a.h"\n#include A\n#define B "b.h"\n#include B\n', ("a.h", "b.h")),
    "in a header": ('#include "a.h"\n#include "own.h"\n', ("a.h", "of-own.h")),
}


@pytest.mark.parametrize("name", MISSING)
def test_headers_that_are_missing(name: str, tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text('#include "of-own.h"\n')
    text, wanted = MISSING[name]
    found = preprocess(Source(str(tmp_path / "k.c"), text), CompilerOptions())
    assert sorted(found.missing) == sorted(wanted) and not found.errors


def test_they_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rewording of a file is preprocessed: two runs each, however many headers are missing."""
    runs: list[bytes] = []
    run = preprocessing.run_compiler

    def counted(command: tuple[str, ...], data: bytes, folder: Path) -> object:
        runs.append(data)
        return run(command, data, folder)

    monkeypatch.setattr(preprocessing, "run_compiler", counted)
    headers = "".join(f'#include "h{k}.h"\n' for k in range(9))
    for k in range(4):
        source = Source(str(tmp_path / "k.c"), f"{headers}int x = {k};\n")
        assert len(preprocess(source, CompilerOptions()).missing) == 9
    assert len(runs) == 10 + 4 * 2
