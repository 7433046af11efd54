"""The lengths of arrays, as functions of sizes that are the same at the declaration and in the region."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import islpy as isl

from loopwright.c.casts import expression_of
from loopwright.c.syntax import Node, field, operator, without_parentheses
from loopwright.c.tokens import decimal, names_in, packed
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.typed.known_values import integer_type, the_value
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.presburger.named import number, variable
from loopwright.read.c.gate.numbers import is_unchanged, values_before


@dataclass(frozen=True)
class DeclaredLengths:
    """The lengths of arrays that the function around a region declares, or its file."""

    program: Program
    region: TypedRegion
    file: TypedFile

    def of(
        self,
        length: int | str | None,
        array: tree.Declaration | None,
        declared: Mapping[str, tree.Declaration],
    ) -> isl.PwAff | None:
        """The length of a dimension; of a variable length array, if it is a number where the array is
        declared, or depends only on unmodified parameters of the function that are declared before the array.
        """
        if isinstance(length, int):
            return number(length)
        if length is None or array is None:
            return None
        known = self._numbers.get((array.offset, packed(length)))
        if known is not None:
            return number(known)
        node = expression_of(length, self.program.file.kinds(self.program.region))
        value = None if node is None else _length_value(node)
        if value is None:
            return None
        for name in sorted(set(names_in(length))):
            size = declared.get(name)
            kind = None if size is None else integer_type(size.type)
            if size is None or array.offset < size.offset or name not in self.program.params:
                return None
            if not is_unchanged(size, self.region) or kind is None or not (kind.signed or length == name):
                return None
        return value

    @cached_property
    def _numbers(self) -> dict[tuple[int, str], int]:
        """The lengths that are numbers where they are declared, by the offset of the array and their text."""
        function = self.region.function
        before = values_before(function, self.file)
        found: dict[tuple[int, str], int] = {}
        for node in function.nodes:
            for size in node.sizes if isinstance(node, tree.Declarator) else ():
                value = the_value(before.computed(size, node.place.first))
                if value is not None and isinstance(node, tree.Declarator):
                    tokens = function.tokens[size.place.first : size.place.end]
                    found[node.declaration.offset, "".join(one.text for one in tokens)] = value
        return found


def _length_value(node: Node) -> isl.PwAff | None:
    """Sizes and numbers, their sums, and products and quotients by numbers: C rounds towards zero."""
    core = without_parentheses(node)
    match core.type:
        case "identifier":
            return variable(core.text)
        case "number_literal":
            value = decimal(core.text)
            return None if value is None else number(value)
        case "binary_expression":
            sides = [without_parentheses(field(core, side)) for side in ("left", "right")]
            left, right = map(_length_value, sides)
            if left is None or right is None:
                return None
            factors = [decimal(side.text) for side in sides]
            match operator(core):
                case "+":
                    return left.add(right)
                case "-":
                    return left.sub(right)
                case "*" if factors != [None, None]:
                    return left.mul(right)
                case "/" if factors[1]:
                    return left.tdiv_q(right)
    return None
