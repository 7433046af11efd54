"""`loopwright VERB`: one small file a verb.

The standard library parses the command line: the usual alternatives take longer to load than a
small program takes to generate and prove.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from loopwright import __version__
from loopwright.cli import bench, check, codegen, extract, prove, show, transform

VERBS = (codegen, extract, transform, prove, check, show, bench)

STATUS = "exit status: 0 done and proved; 1 the answer is no; 2 bad input; 3 gave up; 4 internal error"


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="loopwright", description="Loops, rewritten the way you say, and proved.", epilog=STATUS
    )
    found.add_argument("--version", action="version", version=f"loopwright {__version__}")
    verbs = found.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add_to(verbs)
    return found


def main(words: Sequence[str] | None = None) -> None:
    """Do what the command line says, and exit."""
    arguments = parser().parse_args(words)
    sys.exit(arguments.run(arguments))
