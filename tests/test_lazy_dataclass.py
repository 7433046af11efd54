"""`loopwright.lazy_dataclass` does what the standard decorator does, for each set of options."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from loopwright import lazy_dataclass

OPTIONS: list[dict[str, bool]] = [
    dict(zip(("frozen", "eq", "slots", "kw_only"), chosen, strict=True))
    for chosen in itertools.product((False, True), repeat=4)
]


def made(decorator: Callable[..., Any], options: dict[str, bool]) -> Any:
    """A class with every kind of field, and one derived from it."""

    class Base:
        plain: Any
        kept: list[int] = dataclasses.field(default_factory=list)
        silent: int = dataclasses.field(default=3, compare=False, repr=False)

    base = decorator(**options)(Base)

    class Derived(base):  # type: ignore[misc, valid-type]
        last: str = "z"

        def __post_init__(self) -> None:
            if self.last == "refused":
                raise ValueError(self.last)

    return decorator(**options)(Derived)


def outcomes(kind: Any) -> Iterator[object]:
    """What instances of a class do, as values that two classes can be compared by."""

    def tried(work: Callable[[], object]) -> object:
        try:
            return work()
        except (TypeError, ValueError, AttributeError) as error:
            return type(error)

    one = kind(plain=(1, 2))
    for given in ({"plain": (1, 2)}, {"plain": 2}, {"plain": (1, 2), "silent": 9}, {"plain": 1, "last": "y"}):
        other = kind(**given)
        yield one == other, other.kept, repr(other).rpartition(".")[2]
        yield tried(lambda other=other: hash(other) == hash(one))  # type: ignore[misc]
    yield one == 1, one != 1, one.__eq__(1) if kind.__eq__ is not object.__eq__ else None
    for bad in ({}, {"plain": 1, "last": "refused"}, {"plain": 1, "unknown": 2}):
        yield tried(lambda bad=bad: kind(**bad))  # type: ignore[misc]
    yield tried(lambda: kind(1, [2], 3, "w").last), kind.__match_args__
    yield tried(lambda: setattr(one, "plain", 5)), tried(lambda: delattr(one, "last"))
    yield tried(lambda: dataclasses.replace(kind(plain=1), last="v").last), dataclasses.asdict(kind(plain=1))
    yield copy.copy(kind(plain=7, last="u")).last, hasattr(one, "__dict__")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_the_standard_decorator(options: dict[str, bool]) -> None:
    mine, standard = (made(one, options) for one in (lazy_dataclass.dataclass, dataclasses.dataclass))
    assert list(outcomes(mine)) == list(outcomes(standard))
    shown, wanted = (inspect.signature(one).parameters.values() for one in (mine, standard))
    assert [(one.name, one.kind, one.annotation) for one in shown] == [
        (one.name, one.kind, one.annotation) for one in wanted
    ]


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Pair:
    left: int
    right: int = 2

    def __hash__(self) -> int:
        return 17


def test_methods_of_the_class_stay_and_instances_travel() -> None:
    assert hash(Pair(1)) == 17
    assert pickle.loads(pickle.dumps(Pair(1))) == Pair(1, 2)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'left'"):
        Pair(1).left = 2  # type: ignore[misc]
