"""Members of structs as variables: `z.d` of a struct that only its name reaches has values like a variable.

A member of a struct in a struct is one too.  Members of unions, bit-fields, elements of arrays and what a
pointer leads to are none.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.c import types
from loopwright.c.typed import tree


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
