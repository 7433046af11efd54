"""Where the arrays of the original lie in the checked program, asked where its segment starts.

From that, cells that are touched through pointers are known by their addresses, and arrays that
share memory are found out: affine analysis takes them to be apart (004, section 5, "Aliasing").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.check.reachable import Reached
from loopwright.check.sites import Sites
from loopwright.check.specification import Specification, box
from loopwright.check.structure import Decoded
from loopwright.errors import BadInput
from loopwright.read.c.declarations import Variable
from loopwright.read.c.syntax import refuse

FAR = 1 << 35
"""Bytes; an address further from an array is no cell of it."""

_AT = """\
static long lw_at_{array}_{dimension}(const volatile void *at)
{{
  long rest = (const volatile char *)at - lw_base_{array}, found = 0;
  if (rest < -{far}L || rest > {far}L) rest = -lw_stride_{array}[0];
  for (int k = 0; k <= {dimension}; k++) {{
    long size = lw_stride_{array}[k];
    found = rest >= 0 ? rest / size : -((size - 1 - rest) / size);
    rest -= found * size;
  }}
  return found;
}}
"""

_APART = """\
void lw_alias(int one, int other);
static void lw_apart(int count, const int *arrays, const char *const *base, const long (*ends)[2])
{
  for (int k = 0; k < count; k++)
    for (int m = 0; m < k; m++)
      if (base[k] + ends[k][0] < base[m] + ends[m][1] && base[m] + ends[m][0] < base[k] + ends[k][1])
        lw_alias(arrays[m], arrays[k]);
}
"""


@dataclass(frozen=True)
class Addresses:
    """`header` goes in front of the program, `begin` in front of its segment."""

    header: str
    begin: str


def addresses(spec: Specification, sites: Sites) -> Addresses:
    """What the checks of these sites need to know about addresses."""
    decoded = {one.array: None for site in sites.sites for one in site.observed if isinstance(one, Decoded)}
    lines, begin = [], []
    for array in decoded:
        rank = spec.ranks[array]
        _require_block(sites.known, array)
        lines.append(f"static const char *lw_base_{array};\nstatic long lw_stride_{array}[{rank}];\n")
        lines += [_AT.format(array=array, dimension=k, far=FAR) for k in range(rank)]
        begin.append(f"lw_base_{array} = (const char *)&{array}{'[0]' * rank}")
        begin += [f"lw_stride_{array}[{k}] = sizeof {array}{'[0]' * (k + 1)}" for k in range(rank)]
    apart = _apart(spec, sites.known)
    if apart is not None:
        lines.append(_APART)
        begin.append(apart)
    return Addresses("".join(lines), "".join(f"{text}, " for text in begin))


def _require_block(known: Reached, array: str) -> None:
    variable = known.at_segment(array)
    if variable is None or not _is_block(known, variable):
        message = f"'{array}' is used through pointers, but is not known to be one block of memory"
        hint = f"declare it as an array, or as a pointer to one: double (*{array})[N]"
        raise refuse(known.source, known.segment.place, message, hint)


def _is_block(known: Reached, variable: Variable) -> bool:
    """Whether an array is one block: no array of pointers, and no pointer to pointers."""
    stars = variable.rank - len(variable.extents)
    text = known.source.slice(variable.place)
    is_pointer_to_array = re.search(rf"\(\s*\*[^()*]*\b{re.escape(variable.name)}\s*\)", text) is not None
    return stars == 0 or (stars == 1 and (not variable.extents or is_pointer_to_array))


def blocks(spec: Specification, known: Reached) -> list[str]:
    """The arrays of the original that are one block of memory each, and not empty."""
    return [
        array
        for array in spec.arrays
        if (variable := known.at_segment(array)) is not None
        and variable.rank == spec.ranks[array]
        and _is_block(known, variable)
        and not spec.footprint(array).is_empty()
    ]


def _apart(spec: Specification, known: Reached) -> str | None:
    """The call that looks whether arrays share memory; None where declarations rule that out."""
    names = blocks(spec, known)
    variables = [variable for array in names if (variable := known.at_segment(array)) is not None]
    if len(names) < 2 or not any(one.may_alias or one.rank > len(one.extents) for one in variables):
        return None
    numbers = {array: number for number, array in enumerate(spec.arrays)}
    bases = ", ".join(f"(const char *)&{array}{'[0]' * spec.ranks[array]}" for array in names)
    ends = ", ".join(f"{{{', '.join(bounds(spec, array))}}}" for array in names)
    which = ", ".join(str(numbers[array]) for array in names)
    return (
        f"lw_apart({len(names)}, (const int[]){{{which}}}, (const char *const[]){{{bases}}}, "
        f"(const long[][2]){{{ends}}})"
    )


def bounds(spec: Specification, array: str) -> tuple[str, str]:
    """The first byte the original touches and the first behind the last, counted from the first cell."""
    extent = box(spec.footprint(array)) if spec.ranks[array] else ()
    sizes = [f"(long)sizeof {array}{'[0]' * (k + 1)}" for k in range(len(extent))]
    low = " + ".join(f"{low} * {size}" for (low, _), size in zip(extent, sizes, strict=True)) or "0"
    high = " + ".join(f"{high} * {size}" for (_, high), size in zip(extent, sizes, strict=True)) or "0"
    return low, f"{high} + (long)sizeof {array}{'[0]' * len(extent)}"


def shared_memory(spec: Specification, known: Reached, pairs: Sequence[tuple[int, int]]) -> BadInput:
    """The error for arrays that were found to overlap."""
    one, other = (spec.arrays[number] for number in pairs[0])
    message = f"'{one}' and '{other}' share memory"
    hint = "the original takes its arrays to be apart; check a call for which they are"
    if one == other:
        message = f"'{one}' is written through a pointer that is not followed"
        hint = "use the array by its name, or give the pointer its value in the segment"
    return refuse(known.source, known.segment.place, message, hint)
