"""Swaps of pointers and structs in a function, `T t = one; one = other; other = t;`, and their other
assignments."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loopwright.c.typed import tree
from loopwright.c.typed.allocated import is_always_new, is_new, record_of
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.pointer_values import given, is_no_address, uncast
from loopwright.c.typed.points_to import PointsTo
from loopwright.c.typed.unfollowed import Target, is_written_blindly
from loopwright.c.types import ArrayType, CType, Record, unqualified


def exchanges(function: TypedFunction) -> Iterator[tuple[tree.Assign, tree.Assign]]:
    """The assignments `one = other; other = t;` that directly follow `t = one;` or `T t = one;`: the two
    values only change places.  An lvalue that contains a call or an assignment may differ each time."""
    tokens = [token.text for token in function.tokens]
    assigned = [node for node in function.giving if isinstance(node, tree.Assign) and node.operator == "="]
    starting = {node.place.first: node for node in assigned}
    changing = (tree.CallExpression, tree.Update, tree.Assign, tree.OtherExpression)
    for node in function.giving:
        kept = node.initial if isinstance(node, tree.Declarator) else None
        kept = node.value if isinstance(node, tree.Assign) and isinstance(node.target, tree.Name) else kept
        first = None if kept is None else starting.get(kept.place.end + 1)
        second = None if first is None else starting.get(first.place.end + 1)
        if kept is None or first is None or second is None:
            continue
        one, other = ([*tokens[x.place.first : x.place.end]] for x in (kept, first.value))
        swap = ["=", *one, ";", *one, "=", *other, ";", *other, "=", tokens[kept.place.first - 2], ";"]
        start = kept.place.first - 1
        chosen = (part for x in (kept, first.value) for part in tree.walk(x))
        if tokens[start : start + len(swap)] == swap and not any(isinstance(x, changing) for x in chosen):
            yield first, second


def is_exchanged(one: tree.Expression, other: tree.Expression, function: TypedFunction) -> bool:
    """Whether `one = other;` is part of a swap."""
    return any((first.target, first.value) == (one, other) for first, _ in exchanges(function))


def are_permuted(one: tree.Expression, other: tree.Expression, file: TypedFile) -> bool:
    """Whether the file stores only new memory in the pointers of two elements, variables of file scope or
    members of one struct, and swaps them: then they keep pointing to two memories if they once did."""
    bases = [tree.without_casts(node.base) for node in (one, other) if isinstance(node, tree.Subscript)]
    match bases:
        case [tree.MemberAccess() as first, tree.MemberAccess() as second]:
            is_one = tree.root_of(first) == tree.root_of(second)
            return is_one and _are_permuted_members(first, second, file)
        case [tree.Name(declaration=first), tree.Name(declaration=second)]:
            are_seen = first.is_file_scope and second.is_file_scope
            return are_seen and _are_permuted_variables(first, second, file)
    return False


def _are_permuted_members(one: tree.MemberAccess, other: tree.MemberAccess, file: TypedFile) -> bool:
    kinds = [unqualified(node.object.type) for node in (one, other)]
    record = record_of(kinds[0]) or kinds[0]
    names = {one.name, other.name}
    left = _exchanged(file, _member, names)
    if not left or kinds[0] != kinds[1] or not isinstance(record, Record) or len(names) < 2:
        return False
    nodes = [node for function in file.functions for node in function.nodes]
    nodes += [variable for variable, _ in file.variables]
    is_made = any(_is_made(node, record) for node in nodes)
    return not is_made and all(is_always_new(record, name, file, left) for name in names)


def _are_permuted_variables(one: tree.Declaration, other: tree.Declaration, file: TypedFile) -> bool:
    offsets = {one.offset, other.offset}
    left = _exchanged(file, _variable, offsets)
    nodes = [node for function in file.functions for node in function.nodes if id(node) not in left]
    nodes += [variable for variable, _ in file.variables]
    is_blind = any(is_written_blindly(declared, file.functions) for declared in (one, other))
    return bool(left) and not is_blind and not any(_gives(node, offsets, file) for node in nodes)


def _exchanged(
    file: TypedFile, key: Callable[[tree.Expression], object], wanted: set[str] | set[int]
) -> frozenset[int]:
    """The assignments that swap the wanted members or variables."""
    pairs = [pair for function in file.functions for pair in exchanges(function)]
    known = [pair for pair in pairs if {key(tree.without_casts(node.target)) for node in pair} == wanted]
    return frozenset(id(node) for pair in known for node in pair)


def _member(target: tree.Expression) -> str | None:
    return target.name if isinstance(target, tree.MemberAccess) else None


def _variable(target: tree.Expression) -> int | None:
    return target.declaration.offset if isinstance(target, tree.Name) else None


def _is_made(node: tree.Node, record: CType) -> bool:
    """Whether a node builds or copies a struct."""
    match node:
        case tree.Declarator(declaration=declared, initial=initial) if initial is not None:
            kind = unqualified(declared.type)
            return kind == record or isinstance(kind, ArrayType)
        case tree.Assign(target=target):
            return unqualified(target.type) == record
        case tree.OtherExpression(type=kind):
            return unqualified(kind) == record
    return False


def _gives(node: tree.Node, offsets: set[int], file: TypedFile) -> bool:
    """Whether a node may store anything but new memory in one of these variables."""
    match node:
        case tree.Declarator(declaration=declared, initial=value) if value is not None:
            return declared.offset in offsets and not _is_fresh(value, file)
        case tree.Assign(target=tree.Name(declaration=declared), value=value, operator=operator):
            return declared.offset in offsets and not (operator == "=" and _is_fresh(value, file))
        case tree.Update(target=tree.Name(declaration=declared)):
            return declared.offset in offsets
        case tree.Unary(operator="&", operand=tree.Name(declaration=declared)):
            return declared.offset in offsets
    return False


def _is_fresh(value: tree.Expression, file: TypedFile) -> bool:
    return is_no_address(value) or is_new(uncast(value), file)


def assigned(root: tree.Declaration | None, path: str, facts: PointsTo) -> list[frozenset[Target]]:
    """The targets that assignments, by name or through pointers, or calls give a member, except for swaps
    with another one."""
    found = [] if root is None else [*_assigned(root, path, facts)]
    kept = {
        node.declaration
        for asked in {id(one): one for one, _, _ in found}.values()
        for node in asked.function.giving
        if isinstance(node, tree.Declarator) and node.initial and tree.root_of(node.initial) == root
    }
    others = [one for one in found if tree.root_of(one[1]) not in {root, *kept}]
    return [asked.reached(value, rest) if rest else asked.targets(value) for asked, value, rest in others]


def _assigned(
    root: tree.Declaration, path: str, facts: PointsTo
) -> Iterator[tuple[PointsTo, tree.Expression, str]]:
    functions = facts.file.functions_with(root.name) if root.is_file_scope else (facts.function,)
    nodes = [(one, node) for one in functions for node in one.giving]
    nodes += [(facts.function, variable) for variable, _ in facts.file.variables]
    for function, node in nodes:
        if not isinstance(node, tree.CallExpression):
            yield from ((facts.asked(function), *one) for one in given(node, root, path))
    for function, value, rest in facts.set_through_pointers(root, path):
        yield facts.asked(function), value, rest
