"""Compares the types that the reader took from the source with the declared ones.

The reader recognises a type by its name.  A name with another meaning (a typedef of a header, a macro) is
found here.  Storage that overlaps other storage, or is volatile, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.c import types
from loopwright.c.syntax import refuse
from loopwright.c.typed import tree
from loopwright.c.typed.effects import effect_in_a_type
from loopwright.c.typed.expansion import ExpandedToken
from loopwright.c.typed.file import TypedRegion
from loopwright.errors import BadInput
from loopwright.model.program import Program
from loopwright.read.c.purity import SPECIAL_NUMBERS


def refuse_types(program: Program, region: TypedRegion) -> None:
    """Raise if a type in the region differs from what the reader assumed."""
    nodes = [*tree.walk_all(region.statements)]
    refuse_storage(nodes)
    _refuse_iterators(program, nodes)
    _refuse_sizes(program, nodes)
    _refuse_elements(program, nodes)


def refuse_effects_in_types(region: TypedRegion) -> None:
    """Raise if the length of an array in a type has a side effect, even if the type is unused."""
    token = effect_in_a_type(region)
    if token is not None:
        message = "this is evaluated for the length of an array in a type"
        raise refuse(token.span, message, "compute the length before the region")


def refuse_storage(nodes: list[tree.Node]) -> None:
    """Raise if storage is volatile, or shared with other storage."""
    for node in nodes:
        _refuse_observed(node)
        _refuse_bit_field(node)
    _refuse_unions(nodes)


def is_named(token: ExpandedToken) -> bool:
    """Whether a token is a name, not a keyword of a type or a number: DBL_MAX is `((double)1.79e+308L)`."""
    return token.is_name and token.text not in _ARITHMETIC and token.text not in SPECIAL_NUMBERS


_ARITHMETIC = frozenset(
    ("char", "short", "int", "long", "signed", "unsigned", "float", "double", "_Complex", "__extension__")
)


def number_macros(region: TypedRegion) -> frozenset[str]:
    """The macros that expand to numbers everywhere in the region: they are not storage of the program."""
    made = [token for token in region.tokens if token.macro is not None]
    named = {token.macro for token in made if is_named(token) or token.follows_place}
    return frozenset(token.macro for token in made if token.macro and token.macro not in named)


def _refuse_observed(node: tree.Node) -> None:
    """Raise for a volatile or atomic access, which must not move, or a thread-local variable."""
    if isinstance(node, tree.Name | tree.MemberAccess) and _is_observed(node.type):
        raise refuse(node.place.span, "this is volatile or atomic: its accesses must stay as they are", _COPY)
    if isinstance(node, tree.Name) and node.declaration.is_thread_local:
        raise refuse(node.place.span, f"each thread has its own '{node.declaration.name}'", _COPY)
    for one in node.variables if isinstance(node, tree.Declare) else ():
        if one.initial is not None and _is_observed(one.declaration.type):
            raise refuse(one.name, "a variable that is volatile or atomic gets a value here", _COPY)


_COPY = "copy it into another variable before the region"


def _is_observed(kind: types.CType) -> bool:
    match kind:
        case types.Qualified(type=inner):
            return types.is_observed(kind) or _is_observed(inner)
        case types.ArrayType(element=element) | types.Pointer(target=element):
            return _is_observed(element)
    return False


def _refuse_bit_field(node: tree.Node) -> None:
    target = node.target if isinstance(node, tree.Assign | tree.Update) else None
    core = None if target is None else tree.without_casts(target)
    if isinstance(core, tree.MemberAccess) and core.is_bit_field:
        raise refuse(
            node.place.span, f"'{core.name}' is a bit-field: a write to it writes other fields, too", _COPY
        )


def _refuse_unions(nodes: list[tree.Node]) -> None:
    """Raise if several members of a union, which share their storage, are used and one is written."""
    members = [node for node in nodes if isinstance(node, tree.MemberAccess) and node.in_union]
    if len({node.name for node in members}) < 2:
        return
    targets = [node.target for node in nodes if isinstance(node, tree.Assign | tree.Update)]
    inside = [one for target in (*targets, *_passed_on(nodes)) for one in _owners(target) if one.in_union]
    for one in inside:
        other = next((node for node in members if node.name != one.name), None)
        if other is not None:
            message = f"'{one.name}' and '{other.name}' are members of a union, and share their storage"
            raise refuse(other.place.span, message, "use one member of it in a region")


def _owners(lvalue: tree.Expression) -> Iterator[tree.MemberAccess]:
    """The members that an lvalue is, is part of, or is reached through."""
    core = tree.without_casts(lvalue)
    while True:
        match core:
            case tree.MemberAccess(object=inner):
                yield core
            case tree.Subscript(base=inner):
                pass
            case tree.Unary(operator="*" | "&" | "__real__" | "__imag__", operand=inner):
                pass
            case _:
                return
        core = tree.without_casts(inner)


def _passed_on(nodes: list[tree.Node]) -> Iterator[tree.Expression]:
    """Arrays that decay to pointers, and operands of `&`: other code may write them."""
    for node in nodes:
        is_conversion = isinstance(node, tree.Cast) and node.is_implicit
        for part in () if is_conversion else tree.children(node):
            core = tree.without_casts(part) if isinstance(part, tree.Expression) else None
            is_address = isinstance(core, tree.Unary) and core.operator == "&"
            is_array = core is not None and isinstance(types.unqualified(core.type), types.ArrayType)
            is_element = isinstance(node, tree.Subscript) and part is node.base
            if core is not None and (is_address or (is_array and not is_element)):
                yield core


def iterators_of(
    program: Program, nodes: list[tree.Node]
) -> list[tuple[tree.ForStatement, tree.Declaration]]:
    """The loops and their iterators, except loops inside statements that are kept whole."""
    bodies = [statement.body.place for statement in program.statements]
    found = []
    for node in nodes:
        if isinstance(node, tree.ForStatement) and any(place.contains(node.place.span) for place in bodies):
            continue
        match node:
            case tree.ForStatement(first=tree.Declare(variables=(tree.Declarator(declaration=declared), *_))):
                found.append((node, declared))
            case tree.ForStatement(first=tree.Assign(target=tree.Name(declaration=declared))):
                found.append((node, declared))
    return found


def _refuse_iterators(program: Program, nodes: list[tree.Node]) -> None:
    """Raise if the type of an iterator, in which new loops count, is misread and does not include int."""
    for node, declared in iterators_of(program, nodes):
        seen = _type_read(program, node, declared.name)
        kind = types.unqualified(declared.type)
        kind = kind.integer if isinstance(kind, types.Enumeration) else kind
        if isinstance(kind, types.Unknown) and declared.storage is tree.Storage.UNDECLARED:
            continue
        if isinstance(kind, types.Unknown) and isinstance(types.named_type(seen), types.Integer):
            continue
        if isinstance(kind, types.Unknown):
            raise _unknown(node, f"the iterator '{declared.name}'", kind)
        if not isinstance(kind, types.Integer):
            raise refuse(
                node.place.span, f"the iterator '{declared.name}' is not an integer", "declare it as int"
            )
        taken = types.named_type(seen or "int")
        if (not kind.signed or kind.bits < 32) and taken != kind:
            raise _misread(node, f"the iterator '{declared.name}'", kind)


def _type_read(program: Program, loop: tree.ForStatement, name: str) -> str:
    """The type of a loop's iterator according to the reader; "" if the loop contains no statement."""
    place = loop.place.span
    inside = [one for one in program.statements if place.start <= one.body.place.start < place.end]
    pairs = (zip(one.iterators, one.iterator_types, strict=False) for one in inside)
    return next((kind for each in pairs for iterator, kind in each if iterator == name), "")


def _refuse_sizes(program: Program, nodes: list[tree.Node]) -> None:
    """Raise for a size of unknown type, which may not be an integer, except for the standard's names."""
    for node in nodes:
        if isinstance(node, tree.Name) and node.declaration.name in program.params:
            name, kind = node.declaration.name, types.unqualified(node.declaration.type)
            read = program.file.declarations.visible(name, program.region)
            is_standard = read is not None and isinstance(types.named_type(read.type), types.Integer)
            is_declared = node.declaration.storage is not tree.Storage.UNDECLARED
            if isinstance(kind, types.Unknown) and is_declared and not is_standard:
                raise _unknown(node, f"'{name}'", kind)


def _unknown(node: tree.Node, what: str, kind: types.Unknown) -> BadInput:
    message = f"it is not known what {what} is: {kind.reason}"
    return refuse(node.place.span, message, "give the directory of the header that declares it: -I DIRECTORY")


def undeclared_iterators(program: Program, region: TypedRegion) -> list[str]:
    """The iterators of a fragment that are declared elsewhere."""
    nodes = [*tree.walk_all(region.statements)]
    found = (declared for _, declared in iterators_of(program, nodes))
    return list(dict.fromkeys(one.name for one in found if one.storage is tree.Storage.UNDECLARED))


def _misread(node: tree.Node, what: str, kind: types.CType) -> BadInput:
    if isinstance(kind, types.Floating) and kind.bits > types.DOUBLE.bits:
        message = f"{what} has numbers of {kind.bits} bits, which are not computed with here"
        return refuse(node.place.span, message, "use double, or leave these statements out of the region")
    sign = "a signed" if isinstance(kind, types.Integer) and kind.signed else "an unsigned"
    described = (
        f"{sign} integer of {kind.bits} bits" if isinstance(kind, types.Integer) else "of another type"
    )
    return refuse(node.place.span, f"{what} is {described}, which its declaration does not show", _DECLARE)


_DECLARE = "declare it by a type of C itself, such as int"


def _refuse_elements(program: Program, nodes: list[tree.Node]) -> None:
    """Raise for storage whose type name, as the reader knows it, means another type here."""
    taken = {array.name: array.element_type for array in program.arrays if array.element_type is not None}
    in_rows = {array.name for array in program.arrays if array.rank}
    for node in nodes:
        if isinstance(node, tree.Name) and node.declaration.name in taken:
            read = types.named_type(program.file.declarations.resolved(taken[node.declaration.name] or ""))
            kind = element_type(node.declaration.type)
            if not _agree(read, kind):
                name = f"'{node.declaration.name}'"
                if node.declaration.name in in_rows and kind == types.unqualified(node.declaration.type):
                    said = f"the compiler does not accept the declaration of {name}"
                    raise refuse(node.place.span, said, "compile the file: its message says what is wrong")
                raise _misread(node, name, kind)


def _agree(read: types.CType, kind: types.CType) -> bool:
    """Whether a type is what the reader concluded from its name."""
    return isinstance(read, types.Unknown) or isinstance(kind, types.Unknown) or read == kind


def element_type(kind: types.CType) -> types.CType:
    """The innermost element type of an array or pointer."""
    found = types.unqualified(kind)
    while isinstance(found, types.ArrayType | types.Pointer):
        found = types.unqualified(found.element if isinstance(found, types.ArrayType) else found.target)
    return found
