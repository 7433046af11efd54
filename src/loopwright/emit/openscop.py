"""Writes a program in OpenScop, the exchange format of the polyhedral tools.

A relation is a matrix with one row a constraint: a first column 0 for "= 0" or 1 for ">= 0", then
the coefficients of output, input and local dimensions, of the parameters, and the constant.  The
first output of an access is the number of its array.  An equality that defines an output has -1 for
it, and those rows come first, in the order of the outputs: other tools expect this.
"""

from __future__ import annotations

import islpy as isl

from loopwright.model.program import Access, Program, Statement, statement_text
from loopwright.presburger.dimensions import preceded

_OUT, _IN, _SET = isl.dim_type.out, isl.dim_type.in_, isl.dim_type.set
_PARAM, _DIV = isl.dim_type.param, isl.dim_type.div

Row = list[int]


def to_openscop(program: Program) -> str:
    """The whole file, with statements in source order."""
    numbers = {array.name: count for count, array in enumerate(program.arrays, start=1)}
    parts = ["<OpenScop>", "", "# Language", "C", "", "# Context"]
    parts += _relation("CONTEXT", isl.Map.from_range(isl.Set.from_params(program.context)))
    parts += ["", *_parameter_names(program), "", "# Number of statements", str(len(program.statements))]
    for statement in program.statements:
        parts += ["", *_statement(statement, numbers)]
    parts += ["", *_arrays(program), "", "</OpenScop>"]
    return "\n".join(parts) + "\n"


def _parameter_names(program: Program) -> list[str]:
    if not program.params:
        return ["# Parameters are not provided", "0"]
    return ["# Parameters are provided", "1", "<strings>", " ".join(program.params), "</strings>"]


def _statement(statement: Statement, numbers: dict[str, int]) -> list[str]:
    parts = [f"# Statement {statement.name}", "# Number of relations", str(2 + len(statement.accesses))]
    parts += _relation("DOMAIN", isl.Map.from_range(statement.domain))
    parts += _relation("SCATTERING", statement.schedule)
    for access in statement.accesses:
        parts += _relation(_kind(access), _numbered(access, statement, numbers[access.array]))
    return [*parts, *_body(statement)]


def _kind(access: Access) -> str:
    if not access.is_write:
        return "READ"
    return "WRITE" if access.must else "MAY_WRITE"


def _numbered(access: Access, statement: Statement, number: int) -> isl.Map:
    """The access with the number of its array before the subscripts."""
    relation = access.relation.gist_domain(statement.domain)
    return preceded(relation, number)


def _body(statement: Statement) -> list[str]:
    text = " ".join(statement_text(statement, {}).split())
    parts = ["# Number of statement extensions", "1", "<body>", "# Number of original iterators"]
    parts.append(str(statement.depth))
    if statement.depth:
        parts += ["# List of original iterators", " ".join(statement.iterators)]
    return [*parts, "# Statement body expression", text, "</body>"]


def _arrays(program: Program) -> list[str]:
    rows = [f"{count} {array.name}" for count, array in enumerate(program.arrays, start=1)]
    return ["<arrays>", "# Number of arrays", str(len(rows)), *rows, "</arrays>"]


def _relation(kind: str, relation: isl.Map) -> list[str]:
    """One matrix per disjunct; a relation without any is one matrix with 1 = 0."""
    pieces = list(relation.compute_divs().get_basic_maps())
    if not pieces:
        pieces = [isl.BasicMap.empty(relation.get_space())]
    parts = [kind]
    if len(pieces) > 1:
        parts += [f"# Union with {len(pieces)} parts", str(len(pieces))]
    for piece in pieces:
        parts += _matrix(piece)
    return parts


def _matrix(piece: isl.BasicMap) -> list[str]:
    rows = _rows(piece)
    outs, ins = piece.dim(_OUT), piece.dim(_IN)
    divs, params = piece.dim(_DIV), piece.dim(_PARAM)
    columns = 2 + outs + ins + divs + params
    header = f"{len(rows)} {columns} {outs} {ins} {divs} {params}"
    return [header, *("  ".join(f"{entry:>3}" for entry in row) for row in rows)]


def _rows(piece: isl.BasicMap) -> list[Row]:
    wrapped = piece.wrap()
    columns = _columns(piece)
    if piece.is_empty():
        return [[0] * (len(columns) + 1) + [1]]
    rows: list[Row] = []
    for constraint in wrapped.get_constraints():
        entries = [_integer(constraint.get_coefficient_val(kind, position)) for kind, position in columns]
        sign = 0 if constraint.is_equality() else 1
        rows.append([sign, *entries, _integer(constraint.get_constant_val())])
    rows += [row for row in _division_rows(wrapped, columns) if row not in rows]
    outputs = piece.dim(_OUT)
    return sorted((_defining(row, outputs) for row in rows), key=lambda row: _defined(row, outputs))


def _defining(row: Row, outputs: int) -> Row:
    """An equality with a negative coefficient for the output it defines."""
    defined = _defined(row, outputs)
    is_positive = defined < outputs and row[1 + defined] > 0
    return [row[0], *(-entry for entry in row[1:])] if is_positive else row


def _defined(row: Row, outputs: int) -> int:
    """The output an equality defines, the first that it involves; `outputs` if there is none."""
    found = (k for k in range(outputs) if row[0] == 0 and row[1 + k])
    return next(found, outputs)


def _division_rows(wrapped: isl.BasicSet, columns: list[tuple[isl.dim_type, int]]) -> list[Row]:
    """d = floor(e / m) is 0 <= e - m d <= m - 1."""
    rows = []
    for index in range(wrapped.dim(_DIV)):
        division = wrapped.get_local_space().get_div(index)
        size = _integer(division.get_denominator_val())
        scaled = division.scale_val(isl.Val(size))
        low = [
            _integer(scaled.get_coefficient_val(_IN if kind == _SET else kind, position))
            for kind, position in columns
        ]
        low[columns.index((_DIV, index))] -= size
        constant = _integer(scaled.get_constant_val())
        rows.append([1, *low, constant])
        rows.append([1, *(-entry for entry in low), size - 1 - constant])
    return rows


def _columns(piece: isl.BasicMap) -> list[tuple[isl.dim_type, int]]:
    """Where outputs, inputs, divisions and parameters are in the wrapped set, inputs first."""
    outs, ins = piece.dim(_OUT), piece.dim(_IN)
    found = [(_SET, ins + position) for position in range(outs)]
    found += [(_SET, position) for position in range(ins)]
    found += [(_DIV, position) for position in range(piece.dim(_DIV))]
    return found + [(_PARAM, position) for position in range(piece.dim(_PARAM))]


def _integer(value: isl.Val) -> int:
    if not value.is_int():
        raise AssertionError(f"{value} is not an integer")
    return int(value.to_python())
