"""What the clauses of `omp parallel for` and `omp simd` mean; `c.clauses` reads them.

`omp simd safelen(k)`: iterations that are fewer than k apart may run in one vector.

A vector executes the operations of an iteration in source order: all lanes read before they write, so a
dependence on an operation later in the source is preserved.  OpenMP 5.0 says so and 4.5 does not; no answer
relies on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from loopwright.c.clauses import clause_texts, linear_steps, number_in_clause
from loopwright.c.declarations import known_constant
from loopwright.c.file import CFile, c_file
from loopwright.c.loops import loop_iterator
from loopwright.c.macros import integer_text
from loopwright.c.regions import Directive
from loopwright.c.syntax import Node
from loopwright.c.tokens import names_in, packed, with_names_replaced
from loopwright.model.dependences import Dependence
from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import is_between
from loopwright.presburger.named import number, variable
from loopwright.presburger.sets import DIM, IN, OUT
from loopwright.prove.legality.violation import Violation

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
    if length is None or _THREADS.search(argument) or step is None:
        return found
    near: list[Dependence] = []
    for one in found:
        relation = one.relation.subtract(_far_apart(one.relation.get_space(), depth, length * step))
        if not relation.is_empty():
            near.append(replace(one, relation=relation, shape=None))
    return tuple(near)


_THREADS = re.compile(r"\b(?:parallel|for)\b")
"""Words of the directives that give iterations to threads."""


def is_kept(argument: str, found: object) -> bool:
    """Whether a dependence between iterations may be preserved: one thread runs both, or all lanes of a
    vector execute in source order, read before they write, and write one after the other.  Iterations of
    several loops that are joined may be further apart than those of one of them.
    """
    is_joined = (number_in_clause(argument, "collapse") or 1) > 1
    if may_run_in_order(argument) or (is_joined and number_in_clause(argument, "safelen") is not None):
        return True
    if _THREADS.search(argument) or not isinstance(found, Violation):
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
