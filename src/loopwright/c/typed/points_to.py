"""A points-to analysis: where pointers may point, as far as the file shows.

It is flow-insensitive: a pointer may point wherever any assignment of the file lets it.  A target is

    Object(a)        the storage of a variable
    Memory(key)      storage that the file shows to be a single object, and nothing else about: what a
                     parameter points to, what one call of malloc returned, what a member points to

Different targets are not shown to overlap; the reader lists the assumption that they do not.  A pointer
from a place where addresses are not tracked may point to everything that was put there (`UNSEEN`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import partial

from loopwright.c.typed import members, tree
from loopwright.c.typed.allocated import from_outside, others_returned, returned_values
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.least import LeastSets
from loopwright.c.typed.pointer_values import (
    is_followed,
    is_pointer,
    may_be_address,
    parts_of,
    passed_on,
    takes,
    values_in,
)
from loopwright.c.typed.stores import (
    GivenValue,
    PointerStore,
    file_stores,
    named_values,
    paths_stored,
    stored_by,
    stores_ending,
)
from loopwright.c.typed.unfollowed import (
    UNSEEN,
    Memory,
    Object,
    Target,
    escaping,
    has_other_names,
    is_called_blindly,
    is_from_outside,
    is_from_union,
    is_reached,
    is_written_blindly,
    parameter_of,
    with_other_names,
    with_pointers_to,
)
from loopwright.c.types import ArrayType, FunctionType, Integer, Pointer, Unknown, unqualified
from loopwright.lazy_dataclass import dataclass

_SAME_OR_NEW = ("realloc", "reallocarray")


@dataclass
class PointsTo:
    """The points-to sets of one file, queried from one function."""

    file: TypedFile
    function: TypedFunction
    solution: LeastSets[Target] = field(default_factory=LeastSets)
    is_inside: bool = False
    """Queried about a callee of the first function or of another: its parameters are the arguments."""
    until: int | None = None
    """A token of the function after which its changes to its own variables do not count."""

    def meet(self, one: frozenset[Target], other: frozenset[Target]) -> bool:
        """Whether two pointers may point to the same memory, as far as the file shows."""
        if one & other - {UNSEEN} or all(has_other_names(x, self.file) for x in (one, other)):
            return True
        is_known = UNSEEN not in one | other and not any(map(is_from_outside, one | other))
        put = frozenset[Target]() if is_known else self._escaped(outside=True)
        put -= {target for target in put if is_from_outside(target)}
        if UNSEEN in one and UNSEEN in other:
            return bool(put)
        unknown = [UNSEEN in mine or any(map(is_from_outside, mine)) for mine in (one, other)]
        return (unknown[0] and bool(other & put)) or (unknown[1] and bool(one & put))

    def _escaped(self, *, outside: bool = False) -> frozenset[Target]:
        """All targets of pointers that escape to untracked places, and of what is stored there:

            E = targets(escaping) + targets(v) for each `x = v` with x in E
        and `outside`, what the function passes to functions without a definition here.
        """
        giver = self.function.declaration.offset if outside else None
        every = self._in_any_call()
        return every.solution.least(("escaped", giver), lambda: every._escaping(giver))

    def _escaping(self, giver: int | None) -> frozenset[Target]:
        """What escapes, from the sets that are known so far."""
        asked = [self.asked(one) for one in self.file.functions]
        found = {
            target
            for one in asked
            for value in one._escapes(giver)
            for target in one.storage_of(value) | one.targets(value)
        }
        found |= {target for one in with_other_names(self.file) for target in self.targets(one)}
        stored = [
            (one.storage_of(place), one.targets(value))
            for one in (asked if found else ())
            for node in one.function.giving
            for place, value in stored_by(node)
            if is_pointer(value)
        ]
        while more := {target for place, given in stored if place & found for target in given} - found:
            found |= more
        return frozenset(found)

    def _escapes(self, giver: int | None) -> tuple[tree.Expression, ...]:
        """The addresses that escape in the function; those of the giver also to unseen functions."""
        own = self.function.declaration.offset
        key = ("escapes", own, is_giver := own == giver)
        return self.file.once(key, lambda: tuple(escaping(self.function, self.file, outside=is_giver)))

    def storage_of(self, lvalue: tree.Expression) -> frozenset[Target]:
        """The storage that contains an lvalue."""
        match tree.without_casts(lvalue):
            case tree.Name(declaration=declared):
                return frozenset([Object(declared)])
            case tree.MemberAccess(object=inner, is_arrow=False):
                return self.storage_of(inner)
            case tree.MemberAccess(object=inner, is_arrow=True):
                return self.targets(inner)
            case tree.Subscript(base=base):
                return self._through(base)
            case tree.Unary(operator="*", operand=operand):
                return self._through(operand)
            case tree.Unary(operator="__real__" | "__imag__" | "__extension__", operand=operand):
                return self.storage_of(operand)
            case tree.OtherExpression(parts=parts) as other:
                own: frozenset[Target] = frozenset([Memory(("temporary", other.place.span))])
                return own.union(*(self.targets(one) for part in parts for one in values_in(part)))
            case other:
                return self.targets(other)

    def _through(self, pointer: tree.Expression) -> frozenset[Target]:
        """The targets of a pointer, or of an array decayed to a pointer to its first element."""
        core = tree.without_casts(pointer)
        is_array = isinstance(unqualified(core.type), ArrayType)
        return self.storage_of(core) if is_array else self.targets(core)

    def targets(self, value: tree.Expression) -> frozenset[Target]:
        """The targets that the value of an expression may point to."""
        core = tree.without_casts(value)
        is_lvalue = isinstance(core, tree.Name | tree.MemberAccess | tree.Subscript | tree.OtherExpression)
        is_lvalue = is_lvalue or (isinstance(core, tree.Unary) and core.operator == "*")
        if is_lvalue and isinstance(unqualified(core.type), ArrayType):
            return self.storage_of(core)
        match core:
            case tree.Name(declaration=declared):
                return self._stored(declared, "")
            case tree.Unary(operator="&", operand=operand):
                return self.storage_of(operand)
            case tree.Binary(operator=",", right=inner) | tree.Unary(operator="__extension__", operand=inner):
                return self.targets(inner)
            case tree.Binary(left=left, right=right):
                return self._pointers(left) | self._pointers(right)
            case tree.Conditional(then=then, otherwise=otherwise):
                return self.targets(then) | self.targets(otherwise)
            case tree.Cast(type=kind, operand=operand):
                is_number = isinstance(unqualified(kind), Pointer) and not isinstance(
                    unqualified(tree.without_casts(operand).type), Pointer | ArrayType
                )
                return self._of_a_number(operand) if is_number else self.targets(operand)
            case tree.Assign(value=value, operator="="):
                return self.targets(value)
            case tree.Assign(target=target) | tree.Update(target=target):
                return self.targets(target)
            case tree.CallExpression() as call:
                return self._returned(call)
            case tree.MemberAccess() | tree.Subscript() | tree.Unary(operator="*"):
                return self._loaded(core)
            case tree.OtherExpression(parts=parts):
                unseen = [] if is_followed(core) else [frozenset([UNSEEN])]
                inside = (self.targets(one) for part in parts for one in values_in(part))
                return frozenset[Target]().union(*unseen, *inside)
        return frozenset()

    def _of_a_number(self, number: tree.Expression) -> frozenset[Target]:
        """The targets of a number cast to a pointer: those of the pointers that it is computed from."""
        nodes = [part for part in tree.walk(number) if isinstance(part, tree.Expression)]
        parts = [part for part in nodes if not isinstance(part, tree.Number | tree.SizeOf | tree.Binary)]
        values = [part for part in parts if isinstance(unqualified(part.type), Integer | Pointer)]
        found = {target for part in values for target in self.targets(part) if not is_reached(target)}
        return frozenset(found) or frozenset([UNSEEN] if parts else [])

    def _pointers(self, value: tree.Expression) -> frozenset[Target]:
        """The targets of an operand of a sum, if it may be an address; a narrower number is none."""
        return self.targets(value) if may_be_address(value) else frozenset()

    def _loaded(self, lvalue: tree.Expression) -> frozenset[Target]:
        """The targets of a pointer loaded from memory: what was stored there under the same name."""
        root, path = members.root_and_path(lvalue)
        if root is None:
            base, path = members.base_and_path(lvalue)
            calls = (part for part in tree.walk(lvalue) if isinstance(part, tree.CallExpression))
            inside = frozenset[Target]().union(*map(self._returned, calls))
            somewhere = Memory(("somewhere", (lvalue.place.span, lvalue.place.first)))
            found = inside | self._from(base, path or "*") | {somewhere}
        else:
            found = self._stored(root, path).union([UNSEEN] if is_from_union(lvalue) else [])
        if tree.owner(lvalue) is not None:
            return found
        key = ("beside", self.is_inside, self.function.declaration.offset, members.place_of(lvalue))
        return found | self.solution.least(key, lambda: self._stored_beside(lvalue, root))

    def _stored_beside(self, lvalue: tree.Expression, root: tree.Declaration | None) -> frozenset[Target]:
        """What is stored in an lvalue under other names: `a->next->v = p`, where `a->next` points to it, and
        `p = v`, where `*w` is p."""
        place, inside = self.storage_of(lvalue), members.path_inside(lvalue)
        found: set[Target] = set()
        ends = paths_stored(lvalue, self.function, self.file)
        own = members.root_and_path(lvalue)
        for declared in (one.declaration for one in place if isinstance(one, Object)):
            for path in (path for end in ends for path in members.paths_of(declared.type, end)):
                found |= self._stored(declared, path) if (declared, path) != own else set()
        every = self._in_any_call()
        bound = {one for one in place if self.solution is not every.solution and self._is_bound(one)}
        for store in file_stores(self.file).setting(inside) if bound else ():
            asked = self.asked(store.function)
            if (store.is_whole or root is None or store.root != root) and asked._stored_in(store) & bound:
                found |= asked._given_by(store, inside)
        for one in place - bound:
            found |= every.solution.least(("held", one, inside), partial(every._held, one, inside))
        return frozenset(found)

    def _is_bound(self, target: Target) -> bool:
        """Whether a target is what a parameter leads to: the calls say what that is, and what it holds."""
        offset = parameter_of(target)
        owner = self.file.function_around(offset)
        return owner is not None and any(one.offset == offset for one in owner.parameters)

    def _held(self, target: Target, inside: str) -> frozenset[Target]:
        """What any store of the file puts in some memory, at a path inside it."""
        asked = [(self.asked(one.function), one) for one in file_stores(self.file).setting(inside)]
        given = (one._given_by(store, inside) for one, store in asked if target in one._stored_in(store))
        return frozenset[Target]().union(*given)

    def _given_by(self, store: PointerStore, inside: str) -> frozenset[Target]:
        """The targets of the pointer that a store puts at a path inside some memory."""
        return self.reached(store.value, inside) if store.is_whole else self.targets(store.value)

    def _stored_in(self, store: PointerStore) -> frozenset[Target]:
        """The storage that contains the target of a store."""
        key = ("store", self.is_inside, store.number)
        return self.solution.least(key, lambda: self.storage_of(store.target))

    def _stored(self, declared: tree.Declaration, path: str) -> frozenset[Target]:
        """The targets of the pointers in a variable, or at a path from it; the path names the member."""
        short = members.folded(path)
        owner = self.file.function_around(declared.offset) if declared.is_own else None
        asked = self._in_any_call() if not declared.is_own else self if owner is None else self.asked(owner)
        key = (asked.is_inside, declared.offset, short)
        return asked.solution.least(key, lambda: asked._given(declared, short))

    def _given(self, declared: tree.Declaration, path: str) -> frozenset[Target]:
        found: set[Target] = set()
        for function, value, rest in self._values(declared, path):
            asked = self.asked(function)
            found |= asked.reached(value, rest) if rest else asked.targets(value)
        found |= {*self._blindly(declared, path)}
        is_of_others = (tree.Storage.PARAMETER, tree.Storage.EXTERNAL, tree.Storage.UNDECLARED)
        if declared.storage in is_of_others or not found:
            found.add(Memory(("reached", declared.offset, path)))
        return frozenset(found)

    def _blindly(self, declared: tree.Declaration, path: str) -> Iterator[Target]:
        """`UNSEEN`, if untracked code may set a variable, and what functions without a definition here may
        store in it through its address."""
        is_argument = self.is_inside and declared in self.function.parameters
        is_shared = declared.is_file_scope or declared.storage is tree.Storage.STATIC
        functions = self.file.functions_with(declared.name) if is_shared else (self.function,)
        has_pointers = bool(with_pointers_to(declared, self.function, self.file))
        if (
            is_written_blindly(declared, functions)
            or has_other_names([Object(declared)], self.file)
            or (is_argument and is_called_blindly(self.function, self.file))
            or (has_pointers and Object(declared) in self._escaped())
        ):
            yield UNSEEN
        nodes = (one for function in (functions if not path else ()) for one in function.giving)
        for call in (one for one in nodes if isinstance(one, tree.CallExpression)):
            is_unseen = call.callee is None or self.file.definition(call.callee) is None
            if is_unseen and any(takes(one, declared) for one in call.arguments):
                yield from_outside(call, self.file, declared.offset)

    def reached(self, value: tree.Expression, path: str) -> frozenset[Target]:
        """The targets of the pointers at `path` from a pointer with this value, or in a struct with it."""
        core = tree.without_casts(value)
        if isinstance(core, tree.Unary) and core.operator == "&":
            core = tree.without_casts(core.operand)
        root, ahead = members.root_and_path(core)
        if isinstance(core, tree.CallExpression) and core.callee is not None:
            return self._returned_at(core, core.callee, path)
        if root is None:
            base, ahead = members.base_and_path(core)
            somewhere: frozenset[Target] = frozenset([Memory(("reached", value.place.span, path))])
            return somewhere | self._from(base, ahead if ahead and path == "*" else ahead + path)
        return self._stored(root, path if ahead == "*" else ahead if path == "*" else ahead + path)

    def _from(self, base: tree.Expression, path: str) -> frozenset[Target]:
        """The targets of the pointers at `path` from the value of an expression that is not an lvalue."""
        if isinstance(base, tree.CallExpression) and base.callee is not None:
            return self._returned_at(base, base.callee, path)
        literals = (part for part in tree.walk(base) if isinstance(part, tree.OtherExpression))
        inside = [self.targets(one) for each in literals for one in parts_of(each)]
        return frozenset[Target]().union(*inside, *(self.reached(one, path) for one in passed_on(base)))

    def _returned_at(
        self, call: tree.CallExpression, callee: tree.Declaration, path: str
    ) -> frozenset[Target]:
        """The targets of pointers at `path` in a call's result; without a definition, of its arguments."""
        function = self.file.definition(callee)
        made: frozenset[Target] = frozenset([Memory(("reached", (call.place.span, call.place.first), path))])
        if function is None:
            return made.union(*(self.targets(one) for one in call.arguments if is_pointer(one)))
        inside = self.asked(function)
        others = others_returned(function, self.file, path)
        return made | self.solution.least(
            ("returned", callee.offset, members.folded(path)),
            lambda: frozenset[Target]().union(*(inside.reached(one, path) for one in others)),
        )

    def asked(self, function: TypedFunction) -> PointsTo:
        """The same analysis, queried from another function."""
        if function is self.function:
            return self
        return PointsTo(self.file, function, self.solution, is_inside=True)

    def _in_any_call(self) -> PointsTo:
        """The same analysis for any call of the function: other memory keeps what earlier calls put there.

        These sets are the same from whatever function they are asked for, and computed once for the file."""
        sets = self.file.once(("points to",), LeastSets[Target])
        return self if self.solution is sets else PointsTo(self.file, self.function, sets, is_inside=True)

    def _values(self, declared: tree.Declaration, path: str) -> Iterator[GivenValue]:
        """All values that the file stores in a variable, or on the path."""
        own, until = self.function, self.until
        yield from named_values(declared, path, own, self.file, is_called=self.is_inside, until=until)
        yield from self.set_through_pointers(declared, path)

    def set_through_pointers(self, declared: tree.Declaration, path: str) -> Iterator[GivenValue]:
        """The values stored by `*q = v` or `q->m = v`, where q may point to the variable."""
        for function in with_pointers_to(declared, self.function, self.file):
            for target, value, rests in stores_ending(declared, path, function, self.file):
                if Object(declared) in self.asked(function).storage_of(target):
                    yield from ((function, value, one) for one in rests)

    def contents(self, declared: tree.Declaration, path: str) -> list[tree.Expression]:
        """The values stored in the elements of an array of pointers."""
        return [value for _, value, rest in self._values(declared, path) if not rest]

    def _returned(self, call: tree.CallExpression) -> frozenset[Target]:
        """The targets of a call's result; of a function without a definition, new memory or its arguments."""
        callee = call.callee
        function = None if callee is None else self.file.definition(callee)
        if callee is None or function is None:
            if callee is not None and callee.name in _SAME_OR_NEW:
                return frozenset([Memory(("call", call.place.span, call.place.first))])
            given_on = (self.targets(one) for one in call.arguments if is_pointer(one))
            return frozenset([from_outside(call, self.file)]).union(*given_on, *self._returned_through(call))
        found = {*self._all_returned(function)}
        if len(others_returned(function, self.file)) < len(returned_values(function)):
            found.add(Memory(("call", call.place.span, call.place.first)))
        for parameter, argument in zip(function.parameters, call.arguments, strict=False):
            for target in [one for one in found if parameter_of(one) == parameter.offset]:
                path = str(target.key[2]) if isinstance(target, Memory) else ""
                found.discard(target)
                found |= self.reached(argument, path) if path else self.targets(argument)
        return frozenset(found)

    def _all_returned(self, function: TypedFunction) -> frozenset[Target]:
        """The targets that a function returns, in its own terms; freshly allocated memory is distinct."""
        values = others_returned(function, self.file)
        inside = self.asked(function)
        return self.solution.least(
            ("returned", function.declaration.offset),
            lambda: frozenset[Target]().union(*map(inside.targets, values)),
        )

    def _returned_through(self, call: tree.CallExpression) -> Iterator[frozenset[Target]]:
        """What a call through a pointer may return: what functions of the file with this result type do."""
        if call.callee is not None and call.callee.storage is tree.Storage.FUNCTION:
            return
        for function in self.file.functions:
            kind = unqualified(function.declaration.type)
            result = unqualified(kind.result) if isinstance(kind, FunctionType) else None
            is_alike = is_pointer(call) and isinstance(result, Pointer | Unknown)
            if function is not self.function and is_alike:
                yield from map(self.asked(function).targets, returned_values(function))
