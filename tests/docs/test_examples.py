"""Every command shown in the documentation prints what the documentation shows.

A fenced block marked `console` holds commands, `$ loopwright ...`, each followed by what it
prints: standard output, then standard error.  Times are not compared.  To write what the
commands print now into the documents: LOOPWRIGHT_UPDATE_DOCS=1 pytest tests/docs
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

import pytest

from loopwright.cli.main import main

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\d+(?:\.\d+)? (?:ms|s)\b")


def blocks(document: Path) -> list[str]:
    return BLOCK.findall(document.read_text())


def replayed(block: str) -> str:
    """The block with the output of its commands as it is now."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{printed(command[2:])}" for command in commands)


def printed(command: str) -> str:
    program, *arguments = shlex.split(command)
    assert program in ("loopwright", "cat"), f"the documentation shows the command {program!r}"
    if program == "cat":
        return "".join((ROOT / name).read_text() for name in arguments)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()  # a process of its own, without loading everything once more
        if child == 0:
            _perform(arguments, out.fileno(), err.fileno())
        os.waitpid(child, 0)
        return "".join(os.pread(file.fileno(), 1 << 24, 0).decode() for file in (out, err))


def _perform(arguments: list[str], out: int, err: int) -> NoReturn:
    """Become `loopwright` with these arguments, in the folder of the project."""
    status = 99
    try:
        for number, stream in enumerate((os.open(os.devnull, os.O_RDONLY), out, err)):
            os.dup2(stream, number)
        os.chdir(ROOT)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode) for n, mode in enumerate("rww"))
        main(arguments)
    except SystemExit as ended:
        status = int(ended.code or 0)
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)  # whatever happens, never return into the test


def without_times(text: str) -> str:
    return TIME.sub("TIME", text)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_print_what_is_shown(document: Path) -> None:
    for block in blocks(document):
        now = replayed(block)
        if os.environ.get("LOOPWRIGHT_UPDATE_DOCS"):
            text = document.read_text()
            document.write_text(text.replace(f"```console\n{block}```", f"```console\n{now}```"))
        else:
            assert without_times(block) == without_times(now)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text()):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_there_are_examples_to_run() -> None:
    assert sum(len(blocks(document)) for document in DOCUMENTS) >= 10
