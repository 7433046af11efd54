"""Data races of the checked program, found by ThreadSanitizer [Bao2016, section 5, "Parallelization"].

The verdict of a check holds for a parallel program if it has no data races; the sanitizer sees
those of the schedules it runs.  It does not know the locks inside gcc's OpenMP library and would
call every join a race, so a program with OpenMP is linked with a small team of plain threads in
the library's place.  What the team cannot do is said, never guessed.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from loopwright.check.program.segment import Input
from loopwright.check.run.execute import Toolchain, run_program, workspace
from loopwright.check.run.report import Answer, Report
from loopwright.check.runtime import runtime_text

_RACE = "WARNING: ThreadSanitizer: data race"
_OPTIONS = ("-O1", "-g", "-w", "-fsanitize=thread")


def with_races(given: Input, tools: Toolchain, report: Report) -> Report:
    """`report`, or a violation where the program by itself has a data race."""
    if not tools.openmp and "pthread" not in given.segment.source.text:
        return _noted(report, "the program has no threads: nothing can race")
    with workspace() as folder:
        failure = _compile(given, tools, folder)
        if failure is not None:
            return _noted(report, f"no race detection: {failure}")
        ended = run_program(tools, folder / "program", folder)
    if "FATAL: ThreadSanitizer" in ended.errors or "unexpected memory mapping" in ended.errors:
        return _noted(report, "no race detection: ThreadSanitizer cannot run here")
    if ended.timed_out:
        return _noted(report, "no race detection: the program did not end in time under ThreadSanitizer")
    if _RACE not in ended.errors:
        return _noted(report, "ThreadSanitizer saw no data race in this run")
    answer = Answer.VIOLATION if report.answer is Answer.VALID else report.answer
    place = _first_place(ended.errors, given.segment.source.path)
    return replace(_noted(report, f"data race {place}"), answer=answer, violations=report.violations + 1)


def _noted(report: Report, note: str) -> Report:
    return replace(report, notes=(*report.notes, note))


def _compile(given: Input, tools: Toolchain, folder: Path) -> str | None:
    """Compile the program, not instrumented, with the team; the compiler's complaint if it has one."""
    program, team = folder / "program.c", folder / "team.c"
    path = Path(given.segment.source.path)
    line = f'#line 1 "{path.name}"\n'
    program.write_text(line + given.segment.source.text, "utf-8", "surrogateescape")
    team.write_text(runtime_text("team.c") if tools.openmp else "")
    parallel = ("-fopenmp",) if tools.openmp else ()
    around = ("-iquote", str(path.resolve().parent))
    objects = [str(folder / "program.o"), str(folder / "team.o")]
    steps = [
        [tools.compiler, *_OPTIONS, *parallel, *around, "-c", str(program), "-o", objects[0], *tools.options],
        [tools.compiler, *_OPTIONS, "-c", str(team), "-o", objects[1]],
        [tools.compiler, "-fsanitize=thread", *objects, "-o", str(folder / "program"), "-lm", "-lpthread"],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, errors="replace")
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
            return lines[0].strip() if lines else done.stderr[:200].strip()
    return None


def _first_place(messages: str, path: str) -> str:
    """The first line of the user's file that the sanitizer names."""
    name = Path(path).name
    for line in messages.splitlines():
        if f"{name}:" in line:
            return f"at {path}:{line.split(f'{name}:')[1].split()[0]}"
    return "(ThreadSanitizer does not say where)"
