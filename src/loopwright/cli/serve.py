"""`loopwright serve [FILE]`: the playground, a page that answers as you type."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from loopwright.cli.frame import Invocation, Printed
from loopwright.cli.options import Verbs, integer
from loopwright.cli.output import write_err
from loopwright.errors import BadInput, Code

PORT = 8642
"""The default port."""


EXAMPLE = ("loopwright serve --open", "an interactive page that answers as you type")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "serve",
        help="open the playground: C, a script, the new C, and pictures",
        description="Start the playground, a page for the browser of this machine. It shows C, a script and "
        "the new C side by side, with the verdict, the witness and an animation below, and updates as you "
        "type. Requests from other machines or other sites are refused.",
    )
    parser.set_defaults(invocation=serve)
    add = parser.add_argument
    add("file", metavar="FILE", nargs="?", help="a C file or a schedule description to open")
    add(
        "--port",
        type=integer(0, 65535),
        default=PORT,
        metavar="N",
        help=f"the port (default {PORT}); 0 chooses a free one",
    )
    add("--open", action="store_true", help="open the page in the browser")
    add("--allow-run", action="store_true", help="allow the page to compile and run its C code")


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
        announce=lambda address: write_err(f"{address}  (press Ctrl-C to stop)\n"),
    )
