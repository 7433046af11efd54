"""Regions read by the compiler and the front end, and what is looked at in them."""

from __future__ import annotations

from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.options import PLAIN, CompilerOptions
from loopwright.c.typed.prepare import Unread
from loopwright.c.typed.tree import Expression, Node, walk
from loopwright.c.types import CType, Floating, Integer
from loopwright.source import Source

INT = Integer(32, True, 3)
UNSIGNED = Integer(32, False, 3)
LONG = Integer(64, True, 4)
FLOAT, DOUBLE = Floating(32), Floating(64)

_HEAD = "double a[100], b[100], x; float y; int i, j, k, n; unsigned u; unsigned char h;"


def text(body: str, head: str = "") -> str:
    """A file with one region, in a function that has an int n and doubles."""
    return f"{_HEAD}\n{head}\nvoid f(void) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def file_of(body: str, head: str = "", options: CompilerOptions = PLAIN, path: str = "t.c") -> TypedFile:
    return typed_file(Source(path, text(body, head)), options)


def typed(body: str, head: str = "", options: CompilerOptions = PLAIN) -> TypedRegion:
    """The region of a text that is read."""
    (region,) = file_of(body, head, options).regions
    assert isinstance(region, TypedRegion), region
    return region


def unread(body: str, head: str = "", options: CompilerOptions = PLAIN) -> Unread:
    """The region of a text that is not."""
    (region,) = file_of(body, head, options).regions
    assert isinstance(region, Unread)
    return region


def nodes(region: TypedRegion) -> list[Node]:
    return [node for statement in region.statements for node in walk(statement)]


def value(body: str, head: str = "") -> Expression:
    """The expression that is a region's only statement."""
    (found,) = [node.value for node in typed(f"{body};", head).statements if hasattr(node, "value")]
    assert isinstance(found, Expression)
    return found


def type_of(body: str, head: str = "") -> CType:
    return value(body, head).type
