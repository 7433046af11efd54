"""That a bound or subscript of a text overflows its type or wraps around, for numbers that the file gives.

Loops are followed in their first and last iterations, and in the test that ends them: there iterators
have one value, so that every expression has one, and one that is not of its type is a refutation.

    for (i = s; i + 4 <= n; i++)    the last test is  n + 1 <= n:  2^32 where n is unsigned and 2^32 - 1

What stands under a condition, or is computed only sometimes, refutes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.c.loops import loop_iterator
from loopwright.c.syntax import Node, field, operator, walk, without_parentheses
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.prove.reading.c_expressions import Unreadable, words_of
from loopwright.prove.reading.loops import leaf_nodes
from loopwright.prove.text.overflow import NotShown, Overflows, Typed, ValueScope


def shown_overflow(program: Program, numbers: Mapping[str, int]) -> str | None:
    """What is not a value of its type where parameters have these numbers; None where nothing shows it."""
    if any(node.type in _JUMPS for node in walk(program.syntax)):
        return None
    points = {name: (value, value) for name, value in numbers.items()}
    try:
        leaves = set(leaf_nodes(program, program.syntax).values())
        scope = _EndsOfLoops(program, words_of(program), points, {}, leaves, frozenset())
        for _ in scope.sequence(program.syntax):
            pass
    except Overflows as found:
        return str(found)
    except (NotShown, Unreadable):
        return None
    return None


@dataclass(frozen=True)
class _EndsOfLoops(ValueScope):
    def statement(self, node: Node) -> Iterator[Typed]:
        """One after the other; what cannot be followed hides nothing of the others."""
        try:
            if node.type != "if_statement":
                yield from super().statement(node)
        except Overflows:
            raise
        except (NotShown, Unreadable):
            return

    def _loop(self, node: Node) -> Iterator[Typed]:
        name, condition = loop_iterator(node), node.child_by_field_name("condition")
        if name is None or condition is None or without_parentheses(condition).type != "binary_expression":
            return
        step, kind, start, limit = self.counted(node, name, condition)
        times = max(0, (limit - start.least) // step + 1)
        final = start.least + times * step
        yield self.bind(name, Typed(final, final, kind).within(condition)).value(condition)
        for value in {start.least, final - step} if times else ():
            yield from self.bind(name, Typed(value, value, kind)).statement(field(node, "body"))

    def _leaf(self, node: Node) -> Iterator[Typed]:
        if not any(_is_partial(part) for part in walk(node)):
            yield from super()._leaf(node)

    def value(self, node: Node) -> Typed:
        if _is_partial(without_parentheses(node)):
            raise NotShown(f"not all of '{node.text}' is computed always")
        return super().value(node)


def _is_partial(node: Node) -> bool:
    """Whether parts of an expression may not be computed."""
    is_logic = node.type == "binary_expression" and operator(node) in ("&&", "||")
    return is_logic or node.type in ("conditional_expression", "sizeof_expression")


_JUMPS = ("break_statement", "continue_statement", "goto_statement", "return_statement")
"""Which may leave a loop before its last iteration."""
