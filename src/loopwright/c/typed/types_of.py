"""Types of the front end as values of `c.types`."""

from __future__ import annotations

import re
from dataclasses import field

from loopwright.c import types
from loopwright.c.typed import front_end
from loopwright.c.typed.front_end import ClangType, Cursor
from loopwright.lazy_dataclass import dataclass

_RANKS = {
    "BOOL": (0, False),
    "CHAR_U": (1, False),
    "CHAR_S": (1, True),
    "SCHAR": (1, True),
    "UCHAR": (1, False),
    "SHORT": (2, True),
    "USHORT": (2, False),
    "INT": (3, True),
    "UINT": (3, False),
    "LONG": (4, True),
    "ULONG": (4, False),
    "LONGLONG": (5, True),
    "ULONGLONG": (5, False),
    "INT128": (6, True),
    "UINT128": (6, False),
}
_FLOATING = ("HALF", "FLOAT16", "FLOAT", "DOUBLE", "LONGDOUBLE", "FLOAT128")
_ARRAYS = ("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY")
_DEEPEST = 40


@dataclass
class Types:
    """Converts types, each once; a type that a stand-in declares (before `known_from`) is unknown."""

    known_from: int
    has_lengths: bool = True
    seen: dict[tuple[str, str], types.CType] = field(default_factory=dict)
    around: list[str] = field(default_factory=list)
    """The records that are being converted, from the outermost in."""

    def of(self, kind: ClangType) -> types.CType:
        key = front_end.kind(kind), str(kind.spelling)
        inside = bool(self.around)
        if not inside and key in self.seen:
            return self.seen[key]
        found = self._qualified(kind, key[0])
        if not inside:
            self.seen[key] = found
        return found

    def of_parameter(self, kind: ClangType) -> types.CType:
        """An array that is a parameter is a pointer (6.7.6.3)."""
        found = self.of(kind)
        return types.Pointer(found.element) if isinstance(found, types.ArrayType) else found

    def _qualified(self, kind: ClangType, name: str) -> types.CType:
        is_const, is_volatile = bool(kind.is_const_qualified()), bool(kind.is_volatile_qualified())
        if name in _ARRAYS:
            return self._array(kind)
        if name == "ATOMIC":
            inner = types.Unknown(f"the type '{kind.spelling}' is not taken apart")
            return types.Qualified(inner, is_const, is_volatile, is_atomic=True)
        found = self._plain(kind, name)
        if not (is_const or is_volatile) or isinstance(found, types.Unknown):
            return found
        if isinstance(found, types.Qualified):
            return types.Qualified(
                found.type, found.is_const or is_const, found.is_volatile or is_volatile, found.is_atomic
            )
        return types.Qualified(found, is_const, is_volatile)

    def _plain(self, kind: ClangType, name: str) -> types.CType:
        if name in _RANKS:
            rank, signed = _RANKS[name]
            return types.Integer(1 if name == "BOOL" else 8 * kind.get_size(), signed, rank)
        if name in _FLOATING:
            return types.Floating(8 * kind.get_size())
        match name:
            case "VOID":
                return types.Void()
            case "COMPLEX":
                return types.Floating(4 * kind.get_size(), is_complex=True)
            case "POINTER":
                return types.Pointer(self.of(kind.get_pointee()), bool(kind.is_restrict_qualified()))
            case "TYPEDEF":
                declared = kind.get_declaration()
                if front_end.start(declared) < self.known_from:
                    return types.Unknown(f"the type '{declared.spelling}' is not declared")
                return self.of(declared.underlying_typedef_type)
            case "ELABORATED":
                return self.of(kind.get_named_type())
            case "RECORD":
                return self._record(kind)
            case "ENUM":
                integer = self.of(kind.get_declaration().enum_type)
                return (
                    types.Enumeration(str(kind.get_declaration().spelling), integer)
                    if isinstance(integer, types.Integer)
                    else types.Unknown(f"'{kind.spelling}' has no declaration")
                )
            case "FUNCTIONPROTO":
                parameters = tuple(self.of_parameter(one) for one in front_end.argument_types(kind))
                return types.FunctionType(
                    self.of(kind.get_result()), parameters, bool(kind.is_function_variadic())
                )
            case "FUNCTIONNOPROTO":
                return types.FunctionType(self.of(kind.get_result()), None)
        canonical = kind.get_canonical()
        if front_end.kind(canonical) != name:
            return self.of(canonical)
        return types.Unknown(f"the type '{kind.spelling}' is not modelled")

    def _array(self, kind: ClangType) -> types.CType:
        element = self.of(kind.get_array_element_type())
        match front_end.kind(kind):
            case "CONSTANTARRAY":
                return types.ArrayType(element, int(kind.element_count) if self.has_lengths else "?")
            case "VARIABLEARRAY":
                inner = str(kind.get_array_element_type().spelling)
                return types.ArrayType(element, _length(str(kind.spelling), inner))
            case _:
                return types.ArrayType(element, None)

    def _record(self, kind: ClangType) -> types.CType:
        declared = kind.get_declaration()
        tag = str(declared.spelling)
        is_union = front_end.kind(declared) == "UNION_DECL"
        name = str(kind.spelling)
        is_complete = kind.get_size() >= 0
        if name in self.around or not is_complete or len(self.around) > _DEEPEST:
            return types.Record(tag, None, is_union)
        self.around.append(name)
        try:
            fields = tuple(self._field(one) for one in kind.get_fields())
        finally:
            self.around.pop()
        return types.Record(tag, fields, is_union)

    def _field(self, cursor: Cursor) -> types.Field:
        kind = self.of(cursor.type)
        if cursor.is_bitfield() and isinstance(kind, types.Integer):
            kind = types.Integer(cursor.get_bitfield_width(), kind.signed, kind.rank)
        return types.Field(str(cursor.spelling), kind, int(cursor.get_field_offsetof()))


def _length(whole: str, element: str) -> str:
    """n of `double[n][m]`, whose elements are `double[m]`."""
    shared = 0
    while shared < min(len(whole), len(element)) and whole[shared] == element[shared]:
        shared += 1
    opening = whole.rfind("[", 0, shared + 1)
    inside = re.match(r"\[([^\[\]]*)\]", whole[max(opening, 0) :])
    return inside[1] if inside is not None else "?"
