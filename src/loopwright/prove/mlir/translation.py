"""Translates functions of the affine, arith, memref, scf and func dialects to loops around assignments.

    affine.store %v, %A[i]     A[i] = v, a statement; v is the expression that computes the value
    %v = affine.load %A[i]     part of that expression, if no store to A comes in between;
                               else a statement of its own, v[...] = A[i]
    iter_args(%a = %x)         a[...] = x before the loop, a[...] = the yielded value, after each iteration
    %r = affine.if ... else    r[...] = the yielded value, in each branch
    vector.print %v            printed = print(printed, v): the text so far with one value more

Cells such as v[...] have the iterators of the loops around the operation as subscripts: every instance of an
SSA value is a cell of its own, written once (that of an iter_args, once in each iteration).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from math import prod

import islpy as isl
from xdsl.dialects import affine, arith, func, memref, scf, vector
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerType, MemRefType, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstraintKind

from loopwright.c.types import INT
from loopwright.loops import expressions as ex
from loopwright.loops.expressions import And, Compare, Expr, FloorDiv, Int, Relation, Scaled, Sum, Test, Var
from loopwright.loops.nodes import EMPTY, For, If, Node
from loopwright.loops.nodes import Block as InTurn
from loopwright.model.annotations import Parallel
from loopwright.presburger.named import parameter_space
from loopwright.prove.equivalence.definedness import may_be_undefined
from loopwright.prove.equivalence.terms import CellTerm, Index, Term, TermAssignment, subterms
from loopwright.prove.mlir.cells import LOADS, STORES, FunctionState, MlirNames, ancestor
from loopwright.prove.mlir.function import AffineFunction, Buffer
from loopwright.prove.mlir.values import (
    computed,
    constant,
    expression,
    opaque,
    tested,
    type_of,
)
from loopwright.read.mlir.dialects import DelinearizeOp, MaxOp
from loopwright.read.mlir.parsing import MlirFile

ALIASING = "the arguments of a function do not overlap, nor with globals"
STRIDES = "cells of a buffer with other subscripts are other places"
SIZES = "arguments of the type index, and integers made one, are not negative"
ARITHMETIC = "integers that are computed from sizes and iterators do not overflow"
_TRAPPING = frozenset(
    f"arith.{name}" for name in ["divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"]
)
"""Operations that are undefined for some operands, so their position matters."""
_GROWING = ("arith.addi", "arith.subi", "arith.muli")
"""Integer operations that wrap around on overflow."""
BOUNDS = "subscripts stay inside their buffers"
PRINTED = "what is printed"
NOTHING = ("memref.assume_alignment", "affine.yield", "scf.yield", "func.return")


class _Translation(FunctionState):
    """Translates the operations of a function in order."""

    def whole(self) -> AffineFunction:
        self.parameters()
        loops = self.block(self.function.body.block, self.returned)
        names = tuple(self.sizes)
        context = isl.Set.universe(parameter_space(names))
        for name in self.lengths:
            context = context.lower_bound_val(isl.dim_type.param, names.index(name), isl.Val(0))
        return AffineFunction(
            self.function.sym_name.data, self.file.source, self.file.place(self.function), loops,
            self.computations, self.iterators, self.places, self.buffers, tuple(self.results), context,
            (ALIASING, BOUNDS, SIZES, *([ARITHMETIC] if self.computes_sizes else []),
             *([STRIDES] if self.has_strides else [])),
            frozenset(term for term, cell in self.padded.items() if cell not in self.loaded),
        )  # fmt: skip

    def parameters(self) -> None:
        """Declares the parameters: buffers, sizes (of the type index, or cast to it) and numbers."""
        for place, argument in enumerate(self.function.body.block.args):
            name = self.names.arguments[place]
            if isinstance(argument.type, MemRefType):
                shape = argument.type.get_shape()
                extents = tuple(
                    self.length(place, k) if size < 0 else Int(size) for k, size in enumerate(shape)
                )
                self.declare(argument, Buffer(name, len(shape), type_of(argument.type.element_type), extents))
            elif isinstance(argument.type, IndexType) or self.is_size(argument):
                self.sizes[name] = self.lengths[name] = None
                self.values[argument] = Index(Var(name), type_of(argument.type))
            else:
                self.values[argument] = CellTerm(name, (), type_of(argument.type))

    def is_size(self, argument: SSAValue) -> bool:
        """Whether an argument is an integer that is used as an index."""
        return isinstance(argument.type, IntegerType) and any(
            isinstance(use.operation, arith.IndexCastOp) for use in argument.uses
        )

    def length(self, place: int, dimension: int) -> Expr | None:
        """The size of a dimension of an argument, if the function reads it."""
        asked = any(
            isinstance(use.operation, memref.DimOp) for use in self.function.body.block.args[place].uses
        )
        if not asked:
            return None
        name = self.names.size(place, dimension)
        self.sizes[name] = self.lengths[name] = None
        return Var(name)

    def block(self, block: Block, end: Callable[[Operation], Node]) -> Node:
        """Translates the operations of a block; `end` translates its terminator."""
        parts: list[Node] = []
        for operation in block.ops:
            is_last = operation.next_op is None and operation.name in NOTHING
            parts += [end(operation)] if is_last else self.operation(operation)
        return InTurn(tuple(parts))

    def returned(self, operation: Operation) -> Node:
        made: list[TermAssignment] = []
        for place, value in enumerate(operation.operands):
            name = f"result {place}"
            if value in self.storage:
                buffer = self.storage[value].buffer
                if not buffer.is_local or buffer.name != name:
                    raise self.refuse(operation, "a function that returns a buffer it did not allocate")
                self.results.append(name)
                continue
            term = self.value(value, operation)
            made.append(TermAssignment(CellTerm(name, (), term.type), term))
            self.results.append(name)
        return self.statement(operation, made)

    def operation(self, operation: Operation) -> list[Node]:
        match operation:
            case affine.ForOp():
                return self.affine_for(operation)
            case affine.ParallelOp():
                return [self.affine_parallel(operation)]
            case affine.IfOp():
                return self.branches(operation, self.condition(operation))
            case scf.ForOp():
                return self.scf_for(operation)
            case scf.IfOp():
                test = tested(self.value(operation.cond, operation))
                if test is None:
                    raise self.refuse(operation, "scf.if with a condition on data")
                return self.branches(operation, test)
            case affine.ApplyOp() | affine.MinOp() | MaxOp():
                self.applied(operation)
                return []
            case DelinearizeOp():
                self.delinearized(operation)
                return []
            case memref.AllocOp() | memref.AllocaOp():
                return self.allocation(operation)
            case memref.GetGlobalOp():
                return self.whole_global(operation)
            case memref.CopyOp():
                return [self.copy(operation)]
            case memref.DeallocOp():
                self.deallocation(operation)
                return []
            case vector.PrintOp():
                return [self.printed(operation)]
            case memref.CastOp():
                self.storage[operation.results[0]] = self.storage_of(operation.source, operation)
                return []
            case memref.DimOp():
                self.values[operation.results[0]] = self.dimension(operation)
                return []
            case _ if operation.name in LOADS:
                return self.load(operation)
            case _ if operation.name in STORES:
                return self.store(operation)
            case _ if operation.name in NOTHING:
                return []
            case _:
                return self.computation(operation)

    def applied(self, operation: affine.ApplyOp | affine.MinOp | MaxOp) -> None:
        found = operation.properties["map"]
        assert isinstance(found, AffineMapAttr)
        results = self.mapped(found.data, list(operation.operands), operation)
        value = self.extreme(ex.Max if isinstance(operation, MaxOp) else ex.Min, results, operation)
        self.values[operation.results[0]] = Index(value, type_of(IndexType()))

    def delinearized(self, operation: DelinearizeOp) -> None:
        """The digits of x: floor(x / s) mod b, s the product of the later sizes; the first is not reduced.

        Its size, if given, is an upper bound of x.
        """
        sizes = [int(one) for one in operation.static_basis.get_values()]
        value = self.value(operation.operands[0], operation)
        if len(operation.operands) != 1 or not isinstance(value, Index) or any(one < 1 for one in sizes):
            raise self.refuse(operation, "affine.delinearize_index into sizes that are not numbers")
        inner = sizes[len(sizes) - len(operation.results) + 1 :]
        for place, digit in enumerate(operation.results):
            step = prod(inner[place:])
            found: Expr = FloorDiv(value.value, step)
            if place:
                size = inner[place - 1]
                found = Sum((found, Scaled(-size, FloorDiv(value.value, step * size))))
            self.values[digit] = Index(found, type_of(IndexType()))

    def whole_global(self, operation: memref.GetGlobalOp) -> list[Node]:
        """Declares a buffer that other functions can access too."""
        kind = operation.memref.type
        assert isinstance(kind, MemRefType)
        extents = tuple(Int(size) for size in kind.get_shape())
        name = f"@{operation.name_.root_reference.data}"
        self.declare(operation.memref, Buffer(name, len(extents), type_of(kind.element_type), extents))
        return []

    def copy(self, operation: memref.CopyOp) -> Node:
        """Copies every cell of one buffer to another."""
        source, target = (self.storage_of(one, operation) for one in operation.operands)
        sizes = source.buffer.extents[len(source.first) :]
        names = [f"x{k}'" for k in range(len(sizes))]
        written, read = (
            CellTerm(one.buffer.name, (*one.first, *map(Var, names)), one.buffer.type)
            for one in (target, source)
        )
        outside, self.around = self.around, (*self.around, *names)
        node = self.statement(operation, [TermAssignment(written, read)])
        self.around = outside
        for name, size in reversed(list(zip(names, sizes, strict=True))):
            if size is None:
                raise self.refuse(operation, "memref.copy of a buffer of unknown size")
            node = For(name, Int(0), Compare(Relation.LT, Var(name), size), 1, node)
        return node

    def deallocation(self, operation: memref.DeallocOp) -> None:
        """Checks a deallocation: the function must have allocated the buffer and not use it afterwards."""
        buffer = self.storage_of(operation.memref, operation).buffer
        names = [value for value, found in self.storage.items() if found.buffer == buffer]
        if not buffer.is_local or buffer.name.startswith("result "):
            raise self.refuse(operation, "memref.dealloc of a buffer that is used outside the function")
        users = {use.operation for value in names for use in value.uses} - {operation}
        for first in (ancestor(user, operation.parent) for user in users):
            if first is None or not first.is_before_in_block(operation):
                raise self.refuse(operation, "memref.dealloc before the last use of a buffer")

    def printed(self, operation: vector.PrintOp) -> Node:
        """Translates a print to an uninterpreted function, which may distinguish all values."""
        if isinstance(operation.source.type, VectorType):
            raise self.refuse(operation, "vector.print of a vector")
        so_far = CellTerm(PRINTED, (), INT)
        self.buffers[PRINTED] = Buffer(PRINTED, 0, INT, ())
        ending = "".join(str(one) for one in (*operation.attributes.values(), *operation.properties.values()))
        name = f"print {operation.source.type}{ending}"
        text = opaque(name, [so_far, self.value(operation.source, operation)], INT)
        return self.statement(operation, [TermAssignment(so_far, text)])

    def computation(self, operation: Operation) -> list[Node]:
        found: Term | None = None
        if isinstance(operation, arith.ConstantOp):
            found = constant(operation)
        elif len(operation.results) == 1 and all(one in self.values for one in operation.operands):
            found = computed(operation, [self.values[one] for one in operation.operands])
        if found is None:
            raise self.refuse(operation)
        self.computes_sizes |= isinstance(found, Index) and operation.name in _GROWING
        if operation.name in _TRAPPING and not isinstance(found, Index) and may_be_undefined(found):
            return [self.kept(operation, found)]
        self.values[operation.results[0]] = found
        return []

    def iterator(self, argument: SSAValue) -> str:
        """A fresh name, different from all sizes and surrounding iterators."""
        name = argument.name_hint or "i"
        taken = {*self.around, *self.names.arguments, *self.sizes}
        fresh = (
            name if name not in taken else next(one for k in count(1) if (one := f"{name}_{k}") not in taken)
        )
        self.values[argument] = Index(Var(fresh), type_of(IndexType()))
        return fresh

    def affine_for(self, operation: affine.ForOp) -> list[Node]:
        low = self.mapped(operation.lowerBoundMap.data, list(operation.lowerBoundOperands), operation)
        high = self.mapped(operation.upperBoundMap.data, list(operation.upperBoundOperands), operation)
        step = self.above_zero(operation, operation.step.value.data)
        first, end = self.extreme(ex.Max, low, operation), self.extreme(ex.Min, high, operation)
        return self.loop(operation, first, end, step, list(operation.inits))

    def extreme(self, of: type[ex.Min] | type[ex.Max], values: Sequence[Expr], user: Operation) -> Expr:
        """The minimum or maximum of expressions; a map without results has neither."""
        if not values:
            raise self.refuse(user, f"the {of.__name__.lower()} of no expressions in {user.name}")
        return values[0] if len(values) == 1 else of(tuple(values))

    def above_zero(self, operation: Operation, step: int) -> int:
        if step <= 0:
            raise self.refuse(operation, f"{operation.name} with a step that is not a number above 0")
        return step

    def scf_for(self, operation: scf.ForOp) -> list[Node]:
        step = self.index(operation.step, operation)
        number = self.above_zero(operation, step.value if isinstance(step, Int) else 0)
        low, high = self.index(operation.lb, operation), self.index(operation.ub, operation)
        return self.loop(operation, low, high, number, list(operation.iter_args))

    def loop(
        self, operation: affine.ForOp | scf.ForOp, low: Expr, high: Expr, step: int, inits: list[SSAValue]
    ) -> list[Node]:
        """`for (i = low; i < high; i += step)`, with loop-carried values in cells."""
        argument, *carried = operation.body.block.args
        cells = [self.own_cell(one.name_hint or "carried", one.type) for one in carried]
        first = [
            TermAssignment(cell, self.value(init, operation)) for cell, init in zip(cells, inits, strict=True)
        ]
        before = self.statement(operation, first)
        for one, result, cell in zip(carried, operation.results, cells, strict=True):
            self.values[one] = self.values[result] = cell
        iterator = self.iterator(argument)
        outside, self.around = self.around, (*self.around, iterator)
        body = self.block(operation.body.block, lambda end: self.yielded(end, cells))
        self.around = outside
        loop = For(iterator, low, Compare(Relation.LT, Var(iterator), high), step, body)
        return [before, loop]

    def yielded(self, end: Operation, cells: Sequence[CellTerm]) -> Node:
        """Assigns all cells at once: through temporaries if one is read after it is written."""
        values = [self.value(one, end) for one in end.operands]
        made = [TermAssignment(cell, value) for cell, value in zip(cells, values, strict=True)]
        if not any(cell in subterms(value) for k, value in enumerate(values) for cell in cells[:k]):
            return self.statement(end, [one for one in made if one.target != one.value])
        targets = [self.own_cell("next", one.type) for one in end.operands]
        kept = [TermAssignment(target, value) for target, value in zip(targets, values, strict=True)]
        copies = [TermAssignment(cell, one.target) for cell, one in zip(cells, kept, strict=True)]
        return self.statement(end, [*kept, *copies])

    def affine_parallel(self, operation: affine.ParallelOp) -> Node:
        if operation.results:
            raise self.refuse(operation, "affine.parallel with a reduction")
        lower, upper = operation.lowerBoundsMap.data, operation.upperBoundsMap.data
        size = lower.num_dims + lower.num_symbols
        operands = list(operation.operands)
        lows = iter(self.mapped(lower, operands[:size], operation))
        highs = iter(self.mapped(upper, operands[size:], operation))
        groups = zip(
            operation.lowerBoundsGroups.get_values(), operation.upperBoundsGroups.get_values(), strict=True
        )
        bounds = [
            ([next(lows) for _ in range(int(a))], [next(highs) for _ in range(int(b))]) for a, b in groups
        ]
        block = operation.body.block
        outside = self.around
        names: list[str] = []
        for argument in block.args:
            names.append(self.iterator(argument))
            self.around = (*self.around, names[-1])
        node = self.block(block, lambda end: EMPTY)
        self.around = outside
        steps = [self.above_zero(operation, one.value.data) for one in operation.steps]
        for name, (low, high), step in reversed(list(zip(names, bounds, steps, strict=True))):
            test = Compare(Relation.LT, Var(name), self.extreme(ex.Min, high, operation))
            first = self.extreme(ex.Max, low, operation)
            node = For(name, first, test, step, node, annotations=(Parallel(),))
        return node

    def condition(self, operation: affine.IfOp) -> Test:
        wanted = operation.condition.data
        values = [self.index(one, operation) for one in operation.args]
        dims, symbols = values[: wanted.num_dims], values[wanted.num_dims :]
        tests: list[Test] = []
        relations = {
            AffineConstraintKind.ge: Relation.GE,
            AffineConstraintKind.le: Relation.LE,
            AffineConstraintKind.eq: Relation.EQ,
        }
        for one in wanted.constraints:
            left, right = expression(one.lhs, dims, symbols), expression(one.rhs, dims, symbols)
            if left is None or right is None:
                raise self.refuse(operation, "a product or quotient of sizes in affine.if")
            tests.append(Compare(relations[one.kind], left, right))
        return tests[0] if len(tests) == 1 else And(tuple(tests))

    def branches(self, operation: affine.IfOp | scf.IfOp, test: Test) -> list[Node]:
        cells = [self.own_cell(one.name_hint or "chosen", one.type) for one in operation.results]
        yes, no = operation.regions
        then = self.block(yes.block, lambda end: self.yielded(end, cells))
        orelse = self.block(no.block, lambda end: self.yielded(end, cells)) if no.blocks else None
        for result, cell in zip(operation.results, cells, strict=True):
            self.values[result] = cell
        return [If(test, then, orelse)]


def translated(file: MlirFile, function: func.FuncOp, names: MlirNames) -> AffineFunction:
    """Translates a function; raises `NotModelled` if an operation is not known."""
    return _Translation(file, function, names).whole()
