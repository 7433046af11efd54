"""Different elements of an array of pointers: `f(r[k], r[k - 1])` passes two; and self-modifying pointers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loopwright.c.typed import tree
from loopwright.c.typed.effects import may_be_written
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.types import ArrayType, Integer, Pointer, innermost, unqualified

_ALLOCATE = ("malloc", "calloc", "aligned_alloc")
_Sum = Counter[int]
"""A sum of variables by their declarations, each with its factor; the constant is at `CONSTANT`."""
CONSTANT = -1
_LEAST_WRAP = 1 << 8
"""For every integer type used in the computation, the sum is the same modulo this number."""


def are_different_elements(one: tree.Expression, other: tree.Expression, caller: TypedFunction) -> bool:
    """Whether two arguments of a call are pointers at different indices of one array.

    `r[k]` and `r[j]` are, if `j = k - 1;` is before the call.
    """
    first, second = tree.without_casts(one), tree.without_casts(other)
    if not isinstance(first, tree.Subscript) or not isinstance(second, tree.Subscript):
        return False
    bases = [tree.without_casts(node.base) for node in (first, second)]
    roots = [node.declaration for node in bases if isinstance(node, tree.Name)]
    if len(roots) < 2 or roots[0].offset != roots[1].offset:
        return False
    if not all(isinstance(unqualified(node.type), Pointer) for node in (first, second)):
        return False
    sums = [linear_sum(node.index) for node in (first, second)]
    if sums[0] is None or sums[1] is None:
        return False
    found = _difference(*(_with_values(one, first, caller) for one in sums if one is not None))
    is_known = not any(factor for name, factor in found.items() if name != CONSTANT)
    return is_known and found[CONSTANT] % _LEAST_WRAP != 0


def _difference(one: _Sum, other: _Sum) -> _Sum:
    found = Counter(one)
    found.subtract(other)
    return found


def linear_sum(node: tree.Expression, factor: int = 1) -> _Sum | None:
    """A sum of variables with constant factors, and a constant; None for anything else."""
    core = tree.without_casts(node)
    match core:
        case tree.Number(value=int(value)):
            return Counter({CONSTANT: factor * value})
        case tree.Name(declaration=declared) if isinstance(declared.type, Integer) and declared.type.rank:
            return Counter({declared.offset: factor})
        case tree.Binary(operator="+" | "-", left=left, right=right):
            sign = 1 if core.operator == "+" else -1
            first, second = linear_sum(left, factor), linear_sum(right, sign * factor)
            if first is None or second is None:
                return None
            first.update(second)
            return first
        case tree.Binary(operator="*", left=left, right=right):
            for number, other in ((left, right), (right, left)):
                if isinstance(times := tree.without_casts(number), tree.Number) and type(times.value) is int:
                    return linear_sum(other, factor * times.value)
    return None


def _with_values(found: _Sum, at: tree.Expression, caller: TypedFunction) -> _Sum:
    """The sum with the values of variables that preceding statements of the block have just set."""
    before = _statements_before(at, caller.body)
    for name in [one for one in found if one != CONSTANT]:
        value = _last_value(name, before, caller)
        if value is not None:
            factor = found.pop(name)
            found.update({part: factor * times for part, times in value.items()})
    return found


def _statements_before(at: tree.Expression, body: tree.CompoundStatement) -> tuple[tree.Statement, ...]:
    """The statements before the one at this place in its block, the last one first."""
    blocks = [body, *(node for node in tree.walk(body) if isinstance(node, tree.CompoundStatement))]
    around = [one for one in blocks if one.place.first <= at.place.first < one.place.end]
    inner = min(around, key=lambda one: one.place.end - one.place.first)
    before = tuple(one for one in inner.statements if one.place.end <= at.place.first)
    is_plain = isinstance(inner.statements[len(before)], tree.Evaluate)
    return before[::-1] if is_plain else ()


def _last_value(name: int, before: tuple[tree.Statement, ...], caller: TypedFunction) -> _Sum | None:
    """The value set by the last statement that modifies a variable, if its operands are unchanged."""
    changed = {*caller.addressed}
    for statement in before:
        nodes = [*tree.walk(statement)]
        given = _given(statement, name)
        if given is not None:
            found = linear_sum(given)
            is_kept = found is not None and not found.keys() & (changed | {name})
            return found if is_kept and name not in changed else None
        if any(isinstance(node, tree.Labelled | tree.OtherStatement) for node in nodes):
            return None
        changed |= {root.offset for node in nodes if (root := tree.changed_root(node)) is not None}
        if not all(map(_changes_names, nodes)):
            changed |= _of_the_file(caller)
    return None


def _given(statement: tree.Statement, name: int) -> tree.Expression | None:
    """The value that a statement assigns, if it does nothing else: `j = k - 1;`, `int j = k - 1;`"""
    match statement:
        case tree.Evaluate(value=tree.Assign(operator="=", target=target, value=value)):
            core = tree.without_casts(target)
            return value if isinstance(core, tree.Name) and core.declaration.offset == name else None
        case tree.Declare(variables=(tree.Declarator(declaration=declared, initial=initial),)):
            return initial if declared.offset == name else None
    return None


def _changes_names(node: tree.Node) -> bool:
    """Whether a node modifies nothing but a variable that it names."""
    if isinstance(node, tree.Assign | tree.Update):
        return isinstance(tree.without_casts(node.target), tree.Name)
    return not isinstance(node, tree.CallExpression | tree.OtherExpression)


def _of_the_file(caller: TypedFunction) -> set[int]:
    """The variables in a function that other functions may modify."""
    named = (node.declaration for node in caller.nodes if isinstance(node, tree.Name))
    return {one.offset for one in named if one.is_file_scope or one.storage is tree.Storage.STATIC}


def rows_are_their_own(file: TypedFile) -> bool:
    """Whether a file stores only freshly allocated memory in arrays of pointers."""
    nodes = [node for function in file.functions for node in function.nodes]
    nodes += [variable for variable, _ in file.variables]
    return not any(_stores_a_pointer(node, file) for node in nodes)


def _stores_a_pointer(node: tree.Node, file: TypedFile) -> bool:
    """Whether a pointer that may have aliases is stored in an element."""
    match node:
        case tree.Declarator(declaration=declared, initial=initial):
            is_array = isinstance(unqualified(declared.type), ArrayType)
            return is_array and isinstance(innermost(declared.type), Pointer) and initial is not None
        case tree.Assign(target=target, value=value):
            written = tree.without_casts(target)
            is_pointer = isinstance(unqualified(written.type), Pointer)
            is_element = isinstance(written, tree.Subscript | tree.Unary) and is_pointer
            return is_element and not _allocates(value, file)
        case tree.CallExpression(callee=callee, arguments=arguments):
            is_known = callee is not None and (callee.name == "free" or file.definition(callee) is not None)
            return not is_known and any(map(_leads_to_pointers, arguments))
    return False


def _leads_to_pointers(value: tree.Expression) -> bool:
    while isinstance(value, tree.Cast):
        value = value.operand
    kind = unqualified(value.type)
    if not isinstance(kind, ArrayType | Pointer):
        return False
    reached = kind.element if isinstance(kind, ArrayType) else kind.target
    return isinstance(unqualified(reached), Pointer | ArrayType)


def _allocates(value: tree.Expression, file: TypedFile) -> bool:
    while isinstance(value, tree.Cast):
        value = value.operand
    callee = value.callee if isinstance(value, tree.CallExpression) else None
    is_of_the_library = callee is not None and file.definition(callee) is None
    return is_of_the_library and callee is not None and callee.name in _ALLOCATE


def changeable_pointers(lvalue: tree.Expression) -> Iterator[tree.Expression]:
    """The pointers on the way to an lvalue that it may overlap, by type: `p` of `p[i]`, if it is a char."""
    core = tree.without_casts(lvalue)
    while True:
        match core:
            case tree.Subscript(base=inner) | tree.MemberAccess(object=inner):
                core = tree.without_casts(inner)
            case tree.Unary(operator="*", operand=inner):
                core = tree.without_casts(inner)
            case _:
                return
        if isinstance(unqualified(core.type), Pointer) and may_be_written(core.type, (lvalue.type,)):
            yield core
