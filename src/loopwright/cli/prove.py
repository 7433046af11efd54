"""`loopwright prove OLD NEW`: whether two files compute the same, for every size.

Of two C files the texts are compared; of two OpenScop files, the orders.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loopwright.cli.diagnostics import as_json, exit_code, show, verdict_word
from loopwright.cli.extract import add_reading_options
from loopwright.cli.options import seconds
from loopwright.cli.outcome import failures_named, placed, write_out
from loopwright.cli.progress import progress_line
from loopwright.errors import BadInput, Code, GaveUp, Illegal, LoopwrightError
from loopwright.source import Span

if TYPE_CHECKING:
    from loopwright.progress import Progress

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


@dataclass(frozen=True)
class Answer:
    """What was proved, region by region, and what it rests on."""

    obligations: int
    ways: tuple[str, ...]
    assumptions: tuple[str, ...]


class NotEquivalent(Illegal):
    """The two programs differ; `explanation` is the whole story."""

    def __init__(self, message: str, *, witness: str, explanation: str, span: Span) -> None:
        super().__init__(Code.NOT_EQUIVALENT, message, witness=witness, span=span)
        self.explanation = explanation


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "prove",
        help="prove that two C files, or two OpenScop files, do the same",
        description="Prove that the regions of NEW leave behind what those of OLD do, for every problem "
        "size. NEW may be tiled, unrolled, split, shifted, its iterators renamed, its temporaries others, "
        "its expressions taken apart or put together. A no comes with sizes, a cell, and its two values. "
        "Two OpenScop files are one program in two orders, before and after another tool's scheduling.",
    )
    parser.set_defaults(run=prove)
    parser.add_argument("old", metavar="OLD", help="a C file, or an OpenScop file (.scop)")
    parser.add_argument("new", metavar="NEW", help="what somebody made of it")
    add_reading_options(parser)
    parser.add_argument("--json", action="store_true", help="the answer for machines")
    parser.add_argument(
        "--allow-reassociation",
        action="store_true",
        help="let sums and products be computed in any order, which rounds differently",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=30.0,
        metavar="SECONDS",
        help="give up after so long (default: 30)",
    )


def prove(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status."""
    try:
        answer = failures_named(lambda: _run(arguments))
    except LoopwrightError as error:
        return _fail(placed(error, arguments.old), arguments)
    count = answer.obligations
    if arguments.json:
        found = _data(arguments, "proved", []) | {
            "obligations": count,
            "ways": list(answer.ways),
            "assumptions": list(answer.assumptions),
        }
        write_out(json.dumps(found, indent=2) + "\n")
    else:
        how = " and ".join(dict.fromkeys(answer.ways))
        write_out(f"proved {how}: {arguments.new} does what {arguments.old} does ({count} obligations)\n")
    sys.stderr.write("".join(f"  taken on trust: {text}\n" for text in answer.assumptions))
    return 0


def _run(arguments: argparse.Namespace) -> Answer:
    with progress_line(sys.stderr) as progress:
        from loopwright.run.supervise import within

        return within(
            arguments.timeout,
            lambda progress: failures_named(lambda: _answer(arguments, progress)),
            progress,
            hint="allow more time with --timeout",
        )


def _answer(arguments: argparse.Namespace, progress: Progress) -> Answer:
    described = [name.endswith(".scop") for name in (arguments.old, arguments.new)]
    if any(described) and not all(described):
        raise BadInput(
            Code.ORDERS,
            "one file is OpenScop and the other is not",
            span=Span.start_of(arguments.new),
            hint="`loopwright extract --scop` writes what a C file means as OpenScop",
        )
    return _orders(arguments, progress) if all(described) else _work(arguments, progress)


def _orders(arguments: argparse.Namespace, progress: Progress) -> Answer:
    """Of one program in two orders, whether the second keeps the dependences of the first."""
    from loopwright.prove.legality.explain import explain_all, refusal
    from loopwright.prove.legality.rescheduling import prove_rescheduled
    from loopwright.read.openscop import read_openscop

    progress("reading")
    old, new = read_openscop(arguments.old), read_openscop(arguments.new)
    progress("comparing the orders")
    verdict = prove_rescheduled(old, new)
    match refusal(verdict):
        case None:
            trusted = tuple(entry.text for entry in old.assumptions)
            return Answer(verdict.obligations, ("by its dependences",), trusted)
        case Illegal(message=message, witness=witness):
            _, explanation = explain_all(verdict).split("\n", 1)  # its first line is the message
            span = Span.start_of(arguments.new)
            raise NotEquivalent(message, witness=witness, explanation=explanation, span=span)
        case failure:
            raise failure


def _work(arguments: argparse.Namespace, progress: Progress) -> Answer:
    from loopwright.prove.equivalence.files import compare_files
    from loopwright.prove.verdict import Proved, Refuted, Undecided

    found = compare_files(
        arguments.old,
        arguments.new,
        pure=arguments.pure,
        assume=arguments.assume,
        allow_reassociation=arguments.allow_reassociation,
        progress=progress,
    )
    match found.verdict:
        case Proved(obligations):
            return Answer(obligations, tuple(one.way for one in found.answers), found.trusted)
        case Refuted(message=message, witness=witness):
            raise NotEquivalent(
                f"not equivalent: {message}",
                witness=witness,
                explanation=found.explanation,
                span=found.place,
            )
        case Undecided(reason):
            raise GaveUp(Code.UNDECIDED, f"could not decide: {reason}", span=found.place)


def _data(arguments: argparse.Namespace, verdict: str, diagnostics: list[Any]) -> dict[str, Any]:
    return {"old": arguments.old, "new": arguments.new, "verdict": verdict, "diagnostics": diagnostics}


def _fail(error: LoopwrightError, arguments: argparse.Namespace) -> int:
    if arguments.json:
        found = _data(arguments, verdict_word(error), [as_json(error, arguments.new)])
        write_out(json.dumps(found, indent=2) + "\n")
    show(error, sys.stderr, arguments.new)
    sys.stderr.write(getattr(error, "explanation", ""))
    return exit_code(error)
