"""The same script with tiles so small that a picture holds several of them."""

from __future__ import annotations

from dataclasses import replace

from loopwright.read.script import Argument, Integer, Operation

SIZED = {"tile": 1, "strip_mine": 2, "unroll_and_jam": 1, "unroll": 2}
"""Operations with sizes, and the first argument that may be one."""


def shrunk(operation: Operation, size: int) -> Operation:
    """The operation with no tile or strip larger than `size`."""
    first = SIZED.get(operation.name.text)
    if first is None:
        return operation
    arguments = [
        _smaller(argument, size) if k >= first else argument for k, argument in enumerate(operation.arguments)
    ]
    return replace(operation, arguments=tuple(arguments))


def _smaller(argument: Argument, size: int) -> Argument:
    match argument.value:
        case Integer(place, value) if value > size:
            return replace(argument, value=Integer(place, size))
        case _:
            return argument


def sizes(operation: Operation) -> tuple[int, ...]:
    """The tile sizes an operation names."""
    first = SIZED.get(operation.name.text)
    if first is None:
        return ()
    values = [argument.value for argument in operation.arguments[first:]]
    return tuple(value.value for value in values if isinstance(value, Integer))
