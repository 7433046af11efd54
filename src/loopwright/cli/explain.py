"""`loopwright explain CODE|OPERATION`: what a diagnostic code means, or what an operation does."""

from __future__ import annotations

import argparse
import difflib

from loopwright.cli.frame import Invocation, Printed
from loopwright.cli.options import Verbs
from loopwright.errors import BadInput, Code

EXAMPLE = ("loopwright explain LW101", "explain an error code")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "explain",
        help="explain a diagnostic code or an operation",
        description="Explain the code of an error message or an operation of scripts; without an argument, "
        "list them all.",
    )
    parser.set_defaults(invocation=explain)
    parser.add_argument("code", metavar="CODE", nargs="?", help="such as LW101, or tile")


def explain(arguments: argparse.Namespace) -> Invocation[str]:
    return Invocation(work=lambda progress: _explained(arguments.code), render=Printed)


def _explained(code: str | None) -> str:
    from loopwright.report.manual import code_pages, operation_pages, text_of

    operations, codes = operation_pages(), code_pages()
    if code is None:
        listed = "".join(f"{one.value}  {page.title}\n" for one, page in codes.items())
        return listed + "\n" + "".join(f"{name:<15} {page.summary}\n" for name, page in operations.items())
    if code.lower() in operations:
        return f"{operations[code.lower()].text}\n"
    wanted = code.upper().strip("[]")
    known = {one.value: page for one, page in codes.items()}
    if wanted in known:
        return text_of(known[wanted])
    names = {name.lower(): name for name in (*operations, *known)}
    near = difflib.get_close_matches(code.lower(), names, 1)
    hint = f"did you mean {names[near[0]]}?" if near else "'loopwright explain' lists them all"
    raise BadInput(Code.OPTION, f"no code or operation is called {code}", hint=hint)
