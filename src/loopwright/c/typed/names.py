"""Names as declarations, and types of the front end as values of `c.types`."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property

from loopwright.c import types
from loopwright.c.tokens import names_in
from loopwright.c.typed import front_end
from loopwright.c.typed.front_end import ClangType, Cursor
from loopwright.c.typed.preprocess import Preprocessed
from loopwright.c.typed.tree import Declaration, Storage
from loopwright.c.types import CType, Enumeration, Field, Unknown
from loopwright.lazy_dataclass import dataclass

_STORAGE = {"STATIC": Storage.STATIC, "EXTERN": Storage.EXTERNAL, "PRIVATEEXTERN": Storage.EXTERNAL}
_KINDS = ("VAR_DECL", "PARM_DECL", "FUNCTION_DECL", "ENUM_CONSTANT_DECL")
_OF_THREADS = re.compile(r"\s*#\s*pragma\s+omp\s+(?:threadprivate|groupprivate)\s*\(([^()]*)\)")


@dataclass
class Names:
    """The declarations of the front end as values, each built once."""

    text: Preprocessed
    types: Types
    seen: dict[int, Declaration] = field(default_factory=dict)
    cursors: dict[int, Cursor] = field(default_factory=dict)
    found: dict[tuple[int, int], Declaration] = field(default_factory=dict)
    """The declarations by the identities of cursors that were asked about."""

    def declaration(self, cursor: Cursor) -> Declaration:
        """The declaration at a cursor."""
        key = front_end.identity(cursor)
        if key not in self.found:
            declared = self._first(cursor)
            if not declared.offset:
                return declared
            self.found[key] = declared
        return self.found[key]

    def _first(self, cursor: Cursor) -> Declaration:
        """The first declaration of what a cursor declares; all that have no place are at offset 0."""
        first = cursor.canonical
        offset = front_end.start(first)
        if offset not in self.seen or not offset:
            self.seen[offset] = self._declaration(cursor, offset)
            self.cursors[offset] = cursor
        return self.seen[offset]

    def _declaration(self, cursor: Cursor, offset: int) -> Declaration:
        name, kind = str(cursor.spelling), front_end.kind(cursor)
        line = self.text.line_of(offset)
        outer = cursor.semantic_parent
        is_file_scope = outer is None or front_end.kind(outer) == "TRANSLATION_UNIT"
        is_implicit = kind == "FUNCTION_DECL" and _is_implicit(cursor)
        if offset < self.types.known_from or kind not in _KINDS or is_implicit:
            reason = Unknown(f"'{name}' is not declared")
            return Declaration(name, reason, Storage.UNDECLARED, is_file_scope=True, offset=offset, line=line)
        if kind == "ENUM_CONSTANT_DECL":
            integer = self.types.of(cursor.type)
            integer = integer.integer if isinstance(integer, Enumeration) else integer
            value = int(cursor.enum_value)
            return Declaration(name, integer, Storage.ENUMERATOR, is_file_scope, offset, line, (), value)
        attributes = tuple(
            self._attribute(child)
            for one in {front_end.start(one): one for one in (cursor, cursor.canonical)}.values()
            for child in front_end.children(one)
            if front_end.is_attribute(child)
        )
        storage = self._storage(cursor, kind, is_file_scope=is_file_scope)
        types = self.types.of_parameter if kind == "PARM_DECL" else self.types.of
        found: CType = types(cursor.type)
        is_thread = front_end.is_thread_local(cursor) or name in self._of_threads
        return Declaration(
            name, found, storage, is_file_scope, offset, line, attributes, is_thread_local=is_thread
        )

    @cached_property
    def _of_threads(self) -> frozenset[str]:
        """The variables that OpenMP directives make thread-local."""
        found = [_OF_THREADS.match(one) for one in self.text.directives]
        return frozenset(name for one in found if one is not None for name in names_in(one[1]))

    def _attribute(self, cursor: Cursor) -> str:
        """An attribute as written; the assembler name of a variable counts as one."""
        text = " ".join(self.text.text[slice(*front_end.extent(cursor))].split())
        return f"asm({text})" if front_end.kind(cursor) == "ASM_LABEL_ATTR" else text

    def _storage(self, cursor: Cursor, kind: str, *, is_file_scope: bool) -> Storage:
        if kind == "FUNCTION_DECL":
            return Storage.FUNCTION
        if kind == "PARM_DECL":
            return Storage.PARAMETER
        found = _STORAGE.get(str(cursor.storage_class.name))
        return found or (Storage.EXTERNAL if is_file_scope else Storage.AUTOMATIC)

    def member(self, cursor: Cursor | None) -> tuple[Field, bool, bool] | None:
        """A member of a record, whether it shares its storage with others, and whether it is a bit-field."""
        is_field = cursor is not None and front_end.kind(cursor) == "FIELD_DECL"
        if cursor is None or not is_field or front_end.start(cursor) < self.types.known_from:
            return None
        return self.types.field(cursor), _in_union(cursor), bool(cursor.is_bitfield())


def _in_union(cursor: Cursor) -> bool:
    """Whether a union encloses a member, inside the named record."""
    outer = cursor.semantic_parent
    while front_end.kind(outer) in ("UNION_DECL", "STRUCT_DECL"):
        if front_end.kind(outer) == "UNION_DECL":
            return True
        if not outer.is_anonymous():
            return False
        outer = outer.semantic_parent
    return False


def _is_implicit(cursor: Cursor) -> bool:
    """Whether a call of an undeclared function declared it implicitly: its extent is only the call."""
    start, end = front_end.extent(cursor)
    return start == end or end - start <= len(str(cursor.spelling))


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
    seen: dict[tuple[str, str, tuple[int, int]], types.CType] = field(default_factory=dict)
    """The types by their kinds and spellings, and what is meant: blocks may define one name differently."""
    found: dict[tuple[int, int], types.CType] = field(default_factory=dict)
    """The same by the identities of types; several have one spelling."""
    around: list[tuple[int, int]] = field(default_factory=list)
    """The records that are being converted, from the outermost to the innermost."""

    def of(self, kind: ClangType) -> types.CType:
        if self.around:
            return self._of(kind)
        key = front_end.identity(kind)
        if key not in self.found:
            self.found[key] = self._of(kind)
        return self.found[key]

    def _of(self, kind: ClangType) -> types.CType:
        key = front_end.kind(kind), str(kind.spelling), front_end.identity(kind.get_canonical())
        inside = bool(self.around)
        if not inside and key in self.seen:
            return self.seen[key]
        found = self._qualified(kind, key[0])
        if not inside:
            self.seen[key] = found
        return found

    def of_parameter(self, kind: ClangType) -> types.CType:
        """The type of a parameter: an array is adjusted to a pointer (6.7.6.3)."""
        found = self.of(kind)
        return types.Pointer(found.element) if isinstance(found, types.ArrayType) else found

    def _qualified(self, kind: ClangType, name: str) -> types.CType:
        is_const, is_volatile = bool(kind.is_const_qualified()), bool(kind.is_volatile_qualified())
        if name in _ARRAYS:
            return self._array(kind)
        if name == "ATOMIC":
            inner = types.Unknown(f"the type '{kind.spelling}' is not analysed")
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
            return _floating(name, kind.get_size())
        match name:
            case "VOID":
                return types.Void()
            case "COMPLEX":
                name = front_end.kind(kind.element_type)
                return types.Floating(_floating(name, kind.get_size() // 2).bits, is_complex=True)
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
        meant = front_end.identity(declared.type.get_canonical())
        is_complete = kind.get_size() >= 0
        if meant in self.around or not is_complete or len(self.around) > _DEEPEST:
            return types.Record(tag, None, is_union)
        self.around.append(meant)
        try:
            fields = tuple(map(self.field, kind.get_fields()))
        finally:
            self.around.pop()
        return types.Record(tag, fields, is_union, int(kind.get_size()))

    def field(self, cursor: Cursor) -> types.Field:
        """A member of a record; one with a width has an integer type of so many bits."""
        kind = self.of(cursor.type)
        if cursor.is_bitfield() and isinstance(kind, types.Integer):
            kind = types.Integer(cursor.get_bitfield_width(), kind.signed, kind.rank)
        return types.Field(str(cursor.spelling), kind, int(cursor.get_field_offsetof()))


def _floating(name: str, size: int) -> types.Floating:
    is_long = name == "LONGDOUBLE" and size == types.LONG_DOUBLE_BYTES
    return types.LONG_DOUBLE if is_long else types.Floating(8 * size)


def _length(whole: str, element: str) -> str:
    """The length n of `double[n][m]`, whose elements are `double[m]`."""
    shared = 0
    while shared < min(len(whole), len(element)) and whole[shared] == element[shared]:
        shared += 1
    opening = whole.rfind("[", 0, shared + 1)
    inside = re.match(r"\[([^\[\]]*)\]", whole[max(opening, 0) :])
    return inside[1] if inside is not None else "?"
