"""Cells of buffers and of SSA values: the meaning of loads, stores and allocations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import count

from xdsl.dialects import memref
from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType, NoneAttr, VectorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from loopwright.errors import NotModelled
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import And, Compare, Expr, Int, Relation, Sum, Test, Var
from loopwright.loops.nodes import EMPTY, Call, For, If, Node
from loopwright.loops.traverse import variables
from loopwright.prove.equivalence.assignments import Computation, columns_of
from loopwright.prove.equivalence.laws import chosen
from loopwright.prove.equivalence.terms import CellTerm, Index, Term, TermAssignment
from loopwright.prove.mlir.function import Buffer
from loopwright.prove.mlir.values import at, truth, type_of
from loopwright.read.mlir.parsing import MlirFile
from loopwright.source import Span

LOADS = ("affine.load", "memref.load", "vector.transfer_read", "affine.vector_load")
STORES = ("affine.store", "memref.store", "vector.transfer_write", "affine.vector_store")
_FILLS = (*STORES, "memref.copy")
"""Operations that write to the buffer that is their second operand."""
_WRITES_NOTHING = frozenset((
    *LOADS, "affine.apply", "affine.delinearize_index", "affine.for", "affine.if", "affine.max", "affine.min",
    "affine.parallel", "affine.yield", "func.return", "memref.alloc", "memref.alloca",
    "memref.assume_alignment", "memref.cast", "memref.dealloc", "memref.dim", "memref.get_global", "scf.for",
    "scf.if", "scf.yield", "ub.poison", "vector.print",
))  # fmt: skip
"""Besides these and pure computations, every operation is assumed to write to every buffer."""
LANE = "lane'"
"""The number of an element of a vector: a vector is represented by its elements, for every value of this."""


@dataclass(frozen=True)
class MlirNames:
    """The names of arguments and sizes; those of the other file are named by their positions in this one."""

    arguments: tuple[str, ...]
    side: str

    @staticmethod
    def of(function: FuncOp, side: str) -> MlirNames:
        taken: dict[str, None] = {}
        for place, argument in enumerate(function.body.block.args):
            name = argument.name_hint or f"arg{place}"
            taken[name if name not in taken else f"{name}_{place}"] = None
        return MlirNames(tuple(taken), side)

    def size(self, place: int, dimension: int) -> str:
        return f"dim_{self.arguments[place]}_{dimension}"


@dataclass(frozen=True)
class MemrefStorage:
    """The storage of a memref: the buffer, and the leading subscripts."""

    buffer: Buffer
    first: tuple[Expr, ...] = ()


@dataclass
class FunctionState:
    """The state of translating a function; `around` are the iterators around the current operation."""

    file: MlirFile
    function: FuncOp
    names: MlirNames
    values: dict[SSAValue, Term] = field(default_factory=dict)
    storage: dict[SSAValue, MemrefStorage] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    computations: dict[str, Computation] = field(default_factory=dict)
    iterators: dict[str, tuple[str, ...]] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)
    around: tuple[str, ...] = ()
    sizes: dict[str, None] = field(default_factory=dict)
    lengths: dict[str, None] = field(default_factory=dict)
    """Those of `sizes` that are nonnegative."""
    numbers: Iterator[int] = field(default_factory=count)
    results: list[str] = field(default_factory=list)
    padded: dict[Term, CellTerm] = field(default_factory=dict)
    """Reads that are padded outside their buffers, each with the cell that it reads inside."""
    loaded: set[CellTerm] = field(default_factory=set)
    """Cells read by other operations."""
    computes_sizes: bool = False
    """Whether operations that may wrap around compute integers."""
    has_strides: bool = False
    """Whether the layout of a buffer is known at run time only."""

    def refuse(self, operation: Operation, what: str = "") -> NotModelled:
        return NotModelled(what or operation.name, self.file.place(operation))

    def declare(self, value: SSAValue, buffer: Buffer, first: tuple[Expr, ...] = ()) -> None:
        assert isinstance(value.type, MemRefType)
        apart = _lie_apart(value.type)
        if apart is False or isinstance(value.type.element_type, VectorType):
            user = value.owner if isinstance(value.owner, Operation) else self.function
            raise self.refuse(user, f"a buffer of the type {value.type}")
        self.has_strides |= apart is None
        self.buffers[buffer.name] = buffer
        self.storage[value] = MemrefStorage(buffer, first)

    def value(self, value: SSAValue, user: Operation) -> Term:
        found = self.values.get(value)
        if found is None:
            raise self.refuse(user)
        return found

    def index(self, value: SSAValue, user: Operation) -> Expr:
        found = self.value(value, user)
        if not isinstance(found, Index):
            raise self.refuse(user, f"an index from data in {user.name}")
        return found.value

    def storage_of(self, value: SSAValue, user: Operation) -> MemrefStorage:
        if value not in self.storage:
            raise self.refuse(user)
        return self.storage[value]

    def mapped(self, map_: AffineMap, operands: Sequence[SSAValue], user: Operation) -> tuple[Expr, ...]:
        found = at(map_, [self.index(one, user) for one in operands])
        if found is None:
            raise self.refuse(user, f"a product or quotient of sizes in {user.name}")
        return found

    def accessed(self, operation: Operation) -> CellTerm:
        """The cell that a load or store accesses; for a vector, that of its element number LANE."""
        is_load = operation.name in LOADS
        target, *indices = operation.operands if is_load else operation.operands[1:]
        found = self.storage_of(target, operation)
        if isinstance(operation, TransferReadOp | TransferWriteOp):
            subscripts = self.transferred(operation)
        elif isinstance(map_ := operation.properties.get("map"), AffineMapAttr):
            subscripts = self.mapped(map_.data, indices, operation)
        else:
            subscripts = tuple(self.index(one, operation) for one in indices)
        if operation.name.startswith("affine.vector_"):
            subscripts = (*subscripts[:-1], Sum((subscripts[-1], Var(LANE))))
        return CellTerm(found.buffer.name, (*found.first, *subscripts), found.buffer.type)

    def transferred(self, operation: TransferReadOp | TransferWriteOp) -> tuple[Expr, ...]:
        """The subscripts of a transfer: the permutation map says along which dimension the lanes are."""
        subscripts = [self.index(one, operation) for one in operation.indices]
        map_ = operation.permutation_map.data
        if operation.mask is not None or len(map_.results) != 1:
            raise self.refuse(operation)
        match map_.results[0]:
            case AffineDimExpr(position):
                subscripts[position] = Sum((subscripts[position], Var(LANE)))
            case _ if isinstance(operation, TransferWriteOp):
                raise self.refuse(operation)
        return tuple(subscripts)

    def in_bounds(self, operation: Operation, cell: CellTerm) -> Test | None:
        """The test for lanes of a transfer that are in bounds; None if all are declared to be."""
        if not isinstance(operation, TransferReadOp | TransferWriteOp):
            return None
        if _stays_inside(operation):
            return None
        target = operation.operands[0 if isinstance(operation, TransferReadOp) else 1]
        found = self.storage[target]
        tests: list[Test] = []
        for subscript, size in zip(cell.subscripts, found.buffer.extents, strict=True):
            if LANE in variables(subscript):
                if size is None:
                    raise self.refuse(operation, "a transfer to a buffer of unknown size")
                tests.append(Compare(Relation.LT, subscript, size))
        return And(tuple(tests)) if tests else None

    def lanes(self, operation: Operation) -> int | None:
        """The number of lanes of an operation, or None."""
        kinds = [value.type for value in (*operation.operands, *operation.results)]
        shapes = {kind.get_shape() for kind in kinds if isinstance(kind, VectorType)}
        if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
            raise self.refuse(operation, f"vectors of several shapes in {operation.name}")
        return next((shape[0] for shape in shapes), None)

    def own_cell(self, name: str, kind: Attribute) -> CellTerm:
        """The cell of an SSA value, one for every instance of its operation."""
        own = tuple(Var(one) for one in self.around)
        lanes = (Var(LANE),) if isinstance(kind, VectorType) else ()
        return CellTerm(f"{name}{self.names.side}#{next(self.numbers)}", (*own, *lanes), type_of(kind))

    def statement(
        self, operation: Operation, made: Sequence[TermAssignment], test: Test | None = None
    ) -> Node:
        """The assignments where the test holds, for every lane if they are of vectors."""
        if not made:
            return EMPTY
        name = f"S{len(self.computations) + 1}"
        place = self.file.place(operation)
        assignments = tuple(made)
        columns = columns_of(assignments)
        self.computations[name] = Computation(name, place.line, assignments, columns)
        self.places[name] = place
        lanes = any(LANE in variables(one) for one in columns)
        self.iterators[name] = (*self.around, LANE) if lanes else self.around
        call: Node = Call(name, ()) if test is None else If(test, Call(name, ()))
        length = self.lanes(operation) if lanes else None
        if length is None:
            return call
        return For(LANE, Int(0), Compare(Relation.LT, Var(LANE), Int(length)), 1, call)

    def load(self, operation: Operation) -> list[Node]:
        cell = self.accessed(operation)
        result = operation.results[0]
        value: Term = cell
        test = self.in_bounds(operation, cell)
        if test is not None and isinstance(operation, TransferReadOp):
            value = chosen(truth(test), cell, self.value(operation.padding, operation), cell.type)
            self.padded[value] = cell
        else:
            self.loaded.add(cell)
        consumers = list(_consumers(result))
        users = {user.parent for user in consumers}
        if users != {operation.parent} or not self.is_unchanged_until_used(operation):
            return [self.kept(operation, value)]
        if test is not None or not any(map(_skips_lanes, consumers)):
            self.values[result] = value
            return []
        # All lanes are read, including those that the store skips, by a statement whose value is unused.
        reads_all = self.kept(operation, value)
        self.values[result] = value
        return [reads_all]

    def kept(self, operation: Operation, value: Term) -> Node:
        """Stores a value that is computed at the operation, whether it is used or not."""
        result = operation.results[0]
        own = self.own_cell(result.name_hint or "value", result.type)
        self.values[result] = own
        return self.statement(operation, [TermAssignment(own, value)])

    def is_unchanged_until_used(self, load: Operation) -> bool:
        """Whether nothing stores to the buffer between a load and the final uses of its value."""
        root = self.storage[load.operands[0]].buffer.name
        for user in _consumers(load.results[0]):
            between: Operation | None = load.next_op
            last = ancestor(user, load.parent)
            if last is None or not self.reads_what_it_writes(load, user, root):
                return False
            while between is not last:
                if between is None or self.writes(between, root):
                    return False
                between = between.next_op
            if last is not user and self.writes(last, root):
                return False
        return True

    def reads_what_it_writes(self, load: Operation, user: Operation, buffer: str) -> bool:
        """Whether a store of a vector to the buffer of a load has the same lanes, or is to another one."""
        if not (user.name in STORES and isinstance(user.operands[0].type, VectorType)):
            return True
        target = user.operands[1]
        if target not in self.storage or self.storage[target].buffer.name != buffer:
            return target in self.storage
        same = [load.properties.get(one) == user.properties.get(one) for one in ("permutation_map", "map")]
        indices = load.operands[1 : len(user.operands) - 1]
        return all(same) and list(indices) == list(user.operands[2:])

    def writes(self, operation: Operation, buffer: str) -> bool:
        """Whether an operation, or one inside it, may store to a buffer; an unknown target may be any."""
        return any(self.may_store(one, buffer, operation) for one in operation.walk())

    def may_store(self, operation: Operation, buffer: str, around: Operation) -> bool:
        if operation.name not in _FILLS:
            return not (only_computes(operation) or operation.name in _WRITES_NOTHING)
        target = operation.operands[1]
        is_it = target not in self.storage or self.storage[target].buffer.name == buffer
        return is_it and not _is_allocated_inside(target, around)

    def store(self, operation: Operation) -> list[Node]:
        cell = self.accessed(operation)
        value = self.value(operation.operands[0], operation)
        test = self.in_bounds(operation, cell)
        return [self.statement(operation, [TermAssignment(cell, value)], test)]

    def allocation(self, operation: memref.AllocOp | memref.AllocaOp) -> list[Node]:
        result = operation.results[0]
        assert isinstance(result.type, MemRefType)
        if operation.symbol_operands:
            raise self.refuse(operation)
        dynamic = iter(operation.dynamic_sizes)
        shape = [
            Int(size) if size >= 0 else self.index(next(dynamic), operation)
            for size in result.type.get_shape()
        ]
        name = f"{result.name_hint or 'alloc'}{self.names.side}#{next(self.numbers)}"
        for use in result.uses:
            if isinstance(use.operation, ReturnOp):
                name = f"result {use.index}"
        first = tuple(Var(one) for one in self.around)
        extents = (*(None for _ in first), *shape)
        kind = type_of(result.type.element_type)
        self.declare(result, Buffer(name, len(extents), kind, extents, is_local=True, own=len(first)), first)
        return []

    def dimension(self, operation: memref.DimOp) -> Term:
        which = self.index(operation.index, operation)
        found = self.storage_of(operation.source, operation)
        own = found.buffer.extents[len(found.first) :]
        if not isinstance(which, Int) or not 0 <= which.value < len(own):
            raise self.refuse(operation)
        size = own[which.value]
        if size is None:
            raise self.refuse(operation)
        return Index(size, type_of(IndexType()))


def _lie_apart(kind: MemRefType) -> bool | None:
    """Whether cells with different subscripts have different addresses; None if sizes or strides decide.

    They do if each stride, from the smallest on, is longer than the extent of all smaller ones.
    """
    shape = kind.get_shape()
    if isinstance(kind.layout, NoneAttr):
        return True
    if isinstance(kind.layout, AffineMapAttr):
        return sorted(map(str, kind.layout.data.results)) == [f"d{k}" for k in range(len(shape))]
    strides = [one for one in kind.get_strides() or () if one is not None]
    if len(strides) < len(shape):
        return None
    reached: int | None = 0
    for stride, size in sorted((abs(one), size) for one, size in zip(strides, shape, strict=True)):
        if size in (0, 1):
            continue
        if reached is None or stride <= reached:
            return None if reached is None else False
        reached = reached + stride * (size - 1) if size > 0 else None
    return True


def only_computes(operation: Operation) -> bool:
    return operation.name.startswith(("arith.", "math.", "vector.broadcast"))


def _consumers(value: SSAValue) -> Iterator[Operation]:
    """Yields the final uses of a value, through operations that only compute."""
    for use in value.uses:
        user = use.operation
        if only_computes(user):
            for result in user.results:
                yield from _consumers(result)
        else:
            yield user


def ancestor(operation: Operation, block: Block | None) -> Operation | None:
    """The operation of `block` that is, or contains, `operation`."""
    current: Operation | None = operation
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current


def _stays_inside(operation: TransferReadOp | TransferWriteOp) -> bool:
    """Whether a transfer declares all its lanes in bounds."""
    said = operation.in_bounds
    return said is not None and all(one.value.data for one in said)


def _skips_lanes(operation: Operation) -> bool:
    """Whether it does nothing for lanes out of bounds."""
    return isinstance(operation, TransferWriteOp) and not _stays_inside(operation)


def _is_allocated_inside(value: SSAValue, operation: Operation) -> bool:
    owner = value.owner
    if isinstance(value, BlockArgument) or isinstance(owner, Block):
        return False
    return operation.is_ancestor(owner)
