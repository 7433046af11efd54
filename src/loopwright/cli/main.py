"""`loopwright VERB`: one small file a verb.

The standard library parses the command line: the usual alternatives take longer to load than a
small program takes to generate and prove.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from loopwright import __version__
from loopwright.cli import (
    bench,
    check,
    codegen,
    completion,
    demo,
    doctor,
    explain,
    extract,
    prove,
    show,
    suggest,
    transform,
)

VERBS = (codegen, extract, transform, prove, check, show, suggest, bench, demo, doctor, explain, completion)

STATUS = "exit status: 0 done and proved; 1 the answer is no; 2 bad input; 3 gave up; 4 internal error"

EXAMPLES = """\
  loopwright codegen loops.poly              loops from a description
  loopwright extract kernel.c                what was understood of a C file
  loopwright transform kernel.c script.lw    the file with new loops, proved
  loopwright prove old.c new.c               whether two files compute the same
  loopwright check new.c --spec old.c -D N=50  the same, by running it
  loopwright show kernel.c script.lw         pictures, and why a script is refused
  loopwright suggest kernel.c                what could be done to the loops
  loopwright bench gemm                      how much faster a kernel gets
  loopwright demo                            all of it, in half a minute
  loopwright doctor                          what is installed
  loopwright explain LW101                   what an error means
  loopwright completion bash                 for the shell
"""


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="loopwright",
        description="Loops, rewritten the way you say, and proved.",
        epilog=f"examples:\n{EXAMPLES}\n{STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--version", action="version", version=f"loopwright {__version__}")
    verbs = found.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add_to(verbs)
    found.set_defaults(parser=found)
    return found


def main(words: Sequence[str] | None = None) -> None:
    """Do what the command line says, and exit."""
    arguments = parsed(words)
    sys.exit(arguments.run(arguments))


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line; a script may also stand behind options, where argparse gives it up."""
    known = parser()
    arguments, rest = known.parse_known_args(words)
    if len(rest) == 1 and not rest[0].startswith("-") and getattr(arguments, "script", "") is None:
        arguments.script = rest[0]
    elif rest:
        known.error(f"unrecognized arguments: {' '.join(rest)}")
    return arguments
