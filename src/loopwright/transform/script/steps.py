"""Scripts as tuples of steps, with parser and printer.

parse_script(str(step)) = (step,)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from loopwright.arguments import expected
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span
from loopwright.transform.script.arguments import NAME, FlagKind, LoopKind, Misuse, Reader
from loopwright.transform.script.nest_operations import ArgumentField
from loopwright.transform.script.operations import (
    CLASSES,
    Distribute,
    DistributeLegally,
    Interchange,
    Operation,
    Permute,
)
from loopwright.transform.script.syntax import ScriptArgument, ScriptLine, ScriptList, ScriptWord, parse_lines

SYNONYMS = {
    "fission": "distribute",
    "jam": "unroll_and_jam",
    "merge": "fuse",
    "normalize": "from_zero",
    "omp": "parallel",
    "parallelise": "parallel",
    "parallelize": "parallel",
    "permute": "interchange",
    "register_tile": "unroll_and_jam",
    "scale": "affine",
    "simd": "vectorize",
    "split": "isplit",
    "stripmine": "strip_mine",
    "swap": "interchange",
    "vectorise": "vectorize",
    "wavefront": "skew",
}
"""Other names for the operations, for suggestions."""

NAMES: dict[str, type[Operation]] = {one.name: one for one in reversed(CLASSES)}
"""The operations by their names in scripts; the first of two with the same name."""


@dataclass(frozen=True)
class StepOrigin:
    """The place of a step in its source, and that of each value of its arguments."""

    span: Span
    arguments: Mapping[tuple[str, int], Span]

    def place(self, argument: str | None, item: int) -> Span:
        """The place of a value, or of the step if the source does not mention the value."""
        return self.arguments.get((argument or "", item), self.span)


@dataclass(frozen=True)
class Step:
    """An operation, the names of its handles, and its place in the source, if any."""

    operation: Operation
    binds: tuple[str, ...] = ()
    origin: StepOrigin | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in self.binds:
            if not NAME.fullmatch(name):
                raise BadInput(Code.ARGUMENTS, f"no handle can be called {name!r}")
        if self.binds and len(self.binds) != self.operation.gives:
            raise BadInput(Code.ARGUMENTS, _gives(self.operation, len(self.binds)))

    def __str__(self) -> str:
        match self.binds:
            case ():
                return str(self.operation)
            case (name,):
                return f"{name} = {self.operation}"
            case names:
                return f"({', '.join(names)}) = {self.operation}"

    @property
    def span(self) -> Span:
        """Its place in the source; otherwise its own text, in a file called <python>."""
        return self.place(None)

    def place(self, argument: str | None, item: int = 0) -> Span:
        """The place of a value of an argument."""
        if self.origin is not None:
            return self.origin.place(argument, item)
        text = str(self)
        column = len(text) - len(str(self.operation)) + len(self.operation.name) + 1
        own = []
        for name, word in self.operation.words():
            if name == argument:
                own.append((column, len(word)))
            column += len(word) + len(", ")
        start, length = own[min(item, len(own) - 1)] if own else (0, len(text))
        return Source("<python>", text).at(start, length)


def _gives(operation: Operation, count: int) -> str:
    given = {0: "no handle", 1: "one handle"}.get(operation.gives, f"{operation.gives} handles")
    return f"{operation.name} gives {given}, not {count}"


def script_text(steps: Iterable[Step]) -> str:
    """The script, one step per line."""
    return "".join(f"{step}\n" for step in steps)


def parse_script(text: str, filename: str = "<script>") -> tuple[Step, ...]:
    """Return the steps of a script; raises `BadInput` for invalid syntax."""
    expected(text, str, "the text of a script", "'tile(Mult, 32)'")
    return tuple(map(_step, parse_lines(Source(filename, text))))


def _step(line: ScriptLine) -> Step:
    known = NAMES.get(line.name.text)
    if known is None:
        raise _unknown(line.name)
    form, arguments = _form(known, line.arguments)
    reader = Reader(line, form.usage, list(arguments))
    _check_count(reader, form)
    reader.flags = _flags(reader, form)
    operation = _operation(reader, form)
    if line.targets and len(line.targets) != operation.gives:
        place = Span(line.place.source, line.targets[0].place.start, line.targets[-1].place.end)
        raise reader.error(place, _gives(operation, len(line.targets)))
    origin = StepOrigin(line.place, MappingProxyType(reader.places))
    return Step(operation, tuple(word.text for word in line.targets), origin)


def _unknown(word: ScriptWord) -> BadInput:
    near = SYNONYMS.get(word.text.lower()) or close_to(word.text, NAMES)
    hint = f"did you mean {near}?" if near else f"the operations are {', '.join(sorted(NAMES))}"
    return BadInput(Code.NO_OPERATION, f"no operation is called {word.text}", span=word.place, hint=hint)


def close_to(name: str, known: Iterable[str]) -> str | None:
    """Suggestions of similar names, ignoring case."""
    plain = {one.lower(): one for one in known}
    found = difflib.get_close_matches(name.lower(), plain, 1)
    return plain[found[0]] if found else None


def _form(
    known: type[Operation], arguments: tuple[ScriptArgument, ...]
) -> tuple[type[Operation], tuple[ScriptArgument, ...]]:
    """Which of the operations with one name a line is, and its arguments."""
    if known is Interchange:
        is_order = len(arguments) > 3 or any(isinstance(one.value, ScriptList) for one in arguments[1:])
        return (Permute if is_order else Interchange), arguments
    if known is Distribute:
        if not arguments:
            return DistributeLegally, ()
        if len(arguments) == 2 and _is_word(arguments[1], ("legal",)):
            return DistributeLegally, arguments[:1]
    return known, arguments


def _is_word(argument: ScriptArgument, words: Iterable[str]) -> bool:
    value = argument.value
    return argument.keyword is None and isinstance(value, ScriptWord) and value.text in words


def _check_count(reader: Reader, form: type[Operation]) -> None:
    """Refuse another number of arguments than the operation takes."""
    kinds = form.parameters()
    least = sum(one.kind.least for one in kinds if not one.is_optional)
    numbers = [one.kind.most for one in kinds]
    most = None if None in numbers else sum(one or 0 for one in numbers)
    count = len(reader.rest)
    if any(isinstance(one.kind, LoopKind) and one.kind.numbered for one in kinds):
        count += sum(one.keyword is not None for one in reader.rest)
    if count >= least and (most is None or count <= most):
        return
    wanted = f"at least {least}" if most is None else f"{least} to {most}" if least != most else str(least)
    plural = "" if wanted == "1" else "s"
    place = reader.line.place
    if most is not None and count > most:
        place = reader.rest[min(most, len(reader.rest) - 1)].place
    message = f"{form.name} takes {wanted} argument{plural}, not {count}"
    raise reader.error(place, message, f"write it as {form.usage}")


def _flags(reader: Reader, form: type[Operation]) -> frozenset[str]:
    """Remove and return the flags at the end of the line."""
    known = {one.name for one in form.parameters() if isinstance(one.kind, FlagKind)}
    found: set[str] = set()
    while len(reader.rest) > 1 and _is_word(reader.rest[-1], known):
        value = reader.rest.pop().value
        assert isinstance(value, ScriptWord)
        found.add(value.text)
    return frozenset(found)


def _operation(reader: Reader, form: type[Operation]) -> Operation:
    values = {one.name: _value(reader, one) for one in form.parameters()}
    for parameter in form.parameters():
        try:
            parameter.check(values[parameter.name])
        except Misuse as misuse:
            whole = reader.line.place
            span = reader.places.get((parameter.name, misuse.item), whole)
            hint = f"write it as {form.usage}"
            raise BadInput(misuse.code, misuse.message, span=span, hint=hint) from None
    return form(**values)


def _value(reader: Reader, parameter: ArgumentField) -> Any:
    if parameter.is_optional and not reader.rest and not isinstance(parameter.kind, FlagKind):
        return parameter.default
    return parameter.kind.read(reader, parameter.name)
