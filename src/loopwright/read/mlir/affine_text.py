"""Parses affine expressions as MLIR prints them, with xdsl's parser and some extensions.

    affine_map<(d0)[s0] -> (d0 * s0)>     a product of sizes, which may later become constants
    %A[symbol(%n) - %i]                   values declared to be symbols
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntElementsAttr, IndexType, VectorType, i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr, AffineMap
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.lexer import Span as Token
from xdsl.utils.mlir_lexer import MLIRToken

_SEMI_AFFINE = {
    "*": AffineBinaryOpKind.Mul,
    "ceildiv": AffineBinaryOpKind.CeilDiv,
    "floordiv": AffineBinaryOpKind.FloorDiv,
    "mod": AffineBinaryOpKind.Mod,
}


class SemiAffineParser(AffineParser):
    """Maps and sets with products and quotients of sizes, which may later become constants."""

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: MLIRToken) -> AffineExpr:
        try:
            return super()._create_binop_expr(lhs, rhs, binop)
        except NotImplementedError:
            return AffineBinaryOpExpr(_SEMI_AFFINE[binop.text], lhs, rhs)


class ValuesParser(SemiAffineParser):
    """Affine expressions of SSA values; each value is a dimension, numbered by its first occurrence."""

    def __init__(self, parser: Parser) -> None:
        super().__init__(parser._parser_state)
        self._places: dict[str, int] = {}
        self._spans: list[Token] = []
        self._parser = parser

    def expressions(self, delimiter: Parser.Delimiter) -> list[AffineExpr]:
        return self.parse_comma_separated_list(delimiter, self._expression)

    def map_of(self, results: Sequence[AffineExpr]) -> AffineMap:
        return AffineMap(len(self._places), 0, tuple(results))

    @property
    def operands(self) -> list[SSAValue[IndexType]]:
        unresolved = [UnresolvedOperand(span, 0) for span in self._spans]
        return [self._parser.resolve_operand(one, IndexType()) for one in unresolved]

    def _expression(self) -> AffineExpr:
        return self._parse_affine_expr(self._value)

    def _value(self) -> AffineExpr | None:
        """`%n` or `symbol(%n)`, which differ only in where they may be defined."""
        if self.parse_optional_keyword("symbol") is not None:
            self.parse_punctuation("(")
            found = self._value()
            self.parse_punctuation(")")
            return found
        token = self._current_token
        if not token.text.startswith("%"):
            return None
        self._consume_token()
        if token.text not in self._places:
            self._places[token.text] = len(self._places)
            self._spans.append(token.span)
        return AffineExpr.dimension(self._places[token.text])


class BoundsParser(ValuesParser):
    """The bounds of a parallel loop: for each iterator one expression, or several in `min` or `max`."""

    def __init__(self, parser: Parser, keyword: str) -> None:
        super().__init__(parser)
        self._keyword = keyword
        groups = self.parse_comma_separated_list(self.Delimiter.PAREN, self._group)
        self.map = self.map_of([one for group in groups for one in group])
        shape = VectorType(i32, [len(groups)])
        self.sizes = DenseIntElementsAttr.from_list(shape, [len(group) for group in groups])

    def _group(self) -> list[AffineExpr]:
        if self.parse_optional_keyword(self._keyword) is None:
            return [self._expression()]
        return self.expressions(self.Delimiter.PAREN)
