"""Generates the C function that checks a nest as a whole, from the values of its parameters on entry.

It returns 1 if all checks of the nest pass, and sets the shadows to what the operations would leave; it
returns 0 if that is not known, and leaves the shadows unchanged.
"""

from __future__ import annotations

import islpy as isl

from loopwright.check.algorithms.bulk import Bulk, Guess
from loopwright.check.algorithms.scheme import Scheme, Shadow
from loopwright.check.original.c_text import test, value
from loopwright.check.original.solving import solve
from loopwright.check.original.writers import subscripts
from loopwright.emit.c import Style, program_text
from loopwright.emit.expressions import expression_to_c
from loopwright.generate.program import generate
from loopwright.loops.expressions import Compare, Int, Relation, Sum, Var
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import variables, with_children
from loopwright.model.schedule import Band, Leaf, Member, Schedule
from loopwright.presburger.sets import DIM, IN, OUT


def scan(cells: isl.Set, macro: str, *, runs: bool = False) -> list[str]:
    """Lines of C that call `macro` with every point of a set once, in lexicographic order.

    With `runs`, consecutive cells along the last subscript with equal codes become one call of `macro`_RUN,
    with the first and the last of them.
    """
    named = cells.set_tuple_name(macro)
    order = isl.Map.identity(named.get_space().map_from_set()).reset_tuple_id(OUT)
    band = Band(isl.UnionMap.from_map(order), (Member(),) * cells.dim(DIM), Leaf())
    schedule = Schedule(isl.UnionSet.from_set(named), isl.Set("{ : }"), band)
    program = generate(schedule)
    return program_text(_with_runs(program) if runs else program, Style("long", call=_called)).splitlines()


def _with_runs(node: Node) -> Node:
    """Loops over consecutive cells as calls: `for (c = a; c <= b; c++) M(i, c, code)` is M_RUN(i, a,
    b, code)."""
    match node:
        case For(iterator, start, Compare(relation, Var(tested), end), 1, Call() as call):
            *others, at, code = call.arguments
            uses = any(iterator in variables(one) for one in (*others, end, code))
            if at == Var(tested) == Var(iterator) and not uses and relation in (Relation.LE, Relation.LT):
                last = end if relation is Relation.LE else Sum((end, Int(-1)))
                return Call(f"{call.name}_RUN", (*others, start, last, code))
            return node
        case _:
            return with_children(node, _with_runs)


def _called(call: Call) -> list[str]:
    return [f"{call.name}({', '.join(f'({expression_to_c(argument)})' for argument in call.arguments)});"]


def bulk_function(number: int, bulk: Bulk, scheme: Scheme, places: dict[str, Shadow]) -> str:
    names = [name for name, _ in bulk.nest.parameters]
    arguments = ", ".join(f"long {name}" for name in names) or "void"
    lines = [f"LW_NEST lw_nest_{number}({arguments})", "{"]
    lines += [f"  if (LW_FAR({name})) return 0;" for name in names]
    for guess in bulk.guesses:
        lines += _guessed(guess, scheme, places)
    everywhere = isl.Set("{ [] }")
    if not bulk.wrong.is_empty():
        lines.append(f"  if ({test(isl.Set.from_params(bulk.wrong), (), everywhere)}) return 0;")
    lines.append("  LW_DIFFERENCES;")
    for cells in bulk.before:
        lines += _compared(cells, places[cells.get_tuple_name()])
    lines.append("  if (LW_DIFFERENT) return 0;")
    for cells in bulk.after:
        lines += _stored(cells, places[cells.get_tuple_name()])
    return "\n".join([*lines, "  return 1;", "}", ""])


def bulk_call(number: int, bulk: Bulk) -> str:
    """The call before the nest, after a test that the sizes are those it was generated for."""
    tests = [f"(long)({text}) == {size}L" for text, size in bulk.nest.fixed]
    arguments = ", ".join(f"(long)({text})" for _, text in bulk.nest.parameters)
    return " && ".join([*tests, f"lw_nest_{number}({arguments})"])


def _compared(cells: isl.Set, shadow: Shadow) -> list[str]:
    names = [f"w{k}" for k in range(cells.dim(DIM) - 1)]
    first = shadow.cell([*names[:-1], "first"]) if names else ""
    run = f"dif8 |= lw_other{shadow.size}(&{first}, first, last, (lw_code{shadow.size})(code))"
    return _scanned(cells, "LW_COMPARE", names, shadow.compared(names, "code"), run)


def _stored(cells: isl.Set, shadow: Shadow) -> list[str]:
    names = [f"w{k}" for k in range(cells.dim(DIM) - 1)]
    first = shadow.cell([*names[:-1], "first"]) if names else ""
    run = f"lw_filled{shadow.size}(&{first}, first, last, (lw_code{shadow.size})(code))"
    return _scanned(cells, "LW_STORE", names, f"{shadow.cell(names)} = (lw_code{shadow.size})(code)", run)


def _scanned(cells: isl.Set, macro: str, names: list[str], text: str, run: str) -> list[str]:
    """Generate loops for each piece, without conditions inside, so that the compiler can vectorise them.

    Where pieces overlap, a cell is compared twice, with the same code.
    """
    heads = [f"#define {macro}({', '.join([*names, 'code'])}) {text}"]
    if names:
        heads.append(f"#define {macro}_RUN({', '.join([*names[:-1], 'first', 'last', 'code'])}) {run}")
    pieces = [piece.to_set() for piece in cells.get_basic_sets()]
    lines = [line for piece in pieces for line in scan(piece, macro, runs=bool(names))]
    return [*heads, *(f"  {line}" for line in lines), f"#undef {macro}", f"#undef {macro}_RUN"]


def _guessed(guess: Guess, scheme: Scheme, places: dict[str, Shadow]) -> list[str]:
    """q, from the shadow of the first cell of the first site that executes; 0 if none does."""
    lines = [f"  long {guess.name} = 0;"]
    for number, first in enumerate(guess.firsts):
        lines += _guessed_from(guess, first, scheme, places, "  else if" if number else "  if")
    return lines


def _guessed_from(
    guess: Guess, first: isl.Map, scheme: Scheme, places: dict[str, Shadow], when: str
) -> list[str]:
    shadow = places[guess.group.first.write.array]
    width = len(shadow.extent)
    free = solve(subscripts(guess.group.first), guess.group.depth).free
    texts = scheme.guess(guess.group, free, ["s", *(f"o{k}" for k in range(width))])
    point = first.wrap().flatten()
    at = isl.Map.from_domain_and_range(isl.Set("{ [] }"), point.reset_tuple_id())
    function = at.as_pw_multi_aff()
    some = at.domain()
    values = [value(function.get_pw_aff(k), (), some) for k in range(function.dim(OUT))]
    depth = first.dim(IN)
    along = "" if guess.along is None or guess.along >= depth else f" - ({values[guess.along]})"
    lines = [f"{when} ({test(some, (), isl.Set('{ [] }'))}) {{"]
    for k, (low, high) in enumerate(shadow.extent):
        lines.append(f"    const long o{k} = {values[depth + k]};")
        lines.append(f"    if (o{k} < {low} || o{k} > {high}) return 0;")
    cell = shadow.cell([f"o{k}" for k in range(width)])
    lines.append(f"    const long s = (long){cell};")
    lines.append(f"    {guess.name} = ({texts[free.index(guess.iterator)]}){along};")
    return [*lines, "  }"]
