"""The script of a command line: a file, or lines that stand there themselves."""

from __future__ import annotations

import argparse
import os

from loopwright.errors import BadInput, Code
from loopwright.source import Span

LINES = "<-e>"
"""What the lines of the command line are called where a file would be named."""


def add_script(parser: argparse.ArgumentParser, without: str) -> None:
    """SCRIPT and -e; `without` says what is done where there is neither."""
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help=f"a .lw file; without it, {without}")
    parser.add_argument(
        "-e",
        "--line",
        metavar="LINE",
        action="append",
        dest="lines",
        default=[],
        help="a line of a script, such as 'distribute()', in place of SCRIPT; may be repeated",
    )


def script_of(arguments: argparse.Namespace) -> tuple[str | None, str]:
    """The text of the script, None where there is none, and what it is called."""
    from loopwright.read.text import load, plain
    from loopwright.source import Source

    file, lines = arguments.script, arguments.lines
    if file is not None and lines:
        message = "there are a script and lines given by -e"
        hint = "put the lines into the script, or the script's lines into -e"
        raise BadInput(Code.OPTION, message, span=Span.start_of(file), hint=hint)
    if lines:
        return plain(Source(LINES, "".join(f"{line}\n" for line in lines))).text, LINES
    if file is None:
        return None, ""
    if "(" in file and not os.path.exists(file):
        message = "there is no file of this name"
        hint = f"-e '{file}' gives a line of a script"
        raise BadInput(Code.FILE, message, span=Span.start_of(file), hint=hint)
    return load(file).text, file
