"""Values at the instances of a program's statements, computed from its text.

For expressions e1, ..., ek that stand at a statement S(i, j):  { S[i, j] -> [e1, ..., ek] }.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from loopwright.loops.expressions import Expr, Var
from loopwright.loops.nodes import Call
from loopwright.model.program import Program, Statement
from loopwright.presburger.dimensions import split
from loopwright.presburger.sets import IN
from loopwright.prove.reading.c_expressions import Words
from loopwright.prove.reading.loops import leaf_nodes, text_loops
from loopwright.prove.reading.operation import StatementSyntax
from loopwright.prove.scanning.executed import executed, runs


def sides(program: Program) -> dict[str, StatementSyntax]:
    """The syntax of every statement, with what the names in it mean."""
    nodes = leaf_nodes(program, program.syntax)
    found: dict[str, StatementSyntax] = {}

    def visit(statement: Statement, words: Words) -> Call:
        found[statement.name] = StatementSyntax(nodes[statement.name], words)
        return Call(statement.name, ())

    text_loops(program, visit)
    return found


def values_at(
    program: Program, expressions: Mapping[str, tuple[Expr, ...]], context: isl.Set
) -> dict[str, isl.Map]:
    """What the expressions are at each instance, for parameters in `context`, which names them all."""

    def call(statement: Statement, words: Words) -> Call:
        own = tuple(Var(name) for name in statement.iterators)
        return Call(statement.name, (*own, *expressions.get(statement.name, ())))

    statements = {statement.name: statement for statement in program.statements}
    tree = executed(text_loops(program, call), context)
    return {run.name: _split(run.domain, run.arguments, statements[run.name]) for run in runs(tree)}


def _split(domain: isl.Set, arguments: isl.MultiPwAff, statement: Statement) -> isl.Map:
    """The arguments as instance -> values."""
    image = domain.apply(isl.Map.from_multi_pw_aff(arguments))
    return split(image, statement.depth).set_tuple_name(IN, statement.name)
