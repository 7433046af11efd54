"""Records the addresses of the original's arrays when the segment of the checked program starts.

They identify the cells that are accessed through pointers, and reveal arrays that overlap: affine analysis
assumes that arrays do not alias [Bao2016, section 5, "Aliasing"].
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopwright.c.declarations import Variable
from loopwright.c.syntax import refuse
from loopwright.check.original.specification import Specification, box
from loopwright.check.original.structure import Decoded
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.sites import Sites
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Addresses:
    """`header` goes before the program, `begin` before its segment."""

    header: str
    begin: str


def addresses(spec: Specification, sites: Sites) -> Addresses:
    """The addresses that the checks of these sites need."""
    decoded = {one.array: None for site in sites.sites for one in site.observed if isinstance(one, Decoded)}
    lines, begin = ['#include "addresses.h"\n'], []
    for array in decoded:
        rank = spec.ranks[array]
        _require_block(sites.known, array)
        lines.append(f"static long lw_stride_{array}[{rank}];\n")
        lines.append(f"static struct lw_block lw_block_{array} = {{0, lw_stride_{array}, 1}};\n")
        begin.append(f"lw_block_{array}.base = (const char *)&{array}{'[0]' * rank}")
        begin.append(f"lw_block_{array}.element = sizeof {array}{'[0]' * rank}")
        begin += [f"lw_stride_{array}[{k}] = sizeof {array}{'[0]' * (k + 1)}" for k in range(rank)]
    apart = _apart(spec, sites.known)
    if apart is not None:
        begin.append(apart)
    return Addresses("".join(lines) if begin else "", "".join(f"{text}, " for text in begin))


def _require_block(known: ReachedCode, array: str) -> None:
    variable = known.at_segment(array)
    if variable is None or not _is_block(variable):
        message = f"'{array}' is used through pointers, but is not known to be one block of memory"
        hint = f"declare it as an array, or as a pointer to one: double (*{array})[N]"
        raise refuse(known.segment.place, message, hint)


def _is_block(variable: Variable) -> bool:
    """Whether an array is one block: neither an array of pointers nor a pointer to pointers."""
    stars = variable.rank - len(variable.extents)
    text = variable.place.text
    is_pointer_to_array = re.search(rf"\(\s*\*[^()*]*\b{re.escape(variable.name)}\s*\)", text) is not None
    return stars == 0 or (stars == 1 and (not variable.extents or is_pointer_to_array))


def blocks(spec: Specification, known: ReachedCode) -> list[str]:
    """The arrays of the original that are one block of memory each and not empty."""
    return [
        array
        for array in spec.arrays
        if (variable := known.at_segment(array)) is not None
        and variable.rank == spec.ranks[array]
        and _is_block(variable)
        and not spec.footprint(array).is_empty()
    ]


def _apart(spec: Specification, known: ReachedCode) -> str | None:
    """Calls that test whether arrays overlap; None if there is only one array.

    Declared arrays are tested too: linkers and attributes can put two of them at one address.

    For arrays of pointers to rows, the first elements of all rows must be at distinct addresses.
    """
    whole, rows = blocks(spec, known), arrays_by_rows(spec, known)
    variables = [variable for array in whole if (variable := known.at_segment(array)) is not None]
    if not any(one.may_alias or one.rank > len(one.extents) for one in variables):
        whole = [array for array in whole if spec.ranks[array] > 0]  # others may have no address
    if not rows and len(whole) < 2:
        return None
    calls = ["lw_area_count = 0"]
    for array in whole:
        base, ends = f"&{array}{'[0]' * spec.ranks[array]}", ", ".join(bounds(spec, array))
        calls.append(f"lw_area({spec.arrays.index(array)}, (const void *){base}, {ends})")
    for array in rows:
        low, high = box(spec.footprint(array))[0]
        size = f"(long)sizeof {array}[0][0]"
        calls.append(f"lw_rows({spec.arrays.index(array)}, (const void *){array}, {low}, {high}, {size})")
    return ", ".join(calls)


def arrays_by_rows(spec: Specification, known: ReachedCode) -> list[str]:
    """The arrays `double **A`, `double *A[9]` of the original."""
    return [
        array
        for array in spec.arrays
        if (variable := known.at_segment(array)) is not None
        and variable.rank == spec.ranks[array] == 2
        and variable.has_row_pointers
        and not spec.footprint(array).is_empty()
    ]


def bounds(spec: Specification, array: str) -> tuple[str, str]:
    """The first byte the original touches and the first after the last, counted from the first cell."""
    extent = box(spec.footprint(array)) if spec.ranks[array] else ()
    sizes = [f"(long)sizeof {array}{'[0]' * (k + 1)}" for k in range(len(extent))]
    low = " + ".join(f"{low} * {size}" for (low, _), size in zip(extent, sizes, strict=True)) or "0"
    high = " + ".join(f"{high} * {size}" for (_, high), size in zip(extent, sizes, strict=True)) or "0"
    return low, f"{high} + (long)sizeof {array}{'[0]' * len(extent)}"


def shared_memory(spec: Specification, known: ReachedCode, pairs: Sequence[tuple[int, int]]) -> BadInput:
    """The error for arrays that were found to overlap."""
    one, other = (spec.arrays[number] for number in pairs[0])
    message = f"'{one}' and '{other}' share memory"
    hint = "the original assumes that its arrays do not overlap; check a call for which this holds"
    if one == other:
        is_by_rows = one in arrays_by_rows(spec, known)
        message = f"'{one}' is written through a pointer that is not followed"
        hint = "use the array by its name, or give the pointer its value in the segment"
        if is_by_rows:
            message, hint = f"rows of '{one}' share memory", "give each row memory of its own"
    return refuse(known.segment.place, message, hint)
