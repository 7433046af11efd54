"""Every command shown in the documentation prints what the documentation shows.

A fenced block marked `console` holds commands, `$ loopwright ...`, each followed by what it
prints: standard output, then standard error.  Times are not compared.  To write what the
commands print now into the documents: LOOPWRIGHT_UPDATE_DOCS=1 pytest tests/docs
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\d+(?:\.\d+)? (?:ms|s)\b")
MAIN = "import sys; from loopwright.cli.main import main; sys.argv[0] = 'loopwright'; main()"


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
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


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
