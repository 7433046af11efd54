"""Generates a `main` for a file without one: it makes data for the regions' functions, and times the calls.

Arrays are as large as the regions reach at the sizes given, and are filled again before each call: numbers
between 1 and 2, integers 0 and 1, zeros in structs.  A parameter that is a size has its value, any other
number is 1.  A function is called by a pointer that compilers cannot follow: they would remove a call whose
results are not used, and could compile a function for known arguments alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from loopwright.c.casts import expression_of
from loopwright.c.declarations import is_integer_type
from loopwright.c.file import FunctionDefinition
from loopwright.c.syntax import walk
from loopwright.c.tokens import names_in
from loopwright.errors import BadInput, Code
from loopwright.model.program import ELSEWHERE, Array, Program
from loopwright.optimise.model.sizes import value_of
from loopwright.presburger.sets import DIM, PARAM

GIVE_MAIN = "give the file a main that runs its regions, or rank scripts by the model alone: --model"

CALLS = 3
"""The number of calls of each function; the shortest time counts."""

UNKNOWN, PAGE = 64, 4096
"""Bytes of an element that a pointer is given whose memory the regions do not use, and of a page."""

HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lw_unknown {
  char bytes[%d];
};

static double lw_now(void)
{
  struct timespec now;
  clock_gettime(%s, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
"""


def driver_for(
    programs: Sequence[Program], sizes: Sequence[Mapping[str, int]], defines: Sequence[str], threads: int
) -> str:
    """The text to add to the file; it prints the seconds of the fastest call of each function together."""
    known = {_function(one).name: (one, size) for one, size in zip(programs, sizes, strict=True)}
    bodies = [_called(_function(one), one, size, defines) for one, size in known.values()]
    clock = "CLOCK_PROCESS_CPUTIME_ID" if threads == 1 else "CLOCK_MONOTONIC"
    return f"{HEAD % (UNKNOWN, clock)}\nint main(void)\n{{\n  double lw_total = 0;\n{''.join(bodies)}{TAIL}"


TAIL = '  printf("%.9f\\n", lw_total);\n  return 0;\n}\n'


def _function(program: Program) -> FunctionDefinition:
    """The one a region is in."""
    for function in program.file.functions:
        names = function.parameters
        if function.body.span.contains(program.region) and len(set(names)) == len(names):
            return function
    raise BadInput(
        Code.RUN,
        "no data can be generated for the function of this region: its parameters are not understood",
        span=program.region,
        hint=GIVE_MAIN,
    )


def _called(
    function: FunctionDefinition, program: Program, sizes: Mapping[str, int], defines: Sequence[str]
) -> str:
    _refuse_members(function, program)
    arrays = {one.name: one for one in program.arrays}
    counts = _counts(program, function, sizes, defines)
    made, filled, arguments = "", "", []
    for name, kind in zip(function.parameters, function.types, strict=True):
        if kind != "pointer":
            arguments.append(str(sizes.get(name, 1)))
            continue
        array = arrays.get(name, _unused(name))
        element = _element(array)
        count = counts[name]
        data = f"lw_data_{name}"
        made += f"    {element} *{data} = malloc({count} * sizeof *{data});\n"
        filled += _fill(data, f"{count}", element)
        arguments.append(f"(void *){data}")
    for one in program.arrays:
        if one.name not in function.parameters and one.rank > 0 and not program.is_private(one):
            element = _element(one)
            filled += _fill(
                f"(({element} *)(void *){one.name})", f"sizeof {one.name} / sizeof({element})", element
            )
    freed = "".join(f"    free({one.removeprefix('(void *)')});\n" for one in arguments if "lw_" in one)
    return (
        f"  {{\n    double lw_best = 1e300;\n"
        f"    __typeof__({function.name}) *volatile lw_call = {function.name};\n{made}"
        f"    for (int lw_turn = 0; lw_turn < {CALLS}; lw_turn++) {{\n{filled}"
        f"      double lw_begin = lw_now();\n      lw_call({', '.join(arguments)});\n"
        "      double lw_end = lw_now();\n"
        "      if (lw_end - lw_begin < lw_best)\n        lw_best = lw_end - lw_begin;\n    }\n"
        f"    lw_total += lw_best;\n{freed}  }}\n"
    )


def _unused(name: str) -> Array:
    """A pointer of the function that its region does not use: what its memory holds is not known."""
    return Array(name, 1, "struct lw_unknown")


def _counts(
    program: Program, function: FunctionDefinition, sizes: Mapping[str, int], defines: Sequence[str]
) -> dict[str, int]:
    """The number of elements each pointer needs; if unknown, twice that of the largest array.

    A pointer that is not used gets as many bytes as the largest array of numbers, and one page more.
    """
    pointers = [
        name for name, kind in zip(function.parameters, function.types, strict=True) if kind == "pointer"
    ]
    arrays = {name: _unused(name) for name in pointers} | {one.name: one for one in program.arrays}
    counts = {name: cells(program, arrays[name], sizes, defines) for name in pointers}
    most = max(counts.values(), default=1)
    unused = set(pointers) - {one.name for one in program.arrays}
    return {
        name: (8 * most + PAGE) // UNKNOWN if name in unused
        else max(count, 2 * most) if _is_unbounded(program, name, sizes)
        else count
        for name, count in counts.items()
    }  # fmt: skip


def _is_unbounded(program: Program, array: str, sizes: Mapping[str, int]) -> bool:
    """Whether the model has no bound on a subscript."""
    found = [
        _at(access.relation.range(), sizes)
        for statement in program.statements
        for access in statement.accesses
        if access.array == array
    ]
    return any(not one.dim_max_val(k).is_int() for one in found for k in range(one.dim(DIM)))


def _refuse_members(function: FunctionDefinition, program: Program) -> None:
    """Structs are filled with zeros: a pointer in one leads to no data, and a size in one is 0."""
    spelled, kinds = names_in(program.source.text), program.file.kinds(program.region)
    sizes = [expression_of(one.text, kinds) for one in program.parameters if one.name != one.text]
    parts = [part for size in sizes if size is not None for part in walk(size)]
    if any(one.type == "field_expression" for one in parts) or any(
        one.name not in spelled for one in program.arrays if one.name != ELSEWHERE
    ):
        message = f"no data can be generated for '{function.name}': its loops use members of structs"
        raise BadInput(Code.RUN, message, span=program.region, hint=GIVE_MAIN)


def _element(array: Array) -> str:
    """The type of its elements, which are to be filled."""
    words = [word for word in (array.element_type or "double").split() if word not in ("const", "static")]
    return " ".join(words)


def _fill(pointer: str, count: str, element: str) -> str:
    if element.startswith(("struct ", "union ")):
        return f"      memset({pointer}, 0, {count} * sizeof *{pointer});\n"
    value = "lw_k % 2" if is_integer_type(element) else "1 + (lw_k % 17) / 16.0"
    return f"      for (size_t lw_k = 0; lw_k < {count}; lw_k++)\n        {pointer}[lw_k] = {value};\n"


def cells(program: Program, array: Array, sizes: Mapping[str, int], defines: Sequence[str]) -> int:
    """How many elements an array has to have: to the last row that is touched, and one row more."""
    extents = [0] * max(1, array.rank, 1 + len(array.rows))
    for statement in program.statements:
        domain = statement.domain.intersect_params(program.context)
        for access in statement.accesses:
            touched = access.relation.intersect_domain(domain).range()
            touched = _at(touched, sizes)
            if access.array != array.name or touched.is_empty():
                continue
            for k in range(touched.dim(DIM)):
                most = touched.dim_max_val(k)
                extents[k] = max(extents[k], int(most.to_python()) + 1 if most.is_int() else 1)
    known = [*defines, *(f"{name}={value}" for name, value in sizes.items())]
    inner = array.rows or array.extents[1:]
    for k, text in enumerate(inner[: len(extents) - 1], 1):
        extents[k] = max(extents[k], value_of(text, program, known) or 1)
    count = extents[0] + 1
    for extent in extents[1:]:
        count *= max(1, extent)
    return count


def _at(points: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    for k in range(points.dim(PARAM)):
        value = sizes.get(str(points.get_dim_name(PARAM, k)))
        points = points if value is None else points.fix_val(PARAM, k, isl.Val(value))
    return points
