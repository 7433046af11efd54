"""What a generated program needs around it to compile alone."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.loops.expressions import FloorDiv, Max, Min
from loopwright.loops.nodes import Call, Node
from loopwright.loops.traverse import free_variables, subprograms, subterms, terms

FLOORD = """\
/* n / d rounded towards minus infinity; d is positive. */
static inline long long floord(long long n, long long d)
{
  return n / d - (n % d < 0);
}
"""

MAX = """\
static inline long long max(long long a, long long b)
{
  return a > b ? a : b;
}
"""

MIN = """\
static inline long long min(long long a, long long b)
{
  return a < b ? a : b;
}
"""


def translation_unit(
    program: Node, body: str, entry: str, parameters: Sequence[str], number: str
) -> str:
    """A file of C with the function `entry` of the parameters, whose text is `body`.

    The helpers are functions, not macros: their arguments are evaluated once, so that a minimum
    of many bounds does not grow exponentially, and in 64 bits.
    """
    used = free_variables(program)
    arguments = [*parameters, *sorted(used - set(parameters))]
    unused = [f"  (void){name};\n" for name in arguments if name not in used]
    signature = ", ".join(f"{number} {name}" for name in arguments) or "void"
    function = f"void {entry}({signature})\n{{\n{''.join(unused)}{body}}}\n"
    declarations = "".join(_declaration(name, arity, number) for name, arity in _statements(program))
    return "\n".join(part for part in (*_helpers(program), declarations, function) if part)


def _declaration(name: str, arity: int, number: str) -> str:
    return f"void {name}({', '.join([number] * arity) or 'void'});\n"


def _statements(program: Node) -> list[tuple[str, int]]:
    return sorted({(p.name, len(p.arguments)) for p in subprograms(program) if isinstance(p, Call)})


def _helpers(program: Node) -> list[str]:
    used = [part for node in subprograms(program) for term in terms(node) for part in subterms(term)]
    wanted = (
        (FLOORD, any(isinstance(part, FloorDiv) for part in used)),
        (MAX, any(isinstance(part, Max) and len(part.arguments) > 1 for part in used)),
        (MIN, any(isinstance(part, Min) and len(part.arguments) > 1 for part in used)),
    )
    return [text for text, is_used in wanted if is_used]
