"""Prints programs and loops as text and JSON, for `loopwright extract` and `loopwright find`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopwright.c.tokens import bracketed
from loopwright.errors import Diagnostic
from loopwright.model.program import Program
from loopwright.read.c.find import Nest
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.report.diagnostics import as_json

if TYPE_CHECKING:
    import islpy as isl

    from loopwright.errors import Diagnostic
    from loopwright.model.dependences import Dependence, Dependences
    from loopwright.model.program import Access, Program, Statement
    from loopwright.source import Span


def extracted(path: str | Path, form: str, options: ReadOptions = AS_MARKED) -> str:
    """The regions of a C file, or a file of OpenScop or MLIR; `form` is "text", "json", "scop" or "mlir"."""
    from loopwright.emit.openscop import to_openscop
    from loopwright.errors import BadInput, Code
    from loopwright.model.dependences import dependences
    from loopwright.read.c.reader import read_c
    from loopwright.read.mlir.parsing import is_mlir, read_mlir
    from loopwright.read.openscop import read_openscop
    from loopwright.report.mlir_text import mlir_text
    from loopwright.source import Span

    programs: Sequence[Program]
    if is_mlir(path):
        if form == "mlir":
            raise BadInput(Code.OPTION, "this is MLIR already", span=Span.start_of(str(path)))
        file = read_mlir(path)
        from loopwright.prove.mlir.program import programs_of  # needs xdsl

        programs = programs_of(file)
    elif str(path).endswith(".scop"):
        programs = (read_openscop(path),)
    else:
        programs = read_c(path, options)
    match form:
        case "scop":
            return "\n".join(to_openscop(program) for program in programs)
        case "mlir":
            return mlir_text(programs)
        case "json":
            regions = [as_data(program, dependences(program)) for program in programs]
            return json.dumps({"file": str(path), "regions": regions}, indent=2) + "\n"
        case _:
            return "\n".join(as_text(program, dependences(program)) for program in programs)


def as_text(program: Program, dependences: Dependences) -> str:
    """The model of one region, as readable text."""
    source = program.source
    first, last = program.region.line, source.line_of(max(0, program.region.end - 1))
    count = len(program.statements)
    lines = [f"{source.path}:{first}-{last}: {count} statement{'' if count == 1 else 's'}", ""]
    lines += _facts(program)
    for statement in program.statements:
        lines += ["", *_statement(statement)]
    lines += ["", "dependences", *_dependences(dependences)]
    if program.set_aside:
        lines += ["", "left as it is", *(f"  {_aside(one)}" for one in program.set_aside)]
    trusted = _assumptions(program)
    lines += ["", "taken on trust", *trusted] if trusted else []
    return "\n".join(lines) + "\n"


def _aside(why: Diagnostic) -> str:
    line = "" if why.span is None else f" (line {why.span.line})"
    return f"{why.summary}{line}"


def _facts(program: Program) -> list[str]:
    parameters = [
        item.name if item.name == item.text else f"{item.name} = {item.text}" for item in program.parameters
    ]
    context = _condition(program.context)
    lines = [f"parameters  {', '.join(parameters) or '(none)'}", f"context     {context}"]
    for array in program.arrays:
        shape = bracketed(array.extents) if array.extents else "[]" * array.rank
        if array.rows:
            shape += ", read as " + array.name + "[]" + bracketed(array.rows)
        kind = f"{array.element_type} " if array.element_type else ""
        lines.append(f"array       {kind}{array.name}{shape}{', local to the region' if array.local else ''}")
    for tag in program.tags:
        depth = f"{tag.depth} loop{'' if tag.depth == 1 else 's'} deep"
        lines.append(f"tag         {tag.name}: {', '.join(tag.statements)}, {depth}")
    return lines


def _statement(statement: Statement) -> list[str]:
    text = " ".join(statement.body.place.text.split())
    instance = f"{statement.name}[{', '.join(statement.iterators)}]"
    lines = [
        f"{instance}  line {statement.body.place.line}",
        f"  {text}{statement.body.terminator}",
        f"  domain    {_condition(_as_parameters(statement.domain), 'always')}",
        f"  schedule  {_range(statement.schedule)}",
    ]
    for title, accesses in (("reads", statement.reads), ("writes", statement.writes)):
        shown = dict.fromkeys(_access(access, statement) for access in accesses)
        if shown:
            lines.append(f"  {title:<8}  {', '.join(shown)}")
    return lines


def _access(access: Access, statement: Statement) -> str:
    relation = access.relation.gist_domain(statement.domain)
    return _range(relation) + ("" if access.must else " (may)")


def _dependences(dependences: Dependences) -> list[str]:
    lines = []
    for dependence in dependences.memory:
        certain = "" if dependence.must else " (may)"
        pair = f"{dependence.source} -> {dependence.sink}"
        lines.append(f"  {dependence.kind.value:<6}  {pair}  on {dependence.array}{certain}")
    return list(dict.fromkeys(lines)) or ["  none"]


def _assumptions(program: Program) -> list[str]:
    from loopwright.model.program import AssumptionKind

    lines = []
    for entry in program.trusted:
        where = f" (line {entry.place.line})" if entry.place else ""
        stated = "stated: " if entry.kind is AssumptionKind.USER else ""
        lines.append(f"  {stated}{entry.text}{where}")
    return lines


def _braced(text: str) -> str:
    """What isl writes between the outer braces."""
    return text[text.index("{") + 1 : text.rindex("}")].strip()


def _condition(known: isl.Set, everything: str = "(anything)") -> str:
    return _braced(str(known)).removeprefix(":").strip() or everything


def _as_parameters(domain: isl.Set) -> isl.Set:
    """The domain as a condition on names, which isl prints without a tuple."""
    from loopwright.presburger.sets import DIM, PARAM

    count = domain.dim(DIM)
    return domain.reset_tuple_id().move_dims(PARAM, domain.dim(PARAM), DIM, 0, count).params()


def _range(relation: isl.Map) -> str:
    """`A[i, j]` for `{ S[i, j] -> A[i, j] }`; conditions stay."""
    pieces = [re.sub(r"^.*?->\s*", "", piece.strip()) for piece in _braced(str(relation)).split(";")]
    text = " or ".join(pieces) or "nothing"
    return re.sub(r"\b(\w+)\[\]", r"\1", text)


def as_data(program: Program, dependences: Dependences) -> dict[str, Any]:
    """The model of one region; sets and relations in isl's notation."""
    source = program.source
    return {
        "file": source.path,
        "line": program.region.line,
        "parameters": [{"name": item.name, "text": item.text} for item in program.parameters],
        "context": str(program.context),
        "assumptions": [
            {
                "kind": entry.kind.name.lower(),
                "text": entry.text,
                "line": entry.place.line if entry.place else None,
                "standing": entry.standing.value,
            }
            for entry in program.assumptions
        ],
        "arrays": [
            {
                "name": array.name,
                "rank": array.rank,
                "type": array.element_type,
                "local": array.local,
                "extents": list(array.extents),
                "rows": list(array.rows),
            }
            for array in program.arrays
        ],
        "tags": [
            {"name": tag.name, "statements": list(tag.statements), "depth": tag.depth} for tag in program.tags
        ],
        "statements": [_statement_data(statement) for statement in program.statements],
        "dependences": [_dependence_data(entry) for entry in dependences.memory],
        "flow": str(dependences.flow),
        "live_in": str(dependences.live_in),
    }


def _place(place: Span) -> dict[str, Any]:
    span = place
    return {"line": span.line, "column": span.column, "start": place.start, "end": place.end}


def _statement_data(statement: Statement) -> dict[str, Any]:
    return {
        "name": statement.name,
        "iterators": list(statement.iterators),
        "text": statement.body.place.text + statement.body.terminator,
        "place": _place(statement.body.place),
        "domain": str(statement.domain),
        "schedule": str(statement.schedule),
        "accesses": [_access_data(access) for access in statement.accesses],
    }


def _access_data(access: Access) -> dict[str, Any]:
    return {
        "array": access.array,
        "kind": "write" if access.is_write else "read",
        "must": access.must,
        "relation": str(access.relation),
        "place": _place(access.place),
    }


def _dependence_data(dependence: Dependence) -> dict[str, Any]:
    return {
        "kind": dependence.kind.value,
        "source": dependence.source,
        "sink": dependence.sink,
        "array": dependence.array,
        "must": dependence.must,
        "relation": str(dependence.relation),
        "source_place": _place(dependence.source_access.place),
        "sink_place": _place(dependence.sink_access.place),
    }


_WIDEST = 72
"""Characters of a statement that are shown."""


def nests_text(file: str, nests: Sequence[Nest]) -> str:
    """The loops that can be read with their statements, and the others with the reason, told once of a
    function: loops inside of others are not read for the same one."""
    if not nests:
        return f"{file}: no function of this file has a loop\n"
    readable = sum(nest.program is not None for nest in nests)
    lines = [f"{file}: {readable} of {len(nests)} can be read"]
    told: set[tuple[str, str, int]] = set()
    for nest in sorted(nests, key=lambda one: (one.place.start, -one.place.end)):
        first, last = nest.lines
        if nest.why_not is not None:
            why = nest.why_not
            reason = (nest.function, why.summary, why.span.line if why.span is not None else 0)
            if reason in told:
                continue
            told.add(reason)
        where = f"line {first}" if first == last else f"lines {first}-{last}"
        what = f"{nest.function}, {where}" if nest.function else where
        how = nest.option or "between the pragmas"
        lines += ["", f"{what}: {how}" if nest.program is not None else f"{what}: cannot be read"]
        lines += _statements(nest.program) if nest.program is not None else _reason(nest.why_not)
    return "\n".join(lines) + "\n"


def _statements(program: Program) -> Iterator[str]:
    for one in program.statements:
        yield f"    {one.name}[{', '.join(one.iterators)}]  {_line(one.body.place.text)}{one.body.terminator}"
    if program.set_aside:
        left = len(program.set_aside) - 1
        yield "    left as it is" + (f" (extract has {left} more)" if left else "") + ", because:"
        yield from _reason(program.set_aside[0])


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 3]}..."


def _reason(why: Diagnostic | None) -> Iterator[str]:
    if why is None:
        return
    at = f"line {why.span.line}: " if why.span is not None else ""
    yield f"    {at}{why.summary} [{why.code.value}]"
    if why.hint:
        yield f"    {why.hint}"


def nests_data(file: str, nests: Sequence[Nest]) -> dict[str, Any]:
    """The same for machines."""
    return {"file": file, "verdict": "done", "nests": [_nest_data(file, nest) for nest in nests]}


def _nest_data(file: str, nest: Nest) -> dict[str, Any]:
    first, last = nest.lines
    statements = () if nest.program is None else nest.program.statements
    return {
        "function": nest.function or None,
        "line": first,
        "last_line": last,
        "option": nest.option or None,
        "readable": nest.program is not None,
        "statements": [
            {
                "name": one.name,
                "line": one.body.place.line,
                "text": " ".join(one.body.place.text.split()) + one.body.terminator,
                "iterators": list(one.iterators),
            }
            for one in statements
        ],
        "diagnostics": [] if nest.why_not is None else [as_json(nest.why_not, file)],
    }
