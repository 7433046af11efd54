"""Assembles the leaves of a region into a Program: names, common parameters, schedules, tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

import islpy as isl

from loopwright.c.declarations import is_integer_type
from loopwright.c.file import c_file
from loopwright.c.liveness import is_hidden
from loopwright.c.references import expression_name, parameter_name
from loopwright.c.regions import Region
from loopwright.c.syntax import Node, field, identifiers, named_children, refuse, walk
from loopwright.c.tokens import names_in, packed
from loopwright.errors import Code, InternalError
from loopwright.model.parameters import Parameter
from loopwright.model.program import ELSEWHERE, Access, Array, Assumption, Program, Statement, Tag
from loopwright.presburger.named import (
    names_of,
    parameter_names,
    parameter_space,
    tuple_set,
    whole,
    without_parameters,
)
from loopwright.presburger.sets import IN, OUT
from loopwright.read.c.accesses import Touch, access_of, shaped_access
from loopwright.read.c.frames import Frame
from loopwright.read.c.linearised import RowShape, indices, shapes_of
from loopwright.read.c.locals import local_arrays
from loopwright.read.c.names import Setting
from loopwright.read.c.statements import Label, ReadStatement
from loopwright.read.c.trust import assumptions_of
from loopwright.source import Span

_Space = TypeVar("_Space", isl.Set, isl.Map)


def assembled(
    setting: Setting,
    region: Region,
    block: Node,
    leaves: tuple[ReadStatement, ...],
    stated: tuple[Assumption, ...],
) -> Program:
    """Give the statements names S1, S2, ..., and all sets the same parameters in the same order."""
    prefix = _statement_prefix(block)
    depth = max((len(leaf.frame.loops) for leaf in leaves), default=0)
    file = c_file(region.place.source)
    leaves = _with_everything(leaves, cache(lambda name: is_hidden(file, region.place, name)))
    places = [(touch, touch.within(leaf.frame)) for leaf in leaves for touch in leaf.touches]
    shapes, assumed = shapes_of(places, in_rows=setting.rows, numbers=setting.numbers)
    rough = [
        _statement(leaf, f"{prefix}{count}", depth, shapes) for count, leaf in enumerate(leaves, start=1)
    ]
    needed = [one.holds_for for one in assumed if one.holds_for is not None]
    parameters = _parameters(setting, block, rough, needed)
    params = [parameter.name for parameter in parameters]
    statements = tuple(_aligned(statement, params) for statement in rough)
    arrays = _arrays(setting, statements, local_arrays(setting.names, block), shapes)
    return Program(
        region=region.place,
        parameters=parameters,
        context=_only_params(setting.context, params),
        assumptions=assumptions_of(setting, block, region, (*stated, *assumed), arrays, parameters),
        arrays=arrays,
        statements=statements,
        tags=_tags(setting, block, leaves, statements),
    )


def _with_everything(
    leaves: tuple[ReadStatement, ...], is_hidden: Callable[[str], bool]
) -> tuple[ReadStatement, ...]:
    """Makes statements that may access storage elsewhere access everything that the region accesses.

    A variable hidden from pointers is read only if named, and written only by its own accesses. But a call
    such as `exit` may not return: what follows may be undefined, and must not be moved before it. So a
    statement that accesses only hidden variables keeps its order with calls, as if it read there too.
    """
    bases = dict.fromkeys(touch.base for leaf in leaves for touch in leaf.touches)
    may_end = any(touch.base == ELSEWHERE for leaf in leaves for touch in leaf.touches)
    found: list[ReadStatement] = []
    for leaf in leaves:
        more: list[Touch] = []
        place, named = leaf.body.place, names_in(leaf.body.place.text)
        if any(touch.base == ELSEWHERE for touch in leaf.touches):
            for base in bases:
                if base != ELSEWHERE and (base in named or not is_hidden(base)):
                    more.append(Touch(base, (), is_write=False, must=False, place=place))
                if base != ELSEWHERE and not is_hidden(base):
                    more.append(Touch(base, (), is_write=True, must=False, place=place))
        elif may_end and all(is_hidden(touch.base) for touch in leaf.touches):
            more.append(Touch(ELSEWHERE, (), is_write=False, must=False, place=place))
        found.append(replace(leaf, touches=(*leaf.touches, *more)))
    return tuple(found)


def _statement_prefix(block: Node) -> str:
    """S, unless the region itself has names like S1."""
    words = {*identifiers(block)}
    prefix = "S"
    while any(re.fullmatch(rf"{prefix}\d+", word) for word in words):
        prefix += "_"
    return prefix


def _statement(leaf: ReadStatement, name: str, depth: int, shapes: Mapping[str, RowShape]) -> Statement:
    frame = leaf.frame
    domain = tuple_set(frame.domain.remove_redundancies().coalesce(), name, frame.iterators)
    return Statement(
        name=name,
        iterators=frame.iterators,
        domain=domain,
        schedule=_schedule(leaf, name, depth),
        accesses=tuple(_access(touch, frame, domain, shapes.get(touch.base)) for touch in leaf.touches),
        body=leaf.body,
        iterator_types=tuple(loop.type for loop in frame.loops),
    )


def _access(touch: Touch, frame: Frame, domain: isl.Set, shape: RowShape | None) -> Access:
    """The access with its own subscripts, or with the indices of the dimensions that the base is read in."""
    if shape is None:
        return access_of(touch, frame, domain)
    found = indices(touch, touch.within(frame), shape) if touch.subscripts else None
    return shaped_access(touch, frame, domain, len(shape.strides), found)


def _schedule(leaf: ReadStatement, name: str, depth: int) -> isl.Map:
    """{ name[i1, ..., id] -> [p0, ±i1, p1, ..., ±id, pd, 0, ..., 0] } [Namjoshi2016, section 3.2]."""
    frame = leaf.frame
    depths = range(len(frame.iterators))
    space = isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, len(depths), 2 * depth + 1).set_tuple_name(IN, name)
    for k in depths:
        space = space.set_dim_name(IN, k, frame.iterators[k])
    relation = isl.Map.universe(space)
    for k, loop in enumerate(frame.loops):
        tied = isl.Map.equate if loop.direction > 0 else isl.Map.oppose
        relation = tied(relation, IN, k, OUT, 2 * k + 1)
    positions = (*frame.positions, *[0] * (2 * (depth - len(depths))))
    places = (*range(0, 2 * len(depths) + 1, 2), *range(2 * len(depths) + 1, 2 * depth + 1))
    for place, position in zip(places, positions, strict=True):
        relation = relation.fix_val(OUT, place, whole(position))
    return relation


def _parameters(
    setting: Setting, block: Node, statements: Sequence[Statement], needed: Sequence[isl.Set]
) -> tuple[Parameter, ...]:
    """The names that sets, relations or assumptions on sizes depend on, in source order."""
    used: dict[str, None] = {}
    for statement in statements:
        relations = [access.relation for access in statement.accesses]
        for item in (isl.Map.from_domain(statement.domain), *relations):
            used.update(dict.fromkeys(names_of(item)))
    for condition in needed:
        used.update(dict.fromkeys(names_of(condition)))
    is_empty = any(statement.domain.is_empty() for statement in statements)
    used.update(dict.fromkeys(_bound_names(setting, block, cancelled=not is_empty)))
    stray = [name for name in used if name in setting.names.iterators]
    if stray:
        raise InternalError(Code.INTERNAL, f"the iterator {stray[0]} escaped its loop")
    texts = _parameter_texts(block, tuple(used))
    return tuple(Parameter(name, text) for name, text in texts.items())


def _bound_names(setting: Setting, block: Node, *, cancelled: bool) -> Iterator[str]:
    """The parameters in the heads of loops and in conditions; those of a statement that never runs count.

    With `cancelled`, only integers that a head names twice: `m >= m`.
    """
    heads = [
        part
        for node in walk(block)
        if node.type in ("for_statement", "if_statement")
        for part in named_children(node)
        if part != node.child_by_field_name("body") and part.type.endswith(("expression", "declaration"))
    ]
    called = {field(node, "function") for node in walk(block) if node.type == "call_expression"}
    changing = setting.names.iterators | setting.names.written | setting.names.untracked
    for head in heads:
        words = [node.text for node in walk(head) if node not in called]
        for name in (node.text for node in walk(head) if node.type == "identifier" and node not in called):
            is_value = setting.names.ranks.get(name) == 0 and not setting.kinds.is_type(name)
            declared = setting.declarations.visible(name, setting.region)
            kind = setting.declarations.resolved(declared.type) if declared is not None else ""
            may_cancel = words.count(name) > 1 and is_integer_type(kind)
            if is_value and name not in changing and (may_cancel or not cancelled):
                yield name


_PARAMETERS = frozenset(
    (
        *("identifier", "call_expression", "field_expression"),
        *("subscript_expression", "pointer_expression", "binary_expression"),
    )
)
"""What may be a parameter: names, and expressions that are invariant in the region."""
_NAMES: dict[str, Callable[[str], str]] = {
    "identifier": str,
    "subscript_expression": expression_name,
    "pointer_expression": expression_name,
    "binary_expression": expression_name,
}


def _parameter_texts(block: Node, used: tuple[str, ...]) -> dict[str, str]:
    """The spelling of each parameter, in source order; those that only a macro mentions come last."""
    found: dict[str, str] = {}
    for node in walk(block):
        if node.type not in _PARAMETERS:
            continue
        text = node.text
        name = _NAMES.get(node.type, parameter_name)(text)
        if name not in used or (node.type == "binary_expression" and not _in_head(node)):
            continue
        known = found.setdefault(name, text)
        if packed(known) != packed(text):
            raise refuse(node, f"'{text}' cannot be distinguished from '{known}'", "rename one of them")
    unseen = [name for name in used if name not in found]
    hidden = [name for name in unseen if re.search(rf"\b{name}\b", block.source.text)]
    if len(hidden) < len(unseen):
        message = "a bound or a subscript depends on a product or a quotient that only a macro mentions"
        raise refuse(named_children(block)[0], message, "compute it in a variable before the region")
    return {**found, **{name: name for name in hidden}}


def _in_head(node: Node) -> bool:
    """Whether an expression is in the head of a loop."""
    while node.parent is not None and node.type not in ("for_statement", "compound_statement"):
        inner, node = node, node.parent
        if node.type == "for_statement":
            return field(node, "body") != inner
    return False


def _aligned(statement: Statement, params: Sequence[str]) -> Statement:
    accesses = tuple(
        replace(access, relation=_with_params(access.relation, params))
        for access in statement.accesses
        if access.array not in params
    )
    return replace(
        statement,
        domain=_with_params(statement.domain, params),
        schedule=_with_params(statement.schedule, params),
        accesses=accesses,
    )


def _with_params(item: _Space, params: Sequence[str]) -> _Space:
    """`item` with exactly `params` as parameters; it must not depend on others."""
    stray = [name for name in names_of(item) if name not in params]
    if stray:
        raise InternalError(Code.INTERNAL, f"{item} depends on {stray[0]}")
    others = [name for name in parameter_names(item) if name not in params]
    return without_parameters(item, others).align_params(parameter_space(params))


def _only_params(context: isl.Set, params: Sequence[str]) -> isl.Set:
    """The constraints of `context` on `params`; names that the region does not use are projected out."""
    others = [name for name in reversed(parameter_names(context)) if name not in params]
    return without_parameters(context, others).align_params(parameter_space(params))


def _arrays(
    setting: Setting,
    statements: Sequence[Statement],
    locals_: Sequence[Array],
    shapes: Mapping[str, RowShape],
) -> tuple[Array, ...]:
    """The storage that the statements access, in source order."""
    local = {array.name: array for array in locals_}
    found: dict[str, Array] = {}
    for statement in statements:
        for access in sorted(statement.accesses, key=lambda item: item.place):
            name = access.array
            if name in found:
                continue
            declared = setting.declarations.visible(name, setting.region)
            rank = setting.names.ranks[name]
            if declared is not None and "volatile" in declared.type.split():
                raise refuse(
                    access.place,
                    f"'{name}' is volatile: its accesses must stay as they are",
                    "copy it into another variable before the region",
                )
            if name in local:
                found[name] = local[name]
            elif declared is None:
                found[name] = Array(name, rank)
            else:
                found[name] = Array(name, rank, declared.type, local=False, extents=declared.extents)
            if name in shapes:
                found[name] = replace(found[name], rows=shapes[name].sizes)
    return tuple(found.values())


def _tags(
    setting: Setting, block: Node, leaves: Sequence[ReadStatement], statements: Sequence[Statement]
) -> tuple[Tag, ...]:
    members: dict[Label, list[str]] = {}
    for leaf, statement in zip(leaves, statements, strict=True):
        for label in leaf.labels:
            members.setdefault(label, []).append(statement.name)
    seen: dict[str, Span] = {}
    for node in walk(block):
        if node.type != "labeled_statement" or _is_inside(node, setting):
            continue
        spot = field(node, "label").span
        name = spot.text
        if name in seen:
            raise refuse(
                spot,
                f"the label '{name}' is used twice (line {seen[name].line})",
                "each label names one statement: choose another name",
            )
        seen[name] = spot
        if any(leaf.body.place.contains(node.span) for leaf in leaves):
            said = f"the label '{name}' is inside a statement: an 'if' on data is one with what it guards"
            raise refuse(spot, said, "put it in front of the whole statement")
        if not any(label.place == spot for label in members):
            raise refuse(
                spot, f"the label '{name}' has no statement after it", "put it in front of a statement"
            )
    ordered = sorted(members, key=lambda label: label.place)
    return tuple(Tag(label.name, tuple(members[label]), label.depth, label.place) for label in ordered)


def _is_inside(node: Node, setting: Setting) -> bool:
    """Whether a label is inside a statement kept whole: it is a jump target there, not a handle."""
    return any(place.contains(node.span) and place != node.span for place in setting.whole)
