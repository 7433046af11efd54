"""Compares the two readings of a region: statements, loops, order, values, accesses.

If the reader misses an access, every prover accepts an illegal order, since all of them rely on that one
reading.  So everything in the model is extracted twice, by separate code, and must agree: the same
statements in the same loops for the same values; and the accesses of the model must include those of the
typed tree, with the certain ones equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise

import islpy as isl

from loopwright.c.typed import tree
from loopwright.c.typed.expansion import ExpandedToken
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.members import root_and_path
from loopwright.c.types import Qualified
from loopwright.errors import BadInput, Code
from loopwright.model.program import ELSEWHERE, Access, Assumption, AssumptionKind, Program, Statement
from loopwright.presburger.named import (
    everywhere,
    names_of,
    number,
    row_length,
    tuple_map,
    tuple_set,
    variable,
)
from loopwright.presburger.sets import OUT
from loopwright.read.c.gate.numbers import known_values
from loopwright.read.c.gate.types import is_named, iterators_of
from loopwright.read.c.second.accesses import NamedCell, Touched, touched_by_statement
from loopwright.read.c.second.integers import numeric
from loopwright.read.c.second.leaves import Found, Round, Surroundings, Wanted, found_in, may_wrap
from loopwright.read.c.second.relations import AccessCells, cells_of, ranges_of_types, refuse_outside_members
from loopwright.read.c.second.scope import Facts, Scope, Unclear, integer_of
from loopwright.source import Span

_LITERALS = ("true", "false", "TRUE", "FALSE", "NULL")
"""Names that the reader treats as constants if they are undeclared."""
_HINT = "write it more simply; if it is plain C, please report it"


def compare(
    program: Program, region: TypedRegion, file: TypedFile, *, in_order: bool = True
) -> tuple[Assumption, ...]:
    """Raise unless the program agrees with the typed tree; `in_order` compares the schedule, too.

    Returns the assumptions on types that this requires.
    """
    try:
        facts = _facts(program, region, file)
        place = Surroundings(Scope(facts, program.context, {}, {}))
        found = list(found_in(region.statements, place, _wanted(program)))
    except Unclear as failure:
        return _once(program, region, failure)
    if len(found) != len(program.statements):
        raise _refusal(program.region, f"{len(found)} statements are found, not {len(program.statements)}")
    once: list[Assumption] = []
    for one, statement in zip(found, program.statements, strict=True):
        try:
            _compare_statement(program, one, statement)
        except Unclear as failure:
            once += _once(program, region, failure)
    if in_order:
        for (one, first), (other, second) in pairwise(zip(found, program.statements, strict=True)):
            _compare_order(one, first, other, second)
    for loop in (loop for one in found for loop in one.place.loops if not loop.fits):
        raise _refuse_wrapping(loop)
    return tuple(once[:1])


def _once(program: Program, region: TypedRegion, failure: Unclear) -> tuple[Assumption, ...]:
    """An assumption for statements kept whole that are not followed here, and so are read only once.

    Raises if there are none, or iterators may wrap around, which only this reading tells.
    """
    nodes = [*tree.walk_all(region.statements)]
    kinds = [integer_of(declared.type) for _, declared in iterators_of(program, nodes)]
    if not program.set_aside or any(may_wrap(kind, 1) for kind in kinds):
        raise _refusal(failure.node.place.span, failure.reason, failure.hint) from None
    text = f"statements of the region that are kept whole were extracted once, not twice: {failure.reason}"
    return (Assumption(AssumptionKind.DESCRIPTION, text, failure.node.place.span),)


def _refuse_wrapping(loop: Round) -> BadInput:
    declared = loop.declaration
    kind = integer_of(declared.type)
    bits = "few" if kind is None else kind.bits
    message = f"'{declared.name}' has {bits} bits, and may wrap around"
    hint = "count in an int, or state what keeps it in its range: --assume 'n <= 100'"
    return BadInput(Code.REGION_TEXT, message, span=loop.node.place.span, hint=hint)


def _refusal(where: Span, reason: str, hint: str = "") -> BadInput:
    message = reason if hint else f"two readings of this do not agree: {reason}"
    return BadInput(Code.REGION_TEXT, message, span=where, hint=hint or _HINT)


def _wanted(program: Program) -> Wanted:
    """The conditions that the reader kept whole, and the variables that it made statements of."""
    bodies = [statement.body for statement in program.statements]
    iterators = frozenset(name for statement in program.statements for name in statement.iterators)
    whole = frozenset(body.place.start for body in bodies)
    return Wanted(whole, frozenset(body.place.start for body in bodies if body.terminator), iterators)


def _facts(program: Program, region: TypedRegion, file: TypedFile) -> Facts:
    nodes = [*tree.walk_all(region.statements)]
    written: set[int] = set()
    local: set[int] = set()
    functions: dict[int, TypedFunction] = {}
    targets = [root_and_path(node.target) for node in nodes if isinstance(node, tree.Assign | tree.Update)]
    changed = {(root.offset, path) for root, path in targets if root is not None}
    for node in nodes:
        match node:
            case (
                tree.Assign(target=tree.Name(declaration=declared))
                | tree.Update(target=tree.Name(declaration=declared))
            ):
                written.add(declared.offset)
            case tree.Unary(operator="&", operand=tree.Name(declaration=declared)):
                written.add(declared.offset)
            case tree.Declarator(declaration=declared):
                local.add(declared.offset)
            case tree.CallExpression(callee=callee) if callee is not None:
                function = file.definition(callee)
                if function is not None:
                    functions[callee.offset] = function
    calls = _macro_calls(region, lambda token: (token.macro, token.span))
    inner = _macro_calls(region, lambda token: (token.inner and token.inner[0], (token.inner, token.span)))
    named = {place: name for place, name in calls.items() if any(map(is_named, _tokens(region, place)))}
    constants = frozenset(calls.values()) - frozenset(named.values())
    sizes = {name for array in program.arrays for size in array.rows for name in names_of(row_length(size))}
    parameters = frozenset((*program.params, *sizes))
    facts = Facts(
        parameters,
        frozenset(written),
        functions,
        calls,
        _meanings(nodes, local),
        {place: name for one, name in inner.items() for place in _with_parentheses(region, one)},
        constants,
        frozenset(changed),
    )
    facts = replace(facts, tokens=region.function.tokens, listed=_listed(program))
    facts = replace(facts, ranges=ranges_of_types(nodes, facts))
    return replace(facts, values=_values(nodes, facts, file) | _numbers(facts, region, file))


def _meanings(nodes: Sequence[tree.Node], local: set[int]) -> dict[str, int]:
    """The variables that names of the region denote, except those that it declares."""
    meaning: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, tree.Name) and node.declaration.offset not in local:
            declared = node.declaration
            if meaning.setdefault(declared.name, declared.offset) != declared.offset:
                raise Unclear(node, f"two variables are called '{declared.name}' here")
    return meaning


def _values(nodes: Sequence[tree.Node], facts: Facts, file: TypedFile) -> dict[str, int]:
    """The values of macros and `const` integers of file scope that a region names, if they are numbers."""
    scope = Scope(replace(facts, parameters=frozenset()), everywhere(), {}, {})
    found: dict[str, int | None] = {}
    for node in nodes:
        match node:
            case tree.Name(declaration=tree.Declaration(name=name, type=Qualified() as kind) as declared):
                if name in found or not declared.is_file_scope or kind != Qualified(kind.type, is_const=True):
                    continue
                first, held = file.first_value(declared), integer_of(kind)
                value = None if first is None or held is None else numeric(first, scope)
                is_held = value is not None and held is not None and held.least <= value <= held.greatest
                found[name] = value if is_held else None
            case tree.Number() | tree.Binary() | tree.Cast() | tree.Unary() if facts.is_macro(node.place):
                name = facts.text_of(node.place)
                if name.isidentifier() and name not in found:
                    found[name] = numeric(node, scope)
    return {name: value for name, value in found.items() if value is not None}


def _numbers(facts: Facts, region: TypedRegion, file: TypedFile) -> dict[str, int]:
    """The variables declared before a region that always have one value when it is reached."""
    return {
        one.name: values[0]
        for one, values in known_values(region, file).items()
        if len(values) == 1 and facts.meaning.get(one.name) == one.offset
    }


def _listed(program: Program) -> isl.Set:
    """The listed assumptions on sizes, as a set."""
    stated = (one.implies for one in program.assumptions if one.implies is not None)
    return reduce(isl.Set.intersect, stated, everywhere())


def _tokens(region: TypedRegion, place: tuple[int, int]) -> tuple[ExpandedToken, ...]:
    return region.function.tokens[place[0] : place[1]]


def _macro_calls(
    region: TypedRegion, made_by: Callable[[ExpandedToken], tuple[str | None, object]]
) -> dict[tuple[int, int], str]:
    """The tokens that each macro call expanded to: consecutive tokens made by the same call."""
    found: dict[tuple[int, int], str] = {}
    start = region.first
    tokens = region.function.tokens
    for place in range(region.first, region.end + 1):
        if place == region.end or made_by(tokens[place]) != made_by(tokens[start]):
            name = made_by(tokens[start])[0] if start < place else None
            if name is not None:
                found[start, place] = name
            start = place
    return found


def _with_parentheses(region: TypedRegion, place: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The tokens, and those with the parentheses around them, which belong to the same expression."""
    tokens = region.function.tokens
    start, end = place
    yield start, end
    while region.first < start and end < region.end:
        start, end = start - 1, end + 1
        if (tokens[start].text, tokens[end - 1].text) != ("(", ")"):
            return
        yield start, end


def _compare_statement(program: Program, found: Found, statement: Statement) -> None:
    node, body = found.node, statement.body
    place = node.name if isinstance(node, tree.Declarator) else node.place.span
    if place.start != body.place.start:
        raise _refusal(place, f"'{_line(place)}' is not a statement of the model")
    names = tuple(loop.declaration.name for loop in found.place.loops)
    if names != statement.iterators:
        raise _refusal(place, f"the loops around it are over {', '.join(names)}")
    context = program.context
    domain = tuple_set(found.place.scope.domain, statement.name, names).intersect_params(context)
    theirs = statement.domain.intersect_params(context)
    if not (domain.plain_is_equal(theirs) or domain.is_equal(theirs)):
        raise _refusal(place, "it runs for other values of the iterators")
    refuse_outside_members(program, found, statement)
    _compare_accesses(program, found, statement, theirs)


def _line(place: Span) -> str:
    return " ".join(place.text.split())[:40]


def _compare_order(one: Found, first: Statement, other: Found, second: Statement) -> None:
    """Raise unless statements share their common loops, and are in sequence in the innermost one."""
    loops = zip(one.place.loops, other.place.loops, strict=False)
    shared = 0
    for mine, theirs in loops:
        if mine.node is not theirs.node:
            break
        shared += 1
    before, after = _positions(first, one), _positions(second, other)
    if before[:shared] != after[:shared] or before[shared] >= after[shared]:
        raise _refusal(other.node.place.span, "it is in another order, or in another loop")


def _positions(statement: Statement, found: Found) -> list[int]:
    """p0, p1, ... of [p0, i, p1, j, ...], whose other entries are the iterators, negated if counting down."""
    values = [statement.schedule.plain_get_val_if_fixed(OUT, 2 * k) for k in range(statement.depth + 1)]
    if not all(value.is_int() for value in values):
        raise _refusal(statement.body.place, "its time does not follow from its place in the text")
    positions = [int(value.to_python()) for value in values]
    entries = [number(positions[0])]
    for loop, position in zip(found.place.loops, positions[1:], strict=True):
        iterator = variable(loop.declaration.name)
        entries += [iterator if loop.step > 0 else iterator.neg(), number(position)]
    length = statement.schedule.dim(OUT)
    entries += [number(0)] * (length - len(entries))
    times = [f"t {k}" for k in range(length)]
    relation = everywhere()
    for time, entry in zip(times, entries, strict=True):
        relation = relation.intersect(variable(time).eq_set(entry))
    expected = tuple_map(relation, statement.name, statement.iterators, None, times)
    if not expected.is_equal(statement.schedule):
        raise _refusal(statement.body.place, "its time does not follow from its place in the text")
    return positions


def _compare_accesses(program: Program, found: Found, statement: Statement, domain: isl.Set) -> None:
    rows = found.place.rows
    seen = list(touched_by_statement(found.node, rows))
    if isinstance(found.node, tree.Declarator):
        declared = found.node.declaration
        name = tree.Name(found.node.place, declared.type, declared)
        seen.append(Touched(NamedCell(declared.name, declared), is_write=True, must=True, node=name))
    seen = [_by_macro(one, program) for one in seen]
    own = _declared_inside(found.node)
    ours = [one for one in seen if _is_storage(one, found.place.scope, program, own)]
    ours = [one for one in ours if not _is_fixed_in_macro(one, found.place.scope, program)]
    reaches = any(access.array == ELSEWHERE for access in statement.writes)
    if reaches:
        ours = [one for one in ours if any(array.name == one.cell.base for array in program.arrays)]
    relations = [(one, cells_of(one, found, statement, program, domain)) for one in ours]
    for one, cells in relations:
        covering = [a for a in statement.accesses if a.array == one.cell.base and a.is_write == one.is_write]
        known = found.place.scope.facts.known
        if not cells.is_covered(covering, statement, domain) and not cells.is_covered(
            covering, statement, domain.intersect_params(known())
        ):
            what, where = "writes" if one.is_write else "reads", one.node.place.span
            raise _refusal(where, f"it {what} '{_line(where)}', which the model lacks")
    for access in statement.accesses:
        if _is_constant_macro(access, found) or (not access.must and (reaches or access.array == ELSEWHERE)):
            continue
        same = [
            cells
            for one, cells in relations
            if one.cell.base == access.array
            and one.is_write == access.is_write
            and (one.must or not access.must)
        ]
        equal = (not access.must or _are_equal(cells, access, statement, domain, found) for cells in same)
        if not any(equal):
            raise _refusal(
                access.place, f"the model has an access to '{access.array}' that is not found here"
            )


def _are_equal(
    cells: AccessCells, access: Access, statement: Statement, domain: isl.Set, found: Found
) -> bool:
    """Whether two accesses are equal, at least for the known values of the parameters."""
    if cells.equals(access, statement, domain):
        return True
    values = found.place.scope.facts.values
    return bool(values) and cells.equals(
        access, statement, domain.intersect_params(found.place.scope.facts.known())
    )


def _declared_inside(node: tree.Node) -> set[int]:
    """The variables that a statement kept whole declares itself."""
    return {
        one.declaration.offset
        for part in tree.walk(node)
        if isinstance(part, tree.Declare)
        for one in part.variables
    }


def _is_storage(one: Touched, scope: Scope, program: Program, own: set[int]) -> bool:
    """Whether an access is to storage: not to an iterator, a parameter, or a local that is substituted."""
    root = one.cell.root
    if root.offset in own:
        return False
    if root.storage is tree.Storage.UNDECLARED and root.name in _LITERALS:
        return False
    if one.cell.subscripts or one.is_write:
        return True
    if root.offset in scope.iterators or root.offset in scope.bound:
        return False
    return one.cell.base not in program.params


def _by_macro(one: Touched, program: Program) -> Touched:
    """Renames storage that only a macro denotes to the macro's name."""
    names = {array.name for array in program.arrays}
    core, outer = tree.without_casts(one.node), 0
    while core.place.macro is None or core.place.span.text not in names:
        match core:
            case tree.Subscript(base=inner) | tree.Unary(operator="*", operand=inner):
                core, outer = tree.without_casts(inner), outer + 1
            case _:
                return one
    if one.cell.base in names:
        return one
    left = one.cell.subscripts[len(one.cell.subscripts) - outer :]
    return replace(one, cell=replace(one.cell, base=core.place.span.text, subscripts=left))


def _is_constant_macro(access: Access, found: Found) -> bool:
    """Whether an access reads a macro of a header that is a number, which the reader takes for a variable."""
    return not access.is_write and access.place.text in found.place.scope.facts.constants


def _is_fixed_in_macro(one: Touched, scope: Scope, program: Program) -> bool:
    """Whether a macro of the file reads a variable that the region does not write: a constant there."""
    is_unknown = all(array.name != one.cell.base for array in program.arrays)
    is_from_macro = one.node.place.macro is not None and one.node.place.span.text != one.cell.base
    root, path = root_and_path(one.node)
    facts = scope.facts
    is_written = root is None or root.offset in facts.written or (root.offset, path) in facts.changed
    return is_unknown and is_from_macro and not one.is_write and not is_written
