"""The runtime of a check: C files that are compiled with the program under test.

    precise.c    Algorithm A, operation by operation
    delayed.c    shadows of one number a cell, one verdict at the end; delayed.h is its other half
    addresses.h  cells that are reached through pointers, overlapping arrays
    guards.h     assignments that are not operations
    kept.h       variables that the original does not write
    allocated.c  allocated memory that the original does not write; it follows an engine
    probe.c      asks a program for its problem sizes
    extents.c    observes what a program writes, to find its sizes
    team.c       threads for the search for data races
    differing.c  runs the original and the segment on the same data, and compares what they leave
    unset.c      variables that are read uninitialised
    terms.h      numbers that are codes of the terms they are the values of; C++, included before a program

Two generated headers hold everything that depends on the program under test: `loopwright_check.h`, which the
program includes, and `lw_tables.h`, which the engine includes.
"""

from __future__ import annotations

from importlib.resources import files

ENGINES = ("precise.c", "delayed.c", "probe.c", "extents.c", "team.c", "unset.c", "differing.c")
HEADERS = ("helpers.h", "codes.h", "report.h", "precise.h", "delayed.h", "addresses.h", "guards.h", "kept.h")
TERMS = "terms.h"
ALLOCATED = "allocated.c"
PROGRAM_HEADER = "loopwright_check.h"
"""The generated header that the program under test includes."""
TABLES_HEADER = "lw_tables.h"
"""The generated header that the engine includes."""


def runtime_text(name: str) -> str:
    """Return the source of one file of the runtime."""
    return files(__name__).joinpath(name).read_text("utf-8")
