"""Rewrites one-dimensional arrays that both sources use as tables as arrays of rows.

    void f(int n, int m, double *a)                    void f(int n, int m, double (*a)[m])
    { .. a[i * m + j] .. }                             { .. a[i][j] .. }

Both sources are read: each reads the array in rows of the same length, and proves that all subscripts stay
in their rows, so that i * m + j is one element for one pair of i and j.  The rewritten source must be read
with exactly the same accesses.  Line numbers do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from loopwright.c.declarations import declared_name
from loopwright.c.file import c_file
from loopwright.c.reworded.flat_loops import INDEX_TYPES
from loopwright.c.reworded.numbers_for_sizes import functions_around
from loopwright.c.syntax import Node, field, named_children, operator, without_parentheses
from loopwright.c.tokens import bracketed, names_in, on_one_line
from loopwright.c.typed.options import CompilerOptions
from loopwright.errors import BadInput
from loopwright.model.program import AssumptionKind, Program
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import parse_c
from loopwright.source import Edit, Source

Rows: TypeAlias = Mapping[str, tuple[str, ...]]
Term: TypeAlias = tuple[int, tuple[str, ...], tuple[Node, ...]]


def with_tables(
    old: Source, new: Source, options: tuple[CompilerOptions, CompilerOptions]
) -> tuple[Source, Source] | None:
    """Two sources with tables in place of the arrays that both use as tables; None if there are none."""
    try:
        read = [_read(text, one) for text, one in zip((old, new), options, strict=True)]
        found = [_rows(one) for one in read]
        if not found[0] or found[0] != found[1] or _parameters(old) != _parameters(new):
            return None
        texts = [_with_rows(text, found[0]) for text in (old, new)]
        for before, text, one in zip(read, texts, options, strict=True):
            if text is None or not _is_same(before, _read(text, one)):
                return None
    except BadInput:
        return None
    return None if texts[0] is None or texts[1] is None else (texts[0], texts[1])


def _read(text: Source, options: CompilerOptions) -> tuple[Program, ...]:
    return parse_c(text, ReadOptions(compiled=options))


def _rows(programs: Sequence[Program]) -> dict[str, tuple[str, ...]]:
    """The arrays in rows, if this needs no assumptions; all regions must agree."""
    found: dict[str, tuple[str, ...]] = {}
    for program in programs:
        if any(one.kind is AssumptionKind.ROWS for one in program.assumptions):
            return {}
        for array in program.arrays:
            if array.rows and found.setdefault(array.name, array.rows) != array.rows:
                return {}
    return found


def _is_same(before: Sequence[Program], after: Sequence[Program]) -> bool:
    """Whether two readings have the same statements, with the same accesses."""
    pairs = [(a.statements, b.statements) for a, b in zip(before, after, strict=True)]
    if any(len(a) != len(b) for a, b in pairs):
        return False
    for one, other in ((x, y) for a, b in pairs for x, y in zip(a, b, strict=True)):
        if len(one.accesses) != len(other.accesses):
            return False
        for access, again in zip(one.accesses, other.accesses, strict=True):
            is_alike = access.array == again.array and access.is_write == again.is_write
            if not is_alike or not access.relation.is_equal(again.relation):
                return False
    return True


def _parameters(text: Source) -> list[list[tuple[str, int, tuple[str, ...]] | None]]:
    """The parameters of these functions, in the order of calls, which tables change."""
    heads = [one for function in functions_around(c_file(text)) for one in function.of_type("parameter_list")]
    listed = [[one.child_by_field_name("declarator") for one in named_children(head)] for head in heads]
    return [[None if one is None else declared_name(one) for one in head] for head in listed]


def _with_rows(text: Source, rows: Rows) -> Source | None:
    file = c_file(text)
    edits: list[Edit] = []
    for function in functions_around(file):
        head = _with_rows_declared(function, rows)
        if head is None:
            return None
        edits.append(head)
    for region in file.regions:
        for node in file.block(region.place).of_type("subscript_expression"):
            base, *offsets = _base(field(node, "argument"))
            if base.type == "identifier" and base.text in rows:
                subscripts = _subscripts([*offsets, field(node, "index")], rows[base.text])
                edits.append(node.span.reworded(base.text + bracketed(subscripts)))
    inner = any(a[1] > b[0] for a, b in zip(sorted(edits), sorted(edits)[1:], strict=False))
    return None if inner else text.edited(sorted(edits))


def _with_rows_declared(function: Node, rows: Rows) -> Edit | None:
    """The parameters of a function, with tables moved after those that may be the lengths of rows."""
    head = field(function, "declarator")
    if head.type != "function_declarator":
        return None
    listed = field(head, "parameters")
    plain: list[str] = []
    tables: list[str] = []
    for one in named_children(listed):
        declarator = one.child_by_field_name("declarator")
        named = None if declarator is None else declared_name(declarator)
        if named is None or named[0] not in rows or declarator is None:
            plain.append(on_one_line(one.text))
            continue
        restrict = "restrict " if "restrict" in names_in(declarator.text) else ""
        kind = on_one_line(one.source.text[one.start : declarator.start])
        tables.append(f"{kind} (*{restrict}{named[0]}){bracketed(rows[named[0]])}")
    if len(tables) != len(rows):
        return None
    return listed.span.reworded(f"({', '.join((*plain, *tables))})")


def _base(node: Node) -> list[Node]:
    """The array and the offsets in its address: a and e of `(a + e)[j]` and `(&a[e])[j]`."""
    node = without_parentheses(node)
    if node.type == "binary_expression" and operator(node) == "+":
        return [*_base(field(node, "left")), field(node, "right")]
    if node.type == "pointer_expression" and operator(node) == "&":
        inner = without_parentheses(field(node, "argument"))
        if inner.type == "subscript_expression":
            return [*_base(field(inner, "argument")), field(inner, "index")]
    return [node]


def _subscripts(added: Sequence[Node], sizes: Sequence[str]) -> list[str]:
    """x and y of x * m + y: the terms that have the factor m, and the others."""
    terms, found = [term for one in added for term in _terms(one, 1)], list[str]()
    for size in reversed(sizes):
        inside = [term for term in terms if size not in term[1]]
        found.append(_sum(inside))
        rest = [_divided(term, size) for term in terms if size in term[1]]
        terms = [part for term in rest for part in _opened(term)]
    return [_sum(terms), *reversed(found)]


def _terms(node: Node, sign: int) -> Iterator[Term]:
    node = _bare(node)
    if node.type == "binary_expression" and operator(node) in ("+", "-"):
        yield from _terms(field(node, "left"), sign)
        yield from _terms(field(node, "right"), sign if operator(node) == "+" else -sign)
    else:
        factors = tuple(_factors(node))
        yield sign, tuple(one.text for one in factors), factors


def _factors(node: Node) -> Iterator[Node]:
    node = _bare(node)
    if node.type == "binary_expression" and operator(node) == "*":
        yield from _factors(field(node, "left"))
        yield from _factors(field(node, "right"))
    else:
        yield node


def _bare(node: Node) -> Node:
    node = without_parentheses(node)
    while node.type == "cast_expression" and field(node, "type").text in INDEX_TYPES:
        node = without_parentheses(field(node, "value"))
    return node


def _divided(term: Term, size: str) -> Term:
    sign, texts, factors = term
    at = texts.index(size)
    return sign, texts[:at] + texts[at + 1 :], factors[:at] + factors[at + 1 :]


def _opened(term: Term) -> Iterator[Term]:
    """The terms of a sum that remains of a product, or the product."""
    sign, _, factors = term
    if len(factors) == 1:
        yield from _terms(factors[0], sign)
    else:
        yield term


def _sum(terms: Sequence[Term]) -> str:
    text = ""
    for sign, _, factors in terms:
        product = " * ".join(f"({on_one_line(one.text)})" for one in factors) or "1"
        text += f" {'+' if sign > 0 else '-'} {product}" if text or sign < 0 else product
    return text.strip() or "0"
