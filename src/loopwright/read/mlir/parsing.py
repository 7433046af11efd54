"""Parses a file of MLIR with xdsl, and records the place of every operation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.errors import BadInput, Code, NotModelled
from loopwright.lazy_dataclass import dataclass
from loopwright.read.text import load
from loopwright.source import Source, Span

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Operation

    from loopwright.read.mlir.dialects import GlobalOp

SUFFIX = ".mlir"
_EXTRA = "pip install 'loopwright[mlir]'"


@dataclass(frozen=True)
class MlirFile:
    """The functions of a file that have a body, in source order."""

    source: Source
    functions: tuple[FuncOp, ...]
    variables: dict[str, GlobalOp]
    """The `memref.global` operations, by name."""
    starts: dict[Operation, int]
    """The offset of each operation in the source."""

    def place(self, operation: Operation) -> Span:
        """The line of an operation, from its first character."""
        start = self.starts.get(operation, 0)
        end = self.source.text.find("\n", start)
        return Span(self.source, start, end if end >= 0 else len(self.source.text))


def is_mlir(path: str | Path) -> bool:
    return str(path).endswith(SUFFIX)


def read_mlir(path: str | Path) -> MlirFile:
    """Read the file at `path`."""
    return parse_mlir(load(path))


def parse_mlir(source: Source) -> MlirFile:
    """The functions of a source; `BadInput` if it is not MLIR, or not of a dialect of xdsl or ours."""
    try:
        from xdsl.dialects.func import FuncOp
        from xdsl.utils.exceptions import ParseError, VerifyException

        from loopwright.read.mlir.dialects import GlobalOp, PlacedParser
    except ModuleNotFoundError as missing:
        raise BadInput(Code.MISSING_PART, "xdsl reads MLIR, and is not installed", hint=_EXTRA) from missing
    parser = PlacedParser(source)
    try:
        module = parser.parse_module()
        module.verify()
    except ParseError as wrong:
        place = Span(source, wrong.span.start, wrong.span.end)
        raise BadInput(Code.GRAMMAR, wrong.msg, span=place) from wrong
    except RecursionError:
        raise BadInput(Code.GRAMMAR, "this is nested too deeply", span=source.at(parser.pos)) from None
    except NotImplementedError as wrong:
        raise NotModelled("a product or quotient of sizes", source.at(parser.pos)) from wrong
    except ValueError as wrong:  # a value that is used before it is defined
        raise BadInput(Code.GRAMMAR, f"not valid MLIR: {wrong}", span=source.at(parser.pos)) from wrong
    except VerifyException as wrong:
        first = str(wrong).strip().splitlines()[-1]
        raise BadInput(Code.GRAMMAR, f"not valid MLIR: {first}", span=source.at(0)) from wrong
    early = _used_early(list(module.walk()))
    if early is not None:
        message = "not valid MLIR: a value is used before it is defined"
        raise BadInput(Code.GRAMMAR, message, span=source.at(parser.starts.get(early, 0)))
    for one in module.walk():
        if any(len(region.blocks) > 1 for region in one.regions):
            raise NotModelled(f"several blocks in {one.name}", source.at(parser.starts.get(one, 0)))
    functions = tuple(one for one in module.walk() if isinstance(one, FuncOp) and not one.is_declaration)
    if not functions:
        raise BadInput(Code.GRAMMAR, "there is no function with a body", span=source.at(0))
    variables = {one.sym_name.data: one for one in module.walk() if isinstance(one, GlobalOp)}
    names: set[str] = set()
    for named in (one for one in module.walk() if isinstance(one, FuncOp | GlobalOp)):
        if named.sym_name.data in names:
            place = source.at(parser.starts.get(named, 0))
            raise NotModelled(f"another function or global called @{named.sym_name.data}", place)
        names.add(named.sym_name.data)
    return MlirFile(source, functions, variables, parser.starts)


def _used_early(operations: list[Operation]) -> Operation | None:
    """The first operation with an operand that is defined by itself or later in the same block."""
    order: dict[object, int] = {one: k for k, one in enumerate(operations)}
    for one in operations:
        for owner in (operand.owner for operand in one.operands if operand.owner in order):
            around: Operation | None = one
            while around is not None and around.parent_block() is not owner.parent_block():
                around = around.parent_op()
            if around is not None and order[owner] >= order[around]:
                return one
    return None
