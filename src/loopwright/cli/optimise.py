"""`loopwright optimise FILE`: the fastest proved script for a C file, found by a model and by trying."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.cli import options
from loopwright.cli.frame import Invocation, Printed, as_lines, asked
from loopwright.ending import ending_in_order
from loopwright.errors import BadInput, Code
from loopwright.rewrite.request import Request
from loopwright.source import STANDARD, Span, called, file_bytes

if TYPE_CHECKING:
    from loopwright.optimise.optimising import Optimised
    from loopwright.progress import Progress
    from loopwright.transform.script.steps import Step


EXAMPLE = ("loopwright optimise kernel.c --code fast.c", "search for the fastest proved loops")


def add_to(verbs: options.Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "optimise",
        help="search for the script that makes a C program fastest, and prove it",
        description="Generate candidate scripts from isl's scheduler and from built-in heuristics, rank the "
        "legal ones with a model of this machine, then compile and time the best. The winner is proved as by "
        "'transform' and printed with a reason for each line.",
    )
    parser.set_defaults(invocation=optimise)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file; without a main, input data are generated")
    add("-o", "--output", metavar="PATH", help="write the script to this file instead of standard output")
    add("--code", metavar="PATH", help="write the new C file here, or a copy of FILE if nothing is faster")
    add("--json", action="store_true", help="print the script, times and all candidates as JSON")
    add = parser.add_argument_group("the search").add_argument
    add("--budget", type=options.seconds, default=60.0, metavar="SECONDS", help="overall time limit (60)")
    add("--model", action="store_true", help="rank by the model only, without running programs")
    add(
        "--threads",
        type=options.integer(1),
        default=1,
        metavar="N",
        help="also try parallel loops with N threads (1)",
    )
    add("--start", metavar="SCRIPT", help="start from this script, such as one found for one thread")
    add("--results", metavar="FILE", help="store times in this SQLite file and resume from it")
    add("--size", action="append", default=[], metavar="NAME=N", help="the value of a parameter")
    add = parser.add_argument_group("many machines").add_argument
    add("--on", metavar="ADDRESS", help="time programs on the workers of the Dask scheduler at this address")
    add("--tls-ca", default="", metavar="FILE", help="for a tls:// address: the certificate authority")
    add("--tls-cert", default="", metavar="FILE", help="the client certificate")
    add("--tls-key", default="", metavar="FILE", help="the key of the client certificate")
    proof = parser.add_argument_group("the proof").add_argument
    options.add_reassociation(proof)
    options.add_prover_options(proof, "--proof")
    options.add_reading_options(parser, definitions=False)
    add = parser.add_argument_group("compilation of the trials").add_argument
    add("-D", "--define", action="append", default=[], metavar="NAME=N", help="set a size, as for gcc")
    add("--cc", "--compiler", default="gcc", metavar="COMPILER", help="the C compiler (gcc)")
    add("--cc-option", action="append", default=[], metavar="OPTION", help="an option or file for it")


def optimise(arguments: argparse.Namespace) -> Invocation[Optimised]:
    prepare = options.coq_library(arguments.prover)
    return asked(arguments, _optimised, _printed, {"script": None}, prepare=prepare)


def _optimised(arguments: argparse.Namespace, progress: Progress) -> Optimised:
    from loopwright.optimise.fleet.address import Scheduler, refuse_open
    from loopwright.optimise.optimising import Search
    from loopwright.optimise.optimising import optimise as search_for
    from loopwright.optimise.timing.results import IN_MEMORY
    from loopwright.optimise.timing.runner import TrialRunner
    from loopwright.rewrite.opinions import demand
    from loopwright.run.compiler import find_compiler

    on = None
    if arguments.on is not None:
        on = Scheduler(arguments.on, arguments.tls_ca, arguments.tls_cert, arguments.tls_key)
        refuse_open(on)
    reading = options.reading_options(arguments, arguments.define, arguments.cc)
    request = Request(
        file=arguments.file,
        script_file="<optimised>",
        reading=reading,
        allow_reassociation=arguments.allow_reassociation,
        openmp=arguments.threads > 1,
        prover=options.separate_proof(arguments),
    )
    demand(request.prover)
    search = Search(
        budget=arguments.budget,
        model=arguments.model,
        threads=arguments.threads,
        defines=(*arguments.define, *_given_sizes(arguments)),
        on=None if arguments.model else on,
        results=arguments.results or IN_MEMORY,
        start=_start(arguments),
    )
    compiler = find_compiler(arguments.cc)
    flags = (*reading.compiled.for_file(arguments.file).arguments, *arguments.cc_option)
    with ending_in_order(), tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        runner = TrialRunner(Path(arguments.file), Path(folder), compiler, flags, threads=arguments.threads)
        return search_for(request, runner, search, progress)


def _given_sizes(arguments: argparse.Namespace) -> tuple[str, ...]:
    """What `--size` says: of a loop without iterations there is nothing to time."""
    from loopwright.c.macros import refuse_unknown_sizes
    from loopwright.read.text import load

    found = options.sizes(arguments.size, arguments.file, "--size")
    for name, value in found.items():
        if value < 1:
            message = f"--size {name}={value} is not a problem size"
            raise BadInput(Code.OPTION, message, span=Span.start_of(arguments.file), hint="give a size >= 1")
    refuse_unknown_sizes(load(arguments.file), found)
    return tuple(f"{name}={value}" for name, value in found.items())


def _start(arguments: argparse.Namespace) -> tuple[Step, ...]:
    """The steps of the script that the search begins with."""
    from loopwright.read.text import load
    from loopwright.transform.script.steps import parse_script

    if arguments.start is None:
        return ()
    options.refuse_twice(arguments.file, arguments.start)
    source = load(arguments.start)
    return parse_script(source.text, source.path)


def _printed(arguments: argparse.Namespace, found: Optimised) -> Printed:
    from loopwright.report.results import optimised_data, optimised_table, optimised_text

    source = file_bytes(arguments.file)[1] if found.outcome is None else found.outcome.source.encode()
    files = () if arguments.code is None else ((arguments.code, source),)
    remarks = options.proof_lines(() if found.outcome is None else found.outcome.remarks)
    if arguments.json:
        return Printed(as_lines(optimised_data(arguments.file, found, arguments.prover)), remarks, files)
    summary = optimised_text(called(arguments.file), found)
    script = f"# {summary}# {found.machine}\n{found.script}"
    table = optimised_table(found)
    if arguments.output in (None, STANDARD):
        return Printed(script, err=table + remarks, files=files)
    return Printed(err=summary + table + remarks, files=((arguments.output, script.encode()), *files))
