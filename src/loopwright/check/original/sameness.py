"""Whether expressions, functions and types of two files mean the same.

Both are compared as the compiler sees them, node by node: macros expanded, names resolved, every type known.
Whatever is not known to be the same counts as different, and the reason is reported.  Equal are

    the same node of the same type, with equal parts;
    functions with equal bodies, or without one and of the same name and type;
    constants with equal first values;
    implicitly converted integers, if the other program computes in a wider signed type.
"""

from __future__ import annotations

from dataclasses import field, fields
from typing import TypeGuard

from loopwright.c import types
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction
from loopwright.check.original.structure import matching
from loopwright.lazy_dataclass import dataclass

LONG = 64
"""Bits of what is observed."""
_LOCAL = (tree.Storage.AUTOMATIC, tree.Storage.PARAMETER)


def type_difference(old: types.CType, new: types.CType) -> str | None:
    """Return why two types are not known to be the same; None if they are."""
    match old, new:
        case (types.Unknown(reason), _) | (_, types.Unknown(reason)):
            return reason
        case types.Qualified(inner), types.Qualified(other):
            same = (old.is_volatile, old.is_atomic) == (new.is_volatile, new.is_atomic)
            return type_difference(inner, other) if same else f"it is {shown(old)} and {shown(new)}"
        case (types.Qualified(inner, _, False, False), _):
            return type_difference(inner, new)
        case (_, types.Qualified(other, _, False, False)):
            return type_difference(old, other)
        case types.Pointer(inner), types.Pointer(other):
            return type_difference(inner, other)
        case types.ArrayType(inner, one), types.ArrayType(other, two):
            return type_difference(inner, other) if one == two else f"it is {shown(old)} and {shown(new)}"
        case types.Enumeration(_, inner), types.Enumeration(_, other):
            return type_difference(inner, other)
        case types.Record(), types.Record():
            return _record_difference(old, new)
        case types.FunctionType(), types.FunctionType():
            return _function_type_difference(old, new)
        case _:
            return None if old == new else f"it is {shown(old)} and {shown(new)}"


def _record_difference(old: types.Record, new: types.Record) -> str | None:
    name = f"{'union' if old.is_union else 'struct'} {old.tag}"
    if old.is_union != new.is_union or (old.fields is None) != (new.fields is None):
        return f"'{name}' is declared as something else"
    if old.fields is None or new.fields is None:
        return None if old.tag == new.tag else f"'{name}' is declared as something else"
    if len(old.fields) != len(new.fields):
        return f"'{name}' has other members"
    for one, other in zip(old.fields, new.fields, strict=True):
        reason = _field_difference(one, other)
        if reason is not None:
            return reason
    return None


def _field_difference(old: types.Field, new: types.Field) -> str | None:
    if (old.name, old.offset) != (new.name, new.offset):
        return f"member '{old.name}' is somewhere else"
    reason = type_difference(old.type, new.type)
    return None if reason is None else f"member '{old.name}': {reason}"


def _function_type_difference(old: types.FunctionType, new: types.FunctionType) -> str | None:
    if old.is_variadic != new.is_variadic or (old.parameters is None) != (new.parameters is None):
        return "the parameters differ"
    parameters = (old.parameters or (), new.parameters or ())
    if len(parameters[0]) != len(parameters[1]):
        return "the parameters differ"
    pairs = zip((old.result, *parameters[0]), (new.result, *parameters[1]), strict=True)
    return next((reason for one, other in pairs if (reason := type_difference(one, other))), None)


def shown(kind: types.CType) -> str:
    """A type, as printed in messages."""
    match kind:
        case types.Qualified(inner):
            words = (("const", kind.is_const), ("volatile", kind.is_volatile), ("_Atomic", kind.is_atomic))
            return " ".join([*(word for word, is_there in words if is_there), shown(inner)])
        case types.Integer():
            return f"{'a signed' if kind.signed else 'an unsigned'} integer of {kind.bits} bits"
        case types.Pointer(inner):
            return f"a pointer to {shown(inner)}"
        case types.ArrayType(inner):
            return f"an array of {shown(inner)}"
        case types.Record():
            return f"{'union' if kind.is_union else 'struct'} {kind.tag}".strip()
        case types.Enumeration():
            return f"enum {kind.tag}".strip()
        case types.FunctionType():
            return "a function"
        case types.Unknown(reason):
            return f"unknown ({reason})"
        case _ if hasattr(kind, "bits"):
            return f"a floating-point number of {kind.bits} bits"
        case _:
            return "void"


def _value_difference(old: types.CType, new: types.CType) -> str | None:
    """Like `type_difference`, for values: a signed integer may be wider in the new program."""
    if isinstance(old, types.Integer) and isinstance(new, types.Integer) and old.signed and new.signed:
        return None if new.bits >= old.bits else f"it is {shown(old)} and {shown(new)}"
    return type_difference(old, new)


def _observed_difference(new: types.CType) -> str | None:
    """Whether a value that was observed as a long, with the right value, may differ in its own type."""
    is_long = isinstance(new, types.Integer) and (new.signed or new.bits < LONG)
    return None if is_long else f"it is {shown(new)}, which is not observed"


@dataclass(frozen=True)
class Sameness:
    """Compares nodes of `old` with nodes of `new`.

    `cells` are the cells of the arrays that two operations touch, in pairs; `holes` the expressions in place
    of the iterators and sizes of the original. `locals` are variables of two functions being compared,
    `assumed` the functions whose comparison has started.
    """

    old: TypedFile
    new: TypedFile
    old_cells: tuple[tree.Expression, ...] = ()
    new_cells: tuple[tree.Expression, ...] = ()
    old_holes: tuple[tree.Expression, ...] = ()
    new_holes: tuple[tree.Expression, ...] = ()
    locals: dict[tree.Declaration, tree.Declaration] = field(default_factory=dict)
    compared: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def expressions(self, old: tree.Expression, new: tree.Expression) -> str | None:
        """Return why two values are not known to be the same; None if they are."""
        cells = matching(old, self.old_cells), matching(new, self.new_cells)
        if cells[0] or cells[1]:
            return self._cells(old, new, cells[0] & cells[1])
        holes = matching(old, self.old_holes)
        if holes:
            if not holes & matching(new, self.new_holes):
                return f"'{_named(old)}' is not at the same place in the statement"
            return self._named(old, _observed_difference(new.type))
        if _is_conversion(old) or _is_conversion(new):
            reason = _value_difference(old.type, new.type)
            return reason or self.expressions(_unconverted(old), _unconverted(new))
        if type(old) is not type(new):
            return f"'{_named(old)}' and '{_named(new)}' are different expressions"
        is_written = isinstance(old, tree.Cast) and not old.is_implicit
        difference = type_difference if is_written else _value_difference
        return difference(old.type, new.type) or self._node(old, new)

    def _cells(self, old: tree.Expression, new: tree.Expression, common: frozenset[int]) -> str | None:
        if not common:
            return f"'{_named(old)}' is not the same access in both programs"
        if (
            isinstance(old, tree.Name)
            and isinstance(new, tree.Name)
            and _is_constant(old) | _is_constant(new)
        ):
            return self._names(old.declaration, new.declaration)
        return self._named(old, type_difference(old.type, new.type)) or self._first_values(old, new)

    def _first_values(self, old: tree.Expression, new: tree.Expression) -> str | None:
        """A variable that both files initialise must have the same initial value, unless it is an array."""
        if not (isinstance(old, tree.Name) and isinstance(new, tree.Name)):
            return None
        return self.first_values(old.declaration, new.declaration)

    def first_values(self, old: tree.Declaration, new: tree.Declaration) -> str | None:
        values = [file.first_value(one) for file, one in ((self.old, old), (self.new, new))]
        is_constant = any(isinstance(one.type, types.Qualified) and one.type.is_const for one in (old, new))
        first, second = values
        if first is None or second is None:
            same = (first is None) == (second is None) or not is_constant
            return None if same else f"'{old.name}' has a first value in one of the programs only"
        return self._named_difference(f"the first value of '{old.name}'", self.expressions(first, second))

    def _named_difference(self, what: str, reason: str | None) -> str | None:
        return None if reason is None else f"{what}: {reason}"

    def _named(self, node: tree.Expression, reason: str | None) -> str | None:
        return self._named_difference(f"'{_named(node)}'", reason)

    def _node(self, old: tree.Node, new: tree.Node) -> str | None:
        """Compare nodes of the same kind whose types agree."""
        match old, new:
            case tree.Name(), tree.Name():
                return self._names(old.declaration, new.declaration)
            case tree.Number(), tree.Number():
                same = old.value == new.value if old.value is not None else old.text == new.text
                return None if same else f"'{old.text}' and '{new.text}' are different numbers"
            case tree.SizeOf(), tree.SizeOf():
                same = old.value == new.value and old.value is not None
                return None if same else "the sizes differ"
            case tree.Text(), tree.Text():
                return "strings are not compared"
            case tree.OtherExpression(), _:
                return f"this kind of expression is not compared: {old.kind}"
            case tree.CallExpression(), tree.CallExpression():
                return self._calls(old, new)
            case tree.MemberAccess(), tree.MemberAccess() if old.field is not None and new.field is not None:
                same = (old.is_arrow, old.in_union) == (new.is_arrow, new.in_union)
                reason = _field_difference(old.field, new.field) if same else f"member '{old.name}' differs"
                return reason or self.expressions(old.object, new.object)
            case tree.MemberAccess(), _:
                return f"member '{old.name}' is not known"
            case _:
                return self._parts(old, new)

    def _parts(self, old: tree.Node, new: tree.Node) -> str | None:
        for one in fields(old):
            if one.name in ("place", "type"):
                continue
            reason = self._values(getattr(old, one.name), getattr(new, one.name))
            if reason is not None:
                return reason
        return None

    def _values(self, old: object, new: object) -> str | None:
        if isinstance(old, tuple) and isinstance(new, tuple):
            if len(old) != len(new):
                return "one of the programs has more parts here"
            return next(
                (reason for one, other in zip(old, new, strict=True) if (reason := self._values(one, other))),
                None,
            )
        if isinstance(old, tree.Expression) and isinstance(new, tree.Expression):
            return self.expressions(old, new)
        if isinstance(old, tree.Node) and isinstance(new, tree.Node):
            return self.statements(old, new)
        if isinstance(old, types.CType) and isinstance(new, types.CType):
            return _value_difference(old, new)
        return None if old == new else f"{_word(old)} and {_word(new)}"

    def _names(self, old: tree.Declaration, new: tree.Declaration) -> str | None:
        match old.storage, new.storage:
            case tree.Storage.FUNCTION, tree.Storage.FUNCTION:
                return self.functions(old, new)
            case tree.Storage.ENUMERATOR, tree.Storage.ENUMERATOR:
                same = old.value == new.value
                return None if same else f"'{old.name}' is {old.value} and {new.value}"
            case (tree.Storage.UNDECLARED, _) | (_, tree.Storage.UNDECLARED):
                same = old == new or (old.name == new.name and old.name.startswith("__builtin_"))
                return None if same else f"'{old.name}' is not declared"
            case _ if old in self.locals:
                return None if self.locals[old] == new else f"'{new.name}' is another variable"
            case _ if not old.is_file_scope or not new.is_file_scope or old.name != new.name:
                return f"'{new.name}' is not '{old.name}' of the original"
            case _:
                return self._global(old, new)

    def _global(self, old: tree.Declaration, new: tree.Declaration) -> str | None:
        """A file-scope variable that is not followed must be a constant."""
        kinds = (old.type, new.type)
        if not all(
            isinstance(kind, types.Qualified) and kind.is_const and not kind.is_volatile for kind in kinds
        ):
            return f"'{old.name}' may change, and is not followed"
        return self._named_difference(f"'{old.name}'", type_difference(*kinds)) or self.first_values(old, new)

    def _calls(self, old: tree.CallExpression, new: tree.CallExpression) -> str | None:
        if old.callee is None or new.callee is None:
            return "which function is called is not known"
        return self._names(old.callee, new.callee) or self._values(old.arguments, new.arguments)

    def functions(self, old: tree.Declaration, new: tree.Declaration) -> str | None:
        """Return why two functions are not known to be the same; recursive calls are assumed to be."""
        if old.name == new.name and (old.name, new.name) in self.compared:
            return self.compared[old.name, new.name]
        self.compared[old.name, new.name] = None
        reason = self._named_difference(f"function '{old.name}'", self._functions(old, new))
        self.compared[old.name, new.name] = reason
        return reason

    def _functions(self, old: tree.Declaration, new: tree.Declaration) -> str | None:
        reason = type_difference(old.type, new.type)
        if reason is not None or old.attributes != new.attributes:
            return reason or "its attributes differ"
        bodies = self.old.definition(old), self.new.definition(new)
        if bodies == (None, None):
            return None if old.name == new.name else "it is another function"
        if bodies[0] is None or bodies[1] is None:
            return "it is defined in one of the programs only"
        return self._bodies(bodies[0], bodies[1])

    def _bodies(self, old: TypedFunction, new: TypedFunction) -> str | None:
        for function in (old, new):
            for reason in (*function.errors, *(one.reason for one in function.problems)):
                return reason
        pairs = dict(zip(old.parameters, new.parameters, strict=True))
        inner = Sameness(self.old, self.new, locals=pairs, compared=self.compared)
        return inner.statements(old.body, new.body)

    def statements(self, old: tree.Node, new: tree.Node) -> str | None:
        if type(old) is not type(new):
            return "the statements differ"
        if isinstance(old, tree.Declarator) and isinstance(new, tree.Declarator):
            return self._variables(old, new)
        if (
            isinstance(old, tree.OtherStatement)
            and isinstance(new, tree.OtherStatement)
            and old.kind == "GOTO_STMT"
        ):
            return "where 'goto' leads is not compared"
        return self._parts(old, new)

    def _variables(self, old: tree.Declarator, new: tree.Declarator) -> str | None:
        one, other = old.declaration, new.declaration
        if one.storage not in _LOCAL or other.storage not in _LOCAL:
            return f"'{one.name}' outlives a call"
        self.locals[one] = other
        reason = type_difference(one.type, other.type)
        if reason is not None or one.attributes != other.attributes:
            return self._named_difference(f"'{one.name}'", reason or "its attributes differ")
        return self._values(_some(old.initial), _some(new.initial)) or self._values(old.sizes, new.sizes)


def _is_constant(node: tree.Name) -> bool:
    """Whether a name denotes a number or a function, not an object."""
    return node.declaration.storage not in (*_LOCAL, tree.Storage.STATIC, tree.Storage.EXTERNAL)


def _some(value: tree.Expression | None) -> tuple[tree.Expression, ...]:
    return () if value is None else (value,)


def _is_conversion(node: tree.Expression) -> TypeGuard[tree.Cast]:
    """Whether this is an implicit conversion between integer types."""
    if not isinstance(node, tree.Cast) or not node.is_implicit:
        return False
    return isinstance(node.type, types.Integer) and isinstance(node.operand.type, types.Integer)


def _unconverted(node: tree.Expression) -> tree.Expression:
    return node.operand if _is_conversion(node) else node


def _named(node: tree.Expression) -> str:
    """An expression, as printed in messages, if it has a name."""
    match node:
        case tree.Name():
            return node.declaration.name
        case tree.Number():
            return node.text
        case tree.Subscript():
            return f"{_named(node.base)}[{_named(node.index)}]"
        case tree.MemberAccess():
            return f"{_named(node.object)}{'->' if node.is_arrow else '.'}{node.name}"
        case tree.Cast():
            return _named(node.operand)
        case tree.CallExpression() if node.callee is not None:
            return f"{node.callee.name}({', '.join(map(_named, node.arguments))})"
        case tree.Unary():
            return f"{node.operator}{_named(node.operand)}"
        case tree.Binary():
            return f"{_named(node.left)} {node.operator} {_named(node.right)}"
        case _:
            return "..."


def _word(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else "a part"
