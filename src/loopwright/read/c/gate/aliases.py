"""Aliases that the file shows: two names for the same memory.

That arrays and pointers do not alias is assumed unless the file shows otherwise: `p = a + 1`
next to `q = a`, `double *q = &s`, an attribute `alias`, a function that returns one of its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

from loopwright.c.syntax import refuse
from loopwright.c.typed import tree
from loopwright.c.typed.effects import may_be_written
from loopwright.c.typed.exchanges import are_permuted, assigned
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.liveness import may_run_again
from loopwright.c.typed.members import path_inside, root_and_path
from loopwright.c.typed.pointer_values import given, inside_lvalue, is_chosen, uncast
from loopwright.c.typed.points_to import PointsTo
from loopwright.c.typed.unfollowed import (
    Memory,
    Object,
    Target,
    calls_of,
    given_to,
    parameter_of,
)
from loopwright.c.types import (
    ArrayType,
    CType,
    Floating,
    Integer,
    Pointer,
    Record,
    Unknown,
    innermost,
    unqualified,
)
from loopwright.model.program import ELSEWHERE, Program
from loopwright.read.c.gate.calls import is_inside, reaching
from loopwright.read.c.gate.pointer_elements import (
    are_different_elements,
    changeable_pointers,
    rows_are_their_own,
)
from loopwright.read.c.gate.shared_rows import RegionUse, refuse_close_rows, refuse_same_rows
from loopwright.read.c.gate.shown_places import refuse_shown_places
from loopwright.read.c.gate.types import number_macros


def refuse_shown_aliases(program: Program, region: TypedRegion, file: TypedFile) -> None:
    """Raise if storage that the region writes has an alias in it."""
    facts = PointsTo(file, region.function, until=None if may_run_again(region) else region.end)
    rows = _rows(region)
    places = reaching(program)
    found = [use for statement in region.statements for use in _uses(statement, facts, rows)]
    found = [use for use in found if not is_inside(use.node, places)]
    refuse_close_rows(found, facts)
    uses = _distinct(found)
    renamed = file.text.renamed
    for use in uses:
        _refuse_alias_attribute(use, renamed)
        refuse_same_rows(use, facts)
        _refuse_changed_pointers(use, facts)
    _refuse_same_arguments(uses, region, file)
    for one, other in combinations(uses, 2):
        is_written = one.is_written or other.is_written
        if is_written and _overlap(one, other, facts) and not are_permuted(one.node, other.node, file):
            names = _names(other, one)
            message = f"'{names[0]}' may be the same memory as '{names[1]}', as far as the file shows"
            hint = "use one name for the memory in the region"
            raise refuse(other.node.place.span, message, hint)
    refuse_shown_places(found, region, file)


def pairs_left(
    program: Program, region: TypedRegion, declared: Mapping[str, tree.Declaration], about: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """The pairs of storage that the file does not show to be disjoint, if the region writes one of the two.

    What a `restrict` pointer points to and is written is accessed only through it.  A local variable without
    pointers to it is disjoint from what pointers point to.  `about` are names that the reader found; those
    that are not arrays of the program count as written.  Macros that are numbers are excluded.
    """
    arrays = [array.name for array in program.arrays]
    written = {access.array for statement in program.statements for access in statement.writes}
    written |= {*about, ELSEWHERE} - set(arrays)
    sizes = [one.text for one in program.parameters if not (one.values and one.values[0] == one.values[1])]
    numbers = number_macros(region) - declared.keys()
    names = [one for one in dict.fromkeys((*arrays, *sizes, *about)) if one not in numbers]
    return tuple(
        (one, other)
        for one, other in combinations(names, 2)
        if written & {one, other}
        and any(_may_lead_anywhere(declared.get(name)) for name in (one, other))
        and not any(_is_apart(declared.get(name), region) for name in (one, other))
    )


def _may_lead_anywhere(one: tree.Declaration | None) -> bool:
    return one is None or isinstance(unqualified(one.type), Pointer | Unknown)


def _is_apart(one: tree.Declaration | None, region: TypedRegion) -> bool:
    """Whether no other name can access this storage."""
    if one is None or one.is_file_scope:
        return False
    kind = unqualified(one.type)
    if isinstance(kind, Pointer):
        return kind.restrict and one.storage is tree.Storage.PARAMETER
    return one.is_own and not isinstance(kind, Unknown) and one.offset not in region.function.addressed


def _names(one: RegionUse, other: RegionUse) -> list[str]:
    """Two uses in words: of one variable, with the members that tell them apart."""
    return [use.root.name + ("" if one.root != other.root else use.path) for use in (one, other)]


def _refuse_same_arguments(uses: list[RegionUse], region: TypedRegion, file: TypedFile) -> None:
    """Raise if two uses are the same memory when the function is called as the file calls it:

    the storage of a use, with the targets of parameters replaced by those of the call's arguments,

    in terms of the caller, and so on to its callers.
    """
    parameters = {one.offset for one in region.function.parameters}
    for one, other in combinations([use for use in uses if not _is_returned(use, region.function)], 2):
        is_one = (one.root, one.path) == (other.root, other.path)
        is_given = any(parameter_of(target) in parameters for target in one.storage | other.storage)
        if is_one or not is_given or not (one.is_written or other.is_written):
            continue
        call = _sharing_call(one, other, region.function, file)
        if call is not None:
            names = " and ".join(f"'{name}'" for name in _names(other, one))
            message = f"{names} may be the same memory, as the call in line {call.place.span.line} shows"
            hint = "if it never is, give the loops to a function that has '*restrict' pointers to it"
            if {one.root.offset, other.root.offset} <= parameters and "*" in (one.path, other.path):
                hint = f"if they never overlap there, declare so: '*restrict {one.root.name}'"
            raise refuse(other.node.place.span, message, hint)


def _is_returned(use: RegionUse, function: TypedFunction) -> bool:
    """Whether only calls assign a local variable: it is then assumed that it does not point to what the
    function's arguments point to."""
    if use.root.storage is not tree.Storage.AUTOMATIC or use.root.offset in function.addressed:
        return False
    values = [value for node in function.giving for value, _ in given(node, use.root, "")]
    return bool(values) and all(isinstance(uncast(one), tree.CallExpression) for one in values)


def _sharing_call(
    one: RegionUse, other: RegionUse, function: TypedFunction, file: TypedFile
) -> tree.CallExpression | None:
    is_promised = any(_is_restrict(use) for use in (one, other))
    pending = [(function, one.storage, other.storage)]
    seen = {function.declaration.offset}
    while pending:
        called, first, second = pending.pop()
        for caller, call in calls_of(file, called):
            facts = PointsTo(file, caller)
            mine, theirs = (_bound(storage, call, called, facts) for storage in (first, second))
            if called is function and is_promised and _is_given_once(one, other, call, called):
                return call
            pair = _given_pair(one, other, call, called)
            if called is function and (is_promised or _are_elements(pair, facts)):
                continue
            is_plain = pair is not None and _is_plain(one) and _is_plain(other)
            if pair is not None and is_plain and called is function and _are_members(pair, facts):
                mine, theirs = map(_itself, pair)
            is_possible = mine & theirs or may_be_written(one.node.type, (other.node.type,))
            if is_possible and facts.meet(mine, theirs) and _may_be_one_member(one, other):
                return call
            if caller.declaration.offset not in seen:
                seen.add(caller.declaration.offset)
                pending.append((caller, mine, theirs))
    return None


def _bound(
    storage: frozenset[Target], call: tree.CallExpression, called: TypedFunction, facts: PointsTo
) -> frozenset[Target]:
    """The storage in terms of a caller."""
    places = {declared.offset: place for place, declared in enumerate(called.parameters)}
    found = [{one for one in storage if parameter_of(one) not in places}]
    for target in storage:
        if isinstance(target, Memory) and parameter_of(target) in places:
            path = str(target.key[2])
            for argument in given_to(call, called, places[parameter_of(target)]):
                found.append({*(facts.reached(argument, path) if path else facts.targets(argument))})
    return frozenset[Target]().union(*found)


def _argument(use: RegionUse, call: tree.CallExpression, called: TypedFunction) -> tree.Expression | None:
    """The argument that a call passes for the parameter of a use."""
    is_given = use.root in called.parameters
    found = given_to(call, called, called.parameters.index(use.root)) if is_given else ()
    return found[0] if len(found) == 1 else None


def _is_plain(use: RegionUse) -> bool:
    """Whether a use accesses the target of a variable directly."""
    return use.path == "*" and not is_chosen(use.node)


def _given_pair(
    one: RegionUse, other: RegionUse, call: tree.CallExpression, called: TypedFunction
) -> tuple[tree.Expression, tree.Expression] | None:
    first, second = (_argument(use, call, called) for use in (one, other))
    return None if first is None or second is None else (first, second)


def _itself(member: tree.Expression) -> frozenset[Target]:
    """The target of a member, if it is unchanged since the function was called."""
    root, path = root_and_path(member)
    return frozenset([Memory(("reached", root.offset if root else -1, path))])


def _are_elements(given: tuple[tree.Expression, tree.Expression] | None, facts: PointsTo) -> bool:
    """Whether a call passes different elements of an array of pointers, whose targets are disjoint."""
    is_known = given is not None and are_different_elements(*given, facts.function)
    return is_known and rows_are_their_own(facts.file)


def _are_members(given: tuple[tree.Expression, tree.Expression], facts: PointsTo) -> bool:
    """Whether a call passes two members of structs that no assignment by name makes alias.

    `x.next->v` and `x.v` may be members of the same struct."""
    paths = [root_and_path(value) for value in given]
    if paths[0][1] == paths[1][1] or None in (paths[0][0], paths[1][0]):
        return False
    if any(path_inside(value) != path for value, (_, path) in zip(given, paths, strict=True)):
        return False
    return not any(facts.meet(*pair) for pair in product(*(assigned(*one, facts) for one in paths)))


def _is_given_once(
    one: RegionUse, other: RegionUse, call: tree.CallExpression, called: TypedFunction
) -> bool:
    """Whether a call passes one variable or member twice, or one that is also used itself."""
    first, second = (_argument(use, call, called) if _is_plain(use) else None for use in (one, other))
    if first is not None and second is not None:
        cores = [tree.without_casts(value) for value in (first, second)]
        is_plain = all(isinstance(core, tree.Name | tree.MemberAccess) for core in cores)
        return is_plain and root_and_path(cores[0]) == root_and_path(cores[1])
    given, variable = (first, other.root) if first is not None else (second, one.root)
    return given is not None and variable.is_file_scope and root_and_path(given)[0] == variable


def _is_restrict(use: RegionUse) -> bool:
    """Whether `restrict` applies to the memory of a use; it does not to the targets of pointers there."""
    kind = unqualified(use.root.type)
    if not isinstance(kind, Pointer) or not kind.restrict or use.path != "*":
        return False
    return isinstance(innermost(kind.target), Integer | Floating)


def _distinct(uses: list[RegionUse]) -> list[RegionUse]:
    found: dict[tuple[int, str, frozenset[Target]], RegionUse] = {}
    for use in uses:
        key = (use.root.offset, use.path, use.storage)
        known = found.get(key)
        if known is None or (use.is_written and not known.is_written):
            found[key] = use
    return list(found.values())


_Rows = Mapping[int, tree.Expression]
"""Pointers of the region that always point to the same row, by their declaration: their initialisers."""


def _rows(region: TypedRegion) -> _Rows:
    nodes = [*tree.walk_all(region.statements)]
    changed = {
        target.declaration.offset
        for node in nodes
        if isinstance(node, tree.Assign | tree.Update) and isinstance(target := node.target, tree.Name)
    }
    return {
        node.declaration.offset: node.initial
        for node in nodes
        if isinstance(node, tree.Declarator)
        and node.initial is not None
        and isinstance(unqualified(node.declaration.type), Pointer)
        and node.declaration.offset not in changed
    }


def _named(lvalue: tree.Expression, rows: _Rows) -> tuple[tree.Declaration | None, str]:
    """The variable whose storage contains an lvalue, or points to it; pointers to its rows are replaced."""
    root, path = root_and_path(lvalue)
    while root is not None and root.offset in rows:
        given = tree.without_casts(rows[root.offset])
        if isinstance(given, tree.Unary) and given.operator == "&":
            given = given.operand
        root, ahead = root_and_path(given)
        path = ahead if path == "*" else path if ahead == "*" else ahead + path
    return root, path


def _uses(statement: tree.Node, facts: PointsTo, rows: _Rows) -> list[RegionUse]:
    """All lvalues that are read or written, the outermost ones: `a[i][j]`, not `a[i]`."""
    found: list[RegionUse] = []
    pending: list[tuple[tree.Node, bool]] = [(statement, False)]
    while pending:
        node, is_written = pending.pop()
        if isinstance(node, tree.Assign | tree.Update):
            pending.append((node.target, True))
            pending += [(part, False) for part in tree.children(node) if part is not node.target]
            continue
        if isinstance(node, tree.Name | tree.MemberAccess | tree.Subscript) or (
            isinstance(node, tree.Unary) and node.operator == "*"
        ):
            use = _use(node, facts, rows, is_written=is_written)
            found += [] if use is None else [use]
            pending += [(part, False) for part in inside_lvalue(node)]
            continue
        pending += [(part, is_written) for part in tree.children(node)]
    return found


def _use(node: tree.Expression, facts: PointsTo, rows: _Rows, *, is_written: bool) -> RegionUse | None:
    root, path = _named(node, rows)
    if root is None or root.storage in (tree.Storage.FUNCTION, tree.Storage.ENUMERATOR):
        return None
    storage = facts.storage_of(node)
    is_direct = storage == frozenset([Object(root)])
    return RegionUse(node, root, path, storage, *_members(node), is_direct, is_written)


def _members(node: tree.Expression) -> tuple[tuple[str, ...], CType | None]:
    """The members inside the storage, outermost first, and the struct that the first is a member of."""
    found: list[str] = []
    record: CType | None = None
    core = tree.without_casts(node)
    while True:
        match core:
            case tree.MemberAccess(object=inner, name=name, is_arrow=is_arrow, in_union=in_union):
                found.insert(0, "" if in_union else name)
                core = tree.without_casts(inner)
                record = unqualified(core.type)
                if is_arrow:
                    return tuple(found), unqualified(record.target) if isinstance(record, Pointer) else None
            case tree.Subscript(base=base) if isinstance(
                unqualified(tree.without_casts(base).type), ArrayType
            ):
                core = tree.without_casts(base)
            case _:
                return tuple(found), record


def _overlap(one: RegionUse, other: RegionUse, facts: PointsTo) -> bool:
    """Whether two different lvalues may access the same memory.

    Different members of one struct type are disjoint; a pointer may point to a struct inside another."""
    if one.root.offset == other.root.offset and one.path == other.path:
        return False
    is_possible = one.storage & other.storage or may_be_written(one.node.type, (other.node.type,))
    if not is_possible or not facts.meet(one.storage, other.storage):
        return False
    return _may_be_one_member(one, other)


def _may_be_one_member(one: RegionUse, other: RegionUse) -> bool:
    if one.members and other.members and not _same_struct(one.record, other.record):
        return True
    pairs = zip(one.members, other.members, strict=False)
    return all(mine == theirs or "" in (mine, theirs) for mine, theirs in pairs)


def _same_struct(one: CType | None, other: CType | None) -> bool:
    """Whether two types are the same struct; an incomplete type is compared by its tag."""
    if isinstance(one, Record) and isinstance(other, Record) and one.tag:
        return one.tag == other.tag
    return one == other


def _refuse_changed_pointers(use: RegionUse, facts: PointsTo) -> None:
    """Raise if a store through a pointer may overwrite that pointer: `p = (char *)&p`."""
    for pointer in changeable_pointers(use.node) if use.is_written and not use.is_direct else ():
        if facts.meet(use.storage, facts.storage_of(pointer)):
            message = f"a write through '{pointer.place.span.text}' may change this pointer"
            raise refuse(use.node.place.span, message, "use a pointer whose address is not taken")


def _refuse_alias_attribute(use: RegionUse, renamed: frozenset[str]) -> None:
    """Raise if the variable, or a pointer's target, has an alias from an attribute, a pragma or assembly."""
    reached = [one.declaration for one in use.storage if isinstance(one, Object)]
    for declared in (use.root, *sorted(reached, key=lambda one: one.offset)):
        names = [word.split("(")[0].strip(" _") for word in declared.attributes]
        is_renamed = declared.is_file_scope and declared.name in renamed
        if is_renamed or any(name in ("alias", "asm", "weakref", "section") for name in names):
            message = f"'{declared.name}' has an attribute by which other names share its memory"
            raise refuse(use.node.place.span, message, "use a variable of its own in the region")
