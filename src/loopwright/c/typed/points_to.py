"""Where pointers may point, as far as the file shows it.

Flow does not count: a pointer may point wherever any assignment of the file lets it.  A target is

    Object(a)        the storage of a variable
    Memory(key)      storage that the file shows to be one thing, and shows nothing else of: what a
                     parameter points to, what one call of malloc returned, what a member leads to

Two targets that are different are not shown to overlap; that they do not is what the reader lists.  A
pointer that comes from where addresses are not followed may lead to all that was put there (`UNSEEN`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.pointer_values import (
    folded,
    given,
    is_cast_pointer,
    is_followed,
    is_pointer,
    parts_of,
    path_inside,
    root_and_path,
    store_no_address,
    values_in,
)
from loopwright.c.typed.unfollowed import (
    UNSEEN,
    Memory,
    Object,
    Target,
    calls_of,
    escaping,
    is_allocated,
    is_called_blindly,
    is_from_union,
    is_written_blindly,
    set_by,
    stores,
    with_pointers_to,
)
from loopwright.c.types import ArrayType, FunctionType, Integer, Pointer, Record, Unknown, unqualified
from loopwright.lazy_dataclass import dataclass

_SAME_OR_NEW = ("realloc", "reallocarray")
_ADDRESS_BITS = 64


@dataclass
class PointsTo:
    """Answers for one file, asked from one function; each variable is looked at once."""

    file: TypedFile
    function: TypedFunction
    known: dict[int, frozenset[Target]] = field(default_factory=dict)
    pending: set[int] = field(default_factory=set)
    is_inside: bool = False
    """Asked about a function that the first one, or another, calls: its parameters are what it is given."""
    until: int | None = None
    """A token of the function after which nothing it does to its own variables counts."""
    escaped: list[frozenset[Target]] = field(default_factory=list)
    """What was put where it is not followed, once it is computed."""

    def meet(self, one: frozenset[Target], other: frozenset[Target]) -> bool:
        """Whether two pointers may lead to one memory, as far as the file shows."""
        if one & other - {UNSEEN}:
            return True
        put = self._escaped() if UNSEEN in one | other else frozenset()
        put |= {UNSEEN} if put else set()
        return any(UNSEEN in mine and bool(theirs & put) for mine, theirs in ((one, other), (other, one)))

    def _escaped(self) -> frozenset[Target]:
        """All that pointers lead to which are put where they are not followed, and what is stored there:

        E = targets(escaping) + targets(v) for each `x = v` with x in E
        """
        if not self.escaped:
            self.escaped.append(frozenset())
            all_functions = self.file.functions
            asked = [PointsTo(self.file, one, is_inside=True, escaped=self.escaped) for one in all_functions]
            found = {
                target
                for one in asked
                for value in escaping(one.function, self.file)
                for target in one.storage_of(value) | one.targets(value)
            }
            stored = [
                (one.storage_of(node.target), one.targets(node.value))
                for one in (asked if found else ())
                for node in one.function.giving
                if isinstance(node, tree.Assign) and is_pointer(node.value)
            ]
            while more := {target for place, given in stored if place & found for target in given} - found:
                found |= more
            self.escaped[0] = frozenset(found)
        return self.escaped[0]

    def storage_of(self, lvalue: tree.Expression) -> frozenset[Target]:
        """The storage that an lvalue is in."""
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
            case tree.OtherExpression(parts=parts) as other:
                own: frozenset[Target] = frozenset([Memory(("temporary", other.place.span))])
                return own.union(*(self.targets(one) for part in parts for one in values_in(part)))
            case other:
                return self.targets(other)

    def _through(self, pointer: tree.Expression) -> frozenset[Target]:
        """What a pointer, or an array as a pointer to its first element, leads to."""
        core = tree.without_casts(pointer)
        if isinstance(unqualified(core.type), ArrayType):
            return self.storage_of(core)
        return self.targets(core)

    def targets(self, value: tree.Expression) -> frozenset[Target]:
        """What the value of an expression may point to."""
        core = tree.without_casts(value)
        is_lvalue = isinstance(
            core, tree.Name | tree.MemberAccess | tree.Subscript | tree.Unary | tree.OtherExpression
        )
        if is_lvalue and isinstance(unqualified(core.type), ArrayType):
            return self.storage_of(core)
        match core:
            case tree.Name(declaration=declared):
                return self._stored(declared, "")
            case tree.Unary(operator="&", operand=operand):
                return self.storage_of(operand)
            case tree.Binary(operator=",", right=right):
                return self.targets(right)
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
        """What a number that is made a pointer may lead to: what pointers that it is computed from do."""
        nodes = [part for part in tree.walk(number) if isinstance(part, tree.Expression)]
        parts = [part for part in nodes if not isinstance(part, tree.Number | tree.SizeOf | tree.Binary)]
        values = [part for part in parts if isinstance(unqualified(part.type), Integer | Pointer)]
        found = {target for part in values for target in self.targets(part) if not _is_argument(target)}
        return frozenset(found) or frozenset([UNSEEN] if parts else [])

    def _pointers(self, value: tree.Expression) -> frozenset[Target]:
        """Of the parts of a sum, those that may be addresses: a number of fewer bits is none."""
        kind = unqualified(tree.without_casts(value).type)
        if isinstance(kind, Integer) and kind.bits < _ADDRESS_BITS:
            return frozenset()
        is_address = isinstance(kind, Pointer | ArrayType | Unknown)
        inside = [unqualified(part.type) for part in tree.walk(value) if isinstance(part, tree.Name)]
        has_address = any(isinstance(one, Pointer | ArrayType) for one in inside)
        return self.targets(value) if is_address or has_address else frozenset()

    def _loaded(self, lvalue: tree.Expression) -> frozenset[Target]:
        """What a pointer that lies in memory points to: what was stored there under the same name."""
        root, path = root_and_path(lvalue)
        if root is None:
            literals = [part for part in tree.walk(lvalue) if isinstance(part, tree.OtherExpression)]
            inside = [self.targets(value) for literal in literals for value in parts_of(literal)]
            inside += [
                self._returned(part) for part in tree.walk(lvalue) if isinstance(part, tree.CallExpression)
            ]
            return frozenset([Memory(("somewhere", lvalue.place.span))]).union(*inside)
        unseen = [UNSEEN] if is_from_union(lvalue) else []
        return self._stored(root, path).union(unseen, self._stored_beside(lvalue, root))

    def _stored_beside(self, lvalue: tree.Expression, root: tree.Declaration) -> frozenset[Target]:
        """What is stored where an lvalue is by other names: `a->next->v = p`, where `a->next` leads to it."""
        key = hash((lvalue.place.first, lvalue.place.end, root.offset))
        if key in self.pending or tree.owner(lvalue) is not None:
            return frozenset()
        self.pending.add(key)
        place, inside = self.storage_of(lvalue), path_inside(lvalue)
        called = (one.callee for one in self.function.giving if isinstance(one, tree.CallExpression))
        bodies = [self.file.definition(one) for one in called if one is not None]
        found: set[Target] = set()
        for function in {id(one): one for one in (self.function, *bodies) if one is not None}.values():
            asked = self._asked(function)
            for target, value in stores(function, self.file):
                is_whole = isinstance(unqualified(target.type), Record)
                is_other = tree.root_of(target) != root and path_inside(target) == inside
                if (is_whole or is_other) and asked.storage_of(target) & place:
                    found |= asked.reached(value, inside) if is_whole else asked.targets(value)
        self.pending.discard(key)
        return frozenset(found)

    def _stored(self, declared: tree.Declaration, path: str) -> frozenset[Target]:
        """What the pointers in a variable, or after it on a path, are given; the path names the member."""
        key = hash((declared.offset, path))
        if key in self.known:
            return self.known[key]
        if key in self.pending:
            return frozenset()
        self.pending.add(key)
        found: set[Target] = set()
        for function, value, is_itself in self._values(declared, path):
            asked = self._asked(function)
            found |= asked.reached(value, path) if is_itself and path else asked.targets(value)
        found |= self._blindly(declared)
        self.pending.discard(key)
        is_open = declared.storage in (
            tree.Storage.PARAMETER, tree.Storage.EXTERNAL, tree.Storage.UNDECLARED,
        )
        if is_open or not found:
            found.add(Memory(("reached", declared.offset, path)))
        self.known[key] = frozenset(found)
        return self.known[key]

    def _blindly(self, declared: tree.Declaration) -> frozenset[Target]:
        """`UNSEEN`, where a variable may be set by what is not followed."""
        is_argument = self.is_inside and declared in self.function.parameters
        is_shared = declared.is_file_scope or declared.storage is tree.Storage.STATIC
        functions = self.file.functions_with(declared.name) if is_shared else (self.function,)
        has_pointers = bool(with_pointers_to(declared, self.function, self.file))
        is_set = (
            is_written_blindly(declared, functions)
            or (is_argument and is_called_blindly(self.function, self.file))
            or (has_pointers and Object(declared) in self._escaped())
        )
        return frozenset([UNSEEN] if is_set else [])

    def reached(self, value: tree.Expression, path: str) -> frozenset[Target]:
        """What the pointers at `path` from a pointer of this value, or in a struct of it, point to."""
        core = tree.without_casts(value)
        if isinstance(core, tree.Unary) and core.operator == "&":
            core = tree.without_casts(core.operand)
        root, ahead = root_and_path(core)
        if isinstance(core, tree.CallExpression) and core.callee is not None:
            return self._returned_at(core, core.callee, path)
        if root is None:
            somewhere: frozenset[Target] = frozenset([Memory(("reached", value.place.span, path))])
            literals = [part for part in tree.walk(core) if isinstance(part, tree.OtherExpression)]
            inside = [self.targets(one) for literal in literals for one in parts_of(literal)]
            if isinstance(core, tree.Conditional):
                inside += [self.reached(one, path) for one in (core.then, core.otherwise)]
            return somewhere.union(*inside)
        return self._stored(root, folded(path if ahead == "*" else ahead + path))

    def _returned_at(
        self, call: tree.CallExpression, callee: tree.Declaration, path: str
    ) -> frozenset[Target]:
        """What pointers at `path` in what a call returns point to; if it is not seen, all it is given."""
        function = self.file.definition(callee)
        made: frozenset[Target] = frozenset([Memory(("reached", (call.place.span, call.place.first), path))])
        if function is None or callee.offset in self.pending:
            return made.union(*(self.targets(one) for one in call.arguments if is_pointer(one)))
        self.pending.add(callee.offset)
        inside = self._asked(function)
        values = (one.value for one in function.nodes if isinstance(one, tree.Return))
        others = (one for one in values if one and not is_allocated(one, function, self.file, path))
        found = made.union(*(inside.reached(one, path) for one in others))
        self.pending.discard(callee.offset)
        return found

    def _asked(self, function: TypedFunction) -> PointsTo:
        """The same answers, asked from another function."""
        if function is self.function:
            return self
        return PointsTo(self.file, function, self.known, self.pending, is_inside=True, escaped=self.escaped)

    def _values(
        self, declared: tree.Declaration, path: str
    ) -> Iterator[tuple[TypedFunction, tree.Expression, bool]]:
        """All values that the file gives to a variable itself, or to this member of it."""
        if declared.is_file_scope or declared.storage is tree.Storage.STATIC:
            functions = self.file.functions_with(declared.name)
            for variable, problems in self.file.variables:
                for value, is_itself in given(variable, declared, path):
                    yield self.function, value, is_itself
                if problems and variable.declaration.offset == declared.offset:
                    yield from ((self.function, value, True) for value in variable.sizes)
        else:
            functions = (self.function,)
            if self.is_inside and declared in self.function.parameters:
                place = self.function.parameters.index(declared)
                for caller, call in calls_of(self.file, self.function):
                    yield from ((caller, one, True) for one in call.arguments[place : place + 1])
        is_own = declared.is_own
        is_elsewhere = path != "" and isinstance(unqualified(declared.type), Pointer)
        is_hidden = is_own and not is_elsewhere and declared.offset not in self.function.addressed
        for function in functions:
            for node in function.giving:
                if is_hidden and self.until is not None and node.place.first >= self.until:
                    continue
                if isinstance(node, tree.CallExpression) and node.callee is not None:
                    called = self.file.definition(node.callee)
                    is_seen = called is not None and not called.problems
                    is_seen = is_seen and not any(map(is_cast_pointer, node.arguments))
                    if called is not None and is_seen and store_no_address(called.parameters, called.nodes):
                        continue
                    yield from set_by(node, declared, self.file)
                for value, is_itself in given(node, declared, path):
                    yield function, value, is_itself
        yield from self._set_through_pointers(declared, path)

    def _set_through_pointers(
        self, declared: tree.Declaration, path: str
    ) -> Iterator[tuple[TypedFunction, tree.Expression, bool]]:
        """What is stored by `*q = v` or `q->m = v`, where q may lead to the variable."""
        for function in with_pointers_to(declared, self.function, self.file):
            for node in function.giving:
                if not isinstance(node, tree.Assign) or node.operator != "=" or tree.owner(node.target):
                    continue
                kind = unqualified(tree.without_casts(node.target).type)
                fits = path.endswith(path_inside(node.target)) or isinstance(kind, Record)
                if not fits or not isinstance(kind, Pointer | Record):
                    continue
                if Object(declared) in self._asked(function).storage_of(node.target):
                    yield function, node.value, isinstance(kind, Record)
                    if path[:1] == "." and not path_inside(node.target):
                        yield function, node.value, True

    def contents(self, declared: tree.Declaration, path: str) -> list[tree.Expression]:
        """The values that the elements of an array of pointers are given, one by one."""
        return [value for _, value, is_itself in self._values(declared, path) if not is_itself]

    def _returned(self, call: tree.CallExpression) -> frozenset[Target]:
        """What a function of the file returns; another one, memory of its own or what it is given."""
        callee = call.callee
        function = None if callee is None else self.file.definition(callee)
        if callee is None or function is None or callee.offset in self.pending:
            made = frozenset([Memory(("call", call.place.span, call.place.first))])
            if callee is not None and callee.name in _SAME_OR_NEW:
                return made
            given_on = (self.targets(one) for one in call.arguments if is_pointer(one))
            return made.union(*given_on, *self._returned_through(call))
        self.pending.add(callee.offset)
        inside = self._asked(function)
        found: set[Target] = set()
        for node in function.nodes:
            if isinstance(node, tree.Return) and node.value is not None:
                if is_allocated(node.value, function, self.file):
                    found.add(Memory(("call", call.place.span, call.place.first)))
                else:
                    found |= inside.targets(node.value)
        self.pending.discard(callee.offset)
        for parameter, argument in zip(function.parameters, call.arguments, strict=False):
            for target in [one for one in found if _is_reached(one, parameter)]:
                path = str(target.key[2]) if isinstance(target, Memory) else ""
                found.discard(target)
                found |= self.reached(argument, path) if path else self.targets(argument)
        return frozenset(found)

    def _returned_through(self, call: tree.CallExpression) -> Iterator[frozenset[Target]]:
        """What a call through a pointer may return: what functions of the file of this result do."""
        if call.callee is not None and call.callee.storage is tree.Storage.FUNCTION:
            return
        for function in self.file.functions:
            key = function.declaration.offset
            kind = unqualified(function.declaration.type)
            result = unqualified(kind.result) if isinstance(kind, FunctionType) else None
            is_alike = is_pointer(call) and isinstance(result, Pointer | Unknown)
            if key in self.pending or function is self.function or not is_alike:
                continue
            self.pending.add(key)
            inside = self._asked(function)
            for node in function.nodes:
                if isinstance(node, tree.Return) and node.value is not None:
                    yield inside.targets(node.value)
            self.pending.discard(key)


def _is_argument(target: Target) -> bool:
    """Whether a target is only that of a name that nothing is known of."""
    return isinstance(target, Memory) and target.key[0] == "reached"


def _is_reached(target: Target, parameter: tree.Declaration) -> bool:
    return isinstance(target, Memory) and target.key[:2] == ("reached", parameter.offset)
