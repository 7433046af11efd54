"""A wrapper of libclang: parsing, cursors and their places, types.

Only this module uses its Python interface, which is untyped and hides the kinds of operators.
Offsets are byte offsets in the text that was parsed.
"""

from __future__ import annotations

from ctypes import byref, c_int, c_longlong, c_uint, c_ulonglong, c_void_p
from functools import cache
from typing import Any

from clang import cindex

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass

Cursor = Any
"""A `clang.cindex.Cursor`."""
ClangType = Any
"""A `clang.cindex.Type`."""

_CURSORS: dict[int, str] = {}
_TYPES: dict[int, str] = {}
"""The names of the kinds used so far, by their numbers."""
_FILE = "preprocessed.i"
_ERROR = 3
_ARGUMENTS = (
    "-x",
    "cpp-output",
    "-w",
    "-ferror-limit=0",
    "-fno-spell-checking",
    "-fno-builtin",
    "-Wno-implicit-function-declaration",
    "-Wno-implicit-int",
    "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types",
)


@dataclass(frozen=True, slots=True)
class FrontEndError:
    """An error of the front end, at an offset of the text."""

    text: str
    offset: int


@dataclass(frozen=True)
class Parsed:
    """A parsed text: the translation unit, which knows its `places`, and its errors."""

    unit: Any
    diagnostics: tuple[FrontEndError, ...]


@cache
def _index() -> Any:
    return cindex.Index.create()


@cache
def _library() -> Any:
    library = cindex.conf.lib
    for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind"):
        function = getattr(library, name)
        function.argtypes = [cindex.Cursor]
        function.restype = c_int
    library.clang_getCursorTLSKind.argtypes = [cindex.Cursor]
    library.clang_Cursor_Evaluate.argtypes = [cindex.Cursor]
    library.clang_Cursor_Evaluate.restype = c_void_p
    for name in ("getKind", "isUnsignedInt", "getAsUnsigned", "getAsLongLong", "dispose"):
        getattr(library, f"clang_EvalResult_{name}").argtypes = [c_void_p]
    library.clang_EvalResult_getAsUnsigned.restype = c_ulonglong
    library.clang_EvalResult_getAsLongLong.restype = c_longlong
    return library


@cache
def _referenced() -> Any:
    """`clang_getCursorReferenced` without the conversion of its result."""
    function = cindex.conf.lib["clang_getCursorReferenced"]
    function.argtypes, function.restype = [cindex.Cursor], cindex.Cursor
    return function


def parse(text: str, arguments: tuple[str, ...]) -> Parsed:
    """Parse a preprocessed text of one character per byte; errors quote it in the same encoding."""
    try:
        unit = _index().parse(
            _FILE, args=[*_ARGUMENTS, *arguments], unsaved_files=[(_FILE, text.encode("latin-1"))]
        )
    except cindex.TranslationUnitLoadError as failure:
        raise InternalError(Code.INTERNAL, f"libclang could not parse a text: {failure}") from failure
    first = cindex.SourceLocation.from_offset(unit, unit.get_file(_FILE), 0).int_data
    unit.places = range(first, first + len(text) + 1)
    found = [
        FrontEndError(one.spelling.encode().decode("latin-1"), offset_of(one.location))
        for one in unit.diagnostics
        if one.severity >= _ERROR
    ]
    return Parsed(unit, tuple(found))


def offset_of(location: Any) -> int:
    offset = c_uint()
    _library().clang_getInstantiationLocation(location, None, None, None, byref(offset))
    return offset.value


def extent(cursor: Cursor) -> tuple[int, int]:
    """The start and end offsets of a cursor's text.

    The number of a place in the text, which is parsed as one file, is its offset after that of the file's
    start; any other number, such as that of a place in a macro, is looked up.
    """
    library = _library()
    place, inside = library.clang_getCursorExtent(cursor), cursor._tu.places
    start, end = place.begin_int_data, place.end_int_data
    if start in inside and end in inside:
        return start - inside.start, end - inside.start
    return offset_of(library.clang_getRangeStart(place)), offset_of(library.clang_getRangeEnd(place))


def named_at(parsed: Parsed, offset: int) -> Cursor | None:
    """The declaration of the name at an offset of the text; None if no expression names one there."""
    unit = parsed.unit
    place = cindex.SourceLocation.from_offset(unit, unit.get_file(_FILE), offset)
    cursor = cindex.Cursor.from_location(unit, place)
    if kind(cursor) != "DECL_REF_EXPR" or start(cursor) != offset:
        return None
    return referenced(cursor)


def is_attribute(cursor: Cursor) -> bool:
    """Whether a cursor is an attribute; a declaration has them as children."""
    return kind(cursor).endswith("_ATTR")


def start(cursor: Cursor) -> int:
    """The offset of the name of a declaration, or of an expression."""
    place, inside = _library().clang_getCursorLocation(cursor), cursor._tu.places
    return place.int_data - inside.start if place.int_data in inside else offset_of(place)


def kind(cursor: Cursor | ClangType) -> str:
    """The name of a cursor's or type's kind; the Python interface does not know all of them."""
    names = _TYPES if isinstance(cursor, cindex.Type) else _CURSORS
    found = names.get(cursor._kind_id)
    if found is None:
        try:
            found = str(cursor.kind.name)
        except ValueError:
            found = f"KIND_{cursor._kind_id}"
        names[cursor._kind_id] = found
    return found


def argument_types(function: ClangType) -> list[ClangType]:
    """The types of a function's parameters, including those that the Python interface does not know."""
    library = _library()
    return [library.clang_getArgType(function, k) for k in range(library.clang_getNumArgTypes(function))]


_POINTERS = ("POINTER", "CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY", "DEPENDENTSIZEDARRAY")
"""What the types of pointers are called; a parameter that is declared as an array keeps that type here."""


def may_move_a_pointer(cursor: Cursor) -> bool:
    """Whether a cursor declares a variable that is a pointer or an array, or assigns one, or is `++` or `--`
    of one."""
    match kind(cursor):
        case "VAR_DECL" | "COMPOUND_ASSIGNMENT_OPERATOR":
            is_change = True
        case "BINARY_OPERATOR":
            is_change = binary_operator(cursor) == "="
        case "UNARY_OPERATOR":
            is_change = unary_operator(cursor) in ("x++", "x--", "++x", "--x")
        case _:
            is_change = False
    return is_change and kind(cursor.type.get_canonical()) in _POINTERS


def children(cursor: Cursor) -> list[Cursor]:
    found: list[Cursor] = []
    _library().clang_visitChildren(cursor, _COLLECTING, found)
    for child in found:
        child._tu = cursor._tu
    return found


def _collect(child: Cursor, _: Cursor, found: list[Cursor]) -> int:
    found.append(child)
    return _CONTINUE


_CONTINUE = 1
"""The number of CXChildVisit_Continue."""
_COLLECTING = cindex.callbacks["cursor_visit"](_collect)


def referenced(cursor: Cursor) -> Cursor | None:
    """The declaration that an expression names, or of the member that it names."""
    found = _referenced()(cursor)
    found._tu = cursor._tu
    return None if found._kind_id in _INVALID else found


_INVALID = range(70, 74)
"""The numbers of the kinds of cursors that are none, CXCursor_FirstInvalid to CXCursor_LastInvalid."""


def identity(one: Cursor | ClangType) -> tuple[int, int]:
    """What distinguishes a declaration, or a type, from others of its translation unit: its kind and its
    address, which stays the same as long as the unit is there."""
    return one._kind_id, one.data[0]


_BINARY = (
    *("", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!="),
    *("&", "^", "|", "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ","),
)
_UNARY = (
    *("", "x++", "x--", "++x", "--x", "&", "*", "+", "-", "~", "!", "__real__", "__imag__", "__extension__"),
    "co_await",
)


def binary_operator(cursor: Cursor) -> str:
    """The operator as written, from its CXBinaryOperatorKind."""
    return _BINARY[_library().clang_getCursorBinaryOperatorKind(cursor)]


def unary_operator(cursor: Cursor) -> str:
    """The operator as written, from its CXUnaryOperatorKind; `x++` and `++x` tell postfix from prefix."""
    return _UNARY[_library().clang_getCursorUnaryOperatorKind(cursor)]


def is_expression(cursor: Cursor) -> bool:
    """Whether a cursor is an expression, by CXCursorKind numbers: the Python interface lacks some kinds."""
    return 100 <= int(cursor._kind_id) < 200


def is_statement(cursor: Cursor) -> bool:
    return 200 <= int(cursor._kind_id) < 350


def is_thread_local(cursor: Cursor) -> bool:
    return kind(cursor) == "VAR_DECL" and bool(_library().clang_getCursorTLSKind(cursor))


def is_extern(cursor: Cursor) -> bool:
    return str(cursor.storage_class.name) == "EXTERN"


_INTEGER = 1
"""The number of CXEval_Int."""


def value(cursor: Cursor) -> int | None:
    """The value of an integer constant expression, as the front end computes it."""
    library = _library()
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        if library.clang_EvalResult_getKind(result) != _INTEGER:
            return None
        if library.clang_EvalResult_isUnsignedInt(result):
            return int(library.clang_EvalResult_getAsUnsigned(result))
        return int(library.clang_EvalResult_getAsLongLong(result))
    finally:
        library.clang_EvalResult_dispose(result)
