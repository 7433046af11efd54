"""`loopwright VERB`: one small file a verb."""

from __future__ import annotations

from typing import Annotated

import typer

from loopwright import __version__
from loopwright.cli.codegen import codegen

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(codegen)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"loopwright {__version__}")
        raise typer.Exit


@app.callback()
def loopwright(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Loops, rewritten the way you say, and proved.

    Exit status: 0 done and proved; 1 the answer is no; 2 bad input; 3 gave up; 4 internal error.
    """


def main() -> None:
    app(prog_name="loopwright")
