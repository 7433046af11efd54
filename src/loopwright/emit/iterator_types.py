"""Chooses the types of new iterators.

A type as wide as all iterators and sizes of the original is correct for every loop: `number`.  A loop
that scans an iterator of the original has the type of that iterator.  Where this is unsigned, no
intermediate result may be negative: such a loop may only contain sums without subtraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import assert_never

from loopwright.c.declarations import Declarations, is_unsigned_type, unqualified
from loopwright.c.types import name_of
from loopwright.emit.expressions import is_wide
from loopwright.lazy_dataclass import dataclass
from loopwright.loops import expressions as ex
from loopwright.loops.nodes import Call, For, Node
from loopwright.loops.traverse import rename, rename_test, subprograms, terms, variables, with_children
from loopwright.model.program import Program
from loopwright.presburger.named import everywhere, number, variable

_NARROW = {"int", "signed", "signed int", "short", "char", "long", "long int"}
_SMALL = {"int", "signed", "signed int", "short", "char", "signed char", "unsigned char"}
_RANKS = {"int": 0, "signed": 0, "signed int": 0, "long": 1, "long int": 1, "long long": 2}


@dataclass(frozen=True)
class IteratorTypes:
    """`own` has the iterators with the author's type, `number` is for the rest."""

    number: str
    own: Mapping[str, str]
    unsigned: frozenset[str]
    """Those of `own` that are unsigned."""

    def of(self, iterator: str) -> str:
        return self.own.get(iterator, self.number)

    def widened(self) -> IteratorTypes:
        """The same with only signed 64-bit types: adding steps to a bound cannot overflow in them."""
        number = "long" if self.number == "int" else self.number
        own = {name: kind for name, kind in self.own.items() if kind in ("long", "long int", "long long")}
        return IteratorTypes(number, own, frozenset())


def parameter_types(program: Program, declared: Declarations) -> dict[str, str]:
    """The types of the parameters' texts, if declared or known members."""
    texts = [parameter.text for parameter in program.parameters]
    found = ((text, declared.visible(text, program.region)) for text in texts)
    loaded = {one.text: name_of(one.type) for one in program.parameters if one.type is not None}
    known = {text: declared.resolved(variable.type) for text, variable in found if variable is not None}
    return loaded | known


def iterator_types(program: Program, node: Node, declared: Declarations) -> IteratorTypes:
    """The types of the loops of `node`, whose iterators have their final names."""
    sizes = parameter_types(program, declared)
    number = _number(program, node, sizes)
    own: dict[str, str] = {}
    for name in {part.iterator for part in subprograms(node) if isinstance(part, For)}:
        kind = _authors(program, name)
        meaning = "" if kind is None else declared.resolved(kind)
        wide = {one.name for one in program.parameters if not _fits(sizes.get(one.text, "int"), meaning)}
        if kind is not None and (_holds(meaning, number) or _is_authors(name, kind, program, node, wide)):
            own[name] = kind
    unsigned = {name for name, kind in own.items() if is_unsigned_type(declared.resolved(kind))}
    kept = _never_below_zero(node, unsigned, program)
    signed = {name: kind for name, kind in own.items() if name not in unsigned or name in kept}
    return IteratorTypes(number, signed, kept)


def _number(program: Program, node: Node, types: Mapping[str, str]) -> str:
    """`int` if all iterators and sizes are, else a wider type."""
    used = {*types.values(), *(one for statement in program.statements for one in statement.iterator_types)}
    plain = {unqualified(one) for one in used}
    if is_wide(node) or not plain <= _NARROW:
        return "long long"
    return "long" if plain & {"long", "long int"} else "int"


def _authors(program: Program, name: str) -> str | None:
    """The author's type for iterators of this name, if it is unique and at least as wide as `int`."""
    found = {
        kind
        for statement in program.statements
        for iterator, kind in zip(statement.iterators, statement.iterator_types, strict=False)
        if iterator == name
    }
    (only,) = found if len(found) == 1 else (None,)
    return only if only is not None and not {"short", "char"} & set(only.split()) else None


def _holds(kind: str, number: str) -> bool:
    """Whether a signed type is as wide as `number`."""
    return kind in _RANKS and _RANKS[kind] >= _RANKS[number]


def _fits(size: str, kind: str) -> bool:
    """Whether the type of a size is that of an iterator, or has no more bits than int.

    Whether an unsigned iterator stays non-negative is checked separately.
    """
    return size == kind or unqualified(size) in _SMALL


def _is_authors(name: str, kind: str, program: Program, node: Node, wide: AbstractSet[str]) -> bool:
    """Whether every loop called `name` runs over values the author's iterator takes.

    A loop that does not run has a first value, too, which `wide` sizes may carry out of the type.
    """
    for loop in subprograms(node):
        if not isinstance(loop, For) or loop.iterator != name:
            continue
        if variables(loop.start) & wide:
            return False
        for call in subprograms(loop.body):
            if isinstance(call, Call):
                types = program.statement(call.name).iterator_types
                uses = [
                    (value, own)
                    for value, own in zip(call.arguments, types, strict=False)
                    if name in variables(value)
                ]
                if any(use != (ex.Var(name), kind) for use in uses):
                    return False
    return True


def _never_below_zero(node: Node, names: AbstractSet[str], program: Program) -> frozenset[str]:
    """The largest subset of `names` from which only non-negative values are computed."""
    down = {part.iterator for part in subprograms(node) if isinstance(part, For) and part.step < 0}
    kept = frozenset(names) - down
    known = program.promised if kept else everywhere()
    sizes = {one for one in program.params if kept and known.is_subset(variable(one).ge_set(number(0)))}
    while True:
        bad = {
            name
            for part in subprograms(node)
            for name in kept & _involved(part)
            if not all(_grows(term, kept, sizes) for term in _computed(part, name))
        }
        if not bad:
            return kept
        kept -= bad


def _involved(part: Node) -> frozenset[str]:
    mentioned = frozenset[str]().union(*(variables(term) for term in terms(part)))
    return mentioned | {part.iterator} if isinstance(part, For) else mentioned


def _computed(part: Node, name: str) -> tuple[ex.Expr | ex.Test, ...]:
    """The terms of a statement that mention `name`; all terms of the loop that declares it."""
    if isinstance(part, For) and part.iterator == name:
        return terms(part)
    return tuple(term for term in terms(part) if name in variables(term))


def _grows(term: ex.Expr | ex.Test, names: AbstractSet[str], sizes: AbstractSet[str]) -> bool:
    match term:
        case ex.Int(value):
            return value >= 0
        case ex.Var(name):
            return name in names or name in sizes
        case ex.Sum(parts):
            return all(_grows(part, names, frozenset()) for part in parts)
        case ex.Scaled(factor, argument):
            return factor > 0 and _grows(argument, names, frozenset())
        case ex.Compare(_, left, right):
            return _grows(left, names, sizes) and _grows(right, names, sizes)
        case ex.And(tests) | ex.Or(tests):
            return all(_grows(one, names, sizes) for one in tests)
        case ex.Not(test):
            return _grows(test, names, sizes)
        case ex.FloorDiv() | ex.TruncDiv() | ex.Rem() | ex.Min() | ex.Max() | ex.Select():
            return False
        case _:
            assert_never(term)


def plainly(node: Node, names: AbstractSet[str], sizes: Mapping[str, str]) -> Node:
    """`node` with sizes called by other names in the heads of the loops `names`."""
    if isinstance(node, For) and node.iterator in names:
        node = replace(node, start=rename(node.start, sizes), test=rename_test(node.test, sizes))
    return with_children(node, lambda child: plainly(child, names, sizes))
