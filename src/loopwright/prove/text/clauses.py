"""The clauses of `omp parallel for` and `omp simd` whose meaning is known.

A pragma is read token by token; a clause that is not listed, an argument of another form, or a name that is a
macro (which the compiler also expands in pragmas) is unknown, and then nothing is proved about the loop.

`omp simd safelen(k)`: iterations that are fewer than k apart may run in one vector.

A vector executes the operations of an iteration in source order: all lanes read before they write, so a
dependence on an operation later in the source is preserved.  OpenMP 5.0 says so and 4.5 does not; no answer
relies on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import known_constant
from loopwright.c.file import CFile, c_file
from loopwright.c.loops import loop_iterator
from loopwright.c.macros import integer_text
from loopwright.c.regions import Directive
from loopwright.c.syntax import Node
from loopwright.c.tokens import has_effect, names_in, packed, with_names_replaced
from loopwright.lazy_dataclass import dataclass
from loopwright.model.dependences import Dependence
from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import is_between
from loopwright.presburger.named import number, variable
from loopwright.presburger.sets import DIM, IN, OUT
from loopwright.prove.legality.violation import Violation

_HEAD = re.compile(r"\s*(?:omp\s+parallel\s+for(?:\s+simd)?|omp\s+simd|(?:GCC\s+)?ivdep)(?![\w])")
_ORDERED = re.compile(r"\s*(?:,\s*)?ordered(?![\w(]|\s*\()")
"""Without a directive `ordered` in the loop it orders nothing; such a directive is not understood."""
_CLAUSE = re.compile(r"\s*(?:,\s*)?([a-z_]+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_NAME = r"[A-Za-z_]\w*"
_SECTION = rf"{_NAME}\s*(?:\[\s*\w*\s*:\s*\w+\s*\]\s*)*"
_NAMES = re.compile(rf"\s*{_NAME}\s*(?:,\s*{_NAME}\s*)*")
_VALUE = re.compile(r"[\w\s+\-*/%<>=!&|().]+")
_FORMS: Mapping[str, re.Pattern[str]] = {
    "reduction": re.compile(
        rf"\s*(?:[-+*&|^]|&&|\|\||min|max)\s*:\s*{_SECTION}(?:,\s*{_SECTION})*", re.ASCII
    ),
    "private": _NAMES,
    "firstprivate": _NAMES,
    "lastprivate": _NAMES,
    "linear": re.compile(rf"\s*{_NAME}\s*(?::\s*-?\d+\s*)?"),
    "shared": _NAMES,
    "collapse": re.compile(r"\s*[1-9]\d?\s*"),
    "simdlen": re.compile(r"\s*[1-9]\d*\s*"),
    "safelen": re.compile(r"\s*[1-9]\d*\s*"),
    "default": re.compile(r"\s*(?:shared|none)\s*"),
    "proc_bind": re.compile(r"\s*(?:master|primary|close|spread)\s*"),
    "schedule": re.compile(
        rf"\s*(?:(?:non)?monotonic\s*:\s*)?(?:static|dynamic|guided|auto|runtime)\s*(?:,{_VALUE.pattern})?"
    ),
    "num_threads": _VALUE,
    "if": re.compile(rf"\s*(?:(?:parallel|simd)\s*:)?{_VALUE.pattern}"),
}
"""The accepted argument of each clause."""


@dataclass(frozen=True)
class CombinedCells:
    """`reduction(operator: array[from:length]...)`; without a section, the whole variable."""

    operator: str
    array: str
    section: tuple[tuple[str, str], ...] = ()


def unknown_clause(argument: str, macros: frozenset[str] = frozenset()) -> str | None:
    """Returns the first part of a pragma that is not understood."""
    head = _HEAD.match(argument)
    if head is None:
        return argument.strip()
    at = head.end()
    is_vector = "simd" in head[0]
    while argument[at:].strip():
        ordered = None if is_vector else _ORDERED.match(argument, at)
        if ordered is not None:
            at = ordered.end()
            continue
        found = _CLAUSE.match(argument, at)
        if found is None:
            return argument[at:].strip()
        word, inside = found.groups()
        form = _FORMS.get(word)
        computes = word in ("schedule", "num_threads", "if")
        form = None if word == "firstprivate" and "parallel" not in head[0] else form
        if form is None or form.fullmatch(inside) is None or (computes and has_effect(inside)):
            return found[0].strip()
        at = found.end()
    words = set(names_in(re.sub(r"\b(?:min|max)\s*:", "", argument)))
    return min(words & macros - _values(argument), default=None)


def _values(argument: str) -> set[str]:
    """Names in clauses that control how many threads run what, where their values do not matter."""
    return {
        word
        for name, inside in _CLAUSE.findall(argument)
        if name in ("schedule", "num_threads", "if")
        for word in names_in(inside)
    }


_COUNT = re.compile(r"\s*0*[1-9]\d*\s*(?:[+*]\s*0*[1-9]\d*\s*)*")
_UNSAFE = re.compile(r"[/%](?!\s*0*[1-9]\d{0,8}\b)|<<|>>|(?<!&)&(?!&)|(?:^|[^\w\s)])\s*\*")
"""A division by anything but a positive literal, a shift, or an access through a pointer."""


def uncertain_value(pragma: Directive, sizes: Mapping[str, bool]) -> str | None:
    """Returns a clause whose value is not known to be one that OpenMP allows, or to be defined.

    The original does not compute this value.  Chunk sizes and thread counts must be positive; `sizes` says
    which sizes are known to be.  A condition must have no division or shift, and no variables of the function
    except `sizes`, because they may have no value.
    """
    file = c_file(pragma.place.source)
    for word, inside in clause_texts(pragma.argument):
        text = inside.partition(",")[2] if word == "schedule" else inside
        if word not in ("schedule", "num_threads", "if") or not text.strip():
            continue
        names = {name: _number(file, name) for name in names_in(text)}
        known = with_names_replaced(text, {name: value for name, value in names.items() if value})
        if word != "if":
            if _COUNT.fullmatch(known) is None and not sizes.get(known.strip(), False):
                return f"{word}({inside})"
            continue
        others = {name for name, value in names.items() if not value} - {"parallel", "simd", *sizes}
        declared = [file.declarations.visible(name, pragma.place) for name in others]
        own = [one for one in declared if one is None or one.rank or one.scope.text.startswith("{")]
        if own or _UNSAFE.search(known):
            return f"{word}({inside})"
    return None


def _number(file: CFile, name: str) -> str:
    """The number that a macro or constant of the file denotes, or ""."""
    bodies = {integer_text(macro.body) for macro in file.macros if macro.name == name}
    value = bodies.pop() if len(bodies) == 1 else known_constant(file.declarations, name)
    return "" if value is None else f" {value} "


def runs_in_order(argument: str) -> bool:
    """Whether a clause makes one thread, or one lane, run all iterations."""
    values = {(word, inside.split(":")[-1].strip()) for word, inside in clause_texts(argument)}
    return not values.isdisjoint({("if", "0"), ("num_threads", "1")})


_SEVERAL = r"0*([2-9]|[1-9]\d+)"
_CERTAIN = re.compile(rf"if:[1-9]\d*|(num_threads|simdlen):{_SEVERAL}|schedule:[^,]*(,0*1)?")
"""Clauses that put no two iterations on one thread, or on one lane, written without spaces."""


def may_run_in_order(argument: str) -> bool:
    """Whether a clause may make one thread, or one lane, run iterations of an example in order: those of a
    chunk, or all of them."""
    given = [f"{word}:{''.join(text.split(':')[-1].split())}" for word, text in clause_texts(argument)]
    said = [one for one in given if one.startswith(("if:", "num_threads:", "schedule:", "simdlen:"))]
    return not all(_CERTAIN.fullmatch(one) for one in said)


def clause_texts(argument: str) -> list[tuple[str, str]]:
    """The clauses by name, with their arguments."""
    return [(word, inside) for word, inside in _CLAUSE.findall(argument)]


def names_in_clause(argument: str, clause: str) -> frozenset[str]:
    lists = [inside for word, inside in clause_texts(argument) if word == clause]
    return frozenset(name for inside in lists for name in names_in(inside))


def linear_steps(argument: str) -> dict[str, int]:
    """The step of each variable in `linear(i:2)`, 1 if none is given."""
    items = [inside.partition(":") for word, inside in clause_texts(argument) if word == "linear"]
    return {name.strip(): int(step or "1") for name, _, step in items}


def combined_cells(argument: str) -> Iterator[CombinedCells]:
    """Yields what the `reduction` clauses of a pragma name."""
    for word, inside in clause_texts(argument):
        if word == "reduction":
            operator, _, listed = inside.partition(":")
            for item in re.findall(_SECTION, listed):
                name = re.match(_NAME, item)
                assert name is not None
                bounds = re.findall(r"\[\s*(\w*)\s*:\s*(\w+)\s*\]", item)
                section = tuple((start or "0", length) for start, length in bounds)
                yield CombinedCells(operator.strip(), name[0], section)


def number_in_clause(argument: str, clause: str) -> int | None:
    """The argument of `collapse(2)` or `safelen(4)`."""
    found = [inside for word, inside in clause_texts(argument) if word == clause]
    return int(found[-1]) if found and found[-1].strip().isdigit() else None


def is_inside(cells: isl.Set, section: tuple[tuple[str, str], ...]) -> bool:
    """Whether all cells are in a section; dimensions that the section omits are whole."""
    for place, (start, length) in enumerate(section if not cells.is_empty() else ()):
        if not cells.dim_has_lower_bound(DIM, place) or not cells.dim_has_upper_bound(DIM, place):
            return False
        first, size = (number(int(one)) if one.isdigit() else variable(one) for one in (start, length))
        if not is_between(only(cells, DIM, place), first, first.add(size)):
            return False
    return True


def in_one_vector(
    argument: str, loop: Node, depth: int, found: tuple[Dependence, ...]
) -> tuple[Dependence, ...]:
    """Removes the dependences between different vectors: `simd safelen(k)` preserves their order.

    Two iterations are at least k apart if their iterator values differ by k s, where s is the step.
    """
    length, step = number_in_clause(argument, "safelen"), _step(loop)
    if length is None or "parallel" in argument or step is None:
        return found
    near: list[Dependence] = []
    for one in found:
        relation = one.relation.subtract(_far_apart(one.relation.get_space(), depth, length * step))
        if not relation.is_empty():
            near.append(replace(one, relation=relation, shape=None))
    return tuple(near)


def is_kept(argument: str, found: object) -> bool:
    """Whether a dependence between iterations may be preserved: one thread runs both, or all lanes of a
    vector execute in source order, read before they write, and write one after the other."""
    if may_run_in_order(argument):
        return True
    if "parallel" in argument or not isinstance(found, Violation):
        return False
    if found.first.span == found.second.span:
        return found.kind != "flow"
    return found.first.span.start < found.second.span.start


def _step(loop: Node) -> int | None:
    """The absolute step of the iterator, if it is a literal."""
    update = loop.child_by_field_name("update")
    if update is None or update.type == "update_expression":
        return None if update is None else 1
    by = re.fullmatch(r"\w+\s*[-+]=\s*([1-9]\d{0,8})", update.text)
    return None if by is None else int(by[1])


def _far_apart(space: isl.Space, depth: int, distance: int) -> isl.Map:
    """Pairs of instances with the same outer iterators that are at least `distance` apart in a loop."""
    same = isl.Map.universe(space)
    for place in range(depth):
        same = same.equate(IN, place, OUT, place)
    local = isl.LocalSpace.from_space(space)
    found = isl.Map.empty(space)
    for sign in (1, -1):
        apart = isl.Constraint.inequality_alloc(local).set_constant_val(isl.Val(-distance))
        apart = apart.set_coefficient_val(OUT, depth, isl.Val(sign))
        apart = apart.set_coefficient_val(IN, depth, isl.Val(-sign))
        found = found.union(same.add_constraint(apart))
    return found


def not_linear(argument: str, loop: Node, iterators: frozenset[str]) -> str | None:
    """The first name in a `linear` clause that is not the iterator of the loop with its step."""
    update = loop.child_by_field_name("update")
    for name, step in linear_steps(argument).items():
        text = "" if update is None else packed(update.text)
        counts = {f"{name}++": 1, f"++{name}": 1, f"{name}--": -1, f"--{name}": -1}
        counts |= {f"{name}+={step}": step, f"{name}-={-step}": step}
        if name != loop_iterator(loop) or counts.get(text) != step or len(iterators) > 1:
            return name
    return None
