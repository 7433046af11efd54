"""`loopwright transform FILE [SCRIPT]`: the loops of a C file rewritten, proved, then written."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopwright.cli.diagnostics import as_json, exit_code, show, show_explanation, verdict_word
from loopwright.cli.extract import add_reading_options
from loopwright.cli.options import seconds
from loopwright.cli.outcome import failures_named, placed, write_out
from loopwright.cli.progress import progress_line
from loopwright.cli.prover import add_prover_options, answers, code_path, prover_request, report
from loopwright.cli.script import add_script, script_of
from loopwright.errors import BadInput, Code, LoopwrightError
from loopwright.source import Span

if TYPE_CHECKING:
    from loopwright.rewrite.outcome import Outcome, RegionReport
    from loopwright.rewrite.request import Request

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Let the command line know the verb and its options."""
    parser = verbs.add_parser(
        "transform",
        help="rewrite the loops of a C file by a script, proved",
        description="Rewrite the regions between '#pragma scop' and '#pragma endscop' as the script says. "
        "Nothing is written that was not proved: the script keeps every dependence, the loops run the "
        "schedule, and so does the new text, read again. Regions the script does not name keep their text; "
        "without a script all get new loops, in the order of the old ones.",
    )
    parser.set_defaults(run=transform)
    add = parser.add_argument
    add("file", metavar="FILE", help="a C file")
    add_script(parser, "the order stays")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("-o", "--output", metavar="PATH", help="write there instead of to standard output")
    target.add_argument("--in-place", action="store_true", help="replace FILE, after the proof")
    add_reading_options(parser)
    add("--openmp", action="store_true", help="an OpenMP pragma in front of each outermost parallel loop")
    add("--allow-reassociation", action="store_true", help="sums and products may be computed in any order")
    add("--step", action="store_true", help="show the region after each operation, to standard error")
    add("--no-prove", action="store_true", help="write the file without a proof")
    add_prover_options(add)
    add("--json", action="store_true", help="code, proofs, assumptions and diagnostics as JSON")
    add("--timeout", type=seconds, metavar="SECONDS", help="give up after so long")


def transform(arguments: argparse.Namespace) -> int:
    """Do what the command line says; the exit status."""
    file = arguments.file
    try:
        outcome = failures_named(lambda: _run(arguments))
        failures_named(lambda: _deliver(arguments, outcome))
    except LoopwrightError as error:
        return _fail(placed(error, file), file, arguments.json)
    _report(outcome, file, proved=not arguments.no_prove)
    report(outcome.remarks)
    return 0


def _run(arguments: argparse.Namespace) -> Outcome:
    request = _request(arguments)
    with progress_line(sys.stderr) as progress:
        from loopwright.rewrite.pipeline import transformed

        if arguments.timeout is None:
            return transformed(request, progress)
        from loopwright.run.supervise import within

        limit = arguments.timeout
        return within(limit, lambda inner: failures_named(lambda: transformed(request, inner)), progress)


def _request(arguments: argparse.Namespace) -> Request:
    from loopwright.rewrite.request import Request

    _refuse_overwriting(arguments)
    script, script_file = script_of(arguments)
    return Request(
        file=arguments.file,
        script=script,
        script_file=script_file,
        pure=tuple(arguments.pure),
        assume=tuple(arguments.assume),
        openmp=arguments.openmp,
        allow_reassociation=arguments.allow_reassociation,
        prove=not arguments.no_prove,
        steps=arguments.step,
        prover=prover_request(arguments),
    )


def _refuse_overwriting(arguments: argparse.Namespace) -> None:
    """The input is replaced only by --in-place."""
    output = arguments.output
    if output is None or not os.path.exists(output):
        return
    for name in (arguments.file, arguments.script):
        if name is not None and os.path.exists(name) and os.path.samefile(name, output):
            raise BadInput(
                Code.FILE,
                "this is the input itself",
                span=Span.start_of(output),
                hint="--in-place replaces the C file",
            )


def _deliver(arguments: argparse.Namespace, outcome: Outcome) -> None:
    for text, region in outcome.steps:
        sys.stderr.write(f"after {text}\n{region}\n")
    target = arguments.file if arguments.in_place else code_path(arguments)
    if target is not None:
        replace_file(target, outcome.source.encode())
    if arguments.json:
        write_out(json.dumps(_data(arguments, outcome), indent=2) + "\n")
    elif target is None:
        sys.stdout.flush()
        write_out_bytes(outcome.source.encode())


def write_out_bytes(data: bytes) -> None:
    """Bytes to standard output; where that is no file, as text."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        write_out(data.decode("utf-8", "replace"))
        return
    try:
        buffer.write(data)
        buffer.flush()
    except OSError:
        write_out("")
        raise


def replace_file(path: str, data: bytes) -> None:
    """All of the file or none of it: the data take its place when they are on the disk."""
    real = os.path.realpath(path)
    mode = os.stat(real).st_mode & 0o7777 if os.path.exists(real) else None
    temporary = None
    try:
        folder = os.path.dirname(real)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".loopwright-", delete=False) as made:
            temporary = made.name
            made.write(data)
            made.flush()
            os.fsync(made.fileno())
        os.chmod(temporary, mode if mode is not None else 0o666 & ~_mask())
        os.replace(temporary, real)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise BadInput(Code.FILE, f"cannot be written: {error.strerror}", span=Span.start_of(path)) from None


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _data(arguments: argparse.Namespace, outcome: Outcome) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "file": arguments.file,
        "verdict": "not proved" if arguments.no_prove else "proved",
        "code": outcome.source.encode().decode("utf-8", "replace"),
        "regions": [asdict(region) for region in outcome.regions],
        "steps": [{"operation": text, "region": region} for text, region in outcome.steps],
        "provers": answers(arguments.prover, outcome.remarks),
        "notes": list(outcome.notes),
        "diagnostics": [],
    }


def _report(outcome: Outcome, file: str, *, proved: bool) -> None:
    """What was proved and what is taken on trust, to standard error."""
    lines: list[str] = []
    for region in outcome.regions:
        count = len(region.statements)
        title = f"{file}:{region.line}: region of {count} statement{'' if count == 1 else 's'}"
        lines.append(title + _remark(region, proved))
        lines += [f"  proved: {proof.what} ({_obligations(proof.obligations)})" for proof in region.proofs]
        lines += [f"  taken on trust: {text}" for text in region.assumptions]
    lines += [f"{file}: note: {note}" for note in outcome.notes]
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def _obligations(count: int) -> str:
    return f"{count} obligation{'' if count == 1 else 's'}"


def _remark(region: RegionReport, proved: bool) -> str:
    if region.kept:
        return ": kept as it is, no operation names it"
    return "" if proved else ": not proved"


def _fail(error: LoopwrightError, file: str, json_output: bool) -> int:
    """The whole explanation where there is one, a diagnostic otherwise."""
    if json_output:
        found = {
            "file": file,
            "verdict": verdict_word(error),
            "code": None,
            "regions": [],
            "diagnostics": [as_json(error, file) | {"details": getattr(error, "details", None)}],
        }
        write_out(json.dumps(found, indent=2) + "\n")
    if getattr(error, "explanation", ""):
        show_explanation(error, sys.stderr)
    else:
        show(error, sys.stderr, file)
    return exit_code(error)
