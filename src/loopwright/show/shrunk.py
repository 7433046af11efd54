"""The same script with tiles so small that a picture holds several of them."""

from __future__ import annotations

from dataclasses import replace

from loopwright.read.script import Integer, Items, Operation, Value
from loopwright.transform.plan import Plan

SIZED = ("tile", "strip_mine", "unroll_and_jam", "unroll")
"""Operations with sizes."""


def size_for(plan: Plan) -> int:
    """So that several tiles are in a picture: of 12 iterations of one loop, 6 of each of two, 4 of three."""
    return {1: 5, 2: 3}.get(plan.loops, 2)


def shrunk(operation: Operation, size: int) -> Operation:
    """The operation with no tile or strip larger than `size`."""
    if operation.name.text not in SIZED:
        return operation
    arguments = [replace(one, value=_smaller(one.value, size)) for one in operation.arguments]
    return replace(operation, arguments=tuple(arguments))


def _smaller(value: Value, size: int) -> Value:
    match value:
        case Integer(place, number):
            return Integer(place, min(number, size))
        case Items(place, values):
            return Items(place, tuple(_smaller(one, size) for one in values))
        case _:
            return value


def sizes(operation: Operation) -> tuple[int, ...]:
    """The tile sizes an operation names."""
    if operation.name.text not in SIZED:
        return ()
    return tuple(number for argument in operation.arguments for number in _numbers(argument.value))


def _numbers(value: Value) -> tuple[int, ...]:
    match value:
        case Integer(_, number):
            return (number,)
        case Items(_, values):
            return tuple(number for one in values for number in _numbers(one))
        case _:
            return ()
