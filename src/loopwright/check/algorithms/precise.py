"""Algorithm A for one specification and one program: the tables that `precise.c` is compiled with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopwright.check.original.specification import Specification, box
from loopwright.check.original.writers import Writers, subscripts, writer_functions
from loopwright.check.program.sites import Candidate, Site
from loopwright.presburger.sets import OUT

HEADER = """\
void lw_begin(const long *sizes);
void lw_end(void);
void lw_operation(int site, const long *observed);
"""


def precise_tables(spec: Specification, found: Writers, sites: Sequence[Site]) -> str:
    """`lw_tables.h` of Algorithm A: the facts about the original and the program that `precise.c` needs."""
    return "\n".join(
        (
            _limits(spec, sites),
            '#include "precise.h"\n',
            _tables(spec),
            _site_tables(spec, sites),
            writer_functions(spec, found),
        )
    )


def _limits(spec: Specification, sites: Sequence[Site]) -> str:
    times = max(s.schedule.dim(OUT) for s in spec.statements)
    observed = [len(site.observed) for site in sites] + [len(subscripts(s)) for s in spec.statements]
    limits = {
        "LW_ARRAYS": len(spec.arrays),
        "LW_DEPTH": max(s.depth for s in spec.statements),
        "LW_TIMES": times,
        "LW_OBSERVED": max(observed) + 1,
        "LW_RANKS": max(spec.ranks.values()),
        "LW_SIZES": len(spec.sizes),
        "LW_SITES": len(sites),
        "LW_READS": max(len(s.reads) for s in spec.statements) + 1,
        "LW_MOST": max(len(spec.statements), *(len(s.reads) for s in spec.statements)),
    }
    return "".join(f"#define {name} {value}\n" for name, value in limits.items())


def _list(values: Iterable[object]) -> str:
    return "{" + ", ".join(str(value) for value in values) + "}"


def _tables(spec: Specification) -> str:
    numbers = {array: number for number, array in enumerate(spec.arrays)}
    boxes = []
    for array in spec.arrays:
        cells = spec.footprint(array)
        extent = () if cells.is_empty() or spec.ranks[array] == 0 else box(cells)
        boxes.append(_list((*(_list(pair) for pair in extent), "{0, -1}")))
    written = [int(array in spec.written and not spec.footprint(array).is_empty()) for array in spec.arrays]
    lines = [
        f"static const long lw_sizes[] = {_list((*(number for _, number in spec.sizes), 0))};",
        f"static const int lw_ranks[] = {_list(spec.ranks.values())};",
        f"static const int lw_is_written[] = {_list(written)};",
        f"static const long lw_boxes[][LW_RANKS + 1][2] = {_list(boxes)};",
        f"static const int lw_dims[] = {_list(s.depth for s in spec.statements)};",
        f"static const int lw_write_array[] = {_list(numbers[s.write.array] for s in spec.statements)};",
        f"static const int lw_read_count[] = {_list(len(s.reads) for s in spec.statements)};",
        "static const int lw_read_array[][LW_READS] = "
        + _list(_list((*(numbers[r.array] for r in s.reads), -1)) for s in spec.statements)
        + ";",
    ]
    return "\n".join(lines)


def _site_tables(spec: Specification, sites: Sequence[Site]) -> str:
    numbers = {array: number for number, array in enumerate(spec.arrays)}
    lines: list[str] = []
    for site in sites:
        entries = []
        for candidate in site.candidates:
            name = f"lw_holes_{site.number}_{candidate.statement.number}"
            lines.append(f"static const int {name}[] = {_list((*_hole_numbers(spec, candidate), 0))};")
            first = site.first_hole(candidate)
            entries.append(_list((candidate.statement.number, first, len(candidate.holes), name)))
        entries.append("{-1, 0, 0, 0}")
        lines.append(f"static const struct lw_candidate lw_site_{site.number}[] = {_list(entries)};")
    names = [f"lw_site_{site.number}" for site in sites]
    lines += [
        f"static const struct lw_candidate *const lw_candidates[] = {_list(names)};",
        f"static const int lw_site_array[] = {_list(numbers[site.write.array] for site in sites)};",
        f"static const int lw_observed[] = {_list(len(site.observed) for site in sites)};",
    ]
    return "\n".join(lines)


def _hole_numbers(spec: Specification, candidate: Candidate) -> tuple[int, ...]:
    """Number the holes: iterators by position, sizes from -1 downwards."""
    iterators = candidate.statement.iterators
    sizes = {name: -1 - number for number, (name, _) in enumerate(spec.sizes)}
    return tuple(iterators.index(name) if name in iterators else sizes[name] for name, _ in candidate.holes)
