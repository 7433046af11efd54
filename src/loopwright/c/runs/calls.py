"""Calls in a run that is followed: functions of the file, of the C library, and of other files.

What functions of the C library return is known for numbers: `abs(-4)`, `sqrt(16.0)`, `strlen("abc")`.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field
from itertools import count

from loopwright.c import types
from loopwright.c.runs.conversions import converted, either
from loopwright.c.runs.memory import FUNCTION, HEAP, LOCAL, Address, Key, RunMemory, StoredBlock, Value
from loopwright.c.runs.values import Stopped, Values
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFunction
from loopwright.lazy_dataclass import dataclass

Number = int | float


def _rounded(value: Number) -> Number:
    """Half-way cases away from zero."""
    whole = math.floor(abs(value))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)


def _to_even(value: Number) -> Number:
    return math.copysign(float(round(value)), value)


_FLOATING: dict[str, Callable[..., Number]] = {
    **{name: getattr(math, name) for name in ("sqrt", "pow", "exp", "log", "log2", "log10", "hypot", "fmod")},
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "atan", "atan2", "fabs", "exp2", "cbrt")},
    **{name: getattr(math, name) for name in ("ceil", "floor", "trunc", "ldexp")},
    "fmax": max,
    "fmin": min,
    "round": _rounded,
    "rint": _to_even,
    "nearbyint": _to_even,
    "lround": _rounded,
    "llround": _rounded,
    "lrint": _to_even,
    "llrint": _to_even,
}
_INTEGER: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "labs": abs,
    "llabs": abs,
    "popcount": lambda value: (value & 0xFFFFFFFF).bit_count(),
    "popcountl": lambda value: (value & (1 << 64) - 1).bit_count(),
    "expect": lambda value, _: value,
    "toupper": lambda value: value - 32 if 97 <= value <= 122 else value,
    "tolower": lambda value: value + 32 if 65 <= value <= 90 else value,
}
_WRITTEN_NUMBER = re.compile(rb"\s*([+-]?\d+)")
_WRITTEN_FLOAT = re.compile(rb"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")


def _result_of(name: str, arguments: Sequence[Number]) -> Number | None:
    """The result of a function of numbers; None if it is not known."""
    plain = name.removeprefix("__builtin_")
    function = _INTEGER.get(plain)
    if function is None:
        plain = plain if plain in _FLOATING else plain.removesuffix("f").removesuffix("l")
        function = _FLOATING.get(plain)
    elif not all(isinstance(one, int) for one in arguments):
        return None
    if function is None:
        return None
    try:
        found = function(*arguments)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return found if isinstance(found, int | float) and math.isfinite(found) else None


def _result_of_text(name: str, text: bytes, others: Sequence[Number | None]) -> Number | None:
    """The result of a function of a string and numbers: `atoi("4")`, `strtol("4", 0, 10)`."""
    match name.removeprefix("__builtin_"):
        case "strlen":
            return len(text)
        case "atoi" | "atol" | "atoll":
            found = _WRITTEN_NUMBER.match(text)
            return _in_range(int(found[1])) if found else 0
        case "strtol" | "strtoul" | "strtoll" | "strtoull" if others[-1:] in ([10], [0]):
            found = _WRITTEN_NUMBER.match(text)
            is_plain = others[-1] == 10 or (found is not None and not found[1].lstrip(b"+-").startswith(b"0"))
            return _in_range(int(found[1])) if found and is_plain else None
        case "atof" | "strtod" | "strtof":
            found = _WRITTEN_FLOAT.match(text)
            return float(found[1]) if found and text[found.end() :][:1] not in (b"x", b"X") else None
    return None


def _in_range(value: int) -> int | None:
    """A number that is not cut off at the limits of the type."""
    return value if abs(value) < 2**31 else None


_DEEPEST = 30
_ENDING = ("exit", "abort", "_exit", "_Exit", "__assert_fail", "__builtin_unreachable", "__builtin_trap")
_ALLOCATING = ("malloc", "calloc", "aligned_alloc", "memalign", "valloc")
_SORTING = ("qsort", "bsearch")
_COPYING = ("memcpy", "memmove")
_LEAVING_ALONE = ("free", "printf", "fprintf", "puts", "putchar", "fputs", "fflush", "perror", "fclose")


@dataclass
class FollowedCall:
    """A call that is being followed: where it returned, and what."""

    function: TypedFunction
    call: tree.CallExpression | None
    returned: list[tuple[RunMemory, Value]] = field(default_factory=list)


@dataclass
class Calls(Values):
    """Follows calls."""

    frames: list[FollowedCall] = field(default_factory=list)
    repeated: int = 0
    """In how many loops with an unknown number of iterations it is."""
    statics: dict[Key, tree.Declarator] = field(default_factory=dict)
    """The static variables of the functions that were called."""
    entered: set[int] = field(default_factory=set)
    """The functions that were called: the first call of a function costs as much as reading it."""
    conditions: int = 0
    """How many tests decided that it is evaluated."""
    numbers: count[int] = field(default_factory=count)

    @abstractmethod
    def executed(self, body: tree.Statement) -> None:
        """Follow a statement."""

    def called(self, call: tree.CallExpression) -> Value:
        function = self._function(call)
        given = [self.value(one) for one in call.arguments]
        if function is None:
            return self._elsewhere(call, given)
        is_followed = not function.problems and not function.errors and not function.jumps_anywhere
        if not is_followed or len(self.frames) > _DEEPEST:
            raise Stopped
        self.steps -= len(function.tokens) // (8 if function.declaration.offset in self.entered else 1)
        self.entered.add(function.declaration.offset)
        return self.run(function, given, call)

    def _function(self, call: tree.CallExpression) -> TypedFunction | None:
        """The function of the file that is called; by a pointer to it, too."""
        callee = call.callee
        if callee is not None and callee.storage in (tree.Storage.FUNCTION, tree.Storage.UNDECLARED):
            return self.file.definition(callee)
        target = self.value(call.function)
        name = target.block[1] if isinstance(target, Address) and target.block[0] == FUNCTION else None
        return next((one for one in self.file.functions if one.declaration.name == name), None)

    def run(
        self, function: TypedFunction, given: list[Value], call: tree.CallExpression | None = None
    ) -> Value:
        """The value that a function returns for these arguments."""
        outer, self.frame = self.frame, next(self.numbers)
        self.addressed |= function.addressed
        for declared, value in zip(function.parameters, given, strict=False):
            key = self.key(declared)
            self.memory.set_block(key, StoredBlock(None))
            self.store(Address(key, 0), declared.type, converted(value, declared.type))
        frame = FollowedCall(function, call)
        self.frames.append(frame)
        self.executed(function.body)
        self.frames.pop()
        if self.alive:
            frame.returned.append((self.memory, None))
        self.alive = bool(frame.returned)
        result: Value = None
        for place, (memory, value) in enumerate(frame.returned):
            result = either(result, value) if place else value
            if place:
                self.memory.join(memory)
            else:
                self.memory = memory
        for key in [one for one in self.memory.blocks if one[:2] == (LOCAL, self.frame)]:
            del self.memory.blocks[key]
        self.frame = outer
        return result

    def _elsewhere(self, call: tree.CallExpression, given: list[Value]) -> Value:
        """The value of a function that is not in the file, and what it may change."""
        name = call.callee.name if call.callee is not None else ""
        plain = name.removeprefix("__builtin_")
        if plain not in _SORTING and any(map(self._may_call_back, call.arguments, given)):
            raise Stopped  # what is called back, and when, is not known
        if name in _ENDING or plain in _ENDING:
            self.alive = False
            return None
        if plain in _ALLOCATING or plain == "realloc":
            return self._allocated(call, plain, given)
        if plain in (*_COPYING, "memset") and len(given) == 3:
            return self._moved(plain, *given)
        if plain in _LEAVING_ALONE and not any(self._is_format_that_stores(one) for one in given):
            return None
        numbers = [one for one in given if isinstance(one, int | float)]
        if len(numbers) == len(given):
            found = _result_of(name, numbers)
            return converted(found, call.type) if found is not None else self._unknown(call, given)
        text = self._text(given[0])
        others = [one if isinstance(one, int | float) else None for one in given[1:]]
        found = None if text is None else _result_of_text(name, text, others)
        self._unknown(call, given)
        return None if found is None else converted(found, call.type)

    def _unknown(self, call: tree.CallExpression, given: list[Value]) -> Value:
        """Forget what a function that is not known may change through its arguments, or by names."""
        for argument, value in zip(call.arguments, given, strict=True):
            is_pointer = isinstance(types.unqualified(argument.type), types.Pointer)
            is_read = is_pointer and _is_only_read(argument)
            if is_pointer and not isinstance(value, Address) and value != 0 and not is_read:
                self.memory.lose(self.is_seen)
            for key in [*self.memory.reached(value)][is_read:]:
                self.memory.forget(key)
        is_library = call.callee is not None and not call.callee.line
        if not is_library or any(map(self._may_call_back, call.arguments, given)):
            self.memory.lose(self.is_seen)
            self.memory.is_doubtful = self.memory.is_doubtful or self.conditions > 0
        return None

    def _may_call_back(self, argument: tree.Expression, value: Value) -> bool:
        """Whether a function is given a function, or memory in which there is one."""
        kind = types.unqualified(argument.type)
        if isinstance(kind, types.Pointer) and isinstance(kind.target, types.FunctionType):
            return value != 0
        blocks = [self.memory.block(key) for key in self.memory.reached(value)]
        parts = [part for block in blocks for part in block.bytes.values()]
        return any(isinstance(part, tuple) and part[0].block[0] == FUNCTION for part in parts)

    def _is_format_that_stores(self, value: Value) -> bool:
        text = self._text(value)
        return text is not None and b"%n" in text

    def _allocated(self, call: tree.CallExpression, name: str, given: list[Value]) -> Value:
        """New memory; what is allocated in a loop with an unknown number of iterations is not told apart."""
        if self.repeated:
            return None
        key: Key = (HEAP, next(self.numbers), call.place.span)
        block = StoredBlock(0 if name == "calloc" else None)
        old = given[0] if name == "realloc" and given else 0
        if isinstance(old, Address) and old.offset == 0:
            block = StoredBlock(None, dict(self.memory.block(old.block).bytes))
            self.memory.forget(old.block)
        elif old != 0 and name == "realloc":
            return None
        self.memory.set_block(key, block)
        return Address(key, 0)

    def _moved(self, name: str, target: Value, source: Value, size: Value) -> Value:
        """memcpy, memmove and memset."""
        if not isinstance(target, Address):
            self.store_anywhere(types.INT)
        elif not isinstance(size, int) or not 0 <= size <= _MOST_BYTES:
            self.memory.forget(target.block)
        elif name == "memset":
            byte = source & 255 if isinstance(source, int) else None
            self.memory.store(target, (byte,) * size)
        else:
            copied = self.memory.load(source, size) if isinstance(source, Address) else (None,) * size
            self.memory.store(target, copied)
        return target

    def _text(self, value: Value) -> bytes | None:
        """The string that an address leads to."""
        if not isinstance(value, Address) or value.offset is None:
            return None
        block, found = self.memory.block(value.block), bytearray()
        for at in range(value.offset, value.offset + _MOST_BYTES):
            byte = block.at(at)
            if not isinstance(byte, int):
                return None
            if not byte:
                return bytes(found)
            found.append(byte)
        return None


_MOST_BYTES = 4096


def _is_only_read(argument: tree.Expression) -> bool:
    """Whether a function is given a pointer to what it may not change."""
    kind = types.unqualified(argument.type)
    target = kind.target if isinstance(kind, types.Pointer) else None
    return isinstance(target, types.Qualified) and target.is_const
