"""Where pointers may point, as far as the file shows it.

Flow does not count: a pointer may point wherever any assignment of the file lets it.  A target is

    Object(a)        the storage of a variable
    Memory(key)      storage that the file shows to be one thing, and shows nothing else of: what a
                     parameter points to, what one call of malloc returned, what a member leads to

Two targets that are different are not shown to overlap; that they do not is what the reader lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.c.typed.pointer_values import (
    addressed,
    given,
    is_cast_pointer,
    is_named_pointer,
    is_no_address,
    is_pointer,
    is_returned_alone,
    parts_of,
    path_inside,
    root_and_path,
    store_no_address,
    takes,
    uncast,
    values_in,
)
from loopwright.c.types import ArrayType, CType, FunctionType, Pointer, Record, Unknown, unqualified
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Object:
    declaration: tree.Declaration


@dataclass(frozen=True)
class Memory:
    key: tuple[object, ...]


Target = Object | Memory


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
            case tree.Cast(operand=operand):
                return self.targets(operand)
            case tree.Assign(value=value, operator="="):
                return self.targets(value)
            case tree.Assign(target=target) | tree.Update(target=target):
                return self.targets(target)
            case tree.CallExpression() as call:
                return self._returned(call)
            case tree.MemberAccess() | tree.Subscript() | tree.Unary(operator="*"):
                return self._loaded(core)
            case tree.OtherExpression(parts=parts):
                return frozenset().union(*(self.targets(one) for part in parts for one in values_in(part)))
        return frozenset()

    def _pointers(self, value: tree.Expression) -> frozenset[Target]:
        """Of the parts of a sum, those that may be addresses."""
        kind = unqualified(tree.without_casts(value).type)
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
        return self._stored(root, path)

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
        found |= self._beside(declared)
        self.pending.discard(key)
        unseen = (
            declared.storage in (tree.Storage.PARAMETER, tree.Storage.EXTERNAL, tree.Storage.UNDECLARED)
            or not found
        )
        if unseen:
            found.add(Memory(("reached", declared.offset, path)))
        self.known[key] = frozenset(found)
        return self.known[key]

    def _beside(self, declared: tree.Declaration) -> frozenset[Target]:
        """What is named with a variable in a text that is not understood, such as assembler."""
        texts = [set(one.words) for one in self.function.problems if declared.name in one.words]
        names = [node for node in self.function.nodes if texts and is_named_pointer(node)]
        beside = [
            self.targets(node)
            for node in names
            if isinstance(node, tree.Name) and any(node.declaration.name in words for words in texts)
        ]
        return frozenset().union(*beside)

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
        return self._stored(root, path if ahead == "*" else ahead + path)

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
        known = (one for one in values if one is not None and not self._is_allocated(one, function, path))
        found = made.union(*(inside.reached(one, path) for one in known))
        self.pending.discard(callee.offset)
        return found

    def _asked(self, function: TypedFunction) -> PointsTo:
        """The same answers, asked from another function."""
        if function is self.function:
            return self
        return PointsTo(self.file, function, self.known, self.pending, is_inside=True)

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
        is_own = declared.storage in (tree.Storage.AUTOMATIC, tree.Storage.PARAMETER)
        is_hidden = is_own and declared.offset not in self.function.addressed
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
                    yield from self._set_by(node, declared)
                for value, is_itself in given(node, declared, path):
                    yield function, value, is_itself
        yield from self._set_through_pointers(declared, path)

    def _set_through_pointers(
        self, declared: tree.Declaration, path: str
    ) -> Iterator[tuple[TypedFunction, tree.Expression, bool]]:
        """What is stored by `*q = v` or `q->m = v`, where q may lead to the variable."""
        for function in self._with_pointers_to(declared):
            for node in function.giving:
                if not isinstance(node, tree.Assign) or node.operator != "=" or tree.owner(node.target):
                    continue
                kind = unqualified(tree.without_casts(node.target).type)
                fits = path.endswith(path_inside(node.target)) or isinstance(kind, Record)
                if not fits or not isinstance(kind, Pointer | Record):
                    continue
                if Object(declared) in self._asked(function).storage_of(node.target):
                    yield function, node.value, isinstance(kind, Record)

    def _with_pointers_to(self, declared: tree.Declaration) -> tuple[TypedFunction, ...]:
        """Where there may be pointers to a variable: nowhere, where its address is not taken."""
        if not (declared.is_file_scope or declared.storage is tree.Storage.STATIC):
            if declared.offset not in self.function.addressed:
                return ()
            called = [
                self.file.definition(node.callee)
                for node in self.function.giving
                if isinstance(node, tree.CallExpression) and node.callee is not None
            ]
            return (self.function, *(one for one in called if one is not None and one is not self.function))
        functions = self.file.functions_with(declared.name)
        is_taken = any(declared.offset in one.addressed for one in functions) or any(
            declared.offset in addressed(tree.walk(one)) for one, _ in self.file.variables
        )
        return self.file.functions if is_taken else ()

    def _set_by(
        self, call: tree.CallExpression, declared: tree.Declaration
    ) -> Iterator[tuple[TypedFunction, tree.Expression, bool]]:
        """What a function of the file that is given the address of a pointer stores there."""
        places = [place for place, one in enumerate(call.arguments) if takes(one, declared)]
        function = self.file.definition(call.callee) if places and call.callee is not None else None
        if function is None:
            return
        given = [one for place in places for one in function.parameters[place : place + 1]]
        for node in function.giving:
            if isinstance(node, tree.Assign) and root_and_path(node.target) in [(one, "*") for one in given]:
                yield function, node.value, False

    def contents(self, declared: tree.Declaration) -> list[tree.Expression]:
        """The values that the elements of an array of pointers are given, one by one."""
        return [value for _, value, is_itself in self._values(declared, "*") if not is_itself]

    def _returned(self, call: tree.CallExpression) -> frozenset[Target]:
        """What a function of the file returns; another one, memory of its own or what it is given."""
        callee = call.callee
        function = None if callee is None else self.file.definition(callee)
        if callee is None or function is None or callee.offset in self.pending:
            made = frozenset([Memory(("call", call.place.span, call.place.first))])
            if callee is not None and "alloc" in callee.name:
                return made
            given_on = (self.targets(one) for one in call.arguments if is_pointer(one))
            return made.union(*given_on, *self._returned_through(call))
        self.pending.add(callee.offset)
        inside = self._asked(function)
        found: set[Target] = set()
        for node in function.nodes:
            if isinstance(node, tree.Return) and node.value is not None:
                if self._is_allocated(node.value, function, ""):
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

    def _is_allocated(self, value: tree.Expression, function: TypedFunction, path: str) -> bool:
        """Whether a function returns memory that this very call of it allocates: `double *p = malloc(n);
        return p;`, or a struct with such a pointer at `path`.  A variable that keeps its value between calls,
        or that a pointer leads to, may be of an earlier call, and what is put elsewhere is found there too.
        """
        core = uncast(value)
        if isinstance(core, tree.CallExpression):
            if path or core.callee is None or self.file.definition(core.callee) is not None:
                return False
            return re.search("(?<!re)alloc(?!ated)", core.callee.name) is not None
        if not isinstance(core, tree.Name) or core.declaration.storage is not tree.Storage.AUTOMATIC:
            return False
        inside = self._asked(function)
        found = [one for node in function.giving for one in given(node, core.declaration, path)]
        parts = [(one, path if is_itself else "") for one, is_itself in found]
        return (
            core.declaration.offset not in function.addressed
            and is_returned_alone(function.nodes, core.declaration, self._is_library)
            and not inside._beside(core.declaration)
            and any(self._is_allocated(one, function, rest) for one, rest in parts)
            and all(is_no_address(one) or self._is_allocated(one, function, rest) for one, rest in parts)
        )

    def _is_library(self, callee: tree.Declaration) -> bool:
        return self.file.definition(callee) is None

    def _returned_through(self, call: tree.CallExpression) -> Iterator[frozenset[Target]]:
        """What a call through a pointer may return: what functions of the file of this result do."""
        if call.callee is not None and call.callee.storage is tree.Storage.FUNCTION:
            return
        for function in self.file.functions:
            key = function.declaration.offset
            kind = unqualified(function.declaration.type)
            is_alike = isinstance(kind, FunctionType) and is_pointer(call) and _leads(kind.result)
            if key in self.pending or function is self.function or not is_alike:
                continue
            self.pending.add(key)
            inside = self._asked(function)
            for node in function.nodes:
                if isinstance(node, tree.Return) and node.value is not None:
                    yield inside.targets(node.value)
            self.pending.discard(key)


def _leads(kind: CType) -> bool:
    return isinstance(unqualified(kind), Pointer | Unknown)


def calls_of(file: TypedFile, function: TypedFunction) -> Iterator[tuple[TypedFunction, tree.CallExpression]]:
    """The calls of a function in its file, with the functions they are in."""
    for caller in file.functions_with(function.declaration.name):
        for node in caller.giving:
            callee = node.callee if isinstance(node, tree.CallExpression) else None
            if (
                isinstance(node, tree.CallExpression)
                and callee is not None
                and callee.name == function.declaration.name
            ):
                yield caller, node


def _is_reached(target: Target, parameter: tree.Declaration) -> bool:
    return isinstance(target, Memory) and target.key[:2] == ("reached", parameter.offset)
