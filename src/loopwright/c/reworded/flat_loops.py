"""Rewrites one loop over all elements of a table as nested loops, and nested loops as one.

    for (t = 0; t < n * m; t++) B(t / m, t % m, t)      for (u = 0; u < n; u++)
                                                          for (v = 0; v < m; v++) B(u, v, u * m + v)

    for (i = 0; i < n; i++)                             for (t = 0; t < n * m; t++) B(t)
      for (j = 0; j < m; j++) B(i * m + j)

Since t = (t / m) * m + t % m, the iterations and their order are the same if the sizes are not
negative: the product of two negative sizes is positive, so that one loop runs and two do not.  B modifies
neither sizes nor iterators, and no jump leaves it; in the second form, i and j occur only in subscripts, so
the type of their sum does not matter.  A name that is assigned a product once is replaced by it.  The
caller must check what macros and pointers hide.  Line numbers do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from loopwright.c.loops import LEAVING, binary, first_value, loop_iterator, loop_step, only_inside
from loopwright.c.regions import Directive
from loopwright.c.reworded.final_values import integer_type
from loopwright.c.reworded.passages import Passage, changed_in, declares, is_before, passages, rewritten
from loopwright.c.syntax import Node, field, operator, without_parentheses
from loopwright.c.tokens import decimal, names_in, packed
from loopwright.source import Edit, Source, Span

SIZES = "sizes that are multiplied are not negative, and their products do not overflow"
_MOST = 20
_TESTS = ("<", "<=", ">", ">=", "!=")
_ALSO_LEAVING = (*LEAVING, "labeled_statement", "gnu_asm_expression")
_WIDE = ("long", "long long", "size_t", "ptrdiff_t", "int64_t", "uint64_t", "unsigned long")
INDEX_TYPES = ("int", *_WIDE)
"""Types that products and subscripts may be converted to if nothing overflows."""
_OF_PRODUCTS = (*INDEX_TYPES, "unsigned", "unsigned int")


def with_nested_loops(source: Source) -> Source:
    """The source with a loop for each size in place of one over their product."""
    return rewritten(_with_products(source), _nested, "for_statement", most=_MOST)


def with_flat_loops(source: Source) -> Source:
    """The source with one loop over the elements of a table in place of two."""
    return rewritten(_with_products(source), _flat, "for_statement", most=_MOST)


def has_products(source: Source) -> bool:
    """Whether the bound of a loop in a region is a product of names, or may be a name for one."""
    found = passages(_with_products(source))
    loops = (one for passage in found for one in passage.block.of_type("for_statement"))
    tests = (one.child_by_field_name("condition") for one in loops)
    return any(one is not None and "*" in one.text for one in tests)


def _with_products(source: Source) -> Source:
    """The source with products in place of names that are declared as these and not modified."""
    edits: list[Edit] = []
    for block in (passage.block for passage in passages(source)):
        changed = changed_in(block)
        for one in block.of_type("init_declarator"):
            name, value = field(one, "declarator"), field(one, "value")
            factors = factors_of(value)
            is_set_once = name.type == "identifier" and changed.count(name.text) == 1
            if not is_set_once or len(factors) < 2 or not {*factors}.isdisjoint(changed):
                continue
            uses = [use for use in block.named(name.text) if use.start > one.end]
            kind = "" if one.parent is None else field(one.parent, "type").text
            if kind not in _OF_PRODUCTS or not _is_in_scope(one, uses):
                continue
            if not all(_is_compared(use, in_sums=kind in ("int", "long")) for use in uses):
                continue
            product = f"({' * '.join(factors)})"
            edits += [(use.start, use.end, product) for use in uses]
            edits.append(Span(source, name.end, one.end).reworded())
            edits += _without_const(one)
    return source.edited(sorted(edits)) if edits else source


def _is_in_scope(declarator: Node, uses: Sequence[Node]) -> bool:
    """Whether all uses of a name follow its declarator, in the block of its declaration."""
    whole = declarator.parent
    block = None if whole is None else whole.parent
    return block is not None and all(
        block.span.contains(use.span) and use.start >= declarator.start for use in uses
    )


def _is_compared(use: Node, *, in_sums: bool) -> bool:
    """Whether a use is an operand of a loop's test, where only the type of the comparison matters.  A
    signed one may be in a sum there."""
    around = use.parent
    while around is not None and (
        around.type == "parenthesized_expression"
        or (in_sums and around.type == "binary_expression" and operator(around) in ("+", "-"))
    ):
        around = around.parent
    if around is None or around.type != "binary_expression" or operator(around) not in _TESTS:
        return False
    loop = around.parent
    return loop is not None and loop.type == "for_statement"


def _without_const(declarator: Node) -> list[Edit]:
    """Edits that remove qualifiers from a declaration that loses its initialiser."""
    whole = declarator.parent
    words = [] if whole is None else [one for one in whole.children if one.type == "type_qualifier"]
    return [(one.start, one.end, "") for one in words]


def factors_of(node: Node) -> list[str]:
    """The names and numbers whose product an expression is, without casts to integers."""
    node = without_parentheses(node)
    if node.type == "cast_expression":
        return factors_of(field(node, "value")) if field(node, "type").text in INDEX_TYPES else []
    product = binary(node)
    if product is not None and product.sign == "*":
        sides = factors_of(product.left), factors_of(product.right)
        return [*sides[0], *sides[1]] if all(sides) else []
    is_plain = node.type == "identifier" or decimal(node.text) is not None
    return [node.text] if is_plain else []


def _counted(loop: Node) -> tuple[str, list[str]] | None:
    """The iterator and the factors of the bound of a loop `for (t = 0; t < n * m; t++)`."""
    test, name = binary(loop.child_by_field_name("condition")), loop_iterator(loop)
    if name is None or test is None or test.sign not in ("<", ">", "!=") or first_value(loop).text != "0":
        return None
    counted, end = (test.right, test.left) if test.sign == ">" else (test.left, test.right)
    factors = factors_of(_unless_negative(end))
    is_plain = counted.text == name and loop_step(loop, name) == 1 and factors and name not in factors
    return (name, factors) if is_plain else None


def _unless_negative(end: Node) -> Node:
    """The e of `e < 0 ? many : e`: the value of a nonnegative size."""
    core = without_parentheses(end)
    if core.type != "conditional_expression" or core.child_by_field_name("consequence") is None:
        return end
    value, test = field(core, "alternative"), binary(field(core, "condition"))
    if test is None or test.sign != "<" or test.right.text != "0":
        return end
    return value if packed(test.left.text) == packed(without_parentheses(value).text) else end


def _stays(body: Node, names: set[str]) -> bool:
    """Whether nothing in a body modifies these names, hides them or jumps out of it."""
    if body.of_type(*_ALSO_LEAVING) or not names.isdisjoint(changed_in(body)):
        return False
    return not any(declares(node, name) for node in body.of_type("declaration") for name in names)


def _nested(loop: Node, passage: Passage) -> list[Edit] | None:
    found = _counted(loop)
    if found is None or len(found[1]) < 2 or field(loop, "initializer").type != "declaration":
        return None
    name, factors = found
    names = {name, *(one for one in factors if decimal(one) is None)}
    kind = field(field(loop, "initializer"), "type").text
    kinds = {integer_type(one, passage.file.declarations, loop) for one in names - {name}}
    is_alike = kinds <= {kind} or (kind in _WIDE and kinds <= {kind, "int"})
    body = field(loop, "body")
    pragmas = [one for one in passage.region.pragmas if is_before(one, loop)]
    if not is_alike or not _stays(body, names) or len(names) < 3 or not all(map(_is_shared, pragmas)):
        return None
    own = [f"{name}_{k}" for k, _ in enumerate(factors)]
    if not {*own}.isdisjoint(names_in(loop.source.text)):
        return None
    plain = "int" if kinds == {"int"} else kind
    heads = [f"for ({plain} {u} = 0; {u} < {size}; {u}++) " for u, size in zip(own, factors, strict=True)]
    own = own if plain == kind else [f"(({kind}){u})" for u in own]
    edits: list[Edit] = [Span(loop.source, loop.start, body.spelled.start).reworded("".join(heads))]
    edits += [(one.place.end, one.place.end, f" collapse({len(own)})") for one in pragmas]
    return [*edits, *_parts(body, name, factors, own)]


def _is_shared(pragma: Directive) -> bool:
    """Whether a pragma only declares the iterations of a loop independent, not those of inner loops."""
    words = names_in(pragma.argument)
    return words[:1] == ("omp",) and "for" in words and not {"collapse", "ordered"} & {*words}


def _parts(body: Node, name: str, factors: Sequence[str], own: Sequence[str]) -> Iterator[Edit]:
    """Edits that express the iterator, its quotients and remainders by the iterators of the loops."""
    whole = own[0]
    for u, size in zip(own[1:], factors[1:], strict=True):
        whole = f"({whole} * {size} + {u})"
    pending, rows = [body], _quotients(body, name, factors[1:])
    while pending:
        node = pending.pop()
        core = without_parentheses(node)
        level = _level(core, name, factors, rows)
        if level is not None:
            yield core.span.reworded(own[level])
        elif core.type == "identifier" and core.text == name:
            yield core.start, core.end, whole
        else:
            pending += core.children


def _quotients(body: Node, name: str, inner: Sequence[str]) -> frozenset[str]:
    """The names that are declared as t / m, and not modified."""
    changed = changed_in(body)
    return frozenset(
        field(one, "declarator").text
        for one in body.of_type("init_declarator")
        if _is_quotient(field(one, "value"), name, inner)
        and changed.count(field(one, "declarator").text) == 1
        and _is_in_scope(one, body.named(field(one, "declarator").text))
    )


def _is_quotient(node: Node, name: str, divisors: Sequence[str]) -> bool:
    """Whether an expression is t / m, or t / (m * p), or successive divisions of t."""
    node, found = without_parentheses(node), list[str]()
    while (quotient := binary(node)) is not None and quotient.sign == "/":
        node, found = quotient.left, [*factors_of(quotient.right), *found]
    return bool(found) and node.text == name and sorted(found) == sorted(divisors)


def _level(node: Node, name: str, factors: Sequence[str], rows: frozenset[str]) -> int | None:
    """The index of the loop whose iterator an expression equals."""
    found = binary(node)
    if found is None:
        return None
    if _is_quotient(node, name, factors[1:]):
        return 0
    left, sign, right = found
    if sign == "%":
        for k in range(1, len(factors)):
            inner = factors[k + 1 :]
            is_left = _is_quotient(left, name, inner) if inner else left.text == name
            if is_left and factors_of(right) == [factors[k]]:
                return k
    if sign == "-" and len(factors) == 2 and left.text == name:
        product = factors_of(right)
        return 1 if any(sorted(product) == sorted((row, factors[1])) for row in rows) else None
    return None


def _flat(loop: Node, passage: Passage) -> list[Edit] | None:
    outer, body = _counted(loop), only_inside(field(loop, "body"))
    inner = _counted(body) if body.type == "for_statement" else None
    if outer is None or inner is None:
        return None
    if any(field(one, "initializer").type != "declaration" for one in (loop, body)):
        return None
    (i, rows), (j, columns) = outer, inner
    names = {i, j, *(one for one in (*rows, *columns) if decimal(one) is None)}
    inside = field(body, "body")
    is_about = any(map(passage.is_directed, (loop, body)))
    own = f"{i}_{j}"
    if is_about or i in columns or not _stays(inside, names) or own in names_in(loop.source.text):
        return None
    places = [_row_sum(one, i, j, columns) for one in inside.named(i)]
    found = [one for one in places if one is not None]
    if len(found) != len(places) or not found or len(inside.named(j)) != len(found):
        return None
    end = " * ".join((*rows, *columns))
    head = f"for (long {own} = 0; {own} < {end}; {own}++) "
    edits: list[Edit] = [Span(loop.source, loop.start, inside.spelled.start).reworded(head)]
    edits += [one.span.reworded(own) for one in found]
    return [*edits, Span(loop.source, inside.end, loop.end).reworded()]


def _row_sum(use: Node, i: str, j: str, columns: Sequence[str]) -> Node | None:
    """The sum i * m + j around a use of i, as part of a subscript."""
    sums = (one for one in use.around() if one.type == "binary_expression" and operator(one) == "+")
    around = next(sums, None)
    if around is None:
        return None
    sides = [field(around, side) for side in ("left", "right")]
    is_sum = any(
        sorted(factors_of(one)) == sorted((i, *columns)) and factors_of(other) == [j]
        for one, other in (sides, sides[::-1])
    )
    return around if is_sum and _is_subscript(around) else None


def _is_subscript(node: Node) -> bool:
    """Whether a sum is a term of a subscript."""
    around, top = [node], node.parent
    while top is not None and top.type in ("binary_expression", "parenthesized_expression"):
        around.append(top)
        top = top.parent
    if top is None or top.type != "subscript_expression" or field(top, "index").span != around[-1].span:
        return False
    sums = [(a, b) for a, b in pairwise(around) if b.type == "binary_expression"]
    added = (operator(b) == "+" or field(b, "left").span == a.span for a, b in sums)
    return all(added) and all(operator(b) in ("+", "-") for _, b in sums)
