"""`loopwright demo`: two loops, each with a wrong script and a right one, from refusal to speedup."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.cli.frame import Invocation, Printed, progress_line
from loopwright.cli.options import Verbs
from loopwright.cli.output import write_out
from loopwright.errors import BadInput, Code, GaveUp, Illegal, InternalError
from loopwright.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.rewrite.request import Outcome

LONGEST = 22
"""Lines of code that are shown side by side."""


@dataclass(frozen=True)
class Act:
    """One loop nest: its files, and what to say about them."""

    name: str
    title: str
    wrong: str
    right: str


ACTS = (
    Act(
        "matmul",
        "A matrix multiplication",
        "The innermost loop walks down a column of B. A first try: exchange the two inner loops.",
        "C has to be cleared before anything is added to it. So: clear all of it first, then exchange; and "
        "walk in blocks that fit the cache.",
    ),
    Act(
        "seidel",
        "A Seidel stencil",
        "Each point becomes the mean of its neighbours, in place. A first try: run a row in parallel.",
        "Each point needs the new value of the one to its left. So: let four rows advance together, each one "
        "point after the row above it.",
    ),
)


EXAMPLE = ("loopwright demo", "a half-minute tour")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "demo",
        help="rewrite and prove two loops in half a minute",
        description="A matrix multiplication and a Seidel stencil: a script that is refused and why, one "
        "that is proved, the code it makes, and how much faster that is on this machine.",
    )
    parser.set_defaults(invocation=demo)
    parser.add_argument("--keep", metavar="DIR", help="leave all files there, to play with")


def demo(arguments: argparse.Namespace) -> Invocation[float]:
    return Invocation(
        work=lambda progress: _played(arguments.keep),
        render=lambda seconds: Printed(_farewell(arguments.keep, seconds)),
    )


def _played(keep: str | None) -> float:
    """All acts, printed as they go; how many seconds they took."""
    start = time.monotonic()
    with _folder(keep) as folder, contextlib.chdir(folder):
        for act in ACTS:
            _play(act)
    return time.monotonic() - start


def _farewell(keep: str | None, seconds: float) -> str:
    kept = f"The files are in {keep}.\n" if keep else ""
    return (
        f"{_heading('Now yours')}"
        f"{kept}With a C file of your own:\n\n"
        "  loopwright find kernel.c                  its loops, and how to name them: --function NAME\n"
        "  loopwright suggest kernel.c               what is legal, ready to paste\n"
        "  loopwright transform kernel.c script.lw   the new file, proved\n"
        "  loopwright show kernel.c script.lw        pictures, and what a refusal means\n"
        "  loopwright optimise kernel.c -o script.lw the fastest script that is found\n\n"
        f"This took {seconds:.0f} s.\n"
    )


@contextlib.contextmanager
def _folder(kept: str | None) -> Iterator[str]:
    """A folder with the files of the demo in it."""
    import tempfile
    from importlib import resources

    with tempfile.TemporaryDirectory(prefix="loopwright-demo-") as temporary:
        folder = kept or temporary
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as failure:
            raise BadInput(Code.FILE, f"{folder} cannot be made: {failure.strerror}") from None
        source = resources.files("loopwright.cli") / "demo_files"
        for file in sorted(source.iterdir(), key=lambda entry: entry.name):
            if file.name.endswith((".c", ".lw")):
                Path(folder, file.name).write_bytes(file.read_bytes())
        yield folder


def _play(act: Act) -> None:
    write_out(_heading(act.title))
    write_out(_region(Path(f"{act.name}.c").read_text()) + "\n")
    write_out(f"{act.wrong}\n\n")
    _refused(act)
    write_out(f"{act.right}\n\n")
    outcome = _accepted(act)
    before, after = (_region(text) for text in (Path(f"{act.name}.c").read_text(), outcome.source.text))
    write_out(side_by_side(before, after, shutil.get_terminal_size((150, 40)).columns) + "\n")
    for region in outcome.regions:
        write_out("".join(f"proved: {one.what} ({one.obligations} obligations)\n" for one in region.proofs))
    write_out("\n" + _timed(act) + "\n")


def _refused(act: Act) -> None:
    """The wrong script, and the first thing that is wrong with it."""
    command, script = _command(act, f"{act.name}-wrong")
    write_out(command)
    try:
        _transformed(act, script)
    except Illegal as error:
        from loopwright.report.diagnostics import as_text

        write_out(as_text(replace(error.diagnostic, others=())) + "\n")
        return
    raise InternalError(Code.OWN_MISTAKE, f"{script} of the demo was not refused")


def _accepted(act: Act) -> Outcome:
    """The right script; the new file is left beside the old one."""
    command, script = _command(act, act.name)
    write_out(command)
    outcome = _transformed(act, script)
    Path(f"{act.name}-new.c").write_bytes(outcome.source.encode())
    return outcome


def _command(act: Act, stem: str) -> tuple[str, str]:
    script = f"{stem}.lw"
    return f"$ cat {script}\n{Path(script).read_text()}$ loopwright transform {act.name}.c {script}\n", script


def _transformed(act: Act, script: str) -> Outcome:
    from loopwright.rewrite.pipeline import transformed
    from loopwright.rewrite.request import Request

    request = Request(file=f"{act.name}.c", script=Path(script).read_text(), script_file=script)
    with progress_line(sys.stderr) as progress:
        return transformed(request, progress)


def _timed(act: Act) -> str:
    """Both programs compiled, compared and timed; without a compiler, that it is left out."""
    from loopwright.run.compiler import find_compiler

    try:
        find_compiler()
    except GaveUp as missing:
        return f"not timed: {missing.message} ({missing.hint})\n"
    with progress_line(sys.stderr) as progress:
        return _measured(act, progress)


def _measured(act: Act, progress: Progress) -> str:
    from loopwright.run.benchmark import TimingOptions, compare_and_time
    from loopwright.run.compiler import find_compiler

    old, new = Path(f"{act.name}.c"), Path(f"{act.name}-new.c")
    options = TimingOptions(find_compiler(), rounds=3, timeout=20.0)
    found = compare_and_time(old, new, Path.cwd(), options, progress)
    if found.difference is not None:
        raise InternalError(Code.OWN_MISTAKE, f"{new} computes something else: {found.difference}")
    return (
        f"gcc -O3 -march=native, one thread: {found.original.median:.3f} s as written, "
        f"{found.transformed.median:.3f} s now: {found.ratio:.1f} times as fast, and the same bits.\n"
    )


def _heading(text: str) -> str:
    return f"\n{text}\n{'=' * len(text)}\n\n"


def _region(text: str) -> str:
    """What is between the pragmas."""
    start = text.index("\n", text.index("#pragma scop")) + 1
    return text[start : text.index("#pragma endscop")].rstrip() + "\n"


def side_by_side(left: str, right: str, width: int) -> str:
    """Two texts in two columns; lines that are too long and too many are cut, visibly."""
    one, two = left.splitlines(), right.splitlines()
    column = min(max(map(len, one), default=0), width // 2 - 3)
    rest = max(20, width - column - 3)
    rows = [f"{'as written':<{column}} | as generated", f"{'-' * column}-+-{'-' * min(rest, 60)}"]
    for first, second in list(zip_longest(one, two, fillvalue=""))[:LONGEST]:
        rows.append(f"{_cut(first, column):<{column}} | {_cut(second, rest)}".rstrip())
    if len(two) > LONGEST:
        rows.append(f"{'':<{column}} | ... and {len(two) - LONGEST} more lines")
    return "\n".join(rows) + "\n"


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 3] + "..."
