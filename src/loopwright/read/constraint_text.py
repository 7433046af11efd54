"""Reads domains and scatterings of a CLooG file: unions of constraint matrices, or isl's notation.

A matrix starts with `rows columns`, or with `rows columns out in local parameters` as in OpenScop.  A row is
`kind coefficients... constant`; kind 0 means that the sum is 0, kind 1 that it is at least 0.  Coefficients
are in the order output, input, local, parameters.

`Lines` holds the lines of a CLooG file: words with their places, without comments and empty lines.
"""

from __future__ import annotations

import re
from typing import TypeAlias, TypeVar

import islpy as isl

from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.named import parameter_names
from loopwright.read.isl_text import Reader, read_isl
from loopwright.read.text import mistake, without_comments
from loopwright.source import Source

Relation: TypeAlias = isl.Set | isl.Map

R = TypeVar("R", isl.Set, isl.Map)


@dataclass(frozen=True)
class Row:
    """`sum(coefficients) + constant`, equal to 0 or at least 0."""

    equality: bool
    coefficients: tuple[int, ...]
    constant: int


@dataclass(frozen=True)
class Matrix:
    """A conjunction; `shape` is (out, in, local, parameters) if the header gives it."""

    at: Word
    rows: tuple[Row, ...]
    columns: int
    shape: tuple[int, int, int, int] | None


@dataclass(frozen=True)
class Given:
    """A relation in isl's notation; its parameters have the names given there."""

    at: Word
    relation: Relation


Union: TypeAlias = tuple[Matrix, ...] | Given


def take_union(lines: Lines, wanted: str, read: Reader[Relation]) -> Union:
    """Read a count and as many matrices, or one matrix without a count, or isl's notation."""
    line = lines.peek(wanted)
    if line[0].text[0] in "{[":
        return _take_given(lines, wanted, read)
    if len(line) > 1:
        return (_take_matrix(lines, wanted),)
    count = lines.take_count(f"the number of parts of {wanted}")
    return tuple(_take_matrix(lines, wanted) for _ in range(count))


def _take_given(lines: Lines, wanted: str, read: Reader[Relation]) -> Given:
    line = lines.take(wanted)
    first = line[0]
    while not any("}" in word.text for word in line):
        line = lines.take(f"the brace that closes {wanted}")
    end = line[-1].offset + len(line[-1].text)
    return Given(first, read_isl(read, lines.source, first.offset, end, wanted))


def _take_matrix(lines: Lines, wanted: str) -> Matrix:
    header = lines.take(wanted)
    numbers = [lines.count(word, f"the size of {wanted}") for word in header]
    if len(numbers) not in (2, 6):
        raise lines.at(
            header[0],
            f"the head of {wanted} has {len(numbers)} numbers",
            hint="the head of a matrix is: rows columns, or: rows columns out in local parameters",
        )
    shape = (numbers[2], numbers[3], numbers[4], numbers[5]) if len(numbers) == 6 else None
    if numbers[1] < 2 or (shape and sum(shape) + 2 != numbers[1]):
        raise lines.at(header[1], f"{wanted} cannot have {numbers[1]} columns")
    rows = tuple(_take_row(lines, numbers[1], wanted) for _ in range(numbers[0]))
    return Matrix(header[0], rows, numbers[1], shape)


def _take_row(lines: Lines, columns: int, wanted: str) -> Row:
    words = lines.take(f"a row of {wanted}")
    numbers = [lines.integer(word, f"a coefficient of {wanted}") for word in words]
    if len(words) != columns:
        raise lines.at(words[-1], f"a row of {len(words)} numbers in a matrix of {columns} columns")
    if numbers[0] not in (0, 1):
        raise lines.at(words[0], f"{numbers[0]} is not a kind of constraint", hint="0: = 0; 1: >= 0")
    return Row(numbers[0] == 0, tuple(numbers[1:-1]), numbers[-1])


def parameters_of(context: Union) -> tuple[str, ...]:
    """The parameters of a context: by their own names in isl's notation, else p0, p1, ..."""
    if isinstance(context, Given):
        return parameter_names(context.relation)
    if not context:
        return ()
    first = context[0]
    return tuple(_names("p", first.shape[3] if first.shape else first.columns - 2))


def dimensions(lines: Lines, union: Union, inputs: int, parameters: int) -> int:
    """The number of dimensions of a domain (no inputs) or a scattering (of `inputs` iterators)."""
    if isinstance(union, Given):
        if isinstance(union.relation, isl.Map) and union.relation.dim(isl.dim_type.in_) != inputs:
            found = union.relation.dim(isl.dim_type.in_)
            raise lines.at(union.at, f"a scattering of {found} iterators for a statement of {inputs}")
        return int(union.relation.dim(isl.dim_type.out))
    counts = [_outputs(lines, matrix, inputs, parameters) for matrix in union]
    for matrix, count in zip(union, counts, strict=True):
        if count != counts[0]:
            raise lines.at(matrix.at, f"parts of {counts[0]} and of {count} dimensions in one union")
    return counts[0] if counts else 0


def _outputs(lines: Lines, matrix: Matrix, inputs: int, parameters: int) -> int:
    found = matrix.shape or (matrix.columns - 2 - inputs - parameters, inputs, 0, parameters)
    if found[0] < 0 or found[1] != inputs or found[3] != parameters:
        raise lines.at(
            matrix.at,
            f"a matrix of {matrix.columns} columns does not fit {parameters} parameters"
            + (f" and {inputs} iterators" if inputs else ""),
        )
    return found[0]


@dataclass(frozen=True)
class Parameters:
    """`written` are the names used in isl's notation, `names` the final ones."""

    written: tuple[str, ...]
    names: tuple[str, ...]


def as_set(lines: Lines, union: Union, size: int, parameters: Parameters) -> isl.Set:
    """A context or domain of `size` dimensions."""
    if isinstance(union, Given):
        assert isinstance(union.relation, isl.Set)
        return _named(union.relation, _called(lines, union, parameters))
    text = _union_text(union, size, None, len(parameters.names))
    return _named(isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text), parameters.names)


def as_map(lines: Lines, union: Union, size: int, inputs: int, parameters: Parameters) -> isl.Map:
    """A scattering of `inputs` iterators, of `size` dimensions."""
    if isinstance(union, Given):
        assert isinstance(union.relation, isl.Map)
        return _named(union.relation, _called(lines, union, parameters))
    text = _union_text(union, size, inputs, len(parameters.names))
    return _named(isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text), parameters.names)


def _union_text(union: tuple[Matrix, ...], outputs: int, inputs: int | None, parameters: int) -> str:
    """The union in isl's notation, with names by position; an empty one is the empty set."""
    parts = [_matrix_text(matrix, outputs, inputs, parameters) for matrix in union]
    body = "; ".join(parts) or f"{_head(outputs, inputs)} : 1 = 0"
    return f"[{', '.join(_names('p', parameters))}] -> {{ {body} }}"


def _matrix_text(matrix: Matrix, outputs: int, inputs: int | None, parameters: int) -> str:
    local = matrix.shape[2] if matrix.shape else 0
    out, into = _names("o", outputs), _names("i", inputs or 0)
    exists, names = _names("e", local), _names("p", parameters)
    rows = [_row_text(row, out + into + exists + names) for row in matrix.rows]
    body = " and ".join(rows) or "1 = 1"
    if exists:
        body = f"exists {', '.join(exists)}: {body}"
    return f"{_head(outputs, inputs)} : {body}"


def _head(outputs: int, inputs: int | None) -> str:
    out, into = ", ".join(_names("o", outputs)), ", ".join(_names("i", inputs or 0))
    return f"[{out}]" if inputs is None else f"[{into}] -> [{out}]"


def _row_text(row: Row, names: list[str]) -> str:
    terms = [f"{factor}*{name}" for factor, name in zip(row.coefficients, names, strict=True) if factor]
    return f"{' + '.join([*terms, str(row.constant)])} {'=' if row.equality else '>='} 0"


def _called(lines: Lines, given: Given, parameters: Parameters) -> tuple[str, ...]:
    """The parameters by name if isl's notation uses the context's names, otherwise by position, as CLooG."""
    names = parameter_names(given.relation)
    if all(name in parameters.written for name in names):
        return tuple(parameters.names[parameters.written.index(name)] for name in names)
    if len(names) > len(parameters.names):
        raise lines.at(given.at, f"{len(names)} parameters, where the context has {len(parameters.names)}")
    return parameters.names[: len(names)]


def _named(relation: R, parameters: tuple[str, ...]) -> R:
    """The parameters renamed by position, through unused names: isl requires distinct ones."""
    for prefix in (" ", ""):
        for k, name in enumerate(parameters):
            relation = relation.set_dim_name(isl.dim_type.param, k, prefix + name)
    return relation


def _names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{k}" for k in range(count)]


INTEGER = re.compile(r"[+-]?[0-9]{1,300}")


@dataclass(frozen=True)
class Word:
    text: str
    offset: int


@dataclass
class Lines:
    """A position in a list of lines, which advances as they are taken."""

    source: Source
    lines: list[tuple[Word, ...]]
    position: int = 0

    @staticmethod
    def of(source: Source) -> Lines:
        blank = without_comments(source)
        words = [Word(found.group(), found.start()) for found in re.finditer(r"\S+", blank.text)]
        lines: dict[int, list[Word]] = {}
        number, last = 0, 0
        for word in words:
            number += blank.text.count("\n", last, word.offset)
            last = word.offset
            lines.setdefault(number, []).append(word)
        return Lines(blank, [tuple(line) for line in lines.values()])

    def done(self) -> bool:
        return self.position >= len(self.lines)

    def peek(self, wanted: str) -> tuple[Word, ...]:
        """The next line, which must exist; `wanted` describes it."""
        if self.done():
            end = len(self.source.text.rstrip())
            raise mistake(self.source, end, f"the file ends where {wanted} should be")
        return self.lines[self.position]

    def take(self, wanted: str) -> tuple[Word, ...]:
        line = self.peek(wanted)
        self.position += 1
        return line

    def put_back(self, words: tuple[Word, ...]) -> None:
        """Insert `words` as the next line."""
        if words:
            self.lines.insert(self.position, words)

    def take_count(self, wanted: str) -> int:
        """The number at the start of a line; CLooG ignores whatever follows it there."""
        return self.count(self.take(wanted)[0], wanted)

    def count(self, word: Word, wanted: str) -> int:
        number = self.integer(word, wanted)
        if number < 0:
            raise self.at(word, f"{wanted} cannot be negative")
        return number

    def integer(self, word: Word, wanted: str) -> int:
        if not INTEGER.fullmatch(word.text):
            raise self.at(word, f"'{word.text[:40]}' where {wanted} should be")
        return int(word.text)

    def at(self, word: Word, message: str, hint: str | None = None) -> BadInput:
        return mistake(self.source, word.offset, message, hint=hint, length=len(word.text))
