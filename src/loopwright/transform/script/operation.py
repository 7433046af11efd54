"""What every operation of a script is: a value whose fields are its arguments, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin, get_type_hints

from loopwright.lazy_dataclass import dataclass
from loopwright.transform.script.arguments import ArgumentKind, Misuse


@dataclass(frozen=True)
class ArgumentField:
    """A field of an operation: its name, the kind of its values, and its default value if it has one."""

    name: str
    kind: ArgumentKind[Any]
    default: object

    @property
    def is_optional(self) -> bool:
        return self.default is not MISSING

    def check(self, value: object) -> None:
        """Refuse, by a `Misuse`, what no script can say."""
        if value is not self.default:
            self.kind.check(value, self.name)


class BaseOperation:
    """What all operations have: a name in scripts, right calls to show, and the handles they give."""

    name: ClassVar[str]
    usage: ClassVar[str]
    gives: ClassVar[int] = 0

    @classmethod
    @cache
    def parameters(cls) -> tuple[ArgumentField, ...]:
        """The fields with the kinds they are annotated with."""
        hints = get_type_hints(cls, include_extras=True)
        assert is_dataclass(cls)
        return tuple(ArgumentField(one.name, _kind(hints[one.name]), one.default) for one in fields(cls))

    def __post_init__(self) -> None:
        for parameter in self.parameters():
            try:
                parameter.check(getattr(self, parameter.name))
            except Misuse as error:
                message = f"{error.message} (argument {parameter.name} of {self.name})"
                raise Misuse(error.code, message, argument=error.argument, item=error.item) from None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(word for _, word in self.words())})"

    def words(self) -> Iterator[tuple[str, str]]:
        """The arguments as they are written, each with the field it is of; default values are left out."""
        for parameter in self.parameters():
            value = getattr(self, parameter.name)
            if value != parameter.default:
                yield from ((parameter.name, word) for word in parameter.kind.words(value, parameter.name))

    @property
    def handles(self) -> tuple[str, ...]:
        """The loop components it names."""
        return tuple(
            handle
            for parameter in self.parameters()
            for handle in parameter.kind.handles(getattr(self, parameter.name))
        )

    def with_handles(self, names: Mapping[str, str]) -> Self:
        """The operation with other names for the loop components it names."""
        changed: dict[str, object] = {}
        for parameter in self.parameters():
            value = getattr(self, parameter.name)
            if parameter.kind.handles(value):
                is_one = isinstance(value, str)
                others = tuple(names.get(one, one) for one in ((value,) if is_one else value))
                changed[parameter.name] = others[0] if is_one else others
        assert is_dataclass(self)
        return replace(self, **changed)


def _kind(hint: object) -> ArgumentKind[Any]:
    """The kind in `Annotated[int, NumberKind()]`, or in that `| None`."""
    annotated = hint if get_origin(hint) is Annotated else get_args(hint)[0]
    kind = get_args(annotated)[1]
    assert isinstance(kind, ArgumentKind)
    return kind
