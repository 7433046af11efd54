"""Loopwright's own description of loops (`.poly`): the quadruple of PolyGen [Courant2021, section 2].

    param n, m                          # the problem's sizes
    context n >= 1 and m >= 1           # what is known of them
    statement S1(i, j)
      domain    1 <= i <= n and j = i   # which instances run; several lines are a union
      schedule  i, j                    # when; shorter schedules are padded with zeros
      argument  i, j                    # what the call is given; default: the iterators
    option separate 0 : t0 >= 4         # how dimension 0 becomes loops, where t0 >= 4
    isolate   t0 <= n - 4               # the part of the schedule's vectors to generate apart

A clause runs up to the next keyword at the start of a line.
"""

from __future__ import annotations

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.model.schedule import LEAF, Band, LoopType, Member, Schedule
from loopwright.presburger.dimensions import padded
from loopwright.presburger.unions import union_map, union_set
from loopwright.read.affine import FormulaScope, condition, expressions
from loopwright.read.poly_clauses import Clause, PolyText, StatementClauses, parse_clauses
from loopwright.read.text import checked, mistake
from loopwright.source import Source


@dataclass(frozen=True)
class PolyStatement:
    """One statement's domain, schedule vectors and, where they differ from it, call arguments."""

    name: str
    domain: isl.Set
    times: tuple[isl.PwAff, ...]
    arguments: isl.Map | None


def parse(text: str, filename: str) -> Schedule:
    """The schedule a `.poly` file describes: one band over all its statements."""
    source = checked(Source(filename, text))
    parsed = parse_clauses(source)
    scope = FormulaScope(parsed.parameters)
    context = scope.truth(value=True)
    for clause in parsed.contexts:
        context = context.intersect(condition(source, clause.start, clause.end, scope))
    statements = [_statement(source, scope, clauses) for clauses in parsed.statements]
    size = max((len(statement.times) for statement in statements), default=0)
    domain = union_set((one.domain for one in statements), context.get_space())
    schedule = union_map((_schedule(one, size) for one in statements), context.get_space())
    band = _band(source, parsed, schedule, size)
    arguments = {s.name: s.arguments for s in statements if s.arguments is not None}
    return Schedule(domain, context.params(), band if size else LEAF, arguments)


def _statement(source: Source, scope: FormulaScope, clauses: StatementClauses) -> PolyStatement:
    inner = scope.with_dimensions(clauses.iterators)
    domain = inner.truth(value=not clauses.domains)
    for clause in clauses.domains:
        domain = domain.union(condition(source, clause.start, clause.end, inner))
    times = expressions(source, clauses.schedule.start, clauses.schedule.end, inner)
    arguments = None
    if clauses.argument is not None:
        values = expressions(source, clauses.argument.start, clauses.argument.end, inner)
        arguments = _map(inner, values).set_tuple_name(isl.dim_type.in_, clauses.name)
    return PolyStatement(clauses.name, domain.set_tuple_name(clauses.name), tuple(times), arguments)


def _map(scope: FormulaScope, values: list[isl.PwAff]) -> isl.Map:
    """`{ [dimensions] -> [values] }`."""
    result = isl.Map.from_domain_and_range(
        scope.truth(value=True), FormulaScope(scope.parameters).truth(value=True)
    )
    for value in values:
        result = result.flat_range_product(isl.Map.from_pw_aff(value))
    return result


def _schedule(statement: PolyStatement, size: int) -> isl.Map:
    """The instances of the domain to their vectors, zeros at the end."""
    domain = statement.domain
    result = isl.Map.from_domain_and_range(
        domain, isl.Set.universe(domain.get_space().params().set_from_params())
    )
    for value in statement.times:
        named = value.set_tuple_id(isl.dim_type.in_, domain.get_tuple_id())
        result = result.flat_range_product(isl.Map.from_pw_aff(named))
    return padded(result, size)


def _band(source: Source, parsed: PolyText, schedule: isl.UnionMap, size: int) -> Band:
    vectors = FormulaScope(parsed.parameters).with_dimensions(tuple(f"t{k}" for k in range(size)))
    types = [LoopType.DEFAULT] * size
    options = isl.UnionMap.empty(schedule.get_space())
    for option in parsed.options:
        if option.dimension >= size:
            hint = f"the schedule has {size} dimensions, counted from 0"
            raise mistake(source, option.at, f"there is no dimension {option.dimension}", hint=hint)
        if option.where is None:
            types[option.dimension] = option.loop_type
            continue
        where = condition(source, option.where.start, option.where.end, vectors)
        options = options.union(_option(where, option.loop_type, option.dimension))
    return Band(
        schedule,
        tuple(Member(loop_type) for loop_type in types),
        LEAF,
        isolate=_isolate(source, vectors, parsed.isolates),
        options=None if options.is_empty() else options,
    )


def _option(where: isl.Set, loop_type: LoopType, dimension: int) -> isl.UnionMap:
    """`{ vectors -> loop_type[dimension] : where }`."""
    kind = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"{{ {loop_type.value}[{dimension}] }}")
    return isl.UnionMap.from_map(isl.Map.from_domain_and_range(where, kind))


def _isolate(source: Source, vectors: FormulaScope, clauses: tuple[Clause, ...]) -> isl.Map | None:
    """The union of the isolated parts, as a map from no outer dimensions."""
    if not clauses:
        return None
    parts = vectors.truth(value=False)
    for clause in clauses:
        parts = parts.union(condition(source, clause.start, clause.end, vectors))
    return isl.Map.from_range(parts)
