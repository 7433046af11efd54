"""What the functions of `import loopwright as lw` are given: the kinds of values, before anything is done.

A value of another kind is a `BadArgument`, which is a `BadInput` and a `TypeError`; it says what is expected.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from types import UnionType
from typing import SupportsIndex, TypeVar

from loopwright.errors import BadArgument, BadInput, Code
from loopwright.source import Span

T = TypeVar("T")
_DIGITS = 18
"""Of a problem size: what fits into C's `long`."""
_SHOWN = 40


def expected(value: object, kinds: type | tuple[type, ...] | UnionType, what: str, usage: str) -> None:
    """Raise unless `value` has one of these types; `what` describes them."""
    if not isinstance(value, kinds):
        message = f"{what} is expected here, not {kind_of(value)}"
        raise BadArgument(Code.ARGUMENTS, message, hint=f"write {usage}")


def integer(value: T) -> T | int:
    """An integer of another library, such as numpy, as a Python integer; any other value unchanged."""
    return index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else value


def kind_of(value: object) -> str:
    """A description of an unexpected value for a message."""
    return "None" if value is None else f"a value of type '{type(value).__name__}'"


def file_named(value: T) -> T:
    """The name of a file, which is a text or a path."""
    usage = 'the name of a file, "gemm.c"'
    expected(value, (str, os.PathLike), "the name of a file", usage)
    if "\0" in str(value):
        hint = f"write {usage}"
        raise BadInput(Code.FILE, "no file has a name with a character of code 0", hint=hint)
    try:
        os.fsencode(str(value))
    except UnicodeEncodeError:
        message, place = "no file has a name with these characters here", Span.start_of(ascii(value)[:_SHOWN])
        raise BadInput(Code.FILE, message, span=place, hint=f"write {usage}") from None
    return value


def texts(values: object, usage: str) -> tuple[str, ...]:
    """Several texts, or one."""
    if isinstance(values, str):
        return texts((values,), usage)
    expected(values, Iterable, "a list of texts", usage)
    assert isinstance(values, Iterable)
    found = tuple(values)
    for one in found:
        expected(one, str, "a text", usage)
        if not one.isascii() and any("\ud800" <= letter <= "\udfff" for letter in one):
            message = f"{ascii(one)[:_SHOWN]} is not a text"
            raise BadInput(Code.ARGUMENTS, message, hint=f"write {usage}")
    return found


def pure_names(values: object) -> tuple[str, ...]:
    """Functions without side effects."""
    return texts(values, 'pure=("f", "g")')


def facts(values: object) -> tuple[str, ...]:
    """The assumptions about the parameters."""
    return texts(values, 'assume=("n > 0",)')


def compiler_flags(values: object) -> tuple[str, ...]:
    """Compiler options that affect the meaning of the source."""
    from loopwright.c.typed.options import absolute_paths

    usage = 'flags=("-Iinclude", "-DN=100")'
    words = texts(values, usage)
    wrong = next((one for one in words if not one.startswith("-") and not one.strip()), None)
    if wrong is not None or (words and not words[0].startswith("-")):
        message = f"{(wrong or words[0])[:_SHOWN]!r} is not an option of the compiler"
        raise BadInput(Code.ARGUMENTS, message, hint=f"write {usage}")
    return absolute_paths(words, Path.cwd())


_VERBS = {
    "codegen": "lw.to_c(lw.generate(lw.read_schedule('file.poly')))",
    "extract": "lw.describe(lw.read('file.c'))",
    "show": "lw.report('file.c', 'script').html",
    "transform": "lw.to_c(lw.read('file.c').transform('script'))",
}


def advice(name: str) -> str:
    """The error for an unknown attribute of the package; a verb may correspond to another function."""
    missing = f"module 'loopwright' has no attribute '{name}'"
    return f"{missing}: write {_VERBS[name]}" if name in _VERBS else missing


def one_of(value: object, known: Sequence[object], what: str) -> None:
    """Raise unless the value is one of the known ones."""
    if value not in known:
        message = f"there is no {what} called {value!r}"
        words = ", ".join(one for one in known if isinstance(one, str))
        raise BadInput(Code.ARGUMENTS, message, hint=f"write one of {words}")


def one_file(regions: Sequence[object], usage: str) -> None:
    """Raise unless these are plans for different regions of one file, at least one."""
    for region in regions or (None,):
        expected(region, Span, "a plan", usage)
    places = [region for region in regions if isinstance(region, Span)]
    if len({place.file for place in places}) > 1:
        hint = f"write {usage} for each file"
        raise BadInput(Code.ARGUMENTS, "these plans are of several files", hint=hint)
    if len({place.start for place in places}) < len(places):
        message = "two of these plans are of the same region"
        raise BadInput(Code.ARGUMENTS, message, hint="give one plan for each region")


def seconds(value: float, usage: str) -> float:
    """A time limit."""
    expected(value, (int, float), "a number of seconds", usage)
    if not 0.001 <= value < float("inf"):
        raise BadInput(Code.ARGUMENTS, f"{value} must be a number of seconds >= 0.001", hint=f"write {usage}")
    return value


def problem_sizes(sizes: Mapping[str, object], usage: str) -> dict[str, int]:
    """The values of the sizes by name."""
    found: dict[str, int] = {}
    for name, given in sizes.items():
        value = integer(given)
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 10**_DIGITS:
            of = "a longer one" if isinstance(value, int) and not isinstance(value, bool) else kind_of(value)
            message = f"{name} must be an integer of at most {_DIGITS} digits, not {of}"
            raise BadArgument(Code.ARGUMENTS, message, hint=f"write {usage}")
        found[name] = value
    return found
