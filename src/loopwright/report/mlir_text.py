"""Prints a region of C as a function of MLIR's affine dialect, for `loopwright extract --mlir`.

    for (i = a; i < b; i++)      affine.for %i = a to b
    if (i >= 1)                  affine.if
    A[i] = B[i] * x              affine.load, arith.mulf, affine.store

Sizes are arguments of the type index, or numbers if the assumptions fix them; arrays are arguments;
variables that are only read are arguments by value.  Variables declared in the region are allocated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import count

from loopwright.c.types import CHAR, DOUBLE, FLOAT, INT, LONG, CType, Floating, Integer, spelling
from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.interpreter import evaluate
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import substituted_expr, variables
from loopwright.model.program import Program
from loopwright.presburger.named import fixed_parameters
from loopwright.prove.equivalence.assignments import TESTED, Computation
from loopwright.prove.equivalence.laws import conversion
from loopwright.prove.equivalence.reading import local_name
from loopwright.prove.equivalence.terms import Apply, CellTerm, Constant, Index, Term, subterms
from loopwright.prove.equivalence.traces import Runnable, runnable
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.report.mlir_affine import affine_text, as_sign, conjuncts, parts, space_text, upper_bounds

_TYPES: dict[CType, str] = {
    DOUBLE: "f64", FLOAT: "f32", INT: "i32", LONG: "i64",
    Integer(8, signed=True, rank=1): "i8", CHAR: "i8", Integer(16, signed=True, rank=2): "i16",
}  # fmt: skip
_FLOATING = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_WHOLE = {"+": "addi", "-": "subi", "*": "muli", "/": "divsi", "%": "remsi"}
_ORDERED = {"<": "olt", "<=": "ole", "==": "oeq", "!=": "une"}
_SIGNED = {"<": "slt", "<=": "sle", "==": "eq", "!=": "ne"}
_SAME_NAMES = """
acos asin atan atan2 ceil cos cosh erf exp expm1 floor log log10 log1p log2 sin sinh sqrt tan tanh trunc
"""
_MATH = {name: name for name in _SAME_NAMES.split()} | {"fabs": "absf", "pow": "powf"}


def mlir_text(programs: Sequence[Program]) -> str:
    """The regions as functions, in their order; raises `GaveUp` if one has no such form."""
    functions: list[str] = []
    for number, program in enumerate(programs):
        name = f"region{number + 1 if len(programs) > 1 else ''}"
        try:
            functions.append(_FunctionWriter(program, runnable(program)).function(name))
        except Unreadable as reason:
            raise GaveUp(Code.UNDECIDED, f"no MLIR: {reason}", span=program.region) from None
    return "\n".join(functions)


@dataclass
class _FunctionWriter:
    """A function under construction: its lines, and the names of values in use."""

    program: Program
    runs: Runnable
    lines: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)
    iterators: dict[str, str] = field(default_factory=dict)
    """The SSA values of the loops around."""
    lets: dict[str, ex.Expr] = field(default_factory=dict)
    cells: dict[str, tuple[int, CType]] = field(init=False)
    written: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        known = self.runs.computations.values()
        self.cells = _cells(known)
        self.written = frozenset(assignment.target.array for one in known for assignment in one.assignments)

    def function(self, name: str) -> str:
        fixed = fixed_parameters(self.program.context)
        self.lets |= {one: ex.Int(value) for one, value in fixed.items()}
        sizes = [one for one in self.program.params if one not in fixed]
        local = {local_name(one.name) for one in self.program.arrays if one.local}
        own = [one for one in self.cells if one in local or one.startswith(TESTED)]
        heads = [
            f"%{one}: {self.type_of(one) if self.is_value(one) else self.memref(one)}"
            for one in self.cells
            if one not in own
        ]
        heads += [f"%{one}: index" for one in sizes]
        for one in own:
            self.lines.append(f"  %{_name(one)} = memref.alloca() : {self.memref(one, static=True)}")
        self.node(self.runs.loops, 1)
        return "\n".join([f"func.func @{name}({', '.join(heads)}) {{", *self.lines, "  return", "}", ""])

    def is_value(self, array: str) -> bool:
        return self.cells[array][0] == 0 and array not in self.written

    def type_of(self, array: str) -> str:
        return _type(self.cells[array][1])

    def memref(self, array: str, *, static: bool = False) -> str:
        rank = self.cells[array][0]
        shape = [self.extent(one) for one in self.runs.extents.get(array, (None,) * rank)]
        if static and None in shape:
            raise Unreadable(f"the size of '{array}' is not a number")
        dims = ["?" if one is None or None in shape else str(one) for one in shape]
        return f"memref<{'x'.join([*dims, self.type_of(array)])}>"

    def extent(self, size: ex.Expr | None) -> int | None:
        if size is None:
            return None
        size = substituted_expr(size, self.lets)
        return evaluate(size, {}) if not variables(size) else None

    def say(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def fresh(self) -> str:
        return f"%{next(self.numbers)}"

    def node(self, node: Node, depth: int) -> None:
        match node:
            case Block(children):
                for child in children:
                    self.node(child, depth)
            case Call(name):
                self.statement(self.runs.computations[name], depth)
            case Remarked(_, body):
                self.node(body, depth)
            case Let(name, value, body):
                outer = self.lets
                self.lets = {**outer, name: substituted_expr(value, outer)}
                self.node(body, depth)
                self.lets = outer
            case If(test, then, orelse):
                self.say(depth, f"affine.if {self.condition(test)} {{")
                self.node(then, depth + 1)
                if orelse is not None:
                    self.say(depth, "} else {")
                    self.node(orelse, depth + 1)
                self.say(depth, "}")
            case For():
                self.loop(node, depth)

    def loop(self, loop: For, depth: int) -> None:
        if loop.step <= 0:
            raise Unreadable("a loop that counts down")
        low = parts(self.value(loop.start), ex.Max)
        high = [
            one
            for bound in upper_bounds(loop.test, loop.iterator)
            for one in parts(self.value(bound), ex.Min)
        ]
        head = f"affine.for {{}} = {self.bound('max', low)} to {self.bound('min', high)}"
        base = re.sub(r"\W", "_", loop.iterator)
        name = base if f"%{base}" not in self.iterators.values() else f"{base}_{next(self.numbers)}"
        outer, lets = self.iterators, self.lets
        self.iterators = {**outer, loop.iterator: f"%{name}"}
        self.lets = {one: value for one, value in lets.items() if one != loop.iterator}
        step = f" step {loop.step}" if loop.step > 1 else ""
        self.say(depth, head.format(f"%{name}") + step + " {")
        self.node(loop.body, depth + 1)
        self.say(depth, "}")
        self.iterators, self.lets = outer, lets

    def value(self, expr: ex.Expr) -> ex.Expr:
        return substituted_expr(expr, self.lets)

    def bound(self, which: str, parts: Sequence[ex.Expr]) -> str:
        match list(parts):
            case [ex.Int(value)]:
                return str(value)
            case [ex.Var(name)] if name not in self.iterators:
                return f"%{name}"
        operands, names = self.operands(parts)
        results = ", ".join(affine_text(one, names) for one in parts)
        many = f"{which} " if len(parts) > 1 else ""
        return f"{many}affine_map<{space_text(operands)} -> ({results})>{self.given(operands)}"

    def operands(self, parts: Sequence[ex.Expr]) -> tuple[tuple[list[str], list[str]], dict[str, str]]:
        """The iterators and sizes that occur, as dimensions and symbols."""
        used = dict.fromkeys(name for one in parts for name in sorted(variables(one)))
        dims = [name for name in used if name in self.iterators]
        symbols = [name for name in used if name not in self.iterators]
        names = {name: f"d{k}" for k, name in enumerate(dims)}
        names |= {name: f"s{k}" for k, name in enumerate(symbols)}
        return (dims, symbols), names

    def given(self, operands: tuple[list[str], list[str]]) -> str:
        dims, symbols = operands
        shown = f"({', '.join(self.iterators[one] for one in dims)})"
        return shown + (f"[{', '.join(f'%{one}' for one in symbols)}]" if symbols else "")

    def condition(self, test: ex.Test) -> str:
        signs = [as_sign(one) for one in conjuncts(test)]
        signs = [(self.value(difference), sign) for difference, sign in signs]
        operands, names = self.operands([one for one, _ in signs])
        wanted = ", ".join(f"{affine_text(one, names)} {sign} 0" for one, sign in signs)
        return f"affine_set<{space_text(operands)} : ({wanted})>{self.given(operands)}"

    def statement(self, one: Computation, depth: int) -> None:
        for assignment in one.assignments:
            value = self.term(assignment.value, depth)
            cell = assignment.target
            self.say(depth, f"affine.store {value}, {self.cell(cell)}")

    def cell(self, cell: CellTerm) -> str:
        names = {**self.iterators, **{one: f"%{one}" for one in self.program.params}}
        subscripts = ", ".join(affine_text(self.value(one), names) for one in cell.subscripts)
        own = _name(cell.array)
        is_own = own != cell.array
        return f"%{own}[{subscripts}] : {self.memref(cell.array, static=is_own)}"

    def made(self, depth: int, text: str) -> str:
        name = self.fresh()
        self.say(depth, f"{name} = {text}")
        return name

    def term(self, term: Term, depth: int) -> str:
        match term:
            case Constant(text, kind):
                return self.made(depth, f"arith.constant {_number(text)} : {_type(kind)}")
            case Index(value, kind):
                return self.integer(self.value(value), kind, depth)
            case CellTerm(array) if self.is_value(array):
                return f"%{array}"
            case CellTerm():
                return self.made(depth, f"affine.load {self.cell(term)}")
            case Apply():
                return self.applied(term, depth)
            case _:
                raise Unreadable("a value from before the region")

    def integer(self, value: ex.Expr, kind: CType, depth: int) -> str:
        """An integer of iterators and sizes, converted to a type."""
        if isinstance(value, ex.Int):
            text = f"{value.value}.0" if isinstance(kind, Floating) else str(value.value)
            return self.made(depth, f"arith.constant {text} : {_type(kind)}")
        operands, names = self.operands([value])
        map_ = f"affine_map<{space_text(operands)} -> ({affine_text(value, names)})>"
        index = self.made(depth, f"affine.apply {map_}{self.given(operands)}")
        whole = kind if isinstance(kind, Integer) else LONG
        found = self.made(depth, f"arith.index_cast {index} : index to {_type(whole)}")
        if isinstance(kind, Floating):
            return self.made(depth, f"arith.sitofp {found} : i64 to {_type(kind)}")
        return found

    def applied(self, term: Apply, depth: int) -> str:
        operator, arguments, kind = term.operator, term.arguments, term.type
        if operator == conversion(kind):
            return self.converted(arguments[0], kind, depth)
        if operator == "?:":
            return self.chosen(term, depth)
        if operator in _ORDERED and len(arguments) == 2:
            numbers = Index(ex.Int(1), kind), Index(ex.Int(0), kind)
            return self.chosen(Apply("?:", (term, *numbers), kind), depth)
        values = [self.term(one, depth) for one in arguments]
        shown = ", ".join(values)
        if operator.removesuffix("()") != operator:
            base = operator.removesuffix("()")
            name = base.removesuffix("f") if kind == FLOAT else base
            if name in _MATH and isinstance(kind, Floating):
                return self.made(depth, f"math.{_MATH[name]} {shown} : {_type(kind)}")
        if operator == "-x" and isinstance(kind, Floating):
            return self.made(depth, f"arith.negf {shown} : {_type(kind)}")
        if len(values) == 2:
            known = _FLOATING if isinstance(kind, Floating) else _WHOLE
            if operator in known and arguments[0].type == kind == arguments[1].type:
                return self.made(depth, f"arith.{known[operator]} {shown} : {_type(kind)}")
        raise Unreadable(f"the operator '{operator}' is not written as MLIR")

    def converted(self, inner: Term, kind: CType, depth: int) -> str:
        value = self.term(inner, depth)
        match _signed(inner.type), kind:
            case Floating(small), Floating(large):
                how = "extf" if small < large else "truncf"
            case Integer(signed=True), Floating():
                how = "sitofp"
            case Floating(), Integer(signed=True):
                how = "fptosi"
            case Integer(small, True), Integer(large, True):
                how = "extsi" if small < large else "trunci"
            case _:
                raise Unreadable("a conversion that is not written as MLIR")
        return self.made(depth, f"arith.{how} {value} : {_type(inner.type)} to {_type(kind)}")

    def chosen(self, term: Apply, depth: int) -> str:
        condition, then, orelse = term.arguments
        match condition:
            case Apply(operator, (left, right)) if operator in _ORDERED and left.type == right.type:
                how = "cmpf " + _ORDERED[operator]
                if isinstance(left.type, Integer):
                    how = "cmpi " + _SIGNED[operator]
                one, other = self.term(left, depth), self.term(right, depth)
                test = self.made(depth, f"arith.{how}, {one}, {other} : {_type(left.type)}")
            case _:
                raise Unreadable("a condition that is not written as MLIR")
        values = f"{self.term(then, depth)}, {self.term(orelse, depth)}"
        return self.made(depth, f"arith.select {test}, {values} : {_type(term.type)}")


def _cells(found: Iterable[Computation]) -> dict[str, tuple[int, CType]]:
    """The rank and type of everything that statements access."""
    cells: dict[str, tuple[int, CType]] = {}
    for one in found:
        for assignment in one.assignments:
            for part in (assignment.target, *subterms(assignment.value)):
                if isinstance(part, CellTerm):
                    cells[part.array] = len(part.subscripts), part.type
    return cells


def _name(array: str) -> str:
    """The name of what the region declares itself is not a word of C."""
    return re.sub(r"\W+", "_", array)


def _signed(kind: CType) -> CType:
    """A plain char is printed as signed: in C its signedness is implementation-defined."""
    return Integer(8, signed=True, rank=1) if kind == CHAR else kind


def _type(kind: CType) -> str:
    if kind not in _TYPES:
        what = f"the type '{spelling(kind)}'" if spelling(kind) else "a type that"
        raise Unreadable(f"{what} is not written as MLIR")
    return _TYPES[kind]


def _number(text: str) -> str:
    """A number with a decimal point, as MLIR requires."""
    return text if "." in text else text.replace("e", ".0e") if "e" in text else f"{text}.0"
