"""The values that a node of a function stores in a variable: those that may become pointers in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from loopwright.c.typed import tree
from loopwright.c.typed.members import folded, left_of, root_and_path, suffixes
from loopwright.c.types import (
    ArrayType,
    CType,
    Enumeration,
    Field,
    Floating,
    Integer,
    Pointer,
    Record,
    Unknown,
    innermost,
    unqualified,
)


def inside_lvalue(lvalue: tree.Expression) -> list[tree.Expression]:
    """The subscripts of an lvalue, and the pointers that are dereferenced on the way."""
    found: list[tree.Expression] = []
    core = tree.without_casts(lvalue)
    while True:
        match core:
            case tree.Subscript(base=base, index=index):
                found.append(index)
                inner = tree.without_casts(base)
                follows = not isinstance(unqualified(inner.type), ArrayType)
            case tree.MemberAccess(object=base, is_arrow=follows):
                inner = tree.without_casts(base)
            case tree.Unary(operator="*", operand=base):
                inner = tree.without_casts(base)
                follows = not isinstance(unqualified(inner.type), ArrayType)
            case _:
                return found
        if follows:
            found.append(inner)
        core = inner


def chosen(lvalue: tree.Expression) -> tree.Expression | None:
    """The pointer dereferenced for an lvalue, if it is itself an element: of `r[k][i]`, `s[k].v[i]`."""
    core, follows = tree.without_casts(lvalue), False
    while not follows:
        match core:
            case tree.Subscript(base=base) | tree.Unary(operator="*", operand=base):
                core = tree.without_casts(base)
                follows = not isinstance(unqualified(core.type), ArrayType)
            case tree.MemberAccess(object=inner, is_arrow=follows):
                core = tree.without_casts(inner)
            case _:
                return None
    return core if any(isinstance(one, tree.Subscript) for one in tree.walk(core)) else None


def is_chosen(lvalue: tree.Expression) -> bool:
    return chosen(lvalue) is not None


def uncast(node: tree.Expression) -> tree.Expression:
    """The operand of all conversions, implicit and explicit."""
    while isinstance(node, tree.Cast):
        node = node.operand
    return node


def _at_its_address(lvalue: tree.Expression) -> tree.Expression:
    """The lvalue x of `*&x` and `(&x)[0]`, whatever the types."""
    while True:
        match tree.without_casts(lvalue):
            case tree.Unary(operator="*", operand=inner) | tree.Subscript(base=inner):
                address = inner
            case _:
                return lvalue
        address = uncast(address)
        if not isinstance(address, tree.Unary) or address.operator != "&":
            return lvalue
        lvalue = address.operand


def given(node: tree.Node, declared: tree.Declaration, path: str) -> Iterator[tuple[tree.Expression, str]]:
    """The values that a node stores in a variable, or in a part of it on `path`, and the rest of the path
    from there: for `s.a = t` and `.a.p`, t and `.p`."""
    match node:
        case tree.Declarator(declaration=one, initial=initial):
            if one.offset == declared.offset and initial is not None:
                is_itself = not isinstance(initial, tree.OtherExpression)
                parts = (one for one in parts_of(initial) if is_itself or not _is_number(one))
                yield from (
                    (value, rest) for value in parts for rest in _rests(value, path, is_itself=is_itself)
                )
        case tree.Assign(operator="=", target=written, value=value):
            target = _at_its_address(written)
            direct = tree.without_casts(target)
            if isinstance(direct, tree.Name):
                if direct.declaration.offset == declared.offset:
                    yield value, path
                return
            root, ahead = root_and_path(target)
            reached = folded(ahead)
            is_here = root is not None and root.offset == declared.offset and bool(path)
            kind = unqualified(direct.type)
            is_address = any(_is_number_of_a_pointer(part) for part in tree.walk(value))
            if is_here and reached == path and (is_address or isinstance(kind, Pointer | Record)):
                yield value, ""
            elif is_here and isinstance(kind, Record):
                yield from ((value, rest) for rest in left_of(path, reached))
        case tree.CallExpression(arguments=arguments):
            taken = [one for one in arguments if takes(one, declared)]
            others = [one for one in arguments if taken and one not in taken and is_pointer(one)]
            for argument in others:
                core = uncast(argument)
                yield argument, ""
                if isinstance(core, tree.Unary) and core.operator == "&":
                    yield core.operand, ""


def _rests(value: tree.Expression, path: str, *, is_itself: bool) -> list[str]:
    """The rest of a path after a part of an initialiser: in a struct it is unknown which member it is."""
    if is_itself:
        return [path]
    return suffixes(path) if isinstance(unqualified(value.type), Record) else [""]


_ADDRESS_BITS, _BYTE_BITS = 64, 8


def _is_number(value: tree.Expression) -> bool:
    """Whether a part of an initialiser initialises a number that holds no address: it has too few bits, or
    contains no pointer."""
    kind = unqualified(value.type)
    inside = (unqualified(part.type) for part in tree.walk(value) if isinstance(part, tree.Expression))
    is_small = isinstance(kind, Integer) and kind.bits < _ADDRESS_BITS
    has_pointer = any(isinstance(one, Pointer | ArrayType) for one in inside)
    return isinstance(kind, Floating) or is_small or (isinstance(kind, Integer) and not has_pointer)


def takes(argument: tree.Expression, declared: tree.Declaration) -> bool:
    """Whether an argument is the address of a pointer, or of an object with some: the call may set them."""
    core = uncast(argument)
    if isinstance(core, tree.Unary) and core.operator == "&":
        root = tree.owner(core.operand)
        return root is not None and root.offset == declared.offset and _has_pointers(root)
    is_array = isinstance(core, tree.Name) and core.declaration.offset == declared.offset
    return is_array and isinstance(core, tree.Name) and _has_pointers(core.declaration) and _is_array(core)


def _is_array(node: tree.Name) -> bool:
    return isinstance(unqualified(node.type), ArrayType)


def _has_pointers(declared: tree.Declaration) -> bool:
    return isinstance(innermost(declared.type), Pointer | Record | Unknown)


def is_pointer(node: tree.Expression) -> bool:
    return isinstance(unqualified(tree.without_casts(node).type), Pointer | ArrayType)


def target_of(kind: CType) -> CType:
    """The type of what a pointer, or an array as a pointer, points to."""
    pointer = unqualified(kind)
    if isinstance(pointer, Pointer):
        return unqualified(pointer.target)
    return unqualified(pointer.element) if isinstance(pointer, ArrayType) else Unknown("no pointer")


def may_hold_pointers(kind: CType) -> bool:
    """Whether pointers are stored in such memory: they are not in floats, and in structs of these and of
    integers that are shorter than addresses and longer than a byte."""
    inner = unqualified(kind)
    if isinstance(inner, Record):
        return inner.is_union or not inner.fields or any(map(_is_wide, inner.fields))
    return isinstance(inner, Pointer)


def _is_wide(member: Field) -> bool:
    kind = innermost(member.type)
    is_short = isinstance(kind, Integer) and _BYTE_BITS < kind.bits < _ADDRESS_BITS
    return (
        may_hold_pointers(kind) if isinstance(kind, Record) else not (is_short or isinstance(kind, Floating))
    )


def _is_number_of_a_pointer(node: tree.Node) -> bool:
    if not isinstance(node, tree.Cast) or not isinstance(unqualified(node.type), Integer):
        return False
    return isinstance(unqualified(node.operand.type), Pointer | ArrayType)


def may_be_address(value: tree.Expression) -> bool:
    """Whether an operand of a sum may be an address; a narrower number is none."""
    kind = unqualified(tree.without_casts(value).type)
    if isinstance(kind, Integer) and kind.bits < _ADDRESS_BITS:
        return False
    inside = [unqualified(part.type) for part in tree.walk(value) if isinstance(part, tree.Name)]
    has_address = any(isinstance(one, Pointer | ArrayType) for one in inside)
    return isinstance(kind, Pointer | ArrayType | Unknown) or has_address


def passed_on(node: tree.Expression) -> tuple[tree.Expression, ...]:
    """The expressions whose value, or whose address, an expression has: u and v for `c ? u : v`."""
    match node:
        case tree.Conditional(then=then, otherwise=otherwise):
            return then, otherwise
        case (
            tree.Binary(operator=",", right=inner)
            | tree.Cast(operand=inner)
            | tree.Assign(operator="=", value=inner)
            | tree.Assign(target=inner)
            | tree.Update(target=inner)
            | tree.Unary(operator="&", operand=inner)
        ):
            return (inner,)
    return ()


def is_named_pointer(node: tree.Node) -> bool:
    return isinstance(node, tree.Name) and isinstance(unqualified(node.type), Pointer | ArrayType)


def is_no_address(value: tree.Expression) -> bool:
    """Whether a value is a number computed from numbers, such as a size in a struct, or a null pointer."""
    number = uncast(value)
    if isinstance(number, tree.Number) and number.value == 0:
        return True
    nodes = tree.walk(tree.without_casts(value))
    inside = [unqualified(one.type) for one in nodes if isinstance(one, tree.Expression)]
    return all(isinstance(one, Integer | Floating) for one in inside)


def store_no_address(parameters: Iterable[tree.Declaration], nodes: Iterable[tree.Node]) -> bool:
    """Whether a function stores only numbers, passes or returns no pointer, and casts none to a number.

    Bytes, and members of unions, may be parts of pointers.
    """
    if any(_may_be_bytes(one.type) for one in parameters):
        return False
    for node in nodes:
        match node:
            case tree.Cast(type=kind, operand=operand, is_implicit=is_implicit):
                is_address = is_pointer(operand) or isinstance(unqualified(kind), Pointer)
                if is_address and (not is_implicit or _may_be_bytes(kind) or _may_be_bytes(operand.type)):
                    return False
            case tree.Assign(target=target):
                if not isinstance(unqualified(tree.without_casts(target).type), Integer | Floating):
                    return False
            case tree.MemberAccess(in_union=True):
                return False
            case tree.Return(value=value) if value is not None and is_pointer(value):
                return False
            case tree.CallExpression(arguments=arguments):
                if any(map(is_pointer, arguments)):
                    return False
    return True


def is_cast_pointer(value: tree.Expression) -> bool:
    """Whether the source casts a pointer to another type, through which numbers may be written."""
    core = tree.without_casts(value)
    return isinstance(core, tree.Cast) and is_pointer(core.operand)


def _may_be_bytes(kind: CType) -> bool:
    """Whether a pointer may point to the bytes of anything: `void *`, `char *`, or an unknown type."""
    pointer = unqualified(kind)
    inner = unqualified(pointer.target) if isinstance(pointer, Pointer) else pointer
    is_known = isinstance(inner, Floating | Pointer | Record | ArrayType | Enumeration)
    return isinstance(pointer, Pointer) and not (is_known or (isinstance(inner, Integer) and inner.bits > 8))


def is_returned_alone(
    nodes: Iterable[tree.Node], declared: tree.Declaration, is_library: Callable[[tree.Declaration], bool]
) -> bool:
    """Whether the pointers in a variable are found only in the result of its function."""
    nodes = tuple(nodes)
    around = tree.parents(nodes)
    names = (one for one in nodes if isinstance(one, tree.Name) and one.declaration.offset == declared.offset)
    return all(_stays(one, around, is_library) for one in names)


def _stays(
    node: tree.Node, around: Mapping[int, tree.Node], is_library: Callable[[tree.Declaration], bool]
) -> bool:
    """Whether a use of a pointer, or of a struct with pointers, stores it nowhere: it is returned, set or
    compared, or numbers that it points to are accessed."""
    inner, outer = tree.with_conversions(node, around)
    match outer:
        case tree.Return() | tree.IfStatement() | tree.Unary(operator="!") | tree.SizeOf():
            return True
        case tree.Binary(operator="==" | "!=" | "&&" | "||"):
            return True
        case tree.Assign(target=target):
            is_whole = isinstance(around.get(id(outer)), tree.Evaluate)
            return inner is target and (is_whole or _stays(outer, around, is_library))
        case tree.Subscript() | tree.Unary(operator="*"):
            _, address = tree.with_conversions(outer, around)
            is_number = isinstance(unqualified(outer.type), Integer | Floating)
            if isinstance(address, tree.SizeOf):
                return True
            return is_number and not (isinstance(address, tree.Unary) and address.operator == "&")
        case tree.MemberAccess():
            is_number = isinstance(unqualified(outer.type), Integer | Floating) and not outer.in_union
            return is_number or _stays(outer, around, is_library)
        case tree.Cast():
            return _stays(outer, around, is_library)
        case tree.CallExpression(callee=callee):
            is_whole = isinstance(around.get(id(outer)), tree.Evaluate)
            is_known = callee is not None and callee.name in _KEEPING_NOTHING and is_library(callee)
            is_kept = callee is None or callee.name == "memcpy"
            return is_whole and is_known and (not is_kept or _leads_to_numbers(node))
    return False


def _leads_to_numbers(node: tree.Node) -> bool:
    """Whether the object that a pointer points to contains no pointers that may be copied."""
    kind = unqualified(node.type) if isinstance(node, tree.Expression) else None
    inner = (
        kind.target if isinstance(kind, Pointer) else kind.element if isinstance(kind, ArrayType) else None
    )
    return inner is not None and isinstance(unqualified(inner), Integer | Floating)


_KEEPING_NOTHING = ("free", "memset", "memcpy")


_FOLLOWED = ("INIT_LIST_EXPR", "COMPOUND_LITERAL_EXPR", "StmtExpr", "GENERIC_SELECTION_EXPR", "designated")


def is_followed(value: tree.OtherExpression) -> bool:
    """Whether an expression outside the model has the value of one of its parts: an initialiser, a block."""
    return value.kind in _FOLLOWED


def parts_of(initial: tree.Expression) -> Iterator[tree.Expression]:
    """The values in an initialiser."""
    if isinstance(initial, tree.OtherExpression) and is_followed(initial):
        for part in initial.parts:
            for one in values_in(part):
                yield from parts_of(one)
    else:
        yield initial


def values_in(part: tree.Node) -> Iterator[tree.Expression]:
    """The expression itself; of statements with a value, all pointers that they name."""
    if isinstance(part, tree.Expression):
        yield part
    else:
        yield from (one for one in tree.walk(part) if isinstance(one, tree.Name) and is_named_pointer(one))


def addressed(nodes: Iterable[tree.Node]) -> frozenset[int]:
    """The variables, by their declarations, whose address is taken, or that are arrays used as pointers."""
    found: set[int] = set()
    decayed: list[tree.Cast] = []
    subscripted: set[tuple[int, int]] = set()
    for node in nodes:
        match node:
            case tree.Unary(operator="&", operand=operand):
                taken = tree.owner(operand)
                found |= set() if taken is None else {taken.offset}
            case tree.Subscript(base=base):
                subscripted.add((base.place.first, base.place.end))
            case tree.Cast(is_implicit=True) if isinstance(unqualified(node.operand.type), ArrayType):
                decayed.append(node)
    for cast in decayed:
        root = tree.owner(cast.operand)
        if root is not None and (cast.place.first, cast.place.end) not in subscripted:
            found.add(root.offset)
    return frozenset(found)
