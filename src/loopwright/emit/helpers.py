"""`min`, `max` and `floord`, which C lacks: functions in a generated file, macros in the user's.

Functions evaluate their arguments once, so that a minimum of many bounds does not grow exponentially,
and in 64 bits.  If the user's file uses the name for something else, the operation is expanded instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.c.tokens import names_in
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Node
from loopwright.loops.traverse import subprograms, subterms, terms, with_expressions, with_parts, with_terms
from loopwright.model.program import Program
from loopwright.source import Source

DEFINITIONS = {
    "floord": "#define floord(n, d) ((n) / (d) - ((n) % (d) < 0))",
    "max": "#define max(a, b) ((a) > (b) ? (a) : (b))",
    "min": "#define min(a, b) ((a) < (b) ? (a) : (b))",
}

FUNCTIONS = {
    "floord": """\
/* n / d rounded towards minus infinity; d is positive. */
static inline long long floord(long long n, long long d)
{
  return n / d - (n % d < 0);
}
""",
    "max": """\
static inline long long max(long long a, long long b)
{
  return a > b ? a : b;
}
""",
    "min": """\
static inline long long min(long long a, long long b)
{
  return a < b ? a : b;
}
""",
}


def defined(source: Source) -> frozenset[str]:
    """The helpers the file already defines as we do."""
    lines = {line.strip() for line in source.text.splitlines()}
    return frozenset(name for name, text in DEFINITIONS.items() if text in lines)


def taken(source: Source, written: Program) -> frozenset[str]:
    """The helpers' names that mean something else in the text, or in the headers of the file `written`."""
    words = set(names_in(source.text))
    own = frozenset(name for name in DEFINITIONS if name in words) - defined(source)
    return own | written.foreign


def used(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The helpers these programs call."""
    found: set[str] = set()
    for node in nodes:
        for part in subprograms(node):
            for term in (inner for outer in terms(part) for inner in subterms(outer)):
                match term:
                    case ex.FloorDiv():
                        found.add("floord")
                    case ex.Max(arguments) if len(arguments) > 1:
                        found.add("max")
                    case ex.Min(arguments) if len(arguments) > 1:
                        found.add("min")
    return tuple(sorted(found))


def written_out(node: Node, names: frozenset[str]) -> Node:
    """`node` without the helpers `names`."""
    return with_terms(node, lambda expr: _expression(expr, names)) if names else node


def _expression(expr: ex.Expr, names: frozenset[str]) -> ex.Expr:
    def again(one: ex.Expr) -> ex.Expr:
        return _expression(one, names)

    match with_parts(expr, again, lambda test: with_expressions(test, again)):
        case ex.FloorDiv(argument, divisor) if "floord" in names:
            return _floor(argument, divisor)
        case ex.Min(arguments) if "min" in names:
            return _extremum(ex.Relation.LT, arguments)
        case ex.Max(arguments) if "max" in names:
            return _extremum(ex.Relation.GT, arguments)
        case simple:
            return simple


def _floor(argument: ex.Expr, divisor: int) -> ex.Expr:
    """⌊n / d⌋ = n / d - (n % d < 0 ? 1 : 0)."""
    below = ex.Select(ex.Compare(ex.Relation.LT, ex.Rem(argument, divisor), ex.Int(0)), ex.Int(1), ex.Int(0))
    return ex.Sum((ex.TruncDiv(argument, divisor), ex.Scaled(-1, below)))


def _extremum(relation: ex.Relation, arguments: tuple[ex.Expr, ...]) -> ex.Expr:
    """Halves of the arguments are written twice each: the length grows with the square of their number."""
    if len(arguments) == 1:
        return arguments[0]
    middle = (len(arguments) + 1) // 2
    left, right = _extremum(relation, arguments[:middle]), _extremum(relation, arguments[middle:])
    return ex.Select(ex.Compare(relation, left, right), left, right)
