"""Edits the source for operations on storage: accesses, declarations, and scheduled copies of cells.

It also writes affine functions of iterators and parameters as C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import as_signed, declared_name, unqualified
from loopwright.c.syntax import Node, field, walk
from loopwright.c.types import name_of
from loopwright.errors import Code
from loopwright.model.program import Access, Array, MemorySpace, Program, Statement
from loopwright.presburger.dimensions import first
from loopwright.presburger.functions import coefficient, involved
from loopwright.presburger.named import parameter_names
from loopwright.presburger.sets import DIM, DIV, IN, OUT, PARAM, basic_sets
from loopwright.source import Span
from loopwright.transform.operators import with_length
from loopwright.transform.plan import Plan
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.script.steps import close_to
from loopwright.transform.storage import TextEdit
from loopwright.transform.vectors import Position, entry

MOST_ON_STACK = 4096
"""The most elements of an array that the function keeps on its stack."""


def in_space(array: Array, space: MemorySpace | None = None) -> Array:
    """The array in the given GPU memory; without one, on the stack if small and constant, else allocated."""
    size = 1
    for extent in array.extents:
        size = size * int(extent) if size and extent.isdigit() else 0
    if space is None:
        small = 0 < size <= MOST_ON_STACK
        return replace(array, space=MemorySpace.STACK if small else MemorySpace.HEAP)
    if not size:
        sizes = " by ".join(array.extents)
        message = f"{array.name} has {sizes} elements: a memory of a GPU has arrays of constant sizes"
        hint = "tile the loops, and name the loop over tiles that the copy is made in"
        raise Misuse(Code.STORAGE, message, argument="loop", hint=hint)
    return replace(array, space=space)


def variable_called(plan: Plan, name: str, *, sized: bool = True, in_rows: bool = False) -> Array:
    """The array or variable of that name, if its storage can be changed.

    `sized` if its sizes are needed; `in_rows` if it may have one dimension that is read as several.
    """
    arrays = {array.name: array for array in plan.program.arrays}
    if name not in arrays:
        near = close_to(name, list(arrays))
        hint = f"did you mean {near}?" if near else f"the variables are {', '.join(arrays) or 'none'}"
        raise Misuse(Code.NO_VARIABLE, f"no variable is called {name}", argument="variable", hint=hint)
    array = arrays[name]
    known = not sized or ("" not in array.extents and len(array.extents) == array.rank)
    if array.element_type is None or not known:
        message = f"the declaration of {name} does not give its element type and sizes"
        hint = "declare it in the file with all its sizes"
        raise Misuse(Code.STORAGE, message, argument="variable", hint=hint)
    if array.rows and not in_rows:
        message = f"{name} is declared with one dimension and read as {array.dimensions}"
        raise Misuse(Code.STORAGE, message, argument="variable", hint="declare it with its dimensions")
    return replace(array, element_type=unqualified(array.element_type))


def moved(statement: Statement, name: str, front: str, place: Span | None = None) -> Iterator[TextEdit]:
    """`front` for the name in each access to it, or in that at a `place`."""
    for access in statement.accesses:
        if access.array != name or place not in (None, access.place):
            continue
        text = access.place.text
        if not text.startswith(name) or text[len(name) :].strip()[:1] not in ("", "["):
            message = f"'{' '.join(text.split())}' is another way to write {name}"
            raise Misuse(Code.STORAGE, message, argument="variable", hint=f"write {name} and its subscripts")
        yield TextEdit(access.place.source.at(access.place.start, len(name)), front)


def refuse_member(program: Program, access: Access) -> None:
    """Refuse an access to a part of a cell: `A[i].x`."""
    node = next((part for part in walk(program.syntax) if part.span == access.place), None)
    while node is not None and node.type == "subscript_expression":
        node = field(node, "argument")
    if node is not None and node.type == "field_expression":
        message = f"'{access.place.text}' is a part of a cell, and copies are of whole cells"
        raise Misuse(Code.STORAGE, message, argument="variable")


def without_declaration(program: Program, array: Array) -> Iterator[TextEdit]:
    """For a variable declared in the region, keep only its initialisation.

    double x = e, y = f;   -->   x = e; double y = f;
    """
    if not array.local:
        return
    for node in walk(program.syntax):
        if node.type != "declaration":
            continue
        declarators = node.children_by_field_name("declarator")
        names = [declared_name(one) for one in declarators]
        for number, named in enumerate(names):
            if named is not None and named[0] == array.name:
                yield from _only_value(node, number, array.name)


def declared_values(program: Program, array: Array, statement: Statement) -> Iterator[TextEdit]:
    """`double x; x = e` for `double x = e`, if that is the statement: x stays declared for others."""
    for node in walk(program.syntax):
        if node.type != "declaration":
            continue
        for number, one in enumerate(node.children_by_field_name("declarator")):
            if one.span == statement.body.place:
                kind = _specifiers(node).text.strip()
                yield from _by_itself(node, number, f"{kind} {array.name}; ", array.name)


def _only_value(declaration: Node, number: int, name: str) -> Iterator[TextEdit]:
    declarators = declaration.children_by_field_name("declarator")
    one = declarators[number]
    if one.type == "init_declarator":
        yield from _by_itself(declaration, number, "", name)
    elif len(declarators) == 1:
        yield TextEdit(declaration.span, "")
    elif number:
        yield _replaced(declaration, declarators[number - 1].end, one.end, "")
    else:
        yield _replaced(declaration, one.start, declarators[1].start, "")


def _by_itself(declaration: Node, number: int, front: str, name: str) -> Iterator[TextEdit]:
    """One declarator of several as a statement after `front`; those before and after it keep their order."""
    declarators = declaration.children_by_field_name("declarator")
    if len(declarators) > 1 and declaration.parent is not None and declaration.parent.type == "for_statement":
        message = f"{name} is declared together with others"
        raise Misuse(Code.STORAGE, message, argument="variable", hint="declare it by itself")
    one, kind = declarators[number], _specifiers(declaration)
    if number:
        yield _replaced(declaration, declarators[number - 1].end, one.start, f"; {front}")
    else:
        yield TextEdit(kind, front)
    if number + 1 < len(declarators):
        yield _replaced(declaration, one.end, declarators[number + 1].start, f"; {kind.text}")


def _specifiers(declaration: Node) -> Span:
    """The text before the first declarator: its type."""
    first = declaration.children_by_field_name("declarator")[0]
    return declaration.source.at(declaration.start, first.start - declaration.start)


def _replaced(declaration: Node, start: int, end: int, text: str) -> TextEdit:
    return TextEdit(declaration.source.at(start, end - start), text)


def with_loops(plan: Plan, loops: int) -> Plan:
    """The plan with vectors long enough for a copy in so many loops."""
    return plan if loops <= plan.loops else with_length(plan, loops)


def copy_schedule(place: Position, depth: int, rank: int) -> isl.Map:
    """{ [t, c] -> (p0, t1, p1, ..., td, pd, c1, 0, c2, 0, ...) }."""
    loops = len(place) - 1
    relation = isl.Map.universe(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, depth + rank, 2 * loops + 1))
    for k, value in enumerate(place):
        relation = relation.fix_val(OUT, 2 * k, isl.Val(value))
    for loop in range(loops):
        if loop < depth + rank:
            relation = relation.equate(IN, loop, OUT, entry(loop))
        else:
            relation = relation.fix_val(OUT, entry(loop), isl.Val(0))
    return relation


def loops_over(program: Program, cells: isl.Set, iterators: tuple[str, ...]) -> str:
    """Loops over a box with the cells as a condition, which selects exactly what is copied."""
    test = membership(program, cells, iterators, cells)
    loops = loops_over_box(program, cells, iterators, (_counting_type(program),) * len(iterators))
    return f"{loops}{f'if ({test}) ' if test else ''}"


_NARROW = {"int", "signed", "signed int", "short", "char", "signed char", "unsigned char"}
_LONG = {"long", "long int"}


def _counting_type(program: Program) -> str:
    """`int` if all iterators and sizes are that narrow, else a signed type that holds them."""
    declared = program.file.declarations
    found = (declared.visible(one.text, program.region) for one in program.parameters)
    used = {declared.resolved(one.type) for one in found if one is not None}
    used |= {name_of(one.type) for one in program.parameters if one.type is not None}
    used |= {declared.resolved(kind) for statement in program.statements for kind in statement.iterator_types}
    wide = {unqualified(kind) for kind in used} - _NARROW
    return "int" if not wide else "long" if wide <= _LONG else "long long"


def loops_over_box(
    program: Program, points: isl.Set, iterators: Sequence[str], types: Sequence[str], argument: str = "loop"
) -> str:
    """Loops over a box that holds the points, with iterators of these types."""
    heads: list[str] = []
    for k, (iterator, kind) in enumerate(zip(iterators, types, strict=True)):
        low, inside = _range(points, k, iterator, argument)
        start = divided_text(program, low, iterators, first(points, DIM, k + 1))
        rest = affine_text(program, inside, iterators)
        if start is None:
            raise _unbounded(iterator, argument)
        heads.append(f"for ({kind} {iterator} = {start}; {rest} >= 0; {iterator}++) ")
    return f" {''.join(heads)}"


def membership(program: Program, points: isl.Set, iterators: tuple[str, ...], domain: isl.Set) -> str:
    """A C condition that a point of `domain` is one of these; empty if all are."""
    tests = [
        " && ".join(_condition(program, one, iterators, domain) for one in _stated(basic))
        for basic in basic_sets(points.compute_divs())
    ]
    return " || ".join(f"({one})" if len(tests) > 1 else one for one in tests if one)


def _range(cells: isl.Set, k: int, iterator: str, argument: str) -> tuple[isl.Aff, isl.Aff]:
    """A lower bound of dimension k in terms of those before it, and what is not negative up to the last.

    If those before it give no bound, it is the bound over all of them: the condition excludes the excess.
    """
    low: isl.Aff | None = None
    divided: isl.Aff | None = None
    rest: isl.Aff | None = None
    inner = first(cells, DIM, k + 1)
    for points in (inner, inner.eliminate(DIM, 0, k)):
        for constraint in points.remove_divs().simple_hull().get_constraints():
            factor = constraint.get_coefficient_val(DIM, k)
            if factor.is_zero():
                continue
            equality = constraint.is_equality()
            if low is None and (factor.is_one() or (equality and factor.is_negone())):
                low = constraint.get_bound(DIM, k)
            elif divided is None and factor.is_pos():
                divided = constraint.get_bound(DIM, k).ceil()
            if rest is None and (factor.is_neg() or equality):
                rest = constraint.get_aff() if factor.is_neg() else constraint.get_aff().neg()
    low = divided if low is None else low
    if low is None or rest is None:
        raise _unbounded(iterator, argument)
    return low, rest


def _unbounded(iterator: str, argument: str) -> Misuse:
    return Misuse(Code.STORAGE, f"the values of {iterator} have no affine bounds", argument=argument)


def _stated(basic: isl.BasicSet) -> list[isl.Constraint]:
    """The constraints except those that define a quotient."""
    return [one for one in basic.get_constraints() if not one.is_div_constraint()]


def _condition(
    program: Program, constraint: isl.Constraint, iterators: tuple[str, ...], domain: isl.Set
) -> str:
    """`e >= 0`, `e == 0` with quotients, or `e % d == 0`, which expresses e = d q for some q."""
    value = constraint.get_aff()
    text = divided_text(program, value, iterators, domain)
    if text is not None:
        return f"{text} {'==' if constraint.is_equality() else '>='} 0"
    factors = [value.get_coefficient_val(DIV, k) for k in range(value.dim(DIV))]
    divisors = [abs(int(one.to_python())) for one in factors if not one.is_zero()]
    if len(divisors) > 1 or not constraint.is_equality():
        raise Misuse(Code.STORAGE, "which cells are copied cannot be written as a condition", argument="loop")
    return f"({affine_text(program, value, iterators)}) % {divisors[0]} == 0"


def affine_text(program: Program, value: isl.Aff, iterators: Sequence[str]) -> str:
    """An affine function of the first iterators, and of parameters."""
    return _joined(_terms(program, value, iterators), value)


def divided_text(program: Program, value: isl.Aff, iterators: Sequence[str], domain: isl.Set) -> str | None:
    """The same with divisions, which C rounds towards zero: None if one may be negative or is nested.

    floor((-1 - e) / d) = -1 - floor(e / d) and floor((e + d) / d) = 1 + floor(e / d), so one of e, -1 - e and
    d - 1 - e must be positive.  Fractions, as i / 3 where i counts by 3, are integers in the domain.
    """
    whole = int(value.get_denominator_val().to_python())
    if whole > 1:
        multiple = divided_text(program, value.scale_val(isl.Val(whole)), iterators, domain)
        return None if multiple is None else f"({multiple}) / {whole}"
    terms = _terms(program, value, iterators)
    for k in range(value.dim(DIV)):
        factor = coefficient(value, DIV, k)
        if not factor:
            continue
        divisor = int(value.get_div(k).get_denominator_val().to_python())
        number = value.get_div(k).scale_val(isl.Val(divisor))
        if involved(number, DIV):
            return None
        if _may_be_negative(program, number, domain):
            number = number.neg().add_constant_val(isl.Val(-1))
            value = value.add_constant_val(isl.Val(-factor))
            factor = -factor
        if _may_be_negative(program, number, domain):
            number = number.add_constant_val(isl.Val(divisor))
            value = value.add_constant_val(isl.Val(-factor))
        if _may_be_negative(program, number, domain):
            return None
        text = _joined(_terms(program, number, iterators), number)
        terms.append((factor, f"({text if text.isidentifier() else f'({text})'} / {divisor})"))
    return _joined(terms, value)


def _may_be_negative(program: Program, number: isl.Aff, domain: isl.Set) -> bool:
    negative = isl.PwAff.from_aff(number).neg().pos_set().intersect(domain)
    return not negative.intersect_params(program.context).is_empty()


def _terms(program: Program, value: isl.Aff, iterators: Sequence[str]) -> list[tuple[int, str]]:
    texts = {one.name: _signed(program, one.text) for one in program.parameters}
    names = [(IN, k, name) for k, name in enumerate(iterators[: value.dim(IN)])]
    parameters = parameter_names(value.get_domain_space())
    names += [(PARAM, k, texts.get(name, name)) for k, name in enumerate(parameters)]
    factors = [(coefficient(value, kind, k), name) for kind, k, name in names]
    return [(factor, name) for factor, name in factors if factor]


def _signed(program: Program, size: str) -> str:
    declared = program.file.declarations
    variable = declared.visible(size, program.region)
    return size if variable is None else as_signed(size, declared.resolved(variable.type))


def _joined(terms: list[tuple[int, str]], value: isl.Aff) -> str:
    constant = int(value.get_constant_val().to_python())
    if not terms:
        return str(constant)
    if len(terms) == 1 and terms[0][0] == 1 and not constant:
        return terms[0][1]
    ordered = sorted(terms, key=lambda term: term[0] < 0)
    return "".join(_term(k, factor, name) for k, (factor, name) in enumerate(ordered)) + _constant(constant)


def _term(place: int, factor: int, name: str) -> str:
    number = "" if abs(factor) == 1 else f"{abs(factor)} * "
    text = name if name.isidentifier() or name.startswith("(") else f"({name})"
    if place == 0:
        return f"{'-' if factor < 0 else ''}{number}{text}"
    return f" {'-' if factor < 0 else '+'} {number}{text}"


def _constant(value: int) -> str:
    return "" if not value else f" {'-' if value < 0 else '+'} {abs(value)}"
