"""Generates tests from sets, and expressions from piecewise functions [Grosser2015, section 5.10]."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from loopwright.generate.expressions import EvaluationPlace, expression, linear, written
from loopwright.loops import expressions as ex
from loopwright.loops.sums import LinearSum
from loopwright.loops.traverse import operations, variables
from loopwright.presburger.functions import involved
from loopwright.presburger.named import whole
from loopwright.presburger.sets import DIM, DIV


def condition(domain: isl.Set, place: EvaluationPlace) -> ex.Test:
    """A test that holds exactly on `domain`, given what is known at `place`."""
    domain = domain.compute_divs()
    pieces = domain.get_basic_sets()
    if not pieces:
        return ex.FALSE
    if len(pieces) == 1:
        return _conjunction(pieces[0], place)
    unequal = _disequality(domain, place)
    if unequal is not None:
        return unequal
    tests: list[ex.Test] = []
    for piece in pieces:
        # where an earlier disjunct holds the later ones no longer matter
        simpler = piece.to_set().gist(place.known)
        tests.append(condition(simpler, place) if simpler.n_basic_set() <= 1 else _conjunction(piece, place))
        place = EvaluationPlace(place.names, place.known.subtract(piece.to_set()))
    return ex.TRUE if ex.TRUE in tests else ex.Or(tuple(dict.fromkeys(tests)))


def _disequality(domain: isl.Set, place: EvaluationPlace) -> ex.Test | None:
    """`a != b` where everything known but one equality is in `domain`."""
    if domain.n_basic_set() != 2:
        return None
    rest = place.known.subtract(domain).coalesce().gist(place.known)
    if rest.n_basic_set() != 1:
        return None
    test = _conjunction(rest.get_basic_sets()[0], place)
    if isinstance(test, ex.Compare) and test.relation is ex.Relation.EQ:
        return ex.Compare(ex.Relation.NE, test.left, test.right)
    return None


def _conjunction(piece: isl.BasicSet, place: EvaluationPlace) -> ex.Test:
    """Constraints without integer divisions first: they simplify the others [section 5.10].

    Of these the ones on outer iterators come first: they fail, or move out of a loop, together.
    """
    constraints = sorted(piece.get_constraints(), key=lambda c: (_division_count(c), _innermost(c)))
    tests: list[ex.Test] = []
    for constraint in constraints:
        if constraint.is_div_constraint():
            continue
        holds = isl.BasicSet.from_constraint(constraint).to_set()
        if _division_count(constraint) and place.known.is_subset(holds):
            continue  # two ways to write the same division
        test = constraint_test(constraint, place)
        if test == ex.TRUE:
            continue
        tests.append(test)
        place = place.where(holds)
    distinct = tuple(dict.fromkeys(tests))
    return distinct[0] if len(distinct) == 1 else ex.And(distinct)


def _innermost(constraint: isl.Constraint) -> int:
    """The position of the innermost dimension the constraint mentions, -1 if there is none."""
    positions = range(constraint.dim(DIM))
    return max((k for k in positions if constraint.involves_dims(DIM, k, 1)), default=-1)


def _division_count(constraint: isl.Constraint) -> int:
    return len(involved(constraint.get_aff(), DIV))


def constraint_test(constraint: isl.Constraint, place: EvaluationPlace) -> ex.Test:
    """`constraint` as a comparison, or as a divisibility test where it is one."""
    function = constraint.get_aff()
    if not constraint.is_equality():
        return comparison(linear(function, place), ex.Relation.GE, place)
    return _divisibility(constraint, function, place) or comparison(
        linear(function, place), ex.Relation.EQ, place
    )


def _divisibility(constraint: isl.Constraint, function: isl.Aff, place: EvaluationPlace) -> ex.Test | None:
    """`x % m == 0` for x + m·⌊a/m'⌋ = 0; C's `%` is 0 for the same x, whatever their sign."""
    positions = [k for k in range(function.dim(DIV)) if not function.get_coefficient_val(DIV, k).is_zero()]
    if len(positions) != 1:
        return None
    zero = isl.Val.zero(function.get_ctx())
    modulus = abs(function.get_coefficient_val(DIV, positions[0]).to_python())
    dividend = function.set_coefficient_val(DIV, positions[0], zero)
    remainder = dividend.mod_val(whole(modulus))
    here = place.known.intersect(isl.BasicSet.from_constraint(constraint).to_set())
    if modulus == 1 or not here.is_equal(place.known.intersect(remainder.zero_basic_set().to_set())):
        return None
    argument = linear(dividend, place)
    terms = [(_symmetric(coefficient, modulus), term) for coefficient, term in argument.terms]
    reduced = LinearSum(tuple((c, t) for c, t in terms if c), _symmetric(argument.constant, modulus))
    if sum(c < 0 for c, _ in reduced.terms) * 2 > len(reduced.terms):
        reduced = reduced.negated()
    return ex.Compare(ex.Relation.EQ, ex.Rem(written(reduced), modulus), ex.Int(0))


def _symmetric(value: int, modulus: int) -> int:
    """The representative of `value` modulo `modulus` of the smallest absolute value."""
    remainder = value % modulus
    return remainder - modulus if 2 * remainder > modulus else remainder


def comparison(difference: LinearSum, relation: ex.Relation, place: EvaluationPlace) -> ex.Test:
    """`difference relation 0`, the terms moved to the side where they are positive.

    The side with the innermost iterator stands on the left, and `a > b` is preferred to
    `a >= b + 1`, `a < 0` to `a <= -1`.
    """
    if not difference.terms:
        holds = difference.constant == 0 if relation is ex.Relation.EQ else difference.constant >= 0
        return ex.TRUE if holds else ex.FALSE
    left = LinearSum(tuple((c, t) for c, t in difference.terms if c > 0), 0)
    right = LinearSum(tuple((-c, t) for c, t in difference.terms if c < 0), 0)
    constant = difference.constant
    if left.terms and right.terms and relation is ex.Relation.GE and constant == -1:
        relation, constant = ex.Relation.GT, 0
    if not right.terms or (left.terms and constant < 0):
        right = right.plus_constant(-constant)
    else:
        left = left.plus_constant(constant)
    if _depth(right, place) > _depth(left, place):
        left, right, relation = right, left, ex.MIRRORED[relation]
    if relation is ex.Relation.LE and right == LinearSum((), -1):
        relation, right = ex.Relation.LT, LinearSum((), 0)
    return ex.Compare(relation, written(left), written(right))


def _depth(side: LinearSum, place: EvaluationPlace) -> int:
    return max((place.depth(term) for _, term in side.terms), default=-2)


def piecewise_expression(function: isl.PwAff, place: EvaluationPlace) -> ex.Expr:
    """An expression for a piecewise function; its domain is known to hold at `place`.

    A function that is correct on all pieces is used alone.  The maximum (minimum) of the pieces'
    functions is written as such where on each piece its own function is the largest (smallest);
    otherwise conditions choose.
    """
    if function.n_piece() == 1:
        return expression(function.get_pieces()[0][1].gist(place.known), place)
    pieces = [
        (domain, value)
        for domain, value in function.intersect_domain(place.known).coalesce().get_pieces()
        if not domain.is_empty()
    ]
    if not pieces:
        return ex.Int(0)
    for _, value in pieces:
        if all(domain.is_subset(value.eq_set(other)) for domain, other in pieces if other is not value):
            return expression(value.gist(place.known), place)
    for combine, is_best in ((ex.Max, isl.Aff.ge_set), (ex.Min, isl.Aff.le_set)):
        if all(
            domain.is_subset(is_best(value, other))
            for domain, value in pieces
            for _, other in pieces
            if other is not value
        ):
            return combined(combine, (expression(value, place) for _, value in pieces), place)
    domain, value = pieces[0]
    inside = place.where(domain)
    outside = EvaluationPlace(place.names, place.known.subtract(domain))
    return ex.Select(
        condition(domain.gist(place.known), place),
        expression(value, inside),
        piecewise_expression(function.subtract_domain(domain), outside),
    )


def combined(
    kind: type[ex.Max] | type[ex.Min], arguments: Iterable[ex.Expr], place: EvaluationPlace
) -> ex.Expr:
    """Max or Min of the distinct arguments; the argument itself if there is one.

    Arguments of outer iterators come first, so that invariants of an inner loop are adjacent,
    and of these the shorter ones.
    """

    def key(argument: ex.Expr) -> tuple[int, int, list[str]]:
        return place.depth(argument), operations(argument), sorted(variables(argument))

    distinct = sorted(dict.fromkeys(arguments), key=key)
    return distinct[0] if len(distinct) == 1 else kind(tuple(distinct))
