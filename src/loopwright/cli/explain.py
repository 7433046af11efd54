"""`loopwright explain CODE`: what a diagnostic code means and what to do about it."""

from __future__ import annotations

import argparse
import difflib

from loopwright.cli.frame import Invocation, Printed
from loopwright.cli.options import Verbs
from loopwright.errors import BadInput, Code


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "explain",
        help="what a diagnostic code means",
        description="Explain the code of an error message; without a code, list them all.",
    )
    parser.set_defaults(invocation=explain)
    parser.add_argument("code", metavar="CODE", nargs="?", help="such as LW101")


def explain(arguments: argparse.Namespace) -> Invocation[str]:
    return Invocation(work=lambda progress: _explained(arguments.code), render=Printed)


def _explained(code: str | None) -> str:
    from loopwright.report.codes import PAGES, text_of

    if code is None:
        return "".join(f"{one.value}  {page.title}\n" for one, page in PAGES.items())
    wanted = code.upper().strip("[]")
    known = {one.value: page for one, page in PAGES.items()}
    if wanted in known:
        return text_of(known[wanted])
    near = difflib.get_close_matches(wanted, known, 1)
    hint = f"did you mean {near[0]}?" if near else "'loopwright explain' lists all codes"
    raise BadInput(Code.OPTION, f"there is no code {code}", hint=hint)
