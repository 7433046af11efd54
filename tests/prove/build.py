"""Programs of LOOP and schedules written as text, for tests to be read."""

from __future__ import annotations

import ast

import islpy as isl

from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Not,
    Or,
    Relation,
    Rem,
    Scaled,
    Select,
    Sum,
    Test,
    TruncDiv,
    Var,
)
from loopwright.loops.nodes import Block, Call, For, If, Let, Node
from loopwright.model.annotations import Parallel
from loopwright.model.schedule import LEAF, Band, Member, Schedule
from loopwright.read import isl_tree

RELATIONS: dict[type[ast.cmpop], Relation] = {
    ast.Eq: Relation.EQ,
    ast.NotEq: Relation.NE,
    ast.LtE: Relation.LE,
    ast.Lt: Relation.LT,
    ast.GtE: Relation.GE,
    ast.Gt: Relation.GT,
}


def expr(text: str) -> Expr:
    """Python's notation; `//` rounds down, `%` and `div(a, d)` are C's `%` and `/`."""
    return _expr(ast.parse(text, mode="eval").body)


def condition(text: str) -> Test:
    return _test(ast.parse(text, mode="eval").body)


def _expr(node: ast.expr) -> Expr:
    match node:
        case ast.Constant(value=int(number)):
            return Int(number)
        case ast.Name(id=name):
            return Var(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Scaled(-1, _expr(operand))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return Sum((_expr(left), _expr(right)))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return Sum((_expr(left), Scaled(-1, _expr(right))))
        case ast.BinOp(left=ast.Constant(value=int(factor)), op=ast.Mult(), right=right):
            return Scaled(factor, _expr(right))
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int(divisor))):
            return FloorDiv(_expr(left), divisor)
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int(divisor))):
            return Rem(_expr(left), divisor)
        case ast.Call(func=ast.Name(id="div"), args=[argument, ast.Constant(value=int(divisor))]):
            return TruncDiv(_expr(argument), divisor)
        case ast.Call(func=ast.Name(id="min"), args=arguments):
            return Min(tuple(map(_expr, arguments)))
        case ast.Call(func=ast.Name(id="max"), args=arguments):
            return Max(tuple(map(_expr, arguments)))
        case ast.IfExp(test=test, body=then, orelse=orelse):
            return Select(_test(test), _expr(then), _expr(orelse))
    raise ValueError(ast.unparse(node))


def _test(node: ast.expr) -> Test:
    match node:
        case ast.Constant(value=bool(always)):
            return And(()) if always else Or(())
        case ast.BoolOp(op=ast.And(), values=values):
            return And(tuple(map(_test, values)))
        case ast.BoolOp(op=ast.Or(), values=values):
            return Or(tuple(map(_test, values)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(_test(operand))
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return Compare(RELATIONS[type(operator)], _expr(left), _expr(right))
    raise ValueError(ast.unparse(node))


def call(name: str, *arguments: str, time: tuple[str, ...] | None = None) -> Call:
    return Call(name, tuple(map(expr, arguments)), None if time is None else tuple(map(expr, time)))


def block(*children: Node) -> Node:
    return children[0] if len(children) == 1 else Block(children)


def loop(iterator: str, start: str, test: str, *body: Node, step: int = 1, parallel: bool = False) -> For:
    said = (Parallel(),) if parallel else ()
    return For(iterator, expr(start), condition(test), step, block(*body), annotations=said)


def when(test: str, then: Node, orelse: Node | None = None) -> If:
    return If(condition(test), then, orelse)


def let(name: str, value: str, *body: Node) -> Let:
    return Let(name, expr(value), block(*body))


def flat(times: str, context: str = "{ : }") -> Schedule:
    """The schedule of one band that a union map in isl's notation is."""
    relation = isl.UnionMap(times)
    maps: list[isl.Map] = []
    relation.foreach_map(maps.append)
    width = maps[0].dim(isl.dim_type.out)
    band = Band(relation, (Member(),) * width, LEAF)
    return Schedule(relation.domain(), isl.Set(context).params(), band)


def tree(text: str) -> Schedule:
    """A schedule tree in isl's YAML notation."""
    return isl_tree.parse(text, "schedule.st")
