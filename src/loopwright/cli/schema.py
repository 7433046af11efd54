"""`loopwright schema VERB`: the JSON schema of what `loopwright VERB --json` prints."""

from __future__ import annotations

import argparse
from importlib import resources

from loopwright.cli.frame import Invocation, Printed
from loopwright.cli.options import Verbs
from loopwright.errors import BadInput, Code

EXAMPLE = ("loopwright schema prove", "print the JSON schema of --json output")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "schema",
        help="print the JSON schema of a verb's --json output",
        description="Print the JSON schema (draft 2020-12) of what a verb prints with --json, on success and "
        "on failure; without a verb, list the verbs that have one.",
    )
    parser.set_defaults(invocation=schema)
    parser.add_argument("verb", metavar="VERB", nargs="?", help="such as prove")


def schema(arguments: argparse.Namespace) -> Invocation[str]:
    return Invocation(work=lambda progress: schema_text(arguments.verb), render=Printed)


def schema_text(verb: str | None) -> str:
    """The schema of a verb, or the names of all that have one."""
    folder = resources.files("loopwright") / "data" / "schemas"
    known = {one.name.removesuffix(".json"): one for one in folder.iterdir() if one.name.endswith(".json")}
    if verb is None:
        return "".join(f"{name}\n" for name in sorted(known))
    if verb not in known:
        hint = f"verbs with a schema: {', '.join(sorted(known))}"
        raise BadInput(
            Code.OPTION, f"the verb {verb} has no --json output and therefore no schema", hint=hint
        )
    return known[verb].read_text(encoding="utf-8")
