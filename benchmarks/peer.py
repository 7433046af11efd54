"""isl's own AST generator, for comparison; its programs are read as LOOP.

isl documents what each operator of its AST means, and that is what it is read as: `fdiv_q`
rounds towards minus infinity; `pdiv_q`, `pdiv_r`, `div` and `zdiv_r` print as C's `/` and `%`.

    python -m benchmarks.peer FILE.(in|st)
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import islpy as isl

from loopwright.loops.expressions import (
    And,
    Compare,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
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
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.read.text import load

Op = isl.ast_expr_op_type
Kind = isl.ast_node_type
AND, OR, FOR, IF = "and_", "or_", "for_", "if_"
"""Members whose names are words of Python: islpy adds an underscore, its type stubs leave them out."""

COMPARISONS = {
    Op.eq: Relation.EQ,
    Op.le: Relation.LE,
    Op.lt: Relation.LT,
    Op.ge: Relation.GE,
    Op.gt: Relation.GT,
}
FOLDS: dict[isl.ast_expr_op_type, type[And] | type[Or]] = {
    getattr(Op, AND): And,
    Op.and_then: And,
    getattr(Op, OR): Or,
    Op.or_else: Or,
}
DIVISIONS: dict[isl.ast_expr_op_type, type[FloorDiv] | type[TruncDiv] | type[Rem]] = {
    Op.fdiv_q: FloorDiv,
    Op.pdiv_q: TruncDiv,
    Op.div: TruncDiv,
    Op.pdiv_r: Rem,
    Op.zdiv_r: Rem,
}


def peer_generate(path: str | Path) -> tuple[Node, float]:
    """isl's program for a `.in` or `.st` file, and the processor time isl took, reading excluded."""
    context = isl.Context()
    context.set_ast_build_detect_min_max(1)
    text = load(str(path)).text
    prepare = _flat if str(path).endswith(".in") else _tree
    generate = prepare(text, context)
    start = time.process_time()
    node = generate()
    seconds = time.process_time() - start
    return program(node), seconds


def _flat(text: str, context: isl.Context) -> Callable[[], isl.AstNode]:
    """The schedule, the context and the options of a `.in` file, ready to be generated from."""
    objects = re.findall(r"[^{}]*\{[^{}]*\}", re.sub(r"#[^\n]*", "", text))
    schedule = isl.UnionMap.read_from_str(context, objects[0])
    build = isl.AstBuild.from_context(isl.Set.read_from_str(context, objects[1]))
    build = build.set_options(isl.UnionMap.read_from_str(context, objects[2]))
    return lambda: build.node_from_schedule_map(schedule)


def _tree(text: str, context: isl.Context) -> Callable[[], isl.AstNode]:
    schedule = isl.Schedule.read_from_str(context, text)
    build = isl.AstBuild.alloc(context)
    return lambda: build.node_from_schedule(schedule)


def program(node: isl.AstNode) -> Node:
    """isl's AST as a program of LOOP."""
    return READERS[Kind(node.get_type())](node)


def _choice(node: isl.AstNode) -> Node:
    orelse = program(node.if_get_else_node()) if node.if_has_else_node() else None
    return If(_test(node.if_get_cond()), program(node.if_get_then_node()), orelse)


def _block(node: isl.AstNode) -> Node:
    children = node.block_get_children()
    return Block(tuple(program(children.get_at(k)) for k in range(children.n_ast_node())))


def _mark(node: isl.AstNode) -> Node:
    return Remarked(str(node.mark_get_id().get_name()), program(node.mark_get_node()))


def _call(node: isl.AstNode) -> Node:
    name, *arguments = _arguments(node.user_get_expr())
    return Call(name.get_id().get_name() or "", tuple(_expr(one) for one in arguments))


def _loop(node: isl.AstNode) -> Node:
    iterator = node.for_get_iterator().get_id().get_name()
    start, body = _expr(node.for_get_init()), program(node.for_get_body())
    if node.for_is_degenerate():
        return Let(iterator, start, body)
    step = node.for_get_inc().get_val().to_python()
    return For(iterator, start, _test(node.for_get_cond()), step, body)


READERS: dict[isl.ast_node_type, Callable[[isl.AstNode], Node]] = {
    getattr(Kind, FOR): _loop,
    getattr(Kind, IF): _choice,
    Kind.block: _block,
    Kind.mark: _mark,
    Kind.user: _call,
}


def _arguments(expr: isl.AstExpr) -> list[isl.AstExpr]:
    return [expr.get_op_arg(k) for k in range(expr.get_op_n_arg())]


def _expr(expr: isl.AstExpr) -> Expr:
    match isl.ast_expr_type(expr.get_type()):
        case isl.ast_expr_type.int:
            return Int(expr.get_val().to_python())
        case isl.ast_expr_type.id:
            return Var(expr.get_id().get_name())
    operator = Op(expr.get_op_type())
    if operator in (Op.cond, Op.select):
        test, then, orelse = _arguments(expr)
        return Select(_test(test), _expr(then), _expr(orelse))
    return _operation(operator, [_expr(one) for one in _arguments(expr)])


def _operation(operator: isl.ast_expr_op_type, operands: list[Expr]) -> Expr:
    match operator, operands:
        case Op.add, [left, right]:
            return Sum((left, right))
        case Op.sub, [left, right]:
            return Sum((left, Scaled(-1, right)))
        case Op.minus, [argument]:
            return Scaled(-1, argument)
        case Op.mul, [Int(factor), argument] | [argument, Int(factor)]:
            return Scaled(factor, argument)
        case Op.min, _:
            return Min(tuple(operands))
        case Op.max, _:
            return Max(tuple(operands))
        case _, [argument, Int(divisor)] if operator in DIVISIONS:
            return DIVISIONS[operator](argument, divisor)
        case _:
            raise ValueError(f"isl's operator {operator} has no meaning in LOOP here")


def _test(expr: isl.AstExpr) -> Test:
    if isl.ast_expr_type(expr.get_type()) == isl.ast_expr_type.int:
        return And(()) if expr.get_val().to_python() else Or(())
    operator = Op(expr.get_op_type())
    if operator in FOLDS:
        return FOLDS[operator](tuple(_test(one) for one in _arguments(expr)))
    left, right = _arguments(expr)
    return Compare(COMPARISONS[operator], _expr(left), _expr(right))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(*peer_generate(name))
