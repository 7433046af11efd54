"""Writes terms as the checker reads them: constructors before arguments, lists after their lengths.

The grammar is that of `ocaml/driver.ml`; the constructors are those of `proofs/Loop.v` and `Specification.v`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar, assert_never
from urllib.parse import quote, unquote

from loopwright.errors import Code, InternalError
from loopwright.loops import expressions as ex
from loopwright.loops import nodes as nd
from loopwright.loops.traverse import subprograms, substituted
from loopwright.model.annotations import Independent

T = TypeVar("T")
Words: TypeAlias = Iterator[str]
"""Words, or several of them separated by spaces."""
Hint: TypeAlias = Callable[[int], Sequence[ex.Expr]]
"""Maps a call, by its position in the source, to its time; empty for nearly all."""


@lru_cache(maxsize=4096)
def name(value: str) -> str:
    """Encodes any string as one word."""
    return "'" + quote(value.encode("utf-8", "surrogateescape"), safe="'")


def listed(items: Sequence[T], words: Callable[[T], Iterable[str]]) -> Words:
    yield str(len(items))
    for item in items:
        yield from words(item)


def names(values: Sequence[str]) -> Words:
    yield str(len(values))
    yield from map(name, values)


def vector(entries: Sequence[ex.Expr]) -> Words:
    yield _vector(entries)


def expr(term: ex.Expr) -> Words:
    yield _expr(term)


def test(term: ex.Test) -> Words:
    yield _test(term)


def _positive(value: int) -> str:
    if value <= 0:
        raise InternalError(Code.INTERNAL, f"a division by {value}")
    return str(value)


def _vector(entries: Sequence[ex.Expr]) -> str:
    return " ".join((str(len(entries)), *map(_expr, entries)))


def _expr(term: ex.Expr) -> str:
    match term:
        case ex.Int(value):
            return f"int {value}"
        case ex.Var(variable):
            return f"var {name(variable)}"
        case ex.Sum(terms):
            return f"sum {_vector(terms)}"
        case ex.Scaled(factor, argument):
            return f"scaled {factor} {_expr(argument)}"
        case ex.FloorDiv(argument, divisor):
            return f"floor {_expr(argument)} {_positive(divisor)}"
        case ex.TruncDiv(argument, divisor):
            return f"trunc {_expr(argument)} {_positive(divisor)}"
        case ex.Rem(argument, divisor):
            return f"rem {_expr(argument)} {_positive(divisor)}"
        case ex.Min(arguments):
            return f"min {_vector(arguments)}"
        case ex.Max(arguments):
            return f"max {_vector(arguments)}"
        case ex.Select(condition, then, orelse):
            return f"select {_test(condition)} {_expr(then)} {_expr(orelse)}"
        case _:
            assert_never(term)


def _test(term: ex.Test) -> str:
    match term:
        case ex.Compare(relation, left, right):
            return f"{relation.value} {_expr(left)} {_expr(right)}"
        case ex.And(arguments):
            return " ".join(("and", str(len(arguments)), *map(_test, arguments)))
        case ex.Or(arguments):
            return " ".join(("or", str(len(arguments)), *map(_test, arguments)))
        case ex.Not(argument):
            return f"not {_test(argument)}"
        case _:
            assert_never(term)


NARY: dict[str, type[ex.Sum] | type[ex.Min] | type[ex.Max]] = {"sum": ex.Sum, "min": ex.Min, "max": ex.Max}
DIVISIONS: dict[str, type[ex.FloorDiv] | type[ex.TruncDiv] | type[ex.Rem]] = {
    "floor": ex.FloorDiv,
    "trunc": ex.TruncDiv,
    "rem": ex.Rem,
}


def read_expr(words: Words) -> ex.Expr:
    """Reads what `expr` wrote; raises ValueError for anything else."""
    match read_word(words):
        case "int":
            return ex.Int(int(read_word(words)))
        case "var":
            return ex.Var(read_name(words))
        case word if word in NARY:
            return NARY[word](read_list(words, read_expr))
        case "scaled":
            return ex.Scaled(int(read_word(words)), read_expr(words))
        case word if word in DIVISIONS:
            argument, divisor = read_expr(words), int(read_word(words))
            if divisor <= 0:
                raise ValueError(f"a division by {divisor}")
            return DIVISIONS[word](argument, divisor)
        case "select":
            return ex.Select(read_test(words), read_expr(words), read_expr(words))
        case word:
            raise ValueError(f"{word!r} is not an expression")


def read_test(words: Words) -> ex.Test:
    match read_word(words):
        case "and":
            return ex.And(read_list(words, read_test))
        case "or":
            return ex.Or(read_list(words, read_test))
        case "not":
            return ex.Not(read_test(words))
        case word:
            return ex.Compare(ex.Relation(word), read_expr(words), read_expr(words))


def read_list(words: Words, read: Callable[[Words], T]) -> tuple[T, ...]:
    return tuple(read(words) for _ in range(int(read_word(words))))


def read_name(words: Words) -> str:
    word = read_word(words)
    if not word.startswith("'"):
        raise ValueError(f"{word!r} is not a name")
    return unquote(word[1:], errors="surrogateescape")


def read_word(words: Words) -> str:
    word = next(words, None)
    if word is None:
        raise ValueError("the words end too early")
    return word


PARALLEL = "parallel"
"""The mark that `proofs/Parallel.v` reads."""


def is_marked(loop: nd.For) -> bool:
    """Whether the loop's term has the mark: annotations say that its iterations are independent."""
    return loop.annotation(Independent) is not None


def program(node: nd.Node, hint: Hint) -> Words:
    """The program as a term; `hint` gives the times of calls whose instances have several."""
    yield "term"
    yield from loops(node, hint)


def printed(text: str, node: nd.Node, hint: Hint) -> Words:
    """The program as its source, which the checker reads; `node` is its term."""
    calls = sum(isinstance(part, nd.Call) for part in subprograms(node))
    hints = [hint(position) for position in range(calls)]
    yield from ("printed", name(text))
    yield from listed(hints if any(hints) else [], vector)


def region(text: str, node: nd.Node, hint: Hint) -> Words:
    """A part of a C file, which the checker reads; `node` is its term, whose calls are its statements."""
    parts = list(subprograms(node))
    calls = [part for part in parts if isinstance(part, nd.Call)]
    yield from ("region", name(text))
    marks = [str(int(is_marked(part))) for part in parts if isinstance(part, nd.For)]
    yield from (str(len(marks)), *marks)
    yield str(len(calls))
    for position, call in enumerate(calls):
        yield name(call.name)
        yield from vector(call.arguments)
        yield from vector(hint(position))


def loops(node: nd.Node, hint: Hint) -> Words:
    """Writes `counted` of `proofs/Counting.v`: loops that count down in the source do so."""
    return _WordWriter(hint).words(node)


def counting_down(node: nd.Node) -> nd.For | None:
    """Recovers for (x = a; t; x -= s) b from the loop over x' = -x of `prove/reading/loops.py`."""
    match node:
        case nd.For(turned, ex.Scaled(-1, start), tested, step, nd.Let(own, ex.Scaled(-1, used), body)):
            if ex.Var(turned) == used == ex.Var(f"{own}'"):
                back = {turned: ex.Scaled(-1, ex.Var(own))}
                return nd.For(own, start, substituted(tested, back), -step, body)
    return None


class _WordWriter:
    """Counts the calls as it writes them."""

    def __init__(self, hint: Hint) -> None:
        self.hint = hint
        self.position = 0

    def words(self, node: nd.Node) -> Words:
        match node:
            case nd.Call(statement, arguments):
                hint = self.hint(self.position)
                self.position += 1
                yield from ("call", name(statement))
                yield from vector(arguments)
                yield from vector(hint)
            case nd.Block(children):
                yield "block"
                yield from listed(children, self.words)
            case nd.If(condition, then, orelse):
                yield "if"
                yield from test(condition)
                yield from self.words(then)
                yield from self.words(nd.EMPTY if orelse is None else orelse)
            case nd.For():
                if is_marked(node):
                    yield from ("mark", name(PARALLEL))
                yield from self.loop(counting_down(node) or node)
            case nd.Let(variable, value, body):
                yield from ("let", name(variable))
                yield from expr(value)
                yield from self.words(body)
            case nd.Remarked(_, body):
                yield from ("mark", name(""))
                yield from self.words(body)
            case _:
                assert_never(node)

    def loop(self, loop: nd.For) -> Words:
        yield from ("for", name(loop.iterator))
        yield from expr(loop.start)
        yield from test(loop.test)
        yield str(loop.step)
        yield from self.words(loop.body)
