"""Programs of LOOP made Python functions, which run them some fifty times as fast as the interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import CodeType
from typing import Any, TypeAlias, TypeVar, assert_never

from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import EMPTY, Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import variables

Part = TypeVar("Part")
Visit: TypeAlias = Callable[..., object]
CompiledLoops: TypeAlias = Callable[[Mapping[str, int], int], int]
"""Runs for given parameters, for so many iterations of loops at most; how many it took."""


class TooLong(Exception):
    """A run takes more iterations than it may."""


@dataclass(frozen=True)
class LoopCode:
    """Loops as code of Python, to be run with one visitor of their statements or another."""

    code: CodeType
    calls: Mapping[str, int]

    def visiting(self, visitors: Mapping[str, Visit]) -> CompiledLoops:
        """A function that runs the loops: visitors[name](*arguments) for every call."""
        space: dict[str, Any] = {f"call_{k}": visitors[name] for name, k in self.calls.items()}
        space["TooLong"] = TooLong
        exec(self.code, space)
        function: CompiledLoops = space["run"]
        return function


def compiled(node: Node) -> LoopCode:
    names = _Names({}, {})
    body = _lines(node, names, {}, 1)
    head = [f"    {own} = sizes[{name!r}]" for name, own in names.free.items()]
    text = "\n".join(["def run(sizes, fuel):", "    first = fuel", *head, *body, "    return first - fuel"])
    try:
        code = compile(text, "<loops>", "exec")
    except (SyntaxError, MemoryError, RecursionError):  # Python has no more than 20 loops inside each other
        code = compile("def run(sizes, fuel): raise TooLong", "<loops>", "exec")
    return LoopCode(code, names.calls)


def counting(node: Node) -> CompiledLoops:
    """A function that tells how many iterations `node` takes; the innermost ones are not run for that."""
    return compiled(with_calls(node, lambda call: EMPTY)).visiting({})


def with_calls(node: Node, call: Callable[[Call], Node]) -> Node:
    """The loops with other calls in them, or nothing in place of some."""
    match node:
        case Call():
            return call(node)
        case Block(children):
            return Block(tuple(with_calls(child, call) for child in children))
        case If(test, then, orelse):
            return If(test, with_calls(then, call), None if orelse is None else with_calls(orelse, call))
        case For() | Let() | Remarked():
            return replace(node, body=with_calls(node.body, call))
        case _:
            assert_never(node)


@dataclass
class _Names:
    """Names of Python for parameters and calls."""

    free: dict[str, str]
    calls: dict[str, int]
    made: int = 0

    def new(self) -> str:
        self.made += 1
        return f"v{self.made}"

    def own(self, name: str, scope: Mapping[str, str]) -> str:
        return scope[name] if name in scope else self.free.setdefault(name, f"p{len(self.free)}")


def _lines(node: Node, names: _Names, scope: Mapping[str, str], depth: int) -> list[str]:
    space = "    " * depth
    match node:
        case Call(name, arguments):
            return _call(name, arguments, names, scope, space)
        case Block(children):
            return [line for child in children for line in _lines(child, names, scope, depth)]
        case If(test, then, orelse):
            lines = _lines(then, names, scope, depth + 1)
            others = [] if orelse is None else _lines(orelse, names, scope, depth + 1)
            if not (lines or others):
                return []
            head = f"{space}if {_test(test, names, scope)}:"
            return [head, *(lines or [f"{space}    pass"]), *([f"{space}else:", *others] if others else ())]
        case For():
            last = last_of(node)
            if last is None:
                return _while(node, names, scope, depth)
            return _range(node, last, names, scope, depth)
        case Let(name, value, body):
            own = names.new()
            first = f"{space}{own} = {_expr(value, names, scope)}"
            return [first, *_lines(body, names, {**scope, name: own}, depth)]
        case Remarked(_, body):
            return _lines(body, names, scope, depth)
        case _:
            assert_never(node)


def last_of(loop: For) -> ex.Expr | None:
    """What the iterator is at most, or at least where it counts down, if the test says nothing else."""
    match loop.test:
        case ex.Compare(relation, ex.Var(name), end) if name == loop.iterator and name not in variables(end):
            match relation, loop.step > 0:
                case (ex.Relation.LE, True) | (ex.Relation.GE, False):
                    return end
                case (ex.Relation.LT, True):
                    return ex.Sum((end, ex.Int(-1)))
                case (ex.Relation.GT, False):
                    return ex.Sum((end, ex.Int(1)))
    return None


def _range(loop: For, last: ex.Expr, names: _Names, scope: Mapping[str, str], depth: int) -> list[str]:
    """A loop whose iterations are counted before they are run, and not run where they do nothing."""
    own, end, space = names.new(), names.new(), "    " * depth
    way = f"{end} - {own}" if loop.step > 0 else f"{own} - {end}"
    count = f"({way}) // {abs(loop.step)} + 1" if abs(loop.step) > 1 else f"{way} + 1"
    head = [
        f"{space}{own} = {_expr(loop.start, names, scope)}",
        f"{space}{end} = {_expr(last, names, scope)}",
        f"{space}if {own} {'<=' if loop.step > 0 else '>='} {end}:",
        f"{space}    fuel -= {count}",
        f"{space}    if fuel < 0: raise TooLong",
    ]
    body = _lines(loop.body, names, {**scope, loop.iterator: own}, depth + 2)
    if not body:
        return head
    beyond = f"{end} + {1 if loop.step > 0 else -1}"
    return [*head, f"{space}    for {own} in range({own}, {beyond}, {loop.step}):", *body]


def _while(loop: For, names: _Names, scope: Mapping[str, str], depth: int) -> list[str]:
    own, space = names.new(), "    " * depth
    inside = {**scope, loop.iterator: own}
    return [
        f"{space}{own} = {_expr(loop.start, names, scope)}",
        f"{space}while {_test(loop.test, names, inside)}:",
        f"{space}    fuel -= 1",
        f"{space}    if fuel < 0: raise TooLong",
        *_lines(loop.body, names, inside, depth + 1),
        f"{space}    {own} += {loop.step}",
    ]


def _truncated(dividend: str, divisor: int, name: str) -> str:
    """C's `/`, which rounds towards zero; the dividend is called `name` in it."""
    sign, size = "-" if divisor < 0 else "", abs(divisor)
    return f"({sign}({name} // {size} if ({name} := {dividend}) >= 0 else -(-{name} // {size})))"


def _call(
    name: str, arguments: tuple[ex.Expr, ...], names: _Names, scope: Mapping[str, str], space: str
) -> list[str]:
    """A call, before which sums that several of its arguments begin with are computed: x + y of x + y + 1."""
    sums = [_sum(one, names, scope) for one in arguments]
    variable = [_sum_text(terms, 0) for terms, _ in sums]
    shared = {one: names.new() for one, count in Counter(variable).items() if count > 1 and " " in one}
    given = [
        _sum_text({shared[one]: 1} if one in shared else terms, number)
        for one, (terms, number) in zip(variable, sums, strict=True)
    ]
    number = names.calls.setdefault(name, len(names.calls))
    lines = [f"{space}{own} = {one}" for one, own in shared.items()]
    return [*lines, f"{space}call_{number}({', '.join(given)})"]


def _expr(expr: ex.Expr, names: _Names, scope: Mapping[str, str]) -> str:
    return _sum_text(*_sum(expr, names, scope))


def _sum(expr: ex.Expr, names: _Names, scope: Mapping[str, str]) -> tuple[dict[str, int], int]:
    return summed(expr, lambda part: _other(part, names, scope))


def summed(expr: ex.Expr, other: Callable[[ex.Expr], Part]) -> tuple[dict[Part, int], int]:
    """The multiples of parts, none of which is a sum, and the number that an expression is the sum of."""
    match expr:
        case ex.Int(value):
            return {}, value
        case ex.Scaled(factor, argument):
            inner, number = summed(argument, other)
            return {text: factor * count for text, count in inner.items()} if factor else {}, factor * number
        case ex.Sum(terms):
            found: dict[Part, int] = {}
            total = 0
            for term in terms:
                inner, number = summed(term, other)
                total += number
                for text, count in inner.items():
                    found[text] = found.get(text, 0) + count
            return {text: count for text, count in found.items() if count}, total
        case _:
            return {other(expr): 1}, 0


def _sum_text(terms: Mapping[str, int], number: int) -> str:
    parts = [text if count == 1 else f"{count} * {text}" for text, count in terms.items()]
    parts += [str(number)] if number or not parts else []
    return parts[0] if len(parts) == 1 and " " not in parts[0] else f"({' + '.join(parts)})"


def _other(expr: ex.Expr, names: _Names, scope: Mapping[str, str]) -> str:
    """An expression that is no sum."""

    def one(part: ex.Expr) -> str:
        return _expr(part, names, scope)

    match expr:
        case ex.Var(name):
            return names.own(name, scope)
        case ex.FloorDiv(argument, divisor):
            return f"({one(argument)} // {divisor})"
        case ex.TruncDiv(argument, divisor):
            return _truncated(one(argument), divisor, names.new())
        case ex.Rem(argument, divisor):
            own, dividend = names.new(), one(argument)
            return f"(({own} := {dividend}) - {divisor} * {_truncated(own, divisor, names.new())})"
        case ex.Min(arguments):
            return f"min({', '.join([*map(one, arguments)])})"
        case ex.Max(arguments):
            return f"max({', '.join([*map(one, arguments)])})"
        case ex.Select(test, then, orelse):
            return f"({one(then)} if {_test(test, names, scope)} else {one(orelse)})"
        case ex.Int() | ex.Scaled() | ex.Sum():
            raise AssertionError("these are sums")
        case _:
            assert_never(expr)


def _test(test: ex.Test, names: _Names, scope: Mapping[str, str]) -> str:
    match test:
        case ex.Compare(relation, left, right):
            return f"({_expr(left, names, scope)} {relation.value} {_expr(right, names, scope)})"
        case ex.And(arguments):
            return f"({' and '.join(_test(one, names, scope) for one in arguments) or 'True'})"
        case ex.Or(arguments):
            return f"({' or '.join(_test(one, names, scope) for one in arguments) or 'False'})"
        case ex.Not(argument):
            return f"(not {_test(argument, names, scope)})"
        case _:
            assert_never(test)
