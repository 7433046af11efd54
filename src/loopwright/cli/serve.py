"""`loopwright serve [FILE]`: the playground, a page that answers as you type."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from loopwright.cli.frame import Invocation, Printed
from loopwright.cli.options import Verbs, integer
from loopwright.cli.output import write_err
from loopwright.errors import BadInput, Code

PORT = 8642
"""Where it listens unless told otherwise."""


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "serve",
        help="a page in the browser: C, a script, the new C, and pictures",
        description="Start the playground, a page for this machine's browser: C on the left, a script beside "
        "it, the new C on the right; the verdict, the witness and a moving picture below, as you type. "
        "Other machines, and pages of other servers, are refused.",
    )
    parser.set_defaults(invocation=serve)
    add = parser.add_argument
    add("file", metavar="FILE", nargs="?", help="a C file, or a description of loops, to open")
    add("--port", type=integer(0, 65535), default=PORT, metavar="N", help=f"the port ({PORT}); 0 takes any")
    add("--open", action="store_true", help="open the page in the browser")
    add("--allow-run", action="store_true", help="let the page compile and run the C that is in it")


def serve(arguments: argparse.Namespace) -> Invocation[None]:
    return Invocation(
        work=lambda _: _serve(arguments), render=lambda _: Printed(err="stopped\n"), file=arguments.file
    )


def _serve(arguments: argparse.Namespace) -> None:
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        message = "the playground needs starlette and uvicorn"
        raise BadInput(Code.MISSING_PART, message, hint="pip install 'loopwright[serve]'")
    from loopwright.serve.app import run

    run(
        arguments.file,
        arguments.port,
        browser=arguments.open,
        allow_run=arguments.allow_run,
        announce=lambda address: write_err(f"{address}  (Ctrl-C stops)\n"),
    )
