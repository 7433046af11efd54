"""The interface of a region and its kernels: arrays, values and sizes, as function parameters.

Arrays are copied to the device, so their sizes must be declared; scalars are passed by value.  Kernels do not
see the rest of the C file: they may only use their parameters, and functions with bit-identical results on a
device.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import prod

from loopwright.c.tokens import names_in
from loopwright.emit.helpers import DEFINITIONS, taken
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.annotations import GPU
from loopwright.model.program import ELSEWHERE, Array, Hole, Inlined, MemorySpace, Program

TYPES = ("float", "double", "int", "long", "unsigned")
"""Element types that are the same on host and device; single words, since they are macro arguments."""

EXACT = ("sqrt", "sqrtf", "fabs", "fabsf", "floor", "floorf", "ceil", "ceilf")
"""Functions of C whose results are correctly rounded on both sides."""

WORDS = ("for", "if", "else", "int", "long", "float", "double", "unsigned", "const")

_RESERVED = """
blockIdx threadIdx blockDim gridDim warpSize dim3 class new this template typename operator delete
namespace using public private protected virtual friend try catch throw bool true false and or not xor
restrict NULL stdin stdout
"""
RESERVED = frozenset(_RESERVED.split())
"""Names with a meaning in the source of kernels."""

_QUALIFIED = re.compile(r"\b(static|const|restrict|volatile)\b|\*")
_LONG_DOUBLE = re.compile(r"(?<![\w.])(?=[\d.]*\d)(?!0[xX])\d*(?:\.\d*(?:[eE][-+]?\d+)?|[eE][-+]?\d+)[lL]\b")
_SUBSCRIPT = re.compile(r"\[[^][]*\]")
_SIGNED = ("int", "long", "long int", "long long")
_NUMBER = "a number"
_STORED = ("const", "static", "extern")
_UNSIGNED = re.compile(r"\bunsigned\b|(?<![\w.])(?:0[xX\d]|\d+[lL]*[uU])")
"""Matches a type or a number that is, or may be, unsigned, such as numbers in base 16 or 8."""
_AXIS = re.compile(r"\b(LW_(?:BLOCKS?|THREADS?|LANES?|ONE))\((?:x|y|z)\b")

MOST_DIMENSIONS = 4

ROOM_RANK = 5
"""The arrays that a launch declares."""


@dataclass(frozen=True)
class DeviceArray:
    """An array with a copy on the device; `sizes` are its extents in the text of the kernels."""

    name: str
    type: str
    sizes: tuple[str, ...]
    written: bool
    scratch: bool = False
    """Only on the device."""

    @property
    def count(self) -> str:
        """The number of its elements."""
        return " * ".join([f"(size_t)({self.sizes[0]})", *(f"({size})" for size in self.sizes[1:])])


@dataclass(frozen=True)
class Interface:
    """`numbers` are integers: parameters of the region and extents, by their names in the kernels."""

    arrays: tuple[DeviceArray, ...]
    scalars: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, str], ...]

    @property
    def passed(self) -> tuple[DeviceArray, ...]:
        """The arrays of the host."""
        return tuple(array for array in self.arrays if not array.scratch)

    @property
    def known(self) -> frozenset[str]:
        return frozenset(
            [
                *(array.name for array in self.arrays),
                *(name for name, _ in self.scalars),
                *(name for name, _ in self.numbers),
            ]
        )


def interface_of(program: Program) -> Interface:
    """Return the interface of a region; raises BadInput if something cannot be passed."""
    written = {access.array for one in program.statements for access in one.writes}
    touched = {access.array for one in program.statements for access in one.accesses}
    numbers: dict[str, str] = {}
    for parameter in program.parameters:
        if not parameter.text.isidentifier() or parameter.text != parameter.name:
            raise _refused(
                program, f"'{parameter.text}' cannot be passed to a kernel", "copy it to a variable first"
            )
        numbers[parameter.text] = parameter.text
    _check_values(program)
    arrays: list[DeviceArray] = []
    scalars: list[tuple[str, str]] = []
    for array in program.arrays:
        if array.name not in touched or (array.local and array.space is not MemorySpace.HEAP):
            continue
        kind = device_type(program, array)
        if array.local:
            sizes = tuple(_size(extent, numbers) for extent in array.extents)
            arrays.append(DeviceArray(array.name, kind, sizes, written=True, scratch=True))
            continue
        if array.extents or array.rank:
            sizes = tuple(_size(extent, numbers) for extent in _extents(program, array))
            arrays.append(DeviceArray(array.name, kind, sizes, array.name in written))
        elif array.name in written:
            message = f"{array.name} is written and is not an array: it has no place on the device"
            raise _refused(program, message, f"make it an array of one element, {array.name}[1]")
        else:
            scalars.append((array.name, kind))
    made = {f"{array.name}{more}" for array in arrays for more in ("_", "_host")}
    taken_names = made & {*numbers, *(one.name for one in program.arrays)}
    if taken_names:
        name = min(taken_names)
        raise _refused(program, f"'{name}' is the name of a copy on the device", "give it another name")
    return Interface(tuple(arrays), tuple(scalars), tuple(numbers.items()))


def _check_values(program: Program) -> None:
    """Parameters are `long` in kernels: computations with them must have the same value in C.

    They do if C computes them in a signed type.  C converts an int operand of an unsigned operation.
    """
    unsigned = {one.name for one in program.arrays if not _is_signed(program, one.element_type or "")}
    for statement in program.statements:
        holes = list(_all_holes(statement.body.holes))
        definitions = (one.definition.text for one in holes if isinstance(one, Inlined))
        *subscripts, value = _parts(" ".join([statement.body.place.text, *definitions]))
        for part in subscripts:
            if not unsigned.isdisjoint(names_in(part)):
                _check_value(program, part, is_mixed=True)
        converted = {one.place.text for one in holes if not _is_signed(program, one.type)}
        is_mixed = not (unsigned | converted).isdisjoint(names_in(value))
        _check_value(program, value, is_mixed=is_mixed or _UNSIGNED.search(value) is not None)


def _check_value(program: Program, text: str, *, is_mixed: bool) -> None:
    """Refuse a value with a parameter that kernels compute differently."""
    for name in sorted(set(names_in(text)) & set(program.params)):
        kind = _parameter_type(program, name)
        if kind not in (*_SIGNED, _NUMBER):
            message = f"a value is computed with {name}, which is not known to be a signed number"
            raise _refused(program, message, "copy it to a variable of type long or double first")
        if is_mixed and kind not in _SIGNED[1:]:
            message = f"a value is computed with {name} and unsigned numbers; kernels have {name} in 64 bits"
            raise _refused(program, message, "copy it to a variable of type unsigned first")


def _parts(text: str) -> Iterator[str]:
    """The subscripts in a text, innermost first, then the rest; each without those inside."""
    while found := _SUBSCRIPT.findall(text):
        yield from found
        text = _SUBSCRIPT.sub(" ", text)
    yield text


def _is_signed(program: Program, kind: str) -> bool:
    declared = program.file.declarations.resolved(kind).split()
    return " ".join(word for word in declared if word not in _STORED) in (*_SIGNED, "float", "double")


def _parameter_type(program: Program, name: str) -> str:
    """The type of a parameter of the region in C; for a macro, the type of its number."""
    variable = program.file.declarations.visible(name, program.region)
    if variable is not None:
        return program.file.declarations.resolved(variable.type).removeprefix("const ")
    bodies = [one.body for one in program.file.macros if one.name == name]
    is_number = bodies and all(re.fullmatch(r"\(?\s*\d+[lL]*\s*\)?", body) for body in bodies)
    return _NUMBER if is_number else ""


def _all_holes(holes: tuple[Hole | Inlined, ...]) -> Iterator[Hole | Inlined]:
    """Iterators and locals in a text, and in the values that stand for locals."""
    for hole in holes:
        yield hole
        if isinstance(hole, Inlined):
            yield from _all_holes(hole.holes)


def device_type(program: Program, array: Array) -> str:
    """The type of the elements, without names of the file."""
    if array.name == ELSEWHERE:
        reason = "".join(f": {one.message}" for one in program.set_aside[:1])
        message = f"the region does more than change its arrays{reason}"
        raise _refused(program, message, "leave this out of the region: kernels work on arrays alone")
    declared = program.file.declarations.resolved(array.element_type or "")
    kind = " ".join(word for word in declared.split() if word not in _STORED)
    if kind not in TYPES:
        shown = kind or "an unknown type"
        raise _refused(
            program, f"{array.name} has elements of {shown}", f"kernels support {', '.join(TYPES)}"
        )
    return kind


def _extents(program: Program, array: Array) -> tuple[str, ...]:
    """The extents of the declaration, all of which are known, in contiguous memory."""
    variable = program.file.declarations.visible(array.name, program.region)
    extents = array.extents
    vague = any(not one.strip() or _QUALIFIED.search(one) for one in extents)
    if variable is None or variable.has_row_pointers or variable.rank != len(extents) or vague:
        message = f"the declaration of {array.name} does not give its size"
        raise _refused(program, message, f"declare it with its sizes, such as {array.name}[n][m]")
    if len(extents) > MOST_DIMENSIONS:
        message = f"{array.name} has {len(extents)} dimensions; kernels support {MOST_DIMENSIONS}"
        raise _refused(program, message, "make it an array of fewer dimensions")
    return extents


def _size(extent: str, numbers: dict[str, str]) -> str:
    """The name of an extent in the kernels: a number of the region keeps its own name."""
    text = " ".join(extent.split())
    if text.isidentifier():
        numbers[text] = text
        return text
    if re.fullmatch(r"\d+", text):
        return text
    for name, known in numbers.items():
        if known == text:
            return name
    name = f"lw_extent{len(numbers)}"
    numbers[name] = text
    return name


def has_room(array: Array) -> bool:
    """Whether it is the array of a kernel that a launch reserves space for: one of five dimensions."""
    return array.space is MemorySpace.SHARED and array.rank == ROOM_RANK


def bytes_of(program: Program, array: Array) -> int:
    return prod(map(int, array.extents)) * (8 if device_type(program, array) in ("double", "long") else 4)


def check_room(program: Program, shared: Sequence[Array]) -> None:
    """Check that the buffers of a block fit into shared memory."""
    known = [one for one in shared if all(extent.isdigit() for extent in one.extents)]
    sizes = {one.name: bytes_of(program, one) for one in known}
    room = sum(sizes[one.name] for one in known if has_room(one))
    size = sum(sizes.values()) - room
    if size > GPU.most_shared or size + room > GPU.most_room or len(known) < len(shared):
        most = GPU.most_room if room else GPU.most_shared
        message = f"the buffers of a block have {size + room} bytes, but a GPU has {most}"
        raise BadInput(Code.STORAGE, message, span=program.region, hint="make the tiles smaller")


def check_names(program: Program, text: str, known: Iterable[str], made: Collection[str] = ()) -> None:
    """Refuse kernel source with an unknown name; `made` ones are generated."""
    own = {*(one.name for one in program.file.functions), *(one.name for one in program.file.macros)}
    exact = set(EXACT) - own
    allowed = {*known, *exact, *WORDS, *(set(DEFINITIONS) - taken(program.source, program))}
    mentioned = [name for name in names_in(_AXIS.sub(r"\1(", text)) if not name.startswith("LW_")]
    strange = [name for name in mentioned if name not in allowed]
    if strange:
        message = f"the loops use '{strange[0]}', which is not known on a device"
        functions = ", ".join(name for name in EXACT if not name.endswith("f"))
        hint = f"expand macros; functions that give the same bits there: {functions}"
        raise _refused(program, message, hint)
    if _LONG_DOUBLE.search(text) is not None:
        raise _refused(program, "a device has no long double", "remove the suffix L of the number")
    ours = set(made).difference(names_in(program.source.text))
    others = [name for name in mentioned if name not in ours]
    reserved = [name for name in others if name in RESERVED or name.startswith("lw_")]
    if reserved:
        raise _refused(program, f"'{reserved[0]}' is a reserved name in CUDA", "give it another name")


def _refused(program: Program, message: str, hint: str) -> BadInput:
    return BadInput(Code.REGION_TEXT, message, span=program.region, hint=hint)
