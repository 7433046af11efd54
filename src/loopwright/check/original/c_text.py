"""isl's functions and sets as C, by the generator's own expressions."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from loopwright.check.original.branch_free import condition_without_branches, expression_without_branches
from loopwright.check.original.choices import chosen_expression
from loopwright.check.original.specification import anonymous, unnamed
from loopwright.emit.expressions import condition_to_c, expression_to_c
from loopwright.generate.conditions import condition
from loopwright.generate.expressions import EvaluationPlace
from loopwright.presburger.sets import OUT


def value(function: isl.PwAff, names: Sequence[str], known: isl.Set, *, branches: bool = True) -> str:
    """`function` of the variables `names`, right wherever `known` holds and it is defined."""
    plain = anonymous(function)
    place = EvaluationPlace(tuple(names), unnamed(known).intersect(plain.domain()))
    found = chosen_expression(plain, place)
    return expression_to_c(found) if branches else expression_without_branches(found)


def test(domain: isl.Set, names: Sequence[str], known: isl.Set, *, branches: bool = True) -> str:
    """A condition that holds exactly on `domain`, wherever `known` holds."""
    place = EvaluationPlace(tuple(names), unnamed(known))
    found = condition(unnamed(domain).coalesce().gist(place.known), place)
    return condition_to_c(found) if branches else condition_without_branches(found)


def components(relation: isl.Map) -> tuple[isl.PwAff, ...]:
    """The functions that a single-valued relation consists of."""
    function = relation.as_pw_multi_aff()
    return tuple(function.get_pw_aff(k) for k in range(function.dim(OUT)))
