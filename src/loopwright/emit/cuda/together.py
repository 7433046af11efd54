"""Neighbours that a lane loads or stores at once.

    for (c = 1; c <= 2; c++)
      own[w][x][0][3][p][c] = a[i][j][2 * x + c - 5];   -->   LW_TOGETHER(2, c, 1, own[...][c], a[i][j][...]);

A copy between registers and another array is one of neighbours if both last subscripts grow with c, and can
be done at once if that of the other array begins at a multiple of their number, as rows do (`prelude.h`).
"""

from __future__ import annotations

import islpy as isl

from loopwright.emit.c import Style
from loopwright.emit.cuda.predication import linear_terms
from loopwright.loops.expressions import Compare, Int, Relation, Sum, Var
from loopwright.loops.nodes import Call, For
from loopwright.loops.traverse import scaled
from loopwright.model.program import Access, MemorySpace, Program, Statement
from loopwright.presburger.functions import coefficient
from loopwright.presburger.sets import OUT, PARAM

COUNTS = (2, 4)


def together(program: Program, style: Style, loop: For) -> list[str] | None:
    """The copies of a loop as one of all neighbours; None where they are not known to be such."""
    match loop:
        case For(name, Int(first), Compare(Relation.LE, Var(tested), Int(last)), 1, Call() as call) if (
            name == tested and last - first + 1 in COUNTS
        ):
            count = last - first + 1
        case _:
            return None
    if not _is_copy(program, call, name, first, count):
        return None
    (line,) = style.call(call)
    to, source = line.removesuffix(";").split(" = ")
    return [f"LW_TOGETHER({count}, {name}, {first}, {to}, {source});"]


def _is_copy(program: Program, call: Call, name: str, first: int, count: int) -> bool:
    statement = program.statement(call.name)
    both = *statement.writes, *statement.reads
    copy = " = ".join(one.place.text for one in both)
    if len(both) != 2 or statement.body.place.text.removesuffix(";") != copy:
        return False
    spaces = {one.name: one.space for one in program.arrays}
    factors = [0 if spaces[one.array] is MemorySpace.PRIVATE else count for one in both]
    if sorted(factors) != [0, count]:
        return False
    return all(
        _grows(statement, access, call, name, first, factor)
        for access, factor in zip(both, factors, strict=True)
    )


def _grows(statement: Statement, access: Access, call: Call, name: str, first: int, factor: int) -> bool:
    """Whether its last subscript grows with the loop, and is a multiple of a factor where that begins.

    Of registers, which have factor 0, something constant is added to the number of the loop.
    """
    subscript = isl.PwMultiAff.from_map(access.relation.intersect_domain(statement.domain))
    last = subscript.get_pw_aff(subscript.dim(OUT) - 1)
    if last.n_piece() != 1 or last.get_pieces()[0][1].dim(isl.dim_type.div):
        return False
    aff = last.get_pieces()[0][1]
    parts = [scaled(coefficient(aff, isl.dim_type.in_, k), one) for k, one in enumerate(call.arguments)]
    terms, constant = linear_terms(Sum((*parts, Int(_whole(aff.get_constant_val())))), Int(-first))
    terms |= {Var(f" {k}"): coefficient(aff, PARAM, k) for k in range(aff.dim(PARAM))}
    grows = terms.pop(Var(name), 0) == 1
    if factor == 0:
        return grows and not any(terms.values())
    return grows and all(one % factor == 0 for one in (constant, *terms.values()))


def _whole(value: isl.Val) -> int:
    """Subscripts without divisions have whole coefficients."""
    return int(value.to_python())
