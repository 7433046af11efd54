"""`loopwright completion SHELL`: a completion script for bash, zsh, fish or tcsh."""

from __future__ import annotations

import argparse

from loopwright.cli.frame import Invocation, Printed
from loopwright.cli.options import Verbs

HOW = """\
bash, in ~/.bashrc:                    eval "$(loopwright completion bash)"
zsh, in ~/.zshrc after compinit:       eval "$(loopwright completion zsh)"
fish, in ~/.config/fish/config.fish:   loopwright completion fish | source
"""
SHELLS = ("bash", "zsh", "fish", "tcsh")


EXAMPLE = ('eval "$(loopwright completion bash)"', "enable shell completion")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "completion",
        help="print a completion script for the shell",
        description="Print a script that completes verbs, options and file names.",
        epilog=HOW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(invocation=completion)
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def completion(arguments: argparse.Namespace) -> Invocation[str]:
    return Invocation(work=lambda progress: _script(arguments), render=Printed)


def _script(arguments: argparse.Namespace) -> str:
    import shtab

    return str(shtab.complete(with_files(arguments.parser()), arguments.shell)) + "\n"


def with_files(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The parser with a note for shtab at every argument that is a file or a folder."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action._choices_actions:
                action.choices[verb.dest].description = verb.help
                with_files(action.choices[verb.dest])
        elif action.metavar in ("FILE", "SCRIPT", "OLD", "NEW", "PATH"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in ("DIR", "FOLDER"):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return parser
