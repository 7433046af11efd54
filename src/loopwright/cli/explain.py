"""`loopwright explain CODE`: what a diagnostic code means and what to do about it."""

from __future__ import annotations

import argparse
import difflib
import sys
import textwrap
from typing import TYPE_CHECKING

from loopwright.cli.diagnostics import exit_code, show
from loopwright.cli.outcome import write_out
from loopwright.errors import BadInput, Code
from loopwright.report.codes import PAGES, Page

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "explain",
        help="what a diagnostic code means",
        description="Explain the code of an error message; without a code, list them all.",
    )
    parser.set_defaults(run=explain)
    parser.add_argument("code", metavar="CODE", nargs="?", help="such as LW101")


def explain(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status."""
    if arguments.code is None:
        write_out("".join(f"{code.value}  {page.title}\n" for code, page in PAGES.items()))
        return 0
    wanted = arguments.code.upper().strip("[]")
    known = {code.value: page for code, page in PAGES.items()}
    if wanted in known:
        write_out(text_of(known[wanted]))
        return 0
    near = difflib.get_close_matches(wanted, known, 1)
    hint = f"did you mean {near[0]}?" if near else "'loopwright explain' lists all codes"
    error = BadInput(Code.OPTION, f"there is no code {arguments.code}", hint=hint)
    show(error, sys.stderr)
    return exit_code(error)


def text_of(page: Page) -> str:
    """The whole entry."""
    parts = [f"{page.code.value}: {page.title}", page.meaning, page.remedy]
    filled = [textwrap.fill(part, 88) for part in parts]
    if page.example:
        filled.append(textwrap.indent(page.example, "    "))
    return "\n\n".join(filled) + "\n"
