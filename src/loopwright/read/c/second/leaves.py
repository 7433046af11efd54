"""Extracts the statements of a region from the typed tree: their loops, and the values they run for.

The values of a loop are, by the definition of `for` (C17 6.8.5),

    { first + k * step : the test holds of first, first + step, ..., first + k * step }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

import islpy as isl

from loopwright.c.typed import tree
from loopwright.c.types import Integer, Pointer, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import constant_value, number, variable, whole
from loopwright.presburger.polynomials import of_affine
from loopwright.presburger.sets import PARAM
from loopwright.read.c.second.accesses import Rows, pointed
from loopwright.read.c.second.integers import affine, alternatives, condition, numeric, polynomial
from loopwright.read.c.second.scope import Scope, Unclear, integer_of


@dataclass(frozen=True)
class Round:
    """A loop around a statement."""

    declaration: tree.Declaration
    step: int
    node: tree.ForStatement
    fits: bool
    """Whether its type holds all values for all parameters; otherwise that is assumed."""


@dataclass(frozen=True)
class Surroundings:
    """The context of the extraction: what is known there, the enclosing loops, local pointers."""

    scope: Scope
    loops: tuple[Round, ...] = ()
    rows: Rows = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """A statement whose domain is `place.scope.domain`."""

    node: tree.Statement | tree.Declarator
    place: Surroundings


@dataclass(frozen=True)
class Wanted:
    """The places in the file of what the other extractor made statements of."""

    whole: frozenset[int]
    """Conditions on data, kept whole with what they guard, and other statements kept whole."""
    values: frozenset[int]
    """Variables that are declared with a value, by the places of their names."""
    iterators: frozenset[str]


def found_in(statements: Sequence[tree.Statement], place: Surroundings, wanted: Wanted) -> Iterator[Found]:
    """The statements of a list, in source order."""
    for statement in statements:
        skipped = _skipped(statement)
        if skipped is not None and place.loops:
            holds = condition(skipped, place.scope)
            place = replace(place, scope=place.scope.where(holds.complement()))
            continue
        yield from _found(statement, place, wanted)
        if isinstance(statement, tree.Declare):
            place = _after_declaration(statement, place, wanted)


def _skipped(statement: tree.Statement) -> tree.Expression | None:
    """The c of `if (c) continue;`."""
    if not isinstance(statement, tree.IfStatement) or statement.otherwise is not None:
        return None
    inside = statement.then
    while isinstance(inside, tree.CompoundStatement) and len(inside.statements) == 1:
        inside = inside.statements[0]
    is_continue = isinstance(inside, tree.OtherStatement) and inside.kind == "CONTINUE_STMT"
    return statement.test if is_continue else None


def _found(node: tree.Statement, place: Surroundings, wanted: Wanted) -> Iterator[Found]:
    is_block = isinstance(
        node, tree.IfStatement | tree.ForStatement | tree.CompoundStatement | tree.OtherStatement
    )
    if is_block and node.place.span.start in wanted.whole:
        yield Found(node, place)
        return
    match node:
        case tree.CompoundStatement(statements=statements):
            yield from found_in(statements, place, wanted)
        case tree.Labelled(statement=statement):
            yield from _found(statement, place, wanted)
        case tree.OtherStatement(kind="NULL_STMT"):
            pass
        case tree.Evaluate() | tree.Return():
            yield Found(node, place)
        case tree.Declare(variables=variables):
            for one in variables:
                if one.name.start in wanted.values:
                    yield Found(one, place)
                place = _known(one, place, wanted)
        case tree.IfStatement(test=test, then=then, otherwise=otherwise):
            holds = condition(test, place.scope)
            yield from _found(then, replace(place, scope=place.scope.where(holds)), wanted)
            if otherwise is not None:
                outside = place.scope.where(holds.complement())
                yield from _found(otherwise, replace(place, scope=outside), wanted)
        case tree.ForStatement():
            yield from _found(node.body, _inside(node, place), wanted)
        case _:
            raise Unclear(node, "this kind of statement is not supported")


def _after_declaration(node: tree.Declare, place: Surroundings, wanted: Wanted) -> Surroundings:
    for one in node.variables:
        place = _known(one, place, wanted)
    return place


def _known(one: tree.Declarator, place: Surroundings, wanted: Wanted) -> Surroundings:
    """The context after a declaration: a local that is not modified is its value, a local pointer its row."""
    declared, initial = one.declaration, one.initial
    is_changed = declared.offset in place.scope.facts.written or declared.name in wanted.iterators
    if initial is None or is_changed or one.name.start in wanted.values:
        return place
    if isinstance(unqualified(declared.type), Pointer):
        row = pointed(initial, place.rows)
        return place if row is None else replace(place, rows={**place.rows, declared.offset: row})
    if integer_of(declared.type) is None:
        return place
    value = polynomial(initial, place.scope)
    bound = {**place.scope.bound, declared.offset: value}
    return replace(place, scope=replace(place.scope, bound=bound))


def _inside(node: tree.ForStatement, place: Surroundings) -> Surroundings:
    """The context of the body of a loop."""
    declared, first = _first(node)
    start = affine(first, replace(place.scope, in_head=True))
    step, test, is_before = _head(node, declared, place)
    value = variable(declared.name)
    begin = start if not is_before else start.add(number(step))
    scope = _with_iterator(place.scope, declared)
    steps = scope.domain.intersect(_progression(value, begin, step))
    if abs(step) == 1 and not is_before:
        head = replace(place.scope, in_head=True)
        parts = [affine(one, head) for one in alternatives(first, head, is_least=step < 0)]
        for part in parts if len(parts) > 1 else ():
            steps = scope.domain if part is parts[0] else steps
            steps = steps.intersect(value.ge_set(part) if step > 0 else value.le_set(part))
    inside = replace(scope, domain=steps, in_head=True)
    # `i--` as a test of a negative number ends by overflow, which is assumed not to happen.
    passing = _passing(test, inside, declared, begin, step) if test is not None else _positive(value)
    if test is not None and _only_bounds(test, declared, step):
        domain = steps.intersect(passing)
    else:
        domain = _while_passing(steps, passing, declared.name, step)
    fits = _fits(declared, domain, 0 if is_before else step, inside)
    inner = replace(scope, domain=domain.coalesce())
    return replace(place, scope=inner, loops=(*place.loops, Round(declared, step, node, fits)))


def _only_bounds(test: tree.Expression, declared: tree.Declaration, step: int) -> bool:
    """Whether a test that fails for a value fails for all later ones: `i < e && i <= f` without i in e, f."""
    core = tree.without_casts(test)
    if not isinstance(core, tree.Binary):
        return False
    if core.operator == "&&":
        return all(_only_bounds(side, declared, step) for side in (core.left, core.right))
    left, right = tree.without_casts(core.left), tree.without_casts(core.right)
    is_bound = core.operator in (("<", "<=") if step > 0 else (">", ">="))
    is_counted = isinstance(left, tree.Name) and left.declaration.offset == declared.offset
    mentioned = [part.declaration.offset for part in tree.walk(right) if isinstance(part, tree.Name)]
    return is_bound and is_counted and declared.offset not in mentioned


def _positive(value: isl.PwAff) -> isl.Set:
    return value.add(number(1)).gt_set(number(0))


def _passing(
    test: tree.Expression, inside: Scope, declared: tree.Declaration, begin: isl.PwAff, step: int
) -> isl.Set:
    """Where the test of a loop holds, among the values it is evaluated for: none after it fails.

    For the first value, it depends on sizes only.
    """
    try:
        return condition(test, inside)
    except Unclear:
        holds = condition(test, replace(inside, domain=inside.domain.subtract(inside.domain)))
        failing = inside.domain.subtract(holds)
        asked = inside.domain.subtract(_after(failing, declared.name, step))
        is_first = variable(declared.name).eq_set(begin)
        first = replace(inside, bound={**inside.bound, declared.offset: of_affine(begin)})
        kept = {offset: name for offset, name in first.iterators.items() if offset != declared.offset}
        condition(test, replace(first, iterators=kept))
        return condition(test, replace(inside, domain=asked.subtract(is_first)))


def _with_iterator(scope: Scope, declared: tree.Declaration) -> Scope:
    """The scope with the iterator under its name; an outer variable of that name is a different one."""
    return replace(scope, iterators={**scope.iterators, declared.offset: declared.name})


def _first(node: tree.ForStatement) -> tuple[tree.Declaration, tree.Expression]:
    """The iterator of a loop and its initial value."""
    match node.first:
        case tree.Declare(variables=(tree.Declarator(declaration=declared, initial=initial),)) if (
            initial is not None
        ):
            return declared, initial
        case tree.Assign(operator="=", target=tree.Name(declaration=declared), value=value):
            return declared, value
    raise Unclear(node, "this loop does not initialise an iterator")


def _head(
    node: tree.ForStatement, declared: tree.Declaration, place: Surroundings
) -> tuple[int, tree.Expression | None, bool]:
    """The step, the test, and whether the iterator steps before the body: `for (i = n; i-- > 0;)`."""
    if node.test is None:
        raise Unclear(node, "this loop does not end")
    if node.step is not None:
        return _step(node.step, declared, place), node.test, False
    test = tree.without_casts(node.test)
    if isinstance(test, tree.Update) and _counts_down(test, declared):
        return -1, None, True
    if isinstance(test, tree.Binary) and test.operator == ">":
        left = tree.without_casts(test.left)
        if isinstance(left, tree.Update) and _counts_down(left, declared):
            ahead = _one_more(left)
            return -1, replace(test, left=ahead), True
    raise Unclear(node, "this loop does not change its iterator")


def _counts_down(node: tree.Update, declared: tree.Declaration) -> bool:
    target = node.target
    is_iterator = isinstance(target, tree.Name) and target.declaration.offset == declared.offset
    return is_iterator and node.operator == "--" and not node.is_prefix


def _one_more(node: tree.Update) -> tree.Binary:
    """`i--` in a test, in terms of the value of i in the body: i + 1."""
    one = tree.Number(node.place, node.type, "1", 1)
    return tree.Binary(node.place, node.type, "+", node.target, one)


def _step(node: tree.Expression, declared: tree.Declaration, place: Surroundings) -> int:
    match node:
        case tree.Update(operator=op, target=tree.Name(declaration=one)) if one.offset == declared.offset:
            return 1 if op == "++" else -1
        case tree.Assign(operator="+=" | "-=" as op, target=tree.Name(declaration=one), value=value):
            size = numeric(value, place.scope)
            if one.offset == declared.offset and size:
                return size if op == "+=" else -size
        case tree.Assign(operator="=", target=tree.Name(declaration=one), value=value):
            if one.offset == declared.offset:
                plain = replace(place.scope.facts, parameters=frozenset())
                scope = replace(_with_iterator(place.scope, declared), facts=plain)
                size = constant_value(affine(value, scope).sub(variable(declared.name)))
                if size:
                    return size
    raise Unclear(node, "this does not add a constant to the iterator")


def _progression(value: isl.PwAff, start: isl.PwAff, step: int) -> isl.Set:
    distance = value.sub(start) if step > 0 else start.sub(value)
    values = distance.ge_set(number(0))
    if abs(step) > 1:
        values = values.intersect(distance.mod_val(whole(abs(step))).eq_set(number(0)))
    return values


def _while_passing(steps: isl.Set, passing: isl.Set, name: str, step: int) -> isl.Set:
    """The steps at which, and before which, the test holds."""
    inside, failing = steps.intersect(passing), steps.subtract(passing)
    if failing.is_empty() or _after(failing, name, step).is_disjoint(inside):
        return inside
    return inside.subtract(_after(failing, name, step))


def _after(values: isl.Set, name: str, step: int) -> isl.Set:
    """{ i : some value comes before i }, with all other names fixed."""
    place = values.find_dim_by_name(PARAM, name)
    if place < 0:
        return values
    line = isl.Set.from_params(values).move_dims(isl.dim_type.set, 0, PARAM, place, 1)
    order = isl.Map.lex_lt(line.get_space()) if step > 0 else isl.Map.lex_gt(line.get_space())
    later = line.apply(order).set_dim_name(isl.dim_type.set, 0, name)
    count = later.dim(PARAM)
    return later.move_dims(PARAM, count, isl.dim_type.set, 0, 1).params()


def may_wrap(kind: Integer | None, step: int) -> bool:
    """Whether an iterator of this type may wrap around: a narrow one, or an unsigned one that counts down."""
    return kind is not None and (kind.bits < 32 or not (kind.signed or step > 0))


def _fits(declared: tree.Declaration, domain: isl.Set, step: int, scope: Scope) -> bool:
    """Whether the iterator's type holds all its values, for all sizes that their types allow.

    Macros that are numbers have the compiler's values.
    """
    kind = integer_of(declared.type)
    if kind is None or not may_wrap(kind, step):
        return True
    value = variable(declared.name)
    following = value.add(number(step))
    outside = value.lt_set(number(kind.least)).union(value.gt_set(number(kind.greatest)))
    if kind.bits < 32:
        outside = outside.union(following.gt_set(number(kind.greatest)))
    outside = outside.union(following.lt_set(number(kind.least)))
    outside = outside.intersect(scope.facts.ranges).intersect(scope.facts.known())
    return bool(domain.intersect(outside).is_empty())
