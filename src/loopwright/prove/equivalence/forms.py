"""The form of a value: its operations down to cells that were there before, integers, and accumulated values.

Variables are replaced by what they hold, where one assignment gave it to them: `t = x * y; s += t * z` and
`s += x * y * z` have one form.  Forms say which values may be the same; they prove nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Int
from loopwright.prove.equivalence.combinations import combination_of
from loopwright.prove.equivalence.flow import Flow, ValueDefinition
from loopwright.prove.equivalence.terms import Apply, CellTerm, Constant, Index, InputTerm, Term, subterms

DEEPEST = 6
"""Variables that are replaced inside of each other."""


@dataclass(frozen=True, eq=False)
class FormLeaf:
    """A cell or an integer: `values` { E[e] -> which }; leaves that may be the same have the same key."""

    key: str
    values: isl.Map
    is_input: bool = False


@dataclass(frozen=True, eq=False)
class FormNode:
    name: str
    parts: tuple[Form, ...]
    in_any_order: bool = False
    held: FormLeaf | None = None
    """The variable that holds the value."""


Form: TypeAlias = FormLeaf | FormNode


def form_of(definition: ValueDefinition, term: Term, flow: Flow) -> Form:
    """The form of a term at the points of a definition."""
    domain = definition.domain
    identity = isl.Map.identity(domain.get_space().map_from_set())
    return _Forms(flow).of(definition, term, identity, DEEPEST)


@dataclass(frozen=True, eq=False)
class _Forms:
    flow: Flow

    def of(self, definition: ValueDefinition, term: Term, where: isl.Map, depth: int) -> Form:
        """The form at the points that `where` { E[e] -> definition } leads to."""
        match term:
            case Constant(text, kind):
                return FormNode(f"{text} {kind}", ())
            case Index(Int(value), kind):
                return FormNode(f"{value} {kind}", ())
            case Index(value):
                return FormLeaf("integer", where.apply_range(definition.relation((value,))))
            case InputTerm(array):
                return FormLeaf(f"input {array}", where.apply_range(definition.values), is_input=True)
            case CellTerm():
                return self._of_cell(definition, term, where, depth)
            case Apply():
                return self._of_operation(definition, term, where, depth)

    def _of_cell(self, definition: ValueDefinition, cell: CellTerm, where: isl.Map, depth: int) -> Form:
        read = definition.relation(cell.subscripts, cell.array)
        leaf = FormLeaf(f"cell {cell.array}", where.apply_range(read))
        sources = self.flow.sources(definition, cell)
        if len(sources) == 1 and depth:
            source = sources[0]
            one = source.definition
            if isinstance(one.value, InputTerm) or not self._is_accumulated(one):
                form = self.of(one, one.value, where.apply_range(source.relation), depth - 1)
                return replace(form, held=leaf) if isinstance(form, FormNode) else form
        return leaf

    def _is_accumulated(self, one: ValueDefinition) -> bool:
        """Whether a value may be made of another one of the same variable."""
        written = [array for array, writes in self.flow.writes.items() if _writes(writes, one)]
        read = {part.array for part in subterms(one.value) if isinstance(part, CellTerm)}
        return not read.isdisjoint(written)

    def _of_operation(self, definition: ValueDefinition, term: Apply, where: isl.Map, depth: int) -> Form:
        name = f"{term.operator} {term.type}"
        combination = combination_of(term)
        parts = () if combination is None else combination.parts(term)
        if combination is None or any(one.tests or one.sign < 0 for one in parts) or len(parts) < 2:
            return FormNode(
                name, tuple(self.of(definition, one, where, depth) for one in term.arguments)
            )
        found: list[Form] = []
        for part in parts:
            form = self.of(definition, part.term, where, depth)
            is_same = isinstance(form, FormNode) and form.name == f"{combination.kind.value} {term.type}"
            found += form.parts if isinstance(form, FormNode) and is_same else [form]
        return FormNode(f"{combination.kind.value} {term.type}", tuple(found), in_any_order=True)


def _writes(writes: isl.UnionMap, one: ValueDefinition) -> bool:
    return not writes.intersect_domain(isl.UnionSet.from_set(one.domain)).is_empty()
