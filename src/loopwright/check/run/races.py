"""Data races of the checked program, found by ThreadSanitizer [Bao2016, section 5, "Parallelization"].

The verdict of a check holds for a parallel program if it has no data races; the sanitizer sees
those of the schedules it runs.  Two accesses at the very same moment miss each other in its
tables: a program that ends soon is run again.  The sanitizer does not know the locks inside gcc's
OpenMP library and would call every join a race, so a program with OpenMP is linked with a small
team of plain threads in the library's place.  What the team cannot do is said, never guessed.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from loopwright.check.program.segment import Input
from loopwright.check.run.execute import Toolchain, compile_only, run_program, workspace
from loopwright.check.run.report import Answer, Report
from loopwright.check.runtime import runtime_text
from loopwright.errors import Code, GaveUp

_RACE = "WARNING: ThreadSanitizer: data race"
_RUNS, _SECONDS_TO_RUN_AGAIN = 3, 2.0
_OPTIONS = ("-O1", "-g", "-w", "-fsanitize=thread")


def with_races(given: Input, tools: Toolchain, report: Report) -> Report:
    """`report`, or a violation where the program by itself has a data race, whatever the checked runs showed.

    Where races were not looked for, "valid" would say more than is known.
    """
    try:
        race = _race(given, tools)
    except GaveUp as failure:
        answer = Answer.GAVE_UP if report.answer is Answer.VALID else report.answer
        return replace(_noted(report, f"no race detection: {failure.message}"), answer=answer)
    if race is None:
        return _noted(report, "ThreadSanitizer saw no data race in what it ran")
    found = replace(report, answer=Answer.VIOLATION, violations=report.violations + 1)
    return _noted(found, f"data race {race}")


def _noted(report: Report, note: str) -> Report:
    return replace(report, notes=(*report.notes, note))


def _race(given: Input, tools: Toolchain) -> str | None:
    """Where the first data race of a run is, or None; GaveUp where the run says nothing."""
    with workspace() as folder:
        _compile(given, tools, folder)
        start = time.monotonic()
        for _ in range(_RUNS):
            seen = _seen_in_a_run(tools, folder)
            if _RACE in seen:
                return _first_place(seen, given.segment.source.path)
            if time.monotonic() - start > _SECONDS_TO_RUN_AGAIN:
                break
    return None


def _seen_in_a_run(tools: Toolchain, folder: Path) -> str:
    """What ThreadSanitizer writes about a run; GaveUp where that is about no whole run."""
    ended = run_program(tools, folder / "program", folder, {"TSAN_OPTIONS": f"log_path={folder / 'races'}"})
    seen = "".join(path.read_text(errors="replace") for path in sorted(folder.glob("races.*")))
    if _RACE in seen:
        return seen
    if "FATAL: ThreadSanitizer" in seen + ended.errors or "unexpected memory mapping" in ended.errors:
        raise _unknown("ThreadSanitizer cannot run here")
    if ended.timed_out:
        raise _unknown("the program did not end in time under ThreadSanitizer")
    if ended.crashed is not None:
        raise _unknown(f"the program crashed ({ended.crashed}) under ThreadSanitizer")
    return seen


def _unknown(message: str) -> GaveUp:
    return GaveUp(Code.UNDECIDED, message)


def _compile(given: Input, tools: Toolchain, folder: Path) -> None:
    """Compile the program, not instrumented, with the team; GaveUp with the compiler's first complaint."""
    program, team = folder / "program.c", folder / "team.c"
    path = Path(given.segment.source.path)
    line = f'#line 1 "{path.name}"\n'
    program.write_text(line + given.segment.source.text, "utf-8", "surrogateescape")
    team.write_text(runtime_text("team.c") if tools.openmp else "")
    parallel = ("-fopenmp",) if tools.openmp else ()
    around = ("-iquote", str(path.resolve().parent))
    objects = [str(folder / "program.o"), str(folder / "team.o")]
    steps = [
        [*_OPTIONS, *parallel, *around, "-c", str(program), "-o", objects[0], *compile_only(tools.options)],
        [*_OPTIONS, "-c", str(team), "-o", objects[1]],
        ["-fsanitize=thread", *objects, "-o", str(folder / "program"), *tools.options, "-lm", "-lpthread"],
    ]
    for step in steps:
        done = tools.compile(step)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
            raise _unknown(lines[0].strip() if lines else done.stderr[:200].strip())


def _first_place(messages: str, path: str) -> str:
    """The first line of the user's file that the sanitizer names."""
    name = Path(path).name
    for line in messages.splitlines():
        if f"{name}:" in line:
            return f"at {path}:{line.split(f'{name}:')[1].split()[0]}"
    return "(ThreadSanitizer does not say where)"
