"""Rows selected by subscripts: arrays of pointers, two of which may point to the same memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, groupby

from loopwright.c.syntax import refuse
from loopwright.c.typed import tree
from loopwright.c.typed.exchanges import is_exchanged
from loopwright.c.typed.file import TypedFunction
from loopwright.c.typed.members import path_inside, root_and_path
from loopwright.c.typed.pointer_values import chosen, is_chosen, uncast
from loopwright.c.typed.points_to import PointsTo
from loopwright.c.typed.stores import copied
from loopwright.c.typed.unfollowed import Memory, Target
from loopwright.c.types import ArrayType, CType, Pointer, Record, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.gate.pointer_elements import CONSTANT, linear_sum


@dataclass(frozen=True)
class RegionUse:
    """An lvalue of the region: its variable, the storage that contains it, and the members on the way."""

    node: tree.Expression
    root: tree.Declaration
    path: str
    """The path of members from the variable."""
    storage: frozenset[Target]
    members: tuple[str, ...]
    record: CType | None
    """The struct that the first of these is a member of, if any."""
    is_direct: bool
    """Whether it is in the storage of the variable itself, with no pointer dereferenced."""
    is_written: bool


def refuse_same_rows(use: RegionUse, facts: PointsTo) -> None:
    """Raise if two pointers selected by subscripts point to the same memory.

    It is assumed that sums, `r[i] = r[0] + i * m`, are disjoint rows, except for arrays of pointers.
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
    elsewhere = [asked.targets(node.value) for asked, node in _stored_elsewhere(use, facts)]
    for one, other in combinations((others, *map(facts.targets, values), *elsewhere), 2):
        if facts.meet(one, other):
            message = f"two pointers in '{use.root.name}' are given the same memory"
            raise refuse(use.node.place.span, message, "use the arrays by their own names in the region")


def refuse_close_rows(uses: Sequence[RegionUse], facts: PointsTo) -> None:
    """Rows at a constant distance, with subscripts that reach the same element of two of them.

    `r[k] = a + 2 * k` makes `r[0][2]` and `r[1][0]` one element.
    """

    def variable(use: RegionUse) -> tuple[int, str]:
        return use.root.offset, use.path

    rows = sorted((use for use in uses if not use.is_direct and is_chosen(use.node)), key=variable)
    for _, same in groupby(rows, variable):
        group = list(same)
        subscripts = [_subscript(use.node) for use in group] if any(use.is_written for use in group) else []
        for distance in _distances(group[0], facts) if subscripts else ():
            if any(_may_meet(*pair, distance) for pair in combinations_with_replacement(subscripts, 2)):
                message = f"rows of '{group[0].root.name}' share elements: two rows are {distance} apart"
                raise refuse(group[0].node.place.span, message, "use the array by its own name in the region")


def _may_meet(one: int | None, other: int | None, distance: int) -> bool:
    """Whether two subscripts, None for unknown ones, name one element in rows so far apart."""
    if one is None or other is None:
        return distance == 1
    return one != other and (one - other) % distance == 0


def _subscript(lvalue: tree.Expression) -> int | None:
    """The constant subscript of a row; None for any other."""
    core = tree.without_casts(lvalue)
    found = linear_sum(core.index) if isinstance(core, tree.Subscript) else Counter[int]()
    is_constant = found is not None and not any(found[name] for name in found if name != CONSTANT)
    return found[CONSTANT] if found is not None and is_constant else None


def _distances(use: RegionUse, facts: PointsTo) -> Iterator[int]:
    """How many elements lie between two rows, where an assignment in a loop makes that a constant."""
    for change in (node for function in _functions_with(use.root, facts) for node in function.giving):
        target = tree.without_casts(change.target) if isinstance(change, tree.Assign) else None
        if not isinstance(change, tree.Assign) or not isinstance(target, tree.Subscript):
            continue
        row, offset = linear_sum(target.index), _offset(uncast(change.value))
        if root_and_path(target) != (use.root, use.path) or row is None or not _named(target.index):
            continue
        if isinstance(uncast(change.value), tree.Update):
            yield 1
        elif offset is not None:
            ratios = {divmod(offset[name], row[name]) for name in row if name != CONSTANT and row[name]}
            yield from (abs(distance) for distance, rest in ratios if distance and not rest)


def _offset(pointer: tree.Expression) -> Counter[int] | None:
    """The sum e of `a + e` and `&a[e]`."""
    match pointer:
        case tree.Binary(operator="+" | "-", left=left, right=right) if _is_pointer(left):
            first, second = _offset(uncast(left)), linear_sum(right, 1 if pointer.operator == "+" else -1)
        case tree.Binary(operator="+", left=left, right=right):
            first, second = _offset(uncast(right)), linear_sum(left)
        case tree.Unary(operator="&", operand=operand):
            element = tree.without_casts(operand)
            if not isinstance(element, tree.Subscript):
                return None
            first, second = _offset(uncast(element.base)), linear_sum(element.index)
        case _:
            return Counter()
    if first is not None and second is not None:
        first.update(second)
    return None if second is None else first


def _is_pointer(node: tree.Expression) -> bool:
    return isinstance(unqualified(uncast(node).type), Pointer | ArrayType)


def _functions_with(variable: tree.Declaration, facts: PointsTo) -> tuple[TypedFunction, ...]:
    return facts.file.functions_with(variable.name) if variable.is_file_scope else (facts.function,)


def _stored_elsewhere(use: RegionUse, facts: PointsTo) -> list[tuple[PointsTo, tree.Assign]]:
    """The pointers, except sums, that are stored under other names where a use selects from."""
    row = chosen(use.node)
    place, member = facts.storage_of(row or use.node), path_inside(_element_of(row or use.node))
    found: list[tuple[PointsTo, tree.Assign]] = []
    for function in facts.file.functions:
        asked = facts.asked(function)
        for node in function.giving:
            target = tree.without_casts(node.target) if isinstance(node, tree.Assign) else None
            is_element = isinstance(target, tree.Subscript | tree.Unary) and tree.root_of(target) != use.root
            if not isinstance(node, tree.Assign) or target is None or not is_element:
                continue
            is_plain = isinstance(unqualified(target.type), Pointer) and not isinstance(
                uncast(node.value), tree.Binary
            )
            is_member = member != "" and path_inside(_element_of(target)) == member
            if is_plain and (is_member or asked.storage_of(target) & place):
                found.append((asked, node))
    return found


def _element_of(lvalue: tree.Expression) -> tree.Expression:
    """The r of `r[k]` and `*r`."""
    match tree.without_casts(lvalue):
        case tree.Subscript(base=inner) | tree.Unary(operator="*", operand=inner):
            return tree.without_casts(inner)
        case other:
            return other


def _is_filled(use: RegionUse, facts: PointsTo) -> bool:
    """Whether an assignment stores one pointer in several elements: `v[j] = a` in a loop, or `*w = a` in a
    function with the parameter w."""
    is_array = isinstance(unqualified(use.root.type), ArrayType)
    for asked, node in _stored_elsewhere(use, facts):
        places = _named(node.target)
        if _is_one_for_all(node, places) and (len(places) > 1 or places & {*asked.function.parameters}):
            return True
    for change in (node for function in _functions_with(use.root, facts) for node in function.giving):
        target = tree.without_casts(change.target) if isinstance(change, tree.Assign) else None
        if not isinstance(change, tree.Assign) or not isinstance(target, tree.Subscript):
            continue
        is_here = root_and_path(target) == (use.root, use.path)
        is_plain = is_array or isinstance(uncast(change.value), tree.Name | tree.Unary)
        is_pointer = isinstance(unqualified(target.type), Pointer)
        if is_here and is_plain and is_pointer and _is_one_for_all(change, _named(target.index)):
            return True
    return False


def _named(node: tree.Node) -> set[tree.Declaration]:
    return {part.declaration for part in tree.walk(node) if isinstance(part, tree.Name)}


def _is_one_for_all(change: tree.Assign, places: set[tree.Declaration]) -> bool:
    """Whether the stored value does not depend on the names that select the element."""
    parts = tree.walk(change.value)
    is_same = not any(isinstance(part, tree.CallExpression | tree.Update | tree.Assign) for part in parts)
    return is_same and bool(places) and not places & _named(change.value)


def _is_shuffled(use: RegionUse, facts: PointsTo) -> bool:
    """Whether structs are copied among the elements selected from, or pointers by a function without a
    definition: `s[1] = s[0]`, `memmove(r, r + 1, n)`."""
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
