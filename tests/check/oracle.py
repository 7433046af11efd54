"""The verdict by brute force: both programs are traced, and versions of cells are compared.

No set, no map, no writer function: an operation is a statement's text, a cell with the number of
times it has been written, and the cells read with theirs.  A program is a valid reordering if
and only if, for every cell and version, it runs an operation that looks like the original's and
reads the same versions of the same cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.check.program.addresses import addresses
from loopwright.check.program.instrument import instrumented, precise_call
from loopwright.check.program.sites import Site
from loopwright.check.run.execute import Built
from loopwright.check.run.judged import Job
from loopwright.check.verify import run_built

HEADER = """\
void lw_begin(const long *sizes);
void lw_end(void);
void lw_operation(int site, const long *observed);
"""

LIMIT = 200_000
"""Operations after which a program is taken to have gone astray."""

ENGINE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static const int counts[] = {COUNTS};
static FILE *trace;
static int active;
static long number;
void lw_begin(const long *sizes)
{
  if (!trace) trace = fopen(getenv("LOOPWRIGHT_REPORT"), "w");
  active = 1;
}
void lw_alias(int one, int other) { }
void lw_end(void) { active = 0; fprintf(trace, "end\n"); fflush(trace); }
void lw_operation(int site, const long *o)
{
  if (!active) return;
  if (++number > LIMIT) { fprintf(trace, "astray\n"); fflush(trace); _exit(0); }
  fprintf(trace, "%d", site);
  for (int k = 0; k < counts[site]; k++) fprintf(trace, " %ld", o[k]);
  fprintf(trace, "\n");
  fflush(trace);
}
"""

Versioned = tuple[str, tuple[int, ...], int]
"""Array, cell, and how many times it had been written."""


@dataclass(frozen=True)
class Operation:
    """What ran: the statements it looks like, each with the values of its iterators in the text."""

    site: int
    looks_like: dict[str, tuple[int, ...]]
    reads: tuple[Versioned, ...]


@dataclass(frozen=True)
class Trace:
    """Operations by what they wrote; `complete` unless the run crashed or went astray."""

    operations: dict[Versioned, Operation]
    complete: bool


def traced(job: Job) -> Trace:
    """Run the program of `job` and note every operation."""
    counts = ", ".join(str(len(site.observed)) for site in job.sites.sites)
    engine = ENGINE.replace("COUNTS", counts).replace("LIMIT", str(LIMIT))
    where = addresses(job.spec, job.sites)
    program = instrumented(job.sites, precise_call, f"{where.begin}lw_begin(0);", "lw_end();")
    ended = run_built(job, Built(program, where.header + HEADER, engine, options=("-O0",)))
    ok = ended.crashed is None and not ended.timed_out and "end" in ended.lines
    lines = [line for line in ended.lines if line not in ("end", "astray")]
    return Trace(_replayed(job, lines), ok and "astray" not in ended.lines)


def _replayed(job: Job, lines: list[str]) -> dict[Versioned, Operation]:
    versions: dict[tuple[str, tuple[int, ...]], int] = {}
    found: dict[Versioned, Operation] = {}
    for line in lines:
        number, *values = (int(word) for word in line.split())
        site = job.sites.sites[number]
        cells = list(_cells(site, values))
        (array, cell), *reads = cells
        at = versions.get((array, cell), 0)
        seen = tuple((name, where, versions.get((name, where), 0)) for name, where in reads)
        looks = {
            one.statement.name: tuple(values[site.first_hole(one) + k] for k in range(len(one.holes)))
            for one in site.candidates
        }
        found[array, cell, at] = Operation(number, looks, seen)
        versions[array, cell] = at + 1
    return found


def _cells(site: Site, values: list[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    position = 0
    for cell in (site.write, *site.reads):
        count = len(cell.subscripts)
        yield cell.array, tuple(values[position : position + count])
        position += count


@dataclass(frozen=True)
class Expected:
    """The original's operations: the statement and the values of its iterators in the text."""

    operations: dict[Versioned, tuple[str, tuple[int, ...], tuple[Versioned, ...]]]


def expected(job: Job) -> Expected:
    """The trace of the original itself, of which `job` is the check against itself."""
    trace = traced(job)
    assert trace.complete
    by_place = {statement.place.start: statement.name for statement in job.spec.statements}
    names = [by_place[site.assignment.node.span.start] for site in job.sites.sites]
    return Expected(
        {
            key: (names[one.site], one.looks_like[names[one.site]], one.reads)
            for key, one in trace.operations.items()
        }
    )


def is_valid(wanted: Expected, trace: Trace) -> bool:
    """Whether the traced program is a reordering of the original that keeps its dependences."""
    if not trace.complete or trace.operations.keys() != wanted.operations.keys():
        return False
    for key, (name, holes, reads) in wanted.operations.items():
        operation = trace.operations[key]
        if operation.looks_like.get(name) != holes or operation.reads != reads:
            return False
    return True
