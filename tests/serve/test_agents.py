"""`loopwright mcp`, asked by the SDK's own client: answers, witnesses, and what it never reads or runs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from pydantic_core import from_json

from loopwright.cli.schema import schema_text
from loopwright.errors import BadInput
from loopwright.serve.agents import opened_files, request_stream, server
from loopwright.serve.workers import with_variable
from tests.serve.support import run_in_thread

LOOP = "for (int i = 1; i < n; i++) A[i] = A[i-1] + K;"
HEAD = '#include <math.h>\n#include "k.h"\n'
C = f"{HEAD}void f(int n, double *A) {{\n#pragma scop\n  {LOOP}\n#pragma endscop\n}}\n"
WRONG = C.replace("i = 1", "i = 2")
DIRECTIVE = f"void f(int n, double *A, double K) {{\n#pragma omp reverse\n  {LOOP}\n}}\n"
PROGRAM = f"double A[N];\nint main(void) {{\n#pragma scop\n  {LOOP}\n#pragma endscop\n  return 0;\n}}\n"
PROGRAM = PROGRAM.replace("i < n", "i < N").replace("K", "2")

Call = tuple[str, dict[str, Any]]


def ask(calls: list[Call], opened: dict[str, str], *, allow_run: bool = False) -> tuple[list[str], list[Any]]:
    """The names of the tools, and the answers to calls, by one client of one server."""

    async def session() -> tuple[list[str], list[Any]]:
        async with Client(server(opened, version="0", allow_run=allow_run)) as client:
            tools = [one.name for one in (await client.list_tools()).tools]
            answers = [(await client.call_tool(name, given)).structured_content for name, given in calls]
            return tools, answers

    return run_in_thread(session())


@pytest.fixture
def header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.chdir(tmp_path)
    Path("k.h").write_text("#define K 2\n")
    return opened_files(["k.h"])


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (b'"a\\ud800b"', "a?b"),
        (b'"\\udc00\\ud83d\\ude00"', "?\U0001f600"),
        (b'"\\\\ud800"', "\\ud800"),
        ('"\u00b1\t"'.encode(), "\u00b1\t"),
        (b"NaN, ", None),
    ],
)
def test_half_of_a_pair_is_replaced_in_a_request(sent: bytes, text: str | None) -> None:
    """What is JSON in all other ways is answered; what is no JSON at all is passed on as it is."""
    line = b'{"id": 1, "text": ' + sent + b"}\n"
    stream = io.TextIOWrapper(request_stream(io.BytesIO(line + b'{"id": 2}\n')), "utf-8", "replace")
    first, second = stream.readline(), stream.readline()
    assert second == '{"id": 2}\n' and stream.readline() == ""
    if text is None:
        assert first == line.decode()
    else:
        assert from_json(first) == {"id": 1, "text": text}


def test_the_tools_answer_as_the_verbs_do(header: dict[str, str]) -> None:
    calls: list[Call] = [
        ("prove", {"old": C, "new": C}),
        ("prove", {"old": C, "new": WRONG}),
        ("prove", {"old": DIRECTIVE}),
        ("transform", {"c": C, "script": "strip_mine(@5, i, 4)"}),
        ("transform", {"c": C, "script": "reverse(@5, i)"}),
        ("suggest", {"c": C}),
        ("extract", {"c": C}),
        ("extract", {"c": "k.h"}),
        ("prove", {"old": C, "new": "int f("}),
    ]
    tools, answers = ask(calls, header)
    assert tools == ["prove", "transform", "suggest", "extract"]
    for (name, _), answer in zip(calls, answers, strict=True):
        jsonschema.validate(answer, json.loads(schema_text(name)))
    verdicts = [answer.get("verdict") for answer in answers]
    assert verdicts == ["proved", "wrong", "wrong", "proved", "wrong", None, None, "bad input", "bad input"]
    assert "n = 2" in answers[1]["diagnostics"][0]["witness"]
    assert answers[4]["diagnostics"][0]["notes"]


HIDDEN = {
    "absolute": '#include "{path}"',
    "upwards": '#include "../../../../../../..{path}"',
    "in brackets": "#include <{path}>",
    "asked for": '#if __has_include("{path}")\n#define K 3\n#endif',
    "embedded": 'const char t[] = {{\n#embed "{path}"\n}};',
    "dependency": '#pragma GCC dependency "{path}"',
    "by an operator": '_Pragma("GCC dependency \\"{path}\\"")',
    "computed": '#define F "{path}"\n#include F',
    "line": '#line 1 "{path}"',
}


def test_no_text_tells_of_other_files(tmp_path: Path, header: dict[str, str]) -> None:
    """The answer is the same whether the file is there or not, and has nothing of it."""
    there, missing = tmp_path / "secret1.h", tmp_path / "secret2.h"
    there.write_text("#define K 4\nint password_hunter2;\n")
    calls: list[Call] = []
    for text in HIDDEN.values():
        for path in (there, missing):
            bad = f"{text.format(path=path)}\n{C}"
            calls += [("prove", {"old": C, "new": bad}), ("extract", {"c": bad})]
    _, answers = ask(calls, header)
    for k in range(0, len(answers), 4):
        told = [json.dumps(answer) for answer in answers[k : k + 4]]
        assert "hunter2" not in "".join(told)
        assert all(answer["verdict"] == "bad input" for answer in answers[k : k + 4])
        assert told[0] == told[2].replace("secret2", "secret1")
        assert told[1] == told[3].replace("secret2", "secret1")


def test_running_is_offered_only_where_it_is_allowed(header: dict[str, str]) -> None:
    call: Call = ("check", {"old": PROGRAM, "new": PROGRAM, "sizes": {"N": 5}})
    tools, (answer,) = ask([call], header, allow_run=True)
    assert tools[-1] == "check"
    assert answer["verdict"] == "valid"


FORKING = """\
#include <unistd.h>
%s
int main(void)
{
  if (fork() == 0) { if (fork() == 0) setsid(); sleep(100); _exit(0); }
  usleep(100000);
  run();
  return 0;
}
"""


def test_processes_that_a_checked_program_starts_end_with_the_answer(
    header: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One in the program's group of processes, one in a session of its own."""
    monkeypatch.setenv("LOOPWRIGHT_STARTED_BY", str(tmp_path))
    program = FORKING % PROGRAM.replace("int main(void)", "static int run(void)")
    call: Call = ("check", {"old": program, "new": program, "sizes": {"N": 5}})
    _, (answer,) = ask([call], header, allow_run=True)
    assert answer["verdict"] == "valid"
    assert with_variable(f"LOOPWRIGHT_STARTED_BY={tmp_path}".encode()) == []


def test_opened_files_include_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text("")
    with pytest.raises(BadInput):
        opened_files([str(tmp_path / "a.h")])
    assert list(opened_files([str(tmp_path / "a.h"), str(tmp_path / "b.h")])) == ["a.h", "b.h"]
    with pytest.raises(BadInput, match="two files are called"):
        opened_files([str(tmp_path / "a.h"), str(tmp_path / "." / "a.h")])


def test_what_is_assumed_is_told_to_the_tools() -> None:
    """OLD and NEW differ for n = 0 alone."""
    old = "void f(int n, double *A) { for (int i = 0; i < n; i++) A[i] = 1; }"
    new = "void f(int n, double *A) { A[0] = 1; for (int i = 1; i < n; i++) A[i] = 1; }"
    given = {"old": old, "new": new}
    calls: list[Call] = [("prove", given), ("prove", {**given, "assume": ["n >= 1"]})]
    _, (plain, assumed) = ask(calls, {})
    assert (plain["verdict"], assumed["verdict"]) == ("wrong", "proved")
