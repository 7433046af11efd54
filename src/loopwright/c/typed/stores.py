"""What the functions of a file store in memory, through pointers or in a variable.

The stores of some calls are all found where they are made: the callees see memory by its own types.

    void set(struct S *s, double **d) { s->p = malloc(n); *d = q; }    ..    set(&x.s, &x.d);

sets `.s.p` and `.d` of x, and nothing else in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import permutations

from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.members import path_inside, root_and_path, suffixes
from loopwright.c.typed.pointer_values import (
    given,
    is_cast_pointer,
    is_followed,
    is_no_address,
    is_pointer,
    may_hold_pointers,
    parts_of,
    store_no_address,
    takes,
    target_of,
    uncast,
)
from loopwright.c.typed.unfollowed import (
    called_by,
    calls_of,
    given_to,
    holds,
    is_called_blindly,
    stores_nothing,
)
from loopwright.c.types import FunctionType, Integer, Pointer, Record, unqualified
from loopwright.lazy_dataclass import dataclass

_Store = tuple[tree.Expression, tree.Expression]
"""An lvalue, and the value that is stored in it."""
GivenValue = tuple[TypedFunction, tree.Expression, str]
"""A value with the function that it is in, and the rest of the path from there."""


def stored_by(node: tree.Node) -> Iterator[_Store]:
    """The stores of an assignment or a declaration."""
    match node:
        case tree.Assign(target=target, value=value):
            yield target, value
        case tree.Declarator(declaration=declared, initial=initial) if initial is not None:
            own = tree.Name(initial.place, declared.type, declared)
            yield from ((own, value) for value in parts_of(initial))


@dataclass(frozen=True)
class PointerStore:
    """A store of a pointer or a struct through a pointer, in one function of the file."""

    number: int
    """Its place among the stores of the file."""
    function: TypedFunction
    target: tree.Expression
    value: tree.Expression
    root: tree.Declaration | None
    """The variable that the target starts with."""
    is_whole: bool
    """Whether it stores a struct, and with it all of its members."""


@dataclass(frozen=True)
class FileStores:
    """The stores through pointers of a file, found once and by the member that each of them sets."""

    file: TypedFile

    def setting(self, inside: str) -> Iterator[PointerStore]:
        """The stores that may set what a path inside storage names: of whole structs, and of that path."""
        yield from self._by_path.get(None, ())
        yield from self._by_path.get(inside, ())

    @cached_property
    def _by_path(self) -> Mapping[str | None, list[PointerStore]]:
        """The stores by their path inside the storage; those of whole structs are under None."""
        found: dict[str | None, list[PointerStore]] = {}
        every = ((function, *one) for function in self.file.functions for one in _stores(function, self.file))
        for number, (function, target, value) in enumerate(every):
            is_whole = isinstance(unqualified(target.type), Record)
            store = PointerStore(number, function, target, value, tree.root_of(target), is_whole)
            found.setdefault(None if is_whole else path_inside(target), []).append(store)
        return found


def _stores(function: TypedFunction, file: TypedFile) -> Iterator[_Store]:
    """The stores of pointers and structs through pointers in a function."""
    for node in function.giving:
        if isinstance(node, tree.Assign) and not tree.owner(target := node.target):
            is_stored = is_pointer(target) or isinstance(unqualified(target.type), Record)
            yield from [(target, node.value)] if is_stored else ()
        yield from copied(node, file)


def file_stores(file: TypedFile) -> FileStores:
    return file.once(("stores",), lambda: FileStores(file))


def copied(node: tree.Node, file: TypedFile) -> Iterator[_Store]:
    """The copies that a function without a definition may make between the targets of its arguments."""
    if not isinstance(node, tree.CallExpression) or (
        node.callee and (file.definition(node.callee) or node.callee.name == "bsearch")
    ):
        return
    leading = [one for one in map(uncast, node.arguments) if may_hold_pointers(target_of(one.type))]
    for one, other in permutations(leading, 2):
        yield _led_to(one), _led_to(other)


def _led_to(pointer: tree.Expression) -> tree.Expression:
    """What a pointer points to: `x` for `&x`."""
    if isinstance(pointer, tree.Unary) and pointer.operator == "&":
        return pointer.operand
    return tree.Unary(pointer.place, target_of(pointer.type), "*", pointer)


def stores_ending(
    declared: tree.Declaration, path: str, function: TypedFunction, file: TypedFile
) -> tuple[tuple[tree.Expression, tree.Expression, list[str]], ...]:
    """The stores through pointers of a function that may set a path of a variable by its end, if the pointer
    leads to the variable: each with the rests of the path from there."""
    key = ("ending", declared.offset, path, function.declaration.offset)
    return file.once(key, lambda: tuple(_stores_ending(declared, path, function, file)))


def _stores_ending(
    declared: tree.Declaration, path: str, function: TypedFunction, file: TypedFile
) -> Iterator[tuple[tree.Expression, tree.Expression, list[str]]]:
    tails = sorted({path, *suffixes(path)})
    through = file.once(("through", function.declaration.offset), lambda: tuple(_through(function, file)))
    for target, value, ends in through:
        rests = [one for one in tails if path.removesuffix(one).endswith(ends)]
        if rests and tree.owner(target) in (None, declared):
            yield target, value, rests


def _through(
    function: TypedFunction, file: TypedFile
) -> Iterator[tuple[tree.Expression, tree.Expression, tuple[str, ...]]]:
    """The stores of pointers and structs through pointers, each with the ends of the paths that it sets."""
    for node in function.giving:
        is_through = isinstance(node, tree.Assign) and node.operator == "=" and not tree.owner(node.target)
        assigned = [(node.target, node.value)] if isinstance(node, tree.Assign) and is_through else []
        for target, value in (*assigned, *copied(node, file)):
            if isinstance(unqualified(tree.without_casts(target).type), Pointer | Record):
                yield target, value, paths_stored(target, function, file)


def set_by(call: tree.CallExpression, declared: tree.Declaration, file: TypedFile) -> Iterator[GivenValue]:
    """What a function of the file stores in a pointer whose address it is given."""
    places = [place for place, one in enumerate(call.arguments) if takes(one, declared)]
    function = file.definition(call.callee) if places and call.callee is not None else None
    if function is None:
        return
    given_on = [one for place in places for one in function.parameters[place : place + 1]]
    for node in function.giving:
        if isinstance(node, tree.Assign) and root_and_path(node.target) in [(one, "*") for one in given_on]:
            yield function, node.value, ""


def named_values(
    declared: tree.Declaration,
    path: str,
    own: TypedFunction,
    file: TypedFile,
    *,
    is_called: bool,
    until: int | None,
) -> tuple[GivenValue, ...]:
    """The values that the file stores in a variable by its name, or on the path.

    For a variable of the function `own`, its arguments count if it `is_called`, and changes `until` a token.
    """

    def found() -> Iterator[GivenValue]:
        if declared.is_file_scope or declared.storage is tree.Storage.STATIC:
            functions = file.functions_with(declared.name)
            yield from _first_values(declared, path, own, file)
        else:
            functions = (own,)
            yield from _arguments(declared, path, own, file) if is_called else ()
        is_elsewhere = path != "" and isinstance(unqualified(declared.type), Pointer)
        is_hidden = declared.is_own and not is_elsewhere and declared.offset not in own.addressed
        for function in functions:
            yield from _stored_by_name(declared, path, function, file, until if is_hidden else None)

    key = ("values", declared.offset, path, own.declaration.offset, is_called, until)
    return file.once(key, lambda: tuple(found()))


def _first_values(
    declared: tree.Declaration, path: str, own: TypedFunction, file: TypedFile
) -> Iterator[GivenValue]:
    """The values in the initialisers of the file."""
    for variable, problems in file.variables:
        for value, rest in given(variable, declared, path):
            yield own, value, rest
        if problems and variable.declaration.offset == declared.offset:
            yield from ((own, value, path) for value in variable.sizes)


def _arguments(
    declared: tree.Declaration, path: str, own: TypedFunction, file: TypedFile
) -> Iterator[GivenValue]:
    """The values that the calls of the file give a parameter."""
    for place in (place for place, one in enumerate(own.parameters) if one == declared):
        for caller, call in calls_of(file, own):
            yield from ((caller, one, path) for one in given_to(call, own, place))


def _stored_by_name(
    declared: tree.Declaration, path: str, function: TypedFunction, file: TypedFile, until: int | None
) -> Iterator[GivenValue]:
    """The values that the nodes of a function store, until a token if one is given."""
    for node in function.giving:
        if until is not None and node.place.first >= until:
            continue
        if isinstance(node, tree.CallExpression) and node.callee is not None:
            called = file.definition(node.callee)
            is_seen = called is not None and not any(map(is_cast_pointer, node.arguments))
            if called is not None and is_seen and (_is_harmless(called, file) or is_typed(called, file)):
                continue
            yield from set_by(node, declared, file)
        for value, rest in given(node, declared, path):
            yield function, value, rest


def _is_harmless(called: TypedFunction, file: TypedFile) -> bool:
    """Whether a function stores only numbers."""
    key = ("harmless", called.declaration.offset)
    return not called.problems and file.once(key, lambda: store_no_address(called.parameters, called.nodes))


def is_typed(called: TypedFunction, file: TypedFile) -> bool:
    """Whether a function, and all that it calls, store pointers only through pointers of the right type, and
    give none to functions that are not seen, except those that keep nothing.

    What it returns leads to no pointers: those are not followed to where they are stored."""
    kind = unqualified(called.declaration.type)
    if isinstance(kind, FunctionType) and holds(target_of(kind.result)):
        return False
    key = ("typed", called.declaration.offset)
    return file.once(key, lambda: all(_is_typed(one, file) for one in (called, *called_by(called, file))))


def _is_typed(function: TypedFunction, file: TypedFile) -> bool:
    if function.problems or function.errors or function.jumps_anywhere:
        return False
    seen = set[int]()
    for node in function.nodes:
        if isinstance(node, tree.CallExpression) and not (node.callee and file.definition(node.callee)):
            if not stores_nothing(node.callee, node.arguments, file):
                return False
            seen |= {id(cast) for one in node.arguments for cast in _casts(one)}
        if isinstance(node, tree.Binary) and node.operator in _COMPARING:
            seen |= {id(cast) for one in (node.left, node.right) for cast in _casts(one)}
    return not any(id(node) not in seen and _is_untyped(node, file) for node in function.nodes)


_COMPARING = ("==", "!=", "<", ">", "<=", ">=")


def _casts(value: tree.Expression) -> Iterator[tree.Cast]:
    """The conversions of a value, the last one first."""
    while isinstance(value, tree.Cast):
        yield value
        value = value.operand


def _is_untyped(node: tree.Node, file: TypedFile) -> bool:
    """Whether a node sees memory by another type, or is not modelled."""
    match node:
        case tree.OtherExpression():
            return not is_followed(node)
        case tree.MemberAccess(in_union=True):
            return True
        case tree.Cast(type=kind, operand=operand):
            core = uncast(operand)
            callee = core.callee if isinstance(core, tree.CallExpression) else None
            is_made = callee is not None and file.definition(callee) is None
            is_number = isinstance(unqualified(kind), Integer) and is_pointer(operand)
            inner = [target_of(one) for one in (kind, operand.type)]
            is_view = (
                isinstance(unqualified(kind), Pointer) and inner[0] != inner[1] and any(map(holds, inner))
            )
            is_view = is_view and not isinstance(unqualified(core.type), FunctionType)
            return is_number or (is_view and not is_made and not is_no_address(operand))
    return False


def paths_stored(lvalue: tree.Expression, function: TypedFunction, file: TypedFile) -> tuple[str, ...]:
    """The ends of the paths by which an lvalue may be reached in the objects that contain it: `.d` for `*q`
    where all calls of the function pass `&x.d` for q."""
    inside = path_inside(lvalue)
    core = tree.without_casts(lvalue)
    while isinstance(core, tree.MemberAccess) and not core.is_arrow:
        core = tree.without_casts(core.object)
    match core:
        case tree.Unary(operator="*", operand=pointer) | tree.MemberAccess(object=pointer, is_arrow=True):
            ahead = _paths_given(tree.without_casts(pointer), function, file, frozenset())
            return (inside,) if ahead is None else tuple(sorted({one + inside for one in ahead}))
    return (inside,)


def _paths_given(
    pointer: tree.Expression, function: TypedFunction, file: TypedFile, active: frozenset[int]
) -> set[str] | None:
    """The paths of the members whose addresses are passed for a parameter; None if that is not known."""
    declared = pointer.declaration if isinstance(pointer, tree.Name) else None
    if declared not in function.parameters or declared is None or declared.offset in active:
        return None
    changed = file.once(("changed", function.declaration.offset), lambda: _changed(function))
    if not function.keeps(declared) or declared in changed or is_called_blindly(function, file):
        return None
    place, found = function.parameters.index(declared), set[str]()
    for caller, call in calls_of(file, function):
        for argument in call.arguments[place : place + 1]:
            given = _path_of(tree.without_casts(argument), caller, file, active | {declared.offset})
            if given is None:
                return None
            found |= given
    return found or None


def _path_of(
    argument: tree.Expression, caller: TypedFunction, file: TypedFile, active: frozenset[int]
) -> set[str] | None:
    if not isinstance(argument, tree.Unary) or argument.operator != "&":
        return _paths_given(argument, caller, file, active)
    member = tree.without_casts(argument.operand)
    is_plain = isinstance(member, tree.MemberAccess)
    while isinstance(member, tree.MemberAccess):
        if member.in_union:
            return None
        member = tree.without_casts(member.object)
    return {path_inside(argument.operand)} if is_plain else None


def _changed(function: TypedFunction) -> frozenset[tree.Declaration]:
    """The variables that the assignments of a function change as a whole."""
    written = (node.target for node in function.nodes if isinstance(node, tree.Assign | tree.Update))
    cores = map(tree.without_casts, written)
    return frozenset(one.declaration for one in cores if isinstance(one, tree.Name))
