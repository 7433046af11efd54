"""The dialects that are read, and xdsl's parser for them, which remembers where operations start.

Of the affine dialect, what xdsl does not have is supplied:

    affine.max, affine.delinearize_index   have no definition there
    affine.if, affine.parallel             are read in their generic form only
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.context import Context
from xdsl.dialects import affine
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    Builtin,
    DenseArrayBase,
    DenseIntElementsAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    UnregisteredOp,
    VectorType,
    i32,
    i64,
)
from xdsl.dialects.func import Func
from xdsl.dialects.math import Math
from xdsl.dialects.memref import MemRef
from xdsl.dialects.scf import Scf
from xdsl.dialects.ub import UB
from xdsl.dialects.vector import Vector
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, var_operand_def, var_result_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.lexer import Span as Token

from loopwright.read.mlir.refusal import NotModelled
from loopwright.source import Source


def _operands(parser: Parser) -> list[SSAValue]:
    """`(%i, %j)[%n]`: dimensions, then symbols."""
    found: list[SSAValue] = []
    for delimiter in (Parser.Delimiter.PAREN, Parser.Delimiter.SQUARE):
        found += parser.parse_optional_comma_separated_list(
            delimiter, lambda: parser.parse_operand(IndexType())
        ) or []
    return found


def _results(parser: Parser) -> Sequence[Attribute]:
    """The types after `->`, with parentheses or one without; nothing where there is no arrow."""
    if parser.parse_optional_punctuation("->") is None:
        return ()
    several = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
    return (parser.parse_type(),) if several is None else several


def _with_terminator(region: Region) -> Region:
    """The yield that the custom form leaves out where nothing is yielded."""
    block = region.block
    if not isinstance(block.last_op, affine.YieldOp):
        block.add_op(affine.YieldOp.get())
    return region


@irdl_op_definition
class MaxOp(IRDLOperation):
    """The largest of the results of a map."""

    name = "affine.max"
    arguments = var_operand_def(IndexType())
    result = result_def(IndexType())
    map = prop_def(AffineMapAttr)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        found = parser.parse_attribute()
        if not isinstance(found, AffineMapAttr):
            parser.raise_error("an affine map is expected")
        return cls.create(
            operands=_operands(parser), properties={"map": found}, result_types=[IndexType()]
        )


@irdl_op_definition
class DelinearizeOp(IRDLOperation):
    """`%i, %j = affine.delinearize_index %x into (4, 3) : index, index`: the digits of a number."""

    name = "affine.delinearize_index"
    arguments = var_operand_def(IndexType())
    digits = var_result_def(IndexType())
    static_basis = prop_def(DenseArrayBase)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        number = parser.parse_operand(IndexType())
        parser.parse_keyword("into")
        basis = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_integer)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
        made = cls.create(
            operands=[number],
            properties={"static_basis": DenseArrayBase.from_list(i64, basis)},
            result_types=types,
        )
        made.attributes |= attributes
        return made


class IfOp(affine.IfOp):
    """`affine.if #set(%i)[%n] -> (f64) { ... } else { ... }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_attribute()
        if not isinstance(condition, AffineSetAttr):
            parser.raise_error("an integer set is expected")
        operands = _operands(parser)
        results = _results(parser)
        then = _with_terminator(parser.parse_region())
        orelse = Region()
        if parser.parse_optional_keyword("else") is not None:
            orelse = _with_terminator(parser.parse_region())
        made = cls.build(
            operands=[operands],
            properties={"condition": condition},
            result_types=[results],
            regions=[then, orelse],
        )
        made.attributes |= parser.parse_optional_attr_dict()
        return made


class ParallelOp(affine.ParallelOp):
    """`affine.parallel (%i, %j) = (0, max(%a, %b)) to (symbol(%n), 10) step (1, 2) { ... }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        iterators = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = _Bounds(parser, "max")
        parser.parse_keyword("to")
        upper = _Bounds(parser, "min")
        steps = [1] * len(iterators)
        if parser.parse_optional_keyword("step") is not None:
            steps = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_integer)
        reductions: list[str] = []
        if parser.parse_optional_keyword("reduce") is not None:
            reductions = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_str_literal)
        results = _results(parser)
        arguments = [one.resolve(IndexType()) for one in iterators]
        body = _with_terminator(parser.parse_region(arguments))
        made = cls.build(
            operands=[[*lower.operands, *upper.operands]],
            properties={
                "reductions": ArrayAttr([StringAttr(one) for one in reductions]),
                "lowerBoundsMap": AffineMapAttr(lower.map),
                "lowerBoundsGroups": lower.sizes,
                "upperBoundsMap": AffineMapAttr(upper.map),
                "upperBoundsGroups": upper.sizes,
                "steps": ArrayAttr([IntegerAttr(one, i64) for one in steps]),
            },
            result_types=[results],
            regions=[body],
        )
        made.attributes |= parser.parse_optional_attr_dict()
        return made


class _Bounds(AffineParser):
    """The bounds of a parallel loop: for each iterator one expression, or several in `min` or `max`."""

    def __init__(self, parser: Parser, keyword: str) -> None:
        super().__init__(parser._parser_state)
        self._places: dict[str, int] = {}
        self._spans: list[Token] = []
        self._keyword = keyword
        groups = self.parse_comma_separated_list(self.Delimiter.PAREN, self._group)
        self.map = AffineMap(len(self._places), 0, tuple(one for group in groups for one in group))
        self.operands = [
            parser.resolve_operand(UnresolvedOperand(span, 0), IndexType()) for span in self._spans
        ]
        shape = VectorType(i32, [len(groups)])
        self.sizes = DenseIntElementsAttr.from_list(shape, [len(group) for group in groups])

    def _group(self) -> list[AffineExpr]:
        if self.parse_optional_keyword(self._keyword) is None:
            return [self._parse_affine_expr(self._value)]
        return self.parse_comma_separated_list(
            self.Delimiter.PAREN, lambda: self._parse_affine_expr(self._value)
        )

    def _value(self) -> AffineExpr | None:
        """`%n` or `symbol(%n)`, which differ in where they may be defined only."""
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


def _affine() -> Dialect:
    own: list[type[Operation]] = [MaxOp, DelinearizeOp, IfOp, ParallelOp]
    names = {one.name for one in own}
    others = [one for one in affine.Affine.operations if one.name not in names]
    return Dialect("affine", [*others, *own], list(affine.Affine.attributes))


AFFINE = _affine()
"""The affine dialect, with all of it that loops need."""


def _context() -> Context:
    context = Context(allow_unregistered=True)
    for dialect in (AFFINE, Arith, Builtin, Func, Math, MemRef, Scf, UB, Vector):
        context.load_dialect(dialect)
    return context


class PlacedParser(Parser):
    """A parser of the dialects that are read; other operations are parsed in their generic form."""

    def __init__(self, source: Source) -> None:
        super().__init__(_context(), source.text, source.path)
        self.source = source
        self.starts: dict[Operation, int] = {}
        self._last = 0

    def parse_operation(self) -> Operation:
        start = self.pos
        self._last = start
        operation = super().parse_operation()
        self.starts[operation] = start
        return operation

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """The operation; of one that no dialect here has, only the generic form, `"name"(...)`, is read."""
        found = super()._get_op_by_name(name)
        place = self.source.text.find(name, self._last)
        if issubclass(found, UnregisteredOp) and self.source.text[place - 1 : place] != '"':
            raise NotModelled(name, self.source.at(place, len(name)))
        return found
