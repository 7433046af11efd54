"""Members of structs: paths to them, and members that have values like variables.

A path is the members on the way from a variable to a part of it, or to the targets of its pointers.  `z.d` of
a struct that only its name reaches has values like a variable, and so has a member of a struct in a struct.
Members of unions, bit-fields, elements of arrays and what a pointer leads to have none.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.c import types
from loopwright.c.typed import tree
from loopwright.c.types import ArrayType, CType, Pointer, Record, innermost, unqualified


def root_and_path(lvalue: tree.Expression) -> tuple[tree.Declaration | None, str]:
    """The variable that an lvalue starts with, and the path of members from there."""
    base, path = base_and_path(lvalue)
    return (base.declaration, path or "*") if isinstance(base, tree.Name) else (None, path)


def base_and_path(lvalue: tree.Expression) -> tuple[tree.Expression, str]:
    """The expression that an lvalue starts with, `f(x)` in `f(x)->a.b`, and the path from there."""
    node, path = tree.without_casts(lvalue), ""
    while True:
        match node:
            case tree.MemberAccess(object=inner, name=name, in_union=in_union):
                node, path = tree.without_casts(inner), f".{'' if in_union else name}{path}"
            case tree.Subscript(base=inner) | tree.Unary(operator="*", operand=inner):
                node = tree.without_casts(inner)
            case tree.Binary(operator="+" | "-", left=left, right=right):
                is_swapped = isinstance(unqualified(right.type), Pointer | ArrayType)  # 1 + p
                node = tree.without_casts(right if is_swapped else left)
            case _:
                return node, path


def path_inside(lvalue: tree.Expression) -> str:
    """The path inside the storage that contains an lvalue, after the last dereferenced pointer."""
    node, path = tree.without_casts(lvalue), ""
    while True:
        match node:
            case tree.MemberAccess(object=inner, name=name, is_arrow=is_arrow, in_union=in_union):
                path = f".{'' if in_union else name}{path}"
                if is_arrow:
                    return path
                node = tree.without_casts(inner)
            case tree.Subscript(base=base) if isinstance(
                unqualified(tree.without_casts(base).type), ArrayType
            ):
                node = tree.without_casts(base)
            case _:
                return path


def place_of(lvalue: tree.Expression) -> tuple[int, ...]:
    """The tokens of an lvalue, and how often `*` is applied to them: no other lvalue there has these."""
    place, depth, core = lvalue.place, 0, tree.without_casts(lvalue)
    while isinstance(core, tree.Unary) and core.operator == "*":
        depth, core = depth + 1, tree.without_casts(core.operand)
    return place.first, place.end, place.span.start, depth


def suffixes(path: str) -> list[str]:
    """The suffixes of a path: `.a.b`, `.b` and the empty path for `.a.b`."""
    return [path[place:] for place in range(len(path)) if path[place] == "."] + [""]


def folded(path: str) -> str:
    """A path with each member once: `.next.next.v` becomes `.next.v`, for stores and loads alike."""
    parts = path.split(".")
    return ".".join(parts[:1] + list(dict.fromkeys(parts[1:])))


def paths_of(kind: CType, inside: str) -> list[str]:
    """The paths in a variable of a type of the members that a pointer into it reaches by `inside`."""
    inner = innermost(kind)
    if not isinstance(inner, Record):
        return [] if inside else ["*"] if isinstance(unqualified(kind), ArrayType) else [""]
    found = _member_paths(inner, _DEEPEST)
    return [one for one in found if one.endswith(inside)] if inside else found


_DEEPEST = 4


def _member_paths(record: Record, depth: int) -> list[str]:
    found: list[str] = []
    for one in record.fields or ():
        kind = innermost(one.type)
        name = f".{'' if record.is_union else one.name}"
        found.append(name)
        if isinstance(kind, Record) and depth:
            found += [name + rest for rest in _member_paths(kind, depth - 1)]
    return found


def is_at_the_end(member: tree.MemberAccess) -> bool:
    """Whether a member is the last part of a pointer's target, as far as is known."""
    record = unqualified(member.object.type)
    record = unqualified(record.target) if isinstance(record, Pointer) else record
    fields = record.fields if isinstance(record, Record) and not record.is_union else None
    if fields and fields[-1].name != member.name:
        return False
    outer = tree.without_casts(member.object)
    return member.is_arrow or (isinstance(outer, tree.MemberAccess) and is_at_the_end(outer))


def left_of(path: str, ahead: str) -> list[str]:
    """The rest of a path: `.b` for `.a.b` after `.a`; all elements, `*`, are treated alike."""
    if ahead == "*":
        return [path]
    return [path[len(ahead) :]] if path.startswith(ahead + ".") else []


def variable_of(node: tree.Node) -> tree.Declaration | None:
    """The variable that a node names, or the member of a struct as one."""
    match node:
        case tree.Name(declaration=declared):
            return declared
        case tree.MemberAccess(object=inner, name=name, is_arrow=False, in_union=False, is_bit_field=False):
            outer = variable_of(tree.without_casts(inner))
            if outer is None or not isinstance(types.unqualified(outer.type), types.Record):
                return None
            return replace(outer, name=f"{outer.name}.{name}", type=node.type, part_of=outer)
    return None


def whole_of(one: tree.Declaration) -> tree.Declaration:
    """The variable that a member belongs to; a variable itself."""
    return one if one.part_of is None else whole_of(one.part_of)


def is_apart(one: tree.Declaration, target: tree.Expression) -> bool:
    """Whether a store to a part of a variable, or through a pointer in it, leaves a member as it is."""
    if one.part_of is None:
        return False
    if tree.owner(target) is None:
        return True
    other = variable_of(tree.without_casts(target))
    if other is None:
        return False
    mine, theirs = one.name.split("."), other.name.split(".")
    return any(left != right for left, right in zip(mine, theirs, strict=False))


def first_part(one: tree.Declaration, whole: tree.Expression | None) -> tree.Expression | None:
    """The value that the initialiser of a variable gives to a member; None if it is not followed."""
    if one.part_of is None or whole is None:
        return whole
    outer = first_part(one.part_of, whole)
    record = types.unqualified(one.part_of.type)
    is_list = isinstance(outer, tree.OtherExpression) and outer.kind == "INIT_LIST_EXPR"
    if not is_list or not isinstance(record, types.Record) or not record.fields or record.is_union:
        return None
    assert isinstance(outer, tree.OtherExpression)
    return _member(outer, record.fields, one.name.rpartition(".")[2])


def _member(
    listed: tree.OtherExpression, fields: tuple[types.Field, ...], name: str
) -> tree.Expression | None:
    """The value of a member in a list, 0 if it has none there; None if a list without braces is in it."""
    names = [one.name for one in fields]
    found: tree.Expression = tree.Number(listed.place, types.INT, "0", 0)
    at = 0
    if name not in names or "" in names:
        return None
    for part in listed.parts:
        value = part
        if isinstance(part, tree.OtherExpression) and part.designator:
            dot, *rest = part.designator
            if dot != "." or len(rest) != 1 or rest[0] not in names or not part.parts:
                return None
            at, value = names.index(rest[0]), part.parts[-1]
        if at == len(fields) or not isinstance(value, tree.Expression) or not _is_whole(fields[at], value):
            return None
        found = value if names[at] == name else found
        at += 1
    return found


def _is_whole(field: types.Field, value: tree.Expression) -> bool:
    """Whether a value in a list is that of one whole member."""
    is_list = isinstance(value, tree.OtherExpression) and value.kind == "INIT_LIST_EXPR"
    kind = types.unqualified(field.type)
    is_plain = isinstance(kind, types.Integer | types.Floating | types.Enumeration | types.Pointer)
    return is_list or is_plain
