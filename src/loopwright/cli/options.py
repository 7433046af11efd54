"""Options shared by several verbs: numbers, assumptions about C, scripts, provers."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from loopwright.c.selection.choice import choice
from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import BadInput, Code
from loopwright.progress import Progress
from loopwright.read.c.options import ReadOptions
from loopwright.rewrite.request import ProverRequest, Request
from loopwright.source import STANDARD, Source, Span, called

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""The subparsers of the command line."""

DIGITS = 18
"""The number of decimal digits that always fit into 64 bits."""

LARGEST = 10**12
"""The greatest number accepted on the command line."""

LINES = "<-e>"
"""The file name under which messages report lines given with -e."""

LIMITS = "limits (exit status 3)"
"""The title of the options on time and size."""

PROVERS = ("isl", "cvc5", "coq")


def integer(least: int, most: int = LARGEST) -> Callable[[str], int]:
    """The type of an option: an integer from `least` to `most`."""

    def parse(text: str) -> int:
        parts = re.fullmatch(r"([+-]?)0*([0-9]+)", text)
        if parts is None or int(parts[1] + parts[2][:DIGITS]) < least:
            raise argparse.ArgumentTypeError(f"'{shortened(text)}' must be an integer >= {least}")
        if len(parts[2]) > DIGITS or int(parts[2]) > most:
            raise argparse.ArgumentTypeError(f"'{shortened(text)}' must be an integer <= {most}")
        return int(parts[1] + parts[2])

    return parse


def seconds(text: str) -> float:
    """The type of an option: a time limit."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.001 <= number < LARGEST:
        raise argparse.ArgumentTypeError(f"'{shortened(text)}' must be a number of seconds >= 0.001")
    return number


def add_time_limits(add: Callable[..., Any], default: float | None = None) -> None:
    """`--timeout` and `--wall-timeout`."""
    known = "" if default is None else f" (default: {default:g})"
    add(
        "--timeout",
        type=seconds,
        default=default,
        metavar="SECONDS",
        help=f"processor time limit{known}",
    )
    text = "wall-clock time limit (default: ten times --timeout)"
    add("--wall-timeout", type=seconds, metavar="SECONDS", help=text)


def shortened(text: str) -> str:
    """An argument, shortened for a message."""
    return text if len(text) <= 40 else f"{text[:37]}..."


def sizes(words: Sequence[str], file: str, option: str = "-D") -> dict[str, int]:
    """`-D N=100`: problem sizes, which fit into C's `long`."""
    found: dict[str, int] = {}
    for word in words:
        parts = re.fullmatch(r"\s*([^\W\d]\w*)\s*=\s*([+-]?[0-9]+)\s*", word)
        if parts is None or len(parts[2]) > DIGITS:
            message = f"{option} {shortened(word)} is not a problem size"
            hint = f"write {option} N=100, with an integer of at most {DIGITS} digits"
            raise BadInput(Code.OPTION, message, span=Span.start_of(file), hint=hint)
        found[parts[1]] = int(parts[2])
    return found


def add_reading_options(parser: argparse.ArgumentParser, *, definitions: bool = True) -> None:
    """The options of every verb that reads C."""
    add_stated(parser)
    add_choice(parser)
    add_compiler_options(parser, definitions=definitions)


def add_stated(parser: argparse.ArgumentParser) -> None:
    """Options for facts that the file does not state."""
    add = parser.add_argument_group("facts about the file").add_argument
    add(
        "--pure",
        action="append",
        default=[],
        metavar="NAME",
        help="declare that this function has no side effects",
    )
    text = "assume a condition on the parameters, such as 'n >= 4'"
    add("--assume", action="append", default=[], metavar="COND", help=text)


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Options that select loops in a file without pragmas."""
    group = parser.add_argument_group("selecting loops without '#pragma scop'")
    add = group.add_argument
    add("--function", action="append", default=[], metavar="NAME", help="select the loops of this function")
    add(
        "--loop",
        action="append",
        default=[],
        metavar="[FILE:]LINE",
        help="select the loop that starts on this line",
    )


def reading_options(
    arguments: argparse.Namespace, definitions: Sequence[str] = (), compiler: str = ""
) -> ReadOptions:
    """The values of `add_reading_options`, with macros from other options."""
    return ReadOptions(
        tuple(arguments.pure),
        tuple(arguments.assume),
        choice(arguments.function, arguments.loop),
        compiler_options(arguments, definitions, compiler),
    )


_AS_COMPILED = (
    ("-I", "FOLDER", "add a folder to search for headers"),
    ("-D", "NAME[=TEXT]", "define a macro"),
    ("-U", "NAME", "undefine a macro"),
    ("-include", "FILE", "include a header first"),
    ("-std", "STANDARD", "set the C standard, such as c11"),
)


def add_compiler_options(parser: argparse.ArgumentParser, *, definitions: bool = True) -> None:
    """How the file is compiled, which decides what its text means; the options are those of a compiler."""
    who = "The compiler is gcc, or the value of the environment variable CC."
    group = parser.add_argument_group("compiler options of the file", who)
    for name, metavar, text in _AS_COMPILED:
        if name != "-D" or definitions:
            group.add_argument(name, action=_Kept, dest="as_compiled", metavar=metavar, help=text, default=[])
    text = "take the options from compile_commands.json in this folder"
    group.add_argument("-p", dest="build", default="", metavar="BUILD", help=text)


class _Kept(argparse.Action):
    """An option of the compiler, kept in the order of the command line."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        words = [f"-std={values}"] if self.option_strings == ["-std"] else [self.option_strings[0], values]
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *words])


def compiler_options(
    arguments: argparse.Namespace, definitions: Sequence[str] = (), compiler: str = ""
) -> CompilerOptions:
    """The values of `add_compiler_options`, with macros from other options."""
    defined = [f"-D{one}" for one in definitions]
    return CompilerOptions((*arguments.as_compiled, *defined), compiler, arguments.build)


def add_openmp(add: Callable[..., Any]) -> None:
    """`--openmp`, of every verb that makes new loops by a script."""
    add("--openmp", action="store_true", help="print an OpenMP pragma before each outermost parallel loop")


def add_reassociation(add: Callable[..., Any]) -> None:
    """`--allow-reassociation`, of every verb that says whether loops are right."""
    text = "allow sums and products in any order, which changes rounding"
    add("--allow-reassociation", action="store_true", help=text)


def add_script(parser: argparse.ArgumentParser, without: str) -> None:
    """SCRIPT and -e; `without` says what is done where there is neither."""
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help=f"a .lw file; without it, {without}")
    parser.add_argument(
        "-e",
        "--line",
        metavar="LINE",
        action="append",
        dest="lines",
        default=[],
        help="a line of a script, such as 'distribute()', instead of SCRIPT; may be repeated",
    )


def request_of(arguments: argparse.Namespace, **more: Any) -> Request:
    """What the options above ask for."""
    refuse_twice(arguments.file, arguments.script)
    script, script_file = script_of(arguments)
    return Request(
        file=arguments.file,
        script=script,
        script_file=script_file,
        reading=reading_options(arguments),
        openmp=arguments.openmp,
        allow_reassociation=arguments.allow_reassociation,
        **more,
    )


def script_of(arguments: argparse.Namespace) -> tuple[str | None, str]:
    """The text of the script, None where there is none, and what it is called."""
    from loopwright.read.text import load, plain

    file, lines = arguments.script, arguments.lines
    if file is not None and lines:
        message = "a script file and -e exclude each other"
        hint = "move the lines into the script, or the lines of the script into -e"
        raise BadInput(Code.OPTION, message, span=Span.start_of(file), hint=hint)
    if lines:
        return plain(Source(LINES, "".join(f"{line}\n" for line in lines))).text, LINES
    if file is None:
        return None, ""
    if "(" in file and not os.path.exists(file):
        message = "there is no file of this name"
        hint = f"-e '{file}' gives a line of a script"
        raise BadInput(Code.FILE, message, span=Span.start_of(file), hint=hint)
    source = load(file)
    return source.text, source.path


def refuse_twice(one: str, other: str | None) -> None:
    """Standard input can be read only once."""
    if one == other == STANDARD:
        message = "two files cannot both be standard input"
        raise BadInput(Code.OPTION, message, span=Span.start_of(called(one)))


def add_prover_options(add: Callable[..., Any], proof: str = "-o") -> None:
    """`--prover` and its time limit; `proof` is the option that names the proof."""
    where = f"; with coq, {proof} names the proof file" if proof else ""
    add("--prover", choices=PROVERS, default="isl", help=f"the prover to ask besides isl{where}")
    add("--prover-timeout", type=seconds, metavar="SECONDS", help="time limit of coqc, or of each obligation")
    if proof == "--proof":
        add("--proof", metavar="PATH", help="with --prover coq: write the proof to this file")


def add_sarif(add: Callable[..., Any]) -> None:
    """`--sarif`, for services that show results at the lines of a change."""
    add("--sarif", metavar="PATH", help="also write the diagnostics to this file, as SARIF 2.1.0")


def code_path(arguments: argparse.Namespace) -> str:
    """Where the program goes: with Coq, `-o` is the proof's."""
    return STANDARD if arguments.prover == "coq" or arguments.output is None else str(arguments.output)


def prover_request(arguments: argparse.Namespace) -> ProverRequest:
    """The prover that was requested."""
    if arguments.no_prove and arguments.prover != "isl":
        message = "--no-prove and --prover exclude each other"
        raise BadInput(Code.OPTION, message, span=Span.start_of(arguments.file))
    path = arguments.output if arguments.prover == "coq" else None
    return ProverRequest(arguments.prover, path, arguments.prover_timeout)


def separate_proof(arguments: argparse.Namespace) -> ProverRequest:
    """The same for a verb with the option `--proof`."""
    if arguments.proof is not None and arguments.prover != "coq":
        raise BadInput(Code.OPTION, "--proof needs --prover coq", span=Span.start_of(arguments.proof))
    return ProverRequest(arguments.prover, arguments.proof, arguments.prover_timeout)


def coq_library(prover: str) -> Callable[[Progress], None] | None:
    """The Coq library is compiled once, and no time limit stops that."""
    if prover != "coq":
        return None

    def compile_once(progress: Progress) -> None:
        from loopwright.prove.coq.check import coqc, library

        if coqc() is not None:
            library(progress)

    return compile_once


def proof_lines(remarks: Iterable[str]) -> str:
    """The answers of other provers, for standard error."""
    return "".join(f"proof: {remark}\n" for remark in remarks)
