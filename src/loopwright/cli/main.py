"""`loopwright VERB`: one small file a verb.

The standard library parses the command line: the usual alternatives take longer to load than a
small program takes to generate and prove.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from loopwright import __version__
from loopwright.cli.frame import named, perform
from loopwright.cli.options import shortened
from loopwright.cli.output import open_missing_streams, write_err, write_error, write_out
from loopwright.errors import BadInput, Code, LoopwrightError

WIDTH = 88
"""Columns of the texts around the options."""

STATUS = (
    "exit status: 0 success; 1 the answer is no; 2 invalid input; 3 gave up; 4 internal error; "
    "130 interrupted"
)


VERBS: dict[str, Callable[[], ModuleType]] = {
    "serve": lambda: import_module("loopwright.cli.serve"),
    "mcp": lambda: import_module("loopwright.cli.mcp"),
    "codegen": lambda: import_module("loopwright.cli.codegen"),
    "find": lambda: import_module("loopwright.cli.find"),
    "extract": lambda: import_module("loopwright.cli.extract"),
    "transform": lambda: import_module("loopwright.cli.transform"),
    "prove": lambda: import_module("loopwright.cli.prove"),
    "verify": lambda: import_module("loopwright.cli.verify"),
    "check": lambda: import_module("loopwright.cli.check"),
    "show": lambda: import_module("loopwright.cli.show"),
    "suggest": lambda: import_module("loopwright.cli.suggest"),
    "optimise": lambda: import_module("loopwright.cli.optimise"),
    "bench": lambda: import_module("loopwright.cli.bench"),
    "demo": lambda: import_module("loopwright.cli.demo"),
    "doctor": lambda: import_module("loopwright.cli.doctor"),
    "explain": lambda: import_module("loopwright.cli.explain"),
    "schema": lambda: import_module("loopwright.cli.schema"),
    "completion": lambda: import_module("loopwright.cli.completion"),
}
"""How to load the module of a verb; its `EXAMPLE` is a command, and what that command does."""

RENAMED = {"tune": "optimise"}
"""Verbs that were renamed."""


class VerbParser(argparse.ArgumentParser):
    """A parser that raises `BadInput` for its errors and reports when help cannot be written."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(Code.OPTION, message, hint=f"'{self.prog} --help' lists the options")

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """Raise an error for unrecognised arguments."""
        import difflib

        word = shortened(next((one for one in words if one.startswith("-")), words[0]))
        names = [name for one in self._actions for name in one.option_strings]
        near = difflib.get_close_matches(word.partition("=")[0], names, 1, 0.75)
        if near:
            raise BadInput(Code.OPTION, f"no option is called {word}", hint=f"did you mean {near[0]}?")
        self.error(f"there is no option {word}" if word.startswith("-") else f"unexpected argument: '{word}'")

    def _print_message(self, message: str, file: object = None) -> None:
        if file is sys.stdout:
            write_out(message)
        else:
            write_err(message)


def parser(names: Iterable[str] = tuple(VERBS)) -> VerbParser:
    """The parser for these verbs; the module of each is loaded."""
    modules = {name: VERBS[name]() for name in names}
    examples = "".join(f"  {one.EXAMPLE[0]:<45}{one.EXAMPLE[1]}\n" for one in modules.values())
    found = VerbParser(
        prog="loopwright",
        description="Rewrite the loops of C programs and prove that the result is equivalent.",
        epilog=f"examples:\n{examples}\n{STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--version", action="version", version=f"loopwright {__version__}")
    verbs = found.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name, module in modules.items():
        module.add_to(verbs)
        one = verbs.choices[name]
        one.description = textwrap.fill(one.description or "", WIDTH)
        after = [textwrap.fill(line, WIDTH) for line in (one.epilog or "").splitlines()]
        one.epilog = "\n".join([f"example: {module.EXAMPLE[0]}    # {module.EXAMPLE[1]}", *after])
        one.formatter_class = argparse.RawDescriptionHelpFormatter
        one.set_defaults(of_verb=one)
    found.set_defaults(parser=parser)
    return found


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    open_missing_streams()
    gc.set_threshold(1_000_000, 20, 100)  # hardly anything is in cycles, and looking for them often costs 5 %
    atexit.register(gc.freeze)  # and so does looking for them at the end
    try:
        arguments = named(lambda: parsed(sys.argv[1:] if words is None else words))
        invocation = named(lambda: arguments.invocation(arguments))
    except LoopwrightError as error:
        write_error(error, None)
        sys.exit(error.code.exit_code)
    sys.exit(perform(invocation))


def _verb(words: Sequence[str]) -> str | None:
    """The first word that is not an option names the verb."""
    verb = next((word for word in words if not word.startswith("-")), None)
    if verb is None or verb in VERBS:
        return verb
    import difflib

    near = [RENAMED[verb]] if verb in RENAMED else difflib.get_close_matches(verb, VERBS, 1)
    hint = f"did you mean {near[0]}?" if near else f"the verbs are {', '.join(VERBS)}"
    raise BadInput(Code.OPTION, f"no verb is called '{shortened(verb)}'", hint=hint)


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """The command line; a script may also come after options, where argparse does not take it."""
    verb = _verb(words)
    if not words:
        parser().print_help(sys.stderr)
        sys.exit(2)
    known = parser([verb]) if verb is not None and words[0] == verb else parser()
    arguments, rest = known.parse_known_args(words)
    if len(rest) == 1 and not rest[0].startswith("-") and vars(arguments).get("script", "") is None:
        arguments.script = rest[0]
    elif verb == "check" and len(rest) == 1 and not rest[0].startswith("-"):
        first = arguments.file
        hint = f"loopwright check {rest[0]} --spec {first} checks it against the original in {first}"
        raise BadInput(Code.OPTION, "one program is checked, and two files are named", hint=hint)
    elif rest:
        arguments.of_verb.refuse(rest)
    return arguments
