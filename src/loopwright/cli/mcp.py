"""`loopwright mcp [FILE...]`: a server for agents, over standard input and output."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from loopwright import __version__
from loopwright.cli.frame import Invocation, Printed
from loopwright.cli.options import Verbs
from loopwright.errors import BadInput, Code

EXAMPLE = ("loopwright mcp kernel.h", "serve tools to coding agents")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "mcp",
        help="serve prove, transform, suggest and extract to coding agents",
        description="Serve the Model Context Protocol over standard input and output, with tools that prove "
        "an agent's rewrite or return a witness. Source code in requests can include headers of the C "
        "library and the FILEs given here. It is never executed, unless --allow-run is given.",
    )
    parser.set_defaults(invocation=mcp)
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="a C file or header that requests may include"
    )
    text = "offer 'check', which compiles and runs the code in requests"
    parser.add_argument("--allow-run", action="store_true", help=text)


def mcp(arguments: argparse.Namespace) -> Invocation[None]:
    return Invocation(work=lambda _: _serve(arguments), render=lambda _: Printed())


def _serve(arguments: argparse.Namespace) -> None:
    if find_spec("mcp") is None:
        message = "the server for agents needs the SDK of the Model Context Protocol"
        raise BadInput(Code.MISSING_PART, message, hint="pip install 'loopwright[mcp]'")
    from loopwright.serve.agents import opened_files, serve_streams, server

    opened = opened_files(arguments.files)
    serve_streams(server(opened, version=__version__, allow_run=arguments.allow_run))
