"""LOOP programs as terms of the Coq type `node`, in the notation of `proofs/Notations.v`.

A sum of several is written as sums of two, one in the other, as C reads it, and so are conjunctions
and disjunctions; a negative number or factor is written as a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, assert_never

from loopwright.errors import Code, InternalError
from loopwright.loops import expressions as ex
from loopwright.loops import nodes as nd
from loopwright.prove.coq.names import text
from loopwright.prove.coq.words import PARALLEL, is_marked

Hint: TypeAlias = Callable[[int], Sequence[ex.Expr]]
"""For a call, by its position in the text: the time it stands for; empty for nearly all."""

ATOM, PREFIX, PRODUCT, SUM, COMPARISON, CONJUNCTION, DISJUNCTION = 0, 35, 40, 50, 70, 80, 85
"""The levels of the notation: what binds tightest is lowest."""
SYMBOLS = {
    ex.Relation.EQ: "==",
    ex.Relation.NE: "!=",
    ex.Relation.LE: "<=",
    ex.Relation.LT: "<",
    ex.Relation.GE: ">=",
    ex.Relation.GT: ">",
}
Shown: TypeAlias = tuple[str, int]
"""A text and its level."""


def listed(parts: Iterable[str]) -> str:
    return "[" + "; ".join(parts) + "]"


def integer(value: int) -> str:
    return str(value) if value >= 0 else f"({value})"


def expr_term(expr: ex.Expr, level: int = SUM) -> str:
    """The expression, in parentheses where it binds less tightly than `level`."""
    shown, own = _expr(expr)
    return shown if own <= level else f"({shown})"


def _expr(expr: ex.Expr) -> Shown:
    match expr:
        case ex.Int(value):
            return (str(value), ATOM) if value >= 0 else (f"- {-value}", PREFIX)
        case ex.Var(name):
            return text(name), ATOM
        case ex.Sum(terms):
            return _sum(terms)
        case ex.Scaled(factor, argument) if factor >= 0:
            return f"{factor} * {expr_term(argument, PRODUCT - 1)}", PRODUCT
        case ex.Scaled(factor, argument):
            inner = argument if factor == -1 else ex.Scaled(-factor, argument)
            return f"- {expr_term(inner, PREFIX)}", PREFIX
        case ex.Min(arguments) | ex.Max(arguments):
            return f"{type(expr).__name__.lower()}({', '.join(map(expr_term, arguments))})", ATOM
        case ex.FloorDiv(argument, divisor):
            return f"floord({expr_term(argument)}, {_divisor(divisor)})", ATOM
        case ex.TruncDiv(argument, divisor):
            return f"{expr_term(argument, PRODUCT)} / {_divisor(divisor)}", PRODUCT
        case ex.Rem(argument, divisor):
            return f"{expr_term(argument, PRODUCT)} % {_divisor(divisor)}", PRODUCT
        case ex.Select(test, then, orelse):
            return f"({test_term(test)} ? {expr_term(then)} : {expr_term(orelse)})", ATOM
        case _:
            assert_never(expr)


def _sum(terms: Sequence[ex.Expr]) -> Shown:
    if not terms:
        return "0", ATOM
    shown, level = _expr(terms[0])
    for term in terms[1:]:
        first = shown if level <= SUM else f"({shown})"
        positive = _opposite(term)
        sign, right = ("+", term) if positive is None else ("-", positive)
        shown, level = f"{first} {sign} {expr_term(right, SUM - 1)}", SUM
    return shown, level


def _opposite(expr: ex.Expr) -> ex.Expr | None:
    """What is subtracted where `expr` is added, if that is shorter."""
    match expr:
        case ex.Int(value) if value < 0:
            return ex.Int(-value)
        case ex.Scaled(-1, argument):
            return argument
        case ex.Scaled(factor, argument) if factor < 0:
            return ex.Scaled(-factor, argument)
        case _:
            return None


def _divisor(value: int) -> int:
    if value <= 0:
        raise InternalError(Code.INTERNAL, f"a division by {value}")
    return value


def test_term(test: ex.Test, level: int = DISJUNCTION) -> str:
    """The test, in parentheses where it binds less tightly than `level`."""
    shown, own = _test(test)
    return shown if own <= level else f"({shown})"


def _test(test: ex.Test) -> Shown:
    match test:
        case ex.Compare(relation, left, right):
            return f"{expr_term(left)} {SYMBOLS[relation]} {expr_term(right)}", COMPARISON
        case ex.And(()):
            return "always", ATOM
        case ex.Or(()):
            return "never", ATOM
        case ex.And((only,)) | ex.Or((only,)):
            return _test(only)
        case ex.And(tests):
            return " && ".join(_operands(tests, CONJUNCTION)), CONJUNCTION
        case ex.Or(tests):
            return " || ".join(_operands(tests, DISJUNCTION)), DISJUNCTION
        case ex.Not(argument):
            return f"! ({test_term(argument)})", PREFIX
        case _:
            assert_never(test)


def _operands(tests: Sequence[ex.Test], level: int) -> list[str]:
    """The first may be of the same kind; the notation is read from the left."""
    return [test_term(test, level if k == 0 else level - 1) for k, test in enumerate(tests)]


def node_term(node: nd.Node, hint: Hint) -> list[str]:
    """The lines of the term, inside of the notation's brackets."""
    return _Writer(hint).lines(node)


class _Writer:
    """Counts the calls as they are written."""

    def __init__(self, hint: Hint) -> None:
        self.hint = hint
        self.position = 0

    def lines(self, node: nd.Node) -> list[str]:
        match node:
            case nd.Call(name, arguments):
                hint = self.hint(self.position)
                self.position += 1
                return [f"call {text(name)}{_vector('', arguments)}{_vector(' at', hint)}"]
            case nd.Block(()):
                return ["{ }"]
            case nd.Block(nodes):
                inside = [self.lines(child) for child in nodes]
                for lines in inside[:-1]:
                    lines[-1] += ";"
                return ["{", *(f"  {line}" for lines in inside for line in lines), "}"]
            case nd.If(test, then, None):
                return self.headed(f"if {test_term(test)} then", then)
            case nd.If(test, then, orelse):
                assert orelse is not None
                return [f"if {test_term(test)} then", *self.braced(then), *self.headed("else", orelse)]
            case nd.For(iterator, start, test, step, body):
                if step <= 0:
                    raise InternalError(Code.INTERNAL, f"the loop over {iterator} counts by {step}")
                head = f"for {text(iterator)} = {expr_term(start)}; {test_term(test)}; += {step} do"
                lines = self.headed(head, body)
                return _headed(f"mark {text(PARALLEL)} on", lines) if is_marked(node) else lines
            case nd.Let(name, value, body):
                return self.headed(f"let {text(name)} = {expr_term(value)} in", body)
            case nd.Remarked(remark, body):
                return self.headed(f"mark {text(str(remark))} on", body)
            case _:
                assert_never(node)

    def headed(self, head: str, body: nd.Node) -> list[str]:
        return _headed(head, self.lines(body))

    def braced(self, node: nd.Node) -> list[str]:
        """In parentheses, so that an `else` after it does not belong to it."""
        first, *rest = self.lines(node)
        found = [f"  ({first}", *(f"   {line}" for line in rest)]
        found[-1] += ")"
        return found


def _headed(head: str, lines: list[str]) -> list[str]:
    """A block begins on the line of its head."""
    return [f"{head} {{", *lines[1:]] if lines[0] == "{" else [head, *(f"  {line}" for line in lines)]


def _vector(word: str, entries: Sequence[ex.Expr]) -> str:
    return f"{word} ({', '.join(map(expr_term, entries))})" if entries else ""
