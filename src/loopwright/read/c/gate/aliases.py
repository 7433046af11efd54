"""Two names for one memory, where the file shows it.

That arrays and pointers have no memory in common is taken on trust, but not against the file: `p = a + 1`
beside `q = a`, `double *q = &s`, an attribute `alias`, a function that returns one of its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

from loopwright.c.syntax import refuse
from loopwright.c.typed import tree
from loopwright.c.typed.effects import may_be_written
from loopwright.c.typed.exchanges import are_permuted, is_exchanged
from loopwright.c.typed.file import TypedFile, TypedFunction, TypedRegion
from loopwright.c.typed.liveness import may_run_again
from loopwright.c.typed.pointer_values import inside_lvalue, is_chosen, root_and_path, uncast
from loopwright.c.typed.points_to import PointsTo
from loopwright.c.typed.unfollowed import (
    Memory,
    Object,
    Target,
    calls_of,
    copied,
    renamed_symbols,
)
from loopwright.c.types import ArrayType, CType, Floating, Integer, Pointer, Record, Unknown, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE, Program
from loopwright.read.c.gate.calls import is_inside, reaching
from loopwright.read.c.gate.pointer_elements import (
    are_different_elements,
    changeable_pointers,
    rows_are_their_own,
)
from loopwright.read.c.gate.types import number_macros


@dataclass(frozen=True)
class _Use:
    """An lvalue of the region: its variable, the storage it is in, the members on the way there."""

    node: tree.Expression
    root: tree.Declaration
    path: str
    """The members from the variable on."""
    storage: frozenset[Target]
    members: tuple[str, ...]
    record: CType | None
    """Whose members the first of these is, where there are some."""
    is_direct: bool
    """The storage of the variable itself, no pointer followed."""
    is_written: bool


def refuse_shown_aliases(program: Program, region: TypedRegion, file: TypedFile) -> None:
    """Raise where storage that the region writes has a second name in it."""
    facts = PointsTo(file, region.function, until=None if may_run_again(region) else region.end)
    rows = _rows(region)
    places = reaching(program)
    found = [use for statement in region.statements for use in _uses(statement, facts, rows)]
    uses = _distinct([use for use in found if not is_inside(use.node, places)])
    renamed = renamed_symbols(file)
    for use in uses:
        _refuse_alias_attribute(use, renamed)
        _refuse_same_rows(use, facts)
        _refuse_changed_pointers(use, facts)
    _refuse_same_arguments(uses, region, file)
    for one, other in combinations(uses, 2):
        is_written = one.is_written or other.is_written
        if is_written and _overlap(one, other, facts) and not are_permuted(one.node, other.node, file):
            names = [use.root.name + ("" if one.root != other.root else use.path) for use in (other, one)]
            message = f"'{names[0]}' may be the same memory as '{names[1]}', as far as the file shows"
            hint = "use one name for the memory in the region"
            raise refuse(other.node.place.span, message, hint)


def pairs_left(
    program: Program, region: TypedRegion, declared: Mapping[str, tree.Declaration], about: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """The storage that the file does not show to be apart, one of each two written in the region.

    What a `restrict` pointer leads to and is written is reached through it alone.  A variable of the
    function that nothing points to is apart from what pointers lead to.  `about` are names that the reader
    found; what is not an array of the program is taken to be written.  Macros that are numbers are none.
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
    """Whether no other name can lead to this storage."""
    if one is None or one.is_file_scope:
        return False
    kind = unqualified(one.type)
    if isinstance(kind, Pointer):
        return kind.restrict and one.storage is tree.Storage.PARAMETER
    return one.is_own and not isinstance(kind, Unknown) and one.offset not in region.function.addressed


def _refuse_same_arguments(uses: list[_Use], region: TypedRegion, file: TypedFile) -> None:
    """Two pointers that the function is given, where a call in the file gives it one memory for both."""
    given = {declared.offset: place for place, declared in enumerate(region.function.parameters)}
    pointers = [use for use in uses if use.root.offset in given and not use.is_direct]
    _refuse_variables_as_arguments(pointers, [use for use in uses if use.root.is_file_scope], region, file)
    pairs = [
        (one, other)
        for one, other in combinations(pointers, 2)
        if one.root.offset != other.root.offset and (one.is_written or other.is_written)
    ]
    promised = [pair for pair in pairs if any(_is_restrict(use) for use in pair)]
    for caller, call in calls_of(file, region.function) if pairs else ():
        facts = PointsTo(file, caller)
        for one, other in pairs:
            first, second = (call.arguments[given[use.root.offset] :][:1] for use in (one, other))
            if not first or not second or not _meet((one, first[0]), (other, second[0]), facts):
                continue
            if (one, other) in promised and not _is_one(first[0], second[0]):
                continue
            names = f"'{other.root.name}' and '{one.root.name}'"
            message = f"{names} may be the same memory, as the call in line {call.place.span.line} shows"
            hint = "if it never is, give the loops to a function that has '*restrict' pointers to it"
            if "*" in (one.path, other.path):
                hint = f"if they never overlap there, declare so: '*restrict {one.root.name}'"
            raise refuse(other.node.place.span, message, hint)


def _refuse_variables_as_arguments(
    pointers: list[_Use], others: list[_Use], region: TypedRegion, file: TypedFile
) -> None:
    """A pointer that the function is given beside a variable of the file, where a call gives it that one."""
    pairs = [pair for pair in product(pointers, others) if any(use.is_written for use in pair)]
    for caller, call in calls_of(file, region.function) if pairs else ():
        facts = PointsTo(file, caller)
        for one, other in pairs:
            given = call.arguments[region.function.parameters.index(one.root) :][:1]
            if not given or not facts.meet(_led(one, given[0], facts), other.storage):
                continue
            if not _is_restrict(one) or root_and_path(given[0])[0] == other.root:
                names = f"'{one.root.name}' and '{other.root.name}'"
                message = f"{names} may be the same memory, as the call in line {call.place.span.line} shows"
                raise refuse(one.node.place.span, message, "use one name for the memory in the region")


def _led(use: _Use, argument: tree.Expression, facts: PointsTo) -> frozenset[Target]:
    """What a use of a parameter leads to, where the function is given this argument."""
    is_given = bool(use.members) or (use.path == "*" and not is_chosen(use.node))
    return facts.targets(argument) if is_given else facts.reached(argument, use.path)


def _meet(one: tuple[_Use, tree.Expression], other: tuple[_Use, tree.Expression], facts: PointsTo) -> bool:
    """Whether two uses of parameters may be one memory: what arguments lead to, or pointers there do."""
    if are_different_elements(one[1], other[1], facts.function) and rows_are_their_own(facts.file):
        return False  # at every level
    roots = [root_and_path(argument) for _, argument in (one, other)]
    are_members = "*" not in (roots[0][1], roots[1][1]) and roots[0][1] != roots[1][1]  # of one struct
    are_alike = one[0].path == other[0].path and not are_members
    is_same = are_alike and facts.meet(facts.targets(one[1]), facts.targets(other[1]))
    are_direct = all(x.path == "*" and not is_chosen(x.node) for x, _ in (one, other))
    return is_same or (not are_direct and facts.meet(_led(*one, facts), _led(*other, facts)))


def _is_restrict(use: _Use) -> bool:
    """Whether `restrict` is about the memory of a use: it says nothing of what pointers there lead to."""
    kind = _kind(use)
    if not isinstance(kind, Pointer) or not kind.restrict or use.path != "*":
        return False
    reached = unqualified(kind.target)
    while isinstance(reached, ArrayType):
        reached = unqualified(reached.element)
    return isinstance(reached, Integer | Floating)


def _is_one(one: tree.Expression, other: tree.Expression) -> bool:
    """Whether two arguments are one variable or member: no promise makes them two memories."""
    cores = [tree.without_casts(value) for value in (one, other)]
    is_plain = all(isinstance(core, tree.Name | tree.MemberAccess) for core in cores)
    return is_plain and root_and_path(cores[0]) == root_and_path(cores[1])


def _kind(use: _Use) -> CType:
    return unqualified(use.root.type)


def _distinct(uses: list[_Use]) -> list[_Use]:
    found: dict[tuple[int, str, frozenset[Target]], _Use] = {}
    for use in uses:
        key = (use.root.offset, use.path, use.storage)
        known = found.get(key)
        if known is None or (use.is_written and not known.is_written):
            found[key] = use
    return list(found.values())


_Rows = Mapping[int, tree.Expression]
"""Pointers of the region that stand for a row all the time, by their declaration: what they are given."""


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
    """The variable whose storage an lvalue is in, or leads to, rows of it counted as itself."""
    root, path = root_and_path(lvalue)
    while root is not None and root.offset in rows:
        given = tree.without_casts(rows[root.offset])
        if isinstance(given, tree.Unary) and given.operator == "&":
            given = given.operand
        root, ahead = root_and_path(given)
        path = ahead if path == "*" else path if ahead == "*" else ahead + path
    return root, path


def _uses(statement: tree.Node, facts: PointsTo, rows: _Rows) -> list[_Use]:
    """All lvalues that are read or written, the largest ones: `a[i][j]`, not `a[i]`."""
    found: list[_Use] = []
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


def _use(node: tree.Expression, facts: PointsTo, rows: _Rows, *, is_written: bool) -> _Use | None:
    root, path = _named(node, rows)
    if root is None or root.storage in (tree.Storage.FUNCTION, tree.Storage.ENUMERATOR):
        return None
    storage = facts.storage_of(node)
    is_direct = storage == frozenset([Object(root)])
    return _Use(node, root, path, storage, *_members(node), is_direct, is_written)


def _members(node: tree.Expression) -> tuple[tuple[str, ...], CType | None]:
    """The members inside the storage, the outermost first, and the struct that this one is a member of."""
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


def _overlap(one: _Use, other: _Use, facts: PointsTo) -> bool:
    """Whether two lvalues that are written differently may be the same memory.

    Different members of one kind of struct are apart; a pointer may lead to a struct inside of another."""
    if one.root.offset == other.root.offset and one.path == other.path:
        return False
    is_possible = one.storage & other.storage or may_be_written(one.node.type, (other.node.type,))
    if not is_possible or not facts.meet(one.storage, other.storage):
        return False
    if one.members and other.members and not _same_struct(one.record, other.record):
        return True
    pairs = zip(one.members, other.members, strict=False)
    return all(mine == theirs or "" in (mine, theirs) for mine, theirs in pairs)


def _same_struct(one: CType | None, other: CType | None) -> bool:
    """Where one is not spelled out, the tag says it."""
    if isinstance(one, Record) and isinstance(other, Record) and one.tag:
        return one.tag == other.tag
    return one == other


def _refuse_same_rows(use: _Use, facts: PointsTo) -> None:
    """Pointers that subscripts choose, two of which are given the same memory.

    That sums, `r[i] = r[0] + i * m`, are rows of their own is taken on trust, but for arrays of pointers.
    """
    kind = unqualified(use.root.type)
    if not use.is_written or use.is_direct or not is_chosen(use.node):
        return
    if _is_filled(use, facts) or _is_shuffled(use, facts):
        message = f"several pointers in '{use.root.name}' are given the same memory"
        raise refuse(use.node.place.span, message, "use the arrays by their own names in the region")
    values = facts.contents(use.root, use.path)
    if not isinstance(kind, ArrayType):
        values = [one for one in values if not isinstance(uncast(one), tree.Binary)]
    others: frozenset[Target] = frozenset([Memory(("reached", use.root.offset, use.path))])
    for one, other in combinations((others, *map(facts.targets, values)), 2):
        if facts.meet(one, other):
            message = f"two pointers in '{use.root.name}' are given the same memory"
            raise refuse(use.node.place.span, message, "use the arrays by their own names in the region")


def _functions_with(variable: tree.Declaration, facts: PointsTo) -> tuple[TypedFunction, ...]:
    return facts.file.functions_with(variable.name) if variable.is_file_scope else (facts.function,)


def _is_filled(use: _Use, facts: PointsTo) -> bool:
    """Whether an assignment gives one pointer to the elements it is made for: `v[j] = a` in a loop."""
    is_array = isinstance(unqualified(use.root.type), ArrayType)
    for node in (node for function in _functions_with(use.root, facts) for node in function.giving):
        if not isinstance(node, tree.Assign) or not isinstance(
            target := tree.without_casts(node.target), tree.Subscript
        ):
            continue
        root, path = root_and_path(target)
        is_here = root is not None and root.offset == use.root.offset and path == use.path
        if not is_here or not isinstance(unqualified(target.type), Pointer):
            continue
        counted = {part.declaration.offset for part in tree.walk(target.index) if isinstance(part, tree.Name)}
        used = [
            part
            for part in tree.walk(node.value)
            if isinstance(part, tree.CallExpression | tree.Update | tree.Assign)
        ]
        named = {part.declaration.offset for part in tree.walk(node.value) if isinstance(part, tree.Name)}
        is_plain = is_array or isinstance(uncast(node.value), tree.Name | tree.Unary)
        if counted and not used and is_plain and not counted & named:
            return True
    return False


def _is_shuffled(use: _Use, facts: PointsTo) -> bool:
    """Whether structs, or by a function that is not seen pointers, are copied within what is chosen from:
    `s[1] = s[0]`, `memmove(r, r + 1, n)`."""
    nodes = [(node, one) for one in _functions_with(use.root, facts) for node in one.giving]
    for node, function in nodes:
        places = list(copied(node, facts.file))
        if isinstance(node, tree.Assign) and isinstance(unqualified(node.type), Record):
            places.append((node.target, node.value))
        for pair in places:
            roots = [root.offset for root in map(tree.root_of, pair) if root]
            if roots == [use.root.offset] * 2 and not is_exchanged(*pair, function):
                return True
    return False


def _refuse_changed_pointers(use: _Use, facts: PointsTo) -> None:
    """What is written through a pointer may be this pointer: `p = (char *)&p`."""
    for pointer in changeable_pointers(use.node) if use.is_written and not use.is_direct else ():
        if facts.meet(use.storage, facts.storage_of(pointer)):
            message = f"what is written through '{pointer.place.span.text}' may be this pointer"
            raise refuse(use.node.place.span, message, "use a pointer whose address is not taken")


def _refuse_alias_attribute(use: _Use, renamed: frozenset[str]) -> None:
    """The variable itself, or what a pointer leads to; `renamed` are names that pragmas or assembler set."""
    reached = [one.declaration for one in use.storage if isinstance(one, Object)]
    for declared in (use.root, *sorted(reached, key=lambda one: one.offset)):
        names = [word.split("(")[0].strip(" _") for word in declared.attributes]
        is_renamed = declared.is_file_scope and declared.name in renamed
        if is_renamed or any(name in ("alias", "asm", "weakref", "section") for name in names):
            message = f"'{declared.name}' has an attribute by which other names share its memory"
            raise refuse(use.node.place.span, message, "use a variable of its own in the region")
