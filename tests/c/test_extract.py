"""`loopwright extract`: for people, for machines, and as OpenScop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import islpy as isl
import pytest

from loopwright.cli.main import main
from loopwright.emit.openscop import to_openscop
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.report.program_text import extracted
from tests.c.support import KERNELS, region, wrapped
from tests.conftest import ROOT

SMALL = wrapped("Fill: for (i = 0; i < n; i++)\n  a[i] = b[i + 1] * SCALE(x);", head="")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.c"
    file.write_text(SMALL)
    return file


def verb(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["extract", *arguments])
    return int(ended.value.code or 0)


def test_the_model_readably(small: Path) -> None:
    expected = f"""\
{small}:4-5: 1 statement

parameters  n
context     (anything)
array       double a[]
array       double b[]
array       x
tag         Fill: S1, 0 loops deep

S1[i]  line 5
  a[i] = b[i + 1] * SCALE(x);
  domain    0 <= i < n
  schedule  [0, i, 0]
  reads     b[1 + i], x
  writes    a[i]

dependences
  none

taken on trust
  a, b, x: not aliased by anything else in the region
  bounds and subscripts do not overflow or wrap around
  'SCALE' has no side effects, and its value depends on its arguments alone (line 5)
"""
    assert extracted(small, "text") == expected


def test_the_model_for_machines(small: Path) -> None:
    data = json.loads(extracted(small, "json", ReadOptions(assume=("n >= 2",))))
    (found,) = data["regions"]
    assert found["line"] == 4 and found["context"] == "[n] -> {  : n >= 2 }"
    (statement,) = found["statements"]
    assert statement["text"] == "a[i] = b[i + 1] * SCALE(x);"
    assert statement["place"]["line"] == 5 and statement["place"]["column"] == 3
    assert isl.Set(statement["domain"]).is_equal(isl.Set("[n] -> { S1[i] : 0 <= i < n }"))
    assert [(access["array"], access["kind"]) for access in statement["accesses"]] == [
        ("b", "read"),
        ("x", "read"),
        ("a", "write"),
    ]
    assert found["tags"] == [{"name": "Fill", "statements": ["S1"], "depth": 0}]


def test_dependences_for_machines() -> None:
    data = json.loads(extracted(KERNELS / "durbin.c", "json"))
    kinds = {entry["kind"] for entry in data["regions"][0]["dependences"]}
    assert kinds == {"flow", "anti", "output"}


def test_the_same_bytes_whatever_the_hash_seed() -> None:
    command = [sys.executable, "-m", "loopwright", "extract", str(KERNELS / "deriche.c")]
    outputs = {
        subprocess.run(
            command,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "src")},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


def test_the_exit_status_and_the_diagnostic(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb([str(small)]) == 0
    assert capsys.readouterr().out.startswith(f"{small}:4-5")
    small.write_text(SMALL.replace("SCALE", "scale"))
    assert verb([str(small)]) == 0
    why = "left as it is\n  'scale' is not known to be free of side effects (line 5)\n"
    assert why in capsys.readouterr().out
    assert verb([str(small), "--pure", "scale"]) == 0
    assert "left as it is" not in capsys.readouterr().out
    small.write_text(SMALL.replace("SCALE(x)", "(int[]){x}[0]"))
    assert verb([str(small)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"{small}:5:21: error: this expression cannot be read")
    assert "      a[i] = b[i + 1] * (int[]){x}[0];\n" in captured.err
    assert "^~~~~~~~~~\nhint: accepted: arithmetic" in captured.err
    assert verb([str(small), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["diagnostics"][0]["line"] == 5


def test_the_exit_status_of_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert verb(["absent.c"]) == 2
    assert "absent.c" in capsys.readouterr().err


class Scop:
    """A reader of OpenScop's relations, as its description says they are written."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines()]
        self.lines = [line for line in lines if line and not line.startswith("#")]

    def relations(self) -> list[tuple[str, isl.Map]]:
        kinds = ("CONTEXT", "DOMAIN", "SCATTERING", "READ", "WRITE", "MAY_WRITE")
        found = []
        position = 0
        while position < len(self.lines):
            line = self.lines[position]
            position += 1
            if line not in kinds:
                continue
            parts = 1
            if len(self.lines[position].split()) == 1:
                parts = int(self.lines[position])
                position += 1
            union: isl.Map | None = None
            for _ in range(parts):
                header = [int(word) for word in self.lines[position].split()]
                rows = [
                    [int(word) for word in row.split()]
                    for row in self.lines[position + 1 : position + 1 + header[0]]
                ]
                position += 1 + header[0]
                piece = self.piece(header, rows)
                union = piece if union is None else union.union(piece)
            assert union is not None
            found.append((line, union))
        return found

    def piece(self, header: list[int], rows: list[list[int]]) -> isl.Map:
        count, columns, outs, ins, locals_, params = header
        assert len(rows) == count and all(len(row) == columns for row in rows)
        names = [f"o{k}" for k in range(outs)] + [f"i{k}" for k in range(ins)]
        names += [f"l{k}" for k in range(locals_)] + [f"p{k}" for k in range(params)]
        texts = []
        for row in rows:
            terms = [f"{entry} * {name}" for entry, name in zip(row[1:-1], names, strict=True)]
            texts.append(" + ".join([*terms, str(row[-1])]) + (" = 0" if row[0] == 0 else " >= 0"))
        condition = " and ".join(texts) or "true"
        some = f"exists {', '.join(names[outs + ins : outs + ins + locals_])} : " if locals_ else ""
        return isl.Map(
            f"[{', '.join(names[outs + ins + locals_ :])}] -> {{ [{', '.join(names[outs : outs + ins])}] -> "
            f"[{', '.join(names[:outs])}] : {some}{condition} }}"
        )


def plain(relation: isl.Map) -> isl.Map:
    """Without the names, as the matrices are."""
    for position in range(relation.dim(isl.dim_type.param)):
        relation = relation.set_dim_name(isl.dim_type.param, position, f"p{position}")
    for kind in (isl.dim_type.in_, isl.dim_type.out):
        relation = relation.set_tuple_name(kind, "").reset_tuple_id(kind)
    return relation


@pytest.mark.parametrize("name", sorted(path.stem for path in KERNELS.glob("*.c")))
def test_openscop_says_the_same(name: str) -> None:
    (program,) = read_c(KERNELS / f"{name}.c")
    relations = Scop(to_openscop(program)).relations()
    kind, _ = relations.pop(0)
    assert kind == "CONTEXT"
    for statement in program.statements:
        kind, domain = relations.pop(0)
        assert kind == "DOMAIN"
        assert domain.is_equal(plain(isl.Map.from_range(statement.domain)))
        kind, scattering = relations.pop(0)
        assert kind == "SCATTERING" and scattering.is_equal(plain(statement.schedule))
        for access in statement.accesses:
            kind, relation = relations.pop(0)
            assert kind == ("WRITE" if access.is_write else "READ")
            relation = relation.project_out(isl.dim_type.out, 0, 1)
            restricted = relation.intersect_domain(domain.range())
            assert restricted.is_equal(plain(access.relation))
    assert relations == []


def test_openscop_of_strides_unions_and_cautious_writes() -> None:
    program = region(
        "for (i = 1; i < n; i += 3) { if (i % 2 || i > m) a[i / 2] = 0; b[i * i] = 1; }", assume=["n >= 4"]
    )
    relations = Scop(to_openscop(program)).relations()
    kinds = [kind for kind, _ in relations]
    assert kinds == ["CONTEXT", "DOMAIN", "SCATTERING", "WRITE", "DOMAIN", "SCATTERING", "MAY_WRITE"]
    context = isl.Map.from_range(isl.Set.from_params(program.context))
    assert relations[0][1].is_equal(plain(context))
    assert relations[1][1].is_equal(plain(isl.Map.from_range(program.statements[0].domain)))
    assert relations[4][1].is_equal(plain(isl.Map.from_range(program.statements[1].domain)))
