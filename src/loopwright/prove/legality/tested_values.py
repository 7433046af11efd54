"""Whether a condition can be evaluated before the instances that it is of.

T evaluates c(i) as S(i) does, but before the instances of S in the block.  What does not read their results,
the `steady` parts of c, has the value that it has at S(i), where P evaluates it.  Allowed is

    c        e1 < e2 and the like;  !c;  c1 && c2 and c1 || c2 with a steady c1
    e        steady, or a cell that S writes, or its absolute value

For such a cell, the maximum so far, one is required to be the same for all of the block, and read in every
instance of P: then the block's first instance reads what T does.  All operands are numbers: any two of them
can be compared.
"""

from __future__ import annotations

import islpy as isl

from loopwright.c.conditions import COMPARISONS, JUNCTIONS, ConditionalStatement
from loopwright.c.loops import PREFIX
from loopwright.c.macros import definitions
from loopwright.c.syntax import Node, field, named_children, operator, without_parentheses
from loopwright.c.tokens import is_number, names_in
from loopwright.c.types import CHAR, CType, Floating, Integer, Unknown, named_type
from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Access, Hole, Program, Statement
from loopwright.prove.legality.reductions import element_types, type_of_name
from loopwright.prove.legality.values import access_text

ABSOLUTE = ("fabs", "fabsf", "fabsl")
"""Functions of the library without effects, which are defined for all numbers."""

ARITHMETIC = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", *COMPARISONS, *JUNCTIONS)


def refuse_other_values(
    program: Program,
    statement: Statement,
    found: ConditionalStatement,
    reads: tuple[Access, ...],
    blocks: isl.Map,
) -> None:
    """Raises GaveUp unless the condition is of this form; `blocks` is { S[i] -> (u, p) }."""
    written = frozenset(one.array for one in statement.writes)
    for read in (one for one in reads if one.array in written):
        cells = blocks.reverse().apply_range(read.relation)
        if not read.must or not cells.is_single_valued():
            raise _undecided(f"'{access_text(read)}' may be another cell in another iteration, or unread")
    if not all(isinstance(one, Hole) for one in statement.body.holes):
        raise _undecided(f"{statement.name} has subscripts by a local variable")
    _refuse_macros(program, found.condition.text)
    _Condition(program, statement, element_types(program), written, reads).check(found.condition)


def _undecided(reason: str) -> GaveUp:
    return GaveUp(Code.UNDECIDED, f"could not decide: {reason}")


def _refuse_macros(program: Program, text: str) -> None:
    """Checks that a macro is a number or a function of the library, and these are what they are called."""
    declared = {one.name for one in program.file.functions}
    for name in names_in(text):
        meanings = [one for one in definitions(program.file.macros, name) if one.parameters is None]
        meant = [one.body.strip() for one in meanings]
        unknown = len(meanings) < len(definitions(program.file.macros, name))
        if unknown or any(not is_number(one) and one not in ABSOLUTE for one in meant):
            raise _undecided(f"{name} is a macro, and what it says is not known")
        if not declared.isdisjoint({name, *meant} & {*ABSOLUTE}):
            raise _undecided(f"the file has its own {name}")


@dataclass(frozen=True)
class _Condition:
    program: Program
    statement: Statement
    types: dict[str, CType]
    written: frozenset[str]
    reads: tuple[Access, ...]

    def check(self, node: Node) -> None:
        """Raises GaveUp unless a condition can be evaluated before."""
        node = without_parentheses(node)
        match node.type:
            case "unary_expression" if operator(node) == "!":
                self.check(field(node, "argument"))
            case "binary_expression" if operator(node) in JUNCTIONS:
                self.check_steady(field(node, "left"))
                self.check(field(node, "right"))
            case "binary_expression" if operator(node) in COMPARISONS:
                self.check_operand(field(node, "left"))
                self.check_operand(field(node, "right"))
            case _:
                self.check_steady(node)

    def check_operand(self, node: Node) -> None:
        """A steady expression, or a written cell or its absolute value."""
        node = without_parentheses(node)
        if self.is_absolute(node):
            (argument,) = named_children(field(node, "arguments"))
            self.check_operand(argument)
        elif self.accessed(node) in self.written:
            self.check_cell(node)
        else:
            self.check_steady(node)

    def check_steady(self, node: Node) -> None:
        """An expression without effects, of numbers that no instance of the statement changes."""
        node = without_parentheses(node)
        name = self.accessed(node)
        if name in self.written:
            raise _undecided(f"'{node.text}' changes, and more is done with it than to compare it")
        match node.type:
            case "identifier" | "subscript_expression" if name is not None:
                self.check_cell(node)
            case "identifier":
                self.check_number(node, type_of_name(self.program, node.text))
                self.check_rank(node, node.text, 0)
            case "number_literal" | "char_literal":
                pass
            case "unary_expression" if operator(node) in ("+", "-", "!", "~"):
                self.check_steady(field(node, "argument"))
            case "unary_expression" if operator(node).startswith("("):
                self.check_cast(node, operator(node)[1:-1], field(node, "argument"))
            case "cast_expression":
                self.check_cast(node, field(node, "type").text, field(node, "value"))
            case "binary_expression" if operator(node) in ARITHMETIC:
                self.check_steady(field(node, "left"))
                self.check_steady(field(node, "right"))
            case "conditional_expression":
                for name in ("condition", "consequence", "alternative"):
                    self.check_steady(field(node, name))
            case _ if self.is_absolute(node):
                for one in named_children(field(node, "arguments")):
                    self.check_steady(one)
            case _:
                raise _undecided(f"what '{node.text}' may do or be is not known")

    def check_cast(self, node: Node, kind: str, value: Node) -> None:
        declarations = self.program.file.declarations
        found = named_type(declarations.resolved(kind))
        if isinstance(found, Unknown) and kind not in dict(declarations.aliases):
            same = (one.name for one in self.program.arrays if one.element_type == kind)
            found = next((self.types[name] for name in same), found)
        self.check_number(node, found)
        self.check_steady(value)

    def check_cell(self, node: Node) -> None:
        """A number, with steady subscripts."""
        name, inner, subscripts = self.accessed(node) or "", node, 0
        self.check_number(node, self.types.get(name))
        while inner.type == "subscript_expression":
            self.check_steady(field(inner, "index"))
            inner, subscripts = without_parentheses(field(inner, "argument")), subscripts + 1
        self.check_rank(node, name, subscripts)

    def check_rank(self, node: Node, name: str, subscripts: int) -> None:
        """Checks that a name with so many subscripts is no pointer."""
        found = self.program.file.declarations.visible(name, self.program.region)
        own = [one.rank for one in self.program.arrays if one.name == name and one.local]
        iterators = [0] if name in self.statement.iterators else []
        if subscripts not in (own or iterators or ([] if found is None else [found.rank])):
            raise _undecided(f"'{node.text}' may be no number")

    def check_number(self, node: Node, kind: CType | None) -> None:
        known = isinstance(kind, Integer) or kind == CHAR
        if not known and not (isinstance(kind, Floating) and not kind.is_complex):
            raise _undecided(f"the type of '{node.text}' is not known, or not that of a number")

    def is_absolute(self, node: Node) -> bool:
        if node.type != "call_expression":
            return False
        name = field(node, "function").text
        meant = {name, *(one.body.strip() for one in definitions(self.program.file.macros, name))}
        count = len(named_children(field(node, "arguments")))
        return count == 1 and not meant.isdisjoint(ABSOLUTE)

    def accessed(self, node: Node) -> str | None:
        """The array of the access that a node is."""
        start = self.statement.body.place.start - len(PREFIX)
        place = start + node.start, start + node.end
        found = (one.array for one in self.reads if (one.place.start, one.place.end) == place)
        return next(found, None)
