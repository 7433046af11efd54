"""What the functions of a file store in memory, through pointers or in a variable."""

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
    is_pointer,
    may_hold_pointers,
    parts_of,
    store_no_address,
    takes,
    target_of,
    uncast,
)
from loopwright.c.typed.typed_calls import is_typed, paths_stored
from loopwright.c.typed.unfollowed import calls_of, given_to
from loopwright.c.types import Pointer, Record, unqualified
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
