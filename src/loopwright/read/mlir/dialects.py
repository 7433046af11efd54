"""The supported dialects, and xdsl's parser for them, which records where operations start.

It supplies what xdsl lacks:

    affine.max, affine.delinearize_index        have no definition there
    affine.if, affine.parallel                  are supported only in their generic form, and so are
    memref.cast, memref.copy, memref.global     these,
    vector.print                                and this
    arith.cmpf, arith.select                    do not support vectors of conditions
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.context import Context
from xdsl.dialects import affine, arith, memref, vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    AnyDenseElement,
    ArrayAttr,
    Builtin,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    UnregisteredOp,
    VectorType,
    i1,
    i64,
)
from xdsl.dialects.func import Func
from xdsl.dialects.math import Math
from xdsl.dialects.scf import Scf
from xdsl.dialects.ub import UB
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap, AffineSet
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from loopwright.errors import NotModelled
from loopwright.read.mlir.affine_text import BoundsParser, SemiAffineParser, ValuesParser
from loopwright.source import Source


def _operands(parser: Parser) -> list[SSAValue]:
    """Parse `(%i, %j)[%n]`: dimensions, then symbols."""
    found: list[SSAValue] = []
    for delimiter in (Parser.Delimiter.PAREN, Parser.Delimiter.SQUARE):
        found += parser.parse_optional_comma_separated_list(
            delimiter, lambda: parser.parse_operand(IndexType())
        ) or []
    return found


def _results(parser: Parser) -> Sequence[Attribute]:
    """The types after `->`, in parentheses or a single one without; empty if there is no arrow."""
    if parser.parse_optional_punctuation("->") is None:
        return ()
    several = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
    return (parser.parse_type(),) if several is None else several


def _with_terminator(region: Region) -> Region:
    """The region with the yield that the custom form omits if nothing is yielded."""
    block = region.block
    if not isinstance(block.last_op, affine.YieldOp):
        block.add_op(affine.YieldOp.get())
    return region


@irdl_op_definition
class MaxOp(IRDLOperation):
    """The maximum of the results of a map."""

    name = "affine.max"
    arguments = var_operand_def(IndexType())
    result = result_def(IndexType())
    map = prop_def(AffineMapAttr)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        found = parser.parse_attribute()
        if not isinstance(found, AffineMapAttr):
            parser.raise_error("an affine map is expected")
        return cls.create(operands=_operands(parser), properties={"map": found}, result_types=[IndexType()])


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
        inside, some = Parser.Delimiter.PAREN, parser.parse_comma_separated_list
        iterators = some(inside, lambda: parser.parse_argument(expect_type=False))
        parser.parse_punctuation("=")
        lower = BoundsParser(parser, "max")
        parser.parse_keyword("to")
        upper = BoundsParser(parser, "min")
        has_steps = parser.parse_optional_keyword("step") is not None
        steps = some(inside, parser.parse_integer) if has_steps else [1] * len(iterators)
        reductions: list[str] = []
        if parser.parse_optional_keyword("reduce") is not None:
            reductions = some(inside, parser.parse_str_literal)
        results = _results(parser)
        arguments = [one.resolve(IndexType()) for one in iterators]
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
            regions=[_with_terminator(parser.parse_region(arguments))],
        )
        made.attributes |= parser.parse_optional_attr_dict()
        return made

    def verify_(self) -> None:
        if not self.results:  # xdsl would parse these as operands
            super().verify_()


class CastOp(memref.CastOp):
    """`%w = memref.cast %v : memref<4xf64> to memref<?xf64>`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source, before, after = _from_to(parser, [parser.parse_unresolved_operand()])
        return cls.create(operands=[parser.resolve_operand(source[0], before)], result_types=[after])


class CopyOp(memref.CopyOp):
    """`memref.copy %a, %b : memref<4xf64> to memref<4xf64>`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_unresolved_operand)
        (source, target), before, after = _from_to(parser, names)
        operands = [parser.resolve_operand(source, before), parser.resolve_operand(target, after)]
        return cls.create(operands=operands)


def _from_to(
    parser: Parser, names: list[UnresolvedOperand]
) -> tuple[list[UnresolvedOperand], Attribute, Attribute]:
    """The operands, and the types after them: `: T to U`."""
    parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    before = parser.parse_type()
    parser.parse_keyword("to")
    return names, before, parser.parse_type()


@irdl_op_definition
class GlobalOp(IRDLOperation):
    """`memref.global "private" constant @m : memref<4xi32> = dense<0>`; without a value it is external."""

    name = "memref.global"
    sym_name = prop_def(StringAttr)
    sym_visibility = opt_prop_def(StringAttr)
    type = prop_def(MemRefType)
    initial_value = opt_prop_def(Attribute)
    constant = opt_prop_def(UnitAttr)
    alignment = opt_prop_def(IntegerAttr)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        found: dict[str, Attribute] = {}
        if (visibility := parser.parse_optional_str_literal()) is not None:
            found["sym_visibility"] = StringAttr(visibility)
        if parser.parse_optional_keyword("constant") is not None:
            found["constant"] = UnitAttr()
        found["sym_name"] = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        found["type"] = kind = parser.parse_type()
        if not isa(kind, MemRefType[AnyDenseElement]):
            parser.raise_error("the type of a buffer of numbers is expected")
        if parser.parse_optional_punctuation("=") is not None:
            found["initial_value"] = _initial(parser, kind)
        return cls.create(properties={**found, **parser.parse_optional_attr_dict()})


def _initial(parser: Parser, kind: MemRefType[AnyDenseElement]) -> Attribute:
    """`uninitialized`, or elements of the buffer's type."""
    if parser.parse_optional_keyword("uninitialized") is not None:
        return UnitAttr()
    parser.parse_keyword("dense")
    return parser.parse_dense_int_or_fp_elements_attr(kind)


class PrintOp(vector.PrintOp):
    """`vector.print %v : f64 punctuation <comma>`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        kind = parser.parse_type()
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("punctuation") is not None:
            parser.parse_punctuation("<")
            attributes["punctuation"] = StringAttr(parser.parse_identifier())
            parser.parse_punctuation(">")
        return cls.create(operands=[parser.resolve_operand(value, kind)], attributes=attributes)


@irdl_op_definition
class SelectOp(IRDLOperation):
    """`arith.select %c, %a, %b : f64`; of vectors, `: vector<4xi1>, vector<4xf64>`."""

    name = "arith.select"
    cond = operand_def()
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()

    def verify_(self) -> None:
        kind = self.result.type
        if self.lhs.type != kind or self.rhs.type != kind or self.cond.type not in (i1, _conditions(kind)):
            raise VerifyException("the types of a selection do not fit each other")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kinds = [parser.parse_type()]
        if parser.parse_optional_punctuation(",") is not None:
            kinds.append(parser.parse_type())
        tested = kinds[0] if len(kinds) > 1 else i1
        values = [
            parser.resolve_operand(one, kind)
            for one, kind in zip(operands, (tested, kinds[-1], kinds[-1]), strict=True)
        ]
        return cls.create(operands=values, result_types=[kinds[-1]], attributes=attributes)


@irdl_op_definition
class CmpfOp(IRDLOperation):
    """`arith.cmpf olt, %a, %b : vector<4xf64>`, which makes a vector of conditions."""

    name = "arith.cmpf"
    predicate = prop_def(IntegerAttr)
    lhs = operand_def()
    rhs = operand_def()
    fastmath = opt_prop_def(arith.FastMathFlagsAttr)
    result = result_def()

    def verify_(self) -> None:
        if self.lhs.type != self.rhs.type or self.result.type != _conditions(self.lhs.type):
            raise VerifyException("the types of a comparison do not fit each other")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        made = arith.CmpfOp.parse(parser)
        several = cls.create(
            operands=[*made.operands], result_types=[_conditions(made.lhs.type)], properties=made.properties
        )
        made.drop_all_references()
        return several


def _conditions(kind: Attribute) -> Attribute:
    """The result type of a comparison of two values of a type."""
    return VectorType(i1, kind.shape, kind.scalable_dims) if isinstance(kind, VectorType) else i1


def _with(dialect: Dialect, *own: type[Operation]) -> Dialect:
    """The dialect with operations of this file replacing those of the same name, or added."""
    names = {one.name for one in own}
    others = [one for one in dialect.operations if one.name not in names]
    return Dialect(dialect.name, [*others, *own], list(dialect.attributes))


AFFINE = _with(affine.Affine, MaxOp, DelinearizeOp, IfOp, ParallelOp)
"""The affine dialect with all operations that loops need."""
_ARITH = _with(arith.Arith, CmpfOp, SelectOp)
_MEMREF = _with(memref.MemRef, CastOp, CopyOp, GlobalOp)
_VECTOR = _with(vector.Vector, PrintOp)


def _context() -> Context:
    context = Context(allow_unregistered=True)
    for dialect in (AFFINE, _ARITH, Builtin, Func, Math, _MEMREF, Scf, UB, _VECTOR):
        context.load_dialect(dialect)
    return context


class PlacedParser(Parser):
    """A parser of the supported dialects; other operations are parsed in their generic form."""

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

    def parse_affine_map(self) -> AffineMap:
        return SemiAffineParser(self._parser_state).parse_affine_map()

    def parse_affine_set(self) -> AffineSet:
        return SemiAffineParser(self._parser_state).parse_affine_set()

    def parse_affine_map_of_ssa_ids(self) -> tuple[AffineMap, Sequence[SSAValue[IndexType]]]:
        values = ValuesParser(self)
        results = values.expressions(self.Delimiter.SQUARE)
        return values.map_of(results), values.operands

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """The operation; one without a custom form here is parsed only in the generic form, `"name"(...)`."""
        found = super()._get_op_by_name(name)
        place = self.source.text.find(name, self._last)
        reads = next(one for one in found.__mro__ if "parse" in vars(one))
        if reads in (UnregisteredOp, Operation) and self.source.text[place - 1 : place] != '"':
            raise NotModelled(name, self.source.at(place, len(name)))
        return found
