"""What the names of a file are declared as."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property

from loopwright.c.tokens import names_in
from loopwright.c.typed import front_end
from loopwright.c.typed.front_end import Cursor
from loopwright.c.typed.preprocess import Preprocessed
from loopwright.c.typed.tree import Declaration, Storage
from loopwright.c.typed.types_of import Types
from loopwright.c.types import CType, Enumeration, Field, Integer, Unknown
from loopwright.lazy_dataclass import dataclass

_STORAGE = {"STATIC": Storage.STATIC, "EXTERN": Storage.EXTERNAL, "PRIVATEEXTERN": Storage.EXTERNAL}
_KINDS = ("VAR_DECL", "PARM_DECL", "FUNCTION_DECL", "ENUM_CONSTANT_DECL")
_OF_THREADS = re.compile(r"\s*#\s*pragma\s+omp\s+(?:threadprivate|groupprivate)\s*\(([^()]*)\)")


@dataclass
class Names:
    """Declarations of the front end as values, each made once."""

    text: Preprocessed
    types: Types
    seen: dict[int, Declaration] = field(default_factory=dict)
    cursors: dict[int, Cursor] = field(default_factory=dict)

    def declaration(self, cursor: Cursor) -> Declaration:
        """What a cursor declares."""
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
        """What directives of OpenMP give each thread of its own."""
        found = [_OF_THREADS.match(one) for one in self.text.directives]
        return frozenset(name for one in found if one is not None for name in names_in(one[1]))

    def _attribute(self, cursor: Cursor) -> str:
        """As it is written; the name that assembler code knows a variable by is an attribute, too."""
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
        """A member of a record, whether it shares its place with others, and whether it is a bit-field."""
        is_field = cursor is not None and front_end.kind(cursor) == "FIELD_DECL"
        if cursor is None or not is_field or front_end.start(cursor) < self.types.known_from:
            return None
        kind = self.types.of(cursor.type)
        is_bit_field = bool(cursor.is_bitfield())
        if is_bit_field and isinstance(kind, Integer):
            kind = Integer(cursor.get_bitfield_width(), kind.signed, kind.rank)
        found = Field(str(cursor.spelling), kind, int(cursor.get_field_offsetof()))
        return found, _in_union(cursor), is_bit_field


def _in_union(cursor: Cursor) -> bool:
    """Whether a union is around a member, up to the record that is named."""
    outer = cursor.semantic_parent
    while front_end.kind(outer) in ("UNION_DECL", "STRUCT_DECL"):
        if front_end.kind(outer) == "UNION_DECL":
            return True
        if not outer.is_anonymous():
            return False
        outer = outer.semantic_parent
    return False


def _is_implicit(cursor: Cursor) -> bool:
    """Whether a call of an undeclared function declared it: it is nowhere but where it is called."""
    start, end = front_end.extent(cursor)
    return start == end or end - start <= len(str(cursor.spelling))
